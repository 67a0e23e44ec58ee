"""Parcels from a file into the user's store: read as a stream, put beside what others have brought, and kept whole.

Each import makes the next edition. What it holds of a municipality replaces all that was there of it before, unless it
is partial: then it replaces parcel by parcel. The edition appears when it is whole; an import that is stopped leaves
the one before as it was.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import uuid
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from grownj_geo.atlas import load_atlas
from grownj_geo.determine import Directory
from grownj_geo.errors import LayerError
from grownj_geo.features import Change, LayerFault
from grownj_geo.findings import Findings
from grownj_geo.parcelfields import find_columns
from grownj_geo.parcelmarks import Outlines, mark_shared
from grownj_geo.parcelread import ParcelReader, geometry_system
from grownj_geo.parcelrows import only, open_rows
from grownj_geo.parceltables import (
    BOXES,
    DATABASE_FILE,
    INDEXES,
    RECORD_FILE,
    TABLES,
    HeldParcels,
    ParcelEdition,
    ParcelPart,
    file_sha256,
    hold,
    parcel_editions,
    parcels_folder,
)
from grownj_geo.siterows import without_collecting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from grownj_geo.georeference import Georeference
    from grownj_geo.parcelread import ParcelBlock
    from grownj_geo.parceltables import Kind
    from grownj_geo.rows_block import RowSource

    Progress = Callable[[int, int | None], None]

__all__ = ["ImportOptions", "Imported", "import_parcels", "remove_parcels"]

_ROWS_AT_ONCE = 50_000
_LOCK_SECONDS = 60.0
_CACHE_KIB = 262_144
_SAMPLE = 200
_FEW, _SHARE = 100, 0.5
"""A file with less than this share of a municipality's parcels, where there are that many, is taken for a part."""
_PARCEL = "INSERT INTO parcels VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0, 1, ?)"
_BOX = "INSERT INTO parcel_boxes VALUES (?, ?, ?, ?, ?)"
_OLD_OF = (
    "INSERT INTO old SELECT id FROM parcels WHERE id <= ? AND mun_code IN "
    "(SELECT DISTINCT mun_code FROM parcels WHERE id > ?)"
)
_OLD_PINS = "INSERT INTO old SELECT id FROM parcels WHERE id <= ? AND pin IN (SELECT pin FROM parcels WHERE id > ?)"


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """What whoever loads a file says about it.

    Attributes
    ----------
    sublayer
        Which of several layers in it.
    encoding
        What its text is in, where it does not say so or is wrong.
    crs
        What its coordinates are in, where it does not say.
    fields
        Its name of a column by what it says: ``{"address": "PROP_LOC"}``.
    constants
        One value for all rows by what it says: ``{"municipality": "0717"}``.
    edition
        The publisher's date of the data.
    partial
        It is not the whole of any municipality: what the store has beside it stays.
    strict
        Refuse whatever would have to be changed or left out.
    dry_run
        Read and report, keep nothing.
    """

    sublayer: str | None = None
    encoding: str | None = None
    crs: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    edition: date | None = None
    partial: bool = False
    strict: bool = False
    dry_run: bool = False


@dataclass(frozen=True)
class _Task:
    """What is to be loaded, and how."""

    path: Path
    kind: Kind
    options: ImportOptions
    progress: Progress | None


@dataclass(frozen=True)
class Imported:
    """What a file brought, and the edition that was made of it; None on a dry run."""

    part: ParcelPart
    edition: ParcelEdition | None


@dataclass
class _Brought:
    """What is known of a file's rows after they were stored."""

    read: int
    kept: int
    crs: str | None
    fields: dict[str, str]
    changes: list[Change]
    outlines: Outlines


def import_parcels(
    path: str | os.PathLike[str],
    *,
    home: str | os.PathLike[str] | None = None,
    options: ImportOptions | None = None,
    progress: Progress | None = None,
) -> Imported:
    """Load parcels from a file and make the next edition of the store.

    Parameters
    ----------
    path
        Any table or GIS file: the State's composite, a county's extract, an assessor's list; or a zip archive of one.
    home
        Where the store is; the user's own home by default.
    progress
        Called with rows read so far, and how many there are where that is known.

    Raises
    ------
    LayerFault
        If the file cannot be read as parcels; ``too_few`` where it has only a part of what the store has of a
        municipality; ``loses_outlines`` where it has no outlines and the store has. Nothing is changed then.
    LayerError
        If the store cannot be written.
    """
    return _import(_Task(Path(path), "parcels", options or ImportOptions(), progress), home)


