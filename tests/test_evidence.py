"""What clauses say they saw: the selection asked for, what is there, and how well it is known."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import pytest
import shapely
from drawn import CAMDEN, NEWARK, around, draw, drawn_book, site, square, stations

from grownj_geo.atlas import Atlas
from grownj_geo.determine import Engine
from grownj_geo.evidence import evidence_of, percent, status_of
from grownj_geo.units import to_working
from grownj_geo.words import lengths

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grownj_geo.determination import Evidence
    from grownj_geo.evaluate import Evaluation
    from grownj_geo.layer import Layer
    from grownj_geo.site import Site

X, Y = 450_000.0, 500_000.0
TOWN = {"mun_code": "0408", "name": "Camden City", "county": "Camden"}
NEXT = {"mun_code": "0412", "name": "Collingswood Borough", "county": "Camden"}
GROUND = draw("municipalities", [(square(X, Y, 50_000), TOWN)])
DAY = date(2017, 4, 17)
HALF = {"half": {"unit": "mile", "value": 0.5}}


def run(
    rule: Mapping[str, Any],
    layers: Sequence[Layer],
    asked: Site,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    more: Sequence[Any] = (),
    *,
    day: date = DAY,
    readings: Mapping[str, str] | None = None,
) -> Evaluation:
    book = drawn_book(rule, parameters=parameters, categories=more)
    ground = [] if any(layer.id == "municipalities" for layer in layers) else [GROUND]
    return Engine(Atlas(as_of=day, layers=[*ground, *layers]), book, readings or {}).run(asked)


def seen(*args: Any, **more: Any) -> Evidence:
    evaluation = run(*args, **more)
    return evidence_of(evaluation.bound.clauses["answer"], evaluation)


def point(x: float, y: float, **more: Any) -> Site:
    return site(shapely.Point(X + x, Y + y), **more)


# -- selections ----------------------------------------------------------------------------------------

AREAS = draw(
    "planning_areas",
    [
        (square(X, Y, 10_000), {"SPDETAIL": "RURAL"}),
        (shapely.box(X + 10_000, Y, X + 20_000, Y + 10_000), {"SPDETAIL": "SUBURBAN"}),
        (shapely.box(X + 20_000, Y, X + 30_000, Y + 10_000), {"SPDETAIL": "STATE PARK"}),
    ],
)
PLANNING = {"inside": {"layer": "planning_areas", "where": {"planning_area": ["PA1", "PA2", "PA3"]}}}


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (8_800, "not in {} (here: PA4A), 1,200 ft from the nearest line"),
        (11_000, "inside {} (here: PA2), 1,000 ft from the nearest line"),
        (21_000, "not in {} (here: none, STATE PARK), 1,000 ft from the nearest line"),
        (31_500, "not in {} (here: no area of it), 2.18 miles from the nearest line"),
    ],
)
def test_words_name_the_classes_asked_for_and_the_class_that_is_there(x: float, words: str) -> None:
    asked = "PA1, PA2 or PA3 of Planning areas of the State Plan"
    assert seen(PLANNING, [AREAS], point(x, 5_000)).words == words.format(asked)


def test_one_class_needs_no_second_naming() -> None:
    highlands = draw("highlands_region", [(square(X, Y, 10_000), {"REGION": "Highlands Preservation Area"})])
    rule = {"inside": {"layer": "highlands_region", "where": {"area": "preservation"}}}
    inside = seen(rule, [highlands], point(5_000, 9_000))
    assert inside.words == (
        "inside area preservation of Preservation and planning areas of the Highlands Region, 1,000 ft from the "
        "nearest line"
    )
    rule["inside"]["where"] = {"area": "planning"}
    assert "(here: preservation)" in seen(rule, [highlands], point(5_000, 9_000)).words


def test_a_layer_without_a_selection_is_called_by_its_title() -> None:
    land = draw("meadowlands_district", [(square(X, Y, 10_000), {})])
    assert seen({"inside": {"layer": "meadowlands_district"}}, [land], point(5_000, 9_900)).words == (
        "inside Hackensack Meadowlands District, 100 ft from its line"
    )


def test_a_cut_site_shows_all_that_is_there() -> None:
    parcel = site(shapely.box(X + 9_000, Y + 1_000, X + 11_000, Y + 2_000))
    assert seen(PLANNING, [AREAS], parcel).words == (
        "50.0 % of the site is in PA1, PA2 or PA3 of Planning areas of the State Plan (here: PA4A, PA2)"
    )


def test_a_far_line_is_said_to_be_no_nearer_than_was_looked() -> None:
    many = draw(
        "planning_areas", [(square(X + 30_000, Y + 2_000 * i, 1_000), {"SPDETAIL": "FRINGE"}) for i in range(9)]
    )
    assert seen(PLANNING, [many], point(100, 100)).words.endswith(", 2,000 ft or more from the nearest line")


def test_an_incomplete_layer_proves_nothing_by_absence() -> None:
    areas = draw("redevelopment_areas", [(square(X, Y, 1_000), {"APPROVAL": "2010-01-01", "NOTES": "One"})])
    found = seen({"inside": {"layer": "redevelopment_areas"}}, [areas], point(9_000, 100))
    assert (found.outcome, found.causes) == ("undetermined", ("layer_incomplete",))
    assert found.words == ("outside Areas in need of redevelopment; the layer is not complete, so that proves nothing")


def test_ground_of_an_unknown_day_is_perhaps_in() -> None:
    areas = draw("redevelopment_areas", [(square(X, Y, 1_000), {"APPROVAL": "", "NOTES": "One"})])
    words = seen({"inside": {"layer": "redevelopment_areas"}}, [areas], point(500, 500)).words
    assert words == "perhaps in Areas in need of redevelopment: the date or the class of a feature is not known"


# -- tracts --------------------------------------------------------------------------------------------

POVERTY = {"inside": {"layer": "census_tract_poverty", "at_least": {"poverty_rate": "level"}}}
LEVEL = {"level": {"unit": "percent", "value": 20.0}}


def _tracts(*rates: str) -> Layer:
    common = {"ACS_EDITION": "2011-2015", "TRACT_VINTAGE": "2010"}
    return draw(
        "census_tract_poverty",
        [
            (
                square(X + 10_000 * i, Y, 10_000),
                {"GEOID": f"3400{i}", "NAMELSAD": f"Tract {i}", "POVERTY_RATE": r, **common},
            )
            for i, r in enumerate(rates)
        ],
    )


def test_a_tract_without_a_figure_has_its_own_words() -> None:
    found = seen(POVERTY, [_tracts("", "25")], point(9_000, 5_000), LEVEL)
    assert (found.outcome, found.causes) == ("undetermined", ("list_unknown",))
    assert found.words == "Tract 0 here has no figure for poverty_rate"
    assert (found.feature, found.feature_name) == ("34000", "Tract 0")


def test_a_tract_below_the_level_shows_its_figure() -> None:
    words = seen(POVERTY, [_tracts("19.96", "25")], point(9_000, 5_000), LEVEL).words
    assert words.startswith("not in Poverty rate of census tracts where poverty rate is at least 20 (here: 19.96)")


# -- shares --------------------------------------------------------------------------------------------


def test_percent_never_makes_a_part_nothing_or_all() -> None:
    assert [percent(s) for s in (0.0, 4e-5, 0.0005, 0.12345, 0.9996, 0.99996, 1.0)] == [
        "0.0 %", "0.004 %", "0.1 %", "12.3 %", "99.96 %", "99.996 %", "100.0 %",
    ]  # fmt: skip


@pytest.mark.parametrize(("width", "shown"), [(0.4, "0.004 %"), (9_999.6, "99.996 %"), (0.00005, "0.0000005 %")])
def test_the_share_of_a_sliver_is_shown_and_recorded(width: float, shown: str) -> None:
    parcel = site(shapely.box(X + 10_000 - 10_000 + width, Y, X + 10_000 + width, Y + 10_000))
    found = seen(PLANNING, [AREAS], parcel)
    assert found.words.startswith(f"{shown} of the site is in")
    assert found.share is not None
    assert found.share.value is not None
    assert 0 < found.share.value < 1


# -- lists ---------------------------------------------------------------------------------------------

TOWNS = draw(
    "municipalities", [(square(X, Y, 10_000), TOWN), (shapely.box(X + 10_000, Y, X + 20_000, Y + 10_000), NEXT)]
)


def _listed(name: str, x: float, **more: Any) -> Evidence:
    place = site(shapely.box(X + x, Y + 4_000, X + x + 1_000, Y + 5_000))
    return seen({"designated": {"list": name}}, [TOWNS], place, **more)


def test_every_municipality_of_a_cut_site_is_named() -> None:
    rest = "the list of growth zones; Collingswood Borough is not on it"
    cut = _listed("gsgz", 9_500)
    assert cut.words == f"the site is in parts of several municipalities: Camden City is on {rest}"
    read = _listed("gsgz", 9_800, readings={"A3": "any"})
    assert read.outcome == "yes"
    assert read.words == (
        "the site is in parts of several municipalities (read by A3=any): Collingswood Borough is not on the list of "
        "growth zones; Camden City is on it"
    )


@pytest.mark.parametrize(
    ("day", "outcome", "words"),
    [
        (date(2016, 12, 31), "no", ", which holds from 2017-01-01 only"),
        (date(2017, 1, 1), "yes", ""),
        (date(2018, 1, 1), "no", ", which held until 2018-01-01 and no longer holds"),
    ],
)
def test_a_list_that_does_not_hold_on_the_day_says_so(day: date, outcome: str, words: str) -> None:
    found = _listed("urban_aid_2017", 1_000, day=day)
    label = "Camden City is on the list of municipalities qualified for Urban Aid in 2017"
    assert (found.outcome, found.words) == (outcome, label + words)


def test_a_list_that_is_not_complete_says_so() -> None:
    found = _listed("urban_aid_cy2009_fy2010", 1_000)
    assert found.outcome == "undetermined"
    assert found.words == (
        "Camden City is not on the list of municipalities qualified for Urban Aid in 2009, and the list is not complete"
    )


# -- stations in a municipality ------------------------------------------------------------------------

LINES = {"lines": {"unit": "count", "value": 6}}
CONTAINS = {
    "contains_feature": {
        "layer": "transit_stations",
        "where": {"mode": "commuter_rail"},
        "count": {"field": "njt_rail_lines_n", "at_least": "lines"},
    }
}
CITY = draw(
    "municipalities", [(around(NEWARK, 20_000), {"mun_code": "0714", "name": "Newark City", "county": "Essex"})]
)


def _stations(**lines: str) -> Layer:
    rows = [
        (NEWARK[0] + 0.001 * i, NEWARK[1], {"name": name, "mun_code": "0714", "njt_rail_lines_n": count})
        for i, (name, count) in enumerate(lines.items())
    ]
    return stations(rows)


HERE = site(shapely.Point(*map(float, to_working(*NEWARK))))


def test_a_station_with_too_few_lines_is_named_with_its_count() -> None:
    found = seen(CONTAINS, [CITY, _stations(Penn="3", Broad="2")], HERE, LINES)
    assert found.outcome == "no"
    assert found.words == "no station in Newark City has 6 or more njt rail lines; Penn has 3"


def test_only_stations_of_the_outcome_are_named() -> None:
    found = seen(CONTAINS, [CITY, _stations(Penn="7", Broad="2")], HERE, LINES)
    assert (found.outcome, found.words) == ("yes", "Newark City contains Penn")


@pytest.mark.parametrize(
    ("fact", "outcome", "words"),
    [
        ({"in_new_jersey": True}, "yes", "Newark City contains Penn"),
        ({"not": {"in_new_jersey": True}}, "no", "Newark City contains Penn, but the ground there is not: The ground"),
        ({"site_fact": {"name": "tourism_exists", "is": True}}, "undetermined",
         "Newark City contains Penn; undetermined there: The ground"),
    ],
)  # fmt: skip
def test_the_ground_of_the_station_decides(fact: dict[str, Any], outcome: str, words: str) -> None:
    rule = {"contains_feature": {**CONTAINS["contains_feature"], "at_feature": "ground"}}
    ground = {"id": "ground", "label": "The ground", "citation": "none", "summary": "s", "rule": fact}
    found = seen(rule, [CITY, _stations(Penn="7")], HERE, LINES, [ground])
    assert (found.outcome, found.words) == (outcome, words)


# -- radii ---------------------------------------------------------------------------------------------

NEAR = {"within": {"layer": "transit_stations", "radius": "half"}}


def _rail(*rows: tuple[str, float, float]) -> Layer:
    """Return stations by name, feet to the north of Newark's and feet of uncertainty."""
    return stations(
        [
            (
                NEWARK[0],
                NEWARK[1] + away / 364_430,
                {"name": name, "station_id": name, "coordinate_uncertainty_ft": slack},
            )
            for name, away, slack in rows
        ]
    )


