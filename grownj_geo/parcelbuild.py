"""Parcels and address points from a file into the user's store: read as a stream, put beside what others have brought.

Each import makes the next edition. What a file holds of a municipality replaces all that was there of it before, unless
the file is partial: then it replaces record by record. The edition appears when it is whole; an import that is stopped
leaves the one before as it was.
"""

from __future__ import annotations

import shutil
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grownj_geo.addressbuild import build_address_index
from grownj_geo.addresspoints import PointBlock, PointReader
from grownj_geo.atlas import load_atlas
from grownj_geo.determine import Directory
from grownj_geo.errors import LayerError
from grownj_geo.features import Change, LayerFault
from grownj_geo.findings import Findings
from grownj_geo.parcelboxes import BOX_TABLES, Boxes
from grownj_geo.parcelfields import find_columns
from grownj_geo.parcelkeep import check_sqlite, compact, connect, edition_of, put_edition, scratch, writing
from grownj_geo.parcelmarks import Outlines, mark_shared
from grownj_geo.parcelmerge import replace_earlier
from grownj_geo.parcelread import ParcelReader, geometry_system
from grownj_geo.parcelrows import only, open_rows
from grownj_geo.parceltables import (
    DATABASE_FILE,
    INDEXES,
    TABLES,
    HeldParcels,
    ParcelEdition,
    ParcelPart,
    file_sha256,
    parcel_editions,
    parcels_folder,
)
from grownj_geo.siterows import without_collecting

if TYPE_CHECKING:
    import os
    import sqlite3
    from collections.abc import Callable, Iterator, Mapping

    from grownj_geo.georeference import Georeference
    from grownj_geo.parcelfields import Columns
    from grownj_geo.parcelread import ParcelBlock
    from grownj_geo.parceltables import Kind
    from grownj_geo.rows_block import RowSource

    Progress = Callable[[int, int | None], None]

__all__ = ["ImportOptions", "Imported", "import_address_points", "import_parcels"]

_ROWS_AT_ONCE = 50_000
_SAMPLE = 200
_LONLAT = "EPSG:4269"

_PUT = {
    "parcels": "INSERT INTO parcels VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0, 1, ?)",
    "address_points": "INSERT INTO address_points VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
}
_LAST = {
    "parcels": "SELECT coalesce(max(id), 0) FROM parcels",
    "address_points": "SELECT coalesce(max(id), 0) FROM address_points",
}
_COUNTS = {
    "parcels": "SELECT part, mun_code, count(*) FROM parcels GROUP BY part, mun_code",
    "address_points": "SELECT part, mun_code, count(*) FROM address_points GROUP BY part, mun_code",
}
_ALL = (
    "SELECT (SELECT count(*) FROM parcels), (SELECT count(geometry) FROM parcels), "
    "(SELECT count(*) FROM address_points)"
)


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
class Imported:
    """What a file brought, and the edition that was made of it; None on a dry run."""

    part: ParcelPart
    edition: ParcelEdition | None


@dataclass(frozen=True)
class _Task:
    """What is to be loaded, and how."""

    path: Path
    kind: Kind
    options: ImportOptions
    progress: Progress | None


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


def import_address_points(
    path: str | os.PathLike[str],
    *,
    home: str | os.PathLike[str] | None = None,
    options: ImportOptions | None = None,
    progress: Progress | None = None,
) -> Imported:
    """Load address points from a file and make the next edition of the store; see `import_parcels`.

    Raises
    ------
    LayerFault
        If the file cannot be read as address points, or ``too_few``. Nothing is changed then.
    LayerError
        If the store cannot be written.
    """
    return _import(_Task(Path(path), "address_points", options or ImportOptions(), progress), home)


def _import(task: _Task, home: str | os.PathLike[str] | None) -> Imported:
    edition = task.options.edition
    if edition is not None and edition > datetime.now(UTC).date() + timedelta(days=1):
        raise LayerError(f"The edition is dated {edition}, which is still to come. Correct its date.")
    check_sqlite()
    if task.options.dry_run and not parcels_folder(home).exists():
        # Not even a folder is left of it.
        with scratch() as beside:
            return Imported(_make(task, beside, None)[0], None)
    with writing(home) as beside:
        editions = parcel_editions(home)
        if editions and editions[0].edition is None:
            raise LayerError(editions[0].problem)
        part, made = _make(task, beside, editions[0] if editions else None)
        if task.options.dry_run:
            return Imported(part, None)
        put_edition(beside, made, home)
    return Imported(part, made)


def _make(task: _Task, beside: Path, before: HeldParcels | None) -> tuple[ParcelPart, ParcelEdition]:
    """Make the database of the next edition in a folder."""
    target = beside / DATABASE_FILE
    if before is not None:
        shutil.copyfile(before.database, target)
    with closing(connect(target)) as connection:
        if before is None:
            connection.executescript(TABLES)
            for table in BOX_TABLES:
                connection.execute(table)
        part, parts = _fill(connection, task, before)
        counts = connection.execute(_ALL).fetchone()
        compact(connection)
    return part, edition_of(target, parts, counts, before=None if before is None else before.edition)


