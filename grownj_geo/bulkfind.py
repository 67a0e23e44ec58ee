"""Finding what lies near many places at once, with trees: the way that needs no index and that an index must equal."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol
from weakref import WeakKeyDictionary

import numpy as np
import shapely

from grownj_geo.bulkline import Lines, Source, edges_of, expanded, nearest_edges, squared_to_edges, starts_of
from grownj_geo.bulkmeasure import GroundState, leaves_of, pair_reach_ft, table_of
from grownj_geo.place import municipalities_by_code
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from collections.abc import Hashable
    from datetime import date

    from numpy.typing import NDArray

    from grownj_geo.atlas import Atlas
    from grownj_geo.bulkarea import Areas
    from grownj_geo.bulkplan import DistanceQuestion, Plan
    from grownj_geo.layer import Layer

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

__all__ = [
    "CLASS_SLACK_FT",
    "MUNICIPAL",
    "WIDE_SLACK_FT",
    "Finder",
    "Index",
    "MunicipalLines",
    "MunicipalState",
    "TreeFinder",
    "distance_classes",
    "ground_name",
    "line_distances_ft",
    "lines_about",
    "municipal_state",
    "part_corners",
    "station_reach_ft",
    "wide_classes",
]

_MOST_LINES = 50_000
_EDGE_FT = 1e-6
_SCATTER = np.uint64(0x9E3779B97F4A7C15)
CLASS_SLACK_FT = 800.0
"""How large a polygon may be and still be of the class of its first corner's square."""
WIDE_SLACK_FT = 3_000.0
"""The same for the classes that are made for large polygons alone."""

MUNICIPAL = "municipal"
"""The lines of the municipalities, as finders and indexes know them."""

_COARSE_FT, _FINE_FT = 4_096.0, 1_024.0


def ground_name(number: int) -> str:
    """Return what finders and indexes know the lines of one of the plan's grounds by."""
    return f"ground{number}"


@dataclass(frozen=True, eq=False)
class MunicipalState:
    """How some places lie to the municipalities.

    Attributes
    ----------
    cover
        Position of the municipality that covers the place, shape (k,); -1 for none.
    beside, municipalities, away_ft
        For each other municipality whose line is within the lines' accuracy: the place, the municipality, and feet.
        In order of the places.
    unsure
        Whether the place has to be looked at with exact geometry, shape (k,).
    second, shares
        Of polygons: the municipality that another part of it is in, -1 for none, shape (k,), and the shares of both
        parts, shape (k, 2). None for points.
    """

    cover: Ints
    beside: Ints
    municipalities: Ints
    away_ft: Floats
    unsure: Flags
    second: Ints | None = None
    shares: Floats | None = None


class Finder(Protocol):
    """Finds what lies near k places."""

    def ground(self, number: int) -> GroundState:
        """Return how the places lie to one of the plan's grounds."""

    def municipal(self) -> MunicipalState:
        """Return how the places lie to the municipalities."""

    def stations(self, layer: Layer, reach_ft: float) -> tuple[Ints, Ints]:
        """Return places and features of a layer of points that may be within reach, in order of the places."""

    def distance_class(self, number: int) -> Ints:
        """Return for one of the plan's distances to polygons which places are alike; -1 for those that stand alone."""

    def line_distances(self, name: str, areas: Areas, reach_ft: float) -> Floats:
        """Return how far polygons are from the nearest line of that name, shape (n,); infinite beyond the reach."""

    def edges_about(self, name: str, areas: Areas, rows: Ints, reach_ft: float) -> tuple[Ints, Ints]:
        """Return pairs of one of some polygons, by its place in `rows`, and an edge: in order, each once.

        Every edge that meets the polygon's box is among them, and for every place of the polygon the edge that is
        nearest, unless it is beyond the reach. The reach is no more than what margins and tolerances need.
        """

    def lines(self, name: str) -> Lines:
        """Return the lines of that name."""


class Index(Protocol):
    """Knows what lies near places in some part of the world."""

    def inside(self, xy: Floats) -> Flags:
        """Return which places, shape (k, 2), it knows."""

    def finder(self, plan: Plan, xy: Floats) -> Finder:
        """Return what finds the lines near places that it knows."""


