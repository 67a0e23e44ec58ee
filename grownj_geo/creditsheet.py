"""Projects as columns: what the rules compute with, for one project or a hundred thousand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from grownj_geo.areas import BuildingAreas, area_names
from grownj_geo.creditcount import CAPITAL_RULES, JOB_RULES, allocated, count_capital, count_jobs, may_count
from grownj_geo.creditproject import PROJECT_FACTS
from grownj_geo.creditrange import INFINITY, Range, cents

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from grownj_geo.areas import Areas
    from grownj_geo.creditparams import Figures
    from grownj_geo.creditproject import Building, Business, JobGroup, Project
    from grownj_geo.creditrange import Amounts, Kleene

__all__ = [
    "KINDS",
    "LIMITS",
    "STATED_FACTS",
    "UNSAID",
    "WAREHOUSE_ASSUMED",
    "Sheet",
    "business_kind",
    "is_startup",
    "sheet_of",
    "with_outcomes",
]

KINDS = ("startup", "targeted", "other")
"""Kinds of business as the minimum of jobs knows them; startups and manufacturers are one."""

LIMITS = ("withholdings", "board_maximum", "section_1_7g_amount", "net_benefit")
WAREHOUSE_ASSUMED = "that the business is not primarily warehouse or distribution"
UNSAID = 2
"""In place of an outcome: nothing was said of it at all."""

STATED_FACTS = (
    *PROJECT_FACTS,
    "final_point_of_sale_retail",
    "university_research_hospital",
    "auto_headquarters",
    "drug_device_or_clinical_lab",
    "primarily_warehouse",
    "technology_startup",
    "green_standard",
    "jobs_at_risk",
)
"""Facts that are stated as yes or no; what is not stated is undetermined."""

_SIMILAR = {"industrial", "warehousing", "logistics", "research_and_development"}


@dataclass(frozen=True, eq=False)
class Sheet:
    """n projects with b buildings in all, the buildings of a project one after the other.

    Attributes
    ----------
    starts
        Shape (n,): position of each project's first building.
    project
        Shape (b,): position of each building's project.
    sqft
        Shape (b,): square feet of gross leasable area.
    similar, industrial
        Shape (b,): whether the premises are industrial or like ones in continued similar use; whether industrial.
    new_built
        Shape (b,): newly constructed, else rehabilitated.
    proximity
        Shape (b,): a number for each group of proximate buildings; -1 where it is not known.
    new, retained
        By way to count full-time employees: shape (b,) jobs.
    capital
        By what counts as capital: dollars of each building.
    salary_over, salary_over_new
        Shape (b,): average salary above the median, as a share of it: of all full-time jobs; of the new ones alone,
        for where the retained ones do not count.
    areas
        By area: shape (b,) outcomes.
    floors, ceilings
        Shape (b,): bounds of the base amount by place, dollars; -1 and a great number where none is known.
    facts
        By fact: shape (n,) outcomes.
    approved, applied
        Shape (n,): days as ordinals; 0 where they are not known.
    limits
        By name: shape (n,) dollars, None where not stated.
    bonus_given
        Shape (n,): all bonuses together for a job and year, None where they are not given so.
    bonus_stated
        By bonus: shape (n,) outcomes, `UNSAID` where nothing is said.
    """

    starts: NDArray[np.int64]
    project: NDArray[np.int64]
    sqft: Amounts
    similar: Kleene
    industrial: Kleene
    new_built: NDArray[np.bool_]
    proximity: NDArray[np.int64]
    new: dict[str, NDArray[np.int64]]
    retained: dict[str, NDArray[np.int64]]
    capital: dict[str, Range]
    salary_over: Range
    salary_over_new: Range
    areas: dict[str, Kleene]
    floors: NDArray[np.int64]
    ceilings: NDArray[np.int64]
    facts: dict[str, Kleene]
    industry: NDArray[Any]
    kind: NDArray[np.int64]
    years: NDArray[np.int64]
    by_capital: NDArray[np.bool_]
    approved: NDArray[np.int64]
    applied: NDArray[np.int64]
    limits: dict[str, Amounts]
    bonus_given: Amounts
    bonus_stated: dict[str, NDArray[np.int8]]
    notes: tuple[str, ...] = ()
    assumed: tuple[str, ...] = field(default=())

    @property
    def n(self) -> int:
        """How many projects there are."""
        return len(self.starts)

    @property
    def b(self) -> int:
        """How many buildings there are."""
        return len(self.project)

    def area(self, name: str) -> Kleene:
        """Return the outcomes of an area; undetermined where nothing is known of it."""
        found = self.areas.get(name)
        return np.zeros(self.b, dtype=np.int8) if found is None else found

    def fact(self, name: str) -> Kleene:
        """Return the outcomes of a fact, shape (n,)."""
        found = self.facts.get(name)
        return np.zeros(self.n, dtype=np.int8) if found is None else found

    def of_building(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return what holds for each building's project, shape (b,)."""
        return values if self.b == self.n else values[self.project]

    def copies(self, n: int) -> Sheet:
        """Return a sheet of one project n times."""
        if self.n != 1:
            raise ValueError(f"the sheet has {self.n} projects; expected one")
        at = np.tile(np.arange(self.b), n)

        changed: dict[str, Any] = {"starts": np.arange(n) * self.b, "project": np.repeat(np.arange(n), self.b)}
        changed |= {name: getattr(self, name)[at] for name in _ROWS}
        changed |= {name: np.repeat(getattr(self, name), n, axis=0) for name in _PROJECTS}
        for name in ("new", "retained", "areas"):
            changed[name] = {key: values[at] for key, values in getattr(self, name).items()}
        for name in ("facts", "limits", "bonus_stated"):
            changed[name] = {key: np.repeat(values, n, axis=0) for key, values in getattr(self, name).items()}
        changed["capital"] = {key: values.take(at) for key, values in self.capital.items()}
        changed |= {name: getattr(self, name).take(at) for name in ("salary_over", "salary_over_new")}
        return replace(self, **changed)


