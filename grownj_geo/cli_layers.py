"""The commands `grownj layers ...`: what is loaded, loading, keeping, comparing and handing on."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from grownj_geo import cli_site
from grownj_geo.cli_site import (
    EPILOG,
    INCOMPLETE,
    AsOf,
    Json,
    Text,
    Texts,
    Width,
    console_of,
    day_of,
    fail,
    option,
    print_json,
    refusals,
    say,
    utf8,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import date

    from grownj_geo.features import LoadOptions
    from grownj_geo.loading import EditionFacts, Loaded
    from grownj_geo.report import LayerRow
    from grownj_geo.store import Held

__all__ = ["layers_app"]

_ONE_FACT = "FIELD=VALUE"
# What the words of a fault mean on the command line.
_HINTS = {
    **dict.fromkeys(("address_refused", "redirect_refused"), "--allow-private, or --url"),
    **dict.fromkeys(("too_few", "null_geometry", "empty_geometry", "non_finite", "wrong_kind"), "--partial"),
    **dict.fromkeys(("missing_field", "unknown_schema"), "--map FIELD=SOURCE, or --set FIELD=VALUE"),
    "undeclared_crs": "--crs EPSG:3424",
    "wrong_encoding": "--encoding cp1252",
    "several_layers": "--sublayer NAME",
    "poverty_needed": "--poverty FILE --acs 2011-2015",
}

layers_app = typer.Typer(
    help="The layers that the rules need: what is loaded, and how to load your own and the official ones."
)

LayerName = Annotated[str, typer.Argument(metavar="LAYER", help="Which layer it is: see grownj layers list.")]
EditionNames = Annotated[
    Texts, typer.Argument(metavar="EDITION...", help="As in planning_areas@2018-01-16; see grownj layers status.")
]
EditionDay = Annotated[Text, option("--edition", metavar="DATE", words="The publisher's date of the data.")]
ValidFrom = Annotated[Text, option(metavar="DATE", words="First day on which the edition holds.")]
ValidUntil = Annotated[Text, option(metavar="DATE", words="First day on which it no longer holds.")]
Accuracy = Annotated[float | None, option(metavar="FEET", words="How far its lines may be from the truth.")]
Complete = Annotated[bool, option("--complete", words="It holds every such area: absence from it is a no.")]
Partial = Annotated[
    bool, option("--partial", words="Take what can be used; absence from the layer then proves nothing.")
]
StrictLoad = Annotated[bool, option("--strict", words="Refuse whatever would have to be changed or left out.")]
Maps = Annotated[Texts, option("--map", metavar="FIELD=SOURCE", words="The file's name of a field; repeatable.")]
Sets = Annotated[Texts, option("--set", metavar=_ONE_FACT, words="One value for all features; repeatable.")]
LayerCrs = Annotated[Text, option("--crs", metavar="CODE", words="What coordinates are in, if the file says nothing.")]
DryRun = Annotated[bool, option("--dry-run", words="Check and report; keep nothing.")]
Acs = Annotated[Text, option("--acs", metavar="YEARS", words="Edition of the survey on poverty, as in 2011-2015.")]


# -- looking --------------------------------------------------------------------------------------------


@layers_app.command("list", epilog=EPILOG)
def layers_list(*, as_of: AsOf = None, json: Json = False, width: Width = None) -> None:
    """List every layer that is known: what ships, what is loaded, and what waits for the others."""
    rows = _layer_rows(day_of(as_of, "--as-of"))
    if json:
        print_json(rows)
    else:
        from grownj_geo.report import render_layers  # noqa: PLC0415 - only where it is used

        render_layers(rows, console_of(width))
    unusable = [str(row["id"]) for row in rows if row["problem"]]
    if unusable:
        say(f"Incomplete: {', '.join(unusable)} could not be used. See grownj layers verify; reinstall what ships.")
        raise typer.Exit(INCOMPLETE)


def _layer_rows(day: date | None) -> list[LayerRow]:
    from grownj_geo.atlas import DEFAULT_AS_OF  # noqa: PLC0415 - only where it is used

    atlas = cli_site.atlas_of(day or DEFAULT_AS_OF)
    needed = _needed_by()
    rows: list[LayerRow] = []
    for layer_id, manifest in sorted(atlas.manifests.items(), key=lambda item: (not item[1].ships, item[0])):
        state, held = atlas.state(layer_id), atlas.edition(layer_id)
        layer = atlas.layer(layer_id)
        rows.append(
            {
                "id": layer_id,
                "title": manifest.title,
                "publisher": manifest.publisher,
                "ships": manifest.ships,
                "status": "not loaded" if state.status == "missing" else state.status,
                "problem": state.problem,
                "edition": str(manifest.edition) if manifest.edition else None,
                "stored": held.name if held else None,
                "accuracy_ft": manifest.accuracy_ft,
                "sha256": layer.fingerprint if layer else None,
                "needed_by": needed.get(layer_id, []),
                "how_to_load": manifest.how_to_load,
            }
        )
    return rows


def _needed_by() -> dict[str, list[str]]:
    """Return, by layer, the categories of the default rulebook that ask for it."""
    from grownj_geo.rulebook import load_rulebook  # noqa: PLC0415 - only where it is used

    needed: dict[str, list[str]] = {}
    for category in load_rulebook().categories:
        for layer_id in _layers_in(category.rule.model_dump()):
            if category.label not in needed.setdefault(layer_id, []):
                needed[layer_id].append(category.label)
    return needed


def _layers_in(node: object) -> Iterable[str]:
    """Yield every layer that a clause of the rulebook, or one below it, names."""
    if isinstance(node, dict):
        if isinstance(node.get("layer"), str):
            yield node["layer"]
        elif isinstance(node.get("designated"), dict):
            yield "designations"
        for value in node.values():
            yield from _layers_in(value)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from _layers_in(value)


@layers_app.command("status", epilog=EPILOG)
def status(*, as_of: AsOf = None, json: Json = False, width: Width = None) -> None:
    """Show the editions in your store: their age, which one a day takes, and what is not loaded."""
    from grownj_geo.layerstatus import layer_status  # noqa: PLC0415 - only where it is used

    with refusals():
        found = layer_status(day_of(as_of, "--as-of"), needed_by=_needed_by())
    if json:
        print_json(found.model_dump(mode="json"))
    else:
        from grownj_geo.layers_page import status_page  # noqa: PLC0415 - only where it is used

        status_page(found, console_of(width))
    if any(edition.problem for edition in found.editions):
        raise typer.Exit(INCOMPLETE)


@layers_app.command("verify", epilog=EPILOG)
def verify(*, json: Json = False) -> None:
    """Compare every stored edition with its checksum and read it; the layers that ship too."""
    from grownj_geo.layerstatus import verify_layers  # noqa: PLC0415 - only where it is used

    with refusals():
        found = verify_layers()
    if json:
        print_json(found)
    else:
        for name, problem in found.items():
            typer.echo(f"{'DAMAGED' if problem else 'ok     '}  {name}{f': {problem}' if problem else ''}")
    damaged = [name for name, problem in found.items() if problem]
    if damaged:
        fail(f"Incomplete: {len(damaged)} of {len(found)} layers are damaged: {', '.join(damaged)}.", INCOMPLETE)


# -- loading --------------------------------------------------------------------------------------------


@layers_app.command("import", epilog=EPILOG)
def import_(
    layer: Annotated[Text, typer.Argument(metavar="LAYER", help="Which layer it is: see grownj layers list.")] = None,
    path: Annotated[Path | None, typer.Argument(metavar="FILE", help="The file, folder or zip archive.")] = None,
    *,
    bundle: Annotated[Path | None, option("--bundle", metavar="FILE", words="Take in a colleague's bundle.")] = None,
    sublayer: Annotated[Text, option(metavar="NAME", words="Which of several layers in the file.")] = None,
    encoding: Annotated[Text, option(metavar="NAME", words="What the file's text is in, as in cp1252.")] = None,
    crs: LayerCrs = None,
    fields: Maps = None,
    constants: Sets = None,
    edition: EditionDay = None,
    valid_from: ValidFrom = None,
    valid_until: ValidUntil = None,
    accuracy_ft: Accuracy = None,
    complete: Complete = False,
    partial: Partial = False,
    strict: StrictLoad = False,
    poverty: Annotated[
        Path | None, option("--poverty", metavar="FILE", words="Table B17001 for census tracts.")
    ] = None,
    acs: Acs = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Load a layer from a file: FileGDB, shapefile, GeoPackage, GeoJSON, KML, GeoParquet, CSV, or a zip of one.

    The file is checked as if a stranger had sent it; what is kept is a dated edition in your own store.
    """
    if bundle is not None:
        if layer is not None:
            fail("--bundle takes in whole editions; expected no LAYER with it. Leave LAYER and FILE out.")
        _import_bundle(bundle, json=json)
        return
    if layer is None or path is None:
        fail("Expected a layer and a file, as in: grownj layers import planning_areas areas.zip --edition 2018-01-16.")
    utf8(layer, str(path), sublayer, crs, *(fields or ()), *(constants or ()))
    from grownj_geo.readers_gdal import shut_drivers  # noqa: PLC0415 - only where it is used

    # Before anything else brings in GDAL.
    shut_drivers()
    from grownj_geo.loading import import_layer  # noqa: PLC0415 - only where it is used

    with _hinted():
        loaded = import_layer(
            layer,
            path,
            sublayer=sublayer,
            encoding=encoding,
            options=_options(crs, fields, constants, partial=partial, strict=strict),
            facts=_facts(edition, valid_from, valid_until, accuracy_ft, complete=complete),
            poverty=poverty,
            acs_edition=acs,
            dry_run=dry_run,
        )
    _tell([loaded], json=json)


