"""GeoPackage, file geodatabase and zipped shapefiles: layers, dictionary, styles."""

from __future__ import annotations

import csv
import io
import re
import shutil
import sqlite3
import warnings
import zipfile
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import shapely

from grownj_geo.exportstyles import qml, sld
from grownj_geo.features import Change, LayerFault
from grownj_geo.rows_block import cell_text
from grownj_geo.tableformats import guarded
from grownj_geo.units import WORKING_CRS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from grownj_geo.exporttables import ExportTable

__all__ = [
    "DICTIONARY_FIELDS",
    "dictionary_rows",
    "write_geodatabase",
    "write_geopackage",
    "write_shapefiles",
]

DICTIONARY_FIELDS = ("layer", "field", "shapefile_field", "type", "meaning")
"""What the dictionary of a file says of each field."""

_SHAPE = "geom"
_CLOCK = "1980-01-01T00:00:00.000Z"
_DAY = (1980, 1, 1, 0, 0, 0)
_MOST_DBF_BYTES = 254
_MOST_PLAIN = 60
_RESERVED = frozenset({"fid", "ogc_fid", "rowid", "objectid", "shape", "shape_length", "shape_area", _SHAPE})
_STYLES = """
CREATE TABLE layer_styles (
  id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, f_table_catalog TEXT(256), f_table_schema TEXT(256),
  f_table_name TEXT(256), f_geometry_column TEXT(256), styleName TEXT(30), styleQML TEXT, styleSLD TEXT,
  useAsDefault BOOLEAN, description TEXT, owner TEXT(30), ui TEXT(30),
  update_time DATETIME DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')))
"""


def dictionary_rows(tables: Sequence[ExportTable]) -> list[tuple[str, ...]]:
    """Return what each field of each layer means, as `DICTIONARY_FIELDS` has it."""
    return [(t.name, f.name, f.short, f.type, f.meaning) for t in tables for f in t.fields]


def write_geopackage(tables: Sequence[ExportTable], path: Path, *, about: Mapping[str, str]) -> tuple[Change, ...]:
    """Write a GeoPackage: a layer for each table, tables ``dictionary`` and ``about``, and styles that QGIS applies.

    Parameters
    ----------
    tables, path
        What, and where.
    about
        What is said of the whole, by headings.

    Returns
    -------
    tuple of Change
        Of fields that had to be renamed.

    Raises
    ------
    LayerFault
        ``not_written`` where GDAL cannot write, or did not write all.
    """
    told = _write_layers(tables, path, "GPKG", about)
    with closing(sqlite3.connect(path)) as base, base:
        base.execute(_STYLES)
        base.execute(
            "INSERT INTO gpkg_contents (table_name, data_type, identifier, last_change) VALUES (?, ?, ?, ?)",
            ("layer_styles", "attributes", "layer_styles", _CLOCK),
        )
        base.executemany(
            "INSERT INTO layer_styles (f_table_catalog, f_table_schema, f_table_name, f_geometry_column, styleName, "
            "styleQML, styleSLD, useAsDefault, description, owner, ui, update_time) "
            "VALUES ('', '', ?, ?, ?, ?, ?, 1, ?, '', '', ?)",
            [
                (t.name, _SHAPE, t.name[:30], qml(t.look), sld(t.look, name=t.name, title=t.label), t.label, _CLOCK)
                for t in tables
            ],
        )
        sound = base.execute("PRAGMA quick_check").fetchone()[0]
    if sound != "ok":
        raise LayerFault("not_written", f"{path.name} did not come back sound from the disk ({sound}). Check the disk.")
    return told


def write_geodatabase(tables: Sequence[ExportTable], path: Path, *, about: Mapping[str, str]) -> tuple[Change, ...]:
    """Write a file geodatabase, a folder, with the same layers and tables; it has no place for styles.

    Parameters
    ----------
    tables, path, about
        As for `write_geopackage`.

    Returns
    -------
    tuple of Change
        Of fields that had to be renamed.

    Raises
    ------
    LayerFault
        ``not_written`` where GDAL cannot write, or did not write all.
    """
    return _write_layers(tables, path, "OpenFileGDB", about)


