"""Which jobs of a project count as full-time jobs: by hours, time at the facility and health benefits."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING, Literal

from grownj_geo.credittri import all_met, any_met
from grownj_geo.creditunsaid import taken

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grownj_geo.creditparams import Figures
    from grownj_geo.creditproject import JobGroup
    from grownj_geo.credittri import Tri

__all__ = ["JOB_RULES", "CountedJobs", "count_jobs", "may_count"]

JobRule = Literal["plain", "port", "grocery"]
JOB_RULES: tuple[JobRule, ...] = ("plain", "port", "grocery")
"""Ways to count full-time employees: person by person; hours pooled at a container port, or for a large grocery."""

_HOURS_OF_A_WEEK = Decimal(168)
_POOLED: dict[JobRule, str] = {"port": "pooled_hours_port", "grocery": "pooled_hours_grocery"}


@dataclass
class CountedJobs:
    """Jobs of one building and kind under each rule, and why others do not count.

    Attributes
    ----------
    low, high
        By rule: the fewest and the most jobs that count.
    notes
        What does not count, and why.
    unsaid
        Inputs that are left out and matter, by their names in `creditunsaid`.
    """

    low: dict[JobRule, int] = field(default_factory=lambda: dict.fromkeys(JOB_RULES, 0))
    high: dict[JobRule, int] = field(default_factory=lambda: dict.fromkeys(JOB_RULES, 0))
    notes: list[str] = field(default_factory=list)
    unsaid: set[str] = field(default_factory=set)


def count_jobs(
    groups: Iterable[JobGroup], figures: Figures, *, pooling: str = "person_at_most_one", strict: bool = False
) -> CountedJobs:
    """Count the jobs of one building and one kind.

    Parameters
    ----------
    groups
        Jobs as stated.
    figures
        The figures of the law on the day.
    pooling
        The option of A59: whether the hours of one person make one employee at most, or as many as they fill.
    strict
        Leave open what is not stated; else it is taken for granted, and named in `unsaid`.

    Examples
    --------
    >>> from datetime import date
    >>> from grownj_geo.creditparams import Figures, load_credit_book
    >>> from grownj_geo.creditproject import JobGroup
    >>> figures = Figures(load_credit_book(), date(2017, 4, 17))
    >>> halves = JobGroup(kind="new", count=10, hours_per_week=30)
    >>> count_jobs([halves], figures).high
    {'plain': 0, 'port': 8, 'grocery': 10}
    """
    found = CountedJobs()
    needed = {rule: figures.number(name) for rule, name in _POOLED.items()}
    hours = {rule: [Decimal(0), Decimal(0)] for rule in _POOLED}
    for group in groups:
        if not group.count:
            continue
        eligible, why = _eligible(group, figures, found.unsaid, strict=strict)
        if eligible is False:
            why += _lacking(group, figures, strict=strict)
            found.notes.append(f"{group.count:,} {group.kind} jobs do not count: {'; '.join(why)}.")
            continue
        full = _full_time(group, figures.number("full_time_hours"), found.unsaid, strict=strict)
        healthy = taken(group.health_benefits, True, "health_benefits", found.unsaid, strict=strict)
        plain = all_met([eligible, full, healthy])
        found.low["plain"] += group.count if plain else 0
        found.high["plain"] += group.count if plain is not False else 0
        if plain is False:
            lacking = _lacking(group, figures, strict=strict)
            found.notes.append(f"{group.count:,} {group.kind} jobs do not count one by one: {'; '.join(lacking)}.")
        pooled = all_met([eligible, any_met([healthy, _by_agreement(group, found.unsaid, strict=strict)])])
        for rule, least in needed.items():
            low, high = _hours(group, least, pooling, strict=strict)
            hours[rule][0] += group.count * low if pooled else 0
            hours[rule][1] += group.count * high if pooled is not False else 0
    for rule, least in needed.items():
        found.low[rule], found.high[rule] = (
            int((bound / least).to_integral_value(rounding=ROUND_DOWN)) for bound in hours[rule]
        )
    return found


def may_count(group: JobGroup, figures: Figures, *, strict: bool = False) -> Tri:
    """Return whether a group of jobs counts: no under none of the ways to count, yes person by person, else open.

    Parameters
    ----------
    group
        Jobs that are alike.
    figures
        The figures of the law on the day.
    strict
        Leave open what is not stated.

    Examples
    --------
    >>> from datetime import date
    >>> from grownj_geo.creditparams import Figures, load_credit_book
    >>> from grownj_geo.creditproject import JobGroup
    >>> figures = Figures(load_credit_book(), date(2017, 4, 17))
    >>> may_count(JobGroup(kind="new", count=10, contractors=True), figures)
    False
    """
    unsaid: set[str] = set()
    eligible, _ = _eligible(group, figures, unsaid, strict=strict)
    healthy = taken(group.health_benefits, True, "health_benefits", unsaid, strict=strict)
    covered = any_met([healthy, _by_agreement(group, unsaid, strict=strict)])
    if all_met([eligible, covered]) is False:
        return False
    full = _full_time(group, figures.number("full_time_hours"), unsaid, strict=strict)
    return True if all_met([eligible, healthy, full]) else None


def _lacking(group: JobGroup, figures: Figures, *, strict: bool) -> list[str]:
    """Return why jobs are no full-time jobs one by one."""
    found, needed = [], figures.number("full_time_hours")
    if _full_time(group, needed, set(), strict=strict) is False:
        found.append(f"{group.hours_per_week:g} hours a week, not {needed:g}")
    if group.health_benefits is False:
        found.append("no health benefits")
    return found


def _eligible(group: JobGroup, figures: Figures, unsaid: set[str], *, strict: bool) -> tuple[Tri, list[str]]:
    """Return whether jobs may count under any rule, and every reason why not."""
    why = []
    hired_out = taken(group.contractors, False, "contractors", unsaid, strict=strict)
    if hired_out:
        why.append("independent contractors or consultants")
        unsaid = set()  # what else is left out changes nothing
    share, needed = group.time_at_facility_percent, figures.number("time_at_facility_percent")
    if share is None:
        there = taken(None, True, "time_at_facility_percent", unsaid, strict=strict)
    elif share >= needed:
        there = True
    else:
        there = taken(group.customary_time, False, "customary_time", unsaid, strict=strict)
        if there is False:
            why.append(f"{share:g} % of their time at the facility, not {needed:g} %")
    return all_met([None if hired_out is None else not hired_out, there]), why


def _full_time(group: JobGroup, needed: Decimal, unsaid: set[str], *, strict: bool) -> Tri:
    """Return whether the hours are those of a full-time job, by their number or by custom."""
    weekly = group.hours_per_week
    if weekly is None:
        return True if group.customary_full_time else taken(None, True, "hours_per_week", unsaid, strict=strict)
    if weekly >= needed:
        return True
    return taken(group.customary_full_time, False, "customary_full_time", unsaid, strict=strict)


def _by_agreement(group: JobGroup, unsaid: set[str], *, strict: bool) -> Tri:
    """Return whether a collective agreement provides the benefits that the business does not."""
    if group.health_benefits is not False and (group.health_benefits or not strict):
        return group.collective_agreement or False
    return taken(group.collective_agreement, False, "collective_agreement", unsaid, strict=strict)


def _hours(group: JobGroup, needed: Decimal, pooling: str, *, strict: bool) -> tuple[Decimal, Decimal]:
    """Return the fewest and the most weekly hours that one person adds to a pool."""
    if group.hours_per_week is None:
        low = needed if group.customary_full_time or not strict else Decimal(0)
        high = _HOURS_OF_A_WEEK if strict else needed
    else:
        low = high = group.hours_per_week
        if group.customary_full_time:
            low = high = max(low, needed)
        elif group.customary_full_time is None and strict:
            high = max(high, needed)
    return (min(low, needed), min(high, needed)) if pooling == "person_at_most_one" else (low, high)
