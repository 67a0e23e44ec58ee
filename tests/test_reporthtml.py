"""A report as a page: headings, tables and pictures that readers announce; texts stay texts; nothing is loaded."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from browser import DESK, PHONE, opened
from hypothesis import given, settings
from hypothesis import strategies as st

from grownj_geo import reporthtml
from grownj_geo.candidates import Candidate
from grownj_geo.features import LayerFault
from grownj_geo.reportblocks import Report, Section, Words
from grownj_geo.reporthtml import check_report_packages, report_html
from grownj_geo.reportmake import Maker
from grownj_geo.reportpage import Form, report_many, report_one
from grownj_geo.site import Site

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.determine import Engine

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "`${alert(2)}`",
    "</script><script>alert(3)</script>",
    "right\u202eto left",
    "long " * 2_000,
    '=HYPERLINK("https://example.org","click")',
    "\" onmouseover=alert(4) '",
    "line\u2028separator <!-- <script>",
    "{{ 7*7 }} {% raw %}",
    "</style><style>body{display:none}",
    "</title></svg><svg onload=alert(5)>",
]


class Page(HTMLParser):
    """Keeps what a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def named(self, *names: str) -> list[dict[str, str | None]]:
        return [attrs for tag, attrs in self.tags if tag in names]


@pytest.fixture(scope="module")
def one(engine: Engine) -> str:
    site = Site.from_lonlat(-74.320347, 40.567092)
    return report_html(report_one(Maker(engine).report(Candidate("Café Αθήνα Жуков", "", site))))


@pytest.fixture(scope="module")
def hostile(engine: Engine) -> str:
    maker = Maker(engine)
    site = Site.from_lonlat(-74.1641, 40.7344)
    found = [maker.report(Candidate(name, "", site)) for name in HOSTILE]
    form = Form(preparer=HOSTILE[0], contact=HOSTILE[2])
    return report_html(report_many(found, [(HOSTILE[0], HOSTILE[2])], form))


