"""Several candidate sites side by side, all asked on one day under one set of rules, readings and layers."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Literal

from grownj_geo.determination import Missing, NotChecked, OutcomeWord, RulebookRecord
from grownj_geo.nextbetter import Finder
from grownj_geo.rerun import answers_of, changed_items
from grownj_geo.strict import Strict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grownj_geo.betterwords import Step
    from grownj_geo.candidates import Candidate
    from grownj_geo.determination import Determination, Finding
    from grownj_geo.determine import Engine

__all__ = ["Cell", "Compared", "Comparer", "Comparison"]


class Cell(Strict):
    """What one category is for one site, as its determination says."""

    outcome: OutcomeWord
    leans: OutcomeWord | None
    margin_ft: float | None
    assumed: bool
    status: str
    why: str
    would_decide: tuple[Missing, ...]


class Compared(Strict):
    """One site of a comparison.

    Attributes
    ----------
    floor, ceiling
        Bounds of the base amount by place.
    next_better
        How far the next better line is, in a sentence.
    next_better_ft
        How far the nearest place of those that the sentence names is, in feet: of a point as computed where that is
        known, of a polygon how far all of it is moved.
    cells
        By category.
    recorded_as_of
        The day of its kept record; null for a site without one. What is said here is of the comparison's day.
    differs
        For a kept record: whether it answered otherwise; null for a site without one.
    """

    name: str
    source: str
    typed: str
    place: str
    facts: dict[str, bool | float | str]
    floor: int | None
    ceiling: int | None
    tier_words: str | None
    next_better: str
    next_better_ft: float | None
    cells: dict[str, Cell]
    not_checked: tuple[NotChecked, ...]
    recorded_as_of: date | None
    differs: bool | None
    cautions: tuple[str, ...]


class Row(Strict):
    """A category that is compared."""

    id: str
    label: str
    citation: str


class Comparison(Strict):
    """The sites side by side, in the order in which they were given.

    Attributes
    ----------
    rows
        Categories that are not a no for every site.
    nowhere
        Names of those that are.
    """

    format: Literal["grownj-comparison/1"] = "grownj-comparison/1"
    as_of: date
    rulebook: RulebookRecord
    readings: dict[str, str]
    disclaimer: str
    sites: tuple[Compared, ...]
    rows: tuple[Row, ...]
    nowhere: tuple[str, ...]
    cautions: tuple[str, ...]
    incomplete: tuple[str, ...] = ()


@dataclass
class Comparer:
    """Compares sites.

    Parameters
    ----------
    engine
        Rules and layers under which all of them are asked.
    """

    engine: Engine
    _finder: Finder = field(init=False)

    def __post_init__(self) -> None:
        """Share what municipalities come to among the sites."""
        self._finder = Finder(self.engine)

    def site(self, candidate: Candidate) -> tuple[Compared, Determination]:
        """Return one site's column, and its determination.

        Raises
        ------
        SiteError, OutsideNewJerseyError, FactError
            As `Engine.run`.
        """
        found = self.engine.determine(candidate.site)
        better = self._finder.find(candidate.site)
        steps = [line.nearest for line in better.lines if line.nearest is not None]
        # As the words rank them: a polygon by how far all of it is moved.
        nearest = min(steps, key=lambda step: step.enough_ft, default=None)
        kept = candidate.kept
        differs = None
        if kept is not None:
            recorded = answers_of(kept.determination)
            differs = bool(changed_items(recorded, answers_of(found), noise_ft=kept.margin_noise_ft))
        return Compared(
            name=candidate.name,
            source=candidate.source,
            typed=found.site.typed,
            place=found.place.words,
            facts=found.site.facts,
            floor=found.tier.floor if found.tier else None,
            ceiling=found.tier.ceiling if found.tier else None,
            tier_words=found.tier.words if found.tier else None,
            next_better=better.words,
            next_better_ft=None if nearest is None else _away_ft(nearest, whole=not candidate.site.is_point),
            cells={f.id: _cell(f) for f in found.findings},
            not_checked=found.not_checked,
            recorded_as_of=None if kept is None else kept.determination.as_of,
            differs=differs,
            cautions=found.cautions,
        ), found

    def compare(self, candidates: Iterable[Candidate]) -> Comparison:
        """Return sites side by side.

        Raises
        ------
        SiteError, OutsideNewJerseyError, FactError
            As `site`; whoever wants the others all the same asks for each by itself, and `side_by_side`.
        """
        return self.side_by_side([self.site(candidate) for candidate in candidates])

    def side_by_side(self, sites: Iterable[tuple[Compared, Determination]]) -> Comparison:
        """Return sites that were asked by `site` side by side."""
        columns, found = [], []
        for column, determination in sites:
            columns.append(column)
            found.append(determination)
        book, bound = self.engine.rulebook, self.engine.bound
        rows = [Row(id=c.id, label=c.label, citation=c.citation) for c in book.categories if c.kind != "ground"]
        shown = [row for row in rows if any(column.cells[row.id].outcome != "no" for column in columns)]
        cautions = [
            f"{column.name}: its record ({column.source}) was answered otherwise; see grownj recheck."
            for column in columns
            if column.differs
        ]
        days = {column.recorded_as_of for column in columns} - {None, bound.as_of}
        if days:
            cautions.append(
                f"Some records are of other days ({', '.join(sorted(map(str, days)))}); every site is asked as of "
                f"{bound.as_of} here. Choose another day with --as-of."
            )
        stated = {tuple(sorted(column.facts)) for column in columns}
        if len(stated) > 1:
            cautions.append("Not the same facts are stated of every site; what waits for a fact is compared unevenly.")
        return Comparison(
            as_of=bound.as_of,
            rulebook=self.engine.rulebook_record,
            readings=dict(self.engine.readings),
            disclaimer=found[0].disclaimer if found else "",
            sites=tuple(columns),
            rows=tuple(shown),
            nowhere=tuple(row.label for row in rows if row not in shown),
            cautions=tuple(cautions),
            incomplete=tuple(dict.fromkeys(x.problem for d in found for x in d.layers if x.problem)),
        )


def _away_ft(step: Step, *, whole: bool) -> float:
    value = step.distance_ft.value
    return step.enough_ft if whole or value is None else value


def _cell(finding: Finding) -> Cell:
    return Cell(
        outcome=finding.outcome,
        leans=finding.leans,
        margin_ft=finding.margin_ft,
        assumed=finding.assumed,
        status=finding.status,
        why=finding.why,
        would_decide=finding.would_decide,
    )
