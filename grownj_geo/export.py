"""GIS files of areas and of determined sites: GeoPackage, geodatabase, shapefiles, KML, KMZ, GeoJSON, GeoParquet."""

from __future__ import annotations

import errno
import shutil
import tempfile
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.answers import answer_columns
from grownj_geo.areapieces import area_label, cut, default_areas, drawn_areas
from grownj_geo.batchwork import PREFIX
from grownj_geo.determine import Directory
from grownj_geo.exporttables import about_areas, about_sites, answer_marks, area_tables, problems_in, site_tables
from grownj_geo.features import Change, LayerFault
from grownj_geo.files import look_at, put_as_seen
from grownj_geo.finder import Finder
from grownj_geo.findings import Findings
from grownj_geo.georeference import declared_system
from grownj_geo.replacing import check_replaceable
from grownj_geo.rows_block import OutColumn
from grownj_geo.rows_columns import answers_in
from grownj_geo.siterows import TableOptions, open_table, row_source
from grownj_geo.tableparts import disk_faults
from grownj_geo.units import WORKING_CRS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from grownj_geo.batch import BatchSummary, Question
    from grownj_geo.determine import Engine
    from grownj_geo.exporttables import ExportTable
    from grownj_geo.files import Seen
    from grownj_geo.rows_columns import Roles

__all__ = [
    "EXPORT_FORMATS",
    "MOST_ROWS",
    "Exported",
    "check_target",
    "export_areas",
    "export_format",
    "export_sites",
    "write_tables",
]

EXPORT_FORMATS = {
    ".gpkg": "GeoPackage",
    ".gdb": "file geodatabase",
    ".shp.zip": "zipped shapefiles",
    ".kml": "KML",
    ".kmz": "KMZ",
    ".geojson": "GeoJSON",
    ".parquet": "GeoParquet",
    ".geoparquet": "GeoParquet",
}
"""Formats by the file's ending, in small letters."""

MOST_ROWS = 250_000
"""Rows of a table that become one file of sites: all are held in memory, at about 6 KB each."""

_BLOCK_ROWS = 20_000
_DENSE_FT = 2_000.0
_MANY_CORNERS = 1_000_000


@dataclass(frozen=True)
class Exported:
    """What was written.

    Attributes
    ----------
    path
        Where.
    layers
        How many features each layer has, by name.
    changes
        What the format could not take as it is, and what is to be told.
    not_answered
        Why each row without an answer has none, beginning with its number. They are in the file too.
    """

    path: Path
    layers: Mapping[str, int]
    changes: tuple[Change, ...]
    not_answered: tuple[str, ...] = ()


def export_format(path: Path) -> str:
    """Return a file's ending among `EXPORT_FORMATS`.

    Raises
    ------
    LayerFault
        ``wrong_format`` for any other.

    Examples
    --------
    >>> export_format(Path("areas.SHP.zip"))
    '.shp.zip'
    """
    for ending in EXPORT_FORMATS:
        if path.name.lower().endswith(ending) and len(path.name) > len(ending):
            return ending
    hint = (
        " A shapefile is several files: write them zipped, as in areas.shp.zip." if ".shp" in path.name.lower() else ""
    )
    raise LayerFault(
        "wrong_format",
        f"{path.name} ends in {path.suffix or 'nothing'}; expected one of {', '.join(EXPORT_FORMATS)}.{hint}",
    )


def check_target(path: Path, *, sources: Sequence[Path] = (), replace: bool = False) -> Seen:
    """Refuse a place where a file cannot be put, or where it would take away what this package did not write.

    Parameters
    ----------
    path, sources, replace
        As for `replacing.check_replaceable`, which has the rule.

    Returns
    -------
    Seen
        What is there, for `files.put_as_seen`.

    Raises
    ------
    LayerFault
        ``wrong_format`` or ``not_written``.
    """
    return check_replaceable(path, sources=sources, replace=replace, folder=export_format(path) == ".gdb")


