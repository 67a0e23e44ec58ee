"""The engine: a rulebook's categories computed for any number of sites at once.

Evaluating gives every clause three outcomes (the answer, the answer if what is near a line fell where it leans,
the answer without assumptions), the margin in feet and the causes of what is undetermined. No category is computed
twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import shapely

from grownj_geo.leaves import Leaves
from grownj_geo.nodes import ContainsFeatureNode
from grownj_geo.sitetable import SiteTable
from grownj_geo.values import ANSWER, Values, combine, negated, perhaps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from grownj_geo.binding import BoundRulebook, Clause
    from grownj_geo.determination import Evidence
    from grownj_geo.layer import Layer

__all__ = ["Evaluation"]

_NOT_SEEN = 2
_Causes = TypeVar("_Causes", int, "NDArray[np.int32]")


def _mark(causes: _Causes) -> _Causes:
    return -2 - causes


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
    whole
        An evaluation of many sites with its clauses kept, and the row of it that is this one's only site.
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
    whole: tuple[Evaluation, int] | None = None
    _categories: dict[str, Values] = field(default_factory=dict)

    def category(self, category_id: str) -> Values:
        """Return a category's values.

        Raises
        ------
        RulebookError
            If the rulebook has no such category.
        """
        found = self._categories.get(category_id)
        if found is None and self.whole is not None:
            table, row = self.whole
            found = self._categories[category_id] = table.category(category_id).row(row)
        if found is None:
            if category_id not in self.bound.clauses:
                self.bound.rulebook.category(category_id)
            found = self._categories[category_id] = self._value(self.bound.clauses[category_id])
        return found

    def seen(self, path: str) -> Values | None:
        """Return the values of a clause by its path; None where it was not evaluated or not kept."""
        found = self.clause_values.get(path)
        if found is None and self.whole is not None:
            table, row = self.whole
            kept = table.clause_values.get(path)
            if kept is not None:
                found = self.clause_values[path] = kept.row(row)
        return found

    def row(self, row: int) -> Evaluation:
        """Return what was evaluated of one of the sites, as an evaluation of its own that can be explained.

        All categories that it will be asked for must have been evaluated, and clauses kept.
        """
        if len(self.clause_values) != self._every_answer.shape[1]:
            raise RuntimeError(
                "Clauses were evaluated after the first site was taken out; evaluate all of them before."
            )
        answers = dict(zip(self.clause_values, self._every_answer[row].tolist(), strict=True))
        return Evaluation(self.bound, self.leaves.row(row), answers=answers, common=self.common, whole=(self, row))

    @cached_property
    def marks(self) -> tuple[int, ...]:
        """What the first site left open: of every leaf its answer, or less than -1 by its causes where that is open."""
        if self.whole is not None:
            table, row = self.whole
            return tuple(table.every_mark[row].tolist())
        seen = [self.clause_values.get(leaf.path) for leaf in self.bound.leaves]
        return tuple(_NOT_SEEN if v is None else v.first or _mark(int(v.causes[0])) for v in seen)

    @cached_property
    def _every_answer(self) -> NDArray[np.int8]:
        """The answers of every clause that was kept, shape (n, clauses)."""
        kept = [values.outcomes[ANSWER] for values in self.clause_values.values()]
        return np.stack(kept, axis=1) if kept else np.empty((self.leaves.n, 0), dtype=np.int8)

    @cached_property
    def every_mark(self) -> NDArray[np.int64]:
        """The marks of every site, shape (n, leaves)."""
        found = np.full((self.leaves.n, len(self.bound.leaves)), _NOT_SEEN, dtype=np.int64)
        for column, leaf in enumerate(self.bound.leaves):
            values = self.clause_values.get(leaf.path)
            if values is not None:
                answer = values.outcomes[ANSWER]
                found[:, column] = np.where(answer != 0, answer, _mark(values.causes))
        return found

    def take(self, values: Mapping[str, Values]) -> None:
        """Take categories as another evaluation of the same sites has them, instead of computing them."""
        self._categories.update(values)

    def _value(self, clause: Clause) -> Values:
        match clause.operator:
            case "any" | "all":
                result = self._joint(clause)
            case "not":
                result = negated(self._value(clause.children[0]))
            case "category":
                result = self.category(clause.content)
            case "contains_feature" if isinstance(clause.node, ContainsFeatureNode):
                result = self.leaves.contains_feature(clause.node, elsewhere=self._elsewhere)
            case _:
                result = self.leaves.value(clause)
        if self.keep:
            self.clause_values[clause.path] = result
            if self.leaves.n:
                self.answers[clause.path] = result.first
        return result

    def _joint(self, clause: Clause) -> Values:
        return combine(self._parts(clause), self.leaves.n, strongest=clause.operator == "any", margins=self.margins)

    def _parts(self, clause: Clause) -> list[Values]:
        """Return the values of the clauses that count; one that is only perhaps in force decides nothing."""
        parts = []
        for child in clause.active:
            value = self._value(child)
            parts.append(value if child.in_force == "yes" else perhaps(value, in_any=clause.operator == "any"))
        return parts

    def _elsewhere(self, layer: Layer, indices: NDArray[np.int64], category: str) -> Values:
        """Return a category's values at other places: where some features stand."""
        table = SiteTable(
            np.array(shapely.points(layer.bounds[indices, :2]), dtype=object),
            layer.tolerances_ft[indices],
            np.ones(len(indices), dtype=bool),
            tuple(layer.value("mun_code", int(i)) for i in indices),
        )
        there = Leaves(self.bound, self.leaves.atlas, table, feature_cache=self.leaves.feature_cache)
        return Evaluation(self.bound, there, keep=False).category(category)
