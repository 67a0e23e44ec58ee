from __future__ import annotations

import re
from collections import defaultdict
from datetime import date, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grownj_geo.errors import FactError, RulebookError
from grownj_geo.facts import FactDefinition, check_facts, load_facts, parse_fact
from grownj_geo.nodes import Node, RatioNode, SiteFactNode, children_of
from grownj_geo.readings import read_entries
from grownj_geo.rulebook import load_rulebook, shipped_rulebooks

RULINGS = {"disaster_ruling", "hub_delineated", "hub_impact_ruling", "tourism_ruling"}
NEEDED = re.findall(
    r"\w+",
    """
    urban_aid_in_year lfb_supervision serious_fiscal_distress
    structure_exists structure_existed expansion_of_structure permits_comply
    redevelopment_designation_date rehabilitation_designation_date in_redevelopment_area
    in_rehabilitation_area in_designated_center in_endorsed_growth_center brac_approved_closure
    federally_owned_at_approval owned_by_sports_exposition_authority
    meadowlands_smart_growth_and_planning_area meadowlands_redevelopment_plan
    highlands_receiving_area disaster_property disaster_funds_used disaster_ruling
    incubator_sqft incubator_near_institution incubator_agreement incubator_restricted_share
    tourism_non_gaming tourism_most_visited tourism_district_impact tourism_ruling
    tourism_exists vacant_commercial_sqft vacant_available_months vacant_building_sqft
    vacant_building_months hub_impact_ruling hub_delineated freight_adjacent freight_spur_joined
    freight_spur_distance_ft freight_used hub_added_limbs exempt_value_2006
    net_taxable_value_2006 final_point_of_sale_retail university_research_hospital retail_sqft
    grocery_share container_terminal application_date capital_investment
    full_time_jobs industry auto_headquarters drug_device_or_clinical_lab
    sda_district_named bus_terminal_listed
    dock_operated_by_named_operator
    """,
)
UNITS_IN_NAMES = {
    "_sqft": "square feet",
    "_months": "months",
    "_ft": "feet",
    "_share": "percent",
    "_2006": "dollars",
}


def test_the_vocabulary_has_every_fact_that_the_rules_need() -> None:
    assert set(NEEDED) - set(load_facts()) == set()


def test_rulings_are_what_only_an_official_can_find() -> None:
    assert {name for name, fact in load_facts().items() if fact.kind == "ruling"} == RULINGS


def _asked(node: Node) -> list[str]:
    if isinstance(node, SiteFactNode):
        return [node.site_fact.name]
    if isinstance(node, RatioNode):
        return [node.ratio.part, *node.ratio.whole]
    return [name for child in children_of(node) for name in _asked(child)]


def test_used_by_names_the_categories_whose_own_rules_ask_for_a_fact() -> None:
    asking: dict[str, set[str]] = defaultdict(set)
    for book_id in shipped_rulebooks():
        for category in load_rulebook(book_id).categories:
            for name in _asked(category.rule):
                asking[name].add(category.id)
    assert {name: set(fact.used_by) for name, fact in load_facts().items()} == dict(asking)
    assert all(len(fact.used_by) == len(set(fact.used_by)) for fact in load_facts().values())


@pytest.mark.parametrize("name", sorted(load_facts()))
def test_every_fact_asks_a_question_and_its_example_is_accepted(name: str) -> None:
    fact = load_facts()[name]
    assert "?" in fact.question
    assert parse_fact(fact.example)[0] == name


