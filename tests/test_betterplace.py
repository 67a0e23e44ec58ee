"""The nearest place in some ground: it has what is looked for, and ground that has it not is gone past."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from grownj_geo.betterplace import SAME_FT, nearest_place
from grownj_geo.units import FT_PER_FTUS

HERE = shapely.Point(0, 0)
# Whole feet: of sides of 1e-300 ft nobody asks.
near = st.integers(-5000, 5000)
shapes = st.lists(st.tuples(near, near, st.integers(1, 3000), st.integers(1, 3000)), min_size=1, max_size=6)


def away(place: tuple[float, float]) -> float:
    return float(np.hypot(*place)) * FT_PER_FTUS


@given(shapes)
def test_the_nearest_place_is_a_little_within_the_ground(boxes: list[tuple[int, int, int, int]]) -> None:
    ground = shapely.union_all([shapely.box(x, y, x + w, y + h) for x, y, w, h in boxes])
    found = nearest_place(ground, HERE, lambda _: True)
    assert found.place is not None
    assert not found.broken_off
    assert shapely.contains_properly(ground, shapely.Point(found.place))
    nearest = shapely.distance(ground, HERE) * FT_PER_FTUS
    assert nearest <= away(found.place) <= nearest + SAME_FT
    assert found.none_within_ft == pytest.approx(nearest, abs=1e-6)


@given(shapes, shapes)
def test_ground_that_has_it_not_is_gone_past_or_that_is_said(
    boxes: list[tuple[int, int, int, int]], without: list[tuple[int, int, int, int]]
) -> None:
    ground, lacking = (
        shapely.union_all([shapely.box(x, y, x + w, y + h) for x, y, w, h in some]) for some in (boxes, without)
    )
    has = shapely.difference(ground, lacking)
    found = nearest_place(ground, HERE, lambda place: bool(shapely.intersects(has, shapely.Point(place))))
    assert found.place is None or shapely.intersects(has, shapely.Point(found.place))
    true = np.inf if has.is_empty else float(shapely.distance(has, HERE)) * FT_PER_FTUS
    # Nothing is claimed of ground that was not settled.
    assert found.none_within_ft <= true + 1e-6
    if found.place is None or away(found.place) > true + SAME_FT + 1.0:
        assert found.broken_off or true == np.inf


def test_nothing_is_found_beyond_the_limit_and_nothing_is_asked_there() -> None:
    asked: list[tuple[float, float]] = []

    def ask(place: tuple[float, float]) -> bool:
        asked.append(place)
        return True

    ground = shapely.box(1000, -10, 2000, 10)
    assert nearest_place(ground, HERE, ask, limit_ft=900.0).place is None
    assert nearest_place(shapely.Polygon(), HERE, ask).none_within_ft == np.inf
    assert asked == []


def test_in_a_sharp_corner_the_place_is_as_near_as_the_corner() -> None:
    wedge = shapely.Polygon([(500, 0), (4000, -60), (4000, 60)])
    found = nearest_place(wedge, HERE, lambda _: True)
    assert found.place is not None
    # A tenth of a foot within both sides.
    assert away(found.place) - 500 == pytest.approx(0.1 / np.sin(np.arctan2(60, 3500)), rel=0.05)


def test_strips_that_are_too_narrow_to_be_sure_of_are_passed_over() -> None:
    strips = [shapely.box(500 + 3 * i, -4000, 500.05 + 3 * i, 4000) for i in range(40)]
    ground = shapely.union_all([*strips, shapely.box(3000, -50, 3100, 50)])
    found = nearest_place(ground, HERE, lambda _: True)
    assert found.place == pytest.approx((3000.6, 0.0), abs=0.2)
    assert not found.broken_off


def test_a_search_that_is_broken_off_says_so_and_how_far_it_came() -> None:
    found = nearest_place(shapely.box(500, -9000, 9000, 9000), HERE, lambda place: place[0] > 8000)
    assert found.broken_off
    assert found.place is None
    assert found.none_within_ft == pytest.approx(500 * FT_PER_FTUS)
