"""The benchmark runs, compares before it times, and prints every figure that it promises."""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil
import pytest
import shapely
from few_world import few_municipalities

import grownj_geo as gj
from grownj_geo.atlas import Atlas
from grownj_geo.determine import Directory
from grownj_geo.evaluate import Evaluation
from grownj_geo.leaves import Leaves
from grownj_geo.rulebook import load_rulebook
from grownj_geo.siterows import TableOptions, open_table
from grownj_geo.sitetable import SiteTable

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]


def _script(name: str) -> ModuleType:
    if str(ROOT / "scripts") not in sys.path:
        sys.path.insert(0, str(ROOT / "scripts"))
    return importlib.import_module(name)


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    return _script("benchmark")


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw as many planning areas as ever, most of them small, and tracts as squares.

    What is measured here is no figure for anybody, and an index of the State takes as long as its lines are long.
    """
    draw_blobs = _script("benchmark_layers").blobs

    def small(count: int, vertices: int, **more: Any) -> list[list[list[float]]]:
        rings = np.array(draw_blobs(count, min(vertices, 12), **more))
        middle = rings[200:, :-1].mean(axis=1, keepdims=True)
        rings[200:] = middle + (rings[200:] - middle) / 50
        return list(rings.round(9).tolist())

    for name in ("benchmark_layers", "benchmark_sites"):
        monkeypatch.setattr(_script(name), "blobs", small)
    module = _script("benchmark")
    monkeypatch.setattr(module, "TRACTS", None)
    monkeypatch.setattr(module, "measure_cells", partial(module.measure_cells, tracts=None, compared=40))


@pytest.fixture(scope="module")
def atlas() -> gj.Atlas:
    return gj.load_atlas()


def _points_in_a_few(n: int) -> np.ndarray:
    """Return points around those municipalities that an index is soon built of."""
    layer = few_municipalities()
    x0, y0, x1, y1 = np.nanmin(layer.bounds[:, :2], axis=0).tolist() + np.nanmax(layer.bounds[:, 2:], axis=0).tolist()
    xy = np.random.default_rng(5).uniform((x0, y0), (x1, y1), (40 * n, 2))
    ground = shapely.union_all([layer.geometry(i) for i in range(len(layer))])
    shapely.prepare(ground)
    return np.asarray(shapely.points(xy[shapely.intersects_xy(ground, xy[:, 0], xy[:, 1])][:n]))


# -- all of it -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("coarse")
def test_small_run_prints_and_writes_all_parts(
    benchmark: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "figures.json"
    sizes = ["--cold-runs", "1", "--warm-sites", "12", "--points", "500", "--rule-sites", "1000", "--large-mb", "2"]
    sizes += ["--batch-rows", "40", "--many-points", "2000", "--many-parcels", "200", "--cut-lots", "40"]
    sizes += ["--layer-points", "0", "--parcels-file", "0"]
    assert benchmark.main([*sizes, "--json", str(file)]) == 0
    figures = json.loads(file.read_text(encoding="utf-8"))
    assert {"versions", "cold", "warm", "municipalities", "stations", "rules", "loading", "batch", "cells"} <= set(
        figures
    )
    assert {"python", "numpy", "shapely", "geos", "pyproj", "proj", "grownj-geo"} <= set(figures["versions"])
    assert figures["stations"]["largest_difference_ft"] < 0.01
    assert figures["cold"]["imports_ms"]
    unequal = _script("benchmark_targets").disagreements(figures)
    assert len(unequal) >= 9
    assert set(unequal.values()) == {0}
    held = {row["name"]: row["holds"] for row in figures["targets"]}
    # Small runs say nothing of targets that are for large ones, nor of what was left out.
    assert held["1 M points, all categories, warm"] is None
    assert held["3.4 M parcels, GeoParquet to Parquet"] is None
    assert held["answers unequal to another way's"] is True
    printed = capsys.readouterr().out
    for words in ("megabytes_peak", "determine_ms_median", "Targets", "not known"):
        assert words in printed


@pytest.mark.slow
def test_more_layers_are_measured_with_equal_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scale = _script("benchmark_scale")
    monkeypatch.setattr(
        scale, "Atlas", lambda as_of, layers: Atlas(as_of=as_of, layers=(*layers, few_municipalities()))
    )
    monkeypatch.setattr(scale, "random_points", lambda _, n: _points_in_a_few(n))
    found = scale.measure_by_layers(points=300, counts=(1, 3))
    assert found["layers"] == [1, 3]
    assert found["grounds"][1] > found["grounds"][0]
    assert found["unequal_with_and_without_index"] == [0, 0]
    assert all(value > 0 for name in ("seconds", "megabytes", "build_s", "index_mb") for value in found[name])
    cells = {"by_sites": {"counts": [10, 100], "seconds": [0.1, 0.4]}, "points": 100, "geopandas_pipeline_s": 3.0}
    cells["municipal"] = {"municipal_s": 0.01, "sedonadb_s": 0.2, "sedonadb_points": 50, "duckdb": "not installed"}
    figures = {"cells": cells, "by_layers": found, "versions": {"machine": "one"}, "measured": "today"}
    pictures = [tmp_path / "costs.png", tmp_path / "costs.svg"]
    _script("benchmark_plot").draw_costs(figures, pictures)
    assert pictures[0].read_bytes().startswith(b"\x89PNG")
    first = pictures[1].read_bytes()
    assert first.startswith(b"<?xml")
    _script("benchmark_plot").draw_costs(figures, pictures)
    assert pictures[1].read_bytes() == first


@pytest.mark.slow
@pytest.mark.usefixtures("coarse")
def test_a_file_of_parcels_is_answered_as_each_parcel_alone(atlas: gj.Atlas) -> None:
    before = os.environ.get("GROWNJ_HOME")
    found = _script("benchmark_batch").measure_parcel_file(atlas, parcels=80, tracts=None)
    assert found["tables_unequal"] == 0
    assert found["rows_unequal_to_one_site"] == 0
    assert found["processes"] >= 3
    assert found["peak_mb"] > 100
    assert found["state_is"] == "scaled from 80 parcels"
    assert os.environ.get("GROWNJ_HOME") == before


# -- sites ---------------------------------------------------------------------------------------------


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


def test_parcels_are_valid_lie_in_the_state_and_have_the_sizes_that_are_said(atlas: gj.Atlas) -> None:
    sites = _script("benchmark_sites")
    chunks = list(sites.parcel_chunks(atlas, 5_000, chunk=2_000))
    assert [len(chunk) for chunk in chunks] == [2_000, 2_000, 1_000]
    shapes = np.concatenate(chunks)
    assert shapely.is_valid(shapes).all()
    state = sites.new_jersey(atlas)
    middles = shapely.get_coordinates(shapely.centroid(shapes))
    assert shapely.intersects_xy(state, middles[:, 0], middles[:, 1]).mean() > 0.999
    acres = shapely.area(shapes) / 43_560
    assert 0.2 < np.median(acres) < 0.3
    assert 0.003 < (acres > 10).mean() < 0.03
    assert set(shapely.get_num_coordinates(shapes).tolist()) == {5, 7, 13}
    again = np.concatenate(list(sites.parcel_chunks(atlas, 5_000, chunk=2_000)))
    assert shapely.equals_exact(shapes, again).all()


def test_a_parcel_file_is_what_batch_reads(atlas: gj.Atlas, tmp_path: Path) -> None:
    sites = _script("benchmark_sites")
    path = tmp_path / "parcels.parquet"
    sites.write_parcels(path, atlas, 700, chunk=300)
    reader = open_table(path, TableOptions(), directory=Directory(atlas))
    blocks = list(reader.blocks(0, 1_000))
    assert reader.rows == 700
    assert sum(block.good.sum() for block in blocks) == 700
    expected = np.concatenate(list(sites.parcel_chunks(atlas, 700, chunk=300)))
    read = np.concatenate([block.geometries for block in blocks])
    assert shapely.equals_exact(shapely.normalize(read), shapely.normalize(expected), tolerance=1e-6).all()


# -- seconds and memory --------------------------------------------------------------------------------


def test_memory_is_that_of_the_process_and_not_of_whoever_starts_it(benchmark: ModuleType) -> None:
    held = np.ones(60_000_000)  # 480 MB
    _, megabytes = benchmark.one_process([sys.executable, "-c", "pass"])
    assert megabytes < held.nbytes / 2**20 / 4
    with pytest.raises(SystemExit, match="exit code 3"):
        benchmark.one_process([sys.executable, "-c", "raise SystemExit(3)"])


def test_memory_of_a_tree_is_that_of_all_its_processes(tmp_path: Path) -> None:
    holding = "import time; held = b'x' * 80_000_000; time.sleep(1.5)"
    parent = (
        f"import subprocess, sys; each = [subprocess.Popen([sys.executable, '-c', {holding!r}]) for _ in range(2)]; "
    )
    parent += "[one.wait() for one in each]"
    log = tmp_path / "log"
    used = _script("benchmark_process").process_tree([sys.executable, "-c", parent], log=log)
    assert used.processes == 3
    assert 160 < used.resident_mb < 320
    assert math.isnan(used.proportional_mb) or 160 < used.proportional_mb <= used.resident_mb
    assert used.seconds > 1.5
    assert used.processor_s > 0
    failing = "print('a reason'); raise SystemExit(4)"
    with pytest.raises(SystemExit, match=r"exit code 4; expected 0\. It said: a reason"):
        _script("benchmark_process").process_tree([sys.executable, "-c", failing], log=log)


def test_memory_of_work_is_what_it_takes_at_most() -> None:
    megabytes, found = _script("benchmark_process").peak_of(lambda: np.ones(3_000_000).sum() + np.ones(1_000).sum())
    assert found == 3_001_000
    assert 24 <= megabytes < 30


# -- targets -------------------------------------------------------------------------------------------


def _held(figures: dict[str, Any], name: str) -> tuple[bool | None, str]:
    row = next(row for row in _script("benchmark_targets").table_of_targets(figures) if row["name"] == name)
    return row["holds"], row["note"]


@pytest.mark.parametrize(("ratio", "holds"), [(4.99, False), (5.0, True), (9.0, True)])
def test_a_target_of_at_least_holds_from_its_figure_on(ratio: float, *, holds: bool) -> None:
    figures = {"cells": {"points": 1_000_000, "municipal": {"ratio_sedonadb_to_ours": ratio}}}
    assert _held(figures, "municipality alone, SedonaDB : ours") == (holds, "")


@pytest.mark.parametrize(("seconds", "holds"), [(1.5, True), (1.51, False)])
def test_a_target_of_at_most_holds_up_to_its_figure(seconds: float, *, holds: bool) -> None:
    assert _held({"cold": {"seconds_median": seconds}}, "one site, cold command") == (holds, "")


def test_what_was_not_measured_or_on_too_few_neither_holds_nor_fails() -> None:
    name = "1 M points, all categories, warm"
    assert _held({"cells": {"points": 999_999, "points_s": 0.1}}, name) == (
        None,
        "measured on fewer than the target is for",
    )
    assert _held({"cells": {"points": 1_000_000, "points_s": "not installed"}}, name) == (None, "not measured")
    assert _held({"cells": {"points": 1_000_000, "points_s": math.nan}}, name) == (None, "not measured")
    assert _held({}, name) == (None, "not measured")


def test_one_unequal_answer_anywhere_is_told() -> None:
    name = "answers unequal to another way's"
    assert _held({"a": {"b": {"points_unequal": 0}}, "c": {"unequal_to": [0, 0]}}, name) == (True, "2 comparisons")
    assert _held({"a": {"b": {"points_unequal": 0}}, "c": {"unequal_to": [0, 1]}}, name) == (False, "2 comparisons")
    assert _held({"a": {"seconds": 1}}, name) == (None, "not measured")


def test_the_table_is_printed_with_what_holds(capsys: pytest.CaptureFixture[str]) -> None:
    targets = _script("benchmark_targets")
    targets.print_targets(targets.table_of_targets({"cold": {"seconds_median": 3.0, "megabytes_peak": 150.0}}))
    lines = {line.split("  ")[1]: line for line in capsys.readouterr().out.splitlines() if line.startswith("  ")}
    assert "DOES NOT HOLD" in lines["one site, cold command"]
    assert lines["one site, cold command, peak"].endswith("holds")
    assert "not known" in lines["index built"]


def test_every_target_names_a_figure_of_its_own() -> None:
    targets = _script("benchmark_targets").TARGETS
    assert len({target.path for target in targets}) == len({target.name for target in targets}) == len(targets)


# -- others --------------------------------------------------------------------------------------------


def test_a_server_that_is_not_there_is_said_to_be_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    postgis = _script("benchmark_postgis")
    monkeypatch.setattr(postgis, "FOLDERS", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert postgis.programs() is None
    with pytest.raises(FileNotFoundError):
        postgis.municipal_by_postgis(None, None)


def test_a_server_of_our_own_ends_with_its_work_and_leaves_nothing() -> None:
    postgis = _script("benchmark_postgis")
    folder = postgis.programs()
    if folder is None:
        pytest.skip("PostGIS is not installed")
    told: list[Any] = []

    def fail_inside() -> None:
        with postgis.cluster(folder) as own:
            told.append(own.sql("SELECT ST_AsText(ST_Point(1, 2))").strip())
            told.append(own.folder)
            told.append(psutil.Process(int((own.folder / "data" / "postmaster.pid").read_text().split()[0])))
            own.sql("SELECT 1 / 0")

    with pytest.raises(SystemExit, match="division by zero"):
        fail_inside()
    words, home, server = told
    assert words == "POINT(1 2)"
    assert not home.exists()
    assert not server.is_running() or server.status() == psutil.STATUS_ZOMBIE


def test_whom_several_cover_gets_the_lower_code() -> None:
    found = _script("benchmark_peers").by_id(np.array([2, 0, 2]), ["0408", "0714", "0102"], 4)
    assert found == ["0714", None, "0102", None]
