"""What of a project counts: jobs that are full-time jobs, expenses that are capital investment."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    from grownj_geo.creditparams import Figures
    from grownj_geo.creditproject import CapitalItem, JobGroup

__all__ = [
    "CAPITAL_RULES",
    "JOB_RULES",
    "CountedCapital",
    "CountedJobs",
    "count_capital",
    "count_jobs",
    "may_count",
    "months_before",
]

JobRule = Literal["plain", "port", "grocery"]
JOB_RULES: tuple[JobRule, ...] = ("plain", "port", "grocery")
"""Ways to count full-time employees: person by person; hours pooled at a container port, or for a large grocery."""

CapitalRule = Literal["plain", "zone"]
CAPITAL_RULES: tuple[CapitalRule, ...] = ("plain", "zone")
"""What counts as capital: everywhere, and in a growth zone, where more does."""

_ZONE_ONLY = {"site_acquisition", "relocation", "professional_services"}
_CENT = Decimal("0.01")
_MONTHS = 12


@dataclass
class CountedJobs:
    """Jobs of one building and kind under each rule, and why others do not count."""

    counts: dict[JobRule, int] = field(default_factory=lambda: dict.fromkeys(JOB_RULES, 0))
    notes: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)


def count_jobs(groups: Iterable[JobGroup], figures: Figures) -> CountedJobs:
    """Count the jobs of one building and one kind.

    Parameters
    ----------
    groups
        Jobs as stated. What is not stated of them is taken as stated with the word "job": that it is full-time.

    Examples
    --------
    >>> from datetime import date
    >>> from grownj_geo.creditparams import Figures, load_credit_book
    >>> from grownj_geo.creditproject import JobGroup
    >>> figures = Figures(load_credit_book(), date(2017, 4, 17))
    >>> halves = JobGroup(kind="new", count=10, hours_per_week=30)
    >>> count_jobs([halves], figures).counts
    {'plain': 0, 'port': 8, 'grocery': 10}
    """
    found = CountedJobs()
    hours_needed = figures.number("full_time_hours")
    pooled: dict[JobRule, Decimal] = {
        "port": figures.number("pooled_hours_port"),
        "grocery": figures.number("pooled_hours_grocery"),
    }
    hours: dict[JobRule, Decimal] = dict.fromkeys(pooled, Decimal(0))
    for group in groups:
        why = _barred(group, figures)
        if why is not None:
            found.notes.append(f"{group.count:,} {group.kind} jobs do not count: {why}.")
            continue
        weekly = group.hours_per_week
        full_time = weekly is None or weekly >= hours_needed or group.customary_full_time is True
        if full_time and group.health_benefits is not False:
            found.counts["plain"] += group.count
        else:
            lacking = "no health benefits" if full_time else f"{weekly:g} hours a week, not {hours_needed:g}"
            found.notes.append(f"{group.count:,} {group.kind} jobs do not count one by one: {lacking}.")
        if group.health_benefits is not False or group.collective_agreement is True:
            for rule, needed in pooled.items():
                # Hours of several persons are pooled to make up employees; one person is never more than one.
                full = weekly is None or weekly >= needed or group.customary_full_time is True
                hours[rule] += group.count * (needed if full or weekly is None else weekly)
        if group.health_benefits is None:
            found.assumed.append("that health benefits are provided, where it is not stated")
    for rule, needed in pooled.items():
        found.counts[rule] = int((hours[rule] / needed).to_integral_value(rounding=ROUND_DOWN))
    return found


def may_count(group: JobGroup, figures: Figures) -> bool:
    """Return whether a group of jobs counts under one of the ways to count at least.

    Examples
    --------
    >>> from datetime import date
    >>> from grownj_geo.creditparams import Figures, load_credit_book
    >>> from grownj_geo.creditproject import JobGroup
    >>> figures = Figures(load_credit_book(), date(2017, 4, 17))
    >>> may_count(JobGroup(kind="new", count=10, contractors=True), figures)
    False
    """
    return _barred(group, figures) is None and (
        group.health_benefits is not False or group.collective_agreement is True
    )


def _barred(group: JobGroup, figures: Figures) -> str | None:
    """Return why jobs count under no rule."""
    if group.contractors:
        return "independent contractors or consultants"
    share, needed = group.time_at_facility_percent, figures.number("time_at_facility_percent")
    if share is not None and share < needed and group.customary_time is not True:
        return f"{share:g} % of their time at the facility, not {needed:g} %"
    return None


@dataclass
class CountedCapital:
    """Capital investment of each building under each rule, and what was left out.

    Attributes
    ----------
    amounts
        By rule: dollars of each building, in the order of the buildings.
    remediation
        By rule: dollars of remediation in all.
    """

    amounts: dict[CapitalRule, list[Decimal]]
    remediation: dict[CapitalRule, Decimal]
    notes: dict[CapitalRule, list[str]]


def count_capital(
    items: Sequence[CapitalItem], buildings: Sequence[str], *, applied: date | None, figures: Figures
) -> CountedCapital:
    """Return what of the expenses is capital investment.

    Parameters
    ----------
    items
        The expenses as stated. Where neither a day nor before or after is given, it is taken to follow the application.
    buildings
        The buildings' ids, in order.
    applied
        The day of the application.
    """
    found = CountedCapital({}, {}, {})
    for rule in CAPITAL_RULES:
        notes: list[str] = []
        kept = [item for item in items if _counts(item, rule, applied, figures, notes)]
        before = [item for item in kept if _is_before(item, applied)]
        earlier = sum((_net(item) for item in before), Decimal(0))
        later = sum((_net(item) for item in kept if not _is_before(item, applied)), Decimal(0))
        needed = figures.number("after_to_before_percent")
        if before and later * 100 < earlier * needed:
            notes.append(
                f"${earlier:,.2f} from before the application does not count: ${later:,.2f} followed it, less than "
                f"{needed:g} %."
            )
            kept = [item for item in kept if item not in before]
        soft = [item for item in kept if item.what == "soft_costs"]
        hard = [item for item in kept if item.what != "soft_costs"]
        amounts = dict.fromkeys(buildings, Decimal(0))
        for item in hard:
            amounts[item.building or buildings[0]] += _net(item)
        for item, amount in zip(soft, _soft(soft, hard, figures, notes), strict=True):
            amounts[item.building or buildings[0]] += amount
        found.amounts[rule] = list(amounts.values())
        found.remediation[rule] = sum((_net(i) for i in hard if i.what == "remediation"), Decimal(0))
        found.notes[rule] = notes
    return found


def allocated(items: Iterable[CapitalItem], sqft: Mapping[str, Decimal], notes: list[str]) -> list[CapitalItem]:
    """Return expenses with the premises' share of what pertains to a whole facility.

    Parameters
    ----------
    items
        The expenses as stated.
    sqft
        Gross leasable area of each building of the project.
    notes
        Takes what is told of each share.

    Examples
    --------
    >>> from grownj_geo.creditproject import CapitalItem
    >>> whole = CapitalItem(what="construction", amount=Decimal(900), of_facility_sqft=Decimal(3000))
    >>> allocated([whole], {"site": Decimal(1000)}, [])[0].amount
    Decimal('300.00')
    """
    first = next(iter(sqft))
    found = []
    for item in items:
        if item.of_facility_sqft is None:
            found.append(item)
            continue
        own = min(sqft[item.building or first], item.of_facility_sqft)
        parts = {
            # Multiplied first: a third of three is one.
            name: (amount * own / item.of_facility_sqft).quantize(_CENT, rounding=ROUND_DOWN)
            for name, amount in (("amount", item.amount), ("grants", item.grants))
        }
        notes.append(f"${parts['amount']:,.2f} of ${item.amount:,.2f} is the premises' share of the facility.")
        found.append(item.model_copy(update={**parts, "of_facility_sqft": None}))
    return found


def _net(item: CapitalItem) -> Decimal:
    return max(item.amount - item.grants, Decimal(0))


def _counts(item: CapitalItem, rule: CapitalRule, applied: date | None, figures: Figures, notes: list[str]) -> bool:
    why = None
    if item.what == "vehicles":
        why = "vehicles and heavy equipment that do not stay there"
    elif item.what in _ZONE_ONLY and rule == "plain":
        why = f"{item.what.replace('_', ' ')} outside a growth zone"
    elif item.incurred is not None and applied is not None:
        months = figures.count("months_before_application")
        if item.incurred < months_before(applied, months):
            why = f"incurred on {item.incurred}, more than {months} months before the application"
    if why is not None:
        notes.append(f"${item.amount:,.2f} does not count: {why}.")
    elif item.grants:
        notes.append(f"${min(item.grants, item.amount):,.2f} does not count: paid by grants.")
    return why is None


def _is_before(item: CapitalItem, applied: date | None) -> bool:
    if item.incurred is not None and applied is not None:
        return item.incurred < applied
    return item.when == "before"


def _soft(
    soft: Sequence[CapitalItem], hard: Sequence[CapitalItem], figures: Figures, notes: list[str]
) -> list[Decimal]:
    """Return what of each soft cost counts: together no more than their share of the whole, soft costs included."""
    stated = [_net(item) for item in soft]
    share = figures.number("soft_cost_percent")
    total = sum(stated, Decimal(0))
    most = (sum((_net(i) for i in hard), Decimal(0)) * share / (100 - share)).quantize(_CENT, rounding=ROUND_DOWN)
    if total <= most:
        return stated
    notes.append(f"${total - most:,.2f} of soft costs does not count: over {share:g} % of the capital investment.")
    counted = [(amount * most / total).quantize(_CENT, rounding=ROUND_DOWN) for amount in stated]
    counted[-1] += most - sum(counted, Decimal(0))  # to the cent
    return counted


def months_before(day: date, months: int) -> date:
    """Return the day so many months earlier; the month's last day where it has no such day.

    Examples
    --------
    >>> from datetime import date
    >>> months_before(date(2016, 2, 29), 24)
    datetime.date(2014, 2, 28)
    """
    year, month = divmod(day.year * _MONTHS + day.month - 1 - months, _MONTHS)
    return day.replace(year=year, month=month + 1, day=min(day.day, monthrange(year, month + 1)[1]))
