"""A user's rows in the lists of municipalities: put on, given other days, or taken off."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from grownj_geo.designations import load_lists, periods_overlap
from grownj_geo.layercheck import is_blank, read_day
from grownj_geo.readings import nearest_name
from grownj_geo.refining import COMMON_FIELDS, PLACE_FIELDS, YES_NO, in_words, put, result, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from grownj_geo.layer import Layer
    from grownj_geo.refining import Work

    _Period = tuple[date | None, date | None]

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


_DAYS = ("from_earliest", "from_latest", "until_exclusive")


@dataclass(frozen=True)
class _Row:
    """A given row: what it says, and whether it puts the municipality on the list or takes it off."""

    number: int
    values: dict[str, Any]
    listed: bool

    @property
    def key(self) -> tuple[str, str]:
        return self.values["mun_code"], self.values["designation"]

    @property
    def label(self) -> str:
        return f"{self.values['mun_label']} ({self.key[0]}), {self.key[1]}"

    @property
    def period(self) -> _Period:
        return _period(self.values)

    @property
    def dated(self) -> bool:
        return any(self.values[name] for name in _DAYS)


def refine_lists(work: Work) -> Layer:
    """Return the lists with the given rows in them.

    A row takes the place of the one period of its municipality on its list that it has a day in common with, and is
    added where there is none. A municipality that is not listed loses all its periods, or the one whose days are given.

    Raises
    ------
    LayerFault
        Where a list would lose its last municipality (``list_emptied``), with all faults before it.
    """
    work.find_columns(_FIELDS)
    base = work.base
    there: dict[tuple[str, str], list[int]] = {}
    for i in range(len(base)):
        there.setdefault((base.value("mun_code", i), base.value("designation", i)), []).append(i)
    rows = [row for row in (_designation(work, number) for number in range(len(work.given))) if row is not None]
    _check_distinct(work, rows)
    told: dict[str, dict[int, str]] = {"rows_replaced": {}, "rows_added": {}, "rows_taken_off": {}, "not_listed": {}}
    taken_off = [i for row in rows if not row.listed for i in _taken_off(work, row, there.get(row.key, []), told)]
    replaced: dict[int, dict[str, Any]] = {}
    added: list[dict[str, Any]] = []
    for row in (row for row in rows if row.listed):
        left = [i for i in there.get(row.key, []) if i not in taken_off]
        former = [i for i in left if periods_overlap(row.period, _period_of(base, i))]
        if len(former) > 1:
            periods = " and ".join(_in_words(_period_of(base, i)) for i in former)
            remedy = "Take each off in a row with its days and listed: no, or give days of one of them"
            work.fault("several_periods", row.number, f"{row.label} is listed {periods} already. {remedy}")
        elif not former:
            added.append(row.values)
            told["rows_added"][row.number] = row.label
        elif former[0] in replaced:
            words = f"{row.label} is listed {_in_words(_period_of(base, former[0]))}, and two rows have days in it"
            work.fault("several_periods", row.number, f"{words}. Take that period off in a row with listed: no")
        else:
            was, now = _in_words(_period_of(base, former[0])), _in_words(row.period)
            told["rows_replaced"][row.number] = row.label if was == now else f"{row.label} ({now}; was {was})"
            replaced[former[0]] = row.values
    work.found.stop()
    columns, kept = put(base, replaced, added, taken_off)
    _check_left(work, {row.key[1] for row in rows}, columns["designation"], taken_off)
    _tell_listings(work, told, replaced, rows)
    words = in_words(replaced=len(replaced), added=len(added), removed=len(taken_off))
    return result(work, columns, np.full((len(kept) + len(added), 4), np.nan), words)


def _period(values: Mapping[str, Any]) -> _Period:
    """Return the days between which a designation may hold: from the earliest first day to the day after the last."""
    return read_day(values["from_earliest"]), read_day(values["until_exclusive"])


def _period_of(base: Layer, index: int) -> _Period:
    return _period({name: base.value(name, index) for name in _DAYS})


def _in_words(period: _Period) -> str:
    begins, ends = period
    words = " ".join(filter(None, (f"from {begins}" if begins else "", f"until {ends}" if ends else "")))
    return words or "without days"


def _check_distinct(work: Work, rows: Sequence[_Row]) -> None:
    """Refuse rows of one municipality and list that have days in common."""
    by_key: dict[tuple[str, str], list[_Row]] = {}
    for row in rows:
        before = by_key.setdefault(row.key, [])
        for other in before:
            # One that takes off a period of given days is about just that period.
            apart = other.listed != row.listed and (row if other.listed else other).dated
            if not apart and periods_overlap(row.period, other.period):
                words = f"{row.label} stands in row {other.number + 1} too, with days in common"
                work.fault("duplicate_row", row.number, f"{words}. Leave one out, or give periods without such days")
                break
        before.append(row)


def _taken_off(work: Work, row: _Row, there: Sequence[int], told: Mapping[str, dict[int, str]]) -> list[int]:
    """Return the rows that a municipality loses: all, or that of the given days."""
    exact = [i for i in there if not row.dated or _period_of(work.base, i) == row.period]
    if there and not exact:
        listed = " and ".join(_in_words(_period_of(work.base, i)) for i in there)
        words = f"{row.label} is listed {listed}, not {_in_words(row.period)}"
        work.fault("unknown_period", row.number, f"{words}. Give the days of the period to take off, or none for all")
        return []
    told["rows_taken_off" if exact else "not_listed"][row.number] = row.label
    return exact


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
    rows: Sequence[_Row],
) -> None:
    for kind, words in (
        ("rows_replaced", "These rows take the place of shipped ones"),
        ("rows_added", "These rows were added"),
        ("rows_taken_off", "These municipalities were taken off their lists"),
        ("not_listed", "These municipalities are on no such list anyway"),
    ):
        if told[kind]:
            work.found.tell(kind, "noted", told[kind], f"{words}: {shown(told[kind].values())}.")
    dropped = [
        number
        for number, index in zip(told["rows_replaced"], replaced, strict=True)
        if any(work.base.value(name, index) and not replaced[index][name] for name in _DAYS)
    ]
    if dropped:
        words = "These rows leave out days that the shipped rows have: the designation is without that bound now."
        work.found.tell("days_dropped", "noted", dropped, words)
    dated = [row.number for row in rows if row.listed and row.dated]
    if dated:
        words = "Rules that read a list whatever its days do not look at these; 'listed: no' takes a municipality off."
        work.found.tell("days_given", "noted", dated, words)


def _designation(work: Work, row: int) -> _Row | None:
    """Return what a row says; None after a fault."""
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
        return None
    label, county = work.atlas.municipal_names[code]
    days = {"from_earliest": earliest, "from_latest": latest, "until_exclusive": until}
    values |= {n: "" if day is None else day.isoformat() for n, day in days.items()}
    values |= {"mun_code": code, "mun_label": label, "county": county, "designation": name}
    return _Row(row, values | {"note": work.text("note", row)}, listed == "true")


def _list_name(work: Work, row: int) -> str | None:
    typed = work.text("designation", row)
    name = re.sub(r"[\s\-]+", "_", typed.lower())
    rows = [i for i, each in enumerate(work.base.columns["designation"]) if each == name]
    if name not in load_lists():
        problem = f"the designation is {typed!r}, and there is no such list" if typed else "it names no designation"
        # The nearest name may be another list altogether: all are named.
        known = ", ".join(load_lists())
        work.fault("unknown_list", row, f"{problem}. {nearest_name(name, load_lists())} There are: {known}")
        return None
    if rows and all(is_blank(work.base.columns["mun_code"][i]) for i in rows):
        work.fault("unknown_list", row, f"{name} is a list of counties. Name a list of municipalities")
        return None
    return name
