"""Print how long the package takes, cold, warm and in bulk, how much memory, and which targets hold.

Run from anywhere, with the ``dev`` and ``peers`` extras installed: ``python scripts/benchmark.py --json figures.json``.
Figures are printed and never asserted: they belong to one machine and one run. What is compared with another way of
doing it is checked to give equal answers, and both are measured in the same run. Others that are not installed
(PostGIS is Debian's package ``postgresql-15-postgis-3``) are said to be so.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyproj
import shapely
from benchmark_batch import measure_batch, measure_parcel_file
from benchmark_cells import measure_cells
from benchmark_layers import measure_loading
from benchmark_plot import draw_costs
from benchmark_process import command, one_process, processor_seconds
from benchmark_scale import measure_by_layers
from benchmark_sites import SEED, TRACTS, new_jersey
from benchmark_targets import print_targets, table_of_targets

from grownj_geo.atlas import Atlas, load_atlas
from grownj_geo.determine import Engine
from grownj_geo.evaluate import Evaluation
from grownj_geo.leaves import Leaves
from grownj_geo.observe import measure_distance
from grownj_geo.place import PlacementKind, place_sites
from grownj_geo.reference import data_folder
from grownj_geo.rulebook import load_rulebook
from grownj_geo.site import Site
from grownj_geo.sitetable import SiteTable
from grownj_geo.units import to_lonlat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from grownj_geo.layer import Layer

SITE = "40.7344,-74.1641"
_IDLE = 0.5
CITIES = ("0102", "0408", "0714", "0905", "0906", "1111", "1607", "1608")


@dataclass(frozen=True)
class Options:
    """How much to measure."""

    cold_runs: int = 7
    warm_sites: int = 200
    points: int = 100_000
    rule_sites: int = 1_000_000
    large_mb: int = 500
    batch_rows: int = 10_000
    many_points: int = 1_000_000
    many_parcels: int = 50_000
    cut_lots: int = 3_000
    layer_points: int = 100_000
    parcels_file: int = 3_400_000


# -- sites --------------------------------------------------------------------------------------------


def _points(rng: np.random.Generator, area: shapely.Geometry, n: int) -> NDArray[np.object_]:
    """Return random points inside an area."""
    shapely.prepare(area)
    x0, y0, x1, y1 = area.bounds
    found: list[NDArray[np.float64]] = []
    left = n
    while left > 0:
        xy = rng.uniform((x0, y0), (x1, y1), size=(max(4 * left, 64), 2))
        inside = xy[shapely.intersects_xy(area, xy[:, 0], xy[:, 1])][:left]
        found.append(inside)
        left -= len(inside)
    return np.asarray(shapely.points(np.concatenate(found)), dtype=object)


def _layer(atlas: Atlas, layer_id: str) -> Layer:
    layer = atlas.layer(layer_id)
    if layer is None:
        raise SystemExit(f"The layer {layer_id} cannot be used; reinstall the package.")
    return layer


def sample_sites(atlas: Atlas, n: int) -> list[Site]:
    """Return sites of the kinds that matter: in cities, anywhere, near municipal lines, and small lots."""
    rng = np.random.default_rng(SEED)
    municipalities = _layer(atlas, "municipalities")
    index = {municipalities.key(i): i for i in range(len(municipalities))}
    each = max(1, n // 4)
    urban = np.concatenate(
        [_points(rng, municipalities.geometry(index[code]), each // len(CITIES) + 1) for code in CITIES]
    )[:each]
    anywhere = _points(rng, new_jersey(atlas), each)
    edges = [
        shapely.line_interpolate_point(
            shapely.boundary(municipalities.geometry(int(i))), rng.uniform(), normalized=True
        )
        for i in rng.integers(0, len(municipalities), each)
    ]
    near = np.asarray(
        [shapely.Point(p.x + dx, p.y + dy) for p, (dx, dy) in zip(edges, rng.normal(0, 40, (each, 2)), strict=True)],
        dtype=object,
    )
    rest = max(0, n - len(urban) - len(anywhere) - len(near))
    lots = [shapely.box(p.x - 60, p.y - 100, p.x + 60, p.y + 100) for p in _points(rng, new_jersey(atlas), rest)]
    everything = [*urban, *anywhere, *near, *lots]
    return [Site(typed=f"site {i}", located_by="sample", geometry=g) for i, g in enumerate(everything[:n])]


# -- cold ---------------------------------------------------------------------------------------------


def import_times(words: list[str], *, top: int = 8) -> list[tuple[str, float]]:
    """Return the packages whose own code takes longest to import, in milliseconds."""
    arguments = [sys.executable, "-X", "importtime", words[0], *words[1:]]
    if words[0] == sys.executable:
        arguments = [sys.executable, "-X", "importtime", *words[1:]]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)  # noqa: S603
    own: dict[str, float] = defaultdict(float)
    for line in done.stderr.splitlines():
        fields = line.removeprefix("import time:").split("|")
        if len(fields) == 3 and fields[0].strip().isdigit():  # noqa: PLR2004 - own time, total, name
            own[fields[2].strip().partition(".")[0]] += int(fields[0]) / 1000.0
    return sorted(own.items(), key=lambda item: -item[1])[:top]


def measure_cold(options: Options) -> dict[str, Any]:
    """Measure the command from start to end, imports and reading of the layers included."""
    words = [*command(), "check", SITE]
    runs = [one_process(words) for _ in range(options.cold_runs)]
    bare = min(one_process([sys.executable, "-c", "pass"])[0] for _ in range(3))
    return {
        "command": f"grownj check {SITE}",
        "runs": len(runs),
        "seconds_best": min(s for s, _ in runs),
        "seconds_median": statistics.median(s for s, _ in runs),
        "seconds_worst": max(s for s, _ in runs),
        "megabytes_peak": max(m for _, m in runs),
        "seconds_of_python_alone": bare,
        "imports_ms": dict(import_times(words)),
    }


# -- warm ---------------------------------------------------------------------------------------------


def _each_ms(work: Callable[[Site], object], sites: Iterable[Site]) -> list[float]:
    times = []
    for site in sites:
        start = time.perf_counter()
        work(site)
        times.append((time.perf_counter() - start) * 1000.0)
    return times


def measure_warm(atlas: Atlas, options: Options) -> dict[str, Any]:
    """Measure one site after another in one process: every site once before, then timed."""
    engine = Engine(atlas, load_rulebook())
    # A point near a line can fall into the sea or over the border; such sites have no determination.
    sites = [s for s in sample_sites(atlas, options.warm_sites) if _placed(atlas, s)]
    first = _each_ms(engine.determine, sites)
    whole = _each_ms(engine.determine, sites)
    run = _each_ms(engine.run, sites)
    return {
        "sites": len(sites),
        "first_time_ms_median": statistics.median(first),
        "determine_ms_median": statistics.median(whole),
        "determine_ms_95th": float(np.percentile(whole, 95)),
        "determine_ms_worst": max(whole),
        "run_ms_median": statistics.median(run),
        "run_ms_95th": float(np.percentile(run, 95)),
    }


def _placed(atlas: Atlas, site: Site) -> bool:
    return place_sites(atlas, SiteTable.of([site])).kinds[0] is not PlacementKind.OUTSIDE


# -- bulk ---------------------------------------------------------------------------------------------


def _table(points: NDArray[np.object_]) -> SiteTable:
    n = len(points)
    return SiteTable(points, np.zeros(n), np.ones(n, dtype=bool), ("",) * n)


def measure_municipalities(atlas: Atlas, options: Options) -> dict[str, Any]:
    """Measure the municipality of random points against geopandas, after comparing the answers."""
    import geopandas as gpd  # noqa: PLC0415 - only this part needs it

    points = _points(np.random.default_rng(SEED), new_jersey(atlas), options.points)
    frame = gpd.read_parquet(data_folder() / "municipalities.parquet", columns=["mun_code", "geometry"])
    sites = gpd.GeoDataFrame(geometry=points, crs=frame.crs)
    table = _table(points)
    place_sites(atlas, _table(points[:1000]))  # polygons decoded before the clock starts

    start = time.perf_counter()
    joined = gpd.sjoin(sites, frame, how="left", predicate="within")
    theirs = time.perf_counter() - start
    start = time.perf_counter()
    placement = place_sites(atlas, table)
    ours = time.perf_counter() - start

    codes = joined["mun_code"][~joined.index.duplicated()].reindex(sites.index).to_list()
    first = placement.candidates[placement.starts]
    mine = [placement.codes[c] if c >= 0 else None for c in first]
    off = [k in {PlacementKind.OFFSHORE, PlacementKind.OUTSIDE} for k in placement.kinds]
    unequal = sum(
        1 for a, b, o in zip(mine, codes, off, strict=True) if (None if o else a) != (b if isinstance(b, str) else None)
    )
    return {
        "points": len(points),
        "unequal_answers": unequal,
        "place_sites_s": ours,
        "geopandas_sjoin_within_s": theirs,
        "ratio_ours_to_geopandas": ours / theirs,
        "note": "place_sites also finds every neighbour within the lines' accuracy; sjoin does not",
    }


def measure_stations(atlas: Atlas, options: Options) -> dict[str, Any]:
    """Measure the distance to the nearest station, after comparing some with plain geodesics."""
    layer = _layer(atlas, "transit_stations")
    features = layer.select(as_of=atlas.as_of)
    points = _points(np.random.default_rng(SEED + 1), new_jersey(atlas), options.points)
    start = time.perf_counter()
    found = measure_distance(layer, features, _table(points))
    seconds = time.perf_counter() - start

    some = slice(0, min(1000, len(points)))
    lon, lat = to_lonlat(shapely.get_x(points[some]), shapely.get_y(points[some]))
    stations = np.asarray(layer.lonlat)[features]
    shape = (len(lon), len(stations))
    _, _, metres = pyproj.Geod(ellps="GRS80").inv(
        np.broadcast_to(np.asarray(lon)[:, None], shape).ravel(),
        np.broadcast_to(np.asarray(lat)[:, None], shape).ravel(),
        np.broadcast_to(stations[:, 0], shape).ravel(),
        np.broadcast_to(stations[:, 1], shape).ravel(),
    )
    truth = np.asarray(metres).reshape(shape).min(axis=1) / 0.3048
    return {
        "points": len(points),
        "stations": len(features),
        "seconds": seconds,
        "compared": len(lon),
        "largest_difference_ft": float(np.abs(found.near[some] - truth).max()),
    }


# -- rules --------------------------------------------------------------------------------------------


def _repeated(values: Any, index: NDArray[np.int64]) -> Any:  # noqa: ANN401 - dataclasses of arrays
    """Return a dataclass of arrays of shape (n,) with its rows repeated."""
    return replace(values, **{name: array[index] for name, array in vars(values).items()})


def ready_leaves(seen: Leaves, n: int) -> Leaves:
    """Return leaves for n sites that repeat the observations of a few: nothing is left to measure.

    Parameters
    ----------
    seen
        Leaves of a few sites on which every category was evaluated once.
    n
        How many sites to make of them.
    """
    few = seen.n
    index = np.arange(n) % few
    table = SiteTable(
        seen.sites.geometries[index],
        seen.sites.uncertainty_ft[index],
        seen.sites.placed[index],
        ("",) * n,
    )
    place = seen.placement
    lengths = np.diff(np.append(place.starts, len(place.candidates)))
    counts = lengths[index]
    starts = np.cumsum(counts) - counts
    rows = np.repeat(place.starts[index] - starts, counts) + np.arange(counts.sum())
    placement = replace(
        place,
        kinds=tuple(place.kinds[i] for i in index),
        candidates=place.candidates[rows],
        starts=starts,
        shares=place.shares[rows],
        neighbours=tuple(place.neighbours[i] for i in index),
        distances_ft=tuple(place.distances_ft[i] for i in index),
        outside=place.outside[index],
    )
    return Leaves(
        seen.bound,
        seen.atlas,
        table,
        given_placement=placement,
        coverages={key: _repeated(value, index) for key, value in seen.coverages.items()},
        distances={key: _repeated(value, index) for key, value in seen.distances.items()},
        land_shares={key: value[:, index] for key, value in seen.land_shares.items()},
        feature_cache=seen.feature_cache,
    )


def measure_rules(atlas: Atlas, options: Options) -> dict[str, Any]:
    """Measure the evaluation of every category for many sites whose observations are given."""
    engine = Engine(atlas, load_rulebook())
    sites = sample_sites(atlas, min(options.warm_sites, options.rule_sites))
    categories = [category.id for category in engine.rulebook.categories]
    seen = Leaves(engine.bound, atlas, SiteTable.of(sites))
    few = Evaluation(engine.bound, seen, keep=False)
    expected = {name: few.category(name).outcomes for name in categories}
    leaves = ready_leaves(seen, options.rule_sites)

    start = time.perf_counter()
    many = Evaluation(engine.bound, leaves, keep=False, margins=False)
    for name in categories:
        many.category(name)
    seconds = time.perf_counter() - start
    index = np.arange(options.rule_sites) % len(sites)
    unequal = sum(not np.array_equal(many.category(n).outcomes, expected[n][:, index]) for n in categories)
    return {
        "sites": options.rule_sites,
        "categories": len(categories),
        "distinct_sites": len(sites),
        "categories_unequal_to_the_few": unequal,
        "seconds": seconds,
        "note": "with the layers that ship and no stated facts; observations given",
    }


# -- all of it ----------------------------------------------------------------------------------------


def versions() -> dict[str, str]:
    """Return the versions that the figures depend on."""
    found = {
        "grownj-geo": version("grownj-geo"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "shapely": shapely.__version__,
        "geos": ".".join(map(str, shapely.geos_version)),
        "pyproj": pyproj.__version__,
        "proj": pyproj.proj_version_str,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
    }
    for name in ("pyarrow", "pyogrio", "geopandas", "pandas", "duckdb", "sedonadb", "matplotlib"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _show(title: str, figures: dict[str, Any]) -> None:
    print(f"\n{title}")
    for name, value in figures.items():
        print(f"  {name:<32} {_figure(value)}")


def _figure(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {_figure(v)}" for k, v in value.items())
    if isinstance(value, list):
        return "[" + ", ".join(map(_figure, value)) + "]"
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code."""
    default = Options()
    parser = argparse.ArgumentParser(description="Print how long the package takes. Nothing is asserted.")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the figures to a file, and a picture beside it"
    )
    told = {
        "large_mb": "size of the large file; 0 for none",
        "parcels_file": "parcels in the file for the command: the State has 3,400,000; 0 for none",
        "layer_points": "points for cost against layers; 0 for none",
    }
    for each in fields(Options):
        flag = "--" + each.name.replace("_", "-")
        parser.add_argument(flag, type=int, metavar="N", default=getattr(default, each.name), help=told.get(each.name))
    given = parser.parse_args(arguments)
    options = Options(**{name: value for name, value in vars(given).items() if name != "json"})
    started = time.perf_counter()
    atlas = load_atlas()
    figures: dict[str, Any] = {
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "options": asdict(options),
        "load_before": os.getloadavg()[0],
    }
    _show("Versions", figures["versions"])
    for name, title, measure in _parts(atlas, options):
        begun, used = time.perf_counter(), processor_seconds()
        found = measure()
        took = {"took_s": time.perf_counter() - begun, "took_processor_s": processor_seconds() - used}
        figures[name] = found | took
        _show(title, figures[name])
    figures["took_s"] = time.perf_counter() - started
    figures["load_after"] = os.getloadavg()[0]
    figures["targets"] = table_of_targets(figures)
    print_targets(figures["targets"])
    print(f"\nAll of it took {figures['took_s']:,.0f} s.")
    if figures["load_before"] > _IDLE:
        print(f"The machine had other work (load {figures['load_before']:.1f} before): seconds are too many.")
    if given.json is not None:
        given.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
        if options.layer_points:
            draw_costs(figures, [given.json.with_suffix(".png"), given.json.with_suffix(".svg")])
    return 0


