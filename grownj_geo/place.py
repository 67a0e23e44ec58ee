"""In which municipality a site lies, and how surely: by its lines, or by what outranks them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import shapely

from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from numpy.typing import NDArray

    from grownj_geo.atlas import Atlas
    from grownj_geo.layer import Layer
    from grownj_geo.sitetable import SiteTable

__all__ = [
    "NOWHERE",
    "OFFSHORE_LIMIT_FT",
    "UNKNOWN",
    "Placement",
    "PlacementKind",
    "municipalities_by_code",
    "place_sites",
    "said_limit_ft",
]

OFFSHORE_LIMIT_FT = 1_000.0
"""A site outside every municipal polygon but this near to one may be on a pier, in water or in another State (A32)."""

NOWHERE, UNKNOWN = -1, -2
"""Candidates that are no municipality: outside all of them, and not to be told."""

_HALF = 0.5
# Less ground than this is what the last bits of an overlay leave over.
_NO_GROUND_SQFT = 1e-3


class PlacementKind(StrEnum):
    """How a site's municipality is known."""

    CERTAIN = "certain"
    SEVERAL = "several"
    UNCERTAIN = "uncertain"
    OFFSHORE = "offshore"
    OUTSIDE = "outside"
    UNKNOWN = "unknown"


@dataclass(frozen=True, eq=False)
class Placement:
    """The municipalities of n sites.

    Attributes
    ----------
    codes
        All municipal codes that candidates refer to.
    kinds
        How each site's municipality is known, n of them.
    candidates
        For all sites one after the other: positions in `codes`, the likeliest first, or the two markers
        for "none of them" and "not to be told". At least one for each site.
    starts
        Where each site's candidates begin, shape (n,).
    shares
        Share of the site's area in each candidate; 1 for a point's first.
    neighbours
        By site: codes of other municipalities whose line is within the layer's accuracy, with feet.
    distances_ft
        By site: feet to each candidate that the site is not in, for sites off the shore.
    outside
        By site: share of a polygon in no municipality, shape (n,); 0 where that keeps within the lines' accuracy,
        NaN for a point.
    """

    codes: tuple[str, ...]
    kinds: tuple[PlacementKind, ...]
    candidates: NDArray[np.int64]
    starts: NDArray[np.int64]
    shares: NDArray[np.float64]
    neighbours: tuple[tuple[tuple[str, float], ...], ...]
    distances_ft: tuple[tuple[float, ...], ...]
    outside: NDArray[np.float64]

    def _part(self, site: int) -> slice:
        end = self.starts[site + 1] if site + 1 < len(self.starts) else len(self.candidates)
        return slice(self.starts[site], end)

    def row(self, site: int) -> Placement:
        """Return one site's municipalities as a placement of its own."""
        part, one = self._part(site), slice(site, site + 1)
        return Placement(
            self.codes,
            self.kinds[one],
            self.candidates[part],
            np.zeros(1, dtype=np.int64),
            self.shares[part],
            self.neighbours[one],
            self.distances_ft[one],
            self.outside[one],
        )

    def codes_of(self, site: int) -> list[str]:
        """Return the candidate codes of one site, the likeliest first."""
        return [self.codes[c] for c in self.candidates[self._part(site)] if c >= 0]

    def shares_of(self, site: int) -> list[float]:
        """Return the share of the site in each of its candidates, in the order of `codes_of`."""
        part = self._part(site)
        return [float(s) for c, s in zip(self.candidates[part], self.shares[part], strict=True) if c >= 0]

    def may_be_nowhere(self, site: int) -> bool:
        """Return whether one site, or a part of it that counts, may lie in no municipality."""
        return NOWHERE in self.candidates[self._part(site)]


@dataclass
class _Found:
    kind: PlacementKind
    candidates: list[int]
    shares: list[float]
    neighbours: tuple[tuple[str, float], ...] = ()
    distances: tuple[float, ...] = ()
    outside: float = np.nan


