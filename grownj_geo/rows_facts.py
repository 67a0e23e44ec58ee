"""Facts of sites in the cells of a table: as one states them, and as spreadsheets and people write them."""

from __future__ import annotations

import re
from typing import Any

from grownj_geo.errors import FactError
from grownj_geo.facts import check_facts, load_facts
from grownj_geo.rows_cells import read_day, read_tick, says_nothing, serial_day, ungrouped

__all__ = ["read_fact"]

_TWO_WAYS = re.compile(r"[-+]?[1-9][0-9]{0,2}\.[0-9]{3}")


def read_fact(name: str, cell: Any, *, column: str) -> tuple[bool | float | str | None, str | None]:  # noqa: ANN401
    """Return what a cell states of a fact, and what has to be told of how it was read; None where nothing is stated.

    Parameters
    ----------
    name
        A fact of the vocabulary.
    cell
        What the table has.
    column
        What messages call its column.

    Raises
    ------
    FactError
        For a value that does not fit, or that may be read in two ways.

    Examples
    --------
    >>> read_fact("application_date", "7/14/2016", column="Applied")
    ('2016-07-14', "Applied: '7/14/2016' was read month first, as 2016-07-14.")
    >>> read_fact("retail_sqft", "n/a", column="Retail")
    (None, "Retail: 'n/a' was taken for not known.")
    """
    kind = load_facts()[name].type
    meant, note = _meant(kind, cell, column)
    try:
        if kind == "number" and isinstance(cell, str):
            _refuse_two_ways(name, cell.strip())
        return check_facts({name: meant})[name], note
    except FactError as error:
        if says_nothing(cell):
            return None, f"{column}: {cell!r} was taken for not known."
        day = serial_day(cell) if kind == "date" else None
        if day is not None:
            raise FactError(f"{error} As a spreadsheet counts days, {cell} is {day}.") from error
        raise


def _meant(kind: str, cell: Any, column: str) -> tuple[Any, str | None]:  # noqa: ANN401
    """Return what a cell plainly means, and what has to be told where that takes a reading."""
    if kind == "boolean" and not isinstance(cell, bool):
        tick = read_tick(cell)
        if tick is not None:
            return tick, f"{column}: {cell!r} was read as {'yes' if tick else 'no'}."
    if not isinstance(cell, str):
        return cell, None
    if kind == "date":
        day = read_day(cell)
        if day is not None:
            how = " month first," if "/" in cell else ""
            told = None if cell.strip() == day.isoformat() else f"{column}: {cell!r} was read{how} as {day}."
            return day, told
    if kind == "number" and "," not in cell:
        # Groups by commas are read wherever facts are stated.
        bare = ungrouped(cell)
        if bare is not None:
            return bare, f"{column}: {cell!r} was read as {bare}."
    return cell, None


def _refuse_two_ways(name: str, text: str) -> None:
    if not _TWO_WAYS.fullmatch(text):
        return
    point, group = text, text.replace(".", "")
    try:
        check_facts({name: group})
    except FactError:
        return
    raise FactError(
        f"The fact {name} was stated as {text!r}, which may be {float(point):g} or {int(group):,}; expected one. "
        "Write it without a point."
    )
