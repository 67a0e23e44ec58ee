"""The bonuses of 18.8: what is added to the base amount for each job and year."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.creditminimums import growth_zone, no_warehouse
from grownj_geo.creditrange import INFINITY, Range, each, money, unsaid
from grownj_geo.creditsheet import UNSAID
from grownj_geo.logic import all_of, any_of, negate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grownj_geo.creditminimums import Minimums
    from grownj_geo.creditparams import Bonus, Condition, Figures, Steps
    from grownj_geo.creditpools import Pools
    from grownj_geo.creditrange import Kleene
    from grownj_geo.creditsheet import Sheet

__all__ = ["BonusSum", "bonuses_of"]


@dataclass(frozen=True, eq=False)
class BonusSum:
    """Bonuses for a job and year.

    Attributes
    ----------
    applies
        By bonus: shape (b,), whether it applies.
    amounts
        By bonus: shape (b,), dollars.
    total
        Shape (b,): their sum, or what was given for all of them together.
    """

    applies: dict[str, Kleene]
    amounts: dict[str, Range]
    total: Range


def bonuses_of(
    sheet: Sheet,
    minimums: Minimums,
    mega: Kleene,
    pools: Pools,
    figures: Figures,
    *,
    strict: bool = False,
) -> BonusSum:
    """Return the bonuses of each building.

    Parameters
    ----------
    sheet, minimums
        The projects, and what `minimums_of` found.
    mega
        Shape (b,): whether it is a mega project.
    pools
        The buildings that are computed together: jobs, and capital above the minimum, are those of the pool.
    figures
        The figures of the law on the day, and which are taken as they stand.
    strict
        Leave open whether the business is primarily a warehouse where nobody says so.
    """
    computed = {
        "mega_project": mega,
        "industrial_premises": all_of([sheet.industrial, sheet.similar]),
        "targeted_industry": sheet.of_building(_targeted(sheet, strict=strict)),
    }
    jobs = pools.sums(minimums.new + minimums.retained)
    jobs = Range(jobs.low.astype(object), jobs.high.astype(object))
    applies, amounts = {}, {}
    total = Range.same(sheet.b, 0)
    over = {
        "capital_over_minimum": pools.over(minimums.capital, minimums.capital_required),
        "salary_over_median": Range.choose(minimums.at_risk, sheet.salary_over, sheet.salary_over_new),
    }
    for bonus in figures.book.bonuses:
        met = _met(bonus.when, sheet, computed) if bonus.when else np.ones(sheet.b, dtype=np.int8)
        stated = np.asarray(sheet.of_building(sheet.bonus_stated[bonus.id]))
        met = np.where(stated == UNSAID, met, stated).astype(np.int8)
        if bonus.begins is not None and figures.day < bonus.begins[1]:
            # Before it may exist it is not; until it surely does, it is open.
            most = -1 if figures.day < bonus.begins[0] else 0
            met = np.minimum(met, np.int8(most))
        amount = _amount(bonus, sheet, over, jobs, computed, figures)
        if bonus.amount is None:
            # That it applies is said of steps and tiers only where somebody states it.
            met = np.where((stated != UNSAID) & (stated > 0), np.int8(1), met)
        applies[bonus.id] = met
        amounts[bonus.id] = Range.choose(met, amount, Range.same(sheet.b, 0))
        total += amounts[bonus.id]
    given = np.asarray(sheet.of_building(sheet.bonus_given))
    known = ~unsaid(given)
    if bool(known.any()):
        total = Range(np.where(known, given, total.low), np.where(known, given, total.high))
    return BonusSum(applies, amounts, total)


def _targeted(sheet: Sheet, *, strict: bool) -> Kleene:
    """Return whether a business is in a targeted industry, which a primarily warehouse business is not."""
    return all_of([sheet.fact("listed_industry"), no_warehouse(sheet, strict=strict)])


def _met(test: Condition, sheet: Sheet, computed: Mapping[str, Kleene]) -> Kleene:
    if test.area is not None:
        return growth_zone(sheet) if test.area == "garden_state_growth_zone" else sheet.area(test.area)
    if test.fact is not None:
        found = computed.get(test.fact)
        return np.asarray(sheet.of_building(sheet.fact(test.fact))) if found is None else found
    if test.not_ is not None:
        return negate(_met(test.not_, sheet, computed))
    join, parts = (any_of, test.any) if test.any else (all_of, test.all)
    return join([_met(part, sheet, computed) for part in parts])


def _amount(  # noqa: PLR0917 - what the three kinds of bonus look at
    bonus: Bonus,
    sheet: Sheet,
    over: Mapping[str, Range],
    jobs: Range,
    computed: Mapping[str, Kleene],
    figures: Figures,
) -> Range:
    """Return the dollars of a bonus that applies."""
    n = sheet.b
    if bonus.amount is not None:
        return Range.same(n, *_band(bonus.amount, figures))
    if bonus.tiers is not None:
        found = Range.same(n, 0)
        for tier in bonus.tiers.amounts:
            reached = jobs.more_than(Range.same(n, figures.number(tier.more_than)))
            found = Range.choose(reached, Range.same(n, *_band(tier.amount, figures)), found)
        return found
    if bonus.steps is None:
        raise ValueError(f"the bonus {bonus.id} has no amount")
    return _stepped(bonus.steps, over[bonus.steps.of], sheet, computed, figures)


def _band(name: str, figures: Figures) -> tuple[Decimal, Decimal]:
    """Return the least and the greatest that a bonus can be; one of unknown amount is no more than any may be."""
    low, high = figures.band(name)
    return low, high if high.is_finite() else figures.number("bonus_most_stated")


def _stepped(steps: Steps, over: Range, sheet: Sheet, computed: Mapping[str, Kleene], figures: Figures) -> Range:
    n = sheet.b
    most = Range.same(n, *figures.band(steps.most))
    if steps.most_there is not None and steps.most_where is not None:
        there = Range.same(n, *figures.band(steps.most_there))
        most = Range.choose(_met(steps.most_where, sheet, computed), there, most)
    if not (figures.stands(steps.step_percent) and figures.stands(steps.amount)):
        # How much a step is or takes is not known: anything up to the most, where there is any step at all.
        any_step = over.more_than(Range.same(n, 0))
        return Range(money(n, 0), np.where(any_step < 0, money(n, 0), most.high))
    size, dollars = figures.number(steps.step_percent), figures.number(steps.amount)

    def amount(share: Decimal) -> Decimal:
        if not share.is_finite():
            return INFINITY
        whole = (share * 100 / size).to_integral_value(rounding=ROUND_FLOOR)
        return max(whole, Decimal(0)) * dollars

    low = each(amount, over.low)
    high = low if over.high is over.low else each(amount, over.high)
    return Range(low, high).least(most)
