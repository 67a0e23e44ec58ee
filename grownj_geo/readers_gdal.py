"""Reading one layer of a file through GDAL, and turning well-known binary and Arrow columns into plain values.

GDAL is given a file only after the file's own bytes were looked at, and only by a plain local path.
"""

from __future__ import annotations

import json
import re
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.features import Change, Features, LayerFault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = [
    "Announced",
    "Decoder",
    "check_twice",
    "column_values",
    "gdal",
    "has_curve",
    "layer_info",
    "list_layers",
    "quiet_gdal",
    "read_layer_of",
    "shut_drivers",
]

ARC_STEP_DEGREES = 0.25
"""Curves become chords of this angle: off the arc by at most 2.4 millionths of its radius, 0.2 ft at 15 miles."""

_CONFIG: dict[str, Any] = {
    "OGR_ARC_STEPSIZE": ARC_STEP_DEGREES,
    # Nothing that a file says makes GDAL ask the network: no name has this ending, and no host is this proxy.
    "CPL_VSIL_CURL_ALLOWED_EXTENSIONS": ".no_such_ending",
    "GDAL_HTTP_PROXY": "127.0.0.1:9",
    "GDAL_HTTPS_PROXY": "127.0.0.1:9",
    "GDAL_HTTP_CONNECTTIMEOUT": 1,
    "OGR_SQLITE_ALLOW_EXTERNAL_ACCESS": "NO",
    "OGR_SQLITE_LOAD_EXTENSIONS": None,
    "SHAPE_RESTORE_SHX": "NO",
    "LIBKML_RESOLVE_STYLE": "NO",
}
_BATCH = 8_192
_EWKB_M = 0x40000000
_CURVES = frozenset({8, 9, 10, 11, 12, 13, 14})
_WKB_HEAD = 5
_COLLECTION = 7
_TEXT_GEOMETRY = "wkb_geometry"


def shut_drivers() -> bool:
    """Keep all of GDAL's other drivers out of this process, and return whether that was still possible.

    GDAL reads its list of drivers to skip once, when it is first imported. A process of our own, such as the command
    line, calls this first. A library must not: it would take formats away from whoever uses GDAL beside it. There the
    look at the file's own bytes, and the check of the driver that opened it, have to do.
    """
    import os  # noqa: PLC0415 - with what follows, of use to the command line only
    import sys  # noqa: PLC0415

    if "pyogrio" in sys.modules:
        return False
    # GDAL complains of each that it was not built with; where its complaints go is settled by the first of them.
    words = {"GDAL_SKIP": _OTHER_DRIVERS, "CPL_LOG": os.devnull}
    before = {name: os.environ.get(name) for name in words}
    os.environ.update(words)
    try:
        import pyogrio  # noqa: F401, PLC0415
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    return True


# GDAL's drivers for vector data that are compiled into the usual wheels and packages, without those used here.
_OTHER_DRIVERS = (
    "OGR_VRT,VRT,GDALG,WFS,OAPIF,OGCAPI,CSW,EEDA,Elasticsearch,Carto,AmigoCloud,PLSCENES,NGW,HTTP,MVT,MBTiles,PMTiles,"
    "GTFS,ADBC,GML,GMLAS,GPX,KML,GeoRSS,MapML,CSV,ODS,XLSX,XLS,SQLite,ESRIJSON,TopoJSON,JSONFG,GeoJSONSeq,DXF,DGN,S57,"
    "OSM,MapInfo File,FlatGeobuf,LVBAG,VFK,VDV,EDIGEO,SXF,Selafin,JML,WAsP,Idrisi,OGR_GMT,OGR_PDS,PDS4,VICAR,PCIDSK,"
    "PDF,PGDUMP,GPSBabel,AVCBin,AVCE00,AIVector,Geoconcept,TIGER,SVG,UK .NTF,OGR_SDTS,Interlis 1,Interlis 2,NAS,SOSI,"
    "CAD,DWG,MiraMonVector,MEM,Memory,PostgreSQL,MySQL,MongoDBv3,ODBC,PGeo,MSSQLSpatial,OCI"
)


def gdal() -> Any:  # noqa: ANN401 - a module without types
    """Return the binding to GDAL."""
    # Imported here: it takes a third of a second, and only loading a layer needs it.
    import pyogrio  # noqa: PLC0415

    return pyogrio


@dataclass
class _Said:
    """What GDAL said while it read."""

    lines: list[str] = field(default_factory=list)


