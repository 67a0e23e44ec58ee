"""Observations of many sites at once: coverage, distances and shares, as one site's own measuring gives them.

Whatever arrays of numbers cannot decide (a point on a line, a parcel that a line cuts) is measured one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.bulkcircle import shares_in_circles
from grownj_geo.bulkcut import Shares, undecided
from grownj_geo.bulkline import starts_of
from grownj_geo.bulkplan import MAJORITY
from grownj_geo.leaves import Leaves
from grownj_geo.observe import Coverage, Distance, measure_coverage
from grownj_geo.place import Placement
from grownj_geo.shares import share_within
from grownj_geo.sitetable import SiteTable
from grownj_geo.units import FT_PER_FTUS, geodesic_ft, to_lonlat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from grownj_geo.atlas import Atlas
    from grownj_geo.binding import BoundRulebook
    from grownj_geo.bulkplan import CoverageQuestion, DistanceQuestion, Plan
    from grownj_geo.layer import Layer

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

__all__ = [
    "GroundState",
    "Pairs",
    "covered_by",
    "distances_of",
    "exact_shares",
    "leaves_of",
    "merged",
    "pair_reach_ft",
    "shares_of",
    "some",
    "station_pairs",
    "table_of",
]

_PLANAR_ERROR = 2e-4
_EDGE_FT = 1e-6
_GUARD_FT = 0.1
_HALF = 0.5
# Shares within a radius are rounded to this.
_ROUNDED = 2e-7


@dataclass(frozen=True, eq=False)
class GroundState:
    """How some sites lie to one ground, arrays of shape (k,).

    Attributes
    ----------
    inside
        Whether the point, or the polygon's first corner, lies in it.
    away_ft
        Feet to its line; infinite beyond the limit.
    unsure
        Whether this has to be looked at with exact geometry.
    shares
        The shares of polygons on the ground; None for points, which are in or out.
    """

    inside: Flags
    away_ft: Floats
    unsure: Flags
    shares: Shares | None = None


@dataclass(frozen=True, eq=False)
class Pairs:
    """Sites and the points of a layer that may be near enough to count, in order of the sites.

    Attributes
    ----------
    sites, features
        Positions of the sites, and indices of the features.
    near_ft, far_ft
        Feet from the site's nearest and farthest part; infinite where another feature is nearer for sure.
    """

    sites: Ints
    features: Ints
    near_ft: Floats
    far_ft: Floats


def some(sites: SiteTable, rows: NDArray[Any]) -> SiteTable:
    """Return some of the sites."""
    n, codes, by_pin = len(rows), sites.mun_codes, sites.by_pin
    numbers = rows.tolist() if any(codes) else []
    found = SiteTable(
        sites.geometries[rows],
        sites.uncertainty_ft[rows],
        sites.placed[rows],
        tuple(codes[i] for i in numbers) if numbers else ("",) * n,
        None if by_pin is None or not numbers else tuple(by_pin[i] for i in numbers),
    )
    # What was worked out already is not worked out again.
    for name in ("points", "xy"):
        if name in vars(sites):
            vars(found)[name] = vars(sites)[name][rows]
    return found


def table_of(geometries: NDArray[np.object_]) -> SiteTable:
    """Return sites that are known by their place alone."""
    n = len(geometries)
    return SiteTable(geometries, np.zeros(n), np.ones(n, dtype=bool), ("",) * n)


def leaves_of(bound: BoundRulebook, atlas: Atlas, sites: SiteTable) -> Leaves:
    """Return leaves that measure some sites one by one, and are not asked for their municipalities."""
    n = len(sites)
    place = Placement(
        (),
        (),
        np.zeros(n, dtype=np.int64),
        np.arange(n),
        np.zeros(n),
        (),
        (),
        np.zeros(n),
    )
    return Leaves(bound, atlas, sites, given_placement=place)


def merged(into: Any, rows: NDArray[Any], found: Any) -> None:  # noqa: ANN401 - dataclasses of arrays
    """Put the arrays of one dataclass into some rows of another of its kind."""
    for each in fields(into):
        getattr(into, each.name)[rows] = getattr(found, each.name)


# -- coverage ------------------------------------------------------------------------------------------


def covered_by(
    plan: Plan, asked: CoverageQuestion, states: Sequence[GroundState], sites: SiteTable, *, limit_ft: float
) -> tuple[Coverage, Flags]:
    """Return how much of each site the features cover, and where a feature that lacks a figure may do so.

    Parameters
    ----------
    plan, asked
        The plan, and one of its questions.
    states
        How the sites lie to each of the plan's grounds.
    sites
        The sites, shape (k,), without an uncertainty of their own.
    limit_ft
        Greater margins come back as this.
    """
    measured = _of_points if bool(sites.points.all()) else _of_polygons
    found, unsure = measured(plan, asked, states, sites, limit_ft)
    rows = np.flatnonzero(unsure)
    if len(rows):
        again = measure_coverage(asked.layer, asked.features, some(sites, rows), doubtful=asked.doubtful)
        merged(found, rows, replace(again, margin_ft=np.clip(again.margin_ft, -limit_ft, limit_ft)))
    return found, _lacking(asked, states, sites)


def _of_points(
    plan: Plan, asked: CoverageQuestion, states: Sequence[GroundState], sites: SiteTable, limit_ft: float
) -> tuple[Coverage, Flags]:
    """Return how much of some points the features cover, and which have to be measured one by one."""
    least, most, computed = (states[g] for g in asked.grounds)
    tolerance = asked.tolerance_ft
    k = len(sites)
    low = least.inside & ~_near(least, tolerance)
    high = most.inside | _near(most, tolerance)
    unsure = least.unsure | most.unsure | computed.unsure
    if tolerance > 0:
        for state in (least, most):
            unsure |= np.abs(state.away_ft - tolerance) < _EDGE_FT
    share = computed.inside.astype(np.float64)
    margin = _signed(computed, limit_ft, empty=plan.grounds[asked.grounds[2]].empty)
    if not asked.exact:
        if plan.grounds[asked.grounds[2]].empty:
            share = np.full(k, np.nan)
            margin = np.where(high, np.nan, _signed(most, limit_ft, empty=plan.grounds[asked.grounds[1]].empty))
        elif asked.doubtful.any():
            open_still = high & ~computed.inside
            share[open_still] = margin[open_still] = np.nan
    return _coverage(low.astype(np.float64), share, high.astype(np.float64), margin), unsure


def _of_polygons(
    plan: Plan, asked: CoverageQuestion, states: Sequence[GroundState], sites: SiteTable, limit_ft: float
) -> tuple[Coverage, Flags]:
    """Return how much of some polygons the features cover, and which have to be measured one by one."""
    (surely, least), (perhaps, most), (_, computed) = ((states[g], _shares(states[g])) for g in asked.grounds)
    empty = [plan.grounds[g].empty for g in asked.grounds]
    area = np.asarray(shapely.area(sites.geometries))
    unsure = surely.unsure | perhaps.unsure | states[asked.grounds[2]].unsure
    half = plan.partial == MAJORITY
    unsure |= undecided(least.low_least, least.low_most, area, noise=False, half=half)
    unsure |= undecided(most.high_least, most.high_most, area, noise=not asked.exact, half=half)
    low, high = (least.low_least + least.low_most) / 2, (most.high_least + most.high_most) / 2
    share = computed.share.copy()
    if empty[2] and not asked.exact:
        share[:] = np.nan
        margin = np.where(high > 0, np.nan, _signed(perhaps, limit_ft, empty=empty[1]))
        return _coverage(low, share, high, margin), unsure
    unsure |= undecided(share, share, area, noise=True)
    margin = _signed(states[asked.grounds[2]], limit_ft, empty=empty[2])
    margin[(share > 0) & (share < 1)] = np.nan
    if asked.doubtful.any() and not asked.exact:
        # Whether more is possible than what is computed is plain only where one of them is all or nothing.
        unsure |= (high > 0) & (share < 1) & (share > 0)
        open_still = high > share
        share[open_still] = margin[open_still] = np.nan
    return _coverage(low, share, high, margin), unsure


def _shares(state: GroundState) -> Shares:
    if state.shares is None:
        raise AssertionError("polygons without shares")
    return state.shares


def _coverage(low: Floats, share: Floats, high: Floats, margin: Floats) -> Coverage:
    return Coverage(low, share, high, margin, np.full(len(low), -1, dtype=np.int64))


def _lacking(asked: CoverageQuestion, states: Sequence[GroundState], sites: SiteTable) -> Flags:
    if asked.lacking < 0:
        return np.zeros(len(sites), dtype=bool)
    state, tolerance = states[asked.lacking], asked.tolerance_ft
    if state.shares is None:
        found = state.inside | _near(state, tolerance)
        unsure = state.unsure | ((np.abs(state.away_ft - tolerance) < _EDGE_FT) & (tolerance > 0))
    else:
        found = state.shares.high_most > 0
        area = np.asarray(shapely.area(sites.geometries))
        unsure = state.unsure | undecided(state.shares.high_least, state.shares.high_most, area, noise=True, half=False)
    rows = np.flatnonzero(unsure)
    if len(rows):
        found[rows] = measure_coverage(asked.layer, asked.lacking_features, some(sites, rows)).share_high > 0
    return found


def _near(state: GroundState, tolerance: float) -> Flags:
    return (state.away_ft <= tolerance) & (tolerance > 0)


def _signed(state: GroundState, limit_ft: float, *, empty: bool) -> Floats:
    if empty:
        return np.full(len(state.inside), np.nan)
    away = np.minimum(state.away_ft, limit_ft)
    return np.where(state.inside, away, -away)


# -- distances -----------------------------------------------------------------------------------------


def pair_reach_ft(layer: Layer, radii: Sequence[float], limit_ft: float) -> float:
    """Return how far a point of a layer can be from a site and still have a say."""
    most = float(layer.tolerances_ft.max(initial=0.0))
    return (max(radii, default=0.0) + limit_ft + 2 * most + 1.0) * (1 + _PLANAR_ERROR)


def station_pairs(layer: Layer, sets: Sequence[Ints], sites: SiteTable, rows: Ints, features: Ints) -> Pairs:
    """Return how far some sites are from some points, each pair once.

    Parameters
    ----------
    layer
        A layer of points.
    sets
        The choices of features that are asked about: what cannot be the nearest of any is not measured.
    sites
        The sites.
    rows, features
        The pairs, in order of the sites.
    """
    if layer.lonlat is None:
        raise AssertionError(layer.id)
    points = bool(sites.points.all())
    if points:
        xy = sites.xy[rows]
        planar = np.hypot(*(xy - layer.bounds[features, :2]).T) * FT_PER_FTUS
        across = np.zeros(len(rows))
    else:
        planar = shapely.distance(sites.geometries[rows], layer.points[features]) * FT_PER_FTUS
        box = shapely.bounds(sites.geometries)
        across = (np.hypot(box[:, 2] - box[:, 0], box[:, 3] - box[:, 1]) * FT_PER_FTUS)[rows]
    keep = _may_be_nearest(layer, sets, rows, features, planar, across)
    rows, features, planar = rows[keep], features[keep], planar[keep]
    to = layer.lonlat[features]
    if points:
        lonlat = np.column_stack(to_lonlat(*sites.xy[rows].T)) if len(rows) else np.zeros((0, 2))
        near = geodesic_ft(lonlat[:, 0], lonlat[:, 1], to[:, 0], to[:, 1])
        return Pairs(rows, features, near, near)
    return Pairs(rows, features, *_from_polygons(sites.geometries[rows], layer.points[features], to, planar))


def _may_be_nearest(  # noqa: PLR0917 - arrays that belong together
    layer: Layer, sets: Sequence[Ints], rows: Ints, features: Ints, planar: Floats, across: Floats
) -> Flags:
    """Return which pairs may be the nearest of any choice, once the planar error and all uncertainty is allowed for."""
    keep = np.zeros(len(rows), dtype=bool)
    begin = starts_of(rows)
    if not len(begin):
        return keep
    counts = np.diff(np.append(begin, len(rows)))
    for chosen in sets:
        if not len(chosen):
            continue
        member = np.zeros(len(layer), dtype=bool)
        member[chosen] = True
        of = member[features]
        feet = np.where(of, planar, np.inf)
        slack = 2 * float(layer.tolerances_ft[chosen].max()) + 1.0
        least = np.repeat(np.minimum.reduceat(feet, begin), counts)
        keep |= of & (feet <= least * (1 + 2 * _PLANAR_ERROR) + slack + across)
    return keep


def _from_polygons(
    places: NDArray[np.object_], targets: NDArray[np.object_], to: Floats, planar: Floats
) -> tuple[Floats, Floats]:
    if not len(places):
        return np.zeros(0), np.zeros(0)
    nearest = shapely.get_coordinates(shapely.shortest_line(places, targets))[::2]
    near = geodesic_ft(*to_lonlat(nearest[:, 0], nearest[:, 1]), to[:, 0], to[:, 1])
    near[planar == 0] = 0.0
    # The farthest part of a polygon from a point is one of its corners.
    corners, owner = shapely.get_coordinates(shapely.convex_hull(places), return_index=True)
    lon, lat = to_lonlat(corners[:, 0], corners[:, 1])
    far = np.maximum.reduceat(geodesic_ft(lon, lat, to[owner, 0], to[owner, 1]), starts_of(owner))
    return near, far


def distances_of(asked: DistanceQuestion, pairs: Pairs, n: int, *, limit_ft: float) -> Distance:
    """Return how far each of n sites is from the nearest of a question's points; far ones are so far at least."""
    beyond = pair_reach_ft(asked.layer, asked.every_radius, limit_ft)
    reduced = _Reduced(asked.layer, pairs, n, beyond)
    counted = asked.features[~asked.doubtful]
    found = []
    for part in reduced.parts:
        low, near, high = (part(asked.possible, -1), part(counted, 0), part(asked.sure, 1))
        found.append((np.maximum(low, 0.0), near, high))
    (near_low, near, near_high), (far_low, far, far_high) = found[0], found[-1]
    if asked.doubtful.any():
        nearer = np.zeros(n, dtype=bool)
        for part in reduced.parts:
            nearer |= part(asked.features, -1) < part(counted, -1)
        near, far = np.where(nearer, np.nan, near), np.where(nearer, np.nan, far)
    return Distance(near_low, near, near_high, far_low, far, far_high, np.full(n, -1, dtype=np.int64))


