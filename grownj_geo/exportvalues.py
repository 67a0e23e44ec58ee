"""Columns of a table of sites as GIS files want them: numbers as numbers, margins too, and each explained."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from grownj_geo.answers import MARGIN_LIMIT_FT
from grownj_geo.batchwork import PREFIX, batch_columns
from grownj_geo.facts import load_facts
from grownj_geo.rows_block import cell_text
from grownj_geo.rows_columns import Roles, answers_in, name_column

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from grownj_geo.determine import Engine

__all__ = ["ExportColumn", "Kind", "export_columns"]

Kind = Literal["text", "integer", "number", "boolean"]

_MARGIN, _BEYOND = "_margin_ft", "_beyond"
_AS_CAME = "as it came"
_READ = "as it came, read as a number"
_MARGIN_WORDS = (
    f"feet to the line that decides, negative where it is missed; exact within {MARGIN_LIMIT_FT:g}, and "
    f"{MARGIN_LIMIT_FT:g} or -{MARGIN_LIMIT_FT:g} where {{name}} is filled; empty where no line decides"
)
_BEYOND_WORDS = f"farther than {MARGIN_LIMIT_FT:g} ft: > inside by more than the margin, < missed by more; else empty"
# Digits of other scripts than ours are not how a number is written.
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]+)?")
_PLAIN_NUMBER = re.compile(r"(0|-?[1-9][0-9]{0,14})|-?(0|[1-9][0-9]{0,14})\.[0-9]*[1-9]")
_MOST_DIGITS = 15
_MEASURES = frozenset(
    (
        *("ft", "feet", "foot", "sqft", "sf", "gsf", "acre", "acres", "acreage", "ac", "mi", "mile", "miles", "km"),
        *("meters", "metres", "area", "areas", "length", "len", "width", "height", "depth", "distance", "dist"),
        *("perimeter", "elevation", "elev", "size", "capacity", "latitude", "longitude", "lat", "lon"),
        *("count", "counts", "total", "totals", "sum", "mean", "average", "avg", "median", "min", "max"),
        *("jobs", "employees", "workers", "population", "pop", "households", "persons", "people", "units", "dwellings"),
        *("rooms", "beds", "stories", "storeys", "floors", "spaces"),
        *("year", "years", "yr", "months", "days", "hours", "minutes"),
        *("percent", "pct", "share", "ratio", "rate", "rank", "score"),
        *("value", "val", "price", "cost", "costs", "rent", "income", "wage", "wages", "amount", "amt", "usd"),
        *("dollars", "investment", "capital", "assessment", "taxes"),
    )
)
"""What words of a column's name say that it measures or counts; a number of any other column may be a code."""
_CODES = re.compile(
    r"(^|_)(id|ids|code|codes|zip\w*|pin|pams\w*|fips|geoid|phone|tel|fax|block|blk|lot|qual\w*|unit|tract|parcel\w*|name|"
    r"label|title|date|permit|account|acct|ein|naics|sic|map|district|ref|reference|key)($|_)|(^|_)(no|nr|num|number)$"
)
"""What makes a code of it all the same where a measure is not the last word."""
_MARGIN_TEXT = re.compile(r"[<>]?-?[0-9]+(\.[0-9]+)?")
_TYPES: dict[Kind, type | tuple[type, ...]] = {"text": str, "integer": int, "number": (int, float), "boolean": bool}
_TRUTH = {"true": True, "false": False}


@dataclass(frozen=True)
class ExportColumn:
    """A column of an export.

    Attributes
    ----------
    name, values, meaning
        Its name, n values, and what they mean.
    kind
        What it holds, also where every value is nothing; None where only the values say it.
    """

    name: str
    values: Sequence[Any]
    meaning: str
    kind: Kind | None = None


