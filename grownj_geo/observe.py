"""Measuring sites against layers. This module knows geometry and no law.

Every answer is an interval: what is certainly so, what is computed, what is possible. Distances are on the
ellipsoid and in international feet; areas are planar, in the working CRS.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.areadistance import near_and_far
from grownj_geo.units import FT_PER_FTUS, geodesic_ft, to_lonlat

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.layer import Layer
    from grownj_geo.sitetable import SiteTable

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = [
    "MARGIN_LIMIT_FT",
    "Coverage",
    "Distance",
    "NearGround",
    "distances_to_each",
    "ground_near",
    "is_small",
    "measure_coverage",
    "measure_distance",
]

MARGIN_LIMIT_FT = 2_000.0
"""In a layer of many features or many vertices, a line farther off than this is not looked for."""

_FEW_FEATURES = 8
_MOST_KEPT = 1_000
_MANY_VERTICES = 5_000
_SHARE_NOISE = 1e-9
# The planar distance in EPSG:3424 is off by at most 1 part in 10,000 inside New Jersey, in either direction.
_PLANAR_ERROR = 2e-4


@dataclass(frozen=True, eq=False)
class Coverage:
    """How much of each site lies in some features, arrays of shape (n,).

    Attributes
    ----------
    share_low, share, share_high
        Share of the site that is certainly in, computed to be in, and possibly in; 0 or 1 for a point.
        `share` is NaN where only bounds of the features are known.
    margin_ft
        Feet from the site to the features' common line: positive inside, negative outside; NaN for a site
        that the line cuts, or where the line is not known. At most the limit in a layer of many features or
        many vertices.
    feature
        Index of the feature that covers the site, or is nearest to it; -1 where none is near.
    """

    share_low: Floats
    share: Floats
    share_high: Floats
    margin_ft: Floats
    feature: Ints

    def row(self, row: int) -> Coverage:
        """Return one site's, as arrays of one."""
        part = slice(row, row + 1)
        return Coverage(
            self.share_low[part], self.share[part], self.share_high[part], self.margin_ft[part], self.feature[part]
        )


@dataclass(frozen=True, eq=False)
class Distance:
    """How far each site is from the nearest of some features, arrays of shape (n,), international feet.

    Attributes
    ----------
    near_low, near, near_high
        From the site's nearest part: at least, computed, at most. `near` is NaN where only bounds are known.
    far_low, far, far_high
        From the site's farthest part; the same as `near` for a point.
    feature
        Index of the nearest feature; -1 where there is none.
    """

    near_low: Floats
    near: Floats
    near_high: Floats
    far_low: Floats
    far: Floats
    far_high: Floats
    feature: Ints

    def row(self, row: int) -> Distance:
        """Return one site's, as arrays of one."""
        part = slice(row, row + 1)
        return Distance(
            self.near_low[part],
            self.near[part],
            self.near_high[part],
            self.far_low[part],
            self.far[part],
            self.far_high[part],
            self.feature[part],
        )


def _filled(n: int, value: float = np.nan) -> Floats:
    return np.full(n, value, dtype=np.float64)


def _bounded(layer: Layer, features: Ints, doubtful: NDArray[np.bool_] | None = None) -> tuple[Ints, Ints, Ints]:
    """Split a selection into what is surely in, what is possibly in, and the computed line."""
    sure, computed = layer.sure[features], layer.computed[features]
    if doubtful is not None:
        sure, computed = sure & ~doubtful, computed & ~doubtful
    return features[sure], features[layer.possible[features]], features[computed]


