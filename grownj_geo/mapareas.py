"""What maps and pictures draw: classes of area as geometries, the outlines below them, and where both come from.

Nothing here decides anything: distances decide. Radii are drawn as true geodesic circles.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyproj
import shapely

from grownj_geo.answers import answers_many
from grownj_geo.layer import EXACT, INNER, NOMINAL, OUTER
from grownj_geo.logic import Cause
from grownj_geo.observe import SiteTable
from grownj_geo.palette import AreaClass, area_class, area_classes
from grownj_geo.shares import geodesic_circle
from grownj_geo.units import FT_PER_METRE, miles_to_ft, to_lonlat, to_working

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from grownj_geo.determine import Engine
    from grownj_geo.layer import Layer
    from grownj_geo.manifest import Manifest
    from grownj_geo.palette import Draw

    Ints = NDArray[np.int64]

__all__ = [
    "CIRCLE_ERROR_FT",
    "OUTLINE_TOLERANCE_FT",
    "Area",
    "DrawnClass",
    "MapAreas",
    "NotDrawn",
    "Outline",
    "Source",
    "Sureness",
    "circles_around",
    "draw_areas",
    "joined_areas",
    "radius_words",
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
_FRACTIONS = {0.25: "¼", 0.5: "½", 0.75: "¾"}

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


@dataclass(frozen=True)
class Source:
    """Where a layer comes from, as the corner of a map says it."""

    layer: str
    title: str
    publisher: str
    edition: str
    sha256: str


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


@dataclass(frozen=True)
class NotDrawn:
    """A class of area that is not drawn, and how to get it."""

    look: AreaClass
    label: str
    why: str
    how: str


@dataclass(frozen=True, eq=False)
class Outline:
    """A municipality or a county of the base: simplified together with its neighbours, so that no gap opens."""

    code: str
    name: str
    county: str
    geometry: shapely.Geometry


@dataclass(frozen=True, eq=False)
class MapAreas:
    """Everything below the sites.

    Attributes
    ----------
    municipalities, counties
        The base.
    classes
        In drawing order, the lowest first.
    not_drawn
        Classes whose layer is not loaded or cannot be used.
    sources
        Of all that is drawn.
    problems
        Layers that ship or were loaded and could not be used.
    """

    municipalities: tuple[Outline, ...]
    counties: tuple[Outline, ...]
    classes: tuple[DrawnClass, ...]
    not_drawn: tuple[NotDrawn, ...]
    sources: tuple[Source, ...]
    problems: tuple[str, ...] = ()

    def outline(self, mun_code: str) -> shapely.Geometry | None:
        """Return the drawn outline of a municipality, in EPSG:3424."""
        return self._by_code.get(mun_code)

    _by_code: dict[str, shapely.Geometry] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Look outlines up by code from now on."""
        self._by_code.update({outline.code: outline.geometry for outline in self.municipalities})


def radius_words(miles: float) -> str:
    """Return a radius as a legend says it.

    Examples
    --------
    >>> radius_words(0.5), radius_words(1.0), radius_words(15.0), radius_words(0.3)
    ('½ mile', '1 mile', '15 miles', '0.3 miles')
    """
    return f"{_FRACTIONS.get(miles, f'{miles:g}')} {'mile' if miles == 1 or miles in _FRACTIONS else 'miles'}"


