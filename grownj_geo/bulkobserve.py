"""All observations that a rulebook asks for, of many sites at once: each of those that differ measured once."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.bulkarea import Areas
from grownj_geo.bulkborders import municipalities_of_areas
from grownj_geo.bulkcut import LEAST_AREA, Shares, near_reach_ft, shares_on_ground, tellable
from grownj_geo.bulkfind import (
    CLASS_SLACK_FT,
    MUNICIPAL,
    WIDE_SLACK_FT,
    MunicipalLines,
    MunicipalState,
    TreeFinder,
    ground_name,
    part_corners,
    station_reach_ft,
    wide_classes,
)
from grownj_geo.bulkline import UNSURE_FT, starts_of
from grownj_geo.bulkmeasure import (
    GroundState,
    covered_by,
    distances_of,
    exact_shares,
    leaves_of,
    shares_of,
    some,
    station_pairs,
)
from grownj_geo.bulkplace import Places, places_of
from grownj_geo.bulkplan import MAJORITY
from grownj_geo.somewhere import Somewhere
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from grownj_geo.bulkfind import Finder, Index
    from grownj_geo.bulkplan import Plan
    from grownj_geo.layer import Layer
    from grownj_geo.observe import Coverage, Distance
    from grownj_geo.sitetable import SiteTable

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

__all__ = ["Observations", "observe"]


@dataclass(frozen=True, eq=False)
class Observations:
    """What was observed of k sites.

    Attributes
    ----------
    sites
        The sites.
    places
        Their municipalities.
    coverages, distances, land_shares
        As `Leaves` takes them.
    lacking
        By coverage: where a feature that lacks a figure may cover the site.
    """

    sites: SiteTable
    places: Places
    coverages: dict[Hashable, Coverage]
    distances: dict[Hashable, Distance]
    land_shares: dict[Hashable, Floats]
    lacking: dict[Hashable, Flags]

    def take(self, rows: Ints) -> Observations:
        """Return those of some sites."""
        return Observations(
            some(self.sites, rows),
            self.places.take(rows),
            {key: _taken(value, rows) for key, value in self.coverages.items()},
            {key: _taken(value, rows) for key, value in self.distances.items()},
            {key: value[:, rows] for key, value in self.land_shares.items()},
            {key: value[rows] for key, value in self.lacking.items()},
        )


def _taken(values: Any, rows: Ints) -> Any:  # noqa: ANN401 - dataclasses of arrays
    # Points have the same nearest and farthest distance: one array for both stays one.
    kept: dict[int, Any] = {}
    arrays = {each.name: getattr(values, each.name) for each in fields(values)}
    for array in arrays.values():
        if id(array) not in kept:
            kept[id(array)] = array[rows]
    return type(values)(**{name: kept[id(array)] for name, array in arrays.items()})


def observe(plan: Plan, sites: SiteTable, *, limit_ft: float, index: Index | None = None) -> Observations:
    """Return everything that a plan asks about some sites.

    Parameters
    ----------
    plan
        What is asked.
    sites
        The sites.
    limit_ft
        Feet up to which margins are exact.
    index
        Knows what lies near places; trees find it where there is none.
    """
    plain = sites.placed & (sites.uncertainty_ft == 0)
    lines = MunicipalLines.of(plan.atlas)
    found: list[tuple[Ints, Observations]] = []
    for rows in (np.flatnonzero(plain & sites.points), np.flatnonzero(plain & ~sites.points)):
        if len(rows):
            found += _of_one_kind(plan, sites, rows, lines, index, limit_ft)
    rows = np.flatnonzero(~plain)
    if len(rows):
        found.append((rows, _one_by_one(plan, some(sites, rows), limit_ft)))
    result = found[0][1] if len(found) == 1 else _together(sites, found)
    # Without the polygons the codes are those that are stated, of all sites together.
    return result if lines is not None else replace(result, places=places_of(plan.atlas, sites, None, ()))


def _of_one_kind(  # noqa: PLR0917 - what it works with, in order
    plan: Plan, sites: SiteTable, rows: Ints, lines: MunicipalLines | None, index: Index | None, limit_ft: float
) -> list[tuple[Ints, Observations]]:
    """Return the observations of points, or of polygons: with the index those that it knows, with trees the others."""
    part = sites if len(rows) == len(sites) else some(sites, rows)
    points = bool(part.points.all())
    xy, owner = (part.xy, np.arange(len(rows))) if points else part_corners(part.geometries)
    starts = starts_of(owner)
    known = np.zeros(len(rows), dtype=bool)
    if index is not None:
        known = np.logical_and.reduceat(index.inside(xy), starts)
    found = []
    for which in (True, False):
        chosen = known if which else ~known
        if not chosen.any():
            continue
        if chosen.all():
            at, these = rows, part
            places, first = xy, starts
        else:
            at, these = rows[chosen], some(part, np.flatnonzero(chosen))
            kept = chosen[owner]
            places, first = xy[kept], starts_of(owner[kept])
        finder = index.finder(plan, places) if which and index else TreeFinder(plan, lines, places, limit_ft)
        found.append((at, _Observer(plan, these, lines, finder, (places, first), limit_ft).observations()))
    return found


def _together(sites: SiteTable, found: list[tuple[Ints, Observations]]) -> Observations:
    """Return the observations of groups of sites in the sites' own order."""
    if not found:
        raise ValueError("There are no sites to observe; expected one at least.")
    order = np.empty(len(sites), dtype=np.int64)
    order[np.concatenate([rows for rows, _ in found])] = np.arange(len(sites))
    parts = [each for _, each in found]
    return Observations(
        sites,
        Places.joined([part.places for part in parts]).take(order),
        {key: _taken(_stacked([p.coverages[key] for p in parts]), order) for key in parts[0].coverages},
        {key: _taken(_stacked([p.distances[key] for p in parts]), order) for key in parts[0].distances},
        {key: np.hstack([p.land_shares[key] for p in parts])[:, order] for key in parts[0].land_shares},
        {key: np.concatenate([p.lacking[key] for p in parts])[order] for key in parts[0].lacking},
    )