def test_the_interval_is_that_of_the_station_that_is_named() -> None:
    found = seen(NEAR, [CITY, _rail(("Sure", 2_645, "10"), ("Vague", 2_787, "2000"))], HERE, HALF)
    assert found.feature_name == "Sure"
    assert found.distance_ft is not None
    assert found.distance_ft.low == pytest.approx(2_635, abs=5)
    assert found.distance_ft.high == pytest.approx(2_655, abs=5)
    assert found.outcome == "undetermined"
    assert "; Vague may be nearer: 78" in found.words
    assert "0.50 miles - 0.50 miles" not in found.words


def test_another_station_that_is_surely_near_explains_a_yes() -> None:
    found = seen(NEAR, [CITY, _rail(("Vague", 1_500, "2000"), ("Sure", 1_600, "10"))], HERE, HALF)
    assert (found.outcome, found.feature_name) == ("yes", "Vague")
    assert "; Sure is surely no farther than 1,6" in found.words


def test_a_feature_of_an_unknown_day_is_not_sure_to_count() -> None:
    areas = draw("redevelopment_areas", [(square(X, Y, 1_000), {"APPROVAL": "", "NOTES": "One"})])
    found = seen({"within": {"layer": "redevelopment_areas", "radius": "half"}}, [areas], point(3_000, 500), HALF)
    assert found.outcome == "undetermined"
    assert found.words == "One is 2,000 ft away; that it counts on this day is not sure; radius 0.50 miles"


