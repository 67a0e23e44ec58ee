"""Reading through GDAL: heights, measures, curves, and a process of which the other drivers are kept out."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyogrio
import pytest
import shapely
from layer_files import kinds, refused
from pyogrio import raw

from grownj_geo.readers import read_features

if TYPE_CHECKING:
    from pathlib import Path


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


def test_other_drivers_can_be_shut_out_of_a_process() -> None:
    script = (
        "from grownj_geo.readers_gdal import shut_drivers\n"
        "assert shut_drivers()\n"
        "import os, pyogrio\n"
        "assert 'GDAL_SKIP' not in os.environ\n"
        "left = set(pyogrio.list_drivers())\n"
        "assert left <= {'ESRI Shapefile', 'GPKG', 'OpenFileGDB', 'GeoJSON', 'LIBKML'}, left\n"
        "assert {'ESRI Shapefile', 'GPKG', 'OpenFileGDB', 'GeoJSON'} <= left\n"
        "assert not shut_drivers()\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    "words",
    [
        ["import", "planning_areas", "none.zip"],
        ["fetch", "planning_areas", "--url", "http://127.0.0.1:9/a.zip", "--allow-private", "--accept-terms"],
    ],
)
def test_the_command_line_keeps_other_drivers_out_and_says_nothing_of_them(tmp_path: Path, words: list[str]) -> None:
    script = (
        "import sys\n"
        "from grownj_geo.cli import main\n"
        "sys.argv[1:1] = ['layers']\n"
        "try:\n"
        "    main()\n"
        "except SystemExit as left:\n"
        "    assert left.code, left\n"
        "import pyogrio\n"
        "print(sorted(pyogrio.list_drivers()))\n"
    )
    home = os.environ | {"GROWNJ_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-c", script, *words], check=True, capture_output=True, text=True, env=home, cwd=tmp_path
    )
    assert done.stdout == "['ESRI Shapefile', 'GPKG', 'GeoJSON', 'LIBKML', 'OpenFileGDB']\n"
    assert "driver" not in done.stderr.lower()


def test_settings_of_gdal_are_put_back(tmp_path: Path) -> None:
    before = pyogrio.get_gdal_config_option("OGR_ARC_STEPSIZE")
    read_features(geopackage_of(tmp_path / "a.gpkg", [curve(10)]))
    assert pyogrio.get_gdal_config_option("OGR_ARC_STEPSIZE") == before
