"""The shipped rulebook has the terms, figures and days of the regulation, and cites it everywhere."""

from __future__ import annotations

from datetime import date
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from grownj_geo.errors import RulebookError
from grownj_geo.rulebook import Rulebook, load_rulebook

if TYPE_CHECKING:
    from collections.abc import Iterator

# The terms of ../shared/model/areas.md, section by section.
SECTIONS = {
    2: ["southern_eight", "urban_aid", "sda_municipality", "garden_state_growth_zone", "growth_zone_city",
        "mrera_growth_zone", "tourism_district_growth_zone", "atlantic_city_tourism_district",
        "urban_transit_hub_municipality"],
    3: ["aviation_district"],
    4: ["port_district", "port_ground", "port_of_new_york_district", "south_jersey_port"],
    5: ["qualified_incentive_area", "qia_ground_apart", "highlands_preservation"],
    6: ["distressed_municipality", "local_finance_board_supervision", "serious_fiscal_distress"],
    7: ["major_rail_station_municipality"],
    8: ["deep_poverty_pocket"],
    9: ["priority_area", "priority_ground"],
    10: ["other_eligible_area"],
    12: ["transit_oriented_development", "transit_bonus"],
    13: ["highlands_receiving_area", "highlands_receiving_ground"],
    14: ["disaster_recovery_project"],
    15: ["qualified_incubator_facility"],
    16: ["tourism_destination_project", "existing_tourism_project_ground"],
    17: ["urban_transit_hub"],
    18: ["mega_1_area", "mega_2_area", "mega_3_area", "mega_4_area", "mega_5_area", "mega_project"],
    19: ["qualified_business_facility"],
    20: ["reduced_minimums"],
    21: ["port_district_with_container_terminal", "revitalization_index_2007"],
}  # fmt: skip
# Figures of section 1 of the same file.
FIGURES = {
    "tod_radius": 0.5,
    "tod_radius_growth_zone": 1,
    "port_terminal_radius": 15,
    "aviation_radius": 1,
    "poverty_level": 20,
    "rail_lines": 6,
    "vacant_sqft": 400_000,
    "vacant_months": 12,
    "incubator_sqft": 50_000,
    "incubator_share": 50,
    "retail_sqft": 150_000,
    "grocery_share": 50,
    "hub_radius": 0.5,
    "hub_radius_mrera": 1,
    "hub_land_share": 0.5,
    "freight_entrance_feet": 5280,
    "mega_capital": 20_000_000,
    "mega_capital_hub": 50_000_000,
    "mega_jobs": 250,
    "mega_jobs_alone": 1000,
    "mega_jobs_south": 150,
}


@cache
def _shipped() -> Rulebook:
    return load_rulebook("grow-nj")


def test_a_rulebook_that_does_not_ship() -> None:
    with pytest.raises(RulebookError, match="no shipped rulebook 'grow-ny'"):
        load_rulebook("grow-ny")


@pytest.mark.parametrize("section", SECTIONS)
def test_every_term_of_the_model_has_its_category(section: int) -> None:
    ids = {c.id for c in _shipped().categories}
    assert set(SECTIONS[section]) <= ids


@pytest.mark.parametrize("name", FIGURES)
def test_the_figures_of_the_regulation(name: str) -> None:
    value = _shipped().parameters[name].at(date(2017, 4, 17))
    assert value.value == FIGURES[name]
    assert value.status == "confirmed"


def test_the_eight_counties() -> None:
    eight = {"Atlantic", "Burlington", "Camden", "Cape May", "Cumberland", "Gloucester", "Ocean", "Salem"}
    assert set(_shipped().parameters["southern_eight_counties"].at(date(2017, 4, 17)).value) == eight  # type: ignore[arg-type]


def _citations(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "citation":
                yield place, inner
            yield from _citations(inner, f"{place}/{value.get('id', key)}")
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _citations(inner, place)


def test_every_citation_says_something() -> None:
    found = list(_citations(_shipped().model_dump(by_alias=True, exclude_none=True)))
    assert len(found) > 60
    assert [place for place, words in found if not str(words).strip()] == []
    laws = ("N.J.A.C. 19:31-18", "P.L.", "C.34:1B-20", "Compact of 1921", "A1178", "N.J.S.A.")
    assert [place for place, words in found if not any(law in str(words) for law in laws)] == []


def test_the_tiers_in_order() -> None:
    assert [(t.id, t.dollars, t.project) for t in _shipped().tiers] == [
        ("top", 5000, False),
        ("mega", 5000, True),
        ("distressed", 4000, False),
        ("priority", 3000, False),
        ("other", 500, False),
    ]


@pytest.mark.parametrize(
    ("day", "fits"),
    [("2013-09-17", False), ("2013-09-18", True), ("2017-04-17", True), ("2019-07-01", True), ("2019-07-02", False)],
)
def test_the_days_that_it_covers(day: str, fits: bool) -> None:  # noqa: FBT001
    if fits:
        _shipped().check_day(date.fromisoformat(day))
        assert sum(p.from_ <= date.fromisoformat(day) < p.until for p in _shipped().wording) == 1
    else:
        with pytest.raises(RulebookError, match="outside what the rulebook grow-nj covers"):
            _shipped().check_day(date.fromisoformat(day))


def test_a_category_that_is_none() -> None:
    with pytest.raises(RulebookError, match=r"no category 'port_distrct'.*port_district"):
        _shipped().category("port_distrct")
