"""Why: the tree of clauses behind a finding, each with its outcome, what was seen, citation and date."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from grownj_geo.determination import Evidence, OutcomeWord
from grownj_geo.evidence import clause_label, evidence_of
from grownj_geo.logic import Outcome
from grownj_geo.nodes import CategoryNode, UncertainDay
from grownj_geo.strict import Strict

if TYPE_CHECKING:
    from grownj_geo.binding import Clause
    from grownj_geo.evaluate import Evaluation
    from grownj_geo.nodes import Day

__all__ = ["Explanation", "explain", "text_lines"]

Depth = Literal["whole", "compact"]


class Explanation(Strict):
    """One clause of a finding, with the clauses below it.

    Attributes
    ----------
    outcome
        Null for a clause that does not count: not in force on the day, or of a reading that was not chosen.
    note
        Why it does not count, from when or until when it holds, or that it was explained above.
    """

    clause: str
    label: str
    operator: str
    citation: str
    outcome: OutcomeWord | None
    evidence: Evidence | None = None
    note: str | None = None
    readings: tuple[str, ...] = ()
    clauses: tuple[Explanation, ...] = ()


def explain(run: Evaluation, category_id: str, *, depth: Depth = "whole") -> Explanation:
    """Return the tree of clauses of one category for the first site.

    Parameters
    ----------
    run
        An evaluation with its clauses kept (`Engine.run`).
    category_id
        A category of the rulebook, findings and grounds alike.
    depth
        ``"compact"`` keeps the deciding path only.

    Raises
    ------
    RulebookError
        If the rulebook has no such category.
    """
    run.category(category_id)
    return _explain(run.bound.clauses[category_id], run, depth, set())


def _explain(clause: Clause, run: Evaluation, depth: Depth, seen: set[str]) -> Explanation:
    node = clause.node
    value = run.seen(clause.path)
    counts = value is not None and clause.counts
    outcome = Outcome.of(value.first).value if value is not None and clause.counts else None
    notes = [n for n in (_dates(node.from_, node.until), _not_counted(clause, run), node.note) if n]
    operator, citation, evidence = clause.operator, clause.citation, None
    children: tuple[Explanation, ...] = ()
    if isinstance(node, CategoryNode):
        # A clause that names a category takes the place of the category's own first clause.
        if node.category in seen and counts:
            notes.append("explained above")
        elif counts:
            seen.add(node.category)
            inner = _explain(run.bound.clauses[node.category], run, depth, seen)
            operator, citation, evidence, children = inner.operator, inner.citation, inner.evidence, inner.clauses
    elif clause.children:
        children = tuple(
            _explain(child, run, depth, seen)
            for child in clause.children
            if depth == "whole" or _decides(clause, child, run)
        )
    elif counts:
        evidence = evidence_of(clause, run)
    return Explanation(
        clause=clause.path,
        label=clause_label(clause, run),
        operator=operator,
        citation=citation,
        outcome=outcome,
        evidence=evidence,
        note="; ".join(notes) or None,
        readings=tuple(f"{r}={run.bound.readings[r]}" for r in dict.fromkeys((*node.when, *node.readings))),
        clauses=children,
    )


def _decides(clause: Clause, child: Clause, run: Evaluation) -> bool:
    value, part = run.seen(clause.path), run.seen(child.path)
    if value is None or part is None or not child.counts:
        return False
    answer = value.first
    decisive = {"any": 1, "all": -1}.get(clause.operator)
    return answer not in {decisive, 0} or part.first == answer or clause.operator == "not"


def _dates(start: Day | None, end: Day | None) -> str | None:
    words = []
    if start is not None:
        words.append(f"from {_day(start)}")
    if end is not None:
        words.append(f"until {_day(end)}")
    return " ".join(words) or None


def _day(day: Day) -> str:
    return f"a day between {day.earliest} and {day.latest}" if isinstance(day, UncertainDay) else str(day)


def _not_counted(clause: Clause, run: Evaluation) -> str | None:
    if clause.in_force == "no":
        return f"not in force on {run.bound.as_of}"
    if clause.in_force == "unsure":
        return f"perhaps in force on {run.bound.as_of}"
    if not clause.chosen:
        return "not the reading chosen"
    return None


def text_lines(explanation: Explanation) -> list[str]:
    """Return the tree as indented lines of text, one clause each; a citation stands where it changes."""
    return _lines(explanation, 0, "")


def _lines(explanation: Explanation, level: int, cited_above: str) -> list[str]:
    mark = {"yes": "YES", "no": "no", "undetermined": "?", None: "-"}[explanation.outcome]
    words = f": {explanation.evidence.words}" if explanation.evidence else ""
    joint = f" ({explanation.operator} of)" if explanation.operator in {"any", "all"} and explanation.clauses else ""
    note = f" [{explanation.note}]" if explanation.note else ""
    readings = f" {{{', '.join(explanation.readings)}}}" if explanation.readings else ""
    cited = f" <{explanation.citation}>" if explanation.citation != cited_above else ""
    lines = [f"{'  ' * level}{mark:>3}  {explanation.label}{joint}{words}{note}{readings}{cited}"]
    for child in explanation.clauses:
        lines += _lines(child, level + 1, explanation.citation)
    return lines
