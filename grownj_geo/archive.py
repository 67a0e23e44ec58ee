"""Unpacking zip and kmz files that a stranger may have made: looked through whole before anything is written."""

from __future__ import annotations

import os
import stat
import unicodedata
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, TYPE_CHECKING

from grownj_geo.features import LayerFault

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ARCHIVE_SUFFIXES", "Limits", "unpack"]

ARCHIVE_SUFFIXES = frozenset({".zip", ".kmz"})
"""Endings of files that are unpacked."""

_CHUNK = 1 << 20
_ENCRYPTED = 0x1 | 0x40
_LONGEST_NAME = 255
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA})
_FORBIDDEN = frozenset('<>:"|?*')
_GIB = 1 << 30


@dataclass(frozen=True)
class Limits:
    """How much an archive may hold; more is refused.

    Attributes
    ----------
    members
        Files and folders.
    total_bytes, single_bytes
        All files together, and one file, when unpacked.
    ratio
        How many times larger a file may become when unpacked, where it becomes larger than `ratio_above_bytes`.
    """

    members: int = 2_000
    total_bytes: int = 4 * _GIB
    single_bytes: int = 4 * _GIB
    ratio: float = 200.0
    ratio_above_bytes: int = 10 << 20


def unpack(path: Path, into: Path, *, limits: Limits = Limits()) -> list[Path]:
    """Unpack a zip or kmz file into a folder, and return the files that were written, in the archive's order.

    Every member is looked at before the first byte is written, and the bytes are counted as they come out, whatever
    the archive says of itself. An archive inside the archive is written as the file that it is, and not opened.

    Parameters
    ----------
    path
        The archive.
    into
        The folder, made where it does not exist. Nothing is written outside of it, and nothing in it replaced.
    limits
        How much the archive may hold.

    Raises
    ------
    LayerFault
        ``archive_broken``, ``archive_count``, ``archive_path``, ``archive_symlink``, ``archive_encrypted``,
        ``archive_duplicate``, ``archive_bomb`` or ``archive_write``. What had been written by then is removed again.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with zipfile.ZipFile(folder / "areas.zip", "w") as archive:
    ...     archive.writestr("Planning/areas.txt", "a")
    >>> [file.name for file in unpack(folder / "areas.zip", folder / "out")]
    ['areas.txt']
    """
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise _broken(path, error) from error
    except OSError as error:
        raise LayerFault(
            "not_found", f"The archive {path.name} cannot be opened ({error.strerror}). Expected a readable file."
        ) from error
    with archive:
        members = archive.infolist()
        _check_members(path.name, members, limits)
        return _extract(path, archive, [m for m in members if not m.is_dir()], into, limits)


def _broken(path: Path, error: Exception) -> LayerFault:
    return LayerFault(
        "archive_broken",
        f"The archive {path.name} cannot be read ({error}). Expected a whole zip file: get it again, or pack it anew.",
    )


def _check_members(name: str, members: list[zipfile.ZipInfo], limits: Limits) -> None:
    if len(members) > limits.members:
        raise LayerFault(
            "archive_count",
            f"The archive {name} has {len(members):,} members; expected at most {limits.members:,}. "
            "Pack only the layer's own files.",
        )
    for member in members:
        _check_kind(name, member)
        _check_path(name, member.orig_filename)
    _check_names(name, [member.filename for member in members])
    for member in members:
        _check_size(name, member, limits)
    total = sum(member.file_size for member in members)
    if total > limits.total_bytes:
        raise _bomb(name, f"would unpack to {total:,} bytes", f"at most {limits.total_bytes:,}")


def _bomb(name: str, found: str, expected: str) -> LayerFault:
    return LayerFault(
        "archive_bomb",
        f"The archive {name} {found}; expected {expected}. Unpack it yourself if you trust it, and import the file.",
    )


def _check_kind(name: str, member: zipfile.ZipInfo) -> None:
    mode = member.external_attr >> 16
    kind = stat.S_IFMT(mode)
    if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
        what = "a symbolic link" if kind == stat.S_IFLNK else "no ordinary file"
        raise LayerFault(
            "archive_symlink",
            f"The archive {name} has the member {member.filename!r}, which is {what}. "
            "Expected files and folders only: pack the files themselves.",
        )
    if member.flag_bits & _ENCRYPTED:
        raise LayerFault(
            "archive_encrypted",
            f"The archive {name} has the member {member.filename!r}, which is encrypted. "
            "Unpack it with its password and import the file inside.",
        )
    if member.compress_type not in _METHODS:
        raise LayerFault(
            "archive_broken",
            f"The archive {name} has the member {member.filename!r}, packed by method {member.compress_type}, which "
            "cannot be read. Expected deflate: pack it anew.",
        )


