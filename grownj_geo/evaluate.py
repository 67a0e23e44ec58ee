"""The engine: a rulebook's categories computed for any number of sites at once.

Binding fixes the day and the readings and yields a tree of clauses. Evaluating gives every clause three
outcomes (the answer, the answer if what is near a line fell where it leans, the answer without
assumptions), the margin in feet and the causes of what is undetermined. No category is computed twice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.logic import Cause
from grownj_geo.nodes import (
    CategoryNode,
    Day,
    Node,
    NodeBase,
    children_of,
    operator_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from grownj_geo.determination import Evidence
    from grownj_geo.leaves import Leaves
    from grownj_geo.manifest import Status
    from grownj_geo.rulebook import Rulebook

__all__ = ["BoundRulebook", "Clause", "Evaluation", "Values", "bind", "day_reached"]

NO_CAUSE = Cause(0)
_NO_CAUSES = np.zeros(1, dtype=np.int32)
ANSWER, LEANING, STRICT = 0, 1, 2
"""The rows of a clause's outcomes."""


@dataclass(frozen=True, eq=False)
class Values:
    """What one clause comes to for n sites.

    Attributes
    ----------
    outcomes
        Shape (3, n): the answer; the answer if what is near a line falls where it leans; the answer without
        assumptions. 1 is yes, -1 no, 0 undetermined.
    margin_ft
        Shape (n,): feet by which the deciding line is missed (negative) or cleared; NaN where no line decides.
        None where no line decides for any site.
    causes
        Shape (n,): flags of `Cause` where the answer is undetermined, else 0.
    """

    outcomes: NDArray[np.int8]
    margin_ft: NDArray[np.float64] | None
    causes: NDArray[np.int32]

    def margin(self, site: int = 0) -> float:
        """Return one site's margin in feet, NaN where no line decides."""
        return float("nan") if self.margin_ft is None else float(self.margin_ft[site])

    @classmethod
    def constant(cls, n: int, value: int, *, cause: Cause = NO_CAUSE, leaning: int | None = None) -> Values:
        """Return the same outcome for every site."""
        outcomes = np.full((3, n), value, dtype=np.int8)
        if leaning is not None:
            outcomes[LEANING] = leaning
        return cls(outcomes, None, np.full(n, int(cause), dtype=np.int32))


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


@dataclass
class Evaluation:
    """The categories of a bound rulebook for one table of sites, computed as they are asked for.

    Beside every kept clause's values it keeps the first site's answer (1, 0 or -1), and what explanations worked
    out from it: the deciding leaves, their evidence, how well each clause is known.

    Parameters
    ----------
    bound
        The rulebook.
    leaves
        Computes the clauses that look at the world: layers, lists, facts.
    keep
        Keep every clause's values, for explanation. Costs memory with many sites.
    common
        Evidence that reads the same for every site: may be shared by all evaluations of one atlas.
    margins
        Work out the margin of every clause. Costs half the time with many sites.
    """

    bound: BoundRulebook
    leaves: Leaves
    keep: bool = True
    margins: bool = True
    clause_values: dict[str, Values] = field(default_factory=dict)
    answers: dict[str, int] = field(default_factory=dict)
    deciding: dict[str, tuple[Clause, ...]] = field(default_factory=dict)
    evidence: dict[str, Evidence] = field(default_factory=dict)
    statuses: dict[str, str] = field(default_factory=dict)
    common: dict[str, Evidence] = field(default_factory=dict)
    _categories: dict[str, Values] = field(default_factory=dict)

    def category(self, category_id: str) -> Values:
        """Return a category's values.

        Raises
        ------
        RulebookError
            If the rulebook has no such category.
        """
        found = self._categories.get(category_id)
        if found is None:
            if category_id not in self.bound.clauses:
                self.bound.rulebook.category(category_id)
            found = self._categories[category_id] = self._value(self.bound.clauses[category_id])
        return found

    def _value(self, clause: Clause) -> Values:
        match clause.operator:
            case "any" | "all":
                result = self._joint(clause)
            case "not":
                result = _negated(self._value(clause.children[0]))
            case "category":
                result = self.category(clause.content)
            case _:
                result = self.leaves.value(clause)
        if self.keep:
            self.clause_values[clause.path] = result
            if self.leaves.n:
                self.answers[clause.path] = int(result.outcomes[ANSWER, 0])
        return result

    def _joint(self, clause: Clause) -> Values:
        return _combine(self._parts(clause), self.leaves.n, strongest=clause.operator == "any", margins=self.margins)

    def _parts(self, clause: Clause) -> list[Values]:
        """Return the values of the clauses that count; one that is only perhaps in force decides nothing."""
        parts = []
        for child in clause.active:
            value = self._value(child)
            parts.append(value if child.in_force == "yes" else _perhaps(value, clause.operator == "any"))
        return parts


