"""The figures are data: dated, cited, sourced, and used as far as they are known."""

from __future__ import annotations

import csv
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from grownj_geo.creditnames import COMPUTED_FACTS
from grownj_geo.creditparams import (
    Figures,
    below_confirmed,
    credit_books,
    load_credit_book,
    read_credit_book,
)
from grownj_geo.creditproject import PROJECT_FACTS
from grownj_geo.creditreadings import credit_readings, resolve_credit_readings
from grownj_geo.errors import RulebookError

SOURCES = Path(__file__).resolve().parents[1] / "data" / "sources.csv"
INFINITY = Decimal("Infinity")


def book(**more: Any) -> dict[str, Any]:
    figure = {
        "label": "Near",
        "unit": "dollars",
        "values": [{"from": date(2013, 9, 18), "value": 5, "citation": "a memo", "status": "confirmed"}],
    }
    return {
        "format": 1,
        "id": "mine",
        "title": "Mine",
        "version": "1",
        "citation": "a memo",
        "first_day": date(2013, 9, 18),
        "last_day": date(2019, 7, 1),
        "outside_days": "None.",
        "figures": {"near": figure},
        **more,
    }


def refused(raw: dict[str, Any]) -> str:
    with pytest.raises(RulebookError) as caught:
        read_credit_book(yaml.safe_dump(raw), name="mine.yaml")
    return str(caught.value)


@pytest.mark.parametrize("book_id", credit_books())
def test_every_figure_has_a_citation_and_a_source_that_is_known(book_id: str) -> None:
    with SOURCES.open(encoding="utf-8") as file:
        known = {row["id"] for row in csv.DictReader(file)}
    for name, figure in load_credit_book(book_id).figures.items():
        for value in figure.values:
            assert value.citation, name
            for source in (value.source or "").split(";"):
                assert source in known | {""}, (name, source)
            if value.status in {"confirmed", "secondary"}:
                assert value.source, f"{name} is {value.status} by no source"


def test_every_fact_of_a_project_is_asked_for_by_a_line_or_a_bonus() -> None:
    book = load_credit_book()
    tests = [line.when for line in book.lines]
    for bonus in book.bonuses:
        tests += [test for test in (bonus.when, bonus.steps and bonus.steps.most_where) if test]
    asked = {name for test in tests for kind, name in test.asked() if kind == "fact"}
    assert asked == set(PROJECT_FACTS) | set(COMPUTED_FACTS)


LINE = {"id": "top", "label": "Top", "base": "near", "job_limit": "near", "year_limit": "near"}


@pytest.mark.parametrize(
    ("when", "more"),
    [
        ({"fact": "near_college"}, {}),
        ({"any": [{"area": "priority_area"}, {"fact": "mega_project"}]}, {}),
        ({"not": {"area": "priority_area"}}, {}),
        ({"fact": "mega_project"}, {"place": True}),
    ],
)
def test_a_line_of_what_is_not_computed_for_lines_is_refused(when: dict[str, Any], more: dict[str, Any]) -> None:
    assert "expected {area: NAME}, or {fact: mega_project}" in refused(book(lines=[{**LINE, "when": when, **more}]))


@pytest.mark.parametrize("when", [{"area": "priority_area"}, {"fact": "mega_project"}])
def test_a_line_of_one_area_or_of_mega_projects_is_taken(when: dict[str, Any]) -> None:
    raw = book(lines=[{**LINE, "when": when}])
    assert read_credit_book(yaml.safe_dump(raw), name="mine.yaml").lines[0].id == "top"


def test_lines_of_two_withholdings_are_refused() -> None:
    raw = book()
    raw["figures"]["far"] = raw["figures"]["near"]
    when = {"area": "priority_area"}
    raw["lines"] = [{**LINE, "id": f"line_{name}", "when": when, "withholdings": name} for name in ("near", "far")]
    assert "near, far as withholdings; expected one figure" in refused(raw)


@pytest.mark.parametrize(
    ("unit", "value", "words"),
    [
        ("industries", ["finanse"], "'finanse' is none of the industries. Did you mean 'finance'?"),
        ("costs", ["vehicle"], "Did you mean 'vehicles'?"),
        ("premises", ["industial"], "Did you mean 'industrial'?"),
    ],
)
def test_a_list_of_what_there_is_not_is_refused(unit: str, value: list[str], words: str) -> None:
    raw = book()
    raw["figures"]["near"]["unit"] = unit
    raw["figures"]["near"]["values"][0]["value"] = value
    assert words in refused(raw)


