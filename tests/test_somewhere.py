"""A site of which only the municipality is known: what all its places have in common is decided, and nothing else."""

from __future__ import annotations

import gc
import weakref
from functools import cache
from typing import TYPE_CHECKING, Any

import bulk_world as world
import numpy as np
import pytest
import shapely
from drawn import draw, drawn_book, site, square, stations
from hypothesis import given, settings
from hypothesis import strategies as st

from grownj_geo.atlas import Atlas, load_atlas
from grownj_geo.bulk import evaluate_many
from grownj_geo.determine import Engine
from grownj_geo.evaluate import Evaluation
from grownj_geo.leaves import Leaves
from grownj_geo.logic import Cause
from grownj_geo.readings import load_readings
from grownj_geo.rulebook import load_rulebook
from grownj_geo.sitetable import SiteTable
from grownj_geo.somewhere import Somewhere
from grownj_geo.units import FT_PER_FTUS, to_lonlat
from grownj_geo.values import ANSWER, STRICT

if TYPE_CHECKING:
    from grownj_geo.layer import Layer
    from grownj_geo.site import Site

X, Y = 450_000.0, 500_000.0
SIDE = 10_000.0
CITY = square(X, Y, SIDE)
COUNTRY = square(X - 20_000, Y - 20_000, 50_000).difference(CITY)
ROW = {"county": "Camden", "county_code": "04"}
FIGURES = {
    "near": {"unit": "mile", "value": 4},
    "most": {"unit": "share", "value": 0.5},
    "level": {"unit": "percent", "value": 20},
}


def _municipalities(city: shapely.Geometry = CITY, country: shapely.Geometry = COUNTRY) -> Layer:
    rows = [(city, {"mun_code": "0408", "name": "Camden City"} | ROW)]
    rows.append((country, {"mun_code": "0436", "name": "Winslow Township"} | ROW))
    return draw("municipalities", rows, accuracy_ft=72)


def _run(
    rule: dict[str, Any], *layers: Layer, municipalities: Layer | None = None, readings: dict[str, str] | None = None
) -> Evaluation:
    """Return the evaluation of a rule at a site of which the city is known."""
    atlas = Atlas(layers=[municipalities or _municipalities(), *layers])
    return Engine(atlas, drawn_book(rule, parameters=FIGURES), readings or {}).run(_city())


def _city(**more: Any) -> Site:
    return site(None, mun_code="0408", mun_basis="pin", **more)


def _grown(by: float, accuracy_ft: float = 48.0) -> Layer:
    """Return one area that reaches so many US survey feet beyond the city on every side."""
    return draw("port_of_new_york_district", [(square(X - by, Y - by, SIDE + 2 * by), {})], accuracy_ft=accuracy_ft)


def _answer(run: Evaluation) -> tuple[int, list[str], float]:
    values = run.category("answer")
    return values.first, Cause(int(values.causes[0])).words, round(values.margin(), 1)


INSIDE = {"inside": {"layer": "port_of_new_york_district"}}
OVERLAPS = {"overlaps": {"layer": "port_of_new_york_district"}}
OPEN = (0, ["location_unknown"])


@pytest.mark.parametrize("rule", [INSIDE, OVERLAPS], ids=["inside", "overlaps"])
def test_all_of_a_municipality_is_in_where_no_place_is_near_the_line(rule: dict[str, Any]) -> None:
    # 72 ft of the municipality's line and 48 of the area's: with 120 ft or less a place may be near the line.
    edge = 120 / FT_PER_FTUS
    answer, causes, margin = _answer(_run(rule, _grown(edge + 1)))
    assert (answer, causes) == (1, [])
    assert margin == pytest.approx(49.0, abs=0.1)
    assert _answer(_run(rule, _grown(edge - 0.01)))[:2] == OPEN
    assert _answer(_run(rule, _grown(-1)))[:2] == OPEN


