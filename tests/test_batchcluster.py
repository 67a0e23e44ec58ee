"""A Dask cluster of real processes answers as one process does, also where a worker is killed."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from datetime import date
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_batch import table
from typer.testing import CliRunner

from grownj_geo.batch import BatchOptions, Question, run_batch
from grownj_geo.cli import app
from grownj_geo.features import LayerFault
from grownj_geo.units import to_lonlat

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(find_spec("distributed") is None, reason="the extra dask is not installed")

QUESTION = Question(date(2017, 4, 17), detail="full")


class Cluster(NamedTuple):
    address: str
    workers: list[subprocess.Popen[bytes]]


def started(log: Path, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
    with log.open("wb") as file:
        return subprocess.Popen([sys.executable, "-m", f"distributed.cli.{kind}", *arguments], stderr=file)


def worker_of(address: str, log: Path) -> subprocess.Popen[bytes]:
    # Without the nanny that starts a worker anew: whoever is killed stays so.
    return started(
        log, "dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"
    )


def said(log: Path, pattern: str) -> str:
    """Wait for what a process says of itself."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = re.search(pattern, log.read_text(encoding="utf-8"))
        if found:
            return found.group(1)
        time.sleep(0.05)
    raise AssertionError(log.read_text(encoding="utf-8"))


