"""What clauses measure of sites against layers, each measurement once: coverages, distances, shares within a radius."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.nodes import Within
from grownj_geo.observe import Coverage, Distance, measure_distance
from grownj_geo.ranking import ranked
from grownj_geo.shares import share_within
from grownj_geo.somewhere import Somewhere
from grownj_geo.units import miles_to_ft

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from grownj_geo.atlas import Atlas
    from grownj_geo.binding import BoundRulebook
    from grownj_geo.layer import Layer
    from grownj_geo.nodes import Nearest, Where
    from grownj_geo.sitetable import SiteTable

__all__ = ["Measured", "key_of"]


@dataclass
class Measured:
    """Measures one table of sites as clauses ask for it, each measurement once.

    Parameters
    ----------
    bound
        The rulebook with its day, readings and parameters.
    atlas
        The layers.
    sites
        The sites.
    anywhere
        Measure sites without a place too, by what is so in all of their municipality; else they stay open.
    coverages, distances, land_shares
        Measurements that were made before, by what was measured; the others are made when they are asked for.
    first_distances
        How far the first site is from single features, by layer and features: many clauses name the same one.
    whole
        A table that was measured, and the row of it that is this table's only site: nothing is measured again.
    """

    bound: BoundRulebook
    atlas: Atlas
    sites: SiteTable
    anywhere: bool = field(default=True, kw_only=True)
    coverages: dict[Hashable, Coverage] = field(default_factory=dict, kw_only=True)
    distances: dict[Hashable, Distance] = field(default_factory=dict, kw_only=True)
    land_shares: dict[Hashable, NDArray[np.float64]] = field(default_factory=dict, kw_only=True)
    first_distances: dict[tuple[str, tuple[int, ...]], Distance] = field(default_factory=dict, kw_only=True)
    whole: tuple[Measured, int] | None = field(default=None, kw_only=True)

    @cached_property
    def n(self) -> int:
        """The number of sites."""
        return len(self.sites)

    @cached_property
    def _first(self) -> SiteTable:
        """The first site alone, by its place."""
        return self.sites.first()

    @cached_property
    def _somewhere(self) -> Somewhere:
        """The sites, also those of which only the municipality is known, to be measured."""
        return Somewhere.of(self.atlas, self.sites, anywhere=self.anywhere)

    def layer(self, layer_id: str) -> Layer | None:
        """Return a layer that can be used on the day; under strict editions (A43) only one that covers it."""
        found = self.atlas.layer(layer_id)
        strict = self.bound.readings.get("A43") == "strict"
        return None if found is None or (strict and not found.manifest.covers(self.bound.as_of)) else found

    def coverage(self, where: Where) -> Coverage | None:
        """Return what covers the sites, or None where the layer cannot be used."""
        layer = self.layer(where.layer)
        if layer is None:
            return None
        key = key_of(where)
        if key not in self.coverages:
            self.coverages[key] = self._coverage(layer, where)
        return self.coverages[key]

    def _coverage(self, layer: Layer, where: Where) -> Coverage:
        if self.whole is not None and (found := self.whole[0].coverage(where)) is not None:
            return found.row(self.whole[1])
        features = self.features(layer, where)
        return self._somewhere.coverage(layer, features, doubtful=layer.doubtful(features, where.selection))

    def distance(self, where: Where) -> Distance | None:
        """Return how far the sites are from the features, or None where the layer cannot be used."""
        layer = self.layer(where.layer)
        if layer is None:
            return None
        key = key_of(where)
        if key not in self.distances:
            self.distances[key] = self._distance(layer, where)
        return self.distances[key]

    def _distance(self, layer: Layer, where: Where) -> Distance:
        if self.whole is not None and (known := self.whole[0].distance(where)) is not None:
            return known.row(self.whole[1])
        features = self.features(layer, where)
        found = self._somewhere.distance(layer, features, doubtful=layer.doubtful(features, where.selection))
        doubt = self._doubtful(layer, where)
        if doubt is None:
            return found
        sure, possible = (self._somewhere.distance(layer, features) for features in doubt)
        return replace(
            found,
            near_low=possible.near_low,
            far_low=possible.far_low,
            near_high=sure.near_high,
            far_high=sure.far_high,
        )

    def first_distance(self, layer: Layer, features: tuple[int, ...]) -> Distance:
        """Return how far the first site is from some features, by its place; many clauses name the same ones."""
        key = (layer.id, features)
        if key not in self.first_distances:
            self.first_distances[key] = measure_distance(layer, np.array(features, dtype=np.int64), self._first)
        return self.first_distances[key]

    def features(self, layer: Layer, where: Where) -> NDArray[np.int64]:
        """Return the features that a clause means: those in being on the day, or the nearest n of them."""
        found = layer.select(where.selection, as_of=self.bound.as_of)
        for name, parameter in where.at_least.items():
            least = self.bound.figures[parameter]
            found = found[layer.figures(name)[found] >= least]
        if isinstance(where, Within) and where.nearest is not None:
            return self._ranked(layer, found, where.nearest)[1]
        return found

    def _ranked(
        self, layer: Layer, found: NDArray[np.int64], nearest: Nearest
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return those of some points that surely, as computed, and possibly are among the n nearest to others."""
        targets = self.layer(nearest.layer)
        if targets is None or targets.lonlat is None:
            return found[:0], found[:0], found[:0]
        to = targets.select(nearest.selection, as_of=self.bound.as_of)
        return ranked(layer, found, targets, to, n=nearest.n)

    def _doubtful(self, layer: Layer, where: Where) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """Return the surely and the possibly meant features where the rank of some is in doubt."""
        if not isinstance(where, Within) or where.nearest is None:
            return None
        found = layer.select(where.selection, as_of=self.bound.as_of)
        sure, _, possible = self._ranked(layer, found, where.nearest)
        return None if len(sure) == len(possible) else (sure, possible)

    def shares_within(self, where: Within, radius_ft: float) -> NDArray[np.float64]:
        """Return least, computed and greatest share of each site within a radius, shape (3, n)."""
        joined = self.bound.readings.get("A47", "union") == "union"
        key = (key_of(where), radius_ft, joined)
        layer = self.layer(where.layer)
        if key not in self.land_shares and self.whole is not None:
            table, row = self.whole
            self.land_shares[key] = table.shares_within(where, radius_ft)[:, row : row + 1]
        if key not in self.land_shares and layer is not None:
            features = self.features(layer, where)
            sure, possible = self._doubtful(layer, where) or (features, features)
            shares = self.land_shares[key] = np.full((3, self.n), np.nan)
            for i in np.flatnonzero(self.sites.placed):
                shares[:, i] = self._share(int(i), layer, features, radius_ft, joined=joined)
                if sure is not features:
                    shares[0, i] = self._share(int(i), layer, sure, radius_ft, joined=joined)[0]
                    shares[2, i] = self._share(int(i), layer, possible, radius_ft, joined=joined)[2]
            found = self.distance(where)
            if found is not None:
                self._somewhere.add_shares(shares, found, radius_ft)
        return self.land_shares[key]

    def _share(
        self, site: int, layer: Layer, features: NDArray[np.int64], radius_ft: float, *, joined: bool
    ) -> tuple[float, float, float]:
        return share_within(
            self.sites.geometries[site],
            layer,
            features,
            radius_ft=radius_ft,
            uncertainty_ft=float(self.sites.uncertainty_ft[site]),
            joined=joined,
        )

    def share_of(self, where: Within) -> tuple[float, float, float]:
        """Return the first site's least, computed and greatest share within a radius of a layer that is loaded."""
        low, nominal, high = self.shares_within(where, miles_to_ft(self.bound.figures[where.radius]))[:, 0]
        return float(low), float(nominal), float(high)


def key_of(where: Where) -> Hashable:
    """Return what a measurement is known by: clauses that look at the same features share it."""
    nearest = where.nearest if isinstance(where, Within) else None
    return (
        where.layer,
        where.selection,
        tuple(sorted(where.at_least.items())),
        None if nearest is None else (nearest.layer, nearest.selection, nearest.n),
    )
