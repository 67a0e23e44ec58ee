"""Addresses that may be fetched and those that may not, limits, and redirects."""

from __future__ import annotations

import gzip
import time
import zlib

import pytest
from feature_servers import Answer, Asked, LoopbackServer, loopback_guard

from grownj_geo import netguard
from grownj_geo.features import LayerFault
from grownj_geo.netclient import Reply, Session, json_of
from grownj_geo.netguard import Guard, is_public

OFFICIAL = Guard(frozenset({"maps.nj.gov"}))


def fault_of(url: str, guard: Guard = OFFICIAL) -> str:
    with pytest.raises(LayerFault) as caught:
        guard.check(url)
    return caught.value.fault


def read(url: str, guard: Guard) -> bytes:
    with Session(guard) as session:
        return session.read(url, lambda reply: reply.content)


def refused(url: str, guard: Guard) -> LayerFault:
    with pytest.raises(LayerFault) as caught:
        read(url, guard)
    return caught.value


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.8.9.1",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "168.63.129.16",
        "100.64.0.1",
        "0.0.0.0",  # noqa: S104 - is to be refused
        "192.0.0.8",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:10.1.2.3",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "2001:db8::1",
    ],
)
def test_no_inner_address_is_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.215.14", "8.8.8.8", "2606:2800:21f::1", "64:ff9b::808:808"])
def test_others_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "http://maps.nj.gov/arcgis",
        "ftp://maps.nj.gov/x",
        "file:///etc/passwd",
        "gopher://maps.nj.gov/x",
        "maps.nj.gov/arcgis",
        "//maps.nj.gov/arcgis",
        "https:///arcgis",
        "https://maps.nj.gov:8443/arcgis",
        "https://maps.nj.gov:0/",
        "https://maps.nj.gov:99999/",
        "https://maps.nj.gov.example.com/",
        "https://evil-maps.nj.gov/",
        "https://example.com/maps.nj.gov",
        "https://user@maps.nj.gov/",
        "https://user:secret@maps.nj.gov/",
        "https://maps.nj.gov@example.com/",
        "https://example.com\\@maps.nj.gov/",
        "https://example.com#@maps.nj.gov/",
        "https://maps.nj.gov%2f@example.com/",
        "https://maps.nj.gov%00.example.com/",
        "https://maps.nj.gov\n.example.com/",
        "https://maps.nj.gov\t/",
        "https://m\u0430ps.nj.gov/",
        "https://maps\u3002nj\u3002gov/",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[v1.x]/",
        "https://127.0.0.1/",
        "https://2130706433/",
        "https://0x7f000001/",
        "https://0177.0.0.1/",
        "https://127.1/",
        "https://0x7f.0.0.0x1/",
        "https://maps.nj.gov/" + "a" * 9000,
    ],
)
def test_addresses_that_nobody_named_are_refused(url: str) -> None:
    assert fault_of(url) == "address_refused"


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "[::1]", "[::ffff:7f00:1]", "10.0.0.1", "169.254.169.254", "[fe80::1]", "[64:ff9b::a00:1]"]
)
def test_naming_an_inner_address_is_not_enough(host: str) -> None:
    url = f"https://{host}/arcgis"
    assert fault_of(url, OFFICIAL.naming(url)) == "address_refused"


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "1.2.3.4.5", "0x"])
def test_numbers_in_odd_spelling_are_refused_even_where_private_ones_are_allowed(host: str) -> None:
    with pytest.raises(LayerFault) as caught:
        Guard(frozenset({host}), allow_private=True).check(f"http://{host}/")
    assert caught.value.fault == "address_refused"
    assert "spelling" in str(caught.value)


def test_a_secret_in_the_address_is_not_repeated() -> None:
    with pytest.raises(LayerFault, match=r"https://\.\.\.@maps\.nj\.gov") as caught:
        OFFICIAL.check("https://user:hunter2@maps.nj.gov/")
    assert "hunter2" not in str(caught.value)


