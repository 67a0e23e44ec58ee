"""Lines of tax lists and typed lines come apart the same way: number, street, unit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grownj_geo.addressline import compact, split_line, split_lines
from grownj_geo.addresswords import address_words


@pytest.mark.parametrize(
    ("text", "number", "low", "high", "street"),
    [
        ("448 ORANGE ROAD", "448", 448, 448, "ORANGE ROAD"),
        ("43-A WILLIAM STREET", "43A", 43, 43, "WILLIAM STREET"),
        ("43A William St.", "43A", 43, 43, "WILLIAM STREET"),
        ("641.A NASSAU STREET", "641A", 641, 641, "NASSAU STREET"),
        ("422.A-C LAKESIDE AVENUE", "422A-C", 422, 422, "LAKESIDE AVENUE"),
        ("12 1/2 Main Street", "12 1/2", 12, 12, "MAIN STREET"),
        ("12½ Main Street", "12 1/2", 12, 12, "MAIN STREET"),
        ("95-123 FREEWAY DRIVE WEST", "95-123", 95, 123, "FREEWAY DRIVE WEST"),
        ("12 - 16 Main St", "12-16", 12, 16, "MAIN STREET"),
        ("641-51 Lincoln Ave", "641-651", 641, 651, "LINCOLN AVENUE"),
        ("17-09 Fair Lawn Ave", "17-09", 17, 17, "FAIR LAWN AVENUE"),
        ("100-12 Main St", "100-112", 100, 112, "MAIN STREET"),
        ("0012 Main St", "12", 12, 12, "MAIN STREET"),
        ("0 MAIN ST", "", 0, 0, "MAIN STREET"),
        ("1ST AVENUE", "", 0, 0, "1ST AVENUE"),
        ("BURNSIDE & THOMAS", "", 0, 0, "BURNSIDE & THOMAS"),
        ("2300 3Rd St.", "2300", 2300, 2300, "3RD STREET"),
        ("121 122nd Street", "121", 121, 121, "122ND STREET"),
    ],
)
def test_house_numbers(text: str, number: str, low: int, high: int, street: str) -> None:
    line = split_line(text)
    assert (line.number, line.low, line.high, str(line.street), line.unit) == (number, low, high, street, "")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("475 SO. JEFFERSON ST.", ("SOUTH", "JEFFERSON", "STREET", "")),
        ("12 NORTH AVENUE", ("", "NORTH", "AVENUE", "")),
        ("12 SOUTH STREET", ("", "SOUTH", "STREET", "")),
        ("12 MT VERNON AVE", ("", "MOUNT VERNON", "AVENUE", "")),
        ("12 St Marks Pl", ("", "SAINT MARKS", "PLACE", "")),
        ("12 MC CHESNEY ST", ("", "MCCHESNEY", "STREET", "")),
        ("12 O'Brien Ct", ("", "OBRIEN", "COURT", "")),
        ("12 First Ave", ("", "1ST", "AVENUE", "")),
        ("12 CENTER STRRET", ("", "CENTER", "STREET", "")),
        ("23 Avenue C", ("", "AVENUE C", "", "")),
        ("23 Avenue E", ("", "AVENUE E", "", "")),
        ("15 Park Row", ("", "PARK", "ROW", "")),
        ("12 Broadway", ("", "BROADWAY", "", "")),
        ("12 Boulevard", ("", "BOULEVARD", "", "")),
        ("500 US Highway No. 1 South", ("", "ROUTE 1", "", "SOUTH")),
        ("500 Rt 46 E", ("", "ROUTE 46", "", "EAST")),
        ("12 NJ-35", ("", "ROUTE 35", "", "")),
        ("12 State Highway 35", ("", "ROUTE 35", "", "")),
        ("12 Co Rd 517", ("", "COUNTY ROAD 517", "", "")),
        ("125 Broad Ave (Pvt Rd)", ("", "BROAD", "AVENUE", "")),
        ("12 Peña Lane", ("", "PENA", "LANE", "")),
    ],
)
def test_streets(text: str, parts: tuple[str, ...]) -> None:
    assert tuple(split_line(text).street) == parts


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("52 LINCOLN AVENUE #507", "507"),
        ("52 LINCOLN AVENUE, APT 507", "507"),
        ("81 HIGH STREET - UNIT 9", "9"),
        ("81 NORTH DAY STREET  # 8", "8"),
        ("639 NASSAU STREET UN2-B", "2B"),
        ("639 NASSAU STREET UNT 2-B", "2B"),
        ("433 LINCOLN AVENUE C002G", "C002G"),
        ("433 LINCOLN C002G", "C002G"),
        ("765 VOSE AVENUE B-14", "B14"),
        ("1265 15Th St. - Suite #1", "1"),
        ("12 Washington St 2nd Floor", "FLOOR 2"),
        ("12 Main St, Bldg 3 Apt 5", "BUILDING 3 5"),
        ("167 PARK ST. REAR", "REAR"),
        ("167 PARK ST (REAR)", "REAR"),
        ("HAWTHORNE STREET  R L", "REAR"),
        ("263 HICKORY STREET R.O.W", "REAR"),
        ("REAR 241 WILLIAM STREET", "REAR"),
        ("REAR PTN.-280 WATCHUNG", "REAR"),
        ("FRONT 241 WILLIAM STREET", "FRONT"),
        ("12 ROUTE 130", ""),
        ("12 N 5TH ST", ""),
        ("12 SEVEN OAKS WAY", ""),
    ],
)
def test_units(text: str, unit: str) -> None:
    assert split_line(text).unit == unit


def test_what_is_written_in_other_ways_is_the_same() -> None:
    written = ["475 South Jefferson Street #3", "475 S Jefferson St Apt 3", "475 so. jefferson st., unit 3"]
    assert len({split_line(text) for text in written}) == 1
    assert compact(split_line("12 LAWNRIDGE RD").street.name) == compact(split_line("12 LAWN RIDGE RD").street.name)


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("800 MADISON/801 MONROE ST", ["800 MADISON", "801 MONROE STREET"]),
        ("564 THMS BLVD & 301 HAYWD", ["564 THMS BOULEVARD", "301 HAYWD"]),
        ("633 WILLOW AVE/AKA265 7TH", ["633 WILLOW AVENUE", "265 7TH"]),
        ("12/14 MAIN ST", []),
        ("12 1/2 MAIN ST", []),
        ("12 & 14 MAIN ST", []),
        ("BURNSIDE & THOMAS", []),
        ("6004 Tonnelle Ave / Rear", []),
    ],
)
def test_corner_lots_have_two_addresses(text: str, addresses: list[str]) -> None:
    whole, *parts = split_lines(text)
    assert whole == split_line(text)
    assert [f"{part.number} {part.street}" for part in parts] == addresses


def test_a_name_that_is_written_in_many_ways_is_one() -> None:
    ways = ["MLK", "M.L. King", "Dr. Martin Luther King Jr.", "REV DR MARTIN LUTHER KING, JR", "Martin L King"]
    assert {split_line(f"12 {way} Blvd").street.name for way in ways} == {"MARTIN LUTHER KING"}
    assert split_line("12 Kings Highway").street.name == "KINGS"
    assert split_line("12 Martin King Blvd").street.name == "MARTIN KING"


def test_numbers_alone_are_no_address_with_a_number() -> None:
    assert split_line("12").number == ""
    assert split_line("").street == ("", "", "", "")


@given(st.text(max_size=400))
def test_any_text_comes_apart(text: str) -> None:
    line = split_line(text)
    assert 0 <= line.low <= line.high
    assert bool(line.number) == bool(line.low)


@given(
    st.integers(1, 9999),
    st.sampled_from(["", "NORTH ", "S. ", "E "]),
    st.sampled_from(["MAIN", "LAWN RIDGE", "MC CHESNEY", "WASHINGTON"]),
    st.sampled_from(sorted(set(address_words().suffixes) - {"ROW"})),
)
def test_every_suffix_is_read_in_any_case(number: int, before: str, name: str, suffix: str) -> None:
    line = split_line(f"{number} {before}{name} {suffix}")
    assert line.street.suffix == address_words().suffixes[suffix]
    assert line == split_line(f"{number} {before}{name} {suffix}".lower())
    assert line.low == number
