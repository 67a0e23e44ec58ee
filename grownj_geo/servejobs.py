"""Tables that are worked through: kept in the user's folder, each run by a process of its own, removed after a while.

A job is a folder, and what is in it says how far it is: so a job is found again after a restart, and servers that share
the folder see the same. The process that works holds the job's lock; where nobody does, whoever sees it first goes on.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import filelock
from pydantic import ValidationError

from grownj_geo.files import written_beside
from grownj_geo.servemodels import JobStatus
from grownj_geo.serveproblems import ProblemError
from grownj_geo.store import home_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from grownj_geo.serveasked import JobOptions

__all__ = [
    "JOB_FILES",
    "MOST_TRIES",
    "TABLES",
    "TAKEN",
    "JobFiles",
    "Jobs",
    "count_try",
    "give_up",
    "plain_name",
    "read_json",
    "tries_of",
    "write_json",
]

TABLES = frozenset(
    {".csv", ".tsv", ".txt", ".xlsx", ".xlsm", ".parquet", ".geoparquet", ".geojson", ".gpkg", ".kml", ".zip"}
)
"""Endings of tables that are taken, as `grownj batch` reads them; of several files in a zip."""

MOST_TRIES = 3
"""Processes that may begin with a job's table before it is given up."""

TAKEN = 75
"""Exit code of a process that another one was quicker than."""

_ID = re.compile(r"[0-9a-f]{32}")
_UNSAFE = re.compile(r"[^\w. -]+")
_LONGEST_NAME_BYTES = 120
_LONGEST_HOURS = 366 * 24.0
_GONE_S = 5.0
_CHUNK = 1 << 20


@dataclass(frozen=True)
class JobFiles:
    """The names of what is in a job's folder."""

    about: str = "job.json"
    progress: str = "progress.json"
    done: str = "done.json"
    failed: str = "failed.json"
    cancel: str = "cancel"
    lock: str = "lock"
    tries: str = "tries"


JOB_FILES = JobFiles()


def read_json(path: Path) -> dict[str, Any] | None:
    """Return what a file of a job says; None where it is not there or not readable."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a file of a job, there whole or not at all."""
    with written_beside(path) as beside:
        beside.write_text(json.dumps(value, default=str), encoding="utf-8")


def tries_of(place: Path) -> int:
    """Return how many processes have begun with a job's table."""
    try:
        return (place / JOB_FILES.tries).stat().st_size
    except FileNotFoundError:
        return 0


def count_try(place: Path) -> None:
    """Write down that a process has begun with a job's table."""
    with (place / JOB_FILES.tries).open("ab") as file:
        file.write(b".")


def give_up(place: Path) -> None:
    """Write down that a job's table is not begun with again; for whoever holds its lock."""
    words = f"The process that worked on it ended by itself {tries_of(place)} times. Send it in parts."
    write_json(place / JOB_FILES.failed, {"problem": words, "finished": _now()})


