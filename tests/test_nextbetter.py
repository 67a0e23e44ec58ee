"""The next better line: the distance named reaches it, and no shorter way in any direction does."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import cos, isfinite, pi, sin
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import shapely
from drawn import NEWARK, around, draw, drawn_book, drawn_category, site, stations
from hypothesis import Phase, example, given, reject, settings
from hypothesis import strategies as st

from grownj_geo.atlas import Atlas, load_atlas
from grownj_geo.bettersearch import MOST_VERTICES
from grownj_geo.betterways import BEYOND_FT
from grownj_geo.bulk import evaluate_many
from grownj_geo.candidates import Candidate
from grownj_geo.compare import Comparer
from grownj_geo.determine import Engine
from grownj_geo.errors import OutsideNewJerseyError
from grownj_geo.nextbetter import Finder, next_better
from grownj_geo.rulebook import Rulebook
from grownj_geo.site import Site
from grownj_geo.sitetable import SiteTable
from grownj_geo.units import FT_PER_FTUS, geodesic_ft, to_working

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grownj_geo.betterwords import Better, NextBetter
    from grownj_geo.layer import Layer

X, Y = (float(v) for v in to_working(*NEWARK))
WITHIN = {"within": {"layer": "transit_stations", "radius": "reach"}}
PA1 = {"inside": {"layer": "planning_areas", "where": {"planning_area": ["PA1"]}}}
LISTED = {"designated": {"list": "urban_transit_hub_municipality"}}


def book(*rules: tuple[int, Any]) -> Rulebook:
    """Return a rulebook with one line for each rule, its dollars first; the first is reached everywhere."""
    drawn = drawn_book(
        {"in_new_jersey": True},
        categories=[drawn_category(f"line_{dollars}", rule) for dollars, rule in rules],
        parameters={"reach": {"unit": "mile", "value": 0.5}},
    )
    raw = drawn.model_dump(mode="json", by_alias=True)
    lines = [(1, "answer"), *((dollars, f"line_{dollars}") for dollars, _ in rules)]
    raw["tiers"] = [
        {"id": f"t{dollars}", "label": f"l{dollars}", "dollars": dollars, "category": category, "citation": "none",
         "status": "confirmed"}
        for dollars, category in lines
    ]  # fmt: skip
    return Rulebook.model_validate(raw)


def engine_of(rulebook: Rulebook, *layers: Layer) -> Engine:
    return Engine(Atlas(layers=layers), rulebook)


def station(dx: float, dy: float, **more: Any) -> tuple[float, float, dict[str, Any]]:
    """Return a station so many US survey feet east and north of Newark."""
    from grownj_geo.units import to_lonlat  # noqa: PLC0415 - only here

    lon, lat = to_lonlat(X + dx, Y + dy)
    return float(lon), float(lat), more


def areas(*shapes: shapely.Geometry, accuracy_ft: float = 0.0) -> Layer:
    return draw("planning_areas", [(shape, {"SPDETAIL": "METROPOLITAN"}) for shape in shapes], accuracy_ft=accuracy_ft)


def at(dx: float, dy: float, *, uncertainty_ft: float = 0.0) -> Site:
    return site(shapely.Point(X + dx, Y + dy), uncertainty_ft=uncertainty_ft)


def floor_of(engine: Engine, where: Site) -> int | None:
    tier = engine.determine(where).tier
    return None if tier is None else tier.floor


def reaches(engine: Engine, found: NextBetter, dollars: int) -> bool:
    """Return whether the place that is named has the line."""
    (line,) = [line for line in found.lines if line.dollars == dollars]
    assert line.nearest is not None
    there = Site.from_lonlat(line.nearest.longitude, line.nearest.latitude)
    return (floor_of(engine, there) or 0) >= dollars


def no_shorter_way(engine: Engine, where: Site, found: NextBetter, *, share: float = 0.999) -> None:
    """Move the site a little less far than is named, in 64 directions: none of them may reach the line."""
    line = found.lines[0]
    assert line.nearest is not None
    least = line.nearest.distance_ft.low
    assert least is not None
    assert where.geometry is not None
    away = (least * share - 1.0) / FT_PER_FTUS
    for i in range(64 if away > 0 else 0):
        angle = 2 * pi * i / 64
        moved = shapely.affinity.translate(where.geometry, away * cos(angle), away * sin(angle))
        try:
            assert (floor_of(engine, site(moved)) or 0) < (line.dollars or 0), (i, away)
        except OutsideNewJerseyError:
            continue


# -- one clause ---------------------------------------------------------------------------------------

far = st.floats(-9000, 9000)
places = st.lists(st.tuples(far, far), min_size=1, max_size=5)


@pytest.mark.slow
@given(places, far, far, st.floats(0, 300))
@settings(max_examples=25, deadline=None)
def test_a_radius_is_reached_by_the_distance_and_by_no_shorter_one(
    where: list[tuple[float, float]], x: float, y: float, unsure: float
) -> None:
    layer = stations([station(*xy, coordinate_uncertainty_ft=str(unsure)) for xy in where])
    engine = engine_of(book((2, WITHIN)), layer)
    found = next_better(engine, at(x, y))
    if floor_of(engine, at(x, y)) == 2:
        assert found.lines == ()
        return
    assert reaches(engine, found, 2)
    no_shorter_way(engine, at(x, y), found)
    step = found.lines[0].nearest
    assert step is not None
    low, value, high = step.distance_ft.low, step.distance_ft.value, step.distance_ft.high
    assert low is not None
    assert value is not None
    assert high is not None
    assert low <= value <= high
    assert high - value == pytest.approx(unsure, abs=0.11)
    there = to_working(step.longitude, step.latitude)
    assert geodesic_ft(*lonlat(x, y), step.longitude, step.latitude) == pytest.approx(high + BEYOND_FT, abs=0.2)
    assert isfinite(float(there[0]))


def lonlat(dx: float, dy: float) -> tuple[float, float]:
    lon, lat, _ = station(dx, dy)
    return lon, lat


boxes = st.lists(st.tuples(far, far, st.floats(300, 4000), st.floats(300, 4000)), min_size=1, max_size=4)


@pytest.mark.slow
@given(boxes, far, far, st.sampled_from([0.0, 48.3]))
@settings(max_examples=25, deadline=None)
def test_an_area_is_reached_by_the_distance_and_by_no_shorter_one(
    drawn: list[tuple[float, float, float, float]], x: float, y: float, accuracy: float
) -> None:
    shapes = [shapely.box(X + a, Y + b, X + a + w, Y + b + h) for a, b, w, h in drawn]
    if len(shapes) > 1 and shapely.union_all(shapes).area < sum(shape.area for shape in shapes) - 1:
        shapes = shapes[:1]  # planning areas do not overlap
    engine = engine_of(book((2, PA1)), areas(*shapes, accuracy_ft=accuracy))
    if any(shape.intersects(shapely.Point(X + x, Y + y)) for shape in shapes):
        return
    found = next_better(engine, at(x, y))
    assert reaches(engine, found, 2)
    no_shorter_way(engine, at(x, y), found)
    nearest = min(shape.distance(shapely.Point(X + x, Y + y)) for shape in shapes) * FT_PER_FTUS
    step = found.lines[0].nearest
    assert step is not None
    assert step.distance_ft.value == pytest.approx(nearest, rel=2e-4, abs=0.1)


@given(st.floats(0, 360), st.floats(500, 30_000))
@settings(max_examples=15, deadline=None)
def test_a_municipality_of_a_list_is_reached_and_by_no_shorter_way(angle: float, away: float) -> None:
    where = at(away * cos(angle), away * sin(angle))
    engine = municipal_engine()
    try:
        found = next_better(engine, where)
    except OutsideNewJerseyError:
        return
    if not found.lines:
        assert floor_of(engine, where) == 2
        return
    assert reaches(engine, found, 2)
    no_shorter_way(engine, where, found)


_ENGINES: list[Engine] = []


def municipal_engine() -> Engine:
    if not _ENGINES:
        _ENGINES.append(Engine(load_atlas(), book((2, LISTED))))
    return _ENGINES[0]


def test_beyond_a_sharp_corner_the_way_does_not_lead_out_again() -> None:
    wedge = shapely.Polygon([(X, Y), (X + 4000, Y + 60), (X + 4000, Y + 900)])
    engine = engine_of(book((2, PA1)), areas(wedge, accuracy_ft=10.0))
    where = at(-500.0, -900.0)
    assert reaches(engine, next_better(engine, where), 2)


OUT: dict[str, Any] = {"not": {"inside": {"layer": "planning_areas", "where": {"planning_area": ["PA1"]}}}}


@pytest.mark.slow
@given(st.floats(-2900, 2900), st.floats(-2900, 2900), st.sampled_from([0.0, 48.3]))
@settings(max_examples=25, deadline=None)
def test_the_way_out_of_an_excluded_area_leads_out_and_no_shorter_one_does(x: float, y: float, accuracy: float) -> None:
    # Two that touch: their common line is no way out.
    shapes = [shapely.box(X - 3000, Y - 3000, X + 500, Y + 3000), shapely.box(X + 500, Y - 3000, X + 3000, Y + 3000)]
    engine = engine_of(book((2, OUT)), areas(*shapes, accuracy_ft=accuracy))
    found = next_better(engine, at(x, y))
    assert reaches(engine, found, 2)
    no_shorter_way(engine, at(x, y), found)
    step = found.lines[0].nearest
    assert step is not None
    assert step.distance_ft.value == pytest.approx((3000 - max(abs(x), abs(y))) * FT_PER_FTUS, rel=3e-4, abs=0.1)
    assert "to the way out of" in step.words


def test_far_inside_an_excluded_area_the_way_out_is_found() -> None:
    engine = engine_of(book((2, OUT)), areas(shapely.box(X - 60_000, Y - 60_000, X + 60_000, Y + 60_000)))
    (line,) = next_better(engine, at(-20_000.0, 0.0)).lines
    assert line.nearest is not None
    assert line.nearest.distance_ft.value == pytest.approx(40_000.0, rel=3e-4)


# -- what is said -------------------------------------------------------------------------------------


def test_the_sentence_names_feet_radius_station_and_area() -> None:
    engine = engine_of(book((2, WITHIN)), stations([station(0, 0, name="Penn", station_id="p")]))
    found = next_better(engine, at(0.0, 3880.0))
    assert found.words.startswith("$2 (l2): 1,240 ft to the radius of 0.50 miles around Penn (line_2)")
    assert found.floor == 1


def test_inside_as_computed_and_not_surely() -> None:
    engine = engine_of(book((2, WITHIN)), stations([station(0, 0, name="Penn", coordinate_uncertainty_ft="164")]))
    where = at(0.0, 2600.0)
    assert engine.determine(where).tier.ceiling == 2  # type: ignore[union-attr]
    found = next_better(engine, where)
    assert "inside the radius of 0.50 miles around Penn by 40 ft as computed, surely 124 ft nearer" in found.words
    assert reaches(engine, found, 2)


def test_lines_come_lowest_first_and_the_one_that_is_reached_is_none() -> None:
    near, beyond = stations([station(0, 0)]), areas(around(NEWARK, 500.0))
    engine = engine_of(book((2, WITHIN), (3, PA1)), near, beyond)
    assert [line.dollars for line in next_better(engine, at(4000.0, 0.0)).lines] == [2, 3]
    assert [line.dollars for line in next_better(engine, at(1000.0, 0.0)).lines] == [3]
    top = next_better(engine, at(0.0, 0.0))
    assert (top.floor, top.lines, top.words) == (3, (), "none: $3 is the highest line by place")


def test_a_higher_line_that_is_nearer_is_said_too() -> None:
    engine = engine_of(book((2, WITHIN), (3, PA1)), stations([station(9000, 0)]), areas(around(NEWARK, 500.0)))
    found = next_better(engine, at(-1000.0, 0.0))
    assert "$2 (l2): 500 ft" in found.words  # a lower line is never farther than a higher one
    assert "$3 (l3): 500 ft" in found.words
    assert [line.nearest.distance_ft.value for line in found.lines if line.nearest] == pytest.approx([500] * 2, abs=1)


def test_a_stated_fact_that_is_lacking_there_is_named() -> None:
    rule = {"all": [WITHIN, {"site_fact": {"name": "structure_exists", "is": True}}]}
    engine = engine_of(book((2, rule)), stations([station(0, 0)]))
    (line,) = next_better(engine, at(4000.0, 0.0)).lines
    assert line.nearest is None
    (step,) = line.steps
    assert step.there == "undetermined"
    assert [need.needs for need in step.open_there] == [("fact:structure_exists",)]
    assert "undetermined there: state structure_exists" in line.words
    stated = site(shapely.Point(X + 4000.0, Y), facts={"structure_exists": True})
    assert next_better(engine, stated).lines[0].nearest is not None


def test_a_line_that_waits_here_says_for_what() -> None:
    engine = engine_of(book((2, {"site_fact": {"name": "structure_exists", "is": True}})))
    (line,) = next_better(engine, at(0.0, 0.0)).lines
    assert line.outcome == "undetermined"
    assert line.steps == ()
    assert [need.needs for need in line.here] == [("fact:structure_exists",)]


def test_a_layer_that_is_not_loaded_is_not_measured_and_said() -> None:
    engine = engine_of(book((2, {"any": [PA1, WITHIN]})), stations([station(0, 0)]))
    (line,) = next_better(engine, at(4000.0, 0.0)).lines
    assert line.not_measured == ("planning_areas",)
    assert "not measured, as not loaded: Planning areas" in line.words
    assert next_better(engine, at(4000.0, 0.0)).words.endswith("(of the layers that are loaded)")


BOTH = {"all": [WITHIN, PA1]}


def test_where_two_clauses_must_hold_the_nearest_place_with_both_is_gone_to() -> None:
    shape = shapely.box(X, Y - 3000, X + 4000, Y + 3000)
    engine = engine_of(book((2, BOTH)), stations([station(0, 4000.0, name="Penn")]), areas(shape))
    found = next_better(engine, at(-2000.0, 0.0))
    (line,) = found.lines
    assert reaches(engine, found, 2)
    assert line.nearest is not None
    # On the side of the area, where the circle around the station crosses it.
    corner = 2000.0, 4000.0 - 2640.0 / FT_PER_FTUS
    assert line.nearest.distance_ft.value == pytest.approx(
        FT_PER_FTUS * (corner[0] ** 2 + corner[1] ** 2) ** 0.5, abs=3
    )
    assert "to where the radius of 0.50 miles around Penn and " in line.words
    assert found.words.endswith("no nearer place surely has it")


def test_of_a_polygon_two_clauses_at_once_are_not_looked_for_and_that_is_said() -> None:
    engine = engine_of(book((2, WITHIN)), stations([station(4000, 0)]))
    words = next_better(engine, site(around(NEWARK, 50.0))).words
    assert words.endswith("nearest through one clause: a nearer place may need more")


DISTRICT = {"inside": {"layer": "atlantic_city_tourism_district"}}
FAR_FROM = {"not": WITHIN}
RULES: dict[str, Any] = {
    "both": BOTH,
    "in and out": {"all": [WITHIN, OUT]},
    "out of both": {"all": [OUT, FAR_FROM]},
    "three": {"all": [WITHIN, PA1, DISTRICT]},
    "two and out": {"all": [DISTRICT, PA1, FAR_FROM]},
    "one or two": {"any": [{"all": [PA1, DISTRICT]}, {"all": [WITHIN, {"not": DISTRICT}, OUT]}]},
    "not both": {"not": {"any": [WITHIN, {"all": [PA1, {"not": DISTRICT}]}]}},
}
SEARCHED_FT = 12_000.0


def apart(drawn: Sequence[tuple[float, float, float, float]]) -> list[shapely.Geometry]:
    """Return boxes around Newark that do not overlap: what they cover, in its parts."""
    ground = shapely.union_all([shapely.box(X + a, Y + b, X + a + w, Y + b + h) for a, b, w, h in drawn])
    return list(shapely.get_parts(ground))


def on_a_grid(engine: Engine, where: Site, line: Better, names: Sequence[str], turn: float) -> None:
    """Look for a place that is nearer than the one that is named, on rings around the site: an independent way."""
    nearest = line.nearest
    # Beyond what is said to have been searched nothing is claimed.
    within = SEARCHED_FT if line.none_within_ft is None else line.none_within_ft
    least = min(within, SEARCHED_FT) if nearest is None else min(within, nearest.enough_ft, SEARCHED_FT)
    least = least * 0.9998 - 4.0
    if least <= 0:
        return
    assert where.geometry is not None
    rings = least / FT_PER_FTUS * np.r_[np.linspace(0.02, 0.96, 20), 0.985, 0.995, 1.0]
    angles = turn + np.linspace(0.0, 2 * pi, 60, endpoint=False)
    x = where.geometry.x + np.outer(rings, np.cos(angles)).ravel()
    y = where.geometry.y + np.outer(rings, np.sin(angles)).ravel()
    there = SiteTable(
        shapely.points(x, y), np.full(len(x), where.uncertainty_ft), np.ones(len(x), bool), ("",) * len(x)
    )
    asked = evaluate_many(engine, there)
    for name in names:
        has = asked.outcome(name) == 1
        assert not has.any(), (line.words, line.none_within_ft, shapely.points(x, y)[has][0])


def holds_up(engine: Engine, where: Site, turn: float) -> None:
    """Ask the tool and the grid about a site; what is named must have its line, and nothing nearer may."""
    found = next_better(engine, where)
    for i, line in enumerate(found.lines):
        assert not line.at_most, line.words
        assert "-0 ft" not in line.words
        if line.nearest is not None:
            there = Site.from_lonlat(line.nearest.longitude, line.nearest.latitude, uncertainty_ft=where.uncertainty_ft)
            assert (floor_of(engine, there) or 0) >= (line.dollars or 0)
        on_a_grid(engine, where, line, [other.category for other in found.lines[i:]], turn)


@dataclass(frozen=True)
class World:
    """A small world: stations, two kinds of areas, two lines by rules of the list, and a site, which may be unsure.

    The rings that are looked at are turned by a little, so that not always the same directions are.
    """

    where: list[tuple[float, float]]
    drawn: list[tuple[float, float, float, float]]
    others: list[tuple[float, float, float, float]]
    rules: tuple[str, str]
    xy: tuple[float, float]
    accuracy_ft: float
    unsure_ft: float
    turn: float


rules = st.sampled_from(sorted(RULES))
worlds = st.builds(
    World,
    where=places,
    drawn=boxes,
    others=boxes,
    rules=st.tuples(rules, rules),
    xy=st.tuples(far, far),
    accuracy_ft=st.sampled_from([0.0, 48.3]),
    unsure_ft=st.sampled_from([0.0, 30.0, 100.0]),
    turn=st.floats(0, 0.1),
)


# The points of the rings come of one number that is drawn: of 800 drawn one by one, hypothesis keeps 0.7 MB for each
# example, and shrinking asks for thousands of them.
@pytest.mark.slow
@example(
    World(
        where=[(0.0, 0.0)],
        drawn=[(0.0, 0.0, 300.0, 2640.0)],
        others=[(0.0, 0.0, 300.0, 300.0)],
        rules=("both", "both"),
        xy=(0.0, 2640.0),  # straight above the line of the area: told in degrees, the way leads just beside it
        accuracy_ft=0.0,
        unsure_ft=0.0,
        turn=0.0,
    )
)
@given(worlds)
@settings(max_examples=40, deadline=None)
def test_no_place_of_a_grid_is_nearer_however_many_clauses_must_hold(world: World) -> None:
    shapes, more = apart(world.drawn), [(shape, {}) for shape in apart(world.others)]
    layers = (
        stations([station(*one) for one in world.where]),
        areas(*shapes, accuracy_ft=world.accuracy_ft),
        draw("atlantic_city_tourism_district", more, accuracy_ft=world.accuracy_ft),
    )
    low, high = (RULES[name] for name in world.rules)
    engine = engine_of(book((2, low), (3, high)), *layers)
    holds_up(engine, at(*world.xy, uncertainty_ft=world.unsure_ft), world.turn)


# Every municipality is asked about at thousands of places: to shrink a failing example would take minutes.
@pytest.mark.slow
@given(worlds)
@settings(max_examples=15, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_no_place_of_a_grid_is_nearer_where_a_municipality_must_hold_too(world: World) -> None:
    municipalities = municipal_engine().atlas.layer("municipalities")
    assert municipalities is not None
    layers = (
        stations([station(*one) for one in world.where]),
        areas(*apart(world.drawn), accuracy_ft=world.accuracy_ft),
        municipalities,
    )
    engine = engine_of(book((2, {"all": [LISTED, WITHIN, OUT]}), (3, {"all": [{"not": LISTED}, PA1]})), *layers)
    where = at(3 * world.xy[0], 3 * world.xy[1], uncertainty_ft=world.unsure_ft)
    try:
        engine.run(where)
    except OutsideNewJerseyError:
        reject()  # over the bay, or in New York
    holds_up(engine, where, world.turn)


@pytest.mark.parametrize(
    ("where", "drawn", "rule", "xy", "nearest"),
    [
        # A station and an area meet, but not where each is nearest: no place was found.
        (
            [(7183, 4010), (7099, -4470), (-4276, -2789), (1734, -8560)],
            [(-7218, -4459, 657, 1231), (5480, -3771, 1724, 3512), (-8671, 246, 738, 350)],
            "both",
            (6955, 2983),
            4815.5,
        ),
        # In reach of a station, and in the area, out of which the way is longer than to its corner with the radius.
        (
            [(-7720, -7217), (1313, 7776), (1015, 8314), (-3263, 8848)],
            [(-5184, 4914, 1541, 3390), (-270, -2197, 3794, 1022), (-5561, -7896, 2777, 3683)],
            "in and out",
            (-6666, 4740),
            2753.5,
        ),
    ],
)
def test_a_place_with_two_at_once_that_no_single_line_leads_to_is_found(
    where: list[tuple[float, float]],
    drawn: list[tuple[float, float, float, float]],
    rule: str,
    xy: tuple[float, float],
    nearest: float,
) -> None:
    engine = engine_of(book((2, RULES[rule])), stations([station(*one) for one in where]), areas(*apart(drawn)))
    found = next_better(engine, at(*xy))
    assert reaches(engine, found, 2)
    assert found.lines[0].nearest is not None
    assert found.lines[0].nearest.enough_ft == pytest.approx(nearest, abs=60.0)
    holds_up(engine, at(*xy), 0.05)


def test_where_three_clauses_must_hold_the_nearest_place_with_all_of_them_is_gone_to() -> None:
    district = draw("atlantic_city_tourism_district", [(shapely.box(X, Y + 500, X + 4000, Y + 9000), {})])
    layers = stations([station(2000, 0, name="Penn")]), areas(shapely.box(X + 1000, Y - 3000, X + 4000, Y + 3000))
    engine = engine_of(book((2, RULES["three"])), *layers, district)
    found = next_better(engine, at(-2000.0, -1000.0))
    (line,) = found.lines
    assert line.nearest is not None
    # The corner of the area and of the district, which the radius holds.
    assert line.nearest.distance_ft.value == pytest.approx(FT_PER_FTUS * (3000**2 + 1500**2) ** 0.5, abs=2)
    names = "the radius of 0.50 miles around Penn, METROPOLITAN and Atlantic City Tourism District"
    assert f"to where {names} meet" in line.words
    assert reaches(engine, found, 2)
    assert found.words.endswith("no nearer place surely has it")


def test_one_clause_that_lasts_beside_two_that_begin_is_not_named() -> None:
    layers = stations([station(0, 0, name="Penn")]), areas(shapely.box(X + 1000, Y - 3000, X + 4000, Y + 3000))
    engine = engine_of(book((2, BOTH)), *layers)
    (line,) = next_better(engine, at(0.0, 0.0)).lines
    assert line.nearest is not None
    assert "to METROPOLITAN" in line.nearest.words
    assert "Penn" not in line.nearest.words


def test_no_distance_is_written_as_less_than_nothing() -> None:
    # On the line of an area that is known to 48 ft: inside as computed by nothing.
    shape = shapely.box(X - 3000, Y - 3000, X, Y + 3000)
    engine = engine_of(book((2, OUT)), areas(shape, accuracy_ft=48.3))
    for dx in (-0.2, 0.0, 0.2):
        found = next_better(engine, at(dx, 0.0))
        assert "-0 ft" not in found.words
        assert ": 0 ft to the way out of METROPOLITAN as computed, surely 49 ft" in found.words
        assert reaches(engine, found, 2)
    past = next_better(engine, at(10.0, 0.0)).words
    assert "past the way out of METROPOLITAN by 10 ft as computed, surely 39 ft farther" in past


@pytest.mark.parametrize(
    ("place", "dollars", "said_before_ft"),
    [
        ((-74.804084, 41.240628), 500, 202_694.8),
        ((-74.6, 40.35), 3000, 50_856.6),
        ((-74.359376, 40.949536), 500, 32_365.9),
    ],
)
def test_under_the_shipped_law_a_nearer_place_than_was_said_is_found(
    engine: Engine, place: tuple[float, float], dollars: int, said_before_ft: float
) -> None:
    """Into a district whose line is known to a quarter of a mile the way to what surely is in was said to be longer."""
    found = next_better(engine, Site.from_lonlat(*place))
    (line,) = [line for line in found.lines if line.dollars == dollars]
    assert line.nearest is not None
    assert not line.at_most
    assert line.nearest.enough_ft < said_before_ft - 1000.0
    # As computed, from the nominal line: nearer than what surely is in.
    assert line.nearest.distance_ft.low < line.nearest.distance_ft.value < line.nearest.enough_ft - 1000.0  # type: ignore[operator]
    assert reaches(engine, found, dollars)


def test_a_search_that_was_broken_off_says_at_most() -> None:
    engine = engine_of(book((2, WITHIN), (3, PA1)), stations([station(9000, 0)]), areas(around(NEWARK, 500.0)))
    found = Finder(engine, most_vertices=0).find(at(-3000.0, 0.0))
    line = found.lines[1]
    assert line.at_most
    assert line.none_within_ft == 0.0
    assert line.nearest is not None
    assert line.nearest.words == "at most 2,500 ft to METROPOLITAN (line_3); a nearer place was not looked for"
    assert found.words.endswith("a nearer place may have it")


def claimed_ft(words: str) -> float:
    """Return the largest distance that some words say is enough."""
    said = re.findall(r"([\d.,]+) (ft|miles?)", words.split(" (", maxsplit=1)[0])
    return max(float(number.replace(",", "")) * (5280 if unit.startswith("mile") else 1) for number, unit in said)


@pytest.mark.parametrize("most_vertices", [MOST_VERTICES, 40_000, 0])
@pytest.mark.parametrize("unsure_ft", [0.0, 50.0, 1000.0])
def test_what_is_said_to_be_enough_is_not_nearer_than_where_surely_no_place_is(
    engine: Engine, unsure_ft: float, most_vertices: int
) -> None:
    finder = Finder(engine, most_vertices=most_vertices)
    told = 0
    for place in [(39.9, -74.9), (38.98, -74.85), (40.567092, -74.320347)]:
        for line in finder.find(Site.from_lonlat(place[1], place[0], uncertainty_ft=unsure_ft)).lines:
            if line.nearest is not None and line.none_within_ft is not None:
                # Two digits of miles are printed, and whole feet.
                rounded = 0.005 * 5280 if line.none_within_ft > 2640 else 0.5
                assert claimed_ft(line.nearest.words) >= line.none_within_ft - rounded - 2 * BEYOND_FT, line.words
                told += 1
    assert told


@pytest.mark.parametrize(("unsure_ft", "least_ft"), [(500.0, 0.0), (3000.0, 42.0)])
def test_a_place_known_to_many_feet_is_searched_to_the_end(engine: Engine, unsure_ft: float, least_ft: float) -> None:
    """Of a curve drawn with few corners the search was broken off, and named a place farther away."""
    found = next_better(engine, Site.from_lonlat(-74.320347, 40.567092, uncertainty_ft=unsure_ft))
    assert found.lines
    for line in found.lines:
        assert line.nearest is not None
        assert not line.at_most, line.words
        assert line.none_within_ft is not None
        assert line.none_within_ft >= least_ft
        there = Site.from_lonlat(line.nearest.longitude, line.nearest.latitude, uncertainty_ft=unsure_ft)
        assert (floor_of(engine, there) or 0) >= (line.dollars or 0)


def test_one_finder_answers_several_threads_at_once(engine: Engine) -> None:
    sites = [Site.from_lonlat(-74.6 + 0.01 * i, 40.35, uncertainty_ft=10.0 * i) for i in range(6)]
    alone = [next_better(engine, site_) for site_ in sites]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(Finder(engine).find, sites)) == alone


def test_what_municipalities_come_to_is_kept_for_a_few_sets_of_facts(engine: Engine) -> None:
    finder = Finder(engine)
    for sqft in range(10):
        finder.find(site(shapely.Point(X, Y), facts={"vacant_building_sqft": float(sqft)}))
    assert len(finder.kept_towns) == 8


def test_two_lists_of_clauses_at_one_place_under_the_shipped_law(engine: Engine) -> None:
    found = next_better(engine, Site.from_lonlat(-74.016813, 40.263849))
    away = [line.nearest.enough_ft for line in found.lines if line.nearest is not None]
    assert len(away) == len(found.lines)
    assert away == sorted(away)
    (middle,) = [line for line in found.lines if line.dollars == 3000]
    assert middle.nearest is not None
    assert middle.nearest.enough_ft < 6461.0


def test_one_clause_of_two_that_must_hold_is_not_shown_as_enough() -> None:
    engine = engine_of(book((2, BOTH)), stations([station(9000, 0)]), areas(around(NEWARK, 500.0)))
    (line,) = next_better(engine, at(-3000.0, 0.0)).lines
    assert line.nearest is None
    assert [step.there for step in line.steps] == ["no"]
    assert "no place in New Jersey is surely enough" in line.words


def test_what_lies_at_the_place_by_another_clause_is_not_credited_to_this_one() -> None:
    """At the far station the first area begins too: its line is not the station's doing."""
    rule = {"any": [PA1, {"all": [WITHIN, {"not": {"in_new_jersey": True}}]}]}
    engine = engine_of(book((2, rule)), stations([station(0, 0)]), areas(around(NEWARK, 5000.0)))
    (line,) = next_better(engine, at(7000.0, 0.0)).lines
    assert {step.layer for step in line.steps if step.there == "yes"} == {"planning_areas"}


