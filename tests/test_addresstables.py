"""The index's tables are read as they are, by any number of threads."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from address_world import address_store

from grownj_geo.addressline import StreetName
from grownj_geo.addresstables import AddressTables
from grownj_geo.errors import LayerError

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [
    ("0717", "1", "1", "", "12 SOUTH DAY STREET"),
    ("0717", "1", "2", "", "14 SOUTH DAY STREET #3"),
    ("0717", "1", "3", "", "10-18 DAYLIGHT ROAD"),
    ("0408", "1", "1", "", "12 DAY STREET"),
]


@pytest.fixture(scope="module")
def tables() -> AddressTables:
    return AddressTables(address_store(ROWS, [("0408", "12 Day St", "08102", 1.0, 2.0)]))


def test_streets_by_name_with_and_without_their_direction(tables: AddressTables) -> None:
    found = tables.by_name("0717")
    assert set(found) == {"DAY", "SOUTHDAY", "DAYLIGHT"}
    street, with_direction = found["SOUTHDAY"][0]
    assert (street.name, with_direction) == (StreetName("SOUTH", "DAY", "STREET", ""), True)
    assert tables.by_name("0101") == {}


def test_streets_with_a_number_anywhere(tables: AddressTables) -> None:
    assert {s.mun_code for s in tables.named("DAY", 12, 12)} == {"0717", "0408"}
    assert [s.mun_code for s in tables.named("DAY", 14, 14)] == ["0717"]
    assert [s.key for s in tables.named("DAYLIGHT", 14, 14)] == ["DAYLIGHT"], "inside the range"
    assert [h.source_id for houses in tables.named("DAY", 12, 12).values() for h in houses] == [4, 1, 1]
    assert tables.named("DAYLIGHT", 20, 20) == {}
    assert [s.mun_code for s in tables.with_name("DAY", 9)] == ["0408", "0717"]


def test_beginnings(tables: AddressTables) -> None:
    assert [(s.key, s.mun_code) for s in tables.beginning("DAY", None, None, 9)] == [
        ("DAY", "0408"),
        ("DAY", "0717"),
        ("DAYLIGHT", "0717"),
    ]
    assert [s.mun_code for s in tables.beginning("DAY", 14, None, 9)] == ["0717"]
    assert [s.mun_code for s in tables.beginning("DAY", 12, ["0408"], 9)] == ["0408"]
    assert len(tables.beginning("DAY", None, None, 1)) == 1
    assert [s.mun_code for s in tables.directed("SOUTH", 12, None, 9)] == ["0717"]
    assert tables.directed("SOUTH", 12, ["0408"], 9) == []


def test_what_stands_behind_houses(tables: AddressTables) -> None:
    assert tables.lots((1, 2, 1), ()) == {("0717", "1", "1"), ("0717", "1", "2")}
    assert tables.lots((), (1,)) == {(1.0, 2.0)}
    assert tables.lots(tuple(range(1, 5_000)), ()) == {tuple(row[:3]) for row in ROWS}
    assert tables.zip_codes((1,), (1,)) == {"08102"}
    assert tables.municipalities() == {"0717", "0408"}
    assert tables.names() == ["DAY", "DAYLIGHT"]


def test_many_municipalities_are_forgotten_and_read_again() -> None:
    rows = [(f"{code:04d}", "1", "1", "", f"{code} MAIN STREET") for code in range(1, 201)]
    tables = AddressTables(address_store(rows))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(tables.by_name, [row[0] for row in rows] * 5))
    assert [one["MAIN"][0][0].mun_code for one in found] == [row[0] for row in rows] * 5


def test_tables_that_are_not_there_are_told() -> None:
    with pytest.raises(LayerError, match="grownj layers import parcels FILE"):
        AddressTables(sqlite3.connect(":memory:"))


def test_a_damaged_database_is_told(tmp_path: Path) -> None:
    path = tmp_path / "parcels.sqlite"
    with closing(sqlite3.connect(path)) as copy, closing(address_store(ROWS)) as whole:
        whole.commit()
        whole.backup(copy)
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\x7f" * (len(content) - 4096))
    with closing(sqlite3.connect(path)) as connection:
        tables = AddressTables(connection)
        with pytest.raises(LayerError, match=r"cannot be read .*grownj layers import parcels FILE"):
            tables.names()