@contextmanager
def quiet_gdal(source: str) -> Iterator[_Said]:
    """Run GDAL with our settings; collect its warnings, and turn its errors into a fault.

    Raises
    ------
    LayerFault
        ``unreadable``, whatever GDAL or Arrow raised.
    """
    pyogrio = gdal()
    before = {name: pyogrio.get_gdal_config_option(name) for name in _CONFIG}
    pyogrio.set_gdal_config_options(_CONFIG)
    said = _Said()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield said
        said.lines = list(dict.fromkeys(str(w.message) for w in caught))
    except LayerFault:
        raise
    # pyogrio's errors, pyarrow's, and the MemoryError of a damaged length: each of them means that it was not read.
    except Exception as error:
        raise LayerFault(
            "unreadable",
            f"{source} cannot be read: {_plain(str(error)) or type(error).__name__}. "
            "Expected a whole file: get or export it again.",
        ) from error
    finally:
        pyogrio.set_gdal_config_options(before)


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().rstrip(".")[:400]


def list_layers(
    gdal_path: str,
    *,
    source: str,
    drivers: tuple[str, ...],
    names: Sequence[str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> list[tuple[str, str | None, int]]:
    """Return name, GDAL's geometry type (None: a table) and number of features of a file's layers.

    `names` and `options` (the driver's own, of opening) spare GDAL's own list, which takes no options.

    Raises
    ------
    LayerFault
        ``unreadable``, or ``wrong_format`` where another driver opened the file than the expected ones.
    """
    pyogrio = gdal()
    with quiet_gdal(source):
        found = []
        for name in pyogrio.list_layers(gdal_path)[:, 0] if names is None else names:
            info = layer_info(gdal_path, str(name), source=source, drivers=drivers, options=options or {})
            found.append((str(name), info["geometry_type"], int(info["features"])))
        return found


def layer_info(
    gdal_path: str, layer: str | None, *, source: str, drivers: tuple[str, ...], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what GDAL says of a layer, after comparing which of its drivers opened the file.

    Raises
    ------
    LayerFault
        ``wrong_format`` where another driver did than the expected ones.
    """
    info: dict[str, Any] = gdal().read_info(gdal_path, layer=layer, force_feature_count=True, **options)
    driver = info["driver"]
    if driver not in drivers:
        raise LayerFault(
            "wrong_format",
            f"{source} was opened by GDAL's driver {driver}; expected {' or '.join(drivers)}. "
            "Export it again in the format that its name says.",
        )
    return info


@dataclass(frozen=True)
class Announced:
    """What a file itself says that it holds; None where it says nothing.

    Attributes
    ----------
    features, nulls, vertices
        Numbers of features, of those without geometry, and of coordinates in all geometries.
    """

    features: int | None = None
    nulls: int | None = None
    vertices: int | None = None


class Decoder:
    """Turns well-known binary into plane shapely geometries, and keeps account of what that changed.

    Parameters
    ----------
    source
        What messages call the file.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.parts: list[NDArray[Any]] = []
        self.count = 0
        self.vertices = 0
        self.z_rows: list[int] = []
        self.m_rows: list[int] = []
        self.flat_rows: list[int] = []
        self.curved: list[int] = []
        self.broken: dict[int, str] = {}

    def add(self, values: Sequence[bytes | None]) -> None:
        """Decode some more geometries, of rows that follow those before."""
        wkb = np.empty(len(values), dtype=object)
        wkb[:] = list(values)
        for i, value in enumerate(values):
            self._look(self.count + i + 1, value)
        wkb[[row - self.count - 1 for row in self.curved if row > self.count]] = None
        try:
            shapes = shapely.from_wkb(wkb)
        except (shapely.errors.ShapelyError, NotImplementedError):
            shapes = np.array([self._one(self.count + i + 1, value) for i, value in enumerate(wkb)], dtype=object)
        for i in map(int, np.flatnonzero(shapely.get_type_id(shapes) == _COLLECTION)):
            if has_curve(shapes[i]):
                self.curved.append(self.count + i + 1)
                shapes[i] = None
        self.parts.append(self._flat(shapes))
        self.count += len(values)

    def _look(self, row: int, value: bytes | None) -> None:
        if value is None or len(value) < _WKB_HEAD:
            if value is not None:
                self.broken[row] = "its geometry is cut short"
            return
        code = int.from_bytes(value[1:_WKB_HEAD], "little" if value[0] else "big")
        kind, dimensions = (code & 0xFFFF) % 1000, (code & 0xFFFF) // 1000
        if code & _EWKB_M or dimensions in {2, 3}:
            self.m_rows.append(row)
        if kind in _CURVES:
            self.curved.append(row)

    def _one(self, row: int, value: bytes | None) -> shapely.Geometry | None:
        try:
            return shapely.from_wkb(value)
        except (shapely.errors.ShapelyError, NotImplementedError) as error:
            # A collection says in its own first bytes nothing of the curves in it.
            if "onlinear" in str(error) or "Unknown WKB type" in str(error):
                self.curved.append(row)
            else:
                self.broken[row] = _plain(str(error))
            return None

    def _flat(self, shapes: NDArray[Any]) -> NDArray[Any]:
        high = np.flatnonzero(shapely.has_z(shapes))
        for i in map(int, high):
            z = shapely.get_coordinates(shapes[i], include_z=True)[:, 2]
            rows = self.z_rows if np.any(np.nan_to_num(z) != 0) else self.flat_rows
            rows.append(self.count + i + 1)
        if len(high) or (self.m_rows and self.m_rows[-1] > self.count):
            shapes = shapely.force_2d(shapes)
        self.vertices += int(shapely.get_num_coordinates(shapes).sum())
        return shapes

    def put(self, row: int, shape: shapely.Geometry | None) -> None:
        """Put a geometry in the place of one that could not be decoded."""
        for part in self.parts:
            if row <= len(part):
                part[row - 1] = shape
                return
            row -= len(part)

    def finish(self) -> tuple[NDArray[Any], list[Change]]:
        """Return all geometries, shape (n,), and what was changed.

        Raises
        ------
        LayerFault
            ``broken_geometry`` where one cannot be decoded.
        """
        if self.broken:
            row, problem = min(self.broken.items())
            raise LayerFault(
                "broken_geometry",
                f"{self.source}, row {row}: {problem} ({len(self.broken):,} such rows). "
                "Expected geometry that can be drawn: repair the file in a GIS and export it again.",
            )
        shapes = np.concatenate(self.parts) if self.parts else np.empty(0, dtype=object)
        changes = []
        if self.z_rows:
            words = "Heights (Z) were left out: everything is measured in the plane."
            changes.append(Change.about("z_dropped", "changed", self.z_rows, words))
        if self.flat_rows:
            words = "Heights (Z) were left out; all of them were 0."
            changes.append(Change.about("z_zero", "noted", self.flat_rows, words))
        if self.m_rows:
            words = "Measures (M) were left out: nothing here is measured along a line."
            changes.append(Change.about("m_dropped", "changed", self.m_rows, words))
        if self.curved:
            words = (
                f"Curves were replaced by chords of {ARC_STEP_DEGREES:g} degree, which lie off the arc by at most "
                "2.4 millionths of its radius."
            )
            changes.append(Change.about("curves_linearised", "changed", sorted(self.curved), words))
        return shapes, changes


def has_curve(shape: shapely.Geometry) -> bool:
    """Return whether a collection has a curve in it, which newer versions of GEOS let through."""
    if shapely.get_type_id(shape) != _COLLECTION:
        return bool(shapely.get_type_id(shape) > _COLLECTION)
    try:
        parts = shapely.get_parts(shape)
    except NotImplementedError:  # what shapely says of a curve when it meets one
        return True
    return any(has_curve(part) for part in parts)


def read_layer_of(
    gdal_path: str,
    *,
    layer: str | None,
    source: str,
    drivers: tuple[str, ...],
    announced: Announced,
    options: Mapping[str, Any] | None = None,
) -> Features:
    """Read one layer of a file whole.

    Parameters
    ----------
    gdal_path
        An absolute local path, perhaps after a driver's own prefix.
    layer
        Its name; None for the first.
    source
        What messages call it.
    drivers
        GDAL's drivers of which one has to be the one that opened the file.
    announced
        What the file itself says that it holds.
    options
        The driver's own options of opening.

    Raises
    ------
    LayerFault
        ``unreadable``, ``wrong_format``, ``truncated``, ``duplicate_fields`` or ``broken_geometry``.
    """
    opening = dict(options or {})
    decoder = Decoder(source)
    with quiet_gdal(source) as said:
        info = layer_info(gdal_path, layer, source=source, drivers=drivers, options=opening)
        fid = info.get("fid_column")
        # GDAL takes a GeoJSON property named id for the row's number, and gives it as an attribute all the same.
        fids = bool(fid) and fid not in list(info["fields"])
        meta, columns, left_out = _read_arrow(gdal_path, layer, decoder, opening, fids=fids)
        if decoder.curved:
            _straighten(gdal_path, layer, decoder, opening)
    counted = int(info["features"])
    shapes, changes = decoder.finish()
    _check_counts(source, shapes, decoder.vertices, announced, counted)
    if left_out:
        words = f"Fields of a kind that no rule uses were not read: {', '.join(left_out)}."
        changes.append(Change(kind="fields_not_read", effect="noted", count=len(left_out), words=words))
    spoken = [line for line in said.lines if not line.startswith("Measured (M) geometry types are not supported")]
    if spoken:
        words = f"GDAL said while reading: {'; '.join(map(_plain, spoken[:5]))}."
        changes.append(Change(kind="reader_warned", effect="noted", count=len(spoken), words=words))
    crs = meta["crs"]
    return Features(source, columns, shapes, str(crs) if crs else None, tuple(changes))


def _read_arrow(
    gdal_path: str, layer: str | None, decoder: Decoder, options: dict[str, Any], *, fids: bool
) -> tuple[dict[str, Any], dict[str, list[Any]], list[str]]:
    from pyogrio.raw import open_arrow  # noqa: PLC0415 - see gdal()

    stream = open_arrow(gdal_path, layer=layer, use_pyarrow=True, batch_size=_BATCH, return_fids=fids, **options)
    with stream as (meta, reader):
        names = list(reader.schema.names)
        shape_name = None if meta["geometry_type"] is None else meta["geometry_name"] or _TEXT_GEOMETRY
        # An attribute may have the geometry's name; the geometry comes last.
        shape_at = -1 if shape_name is None else len(names) - 1 - names[::-1].index(shape_name)
        kept = [(i, name) for i, name in enumerate(names) if i != shape_at]
        check_twice(decoder.source, [name for _, name in kept])
        columns: dict[str, list[Any]] = {name: [] for _, name in kept}
        left_out: list[str] = []
        for batch in reader:
            for i, name in kept:
                values = column_values(batch.column(i))
                if values is None:
                    left_out.append(name)
                else:
                    columns[name].extend(values)
            rows = batch.num_rows
            decoder.add([None] * rows if shape_at < 0 else batch.column(shape_at).to_pylist())
        missing = list(dict.fromkeys(left_out))
        return meta, {name: column for name, column in columns.items() if name not in missing}, missing


def check_twice(source: str, names: list[str]) -> None:
    """Refuse a file with two fields of one name.

    Raises
    ------
    LayerFault
        ``duplicate_fields``.
    """
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise LayerFault(
            "duplicate_fields",
            f"{source} has two fields named {', '.join(twice)}; expected every name once. Rename one of them.",
        )


def _straighten(gdal_path: str, layer: str | None, decoder: Decoder, options: dict[str, Any]) -> None:
    """Read the curved geometries again, as GDAL's chords: shapely has no curves."""
    from pyogrio.raw import read  # noqa: PLC0415 - see gdal()

    _, _, wkb, _ = read(gdal_path, layer=layer, columns=[], force_2d=True, **options)
    for row in decoder.curved:
        try:
            shape = shapely.from_wkb(wkb[row - 1])
        except (shapely.errors.ShapelyError, NotImplementedError):
            shape = None
        if shape is None or has_curve(shape):
            # GDAL leaves the curves alone that are in a collection.
            decoder.broken[row] = "its curves cannot be replaced by chords"
            continue
        decoder.put(row, shape)


def _check_counts(source: str, shapes: NDArray[Any], vertices: int, announced: Announced, counted: int) -> None:
    again = "Get or export the file again"
    expected = counted if announced.features is None else announced.features
    if expected not in {len(shapes), -1}:
        raise LayerFault(
            "truncated",
            f"{source}: {len(shapes):,} features could be read; expected {expected:,}, as the file says. {again}.",
        )
    nulls = int(shapely.is_missing(shapes).sum())
    if announced.nulls is not None and nulls != announced.nulls:
        row = int(np.flatnonzero(shapely.is_missing(shapes))[0]) + 1 if nulls else 0
        raise LayerFault(
            "broken_geometry",
            f"{source}: {nulls:,} features came out without geometry (the first is row {row}); expected "
            f"{announced.nulls:,}, as the file says. The geometry of the others cannot be read. {again}.",
        )
    if announced.vertices is not None and vertices != announced.vertices:
        raise LayerFault(
            "broken_geometry",
            f"{source}: {vertices:,} vertices could be read; expected {announced.vertices:,}, as the file has. "
            f"Some coordinates are no numbers or some rings are not closed. {again}.",
        )


def column_values(array: Any) -> list[Any] | None:  # noqa: ANN401 - pyarrow has no types
    """Return a column's values as plain Python values; None for a column of binary content.

    Lists and structures become JSON text.
    """
    import pyarrow as pa  # noqa: PLC0415 - only loading a layer needs it

    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        array, kind = getattr(array, "storage", array), kind.storage_type
    if pa.types.is_dictionary(kind):
        array, kind = array.dictionary_decode(), kind.value_type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return None
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        array = array.cast(pa.timestamp("us", kind.tz), safe=False)
    values: list[Any] = array.to_pylist()
    if pa.types.is_nested(kind):
        return [None if v is None else json.dumps(v, default=str, ensure_ascii=False) for v in values]
    return values
