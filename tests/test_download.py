"""Files from web servers: whole and what they should be, or not there."""

from __future__ import annotations

import hashlib
import io
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from feature_servers import Answer, Asked, LoopbackServer, loopback_guard

from grownj_geo.download import download, sha256_of
from grownj_geo.features import LayerFault

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def zipped() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("Planning/areas.txt", "METROPOLITAN\n" * 5000)
    return content.getvalue()


ZIP = zipped()
SHA256 = hashlib.sha256(ZIP).hexdigest()


def ranged(content: bytes, *, etag: str = '"one"') -> Callable[[Asked], Answer]:
    """Return a faultless file server."""

    def answer(asked: Asked) -> Answer:
        wanted = asked.headers.get("Range", "")
        if not wanted or asked.headers.get("If-Range") != etag:
            return Answer(content, headers={"ETag": etag, "Content-Type": "application/zip"})
        first = int(wanted.removeprefix("bytes=").rstrip("-"))
        if first >= len(content):
            return Answer(status=416, headers={"Content-Range": f"bytes */{len(content)}"})
        said = f"bytes {first}-{len(content) - 1}/{len(content)}"
        return Answer(content[first:], status=206, headers={"Content-Range": said, "ETag": etag})

    return answer


def cut_at_first(content: bytes, at: int, *, etag: str = '"one"', later: str = '"one"') -> Callable[[Asked], Answer]:
    """Return a server that breaks the first reply off."""
    asked_before = []

    def answer(asked: Asked) -> Answer:
        asked_before.append(asked)
        if len(asked_before) == 1:
            return Answer(content[:at], headers={"ETag": etag}, promised=len(content))
        return ranged(content, etag=later)(asked)

    return answer


def get(server: LoopbackServer, target: Path, **more: Any) -> Path:
    limits = more.pop("limits", {})
    return download(f"{server.url}/{target.name}", target, guard=loopback_guard(server.url, **limits), **more)


def fault(server: LoopbackServer, target: Path, **more: Any) -> str:
    with pytest.raises(LayerFault) as caught:
        get(server, target, **more)
    return caught.value.fault


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_comes_whole(tmp_path: Path) -> None:
    told: list[tuple[int, int | None]] = []
    with LoopbackServer(ranged(ZIP)) as server:
        found = get(server, tmp_path / "a.zip", sha256=SHA256.upper(), progress=lambda *have: told.append(have))
    assert found.read_bytes() == ZIP
    assert sha256_of(found) == SHA256
    assert told[-1] == (len(ZIP), len(ZIP))
    assert names(tmp_path) == ["a.zip"]


def test_a_file_that_is_there_is_not_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(ZIP)
    with LoopbackServer(ranged(ZIP)) as server:
        get(server, tmp_path / "a.zip", sha256=SHA256)
        assert not server.log
        get(server, tmp_path / "a.zip")
        assert len(server.log) == 1


def test_a_reply_that_breaks_off_is_gone_on_with(tmp_path: Path) -> None:
    with LoopbackServer(cut_at_first(ZIP, 300)) as server:
        assert get(server, tmp_path / "a.zip").read_bytes() == ZIP
        assert [asked.headers.get("Range") for asked in server.log] == [None, "bytes=300-"]
    assert names(tmp_path) == ["a.zip"]


def test_a_later_call_goes_on(tmp_path: Path) -> None:
    target = tmp_path / "a.zip"
    with LoopbackServer(cut_at_first(ZIP, 300)) as server:
        assert fault(server, target, limits={"tries": 1}) == "cut_short"
        assert names(tmp_path) == ["a.zip.part", "a.zip.part.json"]
        assert get(server, target).read_bytes() == ZIP
        assert server.log[1].headers["Range"] == "bytes=300-"


def test_a_file_that_changed_meanwhile_is_begun_anew(tmp_path: Path) -> None:
    with LoopbackServer(cut_at_first(ZIP, 300, later='"two"')) as server:
        assert get(server, tmp_path / "a.zip").read_bytes() == ZIP
        assert server.log[1].headers["If-Range"] == '"one"'


@pytest.mark.parametrize("etag", ["", 'W/"one"'])
def test_without_a_sure_mark_it_is_begun_anew(tmp_path: Path, etag: str) -> None:
    with LoopbackServer(cut_at_first(ZIP, 300, etag=etag, later=etag)) as server:
        assert get(server, tmp_path / "a.zip").read_bytes() == ZIP
        assert "Range" not in server.log[1].headers


