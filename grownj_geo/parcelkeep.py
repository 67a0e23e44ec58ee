"""Editions of parcels put into place and taken away: whole, by one writer at a time, under nobody's hands."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import uuid
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from grownj_geo.errors import LayerError
from grownj_geo.files import one_writer
from grownj_geo.parceltables import (
    DATABASE_FILE,
    RECORD_FILE,
    HeldParcels,
    ParcelEdition,
    file_sha256,
    hold,
    parcel_editions,
    parcels_folder,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grownj_geo.parceltables import ParcelPart

__all__ = ["check_sqlite", "compact", "connect", "edition_of", "put_edition", "remove_parcels", "scratch", "writing"]

_LOCK_SECONDS = 60.0
_SQLITE = (3, 33)
_CACHE_KIB = 262_144
_MOST_FREE = 0.25


def check_sqlite() -> None:
    """Refuse a SQLite without what the store is made of.

    Raises
    ------
    LayerError
        If it is older, or was built without R*Tree.
    """
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE probe USING rtree_i32 (id, x0, x1, +more)")
            problem = "" if sqlite3.sqlite_version_info >= _SQLITE else f"it is {sqlite3.sqlite_version}"
        except sqlite3.OperationalError as error:
            problem = str(error)
    if problem:
        raise LayerError(
            f"Python's SQLite cannot hold a store of parcels ({problem}). Expected {'.'.join(map(str, _SQLITE))} or "
            "later with R*Tree, as Python's own builds have it: use such a Python."
        )


def connect(target: Path) -> sqlite3.Connection:
    """Return a connection to a database that nobody else sees yet, in which transactions are begun by hand."""
    connection = sqlite3.connect(target, isolation_level=None)
    # What is not whole is thrown away: no journal, and one flush at the end.
    for pragma in (
        "journal_mode = OFF",
        "synchronous = OFF",
        "locking_mode = EXCLUSIVE",
        f"cache_size = -{_CACHE_KIB}",
    ):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def compact(connection: sqlite3.Connection) -> None:
    """Give back the room of rows that were replaced, where it is much of the file."""
    free, pages = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("freelist_count", "page_count"))
    if free > _MOST_FREE * pages:
        connection.execute("VACUUM")


def edition_of(
    target: Path,
    parts: tuple[ParcelPart, ...],
    counts: tuple[int, int, int],
    *,
    before: ParcelEdition | None = None,
) -> ParcelEdition:
    """Return the edition that a finished database is.

    Parameters
    ----------
    target
        The database.
    counts
        Parcels, those with an outline, and address points.
    before
        The edition that it was made from: this one is later, whatever the clock says.
    """
    sha256 = file_sha256(target)
    added_at = datetime.now(UTC)
    if before is not None:
        added_at = max(added_at, before.added_at + timedelta(microseconds=1))
    latest = max((part.edition for part in parts if part.edition is not None), default=None)
    return ParcelEdition(
        id=f"{latest or 'undated'}-{sha256[:8]}",
        sha256=sha256,
        size_bytes=target.stat().st_size,
        parcels=counts[0],
        drawn=counts[1],
        address_points=counts[2],
        parts=parts,
        added_at=added_at,
    )


def put_edition(beside: Path, edition: ParcelEdition, home: str | os.PathLike[str] | None) -> None:
    """Put an edition into place, and take away those that nobody holds any more."""
    record = beside / RECORD_FILE
    record.write_text(edition.model_dump_json(indent=2), encoding="utf-8")
    for path in (beside / DATABASE_FILE, record):
        # Renaming a folder whose files are not on the disk yet could show an empty one after a power cut.
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    place = parcels_folder(home) / edition.id
    if place.exists():
        # The same bytes: only the day on which they came is another.
        record.replace(place / RECORD_FILE)
    else:
        beside.replace(place)
    for held in parcel_editions(home):
        if held.folder != place:
            _take_away(held)


def _take_away(held: HeldParcels) -> None:
    """Remove an edition unless somebody holds it; it goes with the next import then."""
    if held.edition is None:
        return
    holding = hold(held, alone=True)
    if holding is None:
        return
    try:
        _remove(held)
    finally:
        os.close(holding)


def _remove(held: HeldParcels) -> None:
    gone = held.folder.parent / "incoming" / f"gone-{uuid.uuid4().hex}"
    gone.parent.mkdir(exist_ok=True)
    held.folder.replace(gone)
    shutil.rmtree(gone, ignore_errors=True)


def remove_parcels(name: str = "parcels", *, home: str | os.PathLike[str] | None = None) -> tuple[str, ...]:
    """Take editions of parcels out of a home, all or the one that is named; return their names.

    Whoever has one open goes on reading it.

    Parameters
    ----------
    name
        ``"parcels"`` for all, or as ``"parcels@2024-04-29-0a1b2c3d"``, of which the beginning is enough.

    Raises
    ------
    LayerError
        If there is none such, or the folder cannot be written.
    """
    with writing(home):
        editions = parcel_editions(home)
        chosen = [held for held in editions if name == "parcels" or ("@" in name and held.name.startswith(name))]
        if not chosen:
            there = ", ".join(held.name for held in editions) or "none"
            raise LayerError(f"There is no edition {name!r}; there are: {there}. See: grownj layers status.")
        for held in chosen:
            _remove(held)
        return tuple(held.name for held in chosen)


@contextmanager
def scratch() -> Iterator[Path]:
    """Give a folder that goes when it is done: for looking at a file without keeping anything."""
    with tempfile.TemporaryDirectory(prefix="grownj-parcels-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@contextmanager
def writing(home: str | os.PathLike[str] | None) -> Iterator[Path]:
    """Lock the store for one writer, and give it an empty folder of its own that goes when it is done.

    Raises
    ------
    LayerError
        If somebody else writes for longer than a minute, or the folder cannot be written.
    """
    import filelock  # noqa: PLC0415 - writing is rare

    root = parcels_folder(home)
    try:
        with one_writer(root, timeout_s=_LOCK_SECONDS) as beside:
            yield beside
    except filelock.Timeout as error:
        raise LayerError(
            f"Parcels are being loaded into {root} by another run for more than {_LOCK_SECONDS:.0f} s. Wait for it, or "
            "stop it, and try again."
        ) from error
    except (OSError, sqlite3.Error) as error:
        raise LayerError(
            f"The parcels in {root} could not be written ({getattr(error, 'strerror', None) or error}). Nothing was "
            "changed. Check its permissions and the free space, or set GROWNJ_HOME to another folder."
        ) from error
