"""What may be fetched and from where: schemes, hosts, ports and addresses, and how much and how long.

Nothing is sent here, and nothing heavy is imported: `netclient` connects, and asks a `Guard` at every step.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass, replace
from typing import NamedTuple

from grownj_geo.features import LayerFault

__all__ = ["Guard", "Place", "is_public"]

_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<rest>[^#]*)(?:#.*)?")
# So narrow that no two readers of an address can take different hosts from it: no percent signs, no letters beyond
# ASCII, no user names.
_AUTHORITY = re.compile(
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?)(?::(?P<port>[0-9]{1,5}))?"
)
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")
_PORTS = {"http": 80, "https": 443}
_LAST_PORT = 65_535
_LONGEST_URL = 8_000

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_V4_COMPATIBLE = ipaddress.IPv6Network("::/96")
_NOT_FOR_HOSTS = (
    ipaddress.IPv6Network("64:ff9b:1::/48"),  # a network's own translation
    ipaddress.IPv6Network("2001::/23"),  # protocols, tunnels among them
    ipaddress.IPv4Network("192.0.0.0/24"),  # protocols; older Pythons count only a part of these as private
    ipaddress.IPv4Network("192.88.99.0/24"),  # relays
    ipaddress.IPv4Network("168.63.129.16/32"),  # a cloud's inner service at a public number
)
_MEBIBYTE = 2**20


class Place(NamedTuple):
    """A checked web address: the URL without its fragment, and its parts, the host in small letters."""

    url: str
    scheme: str
    host: str
    port: int


def _inner_v4(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the address of the older kind that one of the newer kind carries."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address in _NAT64 or address in _V4_COMPATIBLE:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return None


def is_public(text: str) -> bool:
    """Return whether an IP address is one that anybody on the internet can have.

    Private, loopback, link-local, multicast, reserved and unspecified addresses are not, in either kind, nor are
    newer addresses that carry such an older one.

    Parameters
    ----------
    text
        An IPv4 or IPv6 address, with or without a zone.

    Raises
    ------
    ValueError
        If it is no address.

    Examples
    --------
    >>> is_public("93.184.215.14"), is_public("169.254.169.254"), is_public("::ffff:127.0.0.1")
    (True, False, False)
    """
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        inner = _inner_v4(address)
        if inner is not None:
            return is_public(str(inner))
        if address.is_site_local:
            return False
    if any(address.version == net.version and address in net for net in _NOT_FOR_HOSTS):
        return False
    return address.is_global and not (
        address.is_multicast
        or address.is_reserved
        or address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_unspecified
    )


def _resolve(host: str, port: int) -> list[str]:
    """Return all addresses that a name stands for now. Tests put their own name service in this place."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True)
