"""Site facts: the one vocabulary of what a map cannot show, and the reading of what a user states."""

from __future__ import annotations

import math
import re
from datetime import date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from grownj_geo.errors import FactError
from grownj_geo.readings import nearest_name, read_named
from grownj_geo.strict import Strict

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FactDefinition", "check_facts", "load_facts", "parse_fact"]

_BOOLEANS = {"yes": True, "true": True, "no": False, "false": False}
_NUMBER = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d*)?([eE][+-]?\d+)?")
_WITH_UNIT = re.compile(rf"\$?\s*(?P<number>{_NUMBER.pattern})\s*(%|[a-zA-Z].*)?")
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_FIRST_YEAR, _LAST_YEAR = 1800, 2100

Words = Annotated[str, Field(min_length=1)]


class FactDefinition(Strict):
    """One site fact: its name, what it may be, and how a user is asked for it.

    A ``"ruling"`` is a finding that only an official can make; a ``"fact"`` is anybody's to state.
    Numbers lie between `minimum` and `maximum`; None is no limit.

    Examples
    --------
    >>> load_facts()["vacant_commercial_sqft"].unit
    'square feet'
    >>> load_facts()["hub_delineated"].kind
    'ruling'
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    label: Words
    type: Literal["boolean", "number", "date", "text", "choice"]
    unit: Words | None = None
    choices: tuple[Words, ...] = ()
    minimum: float | None = 0.0
    maximum: float | None = None
    question: Words
    citation: Words
    kind: Literal["fact", "ruling"]
    used_by: Annotated[tuple[str, ...], Field(min_length=1)]
    note: Words | None = None

    @model_validator(mode="after")
    def _consistent(self) -> FactDefinition:
        if (self.type == "choice") != bool(self.choices):
            raise ValueError("a fact has choices exactly when its type is 'choice'")
        if (self.type == "number") != (self.unit is not None):
            raise ValueError("a fact has a unit exactly when its type is 'number'")
        return self

    @property
    def expected(self) -> str:
        """What a value must look like, in words."""
        if self.type == "number":
            limits = [
                f"{word} {limit:,g}"
                for word, limit in (("at least", self.minimum), ("at most", self.maximum))
                if limit is not None
            ]
            return ", ".join([f"a number of {self.unit}, without the unit", *limits])
        return {
            "boolean": "yes or no",
            "date": "a date as YYYY-MM-DD",
            "text": "some text",
            "choice": f"one of {', '.join(self.choices)}",
        }[self.type]

    @property
    def example(self) -> str:
        """A statement of the fact as on the command line."""
        value = {"boolean": "yes", "number": "50", "date": "2016-07-14", "text": "..."}.get(self.type)
        return f"{self.name}={value or self.choices[0]}"


@lru_cache(maxsize=1)
def load_facts() -> dict[str, FactDefinition]:
    """Return every site fact of the vocabulary by name, in the order of the file.

    Raises
    ------
    RulebookError
        If the file is not readable, does not follow the format, or gives a name twice.

    Examples
    --------
    >>> "structure_exists" in load_facts()
    True
    """
    return read_named("facts.yaml", FactDefinition, by="name")


def parse_fact(statement: str) -> tuple[str, bool | float | str]:
    """Read one statement as typed on the command line.

    Parameters
    ----------
    statement
        ``name=value``.

    Raises
    ------
    FactError
        If there is no ``=``, the name is unknown, or the value does not fit the fact.

    Examples
    --------
    >>> parse_fact("vacant_building_sqft=450,000")
    ('vacant_building_sqft', 450000.0)
    >>> parse_fact("structure_exists=yes")
    ('structure_exists', True)
    """
    name, equals, value = statement.partition("=")
    if not equals:
        raise FactError(
            f"The fact {statement!r} has no '='; expected name=value. Write it as --fact structure_exists=yes."
        )
    ((key, checked),) = check_facts({name.strip(): value}).items()
    return key, checked


def check_facts(stated: Mapping[str, object]) -> dict[str, bool | float | str]:
    """Check stated facts and return them in the types that the rules take.

    Booleans come back as bool, numbers as float, and dates as ISO text; a fact that is not known is left out
    of the mapping and never stated as empty.

    Parameters
    ----------
    stated
        Values by fact name: text, or the types that YAML and tables give.

    Raises
    ------
    FactError
        For an unknown name, with the nearest one, or a value that does not fit.

    Examples
    --------
    >>> check_facts({"structure_exists": "no", "application_date": "2016-07-14", "full_time_jobs": 250})
    {'structure_exists': False, 'application_date': '2016-07-14', 'full_time_jobs': 250.0}
    >>> check_facts({"structure_exist": "no"})
    Traceback (most recent call last):
    grownj_geo.errors.FactError: There is no fact 'structure_exist'. Did you mean 'structure_exists'?
    """
    facts = load_facts()
    checked: dict[str, bool | float | str] = {}
    for name, value in stated.items():
        fact = facts.get(name)
        if fact is None:
            raise FactError(f"There is no fact {name!r}. {nearest_name(str(name), facts)}")
        checked[name] = _check(fact, value)
    return checked


def _refusal(fact: FactDefinition, value: object, advice: str | None = None) -> FactError:
    shown = repr(value.strip()) if isinstance(value, str) else repr(value)
    return FactError(
        f"The fact {fact.name} was stated as {shown}; expected {fact.expected}. "
        f"{advice or f'State it like {fact.example}, or leave it out if it is not known.'}"
    )


def _check(fact: FactDefinition, value: object) -> bool | float | str:
    # Tables give numpy scalars, which hold a plain value.
    if hasattr(value, "item") and hasattr(value, "dtype"):
        value = value.item()
    if isinstance(value, str):
        value = value.strip()
    if fact.type == "boolean":
        return _boolean(fact, value)
    if fact.type == "number":
        return _number(fact, value)
    if fact.type == "date":
        return _date(fact, value)
    return _words(fact, value)


def _boolean(fact: FactDefinition, value: object) -> bool:
    if isinstance(value, bool):
        return value
    found = _BOOLEANS.get(value.lower()) if isinstance(value, str) else None
    if found is None:
        raise _refusal(fact, value)
    return found


def _number(fact: FactDefinition, value: object) -> float:
    if isinstance(value, str):
        if _NUMBER.fullmatch(value) is None:
            bare = _WITH_UNIT.fullmatch(value)
            advice = f"Leave out the unit: {fact.name}={bare['number']} if that is in {fact.unit}." if bare else None
            raise _refusal(fact, value, advice)
        number = float(value.replace(",", ""))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value)
    else:
        raise _refusal(fact, value)
    if (
        not math.isfinite(number)
        or (fact.minimum is not None and number < fact.minimum)
        or (fact.maximum is not None and number > fact.maximum)
    ):
        raise _refusal(fact, value)
    return number


def _date(fact: FactDefinition, value: object) -> str:
    try:
        if isinstance(value, datetime):
            value = value.date()
        elif isinstance(value, str) and _ISO_DATE.fullmatch(value):
            value = date.fromisoformat(value)
    except ValueError as error:
        raise _refusal(fact, value, "There is no such day in the calendar.") from error
    if not isinstance(value, date) or not _FIRST_YEAR <= value.year <= _LAST_YEAR:
        raise _refusal(fact, value)
    return value.isoformat()


def _words(fact: FactDefinition, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise _refusal(fact, value)
    if fact.type == "text":
        return value
    found = re.sub(r"[\s-]+", "_", value.lower())
    if found not in fact.choices:
        raise _refusal(fact, value, nearest_name(found, fact.choices))
    return found
