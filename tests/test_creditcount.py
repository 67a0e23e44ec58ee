"""Which jobs count: below, at and above the hours and the time."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from grownj_geo.creditcount import count_jobs
from grownj_geo.creditparams import Figures, load_credit_book
from grownj_geo.creditproject import JobGroup

FIGURES = Figures(load_credit_book(), date(2017, 4, 17))


def counted(**more: Any) -> tuple[int, int, int]:
    group = JobGroup.model_validate({"kind": "new", "count": 10, "health_benefits": True, **more})
    found = count_jobs([group], FIGURES)
    assert found.low == found.high
    return found.low["plain"], found.low["port"], found.low["grocery"]


@pytest.mark.parametrize(
    ("more", "jobs"),
    [
        ({}, (10, 10, 10)),
        ({"hours_per_week": 35}, (10, 10, 10)),
        ({"hours_per_week": "34.99"}, (0, 9, 10)),
        ({"hours_per_week": 40}, (10, 10, 10)),
        ({"hours_per_week": 30}, (0, 8, 10)),
        ({"hours_per_week": 29}, (0, 8, 9)),
        ({"hours_per_week": 28}, (0, 8, 9)),
        ({"hours_per_week": "17.5"}, (0, 5, 5)),
        ({"hours_per_week": 20, "customary_full_time": True}, (10, 10, 10)),
        ({"time_at_facility_percent": 80}, (10, 10, 10)),
        ({"time_at_facility_percent": "79.9"}, (0, 0, 0)),
        ({"time_at_facility_percent": 10, "customary_time": True}, (10, 10, 10)),
        ({"health_benefits": False}, (0, 0, 0)),
        ({"health_benefits": False, "collective_agreement": True}, (0, 10, 10)),
        ({"contractors": True}, (0, 0, 0)),
    ],
)
def test_jobs_count_by_hours_time_and_benefits(more: dict[str, Any], jobs: tuple[int, int, int]) -> None:
    assert counted(**more) == jobs


def test_hours_of_several_groups_are_pooled() -> None:
    groups = [JobGroup(kind="new", count=1, hours_per_week=Decimal(hours)) for hours in (20, 14)]
    assert count_jobs(groups, FIGURES).low["port"] == 0
    groups.append(JobGroup(kind="new", count=1, hours_per_week=Decimal(1)))
    assert count_jobs(groups, FIGURES).low["port"] == 1


def test_what_does_not_count_is_told_with_the_reason() -> None:
    found = count_jobs([JobGroup(kind="new", count=3, time_at_facility_percent=Decimal(50))], FIGURES)
    assert found.notes == ["3 new jobs do not count: 50 % of their time at the facility, not 80 %."]
    assert count_jobs([JobGroup(kind="new", count=3)], FIGURES).unsaid


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            {"contractors": True, "time_at_facility_percent": 50, "hours_per_week": 20, "health_benefits": False},
            (
                "3 new jobs do not count: independent contractors or consultants; 50 % of their time at the facility, "
                "not 80 %; 20 hours a week, not 35; no health benefits."
            ),
        ),
        ({"contractors": True}, "3 new jobs do not count: independent contractors or consultants."),
        (
            {"hours_per_week": 34, "health_benefits": False},
            "3 new jobs do not count one by one: 34 hours a week, not 35; no health benefits.",
        ),
        ({"health_benefits": False}, "3 new jobs do not count one by one: no health benefits."),
    ],
)
def test_every_test_that_a_group_fails_is_told(more: dict[str, Any], words: str) -> None:
    assert count_jobs([JobGroup.model_validate({"kind": "new", "count": 3, **more})], FIGURES).notes == [words]
