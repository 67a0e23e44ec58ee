"""What parcels of a store share: a number that several records have, an outline that several numbers have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grownj_geo.features import Change

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import NDArray

__all__ = ["Outlines", "mark_shared"]

_SHARED_PINS = "SELECT pin FROM parcels GROUP BY pin HAVING count(*) > 1"
_MARK_PINS = f"""
UPDATE parcels SET same_pin = shared.records, drawn_apart = shared.outlines > 1
FROM (
    SELECT pin, count(*) AS records, count(DISTINCT geometry) AS outlines
    FROM parcels WHERE pin IN ({_SHARED_PINS}) GROUP BY pin
) AS shared
WHERE parcels.pin = shared.pin
"""  # noqa: S608 - our own words
_MARK_OUTLINES = """
UPDATE parcels SET same_polygon = shared.numbers
FROM (
    SELECT look.digest AS digest, p.geometry AS geometry, count(DISTINCT p.pin) AS numbers
    FROM temp.look AS look JOIN parcels AS p ON p.id = look.id
    GROUP BY look.digest, p.geometry HAVING numbers > 1
) AS shared, temp.look AS own
WHERE own.digest = shared.digest AND parcels.id = own.id AND parcels.geometry = shared.geometry
"""


class Outlines:
    """Digests of outlines, by which those that may be the same are found."""

    def __init__(self) -> None:
        self._ids: list[NDArray[np.int64]] = []
        self._digests: list[NDArray[np.int64]] = []

    def add(self, first: int, wkb: NDArray[Any]) -> None:
        """Take over outlines, shape (n,), of parcels with identifiers from `first` on; None where there is none."""
        there = np.array([content is not None for content in wkb], dtype=bool)
        # Digests of this process only: equal bytes have the same one, and equal ones are compared byte by byte.
        digests = np.fromiter((hash(content) for content in wkb), dtype=np.int64, count=len(wkb))
        self._ids.append((first + np.arange(len(wkb), dtype=np.int64))[there])
        self._digests.append(digests[there])

    def shared(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return identifiers and digests of the outlines of which there are several."""
        if not self._ids:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        ids, digests = np.concatenate(self._ids), np.concatenate(self._digests)
        _, where, counts = np.unique(digests, return_inverse=True, return_counts=True)
        several = counts[where] > 1
        return ids[several], digests[several]


def mark_shared(connection: sqlite3.Connection, outlines: Outlines, *, after: int, partial: bool) -> list[Change]:
    """Write to each parcel how many records have its number, and how many numbers its outline; return what to tell.

    Parameters
    ----------
    connection
        To a store whose indexes are made.
    outlines
        Of the rows that are new.
    after
        New rows have identifiers above it.
    partial
        Rows of the same municipalities that were there before are looked at too.
    """
    if partial:
        connection.execute("UPDATE parcels SET same_pin = 1, drawn_apart = 0 WHERE same_pin > 1")
        query = (
            "SELECT id, geometry FROM parcels WHERE id <= ? AND geometry IS NOT NULL AND mun_code IN "
            "(SELECT DISTINCT mun_code FROM parcels WHERE id > ?)"
        )
        for number, wkb in connection.execute(query, (after, after)):
            outlines.add(number, np.array([wkb], dtype=object))
    connection.execute(_MARK_PINS)
    ids, digests = outlines.shared()
    connection.execute("CREATE TEMP TABLE look (id INTEGER PRIMARY KEY, digest INTEGER NOT NULL)")
    connection.executemany("INSERT INTO look VALUES (?, ?)", zip(ids.tolist(), digests.tolist(), strict=True))
    connection.execute("CREATE INDEX temp.look_by_digest ON look (digest)")
    if partial:
        connection.execute(
            "UPDATE parcels SET same_polygon = 1 WHERE same_polygon > 1 AND mun_code IN "
            "(SELECT DISTINCT mun_code FROM parcels WHERE id > ?)",
            (after,),
        )
    connection.execute(_MARK_OUTLINES)
    connection.execute("DROP TABLE temp.look")
    return _told(connection, after)


def _told(connection: sqlite3.Connection, after: int) -> list[Change]:
    parts, same, stacked = connection.execute(
        "SELECT sum(same_pin > 1 AND drawn_apart), sum(same_pin > 1 AND NOT drawn_apart), sum(same_polygon > 1) "
        "FROM parcels WHERE id > ?",
        (after,),
    ).fetchone()
    words = (
        ("several_polygons", parts, "{} records share their parcel number with others of another outline; all stay."),
        ("duplicate_numbers", same, "{} records share their parcel number with others of no other outline; all stay."),
        ("stacked", stacked, "{} parcels have the outline of another one, as units of a condominium do; all stay."),
    )
    return [
        Change(kind=kind, effect="noted", count=count, words=sentence.format(f"{count:,}"))
        for kind, count, sentence in words
        if count
    ]