def _stacked(values: list[Any]) -> Any:  # noqa: ANN401 - dataclasses of arrays
    return type(values[0])(
        **{each.name: np.concatenate([getattr(value, each.name) for value in values]) for each in fields(values[0])}
    )


def _one_by_one(plan: Plan, sites: SiteTable, limit_ft: float) -> Observations:
    """Return the observations of sites that arrays cannot measure: uncertain ones, and those without a place."""
    leaves = leaves_of(plan.bound, plan.atlas, sites)
    measured = Somewhere.of(plan.atlas, sites)
    coverages, lacking = {}, {}
    for asked in plan.coverages:
        found = measured.coverage(asked.layer, asked.features, doubtful=asked.doubtful)
        np.clip(found.margin_ft, -limit_ft, limit_ft, out=found.margin_ft)
        coverages[asked.key] = found
        lacking[asked.key] = np.zeros(len(sites), dtype=bool)
        if asked.lacking >= 0:
            lacking[asked.key] = measured.coverage(asked.layer, asked.lacking_features).share_high != 0
    distances: dict[Hashable, Distance] = {}
    shares: dict[Hashable, Floats] = {}
    for question in plan.distances:
        distance = leaves.distance(question.where)
        if distance is None:
            raise AssertionError(question.layer.id)
        distances[question.key] = distance
        for radius in question.shares:
            shares[question.key, radius] = exact_shares(question, radius, sites, joined=_joined(plan))
            measured.add_shares(shares[question.key, radius], distance, radius)
    return Observations(sites, places_of(plan.atlas, sites, None, ()), coverages, distances, shares, lacking)


def _joined(plan: Plan) -> bool:
    """Whether the circles around several points are taken together (reading A47)."""
    return plan.bound.readings.get("A47", "union") == "union"