def test_a_rank_in_doubt_is_said() -> None:
    nearest = {"n": 1, "layer": "transit_stations", "where": {"interstate": "true"}}
    rule = {
        "within": {"layer": "transit_stations", "where": {"mode": "light_rail"}, "nearest": nearest, "radius": "half"}
    }
    rows = [("Hub", 0, 0, "commuter_rail", "true"), ("East", 0.004, 300, "light_rail", "false"),
            ("West", -0.0041, 300, "light_rail", "false")]  # fmt: skip
    drawn = [
        (NEWARK[0] + lon, NEWARK[1], {"name": name, "station_id": name, "mode": mode, "interstate": interstate,
                                      "coordinate_uncertainty_ft": str(slack)})
        for name, lon, slack, mode, interstate in rows
    ]  # fmt: skip
    words = seen(rule, [CITY, stations(drawn)], HERE, HALF).words
    assert words.startswith("East is 1,1")
    assert "; that it is among the 1 nearest is not sure; radius 0.50 miles" in words


def test_a_parcel_has_a_nearest_and_a_farthest_part() -> None:
    x, y = map(float, to_working(*NEWARK))
    found = seen(NEAR, [CITY, _rail(("Penn", 0, "0"))], site(shapely.box(x + 1_000, y, x + 2_000, y + 10)), HALF)
    assert found.words == "Penn is 1,000 ft from the nearest part and 2,000 ft from the farthest; radius 0.50 miles"


