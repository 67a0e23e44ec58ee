"""How long loading layers takes, and how much memory: measured as whole commands in a store of their own."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.reference import data_folder
from grownj_geo.units import to_lonlat

if TYPE_CHECKING:
    from collections.abc import Callable

    Measure = Callable[[list[str]], tuple[float, float]]

__all__ = [
    "CLASSES",
    "PLANNING_AREAS",
    "PLANNING_VERTICES",
    "blobs",
    "measure_loading",
    "planning_area_words",
    "tract_words",
]

SEED = 34
PLANNING_AREAS, PLANNING_VERTICES = 3_114, 500_000
CLASSES = ("METROPOLITAN", "SUBURBAN", "FRINGE", "RURAL", "RURAL ENV. SENSITIVE", "ENVIRONMENTALLY SENSITIVE")
_X, _Y, _SIDE = 200_000.0, 60_000.0, 14_000.0
_PEER = """
import sys
import geopandas as gpd
frame = gpd.read_parquet(sys.argv[1]).to_crs("EPSG:3424")
frame["geometry"] = frame.geometry.make_valid()
frame.to_parquet(sys.argv[2])
"""


@dataclass(frozen=True)
class _Run:
    """A command with a store of its own."""

    home: Path
    measure: Measure

    def __call__(self, *words: str) -> tuple[float, float]:
        before = os.environ.get("GROWNJ_HOME")
        os.environ["GROWNJ_HOME"] = str(self.home)
        try:
            return self.measure([sys.executable, "-m", "grownj_geo", "layers", *words])
        finally:
            if before is None:
                del os.environ["GROWNJ_HOME"]
            else:
                os.environ["GROWNJ_HOME"] = before


def measure_loading(measure: Measure, *, tracts: Path | None, large_megabytes: int) -> dict[str, Any]:
    """Measure importing census tracts and drawn planning areas, verifying the store, and a large GeoJSON file.

    Parameters
    ----------
    measure
        Runs a command in a process of its own and returns its seconds and its peak in megabytes.
    tracts
        A GeoParquet file of the State's census tracts; the municipalities stand for them where there is none.
    large_megabytes
        Size of the large file; 0 leaves it out.
    """
    with tempfile.TemporaryDirectory(prefix="grownj-benchmark-") as folder:
        root = Path(folder)
        run = _Run(root / "home", measure)
        words, source = tract_words(tracts, root)
        seconds, megabytes = run("import", *words)
        peer_seconds, _ = measure([sys.executable, "-c", _PEER, str(source), str(root / "peer.parquet")])
        areas_seconds, areas_megabytes = run("import", *planning_area_words(root))
        verify_seconds, verify_megabytes = run("verify")
        found: dict[str, Any] = {
            "tracts_from": source.name,
            "tracts_import_s": seconds,
            "tracts_import_mb": megabytes,
            "geopandas_read_project_write_s": peer_seconds,
            "ratio_ours_to_geopandas": seconds / peer_seconds,
            "planning_areas": PLANNING_AREAS,
            "planning_areas_import_s": areas_seconds,
            "planning_areas_import_mb": areas_megabytes,
            "verify_s": verify_seconds,
            "verify_mb": verify_megabytes,
        }
        if large_megabytes:
            large = _large(root / "large.geojson", large_megabytes)
            size = large.stat().st_size / 1e6
            large_seconds, large_peak = run("import", "building_footprints", str(large))
            found |= {"large_geojson_mb": size, "large_import_s": large_seconds, "large_import_peak_mb": large_peak}
    return found


def tract_words(tracts: Path | None, root: Path) -> tuple[list[str], Path]:
    """Return what `layers import` is given for census tracts, and the file; municipalities where there are none."""
    if tracts is not None and tracts.is_file():
        fields = ["GEOID=geoid", "NAMELSAD=tract_name", "POVERTY_RATE=poverty_rate_pct_acs2020"]
        constants = ["ACS_EDITION=2016-2020", "TRACT_VINTAGE=2010"]
        words = ["census_tract_poverty", str(tracts)]
        return [*words, *_repeated("--map", fields), *_repeated("--set", constants)], tracts
    import geopandas as gpd  # noqa: PLC0415 - only where the tracts are not there

    path = root / "municipalities.parquet"
    frame = gpd.read_parquet(data_folder() / "municipalities.parquet")[["mun_code", "name", "geometry"]]
    frame.to_crs("EPSG:4269").to_parquet(path)
    return ["redevelopment_areas", str(path), "--map", "NOTES=mun_code", "--set", "APPROVAL=1990-01-01"], path


def _repeated(name: str, values: list[str]) -> list[str]:
    return [word for value in values for word in (name, value)]


def blobs(count: int, vertices: int, *, columns: int, side: float, seed: int = SEED) -> list[list[list[float]]]:
    """Return rings of longitude and latitude, one in each cell of a grid that lies in New Jersey's box."""
    rng = np.random.default_rng(seed)
    angle = np.linspace(0.0, 2 * np.pi, vertices + 1)
    rings = []
    for i in range(count):
        radius = side * 0.45 * (1 - 0.2 * rng.uniform(size=vertices + 1))
        radius[-1] = radius[0]
        x = _X + side * (i % columns + 0.5) + radius * np.cos(angle)
        y = _Y + side * (i // columns + 0.5) + radius * np.sin(angle)
        lon, lat = to_lonlat(x, y)
        ring = np.column_stack([lon, lat]).round(9)
        ring[-1] = ring[0]
        rings.append(ring.tolist())
    return rings


def planning_area_words(root: Path) -> list[str]:
    """Write a drawn statewide planning-area layer, and return what `layers import` is given for it."""
    columns, path = 32, root / "areas.geojson"
    rings = blobs(PLANNING_AREAS, PLANNING_VERTICES // PLANNING_AREAS, columns=columns, side=8_500.0)
    features = [_feature({"SPDETAIL": CLASSES[i % len(CLASSES)]}, ring) for i, ring in enumerate(rings)]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    return ["planning_areas", str(path), "--edition", "2018-01-16"]


def _large(path: Path, megabytes: int) -> Path:
    """Write a GeoJSON file of about a size: polygons of 500 vertices in a grid."""
    columns, side = 160, 2_700.0
    (sample,) = blobs(1, 500, columns=columns, side=side)
    each = len(json.dumps(_feature({"id": 1}, sample)))
    count = min(int(megabytes * 1e6 / each), columns * 300)
    shape = shapely.get_coordinates(shapely.Polygon(sample))
    with path.open("w", encoding="utf-8") as file:
        file.write('{"type": "FeatureCollection", "features": [\n')
        for i in range(count):
            # A shift in degrees is all that the next one needs.
            ring = (shape + np.array([0.0092 * (i % columns), 0.0075 * (i // columns)])).round(9).tolist()
            file.write(json.dumps(_feature({"id": i}, ring)) + (",\n" if i + 1 < count else "\n"))
        file.write("]}\n")
    return path


def _feature(properties: dict[str, Any], ring: list[list[float]]) -> dict[str, Any]:
    return {"type": "Feature", "properties": properties, "geometry": {"type": "Polygon", "coordinates": [ring]}}
