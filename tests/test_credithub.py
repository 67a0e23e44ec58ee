"""The hub credit over the years, and what is open in it and in the other credits of the bill."""

from __future__ import annotations

import copy
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from credit_case_files import CreditCase, credit_cases
from hypothesis import given
from hypothesis import strategies as st

from grownj_geo.creditbill import estimate_bill
from grownj_geo.creditbillinput import BILL_CREDITS
from grownj_geo.credithub import estimate_hub, hub_represented
from grownj_geo.credithubinput import HubProject
from grownj_geo.credithubyears import hub_carried, hub_parts
from grownj_geo.creditprogram import estimate_program
from grownj_geo.creditproject import ProjectError

if TYPE_CHECKING:
    from grownj_geo.creditanswer import CreditAnswer

MONEY = st.decimals(0, 10**9, places=2)


@given(MONEY, st.integers(1, 20))
def test_parts_are_equal_to_a_cent_and_sum_exactly(credit: Decimal, periods: int) -> None:
    parts = hub_parts(credit, periods)
    assert len(parts) == periods
    assert sum(parts) == credit
    assert max(parts) - min(parts) <= Decimal("0.01")


@given(st.lists(MONEY, max_size=10), st.lists(MONEY, max_size=40), st.integers(0, 20))
def test_what_is_used_and_expires_is_never_more_than_there_was(
    parts: list[Decimal], taxes: list[Decimal], carry: int
) -> None:
    used, expired = hub_carried(parts, taxes, carry=carry)
    assert sum(used) + expired <= sum(parts)
    assert all(taken <= tax for taken, tax in zip(used, taxes, strict=True))
    if len(taxes) > len(parts) + carry:
        assert sum(used) + expired == sum(parts)


@pytest.mark.parametrize(("period", "used"), [(19, 70), (20, 70), (21, 0)])
def test_what_is_unused_can_be_used_in_the_twentieth_period_and_not_in_the_next(period: int, used: int) -> None:
    taxes = [Decimal(0)] * 30
    taxes[period] = Decimal(70)
    assert hub_carried([Decimal(100)], taxes, carry=20)[0][period] == used


@given(MONEY, MONEY, st.integers(0, 100))
def test_what_a_tenant_fills_up_is_not_counted_twice(owner: Decimal, tenant: Decimal, leased: int) -> None:
    least = Decimal(50_000_000)
    filled, represented = hub_represented(owner, tenant, leased=Decimal(leased), total=Decimal(100), least=least)
    assert filled <= owner + tenant
    assert filled == owner or filled <= least
    assert represented <= owner + tenant


# -- open things ----------------------------------------------------------------------------------------


def answer(raw: dict[str, Any]) -> CreditAnswer:
    if raw.get("program", "urban-transit-hub") == "urban-transit-hub":
        return estimate_hub(HubProject.model_validate(raw))
    return estimate_bill(BILL_CREDITS[raw["program"]].model_validate(raw))


