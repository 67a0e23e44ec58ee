"""Which missing things could decide what is undetermined: the smallest sets, found by trying.

Every missing thing (a layer, a fact, a reading) is let loose, alone and then in pairs, and the whole rulebook
is computed for all trials at once, each clause as the pair of its least and greatest possible outcome.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.logic import Cause
from grownj_geo.nodes import (
    ContainsFeatureNode,
    DesignatedNode,
    InsideNode,
    Node,
    OverlapsNode,
    RatioNode,
    ShareOverNode,
    SiteFactNode,
    UndeterminedNode,
    WithinNode,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from grownj_geo.binding import Clause
    from grownj_geo.evaluate import Evaluation

    Pair = tuple[NDArray[np.int8], NDArray[np.int8]]

__all__ = ["deciding_sets", "open_points"]

_CUT = "A3"
"""The reading that says how a site is taken that a line cuts."""
_MOST_SETS = 12
_LARGEST_SET = 2


def deciding_sets(run: Evaluation, categories: Sequence[str]) -> dict[str, list[tuple[str, ...]]]:
    """Return, for each undetermined category, the smallest sets of missing things that could decide it.

    A missing thing is ``layer:NAME``, ``fact:NAME``, ``reading:ID`` (A3 for a site that a line cuts),
    ``position:LAYER`` (a better position or line), ``place`` or ``municipality``. Sets of two are looked for where no
    single thing decides.

    Parameters
    ----------
    run
        An evaluation of one site, with its clauses kept.
    categories
        Ids of categories that were evaluated.
    """
    undecided = [c for c in categories if run.category(c).first == 0]
    if not undecided:
        return {}
    keys = {
        leaf.path: found
        for leaf in run.bound.leaves
        if run.answers.get(leaf.path) == 0 and (found := _needs_of(leaf, run))
    }
    names = sorted({name for needs in keys.values() for need in needs for name in need.names})
    result: dict[str, list[tuple[str, ...]]] = {}
    # The last trial lets everything loose: what that does not decide, no set can.
    singles: list[tuple[str, ...]] = [*combinations(names, 1), tuple(names)]
    hopeful = _decided(run, keys, singles, undecided, result)
    if hopeful and len(names) > 1:
        _decided(run, keys, list(combinations(names, 2)), hopeful, result)
    return result


def _decided(
    run: Evaluation,
    keys: dict[str, tuple[_Need, ...]],
    trials: list[tuple[str, ...]],
    categories: list[str],
    result: dict[str, list[tuple[str, ...]]],
) -> list[str]:
    """Add the trials that decide each category; return those that only the last trial decides."""
    bounds = _Trials(run, keys, trials)
    hopeful = []
    for category in categories:
        low, high = bounds.category(category)
        hits = np.flatnonzero((low == -1) | (high == 1))
        if len(hits) == 1 and hits[0] == len(trials) - 1 and len(trials[-1]) != 1:
            hopeful.append(category)
        result[category] = [trials[i] for i in hits if len(trials[i]) <= _LARGEST_SET][:_MOST_SETS]
    return hopeful


def open_points(run: Evaluation) -> Hashable:
    """Return all that `deciding_sets` depends on: evaluations of a rulebook that are alike in it have the same sets."""
    stated = frozenset(name for name in run.leaves.facts if _is_stated(run, name))
    return bool(run.leaves.sites.placed[0]), stated, run.marks


@dataclass(frozen=True)
class _Need:
    """Things that together settle a leaf clause.

    Attributes
    ----------
    either_way
        Whether they can settle it as a no too: a layer that is not complete only ever says yes.
    """

    names: frozenset[str]
    either_way: bool = True


def _needs_of(clause: Clause, run: Evaluation) -> tuple[_Need, ...]:
    """Return the ways to settle an undetermined leaf clause, each by itself."""
    node = clause.node
    values = run.seen(clause.path)
    causes = Cause(0 if values is None else int(values.causes[0]))
    by_reading = _by_reading_of_cut(node, causes)
    if isinstance(node, UndeterminedNode):
        opened = node.readings if node.undetermined.cause == "reading_open" else ()
        return tuple(_Need(frozenset({f"reading:{reading}"})) for reading in opened)
    if isinstance(node, RatioNode):
        facts = {node.ratio.part, *node.ratio.whole}
        return (_Need(frozenset(f"fact:{name}" for name in facts if not _is_stated(run, name))),)
    if isinstance(node, SiteFactNode):
        fact = node.site_fact
        shown = () if fact.supported_by is None else _from_layer(fact.supported_by.layer, causes, run)
        return (_Need(frozenset({f"fact:{fact.name}"})), *by_reading, *shown)
    if Cause.MUNICIPALITY_UNCERTAIN in causes:
        return (_Need(frozenset({"municipality"})),)
    layer_id = _layer_of(clause)
    if layer_id is not None:
        return by_reading + _from_layer(layer_id, causes, run)
    return by_reading or ((_Need(frozenset({"place"})),) if Cause.LOCATION_UNKNOWN in causes else ())


def _by_reading_of_cut(node: Node, causes: Cause) -> tuple[_Need, ...]:
    """Return the reading that decides a clause whose line cuts the site, where the clause is read by it."""
    where = node.inside if isinstance(node, InsideNode) else None
    if Cause.PARTIAL not in causes or (where is not None and where.cut != "as_read"):
        return ()
    return (_Need(frozenset({f"reading:{_CUT}"})),)


def _from_layer(layer_id: str, causes: Cause, run: Evaluation) -> tuple[_Need, ...]:
    """Return what a clause that looks at a layer waits for: the layer, the site's place, or a better position."""
    names = set()
    if causes & (Cause.LAYER_MISSING | Cause.LAYER_UNUSABLE):
        names.add(f"layer:{layer_id}")
    # Where all of a municipality is alike, a place in it decides no more; what a layer will say of it nobody knows.
    unseen = Cause.LOCATION_UNKNOWN | Cause.LAYER_MISSING | Cause.LAYER_UNUSABLE
    if causes & unseen and not run.leaves.sites.placed[0] and layer_id != "designations":
        names.add("place")
    if not names and Cause.NEAR_LINE in causes:
        names.add(f"position:{layer_id}")
    if not names:
        return ()
    # Loading a layer that is not complete never proves a no; a place or a better position can.
    one_sided = f"layer:{layer_id}" in names and not run.leaves.atlas.manifests[layer_id].complete
    return (_Need(frozenset(names), either_way=not one_sided),)


