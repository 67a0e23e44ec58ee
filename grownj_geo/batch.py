"""A whole table of sites: read block by block, answered, written as it came with the answers beside it."""

from __future__ import annotations

import time
from collections import Counter, deque
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import shapely
from pydantic import BaseModel, ConfigDict

from grownj_geo.answers import MARGIN_LIMIT_FT, AnswerColumn, answer_columns, answers_many, atlas_mark, rulebook_mark
from grownj_geo.atlas import load_atlas
from grownj_geo.cells import CellIndex, index_fingerprint
from grownj_geo.determine import Directory, Engine
from grownj_geo.errors import OutsideNewJerseyError, SiteError
from grownj_geo.features import Change, LayerFault
from grownj_geo.observe import SiteTable
from grownj_geo.place import OFFSHORE_LIMIT_FT
from grownj_geo.recordlines import records_file
from grownj_geo.rows_block import OutColumn
from grownj_geo.rulebook import load_rulebook
from grownj_geo.siterows import TableOptions, open_table
from grownj_geo.store import home_folder
from grownj_geo.tableout import open_writer
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Answered = Iterator[tuple["RowBlock", "_Done"]]
    from grownj_geo.rows_block import RowBlock

__all__ = ["BatchOptions", "BatchSummary", "Question", "answer_block", "batch_columns", "run_batch"]

BLOCK_ROWS = 20_000
OUTSIDE = "outside New Jersey: no municipality is within 1,000 ft"

_PREFIX = "grownj_"
_WORTH_AN_INDEX = 200_000
"""Rows from which on building a cell index costs less than it saves."""
_BYTES_PER_ROW = 60
_WAITING = 2
"""Blocks that wait for each process, so that none is idle and memory stays bounded."""


@dataclass(frozen=True)
class Question:
    """What is asked of every site, in values that another process can take.

    Attributes
    ----------
    as_of
        The day.
    rulebook
        Id of a shipped rulebook.
    readings
        Chosen option by ambiguity id.
    editions
        Stored editions to use whatever the day.
    detail
        ``"brief"`` or ``"full"`` columns.
    """

    as_of: date
    rulebook: str = "grow-nj"
    readings: Mapping[str, str] = field(default_factory=dict)
    editions: tuple[str, ...] = ()
    detail: Literal["brief", "full"] = "brief"

    def engine(self) -> Engine:
        """Return an engine for it.

        Raises
        ------
        RulebookError, LayerError
            For a day, a reading, a rulebook or an edition that there is not.
        """
        atlas = load_atlas(as_of=self.as_of, editions=self.editions)
        return Engine(atlas, load_rulebook(self.rulebook), dict(sorted(self.readings.items())))


@dataclass(frozen=True)
class BatchOptions:
    """How a table is worked through.

    Attributes
    ----------
    table
        What is said of the table: columns, coordinate system.
    block_rows
        Rows read, answered and written at a time. Changes nothing in any row.
    workers
        Processes that answer.
    resume
        Go on after the blocks that an earlier run wrote whole.
    strict
        Stop at the first row that cannot be read or lies outside New Jersey.
    index
        Use a cell index, which changes no answer: ``"auto"`` takes one that is there and builds one for a large table,
        ``"build"`` builds it, ``"no"`` goes without.
    """

    table: TableOptions = field(default_factory=TableOptions)
    block_rows: int = BLOCK_ROWS
    workers: int = 1
    resume: bool = False
    strict: bool = False
    index: Literal["auto", "build", "no"] = "auto"


