"""How long many sites take with the cell index, beside others who do the same: answers compared first, then timed."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely
from benchmark_layers import PLANNING_AREAS, PLANNING_VERTICES, _blobs

from grownj_geo.atlas import Atlas, load_atlas
from grownj_geo.bulk import DEFAULT_MARGIN_LIMIT_FT, evaluate_many
from grownj_geo.bulkobserve import observe
from grownj_geo.bulkplan import plan_of
from grownj_geo.cells import CellIndex, index_fingerprint
from grownj_geo.determine import Engine
from grownj_geo.evaluate import Evaluation
from grownj_geo.layer import Layer
from grownj_geo.leaves import Leaves
from grownj_geo.manifest import load_manifests
from grownj_geo.observe import SiteTable
from grownj_geo.place import PlacementKind
from grownj_geo.rulebook import load_rulebook
from grownj_geo.units import FT_PER_FTUS, to_working

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import geopandas as gpd
    from numpy.typing import NDArray

    from grownj_geo.bulk import Findings
    from grownj_geo.bulkplan import Plan

SEED = 34
POINTS_SECONDS, MUNICIPAL_SECONDS, BUILD_SECONDS, LOAD_SECONDS, PARCEL_MICROSECONDS = 2.0, 0.2, 20.0, 0.3, 70.0
"""What is aimed at; microseconds are those of one processor for one parcel."""
TRACTS = Path(__file__).resolve().parents[2] / "shared" / "data" / "nj_tracts_cb2018_500k.parquet"
_CLASSES = ("METROPOLITAN", "SUBURBAN", "FRINGE", "RURAL", "RURAL ENV. SENSITIVE", "ENVIRONMENTALLY SENSITIVE")
_TOLERANCE_FT = 1e-6


# -- layers and sites ----------------------------------------------------------------------------------


def _layer(layer_id: str, shapes: Sequence[shapely.Geometry], columns: dict[str, list[Any]]) -> Layer:
    manifest = load_manifests()[layer_id].model_copy(update={"least_features": 0})
    named = {manifest.key_field, manifest.name_field, *manifest.required_fields} - {None, *columns}
    columns = columns | {str(name): [str(i) for i in range(len(shapes))] for name in named}
    bounds = np.asarray(shapely.bounds(np.array(shapes, dtype=object)), dtype=np.float64)
    return Layer(manifest, columns, bounds, f"drawn {layer_id}", geometries=dict(enumerate(shapes)))


def drawn_layers(tracts: Path | None = TRACTS) -> list[Layer]:
    """Return a drawn statewide planning-area layer and census tracts; the tracts are drawn too where there are none."""
    rings = _blobs(PLANNING_AREAS, PLANNING_VERTICES // PLANNING_AREAS, columns=32, side=8_500.0)
    areas = []
    for ring in rings:
        lonlat = np.array(ring)
        areas.append(shapely.make_valid(shapely.Polygon(np.column_stack(to_working(lonlat[:, 0], lonlat[:, 1])))))
    classes = [_CLASSES[i % len(_CLASSES)] for i in range(len(areas))]
    found = [_layer("planning_areas", areas, {"SPDETAIL": classes})]
    if tracts is not None and tracts.is_file():
        import geopandas as gpd  # noqa: PLC0415 - only where there are tracts

        frame = gpd.read_parquet(tracts).to_crs("EPSG:3424")
        shapes = list(shapely.make_valid(frame.geometry.to_numpy()))
        rates = ["" if np.isnan(rate) else str(rate) for rate in frame["poverty_rate_pct_acs2020"]]
    else:
        rng = np.random.default_rng(SEED)
        x, y = (v.ravel() for v in np.meshgrid(np.arange(40) * 11_000.0 + 200_000, np.arange(55) * 15_500.0 + 40_000))
        shapes = list(shapely.box(x, y, x + 11_000, y + 15_500))
        rates = [f"{rate:.2f}" for rate in rng.gamma(2.0, 6.0, len(shapes))]
    other = {"ACS_EDITION": ["2016-2020"] * len(shapes), "TRACT_VINTAGE": ["2010"] * len(shapes)}
    return [*found, _layer("census_tract_poverty", shapes, {"POVERTY_RATE": rates, **other})]


def random_points(atlas: Atlas, n: int, *, seed: int = SEED) -> NDArray[np.object_]:
    """Return points anywhere in New Jersey."""
    counties = atlas.layer("counties")
    if counties is None:
        raise SystemExit("The counties cannot be used; reinstall the package.")
    state = shapely.union_all([counties.geometry(i) for i in range(len(counties))])
    shapely.prepare(state)
    rng = np.random.default_rng(seed)
    found: list[NDArray[np.float64]] = []
    left = n
    while left > 0:
        xy = rng.uniform(state.bounds[:2], state.bounds[2:], size=(4 * left, 2))
        found.append(xy[shapely.intersects_xy(state, xy[:, 0], xy[:, 1])][:left])
        left -= len(found[-1])
    return np.asarray(shapely.points(np.concatenate(found)), dtype=object)


def random_parcels(atlas: Atlas, n: int, *, seed: int = SEED) -> NDArray[np.object_]:
    """Return lots of the State's sizes, as far as a log-normal draw has them: half below a third of an acre."""
    rng = np.random.default_rng(seed + 1)
    middle = shapely.get_coordinates(random_points(atlas, n, seed=seed + 2))
    wide, deep = np.exp(rng.normal(4.6, 0.6, n)), np.exp(rng.normal(4.9, 0.6, n))
    angle = rng.uniform(0, np.pi, n)
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) / 2.0
    dx, dy = corners[None, :, 0] * wide[:, None], corners[None, :, 1] * deep[:, None]
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    xy = np.stack([dx * cos - dy * sin, dx * sin + dy * cos], axis=2) + middle[:, None, :]
    return np.asarray(shapely.polygons(xy), dtype=object)


