"""A few addresses of several municipalities, as the tables of a store of parcels have them."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from grownj_geo.addressbuild import build_address_index

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ORANGE_PLACES", "Row", "address_store"]

Row = tuple[str, str, str, str, str]
"""Municipality, block, lot, qualifier, address."""

ORANGE_PLACES = ("Orange", "Orange, NJ", "Orange NJ 07050", "City of Orange", "Orange Twp", "Ornage, NJ")

_TABLES = """
CREATE TABLE parcels (id INTEGER PRIMARY KEY, pin TEXT, mun_code TEXT, block TEXT, lot TEXT, qualifier TEXT,
    address TEXT, zip_code TEXT);
CREATE TABLE address_points (id INTEGER PRIMARY KEY, mun_code TEXT, address TEXT, zip_code TEXT, x_ft REAL, y_ft REAL,
    kind TEXT, source TEXT);
"""


def address_store(
    parcels: Iterable[Row],
    points: Iterable[tuple[str, str, str | None, float, float]] = (),
    zip_code: str | None = None,
) -> sqlite3.Connection:
    """Return a database with parcels, address points and the index of both; ids count from 1."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.executescript(_TABLES)
    connection.executemany(
        "INSERT INTO parcels VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (i, "_".join(filter(None, row[:4])), row[0], row[1], row[2], row[3], row[4], zip_code)
            for i, row in enumerate(parcels, start=1)
        ],
    )
    connection.executemany(
        "INSERT INTO address_points VALUES (?, ?, ?, ?, ?, ?, NULL, 'drawn')",
        [(i, *point) for i, point in enumerate(points, start=1)],
    )
    build_address_index(connection)
    return connection