@pytest.mark.parametrize("rule", [INSIDE, OVERLAPS], ids=["inside", "overlaps"])
def test_no_part_of_a_municipality_is_in_where_no_place_is_near_the_line(rule: dict[str, Any]) -> None:
    for gap, expected in ((121.0, (-1, [])), (119.0, OPEN), (-50.0, OPEN)):
        area = square(X + SIDE + gap / FT_PER_FTUS, Y, 5_000)
        answer, causes, margin = _answer(_run(rule, draw("port_of_new_york_district", [(area, {})], accuracy_ft=48)))
        assert (answer, causes) == expected
        assert answer == 0 or margin == pytest.approx(-49.0, abs=0.1)


@pytest.mark.parametrize("partial", load_readings()["A3"].options)
def test_however_cut_sites_are_read_a_cut_municipality_is_open(partial: str) -> None:
    most = draw("port_of_new_york_district", [(square(X - 500, Y - 500, SIDE), {})], accuracy_ft=48)
    least = draw("port_of_new_york_district", [(square(X - 500, Y - 500, 1_000), {})], accuracy_ft=48)
    for layer in (most, least):
        for rule in (INSIDE, OVERLAPS):
            assert _answer(_run(rule, layer, readings={"A3": partial}))[:2] == OPEN


def test_a_hole_that_is_no_more_than_a_sliver_of_a_municipality_is_a_whole_parcel() -> None:
    hole = square(X + 4_000, Y + 4_000, 2)
    area = square(X - 500, Y - 500, SIDE + 1_000).difference(hole)
    assert _answer(_run(INSIDE, draw("port_of_new_york_district", [(area, {})])))[:2] == OPEN
    speck = draw("port_of_new_york_district", [(hole, {})])
    assert _answer(_run(OVERLAPS, speck))[:2] == OPEN
    assert _answer(_run({"not": OVERLAPS}, speck))[:2] == OPEN


def test_a_spike_of_a_municipality_counts_like_the_rest_of_it() -> None:
    spike = shapely.Polygon([(X + SIDE, Y), (X + SIDE + 900, Y), (X + SIDE, Y + 0.1)])
    city = shapely.union_all([CITY, spike])
    drawn = _municipalities(city, COUNTRY.difference(spike))
    area = draw("port_of_new_york_district", [(square(X - 300, Y - 300, SIDE + 600), {})])
    assert _answer(_run(INSIDE, area))[0] == 1
    assert _answer(_run(INSIDE, area, municipalities=drawn))[:2] == OPEN


def test_features_that_share_a_line_count_as_one_ground() -> None:
    halves = [
        (shapely.box(X - 500, Y - 500, X + 5_000, Y + SIDE + 500), {"SPDETAIL": "METROPOLITAN"}),
        (shapely.box(X + 5_000, Y - 500, X + SIDE + 500, Y + SIDE + 500), {"SPDETAIL": "SUBURBAN"}),
    ]
    layer = draw("planning_areas", halves, accuracy_ft=48.3)
    both = {"inside": {"layer": "planning_areas", "where": {"planning_area": ["PA1", "PA2"]}}}
    one = {"inside": {"layer": "planning_areas", "where": {"planning_area": ["PA1"]}}}
    assert _answer(_run(both, layer))[0] == 1
    assert _answer(_run(one, layer))[:2] == OPEN
    assert _answer(_run({"not": both}, layer))[0] == -1


def test_parts_of_a_municipality_may_lie_on_both_sides() -> None:
    exclave = square(X + 20_000, Y, 40)
    drawn = _municipalities(shapely.union_all([CITY, exclave]), COUNTRY.difference(exclave))
    area = draw("port_of_new_york_district", [(square(X - 300, Y - 300, SIDE + 600), {})])
    assert _answer(_run(INSIDE, area, municipalities=drawn))[:2] == OPEN


