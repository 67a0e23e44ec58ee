"""What a store of parcels is on disk: one database of tables, and a record of what is in it and where it came from.

A store is never changed: an import writes the next edition beside, with what the others have brought before, and puts
it into place whole. Whoever reads an edition holds it, so that nobody takes it away underneath.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from grownj_geo.errors import LayerError
from grownj_geo.features import Change
from grownj_geo.store import home_folder
from grownj_geo.strict import Strict

__all__ = [
    "DATABASE_FILE",
    "INDEXES",
    "RECORD_FILE",
    "TABLES",
    "HeldParcels",
    "Kind",
    "ParcelEdition",
    "ParcelPart",
    "file_sha256",
    "hold",
    "municipalities_in_words",
    "parcel_editions",
    "parcels_folder",
]

DATABASE_FILE, RECORD_FILE = "parcels.sqlite", "edition.json"

Kind = Literal["parcels", "address_points"]
"""What a file brings into the store."""

TABLES = """
CREATE TABLE parts (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,          -- 'parcels' or 'address_points'
    source TEXT NOT NULL         -- the file's name
);
CREATE TABLE parcels (
    id INTEGER PRIMARY KEY,
    pin TEXT NOT NULL,           -- PAMS_PIN as the file has it, in capitals
    mun_code TEXT NOT NULL,      -- Treasury code, four digits
    block TEXT NOT NULL,         -- text without zeros in front; zeros at the end stay
    lot TEXT NOT NULL,
    qualifier TEXT NOT NULL,     -- empty where there is none
    address TEXT,                -- as the file has it
    zip_code TEXT,               -- five digits, of the property
    property_class TEXT,
    geometry BLOB,               -- well-known binary, EPSG:3424 (US survey feet), valid polygons
    source_row INTEGER NOT NULL,
    part INTEGER NOT NULL REFERENCES parts (id),
    same_pin INTEGER NOT NULL DEFAULT 1,      -- records with this parcel number
    drawn_apart INTEGER NOT NULL DEFAULT 0,   -- 1 where these records have different outlines
    same_polygon INTEGER NOT NULL DEFAULT 1,  -- parcel numbers with this very outline
    notes TEXT                   -- what reading changed, a line each
);
CREATE TABLE address_points (
    id INTEGER PRIMARY KEY,
    mun_code TEXT NOT NULL,      -- empty where neither file nor map says it
    address TEXT NOT NULL,
    zip_code TEXT,
    x_ft REAL NOT NULL,          -- EPSG:3424 (US survey feet)
    y_ft REAL NOT NULL,
    kind TEXT,                   -- how the publisher placed it: 'Structure - Rooftop'
    source TEXT NOT NULL,        -- the file's name and row
    part INTEGER NOT NULL REFERENCES parts (id)
);
"""
INDEXES = (
    "CREATE INDEX IF NOT EXISTS parcels_by_pin ON parcels (pin)",
    "CREATE INDEX IF NOT EXISTS parcels_by_lot ON parcels (mun_code, block, lot, qualifier)",
    "CREATE INDEX IF NOT EXISTS address_points_by_municipality ON address_points (mun_code)",
)

_BLOCK = 1 << 20


class ParcelPart(Strict):
    """What one file brought into a store.

    Attributes
    ----------
    number
        Its row of the table ``parts``.
    kind
        Parcels or address points.
    source
        The file's name.
    sha256
        Of the file; None for a folder.
    edition
        The publisher's date of the data, where whoever loaded it stated one.
    retrieved_at
        When it was read, in UTC.
    read, kept
        Rows of the file, and how many of them are in the store.
    crs
        What its coordinates were taken to be in, in words; None without geometry.
    fields
        The file's columns by what they were taken for.
    municipalities
        Rows that are in the store now, by municipality; a later file may have replaced others.
    changes
        What was changed, left out or noticed.
    partial
        It was put in parcel by parcel, beside what the store had.
    """

    number: int
    kind: Kind
    source: str
    sha256: str | None
    edition: date | None
    retrieved_at: datetime
    read: int
    kept: int
    crs: str | None
    fields: dict[str, str]
    municipalities: dict[str, int]
    changes: tuple[Change, ...]
    partial: bool = False


class ParcelEdition(Strict):
    """One edition of a store of parcels, as its record file says.

    Attributes
    ----------
    id
        The latest date of its parts, and the beginning of the checksum.
    sha256, size_bytes
        Of the database.
    parcels, drawn, address_points
        Rows of the tables; `drawn` are the parcels with an outline.
    parts
        What it was made from.
    added_at
        When it was put into place, in UTC.
    """

    format: Literal[1] = 1
    id: Annotated[str, Field(pattern=r"^(\d{4}-\d{2}-\d{2}|undated)-[0-9a-f]{8}$")]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    size_bytes: int
    parcels: int
    drawn: int
    address_points: int
    parts: tuple[ParcelPart, ...]
    added_at: datetime

    @property
    def name(self) -> str:
        """The edition as commands call it: ``"parcels@2024-04-29-0a1b2c3d"``."""
        return f"parcels@{self.id}"

    def of(self, kind: Kind) -> tuple[ParcelPart, ...]:
        """Return the parts of a kind."""
        return tuple(part for part in self.parts if part.kind == kind)


@dataclass(frozen=True)
class HeldParcels:
    """An edition's folder: the edition, or why its record cannot be read."""

    folder: Path
    edition: ParcelEdition | None
    problem: str | None = None

    @property
    def name(self) -> str:
        """The edition as commands call it."""
        return f"parcels@{self.folder.name}"

    @property
    def database(self) -> Path:
        """The file with the tables."""
        return self.folder / DATABASE_FILE

    def verify(self) -> str | None:
        """Return what is wrong with the edition: its record, or its database's size or checksum; None if nothing."""
        if self.edition is None:
            return self.problem
        try:
            size, found = self.database.stat().st_size, file_sha256(self.database)
        except OSError as error:
            return f"The edition {self.name} could not be read ({error.strerror})."
        if (size, found) == (self.edition.size_bytes, self.edition.sha256):
            return None
        return (
            f"The edition {self.name} was changed on disk: its checksum is {found[:12]}, expected "
            f"{self.edition.sha256[:12]}. Load its files again: grownj layers import parcels FILE."
        )


