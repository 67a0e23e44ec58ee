"""Readings: where the regulation is open, which way of reading it was chosen."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import yaml
from pydantic import BaseModel, Field, TypeAdapter, ValidationError, model_validator

from grownj_geo.errors import RulebookError
from grownj_geo.strict import Strict
from grownj_geo.yamlfile import read_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "STRICT_READINGS",
    "Reading",
    "load_readings",
    "nearest_name",
    "read_entries",
    "read_named",
    "resolve_readings",
    "strict_readings",
]

STRICT_READINGS = {"A24": "list_of_the_year", "A25": "undetermined", "A43": "strict"}
"""What is chosen where nothing is to be assumed."""

OptionName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Words = Annotated[str, Field(min_length=1)]

_MOST_NAMES = 12
_ModelT = TypeVar("_ModelT", bound=BaseModel)


class Reading(Strict):
    """One open question of the regulation's geography, the ways to read it, and the one taken by default.

    A reading of the kind ``"option"`` is switched by the engine; a ``"documented"`` one has a single way,
    which is written down so that a reader can disagree.

    Examples
    --------
    >>> reading = load_readings()["A11"]
    >>> reading.default, list(reading.options)
    ('loose', ['loose', 'strict'])
    """

    id: Annotated[str, Field(pattern=r"^A[1-9]\d*$")]
    title: Words
    question: Words
    citation: Words
    kind: Literal["option", "documented"]
    options: Annotated[dict[OptionName, Words], Field(min_length=1)]
    default: OptionName
    evidence: Words
    affects: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Reading:
        if self.default not in self.options:
            raise ValueError(f"the default {self.default!r} is none of the options {list(self.options)}")
        if (self.kind == "option") != (len(self.options) > 1):
            raise ValueError(
                f"{self.kind!r} does not fit {len(self.options)} option(s); "
                "'option' has two or more, 'documented' has one"
            )
        return self


def nearest_name(name: str, known: Iterable[str]) -> str:
    """Return a sentence that names the nearest known name, or all of them where none is near.

    Examples
    --------
    >>> nearest_name("stict", ["loose", "strict"])
    "Did you mean 'strict'?"
    >>> nearest_name("xyz", ["loose", "strict"])
    'Known: loose, strict.'
    """
    from difflib import get_close_matches  # noqa: PLC0415 - only when something is wrong

    names = {each.lower(): each for each in known}
    close = get_close_matches(name.strip().lower(), names, n=1, cutoff=0.5)
    if close:
        return f"Did you mean {names[close[0]]!r}?"
    shown = list(names.values())[:_MOST_NAMES]
    return f"Known: {', '.join(shown)}{', ...' if len(names) > _MOST_NAMES else ''}."


def read_entries(content: bytes | str, model: type[_ModelT], *, name: str, key: str | None = None) -> list[_ModelT]:
    """Read a rules file that holds one list of entries under one key.

    Parameters
    ----------
    content
        The YAML text: one key and under it the list.
    model
        What each entry must be.
    name
        The file's name, for messages.
    key
        The key; the file's name without its ending by default.

    Raises
    ------
    RulebookError
        If the file is not readable or an entry does not follow the format; the message says which.

    Examples
    --------
    >>> read_entries("readings: []", Reading, name="readings.yaml")
    []
    """
    key = key or name.partition(".")[0]
    try:
        raw = read_yaml(content)
    except yaml.YAMLError as error:
        raise RulebookError(f"{name} is not readable YAML: {error}. Correct the line named.") from error
    if not isinstance(raw, dict) or list(raw) != [key]:
        raise RulebookError(f"{name} does not hold one list under {key!r}; expected '{key}:' and entries under it.")
    try:
        return TypeAdapter(list[model]).validate_python(raw[key])  # type: ignore[valid-type]
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, e['loc'])) or key}: {e['msg']}" for e in error.errors())
        raise RulebookError(f"{name} does not follow the format: {problems}.") from error


def read_named(file_name: str, model: type[_ModelT], *, by: str) -> dict[str, _ModelT]:
    """Return the entries of one of the package's files of rules by one of their fields, in the order of the file.

    Raises
    ------
    RulebookError
        If the file is not readable, does not follow the format, or gives a name twice.

    Examples
    --------
    >>> read_named("readings.yaml", Reading, by="id")["A1"].id
    'A1'
    """
    path = resources.files("grownj_geo") / "rules" / file_name
    found: dict[str, _ModelT] = {}
    for entry in read_entries(path.read_bytes(), model, name=file_name):
        name = getattr(entry, by)
        if name in found:
            raise RulebookError(f"{file_name} gives the {by} {name!r} twice; expected each once.")
        found[name] = entry
    return found


@lru_cache(maxsize=1)
def load_readings() -> dict[str, Reading]:
    """Return every reading of the package by id, in order of number.

    Raises
    ------
    RulebookError
        If the file is not readable, does not follow the format, or gives an id twice.

    Examples
    --------
    >>> list(load_readings())[:3]
    ['A1', 'A2', 'A3']
    """
    found = read_named("readings.yaml", Reading, by="id")
    return dict(sorted(found.items(), key=lambda item: int(item[0][1:])))


def resolve_readings(chosen: Mapping[str, str]) -> dict[str, str]:
    """Return the option of every reading: the chosen one, else the default.

    Parameters
    ----------
    chosen
        Option names by reading id.

    Raises
    ------
    RulebookError
        For an unknown reading or option, with the nearest one that exists.

    Examples
    --------
    >>> resolve_readings({"A11": "strict"})["A11"]
    'strict'
    >>> resolve_readings({})["A25"]
    'assume_none'
    >>> resolve_readings({"A11": "stict"})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    grownj_geo.errors.RulebookError: The reading A11 has no option 'stict'; ... Did you mean 'strict'?
    """
    readings = load_readings()
    for name, option in chosen.items():
        reading = readings.get(name)
        if reading is None:
            first, *_, last = readings
            raise RulebookError(
                f"There is no reading {name!r}; expected one of {first} to {last}. {nearest_name(str(name), readings)}"
            )
        if option not in reading.options:
            raise RulebookError(
                f"The reading {name} has no option {option!r}; expected one of {', '.join(reading.options)}. "
                f"{nearest_name(str(option), reading.options)}"
            )
    return {name: chosen.get(name, reading.default) for name, reading in readings.items()}


def strict_readings(chosen: Mapping[str, str]) -> dict[str, str]:
    """Return chosen readings with those under which nothing is assumed.

    Parameters
    ----------
    chosen
        Option names by reading id.

    Raises
    ------
    RulebookError
        Where one of them was chosen otherwise.

    Examples
    --------
    >>> strict_readings({"A11": "strict"})
    {'A11': 'strict', 'A24': 'list_of_the_year', 'A25': 'undetermined', 'A43': 'strict'}
    """
    for name, option in STRICT_READINGS.items():
        if chosen.get(name, option) != option:
            raise RulebookError(
                f"Strict means {name}={option}, and {name}={chosen[name]} was chosen. Leave out either."
            )
    return {**chosen, **STRICT_READINGS}
