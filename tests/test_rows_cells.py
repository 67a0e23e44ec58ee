"""Cells as people and spreadsheets leave them."""

from __future__ import annotations

import datetime as dt

import pytest

from grownj_geo.rows_cells import is_day_like, is_total, read_day, read_tick, says_nothing, serial_day, ungrouped

DAY = dt.date(2016, 7, 14)


@pytest.mark.parametrize("cell", [None, "", "  ", float("nan"), "N/A", " na ", "-", "\u2014", "NULL", "TBD", "(blank)"])
def test_what_says_nothing(cell: object) -> None:
    assert says_nothing(cell)


@pytest.mark.parametrize("cell", [0, "0", False, "Nutley", "N", "none of these", "-1", "."])
def test_what_says_something(cell: object) -> None:
    assert not says_nothing(cell)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("585,000", "585000"),
        ("-1,234,567.25", "-1234567.25"),
        ("585 000,5", "585000.5"),
        ("585\u00a0000.5", "585000.5"),
        ("585'000", "585000"),
        ("1.234.567", "1234567"),
        ("1.234,5", "1234.5"),
        ("585000,5", "585000.5"),
        ("10.000", None),
        ("585000", None),
        ("10,5", None),
        ("1,23,456", None),
        ("585000,123", None),
        ("1 2", None),
        ("74 09 50.8", None),
    ],
)
def test_groups_of_digits(text: str, number: str | None) -> None:
    assert ungrouped(text) == number


@pytest.mark.parametrize(
    "text",
    [
        *("2016-07-14", "2016-07-14 00:00:00", "2016-07-14T00:00", "7/14/2016", "07/14/16 0:00"),
        *("7/14/2016 12:00:00 AM", "14-Jul-16", "14-Jul-2016", "14 July 2016", "July 14, 2016", "Jul. 14 2016"),
    ],
)
def test_days_of_many_looks(text: str) -> None:
    assert read_day(text) == DAY


@pytest.mark.parametrize("text", ["14/7/2016", "2016", "Q3 2016", "7/14", "2016-13-01", "14-Jux-16", "7/14/2016 13:00"])
def test_what_is_no_day(text: str) -> None:
    assert read_day(text) is None


def test_years_of_two_digits_are_taken_as_spreadsheets_take_them() -> None:
    assert [day.year for text in ("1/1/29", "1/1/30") if (day := read_day(text))] == [2029, 1930]


def test_days_as_numbers() -> None:
    assert serial_day(42565) == serial_day("42565") == serial_day(42565.0) == DAY
    assert serial_day(2016) is serial_day("0714") is serial_day("42565.5") is None


@pytest.mark.parametrize(
    "cell", [DAY, dt.time(1, 10), "14-Jul", "Jul-14", "1-Mar-10", "7/14/2016", "2016-07-14", "1:10"]
)
def test_lots_that_became_days(cell: object) -> None:
    assert is_day_like(cell)


@pytest.mark.parametrize("cell", ["1", "1.10", "7-14", "14-B", "C0101", 1.1, 7, None, "14-Jux"])
def test_lots_that_are_none(cell: object) -> None:
    assert not is_day_like(cell)


def test_totals_and_ticks() -> None:
    assert is_total(["TOTAL:", 1])
    assert is_total([None, " ", "Sub-Total"])
    assert not is_total(["Total Wine"])
    assert not is_total([1, "Total"])
    assert not is_total([])
    assert [read_tick(cell) for cell in ("X", "y", "0", 1.0, "2", None, "maybe")] == [
        *(True, True, False, True, None, None, None)
    ]
