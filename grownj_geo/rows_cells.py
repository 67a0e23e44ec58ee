"""What people and spreadsheets put into cells: words for nothing, ticks, grouped digits, days of many looks, totals."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any

from grownj_geo.rows_block import cell_text, is_blank

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["is_day_like", "is_total", "read_day", "read_tick", "says_nothing", "serial_day", "ungrouped"]

_NOTHING = frozenset(
    {
        *("n/a", "na", "n.a.", "#n/a", "none", "null", "nil", "nan", "not available", "not known", "not applicable"),
        *(
            "-",
            "--",
            "---",
            "\u2013",
            "\u2014",
            "?",
            "??",
            "unknown",
            "unk",
            "unk.",
            "tbd",
            "tba",
            "missing",
            "(blank)",
        ),
    }
)
_SUMS = ("total", "grand total", "subtotal", "sub-total", "sub total", "sum", "average", "mean")
_TOTALS = frozenset(f"{word}{end}" for word in _SUMS for end in ("", ":", "s", "s:"))
_TICKS: dict[str, bool] = {
    **dict.fromkeys(("y", "t", "1", "x", "\u2713", "\u2714", "\u2611", "\u2612", "\u221a"), True),
    **dict.fromkeys(("n", "f", "0", "\u2610"), False),
}

# Digits in groups of three: by commas, by blanks or apostrophes, by points.
_BLANKS = " '\u00a0\u2019\u2009\u202f"
_GROUPED = (
    (re.compile(r"[-+]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?"), ","),
    (re.compile(rf"[-+]?[0-9]{{1,3}}(?:[{_BLANKS}][0-9]{{3}})+(?:[.,][0-9]+)?"), _BLANKS),
    (re.compile(r"[-+]?[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+|[-+]?[0-9]{1,3}(?:\.[0-9]{3}){2,}"), "."),
    # Too many digits before the comma for groups: it is a decimal point.
    (re.compile(r"[-+]?[0-9]{4,},(?:[0-9]{1,2}|[0-9]{4,})"), ""),
)

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NO_TIME = r"(?:[ T](?:00?:00(?::00(?:\.0+)?)?|12:00(?::00)? ?AM))?"
_ISO_DAY = re.compile(rf"([0-9]{{4}})-([0-9]{{2}})-([0-9]{{2}}){_NO_TIME}", re.IGNORECASE)
_SLASHED_DAY = re.compile(rf"([0-9]{{1,2}})/([0-9]{{1,2}})/([0-9]{{4}}|[0-9]{{2}}){_NO_TIME}", re.IGNORECASE)
_DAY_MONTH = re.compile(r"([0-9]{1,2})[- ]([A-Za-z]{3,9})\.?[- ,]+([0-9]{4}|[0-9]{2})")
_MONTH_DAY = re.compile(r"([A-Za-z]{3,9})\.? ([0-9]{1,2}),? ([0-9]{4})")
_TURN_OF_CENTURY = 30
"""Years of two digits below this one are of this century, as spreadsheets take them."""
_DAY_LIKE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ].*)?"
    r"|[0-9]{1,2}/[0-9]{1,2}/[0-9]{2,4}(?: .*)?"
    r"|[0-9]{1,2}-(?P<after>[A-Za-z]{3})(?:-[0-9]{2,4})?"
    r"|(?P<before>[A-Za-z]{3})-[0-9]{1,4}"
    r"|[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?: ?[AP]M)?",
    re.IGNORECASE,
)
_DAY_ZERO = dt.date(1899, 12, 30)
_SERIALS = range(36_526, 55_153)
"""The days from 2000 to 2050 as spreadsheets count them."""


def says_nothing(value: object) -> bool:
    """Return whether a cell is empty, or holds what people write where there is nothing.

    Examples
    --------
    >>> says_nothing(None), says_nothing(" N/A "), says_nothing("-"), says_nothing("0"), says_nothing("Nutley")
    (True, True, True, False, False)
    """
    return is_blank(value) or (isinstance(value, str) and value.strip().casefold() in _NOTHING)


def is_total(cells: Sequence[Any]) -> bool:
    """Return whether a row sums up others: its first cell with anything in it says so.

    Examples
    --------
    >>> is_total([None, "Grand total:", 12]), is_total(["Total Wine", 12]), is_total([12, "Total"])
    (True, False, False)
    """
    for cell in cells:
        if isinstance(cell, str):
            if not cell or cell.isspace():
                continue
            return cell.strip().casefold() in _TOTALS
        if cell is not None:
            return False
    return False


def ungrouped(text: str) -> str | None:
    """Return a number with groups of digits or a decimal comma as a plain one; None where it has neither.

    One group after a point is none: 10.000 may be ten.

    Examples
    --------
    >>> ungrouped("585,000.5"), ungrouped("585 000,5"), ungrouped("1.234.567"), ungrouped("10.000"), ungrouped("585000")
    ('585000.5', '585000.5', '1234567', None, None)
    """
    text = text.strip()
    for pattern, signs in _GROUPED:
        if pattern.fullmatch(text):
            bare = "".join(sign for sign in text if sign not in signs)
            return bare if "," in signs else bare.replace(",", ".")
    return None


def read_tick(value: object) -> bool | None:
    """Return what a mark in a column of yes and no says; None where it is none.

    Examples
    --------
    >>> read_tick("x"), read_tick("N"), read_tick(1), read_tick(0.0), read_tick("maybe"), read_tick(2)
    (True, False, True, False, None, None)
    """
    return _TICKS.get(cell_text(value).strip().casefold()) if isinstance(value, str | int | float) else None


def read_day(text: str) -> dt.date | None:
    """Return the day that a text is, month before day where it is all numbers; None where it is none.

    Examples
    --------
    >>> read_day("7/14/2016 0:00"), read_day("14-Jul-16"), read_day("July 14, 2016"), read_day("14/7/2016")
    (datetime.date(2016, 7, 14), datetime.date(2016, 7, 14), datetime.date(2016, 7, 14), None)
    """
    text = text.strip()
    if found := _ISO_DAY.fullmatch(text):
        year, month, day = found.groups()
    elif found := _SLASHED_DAY.fullmatch(text):
        month, day, year = found.groups()
    elif found := _DAY_MONTH.fullmatch(text):
        day, word, year = found.groups()
        month = _month(word)
    elif found := _MONTH_DAY.fullmatch(text):
        word, day, year = found.groups()
        month = _month(word)
    else:
        return None
    full = int(year) if len(year) > 2 else int(year) + (2000 if int(year) < _TURN_OF_CENTURY else 1900)  # noqa: PLR2004
    try:
        return dt.date(full, int(month), int(day))
    except ValueError:
        return None


def _month(word: str) -> str:
    short = word[:3].casefold()
    return str(_MONTHS.index(short) + 1) if short in _MONTHS else "0"


def serial_day(value: object) -> dt.date | None:
    """Return the day that a bare number would be in a spreadsheet; None where it is not likely to be one.

    Examples
    --------
    >>> serial_day(42565), serial_day("42565"), serial_day("20160714")
    (datetime.date(2016, 7, 14), datetime.date(2016, 7, 14), None)
    """
    text = cell_text(value).strip()
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0  # noqa: PLR2004 - no day has more
    return _DAY_ZERO + dt.timedelta(days=number) if number in _SERIALS else None


def is_day_like(value: object) -> bool:
    """Return whether a cell is a day or a time, or text as a spreadsheet writes one.

    Examples
    --------
    >>> is_day_like(dt.date(2016, 7, 14)), is_day_like("14-Jul"), is_day_like("Jan-10"), is_day_like("14-B")
    (True, True, True, False)
    """
    if isinstance(value, dt.date | dt.time):
        return True
    if not isinstance(value, str):
        return False
    found = _DAY_LIKE.fullmatch(value.strip())
    if found is None:
        return False
    word = found["after"] or found["before"]
    return word is None or word.casefold() in _MONTHS
