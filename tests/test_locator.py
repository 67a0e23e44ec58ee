"""Queries, matches and their comparison."""

from __future__ import annotations

import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grownj_geo.locator import (
    KINDS,
    AddressQuery,
    LocatorError,
    Match,
    apart_ft,
    best_first,
    leading,
    locator_facts,
    uncertainty_ft,
)


def match(**more: object) -> Match:
    usual = {"locator": "census", "matched": "1 A ST", "score": 1.0, "kind": "range", "x_ft": 5e5, "y_ft": 5e5}
    return Match(**{**usual, "uncertainty_ft": 1381.0, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "street", "city", "zip_code", "line"),
    [
        ("12 Main St, Camden, NJ 08102", "12 Main St", "Camden", "08102", "12 Main St, Camden, NJ 08102"),
        ("12 Main St,Camden,New Jersey", "12 Main St", "Camden", None, "12 Main St, Camden, NJ"),
        ("12 Main St, Camden 08102-1234, USA", "12 Main St", "Camden", "08102", "12 Main St, Camden, NJ 08102"),
        ("12 Main St", "12 Main St", None, None, "12 Main St, NJ"),
        ("12\u00a0Main\tSt\n, Camden", "12 Main St", "Camden", None, "12 Main St, Camden, NJ"),
        ("12 Main St, Suite 4, Camden, N.J.", "12 Main St", "Camden", None, "12 Main St, Camden, NJ"),
        ("10000", "10000", None, None, "10000, NJ"),
    ],
)
def test_an_address_is_taken_apart_at_its_commas(
    text: str, street: str, city: str | None, zip_code: str | None, line: str
) -> None:
    found = AddressQuery.from_text(text)
    assert (found.street, found.city, found.zip_code, found.line) == (street, city, zip_code, line)
    assert found.text == text


def test_what_is_sent_has_no_unit_once_the_street_is_known() -> None:
    assert "Apt" not in AddressQuery(text="12 Main St Apt 3B, Camden", street="12 Main St", city="Camden").line


@given(st.text(max_size=300))
def test_any_text_is_taken_apart_without_an_error_and_onto_one_line(text: str) -> None:
    line = AddressQuery.from_text(text).line
    assert line == " ".join(line.split())


def test_a_failure_crosses_processes_with_all_that_it_says() -> None:
    error = pickle.loads(pickle.dumps(LocatorError("nj", "rate_limited", "Wait.", retry_after_s=12.0)))  # noqa: S301 - our own
    assert (error.locator, error.kind, str(error), error.retry_after_s) == ("nj", "rate_limited", "Wait.", 12.0)


@pytest.mark.parametrize(
    "wrong", [{"score": 1.01}, {"score": math.nan}, {"x_ft": math.inf}, {"uncertainty_ft": -1.0}, {"y_ft": math.nan}]
)
def test_what_is_no_place_is_no_match(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="expected"):
        match(**wrong)


def test_kinds_are_less_certain_one_after_the_other() -> None:
    known = [uncertainty_ft(kind) for kind in KINDS]
    assert known == sorted(known)


def test_a_street_is_as_uncertain_as_it_is_long_but_not_less_than_the_study_found() -> None:
    base = uncertainty_ft("street")
    assert uncertainty_ft("street", half_extent_ft=10.0) == base
    assert uncertainty_ft("street", half_extent_ft=base + 1) == base + 1
    # A box says nothing of an address.
    assert uncertainty_ft("range", half_extent_ft=1e6) == uncertainty_ft("range")


def test_every_figure_has_a_source_and_a_status() -> None:
    facts = locator_facts()
    for known in facts["kinds"].values():
        assert known["metres"] > 0
        assert known["source"]
        assert known["status"] in {"confirmed", "derived", "secondary", "provisional", "unverified"}
    assert all(service["url"].startswith("https://") and service["status"] for service in facts["services"].values())


def test_equally_good_matches_lead_together_at_the_margin_and_not_beyond() -> None:
    margin = locator_facts()["tie_margin"]
    best, at, beyond = match(), match(score=1 - margin, x_ft=4e5), match(score=1 - margin - 0.001, x_ft=3e5)
    assert leading([beyond, at, best]) == (best, at)
    assert leading([]) == ()


def test_the_order_of_matches_does_not_depend_on_the_order_they_came_in() -> None:
    ones = [match(kind=kind, x_ft=x) for kind in KINDS for x in (4e5, 5e5)]
    assert best_first(ones) == best_first(ones[::-1])
    assert best_first(ones)[0].kind == "rooftop"


def test_matches_are_apart_as_the_ground_is() -> None:
    # One thousand US survey feet on the projection, near its middle where it shrinks by 1 in 10,000.
    assert apart_ft(match(), match(y_ft=5e5 + 1_000)) == pytest.approx(1_000.1, abs=0.2)
