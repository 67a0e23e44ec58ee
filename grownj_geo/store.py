"""The user's own store of layers: dated editions on disk, each whole, checked, and never changed again.

An edition is a folder with the layer's file and a record of what it is and where it came from. It is written beside,
read back, and renamed into place, so that a reader sees either nothing or all of it.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import shapely

from grownj_geo.edition import LAYER_FILE, RECORD_FILE, Edition, Held, Stated, held_in
from grownj_geo.errors import LayerError
from grownj_geo.features import LayerFault, LoadReport
from grownj_geo.files import one_writer
from grownj_geo.layercheck import check_layer, is_blank
from grownj_geo.layerfile import NOT_FIELDS, write_layer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grownj_geo.edition import Origin
    from grownj_geo.layer import Layer

__all__ = ["MadeFrom", "Store", "home_folder"]

_NEVER = datetime.min.replace(tzinfo=UTC)
_LOCK_SECONDS = 60.0


def home_folder() -> Path:
    """Return the folder of the user's own data: ``GROWNJ_HOME``, or the platform's usual place."""
    named = os.environ.get("GROWNJ_HOME")
    if named:
        # Absolute, so that it does not move with whatever folder a command is typed in later in the same run.
        return Path(named).expanduser().absolute()
    import platformdirs  # noqa: PLC0415 - only where no folder is named

    return platformdirs.user_data_path("grownj-geo", appauthor=False)


class MadeFrom(NamedTuple):
    """What a layer was made from: the name of an edition; None for what ships."""

    edition: str | None


class Store:
    """Editions of layers in a folder.

    Any number of processes may read while one writes.

    Parameters
    ----------
    home
        The folder; made when something is first added. `home_folder` by default.
    """

    def __init__(self, home: str | os.PathLike[str] | None = None) -> None:
        self.home = home_folder() if home is None else Path(home)

    def held(self, layer_id: str | None = None) -> tuple[Held, ...]:
        """Return every edition of one layer, or of all, in order of layer, date and identifier."""
        root = self.home / "layers"
        layers = [layer_id] if layer_id is not None else _folders(root)
        found = (held_in(root / layer / edition) for layer in layers for edition in _folders(root / layer))
        return tuple(held for held in found if held is not None)

    def find(self, name: str) -> Held:
        """Return the edition of a name such as ``"planning_areas@2018-01-16-0a1b2c3d"``.

        The beginning of the identifier is enough where it fits one edition, and the layer alone where it has one.

        Raises
        ------
        LayerError
            If no edition fits, or several do.
        """
        layer_id, _, wanted = name.partition("@")
        every = self.held(layer_id)
        fitting = [held for held in every if held.edition_id.startswith(wanted)]
        if len(fitting) == 1:
            return fitting[0]
        there = ", ".join(held.name for held in (fitting or every)) or "none"
        raise LayerError(
            f"{'Several editions fit' if fitting else 'There is no edition'} {name!r}; there are: {there}. "
            "Give one of these names, or see: grownj layers status."
        )

    def latest(self, layer_id: str) -> Held | None:
        """Return the edition of a layer that was added last; None where there is none that can be read."""
        readable = [held for held in self.held(layer_id) if held.edition is not None]
        return max(readable, key=lambda held: held.edition.added_at if held.edition else _NEVER, default=None)

    def add(self, layer: Layer, *, origin: Origin, report: LoadReport, made_from: MadeFrom | None = None) -> Edition:
        """Write a layer as a new edition, read it back, check it, and put it into place.

        Parameters
        ----------
        layer
            The layer, which is checked here once more. Its manifest says what the edition is: dates, accuracy, source.
        made_from
            The edition that the layer was made from, where it must still be the latest: nobody's work is lost then.

        Returns
        -------
        Edition
            The new one, or the one that is there already with the same features and manifest.

        Raises
        ------
        LayerFault
            ``base_moved`` where another edition was added since.
        LayerError
            If the store cannot be written, or what was written is not what was meant. Nothing is changed then.
        """
        check_layer(layer)
        content = write_layer(layer)
        sha256 = hashlib.sha256(content).hexdigest()
        stated = Stated.of(layer.manifest)
        edition = Edition(
            id=stated.edition_id(sha256),
            layer_id=layer.id,
            stated=stated,
            sha256=sha256,
            size_bytes=len(content),
            features=len(layer),
            origin=origin,
            report=report,
            added_at=datetime.now(UTC),
        )
        with self._writing() as beside:
            if made_from is not None:
                self._check_base(layer.id, made_from)
            place = self.home / "layers" / edition.layer_id / edition.id
            known = held_in(place)
            if known is not None and known.edition is not None:
                known.read()
                # Whoever loads it again wants it to be the latest.
                again = known.edition.model_copy(update={"added_at": edition.added_at})
                _write(beside / RECORD_FILE, again.model_dump_json(indent=2, exclude_unset=True).encode())
                (beside / RECORD_FILE).replace(place / RECORD_FILE)
                return again
            _write(beside / LAYER_FILE, content)
            del content
            _write(beside / RECORD_FILE, edition.model_dump_json(indent=2, exclude_unset=True).encode())
            # What is on disk is read and compared before anybody can see it.
            _compare(Held(edition.layer_id, edition.id, beside, edition).read(), layer, edition.name)
            place.parent.mkdir(parents=True, exist_ok=True)
            if known is not None:  # its record cannot be read
                known.folder.replace(beside.with_name(f"gone-{uuid.uuid4().hex}"))
            beside.replace(place)
        return edition

    def _check_base(self, layer_id: str, made_from: MadeFrom) -> None:
        latest = self.latest(layer_id)
        if (latest.name if latest else None) != made_from.edition:
            raise LayerFault(
                "base_moved",
                f"While {layer_id} was being refined, another run refined it too. Nothing was changed; run it again.",
            )

    def remove(self, held: Held) -> None:
        """Take an edition out of the store.

        Raises
        ------
        LayerError
            If the store cannot be written.
        """
        with self._writing() as beside:
            held.folder.replace(beside / held.edition_id)

    def verify(self) -> tuple[tuple[Held, str | None], ...]:
        """Return every edition with what is wrong with it: its record, its checksum, its features; None if nothing."""
        found = []
        for held in self.held():
            problem = held.problem
            if problem is None:
                try:
                    held.read()
                except LayerError as error:
                    problem = str(error)
            found.append((held, problem))
        return tuple(found)

    @contextmanager
    def _writing(self) -> Iterator[Path]:
        """Lock the store for one writer, and give it an empty folder of its own that goes when it is done."""
        import filelock  # noqa: PLC0415 - writing is rare

        try:
            with one_writer(self.home, timeout_s=_LOCK_SECONDS) as beside:
                yield beside
        except filelock.Timeout as error:
            raise LayerError(
                f"The store {self.home} is being written by another run for more than {_LOCK_SECONDS:.0f} s. "
                "Wait for it, or stop it, and try again."
            ) from error
        except OSError as error:
            raise LayerError(
                f"The store {self.home} could not be written ({error.strerror or error}). Nothing was changed. "
                "Check its permissions and the free space, or set GROWNJ_HOME to another folder."
            ) from error


def _folders(root: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise LayerError(
            f"The store's folder {root} cannot be read ({error.strerror}). Check its permissions."
        ) from error


def _compare(again: Layer, layer: Layer, name: str) -> None:
    """Refuse an edition that does not come back from the disk as the layer that was checked."""
    same = len(again) == len(layer) and np.array_equal(again.bounds, layer.bounds, equal_nan=True)
    if same and layer.lonlat is not None:
        same = again.lonlat is not None and np.array_equal(again.lonlat, layer.lonlat)
    elif same and again.wkb is not None:
        same = all(shapely.to_wkb(layer.geometry(i)) == content for i, content in enumerate(again.wkb))
    # A column that mixes kinds of values is kept as text: what the rules read is the same.
    same = same and all(
        column in again.columns and [*map(_plain, again.columns[column])] == [*map(_plain, values)]
        for column, values in layer.columns.items()
        if column not in NOT_FIELDS
    )
    if not same:
        raise LayerError(f"The edition {name} did not come back from the disk as it was written. Check the disk.")


def _plain(value: object) -> str:
    return "" if is_blank(value) else str(value)


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        # Renaming a folder whose files are not on the disk yet could show an empty one after a power cut.
        os.fsync(file.fileno())
