"""Where tables are: files of this machine, and objects in stores that fsspec reaches."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from grownj_geo.features import LayerFault

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["is_remote", "native", "refuse_same", "stamp", "table_path"]

_STORES = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "hdfs", "sftp", "smb", "memory"})
"""Protocols that are taken; not those of the web, nor those that wrap another."""


def table_path(text: str | Path) -> Path:
    """Return the path of a table: a local one, or one that behaves alike for a URL such as ``s3://bucket/lots.parquet``.

    Accounts and addresses of stores are those of fsspec's own settings.

    Parameters
    ----------
    text
        A path or a URL.

    Raises
    ------
    LayerFault
        ``wrong_store`` for another protocol, ``no_fsspec`` where the packages for it are not installed.

    Examples
    --------
    >>> is_remote(table_path("lots.parquet"))
    False
    >>> table_path("https://example.org/lots.parquet")
    Traceback (most recent call last):
    grownj_geo.features.LayerFault: ...
    """
    protocol, colon, _ = str(text).partition("://")
    if isinstance(text, Path) or not colon:
        return Path(text)
    if protocol not in _STORES or "::" in str(text):
        raise LayerFault(
            "wrong_store", f"{text} is in no store that is read; expected a path, or {', '.join(sorted(_STORES))}."
        )
    try:
        from upath import UPath  # noqa: PLC0415 - only stores need it

        found: Any = UPath(text)
        _ = found.fs
    except ImportError as error:
        raise LayerFault(
            "no_fsspec",
            f"{text} cannot be reached ({error}); expected the extra: pip install 'grownj-geo[dask]', and fsspec's "
            f"package for {protocol}.",
        ) from error
    # Not a Path by its type; all that is asked of it here, it has.
    path: Path = found
    return path


def is_remote(path: Path) -> bool:
    """Return whether a path is that of an object in a store."""
    return not isinstance(path, Path)


def native(path: Path) -> Path | IO[bytes]:
    """Return what libraries that know no stores can read: the path, or the object opened."""
    return path.open("rb") if is_remote(path) else path


def refuse_same(paths: Mapping[str, Path | None]) -> None:
    """Refuse to read and write one file, or to write two things into one.

    Parameters
    ----------
    paths
        By what each is; None for what is not wanted.

    Raises
    ------
    LayerFault
        ``same_file``.
    """
    seen: dict[str, str] = {}
    for name, path in paths.items():
        if path is None:
            continue
        before = seen.setdefault(str(path.resolve()), name)
        if before != name:
            raise LayerFault("same_file", f"{path} is {before} and {name}; expected two files. Nothing was written.")


def _files(path: Path) -> list[Path]:
    """Return all files of a table: those in its folder, those that go with a shapefile, a log beside."""
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.is_file() and file.suffix != ".lock")
    if path.suffix.lower() == ".shp":
        return sorted(file for file in path.parent.glob(f"{glob.escape(path.stem)}.*") if file.is_file())
    log = path.with_name(f"{path.name}-wal")
    return [path, log] if log.is_file() else [path]


def _size_and_time(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_size, status.st_mtime_ns


def stamp(path: Path) -> str:
    """Return what tells a table that was changed since: name, bytes and time, of an object its tag where it has one."""
    if not is_remote(path):
        return " ".join([path.name, *(f"{size} {time}" for size, time in map(_size_and_time, _files(path)))])
    store: Any = path
    about = store.fs.info(store.path)
    told = [str(about[key]) for key in ("ETag", "etag", "md5Hash", "LastModified", "mtime", "created") if key in about]
    return " ".join([path.name, str(about["size"]), *told])
