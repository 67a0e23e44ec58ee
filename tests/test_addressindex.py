"""Addresses are found, ties stay together, and only what agrees in every part and has no rival is certain."""

from __future__ import annotations

import csv
import importlib
import random
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from address_world import ORANGE_PLACES, Row, address_store

from grownj_geo.addressindex import AddressHit, AddressIndex
from grownj_geo.addressparse import AddressError, parse_address
from grownj_geo.determine import Directory
from grownj_geo.errors import LayerError

if TYPE_CHECKING:
    from types import ModuleType

    from grownj_geo.atlas import Atlas

ROWS: list[Row] = [
    ("0717", "1", "1", "", "475 SOUTH JEFFERSON ST."),  # 1
    ("0717", "1", "2", "C1", "52 LINCOLN AVENUE #1"),
    ("0717", "1", "2", "C2", "52 LINCOLN AVENUE #2"),
    ("0717", "1", "3", "", "52 LINCOLN AVENUE"),
    ("0717", "2", "1", "", "12 PARK STREET"),  # 5
    ("0717", "2", "2", "", "12 PARK AVENUE"),
    ("0717", "2", "3", "", "95-123 FREEWAY DRIVE WEST"),
    ("0717", "3", "1", "", "21 HIGH STREET"),
    ("0717", "3", "2", "", "27 HIGH STREET"),
    ("0717", "3", "3", "", "26 HIGH STREET"),  # 10
    ("0717", "3", "4", "", "43 WILLIAM STREET"),
    ("0717", "3", "5", "", "43-A WILLIAM STREET"),
    ("0717", "3", "6", "", "SCOTLAND ROAD"),
    ("0717", "3", "7", "", "SCOTLAND ROAD"),
    ("0717", "4", "1", "C1", "500 VOSE AVENUE"),  # 15
    ("0717", "4", "1", "C2", "500 VOSE AVENUE"),
    ("0717", "5", "1", "", "8 LAWN RIDGE ROAD"),
    ("0717", "5", "2", "", "9 ESSEX STREET"),
    ("0717", "5", "3", "", "9 SOUTH ESSEX STREET"),
    ("0717", "6", "1", "", "77 OGDEN STREET"),  # 20
    ("0717", "6", "2", "", "77 OGDEN"),
    ("0408", "1", "1", "", "475 SOUTH JEFFERSON STREET"),
    ("0719", "1", "1", "", "31 IRVING AVENUE"),
    ("0336", "1", "1", "", "5 MILL ROAD"),
    ("0818", "1", "1", "", "6 MILL ROAD"),  # 25
    ("0712", "1", "1", "", "14 OLD SHORT HILLS ROAD"),
    ("0717", "7", "1", "", "17 MC CHESNEY STREET"),
]


@pytest.fixture(scope="module")
def index(atlas: Atlas) -> AddressIndex:
    return AddressIndex(address_store(ROWS), Directory(atlas))


def best(index: AddressIndex, text: str) -> AddressHit:
    return index.search(text)[0]


@pytest.mark.parametrize(
    ("text", "parcel"),
    [
        ("475 S Jefferson St, Orange", 1),
        ("475 S. Jefferson Street Camden NJ", 22),
        ("12 park st orange", 5),
        ("12 PARK AVE, City of Orange Township, NJ 07050", 6),
        ("52 Lincoln Ave #2, Orange", 3),
        ("43-A William St, Orange", 12),
        ("43a William St, Orange", 12),
        ("95-123 Freeway Dr W, Orange", 7),
        ("17 McChesney St, Orange", 27),
    ],
)
def test_what_agrees_in_every_part_is_certain(index: AddressIndex, text: str, parcel: int) -> None:
    hit = best(index, text)
    assert (hit.parcel_ids, hit.certain, hit.score, hit.differs, hit.kind) == ((parcel,), True, 1.0, (), "parcel")


