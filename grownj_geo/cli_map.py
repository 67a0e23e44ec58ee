"""The command `grownj map`: areas and sites as a page for the browser, or as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from grownj_geo.cli_site import (
    STRICT_WORDS,
    AsOf,
    Crs,
    Editions,
    Readings,
    Strict,
    StrictEditions,
    Text,
    Texts,
    Uncertainty,
    day_of,
    fail,
    fail_incomplete,
    option,
    readings_of,
    refusals,
    rulebook_of,
    say,
    utf8,
)
from grownj_geo.cli_sites import (
    Column,
    Delimiter,
    Encoding,
    Replace,
    Sheet,
    SiteColumn,
    Sublayer,
    check_outputs,
    places_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grownj_geo.determine import Engine
    from grownj_geo.mapanswer import Asked
    from grownj_geo.mapareas import MapAreas
    from grownj_geo.mapsites import MapSites
    from grownj_geo.siterows import TableOptions

__all__ = ["draw_map"]

_SITES = "A table as batch takes it, or places as check takes them, one word each; without any, areas alone."
_KINDS = (".html", ".png", ".svg", ".pdf")
_RECORDS = frozenset({".json", ".jsonl", ".ndjson"})
_MOST_TOLD = 10
_MANY_BYTES = range(10_000, 1_000_000)
"""Of a table that probably has many sites, and yet so few that each has a panel of its own."""

Picture = Annotated[Path | None, option(metavar="FILE", words="A picture too.")]


def draw_map(
    sites: Annotated[Texts, typer.Argument(metavar="SITES", help=_SITES, show_default=False)] = None,
    *,
    output: Annotated[
        Path | None, option("-o", "--output", metavar="FILE", words="Where to write: .html, .png, .svg or .pdf.")
    ] = None,
    png: Picture = None,
    svg: Picture = None,
    pdf: Picture = None,
    replace: Replace = False,
    as_of: AsOf = None,
    rulebook: Annotated[Text, option(metavar="ID|FILE", words="A rulebook (default: grow-nj).")] = None,
    reading: Readings = None,
    strict: Strict = False,
    edition: Editions = None,
    strict_editions: StrictEditions = False,
    name: Annotated[Text, option(metavar="NAME", words="Column of the sites' names.")] = None,
    layer: Annotated[Texts, option(metavar="CLASS", words="A class to show at first; repeatable.")] = None,
    extent: Annotated[Text, option(metavar="state|sites", words="What pictures show (default: the sites).")] = None,
    online: Annotated[bool, option("--online", words="Street tiles, fetched when the page is opened.")] = False,
    crs: Crs = None,
    uncertainty_ft: Uncertainty = 0.0,
    lon: Column = None,
    lat: Column = None,
    x: Column = None,
    y: Column = None,
    site: SiteColumn = None,
    pin: Column = None,
    municipality: Column = None,
    county: Column = None,
    block: Column = None,
    lot: Column = None,
    qualifier: Column = None,
    wkt: Column = None,
    sheet: Sheet = None,
    sublayer: Sublayer = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
) -> None:
    """Draw areas and sites: a page that opens without a network, or a picture for a document.

    Sites are coloured by their base amount; each has a panel with its findings, margins and reasons. For example:

    grownj map -o areas.html

    grownj map sites.csv -o sites.html --png sites.png

    grownj map "40.7344,-74.1641" "40.567092,-74.320347" -o two.pdf
    """
    typed = places_of(sites or [])
    utf8(*typed, crs, name, *(reading or ()), *(str(part) for part in (output, png, svg, pdf) if part))
    table = Path(typed[0]) if len(typed) == 1 and _is_table(typed[0]) else None
    for word in typed:
        _refuse_records(word)
    if name is not None and table is None:
        fail(f"--name {name} is a column of a table, and there is none; places are called as typed. Leave it out.")
    targets = _targets(output, {".png": png, ".svg": svg, ".pdf": pdf})
    check_outputs(*targets, sources=typed, replace=replace)
    if extent not in {None, "state", "sites"}:
        fail(f"--extent was read as {extent!r}; expected state or sites.")
    from grownj_geo.mapareas import showing, shown_classes  # noqa: PLC0415 - only where it is used

    with refusals():
        shown = None if layer is None else shown_classes(layer, said="--layer")
    from grownj_geo.atlas import DEFAULT_AS_OF  # noqa: PLC0415 - only where it is used
    from grownj_geo.mapanswer import Asked  # noqa: PLC0415 - same
    from grownj_geo.mapassets import check_installed  # noqa: PLC0415 - same
    from grownj_geo.siterows import TableOptions  # noqa: PLC0415 - same

    asked = Asked(
        as_of=day_of(as_of, "--as-of") or DEFAULT_AS_OF,
        rulebook=rulebook_of(rulebook),
        readings=readings_of(reading or (), strict=strict, strict_editions=strict_editions),
        editions=tuple(edition or ()),
    )
    options = TableOptions(
        lon=lon, lat=lat, x=x, y=y, crs=crs, site=site, pin=pin, municipality=municipality, county=county, block=block,
        lot=lot, qualifier=qualifier, wkt=wkt, uncertainty_ft=uncertainty_ft, sheet=sheet, sublayer=sublayer,
        encoding=encoding, delimiter=delimiter,
    )  # fmt: skip
    kinds = {target.suffix.lower() for target in targets}
    with refusals():
        check_installed(page=".html" in kinds, picture=bool(kinds - {".html"}))
        engine = asked.engine()
        found, areas = _drawn(asked, engine, table, typed, options, name)
        for known in areas.not_drawn:
            if shown is not None and known.look.id in shown:
                say(f"{known.label} is not drawn: {known.why}. To load it: {known.how}")
        if found is not None and not len(found):
            _tell_refused(found)
            fail(f"None of the {len(found.not_answered):,} sites could be answered. Nothing was written.")
        areas = showing(areas, shown)
        for target in targets:
            _write(target, engine, areas, found, extent=extent, online=online)
    if strict:
        say(f"--strict: {STRICT_WORDS}")
    _tell(targets, found, areas)
    if areas.problems:
        fail_incomplete(areas.problems)


def _is_table(word: str) -> bool:
    try:
        return Path(word).exists()
    except (OSError, ValueError):
        return False


def _refuse_records(word: str) -> None:
    """Refuse records of earlier answers: a map answers anew, and takes only places."""
    path = Path(word)
    if not _is_table(word) or not (path.is_dir() or path.suffix.lower() in _RECORDS):
        return
    from grownj_geo.kept import Refused, holds_records, record_files  # noqa: PLC0415 - only where it is used

    count = sum(not isinstance(each, Refused) and holds_records(each) for each in record_files([path]))
    if count:
        what = f"a folder with {count:,} file{'s' * (count > 1)} of kept records" if path.is_dir() else "a kept record"
        fail(
            f"{word} is {what}; expected a table or places, which a map answers anew. With a map of each as it was "
            f"recorded: grownj report {word} -o report.html. What is answered otherwise now: grownj recheck {word}."
        )


def _targets(output: Path | None, pictures: dict[str, Path | None]) -> list[Path]:
    """Return where to write, refused before any work is done where that cannot be."""
    named = [*([output] if output else []), *(path for path in pictures.values() if path)]
    if not named:
        fail("Expected where to write, as in: grownj map sites.csv -o map.html, or --png map.png.")
    for ending, path in pictures.items():
        if path is not None and path.suffix.lower() != ending:
            fail(f"--{ending[1:]} {path} does not end in {ending}. Give it that ending, or use -o.")
    for path in named:
        if path.suffix.lower() not in _KINDS:
            fail(f"-o {path} ends in {path.suffix or 'nothing'}; expected one of {', '.join(_KINDS)}.")
    return named


def _drawn(  # noqa: PLR0917 - what was typed, in order
    asked: Asked, engine: Engine, table: Path | None, typed: Sequence[str], options: TableOptions, name: str | None
) -> tuple[MapSites | None, MapAreas]:
    """Return sites and areas; the areas are drawn while other processes answer for the sites."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only where it is used
    from importlib import import_module  # noqa: PLC0415 - same

    from grownj_geo.mapanswer import Helpers  # noqa: PLC0415 - same

    helpers = Helpers(asked)
    if table is not None and table.is_file() and table.stat().st_size in _MANY_BYTES:
        # They get ready while the rest is imported and the table is read.
        helpers.begin()
    from grownj_geo.determine import Directory  # noqa: PLC0415 - same
    from grownj_geo.finder import Finder  # noqa: PLC0415 - same
    from grownj_geo.mapareas import draw_areas  # noqa: PLC0415 - same
    from grownj_geo.mapsites import sites_of_places, sites_of_table  # noqa: PLC0415 - same

    directory = Directory(engine.atlas)
    # An engine of its own: what one thread prepares, no other may touch.
    with helpers, ThreadPoolExecutor(1) as beside:
        drawing = beside.submit(lambda: draw_areas(asked.engine()))
        # Imported while others work. Where folium is not installed, writing the page says so.
        beside.submit(import_module, "grownj_geo.mapfolium")
        found: MapSites | None = None
        if table is not None:
            found = sites_of_table(
                asked, engine, table, options=options, directory=directory, name=name, helpers=helpers
            )
        elif typed:
            finder = Finder.at_home(engine.atlas)
            places = [finder.site(word, crs=options.crs, uncertainty_ft=options.uncertainty_ft) for word in typed]
            found = sites_of_places(asked, engine, places)
            if found.not_answered:
                refused = found.not_answered[0]
                fail(f"{refused.name}: {refused.problem}")
        return found, drawing.result()