def export_areas(
    engine: Engine,
    path: Path,
    *,
    areas: Sequence[str] | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    replace: bool = False,
) -> Exported:
    """Write the areas of a rulebook as polygons with the clauses that decide them.

    Parameters
    ----------
    engine
        A rulebook on its atlas, with day and readings. Site facts are taken as not stated.
    path
        Where, by its ending. A GeoPackage, a geodatabase, shapefiles and KML have a layer for each area; GeoJSON and
        GeoParquet have one table, in which the field ``area_id`` tells the area.
    areas
        Ids of `area_ids`; `default_areas` unless given.
    progress
        Called before each step with the steps that are done, how many there are, and what is done now.
    replace
        Replace a file too that this package did not write.

    Raises
    ------
    RulebookError
        If there is no such area.
    LayerFault
        ``wrong_format``, ``not_written``, ``disk_full``, or as `drawn_lines`.
    """
    check_target(path, replace=replace)
    wanted = list(dict.fromkeys(default_areas(engine) if areas is None else areas))
    steps = len(wanted) + 2

    def tell(done: int, words: str) -> None:
        if progress is not None:
            progress(done, steps, words)

    tell(0, "cutting the State along lines, and asking about each piece")
    at = cut(engine, wanted)
    drawn = []
    for done, area in enumerate(wanted, start=1):
        tell(done, area_label(engine, area))
        drawn += drawn_areas(engine, [area], at=at)
    tell(steps - 1, f"writing {path.name}")
    return write_tables(area_tables(engine, drawn), path, about=about_areas(engine), replace=replace)


def export_sites(
    source: Path,
    path: Path,
    question: Question,
    *,
    options: TableOptions | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    replace: bool = False,
) -> tuple[Exported, BatchSummary | None]:
    """Write determined sites with their answers.

    Parameters
    ----------
    source
        A table of sites as `run_batch` takes it, or a table that it has written, which is taken as it is.
    path
        Where, by its ending.
    question
        What is asked of every site.
    options
        What is said of the table.
    progress
        As for `run_batch`.
    replace
        Replace a file too that this package did not write.

    Returns
    -------
    tuple
        What was written; and what the table came to, None for one that was answered before.

    Raises
    ------
    LayerFault
        ``wrong_format``, ``other_rulebook``, ``too_many_rows`` for more than `MOST_ROWS`, and as `run_batch`.
    RulebookError, LayerError
        As `run_batch`.
    """
    check_target(path, sources=[source], replace=replace)
    engine = question.engine()
    options = options or TableOptions()
    reader = open_table(source, options, directory=Directory(engine.atlas), finder=Finder.at_home(engine.atlas))
    _check_rows(source, reader.rows, options)
    wanted = {column.name for column in answer_columns(engine, "brief")}
    if wanted <= {name.removeprefix(PREFIX) for name in answers_in(reader.header)}:
        placer = reader.terms.placer(Directory(engine.atlas))
        blocks = [placer.place(raw) for raw in reader.raw_blocks()]
        columns = {name: [x for block in blocks for x in block.columns[name]] for name in reader.header}
        geometries = np.concatenate([block.geometries for block in blocks])
        before = answer_marks(columns)
        _check_same(before, engine)
        about = about_sites(engine, before=before)
        return _write_sites(
            engine, columns, geometries, path, about=about, told=reader.changes, roles=reader.roles, replace=replace
        ), None
    from grownj_geo.batch import BatchOptions, run_batch  # noqa: PLC0415 - only where a table is answered

    with tempfile.TemporaryDirectory(prefix="grownj-export-") as folder:
        answered = Path(folder) / "answered.geoparquet"
        found = run_batch(source, answered, question, options=BatchOptions(options), progress=progress)
        columns, geometries = _answered(answered)
    told = tuple(Change(kind="batch", effect="noted", count=1, words=words) for words in found.changes)
    return _write_sites(
        engine, columns, geometries, path, about=about_sites(engine), told=told, roles=reader.roles, replace=replace
    ), found


