"""Every format that a GIS office has, written by GDAL, and by hand where GDAL would repair what is broken."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import shutil
import sqlite3
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyogrio
import pytest
import shapely
from pyogrio import raw

from grownj_geo.features import Features, LayerFault
from grownj_geo.readers import Source, find_sources, read_features

if TYPE_CHECKING:
    from collections.abc import Callable

CLASSES = [
    "METROPOLITAN",
    "SUBURBAN",
    "RURAL ENV. SENSITIVE",
    "SPORTS & EXPOSITION AUTH.",
    "ELLIS ISLAND- NJ",
    "Pe\xf1a",
]
CODES = ["0102", "1.10", "3E5", "08401", "-1", "1.1"]
KIN = 0.001 / 0.3048  # one millimetre in feet
MM_IN_DEGREES = 1e-8


def shapes(n: int = 6) -> list[shapely.Geometry]:
    """Polygons near Newark in EPSG:3424: one in two parts, one with a hole, and odd fractions of a foot."""
    found: list[shapely.Geometry] = [
        shapely.box(580_000 + 1_000 * i, 690_000.123, 580_900.456 + 1_000 * i, 690_800.789) for i in range(n)
    ]
    found[1] = shapely.MultiPolygon([found[1], shapely.box(500_000, 600_000, 500_100, 600_100)])
    found[2] = found[2].difference(shapely.box(582_100, 690_100, 582_200.5, 690_200.25))
    return found


def frame(crs: str = "EPSG:3424") -> gpd.GeoDataFrame:
    """Return the drawn layer of planning areas, with the publisher's field."""
    columns = {"SPDETAIL": CLASSES, "CODE": CODES, "ZONE": pd.array([1, None, 3, 4, 5, 6], dtype="Int64")}
    return gpd.GeoDataFrame(columns, geometry=shapes(), crs="EPSG:3424").to_crs(crs)


@pytest.fixture
def areas() -> gpd.GeoDataFrame:
    return frame()


def write(drawn: gpd.GeoDataFrame, path: Path, driver: str, **options: Any) -> Path:
    if driver == "OpenFileGDB":
        # Its later edition has whole numbers of 64 bits and days; its classes are of one type.
        options |= {"TARGET_ARCGIS_VERSION": "ARCGIS_PRO_3_2_OR_LATER", "geometry_type": "MultiPolygon"}
    pyogrio.write_dataframe(drawn, path, driver=driver, **options)
    return path


