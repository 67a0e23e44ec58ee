"""The page in the browser: its files and Leaflet, served from the package under a policy that lets nothing else run.

The page has no build step and loads nothing from elsewhere. What is asked stands in its address after the ``#``, which
a browser keeps to itself; it is sent in the body of a request only, so that no log of addresses has it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from grownj_geo.mapassets import leaflet_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.applications import Starlette
    from starlette.requests import Request

__all__ = ["POLICY", "PageFile", "page_files", "page_routes"]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The Content-Security-Policy of the page: its own scripts and styles, its own service, no frame, no form elsewhere."""

_MEDIA = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
# Of the page that `grownj map` makes: how elements, figures, patterns and labels are made is the same here.
_SHARED = ("map_data.js", "map_areas.js")
_INDEX = "index.html"


@dataclass(frozen=True)
class PageFile:
    """A file of the page.

    Attributes
    ----------
    content
        Its bytes.
    media_type
        What they are, with the character set.
    etag
        A mark of the bytes, in the quotes of the header.
    """

    content: bytes
    media_type: str
    etag: str


@lru_cache(maxsize=1)
def page_files() -> Mapping[str, PageFile]:
    """Return every file of the page by name, read once.

    Raises
    ------
    LayerFault
        Where Leaflet is not installed, or is another one than was looked at.

    Examples
    --------
    >>> sorted(name for name in page_files() if name.endswith((".html", ".css")))
    ['index.html', 'leaflet.css', 'page.css']
    """
    script, style = leaflet_files()
    contents = {"leaflet.js": script.encode(), "leaflet.css": style.encode()}
    package = resources.files("grownj_geo")
    contents |= {name: (package / "templates" / name).read_bytes() for name in _SHARED}
    contents |= {entry.name: entry.read_bytes() for entry in (package / "page").iterdir() if _suffix(entry.name)}
    return MappingProxyType({name: _page_file(name, content) for name, content in sorted(contents.items())})


def _suffix(name: str) -> str:
    suffix = name[name.rfind(".") :]
    return suffix if suffix in _MEDIA else ""


def _page_file(name: str, content: bytes) -> PageFile:
    mark = hashlib.sha256(content).hexdigest()[:32]
    return PageFile(content, f"{_MEDIA[_suffix(name)]}; charset=utf-8", f'"{mark}"')


def page_routes(app: Starlette) -> None:
    """Let an application answer ``/`` with the page, and ``/static/NAME`` with its files; nothing else is served.

    Parameters
    ----------
    app
        The application; its OpenAPI does not list these routes.

    Raises
    ------
    LayerFault
        As of `page_files`.
    """
    page_files()
    app.router.routes += [
        Route("/", _page, methods=["GET"], include_in_schema=False),
        Route("/static/{name}", _static, methods=["GET"], include_in_schema=False),
    ]


async def _page(request: Request) -> Response:
    return _answer(request, page_files()[_INDEX], {"Content-Security-Policy": POLICY})


async def _static(request: Request) -> Response:
    # Only names that were found in the package: no path is ever made of what was asked for.
    found = page_files().get(request.path_params["name"])
    if found is None:
        raise HTTPException(404, "There is no such file of the page.")
    return _answer(request, found, {})


def _answer(request: Request, file: PageFile, more: Mapping[str, str]) -> Response:
    """Answer with a file, or say that the browser has it; it asks each time, so that an update is seen at once."""
    headers = {
        "ETag": file.etag,
        "Cache-Control": "no-cache",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        **more,
    }
    if file.etag in request.headers.get("If-None-Match", ""):
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)