def test_a_count_with_a_fraction_is_refused_where_a_whole_one_is_needed() -> None:
    raw = book()
    raw["figures"]["near"] |= {"unit": "count"}
    raw["figures"]["near"]["values"][0]["value"] = 3.5
    figures = Figures(read_credit_book(yaml.safe_dump(raw), name="mine.yaml"), date(2017, 4, 17))
    with pytest.raises(RulebookError, match="expected a whole number"):
        figures.count("near")


def test_the_lines_come_highest_first() -> None:
    figures = Figures(load_credit_book(), date(2017, 4, 17), "stated")
    lines = load_credit_book().lines
    for part in ("base", "job_limit"):
        amounts = [figures.number(getattr(line, part)) for line in lines]
        assert amounts == sorted(amounts, reverse=True), part


@pytest.mark.parametrize(
    ("trust", "name", "band", "limit"),
    [
        ("known", "base_growth_zone", (5000, 5000), (5000, 5000)),
        ("known", "base_distressed", (4000, 4000), (4000, 4000)),
        ("known", "job_limit_distressed", (0, 11000), (11000, INFINITY)),
        ("stated", "job_limit_distressed", (11000, 11000), (11000, 11000)),
        ("stated", "bonus_college", (0, INFINITY), (0, INFINITY)),
        ("confirmed", "base_distressed", (0, INFINITY), (0, INFINITY)),
        ("confirmed", "base_growth_zone", (5000, 5000), (5000, 5000)),
    ],
)
def test_a_figure_is_taken_as_far_as_it_is_known(
    trust: Any, name: str, band: tuple[Any, Any], limit: tuple[Any, Any]
) -> None:
    figures = Figures(load_credit_book(), date(2017, 4, 17), trust)
    assert figures.band(name) == band
    if name != "bonus_college":
        assert figures.limit(name) == limit


def test_the_value_in_force_is_the_last_that_has_begun() -> None:
    raw = book()
    raw["figures"]["near"]["values"].append(
        {"from": date(2015, 1, 1), "value": 7, "citation": "a memo", "status": "secondary"}
    )
    figure = read_credit_book(yaml.safe_dump(raw), name="mine.yaml").figures["near"]
    assert [figure.at(date(*day)).value for day in [(2013, 1, 1), (2014, 12, 31), (2015, 1, 1)]] == [5, 5, 7]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"value": "yes"}, "figures > near > values > 0 > value"),
        ({"value": True}, "this is yes or no; expected a figure"),
        ({"value": -1}, "greater than or equal to 0"),
        ({"value": None}, "no value exactly when its status is 'not_found'"),
        ({"value": date(2016, 1, 1)}, "is no value of the unit 'dollars'"),
        ({"status": "sure"}, "Input should be 'confirmed'"),
        ({"citation": ""}, "citation"),
    ],
)
def test_a_figure_that_is_wrong_is_refused_with_its_place(change: dict[str, Any], words: str) -> None:
    raw = book()
    raw["figures"]["near"]["values"][0] |= change
    assert words in refused(raw)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"bonuses": [{"id": "b", "label": "B", "amount": "neer"}]}, "there is no figure 'neer'. Did you mean 'near'?"),
        ({"bonuses": [{"id": "b", "label": "B"}]}, "expected exactly one of amount, steps, tiers"),
        (
            {"bonuses": [{"id": "b", "label": "B", "amount": "near", "when": {"area": "priority_aera"}}]},
            "Did you mean 'priority_area'",
        ),
        (
            {"bonuses": [{"id": "b", "label": "B", "amount": "near", "when": {}}]},
            "exactly one of area, fact, any, all, not",
        ),
        (
            {"bonuses": [{"id": "b", "label": "B", "amount": "near", "when": {"fact": "near_colege"}}]},
            "there is no fact 'near_colege'. Did you mean 'near_college'?",
        ),
        ({"colour": "red"}, "colour: Extra inputs are not permitted"),
    ],
)
def test_a_book_that_names_what_is_not_there_is_refused(more: dict[str, Any], words: str) -> None:
    assert words in refused(book(**more))


