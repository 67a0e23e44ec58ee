"""The ground within a distance of points and outlines, drawn: every line of it within a stated error.

Nothing here decides anything: distances decide.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import shapely

from grownj_geo.shares import geodesic_circle
from grownj_geo.units import FT_PER_FTUS, geodesic_ft, to_lonlat

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["circle_around", "rim_around", "widened"]

_LONG_SIDE_FT = 2_000.0
_SETTLED_FT = 0.02
_MOST_MOVES = 20
_MOST_ROUNDS = 24


class _Nearest(NamedTuple):
    """The nearest places on an outline: where, and how far."""

    xy: Floats
    away_ft: Floats


def circle_around(lon: float, lat: float, radius_ft: float, *, within_ft: float) -> shapely.Polygon:
    """Return the ground within a radius of a point, in no more corners than a drawing needs.

    Parameters
    ----------
    lon, lat
        Degrees.
    radius_ft
        International feet, on the GRS80 ellipsoid.
    within_ft
        How far a line may be from the true circle.

    Returns
    -------
    shapely.Polygon
        In EPSG:3424 (US survey feet).

    Examples
    --------
    >>> circle = circle_around(-74.1641, 40.7344, 5280.0, within_ft=0.2)
    >>> rim = shapely.get_coordinates(shapely.segmentize(circle.exterior, 10.0))
    >>> away = geodesic_ft(-74.1641, 40.7344, *to_lonlat(rim[:, 0], rim[:, 1]))
    >>> bool(abs(away - 5280.0).max() < 0.21)
    True
    """
    return geodesic_circle(lon, lat, radius_ft, corners=_corners(radius_ft, within_ft))


def _corners(radius_ft: float, within_ft: float) -> int:
    """Return how many corners, a multiple of four, keep the middles of a circle's sides within an error."""
    return 4 * max(2, math.ceil(math.pi / math.acos(1.0 - within_ft / max(radius_ft, within_ft)) / 4))


def rim_around(area: shapely.Geometry, radius_ft: float, *, within_ft: float) -> shapely.Geometry:
    """Return the ground within a radius of an area, measured on the ellipsoid.

    Parameters
    ----------
    area
        Polygon or multipolygon in EPSG:3424.
    radius_ft
        International feet.
    within_ft
        How far a side may be from the true rim where it is looked at; no place of one is twice as far.

    Returns
    -------
    shapely.Geometry
        In EPSG:3424.
    """

    def measured(start: Floats, end: Floats) -> Floats:
        return geodesic_ft(*to_lonlat(start[:, 0], start[:, 1]), *to_lonlat(end[:, 0], end[:, 1]))

    return _rim(area, radius_ft, measured, within_ft)


def widened(area: shapely.Geometry, feet: float, *, within_ft: float) -> shapely.Geometry:
    """Return an area with a strip of so many feet added, or taken away, as distances in the plane have it.

    Parameters
    ----------
    area
        Polygon or multipolygon in EPSG:3424.
    feet
        International feet; less than nothing for a strip that is taken away.
    within_ft
        As for `rim_around`.

    Returns
    -------
    shapely.Geometry
        In EPSG:3424; empty where nothing is left.
    """

    def measured(start: Floats, end: Floats) -> Floats:
        return np.asarray(np.hypot(*(end - start).T) * FT_PER_FTUS)

    return _rim(area, feet, measured, within_ft)


