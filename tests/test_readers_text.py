"""Text with coordinates or well-known text: delimiters, encodings, and what is no number."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest
import shapely
from layer_files import kinds, refused, save_text

from grownj_geo.features import LayerFault
from grownj_geo.readers import find_sources, read_features

if TYPE_CHECKING:
    from pathlib import Path


def test_columns_of_longitude_with_numbers_too_large_for_degrees_declare_none(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("longitude,latitude\n585000,690000\n")
    assert read_features(tmp_path / "a.csv").crs is None


@pytest.mark.parametrize(
    ("header", "delimiter"),
    [
        (("longitude", "latitude"), ","), (("LON", "LAT"), ";"), (("POINT_X", "POINT_Y"), "\t"), (("X", "Y"), "|"),
    ],
)  # fmt: skip
def test_coordinates_in_columns(tmp_path: Path, header: tuple[str, str], delimiter: str) -> None:
    rows = [("code", *header), ("0102", "-74.1641", "40.7344"), ("3E5", "", ""), ("1.10", " -75 ", "+4e1")]
    path = save_text(tmp_path / "a.csv", "\r\n".join(map(delimiter.join, rows)) + "\r\n", "utf-8-sig")
    features = read_features(path, kind="point")
    assert features.columns["code"] == ["0102", "3E5", "1.10"]
    assert [g and g.wkt for g in features.geometries] == ["POINT (-74.1641 40.7344)", None, "POINT (-75 40)"]
    assert features.crs == ("OGC:CRS84" if header[0].lower() in {"longitude", "lon"} else None)
    assert kinds(features) == {"geometry_columns": "noted"}


@pytest.mark.parametrize("bad", ["74,1641", "N/A", "1_0", "nan", "inf", "40\u00b044'", ""])
def test_coordinates_that_are_no_numbers_name_their_row(tmp_path: Path, bad: str) -> None:
    path = save_text(tmp_path / "a.csv", f'a,lon,lat\n1,-74,40\n2,"{bad}",40\n')
    assert "row 2: lon" in refused(path, "bad_coordinates")


def test_a_table_has_no_geometry(tmp_path: Path) -> None:
    path = save_text(tmp_path / "a.csv", "MUN_CODE,NAME\n0102,Atlantic City\n")
    assert find_sources(path)[0].kind == "table"
    assert list(read_features(path, kind="table").geometries) == [None]
    refused(path, "no_layer", kind="point")
    places = save_text(tmp_path / "b.csv", "MUN_CODE,lon,lat\n0102,bad,40\n")
    assert read_features(places, kind="table").columns["lon"] == ["bad"]


def test_text_in_three_encodings(tmp_path: Path) -> None:
    for codec in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
        features = read_features(save_text(tmp_path / "a.csv", "name\nPe\xf1a\n", codec))
        assert features.columns == {"name": ["Pe\xf1a"]}
        assert ("encoding_taken" in kinds(features)) == (codec == "cp1252")
    path = save_text(tmp_path / "a.csv", "name\nPe\xf1a\n", "cp437")
    assert read_features(path, encoding="cp437").columns == {"name": ["Pe\xf1a"]}
    path.write_bytes(b"name\nPe\x81a\n")
    refused(path, "wrong_encoding")
    refused(path, "wrong_encoding", encoding="no-such-encoding")
    path.write_bytes(b"name\nPe\0a\n")
    refused(path, "wrong_encoding")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("a,b\n1,2\n3\n4,5\n", "ragged_rows"), ("a,b\n1,2,3\n", "ragged_rows"), ("a,b\n1,2\n3", "truncated"),
        ('a,b\n1,"2', "truncated"), ("a,a\n1,2\n", "duplicate_fields"), ("a,\n1,2\n", "duplicate_fields"),
        ("", "truncated"), ("{}", "wrong_format"), ("<OGRVRTDataSource/>", "wrong_format"),
        ("WKT\nPOLYGON ((0 0, 1 0, 1 1, 0 0))\nPOLYGON ((0 0\n", "ragged_rows"),
        ('WKT\n"POLYGON ((0 0, 1 0, 1 1, 0 0))"\n"POLYGON ((0 0"\n', "broken_geometry"),
        ("WKT\nSRID=3424;POINT (0 0)\nSRID=26918;POINT (0 0)\n", "unknown_crs"),
    ],
)  # fmt: skip
def test_broken_tables_are_refused(tmp_path: Path, content: str, fault: str) -> None:
    refused(save_text(tmp_path / "a.csv", content), fault)


def test_an_open_last_line_is_told(tmp_path: Path) -> None:
    assert kinds(read_features(save_text(tmp_path / "a.csv", "a,b\n1,2\n3,4"))) == {"open_last_line": "noted"}


def test_well_known_text_with_its_system_heights_and_long_cells(tmp_path: Path) -> None:
    circle = shapely.Point(580_000, 690_000).buffer(1000, quad_segs=4000)
    path = save_text(tmp_path / "a.csv", f'the_geom\n"SRID=3424;{circle.wkt}"\nSRID=3424;POINT Z (1 2 3)\n')
    features = read_features(path)
    assert features.crs == "EPSG:3424"
    assert shapely.get_num_coordinates(features.geometries[0]) == shapely.get_num_coordinates(circle)
    assert kinds(features) == {"geometry_columns": "noted", "z_dropped": "changed"}


def test_a_workbook_that_was_only_renamed_is_told_from_text(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    with pytest.raises(LayerFault, match="Excel workbook") as caught:
        read_features(path)
    assert caught.value.fault == "wrong_format"


def test_an_empty_file_and_a_table_without_places_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for content, said in (("", "is empty"), ("a,b\n1,2\n", "a table without places")):
        path.write_text(content)
        with pytest.raises(LayerFault, match=said):
            read_features(path, kind="polygon")
