"""The locator on this machine: what kind of place each address is, and how far off it may be."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import pytest
import shapely
from parcel_world import IN_CAMDEN, local_sources, parcel_file, parcel_home, square

from grownj_geo.found import match_words
from grownj_geo.locator import AddressQuery, LocatorError, uncertainty_ft
from grownj_geo.locatorlocal import LocalLocator
from grownj_geo.matchfigures import GOOD_SCORE
from grownj_geo.parcelbuild import import_address_points, import_parcels
from grownj_geo.units import FT_PER_FTUS, to_working

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.atlas import Atlas


@pytest.fixture(scope="module")
def locator(atlas: Atlas, tmp_path_factory: pytest.TempPathFactory) -> LocalLocator:
    folder = tmp_path_factory.mktemp("parcels")
    home = parcel_home(folder)
    points = [
        {
            "type": "Feature",
            "properties": {"ADDRESS": address, "MUN_CODE": "0408"},
            "geometry": {"type": "Point", "coordinates": [IN_CAMDEN[0], IN_CAMDEN[1] + away]},
        }
        for address, away in (("40 DOOR ST", 0.001), ("11 BLANK ST", 0.002))
    ]
    path = folder / "points.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": points}), encoding="utf-8")
    import_address_points(path, home=home)
    (found,) = local_sources(atlas, home).locators
    assert isinstance(found, LocalLocator)
    return found


def point(address: str, east: float, north: float) -> dict[str, Any]:
    return {
        "type": "Feature",
        "properties": {"ADDRESS": address, "MUN_CODE": "0408"},
        "geometry": {"type": "Point", "coordinates": [IN_CAMDEN[0] + east, IN_CAMDEN[1] + north]},
    }


@pytest.fixture(scope="module")
def apart(atlas: Atlas, tmp_path_factory: pytest.TempPathFactory) -> LocalLocator:
    """Parcels whose address points lie apart from each other, and off the outline."""
    folder = tmp_path_factory.mktemp("apart")
    home = folder / "home"
    parcels = json.loads(parcel_file(folder).read_text(encoding="utf-8"))
    for lot, number in enumerate((12, 14, 20, 30), start=1):
        properties = {"PAMS_PIN": f"0408_100_{lot}", "PROP_LOC": f"{number} MAPLE ST"}
        parcels["features"].append({"type": "Feature", "properties": properties, "geometry": None})
    (folder / "more.geojson").write_text(json.dumps(parcels), encoding="utf-8")
    import_parcels(folder / "more.geojson", home=home)
    points = [
        point("12 MAPLE ST", 0.0, 0.0),
        point("12 MAPLE ST", 0.019, -0.0147),
        point("14 MAPLE ST", -0.0005, -0.0007),
        point("30 MAPLE ST", 0.0, 0.0),
        point("30 MAPLE ST", 0.00005, 0.0),
        # The outline of 100 Main Street is a square of 50 ft: one point beside it, one far away.
        point("100 MAIN ST", 0.0001, 0.0),
        point("102 MAIN ST", 0.019, -0.0147),
    ]
    path = folder / "points.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": points}), encoding="utf-8")
    import_address_points(path, home=home)
    (found,) = local_sources(atlas, home).locators
    assert isinstance(found, LocalLocator)
    return found


def query(text: str) -> AddressQuery:
    return AddressQuery.from_text(text)


def test_a_lot_is_its_outline(locator: LocalLocator) -> None:
    (found,) = locator.find(query("100 Main St, Camden"))
    assert (found.kind, found.pin, found.mun_code, found.score, found.uncertainty_ft) == (
        "parcel", "0408_81_1", "0408", 1.0, 0.0,
    )  # fmt: skip
    assert shapely.hausdorff_distance(found.geometry, square(IN_CAMDEN, 0.0)) < 0.01
    assert found.geometry.contains(shapely.Point(found.x_ft, found.y_ft))


def test_an_address_point_is_a_rooftop(locator: LocalLocator) -> None:
    (found,) = locator.find(query("40 Door St, Camden"))
    assert (found.kind, found.pin, found.uncertainty_ft) == ("rooftop", None, uncertainty_ft("rooftop"))
    assert found.lonlat[1] == pytest.approx(IN_CAMDEN[1] + 0.001, abs=1e-6)


def test_the_point_says_where_a_parcel_without_an_outline_is(locator: LocalLocator) -> None:
    found = locator.find(query("11 Blank St, Camden"))[0]
    assert (found.kind, found.pin) == ("rooftop", "0408_84_1")


def test_without_either_a_parcel_is_somewhere_in_its_municipality(locator: LocalLocator, atlas: Atlas) -> None:
    found = locator.find(query("13 Blank St, Camden"))[0]
    assert (found.kind, found.pin) == ("municipality", "0408_84_2")
    corners = shapely.points(shapely.get_coordinates(_camden(atlas)))
    away = shapely.distance(corners, shapely.Point(found.x_ft, found.y_ft)).max() * FT_PER_FTUS
    assert away <= found.uncertainty_ft + 0.01


def test_a_number_between_neighbours_and_a_street_hold_what_is_loaded_of_them(locator: LocalLocator) -> None:
    between = locator.find(query("101 Main St, Camden"))
    assert all(match.score < GOOD_SCORE for match in between)
    street = next(match for match in between if match.kind == "street")
    for east_ft in (0.0, 120.0):
        corners = shapely.points(shapely.get_coordinates(square(IN_CAMDEN, east_ft)))
        away = shapely.distance(corners, shapely.Point(street.x_ft, street.y_ft)).max() * FT_PER_FTUS
        assert away <= street.uncertainty_ft + 0.01


def test_points_farther_apart_than_they_are_known_are_places_of_their_own(apart: LocalLocator) -> None:
    found = apart.find(query("12 Maple St, Camden"))
    assert {(match.kind, match.pin, match.score) for match in found} == {("rooftop", "0408_100_1", 1.0)}
    assert len({(match.x_ft, match.y_ft) for match in found}) == 2
    assert all(any("2 address points have this address, up to 1.43 miles" in n for n in match.notes) for match in found)


def test_points_as_close_as_they_are_known_are_one_place_that_holds_both(apart: LocalLocator) -> None:
    (found,) = apart.find(query("30 Maple St, Camden"))
    both = [shapely.Point(*map(float, to_working(IN_CAMDEN[0] + east, IN_CAMDEN[1]))) for east in (0.0, 0.00005)]
    reach = shapely.distance(both, shapely.Point(found.x_ft, found.y_ft)).max() * FT_PER_FTUS
    assert reach > 5
    assert found.uncertainty_ft == pytest.approx(uncertainty_ft("rooftop") + reach, abs=0.1)


def test_a_point_beside_the_outline_is_of_that_parcel_and_one_far_off_is_another_place(apart: LocalLocator) -> None:
    (beside,) = apart.find(query("100 Main St, Camden"))
    assert (beside.kind, beside.pin) == ("parcel", "0408_81_1")
    far = apart.find(query("102 Main St, Camden"))
    assert [(match.kind, match.pin) for match in far] == [("rooftop", None), ("parcel", "0408_81_1.10")]
    assert all("An address point with this address lies 1.4" in match.notes[0] for match in far)


def test_a_range_of_which_one_neighbour_has_no_place_is_as_wide_as_ranges_are(apart: LocalLocator) -> None:
    (half,) = [match for match in apart.find(query("16 Maple St, Camden")) if match.kind == "range"]
    assert half.uncertainty_ft == uncertainty_ft("range")
    assert any("The place of one neighbour is not known" in note for note in half.notes)


def test_of_a_street_no_more_is_known_than_its_municipality(locator: LocalLocator, atlas: Atlas) -> None:
    (street,) = locator.find(query("2900 Main St, Camden"))
    assert (street.kind, street.mun_code, street.has_place) == ("street", "0408", False)
    corners = shapely.points(shapely.get_coordinates(_camden(atlas)))
    farthest = shapely.distance(corners, shapely.Point(street.x_ft, street.y_ft)).max() * FT_PER_FTUS
    assert street.uncertainty_ft == pytest.approx(farthest)
    assert "anywhere in its municipality" in match_words(street)


def test_of_a_street_without_a_municipality_only_how_far_streets_go_is_known(atlas: Atlas, tmp_path: Path) -> None:
    # Off the shore, in no municipality.
    nowhere = point("40 LOST ST", 1.2, 0.0)
    del nowhere["properties"]["MUN_CODE"]
    content = {"type": "FeatureCollection", "features": [nowhere]}
    (tmp_path / "points.geojson").write_text(json.dumps(content), encoding="utf-8")
    import_address_points(tmp_path / "points.geojson", home=tmp_path / "home")
    (locator,) = local_sources(atlas, tmp_path / "home").locators
    streets = [match for match in locator.find(query("2900 Lost St, Camden")) if match.kind == "street"]
    assert [(one.mun_code, one.has_place) for one in streets] == [(None, True)]
    assert streets[0].uncertainty_ft == uncertainty_ft("street")


def _camden(atlas: Atlas) -> shapely.Geometry:
    layer = atlas.layer("municipalities")
    assert layer is not None
    (camden,) = [layer.geometry(i) for i in layer.select(as_of=atlas.as_of).tolist() if layer.key(i) == "0408"]
    return camden


def test_a_unit_that_nobody_typed_does_not_differ(locator: LocalLocator) -> None:
    (lot,) = locator.find(query("7 Tower Pl, Camden"))
    assert not any("Not as typed" in note for note in lot.notes)


def test_a_unit_of_a_house_without_units_is_told_and_its_lot_taken(locator: LocalLocator) -> None:
    (lot,) = locator.find(query("100 Main St Apt 4B, Camden"))
    assert (lot.pin, lot.score) == ("0408_81_1", 1.0)
    assert any("Unit 4B was typed; what is loaded has no units there" in note for note in lot.notes)
    # Where there are units, another than those is open.
    assert all(match.score < GOOD_SCORE for match in locator.find(query("7 Tower Pl #999, Camden")))


def test_places_that_are_cut_off_are_counted_and_leave_the_others_open(atlas: Atlas, tmp_path: Path) -> None:
    codes = sorted(atlas.municipal_names)[:30]
    for count, tied in ((24, False), (30, True)):
        rows = "PAMS_PIN,PROP_LOC\n" + "".join(f"{code}_1_1,12 MAIN ST\n" for code in codes[:count])
        (tmp_path / "main.csv").write_text(rows, encoding="utf-8")
        import_parcels(tmp_path / "main.csv", home=tmp_path / f"{count}")
        (locator,) = local_sources(atlas, tmp_path / f"{count}").locators
        found = locator.find(AddressQuery(text="12 Main St"))
        assert len(found) == 24
        assert all((match.score < GOOD_SCORE) == tied for match in found)
        words = "6 more places are not shown, 6 of which fit as well; type more of the address."
        assert all((words in match.notes) == tied for match in found)


def test_what_is_no_address_is_refused_and_loses_no_other(locator: LocalLocator) -> None:
    with pytest.raises(LocatorError) as caught:
        locator.find(AddressQuery(text="PO Box 4, Camden"))
    assert caught.value.kind == "refused"
    done: list[tuple[int, int]] = []
    queries = [AddressQuery(text="PO Box 4, Camden"), query("100 Main St, Camden"), query("9 No Such Way, Camden")]
    refused, found, nothing = locator.find_many(queries, progress=lambda *counts: done.append(counts))
    assert isinstance(refused, LocatorError)
    assert not isinstance(found, LocatorError)
    assert found[0].pin == "0408_81_1"
    assert nothing == ()
    assert done == [(1, 3), (2, 3), (3, 3)]


def test_whoever_knows_the_municipality_need_not_type_it(locator: LocalLocator) -> None:
    asked = AddressQuery(text="1 Line Rd", street="1 Line Rd", mun_codes=("0412",))
    assert [match.pin for match in locator.find(asked) if match.score >= GOOD_SCORE] == ["0412_5_1"]


@pytest.mark.shared
@pytest.mark.slow
def test_every_row_of_a_real_list_is_found_or_among_the_ties(atlas: Atlas, shared: Path, tmp_path: Path) -> None:
    source = shared / "data" / "orange_city_modiv_2022.csv"
    import_parcels(source, home=tmp_path)
    (locator,) = local_sources(atlas, tmp_path).locators
    with source.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lot_of = {row["pams_pin"]: "_".join(row["pams_pin"].split("_")[:3]) for row in rows}
    wrong: list[str] = []
    found = 0
    for row in rows[::5]:
        matches = locator.find(AddressQuery.from_text(f"{row['prop_loc']}, Orange"))
        good = [match for match in matches if match.score >= GOOD_SCORE]
        lots = {"_".join(str(match.pin).split("_")[:3]) for match in good}
        found += lot_of[row["pams_pin"]] in lots
        if len(lots) == 1 and lot_of[row["pams_pin"]] not in lots:
            wrong.append(row["prop_loc"])
    assert wrong == []
    assert found >= 0.99 * len(rows[::5])
