"""The ground of one class of area, drawn: features of a layer, or what lies within a radius of them.

Nothing here decides anything: distances decide. Radii are drawn as true geodesic circles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Literal

import numpy as np
import shapely

from grownj_geo.layer import EXACT, INNER, NOMINAL, OUTER
from grownj_geo.rims import circle_around, rim_around
from grownj_geo.units import miles_to_ft
from grownj_geo.words import counted_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from grownj_geo.determine import Engine
    from grownj_geo.layer import Layer
    from grownj_geo.palette import AreaClass, Draw

    Ints = NDArray[np.int64]

__all__ = [
    "CIRCLE_ERROR_FT",
    "OUTLINE_TOLERANCE_FT",
    "Area",
    "DrawnClass",
    "Sureness",
    "circles_around",
    "class_of_layer",
    "joined_areas",
    "ring_around",
]

CIRCLE_ERROR_FT = 0.6
"""What simplifying may move the line of a radius by; rounding adds less than 0.1 ft, so that 1 ft is kept."""
OUTLINE_TOLERANCE_FT = 60.0
"""What simplifying may move other lines by: less than the State's own lines are known to (72 ft)."""

_MOST_VERTICES = 120_000
"""Vertices of one class; where there are more, its lines are simplified further, and the class says so."""
_COARSEST_FT = 4_000.0
_BAND = "as near to the line as the place is known"

Sureness = Literal["sure", "possible"]


@dataclass(frozen=True, eq=False)
class Area:
    """One piece of ground of a class.

    Attributes
    ----------
    name
        What it is called.
    geometry
        In EPSG:3424; None where it is the municipality of `mun_code`.
    sureness
        ``"possible"`` for ground that may belong: between bounds, or where a fact or a list leaves it open.
    note
        How well it is known.
    mun_code
        Of a municipality that is drawn whole.
    band_ft
        For what may belong only because a point's place is known so well: how far the line may be off either way.
    """

    name: str
    geometry: shapely.Geometry | None
    sureness: Sureness = "sure"
    note: str = ""
    mun_code: str | None = None
    band_ft: float = 0.0


@dataclass(frozen=True, eq=False)
class DrawnClass:
    """A class of area that is drawn.

    Attributes
    ----------
    look
        Name, colour and pattern.
    label
        For the legend, with the figure of the day.
    areas
        Its ground.
    points
        What radii are drawn around, with their names: n by longitude and latitude.
    radius_ft
        Of what is drawn around features; None for features themselves.
    layer
        Id of the layer that it comes from.
    drawn_to_ft
        How far a drawn line may be from the layer's.
    notes
        What a reader should know.
    """

    look: AreaClass
    label: str
    areas: tuple[Area, ...]
    layer: str
    drawn_to_ft: float
    points: tuple[tuple[str, float, float], ...] = ()
    radius_ft: float | None = None
    notes: tuple[str, ...] = ()


def ring_around(ground: shapely.Geometry, radius_ft: float) -> shapely.Geometry:
    """Return the ground within a radius of a place, measured on the ellipsoid.

    Parameters
    ----------
    ground
        In EPSG:3424.
    radius_ft
        International feet.

    Returns
    -------
    shapely.Geometry
        In EPSG:3424, within `CIRCLE_ERROR_FT` of the true line.
    """
    # No place of a line is off by more than twice what it is looked at for.
    return rim_around(ground, radius_ft, within_ft=CIRCLE_ERROR_FT / 2)


def circles_around(lonlat: NDArray[np.float64], radius_ft: float) -> NDArray[np.object_]:
    """Return the ground within a radius of each of n points, measured on the ellipsoid.

    Each has as many corners as drawing needs.

    Parameters
    ----------
    lonlat
        Degrees, shape (n, 2).
    radius_ft
        International feet.

    Returns
    -------
    ndarray of shapely.Polygon
        In EPSG:3424, shape (n,), within `CIRCLE_ERROR_FT` of the true circles.
    """
    rings = [circle_around(float(lon), float(lat), radius_ft, within_ft=CIRCLE_ERROR_FT) for lon, lat in lonlat]
    return np.array(rings, dtype=object)


def joined_areas(known: DrawnClass) -> tuple[Area, ...]:
    """Return the areas of a class; circles around points, which would hide the map one over the other, are joined."""
    if not known.points:
        return known.areas
    found: dict[tuple[Sureness, str, bool], list[Area]] = {}
    for area in known.areas:
        note = area.note if area.sureness == "possible" else ""
        found.setdefault((area.sureness, note, area.band_ft > 0), []).append(area)
    return tuple(
        Area("", shapely.union_all([a.geometry for a in alike]), sureness, note, band_ft=max(a.band_ft for a in alike))
        for (sureness, note, _), alike in found.items()
    )


