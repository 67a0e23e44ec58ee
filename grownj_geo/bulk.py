"""Many sites at once, exactly: what is observed of them with arrays, and the rules once for all that are alike.

Sites of which the same was observed have the same outcomes, so the rules are evaluated once for each distinct
combination of observations. Margins differ from site to site even then; which line decides does not, once the lines
that are near are put in order of their distance. So the margin of a category is looked up, not computed again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.bulkgroup import Channels, grouped
from grownj_geo.bulkmeasure import some
from grownj_geo.bulkobserve import Observations, observe
from grownj_geo.bulkplan import Plan, plan_of
from grownj_geo.evaluate import Evaluation
from grownj_geo.leaves import Leaves
from grownj_geo.measured import key_of
from grownj_geo.nodes import InsideNode, OverlapsNode, SiteFactNode, WithinNode
from grownj_geo.observe import MARGIN_LIMIT_FT
from grownj_geo.units import miles_to_ft
from grownj_geo.values import ANSWER, Values

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import NDArray

    from grownj_geo.atlas import Atlas
    from grownj_geo.binding import BoundRulebook, Clause
    from grownj_geo.cells import CellIndex
    from grownj_geo.determine import Engine
    from grownj_geo.nodes import Where
    from grownj_geo.site import FactValue
    from grownj_geo.sitetable import SiteTable

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Facts = Mapping[str, Sequence[FactValue | None]]

__all__ = ["DEFAULT_MARGIN_LIMIT_FT", "Findings", "bulk_leaves", "evaluate_many"]

DEFAULT_MARGIN_LIMIT_FT = 500.0
"""Margins are exact up to this many feet; beyond, all that is said is that they are greater."""


def bulk_leaves(
    bound: BoundRulebook,
    atlas: Atlas,
    sites: SiteTable,
    facts: Facts | None = None,
    *,
    index: CellIndex | None = None,
    margin_limit_ft: float = DEFAULT_MARGIN_LIMIT_FT,
) -> Leaves:
    """Return leaves of many sites on which nothing is left to measure.

    Evaluated, they give every site the outcomes, leanings and causes that it has alone. So do the margins below the
    limit; greater ones come back as some value that is as great as the limit at least, on the right side. Which
    feature is nearest is not looked for.

    Parameters
    ----------
    bound
        The rulebook.
    atlas
        The layers.
    sites
        The sites.
    facts
        Stated facts by name: one value for each site, None where it was not stated.
    index
        A cell index of the same atlas and rulebook: the same answers, faster.
    margin_limit_ft
        Feet up to which margins are exact.

    Raises
    ------
    ValueError
        If the limit is none that can be kept, or the index is of something else.
    """
    plan, limit = _plan(bound, atlas, index, margin_limit_ft)
    position, seen = _observed(plan, sites, index, limit)
    every = seen.take(position)
    return _Measured(
        bound,
        atlas,
        sites,
        facts or {},
        given_placement=every.places.placement(),
        coverages=every.coverages,
        distances=every.distances,
        land_shares=every.land_shares,
        lacking=every.lacking,
    )


@dataclass
class _Measured(Leaves):
    """Leaves that know where a feature without a figure may cover a site."""

    lacking: dict[Hashable, NDArray[np.bool_]] = field(default_factory=dict)

    def _lacking(self, where: Where) -> NDArray[np.bool_] | None:
        known = self.lacking.get(key_of(where))
        return super()._lacking(where) if known is None else known


@dataclass
class _Ranked(_Measured):
    """Leaves whose margins say which line they are the distance to: its rank among the lines that are near."""

    channels: Channels | None = None
    _coded: dict[str, Values] = field(default_factory=dict)

    def value(self, clause: Clause) -> Values:
        """Return the values of a leaf clause."""
        found = self._coded.get(clause.content)
        if found is None:
            found = self._coded[clause.content] = self._with_ranks(clause, super().value(clause))
        return found

    def _with_ranks(self, clause: Clause, found: Values) -> Values:
        channel = self._channel(clause)
        if found.margin_ft is None or channel is None or self.channels is None:
            return found
        ranks = self._ranks[self.channels.numbers[channel]]
        return Values(found.outcomes, np.where(np.isnan(found.margin_ft), np.nan, ranks), found.causes)

    @cached_property
    def _ranks(self) -> Floats:
        return self.channels.ranks() if self.channels is not None else np.zeros((0, self.n))

    def _channel(self, clause: Clause) -> Hashable | None:
        match clause.node:
            case InsideNode(inside=where) | OverlapsNode(overlaps=where):
                return key_of(where)
            case SiteFactNode(site_fact=fact) if fact.supported_by is not None:
                return key_of(fact.supported_by)
            case WithinNode(within=where):
                any_part = where.part == "any" or self._partial == "any"
                return (key_of(where), miles_to_ft(self.bound.figures[where.radius]), any_part)
            case _:
                return None


def _plan(bound: BoundRulebook, atlas: Atlas, index: CellIndex | None, margin_limit_ft: float) -> tuple[Plan, float]:
    if not 0 < margin_limit_ft <= MARGIN_LIMIT_FT:
        raise ValueError(
            f"The margin limit is {margin_limit_ft!r}; expected feet, more than 0 and at most {MARGIN_LIMIT_FT:,.0f}, "
            "beyond which lines are not looked for."
        )
    plan = plan_of(bound, atlas)
    if index is not None:
        index.check(plan, margin_limit_ft)
    return plan, margin_limit_ft


def _observed(plan: Plan, sites: SiteTable, index: CellIndex | None, limit_ft: float) -> tuple[Ints, Observations]:
    """Return observations of the sites that differ, and for each site which of these are its own."""
    n = len(sites)
    if index is None:
        return np.arange(n), observe(plan, sites, limit_ft=limit_ft)
    position, rows = index.alike(sites)
    return position, observe(plan, sites if len(rows) == n else some(sites, rows), limit_ft=limit_ft, index=index)


# -- findings ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Findings:
    """The categories of a rulebook for n sites, in g groups of sites that are alike.

    Attributes
    ----------
    categories
        Ids of the categories, in the rulebook's order.
    group
        Which group each site belongs to, shape (n,).
    outcomes
        Shape (3, categories, g): the answer, the answer if what is near a line fell where it leans, the answer
        without assumptions. 1 is yes, -1 no, 0 undetermined.
    causes
        Shape (categories, g): flags of `Cause`.
    first
        One site of each group, shape (g,).
    leaves
        Leaves of these sites, for whoever wants more of them than outcomes.
    margin_limit_ft
        Margins beyond this come back as this.
    """

    categories: tuple[str, ...]
    group: NDArray[np.int32]
    outcomes: NDArray[np.int8]
    causes: NDArray[np.int32]
    first: Ints
    leaves: tuple[Leaves, ...]
    margin_limit_ft: float
    _deciding: NDArray[np.float64]
    _position: Ints
    _channels: Channels

    def __len__(self) -> int:
        """Return the number of sites."""
        return len(self.group)

    def outcome(self, category: str, *, row: int = ANSWER) -> NDArray[np.int8]:
        """Return a category's outcomes, shape (n,): a row of `outcomes` for every site."""
        return np.asarray(self.outcomes[row, self.categories.index(category)][self.group])

    def cause(self, category: str) -> NDArray[np.int32]:
        """Return the flags of `Cause` of a category, shape (n,)."""
        return np.asarray(self.causes[self.categories.index(category)][self.group])

    def margin_ft(self, category: str) -> Floats:
        """Return a category's margins, shape (n,): NaN where no line decides, the limit for all that are greater."""
        deciding = self._deciding[self.categories.index(category)]
        result: Floats = (np.sign(deciding) * self.margin_limit_ft)[self.group]
        rows = np.flatnonzero(self._is_near(deciding)[self.group])
        if len(rows):
            which = deciding[self.group[rows]]
            feet = self._channels.feet[np.abs(which).astype(np.int64) - 1, self._position[rows]]
            result[rows] = np.copysign(feet, which)
        return result

    def _is_near(self, deciding: Floats) -> NDArray[np.bool_]:
        return np.abs(deciding) <= len(self._channels.feet)


