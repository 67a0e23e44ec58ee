"""What new records of parcels and address points replace, and what is kept of that.

A list of an assessor and a county's outlines are often two files. Whichever is loaded later takes over what it lacks as
a whole, by parcel number; where that is not certain, nothing is taken over, and it is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.features import Change, LayerFault
from grownj_geo.parcelboxes import remove_boxes
from grownj_geo.parceltables import municipalities_in_words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable

    from grownj_geo.parcelmarks import Outlines
    from grownj_geo.parceltables import Kind, ParcelPart

__all__ = ["replace_earlier"]

_FEW, _SHARE = 100, 0.5
"""A file with less than this share of a municipality's records, where there are that many, is taken for a part."""
_MOST_SHOWN = 5
_WORDS = {"parcels": "parcels", "address_points": "address points"}
_COUNTS_NEW = {
    "parcels": "SELECT mun_code, count(*) FROM parcels WHERE id > ? GROUP BY mun_code",
    "address_points": "SELECT mun_code, count(*) FROM address_points WHERE id > ? GROUP BY mun_code",
}
# What the new rows replace, by kind and by whether the file is partial.
_REPLACED = {
    ("parcels", False): (
        "INSERT INTO old SELECT id FROM parcels WHERE id <= ?1 AND mun_code IN "
        "(SELECT DISTINCT mun_code FROM parcels WHERE id > ?1)"
    ),
    ("parcels", True): (
        "INSERT INTO old SELECT id FROM parcels WHERE id <= ?1 AND pin IN (SELECT pin FROM parcels WHERE id > ?1)"
    ),
    ("address_points", False): (
        "INSERT INTO old SELECT id FROM address_points WHERE id <= ?1 AND mun_code IN "
        "(SELECT DISTINCT mun_code FROM address_points WHERE id > ?1)"
    ),
    ("address_points", True): (
        "INSERT INTO old SELECT id FROM address_points WHERE id <= ?1 AND (mun_code, address) IN "
        "(SELECT mun_code, address FROM address_points WHERE id > ?1)"
    ),
}
_DELETE = {
    "parcels": "DELETE FROM parcels WHERE id IN (SELECT id FROM old)",
    "address_points": "DELETE FROM address_points WHERE id IN (SELECT id FROM old)",
}
_DRAWN_OLD = "SELECT count(geometry) FROM parcels WHERE id IN (SELECT id FROM old)"
_DRAWN_NEW = "SELECT count(geometry) FROM parcels WHERE id > ?"
_TEXTS = {
    "address": "addresses",
    "zip_code": "ZIP codes",
    "property_class": "property classes",
}
# One value of a number's earlier records counts; where they say several, none does.
_BEFORE = {
    column: (
        f"INSERT INTO before SELECT pin, max({column}) FROM parcels "  # noqa: S608 - a column of ours
        f"WHERE id IN (SELECT id FROM old) AND {column} IS NOT NULL GROUP BY pin HAVING count(DISTINCT {column}) = 1"
    )
    for column in _TEXTS
}
_FILL = {
    column: (
        f"UPDATE parcels SET {column} = before.said FROM before "  # noqa: S608 - a column of ours
        f"WHERE parcels.id > ? AND parcels.pin = before.pin AND parcels.{column} IS NULL"
    )
    for column in _TEXTS
}
# One record before and one now: only then the outline is surely this record's.
_PAIRED = """
INSERT INTO moved
SELECT earlier.id, now.id
FROM (SELECT pin, min(id) AS id FROM parcels WHERE id IN (SELECT id FROM old) AND geometry IS NOT NULL
      GROUP BY pin HAVING count(*) = 1) AS earlier
JOIN (SELECT pin, min(id) AS id FROM parcels WHERE id > ? GROUP BY pin HAVING count(*) = 1) AS now USING (pin)
"""
_TAKE = """
UPDATE parcels SET geometry = earlier.geometry,
    notes = coalesce(parcels.notes || char(10), '')
        || 'The outline is kept from ' || parts.source || ', row ' || earlier.source_row || '.'
FROM moved JOIN parcels AS earlier ON earlier.id = moved.old_id JOIN parts ON parts.id = earlier.part
WHERE parcels.id = moved.id
"""
_MOVE_BOXES = """
UPDATE parcel_boxes SET id = (SELECT moved.id FROM moved WHERE moved.old_id = parcel_boxes.id)
WHERE id IN (SELECT old_id FROM moved)
"""


