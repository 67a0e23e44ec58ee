"""What credit a project at a site could have, as a section of the site's report. Nothing is computed here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grownj_geo.areas import areas_of
from grownj_geo.creditproject import ProjectError
from grownj_geo.credits import estimate
from grownj_geo.credittext import amount_words, line_words, range_words
from grownj_geo.reportblocks import Cell, Grid, Listed, Pairs, Section, Words
from grownj_geo.reportwords import cut_words, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grownj_geo.creditproject import Project
    from grownj_geo.credits import Estimate
    from grownj_geo.creditsettle import Settles
    from grownj_geo.determination import Determination
    from grownj_geo.reportblocks import Block

__all__ = ["credit_section", "only_building"]

_PARTS = {
    "inputs": "What goes in",
    "minimums": "Minimums",
    "place": "Place",
    "award": "Amount for a job and year",
    "result": "Credit",
}
_MOST_SETTLING = 12


def only_building(project: Project) -> str:
    """Return the id of the building that a site stands for.

    Raises
    ------
    ProjectError
        Where the project has several: a report is of one place.
    """
    if len(project.buildings) > 1:
        raise ProjectError(
            f"The project has {len(project.buildings)} buildings; expected one, which stands at the site that is "
            "reported. Use grownj credits project for all of them."
        )
    return project.buildings[0].id


def credit_section(project: Project, determinations: Sequence[Determination]) -> Section:
    """Return what a project comes to where a site is.

    Parameters
    ----------
    project
        Its figures; its only building is taken to stand at the site, whatever it says of its place.
    determinations
        Of the site, one for each rulebook that credit rules ask.

    Raises
    ------
    ProjectError
        Where the project has several buildings.
    """
    areas = areas_of({only_building(project): list(determinations)})
    return Section("credits", "What credit the project could have here", tuple(_blocks(estimate(project, areas))))


def _blocks(found: Estimate) -> Iterator[Block]:
    yield Words(f"Eligible: {found.eligible.upper()}", "answer", found.eligible)
    rows = [
        ("Project", cut_words(found.project, 200) or "(without a name)"),
        ("Award", f"{range_words(found.award)} in all; {range_words(found.award_year)} a year"),
    ]
    if found.eligible != "yes":
        words = f"{range_words(found.if_eligible)} in all; {range_words(found.if_eligible_year)} a year"
        rows.append(("If eligible", words))
    kept = amount_words(found.commitment_years, "years")
    rows.append(("Years", f"{found.eligibility_years} years of credit; the jobs are to be kept for {kept}"))
    rows.append(("Figures", f"of {found.as_of} ({found.book}); unverified ones widen the range"))
    yield Pairs(tuple(rows))
    for part, title in _PARTS.items():
        lines = [line for line in found.lines if line.part == part]
        if lines:
            yield Grid(
                title,
                ("Line", "Amount", "How, and by which rule"),
                (31, 19, 50),
                tuple(
                    (
                        Cell(plain(line.label)),
                        Cell(line_words(line), tone=line.outcome or ""),
                        Cell(plain(line.words or line.rule), (plain(line.rule),) if line.words else ()),
                    )
                    for line in lines
                ),
            )
    weak = [f for f in found.figures if f.name in found.below_confirmed]
    named = [f"{f.label}: {f.value} ({f.status}{'' if f.taken else ', not taken as it stands'})" for f in weak]
    for title, entries in (
        ("What would settle it:", [_settles(one) for one in found.settles[:_MOST_SETTLING]]),
        ("Taken for granted, since it is not stated:", found.assumptions),
        ("Figures below confirmed that this rests on:", named),
        ("Left out:", found.notes),
        ("To be noted:", found.cautions),
    ):
        if entries:
            yield Words(title)
            yield Listed(tuple(map(plain, entries)))
    yield Words(found.disclaimer, "caution")


def _settles(one: Settles) -> str:
    words = one.words
    so = "taken as it stands" if one.kind == "law" else "if so"
    for name, amounts in ((so, one.if_yes), ("if not", one.if_no)):
        if amounts is not None:
            low, high = map(amount_words, amounts)
            words += f"; {name} {low if low == high else f'{low} to {high}'}"
    return words + (f". To decide it: {'; or '.join(one.needs)}" if one.needs else "")
