"""Many rows' places at once: checked as one site is checked, and brought to EPSG:3424."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.crs import LAT_RANGE, LON_RANGE, Misfit, misfit
from grownj_geo.errors import SiteError
from grownj_geo.findings import Findings
from grownj_geo.georeference import project
from grownj_geo.site import Site
from grownj_geo.units import to_working

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.georeference import Georeference


__all__ = ["fitting_box", "misfit_in_words", "place_points", "place_shapes"]

Box = tuple[float, float, float, float]
_KINDS = (shapely.GeometryType.POINT, shapely.GeometryType.POLYGON, shapely.GeometryType.MULTIPOLYGON)
_EDGE = 101
_STEP_FT = 500.0
_MOST_CUTS_OF_ONE = 1_000_000
_MOST_CUTS_AT_ONCE = 4_000_000
_Z = "Z (or M) values were dropped: sites are two-dimensional."


def fitting_box(system: Georeference) -> Box:
    """Return a box in a system's own coordinates in which everything surely lies in New Jersey's box.

    It may be empty for an odd system; then every place is looked at by itself.
    """
    if system.is_degrees:
        return LON_RANGE[0], LAT_RANGE[0], LON_RANGE[1], LAT_RANGE[1]
    lon, lat = np.linspace(*LON_RANGE, _EDGE), np.linspace(*LAT_RANGE, _EDGE)

    def edge(lons: NDArray[np.float64], lats: NDArray[np.float64]) -> NDArray[np.float64]:
        return system.backward(np.column_stack(to_working(lons, lats)))

    west, east = edge(np.full(_EDGE, lon[0]), lat), edge(np.full(_EDGE, lon[-1]), lat)
    south, north = edge(lon, np.full(_EDGE, lat[0])), edge(lon, np.full(_EDGE, lat[-1]))
    return float(west[:, 0].max()), float(south[:, 1].max()), float(east[:, 0].min()), float(north[:, 1].min())


def _inside(bounds: NDArray[np.float64], box: Box) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = (bounds[:, 0] >= box[0]) & (bounds[:, 1] >= box[1])
    return inside & (bounds[:, 2] <= box[2]) & (bounds[:, 3] <= box[3])


def misfit_in_words(problem: Misfit) -> str:
    """Say why coordinates do not fit, and what is expected."""
    if problem.kind == "sign":
        return f"{problem.hint}. Put the minus sign in"
    if problem.kind == "swapped":
        return f"{problem.hint}. Swap them"
    if problem.kind in {"outside", "range"}:
        return f"{problem.hint}. Check the coordinates"
    return problem.hint


def place_points(xy: NDArray[np.float64], system: Georeference, box: Box) -> tuple[NDArray[Any], dict[int, str]]:
    """Return points in EPSG:3424, and by position why some are none.

    Parameters
    ----------
    xy
        Coordinates in the system, x (or longitude) first, shape (n, 2).
    system
        What they are in.
    box
        Its `fitting_box`.

    Returns
    -------
    tuple of (array of n points or None, dict)
    """
    finite = np.isfinite(xy).all(axis=1)
    good = finite & _inside(np.hstack([xy, xy]), box)
    problems: dict[int, str] = {}
    for i in map(int, np.flatnonzero(~good)):
        found = misfit(xy[i : i + 1], system.code)
        if found is None:
            good[i] = True
        else:
            problems[i] = misfit_in_words(found)
    points = np.full(len(xy), None, dtype=object)
    if good.any():
        points[good] = shapely.points(xy[good] if system.is_working else system.forward(xy[good]))
    return points, problems


def place_shapes(
    shapes: NDArray[Any], system: Georeference, box: Box, *, source: str
) -> tuple[NDArray[Any], dict[int, str], dict[int, tuple[str, ...]]]:
    """Return points and polygons in EPSG:3424, why some are none, and what was changed in some.

    Parameters
    ----------
    shapes
        Geometries in the system, x (or longitude) first, shape (n,); None stays None.
    system
        What they are in.
    box
        Its `fitting_box`.
    source
        What messages call the table.

    Returns
    -------
    tuple of (array of n geometries or None, dict of problems, dict of notes)
    """
    shapes = shapes.copy()
    problems: dict[int, str] = {}
    notes: dict[int, tuple[str, ...]] = {}
    there = ~shapely.is_missing(shapes)
    single = there & (shapely.get_type_id(shapes) == shapely.GeometryType.MULTIPOINT)
    single &= shapely.get_num_geometries(shapes) == 1
    shapes[single] = shapely.get_geometry(shapes[single], 0)
    high = np.flatnonzero(there & (shapely.get_coordinate_dimension(shapes) > 2))  # noqa: PLR2004 - x and y
    shapes[high] = shapely.force_2d(shapes[high])
    notes.update(dict.fromkeys(map(int, high), (_Z,)))

    kinds = shapely.get_type_id(shapes)
    usable = there & np.isin(kinds, _KINDS) & ~shapely.is_empty(shapes)
    for i in map(int, np.flatnonzero(there & ~usable)):
        found = shapes[i]
        problems[i] = (
            "its geometry is empty; draw it or leave it out"
            if found.is_empty
            else f"its geometry is a {found.geom_type}; expected a point, a polygon or several polygons"
        )
    rows = np.flatnonzero(usable)
    rows = rows[_fit(shapes, rows, system, box, problems)]
    rows = rows[_cuttable(shapes, rows, system, problems)]
    placed = np.full(len(shapes), None, dtype=object)
    for part in _parts(shapes, rows, system):
        placed[part] = project(shapes[part], system, Findings(source))
    for i in map(int, rows[_suspect(placed[rows])]):
        # Whatever looks wrong in bulk is asked of the one place where a site is checked.
        try:
            Site(typed=source, located_by=source, geometry=placed[i])
        except SiteError as error:
            problems[i], placed[i] = str(error).rstrip("."), None
    return placed, problems, notes


def _fit(
    shapes: NDArray[Any], rows: NDArray[np.int64], system: Georeference, box: Box, problems: dict[int, str]
) -> NDArray[np.bool_]:
    """Return which rows lie in New Jersey's box, and say why others do not."""
    bounds = shapely.bounds(shapes[rows]).reshape(-1, 4)
    good = np.isfinite(bounds).all(axis=1) & _inside(bounds, box)
    for k in map(int, np.flatnonzero(~good)):
        found = misfit(np.asarray(shapely.get_coordinates(shapes[rows[k]]), dtype=np.float64), system.code)
        if found is None:
            good[k] = True
        else:
            problems[int(rows[k])] = misfit_in_words(found)
    return np.asarray(good, dtype=bool)


