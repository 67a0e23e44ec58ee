"""What is wrong with a project, in words: the place, what was found, what was expected, what to do."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, get_args

from grownj_geo.facts import load_facts
from grownj_geo.readings import nearest_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pydantic import BaseModel

__all__ = ["kind_contradiction", "problem_in_words", "problems_across"]

_SHOWN = 60
_BEGUN, _NEAR = 3, 0.7
"""Letters that a word has to begin with alike, or how much of it has to be alike, for another to be suggested."""
_EXPECTED = {
    "construction": "new or rehabilitation",
    "method": "per_job or capital_investment",
    "when": "before or after",
    "rest": "undetermined or no",
    "business": "industry and what else is known of the business",
    "buildings": "a list of buildings",
    "jobs": "a list of jobs, each with kind and count",
    "capital": "a list of parts, each with what and amount",
}
_DAYS = {"application_date", "approval_date", "incurred"}
_LIMITS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("more than", "gt"),
    "less_than_equal": ("at most", "le"),
}
_PLAIN = "expected a plain number, as in 60000 or 60000.50. Write it without words, $ or commas"


def problem_in_words(raw: object, error: Mapping[str, Any], models: Mapping[str, type[BaseModel]]) -> str:
    """Return one problem of a model in words.

    Parameters
    ----------
    raw
        The whole project as it was written.
    error
        One of the errors that pydantic lists.
    models
        The model of each part of the project by the part's name; ``""`` is the project.
    """
    loc = error["loc"]
    named = next((str(step) for step in reversed(loc) if isinstance(step, str)), "")
    model = models.get(_part(loc), models[""])
    place, kind = _place(raw, loc), error["type"]
    stated = error.get("input")
    found = str(stated) if isinstance(stated, date) else repr(stated)
    found = found if len(found) <= _SHOWN else f"{found[:_SHOWN]}..."
    words = error["msg"].removeprefix("Value error, ")
    if kind == "missing":
        said = f"it is missing; expected {_expected(model, named) or 'a number'}. Add it."
    elif kind == "extra_forbidden":
        said = f"nothing is called that. {nearest_name(named, model.model_fields)}"
    elif kind == "value_error":
        said = words if words.endswith((".", "?")) else f"found {found}; {words}."
    elif named in _DAYS:
        said = f"found {found}; expected a day as YYYY-MM-DD. Write it so."
    elif kind == "literal_error":
        options = [str(option) for option in _options(model, named)]
        said = f"found {found}; expected {_expected(model, named)}. {_near(str(stated), options)}"
    elif kind in _LIMITS:
        least, key = _LIMITS[kind]
        said = f"found {found}; expected {least} {error['ctx'][key]}. Correct the number."
    elif kind.startswith(("decimal", "int", "float", "is_instance")):
        said = f"found {found}; {_PLAIN}."
    elif kind == "too_long":
        said = f"it has more than {error['ctx']['max_length']} entries; expected no more. Correct the list."
    elif kind.startswith("bool"):
        said = f"found {found}; expected yes or no. Write one, or leave it out where it is not known."
    else:
        said = f"found {found}; {words[:1].lower()}{words[1:]}. Correct it."
    return f"{place}: {said}"


def _near(stated: str, options: list[str]) -> str:
    """Return which of the options is likely meant; all of them are named already."""
    from difflib import get_close_matches  # noqa: PLC0415 - only when something is wrong

    word = stated.strip().lower()
    begun = [option for option in options if len(word) >= _BEGUN and option.startswith(word)]
    close = begun if len(begun) == 1 else get_close_matches(word, options, n=1, cutoff=_NEAR)
    return f"Did you mean {close[0]!r}?" if close else "Choose one."


def _part(loc: tuple[int | str, ...]) -> str:
    return next((str(step) for step in reversed(loc[:-1]) if isinstance(step, str)), "")


def _options(model: type[BaseModel], name: str) -> tuple[Any, ...]:
    """Return the words that a field takes."""
    field = model.model_fields.get(name)
    if field is None:
        return ()
    options = get_args(field.annotation)
    return next((get_args(option) for option in options if get_args(option)), options)


def _expected(model: type[BaseModel], name: str) -> str:
    if name in _EXPECTED:
        return _EXPECTED[name]
    options = [str(option) for option in _options(model, name) if isinstance(option, str)]
    return f"{', '.join(options[:-1])} or {options[-1]}" if len(options) > 1 else ""


def _place(raw: object, loc: tuple[int | str, ...]) -> str:
    """Return where a problem is: list entries by their id, else by their number from 1."""
    words: list[str] = []
    here: Any = raw
    for step in loc:
        before, here = here, None
        if isinstance(before, (dict, list)):
            here = before[step] if (step in before if isinstance(before, dict) else _within(before, step)) else None  # type: ignore[index]
        if isinstance(step, int):
            alone = words[-1:] == ["buildings"] and isinstance(before, list) and len(before) == 1
            named = here.get("id") if isinstance(here, dict) else None
            words.append(str(named or ("site" if alone else step + 1)))
        elif here is not None or not step.startswith(("constrained", "function", "Decimal")):
            words.append(step)
    return " > ".join(words) or "top level"


def _within(listed: list[Any], step: int | str) -> bool:
    return isinstance(step, int) and step < len(listed)


# -- between parts ------------------------------------------------------------------------------------


def problems_across(raw: object, facts: Iterable[str]) -> list[str]:
    """Return what is wrong between parts of a project, as far as they can be read at all.

    Parameters
    ----------
    raw
        The project as it was written.
    facts
        The facts that a project may state.
    """
    if not isinstance(raw, dict):
        return []
    buildings = [building for building in _listed(raw, "buildings") if isinstance(building, dict)]
    ids = [str(building.get("id", "site")) for building in buildings]
    problems = [
        f"buildings > {name}: the id is given {ids.count(name)} times; give each building one of its own."
        for name in dict.fromkeys(ids)
        if ids.count(name) > 1
    ]
    for part in ("jobs", "capital"):
        for number, entry in enumerate(_listed(raw, part), 1):
            if isinstance(entry, dict):
                problems += [f"{part} > {number}{words}" for words in _of_entry(raw, entry, ids)]
    if _before(raw.get("approval_date"), raw.get("application_date")):
        problems.append("approval_date: it lies before the application_date. Correct one of them.")
    problems += _unknown(raw.get("facts"), facts, "facts", "no bonus asks for that")
    for name, building in zip(ids, buildings, strict=True):
        problems += _unknown(
            building.get("facts"), load_facts(), f"buildings > {name} > facts", "there is no such fact"
        )
    return problems


def _of_entry(raw: dict[str, Any], entry: dict[str, Any], ids: list[str]) -> Iterator[str]:
    """Yield what is wrong with a job group or a part of the capital, seen from the project."""
    named, applied = entry.get("building"), raw.get("application_date")
    if named is None and len(ids) > 1:
        yield f": there are {len(ids)} buildings; say which with 'building'."
    elif named is not None and str(named) not in ids:
        yield f" > building: there is no building {named!r}. {nearest_name(str(named), ids)}"
    if entry.get("incurred") is not None and applied is None:
        yield " > incurred: it needs the project's application_date beside it. Add that."
    if entry.get("when") == "after" and _before(entry.get("incurred"), applied):
        yield ": it was incurred before the application and 'when' says after. Correct one of them."


def _unknown(stated: object, known: Iterable[str], place: str, words: str) -> list[str]:
    if not isinstance(stated, dict):
        return []
    names = list(known)
    return [f"{place} > {name}: {words}. {nearest_name(str(name), names)}" for name in stated if name not in names]


def _listed(raw: dict[str, Any], part: str) -> list[Any]:
    found = raw.get(part)
    return found if isinstance(found, list) else []


def _before(one: object, other: object) -> bool:
    days = []
    for each in (one, other):
        try:
            days.append(each if isinstance(each, date) else date.fromisoformat(str(each)))
        except ValueError:
            return False  # that it is no day is a problem of its own
    return days[0] < days[1]


def kind_contradiction(kind: str | None, *, startup: bool | None, warehouse: bool | None) -> str | None:
    """Return in words what contradicts a stated kind of business.

    Parameters
    ----------
    kind
        The kind that is stated.
    startup, warehouse
        Whether it is a technology startup, or primarily a warehouse; None where it is not stated.

    Examples
    --------
    >>> kind_contradiction("other", startup=True, warehouse=None)
    'kind is other and technology_startup is yes; expected one kind of business. Correct one of them.'
    """
    # A manufacturer that is a startup too has the same minimum.
    apart = {"other", "targeted_industry"} if startup else {"technology_startup"}
    for name, value, clash in (
        ("technology_startup", startup, kind in apart),
        ("primarily_warehouse", warehouse, bool(warehouse) and kind == "targeted_industry"),
    ):
        if value is not None and clash:
            said = "yes" if value else "no"
            return f"kind is {kind} and {name} is {said}; expected one kind of business. Correct one of them."
    return None
