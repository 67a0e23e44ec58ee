"""Whole records of many sites in one file, a JSON object a line, that survives being stopped."""

from __future__ import annotations

import hashlib
import os
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from grownj_geo.features import LayerFault
from grownj_geo.files import put_file
from grownj_geo.tableparts import disk_faults

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = ["RecordLines", "records_file"]


class RecordLines:
    """Writes the records of blocks of sites beside a file, which appears when all are there."""

    def __init__(self, path: Path, beside: Path, file: IO[bytes]) -> None:
        self._path, self._beside, self._file = path, beside, file

    def add(self, lines: bytes) -> int:
        """Write the records of a block, a line each; return the size of the file so far, in bytes."""
        with disk_faults(self._path):
            self._file.write(lines)
            self._file.flush()
            os.fsync(self._file.fileno())
        return self._file.tell()

    def finish(self) -> None:
        """Put the file into place."""
        self._file.close()
        with disk_faults(self._path):
            put_file(self._beside, self._path)


class _NoRecords(RecordLines):
    """Nobody asked for records."""

    def __init__(self) -> None:
        """Open nothing."""

    def add(self, lines: bytes) -> int:  # noqa: ARG002 - as the other has it
        """Write nothing."""
        return 0

    def finish(self) -> None:
        """Do nothing."""


@contextmanager
def records_file(path: Path | None, table: Path, tallies: Sequence[Mapping[str, Any]]) -> Iterator[RecordLines]:
    """Open a file of records, going on after the blocks that an earlier run wrote whole.

    Parameters
    ----------
    path
        The file; None for none.
    table
        The table beside which it is written: whoever writes that one, holds this one's part too.
    tallies
        What is known of the blocks that are written, each with its ``evidence_bytes``.

    Raises
    ------
    LayerFault
        ``disk_full`` or ``not_written``; ``damaged_part`` where what an earlier run wrote is no longer there.
    """
    if path is None:
        yield _NoRecords()
        return
    mark = hashlib.sha256(str(table.absolute()).encode()).hexdigest()[:8]
    # Beside what a link points to, so that it can be renamed.
    beside = path.resolve().with_name(f".{path.name}.{mark}.part")
    size = int(tallies[-1]["evidence_bytes"]) if tallies else 0
    there = beside.stat().st_size if beside.is_file() else 0
    if there < size:
        raise LayerFault(
            "damaged_part",
            f"{beside} has {there:,} bytes of records; an earlier run wrote {size:,}. Begin anew without --resume.",
        )
    with disk_faults(path):
        file = beside.open("r+b" if size else "wb")
    try:
        # What came after the last whole block belongs to none.
        file.truncate(size)
        file.seek(size)
        yield RecordLines(path, beside, file)
    finally:
        file.close()