def _write_layers(
    tables: Sequence[ExportTable], path: Path, driver: str, about: Mapping[str, str]
) -> tuple[Change, ...]:
    renamed: list[str] = []
    with _clock_stopped():
        for table in tables:
            names = _free_names([field.name for field in table.fields], plain=driver == "OpenFileGDB")
            renamed += [f"{f.name!r} is {n!r}" for f, n in zip(table.fields, names, strict=True) if f.name != n]
            _write_layer(table, names, path, driver, layer=table.name)
        _write_plain(
            dict(zip(DICTIONARY_FIELDS, zip(*dictionary_rows(tables), strict=True), strict=True)), path, driver
        )
        _write_plain({"what": tuple(about), "words": tuple(about.values())}, path, driver, layer="about")
    if not renamed:
        return ()
    words = f"Fields were renamed, as the format asks: {', '.join(dict.fromkeys(renamed))}."
    return (Change(kind="columns_renamed", effect="changed", count=len(renamed), words=words),)


@contextmanager
def _clock_stopped() -> Iterator[None]:
    """Let GDAL write no time of day, so that the same features give the same bytes."""
    import pyogrio  # noqa: PLC0415 - only where GDAL writes

    before = pyogrio.get_gdal_config_option("OGR_CURRENT_DATE")
    pyogrio.set_gdal_config_options({"OGR_CURRENT_DATE": _CLOCK})
    try:
        yield
    finally:
        pyogrio.set_gdal_config_options({"OGR_CURRENT_DATE": before})


def _free_names(names: Sequence[str], *, plain: bool) -> list[str]:
    """Return names that differ whatever the case, none that a format keeps for itself, and plain ones if need be."""
    taken, found = set(_RESERVED), []
    for each in names:
        base = each
        if plain:
            base = re.sub(r"\W", "_", each, flags=re.ASCII)[:_MOST_PLAIN]
            base = base if base[:1].isalpha() else f"f_{base}"
        name, number = base, 1
        while name.casefold() in taken:
            number += 1
            name = f"{base}_{number}"
        taken.add(name.casefold())
        found.append(name)
    return found


def _kinds() -> dict[str, Any]:
    import pyarrow as pa  # noqa: PLC0415 - same

    return {"text": pa.string(), "integer": pa.int32(), "number": pa.float64(), "boolean": pa.bool_()}


def _write_layer(table: ExportTable, names: Sequence[str], path: Path, driver: str, *, layer: str, **more: Any) -> None:  # noqa: ANN401 - of GDAL
    import pyarrow as pa  # noqa: PLC0415 - same

    kinds = _kinds()
    wkb = shapely.to_wkb(_as_multi(table), include_srid=False)
    arrays = [pa.array(table.values[f.name], kinds[f.type]) for f in table.fields]
    fields = [pa.field(name, array.type) for name, array in zip(names, arrays, strict=True)]
    shape = pa.field(_SHAPE, pa.binary(), metadata={"ARROW:extension:name": "ogc.wkb"})
    batch = pa.Table.from_arrays([*arrays, pa.array(wkb.tolist(), pa.binary())], schema=pa.schema([*fields, shape]))
    if driver == "GPKG":
        if not path.exists():
            more["dataset_options"] = {"VERSION": "1.3"}  # older releases of QGIS warn of newer ones
        more["layer_options"] = {"IDENTIFIER": table.label, "DESCRIPTION": table.about}
    elif driver == "OpenFileGDB":
        more["layer_options"] = {"LAYER_ALIAS": table.label}
    _to_gdal(
        batch, path, driver, layer=layer, geometry_name=_SHAPE,
        geometry_type="Point" if table.points else "MultiPolygon", crs=WORKING_CRS, **more,
    )  # fmt: skip


def _as_multi(table: ExportTable) -> Any:  # noqa: ANN401 - an array of geometries
    """Return geometries of the one type of their layer: points, each one, or multipolygons."""
    shapes = table.geometries.copy()
    for row, shape in enumerate(shapes):
        if shape is None:
            continue
        if table.points:
            # A site of several points is drawn at its middle; the table says all the rest.
            shapes[row] = shape if shape.geom_type == "Point" else shapely.centroid(shape)
        elif shape.geom_type == "Polygon":
            shapes[row] = shapely.multipolygons([shape])
    return shapes


def _write_plain(columns: Mapping[str, Sequence[str]], path: Path, driver: str, *, layer: str = "dictionary") -> None:
    import pyarrow as pa  # noqa: PLC0415 - same

    table = pa.table({name: pa.array(list(values), pa.string()) for name, values in columns.items()})
    _to_gdal(table, path, driver, layer=layer)


