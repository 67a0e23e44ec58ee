"""A layer from a file: read, cleaned, checked, told about, and kept as an edition of the user's store."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from grownj_geo.edition import Origin
from grownj_geo.errors import LayerError
from grownj_geo.extentcheck import check_extent
from grownj_geo.features import LayerFault, LoadOptions, LoadReport
from grownj_geo.manifest import load_manifests
from grownj_geo.refine import REFINABLE, refine
from grownj_geo.store import MadeFrom, Store

if TYPE_CHECKING:
    import os

    from grownj_geo.atlas import Atlas
    from grownj_geo.edition import Edition
    from grownj_geo.features import Features
    from grownj_geo.layer import Layer
    from grownj_geo.manifest import Manifest

__all__ = ["Base", "EditionFacts", "Loaded", "import_layer", "keep_layer", "manifest_of", "prepare_layer"]

_BLOCK = 1 << 20


@dataclass(frozen=True)
class EditionFacts:
    """What whoever loads an edition states of it.

    Attributes
    ----------
    edition
        The publisher's date of the data.
    valid_from, valid_until
        First day on which the edition holds, and first day on which it no longer does.
    accuracy_ft
        How far its lines may be from the truth, in feet; the manifest's figure by default.
    complete
        It is known to hold every such area, so that absence from it is a no; the manifest's word by default.
    """

    edition: date | None = None
    valid_from: date | None = None
    valid_until: date | None = None
    accuracy_ft: float | None = None
    complete: bool = False


@dataclass(frozen=True, eq=False)
class Base:
    """What a user's file refines: the layer, the atlas that it is from, and its edition; None for what ships."""

    layer: Layer
    atlas: Atlas
    edition: str | None


@dataclass(frozen=True, eq=False)
class Loaded:
    """A layer that was loaded, what was changed on the way, and the edition that was kept; None on a dry run."""

    layer: Layer
    report: LoadReport
    edition: Edition | None


def manifest_of(layer_id: str) -> Manifest:
    """Return the package's manifest of a layer.

    Raises
    ------
    LayerError
        If there is no such layer.
    """
    manifests = load_manifests()
    if layer_id not in manifests:
        from difflib import get_close_matches  # noqa: PLC0415 - only where it is used

        near = get_close_matches(layer_id, manifests, n=1)
        meant = f" Did you mean {near[0]}?" if near else ""
        raise LayerError(f"There is no layer {layer_id!r}.{meant} There are: {', '.join(sorted(manifests))}.")
    return manifests[layer_id]


def import_layer(
    layer_id: str,
    path: str | os.PathLike[str],
    *,
    store: Store | None = None,
    sublayer: str | None = None,
    encoding: str | None = None,
    options: LoadOptions | None = None,
    facts: EditionFacts | None = None,
    poverty: str | os.PathLike[str] | None = None,
    acs_edition: str | None = None,
    dry_run: bool = False,
) -> Loaded:
    """Load a layer from a file and keep it as an edition.

    Parameters
    ----------
    layer_id
        Which layer it is.
    path
        FileGDB, shapefile, GeoPackage, GeoJSON, KML, GeoParquet or CSV; or a zip archive with one of them.
    store
        Where to keep it; the user's own by default.
    sublayer
        Which of several layers in the file.
    encoding
        What the text is in, where the file does not say so or is wrong.
    options
        Fields, constants, coordinate system, strictness.
    facts
        Dates and accuracy of the edition.
    poverty
        For census tracts: a table of their poverty (B17001), which is joined to the boundaries.
    acs_edition
        The five-year edition of that table, such as ``"2011-2015"``.
    dry_run
        Check and report, keep nothing.

    Raises
    ------
    LayerFault
        If the file cannot be read as that layer; nothing is kept.
    LayerError
        If the store cannot be written.
    """
    from grownj_geo.readers import read_features  # noqa: PLC0415 - brings in GDAL

    place = Path(path)
    manifest = manifest_of(layer_id)
    features = read_features(place, sublayer=sublayer, kind=manifest.kind, encoding=encoding)
    if acs_edition is not None and poverty is None:
        raise LayerFault(
            "option_not_used",
            "--acs is the edition of a table of poverty. Give the table with --poverty, or leave it out.",
        )
    if poverty is not None:
        vintage = None if options is None else options.constants.get("TRACT_VINTAGE")
        features = _with_poverty(features, layer_id, Path(poverty), acs_edition, vintage)
    origin = Origin(
        how="refinement" if layer_id in REFINABLE else "import",
        source=place.name,
        sha256=_sha256(place),
        retrieved_at=datetime.now(UTC).replace(microsecond=0),
        publisher_date=None if facts is None else facts.edition,
        base_sha256=manifest.sha256 if layer_id in REFINABLE else None,
    )
    if layer_id in REFINABLE:
        if acs_edition is not None:
            raise LayerFault("option_not_used", f"--acs means nothing for {layer_id}. Leave it out.")
        return _import_refined(
            features, layer_id, origin=origin, store=store or Store(), options=options, facts=facts, dry_run=dry_run
        )
    layer, report = prepare_layer(features, layer_id, options=options, facts=facts)
    del features  # a large layer's raw geometries are not needed any more
    edition = None if dry_run else keep_layer(layer, report, origin=origin, store=store)
    return Loaded(layer, report, edition)