_ROWS = ("sqft", "similar", "industrial", "new_built", "proximity", "floors", "ceilings")
_PROJECTS = ("industry", "kind", "years", "by_capital", "approved", "applied", "bonus_given")


def sheet_of(project: Project, areas: Areas | None, figures: Figures) -> Sheet:
    """Return one project as columns.

    Parameters
    ----------
    project
        The project.
    areas
        The areas of its buildings; where None, those that the project itself states, else undetermined.
    figures
        Say what counts.

    Raises
    ------
    FactError
        If the areas have no building of a name.
    """
    buildings = project.buildings
    b = len(buildings)
    places = [_places(building, areas) for building in buildings]
    notes: list[str] = []
    assumed: list[str] = []
    jobs = {kind: _jobs(project, kind, figures, notes, assumed) for kind in ("new", "retained")}
    groups = {
        word: i
        for i, word in enumerate(dict.fromkeys(building.proximity for building in buildings if building.proximity))
    }
    facts = {name: _kleene([_fact(project, name)]) for name in STATED_FACTS}
    facts |= _computed_facts(project.business, figures)
    if project.business.kind == "targeted_industry":
        facts["primarily_warehouse"] = _kleene([False])  # who states that kind states this
    notes += _not_at_risk(project, places)
    capital = _capital(project, figures, facts, notes)
    kind, told = business_kind(project.business, figures)
    assumed += told
    return Sheet(
        starts=np.zeros(1, dtype=np.int64),
        project=np.zeros(b, dtype=np.int64),
        sqft=_objects([building.gross_leasable_sqft for building in buildings]),
        similar=_kleene([_similar(building, figures) for building in buildings]),
        industrial=_kleene([building.premises == "industrial" for building in buildings]),
        new_built=np.array([building.construction == "new" for building in buildings]),
        proximity=np.array([groups.get(building.proximity or "", -1) for building in buildings]),
        new=jobs["new"],
        retained=jobs["retained"],
        capital=capital,
        salary_over=_salaries(project, figures, ("new", "retained")),
        salary_over_new=_salaries(project, figures, ("new",)),
        areas={name: _kleene([_word(place[name].outcome) for place in places]) for name in area_names()},
        floors=np.array([_bound(place, "floor", -1) for place in places], dtype=np.int64),
        ceilings=np.array([_bound(place, "ceiling", 10**9) for place in places], dtype=np.int64),
        facts=facts,
        industry=_objects([project.business.industry]),
        kind=np.array([KINDS.index(kind)]),
        years=np.array([project.eligibility_years], dtype=np.int64),
        by_capital=np.array([project.method == "capital_investment"]),
        approved=np.array([project.approval_date.toordinal() if project.approval_date else 0]),
        applied=np.array([project.application_date.toordinal() if project.application_date else 0]),
        limits={name: _objects([getattr(project, name)]) for name in LIMITS},
        bonus_given=_objects([project.bonuses.per_job]),
        bonus_stated=_bonuses(project, figures),
        notes=tuple(dict.fromkeys(notes)),
        assumed=tuple(dict.fromkeys(assumed)),
    )


