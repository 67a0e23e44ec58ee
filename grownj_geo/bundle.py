"""A whole checked atlas in one file: editions of a store for a colleague."""

from __future__ import annotations

import os
import tempfile
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from grownj_geo.archive import unpack
from grownj_geo.determination import software
from grownj_geo.errors import LayerError
from grownj_geo.store import EDITION_ID, LAYER_FILE, RECORD_FILE, Edition, Held

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grownj_geo.store import Store

__all__ = ["export_bundle", "import_bundle"]

_INDEX = "bundle.json"


class _Index(BaseModel):
    """What a bundle holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    index = _Index(
        software=software(),
        made_at=datetime.now(UTC).replace(microsecond=0),
        editions=tuple(one.name for one in held),
    )
    try:
        try:
            with zipfile.ZipFile(beside, "w", compression=zipfile.ZIP_STORED) as archive:
                archive.writestr(_INDEX, index.model_dump_json(indent=2))
                for one in held:
                    one.read()
                    for name in (LAYER_FILE, RECORD_FILE):
                        archive.write(one.folder / name, f"{one.layer_id}/{one.edition_id}/{name}")
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise LayerError(
            f"The bundle {path.name} could not be written ({error.strerror or error}). Check the folder and its space."
        ) from error
    return path


def import_bundle(source: str | os.PathLike[str], store: Store) -> tuple[Edition, ...]:
    """Add the editions of a bundle to a store: all of them, or none where any is damaged.

    Every layer is checked as if it came from a stranger.

    Raises
    ------
    LayerError
        If the file is no bundle, or an edition in it is damaged or of a layer that this version does not know.
    """
    path = Path(source)
    with tempfile.TemporaryDirectory(prefix="grownj-") as folder:
        root = Path(folder)
        unpack(path, root)
        held = [_held(root, name, path.name) for name in _index(root, path.name).editions]
        layers = [one.read() for one in held]
        for layer in layers:
            if layer.problem is not None:
                raise LayerError(f"The bundle {path.name} cannot be used: {layer.problem}")
        return tuple(
            store.add(layer, origin=one.origin, report=one.report)
            for layer, one in zip(layers, [one.edition for one in held], strict=True)
            if one is not None
        )


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
    if edition.name != name:
        raise LayerError(f"The bundle {bundle} is damaged: the record of {name} is that of {edition.name}.")
    return Held(layer_id, edition_id, folder, edition)