@dataclass(frozen=True, eq=False)
class MunicipalLines:
    """The municipalities of a day, and their lines.

    Attributes
    ----------
    source, features
        Where the polygons are, and which are meant, in order of their codes.
    codes
        Their codes.
    accuracy_ft
        How far their lines may be from the truth.
    """

    source: Source
    features: Ints
    codes: tuple[str, ...]
    accuracy_ft: float

    @classmethod
    def of(cls, atlas: Atlas) -> MunicipalLines | None:
        """Return the municipalities of an atlas; None where they cannot be used."""
        layer = atlas.layer("municipalities")
        if layer is None:
            return None
        kept = _municipal.setdefault(layer, {})
        if atlas.as_of not in kept:
            features, codes, _ = municipalities_by_code(layer, atlas.as_of)
            kept[atlas.as_of] = cls(Source(layer), features, codes, layer.manifest.accuracy_ft or 0.0)
        return kept[atlas.as_of]

    @cached_property
    def areas(self) -> NDArray[np.object_]:
        """The polygons."""
        return np.array([self.source.geometry(int(i)) for i in self.features], dtype=object)

    @cached_property
    def edges(self) -> tuple[Floats, Ints]:
        """Every edge, and the position of its municipality."""
        return edges_of(self.areas)

    @cached_property
    def lines(self) -> Lines:
        """All lines, of one municipality each."""
        return Lines.of(*self.edges)

    @cached_property
    def shared(self) -> Flags:
        """Which edges are one other municipality's edge too, the other way round: no gap is there, and no overlap."""
        edges, owners = self.edges
        way, back = _edge_marks(edges), _edge_marks(edges[:, [2, 3, 0, 1]])
        order = np.argsort(way)
        ordered = way[order]
        at = np.minimum(np.searchsorted(ordered, back), len(edges) - 1)
        once = np.searchsorted(ordered, back, side="right") - at == 1
        alone = np.searchsorted(ordered, way, side="right") - np.searchsorted(ordered, way) == 1
        other = order[at]
        same = (edges[other] == edges[:, [2, 3, 0, 1]]).all(axis=1)
        return np.asarray(once & alone & same & (owners[other] != owners))


def _edge_marks(edges: Floats) -> NDArray[np.uint64]:
    """Return a number for each edge, the same for the same edge; seldom for two."""
    mark = np.zeros(len(edges), dtype=np.uint64)
    for column in np.ascontiguousarray(edges.T + 0.0):
        # A product and a shift scatter the bits.
        mark = (mark ^ column.view(np.uint64)) * _SCATTER
        mark ^= mark >> np.uint64(29)
    return mark


# Of layers that are in use only.
_municipal: WeakKeyDictionary[Layer, dict[date, MunicipalLines]] = WeakKeyDictionary()


