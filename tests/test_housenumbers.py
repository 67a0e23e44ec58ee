"""A column that is only called a number has house numbers where streets without numbers stand beside it."""

from __future__ import annotations

from typing import Any

import pytest

from grownj_geo.housenumbers import BARE_NUMBERS, HOUSE_NUMBERS, bare_number

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


def test_a_column_that_says_something_else_is_left_alone() -> None:
    assert bare_number(COLUMNS, "Street", ["Street", "No"], {}) is None
    assert bare_number({"street": "Street"}, "Street", [], {}) is None


def test_names_are_of_one_kind() -> None:
    assert not set(BARE_NUMBERS) & set(HOUSE_NUMBERS)
