"""Which parcels may lie at a point: their boxes along a curve that keeps neighbours together, and a tree over blocks.

The tree is SQLite's own R*Tree, in the same file as the parcels and read without writing. It holds a box for each
block of 64 parcels that follow one another along Hilbert's curve, not one for each parcel: so it is made in seconds for
the whole State, and an import puts its own blocks beside the others'. `scripts/benchmark_parcels.py --trees` puts it
beside an R*Tree over all parcels and the library rtree, which writes its files again whenever a reader closes them. Of
3.4 million parcels on two cores: made in 6.4, 57 and 6.5 s; 100, 184 and 203 MB; 0.02, 0.01 and 0.05 ms a point.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import NDArray

__all__ = ["BOX_TABLES", "Boxes", "boxes_at", "remove_boxes"]

BOX_TABLES = (
    """CREATE TABLE parcel_boxes (
        rank INTEGER PRIMARY KEY,  -- along the curve
        id INTEGER NOT NULL,       -- of the parcel
        x0 INTEGER NOT NULL, x1 INTEGER NOT NULL, y0 INTEGER NOT NULL, y1 INTEGER NOT NULL  -- feet, outwards
    )""",
    # The box of the parcels with ranks from first to last.
    "CREATE VIRTUAL TABLE parcel_blocks USING rtree_i32 (first, x0, x1, y0, y1, +last)",
)
_PUT_BOX = "INSERT INTO parcel_boxes VALUES (?, ?, ?, ?, ?, ?)"
_PUT_BLOCK = "INSERT INTO parcel_blocks VALUES (?, ?, ?, ?, ?, ?)"
_AT = """
SELECT box.id FROM parcel_blocks AS block CROSS JOIN parcel_boxes AS box
WHERE block.x0 <= :east AND block.x1 >= :west AND block.y0 <= :north AND block.y1 >= :south
AND box.rank BETWEEN block.first AND block.last
AND box.x0 <= :east AND box.x1 >= :west AND box.y0 <= :north AND box.y1 >= :south
ORDER BY box.id
"""
_BLOCK = 64
_CELL_FT = 16
_BITS = 17  # of cells: two million feet, more than New Jersey's box is wide


class Boxes:
    """Boxes of parcels, gathered while they are stored."""

    def __init__(self) -> None:
        self._ids: list[NDArray[np.int64]] = []
        self._boxes: list[NDArray[np.int32]] = []

    def add(self, first: int, bounds: NDArray[np.float64]) -> None:
        """Take over boxes of parcels with identifiers from `first` on.

        Parameters
        ----------
        bounds
            x0, y0, x1, y1 in EPSG:3424, shape (n, 4); NaN where a parcel has no outline.
        """
        there = np.flatnonzero(np.isfinite(bounds).all(axis=1))
        found = bounds[there]
        self._ids.append(first + there.astype(np.int64))
        outwards = (np.floor(found[:, 0]), np.ceil(found[:, 2]), np.floor(found[:, 1]), np.ceil(found[:, 3]))
        self._boxes.append(np.column_stack(outwards).astype(np.int32))

    def write(self, connection: sqlite3.Connection) -> None:
        """Put the boxes into the tables, behind those that are there."""
        if not sum(map(len, self._ids)):
            return
        ids, boxes = np.concatenate(self._ids), np.concatenate(self._boxes)
        order = np.argsort(_along_curve(boxes), kind="stable")
        ids, boxes = ids[order], boxes[order]
        first = 1 + int(connection.execute("SELECT coalesce(max(rank), 0) FROM parcel_boxes").fetchone()[0])
        ranks = range(first, first + len(ids))
        connection.executemany(_PUT_BOX, zip(ranks, ids.tolist(), *boxes.T.tolist(), strict=True))
        starts = np.arange(0, len(ids), _BLOCK)
        ends = np.minimum(starts + _BLOCK, len(ids)) - 1
        least, most = np.minimum.reduceat(boxes, starts), np.maximum.reduceat(boxes, starts)
        box = (least[:, 0], most[:, 1], least[:, 2], most[:, 3])
        columns = [(starts + first).tolist(), *(side.tolist() for side in box), (ends + first).tolist()]
        connection.executemany(_PUT_BLOCK, zip(*columns, strict=True))


def _along_curve(boxes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return how far along Hilbert's curve the middles of boxes lie, shape (n,)."""
    size = 1 << _BITS
    x, y = (
        np.clip((boxes[:, low].astype(np.int64) + boxes[:, low + 1]) // (2 * _CELL_FT), 0, size - 1) for low in (0, 2)
    )
    along = np.zeros(len(boxes), dtype=np.int64)
    side = size >> 1
    while side:
        right, upper = (x & side) > 0, (y & side) > 0
        along += side * side * np.where(right, np.where(upper, 2, 3), np.where(upper, 1, 0))
        turned = right & ~upper
        x, y = np.where(turned, size - 1 - x, x), np.where(turned, size - 1 - y, y)
        x, y = np.where(upper, x, y), np.where(upper, y, x)
        side >>= 1
    return along


def boxes_at(connection: sqlite3.Connection, x_ft: float, y_ft: float, within_ft: float) -> list[int]:
    """Return the parcels whose box comes within a distance of a point, in the order of their identifiers.

    Parameters
    ----------
    x_ft, y_ft, within_ft
        In EPSG:3424 (US survey feet).
    """
    box: dict[str, Any] = {
        "west": math.floor(x_ft - within_ft),
        "east": math.ceil(x_ft + within_ft),
        "south": math.floor(y_ft - within_ft),
        "north": math.ceil(y_ft + within_ft),
    }
    return [row[0] for row in connection.execute(_AT, box)]


def remove_boxes(connection: sqlite3.Connection, table: str) -> None:
    """Take the boxes of the parcels away whose identifiers are in a table of ours."""
    connection.execute(f"DELETE FROM parcel_boxes WHERE id IN (SELECT id FROM {table})")  # noqa: S608 - named by code
    connection.execute(
        "DELETE FROM parcel_blocks WHERE NOT EXISTS "
        "(SELECT 1 FROM parcel_boxes WHERE rank BETWEEN parcel_blocks.first AND parcel_blocks.last)"
    )
