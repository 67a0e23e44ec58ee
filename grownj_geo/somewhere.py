"""Sites of which only the municipality is known: what is so at every place in it, and at none.

Such a site is a point or a parcel of any size, somewhere in the municipality's polygon, or as far beyond its line as
the line may be off. Off the shore it may be a pier, so water near the polygon that is in no other one counts too. What
is measured holds for every such place: a share is all or nothing, or not known; a distance is the least and the
greatest of them all. Areas are never compared, for a corner too small to matter to a municipality is a whole parcel.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import shapely

from grownj_geo.areadistance import near_and_far
from grownj_geo.observe import MARGIN_LIMIT_FT, ground_near, is_small, measure_coverage, measure_distance
from grownj_geo.place import OFFSHORE_LIMIT_FT, municipalities_by_code
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from datetime import date

    from numpy.typing import NDArray

    from grownj_geo.atlas import Atlas
    from grownj_geo.layer import Layer
    from grownj_geo.observe import Coverage, Distance
    from grownj_geo.sitetable import SiteTable

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

__all__ = ["Somewhere"]

_MOST_CORNERS = 200
"""Corners of a municipality that are looked at first: one of them outside decides most that is open."""
_MANY = 30
"""From so many municipalities on it pays to look first which are near the outline of the State."""
_SIMPLER = 20.0
"""How far, in US survey feet, a simpler line may be from the true one."""
_PLANAR_ERROR = 2e-4
"""Distances in EPSG:3424 are off by half of this at most inside New Jersey."""
_LEAST_WATER_SQFT = 1.0
"""Less than this is what the last bits of an overlay leave over."""


@dataclass(frozen=True, eq=False)
class _Municipality:
    """Where a site of a municipality can be: the area and its line in EPSG:3424, both prepared."""

    area: shapely.Geometry
    line: shapely.Geometry
    corners: Floats

    @classmethod
    def of(cls, area: shapely.Geometry, line: shapely.Geometry) -> _Municipality:
        """Return the area with some of its corners."""
        corners = shapely.get_coordinates(area)
        return cls(area, line, corners[:: max(1, len(corners) // _MOST_CORNERS)])


@dataclass(frozen=True)
class _Covered:
    """How features lie to every place: share 0 or 1 or NaN, the least margin of any in feet, the feature."""

    share: float
    margin_ft: float
    feature: int


_OPEN = _Covered(np.nan, np.nan, -1)


@dataclass(eq=False)
class _Known:
    """What was worked out of the municipalities of a day, by municipality; of features how near and far each is."""

    municipalities: dict[str, _Municipality] = field(default_factory=dict)
    covered: WeakKeyDictionary[Layer, dict[tuple[bytes, bytes], dict[str, _Covered]]] = field(
        default_factory=WeakKeyDictionary
    )
    apart: WeakKeyDictionary[Layer, dict[str, Floats]] = field(default_factory=WeakKeyDictionary)


# Of layers that are in use only: an atlas that nobody holds any more takes its layers along.
_known: WeakKeyDictionary[Layer, dict[date, _Known]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Somewhere:
    """A table of sites, measured with those of which only the municipality is known.

    What is worked out of a municipality is kept with the layer of municipalities, for all tables and readings.

    Attributes
    ----------
    sites
        The table.
    rows
        Which sites of it these are, shape (k,).
    codes
        Their municipalities, each once.
    which
        Which of these each site is in, shape (k,).
    layer, as_of
        The layer of municipalities and its day; no layer where it cannot be used, and then no site either.
    """

    sites: SiteTable
    rows: Ints
    codes: tuple[str, ...]
    which: Ints
    layer: Layer | None
    as_of: date

    @classmethod
    def of(cls, atlas: Atlas, sites: SiteTable, *, anywhere: bool = True) -> Somewhere:
        """Return a table with those of its sites that have no place and a municipality that the atlas knows.

        With `anywhere` false there are none, and nothing is measured of them.
        """
        rows, layer = np.flatnonzero(~sites.placed), atlas.layer("municipalities")
        if not len(rows) or layer is None or not anywhere:
            return cls(sites, rows[:0], (), rows[:0], layer, atlas.as_of)
        index = municipalities_by_code(layer, atlas.as_of)[2]
        rows = np.array([i for i in rows.tolist() if sites.mun_codes[i] in index], dtype=np.int64)
        numbers: dict[str, int] = {}
        which = [numbers.setdefault(sites.mun_codes[i], len(numbers)) for i in rows.tolist()]
        return cls(sites, rows, tuple(numbers), np.array(which, dtype=np.int64), layer, atlas.as_of)

    def coverage(self, layer: Layer, features: Ints, *, doubtful: Flags | None = None) -> Coverage:
        """Measure how much of each site lies in some features, or of every place in its municipality: all, or nothing.

        Parameters
        ----------
        layer, features, doubtful
            As in `measure_coverage`.

        Returns
        -------
        Coverage
            NaN where the places of a municipality differ or are near the line.
        """
        found = measure_coverage(layer, features, self.sites, doubtful=doubtful)
        if not len(self.rows):
            return found
        doubtful = np.zeros(len(features), dtype=bool) if doubtful is None else doubtful
        kept = self._known.covered.setdefault(layer, {}).setdefault((features.tobytes(), doubtful.tobytes()), {})
        for code in self.codes:
            if code not in kept:
                kept[code] = self._covered(code, layer, features, doubtful)
        seen = [kept[code] for code in self.codes]
        share = np.array([each.share for each in seen])[self.which]
        found.share_low[self.rows] = found.share[self.rows] = found.share_high[self.rows] = share
        found.margin_ft[self.rows] = np.array([each.margin_ft for each in seen])[self.which]
        found.feature[self.rows] = np.array([each.feature for each in seen])[self.which]
        return found

    def distance(self, layer: Layer, features: Ints, *, doubtful: Flags | None = None) -> Distance:
        """Measure how far each site is from the nearest feature, or any place of its municipality: from, and up to.

        Parameters
        ----------
        layer, features, doubtful
            As in `measure_distance`.

        Returns
        -------
        Distance
            Of a municipality the least distance of any place and the greatest; what is computed is NaN. The feature is
            the one that is surely no farther from any place.
        """
        found = measure_distance(layer, features, self.sites, doubtful=doubtful)
        if not len(self.rows):
            return found
        doubtful = np.zeros(len(features), dtype=bool) if doubtful is None else doubtful
        near, far = self._apart(layer)
        slack = layer.tolerances_ft + self._slack_ft
        possible, sure = features[layer.possible[features]], features[layer.sure[features] & ~doubtful]
        low, high = near[:, possible] - slack[possible], far[:, sure] + slack[sure]
        least = np.maximum(low.min(axis=1, initial=np.inf), 0.0)[self.which]
        greatest = high.min(axis=1, initial=np.inf)[self.which]
        # Any part of a site may be the farthest place: near and far are one.
        found.near_low[self.rows] = found.far_low[self.rows] = least
        found.near_high[self.rows] = found.far_high[self.rows] = greatest
        which, by = (sure, high) if len(sure) else (possible, low)
        found.feature[self.rows] = which[np.argmin(by, axis=1)][self.which] if len(which) else -1
        return found

    def add_shares(self, shares: Floats, found: Distance, radius_ft: float) -> None:
        """Put into shares within a radius, shape (3, n), those of every place: all of it, or none.

        Parameters
        ----------
        shares
            Least, computed and greatest share. NaN is left where places differ or are near the line.
        found
            Distances of the table, as `distance` measures them.
        radius_ft
            International feet.
        """
        if len(self.rows):
            inside, outside = found.far_high[self.rows] <= radius_ft, found.near_low[self.rows] > radius_ft
            shares[:, self.rows] = np.where(inside, 1.0, np.where(outside, 0.0, np.nan))

    @property
    def _known(self) -> _Known:
        if self.layer is None:
            raise AssertionError("municipalities")
        return _known.setdefault(self.layer, {}).setdefault(self.as_of, _Known())

    @property
    def _slack_ft(self) -> float:
        """How far beyond its municipality's line a site may be: as far as the line may be off."""
        return 0.0 if self.layer is None else self.layer.manifest.accuracy_ft or 0.0

    def _municipality(self, code: str) -> _Municipality:
        known = self._known.municipalities
        if code not in known and self.layer is not None:
            features, _, index = municipalities_by_code(self.layer, self.as_of)
            new = [each for each in self.codes if each not in known]
            indices = [int(features[index[each]]) for each in new]
            inland = _inland(self.layer, features, indices) if len(new) > _MANY else [False] * len(new)
            for each, i, dry in zip(new, indices, inland, strict=True):
                whole = _Municipality.of(self.layer.geometry(i), self.layer.boundary(i))
                known[each] = whole if dry else _with_water(self.layer, features, i)
        return known[code]

    def _apart(self, layer: Layer) -> Floats:
        """Return the least and the greatest distance of any place of each municipality from each feature of a layer.

        Shape (2, municipalities, features), international feet.
        """
        kept = self._known.apart.setdefault(layer, {})
        new = [code for code in self.codes if code not in kept]
        if new:
            places = [self._municipality(code) for code in new]
            near, far = _to_points(layer, places) if layer.lonlat is not None else _to_areas(layer, places)
            kept.update((code, np.stack([near[:, i], far[:, i]])) for i, code in enumerate(new))
        return np.stack([kept[code] for code in self.codes], axis=1)

    def _covered(self, code: str, layer: Layer, features: Ints, doubtful: Flags) -> _Covered:
        place = self._municipality(code)
        tolerance = (layer.manifest.accuracy_ft or 0.0) + self._slack_ft
        reach = max(MARGIN_LIMIT_FT, 2.0 * tolerance)
        outside = self._outside(place, layer, features[layer.possible[features]], tolerance, reach)
        if outside is not None:
            return outside
        return self._inside(place, layer, features[layer.sure[features] & ~doubtful], tolerance, reach)

    def _outside(
        self, place: _Municipality, layer: Layer, features: Ints, tolerance: float, reach: float
    ) -> _Covered | None:
        """Return that no place is in any of some features; None where one may be."""
        x0, y0, x1, y1 = shapely.bounds(place.area)
        # What is beyond the reach is not looked for in a layer of many features, as at a single place.
        capped = not is_small(layer, features)
        if capped:
            features = layer.meeting(features, (x0 - reach, y0 - reach, x1 + reach, y1 + reach))
        if not len(features):
            return _Covered(0.0, -(reach - self._slack_ft) if capped else np.nan, -1)
        shapes = np.array([layer.geometry(int(i)) for i in features], dtype=object)
        if shapely.dwithin(place.area, shapes, tolerance / FT_PER_FTUS).any():
            return None
        # A prepared line finds what is nearest with a tree.
        lines = np.array([layer.boundary(int(i)) for i in features], dtype=object)
        away = shapely.length(shapely.shortest_line(lines, place.area)) * FT_PER_FTUS
        least = float(away.min())
        least = min(least, reach) if capped else least
        return _Covered(0.0, -(least - self._slack_ft), int(features[int(np.argmin(away))]))

    def _inside(self, place: _Municipality, layer: Layer, features: Ints, tolerance: float, reach: float) -> _Covered:
        """Return that every place is in some features taken together, or that this is open."""
        meeting = layer.meeting(features, tuple(shapely.bounds(place.area)))
        meeting = np.array(
            [i for i in meeting if shapely.intersects(place.area, layer.geometry(int(i)))], dtype=np.int64
        )
        covered = np.zeros(len(place.corners), dtype=bool)
        for i in meeting:
            covered |= shapely.intersects_xy(layer.geometry(int(i)), place.corners[:, 0], place.corners[:, 1])
        if not len(meeting) or not covered.all():
            return _OPEN
        ground = ground_near(layer, features, place.area, reach)
        # No line in it and one corner of each part inside: all of it is.
        if shapely.intersects(place.area, ground.line):
            return _OPEN
        least = float(shapely.length(shapely.shortest_line(place.line, ground.line))) * FT_PER_FTUS
        parts = shapely.get_parts(place.area)
        if least <= tolerance or not shapely.intersects(ground.area, shapely.point_on_surface(parts)).all():
            return _OPEN
        least = min(least, reach) if ground.capped else least
        return _Covered(1.0, least - self._slack_ft, int(meeting[0]) if len(meeting) == 1 else -1)


