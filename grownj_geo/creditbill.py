"""The other credits of bill A1178 that ask for an area, with the amounts and limits that the bill states.

What stands in the bill's statement only is marked so in the answer. The bill was never enacted.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from grownj_geo.creditanswer import AnswerBook, CreditAnswer, lesser, outcome_of, share_of
from grownj_geo.creditbillinput import (
    IncomeTaxLimit,
    RecoveryEmployment,
    RecoveryRebate,
    RelocationGrant,
    RevitalizationCredit,
    ZoneCredit,
)
from grownj_geo.creditdays import years_later
from grownj_geo.creditparams import Figures, load_credit_book
from grownj_geo.creditrange import cents
from grownj_geo.credittri import Tri, all_met, any_met, opposite

if TYPE_CHECKING:
    from grownj_geo.creditanswer import Bounds
    from grownj_geo.creditbillinput import BillCredit, DevelopmentCredit, EmployeeGroup

__all__ = ["estimate_bill"]

_HUNDRED, _NOTHING = Decimal(100), Decimal(0)


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
    figures = load_credit_book("a1178")
    # Its figures begin on the day on which the bill was introduced.
    book = AnswerBook(credit.program, Figures(figures, figures.first_day, credit.trust))
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


def _reaches(value: Decimal | int | None, least: Decimal) -> Tri:
    return None if value is None else value >= least


def _add(total: tuple[Decimal, Decimal], count: int, dollars: Decimal, met: Tri) -> tuple[Decimal, Decimal]:
    """Return a total with what a group adds where it counts: surely, perhaps, or not."""
    amount = count * dollars
    return total[0] + (amount if met else Decimal(0)), total[1] + (amount if met is not False else Decimal(0))


# -- enterprise zones ---------------------------------------------------------------------------------


def _zone(credit: ZoneCredit, book: AnswerBook) -> None:
    rule = "A1178 section 12 (C.52:27H-78)"
    book.test("zone", "In an urban enterprise zone", outcome_of(credit.areas, "urban_enterprise_zone"), rule)
    book.test("business", "Neither retail- nor warehouse-oriented", opposite(credit.retail_or_warehouse), rule)
    place = book.eligible
    low, high = _zone_employees(credit, book, place)
    _zone_investment(credit, book, place, (low, high))


def _zone_employees(credit: ZoneCredit, book: AnswerBook, place: Tri) -> Bounds:
    months, days = book.number("zone_months"), book.number("zone_unemployed_days")
    now, before = credit.zone_employees, credit.zone_employees_before
    grown: Tri = None if now is None or before is None else now > before
    grown = book.told("headcount", "More employees in the zone than in any earlier year", grown, "A1178 section 12f")
    allowed: Tri = None
    begins, taxed = credit.tax_year_begins, credit.first_taxable
    if credit.designated is not None and begins is not None:
        years = book.count("zone_years")
        allowed = begins < years_later(max(credit.designated, taxed or credit.designated), years)
        # Being first taxable in the zone later would give more years.
        allowed = None if taxed is None and not allowed else allowed
    label = f"Within the {book.count('zone_years')} years"
    allowed = book.told("years", label, allowed, book.rule_of("zone_years"))
    first_dollars, second_dollars = book.number("zone_unemployed_credit"), book.number("zone_other_credit")
    nothing = (Decimal(0), Decimal(0))
    firsts, seconds, low = nothing, nothing, _NOTHING
    most: Decimal | None = _NOTHING
    for group in credit.employees or ():
        common = all_met([place, grown, allowed, group.resident, _reaches(group.months, months)])
        without_work = _without_work(group, days)
        met = all_met([common, without_work])
        first = _add(nothing, group.count, first_dollars, met)
        met = all_met([common, opposite(without_work), opposite(group.employed_inside_before)])
        second = _add(nothing, group.count, second_dollars, met)
        firsts, seconds = ((a[0] + b[0], a[1] + b[1]) for a, b in ((firsts, first), (seconds, second)))
        # Who may be one or the other is not both.
        low += first[0] + second[0]
        most = (most or _NOTHING) + max(first[1], second[1])
    # Where nobody says who was hired, nothing bounds it, unless none of them counts.
    open_end = credit.employees is None and all_met([place, grown, allowed]) is not False
    for name, total, figure in (
        ("unemployed_employees", firsts, "zone_unemployed_credit"),
        ("other_employees", seconds, "zone_other_credit"),
    ):
        book.amount(name, total[0], None if open_end else total[1], book.rule_of(figure))
    most = None if open_end else most
    book.amount("employee_credit", low, most, "A1178 section 12a and b")
    book.notes.append("The employee credit is allowed in the tax year after the hiring (section 12d).")
    carried = credit.carried_employee
    _used(
        book,
        "employee",
        (low + (carried or _NOTHING), None if most is None or carried is None else most + carried),
        credit,
    )
    return low, most


def _without_work(group: EmployeeGroup, days: Decimal) -> Tri:
    """Return whether employees were unemployed long enough, or dependent on public assistance."""
    return any_met([_reaches(group.unemployed_days, days), group.public_assistance])


def _zone_investment(credit: ZoneCredit, book: AnswerBook, place: Tri, employees: Bounds) -> None:
    rule = book.rule_of("zone_investment_percent")
    none: Tri = True if employees[1] == 0 else False if employees[0] > 0 else None
    none = book.told("no_employee_credit", "No employee credit bars the investment credit", none, rule)
    carried: Tri = None if credit.carried_employee is None else credit.carried_employee == 0
    # Carried or earned, never beside an employee credit in one year.
    beside = all_met([none, carried])
    due = all_met([place, beside, credit.investment_criteria])
    percent = book.number("zone_investment_percent")
    amount = None if credit.investment is None else share_of(credit.investment, percent)
    found = book.due("investment_credit", amount, rule, if_met=due)
    low, high = found.low, found.high
    kept = credit.carried_investment
    if beside:
        low += kept or _NOTHING
    if beside is not False:
        high = None if high is None or kept is None else high + kept
    _used(book, "investment", (low, high), credit)


def _used(book: AnswerBook, name: str, due: Bounds, credit: ZoneCredit) -> None:
    """Add what of a zone credit the year's tax takes, and what is carried to the next year."""
    if credit.tax_due is None:
        return
    room = share_of(credit.tax_due, book.number("zone_tax_percent"))
    rule = book.rule_of("zone_tax_percent")
    low, high = due
    book.amount(f"{name}_used", min(low, room), room if high is None else min(high, room), rule)
    left = None if high is None else max(high - room, _NOTHING)
    book.amount(f"{name}_carried", max(low - room, _NOTHING), left, rule)


