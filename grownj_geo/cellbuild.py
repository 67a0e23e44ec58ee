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

__all__ = ["CELL", "Grid", "Items", "MunicipalItems", "build_classes", "build_ground", "build_municipal", "build_stations"]

CELL = 256.0
"""Side of the smallest squares, in US survey feet."""

_LEVELS = (4, 2, 1)
_FEW = 8
_BLOCK = 50_000
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
        at = (xy - [self.x0, self.y0]) / CELL
        return np.asarray((at >= 0).all(axis=1) & (at[:, 0] < self.columns) & (at[:, 1] < self.rows))

    def cell(self, xy: Floats) -> Ints:
        """Return the square of each place in the grid, shape (k,)."""
        column = ((xy[:, 0] - self.x0) / CELL).astype(np.int64)
        return ((xy[:, 1] - self.y0) / CELL).astype(np.int64) * self.columns + column

    def centres(self, columns: Ints, rows: Ints, size: int) -> tuple[Floats, Floats]:
        """Return the centres of squares of `size` cells a side, by their column and row among these."""
        return self.x0 + (columns + 0.5) * (CELL * size), self.y0 + (rows + 0.5) * (CELL * size)

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


def _edge_distance(x: Floats, y: Floats, edges: Floats) -> Floats:
    """Return how far points are from edges, one each."""
    ax, ay, bx, by = edges.T
    dx, dy = bx - ax, by - ay
    along = np.clip(((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy), 0.0, 1.0)
    return np.asarray(np.hypot(x - ax - along * dx, y - ay - along * dy))


@dataclass(frozen=True, eq=False)
class _Leaves:
    """Squares that a line comes near, each with the edges that may be nearest to a place in it."""

    size: int
    column: Ints
    row: Ints
    owner: Ints
    items: Items


def _refined(grid: Grid, edges: Floats, owners: Ints, reach: float, *, few: int) -> list[_Leaves]:
    """Return the squares that are within reach of a line, refined until few edges are left or they are smallest.

    An edge stays with a square while it may be nearest to some place in it: no farther from the centre than the
    nearest edge and the square's own width. So whatever is nearest to a place is among the edges of its square.
    """
    size = _LEVELS[0]
    column, row, edge = _met(grid, edges, reach, size)
    found: list[_Leaves] = []
    count = int(owners.max(initial=0)) + 1
    for size in _LEVELS:
        half = CELL * size * np.sqrt(0.5)
        x, y = grid.centres(column, row, size)
        away = np.concatenate(
            [_edge_distance(x[i : i + 10**6], y[i : i + 10**6], edges[edge[i : i + 10**6]])
             for i in range(0, max(len(edge), 1), 10**6)]
        )  # fmt: skip
        key = (row * (grid.columns // size) + column) * count + owners[edge]
        if size == _LEVELS[0]:
            order = np.argsort(key, kind="stable")
            column, row, edge, away, key = column[order], row[order], edge[order], away[order], key[order]
        first = starts_of(key)
        if not len(first):
            return found
        runs = np.diff(np.append(first, len(key)))
        least = np.minimum.reduceat(away, first)
        keep = (np.repeat(least, runs) <= reach + half) & (away <= np.repeat(least, runs) + 2 * half + _TWIN)
        column, row, edge, key = column[keep], row[keep], edge[keep], key[keep]
        first = starts_of(key)
        runs = np.diff(np.append(first, len(key)))
        leaf = (runs <= few) | (size == 1)
        ends = np.repeat(leaf, runs)
        at = first[leaf]
        members = edge[ends].astype(np.int32)
        number = runs[leaf]
        items = Items(np.cumsum(number) - number, number.astype(np.int32), members)
        found.append(_Leaves(size, column[at], row[at], owners[edge[at]] if len(edge) else edge, items))
        # Four smaller squares in place of each that is left, in order.
        column, row, edge = _quartered(column, row, edge, first[~leaf], runs[~leaf])
    return found


def _quartered(column: Ints, row: Ints, edge: Ints, first: Ints, runs: Ints) -> tuple[Ints, Ints, Ints]:
    quarter = np.tile(np.arange(4), len(first))
    owner, at = expanded(np.repeat(first, 4), np.repeat(runs, 4))
    which = quarter[owner]
    return 2 * column[at] + which % 2, 2 * row[at] + which // 2, edge[at]


def _met(grid: Grid, edges: Floats, reach: float, size: int) -> tuple[Ints, Ints, Ints]:
    """Return pairs of a square and an edge that may have a say in it."""
    side = CELL * size
    spare = reach + 3 * side * np.sqrt(0.5)
    columns, rows, found = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for begin in range(0, len(edges), _BLOCK):
        part = edges[begin : begin + _BLOCK]
        low = [np.minimum(part[:, i], part[:, i + 2]) - spare for i in (0, 1)]
        high = [np.maximum(part[:, i], part[:, i + 2]) + spare for i in (0, 1)]
        c0, c1 = (np.clip((v - grid.x0) // side, 0, grid.columns // size - 1).astype(np.int64)
                  for v in (low[0], high[0]))  # fmt: skip
        r0, r1 = (np.clip((v - grid.y0) // side, 0, grid.rows // size - 1).astype(np.int64) for v in (low[1], high[1]))
        wide = c1 - c0 + 1
        owner, at = expanded(np.zeros(len(part), dtype=np.int64), wide * (r1 - r0 + 1))
        column, row = c0[owner] + at % wide[owner], r0[owner] + at // wide[owner]
        x, y = grid.centres(column, row, size)
        keep = _edge_distance(x, y, part[owner]) <= spare
        columns.append(column[keep])
        rows.append(row[keep])
        found.append(owner[keep] + begin)
    return np.concatenate(columns), np.concatenate(rows), np.concatenate(found)


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
    for leaves in _refined(grid, edges, owners, reach_ft / FT_PER_FTUS, few=_FEW):
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
    owner
        The municipality of each item.
    items
        Its edges.
    """

    first: Ints
    count: NDArray[np.int32]
    base: NDArray[np.int32]
    owner: NDArray[np.int32]
    items: Items


def build_municipal(grid: Grid, lines: MunicipalLines) -> tuple[Column, MunicipalItems]:
    """Return for each cell -2 - m in municipality m, -1 outside all, or the number of a group where a line is near."""
    edges, owners = lines.edges
    count = _covering(grid, edges, np.ones(len(edges), dtype=np.int64))
    cover = _covering(grid, edges, owners + 1) - 1
    leaves = _refined(grid, edges, owners, lines.accuracy_ft / FT_PER_FTUS + 1.0, few=0)[-1]
    cells = leaves.row * grid.columns + leaves.column
    order = np.lexsort([leaves.owner, cells])
    cells, owner = cells[order], leaves.owner[order]
    items = Items(leaves.items.first[order], leaves.items.count[order], leaves.items.members)
    first = starts_of(cells)
    number = np.diff(np.append(first, len(cells)))
    open_cells = cells[first]
    base = np.where(count[open_cells] == 1, cover[open_cells], -1)
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
