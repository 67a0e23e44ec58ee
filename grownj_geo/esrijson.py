"""Features in a feature service's JSON, read into shapely geometries and plain values.

Nothing is repaired. Where the JSON leaves no other choice than to change something, it is told.
"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.features import LayerFault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["KINDS", "Told", "column_of", "geometry_of"]

KINDS = frozenset({"esriGeometryPolygon", "esriGeometryPolyline", "esriGeometryPoint", "esriGeometryMultipoint"})
"""The kinds of geometry that are read."""

Told = dict[str, list[int]]
"""What had to be changed, by kind of change: the object ids that it is about."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_MS = 86_400_000
_LEAST_RING = 4
_FRACTIONS = frozenset({"esriFieldTypeSingle", "esriFieldTypeDouble"})
_EXACT = 2**53
"""Whole numbers to this are fractions without loss."""
_TEXTS = frozenset({"esriFieldTypeString", "esriFieldTypeGUID", "esriFieldTypeGlobalID"})


def geometry_of(raw: Any, kind: str, *, where: str, row: int, told: Told) -> shapely.Geometry | None:  # noqa: ANN401 - JSON is anything
    """Return one feature's geometry, x (or longitude) first, without heights; None where it has none.

    Rings wound clockwise are outer ones, the others are holes of the smallest outer ring round them, as the format
    says. A hole with no ring round it becomes an outer ring, which is told.

    Parameters
    ----------
    raw
        The JSON of the geometry.
    kind
        One of `KINDS`.
    where
        What messages begin with.
    row
        The object id.
    told
        Takes up what had to be changed: ``"z_dropped"``, ``"ring_closed"``, ``"ring_left_out"`` (a ring without
        area), ``"hole_outside"``.

    Raises
    ------
    LayerFault
        ``curves`` for geometry with arcs, ``bad_geometry`` for what does not fit the format, ``geometry_kind`` for
        other kinds.

    Examples
    --------
    >>> square = [[0, 0], [0, 1], [1, 1], [1, 0], [0, 0]]
    >>> geometry_of({"rings": [square]}, "esriGeometryPolygon", where="here", row=1, told={}).area
    1.0
    """
    if kind not in KINDS:
        raise LayerFault(
            "geometry_kind",
            f"{where}: geometry of the kind {kind}; expected points, lines or polygons. Export the layer as one of "
            "these and import it.",
        )
    if raw is None or raw == {}:
        return None
    if not isinstance(raw, dict):
        raise _bad(where, row, f"a geometry that is {type(raw).__name__}")
    if "curveRings" in raw or "curvePaths" in raw:
        raise LayerFault(
            "curves",
            f"{where}, object {row}: its line has arcs; expected straight sides. Export the layer with arcs cut to "
            "short sides, and import it.",
        )
    if kind == "esriGeometryPoint":
        return _point(raw, where, row, told)
    key = {"esriGeometryPolygon": "rings", "esriGeometryPolyline": "paths", "esriGeometryMultipoint": "points"}[kind]
    parts = raw.get(key)
    if not isinstance(parts, list):
        raise _bad(where, row, f"no {key}")
    if kind == "esriGeometryMultipoint":
        return shapely.multipoints(_coordinates(parts, where, row, told)) if parts else shapely.MultiPoint()
    lines = [_coordinates(part, where, row, told) for part in parts]
    if kind == "esriGeometryPolyline":
        if any(len(line) < 2 for line in lines):  # noqa: PLR2004 - a line has two ends
            raise _bad(where, row, "a line of fewer than two points")
        made = [shapely.linestrings(line) for line in lines]
        return made[0] if len(made) == 1 else shapely.MultiLineString(made)
    return _polygon(lines, row, told)


def _bad(where: str, row: int, what: str) -> LayerFault:
    return LayerFault(
        "bad_geometry",
        f"{where}, object {row}: {what}; expected coordinates as the feature service format has them. Tell the "
        "publisher, or download the layer by hand and import it.",
    )


