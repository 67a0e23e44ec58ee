"""Shapefiles, looked at byte by byte before GDAL reads them: it passes over what is cut off or damaged."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.features import Change, Features, LayerFault
from grownj_geo.readers_gdal import Announced, read_layer_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["ShapefileAbout", "about_shapefile", "read_shapefile", "shape_count", "shape_kind", "shapefile_parts"]

_MAGIC, _VERSION = 9994, 1000
_SHP_HEAD, _SHX_ENTRY, _DBF_HEAD, _DBF_FIELD = 100, 8, 32, 32
_KINDS = {0: "mixed", 1: "point", 3: "line", 5: "polygon", 8: "point", 31: "mixed"}
_NO_CURVES = 10
_END, _DELETED, _LONGEST_NAME = 0x0D, 0x2A, 10
# What the language byte of a .dbf says, as far as it is met in practice. The others are read as if nothing was said.
_LANGUAGES = {
    0x01: "cp437", 0x02: "cp850", 0x03: "cp1252", 0x57: "cp1252", 0x58: "cp1252", 0x59: "cp1252",
    0x64: "cp852", 0xC8: "cp1250", 0xC9: "cp1251", 0xCA: "cp1254", 0xCB: "cp1253", 0xCC: "cp1257",
}  # fmt: skip


@dataclass(frozen=True)
class _Field:
    name: bytes
    kind: str
    start: int
    length: int


def shapefile_parts(path: Path) -> dict[str, Path]:
    """Return the files of a shapefile that are there, by ending in small letters.

    Raises
    ------
    LayerFault
        ``missing_sidecar`` where .shx or .dbf is not there, or only under a name that GDAL does not find.
    """
    beside: dict[str, list[Path]] = {}
    for other in path.parent.iterdir():
        if other.stem.casefold() == path.stem.casefold() and other.is_file():
            beside.setdefault(other.suffix.casefold(), []).append(other)
    found: dict[str, Path] = {".shp": path}
    for suffix, needed in ((".shx", True), (".dbf", True), (".prj", False), (".cpg", False)):
        files = beside.get(suffix, [])
        fitting = [f for f in files if f.stem == path.stem and f.suffix in {suffix, suffix.upper()}]
        if fitting:
            found[suffix] = next((f for f in fitting if f.suffix == suffix), fitting[0])
        elif files:
            raise LayerFault(
                "missing_sidecar",
                f"{path.name} has its {suffix} only as {files[0].name}; expected {path.stem}{suffix}. "
                "Rename it: capitals count on some systems.",
            )
        elif needed:
            holds = "its attributes" if suffix == ".dbf" else "where each feature begins"
            raise LayerFault(
                "missing_sidecar",
                f"{path.name} has no {path.stem}{suffix} beside it, which holds {holds}. "
                "Expected .shp, .shx and .dbf together: get all files of the shapefile.",
            )
    return found


def _shp_head(path: Path) -> tuple[int, int]:
    """Return the file length in bytes that a .shp or .shx states, and its shape type."""
    with path.open("rb") as file:
        head = file.read(_SHP_HEAD)
    if len(head) < _SHP_HEAD:
        raise LayerFault(
            "truncated", f"{path.name} has {len(head)} bytes; expected a header of {_SHP_HEAD}. Get it again."
        )
    magic, version = int.from_bytes(head[:4], "big"), int.from_bytes(head[28:32], "little")
    if (magic, version) != (_MAGIC, _VERSION):
        raise LayerFault(
            "wrong_format",
            f"{path.name} begins with {head[:4]!r}; expected the header of a shapefile. Export it again as one.",
        )
    return 2 * int.from_bytes(head[24:28], "big"), int.from_bytes(head[32:36], "little")


def shape_kind(path: Path) -> str:
    """Return what a .shp holds: ``"polygon"``, ``"line"``, ``"point"`` or ``"mixed"``.

    Raises
    ------
    LayerFault
        ``truncated`` or ``wrong_format``.
    """
    code = _shp_head(path)[1]
    return _KINDS.get(code if code == 31 else code % _NO_CURVES, "mixed")  # noqa: PLR2004 - multipatch


def shape_count(path: Path) -> int:
    """Return how many shapes the .shx beside a .shp says that there are.

    Raises
    ------
    LayerFault
        ``missing_sidecar``, ``truncated`` or ``wrong_format``.
    """
    return max(0, (_shp_head(shapefile_parts(path)[".shx"])[0] - _SHP_HEAD) // _SHX_ENTRY)


@dataclass(frozen=True)
class ShapefileAbout:
    """What a shapefile's own bytes say, before GDAL reads it.

    Attributes
    ----------
    announced
        How many features there are, and how many without geometry.
    names
        Of its fields.
    options
        GDAL's options of opening it.
    changes
        What is to be told.
    """

    announced: Announced
    names: tuple[str, ...]
    options: dict[str, str]
    changes: tuple[Change, ...]


def about_shapefile(path: Path, *, encoding: str | None = None) -> ShapefileAbout:
    """Look through a shapefile byte by byte, and say what has to come out of it; see `read_shapefile`.

    Raises
    ------
    LayerFault
        ``missing_sidecar``, ``truncated``, ``wrong_format``, ``broken_geometry`` or ``wrong_encoding``.
    """
    parts = shapefile_parts(path)
    changes: list[Change] = []
    types, trailing = _check_shapes(path, parts[".shx"])
    table = _Table(parts[".dbf"])
    if len(table.rows) != len(types):
        raise LayerFault(
            "truncated",
            f"{path.name} has {len(types):,} shapes and {parts['.dbf'].name} {len(table.rows):,} rows; expected one "
            "row for each. Get all files of the shapefile again, from one export.",
        )
    if trailing:
        words = f"{path.name} goes on for {trailing:,} bytes after the end that its header states; they were not read."
        changes.append(Change(kind="bytes_after_end", effect="noted", count=1, words=words))
    deleted = table.deleted
    if deleted.any():
        words = "Rows that are marked as deleted in the .dbf were not read."
        changes.append(Change.about("deleted_rows", "noted", np.flatnonzero(deleted) + 1, words))
    codec = _encoding(table, parts.get(".cpg"), encoding, changes)
    names = tuple(f.name.decode(codec, "replace") for f in table.fields)
    cut = [name for name, f in zip(names, table.fields, strict=True) if len(f.name) == _LONGEST_NAME]
    if cut:
        words = f"Field names of 10 letters may have been cut off by the format: {', '.join(cut)}."
        changes.append(Change(kind="field_names_cut", effect="noted", count=len(cut), words=words))
    announced = Announced(int((~deleted).sum()), int((types[~deleted] == 0).sum()))
    return ShapefileAbout(announced, names, {"ENCODING": _gdal_name(codec)}, tuple(changes))


def read_shapefile(path: Path, *, source: str, encoding: str | None = None) -> Features:
    """Read a shapefile.

    Text is read as the .cpg says, else as the .dbf's language byte says; where neither does, as UTF-8 if all of it
    can be, and else as Windows-1252, and that is told. Text that cannot be what was declared is refused. So is
    text declared in a one-byte encoding of which every letter beyond ASCII is well-formed UTF-8: it would come out as
    in "PeÃ±a".

    Parameters
    ----------
    path
        The .shp.
    source
        What messages call it.
    encoding
        What the text is in, whatever the file declares.

    Raises
    ------
    LayerFault
        ``missing_sidecar``, ``truncated``, ``wrong_format``, ``broken_geometry``, ``wrong_encoding``, or what
        `read_layer_of` raises.
    """
    about = about_shapefile(path, encoding=encoding)
    features = read_layer_of(
        str(path),
        layer=None,
        source=source,
        drivers=("ESRI Shapefile",),
        announced=about.announced,
        options=about.options,
    )
    _check_text(features, about.names)
    return Features(source, features.columns, features.geometries, features.crs, (*about.changes, *features.changes))


def _check_text(features: Features, names: tuple[str, ...]) -> None:
    if set(features.columns) != set(names):
        raise LayerFault(
            "unreadable",
            f"{features.source}: the fields read are {', '.join(features.columns)}; expected {', '.join(names)}, as "
            "the .dbf says. Rename its fields so that each name stands once, or export it as a GeoPackage.",
        )


def _check_shapes(shp: Path, shx: Path) -> tuple[NDArray[np.int64], int]:
    """Return each record's shape type, shape (n,), after following the index through the file."""
    stated, _ = _shp_head(shp)
    size = shp.stat().st_size
    index_stated, _ = _shp_head(shx)
    index_size = shx.stat().st_size
    for path, has, says in ((shp, size, stated), (shx, index_size, index_stated)):
        if has < says:
            raise LayerFault(
                "truncated", f"{path.name} has {has:,} bytes; expected {says:,}, as its header says. Get it again."
            )
    count = (index_stated - _SHP_HEAD) // _SHX_ENTRY
    if count <= 0:
        return np.empty(0, dtype=np.int64), size - stated
    index = np.fromfile(shx, dtype=">i4", count=2 * count, offset=_SHP_HEAD).reshape(-1, 2).astype(np.int64) * 2
    at, length = index[:, 0], index[:, 1]
    bad = (at < _SHP_HEAD) | (length < 4) | (at + 8 + length > size)  # noqa: PLR2004 - a shape's type has 4 bytes
    content = np.memmap(shp, dtype=np.uint8, mode="r")
    heads = content[np.where(bad, _SHP_HEAD - 12, at)[:, None] + np.arange(12)]
    numbers = heads[:, :8].copy().view(">i4").astype(np.int64)
    bad |= (numbers[:, 0] != np.arange(1, count + 1)) | (numbers[:, 1] * 2 != length)
    if bad.any():
        row = int(bad.argmax()) + 1
        raise LayerFault(
            "truncated",
            f"{shp.name}, row {row}: {shx.name} says that the shape begins at byte {at[row - 1]:,} and is "
            f"{length[row - 1]:,} bytes long, and no such shape is there. Get both files again, from one export.",
        )
    return heads[:, 8:].copy().view("<i4").astype(np.int64)[:, 0], size - stated


