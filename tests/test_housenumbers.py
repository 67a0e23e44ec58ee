"""A column that is only called a number has house numbers where streets without numbers stand beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grownj_geo.housenumbers import (
    BARE_NUMBERS,
    HOUSE_NUMBERS,
    NumberColumn,
    bare_number,
    counts_rows,
    number_column,
)

if TYPE_CHECKING:
    import random

COLUMNS = {"no": "No", "street": "Street", "lot": "Lot"}


@pytest.mark.parametrize(
    ("numbers", "streets", "found"),
    [
        (["12", "14-16"], ["Main St", "Main St"], "No"),
        ([12, 14.0, None], ["Main St", "12TH AVE", "Main St"], "No"),
        ([], [], "No"),
        (["1", "2", "3"], ["12 Main St", "14-16 Main St", "Main St"], None),
        (["1", "2"], ["12 Main St", "Main St"], None),
        (["A-1", "2"], ["Main St", "Main St"], None),
        (["=1+1", "2", "4"], ["Main St", "Main St", "Main St"], "No"),
    ],
)
def test_numbers_are_of_houses_or_of_rows(numbers: list[Any], streets: list[Any], found: str | None) -> None:
    assert bare_number(COLUMNS, "Street", ["Street", "Lot"], {"No": numbers, "Street": streets}) == found


@pytest.mark.parametrize(
    ("numbers", "counts"),
    [
        ([1], True),
        ([1, 2], True),
        (["1.0", "2", " 3 "], True),
        ([100], False),
        ([2, 3], False),
        ([5, 6, 7, 8], False),
        ([5, 6, 7, 8, 9], True),
        ([1, 2, 3, 1, 2, 3, 4], True),
        ([9, 8, 7, 6, 5], True),
        ([1, 3, 9, 40, 77], True),
        ([2, 3, 9, 40, 77], False),
        ([1, 3, 9, 9, 77], False),
        ([12, 14, 16, 18, 20, 22], False),
        ([12, 12, 12, 12, 12], False),
        ([520, 7, 12, 7, 33, 100], False),
        ([*range(1, 9), "A", *range(9, 19)], True),
        (["12A", "13", "14B", "15", "16"], False),
        ([], False),
        ([None, "", None], False),
    ],
)
def test_numbers_in_order_count_rows(numbers: list[Any], *, counts: bool) -> None:
    assert counts_rows(numbers) == counts


@given(st.integers(5, 300), st.integers(0, 50_000), st.randoms(use_true_random=False), st.floats(0, 0.3))
def test_a_count_is_one_in_any_order_and_with_rows_left_out(
    count: int, begin: int, chance: random.Random, left_out: float
) -> None:
    numbers = list(range(begin, begin + count))
    chance.shuffle(numbers)
    assert counts_rows(numbers)
    kept = numbers[: max(5, round(count * (1 - left_out)))]
    assert counts_rows(kept) or count < 8


def test_only_a_name_of_any_number_is_a_guess() -> None:
    for name in BARE_NUMBERS:
        found, said = number_column({name: name}, "Street", [], {name: [1, 2, 3]})
        assert (found, said) == ((name, None) if name == "hse" else (None, NumberColumn(name, counts=True)))


def test_a_column_that_says_something_else_is_left_alone() -> None:
    assert bare_number(COLUMNS, "Street", ["Street", "No"], {}) is None
    assert bare_number({"street": "Street"}, "Street", [], {}) is None


def test_names_are_of_one_kind() -> None:
    assert not set(BARE_NUMBERS) & set(HOUSE_NUMBERS)
