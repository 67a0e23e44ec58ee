"""The ground on which a category surely is a yes, drawn around one place: every clause of it at once.

Knows clauses and geometry, and asks nothing: what is drawn may be too large by what a curve is drawn with, and whoever
goes there asks again. It is never too small by more than that, so that no nearer place is passed over.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import cos, pi
from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.betterclauses import deciding_below, one_is_enough
from grownj_geo.betterways import where_of
from grownj_geo.nodes import ContainsFeatureNode, ShareOver, SiteFactNode, Within
from grownj_geo.place import OFFSHORE_LIMIT_FT
from grownj_geo.ranking import ranked
from grownj_geo.rims import widened
from grownj_geo.shares import geodesic_circle
from grownj_geo.units import FT_PER_FTUS, geodesic_ft, miles_to_ft, to_lonlat
from grownj_geo.values import ANSWER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from grownj_geo.bettertowns import Towns
    from grownj_geo.binding import Clause
    from grownj_geo.evaluate import Evaluation
    from grownj_geo.layer import Layer
    from grownj_geo.nodes import Where

__all__ = ["Chosen", "Grounds"]

# More than the planar distance in EPSG:3424 is off inside New Jersey, and how much its scale differs within some miles.
_PLANAR_ERROR, _SCALE_ERROR = 2e-4, 4e-5
_CORNERS = 512
# A buffer may leave out what bends inwards by less than this part of its distance.
_SHALLOW, _WITHIN_FT, _SEGMENTS = 100.0, 0.1, 16
_FILLED = 1e-9
_MUNICIPAL = frozenset({"designated", "municipality_in", "county_in", "in_new_jersey", "contains_feature"})
_NOTHING = shapely.Polygon()


@dataclass(frozen=True, eq=False)
class Chosen:
    """What a leaf counts: for a yes what surely does, for a no what possibly does.

    Attributes
    ----------
    layer
        Where they are.
    features
        Their indices, shape (n,).
    feet
        How far each reaches: its radius, or how far its ground is grown, below 0 shrunk; shape (n,).
    """

    layer: Layer
    features: NDArray[np.int64]
    feet: NDArray[np.float64]

    def around(self, grounds: Grounds) -> tuple[float, float, float, float]:
        """Return the box in which features are that reach into the frame: x0, y0, x1, y1 in EPSG:3424."""
        wide = float(self.feet.max(initial=0.0)) / FT_PER_FTUS * (1 + _PLANAR_ERROR)
        return _grown(grounds.frame.bounds, wide)


@dataclass
class Grounds:
    """Draws the ground of clauses within a frame around a point.

    Parameters
    ----------
    run
        The evaluation of the point.
    towns
        None where the municipalities are not loaded: then what depends on them is as it is at the point.
    point
        The point in EPSG:3424.
    reach_ft
        The frame reaches at least so many international feet in each direction.
    uncertainty_ft
        How well a place is known that is asked about, in international feet.
    as_computed
        Leave all tolerances out: the ground as it is drawn.
    chosen
        What each leaf counts, whatever the frame: frames around one site share it.
    """

    run: Evaluation
    towns: Towns | None
    point: shapely.Point
    reach_ft: float
    uncertainty_ft: float = 0.0
    as_computed: bool = False
    chosen: dict[tuple[str, int], Chosen | None] = field(default_factory=dict)
    _may: dict[tuple[str, int], bool] = field(default_factory=dict)
    _leaves: dict[tuple[str, int], shapely.Geometry] = field(default_factory=dict)
    _categories: dict[tuple[str, int], shapely.Geometry] = field(default_factory=dict)
    _in_towns: dict[tuple[tuple[int, ...], tuple[int, ...], float, bool], shapely.Geometry] = field(
        default_factory=dict
    )

    @cached_property
    def frame(self) -> shapely.Polygon:
        """The frame in EPSG:3424."""
        wide = self.reach_ft / FT_PER_FTUS * (1 + _PLANAR_ERROR)
        return shapely.box(self.point.x - wide, self.point.y - wide, self.point.x + wide, self.point.y + wide)

    def of(self, clause: Clause, sign: int = 1) -> shapely.Geometry:
        """Return the ground in the frame on which a clause surely is a yes, or (sign -1) surely a no; EPSG:3424."""
        if clause.operator == "category":
            key = clause.content, sign
            if key not in self._categories:
                self._categories[key] = self.of(self.run.bound.clauses[clause.content], sign)
            return self._categories[key]
        if clause.operator == "not":
            return self.of(clause.children[0], -sign)
        if clause.operator in {"any", "all"}:
            if one_is_enough(clause, sign):
                return self._joined(self.of(child, sign) for child in deciding_below(clause, sign))
            return self._common(clause, sign)
        key = clause.content, sign
        if key not in self._leaves:
            self._leaves[key] = self._leaf(clause, sign)
        return self._leaves[key]

    def may_hold(self, clause: Clause, sign: int = 1) -> bool:
        """Return whether a clause may be a yes, or (sign -1) a no, somewhere in the frame: quick, nothing is drawn."""
        if clause.operator == "not":
            return self.may_hold(clause.children[0], -sign)
        if clause.operator in {"any", "all"}:
            some = (self.may_hold(child, sign) for child in deciding_below(clause, sign))
            return any(some) if one_is_enough(clause, sign) else all(some)
        key = clause.content, sign
        if key not in self._may:
            if clause.operator == "category":
                self._may[key] = self.may_hold(self.run.bound.clauses[clause.content], sign)
            else:
                self._may[key] = self._leaf_may(clause, sign)
        return self._may[key]

    def _leaf_may(self, leaf: Clause, sign: int) -> bool:
        if self._looks_at(leaf) is None:
            if self.towns is None:
                return self.run.answers.get(leaf.path) == sign
            values = self.towns.run.clause_values.get(leaf.path)
            return values is not None and bool((values.outcomes[ANSWER][self._towns_about] == sign).any())
        chosen = self._chosen(leaf, sign)
        if chosen is None or sign == -1:
            return chosen is not None
        return len(chosen.layer.meeting(chosen.features, chosen.around(self))) > 0

    @cached_property
    def near_land(self) -> bool:
        """Whether a site may be in the frame: not all of it is farther off the shore than one may be."""
        return self.towns is None or bool(len(self._towns_about))

    @cached_property
    def _towns_about(self) -> NDArray[np.int64]:
        """Where those municipalities are among the codes that a site in the frame may be in, or off the shore of."""
        assert self.towns is not None  # noqa: S101 - asked where there are municipalities
        wide = (OFFSHORE_LIMIT_FT + self.uncertainty_ft) / FT_PER_FTUS
        near = self.towns.layer.meeting(self.towns.features, _grown(self.frame.bounds, wide))
        return np.flatnonzero(np.isin(self.towns.features, near))

    def own_ground(self, leaf: Clause, feature: int) -> shapely.Geometry | None:
        """Return the ground of one feature alone on which a leaf is a yes; None where no layer's line decides it."""
        looked = self._looks_at(leaf)
        if looked is None:
            return None
        layer, where = looked
        if not isinstance(where, Within):
            return self._drawn(layer, np.array([feature]), 0.0)
        radius = miles_to_ft(self.run.bound.figures[where.radius])
        return self._circles(layer, np.array([feature]), np.array([radius]), 1)

    def features(self, clause: Clause) -> list[tuple[Layer, int]]:
        """Return the features that the ground of a clause is drawn from, each once."""
        found: dict[tuple[str, int], tuple[Layer, int]] = {}
        self._count(clause, found, set())
        if self.towns is not None:
            for index in self.towns.features[self._towns_about].tolist():
                found[self.towns.layer.id, index] = self.towns.layer, index
        return list(found.values())

    def _count(self, clause: Clause, found: dict[tuple[str, int], tuple[Layer, int]], seen: set[str]) -> None:
        if clause.content in seen:
            return
        if clause.operator == "category":
            seen.add(clause.content)
            self._count(self.run.bound.clauses[clause.content], found, seen)
        elif clause.children:
            for child in clause.active:
                self._count(child, found, seen)
        else:
            seen.add(clause.content)
            for sign in (1, -1):
                chosen = self._chosen(clause, sign)
                if chosen is not None:
                    for index in chosen.layer.meeting(chosen.features, chosen.around(self)).tolist():
                        found[chosen.layer.id, index] = chosen.layer, index

    def _vertices(self, clause: Clause) -> int:
        found: dict[tuple[str, int], tuple[Layer, int]] = {}
        self._count(clause, found, set())
        return sum(1 if layer.lonlat is not None else layer.vertices(index) for layer, index in found.values())

    def on_land(self, ground: shapely.Geometry) -> shapely.Geometry:
        """Return what of some ground is no farther from every municipality than a site may be."""
        if ground.is_empty or self._sited is self.frame:
            return ground
        return self._sited if ground is self.frame else shapely.intersection(ground, self._sited)

    @cached_property
    def _sited(self) -> shapely.Geometry:
        """Where a site may be."""
        if self.towns is None or self._land is self.frame:
            return self.frame
        wide = (OFFSHORE_LIMIT_FT + self.uncertainty_ft) / FT_PER_FTUS
        layer, box = self.towns.layer, _grown(self.frame.bounds, wide)
        land = [_cut(layer.geometry(i), box) for i, _ in self._near_towns]
        return self._framed(land, wide)

    # -- joining --------------------------------------------------------------------------------------

    def _joined(self, parts: Iterable[shapely.Geometry]) -> shapely.Geometry:
        some = []
        for part in parts:
            if part is self.frame:
                return part
            if not part.is_empty:
                some.append(part)
        return _NOTHING if not some else some[0] if len(some) == 1 else shapely.union_all(some)

    def _common(self, clause: Clause, sign: int) -> shapely.Geometry:
        found: shapely.Geometry = self.frame
        # What is drawn from less comes first: often nothing is left for the others.
        for child in sorted(deciding_below(clause, sign), key=self._vertices):
            part = self.of(child, sign)
            if part is self.frame:
                continue
            found = part if found is self.frame else shapely.intersection(found, part)
            if found.is_empty:
                return _NOTHING
        return found

    def _without(self, ground: shapely.Geometry) -> shapely.Geometry:
        return self.frame if ground.is_empty else shapely.difference(self.frame, ground)

    # -- clauses that look at the world ---------------------------------------------------------------

    def _looks_at(self, clause: Clause) -> tuple[Layer, Where] | None:
        """Return the layer and the features that decide a leaf by their lines; None where no line does."""
        where = where_of(clause)
        layer = None if where is None else self.run.leaves.layer(where.layer)
        if layer is None or where is None:
            return None
        if isinstance(clause.node, SiteFactNode):
            stated = self.run.leaves.facts.get(clause.node.site_fact.name)
            if stated is not None and stated[0] is not None:
                return None
        return layer, where

    def _leaf(self, clause: Clause, sign: int) -> shapely.Geometry:
        looked = self._looks_at(clause)
        if looked is None:
            return self._of_towns(clause, sign)
        chosen = self._chosen(clause, sign)
        if chosen is None:
            return _NOTHING
        layer = chosen.layer
        if isinstance(looked[1], Within):
            ground = self._circles(layer, chosen.features, chosen.feet, sign)
        else:
            # Each feature is grown, or shrunk, by the same.
            grown_ft = float(chosen.feet[0]) if len(chosen.feet) else 0.0
            ground = self._drawn(layer, chosen.features, grown_ft)
        return ground if sign == 1 else self._without(ground)

    @property
    def _unsure_ft(self) -> float:
        return 0.0 if self.as_computed else self.uncertainty_ft

    def _chosen(self, leaf: Clause, sign: int) -> Chosen | None:
        """Return what is drawn for a leaf to be a yes, or left out for it to be a no; None where that is everything."""
        key = leaf.content, sign
        if key not in self.chosen:
            looked = self._looks_at(leaf)
            if looked is None:
                self.chosen[key] = None
            elif isinstance(looked[1], Within):
                self.chosen[key] = self._in_reach(looked[0], looked[1], sign)
            else:
                self.chosen[key] = self._inside(looked[0], looked[1], sign)
        return self.chosen[key]

    def _inside(self, layer: Layer, where: Where, sign: int) -> Chosen | None:
        features = self.run.leaves.features(layer, where)
        tolerance = 0.0 if self.as_computed else (layer.manifest.accuracy_ft or 0.0) + self.uncertainty_ft
        if sign == 1:
            counts = layer.computed if self.as_computed else layer.sure
            features = features[counts[features] & ~layer.doubtful(features, where.selection)]
            return Chosen(layer, features, np.full(len(features), -tolerance))
        if not layer.manifest.complete and not self.as_computed:
            return None
        counts = layer.computed if self.as_computed else layer.possible
        features = features[counts[features]]
        if where.at_least:
            selected = layer.select(where.selection, as_of=self.run.bound.as_of)
            lacking = np.logical_or.reduce([np.isnan(layer.figures(name)[selected]) for name in where.at_least])
            features = np.union1d(features, selected[lacking & layer.possible[selected]])
        return Chosen(layer, features, np.full(len(features), tolerance))

    def _in_reach(self, layer: Layer, where: Within, sign: int) -> Chosen:
        features = self.run.leaves.features(layer, where)
        if where.nearest is not None and not self.as_computed:
            targets = self.run.leaves.layer(where.nearest.layer)
            if targets is not None and targets.lonlat is not None:
                to = targets.select(where.nearest.selection, as_of=self.run.bound.as_of)
                every = layer.select(where.selection, as_of=self.run.bound.as_of)
                surely, _, perhaps = ranked(layer, every, targets, to, n=where.nearest.n)
                features = surely if sign == 1 else perhaps
        if sign == 1 and not isinstance(where, ShareOver):
            features = features[~layer.doubtful(features, where.selection)]
        counts = layer.computed if self.as_computed else layer.sure if sign == 1 else layer.possible
        features = features[counts[features]]
        radius = miles_to_ft(self.run.bound.figures[where.radius])
        tolerances = np.zeros(len(features)) if self.as_computed else layer.tolerances_ft[features]
        return Chosen(layer, features, radius - sign * (tolerances + self._unsure_ft))

    def _circles(
        self, layer: Layer, features: NDArray[np.int64], radii: NDArray[np.float64], sign: int
    ) -> shapely.Geometry:
        wide = float(radii.max(initial=0.0)) / FT_PER_FTUS * (1 + _PLANAR_ERROR)
        box = _grown(self.frame.bounds, wide)
        near = set(layer.meeting(features, box).tolist())
        parts = []
        for index, radius in zip(features.tolist(), radii.tolist(), strict=True):
            if index not in near or radius < 0:
                continue
            if layer.lonlat is None:
                near_part = _cut(layer.geometry(index), box)
                if near_part.is_empty:
                    continue
                # The rim of a yes is drawn a little too far out, that of a no too far in.
                rim = radius * _scale_at(near_part) * (1 + sign * _SCALE_ERROR)
                part = _widened(near_part, rim)
            else:
                lon, lat = layer.lonlat[index]
                # The corners stand on the circle: for the ground of a yes its sides shall not cut it.
                rim = radius / cos(pi / _CORNERS) if sign == 1 else radius
                part = geodesic_circle(float(lon), float(lat), rim, corners=_CORNERS)
            parts.append(part)
        return self._framed(parts)

    def _drawn(self, layer: Layer, features: NDArray[np.int64], grown_ft: float) -> shapely.Geometry:
        """Return some polygons together, grown or (below 0) shrunk by so many feet."""
        wide = abs(grown_ft) / FT_PER_FTUS
        # The frame of the cut grows and shrinks too.
        box = _grown(self.frame.bounds, wide * (1 + _PLANAR_ERROR) + 10.0)
        parts = [_cut(layer.geometry(int(i)), box) for i in layer.meeting(features, box)]
        return self._framed(parts, np.copysign(wide, grown_ft))

    def _framed(self, parts: Sequence[shapely.Geometry], grown: float = 0.0) -> shapely.Geometry:
        parts = [part for part in parts if not part.is_empty]
        if not parts:
            return _NOTHING
        ground = parts[0] if len(parts) == 1 else shapely.union_all(parts)
        if grown:
            ground = _widened(ground, grown)
        if shapely.covers(ground, self.frame):
            return self.frame
        ground = _cut(ground, self.frame.bounds)
        return _NOTHING if ground.is_empty else ground

    # -- municipalities -------------------------------------------------------------------------------

    @cached_property
    def _near_towns(self) -> list[tuple[int, int]]:
        """The municipalities that meet the frame, or whose shore is near it: features, and places among the codes."""
        if self.towns is None:
            return []
        wide = (OFFSHORE_LIMIT_FT + self.uncertainty_ft) / FT_PER_FTUS
        about, layer, features = shapely.box(*_grown(self.frame.bounds, wide)), self.towns.layer, self.towns.features
        return [
            (int(features[row]), row)
            for row in self._towns_about.tolist()
            if shapely.intersects(layer.geometry(int(features[row])), about)
        ]

    def _of_towns(self, clause: Clause, sign: int) -> shapely.Geometry:
        """Return the ground of municipalities in all of which a clause is the same, whatever the place in them."""
        if self.towns is None:
            return self.frame if self.run.answers.get(clause.path) == sign else _NOTHING
        values = self.towns.run.clause_values.get(clause.path)
        if values is None:
            return _NOTHING
        layer, answers = self.towns.layer, values.outcomes[ANSWER]
        lacking = self._lacks_layer(clause)
        # Where a layer cannot lie is known as well as the municipal lines are.
        accuracy = (layer.manifest.accuracy_ft or 0.0) if lacking and not self.as_computed else 0.0
        # Off the shore no municipality's list decides; what is stated does, and where a layer cannot lie.
        municipal = clause.operator in _MUNICIPAL and not lacking
        inside = tuple(i for i, row in self._near_towns if answers[row] == sign)
        others = tuple(i for i, row in self._near_towns if answers[row] != sign)
        key = inside, others, max(self._unsure_ft, accuracy), municipal
        if key not in self._in_towns:
            self._in_towns[key] = self._drawn_towns(inside, others, tolerance=key[2], municipal=municipal)
        return self._in_towns[key]

    def _lacks_layer(self, clause: Clause) -> bool:
        """Return whether a leaf looks at a layer that is not loaded."""
        node = clause.node
        where = node.contains_feature if isinstance(node, ContainsFeatureNode) else where_of(clause)
        return where is not None and self.run.leaves.layer(where.layer) is None

    def _drawn_towns(
        self, inside: tuple[int, ...], others: tuple[int, ...], *, tolerance: float, municipal: bool
    ) -> shapely.Geometry:
        assert self.towns is not None  # noqa: S101 - the caller looked
        layer = self.towns.layer
        if not inside or (municipal and not any(shapely.intersects(layer.geometry(i), self.frame) for i in inside)):
            return _NOTHING
        if municipal and self._unsure_ft > (layer.manifest.accuracy_ft or 0.0):
            # Wherever the place is that is meant, it is in one of them: what is not told so is no municipality.
            return self._drawn(layer, np.array(inside), -tolerance)
        within = self._land if municipal else self.frame
        if not others:
            found = within
        elif tolerance or sum(map(layer.vertices, others)) < sum(map(layer.vertices, inside)):
            without = self._drawn(layer, np.array(others), tolerance)
            found = self._without(without) if within is self.frame else shapely.difference(within, without)
        else:
            found = self._drawn(layer, np.array(inside), 0.0)
        return found

    @cached_property
    def _land(self) -> shapely.Geometry:
        """All municipalities in the frame; the frame itself where there is nothing else."""
        assert self.towns is not None  # noqa: S101 - asked where there are municipalities
        layer, box = self.towns.layer, self.frame.bounds
        parts = [_cut(layer.geometry(i), box) for i, _ in self._near_towns]
        # Municipalities do not overlap: where their parts fill the frame nothing has to be joined.
        if sum(map(shapely.area, parts)) > shapely.area(self.frame) * (1 - _FILLED):
            return self.frame
        return self._framed(parts)


