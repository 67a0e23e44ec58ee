"""Straight lines that stand for a few edges beside a polygon: how far the edges are from them is known.

What of a polygon lies beyond such a line, by so many feet, is farther than these from all edges that the line stands
for; and what lies close to it is near the edges themselves, as far along as they go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.bulkline import expanded, starts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.bulkarea import Outlines

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

__all__ = ["Slabs"]


@dataclass(frozen=True, eq=False)
class Slabs:
    """Straight lines beside k polygons, one each; lengths are US survey feet, to the left of the line.

    Attributes
    ----------
    rows
        The polygons.
    low, high
        Between which all edges lie that were given.
    line_low, line_high
        Between which the line lies that the straight line stands for.
    along
        Whether that line goes on as far as the polygon does.
    corner, first
        Each corner's distance to the left, and where each polygon's corners begin.
    """

    rows: Ints
    low: Floats
    high: Floats
    line_low: Floats
    line_high: Floats
    along: Flags
    corner: Floats
    first: Ints
    _edges: Floats
    _owner: Ints

    @classmethod
    def of(cls, outlines: Outlines, owners: Ints, edge: Ints, lines: Floats, best: Flags) -> Slabs:
        """Return a straight line for each polygon: the longest that edges which follow one another make.

        Parameters
        ----------
        outlines
            The polygons' edges.
        owners, edge, lines
            Pairs of a polygon and an edge's number and the edge itself, in order of both; at least one pair.
        best
            Which edges the straight line is made of, where a polygon has any of them.
        """
        begin = starts_of(owners)
        rows, count = owners[begin], np.diff(np.append(begin, len(owners)))
        which = np.repeat(np.arange(len(rows)), count)
        used = best | ~np.logical_or.reduceat(best, begin)[which]
        # Runs of edges that are used and follow one another.
        at, number = np.flatnonzero(used), edge[used]
        follows = (which[at][1:] == which[at][:-1]) & (number[1:] == number[:-1] + 1)
        follows &= (lines[at[1:], :2] == lines[at[:-1], 2:]).all(axis=1)
        run_first = np.flatnonzero(np.r_[True, ~follows])
        run_last = np.append(run_first[1:], len(at)) - 1
        length = np.hypot(*(lines[at[run_last], 2:] - lines[at[run_first], :2]).T)
        order = np.lexsort([-length, which[at[run_first]]])
        longest = order[starts_of(which[at[run_first]][order])]
        length, first, last = length[longest], at[run_first[longest]], at[run_last[longest]]
        start = lines[first, :2]
        # A ring ends where it began: any direction will do, and it goes along nothing.
        along = (lines[last, 2:] - start) / np.where(length > 0, length, 1.0)[:, None]
        along[length == 0] = (1.0, 0.0)

        def turned(xy: Floats, whose: Ints) -> Floats:
            x, y = (xy - start[whose]).T
            ux, uy = along[whose].T
            return np.column_stack([x * ux + y * uy, y * ux - x * uy])

        ends = np.column_stack([turned(lines[:, :2], which)[:, 1], turned(lines[:, 2:], which)[:, 1]])
        mine = (np.arange(len(owners)) >= first[which]) & (np.arange(len(owners)) <= last[which])
        mine &= used
        least, most = ends.min(axis=1), ends.max(axis=1)
        owner, position = expanded(outlines.first[rows], outlines.count[rows])
        a, b = turned(outlines.edges[position, :2], owner), turned(outlines.edges[position, 2:], owner)
        corners = starts_of(owner)
        reaches = (np.minimum.reduceat(a[:, 0], corners) >= 0) & (np.maximum.reduceat(a[:, 0], corners) <= length)
        return cls(
            rows,
            np.minimum.reduceat(least, begin),
            np.maximum.reduceat(most, begin),
            np.minimum.reduceat(np.where(mine, least, np.inf), begin),
            np.maximum.reduceat(np.where(mine, most, -np.inf), begin),
            reaches,
            a[:, 1],
            corners,
            np.hstack([a, b]),
            owner,
        )

    def beyond(self, left: Floats) -> Floats:
        """Return how much of each polygon lies farther to the left than so much, in square US survey feet."""
        p, q = self._edges[:, 1] - left[self._owner], self._edges[:, 3] - left[self._owner]
        most, least = np.maximum(p, q), np.minimum(p, q)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.where(least >= 0, (p + q) / 2, np.where(most <= 0, 0.0, most * most / (2 * (most - least))))
        part = -mean * (self._edges[:, 2] - self._edges[:, 0])
        return np.maximum(np.add.reduceat(part, self.first), 0.0)

    def ends(self) -> tuple[Ints, Ints]:
        """Return the corner of each polygon that is farthest to the right, and to the left, by its place among all."""
        found = []
        for sign in (1.0, -1.0):
            value = sign * self.corner
            is_end = value == np.minimum.reduceat(value, self.first)[self._owner]
            at = np.flatnonzero(is_end)
            found.append(at[starts_of(self._owner[at])])
        return found[0], found[1]