def table(geometries: NDArray[np.object_]) -> SiteTable:
    """Return sites that are known by their place alone."""
    n = len(geometries)
    return SiteTable(geometries, np.zeros(n), np.ones(n, dtype=bool), ("",) * n)


# -- the same answers ----------------------------------------------------------------------------------


def unequal_to_one_site(engine: Engine, sites: SiteTable, found: Findings, some: NDArray[np.int64]) -> int:
    """Return for how many of some sites any outcome, leaning, cause or margin is not what the site has alone."""
    wrong = 0
    columns = [(found.outcomes[:, k][:, found.group[some]], found.cause(name)[some], found.margin_ft(name)[some])
               for k, name in enumerate(found.categories)]  # fmt: skip
    cache: dict[int, list[tuple[int, int, int]]] = {}
    for at, i in enumerate(some.tolist()):
        alone = Leaves(engine.bound, engine.atlas, table(sites.geometries[i : i + 1]), feature_cache=cache)
        run = Evaluation(engine.bound, alone, keep=False)
        same = True
        for name, (outcomes, causes, margins) in zip(found.categories, columns, strict=True):
            value = run.category(name)
            margin = np.clip(value.margin(), -found.margin_limit_ft, found.margin_limit_ft)
            same &= outcomes[:, at].tolist() == value.outcomes[:, 0].tolist() and causes[at] == value.causes[0]
            same &= bool(np.isclose(margins[at], margin, rtol=0, atol=_TOLERANCE_FT, equal_nan=True))
        wrong += not same
    return wrong


def unequal_findings(a: Findings, b: Findings) -> int:
    """Return for how many sites any of two findings differs."""
    wrong = np.zeros(len(a), dtype=bool)
    for name in a.categories:
        for row in range(3):
            wrong |= a.outcome(name, row=row) != b.outcome(name, row=row)
        wrong |= a.cause(name) != b.cause(name)
        left, right = a.margin_ft(name), b.margin_ft(name)
        wrong |= (left != right) & ~(np.isnan(left) & np.isnan(right))
    return int(wrong.sum())


