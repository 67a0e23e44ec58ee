"""The outlines of dissolved ground as edges, and how far many points are from them at once.

An edge has the ground on its left. How far a point is from the nearest edge, and on which side of it, is worked out
with arrays. Where rounding could decide the side, the point is said to be unsure, and whoever asks must look again
with exact geometry.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import shapely

from grownj_geo.errors import LayerError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.layer import Layer

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

__all__ = [
    "UNSURE_FT",
    "Ground",
    "Lines",
    "Nearest",
    "Source",
    "chains",
    "edges_of",
    "expanded",
    "ground_of",
    "nearest_edges",
    "squared_to_edges",
    "starts_of",
]

UNSURE_FT = 1e-3
"""A point this near to an edge may be on either side of it, for all that arrays of numbers can tell."""

_TWIN_FT = 1e-4
_MOST_PAIRS = 50_000
_EDGES_TOGETHER = 16


class Source:
    """Where ground takes its polygons from: not the layer itself, which a table of weak keys must not keep alive."""

    def __init__(self, layer: Layer) -> None:
        self._geometries, self._wkb = layer.geometries, layer.wkb

    def geometry(self, index: int) -> shapely.Geometry:
        """Return one feature's geometry, decoding it where nobody has."""
        found = self._geometries.get(index)
        if found is None:
            if self._wkb is None:
                raise LayerError(f"A layer that is measured has no geometry for feature {index}.")
            found = shapely.from_wkb(self._wkb[index])
            shapely.prepare(found)
            self._geometries[index] = found
        return found


@dataclass(frozen=True, eq=False)
class Ground:
    """Some features of a layer of polygons taken together.

    Attributes
    ----------
    source
        Where the polygons are.
    features
        Indices of the features.
    """

    source: Source
    features: Ints

    @cached_property
    def area(self) -> shapely.Geometry:
        """The features joined, prepared; empty where there are none. EPSG:3424."""
        parts = [self.source.geometry(int(i)) for i in self.features]
        area = parts[0] if len(parts) == 1 else shapely.union_all(parts)
        shapely.prepare(area)
        return area

    @cached_property
    def edges(self) -> Floats:
        """The outline, shape (m, 4): from x, y to x, y in US survey feet, the ground on the left."""
        return edges_of(np.array([self.area], dtype=object))[0]

    @cached_property
    def lines(self) -> Lines:
        """The outline as lines of a few edges."""
        return Lines.of(self.edges)

    @property
    def empty(self) -> bool:
        """Whether there is no ground."""
        return not len(self.features)


# Of layers that are in use only.
_grounds: WeakKeyDictionary[Layer, dict[bytes, Ground]] = WeakKeyDictionary()


def ground_of(layer: Layer, features: Ints) -> Ground:
    """Return some features of a layer taken together; dissolved once for each choice."""
    kept = _grounds.setdefault(layer, {})
    key = np.asarray(features, dtype=np.int64).tobytes()
    if key not in kept:
        kept[key] = Ground(Source(layer), features)
    return kept[key]


def edges_of(areas: NDArray[np.object_]) -> tuple[Floats, Ints]:
    """Return the edges of some polygons, each with the ground on its left, and whose they are.

    Parameters
    ----------
    areas
        Polygons and multipolygons, shape (n,).

    Returns
    -------
    tuple
        Edges, shape (m, 4), and the position of each one's area, shape (m,).

    Examples
    --------
    >>> edges, owners = edges_of(np.array([shapely.box(0, 0, 2, 1)], dtype=object))
    >>> len(edges), set(owners.tolist())
    (4, {0})
    """
    parts, owner = shapely.get_parts(areas, return_index=True)
    rings, part = shapely.get_rings(shapely.orient_polygons(parts), return_index=True)
    xy, ring = shapely.get_coordinates(rings, return_index=True)
    joined = (ring[1:] == ring[:-1]) & (xy[1:] != xy[:-1]).any(axis=1)
    edges = np.hstack([xy[:-1], xy[1:]])[joined]
    return edges, np.asarray(owner[part[ring[:-1][joined]]], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Nearest:
    """How some points lie to their nearest edge, arrays of shape (k,).

    Attributes
    ----------
    distance
        US survey feet.
    inside
        Whether the point is on the side of the ground.
    unsure
        Whether rounding may have decided that.
    """

    distance: Floats
    inside: Flags
    unsure: Flags


def starts_of(owners: Ints) -> Ints:
    """Return where each run of equal values begins."""
    if not len(owners):
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])


