"""The parts of a table that is being written: one file for each block, whole or not there, so that a run can go on."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from grownj_geo.features import LayerFault
from grownj_geo.files import put_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Parts", "disk_faults", "parts_done"]

_FULL = frozenset({errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)})
_PLAN = "plan.json"
_LOCK = "lock"
_WRITING = ".writing"


@contextmanager
def disk_faults(path: Path) -> Iterator[None]:
    """Say in the project's words that something could not be written.

    Raises
    ------
    LayerFault
        ``disk_full`` where there is no room, ``not_written`` for anything else the system refuses.
    """
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise LayerFault(
                "disk_full",
                f"There is no room to write {path} ({error.strerror}). What was done so far is kept: make room and run "
                "the same with --resume.",
            ) from error
        raise LayerFault(
            "not_written",
            f"{path} cannot be written ({error.strerror or error}). Choose another place, or free the file.",
        ) from error


def _put_text(text: str, target: Path) -> None:
    beside = target.with_name(target.name + _WRITING)
    try:
        beside.write_text(text, encoding="utf-8")
        put_file(beside, target)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def _paths(work: Path, number: int) -> tuple[Path, Path]:
    return work / f"part-{number:06d}.arrow", work / f"part-{number:06d}.json"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _whole(work: Path) -> list[dict[str, Any]]:
    """Return what is said of each whole part, up to the first that is not."""
    found: list[dict[str, Any]] = []
    while True:
        part, about = _paths(work, len(found))
        if not (part.is_file() and about.is_file()):
            return found
        try:
            said = json.loads(about.read_text(encoding="utf-8"))
            sound = said["sha256"] == _digest(part)
        except (ValueError, KeyError, TypeError):
            # What says nothing of its part counts as none: that block is done again.
            return found
        if not sound:
            return found
        found.append(said)


def parts_done(work: Path) -> int:
    """Return how many parts in a work folder are whole, from the first on; 0 where there is no folder.

    Each is compared with its checksum.
    """
    return len(_whole(work)) if work.is_dir() else 0


class Parts:
    """The parts in a work folder, held by one run at a time.

    Parameters
    ----------
    work
        The folder; made where it is not there.
    plan
        What is being written, in values that JSON has. Parts of another plan are never gone on with.
    resume
        Go on after the parts that are there; otherwise they are removed.

    Raises
    ------
    LayerFault
        ``in_use`` where another run holds the folder, ``other_run`` where its parts are of another plan,
        ``disk_full`` or ``not_written``.
    """

    def __init__(self, work: Path, plan: dict[str, Any], *, resume: bool) -> None:
        from filelock import FileLock, Timeout  # noqa: PLC0415 - only writing needs it

        self.work = work
        self._rows = self._counted = 0
        with disk_faults(work):
            work.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(work / _LOCK)
            try:
                self._lock.acquire(timeout=0)
            except Timeout as error:
                raise LayerFault("in_use", f"Another run is writing into {work}. Wait for it, or stop it.") from error
        try:
            with disk_faults(work):
                self.said = self._begin(plan, resume=resume)
        except BaseException:
            self.close()
            raise

    def _begin(self, plan: dict[str, Any], *, resume: bool) -> list[dict[str, Any]]:
        path = self.work / _PLAN
        text = json.dumps(plan, sort_keys=True, ensure_ascii=False)
        before = path.read_text(encoding="utf-8") if path.is_file() else None
        if resume and before is not None:
            if before != text:
                raise LayerFault(
                    "other_run",
                    f"What was begun in {self.work} is another run: {_difference(before, plan)}. Run it as before, or "
                    "begin anew without --resume.",
                )
            return _whole(self.work)
        self._clear()
        _put_text(text, path)
        return []

    def _clear(self) -> None:
        for path in self.work.iterdir():
            if path.name == _PLAN or path.name.startswith("part-"):
                path.unlink()

    @property
    def rows(self) -> int:
        """How many rows the whole parts have."""
        for said in self.said[self._counted :]:
            self._rows += said["rows"]
        self._counted = len(self.said)
        return self._rows

    def add(self, table: Any, about: dict[str, Any]) -> None:  # noqa: ANN401 - pyarrow has no types
        """Write one more part, and what is said of it in values that JSON has."""
        import pyarrow as pa  # noqa: PLC0415

        part, note = _paths(self.work, len(self.said))
        beside = part.with_name(part.name + _WRITING)
        try:
            with disk_faults(part):
                options = pa.ipc.IpcWriteOptions(compression="lz4")
                with pa.OSFile(str(beside), "wb") as sink, pa.ipc.new_file(sink, table.schema, options=options) as file:
                    file.write_table(table)
                said = {**about, "rows": table.num_rows, "sha256": _digest(beside)}
                put_file(beside, part)
                _put_text(json.dumps(said, sort_keys=True, ensure_ascii=False), note)
        finally:
            # What is half written takes room that a full disk does not have.
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)
        self.said.append(said)

    def tables(self) -> Iterator[Any]:
        """Yield all parts in order, as Arrow tables.

        Raises
        ------
        LayerFault
            ``damaged_part`` where one is no longer as it was written.
        """
        import pyarrow as pa  # noqa: PLC0415

        for number, said in enumerate(self.said):
            part, _ = _paths(self.work, number)
            # Not mapped: on Windows a mapped file could not be removed afterwards.
            try:
                if _digest(part) != said["sha256"]:
                    raise ValueError("its checksum differs")  # noqa: TRY301
                with pa.OSFile(str(part), "rb") as source, pa.ipc.open_file(source) as file:
                    yield file.read_all()
            except (OSError, ValueError, pa.ArrowException) as error:
                raise LayerFault(
                    "damaged_part", f"{part} is not as it was written ({error}). Run the same again with --resume."
                ) from error

    def remove(self) -> None:
        """Remove the folder, once the whole is written."""
        self._clear()
        self.close()
        # Windows keeps the lock's file while another run waits for it.
        with contextlib.suppress(OSError):
            (self.work / _LOCK).unlink(missing_ok=True)
            self.work.rmdir()

    def close(self) -> None:
        """Let go of the folder; what is in it stays."""
        self._lock.release()


def _difference(before: str, plan: dict[str, Any]) -> str:
    try:
        old = json.loads(before)
    except ValueError:
        return "its plan cannot be read"
    names = [name for name in sorted(old.keys() | plan.keys()) if old.get(name) != plan.get(name)]
    return f"{', '.join(names)} differ{'s' if len(names) == 1 else ''}"