# -- peers ---------------------------------------------------------------------------------------------


def _timed(work: Callable[[], Any], *, times: int = 1) -> tuple[float, Any]:
    """Return the least seconds, and what came out."""
    best, found = np.inf, None
    for _ in range(times):
        start = time.perf_counter()
        found = work()
        best = min(best, time.perf_counter() - start)
    return best, found


@dataclass(frozen=True)
class Pipeline:
    """The observations that a rulebook needs, made with geopandas' joins in the plane, as an analyst would.

    Every join is of the fast kind, and grounds are dissolved before the clock starts. What comes out is the covering
    municipality, which grounds cover a point, how far their lines are up to the limit, and how far the nearest of each
    kind of station is. No rule is evaluated.
    """

    plan: Plan
    municipal: gpd.GeoDataFrame
    areas: list[gpd.GeoDataFrame]
    lines: list[gpd.GeoDataFrame]
    targets: list[gpd.GeoDataFrame]

    @classmethod
    def of(cls, engine: Engine) -> Pipeline:
        """Return the pipeline for a rulebook on its atlas, everything decoded and dissolved."""
        import geopandas as gpd  # noqa: PLC0415 - only peers need it

        plan = plan_of(engine.bound, engine.atlas)
        codes, shapes = _wkb_frame(engine)

        def frame(values: Any, **columns: Any) -> gpd.GeoDataFrame:  # noqa: ANN401 - whatever geopandas takes
            return gpd.GeoDataFrame(columns, geometry=values, crs="EPSG:3424")

        grounds = [plan.grounds[asked.grounds[2]].area for asked in plan.coverages]
        targets = []
        for question in plan.distances:
            of, which = question.layer, question.features
            targets.append(frame(of.points[which] if of.lonlat is not None else [of.geometry(int(i)) for i in which]))
        return cls(
            plan,
            frame(shapely.from_wkb(shapes), code=codes),
            [frame(shapely.get_parts(ground)) for ground in grounds],
            [frame(shapely.get_parts(shapely.boundary(ground))) for ground in grounds],
            targets,
        )

    def run(self, points: NDArray[np.object_], limit_ft: float) -> dict[Any, Any]:
        """Return the observations of some points."""
        import geopandas as gpd  # noqa: PLC0415 - only peers need it

        sites = gpd.GeoDataFrame(geometry=points, crs="EPSG:3424")
        joined = gpd.sjoin(sites, self.municipal, how="left", predicate="within")
        found: dict[Any, Any] = {"municipality": joined["code"][~joined.index.duplicated()].sort_index().to_numpy()}
        limit = limit_ft / FT_PER_FTUS
        for asked, area, line in zip(self.plan.coverages, self.areas, self.lines, strict=True):
            inside = np.zeros(len(sites), dtype=bool)
            inside[gpd.sjoin(sites, area, predicate="within").index] = True
            near = gpd.sjoin_nearest(sites, line, max_distance=limit, distance_col="feet")
            found[asked.key] = (inside, self._least(near, len(sites)))
        for question, target in zip(self.plan.distances, self.targets, strict=True):
            reach = (max(question.every_radius) + limit_ft) / FT_PER_FTUS
            near = gpd.sjoin_nearest(sites, target, max_distance=reach, distance_col="feet")
            found[question.key] = self._least(near, len(sites))
        return found

    @staticmethod
    def _least(near: gpd.GeoDataFrame, n: int) -> NDArray[np.float64]:
        feet = np.full(n, np.inf)
        np.minimum.at(feet, near.index.to_numpy(), near["feet"].to_numpy() * FT_PER_FTUS)
        return feet

    def unequal(self, points: NDArray[np.object_], limit_ft: float) -> int:
        """Return for how many points any observation is not the one that the rules are evaluated with.

        Distances are compared within the error of the plane, a few parts in ten thousand.
        """
        theirs, seen = self.run(points, limit_ft), observe(self.plan, table(points), limit_ft=limit_ft)
        first = seen.places.candidates[seen.places.likely.first]
        kinds = seen.places.placement().kinds
        off = np.array([kind in {PlacementKind.OFFSHORE, PlacementKind.OUTSIDE} for kind in kinds])
        mine = np.where(off | (first < 0), "", np.array(seen.places.codes)[np.maximum(first, 0)])
        codes = np.array([code if isinstance(code, str) else "" for code in theirs["municipality"]])
        wrong = mine != codes
        for asked in self.plan.coverages:
            found, (inside, feet) = seen.coverages[asked.key], theirs[asked.key]
            if asked.exact and len(asked.features):
                wrong |= (found.share == 1) != inside
                wrong |= np.abs(np.abs(found.margin_ft) - np.minimum(feet, limit_ft)) > _TOLERANCE_FT
        for question in self.plan.distances:
            if question.layer.lonlat is not None and len(question.features):
                near = np.nan_to_num(seen.distances[question.key].near, nan=np.inf)
                reach = max(question.every_radius) + limit_ft
                both = (near < 0.99 * reach) | (theirs[question.key] < 0.99 * reach)
                known = both & ~np.isnan(seen.distances[question.key].near)
                wrong |= known & ~(np.abs(near - theirs[question.key]) <= 5e-4 * near + 0.01)
        return int(wrong.sum())