def test_language_title_and_headings_in_order(one: str) -> None:
    page = Page(one)
    assert page.named("html")[0]["lang"] == "en-US"
    assert "<title>Café Αθήνα Жуков</title>" in one
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_headings_of_many_sites_are_in_order(hostile: str) -> None:
    levels = [int(tag[1]) for tag, _ in Page(hostile).tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_every_heading_of_a_table_says_what_it_is_of(one: str) -> None:
    page = Page(one)
    scopes = [attrs.get("scope") for attrs in page.named("th")]
    assert set(scopes) == {"row", "col"}
    assert one.count('<table class="grid" role="table">') == one.count("<caption>") > 5


def test_the_map_has_a_name_and_its_letters_are_letters(one: str) -> None:
    (drawn,) = [attrs for attrs in Page(one).named("svg") if attrs.get("role") == "img"]
    title, words = str(drawn["aria-labelledby"]).split()
    assert f'<title id="{title}">Map of Café Αθήνα Жуков.</title>' in one
    assert re.search(rf'<desc id="{words}">[^<]*2,601 ft to Metropark', one)
    assert re.search(r"<text[^>]*>Edison Township</text>", one)


def test_ids_are_unique_and_links_lead_to_them(hostile: str) -> None:
    page = Page(hostile)
    ids = [str(attrs["id"]) for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {str(a["href"]) for a in page.named("a")} == {f"#site-{n}" for n in range(1, len(HOSTILE) + 1)}


def test_nothing_can_run_or_be_fetched(one: str, hostile: str) -> None:
    for text in (one, hostile):
        page = Page(text)
        assert not page.named("script", "iframe", "object", "embed", "form", "link", "base")
        assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
        (policy,) = [a for a in page.named("meta") if a.get("http-equiv") == "Content-Security-Policy"]
        assert str(policy["content"]).startswith("default-src 'none';")
        links = [str(a.get(n)) for _, a in page.tags for n in ("src", "href", "xlink:href") if a.get(n)]
        assert all(link.startswith(("#", "data:")) for link in links)
        assert "url(http" not in text


def test_texts_stay_texts(hostile: str) -> None:
    assert "&lt;img src=x onerror=alert(1)&gt;" in hostile
    assert "{{ 7*7 }} {% raw %}" in hostile
    assert "\u202e" not in hostile
    assert hostile.count("<style>") == 1
    assert "(10,000 characters)" in hostile


def test_equal_reports_are_equal_pages(engine: Engine, one: str) -> None:
    site = Site.from_lonlat(-74.320347, 40.567092)
    assert report_html(report_one(Maker(engine).report(Candidate("Café Αθήνα Жуков", "", site)))) == one


def test_the_font_has_the_signs_of_the_report(tmp_path: Path) -> None:
    import base64  # noqa: PLC0415 - only here

    from fontTools.ttLib import TTFont  # noqa: PLC0415 - same

    name = "Łódź Αθήνα Жуков"
    page = report_html(Report(name, "", (Section("a", "b", (Words("ŵ"),)),)))
    found = re.findall(r"font-weight: (\w+); src: url\(data:font/woff;base64,([^)]*)\)", page)
    assert [weight for weight, _ in found] == ["normal", "bold"]
    for weight, data in found:
        file = tmp_path / f"{weight}.woff"
        file.write_bytes(base64.b64decode(data))
        signs = TTFont(file).getBestCmap()
        assert {ord(c) for c in f"{name}ŵ"} <= set(signs)
        assert len(signs) < 200


def test_a_missing_package_is_named_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    check_report_packages(fpdf2=True)
    monkeypatch.setattr(reporthtml, "find_spec", lambda name: None if name == "fpdf" else name)
    check_report_packages(fpdf2=False)
    monkeypatch.setattr(reporthtml, "find_spec", lambda name: None if name == "rtree" else name)
    check_report_packages(fpdf2=True, picture=False)
    with pytest.raises(LayerFault, match="Reports need rtree"):
        check_report_packages(fpdf2=False)
    monkeypatch.setattr(reporthtml, "find_spec", lambda name: None if name == "fpdf" else name)
    with pytest.raises(LayerFault, match=r"Reports need fpdf2, which is not installed. Install it: pip install"):
        check_report_packages(fpdf2=True)


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["desk", "phone", "dark"])
def test_in_a_browser_without_a_network(hostile: str, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "report.html"
    path.write_text(hostile, encoding="utf-8")
    options = {"desk": DESK, "phone": PHONE, "dark": {**DESK, "color_scheme": "dark"}}[kind]
    with opened(path, ready="#signed", **options) as view:
        assert view.faults() == []
        # Nothing is wider than the window, and on a phone no table scrolls: its cells stand one below the other.
        assert view.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        wider = "[...document.querySelectorAll('.wide')].filter((e) => e.scrollWidth > e.clientWidth).length"
        assert view.page.evaluate(wider) == 0
        named = view.page.evaluate("getComputedStyle(document.querySelector('.grid td'), '::before').content")
        assert (named == '"Place"') == (kind == "phone")
        text = view.page.inner_text("body")
        for name in ("<img src=x onerror=alert(1)>", "</script><script>alert(3)</script>", "{{ 7*7 }} {% raw %}"):
            assert name in text
        ink, paper = view.page.evaluate(
            "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
        )
        assert (sum(map(int, re.findall(r"\d+", ink))) > sum(map(int, re.findall(r"\d+", paper)))) == (kind == "dark")


class _Told(HTMLParser):
    """Keeps the words of paragraphs and every element that a page has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.words = ""
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self._inside = tag == "p" and ("class", "plain") in attrs

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "p"

    def handle_data(self, data: str) -> None:
        self.words += data if self._inside else ""


@settings(deadline=None)
@given(st.text("<>&\"'{}%$`=/\\;:-!# aZ1\u2028\u00a0", max_size=40))
def test_any_text_comes_out_as_it_went_in(text: str) -> None:
    page = _Told(report_html(Report("a", "", (Section("a", "b", (Words(text),)),))))
    assert page.words == text
    assert page.elements == _Told(report_html(Report("a", "", (Section("a", "b", (Words("x"),)),)))).elements
