"""What would settle an estimate: each open area and fact, with the award if it were so and if it were not."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from grownj_geo.areas import area_names
from grownj_geo.creditaward import award_of
from grownj_geo.creditminimums import minimums_of
from grownj_geo.creditproject import PROJECT_FACTS
from grownj_geo.creditsheet import STATED_FACTS, with_outcomes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from grownj_geo.areas import Areas
    from grownj_geo.creditparams import Figures
    from grownj_geo.creditproject import Project
    from grownj_geo.creditrange import Range
    from grownj_geo.creditsheet import Sheet

__all__ = ["ASSUMED", "Settles", "settling"]

_MOST_BUILDINGS = 8
"""With more buildings than this, an area is tried in all of them at once."""

ASSUMED = (
    "final_point_of_sale_retail",
    "university_research_hospital",
    "green_standard",
    "jobs_at_risk",
    "primarily_warehouse",
)
"""Facts that are assumed where they are not stated, unless nothing is to be assumed."""

_WORDS = {
    "final_point_of_sale_retail": "it is a final point of sale retail business",
    "university_research_hospital": "it is a university research hospital",
    "auto_headquarters": "it houses the United States headquarters of an automobile manufacturer",
    "drug_device_or_clinical_lab": "it is a drug, device or clinical laboratory business",
    "primarily_warehouse": "it is primarily a warehouse, distribution or fulfillment business",
    "technology_startup": "it is a technology startup",
    "green_standard": "the environmental and sustainability standards are met",
    "jobs_at_risk": "the retained jobs are at risk of leaving the State",
}


class Settles(BaseModel):
    """Something open, and what the award would be either way; null amounts are without a bound.

    Attributes
    ----------
    kind
        ``"area"``, ``"fact"``, or ``"figure"`` for a number that is not stated.
    needs
        What would decide it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["area", "fact", "figure"]
    name: str
    building: str | None = None
    words: str
    if_yes: tuple[Decimal, Decimal | None] | None = None
    if_no: tuple[Decimal, Decimal | None] | None = None
    needs: tuple[str, ...] = ()


def settling(
    project: Project,
    areas: Areas | None,
    sheet: Sheet,
    figures: Figures,
    readings: Mapping[str, str],
    *,
    strict: bool,
) -> tuple[Settles, ...]:
    """Return what is open and changes the award, what matters most first.

    Parameters
    ----------
    project, areas, sheet
        The project, the areas of its buildings, and the sheet of it alone.
    """
    names = [building.id for building in project.buildings]
    places = _open_places(sheet)
    facts = [name for name in STATED_FACTS if sheet.fact(name)[0] == 0 and (strict or name not in ASSUMED)]
    count = 1 + 2 * (len(places) + len(facts))
    copies = sheet.copies(count)
    changed_areas: dict[tuple[str, int], NDArray[np.int8]] = {}
    for i, (name, rows) in enumerate(places):
        for row in rows:
            outcomes = changed_areas.setdefault((name, row), np.zeros(count, dtype=np.int8))
            outcomes[1 + 2 * i : 3 + 2 * i] = (1, -1)
    changed_facts = {}
    for i, name in enumerate(facts, len(places)):
        outcomes = np.full(count, 0, dtype=np.int8)
        outcomes[1 + 2 * i : 3 + 2 * i] = (1, -1)
        changed_facts[name] = outcomes
    tried = with_outcomes(copies, areas=changed_areas, facts=changed_facts)
    minimums = minimums_of(tried, figures, readings, strict=strict)
    award = award_of(tried, minimums, figures, strict=strict).award
    now = _at(award, 0)
    found: list[tuple[Decimal, Settles]] = []
    for i, (name, rows) in enumerate(places):
        yes, no = _at(award, 1 + 2 * i), _at(award, 2 + 2 * i)
        if yes != now or no != now:
            said = Settles(
                kind="area",
                name=name,
                building=names[rows[0]] if len(names) > 1 and len(rows) == 1 else None,
                words=area_names()[name].label + ("" if len(rows) == 1 else " (wherever it is open)"),
                if_yes=yes,
                if_no=no,
                needs=_needs(project, areas, rows[0], name),
            )
            found.append((_narrowing(now, yes, no), said))
    for i, name in enumerate(facts, len(places)):
        yes, no = _at(award, 1 + 2 * i), _at(award, 2 + 2 * i)
        if yes != now or no != now:
            words = PROJECT_FACTS.get(name) or _WORDS[name]
            found.append((_narrowing(now, yes, no), Settles(kind="fact", name=name, words=words, if_yes=yes, if_no=no)))
    found.sort(key=lambda pair: -pair[0])
    return (*_unstated(project, now), *(said for _, said in found))


def _open_places(sheet: Sheet) -> list[tuple[str, list[int]]]:
    """Return what is open of the places: each area of each building, or of many buildings together."""
    alone = [(name, [row]) for row in range(sheet.b) for name in area_names() if sheet.area(name)[row] == 0]
    if sheet.b <= _MOST_BUILDINGS:
        return alone
    together: dict[str, list[int]] = {}
    for name, rows in alone:
        together.setdefault(name, []).extend(rows)
    return list(together.items())


def _at(award: Range, position: int) -> tuple[Decimal, Decimal | None]:
    high = award.high[position]
    return award.low[position], high if high.is_finite() else None


def _narrowing(
    now: tuple[Decimal, Decimal | None], yes: tuple[Decimal, Decimal | None], no: tuple[Decimal, Decimal | None]
) -> Decimal:
    """Return by how much the range narrows at best."""
    if now[1] is None:
        return max((Decimal(10**15) for each in (yes, no) if each[1] is not None), default=Decimal(0))
    return max((now[1] - now[0]) - ((each[1] or now[1]) - each[0]) for each in (yes, no))


def _needs(project: Project, areas: Areas | None, row: int, name: str) -> tuple[str, ...]:
    building = project.buildings[row]
    place = areas.building(building.id) if areas is not None else building.areas
    return place[name].settles if place is not None else ()


def _unstated(project: Project, now: tuple[Decimal, Decimal | None]) -> list[Settles]:
    """Return the numbers that are not stated, where the award is a range."""
    if now[0] == now[1]:
        return []
    found = []
    if project.capital is None:
        found.append(Settles(kind="figure", name="capital", words="the capital investment is not stated"))
    closed = project.bonuses.per_job is not None or project.bonuses.rest == "no" or "salary" in project.bonuses.stated
    paid = [group.average_salary for group in project.jobs if group.count]
    medians = [building.median_salary for building in project.buildings]
    if not closed and (None in paid or None in medians):
        words = "the average salary or the median that it is compared with is not stated"
        found.append(Settles(kind="figure", name="salary", words=words))
    for building in project.buildings:
        if building.similar_use_percent is None and building.premises != "other":
            words = "the share of the leasable area in continued similar use is not stated"
            found.append(Settles(kind="figure", name="similar_use_percent", building=building.id, words=words))
    return found
