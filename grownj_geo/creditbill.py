"""The other credits of bill A1178 that ask for an area, with the amounts and limits that the bill states.

What stands in the bill's statement only is marked so in the answer. The bill was never enacted.
"""

from __future__ import annotations

from datetime import date
from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING

from grownj_geo.creditanswer import AnswerBook, CreditAnswer
from grownj_geo.creditbillinput import (
    IncomeTaxLimit,
    RecoveryEmployment,
    RecoveryRebate,
    RelocationGrant,
    RevitalizationCredit,
    ZoneCredit,
)
from grownj_geo.creditparams import Figures, load_credit_book
from grownj_geo.credittri import Tri, all_met, any_met, opposite

if TYPE_CHECKING:
    from grownj_geo.creditbillinput import BillCredit, DevelopmentCredit, EmployeeGroup

__all__ = ["estimate_bill"]

_CENT, _HUNDRED = Decimal("0.01"), Decimal(100)
_DAY = date(2012, 1, 10)


def estimate_bill(credit: BillCredit) -> CreditAnswer:
    """Return what a credit of the bill comes to.

    Examples
    --------
    >>> from grownj_geo.areas import BuildingAreas
    >>> from grownj_geo.creditbillinput import EmployeeGroup, ZoneCredit
    >>> zone = BuildingAreas(areas={"urban_enterprise_zone": "yes"})
    >>> hired = EmployeeGroup(count=4, resident=True, unemployed_days=90, months=6)
    >>> found = estimate_bill(ZoneCredit(areas=zone, retail_or_warehouse=False, employees=(hired,), zone_employees=14,
    ...     zone_employees_before=13, designated="2000-01-01", tax_year_begins="2012-01-01"))
    >>> found.eligible, found.amounts["employee_credit"].low
    ('yes', Decimal('6000'))
    """
    book = AnswerBook(credit.program, Figures(load_credit_book("a1178"), _DAY, credit.trust))
    if isinstance(credit, ZoneCredit):
        _zone(credit, book)
    elif isinstance(credit, RecoveryEmployment):
        _recovery_employment(credit, book)
    elif isinstance(credit, RecoveryRebate):
        _rebate(credit, book)
    elif isinstance(credit, RelocationGrant):
        _relocation(credit, book)
    elif isinstance(credit, RevitalizationCredit):
        _revitalization(credit, book)
    elif isinstance(credit, IncomeTaxLimit):
        _income_tax_limit(credit, book)
    else:
        _development(credit, book)
    return book.answer()


def _outcome(credit: BillCredit, name: str) -> Tri:
    return {"yes": True, "no": False}.get(credit.areas[name].outcome)


def _reaches(value: Decimal | int | None, least: Decimal) -> Tri:
    return None if value is None else value >= least


def _add(total: tuple[Decimal, Decimal], count: int, dollars: Decimal, met: Tri) -> tuple[Decimal, Decimal]:
    """Return a total with what a group adds where it counts: surely, perhaps, or not."""
    amount = count * dollars
    return total[0] + (amount if met else Decimal(0)), total[1] + (amount if met is not False else Decimal(0))


def _share(amount: Decimal, percent: Decimal) -> Decimal:
    return (amount * percent / _HUNDRED).quantize(_CENT, rounding=ROUND_DOWN)


def _years_on(day: date, years: int) -> date:
    last = day.month == 2 and day.day == 29  # noqa: PLR2004 - the leap day
    return day.replace(year=day.year + years, day=28 if last else day.day)


# -- enterprise zones ---------------------------------------------------------------------------------


def _zone(credit: ZoneCredit, book: AnswerBook) -> None:
    rule = "A1178 section 12 (C.52:27H-78)"
    book.test("zone", "In an urban enterprise zone", _outcome(credit, "urban_enterprise_zone"), rule)
    book.test("business", "Neither retail- nor warehouse-oriented", opposite(credit.retail_or_warehouse), rule)
    place = book.eligible
    low, high = _zone_employees(credit, book, place)
    _zone_investment(credit, book, place, (low, high))


