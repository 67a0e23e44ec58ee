"""Connections under a `Guard`: made to checked addresses only, through the environment's proxies, against a clock.

httpx is imported here outright; whoever needs this module imports it when something is fetched, not before.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from importlib import metadata
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from grownj_geo.features import LayerFault

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable, Iterator

    from grownj_geo.netguard import Guard

__all__ = ["IMPORT", "Clock", "TransientError", "guarded_client"]

IMPORT = "Without network, import a file instead; behind an office proxy, set HTTPS_PROXY."
"""What to do where nothing can be reached."""


class TransientError(Exception):
    """Something that may go away by asking again, and the fault that it is when it does not.

    Parameters
    ----------
    fault, message
        As in `LayerFault`.
    wait_s
        How long the server asks to be left alone; None where it says nothing.
    tries
        How often to try in all, where that is less often than the guard says.
    status
        Of the reply, where one came.
    """

    def __init__(
        self,
        fault: str,
        message: str,
        *,
        wait_s: float | None = None,
        tries: int | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message)
        self.fault = fault
        self.wait_s = wait_s
        self.tries = tries
        self.status = status


@dataclass
class Clock:
    """Until when what is being fetched has to be there.

    Attributes
    ----------
    deadline
        By the monotonic clock.
    about
        What messages begin with.
    """

    deadline: float = field(default=float("inf"))
    about: str = ""

    def left(self, timeout: float | None) -> float:
        """Return how long the next step may take, in seconds.

        Raises
        ------
        LayerFault
            ``too_slow`` when time is up.
        """
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise self.fault()
        return left if timeout is None else min(left, timeout)

    def fault(self) -> LayerFault:
        """Return what is raised when time is up."""
        return LayerFault(
            "too_slow",
            f"{self.about}: the reply was not complete within the time allowed. Try again later; what has come is kept "
            "where the fetch can be resumed.",
        )


class _Stream(httpcore.NetworkStream):
    """A connection on which every step has to end by the clock's time, however slowly bytes drip in."""

    def __init__(self, inner: httpcore.NetworkStream, clock: Clock) -> None:
        self._inner = inner
        self._clock = clock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, timeout=self._clock.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, timeout=self._clock.left(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        inner = self._inner.start_tls(ssl_context, server_hostname, timeout=self._clock.left(timeout))
        return _Stream(inner, self._clock)

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - as the base class has it
        return self._inner.get_extra_info(info)


class _Backend(httpcore.NetworkBackend):
    """Connects to the very addresses that were checked, so that a name cannot change its meaning in between."""

    def __init__(self, guard: Guard | None, clock: Clock) -> None:
        self._guard = guard
        self._clock = clock
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        try:
            found = [host] if self._guard is None else self._guard.addresses(host, port)
        except OSError as error:
            raise TransientError(
                "offline", f"{host}: the name could not be looked up ({error}). {IMPORT}", tries=2
            ) from error
        for address in found[:-1]:
            try:
                return self._connect(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return self._connect(found[-1], port, timeout, local_address, socket_options)

    def _connect(
        self, address: str, port: int, timeout: float | None, local: str | None, options: Iterable[Any] | None
    ) -> httpcore.NetworkStream:
        stream = self._inner.connect_tcp(
            address, port, timeout=self._clock.left(timeout), local_address=local, socket_options=options
        )
        return _Stream(stream, self._clock)


class _Body(httpx.SyncByteStream):
    def __init__(self, inner: Any) -> None:  # noqa: ANN401 - httpcore names no type for it
        self._inner = inner

    def __iter__(self) -> Iterator[bytes]:
        yield from self._inner

    def close(self) -> None:
        self._inner.close()


def _proxy_for(place: httpx.URL) -> str | None:
    """Return the proxy that the environment (or the system) sets for an address; never one for this machine itself."""
    host = place.host
    if host == "localhost" or host.startswith("127.") or host == "::1" or proxy_bypass(host):
        return None
    proxies = getproxies()
    found = proxies.get(place.scheme) or proxies.get("all")
    return found if not found or "://" in found else f"http://{found}"


class _Transport(httpx.BaseTransport):
    def __init__(self, guard: Guard, clock: Clock) -> None:
        self._clock = clock
        # Takes SSL_CERT_FILE into account, which offices that read along set.
        self._tls = httpx.create_ssl_context()
        self._direct = httpcore.ConnectionPool(
            ssl_context=self._tls, max_connections=4, network_backend=_Backend(guard, clock)
        )
        self._proxied: dict[str, httpcore.ConnectionPool] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        core = httpcore.Request(
            method=request.method,
            url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        response = self._pool(url).handle_request(core)
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response.stream),
            extensions=response.extensions,
        )

    def _pool(self, url: httpx.URL) -> httpcore.ConnectionPool:
        proxy = _proxy_for(url)
        if proxy is None:
            return self._direct
        if proxy not in self._proxied:
            parts = urlsplit(proxy)
            if parts.scheme not in {"http", "https"} or not parts.hostname:
                raise LayerFault(
                    "proxy_refused",
                    f"The proxy {parts.scheme}://{parts.hostname} cannot be used; expected one such as "
                    "http://proxy.example:8080. Set HTTPS_PROXY to one.",
                )
            named = parts.username is not None
            self._proxied[proxy] = httpcore.HTTPProxy(
                proxy_url=f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}",
                proxy_auth=(unquote(parts.username or ""), unquote(parts.password or "")) if named else None,
                ssl_context=self._tls,
                # The proxy is the user's own choice, and often at a private address.
                network_backend=_Backend(None, self._clock),
            )
        return self._proxied[proxy]

    def close(self) -> None:
        self._direct.close()
        for pool in self._proxied.values():
            pool.close()


def _version() -> str:
    try:
        return metadata.version("grownj-geo")
    except metadata.PackageNotFoundError:
        return "0"


def guarded_client(guard: Guard, clock: Clock | None = None) -> httpx.Client:
    """Return a client that connects to addresses which the guard lets through, and follows no redirect by itself.

    Hosts are not checked by the client but by `Session`, which also follows redirects.
    """
    return httpx.Client(
        transport=_Transport(guard, clock or Clock()),
        trust_env=False,  # proxies and certificates of the environment are the transport's business
        follow_redirects=False,
        timeout=httpx.Timeout(guard.idle_s, connect=guard.connect_s),
        headers={"User-Agent": f"grownj-geo/{_version()}", "Accept-Encoding": "gzip"},
    )
