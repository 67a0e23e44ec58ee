"""What a rulebook asks of the ground on a day: every measurement once, ready to be made for many sites."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.bulkline import Ground, ground_of
from grownj_geo.leaves import Leaves
from grownj_geo.measured import key_of
from grownj_geo.nodes import InsideNode, OverlapsNode, ShareOverNode, SiteFactNode, Where, Within, WithinNode
from grownj_geo.place import Placement
from grownj_geo.ranking import ranked
from grownj_geo.sitetable import SiteTable
from grownj_geo.units import miles_to_ft

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from grownj_geo.atlas import Atlas
    from grownj_geo.binding import BoundRulebook
    from grownj_geo.layer import Layer

    Ints = NDArray[np.int64]

__all__ = ["MAJORITY", "CoverageQuestion", "DistanceQuestion", "Plan", "no_sites", "plan_of"]

MAJORITY = "majority"
"""The option of reading A3 under which a cut site is where the most of it is."""


@dataclass(frozen=True, eq=False)
class CoverageQuestion:
    """How much of a site some features cover.

    Attributes
    ----------
    key
        What clauses that ask this are known by.
    layer, features, doubtful
        The features that count, and which of them only perhaps count.
    grounds
        Positions in the plan's grounds: what is surely in, what is possibly in, the computed line.
    lacking
        Position of the ground that lacks a figure that is asked for; -1 where there is none.
    """

    key: Hashable
    layer: Layer
    features: Ints
    doubtful: NDArray[np.bool_]
    grounds: tuple[int, int, int]
    lacking: int
    lacking_features: Ints

    @property
    def tolerance_ft(self) -> float:
        """How far the lines may be from the truth, in feet."""
        return self.layer.manifest.accuracy_ft or 0.0

    @property
    def exact(self) -> bool:
        """Whether one line says all."""
        return len(set(self.grounds)) == 1


@dataclass(frozen=True, eq=False)
class DistanceQuestion:
    """How far a site is from the nearest of some features.

    Attributes
    ----------
    key
        What clauses that ask this are known by.
    where
        One of these clauses.
    layer
        A layer of points or of polygons.
    features, doubtful
        The features that count, and which of them only perhaps count.
    possible, sure
        Those that give the least and the greatest distance.
    radii
        The radii in feet that the distance is compared with, and whether any part of a site is enough.
    shares
        The radii in feet within which a share of a site's area is asked for.
    share_limits
        Such a radius, and a share that it is compared with.
    """

    key: Hashable
    where: Within
    layer: Layer
    features: Ints
    doubtful: NDArray[np.bool_]
    possible: Ints
    sure: Ints
    share_sets: tuple[Ints, Ints, Ints]
    radii: tuple[tuple[float, bool], ...]
    shares: tuple[float, ...]
    share_limits: tuple[tuple[float, float], ...]

    @property
    def every_radius(self) -> tuple[float, ...]:
        """All radii in feet, the least first."""
        return tuple(sorted({*self.shares, *(radius for radius, _ in self.radii)}))


@dataclass(frozen=True, eq=False)
class Plan:
    """All that a bound rulebook asks of the layers of an atlas.

    Attributes
    ----------
    grounds
        Dissolved features, each choice once.
    coverages, distances
        The questions.
    """

    bound: BoundRulebook
    atlas: Atlas
    grounds: tuple[Ground, ...]
    tolerances_ft: tuple[float, ...]
    coverages: tuple[CoverageQuestion, ...]
    distances: tuple[DistanceQuestion, ...]

    @property
    def partial(self) -> str:
        """How a site that a line cuts is read (reading A3)."""
        return self.bound.readings.get("A3", "undetermined")


def plan_of(bound: BoundRulebook, atlas: Atlas) -> Plan:
    """Return what a bound rulebook asks of the layers of an atlas."""
    return _Planner(bound, atlas).plan()


def no_sites(bound: BoundRulebook, atlas: Atlas) -> Leaves:
    """Return leaves of no site: they know which features a clause means."""
    none = np.zeros(0, dtype=np.int64)
    place = Placement((), (), none, none, np.zeros(0), (), (), np.zeros(0))
    return Leaves(bound, atlas, SiteTable.of([]), given_placement=place)


@dataclass(frozen=True)
class _Asked:
    """A radius that a clause asks for, and what for."""

    where: Within
    radius_ft: float
    any_part: bool
    more_than: float | None


class _Planner:
    def __init__(self, bound: BoundRulebook, atlas: Atlas) -> None:
        self.bound, self.atlas = bound, atlas
        self.leaves = no_sites(bound, atlas)
        self.grounds: dict[Ground, int] = {}
        self.tolerances: list[float] = []
        self.coverages: dict[Hashable, CoverageQuestion] = {}
        self.within: dict[Hashable, list[_Asked]] = {}

    def plan(self) -> Plan:
        for clause in self.bound.leaves:
            if not clause.counts:
                continue
            match clause.node:
                case InsideNode(inside=where):
                    self._coverage(where)
                case OverlapsNode(overlaps=where):
                    self._coverage(where)
                case SiteFactNode(site_fact=fact) if fact.supported_by is not None:
                    self._coverage(fact.supported_by)
                case WithinNode(within=where):
                    any_part = where.part == "any" or self.bound.readings.get("A3") == "any"
                    self._within(where, any_part=any_part)
                case ShareOverNode(share_over=where):
                    self._within(where, more_than=self.bound.figures[where.share])
                case _:
                    pass
        distances = tuple(self._distance(key, asked) for key, asked in self.within.items())
        return Plan(
            self.bound,
            self.atlas,
            tuple(self.grounds),
            tuple(self.tolerances),
            tuple(self.coverages.values()),
            distances,
        )

    def _ground(self, layer: Layer, features: Ints) -> int:
        ground = ground_of(layer, features)
        if ground not in self.grounds:
            self.grounds[ground] = len(self.grounds)
            self.tolerances.append(layer.manifest.accuracy_ft or 0.0)
        return self.grounds[ground]

    def _coverage(self, where: Where) -> None:
        layer, key = self.leaves.layer(where.layer), key_of(where)
        if layer is None or key in self.coverages:
            return
        features = self.leaves.features(layer, where)
        doubtful = layer.doubtful(features, where.selection)
        lacking = features[:0]
        if where.at_least:
            chosen = layer.select(where.selection, as_of=self.bound.as_of)
            lacking = chosen[np.logical_or.reduce([np.isnan(layer.figures(n)[chosen]) for n in where.at_least])]
        sets = (
            features[layer.sure[features] & ~doubtful],
            features[layer.possible[features]],
            features[layer.computed[features] & ~doubtful],
        )
        self.coverages[key] = CoverageQuestion(
            key,
            layer,
            features,
            doubtful,
            (self._ground(layer, sets[0]), self._ground(layer, sets[1]), self._ground(layer, sets[2])),
            self._ground(layer, lacking[layer.possible[lacking]]) if len(lacking) else -1,
            lacking,
        )

    def _within(self, where: Within, *, any_part: bool = False, more_than: float | None = None) -> None:
        if self.leaves.layer(where.layer) is not None:
            radius = miles_to_ft(self.bound.figures[where.radius])
            self.within.setdefault(key_of(where), []).append(_Asked(where, radius, any_part, more_than))

    def _distance(self, key: Hashable, asked: list[_Asked]) -> DistanceQuestion:
        where = asked[0].where
        layer = self.leaves.layer(where.layer)
        if layer is None:
            raise AssertionError(where.layer)
        features = self.leaves.features(layer, where)
        doubtful = layer.doubtful(features, where.selection)
        possible, sure = features, features[~doubtful]
        share_sure, share_possible = features, features
        targets = None if where.nearest is None else self.leaves.layer(where.nearest.layer)
        if where.nearest is not None and targets is not None and targets.lonlat is not None:
            found = layer.select(where.selection, as_of=self.bound.as_of)
            to = targets.select(where.nearest.selection, as_of=self.bound.as_of)
            surely, _, perhaps = ranked(layer, found, targets, to, n=where.nearest.n)
            if len(surely) != len(perhaps):
                possible, sure = perhaps, surely
                share_sure, share_possible = surely, perhaps
        radii = sorted({(each.radius_ft, each.any_part) for each in asked if each.more_than is None})
        limits = sorted({(each.radius_ft, each.more_than) for each in asked if each.more_than is not None})
        shares = {radius for radius, _ in limits}
        if self.bound.readings.get("A3") in {"majority", "all"}:
            # How much of a polygon is within reach is then a question of areas.
            shares |= {radius for radius, any_part in radii if not any_part}
        return DistanceQuestion(
            key,
            where,
            layer,
            features,
            doubtful,
            possible,
            sure,
            (share_sure, features, share_possible),
            tuple(radii),
            tuple(sorted(shares)),
            tuple(limits),
        )
