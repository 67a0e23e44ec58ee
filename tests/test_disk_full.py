"""A disk that is full, really: a small one is mounted, in a name space of its own, where the system allows it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from pathlib import Path

ROWS, BLOCK = 60, 20

# Runs where a disk can be mounted: `disk` is one, of a size that is changed as it goes.
_CHILD = """
import json, pathlib, shutil, subprocess, sys
from typer.testing import CliRunner
from grownj_geo import cli

folder, ending, block = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
disk = folder / "disk"
whole, out = folder / f"whole.{ending}", disk / f"out.{ending}"

def mount(size, *more):
    subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join([f"size={size}", *more]), "tmpfs", disk], check=True)

def run(*words):
    words = ["batch", folder / "in.csv", "--block-rows", block, "--replace", *words]
    done = CliRunner().invoke(cli.app, list(map(str, words)))
    return {"code": done.exit_code, "said": " ".join(done.stderr.split()), "trace": "Traceback" in done.output}

def left():
    return sorted(str(path.relative_to(disk)) for path in disk.rglob("*") if path.is_file())

found = []
mount("64m")
assert run("-o", whole)["code"] == 0
for size in range(24, 4000, 72):
    for path in disk.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    mount(f"{size}k", "remount")
    out.write_bytes(b"before")
    done = run("-o", out)
    if done["code"] == 0:
        done["same"] = out.read_bytes() == whole.read_bytes()
        found.append(done)
        break
    done |= {"kept": out.read_bytes() == b"before", "left": left()}
    mount("64m", "remount")
    done["again"] = run("-o", out, "--resume")
    done["same"] = out.read_bytes() == whole.read_bytes()
    done["after"] = left()
    found.append(done)
print(json.dumps(found))
"""

_BESIDE = """
import json, pathlib, subprocess, sys
from typer.testing import CliRunner
from grownj_geo import cli

folder, option, block = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
disk = folder / "disk"
beside, out = disk / "beside.json", folder / "out.csv"

def run(*words):
    words = ["batch", folder / "in.csv", "-o", out, "--block-rows", block, "--replace", option, beside, *words]
    done = CliRunner().invoke(cli.app, list(map(str, words)))
    return {"code": done.exit_code, "said": " ".join(done.stderr.split()), "trace": "Traceback" in done.output}

subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", disk], check=True)
beside.write_text("before")
(disk / "other").write_bytes(b"x" * 4096)
done = run()
done |= {"kept": beside.read_text() == "before", "out": out.exists()}
subprocess.run(["mount", "-t", "tmpfs", "-o", "remount,size=64m", "tmpfs", disk], check=True)
done["again"] = run("--resume")
done["first"] = json.loads(beside.read_text().splitlines()[0] if option == "--evidence" else beside.read_text())
done["after"] = sorted(path.name for path in disk.iterdir())
print(json.dumps(done))
"""


def child(script: str, folder: Path, *words: str | Path) -> Any:
    """Run a script where it may mount a disk; skip where nobody may."""
    (folder / "disk").mkdir()
    unshare, mount = shutil.which("unshare"), shutil.which("mount")
    if unshare is None or mount is None:
        pytest.skip("there is nothing to mount with")
    may = subprocess.run(
        [unshare, "-rm", mount, "-t", "tmpfs", "tmpfs", folder / "disk"], capture_output=True, check=False
    )
    if may.returncode:
        pytest.skip("nothing can be mounted here")
    words = (unshare, "-rm", sys.executable, "-c", script, folder, *words)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    places = zip(rng.uniform(-75.0, -74.2, ROWS), rng.uniform(39.6, 41.0, ROWS), strict=True)
    rows = "".join(f"site {i},{lon:.6f},{lat:.6f}\n" for i, (lon, lat) in enumerate(places))
    (tmp_path / "in.csv").write_text(f"name,lon,lat\n{rows}")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet", "geoparquet", "gpkg", "geojson"])
def test_a_full_disk_leaves_what_was_there_and_a_run_that_goes_on(folder: Path, ending: str) -> None:
    *full, last = child(_CHILD, folder, ending, str(BLOCK))
    assert last["code"] == 0
    assert last["same"]
    parts = [sum(name.endswith(".json") and "part-" in name for name in done["left"]) for done in full]
    # It was full while the parts were written, and while they were put together.
    assert parts[0] < ROWS // BLOCK
    assert parts[-1] == ROWS // BLOCK or ending == "parquet"
    for done in full:
        assert done["code"] == 2, done
        assert not done["trace"]
        assert "There is no room" in done["said"]
        assert "--resume" in done["said"]
        assert done["kept"]
        assert not [name for name in done["left"] if "writing" in name or name.endswith(".made")]
        assert done["again"]["code"] == 0, done
        assert done["same"]
        assert done["after"] == [f"out.{ending}"]


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--evidence", "--summary"])
def test_a_full_disk_beside_the_table(folder: Path, option: str) -> None:
    done = child(_BESIDE, folder, option, str(BLOCK))
    assert done["code"] == 2, done
    assert not done["trace"]
    assert "no room" in done["said"].lower() or "no space" in done["said"].lower()
    assert done["kept"]
    # The table waits for its records; the summary is beside it only.
    assert done["out"] == (option == "--summary")
    assert done["again"]["code"] == 0, done
    assert done["after"] == ["beside.json", "other"]
    assert done["first"]["row" if option == "--evidence" else "rows"] == (2 if option == "--evidence" else ROWS)
