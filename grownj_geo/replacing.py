"""What an output may take the place of: one rule for every command that writes a file.

Running a command twice simply works, and nothing of anybody else's is lost by a mistyped name:

- A file that this package wrote, recognised by what it holds, is replaced; so is an empty one.
- A file of somebody else's is refused; ``--replace`` replaces it all the same.
- What is read, kept records and folders are never replaced, whatever is asked.

A file is recognised by what the formats have for it: the generator of a page, the creator of a picture, a PDF or a
workbook, the description of a layer, the dictionary of an export, the columns that tables get, the keys of JSON. A
table of answers to which somebody added columns counts as this package's.
"""

from __future__ import annotations

import csv
import json
import re
import sqlite3
import tempfile
import warnings
import zipfile
from contextlib import closing
from typing import TYPE_CHECKING, Any

from grownj_geo.features import LayerFault

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["WRITTEN_BY", "check_replaceable", "is_own", "layers_of_others"]

WRITTEN_BY = "grownj-geo"
"""What files say of who wrote them, where their format has a place for it."""

_MARK = WRITTEN_BY.encode()
_HEAD = 1_000_000
_LARGEST_JSON = 64_000_000
_MOST_NAMED = 6
_PAGE = re.compile(rb'name="generator" content="grownj-geo|<dc:title>grownj-geo|<\?grownj-geo')
_FEATURES = re.compile(rb'\{\s*"type":\s*"FeatureCollection"')
_REPORT = "not the New Jersey Economic Development Authority's determination"
_ANSWERS = {"problem", "rulebook", "atlas"}
_CREDITS = {"credit_problem", "credit_eligible"}
_RECHECKED = ["source", "site", "rulebook", "as_of_recorded"]
_WATCHED = ["site", "source", "rulebook", "as_of", "until"]
_KEYS = (
    {"records", "refused"},
    {"sites", "refused"},
    {"rulebook", "disclaimer", "nowhere", "rows"},
    {"rulebook", "atlas", "resumed_rows", "rows_per_second"},
)
"""Of what ``recheck``, ``watch``, ``compare`` and the summary of ``batch`` are as JSON."""


def check_replaceable(
    path: Path, *, sources: Iterable[Path] = (), replace: bool = False, answers: bool = False, folder: bool = False
) -> None:
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
    ...     check_replaceable(target)
    ...     _ = target.write_text("to,words\n")
    ...     try:
    ...         check_replaceable(target)
    ...     except LayerFault as error:
    ...         print(str(error).removeprefix(str(target)))
    ...     check_replaceable(target, replace=True)
     is there already, and grownj did not write it. Nothing was overwritten. Give another name, or --replace.
    """
    try:
        there = _is_there(path)
    except (OSError, ValueError) as error:
        raise LayerFault(
            "not_written", f"{path} cannot be used: {error}. Expected a file's name; give another."
        ) from error
    _check_place(path, folder=folder)
    if not there:
        return
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
        return
    others = layers_of_others(path) if _has_layers(path) else []
    if others:
        listed = ", ".join(others[:_MOST_NAMED]) + (", ..." if len(others) > _MOST_NAMED else "")
        raise LayerFault(
            "not_written",
            f"{path} is there already and holds what grownj did not write ({listed}). Nothing was overwritten. Give "
            "another name, or --replace.",
        )
    if not is_own(path):
        raise LayerFault(
            "not_written",
            f"{path} is there already, and grownj did not write it. Nothing was overwritten. Give another name, or "
            "--replace.",
        )


def _is_there(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _check_place(path: Path, *, folder: bool) -> None:
    if path.is_dir() and not folder:
        raise LayerFault("not_written", f"{path} is a folder; expected a file's name. Nothing was overwritten.")
    if folder and path.exists() and not (path.is_dir() and any(path.glob("a*.gdbtable"))):
        what = "a folder that is no geodatabase" if path.is_dir() else "a file"
        raise LayerFault("not_written", f"{path} is {what}; expected another name. Nothing was overwritten.")
    if path.exists() and not folder and not path.is_file():
        raise LayerFault("not_written", f"{path} is no regular file; expected one. Give another name.")
    parent = path.absolute().parent
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
    """Return whether this package wrote a file, as far as the file says; an empty one counts as its own.

    Parameters
    ----------
    path
        A file that is there, or a geodatabase.
    """
    if path.is_dir():
        return not layers_of_others(path)
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
        return not head or _own_content(path, head)
    # A file that is not what it begins as, or is cut short, is somebody's.
    except (OSError, ValueError, zipfile.BadZipFile, sqlite3.Error):
        return False


def _own_content(path: Path, head: bytes) -> bool:
    found: bool
    if head.startswith(b"PK"):
        found = _own_zip(path)
    elif head.startswith(b"SQLite format 3"):
        found = not layers_of_others(path)
    elif head.startswith(b"PAR1"):
        found = _own_parquet(path)
    elif head.startswith(b"%PDF-"):
        found = b"(" + _MARK in path.read_bytes()
    elif head.startswith(b"\x89PNG"):
        found = b"Software\0" + _MARK in head
    else:
        text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if text.startswith((b"{", b"[")):
            found = _own_json(path, text)
        elif text.startswith(b"<"):
            found = _PAGE.search(head) is not None
        else:
            found = _own_text(head.decode("utf-8-sig", "replace"))
    return found


def _own_zip(path: Path) -> bool:
    """Return whether a zip file is one of this package's workbooks, shapefiles, KMZ or bundles."""
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        for name in ("docProps/core.xml", "doc.kml"):
            if name in names:
                with archive.open(name) as file:
                    return _MARK in file.read(10_000)
        if names >= {"dictionary.csv", "about.csv"}:
            with archive.open("dictionary.csv") as file:
                rows = csv.reader(file.read(_HEAD).decode("utf-8", "replace").splitlines())
            own = {"dictionary", "about", *(row[0] for row in rows if row)}
            return all(name.split(".")[0] in own for name in names)
        if "bundle.json" in names:
            with archive.open("bundle.json") as file:
                return _MARK in file.read(10_000)
    return False


