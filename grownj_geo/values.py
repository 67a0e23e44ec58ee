"""What a clause comes to for n sites, and how the values of clauses combine."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.logic import Cause, all_of, any_of, negate

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ANSWER", "LEANING", "NO_CAUSE", "STRICT", "Values", "combine", "negated", "perhaps"]

NO_CAUSE = Cause(0)
_NO_CAUSES = np.zeros(1, dtype=np.int32)
ANSWER, LEANING, STRICT = 0, 1, 2
"""The rows of a clause's outcomes."""


@dataclass(frozen=True, eq=False)
class Values:
    """What one clause comes to for n sites.

    Attributes
    ----------
    outcomes
        Shape (3, n): the answer; the answer if what is near a line falls where it leans; the answer without
        assumptions. 1 is yes, -1 no, 0 undetermined.
    margin_ft
        Shape (n,): feet by which the deciding line is missed (negative) or cleared; NaN where no line decides.
        None where no line decides for any site.
    causes
        Shape (n,): flags of `Cause` where the answer is undetermined, else 0.
    """

    outcomes: NDArray[np.int8]
    margin_ft: NDArray[np.float64] | None
    causes: NDArray[np.int32]

    @property
    def first(self) -> int:
        """The first site's answer: 1, -1 or 0."""
        # The answers are the first row. Much faster than two subscripts, and asked for every clause.
        return int(self.outcomes.item(0))

    def margin(self, site: int = 0) -> float:
        """Return one site's margin in feet, NaN where no line decides."""
        return float("nan") if self.margin_ft is None else float(self.margin_ft[site])

    def row(self, site: int) -> Values:
        """Return one site's, as arrays of one."""
        part = slice(site, site + 1)
        margin = None if self.margin_ft is None else self.margin_ft[part]
        return Values(self.outcomes[:, part], margin, self.causes[part])

    @classmethod
    def constant(cls, n: int, value: int, *, cause: Cause = NO_CAUSE, leaning: int | None = None) -> Values:
        """Return the same outcome for every site."""
        outcomes = np.full((3, n), value, dtype=np.int8)
        if leaning is not None:
            outcomes[LEANING] = leaning
        return cls(outcomes, None, np.full(n, int(cause), dtype=np.int32))


def combine(parts: list[Values], n: int, *, strongest: bool, margins: bool) -> Values:
    """Return what clauses joined by "any" (strongest) or "all" come to.

    Parameters
    ----------
    parts
        The values of the clauses that count; none of them makes an "any" no and an "all" yes.
    n
        The number of sites.
    margins
        Work out the margin too.
    """
    if not parts:
        # Nothing in force: an empty "any" is no, an empty "all" is yes.
        return Values.constant(n, -1 if strongest else 1)
    if len(parts) == 1:
        return parts[0]
    if n == 1:
        return _combine_one(parts, strongest=strongest)
    outcomes = (any_of if strongest else all_of)([part.outcomes for part in parts])
    answer = outcomes[ANSWER]
    causes = np.zeros(n, dtype=np.int32)
    if not answer.all():
        for part in parts:
            causes |= part.causes
        causes[answer != 0] = 0
    margin = _margin(parts, answer, n, strongest=strongest) if margins else None
    return Values(outcomes, margin, causes)


def _margin(parts: list[Values], answer: NDArray[np.int8], n: int, *, strongest: bool) -> NDArray[np.float64] | None:
    """Return the margin of the clauses that share the answer: the widest of "any", the narrowest of "all"."""
    if all(part.margin_ft is None for part in parts):
        return None
    decisive = 1 if strongest else -1
    nearest = np.fmax if strongest else np.fmin
    margin = np.full(n, np.nan)
    unaided = np.zeros(n, dtype=bool)
    for part in parts:
        same = part.outcomes[ANSWER] == answer
        if part.margin_ft is None:
            unaided |= same
            continue
        margin = nearest(margin, np.where(same, part.margin_ft, np.nan))
        unaided |= same & np.isnan(part.margin_ft)
    # A clause that decides by itself, with no line in sight, leaves no margin to report.
    margin[unaided & (answer == decisive)] = np.nan
    return margin


def _combine_one(parts: list[Values], *, strongest: bool) -> Values:
    """Do the same for one site: plain numbers are much faster than arrays of one."""
    outcomes = (any_of if strongest else all_of)([part.outcomes for part in parts])
    answer, decisive = int(outcomes.item(0)), 1 if strongest else -1
    causes = _NO_CAUSES
    if answer == 0:
        causes = parts[0].causes
        for part in parts[1:]:
            causes = causes | part.causes
    finite, unaided = [], False
    for part in parts:
        if part.first == answer:
            margin = math.nan if part.margin_ft is None else float(part.margin_ft[0])
            if math.isfinite(margin):
                finite.append(margin)
            else:
                unaided = True
    if not finite or (unaided and answer == decisive):
        return Values(outcomes, None, causes)
    return Values(outcomes, np.array([max(finite) if strongest else min(finite)]), causes)


def negated(value: Values) -> Values:
    """Return the values with yes and no changed."""
    margin = None if value.margin_ft is None else np.negative(value.margin_ft)
    return Values(negate(value.outcomes), margin, value.causes)


def perhaps(value: Values, *, in_any: bool) -> Values:
    """Return the values of a clause that is only perhaps in force: it decides nothing by itself."""
    choose = np.minimum if in_any else np.maximum
    outcomes = choose(value.outcomes, np.int8(0))
    unsure = (outcomes[ANSWER] == 0).astype(np.int32) * int(Cause.LIST_UNKNOWN)
    return replace(value, outcomes=outcomes, margin_ft=None, causes=value.causes | unsure)
