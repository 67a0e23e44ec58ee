"""What must hold of every project: ranges cover all that can be, more is never less, and money sums to the cent."""

from __future__ import annotations

import copy
import itertools
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from benchmark_credits import consistent

from grownj_geo.areanames import area_names, contradictions
from grownj_geo.creditproject import PROJECT_FACTS, project_of
from grownj_geo.credits import AmountRange, Estimate, estimate

AREAS = [name for name, area in area_names().items() if area.rulebook == "grow-nj"]
TRUSTS = ["confirmed", "known", "stated"]
WORDS = ["yes", "no", "undetermined"]
MOST_OPEN = 6


def building(name: str, areas: dict[str, str], **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "gross_leasable_sqft": 10_000,
        "premises": "industrial",
        "construction": "rehabilitation",
        "similar_use_percent": 60,
        "median_salary": 50_000,
        "areas": {**areas, "rest": "no"},
        **more,
    }


@st.composite
def projects(draw: st.DrawFn, *, known: bool = False) -> dict[str, Any]:
    words = st.sampled_from(WORDS[:2] if known else WORDS)
    names = draw(st.sampled_from([["A"], ["A"], ["A", "B"], ["A", "B", "C"]]))
    base = st.dictionaries(st.sampled_from(AREAS), words, max_size=6)
    buildings = []
    for name in names:
        areas = {"qualified_incentive_area": draw(st.sampled_from(["yes", "yes", "yes" if known else "undetermined"]))}
        more = {
            "premises": draw(st.sampled_from(["industrial", "other"])),
            "construction": draw(st.sampled_from(["new", "rehabilitation"])),
            "proximity": draw(st.sampled_from(["near", None])),
        }
        buildings.append(building(name, consistent(areas | draw(base)), **more))
    jobs = [
        {
            "building": draw(st.sampled_from(names)),
            "kind": draw(st.sampled_from(["new", "retained"])),
            "count": draw(st.sampled_from([0, 5, 8, 9, 10, 19, 40, 151, 251, 401, 1001])),
            "average_salary": draw(st.sampled_from([40_000, 70_000, 120_000])),
        }
        for _ in range(draw(st.integers(1, 3)))
    ]
    capital = [
        {
            "building": draw(st.sampled_from(names)),
            "what": draw(st.sampled_from(["construction", "site_acquisition", "soft_costs", "remediation"])),
            "amount": draw(st.sampled_from([0, 140_000, 266_667, 400_000, 20_000_001, 50_000_001])),
        }
        for _ in range(draw(st.integers(1, 3)))
    ]
    facts = draw(st.dictionaries(st.sampled_from(sorted(PROJECT_FACTS)), st.booleans(), max_size=3))
    closed = dict.fromkeys(PROJECT_FACTS, False) | facts
    for name in draw(st.sets(st.sampled_from(sorted(PROJECT_FACTS)), max_size=0 if known else 2)):
        del closed[name]
    return {
        "business": {
            "industry": draw(st.sampled_from(["manufacturing", "finance", "aviation", "other"])),
            "auto_headquarters": draw(st.booleans()),
            "drug_device_or_clinical_lab": draw(st.booleans()),
            "primarily_warehouse": draw(st.sampled_from([False] if known else [False, None])),
            "technology_startup": draw(st.sampled_from([True, False] if known else [True, False, None])),
        },
        "buildings": buildings,
        "jobs": jobs,
        "capital": capital,
        "facts": closed,
        "application_date": "2016-09-01",
        "eligibility_years": draw(st.integers(1, 10)),
        "method": draw(st.sampled_from(["per_job", "per_job", "capital_investment"])),
        "withholdings": 2_000_000,
    }


def unknowns(raw: dict[str, Any]) -> list[tuple[str, int, str]]:
    found = [
        ("area", row, name)
        for row, each in enumerate(raw["buildings"])
        for name, word in each["areas"].items()
        if word == "undetermined"
    ]
    if raw["business"].get("technology_startup", False) is None:
        found.append(("business", 0, "technology_startup"))
    return found + [("fact", 0, name) for name in PROJECT_FACTS if name not in raw["facts"]]


