"""Tables of findings out: the rows as they came, then further columns, in the format that the file's name asks for."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
import shapely

from grownj_geo.features import Change, LayerFault
from grownj_geo.files import put_file
from grownj_geo.rows_block import OutColumn, cell_text, is_blank
from grownj_geo.tableparts import Parts, disk_faults, parts_done
from grownj_geo.units import WORKING_CRS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import TracebackType

    from grownj_geo.rows_block import Came, ColumnType, RowBlock

__all__ = [
    "OUT_FORMATS",
    "Drawn",
    "OutColumn",
    "TableWriter",
    "Whole",
    "arrow_type",
    "drawn",
    "open_writer",
    "parts_done",
]

OUT_FORMATS = {
    ".csv": "csv",
    ".xlsx": "xlsx",
    ".parquet": "parquet",
    ".geoparquet": "geoparquet",
    ".gpkg": "gpkg",
    ".geojson": "geojson",
}
"""Formats by the file's ending, in small letters."""

_DRAWN = frozenset({"geoparquet", "gpkg", "geojson"})
_MOST_SHEET_ROWS = 1_048_576
_MOST_SHEET_COLUMNS = 16_384
_WKB = "wkb of the row"
# By their numbers in shapely.
_KINDS = (
    *("Point", "LineString", "LinearRing", "Polygon"),
    *("MultiPoint", "MultiLineString", "MultiPolygon", "GeometryCollection"),
)


class Whole(NamedTuple):
    """All that assembling a file takes.

    Attributes
    ----------
    parts
        Arrow tables in order, their columns as `columns`, and last the geometry as well-known binary where there is
        one.
    columns
        The columns.
    rows
        How many rows.
    crs
        What the geometry is in; None without geometry.
    kinds, bounds
        Geometry types and corners (x0, y0, x1, y1) of all geometries, in `crs`.
    bom
        Begin text with a byte order mark.
    about
        What is said of the whole, as JSON has it, where the format has a place for it: GeoJSON and Parquet.
    """

    parts: Iterator[Any]
    columns: tuple[OutColumn, ...]
    rows: int
    crs: str | None
    kinds: tuple[str, ...]
    bounds: tuple[float, float, float, float] | None
    bom: bool
    about: Mapping[str, Any] | None = None


class Drawn(NamedTuple):
    """The geometry that leaves with a block of rows.

    Attributes
    ----------
    wkb
        Well-known binary as an Arrow array; None where it is the block's own.
    kinds, bounds
        Geometry types and corners (x0, y0, x1, y1); None without any.
    """

    wkb: Any
    kinds: list[str]
    bounds: list[float] | None


def drawn(block: RowBlock, *, as_came: bool) -> Drawn:
    """Return what leaves as geometry of a block: the table's own as it came, or the places in EPSG:3424."""
    import pyarrow as pa  # noqa: PLC0415 - only writing needs it

    own = as_came and block.shapes is not None
    shapes = block.shapes if own and block.shapes is not None else block.geometries
    bounds = shapely.total_bounds(shapes)
    return Drawn(
        None if own and block.wkb is not None else pa.array(shapely.to_wkb(shapes).tolist(), pa.binary()),
        sorted(_KINDS[i] for i in np.unique(shapely.get_type_id(shapes)) if i >= 0),
        [float(v) for v in bounds] if np.isfinite(bounds).all() else None,
    )


