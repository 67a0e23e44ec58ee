"""The notebooks: they run from the first cell to the last on what ships, and are kept without outputs."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
STRIP = ROOT / "scripts" / "strip_notebooks.py"


def _cells(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def test_the_four_notebooks_are_there() -> None:
    assert [path.stem for path in NOTEBOOKS] == [
        "01-one-site",
        "02-batch-and-map",
        "03-days-and-readings",
        "04-own-layer",
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_kept_without_outputs(path: Path) -> None:
    sys.path.insert(0, str(STRIP.parent))
    try:
        from strip_notebooks import stripped  # noqa: PLC0415 - beside the scripts
    finally:
        sys.path.remove(str(STRIP.parent))
    assert stripped(path.read_text(encoding="utf-8")) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_reads_as_documentation(path: Path) -> None:
    cells = _cells(path)
    assert cells[0]["cell_type"] == "markdown"
    assert cells[0]["source"][0].startswith("# ")
    told = sum(cell["cell_type"] == "markdown" for cell in cells)
    assert told >= len(cells) / 3
    assert not re.search(r"https?://", "".join("".join(cell["source"]) for cell in cells))


def test_outputs_are_taken_away_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "run.ipynb"
    notebook = json.loads(NOTEBOOKS[0].read_text(encoding="utf-8"))
    first = next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    first |= {"execution_count": 3, "outputs": [{"output_type": "stream", "name": "stdout", "text": ["x"]}]}
    first["metadata"] = {"collapsed": True}
    notebook["metadata"]["language_info"]["version"] = "3.99"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    import subprocess  # noqa: PLC0415 - only here

    run = [sys.executable, str(STRIP), str(path)]
    assert subprocess.run([*run[:2], "--check", str(path)], capture_output=True, check=False).returncode == 1
    assert subprocess.run(run, capture_output=True, check=False).returncode == 0
    assert path.read_text(encoding="utf-8") == NOTEBOOKS[0].read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbformat  # noqa: PLC0415 - the tools of notebooks take a second
    from nbclient import NotebookClient  # noqa: PLC0415 - same

    # Neither the user's layers, nor a network, nor what an earlier run left.
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    for name in ("GROWNJ_HOME", "TMPDIR", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR"):
        folder = tmp_path / name.lower()
        folder.mkdir()
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=900, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]
    assert any("srcdoc=" in output.get("data", {}).get("text/html", "") for output in outputs) or "03" in path.stem
    keep = os.environ.get("GROWNJ_KEEP_NOTEBOOKS")
    if keep:
        nbformat.write(notebook, Path(keep) / path.name)
