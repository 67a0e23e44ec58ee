"""The award of 18.8: base amount, bonuses, limits, retained jobs, and the method by capital investment."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.creditbonus import BonusSum, bonuses_of
from grownj_geo.creditmega import facility, mega_projects
from grownj_geo.creditminimums import growth_zone
from grownj_geo.creditpools import pools_of
from grownj_geo.creditrange import INFINITY, Range, all_along, any_along, cents, each, money, unsaid
from grownj_geo.creditsheet import LIMITS
from grownj_geo.logic import all_of, any_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.creditminimums import Minimums
    from grownj_geo.creditparams import Figures, InvestmentStep, Line
    from grownj_geo.creditrange import Amounts, Kleene
    from grownj_geo.creditsheet import Sheet

__all__ = ["ANY_METHOD_LIMITS", "Award", "award_of"]

ANY_METHOD_LIMITS = ("board_maximum", "section_1_7g_amount")
"""Limits of a year that also hold for a credit by capital investment (18.8(a))."""


@dataclass(frozen=True, eq=False)
class Award:
    """The credit of each project, and every step to it.

    Attributes
    ----------
    facility
        Shape (b,): whether each building is a qualified business facility.
    mega
        By paragraph of the definition, and ``"any"``: shape (b,).
    lines
        By line of the base amounts: shape (b,), whether it is the one that applies.
    base, job_limit, gross
        Shape (b,): dollars for a job and year: base amount, limit, and what a new job comes to.
    bonuses
        What is added to the base amount.
    ordinary_share
        Shape (b,): dollars for a retained job and year by its share of a new job's amount.
    exception
        Shape (b,): whether retained jobs may have a new job's amount.
    new_amount, retained_amount, yearly
        Shape (b,): dollars a year before the project's limit.
    pool_jobs, pool_capital
        Shape (b,): jobs and capital of the pool that the building is computed with.
    pool_limit
        Shape (b,): the yearly limit of the building's line.
    limited
        Shape (n,): dollars a year after the limits of the lines.
    year_limits
        By limit: shape (n,) dollars a year that the project may not exceed; of these, `ANY_METHOD_LIMITS` hold
        by whatever method the credit is computed.
    method_limit
        Shape (n,): dollars a year by the method of capital investment.
    asked
        Shape (n,): dollars a year before the net benefit limits them, in cents.
    year
        Shape (n,): dollars a year, in cents.
    total
        Shape (n,): dollars over the eligibility period, if the project is eligible.
    benefit_percent
        Shape (n,): least net benefit as a share of the credit asked for.
    carried
        Shape (n,): the greatest credit that the stated net benefit is enough for, dollars; no bound where none is
        stated. The business may ask for that much and no more.
    conditions
        By test: shape (n,) outcomes; all must be met.
    eligible
        Shape (n,).
    award_year, award
        Shape (n,): dollars a year and in all: nothing where it is not eligible, perhaps nothing where that is open.
    """

    facility: Kleene
    mega: dict[str, Kleene]
    lines: dict[str, Kleene]
    base: Range
    bonuses: BonusSum
    job_limit: Range
    gross: Range
    ordinary_share: Range
    exception: Kleene
    pool_jobs: Range
    pool_capital: Range
    new_amount: Range
    retained_amount: Range
    yearly: Range
    pool_limit: Range
    limited: Range
    year_limits: dict[str, Range]
    method_limit: Range
    asked: Range
    year: Range
    total: Range
    benefit_percent: Range
    carried: Range
    conditions: dict[str, Kleene]
    eligible: Kleene
    award_year: Range
    award: Range


def award_of(sheet: Sheet, minimums: Minimums, figures: Figures, *, strict: bool = False) -> Award:
    """Return the award of each project.

    Parameters
    ----------
    sheet, minimums
        The projects, and what `minimums_of` found.
    figures
        The figures of the law on the day, and which are taken as they stand.
    strict
        Leave undetermined what is otherwise assumed where it is not stated: see `creditsettle.ASSUMED`.
    """
    qualified = facility(sheet, strict=strict)
    jobs = minimums.new + minimums.retained
    capital = minimums.capital.total(sheet.starts)
    mega = mega_projects(sheet, capital, jobs.total(sheet.starts), qualified, figures)
    lines, sure = _lines(sheet, mega["any"], figures)
    base = _over_lines(lines, sure, [(line, figures.band(line.base)) for line in figures.book.lines])
    job_limit = _over_lines(lines, sure, [(line, figures.limit(line.job_limit)) for line in figures.book.lines])
    # Whatever the limit of a line is, it is no higher than that of the highest.
    job_limit = Range(job_limit.low, np.minimum(job_limit.high, money(sheet.b, figures.limit("job_limit_most")[1])))
    pool_limit = _over_lines(lines, sure, [(line, figures.limit(line.year_limit)) for line in figures.book.lines])
    pools = pools_of(sheet, lines, figures.book)
    pool_jobs, pool_capital = _decimals(pools.sums(jobs)), pools.sums(minimums.capital)
    bonuses = bonuses_of(sheet, minimums, mega["any"], pools, figures, strict=strict)
    gross = (base + bonuses.total).least(job_limit)
    share = figures.band("retained_percent")
    half = _share(gross, share)
    exception = _exception(sheet, mega)
    retained_amount = _retained(minimums.retained, gross, half, pool_capital, pool_jobs, exception, figures)
    new_amount = gross * _decimals(minimums.new)
    yearly = new_amount + retained_amount
    limited = pools.limited(yearly, pool_limit, sheet.project)
    year_limits = _year_limits(sheet, lines, figures, strict=strict)
    by_jobs = limited.least(year_limits["withholdings"])
    method_limit, method_open = _by_capital(sheet, capital, jobs.total(sheet.starts), figures)
    chosen = np.where(sheet.by_capital, np.int8(1), np.int8(-1))
    year = Range.choose(chosen, method_limit, by_jobs)
    for name in ANY_METHOD_LIMITS:
        year = year.least(year_limits[name])
    asked = _to_cents(year)
    years = Range.exact(sheet.years.astype(object))
    percent = _benefit_percent(sheet, figures)
    carried = _carried(sheet, percent, strict=strict)
    year = _to_cents(asked.least(Range(carried.low / years.low, carried.high / years.high)))
    total = year * years
    conditions = _conditions(sheet, minimums, qualified, strict=strict)
    conditions["net_benefit"] = carried.more_than(Range.same(sheet.n, 0))
    conditions["method"] = np.where(sheet.by_capital, method_open, np.int8(1)).astype(np.int8)
    eligible = all_of(list(conditions.values()))
    nothing = Range.exact(money(sheet.n, 0))
    return Award(
        facility=qualified,
        mega=mega,
        lines=lines,
        base=base,
        bonuses=bonuses,
        job_limit=job_limit,
        gross=gross,
        ordinary_share=half,
        exception=exception,
        pool_jobs=pool_jobs,
        pool_capital=pool_capital,
        new_amount=new_amount,
        retained_amount=retained_amount,
        yearly=yearly,
        pool_limit=pool_limit,
        limited=limited,
        year_limits=year_limits,
        method_limit=method_limit,
        asked=asked,
        year=year,
        total=total,
        benefit_percent=percent,
        carried=carried,
        conditions=conditions,
        eligible=eligible,
        award_year=Range.choose(eligible, year, nothing),
        award=Range.choose(eligible, total, nothing),
    )


# -- lines --------------------------------------------------------------------------------------------


def _lines(sheet: Sheet, mega: Kleene, figures: Figures) -> tuple[dict[str, Kleene], NDArray[np.bool_]]:
    """Return which line of the base amounts applies, and whether one surely does.

    It is the first, from the highest down, whose test is met.
    """
    found: dict[str, Kleene] = {}
    above = np.full(sheet.b, -1, dtype=np.int8)  # whether a higher line applies
    last = {int(figures.number(line.base)): line.id for line in figures.book.lines if line.place}
    for line in figures.book.lines:
        name = line.when.area
        test = mega if name is None else growth_zone(sheet) if name == "garden_state_growth_zone" else sheet.area(name)
        if line.place:
            dollars = int(figures.number(line.base))
            # By place the base amount is surely so much or more, so this line or a higher one applies; or surely less.
            if line.id == last[dollars]:
                test = np.where(sheet.floors == dollars, np.int8(1), test)
            test = np.where(sheet.ceilings < dollars, np.int8(-1), test)
        found[line.id] = all_of([test, np.negative(above)])
        above = any_of([above, test])
    return found, above > 0


def _over_lines(
    lines: dict[str, Kleene], sure: NDArray[np.bool_], bands: list[tuple[Line, tuple[Decimal, Decimal]]]
) -> Range:
    """Return what covers the amounts of all lines that may apply; nothing too where perhaps none does."""
    b = len(sure)
    low, high = money(b, INFINITY), money(b, 0)
    for line, (least, most) in bands:
        may = lines[line.id] >= 0
        low = np.where(may, np.minimum(low, money(b, least)), low)
        high = np.where(may, np.maximum(high, money(b, most)), high)
    return Range(np.where(sure, low, money(b, 0)), high)


# -- amounts ------------------------------------------------------------------------------------------


def _decimals(jobs: Range) -> Range:
    return Range(jobs.low.astype(object), jobs.high.astype(object))


def _share(amounts: Range, percent: tuple[Decimal, Decimal]) -> Range:
    n = len(amounts)
    return (amounts * Range.same(n, percent[0], min(percent[1], Decimal(100)))).part(1, 100)


# -- retained jobs ------------------------------------------------------------------------------------


def _exception(sheet: Sheet, mega: dict[str, Kleene]) -> Kleene:
    """Return whether retained jobs may have a new job's amount: growth zone, disaster, automobile headquarters."""
    automobile = all_of([mega["2"], sheet.area("priority_area"), sheet.of_building(sheet.fact("auto_headquarters"))])
    return any_of([growth_zone(sheet), sheet.area("disaster_recovery_project"), automobile])


