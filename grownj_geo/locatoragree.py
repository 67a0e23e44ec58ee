"""How far an address that a service found agrees with the one that it was asked for.

Services give scores that mean different things, or none. All their answers are scored here in one way, and every
difference is said in words.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from grownj_geo.addressline import compact, split_line
from grownj_geo.locator import AddressQuery, locator_facts

if TYPE_CHECKING:
    from grownj_geo.addressline import StreetLine

__all__ = ["Agreement", "agreement"]

_KIND_OF_PLACE = re.compile(
    r"\b(?:CITY OF|TOWNSHIP OF|BOROUGH OF|TOWN OF|VILLAGE OF|CITY|TOWNSHIP|TWP|TWSP|BOROUGH|BORO|TOWN|VILLAGE)\b"
)
_NO_LETTER = re.compile(r"[^A-Z0-9]+")


class Agreement(NamedTuple):
    """A score from 0 to 1, and what differs, in words."""

    score: float
    notes: tuple[str, ...]


def agreement(query: AddressQuery, *, street: str, city: str | None, zip_code: str | None) -> Agreement:
    """Compare an address found with the one asked for.

    Parts that were not asked for are not compared. How much each difference counts is in `locators.yaml`.

    Parameters
    ----------
    query
        What was asked.
    street, city, zip_code
        What was found: number and street on one line, postal name, ZIP code.

    Examples
    --------
    >>> asked = AddressQuery.from_text("33 Livingston Ave, New Brunswick, NJ")
    >>> agreement(asked, street="33 LIVINGSTON AVENUE", city="New Brunswick", zip_code="08901")
    Agreement(score=1.0, notes=())
    >>> agreement(asked, street="Livingston Avenue", city="North Brunswick", zip_code="08902").notes
    ('no house number; asked for 33', 'in North Brunswick; asked for New Brunswick')
    """
    if query.street is None:
        query = AddressQuery.from_text(query.text)
    asked, found = split_line(query.street or ""), split_line(street)
    differences = [*_number(asked, found), *_street(asked, found)]
    if query.city and city and _plain_city(query.city) != _plain_city(city):
        differences.append(("city_other", f"in {city}; asked for {query.city}"))
    if query.zip_code and zip_code and query.zip_code != zip_code[:5]:
        differences.append(("zip_other", f"ZIP code {zip_code}; asked for {query.zip_code}"))
    taken_off = locator_facts()["taken_off"]
    score = 1.0 - sum(float(taken_off[kind]) for kind, _ in differences)
    return Agreement(round(max(0.0, score), 3), tuple(words for _, words in differences))


def _number(asked: StreetLine, found: StreetLine) -> list[tuple[str, str]]:
    if not asked.number or asked.number == found.number:
        return []
    if not found.number:
        return [("number_missing", f"no house number; asked for {asked.number}")]
    near = asked.low <= found.high and found.low <= asked.high
    return [("number_near" if near else "number_other", f"number {found.number}; asked for {asked.number}")]


def _street(asked: StreetLine, found: StreetLine) -> list[tuple[str, str]]:
    one, other = asked.street, found.street
    words = f"{other}; asked for {one}"
    name, named = compact(one.name), compact(other.name)
    if name != named:
        alike = SequenceMatcher(None, name, named, autojunk=False).ratio() >= float(locator_facts()["similar_name"])
        return [("name_similar" if alike else "name_other", f"street {words}")]
    differences = []
    if one.suffix != other.suffix:
        both = bool(one.suffix and other.suffix)
        differences.append(("suffix_other" if both else "suffix_missing", f"street {words}"))
    way, other_way = {one.pre, one.post} - {""}, {other.pre, other.post} - {""}
    if way != other_way:
        both = bool(way and other_way)
        differences.append(("direction_other" if both else "direction_missing", f"street {words}"))
    return differences


def _plain_city(name: str) -> str:
    """Return a place's name without what kind of place it is, and without signs."""
    plain = " ".join(_NO_LETTER.sub(" ", name.upper()).split())
    # Where nothing else is left the kind is the name.
    return compact(_KIND_OF_PLACE.sub("", plain)) or compact(plain)
