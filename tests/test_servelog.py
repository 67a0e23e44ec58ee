"""What is written down: no addresses unless that is wanted, and counts that Prometheus can read."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from serving import serving

from grownj_geo.servelog import RequestLog

if TYPE_CHECKING:
    from pathlib import Path

SCOPE: dict[str, Any] = {
    "type": "http",
    "method": "GET",
    "path": "/api/v1/determine",
    "query_string": b"site=12+Main+St",
    "client": ("192.0.2.7", 5000),
}


def _lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def _fail(words: str) -> None:
    raise RuntimeError(words)


def _one(log: RequestLog, **scope: Any) -> None:
    record = log.begin({**SCOPE, **scope})
    record.received(10)
    record.started(200)
    record.sent(5)
    record.end({**SCOPE, **scope})


def test_a_line_says_how_it_ended_and_nothing_of_what_was_asked() -> None:
    stream = io.StringIO()
    _one(RequestLog(stream))
    (line,) = _lines(stream)
    assert (line["method"], line["status"], line["bytes_in"], line["bytes_out"]) == ("GET", 200, 10, 5)
    assert (line["route"], line["level"]) == ("unmatched", "info")
    assert "Main" not in stream.getvalue()
    assert "192.0.2.7" not in stream.getvalue()


def test_where_it_is_wanted_what_was_asked_is_written_down() -> None:
    stream = io.StringIO()
    _one(RequestLog(stream, addresses=True))
    (line,) = _lines(stream)
    assert (line["query"], line["from"]) == ("site=12+Main+St", "192.0.2.7")


def test_something_unforeseen_leaves_its_place_and_not_its_words() -> None:
    stream, wanted = io.StringIO(), io.StringIO()
    for log in (RequestLog(stream), RequestLog(wanted, addresses=True)):
        record = log.begin(SCOPE)
        with pytest.raises(RuntimeError) as raised:
            _fail("at 12 Main St")
        record.failed(raised.value)
    (line,) = _lines(stream)
    assert line["error"] == "RuntimeError"
    assert "test_servelog.py" in line["frames"][-1]
    assert "Main" not in stream.getvalue()
    assert _lines(wanted)[0]["message"] == "at 12 Main St"


def test_a_log_that_nobody_reads_any_more_stops_nothing() -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError(text[:1])

    log = RequestLog(Gone())
    _one(log)
    _one(log)
    assert b'grownj_requests_total{method="GET",route="unmatched",status="200"} 2.0' in log.metrics()


def test_odd_methods_and_paths_make_no_new_counts() -> None:
    log = RequestLog(io.StringIO())
    for name in ("BREW", "X" * 100):
        _one(log, method=name, path=f"/{name}")
    text = log.metrics().decode()
    assert 'grownj_requests_total{method="other",route="unmatched",status="200"} 2.0' in text
    assert "BREW" not in text


@pytest.mark.parametrize("asked", [False, True])
def test_a_server_writes_down_addresses_only_where_it_was_told_to(tmp_path: Path, *, asked: bool) -> None:
    with serving(tmp_path, *(["--log-addresses"] if asked else [])) as served:
        with served.client() as client:
            client.get("/api/v1/search", params={"q": "987 Elm Road, Camden"})
            client.post("/api/v1/determine", json={"site": "987 Elm Road, Camden"})
            client.get("/987-Elm-Road")
            client.get("/")
            client.get("/api/v1/determine", params={"site": "40.7344,-74.1641"})
            families = {f.name: f for f in text_string_to_metric_families(client.get("/metrics").text)}
        log = served.log
        text = "\n".join(served.lines)
    assert ("Elm" in text) is asked
    assert ("40.7344" in text) is asked
    routes = [line["route"] for line in log if line["event"] == "request"]
    assert {"/api/v1/search", "/api/v1/determine", "unmatched", "/"} <= set(routes)
    counted = {
        (sample.labels["route"], sample.labels["status"]): sample.value
        for sample in families["grownj_requests"].samples
        if sample.name.endswith("_total")
    }
    assert counted["/api/v1/determine", "200"] == 1
    assert counted["/api/v1/determine", "422"] == 1
    assert families["grownj_questions_waiting"].samples[0].value == 0
