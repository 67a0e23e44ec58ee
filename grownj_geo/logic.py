"""Three-valued logic over arrays of sites: Kleene's strong tables.

An outcome is one signed byte: 1 is yes, -1 is no, 0 is undetermined. So *all* is the minimum, *any* the
maximum, and *not* the change of sign, for one site and for a million.
"""

from __future__ import annotations

from enum import IntFlag, StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["NO", "UNDETERMINED", "YES", "Cause", "Outcome", "all_of", "any_of", "negate"]

YES, UNDETERMINED, NO = np.int8(1), np.int8(0), np.int8(-1)


class Outcome(StrEnum):
    """The answer to one question about one site."""

    YES = "yes"
    NO = "no"
    UNDETERMINED = "undetermined"

    @classmethod
    def of(cls, value: int) -> Outcome:
        """Return the outcome of a signed value.

        Examples
        --------
        >>> Outcome.of(1), Outcome.of(0), Outcome.of(-1)
        (<Outcome.YES: 'yes'>, <Outcome.UNDETERMINED: 'undetermined'>, <Outcome.NO: 'no'>)
        """
        return cls.YES if value > 0 else cls.NO if value < 0 else cls.UNDETERMINED

    @property
    def value_of(self) -> np.int8:
        """The signed value: 1, 0 or -1."""
        return {Outcome.YES: YES, Outcome.NO: NO, Outcome.UNDETERMINED: UNDETERMINED}[self]


class Cause(IntFlag):
    """Why something is undetermined. Several can hold at once."""

    LAYER_MISSING = 1
    LAYER_UNUSABLE = 2
    NEAR_LINE = 4
    PARTIAL = 8
    FACT_MISSING = 16
    RULING_MISSING = 32
    READING_OPEN = 64
    WORDING_UNSEEN = 128
    LOCATION_UNKNOWN = 256
    MUNICIPALITY_UNCERTAIN = 512
    LIST_UNKNOWN = 1024
    LAYER_INCOMPLETE = 2048

    @property
    def words(self) -> list[str]:
        """The causes as lower-case words, in a fixed order."""
        return list(_cause_words(int(self)))


@lru_cache(maxsize=1024)
def _cause_words(flags: int) -> tuple[str, ...]:
    return tuple(c.name.lower() for c in Cause if c.value & flags and c.name is not None)


def all_of(values: Sequence[NDArray[np.int8]]) -> NDArray[np.int8]:
    """Return the strong Kleene conjunction, elementwise over equally shaped arrays.

    Examples
    --------
    >>> all_of([np.array([1, 1, 0, 0]), np.array([1, -1, 0, -1])]).tolist()
    [1, -1, 0, -1]
    """
    result = values[0]
    for value in values[1:]:
        result = np.minimum(result, value)
    return result


def any_of(values: Sequence[NDArray[np.int8]]) -> NDArray[np.int8]:
    """Return the strong Kleene disjunction, elementwise over equally shaped arrays.

    Examples
    --------
    >>> any_of([np.array([1, -1, 0, 0]), np.array([0, -1, 0, -1])]).tolist()
    [1, -1, 0, 0]
    """
    result = values[0]
    for value in values[1:]:
        result = np.maximum(result, value)
    return result


def negate(value: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return the Kleene negation: undetermined stays undetermined.

    Examples
    --------
    >>> negate(np.array([1, 0, -1], dtype=np.int8)).tolist()
    [-1, 0, 1]
    """
    return np.negative(value)
