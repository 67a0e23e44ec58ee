"""Feet, miles, the working CRS and the ellipsoid, against figures from elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pyproj
import pytest
import shapely

from grownj_geo.units import (
    FT_PER_FTUS,
    FT_PER_METRE,
    geodesic_ft,
    miles_to_ft,
    to_lonlat,
    to_working,
    to_working_geometry,
)


def test_the_survey_foot_is_two_parts_in_a_million_longer() -> None:
    assert pytest.approx(1.000002, abs=1e-9) == FT_PER_FTUS
    assert pytest.approx(3.280839895, abs=1e-9) == FT_PER_METRE
    assert miles_to_ft(15) == 79_200.0
    # A mile is 5,280 international feet: about a hundredth of a foot less in survey feet.
    assert miles_to_ft(1) / FT_PER_FTUS == pytest.approx(5279.98944, abs=1e-5)


def _new_jersey_by_hand(lon: float, lat: float) -> tuple[float, float]:
    """Transverse Mercator of SPCS83 New Jersey by Snyder's series: 74 30, 38 50, k 0.9999."""
    a, f = 6_378_137.0, 1 / 298.257222101
    e2 = f * (2 - f)
    ep2 = e2 / (1 - e2)
    k0, lon0, lat0, x0 = 0.9999, math.radians(-74.5), math.radians(38 + 50 / 60), 150_000.0

    def meridian(phi: float) -> float:
        return a * (
            (1 - e2 / 4 - 3 * e2**2 / 64 - 5 * e2**3 / 256) * phi
            - (3 * e2 / 8 + 3 * e2**2 / 32 + 45 * e2**3 / 1024) * math.sin(2 * phi)
            + (15 * e2**2 / 256 + 45 * e2**3 / 1024) * math.sin(4 * phi)
            - (35 * e2**3 / 3072) * math.sin(6 * phi)
        )

    phi = math.radians(lat)
    n = a / math.sqrt(1 - e2 * math.sin(phi) ** 2)
    t, c = math.tan(phi) ** 2, ep2 * math.cos(phi) ** 2
    q = (math.radians(lon) - lon0) * math.cos(phi)
    x = k0 * n * (q + (1 - t + c) * q**3 / 6 + (5 - 18 * t + t**2 + 72 * c - 58 * ep2) * q**5 / 120)
    y = k0 * (
        meridian(phi)
        - meridian(lat0)
        + n
        * math.tan(phi)
        * (q**2 / 2 + (5 - t + 9 * c + 4 * c**2) * q**4 / 24 + (61 - 58 * t + t**2 + 600 * c - 330 * ep2) * q**6 / 720)
    )
    return (x + x0) * 3937 / 1200, y * 3937 / 1200


@pytest.mark.parametrize(
    ("lon", "lat"), [(-74.5, 38 + 50 / 60), (-75.119, 39.9447), (-74.1641, 40.7344), (-73.9, 41.0)]
)
def test_state_plane_agrees_with_snyders_formulas(lon: float, lat: float) -> None:
    x, y = to_working(lon, lat)
    assert (float(x), float(y)) == pytest.approx(_new_jersey_by_hand(lon, lat), abs=0.01)


def test_the_origin_is_where_the_projection_says() -> None:
    # False easting 150,000 m.
    x, y = to_working(-74.5, 38 + 50 / 60)
    assert (float(x), float(y)) == pytest.approx((492_125.0, 0.0), abs=1e-3)


def test_the_way_there_and_back() -> None:
    rng = np.random.default_rng(1)
    lon, lat = rng.uniform(-75.6, -73.9, 1000), rng.uniform(38.9, 41.4, 1000)
    back = to_lonlat(*to_working(lon, lat))
    assert np.abs(back[0] - lon).max() < 1e-10
    assert np.abs(back[1] - lat).max() < 1e-10


def test_wgs84_is_taken_as_nad83() -> None:
    point = shapely.Point(-74.1641, 40.7344)
    as_wgs84 = to_working_geometry(point, crs="EPSG:4326")
    as_nad83 = to_working_geometry(point, crs="EPSG:4269")
    assert as_wgs84 == as_nad83
    assert (as_wgs84.x, as_wgs84.y) == pytest.approx(tuple(float(v) for v in to_working(-74.1641, 40.7344)))


def test_the_working_crs_comes_back_untouched() -> None:
    box = shapely.box(500_000, 500_000, 600_000, 600_000)
    assert to_working_geometry(box, crs="EPSG:3424") is box