def test_off_the_shore_a_pier_counts_too() -> None:
    shore = _municipalities(CITY, COUNTRY.difference(shapely.box(X + SIDE, Y - 20_000, X + 60_000, Y + 60_000)))
    for gap, expected in ((900.0, 0), (1_150.0, -1)):
        area = draw("port_of_new_york_district", [(square(X + SIDE + gap, Y, 5_000), {})], accuracy_ft=48)
        assert _answer(_run(INSIDE, area, municipalities=shore))[0] == expected
        assert _answer(_run(INSIDE, area))[0] == -1


def test_inner_and_outer_bounds_decide_by_the_bound_that_is_sure() -> None:
    def bounds(inner: float, outer: float) -> Layer:
        rows = [(square(X - by, Y - by, SIDE + 2 * by), {"bound": word}) for by, word in
                ((inner, "inner"), ((inner + outer) / 2, "nominal"), (outer, "outer"))]  # fmt: skip
        return draw("port_of_new_york_district", rows)

    assert _answer(_run(INSIDE, bounds(200, 900)))[0] == 1
    assert _answer(_run(INSIDE, bounds(-200, 900)))[:2] == OPEN


def test_a_layer_that_is_not_complete_proves_no_absence_anywhere() -> None:
    layer = draw("redevelopment_areas", [(square(X + 20_000, Y, 500), {})], complete=False)
    run = _run({"inside": {"layer": "redevelopment_areas"}}, layer)
    assert _answer(run)[:2] == (0, ["layer_incomplete"])


def test_a_tract_without_a_figure_anywhere_leaves_it_open() -> None:
    rule = {"inside": {"layer": "census_tract_poverty", "at_least": {"poverty_rate": "level"}}}
    tract = {"ACS_EDITION": "2011-2015", "TRACT_VINTAGE": "2010"}
    far = (square(X + 20_000, Y, 1_000), {"POVERTY_RATE": "", **tract})
    here = (square(X + 3_000, Y + 3_000, 10), {"POVERTY_RATE": "", **tract})
    assert _answer(_run(rule, draw("census_tract_poverty", [far])))[0] == -1
    assert _answer(_run(rule, draw("census_tract_poverty", [far, here])))[:2] == OPEN


def _station(feet_east: float) -> tuple[float, float, dict[str, Any]]:
    lon, lat = to_lonlat(X + SIDE + feet_east, Y + SIDE / 2)
    return float(lon), float(lat), {"station_id": f"s{feet_east:.0f}", "name": f"Station {feet_east:.0f}"}


WITHIN = {"within": {"layer": "transit_stations", "radius": "near"}}
SHARE = {"share_over": {"layer": "transit_stations", "radius": "near", "share": "most"}}
REACH = 4 * 5280.0


@pytest.mark.parametrize("rule", [WITHIN, {"within": WITHIN["within"] | {"part": "any"}}, SHARE])
def test_a_radius_decides_for_the_farthest_place_and_for_the_nearest(rule: dict[str, Any]) -> None:
    # From a station so far east of the city the farthest corner is this far; 72 ft and the plane's error are allowed.
    for east, expected in ((10_000.0, 1), (11_000.0, 0), (20_000.0, 0), (21_000.0, 0), (21_300.0, -1)):
        run = _run(rule, stations([_station(east)]))
        answer, causes, margin = _answer(run)
        farthest, nearest = np.hypot(east + SIDE, SIDE / 2) * FT_PER_FTUS, east * FT_PER_FTUS
        assert answer == expected, east
        assert causes == ([] if answer else ["location_unknown"])
        if answer and "within" in rule:
            edge = REACH - farthest - 72 if answer == 1 else REACH - nearest + 72
            assert 0 <= abs(edge) - abs(margin) < 6


def test_the_nearest_of_several_decides_and_one_that_may_not_count_proves_only_distance() -> None:
    near, far = _station(5_000.0), _station(40_000.0)
    assert _answer(_run(WITHIN, stations([near, far])))[0] == 1
    assert _answer(_run(WITHIN, stations([far])))[0] == -1
    odd = (*near[:2], near[2] | {"mode": "no such mode"})
    rule = {"within": WITHIN["within"] | {"where": {"mode": "commuter_rail"}}}
    assert _answer(_run(rule, stations([near])))[0] == 1
    assert _answer(_run(rule, stations([odd])))[0] in {0, -1}