def test_of_two_clauses_that_look_at_the_same_the_one_that_decides_counts() -> None:
    rule = {"any": [{"all": [WITHIN, {"not": {"in_new_jersey": True}}]}, {"id": "second", **WITHIN}]}
    engine = engine_of(book((2, rule)), stations([station(0, 0)]))
    (line,) = next_better(engine, at(4000.0, 0.0)).lines
    assert line.nearest is not None
    assert line.nearest.clause == "line_2.second"


def test_features_that_only_perhaps_count_are_not_gone_to_but_bound_the_distance() -> None:
    near = (around(NEWARK, 500.0), {"SPDETAIL": "something new"})
    sure = (shapely.affinity.translate(near[0], xoff=9000.0), {"SPDETAIL": "METROPOLITAN"})
    engine = engine_of(book((2, PA1)), draw("planning_areas", [near, sure]))
    (line,) = next_better(engine, at(-1500.0, 0.0)).lines
    assert line.nearest is not None
    assert line.nearest.distance_ft.value == pytest.approx(10_000.0, rel=2e-4)
    assert line.nearest.distance_ft.low == pytest.approx(1000.0, rel=2e-3)


def moved_to(shape: shapely.Geometry, line: Better) -> Site:
    """Return a polygon with its nearest part where the line says."""
    assert line.nearest is not None
    x, y = (float(v) for v in to_working(line.nearest.longitude, line.nearest.latitude))
    start = shapely.get_coordinates(shapely.shortest_line(shape, STATION))[0]
    return site(shapely.affinity.translate(shape, x - start[0], y - start[1]))


