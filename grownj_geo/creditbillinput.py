"""What a business says of itself for the other credits of bill A1178. What is left out is not known."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Field, model_validator

from grownj_geo.areas import BuildingAreas
from grownj_geo.creditparams import Trust
from grownj_geo.creditproject import Money, Number, Percent, Text, Whole
from grownj_geo.strict import Strict

__all__ = [
    "BILL_CREDITS",
    "BillCredit",
    "DevelopmentCredit",
    "EmployeeGroup",
    "IncomeTaxLimit",
    "RecoveryEmployment",
    "RecoveryRebate",
    "RelocationGrant",
    "RevitalizationCredit",
    "ZoneCredit",
]


class _Credit(Strict):
    name: Text = ""
    areas: BuildingAreas = BuildingAreas()
    trust: Trust = "known"


class EmployeeGroup(Strict):
    """New full-time, permanent employees who are alike.

    Attributes
    ----------
    resident
        Of the qualifying municipality; for a zone, of any qualifying municipality that has one.
    unemployed_days
        How long they were unemployed just before.
    employed_inside_before
        Whether they were employed inside the qualifying municipality just before.
    months
        Of continuous employment in the tax year.
    count
        Persons.
    public_assistance
        Whether they depended on public assistance.
    """

    count: Whole
    resident: bool | None = None
    unemployed_days: Whole | None = None
    public_assistance: bool | None = None
    employed_inside_before: bool | None = None
    months: Whole | None = None


class ZoneCredit(_Credit):
    """The employee and the investment credit of an enterprise zone (sections 11 and 12).

    Attributes
    ----------
    program
        What a file calls it.
    employees
        New employees at the location; an empty list for none.
    tax_due
        Tax of the year before the credits.
    retail_or_warehouse
        Whether the business at the location is retail- or warehouse-oriented.
    zone_employees, zone_employees_before
        Full-time, permanent employees in the zone in the calendar year; the most of any earlier year since designation.
    designated, first_taxable, tax_year_begins
        Days: of the zone's designation; when the taxpayer was first taxable within it; when the tax year begins.
    investment
        New investment in the zone under an approved agreement.
    investment_criteria
        Whether the criteria of section 27c are met, which the bill only cites.
    carried_employee, carried_investment
        Credits carried from an earlier year.
    """

    program: Literal["enterprise-zone"] = "enterprise-zone"
    retail_or_warehouse: bool | None = None
    employees: tuple[EmployeeGroup, ...] | None = None
    zone_employees: Whole | None = None
    zone_employees_before: Whole | None = None
    designated: date | None = None
    first_taxable: date | None = None
    tax_year_begins: date | None = None
    investment: Money | None = None
    investment_criteria: bool | None = None
    carried_employee: Money | None = None
    carried_investment: Money | None = None
    tax_due: Money | None = None


class RecoveryEmployment(_Credit):
    """The employment credit in a qualified municipality (section 9).

    Attributes
    ----------
    program
        What a file calls it.
    before, first_year, second_year
        Average full-time positions at the location: in the twelve months before, in credit year one and year two.
    part_time_hours_before, part_time_hours_first, part_time_hours_second
        Average monthly hours of part-time positions, which are pooled to full-time equivalents.
    tax_due, tax_due_second, other_credits, statutory_minimum
        Tax before credits of credit year one and year two; of a year other credits used, and the least tax of a
        corporation.
    zone_benefits
        Whether the business has benefits of an enterprise zone.
    months_of_credit
        Months of the single period so far.
    """

    program: Literal["recovery-employment"] = "recovery-employment"
    zone_benefits: bool | None = None
    before: Number | None = None
    first_year: Number | None = None
    second_year: Number | None = None
    part_time_hours_before: Number | None = None
    part_time_hours_first: Number | None = None
    part_time_hours_second: Number | None = None
    months_of_credit: Whole | None = None
    tax_due: Money | None = None
    tax_due_second: Money | None = None
    other_credits: Money | None = None
    statutory_minimum: Money | None = None


PropertyKind = Literal["personal_property", "new_facility", "leased"]


class RecoveryRebate(_Credit):
    """The rebate of tax in a qualified municipality (sections 7 and 8).

    Attributes
    ----------
    program
        What a file calls it.
    property_there, property_in_state
        Average value of new or expanded property in the municipality, and of all property in New Jersey.
    years_since_first
        Full years from the first acquisition to the period.
    years_since_deposit
        Full years from the deposit of the payment to the application; whole days past count as a year begun.
    greater_contribution
        Whether the Authority found a greater contribution to the recovery.
    bought_from_control_percent
        Share of votes that joins the buyer and the seller of the property.
    property_cost, rebated_before
        What is paid for the property, and what was rebated before.
    property_kinds
        Which of these the property is, an empty list for none: each has a condition of its own.
    recovery_years, idle_days, lease_years
        Of personal property, the recovery period that is left; of a new facility, the days out of use before title
        passed; of a lease, its years.
    tax
        Tax of the period before the rebate, dollars.
    """

    program: Literal["recovery-rebate"] = "recovery-rebate"
    tax: Money | None = None
    property_there: Money | None = None
    property_in_state: Annotated[Money, Field(gt=0)] | None = None
    years_since_first: Number | None = None
    years_since_deposit: Number | None = None
    greater_contribution: bool | None = None
    property_cost: Money | None = None
    rebated_before: Money | None = None
    property_kinds: tuple[PropertyKind, ...] | None = None
    recovery_years: Number | None = None
    idle_days: Whole | None = None
    lease_years: Number | None = None
    bought_from_control_percent: Percent | None = None

    @model_validator(mode="after")
    def _of_its_kinds(self) -> RecoveryRebate:
        numbers = {"personal_property": "recovery_years", "new_facility": "idle_days", "leased": "lease_years"}
        for kind, name in numbers.items():
            if getattr(self, name) is not None and self.property_kinds is not None and kind not in self.property_kinds:
                raise ValueError(
                    f"{name} is stated and property_kinds does not have {kind}; expected both or neither. Correct one "
                    "of them."
                )
        return self

    @model_validator(mode="after")
    def _property_is_a_part(self) -> RecoveryRebate:
        there, whole = self.property_there, self.property_in_state
        if there is not None and whole is not None and there > whole:
            raise ValueError(
                f"property_there is ${there:,.2f}, property_in_state ${whole:,.2f}; expected a part of the property in "
                "the State. Correct one of them."
            )
        return self


class RelocationGrant(_Credit):
    """The grant of credits for retention and relocation (sections 1 to 3).

    Attributes
    ----------
    program
        What a file calls it.
    operating_years
        Years of continuous operation in the State before the application.
    retained_jobs
        Full-time jobs that are retained.
    term_years
        Tax credit term.
    leased, lease_years
        Whether the new location is leased, and for how many years.
    jobs_moved
        Jobs moved into a designated urban center.
    capital_investment
        Dollars, compared with the credits.
    transferred, transfer_price
        Of a credit that is surrendered.
    program_so_far
        All credits of the year before this one.
    """

    program: Literal["relocation-grant"] = "relocation-grant"
    operating_years: Number | None = None
    retained_jobs: Whole | None = None
    term_years: Annotated[int, Field(ge=1, le=30)] | None = None
    leased: bool | None = None
    lease_years: Number | None = None
    jobs_moved: Whole | None = None
    capital_investment: Money | None = None
    transferred: Money | None = None
    transfer_price: Money | None = None
    program_so_far: Money | None = None

    @model_validator(mode="after")
    def _lease_of_what_is_leased(self) -> RelocationGrant:
        if self.leased is False and self.lease_years is not None:
            raise ValueError("lease_years is stated and leased is no; expected both or neither. Correct one of them.")
        return self


class RevitalizationCredit(_Credit):
    """The neighborhood revitalization credit (section 10).

    Attributes
    ----------
    program
        What a file calls it.
    assistance, approved
        Dollars given to a nonprofit for a project of the neighborhood's plan, and whether they are approved.
    paid_in_year
        Whether they are paid in the year of the certificate, or as it schedules.
    other_credit
        Whether another credit is had for the same activity.
    tax
        Tax of the year before the credit.
    certified_so_far
        All credits certified in the fiscal year before this one.
    """

    program: Literal["neighborhood-revitalization"] = "neighborhood-revitalization"
    assistance: Money | None = None
    approved: bool | None = None
    paid_in_year: bool | None = None
    other_credit: bool | None = None
    tax: Money | None = None
    certified_so_far: Money | None = None


class DevelopmentCredit(_Credit):
    """The employee credit of an Urban Development Corporation project (section 35).

    Attributes
    ----------
    program
        What a file calls it.
    retail_or_warehouse
        Whether the business at the location is retail- or warehouse-oriented.
    employees
        New employees at the location.
    agreed, tax_year_ends
        Days of the project agreement, and on which the tax year ends.
    """

    program: Literal["urban-development"] = "urban-development"
    retail_or_warehouse: bool | None = None
    employees: tuple[EmployeeGroup, ...] | None = None
    agreed: date | None = None
    tax_year_ends: date | None = None


class IncomeTaxLimit(_Credit):
    """What section 40 lets a taxpayer use of a credit against the gross income tax.

    Attributes
    ----------
    program
        What a file calls it.
    tax_before_credits
        Total tax of the year before credits.
    business_income, gross_income
        Income in respect of the credited business; gross income before exclusions and deductions.
    category_net, category_gross
        Net income of the category that the business income falls in, and all gross income of that category: their
        share of the business income counts.
    owner_share_percent
        Share of a partner or S corporation owner: the business itself has no credit then. 100 for who is no such owner.
    used_elsewhere
        Whether the activity was used for any other State credit.
    by_transfer
        Whether the credit is sold by transfer certificate, which the limit does not shrink.
    """

    program: Literal["income-tax-limit"] = "income-tax-limit"
    credit: Money
    tax_before_credits: Money | None = None
    business_income: Money | None = None
    gross_income: Annotated[Money, Field(gt=0)] | None = None
    category_net: Money | None = None
    category_gross: Annotated[Money, Field(gt=0)] | None = None
    owner_share_percent: Percent | None = None
    used_elsewhere: bool | None = None
    by_transfer: bool | None = None

    @model_validator(mode="after")
    def _net_is_a_part(self) -> IncomeTaxLimit:
        net, gross = self.category_net, self.category_gross
        if net is not None and gross is not None and net > gross:
            raise ValueError(
                f"category_net is ${net:,.2f}, category_gross ${gross:,.2f}; expected what is net of the gross income. "
                "Correct one of them."
            )
        return self


BillCredit = (
    ZoneCredit
    | RecoveryEmployment
    | RecoveryRebate
    | RelocationGrant
    | RevitalizationCredit
    | DevelopmentCredit
    | IncomeTaxLimit
)
BILL_CREDITS: dict[str, type[BillCredit]] = {
    model.model_fields["program"].default: model
    for model in (
        ZoneCredit,
        RecoveryEmployment,
        RecoveryRebate,
        RelocationGrant,
        RevitalizationCredit,
        DevelopmentCredit,
        IncomeTaxLimit,
    )
}
"""The models by what a file calls their program."""
