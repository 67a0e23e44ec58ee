"""The ground within a distance, drawn: circles and rims of outlines are where the measured distance is the radius."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import shapely
from drawn import NEWARK
from hypothesis import given, settings
from hypothesis import strategies as st

from grownj_geo.arealines import DRAWN_WITHIN_FT
from grownj_geo.layer import INNER, OUTER
from grownj_geo.observe import measure_distance
from grownj_geo.rims import circle_around, rim_around, widened
from grownj_geo.sitetable import SiteTable
from grownj_geo.units import FT_PER_FTUS, geodesic_ft, to_lonlat, to_working

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.determine import Engine

WITHIN_FT = 0.2
X, Y = (float(v) for v in to_working(*NEWARK))


def rim_points(area: shapely.Geometry, step_ft: float) -> NDArray[np.object_]:
    """Return points all along an outline, also between its corners."""
    return np.asarray(shapely.points(shapely.get_coordinates(shapely.segmentize(shapely.boundary(area), step_ft))))


@pytest.mark.parametrize("radius_ft", [5.0, 2640.0 - 121.4, 5280.0, 5280.0 + 403.6, 79_200.0])
@pytest.mark.parametrize("at", [NEWARK, (-74.95, 38.94), (-74.69, 41.35), (-75.5, 39.5)])
def test_a_circle_is_within_the_stated_tolerance_all_along(radius_ft: float, at: tuple[float, float]) -> None:
    xy = shapely.get_coordinates(rim_points(circle_around(*at, radius_ft, within_ft=WITHIN_FT), radius_ft / 500))
    away = geodesic_ft(*at, *to_lonlat(xy[:, 0], xy[:, 1]))
    assert abs(away - radius_ft).max() < 0.25 < DRAWN_WITHIN_FT


@pytest.mark.parametrize("layer_id", ["south_jersey_port_terminals", "atlantic_city_airport"])
@pytest.mark.parametrize("radius_ft", [5280.0 - 3.3, 79_200.0 + 3.3])
def test_a_rim_is_where_the_measured_distance_is_the_radius(engine: Engine, layer_id: str, radius_ft: float) -> None:
    layer = engine.atlas.layer(layer_id)
    assert layer is not None
    chosen = np.flatnonzero(np.isin(layer.bound_kinds, (INNER, OUTER)))[:2]
    for feature in chosen.tolist():
        points = rim_points(rim_around(layer.geometry(feature), radius_ft, within_ft=WITHIN_FT), 800.0)
        n = len(points)
        sites = SiteTable(points, np.zeros(n), np.ones(n, dtype=bool), ("",) * n)
        found = measure_distance(layer, np.array([feature]), sites)
        # The layer's own accuracy is in the bounds.
        slack = float(layer.tolerances_ft[feature])
        is_inner = bool(layer.sure[feature])
        away = found.near_high - slack if is_inner else found.near_low + slack
        assert abs(away - radius_ft).max() < 0.5 < DRAWN_WITHIN_FT


def test_a_rim_around_an_area_with_corners_has_its_size() -> None:
    notched = shapely.box(X, Y, X + 900, Y + 900).difference(shapely.box(X + 300, Y + 300, X + 900, Y + 600))
    ring = rim_around(notched, 60, within_ft=WITHIN_FT)
    assert ring.is_valid
    assert ring.geom_type == "Polygon"
    assert 840_000 < ring.area < 1_110_000


def coast(corners: int, depth_ft: float, seed: int = 3) -> shapely.Polygon:
    """Draw ground whose northern line has many corners, and bends inwards."""
    turn = np.linspace(0.0, np.pi, corners)
    rough = np.random.default_rng(seed).uniform(0.0, depth_ft / 4, corners)
    north = 5_000.0 - depth_ft * np.sin(turn) - rough
    line = np.column_stack([X + np.linspace(9_000.0, 0.0, corners), Y + north])
    return shapely.Polygon([(X, Y), (X + 9_000.0, Y), *line])


def off_ft(rim: shapely.Geometry, area: shapely.Geometry, distance_ft: float, *, geodesic: bool) -> float:
    """Return how far places all along a drawn line are off the distance that they should have."""
    outline = shapely.boundary(area)
    shapely.prepare(outline)
    pairs = shapely.get_coordinates(shapely.shortest_line(outline, rim_points(rim, 25.0))).reshape(-1, 2, 2)
    start, end = pairs[:, 0], pairs[:, 1]
    if geodesic:
        away = geodesic_ft(*to_lonlat(start[:, 0], start[:, 1]), *to_lonlat(end[:, 0], end[:, 1]))
    else:
        away = np.hypot(*(end - start).T) * FT_PER_FTUS
    return float(abs(away - distance_ft).max())


@given(
    corners=st.integers(3, 300),
    depth_ft=st.floats(0.0, 2_000.0),
    radius_ft=st.sampled_from([72.0, 1_000.0, 2_640.0, 79_200.0]),
)
@settings(max_examples=15, deadline=None)
def test_rims_of_outlines_with_many_corners_that_bend_inwards_are_as_near_as_stated(
    corners: int, depth_ft: float, radius_ft: float
) -> None:
    area = coast(corners, depth_ft)
    rim = rim_around(area, radius_ft, within_ft=WITHIN_FT)
    assert off_ft(rim, area, radius_ft, geodesic=True) < 2.5 * WITHIN_FT
    assert shapely.contains_properly(rim, area)
    strip = widened(area, radius_ft, within_ft=WITHIN_FT)
    assert off_ft(strip, area, radius_ft, geodesic=False) < 2.5 * WITHIN_FT


def test_a_strip_is_taken_away_as_near_and_may_take_all() -> None:
    area = coast(200, 900.0)
    less = widened(area, -300.0, within_ft=WITHIN_FT)
    assert off_ft(less, area, 300.0, geodesic=False) < 2.5 * WITHIN_FT
    assert shapely.contains_properly(area, less)
    assert widened(area, -9_000.0, within_ft=WITHIN_FT).is_empty
    assert shapely.equals(widened(area, 0.0, within_ft=WITHIN_FT), area)


def test_of_a_pond_that_is_wide_enough_the_middle_is_left_out() -> None:
    ring = shapely.box(X, Y, X + 9_000, Y + 9_000).difference(shapely.box(X + 2_000, Y + 2_000, X + 7_000, Y + 7_000))
    near = rim_around(ring, 1_000.0, within_ft=WITHIN_FT)
    assert len(near.interiors) == 1
    assert off_ft(near, ring, 1_000.0, geodesic=True) < 2.5 * WITHIN_FT
    assert len(rim_around(ring, 2_600.0, within_ft=WITHIN_FT).interiors) == 0