def _to_gdal(table: Any, path: Path, driver: str, *, layer: str, **more: Any) -> None:  # noqa: ANN401 - pyarrow, GDAL
    import pyogrio  # noqa: PLC0415 - same

    try:
        with warnings.catch_warnings():
            # That many islands take long: nothing that anybody could do something about.
            warnings.filterwarnings("ignore", message="organizePolygons")
            pyogrio.write_arrow(table, path, layer=layer, driver=driver, append=path.exists(), **more)
        written = int(pyogrio.read_info(path, layer=layer, force_feature_count=True)["features"])
    except (pyogrio.errors.DataSourceError, pyogrio.errors.DataLayerError, pyogrio.errors.FeatureError) as error:
        raise LayerFault(
            "not_written", f"{path.name} could not be written by GDAL ({error}). Is there room?"
        ) from error
    if written != table.num_rows:
        raise LayerFault(
            "not_written", f"{path.name} has {written:,} rows in {layer}; expected {table.num_rows:,}. Is there room?"
        )


# -- shapefiles ----------------------------------------------------------------------------------------


def write_shapefiles(
    tables: Sequence[ExportTable], path: Path, *, about: Mapping[str, str], work: Path
) -> tuple[Change, ...]:
    """Write a zip file with a shapefile for each table, styles beside each, all texts in full, and a dictionary.

    A shapefile's text ends at 254 bytes; what is longer is cut there, and stands whole in the CSV file of the same
    name, joined by the row's number.

    Parameters
    ----------
    tables, path, about
        As for `write_geopackage`.
    work
        An empty folder for what is zipped; it is emptied again.

    Returns
    -------
    tuple of Change
        Of texts that were cut.

    Raises
    ------
    LayerFault
        ``not_written`` where GDAL cannot write, or did not write all.
    """
    cut = 0
    for table in tables:
        shortened, number = _short_texts(table)
        cut += number
        _write_layer(
            shortened, [f.short for f in table.fields], work / f"{table.name}.shp", "ESRI Shapefile",
            layer=table.name, encoding="UTF-8",
        )  # fmt: skip
        field = next(f.short for f in table.fields if f.name == table.look.field)
        (work / f"{table.name}.qml").write_text(qml(table.look, field=field), encoding="utf-8")
        described = sld(table.look, name=table.name, title=table.label, field=field)
        (work / f"{table.name}.sld").write_text(described, encoding="utf-8")
        if number:
            rows = zip(*(table.values[f.name] for f in table.fields), strict=True)
            _write_csv(work / f"{table.name}.csv", ("row", *(f.name for f in table.fields)), _numbered(rows))
    _write_csv(work / "dictionary.csv", DICTIONARY_FIELDS, dictionary_rows(tables))
    _write_csv(work / "about.csv", ("what", "words"), about.items())
    with zipfile.ZipFile(path, "w", allowZip64=True) as target:
        for file in sorted(work.iterdir()):
            entry = zipfile.ZipInfo(file.name, _DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            with file.open("rb") as source, target.open(entry, "w", force_zip64=True) as out:
                shutil.copyfileobj(source, out)
            file.unlink()
    if not cut:
        return ()
    words = "Texts longer than a shapefile holds (254 bytes) were cut; they stand whole in the CSV files beside."
    return (Change(kind="text_cut", effect="changed", count=cut, words=words),)


def _numbered(rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Yield rows with their number before, counted from 0 as GIS programs count the features of a shapefile."""
    for number, row in enumerate(rows):
        yield (number, *row)


def _write_csv(path: Path, header: Sequence[str], rows: Any) -> None:  # noqa: ANN401 - any rows
    page = io.StringIO(newline="")
    writer = csv.writer(page, lineterminator="\r\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([guarded(value) if isinstance(value, str) else cell_text(value) for value in row])
    path.write_bytes(page.getvalue().encode())


def _short_texts(table: ExportTable) -> tuple[ExportTable, int]:
    """Return the table with texts that a shapefile holds, and how many had to be cut."""
    number, values = 0, dict(table.values)
    for field in table.fields:
        if field.type != "text":
            continue
        fitted = [None if value is None else _fitted(value) for value in values[field.name]]
        number += sum(a != b for a, b in zip(fitted, values[field.name], strict=True))
        values[field.name] = fitted
    return replace(table, values=values), number


def _fitted(text: str) -> str:
    content = text.encode("utf-8", "replace")
    if len(content) <= _MOST_DBF_BYTES:
        return text
    # No letter is cut in two: a broken one at the end is left out.
    return content[: _MOST_DBF_BYTES - len("…".encode())].decode("utf-8", "ignore") + "…"
