"""The areas that credit rules ask for, by the names that people write: what answers each, and which exclude which."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING

from grownj_geo.readings import read_entries
from grownj_geo.strict import Strict

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

__all__ = ["AreaName", "area_names", "area_pairs", "contradictions", "near_area", "rulebooks_for"]

_NEAR = 0.7
"""How much of two names has to be alike for one to be suggested for the other."""


class AreaName(Strict):
    """One area that a credit rule may ask for, and the category that answers it.

    Attributes
    ----------
    name, label
        What a person writes by hand, and what is printed.
    rulebook, category
        Which rulebook answers it, and under which category, the name itself where that is None.
    tests
        What the rules need it for.
    within, apart_from
        Areas that a place in this one is surely in, and surely not in, by their definitions.
    ground_of
        Areas that have this one as a ground, to which there are exceptions.
    also
        Other names that people have for it: none that is taken, each that is understood.
    """

    name: str
    label: str
    rulebook: str
    category: str | None = None
    tests: str
    within: tuple[str, ...] = ()
    apart_from: tuple[str, ...] = ()
    ground_of: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    @property
    def asked(self) -> str:
        """The category of the rulebook."""
        return self.category or self.name


@lru_cache(maxsize=1)
def area_names() -> dict[str, AreaName]:
    """Return every area that a credit rule may ask for, by name, in the order of the file.

    Examples
    --------
    >>> area_names()["hub_of_the_act"].asked
    'urban_transit_hub'
    """
    path = resources.files("grownj_geo") / "rules" / "credits" / "areas.yaml"
    return {area.name: area for area in read_entries(path.read_bytes(), AreaName, name=path.name)}


def near_area(name: str) -> str:
    """Return a sentence that says what area a name is likely to mean, or where all names are printed if none is near.

    Examples
    --------
    >>> near_area("priority_aera"), near_area("transit_oriented_development")
    ("Did you mean 'priority_area'?", "Did you mean 'transit_bonus'?")
    >>> near_area("oil_field")
    'Nothing is called nearly that; grownj credits areas PLACE prints every name.'
    """
    from difflib import get_close_matches  # noqa: PLC0415 - only when something is wrong

    known = {word: area.name for area in area_names().values() for word in (area.name, *area.also)}
    close = get_close_matches(name.strip().lower().replace(" ", "_"), known, n=1, cutoff=_NEAR)
    if close:
        return f"Did you mean {known[close[0]]!r}?"
    return "Nothing is called nearly that; grownj credits areas PLACE prints every name."


def contradictions(yes: Container[str], no: Container[str]) -> list[str]:
    """Return in words which answers cannot both be, by the definitions of the areas.

    Parameters
    ----------
    yes, no
        The areas that a place is said to be in, and those that it is said not to be in.

    Examples
    --------
    >>> contradictions({"priority_area"}, {"qualified_incentive_area"})
    ['priority_area is yes and qualified_incentive_area is no; whatever is in the first is in the second']
    >>> contradictions({"priority_area", "qualified_incentive_area"}, set())
    []
    """
    found = []
    for name, other, apart in area_pairs():
        if name in yes and other in (yes if apart else no):
            said = "yes" if apart else "no"
            words = "nothing is in both" if apart else "whatever is in the first is in the second"
            found.append(f"{name} is yes and {other} is {said}; {words}")
    return found


@lru_cache(maxsize=1)
def area_pairs() -> tuple[tuple[str, str, bool], ...]:
    """Return pairs of areas of which the first is within the second or, where the third is true, apart from it.

    Examples
    --------
    >>> ("mrera_growth_zone", "qualified_incentive_area", False) in area_pairs()
    True
    """
    known, found = area_names(), []
    for name, area in known.items():
        inside = list(area.within)
        for other in inside:
            inside += [each for each in known[other].within if each not in inside]
        found += [(name, other, False) for other in inside]
        found += [(name, other, True) for each in (name, *inside) for other in known[each].apart_from]
    return tuple(dict.fromkeys(found))


def rulebooks_for(names: Iterable[str]) -> tuple[str, ...]:
    """Return the shipped rulebooks that answer areas, each once.

    Examples
    --------
    >>> rulebooks_for(["priority_area", "hub_of_the_act"])
    ('grow-nj', 'urban-transit-hub')
    """
    known = area_names()
    return tuple(dict.fromkeys(known[name].rulebook for name in names))
