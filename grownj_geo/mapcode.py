"""What a map page holds, written so that it is small and can never run: bytes for geometry, escaped JSON for text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Attributes = list[tuple[str, str | None]]

__all__ = ["Texts", "coded_bytes", "coded_numbers", "coded_polygons", "content_policy", "script_json", "visible"]

_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_UNSAFE = re.compile("[<>&\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# Controls that show nothing, and those that turn the direction of what follows: their numbers are shown instead.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)
_SEVEN_BITS = 7
_MORE = 0x80


def script_json(value: object) -> str:
    r"""Return JSON that stays inside its script element whatever texts are in it, and turns no text's direction.

    Raises
    ------
    ValueError
        For a number that JSON does not have.

    Examples
    --------
    >>> print(script_json({"name": "</script><b>&"}))
    {"name":"\u003c/script\u003e\u003cb\u003e\u0026"}
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _UNSAFE.sub(lambda found: _ESCAPES.get(found.group()) or _number(found), text)


def visible(text: str) -> str:
    """Return text in which controls that hide, or that turn the direction of what follows, are told by number.

    Examples
    --------
    >>> visible("Elm" + chr(0x202E) + "Street"), visible("a" + chr(9) + "b")
    ('Elm⟨U+202E⟩Street', 'a b')
    """
    shown = _HIDDEN.sub(_number, text)
    return re.sub(r"[\t\r\n]+", " ", shown)


def _number(found: re.Match[str]) -> str:
    return f"⟨U+{ord(found.group()):04X}⟩"


@dataclass
class Texts:
    """Texts, each once, and the place that it has in their list."""

    listed: list[str] = field(default_factory=list)
    _places: dict[str, int] = field(default_factory=dict)

    def place(self, text: str | None) -> int:
        """Return the place of a text, which is added where it is new; -1 for none."""
        if not text:
            return -1
        found = self._places.get(text)
        if found is None:
            found = self._places[text] = len(self.listed)
            self.listed.append(visible(text))
        return found


def coded_bytes(values: NDArray[Any]) -> str:
    """Return small whole numbers, one byte each, as base64 text."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=np.uint8).tobytes()).decode("ascii")


def coded_numbers(values: NDArray[np.int64]) -> str:
    """Return whole numbers as base64 text of seven bits a byte, the sign in the lowest bit: small ones take little.

    Examples
    --------
    >>> coded_numbers(np.array([0, -1, 1, 64]))
    'AAECgAE='
    """
    plain = np.asarray(values, dtype=np.int64)
    zigzag = ((plain << 1) ^ (plain >> 63)).astype(np.uint64)
    widths = np.ones(len(zigzag), dtype=np.int64)
    most = int(zigzag.max(initial=0))
    for k in range(1, 10):
        if most >> (_SEVEN_BITS * k) == 0:
            break
        widths += zigzag >= np.uint64(1 << (_SEVEN_BITS * k))
    starts = np.cumsum(widths) - widths
    found = np.zeros(int(widths.sum()), dtype=np.uint8)
    for k in range(int(widths.max(initial=0))):
        has = widths > k
        part = (zigzag[has] >> np.uint64(_SEVEN_BITS * k)) & np.uint64(_MORE - 1)
        found[starts[has] + k] = part.astype(np.uint8) | np.where(widths[has] > k + 1, _MORE, 0).astype(np.uint8)
    return base64.b64encode(found.tobytes()).decode("ascii")


def coded_polygons(areas: Sequence[shapely.Geometry], *, per_degree: float) -> str:
    """Return polygons as the page reads them: counts of parts, rings and points, then steps from point to point.

    Parameters
    ----------
    areas
        Polygons and multipolygons in degrees, longitude first.
    per_degree
        How many steps a degree has.
    """
    parts, of_area = shapely.get_parts(np.asarray(areas, dtype=object), return_index=True)
    polygons = (shapely.get_type_id(parts) == shapely.GeometryType.POLYGON) & ~shapely.is_empty(parts)
    parts, of_area = parts[polygons], of_area[polygons]
    rings, of_part = shapely.get_rings(parts, return_index=True)
    xy, of_ring = shapely.get_coordinates(rings, return_index=True)
    # The last point of a ring is its first again.
    last = np.append(of_ring[1:] != of_ring[:-1], True) if len(of_ring) else np.empty(0, dtype=bool)
    xy, of_ring = xy[~last], of_ring[~last]
    steps = np.diff(np.rint(xy * per_degree).astype(np.int64), axis=0, prepend=np.zeros((1, 2), dtype=np.int64))
    points_in_ring = np.bincount(of_ring, minlength=len(rings))
    # A number for each count stands before what it counts: places are found by how much comes before.
    ring_first = np.append(0, np.cumsum(points_in_ring))[:-1] * 2
    new_part = np.append(True, of_part[1:] != of_part[:-1]) if len(of_part) else np.empty(0, dtype=bool)
    rings_in_part = np.bincount(of_part, minlength=len(parts))
    parts_in_area = np.bincount(of_area, minlength=len(areas))
    before_ring = np.arange(len(rings)) + np.cumsum(new_part)
    area_of_ring = of_area[of_part]
    ring_at = ring_first + before_ring + area_of_ring + 1
    total = 2 * len(xy) + len(rings) + len(parts) + len(areas)
    found = np.zeros(total, dtype=np.int64)
    filled = np.zeros(total, dtype=bool)

    def put(places: NDArray[np.int64], values: NDArray[np.int64]) -> None:
        found[places] = values
        filled[places] = True

    if len(rings):
        put(ring_at, points_in_ring)
        put(ring_at[new_part] - 1, rings_in_part)
        of_point = ring_at[of_ring] + 1 + 2 * (np.arange(len(xy)) - (ring_first // 2)[of_ring])
        put(of_point, steps[:, 0])
        put(of_point + 1, steps[:, 1])
    # What is left are the areas' own counts, in order.
    found[~filled] = parts_in_area
    return coded_numbers(found)


class _Parts(HTMLParser):
    """Collects what stands in a page's script and style elements, as a browser reads it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self._into: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        kind = dict(attrs).get("type")
        if tag == "script" and kind in {None, "text/javascript"}:
            self._into = self.scripts
        elif tag == "style":
            self._into = self.styles
        else:
            self._into = None
        if self._into is not None:
            self._into.append("")

    def handle_data(self, data: str) -> None:
        if self._into is not None:
            self._into[-1] += data

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - the parser's own name
        self._into = None


def content_policy(page: str, *, pictures: Sequence[str] = ()) -> str:
    """Return the Content-Security-Policy that lets just this page's own scripts and styles run, by their checksums.

    Parameters
    ----------
    page
        The whole page.
    pictures
        Addresses from which pictures may come.
    """
    parts = _Parts()
    parts.feed(page)
    parts.close()

    def marks(texts: Sequence[str]) -> str:
        digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii") for text in texts)
        return " ".join(f"'sha256-{digest}'" for digest in dict.fromkeys(digests)) or "'none'"

    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {marks(parts.scripts)}",
            f"style-src {marks(parts.styles)}",
            f"img-src {' '.join(('data:', *pictures))}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
