"""What mkdocs runs while it builds the documentation (see mkdocs.yml): pages that are made from the package itself.

Commands come from typer's help, rules from the rulebooks, layers from the manifests, columns from a batch's own
dictionary, so that no page can say anything else than the package does. An entry of the navigation that ends in ``/``
stands for all pages of that folder that are made here.
"""

from __future__ import annotations

import posixpath
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docs_commands import command_pages
from docs_credits import credit_pages
from docs_layers import layer_pages
from docs_rules import rule_pages
from docs_sources import notebook_pages, project_pages
from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

__all__ = ["on_config", "on_files"]

_SCHEMAS = Path(__file__).resolve().parents[1] / "grownj_geo" / "schemas"


@lru_cache(maxsize=1)
def _pages() -> dict[str, str]:
    """Return every page that is made here, by its place below ``docs``."""
    no_store = Path(__file__).resolve().parent / "no-store"
    return command_pages() | rule_pages() | credit_pages() | layer_pages(no_store) | project_pages() | notebook_pages()


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of a folder into the navigation where it names the folder."""
    config.nav = [_filled(entry) for entry in config.nav or []]
    return config


def _filled(entry: Any) -> Any:  # noqa: ANN401 - text, or a title with what is below it
    if not isinstance(entry, dict):
        return entry
    return {
        title: _inside(below)
        if isinstance(below, str) and below.endswith("/")
        else [_filled(each) for each in below]
        if isinstance(below, list)
        else below
        for title, below in entry.items()
    }


def _inside(folder: str) -> list[str]:
    """Return the pages of a folder, its index first; below `rules` the indexes alone, for they have hundreds."""
    found = [page for page in _pages() if page.startswith(folder)]
    if folder == "rules/":
        found = [page for page in found if page.count("/") == 1 or posixpath.basename(page) == "index.md"]
    if not found:
        raise ValueError(f"mkdocs.yml names the folder {folder}, for which no page is made. Correct the name.")
    return sorted(found, key=lambda page: (page != f"{folder}index.md", page))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made, and the JSON Schemas as they are."""
    for name, content in _pages().items():
        files.append(File.generated(config, name, content=content))
    for schema in sorted(_SCHEMAS.glob("*.json")):
        files.append(File.generated(config, f"schemas/{schema.name}", abs_src_path=str(schema)))
    return files
