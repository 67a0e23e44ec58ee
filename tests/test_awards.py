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

# What may be open, and why.
OPEN = {
    ("GNJ-012", "mega_project"): (
        {"fact_missing", "location_unknown"},
        "the release gives no coordinates, and mega projects of this kind are bound to a delineated hub",
    ),
    ("GNJ-033", "distressed_municipality"): (
        {"fact_missing"},
        "Pennsauken has Urban Aid in 2017; the list of 2015 is not known",
    ),
    ("GNJ-059", "distressed_municipality"): (
        {"fact_missing"},
        "Woodbridge has Urban Aid in 2017; the list of 2016 is not known",
    ),
}


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
    return engine(day).determine(Site(typed=award.municipality, located_by="name", mun_code=code, mun_basis="stated"))


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


def test_every_award_in_an_incentive_area_is_in_none_that_is_shut_out() -> None:
    shut_out = []
    for award in (a for a in AWARDS if a.stated or a.from_town):
        for day in award.days:
            if determined(award, day)["qualified_incentive_area"].outcome == "no":
                shut_out.append(award.case_id)
    assert shut_out == []


def test_how_many_awards_were_compared() -> None:
    assert len(AWARDS) == 51
    assert len(STATED) == 5
    assert len(BY_TOWN) == 27
    assert len({award.case_id for award in [*STATED, *BY_TOWN]}) == 30
    assert len(PLACED) == 3
    assert len(FIGURED) == 8
    compared = {(a.case_id, CATEGORIES[area]) for a in AWARDS for area in (a.stated, a.from_town) if area}
    assert len(compared) == 31
    assert len(compared - set(OPEN)) == 28
    assert set(OPEN) <= compared


def test_every_other_municipality_of_the_table_has_a_code_too() -> None:
    # The one name that is none: a place within a township, in brackets as a county would be.
    unread = [award.municipality for award in AWARDS if not award.municipality.startswith("Hanover (Whippany)")]
    assert len(unread) == 50
    for award in AWARDS:
        if award.municipality in unread:
            assert re.fullmatch(r"\d{4}", code_of(award))
