"""Block and lot as people type them."""

from __future__ import annotations

import time

import pytest

from grownj_geo.atlas import load_atlas
from grownj_geo.determine import Directory
from grownj_geo.errors import SiteError
from grownj_geo.parcellot import looks_like_lot, parse_lot


@pytest.fixture(scope="module")
def directory() -> Directory:
    return Directory(load_atlas())


@pytest.mark.parametrize(
    ("typed", "pin"),
    [
        ("Camden City block 81 lot 1", "0408_81_1"),
        ("Block 81 Lot 1 Camden City", "0408_81_1"),
        ("blk 81, lot 1.10 qual C0001, Camden City", "0408_81_1.10_C0001"),
        ("Camden City, Lot 1, Block 81", "0408_81_1"),
        ("Lot: 1 Block: 81 in Camden City, NJ 08102", "0408_81_1"),
        ("B81 L1.01 Newark", "0714_81_1.01"),
        ("newark city bl. 4851.03 lt 1 qualifier c0002", "0714_4851.03_1_C0002"),
        ("Washington Township, Morris, block 12 lot 3", "1438_12_3"),
        ("block 12 lot 3, Washington Twp (Morris)", "1438_12_3"),
        ("block 12 and lot 3 of the City of Newark", "0714_12_3"),
        ("Block 7A Lot 12B Newark", "0714_7A_12B"),
        ("Block A Lot 2 Newark", "0714_A_2"),
        ("BLOCK#12 LOT#3 0714", "0714_12_3"),
    ],
)
def test_any_order_and_any_abbreviation(typed: str, pin: str, directory: Directory) -> None:
    found = parse_lot(typed, directory)
    assert found is not None
    assert str(found[0]) == pin
    assert looks_like_lot(typed)


def test_a_county_beside_block_and_lot_has_to_be_the_municipalitys(directory: Directory) -> None:
    with pytest.raises(SiteError, match=r"Camden City \(0408\) is in Camden County"):
        parse_lot("Camden City, Essex County block 81 lot 1", directory)
    assert str(parse_lot("Camden City, Camden County block 81 lot 1", directory)[0]) == "0408_81_1"  # type: ignore[index]


def test_decimals_are_kept(directory: Directory) -> None:
    one, ten = (parse_lot(f"Newark block 5 lot {lot}", directory) for lot in ("1.1", "1.10"))
    assert one is not None
    assert ten is not None
    assert one[0] != ten[0]


def test_zeros_in_front_are_left_out_and_told(directory: Directory) -> None:
    found = parse_lot("Newark block 0012 lot 003", directory)
    assert found is not None
    assert (str(found[0]), len(found[1])) == ("0714_12_3", 1)
    assert "Zeros in front" in found[1][0]


@pytest.mark.parametrize(
    "typed",
    [
        "12 Main St, Camden",
        "81 Block Island Rd, Newark",
        "0408_81_1",
        "40.7344,-74.1641",
        "Lot Lane 5",
        "Block Island lot Lane",
        "",
    ],
)
def test_what_names_no_block_and_lot_is_none(typed: str, directory: Directory) -> None:
    assert parse_lot(typed, directory) is None
    assert not looks_like_lot(typed)


@pytest.mark.parametrize(
    "typed", ["block " + "1" * 10_000, "block" + " " * 10_000 + "1 lot 1", "lot 1" * 3_000, "b 1-" * 5_000 + "l", ","]
)
def test_long_texts_are_looked_at_in_no_time(typed: str, directory: Directory) -> None:
    start = time.process_time()
    assert parse_lot(typed, directory) is None
    assert time.process_time() - start < 1.0


def test_much_beside_a_lot_is_refused(directory: Directory) -> None:
    with pytest.raises(SiteError, match="too much beside"):
        parse_lot("block 1 lot 2" + ", x" * 90, directory)


def test_a_street_beside_is_told_and_left_aside(directory: Directory) -> None:
    found = parse_lot("12 Main St, Camden City, block 81 lot 1", directory)
    assert found is not None
    assert str(found[0]) == "0408_81_1"
    assert any("12 Main St" in note for note in found[1])


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("block 81 lot 1", "without a municipality"),
        ("block 81 lot 1, NJ", "without a municipality"),
        ("Washington Township block 1 lot 2", "have that name"),
        ("Nowhere Town block 1 lot 2", "no municipality has that name"),
        ("Newark block 1 lots 2, 3 and 4", "several lots"),
        ("Newark block 1 lots 2-4", "several lots"),
        ("Newark, Camden City, block 1 lot 2", "Expected one municipality"),
    ],
)
def test_what_is_not_certain_is_refused(typed: str, words: str, directory: Directory) -> None:
    with pytest.raises(SiteError, match=words):
        parse_lot(typed, directory)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Camden City block 81", "has a block and no lot"),
        ("blk. 81, Newark", "has a block and no lot"),
        ("lot 12, Newark", "has a lot and no block"),
    ],
)
def test_half_of_a_lot_is_told_as_that(text: str, words: str, directory: Directory) -> None:
    with pytest.raises(SiteError, match=words):
        parse_lot(text, directory)


@pytest.mark.parametrize(
    "text", ["81 Block Island Rd, Camden", "12 Lot 5 Lane, Newark", "Block Island Rd, Camden", "1 Lott St"]
)
def test_streets_that_sound_like_lots_are_no_lots(text: str, directory: Directory) -> None:
    assert parse_lot(text, directory) is None
