"""Layers on a terminal page: what was loaded, what a store holds, what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from grownj_geo.atlas import load_atlas
from grownj_geo.designations import load_lists
from grownj_geo.parceltables import municipalities_in_words
from grownj_geo.report import Page, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from grownj_geo.edition import Edition
    from grownj_geo.layerstatus import Comparison, EditionStatus, LayerStatus
    from grownj_geo.loading import Loaded
    from grownj_geo.manifest import Manifest
    from grownj_geo.parcelstatus import StoreStatus

__all__ = ["diff_page", "field_words", "loaded_page", "manifest_page", "status_page"]

_MOST_CHANGES = 40
_EFFECTS = {"left_out": "left out", "changed": "changed", "noted": "noted"}


def manifest_page(manifest: Manifest, needed_by: Sequence[str], console: Console) -> None:
    """Print what a layer is: its fields and their values, where it can lie, its terms, and how to load it."""
    page = Page(console)
    page.heading(f"{manifest.title.upper()} ({manifest.id})")
    accuracy = "not known" if manifest.accuracy_ft is None else f"known to {manifest.accuracy_ft:,.1f} ft"
    edition = f"the edition of {manifest.edition} ships" if manifest.edition else "ships"
    page.pairs(
        [
            ("What it is", manifest.description),
            ("Publisher", manifest.publisher),
            ("Source", f"{manifest.source} {manifest.source_url or ''}".strip()),
            ("Ships", edition if manifest.ships else "no"),
            ("Kind", f"{manifest.kind}, at least {manifest.least_features:,} features"),
            ("Lines", f"{accuracy}. {manifest.accuracy_source or ''}".strip()),
            ("Absence", "from it is a no" if manifest.complete else "from it proves nothing: it is not complete"),
            ("Asked for by", ", ".join(needed_by) or "no category of the default rulebook"),
            ("To load it", f"{manifest.load_command}. {manifest.how_to_load}"),
            ("Terms", manifest.terms),
            ("Known", f"{manifest.status}. {manifest.status_note or ''}".strip()),
        ]
    )
    page.items("FIELDS", field_words(manifest))
    if manifest.id == "designations":
        page.items("LISTS", [f"{name}: {known.label}" for name, known in load_lists().items()])
    page.items("CAUTIONS", manifest.cautions)


def field_words(manifest: Manifest) -> list[str]:
    """Return the publisher's fields, what each is, and which values it has."""
    roles: dict[str, list[str]] = {}
    for name, role in (
        (manifest.key_field, "key"),
        (manifest.name_field, "name"),
        (manifest.uncertainty_field, "uncertainty in feet"),
        (manifest.bound_field, "exact, inner, outer or nominal"),
        (manifest.from_field, "first day, as 2017-04-17 or 4/17/2017"),
        (manifest.until_field, "first day on which it no longer holds"),
    ):
        if name is not None:
            roles.setdefault(name, []).append(role)
    coded = {field.source_field: field for field in manifest.fields.values()}
    words = []
    for name in dict.fromkeys((*manifest.required_fields, *roles, *coded)):
        parts = ["required"] * (name in manifest.required_fields or name in roles) + roles.get(name, [])
        field = coded.get(name)
        if field is not None:
            if field.digits:
                parts.append(f"{field.digits} digits")
            if field.values:
                parts.append("values " + ", ".join(f"{value!r}" for value in field.values))
            if field.aliases:
                parts.append(f"also called {', '.join(field.aliases)}")
            if field.note:
                parts.append(field.note.rstrip("."))
        words.append(f"{name}: {'; '.join(parts) or 'as the publisher has it'}.")
    return words


def loaded_page(loaded: Loaded, console: Console) -> None:
    """Print what was read, what was changed and left out, and what was kept."""
    page, report = Page(console), loaded.report
    manifest = loaded.layer.manifest
    page.heading(f"{manifest.title.upper()} ({report.layer})")
    rows = [
        ("Read", f"{report.read:,} features from {report.source}"),
        ("Kept", f"{report.kept:,} features"),
        ("Coordinates", report.crs),
        (
            "Lines",
            f"known to {manifest.accuracy_ft:,.0f} ft" if manifest.accuracy_ft is not None else "accuracy not known",
        ),
        ("Absence", "from it is a no" if manifest.complete else "from it proves nothing: the layer is not complete"),
    ]
    renamed = [f"{ours} from {theirs}" for ours, theirs in report.fields.items() if ours != theirs]
    if renamed:
        rows.append(("Fields", ", ".join(renamed)))
    for field, values in report.unknown_values.items():
        named = ", ".join(value or "(nothing)" for value in values)
        rows.append(("Unknown", f"{field}: {named}; sites there stay undetermined"))
    for effect, words in _EFFECTS.items():
        rows += [(words.capitalize(), c.words) for c in report.changes if c.effect == effect]
    page.pairs(rows)
    if loaded.edition is None:
        page.put(Text("Nothing was kept (dry run)."))
    else:
        page.put(Text(plain(f"Kept as {loaded.edition.name}. {_use(loaded.edition)}")))


