"""The Urban Transit Hub credit of bill A1178: who may have it, how much, in which years, and when it is lost."""

from __future__ import annotations

from datetime import date
from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from grownj_geo.areas import BuildingAreas
from grownj_geo.creditanswer import AnswerBook, CreditAnswer
from grownj_geo.creditparams import Figures, Trust, load_credit_book
from grownj_geo.creditproject import Money, Number, Whole
from grownj_geo.credittri import Tri, all_met, any_met, opposite

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "HubPeriod",
    "HubProject",
    "estimate_hub",
    "hub_carried",
    "hub_kept",
    "hub_parts",
    "hub_represented",
    "hub_years_later",
]

_CENT = Decimal("0.01")
_HUNDRED = Decimal(100)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class HubPeriod(_Strict):
    """What became of the business in one tax period.

    Attributes
    ----------
    new_positions
        Full-time employees at the facility in positions that did not exist in the State before.
    statewide, at_facility, elsewhere
        Full-time employees in the State; at the facility; at the others, jobs moved within the State left out.
    restored
        Whether the Authority approved, for this period, that what was lacking is restored.
    approved
        Whether the documentation of the credit is approved.
    lease_payments
        What a tenant pays for the facility in the period: its credit is at most that, and open where it is not stated.
    tax
        Tax due in the period, against which the credit is used.
    """

    ends: date | None = None
    new_positions: Whole | None = None
    statewide: Whole | None = None
    at_facility: Whole | None = None
    elsewhere: Whole | None = None
    restored: bool = False
    approved: bool = True
    sold: bool = False
    subleased: bool = False
    lease_payments: Money | None = None
    tax: Money | None = None


class HubProject(_Strict):
    """A business that asks for the hub credit.

    Attributes
    ----------
    facility_investment
        Capital investment that the owner made or acquired in the facility.
    net_leasable_sqft, leased_sqft
        Of the facility; of it, what the tenant leases, or for an owner what is leased to tenants.
    tenant_investment
        What the tenant itself invested.
    business_part_investment, project_investment
        Of a mixed-use project: its business part, and the whole.
    monthly_employees
        Full-time employees at the facility, month by month; their average counts.
    other_tenants_employees
        Of other tenants; those of the two largest count.
    approved_so_far, fiscal_year_so_far
        All credits approved before this one; those against tax in the fiscal year.
    moves_jobs
        Whether jobs are moved from elsewhere in the State and counted as new in the net benefit.
    """

    program: Literal["urban-transit-hub"] = "urban-transit-hub"
    name: str = ""
    role: Literal["owner", "tenant", "mixed_use"]
    areas: BuildingAreas = BuildingAreas()
    facility_investment: Money | None = None
    net_leasable_sqft: Annotated[Number, Field(gt=0)] | None = None
    leased_sqft: Number | None = None
    tenant_investment: Money = Decimal(0)
    business_part_investment: Money | None = None
    project_investment: Money | None = None
    monthly_employees: Annotated[tuple[Whole, ...], Field(max_length=12)] = ()
    other_tenants_employees: tuple[Whole, ...] = ()
    net_benefit_state: bool | None = None
    net_benefit_municipality: bool | None = None
    moves_jobs: bool | None = None
    consolidated_locations: Whole | None = None
    certified_at_risk: bool | None = None
    intended_employees: Whole | None = None
    employment_incentive_grant: bool | None = None
    relocation_assistance: bool | None = None
    recovery_act_incentives: bool | None = None
    investnj_grant: bool | None = None
    applied: date | None = None
    documented: date | None = None
    investment_made: date | None = None
    moved_within_municipality: bool = False
    workforce_before: Whole | None = None
    elsewhere_before: Whole | None = None
    periods: Annotated[tuple[HubPeriod, ...], Field(max_length=40)] = ()
    approved_so_far: Money | None = None
    fiscal_year_so_far: Money | None = None
    residential_investment: Money | None = None
    transfer_price: Money | None = None
    transferred: Annotated[Money, Field(gt=0)] | None = None
    trust: Trust = "known"

    @model_validator(mode="after")
    def _leased_is_a_part(self) -> HubProject:
        total, leased = self.net_leasable_sqft, self.leased_sqft
        if total is not None and leased is not None and leased > total:
            raise ValueError(
                f"leased_sqft is {leased:,f}, net_leasable_sqft {total:,f}; expected a part of the net leasable area. "
                "Correct one of them."
            )
        return self


