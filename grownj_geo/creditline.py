"""One line of a computation: its rule, what goes in, what comes out, and the formula that gives it.

A formula is written as spreadsheets write it, with the names of other lines in braces: ``{gross@A}`` is the same bound
of that line, ``{gross@A:low}`` and ``{gross@A:high}`` a certain one.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from grownj_geo.logic import Outcome
from grownj_geo.strict import Strict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grownj_geo.creditrange import Kleene, Range

__all__ = ["CreditLine", "Part", "amount_line", "at_least_formula", "every_formula", "outcome_line"]

Unit = Literal["dollars", "dollars_per_sqft", "sqft", "jobs", "years", "percent", "outcome"]
Part = Literal["inputs", "minimums", "place", "award", "result"]


class CreditLine(Strict):
    """One line of a computation.

    Attributes
    ----------
    label, unit
        What it is, and in what it is counted.
    id
        The line's name, with the building's after an at sign.
    part
        Where it stands in the computation.
    rule
        The rule that asks for it.
    words
        What goes in, or what is to be said of it.
    low, high
        The least and the greatest that an amount can be; `high` is null where nothing bounds it, both are null for a
        line that is an outcome.
    outcome
        For a test: yes, no or undetermined.
    formula, formula_high
        How it comes from other lines; the second where the greatest is computed in another way.
    figures
        Names of the figures of the law that it uses.
    """

    id: str
    part: Part
    building: str | None = None
    label: str
    rule: str
    unit: Unit
    low: Decimal | None = None
    high: Decimal | None = None
    outcome: Literal["yes", "no", "undetermined"] | None = None
    words: str = ""
    formula: str | None = None
    formula_high: str | None = None
    figures: tuple[str, ...] = ()


def amount_line(
    name: str,
    part: Part,
    label: str,
    values: Range,
    *,
    row: int = 0,
    building: str | None = None,
    rule: str = "as stated",
    unit: Unit = "dollars",
    **more: Any,  # noqa: ANN401 - fields of the line
) -> CreditLine:
    """Return the line of an amount.

    Parameters
    ----------
    name, part, label, rule, unit
        As in `CreditLine`; the name without the building.
    building
        The building that it is of; None for the whole project.
    values
        Amounts of which that at `row` is told; whole numbers or decimals.
    more
        Further fields of `CreditLine`: words, formula, formula_high, figures.
    """
    # Jobs are counted in whole numbers, which are none of Decimal's own.
    low, high = (v if isinstance(v, Decimal) else Decimal(int(v)) for v in (values.low[row], values.high[row]))
    return CreditLine(
        id=name if building is None else f"{name}@{building}",
        part=part,
        building=building,
        label=label,
        rule=rule,
        unit=unit,
        low=low if low.is_finite() else None,
        high=high if high.is_finite() else None,
        **more,
    )


def outcome_line(
    name: str,
    part: Part,
    label: str,
    values: Kleene,
    *,
    rule: str,
    row: int = 0,
    building: str | None = None,
    **more: Any,  # noqa: ANN401 - fields of the line
) -> CreditLine:
    """Return the line of a test.

    Parameters
    ----------
    name, part, label, rule
        As in `CreditLine`; the name without the building.
    building
        The building that it is of; None for the whole project.
    values
        Outcomes of which that at `row` is told.
    more
        Further fields of `CreditLine`: words, formula, figures.
    """
    return CreditLine(
        id=name if building is None else f"{name}@{building}",
        part=part,
        building=building,
        label=label,
        rule=rule,
        unit="outcome",
        outcome=Outcome.of(int(values[row])).value,
        **more,
    )


def every_formula(names: Iterable[str]) -> str:
    """Return the formula of whether all tests of some names are met.

    Examples
    --------
    >>> every_formula(["a", "b"])
    'IF(OR({a:low}="no",{b:low}="no"),"no",IF(AND({a:low}="yes",{b:low}="yes"),"yes","undetermined"))'
    """
    cells = [f"{{{name}:low}}" for name in names]
    yes, no = (",".join(f'{cell}="{word}"' for cell in cells) for word in ("yes", "no"))
    return f'IF(OR({no}),"no",IF(AND({yes}),"yes","undetermined"))'


def at_least_formula(one: str, other: str) -> str:
    """Return the formula of whether one line is at least another.

    Parameters
    ----------
    one, other
        Names of lines.

    Examples
    --------
    >>> at_least_formula("a", "b")
    'IF({a:low}>={b:high},"yes",IF({a:high}<{b:low},"no","undetermined"))'
    """
    return f'IF({{{one}:low}}>={{{other}:high}},"yes",IF({{{one}:high}}<{{{other}:low}},"no","undetermined"))'
