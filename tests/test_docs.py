"""The documentation: built whole and without a network, it says everything that is public, and needs nothing else."""

from __future__ import annotations

import functools
import http.server
import importlib
import os
import subprocess
import sys
import threading
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser import chromium

import grownj_geo as gj
from grownj_geo.creditparams import credit_books, load_credit_book
from grownj_geo.manifest import load_manifests
from grownj_geo.readings import load_readings
from grownj_geo.rulebook import load_rulebook, shipped_rulebooks

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.slow

# What a page makes a browser fetch, by tag; links that a reader follows (<a href>) may lead anywhere.
_FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "object": "data"}


class _Page(HTMLParser):
    """What a page fetches, and the anchors that it has."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        address = known.get(_FETCHED.get(tag, ""))
        if address is not None and not (tag == "link" and known.get("rel") in {"canonical", "next", "prev"}):
            self.fetched.append(address)
        if known.get("id"):
            self.anchors.add(str(known["id"]))


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "site"
    nowhere = "http://127.0.0.1:9"
    cut = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), nowhere)
    ways = {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])}
    quiet = {"NO_MKDOCS_2_WARNING": "1", "no_proxy": "", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | cut | quiet | ways,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, _Page]:
    return {path.relative_to(site).as_posix(): _read(path) for path in sorted(site.rglob("*.html"))}


def test_pages_fetch_nothing_from_outside(pages: dict[str, _Page], site: Path) -> None:
    assert len(pages) > 150
    outside = {(name, at) for name, page in pages.items() for at in page.fetched if "//" in at and "data:" not in at}
    assert not outside
    for style in site.rglob("*.css"):
        assert "@import" not in style.read_text(encoding="utf-8")
        assert "url(http" not in style.read_text(encoding="utf-8").replace("'", "").replace('"', "")


def test_every_file_that_a_page_fetches_is_there(pages: dict[str, _Page], site: Path) -> None:
    lacking = [
        (name, at)
        for name, page in pages.items()
        for at in page.fetched
        if not at.startswith("data:") and name != "404.html" and not (site / name).parent.joinpath(at).exists()
    ]
    assert not lacking


def test_every_command_has_a_page(pages: dict[str, _Page], site: Path) -> None:
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        commands = importlib.import_module("docs_commands").commands
    finally:
        sys.path.remove(str(ROOT / "scripts"))
    known = [(path, command) for path, command in commands()]
    assert len(known) >= 30
    for path, command in known:
        name = f"commands/{'-'.join(path)}.html"
        assert name in pages
        shown = (site / name).read_text(encoding="utf-8")
        for parameter in command.params:
            if parameter.param_type_name == "option" and not getattr(parameter, "hidden", False):
                assert parameter.opts[-1] in shown, (path, parameter.opts)


def test_every_public_name_is_documented(pages: dict[str, _Page]) -> None:
    anchors = {anchor for name, page in pages.items() if name.startswith("api/") for anchor in page.anchors}
    lacking = []
    for name in gj.__all__:
        found = getattr(gj, name)
        if f"{found.__module__}.{found.__qualname__}" not in anchors:
            lacking.append(name)
    assert not lacking, f"Give these a place on a page of docs/api: {', '.join(lacking)}."


def test_every_rule_reading_and_layer_has_its_place(pages: dict[str, _Page]) -> None:
    for book_id in shipped_rulebooks():
        for category in load_rulebook(book_id).categories:
            assert f"rules/{book_id}/{category.id}.html" in pages
    assert {reading.lower() for reading in load_readings()} <= pages["rules/readings.html"].anchors
    assert {load_credit_book(book_id).id for book_id in credit_books()} <= pages["rules/credits.html"].anchors
    assert set(load_manifests()) <= pages["layers.html"].anchors


def test_page_of_a_rule_says_what_the_rulebook_says(site: Path) -> None:
    shown = (site / "rules" / "grow-nj" / "aviation_district.html").read_text(encoding="utf-8")
    assert "1 mile (aviation" in shown
    assert "N.J.A.C. 19:31-18.2, Aviation district" in shown
    assert "atlantic_city_airport" in shown


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.browser
@pytest.mark.parametrize(("wide", "high"), [(1280, 900), (390, 844)])
def test_pages_open_in_a_browser_without_a_network(address: str, wide: int, high: int) -> None:
    path = chromium()
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only where a browser is

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": wide, "height": high})
        asked: list[str] = []
        wrong: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        for name in ("index", "guide/one-site", "rules/grow-nj/port_district", "api/sites", "layers"):
            page.goto(f"{address}/{name}.html")
            assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0, name
        browser.close()
    assert not wrong
    assert not [url for url in asked if not url.startswith((address, "data:", "blob:"))]