def estimate_hub(project: HubProject) -> CreditAnswer:
    """Return what hub credit a business may have.

    Examples
    --------
    >>> hub = BuildingAreas(areas={"hub_of_the_act": "yes", "hub_eligible_municipality": "yes"})
    >>> found = estimate_hub(HubProject(
    ...     role="owner", areas=hub, facility_investment=60_000_000, net_leasable_sqft=100, leased_sqft=0,
    ...     monthly_employees=(250,), net_benefit_state=True, net_benefit_municipality=True, moves_jobs=False,
    ...     employment_incentive_grant=False, relocation_assistance=False, recovery_act_incentives=False,
    ...     investnj_grant=False, applied="2010-06-01", documented="2014-06-01", investment_made="2012-06-01"))
    >>> found.eligible, found.amounts["credit"].low, found.amounts["year_1"].low
    ('yes', Decimal('60000000.00'), Decimal('6000000.00'))
    """
    book = AnswerBook(
        "urban-transit-hub", Figures(load_credit_book("urban-transit-hub"), date(2012, 1, 10), project.trust)
    )
    _place(project, book)
    base = _investment(project, book)
    _employment(project, book)
    _conditions(project, book)
    _windows(project, book)
    credit = None if base is None else (base * book.number("credit_percent") / _HUNDRED).quantize(_CENT, ROUND_DOWN)
    due = book.eligible
    book.due("credit", credit, book.rule_of("credit_percent"), if_met=due)
    if project.approved_so_far is not None and credit is not None:
        room = book.number("program_limit") - project.approved_so_far
        book.told(
            "within_program_limit",
            "All credits of the program stay within its limit",
            credit <= room,
            book.rule_of("program_limit"),
        )
    if credit is not None:
        _years(project, book, credit, due)
    if project.fiscal_year_so_far is not None and credit is not None:
        part = hub_parts(credit, book.count("credit_periods"))[0]
        within = project.fiscal_year_so_far + part <= book.number("fiscal_year_limit")
        book.told(
            "within_fiscal_year_limit",
            "Credits of the fiscal year stay within its limit",
            within,
            book.rule_of("fiscal_year_limit"),
        )
    if project.residential_investment is not None:
        _residential(project.residential_investment, book)
    if project.transferred is not None and project.transfer_price is not None:
        enough = project.transfer_price * _HUNDRED >= project.transferred * book.number("transfer_percent")
        book.told("transfer_price", "The credit is sold for enough", enough, book.rule_of("transfer_percent"))
    return book.answer()


def _residential(investment: Decimal, book: AnswerBook) -> None:
    """Add what the bill's statement says of residential projects; its text has no number for them."""
    enough = book.told(
        "residential_investment", "A residential project's investment is enough",
        investment >= book.number("residential_investment"), book.rule_of("residential_investment"),
    )  # fmt: skip
    most = (investment * book.number("residential_percent") / _HUNDRED).quantize(_CENT, rounding=ROUND_DOWN)
    book.amount("residential_credit", Decimal(0), most if enough else Decimal(0), book.rule_of("residential_percent"))
    book.notes.append("The residential figures stand in the bill's statement only.")


def _outcome(areas: BuildingAreas, name: str) -> Tri:
    return {"yes": True, "no": False}.get(areas[name].outcome)


def _place(project: HubProject, book: AnswerBook) -> None:
    rule = "A1178 section 4 (C.34:1B-208)"
    book.test("hub", "In an urban transit hub", _outcome(project.areas, "hub_of_the_act"), rule)
    book.test("municipality", "In an eligible municipality", _outcome(project.areas, "hub_eligible_municipality"), rule)


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


def _investment(project: HubProject, book: AnswerBook) -> Decimal | None:
    """Add the tests of the investment, and return what the credit is computed on."""
    if project.role == "mixed_use":
        part = project.business_part_investment
        book.at_least("business_part", "The business part's investment is enough", part, "leased_investment")
        book.at_least(
            "project_investment",
            "The mixed-use project's investment is enough",
            project.project_investment,
            "mixed_use_investment",
        )
        return part
    owner, total, leased = project.facility_investment, project.net_leasable_sqft, project.leased_sqft
    if project.role == "owner":
        book.at_least("owner_investment", "The owner's investment is enough", owner, "owner_investment")
        if owner is None or total is None or leased is None:
            return None
        return owner * (total - leased) / total
    least = book.number("owner_investment")
    if owner is None:
        book.at_least("owner_investment", "The owner's investment is enough", None, "owner_investment")
        book.at_least("leased_investment", "The leased area represents enough", None, "leased_investment")
        return None
    filled, represented = hub_represented(
        owner, project.tenant_investment, leased=leased or Decimal(0), total=total or Decimal(1), least=least
    )
    known = represented if total is not None and leased is not None else None
    book.at_least(
        "owner_investment", "The owner's investment is enough, filled up by the tenant's", filled, "owner_investment"
    )
    book.at_least("leased_investment", "The leased area represents enough", known, "leased_investment")
    return known


