"""The user's own knowledge in what ships: which layers take it, and what they are refused for as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from drawn import draw, square
from refined import refined, refused, table

from grownj_geo.features import LayerFault
from grownj_geo.manifest import load_manifests
from grownj_geo.refine import REFINABLE

if TYPE_CHECKING:
    from grownj_geo.atlas import Atlas


def test_what_can_be_refined_ships() -> None:
    assert all(load_manifests()[layer_id].ships for layer_id in REFINABLE)


def test_another_layer_is_a_mistake_of_the_caller(atlas: Atlas) -> None:
    with pytest.raises(ValueError, match="expected one of"):
        refined(atlas, "counties", table([{}]))
    with pytest.raises(ValueError, match="cannot be refined"):
        refined(atlas, "designations", table([{}]), base=atlas.layer("transit_stations"))


@pytest.mark.parametrize("layer_id", REFINABLE)
def test_no_rows_are_refused(atlas: Atlas, layer_id: str) -> None:
    assert refused(atlas, layer_id, table([])).fault == "no_rows"


def test_a_base_that_cannot_be_used_is_refused(atlas: Atlas) -> None:
    broken = draw("atlantic_city_airport", [(square(0, 0, 1), {"id": "acy"})])
    with pytest.raises(LayerFault, match="what it is to refine cannot be used") as raised:
        refined(atlas, "atlantic_city_airport", table([{"id": "acy"}]), base=broken)
    assert raised.value.fault == "unusable_base"
