"""What every request goes through: who may ask, how much may be sent and how slowly, what every answer carries.

A layer around the application, so that nothing is read of a request that is refused.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders

from grownj_geo.serveproblems import ProblemError, problem_response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from grownj_geo.servelog import RequestLog

__all__ = ["UPLOADS", "Guard", "GuardOptions", "host_of"]

UPLOADS = ("/api/v1/geometry", "/api/v1/jobs")
"""Where files are sent; everything else takes JSON."""

_API = "/api/"
_LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]{1,255})(?::(?P<port>[0-9]{1,5}))?")
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_NEVER_FRAMED = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": _NEVER_FRAMED,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


@dataclass(frozen=True)
class GuardOptions:
    """Who may ask, and how much is taken.

    Attributes
    ----------
    hosts
        Names under which the server may be asked, besides those of this machine itself.
    origins
        Origins of other pages that may use the API, as in ``"https://gis.example.gov"``.
    token
        What callers of the API have to show; None for nobody has to.
    body_bytes, upload_bytes
        The longest body of JSON, and of an upload.
    grace_s, least_bytes_s
        A body has to be there within so many seconds, and one more for each so many bytes.
    """

    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    token: str | None = field(default=None, repr=False)
    body_bytes: int = 5_000_000
    upload_bytes: int = 200_000_000
    grace_s: float = 15.0
    least_bytes_s: int = 20_000


def host_of(text: str) -> str | None:
    """Return the name in a Host header, in small letters and without the port; None where it is none.

    Examples
    --------
    >>> host_of("LocalHost:8337"), host_of("[::1]:8337"), host_of("a b"), host_of("")
    ('localhost', '::1', None, None)
    """
    found = _HOST.fullmatch(text)
    return None if found is None else found["name"].strip("[]").lower().rstrip(".")


class Guard:
    """Looks at requests before the application sees them, and at answers on their way out.

    Parameters
    ----------
    app
        The application.
    options
        Who may ask, and how much is taken.
    log
        Told of every request.
    """

    def __init__(self, app: ASGIApp, options: GuardOptions, log: RequestLog) -> None:
        self.app, self.options, self.log = app, options, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        record = self.log.begin(scope)
        origin = Headers(scope=scope).get("origin")

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                record.started(message["status"])
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
                if origin is not None and origin in self.options.origins:
                    # Refusals too: that page is to learn why.
                    headers.setdefault("Access-Control-Allow-Origin", origin)
                    headers.add_vary_header("Origin")
                headers["X-Request-Id"] = record.id
            elif message["type"] == "http.response.body":
                record.sent(len(message.get("body", b"")))
            await send(message)

        try:
            self._check(scope)
            limited = _Body(receive, self.options, self._limit(scope), record.received)
            await self.app(scope, limited, sent)
        except ProblemError as error:
            response = problem_response(
                error.status_code, str(error.detail), code=error.code, headers=error.headers, more=error.more
            )
            await response(scope, receive, sent)
        # The last line: whatever is unforeseen is written down, and the caller learns nothing but that.
        except Exception as error:
            record.failed(error)
            if not record.status:
                detail = f"Something unforeseen happened, and was written down as {record.id}. Please report it."
                await problem_response(500, detail, headers={"Connection": "close"})(scope, receive, sent)
            else:
                raise
        finally:
            record.end(scope)

    # -- before ----------------------------------------------------------------------------------------

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        self._check_host(headers)
        path, method = scope["path"], scope["method"]
        # Reading too: a page elsewhere could make the server send addresses out, or keep it busy.
        if method not in _SAFE or (method != "OPTIONS" and path.startswith(_API)):
            self._check_origin(headers)
        if path.startswith(_API) or path == "/metrics":
            preflight = method == "OPTIONS" and "access-control-request-method" in headers
            if not preflight:
                self._check_token(headers)
        if method == "POST" and path.startswith(_API):
            self._check_kind(headers, path)
        length = headers.get("content-length")
        if length is not None and length.isdecimal() and int(length[:15]) > self._limit(scope):
            raise _too_large(self._limit(scope))

    def _check_host(self, headers: Headers) -> None:
        """Refuse other names: a page elsewhere could make its own name lead here."""
        hosts = headers.getlist("host")
        name = host_of(hosts[0]) if len(hosts) == 1 else None
        if name is None or not (name in _LOCAL or name in self.options.hosts):
            shown = hosts[0][:100] if hosts else "nothing"
            raise ProblemError(
                400,
                f"The host was named as {shown!r}, under which this server is not asked. Expected the name that it was "
                "started for; grownj serve --allow-host NAME adds one.",
                code="wrong_host",
            )

    def _check_origin(self, headers: Headers) -> None:
        """Refuse to do anything for pages of others."""
        origin = headers.get("origin")
        if origin is not None:
            if not _same_origin(origin, headers.get("host", "")) and origin not in self.options.origins:
                raise ProblemError(
                    403,
                    f"The page at {origin[:100]} may not use this server. Start it with --allow-origin if it should.",
                    code="wrong_origin",
                )
        elif headers.get("sec-fetch-site") == "cross-site":
            raise ProblemError(403, "Pages of others may not use this server.", code="wrong_origin")

    def _check_token(self, headers: Headers) -> None:
        if self.options.token is None:
            return
        kind, _, shown = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not secrets.compare_digest(shown.strip().encode(), self.options.token.encode()):
            raise ProblemError(
                401,
                "This server asks for a token. Send it as: Authorization: Bearer TOKEN.",
                headers={"WWW-Authenticate": 'Bearer realm="grownj"'},
            )

    @staticmethod
    def _check_kind(headers: Headers, path: str) -> None:
        wanted = "multipart/form-data" if path in UPLOADS else "application/json"
        found = headers.get("content-type", "").partition(";")[0].strip().lower()
        if found != wanted:
            raise ProblemError(
                415, f"The body came as {found[:100] or 'nothing'!r}; expected {wanted}. Send it as that."
            )

    def _limit(self, scope: Scope) -> int:
        return self.options.upload_bytes if scope["path"] in UPLOADS else self.options.body_bytes


def _same_origin(origin: str, host: str) -> bool:
    """Return whether a page is one of this server's own.

    Examples
    --------
    >>> _same_origin("http://LocalHost:8337", "localhost:8337"), _same_origin("http://[", "["), _same_origin("null", "")
    (True, False, False)
    """
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return bool(parts.netloc) and parts.netloc.lower() == host.lower()


def _too_large(limit: int) -> ProblemError:
    return ProblemError(
        413,
        f"The body is larger than {limit / 1e6:,.0f} MB, which is the most that is taken here. Send less.",
        # What is still on its way is not read.
        headers={"Connection": "close"},
    )


class _Body:
    """A body that is let in as long as it is not too large and not too slow."""

    def __init__(self, receive: Receive, options: GuardOptions, limit: int, told: _Told) -> None:
        self._receive, self._options, self._limit, self._told = receive, options, limit, told
        self._begun = time.monotonic()
        self._bytes = 0
        self._whole = False

    async def __call__(self) -> Message:
        """Return the next piece.

        Raises
        ------
        ProblemError
            413 or 408.
        """
        if self._whole:
            # What comes now is only that the caller has gone.
            return await self._receive()
        allowed = self._options.grace_s + self._bytes / self._options.least_bytes_s
        try:
            async with asyncio.timeout(max(allowed - (time.monotonic() - self._begun), 0.0)):
                message = await self._receive()
        except TimeoutError:
            raise ProblemError(
                408,
                f"The body came too slowly: {self._bytes:,} bytes in {time.monotonic() - self._begun:,.0f} s. "
                "Send it again over a better line.",
                headers={"Connection": "close"},
            ) from None
        if message["type"] == "http.request":
            self._bytes += len(message.get("body", b""))
            self._told(len(message.get("body", b"")))
            self._whole = not message.get("more_body", False)
            if self._bytes > self._limit:
                raise _too_large(self._limit)
        else:
            self._whole = True
        return message


if TYPE_CHECKING:
    from collections.abc import Callable

    _Told = Callable[[int], None]


def is_local(host: str) -> bool:
    """Return whether an address to listen on is reached from this machine alone.

    Examples
    --------
    >>> is_local("127.0.0.1"), is_local("localhost"), is_local("0.0.0.0"), is_local("::1")
    (True, True, False, True)
    """
    if host in _LOCAL:
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