def plain_name(name: str) -> str:
    r"""Return a file's name as every system takes it: no folders, no signs, not long.

    Examples
    --------
    >>> plain_name("../../etc/sites (1).csv"), plain_name("C:\\sites.csv"), plain_name("")
    ('sites -1-.csv', 'sites.csv', 'table')
    """
    plain = _UNSAFE.sub("-", Path(name.replace("\\", "/")).name)
    # In bytes, as file systems count: of what is written beside it the names are longer.
    return plain.encode()[-_LONGEST_NAME_BYTES:].decode(errors="ignore").strip(" .") or "table"


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass
class Jobs:
    """The jobs of a folder, and the process that this server runs for one of them.

    Parameters
    ----------
    home
        Folder of the user's own data; the usual one by default.
    hours
        How long a job is kept, at most a year.
    most_waiting
        Jobs that may wait or run at once.
    most_kept, most_kept_bytes
        Jobs that are kept, whatever came of them, and what their files may take together.

    Raises
    ------
    ValueError
        For hours that no job can be kept.
    """

    home: Path | None = None
    hours: float = 24.0
    most_waiting: int = 20
    most_kept: int = 1_000
    most_kept_bytes: int = 10_000_000_000
    _running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict, init=False)
    _tried: dict[str, int] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        """Refuse times that are none."""
        if not 0 < self.hours <= _LONGEST_HOURS:
            raise ValueError(
                f"Jobs were to be kept for {self.hours:g} hours; expected more than 0 and at most {_LONGEST_HOURS:g}."
            )

    @property
    def folder(self) -> Path:
        """Where jobs are."""
        return (home_folder() if self.home is None else self.home) / "jobs"

    # -- asked for -------------------------------------------------------------------------------------

    def add(self, name: str, content: BinaryIO, options: JobOptions) -> JobStatus:
        """Keep a table and what is asked of it, to be worked through in its turn.

        Parameters
        ----------
        name
            What the caller calls the file: its ending says what it is, and messages name it.
        content
            The table.
        options
            What is asked.

        Raises
        ------
        ProblemError
            415 for another kind of file, 422 for an empty one, 429 where too many wait or too much is kept, 503 where
            the folder cannot be written.
        """
        shown = plain_name(name)
        suffix = Path(shown).suffix.lower()
        if suffix not in TABLES:
            known = ", ".join(sorted(TABLES))
            raise ProblemError(415, f"The table {shown!r} ends in {suffix or 'nothing'!r}; expected one of {known}.")
        try:
            waiting = sum(status.status in {"queued", "running"} for status in self._all())
            kept, kept_bytes = self._kept()
        except OSError as error:
            raise _not_kept(error) from error
        if waiting >= self.most_waiting:
            raise ProblemError(
                429, f"{waiting} tables wait already. Send yours when some are done.", headers={"Retry-After": "60"}
            )
        if kept >= self.most_kept or kept_bytes >= self.most_kept_bytes:
            detail = f"{kept:,} tables are kept already, of {kept_bytes / 1e6:,.0f} MB together with their answers. "
            detail += "Remove those that are not needed any more, or send yours later."
            raise ProblemError(429, detail, code="too_much_kept", headers={"Retry-After": "3600"})
        job = secrets.token_hex(16)
        # Written under a name that is no job's, and renamed: nobody works on half a table.
        beside = self.folder / f".new-{job}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            # Tables of others are nobody else's to read on this machine.
            beside.mkdir(mode=0o700)
            (beside / "in").mkdir()
            (beside / "out").mkdir()
            with (beside / "in" / shown).open("wb") as file:
                shutil.copyfileobj(content, file, _CHUNK)
                size = file.tell()
            about = {"file": shown, "output": f"{Path(shown).stem}-answers.{options.format}"}
            about |= {"created": _now().isoformat(), "expires": (_now() + timedelta(hours=self.hours)).isoformat()}
            write_json(beside / JOB_FILES.about, about | {"options": options.model_dump(mode="json")})
            if size:
                beside.rename(self.folder / job)
        except OSError as error:
            raise _not_kept(error) from error
        finally:
            # Whatever happened, nothing of a table stays that is no job's.
            shutil.rmtree(beside, ignore_errors=True)
        if not size:
            raise ProblemError(422, f"The table {shown!r} is empty. Export it again.", code="file_not_read")
        return self.status(job)

    def status(self, job: str) -> JobStatus:
        """Return how far a job is.

        Raises
        ------
        ProblemError
            404 where there is none.
        """
        place = self._place(job)
        found = _status(job, place)
        if found is None:
            raise _no_job()
        return found

    def result(self, job: str) -> tuple[Path, str]:
        """Return the answered table, and what to call it.

        Raises
        ------
        ProblemError
            404 where there is no such job, 409 where it is not done.
        """
        place = self._place(job)
        status, about = self.status(job), read_json(place / JOB_FILES.about) or {}
        path = place / "out" / str(about.get("output"))
        if status.status != "done" or not path.is_file():
            detail = f"The table is {status.status}: {status.problem}" if status.problem else f"It is {status.status}."
            raise ProblemError(409, f"There is no result. {detail}", code="not_done")
        return path, path.name

    def remove(self, job: str) -> None:
        """End a job and remove all that is of it.

        Raises
        ------
        ProblemError
            404 where there is none.
        """
        place = self._place(job)
        (place / JOB_FILES.cancel).touch()
        self._end(job)
        # Another server's process sees the mark by itself.
        lock = filelock.FileLock(place / JOB_FILES.lock)
        try:
            with lock.acquire(timeout=_GONE_S):
                pass
        except (filelock.Timeout, OSError):
            return
        shutil.rmtree(place, ignore_errors=True)

    def _place(self, job: str) -> Path:
        place = self.folder / job
        if not _ID.fullmatch(job) or not place.is_dir() or (place / JOB_FILES.cancel).exists():
            raise _no_job()
        return place

    # -- tended ----------------------------------------------------------------------------------------

    def tend(self, told: Callable[..., None]) -> None:
        """Begin what waits, note what ended, and remove what is too old; to be called every second or so.

        Parameters
        ----------
        told
            Told what happened, as `RequestLog.write` is.
        """
        for job, process in list(self._running.items()):
            code = process.poll()
            if code is None:
                continue
            # Whoever removes a job may have been quicker.
            self._running.pop(job, None)
            told("job_ended", level="info", job=job[:8], code=code)
            tries = self.folder / job / JOB_FILES.tries
            if (
                code not in {0, TAKEN}
                and tries.parent.is_dir()
                and tries_of(tries.parent) == self._tried.pop(job, None)
            ):
                # It ended before it had begun with the table, and would again and again.
                count_try(tries.parent)
        for place in self._places():
            self._remove_old(place, told)
        if self._running:
            return
        for place in self._places():
            status = _status(place.name, place)
            if status is None or status.status != "queued":
                continue
            self._begin(place, told)
            return

    def close(self) -> None:
        """End what this server runs; it is gone on with by whoever comes next."""
        for job in list(self._running):
            self._end(job)
            # It was not the table's fault.
            (self.folder / job / JOB_FILES.tries).unlink(missing_ok=True)

    def _begin(self, place: Path, told: Callable[..., None]) -> None:
        self._tried[place.name] = tries_of(place)
        if self._tried[place.name] >= MOST_TRIES:
            with suppress(filelock.Timeout), filelock.FileLock(place / JOB_FILES.lock, timeout=0):
                give_up(place)
            return
        environment = {**os.environ, "GROWNJ_HOME": str(self.folder.parent)}
        self._running[place.name] = subprocess.Popen(  # noqa: S603 - this interpreter, and a folder of ours
            [sys.executable, "-m", "grownj_geo.servejobrun", str(place)],
            env=environment,
            cwd=place,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        told("job_begun", level="info", job=place.name[:8])

    def _end(self, job: str) -> None:
        process = self._running.pop(job, None)
        if process is None:
            return
        # It may have ended a moment ago.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def _remove_old(self, place: Path, told: Callable[..., None]) -> None:
        cancelled = (place / JOB_FILES.cancel).exists()
        if not cancelled:
            status = _status(place.name, place)
            # Of a job that cannot be read, as one that another version wrote may be, the folder has a time too.
            written = datetime.fromtimestamp(place.stat().st_mtime, UTC)
            expires = written + timedelta(hours=self.hours) if status is None else status.expires_at
            if _now() < expires:
                return
            told("job_removed", level="info", job=place.name[:8])
        (place / JOB_FILES.cancel).touch()
        self._end(place.name)
        if not _held(place):
            shutil.rmtree(place, ignore_errors=True)

    def _places(self) -> Iterator[Path]:
        """Yield the folders of jobs, the oldest first."""
        try:
            entries = [entry for entry in os.scandir(self.folder) if entry.is_dir()]
        except FileNotFoundError:
            return
        for entry in entries:
            # What was being written when a server was stopped.
            if entry.name.startswith(".new-") and time.time() - entry.stat().st_mtime > self.hours * 3600:
                shutil.rmtree(entry.path, ignore_errors=True)
        found = [entry for entry in entries if _ID.fullmatch(entry.name)]
        for entry in sorted(found, key=lambda entry: entry.stat().st_mtime):
            yield Path(entry.path)

    def _kept(self) -> tuple[int, int]:
        """Return how many jobs there are, those that are being sent among them, and how many bytes their files have."""
        count, size = 0, 0
        for folder, _, names in os.walk(self.folder):
            count += Path(folder).parent == self.folder
            for name in names:
                with suppress(FileNotFoundError):
                    size += (Path(folder) / name).stat().st_size
        return count, size

    def _all(self) -> Iterator[JobStatus]:
        for place in self._places():
            status = _status(place.name, place)
            if status is not None:
                yield status


def _no_job() -> ProblemError:
    return ProblemError(404, "There is no such job: it was removed, or never was. Send the table again.")


def _not_kept(error: OSError) -> ProblemError:
    return ProblemError(503, f"The table could not be kept: {error.strerror}. Tell whoever runs this.", code="not_kept")


def _held(place: Path) -> bool:
    """Return whether a process works on a job."""
    if not (place / JOB_FILES.lock).exists():
        return False
    try:
        with filelock.FileLock(place / JOB_FILES.lock, timeout=0):
            return False
    except filelock.Timeout:
        return True
    except OSError:
        return False


def _status(job: str, place: Path) -> JobStatus | None:
    """Return how far a job is; None where its folder is not one of a job, or is to be removed."""
    about = read_json(place / JOB_FILES.about)
    if about is None or (place / JOB_FILES.cancel).exists():
        return None
    progress = read_json(place / JOB_FILES.progress) or {}
    done, failed = read_json(place / JOB_FILES.done), read_json(place / JOB_FILES.failed)
    state = "done" if done else "failed" if failed else "running" if _held(place) else "queued"
    link = f"/api/v1/jobs/{job}"
    found = {
        "id": job,
        "status": state,
        "file": about.get("file"),
        "rows_done": progress.get("rows_done", 0),
        "rows_total": progress.get("rows_total"),
        "created": about.get("created"),
        "started": progress.get("started"),
        "finished": (done or failed or {}).get("finished"),
        "expires_at": about.get("expires"),
        "options": about.get("options"),
        "summary": (done or {}).get("summary"),
        "problem": (failed or {}).get("problem"),
        "links": {"self": link, "result": f"{link}/result"},
    }
    try:
        return JobStatus.model_validate(found)
    except ValidationError:
        return None
