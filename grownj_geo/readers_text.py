"""Tables as text: comma- or tab-separated files with coordinates, with well-known text, or without geometry."""

from __future__ import annotations

import codecs
import csv
import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import shapely

from grownj_geo.features import Change, Features, LayerFault

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["COORDINATE_FIELDS", "WKT_FIELDS", "read_text", "text_kind"]

COORDINATE_FIELDS = (
    ("longitude", "latitude"),
    ("long", "lat"),
    ("lon", "lat"),
    ("lng", "lat"),
    ("lon_dd", "lat_dd"),
    ("intptlon", "intptlat"),
    ("stop_lon", "stop_lat"),
    ("point_x", "point_y"),
    ("xcoord", "ycoord"),
    ("x_coord", "y_coord"),
    ("coord_x", "coord_y"),
    ("easting", "northing"),
    ("x", "y"),
)
"""Names of columns of coordinates, x before y, in any capitals; the first pair that is there counts."""

_DEGREES = COORDINATE_FIELDS[:7]
_FULL_CIRCLE = 360.0

WKT_FIELDS = ("wkt", "geometry", "geom", "the_geom", "wkt_geom", "geometry_wkt", "geom_wkt", "shape_wkt", "shape")
"""Names of a column of well-known text, in any capitals."""

_DELIMITERS = (",", "\t", ";", "|")
_HEAD = 1 << 16
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_WKT = re.compile(
    r"\s*(?:SRID=(?P<srid>\d+);)?\s*(?P<text>(?:MULTI)?(?:POINT|LINESTRING|POLYGON|GEOMETRYCOLLECTION)\b.*)",
    re.IGNORECASE | re.DOTALL,
)
# A row may be one polygon of many vertices.
_LONGEST_CELL = min(sys.maxsize, 2**31 - 1)


class _Text(NamedTuple):
    header: list[str]
    rows: list[list[str]]
    open_end: bool


def text_kind(path: Path, *, source: str, encoding: str | None = None) -> str:
    """Return what a table of text holds: ``"point"``, ``"mixed"`` (well-known text) or ``"table"``.

    Raises
    ------
    LayerFault
        As `read_text`.
    """
    codec, _ = _codec(path, source, encoding)
    with path.open(encoding=codec, newline="") as file:
        head = file.read(_HEAD)
    names = [
        name.strip().casefold() for name in next(csv.reader([head.split("\n")[0]], delimiter=_delimiter(head)), [])
    ]
    if _WKT.search(head) and any(name in names for name in WKT_FIELDS):
        return "mixed"
    return "point" if any(x in names and y in names for x, y in COORDINATE_FIELDS) else "table"


def read_text(path: Path, *, source: str, kind: str | None = None, encoding: str | None = None) -> Features:
    """Read a table of text; every value stays the text that it was, empty where nothing stands.

    The delimiter is the one that the first line has most of: comma, tab, semicolon or bar. The text is UTF-8, or
    UTF-16 with its byte order mark; where it can be neither, it is read as Windows-1252, and that is told.

    Geometry is taken from a column of well-known text (`WKT_FIELDS`), else from two of coordinates
    (`COORDINATE_FIELDS`), else there is none. No coordinate system is declared, except by an ``SRID=3424;`` before
    well-known text.

    Parameters
    ----------
    path
        The file.
    source
        What messages call it.
    kind
        ``"table"`` to look for no geometry.
    encoding
        What the text is in.

    Raises
    ------
    LayerFault
        ``wrong_encoding``, ``truncated``, ``ragged_rows``, ``duplicate_fields``, ``wrong_format``,
        ``bad_coordinates``, ``broken_geometry`` or ``unknown_crs``.
    """
    codec, guessed = _codec(path, source, encoding)
    text = _rows(path, source, codec)
    changes: list[Change] = []
    if guessed:
        words = "The text was read as Windows-1252: it is no UTF-8. Name the encoding if that is wrong."
        changes.append(Change(kind="encoding_taken", effect="noted", count=len(text.rows), words=words))
    if text.open_end:
        words = "The last line has no line end: if the file was cut off just there, that cannot be seen."
        changes.append(Change(kind="open_last_line", effect="noted", count=1, words=words))
    names = _names(source, text.header)
    columns: dict[str, list[Any]] = {name: [row[i] for row in text.rows] for i, name in enumerate(names)}
    shapes: NDArray[Any] = np.full(len(text.rows), None, dtype=object)
    crs = None
    if kind != "table":
        shapes, crs, told = _geometry(source, columns, len(text.rows))
        changes += told
    return Features(source, columns, shapes, crs, tuple(changes))


