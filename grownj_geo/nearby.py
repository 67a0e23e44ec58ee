"""The nearest of many features to one site, found without measuring all of them. Knows geometry and no law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import shapely
from shapely.affinity import translate

from grownj_geo.observe import distances_to_each, measure_distance
from grownj_geo.sitetable import SiteTable
from grownj_geo.units import FT_PER_FTUS, geodesic_ft, to_lonlat

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.layer import Layer
    from grownj_geo.site import Site

    XY = tuple[float, float]

__all__ = ["Nearby", "move_into", "move_within", "nearest_of", "place_inside", "way_out"]

# More than the planar distance in EPSG:3424 is off inside New Jersey, twice.
_PLANAR_ERROR = 4e-4
_MOST_MOVES, _NUDGE = 200, 0.01
_REACHES_FTUS = (2_000.0, 10_000.0, 50_000.0, 264_000.0)


@dataclass(frozen=True)
class Nearby:
    """The nearest feature and how far it is.

    Attributes
    ----------
    feature
        Its index.
    low_ft, value_ft, high_ft
        Distance from the site's nearest part, in international feet on the ellipsoid: at least, as computed, at
        most. `value_ft` is NaN where only bounds of the features are known.
    target
        The point of the feature that is nearest, in EPSG:3424, US survey feet.
    """

    feature: int
    low_ft: float
    value_ft: float
    high_ft: float
    target: tuple[float, float]


def nearest_of(layer: Layer, features: NDArray[np.int64], site: Site) -> Nearby | None:
    """Return the nearest of some features; None where there is none.

    Parameters
    ----------
    layer
        A layer of points or polygons.
    features
        Indices of those that count.
    site
        A site with a place.
    """
    if not len(features) or site.geometry is None:
        return None
    table = SiteTable.of([site])
    if layer.lonlat is not None:
        each = distances_to_each(layer, features, table, 0)
        best = min(range(len(each)), key=lambda i: each[i][1])
        x, y = layer.bounds[features[best], :2]
        # Another one, whose place is known less well, may be nearer.
        low = min(one[0] for one in each)
        return Nearby(int(features[best]), low, *each[best][1:], (float(x), float(y)))
    near = _near(layer, features, site.geometry)
    found = measure_distance(layer, near, table)
    feature = int(found.feature[0])
    if not np.isfinite(found.near_high[0]):
        return None
    line = shapely.get_coordinates(shapely.shortest_line(site.geometry, layer.geometry(feature)))
    target = float(line[-1, 0]), float(line[-1, 1])
    return Nearby(feature, float(found.near_low[0]), float(found.near[0]), float(found.near_high[0]), target)


def way_out(layer: Layer, features: NDArray[np.int64], site: Site) -> tuple[Nearby, shapely.Geometry] | None:
    """Return the nearest place outside all of some polygons, and the ground outside them near it.

    Parameters
    ----------
    layer
        A layer of polygons.
    features
        Indices of those that count.
    site
        A point inside them; None is returned for any other, and where no way out is found within fifty miles.
    """
    point = site.geometry
    if point is None or not site.is_point or not len(features):
        return None
    x, y = shapely.get_coordinates(point)[0]
    for reach in _REACHES_FTUS:
        frame = shapely.box(x - reach, y - reach, x + reach, y + reach)
        near = layer.meeting(features, frame.bounds)
        inside = shapely.union_all([shapely.clip_by_rect(layer.geometry(int(i)), *frame.bounds) for i in near])
        if not shapely.intersects(inside, point):
            return None
        outside = shapely.difference(frame, inside)
        if outside.is_empty:
            continue
        line = shapely.get_coordinates(shapely.shortest_line(point, outside))
        target = float(line[-1, 0]), float(line[-1, 1])
        if np.hypot(target[0] - x, target[1] - y) > reach:
            # Beyond the side of the frame something nearer may lie.
            continue
        (lon, lat), (to_lon, to_lat) = (map(float, to_lonlat(*p)) for p in ((x, y), target))
        away = float(geodesic_ft(lon, lat, to_lon, to_lat))
        feature = min(map(int, features), key=lambda i: float(shapely.distance(layer.geometry(i), point)))
        slack = float(layer.tolerances_ft[features].max()) + site.uncertainty_ft
        return Nearby(feature, max(away - slack, 0.0), away, away + slack, target), outside
    return None


def _near(layer: Layer, features: NDArray[np.int64], place: shapely.Geometry) -> NDArray[np.int64]:
    """Return those features that may be the nearest once planar error and tolerances are allowed for."""
    if len(set(layer.bound_kinds[features])) > 1:
        # Inner and outer bounds stand for one another: they are few, and all are measured.
        return features
    boxes = shapely.box(*layer.bounds[features].T)
    away = np.asarray(shapely.distance(boxes, place))
    slack = 2 * float(layer.tolerances_ft[features].max()) / FT_PER_FTUS + 1.0
    best = np.inf
    kept: list[tuple[float, int]] = []
    for i in np.argsort(away, kind="stable"):
        if away[i] > best * (1 + _PLANAR_ERROR) + slack:
            break
        distance = float(shapely.distance(layer.geometry(int(features[i])), place))
        best = min(best, distance)
        kept.append((distance, int(features[i])))
    reach = best * (1 + _PLANAR_ERROR) + slack
    return np.array(sorted(index for distance, index in kept if distance <= reach), dtype=np.int64)


def place_inside(
    area: shapely.Geometry, target: tuple[float, float], place: shapely.Geometry, depth_ft: float
) -> tuple[float, float]:
    """Return the nearest place in an area that is some feet within its line, near a point of that line.

    Whether it is in is not decided here: whoever goes there measures again.

    Parameters
    ----------
    area
        A polygon in EPSG:3424.
    target
        The point of the area that is nearest to `place`.
    place
        Where one comes from.
    depth_ft
        How far inside the line.

    Returns
    -------
    tuple
        x and y in EPSG:3424. The target itself where the area is too narrow there.

    Examples
    --------
    >>> square = shapely.box(0, 0, 1000, 1000)
    >>> x, y = place_inside(square, (0.0, 0.0), shapely.Point(-300, -300), 50.0)
    >>> round(x), round(y)
    (50, 50)
    """
    depth = depth_ft / FT_PER_FTUS
    reach = 8 * depth + 100.0
    x, y = target
    # Cut larger than what is looked for: the frame of the cut shrinks too.
    near = shapely.clip_by_rect(area, x - reach - depth, y - reach - depth, x + reach + depth, y + reach + depth)
    inside = shapely.buffer(near, -depth, join_style="mitre")
    if inside.is_empty:
        return target
    line = shapely.get_coordinates(shapely.shortest_line(place, inside))
    return float(line[-1, 0]), float(line[-1, 1])


def move_within(place: shapely.Geometry, start: XY, target: XY, radius_ft: float) -> float | None:
    """Return how far a polygon is moved along a line until all of it is within a radius of the line's end.

    Whether it is within is not decided here: whoever moves it measures again.

    Parameters
    ----------
    place
        The polygon in EPSG:3424.
    start, target
        Where the line begins and ends.
    radius_ft
        The radius in international feet.

    Returns
    -------
    float or None
        International feet; None where the polygon does not fit in.

    Examples
    --------
    >>> square = shapely.box(-50, -50, 50, 50)
    >>> round(move_within(square, (50.0, 0.0), (5000.0, 0.0), 2640.0))
    2412
    >>> move_within(square, (50.0, 0.0), (5000.0, 0.0), 60.0) is None
    True
    """
    corners = shapely.get_coordinates(shapely.convex_hull(place))
    along = _direction(start, target)
    limit = radius_ft / FT_PER_FTUS * (1 - _PLANAR_ERROR)
    moved = 0.0
    for _ in range(_MOST_MOVES):
        excess = float(np.hypot(*(corners + moved * along - np.array(target)).T).max()) - limit
        if excess <= 0:
            return moved * FT_PER_FTUS
        moved += excess + _NUDGE
    return None


def move_into(
    place: shapely.Geometry, start: XY, target: XY, ground: shapely.Geometry, depth_ft: float
) -> float | None:
    """Return how far a polygon is moved along a line until all of it is some feet within an area.

    Whether it is in is not decided here: whoever moves it measures again.

    Parameters
    ----------
    place
        The polygon in EPSG:3424.
    start, target
        Where the line begins and ends.
    ground
        The area, a polygon in EPSG:3424.
    depth_ft
        How far within the area's line, in international feet.

    Returns
    -------
    float or None
        International feet; None where it does not fit in along the line, near its end.

    Examples
    --------
    >>> square, slope = shapely.box(-50, -50, 50, 50), shapely.Polygon([(0, -900), (1800, 900), (1800, -900)])
    >>> moved = move_into(square, (50.0, 0.0), (951.0, 0.0), slope, 1.0)
    >>> round(moved)
    1001
    >>> move_into(square, (50.0, 0.0), (951.0, 0.0), shapely.box(900, -40, 2000, 40), 1.0) is None
    True
    """
    hull = shapely.convex_hull(place)
    x0, y0, x1, y1 = shapely.bounds(hull)
    reach = 4 * float(np.hypot(x1 - x0, y1 - y0)) + 8 * depth_ft + 100.0
    frame = target[0] - reach, target[1] - reach, target[0] + reach, target[1] + reach
    inside = shapely.buffer(shapely.clip_by_rect(ground, *frame), -depth_ft / FT_PER_FTUS, join_style="mitre")
    if inside.is_empty:
        return None
    shapely.prepare(inside)
    along = _direction(start, target)
    corners = shapely.get_coordinates(hull)
    moved, ahead = 0.0, float(np.hypot(*(np.array(target) - np.array(start))))
    for _ in range(_MOST_MOVES):
        at = corners + moved * along
        # No corner comes in sooner than by its distance: a place where all fits is never passed over by more than that.
        excess = float(shapely.distance(shapely.points(at), inside).max())
        if excess == 0 and shapely.covers(inside, translate(place, *(moved * along))):
            return moved * FT_PER_FTUS
        # The corners may be in while a part of the area between them is not: then a foot on.
        moved += excess + _NUDGE if excess else 1.0
        if moved > ahead + reach:
            return None
    return None


def _direction(start: XY, target: XY) -> NDArray[np.float64]:
    way = np.array(target) - np.array(start)
    return np.asarray(way / np.hypot(*way)) if way.any() else np.array([0.0, 0.0])
