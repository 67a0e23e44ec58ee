"""Columns of house numbers: their usual names, and those that mean something else unless streets stand beside them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from grownj_geo.rows_block import cell_text, is_blank

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "AGREEING_SHARE",
    "BARE_NUMBERS",
    "HOUSE_NUMBERS",
    "STREETS",
    "NumberColumn",
    "bare_number",
    "counts_rows",
    "number_column",
]

HOUSE_NUMBERS = (
    *("house_number", "house_no", "house_num", "housenumber", "hse_no", "hse_number", "hse_num"),
    *("street_number", "street_no", "street_num", "st_number", "st_no", "st_num", "addr_number", "addr_no"),
)
"""Usual names of columns of house numbers."""

BARE_NUMBERS = ("no", "number", "num", "nr", "hse", "house")
"""Names that are used for other numbers too: of houses they are where a column of street names stands beside."""

AGREEING_SHARE = 2 / 3
"""Of the addresses that a column of any numbers makes, the share that has to be among those that are loaded.

Of houses nearly all are; of other numbers those that happen to be houses of their street: in a dense town's tax list
one in ten of all numbers up to the street's last.
"""

STREETS = ("street", "street_name", "streetname", "st_name")
"""Usual names of columns of streets, where the number may stand in a column of its own."""

# "12 MAIN ST" and "12-14 MAIN ST", and not "12TH AVE".
_NUMBERED = re.compile(r"\s*[0-9]+[A-Za-z]?(?:\s*[-/&]\s*[0-9]+[A-Za-z]?)?\s+\S")
_OF_HOUSES = frozenset({"hse"})
_WHOLE = re.compile(r"([0-9]{1,9})(?:\.0+)?")
_FEW = 5
_WHOLE_SHARE = 0.9
_CLOSE = 1.5
"""Numbers per row up to which numbers that are all different lie so close that they count, though some are left out."""


@dataclass(frozen=True)
class NumberColumn:
    """A column with the name of any number, beside a column of streets without numbers.

    Attributes
    ----------
    name
        As it stands in the table.
    counts
        Whether it counts the rows; where it does not, it may have house numbers.
    """

    name: str
    counts: bool


def number_column(
    by_plain: Mapping[str, str], street: str, taken: Sequence[str], sample: Mapping[str, Sequence[Any]]
) -> tuple[str | None, NumberColumn | None]:
    """Return the column of house numbers of a column of streets, and whether that is only a guess.

    Parameters
    ----------
    by_plain, street, taken, sample
        As `bare_number` takes them.

    Returns
    -------
    tuple
        The column, None where none has house numbers; and what is to be said of it where its name is of any number.

    Examples
    --------
    >>> streets = ["Main St", "Elm St", "Oak St"]
    >>> number_column({"no": "No"}, "Street", [], {"No": [12, 7, 40], "Street": streets})
    ('No', NumberColumn(name='No', counts=False))
    >>> number_column({"no": "No"}, "Street", [], {"No": [1, 2, 3], "Street": streets})
    (None, NumberColumn(name='No', counts=True))
    """
    found = bare_number(by_plain, street, taken, sample)
    if found is None or any(by_plain.get(name) == found for name in _OF_HOUSES):
        return found, None
    counts = counts_rows(sample.get(found, ()))
    return (None if counts else found), NumberColumn(found, counts)


def counts_rows(cells: Sequence[Any]) -> bool:
    """Return whether numbers count rows: in order from 1, mostly one by one, or all different and close together.

    Parameters
    ----------
    cells
        In the order of the rows; empty ones are passed over.

    Examples
    --------
    >>> counts_rows([1, 2]), counts_rows([4, 1, 3, 5, 2]), counts_rows([12, 14, 16, 18, 20])
    (True, True, False)
    """
    texts = [cell_text(cell).strip() for cell in cells if not is_blank(cell)]
    numbers = [int(found[1]) for text in texts if (found := _WHOLE.fullmatch(text))]
    count = len(numbers)
    if not count or count < _WHOLE_SHARE * len(texts):
        return False
    if numbers == list(range(1, count + 1)):
        return True
    if count < _FEW:
        return False
    if 2 * sum(abs(after - before) == 1 for before, after in pairwise(numbers)) > count - 1:
        return True
    if len(set(numbers)) < count:
        return False
    ascending_from_1 = numbers[0] == 1 and numbers == sorted(numbers)
    return ascending_from_1 or max(numbers) - min(numbers) + 1 <= _CLOSE * count


def bare_number(
    by_plain: Mapping[str, str], street: str, taken: Sequence[str], sample: Mapping[str, Sequence[Any]]
) -> str | None:
    """Return the column with a bare name that has the house numbers of a column of streets; None where none has.

    Parameters
    ----------
    by_plain
        Columns by their names as usual names are written.
    street
        The column of streets.
    taken
        Columns that say something else.
    sample
        Some values of columns: where streets have their numbers already, a column of numbers counts the rows.

    Examples
    --------
    >>> columns = {"no": "No", "street": "Street"}
    >>> bare_number(columns, "Street", [], {"No": ["12", "14"], "Street": ["Main St", "12th Ave"]})
    'No'
    >>> bare_number(columns, "Street", [], {"No": ["1", "2"], "Street": ["12 Main St", "14 Main St"]}) is None
    True
    """
    found = next((by_plain[name] for name in BARE_NUMBERS if by_plain.get(name, street) not in {street, *taken}), None)
    if found is None:
        return None
    numbers = [cell_text(value).strip() for value in sample.get(found, ()) if not is_blank(value)]
    lines = [cell_text(value) for value in sample.get(street, ()) if not is_blank(value)]
    own = sum(bool(_NUMBERED.match(line)) for line in lines)
    numeric = sum(text[:1].isdigit() for text in numbers)
    # One odd cell among many says nothing of the column.
    houses = (not numbers or 2 * numeric > len(numbers)) and (not lines or 2 * own < len(lines))
    return found if houses else None