@pytest.mark.parametrize(
    ("text", "parcel", "differs"),
    [
        ("475 S Jeferson St, Orange", 1, {"street name"}),
        ("475 S Jeffersno St, Orange", 1, {"street name"}),
        ("475 Jefferson St, Orange", 1, {"direction"}),
        ("475 N Jefferson St, Orange", 1, {"direction"}),
        ("475 S Jefferson, Orange", 1, {"street suffix"}),
        ("475 S Jefferson Ave, Orange", 1, {"street suffix"}),
        ("475 S Jefferson St, Ornage", 1, {"municipality"}),
        ("475 S Jefferson St, South Orange", 1, {"municipality"}),
        ("101 Freeway Drive West, Orange", 7, {"house number"}),
        ("8 Lawn Ridge, Orange", 17, {"street suffix"}),
        ("8 lawnridge orange", 17, {"street suffix"}),
        ("43B William St, Orange", 11, {"house number"}),
        ("31 Irving Ave", 23, {"municipality"}),
        ("31 Irvnig Ave", 23, {"municipality", "street name"}),
    ],
)
def test_what_differs_is_found_said_and_not_certain(
    index: AddressIndex, text: str, parcel: int, differs: set[str]
) -> None:
    hits = index.search(text)
    assert parcel in {i for h in hits if h.score == hits[0].score for i in h.parcel_ids}
    assert set(hits[0].differs) == differs
    assert hits[0].score < 1
    assert not any(h.certain for h in hits)


def test_numbers_are_never_taken_for_others(index: AddressIndex) -> None:
    assert all(h.kind in {"range", "street"} for h in index.search("25 High St, Orange"))
    assert all(h.kind in {"range", "street"} for h in index.search("476 S Jefferson St, Orange"))


def test_a_number_of_the_other_side_of_a_range_is_a_weak_choice_beside_where_it_would_be(atlas: Atlas) -> None:
    near = [("0717", "9", str(lot), "", f"{number} FEDERAL ST") for lot, number in enumerate((203, 207))]
    index = AddressIndex(address_store([("0717", "8", "1", "", "200-210 FEDERAL ST"), *near]), Directory(atlas))
    found = {hit.kind: hit for hit in index.search("205 Federal St, Orange")}
    assert found.keys() == {"parcel", "range"}
    assert (found["parcel"].parcel_ids, found["range"].between) == ((1,), ("203", "207"))
    assert set(found["parcel"].differs) == {"house number", "side of the street"}
    assert not any(hit.certain or hit.compatible for hit in found.values())
    (inside, *_) = index.search("206 Federal St, Orange")
    assert (inside.parcel_ids, inside.compatible) == ((1,), True)
    assert all(hit.kind != "parcel" for hit in index.search("211 Federal St, Orange"))


def test_a_number_that_is_not_there_lies_between_its_neighbours_or_on_the_street(index: AddressIndex) -> None:
    between = best(index, "25 High St, Orange")
    assert (between.kind, between.between, between.parcel_ids) == ("range", ("21", "27"), (9, 8)[::-1])
    assert not between.certain
    beyond = best(index, "99 High St, Orange")
    assert (beyond.kind, set(beyond.parcel_ids), beyond.number) == ("street", {8, 9, 10}, "")
    assert beyond.score < between.score


def test_a_street_that_has_the_number_is_not_shown_without_it(index: AddressIndex) -> None:
    assert [h.kind for h in index.search("26 hihg street orange")] == ["parcel"]


def test_ties_stay_together(index: AddressIndex) -> None:
    suffixes = index.search("12 Park, Orange")
    assert [h.parcel_ids for h in suffixes if h.kind == "parcel"] == [(6,), (5,)]
    assert {(h.score, h.ties) for h in suffixes if h.kind == "parcel"} == {(0.97, 2)}
    numberless = best(index, "Scotland Road, Orange")
    assert (numberless.parcel_ids, numberless.places, numberless.certain) == ((13, 14), 2, False)


