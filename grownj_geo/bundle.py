"""A whole checked atlas in one file: editions of a store for a colleague."""

from __future__ import annotations

import tempfile
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, ValidationError

from grownj_geo.archive import unpack
from grownj_geo.determination import software
from grownj_geo.edition import EDITION_ID, LAYER_FILE, RECORD_FILE, Edition, Held
from grownj_geo.errors import LayerError
from grownj_geo.features import LayerFault
from grownj_geo.files import written_beside
from grownj_geo.manifest import STATUS_ORDER, load_manifests
from grownj_geo.refine import REFINABLE
from grownj_geo.strict import Strict

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from grownj_geo.store import Store

__all__ = ["export_bundle", "import_bundle"]

_INDEX = "bundle.json"


class _Index(Strict):
    """What a bundle holds."""

    format: Literal[1] = 1
    software: str
    made_at: datetime
    editions: tuple[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*@" + EDITION_ID[1:])], ...]


def export_bundle(held: Sequence[Held], target: str | os.PathLike[str]) -> Path:
    """Write editions into one file, which appears only when it is whole.

    Parameters
    ----------
    held
        The editions; each is read and compared with its checksum first.
    target
        The file, a zip archive.

    Raises
    ------
    LayerError
        If there is nothing to write, an edition is damaged, or the file cannot be written.
    """
    path = Path(target)
    if not held:
        raise LayerError("There is no edition to put into a bundle. Load layers first: grownj layers import, or fetch.")
    index = _Index(
        software=software(),
        made_at=datetime.now(UTC).replace(microsecond=0),
        editions=tuple(one.name for one in held),
    )
    try:
        with (
            written_beside(path) as beside,
            zipfile.ZipFile(beside, "w", compression=zipfile.ZIP_STORED) as archive,
        ):
            archive.writestr(_INDEX, index.model_dump_json(indent=2))
            for one in held:
                one.read()
                for name in (LAYER_FILE, RECORD_FILE):
                    archive.write(one.folder / name, f"{one.layer_id}/{one.edition_id}/{name}")
    except OSError as error:
        raise LayerError(
            f"The bundle {path.name} could not be written ({error.strerror or error}). Check the folder and its space."
        ) from error
    return path


def import_bundle(
    source: str | os.PathLike[str], store: Store, *, accept_statements: bool = False
) -> tuple[Edition, ...]:
    """Add the editions of a bundle to a store: all of them, or none where any is damaged.

    Every layer is checked as if it came from a stranger, and where it came from is the bundle's word.

    Parameters
    ----------
    source
        A file that `export_bundle` wrote.
    store
        Where to put them.
    accept_statements
        Take over what the editions state beyond the package's manifests: that they are complete, better known, or
        nearer to the truth.

    Raises
    ------
    LayerFault
        ``statements``: an edition states such things, and they were not accepted.
    LayerError
        If the file is no bundle, or an edition in it is damaged or of a layer that this version does not know.
    """
    path = Path(source)
    with tempfile.TemporaryDirectory(prefix="grownj-") as folder:
        root = Path(folder)
        unpack(path, root)
        held = [_held(root, name, path.name) for name in _index(root, path.name).editions]
        # In the order in which they were added: of two that fit a day alike, the latest is taken.
        held.sort(key=lambda one: one.edition.added_at if one.edition else datetime.max.replace(tzinfo=UTC))
        layers = [one.read() for one in held]
        for layer in layers:
            if layer.problem is not None:
                raise LayerError(f"The bundle {path.name} cannot be used: {layer.problem}")
        editions = [one.edition for one in held if one.edition is not None]
        stronger = [words for edition in editions for words in _stronger(edition)]
        if stronger and not accept_statements:
            raise LayerFault(
                "statements",
                f"The bundle {path.name} states what makes answers surer than this package does: "
                f"{'; '.join(stronger)}. Ask whoever made it; take it over with --accept-statements.",
            )
        return tuple(
            store.add(layer, origin=edition.origin.model_copy(update={"bundle": path.name}), report=edition.report)
            for layer, edition in zip(layers, editions, strict=True)
        )


def _stronger(edition: Edition) -> list[str]:
    """Return what an edition states that makes answers surer than the package's manifest does."""
    base, stated = load_manifests()[edition.layer_id], edition.manifest
    found = []
    if stated.complete and not base.complete:
        found.append("it is complete")
    if stated.accuracy_ft is not None and (base.accuracy_ft is None or stated.accuracy_ft < base.accuracy_ft):
        known = "not known" if base.accuracy_ft is None else f"{base.accuracy_ft:g} ft"
        found.append(f"its lines are known to {stated.accuracy_ft:g} ft (here: {known})")
    if STATUS_ORDER.index(stated.status) < STATUS_ORDER.index(base.status):
        found.append(f"it is {stated.status} (here: {base.status})")
    if not set(base.cautions) <= set(stated.cautions):
        found.append("cautions are left out")
    if stated.refines and (edition.layer_id not in REFINABLE or edition.origin.how != "refinement"):
        found.append("it refines what ships")
    return [f"{edition.name}: {words}" for words in found]


def _index(root: Path, name: str) -> _Index:
    try:
        return _Index.model_validate_json((root / _INDEX).read_bytes())
    except (OSError, ValidationError) as error:
        raise LayerError(
            f"{name} is no bundle of layers: it has no readable {_INDEX}. Expected a file that "
            "grownj layers export --bundle wrote; load single layers with: grownj layers import LAYER FILE."
        ) from error


def _held(root: Path, name: str, bundle: str) -> Held:
    layer_id, _, edition_id = name.partition("@")
    folder = root / layer_id / edition_id
    try:
        edition = Edition.model_validate_json((folder / RECORD_FILE).read_bytes())
    except (OSError, ValidationError) as error:
        words = f"The bundle {bundle} is damaged: the record of {name} cannot be read. Export it again."
        raise LayerError(words) from error
    if edition.name != name or edition.id != edition.stated.edition_id(edition.sha256):
        raise LayerError(f"The bundle {bundle} is damaged, or was changed: the record of {name} is not its own.")
    return Held(layer_id, edition_id, folder, edition)
