"""The command `grownj serve`: what it refuses before it begins, and how it begins and ends."""

from __future__ import annotations

import signal
import socket
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import httpx
import psutil
import pytest
from serving import serving
from typer.testing import CliRunner

from grownj_geo import cli
from grownj_geo.features import LayerFault
from grownj_geo.serverun import address_of, listening

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--port", "70000"], "65535"),
        (["--job-hours", "0"], "more than 0"),
        (["--job-hours", "inf"], "at most 8784"),
        (["--job-hours", "1e9"], "at most 8784"),
        (["--job-hours", "nan"], "at most 8784"),
        (["--max-upload-mb", "0"], "max-upload-mb"),
        (["--allow-host", "a b"], "gis.example.gov"),
        (["--allow-origin", "gis.example.gov"], "https://gis.example.gov"),
        (["--allow-origin", "https://gis.example.gov/map"], "https://gis.example.gov"),
        (["--token-file", "nothing-here"], "could not be read"),
        (["--host", "203.0.113.7", "--port", "0"], "cannot be listened on"),
    ],
)
def test_what_cannot_be_is_refused_before_it_begins(options: list[str], words: str) -> None:
    done = CliRunner().invoke(cli.app, ["serve", *options])
    assert done.exit_code == 2
    assert words in " ".join(done.output.split())


@pytest.mark.parametrize("token", ["", "short", "with a blank inside it", "ein-schl\u00fcssel-mit-umlaut"])
def test_a_token_that_is_none_is_refused(tmp_path: Path, token: str) -> None:
    file = tmp_path / "token"
    file.write_text(token, encoding="utf-8")
    done = CliRunner().invoke(cli.app, ["serve", "--token-file", str(file)])
    assert done.exit_code == 2
    assert "at least 16" in " ".join(done.output.split())


def test_a_port_that_is_taken_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LayerFault, match=f"127.0.0.1:{port}"):
            listening("127.0.0.1", port)


def test_where_it_listens_is_an_address_for_a_browser() -> None:
    sock = listening("127.0.0.1", 0)
    try:
        assert address_of(sock) == f"http://127.0.0.1:{sock.getsockname()[1]}/"
    finally:
        sock.close()


def test_without_its_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grownj_geo.cli_serve._NEEDED", ("fastapi", "no_such_package_here"))
    done = CliRunner().invoke(cli.app, ["serve"])
    assert done.exit_code == 2
    assert "no_such_package_here" in done.output
    assert "pip install 'grownj-geo[serve]'" in " ".join(done.output.split())


def test_it_begins_answers_and_ends_cleanly(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        assert httpx.get(f"{served.address}/healthz").json() == {"status": "ok"}
        assert "<html" in httpx.get(served.address).text
        process = served.process
    assert process.returncode in {0, 130, -2}
    assert not [line for line in served.lines if "Traceback" in line]


def test_it_ends_as_cleanly_when_it_is_told_to(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        # With its process for long work begun.
        assert httpx.get(f"{served.address}/api/v1/areas", timeout=60).status_code == 200
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(30) == 0
    assert [line for line in served.lines if not line.startswith(("{", "Serving "))] == []


@pytest.mark.parametrize(
    ("settings", "options", "said", "unsaid"),
    [
        ("", [], ["is not written down", "Nothing is sent anywhere."], ["are sent to"]),
        ('locators = ["local", "census"]\n', [], ["is not written down", "are sent to census"], ["Nothing is sent"]),
        ("", ["--log-addresses"], ["is written down here", "Nothing is sent anywhere."], ["not written"]),
        ("locators = 7\n", [], ["settings cannot be read", "No address is looked up"], ["are sent to"]),
    ],
)
def test_it_says_what_is_written_down_and_what_is_sent(
    *, tmp_path: Path, settings: str, options: list[str], said: list[str], unsaid: list[str]
) -> None:
    if settings:
        (tmp_path / "settings.toml").write_text(settings, encoding="utf-8")
    with serving(tmp_path, *options) as served:
        told = " ".join(" ".join(line for line in served.lines if not line.startswith("{")).split())
    assert [words for words in said if words not in told] == []
    assert [words for words in unsaid if words in told] == []


def test_what_it_started_ends_with_it_however_it_is_ended(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        assert httpx.get(f"{served.address}/api/v1/areas", timeout=60).status_code == 200
        started = psutil.Process(served.process.pid).children(recursive=True)
        assert started
        served.process.kill()
        _, alive = psutil.wait_procs(started, timeout=20)
        assert alive == []


def test_whoever_lets_others_in_without_a_token_is_told(tmp_path: Path) -> None:
    with serving(tmp_path, "--host", "127.0.0.1", "--allow-host", "gis.example.gov") as served:
        assert not any("token" in line for line in served.lines)


def test_other_commands_do_not_pay_for_it() -> None:
    code = "import sys, grownj_geo.cli; print([m for m in ('fastapi', 'uvicorn', 'starlette') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_jobs_of_others_are_not_readable(tmp_path: Path) -> None:
    with serving(tmp_path) as served, served.client() as client:
        job = client.post("/api/v1/jobs", files={"file": ("a.csv", b"lat,lon\n40.7344,-74.1641\n")}).json()["id"]
        assert stat.S_IMODE((tmp_path / "jobs" / job).stat().st_mode) & 0o077 == 0
