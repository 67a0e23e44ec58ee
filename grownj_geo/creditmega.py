"""Qualified business facilities and mega projects, the two terms of 18.2 that look at place and project together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.creditminimums import growth_zone
from grownj_geo.creditrange import Range
from grownj_geo.logic import all_of, any_of, negate

if TYPE_CHECKING:
    from grownj_geo.creditparams import Figures
    from grownj_geo.creditrange import Kleene
    from grownj_geo.creditsheet import Sheet

__all__ = ["facility", "mega_projects"]


def facility(sheet: Sheet, *, strict: bool) -> Kleene:
    """Return whether each building is a qualified business facility.

    In the incentive area, and neither final point of sale retail nor a university research hospital; but large retail
    with a grocery in a growth zone, and a tourism project in the Tourism District, are.

    Parameters
    ----------
    sheet
        The projects; sizes of retail are compared with the law's when it is made.
    strict
        Leave undetermined whether it is one of the two where nobody says so; else it is taken not to be.
    """

    def is_one(name: str) -> Kleene:
        fact = sheet.fact(name)
        return fact if strict else np.where(fact == 0, np.int8(-1), fact)

    ordinary = all_of([negate(is_one("final_point_of_sale_retail")), negate(is_one("university_research_hospital"))])
    large = all_of([sheet.fact("retail_size"), sheet.fact("grocery_share")])
    retail = all_of([growth_zone(sheet), sheet.of_building(large)])
    tourism = all_of([sheet.area("tourism_destination_project"), sheet.area("atlantic_city_tourism_district")])
    return all_of([sheet.area("qualified_incentive_area"), any_of([sheet.of_building(ordinary), retail, tourism])])


def mega_projects(sheet: Sheet, capital: Range, jobs: Range, qualified: Kleene, figures: Figures) -> dict[str, Kleene]:
    """Return whether each building is a mega project, by paragraph and by any of them.

    Parameters
    ----------
    sheet
        The projects.
    capital, jobs
        Shape (n,): of the whole project; a complex of buildings is taken together whatever its minimums are.
    qualified
        Shape (b,): what `facility` gave.
    figures
        The figures of the law on the day.
    """
    n = sheet.n
    jobs = Range(jobs.low.astype(object), jobs.high.astype(object))

    def over(amounts: Range, name: str) -> Kleene:
        return amounts.more_than(Range.same(n, figures.number(name)))

    size = any_of([all_of([over(capital, "mega_capital"), over(jobs, "mega_jobs")]), over(jobs, "mega_jobs_alone")])
    hub_size = all_of([over(capital, "mega_capital_hub"), over(jobs, "mega_jobs")])
    south_size = all_of([over(capital, "mega_capital"), over(jobs, "mega_jobs_south")])
    industry = sheet.industry.astype(str)
    listed = _kleene(np.isin(industry, figures.names("mega_1_industries")))
    aviation = _kleene(np.isin(industry, figures.names("mega_2_industries")))
    day = figures.date("mega_5_applied_after").toordinal()
    applied = np.where(sheet.applied == 0, 0, np.where(sheet.applied > day, 1, -1)).astype(np.int8)

    def each(values: Kleene) -> Kleene:
        return np.asarray(sheet.of_building(values))

    places = any_of(
        [
            all_of([sheet.area("aviation_district"), each(aviation)]),
            growth_zone(sheet),
            all_of([sheet.area("priority_area"), each(sheet.fact("auto_headquarters"))]),
        ]
    )
    drug = sheet.fact("drug_device_or_clinical_lab")
    found = {
        "1": all_of([sheet.area("port_district"), each(listed), each(size)]),
        "2": all_of([places, each(size)]),
        "3": all_of([sheet.area("urban_transit_hub"), each(hub_size)]),
        "4": all_of([sheet.area("mega_4_area"), each(south_size)]),
        "5": all_of([sheet.area("mega_5_area"), each(applied), each(drug), each(size)]),
    }
    in_time = each(_in_time(sheet, figures))
    found = {name: all_of([qualified, in_time, outcome]) for name, outcome in found.items()}
    return found | {"any": any_of(list(found.values()))}


def _in_time(sheet: Sheet, figures: Figures) -> Kleene:
    """Return whether projects applied by the last day for mega projects; an approval by then shows it too."""
    last = figures.date("mega_applied_until").toordinal()
    known = np.where(sheet.applied > 0, np.where(sheet.applied <= last, 1, -1), 0)
    by_approval = (sheet.applied == 0) & (sheet.approved > 0) & (sheet.approved <= last)
    # With no day at all, the day of the figures stands for it.
    by_figures = (sheet.applied == 0) & (sheet.approved == 0) & (figures.day.toordinal() <= last)
    return np.where(by_approval | by_figures, 1, known).astype(np.int8)


def _kleene(values: object) -> Kleene:
    return np.where(np.asarray(values, dtype=bool), np.int8(1), np.int8(-1))