def _import_refined(
    features: Features,
    layer_id: str,
    *,
    origin: Origin,
    store: Store,
    options: LoadOptions | None,
    facts: EditionFacts | None,
    dry_run: bool,
) -> Loaded:
    """Refine a layer and keep it; once more where another run has refined it meanwhile, so that neither is lost."""

    def once() -> Loaded:
        base = _base(layer_id, store)
        layer, report = prepare_layer(features, layer_id, options=options, facts=facts, base=base)
        if dry_run:
            return Loaded(layer, report, None)
        edition = store.add(layer, origin=_after(origin, base, store), report=report, made_from=MadeFrom(base.edition))
        return Loaded(layer, report, edition)

    try:
        return once()
    except LayerFault as error:
        if error.fault != "base_moved":
            raise
    # A second time in a row is told: whoever loads then decides when to go on.
    return once()


def _after(origin: Origin, base: Base, store: Store) -> Origin:
    """Return where a refinement came from, after those that it builds on."""
    before = store.find(base.edition).edition if base.edition is not None else None
    if before is None or before.origin.source.rpartition(", then ")[2] == origin.source:
        return origin if before is None else origin.model_copy(update={"source": before.origin.source})
    return origin.model_copy(update={"source": f"{before.origin.source}, then {origin.source}"})


def _base(layer_id: str, store: Store) -> Base:
    """Return what a user's file refines: the latest refinement in the store, else what ships.

    Raises
    ------
    LayerError
        If that cannot be read.
    """
    from grownj_geo.atlas import load_atlas  # noqa: PLC0415 - only where it is used

    atlas = load_atlas(store=store)
    layer = atlas.layer(layer_id)
    if layer is None:
        raise LayerError(str(atlas.state(layer_id).problem))
    held = atlas.edition(layer_id)
    return Base(layer, atlas, None if held is None else held.name)


def _with_poverty(features: Features, layer_id: str, table: Path, edition: str | None, vintage: str | None) -> Features:
    from grownj_geo.poverty import read_poverty_table  # noqa: PLC0415 - only where it is used
    from grownj_geo.tracts import join_poverty  # noqa: PLC0415 - only where it is used

    if layer_id != "census_tract_poverty":
        raise LayerError(f"A table of poverty belongs to census_tract_poverty, not to {layer_id}. Leave it out.")
    rates = read_poverty_table(table)
    edition = edition or rates.edition
    if edition is None:
        raise LayerError(f"{table.name} does not say of which five-year edition it is. State it: --acs 2011-2015.")
    return join_poverty(features, rates, edition=edition, vintage=vintage)


