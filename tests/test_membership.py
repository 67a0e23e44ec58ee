"""The municipality of a site: counties, and extents outside of which a layer cannot lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from drawn import NEWARK

from grownj_geo.manifest import load_manifests
from grownj_geo.membership import Membership
from grownj_geo.place import place_sites
from grownj_geo.site import Site
from grownj_geo.sitetable import SiteTable

if TYPE_CHECKING:
    from grownj_geo.atlas import Atlas

VERNON = (-74.4855, 41.1957)
"""In Sussex County, in the Highlands; the southern counties are far."""


@pytest.fixture(scope="module")
def two(atlas: Atlas) -> Membership:
    """Return the municipalities of a site in Newark and of one in Vernon."""
    sites = SiteTable.of([Site.from_lonlat(*NEWARK), Site.from_lonlat(*VERNON)])
    return Membership(atlas, place_sites(atlas, sites), "undetermined")


def test_a_county_is_that_of_the_code(two: Membership) -> None:
    test = two.county_test({"Essex"})
    assert (test("0714"), test("1922"), test("9901")) == (True, False, None)


def test_outside_counties_is_who_is_surely_in_none_of_them(two: Membership) -> None:
    assert two.outside_counties({"Essex"}).tolist() == [False, True]
    assert two.outside_counties({"Essex", "Sussex"}).tolist() == [False, False]
    assert two.outside_counties({"Camden"}).tolist() == [True, True]


def test_a_layer_cannot_lie_outside_its_extent(two: Membership) -> None:
    manifests = load_manifests()
    assert two.outside_extent(manifests["highlands_region"]).tolist() == [True, False]
    everywhere = manifests["planning_areas"]
    assert not two.outside_extent(everywhere).any()


def test_an_extent_within_another_layers_is_that_one(two: Membership) -> None:
    manifests = load_manifests()
    inner = [m for m in manifests.values() if m.extent.within is not None]
    assert inner
    for manifest in inner:
        outer = manifests[str(manifest.extent.within)]
        assert np.array_equal(two.outside_extent(manifest), two.outside_extent(outer))