def said_limit_ft(uncertainty_ft: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far from the municipality that is said of it each of n places may lie, in feet, shape (n,).

    As far as a pier may, and farther by what the place may be off.
    """
    return OFFSHORE_LIMIT_FT + uncertainty_ft


def place_sites(atlas: Atlas, sites: SiteTable) -> Placement:
    """Find the municipality of each site.

    The covering polygon decides; a parcel number outranks it, and the user's statement chooses where it leaves
    room. A point on a shared line goes to the lower code and has the other as a neighbour. With an uncertainty in
    feet, every municipality within it is a candidate. Off the shore none is certain (ambiguities A17 and A32):
    neither for a point nor for a polygon that lies there for the most part.

    Parameters
    ----------
    atlas
        Its layer `municipalities` is used; where that is unusable, sites without a stated code are unknown.
    sites
        The sites.
    """
    layer = atlas.layer("municipalities")
    if layer is None:
        codes = tuple(sorted({code for code in sites.mun_codes if code}))
        index = {code: i for i, code in enumerate(codes)}
        return _gather(codes, [_stated(index, code) for code in sites.mun_codes])
    features, codes, index = municipalities_by_code(layer, atlas.as_of)
    found: list[_Found | None] = [
        None if placed else _stated(index, code) for code, placed in zip(sites.mun_codes, sites.placed, strict=True)
    ]
    open_rows = np.flatnonzero(sites.placed)
    points = sites.points
    for row, result in _place_points(layer, features, sites, open_rows[points[open_rows]]):
        found[row] = result
    for row in open_rows[~points[open_rows]]:
        found[int(row)] = _place_polygon(layer, features, sites.geometries[row], float(sites.uncertainty_ft[row]))
    for i in open_rows.tolist():
        code, by_lines = sites.mun_codes[i], found[i]
        if code in index and by_lines is not None:
            by_pin = sites.by_pin is None or bool(sites.by_pin[i])
            found[i] = _with_word(by_lines, index[code], codes, by_pin=by_pin, point=bool(points[i]))
    return _gather(codes, [f for f in found if f is not None])


def _with_word(by_lines: _Found, said: int, codes: tuple[str, ...], *, by_pin: bool, point: bool) -> _Found:
    """Return where a site lies once a parcel number or the user says its municipality.

    A parcel number outranks the lines; only land that lies mostly outside every municipality it cannot bring in. A
    statement chooses among what the lines leave open, and never says that a place in water or abroad is in the State.
    """
    known = _Found(PlacementKind.CERTAIN, [said], [1.0])
    if by_pin:
        return known if point or by_lines.kind not in {PlacementKind.OFFSHORE, PlacementKind.OUTSIDE} else by_lines
    near = {code for code, _ in by_lines.neighbours}
    if by_lines.kind is PlacementKind.UNCERTAIN and said in by_lines.candidates:
        return known
    return known if by_lines.kind is PlacementKind.CERTAIN and codes[said] in near else by_lines


_Sorted = tuple["NDArray[np.int64]", tuple[str, ...], dict[str, int]]
# Of layers that are in use only: an atlas that nobody holds any more takes its layers along.
_sorted: WeakKeyDictionary[Layer, dict[date, _Sorted]] = WeakKeyDictionary()


def municipalities_by_code(layer: Layer, as_of: date) -> _Sorted:
    """Return the municipalities of a day in order of their codes, so that ties go to the lower code."""
    found = _sorted.setdefault(layer, {})
    if as_of not in found:
        features = layer.select(as_of=as_of)
        features = features[np.argsort([layer.key(int(i)) for i in features], kind="stable")]
        codes = tuple(layer.key(int(i)) for i in features)
        found[as_of] = features, codes, {code: i for i, code in enumerate(codes)}
    return found[as_of]


def _stated(index: dict[str, int], code: str) -> _Found:
    if code in index:
        return _Found(PlacementKind.CERTAIN, [index[code]], [1.0])
    return _Found(PlacementKind.UNKNOWN, [UNKNOWN], [np.nan])


def _gather(codes: tuple[str, ...], found: list[_Found]) -> Placement:
    lengths = np.array([len(f.candidates) for f in found], dtype=np.int64)
    return Placement(
        codes,
        tuple(f.kind for f in found),
        np.array([c for f in found for c in f.candidates], dtype=np.int64),
        np.cumsum(lengths) - lengths,
        np.array([s for f in found for s in f.shares], dtype=np.float64),
        tuple(f.neighbours for f in found),
        tuple(f.distances for f in found),
        np.array([f.outside for f in found], dtype=np.float64),
    )


def _place_points(
    layer: Layer, features: NDArray[np.int64], sites: SiteTable, rows: NDArray[np.int64]
) -> list[tuple[int, _Found]]:
    accuracy = layer.manifest.accuracy_ft or 0.0
    places = sites.geometries[rows]
    slack = sites.uncertainty_ft[rows]
    covering: list[list[int]] = [[] for _ in rows]
    near: list[list[tuple[int, float]]] = [[] for _ in rows]
    every = np.arange(len(rows))
    _look_around(layer, features, places, every, np.maximum(slack, accuracy), covering, near)
    bare = np.array([i for i in every if not covering[i]], dtype=np.int64)
    for i in bare:
        near[i].clear()
    _look_around(layer, features, places, bare, np.maximum(slack, OFFSHORE_LIMIT_FT), covering, near)
    result = []
    for i, row in enumerate(rows):
        others = sorted(near[i], key=lambda pair: (pair[1], pair[0]))
        found = _decide_point(layer, features, covering[i], others, float(slack[i]), accuracy)
        if covering[i] and slack[i] > accuracy:
            found = _perhaps_nowhere(layer, features, found, places[i], float(slack[i]))
        result.append((int(row), found))
    return result


def _look_around(  # noqa: PLR0917 - arrays that belong together
    layer: Layer,
    features: NDArray[np.int64],
    places: NDArray[np.object_],
    rows: NDArray[np.int64],
    reach_ft: NDArray[np.float64],
    covering: list[list[int]],
    near: list[list[tuple[int, float]]],
) -> None:
    """Add, for some of the points, the municipalities that cover them and the others within reach."""
    if not len(rows):
        return
    x, y = shapely.get_x(places), shapely.get_y(places)
    reach = reach_ft / FT_PER_FTUS
    boxes = layer.bounds[features]
    r = reach[rows]
    least, most = (x[rows] - r).min(), (x[rows] + r).max()
    lowest, highest = (y[rows] - r).min(), (y[rows] + r).max()
    # One site meets a handful of the 565 boxes.
    met = (boxes[:, 0] <= most) & (boxes[:, 2] >= least) & (boxes[:, 1] <= highest) & (boxes[:, 3] >= lowest)
    for position in map(int, np.flatnonzero(met)):
        x0, y0, x1, y1 = boxes[position]
        feature = features[position]
        hit = rows[(x[rows] >= x0 - r) & (x[rows] <= x1 + r) & (y[rows] >= y0 - r) & (y[rows] <= y1 + r)]
        if not len(hit):
            continue
        area = layer.geometry(int(feature))
        inside = shapely.intersects_xy(area, x[hit], y[hit])
        for i in hit[inside]:
            covering[i].append(position)
        outside = hit[~inside]
        outside = outside[shapely.dwithin(area, places[outside], reach[outside])]
        for i, away in zip(outside, shapely.distance(area, places[outside]), strict=True):
            near[i].append((position, float(away) * FT_PER_FTUS))


def _perhaps_nowhere(
    layer: Layer, features: NDArray[np.int64], found: _Found, place: shapely.Geometry, slack_ft: float
) -> _Found:
    """Make a place uncertain that, known to so many feet, may lie outside every municipality: in water, or abroad."""
    ground = shapely.union_all([layer.geometry(int(features[p])) for p in found.candidates])
    # A disc around it would be drawn with corners, and a little too small.
    away_ft = float(shapely.distance(shapely.boundary(ground), place)) * FT_PER_FTUS
    if away_ft >= slack_ft and shapely.covers(ground, place):
        return found
    return replace(
        found,
        kind=PlacementKind.UNCERTAIN,
        candidates=[*found.candidates, NOWHERE],
        shares=[*found.shares, 0.0],
    )


def _decide_point(  # noqa: PLR0917 - what was found, in order
    layer: Layer,
    features: NDArray[np.int64],
    covering: list[int],
    others: list[tuple[int, float]],
    slack: float,
    accuracy: float,
) -> _Found:
    if not covering:
        limit = max(slack, OFFSHORE_LIMIT_FT)
        reachable = [(p, d) for p, d in others if d <= limit]
        if not reachable:
            return _Found(PlacementKind.OUTSIDE, [NOWHERE], [np.nan])
        places = [p for p, _ in reachable]
        return _Found(
            PlacementKind.OFFSHORE,
            [*places, NOWHERE],
            [0.0] * (len(places) + 1),
            distances=tuple(d for _, d in reachable),
        )
    first, *ties = covering
    possible = ties + [p for p, d in others if d <= slack]
    neighbours = tuple(
        (layer.key(int(features[p])), d) for p, d in [*((t, 0.0) for t in ties), *others] if d <= accuracy
    )
    if slack > 0 and possible:
        shares = [1.0] + [0.0] * len(possible)
        return _Found(PlacementKind.UNCERTAIN, [first, *possible], shares, neighbours)
    return _Found(PlacementKind.CERTAIN, [first], [1.0], neighbours)


def _place_polygon(layer: Layer, features: NDArray[np.int64], site: shapely.Geometry, slack: float) -> _Found:
    accuracy = layer.manifest.accuracy_ft or 0.0
    reach = max(slack, OFFSHORE_LIMIT_FT) / FT_PER_FTUS
    x0, y0, x1, y1 = site.bounds
    boxes = layer.bounds[features]
    close = np.flatnonzero(
        (boxes[:, 0] <= x1 + reach)
        & (boxes[:, 2] >= x0 - reach)
        & (boxes[:, 1] <= y1 + reach)
        & (boxes[:, 3] >= y0 - reach)
    )
    whole = float(shapely.area(site))
    parts: list[tuple[int, float, shapely.Geometry]] = []
    others: list[tuple[int, float]] = []
    for position in close:
        area = layer.geometry(int(features[position]))
        part = shapely.intersection(area, site)
        if shapely.area(part) > 0:
            parts.append((int(position), float(shapely.area(part)) / whole, part))
        else:
            away = float(shapely.distance(area, site)) * FT_PER_FTUS
            if away <= reach * FT_PER_FTUS:
                others.append((int(position), away))
    others.sort(key=lambda pair: (pair[1], pair[0]))
    if not parts:
        return replace(_decide_point(layer, features, [], others, slack, accuracy), outside=1.0)
    parts.sort(key=lambda part: (-part[1], part[0]))
    main = layer.geometry(int(features[parts[0][0]]))
    real = [parts[0]]
    slivers: list[tuple[int, float, shapely.Geometry]] = []
    for part in parts[1:]:
        # A part that keeps within the accuracy of the main municipality's line may be no part at all.
        (real if _reaches_beyond(part[2], [main], accuracy) else slivers).append(part)
    neighbours = tuple(
        (layer.key(int(features[p])), d) for p, d in [*((s[0], 0.0) for s in slivers), *others] if d <= accuracy
    )
    municipalities = [layer.geometry(int(features[p])) for p in [*(p[0] for p in parts), *(o[0] for o in others)]]
    rest = shapely.difference(site, shapely.union_all([part[2] for part in parts]))
    outside = float(shapely.area(rest)) / whole if _reaches_beyond(rest, municipalities, accuracy) else 0.0
    codes, shares = [p[0] for p in real], [p[1] for p in real]
    if outside > _HALF:
        # The polygon's line is on land, the polygon is not (A32).
        return _Found(PlacementKind.OFFSHORE, [*codes, NOWHERE], [*shares, outside], neighbours, outside=outside)
    if outside and _reaches_beyond(rest, municipalities, OFFSHORE_LIMIT_FT):
        return _Found(PlacementKind.SEVERAL, [*codes, NOWHERE], [*shares, outside], neighbours, outside=outside)
    if len(real) > 1:
        return _Found(PlacementKind.SEVERAL, codes, shares, neighbours, outside=outside)
    possible = [s[0] for s in slivers] + [p for p, d in others if d <= slack]
    kind = PlacementKind.UNCERTAIN if slack > 0 and possible else PlacementKind.CERTAIN
    if kind is PlacementKind.UNCERTAIN:
        codes, shares = [*codes, *possible], [*shares, *[0.0] * len(possible)]
    found = _Found(kind, codes, shares, neighbours, outside=outside)
    return _perhaps_nowhere(layer, features, found, site, slack) if slack > accuracy else found


def _reaches_beyond(part: shapely.Geometry, areas: Sequence[shapely.Geometry], limit_ft: float) -> bool:
    """Return whether any of a part of a site lies farther than so many feet from all of some areas."""
    if shapely.area(part) <= _NO_GROUND_SQFT:
        return False
    reach = limit_ft / FT_PER_FTUS
    # One corner beyond is enough, and quickly looked for; that there is no such corner proves nothing.
    corners = np.asarray(shapely.points(shapely.get_coordinates(shapely.convex_hull(part))))
    for area in areas:
        corners = corners[~shapely.dwithin(area, corners, reach)]
    if len(corners):
        return True
    for area in areas:
        if shapely.area(part) <= _NO_GROUND_SQFT:
            return False
        # What lies farther than twice the reach from the part has no say, and municipalities have many corners.
        x0, y0, x1, y1 = part.bounds
        near = shapely.clip_by_rect(area, x0 - 2 * reach, y0 - 2 * reach, x1 + 2 * reach, y1 + 2 * reach)
        if not near.is_empty:
            part = shapely.difference(part, shapely.buffer(near, reach, quad_segs=32))
    return bool(shapely.area(part) > _NO_GROUND_SQFT)
