"""A user's rows in the lists of municipalities: put on, given other days, or taken off."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from grownj_geo.designations import load_lists
from grownj_geo.layercheck import is_blank
from grownj_geo.readings import nearest_name
from grownj_geo.refining import COMMON_FIELDS, PLACE_FIELDS, YES_NO, in_words, put, result, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grownj_geo.layer import Layer
    from grownj_geo.refining import Work

__all__ = ["refine_lists"]

_FIELDS = {
    **PLACE_FIELDS,
    "designation": ("designation", "list"),
    "listed": ("listed",),
    "from_earliest": ("from_earliest", "from"),
    "from_latest": ("from_latest",),
    "until_exclusive": ("until_exclusive", "until"),
    "note": ("note", "notes"),
    **COMMON_FIELDS,
}


def refine_lists(work: Work) -> Layer:
    """Return the lists with the given rows in them: what is there already is replaced, what is not listed goes.

    Raises
    ------
    LayerFault
        Where a list would lose its last municipality (``list_emptied``), with all faults before it.
    """
    work.find_columns(_FIELDS)
    base = work.base
    there = {(base.value("mun_code", i), base.value("designation", i)): i for i in range(len(base))}
    seen: dict[tuple[str, str], int] = {}
    replaced: dict[int, dict[str, Any]] = {}
    added: list[dict[str, Any]] = []
    told: dict[str, dict[int, str]] = {"rows_replaced": {}, "rows_added": {}, "rows_taken_off": {}, "not_listed": {}}
    taken_off: list[int] = []
    for row in range(len(work.given)):
        values, listed = _designation(work, row)
        if values is None:
            continue
        key = values["mun_code"], values["designation"]
        label = f"{values['mun_label']} ({key[0]}), {key[1]}"
        if key in seen:
            work.fault("duplicate_row", row, f"{label} stands in row {seen[key] + 1} too. Expected one period for each")
            continue
        seen[key] = row
        index = there.get(key)
        if not listed:
            told["not_listed" if index is None else "rows_taken_off"][row] = label
            taken_off += [] if index is None else [index]
        elif index is None:
            added.append(values)
            told["rows_added"][row] = label
        else:
            replaced[index] = values
            told["rows_replaced"][row] = label
    columns, kept = put(base, replaced, added, taken_off)
    _check_left(work, {name for _, name in seen}, columns["designation"], taken_off)
    _tell_listings(work, told, replaced, list(seen.values()))
    words = in_words(replaced=len(replaced), added=len(added), removed=len(taken_off))
    return result(work, columns, np.full((len(kept) + len(added), 4), np.nan), words)


def _check_left(work: Work, names: set[str], left: Sequence[str], taken_off: Sequence[int]) -> None:
    """Refuse to take the last municipality off a list."""
    for name in sorted(names - set(left)):
        if any(work.base.value("designation", i) == name for i in taken_off):
            message = f"nothing would be left of the list {name}, and an empty list looks like a lost one"
            work.found.fault("list_emptied", f"{message}. End its rows with a day in 'until' instead")
    work.found.stop()


def _tell_listings(
    work: Work,
    told: Mapping[str, Mapping[int, str]],
    replaced: Mapping[int, Mapping[str, Any]],
    rows: Sequence[int],
) -> None:
    for kind, words in (
        ("rows_replaced", "These rows take the place of shipped ones"),
        ("rows_added", "These rows were added"),
        ("rows_taken_off", "These municipalities were taken off their lists"),
        ("not_listed", "These municipalities are on no such list anyway"),
    ):
        if told[kind]:
            work.found.tell(kind, "noted", told[kind], f"{words}: {shown(told[kind].values())}.")
    days = ("from_earliest", "from_latest", "until_exclusive")
    dropped = [
        row
        for row, index in zip(told["rows_replaced"], replaced, strict=True)
        if any(work.base.value(n, index) for n in days) and not any(replaced[index][n] for n in days)
    ]
    if dropped:
        words = "These rows give no days: the days of the shipped rows no longer hold, and the designation always does."
        work.found.tell("days_dropped", "noted", dropped, words)
    dated = [row for row in rows if work.text("from_earliest", row) or work.text("until_exclusive", row)]
    if dated:
        words = "Rules that read a list whatever its days do not look at these; 'listed: no' takes a municipality off."
        work.found.tell("days_given", "noted", dated, words)


def _designation(work: Work, row: int) -> tuple[dict[str, Any] | None, bool]:
    """Return the columns of a row, or None after a fault, and whether it puts the municipality on the list."""
    code, name = work.municipality(row), _list_name(work, row)
    listed = work.text("listed", row).lower() or "true"
    listed = YES_NO.get(listed, listed)
    if listed not in {"true", "false"}:
        work.fault("unknown_value", row, f"'listed' is {listed!r}. Expected yes or no")
    values: dict[str, Any] = work.own(row)
    earliest, latest, until = (work.day(n, row) for n in ("from_earliest", "from_latest", "until_exclusive"))
    if latest is None:
        latest = earliest
    if earliest is not None and latest is not None and latest < earliest:
        work.fault("bad_period", row, f"it begins between {earliest} and {latest}, which is no span. Exchange the days")
    begins = latest or earliest
    if until is not None and begins is not None and until <= begins:
        work.fault(
            "bad_period", row, f"it begins on {begins} and has ended by {until}. 'until' is the first day without it"
        )
    if code is None or name is None:
        return None, False
    label, county = work.atlas.municipal_names[code]
    days = {"from_earliest": earliest, "from_latest": latest, "until_exclusive": until}
    values |= {n: "" if day is None else day.isoformat() for n, day in days.items()}
    values |= {"mun_code": code, "mun_label": label, "county": county, "designation": name}
    return values | {"note": work.text("note", row)}, listed == "true"


def _list_name(work: Work, row: int) -> str | None:
    typed = work.text("designation", row)
    name = re.sub(r"[\s\-]+", "_", typed.lower())
    rows = [i for i, each in enumerate(work.base.columns["designation"]) if each == name]
    if name not in load_lists():
        problem = f"the designation is {typed!r}, and there is no such list" if typed else "it names no designation"
        work.fault("unknown_list", row, f"{problem}. {nearest_name(name, load_lists())}")
        return None
    if rows and all(is_blank(work.base.columns["mun_code"][i]) for i in rows):
        work.fault("unknown_list", row, f"{name} is a list of counties. Name a list of municipalities")
        return None
    return name
