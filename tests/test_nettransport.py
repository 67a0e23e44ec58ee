"""Encrypted connections: servers that prove who they are, and others."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

import pytest
import trustme
from feature_servers import Answer, LoopbackServer, loopback_guard

from grownj_geo import netguard
from grownj_geo.features import LayerFault
from grownj_geo.netclient import Session
from grownj_geo.nettransport import Clock, guarded_client

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "maps.test"


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    """Return an office's own authority, which the environment names as trusted."""
    made = trustme.CA()
    made.cert_pem.write_to_path(tmp_path / "office.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "office.pem"))
    monkeypatch.setenv("NO_PROXY", NAME)
    monkeypatch.setattr(netguard, "_resolve", lambda _host, _port: ["127.0.0.1"])
    return made


def encrypted(authority: trustme.CA, name: str) -> LoopbackServer:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return LoopbackServer(lambda _: Answer(b"proved"), tls=context)


@pytest.fixture
def server(authority: trustme.CA) -> Iterator[LoopbackServer]:
    """Yield a server that proves to be the one of the name."""
    with encrypted(authority, NAME) as running:
        yield running


def read(url: str) -> bytes:
    with Session(loopback_guard(url)) as session:
        return session.read(url, lambda reply: reply.content)


def test_a_server_that_proves_its_name_is_read(server: LoopbackServer) -> None:
    assert read(f"https://{NAME}:{server.port}/") == b"proved"


def test_a_server_of_another_name_is_not(authority: trustme.CA) -> None:
    with encrypted(authority, "other.test") as server, pytest.raises(LayerFault, match="SSL_CERT_FILE") as caught:
        read(f"https://{NAME}:{server.port}/")
    assert caught.value.fault == "tls_error"
    assert not server.log


@pytest.mark.usefixtures("authority")
def test_a_server_of_an_unknown_authority_is_not() -> None:
    with encrypted(trustme.CA(), NAME) as server, pytest.raises(LayerFault) as caught:
        read(f"https://{NAME}:{server.port}/")
    assert caught.value.fault == "tls_error"


def test_a_server_that_does_not_encrypt_is_not_read(authority: trustme.CA) -> None:
    assert authority is not None
    with LoopbackServer(lambda _: Answer(b"plain")) as server, pytest.raises(LayerFault) as caught:
        read(f"https://{NAME}:{server.port}/")
    assert caught.value.fault == "tls_error"


def test_an_encrypted_server_cannot_send_us_to_a_plain_one(authority: trustme.CA) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(NAME).configure_cert(context)
    with LoopbackServer(lambda _: Answer(b"plain")) as plain:
        to = f"http://{NAME}:{plain.port}/"
        with LoopbackServer(lambda _: Answer(status=302, headers={"Location": to}), tls=context) as server:
            url = f"https://{NAME}:{server.port}/"
            guard = loopback_guard(url).naming(to)
            with Session(guard) as session, pytest.raises(LayerFault) as caught:
                session.read(url, lambda reply: reply.content)
        assert caught.value.fault == "redirect_refused"
        assert not plain.log


def test_the_client_itself_refuses_inner_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(netguard, "_resolve", lambda _host, _port: ["127.0.0.1"])
    monkeypatch.setenv("NO_PROXY", NAME)
    with LoopbackServer(lambda _: Answer(b"inner")) as server:
        with guarded_client(netguard.Guard(frozenset())) as client, pytest.raises(LayerFault) as caught:
            client.get(f"http://{NAME}:{server.port}/")
        assert caught.value.fault == "address_refused"
        assert not server.log


def test_a_clock_that_has_run_out_says_so() -> None:
    clock = Clock(deadline=0.0, about="here")
    with pytest.raises(LayerFault, match="here") as caught:
        clock.left(5.0)
    assert caught.value.fault == "too_slow"
    assert Clock().left(5.0) == 5.0