class _Table:
    """The rows of a .dbf as bytes, shape (n, length of a row)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            head = file.read(_DBF_HEAD)
            count, start = int.from_bytes(head[4:8], "little"), int.from_bytes(head[8:10], "little")
            width = int.from_bytes(head[10:12], "little")
            described = file.read(max(start - _DBF_HEAD, 0))
        size = path.stat().st_size
        if len(head) < _DBF_HEAD or start <= _DBF_HEAD or width < 1:
            raise LayerFault("wrong_format", f"{path.name} has no header of a .dbf. Get or export it again.")
        if size < start + count * width:
            raise LayerFault(
                "truncated",
                f"{path.name} has {size:,} bytes; expected {start + count * width:,} for the {count:,} rows that its "
                "header states. Get it again.",
            )
        self.language = head[29]
        self.fields = list(_fields(described))
        if not self.fields or self.fields[-1].start + self.fields[-1].length > width:
            raise LayerFault("wrong_format", f"{path.name} describes fields that do not fit into its rows.")
        rows = np.memmap(path, dtype=np.uint8, mode="r", offset=start, shape=(count, width)) if count else None
        self.rows: NDArray[np.uint8] = np.empty((0, width), dtype=np.uint8) if rows is None else rows

    @property
    def deleted(self) -> NDArray[np.bool_]:
        """Which rows are marked as deleted."""
        return np.asarray(self.rows[:, 0] == _DELETED)

    def beyond_ascii(self) -> Iterator[tuple[str, int, bytes, int]]:
        """Return place, row, content and field width of every text that has a byte beyond ASCII."""
        for f in self.fields:
            if max(f.name, default=0) > 127:  # noqa: PLR2004 - the end of ASCII
                yield "the field name", 0, f.name, _LONGEST_NAME
        for f in self.fields:
            if f.kind != "C":
                continue
            cells = self.rows[:, f.start : f.start + f.length]
            for row in np.flatnonzero((cells > 127).any(axis=1)):  # noqa: PLR2004
                yield f.name.decode("ascii", "replace"), int(row) + 1, cells[row].tobytes().rstrip(b" \0"), f.length


def _fields(described: bytes) -> Iterator[_Field]:
    start = 1
    for at in range(0, len(described) - 1, _DBF_FIELD):
        if described[at] == _END:
            return
        one = described[at : at + _DBF_FIELD]
        if len(one) < _DBF_FIELD:
            return
        kind = chr(one[11])
        # Long text uses the byte of decimals for its length too.
        length = one[16] + (one[17] << 8 if kind == "C" else 0)
        yield _Field(one[:11].split(b"\0")[0], kind, start, length)
        start += length


def _codec(name: str, path: str) -> str:
    typed = name.strip()
    number = re.fullmatch(r"(?:ANSI|OEM|CP|WINDOWS|LDID)?[\s/_-]*(\d{3,5})", typed, re.IGNORECASE)
    tries = [typed]
    if number is not None:
        tries = {"65001": ["utf-8"], "88591": ["iso-8859-1"]}.get(number[1], [f"cp{number[1]}"])
    tries.append(re.sub(r"^8859[-_]?", "iso-8859-", typed.replace(" ", "")))
    for one in tries:
        try:
            return codecs.lookup(one).name
        except LookupError:
            continue
    raise LayerFault(
        "wrong_encoding",
        f"{path} says that text is in {typed[:40]!r}, which is not known. Name the encoding when loading, such as "
        "utf-8 or cp1252.",
    )


def _gdal_name(codec: str) -> str:
    return {"utf-8": "UTF-8", "cp65001": "UTF-8"}.get(codec, codec.upper().replace("ISO8859", "ISO-8859"))


def _encoding(table: _Table, cpg: Path | None, given: str | None, changes: list[Change]) -> str:
    """Return the codec to read text with, after trying it on all text that it matters for."""
    said = cpg.read_bytes()[:100].decode("ascii", "replace").strip("\ufeff\0 \r\n\t") if cpg is not None else ""
    declared, by = None, ""
    if given is not None:
        declared, by = _codec(given, "The encoding named"), "as named"
    elif said and cpg is not None:
        declared, by = _codec(said, cpg.name), f"as {cpg.name} says"
    elif table.language in _LANGUAGES:
        declared, by = _LANGUAGES[table.language], f"as the language byte of {table.path.name} says"
    texts = list(table.beyond_ascii())
    if declared is None:
        declared = "utf-8" if all(_fits(t, "utf-8", width) for _, _, t, width in texts) else "cp1252"
        by = "which is a guess: the files say nothing"
        if texts:
            words = (
                f"Text was read as {declared}; the files do not say what it is in. Name the encoding if it is wrong."
            )
            rows = [row for _, row, _, _ in texts]
            changes.append(Change.about("encoding_taken", "noted", rows, words))
    for place, row, text, width in texts:
        if not _fits(text, declared, width):
            raise LayerFault(
                "wrong_encoding",
                f"{table.path.name}, row {row}, {place}: {text[:60]!r} is no text in {declared} ({by}). "
                "Name the right encoding when loading, such as cp1252 or utf-8.",
            )
    if texts and given is None and declared != "utf-8" and all(_fits(t, "utf-8", width) for _, _, t, width in texts):
        place, row, text, _ = texts[0]
        raise LayerFault(
            "wrong_encoding",
            f"{table.path.name}, row {row}, {place}: {text[:60].decode(declared, 'replace')!r} looks like UTF-8 read "
            f"as {declared} ({by}). Name the encoding when loading: utf-8, or {declared} if it is right.",
        )
    return declared


def _fits(text: bytes, codec: str, width: int) -> bool:
    """Return whether bytes are text in an encoding; a letter cut in two by a full field's end does not count."""
    try:
        codecs.getincrementaldecoder(codec)().decode(text, final=len(text) < width)
    except UnicodeDecodeError:
        return False
    return True