STATION = shapely.Point(X + 4000.0, Y)


@pytest.mark.parametrize("angle", [0.0, 30.0, 77.0])
@pytest.mark.parametrize("size", [(100.0, 100.0), (900.0, 60.0)])
def test_a_polygon_is_moved_until_all_of_it_is_within_the_radius(angle: float, size: tuple[float, float]) -> None:
    shape = shapely.affinity.rotate(shapely.box(X - size[0], Y - size[1], X + size[0], Y + size[1]), angle)
    engine = engine_of(book((2, WITHIN)), stations([station(4000, 0, name="Penn")]))
    (line,) = next_better(engine, site(shape)).lines
    assert line.nearest is not None
    nearest = (shape.distance(STATION) - 2640.0 / FT_PER_FTUS) * FT_PER_FTUS
    assert line.nearest.distance_ft.value == pytest.approx(nearest, abs=1.0)
    assert line.nearest.distance_ft.high is not None
    assert line.nearest.distance_ft.high > nearest
    assert floor_of(engine, moved_to(shape, line)) == 2
    assert "from its nearest part to the radius of 0.50 miles around Penn" in line.words


def test_a_polygon_is_moved_until_all_of_it_is_in_an_area() -> None:
    shape = around(NEWARK, 100.0)
    engine = engine_of(book((2, PA1)), areas(shapely.box(X + 1100, Y - 900, X + 3000, Y + 900), accuracy_ft=20.0))
    (line,) = next_better(engine, site(shape)).lines
    assert line.nearest is not None
    assert line.nearest.distance_ft.value == pytest.approx(1000.0, rel=3e-4)
    assert line.nearest.distance_ft.high == pytest.approx(1000 + 20 + 200, abs=3)


