"""The page of what credits are computed from: figures with their status, bonuses, and readings of the credit rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docs_text import anchor, bullets, code, status, table, text

from grownj_geo.creditparams import credit_books, load_credit_book
from grownj_geo.creditreadings import credit_readings

if TYPE_CHECKING:
    from grownj_geo.creditparams import CreditBook, Figure

__all__ = ["credit_pages"]

_INTRO = """\
# Figures of the credits

What `grownj credits` computes with. A figure below `confirmed` is named in every result that rests on it; an
`unverified` one is never taken as it stands unless the user asks, and one that was not found leaves open what needs it.
See [Credits](../project/readme.md#credits) and [what a project can state](../commands/credits-new.md).
"""


def credit_pages() -> dict[str, str]:
    """Return the page by its place below ``docs``."""
    lines = [_INTRO]
    for book_id in credit_books():
        lines += _book(load_credit_book(book_id))
    lines += ["", f"## Readings of the credit rules {anchor('readings')}"]
    for reading in credit_readings().values():
        lines += ["", f"### {reading.id}: {text(reading.title)} {anchor(f'credit-{reading.id}')}", ""]
        lines += [text(reading.question), ""]
        for name, meaning in reading.options.items():
            default = " (default)" if name == reading.default and len(reading.options) > 1 else ""
            lines += bullets([f"{code(name)}{default}: {text(meaning)}"])
    return {"rules/credits.md": "\n".join(lines) + "\n"}


def _book(book: CreditBook) -> list[str]:
    lines = ["", f"## {text(book.title)} {anchor(book.id)}", ""]
    lines += [f"{text(book.citation)}; version {text(book.version)}. {text(book.outside_days)}"]
    rows = [row for figure in book.figures.values() for row in _rows(figure)]
    lines += table(["Figure", "Value", "From", "Citation", "Status"], rows)
    if book.lines:
        lines += ["", "Lines of the base amount, the highest first:", "", *bullets(text(x.label) for x in book.lines)]
    if book.bonuses:
        lines += ["", "Bonuses:", "", *bullets(text(bonus.label) for bonus in book.bonuses)]
    return lines


def _rows(figure: Figure) -> list[list[str]]:
    return [
        [
            text(figure.label),
            text(_value(figure, each.value)),
            str(each.from_),
            text(each.citation),
            status(each.status, each.status_note),
        ]
        for each in figure.values
    ]


def _value(figure: Figure, value: object) -> str:
    if value is None:
        return "not found"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    if figure.unit == "day":
        return str(value)
    shown = f"{value:,f}" if hasattr(value, "as_tuple") else str(value)
    shown = shown.rstrip("0").rstrip(".") if "." in shown else shown
    if figure.unit.startswith("dollars"):
        return f"${shown}" + (" per sq ft" if figure.unit == "dollars_per_sqft" else "")
    return shown if figure.unit == "count" else f"{shown} {'sq ft' if figure.unit == 'sqft' else figure.unit}"