def is_startup(business: Business) -> bool | None:
    """Return whether a business has the minimum of technology startups and manufacturers, None where it is open."""
    if business.kind is not None:
        return business.kind in {"technology_startup", "manufacturing"}
    return True if business.industry == "manufacturing" else business.technology_startup


def business_kind(business: Business, figures: Figures) -> tuple[str, list[str]]:
    """Return the kind of business as the minimum of jobs knows it, and what is assumed for it.

    Where it is open whether it is a technology startup, see `is_startup`, this is the kind if it is none.
    """
    if business.kind is not None:
        stated = {"technology_startup": "startup", "manufacturing": "startup", "targeted_industry": "targeted"}
        return stated.get(business.kind, "other"), []
    if business.technology_startup or business.industry == "manufacturing":
        return "startup", []
    if business.industry in figures.names("targeted_industries") and not business.primarily_warehouse:
        unsaid = business.primarily_warehouse is None
        return "targeted", [WAREHOUSE_ASSUMED] if unsaid else []
    return "other", []


def _places(building: Building, areas: Areas | None) -> BuildingAreas:
    if areas is not None:
        return areas.building(building.id)
    return building.areas or BuildingAreas(id=building.id)


def _bound(place: BuildingAreas, name: str, unknown: int) -> int:
    found = None if place.bounds is None else getattr(place.bounds, name)
    # A place that is known to have no ceiling has no line at all.
    none = 0 if name == "ceiling" and place.bounds is not None else unknown
    return none if found is None else int(found)


def _jobs(
    project: Project, kind: str, figures: Figures, notes: list[str], assumed: list[str]
) -> dict[str, NDArray[np.int64]]:
    first = project.buildings[0].id
    counts = []
    for building in project.buildings:
        counted = count_jobs(
            [g for g in project.jobs if g.kind == kind and (g.building or first) == building.id], figures
        )
        # Of a project with gaming, the share of the other revenue is the share of the jobs; no part of a job counts.
        counts.append({rule: int(count * _apart_from_gaming(project)) for rule, count in counted.counts.items()})
        notes += counted.notes
        assumed += counted.assumed
    return {rule: np.array([count[rule] for count in counts], dtype=np.int64) for rule in JOB_RULES}


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


