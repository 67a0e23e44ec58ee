"""What is drawn: true circles, outlines near their layers, classes as the rules have them, and what is left out."""

from __future__ import annotations

from datetime import date
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
import shapely
from drawn import draw

from grownj_geo.atlas import Atlas, load_atlas
from grownj_geo.bulk import evaluate_many
from grownj_geo.determine import Engine
from grownj_geo.mapareas import MapAreas, draw_areas, radius_words
from grownj_geo.mapground import OUTLINE_TOLERANCE_FT
from grownj_geo.palette import area_class
from grownj_geo.rulebook import load_rulebook
from grownj_geo.sitetable import SiteTable
from grownj_geo.units import FT_PER_FTUS, to_working

if TYPE_CHECKING:
    from grownj_geo.mapground import DrawnClass


@cache
def engine_of(day: str) -> Engine:
    return Engine(load_atlas(as_of=day), load_rulebook())


@cache
def areas_of(day: str) -> MapAreas:
    """Return what is drawn on a day, once for all tests."""
    return draw_areas(engine_of(day))


@pytest.fixture(scope="module")
def areas() -> MapAreas:
    return areas_of("2017-04-17")


def class_of(areas: MapAreas, name: str) -> DrawnClass:
    return next(known for known in areas.classes if known.look.id == name)


def test_station_circles_of_the_map_are_the_rulebooks(areas: MapAreas, engine: Engine) -> None:
    half, mile = class_of(areas, "station_radius"), class_of(areas, "station_radius_growth_zone")
    assert half.label == "Within ½ mile of a rail station"
    assert mile.label == "Within 1 mile of a rail station, for growth zones"
    layer = engine.atlas.layer("transit_stations")
    assert layer is not None
    rail = [
        i
        for i in layer.select(as_of=engine.atlas.as_of).tolist()
        if layer.value("mode", i) in {"commuter_rail", "light_rail", "rapid_transit"}
        and layer.value("out_of_state", i) == "false"
    ]
    assert sorted(name for name, _, _ in half.points) == sorted(layer.name(i) for i in rail)
    sure = [area for area in half.areas if area.sureness == "sure"]
    for area, (name, lon, lat) in zip(sure, half.points, strict=True):
        x, y = (float(v) for v in to_working(lon, lat))
        assert area.name == name
        assert shapely.contains_xy(area.geometry, x, y)


def all_within(limit: float, whole: list[shapely.Geometry], drawn: list[shapely.Geometry]) -> bool:
    """Return whether no place on the lines of some outlines is further from the lines that are drawn for them."""
    lines = shapely.boundary(np.asarray(drawn, dtype=object))
    shapely.prepare(lines)
    own = shapely.boundary(np.asarray(whole, dtype=object))
    xy, at = shapely.get_coordinates(shapely.segmentize(own, 200.0), return_index=True)
    return bool(shapely.dwithin(lines[at], shapely.points(xy), limit).all())


def test_outlines_are_near_their_layer_and_leave_no_gap(areas: MapAreas, atlas: Atlas) -> None:
    layer = atlas.layer("municipalities")
    assert layer is not None
    by_key = {layer.key(i): layer.geometry(i) for i in layer.select(as_of=atlas.as_of).tolist()}
    assert {outline.code for outline in areas.municipalities} == set(by_key)
    whole = [by_key[outline.code] for outline in areas.municipalities]
    drawn = [outline.geometry for outline in areas.municipalities]
    # A page rounds to a hundred-thousandth of a degree.
    limit = (OUTLINE_TOLERANCE_FT - 3.0) / FT_PER_FTUS
    assert all_within(limit, whole, drawn)
    assert all_within(limit, drawn, whole)
    assert not all_within(limit / 2, whole, drawn)
    state = shapely.coverage_union_all([outline.geometry for outline in areas.municipalities])
    assert abs(sum(outline.geometry.area for outline in areas.municipalities) / state.area - 1) < 1e-4
    assert len(areas.counties) == 21


def test_outlines_that_do_not_ship_are_measured() -> None:
    # A coast of long, thin teeth: each cuts off little ground, and much of a distance.
    teeth = [(600_000.0 + 0.5 * k, 500_000.0 + (300.0 if k % 2 else 0.0)) for k in range(200)]
    town = shapely.Polygon([*teeth, (teeth[-1][0], 490_000.0), (teeth[0][0], 490_000.0)])
    names = {"MUN": "Newark City", "COUNTY": "ESSEX", "MUN_CODE": "0714"}
    layer = draw("municipalities", [(town, names)], least_features=1)
    (outline,) = draw_areas(Engine(Atlas(layers=[layer]), load_rulebook()), classes=()).municipalities
    assert all_within((OUTLINE_TOLERANCE_FT - 3.0) / FT_PER_FTUS, [town], [outline.geometry])


def test_municipal_classes_are_what_the_rules_say_of_municipalities_alone(areas: MapAreas) -> None:
    zones = class_of(areas, "growth_zone")
    assert sorted(a.name.split(",")[0] for a in zones.areas if a.sureness == "sure") == [
        "Atlantic City",
        "Camden City",
        "Passaic City",
        "Paterson City",
        "Trenton City",
    ]
    hubs = class_of(areas, "urban_transit_hub_municipality")
    assert len(hubs.areas) == 9
    southern = class_of(areas, "southern_eight")
    counties = {a.name.split(", ")[1] for a in southern.areas}
    assert len(counties) == 8
    distressed = class_of(areas, "distressed_municipality")
    open_still = [a for a in distressed.areas if a.sureness == "possible"]
    assert open_still
    assert all(a.note == "undetermined: fact missing" for a in open_still)


