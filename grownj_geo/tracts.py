"""Census tracts with their poverty rate: boundaries of one vintage joined to one edition of the survey.

A poverty table fits the tracts that it was published for and no others: the 2020 tracts have other lines and other
numbers than the 2010 ones, and a join of both would give most tracts the rate of somewhere else.
"""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote_plus

from pydantic import BaseModel, ConfigDict

from grownj_geo.crs import plain_text
from grownj_geo.features import Change, Features, LayerFault
from grownj_geo.layercheck import is_blank, read_figure
from grownj_geo.manifest import Status
from grownj_geo.yamlfile import read_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from os import PathLike

__all__ = [
    "PovertyTable",
    "TractService",
    "edition_vintage",
    "fetch_poverty",
    "join_poverty",
    "read_poverty_table",
    "tract_service",
]

_STATE = "34"
_UNIVERSE, _BELOW = "B17001_001E", "B17001_002E"
# The columns of counts by publisher: the present one, and the site that it replaced in 2020.
_COUNTS = ((_UNIVERSE, _BELOW), ("HD01_VD01", "HD01_VD02"))
_RATE = "POVERTY_RATE"
# The first name that a table or file has wins; the year in a name is the tracts' vintage.
_ID_FIELDS = {"GEOID": None, "GEOID10": "2010", "GEOID20": "2020", "GEO_ID": None, "GEOIDFQ": None, "GEO.ID2": None}
_NAME_FIELDS = ("NAMELSAD", "NAMELSAD10", "NAMELSAD20", "NAME")
# What the survey's tables hold in place of an estimate that could not be made or shown.
_NO_ESTIMATE = frozenset({-222222222, -333333333, -555555555, -666666666, -888888888, -999999999})
_NO_FIGURE = frozenset({"null", "n", "(x)", "-", "n/a"})
_FIRST_LAST_YEAR, _LAST_2010_YEAR, _YEARS = 2010, 2019, 5
_EDITION = re.compile(r"(\d{4})-(\d{4})")
_EDITION_IN_NAME = re.compile(r"ACSDT5Y(?P<whole>\d{4})|ACS_(?P<short>\d{2})_5YR", re.IGNORECASE)
_YEAR_IN_NAME = re.compile(r"(?:(?:cb|tl)_?|tigerWMS_(?:ACS|Census))(?P<year>20\d\d)", re.IGNORECASE)
_MANGLED_ID = re.compile(r"(?P<digits>\d{10,11})\.0+")
_PREFIXED_ID = re.compile(r"1400000US(?P<digits>\d{11})|14000US(?P<old>\d{11})", re.IGNORECASE)
_ID_DIGITS = 11
_MOST_NAMED = 10
_MOST_BYTES = 200_000_000
_WHOLE = 100.0


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str
    status: Status
    note: str


class _Tracts(_Record):
    vintage: str
    where: str


class _Poverty(_Record):
    table: str


