"""The rulebook format refuses what it does not know, and names the place."""

from __future__ import annotations

from copy import deepcopy
from datetime import date
from typing import Any

import pytest
import yaml

from grownj_geo import rulecheck
from grownj_geo.atlas import load_atlas
from grownj_geo.errors import RulebookError
from grownj_geo.rulebook import Rulebook, read_rulebook


def _raw(rule: Any, **changes: Any) -> dict[str, Any]:
    figure = {"from": date(2013, 9, 18), "citation": "18.2", "status": "confirmed"}
    parameters = {
        "near": {"label": "near", "unit": "mile", "values": [figure | {"value": 0.5}]},
        "space": {"label": "space", "unit": "sqft", "values": [figure | {"value": 50_000}]},
        "half": {"label": "half", "unit": "share", "values": [figure | {"value": 0.5}]},
        "south": {"label": "south", "unit": "counties", "values": [figure | {"value": ["Camden"]}]},
        "tenth": {"label": "tenth", "unit": "percent", "values": [figure | {"value": 10}]},
        "six": {"label": "six", "unit": "count", "values": [figure | {"value": 6}]},
    }
    category = {"label": "l", "citation": "18.2", "summary": "s"}
    raw = {
        "format": 1,
        "id": "drawn",
        "title": "t",
        "version": "1",
        "citation": "18.2",
        "first_day": date(2013, 9, 18),
        "last_day": date(2019, 7, 1),
        "outside_days": "Nothing.",
        "parameters": parameters,
        "categories": [
            category | {"id": "area", "rule": rule},
            category | {"id": "other", "rule": {"site_fact": {"name": "structure_exists", "is": True}}},
        ],
    }
    return deepcopy(raw | changes)


def _read(raw: Any) -> Rulebook:
    return read_rulebook(yaml.safe_dump(raw, sort_keys=False), name="drawn.yaml")


FACT = {"site_fact": {"name": "structure_exists", "is": True}}


def test_the_plain_one_is_read() -> None:
    book = _read(_raw({"any": [FACT, {"not": {"category": "other"}}]}))
    assert [c.id for c in book.categories] == ["area", "other"]


