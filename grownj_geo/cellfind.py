"""Finding what lies near many places at once in the squares of a cell index: what trees find, looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.bulkfind import (
    MUNICIPAL,
    MunicipalLines,
    MunicipalState,
    line_distances_ft,
    lines_about,
    municipal_state,
)
from grownj_geo.bulkline import expanded, nearest_edges, starts_of
from grownj_geo.bulkmeasure import GroundState
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.bulkarea import Areas
    from grownj_geo.bulkline import Lines
    from grownj_geo.bulkplan import Plan
    from grownj_geo.cells import CellIndex
    from grownj_geo.layer import Layer

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["CellFinder", "covering"]

_MOST_CELLS = 256
"""Polygons over more cells than this are better looked for with trees."""


class CellFinder:
    """Finds what lies near places that are all in the squares of an index."""

    def __init__(self, index: CellIndex, plan: Plan, xy: Floats) -> None:
        self.index, self.plan, self.xy = index, plan, xy
        self.combination = index.combination(xy)
        self._under: tuple[Areas, tuple[Ints, Ints, NDArray[np.bool_]]] | None = None

    def _entries(self, name: str) -> Ints:
        return self.index.column(name, self.combination).astype(np.int64)

    def ground(self, number: int) -> GroundState:
        """Return how the places lie to one of the plan's grounds."""
        name, k = f"ground{number}", len(self.xy)
        entries = self._entries(name)
        inside, away, unsure = entries == -2, np.full(k, np.inf), np.zeros(k, dtype=bool)  # noqa: PLR2004 - in it
        rows = np.flatnonzero(entries >= 0)
        if len(rows):
            items, item = self.index.items(name), entries[rows]
            edges = np.asarray(self.index.array(f"{name}.edges"), dtype=np.float64)
            found = nearest_edges(
                self.xy[rows], edges, items.members, items.first[item], items.count[item].astype(np.int64)
            )
            away[rows], inside[rows], unsure[rows] = found.distance * FT_PER_FTUS, found.inside, found.unsure
        return GroundState(inside, away, unsure)

    def municipal(self) -> MunicipalState:
        """Return how the places lie to the municipalities."""
        index, entries = self.index, self._entries("municipal")
        cover = np.where(entries <= -2, -2 - entries, -1)  # noqa: PLR2004 - as the column says it
        rows = np.flatnonzero(entries >= 0)
        groups = np.asarray(index.array("municipal.groups"), dtype=np.int64)[entries[rows]]
        cover[rows] = groups[:, 2]
        counts = groups[:, 1]
        beside = np.repeat(rows, counts)
        within = np.arange(len(beside)) - np.repeat(np.cumsum(counts) - counts, counts)
        at = np.repeat(groups[:, 0], counts) + within
        items = index.items("municipal")
        of = np.asarray(index.array("municipal.owner"), dtype=np.int64)[at]
        lines = MunicipalLines.of(self.plan.atlas)
        if lines is None:
            raise AssertionError("no municipalities")
        return municipal_state(
            lines.accuracy_ft,
            self.xy,
            np.asarray(index.array("municipal.edges"), dtype=np.float64),
            (items.members, items.first[at], items.count[at].astype(np.int64)),
            beside,
            of,
            cover,
            None,
        )

    def stations(self, layer: Layer, reach_ft: float) -> tuple[Ints, Ints]:
        """Return places and features of a layer of points that may be within reach, in order of the places."""
        del reach_ft  # the index was built with it
        name = f"points.{layer.id}"
        entries = self._entries(name)
        rows = np.flatnonzero(entries >= 0)
        items, item = self.index.items(name), entries[rows]
        counts = items.count[item].astype(np.int64)
        places = np.repeat(rows, counts)
        at = np.repeat(items.first[item] - (np.cumsum(counts) - counts), counts) + np.arange(len(places))
        return places, items.members[at].astype(np.int64)

    def distance_class(self, number: int) -> Ints:
        """Return for one of the plan's distances to polygons which places are alike; -1 for those that stand alone."""
        entries = self._entries(f"distance{number}")
        return np.where(entries >= 0, -1, -1 - entries)

    def line_distances(self, name: str, areas: Areas, reach_ft: float) -> Floats:
        """Return how far polygons are from the nearest line of that name, shape (n,); infinite beyond the reach."""
        lines = self.lines(name)
        away = np.full(len(areas.shapes), np.inf)
        rows, edges, wide = self._edges_under(name, areas, None)
        if len(rows):
            # A few edges at a time make a line, each once for each polygon.
            line = lines.line[edges]
            again = (rows[1:] == rows[:-1]) & (line[1:] == line[:-1])
            kept = np.r_[True, ~again]
            pairs = np.unique(rows[kept] * len(lines.shapes) + line[kept])
            rows, line = pairs // len(lines.shapes), pairs % len(lines.shapes)
            box, other = areas.boxes[rows], lines.bounds[line]
            gap = np.maximum(np.maximum(box[:, :2] - other[:, 2:], other[:, :2] - box[:, 2:]), 0.0)
            kept = np.hypot(gap[:, 0], gap[:, 1]) <= reach_ft / FT_PER_FTUS
            rows, line = rows[kept], line[kept]
        if len(rows):
            first = starts_of(rows)
            feet = shapely.distance(areas.shapes[rows], lines.shapes[line]) * FT_PER_FTUS
            away[rows[first]] = np.minimum.reduceat(feet, first)
            away[away > reach_ft] = np.inf
        if wide.any():
            away[wide] = line_distances_ft(lines, areas.shapes[wide], reach_ft)
        return away

    def edges_about(self, name: str, areas: Areas, rows: Ints, reach_ft: float) -> tuple[Ints, Ints]:
        """Return pairs of one of some polygons, by its place in `rows`, and an edge that may count near it."""
        place, edges, wide = self._edges_under(name, areas, rows)
        count = len(self.index.array(f"{name}.edges"))
        key = place * count + edges
        if wide.any():
            which = np.flatnonzero(wide)
            box, more = lines_about(self.lines(name), areas.boxes[rows[which]], reach_ft)
            key = np.concatenate([key, which[box] * count + more])
        key = np.unique(key)
        return key // count, key % count

    def _edges_under(self, name: str, areas: Areas, rows: Ints | None) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        """Return pairs of a polygon and an edge in a cell under its box, and which polygons trees have to look for."""
        row, combination, wide = self._cells_of(areas)
        if rows is not None:
            place = np.full(len(wide), -1, dtype=np.int64)
            place[rows] = np.arange(len(rows))
            kept = place[row] >= 0
            row, combination, wide = place[row[kept]], combination[kept], wide[rows]
        entry = self.index.column(name, combination).astype(np.int64)
        is_open = entry >= 0
        row, entry = row[is_open], entry[is_open]
        # Cells beside one another often have the same edges.
        again = np.zeros(len(row), dtype=bool)
        again[1:] = (row[1:] == row[:-1]) & (entry[1:] == entry[:-1])
        row, entry = row[~again], entry[~again]
        if name == MUNICIPAL:
            groups = np.asarray(self.index.array("municipal.groups"), dtype=np.int64)
            pair, entry = expanded(groups[entry, 0], groups[entry, 1])
            row = row[pair]
        items = self.index.items(name)
        pair, at = expanded(items.first[entry], items.count[entry].astype(np.int64))
        return row[pair], items.members[at].astype(np.int64), wide

    def _cells_of(self, areas: Areas) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        if self._under is None or self._under[0] is not areas:
            self._under = (areas, self.index.cells_under(areas.boxes, _MOST_CELLS))
        return self._under[1]

    def lines(self, name: str) -> Lines:
        """Return the lines of that name."""
        if name != MUNICIPAL:
            return self.index.lines(name)
        lines = MunicipalLines.of(self.plan.atlas)
        if lines is None:
            raise AssertionError("no municipalities")
        return lines.lines