class _Services(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    poverty: _Poverty
    tracts: tuple[_Tracts, ...]


class TractService(NamedTuple):
    """Where tract boundaries of one vintage are served.

    Attributes
    ----------
    url
        Of the layer.
    where
        What to ask it for: the tracts of New Jersey.
    vintage
        ``"2010"`` or ``"2020"``.
    status, note
        How well the address is known, and what is known of it.
    """

    url: str
    where: str
    vintage: str
    status: str
    note: str


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


def _refuse(fault: str, source: str, problems: Sequence[str], remedy: str) -> LayerFault:
    more = f"; and {len(problems) - _MOST_NAMED} more" if len(problems) > _MOST_NAMED else ""
    return LayerFault(fault, f"{source}: {'; '.join(problems[:_MOST_NAMED])}{more}. {remedy}")


def _named(ids: Iterable[str]) -> str:
    found = sorted(ids)
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return ", ".join(found[:_MOST_NAMED]) + more


# -- editions and services ---------------------------------------------------------------------------------


def _last_year(edition: str) -> int:
    found = _EDITION.fullmatch(plain_text(edition))
    if found is None or int(found[2]) - int(found[1]) != _YEARS - 1 or int(found[2]) < _FIRST_LAST_YEAR:
        raise LayerFault(
            "bad_edition",
            f"The survey's edition is {edition!r}; expected first and last year of five, from 2006-2010 on, as in "
            "2011-2015. (The edition 2005-2009 is on the tracts of 2000.)",
        )
    return int(found[2])


def edition_vintage(edition: str) -> str:
    """Return which tracts an edition of the five-year survey is published for: ``"2010"`` or ``"2020"``.

    Raises
    ------
    LayerFault
        For text that is not an edition, or one before 2006-2010 (``bad_edition``).

    Examples
    --------
    >>> edition_vintage("2011-2015"), edition_vintage("2015-2019"), edition_vintage("2016-2020")
    ('2010', '2010', '2020')
    """
    return "2010" if _last_year(edition) <= _LAST_2010_YEAR else "2020"


@lru_cache(maxsize=1)
def _services() -> _Services:
    content = (resources.files("grownj_geo") / "services.yaml").read_bytes()
    return _Services.model_validate(read_yaml(content))


def tract_service(edition: str) -> TractService:
    """Return where the tract boundaries that fit an edition are served.

    Raises
    ------
    LayerFault
        For text that is not an edition (``bad_edition``).

    Examples
    --------
    >>> tract_service("2016-2020").where
    "STATE='34'"
    """
    vintage = edition_vintage(edition)
    found = next(each for each in _services().tracts if each.vintage == vintage)
    return TractService(found.url, found.where, found.vintage, found.status, found.note)


# -- single values -----------------------------------------------------------------------------------------


def _tract_id(value: Any) -> tuple[str, bool]:  # noqa: ANN401 - whatever a table holds
    """Return a GEOID of 11 digits and whether a spreadsheet's damage was undone; ValueError for anything else."""
    if isinstance(value, float) and value.is_integer():
        value = str(value)
    text = plain_text(str(value)).strip("'\"= ")
    prefixed = _PREFIXED_ID.fullmatch(text)
    if prefixed:
        return prefixed["digits"] or prefixed["old"], False
    mangled = _MANGLED_ID.fullmatch(text)
    digits = mangled["digits"] if mangled else text
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError
    if len(digits) == _ID_DIGITS:
        return digits, mangled is not None
    # A State below 10 whose zero was eaten; none of them is New Jersey.
    if len(digits) == _ID_DIGITS - 1:
        return digits.zfill(_ID_DIGITS), True
    raise ValueError


def _is_water(geoid: str) -> bool:
    return geoid[5:9] == "9900"


def _tract_name(geoid: str) -> str:
    number, part = int(geoid[5:9]), geoid[9:]
    return f"Census Tract {number}" + ("" if part == "00" else f".{part}")


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
            raise _refuse(
                "unreadable_table",
                path.name,
                [f"it has {path.stat().st_size:,} bytes, more than {_MOST_BYTES:,}"],
                "Expected a table of tracts; give the one of New Jersey.",
            )
        content = path.read_bytes()
    except OSError as error:
        raise _refuse(
            "unreadable_table", str(path), [f"it cannot be read ({error.strerror})"], "Check the path."
        ) from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refuse(
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
        raise _refuse(
            "unreadable_table", source, [f"it is not readable JSON ({error})"], "Fetch it again; it looks cut short."
        ) from error


def _checked_rows(document: Any, source: str) -> list[list[Any]]:  # noqa: ANN401 - whatever came
    rows: list[Any] = document if isinstance(document, list) else []
    if len(rows) < 2 or not all(isinstance(row, list) and len(row) == len(rows[0]) for row in rows):  # noqa: PLR2004
        raise _refuse(
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
        raise _refuse("unreadable_table", source, [f"it is not readable CSV ({error})"], "Save it again.") from error
    if len(rows) < 2:  # noqa: PLR2004 - names and one row
        raise _refuse("unreadable_table", source, ["it has no rows below its names"], "Download it again.")
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
        raise _refuse("unreadable_table", source, problems, f"Expected {width} values in each line; save it again.")
    return rows


def _columns(rows: list[list[Any]], source: str) -> tuple[dict[str, list[Any]], bool]:
    """Return the columns by name in capitals, and whether there was a row of labels, which is left out."""
    names = [plain_text(str(name)).upper() for name in rows[0]]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        problem = f"it has two columns named {', '.join(twice)}"
        raise _refuse("missing_columns", source, [problem], "Expected each once; remove one.")
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
            raise _refuse(
                "missing_columns", source, wrong, "Expected persons below the poverty level; give table B17001."
            )
        body = body[1:]
    return {name: [row[i] for row in body] for i, name in enumerate(names)}, labelled


def _table(rows: list[list[Any]], source: str, *, edition: str | None = None) -> PovertyTable:
    columns, labelled = _columns(rows, source)
    ids, id_vintage, changes = _table_ids(columns, source)
    in_state = [i for i, geoid in enumerate(ids) if geoid.startswith(_STATE)]
    elsewhere = [i + 1 for i, geoid in enumerate(ids) if not geoid.startswith(_STATE)]
    if elsewhere:
        words = f"{len(elsewhere):,} rows are of other States and were not used."
        changes.append(Change.about("other_states", "noted", elsewhere, words))
    if not in_state:
        raise _refuse("unmatched_tracts", source, ["no row is of New Jersey (34)"], "Give the table of New Jersey.")
    seen: dict[str, int] = {}
    twice = []
    for i in in_state:
        if ids[i] in seen:
            twice.append(f"rows {seen[ids[i]]} and {i + 1} are both of {ids[i]}")
        seen.setdefault(ids[i], i + 1)
    if twice:
        raise _refuse("duplicate_tract", source, twice, "Expected each tract once; remove the rows that do not hold.")
    rates, more = _rates(columns, in_state, ids, source)
    said = _EDITION_IN_NAME.search(source)
    if edition is None and said is not None:
        last = int(said["whole"] or f"20{said['short']}")
        edition = f"{last - _YEARS + 1}-{last}"
    if labelled:
        words = "The row of labels below the names was not taken for a tract."
        changes.append(Change(kind="label_row", effect="noted", count=1, words=words))
    return PovertyTable(source, rates, seen, edition, id_vintage, (*changes, *more))


def _table_ids(columns: dict[str, list[Any]], source: str) -> tuple[list[str], str | None, list[Change]]:
    field = next((name for name in _ID_FIELDS if name in columns), None)
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
        raise _refuse(
            "missing_columns",
            source,
            [f"it has {', '.join(columns)}"],
            "Expected GEOID or GEO_ID, or all of state, county and tract; name the columns so.",
        )
    ids, changes = _read_ids(values, source, kind=field or "state, county and tract")
    return ids, _ID_FIELDS.get(field or ""), changes


def _read_ids(values: Sequence[Any], source: str, *, kind: str) -> tuple[list[str], list[Change]]:
    ids, problems, mended = [], [], []
    for row, value in enumerate(values, start=1):
        try:
            geoid, was_damaged = _tract_id(value)
        except ValueError:
            problems.append(f"row {row} has {kind} {value!r}")
            continue
        ids.append(geoid)
        if was_damaged:
            mended.append(row)
    if problems:
        raise _refuse(
            "bad_tract_id",
            source,
            problems,
            "Expected the 11 digits of a tract, as in 34001000100 or 1400000US34001000100; a spreadsheet that shows "
            "3.4E+10 has lost them, so take the table from its publisher again.",
        )
    if not mended:
        return ids, []
    words = f"{len(mended):,} tract ids that a spreadsheet had made numbers were read as text again."
    return ids, [Change.about("tract_ids_mended", "changed", mended, words)]


def _rates(
    columns: dict[str, list[Any]], wanted: Sequence[int], ids: Sequence[str], source: str
) -> tuple[dict[str, str], list[Change]]:
    pair = next((pair for pair in _COUNTS if set(pair) <= set(columns)), None)
    if pair is not None:
        return _rates_of_counts(columns[pair[0]], columns[pair[1]], wanted, ids, source)
    if _RATE not in columns:
        raise _refuse(
            "missing_columns",
            source,
            [f"it has {', '.join(columns)}"],
            f"Expected {_UNIVERSE} and {_BELOW} of table B17001, or {_RATE} in percent; name the columns so.",
        )
    rates: dict[str, str] = {}
    problems = []
    for i in wanted:
        try:
            rates[ids[i]] = _rate_text(columns[_RATE][i])
        except ValueError:
            problems.append(f"row {i + 1} has the rate {columns[_RATE][i]!r}")
    if problems:
        remedy = "Expected percent from 0 to 100 without a sign, or nothing where there is no rate."
        raise _refuse("bad_rate", source, problems, remedy)
    return rates, _about_rates(rates, wanted, ids, source)


def _about_rates(rates: dict[str, str], wanted: Sequence[int], ids: Sequence[str], source: str) -> list[Change]:
    given = [rate for rate in rates.values() if rate]
    if len(given) > 1 and max(map(float, given)) <= 1:
        raise _refuse(
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
        raise _refuse("bad_count", source, problems, remedy)
    if not without:
        return rates, []
    words = f"{len(without):,} tracts have no persons whose poverty is known, and so no rate."
    return rates, [Change.about("no_rate", "noted", without, words)]


def fetch_poverty(
    edition: str, *, get_json: Callable[[str, Mapping[str, str]], Any], key: str | None = None
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

    Raises
    ------
    LayerFault
        ``bad_edition``; what `read_poverty_table` raises for the answer; and where `get_json` fails with a message
        that holds the key, the same without it (``fetch_failed``, or the fault's own kind). Whatever else `get_json`
        raises comes through.
    """
    last = _last_year(edition)
    service = _services().poverty
    url = service.url.format(year=last)
    params = {"get": f"NAME,{_UNIVERSE},{_BELOW}", "for": "tract:*", "in": f"state:{_STATE}"}
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
    return _table(_checked_rows(answer, source), source, edition=f"{last - _YEARS + 1}-{last}")


# -- the join ----------------------------------------------------------------------------------------------


def _vintage_of(tracts: Features, names: Mapping[str, str], given: str | None) -> str:
    """Return the vintage of boundaries by what is said of them; a contradiction is refused."""
    said: dict[str, str] = {}
    for name, vintage in _ID_FIELDS.items():
        if vintage and name in names:
            said[f"the field {names[name]}"] = vintage
    if "TRACT_VINTAGE" in names:
        for value in {str(v).strip() for v in tracts.columns[names["TRACT_VINTAGE"]] if not is_blank(v)}:
            said[f"the field {names['TRACT_VINTAGE']}, {value!r},"] = value
    found = _YEAR_IN_NAME.search(tracts.source)
    if found is not None and not said:
        year = int(found["year"])
        older = year < _FIRST_LAST_YEAR
        said[f"the name {found[0]!r}"] = "2000" if older else "2010" if year <= _LAST_2010_YEAR else "2020"
    if given is not None:
        said["the vintage that was given"] = given
    shown = "; ".join(f"{what} says {vintage}" for what, vintage in said.items())
    if len(set(said.values())) > 1:
        remedy = "Expected one vintage; give boundaries of one, or the one that holds."
        raise _refuse("mixed_vintage", tracts.source, [shown], remedy)
    vintage = next(iter(said.values()), None)
    if vintage not in {"2010", "2020"}:
        raise _refuse(
            "unknown_vintage",
            tracts.source,
            [shown or "nothing in its fields or its name says of which census the tracts are"],
            "Expected the tracts of 2010 or 2020; say which they are.",
        )
    return vintage


def join_poverty(tracts: Features, poverty: PovertyTable, *, edition: str, vintage: str | None = None) -> Features:
    """Give tract boundaries the poverty rate of one edition.

    Parameters
    ----------
    tracts
        Boundaries with `GEOID` (or `GEOID10`, `GEOID20`).
    poverty
        The rates.
    edition
        The survey's five-year edition, such as ``"2011-2015"``.
    vintage
        ``"2010"`` or ``"2020"``, where neither field nor name of the boundaries says it.

    Returns
    -------
    Features
        The same geometries in the same order, with the fields of the layer `census_tract_poverty`. Water tracts that
        the table does not have, and tracts without persons whose poverty is known, have no rate.

    Raises
    ------
    LayerFault
        ``bad_edition``; ``edition_contradicted`` where the table says another; ``unknown_vintage``;
        ``mixed_vintage`` where boundaries and edition are on different tracts, as they say or as their ids show;
        ``unmatched_tracts`` where either side lacks some; ``missing_columns``, ``bad_tract_id``, ``duplicate_tract``.
    """
    expected = edition_vintage(edition)
    edition = plain_text(edition)
    if poverty.edition is not None and poverty.edition != edition:
        raise _refuse(
            "edition_contradicted",
            poverty.source,
            [f"it is the edition {poverty.edition}, and {edition} was named"],
            "Name the edition of the table.",
        )
    names = {name.upper(): name for name in tracts.columns}
    field = next((name for name in _ID_FIELDS if name in names), None)
    if field is None:
        raise _refuse(
            "missing_columns",
            tracts.source,
            [f"it has {', '.join(tracts.columns)}"],
            "Expected the tracts' ids in GEOID, GEOID10 or GEOID20; is it a layer of tracts?",
        )
    found = _vintage_of(tracts, names, vintage)
    if found != expected or poverty.vintage not in {None, expected}:
        on = f", and the table {poverty.source} is on the tracts of {poverty.vintage}" if poverty.vintage else ""
        raise _refuse(
            "mixed_vintage",
            tracts.source,
            [f"the tracts are those of {found}{on}; the edition {edition} is published for those of {expected}"],
            f"Give the tracts of {expected}, or an edition on the tracts of {found}.",
        )
    ids, changes = _read_ids(tracts.columns[names[field]], tracts.source, kind=names[field])
    keep = [i for i, geoid in enumerate(ids) if geoid.startswith(_STATE)]
    if len(keep) < len(ids):
        rows = [i + 1 for i, geoid in enumerate(ids) if not geoid.startswith(_STATE)]
        words = f"{len(rows):,} tracts of other States were left out."
        changes.append(Change.about("other_states", "left_out", rows, words))
    changes += _compare(tracts, poverty, [ids[i] for i in keep], edition=edition, vintage=found)
    given = next((tracts.columns[names[name]] for name in _NAME_FIELDS if name in names), None)
    labels = [_label(None if given is None else given[i], ids[i]) for i in keep]
    return Features(
        source=f"{tracts.source}, with the poverty of {poverty.source}",
        columns={
            "GEOID": [ids[i] for i in keep],
            "NAMELSAD": labels,
            _RATE: [poverty.rates.get(ids[i], "") for i in keep],
            "ACS_EDITION": [edition] * len(keep),
            "TRACT_VINTAGE": [found] * len(keep),
        },
        geometries=tracts.geometries[keep],
        crs=tracts.crs,
        changes=(*tracts.changes, *poverty.changes, *changes),
    )


def _label(given: Any, geoid: str) -> str:  # noqa: ANN401 - whatever the boundaries hold
    """Return a tract's name; the bare number that some files give is not one."""
    text = "" if is_blank(given) else str(given).strip()
    return text if any(c.isalpha() for c in text) else _tract_name(geoid)


def _compare(
    tracts: Features, poverty: PovertyTable, ids: Sequence[str], *, edition: str, vintage: str
) -> list[Change]:
    """Refuse boundaries and rates that are not of the same tracts."""
    first: dict[str, int] = {}
    twice = []
    for row, geoid in enumerate(ids, start=1):
        if geoid in first:
            twice.append(f"{geoid} stands twice")
        first.setdefault(geoid, row)
    if twice:
        raise _refuse("duplicate_tract", tracts.source, twice, "Expected each tract once; remove one.")
    without = {geoid for geoid in first if geoid not in poverty.rates}
    unused = {geoid for geoid in poverty.rates if geoid not in first}
    dry_without = {geoid for geoid in without if not _is_water(geoid)}
    dry_unused = {geoid for geoid in unused if not _is_water(geoid)}
    if dry_without or dry_unused:
        problems = []
        if dry_without:
            problems.append(
                f"{len(dry_without):,} of {len(first):,} tracts are not in the table ({_named(dry_without)})"
            )
        if dry_unused:
            problems.append(f"{len(dry_unused):,} rows of {len(poverty):,} have no tract ({_named(dry_unused)})")
        # Numbers that only one side has, on both sides, are what another census leaves behind.
        mixed = bool(dry_without and dry_unused)
        raise _refuse(
            "mixed_vintage" if mixed else "unmatched_tracts",
            f"{tracts.source} and {poverty.source}",
            problems,
            f"Expected a row for each tract of {vintage} and a tract for each row of the edition {edition}; "
            + ("one of the two looks like another census's tracts." if mixed else "one of the two is not whole."),
        )
    if not without:
        return []
    words = f"{len(without)} water tracts have no row in the table and no rate."
    return [Change.about("water_tracts", "noted", [first[geoid] for geoid in sorted(without)], words)]
