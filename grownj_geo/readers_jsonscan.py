"""GeoJSON gone through value by value, with a piece of it in memory: what it holds, and what GDAL would pass over.

Members count only where GeoJSON has them: a property may be named ``geometry`` or ``crs``, and hold whatever it likes.
"""

from __future__ import annotations

import json
import re
import reprlib
from dataclasses import dataclass
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, NoReturn

from grownj_geo.crs import parse_crs
from grownj_geo.errors import SiteError
from grownj_geo.features import LayerFault

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["UNNAMED", "JsonScan", "scan_geojson"]

UNNAMED = ""
"""Stands for the system of coordinates of which the file says nothing."""

_PIECE = 8 << 20
# GDAL's own limit is about twice as much; lists of lists take many times their text in memory.
_LONGEST = 100_000_000
# A number or a word that is cut off by the end of a piece is shorter than this.
_MARGIN = 32
_SHOWN = 40
_BLANK = re.compile(r"[ \t\r\n]*")
# How many lists deep the positions are.
_DEPTHS = {"Point": 0, "MultiPoint": 1, "LineString": 1, "MultiLineString": 2, "Polygon": 2, "MultiPolygon": 3}
_COLLECTION = "GeometryCollection"
_PAIR = 2
_MEMBERS = frozenset({"type", "features", "crs", "geometry", "geometryType"})
_OTHERS = {
    "gdal_streamed_alg": ("not_allowed", "a list of commands for GDAL"),
    "Topology": ("wrong_format", "TopoJSON"),
}


@dataclass(frozen=True)
class JsonScan:
    """What a GeoJSON file holds, counted in its text.

    Attributes
    ----------
    features, nulls, vertices
        Numbers of features, of those without geometry, and of positions in all geometries.
    crs
        The system that the file names; `UNNAMED` where it names none, None where it says that it is unknown.
    """

    features: int
    nulls: int
    vertices: int
    crs: str | None


def scan_geojson(path: Path, *, source: str) -> JsonScan:
    r"""Go through a file with one collection or one feature, in UTF-8.

    Parameters
    ----------
    path
        The file.
    source
        What messages call it.

    Raises
    ------
    LayerFault
        ``truncated``, ``unreadable`` (no JSON), ``wrong_format``, ``not_allowed``, ``broken_geometry`` or
        ``unknown_crs``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.geojson"
    >>> _ = path.write_text('{"type": "Feature", "properties": {"crs": null}, "geometry": null}')
    >>> scan_geojson(path, source="a.geojson")
    JsonScan(features=1, nulls=1, vertices=0, crs='')
    """
    try:
        return _scan(path, source)
    except RecursionError:
        raise LayerFault(
            "unreadable", f"{source} has values nested too deeply; expected GeoJSON. Repair it, or export it again."
        ) from None


def _scan(path: Path, source: str) -> JsonScan:
    with path.open(encoding="utf-8", newline="") as file:
        text = _Text(file, source)
        sign = text.peek()
        if not sign:
            raise LayerFault("truncated", f"{source} is empty; expected GeoJSON. Get or export it again.")
        if sign != "{":
            raise _no_geojson(source, f"begins with {sign!r}")
        count = _Count(source)
        about = _go_through(text, count)
        if text.peek():
            raise LayerFault(
                "wrong_format",
                f"{source} goes on after its end, about character {text.position:,}; expected one collection, or "
                "a Feature on each line. Export the layer again.",
            )
    if about.get("type") == "Feature":
        count.add(about)
        about.pop("crs", None)
    elif "features" not in about or about.get("type") != "FeatureCollection":
        raise _no_geojson(source, f"is of the type {_short(about.get('type'))}")
    return count.finish(about)


def _go_through(text: _Text, count: _Count) -> dict[str, Any]:
    """Count the features, and return the file's own members that say something of the whole."""
    about: dict[str, Any] = {}
    for name in text.members():
        if name in about:
            raise LayerFault(
                "wrong_format", f"{text.source} has the member {name!r} twice; expected it once. Export it again."
            )
        if name == "features" and text.peek() == "[":
            about[name] = None
            for one in text.elements():
                count.add(one)
            continue
        value = text.value()
        if name not in _MEMBERS:
            continue
        if name == "features":
            raise _no_geojson(text.source, f"has {_short(value)} for its features")
        if name == "type" and isinstance(value, str) and value in _OTHERS:
            fault, what = _OTHERS[value]
            raise LayerFault(fault, f"{text.source} is {what}; expected GeoJSON. Export the layer as GeoJSON.")
        if name == "geometryType" and str(value).startswith("esriGeometry"):
            raise _esri(text.source)
        about[name] = value
    return about


