"""Parquet that would unpack to more than its size allows, in each way that the format has; and all others, whole."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

from grownj_geo.features import LayerFault
from grownj_geo.readers_pages import Room, bounded_batches

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

WORDS = ["METROPOLITAN", None, "RURAL", "", "Pe\xf1a", "METROPOLITAN", None]
SMALL = Room(most_bytes=10 << 20, bytes_besides=1 << 20, ratio=20, single_bytes=100_000)


def written(path: Path, columns: dict[str, Any], **how: Any) -> Path:
    pq.write_table(pa.table(columns), path, **how)
    return path


def read(origin: Path | bytes, columns: Sequence[str], room: Room = SMALL) -> pa.Table:
    batches = list(bounded_batches(origin, columns=columns, source="drawn.parquet", room=room))
    return pa.Table.from_batches(batches)


def refused(origin: Path | bytes, fault: str, columns: Sequence[str] = ("a",), room: Room = SMALL) -> str:
    with pytest.raises(LayerFault) as caught:
        read(origin, columns, room)
    assert caught.value.fault == fault, str(caught.value)
    return str(caught.value)


def plain(column: pa.ChunkedArray) -> list[Any]:
    return [v for chunk in column.chunks for v in getattr(chunk, "dictionary_decode", lambda c=chunk: c)().to_pylist()]


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"use_dictionary": False},
        {"use_dictionary": False, "column_encoding": {"a": "DELTA_BYTE_ARRAY", "g": "DELTA_LENGTH_BYTE_ARRAY"}},
        {"row_group_size": 2},
        {"data_page_version": "2.0", "compression": "gzip"},
        {"data_page_size": 1, "write_batch_size": 1, "compression": "zstd", "write_page_index": True},
        {"dictionary_pagesize_limit": 1, "write_batch_size": 1, "data_page_size": 1},
        {"compression": "none", "write_statistics": False, "write_page_checksum": True},
    ],
)
def test_every_way_of_writing_comes_back_whole(tmp_path: Path, how: dict[str, Any]) -> None:
    n = 300
    columns = {
        "a": pa.array(WORDS * n),
        "g": pa.array([w and w.encode() for w in WORDS] * n, pa.large_binary()),
        "n": pa.array([1, None, 3, 4, 5, 6, 7] * n),
        "f": pa.array([b"12345678901"] * 7 * n, pa.binary(11)),
        "box": pa.array([{"xmin": 1.5, "xmax": None}] * 7 * n),
        "nothing": pa.nulls(7 * n, pa.string()),
        "left out": pa.array(["x"] * 7 * n),
    }
    path = written(tmp_path / "a.parquet", columns, **how)
    names = list(columns)[:-1]
    for origin in (path, path.read_bytes()):
        found = read(origin, names)
        assert found.column_names == names
        for name in names:
            assert plain(found.column(name)) == columns[name].to_pylist()


def test_columns_with_dots_and_empty_files(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", {"a.b": ["x", "y"], "a": [1, 2], "c": ["z", "z"]})
    assert plain(read(path, ["a.b", "c"]).column("a.b")) == ["x", "y"]
    path = written(tmp_path / "b.parquet", {"a": pa.nulls(0, pa.string())})
    assert list(bounded_batches(path, columns=["a"], source="b.parquet")) == []


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int8(), pa.string())])
@pytest.mark.parametrize("how", [{}, {"use_dictionary": False}])
def test_text_is_counted_by_its_bytes_and_places(tmp_path: Path, kind: pa.DataType, how: dict[str, Any]) -> None:
    values = [None, "\xf1" * 50, None, "y" * 1_000, *[None] * 9] * 200
    path = written(tmp_path / "a.parquet", {"a": pa.array(values, kind)}, compression="zstd", **how)
    exact = 200 * 1_100 + len(values) * 16
    # Where every value stands in the pages, these have the lengths of all of them besides.
    pages = 4 * 400 + 2_600 if how else 0
    assert len(read(path, ["a"], Room(exact + pages, exact + pages, 0, 1_000))) == len(values)
    assert "bytes or more" in refused(path, "archive_bomb", room=Room(exact - 1, exact, 0, 1_000))
    assert "a value of 1,000 bytes" in refused(path, "archive_bomb", room=Room(exact + pages, exact + pages, 0, 999))


class Borrowed(pa.ExtensionType):
    """A type of somebody else's, as other packages register for geometry."""

    def __init__(self) -> None:
        super().__init__(pa.binary(), "test.borrowed")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, _storage: pa.DataType, _content: bytes) -> Borrowed:
        return cls()


