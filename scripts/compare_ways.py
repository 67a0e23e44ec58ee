"""Answer the same sites in every way there is and count the rows that differ: none may.

Run from anywhere, with the ``dev`` extra installed: ``python scripts/compare_ways.py``. Random points, points where
mistakes hide (on lines and corners, within a foot of them and of every circle around a station), and parcels are
written to GeoParquet and answered with and without a cell index, by one process and by two, by a Dask cluster of two
workers, in blocks of other sizes, and with their rows shuffled. It ends with exit code 1 if any finding of any row
differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyproj
import shapely
from benchmark_sites import random_parcels, random_points

from grownj_geo.atlas import load_atlas
from grownj_geo.batch import BatchOptions, Question, run_batch
from grownj_geo.units import to_working

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from grownj_geo.atlas import Atlas

    Shapes = NDArray[np.object_]
    Floats = NDArray[np.float64]

SEED = 41
RADII_MILES = (0.5, 1.0, 15.0)
OFFSETS_FT = (0.0, 0.0, 1e-6, 1e-3, 0.01, 0.1, 0.5, 0.99, 1.01, 3.0, 40.0)
"""How far beside a line a hard point lies; on it twice as often."""

_METRES_PER_MILE = 1609.344
_OWN = {"row", "problem", "notes"}
"""Columns that speak of the table and not of the site."""


def hard_points(atlas: Atlas, n: int, *, seed: int = SEED) -> Shapes:
    """Return points on the lines and corners of every layer and beside them, and at every radius of every point.

    Parameters
    ----------
    atlas
        The layers.
    n
        How many points; in EPSG:3424.
    """
    rng = np.random.default_rng(seed)
    layers = [layer for name in sorted(atlas.manifests) if (layer := atlas.layer(name)) is not None]
    lines = [layer for layer in layers if layer.lonlat is None and layer.wkb is not None]
    circled = [layer for layer in layers if layer.lonlat is not None]
    each = n // (2 * len(lines) + len(circled)) + 1
    found = []
    for layer in lines:
        xy = np.concatenate([shapely.get_coordinates(layer.geometry(i)) for i in range(len(layer))])
        corners = xy[rng.integers(0, len(xy) - 1, each)]
        start = rng.integers(0, len(xy) - 2, each)
        along = rng.uniform(0, 1, (each, 1))
        found += [_beside(rng, corners), _beside(rng, xy[start] * (1 - along) + xy[start + 1] * along)]
    geod = pyproj.Geod(ellps="GRS80")
    for layer in circled:
        lonlat = np.asarray(layer.lonlat)[rng.integers(0, len(layer), each)]
        metres = rng.choice(RADII_MILES, each) * _METRES_PER_MILE
        metres += rng.choice([-1, 1], each) * rng.choice(OFFSETS_FT, each) * 0.3048
        lon, lat, _ = geod.fwd(lonlat[:, 0], lonlat[:, 1], rng.uniform(-180, 180, each), metres)
        found.append(np.column_stack(to_working(lon, lat)))
    xy = np.concatenate(found)
    return np.asarray(shapely.points(xy[rng.permutation(len(xy))[:n]]), dtype=object)


def _beside(rng: np.random.Generator, xy: Floats) -> Floats:
    angle = rng.uniform(0, 2 * np.pi, len(xy))
    away = rng.choice(OFFSETS_FT, len(xy))
    moved: Floats = xy + away[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return moved


def cut_lots(atlas: Atlas, n: int, *, seed: int = SEED + 2) -> Shapes:
    """Return lots of all sizes and turns over hard points, some hardly wider than a line is sure."""
    rng = np.random.default_rng(seed)
    middle = shapely.get_coordinates(hard_points(atlas, n, seed=seed))
    half = 10 ** rng.uniform([0.0, -1.0], [3.0, 2.3], (n, 2))
    angle = rng.uniform(0, 2 * np.pi, n)
    across = np.column_stack([np.cos(angle), np.sin(angle)]) * half[:, :1]
    along = np.column_stack([-np.sin(angle), np.cos(angle)]) * half[:, 1:]
    moved = middle + rng.uniform(-0.9, 0.9, (n, 1)) * across
    rings = np.stack([moved - across - along, moved + across - along, moved + across + along, moved - across + along])
    return np.asarray(shapely.polygons(rings.transpose(1, 0, 2)), dtype=object)


def write(path: Path, shapes: Shapes) -> None:
    """Write shapes in EPSG:3424 as GeoParquet with an id."""
    import geopandas as gpd  # noqa: PLC0415 - takes a second

    gpd.GeoDataFrame({"id": np.arange(len(shapes))}, geometry=shapes, crs="EPSG:3424").to_parquet(
        path, row_group_size=30_000
    )


def shuffled(path: Path, target: Path) -> None:
    """Write a table again in another order."""
    rows = pq.read_table(path)
    order = np.random.default_rng(SEED + 1).permutation(rows.num_rows)
    pq.write_table(rows.take(pa.array(order)), target, row_group_size=30_000)


def findings(path: Path) -> pa.Table:
    """Return what a batch found, in order of the ids."""
    rows = pq.read_table(path)
    rows = rows.drop_columns([name for name in rows.column_names if name in _OWN or name == "geometry"])
    return rows.sort_by("id")


def different(a: pa.Table, b: pa.Table) -> int:
    """Return how many rows differ in any column."""
    if a.schema.names != b.schema.names or a.num_rows != b.num_rows:
        return int(max(a.num_rows, b.num_rows))
    unequal = np.zeros(a.num_rows, dtype=bool)
    for name in a.schema.names:
        if not a.column(name).equals(b.column(name)):
            pairs = zip(a.column(name).to_pylist(), b.column(name).to_pylist(), strict=True)
            unequal |= np.fromiter((x != y for x, y in pairs), dtype=bool, count=a.num_rows)
    count: int = sum(unequal.tolist())
    return count


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """Start a Dask scheduler with two workers on this machine; give its address."""
    address = folder / "scheduler.json"
    common = ["--scheduler-file", str(address), "--no-dashboard"]
    programs = [("dask_scheduler", ["--host", "127.0.0.1", "--port", "0", *common])]
    programs += [("dask_worker", ["--nthreads", "1", *common])] * 2
    running: list[subprocess.Popen[bytes]] = []
    try:
        for program, words in programs:
            with (folder / f"{program}.log").open("ab") as log:
                command = [sys.executable, "-m", f"distributed.cli.{program}", *words]
                running.append(subprocess.Popen(command, stderr=log))  # noqa: S603
            while not address.is_file():
                time.sleep(0.1)
        yield str(json.loads(address.read_text(encoding="utf-8"))["address"])
    finally:
        for process in running:
            process.terminate()
            process.wait()


def compare(folder: Path, name: str, shapes: Shapes, question: Question) -> int:
    """Answer for some shapes in every way; print and return how many rows differ."""
    source, other = folder / f"{name}.parquet", folder / f"{name}-shuffled.parquet"
    write(source, shapes)
    shuffled(source, other)
    plain = BatchOptions(index="build")
    with cluster(folder) as address:
        ways = {
            "one process, with the index": (source, plain),
            "one process, without": (source, replace(plain, index="no")),
            "two processes": (source, replace(plain, workers=2)),
            "a cluster of two workers": (source, replace(plain, scheduler=address)),
            "blocks of 3,333 rows": (source, replace(plain, block_rows=3_333)),
            "rows shuffled": (other, plain),
            "rows shuffled, two processes, without": (other, replace(plain, workers=2, index="no")),
        }
        first: pa.Table | None = None
        total = 0
        for way, (path, options) in ways.items():
            out = folder / "out.parquet"
            summary = run_batch(path, out, question, options=options)
            found = findings(out)
            if first is None:
                first = found
            count = different(first, found)
            total += count
            rows = f"{summary.rows:,} rows, {summary.answered:,} answered, {summary.near_line:,} near a line"
            print(f"{name}, {way}: {rows}, {count:,} different, {summary.seconds:,.1f} s", flush=True)
    return total


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(description="Count the rows that differ between all ways of answering.")
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--hard", type=int, default=100_000)
    parser.add_argument("--parcels", type=int, default=50_000)
    given = parser.parse_args(arguments)
    atlas = load_atlas()
    question = Question(atlas.as_of, detail="full")
    total = 0
    with tempfile.TemporaryDirectory(prefix="grownj-ways-") as folder:
        os.environ["GROWNJ_HOME"] = folder
        for name, n, drawn in (
            ("random points", given.points, random_points),
            ("hard points", given.hard, hard_points),
            ("parcels", given.parcels * 4 // 5, random_parcels),
            ("lots on lines", given.parcels // 5, cut_lots),
        ):
            if n:
                total += compare(Path(folder), name, drawn(atlas, n, seed=SEED), question)
    print(f"{total:,} rows differ.")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