def test_a_key_in_the_query_is_not_repeated() -> None:
    with pytest.raises(LayerFault) as caught:
        OFFICIAL.check("https://api.example.com/data?key=hunter2")
    assert "hunter2" not in str(caught.value)


def test_what_is_let_through() -> None:
    assert OFFICIAL.check("HTTPS://MAPS.NJ.GOV./arcgis?x=1#top").url == "https://maps.nj.gov/arcgis?x=1"
    assert OFFICIAL.check("https://maps.nj.gov:443").url == "https://maps.nj.gov/"
    named = OFFICIAL.naming("https://gis.example.com:8443/rest")
    assert named.check("https://gis.example.com:8443/x").port == 8443
    assert fault_of("https://gis.example.com/x", named) == "address_refused"
    plain = Guard(frozenset({"maps.nj.gov"}), allow_http=True)
    assert plain.check("http://maps.nj.gov/x").port == 80


@pytest.mark.parametrize("found", [["127.0.0.1"], ["93.184.215.14", "10.0.0.1"], ["::ffff:127.0.0.1"], ["::1"]])
def test_a_name_that_leads_inside_is_refused(found: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(netguard, "_resolve", lambda _host, _port: found)
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    error = refused("https://maps.nj.gov/", OFFICIAL)
    assert error.fault == "address_refused"
    assert "inside" in str(error)


def test_the_checked_address_is_the_one_that_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    with LoopbackServer(lambda _: Answer(b"here")) as server:
        asked = []

        def changing(host: str, _port: int) -> list[str]:
            asked.append(host)
            # A second question would get another answer, as from a name service that plays tricks.
            return ["127.0.0.1"] if len(asked) == 1 else ["192.0.2.1"]

        monkeypatch.setattr(netguard, "_resolve", changing)
        url = f"http://rebinding.test:{server.port}/"
        monkeypatch.setenv("NO_PROXY", "rebinding.test")
        assert read(url, loopback_guard(url)) == b"here"
        assert asked == ["rebinding.test"]
        assert server.log[0].headers["Host"] == f"rebinding.test:{server.port}"


def test_the_next_address_is_tried_where_one_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with LoopbackServer(lambda _: Answer(b"here")) as server:
        monkeypatch.setattr(netguard, "_resolve", lambda _host, _port: ["127.0.0.2", "127.0.0.1"])
        monkeypatch.setenv("NO_PROXY", "two.test")
        url = f"http://two.test:{server.port}/"
        assert read(url, loopback_guard(url)) == b"here"


def test_a_name_that_nobody_knows_is_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_host: str, _port: int) -> list[str]:
        raise OSError(-2, "Name or service not known")

    monkeypatch.setattr(netguard, "_resolve", unknown)
    monkeypatch.setenv("NO_PROXY", "maps.nj.gov")
    error = refused("https://maps.nj.gov/", Guard(frozenset({"maps.nj.gov"}), backoff_s=0.01))
    assert error.fault == "offline"
    assert "import a file" in str(error)


def test_a_port_where_nobody_listens_is_offline() -> None:
    with LoopbackServer(lambda _: Answer()) as server:
        url = server.url
    assert refused(url, loopback_guard(url)).fault == "offline"


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with LoopbackServer(lambda _: Answer(b"through the proxy")) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//user:p%40ss@"))
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        guard = Guard(frozenset({"maps.nj.gov"}), allow_http=True, tries=1)
        assert read("http://maps.nj.gov/rest", guard) == b"through the proxy"
        assert proxy.log[0].headers["Host"] == "maps.nj.gov"
        assert proxy.log[0].headers["Proxy-Authorization"] == "Basic dXNlcjpwQHNz"
        assert proxy.log[0].headers["User-Agent"].startswith("grownj-geo/")
        # An address of this machine, and one that is refused, never get there.
        assert refused("http://10.0.0.1/", guard.naming("http://10.0.0.1/")).fault == "address_refused"
        assert len(proxy.log) == 1


def test_a_proxy_of_another_kind_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "socks5://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert refused("https://maps.nj.gov/", OFFICIAL).fault == "proxy_refused"


