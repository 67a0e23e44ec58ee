"""What would settle an estimate: everything that is open and changes it, with the award either way where that is known.

Each open thing is tried: the project is computed as if it were so, and as if it were not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from grownj_geo.areanames import area_names, area_pairs
from grownj_geo.creditaward import award_of
from grownj_geo.creditminimums import minimums_of
from grownj_geo.creditproject import PROJECT_FACTS, Business
from grownj_geo.creditsheet import STATED_FACTS, UNSAID
from grownj_geo.creditunsaid import UNSAID_INPUTS
from grownj_geo.strict import Strict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from grownj_geo.areas import Areas
    from grownj_geo.creditaward import Award
    from grownj_geo.creditparams import Figures
    from grownj_geo.creditproject import Project
    from grownj_geo.creditrange import Range
    from grownj_geo.creditsheet import Sheet

__all__ = ["ASSUMED", "Settles", "settling"]

_MOST_BUILDINGS = 8
"""With more buildings than this, an area is tried in all of them at once."""

_SEVERAL = 2

_GREAT = Decimal(10**12)
"""Tried in place of an amount that nothing bounds."""

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
_OF_JOBS = (
    "hours_per_week",
    "customary_full_time",
    "time_at_facility_percent",
    "customary_time",
    "health_benefits",
    "collective_agreement",
    "contractors",
    "gaming_revenue_percent",
)
_OF_CAPITAL = ("when", "incurred", "acquired", "grants", "gaming_revenue_percent")
_RETAIL = {"retail_size": "retail_sqft", "grocery_share": "grocery_percent"}
_LIMIT_WORDS = {
    "withholdings": "the withholdings from the wages are not stated",
    "net_benefit": "the net benefit to the State is not stated",
}


class Settles(Strict):
    """Something open, and what the award would be either way; null amounts are without a bound.

    Attributes
    ----------
    kind
        ``"area"``, ``"fact"``, ``"figure"`` for what is not stated, or ``"law"`` for a figure of the law that is not
        taken as it stands.
    name, building
        What is open, and in which building, where there are several.
    words
        The same in words.
    if_yes, if_no
        The least and the greatest award if it is so, or taken as it stands; and if it is not.
    needs
        What would decide it.
    """

    kind: Literal["area", "fact", "figure", "law"]
    name: str
    building: str | None = None
    words: str
    if_yes: tuple[Decimal, Decimal | None] | None = None
    if_no: tuple[Decimal, Decimal | None] | None = None
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Trial:
    """Something open: what is said of it, and changes of a sheet, each for one way in which it can turn out.

    Where `both` is set there are two, if it is so and if it is not, and the awards are told.
    """

    told: tuple[Settles, ...]
    changes: tuple[Callable[[Sheet, int], None], ...]
    both: bool = False


def settling(
    project: Project,
    areas: Areas | None,
    sheet: Sheet,
    figures: Figures,
    readings: Mapping[str, str],
    *,
    used: Sequence[str] = (),
    strict: bool,
) -> tuple[Settles, ...]:
    """Return what is open and changes the estimate: what is not stated first, then what matters most.

    Parameters
    ----------
    project, areas, sheet
        The project, the areas of its buildings, and the sheet of it alone.
    figures
        The figures of the law on the day, and which are taken as they stand.
    readings
        The option of each open question.
    used
        Figures that the estimate rests on: those that are not taken as they stand are tried too.
    strict
        Whether nothing is assumed that is not stated.
    """
    trials = [
        *_figures_not_stated(project, sheet, figures, strict=strict),
        *_areas(project, areas, sheet),
        *_facts(sheet, strict=strict),
        *_bonuses(project, sheet, figures),
    ]
    count = 1 + sum(len(trial.changes) for trial in trials)
    tried = sheet.copies(count)
    tried = replace(tried, proximity=tried.proximity.copy())
    position = 1
    for trial in trials:
        for change in trial.changes:
            change(tried, position)
            position += 1
    award = award_of(tried, minimums_of(tried, figures, readings, strict=strict), figures, strict=strict)
    now = _at(award.award, 0)
    first: list[Settles] = []
    found: list[tuple[Decimal, Settles]] = []
    position = 1
    for trial in trials:
        ways = range(position, position + len(trial.changes))
        position += len(trial.changes)
        if all(_same(award, 0, award, way) and (trial.both or _same_limits(award, way)) for way in ways):
            continue
        if not trial.both:
            first += trial.told
            continue
        yes, no = (_at(award.award, way) for way in ways)
        found += [
            (_narrowing(now, yes, no), said.model_copy(update={"if_yes": yes, "if_no": no})) for said in trial.told
        ]
    weak = [name for name in used if not figures.stands(name) and figures.of(name).value is not None]
    # Steps of a bonus are of no use without their size: what belongs together is tried together too.
    stepped = [bonus.figures for bonus in figures.book.bonuses if bonus.steps is not None]
    together = [tuple(name for name in names if name in weak) for names in stepped]
    for names in [*((name,) for name in weak), *(group for group in together if len(group) > 1)]:
        taken = replace(figures, taken=figures.taken | set(names))
        one = award_of(sheet, minimums_of(sheet, taken, readings, strict=strict), taken, strict=strict)
        if not _same(award, 0, one, 0):
            yes = _at(one.award, 0)
            found.append((_narrowing(now, yes, yes), _of_the_law(names, figures, yes)))
    found.sort(key=lambda pair: -pair[0])
    return (*dict.fromkeys(first), *(said for _, said in found))


def _at(award: Range, position: int) -> tuple[Decimal, Decimal | None]:
    high = award.high[position]
    return award.low[position], high if high.is_finite() else None


def _same(one: Award, at: int, other: Award, position: int) -> bool:
    """Return whether two outcomes are the same: award, credit if eligible, whether it is, and by which conditions."""
    if one.eligible[at] < 0 and other.eligible[position] < 0:
        return True  # what the credit would be otherwise settles nothing
    parts = ((one.award, other.award), (one.total, other.total))
    if any(_at(a, at) != _at(b, position) for a, b in parts) or one.eligible[at] != other.eligible[position]:
        return False
    # Where several conditions are open, one of them alone changes nothing yet, and has to be settled all the same.
    settled = one.eligible[at] != 0
    return settled or all(met[at] == other.conditions[name][position] for name, met in one.conditions.items())


def _same_limits(award: Award, position: int) -> bool:
    """Return whether the further limits of a year are what they are now: open ones hide behind what else is open."""
    return all(_at(limit, 0) == _at(limit, position) for limit in award.year_limits.values())


def _narrowing(
    now: tuple[Decimal, Decimal | None], yes: tuple[Decimal, Decimal | None], no: tuple[Decimal, Decimal | None]
) -> Decimal:
    """Return by how much the range narrows at best."""
    if now[1] is None:
        return max((Decimal(10**15) for each in (yes, no) if each[1] is not None), default=Decimal(0))
    return max((now[1] - now[0]) - ((each[1] or now[1]) - each[0]) for each in (yes, no))


def _of_the_law(names: Sequence[str], figures: Figures, yes: tuple[Decimal, Decimal | None]) -> Settles:
    told = [(figures.book.figures[name].label, figures.of(name)) for name in names]
    words = "; ".join(f"{label}: {found.value} is {found.status}" for label, found in told)
    needs = (f"read {'it' if len(names) == 1 else 'them'} in {told[0][1].citation}",)
    return Settles(kind="law", name=" and ".join(names), words=words, if_yes=yes, needs=needs)


# -- areas and facts ----------------------------------------------------------------------------------


def _areas(project: Project, areas: Areas | None, sheet: Sheet) -> Iterator[_Trial]:
    """Yield the open areas: of each building, or of many buildings together."""
    names = [building.id for building in project.buildings]
    alone = [(name, [row]) for row in range(sheet.b) for name in area_names() if sheet.area(name)[row] == 0]
    together: dict[str, list[int]] = {}
    for name, rows in alone:
        together.setdefault(name, []).extend(rows)
    for name, rows in alone if sheet.b <= _MOST_BUILDINGS else together.items():
        said = Settles(
            kind="area",
            name=name,
            building=names[rows[0]] if len(names) > 1 and len(rows) == 1 else None,
            words=area_names()[name].label + ("" if len(rows) == 1 else " (wherever it is open)"),
            needs=_needs(project, areas, rows[0], name),
        )
        yield _Trial((said,), tuple(_put_area(name, rows, outcome) for outcome in (1, -1)), both=True)


def _needs(project: Project, areas: Areas | None, row: int, name: str) -> tuple[str, ...]:
    building = project.buildings[row]
    place = areas.building(building.id) if areas is not None else building.areas
    if place is None:
        return ()
    answer = place[name]
    if answer.outcome != "undetermined":
        how = "rests on an assumption" if answer.assumed else f"is {answer.status}"
        return (f"confirm it: it is {answer.outcome}, which {how}",)
    return answer.settles


def _facts(sheet: Sheet, *, strict: bool) -> Iterator[_Trial]:
    for name in STATED_FACTS:
        if sheet.fact(name)[0] == 0 and (strict or name not in ASSUMED):
            words = f"whether {PROJECT_FACTS.get(name) or _WORDS[name]}"
            said = Settles(kind="fact", name=name, words=words, needs=(f"state {_place_of(name)}",))
            yield _Trial((said,), tuple(_put_fact(name, outcome) for outcome in (1, -1)), both=True)


def _bonuses(project: Project, sheet: Sheet, figures: Figures) -> Iterator[_Trial]:
    """Yield bonuses that turn on several open things, none of which alone need decide them."""
    if project.bonuses.per_job is not None:
        return
    for bonus in figures.book.bonuses:
        asked = list(bonus.when.asked()) if bonus.when else []
        if sheet.bonus_stated[bonus.id][0] != UNSAID or len(asked) < _SEVERAL:
            continue
        areas = [name for kind, name in asked if kind == "area" and bool((sheet.area(name) == 0).any())]
        facts = [name for kind, name in asked if kind == "fact" and name in STATED_FACTS and sheet.fact(name)[0] == 0]
        if len(areas) + len(facts) < _SEVERAL:
            continue
        places = [*(f"areas.{name}" for name in areas), *(_place_of(name) for name in facts)]
        words = f"whether it has the bonus for {bonus.label}"
        said = Settles(kind="fact", name=f"bonus_{bonus.id}", words=words, needs=(f"state {' and '.join(places)}",))
        yield _Trial((said,), tuple(_put_bonus(bonus.id, outcome) for outcome in (1, -1)), both=True)


def _put_bonus(name: str, outcome: int) -> Callable[[Sheet, int], None]:
    def change(sheet: Sheet, position: int) -> None:
        sheet.bonus_stated[name][position] = outcome

    return change


def _place_of(name: str) -> str:
    """Return where a fact stands in a project file."""
    part = "facts." if name in PROJECT_FACTS else "business." if name in Business.model_fields else ""
    return f"{part}{name}"


def _put_area(name: str, rows: Sequence[int], outcome: int) -> Callable[[Sheet, int], None]:
    def change(sheet: Sheet, position: int) -> None:
        at = sheet.starts[position] + np.array(rows)
        sheet.areas[name][at] = outcome
        # What follows from it by the definitions of the areas is settled with it.
        for one, other, apart in area_pairs():
            end = 1 if apart else -1
            then = -end if (one, outcome) == (name, 1) else -1 if (other, outcome) == (name, end) else 0
            second = other if one == name else one
            if then:
                sheet.areas[second][at] = np.where(sheet.areas[second][at] == 0, then, sheet.areas[second][at])

    return change


def _put_fact(name: str, outcome: int) -> Callable[[Sheet, int], None]:
    def change(sheet: Sheet, position: int) -> None:
        sheet.facts[name][position] = outcome

    return change


# -- what is not stated -------------------------------------------------------------------------------


def _figures_not_stated(project: Project, sheet: Sheet, figures: Figures, *, strict: bool) -> Iterator[_Trial]:
    if project.capital is None:
        words = "the capital investment is not stated"
        said = (Settles(kind="figure", name="capital", words=words, needs=("state capital",)),)
        yield _Trial(said, _ends("capital"))
    else:
        late = Settles(kind="figure", name="capital", words="whether all of the capital investment counts is open")
        yield _Trial(_left_out(sheet, _OF_CAPITAL) or (late,), _ends("capital"))
    for kind in ("new", "retained"):
        late = Settles(kind="figure", name="jobs", words="whether all of the jobs count is open")
        yield _Trial(_left_out(sheet, _OF_JOBS) or (late,), _ends(kind))
    if project.bonuses.per_job is None and project.bonuses.rest != "no" and "salary" not in project.bonuses.stated:
        words = "the average salary or the median that it is compared with is not stated"
        needs = ("state average_salary of all jobs and median_salary of all buildings",)
        yield _Trial((Settles(kind="figure", name="salary", words=words, needs=needs),), _ends("salary_over"))
        yield _Trial((Settles(kind="figure", name="salary", words=words, needs=needs),), _ends("salary_over_new"))
    yield from _of_buildings(project, sheet)
    yield from _of_business(project, sheet, strict=strict)
    yield from _days(project, figures)


def _of_business(project: Project, sheet: Sheet, *, strict: bool) -> Iterator[_Trial]:
    for fact, name in _RETAIL.items():
        if sheet.fact(fact)[0] == 0:
            words = f"{name} is not stated"
            said = (Settles(kind="figure", name=name, words=words, needs=(f"state business.{name}",)),)
            yield _Trial(said, tuple(_put_fact(fact, outcome) for outcome in (1, -1)))
    for name, words in _LIMIT_WORDS.items():
        if strict and getattr(project, name) is None:
            said = (Settles(kind="figure", name=name, words=words, needs=(f"state {name}",)),)
            yield _Trial(said, (_put_limit(name, _GREAT),))


def _of_buildings(project: Project, sheet: Sheet) -> Iterator[_Trial]:
    for row, building in enumerate(project.buildings):
        if sheet.similar[row] == 0:
            yield _Trial(_of_use(project, row, sheet), tuple(_put("similar", row, outcome) for outcome in (1, -1)))
        if building.proximity is None and sheet.b > 1:
            words = "which buildings are proximate is not stated"
            said = (Settles(kind="figure", name="proximity", words=words, needs=("state proximity of each building",)),)
            yield _Trial(said, (_put_groups(lambda row: 0 * row), _put_groups(lambda row: row)))


def _left_out(sheet: Sheet, names: Sequence[str]) -> tuple[Settles, ...]:
    return tuple(
        Settles(kind="figure", name=name, words=UNSAID_INPUTS[name].opened, needs=(f"state {_where(name, names)}",))
        for name in names
        if name in sheet.unsaid
    )


def _where(name: str, names: Sequence[str]) -> str:
    """Return where an input stands in a project file."""
    if name == "gaming_revenue_percent":
        return f"business.{name}"
    return f"jobs.{name}" if names is _OF_JOBS else f"capital.{'incurred' if name == 'acquired' else name}"


def _of_use(project: Project, row: int, sheet: Sheet) -> tuple[Settles, ...]:
    building = project.buildings[row]
    name = building.id if len(project.buildings) > 1 else None
    said = []
    if building.similar_use_percent is None:
        words = "the share of the leasable area in continued similar use is not stated"
        needs = ("state similar_use_percent",)
        said.append(Settles(kind="figure", name="similar_use_percent", building=building.id, words=words, needs=needs))
    if building.vacant_industrial_unleased is None and "vacant_industrial_unleased" in sheet.unsaid:
        words = UNSAID_INPUTS["vacant_industrial_unleased"].opened
        said.append(Settles(kind="figure", name="vacant_industrial_unleased", building=name, words=words))
    return tuple(said)


def _days(project: Project, figures: Figures) -> Iterator[_Trial]:
    """Yield the days that are not stated, tried on both sides of the days on which a rule changes."""
    changes = {
        "application_date": ("applied", ("mega_5_applied_after", "mega_applied_until")),
        "approval_date": ("approved", ("capital_reduced_after",)),
    }
    for name, (column, named) in changes.items():
        if getattr(project, name) is None:
            days = [figures.date(figure).toordinal() + more for figure in named for more in (0, 1)]
            words = f"the {name.replace('_', ' ')} is not stated"
            said = (Settles(kind="figure", name=name, words=words, needs=(f"state {name}",)),)
            yield _Trial(said, tuple(_put_day(column, day) for day in days))


def _put(column: str, row: int, value: Any) -> Callable[[Sheet, int], None]:  # noqa: ANN401 - what the column holds
    def change(sheet: Sheet, position: int) -> None:
        getattr(sheet, column)[sheet.starts[position] + row] = value

    return change


def _put_day(column: str, day: int) -> Callable[[Sheet, int], None]:
    def change(sheet: Sheet, position: int) -> None:
        getattr(sheet, column)[position] = day

    return change


def _put_limit(name: str, amount: Decimal) -> Callable[[Sheet, int], None]:
    def change(sheet: Sheet, position: int) -> None:
        sheet.limits[name][position] = amount

    return change


def _put_groups(group: Callable[[int], int]) -> Callable[[Sheet, int], None]:
    def change(sheet: Sheet, position: int) -> None:
        start = sheet.starts[position]
        for row in range(sheet.b // sheet.n):
            sheet.proximity[start + row] = group(row)

    return change


def _ends(column: str) -> tuple[Callable[[Sheet, int], None], ...]:
    """Return changes that take the least of some amounts, and the greatest."""

    def change(sheet: Sheet, position: int, *, greatest: bool) -> None:
        held = getattr(sheet, column)
        rows = slice(sheet.starts[position], sheet.starts[position] + sheet.b // sheet.n)
        for values in held.values() if isinstance(held, dict) else (held,):
            if greatest:
                ends = [_GREAT if value == Decimal("Infinity") else value for value in values.high[rows]]
                values.low[rows] = values.high[rows] = ends
            else:
                values.high[rows] = values.low[rows]

    return (
        lambda sheet, position: change(sheet, position, greatest=False),
        lambda sheet, position: change(sheet, position, greatest=True),
    )