def _wkb_frame(engine: Engine) -> tuple[list[str], list[bytes]]:
    layer = engine.atlas.layer("municipalities")
    if layer is None:
        raise SystemExit("The municipalities cannot be used; reinstall the package.")
    features = layer.select(as_of=engine.atlas.as_of)
    return [layer.key(int(i)) for i in features], [shapely.to_wkb(layer.geometry(int(i))) for i in features]


def _municipal_by_geopandas(engine: Engine, points: NDArray[np.object_]) -> tuple[float, list[str | None]]:
    import geopandas as gpd  # noqa: PLC0415 - only this part needs it

    codes, shapes = _wkb_frame(engine)
    frame = gpd.GeoDataFrame({"code": codes}, geometry=gpd.GeoSeries.from_wkb(shapes), crs="EPSG:3424")
    sites = gpd.GeoDataFrame(geometry=points, crs=frame.crs)
    seconds, joined = _timed(lambda: gpd.sjoin(sites, frame, how="left", predicate="within"))
    column = joined["code"][~joined.index.duplicated()].sort_index()
    return seconds, [code if isinstance(code, str) else None for code in column]


def _municipal_by_sedonadb(engine: Engine, points: NDArray[np.object_]) -> tuple[float, list[str | None]]:
    import pyarrow as pa  # noqa: PLC0415 - only peers need it

    sedonadb = importlib.import_module("sedonadb")  # a peer, without types
    codes, shapes = _wkb_frame(engine)
    xy = shapely.get_coordinates(points)
    db = sedonadb.connect()
    sites = pa.table({"id": np.arange(len(xy)), "x": xy[:, 0], "y": xy[:, 1]})
    db.create_data_frame(sites).to_view("raw_sites")
    db.create_data_frame(pa.table({"code": codes, "wkb": pa.array(shapes, pa.binary())})).to_view("raw_areas")
    db.sql("SELECT id, ST_Point(x, y) AS geom FROM raw_sites").to_memtable().to_view("sites")
    db.sql("SELECT code, ST_GeomFromWKB(wkb) AS geom FROM raw_areas").to_memtable().to_view("areas")
    query = "SELECT s.id, a.code FROM sites s JOIN areas a ON ST_Within(s.geom, a.geom)"
    seconds, joined = _timed(lambda: pa.table(db.sql(query)), times=2)
    return seconds, _by_id(joined.column("id").to_numpy(), joined.column("code").to_pylist(), len(xy))


