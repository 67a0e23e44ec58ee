"""The parcels that the user has loaded: by number, by block and lot, and by point.

Any number of processes and threads may read one store while another process imports into it: an edition is opened
read-only, is never changed, and stays on disk as long as somebody holds it.
"""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

import numpy as np
import shapely

from grownj_geo.errors import LayerError
from grownj_geo.parcel import Parcel, plain_part, told_of
from grownj_geo.parcelboxes import boxes_at
from grownj_geo.parceltables import HeldParcels, ParcelEdition, hold, parcel_editions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from grownj_geo.pins import Pin

__all__ = ["ParcelStore"]

_COLUMNS = (
    "id, pin, mun_code, block, lot, qualifier, address, zip_code, property_class, geometry, source_row, part, "
    "same_pin, drawn_apart, same_polygon, notes"
)
_SELECT = f"SELECT {_COLUMNS} FROM parcels"  # noqa: S608 - the columns are ours
_BY_PIN, _BY_ID = f"{_SELECT} WHERE pin = ? ORDER BY id", f"{_SELECT} WHERE id = ?"
_BY_LOT = f"{_SELECT} WHERE mun_code = ? AND block = ? AND lot = ?"
_POINT = "SELECT x_ft, y_ft FROM address_points WHERE id = ?"
_PIN = re.compile(r"[0-9]{4}(?:_[^_]+){2,3}")
_TRIES, _MOMENT = 40, 0.05
_MOST_CACHED_KIB = 65_536


