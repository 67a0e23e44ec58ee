"""Columns of house numbers: their usual names, and those that mean something else unless streets stand beside them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from grownj_geo.rows_block import cell_text, is_blank

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["BARE_NUMBERS", "HOUSE_NUMBERS", "STREETS", "bare_number"]

HOUSE_NUMBERS = (
    *("house_number", "house_no", "house_num", "housenumber", "hse_no", "hse_number", "hse_num"),
    *("street_number", "street_no", "street_num", "st_number", "st_no", "st_num", "addr_number", "addr_no"),
)
"""Usual names of columns of house numbers."""

BARE_NUMBERS = ("no", "number", "num", "nr", "hse", "house")
"""Names that are used for other numbers too: of houses they are where a column of street names stands beside."""

STREETS = ("street", "street_name", "streetname", "st_name")
"""Usual names of columns of streets, where the number may stand in a column of its own."""

# "12 MAIN ST" and "12-14 MAIN ST", and not "12TH AVE".
_NUMBERED = re.compile(r"\s*[0-9]+[A-Za-z]?(?:\s*[-/&]\s*[0-9]+[A-Za-z]?)?\s+\S")


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
