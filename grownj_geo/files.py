"""Files that appear when they are whole: written beside their place, on the disk, then renamed."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["one_writer", "put_file", "put_new_file", "written_beside"]


def put_file(written: Path, target: Path) -> None:
    """Put a file that is written in the place where it is looked for, so that it is there whole or not at all."""
    _to_disk(written)
    written.replace(target)


def put_new_file(written: Path, target: Path) -> None:
    """Put a file that is written in a place where nothing is, so that it is there whole or not at all.

    Raises
    ------
    FileExistsError
        If anything has the name by now, even since a moment ago; it is as it was then.
    OSError
        If it cannot be put there; nothing is there then.
    """
    _to_disk(written)
    try:
        os.link(written, target)
    except FileExistsError:
        raise
    except OSError:
        # Some file systems have no links: take the name first, then put the file there.
        target.open("xb").close()
        try:
            written.replace(target)
        except BaseException:
            target.unlink(missing_ok=True)
            raise


def _to_disk(written: Path) -> None:
    # Renaming a file that is not on the disk yet could show an empty one after a power cut.
    with written.open("rb+") as file:
        os.fsync(file.fileno())


@contextmanager
def written_beside(target: Path, *, new: bool = False) -> Iterator[Path]:
    """Give the path of a file to write, which takes the target's place when the block ends without an error.

    Until then the target is as it was, and two runs that write it never write into one file: each has its own.

    Parameters
    ----------
    target
        Where the file is looked for.
    new
        Whether nothing may be there: what has come there meanwhile is not replaced either.

    Yields
    ------
    Path
        In the target's folder, with the target's ending; removed where the block fails.

    Raises
    ------
    OSError
        If it cannot be written; FileExistsError where it had to be new and something is there.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Path(folder) / "site.txt"
    ...     with written_beside(target) as beside:
    ...         _ = beside.write_text("whole")
    ...         before = target.exists()
    ...     before, target.read_text(), [path.name for path in Path(folder).iterdir()]
    (False, 'whole', ['site.txt'])
    """
    # A folder of its own: the name is nobody else's, and what makes the file sees nothing there that it would add to.
    with tempfile.TemporaryDirectory(
        prefix=".grownj-", suffix=".part", dir=target.parent, ignore_cleanup_errors=True
    ) as folder:
        beside = Path(folder) / target.name
        yield beside
        (put_new_file if new else put_file)(beside, target)


@contextmanager
def one_writer(root: Path, *, timeout_s: float) -> Iterator[Path]:
    """Lock a store for one writer, and give it an empty folder in there that goes when it is done.

    Raises
    ------
    filelock.Timeout
        If somebody else writes for longer than that.
    OSError
        If the folder cannot be written.
    """
    import filelock  # noqa: PLC0415 - writing is rare

    root.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(root / ".lock", timeout=timeout_s):
        incoming = root / "incoming"
        # Nobody else writes now: what lies here was left by a run that was stopped.
        shutil.rmtree(incoming, ignore_errors=True)
        beside = incoming / f"add-{uuid.uuid4().hex}"
        beside.mkdir(parents=True)
        try:
            yield beside
        finally:
            shutil.rmtree(incoming, ignore_errors=True)
