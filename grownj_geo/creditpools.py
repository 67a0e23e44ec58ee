"""Which buildings of a complex are computed together: those with the same factors, as far as that is known.

Buildings with the same factors are pooled, the others are computed apart (18.8(a)). While a factor is undetermined,
so is the pool: some buildings surely belong together, some perhaps, some surely not. What is computed over a pool keeps
to all ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from grownj_geo.creditrange import Range, money

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from grownj_geo.creditparams import CreditBook
    from grownj_geo.creditrange import Kleene
    from grownj_geo.creditsheet import Sheet

__all__ = ["Pools", "pools_of"]

_OTHERS = ("mrera_growth_zone", "tourism_district_growth_zone", "disaster_recovery_project")
"""Areas that no line or bonus asks for, and that make a factor all the same: zones of a kind, and the retained jobs."""


@dataclass(frozen=True, eq=False)
class _Complex:
    """The buildings of one project with several.

    Attributes
    ----------
    rows
        Their positions, shape (k,).
    sure, may
        Shape (k, k): whether two surely, and whether two may belong together.
    """

    project: int
    rows: NDArray[np.int64]
    sure: NDArray[np.bool_]
    may: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Pools:
    """The pools of all projects; a building alone is a pool of its own."""

    n: int
    b: int
    _several: tuple[_Complex, ...]

    def sums(self, values: Range) -> Range:
        """Return for each building the least and the greatest sum over its pool."""
        if not self._several:
            return values
        low, high = values.low.astype(object), values.high.astype(object)
        for each in self._several:
            for i, row in enumerate(each.rows):
                low[row] = sum(values.low[each.rows[each.sure[i]]].tolist())
                high[row] = sum(values.high[each.rows[each.may[i]]].tolist())
        return Range(low, high)

    def limited(self, amounts: Range, limits: Range, project: NDArray[np.int64]) -> Range:
        """Return what each project has when each of its pools keeps to its limit, shape (n,).

        More pools have no less together: the least is that of the fewest pools that there can be, the greatest that of
        the most.
        """
        each_alone = amounts.least(limits)
        if self.b == self.n:
            return each_alone
        low, high = money(self.n, 0), money(self.n, 0)
        alone = np.ones(self.b, dtype=bool)
        for each in self._several:
            alone[each.rows] = False
            for rows in _joined(each.rows, each.may):
                low[each.project] += min(sum(amounts.low[rows].tolist()), *limits.low[rows].tolist())
            for rows in _joined(each.rows, each.sure):
                high[each.project] += min(sum(amounts.high[rows].tolist()), max(limits.high[rows].tolist()))
        for row in np.flatnonzero(alone):
            low[project[row]] += each_alone.low[row]
            high[project[row]] += each_alone.high[row]
        return Range(low, high)


def pools_of(sheet: Sheet, lines: Mapping[str, Kleene], book: CreditBook) -> Pools:
    """Return the pools.

    Parameters
    ----------
    lines
        By line of the base amounts: shape (b,), whether it is the one that applies.
    book
        Its lines and bonuses say which areas make a factor.
    """
    if sheet.b == sheet.n:
        return Pools(sheet.n, sheet.b, ())
    tests = [line.when for line in book.lines] + [bonus.when for bonus in book.bonuses if bonus.when]
    areas = dict.fromkeys(name for test in tests for kind, name in test.asked() if kind == "area")
    built = np.where(sheet.new_built, np.int8(1), np.int8(-1))
    columns: list[Any] = [sheet.area(name) for name in (*areas, *_OTHERS)]
    factors = np.column_stack([*columns, *lines.values(), sheet.similar, sheet.industrial, built])
    ends = np.append(sheet.starts[1:], sheet.b)
    found = []
    for project in np.flatnonzero(ends - sheet.starts > 1):
        rows = np.arange(sheet.starts[project], ends[project])
        own = factors[rows]
        may = ~(own[:, None, :] * own[None, :, :] == -1).any(axis=-1)
        known = (own != 0).all(axis=-1)
        sure = (may & known[:, None] & known[None, :]) | np.eye(len(rows), dtype=bool)
        found.append(_Complex(int(project), rows, sure, may))
    return Pools(sheet.n, sheet.b, tuple(found))


def _joined(rows: NDArray[np.int64], together: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Return groups of positions that are joined, directly or through others."""
    left = set(range(len(rows)))
    groups = []
    while left:
        waiting, group = [left.pop()], set[int]()
        while waiting:
            one = waiting.pop()
            group.add(one)
            near = {int(i) for i in np.flatnonzero(together[one])} & left
            left -= near
            waiting += near
        groups.append(rows[sorted(group)])
    return groups