class TreeFinder:
    """Finds what lies near places with trees.

    Parameters
    ----------
    plan
        What is asked.
    lines
        The municipalities; None where they cannot be used.
    xy
        The places, shape (k, 2), in EPSG:3424.
    limit_ft
        Lines farther off than this, and than their own tolerance, need not be found.
    """

    def __init__(self, plan: Plan, lines: MunicipalLines | None, xy: Floats, limit_ft: float) -> None:
        self.plan, self.municipalities, self.xy, self.limit_ft = plan, lines, xy, limit_ft

    @cached_property
    def _tree(self) -> shapely.STRtree:
        return shapely.STRtree(shapely.points(self.xy))

    def _near(self, lines: Lines, reach_ft: float) -> tuple[Ints, Ints]:
        """Return the pairs of places and edges within reach."""
        # Lines of a few edges are made once for a layer; an object for each edge costs more than the question.
        reach = reach_ft / FT_PER_FTUS
        places, near = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        line, place = self._tree.query(lines.shapes, predicate="dwithin", distance=reach)
        for begin in range(0, len(line), _MOST_LINES):
            part = line[begin : begin + _MOST_LINES]
            pair, edge = expanded(lines.first[part], lines.count[part])
            at = place[begin : begin + _MOST_LINES][pair]
            within = squared_to_edges(self.xy[at], lines.edges[edge]) <= reach**2
            places.append(at[within])
            near.append(edge[within])
        return np.concatenate(places), np.concatenate(near)

    def ground(self, number: int) -> GroundState:
        """Return how the places lie to one of the plan's grounds."""
        k, ground = len(self.xy), self.plan.grounds[number]
        if ground.empty or not k:
            return GroundState(np.zeros(k, dtype=bool), np.full(k, np.inf), np.zeros(k, dtype=bool))
        inside = shapely.intersects_xy(ground.area, self.xy[:, 0], self.xy[:, 1])
        away, unsure = np.full(k, np.inf), np.zeros(k, dtype=bool)
        reach = max(self.limit_ft, self.plan.tolerances_ft[number]) + 1.0
        places, near = self._near(ground.lines, reach)
        if len(places):
            order = np.argsort(places, kind="stable")
            places, near = places[order], near[order]
            first = starts_of(places)
            rows = places[first]
            found = nearest_edges(self.xy[rows], ground.edges, near, first, np.diff(np.append(first, len(places))))
            away[rows], inside[rows], unsure[rows] = found.distance * FT_PER_FTUS, found.inside, found.unsure
        return GroundState(inside, away, unsure)

    def municipal(self) -> MunicipalState:
        """Return how the places lie to the municipalities."""
        if self.municipalities is None:
            raise AssertionError("no municipalities")
        k, lines = len(self.xy), self.municipalities
        owner, places = self._tree.query(lines.areas, predicate="intersects")
        covered = np.bincount(places, minlength=k)
        cover = np.full(k, -1, dtype=np.int64)
        cover[places] = owner
        edges, owners = lines.edges
        places, near = self._near(lines.lines, lines.accuracy_ft + 1.0)
        order = np.lexsort([owners[near], places])
        near, places = near[order], places[order]
        first = starts_of(places * len(lines.codes) + owners[near])
        ranges = (near, first, np.diff(np.append(first, len(near))))
        of = owners[near[first]]
        return municipal_state(lines.accuracy_ft, self.xy, edges, ranges, places[first], of, cover, covered)

    def stations(self, layer: Layer, reach_ft: float) -> tuple[Ints, Ints]:
        """Return places and features of a layer of points that may be within reach, in order of the places."""
        features, places = self._tree.query(layer.points, predicate="dwithin", distance=reach_ft / FT_PER_FTUS)
        order = np.lexsort([features, places])
        return places[order], features[order]

    def distance_class(self, number: int) -> Ints:
        """Return for one of the plan's distances to polygons which places are alike; -1 for those that stand alone."""
        asked, k = self.plan.distances[number], len(self.xy)
        found = np.full(k, -1, dtype=np.int64)
        for side in (_COARSE_FT, _FINE_FT):
            rows = np.flatnonzero(found < 0)
            if not len(rows):
                break
            cells, which = np.unique(np.floor(self.xy[rows] / side), axis=0, return_inverse=True)
            centres = (cells + 0.5) * side
            found[rows] = distance_classes(self.plan, asked, centres, side, self.limit_ft)[which.ravel()]
        return found

    def line_distances(self, name: str, areas: Areas, reach_ft: float) -> Floats:
        """Return how far polygons are from the nearest line of that name, shape (n,); infinite beyond the reach."""
        return line_distances_ft(self.lines(name), areas.shapes, reach_ft)

    def edges_about(self, name: str, areas: Areas, rows: Ints, reach_ft: float) -> tuple[Ints, Ints]:
        """Return pairs of one of some polygons, by its place in `rows`, and an edge within reach of its box."""
        return lines_about(self.lines(name), areas.boxes[rows], reach_ft)

    def lines(self, name: str) -> Lines:
        """Return the lines of that name."""
        if name != MUNICIPAL:
            return self.plan.grounds[int(name.removeprefix(ground_name(0)[:-1]))].lines
        if self.municipalities is None:
            raise AssertionError("no municipalities")
        return self.municipalities.lines


def municipal_state(  # noqa: PLR0917 - arrays that belong together
    accuracy_ft: float,
    xy: Floats,
    edges: Floats,
    near: tuple[NDArray[np.integer], Ints, Ints],
    beside: Ints,
    of: Ints,
    cover: Ints,
    covered: Ints | None,
) -> MunicipalState:
    """Return how places lie to the municipalities, from the edges that are near and the ones that cover them.

    Parameters
    ----------
    accuracy_ft
        How far the lines may be from the truth.
    xy
        The places, shape (k, 2).
    edges
        All edges.
    near
        Positions of edges, and where each pair's range of them begins and how long it is.
    beside, of
        Pairs of a place and a municipality whose line may be near, in order of the places.
    cover
        The municipality that covers each place, -1 for none; of those whose line is not near where `covered` is None.
    covered
        How many cover each place; None where the lines that are near have to say it.
    """
    if not len(beside):
        none = np.zeros(0, dtype=np.int64)
        unsure = cover < 0 if covered is None else covered != 1
        return MunicipalState(cover, none, none, np.zeros(0), unsure)
    found = nearest_edges(xy[beside], edges, *near)
    away = found.distance * FT_PER_FTUS
    if covered is None:
        covered = (cover >= 0) + np.bincount(beside[found.inside], minlength=len(xy))
        cover = cover.copy()
        cover[beside[found.inside]] = of[found.inside]
    unsure = covered != 1
    doubt = found.unsure | (np.abs(away - accuracy_ft) < _EDGE_FT) | (found.inside != (cover[beside] == of))
    unsure[beside[doubt]] = True
    keep = (away <= accuracy_ft) & (of != cover[beside])
    beside, of, away = beside[keep], of[keep], away[keep]
    order = np.lexsort([of, away, beside])
    return MunicipalState(cover, beside[order], of[order], away[order], unsure)