@pytest.mark.parametrize(("ending", "unit"), sorted(UNITS_IN_NAMES.items()))
def test_a_unit_in_a_name_is_the_fact_s_unit(ending: str, unit: str) -> None:
    named = [fact for name, fact in load_facts().items() if name.endswith(ending)]
    assert named
    assert all(fact.unit is not None and fact.unit.startswith(unit) for fact in named)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("vacant_building_sqft=450000", 450_000.0),
        ("vacant_building_sqft=450,000", 450_000.0),
        (" vacant_building_sqft = 450,000.5 ", 450_000.5),
        ("capital_investment=2e7", 20_000_000.0),
        ("freight_spur_distance_ft=0", 0.0),
        ("incubator_restricted_share=100", 100.0),
        ("structure_exists=yes", True),
        ("structure_exists=TRUE", True),
        ("structure_exists=No", False),
        ("structure_exists=false", False),
        ("application_date=2016-02-29", "2016-02-29"),
        ("industry=life_sciences", "life_sciences"),
        ("industry=Life Sciences", "life_sciences"),
        ("industry=life-sciences", "life_sciences"),
    ],
)
def test_a_statement_is_read(statement: str, expected: object) -> None:
    name, value = parse_fact(statement)
    assert name == statement.partition("=")[0].strip()
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("structure_exists", ["has no '='", "name=value"]),
        ("structure_exist=yes", ["no fact 'structure_exist'", "Did you mean 'structure_exists'?"]),
        ("vacant_bulding_sqft=1", ["Did you mean 'vacant_building_sqft'?"]),
        ("structure_exists=1", ["'1'", "expected yes or no", "leave it out"]),
        ("structure_exists=", ["''", "expected yes or no"]),
        ("structure_exists=unknown", ["'unknown'", "leave it out"]),
        (
            "vacant_building_sqft=450,000 sqft",
            ["expected a number of square feet", "vacant_building_sqft=450,000"],
        ),
        ("vacant_building_sqft=450000sf", ["Leave out the unit", "vacant_building_sqft=450000"]),
        ("capital_investment=$20,000,000", ["dollars", "capital_investment=20,000,000"]),
        (
            "incubator_restricted_share=50%",
            ["percent of gross leasable area", "incubator_restricted_share=50"],
        ),
        ("vacant_building_months=1 year", ["months"]),
        ("vacant_building_sqft=45,00", ["expected a number of square feet"]),
        ("vacant_building_sqft=45,00", ["leave it out"]),
        ("vacant_building_sqft=450 000", ["leave it out"]),
        ("vacant_building_sqft=nan", ["'nan'", "square feet"]),
        ("vacant_building_sqft=inf", ["'inf'"]),
        ("vacant_building_sqft=1e999", ["'1e999'"]),
        ("vacant_building_sqft=-1", ["'-1'", "at least 0"]),
        ("vacant_building_sqft=many", ["'many'", "leave it out"]),
        ("incubator_restricted_share=100.1", ["at most 100"]),
        ("application_date=07/14/2016", ["'07/14/2016'", "YYYY-MM-DD"]),
        ("application_date=2016-02-30", ["no such day"]),
        ("application_date=0016-07-14", ["YYYY-MM-DD"]),
        ("application_date=20160714", ["YYYY-MM-DD"]),
        ("industry=logistic", ["expected one of aviation", "Did you mean 'logistics'?"]),
        ("industry=", ["expected one of"]),
    ],
)
def test_a_statement_that_does_not_fit_is_refused_with_what_to_do(statement: str, words: list[str]) -> None:
    with pytest.raises(FactError) as error:
        parse_fact(statement)
    assert all(word in str(error.value) for word in words), str(error.value)


def test_values_of_yaml_and_tables_are_taken() -> None:
    stated = {
        "structure_exists": True,
        "structure_existed": np.bool_(False),
        "full_time_jobs": 250,
        "incubator_sqft": np.float64(50_000),
        "retail_sqft": np.int32(150_000),
        "application_date": date(2016, 7, 14),
        "redevelopment_designation_date": datetime(2016, 9, 1, 12, 30),  # noqa: DTZ001 - tables give days without a zone
    }
    checked = check_facts(stated)
    assert checked == {
        "structure_exists": True,
        "structure_existed": False,
        "full_time_jobs": 250.0,
        "incubator_sqft": 50_000.0,
        "retail_sqft": 150_000.0,
        "application_date": "2016-07-14",
        "redevelopment_designation_date": "2016-09-01",
    }
    assert {type(value) for value in checked.values()} == {bool, float, str}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("structure_exists", None),
        ("structure_exists", 1),
        ("structure_exists", 0.0),
        ("full_time_jobs", True),
        ("full_time_jobs", None),
        ("full_time_jobs", float("nan")),
        ("full_time_jobs", [250]),
        ("application_date", 20160714),
        ("application_date", None),
        ("industry", 3),
    ],
)
def test_a_value_of_another_kind_is_refused(name: str, value: object) -> None:
    with pytest.raises(FactError, match=name):
        check_facts({name: value})


@given(st.floats(min_value=0, allow_nan=False, allow_infinity=False))
def test_a_number_is_the_same_as_text_and_as_a_number(number: float) -> None:
    assert parse_fact(f"capital_investment={number!r}")[1] == number
    assert check_facts({"capital_investment": number}) == {"capital_investment": number}


@given(st.text())
def test_any_text_is_read_or_refused_as_a_fact(text: str) -> None:
    for name in ("structure_exists", "full_time_jobs", "application_date", "industry"):
        try:
            value = check_facts({name: text})[name]
        except FactError:
            continue
        assert check_facts({name: value}) == {name: value}


ENTRY = """
facts:
- name: one
  label: One
  type: {type}
  question: One?
  citation: Somewhere
  kind: fact
  used_by: [priority_area]
"""


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (ENTRY.format(type="number"), "a unit exactly when"),
        (ENTRY.format(type="choice"), "choices exactly when"),
        (ENTRY.format(type="boolean") + "  unit: feet\n", "a unit exactly when"),
        (ENTRY.format(type="integer"), "0.type"),
    ],
)
def test_a_malformed_definition_is_refused(content: str, words: str) -> None:
    with pytest.raises(RulebookError, match=words):
        read_entries(content, FactDefinition, name="facts.yaml")


def test_text_is_kept_as_it_is_and_never_empty() -> None:
    (fact,) = read_entries(ENTRY.format(type="text"), FactDefinition, name="facts.yaml")
    assert fact.expected == "some text"
