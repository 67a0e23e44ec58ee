"""The benchmark of maps measures the command itself, and says which aims are reached; no time is asserted."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def benchmark() -> Any:
    path = Path(__file__).parents[1] / "scripts" / "benchmark_maps.py"
    spec = importlib.util.spec_from_file_location("benchmark_maps", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["benchmark_maps"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_maps_are_written_and_measured(benchmark: Any) -> None:
    alone, some = benchmark.measure_maps((0, 20))
    assert (alone.sites, some.sites) == (0, 20)
    assert 0.5 < alone.size_mb < some.size_mb < benchmark.LARGEST_MB
    assert alone.write_s > 0
    assert alone.cpu_s > 0


def test_aims_are_told_as_they_are(benchmark: Any) -> None:
    figures = [
        benchmark.MapFigures(1_000, 4.0, 8.0, 7.0, 1.0, 10.0),
        benchmark.MapFigures(150_000, 40.0, 60.0, 9.0, None, None),
    ]
    aims = benchmark._aims(figures)  # noqa: SLF001 - what main prints
    assert aims == {"1,000 sites: at most 6 MB": False, "1,000 sites: written in at most 5 s": True}
