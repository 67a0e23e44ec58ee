"""Pages of files that live elsewhere in the repository: README and its kin, and the notebooks."""

from __future__ import annotations

import json
import re
from pathlib import Path

__all__ = ["notebook_pages", "project_pages"]

_ROOT = Path(__file__).resolve().parents[1]
_PAGES = {
    "README.md": "project/readme.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "data/README.md": "project/data.md",
}
_LINK = re.compile(r"\]\(([^)#:]+)(#[^)]*)?\)")
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def project_pages() -> dict[str, str]:
    """Return the pages by their place below ``docs``; links among the files lead to their pages.

    Raises
    ------
    ValueError
        If one of the files names another that has no page.
    """
    return {page: _relinked(_ROOT / name, page) for name, page in _PAGES.items()}


def _relinked(path: Path, page: str) -> str:
    def target(found: re.Match[str]) -> str:
        named = (path.parent / found[1]).resolve().relative_to(_ROOT).as_posix()
        if named.startswith("docs/"):
            place = f"../{named.removeprefix('docs/')}"
        elif named.startswith("grownj_geo/schemas/"):
            place = f"../schemas/{Path(named).name}"
        elif named.startswith("notebooks/"):
            place = f"../notebooks/{Path(named).stem or 'index'}.md"
        elif named in _PAGES:
            place = Path(_PAGES[named]).name
        else:
            raise ValueError(f"{path.name} links to {named}, which has no page in {page}. Add it to docs_sources.py.")
        return f"]({place}{found[2] or ''})"

    return _LINK.sub(target, path.read_text(encoding="utf-8"))


def notebook_pages() -> dict[str, str]:
    """Return a page for each notebook, in the order of their names, and one of all.

    Notebooks are kept without outputs: a page shows what is said and what is run.
    """
    pages, entries = {}, []
    for path in sorted((_ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        parts = []
        for cell in cells:
            source = "".join(cell["source"])
            parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        title = parts[0].splitlines()[0].removeprefix("# ").strip()
        note = f"\n\nTo run it: `notebooks/{path.name}`, with the extra `notebooks`.\n\n"
        head, _, rest = parts[0].partition("\n")
        pages[f"notebooks/{path.stem}.md"] = "\n\n".join([head + note + rest.strip(), *parts[1:]]) + "\n"
        entries.append(f"- [{title}]({path.stem}.md)")
    intro = (
        "# Notebooks\n\nThey run on what ships and on what they draw themselves, without a network, and are run by the "
        "repository's tests. `pip install 'grownj-geo[notebooks]' jupyterlab`, then open the folder `notebooks` of a "
        "clone.\n\n"
    )
    return {"notebooks/index.md": intro + "\n".join(entries) + "\n"} | pages
