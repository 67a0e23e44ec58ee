"""The municipalities of many sites at once: by arrays where one is plain, one by one where it is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.bulkline import expanded
from grownj_geo.bulkmeasure import some
from grownj_geo.place import Placement, PlacementKind, place_sites

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.atlas import Atlas
    from grownj_geo.bulkfind import MunicipalState
    from grownj_geo.sitetable import SiteTable

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["Places", "places_of"]

_KINDS = np.array(list(PlacementKind), dtype=object)
_NUMBER = {kind: i for i, kind in enumerate(PlacementKind)}


@dataclass(frozen=True, eq=False)
class _Runs:
    """Values of sites, as many as each has: one array, and where each site's begin."""

    first: Ints
    count: Ints

    def take(self, rows: Ints) -> tuple[Ints, _Runs]:
        """Return the positions of some sites' values, and the runs that they make one after the other."""
        count = self.count[rows]
        return expanded(self.first[rows], count)[1], _Runs(np.cumsum(count) - count, count)

    def followed(self, other: _Runs, shift: int) -> _Runs:
        """Return the runs with others after them, whose values come after as many."""
        return _Runs(np.r_[self.first, other.first + shift], np.r_[self.count, other.count])


@dataclass(frozen=True, eq=False)
class Places:
    """In which municipalities sites lie: a `Placement` in arrays.

    Attributes
    ----------
    codes
        Municipal codes that the numbers refer to.
    kinds
        Number of each site's kind.
    candidates, shares
        Likely municipalities and the site's share in each.
    neighbours, neighbour_ft
        Municipalities whose lines are within the lines' accuracy.
    far
        Feet to the candidates, of sites off the shore.
    outside
        Share of a polygon in no municipality.
    """

    codes: tuple[str, ...]
    kinds: NDArray[np.int8]
    likely: _Runs
    candidates: Ints
    shares: Floats
    beside: _Runs
    neighbours: Ints
    neighbour_ft: Floats
    far: dict[int, tuple[float, ...]]
    outside: Floats

    def take(self, rows: Ints) -> Places:
        """Return those of some sites."""
        likely_at, likely = self.likely.take(rows)
        beside_at, beside = self.beside.take(rows)
        far = {}
        if self.far:
            far = {new: self.far[old] for new, old in enumerate(rows.tolist()) if old in self.far}
        return Places(
            self.codes,
            self.kinds[rows],
            likely,
            self.candidates[likely_at],
            self.shares[likely_at],
            beside,
            self.neighbours[beside_at],
            self.neighbour_ft[beside_at],
            far,
            self.outside[rows],
        )

    @classmethod
    def joined(cls, parts: list[Places]) -> Places:
        """Return the places of one group of sites after the other; all refer to the same codes, or to none."""
        first = parts[0]
        for part in parts[1:]:
            n = len(first.kinds)
            first = Places(
                max(first.codes, part.codes, key=len),
                np.r_[first.kinds, part.kinds],
                first.likely.followed(part.likely, len(first.candidates)),
                np.r_[first.candidates, part.candidates],
                np.r_[first.shares, part.shares],
                first.beside.followed(part.beside, len(first.neighbours)),
                np.r_[first.neighbours, part.neighbours],
                np.r_[first.neighbour_ft, part.neighbour_ft],
                first.far | {n + i: feet for i, feet in part.far.items()},
                np.r_[first.outside, part.outside],
            )
        return first

    def placement(self) -> Placement:
        """Return the placement that clauses are evaluated with."""
        n = len(self.kinds)
        every = self.take(np.arange(n))
        neighbours: list[tuple[tuple[str, float], ...]] = [()] * n
        for i in np.flatnonzero(every.beside.count).tolist():
            at = int(every.beside.first[i])
            part = slice(at, at + int(every.beside.count[i]))
            pairs = zip(every.neighbours[part].tolist(), every.neighbour_ft[part].tolist(), strict=True)
            neighbours[i] = tuple((self.codes[m], feet) for m, feet in pairs)
        far: list[tuple[float, ...]] = [()] * n
        for i, feet_of in every.far.items():
            far[i] = feet_of
        return Placement(
            self.codes,
            tuple(_KINDS[every.kinds].tolist()),
            every.candidates,
            every.likely.first,
            every.shares,
            tuple(neighbours),
            tuple(far),
            every.outside,
        )


