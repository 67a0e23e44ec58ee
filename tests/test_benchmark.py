"""The benchmark runs, compares before it times, and prints every figure that it promises."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import grownj_geo as gj
from grownj_geo.evaluate import Evaluation
from grownj_geo.leaves import Leaves
from grownj_geo.observe import SiteTable
from grownj_geo.rulebook import load_rulebook

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    sys.path.insert(0, str(ROOT / "scripts"))
    spec = importlib.util.spec_from_file_location("benchmark", ROOT / "scripts" / "benchmark.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["benchmark"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def atlas() -> gj.Atlas:
    return gj.load_atlas()


@pytest.mark.slow
def test_small_run_prints_and_writes_all_parts(
    benchmark: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "figures.json"
    sizes = ["--cold-runs", "1", "--warm-sites", "12", "--points", "500", "--rule-sites", "1000", "--large-mb", "2"]
    sizes += ["--batch-rows", "40", "--many-points", "2000", "--many-parcels", "200"]
    assert benchmark.main([*sizes, "--json", str(file)]) == 0
    figures = json.loads(file.read_text(encoding="utf-8"))
    assert {"versions", "cold", "warm", "municipalities", "stations", "rules", "loading", "batch", "cells"} <= set(
        figures
    )
    assert {"python", "numpy", "shapely", "geos", "pyproj", "proj"} <= set(figures["versions"])
    assert figures["municipalities"]["unequal_answers"] == 0
    assert figures["stations"]["largest_difference_ft"] < 0.01
    assert figures["rules"]["categories_unequal_to_the_few"] == 0
    assert figures["cold"]["imports_ms"]
    assert figures["batch"]["files_unequal"] == 0
    unequal = {name: value for name, value in figures["cells"].items() if "unequal" in name}
    assert len(unequal) >= 5
    assert set(unequal.values()) == {0}
    printed = capsys.readouterr().out
    assert "megabytes_peak" in printed
    assert "determine_ms_median" in printed


def test_sample_is_the_same_every_time(benchmark: ModuleType, atlas: gj.Atlas) -> None:
    first, second = (benchmark.sample_sites(atlas, 16) for _ in range(2))
    assert [s.geometry.wkt for s in first] == [s.geometry.wkt for s in second]
    assert {s.is_point for s in first} == {True, False}


def test_repeated_observations_give_the_answers_of_the_originals(benchmark: ModuleType, atlas: gj.Atlas) -> None:
    engine = gj.Engine(atlas, load_rulebook())
    seen = Leaves(engine.bound, atlas, SiteTable.of(benchmark.sample_sites(atlas, 9)))
    few = Evaluation(engine.bound, seen, keep=False)
    names = [category.id for category in engine.rulebook.categories]
    expected = {name: few.category(name).outcomes for name in names}
    many = Evaluation(engine.bound, benchmark.ready_leaves(seen, 25), keep=False)
    for name in names:
        np.testing.assert_array_equal(many.category(name).outcomes, expected[name][:, np.arange(25) % 9])


def test_memory_is_that_of_the_process_and_not_of_whoever_starts_it(benchmark: ModuleType) -> None:
    held = np.ones(60_000_000)  # 480 MB
    _, megabytes = benchmark.one_process([sys.executable, "-c", "pass"])
    assert megabytes < held.nbytes / 2**20 / 4
    with pytest.raises(SystemExit, match="exit code 3"):
        benchmark.one_process([sys.executable, "-c", "raise SystemExit(3)"])
