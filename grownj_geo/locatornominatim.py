"""Nominatim, the geocoder of OpenStreetMap: the public instance within its usage policy, or an instance of your own.

Read from its documentation of ``/search`` in the format ``jsonv2``. Its importance is how well known a place is, not
how well it matches, and is not used. A house on a way may be one that was reckoned between the ends of a street's
numbers, so that it counts as such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from grownj_geo.crs import LAT_RANGE, LON_RANGE
from grownj_geo.locator import locator_facts
from grownj_geo.locatorservice import Found, OnlineLocator, half_diagonal_ft, number_of, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grownj_geo.locator import AddressQuery, Kind
    from grownj_geo.netclient import Reply, Session

__all__ = ["NominatimLocator", "is_public_instance"]

_LIMIT = "10"
_STATE = "US-NJ"
# Ranks of Nominatim: 26 and 27 are streets, what is above them lies on one, what is below is an area.
_STREET, _HOUSE = 26, 30
_CITIES = ("city", "town", "village", "borough", "township", "municipality", "hamlet", "suburb")
_BOX = 4


def is_public_instance(url: str) -> bool:
    """Return whether an address is the public instance, whose usage policy has to be kept.

    Examples
    --------
    >>> is_public_instance("https://nominatim.openstreetmap.org/"), is_public_instance("https://geo.example.com")
    (True, False)
    """
    return urlsplit(url).hostname in locator_facts()["services"]["nominatim"]["public_hosts"]


class NominatimLocator(OnlineLocator):
    """Nominatim, asked for places in New Jersey's box only."""

    name = "nominatim"

    def _ask(self, session: Session, query: AddressQuery) -> Sequence[Found]:
        west, east = LON_RANGE
        south, north = LAT_RANGE
        asked = {
            "q": query.line,
            "format": "jsonv2",
            "addressdetails": "1",
            "limit": _LIMIT,
            "countrycodes": "us",
            "viewbox": f"{west},{north},{east},{south}",
            "bounded": "1",
            "accept-language": "en",
        }
        if self.options.email is not None:
            asked["email"] = self.options.email
        return self._read(session, f"{self.options.url}/search?{urlencode(asked)}", self._places)

    def _places(self, reply: Reply) -> list[Found]:
        from grownj_geo.netclient import json_of  # noqa: PLC0415 - brings in httpx

        found = json_of(reply)
        if not isinstance(found, list):
            raise self._nonsense("the reply is no list of places")
        places = [place for place in map(_place, found) if place is not None]
        if found and not places:
            raise self._nonsense("no entry of the reply has a name and a place on the globe")
        return [place for place in places if place is not _ABROAD]


_ABROAD = Found("", "", None, None, "municipality", 0.0, 0.0)


def _place(entry: Any) -> Found | None:  # noqa: ANN401 - JSON is anything
    """Return an entry as a place; None where it cannot be read, a mark where another State's."""
    if not isinstance(entry, dict):
        return None
    matched, parts = text_of(entry.get("display_name")), entry.get("address")
    lon, lat, rank = (number_of(entry.get(key)) for key in ("lon", "lat", "place_rank"))
    if not matched or lon is None or lat is None or rank is None or not isinstance(parts, dict):
        return None
    if not (abs(lon) <= 180 and abs(lat) <= 90 and (lon or lat)):  # noqa: PLR2004 - the globe
        return None
    if text_of(parts.get("ISO3166-2-lvl4")) not in {"", _STATE}:
        return _ABROAD
    number, road = text_of(parts.get("house_number")), text_of(parts.get("road"))
    kind, notes = _kind(entry, int(rank), numbered=bool(number))
    return Found(
        matched,
        f"{number} {road}".strip(),
        next((text_of(parts[key]) for key in _CITIES if text_of(parts.get(key))), None),
        text_of(parts.get("postcode")) or None,
        kind,
        lon,
        lat,
        half_extent_ft=_half_extent(entry.get("boundingbox")),
        notes=notes,
    )


def _kind(entry: dict[str, Any], rank: int, *, numbered: bool) -> tuple[Kind, tuple[str, ...]]:
    if rank < _STREET:
        return "municipality", ()
    if rank < _HOUSE:
        return "street", ()
    if not numbered:
        return "street", ("the place of a name, not of the address",)
    if entry.get("osm_type") == "way" and entry.get("category") == "place":
        return "range", ("may be reckoned between the ends of the street's house numbers",)
    return "rooftop", ()


def _half_extent(box: Any) -> float | None:  # noqa: ANN401 - JSON is anything
    """Return half of the diagonal of an entry's box, which is south, north, west, east; None where there is none."""
    if not isinstance(box, list) or len(box) != _BOX:
        return None
    south, north, west, east = map(number_of, box)
    if south is None or north is None or west is None or east is None:
        return None
    return half_diagonal_ft(west, south, east, north)
