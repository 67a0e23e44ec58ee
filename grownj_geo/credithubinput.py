"""What a business says of itself for the Urban Transit Hub credit of bill A1178. What is left out is not known."""

from __future__ import annotations

import itertools
from datetime import date
from typing import Annotated, Literal

from pydantic import Field, model_validator

from grownj_geo.areas import BuildingAreas
from grownj_geo.creditparams import Trust
from grownj_geo.creditproject import Money, Number, Text, Whole
from grownj_geo.strict import Strict

__all__ = ["HubPeriod", "HubProject"]


class HubPeriod(Strict):
    """What became of the business in one tax period.

    Attributes
    ----------
    ends
        Last day of the period.
    new_positions
        Full-time employees at the facility in positions that did not exist in the State before.
    statewide, at_facility, elsewhere
        Full-time employees in the State; at the facility; at all others together, jobs moved within the State left out.
    elsewhere_each
        The same for each other facility, one after the other; a fall at any of them counts.
    restored
        Whether the Authority approved, for this period, that what was lacking is restored.
    approved
        Whether the documentation of the credit is approved.
    sold, subleased
        Whether the facility was sold, or a tenant's part subleased, in whole or in part.
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
    elsewhere_each: tuple[Whole, ...] | None = None
    restored: bool | None = None
    approved: bool | None = None
    sold: bool | None = None
    subleased: bool | None = None
    lease_payments: Money | None = None
    tax: Money | None = None


class HubProject(Strict):
    """A business that asks for the hub credit.

    Attributes
    ----------
    program, name
        What a file calls the credit, and how the project is called.
    trust
        Which figures are taken as they stand.
    role, areas
        As what the business asks for it, and where the facility is.
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
    net_benefit_state, net_benefit_municipality
        Whether there is a net benefit to each.
    moves_jobs
        Whether jobs are moved from elsewhere in the State and counted as new in the net benefit.
    consolidated_locations, certified_at_risk, intended_employees
        What then lets them count: locations in other municipalities that are consolidated; or that they are certified
        to be at risk, and how many employees are intended at the facility.
    employment_incentive_grant, relocation_assistance, recovery_act_incentives, investnj_grant
        Whether the business has other help, each of which bars the credit.
    applied, documented, investment_made
        Days of the application and of the documentation, and the last day of the investment.
    moved_within_municipality
        Whether it moved to the hub from within the same municipality.
    workforce_before, elsewhere_before, elsewhere_each_before
        Employees in the State, and at its other facilities, in the last period before the approval.
    periods
        The tax periods so far, the first one first.
    residential_investment
        Of a residential project, of which only the bill's statement has figures.
    transfer_price, transferred
        Of a credit that is sold.
    """

    program: Literal["urban-transit-hub"] = "urban-transit-hub"
    name: Text = ""
    role: Literal["owner", "tenant", "mixed_use"]
    areas: BuildingAreas = BuildingAreas()
    facility_investment: Money | None = None
    net_leasable_sqft: Annotated[Number, Field(gt=0)] | None = None
    leased_sqft: Number | None = None
    tenant_investment: Money | None = None
    business_part_investment: Money | None = None
    project_investment: Money | None = None
    monthly_employees: Annotated[tuple[Whole, ...], Field(max_length=12)] = ()
    other_tenants_employees: tuple[Whole, ...] | None = None
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
    moved_within_municipality: bool | None = None
    workforce_before: Whole | None = None
    elsewhere_before: Whole | None = None
    elsewhere_each_before: tuple[Whole, ...] | None = None
    periods: Annotated[tuple[HubPeriod, ...], Field(max_length=40)] = ()
    approved_so_far: Money | None = None
    fiscal_year_so_far: Money | None = None
    residential_investment: Money | None = None
    transfer_price: Money | None = None
    transferred: Money | None = None
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

    @model_validator(mode="after")
    def _one_after_the_other(self) -> HubProject:
        ends = [(number, period.ends) for number, period in enumerate(self.periods, 1) if period.ends is not None]
        for (_, earlier), (number, later) in itertools.pairwise(ends):
            if later <= earlier:
                raise ValueError(
                    f"period {number} ends on {later}, not after {earlier}; expected the first period first. Put them "
                    "in order."
                )
        return self

    @model_validator(mode="after")
    def _each_facility_again(self) -> HubProject:
        for number, period in enumerate(self.periods, 1):
            each, before = period.elsewhere_each, self.elsewhere_each_before
            if each is not None and before is not None and len(each) != len(before):
                raise ValueError(
                    f"elsewhere_each of period {number} has {len(each)} facilities, elsewhere_each_before has "
                    f"{len(before)}; expected the same ones. Write 0 for one that is closed."
                )
        return self