@pytest.mark.parametrize("angle", [0.0, 20.0, 45.0, 70.0])
def test_across_an_oblique_border_a_polygon_is_moved_until_no_corner_sticks_out(angle: float) -> None:
    half = shapely.affinity.rotate(shapely.box(X + 1500, Y - 9000, X + 9000, Y + 9000), angle, origin=(X, Y))
    shape = shapely.box(X - 200, Y - 120, X + 200, Y + 120)
    engine = engine_of(book((2, PA1)), areas(half, accuracy_ft=10.0))
    found = next_better(engine, site(shape))
    (line,) = found.lines
    assert line.nearest is not None, line.words
    x, y = (float(v) for v in to_working(line.nearest.longitude, line.nearest.latitude))
    start = shapely.get_coordinates(shapely.shortest_line(shape, half))[0]
    assert floor_of(engine, site(shapely.affinity.translate(shape, x - start[0], y - start[1]))) == 2
    assert Comparer(engine).site(Candidate("a", "", site(shape)))[0].next_better_ft == line.nearest.distance_ft.high


def test_a_polygon_that_does_not_fit_across_the_line_says_so() -> None:
    strip = shapely.box(X + 1000, Y - 40, X + 4000, Y + 40)
    engine = engine_of(book((2, PA1)), areas(strip))
    (line,) = next_better(engine, site(around(NEWARK, 100.0))).lines
    assert line.nearest is None
    assert ["the whole parcel does not fit in" in step.words for step in line.steps] == [True]