# -- recovery act -------------------------------------------------------------------------------------


def _recovery_employment(credit: RecoveryEmployment, book: AnswerBook) -> None:
    rule = "A1178 section 9a (C.52:27BBB-55)"
    book.test(
        "municipality", "In a qualified municipality", outcome_of(credit.areas, "mrera_qualified_municipality"), rule
    )
    book.test("no_zone_benefits", "No enterprise zone benefits", opposite(credit.zone_benefits), rule)
    months = book.number("recovery_period_months")
    had = credit.months_of_credit
    within = None if had is None else had <= months
    label = f"Within one period of {months:g} months"
    book.test("single_period", label, within, book.rule_of("recovery_period_months"))
    hours = book.number("full_time_month_hours")
    book.note_used("part_time_week_hours", "part_time_months")
    due, new = book.eligible, []
    for name, average, pooled, figure in (
        ("first_year", credit.first_year, credit.part_time_hours_first, "recovery_first_year"),
        ("second_year", credit.second_year, credit.part_time_hours_second, "recovery_second_year"),
    ):
        positions = _positions(credit, average, pooled, hours)
        if average is not None:
            book.amount(f"positions_{name}", *positions, "A1178 section 9e (C.52:27BBB-55)")
        new.append(positions)
        dollars = book.number(figure)
        amount = cents(positions[0] * dollars), None if positions[1] is None else cents(positions[1] * dollars)
        book.due(f"credit_{name}", amount, rule, if_met=due)
    _recovery_use(credit, book, new, due)