def _no_geojson(source: str, problem: str) -> LayerFault:
    return LayerFault(
        "wrong_format",
        f"{source} {problem}; expected a FeatureCollection, or a Feature on each line. Export the layer as GeoJSON.",
    )


def _esri(source: str) -> LayerFault:
    return LayerFault("wrong_format", f"{source} is Esri JSON; expected GeoJSON. Export the layer as GeoJSON.")


def _short(value: Any) -> str:  # noqa: ANN401 - whatever the file has
    return reprlib.repr(value)[:_SHOWN]


class _Text:
    """JSON text of which only a piece is held, read from its beginning to its end.

    The values are made by the standard library's own decoder; between the members of the file and the elements of
    its list of features, this goes on by itself.
    """

    def __init__(self, file: IO[str], source: str) -> None:
        self.source = source
        self._file = file
        self._piece = ""
        self._at = self._done = 0
        # What is no number in JSON, such as NaN, has not to look like one.
        self._decode = json.JSONDecoder(parse_constant=str).raw_decode

    @property
    def position(self) -> int:
        """Where it is, in characters counted from 1."""
        return self._done + self._at + 1

    def _more(self) -> bool:
        """Read on, at least as much as is held; return whether there was more."""
        held = len(self._piece) - self._at
        if held > _LONGEST:
            raise LayerFault(
                "unreadable",
                f"{self.source} has one value of more than {_LONGEST:,} characters, from character {self.position:,} "
                "on; expected shorter ones. Split the feature into its parts, and export it again.",
            )
        more = self._file.read(max(_PIECE, held))
        self._done += self._at
        self._piece, self._at = self._piece[self._at :] + more, 0
        return bool(more)

    def peek(self) -> str:
        """Return the next sign that is no blank, without going past it; nothing at the end."""
        while True:
            blank = _BLANK.match(self._piece, self._at)
            self._at = blank.end() if blank else self._at
            if self._at < len(self._piece):
                return self._piece[self._at]
            if not self._more():
                return ""

    def value(self) -> Any:  # noqa: ANN401 - any JSON
        """Return the next value."""
        self.peek()
        while True:
            try:
                value, end = self._decode(self._piece, self._at)
            except json.JSONDecodeError as error:
                # Only what is at the end of the piece, or a text without its end there, can be mended by more.
                cut = error.pos >= len(self._piece) - _MARGIN or self._piece[error.pos] == '"'
                if not (cut and self._more()):
                    self._fail(error.pos, error.msg, ended=cut)
            except ValueError as error:  # a number of thousands of digits
                self._fail(self._at, str(error), ended=False)
            else:
                # A number may go on in the next piece.
                if end < len(self._piece) or not self._more():
                    self._at = end
                    return value

    def members(self) -> Iterator[str]:
        """Yield the name of each member of an object; before the next one its value has to be taken."""
        self._at += 1
        if self._goes_on("}", first=True):
            while True:
                if self.peek() != '"':
                    self._fail(self._at, "Expected a member's name", ended=not self.peek())
                name = self.value()
                if self.peek() != ":":
                    self._fail(self._at, "Expected ':'", ended=not self.peek())
                self._at += 1
                yield str(name)
                if not self._goes_on("}"):
                    return

    def elements(self) -> Iterator[Any]:
        """Yield each value of a list."""
        self._at += 1
        if self._goes_on("]", first=True):
            yield self.value()
            while self._goes_on("]"):
                yield self.value()

    def _goes_on(self, closing: str, *, first: bool = False) -> bool:
        sign = self.peek()
        if sign == closing:
            self._at += 1
            return False
        if first:
            return True
        if sign != ",":
            self._fail(self._at, f"Expected ',' or {closing!r}", ended=not sign)
        self._at += 1
        return True

    def _fail(self, at: int, problem: str, *, ended: bool) -> NoReturn:
        if ended and not self._file.read(1):
            raise LayerFault(
                "truncated",
                f"{self.source} ends in the middle, after {self._done + len(self._piece):,} characters; expected the "
                "end of a GeoJSON file. Get it again, or export it again.",
            )
        near = self._piece[max(at - 10, 0) : at + 20]
        raise LayerFault(
            "unreadable",
            f"{self.source} is no JSON at character {self._done + at + 1:,}, near {near!r} ({problem}). "
            "Repair the file, or export it again.",
        )


