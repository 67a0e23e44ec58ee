"""Lists of municipalities: who is designated what, between which days, by which source."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from grownj_geo.errors import RulebookError
from grownj_geo.readings import read_named

if TYPE_CHECKING:
    from grownj_geo.atlas import Atlas
    from grownj_geo.layer import Layer

__all__ = ["ListDefinition", "Listing", "listing_holds", "listings", "load_lists"]


class ListDefinition(BaseModel):
    """A list of municipalities: what it is called, and whether absence from it means anything."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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
    """One municipality on one list.

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


def listings(atlas: Atlas, name: str) -> dict[str, Listing] | None:
    """Return one list by municipal code, or None where the table of designations cannot be used.

    Raises
    ------
    RulebookError
        If there is no list of that name.
    """
    layer = atlas.layer("designations")
    return None if layer is None else _rows(layer, name)


@lru_cache(maxsize=256)
def _rows(layer: Layer, name: str) -> dict[str, Listing]:
    if name not in load_lists():
        known = ", ".join(sorted(load_lists()))
        raise RulebookError(f"There is no list of municipalities named {name!r}; there are {known}.")
    rows = layer.select((("designation", (name,)),))
    found = [
        Listing(
            mun_code=layer.value("mun_code", i),
            name=layer.value("mun_label", i),
            list=name,
            status=layer.value("status", i),
            source=layer.value("source", i),
            starts=_day(layer.value("from_earliest", i)),
            starts_latest=_day(layer.value("from_latest", i)),
            ends=_day(layer.value("until_exclusive", i)),
        )
        for i in map(int, rows)
    ]
    return {row.mun_code: row for row in found}


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


def _day(text: str) -> date | None:
    return date.fromisoformat(text) if text else None
