"""Reading the tables of the index of addresses: streets, houses, and the lots and points behind them."""

from __future__ import annotations

import json
import sqlite3
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from grownj_geo.addressbuild import POINT
from grownj_geo.addressline import StreetName
from grownj_geo.addressmatch import House
from grownj_geo.errors import LayerError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["AddressTables", "Street"]

_MOST_CACHED = 64
_AS_MANY = 1_000_000
_AFTER_ALL = "\U0010ffff"

_QUERIES = {
    "tables": "SELECT name FROM sqlite_master WHERE type = 'table'",
    "municipalities": "SELECT DISTINCT mun_code FROM address_streets WHERE mun_code <> ''",
    "names": "SELECT key FROM address_names",
    "of municipality": "SELECT id, mun_code, pre, name, suffix, post, key FROM address_streets WHERE mun_code = ?",
    "with number": (
        "SELECT street.id, mun_code, pre, name, suffix, post, key, low, high, number, unit, kind, source_id "
        "FROM address_streets AS street CROSS JOIN address_houses ON street_id = street.id WHERE key = ? AND low = ?"
    ),
    "with range": (
        "SELECT street.id, mun_code, pre, name, suffix, post, key, low, high, number, unit, kind, source_id "
        "FROM address_streets AS street CROSS JOIN address_houses ON street_id = street.id "
        "WHERE key = ? AND low < ? AND high > low AND high >= ?"
    ),
    "with name": (
        "SELECT id, mun_code, pre, name, suffix, post, key FROM address_streets WHERE key = ? ORDER BY mun_code LIMIT ?"
    ),
    "beginning": (
        "SELECT id, mun_code, pre, name, suffix, post, key FROM address_streets WHERE key >= ? AND key < ? "
        "ORDER BY key, mun_code LIMIT ?"
    ),
    "beginning with number": (
        "SELECT id, mun_code, pre, name, suffix, post, key FROM address_streets AS street WHERE key >= ? AND key < ? "
        "AND EXISTS (SELECT 1 FROM address_houses WHERE street_id = street.id AND low = ?) "
        "ORDER BY key, mun_code LIMIT ?"
    ),
    "in direction": (
        "SELECT id, mun_code, pre, name, suffix, post, key FROM address_streets AS street WHERE pre = ? "
        "AND EXISTS (SELECT 1 FROM address_houses WHERE street_id = street.id AND low = ?) "
        "ORDER BY key, mun_code LIMIT ?"
    ),
    "on street": "SELECT low, high, number, unit, kind, source_id FROM address_houses WHERE street_id = ?",
    "at number": "SELECT low, high, number, unit, kind, source_id FROM address_houses WHERE street_id = ? AND low = ?",
    "in range": (
        "SELECT low, high, number, unit, kind, source_id FROM address_houses "
        "WHERE street_id = ? AND low < ? AND high > low AND high >= ?"
    ),
    "within": (
        "SELECT low, high, number, unit, kind, source_id FROM address_houses "
        "WHERE street_id = ? AND low BETWEEN ? AND ?"
    ),
    "below": (
        "SELECT low, high, number, unit, kind, source_id FROM address_houses "
        "WHERE street_id = ? AND low < ? AND low > 0 AND low % 2 = ? ORDER BY low DESC LIMIT 64"
    ),
    "above": (
        "SELECT low, high, number, unit, kind, source_id FROM address_houses "
        "WHERE street_id = ? AND low > ? AND low % 2 = ? ORDER BY low LIMIT 64"
    ),
    # The ids as one JSON list: a street may have thousands.
    "lots": "SELECT DISTINCT mun_code, block, lot FROM parcels WHERE id IN (SELECT value FROM json_each(?))",
    "points": "SELECT DISTINCT x_ft, y_ft FROM address_points WHERE id IN (SELECT value FROM json_each(?))",
    "zip of parcel": "SELECT zip_code FROM parcels WHERE id = ?",
    "zip of point": "SELECT zip_code FROM address_points WHERE id = ?",
}


class Street(NamedTuple):
    """A row of ``address_streets``."""

    id: int
    mun_code: str
    name: StreetName
    key: str