def redirect(to: str, status: int = 302) -> Answer:
    return Answer(status=status, headers={"Location": to})


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_on_the_same_server_are_followed(status: int) -> None:
    def answer(asked: Asked) -> Answer:
        return Answer(b"there") if asked.path == "/b" else redirect("/b", status)

    with LoopbackServer(answer) as server:
        assert read(f"{server.url}/a", loopback_guard(server.url)) == b"there"


@pytest.mark.parametrize(
    "to", ["http://169.254.169.254/latest", "http://localhost/", "http://[::1]/", "file:///etc/passwd", "//10.0.0.1/x"]
)
def test_redirects_to_other_places_are_refused(to: str) -> None:
    with LoopbackServer(lambda _: redirect(to)) as server:
        assert refused(server.url, loopback_guard(server.url)).fault == "redirect_refused"
        assert len(server.log) == 1


def test_a_redirect_to_a_second_server_on_loopback_is_refused() -> None:
    with LoopbackServer(lambda _: Answer(b"secret")) as inner, LoopbackServer(lambda _: redirect(inner.url)) as server:
        assert refused(server.url, loopback_guard(server.url)).fault == "redirect_refused"
        assert not inner.log


def test_endless_redirects_end() -> None:
    with LoopbackServer(lambda _: redirect("/")) as server:
        assert refused(server.url, loopback_guard(server.url)).fault == "redirect_refused"
        assert len(server.log) == 6


def test_a_form_is_sent_again_to_where_the_server_sends_us() -> None:
    def answer(asked: Asked) -> Answer:
        return Answer(asked.params["ids"].encode()) if asked.path == "/b" else redirect("/b", 307)

    with LoopbackServer(answer) as server, Session(loopback_guard(server.url)) as session:
        assert session.read(f"{server.url}/a", lambda reply: reply.content, form={"ids": "1,2"}) == b"1,2"


def test_a_form_is_not_dropped_on_the_way() -> None:
    with LoopbackServer(lambda _: redirect("/b", 303)) as server, Session(loopback_guard(server.url)) as session:
        with pytest.raises(LayerFault) as caught:
            session.read(server.url, lambda reply: reply.content, form={"ids": "1"})
        assert caught.value.fault == "redirect_refused"


def test_a_reply_that_is_too_large_is_refused_before_it_comes() -> None:
    with LoopbackServer(lambda _: Answer(b"x" * 10, promised=10**9)) as server:
        assert refused(server.url, loopback_guard(server.url, max_bytes=1000)).fault == "response_too_large"


@pytest.mark.parametrize("packed", ["gzip", "deflate"])
def test_a_small_reply_that_unpacks_to_a_giant_is_refused(packed: str) -> None:
    zeros = bytes(50_000_000)
    bomb = gzip.compress(zeros) if packed == "gzip" else zlib.compress(zeros)
    with LoopbackServer(lambda _: Answer(bomb, headers={"Content-Encoding": packed})) as server:
        assert refused(server.url, loopback_guard(server.url, max_bytes=1_000_000)).fault == "response_too_large"


def test_packed_replies_are_unpacked() -> None:
    text = b"0123456789" * 1_000_000
    with LoopbackServer(lambda _: Answer(gzip.compress(text), headers={"Content-Encoding": "gzip"})) as server:
        assert read(server.url, loopback_guard(server.url)) == text


@pytest.mark.parametrize("cut", [1, 8, 200])
def test_a_packed_reply_that_ends_early_is_never_taken(cut: int) -> None:
    packed = gzip.compress(bytes(range(256)) * 10)[:-cut]
    with LoopbackServer(lambda _: Answer(packed, headers={"Content-Encoding": "gzip"})) as server:
        assert refused(server.url, loopback_guard(server.url)).fault == "cut_short"
        assert len(server.log) == 3


@pytest.mark.parametrize("packing", ["br", "gzip, gzip", "zstd"])
def test_other_packings_are_refused(packing: str) -> None:
    with LoopbackServer(lambda _: Answer(b"x", headers={"Content-Encoding": packing})) as server:
        assert refused(server.url, loopback_guard(server.url)).fault == "bad_reply"


