"""Which column of a user's rows says what: by word of the user, by name, or one value for all rows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grownj_geo.crs import plain_text
from grownj_geo.fieldvalues import as_text
from grownj_geo.layercheck import is_blank, read_figure
from grownj_geo.readings import nearest_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grownj_geo.features import Features
    from grownj_geo.findings import Findings

__all__ = ["Columns", "find_columns"]


@dataclass(frozen=True)
class Columns:
    """Columns by the field that they say, and where each was taken from.

    Attributes
    ----------
    values
        By field, each of n values as they came.
    names
        By field: the given column's name; the field's own where one value was stated for all.
    origins
        By field: the given column's name, or the stated value in words.
    filled
        By field: the rows that have the stated value.
    """

    values: dict[str, list[Any]]
    names: dict[str, str]
    origins: dict[str, str]
    filled: dict[str, frozenset[int]]


def find_columns(
    given: Features,
    fields: Mapping[str, tuple[str, ...]],
    *,
    mapped: Mapping[str, str],
    stated: Iterable[tuple[str, str]],
    found: Findings,
) -> Columns:
    """Find the columns that say the fields of a refinement.

    Parameters
    ----------
    given
        The rows.
    fields
        By field, the names of columns that are taken for it, whatever their capitals, blanks and hyphens.
    mapped
        The given column's name by a name of the field, as the user says.
    stated
        Names of fields and one value of each for all rows, as the user states; it fills what is blank.
    found
        Takes what is to be told, and the faults ``"unknown_field"``, ``"missing_field"``, ``"two_columns"``,
        ``"ambiguous_field"`` and ``"constant_contradicts"``.
    """
    by_spelling = {spelling: name for name, spellings in fields.items() for spelling in (*spellings, name)}
    chosen = _by_word(given, by_spelling, mapped, found)
    by_word = set(chosen.values())
    plain: dict[str, list[str]] = {}
    for column in given.columns:
        plain.setdefault(_plain(column), []).append(column)
    clashing: list[str] = []
    for name, spellings in fields.items():
        there = [column for spelling in spellings for column in plain.get(spelling, ()) if column not in by_word]
        if name in chosen:
            clashing += there
        elif len(there) > 1:
            found.fault("two_columns", f"{' and '.join(there)} both say the {name}. Leave one of them out")
        elif there:
            chosen[name] = there[0]
    if clashing:
        words = f"These columns are not used, since others were named for what they say: {', '.join(clashing)}."
        found.tell("column_clash", "noted", (), words)
    unused = [column for column in given.columns if column not in {*chosen.values(), *clashing}]
    if unused:
        found.tell("fields_not_used", "noted", (), f"These columns say nothing here: {', '.join(unused)}.")
    values = {name: list(given.columns[column]) for name, column in chosen.items()}
    columns = Columns(values, chosen, dict(chosen), {})
    _state(columns, len(given), by_spelling, stated, found)
    return columns


def _plain(name: str) -> str:
    return re.sub(r"[\s\-]+", "_", name.strip().lower())


def _target(name: str, by_spelling: Mapping[str, str], found: Findings) -> str | None:
    target = by_spelling.get(_plain(name))
    if target is None:
        hint = nearest_name(_plain(name), sorted(set(by_spelling.values())))
        found.fault("unknown_field", f"there is no field {name!r} here. {hint.rstrip('.')}{' Name it' * ('?' in hint)}")
    return target


def _by_word(
    given: Features, by_spelling: Mapping[str, str], mapped: Mapping[str, str], found: Findings
) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for name, column in mapped.items():
        target = _target(name, by_spelling, found)
        if target is None:
            continue
        if column not in given.columns:
            there = ", ".join(given.columns) or "none"
            found.fault("missing_field", f"it has no field {column!r} for {name}; it has {there}. Name one of them")
        elif chosen.setdefault(target, column) != column:
            found.fault(
                "ambiguous_field", f"{target} was to be read from both {chosen[target]!r} and {column!r}. Name one"
            )
    return chosen


def _state(
    columns: Columns, n: int, by_spelling: Mapping[str, str], stated: Iterable[tuple[str, str]], found: Findings
) -> None:
    """Put the stated values where the rows say nothing; what they say otherwise is a fault."""
    one: dict[str, str] = {}
    for name, value in stated:
        target = _target(name, by_spelling, found)
        if target is not None and not _same(one.setdefault(target, value), value):
            found.fault("constant_contradicts", f"{target} was stated as {one[target]!r} and as {value!r}. State one")
    for name, value in one.items():
        column = columns.values.get(name)
        if column is None:
            columns.values[name] = [value] * n
            columns.names[name] = name
            columns.origins[name] = f"{value!r}, as stated for all"
            columns.filled[name] = frozenset(range(n))
            continue
        other = [row for row, cell in enumerate(column) if not is_blank(cell) and not _same(cell, value)]
        blank = [row for row, cell in enumerate(column) if is_blank(cell)]
        if other:
            found.fault(
                "constant_contradicts",
                f"{name} was stated as {value!r} for all, and {len(other)} rows say something else, row {other[0] + 1} "
                f"{column[other[0]]!r}. Leave the stated value out, or correct the rows",
            )
        elif blank:
            columns.values[name] = [value if is_blank(cell) else cell for cell in column]
            columns.filled[name] = frozenset(blank)
            columns.origins[name] += f", and {value!r} as stated where it is blank"
            found.tell("constant_filled", "noted", blank, f"{name} was blank and is now {value!r}, as stated.")


def _same(first: object, second: object) -> bool:
    """Return whether two values are one, as text or as a figure."""
    texts = [plain_text(as_text(value)) for value in (first, second)]
    # What is no figure is not equal to itself here.
    return texts[0] == texts[1] or read_figure(texts[0]) == read_figure(texts[1])
