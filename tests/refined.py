"""Given rows put into what ships, as the tests of refinement need it."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grownj_geo.atlas import Atlas
from grownj_geo.determine import determine
from grownj_geo.features import Features, LayerFault
from grownj_geo.layercheck import check_layer
from grownj_geo.manifest import load_manifests
from grownj_geo.refine import Refined, refine
from grownj_geo.site import Site

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grownj_geo.features import Change
    from grownj_geo.layer import Layer

HOLMDEL, NEWARK = (-74.1688, 40.3655), (-74.1641, 40.7344)
DAY = date(2017, 3, 1)


def table(rows: Sequence[Mapping[str, Any]], shapes: Sequence[Any] | None = None, crs: str | None = None) -> Features:
    """Return given rows, with their geometries where there are any."""
    names = dict.fromkeys(name for row in rows for name in row)
    geometries = np.empty(len(rows), dtype=object)
    geometries[:] = list(shapes) if shapes is not None else [None] * len(rows)
    return Features("mine.csv", {name: [row.get(name) for row in rows] for name in names}, geometries, crs)


def refined(
    atlas: Atlas, layer_id: str, given: Features, *, base: Layer | None = None, **more: Any
) -> tuple[Layer, list[Change]]:
    """Return a layer that ships, or another base, with the given rows in it, and what is to be told."""
    whole = refined_whole(atlas, layer_id, given, base=base, **more)
    return whole.layer, list(whole.changes)


def refined_whole(atlas: Atlas, layer_id: str, given: Features, *, base: Layer | None = None, **more: Any) -> Refined:
    """Return all that a refinement gives; options of the user may be added."""
    there = base or atlas.layer(layer_id)
    assert there is not None
    manifest = load_manifests()[layer_id]
    whole = refine(
        layer_id, given, base=there, manifest=manifest, source="mine.csv", stated_on=DAY, atlas=atlas, **more
    )
    check_layer(whole.layer)
    return whole


def refused(atlas: Atlas, layer_id: str, given: Features, **more: Any) -> LayerFault:
    """Return what given rows are refused with."""
    with pytest.raises(LayerFault) as raised:
        refined(atlas, layer_id, given, **more)
    assert str(raised.value).startswith("mine.csv")
    return raised.value


def outcome_at(category: str, place: tuple[float, float], *layers: Layer, day: str = "2017-04-17", **more: Any) -> str:
    """Return the outcome of a category at a place, with refined layers in place of those that ship."""
    return determine(Site.from_lonlat(*place), Atlas(as_of=day, layers=layers), **more)[category].outcome


def kinds_of(changes: Sequence[Change]) -> dict[str, tuple[int, ...]]:
    """Return the rows of changes by their kind."""
    return {change.kind: change.rows for change in changes}
