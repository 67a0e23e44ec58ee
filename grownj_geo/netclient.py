"""Replies from web servers under a `Guard`: redirects checked, sizes and times limited, asked for again.

httpx is imported here outright; whoever needs this module imports it when something is fetched, not before.
"""

from __future__ import annotations

import json
import random
import ssl
import time
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import urljoin

import httpcore
import httpx

from grownj_geo.features import LayerFault
from grownj_geo.nettransport import IMPORT, Clock, TransientError, guarded_client

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from grownj_geo.netguard import Guard, Place

__all__ = ["Incoming", "Reply", "Session", "StatusFault", "TransientError", "Upload", "json_of"]

T = TypeVar("T")

Upload = tuple[str, bytes, str]
"""A file in a form: its name, its content, and its media type."""

_MOST_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SEE_OTHER = 303
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_WRONG = 400
_HINTS = {
    401: "The server wants a sign-in, which is not supported; download the layer by hand and import it.",
    403: "The server does not give it to everybody; look at the publisher's page, or import a file.",
    404: "The service may have moved; look at the publisher's page for its address.",
    407: "The proxy wants a user name and a password: HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT.",
}


class StatusFault(LayerFault):
    """A server answered with an error.

    Attributes
    ----------
    status
        The HTTP status.
    wait_s
        How long the server asks to be left alone, in seconds; None where it says nothing.
    """

    def __init__(self, fault: str, message: str, status: int, wait_s: float | None = None) -> None:
        super().__init__(fault, message)
        self.status = status
        self.wait_s = wait_s

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how it crosses from one process to another."""
        return type(self), (self.fault, str(self), self.status, self.wait_s)


@dataclass(frozen=True)
class Reply:
    """A whole reply: where it came from at last, its headers, and its content, unpacked."""

    url: str
    headers: Mapping[str, str]
    content: bytes


def json_of(reply: Reply) -> Any:  # noqa: ANN401 - JSON is anything
    """Return a reply's JSON.

    Raises
    ------
    TransientError
        If it is none: cut short, or a page for people.
    """
    try:
        return json.loads(reply.content)
    except (ValueError, RecursionError) as error:
        start = reply.content[:60].decode("ascii", "replace")
        raise TransientError(
            "bad_reply",
            f"{_short(reply.url)}: the reply of {len(reply.content):,} bytes is not JSON ({error}); it begins "
            f"{start!r}. Expected JSON. Try again later; if it stays so, look at the address in a browser.",
        ) from error


@dataclass(frozen=True)
class Incoming:
    """A reply whose content has not been read yet."""

    url: str
    status: int
    headers: httpx.Headers
    _response: httpx.Response
    _guard: Guard
    _clock: Clock

    def chunks(self, *, already: int = 0) -> Iterator[bytes]:
        """Yield the content, unpacked, in pieces.

        Parameters
        ----------
        already
            How many bytes of the same file came earlier; they count towards the greatest size.

        Raises
        ------
        LayerFault
            If it grows beyond the greatest size, or takes too long.
        TransientError
            If it ends too early.
        """
        declared = self.headers.get("content-length", "")
        if declared.isdigit() and int(declared) + already > self._guard.max_bytes:
            raise self._too_large(int(declared) + already)
        size = already
        with _faults(self.url, self._clock):
            for piece in self._unpacked():
                size += len(piece)
                if size > self._guard.max_bytes:
                    raise self._too_large(size)
                self._clock.left(None)
                yield piece

    def _unpacked(self) -> Iterator[bytes]:
        packing = self.headers.get("content-encoding", "identity").strip().lower()
        if packing in {"identity", ""}:
            yield from self._response.iter_raw()
            return
        if packing not in {"gzip", "x-gzip", "deflate"}:
            raise LayerFault(
                "bad_reply",
                f"{_short(self.url)}: the reply is packed as {packing!r}; expected gzip or nothing. Download the layer "
                "by hand and import it.",
            )
        # 47: gzip or zlib, whichever it is. The library's own client would take a stream that was cut for whole, and
        # unpack a small piece to any size at once.
        unpacker = zlib.decompressobj(47)
        step = 1 << 20
        try:
            for raw in self._response.iter_raw():
                rest = raw
                while rest and not unpacker.eof:
                    yield unpacker.decompress(rest, step)
                    rest = unpacker.unconsumed_tail
                if unpacker.eof and (unpacker.unused_data or rest):
                    raise self._more_after_the_end()
        except zlib.error as error:
            raise TransientError("cut_short", f"{_short(self.url)}: the packed reply is damaged ({error}).") from error
        while not unpacker.eof:
            more = unpacker.decompress(b"", step)
            if not more:
                raise TransientError(
                    "cut_short", f"{_short(self.url)}: the packed reply ends before its end. Try again later."
                )
            yield more

    def _more_after_the_end(self) -> LayerFault:
        return LayerFault(
            "bad_reply",
            f"{_short(self.url)}: the packed reply goes on after its end; expected one packed stream. Download the "
            "layer by hand and import it.",
        )

    def _too_large(self, size: int) -> LayerFault:
        return LayerFault(
            "response_too_large",
            f"{_short(self.url)}: the reply has {size:,} bytes or more; expected at most {self._guard.max_bytes:,}. "
            "Ask for smaller pages, or raise the limit if the publisher's file is so large.",
        )


@contextmanager
def _faults(url: str, clock: Clock) -> Iterator[None]:
    """Turn what the network library raises into our own words."""
    about = _short(url)
    try:
        yield
    except httpcore.TimeoutException as error:
        if time.monotonic() >= clock.deadline:
            raise clock.fault() from error
        raise TransientError(
            "too_slow", f"{about}: nothing came for too long ({type(error).__name__}). Try again later.", tries=3
        ) from error
    except httpcore.ConnectError as error:
        if isinstance(error.__cause__, ssl.SSLError) or isinstance(error.__context__, ssl.SSLError):
            raise LayerFault(
                "tls_error",
                f"{about}: the server did not prove who it is ({error}). If your office reads encrypted traffic along, "
                "set SSL_CERT_FILE to its certificate; otherwise do not go on.",
            ) from error
        raise TransientError("offline", f"{about}: no connection could be made ({error}). {IMPORT}", tries=2) from error
    except httpcore.ProxyError as error:
        raise LayerFault("offline", f"{about}: the proxy refused ({error}). {_HINTS[407]}") from error
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise TransientError("cut_short", f"{about}: the connection broke off ({error}). Try again later.") from error


class Session:
    """Everything that one fetch asks for: one client, one total time.

    Parameters
    ----------
    guard
        What may be reached, and the limits.

    Examples
    --------
    >>> from grownj_geo.netguard import Guard
    >>> with Session(Guard(frozenset({"maps.nj.gov"}))) as session:
    ...     session.read("https://example.com/", json_of)
    Traceback (most recent call last):
        ...
    grownj_geo.features.LayerFault: https://example.com/: example.com at port 443 is not among the places ...
    """

    def __init__(self, guard: Guard) -> None:
        self.guard = guard
        self._clock = Clock()
        self._client = guarded_client(guard, self._clock)
        self._end = time.monotonic() + guard.total_s

    def __enter__(self) -> Self:
        """Return the session."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close all connections."""
        self._client.close()

    def read(self, url: str, parse: Callable[[Reply], T], *, form: Mapping[str, str] | None = None) -> T:
        """Return what `parse` makes of a whole reply, asking again where something goes wrong that may go away.

        Parameters
        ----------
        url
            With its query.
        parse
            Raises `TransientError` to have the reply asked for again.
        form
            Sent by POST where given.

        Raises
        ------
        LayerFault
            ``offline``, ``http_error`` (a `StatusFault`), ``too_slow``, ``response_too_large``, ``address_refused``,
            ``redirect_refused``, ``tls_error``, ``cut_short``, and what `parse` names.
        """

        def once() -> T:
            with self.stream(url, form=form) as incoming:
                content = b"".join(incoming.chunks())
            return parse(Reply(incoming.url, incoming.headers, content))

        return self.retried(once)

    def retried(self, once: Callable[[], T]) -> T:
        """Return what a call returns, calling it again after a pause where it raises `TransientError`."""
        tried = 0
        while True:
            tried += 1
            try:
                return once()
            except TransientError as error:
                most = self.guard.tries if error.tries is None else min(error.tries, self.guard.tries)
                if tried >= most:
                    times = "once" if tried == 1 else f"{tried} times"
                    raise _final(error, f"{error} (asked {times})") from error
                self.pause(error, tried)

    def pause(self, error: TransientError, tried: int) -> None:
        """Wait before something is asked for again: as long as the server says, or longer each time."""
        guard = self.guard
        wait = min(guard.backoff_s * 2 ** (tried - 1), guard.longest_wait_s) * random.uniform(0.5, 1.0)  # noqa: S311 - only spreads requests
        if error.wait_s is not None:
            if error.wait_s > guard.longest_wait_s:
                raise _final(error, f"{error} It asks to be left alone for {error.wait_s:,.0f} seconds.") from error
            wait = max(wait, error.wait_s)
        if time.monotonic() + wait > self._end:
            raise LayerFault(
                "too_slow", f"{error} No time is left to ask again ({guard.total_s:,.0f} seconds in all)."
            ) from error
        time.sleep(wait)

    @contextmanager
    def stream(
        self,
        url: str,
        *,
        form: Mapping[str, str] | None = None,
        files: Mapping[str, Upload] | None = None,
        headers: Mapping[str, str] | None = None,
        whole_time: bool = False,
    ) -> Iterator[Incoming]:
        """Open one reply whose content is read piece by piece; asked for once, redirects followed.

        Parameters
        ----------
        url, form
            As in `read`.
        files
            Sent in the form, by field.
        headers
            Further headers.
        whole_time
            Let it take all the time that is left for the session, as a large file does.

        Raises
        ------
        LayerFault, TransientError
            As `read` says, for all but content.
        """
        place = self.guard.check(url)
        now = time.monotonic()
        self._clock.about = _short(url)
        self._clock.deadline = self._end if whole_time else min(self._end, now + self.guard.reply_s)
        method = "GET" if form is None and files is None else "POST"
        for _ in range(_MOST_REDIRECTS + 1):
            request = self._client.build_request(method, place.url, data=form, files=files, headers=dict(headers or {}))
            with _faults(place.url, self._clock):
                response = self._client.send(request, stream=True)
            try:
                if response.status_code not in _REDIRECTS:
                    _check_status(response, place)
                    yield Incoming(place.url, response.status_code, response.headers, response, self.guard, self._clock)
                    return
                place = self._next(response, place, method)
            finally:
                response.close()
        raise LayerFault(
            "redirect_refused",
            f"{_short(url)}: the server sent us on more than {_MOST_REDIRECTS} times; expected an answer. Look at the "
            "address in a browser.",
        )

    def _next(self, response: httpx.Response, place: Place, method: str) -> Place:
        to = response.headers.get("location")
        if not to or (method == "POST" and response.status_code == _SEE_OTHER):
            there = repr(_short(to)) if to else "nowhere"
            raise LayerFault(
                "redirect_refused",
                f"{_short(place.url)}: the server sends us on (HTTP {response.status_code}) to {there}, where the "
                "question cannot be asked again. Look at the address in a browser.",
            )
        found = self.guard.check(urljoin(place.url, to), fault="redirect_refused")
        if place.scheme == "https" and found.scheme == "http":
            raise LayerFault(
                "redirect_refused",
                f"{_short(place.url)}: the server sends us on to plain http ({_short(found.url)}); expected https.",
            )
        return found