def completed(raw: dict[str, Any], choice: dict[tuple[str, int, str], bool]) -> dict[str, Any]:
    buildings = [{**each, "areas": dict(each["areas"])} for each in raw["buildings"]]
    facts, business = dict(raw["facts"]), dict(raw["business"])
    for (kind, row, name), value in choice.items():
        if kind == "area":
            buildings[row]["areas"][name] = "yes" if value else "no"
        elif kind == "business":
            business[name] = value
        else:
            facts[name] = value
    return {**raw, "business": business, "buildings": buildings, "facts": facts}


def possible(raw: dict[str, Any]) -> bool:
    """Return whether no area contradicts another by its definition."""
    said = [{word: {n for n, w in b["areas"].items() if w == word} for word in WORDS} for b in raw["buildings"]]
    return not any(contradictions(areas["yes"], areas["no"]) for areas in said)


def within(inner: AmountRange, outer: AmountRange) -> bool:
    below = outer.high is None or (inner.high is not None and inner.high <= outer.high)
    return outer.low <= inner.low and below


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(projects(), st.sampled_from(TRUSTS), st.booleans())
def test_a_range_contains_every_completion_of_the_unknowns(raw: dict[str, Any], trust: Any, strict: Any) -> None:
    open_still = unknowns(raw)
    if strict and raw["business"]["primarily_warehouse"] is None:
        # Else it is assumed, and the assumption named.
        open_still.insert(0, ("business", 0, "primarily_warehouse"))
    # Beyond what can be tried out, the rest is settled.
    raw = completed(raw, dict.fromkeys(open_still[MOST_OPEN:], True))
    assume(possible(raw))
    open_still = open_still[:MOST_OPEN]
    whole = estimate(project_of(raw), trust=trust, strict=strict)
    for values in itertools.product([True, False], repeat=len(open_still)):
        choice = dict(zip(open_still, values, strict=True))
        if not possible(completed(raw, choice)):
            continue
        one = estimate(project_of(completed(raw, choice)), trust=trust, strict=strict)
        for part in ("award", "award_year", "if_eligible", "if_eligible_year"):
            assert within(getattr(one, part), getattr(whole, part)), (part, choice)
        assert whole.eligible in {one.eligible, "undetermined"}, choice
        for condition in ("condition_capital", "condition_jobs", "condition_facility", "condition_method"):
            assert whole[condition].outcome in {one[condition].outcome, "undetermined"}, (condition, choice)


JOBS: dict[str, list[Any]] = {
    "hours_per_week": [20, 34, 40, 70],
    "customary_full_time": [True, False],
    "time_at_facility_percent": [50, 80],
    "customary_time": [True, False],
    "health_benefits": [True, False],
    "collective_agreement": [True, False],
    "contractors": [True, False],
    "average_salary": [40_000, 120_000],
}
CAPITAL: dict[str, list[Any]] = {
    "when": ["before", "after"],
    "incurred": ["2013-01-01", "2015-03-04", "2017-01-01", "2018-12-01"],
    "grants": [0, 1, 400_000],
}
BUSINESS: dict[str, list[Any]] = {
    "gaming_revenue_percent": [0, 40, 100],
    "primarily_warehouse": [True, False],
    "technology_startup": [True, False],
    "final_point_of_sale_retail": [True, False],
    "university_research_hospital": [True, False],
    "retail_sqft": [100_000, 150_000],
    "grocery_percent": [40, 50],
}
BUILDING: dict[str, list[Any]] = {
    "vacant_industrial_unleased": [True, False],
    "similar_use_percent": [40, 60],
    "median_salary": [50_000],
}
PROJECT: dict[str, list[Any]] = {
    "withholdings": [0, 2_000_000],
    "net_benefit": [1_000, 10**10],
    "green_standard": [True, False],
    "jobs_at_risk": [True, False],
    "approval_date": ["2016-10-11"],
}


def parts_of(raw: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, list[Any]]]]:
    """Return each part of a project with what may be stated of it."""
    found = [(raw, PROJECT), (raw["business"], BUSINESS)]
    found += [(each, BUILDING) for each in raw["buildings"]]
    return found + [(each, JOBS) for each in raw["jobs"]] + [(each, CAPITAL) for each in raw["capital"]]