def ring_around(ground: shapely.Geometry, radius_ft: float) -> shapely.Geometry:
    """Return the ground within a radius of a place a few miles wide at most, measured on the ellipsoid.

    Drawn in a plane in which distances from the place's middle are true: for a place of two miles and a radius of
    fifteen the line is within a tenth of a foot.

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
    middle = shapely.centroid(ground)
    lon, lat = (float(value) for value in to_lonlat(middle.x, middle.y))
    plane = pyproj.Transformer.from_crs(
        "EPSG:4269", f"+proj=aeqd +lon_0={lon!r} +lat_0={lat!r} +ellps=GRS80 +units=m +no_defs", always_xy=True
    )

    def into(xy: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.column_stack(plane.transform(*to_lonlat(xy[:, 0], xy[:, 1])))

    def back(xy: NDArray[np.float64]) -> NDArray[np.float64]:
        lons, lats = plane.transform(xy[:, 0], xy[:, 1], direction="INVERSE")
        return np.column_stack(to_working(lons, lats))

    flat = shapely.transform(shapely.segmentize(ground, 500.0), into)
    ring = shapely.buffer(flat, radius_ft / FT_PER_METRE, quad_segs=_corners(radius_ft) // 4 + 1)
    return shapely.transform(ring, back)


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
    corners = _corners(radius_ft)
    rings = [geodesic_circle(float(lon), float(lat), radius_ft, corners=corners) for lon, lat in lonlat]
    return np.array(rings, dtype=object)


def _corners(radius_ft: float) -> int:
    """Return how many corners a circle needs, so that the middle of a side is near enough to the true line."""
    return max(int(np.ceil(np.pi / np.arccos(1.0 - CIRCLE_ERROR_FT / max(radius_ft, CIRCLE_ERROR_FT)))), 8)


def draw_areas(engine: Engine, *, classes: Sequence[AreaClass] | None = None) -> MapAreas:
    """Return what is drawn for a day, a rulebook and readings.

    Parameters
    ----------
    engine
        Its atlas has the layers, its rulebook the figures.
    classes
        Which classes, in order; all by default. Those that are derived from others are left out.
    """
    municipalities = _municipalities(engine)
    drawn: list[DrawnClass] = []
    missing: list[NotDrawn] = []
    by_municipality = _by_municipality(engine)
    for look in area_classes() if classes is None else classes:
        if look.draw is None or not _known(engine, look.draw):
            continue
        label = _label(engine, look)
        if look.draw.category is not None:
            answers = by_municipality.get(look.draw.category, {})
            around = _around(engine, look)
            if around is not None:
                answers = _away_from(engine, look.draw.category, answers, around, municipalities)
            drawn.append(_municipal(engine, look, label, answers, around))
            continue
        layer = engine.atlas.layer(str(look.draw.layer))
        if layer is None:
            missing.append(_not_drawn(engine, look, label))
        else:
            drawn.append(_of_layer(engine, look, label, layer))
    return MapAreas(
        municipalities=municipalities,
        counties=_counties(municipalities),
        classes=tuple(drawn),
        not_drawn=tuple(missing),
        sources=_sources(engine, {"municipalities", *(known.layer for known in drawn)}),
        problems=tuple(record.problem for record in engine.layer_records if record.problem),
    )


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


def _known(engine: Engine, draw: Draw) -> bool:
    """Return whether the rulebook has the category or the figures that a class asks for."""
    if draw.category is not None:
        return draw.category in engine.bound.clauses
    figures = {*draw.at_least.values(), *([draw.radius] if draw.radius else [])}
    return figures <= set(engine.bound.figures)


def _label(engine: Engine, look: AreaClass) -> str:
    draw = look.draw
    if draw is None or draw.radius is None:
        return look.label
    return look.label.replace("{radius}", radius_words(engine.bound.figures[draw.radius]))


# -- the base ------------------------------------------------------------------------------------------


def _municipalities(engine: Engine) -> tuple[Outline, ...]:
    """Return the municipalities of the day, simplified together so that no gap opens between neighbours."""
    layer = engine.atlas.layer("municipalities")
    if layer is None:
        return ()
    chosen = layer.select(as_of=engine.atlas.as_of).tolist()
    drawn = shapely.coverage_simplify([layer.geometry(i) for i in chosen], OUTLINE_TOLERANCE_FT)
    return tuple(
        Outline(layer.key(i), layer.name(i), layer.value("county", i), geometry)
        for i, geometry in zip(chosen, drawn, strict=True)
    )


def _counties(municipalities: tuple[Outline, ...]) -> tuple[Outline, ...]:
    """Return the counties as their municipalities are drawn, so that the lines are the same."""
    by_county: dict[str, list[Outline]] = {}
    for outline in municipalities:
        by_county.setdefault(outline.county, []).append(outline)
    return tuple(
        Outline(parts[0].code[:2], name, name, shapely.coverage_union_all([part.geometry for part in parts]))
        for name, parts in sorted(by_county.items())
    )


def _by_municipality(engine: Engine) -> dict[str, dict[str, tuple[str, str | None]]]:
    """Return, by category and municipal code, the answer by municipality alone, and why it is open."""
    codes = tuple(engine.atlas.municipal_names)
    wanted = [c.draw.category for c in area_classes() if c.draw and c.draw.category in engine.bound.clauses]
    if not codes or not wanted:
        return {}
    n = len(codes)
    nowhere = SiteTable(np.full(n, None, dtype=object), np.zeros(n), np.zeros(n, dtype=bool), codes)
    columns = answers_many(engine, nowhere, {}).columns("full")
    return {
        name: dict(zip(codes, zip(columns[name], columns[f"{name}_causes"], strict=True), strict=True))
        for name in wanted
        if name is not None and name in columns
    }


def _municipal(
    engine: Engine, look: AreaClass, label: str, answers: dict[str, tuple[str, str | None]], around: DrawnClass | None
) -> DrawnClass:
    names = engine.atlas.municipal_names
    category = str(look.draw.category if look.draw else "")
    areas = []
    for code, (outcome, causes) in answers.items():
        if outcome == "no":
            continue
        sure: Sureness = "sure" if outcome == "yes" else "possible"
        note = "" if sure == "sure" else f"undetermined: {(causes or 'open').replace('_', ' ')}"
        areas.append(Area(f"{names[code][0]}, {names[code][1]} County", None, sure, note, code))
    notes = [engine.rulebook.category(category).citation]
    by_distance = [] if around is None else _as_answered(engine, category, around)
    if around is not None and by_distance:
        areas += by_distance
        notes += [f"also the ground of: {around.label}", *around.notes]
    return DrawnClass(look, label, tuple(areas), "designations", OUTLINE_TOLERANCE_FT, notes=tuple(notes))


def _around(engine: Engine, look: AreaClass) -> DrawnClass | None:
    """Return the class by distance that a class of municipalities takes in; None where none can be drawn."""
    if look.draw is None or look.draw.around is None:
        return None
    other = area_class(look.draw.around)
    if other.draw is None or other.draw.layer is None or not _known(engine, other.draw):
        return None
    layer = engine.atlas.layer(other.draw.layer)
    return None if layer is None else _of_layer(engine, other, _label(engine, other), layer)


def _away_from(
    engine: Engine,
    category: str,
    answers: dict[str, tuple[str, str | None]],
    around: DrawnClass,
    municipalities: tuple[Outline, ...],
) -> dict[str, tuple[str, str | None]]:
    """Return answers by municipality in which the ground of a class by distance opens none: its line is drawn.

    What is open without a place is asked again at a place of the municipality that is outside that ground.
    """
    ground = shapely.union_all([area.geometry for area in around.areas])
    waiting = Cause.LOCATION_UNKNOWN.words[0]
    left = {
        outline.code: rest
        for outline in municipalities
        if waiting in (answers.get(outline.code, ("", None))[1] or "")
        and not (rest := shapely.difference(outline.geometry, ground)).is_empty
    }
    if not left:
        return answers
    places = np.array([*shapely.point_on_surface(list(left.values())), None], dtype=object)[:-1]
    outcomes, causes = _answers_at(engine, category, places, tuple(left))
    return answers | dict(zip(left, zip(outcomes, causes, strict=True), strict=True))


def _as_answered(engine: Engine, category: str, around: DrawnClass) -> list[Area]:
    """Return the areas of a class by distance, each as sure as the category is at a place inside it."""
    shapes = [area.geometry for area in around.areas]
    inside = np.array([*shapely.point_on_surface(shapes), None], dtype=object)[:-1]
    outcomes, _ = _answers_at(engine, category, inside, ("",) * len(inside))
    return [
        area if outcome == "yes" else replace(area, sureness="possible", note="open whether it counts")
        for area, outcome in zip(around.areas, outcomes, strict=True)
        if outcome != "no"
    ]


def _answers_at(
    engine: Engine, category: str, places: NDArray[np.object_], codes: tuple[str, ...]
) -> tuple[list[str], list[str | None]]:
    """Return a category's outcomes and causes at points in EPSG:3424, whose municipality may be known."""
    n = len(places)
    columns = answers_many(engine, SiteTable(places, np.zeros(n), np.ones(n, dtype=bool), codes), {}).columns("full")
    return list(columns[category]), list(columns[f"{category}_causes"])