class Guard:
    """What a fetch may reach, and its limits.

    Parameters
    ----------
    hosts
        Hosts that may be reached, in small letters: ``"maps.nj.gov"`` at the usual port, ``"gis.example:8443"`` at
        that port. A redirect has to lead to one of them too.
    allow_private
        Let addresses of inner networks through as well, and plain http.
    allow_http
        Let plain http through.
    max_bytes
        Greatest size of one reply or file, unpacked.
    reply_s
        Longest time for one reply, in seconds; for a file `total_s` holds instead.
    total_s
        Longest time for everything that one session fetches.
    connect_s, idle_s
        Longest time for a connection to be made, and between two pieces of a reply.
    tries
        How often something is asked for before giving up.
    backoff_s
        Pause before the second try, roughly; it doubles each time.
    longest_wait_s
        Longest pause. A server that asks for a longer one is not waited for.

    Notes
    -----
    Behind a proxy (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY) the proxy looks names up, so that only hosts and
    written addresses are checked here, not what a name stands for.
    """

    hosts: frozenset[str]
    allow_private: bool = False
    allow_http: bool = False
    max_bytes: int = 512 * _MEBIBYTE
    reply_s: float = 300.0
    total_s: float = 3600.0
    connect_s: float = 15.0
    idle_s: float = 60.0
    tries: int = 5
    backoff_s: float = 0.5
    longest_wait_s: float = 60.0

    def naming(self, url: str) -> Guard:
        """Return a guard that lets the host and port of this URL through too, because the user named it.

        Examples
        --------
        >>> sorted(Guard(frozenset({"maps.nj.gov"})).naming("https://gis.example.com/rest").hosts)
        ['gis.example.com', 'maps.nj.gov']
        """
        place = self._read(url)
        named = place.host if place.port == _PORTS[place.scheme] else f"{place.host}:{place.port}"
        return replace(self, hosts=self.hosts | {named})

    def check(self, url: str, *, fault: str = "address_refused") -> Place:
        """Return a URL's parts if it may be fetched, as far as it can be told before names are looked up.

        Parameters
        ----------
        url
            As written.
        fault
            The kind of fault to raise: ``"redirect_refused"`` for a place that a server sends us to.

        Raises
        ------
        LayerFault
            For other schemes than https (and http where allowed), for hosts and ports that nobody named, for user
            names in the URL, for addresses in unusual spelling and for addresses of inner networks.

        Examples
        --------
        >>> Guard(frozenset({"maps.nj.gov"})).check("https://maps.nj.gov/arcgis/rest#top").url
        'https://maps.nj.gov/arcgis/rest'
        """
        place = self._read(url, fault=fault)
        if place.scheme == "http" and not (self.allow_http or self.allow_private):
            raise LayerFault(
                fault,
                f"{_shown(url)}: the address is plain http, which anybody on the way can change; expected https. Use "
                "the https address of the service.",
            )
        usual = place.port == _PORTS[place.scheme]
        if not ((usual and place.host in self.hosts) or f"{place.host}:{place.port}" in self.hosts):
            raise LayerFault(
                fault,
                f"{_shown(url)}: {place.host} at port {place.port} is not among the places of this layer; expected "
                f"one of {', '.join(sorted(self.hosts)) or 'none'}. Name the address yourself if you trust it.",
            )
        literal = place.host.strip("[]")
        if _is_address(literal):
            self._check_addresses(place.host, [literal], fault)
        return place

    def addresses(self, host: str, port: int) -> list[str]:
        """Return the checked addresses of a host; whoever connects has to take one of these.

        Raises
        ------
        LayerFault
            Where any of them is not public, unless `allow_private`.
        OSError
            Where the name cannot be looked up.
        """
        literal = host.strip("[]")
        found = [literal] if _is_address(literal) else _resolve(host, port)
        self._check_addresses(host, found, "address_refused")
        return found

    def _check_addresses(self, host: str, found: list[str], fault: str) -> None:
        inner = [] if self.allow_private else [address for address in found if not is_public(address)]
        if inner:
            raise LayerFault(
                fault,
                f"{host} leads to {inner[0]}, an address inside this machine or network; expected one on the public "
                "internet. Allow private addresses if the server is your own.",
            )

    def _read(self, url: str, *, fault: str = "address_refused") -> Place:
        if len(url) > _LONGEST_URL or not url.isascii() or not url.isprintable() or set(url) & set(' \\"<>^`{|}'):
            raise LayerFault(
                fault,
                f"{_shown(url)}: the address is longer than {_LONGEST_URL:,} signs or has signs that web addresses do "
                "not have; expected one such as https://maps.nj.gov/arcgis/rest/services. Copy it again.",
            )
        found = _URL.fullmatch(url)
        scheme = found["scheme"].lower() if found else ""
        if found is None or scheme not in _PORTS:
            raise LayerFault(
                fault,
                f"{_shown(url)}: no web address that can be fetched; expected one that begins with https://. A file on "
                "this machine is imported, not fetched.",
            )
        if "@" in found["authority"]:
            raise LayerFault(
                fault,
                f"{scheme}://...@{_shown(found['authority'].rpartition('@')[2])}: the address has a user name in it; "
                "expected none. Leave out what stands before the @.",
            )
        parts = _AUTHORITY.fullmatch(found["authority"])
        port = int(parts["port"]) if parts and parts["port"] else _PORTS[scheme]
        if parts is None or not 0 < port <= _LAST_PORT:
            raise LayerFault(
                fault,
                f"{_shown(url)}: the host {_shown(found['authority'])!r} cannot be read; expected a name such as "
                "maps.nj.gov, with :8443 for a port. Write names in other scripts in their xn-- form.",
            )
        host = _plain_host(parts["host"], url, fault)
        rest = found["rest"] if found["rest"].startswith("/") else f"/{found['rest']}"
        at = "" if port == _PORTS[scheme] else f":{port}"
        return Place(f"{scheme}://{host}{at}{rest}", scheme, host, port)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _plain_host(host: str, url: str, fault: str) -> str:
    """Return a host in small letters without a dot at its end, addresses in their usual spelling."""
    host = host.lower().removesuffix(".")
    literal = host.strip("[]")
    if _is_address(literal):
        return f"[{ipaddress.ip_address(literal)}]" if host.startswith("[") else host
    if host.startswith("[") or _NUMBER.fullmatch(host.rpartition(".")[2]):
        # 127.1, 0177.0.0.1, 0x7f000001 and 2130706433 are all this machine to the system's own reader.
        raise LayerFault(
            fault,
            f"{_shown(url)}: the host {host} is a number in a spelling that programs read differently; expected a "
            "name, or four numbers from 0 to 255 without leading zeros. Write it so.",
        )
    return host


def _shown(text: str) -> str:
    """Return text fit for a message: without signs that a terminal obeys, not endless, and without a query's keys."""
    plain = text.partition("?")[0].encode("ascii", "backslashreplace").decode("ascii")
    shown = "".join(sign if sign.isprintable() else "?" for sign in plain)
    longest = 200
    return shown if len(shown) <= longest else f"{shown[:longest]}..."
