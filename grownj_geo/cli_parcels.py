"""What `grownj layers` does for parcels and address points, which are kept in one store and are no layer of a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from grownj_geo.cli_site import console_of, fail, print_json, refusals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import date
    from pathlib import Path

    from rich.console import Console

    from grownj_geo.features import LoadOptions
    from grownj_geo.parcelbuild import Imported
    from grownj_geo.parceltables import Kind

__all__ = ["PARCEL_KINDS", "import_kind", "is_parcels", "no_parcels", "remove_parcel_editions", "show_kind"]

# As names are typed: nothing of the store is imported until one of them is.
PARCEL_KINDS: dict[str, Kind] = {"parcels": "parcels", "address_points": "address_points"}


def is_parcels(name: str) -> bool:
    """Return whether a layer's or an edition's name is about parcels or address points."""
    return name.partition("@")[0] in PARCEL_KINDS


def no_parcels(names: Iterable[str], *, command: str) -> None:
    """Refuse names of parcels or address points where a command is about layers alone."""
    for name in filter(is_parcels, names):
        kind = name.partition("@")[0]
        fail(
            f"grownj layers {command} is for layers, and {kind} are none: they are loaded from files, and kept in a "
            f"store of their own. Expected one of grownj layers import {kind} FILE, status, verify, remove."
        )


def import_kind(
    kind: Kind,
    path: Path,
    *,
    options: LoadOptions,
    sublayer: str | None,
    encoding: str | None,
    edition: date | None,
    dry_run: bool,
    progress: Callable[[int, int | None], None],
    json: bool,
) -> None:
    """Load a file into the store of parcels, and print what came of it."""
    from grownj_geo import parcelbuild  # noqa: PLC0415 - brings in GDAL

    load = parcelbuild.import_parcels if kind == "parcels" else parcelbuild.import_address_points
    imported = load(
        path,
        options=parcelbuild.ImportOptions(
            sublayer=sublayer,
            encoding=encoding,
            crs=options.crs,
            fields=options.fields,
            constants=options.constants,
            edition=edition,
            partial=options.partial,
            strict=options.strict,
            dry_run=dry_run,
        ),
        progress=progress,
    )
    if json:
        kept = None if imported.edition is None else imported.edition.name
        print_json([imported.part.model_dump(mode="json") | {"edition_name": kept}])
    else:
        _imported_page(imported, console_of(None))


def _imported_page(imported: Imported, console: Console) -> None:
    from rich.text import Text  # noqa: PLC0415 - only where it is used

    from grownj_geo.parcelstatus import ABOUT  # noqa: PLC0415 - same
    from grownj_geo.parceltables import municipalities_in_words  # noqa: PLC0415 - same
    from grownj_geo.report import Page, plain  # noqa: PLC0415 - same

    page, part, edition = Page(console), imported.part, imported.edition
    page.heading(f"{ABOUT[part.kind].title.upper()} ({part.kind})")
    codes = [code for code in part.municipalities if code]
    rows = [
        ("Read", f"{part.read:,} rows from {part.source}"),
        ("Kept", f"{part.kept:,} {part.kind.replace('_', ' ')} of {municipalities_in_words(len(codes))}"),
        ("Coordinates", part.crs or "none: the file has no outlines"),
        ("Fields", ", ".join(f"{ours} from {theirs}" for ours, theirs in part.fields.items())),
    ]
    for effect, words in (("left_out", "Left out"), ("changed", "Changed"), ("noted", "Noted")):
        rows += [(words, change.words) for change in part.changes if change.effect == effect]
    page.pairs(rows)
    if edition is None:
        page.put(Text("Nothing was kept (dry run)."))
        return
    files = f"{len(edition.parts)} file{'' if len(edition.parts) == 1 else 's'}"
    words = (
        f"Kept as {edition.name}, which holds {edition.parcels:,} parcels ({edition.drawn:,} with an outline) and "
        f"{edition.address_points:,} address points, of {files}."
    )
    page.put(Text(plain(words)))


def show_kind(kind: Kind, *, json: bool, width: int | None) -> None:
    """Print what is read of a file of parcels or address points, and where to get one."""
    from grownj_geo.parcelstatus import ABOUT, field_lines  # noqa: PLC0415 - only where it is used

    about = ABOUT[kind]
    if json:
        print_json(about.model_dump(mode="json") | {"id": kind, "fields": field_lines(kind)})
        return
    from grownj_geo.report import Page  # noqa: PLC0415 - same

    page = Page(console_of(width))
    page.heading(f"{about.title.upper()} ({kind})")
    page.pairs(
        [
            ("What it is", about.description),
            ("Publisher", about.publisher),
            ("To load it", f"{about.command}. {about.how_to_load}"),
            ("Terms", about.terms),
        ]
    )
    page.items("FIELDS (--map FIELD=COLUMN names a column, --set FIELD=VALUE states one value)", field_lines(kind))


def remove_parcel_editions(name: str) -> None:
    """Take editions of parcels away, and say so."""
    from grownj_geo.errors import LayerError  # noqa: PLC0415 - only where it is used
    from grownj_geo.parcelkeep import remove_parcels  # noqa: PLC0415 - same

    with refusals():
        if name.partition("@")[0] == "address_points":
            raise LayerError(
                "Address points are kept in one store with the parcels; take that away with: grownj layers remove "
                "parcels. Then load again what shall stay."
            )
        for removed in remove_parcels(name):
            typer.echo(f"Removed {removed}.")
