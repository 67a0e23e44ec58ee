"""Coordinates without a declared system, compared with municipal lines.

Lines of most layers run along municipal lines for a good part. A system in which that is so, and in which alone it
is so, is the one that the coordinates are in. Coordinates that merely lie in New Jersey prove nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import shapely

from grownj_geo.crs import misfit
from grownj_geo.features import LayerFault
from grownj_geo.findings import Findings
from grownj_geo.georeference import Georeference, declared_system
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.layer import Layer

__all__ = ["recognized_system"]

_CANDIDATES = (
    "EPSG:3424",
    "EPSG:32111",
    "EPSG:26918",
    "EPSG:3857",
    "EPSG:4269",
    "EPSG:2263",
    "EPSG:2272",
    "EPSG:32011",
    "EPSG:26718",
    "EPSG:4267",
)
"""Systems that files of New Jersey come in: State Plane, UTM, Web Mercator, degrees, neighbours' zones, NAD27."""
_NEAR_FT = 10.0
_FEWEST_VERTICES = 50
_LEAST_SHARE = 0.1
_CLEARLY = 3.0
_MOST_TRIED = 20_000
_PIECE = 16


class _Fit(NamedTuple):
    system: Georeference
    near: int
    tried: int


def recognized_system(geometries: NDArray[Any], municipal: Layer | None, found: Findings) -> Georeference:
    """Return the one system in which vertices run along municipal lines.

    At least 50 vertices and a tenth of all have to lie within 10 ft of them, and three times as many as in any other
    system that is tried.

    Parameters
    ----------
    geometries
        As they came, x first, shape (n,).
    municipal
        The municipalities in EPSG:3424; None where they are not at hand.
    found
        Takes the change ``"crs_from_lines"`` and what reading the system tells.

    Raises
    ------
    LayerFault
        ``"undeclared_crs"`` where none is recognized, with what the coordinates look like.
    """
    vertices = np.unique(shapely.get_coordinates(geometries), axis=0)
    corners = np.array(shapely.total_bounds(geometries), dtype=np.float64).reshape(2, 2)
    fits = [] if municipal is None else _fits(vertices, corners, municipal)
    fits.sort(key=lambda fit: -fit.near)
    if fits:
        best = fits[0]
        other = max((fit.near for fit in fits[1:]), default=0)
        enough = best.near >= _FEWEST_VERTICES and best.near >= _LEAST_SHARE * best.tried
        if enough and best.near >= _CLEARLY * other:
            system = declared_system(best.system.code, found)
            found.tell(
                "crs_from_lines",
                "changed",
                (),
                f"It declares no coordinate system; it was taken to be in {system.name}, since {best.near:,} of "
                f"{best.tried:,} vertices that were tried lie within {_NEAR_FT:.0f} ft of municipal lines so, and "
                f"{other:,} in any other.",
            )
            return system
    compared = (
        "there were no municipal lines to compare with"
        if municipal is None
        else "its lines do not run along municipal lines closely enough to tell"
    )
    raise found.refuse(
        "undeclared_crs",
        f"it declares no coordinate system, and {compared}. Its coordinates run from x {corners[0, 0]:.10g}, y "
        f"{corners[0, 1]:.10g} to x {corners[1, 0]:.10g}, y {corners[1, 1]:.10g}: {_looks(corners)}",
    )


def _looks(corners: NDArray[np.float64]) -> str:
    problem = misfit(corners, "EPSG:4269")
    if problem is None:
        return "this looks like longitude and latitude; if it is, name them with --crs EPSG:4269"
    return f"{problem.hint}. Name the system with --crs once its source has said which it is"


def _fits(vertices: NDArray[np.float64], corners: NDArray[np.float64], municipal: Layer) -> list[_Fit]:
    """Return how many vertices lie on municipal lines in each system in which they lie in New Jersey."""
    tried = vertices[:: max(1, -(-len(vertices) // _MOST_TRIED))]
    tree: shapely.STRtree | None = None
    fits = []
    for code in _CANDIDATES:
        if misfit(corners, code) is not None:
            continue
        try:
            system = declared_system(code, Findings("tried"))
        except LayerFault:  # this installation of PROJ cannot reach NAD83 from there: nothing can be said of it
            continue
        if tree is None:
            tree = _lines(municipal)
        xy = system.forward(tried)
        xy = xy[np.isfinite(xy).all(axis=1)]
        hits = tree.query(shapely.points(xy), predicate="dwithin", distance=_NEAR_FT / FT_PER_FTUS)
        fits.append(_Fit(system, len(np.unique(hits[0])), len(tried)))
    return fits


def _lines(municipal: Layer) -> shapely.STRtree:
    """Return the municipal lines in pieces of a few vertices, to be searched."""
    shapes = np.array([municipal.geometry(index) for index in range(len(municipal))], dtype=object)
    pieces: list[shapely.Geometry] = []
    for ring in shapely.get_rings(shapely.get_parts(shapes)):
        xy = shapely.get_coordinates(ring)
        pieces += [shapely.linestrings(xy[start : start + _PIECE + 1]) for start in range(0, len(xy) - 1, _PIECE)]
    return shapely.STRtree(pieces)