class BatchSummary(BaseModel):
    """What a table came to.

    Attributes
    ----------
    rows, answered
        Rows in the table, and those that are sites with an answer.
    problems
        How many rows have each problem; the row number in front is left out.
    outcomes
        By category: how many sites came out yes, no and undetermined.
    tiers
        By ``"floor-ceiling"`` in dollars: how many sites.
    placements
        How many sites are placed how.
    near_line
        How many sites have a finding that is undetermined for being near a line.
    causes
        How many findings are undetermined for each cause.
    seconds, rows_per_second
        Of this run; what an earlier one wrote is not counted.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str
    target: str
    rulebook: str
    atlas: str
    as_of: date
    rows: int
    answered: int
    problems: dict[str, int]
    outcomes: dict[str, dict[str, int]]
    tiers: dict[str, int]
    placements: dict[str, int]
    near_line: int
    causes: dict[str, int]
    resumed_rows: int
    seconds: float
    rows_per_second: float
    changes: tuple[str, ...]


class _Task(NamedTuple):
    """The sites of a block, without their rows: what another process needs."""

    table: SiteTable
    facts: dict[str, list[Any]]


class _Done(NamedTuple):
    """What came of them: columns for the sites, those outside New Jersey, and the counts."""

    columns: dict[str, NDArray[np.object_]]
    outside: NDArray[np.bool_]
    tally: dict[str, Any]


def batch_columns(engine: Engine, header: Sequence[str], detail: Literal["brief", "full"]) -> tuple[AnswerColumn, ...]:
    """Return the columns that a batch adds to a table: what was wrong with a row, and the answers.

    A name that the table has already gets ``grownj_`` in front.
    """
    own = (
        AnswerColumn("row", "integer", "number of the row in the source, as whoever opened it sees it"),
        AnswerColumn("problem", "text", "why the row has no answer; empty where it has one"),
        AnswerColumn("notes", "text", "what was assumed or changed while the row was read"),
        *answer_columns(engine, detail),
    )
    taken = set(header)
    return tuple(AnswerColumn(f"{_PREFIX}{c.name}", c.type, c.meaning) if c.name in taken else c for c in own)


def answer_block(
    engine: Engine,
    block: RowBlock,
    names: Sequence[str],
    detail: Literal["brief", "full"],
    *,
    index: CellIndex | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Answer for a block of rows; return the added columns, under the given names, and the counts."""
    block = _placed_as_said(engine, block)
    return _joined(block, _done(engine, _task(block), detail, index), names)


