"""From a source's own coordinates to places in New Jersey: which system they are in, and whether they can be there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import shapely

from grownj_geo.crs import LAT_RANGE, LON_RANGE, Misfit, misfit
from grownj_geo.findings import rows_in_words
from grownj_geo.georeference import Georeference, agree, declared_system, project, stated_system
from grownj_geo.linematch import recognized_system
from grownj_geo.units import to_lonlat

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.features import LoadOptions
    from grownj_geo.findings import Findings
    from grownj_geo.layer import Layer

__all__ = ["Placed", "place_features"]

_FAULTS = {
    "swapped": "swapped",
    "degrees": "degrees_in_projected",
    "projected": "projected_in_degrees",
    "sign": "wrong_sign",
    "zero": "zero_coordinates",
    "crs": "wrong_crs",
}
"""Faults by kind of misfit; the others are places outside New Jersey."""
_HINTED = frozenset({"crs", "projected"})


class Placed(NamedTuple):
    """What lies in New Jersey, and the system that it came in.

    Attributes
    ----------
    geometries
        In EPSG:3424, of the features that are inside, shape (m,).
    inside
        Which of the features that were given these are, shape (n,).
    system, words
        What they came in, and that in words.
    """

    geometries: NDArray[Any]
    inside: NDArray[np.bool_]
    system: Georeference
    words: str


def place_features(
    geometries: NDArray[Any],
    rows: NDArray[np.int64],
    declared: str | None,
    options: LoadOptions,
    found: Findings,
) -> Placed:
    """Bring geometries into EPSG:3424, and refuse what does not lie in New Jersey there.

    Parameters
    ----------
    geometries
        Two-dimensional, finite, x (or longitude) first, shape (n,).
    rows
        Which features they are, counted from 0 as the source has them, shape (n,).
    declared
        What the source says that they are in, as WKT or code; None where it says nothing.
    options
        Of which `crs`, `municipal_lines` and `partial` are asked.
    found
        Takes changes and faults.

    Returns
    -------
    Placed
        All are inside, unless the layer may be partial: then what is not is to be left out, as was told.

    Raises
    ------
    LayerFault
        As `declared_system`, `agree` and `recognized_system`; and ``"swapped"``, ``"degrees_in_projected"``,
        ``"projected_in_degrees"``, ``"wrong_sign"``, ``"zero_coordinates"``, ``"wrong_crs"``,
        ``"outside_new_jersey"``.
    """
    if declared is not None:
        system, how = declared_system(declared, found), "as declared"
        if options.crs is not None:
            agree(system, options.crs, found)
    elif options.crs is not None:
        system, how = stated_system(options.crs, found), "as stated"
    else:
        system, how = recognized_system(geometries, options.municipal_lines, found), "recognized by municipal lines"
    # Before they are projected: sides that lie nowhere near cannot be cut to 500 ft.
    inside = _inside(geometries, system)
    if not inside.all():
        which = np.flatnonzero(~inside)
        boxes = np.asarray(shapely.bounds(geometries[which]), dtype=np.float64)
        _tell_outside(boxes, rows[which], len(rows), system, found, partial=options.partial)
    working = project(geometries[inside], system, found)
    _check_ground(working, options.municipal_lines, system, found)
    taken = "" if not system.one_datum or "1983" in system.words or "NAD83" in system.words else ", taken as NAD83"
    return Placed(working, inside, system, f"{system.words}{taken}; {how}")


def _inside(geometries: NDArray[Any], system: Georeference) -> NDArray[np.bool_]:
    """Return which geometries lie in New Jersey's box with all four corners of their own."""
    boxes = shapely.bounds(geometries)
    corners = np.column_stack([boxes[:, [0, 2, 2, 0]].ravel(), boxes[:, [1, 1, 3, 3]].ravel()])
    working = system.forward(corners)
    lon, lat = to_lonlat(working[:, 0], working[:, 1])
    fits = (lon >= LON_RANGE[0]) & (lon <= LON_RANGE[1]) & (lat >= LAT_RANGE[0]) & (lat <= LAT_RANGE[1])
    # What is infinite compares as false, and so is outside.
    return np.asarray(fits.reshape(-1, 4).all(axis=1), dtype=bool)


def _tell_outside(
    boxes: NDArray[np.float64],
    rows: NDArray[np.int64],
    n: int,
    system: Georeference,
    found: Findings,
    *,
    partial: bool,
) -> None:
    """Refuse features that are outside, some or all of n, or leave some out where the layer may be partial."""
    some = len(rows) < n
    which = rows_in_words(rows) if some else f"all {n} features"
    if some and partial:
        words = f"{len(rows)} of {n} features do not lie in New Jersey in {system.name}, and are left out."
        found.tell("outside_new_jersey", "left_out", rows, words)
        return
    corners = boxes.reshape(-1, 2)
    problem = misfit(corners, system.code)
    if problem is None or problem.kind == "outside":
        # The first for itself: others may be wrong in another way.
        problem = misfit(corners[:2], system.code) or problem
    if some and not system.is_degrees and problem is not None and problem.kind in {"swapped", "crs"}:
        # Any stray x and y may lie in New Jersey another way round; of a whole layer that says more.
        problem = None
    low_x, low_y, high_x, high_y = boxes[0]
    where = f"the first from x {low_x:.10g}, y {low_y:.10g} to x {high_x:.10g}, y {high_y:.10g}"
    kind = "outside_new_jersey" if problem is None else _FAULTS.get(problem.kind, "outside_new_jersey")
    found.fault(kind, f"{which}: {_why(kind, problem, system)} ({where}). {_remedy(kind, some=some)}")
    found.stop()


def _why(kind: str, problem: Misfit | None, system: Georeference) -> str:
    words = {
        "swapped": f"x and y look swapped in {system.name}; expected x (east, longitude) first",
        "degrees_in_projected": f"the coordinates look like degrees, and the system is {system.name}",
        "projected_in_degrees": f"the coordinates are too large for degrees, and the system is {system.name}",
        "wrong_sign": "the signs do not fit; in New Jersey longitude is negative and latitude positive",
        "zero_coordinates": "the place is 0, 0, which software writes where one is missing",
        "wrong_crs": f"not in New Jersey in {system.name}",
        "outside_new_jersey": f"not in New Jersey in {system.name}",
    }[kind]
    if problem is not None and problem.kind in _HINTED:
        # What the file declares is wrong, and a word beside it would contradict it: no advice to give one.
        hint = problem.hint.replace(system.code, system.name).replace("; add --crs ", ", ")
        return hint if problem.kind == "crs" else f"{words}: {hint}"
    return words


def _remedy(kind: str, *, some: bool) -> str:
    if some:
        return "Correct or remove them, or load the rest as a partial layer"
    if kind in {"degrees_in_projected", "projected_in_degrees", "wrong_crs", "outside_new_jersey"}:
        return "Have the declared system corrected at the source, or load the right file"
    return "Write the coordinates again"


def _check_ground(working: NDArray[Any], municipal: Layer | None, system: Georeference, found: Findings) -> None:
    """Refuse a layer that lies in New Jersey's box and meets no municipality: metres read as feet may do that."""
    if municipal is None or not len(working):
        return
    tree = shapely.STRtree(shapely.box(*np.asarray(shapely.bounds(working)).T))
    for index in range(len(municipal)):
        if len(tree.query(municipal.geometry(index), predicate="intersects")):
            return
    raise found.refuse(
        "outside_new_jersey",
        f"none of {len(working)} features meets a municipality of New Jersey in {system.name}. Check the system of the "
        "coordinates, and whether it is the right file",
    )