def test_a_corner_lot_is_found_by_each_of_its_streets(atlas: Atlas) -> None:
    index = AddressIndex(address_store([("0905", "1", "1", "", "800 MADISON/801 MONROE ST")]), Directory(atlas))
    for text in ("801 Monroe Street, Hoboken", "800 Madison, Hoboken", "800 Madison/801 Monroe St, Hoboken"):
        assert (best(index, text).parcel_ids, best(index, text).certain) == ((1,), True), text
    assert best(index, "800 Madison Street, Hoboken").differs == ("street suffix",)


def test_units_of_one_lot_are_one_place(index: AddressIndex) -> None:
    hit = best(index, "500 Vose Ave, Orange")
    assert (hit.parcel_ids, hit.places, hit.certain) == ((15, 16), 1, True)


def test_a_lot_that_is_certain_has_the_records_of_all_its_units(atlas: Atlas) -> None:
    rows = [("0717", "1", "2", "", "52 LINCOLN AVENUE"), ("0717", "1", "2", "C1", "52 LINCOLN AVENUE #1")]
    index = AddressIndex(address_store(rows), Directory(atlas))
    whole = index.search("52 Lincoln Ave, Orange")
    assert [(h.parcel_ids, h.certain, h.places) for h in whole] == [((1, 2), True, 1)]
    assert [(h.parcel_ids, h.certain) for h in index.search("52 Lincoln Ave #1, Orange")] == [((2,), True)]


def test_units_of_other_lots_are_rivals(index: AddressIndex) -> None:
    """Who leaves the unit out may mean any: the house alone is not certain."""
    hits = index.search("52 Lincoln Ave, Orange")
    assert [h.parcel_ids for h in hits if h.kind == "parcel"] == [(4,), (2, 3)]
    assert not any(h.certain for h in hits)
    other = index.search("52 Lincoln Ave #7, Orange")
    assert not any(h.certain for h in other)
    assert {i for h in other for i in h.parcel_ids} >= {2, 3, 4}


def test_a_street_that_may_have_lost_its_direction_is_not_certain(index: AddressIndex) -> None:
    assert best(index, "9 Essex Street, Orange").certain is False
    assert best(index, "9 South Essex Street, Orange").certain is True


def test_a_street_that_the_file_writes_without_suffix_is_a_rival(index: AddressIndex) -> None:
    assert best(index, "77 Ogden Street, Orange").parcel_ids == (20,)
    assert best(index, "77 Ogden Street, Orange").certain is False
    assert best(index, "77 Ogden, Orange").certain is False


def test_a_municipality_that_is_not_clear_is_never_certain(index: AddressIndex) -> None:
    ambiguous = best(index, "5 Mill Road, Washington Township")
    assert (ambiguous.parcel_ids, ambiguous.certain) == ((24,), False)
    told = best(index, "5 Mill Road, Washington Township, Burlington County")
    assert (told.parcel_ids, told.certain) == ((24,), True)
    postal = best(index, "14 Old Short Hills Road, Short Hills")
    assert (postal.parcel_ids, postal.certain) == ((26,), False)
    assert best(index, "31 Irving Avenue").certain is False


def test_of_several_municipalities_all_have_to_be_loaded(atlas: Atlas) -> None:
    codes = ("0266", "0336", "0818", "1438", "2122")
    rows = [(code, "1", "1", "", f"{number} MILL ROAD") for number, code in enumerate(codes, start=1)]
    some = best(AddressIndex(address_store(rows[:4]), Directory(atlas)), "3 Mill Road, Washington Township")
    assert (some.parcel_ids, some.differs) == ((3,), ("municipality",))
    every = best(AddressIndex(address_store(rows), Directory(atlas)), "3 Mill Road, Washington Township")
    assert (every.parcel_ids, every.differs, every.certain) == ((3,), (), False)


def test_places_of_several_municipalities_are_all_shown(index: AddressIndex) -> None:
    hits = index.search("475 South Jefferson Street")
    assert {h.mun_code for h in hits} == {"0717", "0408"}
    assert {h.ties for h in hits} == {2}
    assert len(index.search("475 South Jefferson Street", limit=1)) == 1
    assert index.search("475 South Jefferson Street", limit=1)[0].ties == 2