def _cuttable(
    shapes: NDArray[Any], rows: NDArray[np.int64], system: Georeference, problems: dict[int, str]
) -> NDArray[np.bool_]:
    """Return which rows have sides that can be cut to pieces that stay straight."""
    good = _cuts(shapes[rows], system) <= _MOST_CUTS_OF_ONE
    for i in map(int, rows[~good]):
        problems[i] = f"its sides are too long to be cut to {_STEP_FT:.0f} ft; expected one site. Simplify its outline"
    return np.asarray(good, dtype=bool)


def _cuts(shapes: NDArray[Any], system: Georeference) -> NDArray[np.float64]:
    vertices = shapely.get_num_coordinates(shapes).astype(np.float64)
    return np.asarray(shapely.length(shapes) * system.unit_ft / _STEP_FT + vertices, dtype=np.float64)


def _parts(shapes: NDArray[Any], rows: NDArray[np.int64], system: Georeference) -> list[NDArray[np.int64]]:
    """Split rows into runs that can be cut and held at once."""
    if not len(rows):
        return []
    ends = np.cumsum(_cuts(shapes[rows], system)) // _MOST_CUTS_AT_ONCE
    return list(np.split(rows, np.flatnonzero(np.diff(ends)) + 1))


def _suspect(placed: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which geometries in EPSG:3424 a site might be refused for."""
    polygon = shapely.get_dimensions(placed) > 0
    area = shapely.area(placed)
    suspect: NDArray[np.bool_] = polygon & (
        (area <= 0) | (area > _AMPLE_SQFT) | (shapely.get_num_coordinates(placed) > _AMPLE_VERTICES)
    )
    asked = np.flatnonzero(polygon & ~suspect)
    suspect[asked] = ~shapely.is_valid(placed[asked])
    return np.asarray(suspect, dtype=bool)


_AMPLE_SQFT = 5280.0**2
_AMPLE_VERTICES = 10_000
