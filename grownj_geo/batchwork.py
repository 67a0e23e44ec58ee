"""Answers for blocks of rows: what another process, or another machine, has to know and what it gives back."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pyproj
import shapely

from grownj_geo.answers import AnswerColumn, Coded, answer_columns, answers_many, atlas_mark, rulebook_mark
from grownj_geo.atlas import load_atlas
from grownj_geo.bulkmeasure import some
from grownj_geo.cells import CellIndex, index_fingerprint
from grownj_geo.cellstore import built_index
from grownj_geo.determination import software
from grownj_geo.determine import Directory, Engine
from grownj_geo.errors import OutsideNewJerseyError, SiteError
from grownj_geo.features import LayerFault
from grownj_geo.place import said_limit_ft
from grownj_geo.rulebook import load_rulebook
from grownj_geo.siterows import without_collecting
from grownj_geo.tableout import Drawn, arrow_type, drawn
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date
    from pathlib import Path

    from numpy.typing import NDArray

    from grownj_geo.answers import ManyAnswers
    from grownj_geo.atlas import Atlas
    from grownj_geo.rows_block import RawBlock, RowBlock
    from grownj_geo.siterows import Terms

__all__ = [
    "PREFIX",
    "AnsweredBlock",
    "Answerer",
    "BlockAnswers",
    "Question",
    "Work",
    "answer_block",
    "batch_columns",
    "made_by",
]

OUTSIDE = "outside New Jersey: no municipality is within 1,000 ft"

PREFIX = "grownj_"
"""Goes before the name of an answer's column where the table has that name already."""


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

    def engine(self, atlas: Atlas | None = None) -> Engine:
        """Return an engine for it.

        Parameters
        ----------
        atlas
            The layers; those of the day and of this machine by default.

        Raises
        ------
        RulebookError, LayerError
            For a day, a reading, a rulebook or an edition that there is not.
        """
        atlas = load_atlas(as_of=self.as_of, editions=self.editions) if atlas is None else atlas
        return Engine(atlas, load_rulebook(self.rulebook), dict(sorted(self.readings.items())))


@dataclass(frozen=True)
class Work:
    """All that answering for blocks of one table takes.

    Attributes
    ----------
    question
        What is asked.
    atlas
        The layers as they were read when the run began: a file that changes later changes nothing.
    source
        The table.
    terms
        How the rows are sites.
    columns
        The columns that are added.
    draw
        What leaves as geometry: the table's own, the places in EPSG:3424, or none.
    records
        Whether whole records are wanted.
    index
        The file of a cell index.
    made_by
        What `made_by` says where the run began.
    marks
        Fingerprints of rulebook and atlas there.
    """

    question: Question
    atlas: Atlas
    source: Path
    terms: Terms
    columns: tuple[AnswerColumn, ...]
    draw: Literal["came", "placed"] | None
    records: bool
    index: Path | None
    made_by: str
    marks: tuple[str, str]


@dataclass(frozen=True, eq=False)
class BlockAnswers:
    """What came of a block of n rows.

    Attributes
    ----------
    columns
        The added columns as Arrow arrays, n values each.
    drawn
        The geometry that leaves; None where none does.
    tally
        Counts, in values that JSON has.
    problem
        What the first row without an answer lacks; None where every row has one.
    records
        Whole records of the sites, as JSON a line each.
    """

    columns: dict[str, Any]
    drawn: Drawn | None
    tally: dict[str, Any]
    problem: str | None
    records: bytes


def made_by() -> str:
    """Return the versions on which the last bits of an answer depend."""
    return f"{software()}, GEOS {shapely.geos_version_string}, PROJ {pyproj.proj_version_str}"


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
    return tuple(AnswerColumn(f"{PREFIX}{c.name}", c.type, c.meaning) if c.name in taken else c for c in own)


