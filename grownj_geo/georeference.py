"""What coordinates are in, and the way from there to the working CRS.

WGS84, NAD83 and the later realizations of NAD83 are taken as one datum, as everywhere in the package. Any other
datum is left by the one operation that PROJ holds best for New Jersey, whose accuracy is added to the layer's.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.crs import LAT_RANGE, LON_RANGE, parse_crs
from grownj_geo.errors import SiteError
from grownj_geo.findings import Findings
from grownj_geo.units import FT_PER_METRE, WORKING_CRS, to_lonlat, to_working

if TYPE_CHECKING:
    import pyproj
    from numpy.typing import NDArray

__all__ = ["Georeference", "agree", "declared_system", "project", "same_places", "stated_system"]

_DEGREE_EDGE_FT = 500.0
_FT_PER_DEGREE = 364_000.0
_MOST_CUTS = 8_000_000
_BLOCK_VERTICES = 1_000_000
_SAME_FT = 1e-4
"""Two systems that put New Jersey's corners within this are one: their definitions differ in rounding only."""
_AGREE_FT = 0.1
_SURVEY_FOOT, _INTERNATIONAL_FOOT, _METRE = 1200.0 / 3937.0, 0.3048, 1.0
_UNIT_SLACK = 1e-9
_UNITS = (
    (_SURVEY_FOOT, "US survey feet of 0.3048006096 m"),
    (_INTERNATIONAL_FOOT, "international feet of 0.3048 m"),
    (_METRE, "metres"),
)
# Names of the datums taken as one, without blanks and signs. Pacific plates move apart from North America's, so
# their realizations are not among them.
_ONE_DATUM = re.compile(r"d?(worldgeodeticsystem1984|wgs(19)?84|northamerican(datum)?(of)?1983|nad(19)?83)\w*")
_APART = re.compile(r"\w*(pa11|ma11|pacp00|marp00|pacific|mariana)\w*")
_CENTRE = (-74.5, 40.1)
# A code, well-known text or PROJ's JSON. Text that PROJ would take for a name, a file or its own parameters is not
# let through: what comes in may be a stranger's.
_DECLARATION = re.compile(r"\s*(?:(?:EPSG|ESRI|OGC|IGNF):\w+(?:\+\d+)?\s*$|[A-Z_0-9]+\s*[\[(]|\{)", re.IGNORECASE)


