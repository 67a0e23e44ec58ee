"""GeoParquet and plain Parquet, with metadata that contradicts the file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from layer_files import CODES, frame, kinds, refused

from grownj_geo.readers import Source, find_sources, read_features

if TYPE_CHECKING:
    from pathlib import Path

    import geopandas as gpd


@pytest.fixture
def areas() -> gpd.GeoDataFrame:
    return frame()


def test_geoparquet_with_null_crs_and_plain_parquet(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    areas.set_crs(None, allow_override=True).to_parquet(tmp_path / "a.parquet")
    assert read_features(tmp_path / "a.parquet").crs is None
    table = pq.read_table(tmp_path / "a.parquet").replace_schema_metadata(None)
    pq.write_table(table, tmp_path / "b.parquet")
    features = read_features(tmp_path / "b.parquet", kind="polygon")
    assert features.crs is None
    assert kinds(features) == {"geometry_columns": "noted"}
    pq.write_table(table.drop(["geometry"]), tmp_path / "c.parquet")
    assert find_sources(tmp_path / "c.parquet") == [Source("c.parquet", "parquet", "table", 6)]
    assert read_features(tmp_path / "c.parquet", kind="table").columns["CODE"] == CODES
    refused(tmp_path / "c.parquet", "no_layer", kind="polygon")


def test_geoparquet_that_contradicts_itself(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    areas.to_parquet(tmp_path / "a.parquet")
    table = pq.read_table(tmp_path / "a.parquet")
    geo = json.loads(table.schema.metadata[b"geo"])
    for change in ({"encoding": "polygon"}, {"encoding": None, "crs": 3}):
        broken = geo | {"columns": {"geometry": geo["columns"]["geometry"] | change}}
        pq.write_table(table.replace_schema_metadata({b"geo": json.dumps(broken).encode()}), tmp_path / "b.parquet")
        refused(tmp_path / "b.parquet", "wrong_format")
    pq.write_table(table.replace_schema_metadata({b"geo": b"{}"}), tmp_path / "b.parquet")
    refused(tmp_path / "b.parquet", "wrong_format")
    column = pa.array([b"no well-known binary"] * 6)
    at = table.column_names.index("geometry")
    broken_table = table.set_column(at, "geometry", column).replace_schema_metadata(table.schema.metadata)
    pq.write_table(broken_table, tmp_path / "b.parquet")
    refused(tmp_path / "b.parquet", "broken_geometry")


def test_fields_of_kinds_that_no_rule_uses_are_told(tmp_path: Path) -> None:
    point = shapely.to_wkb(shapely.Point(580_000, 690_000))
    columns = {"CODE": ["0102"], "many": [["a"]], "both": [{"a": "b"}], "raw": [b"x"], "geometry": [point]}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    features = read_features(tmp_path / "a.parquet", kind="point")
    assert features.columns == {"CODE": ["0102"]}
    assert "both, many, raw" in next(c.words for c in features.changes if c.kind == "fields_not_read")
    pq.write_table(pa.table({"many": [["a"]]}), tmp_path / "b.parquet")
    refused(tmp_path / "b.parquet", "wrong_format")


def test_fields_of_one_name_are_refused(tmp_path: Path) -> None:
    table = pa.table([["0102"], ["0103"]], names=["CODE", "CODE"])
    pq.write_table(table, tmp_path / "a.parquet")
    assert "CODE" in refused(tmp_path / "a.parquet", "duplicate_fields")


def test_text_in_dictionaries_comes_back_in_its_rows(tmp_path: Path) -> None:
    n = 20_000
    codes = pa.array([[*CODES, None][i % 7] for i in range(n)])
    shapes_ = shapely.to_wkb(shapely.points(np.arange(n) % 100 + 580_000.0, 690_000.0))
    numbers = pa.array([None if i % 3 else i for i in range(n)])
    columns = {"CODE": codes.dictionary_encode(), "N": numbers, "geometry": pa.array(list(shapes_))}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet", row_group_size=9_000)
    features = read_features(tmp_path / "a.parquet")
    assert features.columns == {"CODE": codes.to_pylist(), "N": numbers.to_pylist()}
    assert [shape.x for shape in features.geometries] == [i % 100 + 580_000 for i in range(n)]


def test_a_small_file_of_gigabytes_is_refused(tmp_path: Path) -> None:
    repeated = pa.DictionaryArray.from_arrays(pa.array([0] * 3_000, pa.int32()), pa.array(["a" * 500_000]))
    pq.write_table(pa.table({"CODE": repeated}), tmp_path / "a.parquet", compression="zstd")
    assert "would unpack to" in refused(tmp_path / "a.parquet", "archive_bomb")
