"""A site: what is asked about, how it was located, and what the user states about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.errors import SiteError
from grownj_geo.units import to_lonlat, to_working

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["Site"]

FactValue = bool | float | str

_FULL_CIRCLE = 360.0
_MOST_UNCERTAIN_FT = 1_000_000
_MOST_VERTICES = 100_000
_LARGEST_SQFT = 150 * 5280.0**2
_INVALID = {
    "Valid Geometry": "it has no area",
    "Self-intersection": "its outline crosses itself",
    "Ring Self-intersection": "its outline touches itself",
    "Too few points in geometry component": "it has fewer than three corners",
    "Hole lies outside shell": "a hole lies outside of it",
    "Holes are nested": "a hole lies in another",
    "Nested shells": "one of its polygons lies in another",
    "Interior is disconnected": "its outline cuts it into pieces",
    "Duplicate Rings": "a ring is there twice",
}
"""What GEOS finds wrong with a polygon, in words."""


@dataclass(frozen=True, kw_only=True)
class Site:
    """One site: a point, a polygon, or a place known only by its municipality.

    Parameters
    ----------
    typed
        What the user typed or the file that was read, for the record.
    located_by
        How it became a place, in words ("coordinates, latitude first").
    geometry
        Point, Polygon or MultiPolygon in EPSG:3424 (US survey feet); None where only the municipality is
        known.
    uncertainty_ft
        How far the true place may be from `geometry`, in feet, as the user stated it.
    mun_code
        Treasury code of the municipality where something other than geometry says it: a parcel number or
        the user.
    mun_basis
        What says it: ``"pin"`` or ``"stated"``.
    pins
        Parcel numbers (PAMS_PIN) that make up the site.
    notes
        What was changed or assumed while reading the site.
    facts
        Site facts by name: what a map cannot show, as stated by the user.

    Raises
    ------
    SiteError
        For an empty, invalid or unsupported geometry, one in degrees, a negative uncertainty, or neither a place
        nor a municipality.
    """

    typed: str
    located_by: str
    geometry: shapely.Geometry | None = None
    uncertainty_ft: float = 0.0
    mun_code: str | None = None
    mun_basis: str | None = None
    pins: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    facts: Mapping[str, FactValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what cannot be measured."""
        if self.geometry is None and self.mun_code is None:
            raise SiteError("A site needs a place or at least a municipality; neither was given.")
        if not (np.isfinite(self.uncertainty_ft) and 0 <= self.uncertainty_ft <= _MOST_UNCERTAIN_FT):
            raise SiteError(
                f"The uncertainty is {self.uncertainty_ft!r}; expected feet, from 0 to {_MOST_UNCERTAIN_FT:,}. "
                "Give it as --uncertainty-ft 50."
            )
        if self.geometry is not None:
            _check_geometry(self.geometry)
            if self.geometry.has_z:
                object.__setattr__(self, "geometry", shapely.force_2d(self.geometry))
                note = "Z (or M) values were dropped: sites are two-dimensional."
                object.__setattr__(self, "notes", (*self.notes, note))

    @classmethod
    def from_lonlat(
        cls,
        lon: float,
        lat: float,
        *,
        typed: str = "",
        located_by: str = "coordinates",
        uncertainty_ft: float = 0.0,
    ) -> Site:
        """Make a point site from longitude and latitude in degrees (NAD83 or WGS84)."""
        x, y = to_working(lon, lat)
        return cls(
            typed=typed or f"{lat},{lon}",
            located_by=located_by,
            geometry=shapely.Point(float(x), float(y)),
            uncertainty_ft=uncertainty_ft,
        )

    @property
    def is_point(self) -> bool:
        """Whether the site is one point."""
        return self.geometry is not None and self.geometry.geom_type == "Point"

    @property
    def lonlat(self) -> tuple[float, float] | None:
        """Longitude and latitude of the point, or of a point inside the polygon; None without a place."""
        if self.geometry is None:
            return None
        point = self.geometry if self.is_point else self.geometry.point_on_surface()
        lon, lat = to_lonlat(point.x, point.y)
        return float(lon), float(lat)

    @property
    def area_sqft(self) -> float:
        """Area in square US survey feet; 0 for a point."""
        return 0.0 if self.geometry is None else float(shapely.area(self.geometry))


def _check_geometry(geometry: shapely.Geometry) -> None:
    """Refuse what is no point or polygon in feet."""
    if not isinstance(geometry, shapely.Geometry):
        raise SiteError(f"The site's geometry is a {type(geometry).__name__}; expected one of shapely's.")
    kind = geometry.geom_type
    if kind not in {"Point", "Polygon", "MultiPolygon"}:
        raise SiteError(f"The site is a {kind}; expected a point, a polygon or several polygons.")
    if geometry.is_empty:
        raise SiteError("The site's geometry is empty; expected a point or a polygon.")
    xy = shapely.get_coordinates(geometry)
    if len(xy) > _MOST_VERTICES:
        raise SiteError(
            f"The site has {len(xy):,} vertices; expected at most {_MOST_VERTICES:,}. Check its parts one by one, or "
            "simplify the outline."
        )
    if not np.isfinite(xy).all():
        raise SiteError("The site has coordinates that are not finite; expected feet in EPSG:3424.")
    if np.abs(xy).max() <= _FULL_CIRCLE / 2:
        raise SiteError(
            f"The site's coordinates ({xy[0, 0]:.10g}, {xy[0, 1]:.10g}) look like degrees; expected feet in "
            'EPSG:3424. Ask with crs="EPSG:4326" (longitude first), or make the site with Site.from_lonlat.'
        )
    if not geometry.is_valid or (kind != "Point" and geometry.area == 0):
        raise SiteError(
            f"The site's polygon is not valid: {_invalid_words(geometry)}. Expected its corners in their order around "
            "the site. Draw it again; where a program repairs it, look at what became of it."
        )
    if geometry.area > _LARGEST_SQFT:
        raise SiteError(
            f"The site covers {geometry.area / 5280**2:,.0f} square miles, more than any municipality of the State; "
            "expected a parcel or a few. Check the coordinates."
        )


def _invalid_words(geometry: shapely.Geometry) -> str:
    """Return what is wrong with a polygon in EPSG:3424, and where, in latitude and longitude."""
    reason, _, at = str(shapely.is_valid_reason(geometry)).rstrip("]").partition("[")
    words = _INVALID.get(reason, reason.lower())
    if not at:
        return words
    x, y = map(float, at.split()[:2])
    lon, lat = to_lonlat(x, y)
    return f"{words} near {lat:.5f}, {lon:.5f}"


def site_coordinates(site: Site) -> NDArray[np.float64]:
    """Return the vertices of the site, shape (n, 2), in EPSG:3424 (US survey feet)."""
    return np.asarray(shapely.get_coordinates(site.geometry), dtype=np.float64)