def replace_earlier(
    connection: sqlite3.Connection,
    kind: Kind,
    last: int,
    earlier: Iterable[ParcelPart],
    *,
    said: Collection[str],
    outlines: Outlines,
    partial: bool,
    name: str,
) -> list[Change]:
    """Take away what the new records replace; return what is to be told of it.

    Parameters
    ----------
    connection
        To a store with the new records, which have identifiers above `last`.
    earlier
        What was loaded before.
    said
        What the file has columns of; what it has none of is kept.
    outlines
        Is told of the outlines that are kept.
    partial
        Records are replaced one by one, not municipality by municipality.
    name
        What messages call the file.

    Raises
    ------
    LayerFault
        ``too_few`` where the file has less than half of a municipality, ``loses_outlines`` where it has none and most
        of the store's cannot be kept.
    """
    told: list[Change] = []
    if not last:
        return told
    new: dict[str, int] = dict(connection.execute(_COUNTS_NEW[kind], (last,)).fetchall())
    old: dict[str, int] = {}
    for part in earlier:
        if part.kind == kind:
            for code, count in part.municipalities.items():
                old[code] = old.get(code, 0) + count
    both = sorted(new.keys() & old.keys())
    few = [code for code in both if old[code] >= _FEW and new[code] < _SHARE * old[code]]
    if few and not partial:
        shown = "; ".join(
            f"{code}: {new[code]:,} in the file, {old[code]:,} in the store" for code in few[:_MOST_SHOWN]
        )
        raise LayerFault(
            "too_few",
            f"{name} has less than half of the {_WORDS[kind]} that the store has of "
            f"{municipalities_in_words(len(few))} ({shown}), and would replace them all. Load it with --partial, which "
            "replaces record by record, or take the store away first: grownj layers remove parcels.",
        )
    connection.execute("CREATE TEMP TABLE old (id INTEGER PRIMARY KEY)")
    gone = connection.execute(_REPLACED[kind, partial], (last,)).rowcount
    if kind == "parcels":
        told += _kept(connection, last, said=said, outlines=outlines, name=name)
        remove_boxes(connection, "old")
    connection.execute(_DELETE[kind])
    connection.execute("DROP TABLE old")
    if gone:
        words = f"Replaced of {municipalities_in_words(len(both))}: {gone:,} {_WORDS[kind]} that were loaded before."
        told.append(Change(kind="replaced", effect="noted", count=gone, words=words))
    return told


def _kept(
    connection: sqlite3.Connection, last: int, *, said: Collection[str], outlines: Outlines, name: str
) -> list[Change]:
    """Take over from the records that go what the file does not hold at all; return what is to be told of it."""
    told = _keep_texts(connection, last, set(_TEXTS) - set(said))
    had = int(connection.execute(_DRAWN_OLD).fetchone()[0])
    if not had or connection.execute(_DRAWN_NEW, (last,)).fetchone()[0]:
        return told
    kept, more = _keep_outlines(connection, last, outlines)
    if kept < _SHARE * had:
        raise LayerFault(
            "loses_outlines",
            f"{name} has no outlines, and would replace parcels of which {had:,} have one; only {kept:,} of these have "
            "the number of one record in it, and could keep theirs. Load a file with outlines, or take the store away "
            "first: grownj layers remove parcels.",
        )
    return [*told, *more]


def _keep_texts(connection: sqlite3.Connection, last: int, lacking: Collection[str]) -> list[Change]:
    """Take over texts that a file has no column of, from the records that it replaces; return what to tell.

    Parameters
    ----------
    connection
        To a store with the new records, those with identifiers above `last`, and a table ``old`` of those to go.
    lacking
        Columns of `_TEXTS` of which the file has none.
    """
    told = []
    for column in sorted(lacking):
        connection.execute("CREATE TEMP TABLE before (pin TEXT PRIMARY KEY, said TEXT) WITHOUT ROWID")
        connection.execute(_BEFORE[column])
        count = connection.execute(_FILL[column], (last,)).rowcount
        connection.execute("DROP TABLE before")
        if count:
            words = f"Parcels that keep the {_TEXTS[column]} of an earlier file, as this one has none: {count:,}."
            told.append(Change(kind=f"{column}_kept", effect="noted", count=count, words=words))
    return told


def _keep_outlines(connection: sqlite3.Connection, last: int, outlines: Outlines) -> tuple[int, list[Change]]:
    """Take over the outlines of the records that a file without outlines replaces; return how many, and what to tell.

    Parameters
    ----------
    connection
        As in `_keep_texts`.
    outlines
        Is told of the outlines that are taken over.
    """
    connection.execute("CREATE TEMP TABLE moved (old_id INTEGER PRIMARY KEY, id INTEGER NOT NULL)")
    connection.execute(_PAIRED, (last,))
    kept = connection.execute(_TAKE).rowcount
    connection.execute(_MOVE_BOXES)
    for number, wkb in connection.execute("SELECT id, geometry FROM parcels WHERE id IN (SELECT id FROM moved)"):
        outlines.add(number, np.array([wkb], dtype=object))
    lost = connection.execute(
        "SELECT count(geometry) FROM parcels WHERE id IN (SELECT id FROM old) AND id NOT IN (SELECT old_id FROM moved)"
    ).fetchone()[0]
    connection.execute("DROP TABLE moved")
    told = []
    if kept:
        words = f"Parcels that keep the outline of an earlier file, as this one has none: {kept:,}."
        told.append(Change(kind="outlines_kept", effect="noted", count=kept, words=words))
    if lost:
        words = (
            "Outlines of an earlier file that went, as their number is not in this one or several records have it: "
            f"{lost:,}."
        )
        told.append(Change(kind="outlines_gone", effect="left_out", count=lost, words=words))
    return kept, told
