"""How much of many polygons lies on the ground beside some lines, from edges alone.

A polygon's area on a ground is a sum over pairs of an edge of the polygon and an edge of the ground. No corner of an
overlay is constructed and no case is told apart that rounding could tell wrongly: each term changes as little as the
coordinates do. All that has to be known for certain is whether one place, the anchor, lies on the ground.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.bulkline import edges_of, expanded
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

__all__ = ["Areas", "Outlines", "areas_on_ground", "farthest_corners"]

_MOST_PAIRS = 100_000


@dataclass(frozen=True, eq=False)
class Areas:
    """Some polygons.

    Attributes
    ----------
    shapes
        The polygons, shape (n,).
    """

    shapes: NDArray[np.object_]

    def take(self, rows: Ints) -> Areas:
        """Return some of them."""
        return Areas(self.shapes[rows])

    @cached_property
    def sqft(self) -> Floats:
        """The area of each, in square US survey feet."""
        return np.asarray(shapely.area(self.shapes))

    @cached_property
    def boxes(self) -> Floats:
        """The box around each, shape (n, 4)."""
        return np.asarray(shapely.bounds(self.shapes), dtype=np.float64)

    @cached_property
    def across_ft(self) -> Floats:
        """The length of each box's diagonal, in feet."""
        return np.asarray(np.hypot(*(self.boxes[:, 2:] - self.boxes[:, :2]).T) * FT_PER_FTUS)


@dataclass(frozen=True, eq=False)
class Outlines:
    """The edges of n polygons, each with its polygon on the left, one polygon after the other.

    Attributes
    ----------
    edges
        Shape (m, 4): from x, y to x, y in US survey feet.
    first, count
        Where each polygon's edges begin, and how many they are; none for a polygon without ground.
    """

    edges: Floats
    first: Ints
    count: Ints

    @classmethod
    def of(cls, areas: NDArray[np.object_]) -> Outlines:
        """Return the edges of polygons, multipolygons and collections, of which lines and points are left aside."""
        parts, owner = shapely.get_parts(areas, return_index=True)
        ground = shapely.get_type_id(parts) == shapely.GeometryType.POLYGON
        edges, part = edges_of(parts[ground])
        count = np.bincount(owner[ground][part], minlength=len(areas)).astype(np.int64)
        return cls(edges, np.cumsum(count) - count, count)

    def take(self, rows: Ints) -> Outlines:
        """Return those of some polygons, each as often as it is named."""
        return Outlines(self.edges, self.first[rows], self.count[rows])