def _write(
    target: Path, engine: Engine, areas: MapAreas, sites: MapSites | None, *, extent: str | None, online: bool
) -> None:
    kind = target.suffix.lower()
    if kind == ".html":
        from grownj_geo.maps import map_html, write_map  # noqa: PLC0415 - only where it is used

        write_map(target, map_html(engine, areas, sites, online=online))
        return
    from grownj_geo.pictures import draw_picture, picture_bytes, write_picture  # noqa: PLC0415 - same

    figure = draw_picture(engine, areas, sites, extent="state" if extent == "state" else "sites")
    write_picture(target, picture_bytes(figure, cast("Literal['png', 'svg', 'pdf']", kind[1:])))


def _tell_refused(sites: MapSites) -> None:
    for refused in sites.not_answered[:_MOST_TOLD]:
        say(f"No answer: {refused.problem}")
    if len(sites.not_answered) > _MOST_TOLD:
        say(f"{len(sites.not_answered) - _MOST_TOLD:,} more rows have no answer; the page lists them.")


def _tell(targets: Sequence[Path], sites: MapSites | None, areas: MapAreas) -> None:
    if sites is not None:
        for words in sites.told[:_MOST_TOLD]:
            say(f"Note: {words}")
        _tell_refused(sites)
    if any(target.suffix.lower() != ".html" for target in targets):
        from grownj_geo.picturestage import names_drawn  # noqa: PLC0415 - only where it is used
        from grownj_geo.picturetext import odd_signs, odd_words  # noqa: PLC0415 - same

        if odd := odd_words(odd_signs(names_drawn(sites))):
            say(f"Note: {odd}")
    if areas.not_drawn:
        say(f"Not drawn, their layers are not loaded: {len(areas.not_drawn)} classes; see grownj layers status.")
    count = "" if sites is None else f" with {len(sites):,} site{'' if len(sites) == 1 else 's'}"
    for target in targets:
        say(f"Wrote {target}{count}, {target.stat().st_size / 1e6:,.1f} MB.")