def _tell(told: Told, kind: str, row: int) -> None:
    rows = told.setdefault(kind, [])
    if not rows or rows[-1] != row:
        rows.append(row)


def _point(raw: dict[str, Any], where: str, row: int, told: Told) -> shapely.Geometry | None:
    x, y = raw.get("x"), raw.get("y")
    if all(value is None or value == "NaN" for value in (x, y)):
        return None  # how the format writes a point that is nowhere
    if raw.get("z") is not None:
        _tell(told, "z_dropped", row)
    return shapely.Point(_coordinates([[x, y]], where, row, told)[0])


def _coordinates(part: Any, where: str, row: int, told: Told) -> NDArray[np.float64]:  # noqa: ANN401 - JSON is anything
    """Return x and y, shape (n, 2)."""
    if not isinstance(part, list) or not part:
        raise _bad(where, row, "a part without points")
    try:
        found = np.array(part)
    except ValueError as error:
        raise _bad(where, row, f"points of unequal length ({error})") from error
    if found.dtype.kind not in "iuf":
        raise _bad(where, row, "coordinates that are no numbers")
    if found.ndim != 2 or found.shape[1] < 2:  # noqa: PLR2004 - rows of x and y
        raise _bad(where, row, "points without x and y")
    if found.shape[1] > 2:  # noqa: PLR2004 - rows of x and y
        _tell(told, "z_dropped", row)
    xy = np.ascontiguousarray(found[:, :2], dtype=np.float64)
    if not np.isfinite(xy).all():
        raise _bad(where, row, "a coordinate that is not finite")
    return xy


def _polygon(lines: list[NDArray[np.float64]], row: int, told: Told) -> shapely.Geometry:
    rings = []
    for line in lines:
        xy = line
        if not np.array_equal(xy[0], xy[-1]):
            _tell(told, "ring_closed", row)
            xy = np.vstack([xy, xy[:1]])
        shell = shapely.polygons(xy) if len(xy) >= _LEAST_RING else None
        if shell is None or _is_flat(shell):
            _tell(told, "ring_left_out", row)
            continue
        rings.append(shell)
    if not rings:
        return shapely.Polygon()
    if len(rings) == 1:
        return rings[0]
    is_hole = shapely.is_ccw(shapely.get_exterior_ring(np.array(rings, dtype=object)))
    outer = [ring for ring, hole in zip(rings, is_hole, strict=True) if not hole]
    holes: list[list[shapely.Geometry]] = [[] for _ in outer]
    areas = shapely.area(np.array(outer, dtype=object)) if outer else np.empty(0)
    tree = shapely.STRtree(outer)
    alone = []
    for hole in (ring for ring, is_one in zip(rings, is_hole, strict=True) if is_one):
        parent = _parent(hole, outer, areas, tree)
        if parent is None:
            _tell(told, "hole_outside", row)
            alone.append(hole)
        else:
            holes[parent].append(shapely.get_exterior_ring(hole))
    made = [
        shapely.polygons(shapely.get_exterior_ring(ring), inner) if inner else ring
        for ring, inner in zip(outer, holes, strict=True)
    ] + alone
    return made[0] if len(made) == 1 else shapely.multipolygons(made)


def _is_flat(shell: shapely.Geometry) -> bool:
    """Return whether a ring has no ground: a bow tie has, though its lobes cancel out in its area."""
    if shapely.area(shell) != 0.0:
        return False
    return float(shapely.area(shapely.make_valid(shell, method="structure", keep_collapsed=False))) == 0.0