STATION = {"layer": "transit_stations"}
REFUSED = {
    "typo of an operator": ({"any": [{"insid": {"layer": "planning_areas"}}]}, "area > rule.*exactly one operator"),
    "two operators": (FACT | {"category": "other"}, "area > rule.*exactly one operator"),
    "no operator": ({"label": "nothing"}, "area > rule.*exactly one operator"),
    "empty any": ({"any": []}, "area > rule.*at least 1"),
    "unknown key": (FACT | {"lable": "x"}, "area > rule.* > lable"),
    "unknown category": ({"all": [FACT, {"category": "othr"}]}, r"area > 2: there is no category 'othr'.*'other'"),
    "unknown layer": ({"inside": {"layer": "planing_areas"}}, r"area: there is no layer.*'planning_areas'"),
    "unknown field": (
        {"any": [{"id": "pa", "inside": {"layer": "planning_areas", "where": {"planing_area": "PA1"}}}]},
        r"area > pa: there is no field of planning_areas 'planing_area'",
    ),
    "unknown value": (
        {"inside": {"layer": "planning_areas", "where": {"planning_area": ["PA1", "PA7"]}}},
        r"area: there is no value of planning_areas.planning_area 'PA7'",
    ),
    "unknown parameter": ({"within": STATION | {"radius": "nearr"}}, r"area: there is no parameter 'nearr'.*'near'"),
    "unknown fact": ({"site_fact": {"name": "structure", "is": True}}, "area: there is no site fact 'structure'"),
    "unknown reading": ({"any": [FACT | {"readings": ["A99"]}]}, "area > 1: there is no reading 'A99'"),
    "unknown reading in when": ({"any": [FACT | {"when": {"A99": "x"}}]}, "area > 1: there is no reading 'A99'"),
    "unknown option": ({"any": [FACT | {"when": {"A11": "lose"}}]}, r"no option of A11 'lose'.*'loose'"),
    "wrong unit": ({"within": STATION | {"radius": "half"}}, "area: the parameter half is in share; expected mile"),
    "wrong unit of a share": (
        {"share_over": STATION | {"radius": "near", "share": "near"}},
        "area: the parameter near is in mile; expected share",
    ),
    "a fact in another unit": (
        {"site_fact": {"name": "capital_investment", "more_than": "space"}},
        "area: the fact capital_investment is in dollars, the parameter space in sqft",
    ),
    "two comparisons": ({"site_fact": {"name": "structure_exists", "is": True, "leans": True, "at_least": "space"}},
                        "exactly one comparison"),
    "no comparison": ({"site_fact": {"name": "structure_exists"}}, "exactly one comparison"),
    "a choice that is none": (
        {"site_fact": {"name": "industry", "is": ["logistics", "aviatoin"]}},
        "area: the fact industry is never 'aviatoin'",
    ),
    "text for a yes": ({"site_fact": {"name": "structure_exists", "is": "yes"}}, "structure_exists is never 'yes'"),
    "an assumption under no reading": (
        {"site_fact": {"name": "structure_exists", "is": True,
                       "assume": {"value": False, "reading": "A25", "option": "assume_nobody", "words": "w"}}},
        "no option of A25 'assume_nobody'",
    ),
    "an unknown list": ({"designated": {"list": "urban_aid_2071"}}, "urban_aid_2071"),
    "a date where it has no effect": (FACT | {"from": date(2016, 1, 1)}, "area: from, until and when have no effect"),
    "a date under not": ({"not": FACT | {"until": date(2016, 1, 1)}}, "area: from, until and when have no effect"),
    "a day that is none": ({"any": [FACT | {"from": "2016-02-30"}]}, "area > rule > 1 > from|area > rule.*from"),
    "a span the wrong way round": (
        {"any": [FACT | {"from": {"earliest": date(2016, 2, 2), "latest": date(2016, 1, 1)}}]},
        "earliest comes after latest",
    ),
    "a list that is a county": ({"county_in": "near"}, "area: the parameter near is in mile; expected counties"),
    "a code that is none": ({"municipality_in": ["408"]}, "area > rule > municipality_in"),
    "siblings of one id": (
        {"any": [FACT | {"id": "x"}, {"id": "y", "all": [FACT | {"id": "z"}, {"category": "other", "id": "z"}]}]},
        "area > y: two clauses here have the id 'z'",
    ),
    "inside of points": ({"inside": STATION}, "area: the layer transit_stations has points; expected polygons"),
    "inside of lines": ({"inside": {"layer": "freight_rail"}}, "area: the layer freight_rail has lines"),
    "overlaps of points": ({"any": [{"overlaps": STATION}]}, "area > 1: .*transit_stations has points"),
    "inside of a table": (
        {"inside": {"layer": "designations"}},
        "area: the layer designations has rows without a shape; expected polygons",
    ),
    "within of lines": (
        {"within": {"layer": "freight_rail", "radius": "near"}},
        "area: the layer freight_rail has lines; expected polygons or points",
    ),
    "within of a table": ({"within": {"layer": "designations", "radius": "near"}}, "expected polygons or points"),
    "a share over polygons": (
        {"share_over": {"layer": "planning_areas", "radius": "near", "share": "half"}},
        "area: the layer planning_areas has polygons; expected points",
    ),
    "nearest to polygons": (
        {"within": STATION | {"radius": "near", "nearest": {"n": 2, "layer": "planning_areas"}}},
        "area: the layer planning_areas has polygons; expected points",
    ),
    "polygons nearest to points": (
        {"within": {"layer": "planning_areas", "radius": "near", "nearest": STATION | {"n": 2}}},
        "area: the layer planning_areas has polygons; expected points",
    ),
    "a fact supported by points": (
        {"site_fact": {"name": "structure_exists", "is": True, "supported_by": STATION}},
        "area: the layer transit_stations has points; expected polygons",
    ),
    "a feature without municipality": (
        {"contains_feature": {"layer": "planning_areas"}},
        "area: the layer planning_areas has no mun_code",
    ),
    "features of a table": ({"contains_feature": {"layer": "designations"}}, "area: .*rows without a shape"),
    "what holds at a polygon": (
        {"contains_feature": {"layer": "urban_enterprise_zones", "at_feature": "other"}},
        "area: the layer urban_enterprise_zones has polygons; expected points",
    ),
    "a least figure within": (
        {"within": STATION | {"radius": "near", "at_least": {"njt_rail_lines_n": "six"}}},
        "area: at_least has no effect here",
    ),
    "a least figure of a share": (
        {"share_over": STATION | {"radius": "near", "share": "half", "at_least": {"njt_rail_lines_n": "six"}}},
        "area: at_least has no effect here",
    ),
    "a least figure of the nearest": (
        {"within": STATION | {"radius": "near",
                              "nearest": STATION | {"n": 1, "at_least": {"njt_rail_lines_n": "six"}}}},
        "area: at_least has no effect here",
    ),
    "a least figure of what is contained": (
        {"contains_feature": STATION | {"at_least": {"njt_rail_lines_n": "six"}}},
        "area: at_least has no effect here; write count",
    ),
    "a least figure of what supports": (
        {"site_fact": {"name": "structure_exists", "is": True,
                       "supported_by": {"layer": "census_tract_poverty", "at_least": {"poverty_rate": "tenth"}}}},
        "area: at_least has no effect here",
    ),
    "no value to select": (
        {"inside": {"layer": "planning_areas", "where": {"planning_area": []}}},
        "area: where > planning_area has no value",
    ),
    "a blank value to select": (
        {"inside": {"layer": "south_jersey_port_terminals", "where": {"id": ["salem", " "]}}},
        "area: where > id has no value",
    ),
    "no option to choose": ({"any": [FACT | {"when": {"A11": []}}]}, "area > 1: when names no option of A11"),
    "a day for a yes": ({"site_fact": {"name": "structure_exists", "before": date(2016, 1, 1)}},
                        "area: the fact structure_exists is yes or no; before does not compare that"),
    "a day for a number": ({"site_fact": {"name": "full_time_jobs", "after": date(2016, 1, 1)}},
                           "area: the fact full_time_jobs is a number of jobs.*; after does not compare that"),
    "the day for a choice": ({"site_fact": {"name": "industry", "on_or_before_as_of": True}},
                             "area: the fact industry is one of .*; on_or_before_as_of does not compare that"),
    "a figure for a yes": ({"site_fact": {"name": "structure_exists", "at_least": "six"}},
                           "area: the fact structure_exists is yes or no; at_least does not compare that"),
    "a figure for a date": ({"site_fact": {"name": "application_date", "at_most": "six"}},
                            "area: the fact application_date is a date.*; at_most does not compare that"),
    "a figure for a choice": ({"site_fact": {"name": "industry", "more_than": "six"}}, "more_than does not compare"),
    "is for a number": ({"site_fact": {"name": "full_time_jobs", "is": "250"}},
                        "area: the fact full_time_jobs is a number of jobs.*; is does not compare that"),
    "is for a date": ({"site_fact": {"name": "application_date", "is": "2016-07-01"}}, "; is does not compare that"),
    "is without a value": ({"site_fact": {"name": "industry", "is": []}}, "area: is names no value"),
    "a ratio of dates": (
        {"ratio": {"part": "application_date", "whole": ["net_taxable_value_2006"], "at_least": "half"}},
        "area: the fact application_date is a date.*; expected a number",
    ),
    "a ratio of two units": (
        {"ratio": {"part": "full_time_jobs", "whole": ["net_taxable_value_2006"], "at_least": "half"}},
        "area: the facts are in dollars and jobs; use one unit",
    ),
    "a municipality of a 22nd county": ({"municipality_in": ["0408", "2201"]}, "area: there is no municipality '2201'"),
    "a municipality of no county": ({"any": [{"municipality_in": ["0001"]}]}, "area > 1: .* '0001'"),
    "a county for a municipality": ({"municipality_in": ["0400"]}, "area: there is no municipality '0400'"),
    "a blank label": ({"any": [FACT | {"label": " "}]}, "area > 1: the label is blank"),
    "a blank citation": ({"any": [FACT | {"citation": ""}]}, "area > 1: the citation is blank"),
    "a blank why": ({"undetermined": {"why": " "}}, "area: why is blank"),
    "a blank assumption": (
        {"site_fact": {"name": "lfb_supervision", "is": True,
                       "assume": {"value": False, "reading": "A25", "option": "assume_none", "words": ""}}},
        "area: the words of assume are blank",
    ),
    "until before from": ({"any": [FACT | {"from": date(2016, 2, 2), "until": date(2016, 2, 1)}]},
                          "area > 1: until does not come after from"),
    "until on from": ({"any": [FACT | {"from": date(2016, 2, 2), "until": date(2016, 2, 2)}]},
                      "area > 1: until does not come after from"),
    "until in the span of from": (
        {"any": [FACT | {"from": {"earliest": date(2016, 2, 2), "latest": date(2016, 2, 9)},
                         "until": date(2016, 2, 5)}]},
        "area > 1: until does not come after from",
    ),
    "a circle of one": ({"any": [FACT, {"category": "area"}]}, "circle: area > area"),
}  # fmt: skip


