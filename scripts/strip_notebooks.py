"""Take outputs out of notebooks, so that what is kept is what somebody wrote: run before each commit.

``python scripts/strip_notebooks.py FILES`` rewrites; ``--check`` only says which files it would rewrite, with
exit code 1.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

__all__ = ["stripped"]

_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def stripped(text: str) -> str:
    """Return a notebook's text without outputs, counts of runs, and what a machine says of itself.

    Examples
    --------
    >>> run = '{"cells": [{"cell_type": "code", "source": ["1"], "outputs": [{}]}]}'
    >>> json.loads(stripped(run))["cells"][0]["outputs"]
    []
    """
    notebook = json.loads(text)
    cells = []
    for i, cell in enumerate(notebook["cells"]):
        whole = "".join(cell["source"])
        kept = {"cell_type": cell["cell_type"]}
        kept |= {"execution_count": None} if cell["cell_type"] == "code" else {}
        kept |= {"id": f"cell-{i:02}", "metadata": {}}
        kept |= {"outputs": []} if cell["cell_type"] == "code" else {}
        cells.append(kept | {"source": whole.splitlines(keepends=True)})
    metadata = {"kernelspec": _KERNEL, "language_info": {"name": "python"}}
    clean = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(clean, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    """Rewrite, or check, the files that are named."""
    words = sys.argv[1:]
    changed = 0
    for path in map(Path, (word for word in words if word != "--check")):
        text = path.read_text(encoding="utf-8")
        clean = stripped(text)
        if clean == text:
            continue
        changed = 1
        if "--check" in words:
            print(f"{path} has outputs. Take them out: python scripts/strip_notebooks.py {path}")
        else:
            path.write_text(clean, encoding="utf-8", newline="\n")
    return changed if "--check" in words else 0


if __name__ == "__main__":
    sys.exit(main())