def _check_status(response: httpx.Response, place: Place) -> None:
    status = response.status_code
    if status < _WRONG or status == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
        return
    message = f"{_short(place.url)}: the server answered HTTP {status}; expected 200."
    if status in _PASSING:
        wait = _wait_s(response.headers.get("retry-after"))
        raise TransientError("http_error", f"{message} It may be busy; try again later.", wait_s=wait, status=status)
    raise StatusFault("http_error", f"{message} {_HINTS.get(status, 'Look at the address in a browser.')}", status)


def _final(error: TransientError, message: str) -> LayerFault:
    """Return what is raised where something that may go away did not."""
    if error.status is None:
        return LayerFault(error.fault, message)
    return StatusFault(error.fault, message, error.status, error.wait_s)


def _wait_s(text: str | None) -> float | None:
    """Return how long a server asks to be left alone, from a count of seconds or a date; None where it says nothing."""
    if not text:
        return None
    if text.strip().isdigit():
        return float(text)
    try:
        day = parsedate_to_datetime(text)
    except ValueError:
        return None  # no server says anything else; the usual pause is taken
    day = day if day.tzinfo else day.replace(tzinfo=UTC)
    return max(0.0, (day - datetime.now(UTC)).total_seconds())


def _short(url: str) -> str:
    """Return a URL without its query, which can be long and is ours."""
    return url.partition("?")[0][:300]
