"""File geodatabases and GeoPackages: several layers, damage, and what is a program and no data."""

from __future__ import annotations

import hashlib
import sqlite3
from typing import TYPE_CHECKING

import geopandas as gpd
import pandas as pd
import pyogrio
import pytest
import shapely
from layer_files import frame, geodatabase_file, geopackage_file, refused, write, zipped

from grownj_geo.readers import find_sources, read_features

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def areas() -> gpd.GeoDataFrame:
    return frame()


def test_tables_beside_feature_classes(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    path = geopackage_file(tmp_path, areas)
    pyogrio.write_dataframe(pd.DataFrame({"MUN": ["0102"]}), path, driver="GPKG", layer="munis", append=True)
    assert [(s.sublayer, s.kind, s.features) for s in find_sources(path)] == [
        ("planning areas", "polygon", 6),
        ("munis", "table", 1),
    ]
    assert len(read_features(path)) == 6
    table = read_features(path, kind="table")
    assert table.columns["MUN"] == ["0102"]
    assert list(table.geometries) == [None]


def test_a_geodatabase_of_two_classes(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    path = geodatabase_file(tmp_path, areas)
    write(areas.iloc[:3], path, "OpenFileGDB", layer="older", append=True)
    assert "'older' (polygon, 3 features)" in refused(path, "several_layers", kind="polygon")
    features = read_features(path, sublayer="older")
    assert features.source == "areas.gdb: older"
    assert features.columns["OBJECTID"] == [1, 2, 3]
    assert "'Export/areas.gdb/older'" in refused(
        zipped(tmp_path / "gdb.zip", {"Export/areas.gdb": path}), "several_layers"
    )


@pytest.mark.parametrize("version", ["ARCGIS_PRO_3_2_OR_LATER", "ALL"])
def test_a_cut_geodatabase_is_refused(tmp_path: Path, version: str) -> None:
    many = gpd.GeoDataFrame(
        {"SPDETAIL": [f"METROPOLITAN {i}" for i in range(200)]},
        geometry=[shapely.box(580_000 + i, 690_000, 580_001 + i, 690_001) for i in range(200)],
        crs="EPSG:3424",
    )
    path = tmp_path / "areas.gdb"
    pyogrio.write_dataframe(many, path, driver="OpenFileGDB", layer="areas", TARGET_ARCGIS_VERSION=version)
    assert len(read_features(path)) == 200
    for part in sorted(path.glob("*.gdbtabl[ex]")):
        whole = part.read_bytes()
        part.write_bytes(whole[: len(whole) * 2 // 3])
        refused(path, "truncated")
        part.write_bytes(b"")
        refused(path, "truncated")
        part.unlink()
        refused(path, "missing_sidecar")
        part.write_bytes(whole)
    assert len(read_features(path)) == 200
    (path / "a0000000a.cdf").write_bytes(b"x")
    refused(path, "wrong_format")


def test_a_damaged_page_of_a_geopackage_is_refused(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    path = geopackage_file(tmp_path, areas)
    content = bytearray(path.read_bytes())
    at = content.index(b"METROPOLITAN") // 4096 * 4096
    content[at : at + 8] = b"\xff" * 8
    path.write_bytes(content)
    refused(path, "unreadable")


def test_a_geopackage_is_not_changed_by_reading(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    path = geopackage_file(tmp_path, areas)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    before, stamp = hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns
    assert len(read_features(path)) == 6
    assert (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns) == (before, stamp)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_changes_not_yet_in_a_geopackage_are_refused(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    path = geopackage_file(tmp_path, areas)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("CREATE TABLE more (a TEXT)")
    connection.commit()
    assert "areas.gpkg-wal" in refused(path, "unsaved_changes")
    connection.close()


def test_views_and_virtual_tables_are_refused(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    path = geopackage_file(tmp_path, areas)
    whole = path.read_bytes()
    with sqlite3.connect(path) as connection:
        connection.execute('CREATE VIEW v AS SELECT * FROM "planning areas"')
        connection.execute(
            "INSERT INTO gpkg_contents (table_name, data_type, identifier, srs_id) VALUES ('v', 'features', 'v', 3424)"
        )
    connection.close()
    assert "'v'" in refused(path, "not_allowed")
    path.write_bytes(whole)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES ('table', 'o', 'o', 0, "
            "'CREATE VIRTUAL TABLE o USING VirtualOGR(''/etc/passwd'')')"
        )
    connection.close()
    assert "virtual table" in refused(path, "not_allowed")
