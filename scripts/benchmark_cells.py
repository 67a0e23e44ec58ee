"""How long many sites take with the cell index, beside others who do the same: answers compared first, then timed."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely
from benchmark_peers import Pipeline, municipal_by_duckdb, municipal_by_geopandas, municipal_by_sedonadb
from benchmark_postgis import municipal_by_postgis, programs
from benchmark_process import peak_of, timed
from benchmark_scale import measure_by_sites
from benchmark_shares import measure_shares
from benchmark_sites import (
    SEED,
    TRACTS,
    drawn_layers,
    random_parcels,
    random_points,
    table,
    unequal_findings,
    unequal_to_one_site,
)

from grownj_geo.atlas import Atlas, load_atlas
from grownj_geo.bulk import DEFAULT_MARGIN_LIMIT_FT, evaluate_many
from grownj_geo.cells import CellIndex, index_fingerprint
from grownj_geo.determine import Engine
from grownj_geo.rulebook import load_rulebook

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["measure_cells"]

_FEWER = 100_000
"""As many points are given to those who take long for each."""


def measure_cells(
    *,
    points: int = 1_000_000,
    parcels: int = 50_000,
    cut_lots: int = 3_000,
    compared: int = 300,
    peers: bool = True,
    tracts: Path | None = TRACTS,
) -> dict[str, Any]:
    """Measure the index: building, loading, points, municipalities, parcels; peers in the same run.

    Parameters
    ----------
    points, parcels, cut_lots
        How many sites: points, lots anywhere, lots that lines cut.
    compared
        How many of each are compared with one site at a time before anything is timed.
    peers
        Run the others too. DuckDB and PostGIS take the first hundred thousand points only, and their seconds are said
        to be of these.
    tracts
        A GeoParquet file of the State's census tracts; drawn ones stand for it.
    """
    engine = Engine(Atlas(as_of=load_atlas().as_of, layers=drawn_layers(tracts)), load_rulebook())
    places, lots = random_points(engine.atlas, points), random_parcels(engine.atlas, parcels)
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="grownj-cells-") as folder:
        figures["build_s"], built = timed(lambda: CellIndex.build(engine))
        path = Path(folder) / "index.cells"
        figures["save_s"], _ = timed(lambda: built.save(path))
        print_of = index_fingerprint(engine)
        figures["load_s"], index = timed(lambda: CellIndex.load(path, fingerprint=print_of))
        figures["index_mb"] = index.size_bytes / 1e6
        figures |= _measure_points(engine, index, places, compared)
        figures |= _measure_parcels(engine, index, lots, compared)
        figures["by_sites"] = measure_by_sites(engine, index, places)
        figures["shares"] = measure_shares(engine, index, lots=cut_lots, peers=peers)
        figures["municipal"] = _measure_municipal(engine, index, places, peers=peers)
        if peers:
            pipeline = Pipeline.of(engine)
            few = places[: min(len(places), _FEWER)]
            figures["geopandas_pipeline_points_compared"] = len(few)
            figures["geopandas_pipeline_unequal_answers"] = pipeline.unequal(few, DEFAULT_MARGIN_LIMIT_FT)
            seconds, _ = timed(lambda: pipeline.run(places, DEFAULT_MARGIN_LIMIT_FT))
            figures["geopandas_pipeline_s"] = seconds
            figures["ratio_geopandas_pipeline_to_ours"] = seconds / figures["points_s"]
        del index  # a file that is mapped cannot be removed everywhere
    return figures


def _measure_points(engine: Engine, index: CellIndex, places: NDArray[np.object_], compared: int) -> dict[str, Any]:
    n = len(places)
    some = np.random.default_rng(SEED).integers(0, n, compared)
    part = table(places[: min(n, _FEWER)])
    without_s, without = timed(lambda: evaluate_many(engine, part))
    with_index = evaluate_many(engine, part, index=index)
    found = evaluate_many(engine, table(places), index=index)
    wrong = unequal_to_one_site(engine, table(places), found, some)
    different = unequal_findings(without, with_index)
    seconds, found = timed(lambda: evaluate_many(engine, table(places), index=index), times=3)
    margins_s, _ = timed(lambda: [found.margin_ft(name) for name in found.categories])
    return {
        "points": n,
        "points_compared_with_one_site": compared,
        "points_unequal_to_one_site": wrong,
        "points_unequal_with_and_without_index": different,
        "points_groups": len(found.first),
        "points_s": seconds,
        "points_all_margins_s": margins_s,
        "points_without_index_s": without_s * n / len(part),
        "points_mb": peak_of(lambda: evaluate_many(engine, table(places), index=index))[0],
    }


def _measure_parcels(engine: Engine, index: CellIndex, lots: NDArray[np.object_], compared: int) -> dict[str, Any]:
    n = len(lots)
    sites = table(lots)
    found = evaluate_many(engine, sites, index=index)
    some = np.random.default_rng(SEED).integers(0, n, compared)
    wrong = unequal_to_one_site(engine, sites, found, some)
    few = table(lots[: min(n, 5_000)])
    different = unequal_findings(evaluate_many(engine, few), evaluate_many(engine, few, index=index))
    seconds, _ = timed(lambda: evaluate_many(engine, table(lots), index=index))
    return {
        "parcels": n,
        "parcels_mb": peak_of(lambda: evaluate_many(engine, table(few.geometries), index=index))[0],
        "parcels_unequal_to_one_site": wrong,
        "parcels_unequal_with_and_without_index": different,
        "parcels_s": seconds,
        "parcel_us": seconds / n * 1e6,
    }


def _measure_municipal(engine: Engine, index: CellIndex, places: NDArray[np.object_], *, peers: bool) -> dict[str, Any]:
    """Measure the municipality alone: points in memory, as geometries, each way warm and on every processor.

    What everybody gives is compared before its seconds count.
    """
    seconds, (codes, cover) = timed(lambda: index.municipalities(engine, table(places)), times=3)
    figures: dict[str, Any] = {
        "municipal_s": seconds,
        "municipal_mb": peak_of(lambda: index.municipalities(engine, table(places)))[0],
    }
    if not peers:
        return figures
    mine = [codes[c] if c >= 0 else None for c in cover.tolist()]
    ways: dict[str, tuple[str, int, Callable[..., tuple[float, list[str | None]]]]] = {
        "geopandas": ("geopandas", len(places), municipal_by_geopandas),
        "sedonadb": ("sedonadb", len(places), municipal_by_sedonadb),
        "duckdb": ("duckdb_extensions", min(len(places), _FEWER), municipal_by_duckdb),
    }

    def add(name: str, count: int, theirs_s: float, theirs: list[str | None]) -> None:
        figures[f"{name}_points"] = count
        figures[f"{name}_unequal_answers"] = sum(a != b for a, b in zip(mine[:count], theirs, strict=True))
        figures[f"{name}_s"] = theirs_s
        figures[f"ratio_{name}_to_ours"] = theirs_s / (seconds * count / len(places))

    for name, (module, count, way) in ways.items():
        if importlib.util.find_spec(module) is None:
            figures[name] = "not installed"
            continue
        figures[f"{name}_version"] = version(name)
        add(name, count, *way(engine, places[:count]))
    if programs() is None:
        figures["postgis"] = "not installed"
        return figures
    count = min(len(places), _FEWER)
    found = municipal_by_postgis(engine, places[:count])
    figures["postgis_version"] = found.pop("version")
    for name, (theirs_s, theirs) in found.items():
        add(f"postgis_{name}", count, theirs_s, theirs)
    return figures


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(description="Print how long many sites take. Nothing is asserted.")
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--parcels", type=int, default=50_000)
    parser.add_argument("--cut-lots", type=int, default=3_000)
    parser.add_argument("--compared", type=int, default=300)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file too")
    given = parser.parse_args(arguments)
    figures = measure_cells(
        points=given.points,
        parcels=given.parcels,
        cut_lots=given.cut_lots,
        compared=given.compared,
        peers=not given.no_peers,
    )
    print(json.dumps(figures, indent=2))
    print(f"{os.cpu_count()} processors, python {sys.version.split()[0]}, shapely {shapely.__version__}")
    if given.json is not None:
        given.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
