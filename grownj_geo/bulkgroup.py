"""Sites that are alike: for which every clause comes to the same, and the same line decides every margin."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.outcomes import from_distances, without_slivers

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from grownj_geo.bulkobserve import Observations
    from grownj_geo.bulkplace import Places
    from grownj_geo.bulkplan import DistanceQuestion, Plan

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Words = NDArray[np.uint64]

__all__ = ["Channels", "Groups", "grouped"]

_SEED = 34
_HALF = 0.5
_LEVELS = 8


@dataclass(frozen=True, eq=False)
class Channels:
    """The margins that clauses can have, for k sites.

    Attributes
    ----------
    numbers
        Each channel's number by what its clauses measure.
    feet
        Margins, shape (channels, k), at most the limit in size; NaN where no line decides.
    limit_ft
        The limit.
    """

    numbers: dict[Hashable, int]
    feet: Floats
    limit_ft: float

    @property
    def far(self) -> int:
        """The rank of whatever is beyond the limit."""
        return len(self.feet) + 1

    def take(self, rows: Ints) -> Channels:
        """Return those of some sites."""
        return Channels(self.numbers, self.feet[:, rows], self.limit_ft)

    @cached_property
    def near(self) -> NDArray[np.bool_]:
        """Which lines are nearer than the limit, shape (channels, k)."""
        return np.asarray(np.abs(self.feet) < self.limit_ft)

    def order(self) -> Ints:
        """Return the channels of each site, the nearest line first, shape (channels, k)."""
        return np.argsort(np.where(self.near, np.abs(self.feet), np.inf), axis=0, kind="stable")

    def ranks(self) -> Floats:
        """Return in place of each margin the line's rank among those that are near, with the margin's sign."""
        order = self.order()
        ranks = np.empty(order.shape, dtype=np.float64)
        np.put_along_axis(ranks, order, np.arange(1.0, len(order) + 1)[:, None] + np.zeros(order.shape), axis=0)
        ranks[~self.near] = self.far
        return np.where(np.isnan(self.feet), np.nan, np.copysign(ranks, self.feet))


@dataclass(frozen=True, eq=False)
class Groups:
    """Sites that are alike.

    Attributes
    ----------
    group
        The group of each of k sites.
    first
        One site of each group.
    channels
        The margins of the k sites.
    """

    group: NDArray[np.int32]
    first: Ints
    channels: Channels


def grouped(plan: Plan, seen: Observations, facts: Ints | None, *, limit_ft: float) -> Groups:
    """Return which sites are alike.

    Parameters
    ----------
    plan
        What was asked.
    seen
        What was observed of k sites.
    facts
        The number of each site's combination of stated facts, shape (k,); None where nothing is stated.
    limit_ft
        Feet up to which margins are exact.
    """
    k = len(seen.sites)
    marks = _Marks(k)
    marks.add(2 * seen.sites.placed.astype(np.int64) + seen.sites.points, 4)
    if facts is not None:
        marks.add(facts, int(facts.max()) + 1)
    _mark_places(marks, seen.places)
    numbers: dict[Hashable, int] = {}
    feet = np.empty((len(plan.coverages) + sum(len(asked.radii) for asked in plan.distances), k))

    def channel(key: Hashable, margin: Floats) -> Ints:
        numbers[key] = number = len(numbers)
        np.clip(margin, -limit_ft, limit_ft, out=feet[number])
        near = np.abs(margin) < limit_ft
        return np.where(np.isnan(margin), 4, 2 * near + np.signbit(margin)).astype(np.int64)

    area = np.nan_to_num(shapely.area(seen.sites.geometries))
    for asked in plan.coverages:
        covered = without_slivers(seen.coverages[asked.key], area_sqft=area)
        code = channel(asked.key, covered.margin_ft) + 5 * seen.lacking[asked.key]
        for share in (covered.share_low, covered.share, covered.share_high):
            code = code * _LEVELS + _level(share)
        marks.add(code, 10 * _LEVELS**3)
    for question in plan.distances:
        found = seen.distances[question.key]
        for radius, any_part in question.radii:
            values = from_distances(found, radius_ft=radius, partial="any" if any_part else plan.partial)
            margin = np.full(k, np.nan) if values.margin_ft is None else values.margin_ft
            code = channel((question.key, radius, any_part), margin)
            code = code * 9 + 3 * values.outcomes[0] + values.outcomes[1] + 4
            marks.add(code * 16 + values.causes, 45 * 16)
        _mark_shares(marks, question, seen)
    channels = Channels(numbers, feet, limit_ft)
    _mark_order(marks, channels)
    return Groups(*marks.groups(), channels)


def _mark_shares(marks: _Marks, asked: DistanceQuestion, seen: Observations) -> None:
    for radius in asked.shares:
        shares = seen.land_shares[asked.key, radius]
        code = np.zeros(shares.shape[1], dtype=np.int64)
        for share in shares:
            code = code * _LEVELS + _level(share)
        marks.add(code, _LEVELS**3)
        for of_radius, least in asked.share_limits:
            if of_radius == radius:
                above = np.asarray(shares > least)
                marks.add(4 * above[0] + 2 * above[1] + above[2].astype(np.int64), 8)


def _level(share: Floats) -> Ints:
    """Return where a share lies among those that clauses tell apart: nothing, up to half, more, all, unknown."""
    return np.where(np.isnan(share), 4, (share > 0).astype(np.int64) + (share > _HALF) + (share >= 1))


def _mark_order(marks: _Marks, channels: Channels) -> None:
    """Tell apart sites whose near lines come in another order: which of two decides may be another one then."""
    near = channels.near
    counted = [bool(line.any()) for line in near]
    for i in range(len(near)):
        for j in range(i + 1, len(near)):
            if counted[i] and counted[j]:
                both = np.flatnonzero(near[i] & near[j])
                code = 1 + (np.abs(channels.feet[i, both]) <= np.abs(channels.feet[j, both]))
                marks.add(code, 3, rows=both)


def _mark_places(marks: _Marks, places: Places) -> None:
    size = len(places.codes) + 2
    marks.add(places.kinds.astype(np.int64), 8)
    single = places.likely.count == 1
    code = places.candidates[places.likely.first] + 2
    marks.add(code[single], size, rows=np.flatnonzero(single))
    for i in np.flatnonzero(~single).tolist():
        part = slice(int(places.likely.first[i]), int(places.likely.first[i] + places.likely.count[i]))
        marks.add_text(i, places.candidates[part].tobytes() + places.shares[part].tobytes())
    rows = np.flatnonzero(places.beside.count)
    if len(rows):
        at, runs = places.beside.take(rows)
        marks.add_set(rows, places.neighbours[at], runs.first, size)


class _Marks:
    """Marks of k sites, two words each: sites with equal marks are alike.

    Each thing that tells sites apart changes the words by a number of its own, taken at random.
    """

    def __init__(self, k: int) -> None:
        self._words = np.zeros((2, k), dtype=np.uint64)
        self._random = np.random.default_rng(_SEED)

    def _table(self, size: int) -> Words:
        return self._random.integers(0, 2**64, size=(2, size), dtype=np.uint64)

    def add(self, codes: Ints, size: int, *, rows: Ints | None = None) -> None:
        """Tell sites apart by a code from 0 up to a size: all, or those that are given with a code each."""
        table = self._table(size)
        if rows is None:
            self._words[0] ^= table[0][codes]
            self._words[1] ^= table[1][codes]
        elif len(rows):
            self._words[0, rows] ^= table[0][codes]
            self._words[1, rows] ^= table[1][codes]

    def add_set(self, rows: Ints, codes: Ints, starts: Ints, size: int) -> None:
        """Tell some sites apart by a set of codes each."""
        table = self._table(size)
        for word in (0, 1):
            self._words[word, rows] ^= np.bitwise_xor.reduceat(table[word][codes], starts)

    def add_text(self, row: int, content: bytes) -> None:
        """Tell one site apart by some bytes."""
        digest = hashlib.blake2b(content, digest_size=16).digest()
        self._words[:, row] ^= np.frombuffer(digest, dtype=np.uint64)

    def groups(self) -> tuple[NDArray[np.int32], Ints]:
        """Return each site's group, and one site of each."""
        _, first, group = np.unique(self._words[0], return_index=True, return_inverse=True)
        group = group.ravel()
        if (self._words[1] != self._words[1][first][group]).any():
            # One word in 2**64 fell together: both words, slowly.
            _, first, group = np.unique(self._words, axis=1, return_index=True, return_inverse=True)
            group = group.ravel()
        return group.astype(np.int32), np.asarray(first, dtype=np.int64)