def _fill(
    connection: sqlite3.Connection, task: _Task, before: HeldParcels | None
) -> tuple[ParcelPart, tuple[ParcelPart, ...]]:
    """Put a file's rows into the database; return what it brought, and all parts as they are now."""
    options, name = task.options, task.path.name
    earlier = () if before is None or before.edition is None else before.edition.parts
    number = 1 + max((part.number for part in earlier), default=0)
    last = int(connection.execute(_LAST[task.kind]).fetchone()[0])
    if task.kind == "parcels":
        # Made once at the end they are made sooner than row by row.
        connection.execute("DROP INDEX IF EXISTS parcels_by_pin")
        connection.execute("DROP INDEX IF EXISTS parcels_by_lot")
    connection.execute("BEGIN")
    brought = _read(connection, task, number, last)
    said = brought.fields.keys() | options.constants.keys()
    told = [
        *brought.changes,
        *replace_earlier(
            connection,
            task.kind,
            last,
            earlier,
            said=said,
            outlines=brought.outlines,
            partial=options.partial,
            name=name,
        ),
    ]
    if options.strict and (meddled := [c.words.rstrip(".") for c in told if c.effect != "noted"]):
        raise LayerFault(
            "strict",
            f"{name}: nothing may be changed under strict loading, and: {'. '.join(meddled)}. Correct the rows, or "
            "load them without it.",
        )
    for statement in INDEXES:
        connection.execute(statement)
    if task.kind == "parcels":
        told += mark_shared(connection, brought.outlines, after=last, partial=options.partial)
    index = build_address_index(connection)
    if index.left_out:
        words = f"{index.left_out:,} addresses of the store name no street, and cannot be searched for."
        told.append(Change(kind="no_street", effect="noted", count=index.left_out, words=words))
    counts: dict[int, dict[str, int]] = {}
    for query in _COUNTS.values():
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


# -- rows -----------------------------------------------------------------------------------------------


def _read(connection: sqlite3.Connection, task: _Task, number: int, last: int) -> _Brought:
    options, kind = task.options, task.kind
    wanted: Any = "polygon" if kind == "parcels" else "point"
    with open_rows(task.path, kind=wanted, sublayer=options.sublayer, encoding=options.encoding) as source:
        # One column is enough to see whether there are rows; what is said of owners is not even looked at.
        only(source, [column.name for column in source.columns[:1]])
        with closing(source.raw_blocks(0, _SAMPLE)) as raws:
            sample = next(raws, None)
        if sample is None:
            raise LayerFault("truncated", f"{source.name} has no rows. Export it again.")
        columns = find_columns(
            [c.name for c in source.columns],
            sample.columns,
            kind=kind,
            name=source.name,
            fields=options.fields,
            constants=options.constants,
        )
        found = Findings(source.name)
        system = _system(source, columns, task, found)
        reader = _reader(source, columns, system, kind)
        outlines, boxes = Outlines(), Boxes()
        only(source, columns.used)
        read, at = 0, last
        for block in _blocks(source, reader):
            read += block.read
            connection.executemany(_PUT[kind], _rows(block, at + 1, number, source.name))
            if not isinstance(block, PointBlock):
                boxes.add(at + 1, block.bounds)
                outlines.add(at + 1, block.wkb)
            at += len(block)
            if task.progress is not None:
                task.progress(read, source.rows)
        if at == last:
            why = next((change.words for change in reader.changes), "")
            raise LayerFault("no_records", f"{source.name}: none of its {read:,} rows can be used. {why}")
        boxes.write(connection)
        told = [*source.changes, *columns.changes, *found.changes, *reader.changes]
        return _Brought(
            read, at - last, None if system is None else system.words, dict(columns.by_role), told, outlines
        )


def _system(source: RowSource, columns: Columns, task: _Task, found: Findings) -> Georeference | None:
    """Return what a file's places are in; None for parcels without outlines."""
    if task.kind == "parcels":
        drawn = source.has_shapes or columns["wkt"] is not None
        return geometry_system(source, task.options.crs, found) if drawn else None
    if not source.has_shapes and columns.pair is None:
        raise found.refuse(
            "no_place_columns",
            "it has neither geometry nor coordinates; expected points, or columns of longitude and latitude. Name "
            "them: --map lon=COLUMN --map lat=COLUMN",
        )
    # Columns that are called longitude and latitude say what they are.
    stated = task.options.crs or (_LONLAT if not source.has_shapes and columns.degrees else None)
    return geometry_system(source, stated, found)


def _reader(source: RowSource, columns: Columns, system: Georeference | None, kind: Kind) -> ParcelReader | PointReader:
    atlas = load_atlas()
    if kind == "parcels":
        return ParcelReader(source.name, columns, system, Directory(atlas))
    lines = atlas.layer("municipalities")
    if lines is None or system is None:
        raise LayerError(str(atlas.state("municipalities").problem))
    return PointReader(source.name, columns, system, Directory(atlas), lines=lines)


def _blocks(source: RowSource, reader: ParcelReader | PointReader) -> Iterator[ParcelBlock | PointBlock]:
    with closing(source.raw_blocks(0, _ROWS_AT_ONCE)) as raws:
        while True:
            with without_collecting():
                raw = next(raws, None)
                if raw is None:
                    return
                block = reader.read(raw)
            yield block


def _rows(block: ParcelBlock | PointBlock, first: int, number: int, name: str) -> Iterator[tuple[Any, ...]]:
    """Return the rows of a block as their table has them."""
    n = len(block)
    ids = range(first, first + n)
    if isinstance(block, PointBlock):
        x, y = block.xy.T.tolist() if n else ([], [])
        sources = (f"{name}, row {row}" for row in block.rows)
        return zip(
            ids,
            block.mun_codes,
            block.addresses,
            block.zip_codes,
            x,
            y,
            block.kinds,
            sources,
            [number] * n,
            strict=True,
        )
    return zip(
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