class _Observer:
    """Observes sites of one kind, all points or all polygons, whose place is known exactly."""

    def __init__(  # noqa: PLR0917 - what it works with, in order
        self,
        plan: Plan,
        sites: SiteTable,
        lines: MunicipalLines | None,
        finder: Finder,
        corners: tuple[Floats, Ints],
        limit_ft: float,
    ) -> None:
        self.plan, self.sites, self.lines, self.finder, self.limit_ft = plan, sites, lines, finder, limit_ft
        # A place of each part that the finder knows, and where each site's begin.
        self.places, self.starts = corners
        self.points = bool(sites.points.all())
        self.areas = Areas(sites.geometries)

    @cached_property
    def anchors(self) -> Floats:
        """A corner of each polygon."""
        return self.places[self.starts]

    def observations(self) -> Observations:
        states = [self._ground(number) for number in range(len(self.plan.grounds))]
        coverages, lacking = {}, {}
        for asked in self.plan.coverages:
            coverages[asked.key], lacking[asked.key] = covered_by(
                self.plan, asked, states, self.sites, limit_ft=self.limit_ft
            )
        distances: dict[Hashable, Distance] = {}
        shares: dict[Hashable, Floats] = {}
        self._to_points(distances, shares)
        self._to_polygons(distances, shares)
        return Observations(self.sites, self._places(), coverages, distances, shares, lacking)

    def _ground(self, number: int) -> GroundState:
        state = self.finder.ground(number)
        if self.points:
            return state
        tolerance = self.plan.tolerances_ft[number]
        reach = max(tolerance, self.limit_ft) + 1.0
        away = self.finder.line_distances(ground_name(number), self.areas, reach)
        inside, unsure = state.inside[self.starts], state.unsure[self.starts]
        shares = Shares.whole(inside)
        # What a line cuts, or may cut once its tolerance is allowed for, is a question of areas; and so is a site
        # of which one part is in and another is not.
        cut = (away <= tolerance + UNSURE_FT) | np.logical_or.reduceat(state.unsure, self.starts)
        cut |= np.logical_and.reduceat(state.inside, self.starts) != np.logical_or.reduceat(state.inside, self.starts)
        # How far off lines are known to every finder, an index too.
        known = max(tolerance, self.limit_ft)
        unsure |= cut & ((self.areas.sqft < LEAST_AREA) | (not tellable(tolerance, known + 1.0)))
        rows = np.flatnonzero(cut & ~unsure)
        if len(rows):
            name = ground_name(number)
            found = shares_on_ground(
                self.areas.take(rows),
                self.finder.lines(name),
                self.finder.edges_about(name, self.areas, rows, near_reach_ft(tolerance)),
                self.anchors[rows],
                inside[rows],
                tolerance_ft=tolerance,
                known_ft=known,
                half=self.plan.partial == MAJORITY,
            )
            shares.put(rows, found)
        return GroundState(shares.share == 1, away, unsure, shares)

    def _places(self) -> Places:
        if self.lines is None:
            return places_of(self.plan.atlas, self.sites, None, ())
        state = self.finder.municipal()
        if not self.points:
            state = self._municipal(state, self.lines)
        return places_of(self.plan.atlas, self.sites, state, self.lines.codes)

    def _municipal(self, state: MunicipalState, lines: MunicipalLines) -> MunicipalState:
        """Return how the polygons lie to the municipalities, from how their parts' corners do."""
        none, k = np.zeros(0, dtype=np.int64), len(self.sites)
        near = self.finder.line_distances(MUNICIPAL, self.areas, lines.accuracy_ft + 1.0)
        cover, unsure = state.cover[self.starts].copy(), state.unsure[self.starts]
        divided = near <= lines.accuracy_ft + UNSURE_FT
        divided |= np.minimum.reduceat(state.cover, self.starts) != np.maximum.reduceat(state.cover, self.starts)
        divided |= np.logical_or.reduceat(state.unsure, self.starts)
        unsure |= divided & (self.areas.sqft < LEAST_AREA)
        rows = np.flatnonzero(divided & ~unsure & (cover >= 0))
        if not len(rows):
            return MunicipalState(cover, none, none, np.zeros(0), unsure)
        found = municipalities_of_areas(self.finder, lines, self.areas, rows, self.anchors[rows], cover[rows])
        second, shares = np.full(k, -1, dtype=np.int64), np.ones((k, 2))
        cover[rows], unsure[rows] = found.cover, found.unsure
        if found.second is not None and found.shares is not None:
            second[rows], shares[rows] = found.second, found.shares
        return MunicipalState(cover, rows[found.beside], found.municipalities, found.away_ft, unsure, second, shares)

    def _to_points(self, distances: dict[Hashable, Distance], shares: dict[Hashable, Floats]) -> None:
        """Observe the distances to layers of points, each layer's pairs once."""
        layers: dict[Layer, None] = dict.fromkeys(a.layer for a in self.plan.distances if a.layer.lonlat is not None)
        joined = _joined(self.plan)
        for layer in layers:
            asked = [a for a in self.plan.distances if a.layer is layer]
            reach = station_reach_ft(self.plan, layer, self.limit_ft)
            if self.points:
                rows, features = self.finder.stations(layer, reach)
            else:
                near = shapely.STRtree(layer.points)
                found = near.query(self.sites.geometries, predicate="dwithin", distance=reach / FT_PER_FTUS)
                order = np.lexsort([found[1], found[0]])
                rows, features = found[0][order], found[1][order]
            sets = [c for a in asked for c in (a.possible, a.sure, a.features, a.features[~a.doubtful], *a.share_sets)]
            unique = list({chosen.tobytes(): chosen for chosen in sets}.values())
            pairs = station_pairs(layer, unique, self.sites, rows, features)
            for question in asked:
                distances[question.key] = distances_of(question, pairs, len(self.sites), limit_ft=self.limit_ft)
                for radius in question.shares:
                    shares[question.key, radius] = shares_of(question, radius, pairs, self.sites, joined=joined)

    def _to_polygons(self, distances: dict[Hashable, Distance], shares: dict[Hashable, Floats]) -> None:
        """Observe the distances to layers of polygons: one site of each class, and those that stand alone."""
        for number, asked in enumerate(self.plan.distances):
            if asked.layer.lonlat is not None:
                continue
            classes = self.finder.distance_class(number)[self.starts]
            if not self.points:
                across = self.areas.across_ft
                classes = np.where(across > CLASS_SLACK_FT, -1, classes)
                large = np.flatnonzero((across > CLASS_SLACK_FT) & (across <= WIDE_SLACK_FT))
                wide = wide_classes(self.plan, asked, self.areas.boxes[large, :2], self.limit_ft)
                # An index numbers its classes by itself: a class of large sites never is one of those.
                classes[large] = np.where(wide < 0, -1, wide + int(classes.max(initial=-1)) + 1)
            # The first of each class stands for all of it.
            first = np.full(int(classes.max(initial=-1)) + 1, len(classes), dtype=np.int64)
            common = np.flatnonzero(classes >= 0)
            first[classes[common[::-1]]] = common[::-1]
            own = classes < 0
            own[first[first < len(classes)]] = True
            rows = np.flatnonzero(own)
            position = np.cumsum(own) - 1
            position[common] = position[first[classes[common]]]
            leaves = leaves_of(self.plan.bound, self.plan.atlas, some(self.sites, rows))
            found = leaves.distance(asked.where)
            if found is None:
                raise AssertionError(asked.layer.id)
            distances[asked.key] = _taken(found, position)
            for radius in asked.shares:
                exact = exact_shares(asked, radius, leaves.sites, joined=_joined(self.plan))
                shares[asked.key, radius] = exact[:, position]