def areas_on_ground(  # noqa: PLR0917 - arrays that belong together
    outlines: Outlines, areas: Floats, anchors: Floats, on_ground: Flags, owners: Ints, lines: Floats
) -> Floats:
    """Return the area of each polygon that is on a ground, shape (n,), in square US survey feet.

    Parameters
    ----------
    outlines, areas
        The polygons' edges, and their whole areas, shape (n,).
    anchors, on_ground
        A place for each polygon, shape (n, 2), and whether it is on the ground: not on its line.
    owners, lines
        Pairs of a polygon, shape (p,), and an edge of the ground, shape (p, 4), with the ground on its left: all edges,
        each once, whose boxes meet the box around the polygon and its anchor. Others may be among them.

    Examples
    --------
    >>> lot = np.array([shapely.box(0, 0, 10, 10)], dtype=object)
    >>> east = np.array([[4.0, 50.0, 4.0, -50.0]])  # walking south, the ground is in the east
    >>> anchor, owner = np.array([[0.0, 0.0]]), np.array([0])
    >>> areas_on_ground(Outlines.of(lot), shapely.area(lot), anchor, np.array([False]), owner, east).tolist()
    [60.0]
    """
    found = np.where(on_ground, areas, 0.0)
    for begin in range(0, len(owners), _MOST_PAIRS // 4):
        part = slice(begin, begin + _MOST_PAIRS // 4)
        owner = owners[part]
        at = anchors[owner]
        local = lines[part] - np.hstack([at, at])
        _add_above_and_below(outlines, anchors, owner, local, found)
        _add_beside(outlines, anchors, owner, local, found)
    return np.asarray(np.clip(found, 0.0, areas))


def _add_above_and_below(outlines: Outlines, anchors: Floats, owner: Ints, lines: Floats, found: Floats) -> None:
    """Add what lies beyond each line, seen up or down from the anchor's level: there the ground begins, or ends."""
    ax, ay, bx, by = lines.T
    with np.errstate(divide="ignore", invalid="ignore"):
        level_x = ax - ay * (bx - ax) / (by - ay)
    # A line that crosses the level is two: what is above it, and what is below.
    up_a, up_b = ay >= 0, by >= 0
    pieces = []
    for a, b, side in ((up_a, up_b, 1.0), (~up_a, ~up_b, -1.0)):
        px, py = np.where(a, ax, level_x), np.where(a, ay, 0.0)
        qx, qy = np.where(b, bx, level_x), np.where(b, by, 0.0)
        kept = np.flatnonzero((a | b) & (px != qx))
        pieces.append((owner[kept], np.column_stack([px, py, qx, qy])[kept], np.full(len(kept), side)))
    whose, piece, sign = (np.concatenate(each) for each in zip(*pieces, strict=True))
    pair, position = expanded(outlines.first[whose], outlines.count[whose])
    of = whose[pair]
    at = anchors[of]
    ex, ey, gx, gy = (outlines.edges[position] - np.hstack([at, at])).T
    px, py, qx, qy = piece[pair].T
    low = np.maximum(np.minimum(ex, gx), np.minimum(px, qx))
    high = np.minimum(np.maximum(ex, gx), np.maximum(px, qx))
    kept = np.flatnonzero(high > low)
    ex, ey, gx, gy, px, py, qx, qy, low, high = (v[kept] for v in (ex, ey, gx, gy, px, py, qx, qy, low, high))
    slope, line_slope = (gy - ey) / (gx - ex), (qy - py) / (qx - px)
    turn = sign[pair[kept]]
    left = turn * (ey + (low - ex) * slope - py - (low - px) * line_slope)
    right = turn * (ey + (high - ex) * slope - py - (high - px) * line_slope)
    most, least = np.maximum(left, right), np.minimum(left, right)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(least >= 0, (most + least) / 2, np.where(most <= 0, 0.0, most * most / (2 * (most - least))))
    # Eastward edges are a polygon's floor, and westward ones its ceiling.
    part *= (high - low) * np.where((gx > ex) == (qx > px), -1.0, 1.0)
    found += np.bincount(of[kept], weights=part, minlength=len(found))


def _add_beside(outlines: Outlines, anchors: Floats, owner: Ints, lines: Floats, found: Floats) -> None:
    """Add what lies beyond the places where lines cross the anchor's level, east or west of it."""
    crossing = np.flatnonzero((lines[:, 1] < 0) != (lines[:, 3] < 0))
    if not len(crossing):
        return
    ax, ay, bx, by = lines[crossing].T
    level_x = ax - ay * (bx - ax) / (by - ay)
    # Walking away from the anchor, the ground begins at a line that has it on that side.
    begins = np.where((by > ay) == (level_x < 0), 1.0, -1.0)
    whose = owner[crossing]
    pair, position = expanded(outlines.first[whose], outlines.count[whose])
    of = whose[pair]
    at = anchors[of]
    ex, ey, gx, gy = (outlines.edges[position] - np.hstack([at, at])).T
    bound = level_x[pair]
    west = bound < 0
    low, high = np.minimum(ex, gx), np.maximum(ex, gx)
    low, high = np.where(west, low, np.maximum(low, bound)), np.where(west, np.minimum(high, bound), high)
    kept = np.flatnonzero(high > low)
    ex, ey, gx, gy, low, high = (v[kept] for v in (ex, ey, gx, gy, low, high))
    middle = ey + ((low + high) / 2 - ex) * (gy - ey) / (gx - ex)
    part = middle * (high - low) * np.where(gx > ex, -1.0, 1.0) * begins[pair[kept]]
    found += np.bincount(of[kept], weights=part, minlength=len(found))


def farthest_corners(outlines: Outlines, owners: Ints, lines: Floats) -> Floats:
    """Return how far the farthest corner of a polygon is from an edge, shape (p,), in US survey feet.

    No place of the polygon is farther from that edge.

    Parameters
    ----------
    outlines
        The polygons' edges.
    owners, lines
        Pairs of a polygon, shape (p,), and an edge, shape (p, 4).
    """
    found = np.empty(len(owners))
    for begin in range(0, len(owners), _MOST_PAIRS // 4):
        part = slice(begin, begin + _MOST_PAIRS // 4)
        owner = owners[part]
        count = outlines.count[owner]
        pair, position = expanded(outlines.first[owner], count)
        px, py = outlines.edges[position, :2].T
        ax, ay, bx, by = lines[part][pair].T
        dx, dy, qx, qy = bx - ax, by - ay, px - ax, py - ay
        along = np.clip((qx * dx + qy * dy) / (dx * dx + dy * dy), 0.0, 1.0)
        squared = (qx - along * dx) ** 2 + (qy - along * dy) ** 2
        found[part] = np.sqrt(np.maximum.reduceat(squared, np.cumsum(count) - count)) if len(squared) else np.inf
    return found
