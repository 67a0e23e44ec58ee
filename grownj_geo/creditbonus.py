"""The bonuses of 18.8: what is added to the base amount for each job and year."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.creditminimums import growth_zone, no_warehouse
from grownj_geo.creditrange import INFINITY, Range, each, money, unsaid
from grownj_geo.creditsheet import NO_OTHERS, UNSAID
from grownj_geo.logic import all_of, any_of, negate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

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
    shut
        By bonus: shape (b,), whether it is none only because no others are said to be.
    total
        Shape (b,): their sum, or what was given for all of them together.
    """

    applies: dict[str, Kleene]
    amounts: dict[str, Range]
    shut: dict[str, NDArray[np.bool_]]
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
        "targeted_industry": np.asarray(sheet.of_building(_targeted(sheet, strict=strict))),
        "substantial_remediation": np.asarray(sheet.of_building(sheet.fact("substantial_remediation"))),
    }
    jobs = pools.sums(minimums.new + minimums.retained)
    jobs = Range(jobs.low.astype(object), jobs.high.astype(object))
    applies, amounts, shut = {}, {}, {}
    total = Range.same(sheet.b, 0)
    over = {
        "capital_over_minimum": pools.over(minimums.capital, minimums.capital_required),
        "salary_over_median": Range.choose(minimums.at_risk, sheet.salary_over, sheet.salary_over_new),
    }
    for bonus in figures.book.bonuses:
        stated = np.asarray(sheet.of_building(sheet.bonus_stated[bonus.id]))
        said, no_others = stated < UNSAID, stated == NO_OTHERS
        unstated = np.where(no_others, np.int8(-1), np.int8(0))
        met = _met(bonus.when, sheet, computed, unstated) if bonus.when else np.ones(sheet.b, dtype=np.int8)
        met = np.where(said, stated, met).astype(np.int8)
        shut[bonus.id] = no_others & (met < 0)
        if bonus.when and bool(shut[bonus.id].any()):
            shut[bonus.id] &= _met(bonus.when, sheet, computed, np.zeros(sheet.b, dtype=np.int8)) == 0
        if bonus.begins is not None and figures.day < bonus.begins[1]:
            # Before it may exist it is not; until it surely does, it is open.
            most = -1 if figures.day < bonus.begins[0] else 0
            met = np.minimum(met, np.int8(most))
        amount = _amount(bonus, sheet, over, jobs, computed, figures)
        if bonus.steps is not None and bonus.steps.of == "salary_over_median":
            # Salaries are asked for by this bonus alone; a bound is missing where they are not stated.
            untold = ~np.array([value.is_finite() for value in over[bonus.steps.of].high], dtype=bool)
            shut[bonus.id] |= no_others & untold
            met = np.where(no_others & untold, np.int8(-1), met)
        applies[bonus.id] = met
        amounts[bonus.id] = Range.choose(met, amount, Range.same(sheet.b, 0))
        total += amounts[bonus.id]
    given = np.asarray(sheet.of_building(sheet.bonus_given))
    known = ~unsaid(given)
    if bool(known.any()):
        total = Range(np.where(known, given, total.low), np.where(known, given, total.high))
    return BonusSum(applies, amounts, shut, total)


def _targeted(sheet: Sheet, *, strict: bool) -> Kleene:
    """Return whether a business is in a targeted industry, which a primarily warehouse business is not."""
    return all_of([sheet.fact("listed_industry"), no_warehouse(sheet, strict=strict)])


def _met(test: Condition, sheet: Sheet, computed: Mapping[str, Kleene], unstated: Kleene) -> Kleene:
    """Return whether a condition is met, shape (b,).

    Parameters
    ----------
    test
        The condition.
    sheet
        The projects.
    computed
        Facts that are computed, by name: these stay open where they are.
    unstated
        Shape (b,): what an area or a fact that nobody stated is taken for, 0 to leave it open.
    """
    if test.fact is not None and test.fact in computed:
        return computed[test.fact]
    if test.area is not None or test.fact is not None:
        if test.area is not None:
            found = growth_zone(sheet) if test.area == "garden_state_growth_zone" else sheet.area(test.area)
        else:
            found = np.asarray(sheet.of_building(sheet.fact(test.fact or "")))
        # What is left open for how well it is known is no more none than it is had.
        return found if test.area in sheet.weak else np.where(found == 0, unstated, found).astype(np.int8)
    if test.not_ is not None:
        # No bonus for what is open, so that what bars it is taken to be there.
        return negate(_met(test.not_, sheet, computed, np.negative(unstated)))
    join, parts = (any_of, test.any) if test.any else (all_of, test.all)
    return join([_met(part, sheet, computed, unstated) for part in parts])


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
        where = _met(steps.most_where, sheet, computed, np.zeros(n, dtype=np.int8))
        most = Range.choose(where, there, most)
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
