"""Squares that a municipal line crosses, split: most of each is far from the line, and in one municipality.

Only the question which municipality covers a point needs this; what else a line decides, it decides farther off.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from grownj_geo.bulkline import expanded, nearest_edges
from grownj_geo.cellbuild import CELL

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from grownj_geo.cellbuild import Column, Grid, MunicipalItems

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Parts = NDArray[np.int16]

Part = TypeVar("Part")
Result = TypeVar("Result")

__all__ = ["PARTS", "build_parts", "in_threads", "part_of"]

PARTS = 4
"""How many parts a square has along each side."""

_SPARE = 1.0
_TOGETHER = 2_048
_MOST_THREADS = 8


def in_threads(work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """Return what comes of each of some parts, in order: on every processor, since arrays let threads work."""
    most = min(len(parts), os.cpu_count() or 1, _MOST_THREADS)
    if most <= 1:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(max_workers=most) as pool:
        return list(pool.map(work, parts))


def build_parts(grid: Grid, edges: Floats, column: Column, groups: MunicipalItems) -> Parts:
    """Return for each part of each group's square the municipality that covers all of it, else -1.

    Parameters
    ----------
    grid
        The grid.
    edges
        All municipal edges, shape (m, 4).
    column, groups
        Which square has which group, and what lines come near it, as `build_municipal` says them.

    Returns
    -------
    ndarray
        Shape (groups, PARTS * PARTS), row by row from the lower left. A part is left open where a line is within its
        half diagonal and a foot of its centre, where not exactly one municipality covers that, or where rounding
        could decide it. Squares of one municipality have it in all parts.
    """
    found = np.repeat(groups.whole.astype(np.int16)[:, None], PARTS * PARTS, axis=1)
    crossed = np.flatnonzero(column >= 0)
    crossed = crossed[(groups.whole[column[crossed]] < 0) & (groups.count[column[crossed]] > 0)]
    blocks = [crossed[begin : begin + _TOGETHER] for begin in range(0, len(crossed), _TOGETHER)]
    parts = in_threads(lambda cells: _parts(grid, edges, cells, column[cells].astype(np.int64), groups), blocks)
    for cells, values in zip(blocks, parts, strict=True):
        found[column[cells]] = values
    return found


def _parts(grid: Grid, edges: Floats, cells: Ints, group: Ints, groups: MunicipalItems) -> Parts:
    """Return the municipality of each part of some squares, shape (k, PARTS * PARTS)."""
    side, every = CELL / PARTS, PARTS * PARTS
    at = np.arange(every)
    x = grid.x0 + (cells % grid.columns)[:, None] * CELL + (at % PARTS + 0.5) * side
    y = grid.y0 + (cells // grid.columns)[:, None] * CELL + (at // PARTS + 0.5) * side
    centres = np.column_stack([x.ravel(), y.ravel()])
    whose = np.repeat(group, every)
    place, item = expanded(groups.first[whose], groups.count[whose].astype(np.int64))
    items = groups.items
    counts = items.count[item].astype(np.int64)
    near = nearest_edges(centres[place], edges, items.members, items.first[item], counts)
    open_part = np.zeros(len(centres), dtype=bool)
    open_part[place[near.unsure | (near.distance <= side * np.sqrt(0.5) + _SPARE)]] = True
    base = groups.base[whose]
    covered = (base >= 0) + np.bincount(place[near.inside], minlength=len(centres))
    cover = base.astype(np.int64)
    cover[place[near.inside]] = groups.owner[item[near.inside]]
    return np.where(open_part | (covered != 1), -1, cover).astype(np.int16).reshape(len(cells), every)


def part_of(grid: Grid, xy: Floats) -> Ints:
    """Return which part of its square each place in the grid is in, shape (k,)."""
    side = CELL / PARTS
    column, row = (((xy[:, i] - o) / side).astype(np.int64) % PARTS for i, o in enumerate((grid.x0, grid.y0)))
    return np.asarray(row * PARTS + column, dtype=np.int64)
