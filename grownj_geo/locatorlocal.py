"""The locator on this machine: addresses among the parcels and address points that the user has loaded.

Nothing is sent. A lot with an outline is that outline; one without is known by its number, and its place is somewhere
in its municipality. House numbers between two neighbours, and streets, are as wide as what is loaded of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import shapely

from grownj_geo.addressindex import AddressIndex
from grownj_geo.addressparse import AddressError, parse_address
from grownj_geo.locator import LocatorError, Match, best_first, uncertainty_ft
from grownj_geo.settling import GOOD_SCORE, around

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from grownj_geo.addressindex import AddressHit
    from grownj_geo.addressparse import ParsedAddress
    from grownj_geo.locate import MunicipalDirectory
    from grownj_geo.locator import AddressQuery, Answer
    from grownj_geo.parcel import Parcel
    from grownj_geo.parcelstore import ParcelStore

    Area = Callable[[str], shapely.Geometry | None]
    """The municipality of a code, in EPSG:3424."""

__all__ = ["LocalLocator"]

_NOT_SURE = GOOD_SCORE - 0.01
_MOST_HITS = 24
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
        hits = self.index.search(parsed, limit=_MOST_HITS)
        return best_first(match for hit in hits for match in self._matches(hit, parsed))

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
        parcels, points = self._store.by_ids(hit.parcel_ids), self._points(hit.point_ids)
        plain = Match(
            locator=self.name,
            matched=hit.label.partition(", ")[0],
            score=_score(hit, parsed),
            kind="street",
            x_ft=0.0,
            y_ft=0.0,
            uncertainty_ft=0.0,
            mun_code=hit.mun_code or None,
            notes=_notes(hit),
        )
        if hit.kind in {"range", "street"}:
            shapes = [parcel.geometry for parcel in parcels if parcel.geometry is not None]
            shapes += [shapely.Point(point) for point in points]
            if shapes:
                yield _within(replace(plain, kind=hit.kind), shapely.union_all(shapes))
            elif hit.mun_code:
                yield self._somewhere(plain, hit.mun_code)
            return
        lots: dict[tuple[str, str, str], list[Parcel]] = {}
        for parcel in parcels:
            lots.setdefault((parcel.mun_code, parcel.block, parcel.lot), []).append(parcel)
        for units in lots.values():
            yield self._lot(plain, units, points if len(lots) == 1 else ())
        if not lots:
            for x, y in dict.fromkeys(points):
                yield replace(plain, kind="rooftop", x_ft=x, y_ft=y, uncertainty_ft=uncertainty_ft("rooftop"))

    def _points(self, ids: Iterable[int]) -> list[tuple[float, float]]:
        """Return where address points are, in EPSG:3424."""
        run = self._store.connection.execute
        return [row for one in ids for row in run("SELECT x_ft, y_ft FROM address_points WHERE id = ?", (one,))]

    def _lot(self, plain: Match, units: Sequence[Parcel], points: Sequence[tuple[float, float]]) -> Match:
        """Return the place of a lot: its outline, else the point on it, else somewhere in its municipality."""
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
        shapes = {parcel.geometry.wkb: parcel.geometry for parcel in units if parcel.geometry is not None}
        if shapes:
            # One outline stays as it came, to the last bit.
            outline = next(iter(shapes.values())) if len(shapes) == 1 else shapely.union_all(list(shapes.values()))
            inside = shapely.point_on_surface(outline)
            return replace(match, kind="parcel", x_ft=inside.x, y_ft=inside.y, geometry=outline)
        if points:
            x, y = points[0]
            return replace(match, kind="rooftop", x_ft=x, y_ft=y, uncertainty_ft=uncertainty_ft("rooftop"))
        return self._somewhere(match, first.mun_code)

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
        return _within(replace(match, kind="municipality"), area)


def _within(match: Match, ground: shapely.Geometry) -> Match:
    """Return a match in the middle of the ground in which it is, with how far off it may be then."""
    middle, reach = around(ground)
    least = uncertainty_ft("rooftop") if match.kind in {"range", "street"} else 0.0
    return replace(match, x_ft=middle.x, y_ft=middle.y, uncertainty_ft=max(reach, least))


def _score(hit: AddressHit, parsed: ParsedAddress) -> float:
    """Return a score of 0.95 or more only for what agrees in all that was typed."""
    unit_open = bool(parsed.line.unit) and "unit" in hit.differs
    # Where no municipality was typed there is none to agree with; whoever judges the match says so.
    beside = {"unit"} | ({"municipality"} if parsed.place.how == "none" else set())
    agrees = hit.compatible and set(hit.differs) <= beside and not unit_open and hit.kind in {"rooftop", "parcel"}
    if hit.certain:
        return 1.0
    return hit.score if agrees else min(hit.score, _NOT_SURE)


def _notes(hit: AddressHit) -> tuple[str, ...]:
    notes = []
    if hit.differs:
        notes.append(f"Not as typed: {', '.join(hit.differs)}.")
    if hit.between is not None:
        notes.append(
            f"The number is not loaded; its neighbours on that side are {hit.between[0]} and {hit.between[1]}."
        )
    elif hit.kind == "street":
        notes.append("The number is not loaded; the place is anywhere on what is loaded of the street.")
    return tuple(notes)
