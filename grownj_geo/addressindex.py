"""Addresses among the parcels and address points that the user has loaded.

Names of streets may be misspelt, numbers never are: a number that is not there is shown as a place between its
neighbours, or as the street, and never taken for another. What agrees in every part and has no rival is certain;
everything else is a choice, with what differs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from grownj_geo.addressline import StreetName, compact, split_line
from grownj_geo.addressmatch import ACROSS, UNIT_UNKNOWN, Fit, House, houses_at, neighbours, street_fit
from grownj_geo.addressparse import AddressError, ParsedAddress, Reading, parse_address
from grownj_geo.addressplaces import place_book
from grownj_geo.addresstables import AddressTables, Street
from grownj_geo.addresswords import address_words
from grownj_geo.errors import SiteError
from grownj_geo.matchfigures import (
    ABOUT,
    BETWEEN_NEIGHBOURS,
    GOOD_HOUSE,
    LIKE,
    LIKE_STATEWIDE,
    MOST_NAMES,
    MOST_STREETS,
    MUNICIPALITY_OTHER,
    MUNICIPALITY_UNKNOWN,
    NEAR_STREET,
    NUMBERED_STREET,
    PLACE_OFF,
    STREET_ONLY,
    ZIP_OTHER,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from grownj_geo.locate import MunicipalDirectory

__all__ = ["INSTALL_ADDRESSES", "AddressHit", "AddressIndex", "HitKind"]

INSTALL_ADDRESSES = "pip install 'grownj-geo[addresses]'"

HitKind = Literal["rooftop", "parcel", "range", "street"]

_SHORTEST_HELP = 4
_LONGEST_TYPED = 300

# Words that end a street's name as often as they are its suffix: "LAWN RIDGE" may be Lawn Ridge Road.
_PLAIN_SUFFIXES = frozenset({"STREET", "AVENUE", "ROAD", "DRIVE", "LANE", "COURT", "PLACE", "BOULEVARD", "TERRACE"})


class _Candidate(NamedTuple):
    street: Street
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
        ``"unit"``, ``"municipality"``, ``"ZIP code"``; ``"side of the street"`` of an odd number
        in a range of even ones.
    certain
        It agrees in number, street and municipality, and no other place does: all its parcels are one lot. Which unit
        of a condominium is meant may still be open, and so may be where in it a unit is of which nothing is known.
    parcel_ids, point_ids
        Rows of the tables ``parcels`` and ``address_points`` that have this address, all of them. For a range those of
        the two neighbours, for a street all on it.
    places
        How many different lots (or, without parcels, points) that is, of the best thirty places; else 1.
    ties
        How many places fit as well as this one, itself included; more than are returned where the limit cut them off.
    between
        The neighbours' numbers, for a range.
    sides
        The parcels and the address points of each of the two neighbours, for a range.
    compatible
        Nothing in number and street contradicts what was typed, though parts may be missing on one side.
    zip_open
        A ZIP code was typed, and none is loaded with which it could be compared.
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
    sides: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = ()
    compatible: bool = False
    zip_open: bool = False


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
        self._tables = AddressTables(connection)
        self._directory = directory
        self._book = place_book(directory)
        self.mun_codes: frozenset[str] = self._tables.municipalities()
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
        if any(h.kind in {"rooftop", "parcel"} and h.score >= NUMBERED_STREET for h in hits):
            hits = [h for h in hits if h.kind in {"rooftop", "parcel"} or not h.number]
        judged = self._judged(_ranked(_best_of_each(hits)), parsed)
        return tuple(replace(h, label=self._label(h.number, h.street, h.unit, h.mun_code)) for h in judged[:limit])

    def suggest(self, text: str, *, limit: int = 8) -> tuple[str, ...]:
        """Return addresses that a beginning may become, to be offered while somebody types.

        Parameters
        ----------
        text
            What has been typed: house number, the beginning of the street, and behind a comma that of the municipality.
            Without a letter of the street there is nothing to offer.
        limit
            At most how many.
        """
        head, _, place = text[:_LONGEST_TYPED].partition(",")
        line = split_line(head)
        if not line.street.name or not any(c.isalpha() for c in head):
            return ()
        codes = None
        if place.strip():
            codes = self._book.starting(place.split(",")[0]) or self._book.find(place).mun_codes
        number = line.low or None
        words = head.upper().split()[1 if line.number else 0 :]
        found: dict[str, None] = {}
        for typed in (*_writings(line.street), StreetName("", " ".join(w.strip(".") for w in words), "", "")):
            for street in self._tables.beginning(compact(typed.name), number, codes, limit * 8):
                if street.name.pre.startswith(typed.pre) and street.name.suffix.startswith(typed.suffix):
                    found[self._label(line.number, _cased(str(street.name)), "", street.mun_code)] = None
        if number and line.street.name in address_words().directions:
            for street in self._tables.directed(line.street.name, number, codes, limit):
                found[self._label(line.number, _cased(str(street.name)), "", street.mun_code)] = None
        if not found and len(compact(line.street.name)) >= _SHORTEST_HELP:
            try:
                hits = self.search(text, limit=limit)
            except SiteError:
                # Half an address can be a box or no street yet: there is nothing to offer, and `search` will say why.
                return ()
            found = dict.fromkeys(h.label for h in hits if h.kind in {"rooftop", "parcel"})
        return tuple(found)[:limit]

    # -- one reading -----------------------------------------------------------------------------------

    def _read(self, reading: Reading, *, exclude: Sequence[AddressHit]) -> list[AddressHit]:
        place = reading.place
        # Where one of several municipalities is not loaded, the address may be there as well.
        known = place.how in {"named", "ambiguous", "postal"} and set(place.mun_codes) <= self.mun_codes
        differs = () if known else ("municipality",)
        asked = _Asked(reading, PLACE_OFF[place.how], differs)
        if not place.mun_codes:
            return self._everywhere(asked, counties=None)
        hits = self._in_municipalities(asked, place.mun_codes)
        if not _any_good(hits) and not _any_good(exclude):
            # Mail is addressed across municipal lines, and people take the wrong one: look nearby, and say so.
            wide = _Asked(reading, asked.off + MUNICIPALITY_OTHER, ("municipality",))
            counties = frozenset(code[:2] for code in place.mun_codes)
            hits += [h for h in self._everywhere(wide, counties=counties) if h.mun_code not in place.mun_codes]
        return hits

    def _in_municipalities(self, asked: _Asked, codes: Iterable[str]) -> list[AddressHit]:
        candidates: list[_Candidate] = []
        for code in (*codes, ""):
            if self._tables.by_name(code):
                candidates += self._likely_streets(asked.reading.line.street, code)
        candidates.sort(key=lambda c: c.fit.off)
        found = {c.street.id: self._on_street(asked, c) for c in candidates[:MOST_STREETS]}
        hits = [hit for group in found.values() for hit in group]
        if any(h.score >= GOOD_HOUSE for h in hits):
            return hits
        # No house fits well: say where the number would be on the streets that are most like it.
        least = candidates[0].fit.off if candidates else 1.0
        for c in candidates:
            if (
                1.0 - c.fit.off >= NEAR_STREET
                and c.fit.off <= least + ABOUT
                and all(ACROSS in hit.differs for hit in found.get(c.street.id, ()))
            ):
                hits += self._near_number(asked, c)
        return hits

    def _likely_streets(self, typed: StreetName, code: str) -> Iterable[_Candidate]:
        """Return the streets of a municipality with a name that is near, each once, with its best fit."""
        by_name = self._tables.by_name(code)
        best: dict[int, _Candidate] = {}
        for written in _writings(typed):
            # "EASTCLARK" is East Clark, and "E CLARK" a street that is called Eastclark.
            for key, pre_typed in {compact(written.name): False, compact(written.pre + written.name): True}.items():
                found = self._extract(key, by_name.keys(), scorer=self._scorer, score_cutoff=LIKE, limit=MOST_NAMES)
                for name, likeness, _ in found:
                    for street, pre_in_name in by_name[name]:
                        joined = pre_in_name or (pre_typed and bool(written.pre))
                        if joined and bool(written.pre) == bool(street.name.pre):
                            # Both have a direction, which is compared by itself.
                            continue
                        fit = street_fit(written, street.name, likeness, pre_in_name=joined)
                        if not code:
                            fit = Fit(fit.off + MUNICIPALITY_UNKNOWN, (*fit.differs, "municipality"), fit.compatible)
                        if street.id not in best or fit.off < best[street.id].fit.off:
                            best[street.id] = _Candidate(street, fit)
        return best.values()

    def _everywhere(self, asked: _Asked, *, counties: frozenset[str] | None) -> list[AddressHit]:
        """Return the places in the whole State (or in some counties) that have the number."""
        hits = [
            hit
            for written in _writings(asked.reading.line.street)
            for hit in self._named(asked, written, compact(written.name), 1.0, counties)
        ]
        if counties is not None or any(ACROSS not in hit.differs for hit in hits):
            return hits
        key = compact(asked.reading.line.street.name)
        if not asked.reading.line.low:
            # Without a number and a municipality there is no place to be found; which streets it may be is shown.
            streets = self._tables.with_name(key, MOST_NAMES)
            fits = [_Candidate(s, street_fit(asked.reading.line.street, s.name, 1.0)) for s in streets]
            return [hit for c in fits for hit in self._near_number(asked, c)]
        found = self._extract(
            key, self._tables.names(), scorer=self._scorer, score_cutoff=LIKE_STATEWIDE, limit=MOST_NAMES
        )
        for name, likeness, _ in found:
            hits += self._named(asked, asked.reading.line.street, name, likeness, None)
        return hits

    def _named(
        self, asked: _Asked, typed: StreetName, key: str, likeness: float, counties: frozenset[str] | None
    ) -> list[AddressHit]:
        line = asked.reading.line
        hits: list[AddressHit] = []
        for street, houses in self._tables.named(key, line.low, line.high).items():
            if counties is None or street.mun_code[:2] in counties:
                candidate = _Candidate(street, street_fit(typed, street.name, likeness))
                more = self._tables.houses("within", street.id, line.low + 1, line.high) if line.high > line.low else []
                hits += self._in_groups(asked, candidate, [*houses, *more])
        return hits

    # -- one street ------------------------------------------------------------------------------------

    def _on_street(self, asked: _Asked, candidate: _Candidate) -> list[AddressHit]:
        line, street = asked.reading.line, candidate.street
        houses = self._tables.houses("at number", street.id, line.low)
        if line.low:
            houses += self._tables.houses("in range", street.id, line.low, line.high)
        if line.high > line.low:
            houses += self._tables.houses("within", street.id, line.low + 1, line.high)
        return self._in_groups(asked, candidate, houses)

    def _in_groups(self, asked: _Asked, candidate: _Candidate, houses: Iterable[House]) -> list[AddressHit]:
        groups = houses_at(asked.reading.line, houses)
        return [self._hit(asked, candidate, fit, group) for fit, group in groups]

    def _near_number(self, asked: _Asked, candidate: _Candidate) -> list[AddressHit]:
        """Return the place between a number's neighbours, or the street."""
        line, street = asked.reading.line, candidate.street
        if line.low:
            side = line.low % 2
            beside = neighbours(
                line.low,
                self._tables.houses("below", street.id, line.low, side),
                self._tables.houses("above", street.id, line.low, side),
            )
            if beside:
                between = (beside[0][0].number, beside[1][0].number)
                fit = Fit(BETWEEN_NEIGHBOURS, ("house number",), False)
                hit = self._hit(asked, candidate, fit, [*beside[0], *beside[1]], kind="range")
                sides = tuple((_ids(houses, points=False), _ids(houses, points=True)) for houses in beside)
                return [replace(hit, number=line.number, unit="", between=between, sides=sides)]
        houses = self._tables.houses("on street", street.id)
        fit = Fit(STREET_ONLY, ("house number",), False)
        hit = self._hit(asked, candidate, fit, houses, kind="street")
        return [replace(hit, number="", unit="")]

    def _hit(
        self, asked: _Asked, candidate: _Candidate, fit: Fit, houses: Sequence[House], kind: HitKind | None = None
    ) -> AddressHit:
        street = candidate.street
        points = _ids(houses, points=True)
        units = {h.unit for h in houses}
        unit = units.pop() if len(units) == 1 else ""
        return AddressHit(
            label="",
            mun_code=street.mun_code,
            number=houses[0].number,
            street=_cased(str(street.name)),
            unit=unit,
            score=round(max(0.0, 1.0 - asked.off - candidate.fit.off - fit.off), 4),
            kind=kind or ("rooftop" if points else "parcel"),
            differs=tuple(dict.fromkeys((*fit.differs, *candidate.fit.differs, *asked.differs))),
            certain=False,
            parcel_ids=_ids(houses, points=False),
            point_ids=points,
            compatible=fit.compatible and candidate.fit.compatible,
        )

    # -- all of them -----------------------------------------------------------------------------------

    def _judged(self, hits: list[AddressHit], parsed: ParsedAddress) -> list[AddressHit]:
        """Say how many places each hit is, how many fit as well, and whether the first one is certain."""
        if not hits:
            return hits
        scores = Counter(h.score for h in hits)
        rivals = [h for h in hits if h.compatible]
        lots = {h: self._tables.lots(h.parcel_ids, h.point_ids) for h in hits[:MOST_NAMES]}
        judged = [replace(h, places=len(lots[h]) if h in lots else 1, ties=scores[h.score]) for h in hits]
        first = hits[0]
        named = any(r.place.how == "named" and r.place.mun_codes == (first.mun_code,) for r in parsed.readings)
        agrees = first.compatible and set(first.differs) <= {"unit", UNIT_UNKNOWN} and first.number and named
        # With so many rivals nothing is certain: their lots need not be looked at.
        meant = {lot for h in rivals for lot in lots.get(h, {"not looked at"})}
        unit_open = bool(parsed.line.unit) and "unit" in first.differs
        if not (agrees and not unit_open and len(meant) == 1 and first.kind in {"rooftop", "parcel"}):
            return judged
        # The rivals are records of the same lot, its units for one: whoever meant one of them finds it here.
        whole = replace(
            judged[0],
            certain=True,
            parcel_ids=tuple(dict.fromkeys(one for h in rivals for one in h.parcel_ids)),
            point_ids=tuple(dict.fromkeys(one for h in rivals for one in h.point_ids)),
        )
        return [whole, *(one for h, one in zip(hits[1:], judged[1:], strict=True) if h not in rivals)]

    def _with_zip(self, hit: AddressHit, zip_code: str) -> AddressHit:
        """Take something off where the file knows another ZIP code."""
        known = self._tables.zip_codes(hit.parcel_ids, hit.point_ids)
        if not known:
            return replace(hit, zip_open=True)
        if zip_code in known:
            return hit
        return replace(
            hit, score=round(max(0.0, hit.score - ZIP_OTHER), 4), differs=(*hit.differs, "ZIP code"), compatible=False
        )

    def _label(self, number: str, street: str, unit: str, mun_code: str) -> str:
        parts = [number, street, f"unit {unit}" if unit[:1].isdigit() else unit.title()]
        line = " ".join(part for part in parts if part)
        return f"{line}, {self._book.label(mun_code)}" if mun_code in self._directory.names else line


