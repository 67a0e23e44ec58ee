"""What a place owes a better line to, by name, and how far its lines are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import shapely
from drawn import NEWARK, draw, drawn_book, site, stations

from grownj_geo.atlas import Atlas
from grownj_geo.bettermeet import way_to
from grownj_geo.determine import Engine
from grownj_geo.units import FT_PER_FTUS, to_lonlat, to_working

if TYPE_CHECKING:
    from grownj_geo.betterways import Way

X, Y = (float(v) for v in to_working(*NEWARK))
PA1 = {"inside": {"layer": "planning_areas", "where": {"planning_area": ["PA1"]}}}
WITHIN = {"within": {"layer": "transit_stations", "radius": "reach"}}
RADIUS = 2640.0 / FT_PER_FTUS


def way(rule: Any, there: tuple[float, float], *, unsure_ft: float = 0.0, here: tuple[float, float] = (0, 0)) -> Way:
    """Return the way from a site near Newark, east of which an area begins and then a radius."""
    layers = (
        draw("planning_areas", [(shapely.box(X + 1000, Y - 900, X + 9000, Y + 900), {"SPDETAIL": "METROPOLITAN"})]),
        stations([(*(float(v) for v in to_lonlat(X + 5000, Y)), {"name": "Penn"})]),
    )
    engine = Engine(Atlas(layers=layers), drawn_book(rule, parameters={"reach": {"unit": "mile", "value": 0.5}}))
    asked = site(shapely.Point(X + here[0], Y + here[1]), uncertainty_ft=unsure_ft)
    place = engine.run(site(shapely.Point(X + there[0], Y + there[1]), uncertainty_ft=unsure_ft))
    lon, lat = to_lonlat(X + there[0], Y + there[1])
    return way_to(engine.run(asked), place, asked, "answer", towns=None, lonlat=(float(lon), float(lat)))


def test_all_that_begins_to_hold_is_named_and_measured_to_where_it_all_does() -> None:
    found = way({"all": [PA1, WITHIN]}, (5000 - RADIUS + 2, 0))
    assert found.to == "where METROPOLITAN and the radius of 0.50 miles around Penn meet"
    low, value, high = found.bounds
    assert value == pytest.approx((5000 - RADIUS) * FT_PER_FTUS, abs=1.0)
    assert low <= value <= high
    assert found.clause is not None
    assert found.clause.path == "answer.1"


def test_of_two_that_are_enough_each_the_fewest_are_named() -> None:
    assert way({"any": [{"all": [PA1, WITHIN]}, PA1]}, (3000, 0)).to == "METROPOLITAN"


def test_what_a_site_leaves_is_named_after_where_it_was() -> None:
    found = way({"not": PA1}, (900, 0), here=(1500, 0))
    assert found.to == "the way out of METROPOLITAN"
    assert found.bounds[1] == pytest.approx(500 * FT_PER_FTUS, abs=0.5)
    gone = way({"not": WITHIN}, (2000, 0), here=(4000, 0))
    assert gone.to == "the way out of the radius of 0.50 miles around Penn"


def test_an_unsure_site_that_is_inside_as_computed_has_less_than_nothing_to_go() -> None:
    found = way(PA1, (1120, 0), unsure_ft=100.0, here=(1030, 0))
    assert found.bounds[0] == 0.0
    assert found.bounds[1] == pytest.approx(-30 * FT_PER_FTUS, abs=0.1)
