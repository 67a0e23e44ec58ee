"""How far the nearest and the farthest part of places are from areas, on the ellipsoid. Knows geometry only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.units import geodesic_ft, to_lonlat

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["near_and_far"]

_NOISE = 1e-9
"""The share of its hull that a convex area may lack by rounding."""


def near_and_far(
    areas: NDArray[np.object_], boundaries: NDArray[np.object_], places: NDArray[np.object_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the distance of each place's nearest and farthest part from each area, shape (areas, places).

    For an area that is not convex the farthest part is given as at most so far: as far as from its nearest point.

    Parameters
    ----------
    areas, boundaries
        Polygons in EPSG:3424 and their lines.
    places
        Points or polygons in EPSG:3424.

    Returns
    -------
    tuple of ndarray
        International feet on the ellipsoid; 0 where a place meets an area.
    """
    shape = (len(areas), len(places))
    # From a prepared line GEOS finds the nearest point with a tree. Where the two meet, it is a point of both.
    lines = shapely.shortest_line(boundaries[:, None], places[None, :])
    meet = shapely.intersects(areas[:, None], places[None, :])
    area, place = np.nonzero(meet)
    lines[area, place] = shapely.shortest_line(areas[area], places[place])
    pairs = shapely.get_coordinates(lines.ravel()).reshape(-1, 4)[:, [2, 3, 0, 1]]
    lon, lat = to_lonlat(pairs[:, ::2].ravel(), pairs[:, 1::2].ravel())
    near = geodesic_ft(lon[::2], lat[::2], lon[1::2], lat[1::2]).reshape(shape)
    near[meet] = 0.0
    far = near.copy()
    rows = np.flatnonzero(shapely.get_type_id(places) != shapely.GeometryType.POINT)
    if len(rows):
        # How far a place is from a convex area is greatest at one of the place's corners; from any other it is no
        # farther than from that area's point that is nearest.
        corners, owner = shapely.get_coordinates(shapely.convex_hull(places[rows]), return_index=True)
        apart = np.empty((len(areas), len(corners)))
        convex = _is_convex(areas)
        if convex.any():
            points = np.asarray(shapely.points(corners), dtype=object)
            apart[convex] = near_and_far(areas[convex], boundaries[convex], points)[0]
        if not convex.all():
            at = rows[owner]
            to_lon, to_lat = (v[1::2].reshape(shape)[~convex][:, at] for v in (lon, lat))
            from_lon, from_lat = (np.broadcast_to(v, to_lon.shape) for v in to_lonlat(corners[:, 0], corners[:, 1]))
            feet = geodesic_ft(from_lon.ravel(), from_lat.ravel(), to_lon.ravel(), to_lat.ravel())
            apart[~convex] = feet.reshape(to_lon.shape)
        starts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
        far[:, rows] = np.maximum.reduceat(apart, starts, axis=1)
    return near, far


def _is_convex(areas: NDArray[np.object_]) -> NDArray[np.bool_]:
    return np.asarray(shapely.area(areas) >= shapely.area(shapely.convex_hull(areas)) * (1 - _NOISE))
