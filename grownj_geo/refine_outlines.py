"""A user's outlines of the airport and of port terminals, in place of the bounds between which they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.georeference import project
from grownj_geo.layer import EXACT, OUTER
from grownj_geo.layercheck import is_blank
from grownj_geo.refine_places import geometry_system, system_in_words
from grownj_geo.refining import COMMON_FIELDS, in_words, put, result, shown
from grownj_geo.units import FT_PER_FTUS, FT_PER_MILE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grownj_geo.georeference import Georeference
    from grownj_geo.layer import Layer
    from grownj_geo.refining import Work

__all__ = ["refine_outlines"]

BOUND = "bound"

_FIELDS = {
    "id": ("id",),
    "name": ("name",),
    "accuracy_ft": ("accuracy_ft", "uncertainty_ft", "accuracy"),
    **COMMON_FIELDS,
}


def refine_outlines(work: Work) -> Layer:
    """Return the layer with the given outlines in place of the bounds that ship.

    Raises
    ------
    LayerFault
        With all faults of the rows.
    """
    work.find_columns(_FIELDS)
    base, system = work.base, geometry_system(work.given, work.options.crs, work.found)
    work.crs = system_in_words(system, work.given, work.options.crs)
    work.added_accuracy_ft = system.added_accuracy_ft
    by_id: dict[str, list[int]] = {}
    for i in range(len(base)):
        by_id.setdefault(base.key(i), []).append(i)
    shapes: list[shapely.Geometry] = []
    rows: list[dict[str, Any]] = []
    accuracies: list[float] = []
    _refuse_bounds(work)
    for row in range(len(work.given)):
        key = _outlined(work, row, by_id)
        shape = _outline(work, row, system)
        feet = work.feet("accuracy_ft", row)
        if feet is None and not work.text("accuracy_ft", row):
            words = "it has no accuracy_ft, and would count as exact. Give the feet within which the outline is true"
            work.fault("missing_uncertainty", row, words)
        own = work.own(row)
        if key is None or shape is None or feet is None:
            continue
        former = by_id[key]
        _compare_bounds(work, row, shape, former)
        like = {name: values[former[0]] for name, values in base.columns.items()}
        name = work.text("name", row) or base.name(former[0])
        shapes.append(shape)
        rows.append(like | own | {"bound": EXACT, "name": name})
        accuracies.append(feet)
    work.found.stop()
    outlined = {str(row["id"]) for row in rows}
    gone = [i for key in outlined for i in by_id[key]]
    columns, kept = put(base, {}, rows, gone)
    every = [base.geometry(i) for i in kept] + shapes
    bounds = np.array([shapely.bounds(shape) for shape in every], dtype=np.float64).reshape(-1, 4)
    own_ft = (work.manifest.accuracy_ft or 0.0) + max(accuracies) + system.added_accuracy_ft
    # One figure holds for the whole layer: what is kept is never taken for better known than it is.
    accuracy = max([own_ft, *([base.manifest.accuracy_ft or 0.0] if kept else [])])
    named = shown(sorted(outlined))
    work.found.tell("rows_replaced", "noted", range(len(rows)), f"An outline takes the place of the bounds of {named}.")
    if kept and accuracy > (base.manifest.accuracy_ft or 0.0):
        words = f"The bounds that stay count as known to {accuracy:.1f} ft too, as the outline does."
        work.found.tell("accuracy_of_all", "noted", (), words)
    words = f"{in_words(replaced=len(gone))} by {len(rows)} outline{'s' if len(rows) != 1 else ''} ({named})"
    shift = f"; {system.added_accuracy_ft:.1f} ft of the change of datum" if system.added_accuracy_ft else ""
    datum = f"{max(accuracies):g} ft as {work.source} states{shift}; {work.manifest.accuracy_source}"
    return result(work, columns, bounds, words, shapes=every, accuracy_ft=accuracy, accuracy_source=datum)


def _refuse_bounds(work: Work) -> None:
    """Refuse what says of itself that it is a bound: it would count as the outline."""
    name = next((column for column in work.given.columns if column.lower() == BOUND), None)
    for row, value in enumerate(work.given.columns[name] if name is not None else ()):
        kind = "" if is_blank(value) else str(value).strip().lower()
        if kind and kind != EXACT:
            words = f"it is an {kind} bound, as its field {name} says, and no outline. Give the outline itself"
            work.fault("bound_given", row, words)


def _outlined(work: Work, row: int, by_id: Mapping[str, Sequence[int]]) -> str | None:
    """Return the id of what a row outlines; None after a fault."""
    typed, name = work.text("id", row), work.text("name", row)
    if not typed and len(by_id) == 1:
        return next(iter(by_id))
    names = {work.base.name(indices[0]).lower(): key for key, indices in by_id.items()}
    found = typed.lower() if typed else names.get(name.lower(), "")
    if found in by_id:
        return found
    listed = "; ".join(f"{key} ({work.base.name(indices[0])})" for key, indices in by_id.items())
    work.fault("unknown_id", row, f"it outlines {typed or name or 'nothing that it names'!r}. Give the id: {listed}")
    return None


def _outline(work: Work, row: int, system: Georeference) -> shapely.Geometry | None:
    """Return an outline in EPSG:3424; None after a fault."""
    shape = work.given.geometries[row]
    if shape is None or shape.is_empty:
        work.fault("null_geometry", row, "it has no geometry. Draw it, or remove the row")
        return None
    if shape.geom_type not in {"Polygon", "MultiPolygon"}:
        work.fault("wrong_geometry", row, f"it is a {shape.geom_type}. Expected a polygon, the outline")
        return None
    if not shapely.is_valid(shape):
        reason = shapely.is_valid_reason(shape)
        work.fault("invalid_geometry", row, f"its outline is not valid ({reason}). Repair it in a GIS")
        return None
    if shape.has_z:
        work.found.tell("z_dropped", "changed", [row], "Heights were dropped: areas are two-dimensional.")
    corners = np.array(shape.bounds, dtype=np.float64).reshape(2, 2)
    if not np.isfinite(system.forward(corners)).all():
        work.fault("misplaced", row, f"it cannot be projected from {system.name}. Is that the right system?")
        return None
    flat = np.array([shapely.force_2d(shape)], dtype=object)
    outline: shapely.Geometry = project(flat, system, work.found)[0]
    if not shapely.is_valid(outline):
        reason = shapely.is_valid_reason(outline)
        work.fault("invalid_geometry", row, f"its outline is not valid once projected ({reason}). Repair it in a GIS")
        return None
    return outline


def _compare_bounds(work: Work, row: int, shape: shapely.Geometry, former: Sequence[int]) -> None:
    """Refuse an outline that lies elsewhere; tell where it does not lie between the shipped bounds."""
    base = work.base
    outer = [i for i in former if base.bound_kinds[i] == OUTER] or list(former)
    widest = shapely.union_all([base.geometry(i) for i in outer])
    name = base.name(former[0])
    if not shapely.intersects(widest, shape):
        away = float(shapely.distance(widest, shape)) * FT_PER_FTUS / FT_PER_MILE
        words = f"the outline lies {away:,.1f} miles from all ground that can be {name}"
        work.fault("misplaced", row, f"{words}. Correct its id, or the CRS that it says it is in")
        return
    narrow = [base.geometry(i) for i in former if base.bound_kinds[i] != OUTER]
    beyond, short = not shapely.covers(widest, shape), any(not shapely.covers(shape, each) for each in narrow)
    if beyond or short:
        how = " and ".join(filter(None, ("reaches beyond the outer" * beyond, "does not cover the inner" * short)))
        work.found.tell("beyond_bounds", "noted", [row], f"The outline of {name} {how} bound that ships. It was taken.")
