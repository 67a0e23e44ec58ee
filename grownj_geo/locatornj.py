"""The State's geocoder NJ_Geocode, as geocode services of ArcGIS Server are: candidates with scores from 0 to 100.

Read from Esri's documentation of the interface, and from what public programs print of this service. It scores a street
without the house number at 97 of 100, so that its scores are never taken alone; it may leave out the kind of an
address, give coordinates in another system than asked for, and write ``"NaN"`` where there is none.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from grownj_geo.locator import LocatorError
from grownj_geo.locatorservice import Found, OnlineLocator, number_of, text_of
from grownj_geo.units import to_lonlat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grownj_geo.locator import AddressQuery, Answer, Kind
    from grownj_geo.netclient import Reply, Session

__all__ = ["NjLocator"]

_CANDIDATES = "8"
_WKID = "4326"
_DEGREES = frozenset({4326, 4269})
_FEET = frozenset({3424, 102711})
_SIGN_IN = frozenset({401, 403, 498, 499})
_TOO_MANY = 429
_REFUSALS, _BROKEN = 400, 500
_NUMBERED = re.compile(r"\s*[0-9]")
_ZIP = re.compile(r"[0-9]{5}(?:-[0-9]{4})?")
_KINDS: dict[str, Kind] = {
    "subaddress": "rooftop",
    "pointaddress": "rooftop",
    "buildingname": "rooftop",
    "parcel": "parcel",
    "streetaddress": "range",
    "streetaddressext": "range",
    "streetint": "street",
    "streetmidblock": "street",
    "streetbetween": "street",
    "distancemarker": "street",
    "streetname": "street",
    "poi": "street",
    "postalext": "municipality",
    "postalloc": "municipality",
    "postal": "municipality",
    "locality": "municipality",
}
_NOTES = {
    "streetaddressext": "the house number lies beyond those that the street is known to have",
    "poi": "the place of a name, not of the address",
    "streetint": "the crossing of two streets, not an address",
}
# Of "Livingston Avenue, New Brunswick, NJ, 08901", after the street; a municipality has fewer.
_STREET_PARTS = 3


class NjLocator(OnlineLocator):
    """The geocoder of the New Jersey Office of GIS, or another geocode service of ArcGIS Server."""

    name = "nj"

    def _ask(self, session: Session, query: AddressQuery) -> Sequence[Found]:
        asked = {
            "SingleLine": query.line,
            "outSR": _WKID,
            "outFields": "*",
            "maxLocations": _CANDIDATES,
            "f": "json",
        }
        return self._read(session, f"{self.options.url}/findAddressCandidates?{urlencode(asked)}", self._candidates)

    def _candidates(self, reply: Reply) -> list[Found]:
        found = self._sound(reply)
        candidates = found.get("candidates")
        if not isinstance(candidates, list):
            raise self._nonsense("the reply has no list of candidates")
        degrees = self._in_degrees(found) if candidates else True
        places = [place for place in (_place(one, degrees=degrees) for one in candidates) if place is not None]
        if candidates and not places:
            raise self._nonsense("no candidate of the reply has an address and a place on the globe")
        return places

    def _sound(self, reply: Reply) -> dict[str, Any]:
        """Return a reply's JSON, in which such servers say errors with the status of success."""
        from grownj_geo.netclient import StatusFault, TransientError, json_of  # noqa: PLC0415 - brings in httpx

        found = json_of(reply)
        if not isinstance(found, dict):
            raise self._nonsense("the reply is no object")
        error = found.get("error")
        if error is None:
            return found
        known = error if isinstance(error, dict) else {}
        code = int(number_of(known.get("code")) or 0)
        words = f"{self.options.title}: the service answers with error {code}: {text_of(known.get('message'))}"
        if code in _SIGN_IN:
            raise StatusFault("http_error", words, 403)
        if _REFUSALS <= code < _BROKEN and code != _TOO_MANY:
            raise StatusFault("http_error", words, code)
        raise TransientError("service_error", words, tries=2, status=_TOO_MANY if code == _TOO_MANY else None)

    def _in_degrees(self, found: dict[str, Any]) -> bool:
        """Return whether coordinates came in degrees, as asked for; False for the State Plane feet that are kept."""
        system = found.get("spatialReference")
        numbers = {number_of(system.get(key)) for key in ("wkid", "latestWkid")} if isinstance(system, dict) else set()
        if numbers & _DEGREES:
            return True
        if numbers & _FEET:
            return False
        raise self._nonsense(f"the reply's coordinates are in {system!r}; expected {_WKID}")

    # -- many --

    def _ask_many(
        self, session: Session, queries: Sequence[AddressQuery], count: Callable[[int], None]
    ) -> list[Answer]:
        """Return an answer for each query, many in one question as long as the service takes that."""
        answers: list[Answer | None] = [None] * len(queries)
        size = self.options.batch
        if len(queries) > 1 and size > 1:
            for first in range(0, len(queries), size):
                try:
                    self._fill(session, queries, answers, first, min(first + size, len(queries)))
                except LocatorError as error:
                    if error.kind == "refused":
                        break  # it takes one address at a time
                    failed = [self._unasked(error)] * len(queries)
                    failed[first : first + size] = [error] * len(failed[first : first + size])
                    return [new if old is None else old for old, new in zip(answers, failed, strict=True)]
                count(sum(answer is not None for answer in answers))
        # What a list did not answer is asked for alone: ties, and what a server leaves out that takes fewer at once.
        missing = [i for i, answer in enumerate(answers) if answer is None]
        done = len(queries) - len(missing)
        alone = super()._ask_many(session, [queries[i] for i in missing], lambda more: count(done + more))
        one_by_one = dict(zip(missing, alone, strict=True))
        return [one_by_one[i] if answer is None else answer for i, answer in enumerate(answers)]

    def _fill(
        self, session: Session, queries: Sequence[AddressQuery], answers: list[Answer | None], first: int, end: int
    ) -> None:
        """Put in what the service says for some of the addresses, asked for in one question."""
        records = [{"attributes": {"OBJECTID": i, "SingleLine": queries[i].line}} for i in range(first, end)]
        form = {"addresses": json.dumps({"records": records}), "outSR": _WKID, "outFields": "*", "f": "json"}
        with self._asking(queries[first:end]):
            found = self._read(session, f"{self.options.url}/geocodeAddresses", self._located, form=form)
        numbers = [number for number, _ in found]
        kept = []
        for number, place in found:
            # Of an address that is in the answer twice, nobody knows which place is meant.
            if not first <= number < end or numbers.count(number) > 1:
                continue
            matches = self._matches(queries[number], [] if place is None else [place])
            # A list has one place for each address. Where others may be as good, the address is asked for alone.
            if matches and (matches[0].score < 1 or not (queries[number].city or queries[number].zip_code)):
                continue
            kept.append((queries[number], matches))
            answers[number] = self._told(matches)
        self._keep(kept)

    def _located(self, reply: Reply) -> list[tuple[int, Found | None]]:
        """Return places by number of the address, None where there is none; ties and what is unclear are left out."""
        found = self._sound(reply)
        locations = found.get("locations")
        if not isinstance(locations, list):
            raise self._nonsense("the reply has no list of locations")
        degrees = self._in_degrees(found) if locations else True
        places: list[tuple[int, Found | None]] = []
        for location in locations:
            known = location.get("attributes") if isinstance(location, dict) else None
            number = number_of(known.get("ResultID")) if isinstance(known, dict) else None
            if not isinstance(known, dict) or number is None:
                continue
            place = _place(location, degrees=degrees)
            status = text_of(known.get("Status")).upper()
            if status == "U" or (status == "M" and place is not None):
                places.append((int(number), None if status == "U" else place))
        return places


