"""What ground the records of one number are: parts that touch, places apart, units with the outline of their lot."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import shapely
from parcel_world import IN_CAMDEN, local_sources, square

from grownj_geo.finder import Finder
from grownj_geo.parcel import Parcel
from grownj_geo.parcelbuild import import_parcels
from grownj_geo.parcelgrounds import apart_words, grounds_of, outline_of_units, units_words
from grownj_geo.servefinding import search_words
from grownj_geo.units import FT_PER_FTUS, to_lonlat

if TYPE_CHECKING:
    from grownj_geo.atlas import Atlas

NEAR, FAR = 400.0, 9_000.0

# Number, address, and how far east in feet.
RECORDS = (
    ("0408_82_1_C0001", "7 TOWER PL UNIT 1", 0.0),
    ("0408_82_1_C0002", "7 TOWER PL UNIT 2", 0.0),
    ("0408_83_2", "700 TWICE ST", 1_000.0),
    ("0408_83_2", "700 TWICE ST", 1_000.0 + FAR),
    ("0408_84_2", "20 NEAR ST", 2_000.0),
    ("0408_84_2", "20 NEAR ST", 2_000.0 + NEAR),
    ("0408_85_2", "30 WHOLE ST", 3_000.0),
    ("0408_85_2", "30 WHOLE ST", 3_050.0),
    ("0408_86_1_C0001", "9 SPLIT PL UNIT 1", 4_000.0),
    ("0408_86_1_C0002", "9 SPLIT PL UNIT 2", 4_200.0),
)


def parcel(pin: str, east: float | None, row: int = 1) -> Parcel:
    code, block, lot, *rest = pin.split("_")
    ground = None if east is None else shapely.box(east, 0, east + 50, 50)
    return Parcel(pin, code, block, lot, rest[0] if rest else "", geometry=ground, source_row=row)


@pytest.fixture(scope="module")
def finder(atlas: Atlas, tmp_path_factory: pytest.TempPathFactory) -> Finder:
    folder = tmp_path_factory.mktemp("grounds")
    features: list[dict[str, Any]] = []
    for pin, address, east in RECORDS:
        xy = shapely.get_coordinates(square(IN_CAMDEN, east))
        ring = [[round(float(a), 9), round(float(b), 9)] for a, b in zip(*to_lonlat(xy[:, 0], xy[:, 1]), strict=True)]
        geometry = {"type": "Polygon", "coordinates": [ring]}
        features.append({"type": "Feature", "properties": {"PAMS_PIN": pin, "PROP_LOC": address}, "geometry": geometry})
    path = folder / "parcels.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    import_parcels(path, home=folder / "home")
    return Finder(atlas, local_sources(atlas, folder / "home"))


@pytest.mark.parametrize(("gap", "count"), [(-1.0, 1), (0.0, 1), (1.0, 1), (1.01, 2), (5_000.0, 2)])
def test_outlines_that_touch_are_one_ground(gap: float, count: int) -> None:
    grounds = grounds_of([parcel("0408_1_1", 0.0), parcel("0408_1_1", 50 + gap), parcel("0408_1_1", None)])
    assert len(grounds) == count
    assert sum(ground.area for ground in grounds) == pytest.approx(5_000 + min(gap, 0) * 50)


def test_a_chain_is_one_ground_in_whatever_order_it_stands() -> None:
    assert len(grounds_of([parcel("0408_1_1", east) for east in (0.0, 150.0, 50.0, 100.0, 900.0)])) == 2
    (one,) = grounds_of([parcel("0408_1_1", 7.0)] * 3)
    assert one.equals(shapely.box(7, 0, 57, 50))
    assert grounds_of([parcel("0408_1_1", None)]) == ()


def test_how_far_apart_is_between_the_outlines_and_the_rows_are_named() -> None:
    records = [parcel("0408_1_1", 0.0, 12), parcel("0408_1_1", 6_050.0, 40)]
    words = apart_words("0408_1_1", records, grounds_of(records))
    assert "is there twice" in words
    assert f"{6_000 * FT_PER_FTUS:,.0f} ft apart (rows 12, 40 of the files)" in words


def test_units_show_the_outline_of_their_lot_where_all_have_it() -> None:
    units = [parcel(f"0408_1_1_C{n:04}", 0.0) for n in range(1, 9)]
    assert outline_of_units(units) is units[0].geometry
    assert units_words(units).endswith("0408_1_1_C0006 and 2 more")
    assert outline_of_units(units[:1]) is None
    assert outline_of_units([*units, parcel("0408_1_1_C0009", 10.0)]) is None
    assert outline_of_units([*units, parcel("0408_1_1_C0009", None)]) is None
    assert outline_of_units([]) is None


@pytest.mark.parametrize("text", ["0408_83_2", "Camden City block 83 lot 2", "700 Twice St, Camden"])
def test_a_number_that_is_there_twice_far_apart_is_no_one_site(finder: Finder, text: str) -> None:
    found = finder.find(text)
    assert not found.settled
    assert [match.pin for match in found.choices] == ["0408_83_2"] * 2
    assert found.site is not None
    assert (found.site.geometry, found.site.mun_code, found.site.pins) == (None, "0408", ("0408_83_2",))
    away = round((FAR - 50) * FT_PER_FTUS)
    assert any(f"twice, with outlines that do not touch and lie up to {away:,} ft apart" in n for n in found.notes)
    grounds = [match.geometry for match in found.choices]
    assert shapely.distance(*grounds) == pytest.approx(FAR - 50, abs=0.1)


@pytest.mark.parametrize("text", ["0408_84_2", "20 Near St, Camden"])
def test_places_of_a_number_that_lie_close_are_a_circle_with_both_in_it(finder: Finder, text: str) -> None:
    found = finder.find(text)
    assert len(found.choices) == 2
    assert found.site is not None
    assert found.site.is_point
    assert found.site.pins == ("0408_84_2",)
    for match in found.choices:
        corners = shapely.points(shapely.get_coordinates(match.geometry))
        assert (shapely.distance(corners, found.site.geometry) * FT_PER_FTUS).max() <= found.site.uncertainty_ft + 0.01


@pytest.mark.parametrize("text", ["0408_85_2", "30 Whole St, Camden"])
def test_parts_that_touch_are_one_site(finder: Finder, text: str) -> None:
    found = finder.find(text)
    assert found.settled
    assert found.site is not None
    assert found.site.geometry.area == pytest.approx(5_000, rel=1e-4)


def test_of_several_numbers_one_of_which_is_there_twice_the_place_is_not_known(finder: Finder) -> None:
    outline, notes = finder.outline_of(["0408_83_2", "0408_85_2"])
    assert outline is None
    assert any("The outline of 0408_83_2 is not known" in note for note in notes)


def test_a_lot_has_the_outline_that_all_of_its_units_have(finder: Finder) -> None:
    found = finder.find("Camden City block 82 lot 1")
    assert found.settled
    assert found.site is not None
    assert found.site.pins == ("0408_82_1",)
    assert shapely.hausdorff_distance(found.site.geometry, square(IN_CAMDEN, 0.0)) < 0.01
    assert any("its 2 units have one and the same" in n and "C0001, 0408_82_1_C0002" in n for n in found.notes)
    # Units with outlines of their own do not say what the lot is.
    assert finder.site("0408_86_1").geometry is None


@pytest.mark.parametrize(
    "pin", ["0408_82_1", "0408_83_2", "0408_84_2", "0408_85_2", "0408_86_1", "0408_86_1_C0001", "0408_1_1"]
)
def test_tables_get_the_ground_that_one_number_gets(finder: Finder, pin: str) -> None:
    site = finder.site(pin)
    ground, slack_ft, how, notes = finder.ground_of([pin])
    assert (ground is None) == (site.geometry is None)
    if ground is not None:
        assert ground.equals(site.geometry)
        assert site.located_by.endswith(how)
        assert how
    assert slack_ft == site.uncertainty_ft
    assert set(notes) <= set(site.notes)


def test_each_place_of_a_number_that_is_there_twice_is_asked_about_by_its_own_outline(finder: Finder) -> None:
    choices = search_words(finder, "Camden City block 83 lot 2", 8)["choices"]
    assert [choice["ask"]["pin"] for choice in choices] == ["0408_83_2", "0408_83_2"]
    assert all("site" not in choice["ask"] for choice in choices)
    assert choices[0]["ask"]["geometry"] != choices[1]["ask"]["geometry"]
