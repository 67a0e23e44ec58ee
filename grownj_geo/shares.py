"""The share of a site's area within a radius of points: the "more than 50 percent of land area" tests."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyproj
import shapely

from grownj_geo.layer import EXACT, INNER, NOMINAL, OUTER
from grownj_geo.units import FT_PER_METRE, geodesic_ft, miles_to_ft, to_lonlat, to_working

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.layer import Layer

__all__ = ["geodesic_circle", "share_within"]

_AZIMUTHS = 4096
# A circle of 4096 corners keeps within 0.002 ft of a one-mile circle: far below any layer's accuracy.
_SHARE_RESOLUTION = 1e-7


@lru_cache(maxsize=512)  # many sites are near the same stations
def geodesic_circle(lon: float, lat: float, radius_ft: float, *, corners: int = _AZIMUTHS) -> shapely.Polygon:
    """Return the ground within a radius of a point, measured on the GRS80 ellipsoid.

    Parameters
    ----------
    lon, lat
        Degrees.
    radius_ft
        International feet.
    corners
        How many corners stand for the circle.

    Returns
    -------
    shapely.Polygon
        In EPSG:3424 (US survey feet).

    Examples
    --------
    >>> round(geodesic_circle(-74.1641, 40.7344, 2640).area / (3.14159265 * 2640**2), 3)
    1.0
    """
    azimuths = np.linspace(0.0, 360.0, corners, endpoint=False)
    n = len(azimuths)
    lons, lats, _ = pyproj.Geod(ellps="GRS80").fwd(
        np.full(n, lon), np.full(n, lat), azimuths, np.full(n, radius_ft / FT_PER_METRE)
    )
    return shapely.Polygon(np.column_stack(to_working(lons, lats)))


def share_within(
    site: shapely.Geometry,
    layer: Layer,
    features: NDArray[np.int64],
    *,
    radius_ft: float,
    uncertainty_ft: float = 0.0,
    joined: bool = True,
) -> tuple[float, float, float]:
    """Return the least, computed and greatest share of the site within the radius of any of some points.

    The radii of several points are taken together, or each alone (reading A47). The points' own uncertainty and the
    site's shorten the radius for the least share and lengthen it for the greatest.

    Parameters
    ----------
    site
        Point or polygon in EPSG:3424.
    layer, features
        A layer of points or of polygons, and the indices of those that count.
    radius_ft, uncertainty_ft
        International feet.
    joined
        Take the circles together; else the best single one counts.
    """
    if not len(features):
        return 0.0, 0.0, 0.0
    if layer.lonlat is None:
        return _share_around(site, layer, features, radius_ft=radius_ft, uncertainty_ft=uncertainty_ft)
    tolerance = layer.tolerances_ft[features] + uncertainty_ft
    reach = radius_ft + float(tolerance.max()) + miles_to_ft(0.01)
    near = np.flatnonzero(shapely.distance(site, layer.points[features]) <= reach)
    if not len(near):
        return 0.0, 0.0, 0.0
    # Corners decide most cases: a site whose corners are all within one radius is in, and a point is a corner.
    corners = shapely.get_coordinates(shapely.convex_hull(site))
    lon, lat = to_lonlat(corners[:, 0], corners[:, 1])
    to = layer.lonlat[features[near]]
    far = geodesic_ft(lon[None, :], lat[None, :], to[:, :1], to[:, 1:]).max(axis=1)
    shares = []
    for sign in (-1.0, 0.0, 1.0):
        radii = radius_ft + sign * tolerance[near]
        if (far <= radii).any():
            shares.append(1.0)
        elif site.geom_type == "Point":
            shares.append(0.0)
        else:
            circles = [
                geodesic_circle(float(to[k, 0]), float(to[k, 1]), float(r)) for k, r in enumerate(radii) if r > 0
            ]
            areas = [shapely.union_all(circles)] if joined else circles
            shares.append(max(_share(site, area) for area in areas))
    return shares[0], shares[1], shares[2]


def _share_around(
    site: shapely.Geometry, layer: Layer, features: NDArray[np.int64], *, radius_ft: float, uncertainty_ft: float
) -> tuple[float, float, float]:
    """Return the shares within a radius of polygons, which may be inner and outer bounds of the true ones.

    The rim is drawn in the plane with the local scale: within a foot of the true one at fifteen miles, which a
    share of a site does not notice. Whether a site is wholly in or out is decided by distance elsewhere.
    """
    kinds = layer.bound_kinds[features]
    x, y = shapely.centroid(site).coords[0]
    lon, lat = to_lonlat([x, x + 1000.0], [y, y])
    scale = 1000.0 / float(geodesic_ft(lon[0], lat[0], lon[1], lat[1]))
    shares = []
    for sign, wanted in ((-1.0, (EXACT, INNER)), (0.0, (EXACT, NOMINAL)), (1.0, (EXACT, OUTER))):
        chosen = features[np.isin(kinds, wanted)]
        rims = [
            shapely.buffer(layer.geometry(int(i)), max(radius_ft + sign * slack, 0.0) * scale, quad_segs=256)
            for i, slack in zip(chosen, layer.tolerances_ft[chosen] + uncertainty_ft, strict=True)
        ]
        if rims:
            area = shapely.union_all(rims)
            shares.append(float(shapely.intersects(area, site)) if site.geom_type == "Point" else _share(site, area))
        else:
            shares.append(np.nan if sign == 0 else 0.0)
    return shares[0], shares[1], shares[2]


def _share(site: shapely.Geometry, area: shapely.Geometry) -> float:
    share = float(shapely.area(shapely.intersection(site, area)) / shapely.area(site))
    # An exact half must come out as a half, whatever the last bits of the overlay are.
    return round(share / _SHARE_RESOLUTION) * _SHARE_RESOLUTION