def _write_sites(
    engine: Engine,
    columns: Mapping[str, Sequence[Any]],
    geometries: NDArray[np.object_],
    path: Path,
    *,
    about: Mapping[str, str],
    told: Sequence[Change],
    roles: Roles,
    replace: bool,
) -> Exported:
    tables = site_tables(engine, columns, geometries, roles=roles)
    written = write_tables(tables, path, about=about, replace=replace)
    return Exported(written.path, written.layers, (*told, *written.changes), tuple(problems_in(columns)))


def _check_rows(source: Path, rows: int | None, options: TableOptions) -> None:
    """Refuse a table that is too long before any row is answered; rows that are not known are counted."""
    if rows is None:
        rows = 0
        # The table itself and not its reader, which would look up addresses.
        with closing(row_source(source, options).raw_blocks(0, _BLOCK_ROWS)) as blocks:
            for block in blocks:
                rows += len(block)
                if rows > MOST_ROWS:
                    break
    if rows > MOST_ROWS:
        raise LayerFault(
            "too_many_rows",
            f"{source} has more than {MOST_ROWS:,} rows; expected at most so many, for all are held in memory. Cut it "
            "into parts, or use grownj batch, which writes .gpkg, .geojson and .parquet of any length. Nothing was "
            "written.",
        )


def _check_same(before: Sequence[tuple[str, str]], engine: Engine) -> None:
    """Refuse a table that was answered by another rulebook than is asked for: its fields mean something else."""
    other = [book for book, _ in before if book and book.split(" ")[0] != engine.rulebook.id]
    if other:
        raise LayerFault(
            "other_rulebook",
            f"The table was answered by {other[0]}; expected {engine.rulebook.id}. Name it with --rulebook.",
        )


def _answered(path: Path) -> tuple[dict[str, list[Any]], NDArray[np.object_]]:
    """Return the columns and the places, in EPSG:3424, of a table that a batch wrote."""
    import json  # noqa: PLC0415 - only here

    import pyarrow.parquet as pq  # noqa: PLC0415 - same

    table = pq.read_table(path)
    geo = json.loads(table.schema.metadata[b"geo"])
    name = geo["primary_column"]
    wkb = np.empty(table.num_rows, dtype=object)
    wkb[:] = table.column(name).to_pylist()
    shapes = shapely.from_wkb(wkb)
    crs = geo["columns"][name]["crs"]
    import pyproj  # noqa: PLC0415 - same

    system = declared_system(pyproj.CRS.from_json_dict(crs).to_wkt(), Findings(path.name))
    if system.code != WORKING_CRS:
        shapes = shapely.transform(shapely.force_2d(shapes), system.forward)
    finite = np.isfinite(shapely.bounds(shapes).reshape(-1, 4)).all(axis=1)
    shapes[~finite] = None
    return {column: table.column(column).to_pylist() for column in table.column_names if column != name}, shapes


# -- files ---------------------------------------------------------------------------------------------


def write_tables(
    tables: Sequence[ExportTable], path: Path, *, about: Mapping[str, str], replace: bool = False
) -> Exported:
    """Write tables of features in the format that a file's name asks for. The file appears when it is whole.

    Parameters
    ----------
    tables
        What to write.
    path
        Where, by its ending.
    about
        What is said of the whole, by headings.
    replace
        Replace a file too that this package did not write.

    Raises
    ------
    LayerFault
        ``wrong_format``, ``not_written`` or ``disk_full``; what was there before is still there then.
    """
    ending = export_format(path)
    with disk_faults(path), _beside(path, ending, replace=replace) as (written, work):
        told = _write(tables, written, ending, about, work)
    return Exported(path, {table.name: len(table) for table in tables}, told)


