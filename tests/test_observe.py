"""Distances and shares, against independent computations and drawn ground whose answer is plain."""

from __future__ import annotations

import time
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import pyproj
import pytest
import shapely
from drawn import CAMDEN, around, draw, points, site, square, stations
from hypothesis import given, settings
from hypothesis import strategies as st

from grownj_geo import observe
from grownj_geo.binding import bind
from grownj_geo.evaluate import Evaluation
from grownj_geo.leaves import Leaves
from grownj_geo.observe import Coverage, measure_coverage, measure_distance
from grownj_geo.readings import resolve_readings
from grownj_geo.rulebook import load_rulebook
from grownj_geo.sitetable import SiteTable
from grownj_geo.units import to_lonlat, to_working

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grownj_geo.atlas import Atlas
    from grownj_geo.layer import Layer
    from grownj_geo.site import Site

GEOD = pyproj.Geod(ellps="GRS80")
RING_FT = 79_200.0
X, Y = 450_000.0, 500_000.0


def _vincenty_ft(lon1: np.ndarray, lat1: np.ndarray, lon2: np.ndarray, lat2: np.ndarray) -> np.ndarray:
    """Vincenty's inverse formula on GRS80, in international feet: no part of PROJ."""
    a, f = 6_378_137.0, 1 / 298.257222101
    b = a * (1 - f)
    u1, u2 = np.arctan((1 - f) * np.tan(np.radians(lat1))), np.arctan((1 - f) * np.tan(np.radians(lat2)))
    span = np.radians(np.asarray(lon2) - lon1)
    turn = span + 0.0
    for _ in range(12):
        sin_s = np.hypot(
            np.cos(u2) * np.sin(turn),
            np.cos(u1) * np.sin(u2) - np.sin(u1) * np.cos(u2) * np.cos(turn),
        )
        sin_s = np.maximum(sin_s, 1e-15)
        cos_s = np.sin(u1) * np.sin(u2) + np.cos(u1) * np.cos(u2) * np.cos(turn)
        s = np.arctan2(sin_s, cos_s)
        sin_a = np.cos(u1) * np.cos(u2) * np.sin(turn) / sin_s
        cos2_a = 1 - sin_a**2
        cos_2m = cos_s - 2 * np.sin(u1) * np.sin(u2) / np.maximum(cos2_a, 1e-15)
        c = f / 16 * cos2_a * (4 + f * (4 - 3 * cos2_a))
        turn = span + (1 - c) * f * sin_a * (s + c * sin_s * (cos_2m + c * cos_s * (2 * cos_2m**2 - 1)))
    k = cos2_a * (a * a - b * b) / (b * b)
    big = 1 + k / 16384 * (4096 + k * (-768 + k * (320 - 175 * k)))
    small = k / 1024 * (256 + k * (-128 + k * (74 - 47 * k)))
    change = (
        small
        * sin_s
        * (
            cos_2m
            + small / 4 * (cos_s * (2 * cos_2m**2 - 1) - small / 6 * cos_2m * (4 * sin_s**2 - 3) * (4 * cos_2m**2 - 3))
        )
    )
    return np.asarray(b * big * (s - change) / 0.3048)


def _allowed(feet: np.ndarray) -> np.ndarray:
    """Half a foot up to a mile, a foot up to 15 miles, and in proportion beyond."""
    return np.where(feet <= 5280, 0.5, np.maximum(1.0, feet / RING_FT))


