"""GeoJSON and KML, gone through before GDAL reads them: it passes over rings and features that it cannot make out."""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.features import Change, Features, LayerFault
from grownj_geo.readers_gdal import Announced, list_layers, read_layer_of
from grownj_geo.readers_jsonscan import UNNAMED, scan_geojson

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["KmlLayers", "geojson_count", "kml_layers", "read_geojson", "read_kml"]

_CHUNK = 8 << 20
_LINE = 64 << 20
_SEPARATOR = b"\x1e"
_DRIVERS = ("GeoJSON",)
# Text that looks like a day stays text: so does a code of four digits, a hyphen and two.
_OPTIONS = {"DATE_AS_STRING": "YES", "ARRAY_AS_STRING": "YES"}

_FULL_CIRCLE = 360.0


def geojson_count(path: Path, *, source: str, scratch: Path, encoding: str | None = None) -> int:
    """Return how many features a GeoJSON file has, after going through it; the parameters are those of `read_geojson`.

    Raises
    ------
    LayerFault
        As `read_geojson`, but for what only reading shows.
    """
    return scan_geojson(_plain(path, source, scratch, encoding), source=source).features


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
        ``wrong_encoding``, or what `scan_geojson` or `read_layer_of` raises.
    """
    plain = _plain(path, source, scratch, encoding)
    scan = scan_geojson(plain, source=source)
    if not scan.features:
        raise LayerFault(
            "wrong_format",
            f"{source} has no features; expected a FeatureCollection or a Feature on each line. "
            "Export the layer again as GeoJSON.",
        )
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
    if crs == UNNAMED:
        # GeoJSON is in degrees, as its standard says; offices save feet in it all the same, and then do not say so.
        far = float(np.nanmax(np.abs(shapely.bounds(features.geometries)), initial=0.0)) > _FULL_CIRCLE
        crs = None if far else "OGC:CRS84"
    return Features(source, features.columns, features.geometries, crs, features.changes)


def _plain(path: Path, source: str, scratch: Path, encoding: str | None) -> Path:
    """Return the file, or a copy, as one collection or feature in UTF-8."""
    return _as_collection(_as_utf8(path, source, scratch, encoding), source, scratch)


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