def test_lengths_that_differ_read_differently() -> None:
    assert lengths(2_645.0, 2_640.0) == ["2,645 ft", "2,640 ft"]
    assert lengths(2_640.2, 2_640.0) == ["2,640.20 ft", "2,640.00 ft"]
    assert lengths(5_280.0, 5_280.0) == ["1.00 mile", "1.00 mile"]


SHARE = {"share_over": {"layer": "transit_stations", "radius": "half", "share": "most"}}
MOST = {**HALF, "most": {"unit": "share", "value": 0.5}}


@pytest.mark.parametrize(
    ("away", "words"),
    [
        (1_000, "the point is within 0.50 miles of Penn; the land area is not known"),
        (3_000, "Penn is 0.57 miles away; radius 0.50 miles; the land area is not known"),
    ],
)
def test_a_point_has_no_share_of_land(away: float, words: str) -> None:
    assert seen(SHARE, [CITY, _rail(("Penn", away, "0"))], HERE, MOST).words == words


# -- keys that are bounds ------------------------------------------------------------------------------


def test_a_key_that_is_a_bound_is_no_feature() -> None:
    bounds = [(square(X, Y, side), {"bound": kind, "name": "The District"}) for side, kind in
              ((9_000, "inner"), (9_500, "nominal"), (10_000, "outer"))]  # fmt: skip
    district = draw("port_of_new_york_district", bounds)
    found = seen({"inside": {"layer": "port_of_new_york_district"}}, [district], point(20_000, 100))
    assert (found.feature, found.feature_name) == (None, "The District")