def measure_coverage(
    layer: Layer, features: Ints, sites: SiteTable, *, doubtful: NDArray[np.bool_] | None = None
) -> Coverage:
    """Measure how much of each site lies in the given features taken together.

    Parameters
    ----------
    layer
        A layer of polygons.
    features
        Indices of the features that count.
    sites
        The sites; those without a place come back as NaN.
    doubtful
        Which of the features only perhaps count: they are possible ground and never sure ground.
    """
    n = len(sites)
    lower, upper, nominal = _bounded(layer, features, doubtful)
    accuracy = layer.manifest.accuracy_ft or 0.0
    exact = np.array_equal(lower, nominal) and np.array_equal(upper, nominal)
    result = Coverage(_filled(n), _filled(n), _filled(n), _filled(n), np.full(n, -1, dtype=np.int64))
    for i in np.flatnonzero(sites.placed):
        site = sites.geometries[i]
        tolerance = accuracy + sites.uncertainty_ft[i]
        reach = max(MARGIN_LIMIT_FT, 2.0 * tolerance)
        if exact:
            ground = ground_near(layer, nominal, site, reach)
            result.share_low[i], result.share[i], result.share_high[i] = _shares(site, ground, tolerance)
            result.margin_ft[i] = _margin(site, ground, reach, result.share[i])
            result.feature[i] = _nearest_feature(layer, nominal, site, reach)
            continue
        result.share_low[i] = _shares(site, ground_near(layer, lower, site, reach), tolerance)[0]
        ground_high = ground_near(layer, upper, site, reach)
        result.share_high[i] = _shares(site, ground_high, tolerance)[2]
        if len(nominal):
            ground = ground_near(layer, nominal, site, reach)
            result.share[i] = _shares(site, ground, 0.0)[1]
            result.margin_ft[i] = _margin(site, ground, reach, result.share[i])
            if doubtful is not None and doubtful.any() and result.share_high[i] > result.share[i]:
                result.share[i] = result.margin_ft[i] = np.nan
        elif result.share_high[i] == 0:
            result.margin_ft[i] = _margin(site, ground_high, reach, 0.0)
        result.feature[i] = _nearest_feature(layer, upper, site, reach)
    return result


@dataclass(frozen=True)
class NearGround:
    """The features near one site, joined: their area, their common line, and whether farther ones were left out."""

    area: shapely.Geometry
    line: shapely.Geometry
    capped: bool


def is_small(layer: Layer, features: Ints) -> bool:
    """Return whether all features can be joined for each site without cutting them first."""
    return len(features) <= _FEW_FEATURES and sum(layer.vertices(int(i)) for i in features) <= _MANY_VERTICES


def ground_near(layer: Layer, features: Ints, site: shapely.Geometry, reach: float) -> NearGround:
    """Return the ground that some features make around a site, as far as a reach; in EPSG:3424."""
    if is_small(layer, features):
        parts = [layer.geometry(int(i)) for i in features]
        capped = False
    else:
        x0, y0, x1, y1 = site.bounds
        box = (x0 - reach, y0 - reach, x1 + reach, y1 + reach)
        near = layer.meeting(features, box)
        # The frame of this cut is at least `reach` away, and distances are capped there.
        parts = [shapely.clip_by_rect(layer.geometry(int(i)), *box) for i in near]
        capped = True
    area = parts[0] if len(parts) == 1 else shapely.union_all(parts)
    shapely.prepare(area)
    return NearGround(area, shapely.boundary(area), capped)


def _shares(site: shapely.Geometry, ground: NearGround, tolerance: float) -> tuple[float, float, float]:
    if site.geom_type == "Point":
        inside = bool(shapely.intersects(ground.area, site))
        if tolerance > 0 and not ground.area.is_empty:
            sure = shapely.distance(site, ground.line) * FT_PER_FTUS > tolerance
        else:
            sure = True
        share = float(inside)
        return (share, share, share) if sure else (0.0, share, 1.0)
    share = _area_share(site, ground.area)
    if tolerance <= 0 or ground.area.is_empty or shapely.distance(site, ground.line) * FT_PER_FTUS > tolerance:
        return share, share, share
    width = tolerance / FT_PER_FTUS
    low = _area_share(site, shapely.buffer(ground.area, -width, quad_segs=32))
    high = _area_share(site, shapely.buffer(ground.area, width, quad_segs=32))
    return min(low, share), share, max(high, share)


def _area_share(site: shapely.Geometry, area: shapely.Geometry) -> float:
    share = float(shapely.area(shapely.intersection(site, area)) / shapely.area(site))
    if share < _SHARE_NOISE:
        return 0.0
    return 1.0 if share > 1.0 - _SHARE_NOISE else share


def _margin(site: shapely.Geometry, ground: NearGround, reach: float, share: float) -> float:
    if 0.0 < share < 1.0:
        return np.nan
    if ground.area.is_empty:
        return -reach if ground.capped else np.nan
    away = float(shapely.distance(site, ground.line)) * FT_PER_FTUS
    away = min(away, reach) if ground.capped else away
    return away if share == 1.0 else -away


def _nearest_feature(layer: Layer, features: Ints, site: shapely.Geometry, reach: float) -> int:
    if not len(features):
        return -1
    x0, y0, x1, y1 = site.bounds
    near = features
    if len(features) > _FEW_FEATURES:
        near = layer.meeting(features, (x0 - reach, y0 - reach, x1 + reach, y1 + reach))
    if not len(near):
        return -1
    distances = [shapely.distance(layer.geometry(int(i)), site) for i in near]
    return int(near[int(np.argmin(distances))])


