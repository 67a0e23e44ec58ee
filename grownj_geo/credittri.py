"""Tests of the credit rules in three answers, as values of Python: true, false, and None for what is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Tri", "all_met", "any_met", "opposite", "sign_of"]

Tri = bool | None
"""Yes, no, or not known."""


def sign_of(value: Tri) -> int:
    """Return 1 for yes, -1 for no and 0 for what is not known, as arrays of outcomes have it.

    Examples
    --------
    >>> sign_of(True), sign_of(False), sign_of(None)
    (1, -1, 0)
    """
    return 0 if value is None else 1 if value else -1


def _tri(sign: int) -> Tri:
    return None if sign == 0 else sign > 0


def all_met(values: Iterable[Tri]) -> Tri:
    """Return whether all are met, by the strong tables; of none, yes.

    Examples
    --------
    >>> all_met([True, None]), all_met([None, False]), all_met([])
    (None, False, True)
    """
    return _tri(min((sign_of(value) for value in values), default=1))


def any_met(values: Iterable[Tri]) -> Tri:
    """Return whether any is met, by the strong tables; of none, no.

    Examples
    --------
    >>> any_met([True, None]), any_met([None, False]), any_met([])
    (True, None, False)
    """
    return _tri(max((sign_of(value) for value in values), default=-1))


def opposite(value: Tri) -> Tri:
    """Return no for yes and yes for no; what is not known stays so.

    Examples
    --------
    >>> opposite(True), opposite(None)
    (False, None)
    """
    return None if value is None else not value
