"""The ground of a class: circles within a foot, bands as wide as places are known, features by value and by figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import shapely
from drawn import draw

from grownj_geo.atlas import Atlas, load_atlas
from grownj_geo.determine import Engine
from grownj_geo.mapareas import MapAreas, draw_areas
from grownj_geo.mapground import CIRCLE_ERROR_FT, OUTLINE_TOLERANCE_FT, circles_around, ring_around
from grownj_geo.rulebook import load_rulebook
from grownj_geo.units import FT_PER_FTUS, geodesic_ft, miles_to_ft, to_lonlat, to_working

if TYPE_CHECKING:
    from grownj_geo.mapground import DrawnClass


@pytest.fixture(scope="module")
def areas(engine: Engine) -> MapAreas:
    return draw_areas(engine)


def class_of(areas: MapAreas, name: str) -> DrawnClass:
    return next(known for known in areas.classes if known.look.id == name)


def between(geometry: shapely.Geometry) -> tuple[np.ndarray, np.ndarray]:
    """Return points on a line, corners and middles of sides, in degrees."""
    xy = shapely.get_coordinates(shapely.segmentize(geometry, shapely.length(geometry) / 2_000))
    return to_lonlat(xy[:, 0], xy[:, 1])


@pytest.mark.parametrize("miles", [0.25, 0.5, 1.0, 15.0])
@pytest.mark.parametrize("place", [(-74.1641, 40.7344), (-75.119, 39.9447), (-74.9, 38.95)])
def test_circles_are_within_a_foot_of_the_true_ones(miles: float, place: tuple[float, float]) -> None:
    (circle,) = circles_around(np.array([place]), miles_to_ft(miles))
    lon, lat = between(circle.exterior)
    off = np.abs(geodesic_ft(np.full_like(lon, place[0]), np.full_like(lat, place[1]), lon, lat) - miles_to_ft(miles))
    assert off.max() < CIRCLE_ERROR_FT + 0.02


def test_the_ring_around_a_place_is_within_a_foot_of_the_true_distance(atlas: Atlas) -> None:
    layer = atlas.layer("south_jersey_port_terminals")
    assert layer is not None
    for i in range(len(layer)):
        ground, radius = layer.geometry(i), miles_to_ft(15.0)
        lon, lat = between(shapely.boundary(ring_around(ground, radius)))
        edge = shapely.get_coordinates(shapely.segmentize(shapely.boundary(ground), 25.0))
        x, y = to_lonlat(edge[:, 0], edge[:, 1])
        some = slice(None, None, 40)
        far = geodesic_ft(lon[some, None], lat[some, None], x[None, :], y[None, :]).min(axis=1)
        # Points 25 ft apart on the terminal's line are off the nearest one by less than a hundredth at 15 miles.
        assert np.abs(far - radius).max() < 1.0, layer.name(i)


def test_a_station_has_a_band_as_wide_as_its_place_is_known(areas: MapAreas, engine: Engine) -> None:
    half = class_of(areas, "station_radius")
    layer = engine.atlas.layer("transit_stations")
    assert layer is not None
    by_name = {layer.name(i): float(layer.tolerances_ft[i]) for i in range(len(layer))}
    sure = [area for area in half.areas if area.sureness == "sure"]
    bands = [area for area in half.areas if area.sureness == "possible"]
    assert len(sure) == len(bands) == len(half.points)
    for inner, outer, (name, lon, lat) in zip(sure[::20], bands[::20], half.points[::20], strict=True):
        assert outer.band_ft == by_name[name] > 0
        for area, sign in ((inner, -1), (outer, 1)):
            at = between(area.geometry.exterior)
            off = geodesic_ft(np.full_like(at[0], lon), np.full_like(at[0], lat), *at)
            assert np.abs(off - (2640.0 + sign * by_name[name])).max() < CIRCLE_ERROR_FT + 0.02
    assert any("between the full and the dashed line" in note for note in half.notes)


def test_bounds_and_terminals_that_do_not_count_yet_are_drawn_as_possible() -> None:
    before = Engine(load_atlas(as_of="2016-06-01"), load_rulebook())
    port = class_of(draw_areas(before), "south_jersey_port")
    kinds = {(a.name, a.note): a.sureness for a in port.areas}
    assert kinds["Paulsboro Marine Terminal", "open whether it counts"] == "possible"
    assert kinds["Salem Terminal", "innermost line: surely within"] == "sure"
    assert kinds["Salem Terminal", "outermost line that it can have"] == "possible"


def test_features_are_chosen_by_value_and_by_figure() -> None:
    x, y = (float(v) for v in to_working(-74.1641, 40.7344))
    places = [shapely.box(x + 9_000 * k, y, x + 9_000 * k + 5_000, y + 5_000) for k in range(4)]
    plan = draw(
        "planning_areas",
        [
            (places[0], {"SPDETAIL": "METROPOLITAN"}),
            (places[1], {"SPDETAIL": "RURAL"}),
            (places[2], {"SPDETAIL": "PARK"}),
            (places[3], {"SPDETAIL": "SOMETHING NEW"}),
        ],
    )
    tracts = draw(
        "census_tract_poverty",
        [
            (places[k], {"GEOID": f"3401300010{k}", "NAMELSAD": f"Tract {k}", "POVERTY_RATE": rate,
                         "ACS_EDITION": "2011-2015", "TRACT_VINTAGE": "2010"})
            for k, rate in enumerate(("19.96", "20.0", "", "35"))
        ],
    )  # fmt: skip
    engine = Engine(Atlas(layers=[plan, tracts]), load_rulebook())
    found = draw_areas(engine)
    assert [a.sureness for a in class_of(found, "planning_area_1").areas] == ["sure", "possible"]
    assert [a.name for a in class_of(found, "planning_area_4a").areas if a.sureness == "sure"] == ["RURAL"]
    assert [a.name for a in class_of(found, "deep_poverty_tract").areas] == ["Tract 1", "Tract 3"]
    assert "not drawn, for want of a figure: 1 feature" in class_of(found, "deep_poverty_tract").notes


def test_a_large_layer_is_simplified_further_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grownj_geo.mapground._MOST_VERTICES", 60)
    x, y = (float(v) for v in to_working(-74.1641, 40.7344))
    round_ground = shapely.Point(x, y).buffer(40_000, quad_segs=400)
    zone = draw("meadowlands_district", [(round_ground, {})])
    known = class_of(draw_areas(Engine(Atlas(layers=[zone]), load_rulebook())), "meadowlands_district")
    assert known.drawn_to_ft > OUTLINE_TOLERANCE_FT
    geometry = known.areas[0].geometry
    assert geometry is not None
    assert shapely.get_num_coordinates(geometry) <= 60
    assert shapely.hausdorff_distance(geometry, round_ground) * FT_PER_FTUS <= known.drawn_to_ft