def _retained(  # noqa: PLR0917 - the figures of one rule
    retained: Range, gross: Range, half: Range, capital: Range, jobs: Range, exception: Kleene, figures: Figures
) -> Range:
    """Return the dollars a year of the retained jobs of each building.

    The lesser of a share of a new job's amount and of one part in so many of the capital, shared over the jobs.
    """
    count = _decimals(retained)
    parts = figures.band("retained_capital_parts")
    if parts[1] == INFINITY:
        by_capital = Range.same(len(gross), 0, INFINITY)
    else:
        share = partial(_share_of_capital, parts=int(parts[0]))
        # More jobs that share the capital make less for each; the retained ones are among them.
        others = Range(jobs.low - count.low, jobs.high - count.high)
        low = each(share, capital.low, count.low, count.low + others.high)
        high = each(share, capital.high, count.high, count.high + others.low)
        by_capital = Range(low, high)
    ordinary = (half * count).least(by_capital)
    full = gross * count
    excepted = full if figures.stands("retained_percent_exceptions") else Range(ordinary.low, full.high)
    return Range.choose(exception, excepted, ordinary)


def _share_of_capital(capital: Decimal, count: int, jobs: int, *, parts: int) -> Decimal:
    if not count:
        return Decimal(0)
    return capital * count / (parts * jobs) if capital.is_finite() else capital