def test_no_feature_at_all_is_a_no_without_a_margin() -> None:
    rule = {"within": WITHIN["within"] | {"where": {"mode": "light_rail"}}}
    answer, causes, margin = _answer(_run(rule, stations([_station(5_000.0)])))
    assert (answer, causes) == (-1, [])
    assert np.isnan(margin)


def test_where_the_polygons_cannot_be_used_or_the_code_is_unknown_all_stays_open(atlas: Atlas) -> None:
    table = SiteTable.of([site(None, mun_code="9999", mun_basis="stated"), site(None, mun_code="0408")])
    assert Somewhere.of(atlas, table).codes == ("0408",)
    layer = atlas.layer("port_of_new_york_district")
    assert layer is not None
    found = Somewhere.of(atlas, table).coverage(layer, np.arange(len(layer)))
    assert np.isnan(found.share).tolist() == [True, False]


# -- what is said of it --------------------------------------------------------------------------------


def test_the_record_says_that_it_is_so_in_all_of_the_municipality_or_in_none(atlas: Atlas) -> None:
    record = Engine(atlas, load_rulebook()).determine(_city())
    port, airport = record["port_district"], record["aviation_district"]
    assert port.outcome == "yes"
    assert "all of Camden City is within 15.00 miles of Joseph A. Balzano" in port.why
    assert "away at most" in port.why
    assert airport.outcome == "no"
    assert "no part of Camden City is within 1.00 mile of Atlantic City International Airport: " in airport.why
    seen = airport.evidence[0]
    assert seen.distance_ft is not None
    assert seen.distance_ft.value is None
    assert airport.margin_ft is not None
    assert seen.distance_ft.low is not None
    assert airport.margin_ft == pytest.approx(5280 - seen.distance_ft.low, abs=0.2)
    assert "no part of Camden City is in Port of New York District" in record["port_of_new_york_district"].why
    assert record.site.kind == "municipality"
    assert "location_unknown" in record["transit_oriented_development"].causes


def test_what_is_open_everywhere_does_not_wait_for_a_place() -> None:
    layer = draw("redevelopment_areas", [(square(X + 20_000, Y, 500), {})], complete=False)
    engine = Engine(Atlas(layers=[_municipalities(), layer]), load_rulebook())
    found = engine.determine(_city())["mega_4_area"]
    assert "layer_incomplete" in found.causes
    assert all("place" not in missing.needs for missing in found.would_decide)


# -- many ----------------------------------------------------------------------------------------------


def _codes_near() -> list[str]:
    layer = load_atlas().layer("municipalities")
    assert layer is not None
    box = (world.X0 - world.WIDE, world.Y0 - world.WIDE, world.X0 + world.WIDE, world.Y0 + world.WIDE)
    return [layer.key(int(i)) for i in layer.meeting(layer.select(as_of=load_atlas().as_of), box)]


