"""Drawn planning areas as files in every format that a GIS office has, and what tests of readers ask of them."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import pandas as pd
import pyogrio
import pytest
import shapely

from grownj_geo.features import LayerFault
from grownj_geo.readers import read_features

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grownj_geo.features import Features

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


def geopackage_file(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    return write(drawn, folder / "areas.gpkg", "GPKG", layer="planning areas")


def geodatabase_file(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    return write(drawn, folder / "areas.gdb", "OpenFileGDB", layer="planning_areas")


def zipped_geodatabase(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    return zipped(folder / "gdb.zip", {"Export/areas.gdb": geodatabase_file(folder, drawn)})


def bare_geodatabase(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    with zipfile.ZipFile(folder / "bare.zip", "w") as archive:
        for part in geodatabase_file(folder, drawn).iterdir():
            archive.write(part, part.name)
    return folder / "bare.zip"


def shapefile_file(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    return shapefile(drawn, folder / "areas.shp")[".shp"]


def zipped_shapefile(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    parts = shapefile(drawn, folder / "areas.shp")
    return zipped(folder / "county.zip", {f"Planning/2018/areas{end}": p for end, p in parts.items()})


def loose_shapefile(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    (folder / "loose").mkdir()
    shapefile(drawn, folder / "loose/areas.shp")
    return folder / "loose"


def awkward_shapefile(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    # Written elsewhere and moved: GDAL's binding reads an exclamation mark as the way into an archive.
    target = folder / "What! a? folder#1"
    target.mkdir()
    for ending, part in shapefile(drawn, folder / "areas.shp").items():
        part.rename(target / f"Pe\xf1a!{ending}")
    return target / "Pe\xf1a!.shp"


def geojson_file(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    return write(drawn, folder / "areas.geojson", "GeoJSON", COORDINATE_PRECISION=15)


def geojson_lines(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    return write(drawn, folder / "areas.geojsonl", "GeoJSONSeq", COORDINATE_PRECISION=15)


def geojson_records(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    return write(drawn, folder / "areas.json", "GeoJSONSeq", RS=True, COORDINATE_PRECISION=15)


def kml_file(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    return write(drawn, folder / "areas.kml", "LIBKML", layer="planning_areas")


def kmz_file(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    return zipped(folder / "areas.kmz", {"doc.kml": kml_file(folder, drawn)})


def geoparquet_file(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    drawn.to_parquet(folder / "areas.parquet", write_covering_bbox=True)
    return folder / "areas.parquet"


def csv_file(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    (folder / "areas.csv").write_text(as_text(drawn), encoding="utf-8")
    return folder / "areas.csv"


def tsv_file(folder: Path, drawn: gpd.GeoDataFrame) -> Path:
    (folder / "areas.tsv").write_text(as_text(drawn, "\t"), encoding="utf-16")
    return folder / "areas.tsv"


FEET: list[Callable[[Path, gpd.GeoDataFrame], Path]] = [
    geopackage_file, geodatabase_file, zipped_geodatabase, bare_geodatabase, shapefile_file,
    zipped_shapefile, loose_shapefile, awkward_shapefile, geoparquet_file,
]  # fmt: skip

DEGREES: list[Callable[[Path, gpd.GeoDataFrame], Path]] = [
    geojson_file,
    geojson_lines,
    geojson_records,
    kml_file,
    kmz_file,
]

POLYGON = "<Polygon><outerBoundaryIs><LinearRing><coordinates>{}</coordinates></LinearRing></outerBoundaryIs></Polygon>"

RING = "-74.2,40.7,0 -74.1,40.7,0 -74.1,40.8,0 -74.2,40.7,0"


def kml(body: str, *, head: str = "") -> str:
    start = f'<?xml version="1.0" encoding="UTF-8"?>\n{head}<kml xmlns="http://www.opengis.net/kml/2.2"><Document>'
    return f"{start}<name>Doc</name>{body}</Document></kml>"


def place(name: str, ring: str = RING) -> str:
    data = f'<ExtendedData><Data name="SPDETAIL"><value>{name}</value></Data></ExtendedData>'
    return f"<Placemark><name>{name}</name>{data}{POLYGON.format(ring)}</Placemark>"


def collection(*shapes_: Any, crs: Any = ..., **more: Any) -> str:
    features = [
        {"type": "Feature", "properties": {"SPDETAIL": "RURAL", **more}, "geometry": shape} for shape in shapes_
    ]
    return json.dumps({"type": "FeatureCollection", **({} if crs is ... else {"crs": crs}), "features": features})


def ring(*extra: Any) -> dict[str, Any]:
    outer = [[-74.2, 40.7], [-74.1, 40.7], [-74.1, 40.8], [-74.2, 40.7]]
    return {"type": "Polygon", "coordinates": [outer, list(extra)] if extra else [outer]}


def save_text(path: Path, content: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(content.encode(encoding))
    return path


VRT = (
    '<OGRVRTDataSource><OGRVRTLayer name="a"><SrcDataSource>/vsicurl/http://127.0.0.1:9/a</SrcDataSource>'
    "</OGRVRTLayer></OGRVRTDataSource>"
)

GDALG = '{"type": "gdal_streamed_alg", "command_line": "gdal vector pipeline ! read /etc/passwd ! write x"}'
