"""Putting the parts of a table together as GeoJSON or as a GeoPackage."""

from __future__ import annotations

import errno
import json
import math
import os
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.features import Change, LayerFault
from grownj_geo.findings import Findings
from grownj_geo.georeference import declared_system
from grownj_geo.ownmarks import LAST_WORDS, WRITTEN_BY
from grownj_geo.rows_block import cell_text
from grownj_geo.tableformats import plain_columns
from grownj_geo.units import to_lonlat

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from grownj_geo.rows_block import OutColumn
    from grownj_geo.tableout import Whole

__all__ = ["write_geojson", "write_geopackage"]

_DECIMALS = 9
_LAYER = "sites"
_SHAPE = "geom"
_FULL = "disk is full"
_NO_ROOM = 1 << 16
_CLOCK = "1980-01-01T00:00:00.000Z"


def _shapes(table: Any) -> NDArray[Any]:  # noqa: ANN401 - pyarrow has no types
    wkb = np.empty(table.num_rows, dtype=object)
    wkb[:] = table.column(table.num_columns - 1).to_pylist()
    return np.asarray(shapely.from_wkb(wkb), dtype=object)


def write_geojson(whole: Whole, path: Path) -> tuple[Change, ...]:
    """Write GeoJSON in longitude and latitude, one feature to a line.

    Parameters
    ----------
    whole
        What to write; geometry in its `crs`.
    path
        Where.

    Returns
    -------
    tuple of Change
        Of features whose geometry has no longitude and latitude.
    """
    system = declared_system(whole.crs or "", Findings(path.name))
    as_is = system.is_degrees and system.one_datum

    def lonlat(xy: NDArray[np.float64]) -> NDArray[np.float64]:
        working = system.forward(xy)
        degrees: NDArray[np.float64] = np.column_stack(to_lonlat(working[:, 0], working[:, 1]))
        return degrees.round(_DECIMALS)

    names = [json.dumps(column.name, ensure_ascii=False) for column in whole.columns]
    lost: list[int] = []
    number = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f'{{"type": "FeatureCollection", "generator": "{WRITTEN_BY}", ')
        if whole.about is not None:
            file.write(f'"about": {json.dumps(whole.about, ensure_ascii=False)},\n')
        file.write('"features": [')
        for table in whole.parts:
            shapes = _shapes(table)
            shapes = shapes if as_is else shapely.transform(shapes, lonlat)
            finite = np.isfinite(shapely.bounds(shapes).reshape(-1, 4)).all(axis=1)
            gone = ~shapely.is_missing(shapes) & ~shapely.is_empty(shapes) & ~finite
            lost += [number + int(i) + 1 for i in np.flatnonzero(gone)]
            shapes[gone] = None
            drawn = [shape or "null" for shape in shapely.to_geojson(shapes).tolist()]
            rows = zip(*plain_columns(table, whole.columns), strict=True) if names else ((),) * table.num_rows
            for shape, row in zip(drawn, rows, strict=True):
                values = ", ".join(f"{name}: {_json(value)}" for name, value in zip(names, row, strict=True))
                comma = "," if number else ""
                file.write(f'{comma}\n{{"type": "Feature", "properties": {{{values}}}, "geometry": {shape}}}')
                number += 1
        file.write("\n]}\n")
    if not lost:
        return ()
    words = "Geometries that have no longitude and latitude were left out; their rows are there."
    return (Change.about("geometry_not_written", "left_out", lost, words),)


def _json(value: Any) -> str:  # noqa: ANN401 - of many kinds
    if isinstance(value, float) and not math.isfinite(value):
        return "null"
    if value is None or isinstance(value, bool | int | float | str):
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(cell_text(value), ensure_ascii=False)


