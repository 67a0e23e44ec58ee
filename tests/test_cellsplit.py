"""Parts of squares that a municipal line crosses: one municipality covers all of a part, or the part is left open."""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
import shapely
from drawn import draw
from hypothesis import given, settings
from hypothesis import strategies as st

from grownj_geo.atlas import DEFAULT_AS_OF, Atlas
from grownj_geo.bulkfind import MunicipalLines
from grownj_geo.cellbuild import CELL, Grid, build_municipal
from grownj_geo.cellsplit import PARTS, build_parts, in_threads, part_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

X, Y, WIDE = 500_000.0, 500_000.0, 3_000.0


def _split(shapes: Sequence[shapely.Geometry]) -> tuple[Grid, NDArray[np.int32], NDArray[np.int16]]:
    """Return the grid, its groups and their parts of some municipalities, in the order of their codes."""
    rows = [(shape, {"mun_code": f"{i:04d}", "name": f"Town {i}", "county": "X"}) for i, shape in enumerate(shapes)]
    atlas = Atlas(as_of=DEFAULT_AS_OF, layers=[draw("municipalities", rows)])
    lines = MunicipalLines.of(atlas)
    assert lines is not None
    grid = Grid.around((X, Y, X + WIDE, Y + WIDE), 1_000.0)
    column, groups = build_municipal(grid, lines)
    return grid, column, build_parts(grid, lines.edges[0], column, groups)


def _told(split: tuple[Grid, NDArray[np.int32], NDArray[np.int16]], xy: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return what the parts say of some places: -1 for open ones and those in squares without a line."""
    grid, column, parts = split
    entries = column[grid.cell(xy)]
    return np.where(entries >= 0, parts[np.maximum(entries, 0), part_of(grid, xy)], -1)


def _covers(shapes: Sequence[shapely.Geometry], xy: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.stack([shapely.intersects_xy(shape, xy[:, 0], xy[:, 1]) for shape in shapes])


def _halves(at: float) -> list[shapely.Geometry]:
    return [shapely.box(X, Y, X + at, Y + WIDE), shapely.box(X + at, Y, X + WIDE, Y + WIDE)]


def test_parts_far_from_the_line_are_told_and_those_on_it_are_open() -> None:
    grid, *_ = split = _split(_halves(1_500.0))
    # The line's own square, by columns of parts; the line is in one of them.
    left = grid.x0 + np.floor((X + 1_500.0 - grid.x0) / CELL) * CELL
    middles = np.column_stack([left + (np.arange(PARTS) + 0.5) * CELL / PARTS, np.full(PARTS, Y + 1_400.0)])
    told = _told(split, middles)
    on_line = int((X + 1_500.0 - left) // (CELL / PARTS))
    assert told[on_line] == -1
    assert set(told[: max(on_line - 1, 0)].tolist()) <= {0}
    assert set(told[on_line + 2 :].tolist()) <= {1}
    assert (told >= 0).any()


def test_a_line_on_the_border_of_parts_leaves_both_open() -> None:
    at = float(Grid.around((X, Y, X + WIDE, Y + WIDE), 1_000.0).x0) + 40 * CELL / PARTS - X
    split = _split(_halves(at))
    xy = np.array([(X + at + d, Y + 1_400.0) for d in (-63.0, -1.0, 0.0, 1.0, 63.0)])
    assert _told(split, xy).tolist() == [-1] * 5


def test_where_two_overlap_or_none_is_nothing_is_told() -> None:
    shapes = [shapely.box(X, Y, X + 1_600, Y + WIDE), shapely.box(X + 1_400, Y, X + 2_000, Y + WIDE)]
    split = _split(shapes)
    xy = np.random.default_rng(1).uniform((X + 1_401, Y + 300), (X + 1_599, Y + 2_700), (500, 2))
    assert (_told(split, xy) == -1).all()
    nowhere = np.random.default_rng(2).uniform((X + 2_001, Y), (X + WIDE, Y + WIDE), (500, 2))
    assert (_told(split, nowhere) == -1).all()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_what_is_told_is_what_covers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Towns between rough lines, the last one with a hole that belongs to nobody.
    bends = np.column_stack([np.full(60, X), np.linspace(Y, Y + WIDE, 60)])
    cuts = [bends + np.column_stack([base + rng.uniform(-250, 250, 60), np.zeros(60)]) for base in (800, 1_400, 2_200)]
    edges = [bends, *cuts, bends + np.array([WIDE, 0])]
    shapes = [shapely.Polygon([*a, *b[::-1]]) for a, b in pairwise(edges)]
    shapes[-1] = shapes[-1].difference(shapely.Point(X + 2_700, Y + 1_500).buffer(120))
    shapes = [shape if shape.is_valid else shape.buffer(0) for shape in shapes]
    split = _split(shapes)
    xy = rng.uniform((X, Y), (X + WIDE, Y + WIDE), (4_000, 2))
    told, covers = _told(split, xy), _covers(shapes, xy)
    known = np.flatnonzero(told >= 0)
    assert len(known) > 400
    assert (covers[:, known].sum(axis=0) == 1).all()
    assert covers[told[known], known].all()


def test_threads_keep_the_order_and_pass_errors_on() -> None:
    assert in_threads(lambda i: i * i, range(50)) == [i * i for i in range(50)]
    assert in_threads(lambda main: threading.current_thread() is main, [threading.main_thread()]) == [True]
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda i: 1 // (i - 3), range(50))