def _employment(project: HubProject, book: AnswerBook) -> None:
    """Add the test of employment: the average of the months, with up to two other tenants for a tenant."""
    months = project.monthly_employees
    own = Decimal(sum(months)) / len(months) if months else None
    if own is not None and project.role == "tenant":
        others = sorted(project.other_tenants_employees, reverse=True)[: book.count("other_tenants")]
        own += sum(others)
    if own is not None:
        book.amount("employees", own, own, "A1178 section 5, 3a(5)")
    book.at_least("employees", "Full-time employees at the facility are enough", own, "employees")


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


def hub_years_later(day: date, years: int) -> date:
    """Return the day so many years later; the 28th for a leap day that the year does not have.

    Examples
    --------
    >>> hub_years_later(date(2008, 2, 29), 5)
    datetime.date(2013, 2, 28)
    """
    try:
        return day.replace(year=day.year + years)
    except ValueError:
        return day.replace(year=day.year + years, day=28)


def _within(day: date | None, years: int, days: tuple[date, date]) -> Tri:
    """Return whether a day is within so many years from an act's effect, which is known between two days."""
    if day is None:
        return None
    first, last = (hub_years_later(start, years) for start in days)
    return True if day <= first else False if day > last else None


def _effect(book: AnswerBook, name: str) -> tuple[date, date]:
    return book.day(f"{name}_earliest"), book.day(f"{name}_latest")


def _windows(project: HubProject, book: AnswerBook) -> None:
    days = _effect(book, "effective")
    apply, document = book.count("apply_years"), book.count("document_years")
    for name, label, day, years, rule in (
        ("applied", "Applied within five years", project.applied, apply, "A1178 section 5, 3b"),
        (
            "documented",
            "Documentation submitted within eight years",
            project.documented,
            document,
            "A1178 section 5, 3b",
        ),
        ("invested", "Investment made within eight years", project.investment_made, document, "A1178 section 4"),
    ):
        book.test(name, label, _within(day, years, days), rule)
    if project.role == "mixed_use":
        first, last = _effect(book, "mixed_use")
        made = project.investment_made
        after: Tri = None if made is None else True if made > last else False if made <= first else None
        book.test("mixed_use_day", "Investment made after the act of 2011 took effect", after, "A1178 section 5, 3a(7)")


# -- years --------------------------------------------------------------------------------------------


def hub_parts(credit: Decimal, periods: int) -> list[Decimal]:
    """Return a credit in equal parts that sum to it exactly; odd cents go to the first ones.

    Examples
    --------
    >>> parts = hub_parts(Decimal("100.05"), 10)
    >>> parts[4], parts[5], sum(parts)
    (Decimal('10.01'), Decimal('10.00'), Decimal('100.05'))
    """
    each = (credit / periods).quantize(_CENT, rounding=ROUND_DOWN)
    odd = int((credit - each * periods) / _CENT)
    return [each + _CENT if number < odd else each for number in range(periods)]


def hub_kept(project: HubProject, book: AnswerBook, *, periods: int) -> list[tuple[Decimal, Decimal]]:
    """Return the least and the greatest share of each period's part that the business keeps (section 5, 3d).

    Forfeiture beats reduction, and both last until the Authority approves that what was lacking is restored. A sale or
    a sublease lasts for good.

    Parameters
    ----------
    periods
        For how many periods. Of those that are not stated, what held last holds on, or is restored: after a forfeiture
        they keep nothing to all, after a reduction the reduced part to all. Where nothing was lacking, they keep all.
    """
    reduced = 1 - book.number("reduction_percent") / _HUNDRED
    found: list[tuple[Decimal, Decimal]] = []
    lost = False
    forfeits_now: Tri = False
    reduces_now: Tri = False
    unapproved = False
    for period in project.periods:
        # A sale takes the seller's credit and leaves the tenants'; a sublease takes the tenant's own.
        lost = lost or (period.subleased if project.role == "tenant" else period.sold)
        forfeits, reduces = _forfeits(project, period, book), _reduces(project, period, book)
        # What held before holds on until it is approved as restored.
        forfeits_now = forfeits if period.restored else any_met([forfeits_now, forfeits])
        reduces_now = reduces if period.restored else any_met([reduces_now, reduces])
        late = _late(period, book)
        unapproved = not period.approved
        gone = any_met([lost, forfeits_now, late])
        low = Decimal(0) if gone is not False else reduced if reduces_now is not False else Decimal(1)
        high = Decimal(0) if gone else reduced if reduces_now else Decimal(1)
        found.append((low, high))
    may_lose = forfeits_now is not False or unapproved
    least = Decimal(0) if lost or may_lose else reduced if reduces_now is not False else Decimal(1)
    found += [(least, Decimal(0 if lost else 1))] * (periods - len(found))
    return found