def _zone_employees(credit: ZoneCredit, book: AnswerBook, place: Tri) -> tuple[Decimal, Decimal]:
    months, days = book.number("zone_months"), book.number("zone_unemployed_days")
    now, before = credit.zone_employees, credit.zone_employees_before
    grown: Tri = None if now is None or before is None else now > before
    grown = book.told("headcount", "More employees in the zone than in any earlier year", grown, "A1178 section 12f")
    allowed: Tri = None
    starts = [day for day in (credit.designated, credit.first_taxable) if day is not None]
    if credit.designated is not None and credit.tax_year_begins is not None:
        allowed = credit.tax_year_begins < _years_on(max(starts), book.count("zone_years"))
    allowed = book.told("years", "Within the twenty years", allowed, book.rule_of("zone_years"))
    first_dollars, second_dollars = book.number("zone_unemployed_credit"), book.number("zone_other_credit")
    nothing = (Decimal(0), Decimal(0))
    firsts, seconds, low, most = nothing, nothing, Decimal(0), Decimal(0)
    for group in credit.employees:
        common = all_met([place, grown, allowed, group.resident, _reaches(group.months, months)])
        without_work = _without_work(group, days)
        met = all_met([common, without_work])
        first = _add(nothing, group.count, first_dollars, met)
        met = all_met([common, opposite(without_work), opposite(group.employed_inside_before)])
        second = _add(nothing, group.count, second_dollars, met)
        firsts, seconds = ((a[0] + b[0], a[1] + b[1]) for a, b in ((firsts, first), (seconds, second)))
        # Who may be one or the other is not both.
        low += first[0] + second[0]
        most += max(first[1], second[1])
    book.amount("unemployed_employees", *firsts, book.rule_of("zone_unemployed_credit"))
    book.amount("other_employees", *seconds, book.rule_of("zone_other_credit"))
    book.amount("employee_credit", low, most, "A1178 section 12a and b")
    book.notes.append("The employee credit is allowed in the tax year after the hiring (section 12d).")
    _used(book, "employee", low + credit.carried_employee, most + credit.carried_employee, credit.tax_due)
    return low, most


def _without_work(group: EmployeeGroup, days: Decimal) -> Tri:
    """Return whether employees were unemployed long enough, or dependent on public assistance."""
    return any_met([_reaches(group.unemployed_days, days), group.public_assistance])


def _zone_investment(credit: ZoneCredit, book: AnswerBook, place: Tri, employees: tuple[Decimal, Decimal]) -> None:
    rule = book.rule_of("zone_investment_percent")
    none: Tri = True if employees[1] == 0 else False if employees[0] > 0 else None
    none = book.told("no_employee_credit", "No employee credit is due", none, rule)
    carried: Tri = credit.carried_employee == 0
    due = all_met([place, none, carried, credit.investment_criteria])
    amount = None if credit.investment is None else _share(credit.investment, book.number("zone_investment_percent"))
    found = book.due("investment_credit", amount, rule, if_met=due)
    low, high = found.low, found.high
    # Carried or earned, never beside an employee credit in one year.
    beside = all_met([none, carried])
    carry_low = credit.carried_investment if beside else Decimal(0)
    carry_high = credit.carried_investment if beside is not False else Decimal(0)
    _used(book, "investment", low + carry_low, None if high is None else high + carry_high, credit.tax_due)


def _used(book: AnswerBook, name: str, low: Decimal, high: Decimal | None, tax: Decimal | None) -> None:
    """Add what of a zone credit the year's tax takes, and what is carried to the next year."""
    if tax is None or high is None:
        return
    room = _share(tax, book.number("zone_tax_percent"))
    rule = book.rule_of("zone_tax_percent")
    book.amount(f"{name}_used", min(low, room), min(high, room), rule)
    book.amount(f"{name}_carried", max(low - room, Decimal(0)), max(high - room, Decimal(0)), rule)


# -- recovery act -------------------------------------------------------------------------------------


