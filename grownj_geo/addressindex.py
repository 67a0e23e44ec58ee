"""Addresses among the parcels and address points that the user has loaded.

Names of streets may be misspelt, numbers never are: a number that is not there is shown as a place between its
neighbours, or as the street, and never taken for another. What agrees in every part and has no rival is certain;
everything else is a choice, with what differs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from grownj_geo.addressbuild import POINT
from grownj_geo.addressline import StreetName, compact
from grownj_geo.addressmatch import PLACE_OFF, Fit, House, houses_at, neighbours, street_fit
from grownj_geo.addressparse import AddressError, ParsedAddress, Reading, parse_address
from grownj_geo.addressplaces import place_book
from grownj_geo.errors import LayerError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from grownj_geo.locate import MunicipalDirectory

__all__ = ["INSTALL_ADDRESSES", "AddressHit", "AddressIndex", "HitKind"]

INSTALL_ADDRESSES = "pip install 'grownj-geo[addresses]'"

HitKind = Literal["rooftop", "parcel", "range", "street"]

_BETWEEN, _STREET_ONLY = 0.25, 0.45
_OTHER_MUNICIPALITY, _UNKNOWN_MUNICIPALITY, _OTHER_ZIP = 0.20, 0.03, 0.05
_GOOD = 0.85
_LIKE, _LIKE_STATEWIDE = 0.6, 0.7
_MOST_NAMES, _MOST_STREETS, _MOST_CACHED = 30, 60, 64
_NUMBERED_STREET = 0.9
_MOST_TIES = 2_000

_OF_MUNICIPALITY = "SELECT id, mun_code, pre, name, suffix, post, key FROM address_streets WHERE mun_code = ?"
_NAMES = "SELECT DISTINCT key FROM address_streets"
_AT_NUMBER = "SELECT low, high, number, unit, kind, source_id FROM address_houses WHERE street_id = ? AND low = ?"
_IN_RANGE = (
    "SELECT low, high, number, unit, kind, source_id FROM address_houses "
    "WHERE street_id = ? AND low < ? AND high > low AND high >= ?"
)
_WITHIN = (
    "SELECT low, high, number, unit, kind, source_id FROM address_houses WHERE street_id = ? AND low BETWEEN ? AND ?"
)
_BELOW = (
    "SELECT low, high, number, unit, kind, source_id FROM address_houses "
    "WHERE street_id = ? AND low < ? AND low > 0 AND low % 2 = ? ORDER BY low DESC LIMIT 64"
)
_ABOVE = (
    "SELECT low, high, number, unit, kind, source_id FROM address_houses "
    "WHERE street_id = ? AND low > ? AND low % 2 = ? ORDER BY low LIMIT 64"
)
_ON_STREET = "SELECT low, high, number, unit, kind, source_id FROM address_houses WHERE street_id = ?"
_EVERYWHERE = (
    "SELECT id, mun_code, pre, name, suffix, post, key FROM address_streets AS street WHERE key = ? AND EXISTS "
    "(SELECT 1 FROM address_houses WHERE street_id = street.id AND low = ?)"
)
_ZIP_CODES = {
    "parcels": "SELECT zip_code FROM parcels WHERE id = ?",
    "address_points": "SELECT zip_code FROM address_points WHERE id = ?",
}
_LOT = "SELECT mun_code, block, lot FROM parcels WHERE id = ?"
_POINT = "SELECT x_ft, y_ft FROM address_points WHERE id = ?"


class _Street(NamedTuple):
    id: int
    mun_code: str
    name: StreetName
    key: str


class _Candidate(NamedTuple):
    street: _Street
    fit: Fit


class _Asked(NamedTuple):
    """One reading and what it takes off the score."""

    reading: Reading
    off: float
    differs: tuple[str, ...]


@dataclass(frozen=True)
class AddressHit:
    """A place that an address may mean.

    Attributes
    ----------
    label
        Number, street and municipality, to be shown.
    mun_code
        Treasury code; empty where an address point's municipality is not known.
    number, street, unit
        The house number (as in the file, ``"95-123"`` for a range), the street and the unit; empty where there is none.
    score
        1 for full agreement, less for each part that differs.
    kind
        ``"rooftop"`` (an address point), ``"parcel"``, ``"range"`` (between two neighbours), ``"street"``.
    differs
        What differs from what was typed: ``"house number"``, ``"street name"``, ``"street suffix"``, ``"direction"``,
        ``"unit"``, ``"municipality"``, ``"ZIP code"``.
    certain
        It agrees in number, street and municipality, and no other place does: all its parcels are one lot. Which unit
        of a condominium is meant may still be open.
    parcel_ids, point_ids
        Rows of the tables ``parcels`` and ``address_points`` that have this address, all of them. For a range those of
        the two neighbours, for a street all on it.
    places
        How many different lots (or, without parcels, points) that is.
    ties
        How many places fit as well as this one, itself included; more than are returned where the limit cut them off.
    between
        The neighbours' numbers, for a range.
    """

    label: str
    mun_code: str
    number: str
    street: str
    unit: str
    score: float
    kind: HitKind
    differs: tuple[str, ...]
    certain: bool
    parcel_ids: tuple[int, ...]
    point_ids: tuple[int, ...]
    places: int = 1
    ties: int = 1
    between: tuple[str, str] | None = None
    compatible: bool = False


class AddressIndex:
    """The addresses of a store of parcels, for searching. Threads may share it.

    Parameters
    ----------
    connection
        To a database with the tables that `grownj_geo.addressbuild.build_address_index` makes; it is only read.
    directory
        Which municipalities there are.

    Raises
    ------
    LayerError
        If the tables are not there.
    AddressError
        If rapidfuzz is not installed.
    """

    def __init__(self, connection: sqlite3.Connection, directory: MunicipalDirectory) -> None:
        try:
            from rapidfuzz import process  # noqa: PLC0415 - an extra
            from rapidfuzz.distance import OSA  # noqa: PLC0415 - the same
        except ImportError as error:
            raise AddressError(
                "not_installed", f"rapidfuzz is not installed here; expected the extra: {INSTALL_ADDRESSES}."
            ) from error
        self._extract: Any = process.extract
        self._scorer: Any = OSA.normalized_similarity
        self._connection = connection
        self._directory = directory
        self._book = place_book(directory)
        self._cached: dict[str, tuple[list[_Street], dict[str, list[tuple[_Street, bool]]]]] = {}
        self._names: list[str] | None = None
        tables = {row[0] for row in self._rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not {"address_streets", "address_houses"} <= tables:
            raise LayerError(
                "The parcels that are loaded have no index of addresses. Load them again with this version: "
                "grownj layers import parcels FILE."
            )
        self.mun_codes: frozenset[str] = frozenset(
            row[0] for row in self._rows("SELECT DISTINCT mun_code FROM address_streets") if row[0]
        )
        """Municipalities of which any address is loaded: of others nothing can be found, and nothing ruled out."""

    def search(self, address: ParsedAddress | str, *, limit: int = 8) -> tuple[AddressHit, ...]:
        """Return the places that an address may mean, the best first.

        Parameters
        ----------
        address
            What `parse_address` gives, or text for it.
        limit
            At most how many places. Rows with one address are one place, however many they are.

        Raises
        ------
        AddressError, OutsideNewJerseyError
            If a text cannot be read as an address in New Jersey.
        """
        parsed = parse_address(address, self._directory) if isinstance(address, str) else address
        hits: list[AddressHit] = []
        for position, reading in enumerate(parsed.readings):
            if position and not reading.place.mun_codes and _any_good(hits):
                continue
            hits += self._read(reading, exclude=hits)
        hits = [self._with_zip(h, parsed.zip_code) for h in hits] if parsed.zip_code else hits
        if any(h.kind in {"rooftop", "parcel"} and h.score >= _NUMBERED_STREET for h in hits):
            hits = [h for h in hits if h.kind in {"rooftop", "parcel"} or not h.number]
        best = self._ranked(_best_of_each(hits))
        return tuple(self._judged(best, parsed)[:limit])

    # -- one reading -----------------------------------------------------------------------------------

    def _read(self, reading: Reading, *, exclude: Sequence[AddressHit]) -> list[AddressHit]:
        place = reading.place
        differs = () if place.how in {"named", "ambiguous", "postal"} else ("municipality",)
        asked = _Asked(reading, PLACE_OFF[place.how], differs)
        if not place.mun_codes:
            return self._everywhere(asked, counties=None)
        hits = self._in_municipalities(asked, place.mun_codes)
        if not _any_good(hits) and not _any_good(exclude):
            # Mail is addressed across municipal lines, and people take the wrong one: look nearby, and say so.
            wide = _Asked(reading, asked.off + _OTHER_MUNICIPALITY, ("municipality",))
            counties = frozenset(code[:2] for code in place.mun_codes)
            hits += [h for h in self._everywhere(wide, counties=counties) if h.mun_code not in place.mun_codes]
        return hits

    def _in_municipalities(self, asked: _Asked, codes: Iterable[str]) -> list[AddressHit]:
        typed = asked.reading.line.street
        candidates: list[_Candidate] = []
        for code in (*codes, ""):
            _, by_name = self._streets(code)
            if not by_name:
                continue
            keys = {compact(typed.name), compact(typed.pre + typed.name)}
            best: dict[int, _Candidate] = {}
            for key in keys:
                names = self._extract(key, by_name.keys(), scorer=self._scorer, score_cutoff=_LIKE, limit=_MOST_NAMES)
                for name, likeness, _ in names:
                    for street, pre_in_name in by_name[name]:
                        pre_typed = key != compact(typed.name)
                        if pre_typed and bool(street.name.pre) == pre_in_name and street.name.pre:
                            continue
                        fit = street_fit(typed, street.name, likeness, pre_in_name=pre_in_name or pre_typed)
                        if not code:
                            fit = Fit(fit.off + _UNKNOWN_MUNICIPALITY, (*fit.differs, "municipality"), fit.compatible)
                        if street.id not in best or fit.off < best[street.id].fit.off:
                            best[street.id] = _Candidate(street, fit)
            candidates += best.values()
        candidates.sort(key=lambda c: c.fit.off)
        return [hit for c in candidates[:_MOST_STREETS] for hit in self._on_street(asked, c, near=True)]

    def _everywhere(self, asked: _Asked, *, counties: frozenset[str] | None) -> list[AddressHit]:
        """Return the places in the whole State (or in some counties) that have the number."""
        line = asked.reading.line
        typed = line.street
        hits: list[AddressHit] = []
        for likeness, key in self._likely_names(typed, fuzzy=False):
            hits += self._named(asked, key, likeness, counties)
        if not hits and counties is None:
            for likeness, key in self._likely_names(typed, fuzzy=True):
                hits += self._named(asked, key, likeness, counties)
        return hits

    def _likely_names(self, typed: StreetName, *, fuzzy: bool) -> list[tuple[float, str]]:
        key = compact(typed.name)
        if not fuzzy:
            return [(1.0, key)]
        if self._names is None:
            self._names = [row[0] for row in self._rows(_NAMES)]
        found = self._extract(key, self._names, scorer=self._scorer, score_cutoff=_LIKE_STATEWIDE, limit=_MOST_NAMES)
        return [(likeness, name) for name, likeness, _ in found if name != key]

    def _named(self, asked: _Asked, key: str, likeness: float, counties: frozenset[str] | None) -> list[AddressHit]:
        line = asked.reading.line
        found: list[_Candidate] = []
        for row in self._rows(_EVERYWHERE, (key, line.low)):
            street = _street(row)
            if counties is None or street.mun_code[:2] in counties:
                found.append(_Candidate(street, street_fit(line.street, street.name, likeness)))
        found.sort(key=lambda c: c.fit.off)
        return [hit for c in found[:_MOST_TIES] for hit in self._on_street(asked, c, near=False)]

    # -- one street ------------------------------------------------------------------------------------

    def _on_street(self, asked: _Asked, candidate: _Candidate, *, near: bool) -> list[AddressHit]:
        line, street = asked.reading.line, candidate.street
        rows = self._houses(_AT_NUMBER, street.id, line.low)
        if line.low:
            rows += self._houses(_IN_RANGE, street.id, line.low, line.high)
        if line.high > line.low:
            rows += self._houses(_WITHIN, street.id, line.low + 1, line.high)
        found = [self._hit(asked, candidate, fit, houses) for fit, houses in houses_at(line, rows)]
        if not near or found or 1.0 - candidate.fit.off < _NUMBERED_STREET:
            return found
        return self._near_number(asked, candidate)

    def _near_number(self, asked: _Asked, candidate: _Candidate) -> list[AddressHit]:
        """Return the place between a number's neighbours, or the street."""
        line, street = asked.reading.line, candidate.street
        if line.low:
            side = line.low % 2
            beside = neighbours(
                line.low,
                self._houses(_BELOW, street.id, line.low, side),
                self._houses(_ABOVE, street.id, line.low, side),
            )
            if beside:
                between = (beside[0][0].number, beside[1][0].number)
                fit = Fit(_BETWEEN, ("house number",), False)
                hit = self._hit(asked, candidate, fit, [*beside[0], *beside[1]], kind="range")
                return [replace(hit, number=line.number, between=between, label=self._label(line.number, street, ""))]
        houses = self._houses(_ON_STREET, street.id)
        fit = Fit(_STREET_ONLY, ("house number",), False)
        hit = self._hit(asked, candidate, fit, houses, kind="street")
        return [replace(hit, number="", unit="", label=self._label("", street, ""))]

    def _hit(
        self, asked: _Asked, candidate: _Candidate, fit: Fit, houses: Sequence[House], kind: HitKind | None = None
    ) -> AddressHit:
        street = candidate.street
        points = tuple(h.source_id for h in houses if h.is_point)
        units = {h.unit for h in houses}
        unit = units.pop() if len(units) == 1 else ""
        return AddressHit(
            label=self._label(houses[0].number, street, unit),
            mun_code=street.mun_code,
            number=houses[0].number,
            street=_cased(str(street.name)),
            unit=unit,
            score=round(max(0.0, 1.0 - asked.off - candidate.fit.off - fit.off), 4),
            kind=kind or ("rooftop" if points else "parcel"),
            differs=tuple(dict.fromkeys((*fit.differs, *candidate.fit.differs, *asked.differs))),
            certain=False,
            parcel_ids=tuple(h.source_id for h in houses if not h.is_point),
            point_ids=points,
            compatible=fit.compatible and candidate.fit.compatible,
        )

    # -- all of them -----------------------------------------------------------------------------------

    def _ranked(self, hits: Iterable[AddressHit]) -> list[AddressHit]:
        return sorted(hits, key=lambda h: (-h.score, h.mun_code, h.street, h.number, h.unit))

    def _judged(self, hits: list[AddressHit], parsed: ParsedAddress) -> list[AddressHit]:
        """Say how many places each hit is, how many fit as well, and whether the first one is certain."""
        if not hits:
            return hits
        scores = [h.score for h in hits]
        rivals = [h for h in hits[:_MOST_NAMES] if h.compatible]
        lots = {h: self._lots(h) for h in {*rivals, *hits[:_MOST_NAMES]}}
        judged = [replace(h, places=len(lots[h]) if h in lots else 1, ties=scores.count(h.score)) for h in hits]
        first = hits[0]
        named = any(r.place.how == "named" and r.place.mun_codes == (first.mun_code,) for r in parsed.readings)
        agrees = first.compatible and set(first.differs) <= {"unit"} and first.number and named
        meant = {lot for h in rivals for lot in lots[h]}
        unit_open = bool(parsed.line.unit) and "unit" in first.differs
        if agrees and not unit_open and len(meant) == 1 and first.kind in {"rooftop", "parcel"}:
            judged[0] = replace(judged[0], certain=True)
        return judged

    def _lots(self, hit: AddressHit) -> frozenset[tuple[Any, ...]]:
        """Return the lots of a hit, or its points where it has no parcels."""
        query, ids = (_LOT, hit.parcel_ids) if hit.parcel_ids else (_POINT, hit.point_ids)
        return frozenset(row for one in ids for row in self._rows(query, (one,)))

    def _with_zip(self, hit: AddressHit, zip_code: str) -> AddressHit:
        """Take something off where the file knows another ZIP code."""
        known: set[Any] = set()
        for table, ids in (("parcels", hit.parcel_ids), ("address_points", hit.point_ids)):
            known |= {row[0] for one in ids[:1] for row in self._rows(_ZIP_CODES[table], (one,))}
        known.discard(None)
        if not known or zip_code in known:
            return hit
        return replace(
            hit, score=round(max(0.0, hit.score - _OTHER_ZIP), 4), differs=(*hit.differs, "ZIP code"), compatible=False
        )

    # -- the tables ------------------------------------------------------------------------------------

    def _streets(self, code: str) -> tuple[list[_Street], dict[str, list[tuple[_Street, bool]]]]:
        """Return a municipality's streets, and those by name: without and with the direction before it."""
        found = self._cached.get(code)
        if found is None:
            streets = [_street(row) for row in self._rows(_OF_MUNICIPALITY, (code,))]
            by_name: dict[str, list[tuple[_Street, bool]]] = {}
            for street in streets:
                by_name.setdefault(street.key, []).append((street, False))
                if street.name.pre:
                    by_name.setdefault(street.name.pre + street.key, []).append((street, True))
            found = streets, by_name
            if len(self._cached) >= _MOST_CACHED:
                self._cached.pop(next(iter(self._cached)), None)
            self._cached[code] = found
        return found

    def _houses(self, query: str, *values: int) -> list[House]:
        return [
            House(low, high, number, unit, kind == POINT, source_id)
            for low, high, number, unit, kind, source_id in self._rows(query, values)
        ]

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(query, values).fetchall()

    def _label(self, number: str, street: _Street, unit: str) -> str:
        parts = [number, _cased(str(street.name)), f"unit {unit}" if unit[:1].isdigit() else unit.title()]
        line = " ".join(part for part in parts if part)
        return f"{line}, {self._book.label(street.mun_code)}" if street.mun_code in self._directory.names else line


def _street(row: Sequence[Any]) -> _Street:
    number, mun_code, pre, name, suffix, post, key = row
    return _Street(number, mun_code, StreetName(pre, name, suffix, post), key)


def _cased(text: str) -> str:
    """Return a name in small letters with capitals, ordinals kept: ``"East 3rd Street"``."""
    return " ".join(word.lower() if word[:1].isdigit() else word.title() for word in text.split())


def _any_good(hits: Iterable[AddressHit]) -> bool:
    return any(h.kind in {"rooftop", "parcel"} and h.score >= _GOOD for h in hits)


def _best_of_each(hits: Iterable[AddressHit]) -> list[AddressHit]:
    """Return each place once, where several readings lead to it with its best score."""
    best: dict[tuple[Any, ...], AddressHit] = {}
    for hit in hits:
        key = (hit.kind, hit.parcel_ids, hit.point_ids)
        if key not in best or hit.score > best[key].score:
            best[key] = hit
    return list(best.values())
