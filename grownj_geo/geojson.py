"""GeoJSON as plain JSON: from a text or a file to points and polygons in the file's own coordinates.

What is no point and no polygon, or is not as RFC 7946 says, is refused; nothing is repaired or left out.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

import shapely

from grownj_geo.crs import parse_crs
from grownj_geo.errors import SiteError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["MAX_BYTES", "REPAIR", "Shapes", "gather", "member_crs", "parse_geojson", "read_text", "refuse"]

MAX_BYTES = 50_000_000
"""A longer file or text is not read: a site is a few features."""
REPAIR = "Repair it in a GIS (QGIS: Fix geometries), look at the result and try again; it is not done by guessing"

_MAX_DEPTH = 8
_MIN_RING = 4


@dataclass
class Shapes:
    """What a GeoJSON or WKT text holds.

    Attributes
    ----------
    points, polygons
        In the text's own coordinates, without Z or M.
    pins
        For each feature its PAMS_PIN, or None where it names none.
    has_z
        Whether Z or M values were dropped.
    """

    points: list[shapely.Point] = field(default_factory=list)
    polygons: list[shapely.Geometry] = field(default_factory=list)
    pins: list[str | None] = field(default_factory=list)
    has_z: bool = False


def refuse(source: str, problem: str, remedy: str) -> NoReturn:
    """Raise a `SiteError` that says what was read, what is wrong with it, and what to do."""
    raise SiteError(f"{source}: {problem}. {remedy}.")


def read_text(path: Path, source: str) -> str:
    """Return the text of a GeoJSON file.

    Parameters
    ----------
    path
        A file of at most `MAX_BYTES`, in UTF-8.
    source
        What is being read, as messages begin.

    Raises
    ------
    SiteError
        If the file is not there, too large, empty, or plainly not JSON in UTF-8.
    """
    try:
        if not path.is_file():
            refuse(source, "it is not a file", "Expected a GeoJSON file; check the path")
        if path.stat().st_size > MAX_BYTES:
            refuse(source, "it is larger than 50 MB", "Expected one site; save only its features")
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        if isinstance(error, SiteError):
            raise
        refuse(
            source,
            f"it cannot be read ({getattr(error, 'strerror', None) or error})",
            "Check the path and its permissions",
        )
    if not content.strip():
        refuse(source, "it is empty", "Expected GeoJSON; export the site again")
    if content[:2] in {b"\xff\xfe", b"\xfe\xff"} or b"\x00" in content[:4]:
        refuse(source, "it is not in UTF-8 but looks like UTF-16", "Save it as UTF-8 and try again")
    try:
        text = content.decode("utf-8-sig").lstrip()
    except UnicodeDecodeError:
        refuse(
            source,
            "it is not text in UTF-8",
            "Expected GeoJSON, not a zipped or binary file; export it again",
        )
    if text.startswith("<"):
        what = "KML" if "<kml" in text[:2000].lower() else "an HTML or XML page (an error page saved as a file?)"
        refuse(
            source,
            f"it is {what}, not GeoJSON",
            "Open it in a browser to see what it says; export as GeoJSON",
        )
    return text


def _bad_constant(name: str) -> NoReturn:
    raise SiteError(f"GeoJSON holds {name} where a number belongs. Expected a finite coordinate; export it again.")


def parse_geojson(text: str, source: str) -> dict[str, object]:
    """Return the JSON object in a text.

    Raises
    ------
    SiteError
        If the text is not JSON, holds no object, or is TopoJSON.

    Examples
    --------
    >>> parse_geojson('{"type": "Point", "coordinates": [-74.1641, 40.7344]}', "The text")["type"]
    'Point'
    """
    try:
        document = json.loads(text, parse_constant=_bad_constant)
    except SiteError:
        raise
    except RecursionError:
        refuse(source, "it is nested too deep", "Expected plain features; export it again")
    except ValueError as error:
        refuse(source, f"it is not JSON ({error})", "Expected GeoJSON; export the site again as GeoJSON")
    if not isinstance(document, dict):
        refuse(source, "it is JSON, but not GeoJSON", "Expected a Feature, a FeatureCollection or a geometry")
    if document.get("type") == "Topology":
        refuse(source, "it is TopoJSON, not GeoJSON", "Export the site again as GeoJSON")
    return document


def member_crs(document: dict[str, object], source: str) -> str | None:
    """Return the system that a document names in the old member ``crs``, or None."""
    member = document.get("crs")
    if member is None:
        return None
    properties = member.get("properties") if isinstance(member, dict) else None
    name = properties.get("name") if isinstance(properties, dict) else None
    if not isinstance(name, str):
        refuse(source, "its crs member names no system", 'Expected a name such as "urn:ogc:def:crs:EPSG::3424"')
    return parse_crs(name)


def gather(document: dict[str, object], source: str) -> Shapes:
    """Return the points, polygons and parcel numbers of a GeoJSON object.

    Parameters
    ----------
    document
        A geometry, a Feature, a FeatureCollection or a GeometryCollection, as `parse_geojson` returns it.
    source
        What is being read, as messages begin.

    Raises
    ------
    SiteError
        For an empty, null or broken geometry, a line, or anything that is not GeoJSON.
    """
    found = Shapes()
    _gather(document, source, "the geometry", found)
    return found


def _gather(value: object, source: str, where: str, found: Shapes, depth: int = 0) -> None:
    """Collect the points and polygons of a GeoJSON object."""
    if depth > _MAX_DEPTH:
        refuse(
            source,
            f"{where} is nested more than {_MAX_DEPTH} deep",
            "Expected plain features; export it again",
        )
    if value is None:
        refuse(
            source,
            f"{where} has a null geometry",
            "Expected a point or a polygon; draw it or remove the feature",
        )
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(kind, str):
        refuse(
            source,
            f"{where} is not GeoJSON: it has no type",
            "Expected a Feature, a FeatureCollection or a geometry",
        )
    if kind in {"FeatureCollection", "GeometryCollection"}:
        key, one = ("features", "feature") if kind == "FeatureCollection" else ("geometries", "geometry")
        members = value.get(key)
        if not isinstance(members, list) or not members:
            refuse(source, f"{where} has no {key}, so it is empty", "Expected at least one point or polygon")
        for i, member in enumerate(members, 1):
            _gather(member, source, f"{one} {i}", found, depth + 1)
    elif kind == "Feature":
        properties = value.get("properties")
        named = properties.items() if isinstance(properties, dict) else ()
        found.pins.append(next((v for k, v in named if k.upper() == "PAMS_PIN" and isinstance(v, str) and v), None))
        _gather(value.get("geometry"), source, where, found, depth + 1)
    else:
        _gather_geometry(kind, value.get("coordinates"), source, where, found)


def _gather_geometry(kind: str, coordinates: object, source: str, where: str, found: Shapes) -> None:
    if kind == "Point":
        found.points.append(shapely.Point(_position(_list(coordinates, source, where), source, where, found)))
    elif kind == "MultiPoint":
        positions = [_position(p, source, where, found) for p in _list(coordinates, source, where)]
        found.points.extend(shapely.Point(p) for p in positions)
    elif kind == "Polygon":
        found.polygons.append(_polygon(coordinates, source, where, found))
    elif kind == "MultiPolygon":
        parts = [_polygon(p, source, where, found) for p in _list(coordinates, source, where)]
        found.polygons.append(shapely.MultiPolygon(parts))
    elif kind in {"LineString", "MultiLineString"}:
        refuse(source, f"{where} is a {kind}", "Expected a point or a polygon: a line has no land; draw the lot")
    else:
        refuse(source, f"{where} is of the unknown type {kind!r}", "Expected GeoJSON points and polygons")


def _polygon(value: object, source: str, where: str, found: Shapes) -> shapely.Polygon:
    rings = []
    for ring in _list(value, source, where):
        positions = [_position(p, source, where, found) for p in _list(ring, source, where)]
        if len(positions) < _MIN_RING:
            refuse(source, f"{where} has a ring of {len(positions)} positions", f"Expected at least 4. {REPAIR}")
        if positions[0] != positions[-1]:
            refuse(
                source,
                f"{where} has an unclosed ring: it starts at {positions[0]} and ends at {positions[-1]}",
                f"Expected the first position again at the end. {REPAIR}",
            )
        rings.append(positions)
    return shapely.Polygon(rings[0], rings[1:])


def _list(value: object, source: str, where: str) -> list[object]:
    if not isinstance(value, list):
        refuse(
            source,
            f"{where} has no list of coordinates",
            "Expected GeoJSON as in RFC 7946; export the file again",
        )
    if not value:
        refuse(
            source,
            f"{where} has an empty geometry",
            "Expected a point or a polygon; draw it or remove the feature",
        )
    return value


def _position(value: object, source: str, where: str, found: Shapes) -> tuple[float, float]:
    if not isinstance(value, list) or len(value) < 2:  # noqa: PLR2004 - x and y
        refuse(
            source,
            f"{where} holds {str(value)[:60]!r} where a position belongs",
            "Expected [longitude, latitude]",
        )
    found.has_z |= len(value) > 2  # noqa: PLR2004 - x and y
    return _number(value[0], source, where), _number(value[1], source, where)


def _number(value: object, source: str, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        refuse(source, f"{where} holds the coordinate {value!r}", "Expected a number; export the file again")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        refuse(
            source,
            f"{where} holds a coordinate that is not finite",
            "Expected a number; export the file again",
        )
    return number
