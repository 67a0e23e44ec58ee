"""From what the user typed to a site: coordinates, WKT, GeoJSON, a parcel number, or a municipality.

Nothing is fetched, and nothing is opened but a GeoJSON file, which is read as plain JSON. Addresses, and the outlines
of parcels, are the business of `finder`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import shapely

from grownj_geo.coordinates import parse_coordinates
from grownj_geo.crs import LONLAT, Misfit, agreed_crs, misfit, parse_crs, plain_text
from grownj_geo.errors import NoPlaceError, OutsideNewJerseyError, SiteError
from grownj_geo.geojson import (
    MAX_BYTES,
    REPAIR,
    Shapes,
    gather,
    member_crs,
    parse_geojson,
    read_text,
    refuse,
)
from grownj_geo.pins import Pin, find_municipality, looks_like_pin, match_municipality, parse_pins
from grownj_geo.site import Site
from grownj_geo.units import to_working_geometry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

__all__ = ["MunicipalDirectory", "find_municipality", "locate", "locate_file"]

_SLIVER_SQFT = 1.0
_WKT = re.compile(
    r"\s*(?:SRID\s*=\s*(?P<srid>[0-9]+)\s*;)?\s*(?P<kind>POINT|POLYGON|MULTIPOLYGON|MULTIPOINT|LINESTRING|MULTILINESTRING|"
    r"GEOMETRYCOLLECTION|LINEARRING|CIRCULARSTRING|CURVEPOLYGON|TRIANGLE|TIN)\s*(?:ZM|Z|M)?\s*(?:\(|EMPTY)",
    re.IGNORECASE,
)
_COORDINATE_WORD = re.compile(r"\bLAT|\bLON|\bNAN\b|\bINF", re.IGNORECASE)
_HEMISPHERE = re.compile(r"[NSEW]\b", re.IGNORECASE)
_LIKE_A_FILE = re.compile(
    r".*[^\s.]\.(?:csv|tsv|txt|xlsx?|xlsm|ods|(?:geo)?parquet|gpkg|gdb|shp|shz|zip|kml|kmz|gml|jsonl|ndjson|dbf|dxf|pdf)",
    re.IGNORECASE,
)
_MAX_TYPED = 10_000
_MAX_WKT = 5_000_000
_HELP = (
    "An address cannot be looked up here. Give coordinates (40.7344,-74.1641), a parcel number "
    '(0408_81_1), a GeoJSON file or WKT; or --municipality "Camden City" where only the municipality is known'
)


class MunicipalDirectory(Protocol):
    """Which municipalities there are, as in ``{"0408": ("Camden City", "Camden")}``."""

    @property
    def names(self) -> Mapping[str, tuple[str, str]]:
        """Treasury code to (name, county)."""
        ...


@dataclass(frozen=True)
class _Place:
    located_by: str
    geometry: shapely.Geometry | None = None
    pins: tuple[Pin, ...] = ()
    pin_decides: bool = True
    notes: tuple[str, ...] = ()


# GeoJSON


def _geojson(text: str, source: str, crs: str | None, directory: MunicipalDirectory, located_by: str) -> _Place:
    document = parse_geojson(text, source)
    system, notes = agreed_crs(crs, member_crs(document, source), source)
    found = gather(document, source)
    geometry, more = _assembled(found, source, system)
    pins, decides, pin_notes = _pins_of(found.pins, directory)
    return _Place(located_by, geometry, pins, decides, (*notes, *more, *pin_notes))


def _pins_of(
    typed: Sequence[str | None], directory: MunicipalDirectory
) -> tuple[tuple[Pin, ...], bool, tuple[str, ...]]:
    """Return the parcels named by features, whether they settle the municipality, and notes."""
    pins: dict[Pin, None] = {}
    notes: list[str] = []
    complete = True
    for text in typed:
        if text is None:
            complete = False
            continue
        try:
            read, _ = parse_pins(text, directory)
        except SiteError as error:
            complete = False
            notes.append(f"A feature's PAMS_PIN was not used. {error}")
        else:
            pins.update(dict.fromkeys(read))
    if not pins:
        return (), False, tuple(notes)
    listed = ", ".join(map(str, pins))
    if not complete:
        return (
            tuple(pins),
            False,
            (*notes, f"Some features name parcels ({listed}), others do not: the map decides."),
        )
    codes = {p.mun_code for p in pins}
    if len(codes) > 1:
        named = "; ".join(directory.names[c][0] for c in sorted(codes))
        return tuple(pins), False, (*notes, f"The parcels ({listed}) are in several municipalities: {named}.")
    name = directory.names[codes.pop()][0]
    return tuple(pins), True, (*notes, f"The municipality, {name}, was taken from PAMS_PIN ({listed}).")


# Geometry in its own coordinates, to one geometry in EPSG:3424


def _check_box(geometry: shapely.Geometry, source: str, crs: str) -> None:
    xy = np.asarray(shapely.get_coordinates(geometry), dtype=np.float64)
    problem = misfit(xy, crs)
    if problem is None:
        return
    if problem.kind == "outside":
        raise OutsideNewJerseyError(f"{source}: {problem.hint}. Expected a place in New Jersey; check the coordinates.")
    refuse(source, problem.hint, _remedy(problem, geometry, crs))


def _remedy(problem: Misfit, geometry: shapely.Geometry, crs: str) -> str:
    if problem.kind == "swapped":
        swapped = shapely.to_wkt(shapely.transform(geometry, lambda c: c[:, ::-1]), rounding_precision=9)
        order = "longitude (x) comes first" if crs in LONLAT else "x (east) comes first"
        shown = f"; if this is the site, give: {swapped}" if len(swapped) < 300 else ""  # noqa: PLR2004 - one screen
        return f"Expected coordinates in the order in which {order}. Swap them{shown}"
    if problem.kind == "sign":
        return "Expected negative longitudes, as in [-74.1641, 40.7344]. Put the minus sign in and try again"
    return "Expected longitude and latitude in degrees, or the right --crs"


def _invalid(geometry: shapely.Geometry) -> str | None:
    if geometry.is_valid:
        return None
    reason, _, at = str(shapely.is_valid_reason(geometry)).rstrip("]").partition("[")
    return f"the geometry is not valid: {reason.lower()}" + (f" at {at.replace(' ', ', ')}" if at else "")


def _assemble(found: Shapes, source: str, crs: str) -> tuple[shapely.Geometry, tuple[str, ...]]:
    """Return one geometry in EPSG:3424 from the points or polygons found, and notes."""
    crs = "EPSG:4269" if crs in LONLAT else crs
    if found.points and found.polygons:
        refuse(source, "it holds points and polygons together", "Expected one point or polygons; keep one kind")
    if len(found.points) > 1:
        refuse(source, f"it holds {len(found.points)} points", "Expected one; check several sites one at a time")
    shapes = [*found.points, *found.polygons]
    for shape in shapes:
        _check_box(shape, source, crs)
        wrong = _invalid(shape)
        if wrong:
            refuse(source, wrong, REPAIR)
    notes = ["Z (or M) values were dropped: sites are two-dimensional."] if found.has_z else []
    if len(shapes) == 1:
        geometry = to_working_geometry(shapes[0], crs=crs)
    else:
        geometry = to_working_geometry(shapely.union_all(shapes), crs=crs)
        total = sum(float(to_working_geometry(s, crs=crs).area) for s in shapes)
        overlap = total - float(geometry.area)
        pieces = int(shapely.get_num_geometries(geometry))
        how = f"in {pieces} pieces that lie apart" if pieces > 1 else "which touch and make one piece"
        if overlap > _SLIVER_SQFT:
            how += f", and overlap by {overlap:,.0f} square feet, counted once"
        notes.append(f"{len(shapes)} polygons were taken as one site, {how}.")
    wrong = _invalid(geometry)
    if wrong:
        refuse(source, f"after projection {wrong}", REPAIR)
    if len(shapes) == 1 and geometry.geom_type == "MultiPolygon" and len(geometry.geoms) > 1:
        notes.append(f"{len(geometry.geoms)} polygons were taken as one site.")
    return geometry, tuple(notes)


def _assembled(found: Shapes, source: str, crs: str) -> tuple[shapely.Geometry, tuple[str, ...]]:
    try:
        return _assemble(found, source, crs)
    except SiteError:
        raise
    except ValueError as error:
        refuse(source, f"its outline is too long: {error}", "Expected one site; simplify its outline in a GIS")


def _wkt(text: str, crs: str | None) -> _Place:
    head = _WKT.match(text)
    source = f"The WKT was read as {text[:80]!r}"
    if head is None or head["kind"].upper() not in {"POINT", "POLYGON", "MULTIPOLYGON"}:
        refuse(
            source,
            "it is no point or polygon",
            "Expected POINT, POLYGON or MULTIPOLYGON, as in POINT (-74.16 40.73)",
        )
    try:
        with np.errstate(all="ignore"):
            shape = shapely.from_wkt(text[text.index(";") + 1 :] if head["srid"] else text)
    except shapely.errors.ShapelyError as error:
        refuse(
            source,
            f"it is not complete ({error})",
            "Expected WKT such as POINT (-74.1641 40.7344), rings closed",
        )
    if shape.is_empty:
        refuse(source, "its geometry is empty", "Expected coordinates, as in POINT (-74.1641 40.7344)")
    found = Shapes(has_z=int(shapely.get_coordinate_dimension(shape)) > 2)  # noqa: PLR2004 - x and y
    (found.points if shape.geom_type == "Point" else found.polygons).append(shapely.force_2d(shape))
    system, notes = agreed_crs(crs, parse_crs(head["srid"]) if head["srid"] else None, source)
    geometry, more = _assembled(found, source, system)
    return _Place("WKT", geometry, notes=(*notes, *more))


# Files


def _refuse_virtual(text: str) -> None:
    if text.lower().lstrip("'\"/\\ ").startswith("vsi") and text.lstrip("'\" ")[:1] in {"/", "\\"}:
        refuse(
            f"The site was read as {text[:80]!r}",
            "GDAL virtual paths are never opened",
            "Give a plain GeoJSON file",
        )
    if "://" in text:
        refuse(
            f"The site was read as {text[:80]!r}",
            "addresses on the web are never opened",
            "Download the file first",
        )


def _file_place(path: str | PathLike[str], crs: str | None, directory: MunicipalDirectory) -> _Place:
    _refuse_virtual(str(path))
    source = f"The file {str(path)!r}"
    return _geojson(read_text(Path(path), source), source, crs, directory, "GeoJSON file")


def _is_file(text: str) -> bool:
    try:
        return len(text) < 4096 and Path(text).exists()  # noqa: PLR2004 - longest path
    except (OSError, ValueError):
        return False


def _refuse_other_file(raw: str, plain: str) -> None:
    """Refuse a file that is no GeoJSON, and what ends like a file and is none: it is no address that is misspelt."""
    if _is_file(raw):
        refuse(
            f"The site was read as the file {raw!r}",
            "it is not GeoJSON",
            "Export it as GeoJSON, with .geojson at the end",
        )
    if _LIKE_A_FILE.fullmatch(plain):
        refuse(
            f"The site was read as the name of a file, {raw!r}",
            "there is no such file",
            "Expected one that is there; mind the spelling and the folder",
        )


# Dispatch


def _refuse_crs(crs: str | None, what: str) -> None:
    if crs is not None:
        refuse(
            f"--crs {crs} was given with {what} alone",
            "a CRS belongs to coordinates, and there are none",
            "Expected coordinates in that system; give them, or leave --crs out",
        )


def _coordinate_like(plain: str) -> bool:
    """Return whether text without letters, or with the letters and words of coordinates."""
    if not re.search("[A-Z]", plain, re.IGNORECASE) or _COORDINATE_WORD.search(plain):
        return True
    digit = re.search("[0-9]", plain)
    return digit is not None and _HEMISPHERE.search(plain, digit.end()) is not None


def _check_length(text: str | None, what: str, expected: str) -> None:
    if text is not None and len(text) > _MAX_TYPED:
        refuse(
            f"{what} was read as {text[:80]!r} and so on",
            f"it is {len(text):,} characters long; at most {_MAX_TYPED:,} are read",
            expected,
        )


def _place(text: str, crs: str | None, directory: MunicipalDirectory, *, files: bool) -> _Place:  # noqa: C901 - by form
    text = text.strip()
    plain = plain_text(text[:_MAX_TYPED])
    if plain.startswith("{"):
        if len(text) > MAX_BYTES:
            refuse("The GeoJSON text", "it is larger than 50 MB", "Expected one site; give only its features")
        return _geojson(text.strip("\ufeff \t\r\n"), "The GeoJSON text", crs, directory, "GeoJSON text")
    _refuse_virtual(plain)
    if _WKT.match(plain):
        if len(text) > _MAX_WKT:
            refuse("The WKT", "it is larger than 5 MB", "Expected one site; give a simpler outline, or a GeoJSON file")
        return _wkt(plain_text(text), crs)
    _check_length(text, "The site", "Expected one place; give a long outline as GeoJSON or WKT")
    raw = text.strip()
    if plain.lower().endswith((".geojson", ".json")):
        if not files:
            refuse(f"The site was read as {text[:80]!r}", "files are not opened here", "Give the place itself")
        return _file_place(raw if _is_file(raw) else plain, crs, directory)
    # Where files are not opened, nobody may learn either which of them there are.
    if files:
        _refuse_other_file(raw, plain)
    if looks_like_pin(plain):
        pins, notes = parse_pins(plain, directory)
        _refuse_crs(crs, "a parcel number")
        return _Place("parcel number (PAMS_PIN)", None, pins, notes=notes)
    if not _coordinate_like(plain):
        raise _no_place(text)
    try:
        at = parse_coordinates(text, crs=crs)
    except OutsideNewJerseyError:
        raise
    except SiteError as error:
        if re.search(r"[A-Za-z]{3}", plain) and "is not part of a coordinate" in str(error):
            raise _no_place(text) from error
        raise
    return _Place(f"coordinates, {at.order}", shapely.Point(at.x, at.y), notes=at.notes)


def _no_place(text: str) -> NoPlaceError:
    return NoPlaceError(f"The site was read as {text[:80]!r}: that is no place that can be read. {_HELP}.")


def _site(
    typed: str,
    place: _Place,
    *,
    uncertainty_ft: float,
    pin: str | None,
    municipality: str | None,
    directory: MunicipalDirectory,
) -> Site:
    """Put place, parcel and stated municipality together, or say how they disagree."""
    pins, decides, notes = place.pins, place.pin_decides, list(place.notes)
    if pin is not None:
        stated, more = parse_pins(pin, directory)
        if pins and set(stated) != set(pins):
            raise SiteError(
                f"The site names the parcels {', '.join(map(str, pins))}, "
                f"and --pin names {', '.join(map(str, stated))}. "
                "Expected the same parcels; give them once."
            )
        pins, decides = stated, True
        notes += more
    mun_code = pins[0].mun_code if pins and decides else None
    basis = "pin" if mun_code else None
    if municipality is not None:
        code, more = match_municipality(municipality, directory)
        notes += more
        other = next((p for p in pins if p.mun_code != code), None)
        if other is not None:
            raise SiteError(
                f"The parcel number {other} is in {directory.names[other.mun_code][0]}, "
                f"and the municipality was stated as {directory.names[code][0]} ({code}). "
                "Expected one municipality; correct either."
            )
        mun_code, basis = code, basis or "stated"
    return Site(
        typed=typed,
        located_by=place.located_by,
        geometry=place.geometry,
        uncertainty_ft=uncertainty_ft,
        mun_code=mun_code,
        mun_basis=basis,
        pins=tuple(map(str, pins)),
        notes=tuple(dict.fromkeys(notes)),
    )


def locate(
    text: str,
    *,
    crs: str | None = None,
    uncertainty_ft: float = 0.0,
    pin: str | None = None,
    municipality: str | None = None,
    directory: MunicipalDirectory,
    files: bool = True,
) -> Site:
    """Make a site from what the user typed.

    Parameters
    ----------
    text
        Coordinates, WKT, GeoJSON text, the path of a GeoJSON file, or parcel numbers (PAMS_PIN). May be empty
        where `pin` or `municipality` is given: then the municipality is known and the place is not.
    crs
        What the coordinates are in, as in ``"EPSG:3424"``; longitude and latitude unless given. Refused where
        there are no coordinates.
    uncertainty_ft
        How far the true place may be from the one given, in feet.
    pin
        Parcel numbers of the site. Their municipality outranks the map's and must agree with `municipality`.
    municipality
        Name or code, as stated by the user.
    directory
        Which municipalities there are.
    files
        Whether the text may name a file of this machine. Not where the text comes from somebody else.

    Raises
    ------
    OutsideNewJerseyError
        Where the place is understood and plainly not in New Jersey.
    NoPlaceError
        For words, which may be an address: `finder` looks such up.
    SiteError
        For everything else that cannot be read without guessing.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> directory = SimpleNamespace(names={"0408": ("Camden City", "Camden")})
    >>> locate("0408_81_1.10", directory=directory).mun_code
    '0408'
    >>> locate("40.7344, -74.1641", directory=directory).located_by
    'coordinates, latitude first'
    """
    _check_length(pin, "The parcel number", "Expected the parcels of one site; give fewer, or the site's outline")
    _check_length(municipality, "The municipality", 'Expected a name or a code, as in "Camden City" or "0408"')
    empty = not (text.strip() and plain_text(text[:_MAX_TYPED]))
    if not empty:
        place = _place(text, crs, directory, files=files)
    elif pin is not None:
        _refuse_crs(crs, "a parcel number")
        place = _Place("parcel number (PAMS_PIN)")
    elif municipality is not None:
        _refuse_crs(crs, "a municipality")
        place = _Place("municipality as stated")
    else:
        refuse(f"The site was read as {text!r}, which is empty", "there is nothing to check", _HELP)
    typed = (pin or municipality or "") if empty else text
    return _site(typed, place, uncertainty_ft=uncertainty_ft, pin=pin, municipality=municipality, directory=directory)


def locate_file(
    path: str | PathLike[str],
    *,
    crs: str | None = None,
    uncertainty_ft: float = 0.0,
    pin: str | None = None,
    municipality: str | None = None,
    directory: MunicipalDirectory,
) -> Site:
    """Make a site from a GeoJSON file, whatever its name ends with; see `locate` for the rest.

    Parameters
    ----------
    path
        A file of at most 50 MB, in UTF-8. Several polygons are one site; several points are refused.
    crs, uncertainty_ft, pin, municipality, directory
        As for `locate`.
    """
    place = _file_place(path, crs, directory)
    return _site(
        str(path),
        place,
        uncertainty_ft=uncertainty_ft,
        pin=pin,
        municipality=municipality,
        directory=directory,
    )