def _positions(credit: RecoveryEmployment, average: Decimal | None, pooled: Decimal | None, hours: Decimal) -> Bounds:
    """Return the fewest and the most new positions of a credit year, part-time hours pooled to full-time ones."""
    before, hours_before = credit.before, credit.part_time_hours_before
    low, high = _NOTHING, None
    if average is not None and before is not None and hours_before is not None:
        # Divided once: a difference of quotients would leave a trace.
        low = max(((average - before) * hours + (pooled or _NOTHING) - hours_before) / hours, _NOTHING)
    if average is not None and pooled is not None:
        most = ((average - (before or _NOTHING)) * hours + pooled - (hours_before or _NOTHING)) / hours
        high = max(most, _NOTHING)
    return low, high


def _recovery_use(credit: RecoveryEmployment, book: AnswerBook, new: list[Bounds], due: Tri) -> None:
    """Add what is used of year one's credit, and what is refundable after year two; only where all is known."""
    rule = "A1178 section 9b and c (C.52:27BBB-55)"
    percent = book.number("recovery_tax_percent")
    other, least = credit.other_credits, credit.statutory_minimum
    taxes = credit.tax_due, credit.tax_due_second
    named = {"tax_due": taxes[0], "tax_due_second": taxes[1], "other_credits": other, "statutory_minimum": least}
    missing = [name for name, value in named.items() if value is None]
    if due is False:
        return
    if missing or not due or any(low != high for low, high in new):
        words = f": {', '.join(missing)} not stated" if missing else ""
        book.notes.append(f"What is used of the credit and what is refundable is not computed{words}.")
        return
    first, second = (low for low, _ in new)
    left = cents(first * book.number("recovery_first_year"))
    later = cents(second * book.number("recovery_second_year"))
    for number, (name, tax) in enumerate(zip(("used_first", "used_second"), taxes, strict=True)):
        due_tax, others, minimum = (value or _NOTHING for value in (tax, other, least))
        room = max(min(share_of(due_tax, percent) - others, due_tax - others - minimum), _NOTHING)
        taken = min(left, room)
        left -= taken
        used = taken + (min(later, room - taken) if number else _NOTHING)
        book.amount(name, used, used, rule)
    ratio = min(second / first, Decimal(1)) if first else _NOTHING
    book.amount("sustained_effort_ratio", ratio, ratio, "A1178 section 9e (C.52:27BBB-55)")
    refund = cents(left * min(second, first) / first) if first else _NOTHING
    book.amount("refundable", refund, refund, rule)
    book.amount("carried_on", left - refund, left - refund, rule)


