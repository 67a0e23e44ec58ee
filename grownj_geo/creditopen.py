"""What would settle a credit of the bill: what is not stated is tried, and named where it decides something."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from grownj_geo.areanames import area_names
from grownj_geo.areas import AreaAnswer, BuildingAreas

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pydantic import BaseModel

    from grownj_geo.creditanswer import CreditAnswer

__all__ = ["settles_of"]

_SAYS_ITS_OWN = {
    "name", "program", "trust", "areas", "role", "periods", "employees", "transferred", "transfer_price",
    "residential_investment", "property_kinds",
}  # fmt: skip
"""Not tried by itself: nothing is open for want of it, or it has parts of its own."""

_TRIED: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("tuple", ((0,), (10**6,))),
    ("bool", (True, False)),
    ("date", (date(1990, 1, 1), date(2012, 1, 1), date(2099, 12, 31))),
    ("Decimal", (Decimal(0), Decimal(1), Decimal(10**12))),
    ("int", (0, 1, 10**6)),
)
"""By a word of a field's type: what is tried, from one end to the other."""

_TOGETHER = {"elsewhere_each": "elsewhere_each_before", "certified_at_risk": "intended_employees"}
"""Fields that decide nothing by themselves, with what has to be stated beside them."""

_MOST_TOLD = 3


def settles_of(model: BaseModel, estimate: Callable[[Any], CreditAnswer], now: CreditAnswer) -> tuple[str, ...]:
    """Return what is not stated and would decide or narrow something, in words.

    Parameters
    ----------
    model
        What the business says.
    estimate
        Returns what such a model comes to.
    now
        What this one comes to.
    """
    found: dict[str, list[str]] = {}
    for words, changed in _trials(model):
        decided = _narrowed(now, estimate(changed))
        if decided:
            told = found.setdefault(words, [])
            told += [each for each in decided if each not in told]
    return tuple(
        f"{words}. It decides: {'; '.join(told[:_MOST_TOLD])}{' and more' if len(told) > _MOST_TOLD else ''}"
        for words, told in found.items()
    )


def _trials(model: BaseModel) -> Iterator[tuple[str, BaseModel]]:
    areas = getattr(model, "areas", None)
    if isinstance(areas, BuildingAreas):
        for name, area in area_names().items():
            if areas[name].outcome == "undetermined":
                for word in ("yes", "no"):
                    stated = {**areas.areas, name: AreaAnswer.model_validate({"outcome": word})}
                    changed = areas.model_copy(update={"areas": stated})
                    words = f"{area.label}: state areas.{name}, or say where it is"
                    yield words, model.model_copy(update={"areas": changed})
    for name, update in _fields(model, model):
        yield f"State {name}", model.model_copy(update=update)
    for part in ("periods", "employees"):
        entries = getattr(model, part, None) or ()
        for number, entry in enumerate(entries):
            for name, update in _fields(entry, model):
                own = {key: value for key, value in update.items() if key in type(entry).model_fields}
                beside = {key: value for key, value in update.items() if key not in own}
                changed_entry = entry.model_copy(update=own)
                changed_entries = (*entries[:number], changed_entry, *entries[number + 1 :])
                words = f"State {part}.{number + 1}.{name}" if len(entries) > 1 else f"State {part}.{name}"
                yield words, model.model_copy(update={part: changed_entries, **beside})


def _fields(model: BaseModel, whole: BaseModel) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what may be stated of a model that is not, with what is tried for it."""
    for name, field in type(model).model_fields.items():
        if name in _SAYS_ITS_OWN or getattr(model, name) not in {None, ()}:
            continue
        kind = str(field.annotation)
        values = next((values for word, values in _TRIED if word in kind), ())
        beside = _TOGETHER.get(name)
        if beside is None or getattr(whole, beside, None) is not None:
            yield from ((name, {name: value}) for value in values)
            continue
        most: Any = (1,) if beside.startswith("elsewhere") else 10**6
        for value in values:
            yield f"{name} and {beside}", {name: value, beside: most}


def _narrowed(now: CreditAnswer, then: CreditAnswer) -> list[str]:
    """Return what is decided then, or bounded more narrowly, and is not now."""
    found = [
        test.label
        for name, test in now.tests.items()
        # A test that is not asked any more is settled too.
        if test.outcome == "undetermined" and (name not in then.tests or then.tests[name].outcome != "undetermined")
    ]
    for name, amount in now.amounts.items():
        other = then.amounts.get(name)
        if other is None or name.startswith("year_") or amount.low == amount.high:
            continue
        inside = other.low >= amount.low and (amount.high is None or other.high is not None)
        if inside and (other.low > amount.low or other.high != amount.high):
            found.append(name.replace("_", " "))
    return found
