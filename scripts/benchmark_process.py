"""Seconds and memory of commands and of work in this process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tracemalloc
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Usage", "command", "one_process", "peak_of", "process_tree", "processor_seconds", "timed"]

_MEGA = 1e6
_EVERY_S = 0.1

# A small process starts and measures the one in question: Linux counts what whoever starts a process holds as that
# process's peak too, and the benchmark itself holds gigabytes.
_LAUNCHER = """
import json, os, subprocess, sys, time
start = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
seconds = time.perf_counter() - start
process.returncode = os.waitstatus_to_exitcode(status)
print(json.dumps([process.returncode, seconds, usage.ru_maxrss]))
"""


@dataclass(frozen=True)
class Usage:
    """What a command and all processes that it started took.

    Attributes
    ----------
    seconds
        From start to end.
    processor_s
        Of processors, all together: what a machine that has other things to do does not change.
    resident_mb
        Peak of the sum of what each holds; what several share is counted for each.
    proportional_mb
        The same with what several share counted once; NaN where the system does not tell.
    processes
        The most that ran at once.
    """

    seconds: float
    processor_s: float
    resident_mb: float
    proportional_mb: float
    processes: int


def command() -> list[str]:
    """Return the installed command, or the module where there is none."""
    script = Path(sys.executable).with_name("grownj")
    return [str(script)] if script.is_file() else [sys.executable, "-m", "grownj_geo"]


def timed(work: Callable[[], Any], *, times: int = 1) -> tuple[float, Any]:
    """Return the least seconds, and what came out."""
    best, found = float("inf"), None
    for _ in range(times):
        start = time.perf_counter()
        found = work()
        best = min(best, time.perf_counter() - start)
    return best, found


def processor_seconds() -> float:
    """Return the seconds of processors that this process has had, and all that it started and that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def one_process(words: list[str], environment: dict[str, str] | None = None) -> tuple[float, float]:
    """Return seconds and peak megabytes of one process and nothing else."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-S", "-c", _LAUNCHER, *words],
        capture_output=True,
        check=True,
        env={**os.environ, **(environment or {})},
    )
    code, seconds, peak = json.loads(done.stdout)
    if code:
        raise SystemExit(f"{' '.join(words)} ended with exit code {code}; expected 0.")
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return seconds, peak / unit


def process_tree(words: list[str], environment: dict[str, str] | None = None, *, log: Path) -> Usage:
    """Return what a command and all processes that it starts take; what it prints goes to a file."""
    before = processor_seconds()
    with log.open("wb") as file:
        start = time.perf_counter()
        process = psutil.Popen(words, stdout=file, stderr=file, env={**os.environ, **(environment or {})})
        resident = proportional = 0.0
        most = 0
        while process.poll() is None:
            each = [_memory(member) for member in _members(process)]
            resident = max(resident, sum(held for held, _ in each))
            proportional = max(proportional, sum(share for _, share in each))
            most = max(most, len(each))
            time.sleep(_EVERY_S)
        seconds = time.perf_counter() - start
    if process.returncode:
        told = log.read_text(encoding="utf-8", errors="replace")[-2_000:]
        raise SystemExit(f"{' '.join(words)} ended with exit code {process.returncode}; expected 0. It said: {told}")
    return Usage(seconds, processor_seconds() - before, resident / _MEGA, proportional / _MEGA, most)


def _members(process: psutil.Process) -> list[psutil.Process]:
    try:
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _memory(process: psutil.Process) -> tuple[float, float]:
    """Return what a process holds, and what its share of that is; nothing where it has ended meanwhile."""
    try:
        full = process.memory_full_info()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return 0.0, 0.0
    return float(full.rss), float(getattr(full, "pss", float("nan")))


def peak_of(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the peak of the megabytes that Python and numpy take while something is done, and what came out.

    What libraries in C take for themselves is not in it. The work is slowed: it is not to be timed.
    """
    tracemalloc.start()
    try:
        found = work()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak / _MEGA, found
