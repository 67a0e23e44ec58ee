"""Projects as columns: what the rules compute with, for one project or a hundred thousand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from grownj_geo.creditnames import BUSINESS_FACTS, PROJECT_FACTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.creditrange import Amounts, Kleene, Range

__all__ = ["KINDS", "LIMITS", "NO_OTHERS", "STATED_FACTS", "UNSAID", "Sheet"]

KINDS = ("startup", "targeted", "other")
"""Kinds of business as the minimum of jobs knows them; startups and manufacturers are one."""

LIMITS = ("withholdings", "board_maximum", "section_1_7g_amount", "net_benefit")
UNSAID = 2
"""In place of an outcome: nothing was said of it at all."""

NO_OTHERS = 3
"""The same, and what only a bonus asks for and nobody stated is no."""

STATED_FACTS = (*PROJECT_FACTS, *BUSINESS_FACTS)
"""Facts that are stated as yes or no; what is not stated is undetermined."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """n projects with b buildings in all, the buildings of a project one after the other.

    Attributes
    ----------
    industry, kind
        Shape (n,): industries by name; kinds of business by their position in `KINDS`.
    years, by_capital
        Shape (n,): the eligibility period; whether the method is that of capital investment.
    starts
        Shape (n,): position of each project's first building.
    project
        Shape (b,): position of each building's project.
    sqft
        Shape (b,): square feet of gross leasable area.
    similar, industrial
        Shape (b,): whether the premises are industrial or like ones in continued similar use; whether industrial.
    new_built
        Shape (b,): newly constructed, else rehabilitated.
    proximity
        Shape (b,): a number for each group of proximate buildings; -1 where it is not known.
    new, retained
        By way to count full-time employees: the fewest and the most jobs, shape (b,).
    capital
        By what counts as capital: dollars of each building.
    salary_over, salary_over_new
        Shape (b,): average salary above the median, as a share of it: of all full-time jobs; of the new ones alone,
        for where the retained ones do not count.
    areas
        By area: shape (b,) outcomes.
    floors, ceilings
        Shape (b,): bounds of the base amount by place, dollars; -1 and a great number where none is known.
    facts
        By fact: shape (n,) outcomes.
    approved, applied
        Shape (n,): days as ordinals; 0 where they are not known.
    limits
        By name: shape (n,) dollars, None where not stated.
    bonus_given
        Shape (n,): all bonuses together for a job and year, None where they are not given so.
    bonus_stated
        By bonus: shape (n,) outcomes, `UNSAID` or `NO_OTHERS` where nothing is said.
    notes
        What does not count, and why.
    weak
        Areas that are left open, in any building, for resting on what is below confirmed or assumed.
    unsaid
        Inputs that are left out and matter, by their names in `creditunsaid`.
    """

    starts: NDArray[np.int64]
    project: NDArray[np.int64]
    sqft: Amounts
    similar: Kleene
    industrial: Kleene
    new_built: NDArray[np.bool_]
    proximity: NDArray[np.int64]
    new: dict[str, Range]
    retained: dict[str, Range]
    capital: dict[str, Range]
    salary_over: Range
    salary_over_new: Range
    areas: dict[str, Kleene]
    floors: NDArray[np.int64]
    ceilings: NDArray[np.int64]
    facts: dict[str, Kleene]
    industry: NDArray[Any]
    kind: NDArray[np.int64]
    years: NDArray[np.int64]
    by_capital: NDArray[np.bool_]
    approved: NDArray[np.int64]
    applied: NDArray[np.int64]
    limits: dict[str, Amounts]
    bonus_given: Amounts
    bonus_stated: dict[str, NDArray[np.int8]]
    notes: tuple[str, ...] = ()
    unsaid: frozenset[str] = frozenset()
    weak: frozenset[str] = frozenset()

    @property
    def n(self) -> int:
        """How many projects there are."""
        return len(self.starts)

    @property
    def b(self) -> int:
        """How many buildings there are."""
        return len(self.project)

    def area(self, name: str) -> Kleene:
        """Return the outcomes of an area; undetermined where nothing is known of it."""
        found = self.areas.get(name)
        return np.zeros(self.b, dtype=np.int8) if found is None else found

    def fact(self, name: str) -> Kleene:
        """Return the outcomes of a fact, shape (n,)."""
        found = self.facts.get(name)
        return np.zeros(self.n, dtype=np.int8) if found is None else found

    def of_building(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return what holds for each building's project, shape (b,)."""
        return values if self.b == self.n else values[self.project]

    def copies(self, n: int) -> Sheet:
        """Return a sheet of one project n times."""
        if self.n != 1:
            raise ValueError(f"the sheet has {self.n} projects; expected one")
        at = np.tile(np.arange(self.b), n)

        changed: dict[str, Any] = {"starts": np.arange(n) * self.b, "project": np.repeat(np.arange(n), self.b)}
        changed |= {name: getattr(self, name)[at] for name in _ROWS}
        changed |= {name: np.repeat(getattr(self, name), n, axis=0) for name in _PROJECTS}
        changed["areas"] = {key: values[at] for key, values in self.areas.items()}
        for name in ("facts", "limits", "bonus_stated"):
            changed[name] = {key: np.repeat(values, n, axis=0) for key, values in getattr(self, name).items()}
        for name in ("new", "retained", "capital"):
            changed[name] = {key: values.take(at) for key, values in getattr(self, name).items()}
        changed |= {name: getattr(self, name).take(at) for name in ("salary_over", "salary_over_new")}
        return replace(self, **changed)


_ROWS = ("sqft", "similar", "industrial", "new_built", "proximity", "floors", "ceilings")
_PROJECTS = ("industry", "kind", "years", "by_capital", "approved", "applied", "bonus_given")
