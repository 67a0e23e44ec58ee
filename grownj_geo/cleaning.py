"""Each feature's geometry for itself: is there one, is it of the layer's kind, is it valid, and what repair changes.

What features have to do with one another is looked at in `duplicates`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import shapely

from grownj_geo.findings import rows_in_words, values_in_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.findings import Findings

__all__ = ["repair", "usable"]

Kind = Literal["polygon", "point", "line"]

_DIMENSION = {"point": 0, "line": 1, "polygon": 2}
_SINGLE = {"point": "Point", "line": "LineString", "polygon": "Polygon"}
_MULTI = {"line": "MultiLineString", "polygon": "MultiPolygon"}
_LEAST_CHANGE_SQFT = 100.0
_LEAST_CHANGE_SHARE = 1e-4
"""A repair may change a feature's area by the greater of the two: more is a decision about ground, not a repair."""
_GRID_FTUS = 2.0**-10
_SLIVER_SQFT = 100.0


def usable(
    geometries: NDArray[Any], kind: Kind, found: Findings, *, partial: bool = False
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return geometries of the layer's kind, in two dimensions, and which features have one.

    Collections are reduced to their parts of the kind, where the rest has no area or length to lose: points and
    lines beside polygons, points beside lines.

    Parameters
    ----------
    geometries
        As they came, shape (n,); None where a feature has none.
    kind
        What the layer has.
    found
        Takes changes and faults: ``"null_geometry"``, ``"empty_geometry"``, ``"non_finite"``, ``"wrong_kind"``.
    partial
        Leave out and tell what would else be a fault.

    Returns
    -------
    tuple
        Geometries, shape (n,), and a mask, shape (n,).

    Raises
    ------
    LayerFault
        All faults at once.
    """
    shapes = np.array(geometries, dtype=object)
    lacking = shapely.is_missing(shapes)
    empty = shapely.is_empty(shapes) & ~lacking
    keep = ~(lacking | empty)
    _drop(lacking, "null_geometry", "no geometry", "Draw or remove the features", found, partial=partial)
    _drop(empty, "empty_geometry", "an empty geometry", "Draw or remove the features", found, partial=partial)
    finite = _finite(shapes)
    _drop(
        keep & ~finite,
        "non_finite",
        "a coordinate that is not a finite number",
        "Export the source again",
        found,
        partial=partial,
    )
    keep &= finite
    deep = np.flatnonzero(keep & (shapely.has_z(shapes) | shapely.has_m(shapes)))
    if len(deep):
        shapes[deep] = shapely.force_2d(shapes[deep])
        found.tell("z_dropped", "noted", deep, "Heights and measures at the vertices were left aside.")
    shapes, fits = _of_kind(shapes, keep, kind, found)
    if kind == "polygon":
        _drop_empty_rings(shapes, np.flatnonzero(keep & fits))
    wrong = keep & ~fits
    if wrong.any():
        types = values_in_words(sorted({shapes[row].geom_type for row in np.flatnonzero(wrong)}))
        expected = f"{_SINGLE[kind]}{f' or {_MULTI[kind]}' if kind in _MULTI else ''} features"
        remedy = f"Expected {expected}; choose the right layer of the source"
        _drop(wrong, "wrong_kind", f"geometry of another kind ({types})", remedy, found, partial=partial)
    found.stop()
    return shapes, keep & fits


def _drop(rows: NDArray[np.bool_], kind: str, what: str, remedy: str, found: Findings, *, partial: bool) -> None:
    """Refuse features, or leave them out where the layer may be partial."""
    listed = np.flatnonzero(rows)
    if not len(listed):
        return
    have = "has" if len(listed) == 1 else "have"
    if partial:
        words = f"{len(listed)} of {len(rows)} features {have} {what}, and {'is' if have == 'has' else 'are'} left out."
        found.tell(kind, "left_out", listed, words)
        return
    found.fault(
        kind,
        f"{rows_in_words(listed)} of {len(rows)} {have} {what}. {remedy}, or load the rest as a partial layer",
    )


def _finite(shapes: NDArray[Any]) -> NDArray[np.bool_]:
    xy, index = shapely.get_coordinates(shapes, return_index=True)
    finite = np.ones(len(shapes), dtype=bool)
    finite[index[~np.isfinite(xy).all(axis=1)]] = False
    return finite


def _drop_empty_rings(shapes: NDArray[Any], rows: NDArray[np.int64]) -> None:
    """Take holes without a single vertex out of polygons: they are nothing, and GEOS falls over them."""
    parts, part_of = shapely.get_parts(shapes[rows], return_index=True)
    rings, ring_of = shapely.get_rings(parts, return_index=True)
    for row in map(int, np.unique(rows[part_of[ring_of[shapely.is_empty(rings)]]])):
        whole = [
            shapely.Polygon(leaf.exterior, [ring for ring in leaf.interiors if not ring.is_empty])
            for leaf in _leaves(shapes[row])
        ]
        shapes[row] = whole[0] if shapes[row].geom_type == "Polygon" else shapely.MultiPolygon(whole)


def _of_kind(
    shapes: NDArray[Any], keep: NDArray[np.bool_], kind: Kind, found: Findings
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Reduce collections and single multipoints; return which features are of the kind."""
    expected = {_SINGLE[kind], _MULTI.get(kind, _SINGLE[kind])}
    types = np.array([None if shape is None else shape.geom_type for shape in shapes], dtype=object)
    fits = np.isin(types, list(expected)) & keep
    reduced: list[int] = []
    singled: list[int] = []
    for row in map(int, np.flatnonzero(keep & ~fits)):
        shape = shapes[row]
        if kind == "point" and shape.geom_type == "MultiPoint":
            parts = [part for part in shape.geoms if not part.is_empty]
            if len(parts) == 1:
                shapes[row] = parts[0]
                singled.append(row)
        elif shape.geom_type == "LinearRing" and kind == "line":
            shapes[row] = shapely.LineString(shape)
            fits[row] = True
        elif shape.geom_type == "GeometryCollection":
            whole = _reduced(shape, kind)
            if whole is not None:
                shapes[row] = whole
                reduced.append(row)
    fits[[*reduced, *singled]] = True
    if reduced:
        words = f"Collections were reduced to their {kind}s; what was left out of them has no extent of that kind."
        found.tell("collection_reduced", "changed", reduced, words)
    if singled:
        found.tell("multipoint_single", "changed", singled, "Multipoints of one point were taken as that point.")
    return shapes, fits


def _reduced(shape: shapely.Geometry, kind: Kind) -> shapely.Geometry | None:
    """Return a collection's parts of a kind as one geometry; None where there are none, or parts of more extent."""
    leaves = _leaves(shape)
    wanted = [leaf for leaf in leaves if leaf.geom_type == _SINGLE[kind]]
    beyond = [leaf for leaf in leaves if shapely.get_dimensions(leaf) > _DIMENSION[kind]]
    if not wanted or beyond:
        return None
    if kind == "point":
        return wanted[0] if len(wanted) == 1 and len(leaves) == 1 else None
    if len(wanted) == 1:
        return wanted[0]
    return shapely.multipolygons(wanted) if kind == "polygon" else shapely.multilinestrings(wanted)


def _leaves(shape: shapely.Geometry) -> list[shapely.Geometry]:
    """Return the single parts of a geometry, however deep collections are nested."""
    if not hasattr(shape, "geoms"):
        return [] if shape.is_empty else [shape]
    return [leaf for part in shape.geoms for leaf in _leaves(part)]


def repair(shapes: NDArray[Any], rows: NDArray[np.int64], kind: Kind, found: Findings) -> NDArray[Any]:
    """Return valid geometries, and tell what each repair did to the area.

    Parameters
    ----------
    shapes
        In EPSG:3424, of the layer's kind, shape (n,).
    rows
        Which features they are, counted from 0 as the source has them, shape (n,).
    kind
        What the layer has.
    found
        Takes the changes ``"repaired"`` and ``"slivers"`` and the fault ``"repair_too_large"``.

    Raises
    ------
    LayerFault
        If a repair changes a feature's area by more than 100 square feet and a ten-thousandth of it, or leaves
        nothing of its kind; all such features at once.

    Examples
    --------
    >>> from grownj_geo.findings import Findings
    >>> found = Findings("areas.shp")
    >>> spiked = shapely.from_wkt("POLYGON ((0 0, 9 0, 9 9, 9 20, 9 9, 0 9, 0 0))")
    >>> repair(np.array([spiked]), np.array([0]), "polygon", found)[0].area
    81.0
    >>> found.changes[0].kind
    'repaired'
    """
    bad = np.flatnonzero(~shapely.is_valid(shapes))
    if len(bad):
        shapes = shapes.copy()
        _repair(shapes, bad, rows, kind, found)
    if kind == "polygon":
        small = np.flatnonzero(shapely.area(shapes) < _SLIVER_SQFT)
        if len(small):
            words = f"Features of less than {_SLIVER_SQFT:.0f} square feet look like slivers of drawing."
            found.tell("slivers", "noted", rows[small], words)
    found.stop()
    return shapes


def _extent(shapes: NDArray[Any], kind: Kind) -> NDArray[np.float64]:
    """Return areas of polygons and lengths of lines; of a ring that crosses itself what the shoelace formula gives."""
    return np.asarray(shapely.area(shapes) if kind == "polygon" else shapely.length(shapes), dtype=np.float64)


def _repair(shapes: NDArray[Any], bad: NDArray[np.int64], rows: NDArray[np.int64], kind: Kind, found: Findings) -> None:
    before = _extent(shapes[bad], kind)
    reasons = shapely.is_valid_reason(shapes[bad])
    # The other method turns ground that two rings both cover into a hole.
    mended = shapely.make_valid(shapes[bad], method="structure", keep_collapsed=False)
    # Where lines cross at a shallow angle the mended rings can still touch by the last bits of a coordinate.
    still = ~shapely.is_valid(mended)
    mended[still] = shapely.set_precision(mended[still], _GRID_FTUS)
    whole = [_reduced(shape, kind) if hasattr(shape, "geoms") else _own(shape, kind) for shape in mended]
    unit = "square feet" if kind == "polygon" else "feet"
    refused = []
    for place, (index, shape) in enumerate(zip(bad, whole, strict=True)):
        left = 0.0 if shape is None else float(_extent(np.array([shape]), kind)[0])
        change = abs(left - before[place])
        if shape is None or change > max(_LEAST_CHANGE_SQFT, _LEAST_CHANGE_SHARE * before[place]):
            refused.append(
                f"row {rows[index] + 1} ({reasons[place]}): {before[place]:,.1f} {unit} before, {left:,.1f} after"
            )
        else:
            shapes[index] = shape
    if refused:
        more = f" and {len(refused) - 10} more" if len(refused) > 10 else ""  # noqa: PLR2004 - as many as are read
        found.fault(
            "repair_too_large",
            f"{len(refused)} features are not valid, and a repair would change what ground they are: "
            f"{'; '.join(refused[:10])}{more}. Repair them in a GIS where their ground can be seen",
        )
        return
    after = _extent(shapes[bad], kind)
    found.tell(
        "repaired",
        "changed",
        rows[bad],
        f"{len(bad)} geometries were not valid ({reasons[0]}) and were repaired: {before.sum():,.1f} {unit} before, "
        f"{after.sum():,.1f} after; no feature changed by more than {np.abs(after - before).max():,.1f}.",
    )


def _own(shape: shapely.Geometry, kind: Kind) -> shapely.Geometry | None:
    return shape if shape.geom_type == _SINGLE[kind] and not shape.is_empty else None