class Answerer:
    """Answers for blocks of rows of one table.

    Parameters
    ----------
    work
        What is to be done.
    engine, index
        The question's engine and the work's index, where they are there already.

    Raises
    ------
    LayerFault
        ``other_software`` where this process could come to other answers than the one in which the run began.
    """

    def __init__(self, work: Work, *, engine: Engine | None = None, index: CellIndex | None = None) -> None:
        self._work = work
        self._engine = work.question.engine(work.atlas) if engine is None else engine
        here = (made_by(), rulebook_mark(self._engine), atlas_mark(self._engine))
        there = (work.made_by, *work.marks)
        if here != there:
            raise LayerFault(
                "other_software",
                f"A worker has {'; '.join(here)}; the run was begun with {'; '.join(there)}. Install the same versions "
                "on all machines.",
            )
        self._placer = work.terms.placer(Directory(self._engine.atlas))
        self._index = self._found_index() if index is None and work.index is not None else index

    def _found_index(self) -> CellIndex:
        """Return the index where the run has it; another machine may have to build its own."""
        if self._work.index is not None:
            with suppress(LayerFault):
                return CellIndex.load(self._work.index, fingerprint=index_fingerprint(self._engine))
        return built_index(self._engine)

    def answer(self, raw: RawBlock) -> BlockAnswers:
        """Return the answers for a block of rows."""
        with without_collecting():
            block = self._placer.place(raw.decoded())
        found = answer_block(self._engine, block, index=self._index)
        problems = [problem for problem in found.block.problems if problem is not None]
        draw = self._work.draw
        return BlockAnswers(
            _arrow_columns(found, self._work.columns, self._work.question.detail),
            None if draw is None else drawn(found.block, as_came=draw == "came"),
            found.tally(),
            problems[0] if problems else None,
            self._records(found) if self._work.records else b"",
        )

    def _records(self, found: AnsweredBlock) -> bytes:
        sites, numbers = {}, found.block.rows
        for position in found.rows.tolist():
            site = found.block.site(position)
            if site is not None:
                sites[position] = site
        lines = []
        for position, record in zip(sites, self._engine.determine_each(list(sites.values())), strict=True):
            if isinstance(record, Exception):
                raise record
            line = {"row": numbers[position], **record.model_dump(mode="json")}
            lines.append(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        return b"".join(lines)


class AnsweredBlock(NamedTuple):
    """A block of n rows and the answers of those that have one.

    Attributes
    ----------
    block
        The rows; those without an answer say why.
    answers
        What the sites came to.
    rows
        Positions in the block of the m rows that have an answer.
    sites
        Positions of the same among the sites that were answered for.
    """

    block: RowBlock
    answers: ManyAnswers
    rows: NDArray[np.int64]
    sites: NDArray[np.int64]

    def columns(self, detail: Literal["brief", "full"]) -> list[Coded]:
        """Return the columns of `answer_columns`, n values each; code -1 where a row has no answer."""
        found = []
        for values, codes in self.answers.coded(detail).values():
            every = np.full(len(self.block), -1, dtype=np.int32)
            every[self.rows] = codes[self.sites]
            found.append(Coded(values, every))
        return found

    def notes(self) -> list[str | None]:
        """Return what was assumed or changed while each row was read."""
        return ["; ".join(words.rstrip(".") for words in told) if told else None for told in self.block.notes]

    def tally(self) -> dict[str, Any]:
        """Return the counts, in values that JSON has."""
        return self.answers.tally() | {
            "answered": len(self.rows),
            "problems": Counter(_without_row(problem) for problem in self.block.problems if problem is not None),
            "told": [change.words for change in self.block.changes],
        }


def answer_block(engine: Engine, block: RowBlock, *, index: CellIndex | None = None) -> AnsweredBlock:
    """Answer for a block of rows.

    Parameters
    ----------
    engine
        The rulebook with its day, layers and readings.
    block
        The rows as sites.
    index
        A cell index of the same atlas and rulebook: the same answers, faster.
    """
    block = _placed_as_said(engine, block)
    good = np.flatnonzero(block.good)
    table, facts = block.site_table(), block.facts
    if len(good) < len(block):
        table = some(table, good)
        facts = {name: [values[i] for i in good.tolist()] for name, values in facts.items()}
    answers = answers_many(engine, table, facts, index=index)
    outside = answers.outside
    problems = list(block.problems)
    for position in good[outside].tolist():
        problems[position] = f"row {block.rows[position]}: {OUTSIDE}"
    return AnsweredBlock(replace(block, problems=problems), answers, good[~outside], np.flatnonzero(~outside))


def _arrow_columns(
    found: AnsweredBlock, columns: Sequence[AnswerColumn], detail: Literal["brief", "full"]
) -> dict[str, Any]:
    """Return the added columns as Arrow arrays: each value once, and which of them a row has."""
    import pyarrow as pa  # noqa: PLC0415 - only writing needs it

    row, problem, notes, *answers = columns
    values: dict[str, Any] = {
        row.name: pa.array(np.array(found.block.rows)),
        problem.name: pa.array(found.block.problems, pa.string()),
        notes.name: pa.array(found.notes(), pa.string()),
    }
    for column, (distinct, codes) in zip(answers, found.columns(detail), strict=True):
        values[column.name] = pa.DictionaryArray.from_arrays(
            pa.array(codes, mask=codes < 0), pa.array(distinct, arrow_type(column.type), from_pandas=False)
        )
    return values


def _placed_as_said(engine: Engine, block: RowBlock) -> RowBlock:
    """Return a block with a problem for each row whose place is nowhere near the municipality that the row says."""
    layer = engine.atlas.layer("municipalities")
    codes = np.array(block.mun_codes, dtype=object)
    said = np.flatnonzero(block.good & block.placed & (codes != ""))
    if layer is None or not len(said):
        return block
    limits = said_limit_ft(block.uncertainty_ft[said]) / FT_PER_FTUS
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


def _without_row(problem: str) -> str:
    """Return a problem without the number of its row, so that equal ones are counted together."""
    head, colon, rest = problem.partition(": ")
    return rest if colon and "row" in head.lower() else problem
