"""Finding what lies near many places at once in the squares of a cell index: what trees find, looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.bulkfind import MunicipalLines, MunicipalState, municipal_state
from grownj_geo.bulkline import nearest_edges
from grownj_geo.bulkmeasure import GroundState
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.bulkplan import Plan
    from grownj_geo.cells import CellIndex
    from grownj_geo.layer import Layer

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["CellFinder", "covering"]


class CellFinder:
    """Finds what lies near places that are all in the squares of an index."""

    def __init__(self, index: CellIndex, plan: Plan, xy: Floats) -> None:
        self.index, self.plan, self.xy = index, plan, xy
        self.combination = index.combination(xy)

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

    def open_boxes(self, name: str, boxes: Floats) -> NDArray[np.bool_]:
        """Return which boxes a line of a column may come near: those of more than four cells, or with an open one."""
        index = self.index
        wide = index.cells_across(boxes) > 1
        for i in (0, 2):
            for j in (1, 3):
                found = index.combination(boxes[:, [i, j]])
                wide |= (found < 0) | (index.column(name, found) >= 0)
        return wide

    def line_tree(self, number: int) -> shapely.STRtree:
        """Return the lines of one of the plan's grounds."""
        return self.index.tree(f"ground{number}")

    def municipal_tree(self) -> shapely.STRtree:
        """Return the lines of the municipalities."""
        return self.index.tree("municipal")


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