def covering(index: CellIndex, plan: Plan, points: NDArray[np.object_]) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the municipality that covers each of some points, shape (k,), and which points only exact geometry knows.

    Raises
    ------
    ValueError
        If a site is no point.
    """
    xy = np.empty((len(points), 2))
    xy[:, 0], xy[:, 1] = shapely.get_x(points), shapely.get_y(points)
    # What is no point has no coordinates of its own.
    strange = np.isnan(xy[:, 0])
    if strange.any() and (shapely.get_type_id(points[strange]) != shapely.GeometryType.POINT).any():
        raise ValueError("A site is no point; expected points only. Use evaluate_many for polygons.")
    combination = index.combination(xy)
    entries = index.column("municipal", combination)
    cover = np.where(entries <= -2, -2 - entries, -1).astype(np.int64)  # noqa: PLR2004 - as the column says it
    unsure = combination < 0
    # Most of a square that a line comes near is far enough from it.
    near = np.flatnonzero((entries >= 0) & ~unsure)
    cover[near] = index.array("municipal.parts")[entries[near], index.parts(xy[near])]
    rows = near[cover[near] < 0]
    state = CellFinder(index, plan, xy[rows]).municipal()
    cover[rows] = state.cover
    unsure[rows[state.unsure]] = True
    return cover, unsure
