"""The files of the page: all of them from the package, none of them able to run or fetch anything else."""

from __future__ import annotations

import asyncio
import re
from html.parser import HTMLParser

import httpx
import pytest
from starlette.applications import Starlette

from grownj_geo.servepage import POLICY, page_files, page_routes

OWN = sorted(name for name in page_files() if name.endswith(".js") and name != "leaflet.js")
MODULES = [name for name in OWN if not name.startswith("map_")]


class Marks(HTMLParser):
    """Collects ids, what is loaded, and whatever a policy would have to allow by name."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.loaded: list[str] = []
        self.unsafe: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        self.ids += [about["id"]] if about.get("id") else []
        if tag in {"script", "link"}:
            self.loaded.append(about.get("src") or about.get("href") or "inline")
        self.unsafe += [name for name in about if name.startswith("on") or name == "style"]
        self.unsafe += [tag] if tag in {"style", "iframe", "base"} else []


@pytest.fixture(scope="module")
def marks() -> Marks:
    found = Marks()
    found.feed(page_files()["index.html"].content.decode())
    return found


def get(path: str, **headers: str) -> httpx.Response:
    """Ask an application that has the page and nothing else."""
    app = Starlette()
    page_routes(app)

    async def asked() -> httpx.Response:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    return asyncio.run(asked())


def text(name: str) -> str:
    return page_files()[name].content.decode()


def test_the_page_comes_with_its_policy() -> None:
    answer = get("/")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_every_file_that_the_page_loads_is_there(marks: Marks) -> None:
    assert "static/main.js" in marks.loaded
    for name in marks.loaded:
        answer = get(f"/{name}")
        assert answer.status_code == 200, name
        assert answer.content == page_files()[name.removeprefix("static/")].content


def test_a_file_that_the_browser_has_is_not_sent_again() -> None:
    first = get("/static/page.css")
    again = get("/static/page.css", If_None_Match=first.headers["etag"])
    assert (again.status_code, again.content) == (304, b"")
    assert get("/static/page.css", If_None_Match='"other"').status_code == 200


@pytest.mark.parametrize(
    "name", ["nothing.js", "..%2Fservepage.py", "%2e%2e/servepage.py", "index.html%00", "templates"]
)
def test_nothing_else_is_served(name: str) -> None:
    assert get(f"/static/{name}").status_code == 404


def test_the_page_has_nothing_inline_and_no_id_twice(marks: Marks) -> None:
    assert marks.unsafe == []
    assert all(name.startswith("static/") for name in marks.loaded)
    assert sorted(set(marks.ids)) == sorted(marks.ids)


def test_labels_and_references_name_what_is_there(marks: Marks) -> None:
    page = text("index.html")
    for attribute in ("for", "aria-labelledby", "aria-describedby", "aria-controls", "data-to", "form"):
        for names in re.findall(rf'\s{attribute}="([^"]+)"', page):
            assert set(names.split()) <= set(marks.ids), f"{attribute}={names}"


@pytest.mark.parametrize("name", OWN)
def test_scripts_make_elements_and_no_markup(name: str) -> None:
    script = text(name)
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", ".style ="):
        assert way not in script, way
    assert set(re.findall(r"https?://[^\s\"'<]+", script)) <= {"http://www.w3.org/2000/svg", "https://leafletjs.com"}


@pytest.mark.parametrize("name", MODULES)
def test_modules_take_only_what_is_there(name: str, marks: Marks) -> None:
    script = text(name)
    for wanted, module in re.findall(r"import \{([^}]+)\} from \"\./([\w.]+)\"", script):
        given = set(re.findall(r"export (?:async )?(?:function|class|const) (\w+)", text(module)))
        assert {part.strip() for part in wanted.split(",") if part.strip()} <= given, module
        used = script.replace(f"import {{{wanted}}}", "")
        assert all(re.search(rf"\b{part.strip()}\b", used) for part in wanted.split(",") if part.strip()), wanted
    # Elements that a script asks for by their id are in the page, or are made by a script.
    made = "".join(text(each) for each in MODULES)
    for wanted in re.findall(r"byId\(\"([\w-]+)\"\)", script):
        assert wanted in marks.ids or f'id: "{wanted}"' in made, wanted
