"""Tests of the municipality a site is in: lists, counties, extents; where it is certain, cut, uncertain or unknown."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.designations import Listing, listings
from grownj_geo.logic import Cause
from grownj_geo.place import UNKNOWN, Placement, PlacementKind

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from numpy.typing import NDArray

    from grownj_geo.atlas import Atlas
    from grownj_geo.manifest import Manifest

__all__ = ["SIGN", "Membership"]

SIGN = {True: 1, False: -1, None: 0}
"""Outcome of a test that may not be decided."""

_HALF = 0.5
_KIND_CAUSE = {
    PlacementKind.SEVERAL: Cause.PARTIAL,
    PlacementKind.UNCERTAIN: Cause.MUNICIPALITY_UNCERTAIN,
    PlacementKind.OFFSHORE: Cause.MUNICIPALITY_UNCERTAIN,
    PlacementKind.OUTSIDE: Cause.MUNICIPALITY_UNCERTAIN,
    PlacementKind.UNKNOWN: Cause.LAYER_UNUSABLE,
}


class Membership:
    """The municipalities of n sites, ready to be tested.

    Parameters
    ----------
    atlas
        Its lists and names are used.
    placement
        In which municipalities the sites are.
    partial
        How a site in several municipalities is read (reading A3).
    """

    def __init__(self, atlas: Atlas, placement: Placement, partial: str) -> None:
        self.atlas = atlas
        self.placement = placement
        self._partial = partial
        self._lists: dict[str, dict[str, tuple[Listing, ...]] | None] = {}

    def county(self, mun_code: str) -> str:
        """Return the county's name of a municipal code, from the code's first two digits."""
        return self.atlas.county_names.get(mun_code[:2], "")

    @cached_property
    def _only(self) -> str | None:
        """The municipality of a single site that is certainly in one: plain values are much faster than arrays."""
        place = self.placement
        one = len(place.kinds) == 1 and len(place.candidates) == 1 and place.kinds[0] is PlacementKind.CERTAIN
        return place.codes[place.candidates[0]] if one and place.candidates[0] >= 0 else None

    @cached_property
    def _asked(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The municipalities that any site may be in, each once, and where each candidate is among them."""
        asked, position = np.unique(self.placement.candidates, return_inverse=True)
        return asked, position

    @cached_property
    def _kind_of(self) -> NDArray[np.int64]:
        """Each site's kind of placement, by its number among the kinds: looking at a million members is slow."""
        number = {kind: i for i, kind in enumerate(PlacementKind)}
        return np.array([number[kind] for kind in self.placement.kinds], dtype=np.int64)

    @cached_property
    def _kinds(self) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
        """Which sites lie in several municipalities, and why a municipal test may be undetermined."""
        several = np.array([kind is PlacementKind.SEVERAL for kind in PlacementKind])
        causes = np.array([int(_KIND_CAUSE.get(kind, Cause.LIST_UNKNOWN)) for kind in PlacementKind], dtype=np.int32)
        return several[self._kind_of], causes[self._kind_of]

    @cached_property
    def adrift(self) -> NDArray[np.bool_]:
        """Which sites lie off the shore, in no municipality's polygon."""
        return np.array([kind is PlacementKind.OFFSHORE for kind in PlacementKind])[self._kind_of]

    @cached_property
    def _beside(self) -> tuple[NDArray[np.int64], list[str], NDArray[np.int64]]:
        """The sites with neighbours, once for each; the neighbours, each once; and which of these each has."""
        pairs = [(i, code) for i, near in enumerate(self.placement.neighbours) for code, _ in near]
        codes = sorted({code for _, code in pairs})
        index = {code: number for number, code in enumerate(codes)}
        sites = np.array([i for i, _ in pairs], dtype=np.int64)
        return sites, codes, np.array([index[code] for _, code in pairs], dtype=np.int64)

    def name(self, mun_code: str) -> str:
        """Return a municipality's name, or its code where no layer tells the name."""
        return self.atlas.municipal_names.get(mun_code, (mun_code, ""))[0]

    def answer(
        self, test: Callable[[str], bool | None]
    ) -> tuple[NDArray[np.int8], NDArray[np.int8], NDArray[np.int32]]:
        """Return answer, leaning and causes of a test of the site's municipality."""
        place = self.placement
        if self._only is not None:
            value = SIGN[test(self._only)]
            causes = np.array([0 if value else int(Cause.LIST_UNKNOWN)], dtype=np.int32)
            return np.array([value], dtype=np.int8), np.array([value], dtype=np.int8), causes
        asked, position = self._asked
        table = np.array(
            [SIGN[test(place.codes[c])] if c >= 0 else SIGN[None if c == UNKNOWN else False] for c in asked]
        )
        values = table.astype(np.int8)[position]
        least = np.minimum.reduceat(values, place.starts)
        most = np.maximum.reduceat(values, place.starts)
        first = values[place.starts]
        several, by_kind = self._kinds
        answer = np.where(least == most, least, 0).astype(np.int8)
        if several.any() and self._partial != "undetermined":
            answer = np.where(several, self._of_parts(values, least, most), answer)
        leaning = np.where(answer != 0, answer, np.where(several, 0, first)).astype(np.int8)
        return answer, leaning, np.where(answer == 0, by_kind, 0).astype(np.int32)

    def surely_none(self, test: Callable[[str], bool | None]) -> NDArray[np.bool_]:
        """Return which sites are surely in no municipality that passes a test.

        Municipal lines are known to so many feet only: the neighbours within that distance count as possible.
        """
        none = np.asarray(self.answer(test)[0] == -1)
        sites, codes, position = self._beside
        if not codes:
            return none
        passes = np.array([test(code) is not False for code in codes], dtype=bool)
        none[sites[passes[position]]] = False
        return none

    def county_test(self, counties: Container[str]) -> Callable[[str], bool | None]:
        """Return the test whether a municipality is in one of some counties; None where its county is not known."""

        def test(code: str) -> bool | None:
            name = self.county(code)
            return name in counties if name else None

        return test

    def outside_counties(self, counties: Container[str]) -> NDArray[np.bool_]:
        """Return which sites are surely in none of the counties."""
        return self.surely_none(self.county_test(counties))

    def outside_extent(self, manifest: Manifest) -> NDArray[np.bool_]:
        """Return which sites are surely where a layer cannot lie."""
        extent = manifest.extent
        if extent.within is not None:
            return self.outside_extent(self.atlas.manifests[extent.within])
        outside = np.zeros(len(self.placement.kinds), dtype=bool)
        if extent.counties is not None:
            outside |= self.outside_counties(extent.counties)
        places: Container[str] | None = extent.municipalities
        if extent.designation is not None:
            places = self.listings(extent.designation)
        if places is not None:
            outside |= self.surely_none(lambda code: code in places)
        return outside

    def _of_parts(self, values: NDArray[np.int8], least: NDArray[np.int8], most: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the answer of sites that lie in several municipalities, as reading A3 says."""
        if self._partial == "any":
            return most
        if self._partial == "all":
            return least
        place = self.placement
        shares = np.nan_to_num(place.shares)
        half = _HALF * np.add.reduceat(shares, place.starts)
        inside = np.add.reduceat(np.where(values == 1, shares, 0.0), place.starts)
        possible = np.add.reduceat(np.where(values >= 0, shares, 0.0), place.starts)
        return np.where(inside > half, 1, np.where(possible <= half, -1, 0)).astype(np.int8)

    def listings(self, name: str) -> dict[str, tuple[Listing, ...]] | None:
        """Return the periods of one list by municipal code, or None where the table cannot be used."""
        if name not in self._lists:
            self._lists[name] = listings(self.atlas, name)
        return self._lists[name]
