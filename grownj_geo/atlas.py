"""An atlas: the layers that hold on a date, ready to be measured against."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from grownj_geo.errors import LayerError
from grownj_geo.layerfile import read_layer
from grownj_geo.manifest import Manifest, load_manifests
from grownj_geo.reference import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike

    from grownj_geo.edition import Held
    from grownj_geo.layer import Layer
    from grownj_geo.store import Store

__all__ = ["DEFAULT_AS_OF", "Atlas", "LayerState", "load_atlas"]

DEFAULT_AS_OF = date(2017, 4, 17)
"""The day of the code print that the rules were written from."""


@dataclass(frozen=True)
class LayerState:
    """What is known of one layer in an atlas.

    Attributes
    ----------
    manifest
        What the layer is, or would be.
    status
        ``"loaded"``; ``"missing"`` where it does not ship and was not loaded; ``"unusable"`` where it should
        be there and could not be used.
    problem
        For an unusable layer, what is wrong with it.
    """

    manifest: Manifest
    status: Literal["loaded", "missing", "unusable"]
    problem: str | None = None


class Atlas:
    """The layers as of a date.

    Layers are read when they are first asked for, so that one question pays only for what it needs.

    Parameters
    ----------
    as_of
        The day for which answers are wanted: a date, a time (its date counts) or ISO text.
    layers
        Layers that are already in memory, such as drawn ones in tests or a user's own; they take the place
        of shipped ones with the same id. One that `check_layer` refuses is unusable, and nothing takes its place.
    folder
        Where the shipped files are; the package's own data by default.
    manifests
        Manifests by layer id; the package's own by default.
    editions
        Editions from the user's store by layer id; they take the place of shipped layers too. One that cannot be
        read leaves its layer unusable.
    chosen
        Those of them that were named, whatever the day, as they were named.
    """

    def __init__(
        self,
        *,
        as_of: date | str = DEFAULT_AS_OF,
        layers: Iterable[Layer] = (),
        folder: str | PathLike[str] | None = None,
        manifests: dict[str, Manifest] | None = None,
        editions: Mapping[str, Held] | None = None,
        chosen: Iterable[str] = (),
    ) -> None:
        self.as_of = _day(as_of)
        self.manifests = dict(load_manifests() if manifests is None else manifests)
        self._folder = None if folder is None else Path(folder)
        self._given: dict[str, Layer] = {layer.id: layer for layer in layers}
        self._loaded: dict[str, Layer] = {}
        self._problems: dict[str, str] = {}
        self._editions = dict(editions or {})
        self.chosen = tuple(chosen)
        kept = {layer_id: held.edition.manifest for layer_id, held in self._editions.items() if held.edition}
        self.manifests.update(kept | {layer.id: layer.manifest for layer in self._given.values()})

    @property
    def given(self) -> tuple[str, ...]:
        """Ids of layers that were given instead of read."""
        return tuple(self._given)

    def layer(self, layer_id: str) -> Layer | None:
        """Return a layer, or None where it is missing or unusable (`state` says which, and why).

        Raises
        ------
        LayerError
            If no manifest describes such a layer.
        """
        found = self._loaded.get(layer_id)
        if found is not None or layer_id in self._problems:
            return found
        given = self._given.get(layer_id)
        if given is not None:
            if given.problem is None:
                self._loaded[layer_id] = given
                return given
            self._problems[layer_id] = given.problem
            return None
        manifest = self.manifests.get(layer_id)
        if manifest is None:
            raise LayerError(f"There is no layer {layer_id!r}; there are {', '.join(sorted(self.manifests))}.")
        try:
            read = self._read(manifest)
        except LayerError as error:
            self._problems[layer_id] = str(error)
            return None
        if read is not None:
            self._loaded[layer_id] = read
        return read

    def _read(self, manifest: Manifest) -> Layer | None:
        """Return a layer from the user's store, else what ships; None where there is neither."""
        held = self._editions.get(manifest.id)
        if held is not None:
            return held.read()
        if not manifest.ships or manifest.file is None or manifest.sha256 is None:
            return None
        return read_layer(manifest, read_bytes(manifest.file, sha256=manifest.sha256, folder=self._folder))

    def edition(self, layer_id: str) -> Held | None:
        """Return the stored edition that a layer is taken from; None where it ships, was given, or is missing."""
        return None if layer_id in self._given else self._editions.get(layer_id)

    def state(self, layer_id: str) -> LayerState:
        """Return whether a layer is loaded, missing or unusable, reading it if need be."""
        layer = self.layer(layer_id)
        manifest = self.manifests[layer_id]
        if layer is not None:
            return LayerState(manifest, "loaded")
        problem = self._problems.get(layer_id)
        return LayerState(manifest, "unusable" if problem else "missing", problem)

    @cached_property
    def municipal_names(self) -> dict[str, tuple[str, str]]:
        """Name and county by `mun_code`, of the municipalities of the as-of date.

        Where their polygons cannot be used, the names come from the table of the revitalization index, so
        that codes and names still mean something. Empty where neither can be used.
        """
        for layer_id in ("municipalities", "revitalization_index"):
            layer = self.layer(layer_id)
            if layer is not None:
                indices = map(int, layer.select(as_of=self.as_of))
                return {layer.key(i): (layer.name(i), layer.value("county", i)) for i in indices}
        return {}

    @cached_property
    def county_names(self) -> dict[str, str]:
        """County by the first two digits of a municipal code; empty where no layer tells."""
        for layer_id, code, name in (
            ("counties", "county_code", "county"),
            ("municipalities", "mun_code", "county"),
        ):
            layer = self.layer(layer_id)
            if layer is not None:
                return {layer.value(code, i)[:2]: layer.value(name, i) for i in range(len(layer))}
        return {}


