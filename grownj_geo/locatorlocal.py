"""The locator on this machine: addresses among the parcels and address points that the user has loaded.

Nothing is sent. A lot with an outline is that outline; where its number has
outlines that do not touch, each is a place of its own; a lot without is where an address point says, else somewhere in
its municipality. Points that lie apart, or off the outline, are places of their own. A house number between two
neighbours is as wide as both; of a street it is known that it is in its municipality, and no more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import shapely

from grownj_geo.addressindex import AddressIndex
from grownj_geo.addressmatch import UNIT_UNKNOWN
from grownj_geo.addressparse import AddressError, parse_address
from grownj_geo.enclosing import around, farthest_ft
from grownj_geo.found import feet_words
from grownj_geo.locator import LocatorError, Match, best_first, uncertainty_ft
from grownj_geo.matchfigures import GOOD_SCORE, MOST_HITS, NOT_SURE
from grownj_geo.parcelgrounds import apart_words, grounds_of
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from grownj_geo.addressindex import AddressHit
    from grownj_geo.addressparse import ParsedAddress
    from grownj_geo.locate import MunicipalDirectory
    from grownj_geo.locator import AddressQuery, Answer
    from grownj_geo.parcel import Parcel
    from grownj_geo.parcelstore import ParcelStore

    _Point = tuple[float, float]

    Area = Callable[[str], shapely.Geometry | None]
    """The municipality of a code, in EPSG:3424."""

__all__ = ["LocalLocator"]

_ALL = 1_000_000
_MOST_UNITS = 4


class LocalLocator:
    """Finds addresses in a store of parcels.

    Parameters
    ----------
    store
        The parcels and address points.
    directory
        Which municipalities there are.
    area
        The polygon of a municipality in EPSG:3424, by its code: where a parcel without an outline may be.

    Raises
    ------
    AddressError, LayerError
        As `AddressIndex`.
    """

    name = "local"
    online = False
    sends = "Nothing is sent: the parcels and address points that are loaded are looked through on this machine."

    def __init__(self, store: ParcelStore, directory: MunicipalDirectory, area: Area) -> None:
        self._store = store
        self._directory = directory
        self._area = area
        self.index = AddressIndex(store.connection, directory)

    def find(self, query: AddressQuery) -> tuple[Match, ...]:
        """Return the places of an address, best first.

        What agrees in every part that was typed has a score of at least 0.95; anything else has less.

        Raises
        ------
        LocatorError
            ``"refused"`` where the text is no address.
        """
        try:
            parsed = self._parsed(query)
        except AddressError as error:
            raise LocatorError(self.name, "refused", str(error)) from error
        # Scores of hits rank what differs; what agrees in all that counts comes before them.
        hits = sorted(self.index.search(parsed, limit=_ALL), key=lambda hit: -_score(hit, parsed))
        shown, cut = hits[:MOST_HITS], hits[MOST_HITS:]
        matches = [match for hit in shown for match in self._matches(hit, parsed)]
        return best_first(_with_cut(matches, cut, parsed) if cut else matches)

    def nothing_words(self, query: AddressQuery) -> str:
        """Return what it means that an address was not found: of a municipality that is not loaded, nothing."""
        lacking = [code for code in query.mun_codes if code not in self.index.mun_codes]
        if not lacking:
            return "knows no such address"
        names = ", ".join(self._directory.names[code][0] for code in lacking[:_MOST_UNITS])
        return f"has no addresses of {names}, so that nothing is known of this one"

    def find_many(
        self, queries: Sequence[AddressQuery], *, progress: Callable[[int, int], None] | None = None
    ) -> tuple[Answer, ...]:
        """Return an answer for each query, in order."""
        answers = []
        for query in queries:
            answers.append(self._answer(query))
            if progress is not None:
                progress(len(answers), len(queries))
        return tuple(answers)

    def was_sent(self, _: AddressQuery) -> bool:
        """Return that nothing was sent: everything is on this machine."""
        return False

    def _answer(self, query: AddressQuery) -> Answer:
        try:
            return self.find(query)
        except LocatorError as error:
            return error

    def _parsed(self, query: AddressQuery) -> ParsedAddress:
        parsed = parse_address(query.text, self._directory)
        if len(query.mun_codes) == 1 and parsed.mun_codes != query.mun_codes:
            # Whoever asks knows the municipality from elsewhere.
            name, county = self._directory.names[query.mun_codes[0]]
            return parse_address(f"{query.street or query.text}, {name}, {county} County", self._directory)
        return parsed

    # -- what a hit is a place of ---------------------------------------------------------------------

    def _matches(self, hit: AddressHit, parsed: ParsedAddress) -> Iterator[Match]:
        plain = Match(
            locator=self.name,
            matched=hit.label.partition(", ")[0],
            score=_score(hit, parsed),
            kind="street",
            x_ft=0.0,
            y_ft=0.0,
            uncertainty_ft=0.0,
            mun_code=hit.mun_code or None,
            notes=_notes(hit, parsed),
        )
        if hit.kind in {"range", "street"}:
            yield from self._along(replace(plain, kind=hit.kind), hit)
            return
        lots: dict[tuple[str, str, str], list[Parcel]] = {}
        for parcel in self._store.by_ids(hit.parcel_ids):
            lots.setdefault((parcel.mun_code, parcel.block, parcel.lot), []).append(parcel)
        points = tuple(dict.fromkeys(self._store.points(hit.point_ids)))
        if not lots:
            yield from _doors(plain, points)
            return
        outlines = [[unit.geometry for unit in units if unit.geometry is not None] for units in lots.values()]
        if all(outlines):
            ground = shapely.union_all([outline for some in outlines for outline in some])
            off = [point for point in points if _off_ft(point, ground) > uncertainty_ft("rooftop")]
            if off:
                plain = replace(plain, notes=(*plain.notes, _off_words(off, ground)))
                yield from _doors(plain, off)
            points = ()
        for units in lots.values():
            yield from self._lot(plain, units, points if len(lots) == 1 else ())

    def _along(self, plain: Match, hit: AddressHit) -> Iterator[Match]:
        """Return the place between two neighbours, or on a street."""
        shapes: list[shapely.Geometry] = []
        lacking = False
        for parcel_ids, point_ids in hit.sides or ((hit.parcel_ids, hit.point_ids),):
            outlines = [parcel.geometry for parcel in self._store.by_ids(parcel_ids)]
            points = [shapely.Point(point) for point in self._store.points(point_ids)]
            lacking |= not points and any(outline is None for outline in outlines)
            shapes += [*points, *(outline for outline in outlines if outline is not None)]
        if not shapes:
            if hit.mun_code:
                yield self._somewhere(plain, hit.mun_code)
            return
        middle, reach = around(shapely.union_all(shapes))
        if plain.kind == "street":
            area = self._area(hit.mun_code) if hit.mun_code else None
            # Surely in its municipality, and what is loaded of it need not be all of it.
            known = uncertainty_ft("street", half_extent_ft=reach) if area is None else farthest_ft(middle, area)
        elif lacking:
            known = max(reach, uncertainty_ft("range"))
            words = "The place of one neighbour is not known; how far off such places are in general counts."
            plain = replace(plain, notes=(*plain.notes, words))
        else:
            known = max(reach, uncertainty_ft("rooftop"))
        yield replace(plain, x_ft=middle.x, y_ft=middle.y, uncertainty_ft=known)

    def _lot(self, plain: Match, units: Sequence[Parcel], points: Sequence[_Point]) -> Iterator[Match]:
        """Return the place of a lot: its outline, else the points on it, else somewhere in its municipality."""
        first = units[0]
        pins = list(dict.fromkeys(parcel.pin for parcel in units))
        notes = [*plain.notes, *first.notes]
        if len(pins) > 1:
            shown = ", ".join(pins[:_MOST_UNITS]) + (" ..." if len(pins) > _MOST_UNITS else "")
            notes.append(
                f"{len(pins)} parcels of one lot have this address ({shown}); which is meant is open, the lot is taken."
            )
        pin = pins[0] if len(pins) == 1 else f"{first.mun_code}_{first.block}_{first.lot}"
        match = replace(plain, mun_code=first.mun_code, pin=pin, notes=tuple(dict.fromkeys(notes)))
        grounds = grounds_of(units)
        twice = _twice(units) if len(grounds) > 1 else ()
        if twice:
            match = replace(match, notes=tuple(dict.fromkeys((*twice, *match.notes))))
        elif len(grounds) > 1:
            # Units with outlines of their own: the lot is all of them.
            grounds = (shapely.union_all(list(grounds)),)
        if grounds:
            for outline in grounds:
                inside = shapely.point_on_surface(outline)
                yield replace(match, kind="parcel", x_ft=inside.x, y_ft=inside.y, geometry=outline)
        elif points:
            yield from _doors(match, points)
        else:
            yield self._somewhere(match, first.mun_code)

    def _somewhere(self, match: Match, mun_code: str) -> Match:
        """Return a match of which only the municipality is known."""
        area = self._area(mun_code)
        if area is None:
            raise LocatorError(
                self.name,
                "nonsense",
                f"{match.matched} has no outline, and no polygon of its municipality {mun_code} can be used to say "
                "where it may be. Expected either; see grownj layers status.",
            )
        middle, reach = around(area)
        return replace(match, kind="municipality", x_ft=middle.x, y_ft=middle.y, uncertainty_ft=reach)


def _doors(plain: Match, points: Sequence[_Point]) -> Iterator[Match]:
    """Return the places of address points: one where they lie as close as such points are known, else each its own."""
    own = uncertainty_ft("rooftop")
    middle, reach = around(shapely.multipoints(points))
    if 2 * reach <= own:
        yield replace(plain, kind="rooftop", x_ft=middle.x, y_ft=middle.y, uncertainty_ft=own + reach)
        return
    words = f"{len(points):,} address points have this address, up to {feet_words(2 * reach)} apart; which is open."
    for x, y in points:
        yield replace(
            plain, kind="rooftop", x_ft=x, y_ft=y, uncertainty_ft=own, notes=tuple(dict.fromkeys((*plain.notes, words)))
        )


def _twice(units: Sequence[Parcel]) -> tuple[str, ...]:
    """Return which parcel numbers of a lot have outlines apart from each other, and how far."""
    told = []
    for pin in dict.fromkeys(unit.pin for unit in units):
        own = [unit for unit in units if unit.pin == pin]
        grounds = grounds_of(own)
        if len(grounds) > 1:
            told.append(apart_words(pin, own, grounds))
    return tuple(told)


def _off_ft(point: _Point, ground: shapely.Geometry) -> float:
    return float(shapely.distance(shapely.Point(point), ground)) * FT_PER_FTUS


def _off_words(points: Sequence[_Point], ground: shapely.Geometry) -> str:
    away = feet_words(max(_off_ft(point, ground) for point in points))
    return f"An address point with this address lies {away} from the outline of the parcel with it; which is open."


def _with_cut(matches: Sequence[Match], cut: Sequence[AddressHit], parsed: ParsedAddress) -> Iterator[Match]:
    """Say how many places are not shown; where one of them fits as well as those that are, none is sure."""
    tied = sum(_score(hit, parsed) >= GOOD_SCORE for hit in cut)
    words = f"{len(cut):,} more places are not shown; type more of the address."
    if tied:
        words = f"{len(cut):,} more places are not shown, {tied:,} of which fit as well; type more of the address."
    for match in matches:
        score = min(match.score, NOT_SURE) if tied else match.score
        yield replace(match, score=score, notes=(words, *match.notes))


def _score(hit: AddressHit, parsed: ParsedAddress) -> float:
    """Return a score of 0.95 or more only for what agrees in all that was typed."""
    unit_open = bool(parsed.line.unit) and "unit" in hit.differs
    # Where no municipality was typed there is none to agree with; whoever judges the match says so.
    beside = {"unit", UNIT_UNKNOWN} | ({"municipality"} if parsed.place.how == "none" else set())
    agrees = hit.compatible and set(hit.differs) <= beside and not unit_open and hit.kind in {"rooftop", "parcel"}
    if hit.certain:
        return 1.0
    return hit.score if agrees else min(hit.score, NOT_SURE)


def _notes(hit: AddressHit, parsed: ParsedAddress) -> tuple[str, ...]:
    notes = []
    # Who types no unit is not contradicted by one.
    differs = [part for part in hit.differs if part != UNIT_UNKNOWN and (part != "unit" or parsed.line.unit)]
    if "municipality" in differs and parsed.place.how == "none":
        differs.remove("municipality")
        notes.append("No municipality was typed.")
    if differs:
        notes.append(f"Not as typed: {', '.join(differs)}.")
    if hit.zip_open:
        notes.append(f"ZIP code {parsed.zip_code} was not compared: what is loaded has none there.")
    if UNIT_UNKNOWN in hit.differs:
        notes.append(
            f"Unit {parsed.line.unit} was typed; what is loaded has no units there, and the whole lot is taken."
        )
    if hit.unit and not parsed.line.unit:
        notes.append(f"No unit was typed; the file has unit {hit.unit} there.")
    if hit.between is not None:
        notes.append(
            f"The number is not loaded; its neighbours on that side are {hit.between[0]} and {hit.between[1]}."
        )
    elif hit.kind == "street":
        known = ", so that only its municipality is taken as known" if hit.mun_code else ""
        notes.append(
            f"The number is not loaded; the place is anywhere on the street, beyond what is loaded of it too{known}."
        )
    return tuple(notes)