def _rim(
    area: shapely.Geometry, feet: float, measured: Callable[[Floats, Floats], Floats], within_ft: float
) -> shapely.Geometry:
    """Return an area widened by a distance, its corners at that distance and its sides split until they are.

    A buffer leaves out what bends inwards by less than a hundredth of its distance, so its line is a first guess.
    Between two corners the true rim is made of arcs that bend outwards: where places of a side as far apart as those
    arcs have corners are near enough, no place of it is twice as far.
    """
    plain = shapely.buffer(area, feet / FT_PER_FTUS, quad_segs=_corners(abs(feet), within_ft) // 4)
    if plain.is_empty or not feet:
        return plain
    outline = shapely.boundary(area) if shapely.get_dimensions(area) > 1 else shapely.union_all(area)
    shapely.prepare(outline)
    radius_ft = abs(feet)

    def nearest(xy: Floats) -> _Nearest:
        pairs = shapely.get_coordinates(shapely.shortest_line(outline, shapely.points(xy))).reshape(-1, 2, 2)
        return _Nearest(pairs[:, 0], measured(pairs[:, 0], xy))

    def settled(xy: Floats, found: _Nearest) -> Floats:
        """Return places moved straight from or to the nearest one of the outline until they are at the distance."""
        xy = xy.copy()
        off = np.flatnonzero((abs(found.away_ft - radius_ft) > _SETTLED_FT) & (found.away_ft > 0))
        start, away_ft = found.xy[off], found.away_ft[off]
        for _ in range(_MOST_MOVES):
            if not len(off):
                break
            xy[off] = start + (xy[off] - start) * (radius_ft / away_ft)[:, None]
            start, away_ft = nearest(xy[off])
            still = (abs(away_ft - radius_ft) > _SETTLED_FT) & (away_ft > 0)
            off, start, away_ft = off[still], start[still], away_ft[still]
        return xy

    # Along a side the projection's scale changes, so long sides need corners too.
    parts = shapely.get_parts(shapely.segmentize(plain, _LONG_SIDE_FT))
    _, xy, (rings, polygons) = shapely.to_ragged_array(parts)
    xy = settled(xy, nearest(xy))
    unseen = np.ones(len(xy) - 1, dtype=bool)
    unseen[rings[1:-1] - 1] = False  # between the last corner of a ring and the first of the next
    for _ in range(_MOST_ROUNDS):
        side, places = _along(xy, np.flatnonzero(unseen), math.sqrt(8 * radius_ft * within_ft))
        found = nearest(places)
        off_ft = abs(found.away_ft - radius_ft)
        order = np.lexsort((off_ft, side))
        worst = order[np.append(side[order][1:] != side[order][:-1], True)]
        worst = worst[off_ft[worst] > within_ft]
        if not len(worst):
            break
        corners = settled(places[worst], _Nearest(found.xy[worst], found.away_ft[worst]))
        xy, unseen, rings = _with_corners(xy, side[worst], corners, rings)
    drawn = shapely.from_ragged_array(shapely.GeometryType.POLYGON, xy, (rings, polygons))
    return shapely.union_all(shapely.make_valid(drawn, method="structure"))


def _along(xy: Floats, sides: NDArray[np.int64], apart_ft: float) -> tuple[NDArray[np.int64], Floats]:
    """Return places on sides, at least the middle of each and no two further apart, with the sides that they are on."""
    start, along = xy[sides], xy[sides + 1] - xy[sides]
    count = np.maximum(np.ceil(np.hypot(*along.T) / apart_ft).astype(np.int64), 1)
    first = np.repeat(np.cumsum(count) - count, count)
    of = np.repeat(np.arange(len(sides)), count)
    share = (np.arange(len(of)) - first + 1) / (count[of] + 1)
    return sides[of], start[of] + along[of] * share[:, None]


def _with_corners(
    xy: Floats, sides: NDArray[np.int64], corners: Floats, rings: NDArray[np.int64]
) -> tuple[Floats, NDArray[np.bool_], NDArray[np.int64]]:
    """Return rings with a corner in each of some sides, which sides are new, and where the rings begin."""
    placed = sides + 1 + np.arange(len(sides))
    grown = np.insert(xy, sides + 1, corners, axis=0)
    unseen = np.zeros(len(grown) - 1, dtype=bool)
    unseen[placed - 1] = unseen[placed] = True
    return grown, unseen, rings + np.searchsorted(sides, rings - 1, side="left")