def _rebate(credit: RecoveryRebate, book: AnswerBook) -> None:
    rule = "A1178 section 8 (C.52:27BBB-54)"
    book.test(
        "municipality", "In a qualified municipality", outcome_of(credit.areas, "mrera_qualified_municipality"), rule
    )
    since = credit.years_since_first
    years = None if since is None else since <= book.number("recovery_payment_years")
    book.test("payment_years", "Within the years of payments", years, book.rule_of("recovery_payment_years"))
    asked = credit.years_since_deposit
    applied = None if asked is None else asked <= book.number("rebate_apply_years")
    book.test("applied", "Applied in time after the deposit", applied, book.rule_of("rebate_apply_years"))
    for kind, name, label, value, figure in (
        (
            "personal_property", "recovery_period", "Recovery period left on personal property", credit.recovery_years,
            "recovery_period_years",
        ),
        (
            "new_facility", "idle", "A new facility was out of use long enough", credit.idle_days, "recovery_idle_days",
        ),
        (
            "leased", "lease", "A lease is long enough to count as a purchase", credit.lease_years,
            "recovery_lease_years",
        ),
    ):  # fmt: skip
        # Each is asked of property of its kind; whoever states the number states the kind.
        if value is not None or credit.property_kinds is None or kind in credit.property_kinds:
            book.at_least(name, label, value, figure)
    joined = credit.bought_from_control_percent
    apart = None if joined is None else joined < book.number("recovery_control_percent")
    label = "Buyer and seller are of no one controlled group"
    book.test("apart", label, apart, book.rule_of("recovery_control_percent"))
    due = book.eligible
    payment = None
    if credit.tax is not None and credit.property_there is not None and credit.property_in_state is not None:
        # Multiplied first, divided once: a quotient without an end in decimals would lose a cent.
        whole = credit.tax * credit.property_there * book.number("recovery_share_percent")
        payment = cents(whole / (credit.property_in_state * _HUNDRED))
    found = book.due("incentive_payment", payment, book.rule_of("recovery_share_percent"), if_met=due)
    normal, greater = book.number("rebate_percent"), book.number("rebate_percent_greater")
    most = greater if credit.greater_contribution else normal if credit.greater_contribution is False else greater
    high = None if found.high is None else share_of(found.high, most)
    if credit.property_cost is not None:
        room = max(credit.property_cost - (credit.rebated_before or _NOTHING), _NOTHING)
        high = room if high is None else min(high, room)
    book.amount("rebate", Decimal(0), high, book.rule_of("rebate_percent"))
    book.notes.append("The rebate is up to this amount, as the Authority decides and money is appropriated.")


# -- retention and relocation -------------------------------------------------------------------------


def _relocation(credit: RelocationGrant, book: AnswerBook) -> None:
    years = book.number("relocation_operating_years")
    label = f"{years:g} years of continuous operation in the State"
    book.at_least("operating", label, credit.operating_years, "relocation_operating_years")
    book.at_least("jobs", "Enough retained jobs (by the statement only)", credit.retained_jobs, "relocation_least_jobs")
    after, term = book.number("relocation_commitment_years"), credit.term_years
    commitment = after + (term or 1), None if term is None else after + term
    book.amount("commitment_years", *commitment, book.rule_of("relocation_commitment_years"))
    _relocation_lease(credit, book, commitment)
    due, jobs = book.eligible, credit.retained_jobs
    yearly = None if jobs is None else jobs * book.number("relocation_yearly")
    left = book.left_of("relocation_program_year", credit.program_so_far)
    first = lesser((yearly or _NOTHING, yearly), left)
    book.due("yearly_credit", first, book.rule_of("relocation_yearly"), if_met=due)
    total: Bounds = (_NOTHING, None)
    if yearly is not None and first[1] is not None:
        total = first[0] + yearly * ((term or 1) - 1), None if term is None else first[1] + yearly * (term - 1)
        book.notes.append("What was granted before is that of the first year; of later years nothing is known.")
    book.due("credit", total, book.rule_of("relocation_yearly"), if_met=due)
    if jobs is not None:
        _relocation_class(jobs, book)
    _relocation_bonuses(credit, book, total, due)
    if credit.transferred is not None or credit.transfer_price is not None:
        enough: Tri = None
        if credit.transferred is not None and credit.transfer_price is not None:
            percent = book.number("relocation_transfer_percent")
            enough = credit.transfer_price * _HUNDRED >= credit.transferred * percent
        label = "The credit is surrendered for enough"
        book.told("transfer_price", label, enough, book.rule_of("relocation_transfer_percent"))
    label = "All credits of the year stay within the limit"
    granted = (yearly or _NOTHING, yearly)
    book.within("within_program_year", label, granted, credit.program_so_far, "relocation_program_year")