def measure_distance(
    layer: Layer, features: Ints, sites: SiteTable, *, doubtful: NDArray[np.bool_] | None = None
) -> Distance:
    """Measure how far each site is from the nearest of the given features.

    Points are measured from their longitude and latitude on the GRS80 ellipsoid; for polygons the nearest
    pair of points is found in the plane and measured on the ellipsoid. Ground inside a polygon has the
    distance 0.

    Parameters
    ----------
    layer
        A layer of points or of polygons.
    features
        Indices of the features that count. Where the layer has inner and outer bounds, the inner ones give
        the greatest and the outer ones the least possible distance.
    sites
        The sites; those without a place come back as NaN.
    doubtful
        Which of the features only perhaps count: they give the least possible distance and no other. What is
        computed is NaN where one of them may be nearer than all that surely count.
    """
    if doubtful is None or not doubtful.any():
        return _measure_distance(layer, features, sites)
    sure = _measure_distance(layer, features[~doubtful], sites)
    every = _measure_distance(layer, features, sites)
    nearer = (every.near_low < sure.near_low) | (every.far_low < sure.far_low)
    return replace(
        sure,
        near_low=every.near_low,
        near=np.where(nearer, np.nan, sure.near),
        far_low=every.far_low,
        far=np.where(nearer, np.nan, sure.far),
        feature=np.where(sure.feature < 0, every.feature, sure.feature),
    )


def _measure_distance(layer: Layer, features: Ints, sites: SiteTable) -> Distance:
    n = len(sites)
    blank = _filled(n)
    result = Distance(
        blank,
        blank.copy(),
        blank.copy(),
        blank.copy(),
        blank.copy(),
        blank.copy(),
        np.full(n, -1, dtype=np.int64),
    )
    if not len(features):
        for array in (
            result.near_low,
            result.near,
            result.near_high,
            result.far_low,
            result.far,
            result.far_high,
        ):
            array[sites.placed] = np.inf
        return result
    points = sites.points
    if layer.lonlat is not None:
        _points_to_points(layer, features, sites, np.flatnonzero(points), result)
        for i in np.flatnonzero(sites.placed & ~points):
            _polygon_to_points(layer, features, sites, int(i), result)
    else:
        _to_polygons(layer, features, sites, np.flatnonzero(sites.placed), result)
    return result