BIG = "a" * 50_000
DELTA = {"use_dictionary": False, "column_encoding": {"a": "DELTA_BYTE_ARRAY"}}


@pytest.mark.parametrize(
    ("column", "how"),
    [
        (pa.array([BIG] * 1_000), {}),
        (pa.array([BIG] * 1_000), {"row_group_size": 50}),
        (pa.array([BIG] * 1_000).dictionary_encode(), {}),
        (pa.array([BIG] * 1_000), {"use_dictionary": False, "compression": "zstd"}),
        (pa.array([BIG] * 1_000), DELTA),
        (pa.array([BIG.encode()] * 1_000), {}),
        (pa.array([BIG.encode()] * 1_000, pa.binary(50_000)), {}),
        (pa.ExtensionArray.from_storage(Borrowed(), pa.array([BIG.encode()] * 1_000)), {}),
        (pa.nulls(1_000_000, pa.int8()), {}),
        (pa.nulls(1_000_000, pa.string()), {}),
        (pa.array([[1.5] * 1_000_000]), {}),
    ],
)
def test_bombs_are_stopped(tmp_path: Path, column: Any, how: dict[str, Any]) -> None:
    path = written(tmp_path / "a.parquet", {"a": column}, **how)
    assert path.stat().st_size < 200_000
    assert "Export what is needed" in refused(path, "archive_bomb")
    refused(path.read_bytes(), "archive_bomb")


def test_a_type_of_somebody_elses_hides_no_dictionary(tmp_path: Path) -> None:
    shape = shapely.to_wkb(shapely.Point(0, 0).buffer(1))
    values = pa.ExtensionArray.from_storage(Borrowed(), pa.array([shape, None] * 500))
    pa.register_extension_type(Borrowed())
    try:
        path = written(tmp_path / "a.parquet", {"a": values})
        batches = list(bounded_batches(path, columns=["a"], source="a.parquet"))
        assert [v for b in batches for v in b.column(0).storage.to_pylist()] == [shape, None] * 500
        big = pa.ExtensionArray.from_storage(Borrowed(), pa.array([BIG.encode()] * 1_000))
        refused(written(tmp_path / "a.parquet", {"a": big}), "archive_bomb")
    finally:
        pa.unregister_extension_type("test.borrowed")


def test_a_bomb_takes_no_memory(tmp_path: Path) -> None:
    repeated = pa.DictionaryArray.from_arrays(pa.array([0] * 3_000, pa.int32()), pa.array(["a" * 500_000]))
    path = written(tmp_path / "a.parquet", {"a": repeated}, compression="zstd")
    assert path.stat().st_size < 1_500
    # In a process of its own: what it took at most counts from its beginning.
    script = (
        "import pathlib, sys\n"
        "import pyarrow as pa\n"
        "from grownj_geo.features import LayerFault\n"
        "from grownj_geo.readers import read_features\n"
        "try:\n"
        "    read_features(pathlib.Path(sys.argv[1]))\n"
        "except LayerFault as error:\n"
        "    print(error.fault, pa.default_memory_pool().max_memory())\n"
    )
    done = subprocess.run([sys.executable, "-c", script, path], check=True, capture_output=True, text=True)
    fault, most = done.stdout.split()
    assert fault == "archive_bomb"
    assert 0 < int(most) < 20 << 20


def test_text_inside_of_lists_is_refused_and_not_read_where_it_is_not_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", {"a": [["x"], ["y"]], "b": [1, 2]})
    assert "'a.list" in refused(path, "wrong_format")
    assert read(path, ["b"]).column("b").to_pylist() == [1, 2]


@pytest.mark.parametrize("at", [4, 5, 6, 8, 10])
def test_a_damaged_header_of_a_page_is_no_page(tmp_path: Path, at: int) -> None:
    path = written(tmp_path / "a.parquet", {"a": WORDS}, compression="none")
    content = bytearray(path.read_bytes())
    assert content[:4] == b"PAR1"
    content[at : at + 4] = b"\xff" * 4
    refused(bytes(content), "unreadable")


def test_what_is_no_parquet_is_unreadable() -> None:
    for content in (b"", b"PAR1", b"PAR1" + b"\0" * 100 + b"PAR1"):
        refused(content, "unreadable")
