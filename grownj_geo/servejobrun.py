"""The process that works through one job's table: ``python -m grownj_geo.servejobrun FOLDER``."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import filelock

from grownj_geo.batch import BatchOptions, Question, run_batch
from grownj_geo.errors import LayerError, RulebookError, SiteError
from grownj_geo.readings import strict_readings
from grownj_geo.serveasked import JobOptions
from grownj_geo.servejobs import JOB_FILES, MOST_TRIES, TAKEN, count_try, give_up, read_json, tries_of, write_json
from grownj_geo.siterows import TableOptions

__all__ = ["main", "work"]

_BLOCK_ROWS = 5_000
_TOLD_S = 0.5
_WAIT_S = 5.0
_NICE = 10
_CANCELLED = 3


def main() -> int:
    """Work on the job whose folder is named; return the exit code."""
    place = Path(sys.argv[1])
    os.nice(_NICE)
    try:
        with filelock.FileLock(place / JOB_FILES.lock, timeout=_WAIT_S):
            if (place / JOB_FILES.done).exists() or (place / JOB_FILES.failed).exists():
                return 0
            if tries_of(place) >= MOST_TRIES:
                give_up(place)
                return 0
            # Here, where the lock is held: of several servers only one has begun.
            count_try(place)
            threading.Thread(target=_watch, args=(place,), daemon=True).start()
            work(place)
    except filelock.Timeout:
        return TAKEN
    return 0


def _watch(place: Path) -> None:
    """End this process as soon as the job is to be no more."""
    while place.is_dir() and not (place / JOB_FILES.cancel).exists():
        time.sleep(_TOLD_S)
    os._exit(_CANCELLED)


def work(place: Path) -> None:
    """Answer a job's table, and write down what came of it.

    Parameters
    ----------
    place
        The job's folder.
    """
    about = read_json(place / JOB_FILES.about) or {}
    asked = JobOptions.model_validate(about["options"])
    started = datetime.now(UTC).isoformat()
    last = 0.0

    def progress(done: int, total: int | None) -> None:
        nonlocal last
        if time.monotonic() - last >= _TOLD_S:
            last = time.monotonic()
            write_json(place / JOB_FILES.progress, {"rows_done": done, "rows_total": total, "started": started})

    progress(0, None)
    last = 0.0
    try:
        found = run_batch(
            place / "in" / about["file"],
            place / "out" / about["output"],
            question_of(asked),
            options=BatchOptions(table_of(asked), _BLOCK_ROWS, resume=True),
            progress=progress,
        )
    except (LayerError, RulebookError, SiteError) as error:
        # Whoever sent the table has nothing to do with where it is kept.
        words = str(error).replace(f"{place / 'in'}{os.sep}", "").replace(f"{place / 'out'}{os.sep}", "")
        write_json(place / JOB_FILES.failed, {"problem": words, "finished": datetime.now(UTC)})
        _forget_table(place)
        return
    rows = {"rows_done": found.rows, "rows_total": found.rows, "started": started}
    write_json(place / JOB_FILES.progress, rows)
    write_json(place / JOB_FILES.done, {"summary": found.model_dump(mode="json"), "finished": datetime.now(UTC)})
    _forget_table(place)


def _forget_table(place: Path) -> None:
    """Remove a table that is not needed any more; what remains goes with the job."""
    shutil.rmtree(place / "in", ignore_errors=True)


def question_of(asked: JobOptions) -> Question:
    """Return what is asked of every row.

    Raises
    ------
    RulebookError
        Where a reading contradicts ``strict``.
    """
    from grownj_geo.atlas import DEFAULT_AS_OF  # noqa: PLC0415 - only where it is used

    day: date = asked.as_of or DEFAULT_AS_OF
    readings = strict_readings(asked.readings) if asked.strict else dict(asked.readings)
    return Question(day, asked.rulebook, readings, detail=asked.columns)


def table_of(asked: JobOptions) -> TableOptions:
    """Return what was said of the table's columns."""
    named: dict[str, Any] = dict(asked.named)
    return TableOptions(**named, crs=asked.crs, uncertainty_ft=asked.uncertainty_ft)


if __name__ == "__main__":
    sys.exit(main())