@st.composite
def half_stated(draw: st.DrawFn) -> dict[str, Any]:
    """Return a project of which anything may be left out."""
    raw = copy.deepcopy(draw(projects()))
    raw["business"] = {name: value for name, value in raw["business"].items() if value is not None}
    for part, inputs in parts_of(raw):
        for name, values in inputs.items():
            # More often stated than not: one open thing in much that is known shows more than all open at once.
            value = draw(st.sampled_from([*values, *values, None]))
            if value is None:
                part.pop(name, None)
            else:
                part[name] = value
        if part.get("when") == "after" and str(part.get("incurred", "2018")) < "2016-09-01":
            del part["when"]
    return raw


@pytest.mark.slow
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(half_stated(), st.sampled_from(TRUSTS), st.sampled_from(["person_at_most_one", "all_hours"]), st.data())
def test_stating_more_never_leads_out_of_the_range_where_nothing_is_assumed(
    raw: dict[str, Any], trust: Any, pooling: str, data: st.DataObject
) -> None:
    readings = {"A59": pooling}
    whole = estimate(project_of(raw), trust=trust, strict=True, readings=readings)
    unsaid = [
        (part, name, values) for part, inputs in parts_of(raw) for name, values in inputs.items() if name not in part
    ]
    if not unsaid:
        return
    part, name, values = data.draw(st.sampled_from(unsaid))
    for value in values:
        if name == "incurred" and part.get("when") == "after" and value < "2016-09-01":
            continue
        if name == "when" and value == "after" and str(part.get("incurred", "2018")) < "2016-09-01":
            continue
        part[name] = value
        one = estimate(project_of(raw), trust=trust, strict=True, readings=readings)
        del part[name]
        for amounts in ("award", "award_year", "if_eligible", "if_eligible_year"):
            assert within(getattr(one, amounts), getattr(whole, amounts)), (name, value, amounts)
        assert whole.eligible in {one.eligible, "undetermined"}, (name, value)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(half_stated(), st.sampled_from(TRUSTS))
def test_what_is_taken_for_granted_is_within_what_nothing_assumed_gives(raw: dict[str, Any], trust: Any) -> None:
    plain, strict = (estimate(project_of(raw), trust=trust, strict=each) for each in (False, True))
    assert within(plain.award, strict.award)
    assert strict.assumptions == ()
    if plain.award != strict.award:
        assert plain.assumptions
        assert strict.settles


@pytest.mark.parametrize("name", [*JOBS, "when", "grants", *BUSINESS, *BUILDING])
def test_each_input_that_is_left_out_is_an_assumption_or_named_as_open(name: str) -> None:
    raw = _one_building()
    raw["business"]["primarily_warehouse"] = False
    raw["business"] |= {"gaming_revenue_percent": 0, "technology_startup": False, "final_point_of_sale_retail": False}
    raw["business"] |= {"university_research_hospital": False, "retail_sqft": 150_000, "grocery_percent": 50}
    raw["buildings"][0] |= {"construction": "new", "vacant_industrial_unleased": False, "gross_leasable_sqft": 3_000}
    raw["buildings"][0]["areas"] |= {"mrera_growth_zone": "yes"}
    raw["jobs"][0] |= {"hours_per_week": 40, "time_at_facility_percent": 90, "health_benefits": True}
    raw["jobs"][0] |= {"contractors": False, "count": 12}
    raw["capital"][0] |= {"when": "after", "grants": 0}
    raw |= {"green_standard": True, "net_benefit": 10**9, "withholdings": 10**9, "application_date": "2016-09-01"}
    # Where custom or agreement matters.
    low = {"customary_full_time": "hours_per_week", "customary_time": "time_at_facility_percent"}
    if name in low:
        raw["jobs"][0][low[name]] = 20
    if name == "collective_agreement":
        raw["jobs"][0]["health_benefits"] = False
    if name == "technology_startup":
        raw["business"]["industry"] = "finance"
    if name in {"retail_sqft", "grocery_percent"}:
        raw["jobs"][0] |= {"hours_per_week": 30, "customary_full_time": False}
    if name in {"final_point_of_sale_retail", "university_research_hospital"}:
        raw["business"] |= {"retail_sqft": 1}
    for part, inputs in parts_of(raw):
        if name in inputs:
            part.pop(name, None)
    plain, strict = (estimate(project_of(raw), strict=each, trust="stated") for each in (False, True))
    named = {each.name for each in strict.settles}
    assert name in named or (name in {"average_salary", "median_salary"} and "salary" in named), named
    three_valued = {"average_salary", "median_salary", "retail_sqft", "grocery_percent", "similar_use_percent"}
    if name not in three_valued | {"technology_startup"}:
        assert plain.assumptions
        assert name not in {each.name for each in plain.settles}


