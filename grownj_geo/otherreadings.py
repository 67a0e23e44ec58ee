"""What another reading of the law's circles would change: only the categories that it can reach are asked again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grownj_geo.leaves import READ_BY_LEAVES

if TYPE_CHECKING:
    from grownj_geo.binding import BoundRulebook, Clause

__all__ = ["changed_categories"]

_QUOTED = re.compile(r'"([^"\\]*)"')


def changed_categories(bound: BoundRulebook, other: BoundRulebook) -> frozenset[str]:
    """Return the categories that may come out otherwise under another's readings, and those that ask for them.

    A category that is not among them has the same clauses in both, which look at the world in the same way.

    Parameters
    ----------
    bound, other
        One rulebook on one day, under two sets of readings.

    Examples
    --------
    >>> from datetime import date
    >>> from grownj_geo.binding import bind
    >>> from grownj_geo.readings import resolve_readings
    >>> from grownj_geo.rulebook import load_rulebook
    >>> book, day = load_rulebook(), date(2017, 4, 17)
    >>> loose, strict = (bind(book, as_of=day, readings=resolve_readings({"A11": o})) for o in ("loose", "strict"))
    >>> found = changed_categories(loose, strict)
    >>> "port_district" in found, "urban_aid" in found, changed_categories(loose, loose)
    (True, False, frozenset())
    """
    readings = {name for name, option in bound.readings.items() if other.readings[name] != option}
    if readings & READ_BY_LEAVES:
        return frozenset(bound.clauses)
    asks: dict[str, set[str]] = {}
    found: set[str] = set()
    for category, clause in bound.clauses.items():
        asks[category] = set()
        for here, there in zip(clause.walk(), other.clauses[category].walk(), strict=True):
            if here.counts != there.counts:
                found.add(category)
            if here.counts or there.counts:
                named = _named(here)
                asks[category] |= named & bound.clauses.keys()
                if named & readings:
                    found.add(category)
    while more := {category for category, below in asks.items() if category not in found and below & found}:
        found |= more
    return frozenset(found)


def _named(clause: Clause) -> set[str]:
    """Return all that a clause names: categories and readings among it."""
    return {clause.content, *_QUOTED.findall(clause.content)}
