"""Ranges keep every amount that can be between their bounds, whatever is done with them."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grownj_geo.creditrange import INFINITY, Range, all_along, any_along, cents, each, money, unsaid

if TYPE_CHECKING:
    from collections.abc import Callable

AMOUNTS = st.decimals(0, 10**9, places=2)


@st.composite
def ranges(draw: st.DrawFn) -> tuple[Range, Decimal]:
    """Return a range of one amount, and an amount within it."""
    low = draw(AMOUNTS)
    inside = low + draw(AMOUNTS)
    high = draw(st.sampled_from([INFINITY, inside + draw(AMOUNTS)]))
    return Range.same(1, low, high), draw(st.sampled_from([low, inside] + ([high] if high.is_finite() else [])))


def holds(found: Range, value: Decimal) -> bool:
    return bool(found.low[0] <= value <= found.high[0])


@given(ranges(), ranges())
def test_sums_products_and_lesser_ones_hold_those_of_what_is_inside(
    one: tuple[Range, Decimal], other: tuple[Range, Decimal]
) -> None:
    (first, a), (second, b) = one, other
    assert holds(first + second, a + b)
    assert holds(first * second, a * b)
    assert holds(first.least(second), min(a, b))
    assert holds(first.hull(second), a)
    assert holds(first.hull(second), b)
    assert holds(first.part(1, 4), a / 4)


@given(ranges(), ranges(), st.sampled_from([-1, 0, 1]))
def test_a_choice_holds_what_is_chosen(one: tuple[Range, Decimal], other: tuple[Range, Decimal], outcome: int) -> None:
    (first, a), (second, b) = one, other
    found = Range.choose(np.array([outcome], dtype=np.int8), first, second)
    if outcome >= 0:
        assert holds(found, a)
    if outcome <= 0:
        assert holds(found, b)


@pytest.mark.parametrize(
    ("compare", "plain"),
    [(Range.at_least, lambda a, b: a >= b), (Range.more_than, lambda a, b: a > b)],
    ids=["at least", "more than"],
)
@given(one=ranges(), other=ranges())
def test_a_comparison_says_yes_or_no_only_where_it_is_so_of_all_that_is_inside(
    compare: Callable[[Range, Range], np.ndarray],
    plain: Callable[[Decimal, Decimal], bool],
    one: tuple[Range, Decimal],
    other: tuple[Range, Decimal],
) -> None:
    (first, a), (second, b) = one, other
    outcome = int(compare(first, second)[0])
    assert outcome == 0 or (outcome > 0) == plain(a, b)


@pytest.mark.parametrize(("value", "at_least", "more"), [("4.99", -1, -1), ("5", 1, -1), ("5.01", 1, 1)])
def test_on_the_line_at_least_is_met_and_more_than_is_not(value: str, at_least: int, more: int) -> None:
    one, five = Range.same(1, Decimal(value)), Range.same(1, 5)
    assert (int(one.at_least(five)[0]), int(one.more_than(five)[0])) == (at_least, more)


def test_nothing_times_the_unbounded_is_nothing() -> None:
    found = Range.same(2, 0, INFINITY) * Range.exact(np.array([Decimal(0), Decimal(3)], dtype=object))
    assert found.low.tolist() == [0, 0]
    assert found.high.tolist() == [0, INFINITY]


def test_buildings_are_summed_by_project() -> None:
    starts = np.array([0, 2])
    amounts = Range.exact(np.array([Decimal("0.10"), Decimal("0.20"), Decimal("0.30")], dtype=object))
    assert amounts.total(starts).low.tolist() == [Decimal("0.30"), Decimal("0.30")]
    outcomes = np.array([1, -1, 0], dtype=np.int8)
    assert any_along(outcomes, starts).tolist() == [1, 0]
    assert all_along(outcomes, starts).tolist() == [-1, 0]


def test_cents_are_cut_and_what_was_not_stated_is_seen() -> None:
    values = np.array([Decimal("1.999"), None], dtype=object)
    assert unsaid(values).tolist() == [False, True]
    assert each(cents, values[:1]).tolist() == [Decimal("1.99")]
    assert money(2, 7).tolist() == [Decimal(7), Decimal(7)]