def _is_stated(run: Evaluation, name: str) -> bool:
    column = run.leaves.facts.get(name)
    return column is not None and column[0] is not None


def _layer_of(clause: Clause) -> str | None:
    node = clause.node
    if isinstance(node, InsideNode):
        return node.inside.layer
    if isinstance(node, OverlapsNode):
        return node.overlaps.layer
    if isinstance(node, WithinNode):
        return node.within.layer
    if isinstance(node, ShareOverNode):
        return node.share_over.layer
    if isinstance(node, ContainsFeatureNode):
        return node.contains_feature.layer
    return "designations" if isinstance(node, DesignatedNode) else None


class _Trials:
    """Least and greatest outcome of every category in every trial."""

    def __init__(self, run: Evaluation, keys: dict[str, tuple[_Need, ...]], trials: list[tuple[str, ...]]) -> None:
        self._run = run
        self._keys = keys
        self._n = len(trials)
        names = {name: row for row, name in enumerate(dict.fromkeys(name for trial in trials for name in trial))}
        loose = np.zeros((len(names), len(trials)), dtype=bool)
        loose[
            [names[name] for trial in trials for name in trial],
            np.repeat(np.arange(len(trials)), [len(trial) for trial in trials]),
        ] = True
        self._with = {name: loose[row] for name, row in names.items()}
        self._categories: dict[str, Pair] = {}
        self._fixed = {value: np.full(self._n, value, dtype=np.int8) for value in (-1, 0, 1)}

    def category(self, category_id: str) -> Pair:
        found = self._categories.get(category_id)
        if found is None:
            found = self._categories[category_id] = self._pair(self._run.bound.clauses[category_id])
        return found

    def _pair(self, clause: Clause) -> Pair:
        answer = self._run.answers.get(clause.path, 0)
        if answer:
            # More knowledge never moves what is decided.
            return self._fixed[answer], self._fixed[answer]
        match clause.operator:
            case "category":
                return self.category(clause.content)
            case "any" | "all":
                return self._joint(clause, strongest=clause.operator == "any")
            case "not":
                low, high = self._pair(clause.children[0])
                return np.negative(high), np.negative(low)
        return self._loose(clause)

    def _loose(self, clause: Clause) -> Pair:
        """Return a leaf clause that is undetermined, let loose where a trial meets what it needs."""
        low = high = self._fixed[0]
        needs = self._keys.get(clause.path)
        if needs is None:
            return low, high
        lower, higher = np.zeros((2, self._n), dtype=bool)
        for need in needs:
            met = np.logical_and.reduce([self._with[name] for name in sorted(need.names)])
            higher |= met
            if need.either_way:
                lower |= met
        return np.where(lower, self._fixed[-1], low), np.where(higher, self._fixed[1], high)

    def _joint(self, clause: Clause, *, strongest: bool) -> Pair:
        choose, damp = (np.maximum, np.minimum) if strongest else (np.minimum, np.maximum)
        decisive, neutral = (self._fixed[1], self._fixed[-1]) if strongest else (self._fixed[-1], self._fixed[1])
        low = high = neutral
        for child in clause.active:
            child_low, child_high = self._pair(child)
            if child.in_force == "unsure":
                child_low, child_high = damp(child_low, self._fixed[0]), damp(child_high, self._fixed[0])
            if child_low is decisive and child_high is decisive:
                return decisive, decisive
            if child_low is not neutral or child_high is not neutral:
                low, high = choose(low, child_low), choose(high, child_high)
        return low, high
