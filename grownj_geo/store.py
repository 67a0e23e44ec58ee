"""The user's own store of layers: dated editions on disk, each whole, checked, and never changed again.

An edition is a folder with the layer's file and a record of what it is and where it came from. It is written beside,
read back, and renamed into place, so that a reader sees either nothing or all of it.
"""

from __future__ import annotations

import hashlib
import math
import os
import shutil
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import numpy as np
import shapely
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from grownj_geo.errors import LayerError
from grownj_geo.features import LayerFault, LoadReport
from grownj_geo.layercheck import check_layer, is_blank
from grownj_geo.layerfile import NOT_FIELDS, read_layer, write_layer
from grownj_geo.manifest import Manifest, Status, load_manifests

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grownj_geo.layer import Layer

__all__ = [
    "EDITION_ID",
    "LAYER_FILE",
    "RECORD_FILE",
    "Edition",
    "Held",
    "MadeFrom",
    "Origin",
    "Stated",
    "Store",
    "edition_for",
    "home_folder",
]

LAYER_FILE, RECORD_FILE = "layer.parquet", "edition.json"
EDITION_ID = r"^(\d{4}-\d{2}-\d{2}|undated)-[0-9a-f]{8}$"

_NEVER = datetime.min.replace(tzinfo=UTC)
_NEVER_STATED = frozenset({"ships", "file", "sha256"})
_LOCK_SECONDS = 60.0


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Origin(_Record):
    """Where an edition came from. No clock of it reaches an answer: `words` say what, not when.

    Attributes
    ----------
    how
        Imported from a file, fetched from a service, or a refinement of what ships.
    source
        The file's name or the service's address.
    sha256
        Checksum of the file that was imported; None for a service.
    retrieved_at
        When it was read, in UTC.
    publisher_date
        The day that the publisher states for the data, where one is known.
    announced
        How many features the source said it has, where it said so.
    base_sha256
        Of a refinement: checksum of the shipped file that it was made from.
    terms_accepted_at
        When the user accepted the publisher's terms; None where none had to be accepted.
    where
        Which features of a service the user asked for; None for all.
    bundle
        The bundle in which it was handed on, whose word all of this is then.
    """

    how: Literal["import", "fetch", "refinement"]
    source: str
    sha256: str | None = None
    retrieved_at: datetime
    publisher_date: date | None = None
    announced: int | None = None
    base_sha256: str | None = None
    terms_accepted_at: datetime | None = None
    where: str | None = None
    bundle: str | None = None

    @property
    def words(self) -> str:
        """Where it came from, in words for people."""
        done = {"import": "imported from", "fetch": "fetched from", "refinement": "what ships, refined by"}
        chosen = f" where {self.where}" if self.where else ""
        handed = f", as the bundle {self.bundle} says" if self.bundle else ""
        return f"{done[self.how]} {self.source}{chosen}{handed}"


class Stated(_Record):
    """What an edition states of itself beyond, or against, the layer's manifest in the package.

    Nothing else of a manifest can be changed by what is loaded: which values mean what stays the package's word.
    """

    edition: date | None = None
    valid_from: date | None = None
    valid_until: date | None = None
    publisher: str | None = None
    source: str | None = None
    source_url: str | None = None
    accuracy_ft: Annotated[float, Field(ge=0)] | None = None
    accuracy_source: str | None = None
    complete: bool | None = None
    least_features: Annotated[int, Field(ge=1)] | None = None
    refines: bool | None = None
    status: Status | None = None
    status_note: str | None = None
    cautions: tuple[str, ...] | None = None

    @classmethod
    def of(cls, manifest: Manifest) -> Stated:
        """Return what a layer's manifest states that the package's does not.

        Raises
        ------
        LayerError
            If it differs in what an edition cannot state.
        """
        base = _packaged(manifest.id)
        changed = {n for n in Manifest.model_fields if getattr(manifest, n) != getattr(base, n)} - _NEVER_STATED
        beyond = sorted(changed - set(cls.model_fields))
        if beyond:
            raise LayerError(
                f"The layer {manifest.id} has a manifest of its own ({', '.join(beyond)}); that cannot be kept."
            )
        return cls.model_validate({name: getattr(manifest, name) for name in changed})

    def edition_id(self, sha256: str) -> str:
        """Return the identifier of an edition: its date, and a checksum over its file's and what it states."""
        digest = hashlib.sha256((sha256 + self.model_dump_json(exclude_unset=True)).encode()).hexdigest()[:8]
        return f"{self.edition or 'undated'}-{digest}"

    def onto(self, manifest: Manifest) -> Manifest:
        """Return the manifest with what is stated."""
        update = {name: getattr(self, name) for name in self.model_fields_set}
        return manifest.model_copy(update={"ships": False, "file": None, "sha256": None} | update)


class Edition(_Record):
    """One stored edition of a layer, as its record file says.

    Attributes
    ----------
    sha256, size_bytes
        Of the layer's file.
    """

    format: Literal[1] = 1
    id: Annotated[str, Field(pattern=EDITION_ID)]
    layer_id: str
    stated: Stated
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    size_bytes: int
    features: int
    origin: Origin
    report: LoadReport
    added_at: datetime

    @cached_property
    def manifest(self) -> Manifest:
        """The package's manifest of the layer with what the edition states.

        Raises
        ------
        LayerError
            If this version of the package does not know the layer.
        """
        return self.stated.onto(_packaged(self.layer_id))

    @property
    def name(self) -> str:
        """The edition as commands call it: ``"planning_areas@2018-01-16-0a1b2c3d"``."""
        return f"{self.layer_id}@{self.id}"


