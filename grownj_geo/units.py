"""Feet, miles, the working CRS, and distances on the ellipsoid.

Everything is measured in EPSG:3424 (NAD83 / New Jersey). Its coordinates are US survey feet; every
distance that the package reports is in international feet, and a mile is 5,280 of them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyproj
import shapely

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "FT_PER_FTUS",
    "FT_PER_METRE",
    "FT_PER_MILE",
    "WORKING_CRS",
    "geodesic_ft",
    "miles_to_ft",
    "to_lonlat",
    "to_working",
    "to_working_geometry",
    "towards",
]

WORKING_CRS = "EPSG:3424"
"""NAD83 / New Jersey, US survey feet."""

FT_PER_MILE = 5280.0
FT_PER_METRE = 1.0 / 0.3048
FT_PER_FTUS = (1200.0 / 3937.0) / 0.3048
"""One US survey foot in international feet: 2 parts in a million more."""

# Longitude and latitude are read as NAD83. WGS84 is taken as the same: PROJ offers only the null
# transformation between the two here, and naming NAD83 outright keeps any grid that a machine happens to
# have from changing an answer. The metre between the two datums is part of every layer's accuracy.
_LONLAT_CRS = "EPSG:4269"
_DEGREE_EDGE_FT = 500.0
_FT_PER_DEGREE = 364_000.0
_MOST_VERTICES = 1_000_000


@lru_cache(maxsize=8)
def _transformer(source: str, target: str) -> pyproj.Transformer:
    return pyproj.Transformer.from_crs(source, target, always_xy=True)


@lru_cache(maxsize=1)
def _geod() -> pyproj.Geod:
    return pyproj.Geod(ellps="GRS80")


def miles_to_ft(miles: float) -> float:
    """Return international feet.

    Examples
    --------
    >>> miles_to_ft(0.5)
    2640.0
    """
    return miles * FT_PER_MILE


def to_working(lon: ArrayLike, lat: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Project longitude and latitude (degrees) to x and y in the working CRS (US survey feet)."""
    x, y = _transformer(_LONLAT_CRS, WORKING_CRS).transform(lon, lat)
    return np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)


def to_lonlat(x: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return longitude and latitude (degrees) of x and y in the working CRS (US survey feet)."""
    lon, lat = _transformer(WORKING_CRS, _LONLAT_CRS).transform(x, y)
    return np.asarray(lon, dtype=np.float64), np.asarray(lat, dtype=np.float64)


def to_working_geometry(
    geometry: shapely.Geometry, *, crs: str = _LONLAT_CRS, densify: bool = True
) -> shapely.Geometry:
    """Project a geometry to the working CRS.

    A straight side in degrees is a curve in feet, so sides are cut to about 500 ft first.

    Parameters
    ----------
    geometry
        Two-dimensional, in `crs`.
    crs
        What the coordinates are in: anything that PROJ understands. Axis order is always x, y.
    densify
        Cut long sides before projecting. Leave on unless the sides are known to be straight in feet.

    Returns
    -------
    shapely.Geometry
        In EPSG:3424, US survey feet.

    Raises
    ------
    ValueError
        If the sides are so long in all that cutting them would make more than a million vertices.
    """
    source = pyproj.CRS.from_user_input(crs)
    if source.equals(pyproj.CRS.from_user_input(WORKING_CRS)):
        return geometry
    if source.to_epsg() == 4326:  # noqa: PLR2004 - WGS84, taken as NAD83
        source = pyproj.CRS.from_user_input(_LONLAT_CRS)
    transformer = _transformer(source.to_wkt(), WORKING_CRS)
    if densify:
        unit_ft = _FT_PER_DEGREE if source.is_geographic else source.axis_info[0].unit_conversion_factor * FT_PER_METRE
        step = _DEGREE_EDGE_FT / unit_ft
        expected = float(shapely.length(geometry)) / step + int(shapely.get_num_coordinates(geometry))
        if not expected <= _MOST_VERTICES:
            raise ValueError(
                f"the sides are {shapely.length(geometry) * unit_ft / FT_PER_MILE:,.0f} miles long in all, which makes "
                f"about {expected:,.0f} vertices when they are cut to {_DEGREE_EDGE_FT:.0f} ft; "
                f"at most {_MOST_VERTICES:,} are taken"
            )
        geometry = shapely.segmentize(geometry, step)
    return shapely.transform(geometry, lambda xy: np.column_stack(transformer.transform(xy[:, 0], xy[:, 1])))


def geodesic_ft(lon1: ArrayLike, lat1: ArrayLike, lon2: ArrayLike, lat2: ArrayLike) -> NDArray[np.float64]:
    """Return distances on the GRS80 ellipsoid in international feet.

    Parameters
    ----------
    lon1, lat1, lon2, lat2
        Degrees; arrays of one shape, or scalars.

    Examples
    --------
    >>> round(float(geodesic_ft(-74.1641, 40.7344, -74.1641, 40.7444)), 1)
    3643.3
    """
    given = [np.asarray(v, dtype=np.float64) for v in (lon1, lat1, lon2, lat2)]
    if any(v.shape != given[0].shape for v in given):
        given = list(np.broadcast_arrays(*given))
    lon1, lat1, lon2, lat2 = given
    _, _, metres = _geod().inv(lon1, lat1, lon2, lat2)
    return np.asarray(metres, dtype=np.float64) * FT_PER_METRE


def towards(lon: float, lat: float, to_lon: float, to_lat: float, distance_ft: float) -> tuple[float, float, float]:
    """Return where one comes to from a place on the shortest way towards another, and the bearing at which one leaves.

    Parameters
    ----------
    lon, lat, to_lon, to_lat
        The two places in degrees.
    distance_ft
        How far to go, in international feet; beyond the other place if it is that far.

    Returns
    -------
    tuple
        Longitude, latitude, and the bearing in degrees from north, 0 to 360.

    Examples
    --------
    >>> lon, lat, bearing = towards(-74.1641, 40.7344, -74.1641, 40.7444, 1000.0)
    >>> round(bearing), round(float(geodesic_ft(-74.1641, 40.7344, lon, lat)), 6)
    (0, 1000.0)
    """
    bearing, _, _ = _geod().inv(lon, lat, to_lon, to_lat)
    there_lon, there_lat, _ = _geod().fwd(lon, lat, bearing, distance_ft / FT_PER_METRE)
    return float(there_lon), float(there_lat), float(bearing) % 360.0
