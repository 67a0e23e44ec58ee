"""The index holds every row of parcels and points once, and can be made again."""

from __future__ import annotations

from address_world import address_store

from grownj_geo.addressbuild import build_address_index

ROWS = [
    ("0717", "1", "1", "", "475 SOUTH JEFFERSON ST."),
    ("0717", "1", "2", "", "477 SO JEFFERSON STREET"),
    ("0408", "1", "2", "", "477 SO JEFFERSON STREET"),
    ("0408", "1", "3", "", "  "),
    ("0408", "1", "4", "", "12 MC CHESNEY ST"),
]


def test_streets_are_one_however_they_are_written() -> None:
    connection = address_store(ROWS, [("0717", "475 S Jefferson St", None, 1.0, 2.0)])
    streets = connection.execute("SELECT mun_code, pre, name, suffix, key FROM address_streets ORDER BY id").fetchall()
    assert streets == [
        ("0717", "SOUTH", "JEFFERSON", "STREET", "JEFFERSON"),
        ("0408", "SOUTH", "JEFFERSON", "STREET", "JEFFERSON"),
        ("0408", "", "MCCHESNEY", "STREET", "MCCHESNEY"),
    ]
    houses = connection.execute("SELECT street_id, low, kind, source_id FROM address_houses ORDER BY rowid").fetchall()
    assert houses == [(1, 475, 0, 1), (1, 477, 0, 2), (2, 477, 0, 3), (3, 12, 0, 5), (1, 475, 1, 1)]


def test_made_again_it_is_the_same() -> None:
    connection = address_store(ROWS)
    before = connection.execute("SELECT * FROM address_houses").fetchall()
    built = build_address_index(connection)
    assert (built.streets, built.houses, built.left_out) == (3, 4, 1)
    assert connection.execute("SELECT * FROM address_houses").fetchall() == before


def test_no_rows_are_no_fault() -> None:
    assert build_address_index(address_store([])) == (0, 0, 0)