def _recovery_employment(credit: RecoveryEmployment, book: AnswerBook) -> None:
    rule = "A1178 section 9a (C.52:27BBB-55)"
    book.test("municipality", "In a qualified municipality", _outcome(credit, "mrera_qualified_municipality"), rule)
    book.test("no_zone_benefits", "No enterprise zone benefits", opposite(credit.zone_benefits), rule)
    months = book.number("recovery_period_months")
    book.test(
        "single_period",
        "Within one period of 24 months",
        credit.months_of_credit <= months,
        book.rule_of("recovery_period_months"),
    )
    hours = book.number("full_time_month_hours")
    book.note_used("part_time_week_hours", "part_time_months")
    due, new = book.eligible, []
    years = (
        ("first_year", credit.first_year, credit.part_time_hours_first, "recovery_first_year"),
        ("second_year", credit.second_year, credit.part_time_hours_second, "recovery_second_year"),
    )
    for name, average, pooled, figure in years:
        positions = None
        if average is not None:
            positions = max(
                average + pooled / hours - credit.before - credit.part_time_hours_before / hours, Decimal(0)
            )
            book.amount(f"positions_{name}", positions, positions, "A1178 section 9e (C.52:27BBB-55)")
        new.append(positions)
        amount = None if positions is None else (positions * book.number(figure)).quantize(_CENT, rounding=ROUND_DOWN)
        book.due(f"credit_{name}", amount, rule, if_met=due)
    if None in new or credit.tax_due is None or not due:
        return
    first, second = (value for value in new if value is not None)
    _recovery_use(credit, book, (first, second))


def _recovery_use(credit: RecoveryEmployment, book: AnswerBook, new: tuple[Decimal, Decimal]) -> None:
    """Add what is used of year one's credit, and what is refundable after year two."""
    rule = "A1178 section 9b and c (C.52:27BBB-55)"
    percent = book.number("recovery_tax_percent")
    left = (new[0] * book.number("recovery_first_year")).quantize(_CENT, rounding=ROUND_DOWN)
    used = []
    second = (new[1] * book.number("recovery_second_year")).quantize(_CENT, rounding=ROUND_DOWN)
    for number, tax in enumerate((credit.tax_due, credit.tax_due_second)):
        if tax is None:
            return
        room = max(
            min(_share(tax, percent) - credit.other_credits, tax - credit.other_credits - credit.statutory_minimum),
            Decimal(0),
        )
        taken = min(left, room)
        left -= taken
        later = min(second, room - taken) if number else Decimal(0)
        used.append(taken + later)
    for name, amount in zip(("used_first", "used_second"), used, strict=True):
        book.amount(name, amount, amount, rule)
    ratio = min(new[1] / new[0], Decimal(1)) if new[0] else Decimal(0)
    book.amount("sustained_effort_ratio", ratio, ratio, "A1178 section 9e (C.52:27BBB-55)")
    refund = (left * ratio).quantize(_CENT, rounding=ROUND_DOWN)
    book.amount("refundable", refund, refund, rule)
    book.amount("carried_on", left - refund, left - refund, rule)


def _rebate(credit: RecoveryRebate, book: AnswerBook) -> None:
    rule = "A1178 section 8 (C.52:27BBB-54)"
    book.test("municipality", "In a qualified municipality", _outcome(credit, "mrera_qualified_municipality"), rule)
    since = credit.years_since_first
    years = None if since is None else since <= book.number("recovery_payment_years")
    book.test("payment_years", "Within ten years of payments", years, book.rule_of("recovery_payment_years"))
    asked = credit.years_since_deposit
    applied = None if asked is None else asked <= book.number("rebate_apply_years")
    book.test("applied", "Applied within two years of the deposit", applied, book.rule_of("rebate_apply_years"))
    for name, label, value, figure in (
        (
            "recovery_period",
            "Recovery period left on personal property",
            credit.recovery_years,
            "recovery_period_years",
        ),
        ("idle", "A new facility was out of use long enough", credit.idle_days, "recovery_idle_days"),
        ("lease", "A lease is long enough to count as a purchase", credit.lease_years, "recovery_lease_years"),
    ):
        if value is not None:
            book.at_least(name, label, value, figure)
    if credit.bought_from_control_percent is not None:
        joined = credit.bought_from_control_percent >= book.number("recovery_control_percent")
        book.test(
            "apart",
            "Buyer and seller are of no one controlled group",
            not joined,
            book.rule_of("recovery_control_percent"),
        )
    due = book.eligible
    payment = None
    if credit.tax is not None and credit.property_there is not None and credit.property_in_state is not None:
        # Multiplied first, divided once: a quotient without an end in decimals would lose a cent.
        whole = credit.tax * credit.property_there * book.number("recovery_share_percent")
        payment = (whole / (credit.property_in_state * _HUNDRED)).quantize(_CENT, rounding=ROUND_DOWN)
    found = book.due("incentive_payment", payment, book.rule_of("recovery_share_percent"), if_met=due)
    normal, greater = book.number("rebate_percent"), book.number("rebate_percent_greater")
    most = greater if credit.greater_contribution else normal if credit.greater_contribution is False else greater
    high = None if found.high is None else _share(found.high, most)
    if credit.property_cost is not None:
        room = max(credit.property_cost - credit.rebated_before, Decimal(0))
        high = room if high is None else min(high, room)
    book.amount("rebate", Decimal(0), high, book.rule_of("rebate_percent"))
    book.notes.append("The rebate is up to this amount, as the Authority decides and money is appropriated.")