def _widened(ground: shapely.Geometry, by: float) -> shapely.Geometry:
    """Return some ground grown, or (below 0) shrunk, by so many US survey feet: to a tenth of a foot, if need be.

    Of a curve that is drawn with few corners the depth at which is asked is soon used up.
    """
    feet = by * FT_PER_FTUS
    if abs(feet) > _SHALLOW * _WITHIN_FT:
        # Here a buffer leaves out more of what bends inwards.
        return widened(ground, feet, within_ft=_WITHIN_FT)
    return shapely.buffer(ground, by, quad_segs=_SEGMENTS)


def _scale_at(geometry: shapely.Geometry) -> float:
    """Return how many feet of the plane an international foot on the ellipsoid is about there."""
    x, y = shapely.get_coordinates(shapely.centroid(geometry))[0]
    lon, lat = to_lonlat([x, x + 1000.0], [y, y])
    return 1000.0 / float(geodesic_ft(lon[0], lat[0], lon[1], lat[1]))


def _grown(box: tuple[float, float, float, float], by: float) -> tuple[float, float, float, float]:
    x0, y0, x1, y1 = box
    return x0 - by, y0 - by, x1 + by, y1 + by


def _cut(geometry: shapely.Geometry, box: tuple[float, float, float, float]) -> shapely.Geometry:
    cut = shapely.clip_by_rect(geometry, *box)
    return cut if shapely.is_valid(cut) else shapely.intersection(geometry, shapely.box(*box))