def _relocation_lease(credit: RelocationGrant, book: AnswerBook, commitment: Bounds) -> None:
    """Add the test of a lease; a location that is owned has none."""
    if credit.leased is False and credit.lease_years is None:
        return
    years, least = credit.lease_years, book.number("relocation_lease_years")
    enough: Tri = None
    if years is not None:
        low, high = commitment
        enough = False if years < max(low, least) else True if high is not None and years >= max(high, least) else None
    book.test("lease", "The lease is long enough", enough, book.rule_of("relocation_lease_years"))


def _relocation_class(jobs: int, book: AnswerBook) -> None:
    """Add what the statement says of a job's credit by size; between the classes that it names it says nothing."""
    rule = book.rule_of("relocation_largest_class")
    names = [f"relocation_{size}_class{part}" for size in ("smallest", "largest") for part in ("", "_jobs")]
    if not book.stands(*names):
        book.amount("per_job_by_statement", _NOTHING, None, rule)
        return
    low, small, high, large = (book.number(name) for name in names)
    book.amount("per_job_by_statement", high if jobs > large else low, low if jobs <= small else high, rule)


def _relocation_bonuses(credit: RelocationGrant, book: AnswerBook, total: Bounds, due: Tri) -> None:
    least, rule = book.known("relocation_center_jobs"), book.rule_of("relocation_center_percent")
    moved = None if least is None else _reaches(credit.jobs_moved, least)
    center = all_met([due, moved, outcome_of(credit.areas, "designated_urban_center")])
    label = "Moved enough jobs into a designated urban center"
    center = book.told("center_bonus_due", label, center, rule)
    percent = book.known("relocation_center_percent")
    bonus: Bounds = (_NOTHING, None)
    if percent is not None:
        bonus = share_of(total[0], percent), None if total[1] is None else share_of(total[1], percent)
    book.due("center_bonus", bonus, rule, if_met=center)
    enough: Tri = None
    share, spent = book.known("relocation_capital_percent"), credit.capital_investment
    if spent is not None and share is not None and credit.retained_jobs is not None:
        low, high = total
        met = high is not None and spent * _HUNDRED >= high * share
        enough = False if spent * _HUNDRED < low * share else True if met else None
    times = "what the rules ask of" if share is None else f"{share:g} percent of"
    label = f"Capital investment of {times} the credits (the bonus is not stated)"
    book.told("capital_bonus_due", label, enough, book.rule_of("relocation_capital_percent"))


# -- neighborhoods and development projects -----------------------------------------------------------


def _revitalization(credit: RevitalizationCredit, book: AnswerBook) -> None:
    rule = "A1178 section 10 (C.52:27D-492)"
    place = outcome_of(credit.areas, "neighborhood_revitalization_project")
    book.test("neighborhood", "In a neighborhood under an approved plan", place, rule)
    book.test("approved", "The assistance is approved", credit.approved, rule)
    book.test("paid", "Paid in the year of the certificate, or as scheduled", credit.paid_in_year, "A1178 section 10e")
    book.test(
        "no_other_credit", "No other credit for the same activity", opposite(credit.other_credit), "A1178 section 10d"
    )
    most = None if credit.assistance is None else share_of(credit.assistance, book.number("revitalization_percent"))
    limit = book.number("revitalization_year")
    high = min([limit, *(amount for amount in (most, credit.tax) if amount is not None)])
    # What is not stated may be less.
    low = _NOTHING if most is None or credit.tax is None else high
    left = book.left_of("revitalization_fiscal_year", credit.certified_so_far)
    some: Tri = True if left[0] else None if left[1] is None or left[1] else False
    rule_of_limit = book.rule_of("revitalization_fiscal_year")
    book.test("fiscal_year_open", "Something is left of the limit of the fiscal year", some, rule_of_limit)
    found = book.due("most", lesser((low, high), left), rule, if_met=book.eligible)
    book.amount("credit", _NOTHING, found.high, rule)
    label = "All credits of the fiscal year stay within the limit"
    asked: Bounds = (_NOTHING, _NOTHING) if book.eligible is False else (low if book.eligible else _NOTHING, high)
    book.within("within_fiscal_year", label, asked, credit.certified_so_far, "revitalization_fiscal_year")


