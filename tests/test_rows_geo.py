"""Parquet of users, row by row: as bounded as that of layers, and whole in every way of writing."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from drawn import NEWARK
from test_siterows import opened

from grownj_geo.features import LayerFault

if TYPE_CHECKING:
    from pathlib import Path

WKB = shapely.to_wkb(shapely.Point(*NEWARK))


def columns(n: int) -> dict[str, Any]:
    """Return columns of every kind that people have, with values missing in each."""
    return {
        "geometry": pa.array([WKB] * n, pa.binary()),
        "text": pa.array([None if i % 7 == 0 else f"0{i % 5}" for i in range(n)]),
        "large": pa.array([f"{i}" for i in range(n)], pa.large_string()),
        "coded": pa.array(["a", "b", None] * n)[:n].dictionary_encode(),
        "number": pa.array([None if i % 3 == 0 else i / 2 for i in range(n)]),
        "whole": pa.array(range(n), pa.int16()),
        "bytes": pa.array([bytes([i % 256]) for i in range(n)], pa.large_binary()),
        "list": pa.array([[i, i + 1] for i in range(n)]),
    }


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"use_dictionary": False},
        {"row_group_size": 70},
        {"use_dictionary": ["text"], "compression": "zstd", "data_page_version": "2.0"},
        {"store_schema": False, "row_group_size": 33},
    ],
)
def test_rows_come_out_as_they_went_in_from_any_row_on(tmp_path: Path, how: dict[str, Any]) -> None:
    n = 250
    path = tmp_path / "sites.parquet"
    pq.write_table(pa.table(columns(n)), path, **how)
    wanted = pq.read_table(path)
    reader = opened(path)
    for start, size in ((0, 1_000), (0, 60), (70, 60), (101, 17), (249, 5), (250, 5)):
        batches = [block.batch for block in reader.blocks(start, size)]
        rest = wanted.slice(start).drop_columns(["geometry"])
        assert [len(batch) for batch in batches] == [min(size, n - at) for at in range(start, n, size)]
        if batches:
            assert pa.Table.from_batches(batches).cast(rest.schema).equals(rest), (start, size)


def test_text_inside_of_lists_is_left_out_and_told(tmp_path: Path) -> None:
    path = tmp_path / "sites.parquet"
    pq.write_table(
        pa.table({"geometry": [WKB], "names": [["a", "b"]], "tags": [{"k": "v"}], "jobs": pa.array([3])}), path
    )
    reader = opened(path)
    (block,) = reader.blocks()
    assert reader.header == ["jobs"]
    assert block.problems == [None]
    (told,) = [c for c in reader.changes if c.kind == "fields_not_read"]
    assert (told.count, told.effect) == (2, "left_out")
    assert "names, tags" in told.words


BOMBS = {
    "one text, counted a million times": (
        "pa.DictionaryArray.from_arrays(pa.array([0] * 3_000, pa.int32()), pa.array(['a' * 500_000]))",
        {"compression": "zstd"},
    ),
    "pages of blanks": ("pa.array([' ' * 10_000_000] * 60)", {"use_dictionary": False, "compression": "zstd"}),
    "geometry": (
        "pa.DictionaryArray.from_arrays(pa.array([0] * 3_000, pa.int32()), pa.array([b'a' * 500_000]))",
        {"compression": "zstd"},
    ),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_refused_in_little_memory(tmp_path: Path, bomb: str) -> None:
    path = tmp_path / "sites.parquet"
    column, how = BOMBS[bomb]
    name = "geometry" if bomb == "geometry" else "name"
    make = (
        "import sys, pyarrow as pa, pyarrow.parquet as pq\n"
        f"column = {column}\n"
        f"pq.write_table(pa.table({{{name!r}: column, 'lon': [{NEWARK[0]}] * len(column), "
        f"'lat': [{NEWARK[1]}] * len(column)}}), sys.argv[1], **{how!r})\n"
    )
    subprocess.run([sys.executable, "-c", make, path], check=True)
    assert path.stat().st_size < 200_000
    # In a process of its own: what it took at most counts from its beginning.
    script = (
        "import pathlib, sys\n"
        "import pyarrow as pa\n"
        "from grownj_geo.atlas import load_atlas\n"
        "from grownj_geo.determine import Directory\n"
        "from grownj_geo.features import LayerFault\n"
        "from grownj_geo.siterows import open_table\n"
        "try:\n"
        "    for block in open_table(sys.argv[1], directory=Directory(load_atlas())).blocks(): pass\n"
        "except LayerFault as error:\n"
        "    print(error.fault, pa.default_memory_pool().max_memory())\n"
    )
    done = subprocess.run([sys.executable, "-c", script, path], check=True, capture_output=True, text=True)
    fault, most = done.stdout.split()
    assert fault == "archive_bomb"
    assert int(most) < 64 << 20


def test_a_damaged_file_is_no_parquet(tmp_path: Path) -> None:
    path = tmp_path / "sites.parquet"
    pq.write_table(pa.table(columns(2_000)), path, compression="zstd")
    content = bytearray(path.read_bytes())
    for cut in (content[:-100], content[:4] + bytes(len(content) // 2) + content[4 + len(content) // 2 :]):
        path.write_bytes(bytes(cut))
        with pytest.raises(LayerFault) as refused:
            list(opened(path).blocks())
        assert refused.value.fault in {"unreadable", "truncated"}
