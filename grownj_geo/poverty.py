"""Poverty rates by census tract, from the survey's tables in every form that they are handed out in."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus

from grownj_geo.crs import plain_text
from grownj_geo.features import Change, LayerFault
from grownj_geo.layercheck import is_blank, read_figure
from grownj_geo.surveys import edition_ending, last_year, poverty_service
from grownj_geo.tractids import ID_FIELDS, STATE, read_ids, refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

__all__ = ["RATE", "PovertyTable", "fetch_poverty", "read_poverty_table"]

RATE = "POVERTY_RATE"
"""The field of the rate in percent."""

_UNIVERSE, _BELOW = "B17001_001E", "B17001_002E"
# The columns of counts by publisher: the present one, and the site that it replaced in 2020.
_COUNTS = ((_UNIVERSE, _BELOW), ("HD01_VD01", "HD01_VD02"))
# What the survey's tables hold in place of an estimate that could not be made or shown.
_NO_ESTIMATE = frozenset({-222222222, -333333333, -555555555, -666666666, -888888888, -999999999})
_NO_FIGURE = frozenset({"null", "n", "(x)", "-", "n/a"})
_EDITION_IN_NAME = re.compile(r"ACSDT5Y(?P<whole>\d{4})|ACS_(?P<short>\d{2})_5YR", re.IGNORECASE)
_MOST_BYTES = 200_000_000
_WHOLE = 100.0


@dataclass(frozen=True)
class PovertyTable:
    """Poverty rates by tract.

    Attributes
    ----------
    source
        What messages call it.
    rates
        Percent as text with full precision by 11-digit GEOID; empty where the survey gives no rate.
    rows
        The row of the table by GEOID, counted from 1 below its header.
    edition
        The five-year edition that the table says it is, such as ``"2011-2015"``; None where it does not say.
    vintage
        The tracts' vintage that the table says it is on; None where it does not say.
    changes
        What reading changed or noticed.
    """

    source: str
    rates: Mapping[str, str]
    rows: Mapping[str, int]
    edition: str | None = None
    vintage: str | None = None
    changes: tuple[Change, ...] = ()

    def __len__(self) -> int:
        """Return the number of tracts."""
        return len(self.rates)


# -- single values -----------------------------------------------------------------------------------------


def _count(value: Any) -> int | None:  # noqa: ANN401 - whatever a table holds
    """Return a count of persons; None where the table gives no estimate; ValueError for anything else."""
    text = "" if is_blank(value) else plain_text(str(value)).replace(",", "")
    if not text or text.lower() in _NO_FIGURE:
        return None
    figure = read_figure(text)
    if figure in _NO_ESTIMATE:
        return None
    # Not a number is no whole number either.
    if not figure.is_integer() or figure < 0:
        raise ValueError
    return int(figure)


def _rate_of(universe: int | None, below: int | None) -> str:
    """Return the rate with full precision: at the level of 20 percent 19.96 is not 20.0."""
    return "" if not universe or below is None else repr(_WHOLE * below / universe)


def _rate_text(value: Any) -> str:  # noqa: ANN401 - whatever a table holds
    text = "" if is_blank(value) else plain_text(str(value))
    if not text or text.lower() in _NO_FIGURE:
        return ""
    figure = read_figure(text)
    if figure in _NO_ESTIMATE:
        return ""
    if not 0 <= figure <= _WHOLE:
        raise ValueError
    return text


# -- poverty tables ----------------------------------------------------------------------------------------


def read_poverty_table(path: str | PathLike[str]) -> PovertyTable:
    """Read poverty by tract from a file.

    Parameters
    ----------
    path
        The Census interface's JSON (a list of lists, the names first); a CSV download of table B17001 with `GEO_ID`
        and its row of labels; or a plain CSV with `GEOID` and either `POVERTY_RATE` in percent or both of
        `B17001_001E` and `B17001_002E`.

    Raises
    ------
    LayerFault
        ``unreadable_table``, ``missing_columns``, ``bad_tract_id``, ``duplicate_tract``, ``bad_count`` or
        ``bad_rate``, with the rows.
    """
    path = Path(path)
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise refuse(
                "unreadable_table",
                path.name,
                [f"it has {path.stat().st_size:,} bytes, more than {_MOST_BYTES:,}"],
                "Expected a table of tracts; give the one of New Jersey.",
            )
        content = path.read_bytes()
    except OSError as error:
        raise refuse(
            "unreadable_table", str(path), [f"it cannot be read ({error.strerror})"], "Check the path."
        ) from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refuse(
            "unreadable_table",
            path.name,
            [f"it is not text in UTF-8 ({error.reason} at byte {error.start})"],
            "Expected CSV or JSON; unpack a zip first, and save a spreadsheet as CSV (UTF-8).",
        ) from error
    rows = _json_rows(text, path.name) if text.lstrip().startswith(("[", "{")) else _csv_rows(text, path.name)
    return _table(rows, path.name)


def _json_rows(text: str, source: str) -> list[list[Any]]:
    try:
        return _checked_rows(json.loads(text), source)
    except ValueError as error:
        if isinstance(error, LayerFault):
            raise
        raise refuse(
            "unreadable_table", source, [f"it is not readable JSON ({error})"], "Fetch it again; it looks cut short."
        ) from error


def _checked_rows(document: Any, source: str) -> list[list[Any]]:  # noqa: ANN401 - whatever came
    rows: list[Any] = document if isinstance(document, list) else []
    if len(rows) < 2 or not all(isinstance(row, list) and len(row) == len(rows[0]) for row in rows):  # noqa: PLR2004
        raise refuse(
            "unreadable_table",
            source,
            ["it is not a list of rows of one length with the names of the columns first"],
            'Expected the Census interface\'s own JSON, as in [["NAME","B17001_001E",...],[...]].',
        )
    return rows


def _csv_rows(text: str, source: str) -> list[list[Any]]:
    try:
        rows: list[list[Any]] = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error as error:
        raise refuse("unreadable_table", source, [f"it is not readable CSV ({error})"], "Save it again.") from error
    if len(rows) < 2:  # noqa: PLR2004 - names and one row
        raise refuse("unreadable_table", source, ["it has no rows below its names"], "Download it again.")
    # Downloads end each line with a comma, on some lines only.
    while rows[0] and not str(rows[0][-1]).strip():
        rows[0].pop()
    width = len(rows[0])
    problems = []
    for number, row in enumerate(rows[1:], start=2):
        if len(row) < width or any(str(cell).strip() for cell in row[width:]):
            problems.append(f"line {number} has {len(row)} values")
        del row[width:]
    if problems:
        raise refuse("unreadable_table", source, problems, f"Expected {width} values in each line; save it again.")
    return rows


def _columns(rows: list[list[Any]], source: str) -> tuple[dict[str, list[Any]], bool]:
    """Return the columns by name in capitals, and whether there was a row of labels, which is left out."""
    names = [plain_text(str(name)).upper() for name in rows[0]]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        problem = f"it has two columns named {', '.join(twice)}"
        raise refuse("missing_columns", source, [problem], "Expected each once; remove one.")
    body = rows[1:]
    labels = {name: str(cell) for name, cell in zip(names, body[0], strict=True)}
    id_label = next((labels[name] for name in ("GEO_ID", "GEO.ID2") if name in labels), "")
    labelled = id_label.strip().lower() in {"geography", "id", "id2"}
    if labelled:
        wrong = [
            f"{below} is labelled {labels[below]!r}"
            for _, below in _COUNTS
            if below in labels and "below poverty level" not in labels[below].lower()
        ]
        if wrong:
            raise refuse(
                "missing_columns", source, wrong, "Expected persons below the poverty level; give table B17001."
            )
        body = body[1:]
    return {name: [row[i] for row in body] for i, name in enumerate(names)}, labelled


def _table(rows: list[list[Any]], source: str, *, edition: str | None = None) -> PovertyTable:
    columns, labelled = _columns(rows, source)
    ids, id_vintage, changes = _table_ids(columns, source)
    in_state = [i for i, geoid in enumerate(ids) if geoid.startswith(STATE)]
    elsewhere = [i + 1 for i, geoid in enumerate(ids) if not geoid.startswith(STATE)]
    if elsewhere:
        words = f"{len(elsewhere):,} rows are of other States and were not used."
        changes.append(Change.about("other_states", "noted", elsewhere, words))
    if not in_state:
        raise refuse("unmatched_tracts", source, ["no row is of New Jersey (34)"], "Give the table of New Jersey.")
    seen: dict[str, int] = {}
    twice = []
    for i in in_state:
        if ids[i] in seen:
            twice.append(f"rows {seen[ids[i]]} and {i + 1} are both of {ids[i]}")
        seen.setdefault(ids[i], i + 1)
    if twice:
        raise refuse("duplicate_tract", source, twice, "Expected each tract once; remove the rows that do not hold.")
    rates, more = _rates(columns, in_state, ids, source)
    said = _EDITION_IN_NAME.search(source)
    if edition is None and said is not None:
        edition = edition_ending(int(said["whole"] or f"20{said['short']}"))
    if labelled:
        words = "The row of labels below the names was not taken for a tract."
        changes.append(Change(kind="label_row", effect="noted", count=1, words=words))
    return PovertyTable(source, rates, seen, edition, id_vintage, (*changes, *more))


def _table_ids(columns: dict[str, list[Any]], source: str) -> tuple[list[str], str | None, list[Change]]:
    field = next((name for name in ID_FIELDS if name in columns), None)
    parts = [name for name in ("STATE", "COUNTY", "TRACT") if name in columns]
    values: list[Any]
    if field is not None:
        values = columns[field]
    elif len(parts) == 3:  # noqa: PLR2004 - State, county and tract
        padded = [
            [plain_text(str(v)).removesuffix(".0").zfill(width) for v in columns[name]]
            for name, width in zip(parts, (2, 3, 6), strict=True)
        ]
        values = ["".join(each) for each in zip(*padded, strict=True)]
    else:
        raise refuse(
            "missing_columns",
            source,
            [f"it has {', '.join(columns)}"],
            "Expected GEOID or GEO_ID, or all of state, county and tract; name the columns so.",
        )
    ids, changes = read_ids(values, source, kind=field or "state, county and tract")
    return ids, ID_FIELDS.get(field or ""), changes


def _rates(
    columns: dict[str, list[Any]], wanted: Sequence[int], ids: Sequence[str], source: str
) -> tuple[dict[str, str], list[Change]]:
    pair = next((pair for pair in _COUNTS if set(pair) <= set(columns)), None)
    if pair is not None:
        return _rates_of_counts(columns[pair[0]], columns[pair[1]], wanted, ids, source)
    if RATE not in columns:
        raise refuse(
            "missing_columns",
            source,
            [f"it has {', '.join(columns)}"],
            f"Expected {_UNIVERSE} and {_BELOW} of table B17001, or {RATE} in percent; name the columns so.",
        )
    rates: dict[str, str] = {}
    problems = []
    for i in wanted:
        try:
            rates[ids[i]] = _rate_text(columns[RATE][i])
        except ValueError:
            problems.append(f"row {i + 1} has the rate {columns[RATE][i]!r}")
    if problems:
        remedy = "Expected percent from 0 to 100 without a sign, or nothing where there is no rate."
        raise refuse("bad_rate", source, problems, remedy)
    return rates, _about_rates(rates, wanted, ids, source)


def _about_rates(rates: dict[str, str], wanted: Sequence[int], ids: Sequence[str], source: str) -> list[Change]:
    given = [rate for rate in rates.values() if rate]
    if len(given) > 1 and max(map(float, given)) <= 1:
        raise refuse(
            "bad_rate",
            source,
            [f"no rate is above 1 ({len(given)} are given)"],
            "They look like shares of 1; expected percent, so multiply them by 100.",
        )
    rounded = [i + 1 for i in wanted if rates[ids[i]] and len(rates[ids[i]].partition(".")[2]) <= 1]
    if len(rounded) < len(given) or not given:
        return []
    words = (
        "All rates have one decimal at most and look rounded: 20.0 may stand for 19.96, which is below the level. "
        f"Give {_UNIVERSE} and {_BELOW} to be sure."
    )
    return [Change.about("rounded_rates", "noted", rounded, words)]


def _rates_of_counts(
    universe: Sequence[Any], below: Sequence[Any], wanted: Sequence[int], ids: Sequence[str], source: str
) -> tuple[dict[str, str], list[Change]]:
    rates: dict[str, str] = {}
    problems, without = [], []
    for i in wanted:
        try:
            persons, poor = _count(universe[i]), _count(below[i])
        except ValueError:
            problems.append(f"row {i + 1} has the counts {universe[i]!r} and {below[i]!r}")
            continue
        if persons is not None and poor is not None and poor > persons:
            problems.append(f"row {i + 1} has {poor:,} poor of {persons:,} persons")
        rates[ids[i]] = _rate_of(persons, poor)
        if not rates[ids[i]]:
            without.append(i + 1)
    if problems:
        remedy = "Expected whole numbers of persons, the poor among all; take the table from its publisher again."
        raise refuse("bad_count", source, problems, remedy)
    if not without:
        return rates, []
    words = f"{len(without):,} tracts have no persons whose poverty is known, and so no rate."
    return rates, [Change.about("no_rate", "noted", without, words)]


def fetch_poverty(
    edition: str,
    *,
    get_json: Callable[[str, Mapping[str, str]], Any],
    key: str | None = None,
    url: str | None = None,
) -> PovertyTable:
    """Fetch the poverty of New Jersey's tracts from the Census Bureau's interface.

    Parameters
    ----------
    edition
        Such as ``"2011-2015"``.
    get_json
        Fetches an address with parameters and returns the JSON that came: ``get_json(url, params)``.
    key
        The user's own key to the interface, where there is one. It stands in no message.
    url
        Another address of the interface than the Bureau's.

    Raises
    ------
    LayerFault
        ``bad_edition``; what `read_poverty_table` raises for the answer; and where `get_json` fails with a message
        that holds the key, the same without it (``fetch_failed``, or the fault's own kind). Whatever else `get_json`
        raises comes through.
    """
    last = last_year(edition)
    service = poverty_service()
    url = url or service.url.format(year=last)
    params = {"get": f"NAME,{_UNIVERSE},{_BELOW}", "for": "tract:*", "in": f"state:{STATE}"}
    try:
        answer = get_json(url, params | ({"key": key} if key else {}))
    except Exception as error:
        said = {form for form in (key or "", quote_plus(key or "")) if form and form in str(error)}
        if not said:
            raise
        message = str(error)
        for form in said:
            message = message.replace(form, "(key)")
        raise LayerFault(getattr(error, "fault", "fetch_failed"), message) from None
    source = f"{url} (table {service.table})"
    return _table(_checked_rows(answer, source), source, edition=edition_ending(last))