# -- limits of a year ---------------------------------------------------------------------------------


def _year_limits(sheet: Sheet, lines: dict[str, Kleene], figures: Figures, *, strict: bool) -> dict[str, Range]:
    """Return further yearly limits of each project by what sets them; infinite where there is none."""
    endless = Range.same(sheet.n, INFINITY)
    held = {line.id: line.withholdings for line in figures.book.lines if line.withholdings}
    none = np.full(sheet.b, -1, dtype=np.int8)
    bound = any_along(any_of([none, *(lines[name] for name in held)]), sheet.starts)
    # A book has one figure for all lines that are so limited.
    percent = figures.limit(next(iter(held.values()))) if held else (INFINITY, INFINITY)
    stated = _stated(sheet, "withholdings", strict=strict)
    most = (stated * Range.same(sheet.n, min(percent[0], Decimal(100)))).part(1, 100)
    if percent[1] == INFINITY:
        most = Range(most.low, endless.high)
    found = {"withholdings": Range.choose(bound, most, endless)}
    for name in ANY_METHOD_LIMITS:
        values = sheet.limits[name]
        each = [INFINITY if v is None else v / int(y) for v, y in zip(values, sheet.years, strict=True)]
        limit = np.empty(sheet.n, dtype=object)
        limit[:] = each
        found[name] = Range.exact(limit)
    return found


def _stated(sheet: Sheet, name: str, *, strict: bool) -> Range:
    """Return a stated amount; where it is not stated it sets no limit, or in strict use any."""
    if name not in LIMITS:
        raise KeyError(name)
    values = sheet.limits[name]
    none = unsaid(values)
    high = np.where(none, money(sheet.n, INFINITY), values)
    low = np.where(none, money(sheet.n, 0 if strict else INFINITY), values)
    return Range(low, high)


