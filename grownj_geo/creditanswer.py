"""What a credit of the bill comes to: tests in three answers, amounts between bounds, with their rules and figures."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from grownj_geo.creditparams import below_confirmed
from grownj_geo.creditrange import cents
from grownj_geo.credits import AmountRange, CreditFigure, credit_figure
from grownj_geo.credittri import all_met, sign_of
from grownj_geo.logic import Outcome
from grownj_geo.strict import Strict

if TYPE_CHECKING:
    from datetime import date

    from grownj_geo.areas import BuildingAreas
    from grownj_geo.creditparams import Figures
    from grownj_geo.credittri import Tri

__all__ = ["AnswerBook", "Bounds", "CreditAnswer", "CreditTest", "lesser", "outcome_of", "share_of"]


class CreditTest(Strict):
    """One test: what it asks, its rule, and what came out.

    Attributes
    ----------
    label, rule
        What it asks, and the rule that asks it.
    outcome
        Yes, no or undetermined.
    """

    label: str
    rule: str
    outcome: Literal["yes", "no", "undetermined"]


class CreditAnswer(Strict):
    """What a credit of the bill comes to.

    Attributes
    ----------
    program, name
        Whose credit it is, and how the project is called.
    figures, below_confirmed
        Every figure used; the names of those below confirmed.
    notes
        What is to be said besides.
    eligible
        Whether every test is met.
    tests, amounts
        By name; an amount is nothing where it is not due, and perhaps nothing where that is open.
    rules
        The rule of each amount.
    settles
        What is not stated and would decide something, in words.
    statement_only
        Figures used that stand in the bill's statement and not in its text.
    """

    program: str
    eligible: Literal["yes", "no", "undetermined"]
    tests: dict[str, CreditTest]
    amounts: dict[str, AmountRange]
    rules: dict[str, str]
    figures: tuple[CreditFigure, ...]
    below_confirmed: tuple[str, ...]
    statement_only: tuple[str, ...]
    notes: tuple[str, ...] = ()
    name: str = ""
    settles: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Return the record as JSON, with a line end."""
        return self.model_dump_json(indent=2) + "\n"


Bounds = tuple[Decimal, Decimal | None]
"""The least and the greatest that an amount can be; None where nothing bounds it."""


def share_of(amount: Decimal, percent: Decimal) -> Decimal:
    """Return a share of an amount in whole cents, what is left over cut off.

    Parameters
    ----------
    amount
        Dollars.
    percent
        The share, in percent.

    Examples
    --------
    >>> share_of(Decimal("10.05"), Decimal(50))
    Decimal('5.02')
    """
    return cents(amount * percent / 100)


def outcome_of(areas: BuildingAreas, name: str) -> Tri:
    """Return whether a place is in an area.

    Parameters
    ----------
    areas
        Of the place.
    name
        The area, one of `areas.yaml`.

    Examples
    --------
    >>> from grownj_geo.areas import BuildingAreas
    >>> outcome_of(BuildingAreas(areas={"urban_enterprise_zone": "yes"}), "urban_enterprise_zone")
    True
    """
    return {"yes": True, "no": False}.get(areas[name].outcome)


def lesser(one: Bounds, other: Bounds) -> Bounds:
    """Return the bounds of the lesser of two amounts.

    Examples
    --------
    >>> lesser((Decimal(3), None), (Decimal(0), Decimal(5)))
    (Decimal('0'), Decimal('5'))
    """
    highs = [high for _, high in (one, other) if high is not None]
    return min(one[0], other[0]), min(highs) if highs else None