@pytest.mark.parametrize(
    "readings",
    [{}, {"A3": "any"}, {"A3": "majority"}, {"A3": "all"}, {"A43": "strict"}, {"A47": "one_station"}],
    ids=lambda readings: "-".join(f"{k}={v}" for k, v in readings.items()) or "default",
)
def test_many_municipalities_are_what_each_is_alone(readings: dict[str, str]) -> None:
    engine = world.engine(**readings)
    codes = [*_codes_near()[::3], "0408", "0108", "0408", "9999"]
    sites = [site(None, mun_code=code, mun_basis="pin") for code in codes]
    sites += [site(place) for place in world.hard_points(6, seed=5)]
    table = SiteTable.of(sites)
    assert world.differences(engine, table, evaluate_many(engine, table)) == []
    facts = {"structure_exists": [True, None] * (len(sites) // 2) + [False] * (len(sites) % 2)}
    assert world.differences(engine, table, evaluate_many(engine, table, facts), facts) == []


@pytest.mark.parametrize("book", ["urban-transit-hub", "a1178-areas"])
def test_many_municipalities_under_other_rulebooks(book: str) -> None:
    engine = Engine(world.atlas(), load_rulebook(book))
    table = SiteTable.of([site(None, mun_code=code, mun_basis="pin") for code in _codes_near()[::5]])
    assert world.differences(engine, table, evaluate_many(engine, table)) == []


def test_from_thirty_municipalities_on_those_within_the_state_are_told_by_its_outline(atlas: Atlas) -> None:
    codes = list(atlas.municipal_names)[::11]
    fresh = Atlas(as_of=atlas.as_of)
    layer = fresh.layer("port_of_new_york_district")
    assert layer is not None
    features = np.arange(len(layer))
    together = SiteTable.of([site(None, mun_code=code) for code in codes])
    assert len(codes) > 30
    found = Somewhere.of(fresh, together).coverage(layer, features)
    for row, code in enumerate(codes):
        alone = Somewhere.of(Atlas(as_of=atlas.as_of), SiteTable.of([site(None, mun_code=code)]))
        one = alone.coverage(layer, features)
        assert (found.share[row], found.margin_ft[row]) == pytest.approx((one.share[0], one.margin_ft[0]), nan_ok=True)


def test_what_was_worked_out_is_kept_and_goes_with_its_layers() -> None:
    municipalities, area = _municipalities(), _grown(500)
    table, atlas = SiteTable.of([_city()]), Atlas(layers=[municipalities, area])
    first = Somewhere.of(atlas, table)
    first.coverage(area, np.arange(1))
    again = Somewhere.of(atlas, SiteTable.of([_city()] * 3))
    kept = again._known.covered[area]  # noqa: SLF001 - that it is the same is what is tested
    assert again.coverage(area, np.arange(1)).share.tolist() == [1.0] * 3
    assert [list(codes) for codes in kept.values()] == [["0408"]]
    seen = weakref.ref(municipalities), weakref.ref(area)
    del municipalities, area, atlas, first, again, kept
    gc.collect()
    assert [ref() for ref in seen] == [None, None]


# -- no place of a municipality contradicts it ---------------------------------------------------------


@cache
def _engine(partial: str, *, shipped: bool) -> Engine:
    return Engine(load_atlas(), load_rulebook(), {"A3": partial}) if shipped else world.engine(A3=partial)


def _places(rng: np.random.Generator, area: shapely.Geometry) -> list[shapely.Geometry]:
    """Return places in a municipality: anywhere, at its corners, beyond its line, lots of any size, all of it."""
    x0, y0, x1, y1 = area.bounds
    corners = shapely.get_coordinates(area)
    anywhere = [p for p in shapely.points(rng.uniform((x0, y0), (x1, y1), (12, 2))) if area.intersects(p)]
    at_corners = list(shapely.points(corners[rng.integers(len(corners), size=4)]))
    turn, step = rng.uniform(0, 2 * np.pi, 6), rng.choice([1.0, 40.0, 71.8], 6)
    beyond = shapely.points(
        corners[rng.integers(len(corners), size=6)] + (step * np.array([np.cos(turn), np.sin(turn)])).T
    )
    found = [*anywhere, *at_corners, *beyond, area]
    for middle in [*anywhere[:4], *at_corners]:
        wide, deep = np.exp(rng.uniform(1.0, 8.0, 2))
        lot = shapely.box(middle.x - wide / 2, middle.y - deep / 2, middle.x + wide / 2, middle.y + deep / 2)
        part = shapely.intersection(lot, area)
        found += [p for p in shapely.get_parts(part) if p.geom_type == "Polygon" and p.area > 0.5][:2]
    return found


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    partial=st.sampled_from(sorted(load_readings()["A3"].options)),
    shipped=st.booleans(),
)
def test_no_place_in_a_municipality_contradicts_what_is_said_of_all_of_it(
    seed: int,
    partial: str,
    shipped: bool,  # noqa: FBT001
) -> None:
    rng = np.random.default_rng(seed)
    engine = _engine(partial, shipped=shipped)
    layer = engine.atlas.layer("municipalities")
    assert layer is not None
    codes = list(engine.atlas.municipal_names) if shipped else _codes_near()
    code = codes[int(rng.integers(len(codes)))]
    index = next(int(i) for i in layer.select(as_of=engine.atlas.as_of) if layer.key(int(i)) == code)
    places = _places(rng, layer.geometry(index))
    sites = [site(None, mun_code=code, mun_basis="pin")]
    sites += [site(place, mun_code=code, mun_basis="pin") for place in places]
    leaves = Leaves(engine.bound, engine.atlas, SiteTable.of(sites), feature_cache=engine.feature_cache)
    run = Evaluation(engine.bound, leaves)
    for category in engine.rulebook.categories:
        run.category(category.id)
    for path, values in run.clause_values.items():
        for row in (ANSWER, STRICT):
            said, there = values.outcomes[row, 0], values.outcomes[row, 1:]
            assert not said or (there == said).all(), (code, path, places[int(np.argmax(there != said))].wkt[:200])
        if values.outcomes[ANSWER, 0] and values.margin_ft is not None and np.isfinite(values.margin_ft[0]):
            margins = values.margin_ft[1:][np.isfinite(values.margin_ft[1:])]
            least = float(values.margin_ft[0])
            assert (np.sign(margins) == np.sign(least)).all(), (code, path)
            assert (np.abs(margins) >= abs(least) - 1e-6).all(), (code, path, least, margins.min())


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    by_ft=st.floats(-30.0, 200.0),
    around=st.booleans(),
    rule=st.sampled_from([INSIDE, OVERLAPS, {"not": INSIDE}]),
)
def test_no_place_contradicts_it_where_a_line_runs_along_the_municipality(
    seed: int,
    by_ft: float,
    around: bool,  # noqa: FBT001
    rule: dict[str, Any],
) -> None:
    rng = np.random.default_rng(seed)
    layer = load_atlas().layer("municipalities")
    assert layer is not None
    names = list(load_atlas().municipal_names)
    code = names[int(rng.integers(len(names)))]
    index = next(int(i) for i in layer.select(as_of=load_atlas().as_of) if layer.key(int(i)) == code)
    city = layer.geometry(index)
    ground = shapely.buffer(city, by_ft / FT_PER_FTUS)
    if not around:
        ground = shapely.difference(shapely.buffer(shapely.box(*ground.bounds), 3_000), ground)
    drawn = draw("port_of_new_york_district", [(ground, {})], accuracy_ft=48)
    engine = Engine(Atlas(layers=[drawn]), drawn_book(rule))
    sites = [site(None, mun_code=code, mun_basis="pin")]
    sites += [site(place, mun_code=code, mun_basis="pin") for place in _places(rng, city)]
    values = Evaluation(engine.bound, Leaves(engine.bound, engine.atlas, SiteTable.of(sites))).category("answer")
    said, margin = values.outcomes[ANSWER, 0], values.margin()
    assert not said or by_ft > 119
    if said:
        assert (values.outcomes[ANSWER] == said).all()
        assert values.margin_ft is not None
        assert (np.sign(values.margin_ft) == np.sign(margin)).all()
        assert (np.abs(values.margin_ft) >= abs(margin) - 1e-6).all()


def test_leaves_that_are_told_so_measure_no_municipality(atlas: Atlas) -> None:
    bound = Engine(atlas, load_rulebook()).bound
    table = SiteTable.of([_city()])
    found = Evaluation(bound, Leaves(bound, atlas, table, anywhere=False)).category("aviation_district")
    assert (found.first, Cause(int(found.causes[0])).words) == (0, ["location_unknown"])
    assert Evaluation(bound, Leaves(bound, atlas, table)).category("aviation_district").first == -1
