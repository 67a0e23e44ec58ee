"""Which expenses are capital investment: by kind, day and share, known and open."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from grownj_geo.creditcapital import count_capital
from grownj_geo.creditdays import months_before
from grownj_geo.creditparams import Figures, load_credit_book
from grownj_geo.creditproject import CapitalItem

FIGURES = Figures(load_credit_book(), date(2017, 4, 17))
APPLIED = date(2016, 6, 1)


def capital(*items: dict[str, Any], rule: str = "plain", **more: Any) -> tuple[Decimal, list[str]]:
    parts = [CapitalItem.model_validate(item) for item in items]
    found = count_capital(parts, ["A"], applied=APPLIED, figures=FIGURES, **more)
    amounts = found.amounts[rule]  # type: ignore[index]
    assert amounts.low[0] == amounts.high[0]
    return amounts.low[0], found.notes[rule]  # type: ignore[index]


def test_after_fifty_meets_before_a_hundred() -> None:
    before = {"what": "construction", "amount": 100, "when": "before"}
    for after, total in (("49.99", "49.99"), ("50", "150"), ("50.01", "150.01")):
        found, notes = capital(before, {"what": "construction", "amount": after, "when": "after"})
        assert found == Decimal(total), after
        assert bool(notes) == (after == "49.99")


@pytest.mark.parametrize(
    ("day", "counts"), [("2014-05-31", False), ("2014-06-01", True), ("2014-06-02", True), ("2016-05-31", True)]
)
def test_investment_counts_from_twenty_four_months_before_the_application(day: str, *, counts: bool) -> None:
    later = {"what": "equipment", "amount": 100, "incurred": "2016-06-01"}
    found, _ = capital({"what": "equipment", "amount": 100, "incurred": day}, later)
    assert found == (200 if counts else 100)


@pytest.mark.parametrize(("soft", "counts"), [("19.99", "19.99"), ("20.00", "20.00"), ("20.01", "20.00"), ("80", "20")])
def test_soft_costs_are_at_most_a_fifth_of_the_whole(soft: str, counts: str) -> None:
    found, notes = capital({"what": "construction", "amount": 80}, {"what": "soft_costs", "amount": soft})
    assert found == 80 + Decimal(counts)
    assert bool(notes) == (Decimal(soft) > 20)


def test_soft_costs_that_are_cut_sum_to_the_cent() -> None:
    parts = [CapitalItem(what="construction", amount=Decimal(100), building="A")]
    parts += [CapitalItem(what="soft_costs", amount=Decimal("33.33"), building=name) for name in ("A", "B", "B")]
    found = count_capital(parts, ["A", "B"], applied=None, figures=FIGURES)
    assert sum(found.amounts["plain"].low) == Decimal(125)


@pytest.mark.parametrize("what", ["site_acquisition", "relocation", "professional_services"])
def test_the_wider_costs_count_in_a_growth_zone_only(what: str) -> None:
    assert capital({"what": what, "amount": 100})[0] == 0
    assert capital({"what": what, "amount": 100}, rule="zone")[0] == 100


def test_vehicles_never_count() -> None:
    for rule in ("plain", "zone"):
        found, notes = capital({"what": "vehicles", "amount": 100}, rule=rule)
        assert (found, len(notes)) == (0, 1)


def test_what_grants_paid_does_not_count() -> None:
    found, notes = capital({"what": "remediation", "amount": 100, "grants": "30.50"})
    assert found == Decimal("69.50")
    assert notes == ["$30.50 does not count: paid by grants."]
    assert capital({"what": "equipment", "amount": 100, "grants": 150})[0] == 0


@pytest.mark.parametrize(
    ("day", "months", "earlier"),
    [("2016-02-29", 24, "2014-02-28"), ("2016-03-31", 1, "2016-02-29"), ("2016-01-15", 1, "2015-12-15")],
)
def test_months_are_counted_back_by_the_calendar(day: str, months: int, earlier: str) -> None:
    assert months_before(date.fromisoformat(day), months) == date.fromisoformat(earlier)