class _Reduced:
    """Least distances of sites from choices of features, out of the same pairs."""

    def __init__(self, layer: Layer, pairs: Pairs, n: int, beyond: float) -> None:
        self.layer, self.pairs, self.n, self.beyond = layer, pairs, n, beyond
        self.begin = starts_of(pairs.sites)
        self.rows = pairs.sites[self.begin]
        self.spread = layer.tolerances_ft[pairs.features]
        # Points have one distance, polygons a nearest and a farthest.
        feet = [pairs.near_ft] if pairs.near_ft is pairs.far_ft else [pairs.near_ft, pairs.far_ft]
        self.parts = [partial(self._least, values) for values in feet]

    def _least(self, feet: Floats, chosen: Ints, sign: int) -> Floats:
        """Return each site's least distance, with the points' uncertainty taken off or added."""
        if not len(chosen):
            return np.full(self.n, np.inf)
        result = np.full(self.n, self.beyond)
        if len(self.begin):
            member = np.zeros(len(self.layer), dtype=bool)
            member[chosen] = True
            value = np.where(member[self.pairs.features], feet + sign * self.spread, np.inf)
            result[self.rows] = np.minimum(np.minimum.reduceat(value, self.begin), self.beyond)
        return result


def shares_of(asked: DistanceQuestion, radius_ft: float, pairs: Pairs, sites: SiteTable, *, joined: bool) -> Floats:
    """Return least, computed and greatest share of each site within a radius of points, shape (3, n)."""
    n = len(sites)
    shares = np.zeros((3, n))
    spread = asked.layer.tolerances_ft[pairs.features]
    most = np.zeros((3, n))
    cut = np.flatnonzero((pairs.near_ft <= radius_ft + spread + _GUARD_FT) & ~sites.points[pairs.sites])
    for row, (chosen, sign) in enumerate(zip(asked.share_sets, (-1.0, 0.0, 1.0), strict=True)):
        member = np.zeros(len(asked.layer), dtype=bool)
        member[chosen] = True
        of = member[pairs.features]
        radii = radius_ft + sign * spread
        all_in = pairs.sites[of & (pairs.far_ft <= radii)]
        shares[row, all_in] = most[row, all_in] = 1.0
        part = cut[of[cut] & (shares[row, pairs.sites[cut]] < 1) & (pairs.near_ft[cut] <= radii[cut] + _GUARD_FT)]
        whose = pairs.sites[part]
        low, high = shares_in_circles(sites.geometries[whose], asked.layer, pairs.features[part], radii[part])
        np.maximum.at(shares[row], whose, low)
        if joined:
            np.add.at(most[row], whose, high)
        else:
            np.maximum.at(most[row], whose, high)
    np.minimum(most, 1.0, out=most)
    tests = {limit for radius, limit in asked.share_limits if radius == radius_ft}
    if any(radius == radius_ft for radius, _ in asked.radii):
        tests |= {0.0, _HALF, 1.0}
    unsure = np.zeros(n, dtype=bool)
    for test in tests:
        unsure |= ((shares - _ROUNDED <= test) & (most + _ROUNDED >= test) & (most > shares)).any(axis=0)
    shares = (shares + most) / 2
    rows = np.flatnonzero(unsure)
    if len(rows):
        shares[:, rows] = exact_shares(asked, radius_ft, some(sites, rows), joined=joined)
    return shares


def exact_shares(asked: DistanceQuestion, radius_ft: float, sites: SiteTable, *, joined: bool) -> Floats:
    """Return least, computed and greatest share of each site within a radius, shape (3, n), one site after another."""
    shares = np.full((3, len(sites)), np.nan)
    sure, computed, possible = asked.share_sets
    for i in np.flatnonzero(sites.placed):

        def share(chosen: Ints, site: int) -> tuple[float, float, float]:
            return share_within(
                sites.geometries[site],
                asked.layer,
                chosen,
                radius_ft=radius_ft,
                uncertainty_ft=float(sites.uncertainty_ft[site]),
                joined=joined,
            )

        shares[:, i] = share(computed, int(i))
        if sure is not computed:
            shares[0, i] = share(sure, int(i))[0]
            shares[2, i] = share(possible, int(i))[2]
    return shares
