"""What maps and pictures draw: classes of area as geometries, the outlines below them, and where both come from.

Nothing here decides anything: distances decide.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.answers import answers_many
from grownj_geo.errors import LayerError
from grownj_geo.evaluate import Evaluation
from grownj_geo.leaves import Leaves
from grownj_geo.logic import Cause, Outcome
from grownj_geo.mapground import OUTLINE_TOLERANCE_FT, Area, DrawnClass, class_of_layer
from grownj_geo.palette import AreaClass, area_class, area_classes
from grownj_geo.sitetable import SiteTable
from grownj_geo.units import FT_PER_FTUS
from grownj_geo.values import ANSWER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from grownj_geo.determine import Engine
    from grownj_geo.manifest import Manifest
    from grownj_geo.mapground import Sureness
    from grownj_geo.palette import Draw

    Ints = NDArray[np.int64]

__all__ = [
    "MapAreas",
    "NotDrawn",
    "Outline",
    "Source",
    "draw_areas",
    "radius_words",
    "showing",
    "shown_classes",
]

_COVERAGE_TOLERANCE_FTUS = 20.0
"""How far outlines are simplified together: the root of the ground that a corner may cut off, not a distance.

Of the municipalities that ship it moves no line by more than 47 ft, which leaves room for a page's rounding (3 ft).
"""
_ROUNDING_FT = 3.0

_FRACTIONS = {0.25: "¼", 0.5: "½", 0.75: "¾"}


@dataclass(frozen=True)
class Source:
    """Where a layer comes from, as the corner of a map says it."""

    layer: str
    title: str
    publisher: str
    edition: str
    sha256: str


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


def shown_classes(names: Iterable[str], *, said: str) -> frozenset[str]:
    """Return the classes that a map is to open with, all of them such as can be drawn.

    Parameters
    ----------
    names
        As they were typed.
    said
        What named them, for the message.

    Raises
    ------
    LayerError
        For a class of area that there is not.
    """
    known = [look.id for look in area_classes() if look.draw is not None]
    chosen = frozenset(names)
    for name in sorted(chosen.difference(known)):
        raise LayerError(f"{said} names {name!r}; expected classes among {', '.join(known)}.")
    return chosen


def showing(areas: MapAreas, shown: frozenset[str] | None) -> MapAreas:
    """Return areas that a map opens with those chosen; as they are without any choice.

    Parameters
    ----------
    areas
        What is drawn.
    shown
        Ids, as `shown_classes` gives them; None for the usual ones.
    """
    if shown is None:
        return areas
    classes = tuple(replace(k, look=k.look.model_copy(update={"shown": k.look.id in shown})) for k in areas.classes)
    return replace(areas, classes=classes)


def radius_words(miles: float) -> str:
    """Return a radius as a legend says it.

    Examples
    --------
    >>> radius_words(0.5), radius_words(1.0), radius_words(15.0), radius_words(0.3)
    ('½ mile', '1 mile', '15 miles', '0.3 miles')
    """
    return f"{_FRACTIONS.get(miles, f'{miles:g}')} {'mile' if miles == 1 or miles in _FRACTIONS else 'miles'}"


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
            drawn.append(class_of_layer(engine, look, label, layer))
    return MapAreas(
        municipalities=municipalities,
        counties=_counties(municipalities),
        classes=tuple(drawn),
        not_drawn=tuple(missing),
        sources=_sources(engine, {"municipalities", *(known.layer for known in drawn)}),
        problems=tuple(record.problem for record in engine.layer_records if record.problem),
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
    drawn = _simplified([layer.geometry(i) for i in chosen], measured=layer.fingerprint != layer.manifest.sha256)
    return tuple(
        Outline(layer.key(i), layer.name(i), layer.value("county", i), geometry)
        for i, geometry in zip(chosen, drawn, strict=True)
    )


def _simplified(whole: Sequence[shapely.Geometry], *, measured: bool) -> list[shapely.Geometry]:
    """Return outlines with fewer corners, none further off than `OUTLINE_TOLERANCE_FT`.

    Of what ships that is known; other outlines are measured, which takes a second.
    """
    tolerance = _COVERAGE_TOLERANCE_FTUS
    drawn = shapely.coverage_simplify(whole, tolerance)
    while measured and tolerance > 1.0 and not _near(whole, drawn):
        tolerance /= 2
        drawn = shapely.coverage_simplify(whole, tolerance)
    return list(drawn)


def _near(whole: Sequence[shapely.Geometry], drawn: Sequence[shapely.Geometry]) -> bool:
    """Return whether every corner of some outlines is near the line that is drawn for it."""
    lines = shapely.boundary(np.asarray(drawn, dtype=object))
    shapely.prepare(lines)
    corners, at = shapely.get_coordinates(whole, return_index=True)
    limit = (OUTLINE_TOLERANCE_FT - _ROUNDING_FT) / FT_PER_FTUS
    return bool(shapely.dwithin(lines[at], shapely.points(corners), limit).all())


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
    # What is measured is drawn by itself.
    leaves = Leaves(engine.bound, engine.atlas, nowhere, anywhere=False, feature_cache=engine.feature_cache)
    run = Evaluation(engine.bound, leaves, keep=False, margins=False)
    found: dict[str, dict[str, tuple[str, str | None]]] = {}
    for name in filter(None, wanted):
        values = run.category(name)
        outcomes = [Outcome.of(answer).value for answer in values.outcomes[ANSWER].tolist()]
        causes = ["; ".join(Cause(flag).words) or None for flag in values.causes.tolist()]
        found[name] = dict(zip(codes, zip(outcomes, causes, strict=True), strict=True))
    return found


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
    return None if layer is None else class_of_layer(engine, other, _label(engine, other), layer)


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
        words = held.name
    else:
        words = f"edition of {manifest.edition}" if manifest.edition else "as shipped, without a date of its own"
    as_of = engine.bound.as_of
    return words if manifest.covers(as_of) else f"{words}, not known to hold on {as_of}"
