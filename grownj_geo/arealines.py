"""The lines at which an answer may change, drawn: municipal lines, outlines with their accuracy, rims of radii.

Lines are for drawing. What holds on either side of one is decided by distance, elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import shapely

from grownj_geo.bulkfind import MunicipalLines
from grownj_geo.bulkplan import no_sites, plan_of
from grownj_geo.features import LayerFault
from grownj_geo.measured import key_of
from grownj_geo.nodes import (
    ContainsFeatureNode,
    InsideNode,
    OverlapsNode,
    ShareOverNode,
    SiteFactNode,
    Where,
    Within,
    WithinNode,
)
from grownj_geo.place import OFFSHORE_LIMIT_FT
from grownj_geo.rims import circle_around, rim_around, widened
from grownj_geo.units import miles_to_ft

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from grownj_geo.binding import BoundRulebook, Clause
    from grownj_geo.bulkplan import CoverageQuestion, DistanceQuestion, Plan
    from grownj_geo.determine import Engine
    from grownj_geo.layer import Layer
    from grownj_geo.leaves import Leaves
    from grownj_geo.manifest import Manifest

    Shapes = NDArray[np.object_]
    Ints = NDArray[np.int64]

__all__ = ["DRAWN_WITHIN_FT", "asked_where", "drawn_lines", "leaves_under"]

DRAWN_WITHIN_FT = 1.0
"""Drawn lines keep within this many feet of the lines by which answers are decided."""

_SAGITTA_FT = 0.2
_MOST_CORNERS = 3_000_000


# -- what clauses ask ----------------------------------------------------------------------------------


def leaves_under(bound: BoundRulebook, clause: Clause) -> list[Clause]:
    """Return the clauses that look at the world on which a clause rests, through the categories that it names.

    Parameters
    ----------
    bound
        The rulebook with its day and readings; clauses that do not count on the day are left out.
    clause
        Where to begin.
    """
    found: dict[str, Clause] = {}
    seen: set[str] = set()

    def walk(here: Clause) -> None:
        if here.operator == "category":
            if here.content not in seen:
                seen.add(here.content)
                walk(bound.clauses[here.content])
        elif here.operator in {"any", "all", "not"}:
            for child in here.active:
                walk(child)
        else:
            found.setdefault(here.path, here)

    walk(clause)
    return list(found.values())


def asked_where(clause: Clause) -> Where | None:
    """Return the features of a layer that a clause asks about; None for one that asks about none."""
    match clause.node:
        case InsideNode(inside=where) | OverlapsNode(overlaps=where):
            return where
        case WithinNode(within=within):
            return within
        case ShareOverNode(share_over=share):
            return share
        case ContainsFeatureNode(contains_feature=feature):
            return feature
        case SiteFactNode(site_fact=fact):
            return fact.supported_by
        case _:
            return None


# -- lines ---------------------------------------------------------------------------------------------


def drawn_lines(engine: Engine, leaves: Sequence[Clause]) -> Shapes:
    """Return the lines at which the answer of any of some clauses may change, for a point of no uncertainty.

    Parameters
    ----------
    engine
        A rulebook on its atlas.
    leaves
        Clauses that look at the world.

    Returns
    -------
    numpy.ndarray
        Lines in EPSG:3424. The first two are the end of the drawn ground (1,000 ft off the municipalities) and the
        municipal lines.

    Raises
    ------
    LayerFault
        ``no_municipalities`` where the municipal polygons cannot be used, and ``too_detailed`` where a layer has more
        corners than can be drawn.
    """
    municipal = MunicipalLines.of(engine.atlas)
    if municipal is None:
        problem = engine.atlas.state("municipalities").problem
        raise LayerFault(
            "no_municipalities", f"The municipalities cannot be used ({problem}). Areas cannot be drawn without them."
        )
    plan = plan_of(engine.bound, engine.atlas)
    areas: list[shapely.Geometry] = [_drawn_ground(municipal), *municipal.areas]
    asked = {key_of(where) for leaf in leaves if (where := asked_where(leaf)) is not None}
    for coverage in plan.coverages:
        if coverage.key in asked:
            _check_detail(coverage)
            areas += _coverage_areas(plan, coverage)
    radii = set(_radii(engine.bound, leaves))
    for distance in plan.distances:
        for radius_ft in distance.every_radius:
            if (distance.key, radius_ft) in radii:
                areas += _distance_areas(distance, radius_ft)
    areas += _extent_areas(no_sites(engine.bound, engine.atlas), leaves, municipal)
    lines = shapely.boundary(np.array(areas, dtype=object))
    return np.asarray(lines[~shapely.is_empty(lines)])


# Of municipalities that are in use only.
_grounds: WeakKeyDictionary[MunicipalLines, shapely.Geometry] = WeakKeyDictionary()


def _drawn_ground(municipal: MunicipalLines) -> shapely.Geometry:
    """Return the ground that is answered for: the municipalities, and as far off them as a pier may be."""
    if municipal not in _grounds:
        _grounds[municipal] = widened(shapely.union_all(municipal.areas), OFFSHORE_LIMIT_FT, within_ft=_SAGITTA_FT)
    return _grounds[municipal]


def _radii(bound: BoundRulebook, leaves: Sequence[Clause]) -> Iterator[tuple[object, float]]:
    for leaf in leaves:
        where = asked_where(leaf)
        if isinstance(where, Within):
            yield key_of(where), miles_to_ft(bound.figures[where.radius])


def _check_detail(asked: CoverageQuestion) -> None:
    corners = sum(asked.layer.vertices(int(i)) for i in asked.features)
    if corners > _MOST_CORNERS:
        raise LayerFault(
            "too_detailed",
            f"The layer {asked.layer.id} has {corners:,} corners in what the rules ask of it; at most "
            f"{_MOST_CORNERS:,} can be drawn. Choose categories that do not ask for it (--category), or a smaller "
            "layer.",
        )


def _coverage_areas(plan: Plan, asked: CoverageQuestion) -> list[shapely.Geometry]:
    """Return what is surely, as computed, and possibly in: of an accurate layer, the outline itself."""
    sure, possible, computed = (plan.grounds[i] for i in asked.grounds)
    tolerance = asked.tolerance_ft
    found = [computed.area] if not computed.empty else []
    for ground, sign in ((sure, -1.0), (possible, 1.0), (sure, 1.0), (possible, -1.0)):
        if not ground.empty:
            found.append(widened(ground.area, sign * tolerance, within_ft=_SAGITTA_FT) if tolerance else ground.area)
    if asked.lacking >= 0:
        found.append(widened(plan.grounds[asked.lacking].area, tolerance, within_ft=_SAGITTA_FT))
    return found


def _distance_areas(asked: DistanceQuestion, radius_ft: float) -> list[shapely.Geometry]:
    """Return what is surely, as computed, and possibly within a radius."""
    found = []
    for features, sign in ((asked.sure, -1.0), (asked.features, 0.0), (asked.possible, 1.0)):
        reach = _reach(asked.layer, features, radius_ft, sign)
        if not reach.is_empty:
            found.append(reach)
    return found


def _reach(layer: Layer, features: Ints, radius_ft: float, sign: float) -> shapely.Geometry:
    if layer.lonlat is None:
        kinds = {-1.0: layer.sure, 0.0: layer.computed, 1.0: layer.possible}[sign]
        features = features[kinds[features]]
    parts = []
    for i in features.tolist():
        feet = radius_ft + sign * float(layer.tolerances_ft[i])
        if feet <= 0:
            continue
        if layer.lonlat is None:
            parts.append(rim_around(layer.geometry(i), feet, within_ft=_SAGITTA_FT))
        else:
            lon, lat = (float(value) for value in layer.lonlat[i])
            parts.append(circle_around(lon, lat, feet, within_ft=_SAGITTA_FT))
    return shapely.union_all(parts)


def _extent_areas(sites: Leaves, leaves: Sequence[Clause], municipal: MunicipalLines) -> list[shapely.Geometry]:
    """Return the reach of the municipalities in which layers that are not there may lie.

    Municipal lines are known to so many feet only; off the shore, any municipality within reach is possible.
    """
    found: dict[tuple[bool, ...], list[shapely.Geometry]] = {}
    for layer_id in sorted({where.layer for leaf in leaves if (where := asked_where(leaf)) is not None}):
        state = sites.atlas.state(layer_id)
        if sites.layer(layer_id) is not None or state.status == "unusable":
            continue
        for chosen in _extents(sites, state.manifest, municipal.codes):
            if any(chosen) and not all(chosen) and chosen not in found:
                ground = shapely.union_all(municipal.areas[list(chosen)])
                found[chosen] = [
                    widened(ground, feet, within_ft=_SAGITTA_FT) for feet in (municipal.accuracy_ft, OFFSHORE_LIMIT_FT)
                ]
    return [area for areas in found.values() for area in areas]


def _extents(sites: Leaves, manifest: Manifest, codes: Sequence[str]) -> Iterator[tuple[bool, ...]]:
    extent, membership = manifest.extent, sites.membership
    if extent.within is not None:
        yield from _extents(sites, sites.atlas.manifests[extent.within], codes)
        return
    if extent.counties is not None:
        yield tuple(membership.county(code) in {*extent.counties, ""} for code in codes)
    places = extent.municipalities
    if extent.designation is not None:
        listed = membership.listings(extent.designation)
        places = None if listed is None else tuple(listed)
    if places is not None:
        yield tuple(code in places for code in codes)
