"""What is written down of requests, as lines of JSON without addresses, and the counts of them for Prometheus."""

from __future__ import annotations

import json
import sys
import time
import traceback
import uuid
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Scope

__all__ = ["RequestLog", "RequestRecord"]

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_LONGEST = 500


class RequestLog:
    """Writes a line for each request, and counts.

    What was asked about, and who asked, is in no line unless that is wanted: only which route, how it ended, and how
    long it took.

    Parameters
    ----------
    stream
        Where lines go; the error stream by default.
    addresses
        Write down what was asked for too, and the caller's address.
    """

    def __init__(self, stream: IO[str] | None = None, *, addresses: bool = False) -> None:
        self._stream, self.addresses = stream, addresses
        self._unread = False
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "grownj_requests", "Requests that were answered.", ["method", "route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "grownj_request_seconds", "How long requests took.", ["route"], buckets=_SECONDS, registry=self.registry
        )

    def gauge(self, name: str, words: str, value: Callable[[], float]) -> None:
        """Show a figure as it is whenever somebody looks."""
        Gauge(name, words, registry=self.registry).set_function(value)

    def metrics(self) -> bytes:
        """Return all counts in Prometheus's text format."""
        return generate_latest(self.registry)

    def begin(self, scope: Scope) -> RequestRecord:
        """Return what a request is written down in."""
        return RequestRecord(self, scope)

    def write(self, event: str, **more: object) -> None:
        """Write one line."""
        if self._unread:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = json.dumps({"time": now, "event": event, **more}, default=str)
        stream = self._stream or sys.stderr
        try:
            stream.write(line + "\n")
            stream.flush()
        except (OSError, ValueError):
            # Nobody reads the log any more: answering goes on, and there is nowhere left to say so.
            self._unread = True


class RequestRecord:
    """One request, from its beginning to its end."""

    def __init__(self, log: RequestLog, scope: Scope) -> None:
        self._log = log
        self.id = uuid.uuid4().hex[:16]
        self.status = 0
        self._begun = time.perf_counter()
        self._in = self._out = 0
        self._more: dict[str, Any] = {}
        if log.addresses:
            query = scope.get("query_string", b"").decode("latin-1")
            self._more = {
                "path": scope["path"][:_LONGEST],
                "query": query[:_LONGEST],
                "from": (scope["client"] or [""])[0],
            }

    def started(self, status: int) -> None:
        """Note how it ends."""
        self.status = status

    def received(self, size: int) -> None:
        """Note bytes that came."""
        self._in += size

    def sent(self, size: int) -> None:
        """Note bytes that went."""
        self._out += size

    def failed(self, error: BaseException) -> None:
        """Write down where something unforeseen happened; its message, which may hold an address, only if wanted."""
        frames = [f"{f.filename}:{f.lineno} {f.name}" for f in traceback.extract_tb(error.__traceback__)[-12:]]
        said = {"message": str(error)[:_LONGEST]} if self._log.addresses else {}
        self._log.write("error", level="error", id=self.id, error=type(error).__name__, frames=frames, **said)

    def end(self, scope: Scope) -> None:
        """Write the line, and count."""
        seconds = time.perf_counter() - self._begun
        route = _route(scope, self.status)
        method = scope["method"] if scope["method"] in {"GET", "HEAD", "POST", "DELETE", "OPTIONS"} else "other"
        self._log.requests.labels(method, route, str(self.status)).inc()
        self._log.seconds.labels(route).observe(seconds)
        self._log.write(
            "request",
            level="error" if self.status >= 500 else "info",  # noqa: PLR2004 - of HTTP
            id=self.id,
            method=method,
            route=route,
            status=self.status,
            ms=round(seconds * 1000, 1),
            bytes_in=self._in,
            bytes_out=self._out,
            **self._more,
        )


def _route(scope: Scope, status: int) -> str:
    """Return which route answered; of the page's files no name."""
    found = getattr(scope.get("route"), "path", None)
    if found is not None:
        return str(found)
    path = scope["path"]
    page = status < 400 and (path == "/" or path.startswith("/static/"))  # noqa: PLR2004 - of HTTP
    return "unmatched" if not page else "/" if path == "/" else "/static/{name}"
