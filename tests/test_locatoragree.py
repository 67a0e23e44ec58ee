"""How far a found address agrees with the one asked for."""

from __future__ import annotations

import pytest

from grownj_geo.locator import AddressQuery, locator_facts
from grownj_geo.locatoragree import agreement

ASKED = AddressQuery(text="", street="12 N Main St", city="Camden", zip_code="08102")


@pytest.mark.parametrize(
    ("street", "city", "zip_code", "taken_off"),
    [
        ("12 NORTH MAIN STREET", "CAMDEN CITY", "08102-1234", []),
        ("12 N MAIN ST", None, None, []),
        ("N MAIN ST", "CAMDEN", "08102", ["number_missing"]),
        ("14 N MAIN ST", "CAMDEN", "08102", ["number_other"]),
        ("12A N MAIN ST", "CAMDEN", "08102", ["number_near"]),
        ("10-14 N MAIN ST", "CAMDEN", "08102", ["number_near"]),
        ("12 N MAINE ST", "CAMDEN", "08102", ["name_similar"]),
        ("12 N BROADWAY", "CAMDEN", "08102", ["name_other"]),
        ("12 N MAIN AVE", "CAMDEN", "08102", ["suffix_other"]),
        ("12 N MAIN", "CAMDEN", "08102", ["suffix_missing"]),
        ("12 S MAIN ST", "CAMDEN", "08102", ["direction_other"]),
        ("12 MAIN ST", "CAMDEN", "08102", ["direction_missing"]),
        ("12 N MAIN ST", "PENNSAUKEN", "08102", ["city_other"]),
        ("12 N MAIN ST", "CAMDEN", "08103", ["zip_other"]),
        ("12 N MAIN ST", "PENNSAUKEN", "08110", ["city_other", "zip_other"]),
        ("", "CAMDEN", "08102", ["number_missing", "name_other"]),
    ],
)
def test_each_difference_takes_something_off_and_is_said(
    street: str, city: str | None, zip_code: str | None, taken_off: list[str]
) -> None:
    found = agreement(ASKED, street=street, city=city, zip_code=zip_code)
    figures = locator_facts()["taken_off"]
    assert found.score == pytest.approx(max(0.0, 1 - sum(figures[kind] for kind in taken_off)))
    assert len(found.notes) == len(taken_off)


def test_what_was_not_asked_for_is_not_compared() -> None:
    asked = AddressQuery(text="12 Main St", street="12 Main St")
    assert agreement(asked, street="12 MAIN ST", city="CAMDEN", zip_code="08102").score == 1


def test_a_query_that_nobody_took_apart_is_compared_all_the_same() -> None:
    asked = AddressQuery(text="12 Main St, Camden")
    assert agreement(asked, street="12 MAIN ST", city="NEWARK", zip_code=None).notes == ("in NEWARK; asked for Camden",)


def test_a_wrong_number_or_street_is_below_every_other_difference() -> None:
    figures = dict(locator_facts()["taken_off"])
    worst = {figures.pop("number_other"), figures.pop("name_other")}
    assert min(worst) > max(figures.values())