@layers_app.command("fetch", epilog=EPILOG)
def fetch(
    layers: Annotated[Texts, typer.Argument(metavar="LAYER...", help="Which layers; none lists what can be.")] = None,
    *,
    every: Annotated[bool, option("--all", words="Every layer that has a service, but the census tracts.")] = False,
    accept_terms: Annotated[bool, option("--accept-terms", words="You accept the publishers' terms shown.")] = False,
    url: Annotated[Text, option("--url", metavar="URL", words="Another service's layer, or a file.")] = None,
    where: Annotated[Text, option("--where", metavar="SQL", words="Which features, as the service has it.")] = None,
    page_size: Annotated[int | None, option("--page-size", metavar="N", least=1, words="Features at once.")] = None,
    allow_private: Annotated[bool, option("--allow-private", words="Let inner networks and http through.")] = False,
    fields: Maps = None,
    constants: Sets = None,
    edition: EditionDay = None,
    valid_from: ValidFrom = None,
    valid_until: ValidUntil = None,
    accuracy_ft: Accuracy = None,
    partial: Partial = False,
    strict: StrictLoad = False,
    acs: Acs = None,
    poverty_url: Annotated[Text, option("--poverty-url", metavar="URL", words="Another source of the survey.")] = None,
    json: Json = False,
) -> None:
    """Fetch layers from their publishers' services, whole or not at all.

    A fetch that was stopped goes on where it was. The key to the Census Bureau's interface, where you have one, is
    read from the environment: CENSUS_API_KEY.
    """
    import os  # noqa: PLC0415 - only where it is used

    from grownj_geo.fetching import FetchOptions, fetch_layer, fetchable  # noqa: PLC0415 - only where it is used

    names = list(dict.fromkeys(layers or ()))
    if every:
        names = [name for name in fetchable() if name != "census_tract_poverty" or acs is not None]
    if not names:
        fail(f"Expected a layer, or --all. These have a service: {', '.join(fetchable())}.")
    if url is not None and len(names) > 1:
        fail("--url is the address of one layer; expected one LAYER with it. Fetch them one by one.")
    utf8(*names, url, where)
    how = FetchOptions(
        url=url,
        where=where,
        accept_terms=accept_terms,
        allow_private=allow_private,
        page_size=page_size,
        acs_edition=acs,
        census_key=os.environ.get("CENSUS_API_KEY"),
        poverty_url=poverty_url,
    )
    loaded: list[Loaded] = []
    failed: list[str] = []
    for name in names:
        with _fetching(name, failed, single=len(names) == 1), _progress(name, hidden=json) as progress:
            loaded.append(
                fetch_layer(
                    name,
                    fetch=how,
                    options=_options(None, fields, constants, partial=partial, strict=strict),
                    facts=_facts(edition, valid_from, valid_until, accuracy_ft, complete=False),
                    progress=progress,
                )
            )
    _tell(loaded, json=json)
    if failed:
        fail(f"Not fetched: {', '.join(failed)}. Run it again; what came before is kept.")


