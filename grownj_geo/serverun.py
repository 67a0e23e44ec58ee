"""Listening: uvicorn with a deadline for requests, which it has none for itself."""

from __future__ import annotations

import math
import signal
import socket
from typing import TYPE_CHECKING, Any, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from grownj_geo.features import LayerFault

if TYPE_CHECKING:
    import asyncio

    from fastapi import FastAPI

__all__ = ["address_of", "listening", "run_app", "server_of"]

_WAIT_S = 10.0
_READ_S = 20.0
_LEAST_READ_BYTES = 20_000
_MOST_DROPPED_BYTES = 64_000_000
_MOST_CONNECTIONS = 1_000
_ENDING_S = 10


class PatientProtocol(H11Protocol):
    """Closes a connection that keeps the server waiting: for a request, for the rest of one, or for answers to be read.

    The rest of a body matters to nobody once the request has its answer: it is let pass, but not for long and not much
    of it. A connection that is closed while a body is on its way takes the answer along, before it is read: so such a
    one is only closed for what the server writes until then.
    """

    _deadline: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None
    _dropped = 0
    _ending = False

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 - uvicorn's own
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._whole: asyncio.Transport = transport
        self.transport = cast("asyncio.Transport", _Gentle(transport, self))
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take what came; a request that is whole stops the wait."""
        if self._ending or self._answered_early:
            self._dropped += len(data)
            if self._dropped > _MOST_DROPPED_BYTES:
                self._whole.close()
                return
        else:
            self._dropped = 0
        if self._ending:
            return
        super().data_received(data)
        if not self._waits:
            self._stop()
        elif self._deadline is None:
            self._expect()

    def on_response_complete(self) -> None:
        """Wait for the rest of a request that has its answer, and for the answer to be read."""
        super().on_response_complete()
        if self._answered_early and self._deadline is None:
            self._expect()
        self._look_at_reader()

    def pause_writing(self) -> None:
        """Begin to look whether what is written is read."""
        super().pause_writing()
        self._look_at_reader()

    def end(self) -> None:
        """Close, gently where a body is on its way: what is still sent of it is read and dropped."""
        if self._whole.is_closing() or self._ending or not self._is_sending or not self._whole.can_write_eof():
            self._whole.close()
            return
        self._ending = True
        self._stop()
        self._expect()
        self._whole.write_eof()
        # It may have been told to wait, as nobody took what came.
        self._whole.resume_reading()

    @property
    def ending(self) -> bool:
        """Whether it is closed but for what is still sent."""
        return self._ending

    def shutdown(self) -> None:
        """Close where nothing is being answered; nobody is waited for then."""
        if self._ending:
            self._whole.close()
        else:
            super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop()
        if self._reading is not None:
            self._reading.cancel()
        super().connection_lost(exc)

    @property
    def _is_sending(self) -> bool:
        return self.conn.their_state is h11.SEND_BODY

    @property
    def _answered_early(self) -> bool:
        """Whether a request has its answer, and its body is not whole."""
        return self._is_sending and self.cycle.response_complete

    @property
    def _waits(self) -> bool:
        """Whether it is the caller's turn, and nothing of what is asked waits for it."""
        return self.conn.their_state is h11.IDLE or self._answered_early

    def _expect(self) -> None:
        self._deadline = self.loop.call_later(_WAIT_S, self._close)

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close(self) -> None:
        self._deadline = None
        if not self._whole.is_closing() and (self._ending or self._waits):
            self._whole.close()

    def _look_at_reader(self, before: float = math.inf) -> None:
        """Go on as long as what is written goes out; a transport that closes waits for that forever."""
        if before == math.inf and self._reading is not None:
            return
        self._reading = None
        left = self.transport.get_write_buffer_size()
        if left > before - _LEAST_READ_BYTES:
            self.transport.abort()
        elif left:
            self._reading = self.loop.call_later(_READ_S, self._look_at_reader, left)


class _Gentle:
    """A connection as answers see it: to close it is left to the protocol."""

    def __init__(self, transport: asyncio.Transport, protocol: PatientProtocol) -> None:
        self._transport, self._protocol = transport, protocol

    def close(self) -> None:
        self._protocol.end()

    def is_closing(self) -> bool:
        return self._protocol.ending or self._transport.is_closing()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever else a transport has
        return getattr(self._transport, name)


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


def server_of(app: FastAPI) -> uvicorn.Server:
    """Return what answers for an application; its ``should_exit`` ends it when what runs is finished."""
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
    return uvicorn.Server(config)


def run_app(app: FastAPI, sock: socket.socket) -> None:
    """Answer until the process is told to end; what runs is finished first."""
    # The server raises the signal again when it is done: the process then ends as usual, and clears up what it holds.
    before = signal.signal(signal.SIGTERM, _ended)
    try:
        server_of(app).run(sockets=[sock])
    finally:
        signal.signal(signal.SIGTERM, before)


def _ended(signum: int, frame: object) -> None:  # noqa: ARG001 - as signals are handled
    raise SystemExit(0)