def places_of(atlas: Atlas, sites: SiteTable, state: MunicipalState | None, codes: tuple[str, ...]) -> Places:
    """Return in which municipalities sites lie.

    Parameters
    ----------
    atlas
        The layers.
    sites
        The sites, shape (n,).
    state
        How they lie to the municipalities; None where that has to be found one by one.
    codes
        The municipal codes that the state refers to.
    """
    n = len(sites)
    if state is None:
        return _of_placement(place_sites(atlas, sites))
    unsure = state.unsure | (state.cover < 0)
    index = {code: i for i, code in enumerate(codes)}
    cover, count = state.cover.copy(), np.bincount(state.beside, minlength=n)
    first = np.cumsum(count) - count
    stated = np.array([bool(code) for code in sites.mun_codes], dtype=bool)
    second = np.full(n, -1, dtype=np.int64) if state.second is None else state.second.copy()
    if stated.any():
        said = np.array([index.get(code, -1) for code in sites.mun_codes], dtype=np.int64)
        by_pin = np.ones(n, dtype=bool) if sites.by_pin is None else np.array(sites.by_pin, dtype=bool)
        named = np.zeros(n, dtype=bool)
        named[state.beside[state.municipalities == said[state.beside]]] = True
        # A parcel number outranks the lines; a statement chooses where the lines leave room, and not among parts.
        known = (said >= 0) & (by_pin | ((second < 0) & (named | (said == cover))))
        cover[known] = said[known]
        second[known] = -1
        count[known & (by_pin | named)] = 0
    several = second >= 0
    kinds = np.where(several, _NUMBER[PlacementKind.SEVERAL], _NUMBER[PlacementKind.CERTAIN]).astype(np.int8)
    likely = _Runs(np.arange(n) + np.cumsum(several) - several, 1 + several.astype(np.int64))
    candidates, shares = np.empty(n + int(several.sum()), dtype=np.int64), np.ones(n + int(several.sum()))
    candidates[likely.first] = cover
    if state.shares is not None and several.any():
        at = likely.first[several]
        candidates[at + 1] = second[several]
        shares[at], shares[at + 1] = state.shares[several].T
    outside = np.where(sites.points, np.nan, 0.0)
    if stated.any():
        outside[known & (by_pin | named)] = np.nan
    rows = np.flatnonzero(unsure)
    simple = Places(
        codes,
        kinds,
        likely,
        candidates,
        shares,
        _Runs(first, count),
        state.municipalities,
        state.away_ft,
        {},
        outside,
    )
    return _replaced(simple, rows, _of_placement(place_sites(atlas, some(sites, rows)))) if len(rows) else simple


def _of_placement(place: Placement) -> Places:
    index = {code: i for i, code in enumerate(place.codes)}
    counts = np.diff(np.append(place.starts, len(place.candidates)))
    beside = np.array([len(near) for near in place.neighbours], dtype=np.int64)
    flat = [pair for near in place.neighbours for pair in near]
    return Places(
        place.codes,
        np.array([_NUMBER[kind] for kind in place.kinds], dtype=np.int8),
        _Runs(place.starts, counts),
        place.candidates,
        place.shares,
        _Runs(np.cumsum(beside) - beside, beside),
        np.array([index[code] for code, _ in flat], dtype=np.int64),
        np.array([feet for _, feet in flat], dtype=np.float64),
        {i: feet for i, feet in enumerate(place.distances_ft) if feet},
        place.outside,
    )


def _replaced(simple: Places, rows: Ints, found: Places) -> Places:
    """Return the places with those of some sites replaced."""
    order = np.arange(len(simple.kinds))
    order[rows] = len(order) + np.arange(len(rows))
    return Places.joined([simple, found]).take(order)
