"""Layers as files: GeoParquet in the working CRS and CSV tables, read and written.

What ships and what the user's store keeps is read here. Files of others come in through `readers` and `makelayer`.
"""

from __future__ import annotations

import hashlib
import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.errors import LayerError
from grownj_geo.layer import Layer
from grownj_geo.layercheck import check_layer, is_blank
from grownj_geo.readers_pages import bounded_batches
from grownj_geo.reference import read_table
from grownj_geo.units import WORKING_CRS, to_working

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grownj_geo.manifest import Manifest

__all__ = ["NOT_FIELDS", "read_layer", "write_layer"]

NOT_FIELDS = frozenset({"geometry", "bbox", "lonlat"})
"""Columns of a file that are no attributes."""
_CORNERS = ("xmin", "ymin", "xmax", "ymax")
_MOST_GEOMETRY_TYPES = 8
_GROUP = 5_000


def read_layer(manifest: Manifest, content: bytes, *, name: str | None = None, checked: bool = False) -> Layer:
    """Read a layer from the bytes of its file: GeoParquet in the working CRS, or CSV.

    Parameters
    ----------
    manifest
        What the layer is.
    content
        The file's bytes.
    name
        The file's name, as messages call it; the manifest's by default. Its ending says what it is.
    checked
        The content has gone through all checks before, and its checksum says that it is still the same: its
        geometry is not gone through again.

    Raises
    ------
    LayerError
        If the file is not readable, or is not what `check_layer` expects.
    """
    name = name or manifest.file or manifest.id
    layer = _read_parquet(manifest, content, name) if name.endswith(".parquet") else _read_csv(manifest, content, name)
    check_layer(layer, geometry=not checked)
    return layer


def _read_parquet(manifest: Manifest, content: bytes, name: str) -> Layer:
    # Imported here: a run that needs no polygons does not pay for it.
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        # Not read_table, which brings in pandas where it is installed: a third of a cold start.
        file = pq.ParquetFile(pa.BufferReader(content))
    except (pa.ArrowException, OSError) as error:
        raise LayerError(f"The layer file {name} is not readable Parquet: {error}. Load it again.") from error
    # A bundle may come from anybody: its files unpack to no more than a layer can have.
    batches = list(bounded_batches(content, columns=file.schema_arrow.names, source=f"The layer file {name}"))
    table = pa.Table.from_batches(batches) if batches else file.schema_arrow.empty_table()
    columns = {c: _values(table.column(c)) for c in table.column_names if c not in NOT_FIELDS}
    if manifest.kind == "table":
        return Layer(manifest, columns, np.full((table.num_rows, 4), np.nan), _fingerprint(content))
    if "geometry" not in table.column_names or "bbox" not in table.column_names:
        raise LayerError(f"The layer file {name} has no geometry and bbox columns; expected GeoParquet 1.1.")
    _check_crs((file.schema_arrow.metadata or {}).get(b"geo"), name)
    bounds = _struct(table.column("bbox"), _CORNERS)
    wkb = _values(table.column("geometry"))
    empty = [i for i, value in enumerate(wkb) if not value]
    if empty or not np.isfinite(bounds).all():
        raise LayerError(
            f"The layer file {name} has features without geometry (row {empty[0] + 1 if empty else 'unknown'})."
        )
    lonlat = _struct(table.column("lonlat"), ("lon", "lat")) if "lonlat" in table.column_names else None
    return Layer(manifest, columns, bounds, _fingerprint(content), wkb=wkb, lonlat=lonlat)


def _values(column: Any) -> list[Any]:  # noqa: ANN401 - pyarrow is untyped
    """Return the values of a column, whose text may be in dictionaries."""
    found: list[Any] = []
    for chunk in column.chunks:
        if hasattr(chunk, "dictionary"):
            # Not dictionary_decode, which brings in all of Arrow's functions: a tenth of a second of a cold start.
            words = chunk.dictionary.to_pylist()
            found += [None if i is None else words[i] for i in chunk.indices.to_pylist()]
        else:
            found += chunk.to_pylist()
    return found


def _struct(column: Any, fields: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float64]]:  # noqa: ANN401 - pyarrow is untyped
    """Return the number fields of a column of structs, shape (n, fields)."""
    # One chunk at a time: combining them would need the whole column twice.
    found = [np.concatenate([_floats(chunk.field(f)) for chunk in column.chunks] or [np.empty(0)]) for f in fields]
    return np.column_stack(found)


def _floats(values: Any) -> np.ndarray[Any, np.dtype[np.float64]]:  # noqa: ANN401 - pyarrow is untyped
    # Not to_numpy, which brings in pandas where it is installed: half of a cold start.
    if values.null_count or str(values.type) != "double":
        return np.array(values.to_pylist(), dtype=np.float64)
    return np.frombuffer(values.buffers()[1], dtype=np.float64)[values.offset : values.offset + len(values)]