# -- layers --------------------------------------------------------------------------------------------


def _not_drawn(engine: Engine, look: AreaClass, label: str) -> NotDrawn:
    state = engine.atlas.state(str(look.draw.layer if look.draw else ""))
    if state.problem is not None:
        return NotDrawn(look, label, f"could not be used: {state.problem}", state.manifest.load_command)
    return NotDrawn(look, label, "not loaded", state.manifest.load_command)


def _of_layer(engine: Engine, look: AreaClass, label: str, layer: Layer) -> DrawnClass:
    """Return a class that is features of a layer, or the ground around them."""
    draw = look.draw
    if draw is None:
        raise ValueError(f"the class {look.id} is derived from others")
    where = tuple((name, tuple(values)) for name, values in draw.where.items())
    chosen = layer.select(where, as_of=engine.atlas.as_of)
    doubtful = layer.doubtful(chosen, where)
    notes = []
    if doubtful.any():
        notes.append(f"{int(doubtful.sum()):,} features whose class or beginning nobody knows are drawn as possible")
    unsure = set(chosen[doubtful].tolist())
    for name, parameter in draw.at_least.items():
        figures = layer.figures(name)[chosen]
        unknown = int(np.isnan(figures).sum())
        if unknown:
            notes.append(f"{unknown:,} features without a figure are not drawn")
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


# -- sources -------------------------------------------------------------------------------------------


def _sources(engine: Engine, layers: set[str]) -> tuple[Source, ...]:
    records = {record.id: record for record in engine.layer_records}
    return tuple(
        Source(
            name, manifest.title, _publisher(manifest), _edition(engine, manifest), (records[name].sha256 or "")[:12]
        )
        for name in sorted(layers)
        if (manifest := engine.atlas.manifests.get(name)) is not None and records[name].status == "loaded"
    )


def _publisher(manifest: Manifest) -> str:
    return manifest.publisher[:1].upper() + manifest.publisher[1:]


def _edition(engine: Engine, manifest: Manifest) -> str:
    held = engine.atlas.edition(manifest.id)
    if held is not None:
        return held.name
    return f"edition of {manifest.edition}" if manifest.edition else "as shipped, without a date of its own"
