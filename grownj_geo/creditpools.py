"""Which buildings of a complex are computed together: those with the same factors, as far as that is known.

Buildings with the same factors are pooled, the others are computed apart (18.8(a)). While a factor is undetermined,
so is the pool: some buildings surely belong together, some perhaps, some surely not. What is computed over a pool keeps
to all ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from grownj_geo.creditrange import Range, each, money

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

    from numpy.typing import NDArray

    from grownj_geo.creditparams import CreditBook
    from grownj_geo.creditrange import Amounts, Kleene
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
    """The pools of all projects; a building alone is a pool of its own.

    Attributes
    ----------
    n, b
        How many projects and buildings there are.
    """

    n: int
    b: int
    _several: tuple[_Complex, ...]

    def sums(self, values: Range) -> Range:
        """Return for each building the least and the greatest sum over its pool.

        Parameters
        ----------
        values
            Shape (b,): not negative.
        """
        if not self._several:
            return values
        low, high = values.low.astype(object), values.high.astype(object)
        for group in self._several:
            for i, row in enumerate(group.rows):
                low[row] = sum(values.low[group.rows[group.sure[i]]].tolist())
                high[row] = sum(values.high[group.rows[group.may[i]]].tolist())
        return Range(low, high)

    def over(self, values: Range, bases: Range) -> Range:
        """Return by how much the values of each pool together are above their bases together, as a share of these.

        Parameters
        ----------
        values, bases
            Shape (b,): what is compared; bases are more than nothing.
        """
        first = _over(values.low, bases.high)
        exact = values.low is values.high and bases.low is bases.high
        found = Range(first, first if exact else _over(values.high, bases.low))
        if not self._several:
            return found
        low, high = found.low.copy(), found.high.copy()
        for group in self._several:
            for i, row in enumerate(group.rows):
                own, all_of_them = group.rows[group.sure[i]], group.rows[group.may[i]]
                if len(own) == len(all_of_them):
                    low[row] = _over(values.low[own].sum(keepdims=True), bases.high[own].sum(keepdims=True))[0]
                    high[row] = _over(values.high[own].sum(keepdims=True), bases.low[own].sum(keepdims=True))[0]
                else:
                    # Of a sum of several, the share lies between their least and their greatest.
                    low[row], high[row] = min(found.low[all_of_them]), max(found.high[all_of_them])
        return Range(low, high)

    def limited(self, amounts: Range, limits: Range, project: NDArray[np.int64]) -> Range:
        """Return what each project has when each of its pools keeps to its limit, shape (n,).

        More pools have no less together: the least is that of the fewest pools that there can be, the greatest that of
        the most.

        Parameters
        ----------
        amounts, limits
            Shape (b,): dollars of each building, and the limit of the pool that it is in.
        project
            Shape (b,): position of each building's project.
        """
        each_alone = amounts.least(limits)
        if self.b == self.n:
            return each_alone
        low, high = money(self.n, 0), money(self.n, 0)
        alone = np.ones(self.b, dtype=bool)
        for group in self._several:
            alone[group.rows] = False
            for rows in _joined(group.rows, group.may):
                low[group.project] += min(sum(amounts.low[rows].tolist()), *limits.low[rows].tolist())
            for rows in _joined(group.rows, group.sure):
                high[group.project] += min(sum(amounts.high[rows].tolist()), max(limits.high[rows].tolist()))
        for row in np.flatnonzero(alone):
            low[project[row]] += each_alone.low[row]
            high[project[row]] += each_alone.high[row]
        return Range(low, high)


def pools_of(sheet: Sheet, lines: Mapping[str, Kleene], book: CreditBook) -> Pools:
    """Return the pools.

    Parameters
    ----------
    sheet
        The projects.
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


def _over(values: Amounts, bases: Amounts) -> Amounts:
    def share(value: Decimal, base: Decimal) -> Decimal:
        return value / base - 1 if value.is_finite() else value

    return each(share, values, bases)


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
