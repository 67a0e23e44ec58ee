"""What a better line waits for, and the ways there, before anybody goes one."""

from __future__ import annotations

from typing import Any

import pytest
import shapely
from drawn import NEWARK, draw, drawn_book, site, stations

from grownj_geo.atlas import Atlas
from grownj_geo.betterways import BEYOND_FT, moves_of, nearest_part, wanted_of, way_into, way_out_of
from grownj_geo.determine import Engine
from grownj_geo.units import FT_PER_FTUS, geodesic_ft, to_lonlat, to_working

X, Y = (float(v) for v in to_working(*NEWARK))
PA1 = {"inside": {"layer": "planning_areas", "where": {"planning_area": ["PA1"]}}}
WITHIN = {"within": {"layer": "transit_stations", "radius": "reach"}}
AREA = draw("planning_areas", [(shapely.box(X, Y - 500, X + 1000, Y + 500), {"SPDETAIL": "METROPOLITAN"})])


def run_of(rule: Any, x: float, *layers: Any) -> tuple[Any, Any]:
    book = drawn_book(rule, parameters={"reach": {"unit": "mile", "value": 0.5}})
    asked = site(shapely.Point(X + x, Y))
    return Engine(Atlas(layers=layers), book).run(asked), asked


def wanted(run: Any) -> list[Any]:
    return list(wanted_of(run.bound.clauses["answer"], run, "", 1, set()))


def test_a_clause_is_wanted_until_it_holds() -> None:
    outside, _ = run_of(PA1, -300, AREA)
    inside, _ = run_of(PA1, 300, AREA)
    assert [(one.clause.path, one.leave) for one in wanted(outside)] == [("answer", False)]
    assert wanted(inside) == []


def test_below_a_not_the_way_out_is_wanted_but_of_no_radius() -> None:
    inside, _ = run_of({"not": PA1}, 300, AREA)
    assert [one.leave for one in wanted(inside)] == [True]
    near, _ = run_of({"not": WITHIN}, 0, stations([(*NEWARK, {"name": "A"})]))
    assert wanted(near) == []


def test_the_way_into_an_area_and_out_of_it_is_as_long_as_its_line_is_far() -> None:
    outside, there = run_of(PA1, -300, AREA)
    (one,) = wanted(outside)
    into = way_into(outside, there, one, AREA)
    assert into is not None
    assert into.bounds[1] == pytest.approx(300 * FT_PER_FTUS, abs=0.1)
    inside, here = run_of({"not": PA1}, 300, AREA)
    (one,) = wanted(inside)
    out = way_out_of(inside, here, one, AREA)
    assert out is not None
    assert out.bounds[1] == pytest.approx(300 * FT_PER_FTUS, abs=0.1)
    assert out.to.startswith("the way out of ")
    # A site that is in already has no way in.
    assert way_into(inside, here, one, AREA) is None


def test_a_point_is_moved_beyond_the_line_and_no_farther() -> None:
    layer = stations([(*NEWARK, {"name": "A"})])
    run, there = run_of(WITHIN, -5000, layer)
    (one,) = wanted(run)
    way = way_into(run, there, one, layer)
    assert way is not None
    (move,) = moves_of(there, way, nearest_part(there, way.target))
    assert move.feet == pytest.approx(way.bounds[2] + BEYOND_FT, abs=0.01)
    left = float(geodesic_ft(move.longitude, move.latitude, *NEWARK))
    assert left == pytest.approx(2640 - BEYOND_FT, abs=0.05)
    start = [float(v) for v in to_lonlat(X - 5000, Y)]
    assert float(geodesic_ft(*start, move.longitude, move.latitude)) == pytest.approx(move.feet, abs=0.05)