@dataclass(frozen=True)
class Georeference:
    """A coordinate system and the way from it to EPSG:3424.

    Attributes
    ----------
    name
        What messages call it: ``"EPSG:32111 (NAD83 / New Jersey)"``.
    code
        What `crs.misfit` takes: a code, or WKT where the system has none.
    words
        With datum and unit.
    is_degrees
        Whether the coordinates are longitude and latitude in degrees.
    unit_ft
        International feet in one unit of the coordinates; of a degree, roughly.
    added_accuracy_ft
        Feet that the change of datum may be off; 0 where the datum is taken as NAD83.
    """

    name: str
    code: str
    words: str
    is_degrees: bool
    unit_ft: float
    added_accuracy_ft: float
    one_datum: bool
    _steps: tuple[Any, ...]

    def forward(self, xy: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return coordinates, shape (n, 2), x first, in EPSG:3424 (US survey feet); infinite where there are none."""
        x, y = xy[:, 0], xy[:, 1]
        for step in self._steps:
            x, y = step.transform(x, y)
        return np.column_stack(to_working(x, y))

    def backward(self, xy: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return coordinates in EPSG:3424, shape (n, 2), in this system."""
        x, y = to_lonlat(xy[:, 0], xy[:, 1])
        for step in reversed(self._steps):
            x, y = step.transform(x, y, direction="INVERSE")
        return np.column_stack([x, y])

    @cached_property
    def is_working(self) -> bool:
        """Whether the coordinates are those of EPSG:3424 as they stand."""
        corners = _corners()
        return bool(np.abs(self.backward(corners) - corners).max() < _SAME_FT)

    @cached_property
    def keeps_straight(self) -> bool:
        """Whether straight sides stay straight in EPSG:3424, as between State Plane metres and feet."""
        corners = self.backward(_corners())
        # The middles between each corner and the next, and of both diagonals.
        starts, ends = corners[[0, 1, 2, 3, 0, 1]], corners[[1, 2, 3, 0, 2, 3]]
        projected = (self.forward(starts) + self.forward(ends)) / 2
        return bool(np.abs(self.forward((starts + ends) / 2) - projected).max() < _SAME_FT)


def _corners() -> NDArray[np.float64]:
    """Return the corners of New Jersey's box in EPSG:3424, going round."""
    lon = np.array([LON_RANGE[0], LON_RANGE[1], LON_RANGE[1], LON_RANGE[0]])
    lat = np.array([LAT_RANGE[0], LAT_RANGE[0], LAT_RANGE[1], LAT_RANGE[1]])
    return np.column_stack(to_working(lon, lat))


def declared_system(text: str, found: Findings) -> Georeference:
    """Read a declared coordinate system and find the way from it to EPSG:3424.

    Parameters
    ----------
    text
        WKT, or a code such as ``"EPSG:3424"``.
    found
        Takes what is to be told: heights that are left aside, a change of datum, international feet.

    Raises
    ------
    LayerFault
        ``"unknown_crs"`` where it cannot be read, ``"no_horizontal_crs"`` where it has no x and y, ``"datum_path"``
        where no operation of known accuracy leads from its datum to NAD83.

    Examples
    --------
    >>> from grownj_geo.findings import Findings
    >>> declared_system("EPSG:32111", Findings("areas.shp")).words
    'EPSG:32111 (NAD83 / New Jersey): North American Datum 1983, metres'
    """
    # Imported where it is needed, as in the other modules: PROJ is slow to start.
    import pyproj  # noqa: PLC0415

    try:
        if _DECLARATION.match(text) is None:
            raise pyproj.exceptions.CRSError("it is neither a code nor well-known text")  # noqa: TRY301
        crs = pyproj.CRS.from_user_input(text)
    except pyproj.exceptions.CRSError as error:
        raise found.refuse(
            "unknown_crs",
            f"its coordinate system cannot be read ({_short(text)}: {_short(str(error))}). Expected one such as "
            f"{WORKING_CRS}; write the declaration again, or remove it and name the system with --crs",
        ) from error
    crs, null_shift = _horizontal(crs, found)
    unit = crs.axis_info[0].unit_conversion_factor
    is_degrees = bool(crs.is_geographic)
    name = _name(crs)
    datum = _datum(crs)
    unit_words = "degrees" if is_degrees else _unit_words(unit, crs.axis_info[0].unit_name)
    steps, accuracy_ft, one = _way(crs, datum, null_shift=null_shift, name=name, found=found)
    if not is_degrees and abs(unit - _INTERNATIONAL_FOOT) < _UNIT_SLACK:
        found.tell(
            "international_foot",
            "noted",
            (),
            f"Its coordinates are in international feet, as {name} says. Were they US survey feet, places would be "
            "about a foot off: ask the source where that matters.",
        )
    code = crs.to_authority(min_confidence=100)
    return Georeference(
        name=name,
        code=crs.to_wkt() if code is None else ":".join(code),
        words=f"{name}: {datum}, {unit_words}",
        is_degrees=is_degrees,
        unit_ft=_FT_PER_DEGREE if is_degrees else unit * FT_PER_METRE,
        added_accuracy_ft=accuracy_ft,
        one_datum=one,
        _steps=steps,
    )


def _short(text: str, most: int = 80) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= most else f"{plain[:most]}..."


def _horizontal(crs: pyproj.CRS, found: Findings) -> tuple[pyproj.CRS, bool]:
    """Return the horizontal system, without heights and without a shift bound to it, and whether that was null."""
    import pyproj  # noqa: PLC0415

    null_shift = False
    if crs.is_compound:
        heights = " and ".join(part.name for part in crs.sub_crs_list[1:])
        crs = crs.sub_crs_list[0]
        found.tell("heights_left_aside", "noted", (), f"Its heights ({heights}) are left aside.")
    if crs.is_bound:
        shift = crs.coordinate_operation.towgs84 if crs.coordinate_operation is not None else []
        null_shift = bool(shift) and not any(shift)
        # A bound system has a source by definition.
        crs = pyproj.CRS(crs.source_crs)
        words = ", ".join(f"{v:g}" for v in shift) or "a grid"
        found.tell(
            "bound_shift",
            "noted",
            (),
            f"Its system carries its own shift to WGS84 ({words}), which is "
            f"{'null' if null_shift else 'not used: the datum is read from the system itself'}.",
        )
    if not (crs.is_projected or crs.is_geographic):
        raise found.refuse(
            "no_horizontal_crs",
            f"its system {_name(crs)} is a {crs.type_name} without a horizontal x and y; expected one such as "
            f"{WORKING_CRS}. Export it in a horizontal system",
        )
    return crs.to_2d(), null_shift


def _name(crs: pyproj.CRS) -> str:
    code = crs.to_authority(min_confidence=100)
    return crs.name if code is None else f"{':'.join(code)} ({crs.name})"


def _datum(crs: pyproj.CRS) -> str:
    geodetic = crs.geodetic_crs
    return "unknown" if geodetic is None or geodetic.datum is None else str(geodetic.datum.name)


def _unit_words(unit: float, name: str) -> str:
    for size, words in _UNITS:
        if abs(unit - size) < _UNIT_SLACK:
            return words
    return f"units of {unit:.10g} m ({name})"


def _way(
    crs: pyproj.CRS, datum: str, *, null_shift: bool, name: str, found: Findings
) -> tuple[tuple[Any, ...], float, bool]:
    """Return the transformations to degrees on NAD83, what they may be off in feet, whether the datum is NAD83's."""
    import pyproj  # noqa: PLC0415

    # Horizontal systems have a geodetic one below them, and that has a meridian.
    geodetic = pyproj.CRS(crs.geodetic_crs).to_2d()
    steps: list[Any] = []
    if not crs.is_geographic:
        steps.append(pyproj.Transformer.from_crs(crs, geodetic, always_xy=True))
    plain = re.sub(r"[^a-z0-9]", "", datum.lower())
    one = null_shift or (_ONE_DATUM.fullmatch(plain) is not None and _APART.fullmatch(plain) is None)
    meridian = geodetic.prime_meridian
    usual = (
        meridian is not None
        and meridian.longitude == 0
        and math.isclose(geodetic.axis_info[0].unit_conversion_factor, math.pi / 180, rel_tol=1e-9)
    )
    if one and usual:
        return tuple(steps), 0.0, True
    operation = _operation(geodetic, name, datum, found)
    accuracy_ft = float(operation.accuracy) * FT_PER_METRE
    found.tell(
        "datum_shift",
        "noted",
        (),
        f"It was brought from {datum} to NAD83 by {operation.description!r}, the best that PROJ has here, good "
        f"to {accuracy_ft:.1f} ft; these are added to the layer's accuracy.",
    )
    return (*steps, operation), accuracy_ft, False


def _operation(geodetic: pyproj.CRS, name: str, datum: str, found: Findings) -> Any:  # noqa: ANN401 - pyproj has no types
    """Return the one operation from a datum to NAD83 that PROJ takes in the middle of New Jersey."""
    import pyproj  # noqa: PLC0415

    problem = ""
    try:
        # Not what the area of interest gives: PROJ then leaves out ways over a third datum, and a ballpark is all.
        choice = pyproj.Transformer.from_crs(geodetic, "EPSG:4269", always_xy=True, allow_ballpark=False)
        choice.transform(*_CENTRE, errcheck=True)
        # One operation for all vertices; the choice could take another for each.
        operation = choice.get_last_used_operation()
    except pyproj.exceptions.ProjError as error:
        problem = f" ({_short(str(error))})"
    else:
        ballpark = "ballpark" in operation.description.lower()
        if operation.accuracy >= 0 and not ballpark:
            return operation
    raise found.refuse(
        "datum_path",
        f"its system {name} is on the datum {datum!r}, and PROJ has no operation of known accuracy from it to NAD83 "
        f"in New Jersey{problem}. Project it to {WORKING_CRS} in a GIS that has the grids of that datum",
    )


def agree(declared: Georeference, stated: str, found: Findings) -> None:
    """Refuse a stated system that puts places elsewhere than the declared one.

    Raises
    ------
    LayerFault
        ``"crs_contradiction"``, or ``"unknown_crs"`` where the stated one cannot be read.
    """
    other = stated_system(stated, found, tell=False)
    if not same_places(declared, other):
        raise found.refuse(
            "crs_contradiction",
            f"it says {declared.name}, and --crs says {other.name}. Leave --crs out if the file is right; if it is "
            "wrong, have its declaration corrected",
        )


def same_places(one: Georeference, other: Georeference) -> bool:
    """Return whether the same coordinates are the same places in two systems, to a tenth of a foot in New Jersey."""
    corners = _corners()
    return float(np.abs(other.forward(one.backward(corners)) - corners).max()) <= _AGREE_FT


def stated_system(stated: str, found: Findings, *, tell: bool = True) -> Georeference:
    """Return the system that whoever loads a layer names, by its code.

    Raises
    ------
    LayerFault
        As `declared_system`.
    """
    try:
        code = parse_crs(stated)
    except SiteError as error:
        raise found.refuse("unknown_crs", str(error).rstrip(".")) from error
    return declared_system(code, found if tell else Findings(found.source))


def project(geometries: NDArray[Any], system: Georeference, found: Findings) -> NDArray[Any]:
    """Return geometries in EPSG:3424, all in one go; bit by bit the same where they are in it already.

    Long sides are cut to 500 ft first where they would not stay straight. What is not valid stays as it is drawn, for
    `cleaning.repair` to judge: nothing here looks at more than one side at a time.

    Parameters
    ----------
    geometries
        Points, lines and polygons, single or multiple; two-dimensional, finite, x (or longitude) first, shape (n,).
    system
        What they are in.
    found
        Takes the fault.

    Raises
    ------
    LayerFault
        ``"too_long"`` where cutting the sides would make more vertices than can be held.
    """
    if system.is_working or not len(geometries):
        return geometries
    step = _DEGREE_EDGE_FT / system.unit_ft
    if not system.keeps_straight:
        cuts = float(shapely.length(geometries).sum()) / step
        if not cuts <= _MOST_CUTS:
            raise found.refuse(
                "too_long",
                f"its sides are cut about {cuts:,.0f} times where no piece may be longer than {_DEGREE_EDGE_FT:.0f} ft "
                f"in {system.name}; at most {_MOST_CUTS:,} cuts are made. Check its system, or load it in parts",
            )
    projected = np.empty(len(geometries), dtype=object)
    # Block by block: all at once would hold every coordinate four times.
    ends = np.cumsum(shapely.get_num_coordinates(geometries)) // _BLOCK_VERTICES
    for block in np.split(np.arange(len(geometries)), np.flatnonzero(np.diff(ends)) + 1):
        some = geometries[block]
        if not system.keeps_straight:
            some = _cut(some, step)
        projected[block] = shapely.transform(some, system.forward)
    return projected


# Not shapely.segmentize: it passes polygons that are not valid through a buffer, which takes ground from them before
# anybody has looked.


def _cut(shapes: NDArray[Any], step: float) -> NDArray[Any]:
    """Return geometries whose sides are no longer than a step; every vertex stays, in its place."""
    xy, of = shapely.get_coordinates(shapes, return_index=True)
    far = np.hypot(*np.diff(xy, axis=0).T) > step
    # From one ring to the next is no side: some are looked at in vain.
    long = np.zeros(len(shapes), dtype=bool)
    long[of[1:][far & (of[1:] == of[:-1])]] = True
    cut = shapes.copy()
    dimensions = shapely.get_dimensions(shapes)
    for dimension, type_id, one, several in (
        (1, shapely.GeometryType.LINESTRING, _cut_lines, shapely.multilinestrings),
        (2, shapely.GeometryType.POLYGON, _cut_polygons, shapely.multipolygons),
    ):
        which = np.flatnonzero(long & (dimensions == dimension))
        parts, part_of = shapely.get_parts(shapes[which], return_index=True)
        there = ~shapely.is_empty(parts)
        pieces, part_of = one(parts[there], step), part_of[there]
        is_single = shapely.get_type_id(shapes[which]) == type_id
        for place, first, last, alone in zip(which, *_runs(part_of, len(which)), is_single, strict=True):
            cut[place] = pieces[first] if alone else several(pieces[first:last])
    return cut


def _runs(index: NDArray[np.int64], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each number's run begins and ends in a sorted index."""
    numbers = np.arange(n)
    return np.searchsorted(index, numbers, "left"), np.searchsorted(index, numbers, "right")


def _cut_polygons(polygons: NDArray[Any], step: float) -> NDArray[Any]:
    rings, ring_of = shapely.get_rings(polygons, return_index=True)
    there = ~shapely.is_empty(rings)
    xy, index = _between(rings[there], step)
    return np.asarray(shapely.polygons(shapely.linearrings(xy, indices=index), indices=ring_of[there]), dtype=object)


def _cut_lines(lines: NDArray[Any], step: float) -> NDArray[Any]:
    xy, index = _between(lines, step)
    return np.asarray(shapely.linestrings(xy, indices=index), dtype=object)


def _between(lines: NDArray[Any], step: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the vertices of lines or rings, others put in between them evenly, and of which line each is."""
    xy, line_of = shapely.get_coordinates(lines, return_index=True)
    start, end = xy, np.roll(xy, -1, axis=0)
    # The last vertex of each line begins no side.
    within = np.append(line_of[1:] == line_of[:-1], False)
    pieces = np.where(within, np.maximum(np.ceil(np.hypot(*(end - start).T) / step), 1), 1).astype(np.int64)
    first = np.cumsum(pieces) - pieces
    side = np.repeat(np.arange(len(xy)), pieces)
    number = np.arange(len(side)) - first[side]
    # From the same end whichever way the side runs, so that neighbours, and a spike's two sides, still meet.
    turned = (start[:, 0] > end[:, 0]) | ((start[:, 0] == end[:, 0]) & (start[:, 1] > end[:, 1]))
    share = np.where(turned[side], pieces[side] - number, number) / pieces[side]
    low, high = np.where(turned[:, None], end, start), np.where(turned[:, None], start, end)
    points = low[side] + (high - low)[side] * share[:, None]
    points[first] = xy
    return points, line_of[side]
