"""Editions of a layer: what one states, where it came from, its folder on disk, and which one a day takes."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, ValidationError

from grownj_geo.errors import LayerError
from grownj_geo.features import LoadReport
from grownj_geo.layerfile import read_layer
from grownj_geo.manifest import Manifest, Status, load_manifests
from grownj_geo.strict import Strict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from grownj_geo.layer import Layer

__all__ = [
    "EDITION_ID",
    "LAYER_FILE",
    "RECORD_FILE",
    "Edition",
    "Held",
    "Origin",
    "Stated",
    "Switch",
    "edition_for",
    "held_in",
    "switches",
]

LAYER_FILE, RECORD_FILE = "layer.parquet", "edition.json"
EDITION_ID = r"^(\d{4}-\d{2}-\d{2}|undated)-[0-9a-f]{8}$"

_NEVER_STATED = frozenset({"ships", "file", "sha256"})


class Origin(Strict):
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


class Stated(Strict):
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


class Edition(Strict):
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


def held_in(folder: Path) -> Held | None:
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


@dataclass(frozen=True)
class Switch:
    """A day on which another edition of a layer is used, or the used one begins or ends to hold.

    Attributes
    ----------
    day
        The first day on which it is so.
    was, now
        The edition of the day before, and of the day; None for what ships.
    held, holds
        Whether that of the day before held then, and that of the day holds on it. What ships always counts as holding.
    """

    day: date
    was: Held | None
    now: Held | None
    held: bool
    holds: bool


def switches(held: Sequence[Held]) -> tuple[Switch, ...]:
    """Return every day on which `edition_for` changes, or whether what it returns holds on the day, in order.

    Parameters
    ----------
    held
        The editions of one layer, at least one.
    """
    # What is nearest in time changes half way between two dates, and nowhere but there and at the dates themselves.
    dates = [d.toordinal() for one in held if one.edition is not None for d in _dates(one.edition.manifest)]
    shipped = load_manifests().get(held[0].layer_id)
    turning = set(dates if shipped is None else (*dates, *(d.toordinal() for d in _dates(shipped))))
    turning |= {(a + b) // 2 for a in dates for b in dates}
    found = []
    first, last = date.min.toordinal() + 1, date.max.toordinal()
    for number in sorted({n + more for n in turning for more in (0, 1)}):
        if not first <= number <= last:
            continue
        day = date.fromordinal(number)
        before = day - timedelta(days=1)
        was, now = edition_for(held, before), edition_for(held, day)
        did, does = _holds(was, before), _holds(now, day)
        if was is not now or did != does:
            found.append(Switch(day, was, now, did, does))
    return tuple(found)


def _holds(held: Held | None, day: date) -> bool:
    return held is None or held.edition is None or held.edition.manifest.covers(day)


def _dates(manifest: Manifest) -> list[date]:
    return [d for d in (manifest.valid_from, manifest.edition, manifest.valid_until) if d is not None]


def _rank(held: Held, day: date) -> tuple[float, ...]:
    edition = held.edition
    assert edition is not None  # noqa: S101 - the caller looked
    manifest = edition.manifest
    dates = [d.toordinal() for d in _dates(manifest)]
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
