"""One project as columns: its jobs, capital, places and facts as the rules compute with them."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.areanames import area_names
from grownj_geo.areas import BuildingAreas
from grownj_geo.creditcapital import CAPITAL_RULES, allocated, count_capital
from grownj_geo.creditcount import JOB_RULES, count_jobs, may_count
from grownj_geo.creditparams import below_confirmed
from grownj_geo.creditproject import PROJECT_FACTS
from grownj_geo.creditrange import INFINITY, Range, cents, each, objects
from grownj_geo.creditreadings import resolve_credit_readings
from grownj_geo.creditsheet import KINDS, LIMITS, NO_OTHERS, STATED_FACTS, UNSAID, Sheet
from grownj_geo.credittri import all_met, opposite, sign_of
from grownj_geo.creditunsaid import taken
from grownj_geo.errors import FactError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from grownj_geo.areas import Areas
    from grownj_geo.creditparams import Figures
    from grownj_geo.creditproject import Building, Business, Project
    from grownj_geo.creditrange import Kleene

__all__ = ["business_kind", "is_startup", "sheet_of"]


def sheet_of(
    project: Project,
    areas: Areas | None,
    figures: Figures,
    readings: Mapping[str, str] | None = None,
    *,
    strict: bool = False,
) -> Sheet:
    """Return one project as columns.

    Parameters
    ----------
    project
        The project.
    areas
        The areas of its buildings; where None, those that the project itself states, else undetermined.
    figures
        Say what counts.
    readings
        Chosen options of open questions; the defaults for those that are left out.
    strict
        Leave open what is not stated; else it is taken for granted, and named in `Sheet.unsaid`.

    Raises
    ------
    FactError
        If the areas have no building of a name, or its bounds of the base amount contradict its areas.
    """
    chosen = resolve_credit_readings(readings or {})
    buildings = project.buildings
    b = len(buildings)
    places = [_places(building, areas, alone=b == 1) for building in buildings]
    for building, place in zip(buildings, places, strict=True):
        _check_bounds(building.id, place, figures)
    known = [(place, _weak(place, figures, strict=strict)) for place in places]
    notes: list[str] = []
    unsaid: set[str] = set()
    apart = _apart_from_gaming(project, unsaid, strict=strict)
    jobs = {
        kind: _jobs(project, kind, figures, (apart, chosen["A59"], notes, unsaid), strict=strict)
        for kind in ("new", "retained")
    }
    groups = {
        word: i
        for i, word in enumerate(dict.fromkeys(building.proximity for building in buildings if building.proximity))
    }
    facts = {name: _kleene([_fact(project, name)]) for name in STATED_FACTS}
    facts |= _computed_facts(project.business, figures)
    if project.business.kind == "targeted_industry":
        facts["primarily_warehouse"] = _kleene([False])  # who states that kind states this
    if facts["primarily_warehouse"][0] == 0 and _warehouse_matters(project.business, figures):
        unsaid.add("primarily_warehouse")
    notes += _not_at_risk(project, places)
    capital, facts["substantial_remediation"] = _capital(
        project, figures, (apart, chosen["A60"], notes, unsaid), strict=strict
    )
    return Sheet(
        starts=np.zeros(1, dtype=np.int64),
        project=np.zeros(b, dtype=np.int64),
        sqft=objects([building.gross_leasable_sqft for building in buildings]),
        similar=_kleene([_similar(building, figures, unsaid, strict=strict) for building in buildings]),
        industrial=_kleene([building.premises == "industrial" for building in buildings]),
        new_built=np.array([building.construction == "new" for building in buildings]),
        proximity=np.array([groups.get(building.proximity or "", -1) for building in buildings]),
        new=jobs["new"],
        retained=jobs["retained"],
        capital=capital,
        salary_over=_salaries(project, figures, ("new", "retained"), strict=strict),
        salary_over_new=_salaries(project, figures, ("new",), strict=strict),
        areas={
            name: _kleene([None if name in weak else _word(place[name].outcome) for place, weak in known])
            for name in area_names()
        },
        floors=np.array([-1 if weak else _bound(place, "floor", -1) for place, weak in known], dtype=np.int64),
        ceilings=np.array(
            [10**9 if weak else _bound(place, "ceiling", 10**9) for place, weak in known], dtype=np.int64
        ),
        facts=facts,
        industry=objects([project.business.industry]),
        kind=np.array([KINDS.index(business_kind(project.business, figures))]),
        years=np.array([project.eligibility_years], dtype=np.int64),
        by_capital=np.array([project.method == "capital_investment"]),
        approved=np.array([project.approval_date.toordinal() if project.approval_date else 0]),
        applied=np.array([project.application_date.toordinal() if project.application_date else 0]),
        limits={name: objects([getattr(project, name)]) for name in LIMITS},
        bonus_given=objects([project.bonuses.per_job]),
        bonus_stated=_bonuses(project, figures),
        notes=tuple(dict.fromkeys(notes)),
        unsaid=frozenset(unsaid),
        weak=frozenset().union(*(weak for _, weak in known)),
    )


def _weak(place: BuildingAreas, figures: Figures, *, strict: bool) -> frozenset[str]:
    """Return the areas of a building that are not taken as they stand: below confirmed, or in strict use assumed."""
    found = set()
    for name in area_names():
        answer = place[name]
        unsure = figures.trust == "confirmed" and below_confirmed(answer.status)
        if answer.outcome != "undetermined" and (unsure or (strict and answer.assumed)):
            found.add(name)
    return frozenset(found)


def is_startup(business: Business) -> bool | None:
    """Return whether a business has the minimum of technology startups and manufacturers, None where it is open."""
    if business.kind is not None:
        return business.kind in {"technology_startup", "manufacturing"}
    return True if business.industry == "manufacturing" else business.technology_startup


def business_kind(business: Business, figures: Figures) -> str:
    """Return the kind of business as the minimum of jobs knows it, one of `KINDS`.

    Where it is open whether it is a technology startup, see `is_startup`, or primarily a warehouse, this is the kind if
    it is neither.

    Parameters
    ----------
    business
        What the business is.
    figures
        Have the targeted industries of the day.
    """
    if business.kind is not None:
        stated = {"technology_startup": "startup", "manufacturing": "startup", "targeted_industry": "targeted"}
        return stated.get(business.kind, "other")
    if business.technology_startup or business.industry == "manufacturing":
        return "startup"
    listed = business.industry in figures.names("targeted_industries") and not business.primarily_warehouse
    return "targeted" if listed else "other"


def _warehouse_matters(business: Business, figures: Figures) -> bool:
    """Return whether a rule asks if the business is primarily a warehouse: targeted industries, and container ports."""
    return business.industry in {*figures.names("targeted_industries"), *figures.names("container_port_industries")}


def _places(building: Building, areas: Areas | None, *, alone: bool) -> BuildingAreas:
    if areas is not None:
        return areas.building(building.id, alone=alone)
    return building.areas or BuildingAreas(id=building.id)


def _check_bounds(name: str, place: BuildingAreas, figures: Figures) -> None:
    """Refuse bounds of the base amount that the areas contradict."""
    if place.bounds is None:
        return
    floor, ceiling = place.bounds.floor, place.bounds.ceiling
    lines = [line for line in figures.book.lines if line.place and line.when.area is not None]
    amounts = {line.when.area or "": int(figures.number(line.base)) for line in lines}
    over = [area for area, most in amounts.items() if place[area].outcome == "yes" and (ceiling or 0) < most]
    reached = [area for area, most in amounts.items() if place[area].outcome != "no" and most >= (floor or 0)]
    if over or (floor is not None and not reached):
        words = f"{over[0]} is yes, which is ${amounts[over[0]]:,}" if over else "no area that gives as much can be"
        raise FactError(
            f"Building {name}: bounds of the base amount are {floor} to {ceiling} and {words}. Correct one, or leave "
            "the bounds out."
        )


def _bound(place: BuildingAreas, name: str, unknown: int) -> int:
    found = None if place.bounds is None else getattr(place.bounds, name)
    # A place that is known to have no ceiling has no line at all.
    none = 0 if name == "ceiling" and place.bounds is not None else unknown
    return none if found is None else int(found)


def _jobs(
    project: Project,
    kind: str,
    figures: Figures,
    told: tuple[tuple[Decimal, Decimal], str, list[str], set[str]],
    *,
    strict: bool,
) -> dict[str, Range]:
    apart, pooling, notes, unsaid = told
    first = project.buildings[0].id
    found = []
    for building in project.buildings:
        own = [g for g in project.jobs if g.kind == kind and (g.building or first) == building.id]
        counted = count_jobs(own, figures, pooling=pooling, strict=strict)
        found.append(counted)
        notes += counted.notes
        unsaid |= counted.unsaid
    # Of a project with gaming, the share of the other revenue is the share of the jobs; no part of a job counts.
    return {
        rule: Range(
            np.array([int(each.low[rule] * apart[0]) for each in found], dtype=np.int64),
            np.array([int(each.high[rule] * apart[1]) for each in found], dtype=np.int64),
        )
        for rule in JOB_RULES
    }


def _not_at_risk(project: Project, places: Sequence[BuildingAreas]) -> list[str]:
    """Tell which retained jobs do not count for not being at risk, where their place does not spare them that."""
    if project.jobs_at_risk is not False:
        return []
    first, found = project.buildings[0].id, []
    for building, place in zip(project.buildings, places, strict=True):
        words = {place[name].outcome for name in ("mrera_growth_zone", "tourism_district_growth_zone")}
        count = sum(g.count for g in project.jobs if g.kind == "retained" and (g.building or first) == building.id)
        if count and "yes" not in words:
            where = "" if words == {"no"} else ", unless the growth zone spares them that"
            found.append(f"{count:,} retained jobs do not count: not at risk of leaving the State{where}.")
    return found


def _capital(
    project: Project,
    figures: Figures,
    told: tuple[tuple[Decimal, Decimal], str, list[str], set[str]],
    *,
    strict: bool,
) -> tuple[dict[str, Range], Kleene]:
    """Return the capital of each building by what counts, and whether the remediation is substantial."""
    apart, excess, notes, unsaid = told
    names = [building.id for building in project.buildings]
    if project.capital is None:
        return dict.fromkeys(CAPITAL_RULES, Range.same(len(names), 0, INFINITY)), _kleene([None])
    sqft = {building.id: building.gross_leasable_sqft for building in project.buildings}
    found = count_capital(
        allocated(project.capital, sqft, notes),
        names,
        applied=project.application_date,
        figures=figures,
        excess=excess,
        strict=strict,
    )
    unsaid |= found.unsaid
    share = figures.number("substantial_remediation_percent")
    enough = set()
    for rule in CAPITAL_RULES:
        (low, high), counted = found.remediation[rule], found.amounts[rule]
        least, most = sum(counted.low, Decimal(0)), sum(counted.high, Decimal(0))
        surely = low > 0 and low * 100 >= share * most
        enough.add(True if surely else None if high > 0 and high * 100 >= share * least else False)
    shared = [words for words in found.notes["plain"] if words in found.notes["zone"]]
    notes += shared + [f"Outside a growth zone: {words}" for words in found.notes["plain"] if words not in shared]
    notes += [f"In a growth zone: {words}" for words in found.notes["zone"] if words not in shared]
    if apart[0] == apart[1] < 1:
        notes.append(
            f"{100 - apart[0] * 100:g} % of jobs and investment does not count: the share of gaming in the revenue."
        )
    amounts: dict[str, Range] = {
        rule: Range(each(lambda v: cents(v * apart[0]), bounds.low), each(lambda v: cents(v * apart[1]), bounds.high))
        for rule, bounds in found.amounts.items()
    }
    return amounts, _kleene([enough.pop() if len(enough) == 1 else None])


def _apart_from_gaming(project: Project, unsaid: set[str], *, strict: bool) -> tuple[Decimal, Decimal]:
    """Return the least and the greatest share of the revenue that is not from gaming (18.2, Non-gaming business)."""
    percent = project.business.gaming_revenue_percent
    if percent is not None:
        return (1 - percent / 100,) * 2
    taken(None, False, "gaming_revenue_percent", unsaid, strict=strict)
    return Decimal(0 if strict else 1), Decimal(1)


def _salaries(project: Project, figures: Figures, kinds: tuple[str, ...], *, strict: bool) -> Range:
    """Return by how much the average salary of each building is above its median, as a share of the median.

    Groups that are no full-time jobs under any way to count are not averaged; with those that perhaps are, the average
    may be any that their salaries allow.
    """
    first = project.buildings[0].id
    low, high = [], []
    for building in project.buildings:
        paid = [
            (group.count, group.average_salary, may_count(group, figures, strict=strict))
            for group in project.jobs
            if (group.building or first) == building.id and group.count and group.kind in kinds
        ]
        paid = [each for each in paid if each[2] is not False]
        if not paid:
            low.append(Decimal(-1))
            high.append(Decimal(-1))
            continue
        median = building.median_salary
        if not median or any(salary is None for _, salary, _ in paid):
            low.append(Decimal(-1) if any(counts is None for *_, counts in paid) else Decimal(0))
            high.append(INFINITY)
            continue
        sure = [(count, salary) for count, salary, counts in paid if counts and salary is not None]
        average = sum((n * s for n, s in sure), Decimal(0)) / sum(n for n, _ in sure) if sure else None
        if len(sure) == len(paid) and average is not None:
            bounds = average, average
        else:
            open_ones = [salary for _, salary, counts in paid if counts is None and salary is not None]
            both = open_ones if average is None else [*open_ones, average]
            bounds = min(both), max(both)
        # Where none surely counts, there may be no average.
        low.append(bounds[0] / median - 1 if sure else Decimal(-1))
        high.append(bounds[1] / median - 1)
    return Range(objects(low), objects(high))


def _similar(building: Building, figures: Figures, unsaid: set[str], *, strict: bool) -> bool | None:
    """Return whether premises are industrial or like ones in continued similar use (18.3(a)1i and ii)."""
    if building.premises not in figures.names("similar_premises"):
        return False
    share = building.similar_use_percent
    used = None if share is None else share >= figures.number("similar_use_percent")
    if building.construction != "new" or used is False:
        return used
    # The sentence on vacant premises stands with new construction and is applied there (A53).
    vacant = taken(building.vacant_industrial_unleased, False, "vacant_industrial_unleased", unsaid, strict=strict)
    return all_met([used, opposite(vacant)])


def _fact(project: Project, name: str) -> bool | None:
    if name in PROJECT_FACTS:
        return project.facts.get(name)
    found = getattr(project.business if hasattr(project.business, name) else project, name)
    return None if found is None else bool(found)


def _computed_facts(business: Business, figures: Figures) -> dict[str, Kleene]:
    size, share = business.retail_sqft, business.grocery_percent
    listed = business.industry in figures.names("targeted_industries")
    startup = business.kind == "targeted_industry"
    return {
        "retail_size": _kleene([None if size is None else size >= figures.number("retail_sqft")]),
        "grocery_share": _kleene([None if share is None else share >= figures.number("grocery_percent")]),
        "listed_industry": _kleene([listed or startup]),
        "technology_startup": _kleene([is_startup(business)]),
    }


def _bonuses(project: Project, figures: Figures) -> dict[str, NDArray[np.int8]]:
    rest = NO_OTHERS if project.bonuses.rest == "no" else UNSAID
    stated = project.bonuses.stated
    return {
        bonus.id: np.array([(1 if stated[bonus.id] else -1) if bonus.id in stated else rest], dtype=np.int8)
        for bonus in figures.book.bonuses
    }


def _word(outcome: str) -> bool | None:
    return {"yes": True, "no": False}.get(outcome)


def _kleene(values: Sequence[bool | None]) -> Kleene:
    return np.array([sign_of(value) for value in values], dtype=np.int8)
