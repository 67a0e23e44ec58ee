"""Facts in the cells of a table, with what is told of how they were read."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from grownj_geo.errors import FactError
from grownj_geo.rows_facts import read_fact


@pytest.mark.parametrize(
    ("name", "cell", "value", "told"),
    [
        ("lfb_supervision", True, True, False),
        ("lfb_supervision", "yes", True, False),
        ("lfb_supervision", "x", True, True),
        ("lfb_supervision", 0, False, True),
        ("lfb_supervision", "unknown", None, True),
        ("retail_sqft", "10,000", 10_000.0, False),
        ("retail_sqft", "10 000", 10_000.0, True),
        ("retail_sqft", "1.000.000", 1_000_000.0, True),
        ("retail_sqft", "0.250", 0.25, False),
        ("retail_sqft", "12500.000", 12_500.0, False),
        ("retail_sqft", 10.0, 10.0, False),
        ("application_date", dt.datetime(2016, 7, 14), "2016-07-14", False),  # noqa: DTZ001 - sheets know no zones
        ("application_date", "2016-07-14", "2016-07-14", False),
        ("application_date", "07/04/2016", "2016-07-04", True),
        ("application_date", "TBD", None, True),
    ],
)
def test_what_is_understood(name: str, cell: Any, value: object, told: bool) -> None:  # noqa: FBT001
    found, note = read_fact(name, cell, column="A column")
    assert found == value
    assert type(found) is type(value)
    assert (note is not None) == told
    assert note is None or note.startswith("A column: ")


@pytest.mark.parametrize(
    ("name", "cell", "said"),
    [
        ("lfb_supervision", "maybe", "expected yes or no"),
        ("lfb_supervision", 2, "expected yes or no"),
        ("retail_sqft", "10.000", "may be 10 or 10,000"),
        ("retail_sqft", "$10,000", "Leave out the unit"),
        ("retail_sqft", "10,5", "expected a number"),
        ("retail_sqft", "-5", "at least 0"),
        ("application_date", "14/7/2016", "expected a date"),
        ("application_date", 42565, "As a spreadsheet counts days, 42565 is 2016-07-14"),
        ("application_date", "2016", "expected a date"),
    ],
)
def test_what_is_refused(name: str, cell: Any, said: str) -> None:
    with pytest.raises(FactError, match=said.replace("$", r"\$")):
        read_fact(name, cell, column="A column")