def prepare_layer(
    features: Features,
    layer_id: str,
    *,
    options: LoadOptions | None = None,
    facts: EditionFacts | None = None,
    base: Base | None = None,
) -> tuple[Layer, LoadReport]:
    """Make a checked layer out of features as they came, with what is stated of the edition in its manifest.

    Parameters
    ----------
    base
        What the features refine, where they are a user's better knowledge of a layer that ships.

    Raises
    ------
    LayerFault
        If they cannot be made that layer.
    """
    from grownj_geo.atlas import Atlas  # noqa: PLC0415 - only where it is used
    from grownj_geo.makelayer import make_layer  # noqa: PLC0415 - only where it is used

    options, facts = options or LoadOptions(), facts or EditionFacts()
    if base is not None:
        return _refined(features, base, options, facts)
    shipped = Atlas()
    options = replace(options, municipal_lines=shipped.layer("municipalities"))
    stated = _stated(manifest_of(layer_id), features.source, facts, partial=options.partial)
    layer, report = make_layer(features, stated, options)
    check_extent(layer, shipped)
    return layer, report


def _refined(features: Features, base: Base, options: LoadOptions, facts: EditionFacts) -> tuple[Layer, LoadReport]:
    """Put the user's better knowledge into what ships."""
    layer_id = base.layer.id
    unused = {
        "--valid-from": facts.valid_from is not None,
        "--valid-until": facts.valid_until is not None,
        "--complete": facts.complete,
    }
    if any(unused.values()):
        named = ", ".join(name for name, given in unused.items() if given)
        raise LayerFault(
            "option_not_used",
            f"{features.source}: {named}: nothing where rows are put into {layer_id}, which holds on the days that it "
            "held before. Leave it out; rows have columns for their own days.",
        )
    refined = refine(
        layer_id,
        features,
        base=base.layer,
        manifest=manifest_of(layer_id),
        source=features.source,
        atlas=base.atlas,
        stated_on=facts.edition,
        options=options,
        accuracy_ft=facts.accuracy_ft,
    )
    changes = (*features.changes, *refined.changes)
    meddled = [change.words.rstrip(".") for change in changes if change.effect != "noted"]
    if options.strict and meddled:
        raise LayerFault(
            "strict",
            f"{features.source}: nothing may be changed under strict loading, and: {'. '.join(meddled)}. Correct the "
            "rows, or load them without it.",
        )
    report = LoadReport(
        layer=layer_id,
        source=features.source,
        read=len(features),
        kept=len(refined.layer),
        crs=refined.crs,
        fields=refined.fields,
        unknown_values={},
        changes=changes,
        added_accuracy_ft=refined.added_accuracy_ft,
    )
    return refined.layer, report


def _stated(manifest: Manifest, source: str, facts: EditionFacts, *, partial: bool) -> Manifest:
    update: dict[str, object] = {"source": f"{source}, as its user loaded it"}
    for name in ("edition", "valid_from", "valid_until"):
        if getattr(facts, name) is not None:
            update[name] = getattr(facts, name)
    if facts.accuracy_ft is not None:
        update |= {"accuracy_ft": facts.accuracy_ft, "accuracy_source": "stated by the user"}
    if facts.edition is not None and facts.edition > datetime.now(UTC).date() + timedelta(days=1):
        raise LayerError(f"The edition is dated {facts.edition}, which is still to come. Correct its date.")
    if facts.complete and partial:
        raise LayerError("A layer cannot be both partial and complete. Leave one of the two out.")
    if facts.complete and not manifest.complete:
        words = "Its user states that the layer holds every such area."
        update |= {"complete": True, "cautions": (*manifest.cautions, words)}
    if facts.valid_from and facts.valid_until and facts.valid_from >= facts.valid_until:
        raise LayerError(
            f"The edition holds from {facts.valid_from} and no longer on {facts.valid_until}: no day is left. "
            "Expected the first day before the day on which it ends; correct either."
        )
    return manifest.model_copy(update=update)


def keep_layer(layer: Layer, report: LoadReport, *, origin: Origin, store: Store | None = None) -> Edition:
    """Keep a checked layer as an edition of a store, the user's own by default.

    Raises
    ------
    LayerError
        If the store cannot be written.
    """
    return (store or Store()).add(layer, origin=origin, report=report)


def _sha256(path: Path) -> str | None:
    """Return the checksum of a file; None for a folder."""
    if not path.is_file():
        return None
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