def test_a_street_alone_is_shown_where_it_may_be(index: AddressIndex) -> None:
    hits = index.search("Mill Road")
    assert [(h.kind, h.mun_code, h.certain) for h in hits] == [("street", "0336", False), ("street", "0818", False)]


def test_what_is_not_loaded_is_known(index: AddressIndex) -> None:
    assert index.search("12 Main St, Newark") == ()
    assert "0714" not in index.mun_codes
    assert {"0717", "0408"} <= index.mun_codes


def test_the_other_reading_is_a_rival(atlas: Atlas) -> None:
    rows = [("0719", "1", "1", "", "12 MAIN STREET"), ("0717", "1", "2", "", "12 MAIN STREET SOUTH")]
    both = AddressIndex(address_store(rows), Directory(atlas)).search("12 Main St South Orange")
    assert {h.parcel_ids for h in both} == {(1,), (2,)}
    assert not any(h.certain for h in both)
    alone = AddressIndex(address_store(rows[:1]), Directory(atlas)).search("12 Main St South Orange")
    assert [h.certain for h in alone] == [True]


def test_address_points_are_rooftops_and_join_their_parcel(atlas: Atlas) -> None:
    points = [
        ("0717", "475 S Jefferson St", "07050", 10.0, 20.0),
        ("0717", "9 Lone Lane", "07050", 30.0, 40.0),
        ("", "7 Stray Way", None, 50.0, 60.0),
        ("0717", "3 Twin Court", None, 1.0, 2.0),
        ("0717", "3 Twin Court", None, 900.0, 2.0),
    ]
    index = AddressIndex(address_store(ROWS, points), Directory(atlas))
    joined = best(index, "475 S Jefferson St, Orange")
    assert (joined.kind, joined.parcel_ids, joined.point_ids, joined.certain) == ("rooftop", (1,), (1,), True)
    alone = best(index, "9 Lone Lane, Orange 07050")
    assert (alone.kind, alone.parcel_ids, alone.point_ids, alone.certain) == ("rooftop", (), (2,), True)
    stray = best(index, "7 Stray Way, Orange")
    assert (stray.point_ids, stray.certain, stray.differs) == ((3,), False, ("municipality",))
    twins = best(index, "3 Twin Court, Orange")
    assert (twins.point_ids, twins.places, twins.certain) == ((4, 5), 2, False)


def test_another_zip_code_is_said(atlas: Atlas) -> None:
    index = AddressIndex(address_store(ROWS, zip_code="07050"), Directory(atlas))
    assert best(index, "475 S Jefferson St, Orange 07050").certain
    other = best(index, "475 S Jefferson St, Orange 07102")
    assert (other.differs, other.certain, other.parcel_ids) == (("ZIP code",), False, (1,))


def test_suggestions_are_addresses_that_are_found(index: AddressIndex) -> None:
    offered = index.suggest("475 s jef")
    assert offered == (
        "475 South Jefferson Street, Camden City, Camden County",
        "475 South Jefferson Street, City of Orange Township, Essex County",
    )
    assert all(best(index, text).certain for text in offered)
    assert index.suggest("475 s jef, cam") == offered[:1]
    assert index.suggest("475 south") == index.suggest("475 s") == offered
    assert index.suggest("475 s, or") == offered[1:]
    assert index.suggest("17 mcch") == ("17 Mcchesney Street, City of Orange Township, Essex County",)
    assert index.suggest("8 lawn r") == ("8 Lawn Ridge Road, City of Orange Township, Essex County",)
    assert index.suggest("475 s jefersno st")[0].startswith("475 South Jefferson Street")
    assert len(index.suggest("12 p", limit=1)) == 1
    for nothing in ("", "4", "475", "475 ", "PO Box 12", "12 Qwertz", ",", "x" * 1000):
        assert index.suggest(nothing) == ()


