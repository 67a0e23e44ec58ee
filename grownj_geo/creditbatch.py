"""A table of projects: one building a row, the areas in columns as `grownj batch` writes them, the credit beside."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.areanames import area_names
from grownj_geo.creditaward import award_of
from grownj_geo.creditminimums import minimums_of
from grownj_geo.creditparams import Figures, Trust, below_confirmed, load_credit_book
from grownj_geo.creditreadings import resolve_credit_readings
from grownj_geo.creditrows import NEEDED, CreditRows, credit_inputs
from grownj_geo.features import LayerFault
from grownj_geo.logic import Outcome
from grownj_geo.rows_block import OutColumn
from grownj_geo.rows_columns import TableOptions
from grownj_geo.tableout import open_writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from grownj_geo.creditaward import Award
    from grownj_geo.creditminimums import Minimums
    from grownj_geo.creditsheet import Sheet
    from grownj_geo.rows_block import RawBlock, RowSource

__all__ = ["CREDIT_COLUMNS", "CreditQuestion", "CreditSummary", "credit_block", "near_columns", "run_credit_batch"]

BLOCK_ROWS = 20_000
_NEAR = 0.86
"""How alike names of columns are that somebody may take for one another; names of `grownj batch` are less so."""

CREDIT_COLUMNS: tuple[tuple[OutColumn, str], ...] = (
    (OutColumn("credit_problem"), "why the row has no answer; empty where it has one"),
    (OutColumn("credit_eligible"), "whether all conditions are met: yes, no or undetermined"),
    (OutColumn("credit_award_low"), "least award in all, dollars"),
    (OutColumn("credit_award_high"), "greatest award in all, dollars; empty where nothing bounds it"),
    (OutColumn("credit_year_low"), "least award of a year"),
    (OutColumn("credit_year_high"), "greatest award of a year"),
    (OutColumn("credit_if_eligible_low"), "least credit in all, were every open condition met"),
    (OutColumn("credit_if_eligible_high"), "greatest credit in all, were every open condition met"),
    (OutColumn("credit_per_job_low"), "least amount for a new job and year"),
    (OutColumn("credit_per_job_high"), "greatest amount for a new job and year"),
    (OutColumn("credit_required_low"), "least that the minimum capital investment can be"),
    (OutColumn("credit_required_high"), "greatest that it can be"),
    (OutColumn("credit_capital_met"), "whether it is met"),
    (OutColumn("credit_jobs_met"), "whether the minimum of jobs is met"),
    (OutColumn("credit_open"), "areas that are undetermined, separated by semicolons"),
    (OutColumn("credit_below_confirmed"), "figures below confirmed that the row rests on, separated by semicolons"),
)
"""The columns that are added, with what each means."""


@dataclass(frozen=True)
class CreditQuestion:
    """How every row is computed; see `credits.estimate`.

    Attributes
    ----------
    trust
        Which figures are taken as they stand.
    readings
        Chosen options of open questions.
    strict
        Leave open what is not stated.
    """

    trust: Trust = "known"
    readings: Mapping[str, str] = field(default_factory=dict)
    strict: bool = False


@dataclass
class CreditSummary:
    """What a table of projects came to.

    Attributes
    ----------
    rows, answered
        How many there are, and how many have an answer.
    eligible
        How many rows for each outcome.
    problems
        How many rows for each problem.
    unread
        Columns that nothing is read from and that are almost called like one that is: that one's name by theirs.
    award_low, award_high
        Least and greatest awards of all rows together, dollars.
    """

    rows: int = 0
    answered: int = 0
    eligible: dict[str, int] = field(default_factory=dict)
    problems: dict[str, int] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    award_low: Decimal = Decimal(0)
    award_high: Decimal = Decimal(0)


def run_credit_batch(
    source: str | Path,
    target: str | Path,
    question: CreditQuestion | None = None,
    *,
    options: TableOptions | None = None,
    progress: Callable[[int], None] | None = None,
) -> CreditSummary:
    """Answer for every row of a table of projects; the file appears when it is whole.

    Parameters
    ----------
    question
        How every row is computed.
    options
        How the table is read.
    progress
        Is told how many rows are done.
    source
        CSV and other delimited text, an Excel workbook or Parquet.
    target
        CSV, XLSX or Parquet, by its ending: the columns as they came, then `CREDIT_COLUMNS`.

    Raises
    ------
    LayerFault
        If the table cannot be read, lacks a column that every project needs, or the target cannot be written.
    RulebookError
        For a reading that there is not.
    """
    question = question or CreditQuestion()
    resolve_credit_readings(question.readings)
    table = _open(Path(source), options or TableOptions())
    header = [column.name for column in table.columns]
    missing = [name for name in NEEDED if name not in header]
    unread = near_columns(header)
    if missing:
        near = [f"{column!r} for {name}" for column, name in unread.items() if name in missing]
        words = f" Did you mean {', '.join(near)}? Rename it." if near else ""
        raise LayerFault(
            "no_column",
            f"{table.name} has no column {', '.join(missing)}; found {', '.join(header[:20])}.{words} Expected one "
            "project a row; see grownj credits batch --dictionary.",
        )
    summary = CreditSummary(unread=unread)
    with open_writer(target, header=table.columns, extra=[column for column, _ in CREDIT_COLUMNS]) as writer:
        for raw in table.raw_blocks(0, BLOCK_ROWS):
            found = credit_block(raw, question)
            writer.write(raw, found)
            _tally(summary, found)
            if progress is not None:
                progress(summary.rows)
        writer.finish()
    return summary


def near_columns(header: Sequence[str]) -> dict[str, str]:
    """Return columns that nothing is read from and that are almost called like one that is, which is not there.

    Parameters
    ----------
    header
        Names of all columns.

    Examples
    --------
    >>> near_columns(["new_jobs", "retained jobs", "capital_investmnt", "owner"])
    {'retained jobs': 'retained_jobs', 'capital_investmnt': 'capital_investment'}
    """
    from difflib import get_close_matches  # noqa: PLC0415 - only once for a table

    known = [name for name in credit_inputs() if name not in header]
    found = {}
    for column in header:
        plain = re.sub(r"\W+", "_", column.strip().lower())
        close = [] if column in credit_inputs() else get_close_matches(plain, known, n=1, cutoff=_NEAR)
        if close:
            found[column] = close[0]
    return found


def _open(path: Path, options: TableOptions) -> RowSource:
    suffix = path.suffix.lower()
    if not path.is_file():
        raise LayerFault("not_found", f"There is no file {str(path)!r}; expected a table of projects.")
    if suffix in {".csv", ".tsv", ".txt"}:
        from grownj_geo.rows_text import TextRows  # noqa: PLC0415 - each format costs only whoever reads it

        return TextRows(path, options)
    if suffix in {".xlsx", ".xlsm"}:
        from grownj_geo.rows_sheet import SheetRows  # noqa: PLC0415 - same

        return SheetRows(path, options)
    if suffix == ".parquet":
        from grownj_geo.rows_geo import ParquetRows  # noqa: PLC0415 - same

        return ParquetRows(path, options)
    raise LayerFault("wrong_format", f"{path.name} is no table of projects; expected .csv, .xlsx or .parquet.")


def credit_block(raw: RawBlock, question: CreditQuestion) -> dict[str, list[str | None]]:
    """Return the values of `CREDIT_COLUMNS` for some rows.

    Parameters
    ----------
    question
        How every row is computed.
    raw
        Rows as they came: values by column.
    """
    reader = CreditRows(raw)
    book = load_credit_book()
    found: dict[str, list[str | None]] = {column.name: [None] * len(raw) for column, _ in CREDIT_COLUMNS}
    days = reader.days()
    readings = resolve_credit_readings(question.readings)
    # Figures change on a few days only: rows of one period are computed together.
    starts = {value.from_ for figure in book.figures.values() for value in figure.values}
    starts |= {day for bonus in book.bonuses for day in bonus.begins or ()}
    period = np.searchsorted(np.array(sorted(day.toordinal() for day in starts)), days, side="right")
    # Rows without a day of their own are computed with that of the figures, apart.
    period = 2 * period + reader.undated
    for number in np.unique(period):
        rows = np.flatnonzero((period == number) & reader.good)
        if len(rows):
            figures = Figures(book, date.fromordinal(int(days[rows[0]])), question.trust)
            sheet = reader.sheet(rows, figures, strict=question.strict)
            minimums = minimums_of(sheet, figures, readings, strict=question.strict)
            award = award_of(sheet, minimums, figures, strict=question.strict)
            _fill(found, rows, sheet, minimums, award, figures)
    for row, words in reader.problems.items():
        found["credit_problem"][row] = f"row {raw.first_row + row}: {'; '.join(words)}"
    return found


# -- writing ------------------------------------------------------------------------------------------

_OUTCOMES = np.array([Outcome.NO.value, Outcome.UNDETERMINED.value, Outcome.YES.value], dtype=object)


def _fill(  # noqa: PLR0917 - all that was found of the rows
    found: dict[str, list[str | None]],
    rows: NDArray[np.int64],
    sheet: Sheet,
    minimums: Minimums,
    award: Award,
    figures: Figures,
) -> None:
    columns: dict[str, Sequence[str | None]] = {
        "credit_eligible": _OUTCOMES[award.eligible + 1].tolist(),
        "credit_capital_met": _OUTCOMES[minimums.capital_met + 1].tolist(),
        "credit_jobs_met": _OUTCOMES[minimums.jobs_met + 1].tolist(),
        "credit_open": _open_areas(sheet),
        "credit_below_confirmed": _weak(sheet, award, figures),
    }
    for name, amounts in (
        ("award", award.award),
        ("year", award.award_year),
        ("if_eligible", award.total),
        ("per_job", award.gross),
        ("required", minimums.capital_required),
    ):
        columns[f"credit_{name}_low"] = low = [_text(value) for value in amounts.low]
        pairs = zip(amounts.low, amounts.high, low, strict=True)
        columns[f"credit_{name}_high"] = [text if high == least else _text(high) for least, high, text in pairs]
    if len(rows) == len(found["credit_problem"]):
        found.update({name: list(values) for name, values in columns.items()})
        return
    for name, values in columns.items():
        into = found[name]
        for row, value in zip(rows.tolist(), values, strict=True):
            into[row] = value


def _text(amount: Decimal) -> str | None:
    return f"{amount:f}" if amount.is_finite() else None


def _open_areas(sheet: Sheet) -> list[str | None]:
    names = [name for name, area in area_names().items() if area.rulebook == "grow-nj"]
    return _named(np.column_stack([sheet.areas[name] == 0 for name in names]), names)


def _weak(sheet: Sheet, award: Award, figures: Figures) -> list[str | None]:
    """Return the figures below confirmed that each row rests on."""
    used: dict[str, NDArray[np.bool_]] = {}

    def add(names: Iterable[str | None], rows: NDArray[np.bool_]) -> None:
        for name in names:
            if name is not None and below_confirmed(figures.of(name).status):
                used[name] = used[name] | rows if name in used else rows

    for line in figures.book.lines:
        if not figures.stands(line.job_limit):
            add(("job_limit_most",), award.lines[line.id] >= 0)
        add((line.base, line.job_limit, line.year_limit), award.lines[line.id] >= 0)
    given = np.array([value is not None for value in sheet.bonus_given], dtype=bool)
    for bonus in figures.book.bonuses:
        amounts = award.bonuses.amounts[bonus.id]
        may = (award.bonuses.applies[bonus.id] >= 0) & ~given & np.asarray(amounts.high > 0, dtype=bool)
        if bonus.tiers is None:
            add(bonus.figures, may)
        else:
            for name in bonus.figures:
                value = figures.number(name)
                reached = np.asarray((amounts.low <= value) & (amounts.high >= value), dtype=bool)
                add((name,), may & reached)
    retained = sheet.retained["plain"].high > 0
    add(("retained_percent", "retained_capital_parts"), retained)
    add(("retained_percent_exceptions",), retained & (award.exception >= 0))
    if not used:
        return [None] * sheet.n
    return _named(np.column_stack(list(used.values())), list(used))


def _named(flags: NDArray[np.bool_], names: Sequence[str]) -> list[str | None]:
    """Return the names of the flags of each row; rows that are alike are put into words once."""
    alike, which = np.unique(np.packbits(flags, axis=1), axis=0, return_inverse=True)
    words = [
        "; ".join(name for name, flag in zip(names, row, strict=True) if flag) or None
        for row in np.unpackbits(alike, axis=1, count=len(names))
    ]
    return list(map(words.__getitem__, which.ravel().tolist()))


def _tally(summary: CreditSummary, found: Mapping[str, Sequence[str | None]]) -> None:
    summary.rows += len(found["credit_problem"])
    for row, problem in enumerate(found["credit_problem"]):
        if problem is not None:
            words = problem.partition(": ")[2]
            summary.problems[words] = summary.problems.get(words, 0) + 1
            continue
        summary.answered += 1
        word = found["credit_eligible"][row] or ""
        summary.eligible[word] = summary.eligible.get(word, 0) + 1
        summary.award_low += Decimal(found["credit_award_low"][row] or 0)
        summary.award_high += Decimal(found["credit_award_high"][row] or "Infinity")