def distance_classes(
    plan: Plan,
    asked: DistanceQuestion,
    centres: Floats,
    side: float,
    limit_ft: float,
    *,
    slack_ft: float = CLASS_SLACK_FT,
) -> Ints:
    """Return which squares lie alike to the radii of a question about polygons; -1 where a square lies across one.

    Parameters
    ----------
    plan, asked
        The plan, and the question.
    centres, side
        Centres of the squares, shape (k, 2), and their side, in US survey feet.
    limit_ft
        A square that is this near to a radius is taken to lie across it.
    slack_ft
        How large a polygon may be that begins in a square and is of its class.
    """
    table = table_of(np.array(shapely.points(centres), dtype=object))
    found = leaves_of(plan.bound, plan.atlas, table).distance(asked.where)
    if found is None:
        raise AssertionError(asked.where.layer)
    reach = side * np.sqrt(0.5) + limit_ft + slack_ft
    number, across = np.zeros(len(centres), dtype=np.int64), np.zeros(len(centres), dtype=bool)
    for feet in (found.near_low, found.near, found.near_high):
        number = 2 * number + np.isnan(feet)
        for radius in asked.every_radius:
            # The plane is off by a few parts in ten thousand.
            across |= np.abs(feet - radius) <= reach + 1e-3 * np.minimum(np.nan_to_num(feet), 1e6)
            number = 2 * number + (feet > radius)
    return np.where(across, -1, number)


def wide_classes(plan: Plan, asked: DistanceQuestion, xy: Floats, limit_ft: float) -> Ints:
    """Return the classes of large polygons, at most `WIDE_SLACK_FT` across, from a corner of their boxes; -1 for none.

    A square is looked at once for all blocks of a table.
    """
    squares = np.floor(xy / _COARSE_FT).astype(np.int64)
    about = (asked.key, asked.features.tobytes(), asked.doubtful.tobytes(), tuple(asked.every_radius), limit_ft)
    known = _wide.setdefault(plan.atlas, {}).setdefault((tuple(sorted(plan.bound.readings.items())), about), {})
    numbers = list(map(tuple, squares.tolist()))
    new = sorted({number for number in numbers if number not in known})
    if new:
        centres = (np.array(new, dtype=np.float64) + 0.5) * _COARSE_FT
        classes = distance_classes(plan, asked, centres, _COARSE_FT, limit_ft, slack_ft=WIDE_SLACK_FT)
        known.update(zip(new, classes.tolist(), strict=True))
    return np.array([known[number] for number in numbers], dtype=np.int64)


# Of atlases that are in use only.
_wide: WeakKeyDictionary[Atlas, dict[Hashable, dict[tuple[int, ...], int]]] = WeakKeyDictionary()


def station_reach_ft(plan: Plan, layer: Layer, limit_ft: float) -> float:
    """Return how far a point of a layer can be from a site and still have a say in any question."""
    radii = [radius for asked in plan.distances if asked.layer is layer for radius in asked.every_radius]
    return pair_reach_ft(layer, radii, limit_ft)


def part_corners(geometries: NDArray[np.object_]) -> tuple[Floats, Ints]:
    """Return a corner of each part of some geometries, shape (m, 2), and whose it is, in order, shape (m,)."""
    parts, owner = shapely.get_parts(geometries, return_index=True)
    xy, part = shapely.get_coordinates(parts, return_index=True)
    return np.asarray(xy[starts_of(part)], dtype=np.float64), np.asarray(owner, dtype=np.int64)


def line_distances_ft(lines: Lines, shapes: NDArray[np.object_], reach_ft: float) -> Floats:
    """Return how far polygons are from the nearest of some lines, shape (n,); infinite beyond the reach."""
    away = np.full(len(shapes), np.inf)
    if len(lines.shapes) and len(shapes):
        found, distance = lines.tree.query_nearest(
            shapes, max_distance=reach_ft / FT_PER_FTUS, return_distance=True, all_matches=False
        )
        away[found[0]] = distance * FT_PER_FTUS
    return away


def lines_about(lines: Lines, boxes: Floats, reach_ft: float) -> tuple[Ints, Ints]:
    """Return pairs of a box and an edge, in order and each once: all edges within reach, and some beside them."""
    none = np.zeros(0, dtype=np.int64)
    if not len(lines.shapes) or not len(boxes):
        return none, none
    found = lines.tree.query(shapely.box(*boxes.T), predicate="dwithin", distance=reach_ft / FT_PER_FTUS)
    order = np.lexsort([found[1], found[0]])
    box, line = found[0][order], found[1][order]
    pair, edge = expanded(lines.first[line], lines.count[line])
    return box[pair], edge
