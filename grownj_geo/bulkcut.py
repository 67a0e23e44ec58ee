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
from grownj_geo.bulkline import chains, expanded, nearest_edges, starts_of
from grownj_geo.bulkslab import Slabs
from grownj_geo.outcomes import SLIVER_SQFT
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.bulkarea import Areas
    from grownj_geo.bulkline import Lines

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

__all__ = ["LEAST_AREA", "Shares", "meeting", "near_reach_ft", "shares_on_ground", "tellable", "undecided"]

LEAST_AREA = 1.0
"""Square US survey feet: what is smaller is measured by itself."""

_HALF = 0.5
# Shares below this, and as near to all, are the noise of an overlay to whoever measures one site.
_NOISE = 1e-9
_GUARD = 1e-9
# A buffer's circles have corners, and its lines are simplified by up to a hundredth of its width first: where a line
# bends by less than that. Other corners are rounded to a thousandth.
_NARROW, _WIDE, _SEGMENTS = 0.975, 1.05, 4
_CLOSE_BELOW, _CLOSE_ABOVE, _CLOSE_SEGMENTS = 0.9965, 1.005, 16
_SIMPLIFIED = 0.0102
_INSIDE = 0.98
_DEEP_FT = 200.0


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


def undecided(least: Floats, most: Floats, areas_sqft: Floats, *, noise: bool, half: bool = True) -> Flags:
    """Return where shares between two bounds, both included, would be told apart by a test that anybody makes.

    Parameters
    ----------
    least, most
        The bounds, shape (k,).
    areas_sqft
        Whole areas, of which slivers are taken off.
    noise
        Whether a share that is greater than the noise of an overlay by any amount counts.
    half
        Whether more than half counts.
    """
    sliver = SLIVER_SQFT / np.maximum(areas_sqft, 2 * SLIVER_SQFT)
    found = ~(least <= most)
    tests: list[Floats | float] = [sliver, 1.0 - sliver]
    if half:
        tests.append(_HALF)
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


def tellable(tolerance_ft: float, known_ft: float) -> bool:
    """Return whether lines known this far from a polygon are enough to tell its shares, buffers being inexact."""
    return tolerance_ft * (1.0 + _SIMPLIFIED) <= known_ft


def near_reach_ft(tolerance_ft: float) -> float:
    """Return how far from a polygon edges have a say in its shares on a ground whose line may be some feet off."""
    return tolerance_ft * _WIDE + (_DEEP_FT if tolerance_ft > 0 else 1.0)


def shares_on_ground(
    areas: Areas,
    lines: Lines,
    near: tuple[Ints, Ints],
    anchors: Floats,
    inside: Flags,
    *,
    tolerance_ft: float,
    known_ft: float,
    half: bool = True,
) -> Shares:
    """Return the shares of some polygons on a ground.

    Parameters
    ----------
    areas
        The polygons, k of them.
    lines
        The ground's lines.
    near
        Pairs of a polygon and an edge, in order and each once: all edges that meet the polygon's box, and those within
        `near_reach_ft` and `known_ft` that are nearest to some place of it.
    anchors, inside
        A corner of each polygon, shape (k, 2), on no line, and whether it is on the ground.
    tolerance_ft
        How far the line may be off.
    known_ft
        How far from each place the nearest edge is looked for: one that is farther off may not be among the pairs.
    half
        Whether it is asked if more than half is surely, or possibly, on the ground.
    """
    row, edge = near
    at = lines.edges[edge]
    met = np.flatnonzero(meeting(areas.boxes[row], at))
    cut = _Cut(areas, anchors, inside, row[met], at[met])
    share = cut.ground / areas.sqft
    share[share < _NOISE] = 0.0
    share[share > 1 - _NOISE] = 1.0
    found = Shares(*(share.copy() for _ in range(5)))
    if tolerance_ft <= 0:
        return found
    width = tolerance_ft / FT_PER_FTUS
    reach = np.array([-1.0, -1.0, 1.0, 1.0]) * width * _WIDE
    close = np.flatnonzero(meeting(areas.boxes[row] + reach, at))
    if not len(close):
        return found
    rows = row[close[starts_of(row[close])]]
    found.low_least[rows], found.high_most[rows] = 0.0, 1.0
    # Where no corner near the site is one that buffers leave out, they are told more closely.
    bent = np.minimum(lines.bends[edge[close]], lines.bends[edge[close] - 1]) > _SIMPLIFIED * width
    sharp = np.zeros(len(share), dtype=bool)
    sharp[rows] = np.logical_and.reduceat(bent, starts_of(row[close]))
    below, above = width * np.where(sharp, _CLOSE_BELOW, _NARROW), width * np.where(sharp, _CLOSE_ABOVE, _WIDE)
    _by_straight_lines(found, cut, (row, edge, at), close, (below, above), known_ft)
    # A site all of which is near one edge may be wholly in, and wholly out.
    lost = np.zeros(len(share), dtype=bool)
    lost[row[close][farthest_corners(cut.outlines, row[close], at[close]) <= _INSIDE * width]] = True
    found.low_least[lost] = found.low_most[lost] = 0.0
    found.high_least[lost] = found.high_most[lost] = 1.0
    every = np.ones(len(share))
    for some, widths, segments in (
        (every > 0, (every * _NARROW * width, every * _WIDE * width), _SEGMENTS),
        (sharp, (below, above), _CLOSE_SEGMENTS),
    ):
        left = undecided(found.low_least, found.low_most, areas.sqft, noise=False, half=half)
        left |= undecided(found.high_least, found.high_most, areas.sqft, noise=True, half=half)
        pairs = close[(left & some)[row[close]]]
        if len(pairs):
            _by_bands(found, cut, (row[pairs], edge[pairs], at[pairs]), widths, segments)
    return found


