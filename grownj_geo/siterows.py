"""Tables of sites: any table that people keep, opened, understood, and given as sites block by block."""

from __future__ import annotations

import gc
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.crs import misfit
from grownj_geo.features import Change, LayerFault
from grownj_geo.findings import Findings
from grownj_geo.georeference import agree, declared_system, stated_system
from grownj_geo.rows_block import RowBlock
from grownj_geo.rows_columns import Roles, TableOptions, answers_in, find_roles
from grownj_geo.rows_place import Placer, plain_numbers
from grownj_geo.rows_shapes import fitting_box
from grownj_geo.tablepath import is_remote, table_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from grownj_geo.finder import Finder
    from grownj_geo.georeference import Georeference
    from grownj_geo.locate import MunicipalDirectory
    from grownj_geo.rows_block import OutColumn, RawBlock, RowSource
    from grownj_geo.rows_find import RowFinder

__all__ = ["RowBlock", "SiteTableReader", "TableOptions", "Terms", "open_table", "row_source", "without_collecting"]

_TEXT = frozenset({".csv", ".tsv", ".txt"})
_SHEETS = frozenset({".xlsx", ".xlsm"})
_PARQUET = frozenset({".parquet", ".geoparquet"})
_OTHER_SHEETS = frozenset({".xls", ".xlsb", ".xlt", ".xltx", ".ods", ".fods", ".numbers"})
_SAMPLE = 1_000
_LONLAT = "EPSG:4269"
_NO_ADDRESSES = (
    "An address cannot be looked up here: no parcels or address points are loaded (grownj layers import parcels FILE), "
    "and no online locator is switched on (grownj settings)."
)


@dataclass(frozen=True)
class Terms:
    """How the rows of a table are sites: all that making sites of them takes besides the municipalities.

    Attributes
    ----------
    name
        What messages call the table.
    roles
        Which column says what.
    system
        What coordinates, or geometries, are in.
    options
        What whoever asks says about the table.
    """

    name: str
    roles: Roles
    system: Georeference
    options: TableOptions

    def placer(self, directory: MunicipalDirectory) -> Placer:
        """Return what makes sites of blocks of rows."""
        return Placer(self.name, self.roles, self.system, self.options, directory)


class SiteTableReader:
    """A table that gives its rows as sites.

    Attributes
    ----------
    name
        What messages call it.
    roles
        Which column says what.
    crs
        What the geometries of `RowBlock.shapes` are in, as the table declares or as was stated; None without any.
    rows
        How many rows; None where counting would take reading.
    terms
        What it takes to make sites of the rows, here or in another process.
    """

    def __init__(
        self, source: RowSource, options: TableOptions, directory: MunicipalDirectory, finder: Finder | None = None
    ) -> None:
        self._source = source
        self.name = source.name
        self.rows = source.rows
        with closing(source.raw_blocks(0, _SAMPLE)) as raws:
            sample = next(raws, None)
        if sample is None:
            raise LayerFault("truncated", f"{self.name} has no rows below the names of its columns. Export it again.")
        answers = answers_in(self.header)
        options = _with_addresses(replace(options, ignored=options.ignored | answers), finder)
        self.roles = find_roles(self.header, options, sample.columns, name=self.name)
        if not (source.has_shapes or self.roles.place):
            raise LayerFault(
                "no_place_columns",
                f"{self.name} has no column that says where the sites are; found "
                f"{', '.join(map(repr, self.header[:20]))}. Expected longitude and latitude, well-known "
                "text, PAMS_PIN, or municipality with block and lot; name the "
                f"columns. {_NO_ADDRESSES if not options.addresses else 'Or name a column of addresses.'}",
            )
        self._finder = _row_finder(self.roles, finder, directory, sample)
        if "address" in self.roles.named and self._finder is None:
            raise LayerFault(
                "no_locator",
                f"{self.name}: addresses were named in the column {self.roles['address']!r}. {_NO_ADDRESSES}",
            )
        found = Findings(self.name)
        system, told = _system(source, self.roles, options, sample, found)
        self.crs = (source.crs or options.crs or _LONLAT) if source.has_shapes else None
        self._told = (*found.changes, *told, *_told(self.roles, drawn=source.has_shapes), *_left(answers))
        self.terms = Terms(self.name, self.roles, system, options)
        self._placer = self.terms.placer(directory)

    @property
    def seekable(self) -> bool:
        """Whether any rows can be read without reading those before: what workers may do for themselves.

        Rows that are looked up here are not read elsewhere.
        """
        return self._source.seekable and self._finder is None

    @property
    def mark(self) -> str | None:
        """What the rows rest on besides the table, where any are looked up."""
        return None if self._finder is None else self._finder.mark

    @property
    def sends(self) -> tuple[str, ...]:
        """What reading the rows sends to whom, in sentences: nothing unless an online locator is switched on."""
        return () if self._finder is None else self._finder.sends

    def tell_with(self, tell: Callable[[str], None]) -> None:
        """Have whoever reads the rows told how far looking up addresses is, which may take minutes."""
        if self._finder is not None:
            self._finder.tell = tell

    @property
    def header(self) -> list[str]:
        """Names of the columns, in order."""
        return [column.name for column in self._source.columns]

    @property
    def columns(self) -> tuple[OutColumn, ...]:
        """The columns, in order, with what they hold."""
        return self._source.columns

    @property
    def changes(self) -> tuple[Change, ...]:
        """What is to be told of the table as a whole."""
        looked_up = () if self._finder is None else tuple(self._finder.changes())
        return (*self._source.changes, *self._told, *looked_up)

    def blocks(self, start: int = 0, size: int = 50_000) -> Iterator[RowBlock]:
        """Yield the rows from the `start`-th on, `size` at a time.

        Where the blocks begin and end changes nothing in any row.

        Parameters
        ----------
        start
            How many rows to leave out: those that were done before.
        size
            Rows in a block; the last may have fewer.

        Raises
        ------
        LayerFault
            Where the rest of the file cannot be read at all.
        """
        for raw in self.raw_blocks(start, size):
            with without_collecting():
                block = self._placer.place(raw)
            yield block

    def raw_blocks(self, start: int = 0, size: int = 50_000) -> Iterator[RawBlock]:
        """Yield the same rows as they came, for whoever makes sites of them elsewhere; see `blocks`."""
        if start < 0 or size < 1:
            raise ValueError(f"start={start} and size={size}; expected at least 0 and 1.")
        with closing(self._source.raw_blocks(start, size)) as raws:
            while True:
                with without_collecting():
                    raw = next(raws, None)
                if raw is None:
                    return
                yield raw if self._finder is None else self._finder.located(raw)