def _municipal_by_duckdb(engine: Engine, points: NDArray[np.object_]) -> tuple[float, list[str | None]]:
    import pyarrow as pa  # noqa: PLC0415 - only peers need it

    duckdb = importlib.import_module("duckdb")  # a peer, which may be missing
    codes, shapes = _wkb_frame(engine)
    xy = shapely.get_coordinates(points)
    # Its spatial extension comes out of a package.
    importlib.import_module("duckdb_extensions").import_extension("spatial")
    db = duckdb.connect()
    db.execute("LOAD spatial")
    db.register("raw_sites", pa.table({"id": np.arange(len(xy)), "x": xy[:, 0], "y": xy[:, 1]}))
    db.register("raw_areas", pa.table({"code": codes, "wkb": pa.array(shapes, pa.binary())}))
    db.execute("CREATE TABLE sites AS SELECT id, ST_Point(x, y) AS geom FROM raw_sites")
    db.execute("CREATE TABLE areas AS SELECT code, ST_GeomFromWKB(wkb) AS geom FROM raw_areas")
    query = "SELECT s.id, a.code FROM sites s JOIN areas a ON ST_Within(s.geom, a.geom)"
    seconds, joined = _timed(lambda: db.execute(query).fetchnumpy())
    return seconds, _by_id(joined["id"], list(joined["code"]), len(xy))


def _by_id(ids: NDArray[np.integer], codes: list[str], n: int) -> list[str | None]:
    found: list[str | None] = [None] * n
    for i, code in zip(ids.tolist(), codes, strict=True):
        found[i] = code if found[i] is None else min(str(found[i]), code)
    return found


# -- measuring -----------------------------------------------------------------------------------------


def measure_cells(
    *,
    points: int = 1_000_000,
    parcels: int = 50_000,
    compared: int = 300,
    peers: bool = True,
    tracts: Path | None = TRACTS,
) -> dict[str, Any]:
    """Measure the index: building, loading, points, municipalities, parcels; peers in the same run.

    Parameters
    ----------
    points, parcels
        How many sites.
    compared
        How many of each are compared with one site at a time before anything is timed.
    peers
        Run the others too. DuckDB takes the first hundred thousand points only, and its seconds are said to be theirs.
    tracts
        A GeoParquet file of the State's census tracts; drawn ones stand for it.
    """
    engine = Engine(Atlas(as_of=load_atlas().as_of, layers=drawn_layers(tracts)), load_rulebook())
    places, lots = random_points(engine.atlas, points), random_parcels(engine.atlas, parcels)
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="grownj-cells-") as folder:
        figures["build_s"], built = _timed(lambda: CellIndex.build(engine))
        path = Path(folder) / "index.cells"
        figures["save_s"], _ = _timed(lambda: built.save(path))
        print_of = index_fingerprint(engine)
        figures["load_s"], index = _timed(lambda: CellIndex.load(path, fingerprint=print_of))
        figures["index_mb"] = index.size_bytes / 1e6
        figures |= _measure_points(engine, index, places, compared)
        figures |= _measure_parcels(engine, index, lots, compared)
        figures["municipal"] = _measure_municipal(engine, index, places, peers=peers)
        if peers:
            pipeline = Pipeline.of(engine)
            few = places[: min(len(places), 100_000)]
            figures["geopandas_pipeline_points_compared"] = len(few)
            figures["geopandas_pipeline_unequal_answers"] = pipeline.unequal(few, DEFAULT_MARGIN_LIMIT_FT)
            seconds, _ = _timed(lambda: pipeline.run(places, DEFAULT_MARGIN_LIMIT_FT))
            figures["geopandas_pipeline_s"] = seconds
            figures["ratio_geopandas_pipeline_to_ours"] = seconds / figures["points_s"]
        del index  # a file that is mapped cannot be removed everywhere
    return figures | {
        "target": {
            "points_s": POINTS_SECONDS,
            "municipal_s": MUNICIPAL_SECONDS,
            "build_s": BUILD_SECONDS,
            "load_s": LOAD_SECONDS,
            "parcel_us": PARCEL_MICROSECONDS,
        }
    }