@pytest.mark.parametrize("why", REFUSED)
def test_refused_with_the_place_named(why: str) -> None:
    rule, words = REFUSED[why]
    with pytest.raises(RulebookError, match=f"(?s)drawn.yaml.*{words}"):
        _read(_raw(rule))


def _changed(*path: Any, to: Any = None) -> dict[str, Any]:
    """Return the plain rulebook with one value changed, or left out."""
    raw = _raw(FACT)
    here: Any = raw
    for step in path[:-1]:
        here = here[step]
    if to is None:
        del here[path[-1]]
    else:
        here[path[-1]] = to
    return raw


def _periods(*days: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"from": start, "until": end, "seen": True, "words": "w"} for start, end in days]


def _tiers(*lines: tuple[str, int, bool]) -> list[dict[str, Any]]:
    plain = {"label": "l", "category": "other", "citation": "c", "status": "confirmed"}
    return [plain | {"id": id_, "dollars": dollars, "project": project} for id_, dollars, project in lines]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (_changed("categories", 0, "citation"), "area > citation"),
        (_changed("categories", 0, "citation", to=""), "area > citation"),
        (_changed("parameters", "near", "values", 0, "citation"), "parameters > near > values > 0 > citation"),
        (_changed("parameters", "near", "values", 0, "status", to="certain"), "near > values > 0 > status"),
        (_changed("parameters", "near", "values", to=[]), "parameters > near > values"),
        (_changed("parameters", "near", "unit", to="km"), "parameters > near > unit"),
        (_changed("categories", 1, "id", to="area"), "area: the id is used by more than one category"),
        (_changed("categories", 0, "id", to="Area 1"), "Area 1 > id"),
        (_changed("categories", 0, "kind", to="zone"), "area > kind"),
        (_changed("categories", to=[]), "categories"),
        (_changed("categories", 0, "label", to=" "), "area > label: this is blank"),
        (_changed("categories", 0, "citation", to="  "), "area > citation: this is blank"),
        (_changed("parameters", "near", "values", 0, "citation", to=" "), "near > values > 0 > citation: this is"),
        (_changed("parameters", "near", "label", to=""), "parameters > near > label: this is blank"),
        (_changed("title", to=""), "title: this is blank"),
        (_changed("outside_days", to=" "), "outside_days: this is blank"),
        (_changed("parameters", "near", "values", 0, "value", to=["Camden"]),
         "parameters > near > 2013-09-18: this is a list; expected one figure in mile"),
        (_changed("parameters", "near", "values", 0, "value", to=True), "near > values > 0 > value.*yes or no"),
        (_changed("parameters", "near", "values", 0, "value", to=-1), "near > values > 0 > value"),
        (_changed("parameters", "half", "values", 0, "value", to=-0.5), "half > values > 0 > value"),
        (_changed("parameters", "half", "values", 0, "value", to=50),
         "parameters > half > 2013-09-18: 50 is too much; a share is at most 1"),
        (_changed("parameters", "tenth", "values", 0, "value", to=100.5),
         "parameters > tenth > 2013-09-18: 100.5 is too much; a percent is at most 100"),
        (_changed("parameters", "south", "values", 0, "value", to=4),
         "parameters > south > 2013-09-18: the unit is counties; expected a list"),
        (_changed("parameters", "south", "values", 0, "value", to=[]), "south > 2013-09-18: the unit is counties"),
        (_changed("parameters", "south", "values", 0, "value", to=["Camden", "Cape Mai"]),
         "parameters > south > 2013-09-18: there is no county 'Cape Mai'.*'Cape May'"),
        (_changed("parameters", "south", "values", 0, "value", to=["Camden", "Camden"]), "Camden is given twice"),
        (_changed("parameters", "near", "values", 0, "from", to=date(2013, 9, 19)),
         "parameters > near: its first value begins on 2013-09-19, after the rulebook's first_day, 2013-09-18"),
        (_changed("parameters", "near", "values", to=_raw({})["parameters"]["near"]["values"] * 2),
         "parameters > near: two values begin on 2013-09-18"),
        (_changed("last_day", to=date(2013, 9, 17)), "last_day: 2013-09-17 comes before first_day"),
        (_changed("wording", to=_periods(("2013-09-18", "2013-09-18"))), "wording > 1: until, 2013-09-18, does not"),
        (_changed("wording", to=_periods(("2013-09-18", "2015-01-20"), ("2015-01-19", "2019-07-02"))),
         "wording > 2: it begins on 2015-01-19, before the one above ends"),
        (_changed("wording", to=_periods(("2015-01-20", "2019-07-02"), ("2013-09-18", "2015-01-20"))),
         "wording > 2: it begins on 2013-09-18, before the one above ends"),
        (_changed("tiers", to=_tiers(("a", 3000, False), ("b", 4000, False))), "tiers > b: it stands below a"),
        (_changed("tiers", to=_tiers(("a", 3000, True), ("b", 3000, False))), "tiers > b: it stands below a"),
        (_changed("tiers", to=_tiers(("a", 3000, False), ("a", 2000, False))), "tiers > a: the id is used by more"),
        (_changed("tiers", to=_tiers(("a", -1, False))), "tiers > a > dollars"),
        (_changed("format", to=2), "format"),
        (_changed("first_day"), "first_day"),
        (_changed("colour", to="red"), "colour"),
        (_changed("tiers", to=[{"id": "t", "label": "l", "dollars": 1, "category": "none", "citation": "c",
                                "status": "confirmed"}]), "tiers > t: there is no category 'none'"),
        (_changed("categories", 1, "rule", to={"category": "area"})
         | {"categories": [_raw({"category": "other"})["categories"][0],
                           _raw({})["categories"][1] | {"rule": {"category": "area"}}]},
         "circle: area > other > area"),
    ],
)  # fmt: skip
def test_refused_outside_the_rules(raw: dict[str, Any], words: str) -> None:
    with pytest.raises(RulebookError, match=f"(?s)drawn.yaml.*{words}"):
        _read(raw)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds a NoneType"),
        ("- one\n- two\n", "holds a list"),
        ("a rulebook", "holds a str"),
        ("id: [unclosed", "not readable YAML"),
        ("id: !!python/object/apply:os.getcwd []", "not readable YAML"),
        ("{}", "does not follow the rulebook format"),
    ],
)
def test_what_is_no_rulebook(text: str, words: str) -> None:
    with pytest.raises(RulebookError, match=f"drawn.yaml {words}|drawn.yaml is {words}"):
        read_rulebook(text, name="drawn.yaml")