# -- retention and relocation -------------------------------------------------------------------------


def _relocation(credit: RelocationGrant, book: AnswerBook) -> None:
    book.at_least(
        "operating",
        "Ten years of continuous operation in the State",
        credit.operating_years,
        "relocation_operating_years",
    )
    book.at_least("jobs", "Enough retained jobs (by the statement only)", credit.retained_jobs, "relocation_least_jobs")
    commitment = credit.term_years + book.count("relocation_commitment_years")
    book.amount(
        "commitment_years", Decimal(commitment), Decimal(commitment), book.rule_of("relocation_commitment_years")
    )
    if credit.lease_years is not None:
        needed = max(Decimal(commitment), book.number("relocation_lease_years"))
        book.test(
            "lease", "The lease is long enough", credit.lease_years >= needed, book.rule_of("relocation_lease_years")
        )
    due, jobs = book.eligible, credit.retained_jobs
    yearly = None if jobs is None else jobs * book.number("relocation_yearly")
    book.due("yearly_credit", yearly, book.rule_of("relocation_yearly"), if_met=due)
    total = None if yearly is None else yearly * credit.term_years
    book.due("credit", total, book.rule_of("relocation_yearly"), if_met=due)
    if jobs is not None:
        _relocation_class(jobs, book)
    _relocation_bonuses(credit, book, total, due)
    if credit.transferred is not None and credit.transfer_price is not None:
        enough = credit.transfer_price * _HUNDRED >= credit.transferred * book.number("relocation_transfer_percent")
        book.told(
            "transfer_price",
            "The credit is surrendered for enough",
            enough,
            book.rule_of("relocation_transfer_percent"),
        )
    if credit.program_so_far is not None and yearly is not None:
        within = credit.program_so_far + yearly <= book.number("relocation_program_year")
        book.told(
            "within_program_year",
            "All credits of the year stay within the limit",
            within,
            book.rule_of("relocation_program_year"),
        )


def _relocation_class(jobs: int, book: AnswerBook) -> None:
    """Add what the statement says of a job's credit by size; between the classes that it names it says nothing."""
    low, high = book.number("relocation_smallest_class"), book.number("relocation_largest_class")
    if jobs <= book.number("relocation_smallest_class_jobs"):
        high = low
    elif jobs > book.number("relocation_largest_class_jobs"):
        low = high
    book.amount("per_job_by_statement", low, high, book.rule_of("relocation_largest_class"))


def _relocation_bonuses(credit: RelocationGrant, book: AnswerBook, total: Decimal | None, due: Tri) -> None:
    moved = _reaches(credit.jobs_moved, book.number("relocation_center_jobs"))
    center = all_met([due, moved, _outcome(credit, "designated_urban_center")])
    center = book.told(
        "center_bonus_due",
        "Moved enough jobs into a designated urban center",
        center,
        book.rule_of("relocation_center_percent"),
    )
    bonus = None if total is None else _share(total, book.number("relocation_center_percent"))
    book.due("center_bonus", bonus, book.rule_of("relocation_center_percent"), if_met=center)
    enough: Tri = None
    if credit.capital_investment is not None and total is not None:
        enough = credit.capital_investment * _HUNDRED >= total * book.number("relocation_capital_percent")
    book.told(
        "capital_bonus_due",
        "Capital investment of twice the credits (the bonus is not stated)",
        enough,
        book.rule_of("relocation_capital_percent"),
    )


# -- neighborhoods and development projects -----------------------------------------------------------


