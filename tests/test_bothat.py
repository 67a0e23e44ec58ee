"""Where two kinds of ground meet: the nearest place is in both, and nothing nearer is."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from drawn import NEWARK, draw, stations
from hypothesis import given
from hypothesis import strategies as st

from grownj_geo.bothat import Ground, meeting_of
from grownj_geo.units import FT_PER_FTUS, to_working

X, Y = (float(v) for v in to_working(*NEWARK))
HERE = shapely.Point(X, Y)
ONE = np.array([0], dtype=np.int64)


@given(st.floats(100, 900), st.floats(-900, 900), st.floats(200, 2000))
def test_the_place_is_in_both_and_the_way_is_the_shortest(x: float, y: float, radius: float) -> None:
    strip, disc = shapely.box(0, -500, 1000, 500), shapely.Point(x, y).buffer(radius)
    place = shapely.Point(-300, 0)
    found = meeting_of(strip, disc, place, depth_ft=1.0)
    both = shapely.intersection(strip, disc)
    if both.is_empty:
        assert found is None
        return
    assert found is not None
    assert found.least_ft == pytest.approx(shapely.distance(both, place) * FT_PER_FTUS)
    assert shapely.dwithin(both, shapely.Point(found.place), 1e-6)


def test_grounds_that_only_touch_do_not_meet() -> None:
    assert meeting_of(shapely.box(0, 0, 1, 1), shapely.box(1, 0, 2, 1), shapely.Point(-1, 0), depth_ft=0.1) is None


def test_ground_of_a_radius_lies_within_it_by_its_tolerance() -> None:
    layer = stations([(*NEWARK, {"coordinate_uncertainty_ft": "100"})])
    ground = Ground(layer, ONE, 2640.0).near(HERE, 9000.0)
    assert ground is not None
    farthest = np.hypot(*(shapely.get_coordinates(ground) - [X, Y]).T).max() * FT_PER_FTUS
    assert farthest == pytest.approx(2540.0, abs=2.0)


def test_ground_outside_an_area_is_the_rest_of_the_frame() -> None:
    shape = shapely.box(X - 100, Y - 100, X + 100, Y + 100)
    layer = draw("planning_areas", [(shape, {"SPDETAIL": "METROPOLITAN"})])
    ground = Ground(layer, ONE, outside=True).near(HERE, 300.0)
    assert ground is not None
    assert shapely.area(ground) == pytest.approx(600.0**2 - 200.0**2)
    assert Ground(layer, ONE).near(shapely.Point(X + 9000, Y), 300.0) is None
