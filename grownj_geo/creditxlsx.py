"""An estimate as a workbook that computes: an analyst can change an input and see what comes of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from grownj_geo.files import written_beside
from grownj_geo.ownmarks import WRITTEN_BY
from grownj_geo.tableformats import guarded

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.creditline import CreditLine
    from grownj_geo.credits import Estimate

__all__ = ["estimate_workbook", "write_estimate"]

_NAMED = re.compile(r"\{([^{}:]+)(?::(low|high))?\}")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_HEADER = ("Line", "Building", "Least", "Greatest", "What goes in", "Rule", "Figures")
_WIDTHS = (46, 12, 20, 20, 60, 44, 40)
_LOW, _HIGH = "C", "D"
_NO_LIMIT = 1e100
_FORMATS = {
    "dollars": '[>=1E+99]"no limit";$#,##0.00',
    "dollars_per_sqft": '[>=1E+99]"no limit";$#,##0.00',
    "sqft": "#,##0",
    "jobs": "#,##0",
    "years": "0",
}


def write_estimate(found: Estimate, path: Path) -> None:
    """Write an estimate as a workbook; the file appears when it is whole.

    Parameters
    ----------
    found
        The estimate.
    path
        Where to write.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    with written_beside(path) as beside:
        estimate_workbook(found).save(beside)


def estimate_workbook(found: Estimate) -> Any:  # noqa: ANN401 - openpyxl is imported where it is needed
    """Return an estimate as a workbook of openpyxl.

    Every line that comes from others has a formula in place of its amount, for the least and the greatest; what goes in
    and what the law says are plain cells.
    """
    from openpyxl import Workbook  # noqa: PLC0415 - only who asks for a workbook needs it
    from openpyxl.styles import Alignment, Font, PatternFill  # noqa: PLC0415 - same

    book = Workbook()
    book.properties.creator = WRITTEN_BY
    sheet: Any = book.active
    sheet.title = "Computation"
    bold, wrap = Font(bold=True), Alignment(wrap_text=True, vertical="top")
    typed = PatternFill("solid", fgColor="FFF6DC")
    head = [
        ("Project", found.project),
        ("Figures", f"of {found.as_of}, {found.book}, trust: {found.trust}{', strict' if found.strict else ''}"),
        ("Colour", "cells with a ground are typed in and can be changed; the others are computed"),
    ]
    for label, words in head:
        sheet.append([label, _text(words)])
    sheet.append([])
    sheet.append(_HEADER)
    top = sheet.max_row
    rows = {line.id: top + 1 + i for i, line in enumerate(found.lines)}
    for line in found.lines:
        low, high = _cells(line, rows)
        used = ", ".join(line.figures)
        sheet.append([line.label, _text(line.building or ""), low, high, _text(line.words), line.rule, used])
        row = rows[line.id]
        for column in (_LOW, _HIGH):
            cell = sheet[f"{column}{row}"]
            cell.number_format = _FORMATS.get(line.unit, "General")
            if not (isinstance(cell.value, str) and cell.value.startswith("=")):
                cell.fill = typed
        for cell in sheet[row]:
            cell.alignment = wrap
    for cell in sheet[top]:
        cell.font = bold
    for row in range(1, len(head) + 1):
        sheet[f"A{row}"].font = bold
    for number, width in enumerate(_WIDTHS):
        sheet.column_dimensions["ABCDEFG"[number]].width = width
    sheet.freeze_panes = f"A{top + 1}"
    _figures(book, found, bold)
    _notes(book, found, bold)
    return book


def _text(words: str) -> str:
    """Return text that a workbook can hold and that no program computes.

    Names, places and cautions come from strangers; a workbook has no control characters.
    """
    return guarded(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", words))


def _cells(line: CreditLine, rows: dict[str, int]) -> tuple[Any, Any]:
    """Return the cells of the least and the greatest."""
    low, high = line.formula, line.formula_high or line.formula
    if line.outcome is not None:
        cell = _formula(low, rows, _LOW) if low else line.outcome
        return cell, cell
    return (
        _formula(low, rows, _LOW) if low else float(line.low or 0),
        _formula(high, rows, _HIGH) if high else float(line.high if line.high is not None else _NO_LIMIT),
    )


def _formula(formula: str, rows: dict[str, int], column: str) -> str:
    def cell(found: re.Match[str]) -> str:
        at = {"low": _LOW, "high": _HIGH, None: column}[found[2]]
        return f"{at}{rows[found[1]]}"

    return "=" + _NAMED.sub(cell, formula)


def _figures(book: Any, found: Estimate, bold: Any) -> None:  # noqa: ANN401 - openpyxl's own
    sheet = book.create_sheet("Figures")
    sheet.append(("Name", "Figure", "Value", "Status", "Taken as it stands", "Citation", "Source"))
    for figure in found.figures:
        taken = "yes" if figure.taken else "no"
        sheet.append(
            (
                figure.name,
                figure.label,
                _text(figure.value),
                figure.status,
                taken,
                figure.citation,
                figure.source or "",
            )
        )
    for cell in sheet[1]:
        cell.font = bold
    for column, width in zip("ABCDEFG", (30, 60, 24, 14, 18, 50, 30), strict=True):
        sheet.column_dimensions[column].width = width


def _notes(book: Any, found: Estimate, bold: Any) -> None:  # noqa: ANN401 - openpyxl's own
    sheet = book.create_sheet("Notes")
    parts = {
        "What would settle it": [each.words for each in found.settles],
        "Taken for granted, since it is not stated": found.assumptions,
        "Left out": found.notes,
        "Note": found.cautions,
        "What this is not": (found.disclaimer,),
    }
    for title, words in parts.items():
        if words:
            sheet.append((title,))
            sheet[f"A{sheet.max_row}"].font = bold
            for each in words:
                sheet.append((_text(each),))
    sheet.column_dimensions["A"].width = 120
