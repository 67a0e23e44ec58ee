"""The commands `grownj layers ...`: what is loaded, loading, keeping, comparing and handing on."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from grownj_geo import cli_site
from grownj_geo.cli_parcels import PARCEL_KINDS, is_parcels, no_parcels, remove_parcel_editions, show_kind
from grownj_geo.cli_site import (
    EPILOG,
    INCOMPLETE,
    AsOf,
    Json,
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
from grownj_geo.cli_sites import Replace, check_outputs

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

    from grownj_geo.edition import Held
    from grownj_geo.report import LayerRow

__all__ = ["layers_app"]


layers_app = typer.Typer(
    help="The layers that the rules need: what is loaded, and how to load your own and the official ones."
)

EditionNames = Annotated[
    Texts, typer.Argument(metavar="EDITION...", help="As in planning_areas@2018-01-16; see grownj layers status.")
]


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
    from grownj_geo.parcelstatus import parcel_rows  # noqa: PLC0415 - only where it is used

    return [*rows, *parcel_rows()]


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


@layers_app.command("show", epilog=EPILOG)
def show(
    layer: Annotated[str, typer.Argument(metavar="LAYER", help="Which layer: see grownj layers list.")],
    *,
    json: Json = False,
    width: Width = None,
) -> None:
    """Show what a layer is, which fields and values it has, and how to load it."""
    from grownj_geo.loading import manifest_of  # noqa: PLC0415 - only where it is used

    utf8(layer)
    if layer in PARCEL_KINDS:
        show_kind(PARCEL_KINDS[layer], json=json, width=width)
        return
    with refusals():
        manifest = manifest_of(layer)
    if json:
        print_json(manifest.model_dump(mode="json"))
    else:
        from grownj_geo.layers_page import manifest_page  # noqa: PLC0415 - only where it is used

        manifest_page(manifest, _needed_by().get(layer, []), console_of(width))


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
    if any(edition.problem for edition in found.editions) or (found.parcels and found.parcels.problem):
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
    no_parcels((old, new), command="diff")
    with refusals():
        found = compare_editions(old, new, sites=_site_lines(sites), day=day_of(as_of, "--as-of"))
    if json:
        print_json(found.model_dump(mode="json"))
    else:
        from grownj_geo.layers_page import diff_page  # noqa: PLC0415 - only where it is used

        diff_page(found, console_of(width))
    if found.unread:
        for site, problem in found.unread.items():
            say(f"{site}: {problem}")
        fail(f"{len(found.unread)} of the sites could not be compared; the others are above.")


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
    for name in filter(is_parcels, editions):
        remove_parcel_editions(name)
    with refusals():
        held: list[Held] = [store.find(name) for name in editions if not is_parcels(name)]
        for one in held:
            store.remove(one)
            typer.echo(f"Removed {one.name}.")


@layers_app.command("export", epilog=EPILOG)
def export(
    names: Annotated[Texts, typer.Argument(metavar="LAYER|EDITION...", help="What to write.")] = None,
    *,
    output: Annotated[Path | None, option("-o", "--output", metavar="FILE", words=".gpkg, .geojson, .parquet.")] = None,
    bundle: Annotated[Path | None, option("--bundle", metavar="FILE", words="All editions in one file.")] = None,
    replace: Replace = False,
    as_of: AsOf = None,
) -> None:
    """Write one layer as a GIS file, or whole editions as a bundle that a colleague imports."""
    from grownj_geo.layerstatus import export_bundle_of, export_layer  # noqa: PLC0415 - only where it is used

    no_parcels(names or (), command="export")
    if (output is None) == (bundle is None):
        fail("Expected either --output FILE for one layer or --bundle FILE for whole editions; give one of them.")
    check_outputs(output, bundle, sources=(), replace=replace)
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
