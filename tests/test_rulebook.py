"""The rulebook format refuses what it does not know, names the place, and the shipped rulebook follows it."""

from __future__ import annotations

from copy import deepcopy
from datetime import date
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from grownj_geo.errors import RulebookError
from grownj_geo.rulebook import Rulebook, load_rulebook, read_rulebook

if TYPE_CHECKING:
    from collections.abc import Iterator

# The terms of ../shared/model/areas.md, section by section.
SECTIONS = {
    2: ["southern_eight", "urban_aid", "sda_municipality", "garden_state_growth_zone", "growth_zone_city",
        "mrera_growth_zone", "tourism_district_growth_zone", "atlantic_city_tourism_district",
        "urban_transit_hub_municipality"],
    3: ["aviation_district"],
    4: ["port_district", "port_ground", "port_of_new_york_district", "south_jersey_port"],
    5: ["qualified_incentive_area", "qia_ground_apart", "highlands_preservation"],
    6: ["distressed_municipality", "local_finance_board_supervision", "serious_fiscal_distress"],
    7: ["major_rail_station_municipality"],
    8: ["deep_poverty_pocket"],
    9: ["priority_area", "priority_ground"],
    10: ["other_eligible_area"],
    12: ["transit_oriented_development", "transit_bonus"],
    13: ["highlands_receiving_area", "highlands_receiving_ground"],
    14: ["disaster_recovery_project"],
    15: ["qualified_incubator_facility"],
    16: ["tourism_destination_project", "existing_tourism_project_ground"],
    17: ["urban_transit_hub"],
    18: ["mega_1_area", "mega_2_area", "mega_3_area", "mega_4_area", "mega_5_area", "mega_project"],
    19: ["qualified_business_facility"],
    20: ["reduced_minimums"],
    21: ["port_district_with_container_terminal", "revitalization_index_2007"],
}  # fmt: skip
# Figures of section 1 of the same file.
FIGURES = {
    "tod_radius": 0.5,
    "tod_radius_growth_zone": 1,
    "port_terminal_radius": 15,
    "aviation_radius": 1,
    "poverty_level": 20,
    "rail_lines": 6,
    "vacant_sqft": 400_000,
    "vacant_months": 12,
    "incubator_sqft": 50_000,
    "incubator_share": 50,
    "retail_sqft": 150_000,
    "grocery_share": 50,
    "hub_radius": 0.5,
    "hub_radius_mrera": 1,
    "hub_land_share": 0.5,
    "freight_entrance_feet": 5280,
    "mega_capital": 20_000_000,
    "mega_capital_hub": 50_000_000,
    "mega_jobs": 250,
    "mega_jobs_alone": 1000,
    "mega_jobs_south": 150,
}


def _raw(rule: Any, **changes: Any) -> dict[str, Any]:
    figure = {"from": date(2013, 9, 18), "citation": "18.2", "status": "confirmed"}
    parameters = {
        "near": {"label": "near", "unit": "mile", "values": [figure | {"value": 0.5}]},
        "space": {"label": "space", "unit": "sqft", "values": [figure | {"value": 50_000}]},
        "half": {"label": "half", "unit": "share", "values": [figure | {"value": 0.5}]},
        "south": {"label": "south", "unit": "counties", "values": [figure | {"value": ["Camden"]}]},
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


# -- the shipped one -----------------------------------------------------------------------------------


@cache
def _shipped() -> Rulebook:
    return load_rulebook("grow-nj")


def test_a_rulebook_that_does_not_ship() -> None:
    with pytest.raises(RulebookError, match="no shipped rulebook 'grow-ny'"):
        load_rulebook("grow-ny")


@pytest.mark.parametrize("section", SECTIONS)
def test_every_term_of_the_model_has_its_category(section: int) -> None:
    ids = {c.id for c in _shipped().categories}
    assert set(SECTIONS[section]) <= ids


@pytest.mark.parametrize("name", FIGURES)
def test_the_figures_of_the_regulation(name: str) -> None:
    value = _shipped().parameters[name].at(date(2017, 4, 17))
    assert value.value == FIGURES[name]
    assert value.status == "confirmed"


def test_the_eight_counties() -> None:
    eight = {"Atlantic", "Burlington", "Camden", "Cape May", "Cumberland", "Gloucester", "Ocean", "Salem"}
    assert set(_shipped().parameters["southern_eight_counties"].at(date(2017, 4, 17)).value) == eight  # type: ignore[arg-type]


def _citations(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "citation":
                yield place, inner
            yield from _citations(inner, f"{place}/{value.get('id', key)}")
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _citations(inner, place)


def test_every_citation_says_something() -> None:
    found = list(_citations(_shipped().model_dump(by_alias=True, exclude_none=True)))
    assert len(found) > 60
    assert [place for place, words in found if not str(words).strip()] == []
    laws = ("N.J.A.C. 19:31-18", "P.L.", "C.34:1B-20", "Compact of 1921", "A1178", "N.J.S.A.")
    assert [place for place, words in found if not any(law in str(words) for law in laws)] == []


def test_the_tiers_in_order() -> None:
    assert [(t.id, t.dollars, t.project) for t in _shipped().tiers] == [
        ("top", 5000, False),
        ("mega", 5000, True),
        ("distressed", 4000, False),
        ("priority", 3000, False),
        ("other", 500, False),
    ]


@pytest.mark.parametrize(
    ("day", "fits"),
    [("2013-09-17", False), ("2013-09-18", True), ("2017-04-17", True), ("2019-07-01", True), ("2019-07-02", False)],
)
def test_the_days_that_it_covers(day: str, fits: bool) -> None:  # noqa: FBT001
    if fits:
        _shipped().check_day(date.fromisoformat(day))
        assert sum(p.from_ <= date.fromisoformat(day) < p.until for p in _shipped().wording) == 1
    else:
        with pytest.raises(RulebookError, match="outside what the rulebook grow-nj covers"):
            _shipped().check_day(date.fromisoformat(day))


def test_a_category_that_is_none() -> None:
    with pytest.raises(RulebookError, match=r"no category 'port_distrct'.*port_district"):
        _shipped().category("port_distrct")
