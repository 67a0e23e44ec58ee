"""Who may ask, how much may be sent and how slowly: by a real server and plain sockets."""

from __future__ import annotations

import io
import json
import socket
import time
import zipfile
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from serving import read_all, sent_until_cut, serving, serving_here

from grownj_geo import serverun
from grownj_geo.serveapp import create_app
from grownj_geo.serveguard import GuardOptions, host_of, is_local

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Served

TOKEN = "a-token-of-at-least-sixteen-letters"  # noqa: S105 - of this test
IMPATIENT = GuardOptions(grace_s=2.0)
WAIT_S = serverun._WAIT_S  # noqa: SLF001 - as it is before a fixture shortens it
BODY = {"site": "40.7344,-74.1641"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("home"), "--max-upload-mb", "1") as found:
        yield found


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("closed")
    (folder / "token").write_text(TOKEN + "\n", encoding="utf-8")
    options = ("--token-file", str(folder / "token"), "--allow-host", "gis.example.gov")
    with serving(folder / "home", *options, "--allow-origin", "https://gis.example.gov") as found:
        yield found


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Yield the port of a server in this process that waits two seconds where others wait for ten or fifteen."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serverun, "_WAIT_S", IMPATIENT.grace_s)
        with serving_here(create_app(IMPATIENT, home=tmp_path_factory.mktemp("impatient"))) as port:
            yield port


def _problem(answer: bytes) -> dict[str, Any]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"application/problem+json" in head, answer[:500]
    found: dict[str, Any] = json.loads(body)
    assert found["status"] == int(head.split()[1])
    return found


def _alive(served: Served) -> None:
    assert httpx.post(f"{served.address}/api/v1/determine", json=BODY, timeout=30).status_code == 200


def _request(path: str, *headers: str, method: str = "POST", host: str = "localhost") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


# -- who may ask ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1@evil", ""])
def test_under_another_name_nobody_is_answered(served: Served, host: str) -> None:
    found = _problem(served.raw(_request("/api/v1/about", method="GET", host=host)))
    assert (found["status"], found["code"]) == (400, "wrong_host")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:9", "127.0.0.1", "[::1]:8337"])
def test_this_machine_has_several_names(served: Served, host: str) -> None:
    assert served.raw(_request("/healthz", method="GET", host=host)).startswith(b"HTTP/1.1 200")