def ended(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


@contextmanager
def scheduling(folder: Path) -> Iterator[str]:
    log = folder / "scheduler.log"
    process = started(log, "dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    try:
        yield said(log, r"Scheduler at:\s+(tcp://\S+)")
    finally:
        ended(process)


@contextmanager
def working(folder: Path, scheduler: str) -> Iterator[Cluster]:
    logs = [folder / f"worker{i}.log" for i in range(2)]
    workers = [worker_of(scheduler, log) for log in logs]
    try:
        for log in logs:
            said(log, r"(Registered to)")
        yield Cluster(scheduler, workers)
    finally:
        for worker in workers:
            ended(worker)


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[str]:
    with scheduling(tmp_path) as address:
        yield address


@pytest.fixture
def cluster(tmp_path: Path, scheduler: str) -> Iterator[Cluster]:
    """A cluster for one test, which may kill its workers."""
    with working(tmp_path, scheduler) as found:
        yield found


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster that several tests ask and none harms."""
    folder = tmp_path_factory.mktemp("standing")
    with scheduling(folder) as address, working(folder, address) as found:
        yield found


def points(path: Path, n: int) -> Path:
    rng = np.random.default_rng(11)
    lon, lat = to_lonlat(rng.uniform(330_000, 620_000, n), rng.uniform(100_000, 880_000, n))
    pq.write_table(pa.table({"id": list(range(n)), "lon": lon, "lat": lat}), path, row_group_size=70)
    return path


@pytest.mark.slow
def test_a_cluster_changes_nothing(tmp_path: Path, standing: Cluster) -> None:
    for source in (table(tmp_path / "in.csv", 150), points(tmp_path / "in.parquet", 150)):
        alone, many = (source.with_name(f"{name}{source.suffix}") for name in ("alone", "many"))
        run_batch(source, alone, QUESTION, options=BatchOptions(block_rows=20), evidence=tmp_path / "alone.jsonl")
        run_batch(
            source,
            many,
            QUESTION,
            options=BatchOptions(block_rows=20, scheduler=standing.address),
            evidence=tmp_path / "many.jsonl",
        )
        assert alone.read_bytes() == many.read_bytes()
        assert (tmp_path / "alone.jsonl").read_bytes() == (tmp_path / "many.jsonl").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_blocks_of_a_worker_that_is_killed_are_answered_by_another(
    tmp_path: Path, cluster: Cluster, ending: str
) -> None:
    source = table(tmp_path / "in.csv", 900) if ending == ".csv" else points(tmp_path / "in.parquet", 900)
    run_batch(source, tmp_path / f"alone{ending}", QUESTION, options=BatchOptions(block_rows=60))
    done: list[int] = []

    def progress(rows: int, _: int | None) -> None:
        done.append(rows)
        if len(done) == 5:
            ended(cluster.workers[0])

    run_batch(
        source,
        tmp_path / f"many{ending}",
        QUESTION,
        options=BatchOptions(block_rows=60, scheduler=cluster.address),
        progress=progress,
    )
    assert cluster.workers[0].returncode != 0
    assert cluster.workers[1].poll() is None
    assert (tmp_path / f"alone{ending}").read_bytes() == (tmp_path / f"many{ending}").read_bytes()


@pytest.mark.slow
def test_two_runs_that_are_alike_share_a_cluster(tmp_path: Path, standing: Cluster) -> None:
    source = table(tmp_path / "in.csv", 200)
    run_batch(source, tmp_path / "alone.csv", QUESTION)
    faults: list[BaseException] = []

    def run(name: str, block_rows: int) -> None:
        try:
            options = BatchOptions(block_rows=block_rows, scheduler=standing.address)
            run_batch(source, tmp_path / name, QUESTION, options=options)
        except BaseException as fault:  # noqa: BLE001 - told below
            faults.append(fault)

    runs = [threading.Thread(target=run, args=(f"{i}.csv", rows)) for i, rows in enumerate((20, 20, 30))]
    for each in runs:
        each.start()
    for each in runs:
        each.join()
    assert faults == []
    assert {(tmp_path / f"{i}.csv").read_bytes() for i in range(3)} == {(tmp_path / "alone.csv").read_bytes()}


@pytest.mark.slow
def test_without_any_worker_left_a_new_one_goes_on(tmp_path: Path, cluster: Cluster) -> None:
    source = table(tmp_path / "in.csv", 600)
    run_batch(source, tmp_path / "alone.csv", QUESTION, options=BatchOptions(block_rows=60))

    joined: list[subprocess.Popen[bytes]] = []

    def progress(rows: int, _: int | None) -> None:
        if rows == 120:
            for worker in cluster.workers:
                ended(worker)
            joined.append(worker_of(cluster.address, tmp_path / "joined.log"))

    try:
        options = BatchOptions(block_rows=60, scheduler=cluster.address)
        run_batch(source, tmp_path / "many.csv", QUESTION, options=options, progress=progress)
    finally:
        for worker in joined:
            ended(worker)
    assert len(joined) == 1
    assert (tmp_path / "alone.csv").read_bytes() == (tmp_path / "many.csv").read_bytes()


@pytest.mark.slow
def test_other_software_on_a_worker_is_refused(
    tmp_path: Path, standing: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grownj_geo.batch.made_by", lambda: "grownj-geo 0.0, GEOS 3.1.0, PROJ 5.0.0")
    with pytest.raises(LayerFault, match=r"GEOS 3\.1\.0") as refused:
        run_batch(
            table(tmp_path / "in.csv", 30),
            tmp_path / "out.csv",
            QUESTION,
            options=BatchOptions(scheduler=standing.address),
        )
    assert refused.value.fault == "other_software"
    assert not (tmp_path / "out.csv").exists()


def test_no_scheduler_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grownj_geo.batchcluster._CONNECT_SECONDS", 0.5)
    with pytest.raises(LayerFault, match="dask scheduler") as refused:
        run_batch(
            table(tmp_path / "in.csv", 30),
            tmp_path / "out.csv",
            QUESTION,
            options=BatchOptions(scheduler="tcp://127.0.0.1:9"),
        )
    assert refused.value.fault == "no_cluster"


@pytest.mark.slow
def test_no_worker_is_told(tmp_path: Path, scheduler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grownj_geo.batchcluster._WORKER_SECONDS", 0.5)
    with pytest.raises(LayerFault, match="no worker"):
        run_batch(
            table(tmp_path / "in.csv", 30), tmp_path / "out.csv", QUESTION, options=BatchOptions(scheduler=scheduler)
        )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--engine", "dask"], "belong together"),
        (["--scheduler", "tcp://127.0.0.1:1"], "belong together"),
        (["--engine", "spark"], "expected processes or dask"),
        (["--engine", "dask", "--scheduler", "tcp://127.0.0.1:1", "--workers", "2"], "its scheduler knows"),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path: Path, arguments: list[str], words: str) -> None:
    source = table(tmp_path / "in.csv", 5)
    done = CliRunner().invoke(app, ["batch", str(source), "-o", str(tmp_path / "out.csv"), *arguments])
    assert done.exit_code == 2
    assert words in " ".join(done.output.split())
