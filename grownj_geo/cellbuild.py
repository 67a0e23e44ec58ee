"""Building a cell index: which squares of New Jersey a line comes near, and what holds in all the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.bulkfind import distance_classes, station_reach_ft
from grownj_geo.bulkline import expanded, starts_of
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.bulkfind import MunicipalLines
    from grownj_geo.bulkplan import DistanceQuestion, Plan
    from grownj_geo.layer import Layer

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Column = NDArray[np.int32]

__all__ = [
    "CELL",
    "Grid",
    "Items",
    "MunicipalItems",
    "build_classes",
    "build_ground",
    "build_municipal",
    "build_stations",
]

CELL = 256.0
"""Side of the smallest squares, in US survey feet."""

_GROUND_SIZES, _MUNICIPAL_SIZES = (2, 1), (1,)
_FEW = 16
_BLOCK = 32_768
_TWIN = 0.01
_STATION_CELLS = 4
_CLASS_SIDES = (64, 16, 4)
_SHORE_FT = 1_000.0


@dataclass(frozen=True)
class Grid:
    """A square grid in EPSG:3424.

    Attributes
    ----------
    x0, y0
        Its lower left corner, in US survey feet.
    columns, rows
        How many of the smallest squares it has.
    """

    x0: float
    y0: float
    columns: int
    rows: int

    @classmethod
    def around(cls, box: tuple[float, float, float, float], spare: float) -> Grid:
        """Return a grid that covers a box and so many feet around it."""
        side = CELL * max(_CLASS_SIDES)
        x0, y0 = (np.floor((v - spare) / side) * side for v in box[:2])
        columns, rows = (int(np.ceil((v + spare - o) / side)) * max(_CLASS_SIDES)
                         for v, o in zip(box[2:], (x0, y0), strict=True))  # fmt: skip
        return cls(float(x0), float(y0), columns, rows)

    def __len__(self) -> int:
        """Return the number of squares."""
        return self.columns * self.rows

    def inside(self, xy: Floats) -> NDArray[np.bool_]:
        """Return which places, shape (k, 2), lie in the grid."""
        x, y = xy[:, 0], xy[:, 1]
        x1, y1 = self.x0 + self.columns * CELL, self.y0 + self.rows * CELL
        return np.asarray((x >= self.x0) & (x < x1) & (y >= self.y0) & (y < y1))

    def cell(self, xy: Floats) -> Ints:
        """Return the square of each place in the grid, shape (k,)."""
        column, row = (((xy[:, i] - origin) / CELL).astype(np.int64) for i, origin in enumerate((self.x0, self.y0)))
        row *= self.columns
        row += column
        return row

    def under(self, boxes: Floats, most: int) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        """Return pairs of a box and a square that it meets, in order of the boxes, and which boxes are left out.

        Parameters
        ----------
        boxes
            Shape (n, 4).
        most
            Boxes that meet more squares than this are left out, and those that are not wholly in the grid.
        """
        low, high = (np.floor((boxes[:, i : i + 2] - (self.x0, self.y0)) / CELL).astype(np.int64) for i in (0, 2))
        size = high - low + 1
        left_out = ~(self.inside(boxes[:, :2]) & self.inside(boxes[:, 2:])) | (size.prod(axis=1) > most)
        rows = np.flatnonzero(~left_out)
        pair, at = expanded(np.zeros(len(rows), dtype=np.int64), size[rows].prod(axis=1))
        box = rows[pair]
        up = at // size[box, 0]
        return box, (low[box, 1] + up) * self.columns + low[box, 0] + at - up * size[box, 0], left_out

    def centres(self, columns: Ints, rows: Ints, size: int) -> tuple[Floats, Floats]:
        """Return the centres of squares of `size` cells a side, by their column and row among these."""
        side = CELL * size
        return np.asarray(self.x0 + (columns + 0.5) * side), np.asarray(self.y0 + (rows + 0.5) * side)

    def spread(self, values: NDArray[np.generic], size: int) -> NDArray[np.generic]:
        """Return values of squares of `size` cells a side as values of all cells."""
        table = values.reshape(self.rows // size, self.columns // size)
        return np.repeat(np.repeat(table, size, axis=0), size, axis=1).ravel()


@dataclass(frozen=True, eq=False)
class Items:
    """Edges that may be nearest to some place in a square, by item.

    Attributes
    ----------
    first, count
        Where each item's edges begin in `members`, and how many they are.
    members
        Positions of edges.
    """

    first: Ints
    count: NDArray[np.int32]
    members: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class _Segments:
    """Edges, ready for distances from many points: start, direction of length one, and length."""

    x: Floats
    y: Floats
    ux: Floats
    uy: Floats
    length: Floats

    @classmethod
    def of(cls, edges: Floats) -> _Segments:
        dx, dy = edges[:, 2] - edges[:, 0], edges[:, 3] - edges[:, 1]
        length = np.hypot(dx, dy)
        return cls(edges[:, 0].copy(), edges[:, 1].copy(), dx / length, dy / length, length)

    def away(self, x: Floats, y: Floats, edge: Ints) -> Floats:
        """Return how far points are from edges, one each; blocks keep this in the processor's reach."""
        found = np.empty(len(edge))
        for begin in range(0, len(edge), _BLOCK):
            part = slice(begin, begin + _BLOCK)
            at = edge[part]
            qx, qy, ux, uy = x[part] - self.x[at], y[part] - self.y[at], self.ux[at], self.uy[at]
            along = np.minimum(np.maximum(qx * ux + qy * uy, 0.0), self.length[at])
            qx -= along * ux
            qy -= along * uy
            found[part] = np.sqrt(qx * qx + qy * qy)
        return found