@settings(max_examples=60, deadline=None)
@given(projects())
def test_the_base_amount_is_no_wider_than_its_completions(raw: dict[str, Any]) -> None:
    raw["buildings"] = raw["buildings"][:1]
    raw["jobs"] = [{**group, "building": "A"} for group in raw["jobs"]]
    raw["capital"] = [{**item, "building": "A"} for item in raw["capital"]]
    open_still = [each for each in unknowns(raw) if each[0] == "area"]
    raw = completed(raw, dict.fromkeys(open_still[MOST_OPEN:], True))
    assume(possible(raw))
    open_still = open_still[:MOST_OPEN]
    whole = estimate(project_of(raw), trust="stated")["base"]
    choices = [
        completed(raw, dict(zip(open_still, values, strict=True)))
        for values in itertools.product([True, False], repeat=len(open_still))
    ]
    every = [estimate(project_of(choice), trust="stated")["base"] for choice in choices if possible(choice)]
    assert whole.low == min(line.low for line in every if line.low is not None)
    assert whole.high == max(line.high for line in every if line.high is not None)


@settings(max_examples=60, deadline=None)
@given(projects(), st.booleans())
def test_trusting_more_figures_stays_within_what_trusting_fewer_gives(raw: dict[str, Any], strict: Any) -> None:
    found = {trust: estimate(project_of(raw), trust=trust, strict=strict) for trust in TRUSTS}
    assert within(found["stated"].award, found["known"].award)
    assert within(found["known"].award, found["confirmed"].award)


@settings(max_examples=60, deadline=None)
@given(projects(), st.sampled_from(TRUSTS))
def test_assuming_nothing_gives_a_wider_range(raw: dict[str, Any], trust: Any) -> None:
    plain, strict = (estimate(project_of(raw), trust=trust, strict=each) for each in (False, True))
    assert within(plain.award, strict.award)


@settings(max_examples=80, deadline=None)
@given(projects(), st.sampled_from(TRUSTS))
def test_money_sums_to_the_cent(raw: dict[str, Any], trust: Any) -> None:
    found = estimate(project_of(raw), trust=trust)
    assert sum(year.low for year in found.schedule) == found.award.low
    assert found.award_year.low == found.award_year.low.quantize(Decimal("0.01"))
    if found.award.high is not None:
        assert sum(year.high for year in found.schedule if year.high is not None) == found.award.high
    assert len(found.schedule) == raw["eligibility_years"]
    assert found.commitment_years == Decimal(raw["eligibility_years"]) * Decimal("1.5")


def never_less(before: Estimate, after: Estimate) -> bool:
    for part in ("award", "if_eligible"):
        one, other = getattr(before, part), getattr(after, part)
        if other.low < one.low or (one.high is None and other.high is not None):
            return False
        if one.high is not None and other.high is not None and other.high < one.high:
            return False
    return True


@settings(max_examples=80, deadline=None)
@given(projects(known=True), st.sampled_from(["new", "retained"]), st.integers(1, 300))
def test_more_jobs_never_make_the_award_less(raw: dict[str, Any], kind: str, more: int) -> None:
    raw["withholdings"] = None
    # A salary is averaged over the jobs, and a job paid less lowers it: those that are added are paid the same.
    for group in raw["jobs"]:
        group["average_salary"] = 70_000
    added = {"building": "A", "kind": kind, "count": more, "average_salary": 70_000}
    before = estimate(project_of(raw), trust="stated")
    after = estimate(project_of({**raw, "jobs": [*raw["jobs"], added]}), trust="stated")
    assert never_less(before, after)


@settings(max_examples=80, deadline=None)
@given(projects(known=True), st.sampled_from(["construction", "equipment"]), st.integers(1, 60_000_000))
def test_more_capital_never_makes_the_award_less(raw: dict[str, Any], what: str, more: int) -> None:
    # Remediation is a bonus by its share of the capital, which other capital lowers.
    for item in raw["capital"]:
        item["what"] = "equipment" if item["what"] == "remediation" else item["what"]
    added = {"building": "A", "what": what, "amount": more}
    before = estimate(project_of(raw), trust="stated")
    after = estimate(project_of({**raw, "capital": [*raw["capital"], added]}), trust="stated")
    assert never_less(before, after)