def _points_to_points(layer: Layer, features: Ints, sites: SiteTable, rows: Ints, result: Distance) -> None:
    if layer.lonlat is None or not len(rows):
        return
    target = layer.bounds[features, :2]
    tolerance = layer.tolerances_ft[features]
    # Blocks keep the planar distance table small for large inputs.
    for block in np.array_split(rows, max(1, len(rows) * len(features) // 4_000_000)):
        xy, lonlat = sites.xy[block], sites.lonlat[block]
        planar = np.hypot(xy[:, None, 0] - target[None, :, 0], xy[:, None, 1] - target[None, :, 1])
        least = planar.min(axis=1)
        # Whatever can be nearest once the planar error and the stations' own uncertainty are allowed for.
        possible = planar <= (least * (1 + _PLANAR_ERROR) + 2 * float(tolerance.max()) + 1.0)[:, None]
        site_of, feature_of = np.nonzero(possible)
        found = layer.lonlat[features[feature_of]]
        feet = geodesic_ft(lonlat[site_of, 0], lonlat[site_of, 1], found[:, 0], found[:, 1])
        starts = np.flatnonzero(np.r_[True, site_of[1:] != site_of[:-1]])
        slack = sites.uncertainty_ft[block]
        low = np.minimum.reduceat(feet - tolerance[feature_of], starts) - slack
        high = np.minimum.reduceat(feet + tolerance[feature_of], starts) + slack
        near = np.minimum.reduceat(feet, starts)
        first = np.full(len(block), -1, dtype=np.int64)
        hits = np.flatnonzero(feet == near[site_of])[::-1]
        first[site_of[hits]] = feature_of[hits]
        result.near_low[block] = result.far_low[block] = np.maximum(low, 0.0)
        result.near[block] = result.far[block] = near
        result.near_high[block] = result.far_high[block] = high
        result.feature[block] = features[first]


def distances_to_each(layer: Layer, features: Ints, sites: SiteTable, row: int) -> list[tuple[float, float, float]]:
    """Return for one site and each of some points: least, computed and greatest distance, in feet.

    Parameters
    ----------
    layer, features
        A layer of points, and the indices of those that are asked about.
    sites, row
        The table of sites, and which of them.
    """
    if layer.lonlat is None:
        return []
    site = sites.geometries[row]
    pairs = shapely.get_coordinates(shapely.shortest_line(site, layer.points[features]))[::2]
    feet = geodesic_ft(*to_lonlat(pairs[:, 0], pairs[:, 1]), layer.lonlat[features, 0], layer.lonlat[features, 1])
    slack = layer.tolerances_ft[features] + float(sites.uncertainty_ft[row])
    return [(max(float(d - t), 0.0), float(d), float(d + t)) for d, t in zip(feet, slack, strict=True)]


def _polygon_to_points(layer: Layer, features: Ints, sites: SiteTable, row: int, result: Distance) -> None:
    if layer.lonlat is None:
        return
    site = sites.geometries[row]
    tolerance = layer.tolerances_ft[features]
    targets = layer.points[features]
    planar = shapely.distance(site, targets) * FT_PER_FTUS
    hull = shapely.get_coordinates(shapely.convex_hull(site))
    across = float(np.hypot(*(hull.max(axis=0) - hull.min(axis=0)))) * FT_PER_FTUS
    keep = np.flatnonzero(planar <= planar.min() * (1 + _PLANAR_ERROR) + across + 2 * tolerance.max() + 1.0)
    nearest = shapely.get_coordinates(shapely.shortest_line(site, targets[keep]))[::2]
    to = layer.lonlat[features[keep]]
    near = geodesic_ft(*to_lonlat(nearest[:, 0], nearest[:, 1]), to[:, 0], to[:, 1])
    near[planar[keep] == 0] = 0.0
    # The farthest part of a polygon from a point is one of its corners.
    corner_lon, corner_lat = to_lonlat(hull[:, 0], hull[:, 1])
    far = geodesic_ft(corner_lon[None, :], corner_lat[None, :], to[:, :1], to[:, 1:]).max(axis=1)
    slack = float(sites.uncertainty_ft[row])
    spread = tolerance[keep]
    result.near_low[row] = max(float((near - spread).min()) - slack, 0.0)
    result.near[row] = near.min()
    result.near_high[row] = float((near + spread).min()) + slack
    result.far_low[row] = max(float((far - spread).min()) - slack, 0.0)
    result.far[row] = far.min()
    result.far_high[row] = float((far + spread).min()) + slack
    result.feature[row] = int(features[keep[int(np.argmin(near))]])


def _to_polygons(layer: Layer, features: Ints, sites: SiteTable, rows: Ints, result: Distance) -> None:
    if not len(rows):
        return
    near, far = _to_each_polygon(layer, features, sites, rows)
    sure, possible, computed = layer.sure[features], layer.possible[features], layer.computed[features]
    tolerances = layer.tolerances_ft[features][:, None]
    slack = sites.uncertainty_ft[rows]
    for which, near_into, far_into, sign in (
        (possible, result.near_low, result.far_low, -1.0),
        (sure, result.near_high, result.far_high, 1.0),
        (computed, result.near, result.far, 0.0),
    ):
        if not which.any():
            continue
        tolerance = sign * tolerances[which]
        nearest = near[which] + tolerance
        near_into[rows] = np.maximum(nearest.min(axis=0) + sign * slack, 0.0)
        far_into[rows] = np.maximum((far[which] + tolerance).min(axis=0) + sign * slack, 0.0)
        if which is sure or not sure.any():
            result.feature[rows] = features[which][np.argmin(nearest, axis=0)]


def _to_each_polygon(layer: Layer, features: Ints, sites: SiteTable, rows: Ints) -> tuple[Floats, Floats]:
    """Return nearest and farthest distance of each site from each feature, shape (features, sites)."""
    if len(sites) > _MOST_KEPT:
        return near_and_far(*_areas(layer, features.tolist()), sites.geometries[rows])
    # Many clauses, and the words about them, ask about the same few areas.
    kept = sites.away_ft.setdefault(layer, {})
    new = [index for index in features.tolist() if index not in kept]
    if new:
        # Of all that have a place, whichever were asked about first.
        placed = np.flatnonzero(sites.placed)
        away = np.full((2, len(new), len(sites)), np.nan)
        away[:, :, placed] = near_and_far(*_areas(layer, new), sites.geometries[placed])
        kept.update(zip(new, np.moveaxis(away, 0, 1), strict=True))
    near, far = np.stack([kept[index][:, rows] for index in features.tolist()], axis=1)
    return near, far


def _areas(layer: Layer, features: list[int]) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
    """Return some features and their boundaries."""
    areas = np.array([layer.geometry(index) for index in features], dtype=object)
    return areas, np.array([layer.boundary(index) for index in features], dtype=object)