@contextmanager
def without_collecting() -> Iterator[None]:
    """Hold the search for reference cycles: a block of rows has none, and looking for them triples the time."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _with_addresses(options: TableOptions, finder: Finder | None) -> TableOptions:
    """Return what is said of a table, with whether its addresses can be looked up."""
    return options if finder is None or not finder.looks_up else replace(options, addresses=True)


def _row_finder(
    roles: Roles, finder: Finder | None, directory: MunicipalDirectory, sample: RawBlock
) -> RowFinder | None:
    """Return what looks rows up; None where nothing of the table can be."""
    if finder is None:
        return None
    from grownj_geo.rows_find import RowFinder  # noqa: PLC0415 - only where something is looked up

    found = RowFinder(finder, roles, directory, sample)
    return found if found.useful else None


def open_table(
    path: str | Path,
    options: TableOptions | None = None,
    *,
    directory: MunicipalDirectory,
    finder: Finder | None = None,
) -> SiteTableReader:
    r"""Open a table of sites.

    Taken are CSV and other delimited text, Excel workbooks, Parquet and GeoParquet, GeoJSON, shapefiles, GeoPackages,
    file geodatabases, KML, and zip files with one of the last. Text, workbooks and Parquet are read as streams.

    Parameters
    ----------
    path
        A local file, or the folder of a file geodatabase; of Parquet also the URL of an object in a store, as
        `table_path` takes it.
    options
        What whoever asks says about it; the columns are found by their usual names unless given.
    directory
        Which municipalities there are.
    finder
        Looks up addresses, and the outlines of parcels; without it neither is.

    Raises
    ------
    LayerFault
        ``not_found``, ``wrong_format``, ``no_place_columns``, ``no_locator``, ``no_column``, ``lone_coordinate``,
        ``unknown_fact``, ``swapped_axes``, ``undeclared_crs``, ``wrong_crs``, ``crs_contradiction``, ``truncated``, and
        what the reading of each format refuses.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from types import SimpleNamespace
    >>> directory = SimpleNamespace(names={"0714": ("Newark City", "Essex")})
    >>> file = Path(tempfile.mkdtemp()) / "sites.csv"
    >>> _ = file.write_text("name,lon,lat\nA,-74.1641,40.7344\nB,74.1641,40.7344\n")
    >>> (block,) = open_table(file, directory=directory).blocks()
    >>> block.sites[0].typed, block.geometries[1], block.rows[1]
    ('40.7344,-74.1641', None, 3)
    """
    options = _with_addresses(options or TableOptions(), finder)
    path = table_path(path)
    suffix = path.suffix.lower()
    if not path.exists():
        raise LayerFault("not_found", f"There is no {str(path)!r}; expected the path of a table.")
    if suffix in _OTHER_SHEETS:
        raise LayerFault("wrong_format", f"{path.name} is a workbook of another kind; save it as .xlsx or as CSV.")
    return SiteTableReader(row_source(path, options), options, directory, finder)


def row_source(path: Path, options: TableOptions) -> RowSource:
    """Return the rows of a table as they came; see `open_table`, which understands them."""
    suffix = path.suffix.lower()
    if is_remote(path) and suffix not in _PARQUET:
        raise LayerFault("wrong_format", f"{path.name} is in a store, from which Parquet is read; copy it here first.")
    # Imported here: each format costs only whoever reads it.
    if path.is_file() and suffix in _TEXT:
        from grownj_geo.rows_text import TextRows  # noqa: PLC0415

        return TextRows(path, options)
    if path.is_file() and suffix in _SHEETS:
        from grownj_geo.rows_sheet import SheetRows  # noqa: PLC0415

        return SheetRows(path, options)
    if path.is_file() and suffix in _PARQUET:
        from grownj_geo.rows_geo import ParquetRows  # noqa: PLC0415

        return ParquetRows(path, options)
    from grownj_geo.rows_geo import FeatureRows  # noqa: PLC0415

    return FeatureRows(path, options)


def _left(answers: frozenset[str]) -> Iterator[Change]:
    if answers:
        words = f"{len(answers)} columns are answers of an earlier batch; they state nothing of the sites."
        yield Change(kind="answers_left", effect="noted", count=len(answers), words=words)


def _told(roles: Roles, *, drawn: bool) -> Iterator[Change]:
    used = [f"{column!r} for {role}" for role, column in roles.columns.items()]
    if drawn:
        used.insert(0, "the table's own geometry for places")
    elif roles.pair is not None:
        used.insert(0, f"{roles.pair[0]!r} and {roles.pair[1]!r} for coordinates")
    if used:
        words = f"Columns used: {', '.join(used)}."
        yield Change(kind="columns_taken", effect="noted", count=len(used), words=words)
    if roles.number is not None:
        words = f"{roles.number.name!r} was taken for house numbers, since streets without numbers stand beside it."
        if roles.number.counts:
            words = (
                f"{roles.number.name!r} counts the rows, so it was not taken for house numbers. If it has them, call "
                "it house_number or name it with --house-number."
            )
        yield Change(kind="number_column", effect="noted", count=1, words=words)
    if roles.facts:
        named = ", ".join(f"{column!r} for {fact}" for fact, column in roles.facts.items())
        words = f"Columns state facts of the sites: {named}."
        yield Change(kind="facts_stated", effect="noted", count=len(roles.facts), words=words)


def _system(
    source: RowSource, roles: Roles, options: TableOptions, sample: RawBlock, found: Findings
) -> tuple[Georeference, tuple[Change, ...]]:
    """Return what the coordinates are in; refuse what the first rows show to be something else."""
    declared = source.crs if source.has_shapes else None
    if declared is not None:
        system = declared_system(declared, found)
        if options.crs is not None:
            agree(system, options.crs, found)
        return system, ()
    system = stated_system(options.crs, found) if options.crs is not None else declared_system(_LONLAT, found)
    xy = _sample_xy(source, roles, sample)
    problem = None if _any_fits(xy, system) else misfit(xy, system.code)
    told = problem is not None and (problem.kind != "projected" or "looks like" in problem.hint)
    if problem is not None and told and problem.kind in {"swapped", "projected", "crs", "degrees"}:
        fault = {"swapped": "swapped_axes", "projected": "undeclared_crs"}.get(problem.kind, "wrong_crs")
        columns = f" ({roles.pair[0]} is taken for x, {roles.pair[1]} for y)" if roles.pair is not None else ""
        advice = "Name the columns the other way round" if problem.kind == "swapped" else "Name the system"
        raise found.refuse(fault, f"in its first {len(xy):,} rows {problem.hint}{columns}. {advice}")
    if source.has_shapes and options.crs is None:
        words = "The table declares no coordinate system; its numbers were taken for longitude and latitude."
        return system, (Change(kind="crs_taken", effect="noted", count=1, words=words),)
    return system, ()


def _any_fits(xy: NDArray[np.float64], system: Georeference) -> bool:
    """Return whether any row is where it should be: then the others are wrong by themselves."""
    west, south, east, north = fitting_box(system)
    x, y = xy[:, 0], xy[:, 1]
    return not len(xy) or bool(((x >= west) & (x <= east) & (y >= south) & (y <= north)).any())


def _sample_xy(source: RowSource, roles: Roles, sample: RawBlock) -> NDArray[np.float64]:
    """Return coordinates of the first rows that have plain ones, shape (n, 2)."""
    if source.has_shapes and sample.shapes is not None:
        bounds = shapely.bounds(sample.shapes).reshape(-1, 4)
        xy = bounds[:, :2]
    elif roles.pair is not None:
        (x, _), (y, _) = (plain_numbers(sample.columns[column]) for column in roles.pair)
        xy = np.column_stack([x, y])
    else:
        xy = np.empty((0, 2))
    good: NDArray[np.float64] = xy[np.isfinite(xy).all(axis=1)]
    return good
