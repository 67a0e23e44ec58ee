"""The commands `grownj export areas` and `grownj export sites`: GIS files with fields explained and styles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grownj_geo.cli_site import (
    EPILOG,
    AsOf,
    Editions,
    Json,
    Readings,
    StrictEditions,
    Text,
    Texts,
    atlas_of,
    day_of,
    fail,
    option,
    print_json,
    readings_of,
    refusals,
    rulebook_of,
    say,
    utf8,
)
from grownj_geo.cli_sites import Column, Replace, Sheet, SiteColumn, Sublayer, TableCrs, rows_done, steps_done

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grownj_geo.determine import Engine
    from grownj_geo.export import Exported

__all__ = ["export_app"]

export_app = typer.Typer(help="GIS files: the areas themselves as polygons, and determined sites.")

_MOST_TOLD = 10

Output = Annotated[
    Path | None,
    option(
        "-o",
        "--output",
        metavar="FILE",
        words=".gpkg, .gdb, .shp.zip, .kml, .kmz, .geojson, .parquet.",
    ),
]


@export_app.command("areas", epilog=EPILOG)
def export_areas_command(
    *,
    output: Output = None,
    replace: Replace = False,
    category: Annotated[
        Texts, option("--category", metavar="ID", words="An area; repeatable (default: all areas and radii).")
    ] = None,
    as_of: AsOf = None,
    rulebook: Annotated[
        Text, option("--rulebook", metavar="ID|FILE", words="A rulebook's id or file (default: grow-nj).")
    ] = None,
    reading: Readings = None,
    edition: Editions = None,
    strict_editions: StrictEditions = False,
    listing: Annotated[bool, option("--list", words="List the areas that can be drawn, and stop.")] = False,
    json: Json = False,
) -> None:
    """Write the areas as polygons: where each holds, by which clause, and where it is undetermined and why.

    Where nothing is drawn the answer is no. Ground within the accuracy of a line is a class of its own; what waits
    for a map or for a site fact, which are taken as not stated, is another. Lines are drawn within 1 ft of those that
    decide, for a place without a size: a parcel has to be asked about itself.

    All areas take up to a minute and are large (21 MB as GeoParquet, 180 as GeoJSON); --category makes it short.
    """
    utf8(*(str(part) for part in (output,) if part), *(category or ()), *(reading or ()))
    book = rulebook_of(rulebook)
    from grownj_geo.atlas import DEFAULT_AS_OF  # noqa: PLC0415 - only where it is used
    from grownj_geo.determine import Engine  # noqa: PLC0415 - same

    chosen = readings_of(reading or (), strict=False, strict_editions=strict_editions)
    atlas = atlas_of(day_of(as_of, "--as-of") or DEFAULT_AS_OF, edition or ())
    with refusals():
        engine = Engine(atlas, book, chosen)
    if listing:
        _list(engine, json=json)
        return
    target = _target(output, (), "grownj export areas -o areas.gpkg", replace=replace)
    from grownj_geo.export import export_areas  # noqa: PLC0415 - only where it is used

    with refusals(), steps_done(hidden=json) as progress:
        written = export_areas(engine, target, areas=category, progress=progress, replace=replace)
    _tell(written, json=json)


def _list(engine: Engine, *, json: bool) -> None:
    from grownj_geo.areapieces import area_ids, area_label, default_areas  # noqa: PLC0415 - only where it is used

    usual = set(default_areas(engine))
    rows = [{"id": each, "label": area_label(engine, each), "default": each in usual} for each in area_ids(engine)]
    if json:
        print_json(rows)
        return
    for row in rows:
        typer.echo(f"{row['id']}: {row['label']}{'' if row['default'] else ' (only if chosen)'}")


@export_app.command("sites", epilog=EPILOG)
def export_sites_command(
    source: Annotated[
        Path | None, typer.Argument(metavar="INPUT", help="The table: as for grownj batch, or what it wrote.")
    ] = None,
    *,
    output: Output = None,
    replace: Replace = False,
    as_of: AsOf = None,
    rulebook: Annotated[
        str, option("--rulebook", metavar="ID", words="A shipped rulebook (default: grow-nj).")
    ] = "grow-nj",
    reading: Readings = None,
    edition: Editions = None,
    strict_editions: StrictEditions = False,
    columns: Annotated[
        str, option("--columns", metavar="brief|full", words="full: lean, margin, causes too.")
    ] = "brief",
    lon: Column = None,
    lat: Column = None,
    crs: TableCrs = None,
    site: SiteColumn = None,
    pin: Column = None,
    municipality: Column = None,
    wkt: Column = None,
    uncertainty_ft: Annotated[float, option(metavar="FEET", words="How far every place may be off.")] = 0.0,
    sheet: Sheet = None,
    sublayer: Sublayer = None,
    json: Json = False,
) -> None:
    """Write determined sites with their answers as a GIS file.

    INPUT is a table as grownj batch takes it (for its rarer options, run that first), or a table that grownj batch
    wrote, which is taken as it is. Points and polygons are layers of their own where there are both. Rows without an
    answer come out too, with their problem, and are told. At most 250,000 rows: beyond, grownj batch -o sites.gpkg.
    """
    utf8(*(str(part) for part in (source, output) if part), crs, site, *(reading or ()))
    if columns not in {"brief", "full"}:
        fail(f"--columns was read as {columns!r}; expected brief or full.")
    if source is None:
        fail("Expected a table and where to write, as in: grownj export sites sites.csv -o sites.gpkg.")
    target = _target(output, [source], "grownj export sites sites.csv -o sites.gpkg", replace=replace)
    from grownj_geo.atlas import DEFAULT_AS_OF  # noqa: PLC0415 - only where it is used
    from grownj_geo.batch import Question  # noqa: PLC0415 - same
    from grownj_geo.export import export_sites  # noqa: PLC0415 - same
    from grownj_geo.siterows import TableOptions  # noqa: PLC0415 - same

    question = Question(
        as_of=day_of(as_of, "--as-of") or DEFAULT_AS_OF,
        rulebook=rulebook,
        readings=readings_of(reading or (), strict=False, strict_editions=strict_editions),
        editions=tuple(edition or ()),
        detail="full" if columns == "full" else "brief",
    )
    options = TableOptions(
        lon=lon, lat=lat, crs=crs, site=site, pin=pin, municipality=municipality, wkt=wkt,
        uncertainty_ft=uncertainty_ft, sheet=sheet, sublayer=sublayer,
    )  # fmt: skip
    with refusals(), rows_done(hidden=json) as progress:
        written, _ = export_sites(source, target, question, options=options, progress=progress, replace=replace)
    _tell(written, json=json)


def _target(output: Path | None, sources: Sequence[Path], example: str, *, replace: bool) -> Path:
    """Return where to write, refused before any work is done where that cannot be."""
    if output is None:
        fail(f"Expected where to write, as in: {example}.")
    from grownj_geo.export import check_target  # noqa: PLC0415 - only where it is used

    with refusals():
        check_target(output, sources=sources, replace=replace)
    return output


def _tell(written: Exported, *, json: bool) -> None:
    """Say what was written, to the error stream: standard output stays free."""
    if json:
        changes = [change.model_dump(mode="json") for change in written.changes]
        found = {"path": str(written.path), "layers": dict(written.layers), "changes": changes}
        print_json(found | {"not_answered": list(written.not_answered)})
        return
    for name, count in written.layers.items():
        say(f"{name}: {count:,} feature{'s' * (count != 1)}")
    for change in written.changes:
        say(f"Note: {change.words}")
    for problem in written.not_answered[:_MOST_TOLD]:
        say(f"No answer: {problem}")
    if len(written.not_answered) > _MOST_TOLD:
        say(f"{len(written.not_answered) - _MOST_TOLD:,} more rows have no answer; the field problem says why.")
    if written.not_answered:
        rows = sum(written.layers.values())
        say(f"Without an answer: {len(written.not_answered):,} of {rows:,} rows.")
    say(f"Wrote {written.path}.")