def write_geopackage(whole: Whole, path: Path) -> tuple[Change, ...]:
    """Write a GeoPackage of one layer, ``sites``; its clock stands still, so that the same rows give the same bytes.

    Parameters
    ----------
    whole
        What to write; geometry in its `crs`.
    path
        Where.

    Returns
    -------
    tuple of Change
        Of fields that had to be renamed: a GeoPackage does not tell capitals apart, and keeps two names for itself.

    Raises
    ------
    LayerFault
        ``not_written`` where GDAL cannot write, or did not write all rows.
    """
    import pyarrow as pa  # noqa: PLC0415 - only a GeoPackage needs these
    import pyogrio  # noqa: PLC0415

    from grownj_geo.readers_gdal import gdal  # noqa: PLC0415

    gdal()
    names = _field_names(whole.columns)
    schema = pa.schema([*(pa.field(n, _kind(c)) for n, c in zip(names, whole.columns, strict=True)), _shape_field()])

    def batches() -> Iterator[Any]:
        for table in whole.parts:
            arrays = [_fitting(table, column) for column in whole.columns]
            shape = table.column(table.num_columns - 1).combine_chunks()
            joined = shape.chunk(0) if isinstance(shape, pa.ChunkedArray) else shape
            yield pa.RecordBatch.from_arrays([*arrays, joined], schema=schema)

    before = pyogrio.get_gdal_config_option("OGR_CURRENT_DATE")
    pyogrio.set_gdal_config_options({"OGR_CURRENT_DATE": _CLOCK})
    try:
        pyogrio.write_arrow(
            pa.RecordBatchReader.from_batches(schema, batches()),
            path,
            layer=_LAYER,
            driver="GPKG",
            geometry_name=_SHAPE,
            geometry_type="Unknown",
            crs=whole.crs,
            layer_options={"DESCRIPTION": LAST_WORDS},
        )
        written = int(pyogrio.read_info(path, layer=_LAYER, force_feature_count=True)["features"])
    except (pyogrio.errors.DataSourceError, pyogrio.errors.DataLayerError, pyogrio.errors.FeatureError) as error:
        if _FULL in str(error) or shutil.disk_usage(path.parent).free < _NO_ROOM:
            # SQLite says so in words or not at all; the number of the system's own error is lost on the way.
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
        raise LayerFault("not_written", f"{path.name} could not be written by GDAL ({error}).") from error
    finally:
        pyogrio.set_gdal_config_options({"OGR_CURRENT_DATE": before})
    if written != whole.rows:
        raise LayerFault("not_written", f"{path.name} has {written:,} rows; expected {whole.rows:,}. Is there room?")
    with closing(sqlite3.connect(path)) as base:
        sound = base.execute("PRAGMA quick_check").fetchone()[0]
    if sound != "ok":
        raise LayerFault("not_written", f"{path.name} did not come back sound from the disk ({sound}). Check the disk.")
    renamed = [f"{c.name!r} is {n!r}" for n, c in zip(names, whole.columns, strict=True) if n != c.name]
    if not renamed:
        return ()
    words = f"Fields were renamed, as a GeoPackage asks: {', '.join(renamed)}."
    return (Change(kind="columns_renamed", effect="changed", count=len(renamed), words=words),)


def _field_names(columns: Sequence[OutColumn]) -> list[str]:
    taken = {"fid", _SHAPE, "ogc_fid", "rowid"}
    names: list[str] = []
    for column in columns:
        base = column.name.replace("\0", "")
        name, number = base, 1
        while name.casefold() in taken:
            number += 1
            name = f"{base}_{number}"
        taken.add(name.casefold())
        names.append(name)
    return names


def _shape_field() -> Any:  # noqa: ANN401 - pyarrow has no types
    import pyarrow as pa  # noqa: PLC0415

    return pa.field(_SHAPE, pa.binary(), metadata={"ARROW:extension:name": "ogc.wkb"})


def _kind(column: OutColumn) -> Any:  # noqa: ANN401
    import pyarrow as pa  # noqa: PLC0415

    kinds: dict[str, Any] = {
        "integer": pa.int64(),
        "number": pa.float64(),
        "boolean": pa.bool_(),
        "date": pa.date32(),
        "datetime": pa.timestamp("ms"),
    }
    zoned = column.arrow is not None and getattr(column.arrow, "tz", None) is not None
    large = column.arrow is not None and column.arrow == pa.uint64()
    # What SQLite does not have, it gets as text.
    return pa.string() if zoned or large else kinds.get(column.type, pa.string())


def _fitting(table: Any, column: OutColumn) -> Any:  # noqa: ANN401
    """Return a column of a part in a type that a GeoPackage has."""
    import pyarrow as pa  # noqa: PLC0415

    kind = _kind(column)
    if kind == pa.string():
        (values,) = plain_columns(table, [column])
        return pa.array([None if value is None else cell_text(value) for value in values], pa.string())
    array = table.column(column.name).combine_chunks()
    array = array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
    return array.cast(kind, safe=False) if column.type == "datetime" else array.cast(kind)