@contextmanager
def _hinted() -> Iterator[None]:
    """Say what was refused, with the option that helps where there is one, and leave."""
    from grownj_geo.errors import LayerError  # noqa: PLC0415 - only where it is used

    try:
        yield
    except LayerError as error:
        fail(_with_hint(error))


def _with_hint(error: Exception) -> str:
    hint = _HINTS.get(getattr(error, "fault", ""))
    words = str(error)
    return f"{words} (Options: {hint}.)" if hint and hint.partition(" ")[0].rstrip(",") not in words else words


@contextmanager
def _fetching(name: str, failed: list[str], *, single: bool) -> Iterator[None]:
    """Say why one of several layers was not fetched, and go on to the next."""
    from grownj_geo.errors import LayerError  # noqa: PLC0415 - only where it is used

    try:
        yield
    except LayerError as error:
        if single:
            fail(_with_hint(error))
        say(f"{name}: {_with_hint(error)}")
        failed.append(name)


@contextmanager
def _progress(name: str, *, hidden: bool) -> Iterator[Callable[[int, int], None]]:
    """Show on the error stream how many features have come."""
    from rich.console import Console  # noqa: PLC0415 - only where it is used
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415 - same

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=hidden) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _import_bundle(path: Path, *, json: bool) -> None:
    from grownj_geo.bundle import import_bundle  # noqa: PLC0415 - only where it is used
    from grownj_geo.store import Store  # noqa: PLC0415 - only where it is used

    with refusals():
        editions = import_bundle(path, Store())
    if json:
        print_json([edition.model_dump(mode="json") for edition in editions])
    else:
        for edition in editions:
            typer.echo(f"{edition.name}: {edition.features:,} features, {edition.origin.words}.")


