"""Shares of many polygons within a radius of points, between bounds: the part of each circle that is at the site.

A circle is drawn with a few corners where it passes a site. How far its sides are from the true arc is known, and so
are bounds of the share; where a share that is compared with something is not plain then, the site is measured alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyproj
import shapely

from grownj_geo.bulkarea import Areas, Outlines, areas_on_ground
from grownj_geo.units import FT_PER_FTUS, FT_PER_METRE, geodesic_ft, to_lonlat, to_working

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.layer import Layer

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["shares_in_circles"]

_SIDES = 16
_PLACE_FT = 0.05
# The circle of 4,096 corners that one site is measured with is off by so much.
_DRAWN_FT = 0.01


def shares_in_circles(
    shapes: NDArray[np.object_], layer: Layer, features: Ints, radius_ft: Floats
) -> tuple[Floats, Floats]:
    """Return the least and the greatest that the share of polygons within a radius of a point can be, shape (p,) each.

    Parameters
    ----------
    shapes
        A polygon for each pair, in EPSG:3424, shape (p,).
    layer, features
        A layer of points, and a point for each pair.
    radius_ft
        The radius of each pair, in feet.
    """
    least, most = np.zeros(len(shapes)), np.ones(len(shapes))
    if layer.lonlat is None:
        raise AssertionError(layer.id)
    areas, to = Areas(shapes), layer.lonlat[features]
    whole = np.asarray(shapely.area(shapes))
    middle = (areas.boxes[:, :2] + areas.boxes[:, 2:]) / 2
    outlines = Outlines.of(shapes)
    anchors = outlines.edges[np.minimum(outlines.first, len(outlines.edges) - 1), :2]
    geod = pyproj.Geod(ellps="GRS80")
    azimuth, _, metres = geod.inv(to[:, 0], to[:, 1], *to_lonlat(*middle.T))
    away, half = np.asarray(metres) * FT_PER_METRE, areas.across_ft / 2
    from_anchor = geodesic_ft(*to_lonlat(*anchors.T), to[:, 0], to[:, 1])
    # Seen from the point, a site near it is all around.
    known = (away > 2 * half) & (radius_ft > 0) & (whole >= 1) & (np.abs(from_anchor - radius_ft) > _PLACE_FT)
    rows = np.flatnonzero(known & (outlines.count > 0))
    if not len(rows):
        return least, most
    wide = np.degrees(np.arcsin(np.minimum(half[rows] / away[rows], 1.0))) * 1.05 + 0.05
    # Against the clock the ground is on the left, and azimuths fall.
    turn = azimuth[rows, None] + wide[:, None] * np.linspace(1.0, -1.0, _SIDES + 1)
    start = np.repeat(to[rows], _SIDES + 1, axis=0)
    reach = np.repeat(radius_ft[rows] / FT_PER_METRE, _SIDES + 1)
    lon, lat, _ = geod.fwd(start[:, 0], start[:, 1], turn.ravel(), reach)
    xy = np.column_stack(to_working(lon, lat)).reshape(len(rows), _SIDES + 1, 2)
    sides = np.concatenate([xy[:, :-1], xy[:, 1:]], axis=2).reshape(-1, 4)
    ground = areas_on_ground(
        outlines.take(rows),
        whole[rows],
        anchors[rows],
        from_anchor[rows] <= radius_ft[rows],
        np.repeat(np.arange(len(rows)), _SIDES),
        sides,
    )
    rise = radius_ft[rows] * np.radians(wide) ** 2 / (2 * _SIDES**2)
    length = 2 * radius_ft[rows] * np.radians(wide) / FT_PER_FTUS
    error = (rise + _DRAWN_FT) * length * 1.01
    least[rows] = np.maximum(ground - error, 0.0) / whole[rows]
    most[rows] = np.minimum(ground + error, whole[rows]) / whole[rows]
    return least, most
