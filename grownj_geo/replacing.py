"""What an output may take the place of: one rule for every command that writes a file.

Running a command twice simply works, and nothing of anybody else's is lost by a mistyped name:

- A file that this package wrote, recognised by exact marks (`ownmarks`), is replaced; so is an empty one.
- A file of somebody else's is refused, and so is one of this package's to which others added what can be told by its
  name: a layer, a table, a project or a style of QGIS, a sheet, a file, a day on which features or cells were changed.
  ``--replace`` replaces it all the same.
- A file that is set to be read only is refused too, whoever wrote it: somebody meant it to stay. ``--replace`` again.
- What is read, kept records and folders are never replaced, whatever is asked.
- A link is followed: what it points to is looked at and replaced, and the link stays.
- What came to the name, or was changed there, after it was looked at stays: the command says so and writes nothing
  there (`files.expect_as_seen`).

What cannot be looked into is somebody else's. Plain text keeps no trace of who changed it: a cell of a CSV table that
somebody changed, or a column put before this package's own, cannot be told from what the command was given, and such a
file counts as this package's.
"""

from __future__ import annotations

import csv
import lzma
import os
import sqlite3
import struct
import tempfile
import zipfile
import zlib
from typing import TYPE_CHECKING
from xml.parsers.expat import ExpatError

from grownj_geo.features import LayerFault
from grownj_geo.files import look_at
from grownj_geo.ownlayers import added_to_database, added_to_geodatabase, added_to_zip
from grownj_geo.ownmarks import WRITTEN_BY, own_document, own_json, own_page, own_pdf, own_picture, own_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from grownj_geo.files import Seen

__all__ = ["added_by_others", "check_replaceable", "is_own"]

_HEAD = 1_000_000
_LARGEST = 64_000_000
_MOST_NAMED = 6
_LONGEST_NAME = 100
_MAY_WRITE = 0o222
_READ_ONLY = "is there already and is set to be read only. Nothing was overwritten. Give another name, or --replace."
_NOT_OURS = "is there already, and grownj did not write it. Nothing was overwritten. Give another name, or --replace."
_FAULTS = (
    OSError, ValueError, EOFError, MemoryError, csv.Error, struct.error, zlib.error, lzma.LZMAError, zipfile.BadZipFile,
    sqlite3.Error, ExpatError, LookupError,
    # Of zip files: a password that is asked for, a way to pack that is not known. Of JSON: lists in lists in lists.
    # And all of GDAL.
    RuntimeError,
    # Of pages: a declaration that HTML's reader does not know.
    AssertionError,
)  # fmt: skip
"""What reading a file may raise that is not what it begins as, is cut short, damaged, packed otherwise or made to harm.

Whoever wrote such a file, it was not this package; a run is never ended by looking.
"""


def check_replaceable(
    path: Path, *, sources: Iterable[Path] = (), replace: bool = False, answers: bool = False, folder: bool = False
) -> Seen:
    r"""Refuse a place where a file cannot be put, or where it would take away what is not this package's.

    Parameters
    ----------
    path
        Where a file is to be written.
    sources
        Files and folders that the run reads.
    replace
        Whether a file of somebody else's may be replaced.
    answers
        Whether what is written are determinations themselves, so that earlier ones without a seal make way; other
        outputs never replace any.
    folder
        Whether the output is a folder that stands for a file: a geodatabase.

    Returns
    -------
    Seen
        What is there, for `files.expect_as_seen`.

    Raises
    ------
    LayerFault
        ``not_written``, with what is there and what to do.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as place:
    ...     target = Path(place) / "letters.csv"
    ...     _ = check_replaceable(target)
    ...     _ = target.write_text("to,words\n")
    ...     try:
    ...         _ = check_replaceable(target)
    ...     except LayerFault as error:
    ...         print(str(error).removeprefix(str(target)))
    ...     _ = check_replaceable(target, replace=True)
     is there already, and grownj did not write it. Nothing was overwritten. Give another name, or --replace.
    """
    try:
        seen = look_at(path)
    except (OSError, ValueError) as error:
        raise LayerFault(
            "not_written", f"{path} cannot be used: {error}. Expected a file's name; give another."
        ) from error
    _check_place(path, folder=folder)
    if seen is None:
        return None
    # Reading them takes pydantic and shapely: only where something is there.
    from grownj_geo.kept import holds_records, is_record  # noqa: PLC0415

    for source in sources:
        if _reads(source, path):
            raise LayerFault(
                "not_written", f"{path} is a file that is read; expected another file. Nothing was overwritten."
            )
    if not folder and (is_record(path) if answers else holds_records(path)):
        raise LayerFault(
            "not_written",
            f"{path} is a kept record or holds determinations, and those are never overwritten by another output. "
            "Expected another file. Nothing was overwritten.",
        )
    if replace:
        return seen
    if not path.stat().st_mode & _MAY_WRITE or not os.access(path, os.W_OK):
        raise LayerFault("not_written", f"{path} {_READ_ONLY}")
    others = added_by_others(path)
    if others is None:
        raise LayerFault("not_written", f"{path} {_NOT_OURS}")
    if others:
        listed = ", ".join(map(_shown, others[:_MOST_NAMED])) + (", ..." if len(others) > _MOST_NAMED else "")
        raise LayerFault(
            "not_written",
            f"{path} is there already and holds what grownj did not write ({listed}). Nothing was overwritten. Give "
            "another name, or --replace.",
        )
    return seen