def _options(
    crs: str | None, fields: Sequence[str] | None, constants: Sequence[str] | None, *, partial: bool, strict: bool
) -> LoadOptions:
    from grownj_geo.features import LoadOptions  # noqa: PLC0415 - only where it is used

    return LoadOptions(
        crs=crs,
        fields=_pairs(fields or (), "--map", "SPDETAIL=PLAN_CLASS"),
        constants=_pairs(constants or (), "--set", "SMART_GROWTH=YES"),
        partial=partial,
        strict=strict,
    )


def _pairs(typed: Sequence[str], name: str, example: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in typed:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not (key and equals):
            fail(f"{name} was read as {text!r}; expected a field, '=' and a value. Write it as {name} {example}.")
        if found.setdefault(key, value) != value:
            fail(f"{name} names {key} twice, as {found[key]!r} and {value!r}. Expected one; leave out either.")
    return found


def _facts(
    edition: str | None,
    valid_from: str | None,
    valid_until: str | None,
    accuracy_ft: float | None,
    *,
    complete: bool,
) -> EditionFacts:
    from math import isfinite  # noqa: PLC0415 - only where it is used

    from grownj_geo.loading import EditionFacts  # noqa: PLC0415 - only where it is used

    if accuracy_ft is not None and not (isfinite(accuracy_ft) and accuracy_ft >= 0):
        fail(f"--accuracy-ft was read as {accuracy_ft:g}; expected feet, 0 or more. Write it as --accuracy-ft 45.")
    return EditionFacts(
        edition=day_of(edition, "--edition"),
        valid_from=day_of(valid_from, "--valid-from"),
        valid_until=day_of(valid_until, "--valid-until"),
        accuracy_ft=accuracy_ft,
        complete=complete,
    )


def _tell(loaded: Sequence[Loaded], *, json: bool) -> None:
    """Print what was read, changed and kept."""
    if json:
        print_json(
            [
                one.report.model_dump(mode="json") | {"edition": one.edition.name if one.edition else None}
                for one in loaded
            ]
        )
        return
    from grownj_geo.layers_page import loaded_page  # noqa: PLC0415 - only where it is used

    console = console_of(None)
    for one in loaded:
        loaded_page(one, console)


# -- keeping and handing on -----------------------------------------------------------------------------


@layers_app.command("diff", epilog=EPILOG)
def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="An edition, as in planning_areas@2018-01-16.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Another of the same layer; LAYER@shipped for what ships.")],
    *,
    sites: Annotated[Path | None, option("--sites", metavar="FILE", words="Sites, one a line: which change?")] = None,
    as_of: AsOf = None,
    json: Json = False,
    width: Width = None,
) -> None:
    """Show what changed between two editions of a layer, and which of your sites that moves."""
    from grownj_geo.layerstatus import compare_editions  # noqa: PLC0415 - only where it is used

    utf8(old, new)
    with refusals():
        found, moved = compare_editions(old, new, sites=_site_lines(sites), day=day_of(as_of, "--as-of"))
    if json:
        changed = None if moved is None else [change.model_dump(mode="json") for change in moved]
        print_json(found.model_dump(mode="json") | {"sites": changed})
    else:
        from grownj_geo.layers_page import diff_page  # noqa: PLC0415 - only where it is used

        diff_page(found, moved, console_of(width))