def evaluate_many(
    engine: Engine,
    sites: SiteTable,
    facts: Facts | None = None,
    *,
    index: CellIndex | None = None,
    margin_limit_ft: float = DEFAULT_MARGIN_LIMIT_FT,
    categories: Sequence[str] | None = None,
) -> Findings:
    """Evaluate the categories of a rulebook for many sites, once for all sites that are alike.

    Parameters
    ----------
    engine
        The rulebook on its atlas.
    sites
        The sites.
    facts
        Stated facts by name: one value for each site, None where it was not stated.
    index
        A cell index of the same atlas and rulebook: the same answers, faster.
    margin_limit_ft
        Feet up to which margins are exact.
    categories
        Ids of the categories that are wanted; all by default.

    Raises
    ------
    ValueError
        If the limit is none that can be kept, or the index is of something else.
    RulebookError
        If the rulebook has no such category.
    """
    bound, atlas = engine.bound, engine.atlas
    plan, limit = _plan(bound, atlas, index, margin_limit_ft)
    names = tuple(c.id for c in engine.rulebook.categories) if categories is None else tuple(categories)
    if not len(sites):
        return _no_findings(names, limit)
    position, seen = _observed(plan, sites, index, limit)
    stated = None if not facts else _fact_groups(facts, len(sites))
    if stated is not None:
        # Sites that were observed alike may have different facts.
        pairs, position = np.unique(position * (int(stated.max()) + 1) + stated, return_inverse=True)
        position = position.ravel()
        seen = seen.take(pairs // (int(stated.max()) + 1))
    first_site = np.empty(len(seen.sites), dtype=np.int64)
    first_site[position[::-1]] = np.arange(len(sites))[::-1]
    own_facts = None if stated is None else stated[first_site]
    groups = grouped(plan, seen, own_facts, limit_ft=limit)
    kinds = seen.sites.points[groups.first]
    outcomes = np.empty((3, len(names), len(groups.first)), dtype=np.int8)
    causes = np.empty((len(names), len(groups.first)), dtype=np.int32)
    deciding = np.full((len(names), len(groups.first)), np.nan)
    kept = []
    for kind in (True, False):
        # Points and polygons are read apart: a table with any polygon asks for shares of all its sites.
        which = np.flatnonzero(kinds == kind)
        if not len(which):
            continue
        rows = groups.first[which]
        part = seen.take(rows)
        given = {k: [column[i] for i in first_site[rows].tolist()] for k, column in (facts or {}).items()}
        leaves = _Ranked(
            bound,
            atlas,
            part.sites,
            given,
            given_placement=part.places.placement(),
            coverages=part.coverages,
            distances=part.distances,
            land_shares=part.land_shares,
            feature_cache=engine.feature_cache,  # what stations come to, once for all
            lacking=part.lacking,
            channels=groups.channels.take(rows),
        )
        run = Evaluation(bound, leaves, keep=False)
        order = leaves.channels.order() if leaves.channels is not None else np.zeros((0, len(rows)), dtype=np.int64)
        for number, name in enumerate(names):
            values = run.category(name)
            outcomes[:, number, which] = values.outcomes
            causes[number, which] = values.causes
            if values.margin_ft is not None:
                deciding[number, which] = _channels_of(values.margin_ft, order)
        kept.append(leaves)
    return Findings(
        names,
        groups.group[position],
        outcomes,
        causes,
        first_site[groups.first],
        tuple(kept),
        limit,
        deciding,
        position,
        groups.channels,
    )


def _no_findings(names: tuple[str, ...], limit_ft: float) -> Findings:
    """Return the findings of no site at all: a block of rows may have none."""
    none = np.zeros(0, dtype=np.int64)
    return Findings(
        names,
        none.astype(np.int32),
        np.zeros((3, len(names), 0), dtype=np.int8),
        np.zeros((len(names), 0), dtype=np.int32),
        none,
        (),
        limit_ft,
        np.zeros((len(names), 0)),
        none,
        Channels({}, np.zeros((0, 0)), limit_ft),
    )


def _channels_of(ranks: Floats, order: Ints) -> Floats:
    """Return the channel that each rank stands for, counted from 1, with the rank's sign; far ones as they are."""
    near = np.flatnonzero(np.abs(ranks) <= len(order))
    result = ranks.copy()
    rank = ranks[near]
    result[near] = np.copysign(order[np.abs(rank).astype(np.int64) - 1, near] + 1, rank)
    return result


def _fact_groups(facts: Facts, n: int) -> Ints:
    """Return for each site the number of its combination of facts."""
    combined = np.zeros(n, dtype=np.int64)
    for name, column in facts.items():
        if len(column) != n:
            raise ValueError(f"The fact {name} has {len(column)} values for {n} sites; expected one for each.")
        numbers: dict[object, int] = {}
        one = np.fromiter(
            (numbers.setdefault((type(value), value), len(numbers)) for value in column), dtype=np.int64, count=n
        )
        _, combined = np.unique(combined * max(len(numbers), 1) + one, return_inverse=True)
        combined = combined.ravel()
    return combined