def _development(credit: DevelopmentCredit, book: AnswerBook) -> None:
    rule = "A1178 section 35 (C.55:19-13)"
    book.test("project", "At a location within a project", outcome_of(credit.areas, "urban_development_project"), rule)
    book.test("business", "Neither retail- nor warehouse-oriented", opposite(credit.retail_or_warehouse), rule)
    within: Tri = None
    if credit.agreed is not None and credit.tax_year_ends is not None:
        within = credit.tax_year_ends <= years_later(credit.agreed, book.count("development_years"))
    label = f"Within {book.count('development_years')} years of the agreement"
    book.test("years", label, within, book.rule_of("development_years"))
    due, total = book.eligible, (_NOTHING, _NOTHING)
    for group in credit.employees or ():
        days = _reaches(group.unemployed_days, book.number("development_unemployed_days"))
        months = _reaches(group.months, book.number("development_months"))
        met = all_met([due, group.resident, any_met([days, group.public_assistance]), months])
        total = _add(total, group.count, book.number("development_credit"), met)
    most = None if credit.employees is None and due is not False else total[1]
    book.amount("credit", total[0], most, rule)
    book.notes.append("The credit is allowed in the next tax year, and may be continued into a second one.")


# -- section 40 ---------------------------------------------------------------------------------------


def _income_tax_limit(credit: IncomeTaxLimit, book: AnswerBook) -> None:
    """Add what section 40 lets be used: no activity twice, and no more than the tax on the business's income."""
    rule = "A1178 section 40"
    once = book.test(
        "used_once", "The activity was used for no other State credit", opposite(credit.used_elsewhere), rule
    )
    share = credit.owner_share_percent
    own = (_NOTHING, credit.credit) if share is None else (share_of(credit.credit, share),) * 2
    book.amount("passed_through", *own, rule)
    limit = _income_tax_room(credit, book)
    ways = []
    if credit.by_transfer is not False:
        ways.append(own)
        book.notes.append("The limit does not shrink what is sold by transfer certificate.")
    if not credit.by_transfer:
        ways.append((min(own[0], limit[0]), own[1] if limit[1] is None else min(own[1], limit[1])))
        book.notes.append("What is left is carried on as far as the credit allows it.")
    usable = min(low for low, _ in ways), max(high for _, high in ways)
    book.due("usable", usable, rule, if_met=once)
    if not credit.by_transfer:
        least = _NOTHING if credit.by_transfer is None or limit[1] is None else max(own[0] - limit[1], _NOTHING)
        book.due("carried_on", (least, max(own[1] - limit[0], _NOTHING)), rule, if_met=once)


def _income_tax_room(credit: IncomeTaxLimit, book: AnswerBook) -> Bounds:
    """Add the share of the tax on the credited business's income, and return it; unbounded where it is not stated."""
    rule = "A1178 section 40"
    tax, part, whole = credit.tax_before_credits, credit.business_income, credit.gross_income
    if tax is None or part is None or whole is None:
        return _NOTHING, tax
    net, gross = credit.category_net, credit.category_gross
    known = net is not None and gross is not None
    if net is not None and gross is not None:
        part, whole = part * net, whole * gross
    part = min(part, whole)
    ratio, limit = part / whole, cents(tax * part / whole)  # multiplied first: a quotient would lose a cent
    # Only the share of its category's income that is net counts, which is perhaps none of it.
    book.amount("ratio", ratio if known else _NOTHING, ratio, rule)
    book.amount("limit", limit if known else _NOTHING, limit, rule)
    return limit if known else _NOTHING, limit