def test_a_polygon_larger_than_the_radius_is_not_enough_anywhere() -> None:
    engine = engine_of(book((2, WITHIN)), stations([station(9000, 0)]))
    (line,) = next_better(engine, site(around(NEWARK, 4000.0))).lines
    assert line.nearest is None
    assert {step.there for step in line.steps} == {"undetermined"}


def test_a_site_without_a_place_has_nothing_to_measure() -> None:
    engine = municipal_engine()
    found = next_better(engine, site(None, mun_code="0101", mun_basis="stated"))
    assert found.words == "the site has no place to measure from"
    assert found.lines[0].steps == ()


def test_areas_can_be_asked_for_beside_the_lines(engine: Engine) -> None:
    names = ["transit_oriented_development", "port_district"]
    found = Finder(engine).find(Site.from_lonlat(-74.6, 40.35), areas=names)
    (transit, _) = found.areas
    assert (transit.category, transit.dollars) == ("transit_oriented_development", None)
    assert transit.nearest is not None
    assert transit.nearest.feature_name == "Princeton Junction"
    there = Site.from_lonlat(transit.nearest.longitude, transit.nearest.latitude)
    assert engine.determine(there)["transit_oriented_development"].outcome == "yes"


@pytest.mark.parametrize(
    "place", [(-74.6, 40.35), (-74.75, 40.75), (-74.5772, 39.4576), (-74.9, 39.6), (-74.32, 40.567)]
)
def test_every_place_named_under_the_shipped_law_has_its_line(engine: Engine, place: tuple[float, float]) -> None:
    found = next_better(engine, Site.from_lonlat(*place))
    checked: Sequence[int] = [
        (line.dollars or 0)
        for line in found.lines
        for step in line.steps
        if step.there == "yes"
        and (floor_of(engine, Site.from_lonlat(step.longitude, step.latitude)) or 0) >= (line.dollars or 0)
    ]
    assert len(checked) == sum(step.there == "yes" for line in found.lines for step in line.steps)
    assert checked
