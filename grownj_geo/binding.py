"""A rulebook with its day and its readings fixed: the tree of clauses that is evaluated and explained."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

from grownj_geo.nodes import CategoryNode, Day, Node, NodeBase, children_of, named_parameters, operator_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grownj_geo.manifest import Status
    from grownj_geo.rulebook import Rulebook

__all__ = ["BoundRulebook", "Clause", "bind", "day_reached"]


@dataclass(frozen=True, eq=False)
class Clause:
    """One clause of a rulebook with its day and readings fixed.

    Attributes
    ----------
    path
        Unique place in the rulebook, such as ``"port_district.1"``.
    in_force
        ``"yes"``, ``"no"``, or ``"unsure"`` where the first or last day is only known to lie in a span.
    chosen
        Whether the readings that it depends on are the chosen ones.
    content
        What a leaf clause asks, as text: clauses that ask the same are computed once. The id, for a category.
    """

    path: str
    node: Node
    operator: str
    children: tuple[Clause, ...]
    citation: str
    in_force: str
    chosen: bool
    content: str
    status: Status | None

    @cached_property
    def counts(self) -> bool:
        """Whether the clause takes part in the answer."""
        return self.chosen and self.in_force != "no"

    @cached_property
    def active(self) -> tuple[Clause, ...]:
        """The clauses below it that take part in the answer."""
        return tuple(child for child in self.children if child.counts)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The parameters that it names, or that a clause inside it names."""
        return tuple(named_parameters(self.node))

    def walk(self) -> Iterator[Clause]:
        """Yield the clause and all clauses below it, in order."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, eq=False)
class BoundRulebook:
    """A rulebook for one day and one set of readings.

    Attributes
    ----------
    clauses
        Each category's tree of clauses.
    by_path
        Every clause by its path.
    figures, lists
        The parameters' values on the day.
    """

    rulebook: Rulebook
    as_of: date
    readings: Mapping[str, str]
    clauses: Mapping[str, Clause]
    by_path: Mapping[str, Clause]
    figures: Mapping[str, float]
    lists: Mapping[str, tuple[str, ...]]

    @cached_property
    def leaves(self) -> tuple[Clause, ...]:
        """The clauses that look at the world, in order: those that neither join others nor name a category."""
        return tuple(c for c in self.by_path.values() if not c.children and not isinstance(c.node, CategoryNode))


def bind(rulebook: Rulebook, *, as_of: date, readings: Mapping[str, str]) -> BoundRulebook:
    """Fix the day and the readings of a rulebook.

    Parameters
    ----------
    rulebook
        A checked rulebook.
    as_of
        A day that the rulebook covers.
    readings
        Chosen option by ambiguity id.

    Raises
    ------
    RulebookError
        If the rulebook does not cover the day.
    """
    rulebook.check_day(as_of)
    clauses = {
        category.id: _bind(category.rule, category.id, category.citation, as_of, readings)
        for category in rulebook.categories
    }
    values = {name: parameter.at(as_of).value for name, parameter in rulebook.parameters.items()}
    figures = {name: value for name, value in values.items() if not isinstance(value, tuple)}
    lists = {name: value for name, value in values.items() if isinstance(value, tuple)}
    by_path = {clause.path: clause for top in clauses.values() for clause in top.walk()}
    return BoundRulebook(rulebook, as_of, readings, clauses, by_path, figures, lists)


def _bind(node: Node, path: str, citation: str, as_of: date, readings: Mapping[str, str]) -> Clause:
    citation = node.citation or citation
    return Clause(
        path,
        node,
        operator_of(node),
        tuple(
            _bind(child, f"{path}.{child.id or number}", citation, as_of, readings)
            for number, child in enumerate(children_of(node), start=1)
        ),
        citation,
        _in_force(node.from_, node.until, as_of),
        all(_chosen(readings.get(reading), option) for reading, option in node.when.items()),
        _content(node),
        node.status,
    )


def _chosen(option: str | None, wanted: str | tuple[str, ...]) -> bool:
    return option in wanted if isinstance(wanted, tuple) else option == wanted


def _content(node: Node) -> str:
    """Return what a leaf's outcome depends on: its operator with all that it names, not its labels or dates."""
    if isinstance(node, CategoryNode):
        return node.category
    if children_of(node):
        return ""
    return node.model_dump_json(include=set(type(node).model_fields) - set(NodeBase.model_fields))


def _in_force(start: Day | None, end: Day | None, as_of: date) -> str:
    begun = day_reached(start, as_of) if start is not None else "yes"
    ended = day_reached(end, as_of) if end is not None else "no"
    if begun == "no" or ended == "yes":
        return "no"
    return "yes" if begun == "yes" and ended == "no" else "unsure"


def day_reached(day: Day, as_of: date) -> str:
    """Return whether a day has come: ``"yes"``, ``"no"``, or ``"unsure"`` inside an uncertain span."""
    if isinstance(day, date):
        return "yes" if as_of >= day else "no"
    return "yes" if as_of >= day.latest else "no" if as_of < day.earliest else "unsure"
