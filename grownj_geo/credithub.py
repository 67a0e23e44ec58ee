"""The Urban Transit Hub credit of bill A1178: who may have it, and how much."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from grownj_geo.creditanswer import AnswerBook, CreditAnswer, lesser, outcome_of, share_of
from grownj_geo.credithubyears import add_hub_years, days_of_effect, hub_parts, within_years
from grownj_geo.creditparams import Figures, load_credit_book
from grownj_geo.credittri import Tri, all_met, any_met, opposite

if TYPE_CHECKING:
    from grownj_geo.creditanswer import Bounds
    from grownj_geo.credithubinput import HubProject

__all__ = ["estimate_hub", "hub_represented"]

_HUNDRED = Decimal(100)
_NOTHING = Decimal(0)


def estimate_hub(project: HubProject) -> CreditAnswer:
    """Return what hub credit a business may have.

    Examples
    --------
    >>> from grownj_geo.areas import BuildingAreas
    >>> from grownj_geo.credithubinput import HubProject
    >>> hub = BuildingAreas(areas={"hub_of_the_act": "yes", "hub_eligible_municipality": "yes"})
    >>> found = estimate_hub(HubProject(
    ...     role="owner", areas=hub, facility_investment=60_000_000, net_leasable_sqft=100, leased_sqft=0,
    ...     monthly_employees=(250,), net_benefit_state=True, net_benefit_municipality=True, moves_jobs=False,
    ...     employment_incentive_grant=False, relocation_assistance=False, recovery_act_incentives=False,
    ...     investnj_grant=False, applied="2010-06-01", documented="2014-06-01", investment_made="2012-06-01",
    ...     approved_so_far=0, fiscal_year_so_far=0))
    >>> found.eligible, found.amounts["credit"].low, found.amounts["year_1"].low
    ('yes', Decimal('60000000.00'), Decimal('6000000.00'))
    """
    # The act as the bill shows it on the day on which it was introduced.
    day = load_credit_book("a1178").first_day
    book = AnswerBook("urban-transit-hub", Figures(load_credit_book("urban-transit-hub"), day, project.trust))
    _place(project, book)
    base = _investment(project, book)
    _employment(project, book)
    _conditions(project, book)
    _windows(project, book)
    percent, rule = book.number("credit_percent"), book.rule_of("credit_percent")
    credit = share_of(base[0], percent), None if base[1] is None else share_of(base[1], percent)
    label = "All credits of the program stay within its limit"
    kept = book.within("within_program_limit", label, credit, project.approved_so_far, "program_limit")
    left = book.left_of("program_limit", project.approved_so_far)
    some: Tri = True if left[0] else None if left[1] is None or left[1] else False
    book.test("program_open", "Something is left of the limit of the program", some, book.rule_of("program_limit"))
    if kept is False:
        book.notes.append("What is over the limit of the program cannot be approved.")
    credit = lesser(credit, left)
    due = book.eligible
    book.due("credit", credit, rule, if_met=due)
    add_hub_years(project, book, credit, due)
    count = book.count("credit_periods")
    part = hub_parts(credit[0], count)[0], None if credit[1] is None else hub_parts(credit[1], count)[0]
    label = "Credits of the fiscal year stay within its limit"
    book.within("within_fiscal_year_limit", label, part, project.fiscal_year_so_far, "fiscal_year_limit")
    if project.residential_investment is not None:
        _residential(project.residential_investment, book)
    if project.transferred is not None or project.transfer_price is not None:
        enough: Tri = None
        if project.transferred is not None and project.transfer_price is not None:
            enough = project.transfer_price * _HUNDRED >= project.transferred * book.number("transfer_percent")
        book.told("transfer_price", "The credit is sold for enough", enough, book.rule_of("transfer_percent"))
    return book.answer()


def _residential(investment: Decimal, book: AnswerBook) -> None:
    """Add what the bill's statement says of residential projects; its text has no number for them."""
    least, percent = book.known("residential_investment"), book.known("residential_percent")
    enough = book.told(
        "residential_investment", "A residential project's investment is enough",
        None if least is None else investment >= least, book.rule_of("residential_investment"),
    )  # fmt: skip
    most = None if percent is None else share_of(investment, percent)
    high = _NOTHING if enough is False else most
    book.amount("residential_credit", _NOTHING, high, book.rule_of("residential_percent"))
    book.notes.append("The residential figures stand in the bill's statement only.")


def _place(project: HubProject, book: AnswerBook) -> None:
    rule = "A1178 section 4 (C.34:1B-208)"
    book.test("hub", "In an urban transit hub", outcome_of(project.areas, "hub_of_the_act"), rule)
    book.test(
        "municipality", "In an eligible municipality", outcome_of(project.areas, "hub_eligible_municipality"), rule
    )


# -- investment ---------------------------------------------------------------------------------------


def hub_represented(
    owner: Decimal, tenant: Decimal, *, leased: Decimal, total: Decimal, least: Decimal
) -> tuple[Decimal, Decimal]:
    """Return the owner's investment with what the tenant fills up, and what the leased area represents.

    Parameters
    ----------
    owner, tenant
        What each invested, dollars.
    leased, total
        Net leasable area that the tenant leases, and that there is.
    least
        The owner's minimum: the tenant's investment fills it as far as needed, and the rest is the tenant's own.

    Examples
    --------
    >>> filled, represented = hub_represented(
    ...     Decimal(45_000_000), Decimal(8_000_000), leased=Decimal(30), total=Decimal(100), least=Decimal(50_000_000))
    >>> int(filled), int(represented)
    (50000000, 18000000)
    """
    fills = min(tenant, max(least - owner, Decimal(0)))
    filled = owner + fills
    return filled, filled * leased / total + (tenant - fills)


