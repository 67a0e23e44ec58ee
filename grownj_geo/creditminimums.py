"""The minimums of 18.3: capital investment for the square feet, and full-time jobs, with their reductions."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.creditrange import Range, all_along, any_along, objects
from grownj_geo.creditreadings import credit_readings
from grownj_geo.logic import all_of, any_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from grownj_geo.creditparams import Figures
    from grownj_geo.creditrange import Kleene
    from grownj_geo.creditsheet import Sheet

__all__ = [
    "Minimums",
    "capital_counted",
    "growth_zone",
    "jobs_counted",
    "minimums_of",
    "no_warehouse",
    "reduced_minimum",
]

_TWO, _ONE, _HALF, _CENT, _NOISE = Decimal(2), Decimal(1), Decimal("0.5"), Decimal("0.01"), Decimal("1E-6")
_RATES = {
    (True, True): "capital_industrial_new",
    (True, False): "capital_industrial_rehabilitation",
    (False, True): "capital_other_new",
    (False, False): "capital_other_rehabilitation",
}


@dataclass(frozen=True, eq=False)
class Minimums:
    """What is required and whether it is met.

    Attributes
    ----------
    reduced
        Shape (b,): whether the building is in a place with reduced minimums.
    capital_reduced
        Shape (b,): whether its minimum of capital is reduced, which approvals up to 2013-09-18 do not have.
    rate
        Shape (b,): dollars for a square foot before rounding of a total.
    capital_required
        Shape (b,): dollars.
    capital
        Shape (b,): dollars that count.
    capital_met
        Shape (n,): over the groups of buildings that are taken together.
    at_risk
        Shape (b,): whether retained jobs count: they are at risk of leaving the State, or need not be there.
    new, retained
        Shape (b,): full-time jobs that count.
    new_required, retained_required
        Shape (n,): jobs that the project, or the buildings in reduced places, must have.
    new_least, new_cut, retained_least, retained_cut
        Shape (n,): the minimums of jobs without and with the reduction.
    in_reduced
        Shape (n,): whether any building is in a reduced place, so that the jobs must be there.
    new_there, retained_there
        Shape (n,): jobs in reduced places, given that a building is in one.
    jobs_met
        Shape (n,).
    """

    reduced: Kleene
    capital_reduced: Kleene
    rate: Range
    capital_required: Range
    capital: Range
    capital_met: Kleene
    at_risk: Kleene
    new: Range
    retained: Range
    new_required: Range
    retained_required: Range
    new_least: Range
    new_cut: Range
    retained_least: Range
    retained_cut: Range
    in_reduced: Kleene
    new_there: Range
    retained_there: Range
    jobs_met: Kleene


def reduced_minimum(base: Decimal, parts: int, reading: str) -> Decimal:
    """Return a minimum cut by one part in so many, rounded as a reading of A13 says.

    Parameters
    ----------
    base
        The minimum, in dollars or jobs.
    parts
        It is cut by one part in so many.
    reading
        The option of A13.

    Examples
    --------
    >>> [int(reduced_minimum(Decimal(base), 4, "reduction_rounded_down")) for base in (10, 25, 35, 50)]
    [8, 19, 27, 38]
    >>> int(reduced_minimum(Decimal(35), 4, "result_to_nearest"))
    26
    """
    if reading == "none":
        return base - base / parts
    if reading == "result_to_nearest":
        return (base - base / parts).quantize(_ONE, rounding=ROUND_HALF_UP)
    cut = (base / parts).quantize(_ONE, rounding=ROUND_DOWN)
    return base - (cut - cut % _TWO if reading == "reduction_down_to_even" else cut)


def _reduced(base: Decimal, parts: int, figures: Figures, readings: Mapping[str, str]) -> tuple[Decimal, Decimal]:
    """Return the least and the greatest that a reduced minimum can be."""
    options = [readings["A13"]]
    if figures.trust == "confirmed":
        # Which rounding holds is a reading; the rule's examples confirm it for two figures only.
        options = list(credit_readings()["A13"].options)
    found = [reduced_minimum(base, parts, option) for option in options]
    return min(found), max(found)


def minimums_of(sheet: Sheet, figures: Figures, readings: Mapping[str, str], *, strict: bool = False) -> Minimums:
    """Return the minimums of each project, and whether they are met.

    Parameters
    ----------
    sheet
        The projects.
    figures
        The figures of the law on the day.
    readings
        The option of each open question, all of them.
    strict
        Leave open whether retained jobs are at risk, and whether the business is primarily a warehouse, where nobody
        says so; else the jobs are taken to be, and the business is taken not to be.
    """
    reduced = _reduced_place(sheet)
    capital_reduced = all_of([reduced, sheet.of_building(_after(sheet, figures))])
    rate, exact, whole = _required(sheet, capital_reduced, figures, readings)
    required = _up_to_cents(exact)
    rule = _CapitalRule(rate, exact, whole, capital_reduced, figures, readings)
    capital = capital_counted(sheet)
    at_risk = _at_risk(sheet, strict=strict)
    new, retained = jobs_counted(sheet, figures, at_risk, strict=strict)
    in_reduced = any_along(reduced, sheet.starts)
    new_there, retained_there = (_there(jobs, reduced, sheet.starts) for jobs in (new, retained))
    new_least, retained_least = (_least_jobs(sheet, kind, figures, strict=strict) for kind in ("new", "retained"))
    new_cut, retained_cut = (_least_jobs(sheet, kind, figures, readings, strict=strict) for kind in ("new", "retained"))
    met_there = any_of([_jobs(new_there).at_least(new_cut), _jobs(retained_there).at_least(retained_cut)])
    met_in_all = any_of(
        [
            _jobs(new.total(sheet.starts)).at_least(new_least),
            _jobs(retained.total(sheet.starts)).at_least(retained_least),
        ]
    )
    jobs_met = np.where(in_reduced > 0, met_there, np.where(in_reduced < 0, met_in_all, _agreed(met_there, met_in_all)))
    return Minimums(
        reduced=reduced,
        capital_reduced=capital_reduced,
        rate=rate,
        capital_required=required,
        capital=capital,
        capital_met=_capital_met(sheet, capital, rule),
        at_risk=at_risk,
        new=new,
        retained=retained,
        new_required=Range.choose(in_reduced, new_cut, new_least),
        retained_required=Range.choose(in_reduced, retained_cut, retained_least),
        new_least=new_least,
        new_cut=new_cut,
        retained_least=retained_least,
        retained_cut=retained_cut,
        in_reduced=in_reduced,
        new_there=new_there,
        retained_there=retained_there,
        jobs_met=jobs_met.astype(np.int8),
    )


def _reduced_place(sheet: Sheet) -> Kleene:
    """Return whether buildings are in a growth zone or one of the eight southern counties."""
    return any_of([growth_zone(sheet), sheet.area("southern_eight")])


def growth_zone(sheet: Sheet) -> Kleene:
    """Return whether buildings are in a growth zone; who states a kind of zone states the zone."""
    kinds = ("garden_state_growth_zone", "mrera_growth_zone", "tourism_district_growth_zone")
    return any_of([sheet.area(name) for name in kinds])


def _agreed(one: Kleene, other: Kleene) -> Kleene:
    return np.where(one == other, one, np.int8(0))


def _there(jobs: Range, reduced: Kleene, starts: NDArray[np.int64]) -> Range:
    """Return the jobs of each project in reduced places, given that it has a building in one."""
    sure, may = reduced > 0, reduced >= 0
    low = Range.exact(np.where(sure, jobs.low, 0)).total(starts).low
    high = Range.exact(np.where(may, jobs.high, 0)).total(starts).high
    # Where no building surely is, at least one of those that may be is.
    open_ones = np.where(may & ~sure, jobs.low, np.iinfo(np.int64).max)
    fewest = open_ones if len(starts) == len(open_ones) else np.minimum.reduceat(open_ones, starts)
    none_sure = any_along(np.where(sure, np.int8(1), np.int8(-1)), starts) < 0
    some_open = any_along(np.where(may, np.int8(1), np.int8(-1)), starts) > 0
    return Range(np.where(none_sure & some_open, fewest, low), high)


def _jobs(jobs: Range) -> Range:
    """Return numbers of jobs as decimals can be compared with them."""
    return Range(jobs.low.astype(object), jobs.high.astype(object))


def _after(sheet: Sheet, figures: Figures) -> Kleene:
    """Return whether projects are approved after the day from which the minimum of capital is reduced."""
    day = figures.date("capital_reduced_after").toordinal()
    known = np.where(sheet.approved > 0, np.where(sheet.approved > day, 1, -1), 0)
    # An approval cannot come before its application; with no day at all, that of the figures stands for it.
    later = (sheet.approved == 0) & (sheet.applied > day)
    undated = (sheet.approved == 0) & (sheet.applied == 0) & (figures.day.toordinal() > day)
    return np.where(later | undated, 1, known).astype(np.int8)


def no_warehouse(sheet: Sheet, *, strict: bool) -> Kleene:
    """Return whether businesses are not primarily warehouses, shape (n,).

    Parameters
    ----------
    sheet
        The projects.
    strict
        Leave it open where nobody says so; else they are taken not to be, and the assumption is named.
    """
    found = np.negative(sheet.fact("primarily_warehouse"))
    return found if strict else np.where(found == 0, np.int8(1), found)


def _least_jobs(
    sheet: Sheet, kind: str, figures: Figures, readings: Mapping[str, str] | None = None, *, strict: bool
) -> Range:
    """Return the minimum of jobs of a kind, shape (n,); reduced where readings are given."""
    low, high = np.empty(sheet.n, dtype=object), np.empty(sheet.n, dtype=object)
    bands: dict[str, Range] = {}
    for number, business in enumerate(("startup", "targeted", "other")):
        base = figures.number(f"jobs_{business}_{kind}")
        band = (base, base)
        if readings is not None:
            band = _reduced(base, figures.count("jobs_reduction_parts"), figures, readings)
        low[sheet.kind == number], high[sheet.kind == number] = band
        bands[business] = Range.same(sheet.n, *band)
    # A primarily warehouse business is no targeted industry.
    targeted = np.where(sheet.kind == 1, no_warehouse(sheet, strict=strict), np.int8(1))
    otherwise = Range.choose(targeted, Range(low, high), bands["other"])
    return Range.choose(sheet.fact("technology_startup"), bands["startup"], otherwise)


@dataclass(frozen=True, eq=False)
class _CapitalRule:
    """What is required of buildings, one by one and together.

    Attributes
    ----------
    rate, exact, whole
        Shape (b,): dollars for a square foot, in all, and in all without the reduction of a total, before cents.
    reduced
        Shape (b,): whether the minimum of the building is reduced.
    """

    rate: Range
    exact: Range
    whole: Range
    reduced: Kleene
    figures: Figures
    readings: Mapping[str, str]

    @property
    def of_total(self) -> bool:
        """Whether the total is reduced, and not the rate (A54)."""
        return self.readings["A54"] == "total"

    @property
    def fixed(self) -> NDArray[np.bool_]:
        """Shape (b,): whether it is known which minimum for a square foot a building has."""
        same = np.asarray(self.rate.low == self.rate.high, dtype=bool)
        return same & (self.reduced != 0) if self.of_total else same

    def kind(self, row: int) -> tuple[Decimal, bool]:
        """Return the minimum for a square foot, and whether a total of such is reduced."""
        return self.rate.low[row], self.of_total and bool(self.reduced[row] > 0)

    def together(self, rows: list[int]) -> Range:
        """Return what is required of buildings of one kind together, shape (1,); a total is reduced once."""
        parts = self.figures.count("capital_reduction_parts")
        if self.kind(rows[0])[1]:
            return _cut_totals(_up_to_cents(_sum(self.whole, rows)), parts, self.figures, self.readings)
        return _up_to_cents(_sum(self.exact, rows))

    def around(self) -> Range:
        """Return for each building what it adds at least, and at most, to any total that it may be part of.

        However a reduced total is rounded, it is no less than its exact figure and half a dollar for its rounding, and
        no more than what its buildings would need one by one and half a dollar.
        """
        if not self.of_total:
            return self.exact
        parts = self.figures.count("capital_reduction_parts")
        may = self.reduced >= 0
        low = np.where(may, objects(v - v / parts - _HALF for v in self.whole.low), self.exact.low)
        most = objects(v - v / parts + _HALF for v in self.whole.high)
        return Range(low, np.where(may, np.maximum(self.exact.high, most), self.exact.high))


def _required(
    sheet: Sheet, reduced: Kleene, figures: Figures, readings: Mapping[str, str]
) -> tuple[Range, Range, Range]:
    """Return dollars for a square foot, in all, and in all before a total is reduced: before cents, shape (b,)."""
    rates, totals, wholes = [], [], []
    parts = figures.count("capital_reduction_parts")
    sqft = Range.exact(sheet.sqft)
    for cut in (False, True):
        by_use = []
        for similar in (True, False):
            low, high = np.empty(sheet.b, dtype=object), np.empty(sheet.b, dtype=object)
            for new in (True, False):
                base = figures.number(_RATES[similar, new])
                on_rate = cut and readings["A54"] == "rate"
                band = _reduced(base, parts, figures, readings) if on_rate else (base, base)
                low[sheet.new_built == new], high[sheet.new_built == new] = band
            by_use.append(Range(low, high))
        rate = Range.choose(sheet.similar, *by_use)
        total = rate * sqft
        wholes.append(total)
        if cut and readings["A54"] == "total":
            total = _cut_totals(_up_to_cents(total), parts, figures, readings)
        rates.append(rate)
        totals.append(total)
    rate, exact, whole = (Range.choose(reduced, each[1], each[0]) for each in (rates, totals, wholes))
    return rate, exact, whole


def _up_to_cents(amounts: Range) -> Range:
    """Return amounts in whole cents, at least as much: a minimum is not met by less.

    A third without an end in decimals is a trace too much or too little, and so is a sum of such; that is no cent.
    """

    def up(values: NDArray[np.object_]) -> NDArray[np.object_]:
        return objects(
            v if v == v.to_integral_value() else v.quantize(_NOISE).quantize(_CENT, rounding=ROUND_CEILING)
            for v in values
        )

    low = up(amounts.low)
    return Range(low, low if amounts.high is amounts.low else up(amounts.high))


def _cut_totals(totals: Range, parts: int, figures: Figures, readings: Mapping[str, str]) -> Range:
    return Range(
        objects(_reduced(value, parts, figures, readings)[0] for value in totals.low),
        objects(_reduced(value, parts, figures, readings)[1] for value in totals.high),
    )


def capital_counted(sheet: Sheet) -> Range:
    """Return the capital investment of each building, wider in a growth zone."""
    if sheet.capital["zone"] is sheet.capital["plain"]:
        return sheet.capital["plain"]
    return Range.choose(growth_zone(sheet), sheet.capital["zone"], sheet.capital["plain"])


def _at_risk(sheet: Sheet, *, strict: bool) -> Kleene:
    """Return whether retained jobs of each building count (18.2, Retained full-time job).

    They must be at risk of leaving the State; in two growth zones any job moved there from elsewhere in it is one.
    """
    fact = sheet.fact("jobs_at_risk")
    stated = fact if strict else np.where(fact == 0, np.int8(1), fact)
    places = [sheet.area("mrera_growth_zone"), sheet.area("tourism_district_growth_zone")]
    return any_of([*places, np.asarray(sheet.of_building(stated))])


def jobs_counted(sheet: Sheet, figures: Figures, at_risk: Kleene, *, strict: bool) -> tuple[Range, Range]:
    """Return new and retained full-time jobs of each building, by the ways to count that the place allows.

    Parameters
    ----------
    sheet
        The projects.
    figures
        The figures of the law on the day.
    strict
        Leave open whether a business is primarily a warehouse where nobody says so.
    at_risk
        Shape (b,): whether retained jobs count at all; the others are none.
    """
    industries = figures.names("container_port_industries")
    port = all_of(
        [
            sheet.area("port_district_with_container_terminal"),
            sheet.of_building(_is_in(sheet, industries)),
            np.asarray(sheet.of_building(no_warehouse(sheet, strict=strict))),
        ]
    )
    place = any_of([sheet.area("mrera_growth_zone"), sheet.area("atlantic_city_tourism_district")])
    large = all_of([sheet.fact("retail_size"), sheet.fact("grocery_share")])
    grocery = all_of([place, sheet.of_building(large)])
    found = []
    for jobs in (sheet.new, sheet.retained):
        plain, pooled, thirty = (jobs[rule] for rule in ("plain", "port", "grocery"))
        if jobs["port"] is jobs["plain"] and jobs["grocery"] is jobs["plain"]:
            found.append(plain)
        else:
            found.append(Range.choose(grocery, thirty, Range.choose(port, pooled, plain)))
    none = Range.exact(np.zeros(sheet.b, dtype=np.int64))
    retained = found[1] if bool((at_risk > 0).all()) else Range.choose(at_risk, found[1], none)
    return found[0], retained


def _is_in(sheet: Sheet, industries: tuple[str, ...]) -> Kleene:
    return np.where(np.isin(sheet.industry.astype(str), industries), np.int8(1), np.int8(-1))


# -- which buildings are taken together ---------------------------------------------------------------


def _capital_met(sheet: Sheet, capital: Range, rule: _CapitalRule) -> Kleene:
    """Return whether each project's minimums of capital are met (18.3(a)1v).

    Only proximate buildings with the same minimum for a square foot are taken together; the others stand alone. What is
    required is reduced and rounded once, for what is taken together.
    """
    met = all_along(capital.at_least(_up_to_cents(rule.exact)), sheet.starts)
    if sheet.b == sheet.n:
        return met
    found = met.copy()
    ends = np.append(sheet.starts[1:], sheet.b)
    around, fixed = rule.around(), rule.fixed
    safe = capital.at_least(_up_to_cents(around)) > 0
    for project in np.flatnonzero(ends - sheet.starts > 1):
        rows = np.arange(sheet.starts[project], ends[project])
        if bool(safe[rows].all()):
            found[project] = 1  # however they are grouped
        else:
            known = bool(fixed[rows].all())
            found[project] = _complex_met(rows, sheet, capital, rule, around, known=known)
    return found


def _complex_met(
    rows: NDArray[np.int64], sheet: Sheet, capital: Range, rule: _CapitalRule, around: Range, *, known: bool
) -> int:
    if known and bool((sheet.proximity[rows] >= 0).all()):
        groups: dict[tuple[int, tuple[Decimal, bool]], list[int]] = {}
        for row in rows:
            groups.setdefault((int(sheet.proximity[row]), rule.kind(row)), []).append(int(row))
        return min(int(_sum(capital, group).at_least(rule.together(group))[0]) for group in groups.values())
    # It is not known which are taken together. All that could be together falling short is a no in any case.
    widest: dict[object, list[int]] = {}
    for row in rows:
        widest.setdefault(rule.kind(row) if known else None, []).append(int(row))
    least = Range(around.low, around.low)
    short = any(_sum(capital, group).at_least(_up_to_cents(_sum(least, group)))[0] < 0 for group in widest.values())
    return -1 if short else 0


def _sum(values: Range, rows: list[int]) -> Range:
    return Range(*(np.array([bound[rows].sum()], dtype=object) for bound in (values.low, values.high)))