def _site_lines(path: Path | None) -> list[str] | None:
    """Return the sites of a file, one a line."""
    if path is None:
        return None
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        fail(f"--sites {path} could not be read: {error}. Expected text in UTF-8 with one site a line.")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        fail(f"--sites {path} holds no site. Expected one a line, as in 40.7344,-74.1641.")
    return lines


@layers_app.command("remove", epilog=EPILOG)
def remove(editions: EditionNames = None) -> None:
    """Take editions out of your store."""
    from grownj_geo.store import Store  # noqa: PLC0415 - only where it is used

    store = Store()
    if not editions:
        fail("Expected an edition, as in planning_areas@2018-01-16; grownj layers status lists them.")
    with refusals():
        held: list[Held] = [store.find(name) for name in editions]
        for one in held:
            store.remove(one)
            typer.echo(f"Removed {one.name}.")


@layers_app.command("export", epilog=EPILOG)
def export(
    names: Annotated[Texts, typer.Argument(metavar="LAYER|EDITION...", help="What to write.")] = None,
    *,
    output: Annotated[Path | None, option("-o", "--output", metavar="FILE", words=".gpkg, .geojson, .parquet.")] = None,
    bundle: Annotated[Path | None, option("--bundle", metavar="FILE", words="All editions in one file.")] = None,
    as_of: AsOf = None,
) -> None:
    """Write one layer as a GIS file, or whole editions as a bundle that a colleague imports."""
    from grownj_geo.layerstatus import export_bundle_of, export_layer  # noqa: PLC0415 - only where it is used

    if (output is None) == (bundle is None):
        fail("Expected either --output FILE for one layer or --bundle FILE for whole editions; give one of them.")
    with refusals():
        if bundle is not None:
            written = export_bundle_of(names or (), bundle)
            typer.echo(f"Wrote {written} editions to {bundle}. Mind the publishers' terms before handing it on.")
        else:
            assert output is not None  # noqa: S101 - one of the two is given
            if len(names or ()) != 1:
                fail("Expected one layer, as in: grownj layers export planning_areas -o areas.gpkg.")
            features = export_layer((names or [""])[0], output, day=day_of(as_of, "--as-of"))
            typer.echo(f"Wrote {features:,} features to {output}.")
