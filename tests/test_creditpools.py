"""Buildings that are computed together: limits over pools that may be, areas that keep buildings apart, splitting."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from grownj_geo.creditproject import project_of
from grownj_geo.credits import Estimate, estimate

HUB = "urban_transit_hub_municipality"


def building(name: str, **areas: Any) -> dict[str, Any]:
    return {
        "id": name,
        "gross_leasable_sqft": 100,
        "premises": "other",
        "construction": "rehabilitation",
        "proximity": "park",
        "areas": {"qualified_incentive_area": True, "distressed_municipality": True, **areas, "rest": "no"},
    }


def found(buildings: list[dict[str, Any]], jobs: dict[str, int], **more: Any) -> Estimate:
    raw = {
        "business": {"industry": "finance", "technology_startup": False, "primarily_warehouse": False},
        "buildings": buildings,
        "jobs": [{"kind": "new", "count": count, "building": name} for name, count in jobs.items()],
        "capital": [{"what": "equipment", "amount": 100_000, "building": each["id"]} for each in buildings],
        **more,
    }
    return estimate(project_of(raw), trust="stated")


def test_of_a_pool_that_may_be_the_lowest_limit_holds() -> None:
    years = {}
    for hub in ("yes", "no", "undetermined"):
        pair = [building("A", **{HUB: "yes"}), building("B", **{HUB: hub})]
        years[hub] = found(pair, {"B": 2_000}, bonuses={"per_job": 6_000}).award_year
    assert (years["yes"].low, years["no"].low) == (10_000_000, 8_000_000)
    assert (years["undetermined"].low, years["undetermined"].high) == (8_000_000, 10_000_000)


@pytest.mark.parametrize("area", ["disaster_recovery_project", "mrera_growth_zone", "tourism_district_growth_zone"])
def test_an_area_that_makes_a_factor_of_its_own_keeps_buildings_apart(area: str) -> None:
    zone = {"garden_state_growth_zone": True} if area.endswith("zone") else {}
    jobs = {"A": 200, "B": 200}
    together = found([building(name, **zone, **{area: "yes"}) for name in "AB"], jobs)
    apart = found([building("A", **zone, **{area: "yes"}), building("B", **zone, **{area: "no"})], jobs)
    # The bonus for more than 250 jobs is that of the pool: 400 jobs, or 200 and 200.
    assert together["bonus_many_jobs@A"].low == 500
    assert not any(line.id.startswith("bonus_many_jobs") for line in apart.lines)
    assert together.award_year.low - apart.award_year.low == 400 * 500


@pytest.mark.parametrize("retained", [(1, 2), (7, 23), (13, 100)])
@pytest.mark.parametrize("amount", ["150000.00", "200000.01", "333333.33"])
def test_a_project_in_two_buildings_alike_has_what_it_has_in_one(retained: tuple[int, int], amount: str) -> None:
    def cents(names: str, kept: list[int], sqft: int) -> Estimate:
        raw = {
            "business": {"industry": "finance", "technology_startup": False, "primarily_warehouse": False},
            "buildings": [building(name) | {"gross_leasable_sqft": sqft} for name in names],
            "jobs": [{"kind": "new", "count": 60, "building": "A"}]
            + [{"kind": "retained", "count": count, "building": name} for name, count in zip(names, kept, strict=True)],
            "capital": [{"what": "equipment", "amount": amount, "building": "A"}],
            "bonuses": {"per_job": 0},
        }
        return estimate(project_of(raw), trust="stated")

    split, whole = cents("AB", list(retained), 100), cents("A", [sum(retained)], 200)
    assert split.award == whole.award
    # One part in ten of the capital, shared over the jobs: some retained jobs have it, dollars and cents.
    share = Decimal(amount) * sum(retained) / (10 * (60 + sum(retained)))
    assert 0 <= Decimal(4_000 * 60) + share - whole.award_year.low < Decimal("0.01")


@pytest.mark.parametrize(
    ("south", "amount", "near", "met"),
    [
        # 600,060 together less a third of it is 400,040; one by one it would be three times 133,347.
        ("ABC", "400040.00", "park", "yes"),
        ("ABC", "400039.99", "park", "no"),
        # Whether they are proximate is open, and with all of it in one building so is the answer.
        ("ABC", "400040.00", None, "undetermined"),
        ("ABC", "400038.49", None, "no"),
        # One with the reduction and one without have no minimum in common.
        ("A", "333367.00", "park", "no"),
    ],
)
def test_a_total_is_reduced_once_for_what_is_taken_together(south: str, amount: str, near: Any, met: str) -> None:
    names = "ABC" if len(south) > 1 else "AB"
    places = [
        building(name, southern_eight=name in south)
        | {"gross_leasable_sqft": 10_001, "premises": "industrial", "similar_use_percent": 60, "proximity": near}
        for name in names
    ]
    raw = {
        "business": {"industry": "manufacturing"},
        "buildings": places,
        "jobs": [{"kind": "new", "count": 60, "building": "A"}],
        "capital": [{"what": "equipment", "amount": amount, "building": "A"}],
        "approval_date": "2016-10-11",
    }
    assert estimate(project_of(raw), readings={"A54": "total"})["condition_capital"].outcome == met
