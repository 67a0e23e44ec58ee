"""A table of sites for a map: any that a batch takes, or one that a batch wrote, whose answers are left aside."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grownj_geo.answers import atlas_mark, rulebook_mark
from grownj_geo.batchwork import PREFIX
from grownj_geo.features import Change
from grownj_geo.finder import Finder
from grownj_geo.rows_columns import answers_in
from grownj_geo.siterows import SiteTableReader, open_table, row_source

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from grownj_geo.determine import Engine
    from grownj_geo.locate import MunicipalDirectory
    from grownj_geo.rows_block import OutColumn, RawBlock, RowSource
    from grownj_geo.siterows import TableOptions

__all__ = ["open_sites"]


@dataclass
class _Without:
    """A table without some of its columns."""

    source: RowSource
    left_aside: frozenset[str]
    changes: list[Change]

    def __post_init__(self) -> None:
        self.name, self.rows = self.source.name, self.source.rows
        self.crs, self.has_shapes = self.source.crs, self.source.has_shapes
        self.seekable = self.source.seekable
        self.columns: tuple[OutColumn, ...] = tuple(c for c in self.source.columns if c.name not in self.left_aside)

    def raw_blocks(self, start: int, size: int) -> Generator[RawBlock]:
        """Yield the rows from the `start`-th on, `size` at a time."""
        for raw in self.source.raw_blocks(start, size):
            kept = {column.name: raw.columns[column.name] for column in self.columns}
            yield replace(raw, columns=kept, batch=None)


def open_sites(path: Path, options: TableOptions, *, directory: MunicipalDirectory, engine: Engine) -> SiteTableReader:
    """Open a table of sites; the answers that a batch wrote into it are left aside, for they are made anew.

    Parameters
    ----------
    path, options, directory
        As `open_table` takes them.
    engine
        What will answer: where the table was answered with other layers or rules, that is told.

    Raises
    ------
    LayerFault
        As `open_table`.
    """
    if not path.exists():
        return open_table(path, options, directory=directory)
    finder = Finder.at_home(engine.atlas)
    source = row_source(path, options)
    left = answers_in([column.name for column in source.columns])
    if not left:
        return open_table(path, options, directory=directory, finder=finder)
    words = f"A batch wrote {len(left)} columns of answers into {path.name}; they were left aside and made anew."
    told = [*source.changes, Change(kind="answers_left", effect="noted", count=len(left), words=words)]
    told += _differences(source, left, engine)
    return SiteTableReader(_Without(source, left, told), options, directory, finder)


def _differences(source: RowSource, answers: frozenset[str], engine: Engine) -> list[Change]:
    """Return what the table was answered with, where that is not what answers now."""
    first = next(iter(source.raw_blocks(0, 1_000)), None)
    found = []
    for name, now in (("rulebook", rulebook_mark(engine)), ("atlas", atlas_mark(engine))):
        marks = [column for column in answers if column.removeprefix(PREFIX) == name]
        cells = [cell for column in marks if first is not None for cell in first.columns[column]]
        before = {str(cell) for cell in cells if cell not in {None, ""}} - {now}
        if before:
            what = "rules" if name == "rulebook" else "layers or another day"
            words = f"The table was answered with other {what} ({', '.join(sorted(before))}); the map has {now}."
            found.append(Change(kind=f"other_{name}", effect="noted", count=1, words=words))
    return found