def test_readings_that_do_not_fit_the_rules_examples_are_not_offered() -> None:
    assert list(credit_readings()["A13"].options) == [
        "reduction_rounded_down",
        "reduction_down_to_even",
        "result_to_nearest",
        "none",
    ]
    assert resolve_credit_readings({}) == {
        "A13": "reduction_rounded_down",
        "A54": "rate",
        "A59": "person_at_most_one",
        "A60": "alike",
    }


def test_a_reading_that_there_is_not_is_refused() -> None:
    with pytest.raises(RulebookError, match="no reading 'A99'"):
        resolve_credit_readings({"A99": "x"})
    with pytest.raises(RulebookError, match="Did you mean 'result_to_nearest'"):
        resolve_credit_readings({"A13": "to_nearest"})


def test_only_confirmed_is_confirmed() -> None:
    assert [below_confirmed(s) for s in ("confirmed", "derived", "secondary", "unverified")] == [
        False,
        True,
        True,
        True,
    ]


def test_a_book_that_there_is_not_is_refused() -> None:
    with pytest.raises(RulebookError, match="Did you mean 'grow-nj'"):
        load_credit_book("grownj")


BONUSES = {
    "deep_poverty_pocket_or_choice_neighborhoods": "bonus_deep_poverty",
    "qualified_incubator_facility": "bonus_incubator",
    "mixed_use_moderate_income_housing": "bonus_mixed_use",
    "transit_oriented_development": "bonus_transit",
    "targeted_industry": "bonus_targeted",
    "exceeds_leed_silver_or_substantial_remediation": "bonus_green",
    "vacant_commercial_building_over_1m_sf": "bonus_vacant_million",
    "southern_county_mri_over_465": "bonus_southern_index",
    "light_rail_half_mile": "bonus_light_rail",
    "marine_terminal_south_jersey": "bonus_marine_terminal",
    "redevelopment_area_highways": "bonus_highways",
    "auto_manufacturer_hq_retaining_400": "bonus_automobile",
    "onsite_solar_half_of_electricity": "bonus_solar",
}
CATEGORIES = {
    "urban_transit_hub_municipality": "hub_municipality",
    "garden_state_growth_zone": "growth_zone",
    "mega_project": "mega",
    "distressed_municipality": "distressed",
    "priority_area": "priority",
    "other_eligible_area": "other",
}


@pytest.mark.shared
def test_figures_and_their_status_are_those_that_the_project_found(shared: Path) -> None:
    facts = yaml.safe_load((shared / "facts" / "credit_rules.yaml").read_text(encoding="utf-8"))
    ours = {name: figure.values[-1] for name, figure in load_credit_book().figures.items()}
    wanted = {f"base_{CATEGORIES[f['category']]}": f for f in facts["base_amount"] if f["category"] in CATEGORIES}
    wanted |= {f"job_limit_{CATEGORIES[f['category']]}": f for f in facts["caps_per_job_per_year"]}
    wanted |= {BONUSES[f["id"]]: f for f in facts["bonus"] if f["id"] in BONUSES}
    assert len(wanted) == 6 + 6 + len(BONUSES)
    for name, fact in wanted.items():
        assert (ours[name].value, ours[name].status) == (fact["amount"], fact["status"]), name
    for fact in facts["minimum_capital_investment_per_sf"][:4]:
        name = fact["premises"].replace("rehab", "rehabilitation")
        assert (ours[f"capital_{name}"].value, ours[f"capital_{name}"].status) == (fact["amount"], fact["status"])
    classes = {
        "technology_startup_or_manufacturing": "startup",
        "other_targeted_industry": "targeted",
        "any_other": "other",
    }
    for fact in facts["minimum_jobs"][:3]:
        for kind in ("new", "retained"):
            assert ours[f"jobs_{classes[fact['class']]}_{kind}"].value == fact[kind]
    limits = {
        c: f
        for f in facts["caps_per_project_per_year"]
        for c in (f["category"] if isinstance(f["category"], list) else [f["category"]])
    }
    for category, name in {**CATEGORIES, "growth_zone_under_mrera": "growth_zone_mrera"}.items():
        figure = ours[f"year_limit_{'growth_zone' if name == 'mega' else name}"]
        assert (figure.value, figure.status) == (limits[category]["amount"], limits[category]["status"]), category
