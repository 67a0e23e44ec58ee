"""Real awards: the area that a document states, or that a list of towns gives, against the determination.

`area_code_stated` is what a document says of the award; `area_category_from_municipality` is a list of towns
applied to it; `area_excluded_by_award` is arithmetic on the published totals, used where it is exact or strong.
"""

from __future__ import annotations

import csv
import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING

import pytest
from conftest import SHARED

from grownj_geo.atlas import Atlas
from grownj_geo.determine import Directory, Engine
from grownj_geo.pins import match_municipality
from grownj_geo.rulebook import load_rulebook
from grownj_geo.site import Site

if TYPE_CHECKING:
    from grownj_geo.determination import Determination, Finding
    from grownj_geo.site import FactValue

pytestmark = pytest.mark.shared

TABLE = SHARED / "cases" / "grow_nj_approvals.csv"
FOOT = 0.3048
PROGRAM = (date(2013, 9, 18), date(2019, 7, 1))
CATEGORIES = {
    "GSGZ": "garden_state_growth_zone",
    "UTHM": "urban_transit_hub_municipality",
    "Urban Transit Hub Municipality": "urban_transit_hub_municipality",
    "DISTRESSED": "distressed_municipality",
    "DISTRESSED(headline)": "distressed_municipality",
    "MEGA": "mega_project",
    "PRIORITY": "priority_area",
    "OTHER": "other_eligible_area",
}

# What a document says of a project besides its place.
FACTS: dict[str, dict[str, FactValue]] = {
    "GNJ-012": {"capital_investment": 76_000_000.0, "full_time_jobs": 3_612.0, "industry": "finance"}
}
# What may be open, and why.
OPEN = {
    ("GNJ-012", "mega_project"): (
        {"fact_missing", "location_unknown"},
        "finance is mega in a delineated hub only, and the release gives neither coordinates nor the delineation",
    ),
}
NEWPORT = (-74.034524, 40.727198)


@dataclass(frozen=True)
class Award:
    """One row of the table, with the days that its date may mean."""

    case_id: str
    municipality: str
    days: tuple[date, ...]
    stated: str
    from_town: str
    excluded: tuple[str, ...]
    figures_hold: bool
    lonlat: tuple[float, float] | None
    uncertainty_ft: float


def days_of(text: str) -> tuple[date, ...]:
    """Return the day; first and last of a month; first and last of the program where no date is given."""
    found = re.match(r"(\d{4})-(\d{2})(?:-(\d{2}))?", text)
    if found is None:
        return PROGRAM
    year, month, day = int(found[1]), int(found[2]), found[3]
    if day is not None:
        return (date(year, month, int(day)),)
    return date(year, month, 1), date(year, month, monthrange(year, month)[1])


def read_awards() -> list[Award]:
    if not TABLE.is_file():
        return []
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [
            Award(
                case_id=row["case_id"],
                municipality=f"{row['municipality']}, {row['county']}",
                days=days_of(row["decision_date"]),
                stated=row["area_code_stated"],
                from_town=row["area_category_from_municipality"],
                excluded=tuple(filter(None, row["area_excluded_by_award"].split(";"))),
                figures_hold=row["derived_quality"] in {"exact", "strong"},
                lonlat=(float(row["longitude"]), float(row["latitude"])) if row["latitude"] else None,
                uncertainty_ft=float(row["coord_uncertainty_m"] or 0) / FOOT,
            )
            for row in csv.DictReader(file)
        ]


AWARDS = read_awards()
STATED = [award for award in AWARDS if award.stated]
BY_TOWN = [award for award in AWARDS if award.from_town]
PLACED = [award for award in AWARDS if award.lonlat]
FIGURED = [award for award in AWARDS if award.excluded and award.figures_hold]


@lru_cache(maxsize=64)
def engine(day: date) -> Engine:
    return Engine(Atlas(as_of=day), load_rulebook())


def code_of(award: Award) -> str:
    return match_municipality(award.municipality, Directory(engine(PROGRAM[0]).atlas))[0]


@lru_cache(maxsize=256)
def determined(award: Award, day: date) -> Determination:
    """Return the determination of the award's municipality."""
    code = code_of(award)
    facts = FACTS.get(award.case_id, {})
    return engine(day).determine(
        Site(typed=award.municipality, located_by="name", mun_code=code, mun_basis="stated", facts=facts)
    )


def check(award: Award, found: Finding, *, text: str) -> None:
    """Fail on a contradiction, and on an open answer that is not named above with its causes."""
    where = f"{award.case_id}: {text} gives {found.id}; {found.why}"
    if (award.case_id, found.id) in OPEN:
        causes, _ = OPEN[award.case_id, found.id]
        assert found.outcome == "undetermined", where
        assert set(found.causes) <= causes, where
        assert found.leans != "no", where
    else:
        assert found.outcome == "yes", where