def _shown(name: str) -> str:
    """Return a name that somebody else gave, with nothing in it that a terminal obeys."""
    return "".join(sign if sign.isprintable() else "?" for sign in name)[:_LONGEST_NAME]


def _check_place(path: Path, *, folder: bool) -> None:
    if path.is_dir() and not folder:
        raise LayerFault("not_written", f"{path} is a folder; expected a file's name. Nothing was overwritten.")
    if folder and path.exists() and not (path.is_dir() and any(path.glob("a*.gdbtable"))):
        what = "a folder that is no geodatabase" if path.is_dir() else "a file"
        raise LayerFault("not_written", f"{path} is {what}; expected another name. Nothing was overwritten.")
    if path.exists() and not folder and not path.is_file():
        raise LayerFault("not_written", f"{path} is no regular file; expected one. Give another name.")
    # Where a link points to is where the file is written.
    parent = path.resolve().parent
    if not parent.is_dir():
        raise LayerFault("not_written", f"{path}: there is no folder {parent}. Make it first, or name another.")
    try:
        # Asked by doing: rights alone do not tell of a disk that is full or mounted to be read only.
        with tempfile.NamedTemporaryFile(prefix=".grownj-", dir=parent):
            pass
    except OSError as error:
        raise LayerFault(
            "not_written",
            f"{path}: nothing can be written into the folder {parent} ({error.strerror or error}). Name another, or "
            "see to its permissions and space.",
        ) from error


def _reads(source: Path, target: Path) -> bool:
    """Return whether a target is a source; a folder of records is read whole, a text that is no file not at all."""
    from grownj_geo.kept import holds_records  # noqa: PLC0415 - only where something is there

    try:
        if not source.exists():
            return False
        if source.samefile(target):
            return True
        inside = source.is_dir() and source.resolve() in target.resolve().parents
    except (OSError, ValueError):
        # Places are typed too, and no file has a name like theirs.
        return False
    return inside and target.is_file() and holds_records(target)


# -- whose a file is -----------------------------------------------------------------------------------


def is_own(path: Path) -> bool:
    """Return whether this package wrote a file and nobody added to it, as far as can be told; an empty one counts so.

    Parameters
    ----------
    path
        A file that is there, or a geodatabase.
    """
    return added_by_others(path) == []


def added_by_others(path: Path) -> list[str] | None:
    """Return what others added to a file of this package's, by name; None for a file that this package did not write.

    Parameters
    ----------
    path
        A file that is there, or a geodatabase.
    """
    try:
        if path.is_dir():
            return added_to_geodatabase(path)
        with path.open("rb") as file:
            head = file.read(_HEAD)
        return _added(path, head) if head else []
    except _FAULTS:
        return None


def _added(path: Path, head: bytes) -> list[str] | None:
    if head.startswith(b"PK"):
        return added_to_zip(path)
    if head.startswith(b"SQLite format 3"):
        return added_to_database(path)
    return [] if _has_mark(path, head) else None


def _has_mark(path: Path, head: bytes) -> bool:
    if head.startswith(b"PAR1"):
        return _own_parquet(path)
    if head.startswith(b"%PDF-"):
        return own_pdf(path.read_bytes())
    if head.startswith(b"\x89PNG"):
        return own_picture(head)
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith((b"{", b"[")):
        return own_json(path, text)
    if text.startswith(b"<"):
        return own_page(head) if text[:9].lower() == b"<!doctype" and b"<html" in text[:200] else own_document(text)
    if text.startswith(b",") and path.stat().st_size <= _LARGEST:
        # A comparison says at its end what it is.
        head = path.read_bytes()
    return own_text(head.decode("utf-8-sig", "replace"))


def _own_parquet(path: Path) -> bool:
    import pyarrow as pa  # noqa: PLC0415 - only where a table is there
    import pyarrow.parquet as pq  # noqa: PLC0415 - same

    try:
        metadata = pq.read_schema(path).metadata or {}
    except pa.ArrowException:
        return False
    return bool(metadata.get(b"written_by") == WRITTEN_BY.encode())