def _capital(project: Project, figures: Figures, facts: dict[str, Kleene], notes: list[str]) -> dict[str, Range]:
    names = [building.id for building in project.buildings]
    if project.capital is None:
        facts["substantial_remediation"] = _kleene([None])
        unknown = Range.same(len(names), 0, INFINITY)
        return dict.fromkeys(CAPITAL_RULES, unknown)
    sqft = {building.id: building.gross_leasable_sqft for building in project.buildings}
    items = allocated(project.capital, sqft, notes)
    found = count_capital(items, names, applied=project.application_date, figures=figures)
    share = figures.number("substantial_remediation_percent")
    enough = {
        bool(found.remediation[rule]) and found.remediation[rule] * 100 >= share * sum(found.amounts[rule], Decimal(0))
        for rule in CAPITAL_RULES
    }
    facts["substantial_remediation"] = _kleene([enough.pop() if len(enough) == 1 else None])
    shared = [words for words in found.notes["plain"] if words in found.notes["zone"]]
    notes += shared + [f"Outside a growth zone: {words}" for words in found.notes["plain"] if words not in shared]
    notes += [f"In a growth zone: {words}" for words in found.notes["zone"] if words not in shared]
    apart = _apart_from_gaming(project)
    if apart < 1:
        notes.append(
            f"{100 - apart * 100:g} % of jobs and investment does not count: the share of gaming in the revenue."
        )
    return {rule: Range.exact(_objects([cents(v * apart) for v in found.amounts[rule]])) for rule in CAPITAL_RULES}


def _apart_from_gaming(project: Project) -> Decimal:
    """Return the share of a project's revenue that is not from gaming (18.2, Non-gaming business)."""
    return 1 - (project.business.gaming_revenue_percent or Decimal(0)) / 100


def _salaries(project: Project, figures: Figures, kinds: tuple[str, ...]) -> Range:
    """Return by how much the average salary of each building is above its median, as a share of the median.

    Groups that are no full-time jobs under any way to count are not averaged.
    """
    first = project.buildings[0].id
    low, high = [], []
    for building in project.buildings:
        groups: list[JobGroup] = [
            group
            for group in project.jobs
            if (group.building or first) == building.id and group.count and group.kind in kinds
            if may_count(group, figures)
        ]
        paid = [(group.count, group.average_salary) for group in groups]
        known = bool(paid) and building.median_salary and all(salary is not None for _, salary in paid)
        if not (known and building.median_salary):
            low.append(Decimal(0) if paid else Decimal(-1))
            high.append(INFINITY if paid else Decimal(-1))
            continue
        total = sum((count * salary for count, salary in paid if salary is not None), Decimal(0))
        over = total / sum(count for count, _ in paid) / building.median_salary - 1
        low.append(over)
        high.append(over)
    return Range(_objects(low), _objects(high))


def _similar(building: Building, figures: Figures) -> bool | None:
    """Return whether premises are industrial or like ones in continued similar use (18.3(a)1i and ii)."""
    if building.premises not in _SIMILAR:
        return False
    # The sentence on vacant premises stands with new construction and is applied there (A53).
    if building.vacant_industrial_unleased and building.construction == "new":
        return False
    if building.similar_use_percent is None:
        return None
    return building.similar_use_percent >= figures.number("similar_use_percent")


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
    rest = -1 if project.bonuses.rest == "no" else UNSAID
    stated = project.bonuses.stated
    return {
        bonus.id: np.array([(1 if stated[bonus.id] else -1) if bonus.id in stated else rest], dtype=np.int8)
        for bonus in figures.book.bonuses
    }


def _word(outcome: str) -> bool | None:
    return {"yes": True, "no": False}.get(outcome)


def _kleene(values: Sequence[bool | None]) -> Kleene:
    return np.array([0 if value is None else 1 if value else -1 for value in values], dtype=np.int8)


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def with_outcomes(
    sheet: Sheet, *, areas: Mapping[tuple[str, int], NDArray[np.int8]], facts: Mapping[str, NDArray[np.int8]]
) -> Sheet:
    """Return a sheet of copies of one project with other outcomes.

    Parameters
    ----------
    sheet
        Copies of one project.
    areas
        By area and building of the project: an outcome for each copy.
    facts
        By fact: an outcome for each copy.
    """
    changed = {name: values.copy() for name, values in sheet.areas.items()}
    for (name, building), outcomes in areas.items():
        changed[name][sheet.starts + building] = outcomes
    return replace(sheet, areas=changed, facts={**sheet.facts, **facts})
