"""What is made of a question about a site, wherever: in the thread that answers, or in the helper process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grownj_geo.explain import explain
from grownj_geo.serveanswers import terms_of
from grownj_geo.servegeo import overlay_of
from grownj_geo.serveproblems import ProblemError

if TYPE_CHECKING:
    from grownj_geo.explain import Explanation
    from grownj_geo.serveanswers import Answer, Answers
    from grownj_geo.serveasked import ExplainAsk, SiteAsk
    from grownj_geo.site import Site

__all__ = ["determined", "explained", "overlaid"]


def determined(answers: Answers, asked: SiteAsk, site: Site | None, *, known: str | None = None) -> Answer | str:
    """Return the answer to a question, or only its tag where `known` has that; see `Answers.answer`."""
    return answers.answer(asked, known, site)


def overlaid(answers: Answers, asked: SiteAsk, site: Site | None) -> dict[str, Any]:
    """Return what a map shows beside the answer to a question, as GeoJSON."""
    found = answers.whole_answer(asked, site)
    terms = terms_of(asked.as_of, asked.rulebook, asked.readings, strict=asked.strict)
    return overlay_of(answers.engine(terms), found.site, found.record)


def explained(answers: Answers, asked: ExplainAsk, site: Site | None) -> dict[str, Any]:
    """Return the tree of clauses behind one finding.

    Raises
    ------
    ProblemError
        404 where the rulebook has no such category.
    """
    terms = terms_of(asked.as_of, asked.rulebook, asked.readings, strict=asked.strict)
    engine = answers.engine(terms)
    if asked.category not in engine.bound.clauses:
        detail = f"There is no category {asked.category!r} in {asked.rulebook}. See /api/v1/rules."
        raise ProblemError(404, detail, code="no_category")
    run = engine.run(answers.site(asked) if site is None else site)
    return _clause(explain(run, asked.category, depth="compact" if asked.compact else "whole"))


def _clause(tree: Explanation) -> dict[str, Any]:
    observed = tree.evidence.words if tree.evidence else ""
    return {
        "clause": tree.clause,
        "label": tree.label,
        "text": tree.label,
        "operator": tree.operator,
        "outcome": tree.outcome,
        "observed": observed,
        "words": observed,
        "citation": tree.citation,
        "status": tree.evidence.status if tree.evidence else None,
        "note": tree.note,
        "readings": list(tree.readings),
        "children": [_clause(child) for child in tree.clauses],
    }
