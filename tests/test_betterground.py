"""The ground on which a clause surely is a yes or a no: asked place by place, it is so there and nowhere else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import shapely
from drawn import NEWARK, draw, drawn_book, site, stations

from grownj_geo.atlas import Atlas, load_atlas
from grownj_geo.betterclauses import fewest_new
from grownj_geo.betterground import Grounds
from grownj_geo.bettertowns import towns_of
from grownj_geo.determine import Engine
from grownj_geo.units import to_working

X, Y = (float(v) for v in to_working(*NEWARK))
HERE = shapely.Point(X, Y)
PA1 = {"inside": {"layer": "planning_areas", "where": {"planning_area": ["PA1"]}}}
DISTRICT = {"inside": {"layer": "atlantic_city_tourism_district"}}
WITHIN = {"within": {"layer": "transit_stations", "radius": "reach"}}
FREIGHT = {"within": {"layer": "redevelopment_areas", "radius": "reach"}}
STATED = {"site_fact": {"name": "structure_exists", "is": True}}
LISTED = {"designated": {"list": "urban_transit_hub_municipality"}}
REACH = {"reach": {"unit": "mile", "value": 0.5}}


def box(x: float, y: float, w: float, h: float) -> shapely.Polygon:
    return shapely.box(X + x, Y + y, X + x + w, Y + y + h)


def layers() -> list[Any]:
    return [
        draw("planning_areas", [(box(-2000, -2500, 2500, 3000), {"SPDETAIL": "METROPOLITAN"})], accuracy_ft=48.3),
        draw("atlantic_city_tourism_district", [(box(-500, -800, 3000, 2500), {})], accuracy_ft=20.0),
        draw("redevelopment_areas", [(box(4000, 1000, 300, 900), {"approved": "yes"})], accuracy_ft=10.0),
        stations(
            [
                (NEWARK[0] + 0.006, NEWARK[1] + 0.004, {"coordinate_uncertainty_ft": "60"}),
                (NEWARK[0] - 0.008, NEWARK[1] - 0.007, {}),
            ]
        ),
    ]


def grounds_of(rule: Any, *, unsure_ft: float = 0.0, with_towns: bool = False, **more: Any) -> tuple[Engine, Grounds]:
    municipalities = load_atlas().layer("municipalities") if with_towns else None
    atlas = Atlas(layers=[*layers(), *([] if municipalities is None else [municipalities])])
    engine = Engine(atlas, drawn_book(rule, parameters=REACH))
    run = engine.run(site(HERE, uncertainty_ft=unsure_ft))
    return engine, Grounds(run, towns_of(engine), HERE, 5000.0, unsure_ft, **more)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("unsure_ft", [0.0, 100.0, 500.0, 3000.0])
@pytest.mark.parametrize(
    "rule",
    [
        PA1,
        WITHIN,
        FREIGHT,
        {"not": WITHIN},
        {"all": [PA1, WITHIN]},
        {"all": [PA1, WITHIN, DISTRICT]},
        {"any": [PA1, {"all": [DISTRICT, {"not": WITHIN}]}]},
        {"all": [{"not": {"any": [PA1, DISTRICT]}}, WITHIN]},
        {"all": [PA1, STATED]},
        {"any": [PA1, STATED]},
        LISTED,
        {"all": [{"not": LISTED}, {"any": [DISTRICT, WITHIN]}]},
        # The layer is not loaded: where it cannot lie it is a no.
        {"inside": {"layer": "meadowlands_district"}},
        {"all": [WITHIN, {"not": {"inside": {"layer": "meadowlands_district"}}}]},
    ],
)
def test_a_place_is_in_the_ground_where_asking_there_says_so(rule: Any, unsure_ft: float, sign: int) -> None:
    engine, grounds = grounds_of(
        rule, unsure_ft=unsure_ft, with_towns="designated" in str(rule) or "meadow" in str(rule) or "fact" in str(rule)
    )
    ground = grounds.of(engine.bound.clauses["answer"], sign)
    chance = np.random.default_rng(7)
    for x, y in chance.uniform(-4900, 4900, size=(60, 2)):
        point = shapely.Point(X + x, Y + y)
        if not ground.is_empty and shapely.distance(shapely.boundary(ground), point) < 1.0:
            continue  # at its line the ground may be a little too large
        there = engine.run(site(point, uncertainty_ft=unsure_ft)).category("answer").first == sign
        assert shapely.intersects(ground, point) == there, (x, y)


def test_as_computed_no_tolerance_counts() -> None:
    engine, grounds = grounds_of(PA1, as_computed=True)
    ground = grounds.of(engine.bound.clauses["answer"])
    assert shapely.area(ground) == pytest.approx(2500.0 * 3000.0)
    engine, grounds = grounds_of(PA1)
    assert shapely.area(grounds.of(engine.bound.clauses["answer"])) < 2500.0 * 3000.0 - 500_000.0


def test_what_holds_everywhere_is_the_frame_and_what_holds_nowhere_is_nothing() -> None:
    engine, grounds = grounds_of({"any": [PA1, {"not": {"all": [PA1, STATED, {"not": STATED}]}}]})
    clause = engine.bound.clauses["answer"]
    assert grounds.of(clause, -1).is_empty
    engine, grounds = grounds_of({"in_new_jersey": True}, with_towns=True)
    assert grounds.of(engine.bound.clauses["answer"]) is grounds.frame


def test_ground_in_the_sea_is_left_out() -> None:
    _, grounds = grounds_of(PA1, with_towns=True)
    assert shapely.area(grounds.on_land(grounds.frame)) == pytest.approx(shapely.area(grounds.frame))
    far = Grounds(grounds.run, grounds.towns, shapely.Point(X + 200_000, Y - 200_000), 5000.0)
    assert far.on_land(far.frame).is_empty


def test_each_feature_that_is_drawn_from_is_told_once() -> None:
    engine, grounds = grounds_of({"all": [PA1, {"not": PA1}, DISTRICT, WITHIN]})
    features = grounds.features(engine.bound.clauses["answer"])
    told = [layer.id for layer, _ in features if layer.id != "municipalities"]
    assert sorted(told) == ["atlantic_city_tourism_district", "planning_areas", "transit_stations", "transit_stations"]


def test_the_fewest_leaves_that_are_new_are_named() -> None:
    engine, _ = grounds_of({"any": [{"all": [PA1, DISTRICT]}, {"all": [PA1, {"not": WITHIN}]}]})
    there = engine.run(site(shapely.Point(X - 1800, Y + 300)))
    here = engine.run(site(shapely.Point(X - 4000, Y + 3000)))
    assert there.category("answer").first == 1
    new = fewest_new(engine.bound.clauses["answer"], here, there)
    assert [(leaf.operator, sign) for leaf, sign in new] == [("inside", 1)]
    assert fewest_new(engine.bound.clauses["answer"], there, there) == ()
