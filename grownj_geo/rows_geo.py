"""Rows of Parquet, streamed, and of what a GIS writes, read whole."""

from __future__ import annotations

import datetime as dt
import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.features import Change, LayerFault
from grownj_geo.readers import read_features
from grownj_geo.readers_pages import Room, bounded_batches
from grownj_geo.readers_parquet import parquet_about
from grownj_geo.rows_block import ArrowColumns, ColumnType, OutColumn, RawBlock, is_blank
from grownj_geo.tablepath import native

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from grownj_geo.rows_columns import TableOptions

__all__ = ["FeatureRows", "ParquetRows"]

_UNDECLARED = ("geometry", "geom", "wkb_geometry", "wkb")
# A table may be the whole State, and is never held whole.
_ROOM = Room(most_bytes=256 << 30, bytes_besides=1 << 29)


class ParquetRows:
    """A Parquet file with geometry in well-known binary or without, read as a stream of blocks.

    Parameters
    ----------
    path
        The file.
    options
        What whoever asks says about it; `geometry` names the column where the file does not.

    Raises
    ------
    LayerFault
        ``wrong_format``, ``truncated``, ``unreadable``, ``archive_bomb``, ``no_column`` or ``unknown_crs``.
    """

    seekable = True

    def __init__(self, path: Path, options: TableOptions) -> None:
        self.path = path
        self.name = path.name
        self.changes: list[Change] = []
        _, self._count = parquet_about(path, source=path.name)
        self.rows: int | None = self._count
        with closing(_opened(path)) as file:
            nested = {about.path.partition(".")[0] for about in _nested_texts(file)}
            schema = file.schema_arrow
            self._groups = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
        self.shape, self.crs = _shape_column(schema, options.geometry, self.name)
        self.has_shapes = self.shape is not None
        names = schema.names
        if len(set(names)) != len(names):
            raise LayerFault("duplicate_fields", f"{self.name} has two columns of one name; expected each once.")
        left_out = [name for name in names if name in nested and name != self.shape]
        if left_out:
            words = f"Columns with text inside of lists or structures were left out: {', '.join(left_out)}."
            self.changes.append(Change(kind="fields_not_read", effect="left_out", count=len(left_out), words=words))
        self._fields = [field for field in schema if field.name not in left_out]
        self.columns = tuple(
            OutColumn(field.name, column_type(field.type), field.type)
            for field in self._fields
            if field.name != self.shape
        )

    def raw_blocks(self, start: int, size: int) -> Generator[RawBlock]:
        """Yield the rows from the `start`-th on, `size` at a time, whatever the row groups are.

        Raises
        ------
        LayerFault
            ``unreadable`` or ``truncated`` where the file does not give what it announces; ``archive_bomb`` where it
            would give far more than its size.
        """
        import pyarrow as pa  # noqa: PLC0415

        skipped, first = 0, 0
        while first < len(self._groups) and skipped + self._groups[first] <= start:
            skipped += self._groups[first]
            first += 1
        drop, at, waiting, held = start - skipped, start, [], 0
        with closing(self._batches(first)) as batches:
            for batch in batches:
                part = batch.slice(drop)
                drop = max(0, drop - batch.num_rows)
                waiting.append(part)
                held += part.num_rows
                while held >= size:
                    table = pa.Table.from_batches(waiting)
                    yield self._block(table.slice(0, size), at)
                    at, held = at + size, held - size
                    waiting = table.slice(size).to_batches()
        if held:
            yield self._block(pa.Table.from_batches(waiting), at)
            at += held
        if at < self._count:
            raise LayerFault("truncated", f"{self.name}: {at:,} rows could be read; expected {self._count:,}.")

    def _batches(self, first: int) -> Generator[Any]:
        """Yield record batches from a group of rows on, each group looked through when it is its turn."""
        names = [field.name for field in self._fields]
        for group in range(first, len(self._groups)):
            part = bounded_batches(self.path, columns=names, source=self.name, room=_ROOM, groups=[group])
            with closing(part):
                for batch in part:
                    yield _undictionaried(batch, self._fields)

    def _block(self, table: Any, start: int) -> RawBlock:  # noqa: ANN401 - pyarrow has no types
        import pyarrow as pa  # noqa: PLC0415

        shapes: NDArray[Any] | None = None
        problems: dict[int, str] = {}
        wkb = None
        if self.shape is not None:
            wkb = _binary_array(table.column(self.shape))
            shapes, problems = _decoded(wkb)
            table = table.drop_columns([self.shape])
        table = table.combine_chunks()
        batches = table.to_batches()
        if len(batches) == 1:
            batch = batches[0]
        else:
            # Without columns there are no chunks to join.
            batch = pa.RecordBatch.from_arrays([c.combine_chunks() for c in table.columns], schema=table.schema)
        count = len(shapes) if shapes is not None else batch.num_rows
        return RawBlock(start, start + 1, count, ArrowColumns(batch), batch, shapes, problems, wkb=wkb)


def _opened(path: Path) -> Any:  # noqa: ANN401 - pyarrow has no types
    import pyarrow.parquet as pq  # noqa: PLC0415 - only Parquet needs it

    return pq.ParquetFile(native(path), memory_map=False, pre_buffer=False)