def test_a_store_without_the_index_is_refused_with_the_remedy(atlas: Atlas) -> None:
    with pytest.raises(LayerError, match="Load them again"):
        AddressIndex(sqlite3.connect(":memory:"), Directory(atlas))


def test_without_rapidfuzz_the_extra_is_named(
    index: AddressIndex, atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert index
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    with pytest.raises(AddressError, match=r"grownj-geo\[addresses\]") as caught:
        AddressIndex(address_store([]), Directory(atlas))
    assert caught.value.fault == "not_installed"


def test_threads_share_an_index(index: AddressIndex) -> None:
    texts = ["475 S Jefferson St, Orange", "12 Park, Orange", "475 South Jefferson Street", "25 High St, Orange"] * 20
    alone = [index.search(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(index.search, texts)) == alone


def test_what_is_typed_is_never_part_of_a_query(index: AddressIndex) -> None:
    for text in ("12 x'; DROP TABLE parcels; --, Orange", '12 "%_ Street, Orange', "12 Main\x00 St, Orange"):
        index.search(text)
        index.suggest(text)
    assert best(index, "475 S Jefferson St, Orange").certain


def test_a_parsed_address_is_searched_as_its_text(index: AddressIndex, atlas: Atlas) -> None:
    text = "475 S Jeferson St, Orange"
    assert index.search(parse_address(text, Directory(atlas))) == index.search(text)


# -- a real tax list -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def orange(shared: Path, atlas: Atlas) -> tuple[list[str], AddressIndex]:
    with (shared / "data" / "orange_city_modiv_2022.csv").open(encoding="utf-8", newline="") as file:
        rows = [(r["mun_code"], r["block"], r["lot"], r["qual"], r["prop_loc"]) for r in csv.DictReader(file)]
    assert len(rows) == 5541
    return [row[4] for row in rows], AddressIndex(address_store(rows), Directory(atlas))


@pytest.fixture(scope="module")
def slips() -> ModuleType:
    folder = str(Path(__file__).resolve().parents[1] / "scripts")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module("address_slips")


def _found(index: AddressIndex, typed: list[str]) -> tuple[float, float, list[Any]]:
    """Return the share of rows among the best hits, the share said to be certain, and what is certain and wrong."""
    found = certain = 0
    wrong = []
    for row, text in enumerate(typed, start=1):
        hits = index.search(text)
        found += any(row in h.parcel_ids for h in hits if h.score == hits[0].score)
        if hits and hits[0].certain:
            certain += 1
            if row not in hits[0].parcel_ids:
                wrong.append((text, hits[0].label))
    return found / len(typed), certain / len(typed), wrong


@pytest.mark.shared
def test_a_tax_list_is_found_as_it_stands(orange: tuple[list[str], AddressIndex]) -> None:
    addresses, index = orange
    found, certain, wrong = _found(index, [f"{address}, Orange, NJ" for address in addresses])
    assert found >= 0.99
    assert certain > 0.9
    assert wrong == []


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_tax_list_is_found_misspelt(orange: tuple[list[str], AddressIndex], slips: ModuleType, seed: int) -> None:
    addresses, index = orange
    chance = random.Random(seed)  # noqa: S311 - nothing secret is drawn
    typed = [slips.misspelt(address, ORANGE_PLACES, chance)[0] for address in addresses]
    found, _, wrong = _found(index, typed)
    assert found >= 0.95
    assert wrong == []


@pytest.mark.shared
def test_the_slips_are_slips(orange: tuple[list[str], AddressIndex], slips: ModuleType) -> None:
    chance = random.Random(4)  # noqa: S311 - nothing secret is drawn
    made = [(address, *slips.misspelt(address, ("Orange",), chance)) for address in orange[0]]
    kinds = {kind for _, _, done in made for kind in done}
    assert kinds == set(slips.SLIPS)
    unchanged = [a for a, text, _ in made if text.upper().replace(",", "") == f"{a} ORANGE"]
    assert len(unchanged) < len(made) * 0.01
