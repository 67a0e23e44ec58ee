"""Parcels as files: some lots of Camden, as the State publishes parcels, in every format that they come in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import geopandas as gpd
import shapely
from drawn import CAMDEN

from grownj_geo.units import to_working

if TYPE_CHECKING:
    from pathlib import Path

X, Y = (float(v) for v in to_working(*CAMDEN))
"""South-west corner of the first lot, in EPSG:3424 (US survey feet)."""

WIDE, DEEP = 50.0, 100.0


def lot(column: int, row: int = 0, *, wide: float = WIDE, deep: float = DEEP) -> shapely.Polygon:
    """Return a lot of a block: the lots of a row touch one another."""
    x, y = X + column * WIDE, Y + row * DEEP
    return shapely.box(x, y, x + wide, y + deep)


def frame(*rows: dict[str, Any], crs: str = "EPSG:3424") -> gpd.GeoDataFrame:
    """Return rows with the publisher's fields; what a row does not say is empty, and lots stand side by side."""
    full = [
        {
            "PAMS_PIN": f"0408_81_{i + 1}",
            "PCL_MUN": "0408",
            "PCLBLOCK": "81",
            "PCLLOT": str(i + 1),
            "PCLQCODE": None,
            "PROP_LOC": f"{10 + 2 * i} MARKET ST",
            "PROP_CLASS": "4A",
            "OWNER_NAME": "SOMEBODY",
            "ST_ADDRESS": "1 ELSEWHERE AVE",
            "ZIP_CODE": "10001",
            "geometry": lot(i),
            **row,
        }
        for i, row in enumerate(rows)
    ]
    columns = {name: [one[name] for one in full] for name in full[0] if name != "geometry"}
    return gpd.GeoDataFrame(columns, geometry=[one["geometry"] for one in full], crs=crs)


def composite() -> gpd.GeoDataFrame:
    """Return what has to be told: two stacked units, a number twice, one in two parts, one without an outline."""
    return frame(
        {},
        {"PAMS_PIN": "0408_81_2_C0001", "PCLLOT": "2", "PCLQCODE": "C0001", "geometry": lot(1)},
        {"PAMS_PIN": "0408_81_2_C0002", "PCLLOT": "2", "PCLQCODE": "C0002", "geometry": lot(1)},
        {"PAMS_PIN": "0408_81_1.1", "PCLLOT": "1.1", "geometry": lot(3)},
        {"PAMS_PIN": "0408_81_1.10", "PCLLOT": "1.10", "geometry": lot(4)},
        {"PAMS_PIN": "0408_82_1", "PCLBLOCK": "82", "PCLLOT": "1", "geometry": lot(0, 2)},
        {"PAMS_PIN": "0408_82_1", "PCLBLOCK": "82", "PCLLOT": "1", "geometry": lot(2, 2)},
        {"PAMS_PIN": "0408_83_1", "PCLBLOCK": "83", "PCLLOT": "1", "geometry": lot(0, 4)},
        {"PAMS_PIN": "0408_83_1", "PCLBLOCK": "83", "PCLLOT": "1", "geometry": lot(0, 4)},
        {"PAMS_PIN": "0408_84_1", "PCLBLOCK": "84", "PCLLOT": "1", "geometry": None},
    )


def write(drawn: gpd.GeoDataFrame, path: Path) -> Path:
    """Write a frame in the format of its name."""
    if path.suffix == ".parquet":
        drawn.to_parquet(path)
    elif path.suffix == ".csv":
        text = drawn.drop(columns="geometry")
        shapes = [None if shape is None else shape.wkt for shape in drawn.geometry]
        text.assign(WKT=shapes).to_csv(path, index=False)
    else:
        drivers = {".gpkg": "GPKG", ".shp": "ESRI Shapefile", ".geojson": "GeoJSON", ".gdb": "OpenFileGDB"}
        drawn.to_file(
            path, driver=drivers[path.suffix], geometry_type=None if path.suffix != ".gdb" else "MultiPolygon"
        )
    return path