class _Count:
    """Looks at each feature, and keeps account of what there is."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._features = self._nulls = self._vertices = 0
        # What features themselves name, as it stands, and what that means; some files name it for each of them.
        self._named: dict[str, str | None] = {}
        self._silent = False

    def add(self, one: Any) -> None:  # noqa: ANN401 - whatever the file has
        """Count one element of a collection."""
        self._features += 1
        if not isinstance(one, dict) or one.get("type") != "Feature":
            if isinstance(one, dict) and "attributes" in one:
                raise _esri(self._source)
            kind = one.get("type") if isinstance(one, dict) else one
            raise LayerFault(
                "wrong_format",
                f"{self._source}, row {self._features:,}: found {_short(kind)}; expected a Feature. "
                "Export the layer again.",
            )
        if "geometry" not in one:
            raise self._broken("it has no member 'geometry'")
        shape = one["geometry"]
        if shape is None:
            self._nulls += 1
        else:
            self._vertices += self._shape(shape)
        # The nearest to the coordinates counts.
        if isinstance(shape, dict) and "crs" in shape:
            self._name(shape["crs"])
        elif "crs" in one:
            self._name(one["crs"])
        else:
            self._silent = True

    def finish(self, about: dict[str, Any]) -> JsonScan:
        """Return what was counted, with the system that the file as a whole names."""
        whole = self._system(about["crs"]) if "crs" in about else UNNAMED
        found = set(self._named.values()) | ({whole} if self._silent or not self._named else set())
        if len(found) > 1:
            names = ", ".join(sorted("none" if n == UNNAMED else "an unknown one" if n is None else n for n in found))
            raise LayerFault(
                "unknown_crs",
                f"{self._source} names several coordinate systems ({names}); expected one for all features. "
                "Export it again in one.",
            )
        return JsonScan(self._features, self._nulls, self._vertices, found.pop())

    def _broken(self, problem: str) -> LayerFault:
        return LayerFault(
            "broken_geometry",
            f"{self._source}, row {self._features:,}: {problem}. Expected a GeoJSON geometry, or null: repair the "
            "file, or export it again.",
        )

    def _shape(self, shape: Any) -> int:  # noqa: ANN401 - whatever the file has
        """Return the number of positions, after looking at each: GDAL leaves out a ring with one that is no pair."""
        kind = shape.get("type") if isinstance(shape, dict) else shape
        if isinstance(shape, dict) and kind == _COLLECTION:
            parts = shape.get("geometries")
            if not isinstance(parts, list):
                raise self._broken(f"the geometries of its collection are {_short(parts)}")
            return sum(map(self._shape, parts))
        if not isinstance(shape, dict) or not isinstance(kind, str) or kind not in _DEPTHS:
            raise self._broken(f"its geometry is {_short(kind)}")
        coordinates = shape.get("coordinates")
        if not isinstance(coordinates, list):
            raise self._broken(f"its coordinates are {_short(coordinates)}")
        if not coordinates:
            return 0
        lists = [[coordinates]] if kind == "Point" else [coordinates]
        for _ in range(_DEPTHS[kind] - 1):
            lists = [part for one in lists for part in self._lists(one)]
        return sum(map(self._positions, lists))

    def _lists(self, values: list[Any]) -> list[Any]:
        for value in values:
            if not isinstance(value, list):
                raise self._broken(f"its coordinates have {_short(value)} in place of a ring or part")
        return values

    def _positions(self, values: list[Any]) -> int:
        """Return the number of positions, each of them a list of two numbers or more."""
        if not values:
            return 0
        # Passes over the whole list that run outside of Python: there may be millions.
        if (
            set(map(type, values)) == {list}
            and min(map(len, values)) >= _PAIR
            and set(map(type, chain.from_iterable(values))) <= {int, float}
        ):
            return len(values)
        bad = next(
            v for v in values if not isinstance(v, list) or len(v) < _PAIR or not set(map(type, v)) <= {int, float}
        )
        raise self._broken(f"its coordinates are not all pairs of numbers, as in {_short(bad)}")

    def _name(self, member: Any) -> None:  # noqa: ANN401 - whatever the file has
        key = json.dumps(member, sort_keys=True)
        if key not in self._named:
            self._named[key] = self._system(member)

    def _system(self, member: Any) -> str | None:  # noqa: ANN401 - whatever the file has
        """Return what a member ``crs`` names; null says that the system is unknown."""
        if member is None:
            return None
        properties = member.get("properties") if isinstance(member, dict) else None
        if not isinstance(properties, dict):
            raise LayerFault(
                "unknown_crs",
                f"{self._source} has {_short(member)} for its coordinate system; expected a named one, such as "
                '{"type": "name", "properties": {"name": "EPSG:3424"}}. Export it again.',
            )
        if member.get("type") == "link":
            raise LayerFault(
                "not_allowed",
                f"{self._source} has its coordinate system behind a link ({str(properties.get('href'))[:80]!r}), which "
                "is not followed. Export it again in longitude and latitude, or with a named system.",
            )
        typed = str(properties.get("name", properties.get("code", "")))
        try:
            return parse_crs(typed)
        except SiteError as error:
            message = f"{self._source} names its coordinate system {typed[:80]!r}. {error}"
            raise LayerFault("unknown_crs", message) from None