def open_writer(
    path: str | Path,
    *,
    header: Sequence[OutColumn | str],
    extra: Sequence[OutColumn],
    crs: str | None = None,
    key: str = "",
    work: Path | None = None,
    resume: bool = False,
    bom: bool = False,
) -> TableWriter:
    r"""Begin a table: CSV, XLSX, Parquet, GeoParquet, GeoPackage or GeoJSON, as the file's name ends.

    Blocks are kept as parts in a work folder. `TableWriter.finish` puts them together, and only then does the file
    appear. The same rows in the same blocks give the same bytes, whether or not the run was interrupted.

    The columns that came are written as they came. Text that a spreadsheet program would compute (it begins with
    ``=``, ``+``, ``-``, ``@``, a tab or a carriage return, and is no number) gets an apostrophe before it in CSV; in
    all other formats it is stored as text and stands unchanged. CSV and XLSX have no geometry. GeoJSON is in longitude
    and latitude, all others in `crs`.

    Parameters
    ----------
    path
        The file; what is there already is replaced at the end.
    header, extra
        The columns that came, and those that are added. A name of the second kind must not be one of the first.
    crs
        What `RowBlock.shapes` are in, as `SiteTableReader.crs` says. None: geometry, where the format has any, is that
        of `RowBlock.geometries`, in EPSG:3424; ``.parquet`` has none then.
    key
        Whatever else makes this run the same as another: checksums of what goes in, options, size of blocks.
    work
        The folder for parts; beside the file unless given.
    resume
        Go on after the whole parts of an earlier run.
    bom
        Begin CSV with the mark by which Excel knows UTF-8.

    Raises
    ------
    LayerFault
        ``wrong_format``, ``duplicate_fields``, ``too_many_rows``, ``in_use``, ``other_run``, ``disk_full`` or
        ``not_written``.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with open_writer(folder / "out.csv", header=["lot"], extra=[OutColumn("tier")]) as writer:
    ...     _ = writer.finish()
    >>> (folder / "out.csv").read_bytes()
    b'lot,tier\r\n'
    """
    path = Path(path)
    form = OUT_FORMATS.get(path.suffix.lower())
    if form is None:
        raise LayerFault(
            "wrong_format", f"{path.name} ends in {path.suffix or 'nothing'}; expected one of {', '.join(OUT_FORMATS)}."
        )
    came = tuple(column if isinstance(column, OutColumn) else OutColumn(column) for column in header)
    names = [column.name for column in (*came, *extra)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise LayerFault(
            "duplicate_fields",
            f"The table has columns that are written too: {', '.join(twice[:10])}. Rename or remove them; a table "
            "that was written by an earlier run has them already.",
        )
    if form == "xlsx" and len(names) > _MOST_SHEET_COLUMNS:
        raise LayerFault("too_many_columns", f"A sheet has at most {_MOST_SHEET_COLUMNS:,} columns. Write CSV.")
    system = (crs or WORKING_CRS) if form in _DRAWN or (form == "parquet" and crs is not None) else None
    plan = {
        "key": key,
        "format": form,
        "columns": [[c.name, c.type, str(c.arrow or "")] for c in (*came, *extra)],
        "crs": system,
        "bom": bom,
    }
    parts = Parts(work or path.with_name(f".{path.name}.parts"), plan, resume=resume)
    return TableWriter(
        path, form=form, came=came, extra=tuple(extra), crs=system, parts=parts, bom=bom, as_came=crs is not None
    )


class TableWriter:
    """A table that is being written; see `open_writer`.

    Attributes
    ----------
    path
        Where it will be.
    """

    def __init__(
        self,
        path: Path,
        *,
        form: str,
        came: tuple[OutColumn, ...],
        extra: tuple[OutColumn, ...],
        crs: str | None,
        parts: Parts,
        bom: bool,
        as_came: bool,
    ) -> None:
        self.path = path
        self._form = form
        self._came, self._extra = came, extra
        self._crs = crs
        self._parts = parts
        self._bom = bom
        self._as_came = as_came

    @property
    def parts(self) -> int:
        """How many blocks are written whole."""
        return len(self._parts.said)

    @property
    def rows(self) -> int:
        """How many rows are written whole: where to go on."""
        return self._parts.rows

    @property
    def tallies(self) -> list[Any]:
        """What was said with each block, in order, also of those that an earlier run wrote."""
        return [said["tally"] for said in self._parts.said]

    @property
    def draws(self) -> Literal["came", "placed"] | None:
        """What leaves as geometry: the table's own as it came, the places in EPSG:3424, or nothing."""
        if self._crs is None:
            return None
        return "came" if self._as_came else "placed"

    def write(
        self,
        block: Came,
        columns: Mapping[str, Any],
        *,
        drawn: Drawn | None = None,
        tally: object = None,
    ) -> None:
        """Write one block.

        Parameters
        ----------
        block
            The rows as they came.
        columns
            Values of the added columns, all of them, one for each row, or Arrow arrays; None (and NaN for numbers) is
            nothing.
        drawn
            Their geometry, as `drawn` gives it, where the format `draws` any.
        tally
            Whatever is to be known of the block after an interruption, in values that JSON has.

        Raises
        ------
        LayerFault
            ``too_many_rows`` for more than a sheet has, ``disk_full`` or ``not_written``.
        ValueError
            Where the block does not follow the last one, or columns or geometry are missing.
        """
        import pyarrow as pa  # noqa: PLC0415 - only writing needs it

        if block.start != self.rows:
            raise ValueError(f"The block begins after {block.start:,} rows; {self.rows:,} are written.")
        if columns.keys() != {column.name for column in self._extra}:
            raise ValueError(f"The columns are {sorted(columns)}; expected {[c.name for c in self._extra]}.")
        if self._form == "xlsx" and self.rows + len(block) + 1 > _MOST_SHEET_ROWS:
            raise LayerFault(
                "too_many_rows",
                f"{self.path.name}: a sheet has at most {_MOST_SHEET_ROWS:,} rows, header included, and there are "
                "more. Write .csv or .parquet.",
            )
        arrays = [_came_array(block, column) for column in self._came]
        arrays += [_array(columns[column.name], column) for column in self._extra]
        names = [column.name for column in (*self._came, *self._extra)]
        about: dict[str, Any] = {"tally": tally}
        if self._crs is not None:
            if drawn is None:
                raise ValueError("The format has geometry; expected what leaves with the block.")
            arrays.append(block.wkb if drawn.wkb is None else drawn.wkb)
            names.append(_WKB)
            about |= {"kinds": drawn.kinds, "bounds": drawn.bounds}
        if any(len(array) != len(block) for array in arrays):
            raise ValueError(f"A column does not have {len(block):,} values, one for each row.")
        self._parts.add(pa.Table.from_arrays(arrays, names=names), about)

    def finish(self) -> tuple[Change, ...]:
        """Put the parts together; the file appears when it is whole, and the work folder goes.

        Returns
        -------
        tuple of Change
            What the format could not take as it came.

        Raises
        ------
        LayerFault
            ``disk_full``, ``not_written`` or ``damaged_part``; then there is no file, and the parts are kept.
        """
        from grownj_geo.tableformats import assemble  # noqa: PLC0415 - each format costs only whoever writes it

        said = self._parts.said
        corners = [s["bounds"] for s in said if s.get("bounds")]
        low, high = (np.array(corners).min(axis=0), np.array(corners).max(axis=0)) if corners else (None, None)
        whole = Whole(
            self._parts.tables(),
            (*self._came, *self._extra),
            self.rows,
            self._crs,
            tuple(sorted({kind for s in said for kind in s.get("kinds", ())})),
            None if low is None or high is None else (float(low[0]), float(low[1]), float(high[2]), float(high[3])),
            self._bom,
        )
        # Beside what a link points to, so that it can be renamed.
        beside = self.path.resolve().with_name(f".{self.path.stem}.writing{self.path.suffix}")
        try:
            with disk_faults(self.path):
                told = assemble(self._form, whole, beside)
                put_file(beside, self.path)
        finally:
            beside.unlink(missing_ok=True)
        self._parts.remove()
        return told

    def close(self) -> None:
        """Let go of the work folder; its parts stay for another run."""
        self._parts.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of the work folder."""
        self.close()


def _came_array(block: Came, column: OutColumn) -> Any:  # noqa: ANN401 - pyarrow has no types
    if block.batch is not None:
        return block.batch.column(column.name)
    return _array(block.columns[column.name], column)


def arrow_type(kind: ColumnType) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the Arrow type in which a column of a kind is kept."""
    import pyarrow as pa  # noqa: PLC0415

    return {
        "text": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "boolean": pa.bool_(),
        "date": pa.date32(),
        "datetime": pa.timestamp("us"),
        "any": pa.string(),
    }[kind]


def _array(values: Any, column: OutColumn) -> Any:  # noqa: ANN401
    """Return a column as Arrow has it; the cells of a sheet as JSON, each with its kind."""
    import pyarrow as pa  # noqa: PLC0415

    kind = arrow_type(column.type)
    if isinstance(values, pa.Array):
        return (values.dictionary_decode() if pa.types.is_dictionary(values.type) else values).cast(kind)
    if column.type == "any":
        return pa.array([_packed(value) for value in values], kind)
    if column.type == "text":
        if not all(value is None or type(value) is str for value in values):
            values = [None if value is None else cell_text(value) for value in values]
        return pa.array(values, kind, from_pandas=False)
    if isinstance(values, np.ndarray):
        return pa.array(values, from_pandas=True).cast(kind)
    return pa.array([None if is_blank(value) else value for value in values], kind)


def _packed(value: object) -> str | None:
    """Return one cell of a sheet as JSON text; a day or a time with a letter before it."""
    if value is None:
        return None
    if isinstance(value, bool | int | float | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dt.date | dt.time):
        return json.dumps({type(value).__name__: value.isoformat()})
    return json.dumps(str(value), ensure_ascii=False)
