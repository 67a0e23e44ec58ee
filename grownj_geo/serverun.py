"""Listening: uvicorn with a deadline for requests, which it has none for itself."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from grownj_geo.features import LayerFault

if TYPE_CHECKING:
    import asyncio

    from fastapi import FastAPI

__all__ = ["address_of", "listening", "run_app"]

_HEADERS_S = 10.0
_MOST_CONNECTIONS = 1_000
_ENDING_S = 10


class PatientProtocol(H11Protocol):
    """Closes a connection whose request does not begin, or whose headers are not whole, in time."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 - uvicorn's own
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take what came; a request that is whole stops the wait."""
        idle = self.conn.their_state is h11.IDLE
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop()
        elif self._deadline is None and idle:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop()
        super().connection_lost(exc)

    def _expect(self) -> None:
        self._deadline = self.loop.call_later(_HEADERS_S, self._close)

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close(self) -> None:
        self._deadline = None
        if not self.transport.is_closing() and self.conn.their_state is h11.IDLE:
            self.transport.close()


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes any that is free.

    Raises
    ------
    LayerFault
        ``not_listening`` where the address cannot be listened on.
    """
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(512)
    except OSError as error:
        sock.close()
        raise LayerFault(
            "not_listening",
            f"{host}:{port} cannot be listened on: {error.strerror or error}. Expected an address of this machine and "
            "a free port; give another with --port.",
        ) from error
    return sock


def address_of(sock: socket.socket) -> str:
    """Return where a browser finds what listens."""
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def run_app(app: FastAPI, sock: socket.socket) -> None:
    """Answer until the process is told to end; what runs is finished first."""
    config = uvicorn.Config(
        app,
        http=PatientProtocol,
        loop="asyncio",
        ws="none",
        lifespan="on",
        # The application writes its own lines, without addresses.
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=_ENDING_S,
        h11_max_incomplete_event_size=32_768,
    )
    uvicorn.Server(config).run(sockets=[sock])