def openings(raw: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the places of what can be left open: facts and areas."""
    found = [(name,) for name, value in raw.items() if isinstance(value, bool) and name not in _PLAIN]
    found += [("areas", "areas", name) for name in raw.get("areas", {}).get("areas", {})]
    for number, group in enumerate(raw.get("employees", [])):
        found += [("employees", str(number), name) for name, value in group.items() if isinstance(value, bool)]
    return found


# A location with a lease is leased.
_PLAIN = {"leased"}


def put(raw: dict[str, Any], place: tuple[str, ...], value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(raw)
    here: Any = changed
    for step in place[:-1]:
        here = here[int(step)] if isinstance(here, list) else here[step]
    here[place[-1]] = value
    return changed


@pytest.mark.parametrize("case", [*credit_cases("urban-transit-hub"), *credit_cases("a1178")], ids=str)
def test_an_open_fact_or_area_gives_what_covers_both_ways(case: CreditCase) -> None:
    for place in openings(case.raw):
        area = place[0] == "areas"
        whole = answer(put(case.raw, place, "undetermined" if area else None))
        for value in (True, False):
            one = answer(put(case.raw, place, ("yes" if value else "no") if area else value))
            assert whole.eligible in {one.eligible, "undetermined"}, place
            for name, test in whole.tests.items():
                # Some tests are asked only where something is so.
                if name in one.tests:
                    assert test.outcome in {one.tests[name].outcome, "undetermined"}, (place, name)
            for name, amount in whole.amounts.items():
                if name in one.amounts:
                    assert amount.low <= one.amounts[name].low, (place, name)
                    high = one.amounts[name].high
                    assert amount.high is None or (high is not None and high <= amount.high), (place, name)


def left_out(raw: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the places of what may be left out of a file."""
    model = (
        HubProject if raw.get("program", "urban-transit-hub") == "urban-transit-hub" else BILL_CREDITS[raw["program"]]
    )
    found: list[tuple[str, ...]] = [
        (name,) for name in raw if not model.model_fields[name].is_required() and name not in {"program", "trust"}
    ]
    for part in ("employees", "periods"):
        for number, entry in enumerate(raw.get(part) or []):
            found += [(part, str(number), name) for name in entry if name != "count"]
    return found


def without(raw: dict[str, Any], place: tuple[str, ...]) -> dict[str, Any]:
    changed = copy.deepcopy(raw)
    here: Any = changed
    for step in place[:-1]:
        here = here[int(step)] if isinstance(here, list) else here[step]
    del here[place[-1]]
    return changed


# Left out, these say something of their own: how far the periods are told, and what is asked besides.
ASKED = {"periods", "residential_investment", "transferred", "transfer_price", "areas", "property_kinds"}


@pytest.mark.parametrize("case", [*credit_cases("urban-transit-hub"), *credit_cases("a1178")], ids=str)
def test_what_is_left_out_gives_what_covers_all_that_could_be_stated(case: CreditCase) -> None:
    one = answer(case.raw)
    for place in left_out(case.raw):
        if place[-1] in ASKED:
            continue
        whole = answer(without(case.raw, place))
        assert whole.eligible in {one.eligible, "undetermined"}, place
        for name, test in whole.tests.items():
            if name in one.tests:
                assert test.outcome in {one.tests[name].outcome, "undetermined"}, (place, name)
        for name, amount in whole.amounts.items():
            if name in one.amounts:
                assert amount.low <= one.amounts[name].low, (place, name)
                high = one.amounts[name].high
                assert amount.high is None or (high is not None and high <= amount.high), (place, name)


@pytest.mark.parametrize("case", [*credit_cases("urban-transit-hub"), *credit_cases("a1178")], ids=str)
def test_confirmed_figures_alone_give_what_covers_the_usual_ones(case: CreditCase) -> None:
    usual, confirmed = (answer({**case.raw, "trust": trust}) for trust in ("known", "confirmed"))
    weak = [figure.name for figure in confirmed.figures if not figure.taken]
    assert usual.eligible == confirmed.eligible or (weak and confirmed.eligible == "undetermined")
    for name, amount in confirmed.amounts.items():
        assert amount.low <= usual.amounts[name].low, name
        high = usual.amounts[name].high
        assert amount.high is None or (high is not None and high <= amount.high), name


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"program": "recovery-rebate", "idle_days": 9, "property_kinds": []}, "does not have new_facility"),
        ({"program": "relocation-grant", "lease_years": 9, "leased": False}, "leased is no"),
        (
            {"role": "owner", "periods": [{"elsewhere_each": [1, 2]}], "elsewhere_each_before": [1]},
            "elsewhere_each of period 1 has 2 facilities",
        ),
        ({"role": "owner", "periods": [{"ends": "2015-01-01"}, {}, {"ends": "2014-12-31"}]}, "period 3 ends on 2014"),
        ({"role": "owner", "periods": [{"ends": "2015-01-01"}, {"ends": "2015-01-01"}]}, "period 2 ends on 2015"),
        ({"program": "income-tax-limit", "credit": 1, "category_net": 2, "category_gross": 1}, "category_net is"),
    ],
)
def test_statements_that_contradict_each_other_are_refused(raw: dict[str, Any], words: str) -> None:
    with pytest.raises(ProjectError, match=words):
        estimate_program({"program": "urban-transit-hub", **raw})


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"role": "owner", "net_leasable_sqft": 100, "leased_sqft": "100.01"}, "leased_sqft is 100.01"),
        (
            {"program": "recovery-rebate", "property_there": "10.01", "property_in_state": 10},
            r"property_there is \$10.01, property_in_state \$10.00",
        ),
    ],
)
def test_a_part_that_is_more_than_its_whole_is_refused(raw: dict[str, Any], words: str) -> None:
    with pytest.raises(ProjectError, match=words) as caught:
        estimate_program({"program": "urban-transit-hub", **raw})
    assert "Correct one of them" in str(caught.value)
    whole = {name: 10 if name not in {"role", "program"} else value for name, value in raw.items()}
    estimate_program({"program": "urban-transit-hub", **whole})


