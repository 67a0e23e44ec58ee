"""How much of many polygons lies on ground whose line is near them or cuts them, between bounds.

The share on the ground is worked out exactly. What is left of it, or added to it, once the line may be some feet off
is found between two bounds, for the circles that stand for it have corners. Where a bound and the other would be told
apart by any test, whoever asks must measure the site by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.bulkarea import Outlines, areas_on_ground, farthest_corners
from grownj_geo.bulkline import chains, starts_of
from grownj_geo.outcomes import SLIVER_SQFT
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.bulkarea import Areas

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

__all__ = ["LEAST_AREA", "Shares", "meeting", "near_reach_ft", "shares_on_ground", "undecided"]

LEAST_AREA = 1.0
"""Square US survey feet: what is smaller is measured by itself."""

_HALF = 0.5
# Shares below this, and as near to all, are the noise of an overlay to whoever measures one site.
_NOISE = 1e-9
_GUARD = 1e-9
# A buffer's circles have corners, and its lines are simplified by up to a hundredth of its width first.
_NARROW, _WIDE, _SEGMENTS = 0.975, 1.03, 8
_INSIDE = 0.98


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of k polygons on a ground, arrays of shape (k,).

    Attributes
    ----------
    share
        The share on the ground.
    low_least, low_most
        Bounds of the share that is surely on it, the line being some feet off at most.
    high_least, high_most
        Bounds of the share that is possibly on it.
    """

    share: Floats
    low_least: Floats
    low_most: Floats
    high_least: Floats
    high_most: Floats

    @classmethod
    def whole(cls, inside: Flags) -> Shares:
        """Return the shares of polygons that are on the ground or off it, and so are whatever their line is off by."""
        return cls(*(inside.astype(np.float64) for _ in range(5)))

    def put(self, rows: Ints, found: Shares) -> None:
        """Put the shares of some polygons in their places."""
        for name in ("share", "low_least", "low_most", "high_least", "high_most"):
            getattr(self, name)[rows] = getattr(found, name)


def undecided(least: Floats, most: Floats, areas_sqft: Floats, *, noise: bool) -> Flags:
    """Return where shares between two bounds, both included, would be told apart by a test that anybody makes.

    Parameters
    ----------
    least, most
        The bounds, shape (k,).
    areas_sqft
        Whole areas, of which slivers are taken off.
    noise
        Whether a share that is greater than the noise of an overlay by any amount counts.
    """
    sliver = SLIVER_SQFT / np.maximum(areas_sqft, 2 * SLIVER_SQFT)
    found = ~(least <= most)
    tests: list[Floats | float] = [sliver, 1.0 - sliver, _HALF]
    if noise:
        tests += [_NOISE, 1.0 - _NOISE]
    for test in tests:
        slack = _GUARD * np.minimum(1.0, np.minimum(test, 1.0 - np.asarray(test)) / (2 * _NOISE))
        found |= (least - slack <= test) & (most + slack >= test)
    return found


def meeting(boxes: Floats, edges: Floats) -> Flags:
    """Return which edges' boxes meet which boxes, pair by pair; both of shape (p, 4)."""
    return np.asarray(
        (np.minimum(edges[:, 0], edges[:, 2]) <= boxes[:, 2])
        & (np.maximum(edges[:, 0], edges[:, 2]) >= boxes[:, 0])
        & (np.minimum(edges[:, 1], edges[:, 3]) <= boxes[:, 3])
        & (np.maximum(edges[:, 1], edges[:, 3]) >= boxes[:, 1])
    )


def near_reach_ft(tolerance_ft: float) -> float:
    """Return how far from a polygon edges have a say in its shares on a ground whose line may be some feet off."""
    return tolerance_ft * _WIDE + 1.0


def shares_on_ground(
    areas: Areas, edges: Floats, near: tuple[Ints, Ints], anchors: Floats, inside: Flags, *, tolerance_ft: float
) -> Shares:
    """Return the shares of some polygons on a ground.

    Parameters
    ----------
    areas
        The polygons, k of them.
    edges
        The ground's edges, shape (m, 4).
    near
        Pairs of a polygon and an edge, in order and each once: all edges that meet the polygon's box, and those within
        `near_reach_ft` that are nearest to some place of it.
    anchors, inside
        A corner of each polygon, shape (k, 2), on no line, and whether it is on the ground.
    tolerance_ft
        How far the line may be off.
    """
    row, edge = near
    at = edges[edge]
    met = np.flatnonzero(meeting(areas.boxes[row], at))
    cut = _Cut(areas, anchors, inside, row[met], at[met])
    share = cut.ground / areas.sqft
    share[share < _NOISE] = 0.0
    share[share > 1 - _NOISE] = 1.0
    found = Shares(*(share.copy() for _ in range(5)))
    if tolerance_ft <= 0 or not len(row):
        return found
    width = tolerance_ft / FT_PER_FTUS
    # A site all of which is near one edge may be wholly in, and wholly out.
    lost = np.zeros(len(share), dtype=bool)
    lost[row[farthest_corners(cut.outlines, row, at) <= _INSIDE * width]] = True
    found.low_least[lost] = found.low_most[lost] = 0.0
    found.high_least[lost] = found.high_most[lost] = 1.0
    reach = np.array([-1.0, -1.0, 1.0, 1.0]) * width * _WIDE
    kept = ~lost[row] & meeting(areas.boxes[row] + reach, at)
    if kept.any():
        row, edge, at = row[kept], edge[kept], at[kept]
        first = starts_of(row)
        # Edges that follow one another make a line.
        joined = (row[1:] == row[:-1]) & (edge[1:] == edge[:-1] + 1) & (at[1:, :2] == at[:-1, 2:]).all(axis=1)
        begins = np.r_[True, ~joined]
        which = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(row))))
        lines = shapely.multilinestrings(chains(at, np.cumsum(begins) - 1), indices=which[begins])
        which = row[first]
        for factor, low, high in (
            (_NARROW, found.low_most, found.high_least),
            (_WIDE, found.low_least, found.high_most),
        ):
            on, off = cut.beside(which, shapely.buffer(lines, width * factor, quad_segs=_SEGMENTS))
            low[which] = np.maximum(cut.ground[which] - on, 0.0) / areas.sqft[which]
            high[which] = np.minimum((cut.ground[which] + off) / areas.sqft[which], 1.0)
    return found


class _Cut:
    """Polygons, and the edges of a ground that meet their boxes."""

    def __init__(self, areas: Areas, anchors: Floats, inside: Flags, row: Ints, at: Floats) -> None:
        self.areas, self.anchors, self.inside, self.row, self.at = areas, anchors, inside, row, at
        self.outlines = Outlines.of(areas.shapes)
        self.ground = areas_on_ground(self.outlines, areas.sqft, anchors, inside, row, at)

    def beside(self, which: Ints, bands: NDArray[np.object_]) -> tuple[Floats, Floats]:
        """Return how much of some polygons lies in bands of their own: on the ground, and off it."""
        near = shapely.intersection(self.areas.shapes[which], bands)
        whole = np.asarray(shapely.area(near))
        place = np.full(len(self.inside), -1, dtype=np.int64)
        place[which] = np.arange(len(which))
        kept = np.flatnonzero(place[self.row] >= 0)
        on = areas_on_ground(
            Outlines.of(near), whole, self.anchors[which], self.inside[which], place[self.row[kept]], self.at[kept]
        )
        return on, whole - on