@dataclass(frozen=True, eq=False)
class _Leaves:
    """Squares that a line comes near, each with the edges that may be nearest to a place in it."""

    size: int
    column: Ints
    row: Ints
    owner: Ints
    least: Floats
    items: Items


def _refined(
    grid: Grid, edges: Floats, owners: Ints, reach: float, *, sizes: tuple[int, ...], few: int
) -> list[_Leaves]:
    """Return the squares that are within reach of a line, refined until few edges are left or they are smallest.

    An edge stays with a square while it may be nearest to some place in it: no farther from the centre than the
    nearest edge and the square's own width. So whatever is nearest to a place is among the edges of its square.
    Each owner's edges stand for themselves; they come one owner after the other.
    """
    segments = _Segments.of(edges)
    found: list[_Leaves] = []
    column, row, edge = _met(grid, edges, reach, sizes[0])
    for size in sizes:
        half = CELL * size * np.sqrt(0.5)
        away = segments.away(*grid.centres(column, row, size), edge)
        cell = row * (grid.columns // size) + column
        if size == sizes[0]:
            met = np.flatnonzero(away <= reach + 3 * half)
            order = met[_order(cell[met])]
            cell, edge, away = cell[order], edge[order], away[order]
        first = _starts(cell, owners[edge])
        if not len(first):
            return found
        runs = np.diff(np.append(first, len(cell)))
        least = np.minimum.reduceat(away, first)
        near = least <= reach + half
        most, least = np.where(near, least + 2 * half + _TWIN, -1.0), least[near]
        keep = away <= np.repeat(most, runs)
        cell, edge = cell[keep], edge[keep]
        first = _starts(cell, owners[edge])
        runs = np.diff(np.append(first, len(cell)))
        leaf = (runs <= few) | (size == sizes[-1])
        number, at = runs[leaf], first[leaf]
        items = Items(np.cumsum(number) - number, number.astype(np.int32), edge[np.repeat(leaf, runs)].astype(np.int32))
        across = grid.columns // size
        found.append(_Leaves(size, cell[at] % across, cell[at] // across, owners[edge[at]], least[leaf], items))
        # Four smaller squares in place of each that is left, in order.
        which = np.tile(np.arange(4), int((~leaf).sum()))
        child, position = expanded(np.repeat(first[~leaf], 4), np.repeat(runs[~leaf], 4))
        which, cell, edge = which[child], cell[position], edge[position]
        column, row = 2 * (cell % across) + which % 2, 2 * (cell // across) + which // 2
    return found


def _starts(cell: Ints, owner: Ints) -> Ints:
    """Return where each run of one cell and owner begins."""
    if not len(cell):
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(np.r_[True, (cell[1:] != cell[:-1]) | (owner[1:] != owner[:-1])])


def _order(cell: Ints) -> Ints:
    """Return the stable order of some cells: by their lower and then their upper half, each of which sorts fast."""
    low = np.argsort((cell & 0xFFFF).astype(np.uint16), kind="stable")
    return np.asarray(low[np.argsort((cell[low] >> 16).astype(np.uint16), kind="stable")], dtype=np.int64)


def _met(grid: Grid, edges: Floats, reach: float, size: int) -> tuple[Ints, Ints, Ints]:
    """Return pairs of a square and an edge that may have a say in it, by the edges' boxes."""
    side = CELL * size
    spare = reach + 3 * side * np.sqrt(0.5)
    # A centre within `spare` of the box: squares whose centre lies farther have nothing to do with the edge.
    c0, c1 = (_clipped(f(edges[:, 0], edges[:, 2]) + d, grid.x0, side, grid.columns // size)
              for f, d in ((np.minimum, side / 2 - spare), (np.maximum, spare - side / 2)))  # fmt: skip
    r0, r1 = (_clipped(f(edges[:, 1], edges[:, 3]) + d, grid.y0, side, grid.rows // size)
              for f, d in ((np.minimum, side / 2 - spare), (np.maximum, spare - side / 2)))  # fmt: skip
    wide = c1 - c0 + 1
    edge, at = expanded(np.zeros(len(edges), dtype=np.int64), wide * (r1 - r0 + 1))
    wide = wide[edge]
    up = at // wide
    return c0[edge] + at - up * wide, r0[edge] + up, edge


def _clipped(values: Floats, origin: float, side: float, most: int) -> Ints:
    return np.clip((values - origin) // side, 0, most - 1).astype(np.int64)


def _covering(grid: Grid, edges: Floats, weights: Ints) -> Ints:
    """Return for each cell the sum of weights of the areas that cover its centre.

    Walking east along the centres of a row, an edge that runs north is the end of its area, and one that runs south
    the beginning.
    """
    ax, ay, bx, by = edges.T
    low, high = np.minimum(ay, by), np.maximum(ay, by)
    r0 = np.clip(np.ceil((low - grid.y0) / CELL - 0.5), 0, grid.rows).astype(np.int64)
    r1 = np.clip(np.ceil((high - grid.y0) / CELL - 0.5), 0, grid.rows).astype(np.int64)
    owner, row = expanded(r0, np.maximum(r1 - r0, 0))
    y = grid.y0 + (row + 0.5) * CELL
    x = ax[owner] + (y - ay[owner]) * (bx - ax)[owner] / (by - ay)[owner]
    column = np.clip(np.ceil((x - grid.x0) / CELL - 0.5), 0, grid.columns).astype(np.int64)
    sign = np.where((by > ay)[owner], -1, 1) * weights[owner]
    changes = np.bincount(
        row * (grid.columns + 1) + column, weights=sign, minlength=grid.rows * (grid.columns + 1)
    ).reshape(grid.rows, grid.columns + 1)
    return np.rint(np.cumsum(changes[:, :-1], axis=1)).astype(np.int64).ravel()


def build_ground(grid: Grid, edges: Floats, reach_ft: float) -> tuple[Column, Items]:
    """Return for each cell -1 outside the ground, -2 in it, or the number of an item where its line is near.

    Parameters
    ----------
    grid
        The grid.
    edges
        The ground's edges.
    reach_ft
        How near is near, in feet.
    """
    none = np.zeros(0, dtype=np.int64)
    column = np.full(len(grid), -1, dtype=np.int32)
    if not len(edges):
        return column, Items(none, none.astype(np.int32), none.astype(np.int32))
    column[_covering(grid, edges, np.ones(len(edges), dtype=np.int64)) > 0] = -2
    owners = np.zeros(len(edges), dtype=np.int64)
    parts, shift, before = [], 0, 0
    for leaves in _refined(grid, edges, owners, reach_ft / FT_PER_FTUS, sizes=_GROUND_SIZES, few=_FEW):
        cells, item = _cells_of(grid, leaves)
        column[cells] = item + before
        parts.append(Items(leaves.items.first + shift, leaves.items.count, leaves.items.members))
        shift += len(leaves.items.members)
        before += len(leaves.items.count)
    return column, _joined(parts)


def _joined(parts: list[Items]) -> Items:
    none = np.zeros(0, dtype=np.int64)
    return Items(
        np.concatenate([none, *(p.first for p in parts)]),
        np.concatenate([none.astype(np.int32), *(p.count for p in parts)]),
        np.concatenate([none.astype(np.int32), *(p.members for p in parts)]),
    )


def _cells_of(grid: Grid, leaves: _Leaves) -> tuple[Ints, Ints]:
    """Return the cells of each of some squares, and the square's number."""
    size = leaves.size
    at = np.arange(size * size)
    columns = leaves.column[:, None] * size + at % size
    rows = leaves.row[:, None] * size + at // size
    return (rows * grid.columns + columns).ravel(), np.repeat(np.arange(len(leaves.column)), size * size)


@dataclass(frozen=True, eq=False)
class MunicipalItems:
    """Municipalities whose lines come near a cell.

    Attributes
    ----------
    first, count
        Where each group's items begin, and how many they are.
    base
        The municipality that covers all of the cell though its line is not near; -1 for none.
    whole
        The municipality that covers all of the cell, whether its line is near or not; -1 where a line may cross it.
    owner
        The municipality of each item.
    items
        Its edges.
    """

    first: Ints
    count: NDArray[np.int32]
    base: NDArray[np.int32]
    whole: NDArray[np.int32]
    owner: NDArray[np.int32]
    items: Items


def build_municipal(grid: Grid, lines: MunicipalLines) -> tuple[Column, MunicipalItems]:
    """Return for each cell -2 - m in municipality m, -1 outside all, or the number of a group where a line is near."""
    edges, owners = lines.edges
    count = _covering(grid, edges, np.ones(len(edges), dtype=np.int64))
    cover = _covering(grid, edges, owners + 1) - 1
    leaves = _refined(grid, edges, owners, lines.accuracy_ft / FT_PER_FTUS + 1.0, sizes=_MUNICIPAL_SIZES, few=0)[-1]
    cells = leaves.row * grid.columns + leaves.column
    order = np.lexsort([leaves.owner, cells])
    cells, owner = cells[order], leaves.owner[order]
    items = Items(leaves.items.first[order], leaves.items.count[order], leaves.items.members)
    first = starts_of(cells)
    number = np.diff(np.append(first, len(cells)))
    open_cells = cells[first]
    base = np.where(count[open_cells] == 1, cover[open_cells], -1)
    crossed = np.minimum.reduceat(leaves.least[order], first) <= CELL * np.sqrt(0.5) + 1.0
    whole = np.where(crossed, -1, base)
    at_home = np.zeros(len(cells), dtype=bool)
    at_home[owner == np.repeat(base, number)] = True
    base[np.logical_or.reduceat(at_home, first)] = -1
    column = np.where(count == 1, -2 - cover, -1).astype(np.int32)
    column[open_cells] = np.arange(len(open_cells))
    # Where several cover the centre, or the shore is near, each place is looked at by itself: a group without items.
    alone = (count > 1) | _near_shore(grid, column)
    group = np.where(count[open_cells] > 1, len(open_cells), np.arange(len(open_cells)))
    column[alone & (column < 0)] = len(open_cells)
    column[open_cells] = group
    return column, MunicipalItems(
        np.append(first, 0),
        np.append(number, 0).astype(np.int32),
        np.append(base, -1).astype(np.int32),
        np.append(whole, -1).astype(np.int32),
        owner.astype(np.int32),
        items,
    )


def _near_shore(grid: Grid, column: Column) -> NDArray[np.bool_]:
    """Return which cells lie outside all municipalities and within a pier's reach of one."""
    ground = (column != -1).reshape(grid.rows, grid.columns)
    steps = int(np.ceil(_SHORE_FT / FT_PER_FTUS / CELL)) + 2
    near = ground.copy()
    for _ in range(steps):
        wider = near.copy()
        wider[1:] |= near[:-1]
        wider[:-1] |= near[1:]
        near = wider.copy()
        near[:, 1:] |= wider[:, :-1]
        near[:, :-1] |= wider[:, 1:]
    return np.asarray((near & ~ground).ravel())


def build_stations(grid: Grid, plan: Plan, layer: Layer, limit_ft: float) -> tuple[Column, Items]:
    """Return for each cell -1, or the number of an item: the points of a layer that have a say in it."""
    size = _STATION_CELLS
    side = CELL * size
    reach = station_reach_ft(plan, layer, limit_ft) / FT_PER_FTUS + side * np.sqrt(0.5) + 1.0
    across, up = grid.columns // size, grid.rows // size
    cells, features = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for feature, (px, py) in enumerate(layer.bounds[:, :2]):
        c0, c1 = (int(np.clip((px + d - grid.x0) // side, 0, across - 1)) for d in (-reach, reach))
        r0, r1 = (int(np.clip((py + d - grid.y0) // side, 0, up - 1)) for d in (-reach, reach))
        column, row = (v.ravel() for v in np.meshgrid(np.arange(c0, c1 + 1), np.arange(r0, r1 + 1)))
        x, y = grid.centres(column, row, size)
        keep = np.hypot(x - px, y - py) <= reach
        cells.append(row[keep] * across + column[keep])
        features.append(np.full(int(keep.sum()), feature))
    cell, feature_of = np.concatenate(cells), np.concatenate(features)
    order = np.argsort(cell, kind="stable")
    cell, feature_of = cell[order], feature_of[order]
    first = starts_of(cell)
    coarse = np.full(across * up, -1, dtype=np.int32)
    coarse[cell[first]] = np.arange(len(first))
    count = np.diff(np.append(first, len(cell))).astype(np.int32)
    return grid.spread(coarse, size).astype(np.int32), Items(first, count, feature_of.astype(np.int32))


def build_classes(grid: Grid, plan: Plan, asked: DistanceQuestion, limit_ft: float) -> Column:
    """Return for each cell -1 - c where all places are of class c to a question about polygons, else 0."""
    found = np.full(len(grid), -1, dtype=np.int64)
    open_cells = np.arange((grid.columns // _CLASS_SIDES[0]) * (grid.rows // _CLASS_SIDES[0]))
    for number, size in enumerate(_CLASS_SIDES):
        across = grid.columns // size
        column, row = open_cells % across, open_cells // across
        centres = np.column_stack(grid.centres(column, row, size))
        classes = distance_classes(plan, asked, centres, CELL * size, limit_ft)
        at = np.arange(size * size)
        known = np.flatnonzero(classes >= 0)
        cells = (row[known, None] * size + at // size) * grid.columns + column[known, None] * size + at % size
        found[cells.ravel()] = np.repeat(classes[known], size * size)
        left = np.flatnonzero(classes < 0)
        if number + 1 == len(_CLASS_SIDES) or not len(left):
            break
        finer = size // _CLASS_SIDES[number + 1]
        part = np.arange(finer * finer)
        open_cells = (
            (row[left, None] * finer + part // finer) * (across * finer) + column[left, None] * finer + part % finer
        ).ravel()
    _, number_of = np.unique(found, return_inverse=True)
    return np.where(found < 0, 0, -1 - number_of.ravel()).astype(np.int32)