def test_more_than_one_packed_stream_is_refused() -> None:
    twice = gzip.compress(b"one") + gzip.compress(b"two")
    with LoopbackServer(lambda _: Answer(twice, headers={"Content-Encoding": "gzip"})) as server:
        assert refused(server.url, loopback_guard(server.url)).fault == "bad_reply"


def test_a_connection_that_breaks_off_is_never_taken_for_the_end() -> None:
    with LoopbackServer(lambda _: Answer(b"half", promised=8)) as server:
        assert refused(server.url, loopback_guard(server.url)).fault == "cut_short"


def test_bytes_that_drip_in_have_an_end() -> None:
    with LoopbackServer(lambda _: Answer(b"x" * 1000, drip_s=0.05)) as server:
        begun = time.monotonic()
        assert refused(server.url, loopback_guard(server.url, reply_s=0.3)).fault == "too_slow"
        assert time.monotonic() - begun < 20  # and not the 50 seconds of the whole reply


def test_a_server_that_says_nothing_has_an_end() -> None:
    def silent(_: Asked) -> Answer:
        time.sleep(0.5)
        return Answer(b"late")

    with LoopbackServer(silent) as server:
        assert refused(server.url, loopback_guard(server.url, idle_s=0.05)).fault == "too_slow"


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again(status: int) -> None:
    answers = [Answer(status=status), Answer(status=status, headers={"Retry-After": "0"}), Answer(b"at last")]
    with LoopbackServer(lambda _: answers.pop(0)) as server:
        assert read(server.url, loopback_guard(server.url)) == b"at last"


def test_a_busy_server_is_left_alone_for_as_long_as_it_asks() -> None:
    answers = [Answer(status=429, headers={"Retry-After": "1"}), Answer(b"at last")]
    with LoopbackServer(lambda _: answers.pop(0)) as server:
        begun = time.monotonic()
        assert read(server.url, loopback_guard(server.url)) == b"at last"
        assert time.monotonic() - begun >= 1


@pytest.mark.parametrize("wait", ["3600", "Fri, 01 Jan 2100 00:00:00 GMT"])
def test_a_server_that_asks_for_an_hour_is_not_waited_for(wait: str) -> None:
    with LoopbackServer(lambda _: Answer(status=503, headers={"Retry-After": wait})) as server:
        error = refused(server.url, loopback_guard(server.url))
        assert error.fault == "http_error"
        assert "left alone" in str(error)
        assert len(server.log) == 1


def test_a_busy_server_is_not_asked_for_ever() -> None:
    with LoopbackServer(lambda _: Answer(status=503)) as server:
        assert refused(server.url, loopback_guard(server.url)).fault == "http_error"
        assert len(server.log) == 3


def test_the_time_for_everything_ends_the_asking() -> None:
    with LoopbackServer(lambda _: Answer(status=503)) as server:
        guard = loopback_guard(server.url, total_s=0.5, backoff_s=1.5, tries=50)
        assert refused(server.url, guard).fault == "too_slow"
        assert len(server.log) < 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_a_plain_no_is_not_asked_again(status: int) -> None:
    with LoopbackServer(lambda _: Answer(status=status)) as server:
        error = refused(server.url, loopback_guard(server.url))
        assert error.fault == "http_error"
        assert str(status) in str(error)
        assert len(server.log) == 1


def test_what_is_not_json_is_said() -> None:
    for text in (b"<html>Sign in to the guest network</html>", b'{"a": 1', b"[" * 200_000, b""):
        with (
            LoopbackServer(lambda _, text=text: Answer(text)) as server,
            Session(loopback_guard(server.url)) as session,
        ):
            with pytest.raises(LayerFault) as caught:
                session.read(server.url, json_of)
            assert caught.value.fault == "bad_reply"


def test_json_is_read() -> None:
    assert json_of(Reply("https://maps.nj.gov/", {}, b'\xef\xbb\xbf{"count": 7}')) == {"count": 7}