def _to_points(layer: Layer, places: list[_Municipality]) -> tuple[Floats, Floats]:
    """Return bounds of the distances of areas from each point of a layer, shape (features, areas), in feet."""
    near, far = np.empty((2, len(layer), len(places)))
    for i, place in enumerate(places):
        corners = shapely.get_coordinates(shapely.convex_hull(place.line))
        # A prepared line finds its nearest point with a tree.
        away = shapely.length(shapely.shortest_line(place.line, layer.points))
        near[:, i] = np.where(shapely.intersects(place.area, layer.points), 0.0, away)
        far[:, i] = np.hypot(*(corners[:, None] - layer.bounds[None, :, :2]).T).max(axis=1)
    return near * FT_PER_FTUS * (1 - _PLANAR_ERROR), far * FT_PER_FTUS * (1 + _PLANAR_ERROR)


def _to_areas(layer: Layer, places: list[_Municipality]) -> tuple[Floats, Floats]:
    """Return the distances of areas' nearest and farthest part from each area of a layer, shape (features, areas)."""
    areas, lines, others = (np.empty(n, dtype=object) for n in (len(layer), len(layer), len(places)))
    areas[:] = [layer.geometry(i) for i in range(len(layer))]
    lines[:] = [layer.boundary(i) for i in range(len(layer))]
    others[:] = [place.area for place in places]
    return near_and_far(areas, lines, others)


