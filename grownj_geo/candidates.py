"""Sites of any origin for the commands that look at several: typed, kept in records, or rows of a table."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from grownj_geo.errors import LayerError, SiteError
from grownj_geo.kept import Kept, Refused, read_records
from grownj_geo.locate import locate
from grownj_geo.rows_columns import answers_in, chosen_name_column, unnamed_words
from grownj_geo.siterows import TableOptions, open_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from grownj_geo.finder import Finder
    from grownj_geo.locate import MunicipalDirectory
    from grownj_geo.site import Site

__all__ = ["Candidate", "candidates_of"]

_RECORDS = frozenset({".json", ".jsonl", ".ndjson"})
_TABLES = frozenset(
    {".csv", ".tsv", ".txt", ".xlsx", ".xlsm", ".parquet", ".geoparquet", ".gpkg", ".shp", ".zip", ".gdb"}
)
_BLOCK = 1_000


@dataclass(frozen=True)
class Candidate:
    """A site, what it is called, where it came from, and its record where it was kept.

    Attributes
    ----------
    name
        What people call it: a cell of the table, or what was typed.
    source
        The file and the place in it; empty for what was typed.
    answers
        What an earlier batch answered, by column, for a row of its table; empty for any other.
    """

    name: str
    source: str
    site: Site
    kept: Kept | None = None
    answers: Mapping[str, str] = field(default_factory=dict)


def candidates_of(
    typed: Iterable[str],
    *,
    directory: MunicipalDirectory,
    crs: str | None = None,
    finder: Finder | None = None,
    name: str | None = None,
    tell: Callable[[str], None] | None = None,
) -> Iterator[Candidate | Refused]:
    """Yield the sites that are named, in order; one that cannot be read never stops the others.

    A name of a record's file, a folder of records, or a table stands for all sites in it; anything else is a site as
    ``check`` takes it. GeoJSON of several features is a table of as many sites, as it is for batch and maps.

    Parameters
    ----------
    typed
        What was typed, one site or file each.
    directory
        Which municipalities there are.
    crs
        What coordinates of sites and tables are in, where they do not say it.
    finder
        Looks up addresses and the outlines of parcels; without it neither is.
    name
        Column of names in tables; found by its usual name unless given. A table without it is refused.
    tell
        Called where no column of names was recognised.
    """
    for text in typed:
        path = Path(text)
        suffix = path.suffix.lower()
        if _is_there(path) and (suffix in _RECORDS or (path.is_dir() and suffix != ".gdb")):
            yield from _of_records(path)
        elif suffix in _TABLES or (suffix == ".geojson" and _is_there(path) and _several_features(path)):
            yield from _of_table(path, directory, crs, finder, name, tell)
        else:
            try:
                found = locate(text, crs=crs, directory=directory) if finder is None else finder.site(text, crs=crs)
                yield Candidate(text, "", found)
            except SiteError as error:
                yield Refused(text, f"{text[:80]!r}: {error}")


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _several_features(path: Path) -> bool:
    """Return whether GeoJSON has several features; what cannot be read is left to whoever reads it and says why."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    features = content.get("features") if isinstance(content, dict) else None
    return isinstance(features, list) and len(features) > 1


def _of_records(path: Path) -> Iterator[Candidate | Refused]:
    for kept in read_records([path]):
        if isinstance(kept, Refused):
            yield kept
            continue
        try:
            yield Candidate(kept.determination.site.typed, kept.source, kept.site, kept)
        except SiteError as error:
            yield Refused(kept.source, f"{kept.source}: {error}")


def _of_table(  # noqa: PLR0917 - as they came
    path: Path,
    directory: MunicipalDirectory,
    crs: str | None,
    finder: Finder | None,
    name: str | None,
    tell: Callable[[str], None] | None,
) -> Iterator[Candidate | Refused]:
    try:
        table = open_table(path, TableOptions(crs=crs), directory=directory, finder=finder)
        answers = answers_in(table.header)
        named = chosen_name_column(table.header, name, path.name)
        if named is None and tell is not None:
            tell(unnamed_words(table.header, path.name))
        for block in table.blocks(size=_BLOCK):
            names = block.columns[named] if named is not None else None
            for position, row in enumerate(block.rows):
                source = f"{path}, row {row}"
                site = block.site(position)
                if site is None:
                    yield Refused(source, f"{path}: {block.problems[position]}")
                    continue
                called = None if names is None else names[position]
                told = {column: _text(block.columns[column][position]) for column in answers}
                yield Candidate(site.typed if called in {None, ""} else str(called), source, site, answers=told)
    except LayerError as error:
        yield Refused(str(path), str(error) if path.name in str(error) else f"{path}: {error}")


def _text(cell: object) -> str:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell)
