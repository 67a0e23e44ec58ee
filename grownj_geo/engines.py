"""Engines for any day, editions, rules and readings, each made once, to run the same sites under other conditions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from grownj_geo.atlas import Atlas, load_atlas
from grownj_geo.determine import Engine
from grownj_geo.edition import Held
from grownj_geo.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    from grownj_geo.layer import Layer
    from grownj_geo.rulebook import Rulebook

__all__ = ["Conditions", "Engines", "sources_of"]

_MOST_ENGINES, _MOST_ATLASES = 64, 8


@dataclass(frozen=True)
class _SharedHeld(Held):
    """An edition whose layer is read once for all atlases that take it."""

    known: dict[tuple[str, str], Layer] = field(default_factory=dict, compare=False, repr=False)

    def read(self) -> Layer:
        """Return the layer, which whoever asked first has read and checked."""
        key = self.name, "" if self.edition is None else self.edition.sha256
        if key not in self.known:
            self.known[key] = super().read()
        return self.known[key]


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """All that an answer depends on besides the site.

    Attributes
    ----------
    as_of
        The day.
    book
        The rulebook, by its checksum.
    readings
        Chosen options by ambiguity id, sorted.
    sources
        Which edition of each layer is used: the name of a stored one, ``"shipped"``, or ``"none"``; sorted by layer.
        None: those that the day takes.
    """

    as_of: date
    book: str
    readings: tuple[tuple[str, str], ...] = ()
    sources: tuple[tuple[str, str], ...] | None = None

    def reading(self, name: str, option: str | None) -> Conditions:
        """Return the same with one reading chosen, or left at its default."""
        kept = {n: o for n, o in self.readings if n != name} | ({} if option is None else {name: option})
        return replace(self, readings=tuple(sorted(kept.items())))

    def source(self, layer_id: str, source: str) -> Conditions:
        """Return the same with another edition of one layer."""
        kept = dict(self.sources or ()) | {layer_id: source}
        return replace(self, sources=tuple(sorted(kept.items())))


@dataclass
class Engines:
    """Makes engines, and keeps those that were asked for last.

    Parameters
    ----------
    store
        The user's store; its usual place by default.
    base
        An atlas whose shipped layers all others share, so that each is read once; by default the first one made.
    books
        Rulebooks by their checksum.
    """

    store: Store | None = None
    base: Atlas | None = None
    books: dict[str, Rulebook] = field(default_factory=dict)
    _atlases: dict[tuple[date, tuple[tuple[str, str], ...] | None], Atlas] = field(default_factory=dict)
    _engines: dict[Conditions, Engine] = field(default_factory=dict)
    _layers: dict[tuple[str, str], Layer] = field(default_factory=dict)

    def engine(self, conditions: Conditions) -> Engine:
        """Return the engine for some conditions.

        Raises
        ------
        RulebookError
            For a day that the rulebook does not cover, or an unknown reading or option.
        LayerError
            If an edition that is named is not in the store.
        """
        found = self._engines.get(conditions)
        if found is None:
            atlas = self.atlas(conditions.as_of, conditions.sources)
            found = Engine(atlas, self.books[conditions.book], dict(conditions.readings))
            while len(self._engines) >= _MOST_ENGINES:
                del self._engines[next(iter(self._engines))]
            self._engines[conditions] = found
        return found

    def atlas(self, as_of: date, sources: tuple[tuple[str, str], ...] | None = None) -> Atlas:
        """Return the atlas of a day, with the editions that it takes or with those named.

        Raises
        ------
        LayerError
            If an edition that is named is not in the store.
        """
        key = as_of, sources
        found = self._atlases.get(key)
        if found is None:
            named = [name if "@" in name else f"{layer}@{name}" for layer, name in sources or ()]
            found = load_atlas(as_of=as_of, store=self.store, editions=named)
            editions = {i: self._held(held) for i in found.manifests if (held := found.edition(i)) is not None}
            found = Atlas(as_of=as_of, layers=self._shared(found), editions=editions, chosen=found.chosen)
            self.base = self.base or found
            while len(self._atlases) >= _MOST_ATLASES:
                del self._atlases[next(iter(self._atlases))]
            self._atlases[key] = found
        return found

    def _held(self, held: Held) -> Held:
        return _SharedHeld(held.layer_id, held.edition_id, held.folder, held.edition, held.problem, self._layers)

    def _shared(self, atlas: Atlas) -> list[Layer]:
        """Return the shipped layers of the base atlas that another one takes too."""
        if self.base is None:
            return []
        return [
            layer
            for i, manifest in self.base.manifests.items()
            if manifest.ships and self.base.edition(i) is None and atlas.edition(i) is None
            if (layer := self.base.layer(i)) is not None
        ]

    @cached_property
    def stored(self) -> Mapping[str, str]:
        """Checksum of every edition in the store that can be read, by its name."""
        store = Store() if self.store is None else self.store
        return {held.name: held.edition.sha256 for held in store.held() if held.edition is not None}

    def at_hand(self, editions: Iterable[str]) -> tuple[str, ...]:
        """Return those of some chosen editions that are still there; ``@none`` and ``@shipped`` always are."""
        return tuple(
            name
            for name in editions
            if name.partition("@")[2] in {"none", "shipped"} or sum(one.startswith(name) for one in self.stored) == 1
        )

    def with_sources(self, conditions: Conditions, chosen: Sequence[str] = ()) -> Conditions:
        """Return conditions that name the edition of every layer which the day takes, those chosen apart.

        Raises
        ------
        LayerError
            If an edition that is chosen is not in the store.
        """
        atlas = load_atlas(as_of=conditions.as_of, store=self.store, editions=chosen)
        return replace(conditions, sources=tuple(sorted(sources_of(atlas).items())))


def sources_of(atlas: Atlas) -> Mapping[str, str]:
    """Return which edition of each layer an atlas takes, as `Conditions` name them."""
    found = {}
    for layer_id, manifest in atlas.manifests.items():
        held = atlas.edition(layer_id)
        found[layer_id] = held.name if held is not None else "shipped" if manifest.ships else "none"
    return found
