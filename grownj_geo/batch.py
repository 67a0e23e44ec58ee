"""A whole table of sites: read block by block, answered, written as it came with the answers beside it."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

from grownj_geo.answers import atlas_mark, rulebook_mark
from grownj_geo.batchengines import processes, this_process
from grownj_geo.batchwork import PREFIX, Question, Work, batch_columns, made_by
from grownj_geo.cellstore import built_index, index_path, kept_index
from grownj_geo.determine import Directory, Engine
from grownj_geo.features import Change, LayerFault
from grownj_geo.finder import Finder
from grownj_geo.recordlines import records_file
from grownj_geo.rows_block import OutColumn
from grownj_geo.siterows import TableOptions, open_table
from grownj_geo.store import home_folder
from grownj_geo.strict import Strict
from grownj_geo.tableout import open_writer
from grownj_geo.tablepath import is_remote, refuse_same, stamp, table_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from grownj_geo.answers import AnswerColumn
    from grownj_geo.atlas import Atlas
    from grownj_geo.batchengines import Answering
    from grownj_geo.cells import CellIndex
    from grownj_geo.siterows import SiteTableReader
    from grownj_geo.tableout import TableWriter

__all__ = ["BLOCK_ROWS", "BatchOptions", "BatchSummary", "Question", "run_batch"]

BLOCK_ROWS = 20_000

_MOST_RECORDS = 500
"""Rows of a block whose whole records are held in memory together."""
_WORTH_AN_INDEX = 200_000
"""Rows from which on building a cell index costs less than it saves."""
_BYTES_PER_ROW = 60


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
        Processes on this machine that answer.
    scheduler
        Address of a Dask scheduler whose workers answer instead, as in ``"tcp://10.0.0.5:8786"``.
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
    scheduler: str | None = None


class BatchSummary(Strict):
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


def run_batch(
    source: Path | str,
    target: Path | str,
    question: Question,
    *,
    options: BatchOptions | None = None,
    evidence: Path | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> BatchSummary:
    """Answer for every row of a table and write it again with the answers beside.

    Every row comes out, in its order; one that cannot be read has its problem in its own columns. The file appears
    when it is whole.

    Parameters
    ----------
    source
        The table: a path, or of Parquet the URL of an object in a store, as `table_path` takes it.
    target
        Where to write: CSV, XLSX, Parquet, GeoParquet, GeoPackage or GeoJSON by its ending; a path or such a URL.
    question
        What is asked.
    options
        How.
    evidence
        Write the whole record of every site here too, as one JSON object a line. Takes a hundred times as long.
    progress
        Called with the rows that are done, and of how many; None where that is not known.
    tell
        Called before anything is sent, with what is sent to whom: addresses, where online locators are switched on; and
        now and then while many addresses are looked up.

    Raises
    ------
    LayerFault
        Where the table cannot be read or written; ``bad_row`` under strict; ``changed_meanwhile`` where the table was
        written while it was read.
    RulebookError, LayerError
        For a day, a reading, a rulebook or an edition that there is not.
    """
    options = options or BatchOptions()
    engine = question.engine()
    source, target = table_path(source), table_path(target)
    refuse_same({"the table that is read": source, "the output": target, "the evidence": evidence})
    here = _outgoing(target) if is_remote(target) else target
    before = stamp(source) if source.exists() else ""
    reader = open_table(source, options.table, directory=Directory(engine.atlas), finder=Finder.at_home(engine.atlas))
    columns = batch_columns(engine, reader.header, question.detail)
    block_rows = options.block_rows if evidence is None else min(options.block_rows, _MOST_RECORDS)
    kept = None if evidence is None else str(evidence.absolute())
    marks = " ".join(
        map(
            str,
            (made_by(), rulebook_mark(engine), atlas_mark(engine), question, options.table, block_rows, before, kept),
        )
    )
    marks += "" if reader.mark is None else f" {reader.mark}"
    if tell is not None:
        for words in reader.sends:
            tell(words)
        reader.tell_with(tell)
    started = time.monotonic()
    index, slower = _index(engine, source, reader.rows, options.index)
    with ExitStack() as stack:
        writer = stack.enter_context(
            open_writer(
                here,
                header=reader.columns,
                extra=[OutColumn(column.name, column.type) for column in columns],
                crs=reader.crs,
                key=marks,
                resume=options.resume,
            )
        )
        work = Work(
            question,
            engine.atlas,
            source if is_remote(source) else source.absolute(),
            reader.terms,
            columns,
            writer.draws,
            evidence is not None,
            None if index is None else index_path(engine),
            made_by(),
            (rulebook_mark(engine), atlas_mark(engine)),
        )
        answering = stack.enter_context(_answering(work, engine, index, reader, options))
        records = stack.enter_context(records_file(evidence, writer.path, writer.tallies))
        resumed = writer.rows
        if options.strict:
            _refuse_written(writer.tallies)
        for raw, found in answering(reader.raw_blocks(resumed, block_rows)):
            if options.strict and found.problem is not None:
                raise _bad_row(found.problem)
            tally = found.tally | {"evidence_bytes": records.add(found.records)}
            writer.write(raw, found.columns, drawn=found.drawn, tally=tally)
            if progress is not None:
                progress(writer.rows, reader.rows)
        _refuse_changed(source, before)
        tallies, rows = writer.tallies, writer.rows
        told = (*slower, *_unusable(engine.atlas), *reader.changes, *_told(reader, writer, columns), *writer.finish())
        records.finish()
    if is_remote(target):
        _put(here, target)
    return _summary(question, engine, source, target, tallies, rows, resumed, time.monotonic() - started, told)


def _told(reader: SiteTableReader, writer: TableWriter, columns: Sequence[AnswerColumn]) -> Iterator[Change]:
    """Tell what is in the output otherwise than whoever opens it may think."""
    renamed = [column.name for column in columns if column.name.startswith(PREFIX)]
    if renamed:
        words = f"The table has columns of these names already, so the answers are in {', '.join(renamed)}."
        yield Change(kind="columns_renamed", effect="noted", count=len(renamed), words=words)
    if reader.crs is not None and writer.draws is None:
        words = (
            "This format has no geometry: the table's own was left out. Write .gpkg, .geojson or .parquet to keep it."
        )
        yield Change(kind="geometry_left_out", effect="left_out", count=1, words=words)


def _bad_row(problem: str) -> LayerFault:
    return LayerFault("bad_row", f"{problem} Nothing was written; leave --strict out to go on past such rows.")


def _refuse_written(tallies: Sequence[Mapping[str, Any]]) -> None:
    """Refuse to go on strictly after blocks of an earlier run that have rows without an answer."""
    problem = next((words for tally in tallies for words in tally["problems"]), None)
    if problem is not None:
        raise _bad_row(f"An earlier run went past a row: {problem}")


def _answering(
    work: Work, engine: Engine, index: CellIndex | None, reader: SiteTableReader, options: BatchOptions
) -> AbstractContextManager[Answering]:
    """Return who answers: this process, several, or a cluster."""
    if options.scheduler is not None:
        from grownj_geo.batchcluster import cluster  # noqa: PLC0415 - only a cluster needs it

        return cluster(work, options.scheduler, spans=reader.seekable)
    return this_process(work, engine, index) if options.workers == 1 else processes(work, options.workers)


def _index(
    engine: Engine, source: Path, rows: int | None, wanted: Literal["auto", "build", "no"]
) -> tuple[CellIndex | None, tuple[Change, ...]]:
    """Return a cell index of the atlas and the rulebook, built where that is worth it."""
    if wanted == "no":
        return None, ()
    try:
        return kept_index(engine), ()
    except LayerFault as error:
        many = rows if rows is not None else source.stat().st_size // _BYTES_PER_ROW
        if wanted != "build" and many < _WORTH_AN_INDEX:
            return None, () if error.fault == "no_index" else (_without_index(error),)
    try:
        return built_index(engine), ()
    except LayerFault as unbuilt:
        if wanted == "build":
            raise
        return None, (_without_index(unbuilt),)


def _without_index(error: LayerFault) -> Change:
    return Change(kind=error.fault, effect="noted", count=1, words=f"Answered without a cell index: {error}")


def _unusable(atlas: Atlas) -> Iterator[Change]:
    """Tell which layers should be there and cannot be used: a table of nothing but undetermined has its reason."""
    for layer_id in sorted(atlas.manifests):
        state = atlas.state(layer_id)
        if state.status == "unusable":
            words = f"The layer {layer_id} cannot be used, and what it decides is undetermined: {state.problem}"
            yield Change(kind="layer_unusable", effect="noted", count=1, words=words)


def _outgoing(target: Path) -> Path:
    """Return where a table is written before it goes to a store: the same place again for whoever resumes."""
    folder = home_folder() / "outgoing" / hashlib.sha256(str(target).encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    return folder / target.name


def _put(written: Path, target: Path) -> None:
    """Copy a table to its store and remove it here."""
    store: Any = target
    try:
        store.fs.put_file(str(written), store.path)
    # What a store raises is its own business; the table is not lost whatever it is.
    except Exception as error:
        raise LayerFault(
            "not_written", f"{target} could not be written ({error}); the whole table is kept in {written}."
        ) from error
    written.unlink()
    written.parent.rmdir()


def _refuse_changed(source: Path, before: str) -> None:
    """Refuse a table that somebody wrote while it was read: rows of two states would stand together."""
    now = stamp(source) if source.exists() else "nothing"
    if source.is_dir() or now == before:
        # A folder was read whole at the beginning, and changes whenever somebody looks into it.
        return
    raise LayerFault(
        "changed_meanwhile",
        f"{source} was changed while it was read: name, bytes and time were {before}, and are {now}. Nothing was "
        "written; run it again when nobody writes to it.",
    )


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
