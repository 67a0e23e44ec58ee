"""What a better line waits for, and the ways there: clauses that do not hold, and the nearest place where they do.

Knows clauses and geometry, and asks nothing: whoever goes a way asks what is so at its end.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

import shapely

from grownj_geo.evidence import clause_label
from grownj_geo.nearby import move_into, move_within, nearest_of, place_inside, way_out
from grownj_geo.nodes import InsideNode, OverlapsNode, ShareOverNode, SiteFactNode, Within, WithinNode
from grownj_geo.units import geodesic_ft, miles_to_ft, to_lonlat, towards
from grownj_geo.words import asked_words, feature_named, feet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grownj_geo.binding import Clause
    from grownj_geo.evaluate import Evaluation
    from grownj_geo.layer import Layer
    from grownj_geo.nodes import Where
    from grownj_geo.site import Site

__all__ = [
    "BEYOND_FT",
    "DEGREE_DIGITS",
    "Move",
    "Wanted",
    "Way",
    "degrees",
    "moves_of",
    "nearest_part",
    "wanted_of",
    "way_into",
    "way_out_of",
    "where_of",
]

BEYOND_FT = 0.5
"""How far beyond a line a site is moved to be asked again: rounding shall not decide."""

DEGREE_DIGITS = 7
"""Digits of the degrees in which a place is told: to within 0.04 ft."""


@dataclass(frozen=True)
class Wanted:
    """A clause that does not hold, with what it looks at and the area of the law above it.

    Attributes
    ----------
    leave
        The clause stands under a "not": it is to become a no.
    """

    clause: Clause
    where: Where
    radius_ft: float
    area: str
    leave: bool = False


@dataclass(frozen=True)
class Way:
    """The way to the nearest place where a clause holds.

    Attributes
    ----------
    clause
        None where it is all of a municipality that has a category, by whatever clauses.
    bounds
        Feet to the line: at least, as computed, at most.
    target
        The point of the line, or of the station, in EPSG:3424.
    to
        What it leads to, in words.
    ground
        What is entered; None for a radius.
    radius_ft
        The radius; 0 for ground.
    same
        Every clause that looks at the same, at several places of the law: each holds there.
    """

    clause: Clause | None
    label: str
    area: str
    layer: Layer
    feature: int
    bounds: tuple[float, float, float]
    target: tuple[float, float]
    to: str
    ground: shapely.Geometry | None
    radius_ft: float = 0.0
    same: tuple[Wanted, ...] = ()


@dataclass(frozen=True)
class Move:
    """Where the nearest part of a site is moved to, in degrees, at which bearing, and how far."""

    longitude: float
    latitude: float
    bearing_deg: float
    feet: float


def wanted_of(clause: Clause, run: Evaluation, area: str, sign: int, seen: set[tuple[str, int]]) -> Iterator[Wanted]:
    """Yield the place clauses below one that would have to change; ways out of a radius are not looked for."""
    if run.answers.get(clause.path) == sign:
        return
    if clause.operator == "category":
        if (clause.content, sign) not in seen:
            seen.add((clause.content, sign))
            category = run.bound.rulebook.category(clause.content)
            below = category.label if category.kind != "ground" or not area else area
            yield from wanted_of(run.bound.clauses[clause.content], run, below, sign, seen)
    elif clause.children:
        below_sign = -sign if clause.operator == "not" else sign
        for child in clause.active:
            yield from wanted_of(child, run, area, below_sign, seen)
    else:
        where = where_of(clause)
        radius = miles_to_ft(run.bound.figures[where.radius]) if isinstance(where, Within) else 0.0
        if where is not None and (sign == 1 or not radius):
            yield Wanted(clause, where, radius, area or clause_label(clause, run), leave=sign == -1)


def where_of(clause: Clause) -> Where | None:
    """Return what a place clause looks at; None for a clause that no place decides by its features."""
    node = clause.node
    if isinstance(node, InsideNode):
        return node.inside
    if isinstance(node, OverlapsNode):
        return node.overlaps
    if isinstance(node, WithinNode):
        return node.within
    if isinstance(node, ShareOverNode):
        return node.share_over
    return node.site_fact.supported_by if isinstance(node, SiteFactNode) else None


def way_into(run: Evaluation, site: Site, wanted: Wanted, layer: Layer) -> Way | None:
    """Return the way to the nearest feature, or into its radius, that surely counts; None where there is none."""
    features = run.leaves.features(layer, wanted.where)
    sure = features[~layer.doubtful(features, wanted.where.selection)]
    found = nearest_of(layer, sure, site)
    if found is None or (found.value_ft == 0 and not wanted.radius_ft):
        # Inside as computed, and too near the line to be sure: no way leads there. `here` says what is open.
        return None
    # A feature that only perhaps counts may be nearer.
    every = found if len(sure) == len(features) else nearest_of(layer, features, site)
    least = found.low_ft if every is None else min(found.low_ft, every.low_ft)
    name = feature_named(layer, found.feature) or asked_words(wanted.where, layer.manifest.title, run.bound)
    return Way(
        wanted.clause,
        clause_label(wanted.clause, run),
        wanted.area,
        layer,
        found.feature,
        (least - wanted.radius_ft, found.value_ft - wanted.radius_ft, found.high_ft - wanted.radius_ft),
        found.target,
        f"the radius of {feet(wanted.radius_ft)} around {name}" if wanted.radius_ft else name,
        None if wanted.radius_ft else layer.geometry(found.feature),
        wanted.radius_ft,
    )


def way_out_of(run: Evaluation, site: Site, wanted: Wanted, layer: Layer) -> Way | None:
    """Return the way out of the features that a site is in; None where it is in none."""
    found = way_out(layer, run.leaves.features(layer, wanted.where), site)
    if found is None:
        return None
    near, outside = found
    name = feature_named(layer, near.feature) or asked_words(wanted.where, layer.manifest.title, run.bound)
    bounds = near.low_ft, near.value_ft, near.high_ft
    label = clause_label(wanted.clause, run)
    to = f"the way out of {name}"
    return Way(wanted.clause, label, wanted.area, layer, near.feature, bounds, near.target, to, outside)


def moves_of(site: Site, way: Way, start: tuple[float, float]) -> Iterator[Move]:
    """Yield how a site may be moved so that a clause holds: its nearest part over the line, then all of a polygon."""
    _, value, high = way.bounds
    slack = high - value if isfinite(value) else 0.0
    lon, lat = degrees(start)
    if way.ground is None:
        end = way.target
        far = max(high, 0.0) + BEYOND_FT
        whole = None if site.is_point else move_within(site.geometry, start, end, way.radius_ft - slack)
    else:
        # Beyond a corner the straight way may lead out again.
        end = place_inside(way.ground, way.target, shapely.Point(start), slack + BEYOND_FT)
        far = float(geodesic_ft(lon, lat, *degrees(end)))
        whole = None if site.is_point else move_into(site.geometry, start, end, way.ground, slack + BEYOND_FT)
    for feet_ in (far, None if whole is None else whole + BEYOND_FT):
        if feet_ is not None:
            to_lon, to_lat, bearing = towards(lon, lat, *degrees(end), feet_)
            # Rounded as it is told: what is said is what is asked.
            yield Move(round(to_lon, DEGREE_DIGITS), round(to_lat, DEGREE_DIGITS), bearing, feet_)


def degrees(xy: tuple[float, float]) -> tuple[float, float]:
    """Return longitude and latitude of a place in EPSG:3424."""
    lon, lat = to_lonlat(*xy)
    return float(lon), float(lat)


def nearest_part(site: Site, target: tuple[float, float]) -> tuple[float, float]:
    """Return the point of a site that is nearest to a place, both in EPSG:3424."""
    line = shapely.get_coordinates(shapely.shortest_line(site.geometry, shapely.Point(target)))
    return float(line[0, 0]), float(line[0, 1])
