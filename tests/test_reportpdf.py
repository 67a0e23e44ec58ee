"""Reports as PDF: by Chromium with tags, by fpdf2 without; in both text that can be selected, with its fonts inside."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from browser import chromium
from pypdf import PdfReader

from grownj_geo.candidates import Candidate
from grownj_geo.reportchromium import print_page
from grownj_geo.reporthtml import report_html
from grownj_geo.reportmake import Maker
from grownj_geo.reportpage import report_many, report_one
from grownj_geo.reportpdf import untagged_pdf
from grownj_geo.site import Site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from grownj_geo.determine import Engine
    from grownj_geo.reportblocks import Report

NAMES = ["Café Łódź", "Αθήνα Ακίνητα", "Завод Жукова", "日本 🏭", "</script><b>", "long " * 2_000]


def reports(engine: Engine, kind: Literal["svg", "png"], count: int) -> Report:
    maker = Maker(engine, maps=kind)
    site = Site.from_lonlat(-74.320347, 40.567092)
    found = [maker.report(Candidate(NAMES[i % len(NAMES)], "", site)) for i in range(count)]
    return report_one(found[0]) if count == 1 else report_many(found)


def text_of(content: bytes) -> str:
    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(content)).pages)


def fonts(content: bytes) -> Iterator[Any]:
    """Yield the descriptors of every font of a PDF."""
    for page in PdfReader(io.BytesIO(content)).pages:
        for font in page["/Resources"].get("/Font", {}).values():
            found = font.get_object()
            below = found.get("/DescendantFonts")
            yield (below[0].get_object() if below else found).get("/FontDescriptor")


def tags(content: bytes) -> tuple[list[str], list[str]]:
    """Return the tags of a PDF in reading order, and the alternative texts of its figures."""
    found: list[str] = []
    alternatives: list[str] = []

    def walk(node: Any) -> None:
        node = node.get_object() if hasattr(node, "get_object") else node
        if isinstance(node, list):
            for below in node:
                walk(below)
        elif isinstance(node, dict):
            if "/S" in node:
                found.append(str(node["/S"]))
            if "/Alt" in node:
                alternatives.append(str(node["/Alt"]))
            if "/K" in node:
                walk(node["/K"])

    root = PdfReader(io.BytesIO(content)).trailer["/Root"].get("/StructTreeRoot")
    if root is not None:
        walk(root.get_object().get("/K"))
    return found, alternatives


# -- fpdf2 ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plain_many(engine: Engine) -> bytes:
    return untagged_pdf(reports(engine, "png", len(NAMES)))


def test_names_in_latin_greek_and_cyrillic_can_be_selected(plain_many: bytes) -> None:
    text = text_of(plain_many)
    for name in ("Café Łódź", "Αθήνα Ακίνητα", "Завод Жукова", "</script><b>"):
        assert name in text
    # What the font does not have is marked, not left out.
    assert "\ufffd\ufffd \ufffd" in text


def test_fonts_are_inside(plain_many: bytes) -> None:
    found = list(fonts(plain_many))
    assert found
    assert all("/FontFile2" in descriptor for descriptor in found)


def test_it_has_no_tags_and_says_so(plain_many: bytes) -> None:
    root = PdfReader(io.BytesIO(plain_many)).trailer["/Root"]
    assert "/StructTreeRoot" not in root
    assert "/MarkInfo" not in root
    assert "This file has no tags" in " ".join(text_of(plain_many).split())


def test_letter_size_language_title_and_outline(plain_many: bytes) -> None:
    reader = PdfReader(io.BytesIO(plain_many))
    assert {(float(p.mediabox.width), float(p.mediabox.height)) for p in reader.pages} == {(612.0, 792.0)}
    assert reader.trailer["/Root"]["/Lang"] == "en-US"
    assert reader.metadata is not None
    assert reader.metadata.title == "Grow New Jersey incentive areas: 6 sites"
    assert len(reader.outline) > 0


def test_equal_reports_are_equal_bytes_without_a_date(engine: Engine) -> None:
    first, second = (untagged_pdf(reports(engine, "png", 1)) for _ in range(2))
    assert first == second
    assert b"/CreationDate" not in first


def test_one_site_has_a_few_pages(engine: Engine) -> None:
    assert 5 <= len(PdfReader(io.BytesIO(untagged_pdf(reports(engine, "png", 1)))).pages) <= 10


# -- Chromium ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tagged_one(engine: Engine) -> bytes:
    return print_page(report_html(reports(engine, "svg", 1)), chromium(), timeout_s=120)


@pytest.fixture(scope="module")
def tagged_many(engine: Engine) -> bytes:
    return print_page(report_html(reports(engine, "svg", 12)), chromium(), timeout_s=180)


@pytest.mark.browser
@pytest.mark.slow
def test_headings_tables_and_the_map_are_tagged(tagged_one: bytes) -> None:
    root = PdfReader(io.BytesIO(tagged_one)).trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"]
    assert root["/Lang"] == "en-US"
    found, alternatives = tags(tagged_one)
    assert found.count("/H1") == 1
    assert found.count("/H2") >= 12
    assert found.index("/H1") < found.index("/H2") < found.index("/Table")
    assert {"/TH", "/TR", "/TD", "/Figure", "/Caption", "/LI"} <= set(found)
    (map_words,) = alternatives
    assert map_words.startswith("Map of Café Łódź. The site at latitude 40.56709")


@pytest.mark.browser
@pytest.mark.slow
def test_printed_names_and_fonts(tagged_many: bytes) -> None:
    text = text_of(tagged_many)
    for name in ("Café Łódź", "Αθήνα Ακίνητα", "Завод Жукова", "</script><b>"):
        assert name in text
    found = [descriptor for descriptor in fonts(tagged_many) if descriptor is not None]
    assert found
    assert all("/FontFile2" in descriptor or "/FontFile3" in descriptor for descriptor in found)


@pytest.mark.browser
@pytest.mark.slow
def test_pages_are_letter_size_and_a_sensible_number(tagged_one: bytes, tagged_many: bytes) -> None:
    one, many = (PdfReader(io.BytesIO(content)) for content in (tagged_one, tagged_many))
    assert {(float(p.mediabox.width), float(p.mediabox.height)) for p in many.pages} == {(612.0, 792.0)}
    assert 5 <= len(one.pages) <= 9
    assert len(many.pages) <= 12 * 3 + 8
    assert f"Page 2 of {len(many.pages)}" in many.pages[1].extract_text()


@pytest.mark.browser
@pytest.mark.slow
def test_printing_twice_gives_the_same_bytes(engine: Engine, tagged_one: bytes) -> None:
    again = print_page(report_html(reports(engine, "svg", 1)), chromium(), timeout_s=120)
    assert again == tagged_one
    assert b"/CreationDate" not in again