def _use(edition: Edition) -> str:
    """Return whether questions take an edition from now on."""
    atlas = load_atlas()
    used = atlas.edition(edition.layer_id)
    if used is not None and used.name == edition.name:
        return f"A question as of {atlas.as_of} takes it."
    other = used.name if used is not None else "what ships"
    return (
        f"A question as of {atlas.as_of} takes {other} all the same. Say on which days the edition holds "
        f"(--valid-from, --valid-until), or choose it with --edition {edition.name}."
    )


def status_page(status: LayerStatus, console: Console) -> None:
    """Print the editions of a store, and what is not loaded."""
    page = Page(console)
    page.put(Text(plain(f"Store {status.home}, as of {status.as_of}")))
    if status.editions:
        page.heading("EDITIONS")
    for edition in status.editions:
        _below(page, edition.name, _edition_words(edition))
    if not status.editions:
        kept = "It holds no edition of a layer" if status.parcels is not None else "It holds no edition"
        page.put(Text(f"{kept}: only what ships is used. Load layers: grownj layers import, or fetch."))
    if status.parcels is not None:
        page.heading("PARCELS AND ADDRESS POINTS")
        _below(page, status.parcels.name, _parcel_words(status.parcels))
    if status.missing:
        page.heading("NOT LOADED")
    for missing in status.missing:
        waiting = f"undetermined without it: {', '.join(missing.needed_by)}. " if missing.needed_by else ""
        _below(page, missing.layer, f"{missing.title}; {waiting}{missing.command}. {missing.how_to_load}")


def _edition_words(edition: EditionStatus) -> str:
    if edition.problem is not None:
        return f"DAMAGED: {edition.problem}"
    holds = "holds on the day" if edition.holds else "not known to hold on the day"
    words = [
        f"{edition.title}: {edition.features or 0:,} features, {edition.origin}, {edition.retrieved}",
        f"{'used' if edition.used else 'not used'} ({holds})",
    ]
    if not edition.complete:
        words.append("not complete: absence from it proves nothing")
    if edition.stale:
        words.append(f"{edition.age_days} days old: look for a later edition")
    if edition.base_changed:
        words.append("made from another edition of what ships: load it again")
    return "; ".join(words)


def _parcel_words(store: StoreStatus) -> str:
    if store.problem is not None:
        return f"DAMAGED: {store.problem}"
    counts = f"{store.parcels:,} parcels, {store.drawn:,} with an outline; {store.address_points:,} address points"
    words = [counts, f"{store.size_bytes / 1e6:,.0f} MB"]
    for part in store.parts:
        dated = f"edition {part.edition}" if part.edition else "no date stated"
        partial = ", partial" if part.partial else ""
        words.append(
            f"{part.source}: {part.rows:,} {part.kind.replace('_', ' ')} of "
            f"{municipalities_in_words(part.municipalities)}, {dated}, loaded {part.retrieved}{partial}"
        )
    if store.held:
        words.append(f"still held by a reader: {', '.join(store.held)}; the next import takes it away")
    return "; ".join(words)


def diff_page(found: Comparison, console: Console) -> None:
    """Print what changed between two editions, and which sites come out otherwise."""
    page, diff, moved = Page(console), found.diff, found.sites
    page.heading(f"{diff.old} ({diff.old_features:,} features) -> {diff.new} ({diff.new_features:,})")
    counts = [f"{diff.count(kind):,} {kind}" for kind in ("added", "removed", "moved", "reclassified")]
    page.put(Text(f"{diff.same:,} the same, {', '.join(counts)}."))
    page.put(Text(f"Ground gained {diff.gained_sqft:,.0f} sq ft, lost {diff.lost_sqft:,.0f} sq ft."))
    if diff.changes:
        page.items("CHANGES", [change.words for change in diff.changes[:_MOST_CHANGES]])
    if len(diff.changes) > _MOST_CHANGES:
        page.put(Text(f"{len(diff.changes) - _MOST_CHANGES:,} more are in the record (--json)."))
    if moved is not None:
        page.heading(f"SITES THAT COME OUT OTHERWISE: {len(moved):,}")
        for site in moved:
            outcomes = "; ".join(f"{name}: {old} -> {new}" for name, (old, new) in site.outcomes.items())
            _below(page, site.site, outcomes)


def _below(page: Page, name: str, words: str) -> None:
    """Print a name, and what is said of it indented below."""
    page.put(Text(plain(name), "bold"))
    grid = Table.grid()
    grid.add_column(width=4)
    grid.add_column(overflow="fold")
    grid.add_row("", Text(plain(words)))
    page.put(grid)
