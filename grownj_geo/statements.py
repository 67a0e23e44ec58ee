"""What users state: comparing a stated fact with what a clause asks, for n sites."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.binding import BoundRulebook, day_reached
from grownj_geo.logic import Cause
from grownj_geo.values import Values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grownj_geo.nodes import Ratio, SiteFact
    from grownj_geo.site import FactValue

    Column = Sequence[FactValue | None]

__all__ = ["compare_fact", "ratio_values", "with_statements"]


def compare_fact(fact: SiteFact, value: FactValue, bound: BoundRulebook) -> bool | None:  # noqa: PLR0911 - one each
    """Return whether a stated value is what a clause asks for; None where the law's own day is uncertain."""
    if fact.is_ is not None:
        return value in fact.is_ if isinstance(fact.is_, tuple) else value == fact.is_
    if fact.at_least is not None:
        return float(value) >= bound.figures[fact.at_least]
    if fact.at_most is not None:
        return float(value) <= bound.figures[fact.at_most]
    if fact.more_than is not None:
        return float(value) > bound.figures[fact.more_than]
    day = date.fromisoformat(str(value))
    if fact.before is not None:
        return {"no": True, "yes": False, "unsure": None}[day_reached(fact.before, day)]
    if fact.after is not None:
        return {"no": False, "yes": day != fact.after, "unsure": None}[day_reached(fact.after, day)]
    return day <= bound.as_of


def with_statements(values: Values, fact: SiteFact, column: Column, bound: BoundRulebook) -> Values:
    """Return the values of a fact with what users state put in place; the given ones are left as they are."""
    outcomes, causes = values.outcomes.copy(), values.causes.copy()
    margin = None if values.margin_ft is None else values.margin_ft.copy()
    for i, stated in enumerate(column):
        if stated is None:
            continue
        answer = compare_fact(fact, stated, bound)
        outcomes[:, i] = 0 if answer is None else 1 if answer else -1
        causes[i] = int(Cause.LIST_UNKNOWN) if answer is None else 0
        if margin is not None:
            margin[i] = np.nan
    return Values(outcomes, margin, causes)


def ratio_values(ratio: Ratio, unstated: Values, facts: Mapping[str, Column], bound: BoundRulebook) -> Values:
    """Return whether a share of stated figures reaches its threshold; as given while one is not stated."""
    values = Values(unstated.outcomes.copy(), None, unstated.causes.copy())
    columns = [column for name in (ratio.part, *ratio.whole) if (column := facts.get(name)) is not None]
    if len(columns) < 1 + len(ratio.whole):
        # A figure that is stated for no site: no share of any.
        return values
    for i in range(len(unstated.causes)):
        figures = [column[i] for column in columns]
        numbers = [Decimal(str(figure)) for figure in figures if figure is not None]
        if len(numbers) == len(columns) and sum(numbers[1:]) > 0:
            # Exact decimals: binary fractions could put an exact 30 % a hair below it.
            part, *whole = numbers
            values.outcomes[:, i] = 1 if part >= Decimal(str(bound.figures[ratio.at_least])) * sum(whole) else -1
            values.causes[i] = 0
    return values