def _parent(
    hole: shapely.Geometry, outer: Sequence[shapely.Geometry], areas: NDArray[np.float64], tree: shapely.STRtree
) -> int | None:
    """Return the smallest ring that has all vertices of a hole in it; a ring inside the hole is smaller than it.

    Where there is none, the smallest that has most of the hole's ground: the hole protrudes, and the polygon is not
    valid, as its repair then finds.
    """
    corners = shapely.multipoints(shapely.get_coordinates(hole))
    area = float(shapely.area(hole))
    near = sorted((float(areas[i]), int(i)) for i in tree.query(hole) if areas[i] >= area)
    whole = next((i for _, i in near if shapely.covers(outer[i], corners)), None)
    return whole if whole is not None else next((i for _, i in near if _has_most(outer[i], hole)), None)


def _has_most(ring: shapely.Geometry, hole: shapely.Geometry) -> bool:
    ring, hole = shapely.make_valid(np.array([ring, hole]), method="structure", keep_collapsed=False)
    return float(shapely.area(shapely.intersection(ring, hole))) > float(shapely.area(hole)) / 2


def column_of(name: str, kind: str, values: Sequence[Any], rows: Sequence[int], *, where: str, told: Told) -> list[Any]:
    """Return one attribute of all features as plain values.

    Parameters
    ----------
    name, kind
        Of the field, as the service declares it.
    values, rows
        The attribute as it came, and the object ids.
    where
        What messages begin with.
    told
        Takes up ``"number_as_text"``: a number in a field that is declared to be text, written as text now.

    Returns
    -------
    list
        Text, numbers, None; days where all times of a date field are the start of a day (UTC), else times. Numbers of
        a field for fractions are floats, whole ones too.

    Raises
    ------
    LayerFault
        ``bad_value`` for what does not fit the declared kind.

    Examples
    --------
    >>> column_of("CENDATE", "esriFieldTypeDate", [1_492_387_200_000, None], [1, 2], where="here", told={})
    [datetime.date(2017, 4, 17), None]
    """
    if kind == "esriFieldTypeDate":
        return _times(name, values, rows, where)
    if kind == "esriFieldTypeDateOnly":
        return [_iso_day(name, value, row, where) for value, row in zip(values, rows, strict=True)]
    for value, row in zip(values, rows, strict=True):
        if isinstance(value, dict | list):
            raise _unfit(name, kind, value, row, where)
    if kind in _FRACTIONS:
        # JSON has 2 where the field has 2.0, and a column of both would be of two kinds.
        return [float(value) if _is_whole(value) else value for value in values]
    if kind not in _TEXTS:
        return list(values)
    found = []
    for value, row in zip(values, rows, strict=True):
        if value is None or isinstance(value, str):
            found.append(value)
        else:
            _tell(told, "number_as_text", row)
            found.append(json.dumps(value))
    return found


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _EXACT


def _unfit(name: str, kind: str, value: object, row: int, where: str) -> LayerFault:
    return LayerFault(
        "bad_value",
        f"{where}, object {row}: {name} is {str(value)[:60]!r}; expected a value of the kind {kind}. Tell the "
        "publisher, or leave the field out.",
    )


def _times(name: str, values: Sequence[Any], rows: Sequence[int], where: str) -> list[Any]:
    found: list[datetime | None] = []
    for value, row in zip(values, rows, strict=True):
        if value is None:
            found.append(None)
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _unfit(name, "esriFieldTypeDate (milliseconds since 1970)", value, row, where)
        try:
            found.append(_EPOCH + timedelta(milliseconds=value))
        except (OverflowError, ValueError) as error:
            raise _unfit(name, "esriFieldTypeDate (milliseconds since 1970)", value, row, where) from error
    if all(value is None or value % _DAY_MS == 0 for value in values):
        return [None if time is None else time.date() for time in found]
    return list(found)


def _iso_day(name: str, value: object, row: int, where: str) -> date | None:
    if value is None:
        return None
    try:
        return date.fromisoformat(str(value))
    except ValueError as error:
        raise _unfit(name, "esriFieldTypeDateOnly (YYYY-MM-DD)", value, row, where) from error
