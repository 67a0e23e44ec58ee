"""How well an address fits another: what is taken off a full score of 1 for whatever differs.

The deductions (`matchfigures`) only rank. Nothing is certain because its score is high: certain is what agrees in every
part and has no rival (`addressindex`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grownj_geo.matchfigures import (
    ACROSS_THE_STREET,
    DIRECTION_MISSING,
    DIRECTION_OTHER,
    NUMBER_INSIDE,
    NUMBER_LETTER,
    SUFFIX_MISSING,
    SUFFIX_OTHER,
    UNIT_OTHER,
    UNIT_UNSAID,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grownj_geo.addressline import StreetLine, StreetName

__all__ = ["ACROSS", "UNIT_UNKNOWN", "Fit", "House", "houses_at", "neighbours", "street_fit"]

UNIT_UNKNOWN = "unit, as none is known"
"""What differs of an address with a unit where no record of the house has one."""

ACROSS = "side of the street"
"""What differs of a number that a range of the other side of the street would hold."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How well one part fits.

    Attributes
    ----------
    off
        What is taken off the score.
    differs
        The parts that differ, in words.
    compatible
        Whether nothing contradicts what was typed: parts may be missing on one side.
    """

    off: float
    differs: tuple[str, ...]
    compatible: bool


@dataclass(frozen=True, slots=True)
class House:
    """A house of the index; `source_id` is its row of parcels, or of address points where `is_point`."""

    low: int
    high: int
    number: str
    unit: str
    is_point: bool
    source_id: int


def street_fit(typed: StreetName, found: StreetName, likeness: float, *, pre_in_name: bool = False) -> Fit:
    """Compare two streets' parts.

    Parameters
    ----------
    typed, found
        The streets.
    likeness
        Of their names, 0 to 1.
    pre_in_name
        The direction before the name was compared with the name already.

    Examples
    --------
    >>> from grownj_geo.addressline import StreetName
    >>> fit = street_fit(StreetName("", "PARK", "", ""), StreetName("", "PARK", "AVENUE", ""), 1.0)
    >>> fit.off, fit.differs, fit.compatible
    (0.03, ('street suffix',), True)
    """
    off = 1.0 - likeness
    differs = ["street name"] if likeness < 1.0 else []
    compatible = likeness >= 1.0
    if typed.suffix != found.suffix:
        both = bool(typed.suffix and found.suffix)
        off += SUFFIX_OTHER if both else SUFFIX_MISSING
        compatible = compatible and not both
        differs.append("street suffix")
    pairs = [(typed.post, found.post)] if pre_in_name else [(typed.pre, found.pre), (typed.post, found.post)]
    # "12 MAIN STREET NORTH" and "12 NORTH MAIN STREET" are one street more often than not, but not surely.
    if not pre_in_name and (typed.pre, typed.post) == (found.post, found.pre) and typed.pre != typed.post:
        return Fit(round(off + DIRECTION_MISSING, 6), (*differs, "direction"), False)
    for one, other in pairs:
        if one == other:
            continue
        both = bool(one and other)
        off += DIRECTION_OTHER if both else DIRECTION_MISSING
        # Who types a direction means it; who leaves it out may have forgotten it.
        compatible = compatible and not one
        differs.append("direction")
    return Fit(round(off, 6), tuple(dict.fromkeys(differs)), compatible)


def houses_at(line: StreetLine, houses: Iterable[House]) -> list[tuple[Fit, list[House]]]:
    """Return the houses of one street that a line's number means, in groups that are alike.

    Houses with the number exactly, houses of a range that holds it on its side of the street or on the other, and
    houses with the same number and another letter are told apart; so are those with the unit, and those with others.
    """
    numbered: dict[str, list[House]] = {}
    for house in houses:
        numbered.setdefault(house.number, []).append(house)
    found = []
    for number, group in numbered.items():
        fit = _number_fit(line, number, group[0])
        if fit is not None:
            found += _by_unit(line, fit, group)
    return found


def _number_fit(line: StreetLine, number: str, house: House) -> Fit | None:
    if number == line.number:
        return Fit(0.0, (), True)
    if not line.low or not house.low:
        return None
    inside = house.low <= line.low and line.high <= house.high and house.low < house.high
    if inside or (line.low <= house.low and house.high <= line.high and line.low < line.high):
        if house.low % 2 == line.low % 2:
            return Fit(NUMBER_INSIDE, ("house number",), True)
        return Fit(ACROSS_THE_STREET, ("house number", ACROSS), False)
    if house.low == line.low:
        return Fit(NUMBER_LETTER, ("house number",), False)
    return None


def _by_unit(line: StreetLine, fit: Fit, group: list[House]) -> list[tuple[Fit, list[House]]]:
    same = [h for h in group if h.unit == line.unit]
    others = [h for h in group if h.unit != line.unit]
    if line.unit:
        if same:
            return [(fit, same)]
        if not any(h.unit for h in others):
            # Lists of parcels have no units of a building that is let: nothing there is another than was typed.
            return [(Fit(fit.off + UNIT_UNSAID, (*fit.differs, UNIT_UNKNOWN), fit.compatible), others)]
        return [(Fit(fit.off + UNIT_OTHER, (*fit.differs, "unit"), fit.compatible), others)]
    found = [(fit, same)] if same else []
    if others:
        found.append((Fit(fit.off + UNIT_UNSAID, (*fit.differs, "unit"), fit.compatible), others))
    return found


def neighbours(number: int, below: Iterable[House], above: Iterable[House]) -> tuple[list[House], list[House]] | None:
    """Return the nearest houses below and above a number on its side of the street; None where one is lacking."""
    lower = [h for h in below if h.low and h.low % 2 == number % 2]
    upper = [h for h in above if h.low % 2 == number % 2]
    if not lower or not upper:
        return None
    last, first = max(h.low for h in lower), min(h.low for h in upper)
    return [h for h in lower if h.low == last], [h for h in upper if h.low == first]