def _nested_texts(file: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield what is known of texts inside of lists or structures: how much comes out of them cannot be told before."""
    names = set(file.schema_arrow.names)
    for at in range(file.metadata.num_columns):
        about = file.schema.column(at)
        if about.physical_type == "BYTE_ARRAY" and about.path not in names:
            yield about


def _undictionaried(batch: Any, fields: Sequence[Any]) -> Any:  # noqa: ANN401
    """Return a batch with its columns in the types that the file says."""
    import pyarrow as pa  # noqa: PLC0415

    arrays = []
    for column, field in zip(batch.columns, fields, strict=True):
        plain = column
        if pa.types.is_dictionary(column.type) and not pa.types.is_dictionary(field.type):
            plain = column.dictionary_decode()
        arrays.append(plain if plain.type == field.type else plain.cast(field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _binary_array(column: Any) -> Any:  # noqa: ANN401
    """Return a column of well-known binary as one plain array."""
    import pyarrow as pa  # noqa: PLC0415

    chunks = [getattr(chunk, "storage", chunk).cast(pa.binary()) for chunk in column.chunks]
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)


def _decoded(column: Any) -> tuple[NDArray[Any], dict[int, str]]:  # noqa: ANN401
    """Return the geometries of an array of well-known binary, and why some cannot be decoded."""
    wkb = column.to_numpy(zero_copy_only=False)
    try:
        return np.asarray(shapely.from_wkb(wkb), dtype=object), {}
    except (shapely.errors.ShapelyError, NotImplementedError, TypeError):
        # One of them is broken: row by row, to say which.
        shapes = np.full(len(wkb), None, dtype=object)
    problems: dict[int, str] = {}
    for i, content in enumerate(wkb):
        try:
            shapes[i] = shapely.from_wkb(content)
        except (shapely.errors.ShapelyError, NotImplementedError, TypeError) as error:
            problems[i] = f"its geometry cannot be decoded ({error}); export the table again"
    return shapes, problems


def _shape_column(schema: Any, wanted: str | None, name: str) -> tuple[str | None, str | None]:  # noqa: ANN401
    """Return the column of geometry and its declared system."""
    raw = (schema.metadata or {}).get(b"geo")
    if raw is None:
        column = wanted or next((f.name for f in schema if f.name.lower() in _UNDECLARED and _binary(f.type)), None)
        if wanted is not None and (wanted not in schema.names or not _binary(schema.field(wanted).type)):
            raise LayerFault(
                "no_column",
                f"{name} has no column {wanted!r} of well-known binary; found {', '.join(schema.names[:20])}. "
                "Name another.",
            )
        return column, None
    geo = json.loads(raw)  # looked through by parquet_about
    column = str(geo["primary_column"])
    if wanted is not None and wanted != column:
        if wanted not in geo["columns"] or geo["columns"][wanted].get("encoding") != "WKB":
            raise LayerFault("no_column", f"{name} has no geometry {wanted!r}; found {', '.join(geo['columns'])}.")
        column = wanted
    crs = geo["columns"][column].get("crs", "OGC:CRS84")
    return column, None if crs is None else _system(crs)


def _binary(kind: Any) -> bool:  # noqa: ANN401
    import pyarrow as pa  # noqa: PLC0415

    plain = getattr(kind, "storage_type", kind)
    return bool(pa.types.is_binary(plain) or pa.types.is_large_binary(plain))


def _system(crs: Any) -> str:  # noqa: ANN401 - PROJJSON
    if isinstance(crs, str):
        return crs
    code = crs.get("id") if isinstance(crs, dict) else None
    if isinstance(code, dict) and {"authority", "code"} <= code.keys():
        return f"{code['authority']}:{code['code']}"
    return json.dumps(crs)


def column_type(kind: Any) -> ColumnType:  # noqa: ANN401 - pyarrow has no types
    """Return what a column of an Arrow type holds."""
    import pyarrow as pa  # noqa: PLC0415

    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_floating(kind):
        return "number"
    if pa.types.is_date(kind):
        return "date"
    return "datetime" if pa.types.is_timestamp(kind) else "text"


class FeatureRows:
    """What a GIS writes: GeoJSON, shapefile, GeoPackage, file geodatabase, KML, or a zip with one; read whole.

    Parameters
    ----------
    path
        A file, or the folder of a file geodatabase.
    options
        What whoever asks says about it; `sublayer` chooses a layer.

    Raises
    ------
    LayerFault
        As `read_features`.
    """

    seekable = False

    def __init__(self, path: Path, options: TableOptions) -> None:
        features = read_features(path, sublayer=options.sublayer, encoding=options.encoding)
        self.name = features.source
        self.changes = list(features.changes)
        self.rows: int | None = len(features)
        self.has_shapes = any(shape is not None for shape in features.geometries)
        self.crs = features.crs
        self._shapes = features.geometries
        self._values = features.columns
        self.columns = tuple(OutColumn(name, _kind(values)) for name, values in features.columns.items())

    def raw_blocks(self, start: int, size: int) -> Generator[RawBlock]:
        """Yield the rows from the `start`-th on, `size` at a time."""
        for at in range(start, len(self._shapes), size):
            columns = {name: values[at : at + size] for name, values in self._values.items()}
            shapes = self._shapes[at : at + size]
            yield RawBlock(at, at + 1, len(shapes), columns, shapes=shapes if self.has_shapes else None)


def _kind(values: list[Any]) -> ColumnType:
    """Return what all values of a column are; what is of several kinds leaves as text."""
    found = {type(v) for v in values if v is not None and not (isinstance(v, float) and is_blank(v))}
    kinds: dict[type, ColumnType] = {
        bool: "boolean",
        int: "integer",
        float: "number",
        dt.datetime: "datetime",
        dt.date: "date",
    }
    if found <= {int, float} and len(found) > 1:
        return "number"
    if len(found) != 1:
        return "text"
    kind = kinds.get(found.pop(), "text")
    if kind == "datetime" and any(v is not None and v.tzinfo is not None for v in values):
        # As text each keeps its own zone.
        return "text"
    if kind == "integer" and any(v is not None and not -(2**63) <= v < 2**63 for v in values):
        return "text"
    return kind