def _codec(path: Path, source: str, encoding: str | None) -> tuple[str, bool]:
    """Return the codec that the whole file can be read with, and whether it was guessed."""
    with path.open("rb") as file:
        head = file.read(4)
    if encoding is not None:
        try:
            tries = [codecs.lookup(encoding).name]
        except LookupError:
            raise LayerFault(
                "wrong_encoding", f"The encoding {encoding!r} is not known; name one such as cp1252."
            ) from None
        tries = ["utf-8-sig"] if tries == ["utf-8"] else tries
    elif head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        tries = ["utf-16"]
    else:
        tries = ["utf-8-sig", "cp1252"]
    if head.startswith(b"PK\x03\x04"):
        raise LayerFault(
            "wrong_format",
            f"{source} is a zip archive or an Excel workbook and no text. Give it its own ending (.zip), or save the "
            "workbook as CSV in UTF-8.",
        )
    problem = ""
    for codec in tries:
        try:
            with path.open(encoding=codec, newline="") as file:
                zero = False
                while chunk := file.read(_HEAD):
                    zero = zero or "\0" in chunk
        except UnicodeError as error:
            problem = str(error)
            continue
        if not zero:
            return codec, codec == "cp1252" and encoding is None
        problem = "it has zero bytes"
    raise LayerFault(
        "wrong_encoding",
        f"{source} is no text in {' or '.join(tries)} ({problem}). Save it as UTF-8, or name its encoding.",
    )


def _delimiter(head: str) -> str:
    first = head.split("\n", 1)[0]
    return max(_DELIMITERS, key=first.count)


def _rows(path: Path, source: str, codec: str) -> _Text:
    with path.open(encoding=codec, newline="") as file:
        head = file.read(_HEAD)
    if not head.strip():
        raise LayerFault("truncated", f"{source} is empty; expected a line of field names and rows. Export it again.")
    if head.lstrip()[:1] in {"{", "<"} or head.startswith("PK"):
        raise LayerFault(
            "wrong_format",
            f"{source} begins with {head.lstrip()[:20]!r}; expected a table of text. Give the file its right ending.",
        )
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        with path.open(encoding=codec, newline="") as file:
            last = _LastSign()
            rows = list(csv.reader(last.watch(file), delimiter=_delimiter(head), strict=True))
    except csv.Error as error:
        fault = "truncated" if "unexpected end" in str(error) else "wrong_format"
        raise LayerFault(
            fault, f"{source} is no well-formed table of text ({error}). Expected quotes in pairs: export it again."
        ) from None
    finally:
        csv.field_size_limit(before)
    header, body = rows[0], rows[1:]
    kept = [row for row in body if row]
    for number, row in enumerate(kept, 1):
        if len(row) != len(header):
            cut = number == len(kept) and last.open and len(row) < len(header)
            raise LayerFault(
                "truncated" if cut else "ragged_rows",
                f"{source}, row {number}: {len(row)} values; expected {len(header)}, as the first line has names. "
                + ("The file looks cut off: get it again." if cut else "Put quotes around values with the delimiter."),
            )
    return _Text(header, kept, last.open)