def _ids(houses: Iterable[House], *, points: bool) -> tuple[int, ...]:
    return tuple(h.source_id for h in houses if h.is_point == points)


def _ranked(hits: Iterable[AddressHit]) -> list[AddressHit]:
    return sorted(hits, key=lambda h: (-h.score, h.mun_code, h.street, h.number, h.unit))


def _writings(typed: StreetName) -> tuple[StreetName, ...]:
    """Return how a street's name can be meant: its last word as suffix, or as part of the name."""
    if not typed.suffix or typed.suffix in _PLAIN_SUFFIXES:
        return (typed,)
    return typed, StreetName(typed.pre, f"{typed.name} {typed.suffix}", "", typed.post)


@lru_cache(maxsize=10_000)
def _cased(text: str) -> str:
    """Return a name in small letters with capitals, ordinals kept: ``"East 3rd Street"``."""
    return " ".join(word.lower() if word[:1].isdigit() else word.title() for word in text.split())


def _any_good(hits: Iterable[AddressHit]) -> bool:
    return any(h.kind in {"rooftop", "parcel"} and h.score >= GOOD_HOUSE for h in hits)


def _best_of_each(hits: Iterable[AddressHit]) -> list[AddressHit]:
    """Return each place once, where several readings lead to it with its best score."""
    best: dict[tuple[Any, ...], AddressHit] = {}
    for hit in hits:
        key = (hit.kind, hit.parcel_ids, hit.point_ids)
        if key not in best or hit.score > best[key].score:
            best[key] = hit
    return list(best.values())
