"""Any file that a GIS office has: read in every format, chosen from several, and refused where it is none."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING

import geopandas as gpd
import pandas as pd
import pyarrow as pa
import pytest
from layer_files import (
    DEGREES,
    FEET,
    GDALG,
    KIN,
    MM_IN_DEGREES,
    VRT,
    csv_file,
    frame,
    geojson_file,
    geojson_lines,
    geojson_records,
    geopackage_file,
    geoparquet_file,
    kinds,
    kml_file,
    refused,
    same,
    save_text,
    shapefile,
    shapefile_file,
    shapes,
    tsv_file,
    write,
    zipped,
    zipped_shapefile,
)

from grownj_geo.features import LayerFault
from grownj_geo.readers import Source, find_sources, read_features

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def areas() -> gpd.GeoDataFrame:
    return frame()


@pytest.mark.parametrize("make", FEET)
def test_a_layer_in_feet_comes_back_as_it_was(
    tmp_path: Path, areas: gpd.GeoDataFrame, make: Callable[[Path, gpd.GeoDataFrame], Path]
) -> None:
    features = read_features(make(tmp_path, areas), kind="polygon")
    assert features.crs == "EPSG:3424"
    same(features, areas, KIN)
    assert "changed" not in kinds(features).values()


@pytest.mark.parametrize("make", DEGREES)
def test_a_layer_in_degrees_comes_back_as_it_was(
    tmp_path: Path, make: Callable[[Path, gpd.GeoDataFrame], Path]
) -> None:
    drawn = frame("OGC:CRS84")
    features = read_features(make(tmp_path, drawn), kind="polygon")
    assert features.crs == "OGC:CRS84"
    same(features, drawn, MM_IN_DEGREES)
    assert "changed" not in kinds(features).values()


@pytest.mark.parametrize("make", [csv_file, tsv_file])
def test_a_layer_as_text_comes_back_as_it_was(
    tmp_path: Path, areas: gpd.GeoDataFrame, make: Callable[[Path, gpd.GeoDataFrame], Path]
) -> None:
    features = read_features(make(tmp_path, areas), kind="polygon")
    assert features.crs is None
    same(features, areas, KIN)


@pytest.mark.parametrize("make", [geopackage_file, shapefile_file, geojson_file, geoparquet_file])
def test_whole_numbers_with_gaps_stay_whole(
    tmp_path: Path, areas: gpd.GeoDataFrame, make: Callable[[Path, gpd.GeoDataFrame], Path]
) -> None:
    zone = read_features(make(tmp_path, areas)).columns["ZONE"]
    assert [(v, type(v)) for v in zone[:3]] == [(1, int), (None, type(None)), (3, int)]


@pytest.mark.parametrize(("driver", "ending"), [("GPKG", "gpkg"), ("ESRI Shapefile", "shp"), ("OpenFileGDB", "gdb")])
def test_dates_are_dates(tmp_path: Path, driver: str, ending: str) -> None:
    drawn = gpd.GeoDataFrame(
        {"SINCE": pd.array([dt.date(2017, 4, 17), None], dtype=pd.ArrowDtype(pa.date32()))},
        geometry=shapes()[4:],
        crs="EPSG:3424",
    )
    path = tmp_path / f"a.{ending}"
    write(drawn, path, driver, use_arrow=True)
    first, second = read_features(path).columns["SINCE"]
    assert (first.year, first.month, first.day) == (2017, 4, 17)
    assert second is None


@pytest.fixture
def two(tmp_path: Path, areas: gpd.GeoDataFrame) -> Path:
    """A zip with two shapefiles of polygons, and one of points."""
    members = {}
    points = areas.set_geometry(areas.geometry.centroid)
    for name, drawn in (("A/areas", areas), ("B/Centers", areas.iloc[:2]), ("B/stops", points)):
        for end, part in shapefile(drawn, tmp_path / f"{name[2:]}.shp").items():
            members[f"{name}{end}"] = part
    return zipped(tmp_path / "county.zip", members)


def test_several_that_fit_are_named_and_one_is_chosen(two: Path) -> None:
    message = refused(two, "several_layers", kind="polygon")
    assert "'A/areas.shp' (polygon, 6 features)" in message
    assert "'B/Centers.shp' (polygon, 2 features)" in message
    assert "stops" not in message
    assert "stops" in refused(two, "several_layers")
    for sublayer in ("B/Centers.shp", "b/centers.SHP", "Centers", "centers.shp"):
        features = read_features(two, sublayer=sublayer, kind="polygon")
        assert len(features) == 2
        assert features.source == "county.zip: B/Centers.shp"
    assert "'B/stops.shp'" in refused(two, "no_layer", sublayer="parcels")


def test_the_only_one_of_a_kind_is_taken_and_told(two: Path) -> None:
    features = read_features(two, kind="point")
    assert features.source == "county.zip: B/stops.shp"
    assert kinds(features)["sublayer_taken"] == "noted"
    assert "A/areas.shp" in next(c.words for c in features.changes if c.kind == "sublayer_taken")
    refused(two, "no_layer", kind="line")
    refused(two, "no_layer", kind="table")


def test_sources_are_listed(two: Path) -> None:
    assert find_sources(two) == [
        Source("A/areas.shp", "shapefile", "polygon", 6),
        Source("B/Centers.shp", "shapefile", "polygon", 2),
        Source("B/stops.shp", "shapefile", "point", 6),
    ]


@pytest.mark.parametrize(
    "make", [geopackage_file, geojson_file, geojson_lines, geojson_records, kml_file, geoparquet_file, zipped_shapefile]
)
def test_a_file_cut_anywhere_is_refused(tmp_path: Path, make: Callable[[Path, gpd.GeoDataFrame], Path]) -> None:
    path = make(tmp_path, frame("OGC:CRS84"))
    whole = path.read_bytes()
    end = len(whole.rstrip())
    for at in [0, 1, 10, 99, *(end * i // 13 for i in range(1, 13)), end - 3, end - 1]:
        path.write_bytes(whole[:at])
        with pytest.raises(LayerFault) as caught:
            read_features(path)
        assert caught.value.fault in {"truncated", "unreadable", "wrong_format", "broken_geometry", "archive_broken"}
    path.write_bytes(whole)
    assert len(read_features(path)) == 6


@pytest.mark.parametrize(
    "typed",
    ["/vsicurl/http://127.0.0.1:9/a.shp", "/vsizip/a.zip", "http://127.0.0.1/a.geojson", "https:/x/a.shp",
     "WFS:http://127.0.0.1/", "MVT:a", "PG:dbname=x", "GPKG:a.gpkg:t", "s3://bucket/a.shp", "MySQL:x"],
)  # fmt: skip
def test_no_remote_or_virtual_paths(typed: str) -> None:
    refused(Path(typed), "not_allowed")


@pytest.mark.parametrize("ending", ["shp", "gpkg", "geojson", "json", "geojsonl", "kml", "parquet", "csv"])
@pytest.mark.parametrize("content", [VRT, GDALG, "PK\3\4", "", "\x7fELF\0"])
def test_content_that_does_not_fit_the_ending_is_refused(tmp_path: Path, ending: str, content: str) -> None:
    path = save_text(tmp_path / f"a.{ending}", content)
    for other in ("shx", "dbf") if ending == "shp" else ():
        save_text(tmp_path / f"a.{other}", content)
    with pytest.raises(LayerFault) as caught:
        read_features(path)
    assert caught.value.fault in {"wrong_format", "not_allowed", "truncated", "no_layer", "wrong_encoding"}


def test_a_vrt_in_a_zip_is_no_layer(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"a.vrt": save_text(tmp_path / "a.vrt", VRT)})
    refused(path, "no_layer")
    refused(tmp_path / "a.vrt", "wrong_format")


def test_archives_inside_are_told(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    inner = zipped_shapefile(tmp_path, areas)
    outer = zipped(tmp_path / "outer.zip", {"county.zip": inner})
    assert "county.zip" in refused(outer, "no_layer")
    both = zipped(
        tmp_path / "both.zip", {"county.zip": inner, "sites.geojson": geojson_file(tmp_path, frame("OGC:CRS84"))}
    )
    assert kinds(read_features(both))["nested_archive"] == "noted"


def test_files_that_are_not_there_or_no_files(tmp_path: Path) -> None:
    refused(tmp_path / "none.shp", "not_found")
    refused(tmp_path, "no_layer")
    refused(save_text(tmp_path / "a.docx", "x"), "wrong_format")


def test_what_macos_adds_is_passed_over(tmp_path: Path) -> None:
    drawn = geojson_file(tmp_path, frame("OGC:CRS84"))
    extra = save_text(tmp_path / "extra", "\0\5\x16\7")
    path = zipped(tmp_path / "a.zip", {"areas.geojson": drawn, "__MACOSX/._areas.geojson": extra, "._areas.shp": extra})
    assert len(read_features(path)) == 6
