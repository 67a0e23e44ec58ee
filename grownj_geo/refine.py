"""The user's own knowledge: rows and outlines that replace or complete what ships, and are named as such.

A list of designations, better mid-points of stations, further stations, an official outline of the airport or of a
port terminal. The shipped layer stays what it is in all that is not given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from grownj_geo.errors import LayerError
from grownj_geo.features import LayerFault, LoadOptions
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

__all__ = ["REFINABLE", "Refined", "refine"]

_METHODS: dict[str, Callable[[Work], Layer]] = {
    "atlantic_city_airport": refine_outlines,
    "designations": refine_lists,
    "south_jersey_port_terminals": refine_outlines,
    "transit_stations": refine_stations,
}
REFINABLE = tuple(_METHODS)
"""The layers that the user's own knowledge refines; every other layer is loaded whole."""


class Refined(NamedTuple):
    """A refined layer, and what is to be told of it.

    Attributes
    ----------
    layer
        Its manifest says in its source what was refined by what.
    changes
        What is to be told beyond the changes of the given rows themselves.
    crs
        What their coordinates were taken to be in, in words, with datum and unit.
    fields
        The given column's name by field, or the stated value in words.
    added_accuracy_ft
        Feet that a change of datum added to what the rows say of their accuracy; the layer has them already.
    """

    layer: Layer
    changes: tuple[Change, ...]
    crs: str
    fields: dict[str, str]
    added_accuracy_ft: float


def refine(
    layer_id: str,
    given: Features,
    *,
    base: Layer,
    manifest: Manifest,
    source: str,
    atlas: Atlas,
    stated_on: date | None = None,
    options: LoadOptions | None = None,
    accuracy_ft: float | None = None,
) -> Refined:
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
    atlas
        Says which municipalities there are and in which a point lies.
    stated_on
        The day on which it was so, or was said.
    options
        Of which `crs`, `fields` and `constants` are asked. Columns of longitude and latitude, whose datum nothing
        declares, may be stated to be on another than NAD83; their rows are then less accurate by what the change of
        datum may be off.
    accuracy_ft
        Feet within which all positions or outlines are true.

    Raises
    ------
    LayerFault
        With all problems that were found; the kind is the first one's. ``"option_not_used"`` where what is stated
        means nothing for the layer.
    ValueError
        If the layer is none that can be refined, or `base` is another layer.
    """
    if layer_id not in _METHODS or base.id != layer_id or manifest.id != layer_id:
        raise ValueError(f"{layer_id!r} with {base.id!r} cannot be refined; expected one of {', '.join(REFINABLE)}")
    options = options or LoadOptions()
    work = Work(given, base, manifest, source, stated_on, atlas, Findings(source), options, accuracy_ft)
    _check_options(work)
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
    return Refined(layer, tuple(work.found.changes), work.crs, work.columns.origins, work.added_accuracy_ft)


def _check_options(work: Work) -> None:
    """Refuse what is stated and would change nothing."""
    unused = ["--partial"] if work.options.partial else []
    if work.manifest.kind == "table":
        unused += ["--crs"] if work.options.crs is not None else []
        unused += ["--accuracy-ft"] if work.accuracy_ft is not None else []
    if unused:
        raise work.found.refuse(
            "option_not_used",
            f"{' and '.join(unused)} {'mean' if len(unused) > 1 else 'means'} nothing where rows are put into "
            f"{work.base.id}. Leave it out, and say it in the rows where they have a column for it",
        )
