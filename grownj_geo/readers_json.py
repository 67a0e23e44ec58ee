"""GeoJSON and KML, gone through before GDAL reads them: it passes over rings and features that it cannot make out."""

from __future__ import annotations

import codecs
import json
import mmap
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.crs import parse_crs
from grownj_geo.errors import SiteError
from grownj_geo.features import Change, Features, LayerFault
from grownj_geo.readers_gdal import Announced, list_layers, read_layer_of

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["KmlLayers", "geojson_count", "kml_layers", "read_geojson", "read_kml"]

_CHUNK = 8 << 20
_LINE = 64 << 20
_SEPARATOR = b"\x1e"
_DRIVERS = ("GeoJSON",)
# Text that looks like a day stays text: so does a code of four digits, a hyphen and two.
_OPTIONS = {"DATE_AS_STRING": "YES", "ARRAY_AS_STRING": "YES"}

# None of these can begin inside a text: there the quotes are written with a backslash before them.
_FEATURE = re.compile(rb'"type"\s*:\s*"Feature"')
_COLLECTION = re.compile(rb'"type"\s*:\s*"FeatureCollection"')
_NULL = re.compile(rb'"geometry"\s*:\s*null')
_COORDINATES = re.compile(rb'"coordinates"\s*:\s*(\[[][0-9.eE+\-,\s]*)(.?)', re.DOTALL)
_POSITION = re.compile(rb"\[\s*[-+.0-9]")
_SHORT_POSITION = re.compile(rb"\[\s*[-+.0-9eE]+\s*\]")
_UNNAMED = ""
_FULL_CIRCLE = 360.0
_CRS = re.compile(rb'"crs"\s*:\s*(?=\{|null)')
_NOT_GEOJSON = {
    "gdal_streamed_alg": ("not_allowed", "a list of commands for GDAL"),
    "Topology": ("wrong_format", "TopoJSON"),
    "esriGeometry": ("wrong_format", "Esri JSON"),
}


@dataclass(frozen=True)
class _Scan:
    """What a GeoJSON file holds, counted in its text."""

    features: int
    nulls: int
    vertices: int
    crs: str | None


def geojson_count(path: Path, *, source: str) -> int:
    """Return how many features a GeoJSON file has.

    Raises
    ------
    LayerFault
        ``wrong_format`` or ``not_allowed``, where it is other JSON.
    """
    return _scan(path, source).features


def read_geojson(path: Path, *, source: str, scratch: Path, encoding: str | None = None) -> Features:
    """Read a GeoJSON file: one collection, one feature, or a feature on each line.

    Coordinates are in the system that the file's ``crs`` names, and else in ``"OGC:CRS84"``, or, where they are too
    large for degrees, in one that is not declared. Text stays text, also
    where it looks like a day or a number; numbers in a field that elsewhere has text become text.

    Parameters
    ----------
    path
        The file.
    source
        What messages call it.
    scratch
        A folder for a copy, where one is needed.
    encoding
        What the file is in; UTF-8 where nothing is said, as the format has it.

    Raises
    ------
    LayerFault
        ``wrong_encoding``, ``wrong_format``, ``not_allowed``, ``broken_geometry``, ``unknown_crs``, ``truncated``, or
        what `read_layer_of` raises.
    """
    plain = _as_utf8(path, source, scratch, encoding)
    scan = _scan(plain, source)
    if not scan.features:
        raise LayerFault(
            "wrong_format",
            f"{source} has no features; expected a FeatureCollection or a Feature on each line. "
            "Export the layer again as GeoJSON.",
        )
    plain = _as_collection(plain, source, scratch)
    features = read_layer_of(
        # The driver's own prefix: no other driver is asked.
        f"GeoJSON:{plain}",
        layer=None,
        source=source,
        drivers=_DRIVERS,
        announced=Announced(scan.features, scan.nulls, scan.vertices),
        options=_OPTIONS,
    )
    crs = scan.crs
    if crs == _UNNAMED:
        # GeoJSON is in degrees, as its standard says; offices save feet in it all the same, and then do not say so.
        far = float(np.nanmax(np.abs(shapely.bounds(features.geometries)), initial=0.0)) > _FULL_CIRCLE
        crs = None if far else "OGC:CRS84"
    return Features(source, features.columns, features.geometries, crs, features.changes)


