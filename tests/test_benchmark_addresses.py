"""The benchmark of addresses makes the State that it promises and counts what is found; no time is asserted."""

from __future__ import annotations

import importlib
import sqlite3
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from grownj_geo.addressbuild import build_address_index
from grownj_geo.addressindex import AddressIndex
from grownj_geo.determine import Directory

if TYPE_CHECKING:
    from grownj_geo.atlas import Atlas


@pytest.fixture(scope="module")
def benchmark() -> Any:
    folder = str(Path(__file__).resolve().parents[1] / "scripts")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module("benchmark_addresses")


def test_the_state_has_every_municipality_and_so_many_rows(benchmark: Any, atlas: Atlas) -> None:
    directory = Directory(atlas)
    rows = list(benchmark.state_rows(directory, 5_000))
    assert len(rows) == 5_000
    assert [row[0] for row in rows] == list(range(1, 5_001))
    assert {row[2] for row in rows} == set(directory.names)
    assert rows == list(benchmark.state_rows(directory, 5_000))


def test_what_is_found_is_counted(benchmark: Any, atlas: Atlas) -> None:
    directory = Directory(atlas)
    connection = sqlite3.connect(":memory:")
    connection.executescript(benchmark.TABLES)
    row = (1, "0408_1_1", "0408", "1", "1", "", "12 MAIN STREET", None)
    connection.execute("INSERT INTO parcels VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    build_address_index(connection)
    index = AddressIndex(connection, directory)
    shares = benchmark.measure_shares("drawn", index, ["12 Main St, Camden"])
    assert (shares.found, shares.certain, shares.wrongly_certain) == (1.0, 1.0, 0)
    missed = benchmark.measure_shares("drawn", index, ["12 Oak Lane, Camden"])
    assert (missed.found, missed.certain) == (0.0, 0.0)
    searched = benchmark.measure_searches("drawn", index, [(1, "12 Main"), (1, "9 Oak"), (2, "12 Main")])
    assert (searched.searches, searched.found) == (3, pytest.approx(1 / 3))