def test_every_problem_is_named_at_once() -> None:
    with pytest.raises(RulebookError) as caught:
        _read(
            _raw(
                {"any": [{"category": "nope"}, {"inside": {"layer": "nowhere"}}, {"within": STATION | {"radius": "x"}}]}
            )
        )
    assert all(word in str(caught.value) for word in ("'nope'", "'nowhere'", "'x'"))


def test_what_borders_on_a_refusal_is_read() -> None:
    span = {"earliest": date(2016, 2, 2), "latest": date(2016, 2, 9)}
    rule = {
        "any": [
            FACT | {"id": "x", "from": span, "until": date(2016, 2, 10)},
            FACT | {"id": "y", "from": date(2016, 2, 9), "until": date(2016, 2, 10)},
            {"id": "z", "all": [FACT | {"id": "x"}]},
            {"within": {"layer": "planning_areas", "radius": "near"}},
            {"within": STATION | {"radius": "near"}},
            {"contains_feature": {"layer": "urban_enterprise_zones"}},
            {"contains_feature": {"layer": "municipalities"}},
            {"municipality_in": ["0101", "2123"]},
            {"site_fact": {"name": "application_date", "after": span}},
        ]
    }
    raw = _raw(rule, wording=_periods(("2013-09-18", "2015-01-20"), ("2015-01-20", "2019-07-02")))
    raw["tiers"] = _tiers(("a", 5000, False), ("b", 5000, True), ("c", 0, False))
    raw["parameters"]["half"]["values"][0]["value"] = 1
    raw["parameters"]["tenth"]["values"][0]["value"] = 100
    raw["parameters"]["near"]["values"].append(raw["parameters"]["near"]["values"][0] | {"from": date(2018, 1, 1)})
    assert _read(raw).tiers[1].project


def test_the_counties_are_those_of_the_map_in_the_order_of_their_codes() -> None:
    layer = load_atlas().layer("counties")
    assert layer is not None
    codes = {layer.value("county_code", i): layer.value("county", i) for i in range(21)}
    assert tuple(codes[f"{n:02}"] for n in range(1, 22)) == rulecheck._COUNTIES  # noqa: SLF001
