"""Asking the question of one site again under other conditions, and comparing the answers figure by figure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grownj_geo.errors import FactError, LayerError, RulebookError, SiteError
from grownj_geo.facts import check_facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date

    from grownj_geo.determination import Determination
    from grownj_geo.engines import Conditions, Engines
    from grownj_geo.site import FactValue, Site

__all__ = [
    "MAIN_FIELDS",
    "Answers",
    "Item",
    "Runs",
    "Setting",
    "Value",
    "answers_of",
    "changed_items",
    "field_words",
    "same_value",
    "steps",
    "value_of",
    "value_words",
]

Value = str | float | int | bool | tuple[str, ...] | None
Item = tuple[str, str]
Answers = dict[Item, tuple[str, Value]]
"""Label and value by a category's id (or ``tier``, ``place``) and a field of it."""

MAIN_FIELDS = frozenset({"outcome", "leans", "floor", "ceiling", "municipality"})
"""The figures that are the answer itself; the others say how near it is, or why."""

_WORDS = {
    "outcome": "answer",
    "leans": "lean",
    "margin_ft": "margin",
    "causes": "cause",
    "assumed": "rests on an assumption",
    "floor": "base amount, at least",
    "ceiling": "base amount, at most",
    "municipality": "municipality",
}


@dataclass(frozen=True)
class Setting:
    """The conditions of a run with the facts that are stated."""

    conditions: Conditions
    facts: tuple[tuple[str, FactValue], ...] = ()

    def on(self, day: date) -> Setting:
        """Return the same on another day."""
        return replace(self, conditions=replace(self.conditions, as_of=day))


def answers_of(found: Determination) -> Answers:
    """Return label and value of every figure of an answer that a recheck compares, by item and field."""
    answers: Answers = {}
    for finding in found.findings:
        for name in ("outcome", "leans", "margin_ft", "assumed"):
            answers[finding.id, name] = finding.label, getattr(finding, name)
        answers[finding.id, "causes"] = finding.label, tuple(sorted(finding.causes))
    if found.tier is not None:
        answers["tier", "floor"] = "Base amount", found.tier.floor
        answers["tier", "ceiling"] = "Base amount", found.tier.ceiling
        answers["tier", "assumed"] = "Base amount", found.tier.assumed
    place = found.place.municipality
    named = (place,) if place else found.place.candidates
    answers["place", "municipality"] = "Place", " or ".join(f"{n.name} ({n.mun_code})" for n in named) or None
    return answers


@dataclass
class Runs:
    """Answers of one site under any setting, each computed once; None where the question cannot be asked so."""

    engines: Engines
    site: Site
    _found: dict[Setting, Answers | None] = field(default_factory=dict)

    def __call__(self, setting: Setting) -> Answers | None:
        """Return the answers under a setting."""
        if setting not in self._found:
            try:
                engine = self.engines.engine(setting.conditions)
                found = engine.determine(replace(self.site, facts=check_facts(dict(setting.facts))))
                self._found[setting] = answers_of(found)
            except (SiteError, FactError, RulebookError, LayerError):
                # A mixture of then and now that no rulebook or layer allows tells nothing, and the causes say so.
                self._found[setting] = None
        return self._found[setting]


def steps(run: Runs, setting: Setting, days: Iterable[date]) -> list[tuple[date, list[Item]]]:
    """Return on which of some days answers change, and which.

    Parameters
    ----------
    run, setting
        The site, and the conditions besides the day.
    days
        In order. The first is where it begins: nothing changes on it.
    """
    found: list[tuple[date, list[Item]]] = []
    before: Answers | None = None
    for day in days:
        now = run(setting.on(day))
        if before is not None and now is not None:
            items = changed_items(before, now)
            if items:
                found.append((day, items))
        before = now if now is not None else before
    return found


def changed_items(
    was: Mapping[Item, tuple[str, Value]], now: Mapping[Item, tuple[str, Value]], *, noise_ft: float = 0.0
) -> list[Item]:
    """Return the figures that differ, those of a margin by more than the noise."""
    items = dict.fromkeys((*was, *now))
    return [item for item in items if not same_value(item, value_of(was, item), value_of(now, item), noise_ft=noise_ft)]


def value_of(answers: Mapping[Item, tuple[str, Value]] | None, item: Item) -> Value:
    """Return one figure; None where the answers do not have it."""
    found = (answers or {}).get(item)
    return None if found is None else found[1]


def same_value(item: Item, was: Value, now: Value, *, noise_ft: float = 0.0) -> bool:
    """Return whether two values of a figure are the same, those of a margin within the noise."""
    if item[1] == "margin_ft" and isinstance(was, float) and isinstance(now, float):
        return abs(was - now) <= noise_ft + 1e-9
    return was == now


def field_words(name: str) -> str:
    """Return what a field of a difference is called."""
    return _WORDS[name]


def value_words(name: str, value: Value) -> str:
    """Return a value of a field as people read it."""
    if value is None or value == ():
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(one.replace("_", " ") for one in value)
    if name in {"floor", "ceiling"}:
        return f"${value:,}"
    if name == "margin_ft" and isinstance(value, float):
        return f"{value:+,.1f} ft"
    return str(value)
