"""Connections that keep the server waiting are closed: whoever holds many of them keeps nobody else out."""

from __future__ import annotations

import socket
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from serving import read_all, sent_until_cut, serving_here
from starlette.responses import Response

from grownj_geo import serverun
from grownj_geo.serveapp import create_app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_UNREAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"


@pytest.fixture
def port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A server whose patience is short."""
    monkeypatch.setattr(serverun, "_WAIT_S", 1.0)
    monkeypatch.setattr(serverun, "_READ_S", 1.0)
    with _running(tmp_path) as found:
        yield found


@contextmanager
def _running(home: Path) -> Iterator[int]:
    app = create_app(home=home)

    # Larger than what the system itself takes from the server.
    @app.get("/much")
    async def much() -> Response:
        return Response(bytes(30_000_000))

    with serving_here(app) as port:
        yield port


def _closed_after_s(sock: socket.socket, *, drip: bytes, longest_s: float = 8.0) -> float:
    """Return after how long the server closes a connection on which something drips."""
    begun = time.monotonic()
    sock.settimeout(0.2)
    while time.monotonic() - begun < longest_s:
        try:
            sock.sendall(drip)
            if not sock.recv(65_536):
                break
        except TimeoutError:
            continue
        except OSError:
            break
    return time.monotonic() - begun


@pytest.mark.parametrize(
    "request_",
    [
        _UNREAD,
        _UNREAD.replace(b"GET", b"POST"),
        b"GET /nothing HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
)
def test_a_request_that_has_its_answer_is_not_waited_for(port: int, request_: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as sock:
        sock.sendall(request_)
        assert sock.recv(65_536).startswith(b"HTTP/1.1 ")
        assert _closed_after_s(sock, drip=b"1\r\nx\r\n" if b"chunked" in request_ else b"x") < 5


def test_a_refusal_is_read_by_who_sends_all_before_reading(port: int) -> None:
    head = b"POST /api/v1/determine HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    for closes in (b"", b"Connection: close\r\n"):
        with socket.create_connection(("127.0.0.1", port), timeout=20) as sock:
            sock.sendall(head + closes + b"Content-Length: 30000000\r\n\r\n")
            # Long enough for the answer to be there, and a connection that is closed to be torn down by what comes.
            for _ in range(3):
                time.sleep(0.2)
                sock.sendall(bytes(10_000_000))
            answer = read_all(sock)
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert answer.endswith(b"}")


def test_who_goes_on_sending_after_a_refusal_is_cut_off(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    head = b"POST /api/v1/determine HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=20) as sock:
        sock.sendall(head + b"Content-Length: 900000000\r\n\r\n")
        assert _closed_after_s(sock, drip=b" ", longest_s=8.0) < 5
    monkeypatch.setattr(serverun, "_WAIT_S", 60.0)
    monkeypatch.setattr(serverun, "_MOST_DROPPED_BYTES", 5_000_000)
    with socket.create_connection(("127.0.0.1", port), timeout=20) as sock:
        sock.sendall(head + b"Content-Length: 900000000\r\n\r\n")
        assert 4_000_000 < sent_until_cut(sock, bytes(1_000_000), 200_000_000) < 100_000_000


def test_the_rest_of_such_a_request_may_come_and_the_next_be_asked(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as sock:
        sock.sendall(_UNREAD)
        assert sock.recv(65_536).startswith(b"HTTP/1.1 200")
        sock.sendall(bytes(100_000))
        sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert b"HTTP/1.1 200" in read_all(sock)


def test_who_asks_again_and_again_is_kept(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as sock:
        for _ in range(5):
            sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = b""
            while not answer.endswith(b'{"status":"ok"}'):
                piece = sock.recv(65_536)
                assert piece
                answer += piece
            assert answer.startswith(b"HTTP/1.1 200")
            time.sleep(0.5)


def test_an_answer_that_nobody_reads_is_given_up(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as sock:
        sock.sendall(b"GET /much HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(3.5)
        assert 0 < len(read_all(sock)) < 30_000_000


def test_an_answer_that_is_read_slowly_comes_whole(port: int) -> None:
    read = 0
    with socket.create_connection(("127.0.0.1", port), timeout=20) as sock:
        sock.sendall(b"GET /much HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        begun = time.monotonic()
        while piece := sock.recv(500_000):
            read += len(piece)
            if time.monotonic() - begun < 3:
                time.sleep(0.1)
    assert read > 30_000_000


@pytest.mark.slow
def test_many_such_connections_keep_nobody_out(port: int) -> None:
    held = []
    try:
        for _ in range(1_000):
            sock = socket.create_connection(("127.0.0.1", port), timeout=20)
            held.append(sock)
            sock.sendall(_UNREAD)
            sock.recv(65_536)
        time.sleep(3)
        with socket.create_connection(("127.0.0.1", port), timeout=20) as sock:
            sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert read_all(sock).startswith(b"HTTP/1.1 200")
    finally:
        for sock in held:
            sock.close()