def _inland(layer: Layer, features: Ints, indices: list[int]) -> list[bool]:
    """Return which of some municipalities are far from the outline of the State: most are, and one line tells."""
    edge = shapely.boundary(shapely.coverage_union_all([layer.geometry(int(i)) for i in features]))
    shapely.prepare(edge)
    areas = np.array([layer.geometry(i) for i in indices], dtype=object)
    return [not near for near in shapely.dwithin(edge, areas, OFFSHORE_LIMIT_FT / FT_PER_FTUS).tolist()]


def _with_water(layer: Layer, features: Ints, index: int) -> _Municipality:
    """Return a municipality's polygon with the water and piers near it that are in no other one's."""
    area = layer.geometry(index)
    # A simpler line that is as much farther out takes a tenth of the time.
    around = shapely.buffer(shapely.simplify(area, _SIMPLER), OFFSHORE_LIMIT_FT / FT_PER_FTUS + _SIMPLER, quad_segs=4)
    x0, y0, x1, y1 = (float(v) for v in shapely.bounds(around))
    near = [
        shapely.clip_by_rect(layer.geometry(int(i)), x0, y0, x1, y1) for i in layer.meeting(features, (x0, y0, x1, y1))
    ]
    water = shapely.difference(around, shapely.union_all(near))
    if shapely.area(water) <= _LEAST_WATER_SQFT:
        return _Municipality.of(area, layer.boundary(index))
    area = shapely.union_all([area, water])
    line = shapely.boundary(area)
    shapely.prepare(area)
    shapely.prepare(line)
    return _Municipality.of(area, line)