def _check_path(name: str, typed: str) -> None:
    """Refuse a name that is not a plain path downwards on every system."""
    parts = typed.removesuffix("/").split("/")
    problem = None
    if "\\" in typed:
        problem = "has a backslash"
    elif any(unicodedata.category(c) == "Cc" for c in typed):
        problem = "has a control character"
    elif typed.startswith("/") or PureWindowsPath(typed).drive:
        problem = "is absolute"
    elif ".." in parts:
        problem = "climbs out of the folder"
    elif any(part in {"", "."} for part in parts):
        problem = "has an empty part"
    elif any(set(part) & _FORBIDDEN or part != part.rstrip(". ") or _is_device(part) for part in parts):
        problem = "is no file name on every system"
    elif any(len(part.encode()) > _LONGEST_NAME for part in parts):
        problem = "is too long"
    if problem is not None:
        raise LayerFault(
            "archive_path",
            f"The archive {name} has a member named {typed[:_LONGEST_NAME]!r}, which {problem}. "
            "Expected plain paths such as 'Planning/areas.shp': pack it anew.",
        )


def _is_device(part: str) -> bool:
    # Written out: what the standard library offers changed its name between versions of Python.
    stem = part.split(".", maxsplit=1)[0].rstrip().upper()
    return stem in {"CON", "PRN", "AUX", "NUL"} or (stem[:3] in {"COM", "LPT"} and stem[3:] in set("123456789"))


def _check_names(name: str, names: Iterable[str]) -> None:
    """Refuse names that are, or on some systems become, the same."""
    seen: dict[str, str] = {}
    folders: dict[str, str] = {}
    for typed in names:
        key = _key(typed.removesuffix("/"))
        is_folder = typed.endswith("/")
        if key in seen or (not is_folder and key in folders):
            raise _duplicate(name, typed, seen.get(key, folders.get(key, typed)))
        if is_folder:
            folders[key] = typed
        else:
            seen[key] = typed
        for parent in PurePosixPath(typed.removesuffix("/")).parents:
            if parent.name:
                folders.setdefault(_key(str(parent)), typed)
    for key, typed in folders.items():
        if key in seen:
            raise _duplicate(name, typed, seen[key])


def _key(typed: str) -> str:
    return unicodedata.normalize("NFC", typed).casefold()


def _duplicate(name: str, one: str, other: str) -> LayerFault:
    return LayerFault(
        "archive_duplicate",
        f"The archive {name} has the members {other!r} and {one!r}, which are one file on some systems. "
        "Expected every name once: pack it anew.",
    )


def _check_size(name: str, member: zipfile.ZipInfo, limits: Limits) -> None:
    if member.file_size > limits.single_bytes:
        raise _bomb(
            name,
            f"has the member {member.filename!r} of {member.file_size:,} bytes",
            f"at most {limits.single_bytes:,}",
        )
    _check_ratio(name, member, member.file_size, limits)


def _check_ratio(name: str, member: zipfile.ZipInfo, size: int, limits: Limits) -> None:
    if size > limits.ratio_above_bytes and size > limits.ratio * max(member.compress_size, 1):
        raise _bomb(
            name,
            f"has the member {member.filename!r}, which grows from {member.compress_size:,} to {size:,} bytes or more",
            f"at most {limits.ratio:g} times as much",
        )


def _check_inside(name: str, member: zipfile.ZipInfo, target: Path, root: Path) -> None:
    if not target.parent.resolve().is_relative_to(root):
        raise LayerFault(
            "archive_path",
            f"The archive {name}: {member.filename!r} would be written outside of {root}. "
            "Expected a folder without links; choose an empty one.",
        )


def _extract(
    path: Path, archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], into: Path, limits: Limits
) -> list[Path]:
    written: list[Path] = []
    try:
        into.mkdir(parents=True, exist_ok=True)
        root = into.resolve()
        budget = limits.total_bytes
        for member in members:
            target = root.joinpath(*PurePosixPath(member.filename).parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            # The folder may have held a link before: the names alone do not prove where the file would land.
            _check_inside(path.name, member, target, root)
            with archive.open(member) as source, target.open("xb") as sink:
                written.append(target)
                budget -= _pour(path.name, member, source, sink, limits, budget)
    except LayerFault:
        _remove(written)
        raise
    except OSError as error:
        _remove(written)
        raise LayerFault(
            "archive_write",
            f"The archive {path.name} cannot be unpacked into {into} ({error.strerror or error}). "
            "Expected an empty folder with room enough.",
        ) from error
    # A damaged deflate, bzip2 or lzma stream raises an error of its own library; all of them mean the same here.
    except Exception as error:
        _remove(written)
        raise _broken(path, error) from error
    return written


def _pour(  # noqa: PLR0917 - one call, in one place
    name: str, member: zipfile.ZipInfo, source: IO[bytes], sink: IO[bytes], limits: Limits, budget: int
) -> int:
    size = 0
    while chunk := source.read(_CHUNK):
        size += len(chunk)
        if size > min(budget, limits.single_bytes):
            raise _bomb(name, f"unpacks to more than it says at {member.filename!r}", f"at most {limits.total_bytes:,}")
        _check_ratio(name, member, size, limits)
        sink.write(chunk)
    if size != member.file_size:
        raise LayerFault(
            "archive_broken",
            f"The archive {name}: {member.filename!r} has {size:,} bytes, announced are {member.file_size:,}. "
            "Get the archive again.",
        )
    return size


def _remove(files: list[Path]) -> None:
    for file in files:
        os.unlink(file)  # noqa: PTH108 - the file was made here, a moment ago
