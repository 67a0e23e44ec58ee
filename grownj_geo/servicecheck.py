"""What was fetched, held against what the service says of the same features: the sum of areas, or the extent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyproj
import shapely

from grownj_geo.features import Change, LayerFault
from grownj_geo.servicecrs import code_of
from grownj_geo.servicelayer import ask

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.netclient import Session
    from grownj_geo.servicelayer import ServiceFacts

__all__ = ["compare_with_service"]

_MOST_APART = 0.01
_SUM = "area_sum"
# What a service answers that cannot do sums or extents, whatever it says it can.
_NOT_OFFERED = frozenset({"service_error", "http_error", "bad_reply"})


def compare_with_service(
    session: Session, facts: ServiceFacts, geometries: NDArray[Any], *, crs: str, where: str
) -> tuple[Change, ...]:
    """Compare fetched geometry with the service's own sum of areas, or with its extent where it keeps no areas.

    Parameters
    ----------
    session, facts
        Of the fetch.
    geometries
        What was fetched, x (or longitude) first; None where there is none.
    crs
        What they are in, such as ``"EPSG:3424"``.
    where
        The choice that was fetched.

    Returns
    -------
    tuple
        One noted change that says what was compared and how far it is apart, or why nothing could be compared.

    Raises
    ------
    LayerFault
        ``area_mismatch`` or ``extent_mismatch`` where the two are more than one percent apart.
    """
    there = geometries[np.array([shape is not None and not shape.is_empty for shape in geometries], dtype=bool)]
    reasons = []
    for compare in (_areas, _extents):
        if not len(there):
            reasons.append("no feature has geometry")
            break
        try:
            found = compare(session, facts, there, where, crs)
        except LayerFault as error:
            if error.fault not in _NOT_OFFERED:
                raise
            reasons.append(f"the service did not answer ({error})")
            continue
        if isinstance(found, Change):
            return (found,)
        reasons.append(found)
    words = f"Fetched geometry was not compared with the service's own figures: {'; '.join(reasons)}."
    return (Change(kind="area_not_compared", effect="noted", count=len(geometries), words=words),)


def _crs_of(wkid: Any) -> pyproj.CRS | None:  # noqa: ANN401 - JSON is anything
    code = code_of(wkid)
    crs = None if code is None else pyproj.CRS.from_user_input(code)
    return crs if crs is not None and (crs.is_projected or crs.is_geographic) else None


def _in(target: pyproj.CRS, geometries: NDArray[Any], crs: str) -> NDArray[Any]:
    turn = pyproj.Transformer.from_crs(crs, target, always_xy=True)
    return np.asarray(
        shapely.transform(geometries, lambda xy: np.column_stack(turn.transform(xy[:, 0], xy[:, 1]))), dtype=object
    )


def _areas(session: Session, facts: ServiceFacts, geometries: NDArray[Any], where: str, crs: str) -> Change | str:
    own = _crs_of(facts.wkid)
    if facts.geometry != "esriGeometryPolygon" or not facts.area_field or not facts.statistics or own is None:
        return "it gives no sum of areas"
    wanted = [{"statisticType": "sum", "onStatisticField": facts.area_field, "outStatisticFieldName": _SUM}]
    reply = ask(session, f"{facts.url}/query", {"where": where, "outStatistics": json.dumps(wanted)})
    try:
        values = {str(name).lower(): value for name, value in reply["features"][0]["attributes"].items()}
    except (AttributeError, IndexError, KeyError, TypeError):
        return f"its sum of areas is {json.dumps(reply)[:80]}"
    theirs = values.get(_SUM)
    if not isinstance(theirs, int | float) or not theirs > 0:
        return f"its sum of areas is {theirs!r}"
    ours = float(np.sum(shapely.area(_in(own, geometries, crs))))
    apart = abs(ours - theirs) / theirs
    said = f"{ours:,.6g} square units of {own.name} against the service's {theirs:,.6g}"
    if not apart <= _MOST_APART:
        raise LayerFault(
            "area_mismatch",
            f"{facts.url}: the fetched polygons have {said}, {apart:.1%} apart; expected at most {_MOST_APART:.0%}. "
            "Fetch again; if it stays so, download the layer by hand and import it.",
        )
    return Change(
        kind="area_compared", effect="noted", count=len(geometries), words=f"Area: {said}, {apart:.3%} apart."
    )


def _extents(session: Session, facts: ServiceFacts, geometries: NDArray[Any], where: str, crs: str) -> Change | str:
    if not facts.extents:
        return "it gives no extent"
    reply = ask(session, f"{facts.url}/query", {"where": where, "returnExtentOnly": "true"})
    extent = reply.get("extent") or {}
    try:
        theirs = np.array([float(extent[side]) for side in ("xmin", "ymin", "xmax", "ymax")])
        reference = dict(extent["spatialReference"])
    except (KeyError, TypeError, ValueError):
        return f"its extent is {json.dumps(extent)[:80]}"
    theirs_in = _crs_of(reference.get("latestWkid") or reference.get("wkid"))
    if theirs_in is None or not np.isfinite(theirs).all():
        return f"its extent is {json.dumps(extent)[:80]}"
    ours = np.array(shapely.total_bounds(_in(theirs_in, geometries, crs)))
    size = float(max(theirs[2] - theirs[0], theirs[3] - theirs[1]))
    apart = float(np.max(np.abs(ours - theirs)))
    said = f"{_box(ours)} in {theirs_in.name} against the service's {_box(theirs)}"
    # A single point has no size: then a foot or so (a millionth of a degree) is still the same place.
    least = 1e-6 if theirs_in.is_geographic else 1.0
    if not apart <= max(_MOST_APART * size, least):
        raise LayerFault(
            "extent_mismatch",
            f"{facts.url}: the fetched features lie in {said}; expected sides at most {_MOST_APART:.0%} apart. Fetch "
            "again; if it stays so, download the layer by hand and import it.",
        )
    return Change(kind="extent_compared", effect="noted", count=len(geometries), words=f"Extent: {said}.")


def _box(sides: NDArray[np.float64]) -> str:
    return ", ".join(f"{side:.9g}" for side in sides)