def zipped(path: Path, members: dict[str, Path]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in members.items():
            files = sorted(file.iterdir()) if file.is_dir() else [file]
            for one in files:
                archive.write(one, f"{name}/{one.name}" if file.is_dir() else name)
    return path


def shapefile(drawn: gpd.GeoDataFrame, path: Path, **options: Any) -> dict[str, Path]:
    write(drawn, path, "ESRI Shapefile", **options)
    return {p.suffix: p for p in path.parent.iterdir() if p.stem == path.stem}


def kinds(features: Features) -> dict[str, str]:
    return {change.kind: change.effect for change in features.changes}


def refused(path: Path, fault: str, **options: Any) -> str:
    with pytest.raises(LayerFault) as caught:
        read_features(path, **options)
    assert caught.value.fault == fault, str(caught.value)
    assert len(str(caught.value)) > 40
    return str(caught.value)


def same(features: Features, drawn: gpd.GeoDataFrame, within: float) -> None:
    assert len(features) == len(drawn)
    assert features.columns["SPDETAIL"] == CLASSES
    assert features.columns["CODE"] == CODES
    for got, want in zip(features.geometries, drawn.geometry, strict=True):
        assert shapely.hausdorff_distance(shapely.normalize(got), shapely.normalize(want)) <= within
        assert not shapely.has_z(got)


def as_text(drawn: gpd.GeoDataFrame, delimiter: str = ",") -> str:
    rows = [delimiter.join(("SPDETAIL", "CODE", "WKT"))]
    for detail, code, shape in zip(drawn["SPDETAIL"], drawn["CODE"], drawn.geometry, strict=True):
        rows.append(delimiter.join((detail, code, f'"{shapely.to_wkt(shape, rounding_precision=-1)}"')))
    return "\n".join(rows) + "\n"


def _geopackage(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    return write(drawn, folder / "areas.gpkg", "GPKG", layer="planning areas")


def _geodatabase(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    return write(drawn, folder / "areas.gdb", "OpenFileGDB", layer="planning_areas")


def _zipped_geodatabase(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    return zipped(folder / "gdb.zip", {"Export/areas.gdb": _geodatabase(folder, drawn)})


def _bare_geodatabase(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    with zipfile.ZipFile(folder / "bare.zip", "w") as archive:
        for part in _geodatabase(folder, drawn).iterdir():
            archive.write(part, part.name)
    return folder / "bare.zip"


def _shapefile(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    return shapefile(drawn, folder / "areas.shp")[".shp"]


def _zipped_shapefile(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    parts = shapefile(drawn, folder / "areas.shp")
    return zipped(folder / "county.zip", {f"Planning/2018/areas{end}": p for end, p in parts.items()})


def _folder(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    (folder / "loose").mkdir()
    shapefile(drawn, folder / "loose/areas.shp")
    return folder / "loose"


def _awkward(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    # Written elsewhere and moved: GDAL's binding reads an exclamation mark as the way into an archive.
    target = folder / "What! a? folder#1"
    target.mkdir()
    for ending, part in shapefile(drawn, folder / "areas.shp").items():
        part.rename(target / f"Pe\xf1a!{ending}")
    return target / "Pe\xf1a!.shp"


def _geojson(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    return write(drawn, folder / "areas.geojson", "GeoJSON", COORDINATE_PRECISION=15)


def _lines(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    return write(drawn, folder / "areas.geojsonl", "GeoJSONSeq", COORDINATE_PRECISION=15)


def _separated(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    return write(drawn, folder / "areas.json", "GeoJSONSeq", RS=True, COORDINATE_PRECISION=15)


def _kml(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    return write(drawn, folder / "areas.kml", "LIBKML", layer="planning_areas")


def _kmz(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    return zipped(folder / "areas.kmz", {"doc.kml": _kml(folder, drawn)})


def _geoparquet(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    drawn.to_parquet(folder / "areas.parquet", write_covering_bbox=True)
    return folder / "areas.parquet"


def _csv(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    (folder / "areas.csv").write_text(as_text(drawn), encoding="utf-8")
    return folder / "areas.csv"


def _tsv(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    (folder / "areas.tsv").write_text(as_text(drawn, "\t"), encoding="utf-16")
    return folder / "areas.tsv"


FEET: list[Callable[[Path, gpd.GeoDataFrame], Path]] = [
    _geopackage, _geodatabase, _zipped_geodatabase, _bare_geodatabase, _shapefile, _zipped_shapefile, _folder,
    _awkward, _geoparquet,
]  # fmt: skip
DEGREES: list[Callable[[Path, gpd.GeoDataFrame], Path]] = [_geojson, _lines, _separated, _kml, _kmz]


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


@pytest.mark.parametrize("make", [_csv, _tsv])
def test_a_layer_as_text_comes_back_as_it_was(
    tmp_path: Path, areas: gpd.GeoDataFrame, make: Callable[[Path, gpd.GeoDataFrame], Path]
) -> None:
    features = read_features(make(tmp_path, areas), kind="polygon")
    assert features.crs is None
    same(features, areas, KIN)


@pytest.mark.parametrize("make", [_geopackage, _shapefile, _geojson, _geoparquet])
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


# Choosing one of several.


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


def test_tables_beside_feature_classes(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    path = _geopackage(tmp_path, areas)
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
    path = _geodatabase(tmp_path, areas)
    write(areas.iloc[:3], path, "OpenFileGDB", layer="older", append=True)
    assert "'older' (polygon, 3 features)" in refused(path, "several_layers", kind="polygon")
    features = read_features(path, sublayer="older")
    assert features.source == "areas.gdb: older"
    assert features.columns["OBJECTID"] == [1, 2, 3]
    assert "'Export/areas.gdb/older'" in refused(
        zipped(tmp_path / "gdb.zip", {"Export/areas.gdb": path}), "several_layers"
    )


POLYGON = "<Polygon><outerBoundaryIs><LinearRing><coordinates>{}</coordinates></LinearRing></outerBoundaryIs></Polygon>"
RING = "-74.2,40.7,0 -74.1,40.7,0 -74.1,40.8,0 -74.2,40.7,0"


def kml(body: str, *, head: str = "") -> str:
    start = f'<?xml version="1.0" encoding="UTF-8"?>\n{head}<kml xmlns="http://www.opengis.net/kml/2.2"><Document>'
    return f"{start}<name>Doc</name>{body}</Document></kml>"


def place(name: str, ring: str = RING) -> str:
    data = f'<ExtendedData><Data name="SPDETAIL"><value>{name}</value></Data></ExtendedData>'
    return f"<Placemark><name>{name}</name>{data}{POLYGON.format(ring)}</Placemark>"


def test_folders_of_kml_are_layers(tmp_path: Path) -> None:
    body = (
        f"<Folder><name>Areas</name>{place('0102')}<Folder><name>Inner</name>{place('b')}{place('c')}</Folder></Folder>"
    )
    (tmp_path / "a.kml").write_text(kml(f"{body}<Folder><name>Empty</name></Folder>"), encoding="utf-8")
    message = refused(tmp_path / "a.kml", "several_layers", kind="polygon")
    assert "'Areas' (mixed, 1 features)" in message
    assert "Empty" not in message
    assert read_features(tmp_path / "a.kml", sublayer="Areas").columns["SPDETAIL"] == ["0102"]
    inner = read_features(zipped(tmp_path / "a.kmz", {"doc.kml": tmp_path / "a.kml"}), sublayer="Inner")
    assert inner.columns["Name"] == ["b", "c"]
    assert inner.source == "a.kmz: doc.kml/Inner"
    assert set(inner.columns) == {"Name", "SPDETAIL"}
    assert kinds(inner) == {"z_zero": "noted"}


def test_links_of_kml_are_told_and_not_followed(tmp_path: Path) -> None:
    link = "<NetworkLink><Link><href>http://127.0.0.1:9/x.kml</href></Link></NetworkLink>"
    (tmp_path / "a.kml").write_text(kml(link + place("a")), encoding="utf-8")
    assert kinds(read_features(tmp_path / "a.kml"))["links_not_followed"] == "left_out"


# What is not as it should be: shapefiles.


@pytest.mark.parametrize("ending", [".shx", ".dbf"])
def test_a_shapefile_needs_its_sidecars(tmp_path: Path, areas: gpd.GeoDataFrame, ending: str) -> None:
    parts = shapefile(areas, tmp_path / "areas.shp")
    parts[ending].rename(tmp_path / f"AREAS{ending}")
    assert "Rename" in refused(parts[".shp"], "missing_sidecar")
    (tmp_path / f"AREAS{ending}").unlink()
    assert f"areas{ending}" in refused(parts[".shp"], "missing_sidecar")
    refused(zipped(tmp_path / "a.zip", {f"x/{p.name}": p for p in tmp_path.glob("areas.*")}), "missing_sidecar")


def test_a_shapefile_without_prj_declares_no_system(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    parts = shapefile(areas, tmp_path / "areas.shp")
    parts[".prj"].unlink()
    assert read_features(parts[".shp"]).crs is None


def test_feet_of_two_kinds_are_kept_apart(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    parts = shapefile(areas, tmp_path / "areas.shp")
    text = parts[".prj"].read_text()
    assert "0.304800609601219" in text
    parts[".prj"].write_text(text.replace("0.304800609601219", "0.3048"))
    crs = read_features(parts[".shp"]).crs
    assert crs is not None
    assert crs != "EPSG:3424"
    assert "0.3048]" in crs


@pytest.mark.parametrize("ending", [".shp", ".shx", ".dbf"])
@pytest.mark.parametrize("part", [0.0, 0.05, 0.5, 0.97])
def test_a_cut_shapefile_is_refused(tmp_path: Path, areas: gpd.GeoDataFrame, ending: str, part: float) -> None:
    parts = shapefile(areas, tmp_path / "areas.shp")
    content = parts[ending].read_bytes()
    parts[ending].write_bytes(content[: int(len(content) * part)])
    with pytest.raises(LayerFault) as caught:
        read_features(parts[".shp"])
    assert caught.value.fault in {"truncated", "wrong_format"}
    assert parts[ending].name in str(caught.value)


def test_a_shapefile_cut_with_its_header_made_to_fit_is_refused(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    parts = shapefile(areas, tmp_path / "areas.shp")
    content = bytearray(parts[".shp"].read_bytes())[:400]
    content[24:28] = struct.pack(">i", 200)
    parts[".shp"].write_bytes(content)
    assert "row" in refused(parts[".shp"], "truncated")


def test_parts_of_different_exports_are_refused(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    parts = shapefile(areas, tmp_path / "areas.shp")
    (tmp_path / "other").mkdir()
    other = shapefile(areas.iloc[::-1].iloc[:5], tmp_path / "other/areas.shp")
    for ending in (".dbf", ".shx"):
        kept = parts[ending].read_bytes()
        shutil.copyfile(other[ending], parts[ending])
        refused(parts[".shp"], "truncated")
        parts[ending].write_bytes(kept)
    assert len(read_features(parts[".shp"])) == 6


def test_a_shape_that_gdal_cannot_make_out_is_no_empty_one(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    parts = shapefile(areas, tmp_path / "areas.shp")
    content = bytearray(parts[".shp"].read_bytes())
    content[100 + 8 + 36 : 100 + 8 + 40] = struct.pack("<i", 1_000_000)
    parts[".shp"].write_bytes(content)
    with pytest.raises(LayerFault) as caught:
        read_features(parts[".shp"])
    assert caught.value.fault in {"broken_geometry", "unreadable"}


def test_missing_shapes_stay_missing(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    areas.loc[3, "geometry"] = None
    features = read_features(shapefile(areas, tmp_path / "areas.shp")[".shp"])
    assert [g is None for g in features.geometries] == [False, False, False, True, False, False]


def test_deleted_rows_are_told(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    parts = shapefile(areas, tmp_path / "areas.shp")
    content = bytearray(parts[".dbf"].read_bytes())
    start, width = struct.unpack("<HH", content[8:12])
    content[start + 2 * width] = ord("*")
    parts[".dbf"].write_bytes(content)
    features = read_features(parts[".shp"])
    assert features.columns["CODE"] == [CODES[i] for i in (0, 1, 3, 4, 5)]
    assert next(c.rows for c in features.changes if c.kind == "deleted_rows") == (3,)


def test_cut_names_are_told(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    parts = shapefile(areas.rename(columns={"CODE": "TENLETTERS"}), tmp_path / "areas.shp")
    told = {c.kind: c for c in read_features(parts[".shp"]).changes}
    assert "TENLETTERS" in told["field_names_cut"].words
    assert "SPDETAIL" not in told["field_names_cut"].words


def recode(parts: dict[str, Path], text: bytes, cpg: str | None, language: int) -> Path:
    """Put other bytes in place of the last class, and declare an encoding."""
    content = bytearray(parts[".dbf"].read_bytes())
    at = content.index("Pe\xf1a".encode())
    content[at : at + 6] = text.ljust(6)
    content[29] = language
    parts[".dbf"].write_bytes(content)
    if cpg is None:
        parts[".cpg"].unlink(missing_ok=True)
    else:
        parts[".shp"].with_suffix(".cpg").write_text(cpg)
    return parts[".shp"]


UTF8, LATIN = "Pe\xf1a".encode(), "Pe\xf1a".encode("cp1252")


@pytest.mark.parametrize(
    ("text", "cpg", "language"),
    [
        (UTF8, "UTF-8", 0), (UTF8, "65001", 0x57), (UTF8, None, 0), (LATIN, None, 0), (LATIN, None, 0x57),
        (LATIN, "1252", 0), (LATIN, "ANSI 1252", 0), (LATIN, "ISO-8859-1", 0), (LATIN, "88591", 0),
        ("Pe\xf1a".encode("cp437"), None, 0x01),
    ],
)  # fmt: skip
def test_text_is_read_as_declared(
    tmp_path: Path, areas: gpd.GeoDataFrame, text: bytes, cpg: str | None, language: int
) -> None:
    features = read_features(recode(shapefile(areas, tmp_path / "areas.shp"), text, cpg, language))
    assert features.columns["SPDETAIL"][-1] == "Pe\xf1a"
    assert ("encoding_taken" in kinds(features)) == (cpg is None and language == 0)


@pytest.mark.parametrize(
    ("text", "cpg", "language", "right"),
    [
        (LATIN, "UTF-8", 0, "cp1252"),
        (UTF8, "1252", 0, "utf-8"),
        (UTF8, None, 0x57, "UTF-8"),
        (UTF8, "X-MAC-9", 0, "utf-8"),
    ],
)
def test_text_that_is_not_as_declared_is_refused_until_named(  # noqa: PLR0917 - one for each column
    tmp_path: Path, areas: gpd.GeoDataFrame, text: bytes, cpg: str | None, language: int, right: str
) -> None:
    path = recode(shapefile(areas, tmp_path / "areas.shp"), text, cpg, language)
    refused(path, "wrong_encoding")
    assert read_features(path, encoding=right).columns["SPDETAIL"][-1] == "Pe\xf1a"
    refused(path, "wrong_encoding", encoding="no-such-encoding")


# Truncated files of the other formats.


@pytest.mark.parametrize("make", [_geopackage, _geojson, _lines, _separated, _kml, _geoparquet, _zipped_shapefile])
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


def test_a_geojson_cut_between_features_is_refused(tmp_path: Path) -> None:
    path = _geojson(tmp_path, frame("OGC:CRS84"))
    text = path.read_text()
    for at in [i for i in range(len(text)) if text.startswith('{ "type": "Feature"', i)][1:]:
        for cut in (at, text.rindex("}", 0, at) + 1):
            path.write_text(text[:cut])
            refused(path, "truncated")


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
    path = _geopackage(tmp_path, areas)
    content = bytearray(path.read_bytes())
    at = content.index(b"METROPOLITAN") // 4096 * 4096
    content[at : at + 8] = b"\xff" * 8
    path.write_bytes(content)
    refused(path, "unreadable")


def test_a_geopackage_is_not_changed_by_reading(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    path = _geopackage(tmp_path, areas)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    before, stamp = hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns
    assert len(read_features(path)) == 6
    assert (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns) == (before, stamp)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_changes_not_yet_in_a_geopackage_are_refused(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    path = _geopackage(tmp_path, areas)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("CREATE TABLE more (a TEXT)")
    connection.commit()
    assert "areas.gpkg-wal" in refused(path, "unsaved_changes")
    connection.close()


def test_views_and_virtual_tables_are_refused(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    path = _geopackage(tmp_path, areas)
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


# Broken content that GDAL passes over.


def collection(*shapes_: Any, crs: Any = ..., **more: Any) -> str:
    features = [
        {"type": "Feature", "properties": {"SPDETAIL": "RURAL", **more}, "geometry": shape} for shape in shapes_
    ]
    return json.dumps({"type": "FeatureCollection", **({} if crs is ... else {"crs": crs}), "features": features})


def ring(*extra: Any) -> dict[str, Any]:
    outer = [[-74.2, 40.7], [-74.1, 40.7], [-74.1, 40.8], [-74.2, 40.7]]
    return {"type": "Polygon", "coordinates": [outer, list(extra)] if extra else [outer]}


@pytest.mark.parametrize(
    "broken",
    [
        ring([-74.15, 40.72], ["a", 40.72], [-74.14, 40.73], [-74.15, 40.72]),
        ring([-74.15, 40.72], [40.72], [-74.14, 40.73], [-74.15, 40.72]),
        ring([-74.15, 40.72], None, [-74.14, 40.73], [-74.15, 40.72]),
        ring([-74.15, 40.72], [None, 40.72], [-74.14, 40.73], [-74.15, 40.72]),
        ring([-74.15, 40.72], [-74.14, 40.72], [-74.14, 40.73], [-74.15, 40.74]),
        {"type": "Polygone", "coordinates": ring()["coordinates"]},
        {"type": "Polygon", "coordinates": "none"},
        {"type": "Polygon"},
        {"type": "MultiPolygon", "coordinates": [ring()["coordinates"], [[[1, 1], ["a", 2], [3, 3], [1, 1]]]]},
    ],
)
def test_coordinates_that_are_no_numbers_are_no_empty_shapes(tmp_path: Path, broken: Any) -> None:
    (tmp_path / "a.geojson").write_text(collection(ring(), broken))
    assert "a.geojson" in refused(tmp_path / "a.geojson", "broken_geometry")


def test_what_is_no_feature_is_not_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.geojson"
    text = collection(ring(), ring(), ring())
    path.write_text(text.replace('"Feature", "properties": {"SPDETAIL": "RURAL"}', '"Feature"', 1))
    assert len(read_features(path)) == 3
    whole = json.loads(text)
    for other in (None, 3, ring(), {"properties": {}, "geometry": None}, {"type": "feature", "geometry": None}):
        path.write_text(json.dumps(whole | {"features": [*whole["features"], other]}))
        assert "row 4" in refused(path, "wrong_format")
    del whole["features"][1]["geometry"]
    path.write_text(json.dumps(whole))
    assert "row 2" in refused(path, "broken_geometry")


@pytest.mark.parametrize(
    "more",
    [
        {"geometry": None},
        {"geometry": {"type": "Polygon", "coordinates": [[["a"]]]}},
        {"coordinates": [[1], ["a", None]]},
        {"crs": None},
        {"crs": {"type": "name", "properties": {"name": "EPSG:3424"}}},
        {"crs": {"type": "link", "properties": {"href": "http://127.0.0.1:9/crs"}}},
        {"note": {"type": "Feature"}},
        {"note": {"type": "Feature", "geometry": None, "crs": None, "features": [{"type": "Feature"}]}},
        {"type": "Feature"},
        {"type": "Topology"},
        {"type": "gdal_streamed_alg"},
        {"geometryType": "esriGeometryPolygon", "attributes": {}, "features": None},
        {"note": '"crs": null, "geometry": null, {"type": "Feature"} ] }'},
    ],
)
def test_properties_may_be_named_as_what_geojson_is_made_of(tmp_path: Path, more: dict[str, Any]) -> None:
    path = tmp_path / "a.geojson"
    features = json.loads(collection(ring(), ring(), None))["features"]
    for feature in features:
        feature["properties"] |= more
    whole, one = json.dumps({"type": "FeatureCollection", "features": features}), json.dumps(features[0])
    for text, count in ((whole, 3), (one, 1), (f"{one}\n{one}\n", 2)):
        path.write_text(text)
        read = read_features(path)
        assert read.crs == "OGC:CRS84"
        assert [shape and shape.area > 0 for shape in read.geometries] == [True, True, None][:count]
        assert set(read.columns) == {"SPDETAIL", *more}
        for name, value in more.items():
            for got in read.columns[name]:
                assert (got if value is None or isinstance(value, str) else json.loads(got)) == value
        assert find_sources(path) == [Source("a.geojson", "geojson", "mixed", count)]


def test_null_and_empty_shapes_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.geojson").write_text(collection(ring(), None, {"type": "Polygon", "coordinates": []}))
    first, second, third = read_features(tmp_path / "a.geojson").geometries
    assert second is None
    assert third.is_empty
    assert not first.is_empty


def test_codes_of_geojson_stay_text(tmp_path: Path) -> None:
    (tmp_path / "a.geojson").write_text(
        collection(ring(), ring(), day="2015-01-02", code="0102", many=[1, "a"], big=2**53)
    )
    columns = read_features(tmp_path / "a.geojson").columns
    assert columns["day"] == ["2015-01-02"] * 2
    assert columns["code"] == ["0102"] * 2
    assert json.loads(columns["many"][0]) == [1, "a"]
    assert columns["big"][0] == 2**53


def test_mixed_types_and_collections_are_kept(tmp_path: Path) -> None:
    line = {"type": "LineString", "coordinates": [[-74, 40], [-74, 41]]}
    both = {"type": "GeometryCollection", "geometries": [ring(), line]}
    (tmp_path / "a.geojson").write_text(collection(ring(), line, both))
    assert [g.geom_type for g in read_features(tmp_path / "a.geojson").geometries] == [
        "Polygon",
        "LineString",
        "GeometryCollection",
    ]


def named(name: str) -> dict[str, Any]:
    return {"type": "name", "properties": {"name": name}}


@pytest.mark.parametrize(
    ("crs", "read"),
    [
        (..., "OGC:CRS84"), (None, None), (named("urn:ogc:def:crs:EPSG::3424"), "EPSG:3424"),
        (named("urn:ogc:def:crs:OGC:1.3:CRS84"), "OGC:CRS84"), (named("EPSG:26918"), "EPSG:26918"),
    ],
)  # fmt: skip
def test_the_system_of_geojson_is_the_one_that_it_names(tmp_path: Path, crs: Any, read: str | None) -> None:
    (tmp_path / "a.geojson").write_text(collection(ring(), crs=crs))
    assert read_features(tmp_path / "a.geojson").crs == read


@pytest.mark.parametrize("name", ["id", "ID", "fid", "OBJECTID"])
def test_a_property_that_looks_like_a_row_number_is_an_attribute(tmp_path: Path, name: str) -> None:
    shape = {"type": "Point", "coordinates": [-74.1, 40.7]}
    rows = [{"type": "Feature", "properties": {name: value, "A": "x"}, "geometry": shape} for value in (7, 9)]
    (tmp_path / "a.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": rows}))
    assert read_features(tmp_path / "a.geojson").columns == {name: [7, 9], "A": ["x", "x"]}


def test_geojson_in_feet_that_names_no_system_declares_none(tmp_path: Path) -> None:
    corners = [[585000, 690000], [585100, 690000], [585100, 690100], [585000, 690000]]
    shape = {"type": "Polygon", "coordinates": [corners]}
    (tmp_path / "a.geojson").write_text(json.dumps({"type": "Feature", "properties": {}, "geometry": shape}))
    assert read_features(tmp_path / "a.geojson").crs is None


def test_columns_of_longitude_with_numbers_too_large_for_degrees_declare_none(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("longitude,latitude\n585000,690000\n")
    assert read_features(tmp_path / "a.csv").crs is None


def test_systems_behind_links_or_unknown_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.geojson"
    path.write_text(collection(ring(), crs={"type": "link", "properties": {"href": "http://127.0.0.1:9/crs"}}))
    refused(path, "not_allowed")
    for name in ("PROJCS[...]", "EPSG:999999", "/etc/passwd", "http://127.0.0.1:9/crs"):
        path.write_text(collection(ring(), crs=named(name)))
        refused(path, "unknown_crs")


def test_geojson_in_other_encodings(tmp_path: Path) -> None:
    path = tmp_path / "a.geojson"
    text = collection(ring(), name="Pe\xf1a").replace("\\u00f1", "\xf1")
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert read_features(path).columns["name"] == ["Pe\xf1a"]
    for codec in ("cp1252", "utf-16"):
        path.write_bytes(text.encode(codec))
        refused(path, "wrong_encoding")
        assert read_features(path, encoding=codec).columns["name"] == ["Pe\xf1a"]
    refused(path, "wrong_encoding", encoding="utf-8")


@pytest.mark.parametrize(
    "coordinates", ["-74.2,40.7 abc,40.7 -74.1,40.8 -74.2,40.7", "-74.2 40.7 -74.1 40.7", "-74.2,40.7,"]
)
def test_coordinates_of_kml_are_numbers(tmp_path: Path, coordinates: str) -> None:
    (tmp_path / "a.kml").write_text(kml(place("a") + place("b", coordinates)), encoding="utf-8")
    assert "placemark 2" in refused(tmp_path / "a.kml", "broken_geometry")


# Heights, measures and curves.


def pack(kind: int, *numbers: float) -> bytes:
    return struct.pack(f"<BI{len(numbers)}d", 1, kind, *numbers)


def curve(radius: float) -> bytes:
    points = [(0, 0), (radius, radius), (2 * radius, 0), (radius, -radius), (0, 0)]
    rounded = struct.pack("<BII", 1, 8, len(points)) + b"".join(struct.pack("<dd", *p) for p in points)
    return struct.pack("<BII", 1, 10, 1) + rounded


def geopackage_of(path: Path, shapes_: list[bytes | None]) -> Path:
    table = pa.table({"SPDETAIL": ["RURAL"] * len(shapes_), "g": pa.array(shapes_, pa.binary())})
    raw.write_arrow(table, path, driver="GPKG", layer="a", geometry_name="g", geometry_type="Unknown", crs="EPSG:3424")
    return path


def test_heights_and_measures_are_left_out_and_told(tmp_path: Path) -> None:
    shapes_ = [
        pack(1, 1, 2),
        pack(1001, 1, 2, 3),
        pack(2001, 1, 2, 3),
        pack(3001, 1, 2, 3, 4),
        pack(1001, 1, 2, 0),
        None,
    ]
    features = read_features(geopackage_of(tmp_path / "a.gpkg", shapes_))
    told = {c.kind: (c.effect, c.rows) for c in features.changes}
    assert told == {"z_dropped": ("changed", (2, 4)), "z_zero": ("noted", (5,)), "m_dropped": ("changed", (3, 4))}
    assert [g and g.wkt for g in features.geometries] == ["POINT (1 2)"] * 5 + [None]


def test_curves_become_chords_and_are_told(tmp_path: Path) -> None:
    radius = 79_200.0
    plain = shapely.to_wkb(shapely.box(0, 0, 1, 1))
    features = read_features(geopackage_of(tmp_path / "a.gpkg", [plain, curve(radius), None]))
    told = {c.kind: (c.effect, c.rows) for c in features.changes}
    assert told == {"curves_linearised": ("changed", (2,))}
    first, second, third = features.geometries
    assert first.equals(shapely.box(0, 0, 1, 1))
    assert third is None
    exact = np.pi * radius**2
    assert 0 < exact - second.area < 5e-6 * exact
    chord = shapely.Point(radius, 0).distance(second.exterior)
    assert 0 < radius - chord < 0.2


def test_curves_in_a_collection_are_refused(tmp_path: Path) -> None:
    collected = struct.pack("<BII", 1, 7, 2) + pack(1, 5, 6) + curve(10)
    assert "row 2" in refused(geopackage_of(tmp_path / "a.gpkg", [curve(10), collected]), "broken_geometry")


def test_curves_of_a_geodatabase(tmp_path: Path) -> None:
    table = pa.table({"SPDETAIL": ["RURAL"], "g": pa.array([curve(1000)], pa.binary())})
    raw.write_arrow(
        table, tmp_path / "a.gdb", driver="OpenFileGDB", layer="a", geometry_name="g", geometry_type="MultiPolygon",
        crs="EPSG:3424",
    )  # fmt: skip
    features = read_features(tmp_path / "a.gdb")
    assert kinds(features) == {"curves_linearised": "changed"}
    assert features.geometries[0].area == pytest.approx(np.pi * 1e6, rel=1e-5)


# Parquet.


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


# Text.


def text(path: Path, content: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(content.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("header", "delimiter"),
    [
        (("longitude", "latitude"), ","), (("LON", "LAT"), ";"), (("POINT_X", "POINT_Y"), "\t"), (("X", "Y"), "|"),
    ],
)  # fmt: skip
def test_coordinates_in_columns(tmp_path: Path, header: tuple[str, str], delimiter: str) -> None:
    rows = [("code", *header), ("0102", "-74.1641", "40.7344"), ("3E5", "", ""), ("1.10", " -75 ", "+4e1")]
    path = text(tmp_path / "a.csv", "\r\n".join(map(delimiter.join, rows)) + "\r\n", "utf-8-sig")
    features = read_features(path, kind="point")
    assert features.columns["code"] == ["0102", "3E5", "1.10"]
    assert [g and g.wkt for g in features.geometries] == ["POINT (-74.1641 40.7344)", None, "POINT (-75 40)"]
    assert features.crs == ("OGC:CRS84" if header[0].lower() in {"longitude", "lon"} else None)
    assert kinds(features) == {"geometry_columns": "noted"}


@pytest.mark.parametrize("bad", ["74,1641", "N/A", "1_0", "nan", "inf", "40\u00b044'", ""])
def test_coordinates_that_are_no_numbers_name_their_row(tmp_path: Path, bad: str) -> None:
    path = text(tmp_path / "a.csv", f'a,lon,lat\n1,-74,40\n2,"{bad}",40\n')
    assert "row 2: lon" in refused(path, "bad_coordinates")


def test_a_table_has_no_geometry(tmp_path: Path) -> None:
    path = text(tmp_path / "a.csv", "MUN_CODE,NAME\n0102,Atlantic City\n")
    assert find_sources(path)[0].kind == "table"
    assert list(read_features(path, kind="table").geometries) == [None]
    refused(path, "no_layer", kind="point")
    places = text(tmp_path / "b.csv", "MUN_CODE,lon,lat\n0102,bad,40\n")
    assert read_features(places, kind="table").columns["lon"] == ["bad"]


def test_text_in_three_encodings(tmp_path: Path) -> None:
    for codec in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
        features = read_features(text(tmp_path / "a.csv", "name\nPe\xf1a\n", codec))
        assert features.columns == {"name": ["Pe\xf1a"]}
        assert ("encoding_taken" in kinds(features)) == (codec == "cp1252")
    path = text(tmp_path / "a.csv", "name\nPe\xf1a\n", "cp437")
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
    refused(text(tmp_path / "a.csv", content), fault)


def test_an_open_last_line_is_told(tmp_path: Path) -> None:
    assert kinds(read_features(text(tmp_path / "a.csv", "a,b\n1,2\n3,4"))) == {"open_last_line": "noted"}


def test_well_known_text_with_its_system_heights_and_long_cells(tmp_path: Path) -> None:
    circle = shapely.Point(580_000, 690_000).buffer(1000, quad_segs=4000)
    path = text(tmp_path / "a.csv", f'the_geom\n"SRID=3424;{circle.wkt}"\nSRID=3424;POINT Z (1 2 3)\n')
    features = read_features(path)
    assert features.crs == "EPSG:3424"
    assert shapely.get_num_coordinates(features.geometries[0]) == shapely.get_num_coordinates(circle)
    assert kinds(features) == {"geometry_columns": "noted", "z_dropped": "changed"}


# What GDAL is never given.


@pytest.mark.parametrize(
    "typed",
    ["/vsicurl/http://127.0.0.1:9/a.shp", "/vsizip/a.zip", "http://127.0.0.1/a.geojson", "https:/x/a.shp",
     "WFS:http://127.0.0.1/", "MVT:a", "PG:dbname=x", "GPKG:a.gpkg:t", "s3://bucket/a.shp", "MySQL:x"],
)  # fmt: skip
def test_no_remote_or_virtual_paths(typed: str) -> None:
    refused(Path(typed), "not_allowed")


VRT = (
    '<OGRVRTDataSource><OGRVRTLayer name="a"><SrcDataSource>/vsicurl/http://127.0.0.1:9/a</SrcDataSource>'
    "</OGRVRTLayer></OGRVRTDataSource>"
)
GDALG = '{"type": "gdal_streamed_alg", "command_line": "gdal vector pipeline ! read /etc/passwd ! write x"}'


@pytest.mark.parametrize("ending", ["shp", "gpkg", "geojson", "json", "geojsonl", "kml", "parquet", "csv"])
@pytest.mark.parametrize("content", [VRT, GDALG, "PK\3\4", "", "\x7fELF\0"])
def test_content_that_does_not_fit_the_ending_is_refused(tmp_path: Path, ending: str, content: str) -> None:
    path = text(tmp_path / f"a.{ending}", content)
    for other in ("shx", "dbf") if ending == "shp" else ():
        text(tmp_path / f"a.{other}", content)
    with pytest.raises(LayerFault) as caught:
        read_features(path)
    assert caught.value.fault in {"wrong_format", "not_allowed", "truncated", "no_layer", "wrong_encoding"}


@pytest.mark.parametrize(
    "content",
    [
        GDALG,
        '{"type": "Topology", "objects": {}}',
        '{"geometryType": "esriGeometryPolygon", "features": []}',
        "[]",
    ],
)
def test_other_json_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(LayerFault) as caught:
        read_features(text(tmp_path / "a.json", content))
    assert caught.value.fault in {"not_allowed", "wrong_format"}
    mixed = GDALG[:-1] + ', "features": [{"type": "Feature", "properties": {}, "geometry": null}]}'
    refused(text(tmp_path / "b.json", mixed), "not_allowed")


def test_entities_of_xml_are_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE kml [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    refused(text(tmp_path / "a.kml", kml(place("&b;"), head=bomb)), "not_allowed")
    outside = '<!DOCTYPE kml SYSTEM "http://127.0.0.1:9/kml.dtd">'
    refused(text(tmp_path / "a.kml", kml(place("a"), head=outside)), "not_allowed")
    wide = kml(place("&b;"), head=bomb).replace("UTF-8", "UTF-16")
    refused(text(tmp_path / "a.kml", wide, "utf-16"), "not_allowed")


def test_a_vrt_in_a_zip_is_no_layer(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"a.vrt": text(tmp_path / "a.vrt", VRT)})
    refused(path, "no_layer")
    refused(tmp_path / "a.vrt", "wrong_format")


def test_archives_inside_are_told(tmp_path: Path, areas: gpd.GeoDataFrame) -> None:
    inner = _zipped_shapefile(tmp_path, areas)
    outer = zipped(tmp_path / "outer.zip", {"county.zip": inner})
    assert "county.zip" in refused(outer, "no_layer")
    both = zipped(tmp_path / "both.zip", {"county.zip": inner, "sites.geojson": _geojson(tmp_path, frame("OGC:CRS84"))})
    assert kinds(read_features(both))["nested_archive"] == "noted"


def test_files_that_are_not_there_or_no_files(tmp_path: Path) -> None:
    refused(tmp_path / "none.shp", "not_found")
    refused(tmp_path, "no_layer")
    refused(text(tmp_path / "a.docx", "x"), "wrong_format")


def test_what_macos_adds_is_passed_over(tmp_path: Path) -> None:
    drawn = _geojson(tmp_path, frame("OGC:CRS84"))
    extra = text(tmp_path / "extra", "\0\5\x16\7")
    path = zipped(tmp_path / "a.zip", {"areas.geojson": drawn, "__MACOSX/._areas.geojson": extra, "._areas.shp": extra})
    assert len(read_features(path)) == 6


def test_other_drivers_can_be_shut_out_of_a_process() -> None:
    script = (
        "from grownj_geo.readers_gdal import DRIVERS, shut_drivers\n"
        "assert shut_drivers()\n"
        "import os, pyogrio\n"
        "assert 'GDAL_SKIP' not in os.environ\n"
        "left = set(pyogrio.list_drivers())\n"
        "assert left <= set(DRIVERS), left\n"
        "assert {'ESRI Shapefile', 'GPKG', 'OpenFileGDB', 'GeoJSON'} <= left\n"
        "assert not shut_drivers()\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_settings_of_gdal_are_put_back(tmp_path: Path) -> None:
    before = pyogrio.get_gdal_config_option("OGR_ARC_STEPSIZE")
    read_features(geopackage_of(tmp_path / "a.gpkg", [curve(10)]))
    assert pyogrio.get_gdal_config_option("OGR_ARC_STEPSIZE") == before