class AnswerBook:
    """Gathers what a rule comes to, and the figures that it used.

    Attributes
    ----------
    program
        Whose rule it is.
    notes
        What is to be said besides tests and amounts.
    """

    def __init__(self, program: str, figures: Figures) -> None:
        self.program, self._figures = program, figures
        self._tests: dict[str, CreditTest] = {}
        self._values: dict[str, Tri] = {}
        self._amounts: dict[str, AmountRange] = {}
        self._rules: dict[str, str] = {}
        self._used: dict[str, None] = {}
        self.notes: list[str] = []

    def number(self, name: str) -> Decimal:
        """Return a figure, and remember that it was used."""
        self._used[name] = None
        return self._figures.number(name)

    def count(self, name: str) -> int:
        """Return a whole figure, and remember that it was used."""
        return int(self.number(name))

    def day(self, name: str) -> date:
        """Return a day that the law names, and remember that it was used."""
        self._used[name] = None
        return self._figures.date(name)

    def stands(self, *names: str) -> bool:
        """Return whether figures are taken as they stand, and remember that they were used."""
        self.note_used(*names)
        return all(self._figures.stands(name) for name in names)

    def known(self, name: str) -> Decimal | None:
        """Return a figure, None where it is not taken as it stands."""
        return self.number(name) if self.stands(name) else None

    def note_used(self, *names: str) -> None:
        """Remember that figures were used."""
        self._used |= dict.fromkeys(names)

    def rule_of(self, name: str) -> str:
        """Return the citation of a figure."""
        return self._figures.of(name).citation

    def test(self, name: str, label: str, value: Tri, rule: str) -> Tri:
        """Add a test of whether the credit is due, and return what came out.

        Parameters
        ----------
        name, label, rule
            The test's name, what it asks, and the rule that asks it.
        value
            What came out.
        """
        self._values[name] = value
        self._tests[name] = CreditTest(label=label, rule=rule, outcome=Outcome.of(sign_of(value)).value)
        return value

    def at_least(self, name: str, label: str, value: Decimal | int | None, figure: str) -> Tri:
        """Add a test that a stated number reaches a figure; open where either is not known.

        Parameters
        ----------
        name, label
            The test's name, and what it asks.
        value
            What is stated.
        figure
            The figure's name: its citation is the rule.
        """
        needed = self.known(figure)
        met = None if value is None or needed is None else value >= needed
        return self.test(name, label, met, self.rule_of(figure))

    def within(self, name: str, label: str, added: Bounds, so_far: Decimal | None, figure: str) -> Tri:
        """Tell whether what is added to what was granted so far stays within a limit of a whole program.

        This says only whether it is kept; `left_of` bounds what is due.

        Parameters
        ----------
        name, label
            The test's name, and what it asks.
        added
            The least and the greatest that is added, dollars.
        so_far
            What was granted before.
        figure
            The limit's name.
        """
        limit = self.known(figure)
        met: Tri = None
        if so_far is not None and limit is not None:
            low, high = added
            met = False if so_far + low > limit else True if high is not None and so_far + high <= limit else None
        return self.told(name, label, met, self.rule_of(figure))

    def left_of(self, figure: str, so_far: Decimal | None) -> Bounds:
        """Return the least and the greatest that is left of a limit of a whole program.

        Parameters
        ----------
        figure
            The limit's name.
        so_far
            What was granted before; where it is not stated, perhaps all of the limit is used up.
        """
        limit = self.known(figure)
        if limit is None:
            return Decimal(0), None
        return (Decimal(0), limit) if so_far is None else (max(limit - so_far, Decimal(0)),) * 2

    def told(self, name: str, label: str, value: Tri, rule: str) -> Tri:
        """Add something that is told beside, and does not decide whether the credit is due.

        Parameters
        ----------
        name, label, rule
            The test's name, what it asks, and the rule that asks it.
        value
            What came out.
        """
        self._tests[name] = CreditTest(label=label, rule=rule, outcome=Outcome.of(sign_of(value)).value)
        return value

    def amount(self, name: str, low: Decimal, high: Decimal | None, rule: str) -> None:
        """Add an amount.

        Parameters
        ----------
        name, rule
            Its name, and the rule that gives it.
        low, high
            The least and the greatest that it can be; None where nothing bounds it.
        """
        self._amounts[name] = AmountRange(low=low, high=high)
        self._rules[name] = rule

    @property
    def eligible(self) -> Tri:
        """Whether every test so far is met."""
        return all_met(self._values.values())

    def due(self, name: str, amount: Decimal | Bounds | None, rule: str, *, if_met: Tri) -> AmountRange:
        """Add an amount that is due where something is met.

        Parameters
        ----------
        name, rule
            Its name, and the rule that gives it.
        amount
            What is due, or its bounds; not known where it is None.
        if_met
            Whether it is due.
        """
        low, high = amount if isinstance(amount, tuple) else (amount or Decimal(0), amount)
        self.amount(name, low if if_met else Decimal(0), Decimal(0) if if_met is False else high, rule)
        return self._amounts[name]

    def answer(self) -> CreditAnswer:
        """Return what was gathered."""
        statement = [n for n in self._used if "statement only" in (self._figures.of(n).status_note or "")]
        return CreditAnswer(
            program=self.program,
            eligible=Outcome.of(sign_of(self.eligible)).value,
            tests=self._tests,
            amounts=self._amounts,
            rules=self._rules,
            figures=tuple(credit_figure(self._figures, name) for name in self._used),
            below_confirmed=tuple(n for n in self._used if below_confirmed(self._figures.of(n).status)),
            statement_only=tuple(statement),
            notes=tuple(dict.fromkeys(self.notes)),
        )
