"""Putting the parts of a table together as CSV, as a workbook, or as Parquet: the same parts, the same bytes."""

from __future__ import annotations

import csv
import datetime as dt
import json
import math
import re
import zipfile
from typing import TYPE_CHECKING, Any

from grownj_geo.features import Change
from grownj_geo.ownmarks import WRITTEN_BY
from grownj_geo.rows_block import cell_text
from grownj_geo.workbooks import workbook_library

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from grownj_geo.rows_block import OutColumn
    from grownj_geo.tableout import Whole

__all__ = ["assemble", "guarded", "plain_columns"]

_COMPUTED = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LONGEST_CELL = 32_767
_MOST_DIGITS = 10**15
_FIRST_DAY = dt.date(1900, 3, 1)
# What XML cannot hold.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_NUMBERED = re.compile("_(?=x[0-9A-Fa-f]{4}_)")
_MODIFIED = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*(</dcterms:)")
_ZIP_DAY = (1980, 1, 1, 0, 0, 0)
_CHUNK = 1 << 20


def assemble(form: str, whole: Whole, path: Path) -> tuple[Change, ...]:
    """Write a whole table, and return what its format could not take as it came.

    Parameters
    ----------
    form
        One of the values of `OUT_FORMATS`.
    whole
        What to write.
    path
        Where.

    Raises
    ------
    LayerFault
        Where a part is damaged or the format's own library cannot write.
    OSError
        Where the system cannot.
    """
    if form == "csv":
        return _csv(whole, path)
    if form == "xlsx":
        return _xlsx(whole, path)
    if form in {"parquet", "geoparquet"}:
        return _parquet(whole, path)
    # Imported here: only who writes geometry needs it.
    from grownj_geo.tableformats_geo import write_geojson, write_geopackage  # noqa: PLC0415

    return write_geojson(whole, path) if form == "geojson" else write_geopackage(whole, path)


def plain_columns(table: Any, columns: Sequence[OutColumn]) -> list[list[Any]]:  # noqa: ANN401 - pyarrow has no types
    """Return the values of columns of a part; the cells of a sheet as what they were, binary content as nothing."""
    from grownj_geo.readers_gdal import column_values  # noqa: PLC0415 - only writing needs it

    found = []
    for column in columns:
        values: list[Any] = []
        for chunk in table.column(column.name).chunks:
            values += column_values(chunk) or [None] * len(chunk)
        found.append([_unpacked(value) for value in values] if column.type == "any" else values)
    return found


def _unpacked(value: str | None) -> Any:  # noqa: ANN401
    if value is None:
        return None
    cell = json.loads(value)
    if not isinstance(cell, dict):
        return cell
    ((kind, text),) = cell.items()
    kinds: dict[str, Any] = {"date": dt.date, "datetime": dt.datetime, "time": dt.time}
    return kinds[kind].fromisoformat(text)


# -- CSV ----------------------------------------------------------------------------------------------


def guarded(text: str) -> str:
    """Return text as a spreadsheet program shows it: with an apostrophe where it would be computed.

    Examples
    --------
    >>> guarded("=1+1"), guarded("-74.16"), guarded("- none"), guarded("0408")
    ("'=1+1", '-74.16', "'- none", '0408')
    """
    return f"'{text}" if text.startswith(_COMPUTED) and _NUMBER.fullmatch(text) is None else text