def run_batch(
    source: Path,
    target: Path,
    question: Question,
    *,
    options: BatchOptions | None = None,
    evidence: Path | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> BatchSummary:
    """Answer for every row of a table and write it again with the answers beside.

    Every row comes out, in its order; one that cannot be read has its problem in its own columns. The file appears
    when it is whole.

    Parameters
    ----------
    source
        The table.
    target
        Where to write: CSV, XLSX, Parquet, GeoParquet, GeoPackage or GeoJSON by its ending.
    question
        What is asked.
    options
        How.
    evidence
        Write the whole record of every site here too, as one JSON object a line. Takes a hundred times as long.
    progress
        Called with the rows that are done, and of how many; None where that is not known.

    Raises
    ------
    LayerFault
        Where the table cannot be read or written; ``bad_row`` under strict.
    RulebookError, LayerError
        For a day, a reading, a rulebook or an edition that there is not.
    """
    options = options or BatchOptions()
    engine = question.engine()
    reader = open_table(source, options.table, directory=Directory(engine.atlas))
    columns = batch_columns(engine, reader.header, question.detail)
    marks = " ".join(
        map(
            str,
            (rulebook_mark(engine), atlas_mark(engine), question, options.table, options.block_rows, _stamp(source)),
        )
    )
    started = time.monotonic()
    index, slower = _index(engine, source, reader.rows, options.index)
    with (
        open_writer(
            target,
            header=reader.columns,
            extra=[OutColumn(column.name, column.type) for column in columns],
            crs=reader.crs,
            key=marks,
            resume=options.resume,
        ) as writer,
        _answering(question, engine, options.workers, index) as answer,
        records_file(evidence, engine, writer.tallies) as records,
    ):
        resumed = writer.rows
        blocks = (_placed_as_said(engine, block) for block in reader.blocks(resumed, options.block_rows))
        for block, done in answer(_checked(blocks, strict=options.strict)):
            values, tally = _joined(block, done, [column.name for column in columns])
            if options.strict and done.outside.any():
                raise _bad_row(values[columns[1].name])
            writer.write(block, values, tally=tally | {"evidence_bytes": records.add(block, done.outside)})
            if progress is not None:
                progress(writer.rows, reader.rows)
        tallies, rows = writer.tallies, writer.rows
        told = (*slower, *reader.changes, *writer.finish())
        records.finish()
    return _summary(question, engine, source, target, tallies, rows, resumed, time.monotonic() - started, told)


def _index(
    engine: Engine, source: Path, rows: int | None, wanted: Literal["auto", "build", "no"]
) -> tuple[Path | None, tuple[Change, ...]]:
    """Return the file of a cell index of the atlas and the rulebook, built where that is worth it."""
    if wanted == "no":
        return None, ()
    fingerprint = index_fingerprint(engine)
    path = home_folder() / "cells" / f"{fingerprint[:16]}.cells"
    try:
        CellIndex.load(path, fingerprint=fingerprint)
    except LayerFault as error:
        many = rows if rows is not None else source.stat().st_size // _BYTES_PER_ROW
        if wanted != "build" and (error.fault != "no_index" or many < _WORTH_AN_INDEX):
            return None, () if error.fault == "no_index" else (_without_index(error),)
        try:
            CellIndex.build(engine, margin_limit_ft=MARGIN_LIMIT_FT).save(path)
        except LayerFault as unbuilt:
            if wanted == "build":
                raise
            return None, (_without_index(unbuilt),)
    return path, ()


def _without_index(error: LayerFault) -> Change:
    return Change(kind=error.fault, effect="noted", count=1, words=f"Answered without a cell index: {error}")


def _stamp(source: Path) -> str:
    """Return what tells a table that was changed between two runs."""
    status = source.stat()
    return f"{source.name} {status.st_size} {status.st_mtime_ns}"


def _checked(blocks: Iterable[RowBlock], *, strict: bool) -> Iterator[RowBlock]:
    for block in blocks:
        if strict and not block.good.all():
            raise _bad_row(block.problems)
        yield block


def _bad_row(problems: Sequence[Any]) -> LayerFault:
    position = next(i for i, problem in enumerate(problems) if problem)
    return LayerFault(
        "bad_row", f"{problems[position]} Nothing was written; leave --strict out to go on past such rows."
    )


def _placed_as_said(engine: Engine, block: RowBlock) -> RowBlock:
    """Return a block with a problem for each row whose place is nowhere near the municipality that the row says."""
    layer = engine.atlas.layer("municipalities")
    codes = np.array(block.mun_codes, dtype=object)
    said = np.flatnonzero(block.good & block.placed & (codes != ""))
    if layer is None or not len(said):
        return block
    limits = (OFFSHORE_LIMIT_FT + block.uncertainty_ft[said]) / FT_PER_FTUS
    near = np.zeros(len(said), dtype=bool)
    for i in layer.select(as_of=engine.atlas.as_of).tolist():
        here = np.flatnonzero(codes[said] == layer.key(i))
        if len(here):
            area = layer.geometry(i)
            shapely.prepare(area)
            near[here] |= shapely.dwithin(area, block.geometries[said[here]], limits[here])
    problems = list(block.problems)
    for row in said[~near].tolist():
        site = block.site(row)
        try:
            if site is not None:
                engine.check_place(site)
        except (SiteError, OutsideNewJerseyError) as error:
            problems[row] = f"row {block.rows[row]}: {error}"
    return replace(block, problems=problems)


# -- one process or several ---------------------------------------------------------------------------


def _task(block: RowBlock) -> _Task:
    """Return the sites of a block without the rows that are none."""
    good = np.flatnonzero(block.good)
    table = block.site_table()
    by_pin = table.by_pin or ()
    some = SiteTable(
        table.geometries[good],
        table.uncertainty_ft[good],
        table.placed[good],
        tuple(table.mun_codes[i] for i in good),
        tuple(by_pin[i] for i in good) if by_pin else None,
    )
    return _Task(some, {name: [values[i] for i in good] for name, values in block.facts.items()})


def _done(engine: Engine, task: _Task, detail: Literal["brief", "full"], index: CellIndex | None) -> _Done:
    answers = answers_many(engine, task.table, task.facts, index=index)
    return _Done(answers.columns(detail), answers.outside, answers.tally())


@contextmanager
def _answering(
    question: Question, engine: Engine, workers: int, index: Path | None
) -> Iterator[Callable[[Iterable[RowBlock]], Answered]]:
    """Give what answers for blocks, in their order: this process, or several others."""
    if workers == 1:
        cells = None if index is None else CellIndex.load(index)
        yield lambda blocks: ((block, _done(engine, _task(block), question.detail, cells)) for block in blocks)
        return
    # Spawned, not forked: the same on every platform, and no lock of a library is copied half-way.
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_begin, initargs=(question, index))
    try:
        yield lambda blocks: _in_order(pool, blocks, workers * _WAITING)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _in_order(pool: ProcessPoolExecutor, blocks: Iterable[RowBlock], most: int) -> Answered:
    waiting: deque[tuple[RowBlock, Any]] = deque()
    try:
        for block in blocks:
            waiting.append((block, pool.submit(_work, _task(block))))
            if len(waiting) >= most:
                first, future = waiting.popleft()
                yield first, future.result()
        while waiting:
            first, future = waiting.popleft()
            yield first, future.result()
    except BrokenProcessPool as error:
        raise LayerFault(
            "worker_lost",
            "A worker process ended before it was done (killed, or out of memory). What was written whole is kept: go "
            "on with --resume, perhaps with fewer workers.",
        ) from error


