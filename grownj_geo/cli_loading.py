"""The commands `grownj layers import` and `grownj layers fetch`."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from grownj_geo.cli_layers import layers_app
from grownj_geo.cli_parcels import PARCEL_KINDS, import_kind, no_parcels
from grownj_geo.cli_site import (
    EPILOG,
    Json,
    Text,
    Texts,
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
    from collections.abc import Callable, Iterator, Sequence

    from grownj_geo.features import LoadOptions
    from grownj_geo.loading import EditionFacts, Loaded

__all__ = ["layers_app"]

_ONE_FACT = "FIELD=VALUE"
# What the words of a fault mean on the command line.
_HINTS = {
    **dict.fromkeys(("address_refused", "redirect_refused"), "--allow-private, or --url"),
    **dict.fromkeys(("too_few", "null_geometry", "empty_geometry", "non_finite", "wrong_kind"), "--partial"),
    **dict.fromkeys(("missing_field", "unknown_schema"), "--map FIELD=SOURCE, or --set FIELD=VALUE"),
    "undeclared_crs": "--crs EPSG:3424",
    "no_accuracy": "--accuracy-ft FEET",
    "statements": "--accept-statements",
    "wrong_encoding": "--encoding cp1252",
    "several_layers": "--sublayer NAME",
    "poverty_needed": "--poverty FILE --acs 2011-2015",
}

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
    accept_statements: Annotated[
        bool, option("--accept-statements", words="Take over what a bundle states of its editions.")
    ] = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Load a layer from a file: FileGDB, shapefile, GeoPackage, GeoJSON, KML, GeoParquet, CSV, or a zip of one.

    The file is checked as if a stranger had sent it; what is kept is a dated edition in your own store.

    LAYER parcels (MOD-IV, as the State's composite, a county's extract or an assessor's list) and address_points make
    parcel numbers, block and lot, and addresses places. Their files add up; of a municipality the later file counts.
    """
    if bundle is not None:
        if layer is not None:
            fail("--bundle takes in whole editions; expected no LAYER with it. Leave LAYER and FILE out.")
        _import_bundle(bundle, accept_statements=accept_statements, json=json)
        return
    if layer is None or path is None:
        fail(
            "Expected a layer and a file, as in: grownj layers import planning_areas areas.zip --edition 2018-01-16; "
            "or, for what a colleague exported, --bundle FILE."
        )
    utf8(layer, str(path), sublayer, crs, *(fields or ()), *(constants or ()))
    from grownj_geo.readers_gdal import shut_drivers  # noqa: PLC0415 - only where it is used

    # Before anything else brings in GDAL.
    shut_drivers()
    if layer in PARCEL_KINDS:
        beyond = {
            "--valid-from": valid_from,
            "--valid-until": valid_until,
            "--accuracy-ft": accuracy_ft,
            "--complete": complete or None,
            "--poverty": poverty,
            "--acs": acs,
        }
        if unused := [name for name, given in beyond.items() if given is not None]:
            fail(f"{', '.join(unused)}: nothing where {layer} are loaded, by which no rule is decided. Leave it out.")
        with _hinted(), _progress(layer, hidden=json or dry_run) as bar:
            import_kind(
                PARCEL_KINDS[layer],
                path,
                options=_options(crs, fields, constants, partial=partial, strict=strict),
                sublayer=sublayer,
                encoding=encoding,
                edition=day_of(edition, "--edition"),
                dry_run=dry_run,
                progress=bar,
                json=json,
            )
        return
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
    no_parcels(names, command="fetch")
    if every:
        names = [name for name in fetchable() if name != "census_tract_poverty" or acs is not None]
    if not names:
        fail(f"Expected a layer, or --all. These have a service: {', '.join(fetchable())}.")
    if url is not None and len(names) > 1:
        fail("--url is the address of one layer; expected one LAYER with it. Fetch them one by one.")
    utf8(*names, url, where)
    from grownj_geo.readers_gdal import shut_drivers  # noqa: PLC0415 - only where it is used

    # Before anything else brings in GDAL: what is fetched may be a file.
    shut_drivers()
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
def _progress(name: str, *, hidden: bool) -> Iterator[Callable[[int, int | None], None]]:
    """Show on the error stream how many features have come."""
    from rich.console import Console  # noqa: PLC0415 - only where it is used
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415 - same

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=hidden) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _import_bundle(path: Path, *, accept_statements: bool, json: bool) -> None:
    from grownj_geo.bundle import import_bundle  # noqa: PLC0415 - only where it is used
    from grownj_geo.store import Store  # noqa: PLC0415 - only where it is used

    with refusals():
        editions = import_bundle(path, Store(), accept_statements=accept_statements)
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
