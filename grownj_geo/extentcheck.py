"""Whether a layer lies where its manifest says that such areas can lie, and is about as large as it should be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.designations import listings
from grownj_geo.features import LayerFault
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from collections.abc import Container

    from grownj_geo.atlas import Atlas
    from grownj_geo.layer import Layer
    from grownj_geo.manifest import Extent

__all__ = ["check_extent"]

_MOST_NAMED = 10
_SLACK_FT = 1_000.0
_AREA_SLACK = 0.2
_SQFT_PER_ACRE = 43_560.0


def check_extent(layer: Layer, atlas: Atlas) -> None:
    """Refuse a layer with features that lie where no such area can, or that is much too small or too large.

    Parameters
    ----------
    layer
        A layer of points, lines or polygons, in EPSG:3424.
    atlas
        What ships: its municipalities and lists say where the extent is. Where they cannot be used nothing is refused.

    Raises
    ------
    LayerFault
        ``outside_extent`` for features wholly outside, by more than the layer's accuracy and 1,000 ft;
        ``implausible_area`` where the manifest states an area and a complete layer is off by more than a fifth.
    """
    if layer.manifest.kind == "table":
        return
    ground = _ground(layer.manifest.extent, atlas)
    if ground is not None:
        _check_places(layer, ground)
    stated = layer.manifest.area_acres
    if stated is not None and layer.manifest.complete:
        acres = sum(float(shapely.area(layer.geometry(i))) for i in range(len(layer)))
        acres *= FT_PER_FTUS**2 / _SQFT_PER_ACRE
        if not abs(acres - stated) <= _AREA_SLACK * stated:
            raise LayerFault(
                "implausible_area",
                f"The layer {layer.id} covers {acres:,.0f} acres; expected about {stated:,.0f}. Is it the right layer, "
                "and all of it? A part of it can be loaded as a partial layer.",
            )


def _check_places(layer: Layer, ground: shapely.Geometry) -> None:
    slack = (_SLACK_FT + (layer.manifest.accuracy_ft or 0.0)) / FT_PER_FTUS
    point = layer.manifest.kind == "point"
    shapes = np.empty(len(layer), dtype=object)
    shapes[:] = list(layer.points) if point else [layer.geometry(i) for i in range(len(layer))]
    shapely.prepare(ground)
    away = np.flatnonzero(~shapely.dwithin(ground, shapes, slack))
    if len(away):
        rows = ", ".join(str(int(row) + 1) for row in away[:_MOST_NAMED])
        more = f" and {len(away) - _MOST_NAMED} more" if len(away) > _MOST_NAMED else ""
        far = float(shapely.distance(ground, shapes[away]).max()) * FT_PER_FTUS / 5280
        raise LayerFault(
            "outside_extent",
            f"{len(away)} of the {len(layer)} features of {layer.id} lie where no such area can (row {rows}{more}; up "
            f"to {far:,.1f} miles off): {_words(layer.manifest.extent)}. Is it the right layer? Remove what does not "
            "belong to it.",
        )


def _words(extent: Extent) -> str:
    if extent.counties:
        return f"expected {', '.join(extent.counties)} counties"
    if extent.municipalities:
        return f"expected the municipalities {', '.join(extent.municipalities)}"
    if extent.designation:
        return f"expected the municipalities on the list {extent.designation}"
    return f"expected the ground of {extent.within}" if extent.within else "expected New Jersey"


def _ground(extent: Extent, atlas: Atlas) -> shapely.Geometry | None:
    """Return where features can lie; None for the whole State, which is checked elsewhere, or where it is not known."""
    if extent.within is not None:
        return _ground(atlas.manifests[extent.within].extent, atlas)
    if extent.counties is not None:
        return _union(atlas.layer("counties"), "county", extent.counties)
    codes: Container[str] | None = extent.municipalities
    if extent.designation is not None:
        listed = listings(atlas, extent.designation)
        codes = None if listed is None else set(listed)
    return None if codes is None else _union(atlas.layer("municipalities"), "mun_code", codes)


def _union(layer: Layer | None, field: str, values: Container[str]) -> shapely.Geometry | None:
    if layer is None:
        return None
    parts = [layer.geometry(i) for i in range(len(layer)) if layer.value(field, i) in values]
    return shapely.union_all(parts) if parts else None
