"""In which coordinate system a feature service is asked, whether its replies are in it, and what another one costs.

A service that is asked for another system than its own brings vertices over, not the sides between them: a side that
is straight in its own system comes as another line. So it is asked for its own, wherever that is known here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.crs import LAT_RANGE, LON_RANGE
from grownj_geo.features import LayerFault
from grownj_geo.findings import Findings
from grownj_geo.georeference import Georeference, declared_system, same_places
from grownj_geo.units import FT_PER_FTUS, to_working

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.servicelayer import ServiceFacts

__all__ = ["AskedSystem", "bend_ft", "code_of", "system_to_ask"]

_DEGREES = 4326
_AUTHORITIES = ("EPSG", "ESRI")


@dataclass(frozen=True)
class AskedSystem:
    """A coordinate system that a service is asked for.

    Attributes
    ----------
    wkid
        Its number, as services have it.
    code
        The same for PROJ: ``"EPSG:3424"``.
    is_degrees
        Whether the coordinates are longitude and latitude.
    why_not_own
        Why it is not the one that the service keeps its coordinates in; empty where it is.
    """

    wkid: int
    code: str
    is_degrees: bool
    why_not_own: str = ""

    def is_that(self, reference: Any) -> bool:  # noqa: ANN401 - JSON is anything
        """Return whether a reply's spatial reference is this system, by every number that it gives."""
        keys = ("wkid", "latestWkid")
        said = [reference[key] for key in keys if key in reference] if isinstance(reference, dict) else []
        return bool(said) and all(self._is_number(number) for number in said)

    def _is_number(self, number: object) -> bool:
        if isinstance(number, bool) or not isinstance(number, int):
            return False
        if number == self.wkid:
            return True
        # State Plane feet are 3424 and 102711.
        ours, other = _known(self.wkid), _known(number)
        return ours is not None and other is not None and same_places(ours, other)


def system_to_ask(facts: ServiceFacts) -> AskedSystem:
    """Return the system to ask a service for: its own where that is known here, else longitude and latitude.

    Parameters
    ----------
    facts
        What the service says; of which `wkid` is asked.

    Examples
    --------
    >>> from grownj_geo.servicelayer import ServiceFacts
    >>> more = {"count": 1, "last_edited": None, "last_edit_ms": None, "max_record_count": 1, "geometry": "",
    ...         "object_id_field": "OBJECTID"}
    >>> system_to_ask(ServiceFacts(url="", name="", wkid=3424, **more)).code
    'EPSG:3424'
    >>> system_to_ask(ServiceFacts(url="", name="", wkid=999999, **more)).why_not_own
    'its own system, number 999999, is not known here'
    """
    if facts.wkid is None:
        return AskedSystem(_DEGREES, f"EPSG:{_DEGREES}", is_degrees=True, why_not_own="it names no number of its own")
    own = _known(facts.wkid)
    if own is None:
        why = f"its own system, number {facts.wkid}, is not known here"
        return AskedSystem(_DEGREES, f"EPSG:{_DEGREES}", is_degrees=True, why_not_own=why)
    return AskedSystem(facts.wkid, str(code_of(facts.wkid)), is_degrees=own.is_degrees)


def code_of(wkid: Any) -> str | None:  # noqa: ANN401 - JSON is anything
    """Return PROJ's code of a number that services use; None where it has none.

    Examples
    --------
    >>> code_of(3424), code_of(102711), code_of(999999)
    ('EPSG:3424', 'ESRI:102711', None)
    """
    import pyproj  # noqa: PLC0415 - PROJ is slow to start

    for authority in _AUTHORITIES if isinstance(wkid, int) else ():
        try:
            pyproj.CRS.from_authority(authority, wkid)
        except pyproj.exceptions.CRSError:
            continue
        return f"{authority}:{wkid}"
    return None


@lru_cache(maxsize=16)
def _known(wkid: int) -> Georeference | None:
    """Return a system from which a way leads here; None where there is none."""
    code = code_of(wkid)
    try:
        return None if code is None else declared_system(code, Findings("the service"))
    except LayerFault:  # heights alone, or a datum without a way: the caller says that it is not known
        return None


def bend_ft(geometries: NDArray[Any]) -> float:
    """Return how far sides that are straight in degrees may be from those that are straight in State Plane feet.

    Parameters
    ----------
    geometries
        In longitude and latitude, shape (n,); None where there is none. What lies outside New Jersey is not counted.

    Returns
    -------
    float
        International feet, in the middle of the side that bends most.

    Examples
    --------
    >>> side = shapely.LineString([(-74.2, 40.0), (-74.2 + 5 / 53.0, 40.0)])
    >>> round(bend_ft(np.array([side])), 1)
    3.5
    """
    parts = shapely.get_parts(geometries[~shapely.is_missing(geometries)])
    polygons = shapely.get_dimensions(parts) == 2  # noqa: PLR2004 - a polygon has two
    lines = np.concatenate([parts[shapely.get_dimensions(parts) == 1], shapely.get_rings(parts[polygons])])
    xy, of = shapely.get_coordinates(lines, return_index=True)
    there = (xy >= (LON_RANGE[0], LAT_RANGE[0])).all(axis=1) & (xy <= (LON_RANGE[1], LAT_RANGE[1])).all(axis=1)
    sides = np.flatnonzero((of[1:] == of[:-1]) & there[1:] & there[:-1])
    if not len(sides):
        return 0.0
    start, end = xy[sides], xy[sides + 1]
    middle = _working((start + end) / 2)
    return float(np.hypot(*(middle - (_working(start) + _working(end)) / 2).T).max()) * FT_PER_FTUS


def _working(xy: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.column_stack(to_working(xy[:, 0], xy[:, 1]))
