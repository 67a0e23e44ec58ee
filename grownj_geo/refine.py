"""The user's own knowledge: rows and outlines that replace or complete what ships, and are named as such.

A list of designations, better mid-points of stations, further stations, an official outline of the airport or of a
port terminal. The shipped layer stays what it is in all that is not given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grownj_geo.atlas import load_atlas
from grownj_geo.errors import LayerError
from grownj_geo.features import LayerFault
from grownj_geo.findings import Findings
from grownj_geo.layercheck import check_layer
from grownj_geo.refine_lists import refine_lists
from grownj_geo.refine_outlines import refine_outlines
from grownj_geo.refine_stations import refine_stations
from grownj_geo.refining import Work

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from grownj_geo.atlas import Atlas
    from grownj_geo.features import Change, Features
    from grownj_geo.layer import Layer
    from grownj_geo.manifest import Manifest

__all__ = ["REFINABLE", "refine"]

_METHODS: dict[str, Callable[[Work], Layer]] = {
    "atlantic_city_airport": refine_outlines,
    "designations": refine_lists,
    "south_jersey_port_terminals": refine_outlines,
    "transit_stations": refine_stations,
}
REFINABLE = tuple(_METHODS)
"""The layers that the user's own knowledge refines; every other layer is loaded whole."""


def refine(
    layer_id: str,
    given: Features,
    *,
    base: Layer,
    manifest: Manifest,
    source: str,
    stated_on: date | None = None,
    atlas: Atlas | None = None,
) -> tuple[Layer, tuple[Change, ...]]:
    """Put what the user knows better into a layer that ships.

    Parameters
    ----------
    layer_id
        One of `REFINABLE`.
    given
        The rows. ``designations``: `designation`, and `mun_code` or `municipality` (and `county`); `from`, `until`
        (the first day on which it no longer holds), `status`, `source`, `note`; `listed` is no for a municipality
        that is not on the list. ``transit_stations``: `station_id` or a unique `name` with what is to be changed, or
        all that a further station needs; positions as points or as `latitude` and `longitude`. Outlines of the
        airport and of terminals: polygons with `id` and `accuracy_ft`, the feet within which the outline is true.
    base
        The layer as it is now.
    manifest
        Its manifest in the package.
    source
        What the answer is to call the given rows: the file's name.
    stated_on
        The day on which it was so, or was said.
    atlas
        Says which municipalities there are and in which a point lies; what ships by default.

    Returns
    -------
    tuple of (Layer, tuple of Change)
        The refined layer, whose manifest says in its source what was refined by what, and what is to be told beyond
        the changes of `given` itself.

    Raises
    ------
    LayerFault
        With all problems that were found; the kind is the first one's.
    ValueError
        If the layer is none that can be refined, or `base` is another layer.
    """
    if layer_id not in _METHODS or base.id != layer_id or manifest.id != layer_id:
        raise ValueError(f"{layer_id!r} with {base.id!r} cannot be refined; expected one of {', '.join(REFINABLE)}")
    work = Work(given, base, manifest, source, stated_on, atlas or load_atlas(), Findings(source))
    if base.problem is not None:
        raise work.found.refuse("unusable_base", f"what it is to refine cannot be used: {base.problem.rstrip('.')}")
    if not len(given):
        raise work.found.refuse("no_rows", "it has no rows. Expected at least one")
    if not work.atlas.municipal_names:
        raise work.found.refuse("unusable_base", "no layer tells which municipalities there are. Repair municipalities")
    layer = _METHODS[layer_id](work)
    work.found.stop()
    try:
        check_layer(layer)
    except LayerError as error:
        raise LayerFault("refined_layer_refused", f"{source}: with it the layer cannot be used. {error}") from error
    return layer, tuple(work.found.changes)
