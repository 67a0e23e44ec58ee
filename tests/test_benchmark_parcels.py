"""The benchmark of parcels loads what it says by the command itself; no time is asserted."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from grownj_geo.atlas import load_atlas

SCRIPTS = str(Path(__file__).parents[1] / "scripts")


@pytest.fixture(scope="module")
def benchmark() -> Any:
    sys.path.insert(0, SCRIPTS)
    try:
        return import_module("benchmark_parcels")
    finally:
        sys.path.remove(SCRIPTS)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["parquet", "gdb"])
def test_what_is_generated_is_loaded_found_and_measured(form: str, benchmark: Any, tmp_path: Path) -> None:
    pytest.importorskip("rapidfuzz")
    figures = benchmark.measure(600, tmp_path, form=form)
    assert (figures["parcels"], figures["format"]) == (600, form)
    assert 0 < figures["drawn"] <= 600
    assert figures["by_pin_ms"]["asked"] == 2_000
    assert figures["targets"]["measured_with"] == 600
    assert {"import_s", "by_pin_ms", "at_ms", "address_ms"} <= figures["targets"].keys()


def test_every_way_of_finding_a_point_is_measured(benchmark: Any, tmp_path: Path) -> None:
    figures = benchmark.measure_trees(500, tmp_path)
    assert {"blocks", "sqlite_rtree_of_all", "rtree_library"} <= figures.keys()


def test_generated_parcels_are_the_same_in_every_run(benchmark: Any) -> None:
    (one, shapes), (other, again) = (next(benchmark.parcel_tables(load_atlas(), 200)) for _ in range(2))
    assert one == other
    assert shapes.tolist() == again.tolist()
    assert len(set(one["PAMS_PIN"])) < 200 or any(unit for unit in one["PCLQCODE"])