def _as_utf8(path: Path, source: str, scratch: Path, encoding: str | None) -> Path:
    """Return the file, or a copy in UTF-8 without a byte order mark."""
    try:
        codec = codecs.lookup(encoding or "utf-8").name
    except LookupError:
        raise LayerFault("wrong_encoding", f"The encoding {encoding!r} is not known; name one such as utf-8.") from None
    with path.open("rb") as file:
        head = file.read(4)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in head:
        if encoding is None:
            raise LayerFault(
                "wrong_encoding",
                f"{source} is in UTF-16 or UTF-32; GeoJSON is UTF-8. Save it as UTF-8, or name the encoding.",
            )
    elif codec == "utf-8" and not head.startswith(codecs.BOM_UTF8):
        _check_utf8(path, source)
        return path
    copy = scratch / "utf8.geojson"
    if codec == "utf-8":
        codec = "utf-8-sig"
    try:
        with path.open(encoding=codec, newline="") as file, copy.open("w", encoding="utf-8", newline="") as out:
            while chunk := file.read(_CHUNK):
                out.write(chunk)
    except UnicodeError as error:
        raise _no_text(source, codec, str(error)) from None
    return copy


def _no_text(source: str, codec: str, problem: str) -> LayerFault:
    return LayerFault(
        "wrong_encoding",
        f"{source} is no text in {codec} ({problem}). Save it as UTF-8, or name its encoding, such as cp1252.",
    )


def _check_utf8(path: Path, source: str) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        done = 0
        while chunk := file.read(_CHUNK):
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                raise _no_text(source, "UTF-8", f"about byte {done + error.start + 1:,}") from None
            done += len(chunk)


def _as_collection(path: Path, source: str, scratch: Path) -> Path:
    """Return the file, or a copy as one collection where each line is a feature."""
    with path.open("rb") as file:
        first = b""
        while not first:
            line = file.readline(_LINE)
            if not line:
                return path
            first = line.strip()
        separated = first.startswith(_SEPARATOR)
        if not separated and not _is_record(first, source, more=bool(file.read(_CHUNK).strip())):
            return path
        copy = scratch / "collection.geojson"
        file.seek(0)
        with copy.open("wb") as out:
            out.write(b'{"type":"FeatureCollection","features":[')
            glue = b""
            for piece in file:
                line = piece.strip()
                # After a separator, a record may go over several lines.
                begins = line.startswith(_SEPARATOR) or not separated
                line = line.lstrip(_SEPARATOR)
                if line:
                    out.write((glue if begins else b"") + line + b"\n")
                    glue = b","
            out.write(b"]}")
    return copy


def _is_record(line: bytes, source: str, *, more: bool) -> bool:
    """Return whether a first line is a feature by itself, with more of them to follow."""
    try:
        one = json.loads(line)
    except ValueError:
        return False
    if not isinstance(one, dict) or not more:
        return False
    if one.get("type") != "Feature":
        raise LayerFault(
            "wrong_format",
            f"{source}, row 1: the line is a {str(one.get('type'))[:40]!r}; expected a Feature on each line. "
            "Export the layer again.",
        )
    return True