# -- statuses ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["confirmed", "secondary", "not_found"])
def test_a_list_of_counties_is_as_weak_as_its_source(status: str) -> None:
    counties = {"some": {"unit": "counties", "value": ["Camden"], "status": status}}
    evaluation = run({"county_in": "some"}, [], point(100, 100), counties)
    clause = evaluation.bound.clauses["answer"]
    assert evidence_of(clause, evaluation).status == status_of(clause, evaluation) == status


def test_the_status_is_the_weakest_of_feature_clause_and_figure() -> None:
    def status(radius: str, clause: str) -> str | None:
        figures = {"half": {**HALF["half"], "status": radius}}
        return seen({**NEAR, "status": clause}, [CITY, _rail(("Penn", 0, "0"))], HERE, figures).status

    assert status("confirmed", "confirmed") == "derived"
    assert status("provisional", "confirmed") == "provisional"
    assert status("secondary", "unverified") == "unverified"


# -- stated figures ------------------------------------------------------------------------------------

RATIO = {
    "ratio": {"part": "exempt_value_2006", "whole": ["net_taxable_value_2006", "exempt_value_2006"], "at_least": "p"}
}


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"exempt_value_2006": 3_000_000, "net_taxable_value_2006": 7_000_000},
         "as stated, exempt_value_2006 is 3,000,000 of 10,000,000: 30 %, where 30 % is asked for"),
        ({"exempt_value_2006": 1}, "not stated: net_taxable_value_2006"),
        ({}, "not stated: exempt_value_2006 and net_taxable_value_2006"),
    ],
)  # fmt: skip
def test_a_ratio_shows_its_figures(facts: dict[str, float], words: str) -> None:
    share = {"p": {"unit": "share", "value": 0.3}}
    assert seen(RATIO, [], point(100, 100, facts=facts), share).words == words


def test_a_municipality_that_is_not_named_says_so() -> None:
    town = draw("municipalities", [(around(CAMDEN, 5_000), TOWN)])
    asked = site(shapely.Point(*map(float, to_working(*CAMDEN))))
    named = seen({"municipality_in": ["0412"]}, [town], asked)
    assert (named.outcome, named.words) == ("no", "Camden City, which is none of those named")
