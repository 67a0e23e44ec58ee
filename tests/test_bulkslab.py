"""Straight lines that stand for edges: what lies beyond them, against overlays of geometry."""

from __future__ import annotations

import numpy as np
import shapely

from grownj_geo.bulkarea import Outlines
from grownj_geo.bulkslab import Slabs


def _slabs(lot: shapely.Geometry, lines: list[list[float]], best: list[bool] | None = None) -> Slabs:
    edges = np.array(lines, dtype=np.float64)
    owners, number = np.zeros(len(edges), dtype=np.int64), np.arange(len(edges))
    outlines = Outlines.of(np.array([lot], dtype=object))
    return Slabs.of(outlines, owners, number, edges, np.array(best or [True] * len(edges)))


def test_what_lies_beyond_a_line_is_what_an_overlay_says() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        angle = np.sort(rng.uniform(0, 2 * np.pi, 9))
        lot = shapely.Polygon(np.column_stack([40 * np.cos(angle), 70 * np.sin(angle)]) * rng.uniform(0.5, 1, (9, 1)))
        lot = shapely.make_valid(lot).difference(shapely.box(-5, -5, 5, 5))
        turn = rng.uniform(0, 2 * np.pi)
        along = np.array([np.cos(turn), np.sin(turn)])
        start, end = -500 * along, 500 * along
        left = rng.uniform(-60, 60)
        beside = np.array([-along[1], along[0]])
        half = shapely.Polygon([start + left * beside, end + left * beside, end + 900 * beside, start + 900 * beside])
        found = _slabs(lot, [[*start, *end]]).beyond(np.array([left]))
        assert abs(found[0] - lot.intersection(half).area) < 1e-6


def test_edges_that_follow_one_another_are_one_line_and_their_bends_are_known() -> None:
    # Two edges with a bend of 2 to the left, and another edge far to the right.
    slabs = _slabs(shapely.box(40, 5, 60, 25), [[0, 0, 50, 2], [50, 2, 100, 0], [0, -30, 100, -30]])
    assert (slabs.line_low[0], slabs.line_high[0]) == (0.0, 2.0)
    assert (slabs.low[0], slabs.high[0]) == (-30.0, 2.0)
    assert slabs.along[0]
    right, left = slabs.ends()
    assert (slabs.corner[right][0], slabs.corner[left][0]) == (5.0, 25.0)
    assert slabs.beyond(np.array([15.0])).tolist() == [200.0]


def test_a_line_that_ends_beside_the_polygon_does_not_go_along() -> None:
    assert not _slabs(shapely.box(40, 5, 60, 25), [[0, 0, 50, 0]]).along[0]
    closed = _slabs(shapely.box(1, 1, 2, 2), [[0, 0, 9, 0], [9, 0, 9, 9], [9, 9, 0, 0]])
    assert not closed.along[0]


def test_a_ring_has_no_direction_and_still_bounds() -> None:
    slabs = _slabs(shapely.box(-20, -20, 30, 30), [[0, 0, 9, 0], [9, 0, 9, 9], [9, 9, 0, 0]])
    assert not slabs.along[0]
    assert (slabs.low[0], slabs.high[0]) == (0.0, 9.0)
    assert [len(corner) for corner in slabs.ends()] == [1, 1]
    assert slabs.beyond(np.array([9.0])).tolist() == [50.0 * 21.0]


def test_the_edges_that_are_best_make_the_line() -> None:
    slabs = _slabs(shapely.box(40, 5, 60, 25), [[-900, 40, 900, 40], [0, 0, 100, 0]], best=[False, True])
    assert (slabs.line_low[0], slabs.line_high[0], slabs.high[0]) == (0.0, 0.0, 40.0)