def _scan(path: Path, source: str) -> _Scan:
    if not path.stat().st_size:
        raise LayerFault("truncated", f"{source} is empty; expected GeoJSON. Get or export it again.")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        features = sum(1 for _ in _FEATURE.finditer(text))
        if not features and _COLLECTION.search(text) is None:
            raise _other_json(source, text[:_CHUNK])
        for word, (fault, what) in _NOT_GEOJSON.items():
            if re.search(rb'"type"\s*:\s*"' + word.encode() + rb'"', text[:_CHUNK]):
                raise LayerFault(fault, f"{source} is {what}; expected GeoJSON. Export the layer as GeoJSON.")
        nulls = sum(1 for _ in _NULL.finditer(text))
        vertices = _vertices(source, text)
        crs = _crs(source, text)
    return _Scan(features, nulls, vertices, crs)


def _other_json(source: str, head: bytes) -> LayerFault:
    for word, (fault, what) in _NOT_GEOJSON.items():
        if word.encode() in head:
            return LayerFault(fault, f"{source} is {what}; expected GeoJSON. Export the layer as GeoJSON.")
    return LayerFault("wrong_format", f"{source} has no GeoJSON features. Export the layer as GeoJSON.")


def _vertices(source: str, text: mmap.mmap) -> int:
    """Return the number of positions, after looking at each: GDAL leaves out a ring with one that is not in numbers."""
    count = 0
    for number, found in enumerate(_COORDINATES.finditer(text), 1):
        numbers, after = found.groups()
        short = _SHORT_POSITION.search(numbers)
        if short is not None or numbers.count(b"[") != numbers.count(b"]") or after not in b"},":
            near = short[0] if short else numbers[-30:] + after
            raise LayerFault(
                "broken_geometry" if after else "truncated",
                f"{source}: the coordinates of geometry {number:,} are not all pairs of numbers, near "
                f"{near.decode('utf-8', 'replace')!r}. Repair the file, or export it again.",
            )
        count += len(_POSITION.findall(numbers))
    return count


def _crs(source: str, text: mmap.mmap) -> str | None:
    """Return the system that the file names, `_UNNAMED` where it names none, None where it names it unknown."""
    named: set[str | None] = set()
    for found in _CRS.finditer(text):
        piece = text[found.end() : found.end() + 4096].decode("utf-8", "ignore")
        try:
            member, _ = json.JSONDecoder().raw_decode(piece)
        except ValueError:
            continue  # the file as a whole is read by GDAL next, which refuses what is not JSON
        if member is None:
            named.add(None)
        elif isinstance(member.get("properties"), dict):
            named.add(_named(source, member.get("type"), member["properties"]))
    if len(named) > 1:
        raise LayerFault(
            "unknown_crs",
            f"{source} names several systems ({', '.join(sorted(map(str, named)))}); expected one. Export it again.",
        )
    return named.pop() if named else _UNNAMED


def _named(source: str, kind: Any, properties: dict[str, Any]) -> str:  # noqa: ANN401 - whatever the file has
    if kind == "link":
        raise LayerFault(
            "not_allowed",
            f"{source} has its coordinate system behind a link ({str(properties.get('href'))[:80]!r}), which is not "
            "followed. Export it again in longitude and latitude, or with a named system.",
        )
    typed = str(properties.get("name", properties.get("code", "")))
    try:
        return parse_crs(typed)
    except SiteError as error:
        raise LayerFault("unknown_crs", f"{source} names its coordinate system {typed[:80]!r}. {error}") from None


@dataclass(frozen=True)
class KmlLayers:
    """The folders of a KML file that have features, and what is known of the whole file.

    Attributes
    ----------
    layers
        Name, GDAL's geometry type, number of features.
    links
        Number of links to other files, which are not followed.
    """

    layers: list[tuple[str, str | None, int]]
    links: int


# Not the driver KML, which knows names and descriptions only: all other attributes would be missing.
_KML_DRIVERS = ("LIBKML",)
_TUPLES = re.compile(r"\s*(?:[-+]?[0-9.]+(?:[eE][-+]?\d+)?(?:,[-+]?[0-9.]+(?:[eE][-+]?\d+)?){1,2}(?:\s+|$))*")
# Fields that GDAL adds for what KML can say of any place, with the value that means nothing was said.
_ADDED = {
    "id": None, "description": None, "timestamp": None, "begin": None, "end": None, "altitudeMode": None,
    "tessellate": -1, "extrude": 0, "visibility": -1, "drawOrder": None, "icon": None, "snippet": None,
}  # fmt: skip