def parcels_folder(home: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of the stores of parcels in a home, the user's own by default."""
    return (home_folder() if home is None else Path(home)) / "parcels"


def parcel_editions(home: str | os.PathLike[str] | None = None) -> tuple[HeldParcels, ...]:
    """Return the editions in a home, the one that is used first; those whose record cannot be read come before all.

    Raises
    ------
    LayerError
        If the folder cannot be read.
    """
    root = parcels_folder(home)
    try:
        names = sorted(entry.name for entry in os.scandir(root) if entry.is_dir() and entry.name != "incoming")
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise LayerError(
            f"The folder of parcels {root} cannot be read ({error.strerror}). Check its permissions."
        ) from error
    held = [one for name in names if (one := _held(root / name)) is not None]
    return tuple(sorted(held, key=_rank, reverse=True))


def _rank(held: HeldParcels) -> tuple[bool, float, str]:
    edition = held.edition
    return edition is None, 0.0 if edition is None else edition.added_at.timestamp(), held.folder.name


def _held(folder: Path) -> HeldParcels | None:
    try:
        edition = ParcelEdition.model_validate_json((folder / RECORD_FILE).read_bytes())
        if edition.id == folder.name:
            return HeldParcels(folder, edition)
        problem = f"it says {edition.name}"
    except OSError as error:
        if not folder.exists():
            return None
        problem = f"its record could not be read ({error.strerror})"
    except ValidationError as error:
        problem = f"its record does not follow the format ({error.error_count()} problems)"
    name = f"parcels@{folder.name}"
    return HeldParcels(
        folder,
        None,
        f"The edition {name} is damaged: {problem}. Take it away (grownj layers remove {name}) and load its files "
        "again.",
    )


def hold(held: HeldParcels, *, alone: bool = False) -> int | None:
    """Hold an edition for as long as the file descriptor that is returned stays open; None where that cannot be.

    Parameters
    ----------
    alone
        Only where nobody else holds it: to take it away.

    Raises
    ------
    OSError
        If the system cannot lock files there.
    """
    try:
        descriptor = os.open(held.folder / RECORD_FILE, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        # Between finding and holding it, somebody may have taken it away.
        there = os.path.samestat(os.fstat(descriptor), (held.folder / RECORD_FILE).stat())
    except (BlockingIOError, FileNotFoundError):
        there = False
    except OSError:
        os.close(descriptor)
        raise
    if not there:
        os.close(descriptor)
        return None
    return descriptor


def municipalities_in_words(count: int) -> str:
    """Return how many municipalities there are, in words.

    Examples
    --------
    >>> municipalities_in_words(1), municipalities_in_words(565)
    ('1 municipality', '565 municipalities')
    """
    return f"{count:,} {'municipality' if count == 1 else 'municipalities'}"


def file_sha256(path: Path) -> str:
    """Return the checksum of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
