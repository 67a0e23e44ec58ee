"""The values of a layer's fields: classes, codes, dates and figures, read as the manifest means them.

What differs from the manifest's own form in a way that has one meaning only is changed and told; what nobody can
read is refused with its rows.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, SupportsFloat

from grownj_geo.findings import rows_in_words, values_in_words
from grownj_geo.layercheck import is_blank, read_day, read_figure

if TYPE_CHECKING:
    from collections.abc import Collection

    from grownj_geo.findings import Findings
    from grownj_geo.manifest import CodedField, Manifest

__all__ = ["as_text", "read_days", "read_values"]

_MUN_CODE_DIGITS = 4
_PERCENT = 100.0
_FEWEST_SHARES = 20
"""So many figures of at most 1 in a field of percents are shares; fewer may be very low percents."""
_EARLIEST_DAY = date(1910, 1, 1)
"""Before any planning in the State: such a day is what software writes for a missing one."""
_CLOCK = r"(?:[ T]+\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[AaPp][Mm])?(?:Z|[+-]\d{2}:?\d{2})?)?"
_YEAR_FIRST = re.compile(r"(?P<y>\d{4})[/.](?P<m>\d{1,2})[/.](?P<d>\d{1,2})" + _CLOCK)
_US_ORDER = re.compile(r"(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>\d{4})" + _CLOCK)
_WRITTEN = re.compile(r"(?P<y>\d{4})(?P<m>\d{2})(?P<d>\d{2})")
_FORMS = (
    (_YEAR_FIRST, "year/month/day"),
    (_US_ORDER, "month/day/year, the usual order in the United States"),
    (_WRITTEN, "eight digits"),
)


def as_text(value: object) -> str:
    """Return an attribute as the text that a layer compares; whole numbers without a decimal point.

    Examples
    --------
    >>> as_text(2010.0), as_text(True), as_text(None), as_text(" PARK ")
    ('2010', 'true', '', ' PARK ')
    """
    if is_blank(value):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    number = _whole(value)
    return str(value) if number is None else str(number)


def _whole(value: object) -> int | None:
    """Return the whole number that a number is; None for text, and for what is no whole number."""
    # Numbers of numpy and of Python's decimals are no ints, and can be made floats all the same.
    if isinstance(value, bool | str) or not isinstance(value, SupportsFloat):
        return None
    number = float(value)
    return int(number) if number.is_integer() else None


def read_values(
    columns: dict[str, list[Any]], manifest: Manifest, found: Findings, *, mun_codes: Collection[str] | None = None
) -> dict[str, tuple[str, ...]]:
    """Read the values of a manifest's fields in place, and return those that the manifest does not know.

    Parameters
    ----------
    columns
        Under the manifest's names, each of n values; changed in place.
    manifest
        What the fields mean.
    found
        Takes the changes and faults: ``"unknown_schema"``, ``"bad_code"``, ``"bad_date"``, ``"bad_figure"``,
        ``"bad_bound"``.
    mun_codes
        The municipal codes that there are. Without them a code that has lost its zeros cannot be told from a
        mistake, and is refused.

    Returns
    -------
    dict
        By field: unknown values, each once, sorted; blank ones as empty text.

    Raises
    ------
    LayerFault
        If there are values that cannot be read; all such at once.
    """
    unknown: dict[str, tuple[str, ...]] = {}
    for coded in manifest.fields.values():
        name = coded.source_field
        if name not in columns:
            continue
        if coded.digits is not None:
            _read_codes(columns, name, coded.digits, mun_codes, found)
        if coded.least is not None or coded.greatest is not None:
            _read_figures(columns, coded, found)
        if coded.values:
            strange = _read_classes(columns, coded, found, required=name in manifest.required_fields)
            if strange:
                unknown[name] = strange
    _read_days(columns, manifest, found)
    if manifest.uncertainty_field is not None:
        _check_feet(columns[manifest.uncertainty_field], manifest.uncertainty_field, found)
    found.stop()
    return unknown


def _plain(text: str) -> str:
    """Return a text with neither capitals nor more than single blanks, as values are compared in the second place."""
    return " ".join(text.split()).casefold()


def _read_classes(
    columns: dict[str, list[Any]], coded: CodedField, found: Findings, *, required: bool
) -> tuple[str, ...]:
    name = coded.source_field
    column = columns[name]
    keys = set(coded.values)
    stripped = {key.strip() for key in keys}
    by_plain: dict[str, set[str]] = {}
    for key in keys:
        by_plain.setdefault(_plain(key), set()).add(key)
    # A spelling that would be two keys of different meaning is left as it is.
    near = {
        plain: min(found_keys, key=lambda key: (key != key.strip(), key))
        for plain, found_keys in by_plain.items()
        if len({coded.values[key] for key in found_keys}) == 1
    }
    texts = [as_text(value) for value in column]
    changed: list[int] = []
    strange: dict[str, list[int]] = {}
    out: list[Any] = list(column)
    for row, text in enumerate(texts):
        if text in keys:
            known = text
        elif _plain(text) in near and text.strip():
            known = near[_plain(text)]
            changed.append(row)
        elif text.strip() in stripped:
            known = text.strip()
        else:
            known = text
            strange.setdefault(text.strip(), []).append(row)
        out[row] = known
    named = sorted(strange)
    known_words = values_in_words(sorted(coded.values))
    told = [value for value in named if value]
    if column and sum(map(len, strange.values())) == len(column) and (told or required):
        found.fault(
            "unknown_schema",
            f"the manifest knows none of the values of {name} ({values_in_words(named)}); expected {known_words}. "
            f"Choose the field with --map {name}=SOURCE, or write the publisher's values into it",
        )
        return ()
    if changed:
        spelt = dict.fromkeys(f"{texts[row]!r} as {out[row]!r}" for row in changed)
        found.tell(
            "value_spelling",
            "changed",
            changed,
            f"{name}: values that differ in capitals or blanks only were taken as the publisher's "
            f"({', '.join(list(spelt)[:10])}).",
        )
    if strange:
        rows = sorted(row for listed in strange.values() for row in listed)
        found.tell(
            "unknown_values",
            "noted",
            rows,
            f"{name} has values that the manifest does not know: {values_in_words(named)}. Sites on these features "
            "stay undetermined where a rule asks for the field.",
        )
    columns[name] = out
    return tuple(named)


def _read_codes(
    columns: dict[str, list[Any]], name: str, digits: int, mun_codes: Collection[str] | None, found: Findings
) -> None:
    column = columns[name]
    known = mun_codes if digits == _MUN_CODE_DIGITS else None
    texts = {row: text for row, value in enumerate(column) if (text := _code_text(value))}
    bad = [row for row, text in texts.items() if not (text.isascii() and text.isdigit()) or len(text) > digits]
    if bad:
        found.fault(
            "bad_code",
            f"{name} is no code of {digits} digits in {rows_in_words(bad)} "
            f"({values_in_words([column[row] for row in bad])}). Write the code as text",
        )
        return
    padded = [row for row, text in texts.items() if len(text) < digits]
    problem = _padding_problem([(row, texts[row].zfill(digits)) for row in padded], known)
    if problem:
        shorter = values_in_words([column[row] for row in padded])
        found.fault("bad_code", f"{name} has fewer than {digits} digits ({shorter}), {problem}. Write the code as text")
        return
    columns[name] = [texts[row].zfill(digits) if row in texts else value for row, value in enumerate(column)]
    if padded:
        first = padded[0]
        found.tell(
            "lost_zeros",
            "changed",
            padded,
            f"{name} had lost zeros at the beginning, which were written again "
            f"({texts[first]} is {texts[first].zfill(digits)}).",
        )
    numbers = [row for row, text in texts.items() if not isinstance(column[row], str) and len(text) == digits]
    if numbers:
        found.tell("codes_from_numbers", "noted", numbers, f"{name} held numbers; they are codes, and text now.")
    strange = [row for row, text in texts.items() if known is not None and text.zfill(digits) not in known]
    if strange:
        values = values_in_words([texts[row] for row in strange])
        found.tell("unknown_codes", "noted", strange, f"{name} has codes of no municipality: {values}.")


def _code_text(value: object) -> str:
    """Return a code as its digits; a decimal point that a table programme has added is taken off."""
    text = as_text(value).strip()
    return text[:-2] if re.fullmatch(r"\d+\.0", text) else text


def _padding_problem(padded: list[tuple[int, str]], known: Collection[str] | None) -> str:
    """Say why codes with zeros before them are not the codes that were meant; empty where they are."""
    if padded and known is None:
        return f"in {rows_in_words(row for row, _ in padded)}, and nothing says whether zeros before them were lost"
    wrong = [row for row, code in padded if known is not None and code not in known]
    return f"and with zeros before them they are no municipality's in {rows_in_words(wrong)}" if wrong else ""


def _read_figures(columns: dict[str, list[Any]], coded: CodedField, found: Findings) -> None:
    name = coded.source_field
    least = -math.inf if coded.least is None else coded.least
    greatest = math.inf if coded.greatest is None else coded.greatest
    out: list[Any] = list(columns[name])
    signs: list[int] = []
    bad: list[int] = []
    figures: list[float] = []
    for row, value in enumerate(out):
        if is_blank(value):
            continue
        text = as_text(value).strip()
        if text.endswith("%") and coded.greatest == _PERCENT:
            text = text[:-1].strip()
            signs.append(row)
            out[row] = text
        figure = read_figure(text)
        if not least <= figure <= greatest:
            bad.append(row)
        figures.append(figure)
    if bad:
        raw = columns[name]
        found.fault(
            "bad_figure",
            f"{name} is no number from {coded.least} to {coded.greatest} in {rows_in_words(bad)} "
            f"({values_in_words([raw[row] for row in bad])}). Write a plain number, or nothing where none is known",
        )
        return
    if coded.greatest == _PERCENT and len(figures) >= _FEWEST_SHARES and max(figures) <= 1:
        found.fault(
            "bad_figure",
            f"{name} is at most {max(figures):.4g} in all {len(figures)} features, which looks like shares; expected "
            "percent. Multiply by 100",
        )
        return
    columns[name] = out
    if signs:
        found.tell("percent_sign", "changed", signs, f"{name} had percent signs, which were taken off.")


def _check_feet(column: list[Any], name: str, found: Findings) -> None:
    bad = [row for row, value in enumerate(column) if not read_figure(as_text(value)) >= 0]
    if bad:
        found.fault(
            "bad_figure",
            f"{name} is no number of feet in {rows_in_words(bad)} ({values_in_words([column[r] for r in bad])}). "
            "Write 0 or more: a place without an uncertainty would count as exact",
        )


@dataclass(frozen=True)
class _Day:
    """A day as an attribute states it, and the form where it is not the usual one."""

    day: date | None
    form: str | None = None


def _day(value: object) -> _Day:
    """Read a day in the layer's own forms, or in another usual one.

    Raises
    ------
    ValueError
        If it is no day.
    """
    try:
        return _Day(read_day(value))
    except (ValueError, OverflowError) as error:
        text = as_text(value).strip()
        for pattern, form in _FORMS:
            match = pattern.fullmatch(text)
            if match is not None:
                return _Day(date(int(match["y"]), int(match["m"]), int(match["d"])), form)
        raise ValueError(str(error)) from error


def read_days(column: list[Any], name: str, found: Findings) -> tuple[list[date | None], list[Any]] | None:
    """Read a field of days, in the layer's own forms or in another usual one.

    Parameters
    ----------
    column
        Values as they came.
    name
        What messages call the field.
    found
        Takes a change where days came in another form, a note of days that look like missing ones, and the fault
        ``"bad_date"`` for all values that are no days.

    Returns
    -------
    tuple or None
        The days, and the values in one form; None after a fault.
    """
    read: list[_Day] = []
    bad: list[int] = []
    for row, value in enumerate(column):
        try:
            read.append(_day(value))
        except ValueError:
            read.append(_Day(None))
            bad.append(row)
    if bad:
        found.fault(
            "bad_date",
            f"{name} is no day in {rows_in_words(bad)} ({values_in_words([column[row] for row in bad])}). "
            "Write it as 2017-04-17, or nothing where it is not known",
        )
        return None
    written = _in_one_form(column, name, read, found)
    days = [one.day for one in read]
    early = [row for row, day in enumerate(days) if day is not None and day < _EARLIEST_DAY]
    if early:
        found.tell(
            "early_dates",
            "noted",
            early,
            f"{name} has days before {_EARLIEST_DAY.year}, such as {days[early[0]]}; some software writes "
            "them where a day is missing.",
        )
    return days, written


def _read_days(columns: dict[str, list[Any]], manifest: Manifest, found: Findings) -> None:
    days: dict[str, list[date | None]] = {}
    for name in dict.fromkeys(filter(None, (manifest.from_field, manifest.until_field))):
        read = read_days(columns[name], name, found)
        if read is not None:
            days[name], columns[name] = read
    begun, ended = days.get(manifest.from_field or ""), days.get(manifest.until_field or "")
    if begun is not None and ended is not None:
        pairs = enumerate(zip(begun, ended, strict=True))
        never = [row for row, (first, last) in pairs if first is not None and last is not None and last <= first]
        if never:
            found.tell(
                "ends_before_beginning",
                "noted",
                never,
                f"{manifest.until_field} is not after {manifest.from_field}: these features never count.",
            )


def _in_one_form(column: list[Any], name: str, read: list[_Day], found: Findings) -> list[Any]:
    """Return a field's days in one form where some came in another."""
    changed = [row for row, one in enumerate(read) if one.form is not None]
    if not changed:
        return column
    forms = dict.fromkeys(one.form for one in read if one.form is not None)
    first = changed[0]
    found.tell(
        "date_form",
        "changed",
        changed,
        f"{name} was read as {' and '.join(map(str, forms))} ({column[first]!r} is {read[first].day}).",
    )
    return ["" if one.day is None else _written(column[row], one) for row, one in enumerate(read)]


def _written(value: object, one: _Day) -> str:
    # Times keep their hour where they came as times: only the form of text is made one.
    return value.isoformat() if isinstance(value, datetime) else str(one.day)