@pytest.mark.slow
@pytest.mark.parametrize("day", ["2014-06-02", "2017-04-17", "2018-11-01"])
def test_what_is_drawn_at_a_place_is_what_the_place_is_answered(day: str) -> None:
    engine, found = engine_of(day), areas_of(day)
    state = shapely.union_all([outline.geometry for outline in found.municipalities])
    shapely.prepare(state)
    places = np.random.default_rng(7).uniform(state.bounds[:2], state.bounds[2:], (6_000, 2))
    places = places[shapely.contains_xy(state, *places.T)][:2_000]
    # And some around the airport, where a random place rarely is.
    ring = class_of(found, "aviation_district").areas[0].geometry
    assert ring is not None
    near = np.random.default_rng(8).uniform(ring.bounds[:2], ring.bounds[2:], (200, 2))
    xy = np.vstack([places, near])
    lines = shapely.union_all([shapely.boundary(outline.geometry) for outline in found.municipalities])
    points = np.asarray(shapely.points(xy))
    # An outline may be drawn 60 ft off, and the State's own lines are known to 72 ft.
    points = points[shapely.distance(points, lines) > 200.0]
    assert len(points) > 1_500
    n = len(points)
    answers = evaluate_many(engine, SiteTable(points, np.zeros(n), np.ones(n, dtype=bool), ("",) * n))
    tree = shapely.STRtree(points)
    checked = 0
    for known in found.classes:
        category = known.look.draw.category if known.look.draw else None
        if known.look.id in {"aviation_district", "south_jersey_port"}:
            category = known.look.id
        if category is None:
            continue
        drawn = np.full(n, -1)
        for area in sorted(known.areas, key=lambda a: a.sureness == "sure"):
            geometry = area.geometry if area.mun_code is None else found.outline(area.mun_code)
            drawn[tree.query(geometry, predicate="contains")] = 1 if area.sureness == "sure" else 0
        wrong = drawn != answers.outcome(category)
        assert not wrong.any(), (known.look.id, int(wrong.sum()), points[wrong][:3])
        checked += 1
    assert checked == 7


def test_a_growth_zone_by_distance_is_drawn_by_its_line_and_opens_no_municipality() -> None:
    def zones(day: str) -> list[tuple[str, str]]:
        return [(a.name, a.sureness) for a in class_of(areas_of(day), "growth_zone").areas if a.mun_code is None]

    assert zones("2018-10-02") == []
    assert {sureness for _, sureness in zones("2018-10-03")} == {"possible"}
    assert {sureness for _, sureness in zones("2018-11-01")} == {"sure", "possible"}
    for day in ("2018-10-03", "2018-11-01"):
        whole = [a.name for a in class_of(areas_of(day), "growth_zone").areas if a.mun_code is not None]
        assert len(whole) == 5


def test_terminals_count_from_their_first_vessel(areas: MapAreas) -> None:
    port = class_of(areas, "south_jersey_port")
    sure = {a.name for a in port.areas if a.sureness == "sure"}
    assert "Paulsboro Marine Terminal" in sure


def test_layers_that_are_not_loaded_are_named_with_how_to_get_them(areas: MapAreas) -> None:
    missing = {known.look.id: known for known in areas.not_drawn}
    assert missing["planning_area_1"].why == "not loaded"
    assert missing["planning_area_1"].how.startswith("grownj layers fetch planning_areas")
    assert areas.problems == ()


def test_a_broken_layer_is_told_and_not_drawn() -> None:
    broken = draw("meadowlands_district", [])
    atlas = Atlas(layers=[broken], manifests=None)
    manifest = broken.manifest.model_copy(update={"least_features": 1})
    broken = type(broken)(manifest, broken.columns, broken.bounds, broken.fingerprint)
    atlas = Atlas(layers=[broken])
    found = draw_areas(Engine(atlas, load_rulebook()))
    missing = {known.look.id: known for known in found.not_drawn}
    assert missing["meadowlands_district"].why.startswith("could not be used")
    assert found.problems


def test_a_rulebook_without_a_category_has_no_class_of_it(atlas: Atlas) -> None:
    found = draw_areas(Engine(atlas, load_rulebook("urban-transit-hub")))
    drawn = {known.look.id for known in found.classes}
    assert "growth_zone" not in drawn
    assert "station_radius" not in drawn
    assert "port_of_new_york_district" in drawn


def test_only_the_classes_asked_for_are_drawn(engine: Engine) -> None:
    found = draw_areas(engine, classes=[area_class("growth_zone")])
    assert [known.look.id for known in found.classes] == ["growth_zone"]
    assert {source.layer for source in found.sources} == {"designations", "municipalities"}


def test_radii_read_as_people_say_them() -> None:
    assert [radius_words(m) for m in (0.5, 0.25, 1, 2, 15, 0.3)] == [
        "½ mile",
        "¼ mile",
        "1 mile",
        "2 miles",
        "15 miles",
        "0.3 miles",
    ]


def test_the_day_is_the_atlas_day(areas: MapAreas, engine: Engine) -> None:
    assert engine.atlas.as_of == date(2017, 4, 17)
    assert any(source.edition == "edition of 2021-01-01" for source in areas.sources)