def test_state_plane_in_metres_is_rescaled() -> None:
    x, y = pyproj.Transformer.from_crs(4269, 32111, always_xy=True).transform(-74.1641, 40.7344)
    found = to_working_geometry(shapely.Point(x, y), crs="EPSG:32111")
    wanted = tuple(float(v) for v in to_working(-74.1641, 40.7344))
    assert (found.x, found.y) == pytest.approx(wanted, abs=1e-3)


def test_a_38_mile_side_along_a_parallel_is_not_straight_in_feet() -> None:
    edge = shapely.LineString([(-75.0, 40.3), (-74.276, 40.3)])
    curved = to_working_geometry(edge)
    straight = to_working_geometry(edge, densify=False)
    middle = shapely.Point(*(float(v) for v in to_working((-75.0 - 74.276) / 2, 40.3)))
    assert shapely.length(straight) / 5280 == pytest.approx(38.2, abs=0.2)
    # A chord L leaves the parallel by L * L * tan(latitude) / (8 R): 206 ft here. The densified side follows it.
    assert shapely.distance(middle, straight) == pytest.approx(206, abs=2)
    assert shapely.distance(middle, curved) < 0.1


@pytest.mark.parametrize("crs", ["EPSG:4269", "EPSG:3857", "EPSG:26918"])
def test_sides_are_cut_to_about_500_ft_whatever_the_unit(crs: str) -> None:
    forward = pyproj.Transformer.from_crs(4269, crs, always_xy=True)
    edge = shapely.LineString([forward.transform(-75.0, 40.3), forward.transform(-74.3, 40.3)])
    corners = shapely.get_coordinates(to_working_geometry(edge, crs=crs))
    steps = np.hypot(*np.diff(corners, axis=0).T)
    assert 200 < steps.max() <= 520


@pytest.mark.parametrize(
    ("lat", "feet"),
    # One minute of a GRS80 meridian: 111,132.954 - 559.822 cos 2 phi + 1.175 cos 4 phi metres for a degree.
    [(39.0, 6070.9), (41.0, 6073.0)],
)
def test_a_minute_of_latitude(lat: float, feet: float) -> None:
    degree = 111_132.954 - 559.822 * math.cos(2 * math.radians(lat)) + 1.175 * math.cos(4 * math.radians(lat))
    found = float(geodesic_ft(-74.5, lat - 1 / 120, -74.5, lat + 1 / 120))
    assert found == pytest.approx(degree / 60 / 0.3048, abs=0.05)
    assert found == pytest.approx(feet, abs=0.5)


def test_distances_agree_with_pyproj_and_are_symmetric() -> None:
    rng = np.random.default_rng(2)
    lon, lat = rng.uniform(-75.6, -73.9, (2, 200)), rng.uniform(38.9, 41.4, (2, 200))
    there = geodesic_ft(lon[0], lat[0], lon[1], lat[1])
    metres = pyproj.Geod(a=6378137.0, rf=298.257222101).inv(lon[0], lat[0], lon[1], lat[1])[2]
    assert np.abs(there - np.array(metres) / 0.3048).max() < 1e-4
    assert np.abs(there - geodesic_ft(lon[1], lat[1], lon[0], lat[0])).max() < 1e-6
    assert float(geodesic_ft(-74.0, 40.0, -74.0, 40.0)) == 0.0


def test_one_place_against_many() -> None:
    many = geodesic_ft(-74.0, 40.0, np.array([-74.0, -74.1]), np.array([40.1, 40.0]))
    assert many.shape == (2,)
    assert many[0] == pytest.approx(float(geodesic_ft(-74.0, 40.0, -74.0, 40.1)))


def test_sides_that_would_make_millions_of_vertices_are_refused_before_they_are_cut() -> None:
    teeth = np.arange(8_000)
    x = -75.0 + np.repeat(teeth, 2) * 1e-5
    y = np.where(np.arange(16_000) % 4 // 2 == 0, 40.0, 41.0)
    comb = shapely.LineString(np.column_stack([x, y]))
    with pytest.raises(ValueError, match=r"miles long in all, which makes about 5,8\d\d,\d{3} vertices .* 1,000,000"):
        to_working_geometry(comb)
    assert shapely.get_num_coordinates(to_working_geometry(comb, densify=False)) == 16_000
