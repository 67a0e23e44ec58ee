"""What a run reads is taken away or damaged meanwhile, in real processes: nothing changes, or it stops and says so."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import grownj_geo
from grownj_geo.reference import data_folder

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS, BLOCK = 240, 20


class World:
    """A copy of the package with its layers, in which anything may be broken, and a table."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # With its byte code: a run that has to compile it takes twice as long.
        shutil.copytree(Path(grownj_geo.__file__).parent, folder / "grownj_geo")
        shutil.copytree(data_folder(), folder / "data", ignore=shutil.ignore_patterns("source"))
        self.layers = folder / "data"
        self.source = folder / "in.csv"
        rng = np.random.default_rng(5)
        places = zip(rng.uniform(-75.0, -74.2, ROWS), rng.uniform(39.6, 41.0, ROWS), strict=True)
        self.source.write_text("lon,lat\n" + "".join(f"{lon:.6f},{lat:.6f}\n" for lon, lat in places))
        self.target = folder / "out.csv"

    def begin(self, *words: str, target: str = "out.csv") -> subprocess.Popen[str]:
        """Begin a run of the command."""
        there = {"PYTHONPATH": str(self.folder), "GROWNJ_HOME": str(self.folder / "home")}
        command = (sys.executable, "-m", "grownj_geo", "batch", self.source, "-o", self.folder / target)
        return subprocess.Popen(
            [*command, "--block-rows", str(BLOCK), *words],
            env=os.environ | there,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def broken(self, break_it: Callable[[], object], *words: str) -> tuple[int, str]:
        """Break something once the first block is written; return the exit code and what was said."""
        with self.begin(*words) as run:
            first = self.folder / ".out.csv.parts" / "part-000000.json"
            end = time.monotonic() + 120
            while not first.exists() and run.poll() is None and time.monotonic() < end:
                time.sleep(0.005)
            assert run.poll() is None, "the run was over before anything could be broken"
            break_it()
            _, said = run.communicate(timeout=300)
        assert "Traceback" not in said
        return run.returncode, " ".join(said.split())

    def whole(self, *words: str) -> bytes:
        """Return the table of a run that nobody disturbs."""
        with self.begin(*words, target="whole.csv") as run:
            _, said = run.communicate(timeout=300)
        assert run.returncode == 0, said
        return (self.folder / "whole.csv").read_bytes()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the table of a run that nobody disturbs: every world has the same sites."""
    return World(tmp_path_factory.mktemp("whole")).whole()


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for at in range(100, len(content), 1 + len(content) // 50):
        content[at] ^= 0xFF
    path.write_bytes(bytes(content))


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--workers", "2")], ids=["one", "two"])
def test_layers_that_go_away_or_break_meanwhile_change_nothing(
    world: World, whole: bytes, words: tuple[str, ...]
) -> None:

    def break_all() -> None:
        for i, path in enumerate(sorted(world.layers.iterdir())):
            if i % 4 == 0:
                path.unlink()
            elif i % 4 == 1:
                os.truncate(path, path.stat().st_size // 2)
            elif i % 4 == 2:
                path.write_bytes(b"")
            else:
                damage(path)

    code, said = world.broken(break_all, *words)
    assert code == 0, said
    # The layers were read when the run began.
    assert world.target.read_bytes() == whole


@pytest.mark.slow
def test_a_layer_that_is_broken_before_leaves_its_rows_undetermined_and_is_told(world: World, whole: bytes) -> None:
    damage(world.layers / "municipalities.parquet")
    with world.begin() as run:
        _, said = run.communicate(timeout=300)
    assert run.returncode == 0
    assert "The layer municipalities cannot be used" in " ".join(said.split())
    with world.target.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for before, after in zip(csv.DictReader(whole.decode().splitlines()), rows, strict=True):
        if before["problem"]:
            continue
        changed = {name for name in before if before[name] in {"yes", "no"} and after[name] != before[name]}
        assert {after[name] for name in changed} <= {"undetermined"}
        assert after["qualified_incentive_area"] == "undetermined"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "words"),
    [("appended", ()), ("replaced", ()), ("cut", ("--workers", "2")), ("removed", ("--workers", "2"))],
)
def test_a_table_that_is_written_meanwhile_is_refused(world: World, how: str, words: tuple[str, ...]) -> None:
    world.target.write_bytes(b"before")

    def write() -> None:
        if how == "appended":
            with world.source.open("a") as file:
                file.write("-74.1641,40.7344\n")
        elif how == "replaced":
            other = world.folder / "other.csv"
            other.write_text("lon,lat\n-74.1641,40.7344\n")
            other.replace(world.source)
        elif how == "cut":
            os.truncate(world.source, 1_000)
        else:
            world.source.unlink()

    code, said = world.broken(write, "--replace", *words)
    assert code == 2, said
    assert "was changed while it was read" in said
    assert world.target.read_bytes() == b"before"


@pytest.mark.slow
def test_an_index_that_goes_away_meanwhile_changes_nothing(world: World, whole: bytes) -> None:
    assert world.whole("--index", "build") == whole
    (index,) = (world.folder / "home" / "cells").glob("*.cells")
    kept = index.read_bytes()

    def replace() -> None:
        other = index.with_name("other")
        other.write_bytes(b"no index")
        other.replace(index)

    for break_it in (index.unlink, replace):
        index.write_bytes(kept)
        world.target.unlink(missing_ok=True)
        code, said = world.broken(break_it)
        assert code == 0, said
        assert world.target.read_bytes() == whole