def _measure_points(engine: Engine, index: CellIndex, places: NDArray[np.object_], compared: int) -> dict[str, Any]:
    n = len(places)
    some = np.random.default_rng(SEED).integers(0, n, compared)
    part = table(places[: min(n, 100_000)])
    without_s, without = _timed(lambda: evaluate_many(engine, part))
    with_index = evaluate_many(engine, part, index=index)
    found = evaluate_many(engine, table(places), index=index)
    wrong = unequal_to_one_site(engine, table(places), found, some)
    different = unequal_findings(without, with_index)
    seconds, found = _timed(lambda: evaluate_many(engine, table(places), index=index), times=3)
    margins_s, _ = _timed(lambda: [found.margin_ft(name) for name in found.categories])
    return {
        "points": n,
        "points_compared_with_one_site": compared,
        "points_unequal_to_one_site": wrong,
        "points_unequal_with_and_without_index": different,
        "points_groups": len(found.first),
        "points_s": seconds,
        "points_all_margins_s": margins_s,
        "points_without_index_s": without_s * n / len(part),
    }


def _measure_parcels(engine: Engine, index: CellIndex, lots: NDArray[np.object_], compared: int) -> dict[str, Any]:
    n = len(lots)
    sites = table(lots)
    found = evaluate_many(engine, sites, index=index)
    some = np.random.default_rng(SEED).integers(0, n, compared)
    wrong = unequal_to_one_site(engine, sites, found, some)
    few = table(lots[: min(n, 5_000)])
    different = unequal_findings(evaluate_many(engine, few), evaluate_many(engine, few, index=index))
    seconds, _ = _timed(lambda: evaluate_many(engine, table(lots), index=index))
    return {
        "parcels": n,
        "parcels_unequal_to_one_site": wrong,
        "parcels_unequal_with_and_without_index": different,
        "parcels_s": seconds,
        "parcel_us": seconds / n * 1e6,
    }


def _measure_municipal(engine: Engine, index: CellIndex, places: NDArray[np.object_], *, peers: bool) -> dict[str, Any]:
    seconds, (codes, cover) = _timed(lambda: index.municipalities(engine, table(places)), times=3)
    figures: dict[str, Any] = {"municipal_s": seconds}
    if not peers:
        return figures
    mine = [codes[c] if c >= 0 else None for c in cover.tolist()]
    ways: dict[str, tuple[str, int, Callable[..., tuple[float, list[str | None]]]]] = {
        "geopandas": ("geopandas", len(places), _municipal_by_geopandas),
        "sedonadb": ("sedonadb", len(places), _municipal_by_sedonadb),
        "duckdb": ("duckdb_extensions", min(len(places), 100_000), _municipal_by_duckdb),
    }
    for name, (module, count, way) in ways.items():
        if importlib.util.find_spec(module) is None:
            figures[name] = "not installed"
            continue
        theirs_s, theirs = way(engine, places[:count])
        figures[f"{name}_version"] = version(name)
        figures[f"{name}_points"] = count
        figures[f"{name}_unequal_answers"] = sum(a != b for a, b in zip(mine[:count], theirs, strict=True))
        figures[f"{name}_s"] = theirs_s
        figures[f"ratio_{name}_to_ours"] = theirs_s / (seconds * count / len(places))
    return figures


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(description="Print how long many sites take. Nothing is asserted.")
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--parcels", type=int, default=50_000)
    parser.add_argument("--compared", type=int, default=300)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file too")
    given = parser.parse_args(arguments)
    figures = measure_cells(
        points=given.points, parcels=given.parcels, compared=given.compared, peers=not given.no_peers
    )
    print(json.dumps(figures, indent=2))
    print(f"{os.cpu_count()} processors, python {sys.version.split()[0]}, shapely {shapely.__version__}")
    if given.json is not None:
        given.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
