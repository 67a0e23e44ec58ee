"""Tables in object stores are read and written as files are."""

from __future__ import annotations

from datetime import date
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from grownj_geo.batch import BatchOptions, Question, run_batch
from grownj_geo.features import LayerFault
from grownj_geo.tablepath import is_remote, stamp, table_path
from grownj_geo.units import to_lonlat

QUESTION = Question(date(2017, 4, 17))

needs_stores = pytest.mark.skipif(find_spec("upath") is None, reason="the extra dask is not installed")


def points(path: Path, n: int = 60) -> Path:
    rng = np.random.default_rng(5)
    lon, lat = to_lonlat(rng.uniform(330_000, 620_000, n), rng.uniform(100_000, 880_000, n))
    pq.write_table(pa.table({"id": list(range(n)), "lon": lon, "lat": lat}), path, row_group_size=25)
    return path


@needs_stores
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_table_in_a_store_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    monkeypatch.setenv("GROWNJ_HOME", str(tmp_path / "home"))
    source = points(tmp_path / "in.parquet")
    stored = table_path("memory://sites/in.parquet")
    stored.write_bytes(source.read_bytes())
    options = BatchOptions(block_rows=20)
    here = run_batch(source, tmp_path / f"out{ending}", QUESTION, options=options)
    there = run_batch("memory://sites/in.parquet", f"memory://sites/out{ending}", QUESTION, options=options)
    written = table_path(f"memory://sites/out{ending}")
    assert written.read_bytes() == (tmp_path / f"out{ending}").read_bytes()
    assert (here.outcomes, here.rows) == (there.outcomes, there.rows)
    assert not list((tmp_path / "home" / "outgoing").iterdir())


@needs_stores
def test_an_object_that_was_written_again_is_told_apart() -> None:
    stored = table_path("memory://sites/changing.parquet")
    stored.write_bytes(b"one")
    before = stamp(stored)
    stored.write_bytes(b"another")
    assert stamp(stored) != before


@needs_stores
def test_what_a_store_does_not_have_is_told(tmp_path: Path) -> None:
    with pytest.raises(LayerFault, match=r"There is no 'memory://") as refused:
        run_batch("memory://sites/none.parquet", tmp_path / "out.csv", QUESTION)
    assert refused.value.fault == "not_found"
    table_path("memory://sites/in.csv").write_bytes(b"lon,lat\n-74.1641,40.7344\n")
    with pytest.raises(LayerFault, match="copy it here first"):
        run_batch("memory://sites/in.csv", tmp_path / "out.csv", QUESTION)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/in.parquet",
        "https://example.org/in.parquet",
        "file:///etc/passwd",
        "simplecache::s3://bucket/in.parquet",
        "s3::http://127.0.0.1/in.parquet",
        "zip://in.parquet::s3://bucket/in.zip",
        "github://org:repo@main/in.parquet",
    ],
)
def test_other_protocols_are_refused(url: str) -> None:
    with pytest.raises(LayerFault, match="in no store") as refused:
        table_path(url)
    assert refused.value.fault == "wrong_store"


def test_a_path_stays_a_path(tmp_path: Path) -> None:
    assert table_path(tmp_path) == tmp_path
    assert table_path("a/b.csv") == Path("a/b.csv")
    assert not is_remote(tmp_path)