def _parts(atlas: Atlas, options: Options) -> list[tuple[str, str, Callable[[], dict[str, Any]]]]:
    """Return each part: its name, its title, and what measures it."""
    parts: list[tuple[str, str, Callable[[], dict[str, Any]]]] = [
        ("cold", "One site, cold: a new process", lambda: measure_cold(options)),
        ("warm", "One site, warm", lambda: measure_warm(atlas, options)),
        ("municipalities", "Municipality by point", lambda: measure_municipalities(atlas, options)),
        ("stations", "Nearest station", lambda: measure_stations(atlas, options)),
        ("rules", "Every category, observations given", lambda: measure_rules(atlas, options)),
        (
            "loading",
            "Loading layers: whole commands",
            lambda: measure_loading(one_process, tracts=TRACTS, large_megabytes=options.large_mb),
        ),
        ("batch", "A table of sites: whole command", lambda: measure_batch(atlas, rows=options.batch_rows)),
        (
            "cells",
            "Many sites with the cell index, beside others",
            lambda: measure_cells(points=options.many_points, parcels=options.many_parcels, cut_lots=options.cut_lots),
        ),
    ]
    if options.layer_points:
        parts.append(("by_layers", "More and more layers", lambda: measure_by_layers(points=options.layer_points)))
    if options.parcels_file:
        parts.append(
            (
                "parcel_file",
                "A file of parcels: whole command",
                lambda: measure_parcel_file(atlas, parcels=options.parcels_file, tracts=TRACTS),
            )
        )
    return parts


if __name__ == "__main__":
    sys.exit(main())
