"""Polygons that a municipal line cuts or comes near to: their municipalities by areas and distances of edges.

Only what is plain is told: two municipalities that share every line near the site, and a part that reaches farther
than the lines' accuracy, or for certain does not. All else goes to the code that places one site.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.bulkarea import Outlines, areas_on_ground, farthest_corners
from grownj_geo.bulkcut import meeting
from grownj_geo.bulkfind import MUNICIPAL, MunicipalState
from grownj_geo.bulkline import UNSURE_FT, expanded, starts_of
from grownj_geo.bulkslab import Slabs
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.bulkarea import Areas
    from grownj_geo.bulkfind import Finder, MunicipalLines

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

__all__ = ["municipalities_of_areas"]

_EDGE_FT = 1e-6
_EQUAL = 1e-9
_SUM = 1e-7
# A part of less ground than this is none to whoever places one site; between the two the last bits decide.
_NONE_SQFT, _SOME_SQFT = 0.5e-3, 2e-3
# The accuracy, less what the corners of a buffer's circles and its simplified lines may take off.
_SURELY = 0.98
_TWO = 2


def municipalities_of_areas(  # noqa: PLR0917 - what it works with, in order
    finder: Finder, lines: MunicipalLines, areas: Areas, rows: Ints, anchors: Floats, cover: Ints
) -> MunicipalState:
    """Return how some polygons lie to the municipalities.

    Parameters
    ----------
    finder, lines
        What finds the municipal lines, and these.
    areas, rows
        Polygons, and which of them are asked about.
    anchors, cover
        A corner of each, shape (k, 2), on no line, and the one municipality that covers it.
    """
    return _Bordering(finder, lines, areas, rows, anchors, cover).state()


class _Bordering:
    """Works out how k polygons lie to the municipalities."""

    def __init__(  # noqa: PLR0917 - what it works with, in order
        self, finder: Finder, lines: MunicipalLines, areas: Areas, rows: Ints, anchors: Floats, cover: Ints
    ) -> None:
        self.lines, self.anchors, self.cover = lines, anchors, cover
        self.shapes, self.boxes = areas.shapes[rows], areas.boxes[rows]
        self.edges, self.owners = lines.edges
        self.row, self.edge = finder.edges_about(MUNICIPAL, areas, rows, lines.accuracy_ft + 1.0)
        self.outlines = Outlines.of(self.shapes)
        self.whole = np.asarray(shapely.area(self.shapes))
        k = len(rows)
        self.unsure = np.zeros(k, dtype=bool)
        self.main, self.second = cover.copy(), np.full(k, -1, dtype=np.int64)
        self.shares = np.column_stack([np.ones(k), np.zeros(k)])

    def state(self) -> MunicipalState:
        self._divide()
        beside, of, feet = self._near()
        self.unsure[beside[np.abs(feet - self.lines.accuracy_ft) < _EDGE_FT]] = True
        kept = (feet <= self.lines.accuracy_ft) & (of != self.main[beside]) & (of != self.second[beside])
        return MunicipalState(self.main, beside[kept], of[kept], feet[kept], self.unsure, self.second, self.shares)

    def _near(self) -> tuple[Ints, Ints, Floats]:
        """Return pairs of a polygon and a municipality whose line may be near, and feet, in order of the polygons."""
        lines, line = self.lines.lines, self.lines.lines.line[self.edge]
        kept = np.ones(len(line), dtype=bool)
        kept[1:] = (self.row[1:] != self.row[:-1]) | (line[1:] != line[:-1])
        row, line = self.row[kept], line[kept]
        feet = shapely.distance(self.shapes[row], lines.shapes[line]) * FT_PER_FTUS
        of = self.owners[lines.first[line]]
        first = starts_of(row * len(self.lines.codes) + of)
        return row[first], of[first], np.minimum.reduceat(feet, first) if len(first) else feet

    def _divide(self) -> None:
        """Divide the polygons among the municipalities whose lines meet their boxes."""
        met = np.flatnonzero(meeting(self.boxes[self.row], self.edges[self.edge]))
        if not len(met):
            return
        row, edge = self.row[met], self.edge[met]
        # Where every line is one of two municipalities, as many cover each place of the box: the one that it takes.
        self.unsure[row[~self.lines.shared[edge]]] = True
        of = self.owners[edge]
        first = starts_of(row * len(self.lines.codes) + of)
        run = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(row))))
        pair_row, pair_of = row[first], of[first]
        ground = areas_on_ground(
            self.outlines.take(pair_row),
            self.whole[pair_row],
            self.anchors[pair_row],
            self.cover[pair_row] == pair_of,
            run,
            self.edges[edge],
        )
        starts = starts_of(pair_row)
        which, count = pair_row[starts], np.diff(np.append(starts, len(pair_row)))
        whole = self.whole[which]
        self.unsure[which] |= np.abs(np.add.reduceat(ground, starts) - whole) > _SUM * whole + _NONE_SQFT
        most = np.maximum.reduceat(ground, starts)
        is_main = ground == np.repeat(most, count)
        main = np.flatnonzero(is_main)
        double = np.add.reduceat(is_main.astype(np.int64), starts) != 1
        self.unsure[which[double]] = True
        self.main[pair_row[main]] = pair_of[main]
        self.unsure[pair_row[~is_main & (ground > _NONE_SQFT) & (ground < _SOME_SQFT)]] = True
        other = np.flatnonzero(~is_main & (ground >= _SOME_SQFT))
        at = np.searchsorted(which, pair_row[other])
        self.unsure[pair_row[other[count[at] > _TWO]]] = True
        self._parts(pair_row[other], pair_of[other], ground[other], most[at])

    def _parts(self, row: Ints, of: Ints, ground: Floats, main_ground: Floats) -> None:
        """Find which parts outside the main municipality are more than the lines' accuracy can account for."""
        self.unsure[row[main_ground - ground <= _EQUAL * self.whole[row]]] = True
        asked = ~self.unsure[row]
        row, of, ground, main_ground = row[asked], of[asked], ground[asked], main_ground[asked]
        if not len(row):
            return
        accuracy = self.lines.accuracy_ft / FT_PER_FTUS
        mine = np.zeros(len(self.shapes), dtype=bool)
        mine[row] = True
        near = np.flatnonzero(mine[self.row] & (self.owners[self.edge] == self.main[self.row]))
        at, edge = self.row[near], self.edge[near]
        close = farthest_corners(self.outlines, at, self.edges[edge]) <= _SURELY * accuracy
        within = np.zeros(len(self.shapes), dtype=bool)
        within[at[close]] = True
        within |= self._close_to_main(at, edge, _SURELY * accuracy)
        asked = ~within[row]
        row, of, ground, main_ground = row[asked], of[asked], ground[asked], main_ground[asked]
        corners, owner = shapely.get_coordinates(shapely.convex_hull(self.shapes[row]), return_index=True)
        municipalities = self.lines.areas[self.main[row]]
        shapely.prepare(municipalities)
        reach = accuracy + UNSURE_FT
        beyond = np.zeros(len(row), dtype=bool)
        beyond[owner[~shapely.dwithin(municipalities[owner], shapely.points(corners), reach)]] = True
        self.unsure[row[~beyond]] = True
        row, of, ground, main_ground = row[beyond], of[beyond], ground[beyond], main_ground[beyond]
        self.second[row] = of
        self.shares[row] = np.column_stack([main_ground, ground]) / self.whole[row, None]

    def _close_to_main(self, row: Ints, edge: Ints, reach: float) -> Flags:
        """Return which polygons for certain lie wholly in their main municipality and within reach of its line.

        Along a straight line that stands for the municipal one, what is close to it is within reach; what is farther to
        a side is in the municipality where a corner on that side is, if no line of it passes there.
        """
        found = np.zeros(len(self.shapes), dtype=bool)
        met = np.flatnonzero(meeting(self.boxes[row], self.edges[edge]))
        if not len(met):
            return found
        row, edge = row[met], edge[met]
        slabs = Slabs.of(self.outlines, row, edge, self.edges[edge], np.ones(len(row), dtype=bool))
        rows = slabs.rows
        _, position = expanded(self.outlines.first[rows], self.outlines.count[rows])
        near = slabs.along & (slabs.line_high - reach <= slabs.line_low + reach)
        municipalities = self.lines.areas[self.main[rows]]
        shapely.prepare(municipalities)
        right, left = slabs.ends()
        low, high = slabs.line_high - reach, slabs.line_low + reach
        for corner, close, beyond in (
            (right, slabs.corner[right] >= low, low <= slabs.low),
            (left, slabs.corner[left] <= high, high >= slabs.high),
        ):
            inside = shapely.intersects_xy(municipalities, *self.outlines.edges[position[corner], :2].T)
            near &= close | (beyond & inside & _clear(slabs, corner))
        found[rows] = near
        return found


def _clear(slabs: Slabs, corner: Ints) -> Flags:
    """Return which corners lie beyond all edges that were given."""
    away = slabs.corner[corner]
    return np.asarray((away < slabs.low) | (away > slabs.high))
