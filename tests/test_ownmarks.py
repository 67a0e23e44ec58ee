"""Marks of this package: exact, each in its place."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from fpdf import FPDF

from grownj_geo.creditbatch import CREDIT_COLUMNS
from grownj_geo.ownmarks import Xml, own_document, own_header, own_page, own_pdf, own_picture, own_text
from grownj_geo.reportchromium import undated

if TYPE_CHECKING:
    from collections.abc import Callable

_REPORT = "As of         2017-04-17 (as stated)\nSite          x\nRulebook      y\n\nANSWER\n\nWritten by grownj-geo\n"
_FIRST = ["row", "problem", "notes", "mun_code", "municipality", "county", "placement"]
_LAST = ["review", "rulebook", "atlas"]


def _printed(title: str) -> bytes:
    page = FPDF()
    page.set_creation_date(datetime(1970, 1, 2, tzinfo=UTC))
    page.set_title(title)
    page.set_subject("(one (in) another) \\ and")
    page.add_page()
    return bytes(page.output())


@pytest.mark.parametrize("title", ["Sites", "a (b", "/WrittenBy (x)", "Łódź", "<< >>", "\\"])
def test_a_report_as_pdf_is_known_whatever_its_title(title: str) -> None:
    plain = _printed(title)
    assert not own_pdf(plain)
    assert own_pdf(undated(plain))


def test_a_pdf_to_which_something_was_added_is_no_longer_ours() -> None:
    made = undated(_printed("Sites"))
    told = b"1 0 obj\n<</WrittenBy (grownj-geo)>>\nendobj\n"
    table = b"xref\n0 2\n0000000000 65535 f \n%010d 00000 n \n" % len(made)
    begin = made + told + table + b"trailer\n<</Info 1 0 R"
    end = b">>\nstartxref\n%d\n%%%%EOF\n" % len(made + told)
    assert own_pdf(begin + end)
    assert not own_pdf(begin + b" /Prev 9" + end)
    assert not own_pdf(made[:-20])
    assert not own_pdf(b"%PDF-1.7\nstartxref\n9\n%%EOF")


@pytest.mark.parametrize(
    ("change", "own"),
    [
        (lambda text: text, True),
        (lambda text: text.replace("\n", "\r\n"), True),
        (lambda text: text + "and my view\n", False),
        (lambda text: "My view\n" + text, False),
        (lambda text: text.replace("Rulebook ", "Rules "), False),
        (lambda text: text.replace("by grownj-geo", "by grownj-geo and me"), False),
    ],
)
def test_a_report_as_text_is_known_by_its_first_lines_and_its_last(change: Callable[[str], str], *, own: bool) -> None:
    assert own_text(change(_REPORT)) == own


@pytest.mark.parametrize(
    ("names", "own"),
    [
        ([*_FIRST, *_LAST], True),
        (["name", *_FIRST, "any_area", *_LAST], True),
        (["row", "grownj_row", *_FIRST[1:], *_LAST], True),
        ([*_FIRST, *_LAST, "remark"], False),
        ([*_FIRST[1:], *_LAST], False),
        ([*_FIRST, *_LAST[1:]], False),
        ([*_LAST, *_FIRST], False),
        (["name", *(column.name for column, _ in CREDIT_COLUMNS)], True),
        ([*(column.name for column, _ in CREDIT_COLUMNS), "remark"], False),
        ([*(column.name for column, _ in CREDIT_COLUMNS[1:])], False),
        ([], False),
    ],
)
def test_a_table_is_known_by_all_of_its_own_columns(names: list[str], *, own: bool) -> None:
    assert own_header(names) == own


def test_only_what_stands_at_its_place_in_xml_counts() -> None:
    found = Xml(b"<?first?><a xmlns:d='e'><d:b name='x'>1<c>2</c>3</d:b><b>4</b><?late?></a>", "a/b")
    assert (found.texts, found.names, found.first) == (["13", "4"], ["x", None], ["first"])
    with pytest.raises(ValueError, match="defines entities"):
        Xml(b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "a")
    assert not own_document(b"<kml><!-- <?grownj-geo areas and sites?> --></kml>")
    assert own_document(b"<?xml version='1.0'?><?grownj-geo areas and sites?><kml><Docu")


def test_a_page_with_two_generators_is_somebodys() -> None:
    own = b'<!DOCTYPE html><html><head><meta name="generator" content="grownj-geo">'
    assert own_page(own)
    assert not own_page(own + b'<meta name="generator" content="a site of ours">')


def test_a_picture_names_its_program_before_it_is_drawn() -> None:
    from PIL import Image, PngImagePlugin  # noqa: PLC0415 - comes with the extra for pictures

    for text, own in (("grownj-geo 0.1.0", True), ("drawn after grownj-geo", False), (None, False)):
        file, told = io.BytesIO(), PngImagePlugin.PngInfo()
        told.add_text("Comment", "grownj-geo")
        if text is not None:
            told.add_text("Software", text)
        Image.new("L", (2, 2)).save(file, "png", pnginfo=told)
        assert own_picture(file.getvalue()) == own
