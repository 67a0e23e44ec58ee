"""Rows of any file that parcels or address points come in, as a stream: text, workbooks, Parquet, and GIS formats."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from grownj_geo.archive import Limits
from grownj_geo.readers import open_source
from grownj_geo.readers_stream import LayerStream
from grownj_geo.rows_block import OutColumn, RawBlock
from grownj_geo.rows_columns import TableOptions
from grownj_geo.siterows import row_source

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable, Iterator
    from pathlib import Path

    from grownj_geo.features import Change
    from grownj_geo.readers import Kind
    from grownj_geo.rows_block import RowSource

__all__ = ["only", "open_rows"]

_STREAMED = frozenset({"geodatabase", "geopackage", "shapefile"})
_TABLES = frozenset({".csv", ".tsv", ".txt", ".xlsx", ".xlsm", ".parquet", ".geoparquet"})
# The State's parcels are one archive of some gigabytes.
_LIMITS = Limits(total_bytes=24 << 30, single_bytes=16 << 30)


class _LayerRows:
    """A layer of a GIS format as rows, of which only the columns that are asked for are read."""

    seekable = False

    def __init__(self, stream: LayerStream, changes: Iterable[Change]) -> None:
        self._stream = stream
        self.name = stream.source
        self.columns = tuple(OutColumn(name) for name in stream.names)
        self.rows: int | None = stream.count
        self.crs = stream.crs
        self.has_shapes = stream.has_shapes
        # The stream's own list: what is found while reading comes to it at the end.
        self.changes = stream.changes
        self.changes[:0] = changes
        self.wanted: Collection[str] = stream.names

    def raw_blocks(self, start: int, size: int) -> Generator[RawBlock]:
        """Yield the rows, `size` at a time; always from the first."""
        at = start
        for batch in self._stream.batches(self.wanted, size):
            count = len(batch.shapes)
            shapes = batch.shapes if self.has_shapes else None
            yield RawBlock(at, at + 1, count, batch.columns, shapes=shapes, problems=batch.problems)
            at += count


def only(source: RowSource, columns: Collection[str]) -> None:
    """Read these columns alone from now on, where the format lets others be."""
    if isinstance(source, _LayerRows):
        source.wanted = columns


@contextmanager
def open_rows(
    path: Path, *, kind: Kind, sublayer: str | None = None, encoding: str | None = None
) -> Iterator[RowSource]:
    """Open the rows of a file, for as long as the block lasts.

    Parameters
    ----------
    path
        A file, an archive, a file geodatabase, or a folder of such.
    kind
        What the layer should be made of, where there are several; a table without geometry is taken too.
    sublayer
        Which of several layers.
    encoding
        What text is in, where the file does not say so or is wrong.

    Raises
    ------
    LayerFault
        As `read_features` and `siterows.open_table`.
    """
    options = TableOptions(sublayer=sublayer, encoding=encoding)
    if path.is_file() and path.suffix.lower() in _TABLES:
        yield row_source(path, options)
        return
    kinds: tuple[Kind | None, ...] = (kind, None)
    with open_source(path, sublayer=sublayer, kinds=kinds, encoding=encoding, limits=_LIMITS) as opened:
        if opened.format in _STREAMED:
            yield _LayerRows(LayerStream(opened, encoding=encoding), opened.changes)
        elif opened.format in {"text", "parquet"}:
            source = row_source(opened.path, TableOptions(encoding=encoding))
            source.name = opened.source
            source.changes = [*opened.changes, *source.changes]
            yield source
        else:
            # These are read whole: their own rules of encoding and truncation ask for it.
            yield row_source(path, options)