def test_a_part_of_another_address_is_not_taken(tmp_path: Path) -> None:
    with LoopbackServer(cut_at_first(ZIP, 300)) as server:
        assert fault(server, tmp_path / "a.zip", limits={"tries": 1}) == "cut_short"
        download(f"{server.url}/other.zip", tmp_path / "a.zip", guard=loopback_guard(server.url))
        assert "Range" not in server.log[1].headers


def test_a_part_that_is_longer_than_the_file(tmp_path: Path) -> None:
    target = tmp_path / "a.zip"
    with LoopbackServer(cut_at_first(ZIP, 300)) as server:
        assert fault(server, target, limits={"tries": 1}) == "cut_short"
        (tmp_path / "a.zip.part").write_bytes(ZIP + b"more")
        assert get(server, target).read_bytes() == ZIP


def test_a_piece_from_another_place_is_refused(tmp_path: Path) -> None:
    def answer(asked: Asked) -> Answer:
        if "Range" not in asked.headers:
            return Answer(ZIP[:300], headers={"ETag": '"one"'}, promised=len(ZIP))
        said = f"bytes 200-{len(ZIP) - 1}/{len(ZIP)}"
        return Answer(ZIP[200:], status=206, headers={"Content-Range": said})

    with LoopbackServer(answer) as server:
        assert fault(server, tmp_path / "a.zip") == "bad_reply"
    assert names(tmp_path) == []


def test_another_checksum_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"the one from before")
    with LoopbackServer(ranged(ZIP)) as server:
        assert fault(server, tmp_path / "a.zip", sha256="0" * 64) == "checksum_mismatch"
    assert names(tmp_path) == ["a.zip"]
    assert (tmp_path / "a.zip").read_bytes() == b"the one from before"


PAGE = b"\n<!DOCTYPE html><html><body>Please accept the terms</body></html>"


@pytest.mark.parametrize(
    ("name", "content", "kind", "expected"),
    [
        ("a.zip", PAGE, "text/html", "wrong_content"),
        ("a.zip", PAGE, "application/zip", "wrong_content"),
        ("a.txt", PAGE, "text/plain", "wrong_content"),
        ("a.txt", b"terms", "text/html; charset=utf-8", "wrong_content"),
        ("a.zip", b'{"error": {"code": 500}}', "application/json", "wrong_content"),
        ("a.geojson", b"<error/>", "application/json", "wrong_content"),
        ("a.gpkg", ZIP, "application/octet-stream", "wrong_content"),
        ("a.zip", b"", "application/zip", "wrong_content"),
        ("a.zip", ZIP[:-100], "application/zip", "cut_short"),
    ],
)
def test_something_else_than_the_file_is_refused(
    tmp_path: Path, name: str, content: bytes, kind: str, expected: str
) -> None:
    with LoopbackServer(lambda _: Answer(content, headers={"Content-Type": kind})) as server:
        assert fault(server, tmp_path / name) == expected
    assert names(tmp_path) == []


def test_a_zip_that_is_called_a_page_is_taken(tmp_path: Path) -> None:
    with LoopbackServer(lambda _: Answer(ZIP, headers={"Content-Type": "text/html"})) as server:
        assert get(server, tmp_path / "a.zip").read_bytes() == ZIP


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with LoopbackServer(ranged(ZIP)) as server:
        assert fault(server, tmp_path / "a.zip", limits={"max_bytes": len(ZIP) - 1}) == "response_too_large"
    assert "a.zip" not in names(tmp_path)


def test_what_came_before_counts_towards_the_size(tmp_path: Path) -> None:
    with LoopbackServer(cut_at_first(ZIP, 300)) as server:
        assert fault(server, tmp_path / "a.zip", limits={"tries": 1}) == "cut_short"
        assert fault(server, tmp_path / "a.zip", limits={"max_bytes": len(ZIP) - 1}) == "response_too_large"


def test_a_file_that_drips_in_has_an_end(tmp_path: Path) -> None:
    with LoopbackServer(lambda _: Answer(ZIP, drip_s=0.05)) as server:
        assert fault(server, tmp_path / "a.zip", limits={"total_s": 0.3}) == "too_slow"
    assert "a.zip" not in names(tmp_path)


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with LoopbackServer(ranged(ZIP)) as server:
        assert fault(server, tmp_path / "none" / "a.zip") == "work_folder"