def _check_crs(metadata: bytes | None, name: str) -> None:
    """Refuse a file that does not say that it is in the working CRS."""
    try:
        column = json.loads(metadata or b"{}")["columns"]["geometry"]
        # GeoParquet without a CRS is in degrees on WGS84.
        crs = column.get("crs", {"id": {"authority": "OGC", "code": "CRS84"}})
        code = "none" if crs is None else f"{crs['id']['authority']}:{crs['id']['code']}"
    except (ValueError, KeyError, TypeError, AttributeError):
        code = "unknown"
    if code != WORKING_CRS:
        raise LayerError(
            f"The layer file {name} is in the CRS {code}, as its GeoParquet metadata says; expected {WORKING_CRS} "
            "(New Jersey State Plane, US survey feet). Project it and write it again."
        )


def _read_csv(manifest: Manifest, content: bytes, name: str) -> Layer:
    columns = read_table(content, name=name)
    n = len(next(iter(columns.values())))
    if manifest.kind != "point":
        return Layer(manifest, columns, np.full((n, 4), np.nan), _fingerprint(content))
    try:
        lonlat = np.column_stack([np.array(columns[c], dtype=np.float64) for c in ("longitude", "latitude")])
    except (KeyError, ValueError) as error:
        raise LayerError(f"The layer file {name} needs numeric longitude and latitude columns: {error}.") from error
    x, y = to_working(lonlat[:, 0], lonlat[:, 1])
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise LayerError(f"The layer file {name} has coordinates that are not in New Jersey's range.")
    return Layer(manifest, columns, np.column_stack([x, y, x, y]), _fingerprint(content), lonlat=lonlat)


def _fingerprint(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write_layer(layer: Layer) -> bytes:
    """Return a layer as the bytes of a GeoParquet 1.1 file in the working CRS; a table has no geometry.

    Reading it again with the same manifest gives the same columns and geometries, bit for bit.

    Parameters
    ----------
    layer
        Every geometry has to be at hand.
    """
    import pyarrow as pa  # noqa: PLC0415 - writing is rare
    import pyarrow.parquet as pq  # noqa: PLC0415 - same

    arrays: dict[str, Any] = {name: _array(values) for name, values in layer.columns.items() if name not in NOT_FIELDS}
    metadata, shapes = {}, None
    if layer.manifest.kind != "table":
        shapes = _shapes(layer)
        arrays["geometry"] = pa.nulls(0, pa.binary())
        box = [pa.array(layer.bounds[:, i]) for i in range(4)]
        arrays["bbox"] = pa.StructArray.from_arrays(box, list(_CORNERS))
        metadata[b"geo"] = json.dumps(_geo(shapes)).encode()
    if layer.lonlat is not None:
        arrays["lonlat"] = pa.StructArray.from_arrays([pa.array(layer.lonlat[:, i]) for i in range(2)], ["lon", "lat"])
    schema = pa.schema([(name, array.type) for name, array in arrays.items()], metadata=metadata or None)
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        # Group by group: the geometries of a large layer as text of their own would take its size once more.
        for start in range(0, max(len(layer), 1), _GROUP):
            part = {name: array[start : start + _GROUP] for name, array in arrays.items()}
            if shapes is not None:
                part["geometry"] = pa.array(list(shapely.to_wkb(shapes[start : start + _GROUP])), pa.binary())
            writer.write_table(pa.table(part, schema=schema))
    return sink.getvalue()


def _shapes(layer: Layer) -> np.ndarray[Any, np.dtype[np.object_]]:
    if layer.manifest.kind == "point":
        return layer.points
    shapes = np.empty(len(layer), dtype=object)
    shapes[:] = [layer.geometry(i) for i in range(len(layer))]
    return shapes


def _array(values: Sequence[Any]) -> Any:  # noqa: ANN401 - pyarrow is untyped
    """Return a column; one that would not come back as it is is kept as text.

    Such as one that mixes kinds of values (whole numbers among others too), has lists, or numbers beyond 64 bits.
    """
    import pyarrow as pa  # noqa: PLC0415 - writing is rare

    try:
        array = pa.array(values, from_pandas=True)
    except (pa.ArrowException, OverflowError):
        array = None
    if (
        array is None
        or pa.types.is_nested(array.type)
        or (pa.types.is_floating(array.type) and any(isinstance(value, int) for value in values))
    ):
        return pa.array([None if is_blank(v) else str(v) for v in values], pa.string())
    return array


def _geo(shapes: np.ndarray[Any, np.dtype[np.object_]]) -> dict[str, Any]:
    """Return the metadata that GeoParquet 1.1 asks for."""
    import pyproj  # noqa: PLC0415 - writing is rare

    kinds = sorted({shape.geom_type for shape in shapes})
    box = {corner: ["bbox", corner] for corner in _CORNERS}
    column = {
        "encoding": "WKB",
        "geometry_types": kinds[:_MOST_GEOMETRY_TYPES],
        "crs": pyproj.CRS.from_user_input(WORKING_CRS).to_json_dict(),
        "covering": {"bbox": box},
    }
    return {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}}
