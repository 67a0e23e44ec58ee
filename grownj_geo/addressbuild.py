"""The index of addresses: streets by municipality and the houses on them, made of the tables of parcels and points.

It is made anew whenever these tables have changed, as the last step of an import. Names are indexed without spaces, so
that MC CHESNEY and MCCHESNEY meet; what is said of a house is its number, its unit and the row that it comes from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from grownj_geo.addressline import compact, split_lines, split_street

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

__all__ = ["PARCEL", "POINT", "BuiltIndex", "build_address_index"]

PARCEL, POINT = 0, 1

_TABLES = (
    "DROP TABLE IF EXISTS address_houses",
    "DROP TABLE IF EXISTS address_streets",
    "DROP TABLE IF EXISTS address_names",
    """CREATE TABLE address_streets (
        id INTEGER PRIMARY KEY,
        mun_code TEXT NOT NULL,   -- empty where a point's municipality is not known
        pre TEXT NOT NULL,        -- direction before the name
        name TEXT NOT NULL,
        suffix TEXT NOT NULL,
        post TEXT NOT NULL,       -- direction behind
        key TEXT NOT NULL         -- the name without spaces
    )""",
    """CREATE TABLE address_houses (
        street_id INTEGER NOT NULL,
        low INTEGER NOT NULL,     -- least number; 0 where there is none
        high INTEGER NOT NULL,    -- greatest
        number TEXT NOT NULL,     -- as it is written here: '12A', '95-123'
        unit TEXT NOT NULL,
        kind INTEGER NOT NULL,    -- 0: a row of parcels; 1: a row of address_points
        source_id INTEGER NOT NULL
    )""",
)
_INDEXES = (
    "CREATE INDEX address_streets_by_key ON address_streets (key, mun_code)",
    "CREATE INDEX address_streets_by_municipality ON address_streets (mun_code)",
    "CREATE INDEX address_houses_by_street ON address_houses (street_id, low)",
    "CREATE INDEX address_ranges_by_street ON address_houses (street_id, low) WHERE high > low",
)
_NAMES = (
    # Each name once, to be compared with what is typed when no municipality is.
    "CREATE TABLE address_names (key TEXT PRIMARY KEY) WITHOUT ROWID",
    "INSERT INTO address_names SELECT DISTINCT key FROM address_streets ORDER BY key",
)
_ROWS = (
    (PARCEL, "SELECT id, mun_code, address FROM parcels WHERE address IS NOT NULL ORDER BY id"),
    (POINT, "SELECT id, mun_code, address FROM address_points WHERE address IS NOT NULL ORDER BY id"),
)
_PUT_HOUSE = "INSERT INTO address_houses VALUES (?, ?, ?, ?, ?, ?, ?)"
_PUT_STREET = "INSERT INTO address_streets VALUES (?, ?, ?, ?, ?, ?, ?)"


class BuiltIndex(NamedTuple):
    """What an index was made of.

    Attributes
    ----------
    streets, houses
        Rows of its tables; a corner lot with two addresses has three houses, the line as a whole and each of them.
    left_out
        Rows of parcels and points whose address names no street.
    """

    streets: int
    houses: int
    left_out: int


def build_address_index(connection: sqlite3.Connection) -> BuiltIndex:
    """Make the tables ``address_streets`` and ``address_houses`` of ``parcels`` and ``address_points``.

    Parameters
    ----------
    connection
        To the database that has these tables. Earlier tables of the index are replaced; whoever calls commits.

    Examples
    --------
    >>> import sqlite3
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.executescript(
    ...     "CREATE TABLE parcels (id, mun_code, address); CREATE TABLE address_points (id, mun_code, address);"
    ...     "INSERT INTO parcels VALUES (1, '0717', '475 SOUTH JEFFERSON ST.');"
    ... )
    >>> build_address_index(connection)
    BuiltIndex(streets=1, houses=1, left_out=0)
    """
    for statement in _TABLES:
        connection.execute(statement)
    streets: dict[tuple[str, ...], int] = {}
    left_out = [0]
    houses = connection.cursor().executemany(_PUT_HOUSE, _houses(connection, streets, left_out)).rowcount
    connection.executemany(_PUT_STREET, ((number, *street, compact(street[2])) for street, number in streets.items()))
    for statement in (*_INDEXES, *_NAMES):
        connection.execute(statement)
    # A hundred thousand streets that were split once are of no more use.
    split_street.cache_clear()
    return BuiltIndex(len(streets), max(houses, 0), left_out[0])


def _houses(
    connection: sqlite3.Connection, streets: dict[tuple[str, ...], int], left_out: list[int]
) -> Iterator[tuple[int, int, int, str, str, int, int]]:
    for kind, query in _ROWS:
        for source_id, mun_code, address in connection.execute(query):
            lines = [line for line in split_lines(address) if line.street.name]
            left_out[0] += not lines
            for line in lines:
                street = (mun_code, *line.street)
                number = streets.setdefault(street, len(streets) + 1)
                yield number, line.low, line.high, line.number, line.unit, kind, source_id
