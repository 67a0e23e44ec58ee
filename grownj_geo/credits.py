"""What credit a project may have: areas and project in, minimums, eligibility and award out, as a range.

Nothing here looks at geometry. What is undetermined of a place or not stated of a project makes the lowest and the
highest outcome that can be, and the estimate names what would settle it.

Examples
--------
>>> from grownj_geo.creditproject import project_of
>>> project = project_of({
...     "business": {"industry": "finance", "final_point_of_sale_retail": False},
...     "buildings": [{"gross_leasable_sqft": 20000, "premises": "other", "construction": "rehabilitation",
...         "areas": {"qualified_incentive_area": True, "urban_transit_hub_municipality": True, "rest": "no"}}],
...     "jobs": [{"kind": "new", "count": 74, "health_benefits": True}],
...     "capital": [{"what": "construction", "amount": 900000}],
...     "bonuses": {"per_job": 3000},
... })
>>> found = estimate(project)
>>> found.eligible, found.award.low, found.award.high
('yes', Decimal('5920000.00'), Decimal('5920000.00'))
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from grownj_geo.creditaward import award_of
from grownj_geo.creditcolumns import sheet_of
from grownj_geo.creditline import CreditLine
from grownj_geo.creditlines import lines_of
from grownj_geo.creditminimums import minimums_of
from grownj_geo.creditparams import Figures, Trust, below_confirmed, load_credit_book
from grownj_geo.creditreadings import credit_readings, resolve_credit_readings
from grownj_geo.creditsettle import Settles, settling
from grownj_geo.creditunsaid import assumed_words
from grownj_geo.determination import software
from grownj_geo.logic import Outcome
from grownj_geo.strict import Strict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grownj_geo.areas import Areas
    from grownj_geo.creditaward import Award
    from grownj_geo.creditminimums import Minimums
    from grownj_geo.creditproject import Project
    from grownj_geo.creditrange import Range
    from grownj_geo.creditsheet import Sheet

__all__ = [
    "CREDITS_FORMAT",
    "DEFAULT_DAY",
    "AmountRange",
    "CreditFigure",
    "Estimate",
    "credit_figure",
    "estimate",
    "figures_day",
]

CREDITS_FORMAT: Literal["grownj-credits/1"] = "grownj-credits/1"
DEFAULT_DAY = date(2017, 4, 17)
DISCLAIMER = (
    "Computed from stated figures and public rules; not the New Jersey Economic Development Authority's approval, and "
    "not legal advice."
)


class AmountRange(Strict):
    """The least and the greatest that an amount can be, dollars; `high` is null where nothing bounds it.

    Attributes
    ----------
    low, high
        Dollars.
    """

    low: Decimal
    high: Decimal | None

    @property
    def settled(self) -> bool:
        """Whether the two are the same."""
        return self.low == self.high


class CreditFigure(Strict):
    """A figure of the law that the result rests on.

    Attributes
    ----------
    name, label, value
        Its name in the book, what it is, and its value in words.
    status, citation, source
        How well it is known, where the law has it, and by which sources.
    taken
        Whether it is taken as it stands; else it makes a range.
    """

    name: str
    label: str
    value: str
    status: str
    citation: str
    source: str | None
    taken: bool


class Estimate(Strict):
    """What a project comes to.

    Attributes
    ----------
    format, software, book
        Of the record, what made it, and which figures.
    strict, readings
        Whether nothing is assumed; the option of each open question.
    lines
        Every line of the computation.
    assumptions, notes, cautions
        What is taken for granted, what does not count, and what is to be noted.
    eligibility_years
        Years in which the credit is had.
    disclaimer
        What this is not.
    as_of
        The day whose figures are used: of the approval, else of the application, else of the areas.
    trust
        Which figures are taken as they stand.
    eligible
        Whether all conditions are met.
    if_eligible, if_eligible_year
        The credit in all and of a year, were every open condition met.
    award, award_year
        The same with the conditions as they are: nothing where one is not met, perhaps nothing where one is open.
    schedule
        The credit of each year, the least and the greatest; they sum to the award exactly.
    commitment_years
        Years for which the jobs must be kept.
    figures
        Every figure used; those below confirmed are what `below_confirmed` names.
    settles
        What is open, and what the award would be if it were so or not.
    """

    format: Literal["grownj-credits/1"] = CREDITS_FORMAT
    software: str
    book: str
    as_of: date
    trust: Trust
    strict: bool
    readings: dict[str, str]
    project: str
    eligible: Literal["yes", "no", "undetermined"]
    if_eligible: AmountRange
    if_eligible_year: AmountRange
    award: AmountRange
    award_year: AmountRange
    eligibility_years: int
    commitment_years: Decimal
    schedule: tuple[AmountRange, ...]
    lines: tuple[CreditLine, ...]
    figures: tuple[CreditFigure, ...]
    below_confirmed: tuple[str, ...]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    cautions: tuple[str, ...]
    settles: tuple[Settles, ...]
    disclaimer: str = DISCLAIMER

    def __getitem__(self, line_id: str) -> CreditLine:
        """Return a line by its id; of a building alone without its name.

        Raises
        ------
        KeyError
            If there is no such line.
        """
        for line in self.lines:
            if line_id in {line.id, line.id.partition("@")[0]}:
                return line
        raise KeyError(f"no line {line_id!r}; there are {', '.join(line.id for line in self.lines)}")

    def to_json(self) -> str:
        """Return the record as JSON, with a line end; amounts are text, so that no digit is lost."""
        return self.model_dump_json(indent=2) + "\n"


def figures_day(project: Project, areas: Areas | None) -> date:
    """Return the day whose figures a project is computed with.

    Parameters
    ----------
    project, areas
        The project, and the areas of its buildings.
    """
    areas_day = None if areas is None else areas.as_of
    return project.approval_date or project.application_date or areas_day or DEFAULT_DAY


def estimate(
    project: Project,
    areas: Areas | None = None,
    *,
    trust: Trust = "known",
    readings: Mapping[str, str] | None = None,
    strict: bool = False,
) -> Estimate:
    """Return what credit a project may have.

    Parameters
    ----------
    project
        The project.
    areas
        The areas of its buildings; left out, those that the project states itself, and else nothing is known of them.
    trust
        ``"confirmed"`` leaves open what rests on a figure below confirmed; ``"known"`` takes all but unverified ones,
        which widen the range; ``"stated"`` takes every figure that has a value.
    readings
        Chosen options of open questions (A13, A54, A59, A60).
    strict
        Leave open what is otherwise assumed where it is not stated.

    Raises
    ------
    FactError
        If the areas have no building of the project's name.
    RulebookError
        For a reading that there is not.
    """
    chosen = resolve_credit_readings(readings or {})
    book = load_credit_book()
    figures = Figures(book, figures_day(project, areas), trust)
    sheet = sheet_of(project, areas, figures, chosen, strict=strict)
    minimums = minimums_of(sheet, figures, chosen, strict=strict)
    award = award_of(sheet, minimums, figures, strict=strict)
    lines = lines_of(project, sheet, minimums, award, figures)
    matter = _readings_that_matter(project, areas, figures, chosen, strict=strict)
    used = tuple(dict.fromkeys(name for line in lines for name in line.figures))
    year = _range(award.award_year)
    return Estimate(
        software=software(),
        book=f"{book.id} {book.version}",
        as_of=figures.day,
        trust=trust,
        strict=strict,
        readings=chosen,
        project=project.name,
        eligible=Outcome.of(int(award.eligible[0])).value,
        if_eligible=_range(award.total),
        if_eligible_year=_range(award.year),
        award=_range(award.award),
        award_year=year,
        eligibility_years=project.eligibility_years,
        commitment_years=project.eligibility_years * figures.number("commitment_factor"),
        schedule=(year,) * project.eligibility_years,
        lines=lines,
        figures=tuple(credit_figure(figures, name) for name in used),
        below_confirmed=tuple(name for name in used if below_confirmed(figures.of(name).status)),
        assumptions=_assumptions(project, sheet, award, strict=strict),
        notes=sheet.notes,
        cautions=_cautions(project, areas, minimums, chosen, matter)
        + _no_other_bonuses(project, award, figures)
        + _short_of_benefit(award),
        settles=settling(project, areas, sheet, figures, chosen, used=used, strict=strict),
    )


def _range(amounts: Range) -> AmountRange:
    low, high = amounts.low[0], amounts.high[0]
    return AmountRange(low=low if low.is_finite() else Decimal(0), high=high if high.is_finite() else None)


def credit_figure(figures: Figures, name: str) -> CreditFigure:
    """Return a figure of the law as a result tells it.

    Parameters
    ----------
    figures
        The figures of the law on the day.
    name
        Which one.
    """
    found, figure = figures.of(name), figures.book.figures[name]
    value = found.value
    words = "not found" if value is None else ", ".join(value) if isinstance(value, tuple) else str(value)
    return CreditFigure(
        name=name,
        label=figure.label,
        value=words,
        status=found.status,
        citation=found.citation,
        source=found.source,
        taken=figures.stands(name),
    )


_ASSUMED = {
    "final_point_of_sale_retail": "that it is no final point of sale retail business",
    "university_research_hospital": "that it is no university research hospital",
    "green_standard": "that the environmental and sustainability standards are met",
    "jobs_at_risk": "that the retained jobs are at risk of leaving the State",
}


def _assumptions(project: Project, sheet: Sheet, award: Award, *, strict: bool) -> tuple[str, ...]:
    """Return what is assumed where it is not stated."""
    if strict:
        return ()
    found = assumed_words(sheet.unsaid)
    retained = any(group.kind == "retained" and group.count for group in project.jobs)
    for name, words in _ASSUMED.items():
        if sheet.fact(name)[0] == 0 and (name != "jobs_at_risk" or retained):
            found.append(words)
    if project.net_benefit is None:
        found.append("that the net benefit to the State is enough (18.3(a)3ii)")
    held = any((award.lines[name] >= 0).any() for name in ("priority", "other"))
    if held and project.withholdings is None:
        found.append("that a limit by the withholdings does not bind")
    return tuple(dict.fromkeys(found))


def _cautions(
    project: Project,
    areas: Areas | None,
    minimums: Minimums,
    readings: Mapping[str, str],
    matter: Iterable[str],
) -> tuple[str, ...]:
    found = list(areas.cautions) if areas is not None else []
    if areas is not None and areas.as_of is not None and areas.as_of != figures_day(project, areas):
        found.append(f"The areas are those of {areas.as_of}, the figures those of {figures_day(project, areas)}.")
    for building in project.buildings:
        if building.vacant_industrial_unleased and building.construction == "rehabilitation":
            found.append(
                f"Building {building.id} is vacant industrial premises: whether it counts as non-industrial when it is "
                "rehabilitated is open (A53); it is taken by its use here."
            )
    told = {*matter, *(_OF_MINIMUMS if (minimums.reduced >= 0).any() else ())}
    meanings = {name: reading.options[readings[name]] for name, reading in credit_readings().items() if name in told}
    found += [f"{name}: {words}" for name, words in meanings.items()]
    return tuple(dict.fromkeys(found))


_OF_MINIMUMS = ("A13", "A54")
_OF_COUNTS = ("A59", "A60")


def _readings_that_matter(
    project: Project, areas: Areas | None, figures: Figures, readings: Mapping[str, str], *, strict: bool
) -> list[str]:
    """Return the open questions of what counts that another option would answer otherwise for this project."""

    def counts(chosen: Mapping[str, str]) -> tuple[list[object], ...]:
        sheet = sheet_of(project, areas, figures, chosen, strict=strict)
        found = minimums_of(sheet, figures, chosen, strict=strict)
        parts = (found.new, found.retained, found.capital)
        return tuple(bound.tolist() for part in parts for bound in (part.low, part.high))

    now = counts(readings)
    return [
        name
        for name in _OF_COUNTS
        if any(counts({**readings, name: option}) != now for option in credit_readings()[name].options)
    ]


def _no_other_bonuses(project: Project, award: Award, figures: Figures) -> tuple[str, ...]:
    """Name the bonuses of which nothing shows whether they apply, and that the project says are none."""
    if project.bonuses.per_job is not None:
        return ()
    shut = [bonus.label for bonus in figures.book.bonuses if award.bonuses.shut[bonus.id].any()]
    return (f"Bonuses that are open are none, as bonuses.rest says: {', '.join(shut)}.",) if shut else ()


def _short_of_benefit(award: Award) -> tuple[str, ...]:
    """Say that the net benefit limits the credit, as far as it may."""
    asked, had = award.asked, award.year
    if bool((asked.low == had.low).all() and (asked.high == had.high).all()):
        return ()
    low, most = (f"${bound[0]:,.2f}" for bound in (award.carried.low, award.carried.high))
    words = most if low == most else f"{low} to {most}" if award.carried.high[0].is_finite() else "an open credit"
    return (f"The net benefit is enough for {words} in all, which limits what the business may ask for.",)
