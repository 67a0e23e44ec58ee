"""File geodatabases and GeoPackages, looked at before GDAL reads them, and never changed by reading."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import quote

from grownj_geo.features import Features, LayerFault
from grownj_geo.readers_gdal import Announced, list_layers, read_layer_of

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["geodatabase_layers", "geopackage_layers", "read_geodatabase", "read_geopackage"]

_TABLE_HEAD = 40
_BLOCK = 1024
_OLD = 3
_SQLITE = b"SQLite format 3\0"
_SQLITE_HEAD = 100
_BIG_PAGE = 65_536
# Immutable: GDAL opens the file without locks or a journal, so that nothing beside it or in it changes.
_OPENING = {"IMMUTABLE": "YES"}
_SHOWN = "SELECT table_name FROM gpkg_contents WHERE data_type IN ('features', 'attributes') ORDER BY rowid"


def _check_geodatabase(folder: Path, source: str) -> None:
    again = "Copy or unpack the whole geodatabase again"
    files = {p.name.lower(): p for p in folder.iterdir() if p.is_file()}
    packed = sorted(p.name for name, p in files.items() if name.endswith((".cdf", ".cdf.gz")))
    if packed:
        raise LayerFault(
            "wrong_format",
            f"{source} is a compressed geodatabase ({packed[0]}), which cannot be read. "
            "Uncompress it in ArcGIS, or export the layer.",
        )
    if "a00000001.gdbtable" not in files:
        raise LayerFault("missing_sidecar", f"{source} has no a00000001.gdbtable, its list of tables. {again}.")
    for name, path in sorted(files.items()):
        if name.endswith(".gdbtablx") and f"{name.removesuffix('lx')}le" not in files:
            raise LayerFault("missing_sidecar", f"{source} has {path.name} and no .gdbtable of that name. {again}.")
        if not name.endswith(".gdbtable"):
            continue
        index = files.get(name.removesuffix("le") + "lx")
        if index is None:
            raise LayerFault("missing_sidecar", f"{source} has {path.name} and no .gdbtablx of that name. {again}.")
        _check_table(source, path, again)
        _check_index(source, index, again)


def _cut(source: str, path: Path, needed: int, again: str) -> LayerFault:
    return LayerFault(
        "truncated",
        f"{source}: {path.name} has {path.stat().st_size:,} bytes; expected {needed:,}, as its header says. {again}.",
    )


def _check_table(source: str, path: Path, again: str) -> None:
    with path.open("rb") as file:
        head = file.read(_TABLE_HEAD)
    if len(head) < _TABLE_HEAD:
        raise _cut(source, path, _TABLE_HEAD, again)
    if struct.unpack_from("<i", head)[0] not in {3, 4}:
        raise LayerFault("wrong_format", f"{source}: {path.name} has no header of a geodatabase table. {again}.")
    needed = struct.unpack_from("<q", head, 24)[0]
    if path.stat().st_size < needed:
        raise _cut(source, path, needed, again)


def _check_index(source: str, path: Path, again: str) -> None:
    with path.open("rb") as file:
        head = file.read(16)
    if len(head) < 16:  # noqa: PLR2004 - the header's length
        raise _cut(source, path, 16, again)
    version, blocks, _, width = struct.unpack("<4i", head)
    # In both versions as many blocks of 1,024 offsets follow as the second number says.
    needed = 16 + blocks * _BLOCK * width
    if version == _OLD and path.stat().st_size < needed:
        raise _cut(source, path, needed, again)


def geodatabase_layers(folder: Path, *, source: str) -> list[tuple[str, str | None, int]]:
    """Return the layers of a file geodatabase, as `list_layers` does, after checking that its files are whole.

    Raises
    ------
    LayerFault
        ``truncated``, ``missing_sidecar``, ``wrong_format`` or ``unreadable``.
    """
    _check_geodatabase(folder, source)
    return list_layers(str(folder), source=source, drivers=("OpenFileGDB",))


def read_geodatabase(folder: Path, *, layer: str, source: str) -> Features:
    """Read one layer of a file geodatabase that `geodatabase_layers` has listed."""
    return read_layer_of(str(folder), layer=layer, source=source, drivers=("OpenFileGDB",), announced=Announced())


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{quote(path.as_posix())}?mode=ro&immutable=1", uri=True)
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def _check_geopackage(path: Path, source: str) -> None:
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(_SQLITE_HEAD)
    if not head.startswith(_SQLITE[: len(head)]) or not head:
        raise LayerFault(
            "wrong_format", f"{source} begins with {head[:16]!r}; expected a GeoPackage. Export it again as one."
        )
    page = int.from_bytes(head[16:18], "big")
    needed = max((_BIG_PAGE if page == 1 else page) * int.from_bytes(head[28:32], "big"), _SQLITE_HEAD)
    # The number of pages counts only where the program that wrote last kept it.
    kept = len(head) < _SQLITE_HEAD or head[24:28] == head[92:96]
    if size < needed and kept:
        raise LayerFault(
            "truncated", f"{source} has {size:,} bytes; expected {needed:,}, as its header says. Get it again."
        )
    for ending in ("-wal", "-journal"):
        beside = path.with_name(path.name + ending)
        if beside.exists() and beside.stat().st_size:
            raise LayerFault(
                "unsaved_changes",
                f"{source} has {beside.name} beside it: changes that are not in the file yet. "
                "Close the program that has it open, and load it again.",
            )


def geopackage_layers(path: Path, *, source: str) -> list[tuple[str, str | None, int]]:
    """Return the layers of a GeoPackage, as `list_layers` does, after checking that it is whole and plain.

    Raises
    ------
    LayerFault
        ``truncated``, ``unsaved_changes``, ``wrong_format``, ``not_allowed`` or ``unreadable``.
    """
    _check_geopackage(path, source)
    try:
        with closing(_connect(path)) as connection:
            found = connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master").fetchall()
            kinds = {str(name): str(kind) for kind, name, _ in found}
            shown = [str(row[0]) for row in connection.execute(_SHOWN)] if "gpkg_contents" in kinds else []
    except sqlite3.Error as error:
        raise _damaged(source, error) from error
    if "gpkg_contents" not in kinds:
        raise LayerFault(
            "wrong_format", f"{source} is an SQLite file without gpkg_contents; expected a GeoPackage. Export it again."
        )
    for _, name, sql in found:
        words = str(sql).upper().split()
        if words[:3] == ["CREATE", "VIRTUAL", "TABLE"] and " RTREE" not in f" {' '.join(words)}".replace("(", " "):
            raise LayerFault(
                "not_allowed",
                f"{source} has the virtual table {name!r}, which may take its rows from anywhere. "
                "Expected plain tables: export the layer into a new GeoPackage.",
            )
    for name in shown:
        if kinds.get(name) == "view":
            raise LayerFault(
                "not_allowed",
                f"{source}: the layer {name!r} is a view, which is a program and no data. "
                "Expected plain tables: export the layer into a new GeoPackage.",
            )
    names = [name for name in shown if name in kinds]
    return list_layers(str(path), source=source, drivers=("GPKG",), names=names, options=_OPENING)


def _damaged(source: str, error: Exception | str) -> LayerFault:
    return LayerFault("unreadable", f"{source} is a damaged GeoPackage ({error}). Get or export it again.")


def read_geopackage(path: Path, *, layer: str, source: str) -> Features:
    """Read one layer of a GeoPackage that `geopackage_layers` has listed.

    Raises
    ------
    LayerFault
        ``unreadable``, or what `read_layer_of` raises.
    """
    table = '"' + layer.replace('"', '""') + '"'
    try:
        with closing(_connect(path)) as connection:
            problem = connection.execute(f"PRAGMA quick_check({table})").fetchone()[0]
            if problem != "ok":
                raise _damaged(source, problem)
            count = int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608 - quoted
            shape = connection.execute(
                "SELECT column_name FROM gpkg_geometry_columns WHERE lower(table_name) = lower(?)", (layer,)
            ).fetchone()
            nulls = None
            if shape is not None:
                column = '"' + str(shape[0]).replace('"', '""') + '"'
                query = f"SELECT count(*) FROM {table} WHERE {column} IS NULL"  # noqa: S608 - quoted
                nulls = int(connection.execute(query).fetchone()[0])
    except sqlite3.Error as error:
        raise _damaged(source, error) from error
    return read_layer_of(
        str(path),
        layer=layer,
        source=source,
        drivers=("GPKG",),
        announced=Announced(count, nulls),
        options=_OPENING,
    )
