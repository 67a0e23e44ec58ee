"""A report as a PDF by fpdf2, where no browser prints it: text that can be selected, its font inside, but no tags."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from grownj_geo.picturetext import font_files, odd_signs, odd_words, printable
from grownj_geo.reportblocks import Fields, Grid, Listed, Pairs, Picture, Section, Words
from grownj_geo.reportchromium import undated
from grownj_geo.reporthtml import texts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grownj_geo.reportblocks import Block, Cell, Key, Report

__all__ = ["UNTAGGED", "untagged_pdf"]

UNTAGGED = (
    "This file has no tags: a screen reader reads its words without announcing headings and tables. The same report as "
    "a page (-o report.html) has them, and so has a PDF that is made where Chromium is installed."
)

_FONT = "report"
_INK, _SOFT, _LINE, _FILL = (27, 30, 35), (74, 80, 88), (185, 190, 197), (243, 245, 247)
_COLOURS = {"yes": (11, 93, 59), "no": (122, 35, 24), "undetermined": (106, 74, 0), "": _INK}
_HEADINGS = {1: 17.0, 2: 12.5, 3: 10.5, 4: 9.5}
_BODY, _SMALL = 8.6, 7.4
_MARGIN_PT = 54.0
_CLOSE = 0.84
_COUNT = "{pgs}"


def untagged_pdf(report: Report) -> bytes:
    """Return a report as a PDF without tags and without a date; equal reports are equal bytes.

    Parameters
    ----------
    report
        What it says; its pictures are PNG.

    Raises
    ------
    ImportError
        Where fpdf2 or matplotlib, whose font is put in, is not there; `check_report_packages` says so before.
    """
    page = _page(report)
    page.add_page()
    _write(page, "Grow New Jersey incentive areas: site report".upper(), 7.5, bold=True, colour=_SOFT)
    _heading(page, report.title, 1)
    _caution(page, UNTAGGED)
    if odd := odd_words(odd_signs(texts_of(report))):
        _caution(page, odd)
    for section in report.sections:
        _section(page, section)
    target = io.BytesIO()
    page.output(target)
    return undated(target.getvalue())


def _page(report: Report) -> Any:  # noqa: ANN401 - fpdf2 is an extra
    from fpdf import FPDF  # noqa: PLC0415 - an extra

    foot = printable(report.foot)

    class Page(FPDF):
        """Has the foot of a report, and is written closer for one of many sites."""

        scale = 1.0

        def footer(self) -> None:
            self.set_y(-36)
            self.set_font(_FONT, size=7)
            self.set_text_color(*_SOFT)
            self.cell(0, 9, foot)
            self.set_x(self.l_margin)
            self.cell(0, 9, f"Page {self.page_no()} of {_COUNT}", align="R")

    page = Page(format="letter", unit="pt")
    page.alias_nb_pages(_COUNT)
    page.scale = _CLOSE if any(section.page for section in report.sections) else 1.0
    for weight, file in font_files().items():
        page.add_font(_FONT, style="B" if weight == "bold" else "", fname=file)
    page.set_creation_date(datetime(1970, 1, 2, tzinfo=UTC))
    page.set_lang("en-US")
    page.set_title(printable(report.title))
    page.set_margin(_MARGIN_PT)
    page.set_auto_page_break(auto=True, margin=_MARGIN_PT)
    return page


# -- blocks --------------------------------------------------------------------------------------------


def _section(page: Any, section: Section) -> None:  # noqa: ANN401 - fpdf2 is an extra
    if section.page or page.get_y() > page.h - 130:
        page.add_page()
    _heading(page, section.title, section.level)
    for block in section.blocks:
        _block(page, block)


def _block(page: Any, block: Block) -> None:  # noqa: ANN401 - same
    match block:
        case Words(text, "answer", outcome):
            _write(page, text, 12, bold=True, colour=_COLOURS[outcome], after=4)
        case Words(text, "caution"):
            _caution(page, text)
        case Words(text, tone):
            _write(page, text, _SMALL if tone == "small" else _BODY, colour=_SOFT if tone == "small" else _INK, after=4)
        case Pairs(rows):
            _table(page, (22, 78), [[(name, (), True), (value, (), False)] for name, value in rows])
        case Fields(rows):
            _table(page, (22, 78), [[(name, (), True), (value or " ", (), False)] for name, value in rows], high=22)
        case Listed(entries, numbered):
            for number, words in enumerate(entries, start=1):
                _write(page, f"{number}. {words}" if numbered else f"\u2022 {words}", _BODY, after=2)
        case Grid():
            _grid(page, block)
        case Picture():
            _picture(page, block)


def _heading(page: Any, words: str, level: int) -> None:  # noqa: ANN401 - same
    page.ln(9 * page.scale**2 if level > 1 else 0)
    # The outline of the file is what can be told of headings without tags.
    page.start_section(printable(words), level=level - 1, strict=False)
    _write(page, words, _HEADINGS[level], bold=True, after=4)


def _write(
    page: Any,  # noqa: ANN401 - same
    words: str,
    size: float,
    *,
    bold: bool = False,
    colour: tuple[int, int, int] = _INK,
    after: float = 0.0,
) -> None:
    size *= page.scale
    page.set_font(_FONT, style="B" if bold else "", size=size)
    page.set_text_color(*colour)
    page.multi_cell(0, size * 1.32, printable(words, lines=True), align="L", new_x="LMARGIN", new_y="NEXT")
    page.ln(after)


def _caution(page: Any, words: str) -> None:  # noqa: ANN401 - same
    page.set_font(_FONT, size=_BODY)
    page.set_text_color(*_INK)
    page.set_fill_color(255, 246, 221)
    page.set_draw_color(185, 137, 0)
    page.multi_cell(0, 12, printable(words), border=1, fill=True, align="L", padding=5, new_x="LMARGIN", new_y="NEXT")
    page.ln(5)


def _grid(page: Any, grid: Grid) -> None:  # noqa: ANN401 - same
    if page.get_y() > page.h - 120:
        page.add_page()
    _write(page, grid.caption, _BODY, bold=True, after=2)
    rows = [_cells(row) for row in grid.rows]
    tones = [[_COLOURS[cell.tone] for cell in row] for row in grid.rows]
    _table(page, grid.widths, rows, head=grid.columns, tones=tones)


def _cells(row: Sequence[Cell]) -> list[tuple[str, Sequence[str], bool]]:
    """Return cells as they are written: a cell has one weight, so what is below the first one goes to the last."""
    (first, *between, last) = row
    found: list[tuple[str, Sequence[str], bool]] = [(first.words, (), True)]
    found += [(cell.words, cell.below, bool(cell.tone)) for cell in between]
    return [*found, (last.words, (*last.below, *first.below), False)]


def _table(
    page: Any,  # noqa: ANN401 - same
    widths: Sequence[int],
    rows: Sequence[Sequence[tuple[str, Sequence[str], bool]]],
    *,
    head: Sequence[str] = (),
    tones: Sequence[Sequence[tuple[int, int, int]]] = (),
    high: float = 0.0,
) -> None:
    """Write a table; a cell is its words, smaller ones below, and whether the first are bold."""
    from fpdf.enums import TableBordersLayout, TableHeadingsDisplay, VAlign  # noqa: PLC0415 - an extra
    from fpdf.fonts import FontFace  # noqa: PLC0415 - same

    page.set_draw_color(*_LINE)
    page.set_fill_color(255, 255, 255)
    page.set_font(_FONT, size=_BODY * page.scale)
    page.set_text_color(*_INK)
    bold = FontFace(emphasis="BOLD", fill_color=_FILL)
    with page.table(
        col_widths=tuple(widths),
        borders_layout=TableBordersLayout.HORIZONTAL_LINES,
        first_row_as_headings=bool(head),
        repeat_headings=TableHeadingsDisplay.ON_TOP_OF_EVERY_PAGE if head else TableHeadingsDisplay.NONE,
        headings_style=bold,
        line_height=_BODY * 1.3 * page.scale,
        padding=(2.2 * page.scale**3, 3, 2.2 * page.scale**3, 0),
        text_align="LEFT",
        v_align=VAlign.T,
        min_row_height=high or None,
    ) as table:
        if head:
            line = table.row()
            for name in head:
                line.cell(name)
        for at, row in enumerate(rows):
            line = table.row()
            for place, (words, below, strong) in enumerate(row):
                colour = tones[at][place] if tones else _INK
                text = printable("\n".join((words, *below)), lines=True)
                line.cell(text, style=FontFace(emphasis="BOLD" if strong else None, color=colour))
    page.ln(5)


def _picture(page: Any, picture: Picture) -> None:  # noqa: ANN401 - same
    from PIL import Image  # noqa: PLC0415 - comes with fpdf2

    wide = page.epw * (1.0 if page.scale == 1.0 else 0.7)
    with Image.open(io.BytesIO(picture.content)) as image:
        high = wide * image.height / image.width
    if page.get_y() + high > page.h - 2 * _MARGIN_PT:
        page.add_page()
    # No alternative text: it would make tags, of this picture alone. Its words stand below.
    page.image(io.BytesIO(picture.content), w=wide, h=high)
    page.ln(4)
    for key in picture.keys:
        _key(page, key)
    _write(page, f"{picture.title}. {picture.words} {picture.below}", _SMALL, colour=_SOFT, after=4)


def _key(page: Any, key: Key) -> None:  # noqa: ANN401 - same
    """Write an entry of the legend; hatched ground, which is paler, is told in words."""
    colour = tuple(int(key.colour[i : i + 2], 16) for i in (1, 3, 5))
    weight = key.opacity if key.pattern == "solid" else 0.15
    page.set_fill_color(*(round(255 - (255 - part) * weight) for part in colour))
    page.set_draw_color(*colour)
    page.rect(page.l_margin, page.get_y() + 1.5, 20, 8, style="DF")
    page.set_x(page.l_margin + 26)
    hatched = "" if key.pattern in {"solid", "outline"} else f" ({key.pattern})"
    page.set_font(_FONT, size=_SMALL)
    page.set_text_color(*_INK)
    page.cell(0, 11, printable(key.label + hatched), new_x="LMARGIN", new_y="NEXT")