@dataclass(frozen=True)
class Held:
    """An edition's folder in a store: the edition, or why its record cannot be read.

    Attributes
    ----------
    layer_id, edition_id
        By the names of its folders.
    """

    layer_id: str
    edition_id: str
    folder: Path
    edition: Edition | None
    problem: str | None = None

    @property
    def name(self) -> str:
        """The edition as commands call it."""
        return f"{self.layer_id}@{self.edition_id}"

    def read(self) -> Layer:
        """Return the layer after comparing its file's checksum with the record.

        Raises
        ------
        LayerError
            If the record or the file is missing, damaged or was changed.
        """
        if self.edition is None:
            raise LayerError(self.problem or f"The edition {self.name} has no record.")
        path = self.folder / LAYER_FILE
        remedy = f"Load it again, or take it away: grownj layers remove {self.name}"
        try:
            content = path.read_bytes()
        except OSError as error:
            raise LayerError(f"The edition {self.name} could not be read ({error.strerror}). {remedy}.") from error
        found = hashlib.sha256(content).hexdigest()
        if found != self.edition.sha256:
            raise LayerError(
                f"The edition {self.name} was changed on disk: its checksum is {found[:12]}, expected "
                f"{self.edition.sha256[:12]}. {remedy}."
            )
        return read_layer(self.edition.manifest, content, name=f"{self.name}.parquet", checked=True)


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
        found = (_held(root / layer / edition) for layer in layers for edition in _folders(root / layer))
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
            known = _held(place)
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
            self.home.mkdir(parents=True, exist_ok=True)
            with filelock.FileLock(self.home / ".lock", timeout=_LOCK_SECONDS):
                incoming = self.home / "incoming"
                # Nobody else writes now: what lies here was left by a run that was stopped.
                shutil.rmtree(incoming, ignore_errors=True)
                beside = incoming / f"add-{uuid.uuid4().hex}"
                beside.mkdir(parents=True)
                try:
                    yield beside
                finally:
                    shutil.rmtree(incoming, ignore_errors=True)
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


def edition_for(held: Sequence[Held], day: date) -> Held | None:
    """Return which of a layer's editions is used for a day; None where what ships is.

    One that holds on the day, the latest of several. Where none does: what ships, if it holds; else the nearest in
    time, the earlier of two; one without a date comes last. An edition whose record cannot be read comes before all:
    what it says is not known, and nothing takes its place.

    Parameters
    ----------
    held
        The editions of one layer, at least one.
    """
    for one in held:
        if one.edition is None:
            return one
    best = min(held, key=lambda one: _rank(one, day))
    shipped = load_manifests().get(best.layer_id)
    if best.edition is not None and not best.edition.manifest.covers(day) and shipped is not None:
        return None if shipped.ships and shipped.covers(day) else best
    return best


def _rank(held: Held, day: date) -> tuple[float, ...]:
    edition = held.edition
    assert edition is not None  # noqa: S101 - the caller looked
    manifest = edition.manifest
    dates = [d.toordinal() for d in (manifest.valid_from, manifest.edition, manifest.valid_until) if d is not None]
    first, last = (dates[0], dates[-1]) if dates else (math.inf, math.inf)
    published = (manifest.edition or manifest.valid_from or date.min).toordinal()
    latest = -edition.added_at.timestamp()
    if manifest.covers(day):
        begun = (manifest.valid_from or manifest.edition or date.min).toordinal()
        return 0.0, -begun, -published, latest
    away = max(first - day.toordinal(), day.toordinal() - last, 0.0) if dates else math.inf
    return 1.0, away, first, latest


def _packaged(layer_id: str) -> Manifest:
    manifests = load_manifests()
    if layer_id not in manifests:
        raise LayerError(f"There is no layer {layer_id!r}; there are {', '.join(sorted(manifests))}.")
    return manifests[layer_id]


def _folders(root: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise LayerError(
            f"The store's folder {root} cannot be read ({error.strerror}). Check its permissions."
        ) from error


def _held(folder: Path) -> Held | None:
    """Return what a folder holds; None where it is gone."""
    layer_id, edition_id = folder.parent.name, folder.name
    try:
        edition = Edition.model_validate_json((folder / RECORD_FILE).read_bytes())
        own = edition.stated.edition_id(edition.sha256) == edition.id
        if own and edition.id == edition_id and edition.layer_id == layer_id:
            _ = edition.manifest
            return Held(layer_id, edition_id, folder, edition)
        problem = "its record was changed" if edition.name == f"{layer_id}@{edition_id}" else f"it says {edition.name}"
    except OSError as error:
        if not folder.exists():
            return None
        problem = f"its record could not be read ({error.strerror})"
    except ValidationError as error:
        problem = f"its record does not follow the format ({error.error_count()} problems)"
    except LayerError as error:
        problem = str(error).rstrip(".")
    name = f"{layer_id}@{edition_id}"
    words = f"The edition {name} is damaged: {problem}. Take it away (grownj layers remove {name}) and load it again."
    return Held(layer_id, edition_id, folder, None, words)


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