class _LastSign:
    """Watches whether the last line of a file ends."""

    def __init__(self) -> None:
        self.open = False

    def watch(self, lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            self.open = not line.endswith(("\n", "\r"))
            yield line


def _names(source: str, header: list[str]) -> list[str]:
    names = [name.strip() for name in header]
    twice = sorted({name for name in names if names.count(name) > 1 and name})
    if twice or "" in names:
        found = f"two fields named {', '.join(twice)}" if twice else "a field without a name"
        raise LayerFault(
            "duplicate_fields", f"{source} has {found}; expected a name for each, once. Correct the first line."
        )
    return names


def _geometry(source: str, columns: dict[str, list[Any]], count: int) -> tuple[NDArray[Any], str | None, list[Change]]:
    by_name = {name.casefold(): name for name in columns}
    for name in WKT_FIELDS:
        if name in by_name and _is_wkt(columns[by_name[name]]):
            shapes, crs, changes = _from_wkt(source, by_name[name], columns[by_name[name]])
            return shapes, crs, [_taken(f"{by_name[name]} (well-known text)", count), *changes]
    for x, y in COORDINATE_FIELDS:
        if x in by_name and y in by_name:
            shapes = _points(source, by_name[x], columns[by_name[x]], by_name[y], columns[by_name[y]])
            # Columns of longitude and latitude say what they are, unless their numbers say otherwise.
            farthest = float(np.nanmax(np.abs(shapely.bounds(shapes)), initial=0.0))
            degrees = (x, y) in _DEGREES and farthest <= _FULL_CIRCLE
            return shapes, "OGC:CRS84" if degrees else None, [_taken(f"{by_name[x]} (x) and {by_name[y]} (y)", count)]
    return np.full(count, None, dtype=object), None, []


def _taken(columns: str, count: int) -> Change:
    return Change(kind="geometry_columns", effect="noted", count=count, words=f"Geometry was taken from {columns}.")


def _is_wkt(values: list[str]) -> bool:
    first = next((value for value in values if value.strip()), "")
    return _WKT.fullmatch(first) is not None


def _from_wkt(source: str, name: str, values: list[str]) -> tuple[NDArray[Any], str | None, list[Change]]:
    shapes: NDArray[Any] = np.full(len(values), None, dtype=object)
    systems: set[str] = set()
    high: list[int] = []
    for i, value in enumerate(values):
        if not value.strip():
            continue
        found = _WKT.fullmatch(value)
        try:
            shape = shapely.from_wkt(found["text"]) if found is not None else None
        except shapely.errors.ShapelyError:
            shape = None
        if shape is None or found is None:
            raise LayerFault(
                "broken_geometry",
                f"{source}, row {i + 1}: {name} is {value[:60]!r}, which cannot be read as well-known text. "
                "Expected such as POLYGON ((0 0, 1 0, 1 1, 0 0)): export it again.",
            )
        systems.add(found["srid"] or "")
        if shape.has_z or " M " in found["text"][:40].upper() or " ZM" in found["text"][:40].upper():
            high.append(i + 1)
        shapes[i] = shapely.force_2d(shape)
    if len(systems) > 1:
        raise LayerFault(
            "unknown_crs",
            f"{source}: {name} names several systems (SRID {', '.join(sorted(systems))}); expected one for all rows.",
        )
    srid = systems.pop() if systems else ""
    words = "Heights (Z) or measures (M) were left out: everything is measured in the plane."
    changes = [Change.about("z_dropped", "changed", high, words)] if high else []
    return shapes, f"EPSG:{int(srid)}" if srid and int(srid) else None, changes


def _points(source: str, x_name: str, xs: list[str], y_name: str, ys: list[str]) -> NDArray[Any]:
    shapes: NDArray[Any] = np.full(len(xs), None, dtype=object)
    for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
        if not x.strip() and not y.strip():
            continue
        for name, typed in ((x_name, x), (y_name, y)):
            if _NUMBER.fullmatch(typed.strip()) is None:
                raise LayerFault(
                    "bad_coordinates",
                    f"{source}, row {i + 1}: {name} is {typed[:40]!r}; expected a number such as -74.1641. "
                    "Correct the row, or leave both coordinates empty.",
                )
        shapes[i] = shapely.Point(float(x), float(y))
    return shapes