class ParcelStore:
    """One edition of the user's parcels, open for reading.

    Threads may share it. Close it, or use it as a context: as long as it is open its edition stays on disk.

    Attributes
    ----------
    edition
        What is in it and where it came from.
    connection
        To its database, read-only; threads share it.

    Examples
    --------
    >>> import tempfile
    >>> ParcelStore.open(tempfile.mkdtemp()) is None
    True
    """

    def __init__(self, held: HeldParcels, holding: int) -> None:
        if held.edition is None:
            raise LayerError(held.problem or f"The edition {held.name} has no record.")
        self.edition: ParcelEdition = held.edition
        self.folder = held.folder
        self._home = held.folder.parent.parent
        self._lock = threading.RLock()
        # Immutable: SQLite takes no locks and keeps no journal, so that nothing beside the file or in it changes.
        place = f"file:{quote(held.database.absolute().as_posix())}?mode=ro&immutable=1"
        try:
            self.connection = sqlite3.connect(place, uri=True, check_same_thread=False)
            self.connection.execute("PRAGMA trusted_schema = OFF")
            self.connection.execute(f"PRAGMA cache_size = -{_MOST_CACHED_KIB}")
            self.connection.execute("SELECT 1 FROM parcels LIMIT 1").fetchone()
        except sqlite3.Error as error:
            os.close(holding)
            raise _unreadable(held.name, error) from error
        self._close = weakref.finalize(self, _close, self.connection, holding)
        self._sources = {part.number: part.source for part in held.edition.parts}

    @classmethod
    def open(cls, home: str | os.PathLike[str] | None = None) -> ParcelStore | None:
        """Open the parcels of a home, the user's own by default; None where none are loaded.

        Raises
        ------
        LayerError
            If they are damaged or cannot be read.
        """
        for _ in range(_TRIES):
            editions = parcel_editions(home)
            if not editions:
                return None
            if editions[0].edition is None:
                raise LayerError(editions[0].problem)
            try:
                holding = hold(editions[0])
            except OSError as error:
                raise LayerError(
                    f"The edition {editions[0].name} cannot be held for reading ({error.strerror}). Expected a folder "
                    "on a file system with locks; set GROWNJ_HOME to another."
                ) from error
            if holding is not None:
                return cls(editions[0], holding)
            # An import is putting another edition in its place: look again.
            time.sleep(_MOMENT)
        raise LayerError("The parcels are being replaced again and again; wait for the imports to end and try again.")

    @property
    def fingerprint(self) -> str:
        """Checksum of the database: other parcels, another fingerprint."""
        return self.edition.sha256

    @property
    def is_current(self) -> bool:
        """Whether this is still the edition that `open` would give."""
        editions = parcel_editions(self._home)
        return bool(editions) and editions[0].folder == self.folder

    def close(self) -> None:
        """Let go of the edition."""
        self._close()

    def __enter__(self) -> Self:
        """Return the store itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of the edition."""
        self.close()

    def by_pin(self, pin: Pin | str) -> tuple[Parcel, ...]:
        """Return every record of a parcel number; what differs in capitals or zeros in front is the same number.

        Parameters
        ----------
        pin
            As PAMS_PIN has it: ``"0408_81_1"``. Text that is no parcel number has no record.
        """
        text = str(pin).strip().upper()
        found = self._select(_BY_PIN, (text,))
        if found or not _PIN.fullmatch(text):
            return found
        code, block, lot, *rest = text.split("_")
        return self.by_lot(code, block, lot, rest[0] if rest else "")

    def by_lot(self, mun_code: str, block: str, lot: str, qualifier: str | None = None) -> tuple[Parcel, ...]:
        """Return every record of a lot, in the order of its qualifiers.

        Parameters
        ----------
        mun_code
            Treasury code of the municipality.
        block, lot
            As text; zeros at the end count.
        qualifier
            Empty text for the lot without one; None for the lot and all its units.
        """
        where = [mun_code, plain_part(block), plain_part(lot)]
        if qualifier is None:
            return self._select(f"{_BY_LOT} ORDER BY qualifier, id", where)
        return self._select(f"{_BY_LOT} AND qualifier = ? ORDER BY id", [*where, plain_part(qualifier)])

    def has_parcels_of(self, mun_code: str) -> bool:
        """Return whether any parcel of a municipality is loaded."""
        return bool(self._rows("SELECT 1 FROM parcels WHERE mun_code = ? LIMIT 1", (mun_code,)))

    def by_ids(self, ids: Iterable[int]) -> tuple[Parcel, ...]:
        """Return the records of rows of the table ``parcels``, in the order asked for; those not there are left out."""
        return tuple(parcel for one in ids for parcel in self._select(_BY_ID, (int(one),)))

    def points(self, ids: Iterable[int]) -> tuple[tuple[float, float], ...]:
        """Return the places of rows of the table ``address_points``, in the order asked for, as those that are there.

        Returns
        -------
        tuple of (float, float)
            x and y in EPSG:3424 (US survey feet).
        """
        return tuple((x, y) for one in ids for x, y in self._rows(_POINT, (int(one),)))

    def at(self, x_ft: float, y_ft: float, *, within_ft: float = 0.0) -> tuple[Parcel, ...]:
        """Return the parcels at a point, nearest first; on a line between two that is both.

        Parameters
        ----------
        x_ft, y_ft
            The point in EPSG:3424 (US survey feet).
        within_ft
            How far an outline may be from it, in US survey feet.
        """
        if not (np.isfinite([x_ft, y_ft, within_ft]).all() and within_ft >= 0):
            raise ValueError(f"The point {x_ft}, {y_ft} and {within_ft} ft; expected finite numbers, 0 ft or more.")
        try:
            with self._lock:
                ids = boxes_at(self.connection, x_ft, y_ft, within_ft)
        except sqlite3.Error as error:
            raise _unreadable(self.edition.name, error) from error
        near = self.by_ids(ids)
        away = shapely.distance([parcel.geometry for parcel in near], shapely.Point(x_ft, y_ft))
        order = np.argsort(away, kind="stable")
        return tuple(near[i] for i in order if away[i] <= within_ft)

    def _select(self, query: str, values: Sequence[object]) -> tuple[Parcel, ...]:
        return tuple(map(self._parcel, self._rows(query, values)))

    def _rows(self, query: str, values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - what sqlite3 takes
        try:
            with self._lock:
                return self.connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise _unreadable(self.edition.name, error) from error

    def _parcel(self, row: tuple[Any, ...]) -> Parcel:
        number, pin, code, block, lot, qualifier, address, zip_code, kind, wkb, at, part, *shared, told = row
        same_pin, apart, drawn = shared
        notes = told_of(
            has_geometry=wkb is not None, same_pin=same_pin, drawn_apart=bool(apart), same_polygon=drawn
        ) + tuple((told or "").splitlines())
        return Parcel(
            pin=pin,
            mun_code=code,
            block=block,
            lot=lot,
            qualifier=qualifier,
            address=address,
            zip_code=zip_code,
            property_class=kind,
            geometry=None if wkb is None else shapely.from_wkb(wkb),
            source=self._sources.get(part, ""),
            source_row=at,
            notes=notes,
            id=number,
        )


def _close(connection: sqlite3.Connection, holding: int) -> None:
    connection.close()
    os.close(holding)


def _unreadable(name: str, error: sqlite3.Error) -> LayerError:
    return LayerError(
        f"The database of {name} cannot be read ({error}). See grownj layers verify; load its files again: grownj "
        "layers import parcels FILE."
    )