def _write(
    tables: Sequence[ExportTable], path: Path, ending: str, about: Mapping[str, str], work: Path
) -> tuple[Change, ...]:
    # Imported here: each format costs only whoever writes it.
    if ending in {".gpkg", ".gdb", ".shp.zip"}:
        from grownj_geo.exportgdal import write_geodatabase, write_geopackage, write_shapefiles  # noqa: PLC0415

        if ending == ".shp.zip":
            return write_shapefiles(tables, path, about=about, work=work)
        return (write_geopackage if ending == ".gpkg" else write_geodatabase)(tables, path, about=about)
    if ending in {".kml", ".kmz"}:
        from grownj_geo.exportkml import write_kml, write_kmz  # noqa: PLC0415

        (write_kml if ending == ".kml" else write_kmz)(tables, path, about=about)
        corners = int(sum(shapely.get_num_coordinates(table.geometries).sum() for table in tables))
        if corners <= _MANY_CORNERS:
            return ()
        words = f"The file has {corners:,} corners, which is much for viewers of KML; choose fewer areas (--category)."
        return (Change(kind="many_corners", effect="noted", count=corners, words=words),)
    return _write_one_table(tables, path, ending, about)


def _write_one_table(
    tables: Sequence[ExportTable], path: Path, ending: str, about: Mapping[str, str]
) -> tuple[Change, ...]:
    """Write all features of all tables, which have the same fields, as one table with what is said of the whole."""
    import pyarrow as pa  # noqa: PLC0415 - only these formats need it

    from grownj_geo.tableformats import assemble  # noqa: PLC0415 - same
    from grownj_geo.tableout import Whole  # noqa: PLC0415 - same

    kinds = {"text": pa.string(), "integer": pa.int32(), "number": pa.float64(), "boolean": pa.bool_()}
    fields = tables[0].fields
    shapes = np.concatenate([table.geometries for table in tables])
    if ending == ".geojson":
        # A side that is straight in feet is a curve in degrees.
        shapes = shapely.segmentize(shapes, _DENSE_FT)
    shapes = shapely.orient_polygons(shapes)
    arrays = [pa.array([x for table in tables for x in table.values[f.name]], kinds[f.type]) for f in fields]
    arrays.append(pa.array(shapely.to_wkb(shapes).tolist(), pa.binary()))
    names = [f.name for f in fields]
    placed = shapes[~shapely.is_missing(shapes)]
    whole = Whole(
        iter([pa.Table.from_arrays(arrays, names=[*names, "wkb of the row"])]),
        tuple(OutColumn(f.name, f.type, kinds[f.type]) for f in fields),
        len(shapes),
        WORKING_CRS,
        tuple(sorted({shape.geom_type for shape in placed})),
        tuple(map(float, shapely.total_bounds(placed))) if len(placed) else None,  # type: ignore[arg-type]
        False,
        {**about, "fields": {field.name: field.meaning for field in fields}},
    )
    return assemble("geojson" if ending == ".geojson" else "geoparquet", whole, path)


@contextmanager
def _beside(path: Path, ending: str, *, replace: bool) -> Iterator[tuple[Path, Path]]:
    """Give a place beside the file to write to, and a folder for parts; put what was written in place at the end."""
    seen = check_target(path, replace=replace)
    # Beside what a link points to, so that it can be renamed.
    path, name = path.resolve(), path.name
    with tempfile.TemporaryDirectory(prefix=f".{name}.", suffix=".writing", dir=path.parent) as folder:
        work = Path(folder) / "parts"
        work.mkdir()
        written = Path(folder) / name
        yield written, work
        if ending != ".gdb":
            put_as_seen(written, path, seen)
            return
        if look_at(path) != seen:
            raise OSError(
                errno.EBUSY, "something came there or was changed while it was written, and it was left as it is"
            )
        # A folder cannot be put in another's place at once: the old one steps aside first, and back if that fails.
        old = Path(folder) / "before.gdb"
        if path.exists():
            path.replace(old)
        try:
            written.replace(path)
        except OSError:
            if old.exists():
                old.replace(path)
            raise
        shutil.rmtree(old, ignore_errors=True)
