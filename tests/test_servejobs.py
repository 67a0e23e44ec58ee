"""Tables that are sent: answered as the command does, ended, kept over a restart, shared by two servers, removed."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from serving import serving
from typer.testing import CliRunner

from grownj_geo import cli
from grownj_geo.serveasked import JobOptions
from grownj_geo.serveguard import GuardOptions
from grownj_geo.servejobs import JOB_FILES, Jobs, plain_name, read_json, tries_of, write_json
from grownj_geo.servelog import RequestLog
from grownj_geo.serveproblems import ProblemError
from grownj_geo.servestate import State

if TYPE_CHECKING:
    from pathlib import Path

    from serving import Served

TABLE = "name,lat,lon\nNewark,40.7344,-74.1641\nCamden,39.9447,-75.1190\nLondon,51.5,-0.1\n"


def _send(served: Served, name: str, content: bytes, **options: Any) -> dict[str, Any]:
    with served.client() as client:
        answer = client.post("/api/v1/jobs", files={"file": (name, content)}, data=options)
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == answer.json()["links"]["self"]
    found: dict[str, Any] = answer.json()
    return found


def _status(served: Served, job: str) -> dict[str, Any]:
    with served.client() as client:
        answer = client.get(f"/api/v1/jobs/{job}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def _until(served: Served, job: str, *states: str, wait_s: float = 90.0) -> dict[str, Any]:
    stop = time.monotonic() + wait_s
    while time.monotonic() < stop:
        found = _status(served, job)
        if found["status"] in states:
            return found
        time.sleep(0.3)
    raise AssertionError(f"the job is {found['status']}, not {states}")


def _large(rows: int) -> bytes:
    random = np.random.default_rng(7)
    lat, lon = 40.2 + 0.5 * random.random(rows), -74.7 + 0.3 * random.random(rows)
    lines = (f"{i},{a:.6f},{o:.6f}" for i, (a, o) in enumerate(zip(lat, lon, strict=True)))
    return ("id,lat,lon\n" + "\n".join(lines) + "\n").encode()


# -- answered ------------------------------------------------------------------------------------------


def test_a_table_is_answered_as_the_command_answers_it(served: Served, served_home: Path, tmp_path: Path) -> None:
    job = _send(served, "sites.csv", TABLE.encode(), columns="full", as_of="2016-01-04", reading="A11=strict")
    done = _until(served, job["id"], "done", "failed")
    assert done["status"] == "done", done["problem"]
    assert (done["rows_done"], done["rows_total"], done["summary"]["answered"]) == (3, 3, 2)
    assert done["summary"]["problems"]
    with served.client() as client:
        result = client.get(done["links"]["result"])
    assert result.headers["content-disposition"] == 'attachment; filename="sites-answers.csv"'
    source, target = tmp_path / "sites.csv", tmp_path / "answers.csv"
    source.write_text(TABLE, encoding="utf-8")
    words = [str(source), "-o", str(target), "--columns", "full", "--as-of", "2016-01-04", "--reading", "A11=strict"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROWNJ_HOME", str(served_home))
        made = CliRunner().invoke(cli.app, ["batch", *words])
    assert made.exit_code == 0, made.output
    assert result.content == target.read_bytes()


def test_addresses_and_parcels_are_found_in_a_table(served: Served) -> None:
    table = 'where,pin\n"520 Market St, Camden",\n,0412_10_2\n"99 Nowhere Lane, Camden",\n'
    job = _send(served, "places.csv", table.encode(), column="address=where", format="geojson")
    done = _until(served, job["id"], "done", "failed")
    assert done["status"] == "done", done["problem"]
    with served.client() as client:
        rows = client.get(done["links"]["result"]).json()["features"]
    assert [row["properties"]["municipality"] for row in rows[:2]] == ["Camden City", "Collingswood Borough"]
    assert rows[2]["properties"]["problem"]


def test_what_cannot_be_read_fails_in_words_without_paths(served: Served, served_home: Path) -> None:
    job = _send(served, "words.csv", b"a,b\n1,2\n")
    failed = _until(served, job["id"], "failed", "done")
    assert failed["status"] == "failed"
    assert "words.csv" in failed["problem"]
    assert str(served_home) not in failed["problem"]
    with served.client() as client:
        result = client.get(failed["links"]["result"])
    assert (result.status_code, result.json()["code"]) == (409, "not_done")


@pytest.mark.parametrize(
    ("name", "content", "options", "status", "words"),
    [
        ("a.exe", b"x", {}, 415, ".exe"),
        ("a", b"x", {}, 415, "nothing"),
        ("a.csv", b"", {}, 422, "empty"),
        ("a.csv", b"x", {"as_of": "2001-01-01"}, 422, "2013-09-18"),
        ("a.csv", b"x", {"as_of": "yesterday"}, 422, "as_of"),
        ("a.csv", b"x", {"rulebook": "../../etc/passwd"}, 422, "grow-nj"),
        ("a.csv", b"x", {"reading": "A11"}, 422, "A11=strict"),
        ("a.csv", b"x", {"reading": "A11=odd"}, 422, "A11"),
        ("a.csv", b"x", {"column": "colour=red"}, 422, "colour"),
        ("a.csv", b"x", {"format": "exe"}, 422, "format"),
        ("a.csv", b"x", {"crs": "EPSG:0"}, 422, "EPSG"),
        ("a.csv", b"x", {"uncertainty_ft": "-1"}, 422, "uncertainty_ft"),
    ],
)
def test_what_is_plainly_wrong_is_refused_before_anything_is_kept(
    *, served: Served, served_home: Path, name: str, content: bytes, options: dict[str, str], status: int, words: str
) -> None:
    before = sorted((served_home / "jobs").iterdir()) if (served_home / "jobs").exists() else []
    with served.client() as client:
        answer = client.post("/api/v1/jobs", files={"file": (name, content)}, data=options)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert words in answer.json()["detail"]
    assert (sorted((served_home / "jobs").iterdir()) if (served_home / "jobs").exists() else []) == before


@pytest.mark.parametrize("job", ["0" * 32, "nope", "..", "%2e%2e%2f", "0" * 31 + "g"])
def test_what_is_no_job_is_not_found(served: Served, job: str) -> None:
    with served.client() as client:
        found = [client.get(f"/api/v1/jobs/{job}"), client.get(f"/api/v1/jobs/{job}/result")]
        found.append(client.delete(f"/api/v1/jobs/{job}"))
    assert [answer.status_code for answer in found] == [404, 404, 404]


@pytest.mark.slow
def test_formulas_of_strangers_do_not_reach_a_spreadsheet(served: Served) -> None:
    table = "name,lat,lon\n\"=cmd|'/c calc'!A1\",40.7344,-74.1641\n"
    job = _send(served, "sites.csv", table.encode())
    done = _until(served, job["id"], "done", "failed")
    with served.client() as client:
        text = client.get(done["links"]["result"]).text
    row = next(csv.DictReader(io.StringIO(text)))
    assert not row["name"].startswith("=")


# -- ended ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_running_job_shows_how_far_it_is_and_can_be_ended(served: Served, served_home: Path) -> None:
    job = _send(served, "large.csv", _large(150_000), columns="full")["id"]
    _until(served, job, "running")
    stop = time.monotonic() + 60
    while (found := _status(served, job))["rows_done"] == 0 and time.monotonic() < stop:
        time.sleep(0.2)
    assert found["status"] == "running"
    assert 0 < found["rows_done"] < 150_000
    with served.client() as client:
        assert client.delete(f"/api/v1/jobs/{job}").status_code == 204
        assert client.get(f"/api/v1/jobs/{job}").status_code == 404
    stop = time.monotonic() + 20
    while (served_home / "jobs" / job).exists() and time.monotonic() < stop:
        time.sleep(0.2)
    assert not (served_home / "jobs" / job).exists()


@pytest.mark.slow
def test_a_job_goes_on_after_a_restart_and_two_servers_see_the_same(tmp_path: Path) -> None:
    with serving(tmp_path) as first:
        job = _send(first, "large.csv", _large(15_000), columns="full")["id"]
        _until(first, job, "running")
        stop = time.monotonic() + 60
        while _status(first, job)["rows_done"] == 0 and time.monotonic() < stop:
            time.sleep(0.2)
    assert (tmp_path / "jobs" / job).is_dir()
    with serving(tmp_path) as second, serving(tmp_path) as third:
        done = _until(second, job, "done", "failed", wait_s=180)
        assert done["status"] == "done", done["problem"]
        assert done["summary"]["resumed_rows"] > 0
        with third.client() as client:
            result = client.get(f"/api/v1/jobs/{job}/result")
        assert len(result.text.splitlines()) == 15_001
        other = _send(third, "sites.csv", TABLE.encode())["id"]
        assert _until(second, other, "done", "failed")["status"] == "done"
        with second.client() as client:
            assert client.delete(f"/api/v1/jobs/{other}").status_code == 204
        with third.client() as client:
            assert client.get(f"/api/v1/jobs/{other}").status_code == 404
            assert client.get("/api/v1/determine", params={"site": "40.7344,-74.1641"}).status_code == 200


# -- the folder ----------------------------------------------------------------------------------------


class _Told:
    def __init__(self) -> None:
        self.events: list[str] = []

    def __call__(self, event: str, **_: object) -> None:
        self.events.append(event)


def test_jobs_are_removed_after_their_time(tmp_path: Path) -> None:
    jobs, told = Jobs(tmp_path, hours=1.0), _Told()
    job = jobs.add("sites.csv", io.BytesIO(b"x"), JobOptions()).id
    place = jobs.folder / job
    write_json(place / JOB_FILES.done, {"summary": {}, "finished": datetime.now(UTC)})
    jobs.tend(told)
    assert jobs.status(job).status == "done"
    about = read_json(place / JOB_FILES.about)
    assert about is not None
    write_json(place / JOB_FILES.about, about | {"expires": (datetime.now(UTC) - timedelta(seconds=1)).isoformat()})
    jobs.tend(told)
    assert not place.exists()
    assert told.events == ["job_removed"]
    with pytest.raises(ProblemError):
        jobs.status(job)


@pytest.mark.parametrize("about", ["{}", "[]", "half", '{"file": "a.csv", "options": {"colour": "red"}}'])
def test_a_folder_that_says_nothing_of_a_job_is_none_and_goes_in_time(tmp_path: Path, about: str) -> None:
    jobs, told = Jobs(tmp_path, hours=1.0), _Told()
    place = jobs.folder / ("a" * 32)
    place.mkdir(parents=True)
    (place / JOB_FILES.about).write_text(about, encoding="utf-8")
    jobs.tend(told)
    assert place.exists()
    with pytest.raises(ProblemError):
        jobs.status(place.name)
    os.utime(place, (0, 0))
    jobs.tend(told)
    assert not place.exists()


def test_no_more_jobs_are_taken_than_may_wait(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path, most_waiting=2)
    for _ in range(2):
        jobs.add("sites.csv", io.BytesIO(b"x"), JobOptions())
    with pytest.raises(ProblemError) as refused:
        jobs.add("sites.csv", io.BytesIO(b"x"), JobOptions())
    assert (refused.value.status_code, refused.value.headers) == (429, {"Retry-After": "60"})


def test_a_process_that_ends_by_itself_again_and_again_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grownj_geo.servejobs.sys.executable", "/bin/false")
    jobs, told = Jobs(tmp_path), _Told()
    job = jobs.add("sites.csv", io.BytesIO(b"x"), JobOptions()).id
    stop = time.monotonic() + 20
    while jobs.status(job).status == "queued" and time.monotonic() < stop:
        jobs.tend(told)
        time.sleep(0.05)
    found = jobs.status(job)
    assert found.status == "failed"
    assert found.problem is not None
    assert "3 times" in found.problem
    assert told.events.count("job_begun") == 3


def test_a_try_is_counted_by_the_one_process_that_begins_with_the_table(tmp_path: Path) -> None:
    servers, told = [Jobs(tmp_path) for _ in range(5)], _Told()
    job = servers[0].add("sites.csv", io.BytesIO(TABLE.encode()), JobOptions()).id
    for jobs in servers:
        jobs.tend(told)
    stop = time.monotonic() + 90
    while servers[0].status(job).status in {"queued", "running"} and time.monotonic() < stop:
        time.sleep(0.2)
    try:
        assert servers[0].status(job).status == "done"
        assert tries_of(servers[0].folder / job) == 1
        # The table itself is not needed any more.
        assert not (servers[0].folder / job / "in").exists()
    finally:
        for jobs in servers:
            jobs.close()


def test_a_job_that_is_removed_while_it_is_looked_at_is_gone_quietly(tmp_path: Path) -> None:
    jobs, told = Jobs(tmp_path), _Told()
    job = jobs.add("sites.csv", io.BytesIO(_large(20_000)), JobOptions()).id
    jobs.tend(told)

    def ended(event: str, **_: object) -> None:
        told(event)

    process = jobs._running[job]  # noqa: SLF001 - the moment between two lines is not met otherwise
    before = process.poll

    def poll() -> int | None:
        other = threading.Thread(target=jobs.remove, args=(job,))
        other.start()
        other.join()
        return before()

    process.poll = poll  # type: ignore[method-assign]
    jobs.tend(ended)
    assert "job_ended" in told.events
    with pytest.raises(ProblemError):
        jobs.status(job)


def test_whatever_happens_to_the_tending_of_jobs_it_goes_on(tmp_path: Path) -> None:
    async def looked() -> int:
        state, looks = State(GuardOptions(), RequestLog(io.StringIO()), home=tmp_path), 0

        def tend(_: object) -> None:
            nonlocal looks
            looks += 1
            raise KeyError("x")

        state.jobs.tend = tend  # type: ignore[method-assign]
        task = asyncio.create_task(state.tend_jobs())
        await asyncio.sleep(2.5)
        assert not task.done()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        state.close()
        return looks

    assert asyncio.run(looked()) >= 2


@pytest.mark.parametrize("limit", [{"most_kept": 3}, {"most_kept_bytes": 3_000_000}])
def test_no_more_is_kept_than_may_be(tmp_path: Path, limit: dict[str, int]) -> None:
    jobs = Jobs(tmp_path, **limit)
    kept = []
    for _ in range(3):
        kept.append(jobs.add("sites.csv", io.BytesIO(b"x" * 1_000_000), JobOptions()).id)
        write_json(jobs.folder / kept[-1] / JOB_FILES.failed, {"problem": "no", "finished": datetime.now(UTC)})
    with pytest.raises(ProblemError) as refused:
        jobs.add("sites.csv", io.BytesIO(b"x"), JobOptions())
    assert (refused.value.status_code, refused.value.code) == (429, "too_much_kept")
    jobs.remove(kept[0])
    assert jobs.add("sites.csv", io.BytesIO(b"x"), JobOptions()).status == "queued"


@pytest.mark.parametrize("hours", [0.0, -1.0, float("nan"), float("inf"), 1e9])
def test_hours_that_are_none_are_refused(tmp_path: Path, hours: float) -> None:
    with pytest.raises(ValueError, match="at most 8784"):
        Jobs(tmp_path, hours=hours)


def test_of_a_table_that_is_not_kept_nothing_stays(tmp_path: Path) -> None:
    class Broken(io.BytesIO):
        def read(self, *_: object) -> bytes:
            raise ValueError("I/O operation on closed file")

    jobs = Jobs(tmp_path)
    with pytest.raises(ValueError, match="closed"):
        jobs.add("sites.csv", Broken(b"x"), JobOptions())
    assert list(jobs.folder.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "jobs").write_text("a file", encoding="utf-8")
    with pytest.raises(ProblemError) as refused:
        Jobs(tmp_path).add("sites.csv", io.BytesIO(b"x"), JobOptions())
    assert refused.value.status_code == 503


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("sites.csv", "sites.csv"),
        ("/etc/passwd", "passwd"),
        ("..\\..\\sites.csv", "sites.csv"),
        ("..", "table"),
        (".csv", "csv"),
        ("a\x00b\n.csv", "a-b-.csv"),
        ("x" * 300 + ".csv", "x" * 116 + ".csv"),
        ("\u6f22" * 300 + ".csv", "\u6f22" * 38 + ".csv"),
        ("Sit\u00e9s \u202e.csv", "Sit\u00e9s -.csv"),
    ],
)
def test_a_file_name_of_a_stranger_is_only_a_name(name: str, plain: str) -> None:
    assert plain_name(name) == plain


def test_what_a_job_says_is_whole_or_not_there(tmp_path: Path) -> None:
    assert read_json(tmp_path / "none.json") is None
    (tmp_path / "half.json").write_text('{"a": ', encoding="utf-8")
    (tmp_path / "list.json").write_text("[1]", encoding="utf-8")
    assert read_json(tmp_path / "half.json") is None
    assert read_json(tmp_path / "list.json") is None
    write_json(tmp_path / "whole.json", {"at": datetime(2017, 1, 1, tzinfo=UTC)})
    assert json.loads((tmp_path / "whole.json").read_text(encoding="utf-8")) == {"at": "2017-01-01 00:00:00+00:00"}