def _investment(project: HubProject, book: AnswerBook) -> Bounds:
    """Add the tests of the investment, and return what the credit is computed on."""
    if project.role == "mixed_use":
        part, whole = project.business_part_investment, project.project_investment
        book.at_least("business_part", "The business part's investment is enough", part, "leased_investment")
        label = "The mixed-use project's investment is enough"
        book.at_least("project_investment", label, whole, "mixed_use_investment")
        return part or _NOTHING, part
    owner, total, leased = project.facility_investment, project.net_leasable_sqft, project.leased_sqft
    share = None if total is None or leased is None else (leased, total)
    if project.role == "owner":
        book.at_least("owner_investment", "The owner's investment is enough", owner, "owner_investment")
        if owner is None or share is None:
            return _NOTHING, owner
        return (owner * (share[1] - share[0]) / share[1],) * 2
    return _of_tenant(project, share, book)


def _of_tenant(project: HubProject, share: tuple[Decimal, Decimal] | None, book: AnswerBook) -> Bounds:
    """Add the tests of a tenant's investment, and return what its leased area represents.

    The more owner and tenant invested the more it represents, and so the greater the part that is leased.
    """
    least = book.number("owner_investment")
    owner, tenant = project.facility_investment, project.tenant_investment
    low_share, high_share = share or (_NOTHING, Decimal(1)), share or (Decimal(1), Decimal(1))
    low_filled, low = hub_represented(
        owner or _NOTHING, tenant or _NOTHING, leased=low_share[0], total=low_share[1], least=least
    )
    filled: Bounds = (low_filled, low_filled)
    represented: Bounds = (low, None)
    if owner is None or tenant is None:
        filled = (low_filled, None)
    else:
        represented = (low, hub_represented(owner, tenant, leased=high_share[0], total=high_share[1], least=least)[1])
    for name, label, bounds, figure in (
        ("owner_investment", "The owner's investment is enough, filled up by the tenant's", filled, "owner_investment"),
        ("leased_investment", "The leased area represents enough", represented, "leased_investment"),
    ):
        needed = book.number(figure)
        met = True if bounds[0] >= needed else False if bounds[1] is not None and bounds[1] < needed else None
        book.test(name, label, met, book.rule_of(figure))
    return represented


def _employment(project: HubProject, book: AnswerBook) -> None:
    """Add the test of employment: the average of the months, with up to two other tenants for a tenant."""
    months = project.monthly_employees
    own = Decimal(sum(months)) / len(months) if months else None
    low, high = own or _NOTHING, own
    if project.role == "tenant":
        counted = book.count("other_tenants")
        others = project.other_tenants_employees
        added = sum(sorted(others or (), reverse=True)[:counted])
        low, high = low + added, None if others is None or high is None else high + added
    if own is not None:
        book.amount("employees", low, high, "A1178 section 5, 3a(5)")
    needed = book.number("employees")
    enough = True if low >= needed else False if high is not None and high < needed else None
    book.test("employees", "Full-time employees at the facility are enough", enough, book.rule_of("employees"))


# -- conditions ---------------------------------------------------------------------------------------


def _conditions(project: HubProject, book: AnswerBook) -> None:
    rule = "A1178 section 5, 3a(1)"
    both = all_met([project.net_benefit_state, project.net_benefit_municipality])
    book.test("net_benefit", "Net benefit to the State and to the municipality", both, rule)
    if project.moves_jobs is not False:
        locations, intended = project.consolidated_locations, project.intended_employees
        several = None if locations is None else locations >= book.number("consolidated_locations")
        enough = None if intended is None else intended >= book.number("certified_employees")
        counted = any_met([several, all_met([project.certified_at_risk, enough])])
        moved: Tri = True if counted else None if project.moves_jobs is None else counted
        book.test("moved_jobs", "Jobs moved within the State may be counted", moved, "A1178 section 5, 3a(8)")
    barred = {
        "employment_incentive_grant": "no employment incentive grant for the same capital and employees",
        "relocation_assistance": "no business retention and relocation assistance",
        "recovery_act_incentives": "no incentives under the recovery act",
        "investnj_grant": "no InvestNJ grant on the same basis",
    }
    for name, words in barred.items():
        book.test(name, words[:1].upper() + words[1:], opposite(getattr(project, name)), "A1178 section 5, 3a(4)")


def _windows(project: HubProject, book: AnswerBook) -> None:
    days = days_of_effect(book, "effective")
    apply, document = book.count("apply_years"), book.count("document_years")
    for name, label, day, years, rule in (
        ("applied", f"Applied within {apply} years", project.applied, apply, "A1178 section 5, 3b"),
        (
            "documented", f"Documentation submitted within {document} years", project.documented, document,
            "A1178 section 5, 3b",
        ),
        ("invested", f"Investment made within {document} years", project.investment_made, document, "A1178 section 4"),
    ):  # fmt: skip
        book.test(name, label, within_years(day, years, days), rule)
    if project.role == "mixed_use":
        act, made = days_of_effect(book, "mixed_use"), project.investment_made
        after: Tri = None
        if act is not None and made is not None:
            after = True if made > act[1] else False if made <= act[0] else None
        book.test("mixed_use_day", "Investment made after the act of 2011 took effect", after, "A1178 section 5, 3a(7)")
