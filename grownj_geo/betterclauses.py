"""How clauses below one make it a yes or a no: what the search for a better place needs to know of the law's tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grownj_geo.nodes import RatioNode, SiteFactNode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grownj_geo.binding import Clause
    from grownj_geo.evaluate import Evaluation

__all__ = ["clauses_below", "deciding_below", "facts_of", "fewest_new", "one_is_enough"]


def one_is_enough(clause: Clause, sign: int) -> bool:
    """Return whether one clause below another makes it a yes (sign 1), or a no (-1)."""
    return (clause.operator == "any") == (sign == 1)


def deciding_below(clause: Clause, sign: int) -> tuple[Clause, ...]:
    """Return the clauses below one that can make it a yes, or a no; one only perhaps in force decides nothing."""
    if one_is_enough(clause, sign):
        return tuple(child for child in clause.active if child.in_force == "yes")
    return clause.active


def fewest_new(clause: Clause, here: Evaluation, there: Evaluation, sign: int = 1) -> tuple[tuple[Clause, int], ...]:
    """Return the fewest leaves that a clause owes its answer at another place to, and that are otherwise here.

    Parameters
    ----------
    clause
        It is a yes there, or (sign -1) a no.
    here, there
        The evaluations of both places.

    Returns
    -------
    tuple
        Each leaf with what it is there: 1 or -1.
    """
    if clause.operator == "category":
        return fewest_new(there.bound.clauses[clause.content], here, there, sign)
    if clause.operator == "not":
        return fewest_new(clause.children[0], here, there, -sign)
    if clause.operator in {"any", "all"}:
        parts = [
            fewest_new(child, here, there, sign)
            for child in deciding_below(clause, sign)
            if there.answers.get(child.path) == sign
        ]
        if one_is_enough(clause, sign):
            return min(parts, key=len, default=())
        alike: dict[str, tuple[Clause, int]] = {}
        for part in parts:
            for leaf, answer in part:
                alike.setdefault(leaf.content, (leaf, answer))
        return tuple(alike.values())
    return () if here.answers.get(clause.path) == sign else ((clause, sign),)


def facts_of(clause: Clause) -> tuple[str, ...]:
    """Return the facts that a clause itself asks for."""
    if isinstance(clause.node, SiteFactNode):
        return (clause.node.site_fact.name,)
    return (clause.node.ratio.part, *clause.node.ratio.whole) if isinstance(clause.node, RatioNode) else ()


def clauses_below(clause: Clause) -> Iterator[Clause]:
    """Yield a clause and all below it, but for those of other categories."""
    yield clause
    for child in clause.children:
        yield from clauses_below(child)