def _by_straight_lines(  # noqa: PLR0917 - arrays that belong together
    found: Shares,
    cut: _Cut,
    near: tuple[Ints, Ints, Floats],
    close: Ints,
    widths: tuple[Floats, Floats],
    known_ft: float,
) -> None:
    """Narrow the bounds by what lies beyond a straight line that stands for the edges near each polygon."""
    row, edge, at = near
    own = meeting(cut.areas.boxes[row[close]], at[close])
    slabs = Slabs.of(cut.outlines, row[close], edge[close], at[close], own)
    rows, whole = slabs.rows, cut.areas.sqft[slabs.rows]
    below, above = (width[rows] for width in widths)
    known, on = _sides(cut, row, at, slabs, min(known_ft, _DEEP_FT - 1.0))
    share = found.share[rows]
    clear, loose = np.zeros((2, len(rows))), np.zeros((2, len(rows)))
    for side, (least, most) in enumerate(
        ((slabs.low - above, slabs.line_high - below), (slabs.high + above, slabs.line_low + below))
    ):
        beyond, open_still = slabs.beyond(least), slabs.beyond(most)
        if side == 0:
            beyond, open_still = whole - beyond, whole - open_still
        # Beyond all edges the ground is one, or there is none.
        one = known[side] & ((most <= slabs.low) if side == 0 else (most >= slabs.high))
        for ground in (0, 1):
            clear[ground] += np.where(known[side] & (on[side] == ground), beyond, 0.0)
            loose[ground] += np.where(one & (on[side] != ground), 0.0, open_still)
    # Where the line ends, or its own bends are wider than what it may be off by, it says nothing of what is near it.
    short = ~(slabs.along & (slabs.line_high - below <= slabs.line_low + below))
    loose[:, short] = np.inf
    found.low_least[rows] = np.minimum(clear[1] / whole, share)
    found.high_most[rows] = np.maximum(1.0 - clear[0] / whole, share)
    found.low_most[rows] = np.minimum(loose[1] / whole, share)
    found.high_least[rows] = np.maximum(1.0 - loose[0] / whole, share)


def _sides(cut: _Cut, row: Ints, at: Floats, slabs: Slabs, known_ft: float) -> tuple[Flags, Ints]:
    """Return of each polygon's rightmost and leftmost corner whether its side is known, and if it is on the ground."""
    begin, end = np.searchsorted(row, slabs.rows), np.searchsorted(row, slabs.rows, side="right")
    _, position = expanded(cut.outlines.first[slabs.rows], cut.outlines.count[slabs.rows])
    known, on = np.zeros((2, len(slabs.rows)), dtype=bool), np.zeros((2, len(slabs.rows)), dtype=np.int64)
    for side, corner in enumerate(slabs.ends()):
        places = cut.outlines.edges[position[corner], :2]
        seen = nearest_edges(places, at, np.arange(len(at)), begin, end - begin)
        # Farther off, an edge that is nearer may not be among those that are known.
        known[side] = ~seen.unsure & (seen.distance <= known_ft / FT_PER_FTUS)
        known[side] &= (slabs.corner[corner] < slabs.low) if side == 0 else (slabs.corner[corner] > slabs.high)
        on[side] = seen.inside
    return known, on


def _by_bands(
    found: Shares, cut: _Cut, near: tuple[Ints, Ints, Floats], widths: tuple[Floats, Floats], segments: int
) -> None:
    """Find the bounds with two bands along the line, one that the true one holds and one that holds it."""
    row, edge, at = near
    first = starts_of(row)
    # Edges that follow one another make a line.
    joined = (row[1:] == row[:-1]) & (edge[1:] == edge[:-1] + 1) & (at[1:, :2] == at[:-1, 2:]).all(axis=1)
    begins = np.r_[True, ~joined]
    number = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(row))))
    lines = shapely.multilinestrings(chains(at, np.cumsum(begins) - 1), indices=number[begins])
    which = row[first]
    ground, whole = cut.ground[which], cut.areas.sqft[which]
    for width, low, high in (
        (widths[0], found.low_most, found.high_least),
        (widths[1], found.low_least, found.high_most),
    ):
        on, off = cut.beside(which, shapely.buffer(lines, width[which], quad_segs=segments))
        low[which] = np.maximum(ground - on, 0.0) / whole
        high[which] = np.minimum((ground + off) / whole, 1.0)


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
