"""The files that hold layers: in a folder, in an archive, or alone; safe to be handed to a reader.

What a file is, its own first bytes have to say too, not only its ending; nothing but local files is ever opened.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grownj_geo.archive import ARCHIVE_SUFFIXES, Limits, unpack
from grownj_geo.features import Change, LayerFault

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["DEFAULT_LIMITS", "FORMATS", "LayerFile", "layer_files", "safe_path"]

FORMATS = {
    ".shp": "shapefile",
    ".gdb": "geodatabase",
    ".gpkg": "geopackage",
    ".geojson": "geojson",
    ".json": "geojson",
    ".geojsonl": "geojson",
    ".geojsons": "geojson",
    ".ndjson": "geojson",
    ".kml": "kml",
    ".parquet": "parquet",
    ".geoparquet": "parquet",
    ".csv": "text",
    ".tsv": "text",
    ".txt": "text",
}
"""Formats by the file's ending, in small letters."""

_TAKEN = "file geodatabases, shapefiles, GeoPackages, GeoJSON, KML, KMZ, GeoParquet, CSV, and zip files with one"
# A file beside others counts as one of these only where its content says so: archives hold notes and settings too.
_DOUBTFUL = frozenset({".json", ".txt"})
_BY_DIRECTION = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
# pyogrio takes what follows an exclamation mark for a path inside an archive, and a question mark for a query.
_UNSAFE = re.compile(r"[!?#*|]")

DEFAULT_LIMITS = Limits()
"""How much an archive may hold where nobody says more."""


@dataclass(frozen=True)
class LayerFile:
    """A file or folder to read: where it is, and what it is called inside what was given."""

    path: Path
    name: str
    format: str


def _local(path: Path) -> Path:
    """Return the absolute path of a local file or folder; refuse anything that GDAL might take for more."""
    typed = str(path)
    if not path.exists():
        if typed.startswith(("/vsi", "\\vsi")) or _BY_DIRECTION.match(typed):
            raise LayerFault(
                "not_allowed",
                f"{typed[:200]!r} is no local file; expected the path of one. Download it first, or use a fetch.",
            )
        raise LayerFault("not_found", f"There is no {typed!r}; expected the path of a file or folder.")
    found = path.resolve()
    if str(found).startswith("/vsi"):
        raise LayerFault("not_allowed", f"{typed[:200]!r} cannot be told from a virtual path; move the file elsewhere.")
    if found.is_file() and not found.stat().st_size:
        raise LayerFault("truncated", f"{found.name} is empty; expected a layer. Export it again.")
    if not (found.is_file() or found.is_dir()):
        raise LayerFault("not_allowed", f"{typed!r} is neither a file nor a folder; expected a file.")
    return found


def layer_files(path: Path, scratch: Path, limits: Limits = DEFAULT_LIMITS) -> tuple[list[LayerFile], list[Change]]:
    """Return what can be read in a file, archive or folder, and what is to be told of the rest."""
    found = _local(path)
    if found.is_file() and found.suffix.lower() in ARCHIVE_SUFFIXES:
        unpacked = scratch / "unpacked"
        members = unpack(found, unpacked, limits=limits)
        nested = sorted(m.name for m in members if m.suffix.lower() in ARCHIVE_SUFFIXES)
        files = _inside(unpacked.resolve(), unpacked.resolve(), deep=True)
        if not files:
            more = f" The archives inside ({', '.join(nested[:5])}) are not opened: unpack them." if nested else ""
            raise _no_layer(path.name, f"has {len(members):,} files, none of which can be read", more)
        words = f"Archives inside were not opened: {', '.join(nested[:5])}."
        told = [Change(kind="nested_archive", effect="noted", count=len(nested), words=words)] if nested else []
        return files, told
    if found.is_dir():
        if _is_database(found):
            return [LayerFile(found, found.name, "geodatabase")], []
        files = _inside(found, found, deep=False)
        if not files:
            raise _no_layer(path.name, "is a folder without a file that can be read", "")
        return files, []
    kind = FORMATS.get(found.suffix.lower())
    if kind is None or kind == "geodatabase":
        raise LayerFault(
            "wrong_format", f"{found.name} ends in {found.suffix or 'nothing'}; expected {_TAKEN}. Export it as one."
        )
    return [LayerFile(found, found.name, kind)], []


def _no_layer(name: str, problem: str, more: str) -> LayerFault:
    return LayerFault("no_layer", f"{name} {problem}; expected {_TAKEN}.{more}")


def _is_database(folder: Path) -> bool:
    return any(p.suffix.lower() == ".gdbtable" for p in folder.iterdir())


def _inside(folder: Path, root: Path, *, deep: bool) -> list[LayerFile]:
    found: list[LayerFile] = []
    for path in sorted(folder.iterdir()):
        name = path.relative_to(root).as_posix()
        # What macOS packs beside each file has the file's own ending.
        if path.name.startswith((".", "__MACOSX")) or path.is_symlink():
            continue
        if path.is_dir():
            if _is_database(path):
                found.append(LayerFile(path, name, "geodatabase"))
            elif deep:
                found += _inside(path, root, deep=True)
            continue
        kind = FORMATS.get(path.suffix.lower(), "geodatabase")
        if kind != "geodatabase" and (path.suffix.lower() not in _DOUBTFUL or _speaks(path, kind)):
            found.append(LayerFile(path, name, kind))
    if deep and folder == root and _is_database(root):
        return [LayerFile(root, "database.gdb", "geodatabase"), *found]
    return found


def _speaks(path: Path, kind: str) -> bool:
    """Return whether a file with an ending that says little is a layer."""
    if kind != "geojson":
        return False
    with path.open("rb") as file:
        return b'"Feature' in file.read(1 << 20)


def safe_path(file: LayerFile, scratch: Path) -> Path:
    """Return a path that pyogrio and GDAL take as it stands: a copy where the name has signs that mean more."""
    path = file.path
    named = file.format != "geodatabase" or path.suffix.lower() == ".gdb"
    if named and not _UNSAFE.search(str(path)):
        return path
    folder = scratch / f"copy{abs(hash(str(path)))}"
    if folder.exists():
        return next(p for p in folder.iterdir() if p.suffix.lower() in {path.suffix.lower(), ".gdb"})
    folder.mkdir()
    if file.format == "geodatabase":
        target = folder / "database.gdb"
        target.mkdir()
        for part in path.iterdir():
            if part.is_file() and not part.is_symlink():
                shutil.copyfile(part, target / part.name)
        return target
    for part in path.parent.iterdir():
        if part.stem == path.stem and part.is_file():
            shutil.copyfile(part, folder / f"layer{part.suffix}")
    return folder / f"layer{path.suffix}"
