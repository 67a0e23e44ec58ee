"""Lists of municipalities: who is designated what, between which days, by which source."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING

from grownj_geo.errors import RulebookError
from grownj_geo.readings import read_named
from grownj_geo.strict import Strict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grownj_geo.atlas import Atlas
    from grownj_geo.layer import Layer

__all__ = [
    "ListDefinition",
    "Listing",
    "deciding_listings",
    "listing_holds",
    "listings",
    "load_lists",
    "on_list",
    "periods_overlap",
]


class ListDefinition(Strict):
    """A list of municipalities: what it is called, and whether absence from it means anything."""

    name: str
    label: str
    complete: bool
    note: str


@lru_cache(maxsize=1)
def load_lists() -> dict[str, ListDefinition]:
    """Return the known lists by name.

    Examples
    --------
    >>> load_lists()["gsgz"].label
    'growth zones'
    """
    return read_named("lists.yaml", ListDefinition, by="name")


@dataclass(frozen=True)
class Listing:
    """One municipality on one list for one period; a municipality that came back has several.

    Attributes
    ----------
    starts, starts_latest
        The designation began between these two days; None where the day is not known or precedes all use.
    ends
        The first day on which it no longer holds; None while it holds.
    """

    mun_code: str
    name: str
    list: str
    status: str
    source: str
    starts: date | None
    starts_latest: date | None
    ends: date | None


def listings(atlas: Atlas, name: str) -> dict[str, tuple[Listing, ...]] | None:
    """Return the periods of one list by municipal code, or None where the table of designations cannot be used.

    Raises
    ------
    RulebookError
        If there is no list of that name.
    """
    layer = atlas.layer("designations")
    return None if layer is None else _rows(layer, name)


@lru_cache(maxsize=256)
def _rows(layer: Layer, name: str) -> dict[str, tuple[Listing, ...]]:
    if name not in load_lists():
        known = ", ".join(sorted(load_lists()))
        raise RulebookError(f"There is no list of municipalities named {name!r}; there are {known}.")
    rows = layer.select((("designation", (name,)),))
    found: dict[str, list[Listing]] = {}
    for i in map(int, rows):
        row = Listing(
            mun_code=layer.value("mun_code", i),
            name=layer.value("mun_label", i),
            list=name,
            status=layer.value("status", i),
            source=layer.value("source", i),
            starts=_day(layer.value("from_earliest", i)),
            starts_latest=_day(layer.value("from_latest", i)),
            ends=_day(layer.value("until_exclusive", i)),
        )
        found.setdefault(row.mun_code, []).append(row)
    return {code: tuple(periods) for code, periods in found.items()}


def listing_holds(row: Listing, as_of: date) -> bool | None:
    """Return whether a designation holds on a day; None between the first and the last day it may begin.

    Examples
    --------
    >>> row = Listing("0102", "Atlantic City", "gsgz", "confirmed", "S", date(2014, 10, 14), date(2014, 10, 24), None)
    >>> [listing_holds(row, date(2014, 10, day)) for day in (13, 20, 24)]
    [False, None, True]
    """
    if row.ends is not None and as_of >= row.ends:
        return False
    if row.starts is not None and as_of < row.starts:
        return False
    if row.starts_latest is not None and as_of < row.starts_latest:
        return None
    return True


def on_list(rows: Sequence[Listing], as_of: date) -> bool | None:
    """Return whether any of a municipality's periods on a list holds on a day; None where one may.

    Examples
    --------
    >>> was = Listing("0199", "Drawn Township", "lfb_supervision", "confirmed", "S", None, None, date(2015, 1, 1))
    >>> back = Listing("0199", "Drawn Township", "lfb_supervision", "confirmed", "S", date(2017, 3, 1), None, None)
    >>> [on_list((was, back), date(year, 6, 1)) for year in (2014, 2016, 2017)]
    [True, False, True]
    """
    held = {listing_holds(row, as_of) for row in rows}
    return True if True in held else None if None in held else False


def deciding_listings(rows: Sequence[Listing], as_of: date | None) -> tuple[Listing, ...]:
    """Return the periods that an answer rests on: what holds on the day, else what may, else all of them.

    Parameters
    ----------
    rows
        The periods of one municipality on one list.
    as_of
        The day; None where the list is asked whatever its days.
    """
    if as_of is not None:
        for wanted in (True, None):
            chosen = tuple(row for row in rows if listing_holds(row, as_of) is wanted)
            if chosen:
                return chosen
    return tuple(rows)


def periods_overlap(first: tuple[date | None, date | None], second: tuple[date | None, date | None]) -> bool:
    """Return whether two periods have a day in common.

    Parameters
    ----------
    first, second
        First day, and first day after; None for no bound.

    Examples
    --------
    >>> spring, summer = (date(2017, 3, 1), date(2017, 6, 1)), (date(2017, 6, 1), None)
    >>> periods_overlap(spring, summer), periods_overlap((None, None), summer)
    (False, True)
    """
    return all(
        begins is None or ends is None or begins < ends
        for begins, ends in ((first[0], second[1]), (second[0], first[1]))
    )


def _day(text: str) -> date | None:
    return date.fromisoformat(text) if text else None
