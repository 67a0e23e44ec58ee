"""An atlas: the layers that hold on a date, ready to be measured against."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from grownj_geo.errors import LayerError
from grownj_geo.layer import Layer, read_layer
from grownj_geo.manifest import Manifest, load_manifests
from grownj_geo.reference import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

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
    """

    def __init__(
        self,
        *,
        as_of: date | str = DEFAULT_AS_OF,
        layers: Iterable[Layer] = (),
        folder: str | PathLike[str] | None = None,
        manifests: dict[str, Manifest] | None = None,
    ) -> None:
        self.as_of = _day(as_of)
        self.manifests = dict(load_manifests() if manifests is None else manifests)
        self._folder = None if folder is None else Path(folder)
        self._given: dict[str, Layer] = {layer.id: layer for layer in layers}
        self._loaded: dict[str, Layer] = {}
        self._problems: dict[str, str] = {}
        self.manifests.update({layer.id: layer.manifest for layer in self._given.values()})

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
        if not manifest.ships or manifest.file is None or manifest.sha256 is None:
            return None
        try:
            content = read_bytes(manifest.file, sha256=manifest.sha256, folder=self._folder)
            self._loaded[layer_id] = read_layer(manifest, content)
        except LayerError as error:
            self._problems[layer_id] = str(error)
            return None
        return self._loaded[layer_id]

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


def load_atlas(*, as_of: date | str = DEFAULT_AS_OF, folder: str | PathLike[str] | None = None) -> Atlas:
    """Return the atlas of a day: what ships with the package.

    Parameters
    ----------
    as_of
        The day for which answers are wanted: a date, a time (its date counts) or ISO text.
    folder
        Where the reference files are; the package's own data by default.

    Raises
    ------
    ValueError
        If `as_of` is not an ISO date.

    Examples
    --------
    >>> load_atlas(as_of="2017-04-17").as_of
    datetime.date(2017, 4, 17)
    """
    return Atlas(as_of=as_of, folder=folder)