def _csv(whole: Whole, path: Path) -> tuple[Change, ...]:
    changed = 0
    with path.open("w", encoding="utf-8-sig" if whole.bom else "utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow([guarded(column.name) for column in whole.columns])
        for table in whole.parts:
            columns = []
            for column in whole.columns:
                texts, altered = _column_texts(table, column)
                columns.append(texts)
                changed += altered
            writer.writerows(zip(*columns, strict=True))
    told = _left_out(whole)
    if changed:
        words = "Cells that a spreadsheet program would compute were given an apostrophe before their text."
        told.append(Change(kind="formula_as_text", effect="changed", count=changed, words=words))
    return tuple(told)


def _column_texts(table: Any, column: OutColumn) -> tuple[list[str], int]:  # noqa: ANN401
    """Return a column as CSV has it, and how many cells were given an apostrophe."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    values = table.column(column.name)
    plain = column.type == "text" and (pa.types.is_string(values.type) or pa.types.is_large_string(values.type))
    # Whole columns are looked through at once; only where something is found is each cell looked at.
    if plain and not pc.any(pc.match_substring_regex(values, r"\A[=+\-@\t\r]")).as_py():
        return pc.fill_null(values, "").to_pylist(), 0
    (cells,) = plain_columns(table, [column])
    before = [cell_text(cell) for cell in cells]
    after = [guarded(text) if type(cell) is str else text for cell, text in zip(cells, before, strict=True)]
    return after, sum(a != b for a, b in zip(after, before, strict=True))


def _left_out(whole: Whole) -> list[Change]:
    import pyarrow as pa  # noqa: PLC0415

    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    binary = [c.name for c in whole.columns if c.arrow is not None and any(test(c.arrow) for test in tests)]
    if not binary:
        return []
    words = f"Columns of binary content were left empty: {', '.join(binary)}."
    return [Change(kind="fields_not_written", effect="left_out", count=len(binary), words=words)]


# -- XLSX ---------------------------------------------------------------------------------------------


class _Sheet:
    """Writes cells; counts what a sheet cannot hold."""

    def __init__(self, sheet: Any) -> None:  # noqa: ANN401 - write-only worksheets have a type of their own
        self._sheet = sheet
        self.cut: list[int] = []
        self.cleaned: list[int] = []
        self.broken: list[int] = []

    def cell(self, value: Any, row: int) -> Any:  # noqa: ANN401
        """Return what a row of a sheet takes for a value."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float) and _holds(value):
            return value if math.isfinite(value) else None
        if isinstance(value, dt.date) and _is_day(value):
            return self._dated(value)
        return self._text(cell_text(value), row)

    def _dated(self, value: dt.date) -> Any:  # noqa: ANN401
        from openpyxl.cell import WriteOnlyCell  # noqa: PLC0415

        cell = WriteOnlyCell(self._sheet)
        cell.value = value
        cell.number_format = "yyyy-mm-dd hh:mm:ss" if isinstance(value, dt.datetime) else "yyyy-mm-dd"
        return cell

    def _text(self, value: str, row: int) -> Any:  # noqa: ANN401
        from openpyxl.cell import WriteOnlyCell  # noqa: PLC0415

        if _CONTROL.search(value):
            value = _CONTROL.sub("\ufffd", value)
            self.cleaned.append(row)
        if "\r" in value:
            value = value.replace("\r\n", "\n").replace("\r", "\n")
            self.broken.append(row)
        # What looks like Excel's way to write a sign by its number would be read as that sign.
        value = _NUMBERED.sub("_x005F_", value)
        if len(value) > _LONGEST_CELL:
            value = value[: _LONGEST_CELL - 1] + "\u2026"
            self.cut.append(row)
        if not value.startswith((*_COMPUTED, "#")) and not value[:1].isdigit():
            return value
        cell = WriteOnlyCell(self._sheet, value=value)
        # Whatever it looks like: no formula, no error, and a code stays one when the cell is edited.
        cell.data_type = "s"
        cell.number_format = "@"
        return cell


def _holds(value: float) -> bool:
    """Return whether a sheet keeps a number whole: longer ones than 15 digits are codes."""
    return not isinstance(value, int) or abs(value) < _MOST_DIGITS


def _is_day(value: dt.date) -> bool:
    """Return whether a sheet has the day: its calendar is wrong before 1900-03-01, and it knows no zones."""
    if isinstance(value, dt.datetime):
        return value.tzinfo is None and value.date() >= _FIRST_DAY
    return value >= _FIRST_DAY


def _xlsx(whole: Whole, path: Path) -> tuple[Change, ...]:
    openpyxl = workbook_library()

    book = openpyxl.Workbook(write_only=True)
    book.properties.creator = WRITTEN_BY
    sheet = book.create_sheet("Sites")
    sheet.freeze_panes = "A2"
    cells = _Sheet(sheet)
    sheet.append([cells.cell(column.name, 1) for column in whole.columns])
    number = 1
    for table in whole.parts:
        for row in zip(*plain_columns(table, whole.columns), strict=True):
            number += 1
            sheet.append([cells.cell(value, number) for value in row])
    made = path.with_name(path.name + ".made")
    try:
        book.save(made)
        _without_clock(made, path)
    finally:
        made.unlink(missing_ok=True)
    told = _left_out(whole)
    if cells.cut:
        words = f"Texts longer than a cell holds ({_LONGEST_CELL:,} signs) were cut and end in an ellipsis."
        told.append(Change.about("cell_cut", "changed", cells.cut, words))
    if cells.cleaned:
        words = "Signs that a workbook cannot hold were replaced."
        told.append(Change.about("signs_replaced", "changed", cells.cleaned, words))
    if cells.broken:
        words = "Carriage returns inside texts became plain line ends, as in every workbook."
        told.append(Change.about("line_ends_replaced", "changed", cells.broken, words))
    return tuple(told)


def _without_clock(made: Path, path: Path) -> None:
    """Write a workbook again without the times at which it was written, which are all that two runs differ in."""
    with zipfile.ZipFile(made) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name in sorted(source.namelist(), key=lambda n: (n != "[Content_Types].xml", n)):
            entry = zipfile.ZipInfo(name, _ZIP_DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            if name == "docProps/core.xml":
                target.writestr(entry, _MODIFIED.sub(rb"\g<1>1980-01-01T00:00:00Z\g<2>", source.read(name)))
                continue
            with source.open(name) as file, target.open(entry, "w", force_zip64=True) as out:
                while chunk := file.read(_CHUNK):
                    out.write(chunk)


# -- Parquet ------------------------------------------------------------------------------------------


def _parquet(whole: Whole, path: Path) -> tuple[Change, ...]:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415 - only Parquet needs it

    names = [column.name for column in whole.columns]
    shape = next(name for name in ("geometry", "site_geometry", "grownj_geometry") if name not in names)
    writer = None
    try:
        for table in whole.parts:
            ready = _as_text(table, whole.columns)
            if whole.crs is not None:
                ready = ready.rename_columns([*names, shape])
            if writer is None:
                writer = pq.ParquetWriter(path, ready.schema.with_metadata(_geo(whole, shape)), compression="zstd")
            writer.write_table(ready.replace_schema_metadata(_geo(whole, shape)))
        if writer is None:
            fields = [pa.field(column.name, column.arrow or pa.string()) for column in whole.columns]
            fields += [] if whole.crs is None else [pa.field(shape, pa.binary())]
            writer = pq.ParquetWriter(path, pa.schema(fields, metadata=_geo(whole, shape)), compression="zstd")
    finally:
        if writer is not None:
            writer.close()
    return ()


def _as_text(table: Any, columns: Sequence[OutColumn]) -> Any:  # noqa: ANN401
    """Return a part with the cells of a sheet as text: a column of Parquet is of one kind."""
    import pyarrow as pa  # noqa: PLC0415

    for i, column in enumerate(columns):
        if column.type == "any":
            (values,) = plain_columns(table, [column])
            texts = [None if value is None else cell_text(value) for value in values]
            table = table.set_column(i, column.name, pa.array(texts, pa.string()))
    return table


def _geo(whole: Whole, shape: str) -> dict[bytes, bytes]:
    written = {b"written_by": WRITTEN_BY.encode()}
    if whole.crs is None:
        return written
    import pyproj  # noqa: PLC0415

    crs = pyproj.CRS.from_user_input(whole.crs)
    about: dict[str, Any] = {"encoding": "WKB", "geometry_types": list(whole.kinds), "crs": crs.to_json_dict()}
    if whole.bounds is not None:
        about["bbox"] = list(whole.bounds)
    geo = {"version": "1.1.0", "primary_column": shape, "columns": {shape: about}}
    more = {} if whole.about is None else {b"about": json.dumps(whole.about, ensure_ascii=False).encode()}
    return {b"geo": json.dumps(geo).encode(), **more, **written}
