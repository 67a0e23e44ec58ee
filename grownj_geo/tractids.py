"""Ids of census tracts: what they are called, how they are read, and what they say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from grownj_geo.crs import plain_text
from grownj_geo.features import Change, LayerFault

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ID_FIELDS", "STATE", "is_water", "read_ids", "refuse", "tract_name"]

STATE = "34"
"""How the id of a tract in New Jersey begins."""

ID_FIELDS = {"GEOID": None, "GEOID10": "2010", "GEOID20": "2020", "GEO_ID": None, "GEOIDFQ": None, "GEO.ID2": None}
"""Names of a field of tract ids and the tracts' vintage that a name says; the first one that is there counts."""

_MANGLED_ID = re.compile(r"(?P<digits>\d{10,11})\.0+")
_PREFIXED_ID = re.compile(r"1400000US(?P<digits>\d{11})|14000US(?P<old>\d{11})", re.IGNORECASE)
_ID_DIGITS = 11
_MOST_NAMED = 10


def refuse(fault: str, source: str, problems: Sequence[str], remedy: str) -> LayerFault:
    """Return what a table or tracts are refused with: the first problems, and what to do.

    Examples
    --------
    >>> print(refuse("duplicate_tract", "tracts.shp", ["34007600400 stands twice"], "Remove one."))
    tracts.shp: 34007600400 stands twice. Remove one.
    """
    more = f"; and {len(problems) - _MOST_NAMED} more" if len(problems) > _MOST_NAMED else ""
    return LayerFault(fault, f"{source}: {'; '.join(problems[:_MOST_NAMED])}{more}. {remedy}")


def _tract_id(value: Any) -> tuple[str, bool]:  # noqa: ANN401 - whatever a table holds
    """Return a GEOID of 11 digits and whether a spreadsheet's damage was undone; ValueError for anything else."""
    if isinstance(value, float) and value.is_integer():
        value = str(value)
    text = plain_text(str(value)).strip("'\"= ")
    prefixed = _PREFIXED_ID.fullmatch(text)
    if prefixed:
        return prefixed["digits"] or prefixed["old"], False
    mangled = _MANGLED_ID.fullmatch(text)
    digits = mangled["digits"] if mangled else text
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError
    if len(digits) == _ID_DIGITS:
        return digits, mangled is not None
    # A State below 10 whose zero was eaten; none of them is New Jersey.
    if len(digits) == _ID_DIGITS - 1:
        return digits.zfill(_ID_DIGITS), True
    raise ValueError


def read_ids(values: Sequence[Any], source: str, *, kind: str) -> tuple[list[str], list[Change]]:
    """Read the ids of tracts as 11 digits each, and say which a spreadsheet had damaged.

    Parameters
    ----------
    values
        The ids as they came.
    source, kind
        What messages call the table and its column.

    Raises
    ------
    LayerFault
        ``bad_tract_id``, with the rows.

    Examples
    --------
    >>> read_ids(["1400000US34001000100", "34013000100"], "rates.csv", kind="GEO_ID")
    (['34001000100', '34013000100'], [])
    """
    ids, problems, mended = [], [], []
    for row, value in enumerate(values, start=1):
        try:
            geoid, was_damaged = _tract_id(value)
        except ValueError:
            problems.append(f"row {row} has {kind} {value!r}")
            continue
        ids.append(geoid)
        if was_damaged:
            mended.append(row)
    if problems:
        raise refuse(
            "bad_tract_id",
            source,
            problems,
            "Expected the 11 digits of a tract, as in 34001000100 or 1400000US34001000100; a spreadsheet that shows "
            "3.4E+10 has lost them, so take the table from its publisher again.",
        )
    if not mended:
        return ids, []
    words = f"{len(mended):,} tract ids that a spreadsheet had made numbers were read as text again."
    return ids, [Change.about("tract_ids_mended", "changed", mended, words)]


def is_water(geoid: str) -> bool:
    """Return whether a tract is one of those that hold nothing but water.

    Examples
    --------
    >>> is_water("34001990000"), is_water("34001000100")
    (True, False)
    """
    return geoid[5:9] == "9900"


def tract_name(geoid: str) -> str:
    """Return a tract's name by its number, as the Census Bureau writes it.

    Examples
    --------
    >>> tract_name("34007600400"), tract_name("34007600401")
    ('Census Tract 6004', 'Census Tract 6004.01')
    """
    number, part = int(geoid[5:9]), geoid[9:]
    return f"Census Tract {number}" + ("" if part == "00" else f".{part}")