def expanded(first: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Return for ranges that begin at `first`: whose each member is, and the members one after the other.

    Examples
    --------
    >>> expanded(np.array([10, 5]), np.array([2, 3]))
    (array([0, 0, 1, 1, 1]), array([10, 11,  5,  6,  7]))
    """
    owner = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts
    return owner, np.arange(len(owner)) + np.repeat(first - before, counts)


def nearest_edges(xy: Floats, edges: Floats, members: NDArray[np.integer], first: Ints, counts: Ints) -> Nearest:
    """Return how points lie to the nearest of their edges.

    Parameters
    ----------
    xy
        The points, shape (k, 2), in US survey feet.
    edges
        All edges, shape (m, 4).
    members
        Positions of edges; each point has a range of these, in which its nearest edge and all that are as near within
        a thousandth of a foot must be.
    first, counts
        Where each point's range begins, and how long it is: at least one.
    """
    k = len(xy)
    result = Nearest(np.empty(k), np.zeros(k, dtype=bool), np.zeros(k, dtype=bool))
    total = np.cumsum(counts)
    begin = 0
    while begin < k:
        # Blocks keep the tables of pairs in the processor's reach.
        done = int(total[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(total, done + _MOST_PAIRS, side="right")))
        part = slice(begin, end)
        _nearest(xy[part], edges, members, first[part], counts[part], result, begin)
        begin = end
    return result


def _nearest(  # noqa: PLR0917 - arrays that belong together
    xy: Floats, edges: Floats, members: NDArray[np.integer], first: Ints, counts: Ints, into: Nearest, at: int
) -> None:
    owner, position = expanded(first, counts)
    starts = np.cumsum(counts) - counts
    squared, across = _to_edge(xy[owner], edges[members[position]])
    least = np.minimum.reduceat(squared, starts)
    away = np.sqrt(least)
    # Only what is as near as the nearest, or nearly, has a say about the side.
    near = np.flatnonzero(squared <= ((away + _TWIN_FT) ** 2)[owner])
    who, across, exactly = owner[near], across[near], squared[near] == least[owner[near]]
    begin = starts_of(who)
    # At a corner both edges are as near: the one that the point stands more squarely to knows the side.
    squareness = np.where(exactly, np.abs(across), -1.0)
    best = np.maximum.reduceat(squareness, begin)
    chosen = squareness == best[who]
    left = np.logical_or.reduceat(chosen & (across > 0), begin)
    right = np.logical_or.reduceat(chosen & (across <= 0), begin)
    # Two lines that all but coincide: which of them is nearer is a matter of rounding.
    twin = ~exactly & ((across > 0) != left[who])
    part = slice(at, at + len(xy))
    into.distance[part] = away
    into.inside[part] = left
    into.unsure[part] = (away < UNSURE_FT) | (best < _TWIN_FT) | (left & right) | np.logical_or.reduceat(twin, begin)


def _to_edge(places: Floats, edges: Floats) -> tuple[Floats, Floats]:
    """Return squared distances to edges, and how far left of each edge's own line the point is."""
    px, py = places.T
    ax, ay, bx, by = edges.T
    dx, dy, qx, qy = bx - ax, by - ay, px - ax, py - ay
    along, length = qx * dx + qy * dy, dx * dx + dy * dy
    across = (dx * qy - dy * qx) / np.sqrt(length)
    # An end is taken as it stands, so that two edges that meet there are at the very same distance.
    squared = np.where(along <= 0, qx * qx + qy * qy, across * across)
    ex, ey = px - bx, py - by
    return np.where(along >= length, ex * ex + ey * ey, squared), across


def squared_to_edges(places: Floats, edges: Floats) -> Floats:
    """Return the squares of the distances of places, shape (k, 2), to one edge each, shape (k, 4)."""
    return _to_edge(places, edges)[0]


@dataclass(frozen=True, eq=False)
class Lines:
    """Outlines as lines of a few edges each.

    Attributes
    ----------
    edges
        All edges, shape (m, 4), line after line.
    line
        Which line each edge is in, shape (m,).
    shapes
        The lines, shape (l,).
    first, count
        Where each line's edges begin, and how many they are.
    """

    edges: Floats
    line: Ints
    shapes: NDArray[np.object_]
    first: Ints
    count: Ints

    @classmethod
    def of(cls, edges: Floats, owners: Ints | None = None) -> Lines:
        """Return the lines of some edges; those of one owner are never in a line with another's."""
        if not len(edges):
            none = np.zeros(0, dtype=np.int64)
            return cls(edges, none, np.zeros(0, dtype=object), none, none)
        joined = np.r_[False, (edges[1:, :2] == edges[:-1, 2:]).all(axis=1)]
        if owners is not None:
            joined[1:] &= owners[1:] == owners[:-1]
        run = np.cumsum(~joined)
        first = starts_of(run)
        within = np.arange(len(edges)) - np.repeat(first, np.diff(np.append(first, len(edges))))
        begins = ~joined | (within % _EDGES_TOGETHER == 0)
        line = np.cumsum(begins) - 1
        starts = np.flatnonzero(begins)
        return cls(edges, line, chains(edges, line), starts, np.diff(np.append(starts, len(edges))))

    @cached_property
    def bounds(self) -> Floats:
        """The box around each line, shape (l, 4)."""
        return np.asarray(shapely.bounds(self.shapes), dtype=np.float64)

    @cached_property
    def bends(self) -> Floats:
        """How far each edge's end is from the straight line between its start and the next edge's end, shape (m,).

        0 where the next edge begins somewhere else: at the end of a ring.
        """
        start, end, after = self.edges[:-1, :2], self.edges[:-1, 2:], self.edges[1:, 2:]
        across, to_end = after - start, end - start
        with np.errstate(divide="ignore", invalid="ignore"):
            off = np.abs(across[:, 0] * to_end[:, 1] - across[:, 1] * to_end[:, 0]) / np.hypot(*across.T)
        joined = (self.edges[1:, :2] == end).all(axis=1)
        return np.append(np.where(joined, np.nan_to_num(off, nan=0.0, posinf=0.0), 0.0), [0.0] * bool(len(self.edges)))

    @cached_property
    def tree(self) -> shapely.STRtree:
        """The lines in a tree."""
        return shapely.STRtree(self.shapes)


def chains(edges: Floats, line: Ints) -> NDArray[np.object_]:
    """Return a line for each run of edges with the same number, each of which begins where the one before it ends."""
    begins = np.r_[True, line[1:] != line[:-1]]
    # The start of each edge, and for the last edge of a line its end too.
    last = np.r_[begins[1:], True]
    order = np.repeat(np.arange(len(edges)), 1 + last)
    is_end = np.r_[order[1:] == order[:-1], False]
    is_end = np.r_[False, is_end[:-1]]
    xy = np.where(is_end[:, None], edges[order, 2:], edges[order, :2])
    number = np.cumsum(begins) - 1
    return np.asarray(shapely.linestrings(xy, indices=number[order]), dtype=object)