def by_id(award: Award) -> str:
    return award.case_id


@pytest.mark.parametrize("award", STATED, ids=by_id)
def test_the_area_that_a_document_states(award: Award) -> None:
    for day in award.days:
        check(award, determined(award, day)[CATEGORIES[award.stated]], text=f"{award.stated} on {day}")


@pytest.mark.parametrize("award", BY_TOWN, ids=by_id)
def test_the_area_that_the_list_of_towns_gives(award: Award) -> None:
    for day in award.days:
        check(award, determined(award, day)[CATEGORIES[award.from_town]], text=f"{award.from_town} on {day}")


@pytest.mark.parametrize("award", [a for a in PLACED if a.stated or a.from_town], ids=by_id)
def test_the_area_at_the_coordinates_of_an_award(award: Award) -> None:
    assert award.lonlat is not None
    place = Site.from_lonlat(*award.lonlat, uncertainty_ft=award.uncertainty_ft)
    for day in award.days:
        found = engine(day).determine(place)
        assert found.place.municipality is not None
        assert found.place.municipality.mun_code == code_of(award)
        for area in filter(None, (award.stated, award.from_town)):
            check(award, found[CATEGORIES[area]], text=f"{area} on {day}")


@pytest.mark.parametrize("award", PLACED, ids=by_id)
def test_the_coordinates_of_an_award_lie_in_its_municipality(award: Award) -> None:
    assert award.lonlat is not None
    place = Site.from_lonlat(*award.lonlat, uncertainty_ft=award.uncertainty_ft)
    found = engine(award.days[0]).determine(place).place
    assert found.municipality is not None
    assert found.municipality.mun_code == code_of(award)


@pytest.mark.parametrize("award", FIGURED, ids=by_id)
def test_no_area_is_found_that_the_figures_of_the_award_rule_out(award: Award) -> None:
    # A project may be mega by its figures; the place alone says neither.
    for day in award.days:
        for area in award.excluded:
            found = determined(award, day)[CATEGORIES[area]]
            assert found.outcome != "yes", f"{award.case_id}: {found.id} on {day}; {found.why}"


@pytest.mark.parametrize(("delineated", "expected"), [(True, "yes"), (False, "no")])
def test_the_mega_project_at_newport_hangs_on_its_delineation(delineated: bool, expected: str) -> None:  # noqa: FBT001
    # GNJ-012 gives "Washington Boulevard, Newport"; the station of that name stands within 1,000 ft of it.
    (award,) = (a for a in AWARDS if a.case_id == "GNJ-012")
    facts: dict[str, FactValue] = {
        **FACTS["GNJ-012"],
        "hub_delineated": delineated,
        "hub_added_limbs": False,
        "final_point_of_sale_retail": False,
        "university_research_hospital": False,
        "auto_headquarters": False,
        "drug_device_or_clinical_lab": False,
    }
    place = Site.from_lonlat(*NEWPORT, uncertainty_ft=1_000.0)
    asked = Site(**{**place.__dict__, "facts": facts, "mun_code": code_of(award), "mun_basis": "stated"})
    assert engine(award.days[0]).determine(asked)["mega_project"].outcome == expected


def test_no_award_with_an_area_is_shut_out_of_the_incentive_area() -> None:
    found = {
        award.case_id: determined(award, day)["qualified_incentive_area"].outcome
        for award in AWARDS
        if award.stated or award.from_town
        for day in award.days
    }
    assert set(found.values()) == {"yes"}
    assert len(found) == 28


def test_how_many_awards_were_compared() -> None:
    assert len(AWARDS) == 51
    assert len(STATED) == 5
    assert len(BY_TOWN) == 25
    assert len({award.case_id for award in [*STATED, *BY_TOWN]}) == 28
    assert len(PLACED) == 3
    assert len(FIGURED) == 8
    compared = {(a.case_id, CATEGORIES[area]) for a in AWARDS for area in (a.stated, a.from_town) if area}
    assert len(compared) == 29
    assert len(compared - set(OPEN)) == 28
    assert set(OPEN) <= compared


def test_every_other_municipality_of_the_table_has_a_code_too() -> None:
    # The one name that is none: a place within a township, in brackets as a county would be.
    unread = [award.municipality for award in AWARDS if not award.municipality.startswith("Hanover (Whippany)")]
    assert len(unread) == 50
    for award in AWARDS:
        if award.municipality in unread:
            assert re.fullmatch(r"\d{4}", code_of(award))
