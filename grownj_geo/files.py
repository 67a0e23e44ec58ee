"""Files that appear when they are whole: written beside their place, on the disk, then renamed."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "Seen",
    "expect_as_seen",
    "expect_nothing",
    "look_at",
    "one_writer",
    "put_as_seen",
    "put_file",
    "put_new_file",
    "written_beside",
]

Seen = tuple[int, int, int] | None
"""What is at a place: file number, time of the last change in ns, and size in bytes; None for nothing."""

_EXPECTED: dict[str, Seen] = {}


def put_file(written: Path, target: Path) -> None:
    """Put a file that is written in the place where it is looked for, so that it is there whole or not at all.

    A link is followed: what it points to is replaced, and it stays.

    Raises
    ------
    OSError
        If it cannot be put there; with ``EBUSY`` where `expect_as_seen` was told of the place, and it has changed.
    """
    place = os.path.realpath(target)
    if place in _EXPECTED:
        put_as_seen(written, target, _EXPECTED[place])
        del _EXPECTED[place]
        return
    _to_disk(written)
    written.replace(place)


def look_at(target: Path) -> Seen:
    """Return what is at a place, so that it can be told later whether that is still so; a link is followed."""
    try:
        found = target.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def expect_as_seen(target: Path, seen: Seen) -> None:
    """Let `put_file` put the next file at a place only if that is as it was seen, until `expect_nothing`.

    Between looking whether a file may be replaced and replacing it lies the work, which may take hours.
    """
    _EXPECTED[os.path.realpath(target)] = seen


def expect_nothing() -> None:
    """Forget what was to be found at places: the command that looked at them is done."""
    _EXPECTED.clear()


def put_as_seen(written: Path, target: Path, seen: Seen) -> None:
    """Put a file that is written in a place that is as it was seen, so that it is there whole or not at all.

    Raises
    ------
    OSError
        With ``EBUSY`` if the place is otherwise by now, and whatever the system says where it cannot be put there.
    """
    changed = OSError(
        errno.EBUSY, "something came there or was changed while this was worked on, and it was left as it is"
    )
    if seen is None:
        try:
            put_new_file(written, target)
        except FileExistsError as error:
            raise changed from error
        return
    _to_disk(written)
    if look_at(target) != seen:
        raise changed
    written.replace(os.path.realpath(target))


def put_new_file(written: Path, target: Path) -> None:
    """Put a file that is written in a place where nothing is, so that it is there whole or not at all.

    Raises
    ------
    FileExistsError
        If anything has the name by now, even since a moment ago; it is as it was then.
    OSError
        If it cannot be put there; nothing is there then.
    """
    target = Path(os.path.realpath(target))
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
        return
    # Both names are of one file now: whoever wrote to the first again would write into the target.
    written.unlink()


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
        In the folder of the target, or of what it points to, with the target's name; removed where the block fails.

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
        prefix=".grownj-", suffix=".part", dir=Path(os.path.realpath(target)).parent, ignore_cleanup_errors=True
    ) as folder:
        # It keeps the name that was asked for: some writers go by its ending.
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