_own: list[tuple[Engine, Question, CellIndex | None]] = []


def _begin(question: Question, index: Path | None) -> None:
    """Make a worker ready: one engine for all its blocks."""
    _own.append((question.engine(), question, None if index is None else CellIndex.load(index)))


def _work(task: _Task) -> _Done:
    engine, question, index = _own[-1]
    return _done(engine, task, question.detail, index)


# -- rows and counts ----------------------------------------------------------------------------------


def _joined(block: RowBlock, done: _Done, names: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the added columns of all rows of a block, and its counts."""
    n, good = len(block), np.flatnonzero(block.good)
    problems = np.array(block.problems, dtype=object)
    problems[good[done.outside]] = [f"row {block.rows[i]}: {OUTSIDE}" for i in good[done.outside]]
    answered = good[~done.outside]
    notes = np.full(n, None, dtype=object)
    for i, told in enumerate(block.notes):
        if told:
            notes[i] = "; ".join(told)
    values: dict[str, Any] = dict(zip(names, (np.array(block.rows), problems, notes), strict=False))
    for name, column in zip(names[3:], done.columns.values(), strict=True):
        values[name] = np.full(n, None, dtype=object)
        values[name][answered] = column[~done.outside]
    kinds = Counter(_without_row(str(problem)) for problem in problems if problem)
    tally = done.tally | {"answered": len(answered), "problems": kinds, "told": [c.words for c in block.changes]}
    return values, tally


def _without_row(problem: str) -> str:
    """Return a problem without the number of its row, so that equal ones are counted together."""
    head, colon, rest = problem.partition(": ")
    return rest if colon and "row" in head.lower() else problem


def _summary(  # noqa: PLR0917 - what a run leaves, in order
    question: Question,
    engine: Engine,
    source: Path,
    target: Path,
    tallies: Sequence[Mapping[str, Any]],
    rows: int,
    resumed: int,
    seconds: float,
    told: Sequence[Change],
) -> BatchSummary:
    def added(name: str) -> dict[str, int]:
        total: Counter[str] = Counter()
        for tally in tallies:
            total.update(tally[name])
        return dict(sorted(total.items()))

    outcomes: dict[str, Counter[str]] = {}
    for tally in tallies:
        for category, counts in tally["outcomes"].items():
            outcomes.setdefault(category, Counter()).update(counts)
    words = (*(change.words for change in told), *(words for tally in tallies for words in tally["told"]))
    return BatchSummary(
        source=source.name,
        target=target.name,
        rulebook=rulebook_mark(engine),
        atlas=atlas_mark(engine),
        as_of=question.as_of,
        rows=rows,
        answered=sum(tally["answered"] for tally in tallies),
        problems=added("problems"),
        outcomes={category: dict(sorted(counts.items())) for category, counts in outcomes.items()},
        tiers=added("tiers"),
        placements=added("placements"),
        near_line=sum(tally["near_line"] for tally in tallies),
        causes=added("causes"),
        resumed_rows=resumed,
        seconds=seconds,
        rows_per_second=(rows - resumed) / seconds if seconds else 0.0,
        changes=tuple(dict.fromkeys(words)),
    )
