"""GeoParquet, read with Arrow alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from grownj_geo.features import Change, Features, LayerFault
from grownj_geo.readers_gdal import Decoder, column_values
from grownj_geo.readers_pages import bounded_batches
from grownj_geo.tablepath import native

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["parquet_about", "read_parquet"]

_ENDS = b"PAR1"
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
        file = pq.ParquetFile(native(path))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise LayerFault("unreadable", f"{source} is no readable Parquet ({error}). Get or export it again.") from error
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
        ``wrong_format``, ``truncated`` or ``unreadable``.
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
        ``wrong_format``, ``truncated``, ``unreadable``, ``archive_bomb``, ``duplicate_fields`` or ``broken_geometry``.
    """
    file = _open(path, source)
    try:
        geo = _geo(file, source)
        shape_name = geo["column"] if geo else _undeclared(file)
        hidden = {shape_name, *(geo["covering"] if geo else ()), *(geo["others"] if geo else ())}
        names, left_out = _wanted(file.schema_arrow, source, hidden)
        expected = int(file.metadata.num_rows)
    finally:
        file.close()
    columns, decoder = _read(path, source, shape_name, names)
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


def _wanted(schema: Any, source: str, hidden: set[str | None]) -> tuple[list[str], list[str]]:  # noqa: ANN401
    """Return the names of the fields to read, and of those of kinds that no rule uses."""
    import pyarrow as pa  # noqa: PLC0415 - only loading a layer needs it

    twice = sorted({name for name in schema.names if schema.names.count(name) > 1})
    if twice:
        raise LayerFault(
            "duplicate_fields",
            f"{source} has two fields named {', '.join(twice)}; expected every name once. Rename one of them.",
        )
    names: list[str] = []
    left_out: list[str] = []
    no_values = (pa.types.is_nested, pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    for one in schema:
        kind = getattr(one.type, "storage_type", one.type)
        if one.name not in hidden:
            (left_out if any(is_kind(kind) for is_kind in no_values) else names).append(str(one.name))
    return names, left_out


def _read(path: Path, source: str, shape_name: str | None, names: list[str]) -> tuple[dict[str, list[Any]], Decoder]:
    """Return the columns and the geometries."""
    columns: dict[str, list[Any]] = {name: [] for name in names}
    decoder = Decoder(source)
    read = [*names, *([] if shape_name is None else [shape_name])]
    if not read:
        raise LayerFault(
            "wrong_format", f"{source} has no field that can be read; expected geometry or plain fields. Export others."
        )
    for batch in bounded_batches(path, columns=read, source=source):
        for name in names:
            values = column_values(batch.column(name))
            if values is None:
                raise LayerFault(
                    "wrong_format", f"{source}: the field {name!r} is binary; expected text. Export it again as text."
                )
            columns[name].extend(values)
        decoder.add([None] * batch.num_rows if shape_name is None else _binary(batch.column(shape_name)))
    return columns, decoder


def _binary(array: Any) -> list[bytes | None]:  # noqa: ANN401 - pyarrow has no types
    import pyarrow as pa  # noqa: PLC0415 - only loading a layer needs it

    array = getattr(array, "storage", array)
    values: list[bytes | None] = (
        array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
    ).to_pylist()
    return values