def _forfeits(project: HubProject, period: HubPeriod, book: AnswerBook) -> Tri:
    fall = book.number("workforce_fall_percent")

    def fell(now: int | None, before: int | None) -> Tri:
        if now is None or before is None:
            return None
        return (before - now) * _HUNDRED > before * fall

    few = None if period.at_facility is None else period.at_facility < book.number("employees")
    return any_met(
        [fell(period.statewide, project.workforce_before), few, fell(period.elsewhere, project.elsewhere_before)]
    )


def _reduces(project: HubProject, period: HubPeriod, book: AnswerBook) -> Tri:
    if project.moved_within_municipality:
        if project.applied is None:
            return None
        if project.applied < book.day("moved_within_before"):
            return False
    return None if period.new_positions is None else period.new_positions < book.number("new_positions")


def _late(period: HubPeriod, book: AnswerBook) -> Tri:
    """Return whether a period's part is lost for ending after eight years while the credit was not approved."""
    if period.approved:
        return False
    return opposite(_within(period.ends, book.count("document_years"), _effect(book, "effective")))


def hub_carried(parts: Sequence[Decimal], taxes: Sequence[Decimal], *, carry: int) -> tuple[list[Decimal], Decimal]:
    """Return what is used in each period, the oldest first, and what expires unused.

    Parameters
    ----------
    parts
        What becomes available in each period.
    taxes
        Tax due in each period, those after the last part included.
    carry
        For how many periods what is unused is carried on.

    Examples
    --------
    >>> used, expired = hub_carried([Decimal(100)], [Decimal(0)] * 20 + [Decimal(70), Decimal(70)], carry=20)
    >>> used[20], used[21], expired
    (Decimal('70'), Decimal('0'), Decimal('30'))
    """
    left = list(parts)
    used = []
    for number, tax in enumerate(taxes):
        room = tax
        for begun in range(max(0, number - carry), min(number + 1, len(left))):
            amount = min(left[begun], room)
            left[begun] -= amount
            room -= amount
        used.append(tax - room)
    expired = sum((part for begun, part in enumerate(left) if begun + carry < len(taxes)), Decimal(0))
    return used, expired


def _years(project: HubProject, book: AnswerBook, credit: Decimal, due: Tri) -> None:
    """Add the credit of each period, what is used of it and what expires."""
    parts = hub_parts(credit, book.count("credit_periods"))
    kept = hub_kept(project, book, periods=len(parts))
    lows, highs, unpaid = [], [], []
    for number, part in enumerate(parts):
        low, high = ((part * share).quantize(_CENT, rounding=ROUND_DOWN) for share in kept[number])
        if project.role == "tenant":
            period = project.periods[number] if number < len(project.periods) else None
            rent = None if period is None else period.lease_payments
            if rent is None and high:
                unpaid.append(str(number + 1))
            low, high = min(low, rent or Decimal(0)), high if rent is None else min(high, rent)
        lows.append(low if due else Decimal(0))
        highs.append(high if due is not False else Decimal(0))
        book.amount(f"year_{number + 1}", lows[-1], highs[-1], "A1178 section 5, 3c(1) and 3d")
    book.amount("credit_kept", sum(lows, Decimal(0)), sum(highs, Decimal(0)), "A1178 section 5, 3c(1) and 3d")
    if unpaid and due is not False:
        label = f"The lease payments are stated (not for period {', '.join(unpaid)})"
        book.told("lease_payments", label, None, "A1178 section 5, 3c(1)")
        book.notes.append(
            "A tenant's credit of a period is at most its lease payments; where they are not stated, it may be nothing."
        )
    if 0 < len(project.periods) < len(parts):
        if min(kept[-1]) == 1:
            book.notes.append("For periods that are not stated it is taken that nothing is lost.")
        elif max(kept[-1]) == 0:
            book.notes.append("Nothing is paid for the periods after a sale or a sublease.")
        else:
            book.notes.append("Whether what was lacking is restored in the periods that are not stated is open.")
    taxes = [period.tax for period in project.periods if period.tax is not None]
    if taxes and len(taxes) == len(project.periods) and lows == highs:
        used, expired = hub_carried(highs, taxes, carry=book.count("carry_periods"))
        book.amount("used", sum(used, Decimal(0)), sum(used, Decimal(0)), "A1178 section 5, 3c(1)")
        book.amount("expired", expired, expired, "A1178 section 5, 3c(1)")