def class_of_layer(engine: Engine, look: AreaClass, label: str, layer: Layer) -> DrawnClass:
    """Return a class that is features of a layer, or the ground around them."""
    draw = look.draw
    if draw is None:
        raise ValueError(f"the class {look.id} is derived from others")
    where = tuple((name, tuple(values)) for name, values in draw.where.items())
    chosen = layer.select(where, as_of=engine.atlas.as_of)
    doubtful = layer.doubtful(chosen, where)
    notes = []
    if doubtful.any():
        features = counted_words(int(doubtful.sum()), "feature")
        notes.append(f"drawn as possible, as nobody knows class or beginning: {features}")
    unsure = set(chosen[doubtful].tolist())
    for name, parameter in draw.at_least.items():
        figures = layer.figures(name)[chosen]
        unknown = int(np.isnan(figures).sum())
        if unknown:
            notes.append(f"not drawn, for want of a figure: {counted_words(unknown, 'feature')}")
        chosen = chosen[figures >= engine.bound.figures[parameter]]
    unsure |= _not_begun(draw, layer, chosen.tolist(), engine.atlas.as_of)
    if draw.possible is not None:
        unsure |= set(chosen.tolist())
        notes.append(draw.possible)
    if layer.manifest.accuracy_ft:
        notes.append(f"lines known to {layer.manifest.accuracy_ft:,.0f} ft")
    notes += [layer.manifest.cautions[0]] if layer.manifest.cautions else []
    found = DrawnClass(look, label, (), layer.id, 0.0, notes=tuple(notes))
    if draw.radius is not None:
        return _radii(found, layer, chosen, unsure, miles_to_ft(engine.bound.figures[draw.radius]))
    return _polygons(found, layer, chosen, unsure)


def _not_begun(draw: Draw, layer: Layer, chosen: Iterable[int], as_of: date) -> set[int]:
    """Return the features of which it is open whether they count before the day that a field names."""
    name = draw.begins_field
    if name is None:
        return set()
    return {i for i in chosen if (day := layer.value(name, i)) and as_of < date.fromisoformat(day)}


def _sureness(layer: Layer, index: int, unsure: set[int], kinds: set[str]) -> tuple[Sureness, str]:
    """Return whether a feature is drawn as ground that belongs, and what is to be said of it."""
    kind = str(layer.bound_kinds[index])
    if index in unsure:
        return "possible", "open whether it counts"
    if kind == OUTER:
        return "possible", "outermost line that it can have"
    if kind == INNER and NOMINAL in kinds:
        return "possible", "innermost line that it can have"
    if kind == INNER:
        return "sure", "innermost line: surely within"
    tolerance = float(layer.tolerances_ft[index])
    return "sure", f"known to {tolerance:,.0f} ft" if kind == EXACT and tolerance else ""


def _radii(found: DrawnClass, layer: Layer, chosen: Ints, unsure: set[int], radius_ft: float) -> DrawnClass:
    kinds = {str(kind) for kind in layer.bound_kinds[chosen]}
    if layer.lonlat is not None:
        points = tuple((layer.name(i), float(layer.lonlat[i][0]), float(layer.lonlat[i][1])) for i in chosen.tolist())
        areas, note = _around_points(layer, chosen, unsure, radius_ft)
        notes = (*found.notes, *note)
        return replace(found, areas=areas, points=points, radius_ft=radius_ft, drawn_to_ft=CIRCLE_ERROR_FT, notes=notes)
    areas = tuple(
        Area(layer.name(i), ring_around(layer.geometry(i), radius_ft), *_sureness(layer, i, unsure, kinds))
        for i in chosen.tolist()
    )
    return replace(found, areas=areas, radius_ft=radius_ft, drawn_to_ft=CIRCLE_ERROR_FT)


def _around_points(
    layer: Layer, chosen: Ints, unsure: set[int], radius_ft: float
) -> tuple[tuple[Area, ...], tuple[str, ...]]:
    """Return the ground around points: what is surely within, then what may be, as places are known to some feet.

    What is open for another reason is drawn once, as far as it may reach.
    """
    if layer.lonlat is None:
        raise ValueError(f"{layer.id} is no layer of points")
    off = layer.tolerances_ft
    sure = [i for i in chosen.tolist() if i not in unsure]
    areas = [
        Area(layer.name(i), _circle(layer.lonlat[i], radius_ft - off[i]), "sure", f"known to {off[i]:,.0f} ft")
        for i in sure
        if radius_ft > off[i]
    ]
    areas += [
        Area(layer.name(i), _circle(layer.lonlat[i], radius_ft + off[i]), "possible", _BAND, band_ft=float(off[i]))
        for i in sure
        if off[i] > 0
    ]
    areas += [
        Area(layer.name(i), _circle(layer.lonlat[i], radius_ft + off[i]), "possible", "open whether it counts")
        for i in chosen.tolist()
        if i in unsure
    ]
    known = off[chosen]
    if not len(known) or not known.any():
        return tuple(areas), ()
    note = (
        f"places are known to {known.min():,.0f} to {known.max():,.0f} ft: between the full and the dashed line, which "
        "shows where there is room for it, a distance is undetermined"
    )
    return tuple(areas), (note,)


def _circle(lonlat: NDArray[np.float64], radius_ft: float) -> shapely.Geometry:
    circle: shapely.Geometry = circles_around(lonlat[None, :], radius_ft)[0]
    return circle


def _polygons(found: DrawnClass, layer: Layer, chosen: Ints, unsure: set[int]) -> DrawnClass:
    kinds = {str(kind) for kind in layer.bound_kinds[chosen]}
    whole = [layer.geometry(i) for i in chosen.tolist()]
    tolerance = OUTLINE_TOLERANCE_FT
    drawn = shapely.simplify(whole, tolerance, preserve_topology=True)
    while shapely.get_num_coordinates(drawn).sum() > _MOST_VERTICES and tolerance < _COARSEST_FT:
        tolerance *= 2
        drawn = shapely.simplify(whole, tolerance, preserve_topology=True)
    areas = tuple(
        Area(layer.name(i), geometry, *_sureness(layer, i, unsure, kinds))
        for i, geometry in zip(chosen.tolist(), drawn, strict=True)
    )
    return replace(found, areas=areas, drawn_to_ft=tolerance)
