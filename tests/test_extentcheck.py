"""A layer lies where its manifest says that such areas can lie, and is about as large as it should be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import shapely
from drawn import around, draw

from grownj_geo.atlas import Atlas, load_atlas
from grownj_geo.extentcheck import check_extent
from grownj_geo.features import LayerFault
from grownj_geo.reference import data_folder

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.layer import Layer

MAHWAH, ATLANTIC_CITY, HUNTERDON, SECAUCUS = (-74.156, 41.1), (-74.43, 39.362), (-74.9, 40.55), (-74.06, 40.785)


def layer(layer_id: str, *places: tuple[float, float], half: float = 500.0, **stated: Any) -> Layer:
    stated = {"area_acres": None} | stated
    return draw(layer_id, [(around(place, half), {"REGION": "Highlands Planning Area"}) for place in places], **stated)


@pytest.mark.parametrize(
    ("layer_id", "there", "elsewhere"),
    [
        ("highlands_region", MAHWAH, ATLANTIC_CITY),  # by counties
        ("atlantic_city_tourism_district", ATLANTIC_CITY, HUNTERDON),  # by a municipality
        ("meadowlands_district", SECAUCUS, ATLANTIC_CITY),  # by a list
        ("sports_exposition_land", SECAUCUS, MAHWAH),  # within another layer's extent
    ],
)
def test_a_layer_in_the_wrong_part_of_the_state_is_refused(
    atlas: Atlas, layer_id: str, there: tuple[float, float], elsewhere: tuple[float, float]
) -> None:
    check_extent(layer(layer_id, there), atlas)
    for places in ([elsewhere], [there, elsewhere]):
        with pytest.raises(LayerFault) as refused:
            check_extent(layer(layer_id, *places), atlas)
        assert refused.value.fault == "outside_extent"
        assert f"row {len(places)}" in str(refused.value)


def test_a_layer_of_the_whole_state_may_lie_anywhere(atlas: Atlas) -> None:
    check_extent(layer("planning_areas", MAHWAH, ATLANTIC_CITY, HUNTERDON), atlas)
    check_extent(load_atlas().layer("designations") or layer("planning_areas", MAHWAH), atlas)


@pytest.mark.parametrize(("beyond_ft", "refused"), [(990.0, False), (1010.0, True)])
def test_the_line_of_an_extent_has_some_slack(atlas: Atlas, beyond_ft: float, refused: bool) -> None:  # noqa: FBT001
    municipalities = atlas.layer("municipalities")
    assert municipalities is not None
    city = next(municipalities.geometry(i) for i in range(len(municipalities)) if municipalities.key(i) == "0102")
    x, y = shapely.get_coordinates(city)[shapely.get_coordinates(city)[:, 0].argmax()]
    box = shapely.box(x + beyond_ft, y - 5, x + beyond_ft + 10, y + 5)
    drawn = draw("atlantic_city_tourism_district", [(box, {})])
    if refused:
        with pytest.raises(LayerFault):
            check_extent(drawn, atlas)
    else:
        check_extent(drawn, atlas)


@pytest.mark.parametrize(("share", "refused"), [(0.79, True), (0.81, False), (1.0, False), (1.19, False), (1.21, True)])
def test_a_complete_layer_is_about_as_large_as_it_should_be(
    atlas: Atlas,
    share: float,
    refused: bool,  # noqa: FBT001
) -> None:
    side = (share * 19_456 * 43_560) ** 0.5
    drawn = layer("meadowlands_district", SECAUCUS, half=side / 2, area_acres=19_456.0)
    if refused:
        with pytest.raises(LayerFault) as caught:
            check_extent(drawn, atlas)
        assert caught.value.fault == "implausible_area"
    else:
        check_extent(drawn, atlas)
    check_extent(layer("meadowlands_district", SECAUCUS, half=side / 2, area_acres=19_456.0, complete=False), atlas)


def test_nothing_is_refused_where_the_extent_cannot_be_drawn(tmp_path: Path) -> None:
    for path in data_folder().iterdir():
        if path.is_file() and path.name not in {"municipalities.parquet", "counties.parquet"}:
            (tmp_path / path.name).write_bytes(path.read_bytes())
    check_extent(layer("atlantic_city_tourism_district", HUNTERDON), Atlas(folder=tmp_path))
