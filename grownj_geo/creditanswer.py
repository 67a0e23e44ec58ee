"""What a credit of the bill comes to: tests in three answers, amounts between bounds, with their rules and figures."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict

from grownj_geo.creditparams import below_confirmed
from grownj_geo.credits import AmountRange, CreditFigure, credit_figure
from grownj_geo.credittri import all_met, sign_of
from grownj_geo.logic import Outcome

if TYPE_CHECKING:
    from datetime import date

    from grownj_geo.creditparams import Figures
    from grownj_geo.credittri import Tri

__all__ = ["AnswerBook", "CreditAnswer", "CreditTest"]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CreditTest(_Record):
    """One test: what it asks, its rule, and what came out."""

    label: str
    rule: str
    outcome: Literal["yes", "no", "undetermined"]


class CreditAnswer(_Record):
    """What a credit of the bill comes to.

    Attributes
    ----------
    eligible
        Whether every test is met.
    tests, amounts
        By name; an amount is nothing where it is not due, and perhaps nothing where that is open.
    rules
        The rule of each amount.
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

    def to_json(self) -> str:
        """Return the record as JSON, with a line end."""
        return self.model_dump_json(indent=2) + "\n"


class AnswerBook:
    """Gathers what a rule comes to, and the figures that it used."""

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

    def note_used(self, *names: str) -> None:
        """Remember that figures were used."""
        self._used |= dict.fromkeys(names)

    def rule_of(self, name: str) -> str:
        """Return the citation of a figure."""
        return self._figures.of(name).citation

    def test(self, name: str, label: str, value: Tri, rule: str) -> Tri:
        """Add a test of whether the credit is due, and return what came out."""
        self._values[name] = value
        self._tests[name] = CreditTest(label=label, rule=rule, outcome=Outcome.of(sign_of(value)).value)
        return value

    def at_least(self, name: str, label: str, value: Decimal | int | None, figure: str) -> Tri:
        """Add a test that a stated number reaches a figure."""
        needed = self.number(figure)
        return self.test(name, label, None if value is None else value >= needed, self.rule_of(figure))

    def told(self, name: str, label: str, value: Tri, rule: str) -> Tri:
        """Add something that is told beside, and does not decide whether the credit is due."""
        self._tests[name] = CreditTest(label=label, rule=rule, outcome=Outcome.of(sign_of(value)).value)
        return value

    def amount(self, name: str, low: Decimal, high: Decimal | None, rule: str) -> None:
        """Add an amount."""
        self._amounts[name] = AmountRange(low=low, high=high)
        self._rules[name] = rule

    @property
    def eligible(self) -> Tri:
        """Whether every test so far is met."""
        return all_met(self._values.values())

    def due(self, name: str, amount: Decimal | None, rule: str, *, if_met: Tri) -> AmountRange:
        """Add an amount that is due where something is met; not known where it is None."""
        low = amount if if_met and amount is not None else Decimal(0)
        high = Decimal(0) if if_met is False else amount
        self.amount(name, low, high, rule)
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
            notes=tuple(self.notes),
        )
