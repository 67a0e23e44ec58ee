"""Archives that a stranger made: what is unpacked, and what is refused before anything is written."""

from __future__ import annotations

import stat
import struct
import zipfile
from typing import TYPE_CHECKING

import pytest

from grownj_geo.archive import Limits, unpack
from grownj_geo.features import LayerFault

if TYPE_CHECKING:
    from pathlib import Path


DEFAULT = Limits()


def pack(path: Path, members: dict[str, bytes], *, method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def refused(path: Path, into: Path, fault: str, *, limits: Limits = DEFAULT) -> str:
    """Return the message of a refusal; nothing may have been written."""
    with pytest.raises(LayerFault) as caught:
        unpack(path, into, limits=limits)
    assert caught.value.fault == fault
    assert path.name in str(caught.value)
    assert not [p for p in into.rglob("*") if p.is_file()]
    outside = {p.name for p in into.parent.iterdir()} - {into.name}
    assert outside == {path.name}
    return str(caught.value)


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], ids=str
)
def test_files_come_out_as_they_went_in(tmp_path: Path, method: int) -> None:
    content = {"Planning/areas.shp": b"a" * 3_000_000, "Planning/x.gdb/a00000001.gdbtable": b"b", "readme.txt": b""}
    path = pack(tmp_path / "a.zip", content, method=method)
    files = unpack(path, tmp_path / "out")
    assert {f.relative_to(tmp_path / "out").as_posix(): f.read_bytes() for f in files} == content


def test_folders_as_members_of_their_own_are_no_files(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.mkdir("x")
        archive.writestr("x/a.txt", b"1")
    assert [f.name for f in unpack(tmp_path / "a.zip", tmp_path / "out")] == ["a.txt"]


def test_an_archive_inside_is_written_and_not_opened(tmp_path: Path) -> None:
    inner = pack(tmp_path / "inner.zip", {"areas.shp": b"x"})
    outer = pack(tmp_path / "outer.zip", {"inner.zip": inner.read_bytes()})
    files = unpack(outer, tmp_path / "out")
    assert [f.name for f in files] == ["inner.zip"]
    assert files[0].read_bytes() == inner.read_bytes()


@pytest.mark.parametrize(
    "name",
    [
        "../evil.shp",
        "a/../../evil.shp",
        "/etc/evil.shp",
        "C:/evil.shp",
        "C:evil.shp",
        "//server/share/evil.shp",
        "a\\..\\..\\evil.shp",
        "a//b.shp",
        "./b.shp",
        "a/./b.shp",
        "a\nb.shp",
        "nul.shp",
        "COM1",
        "areas.shp ",
        "areas.shp.",
        "areas.shp:stream",
        "x" * 300,
    ],
)
def test_names_that_are_no_plain_path_are_refused(tmp_path: Path, name: str) -> None:
    path = pack(tmp_path / "a.zip", {"good.txt": b"1", name: b"2"})
    assert "pack it anew" in refused(path, tmp_path / "out", "archive_path")


def test_a_name_that_ends_at_a_zero_byte_is_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"areasX.shp": b"1"})
    path.write_bytes(path.read_bytes().replace(b"areasX.shp", b"areas\0.shp"))
    refused(path, tmp_path / "out", "archive_path")


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_are_refused(tmp_path: Path, kind: int) -> None:
    info = zipfile.ZipInfo("areas.shp")
    info.create_system = 3
    info.external_attr = (kind | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("good.txt", b"1")
        archive.writestr(info, "/etc/passwd")
    refused(tmp_path / "a.zip", tmp_path / "out", "archive_symlink")


def test_an_encrypted_member_is_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"a.txt": b"1"})
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\1\2") + 8] |= 1
    path.write_bytes(content)
    assert "password" in refused(path, tmp_path / "out", "archive_encrypted")


def test_an_unknown_method_is_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"a.txt": b"1"})
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\1\2") + 10] = 97
    path.write_bytes(content)
    refused(path, tmp_path / "out", "archive_broken")


def test_many_zeros_are_refused_by_their_ratio(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"zeros.dbf": bytes(30 << 20)})
    assert "200 times" in refused(path, tmp_path / "out", "archive_bomb")
    # Small ones are not: a column of blanks packs just as well.
    pack(tmp_path / "b.zip", {"zeros.dbf": bytes(9 << 20)})
    assert unpack(tmp_path / "b.zip", tmp_path / "out")[0].stat().st_size == 9 << 20


def test_sizes_are_bounded_alone_and_together(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"a": b"x" * 60, "b": b"y" * 60})
    refused(path, tmp_path / "out", "archive_bomb", limits=Limits(single_bytes=59))
    refused(path, tmp_path / "out", "archive_bomb", limits=Limits(total_bytes=119))
    assert len(unpack(path, tmp_path / "out", limits=Limits(total_bytes=120, single_bytes=60))) == 2


def test_what_the_header_says_is_not_believed(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"good.txt": b"1", "zeros.dbf": bytes(1 << 20)})
    content = bytearray(path.read_bytes())
    entry = content.rindex(b"PK\1\2")
    content[entry + 24 : entry + 28] = struct.pack("<I", 100)
    path.write_bytes(content)
    refused(path, tmp_path / "out", "archive_broken")


def test_too_many_members_are_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {f"{i}.txt": b"" for i in range(12)})
    assert "12" in refused(path, tmp_path / "out", "archive_count", limits=Limits(members=11))
    assert len(unpack(path, tmp_path / "out", limits=Limits(members=12))) == 12


@pytest.mark.parametrize(
    "names",
    [("a.shp", "A.SHP"), ("x/a.shp", "X/a.shp", "X/a.SHP"), ("stra\u00dfe", "STRASSE"), ("a", "a/b.shp"), ("a/b", "A")],
)
def test_names_that_become_one_are_refused(tmp_path: Path, names: tuple[str, ...]) -> None:
    path = pack(tmp_path / "a.zip", dict.fromkeys(names, b"1"))
    refused(path, tmp_path / "out", "archive_duplicate")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_same_name_twice_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.shp", b"1")
        archive.writestr("a.shp", b"2")
    refused(tmp_path / "a.zip", tmp_path / "out", "archive_duplicate")


def test_a_cut_or_damaged_archive_is_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"good.txt": b"1", "a.bin": bytes(range(256)) * 400})
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"no zip at all"):
        path.write_bytes(content)
        refused(path, tmp_path / "out", "archive_broken")
    damaged = bytearray(whole)
    damaged[whole.index(b"a.bin") + 60] ^= 0xFF
    path.write_bytes(damaged)
    refused(path, tmp_path / "out", "archive_broken")


def test_nothing_is_replaced_and_nothing_follows_a_link(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"first.txt": b"1", "x/a.txt": b"2"})
    out = tmp_path / "out"
    (out / "x").mkdir(parents=True)
    (out / "x/a.txt").write_bytes(b"mine")
    with pytest.raises(LayerFault) as caught:
        unpack(path, out)
    assert caught.value.fault == "archive_write"
    assert (out / "x/a.txt").read_bytes() == b"mine"
    assert not (out / "first.txt").exists()
    linked = tmp_path / "linked"
    linked.mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (linked / "x").symlink_to(elsewhere)
    with pytest.raises(LayerFault) as caught:
        unpack(path, linked)
    assert caught.value.fault == "archive_path"
    assert not list(elsewhere.iterdir())


def test_a_missing_archive_is_told(tmp_path: Path) -> None:
    with pytest.raises(LayerFault) as caught:
        unpack(tmp_path / "none.zip", tmp_path / "out")
    assert caught.value.fault == "not_found"