def _revitalization(credit: RevitalizationCredit, book: AnswerBook) -> None:
    rule = "A1178 section 10 (C.52:27D-492)"
    place = _outcome(credit, "neighborhood_revitalization_project")
    book.test("neighborhood", "In a neighborhood under an approved plan", place, rule)
    book.test("approved", "The assistance is approved", credit.approved, rule)
    book.test("paid", "Paid in the year of the certificate, or as scheduled", credit.paid_in_year, "A1178 section 10e")
    book.test(
        "no_other_credit", "No other credit for the same activity", opposite(credit.other_credit), "A1178 section 10d"
    )
    most = None if credit.assistance is None else _share(credit.assistance, book.number("revitalization_percent"))
    limit = book.number("revitalization_year")
    amounts = [amount for amount in (most, limit, credit.tax) if amount is not None]
    found = book.due("most", min(amounts) if most is not None else None, rule, if_met=book.eligible)
    book.amount("credit", Decimal(0), found.high, rule)
    if credit.certified_so_far is not None and found.high is not None:
        room = book.number("revitalization_fiscal_year") - credit.certified_so_far
        within: Tri = True if found.high <= room else False if found.low > room else None
        book.told(
            "within_fiscal_year",
            "All credits of the fiscal year stay within the limit",
            within,
            book.rule_of("revitalization_fiscal_year"),
        )


def _development(credit: DevelopmentCredit, book: AnswerBook) -> None:
    rule = "A1178 section 35 (C.55:19-13)"
    book.test("project", "At a location within a project", _outcome(credit, "urban_development_project"), rule)
    book.test("business", "Neither retail- nor warehouse-oriented", opposite(credit.retail_or_warehouse), rule)
    within: Tri = None
    if credit.agreed is not None and credit.tax_year_ends is not None:
        within = credit.tax_year_ends <= _years_on(credit.agreed, book.count("development_years"))
    book.test("years", "Within two years of the agreement", within, book.rule_of("development_years"))
    due, total = book.eligible, (Decimal(0), Decimal(0))
    for group in credit.employees:
        days = _reaches(group.unemployed_days, book.number("development_unemployed_days"))
        months = _reaches(group.months, book.number("development_months"))
        met = all_met([due, group.resident, any_met([days, group.public_assistance]), months])
        total = _add(total, group.count, book.number("development_credit"), met)
    book.amount("credit", *total, rule)
    book.notes.append("The credit is allowed in the next tax year, and may be continued into a second one.")


# -- section 40 ---------------------------------------------------------------------------------------


def _income_tax_limit(credit: IncomeTaxLimit, book: AnswerBook) -> None:
    """Add what section 40 lets be used: no activity twice, and no more than the tax on the business's income."""
    rule = "A1178 section 40"
    once = book.test(
        "used_once", "The activity was used for no other State credit", opposite(credit.used_elsewhere), rule
    )
    own = credit.credit
    if credit.owner_share_percent is not None:
        own = _share(credit.credit, credit.owner_share_percent)
        book.amount("passed_through", own, own, rule)
    if credit.by_transfer:
        book.due("usable", own, rule, if_met=once)
        book.notes.append("The limit does not shrink what is sold by transfer certificate.")
        return
    limit = None
    if credit.tax_before_credits is not None and credit.business_income is not None and credit.gross_income is not None:
        part, whole = credit.business_income, credit.gross_income
        if credit.category_net is not None and credit.category_gross is not None:
            part, whole = part * credit.category_net, whole * credit.category_gross
        part = min(part, whole)
        book.amount("ratio", part / whole, part / whole, rule)
        # Multiplied first: a ratio without an end in decimals would lose a cent.
        limit = (credit.tax_before_credits * part / whole).quantize(_CENT, rounding=ROUND_DOWN)
        book.amount("limit", limit, limit, rule)
    low = Decimal(0) if limit is None else min(own, limit)
    high = own if limit is None else min(own, limit)
    book.amount("usable", low if once else Decimal(0), high if once is not False else Decimal(0), rule)
    if limit is not None:
        left = own - min(own, limit)
        book.amount("carried_on", left if once else Decimal(0), left if once is not False else Decimal(0), rule)
        book.notes.append("What is left is carried on as far as the credit allows it.")
