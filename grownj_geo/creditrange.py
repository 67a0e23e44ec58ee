"""Amounts that are known to lie between two bounds, for many projects at once, in exact decimals.

What is undetermined about a place or a project makes two bounds of one amount. Every operation keeps to this: whatever
the unknown things turn out to be, the result lies between its bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    Kleene = NDArray[np.int8]
    Amounts = NDArray[Any]

__all__ = ["INFINITY", "Range", "all_along", "any_along", "cents", "each", "money", "objects", "unsaid"]

INFINITY = Decimal("Infinity")
_CENT = Decimal("0.01")
_NOISE = Decimal("1E-9")
_MOST_DIGITS = 16
"""Before the point, of amounts whose ninth decimal is within what a decimal holds."""


@dataclass(frozen=True, eq=False)
class Range:
    """The least and the greatest that n amounts can be.

    Attributes
    ----------
    low, high
        Shape (n,): decimals as objects, or whole numbers; `high` may be infinite where nothing bounds it.

    Examples
    --------
    >>> test = np.array([1, 0, -1], dtype=np.int8)
    >>> bonus = Range.choose(test, Range.same(3, 2000), Range.same(3, 0))
    >>> [int(amount) for amount in bonus.low], [int(amount) for amount in bonus.high]
    ([2000, 0, 0], [2000, 2000, 0])
    """

    low: Amounts
    high: Amounts

    @classmethod
    def same(cls, n: int, low: Decimal | int, high: Decimal | int | None = None) -> Range:
        """Return the same amount n times, in decimals.

        Parameters
        ----------
        n
            How many.
        low, high
            The bounds; where the second is left out, the amount is known.
        """
        return cls(money(n, low), money(n, low if high is None else high))

    @classmethod
    def exact(cls, values: Amounts) -> Range:
        """Return amounts that are known."""
        return cls(values, values)

    @classmethod
    def choose(cls, test: Kleene, yes: Range, no: Range) -> Range:
        """Return `yes` where a test is met, `no` where it is not, and what covers both where it is undetermined.

        Parameters
        ----------
        test
            Shape (n,) outcomes.
        yes, no
            What is chosen.
        """
        low = np.where(test > 0, yes.low, np.where(test < 0, no.low, np.minimum(yes.low, no.low)))
        high = np.where(test > 0, yes.high, np.where(test < 0, no.high, np.maximum(yes.high, no.high)))
        return cls(low, high)

    def __len__(self) -> int:
        """Return how many amounts there are."""
        return len(self.low)

    def __add__(self, other: Range) -> Range:
        """Return the sums."""
        return Range(self.low + other.low, self.high + other.high)

    def __mul__(self, other: Range) -> Range:
        """Return the products with numbers that are not negative; nothing times the unbounded is nothing."""
        return Range(_product(self.low, other.low), _product(self.high, other.high))

    def least(self, other: Range) -> Range:
        """Return the lesser of two."""
        return Range(np.minimum(self.low, other.low), np.minimum(self.high, other.high))

    def hull(self, other: Range) -> Range:
        """Return what covers both."""
        return Range(np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    def part(self, numerator: int, denominator: int) -> Range:
        """Return a share of each, exactly where it has an end in decimals.

        Parameters
        ----------
        numerator, denominator
            Of the share.
        """
        return Range(self.low * numerator / denominator, self.high * numerator / denominator)

    def take(self, at: NDArray[np.int64]) -> Range:
        """Return the amounts at positions."""
        return Range(self.low[at], self.high[at])

    def at_least(self, other: Range) -> Kleene:
        """Return whether each is at least the other: yes, no, or undetermined where their bounds overlap."""
        return _kleene(self.low >= other.high, self.high < other.low)

    def more_than(self, other: Range) -> Kleene:
        """Return whether each is more than the other."""
        return _kleene(self.low > other.high, self.high <= other.low)

    def total(self, starts: NDArray[np.int64]) -> Range:
        """Return the sum of each project's buildings, which begin at positions."""
        if len(starts) == len(self):
            return self
        return Range(np.add.reduceat(self.low, starts), np.add.reduceat(self.high, starts))


def _kleene(yes: Any, no: Any) -> Kleene:  # noqa: ANN401 - comparisons of objects
    return np.asarray(yes, dtype=np.int8) - np.asarray(no, dtype=np.int8)


def _product(one: Amounts, other: Amounts) -> Amounts:
    nothing = (one == 0) | (other == 0)
    if not np.asarray(nothing, dtype=bool).any():
        return np.asarray(one * other)
    none, n = np.asarray(nothing, dtype=bool), len(one)
    product: Amounts = np.where(none, money(n, 1), one) * np.where(none, money(n, 1), other)
    return np.where(none, money(n, 0), product)


def money(n: int, value: Decimal | int) -> Amounts:
    """Return the same decimal n times, shape (n,).

    Parameters
    ----------
    n
        How many.
    value
        Dollars.
    """
    found = np.empty(n, dtype=object)
    found[:] = Decimal(value)
    return found


def objects(values: Iterable[Any]) -> Amounts:
    """Return values as an array of objects, shape (n,)."""
    listed = list(values)
    found = np.empty(len(listed), dtype=object)
    found[:] = listed
    return found


def cents(amount: Decimal) -> Decimal:
    """Return an amount in whole cents, what is left over cut off.

    Examples
    --------
    >>> cents(Decimal("10.019")), cents(Decimal("Infinity"))
    (Decimal('10.01'), Decimal('Infinity'))

    A sum of quotients without an end in decimals is a trace too little; that loses no cent.

    >>> cents(Decimal(10) / 3 * 3)
    Decimal('10.00')
    """
    if not amount.is_finite():
        return amount
    near = amount.quantize(_NOISE) if amount.adjusted() < _MOST_DIGITS else amount
    return near.quantize(_CENT, rounding=ROUND_DOWN)


def each(function: Callable[..., Decimal], *values: Amounts) -> Amounts:
    """Return what a function gives for the values of each position, shape (n,) of objects."""
    return np.asarray(np.frompyfunc(function, len(values), 1)(*values), dtype=object)


def unsaid(values: Amounts) -> NDArray[np.bool_]:
    """Return which amounts were not stated: those that are None."""
    return np.array([value is None for value in values], dtype=bool)


def any_along(values: Kleene, starts: NDArray[np.int64]) -> Kleene:
    """Return whether any building of each project is, by the strong tables.

    Parameters
    ----------
    values
        Shape (b,) outcomes.
    starts
        Position of each project's first building.
    """
    return values if len(starts) == len(values) else np.maximum.reduceat(values, starts)


def all_along(values: Kleene, starts: NDArray[np.int64]) -> Kleene:
    """Return whether all buildings of each project are, by the strong tables.

    Parameters
    ----------
    values
        Shape (b,) outcomes.
    starts
        Position of each project's first building.
    """
    return values if len(starts) == len(values) else np.minimum.reduceat(values, starts)