class AddressTables:
    """The tables, only read. Threads may share it, as far as they may share the connection.

    Raises
    ------
    LayerError
        If the tables are not there, or the database is damaged; also later, where it is read.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._cached: dict[str, dict[str, list[tuple[Street, bool]]]] = {}
        self._names: list[str] | None = None
        self._lock = threading.Lock()
        if not {"address_streets", "address_houses", "address_names"} <= {row[0] for row in self._rows("tables")}:
            raise LayerError(
                "The parcels that are loaded have no index of addresses. Load them again with this version: "
                "grownj layers import parcels FILE."
            )

    def municipalities(self) -> frozenset[str]:
        """Return the codes of the municipalities of which there are addresses."""
        return frozenset(row[0] for row in self._rows("municipalities"))

    def names(self) -> list[str]:
        """Return the names of all streets, without spaces, each once."""
        if self._names is None:
            self._names = [row[0] for row in self._rows("names")]
        return self._names

    def by_name(self, mun_code: str) -> dict[str, list[tuple[Street, bool]]]:
        """Return a municipality's streets by name, and by direction and name (the mark that goes with each)."""
        found = self._cached.get(mun_code)
        if found is None:
            found = {}
            for row in self._rows("of municipality", mun_code):
                street = _street(row)
                found.setdefault(street.key, []).append((street, False))
                if street.name.pre:
                    found.setdefault(street.name.pre + street.key, []).append((street, True))
            with self._lock:
                if len(self._cached) >= _MOST_CACHED:
                    del self._cached[next(iter(self._cached))]
                self._cached[mun_code] = found
        return found

    def named(self, key: str, low: int, high: int) -> dict[Street, list[House]]:
        """Return the streets of a name, anywhere, with their houses that have a number or a range that holds it."""
        rows = self._rows("with number", key, low)
        if low:
            rows += self._rows("with range", key, low, high)
        found: dict[Street, list[House]] = {}
        for row in rows:
            found.setdefault(_street(row[:7]), []).append(_house(row[7:]))
        return found

    def with_name(self, key: str, limit: int) -> list[Street]:
        """Return streets of a name, anywhere."""
        return list(map(_street, self._rows("with name", key, limit)))

    def beginning(self, key: str, low: int | None, mun_codes: Sequence[str] | None, limit: int) -> list[Street]:
        """Return streets whose name begins so, in alphabetical order, of some municipalities and with a number."""
        if mun_codes is not None:
            streets = [
                street
                for code in mun_codes
                for name, group in self.by_name(code).items()
                if name.startswith(key)
                for street, with_pre in group
                if not with_pre
            ]
            ordered = sorted(streets, key=lambda s: (s.key, s.mun_code))
            if low is not None:
                ordered = [s for s in ordered if self._rows("at number", s.id, low)]
            return ordered[:limit]
        if low is None:
            rows = self._rows("beginning", key, key + _AFTER_ALL, limit)
        else:
            rows = self._rows("beginning with number", key, key + _AFTER_ALL, low, limit)
        return list(map(_street, rows))

    def directed(self, direction: str, low: int, mun_codes: Sequence[str] | None, limit: int) -> list[Street]:
        """Return streets with a direction before their name that have a number, as `beginning` does."""
        if mun_codes is None:
            return list(map(_street, self._rows("in direction", direction, low, limit)))
        return [s for s in self.beginning("", low, mun_codes, _AS_MANY) if s.name.pre == direction][:limit]

    def houses(self, what: str, street_id: int, *values: int) -> list[House]:
        """Return houses of a street.

        Parameters
        ----------
        what
            ``"on street"``; ``"at number"`` (which); ``"in range"`` (that holds least and greatest); ``"within"``
            (from, to); ``"below"`` or ``"above"`` (which, and 1 for the odd side), the nearest first.
        """
        return list(map(_house, self._rows(what, street_id, *values)))

    def lots(self, parcel_ids: Sequence[int], point_ids: Sequence[int]) -> frozenset[tuple[Any, ...]]:
        """Return the lots of parcels; where there is no parcel, the places of points (EPSG:3424, US survey feet)."""
        what, ids = ("lots", parcel_ids) if parcel_ids else ("points", point_ids)
        return frozenset(self._rows(what, json.dumps(ids)))

    def zip_codes(self, parcel_ids: Sequence[int], point_ids: Sequence[int]) -> frozenset[str]:
        """Return the ZIP codes that the files say of a house."""
        rows = [row for one in parcel_ids[:1] for row in self._rows("zip of parcel", one)]
        rows += [row for one in point_ids[:1] for row in self._rows("zip of point", one)]
        return frozenset(row[0] for row in rows if row[0])

    def _rows(self, what: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(_QUERIES[what], values).fetchall()
        except sqlite3.Error as error:
            raise LayerError(
                f"The index of addresses cannot be read ({error}). See grownj layers verify; load the files of the "
                "parcels again: grownj layers import parcels FILE."
            ) from error


def _street(row: Sequence[Any]) -> Street:
    number, mun_code, pre, name, suffix, post, key = row
    return Street(number, mun_code, StreetName(pre, name, suffix, post), key)


def _house(row: Sequence[Any]) -> House:
    low, high, number, unit, kind, source_id = row
    return House(low, high, number, unit, kind == POINT, source_id)