def _own_parquet(path: Path) -> bool:
    import pyarrow as pa  # noqa: PLC0415 - only where a table is there
    import pyarrow.parquet as pq  # noqa: PLC0415 - same

    try:
        metadata = pq.read_schema(path).metadata or {}
    except pa.ArrowException:
        return False
    return bool(metadata.get(b"written_by", b"").startswith(_MARK))


def _own_json(path: Path, text: bytes) -> bool:
    # GeoJSON may be of any length, and says who wrote it at its beginning; so do records, one to a line.
    if _FEATURES.match(text):
        return re.search(rb'"(generator|description)": ?"[^"]{0,20}grownj-geo', text[:2_000]) is not None
    try:
        first = json.loads(text.partition(b"\n")[0])
    except (ValueError, RecursionError):
        first = None
    if _own_value(first):
        return True
    if path.stat().st_size > _LARGEST_JSON:
        return False
    try:
        return _own_value(json.loads(path.read_bytes().decode("utf-8-sig")))
    except RecursionError:
        return False


def _own_value(value: Any) -> bool:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, list):
        return bool(value) and all(_own_value(one) for one in value)
    if not isinstance(value, dict):
        return False
    return str(value.get("format", "")).startswith("grownj-") or any(keys <= value.keys() for keys in _KEYS)


def _own_text(text: str) -> bool:
    """Return whether a text is a table of this package's columns, or a report for a terminal."""
    rows = csv.reader(text.splitlines()[:2])
    try:
        header, second = next(rows, []), next(rows, [])
    except csv.Error:
        return False
    names = {name.removeprefix("grownj_") for name in header}
    return (
        names >= _ANSWERS
        or names >= _CREDITS
        or header[: len(_RECHECKED)] == _RECHECKED
        or header[: len(_WATCHED)] == _WATCHED
        or (header[:1] == [""] and second[:1] == ["source"])
        or _REPORT in " ".join(text.split())
    )


def _has_layers(path: Path) -> bool:
    return path.is_dir() or path.suffix.lower() == ".gpkg"


def layers_of_others(path: Path) -> list[str]:
    """Return the layers of a GeoPackage or a geodatabase that this package did not write.

    Its own are those that its dictionary names, and those whose description says so. What cannot be read is taken to be
    somebody's whole file.
    """
    if path.is_file() and path.stat().st_size == 0:
        return []
    import pyogrio  # noqa: PLC0415 - only where something is there

    try:
        with warnings.catch_warnings():
            # What is odd about somebody else's file is not this run's to tell.
            warnings.simplefilter("ignore")
            names = [str(name) for name, _ in pyogrio.list_layers(path).tolist()]
        own = _described(path) if path.is_file() else set()
        if {"dictionary", "about"} <= set(names):
            (layers,) = pyogrio.raw.read(path, layer="dictionary", columns=["layer"])[3]
            own |= {"dictionary", "about", *map(str, layers)}
    except (pyogrio.errors.DataSourceError, pyogrio.errors.DataLayerError, ValueError, sqlite3.Error) as error:
        return [f"not readable: {' '.join(str(error).split())[:120]}"]
    # Styles are of the layers: without one of its own, they are not this package's.
    own |= {"layer_styles"} if own else set()
    return [name for name in names if name not in own] if names else ["no layer that can be read"]


def _described(path: Path) -> set[str]:
    """Return the layers of a GeoPackage whose description says that this package wrote them."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as base:
        rows = base.execute("SELECT table_name, description FROM gpkg_contents").fetchall()
    return {str(name) for name, words in rows if WRITTEN_BY in str(words or "")}