@settings(max_examples=80, deadline=None)
@given(projects(known=True), st.sampled_from(sorted(PROJECT_FACTS)))
def test_a_further_bonus_never_makes_the_award_less(raw: dict[str, Any], name: str) -> None:
    before = estimate(project_of({**raw, "facts": {**raw["facts"], name: False}}), trust="stated")
    after = estimate(project_of({**raw, "facts": {**raw["facts"], name: True}}), trust="stated")
    assert never_less(before, after)


# Where more can be less, and by which rule: these are all the ways.


def test_capital_from_before_the_application_can_spoil_the_half_that_must_follow_it() -> None:
    raw = _one_building()
    raw["capital"] = [
        {"what": "equipment", "amount": 200_000, "when": "before"},
        {"what": "equipment", "amount": 100_000},
    ]
    before = estimate(project_of(raw))
    raw["capital"][0]["amount"] = 200_001
    after = estimate(project_of(raw))
    assert (before["capital"].low, after["capital"].low) == (300_000, 100_000)
    assert any("less than 50 %" in note for note in after.notes)


def test_a_building_in_a_reduced_place_brings_the_duty_to_have_the_jobs_there() -> None:
    raw = _one_building()
    assert estimate(project_of(raw)).eligible == "yes"
    raw["buildings"].append(building("B", {"qualified_incentive_area": "yes", "southern_eight": "yes"}))
    raw["capital"] = [{"building": name, "what": "equipment", "amount": 300_000} for name in "AB"]
    raw["jobs"][0]["building"] = "A"
    assert estimate(project_of(raw)).eligible == "no"


def test_capital_for_something_else_can_lower_the_share_of_the_remediation() -> None:
    raw = _one_building()
    raw["capital"] = [{"what": "equipment", "amount": 285_000}, {"what": "remediation", "amount": 15_000}]
    raw["facts"] = {"better_than_leed_silver": False}
    before = estimate(project_of(raw), trust="stated")
    raw["capital"][0]["amount"] = 285_001
    after = estimate(project_of(raw), trust="stated")
    assert before["bonus_green"].low == 250
    assert "bonus_green@A" not in {line.id for line in after.lines}
    assert after["gross"].low == before["gross"].low - 250


def test_jobs_that_are_paid_less_can_lower_the_bonus_for_salary() -> None:
    raw = _one_building()
    raw["jobs"][0]["average_salary"] = 120_000
    before = estimate(project_of(raw), trust="stated")
    raw["jobs"].append({"kind": "new", "count": 1, "average_salary": 1})
    after = estimate(project_of(raw), trust="stated")
    assert (before["bonus_salary"].low, after["bonus_salary"].low) == (1000, 750)


def test_a_larger_credit_than_the_net_benefit_is_enough_for_is_not_had() -> None:
    raw = _one_building()
    raw["net_benefit"] = 11 * 500 * 10 * Decimal("1.1")
    raw["bonuses"] = {"per_job": 0}
    for count, award in ((10, 50_000), (11, 55_000), (12, 55_000), (900, 55_000)):
        raw["jobs"][0]["count"] = count
        found = estimate(project_of(raw))
        assert (found.eligible, found.award.low, found.award.high) == ("yes", award, award)


def _one_building() -> dict[str, Any]:
    return {
        "business": {"industry": "manufacturing"},
        "buildings": [building("A", {"qualified_incentive_area": "yes"})],
        "jobs": [{"kind": "new", "count": 12, "average_salary": 50_000}],
        "capital": [{"what": "equipment", "amount": 300_000}],
    }


@pytest.mark.parametrize("trust", TRUSTS)
def test_what_rests_on_a_figure_below_confirmed_is_named(trust: Any) -> None:
    raw = _one_building()
    raw["buildings"][0]["areas"]["distressed_municipality"] = "yes"
    found = estimate(project_of(raw), trust=trust)
    assert {"base_distressed", "job_limit_distressed"} <= set(found.below_confirmed)
    assert "jobs_startup_new" not in found.below_confirmed
    base = found["base"]
    assert (base.low, base.high) == ((0, None) if trust == "confirmed" else (4000, 4000))
