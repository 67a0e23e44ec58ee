"""What a category comes to for one site, in the words of the record: answer, reasons, and what could decide it."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING

from grownj_geo.determination import Finding, Missing
from grownj_geo.evidence import IN_NEW_JERSEY, deciding_leaves, evidence_of, status_of, weakest
from grownj_geo.facts import load_facts
from grownj_geo.logic import Cause, Outcome
from grownj_geo.readings import load_readings
from grownj_geo.values import LEANING, STRICT
from grownj_geo.whatif import deciding_sets, open_points
from grownj_geo.words import joined

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from grownj_geo.atlas import Atlas
    from grownj_geo.binding import Clause
    from grownj_geo.determination import Evidence, OutcomeWord
    from grownj_geo.evaluate import Evaluation
    from grownj_geo.rulebook import Category
    from grownj_geo.values import Values

__all__ = ["Alike", "SitesAlike", "finding_of", "need_words"]

_MOST_ALIKE = 1024


@dataclass
class Alike:
    """What is the same for all sites for which every leaf clause has the same answer or is open for the same causes.

    Attributes
    ----------
    would_decide
        By category: the smallest sets of missing things that could decide it.
    deciding
        By clause: the leaves that decided it, or left it open.
    findings
        Findings that rest on nothing else, by category, its outcomes, and what differs under other readings.
    """

    would_decide: dict[str, tuple[Missing, ...]]
    deciding: dict[str, tuple[Clause, ...]] = field(default_factory=dict)
    findings: dict[Hashable, Finding] = field(default_factory=dict)


class SitesAlike:
    """What sites of one rulebook, atlas and choice of readings have in common: they leave the same points open again.

    Parameters
    ----------
    categories
        Ids of the categories that are asked about.
    atlas
        The layers.
    """

    def __init__(self, categories: Sequence[str], atlas: Atlas) -> None:
        self._categories = tuple(categories)
        self._atlas = atlas
        self._known: dict[Hashable, Alike] = {}

    def of(self, run: Evaluation) -> Alike:
        """Return what the only site of an evaluation shares with others, and let the evaluation use it."""
        key = open_points(run)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_ALIKE:
                self._known.clear()
            found = self._known[key] = Alike(
                {
                    category: tuple(
                        Missing(needs=needs, words=" and ".join(need_words(need, self._atlas) for need in needs))
                        for needs in sets
                    )
                    for category, sets in deciding_sets(run, self._categories).items()
                }
            )
        run.deciding = found.deciding
        return found


def finding_of(category: Category, run: Evaluation, alike: Alike, differing: dict[str, OutcomeWord] | None) -> Finding:
    """Return what one category comes to for the first site of an evaluation.

    Parameters
    ----------
    category
        The category.
    run
        The evaluation, its clauses kept.
    alike
        What is the same for all sites that leave the same points open.
    differing
        Outcomes that differ under other readings, by reading and option; None where that was not asked.
    """
    values = run.category(category.id)
    key = category.id, values.outcomes.tobytes(), None if differing is None else tuple(differing.items())
    found = alike.findings.get(key)
    if found is None:
        found = _finding(category, run, values, alike.would_decide.get(category.id, ()), differing)
        # What is open for layers and facts alone reads the same wherever the same points are open.
        if found.outcome == "undetermined" and all(run.common.get(e.clause) is e for e in found.evidence):
            alike.findings[key] = found
    return found


def _finding(
    category: Category,
    run: Evaluation,
    values: Values,
    would_decide: tuple[Missing, ...],
    differing: dict[str, OutcomeWord] | None,
) -> Finding:
    clause = run.bound.clauses[category.id]
    answer, leaning = values.first, int(values.outcomes[LEANING, 0])
    leaves = deciding_leaves(clause, run)
    evidence = tuple(evidence_of(leaf, run) for leaf in leaves)
    assumed = answer != int(values.outcomes[STRICT, 0])
    outcome = Outcome.of(answer)
    margin = values.margin()
    return Finding(
        id=category.id,
        label=category.label,
        citation=category.citation,
        summary=category.summary,
        kind=category.kind,
        outcome=outcome.value,
        leans=Outcome.of(leaning).value if answer == 0 and leaning != 0 else None,
        margin_ft=round(margin, 1) + 0.0 if isfinite(margin) else None,
        why=_why(outcome, evidence) or f"no clause of it is in force on {run.bound.as_of}",
        causes=tuple(Cause(int(values.causes[0])).words),
        assumed=assumed,
        assumptions=tuple(e.words for e in evidence if e.assumed) if assumed else (),
        # What is undetermined is not known at all; only the definition has a status then.
        status=weakest([category.status, status_of(clause, run)]) if answer else category.status,
        readings=_readings(category.readings, leaves, run),
        under_other_readings=differing,
        evidence=evidence,
        would_decide=would_decide,
    )


def _why(outcome: Outcome, evidence: tuple[Evidence, ...]) -> str:
    same = [e for e in evidence if e.outcome == outcome.value] or list(evidence)
    # Layers before facts: what somebody can load stands before what somebody must state.
    same.sort(key=lambda e: e.fact is not None)
    words = list(dict.fromkeys(e.words for e in same))
    # That a site is in New Jersey goes without saying where anything else does.
    words = [w for w in words if w != IN_NEW_JERSEY] or words
    shown = words[:3]
    more = f"; and {len(words) - 3} more" if len(words) > 3 else ""  # noqa: PLR2004 - three are readable
    return "; ".join(shown) + more


def _readings(own: tuple[str, ...], leaves: tuple[Clause, ...], run: Evaluation) -> dict[str, str]:
    """Return the readings that a category and its deciding clauses name, with the options taken."""
    named = {*own, *(reading for leaf in leaves for reading in leaf.node.readings)}
    return {i: run.bound.readings[i] for i in sorted(named, key=lambda i: int(i[1:]))} if named else {}


def need_words(need: str, atlas: Atlas) -> str:
    """Return a missing thing, as `deciding_sets` names it, as something to do."""
    kind, _, name = need.partition(":")
    if kind == "layer":
        return f"load {atlas.manifests[name].title}"
    if kind == "fact":
        definition = load_facts()[name]
        who = " (an official finding)" if definition.kind == "ruling" else ""
        return f"state {name}{who}"
    if kind == "reading":
        reading = load_readings()[name]
        deciding = [option for option in reading.options if option != "undetermined"]
        typed = f": --reading {name}={joined(deciding)}" if reading.kind == "option" else ""
        return f"choose a reading of {name} ({reading.title}{typed})"
    if kind == "position":
        return f"a better position for the site or for {atlas.manifests[name].title}"
    return {"place": "give the site's location", "municipality": "state the municipality or a parcel number"}[kind]
