"""What is handed out: the wheel has the code, the data and the rules, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from grownj_geo.manifest import load_manifests

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if not name.endswith("/")}


def test_every_shipped_layer_is_in_with_its_bytes(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for manifest in load_manifests().values():
            if manifest.ships:
                content = archive.read(f"grownj_geo/data/{manifest.file}")
                assert content == (ROOT / "data" / str(manifest.file)).read_bytes(), manifest.id


@pytest.mark.parametrize(
    "path",
    [
        "grownj_geo/py.typed",
        "grownj_geo/data/README.md",
        "grownj_geo/data/municipalities.parquet",
        "grownj_geo/data/sources.csv",
        "grownj_geo/schemas/determination.schema.json",
    ],
)
def test_file_is_in(path: str, names: set[str]) -> None:
    assert path in names


@pytest.mark.parametrize(
    "folder", ["rules", "rules/books", "rules/credits", "manifests", "page", "schemas", "templates"]
)
def test_folder_is_in_whole(folder: str, names: set[str]) -> None:
    source = ROOT / "grownj_geo" / folder
    expected = {f"grownj_geo/{folder}/{p.name}" for p in source.iterdir() if p.is_file()}
    assert expected
    assert expected <= names


def test_every_module_is_in(names: set[str]) -> None:
    modules = {p.relative_to(ROOT).as_posix() for p in (ROOT / "grownj_geo").rglob("*.py")}
    assert modules <= names


def test_nothing_else_is_in(names: set[str]) -> None:
    outside = {n for n in names if not n.startswith("grownj_geo/") and ".dist-info/" not in n}
    assert not outside
    unwanted = ("test_", "conftest")
    assert not {n for n in names if Path(n).name.startswith(unwanted) or n.endswith((".pyc", ".tgz"))}


def test_license_and_command_are_stated(wheel: Path, names: set[str]) -> None:
    info = next(n for n in names if n.endswith(".dist-info/METADATA")).rpartition("/")[0]
    assert any(n.startswith(f"{info}/licenses/") for n in names)
    with zipfile.ZipFile(wheel) as archive:
        assert "grownj = grownj_geo.cli:main" in archive.read(f"{info}/entry_points.txt").decode()