def test_no_cent_is_lost_in_dividing() -> None:
    rebate = {
        "program": "recovery-rebate", "areas": {"mrera_qualified_municipality": "yes"}, "tax": 300,
        "property_there": 1, "property_in_state": 3, "years_since_first": 1, "years_since_deposit": 1,
        "property_kinds": [], "bought_from_control_percent": 0,
    }  # fmt: skip
    share = estimate_program(rebate).amounts["incentive_payment"]
    assert share.low == share.high
    assert (
        share.low == estimate_program({**rebate, "tax": 100, "property_in_state": 1}).amounts["incentive_payment"].low
    )
    limit = {
        "program": "income-tax-limit", "credit": 1_000, "tax_before_credits": 300, "business_income": 1,
        "gross_income": 3, "used_elsewhere": False, "category_net": 1, "category_gross": 1, "owner_share_percent": 100,
    }  # fmt: skip
    assert estimate_program(limit).amounts["limit"].low == 100


@pytest.mark.parametrize("case", [*credit_cases("urban-transit-hub"), *credit_cases("a1178")], ids=str)
def test_a_file_of_it_gives_the_same(case: CreditCase) -> None:
    raw = {"program": "urban-transit-hub", **case.raw}
    found = estimate_program(raw)
    assert found.model_copy(update={"settles": (), "name": ""}) == answer(case.raw)


def test_no_cent_is_lost_in_a_difference_of_hours() -> None:
    raw = {
        "program": "recovery-employment", "areas": {"mrera_qualified_municipality": "yes"}, "zone_benefits": False,
        "months_of_credit": 24, "before": 0, "first_year": 10, "second_year": 10, "part_time_hours_before": 100,
        "part_time_hours_first": 100, "part_time_hours_second": 100,
    }  # fmt: skip
    found = estimate_program(raw).amounts
    assert (found["positions_first_year"].low, found["credit_first_year"].low) == (10, 25_000)
    use = {"tax_due": 9_000, "tax_due_second": 0, "other_credits": 0, "statutory_minimum": 0}
    hours = {"part_time_hours_before": 0, "part_time_hours_first": 0, "part_time_hours_second": 0}
    third = estimate_program({**raw, **use, **hours, "first_year": 3, "second_year": 1}).amounts
    # 7,500 less 4,500 is 3,000, of which a third is refundable.
    assert (third["refundable"].low, third["carried_on"].low) == (1_000, 2_000)


def test_what_is_not_stated_and_decides_something_is_named() -> None:
    (case,) = [case for case in credit_cases("urban-transit-hub") if case.name.startswith("U01: the whole investment")]
    raw = {"program": "urban-transit-hub", "name": "Tower", **case.raw}
    whole = estimate_program(raw)
    assert (whole.name, whole.settles) == ("Tower", ())
    for name in ("net_benefit_municipality", "moves_jobs", "investnj_grant", "applied", "approved_so_far"):
        settles = estimate_program({key: value for key, value in raw.items() if key != name}).settles
        assert any(words.startswith(f"State {name}. It decides: ") for words in settles), name
    open_area = estimate_program(
        {**raw, "areas": {"hub_of_the_act": "undetermined", "hub_eligible_municipality": True}}
    )
    assert [words.partition(":")[0] for words in open_area.settles] == ["Urban transit hub of the hub act"]


def test_facilities_elsewhere_that_are_not_stated_one_by_one_are_named() -> None:
    (case,) = [case for case in credit_cases("urban-transit-hub") if case.name.startswith("U01: the whole investment")]
    period = {
        "statewide": 1000, "at_facility": 250, "elsewhere": 500, "new_positions": 200, "restored": False,
        "approved": True, "sold": False, "subleased": False,
    }  # fmt: skip
    more = {"workforce_before": 1000, "elsewhere_before": 500, "periods": [period]}
    found = estimate_program({"program": "urban-transit-hub", **case.raw, **more})
    assert found.amounts["year_1"].low == 0
    assert any(words.startswith("State periods.elsewhere_each and elsewhere_each_before.") for words in found.settles)