class _KmlScan:
    """Goes through KML by its tags: well formed, without a document type, coordinates in numbers."""

    def __init__(self, source: str) -> None:
        from xml.parsers import expat  # noqa: PLC0415 - for KML only

        self.source = source
        self.placemarks = self.links = 0
        self.root: str | None = None
        self.text: list[str] | None = None
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.data
        # Entities are declared in a document type: without one, nothing can grow or be fetched.
        parser.StartDoctypeDeclHandler = self.doctype
        self.parser, self.error = parser, expat.ExpatError

    def run(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                self.parser.ParseFile(file)
        except self.error as error:
            fault = "truncated" if self.root == "kml" else "wrong_format"
            raise LayerFault(
                fault, f"{self.source} is no whole KML ({error}). Get it again, or export it again as KML."
            ) from None

    def doctype(self, *_: object) -> None:
        raise LayerFault(
            "not_allowed",
            f"{self.source} declares a document type, by which a small file can grow without end or fetch others. "
            "Expected plain KML: export it again.",
        )

    def start(self, name: str, _: object) -> None:
        tag = name.rsplit(":", 1)[-1]
        if self.root is None:
            self.root = tag
            if tag != "kml":
                raise LayerFault(
                    "wrong_format", f"{self.source} is XML that begins with <{name}>; expected <kml>. Export it as KML."
                )
        self.placemarks += tag == "Placemark"
        self.links += tag == "NetworkLink"
        if tag == "coordinates":
            self.text = []

    def data(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)

    def end(self, name: str) -> None:
        if name.rsplit(":", 1)[-1] == "coordinates" and self.text is not None:
            typed, self.text = "".join(self.text), None
            if not _TUPLES.fullmatch(typed):
                raise LayerFault(
                    "broken_geometry",
                    f"{self.source}, placemark {self.placemarks:,}: coordinates are not all numbers, in "
                    f"{' '.join(typed.split())[:80]!r}. Expected longitude,latitude pairs: repair the file.",
                )


def kml_layers(path: Path, *, source: str) -> KmlLayers:
    """Return the folders of a KML file that have features, after going through it.

    Raises
    ------
    LayerFault
        ``truncated``, ``wrong_format``, ``not_allowed``, ``broken_geometry`` or ``unreadable``.
    """
    scan = _KmlScan(source)
    scan.run(path)
    layers = [layer for layer in list_layers(str(path), source=source, drivers=_KML_DRIVERS) if layer[2]]
    total = sum(count for _, _, count in layers)
    if total != scan.placemarks:
        raise LayerFault(
            "unreadable",
            f"{source} has {scan.placemarks:,} placemarks, of which {total:,} could be read. "
            "Expected placemarks in folders or in the document: export it again.",
        )
    return KmlLayers(layers, scan.links)


def read_kml(path: Path, *, layer: str, source: str, links: int) -> Features:
    """Read one folder of a KML file that `kml_layers` has listed; its coordinates are in ``"OGC:CRS84"``."""
    features = read_layer_of(str(path), layer=layer, source=source, drivers=_KML_DRIVERS, announced=Announced())
    columns = {
        name: values
        for name, values in features.columns.items()
        if name not in _ADDED or any(value is not None and value != _ADDED[name] for value in values)
    }
    changes = features.changes
    if links:
        words = f"{links:,} links to other files were not followed: what they show is not here."
        changes = (*changes, Change(kind="links_not_followed", effect="left_out", count=links, words=words))
    return Features(source, columns, features.geometries, "OGC:CRS84", changes)
