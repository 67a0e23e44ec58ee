"""Whoever goes on with a run goes on with the same one: same software, files and wishes; no file is lost to another."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import psutil
import pytest
import shapely
from test_batch import read, table

from grownj_geo.batch import BatchOptions, Question, run_batch
from grownj_geo.features import LayerFault

if TYPE_CHECKING:
    from pathlib import Path

QUESTION = Question(date(2017, 4, 17))
BLOCKS = BatchOptions(block_rows=10)


class StoppedError(Exception):
    """Somebody pressed a key."""


def stopped(source: Path, target: Path, *, after: int = 20, evidence: Path | None = None) -> None:
    """Begin a run and stop it after some rows."""

    def progress(rows: int, _: int | None) -> None:
        if rows >= after:
            raise StoppedError

    with pytest.raises(StoppedError):
        run_batch(source, target, QUESTION, options=BLOCKS, evidence=evidence, progress=progress)


def refused(source: Path, target: Path, *, options: BatchOptions = BLOCKS, **more: Any) -> LayerFault:
    with pytest.raises(LayerFault) as fault:
        run_batch(source, target, QUESTION, options=replace(options, resume=True), **more)
    assert not target.exists()
    return fault.value


@pytest.mark.parametrize("before", [False, True])
def test_records_are_wanted_from_the_beginning_or_not_at_all(tmp_path: Path, before: bool) -> None:  # noqa: FBT001
    source, target = table(tmp_path / "in.csv", 40), tmp_path / "out.csv"
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    stopped(source, target, evidence=one if before else None)
    assert refused(source, target, evidence=other).fault == "other_run"
    assert not other.exists()
    run_batch(source, target, QUESTION, options=replace(BLOCKS, resume=True), evidence=one if before else None)
    if before:
        rows = [json.loads(line)["row"] for line in one.read_text(encoding="utf-8").splitlines()]
        assert rows == [int(row["row"]) for row in read(target) if not row["problem"]]


def test_records_that_are_gone_are_told(tmp_path: Path) -> None:
    source, target, evidence = table(tmp_path / "in.csv", 40), tmp_path / "out.csv", tmp_path / "all.jsonl"
    stopped(source, target, evidence=evidence)
    (part,) = tmp_path.glob(".all.jsonl.*.part")
    part.write_bytes(part.read_bytes()[:100])
    fault = refused(source, target, evidence=evidence)
    assert fault.fault == "damaged_part"
    assert "100 bytes" in str(fault)


def test_other_software_does_not_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = table(tmp_path / "in.csv", 40), tmp_path / "out.csv"
    stopped(source, target)
    monkeypatch.setattr("grownj_geo.batch.made_by", lambda: "grownj-geo 9.9, GEOS 9, PROJ 9")
    assert refused(source, target).fault == "other_run"


def test_a_strict_run_does_not_go_on_past_a_bad_row(tmp_path: Path) -> None:
    source, target = table(tmp_path / "in.csv", 40), tmp_path / "out.csv"
    stopped(source, target)
    fault = refused(source, target, options=replace(BLOCKS, strict=True))
    assert fault.fault == "bad_row"
    assert "earlier run" in str(fault)


def test_every_file_of_a_shapefile_counts(tmp_path: Path) -> None:
    folder = tmp_path / "sites"
    folder.mkdir()
    points = [shapely.Point(580_000 + 100 * i, 690_000) for i in range(40)]
    source, target = folder / "sites.shp", tmp_path / "out.csv"
    gpd.GeoDataFrame({"name": ["a"] * 40}, geometry=points, crs="EPSG:3424").to_file(source)
    stopped(source, target)
    table_file = source.with_suffix(".dbf")
    table_file.write_bytes(table_file.read_bytes().replace(b"a ", b"b "))
    assert refused(source, target).fault == "other_run"


@pytest.mark.parametrize("same", ["source", "target"])
def test_records_never_take_the_place_of_a_table(tmp_path: Path, same: str) -> None:
    source, target = table(tmp_path / "in.csv", 20), tmp_path / "out.csv"
    before = source.read_bytes()
    evidence = source if same == "source" else target
    with pytest.raises(LayerFault) as fault:
        run_batch(source, target, QUESTION, evidence=evidence)
    assert fault.value.fault == "same_file"
    assert source.read_bytes() == before
    assert not target.exists()


@pytest.mark.slow
def test_processes_of_other_software_are_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grownj_geo.batch.made_by", lambda: "grownj-geo 9.9, GEOS 9, PROJ 9")
    with pytest.raises(LayerFault, match="GEOS 9") as fault:
        run_batch(table(tmp_path / "in.csv", 40), tmp_path / "out.csv", QUESTION, options=replace(BLOCKS, workers=2))
    assert fault.value.fault == "other_software"


def test_two_runs_at_once_keep_to_their_own_records(tmp_path: Path) -> None:
    source, evidence = table(tmp_path / "in.csv", 20), tmp_path / "all.jsonl"
    targets = [tmp_path / "a.csv", tmp_path / "b.csv"]
    runs = [
        threading.Thread(target=run_batch, args=(source, target, QUESTION), kwargs={"evidence": evidence})
        for target in targets
    ]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert targets[0].read_bytes() == targets[1].read_bytes()
    lines = evidence.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["row"] for line in lines] == [
        int(row["row"]) for row in read(targets[0]) if not row["problem"]
    ]


@pytest.mark.slow
def test_processes_end_when_the_one_that_started_them_is_killed(tmp_path: Path) -> None:
    source = table(tmp_path / "in.csv", 20_000)
    words = ["batch", str(source), "-o", str(tmp_path / "out.csv"), "--workers", "2", "--block-rows", "50"]
    run = psutil.Popen([sys.executable, "-m", "grownj_geo", *words], stderr=subprocess.DEVNULL)
    parts = tmp_path / ".out.csv.parts"
    end = time.monotonic() + 120
    while not list(parts.glob("part-*.json")):
        assert run.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)
    children = run.children(recursive=True)
    assert len(children) >= 2
    run.kill()
    run.wait()
    _, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []


def test_what_the_output_has_otherwise_is_told(tmp_path: Path) -> None:
    source = tmp_path / "lots.gpkg"
    lots = gpd.GeoDataFrame({"county": ["mine"]}, geometry=[shapely.box(580_000, 690_000, 580_100, 690_100)], crs=3424)
    lots.to_file(source)
    plain = run_batch(source, tmp_path / "out.csv", QUESTION).changes
    drawn = run_batch(source, tmp_path / "out.gpkg", QUESTION).changes
    assert [any("grownj_county" in words for words in told) for told in (plain, drawn)] == [True, True]
    assert [any("no geometry" in words for words in told) for told in (plain, drawn)] == [True, False]