def test_without_a_host_or_with_two_it_is_refused(served: Served) -> None:
    none = served.raw(b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n")
    two = served.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
    assert none.startswith(b"HTTP/1.1 400")
    assert two.startswith(b"HTTP/1.1 400")


def test_names_that_were_allowed_are_answered(closed: Served) -> None:
    assert closed.raw(_request("/healthz", method="GET", host="gis.example.gov")).startswith(b"HTTP/1.1 200")
    assert closed.raw(_request("/healthz", method="GET", host="other.example.gov")).startswith(b"HTTP/1.1 400")


def test_pages_of_others_change_nothing_and_read_nothing(served: Served) -> None:
    with served.client() as client:
        other = client.post("/api/v1/determine", json=BODY, headers={"Origin": "https://evil.example"})
        hidden = client.post("/api/v1/determine", json=BODY, headers={"Sec-Fetch-Site": "cross-site"})
        own = client.post("/api/v1/determine", json=BODY, headers={"Origin": served.address})
        broken = client.post("/api/v1/determine", json=BODY, headers={"Origin": "http://["})
        read = client.get("/api/v1/about", headers={"Origin": "https://evil.example"})
        shown = client.get("/api/v1/search", params={"q": "1 A St"}, headers={"Sec-Fetch-Site": "cross-site"})
        same = client.get("/api/v1/facts", headers={"Sec-Fetch-Site": "same-origin", "Origin": served.address})
        page = client.get("/", headers={"Sec-Fetch-Site": "cross-site"})
        asked = client.options(
            "/api/v1/determine",
            headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"},
        )
    assert (other.status_code, hidden.status_code, own.status_code) == (403, 403, 200)
    assert (broken.status_code, broken.json()["code"]) == (403, "wrong_origin")
    assert (read.status_code, shown.status_code, same.status_code) == (403, 403, 200)
    # A link to the page is followed from wherever it stands.
    assert page.status_code == 200
    assert not [name for answer in (read, asked) for name in answer.headers if name.startswith("access-control")]


def test_an_origin_that_was_allowed_may_ask_with_its_token(closed: Served) -> None:
    origin = {"Origin": "https://gis.example.gov"}
    with closed.client() as client:
        asked = client.options("/api/v1/determine", headers={**origin, "Access-Control-Request-Method": "POST"})
        bare = client.post("/api/v1/determine", json=BODY, headers=origin)
        whole = client.post("/api/v1/determine", json=BODY, headers={**origin, "Authorization": f"Bearer {TOKEN}"})
        large = client.post(
            "/api/v1/determine",
            content=b" " * 6_000_000,
            headers={**origin, "Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
        )
        read = client.get("/api/v1/facts", headers={**origin, "Authorization": f"Bearer {TOKEN}"})
        other = client.options(
            "/api/v1/determine", headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
        )
    assert asked.headers["access-control-allow-origin"] == "https://gis.example.gov"
    assert (bare.status_code, whole.status_code) == (401, 200)
    assert (large.status_code, read.status_code) == (413, 200)
    assert large.json()["code"] == "too_large"
    # Refused or answered, that page learns what came of it.
    for answer in (bare, whole, large, read):
        assert answer.headers.get_list("access-control-allow-origin") == ["https://gis.example.gov"]
        assert "origin" in answer.headers["vary"].lower()
    assert "access-control-allow-origin" not in other.headers


@pytest.mark.parametrize("shown", [None, "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer \xe9"])
def test_with_a_token_set_nobody_is_answered_without_it(closed: Served, shown: str | None) -> None:
    headers = {} if shown is None else {"Authorization": shown.encode("latin-1")}
    with closed.client() as client:
        found = client.get("/api/v1/about", headers=headers)
        metrics = client.get("/metrics", headers=headers)
    assert (found.status_code, metrics.status_code) == (401, 401)
    assert found.headers["www-authenticate"].startswith("Bearer")
    assert found.json()["code"] == "token_needed"


def test_the_page_and_health_need_no_token(closed: Served) -> None:
    with closed.client() as client:
        assert [client.get(path).status_code for path in ("/", "/healthz")] == [200, 200]
        assert client.get("/api/v1/about", headers={"Authorization": f"bearer {TOKEN}"}).json()["token"] is True


def test_every_answer_forbids_what_it_does_not_need(served: Served) -> None:
    with served.client() as client:
        for path in ("/", "/api/v1/about", "/nothing", "/static/page.css"):
            headers = client.get(path).headers
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["x-frame-options"] == "DENY"
            assert headers["referrer-policy"] == "no-referrer"
            assert headers["content-security-policy"].startswith("default-src 'none'")
            assert "frame-ancestors 'none'" in headers["content-security-policy"]
            assert "unsafe" not in headers["content-security-policy"]
            assert "server" not in headers


# -- how much, and how -----------------------------------------------------------------------------------


def test_a_body_that_says_it_is_too_large_is_refused_before_it_is_sent(served: Served) -> None:
    head = _request("/api/v1/determine", "Content-Type: application/json", "Content-Length: 999999999999")
    found = _problem(served.raw(head))
    assert (found["status"], found["code"]) == (413, "too_large")
    _alive(served)


@pytest.mark.parametrize(
    ("path", "kind", "limit"),
    [
        ("/api/v1/determine", "application/json", 5_000_000),
        ("/api/v1/jobs", "multipart/form-data; boundary=x", 1_000_000),
        ("/api/v1/geometry", "multipart/form-data; boundary=x", 1_000_000),
    ],
)
def test_a_body_in_pieces_is_refused_where_it_becomes_too_large(
    served: Served, path: str, kind: str, limit: int
) -> None:
    piece = b"10000\r\n" + b" " * 65_536 + b"\r\n"
    sent = 0
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as sock:
        sock.sendall(_request(path, f"Content-Type: {kind}", "Transfer-Encoding: chunked"))
        if kind.startswith("multipart"):
            head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
            sock.sendall(f"{len(head):x}\r\n".encode() + head + b"\r\n")
        while sent < limit + 8_000_000:
            sock.sendall(piece)
            sent += 65_536
        # Somewhat more than is taken is let pass, so that the reason is read by who sends before reading.
        assert _problem(read_all(sock))["status"] == 413
    _alive(served)


def test_a_body_without_end_is_not_read_for_long(served: Served) -> None:
    piece = b"100000\r\n" + b" " * 1_048_576 + b"\r\n"
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as sock:
        sock.sendall(_request("/api/v1/determine", "Content-Type: application/json", "Transfer-Encoding: chunked"))
        assert sent_until_cut(sock, piece, 400_000_000) < 400_000_000
    _alive(served)


@pytest.mark.parametrize(
    ("path", "kind"), [("/api/v1/determine", "application/json"), ("/api/v1/jobs", "multipart/form-data; boundary=x")]
)
def test_a_body_that_drips_is_given_up_while_others_are_answered(impatient: int, path: str, kind: str) -> None:
    begun = time.monotonic()
    alive = 0
    with socket.create_connection(("127.0.0.1", impatient), timeout=60) as sock:
        sock.sendall(_request(path, f"Content-Type: {kind}", "Content-Length: 100000"))
        if kind.startswith("multipart"):
            sock.sendall(b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n')
        sock.settimeout(0.2)
        answer = b""
        while time.monotonic() - begun < 40 and not answer:
            sock.sendall(b" ")
            alive += httpx.post(f"http://127.0.0.1:{impatient}/api/v1/determine", json=BODY, timeout=30).is_success
            try:
                answer = sock.recv(65_536)
            except TimeoutError:
                continue
        answer += read_all(sock)
    assert _problem(answer)["status"] == 408
    assert alive > 2
    assert IMPATIENT.grace_s * 0.9 < time.monotonic() - begun < 30


def test_headers_that_drip_are_given_up_too(impatient: int) -> None:
    begun = time.monotonic()
    with socket.create_connection(("127.0.0.1", impatient), timeout=40) as sock:
        sock.sendall(b"GET /healthz HTTP/1.1\r\n")
        for _ in range(200):
            time.sleep(0.1)
            try:
                sock.sendall(b"X: y\r\n")
            except (BrokenPipeError, ConnectionResetError):
                break
        read_all(sock)
    assert time.monotonic() - begun < 15
    assert httpx.get(f"http://127.0.0.1:{impatient}/healthz").is_success


def test_nobody_is_waited_for_longer_than_half_a_minute() -> None:
    assert GuardOptions().grace_s == 15
    assert WAIT_S == 10


@pytest.mark.parametrize(
    ("path", "kind"), [("/api/v1/determine", "application/json"), ("/api/v1/jobs", "multipart/form-data; boundary=x")]
)
def test_a_body_that_is_cut_off_harms_nobody(served: Served, path: str, kind: str) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as sock:
        sock.sendall(_request(path, f"Content-Type: {kind}", "Content-Length: 5000"))
        sock.sendall(b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nname,lat')
    _alive(served)
    assert not [line for line in served.log if line["event"] == "error"]


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("application/json", b'{"site": "40.7344,-74.1641"', 400),
        ("application/json", b"", 422),
        ("application/json", b"null", 422),
        ("application/json", b"[]", 422),
        ("application/json", b"\xff\xfe{", 400),
        ("application/json", b"[" * 200_000, 400),
        ("application/json", b'{"geometry": ' + b'{"a":' * 50_000, 400),
        ("application/json", b'{"site": "\\ud800"}', 422),
        ("application/json", b'{"uncertainty_ft": NaN, "site": "40.7344,-74.1641"}', 422),
        ("application/json", b'{"uncertainty_ft": 1e999, "site": "40.7344,-74.1641"}', 422),
        ("application/json", b'{"uncertainty_ft": ' + b"9" * 10_000 + b', "site": "40.7344,-74.1641"}', 400),
        ("application/json", b'{"geometry": {"type": "Point", "coordinates": [NaN, 1]}}', 422),
        ("application/json", b'{"geometry": {"type": "Point", "coordinates": [1e400, 1]}}', 422),
        (
            "application/json",
            b'{"geometry": {"type": "Point", "coordinates": [' + b"9" * 400 + b', 40]}, "typed": "7 Broadway, Camden"}',
            422,
        ),
        (
            "application/json",
            b'{"geometry": {"type": "Point", "coordinates": [true, false]}, "typed": "7 Broadway, Camden"}',
            422,
        ),
        ("application/json", b'{"geometry": ' + b'{"a":' * 300 + b"1" + b"}" * 301, 422),
        ("application/json", b'{"geometry": {"\\ud800": "\\udc00", "type": "\\ud800"}}', 422),
        ("application/json", b'{"site": "40.7344,-74.1641", "\\ud800": 1}', 422),
        ("application/json", b'{"facts": {"\\ud800": "x"}, "site": "40.7344,-74.1641"}', 422),
        ("application/json", b'{"typed": "\\u0000\\u202e<script>", "site": "0408_81_1"}', 200),
        ("text/plain", b'{"site": "40.7344,-74.1641"}', 415),
        ("multipart/form-data; boundary=x", b"--x--\r\n", 415),
        ("application/json; charset=utf-16", '{"site": "40.7344,-74.1641"}'.encode("utf-16"), 200),
    ],
)
def test_a_malformed_body_is_refused_in_words(served: Served, kind: str, body: bytes, status: int) -> None:
    with served.client() as client:
        answer = client.post("/api/v1/determine", content=body, headers={"Content-Type": kind})
    assert answer.status_code == status, answer.text
    if status != 200:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["detail"]


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("multipart/form-data", b"--x--\r\n", 400),
        ("multipart/form-data; boundary=x", b"", 422),
        ("multipart/form-data; boundary=x", b"no boundary at all", 400),
        ("multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nname,lat', 422),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n',
            422,
        ),
        ("application/json", b"{}", 415),
    ],
)
def test_a_malformed_upload_is_refused_in_words(served: Served, kind: str, body: bytes, status: int) -> None:
    with served.client() as client:
        answer = client.post("/api/v1/jobs", content=body, headers={"Content-Type": kind})
    assert answer.status_code in {status, 422}, answer.text
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("depth", [60, 300, 900])
def test_a_project_nested_deeply_is_refused_in_words(served: Served, depth: int) -> None:
    body = b'{"project": {"a": ' + b"[" * depth + b"]" * depth + b"}}"
    with served.client() as client:
        answer = client.post("/api/v1/credits", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (422, "not_accepted"), answer.text
    assert "nested" in answer.json()["detail"]


@pytest.mark.parametrize(
    "name", ["\u6f22" * 100, "\u00e9" * 119, "\U0001f5fa" * 200], ids=["three bytes", "two bytes", "no letters"]
)
def test_a_name_in_other_letters_is_as_good_as_any(served: Served, name: str) -> None:
    point = b'{"type": "Point", "coordinates": [-74.1641, 40.7344]}'
    with served.client() as client:
        outline = client.post("/api/v1/geometry", files={"file": (f"{name}.geojson", point)})
        table = (f"{name}.csv", b"lat,lon\n40.7344,-74.1641\n")
        job = client.post("/api/v1/jobs", files={"file": table}, data={"format": "geoparquet"})
        assert (outline.status_code, job.status_code) == (200, 202), (outline.text, job.text)
        stop = time.monotonic() + 60
        while (found := client.get(job.json()["links"]["self"]).json())["status"] not in {"done", "failed"}:
            assert time.monotonic() < stop
            time.sleep(0.2)
        assert found["status"] == "done", found["problem"]
        assert client.get(found["links"]["result"]).status_code == 200


def test_many_parts_and_long_names_are_refused(served: Served) -> None:
    with served.client() as client:
        many = client.post("/api/v1/jobs", files=[("file", (f"{i}.csv", b"a,b\n")) for i in range(1_500)])
        long = client.post("/api/v1/jobs", files={"file": ("x" * 5_000 + ".exe", b"a,b\n")})
    assert many.status_code in {400, 413, 422}
    assert long.status_code in {400, 415}
    assert len(long.text) < 1_000


# -- outlines of strangers -------------------------------------------------------------------------------


def _zip(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            # Without the clock: processes that collect these tests must collect the same ones.
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("bomb.zip", _zip({"a.geojson": b"0" * 60_000_000}), "archive_bomb"),
        ("climb.zip", _zip({"../../a.geojson": b"{}"}), "archive_path"),
        ("cut.zip", _zip({"a.geojson": b"{}"})[:-20], "archive_broken"),
        ("a.kml", b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><kml>&b;</kml>', None),
        ("a.gpkg", b"SQLite format 3\x00 and nothing else", None),
        ("a.parquet", b"PAR1", None),
        ("a.geojson", b'{"type": "FeatureCollection", "features": []}', None),
        ("../../a.geojson", b"not json", None),
        ("a.geoparquet", b"name\nx\n", None),
        ("\u202eexe.geojson", b"", None),
    ],
    ids=["bomb", "climbing", "cut", "entity", "geopackage", "parquet", "no features", "path", "geoparquet", "turned"],
)
def test_a_hostile_file_is_refused_in_words_that_hold_no_path(
    served: Served, name: str, content: bytes, fault: str | None
) -> None:
    with served.client() as client:
        answer = client.post("/api/v1/geometry", files={"file": (name, content)})
    assert answer.status_code == 422, answer.text
    found = answer.json()
    assert found.get("fault", fault) == fault or fault is None
    assert "/tmp" not in found["detail"]  # noqa: S108 - it must not be told
    assert "root:" not in answer.text
    _alive(served)


def test_an_outline_in_a_file_can_be_asked_about(served: Served) -> None:
    ring = [[-75.12, 39.94], [-75.119, 39.94], [-75.119, 39.941], [-75.12, 39.941], [-75.12, 39.94]]
    shape = {"type": "Polygon", "coordinates": [ring]}
    feature = {"type": "Feature", "properties": {"PAMS_PIN": "0408_81_1"}, "geometry": shape}
    with served.client() as client:
        found = client.post("/api/v1/geometry", files={"file": ("parcel.geojson", json.dumps(feature).encode())})
        assert found.status_code == 200, found.text
        assert (found.json()["geometry"], found.json()["pins"]) == (shape, ["0408_81_1"])
        record = client.post("/api/v1/determine", json={"geometry": found.json()["geometry"]}).json()
    assert record["site"]["kind"] == "polygon"
    assert record["place"]["municipality"]["mun_code"] == "0408"


# -- names of hosts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a.example:80", "a.example"),
        ("A.EXAMPLE.", "a.example"),
        ("[::1]", "::1"),
        ("[::1]:1", "::1"),
        ("a/b", None),
        ("a:b", None),
        ("a\\b", None),
        ("user@a", None),
        ("x" * 300, None),
    ],
)
def test_a_host_is_a_name_and_a_port_and_nothing_else(text: str, name: str | None) -> None:
    assert host_of(text) == name


def test_only_addresses_of_this_machine_are_local() -> None:
    assert [is_local(host) for host in ("127.0.0.2", "::1", "localhost", "0.0.0.0", "192.168.1.1", "example.gov")] == [  # noqa: S104
        *(True, True, True),
        *(False, False, False),
    ]
