"""Others who do the same as the package, in the same run: geopandas, SedonaDB, DuckDB with its spatial extension."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely
from benchmark_process import timed
from benchmark_sites import table

from grownj_geo.bulkobserve import observe
from grownj_geo.bulkplan import plan_of
from grownj_geo.place import PlacementKind
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    import geopandas as gpd
    from numpy.typing import NDArray

    from grownj_geo.bulkplan import Plan
    from grownj_geo.determine import Engine

__all__ = [
    "Pipeline",
    "by_id",
    "municipal_by_duckdb",
    "municipal_by_geopandas",
    "municipal_by_sedonadb",
    "municipal_wkb",
]

_TOLERANCE_FT = 1e-6


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
        codes, shapes = municipal_wkb(engine)

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


def municipal_wkb(engine: Engine) -> tuple[list[str], list[bytes]]:
    """Return the municipalities of the day: their codes, and their polygons as well-known binary."""
    layer = engine.atlas.layer("municipalities")
    if layer is None:
        raise SystemExit("The municipalities cannot be used; reinstall the package.")
    features = layer.select(as_of=engine.atlas.as_of)
    return [layer.key(int(i)) for i in features], [shapely.to_wkb(layer.geometry(int(i))) for i in features]


def municipal_by_geopandas(engine: Engine, points: NDArray[np.object_]) -> tuple[float, list[str | None]]:
    """Return seconds and codes of a join with geopandas, of the fast kind."""
    import geopandas as gpd  # noqa: PLC0415 - only this part needs it

    codes, shapes = municipal_wkb(engine)
    frame = gpd.GeoDataFrame({"code": codes}, geometry=gpd.GeoSeries.from_wkb(shapes), crs="EPSG:3424")
    sites = gpd.GeoDataFrame(geometry=points, crs=frame.crs)
    seconds, joined = timed(lambda: gpd.sjoin(sites, frame, how="left", predicate="within"))
    column = joined["code"][~joined.index.duplicated()].sort_index()
    return seconds, [code if isinstance(code, str) else None for code in column]


def municipal_by_sedonadb(engine: Engine, points: NDArray[np.object_]) -> tuple[float, list[str | None]]:
    """Return seconds and codes of a join with SedonaDB: tables in its memory, every processor, best of three runs."""
    import pyarrow as pa  # noqa: PLC0415 - only peers need it

    sedonadb = importlib.import_module("sedonadb")  # a peer, without types
    codes, shapes = municipal_wkb(engine)
    xy = shapely.get_coordinates(points)
    db = sedonadb.connect()
    sites = pa.table({"id": np.arange(len(xy)), "x": xy[:, 0], "y": xy[:, 1]})
    db.create_data_frame(sites).to_view("raw_sites")
    db.create_data_frame(pa.table({"code": codes, "wkb": pa.array(shapes, pa.binary())})).to_view("raw_areas")
    db.sql("SELECT id, ST_Point(x, y) AS geom FROM raw_sites").to_memtable().to_view("sites")
    db.sql("SELECT code, ST_GeomFromWKB(wkb) AS geom FROM raw_areas").to_memtable().to_view("areas")
    query = "SELECT s.id, a.code FROM sites s JOIN areas a ON ST_Within(s.geom, a.geom)"
    seconds, joined = timed(lambda: pa.table(db.sql(query)), times=3)
    return seconds, by_id(joined.column("id").to_numpy(), joined.column("code").to_pylist(), len(xy))


def municipal_by_duckdb(engine: Engine, points: NDArray[np.object_]) -> tuple[float, list[str | None]]:
    """Return seconds and codes of a join with DuckDB, on every processor: tables in its memory."""
    import pyarrow as pa  # noqa: PLC0415 - only peers need it

    duckdb = importlib.import_module("duckdb")  # a peer, which may be missing
    codes, shapes = municipal_wkb(engine)
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
    seconds, joined = timed(lambda: db.execute(query).fetchnumpy())
    return seconds, by_id(joined["id"], list(joined["code"]), len(xy))


def by_id(ids: NDArray[np.integer], codes: list[str], n: int) -> list[str | None]:
    """Return the code of each of n points, the lower of several, from the rows of a join."""
    found: list[str | None] = [None] * n
    for i, code in zip(ids.tolist(), codes, strict=True):
        found[i] = code if found[i] is None else min(str(found[i]), code)
    return found