def _combine(parts: list[Values], n: int, *, strongest: bool, margins: bool) -> Values:
    if not parts:
        # Nothing in force: an empty "any" is no, an empty "all" is yes.
        return Values.constant(n, -1 if strongest else 1)
    if len(parts) == 1:
        return parts[0]
    if n == 1:
        return _combine_one(parts, strongest=strongest)
    choose = np.maximum if strongest else np.minimum
    outcomes = parts[0].outcomes
    for part in parts[1:]:
        outcomes = choose(outcomes, part.outcomes)
    answer = outcomes[ANSWER]
    causes = np.zeros(n, dtype=np.int32)
    if not answer.all():
        for part in parts:
            causes |= part.causes
        causes[answer != 0] = 0
    margin = _margin(parts, answer, n, strongest=strongest) if margins else None
    return Values(outcomes, margin, causes)


def _margin(parts: list[Values], answer: NDArray[np.int8], n: int, *, strongest: bool) -> NDArray[np.float64] | None:
    """Return the margin of the clauses that share the answer: the widest of "any", the narrowest of "all"."""
    if all(part.margin_ft is None for part in parts):
        return None
    decisive = 1 if strongest else -1
    nearest = np.fmax if strongest else np.fmin
    margin = np.full(n, np.nan)
    unaided = np.zeros(n, dtype=bool)
    for part in parts:
        same = part.outcomes[ANSWER] == answer
        if part.margin_ft is None:
            unaided |= same
            continue
        margin = nearest(margin, np.where(same, part.margin_ft, np.nan))
        unaided |= same & np.isnan(part.margin_ft)
    # A clause that decides by itself, with no line in sight, leaves no margin to report.
    margin[unaided & (answer == decisive)] = np.nan
    return margin


def _combine_one(parts: list[Values], *, strongest: bool) -> Values:
    """Do the same for one site: plain numbers are much faster than arrays of one."""
    choose = np.maximum if strongest else np.minimum
    outcomes = parts[0].outcomes
    for part in parts[1:]:
        outcomes = choose(outcomes, part.outcomes)
    answer, decisive = outcomes[ANSWER, 0], 1 if strongest else -1
    causes = _NO_CAUSES
    if answer == 0:
        causes = parts[0].causes
        for part in parts[1:]:
            causes = causes | part.causes
    finite, unaided = [], False
    for part in parts:
        if part.outcomes[ANSWER, 0] == answer:
            margin = math.nan if part.margin_ft is None else float(part.margin_ft[0])
            if math.isfinite(margin):
                finite.append(margin)
            else:
                unaided = True
    if not finite or (unaided and answer == decisive):
        return Values(outcomes, None, causes)
    return Values(outcomes, np.array([max(finite) if strongest else min(finite)]), causes)


def _negated(value: Values) -> Values:
    margin = None if value.margin_ft is None else np.negative(value.margin_ft)
    return Values(np.negative(value.outcomes), margin, value.causes)


def _perhaps(value: Values, in_any: bool) -> Values:  # noqa: FBT001
    choose = np.minimum if in_any else np.maximum
    outcomes = choose(value.outcomes, np.int8(0))
    unsure = (outcomes[ANSWER] == 0).astype(np.int32) * int(Cause.LIST_UNKNOWN)
    return replace(value, outcomes=outcomes, margin_ft=None, causes=value.causes | unsure)
