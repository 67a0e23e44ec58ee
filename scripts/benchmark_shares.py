"""How long shares of area take for lots that lines cut, where the rulebook asks for shares, beside geopandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import shapely
from benchmark_process import peak_of, timed
from benchmark_sites import SEED, lots_around, table

from grownj_geo.bulk import DEFAULT_MARGIN_LIMIT_FT
from grownj_geo.bulkobserve import observe
from grownj_geo.bulkplan import plan_of
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.bulkobserve import Observations
    from grownj_geo.bulkplan import DistanceQuestion, Plan
    from grownj_geo.cells import CellIndex
    from grownj_geo.determine import Engine

    Floats = NDArray[np.float64]
    Shapes = NDArray[np.object_]

__all__ = ["cut_lots", "measure_shares"]

_MEDIAN_SQFT = 40_000.0
_OFF_LINE_FTUS = 150.0
_ROUND = 256
_SHARE_ERROR = 1e-6
_PLANE_FT = 0.6
"""How far a circle in the plane, of many sides, may be from the one on the ellipsoid at the rulebook's radii."""


def cut_lots(plan: Plan, n: int) -> Shapes:
    """Return lots of about an acre on the lines that matter: outlines of grounds, and circles in which shares count."""
    rng = np.random.default_rng(SEED + 5)
    edges = np.concatenate([ground.edges for ground in plan.grounds if len(ground.edges)])
    along = edges[rng.integers(0, len(edges), n - n // 2)]
    share = rng.uniform(size=(len(along), 1))
    on_lines = along[:, :2] * share + along[:, 2:] * (1 - share)
    rings = []
    for asked, radius in _asked(plan):
        count = n // 2 // len(_asked(plan)) + 1
        middle = shapely.get_coordinates(asked.layer.points[rng.choice(asked.features, count)])
        angle = rng.uniform(0, 2 * np.pi, count)
        rings.append(middle + radius / FT_PER_FTUS * np.column_stack([np.cos(angle), np.sin(angle)]))
    on_rings = rng.permutation(np.concatenate([np.zeros((0, 2)), *rings]))[: n // 2]
    middle = np.concatenate([on_lines, on_rings])
    middle += rng.normal(0.0, _OFF_LINE_FTUS, middle.shape)
    return lots_around(rng, middle, _MEDIAN_SQFT * np.exp(rng.normal(0.0, 0.8, len(middle))))


def _asked(plan: Plan) -> list[tuple[DistanceQuestion, float]]:
    """Return every circle in which a share is asked for around points."""
    return [
        (asked, radius)
        for asked in plan.distances
        if asked.layer.lonlat is not None and len(asked.features)
        for radius in asked.shares
    ]


def measure_shares(engine: Engine, index: CellIndex, *, lots: int, peers: bool = True) -> dict[str, Any]:
    """Measure all that the rulebook asks about lots which lines cut: shares of area, distances, municipalities.

    Parameters
    ----------
    engine, index
        The rulebook on its atlas, and its cell index.
    lots
        How many.
    peers
        Compare the shares with those of geopandas' overlays in the plane, and measure these too. They are of the shares
        alone: fewer questions than ours.
    """
    plan = plan_of(engine.bound, engine.atlas)
    shapes = cut_lots(plan, lots)

    def ours() -> Observations:
        return observe(plan, table(shapes), limit_ft=DEFAULT_MARGIN_LIMIT_FT, index=index)

    seconds, found = timed(ours, times=2)
    figures: dict[str, Any] = {
        "lots": len(shapes),
        "questions": len(plan.coverages) + len(_asked(plan)),
        "cut": int(np.logical_or.reduce([(c.share > 0) & (c.share < 1) for c in found.coverages.values()]).sum()),
        "shares_s": seconds,
        "lot_us": seconds / len(shapes) * 1e6,
        "megabytes": peak_of(ours)[0],
    }
    if peers:
        theirs_s, theirs = timed(lambda: _by_geopandas(plan, shapes))
        figures |= {
            "geopandas_overlay_s": theirs_s,
            "ratio_geopandas_overlay_to_ours": theirs_s / seconds,
            "shares_unequal_to_geopandas": _unequal(plan, shapes, found, theirs),
        }
    return figures


def _by_geopandas(plan: Plan, shapes: Shapes) -> dict[Any, Floats]:
    """Return shares by overlays with dissolved grounds and with circles around stations."""
    import geopandas as gpd  # noqa: PLC0415 - only peers need it

    sites = gpd.GeoDataFrame({"lot": np.arange(len(shapes))}, geometry=shapes, crs="EPSG:3424")

    def share(area: shapely.Geometry) -> Floats:
        ground = gpd.GeoDataFrame(geometry=shapely.get_parts(area), crs="EPSG:3424")
        cut = gpd.overlay(sites, ground, how="intersection", keep_geom_type=True)
        covered = np.bincount(cut["lot"], weights=cut.geometry.area, minlength=len(shapes))
        return np.asarray(covered / shapely.area(shapes))

    found: dict[Any, Floats] = {}
    for coverage in plan.coverages:
        if coverage.exact and len(coverage.features):
            found[coverage.key] = share(plan.grounds[coverage.grounds[2]].area)
    for asked, radius in _asked(plan):
        circles = shapely.buffer(asked.layer.points[asked.features], radius / FT_PER_FTUS, quad_segs=_ROUND)
        found[asked.key, radius] = share(shapely.union_all(circles))
    return found


def _unequal(plan: Plan, shapes: Shapes, found: Observations, theirs: dict[Any, Floats]) -> int:
    """Return for how many lots a share of a ground differs, or a circle is said to hold more than a limit otherwise.

    Shares in circles are compared with their limits where the plane cannot be the reason of a difference.
    """
    wrong = np.zeros(len(shapes), dtype=bool)
    for coverage in plan.coverages:
        if coverage.key in theirs:
            wrong |= np.abs(found.coverages[coverage.key].share - theirs[coverage.key]) > _SHARE_ERROR
    slack = _PLANE_FT * shapely.length(shapes) / shapely.area(shapes)
    for asked, _ in _asked(plan):
        for radius, limit in asked.share_limits:
            share = theirs[asked.key, radius]
            clear = np.abs(share - limit) > slack
            wrong |= clear & ((found.land_shares[asked.key, radius][1] > limit) != (share > limit))
    return int(wrong.sum())