def _day(as_of: date | str) -> date:
    if isinstance(as_of, str):
        return date.fromisoformat(as_of)
    return as_of.date() if isinstance(as_of, datetime) else as_of


def load_atlas(
    *,
    as_of: date | str = DEFAULT_AS_OF,
    folder: str | PathLike[str] | None = None,
    store: Store | str | PathLike[str] | None = None,
    editions: Iterable[str] = (),
) -> Atlas:
    """Return the atlas of a day: what ships with the package, and what the user's store holds.

    Of a layer with several editions the one that holds on the day is taken, else the nearest in time, which
    determinations then say (reading A43).

    Parameters
    ----------
    as_of
        The day for which answers are wanted: a date, a time (its date counts) or ISO text.
    folder
        Where the reference files are; the package's own data by default.
    store
        The store of the user's layers, or its folder; by default ``GROWNJ_HOME`` or the platform's usual place.
    editions
        Editions to be used whatever the day, such as ``"planning_areas@2018-01-16"``; ``"LAYER@shipped"`` and
        ``"LAYER@none"`` leave the store out for a layer.

    Raises
    ------
    ValueError
        If `as_of` is not an ISO date.
    LayerError
        If an edition that is named is not there.

    Examples
    --------
    >>> load_atlas(as_of="2017-04-17").as_of
    datetime.date(2017, 4, 17)
    """
    day = _day(as_of)
    named = tuple(editions)
    return Atlas(as_of=day, folder=folder, editions=_editions(day, store, named), chosen=named)


def _editions(day: date, store: Store | str | PathLike[str] | None, wanted: tuple[str, ...]) -> dict[str, Held]:
    """Return the editions to use by layer."""
    from grownj_geo.edition import edition_for  # noqa: PLC0415 - it reads layers, as this module does
    from grownj_geo.store import Store  # noqa: PLC0415 - same

    place = store if isinstance(store, Store) else Store(store)
    by_layer: dict[str, list[Held]] = {}
    for held in place.held():
        by_layer.setdefault(held.layer_id, []).append(held)
    manifests = load_manifests()
    picked = {layer_id: edition_for(held, day) for layer_id, held in by_layer.items() if layer_id in manifests}
    chosen = {layer_id: held for layer_id, held in picked.items() if held is not None}
    for name in wanted:
        layer_id, _, edition_id = name.partition("@")
        if layer_id not in manifests:
            raise LayerError(f"There is no layer {layer_id!r}; there are {', '.join(sorted(manifests))}.")
        if edition_id in {"shipped", "none"}:
            chosen.pop(layer_id, None)
        else:
            chosen[layer_id] = place.find(name)
    return chosen