def _import(task: _Task, home: str | os.PathLike[str] | None) -> Imported:
    _check_edition(task.options.edition)
    with _writing(home) as beside:
        editions = parcel_editions(home)
        before = editions[0] if editions else None
        if before is not None and before.edition is None:
            raise LayerError(before.problem)
        target = beside / DATABASE_FILE
        if before is not None:
            shutil.copyfile(before.database, target)
        with closing(_connect(target)) as connection:
            if before is None:
                connection.executescript(TABLES)
                connection.execute(BOXES)
            part, parts = _fill(connection, task, before)
            if task.options.dry_run:
                return Imported(part, None)
            counts = connection.execute(
                "SELECT (SELECT count(*) FROM parcels), (SELECT count(geometry) FROM parcels), "
                "(SELECT count(*) FROM address_points)"
            ).fetchone()
        edition = _edition(target, parts, counts)
        _put(beside, edition, home)
    return Imported(part, edition)


def _check_edition(edition: date | None) -> None:
    if edition is not None and edition > datetime.now(UTC).date():
        raise LayerError(f"The edition is dated {edition}, which is still to come. Correct its date.")


# -- the database ---------------------------------------------------------------------------------------


def _connect(target: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(target, isolation_level=None)
    # Nobody else sees the file, and what is not whole is thrown away: no journal, and one flush at the end.
    for pragma in (
        "journal_mode = OFF",
        "synchronous = OFF",
        "locking_mode = EXCLUSIVE",
        f"cache_size = -{_CACHE_KIB}",
    ):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _fill(
    connection: sqlite3.Connection, task: _Task, before: HeldParcels | None
) -> tuple[ParcelPart, tuple[ParcelPart, ...]]:
    """Put a file's rows into the database; return what it brought, and all parts as they are now."""
    options, name = task.options, task.path.name
    earlier = () if before is None or before.edition is None else before.edition.parts
    number = 1 + max((part.number for part in earlier), default=0)
    last = int(connection.execute("SELECT coalesce(max(id), 0) FROM parcels").fetchone()[0])
    connection.execute("DROP INDEX IF EXISTS parcels_by_pin")
    connection.execute("DROP INDEX IF EXISTS parcels_by_lot")
    connection.execute("BEGIN")
    brought = _read(connection, task, number, last)
    connection.execute("INSERT INTO parts VALUES (?, ?, ?)", (number, task.kind, name))
    told = [*brought.changes, *_replace(connection, last, earlier, task)]
    connection.execute("COMMIT")
    if options.strict and (meddled := [c.words.rstrip(".") for c in told if c.effect != "noted"]):
        raise LayerFault(
            "strict",
            f"{name}: nothing may be changed under strict loading, and: {'. '.join(meddled)}. Correct the rows, "
            "or load them without it.",
        )
    connection.execute("BEGIN")
    for index in INDEXES:
        connection.execute(index)
    told += mark_shared(connection, brought.outlines, after=last, partial=options.partial)
    _index_addresses(connection)
    counts: dict[int, dict[str, int]] = {}
    for table in ("parcels", "address_points"):
        query = f"SELECT part, mun_code, count(*) FROM {table} GROUP BY part, mun_code"  # noqa: S608 - our names
        for owner, code, count in connection.execute(query):
            counts.setdefault(owner, {})[code] = count
    part = ParcelPart(
        number=number,
        kind=task.kind,
        source=name,
        sha256=file_sha256(task.path) if task.path.is_file() else None,
        edition=options.edition,
        retrieved_at=datetime.now(UTC).replace(microsecond=0),
        read=brought.read,
        kept=brought.kept,
        crs=brought.crs,
        fields=brought.fields,
        municipalities=counts.get(number, {}),
        changes=tuple(told),
        partial=options.partial,
    )
    # Of a file that others have replaced wholly nothing is left to tell.
    left = [p.model_copy(update={"municipalities": counts[p.number]}) for p in earlier if p.number in counts]
    connection.execute("DELETE FROM parts")
    connection.executemany("INSERT INTO parts VALUES (?, ?, ?)", [(p.number, p.kind, p.source) for p in (*left, part)])
    connection.execute("PRAGMA analysis_limit = 1000")
    connection.execute("ANALYZE")
    connection.execute("COMMIT")
    return part, (*left, part)


def _read(connection: sqlite3.Connection, task: _Task, number: int, last: int) -> _Brought:
    options = task.options
    with open_rows(task.path, kind="polygon", sublayer=options.sublayer, encoding=options.encoding) as source:
        with closing(source.raw_blocks(0, _SAMPLE)) as raws:
            sample = next(raws, None)
        if sample is None:
            raise LayerFault("truncated", f"{source.name} has no rows. Export it again.")
        columns = find_columns(
            [c.name for c in source.columns],
            sample.columns,
            kind="parcels",
            name=source.name,
            fields=options.fields,
            constants=options.constants,
        )
        found = Findings(source.name)
        drawn = source.has_shapes or columns["wkt"] is not None
        system = geometry_system(source, options.crs, found) if drawn else None
        reader = ParcelReader(source.name, columns, system, Directory(load_atlas()))
        outlines = Outlines()
        read, at = 0, last
        only(source, columns.used)
        for block in _blocks(source, reader):
            read += block.read
            at = _store(connection, block, at, number, outlines)
            if task.progress is not None:
                task.progress(read, source.rows)
        if at == last:
            first = next((change.words for change in reader.changes), "none has a parcel number")
            raise LayerFault("no_parcels", f"{source.name}: none of its {read:,} rows is a parcel. {first}")
        told = [*source.changes, *columns.changes, *found.changes, *reader.changes]
        return _Brought(read, at - last, _words(system), dict(columns.by_role), told, outlines)


def _words(system: Georeference | None) -> str | None:
    return None if system is None else system.words


def _blocks(source: RowSource, reader: ParcelReader) -> Iterator[ParcelBlock]:
    with closing(source.raw_blocks(0, _ROWS_AT_ONCE)) as raws:
        while True:
            with without_collecting():
                raw = next(raws, None)
                if raw is None:
                    return
                block = reader.read(raw)
            yield block


def _store(connection: sqlite3.Connection, block: ParcelBlock, at: int, number: int, outlines: Outlines) -> int:
    """Put parcels into the tables; return the last row's identifier."""
    n = len(block)
    ids = range(at + 1, at + 1 + n)
    rows = zip(
        ids,
        block.pins,
        block.mun_codes,
        block.blocks,
        block.lots,
        block.qualifiers,
        block.addresses,
        block.zip_codes,
        block.classes,
        block.wkb,
        block.rows,
        [number] * n,
        block.notes,
        strict=True,
    )
    x0, y0, x1, y1 = block.bounds.T.tolist()
    connection.executemany(_PARCEL, rows)
    boxes = zip(ids, x0, x1, y0, y1, strict=True)
    connection.executemany(_BOX, (box for box, wkb in zip(boxes, block.wkb, strict=True) if wkb is not None))
    outlines.add(at + 1, block.wkb)
    return at + n


def _replace(connection: sqlite3.Connection, last: int, earlier: tuple[ParcelPart, ...], task: _Task) -> list[Change]:
    """Take away what the new rows replace; return what is to be told of it."""
    if not last:
        return []
    options, name = task.options, task.path.name
    new = dict(connection.execute("SELECT mun_code, count(*) FROM parcels WHERE id > ? GROUP BY mun_code", (last,)))
    old: dict[str, int] = {}
    for part in earlier:
        if part.kind == "parcels":
            for code, count in part.municipalities.items():
                old[code] = old.get(code, 0) + count
    both = sorted(new.keys() & old.keys())
    if not options.partial:
        few = [code for code in both if old[code] >= _FEW and new[code] < _SHARE * old[code]]
        if few:
            shown = "; ".join(f"{code}: {new[code]:,} in the file, {old[code]:,} in the store" for code in few[:5])
            raise LayerFault(
                "too_few",
                f"{name} has less than half of the parcels that the store has of {len(few)} municipalities ({shown}), "
                "and would replace them all. Load it with --partial, which replaces parcel by parcel, or take the "
                "store away first: grownj layers remove parcels.",
            )
    connection.execute("CREATE TEMP TABLE old (id INTEGER PRIMARY KEY)")
    connection.execute(_OLD_PINS if options.partial else _OLD_OF, (last, last))
    gone = int(connection.execute("SELECT count(*) FROM old").fetchone()[0])
    drawn = "SELECT count(geometry) FROM parcels WHERE id"
    had = int(connection.execute(f"{drawn} IN (SELECT id FROM old)").fetchone()[0])
    has = int(connection.execute(f"{drawn} > ?", (last,)).fetchone()[0])
    if had and not has:
        raise LayerFault(
            "loses_outlines",
            f"{name} has no outlines, and would replace {gone:,} parcels of which {had:,} have one. Load the file with "
            "the outlines after it, or take the store away first: grownj layers remove parcels.",
        )
    connection.execute("DELETE FROM parcel_boxes WHERE id IN (SELECT id FROM old)")
    connection.execute("DELETE FROM parcels WHERE id IN (SELECT id FROM old)")
    connection.execute("DROP TABLE old")
    if not gone:
        return []
    words = f"{gone:,} parcels of {len(both)} municipalities, loaded before, were replaced."
    return [Change(kind="replaced", effect="noted", count=gone, words=words)]


def _index_addresses(connection: sqlite3.Connection) -> None:
    """Make the tables that addresses are looked up in."""
    from importlib.util import find_spec  # noqa: PLC0415 - only where it is used

    if find_spec("grownj_geo.addressbuild") is not None:
        from grownj_geo.addressbuild import build_address_index  # noqa: PLC0415 - same

        build_address_index(connection)


# -- the edition ----------------------------------------------------------------------------------------


def _edition(target: Path, parts: tuple[ParcelPart, ...], counts: tuple[int, int, int]) -> ParcelEdition:
    sha256 = file_sha256(target)
    latest = max((part.edition for part in parts if part.edition is not None), default=None)
    return ParcelEdition(
        id=f"{latest or 'undated'}-{sha256[:8]}",
        sha256=sha256,
        size_bytes=target.stat().st_size,
        parcels=counts[0],
        drawn=counts[1],
        address_points=counts[2],
        parts=parts,
        added_at=datetime.now(UTC),
    )


def _put(beside: Path, edition: ParcelEdition, home: str | os.PathLike[str] | None) -> None:
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


def _take_away(held: HeldParcels) -> bool:
    """Remove an edition unless somebody holds it; it goes with the next import then."""
    if held.edition is None:
        return False
    holding = hold(held, alone=True)
    if holding is None:
        return False
    try:
        gone = held.folder.parent / "incoming" / f"gone-{uuid.uuid4().hex}"
        gone.parent.mkdir(exist_ok=True)
        held.folder.replace(gone)
    finally:
        os.close(holding)
    shutil.rmtree(gone, ignore_errors=True)
    return True


def remove_parcels(name: str = "parcels", *, home: str | os.PathLike[str] | None = None) -> tuple[str, ...]:
    """Take editions of parcels out of a home, all or the one that is named; return their names.

    Whoever reads one goes on reading it.

    Raises
    ------
    LayerError
        If there is none such, or the folder cannot be written.
    """
    with _writing(home):
        editions = parcel_editions(home)
        chosen = [held for held in editions if name in {"parcels", held.name} or held.name.startswith(f"{name}-")]
        if not chosen:
            there = ", ".join(held.name for held in editions) or "none"
            raise LayerError(f"There is no edition {name!r}; there are: {there}. See: grownj layers status.")
        for held in chosen:
            gone = held.folder.parent / "incoming" / f"gone-{uuid.uuid4().hex}"
            held.folder.replace(gone)
            shutil.rmtree(gone, ignore_errors=True)
        return tuple(held.name for held in chosen)


@contextmanager
def _writing(home: str | os.PathLike[str] | None) -> Iterator[Path]:
    """Lock the store for one writer, and give it an empty folder of its own that goes when it is done."""
    import filelock  # noqa: PLC0415 - writing is rare

    root = parcels_folder(home)
    try:
        root.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(root / ".lock", timeout=_LOCK_SECONDS):
            incoming = root / "incoming"
            # Nobody else writes now: what lies here was left by a run that was stopped.
            shutil.rmtree(incoming, ignore_errors=True)
            beside = incoming / f"add-{uuid.uuid4().hex}"
            beside.mkdir(parents=True)
            try:
                yield beside
            finally:
                shutil.rmtree(incoming, ignore_errors=True)
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
