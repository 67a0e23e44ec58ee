"""The award against a plain computation of one building with everything known, written without the rules' own code."""

from __future__ import annotations

from decimal import ROUND_DOWN, Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from grownj_geo.creditproject import project_of
from grownj_geo.credits import estimate

SOUTH, ZONE, CAMDEN = "southern_eight", "garden_state_growth_zone", "mrera_growth_zone"
PLACES = [
    (),
    (SOUTH,),
    (ZONE,),
    (ZONE, CAMDEN),
    ("distressed_municipality",),
    ("urban_transit_hub_municipality", "distressed_municipality"),
    ("priority_area",),
    ("priority_area", "port_district"),
    ("distressed_municipality", "port_district", "transit_bonus"),
    ("priority_area", SOUTH, "deep_poverty_pocket"),
]
RATES = {
    ("industrial", "rehabilitation"): 20,
    ("industrial", "new"): 60,
    ("other", "rehabilitation"): 40,
    ("other", "new"): 120,
}
REDUCED = {20: 14, 60: 40, 40: 27, 120: 80}
JOBS = {"manufacturing": ((10, 25), (8, 19)), "finance": ((25, 35), (19, 27)), "other": ((35, 50), (27, 38))}


@st.composite
def simple(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "place": draw(st.sampled_from(PLACES)),
        "industry": draw(st.sampled_from(sorted(JOBS))),
        "premises": draw(st.sampled_from(["industrial", "other"])),
        "construction": draw(st.sampled_from(["new", "rehabilitation"])),
        "sqft": draw(st.integers(100, 8_000)),
        "new": draw(st.one_of(st.integers(0, 60), st.integers(60, 1_200))),
        "retained": draw(st.sampled_from([0, 10, 30, 400])),
        "capital": draw(st.one_of(st.integers(0, 400_000), st.integers(400_000, 40_000_000))),
        "salary": draw(st.integers(40_000, 200_000)),
        "solar": draw(st.booleans()),
        "years": draw(st.integers(1, 10)),
    }


def plain_award(given_: dict[str, Any]) -> Decimal:
    """Return the award of all years: figures as stated, unverified ones too."""
    place = set(given_["place"])
    zone, camden = ZONE in place, CAMDEN in place
    cut = zone or SOUTH in place
    rate = RATES[given_["premises"], given_["construction"]]
    required = (REDUCED[rate] if cut else rate) * given_["sqft"]
    new_least, retained_least = JOBS[given_["industry"]][cut]
    new, retained, capital = given_["new"], given_["retained"], given_["capital"]
    if capital < required or (new < new_least and retained < retained_least):
        return Decimal(0)
    jobs = new + retained
    size = (capital > 20_000_000 and jobs > 250) or jobs > 1_000
    mega = size and (zone or ("port_district" in place and given_["industry"] == "manufacturing"))
    if zone or mega:
        base, job_limit, year_limit = 5_000, 15_000, 35_000_000 if camden else 30_000_000
    elif "urban_transit_hub_municipality" in place:
        base, job_limit, year_limit = 5_000, 12_000, 10_000_000
    elif "distressed_municipality" in place:
        base, job_limit, year_limit = 4_000, 11_000, 8_000_000
    elif "priority_area" in place:
        base, job_limit, year_limit = 3_000, 10_500, 4_000_000
    else:
        base, job_limit, year_limit = 500, 6_000, 2_500_000
    bonus = 2_000 * ("transit_bonus" in place) + 1_500 * ("deep_poverty_pocket" in place) + 250 * given_["solar"]
    bonus += 500 * (given_["industry"] in {"manufacturing", "finance"})
    bonus += next(
        (dollars for over, dollars in ((1000, 1500), (800, 1250), (600, 1000), (400, 750), (250, 500)) if jobs > over),
        0,
    )
    if jobs:
        bonus += min(max(int((Decimal(given_["salary"]) / 50_000 - 1) * 100 // 35), 0) * 250, 1_500)
    if given_["premises"] == "industrial":
        bonus += min(int((Decimal(capital) / required - 1) * 100 // 20) * 1_000, 5_000 if zone or mega else 3_000)
    gross = min(base + bonus, job_limit)
    if zone:
        kept = Decimal(gross * retained)
    else:
        kept = min(Decimal(gross) / 2 * retained, Decimal(capital) / 10 * retained / jobs)
    year = min(gross * new + kept, Decimal(year_limit)).quantize(Decimal("0.01"), rounding=ROUND_DOWN)
    return year * given_["years"]


def described(given_: dict[str, Any]) -> dict[str, Any]:
    return {
        "business": {
            "industry": given_["industry"],
            "auto_headquarters": False,
            "primarily_warehouse": False,
            "technology_startup": False,
        },
        "buildings": [
            {
                "gross_leasable_sqft": given_["sqft"],
                "premises": given_["premises"],
                "construction": given_["construction"],
                "similar_use_percent": 100,
                "median_salary": 50_000,
                "areas": {"qualified_incentive_area": True, **dict.fromkeys(given_["place"], True), "rest": "no"},
            }
        ],
        "jobs": [
            {"kind": kind, "count": given_[kind], "average_salary": given_["salary"]} for kind in ("new", "retained")
        ],
        "capital": [{"what": "construction", "amount": given_["capital"]}],
        "application_date": "2016-01-04",
        "eligibility_years": given_["years"],
        "bonuses": {"rest": "undetermined"},
        "facts": dict.fromkeys(
            [
                *("choice_neighborhoods", "mixed_use_moderate_income_housing", "better_than_leed_silver"),
                *("vacant_million_sqft", "revitalization_index_over_465", "new_light_rail_half_mile"),
                *(
                    "marine_terminal_project",
                    "redevelopment_near_highways",
                    "auto_headquarters_keeps_400",
                    "near_college",
                ),
            ],
            False,
        )
        | {"solar_half_of_electricity": given_["solar"]},
    }


@settings(max_examples=300, deadline=None)
@given(simple())
def test_the_award_is_that_of_a_plain_computation(given_: dict[str, Any]) -> None:
    found = estimate(project_of(described(given_)), trust="stated")
    expected = plain_award(given_)
    assert (found.award.low, found.award.high) == (expected, expected)
    assert found.eligible == ("yes" if expected else "no") or not (given_["new"] + given_["retained"])


@settings(max_examples=100, deadline=None)
@given(simple())
def test_with_unverified_figures_open_the_plain_award_is_within_the_range(given_: dict[str, Any]) -> None:
    expected = plain_award(given_)
    for trust in ("known", "confirmed"):
        found = estimate(project_of(described(given_)), trust=trust)  # type: ignore[arg-type]
        assert found.award.low <= expected
        assert found.award.high is None or expected <= found.award.high


def test_shares_of_a_capital_that_have_no_end_in_decimals_lose_no_cent() -> None:
    one = {
        "gross_leasable_sqft": 100, "premises": "industrial", "construction": "rehabilitation",
        "similar_use_percent": 60, "proximity": "near", "areas": {"qualified_incentive_area": True, "rest": "no"},
    }  # fmt: skip
    raw = {
        "business": {"industry": "manufacturing"},
        "buildings": [{**one, "id": name} for name in "ABC"],
        "jobs": [{"kind": "retained", "count": 10, "building": name} for name in "ABC"],
        "capital": [{"what": "equipment", "amount": 100_000, "building": "A"}],
        "bonuses": {"per_job": 3000},
    }
    assert estimate(project_of(raw), trust="stated").award_year.low == 10_000
