"""Layers of GIS formats read batch by batch: the same as read whole, and refused for the same reasons."""

from __future__ import annotations

import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
import shapely
from layer_files import CLASSES, frame, write
from pyogrio import raw

from grownj_geo.features import LayerFault
from grownj_geo.readers import open_source, read_features
from grownj_geo.readers_stream import Batch, LayerStream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DRIVERS = {".gpkg": "GPKG", ".gdb": "OpenFileGDB", ".shp": "ESRI Shapefile"}


@contextmanager
def stream_of(path: Path, **options: Any) -> Iterator[LayerStream]:
    with open_source(path, kinds=("polygon", None)) as opened:
        yield LayerStream(opened, **options)


def every(path: Path, size: int, *names: str) -> tuple[list[Batch], LayerStream]:
    with stream_of(path) as stream:
        return list(stream.batches(names or stream.names, size)), stream


@pytest.mark.parametrize("ending", DRIVERS)
@pytest.mark.parametrize("size", [1, 4, 100])
def test_batches_together_are_what_is_read_whole(ending: str, size: int, tmp_path: Path) -> None:
    path = write(frame(), tmp_path / f"areas{ending}", DRIVERS[ending])
    whole = read_features(path)
    batches, stream = every(path, size)
    assert max(len(batch.shapes) for batch in batches) <= size
    assert (stream.crs, stream.count) == (whole.crs, len(whole))
    assert np.concatenate([batch.shapes for batch in batches]).tolist() == whole.geometries.tolist()
    joined = {name: [v for batch in batches for v in batch.columns[name]] for name in stream.names}
    # The number that GDAL gives each row is no field of the layer.
    assert joined == {name: values for name, values in whole.columns.items() if name not in {"fid", "OBJECTID"}}
    assert [change.kind for change in stream.changes] == [change.kind for change in whole.changes]


@pytest.mark.parametrize("ending", DRIVERS)
def test_only_the_fields_asked_for_are_read(ending: str, tmp_path: Path) -> None:
    batches, _ = every(write(frame(), tmp_path / f"areas{ending}", DRIVERS[ending]), 10, "SPDETAIL")
    assert [batch.columns for batch in batches] == [{"SPDETAIL": CLASSES}]


def _curve(radius: float) -> bytes:
    points = [(0, 0), (radius, radius), (2 * radius, 0), (radius, -radius), (0, 0)]
    rounded = struct.pack("<BII", 1, 8, len(points)) + b"".join(struct.pack("<dd", *p) for p in points)
    return struct.pack("<BII", 1, 10, 1) + rounded


def _geopackage(path: Path, shapes: list[bytes | None]) -> Path:
    table = pa.table({"name": ["A"] * len(shapes), "g": pa.array(shapes, pa.binary())})
    raw.write_arrow(table, path, driver="GPKG", layer="a", geometry_name="g", geometry_type="Unknown", crs="EPSG:3424")
    return path


@pytest.mark.parametrize("size", [1, 2, 10])
def test_curves_become_chords_wherever_their_batch_begins(size: int, tmp_path: Path) -> None:
    plain = shapely.to_wkb(shapely.box(0, 0, 1, 1))
    batches, stream = every(_geopackage(tmp_path / "a.gpkg", [plain, None, _curve(1000), plain]), size)
    shapes = np.concatenate([batch.shapes for batch in batches])
    assert shapes[2].area == pytest.approx(np.pi * 1000**2, rel=1e-4)
    assert (shapes[0].area, shapes[1]) == (1.0, None)
    assert [(c.kind, c.rows) for c in stream.changes] == [("curves_linearised", (3,))]


def test_a_geometry_that_cannot_be_decoded_is_told_with_its_row(tmp_path: Path) -> None:
    collected = struct.pack("<BII", 1, 7, 1) + _curve(10)
    batches, _ = every(_geopackage(tmp_path / "a.gpkg", [shapely.to_wkb(shapely.box(0, 0, 1, 1)), collected]), 10)
    assert batches[0].shapes[1] is None
    assert list(batches[0].problems) == [1]


@pytest.mark.parametrize("share", [0.2, 0.6, 0.9])
@pytest.mark.parametrize("ending", [".gpkg", ".shp"])
def test_what_is_cut_off_is_refused(ending: str, share: float, tmp_path: Path) -> None:
    drawn = frame()
    many = drawn.loc[np.repeat(drawn.index, 400)]
    path = write(many, tmp_path / f"areas{ending}", DRIVERS[ending])
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(LayerFault) as error:
        every(path, 100)
    assert error.value.fault in {"truncated", "unreadable", "wrong_format"}


def test_what_whoever_reads_raises_is_not_taken_for_gdals(tmp_path: Path) -> None:
    path = write(frame(), tmp_path / "areas.gpkg", "GPKG")
    with stream_of(path) as stream, pytest.raises(ZeroDivisionError):
        _ = [len(batch.shapes) / 0 for batch in stream.batches(stream.names, 2)]


def test_an_encoding_is_for_shapefiles_only(tmp_path: Path) -> None:
    path = write(frame(), tmp_path / "areas.gpkg", "GPKG")
    with pytest.raises(LayerFault, match="says itself"), stream_of(path, encoding="cp1252"):
        pass