def _place(candidate: Any, *, degrees: bool) -> Found | None:  # noqa: ANN401 - JSON is anything
    """Return a candidate as a place; None where it has no address or no place on the globe."""
    if not isinstance(candidate, dict):
        return None
    at, known = candidate.get("location"), candidate.get("attributes")
    known = known if isinstance(known, dict) else {}
    matched = text_of(candidate.get("address")) or text_of(known.get("Match_addr"))
    x, y = (number_of(at.get(key)) for key in ("x", "y")) if isinstance(at, dict) else (None, None)
    score = number_of(candidate.get("score", known.get("Score")))
    if not matched or x is None or y is None or score is None:
        return None
    lon, lat = (x, y) if degrees else (float(part) for part in to_lonlat(x, y))
    if not (abs(lon) <= 180 and abs(lat) <= 90 and (lon or lat)):  # noqa: PLR2004 - the globe
        return None
    street, *rest = [part.strip() for part in matched.split(",")]
    zip_code = next((part for part in reversed(rest) if _ZIP.fullmatch(part)), None)
    said = text_of(known.get("Addr_type")).lower()
    numbered = _NUMBERED.match(street) is not None
    kind = _KINDS.get(said) or ("range" if numbered else "street" if len(rest) >= _STREET_PARTS else "municipality")
    notes = tuple(words for name, words in _NOTES.items() if name == said)
    city = text_of(known.get("City")) or (rest[0] if rest else None)
    return Found(matched, street, city, zip_code, kind, lon, lat, score=min(1.0, max(0.0, score / 100.0)), notes=notes)
