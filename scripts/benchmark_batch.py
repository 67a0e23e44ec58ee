"""How long whole tables take as commands, and how much memory: a CSV of points, and parcels as GeoParquet."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely
from benchmark_layers import planning_area_words, tract_words
from benchmark_process import command, one_process, process_tree
from benchmark_sites import SEED, random_points, write_parcels

from grownj_geo.atlas import load_atlas
from grownj_geo.determine import Engine
from grownj_geo.rulebook import load_rulebook
from grownj_geo.site import Site
from grownj_geo.units import to_lonlat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grownj_geo.atlas import Atlas

__all__ = ["STATE_PARCELS", "measure_batch", "measure_parcel_file"]

STATE_PARCELS = 3_400_000
"""About as many parcels as the State has."""

_COMPARED = 60
_WORKERS = 2
_LESS = 100_000


def measure_batch(atlas: Atlas, *, rows: int) -> dict[str, Any]:
    """Measure the command that answers for a CSV, without a cell index and with one that is there already."""
    points = random_points(atlas, rows, seed=SEED + 2)
    lon, lat = to_lonlat(shapely.get_x(points), shapely.get_y(points))
    figures: dict[str, Any] = {"rows": len(points)}
    with tempfile.TemporaryDirectory(prefix="grownj-batch-") as folder:
        source = Path(folder) / "sites.csv"
        lines = "".join(f"{i},{y:.6f},{x:.6f}\n" for i, (x, y) in enumerate(zip(lon, lat, strict=True)))
        source.write_text("id,lat,lon\n" + lines, encoding="utf-8")
        written = []
        for name, index in (("seconds", "no"), ("build_and_run_s", "build"), ("seconds_with_index", "auto")):
            out = Path(folder) / f"{name}.csv"
            home = {"GROWNJ_HOME": str(Path(folder) / "home")}
            words = [*command(), "batch", str(source), "-o", str(out), "--index", index]
            figures[name], megabytes = one_process(words, home)
            figures["megabytes_peak"] = max(megabytes, figures.get("megabytes_peak", 0.0))
            written.append(out.read_bytes())
    return figures | {"files_unequal": len(set(written)) - 1}


def measure_parcel_file(atlas: Atlas, *, parcels: int, tracts: Path | None) -> dict[str, Any]:
    """Measure a GeoParquet file of parcels in and a Parquet file out, with the shipped layers and two large ones more.

    The cell index is built before, and its seconds are said. A part of the file is answered by one process and by
    two, which have to write the same table; rows of the whole one have to say what the site has alone.

    Parameters
    ----------
    atlas
        For where New Jersey is.
    parcels
        How many.
    tracts
        A GeoParquet file of census tracts; municipalities stand for them in another layer where there is none.
    """
    with tempfile.TemporaryDirectory(prefix="grownj-parcels-") as name, _home(Path(name) / "home"):
        folder = Path(name)
        one_process([*command(), "layers", "import", *tract_words(tracts, folder)[0]])
        one_process([*command(), "layers", "import", *planning_area_words(folder)])
        first, less, every = folder / "first.parquet", folder / "less.parquet", folder / "parcels.parquet"
        write_parcels(first, atlas, 1)
        write_parcels(less, atlas, min(parcels, _LESS))
        write_parcels(every, atlas, parcels)
        figures: dict[str, Any] = {"parcels": parcels, "file_mb": every.stat().st_size / 1e6}
        build = _run(folder, first, "--index", "build")
        figures["index_and_one_parcel_s"] = build["seconds"]
        alone = _run(folder, less)
        both = _run(folder, less, "--workers", str(_WORKERS))
        figures |= {
            "workers": _WORKERS,
            "part_parcels": min(parcels, _LESS),
            "part_one_worker_s": alone["seconds"],
            "part_two_workers_s": both["seconds"],
            "ratio_one_worker_to_two": alone["seconds"] / both["seconds"],
            "part_one_worker_peak_mb": alone["peak_mb"],
            "tables_unequal": int(not alone.pop("table").equals(both.pop("table"))),
        }
        whole = _run(folder, every, "--workers", str(_WORKERS))
        figures |= {
            "rows_unequal_to_one_site": _unequal(whole.pop("table"), every, min(parcels, _COMPARED)),
            **whole,
            "parcels_per_second": parcels / whole["seconds"],
            "state_parcels": STATE_PARCELS,
            "state_seconds": whole["seconds"] * STATE_PARCELS / parcels,
            "state_is": "measured" if parcels >= STATE_PARCELS else f"scaled from {parcels:,} parcels",
        }
    return figures


def _run(folder: Path, source: Path, *words: str) -> dict[str, Any]:
    """Return what the command took, and the table that it wrote."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - only where a file is read

    out = folder / "out.parquet"
    used = process_tree([*command(), "batch", str(source), "-o", str(out), *words], log=folder / "log")
    return {
        "seconds": used.seconds,
        "processor_s": used.processor_s,
        "peak_mb": used.resident_mb,
        "peak_shared_once_mb": used.proportional_mb,
        "processes": used.processes,
        "table": pq.read_table(out),
    }


def _unequal(answers: Any, source: Path, compared: int) -> int:  # noqa: ANN401 - a table of a library without types
    """Return how many of some rows have an outcome that the site has not when it is determined alone."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - only where a file is read

    engine = Engine(load_atlas(), load_rulebook())
    names = [c.id for c in engine.rulebook.categories if c.kind != "ground"]
    rows = np.sort(np.random.default_rng(SEED).choice(len(answers), compared, replace=False))
    shapes = shapely.from_wkb(pq.read_table(source, columns=["geometry"]).take(rows)["geometry"].to_numpy())
    found = answers.select(names).take(rows).to_pylist()
    wrong = 0
    for shape, row in zip(shapes, found, strict=True):
        record = engine.determine(Site(typed="parcel", located_by="sample", geometry=shape))
        wrong += any(record[name].outcome != row[name] for name in names)
    return wrong


@contextmanager
def _home(folder: Path) -> Iterator[None]:
    """Let the package keep its layers and indexes in a folder."""
    before = os.environ.get("GROWNJ_HOME")
    os.environ["GROWNJ_HOME"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["GROWNJ_HOME"]
        else:
            os.environ["GROWNJ_HOME"] = before
