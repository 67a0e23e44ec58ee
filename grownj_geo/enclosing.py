"""The smallest circle around some ground, and how far the farthest corner of ground is from a point."""

from __future__ import annotations

import numpy as np
import shapely

from grownj_geo.units import FT_PER_FTUS

__all__ = ["around", "farthest_ft"]


def around(ground: shapely.Geometry) -> tuple[shapely.Point, float]:
    """Return the middle of the smallest circle around some ground, and its radius in feet.

    Parameters
    ----------
    ground
        Any geometry in EPSG:3424 (US survey feet), not empty.

    Examples
    --------
    >>> around(shapely.box(0, 0, 8, 6))
    (<POINT (4 3)>, 5.00001...)
    >>> around(shapely.Point(4, 3))
    (<POINT (4 3)>, 0.0)
    """
    circle = shapely.minimum_bounding_circle(ground)
    # Of one point there is no circle.
    centre = shapely.centroid(ground if circle.is_empty else circle)
    return centre, farthest_ft(centre, ground)


def farthest_ft(centre: shapely.Point, ground: shapely.Geometry) -> float:
    """Return how far the farthest part of some ground is from a point, in feet: that is a corner.

    Parameters
    ----------
    centre, ground
        In EPSG:3424 (US survey feet).

    Examples
    --------
    >>> round(farthest_ft(shapely.Point(0, 0), shapely.box(0, 0, 30, 40)), 4)
    50.0001
    """
    xy = shapely.get_coordinates(ground)
    return float(np.hypot(xy[:, 0] - centre.x, xy[:, 1] - centre.y).max()) * FT_PER_FTUS