def _to_cents(amounts: Range) -> Range:
    return Range(each(cents, amounts.low), each(cents, amounts.high))


# -- the method by capital investment -----------------------------------------------------------------


def _by_capital(sheet: Sheet, capital: Range, jobs: Range, figures: Figures) -> tuple[Range, Kleene]:
    """Return dollars a year by the method of growth zones under the recovery act, and whether it is open.

    A step of which a figure is not taken as it stands makes the credit greater at most; that the credit reaches it is
    not relied on. Where two sources limit the first step otherwise, the lesser of the two is the least.
    """
    n = sheet.n
    years = sheet.years.astype(object)
    jobs = _decimals(jobs)
    limit = Range.same(n, 0)
    first: Kleene | None = None
    sure = True
    for step in figures.book.investment_steps:
        enough_jobs = jobs.at_least(Range.same(n, figures.number(step.jobs)))
        enough_capital = capital.at_least(Range.same(n, figures.number(step.capital)))
        reached = all_of([enough_jobs, enough_capital])
        stands = figures.stands(step.jobs) and figures.stands(step.capital)
        if first is None:
            first = reached if stands else np.zeros(n, dtype=np.int8)
        most = _step_limit(step, years, figures)
        stands = stands and (step.year_limit is None or figures.stands(step.year_limit))
        sure = sure and stands
        if stands or step is figures.book.investment_steps[0]:
            limit = Range.choose(reached, most, limit)
        else:
            limit = Range(limit.low, Range.choose(reached, most, limit).high)
    if first is None:
        raise ValueError(f"the book {figures.book.id} has no steps of the method by capital investment")
    low = np.minimum(capital.low / years, limit.low)
    high = np.minimum(capital.high / years, limit.high) if sure else capital.high / years
    if figures.trust == "confirmed":
        low = money(n, 0)
    open_to = all_of([all_along(sheet.area("mrera_growth_zone"), sheet.starts), first])
    return Range(low, high), open_to


def _step_limit(step: InvestmentStep, years: Amounts, figures: Figures) -> Range:
    """Return the least and the greatest yearly limit of a step, as its sources have it.

    A limit in all, of another source, is not beside one of a year that is taken as it stands.
    """
    most = INFINITY if step.year_limit is None else figures.number(step.year_limit)
    yearly = money(len(years), most)
    if step.total_limit is None or step.year_limit is None or figures.stands(step.year_limit):
        return Range.exact(yearly)
    return Range(np.minimum(yearly, figures.number(step.total_limit) / years), yearly)


# -- conditions ---------------------------------------------------------------------------------------


def _conditions(sheet: Sheet, minimums: Minimums, qualified: Kleene, *, strict: bool) -> dict[str, Kleene]:
    """Return what must be met for any credit."""

    def shown(name: str) -> Kleene:
        fact = sheet.fact(name)
        return fact if strict else np.where(fact == 0, np.int8(1), fact)

    return {
        "facility": all_along(qualified, sheet.starts),
        "capital": minimums.capital_met,
        "jobs": minimums.jobs_met,
        "green_standard": shown("green_standard"),
    }


def _benefit_percent(sheet: Sheet, figures: Figures) -> Range:
    """Return the least net benefit as a share of the credit asked for, shape (n,) (18.3(a)3ii)."""
    general = figures.number("net_benefit_percent")
    mrera = all_along(sheet.area("mrera_growth_zone"), sheet.starts)
    lower = min(general, figures.number("net_benefit_percent_mrera"))
    sure = figures.stands("net_benefit_percent_mrera")
    low = np.where(mrera >= 0, money(sheet.n, lower), money(sheet.n, general))
    high = np.where((mrera > 0) & sure, money(sheet.n, lower), money(sheet.n, general))
    return Range(low, high)


def _carried(sheet: Sheet, percent: Range, *, strict: bool) -> Range:
    """Return the greatest credit that the stated net benefit is enough for (18.3(a)3ii).

    The rule looks at the credit that is asked for, so a business whose net benefit is short may ask for less. Where no
    net benefit is stated it sets no limit, or in strict use any.
    """
    stated = _stated(sheet, "net_benefit", strict=strict)

    def most(benefit: Decimal, share: Decimal) -> Decimal:
        return cents(benefit * 100 / share)

    return Range(each(most, stated.low, percent.high), each(most, stated.high, percent.low))
