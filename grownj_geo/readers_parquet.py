"""GeoParquet, read with Arrow alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from grownj_geo.features import Change, Features, LayerFault
from grownj_geo.readers_gdal import Decoder, column_values

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["parquet_about", "read_parquet"]

_ENDS = b"PAR1"
_ROWS_AT_ONCE = 8_192
_MOST_BYTES = 8 << 30
_UNDECLARED = ("geometry", "geom", "wkb_geometry", "wkb")
_FAMILIES = {"Point": "point", "LineString": "line", "Polygon": "polygon"}


def _open(path: Path, source: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    import pyarrow as pa  # noqa: PLC0415 - only loading a layer needs it
    import pyarrow.parquet as pq  # noqa: PLC0415

    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(4)
        file.seek(max(size - 4, 0))
        tail = file.read(4)
    if head != _ENDS:
        raise LayerFault(
            "wrong_format", f"{source} begins with {head!r}; expected Parquet. Export it again as GeoParquet."
        )
    if tail != _ENDS or size < 12:  # noqa: PLR2004 - the least of a Parquet file
        raise LayerFault("truncated", f"{source} does not end as Parquet does: it is cut off. Get it again.")
    try:
        file = pq.ParquetFile(path, memory_map=False)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise LayerFault("unreadable", f"{source} is no readable Parquet ({error}). Get or export it again.") from error
    unpacked = sum(file.metadata.row_group(i).total_byte_size for i in range(file.metadata.num_row_groups))
    if unpacked > _MOST_BYTES:
        file.close()
        raise LayerFault(
            "archive_bomb",
            f"{source} would unpack to {unpacked:,} bytes; expected at most {_MOST_BYTES:,}. Export what is needed.",
        )
    return file


def _geo(file: Any, source: str) -> dict[str, Any] | None:  # noqa: ANN401
    raw = (file.schema_arrow.metadata or {}).get(b"geo")
    if raw is None:
        return None
    try:
        geo = json.loads(raw)
        primary = geo["columns"][geo["primary_column"]]
        found = {
            "column": str(geo["primary_column"]),
            "encoding": str(primary["encoding"]),
            "types": [str(t) for t in primary.get("geometry_types", [])],
            # Without a crs, GeoParquet is in longitude and latitude; with null it is in nobody knows what.
            "crs": primary.get("crs", "OGC:CRS84"),
            "others": [str(name) for name in geo["columns"] if name != geo["primary_column"]],
            "covering": {
                str(corner[0]) for corner in primary.get("covering", {}).get("bbox", {}).values() if len(corner) > 1
            },
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LayerFault(
            "wrong_format",
            f"{source} has GeoParquet metadata that cannot be read ({type(error).__name__}: {error}). Export it again.",
        ) from error
    if found["encoding"] != "WKB":
        raise LayerFault(
            "wrong_format",
            f"{source} has its geometry as {found['encoding']!r}; expected WKB. Export it as GeoParquet with WKB.",
        )
    if found["column"] not in file.schema_arrow.names:
        raise LayerFault(
            "wrong_format",
            f"{source} names {found['column']!r} as its geometry and has no such column. Export it again.",
        )
    return found


def parquet_about(path: Path, *, source: str) -> tuple[str, int]:
    """Return what a Parquet file is made of, as `Source.kind` has it, and its number of rows.

    Raises
    ------
    LayerFault
        ``wrong_format``, ``truncated``, ``unreadable`` or ``archive_bomb``.
    """
    file = _open(path, source)
    try:
        geo = _geo(file, source)
        if geo is None:
            return ("mixed" if _undeclared(file) else "table"), int(file.metadata.num_rows)
        families = {_FAMILIES.get(t.split(" ")[0].removeprefix("Multi"), "mixed") for t in geo["types"]}
        return (families.pop() if len(families) == 1 else "mixed"), int(file.metadata.num_rows)
    finally:
        file.close()


def _undeclared(file: Any) -> str | None:  # noqa: ANN401
    """Return a column that by name and type is geometry, where no metadata says so."""
    import pyarrow as pa  # noqa: PLC0415

    for field in file.schema_arrow:
        plain = getattr(field.type, "storage_type", field.type)
        if field.name.lower() in _UNDECLARED and (pa.types.is_binary(plain) or pa.types.is_large_binary(plain)):
            return str(field.name)
    return None


def _crs(crs: Any, source: str) -> str | None:  # noqa: ANN401 - PROJJSON, or text of our own
    if crs is None or isinstance(crs, str):
        return crs
    code = crs.get("id") if isinstance(crs, dict) else None
    if isinstance(code, dict) and {"authority", "code"} <= code.keys():
        return f"{code['authority']}:{code['code']}"
    import pyproj  # noqa: PLC0415

    try:
        return str(pyproj.CRS.from_json_dict(crs).to_wkt())
    except (pyproj.exceptions.CRSError, AttributeError, TypeError) as error:
        raise LayerFault(
            "unknown_crs", f"{source} declares a coordinate system that PROJ cannot read ({error}). Export it again."
        ) from error


def read_parquet(path: Path, *, source: str) -> Features:
    """Read GeoParquet with geometry in well-known binary, or a Parquet table without geometry.

    Parameters
    ----------
    path
        The file.
    source
        What messages call it.

    Raises
    ------
    LayerFault
        ``wrong_format``, ``truncated``, ``unreadable``, ``archive_bomb`` or ``broken_geometry``.
    """
    file = _open(path, source)
    try:
        geo = _geo(file, source)
        shape_name = geo["column"] if geo else _undeclared(file)
        hidden = {shape_name, *(geo["covering"] if geo else ()), *(geo["others"] if geo else ())}
        columns, left_out, decoder = _batches(file, source, shape_name, hidden)
        expected = int(file.metadata.num_rows)
    finally:
        file.close()
    if decoder.count != expected:
        raise LayerFault(
            "truncated", f"{source}: {decoder.count:,} rows could be read; expected {expected:,}. Get it again."
        )
    decoder.broken |= dict.fromkeys(decoder.curved, "it is a curve, which GeoParquet does not have")
    geometries, changes = decoder.finish()
    if shape_name is not None and geo is None:
        words = f"{shape_name} was taken for the geometry: the file has no GeoParquet metadata."
        changes.append(Change(kind="geometry_columns", effect="noted", count=expected, words=words))
    missing = sorted({*left_out, *(geo["others"] if geo else ())})
    if missing:
        words = f"Fields of a kind that no rule uses were not read: {', '.join(missing)}."
        changes.append(Change(kind="fields_not_read", effect="noted", count=len(missing), words=words))
    return Features(source, columns, geometries, _crs(geo["crs"], source) if geo else None, tuple(changes))


def _batches(
    file: Any,  # noqa: ANN401 - pyarrow has no types
    source: str,
    shape_name: str | None,
    hidden: set[str | None],
) -> tuple[dict[str, list[Any]], set[str], Decoder]:
    """Return the columns, the names of those that were not read, and the geometries."""
    import pyarrow as pa  # noqa: PLC0415 - only loading a layer needs it

    names = [name for name in file.schema_arrow.names if name not in hidden]
    columns: dict[str, list[Any]] = {name: [] for name in names}
    left_out: set[str] = set()
    decoder = Decoder(source)
    try:
        for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE):
            for name in names:
                values = column_values(batch.column(name))
                if values is None:
                    left_out.add(name)
                else:
                    columns[name].extend(values)
            shapes = None if shape_name is None else batch.column(shape_name)
            decoder.add([None] * batch.num_rows if shapes is None else getattr(shapes, "storage", shapes).to_pylist())
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise LayerFault("unreadable", f"{source} is no readable Parquet ({error}). Get or export it again.") from error
    return {name: values for name, values in columns.items() if name not in left_out}, left_out, decoder