def export_columns(
    engine: Engine, columns: Mapping[str, Sequence[Any]], *, roles: Roles | None = None
) -> Iterator[ExportColumn]:
    """Yield the columns of an answered table, in order, as a GIS file has them.

    A text file has text only. Columns of coordinates and of facts become numbers where all of their cells are; others
    only where their name says that they measure or count, and every cell is written as a number is written, so that
    nothing is lost: telephone numbers, accounts and lots 1.1 and 1.10 stay as they came. A margin that is told as
    beyond a limit becomes a number and a column that says so.

    Parameters
    ----------
    engine
        What the sites were determined with.
    columns
        As `exporttables.site_tables` takes them.
    roles
        Which column of the table says what.
    """
    roles = roles or Roles()
    known = {column.name: column for column in batch_columns(engine, (), "full")}
    own = answers_in(list(columns)) or frozenset(columns)
    numbers = {*(roles.pair or ()), *roles.facts.values(), *filter(None, (roles["uncertainty"],))}
    kept = {*roles.columns.values(), name_column(columns)} - numbers
    for name, values in columns.items():
        answer = known.get(name.removeprefix(PREFIX)) if name in own else None
        if answer is None:
            found = values
            if name in numbers:
                found = _numbers(values, _NUMBER)
            elif name not in kept and _is_measure(name):
                found = _numbers(values, _PLAIN_NUMBER)
            yield ExportColumn(name, found, _AS_CAME if found is values else _READ)
        elif name.endswith(_MARGIN) and _are_margins(values):
            beyond = f"{name}{_BEYOND}"
            while beyond in columns:
                beyond += "_"
            margins, sides = _margins(values)
            yield ExportColumn(name, margins, _MARGIN_WORDS.format(name=beyond), "number")
            yield ExportColumn(beyond, sides, _BEYOND_WORDS, "text")
        else:
            found = _of_kind(values, answer.type)
            fits = all(value is None or isinstance(value, _TYPES[answer.type]) for value in found)
            yield ExportColumn(name, found, answer.meaning, answer.type if fits else None)


def _is_measure(name: str) -> bool:
    """Return whether a column's name says that it measures or counts, and not that it names.

    Examples
    --------
    >>> [_is_measure(name) for name in ("Shape_Area", "YearBuilt", "number of jobs", "tel", "area code", "suite")]
    [True, True, True, False, False, False]
    """
    plain = re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).casefold()).strip("_")
    fact = load_facts().get(plain)
    if fact is not None:
        return fact.type == "number"
    words = plain.split("_")
    # The last word says what it is: acres of a lot, and the code of an area.
    return words[-1] in _MEASURES or (not _MEASURES.isdisjoint(words) and not _CODES.search(plain))


def _numbers(values: Sequence[Any], form: re.Pattern[str]) -> Sequence[Any]:
    """Return texts as numbers where all of them are, and the same object where one is not or none is a text."""
    texts = [value.strip() for value in values if isinstance(value, str) and value.strip()]
    if not texts or not all(form.fullmatch(text) and sum(map(str.isdigit, text)) <= _MOST_DIGITS for text in texts):
        return values
    if any(value is not None and not isinstance(value, str) for value in values):
        return values
    read: type[int | float] = int if all("." not in text for text in texts) else float
    return [read(value) if value is not None and value.strip() else None for value in values]


def _of_kind(values: Sequence[Any], kind: Kind) -> Sequence[Any]:
    """Return answers as what they are, also where they come from a text file; as they came where they are not that."""
    if kind == "text":
        return values
    if kind == "boolean":
        if not all(value in {None, "", *_TRUTH} for value in values if not isinstance(value, bool)):
            return values
        return [_TRUTH.get(value) if isinstance(value, str) else value for value in values]
    return _numbers(values, _NUMBER)


def _are_margins(values: Sequence[Any]) -> bool:
    return all(value is None or not (text := cell_text(value)) or _MARGIN_TEXT.fullmatch(text) for value in values)


def _margins(values: Sequence[Any]) -> tuple[list[float | None], list[str | None]]:
    """Return margins as numbers, and on which side of the limit those are that are only known to be beyond it."""
    margins: list[float | None] = []
    sides: list[str | None] = []
    for value in values:
        text = "" if value is None else cell_text(value)
        margins.append(float(text.lstrip("<>")) if text else None)
        sides.append(text[0] if text[:1] in {"<", ">"} else None)
    return margins, sides
