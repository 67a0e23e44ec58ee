"""What a place owes a better line to: the clauses that begin to hold there, how far their lines are, their names."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan
from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.betterclauses import fewest_new
from grownj_geo.betterground import Grounds
from grownj_geo.betterways import Way, degrees, where_of
from grownj_geo.evidence import clause_label
from grownj_geo.nearby import nearest_of
from grownj_geo.nodes import Within
from grownj_geo.units import FT_PER_FTUS, geodesic_ft, miles_to_ft, to_working
from grownj_geo.words import asked_words, feature_named, feet, joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grownj_geo.bettertowns import Towns
    from grownj_geo.binding import Clause
    from grownj_geo.evaluate import Evaluation
    from grownj_geo.layer import Layer
    from grownj_geo.site import Site

__all__ = ["way_to"]


def way_to(
    run: Evaluation, there: Evaluation, site: Site, category: str, *, towns: Towns | None, lonlat: tuple[float, float]
) -> Way:
    """Return the way to a place at which a category holds through one clause or several at once.

    Parameters
    ----------
    run, there
        The evaluations of the site, a point, and of the place.
    site
        The site.
    category
        What holds there and not here.
    towns
        The municipalities; None where they are not loaded.
    lonlat
        The place, in degrees.
    """
    new = fewest_new(run.bound.clauses[category], run, there)
    place = tuple(float(v) for v in to_working(*lonlat))
    town = _town(there, towns)
    told = [_told(run, site, leaf, sign, town=town, place=shapely.Point(place)) for leaf, sign in new]
    # A layer's clause says more than a municipality.
    first = min(told, key=lambda one: one.clause is None)
    names = list(dict.fromkeys(one.name for one in told))
    return Way(
        first.clause,
        " and ".join(dict.fromkeys(clause_label(leaf, run) for leaf, _ in new)),
        run.bound.rulebook.category(category).label,
        first.layer,
        first.feature,
        _bounds(run, towns, site, told, lonlat),
        (place[0], place[1]),
        names[0] if len(names) == 1 else f"where {joined(names, 'and')} meet",
        None,
    )


@dataclass(frozen=True)
class _Told:
    """A leaf that is new: what it is told by. Without a clause it is the municipality that decides."""

    leaf: Clause
    sign: int
    clause: Clause | None
    layer: Layer
    feature: int
    name: str


def _told(
    run: Evaluation, site: Site, leaf: Clause, sign: int, *, town: tuple[Layer, int] | None, place: shapely.Point
) -> _Told:
    where = where_of(leaf)
    layer = None if where is None else run.leaves.layer(where.layer)
    if where is None or layer is None:
        assert town is not None  # noqa: S101 - without municipalities such a leaf is the same everywhere
        return _Told(leaf, sign, None, *town, town[0].name(town[1]))
    # The way out leads out of what the site is in.
    feature = _nearest(layer, run.leaves.features(layer, where).tolist(), place if sign == 1 else site.geometry)
    name = feature_named(layer, feature) if feature >= 0 else ""
    name = name or asked_words(where, layer.manifest.title, run.bound)
    if isinstance(where, Within):
        name = f"the radius of {feet(miles_to_ft(run.bound.figures[where.radius]))} around {name}"
    return _Told(leaf, sign, leaf, layer, feature, name if sign == 1 else f"the way out of {name}")


def _bounds(
    run: Evaluation, towns: Towns | None, site: Site, told: Sequence[_Told], lonlat: tuple[float, float]
) -> tuple[float, float, float]:
    """Return how far it is to the lines of some clauses at least, as computed to where all hold, and to the place."""
    x, y = shapely.get_coordinates(site.geometry)[0]
    here = shapely.Point(x, y)
    far = float(geodesic_ft(*degrees((x, y)), *lonlat))
    sure = Grounds(run, towns, here, far + 1.0, site.uncertainty_ft)
    drawn = Grounds(run, towns, here, far + 1.0, as_computed=True)
    least, both = 0.0, drawn.frame
    for one in told:
        where = where_of(one.leaf)
        if one.clause is None or where is None:
            # It is so in all of the municipality, which is named.
            ground = shapely.clip_by_rect(one.layer.geometry(one.feature), *drawn.frame.bounds)
            away = float(shapely.distance(one.layer.geometry(one.feature), here)) * FT_PER_FTUS - site.uncertainty_ft
        elif one.sign == 1 and one.feature >= 0:
            # One that is an inner or outer bound is not what is computed from.
            own = drawn.own_ground(one.leaf, one.feature) if one.layer.computed[one.feature] else None
            ground = drawn.of(one.leaf) if own is None else own
            near = nearest_of(one.layer, run.leaves.features(one.layer, where), site)
            radius = miles_to_ft(run.bound.figures[where.radius]) if isinstance(where, Within) else 0.0
            away = 0.0 if near is None else near.low_ft - radius
        else:
            ground = drawn.of(one.leaf, one.sign)
            # The line may be where the ground begins that is not surely against it.
            open_ground = shapely.difference(sure.frame, sure.of(one.leaf, -one.sign))
            away = float(np.nan_to_num(shapely.distance(open_ground, here))) * FT_PER_FTUS
        least, both = max(least, away), shapely.intersection(both, ground)
    value = nan
    if not both.is_empty:
        inside = bool(shapely.intersects(both, here))
        away = float(shapely.distance(shapely.boundary(both) if inside else both, here)) * FT_PER_FTUS
        value = -away if inside else min(away, far)
    # They are drawn a little too large, and not by the same.
    return min(least, far if isnan(value) else max(value, 0.0)), value, far


def _town(there: Evaluation, towns: Towns | None) -> tuple[Layer, int] | None:
    """Return the municipality of a place: the layer and the feature; None where there is none."""
    codes = there.leaves.placement.codes_of(0)
    if towns is None or not codes:
        return None
    return towns.layer, int(towns.features[towns.codes.index(codes[0])])


def _nearest(layer: Layer, features: Sequence[int], point: shapely.Geometry) -> int:
    """Return the feature that a point is in, or nearest to; -1 where there is none."""
    if layer.lonlat is not None and len(features):
        away = np.hypot(*(layer.bounds[features, :2] - shapely.get_coordinates(point)).T)
        return int(features[int(away.argmin())])
    return min(features, key=lambda index: float(shapely.distance(layer.geometry(index), point)), default=-1)
