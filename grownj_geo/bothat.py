"""The nearest place in two kinds of ground at once: areas, or radii around features. Knows geometry and no law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.nearby import place_inside
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.layer import Layer

    XY = tuple[float, float]

__all__ = ["Ground", "Meeting", "meeting_of"]

# More than the planar distance in EPSG:3424 is off inside New Jersey.
_PLANAR_ERROR = 2e-4


@dataclass(frozen=True)
class Ground:
    """Features, all within a radius of them, or all outside them.

    Attributes
    ----------
    layer, features
        The features by their indices.
    radius_ft
        The radius in international feet; 0 for the features themselves.
    outside
        All that is outside the features.
    """

    layer: Layer
    features: NDArray[np.int64]
    radius_ft: float = 0.0
    outside: bool = False

    def near(self, place: shapely.Geometry, reach_ftus: float) -> shapely.Geometry | None:
        """Return the ground within a frame around a point, in EPSG:3424; None where there is none."""
        x, y = shapely.get_coordinates(place)[0]
        radius = self.radius_ft / FT_PER_FTUS
        wide = reach_ftus + radius
        features = self.layer.meeting(self.features, (x - wide, y - wide, x + wide, y + wide))
        frame = x - reach_ftus, y - reach_ftus, x + reach_ftus, y + reach_ftus
        if not len(features):
            return shapely.box(*frame) if self.outside else None
        if not radius:
            parts = [shapely.clip_by_rect(self.layer.geometry(int(i)), *frame) for i in features]
        elif self.layer.lonlat is not None:
            tolerances = self.layer.tolerances_ft[features] / FT_PER_FTUS
            # A buffer is cut from straight sides, within its circle: nothing beyond the radius is in it.
            sure = np.maximum(radius * (1 - _PLANAR_ERROR) - tolerances, 0.0)
            parts = list(shapely.buffer(shapely.points(self.layer.bounds[features, :2]), sure, quad_segs=64))
        else:
            return None
        ground = shapely.union_all(parts)
        if self.outside:
            ground = shapely.difference(shapely.box(*frame), ground)
        return None if ground.is_empty else ground


@dataclass(frozen=True)
class Meeting:
    """The nearest place that is in two grounds.

    Attributes
    ----------
    least_ft
        International feet to where both begin, as the map draws them: about the least that it can be.
    place
        A place some feet within both, in EPSG:3424. Whether it is in is not decided here.
    """

    least_ft: float
    place: XY


def meeting_of(
    first: shapely.Geometry, second: shapely.Geometry, place: shapely.Geometry, *, depth_ft: float
) -> Meeting | None:
    """Return the nearest place that is in two grounds at once; None where they do not meet.

    Parameters
    ----------
    first, second
        Ground in EPSG:3424.
    place
        The point from which it is nearest.
    depth_ft
        How far within the lines of both, in international feet.

    Examples
    --------
    >>> strip, disc = shapely.box(1000, -500, 2000, 500), shapely.box(0, 100, 1500, 800)
    >>> found = meeting_of(strip, disc, shapely.Point(0, 0), depth_ft=5.0)
    >>> [round(v) for v in found.place], round(found.least_ft)
    ([1005, 105], 1005)
    """
    both = shapely.intersection(first, second)
    polygons = [part for part in shapely.get_parts(both) if shapely.area(part) > 0]
    if not polygons:
        return None
    ground = shapely.multipolygons(polygons) if len(polygons) > 1 else polygons[0]
    line = shapely.get_coordinates(shapely.shortest_line(place, ground))
    target = float(line[-1, 0]), float(line[-1, 1])
    least = float(np.hypot(*(line[-1] - line[0]))) * FT_PER_FTUS
    return Meeting(least, place_inside(ground, target, place, depth_ft))