def _places(n: int, seed: int, near: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Half of the places all over the State, half about half a mile from some of the points given."""
    rng = np.random.default_rng(seed)
    half = n // 2
    pick = near[rng.integers(0, len(near), n - half)]
    lon, lat, _ = GEOD.fwd(pick[:, 0], pick[:, 1], rng.uniform(0, 360, n - half), rng.uniform(500, 1100, n - half))
    return (
        np.r_[rng.uniform(-75.6, -73.9, half), lon],
        np.r_[rng.uniform(38.9, 41.4, half), lat],
    )


def _table(lon: np.ndarray, lat: np.ndarray, **more: float) -> SiteTable:
    return SiteTable.of([site(p, **more) for p in shapely.points(np.column_stack(to_working(lon, lat)))])


def _every(layer: Layer) -> np.ndarray:
    return np.arange(len(layer))


def test_1000_station_distances_agree_with_vincentys_formula(atlas: Atlas) -> None:
    layer = atlas.layer("transit_stations")
    assert layer is not None
    assert layer.lonlat is not None
    lon, lat = _places(1000, 20170417, layer.lonlat)
    found = measure_distance(layer, _every(layer), _table(lon, lat))
    to = layer.lonlat
    table = _vincenty_ft(lon[:, None], lat[:, None], to[None, :, 0], to[None, :, 1])
    true = table.min(axis=1)
    assert np.count_nonzero(true < 5280) > 300
    assert (np.abs(found.near - true) <= _allowed(true)).all()
    assert found.feature.tolist() == table.argmin(axis=1).tolist()
    # The interval is that of the nearest station once each station's own uncertainty is allowed for.
    spread = 3.3 + np.array([float(v) for v in layer.columns["coordinate_uncertainty_ft"]])
    assert np.abs(found.near_low - np.maximum((table - spread).min(axis=1), 0)).max() < 0.01
    assert np.abs(found.near_high - (table + spread).min(axis=1)).max() < 0.01


def _outline_ft(shape: shapely.Geometry, lon: np.ndarray, lat: np.ndarray) -> np.ndarray:
    """Distance to an outline cut to 20 ft, by Vincenty, over the corners that can be nearest."""
    corners = shapely.get_coordinates(shapely.segmentize(shape, 20.0))
    to = np.column_stack(to_lonlat(corners[:, 0], corners[:, 1]))
    places = shapely.points(np.column_stack(to_working(lon, lat)))
    feet = np.zeros(len(lon))
    for i in range(len(lon)):
        if shapely.intersects(shape, places[i]):
            continue
        planar = np.hypot(*(corners - shapely.get_coordinates(places[i])).T)
        close = to[planar <= planar.min() + 60]
        feet[i] = _vincenty_ft(lon[i], lat[i], close[:, 0], close[:, 1]).min()
    return feet


def test_1000_distances_to_the_terminals_agree_with_vincentys_formula(atlas: Atlas) -> None:
    layer = atlas.layer("south_jersey_port_terminals")
    assert layer is not None
    rng = np.random.default_rng(15)
    azimuth, away = rng.uniform(0, 360, 500), rng.uniform(0, 20 * 1609.344, 500)
    lon, lat, _ = GEOD.fwd(np.full(500, CAMDEN[0]), np.full(500, CAMDEN[1]), azimuth, away)
    lon, lat = np.r_[lon, rng.uniform(-75.6, -74.0, 500)], np.r_[lat, rng.uniform(39.0, 40.8, 500)]
    by_bound = {
        bound: np.min(
            [_outline_ft(layer.geometry(i), lon, lat) for i in range(8) if layer.columns["bound"][i] == bound], axis=0
        )
        for bound in ("inner", "outer")
    }
    found = measure_distance(layer, _every(layer), _table(lon, lat))
    low, high = np.maximum(by_bound["outer"] - 3.3, 0), by_bound["inner"] + 3.3
    assert (np.abs(found.near_low - low) <= _allowed(low)).all()
    assert (np.abs(found.near_high - high) <= _allowed(high)).all()
    assert np.isnan(found.near).all()


def _values(layers: Sequence[Layer], sites: Sequence[Site], category: str) -> list[tuple[int, float]]:
    from grownj_geo.atlas import Atlas  # noqa: PLC0415 - the type-checking name above is the same

    atlas = Atlas(layers=layers)
    bound = bind(load_rulebook(), as_of=atlas.as_of, readings=resolve_readings({}))
    values = Evaluation(bound, Leaves(bound, atlas, SiteTable.of(sites))).category(category)
    return [(int(values.outcomes[0, i]), values.margin(i)) for i in range(len(sites))]


@pytest.mark.parametrize("step", range(0, 16, 3))
def test_the_15_mile_ring_at_the_middle_of_a_buffers_chords(step: int) -> None:
    terminal = around(CAMDEN, 1500)
    corner = shapely.get_coordinates(terminal).max(axis=0)
    lon, lat = (float(v) for v in to_lonlat(*corner))
    azimuth = (step + 0.5) * 90 / 16
    ring = [GEOD.fwd(lon, lat, azimuth, (RING_FT + d) * 0.3048)[:2] for d in (-50, 50)]
    places = [shapely.Point(*map(float, to_working(*p))) for p in ring]
    # A buffer in the usual resolution would leave the first one out by some 45 ft.
    assert not shapely.buffer(terminal, RING_FT, quad_segs=16).intersects(places[0])
    layer = draw("south_jersey_port_terminals", [(terminal, {"id": "balzano"})])
    (inside, spare), (outside, missed) = _values([layer], [site(p) for p in places], "south_jersey_port")
    assert (inside, outside) == (1, -1)
    assert spare == pytest.approx(50, abs=1)
    assert missed == pytest.approx(-50, abs=1)


def test_the_shipped_terminals_answer_by_their_bounds(atlas: Atlas) -> None:
    layer = atlas.layer("south_jersey_port_terminals")
    assert layer is not None
    away = np.arange(14.0, 17.0, 0.05) * 1609.344
    lon, lat, _ = GEOD.fwd(*(np.full(len(away), v) for v in (*CAMDEN, 50.0)), away)
    near = {b: [i for i in range(8) if layer.columns["bound"][i] == b] for b in ("inner", "outer")}
    bounds = {b: np.min([_outline_ft(layer.geometry(i), lon, lat) for i in n], axis=0) for b, n in near.items()}
    expected = np.where(bounds["inner"] + 3.3 <= RING_FT, 1, np.where(bounds["outer"] - 3.3 > RING_FT, -1, 0))
    found = _values([], [site(shapely.Point(*map(float, to_working(*p)))) for p in zip(lon, lat, strict=True)],
                    "south_jersey_port")  # fmt: skip
    assert [answer for answer, _ in found] == expected.tolist()
    assert set(expected.tolist()) == {-1, 0, 1}
    assert all(m > 0 if a == 1 else m < 0 if a == -1 else np.isnan(m) for a, m in found)


# -- coverage ------------------------------------------------------------------------------------------


def _cover(shapes: Sequence[shapely.Geometry], sites: Sequence[Site], *, accuracy_ft: float = 0.0) -> Coverage:
    layer = draw("planning_areas", [(s, {"SPDETAIL": "METROPOLITAN"}) for s in shapes], accuracy_ft=accuracy_ft)
    return measure_coverage(layer, _every(layer), SiteTable.of(sites))


GROUND = square(X, Y, 1000)


@pytest.mark.parametrize(
    ("shape", "share", "margin"),
    [
        (shapely.Point(X + 500, Y + 500), 1.0, 500.0),
        (shapely.Point(X + 1000, Y + 500), 1.0, 0.0),
        (shapely.Point(X + 1000, Y + 1000), 1.0, 0.0),
        (shapely.Point(X + 1001, Y + 500), 0.0, -1.0),
        (square(X + 100, Y + 100, 100), 1.0, 100.0),
        (square(X + 950, Y + 100, 100), 0.5, np.nan),
        (square(X + 1000, Y + 100, 100), 0.0, 0.0),
        (square(X + 1300, Y + 100, 100), 0.0, -300.0),
        (square(X - 500, Y - 500, 2000), 0.25, np.nan),
        (shapely.MultiPolygon([square(X, Y, 10), square(X + 2000, Y, 10)]), 0.5, np.nan),
    ],
)
def test_share_and_margin_of_drawn_sites(shape: shapely.Geometry, share: float, margin: float) -> None:
    found = _cover([GROUND], [site(shape)])
    assert [float(v[0]) for v in (found.share_low, found.share, found.share_high)] == [share] * 3
    assert float(found.margin_ft[0]) == pytest.approx(margin, abs=0.01, nan_ok=True)


@pytest.mark.parametrize(
    ("x", "shares"),
    [(951, (0, 1, 1)), (1049, (0, 0, 1)), (949, (1, 1, 1)), (1051, (0, 0, 0)), (1000, (0, 1, 1))],
)
def test_a_point_nearer_to_the_line_than_it_is_known_is_open_and_leans(x: float, shares: tuple[int, ...]) -> None:
    found = _cover([GROUND], points([(X + x, Y + 500)]), accuracy_ft=50)
    assert (found.share_low[0], found.share[0], found.share_high[0]) == shares


def test_the_sites_own_uncertainty_widens_the_band() -> None:
    sure = _cover([GROUND], [site(shapely.Point(X + 900, Y + 500), uncertainty_ft=49)], accuracy_ft=50)
    open_ = _cover([GROUND], [site(shapely.Point(X + 900, Y + 500), uncertainty_ft=51)], accuracy_ft=50)
    assert (sure.share_low[0], open_.share_low[0], open_.share[0]) == (1, 0, 1)


def test_a_polygon_in_the_band_has_a_share_between_bounds() -> None:
    # 100 ft wide, 60 in: with 10 ft either way 50 to 70 (a survey foot is 2 parts in a million more).
    found = _cover([GROUND], [site(square(X + 940, Y + 500, 100))], accuracy_ft=10)
    low, share, high = (float(v[0]) for v in (found.share_low, found.share, found.share_high))
    assert (low, share, high) == pytest.approx((0.5, 0.6, 0.7), abs=1e-4)


def test_the_union_of_adjacent_ground_has_no_inner_line() -> None:
    halves = [square(X, Y, 1000), square(X + 1000, Y, 1000)]
    found = _cover(halves, [*points([(X + 1000, Y + 500)]), site(square(X + 950, Y + 450, 100))], accuracy_ft=45)
    assert found.share_low.tolist() == [1, 1]
    assert found.margin_ft.tolist() == pytest.approx([500, 450], abs=0.01)


def test_many_features_give_what_few_give() -> None:
    rng = np.random.default_rng(9)
    grid = [square(X + 700 * i, Y + 700 * j, 600) for i in range(4) for j in range(4)]
    places = [*points(rng.uniform(0, 3000, (60, 2)) + np.array([X, Y]))]
    places += [site(square(X + a, Y + b, 150)) for a, b in rng.uniform(0, 2800, (60, 2))]
    many = _cover(grid, places, accuracy_ft=20)
    one = _cover([shapely.MultiPolygon(grid)], places, accuracy_ft=20)
    for name in ("share_low", "share", "share_high", "margin_ft"):
        np.testing.assert_allclose(getattr(many, name), getattr(one, name), atol=1e-6)


def test_far_from_everything_is_outside_whatever_the_number_of_features() -> None:
    far = points([(X + 200_000, Y)])
    for count in (1, 20):
        found = _cover([square(X + 2000 * i, Y, 1000) for i in range(count)], far)
        assert (found.share_high[0], found.share[0]) == (0, 0)
        assert found.margin_ft[0] <= -2000


def test_no_feature_is_no_ground() -> None:
    layer = draw("planning_areas", [(GROUND, {"SPDETAIL": "PARK"})])
    found = measure_coverage(layer, np.array([], dtype=np.int64), SiteTable.of(points([(X, Y)])))
    assert (found.share_low[0], found.share_high[0]) == (0, 0)


# -- polygons and points -------------------------------------------------------------------------------


def test_near_and_far_of_a_polygon_site() -> None:
    lonlat = tuple(float(v) for v in to_lonlat(X, Y))
    layer = stations([(*lonlat, {})])
    box = shapely.box(X + 1000, Y - 300, X + 2000, Y + 400)
    found = measure_distance(layer, _every(layer), SiteTable.of([site(box)]))
    lon, lat = to_lonlat(np.array([X + 1000, X + 2000]), np.array([Y, Y + 400]))
    near, far = _vincenty_ft(lonlat[0], lonlat[1], lon, lat)
    assert float(found.near[0]) == pytest.approx(near, abs=0.01)
    assert float(found.far[0]) == pytest.approx(far, abs=0.01)


def test_ground_round_a_station_is_at_no_distance() -> None:
    layer = stations([(*(float(v) for v in to_lonlat(X, Y)), {})])
    found = measure_distance(layer, _every(layer), SiteTable.of([site(square(X - 100, Y - 100, 200))]))
    assert (float(found.near[0]), float(found.near_low[0])) == (0, 0)
    assert float(found.far[0]) == pytest.approx(100 * 2**0.5, abs=0.1)


def test_no_feature_is_infinitely_far() -> None:
    layer = stations([(-74.2, 40.5, {})])
    found = measure_distance(layer, np.array([], dtype=np.int64), SiteTable.of(points([(X, Y)])))
    assert float(found.near_low[0]) == np.inf
    assert found.feature[0] == -1


def test_z_is_ignored() -> None:
    flat, high = site(shapely.Point(X + 10, Y + 10)), site(shapely.Point(X + 10, Y + 10, 900))
    assert not shapely.has_z(high.geometry)
    assert any("Z" in note for note in high.notes)
    layer = stations([(*(float(v) for v in to_lonlat(X, Y)), {})])
    found = measure_distance(layer, _every(layer), SiteTable.of([flat, high]))
    assert found.near[0] == found.near[1]
    cover = _cover([GROUND], [flat, high])
    assert cover.margin_ft[0] == cover.margin_ft[1]


# -- doubtful features and heavy ones -------------------------------------------------------------------


@pytest.mark.parametrize("polygon", [False, True])
def test_a_doubtful_station_gives_the_least_distance_and_no_other(*, polygon: bool) -> None:
    rows = [(*(float(v) for v in to_lonlat(X + feet, Y)), {}) for feet in (1000, 3000)]
    layer = stations(rows)
    one = SiteTable.of([site(square(X - 10, Y - 10, 20)) if polygon else site(shapely.Point(X, Y))])
    plain = measure_distance(layer, _every(layer), one)
    near, far = (measure_distance(layer, np.array([i]), one) for i in (0, 1))
    doubt = measure_distance(layer, _every(layer), one, doubtful=np.array([True, False]))
    assert (doubt.near_low, doubt.far_low) == (near.near_low, near.far_low)
    assert (doubt.near_high, doubt.far_high, doubt.feature) == (far.near_high, far.far_high, far.feature)
    assert np.isnan([doubt.near, doubt.far]).all()
    # One that is farther than a sure one changes nothing; where all are doubtful nothing is surely near.
    behind = measure_distance(layer, _every(layer), one, doubtful=np.array([False, True]))
    for name in ("near_low", "near", "near_high", "far_low", "far", "far_high", "feature"):
        assert getattr(behind, name) == getattr(plain, name)
    all_doubtful = measure_distance(layer, _every(layer), one, doubtful=np.array([True, True]))
    assert (all_doubtful.near_low, all_doubtful.near_high) == (plain.near_low, np.inf)
    assert (np.isnan(all_doubtful.near[0]), all_doubtful.feature[0]) == (True, 0)
    none = measure_distance(layer, _every(layer), one, doubtful=np.array([False, False]))
    assert none.near == plain.near


def test_a_doubtful_polygon_counts_as_an_outer_bound_does() -> None:
    layer = draw("south_jersey_port_terminals", [(square(X, Y, 100), {"id": "a"}), (square(X + 900, Y, 100), {})])
    table = SiteTable.of(points([(X + 500, Y + 50), (X + 1050, Y + 50)]))
    doubt = measure_distance(layer, _every(layer), table, doubtful=np.array([False, True]))
    assert doubt.near_low == pytest.approx([400, 50], abs=0.1)
    assert doubt.near_high == pytest.approx([400, 950], abs=0.2)
    assert (doubt.near[0], np.isnan(doubt.near[1])) == (pytest.approx(400, abs=0.1), True)


def _coast(seed: int, vertices: int) -> shapely.Polygon:
    """A polygon of many vertices with a ragged edge, some 20 miles across."""
    rng = np.random.default_rng(seed)
    turn = np.linspace(0, 2 * np.pi, vertices, endpoint=False)
    away = 50_000 + 8_000 * np.sin(7 * turn + seed) + 500 * np.sin(301 * turn) + rng.uniform(-8, 8, vertices)
    middle = X + seed * 85_000
    return shapely.Polygon(np.column_stack([middle + away * np.cos(turn), Y + away * np.sin(turn)]))


@pytest.mark.parametrize("accuracy_ft", [0.0, 75.3])
def test_cutting_heavy_ground_to_the_sites_box_changes_no_answer(
    accuracy_ft: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes = [_coast(0, 9_000), _coast(1, 9_000)]
    layer = draw("highlands_region", [(shape, {}) for shape in shapes], accuracy_ft=accuracy_ft)
    rng = np.random.default_rng(5)
    edge = shapely.get_coordinates(shapes[0])[rng.integers(0, 9_000, 120)]
    by_edge = edge + rng.normal(0, 600, edge.shape)
    anywhere = np.column_stack([rng.uniform(X - 70_000, X + 150_000, 60), rng.uniform(Y - 70_000, Y + 70_000, 60)])
    sites = [
        *points([*by_edge[:80], *anywhere[:40]]),
        *(site(square(x, y, side)) for (x, y), side in zip(by_edge[80:], rng.uniform(50, 900, 40), strict=True)),
        *(site(square(x, y, 40_000), uncertainty_ft=50) for x, y in anywhere[40:]),
    ]
    table = SiteTable.of(sites)
    cut = measure_coverage(layer, _every(layer), table)
    monkeypatch.setattr(observe, "_MANY_VERTICES", 10**9)
    whole = measure_coverage(layer, _every(layer), table)
    for name in ("share_low", "share", "share_high"):
        np.testing.assert_allclose(getattr(cut, name), getattr(whole, name), atol=1e-9)
    assert {0.0, 1.0} < set(cut.share)
    assert cut.feature.tolist() == whole.feature.tolist()
    # The distance to the line is looked for within the limit only, as in a layer of many features.
    np.testing.assert_allclose(cut.margin_ft, np.clip(whole.margin_ft, -2000, 2000), atol=1e-6)
    assert (np.abs(whole.margin_ft) > 2000).sum() > 20


def test_light_ground_keeps_its_whole_margin() -> None:
    cover = _cover([GROUND], points([(X + 50_000, Y)]))
    assert cover.margin_ft[0] < -40_000


def test_two_heavy_features_take_milliseconds() -> None:
    layer = draw("highlands_region", [(_coast(i, 35_751), {}) for i in range(2)], accuracy_ft=75.3)
    edge = shapely.get_coordinates(layer.geometry(0))[::3_575][:10]
    table = SiteTable.of([site(square(x - 100, y - 100, 200)) for x, y in edge])
    measure_coverage(layer, _every(layer), table)
    begin = time.perf_counter()
    measure_coverage(layer, _every(layer), table)
    # Joining the whole features took 31 ms and more for each site.
    assert (time.perf_counter() - begin) / len(edge) < 0.02


# -- order ---------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(6)), st.permutations(range(8)))
def test_the_order_of_features_and_sites_never_matters(features: list[int], order: list[int]) -> None:
    shapes = [square(X + 650 * i, Y + 100 * i, 700) for i in range(6)]
    rows = [(*(float(v) for v in to_lonlat(X + 900 * i, Y)), {}) for i in range(6)]
    sites = [
        *points([(X + 300 * i, Y + 150) for i in range(4)]),
        *(site(square(X + 600 * i, Y, 300)) for i in range(4)),
    ]
    plain, mixed = _cover(shapes, sites), _cover([shapes[i] for i in features], [sites[i] for i in order])
    for name in ("share_low", "share", "share_high", "margin_ft"):
        np.testing.assert_allclose(getattr(plain, name)[order], getattr(mixed, name), atol=1e-9)
    one, two = stations(rows), stations([rows[i] for i in features])
    a = measure_distance(one, _every(one), SiteTable.of(sites))
    b = measure_distance(two, _every(two), SiteTable.of([sites[i] for i in order]))
    for name in ("near_low", "near", "far", "far_high"):
        np.testing.assert_allclose(getattr(a, name)[order], getattr(b, name), atol=1e-6)


def test_ties_between_stations_are_settled_by_the_table() -> None:
    lonlat = tuple(float(v) for v in to_lonlat(X, Y))
    for order in permutations(["a", "b", "c"]):
        layer = stations([(*lonlat, {"station_id": name}) for name in order])
        found = measure_distance(layer, _every(layer), SiteTable.of(points([(X + 100, Y)])))
        assert layer.key(int(found.feature[0])) == order[0]
