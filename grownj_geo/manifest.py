"""Manifests: what a layer is, who publishes it, how good its lines are, and where it can lie at all."""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import yaml
from pydantic import Field, ValidationError, model_validator

from grownj_geo.errors import LayerError
from grownj_geo.strict import Strict
from grownj_geo.yamlfile import read_yaml

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["CodedField", "Extent", "Manifest", "Status", "load_manifests"]

Status = Literal["confirmed", "derived", "indirect", "secondary", "provisional", "unverified", "not_found"]
"""How well something is known, strongest first. Anything below `derived` is shown wherever it is used."""

STATUS_ORDER: tuple[str, ...] = get_args(Status)
"""The words of `Status`, strongest first."""

MunCode = Annotated[str, Field(pattern=r"^\d{4}$")]


class Extent(Strict):
    """Where features of a layer can lie at all: negative evidence while the layer is not loaded.

    Exactly one of the fields is given, or counties together with the finer list of a designation. A site that is
    surely outside any of them is outside the layer.

    Attributes
    ----------
    status, designation_status
        How well the extent is known; for a designation beside counties, how well that list is.
    """

    statewide: Literal[True] | None = None
    counties: tuple[str, ...] | None = None
    municipalities: tuple[MunCode, ...] | None = None
    designation: str | None = None
    within: str | None = None
    status: Status = "confirmed"
    designation_status: Status | None = None
    source: str | None = None
    note: str | None = None

    @model_validator(mode="after")
    def _one(self) -> Extent:
        names = ("statewide", "counties", "municipalities", "designation", "within")
        given = [name for name in names if getattr(self, name)]
        if len(given) != 1 and given != ["counties", "designation"]:
            raise ValueError(
                "an extent gives exactly one of statewide, counties, municipalities, designation, within, or counties "
                f"and designation; found {given or 'none'}"
            )
        return self


class CodedField(Strict):
    """A field that the rules use: the publisher's name for it, and what its values mean.

    Attributes
    ----------
    aliases
        Further names that the publisher has given the field, in other years or formats.
    digits
        How many digits its codes have; shorter ones have lost zeros at their beginning.
    least, greatest
        Between which its figures lie; a field with either holds figures.
    """

    source_field: str
    values: dict[str, str] = Field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    digits: Annotated[int, Field(ge=1)] | None = None
    least: float | None = None
    greatest: float | None = None
    note: str | None = None


class Manifest(Strict):
    """What the project knows of one layer, whether it ships or not.

    Distances are feet, dates are days. `accuracy_ft` includes the metre between WGS84 and NAD83. `undated` says
    what a feature without a beginning means: that it always held, or that nobody knows since when. `complete` says
    that the layer holds every such area, so that a site in none of its features is surely in no such area.
    `area_acres` is about how much ground all features cover; `classes_exclude` says that no ground is in two classes.
    `max_age_days` says after how many days one should look whether the publisher has another edition. `refines` says
    that it is what ships with the user's own better knowledge in it. `fetch_options` are what has to be said when it
    is fetched.
    """

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    title: str
    description: str
    publisher: str
    kind: Literal["polygon", "point", "line", "table"]
    ships: bool
    file: str | None = None
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    source: str
    source_url: str | None = None
    edition: date | None = None
    valid_from: date | None = None
    valid_until: date | None = None
    accuracy_ft: Annotated[float, Field(ge=0)] | None = None
    accuracy_source: str | None = None
    least_features: Annotated[int, Field(ge=1)] = 1
    area_acres: Annotated[float, Field(gt=0)] | None = None
    classes_exclude: bool = False
    max_age_days: Annotated[int, Field(ge=1)] = 365
    key_field: str | None = None
    name_field: str | None = None
    uncertainty_field: str | None = None
    bound_field: str | None = None
    from_field: str | None = None
    until_field: str | None = None
    undated: Literal["holds", "unknown"] = "holds"
    complete: bool = False
    refines: bool = False
    fields: dict[str, CodedField] = Field(default_factory=dict)
    required_fields: tuple[str, ...] = ()
    extent: Extent
    terms: str
    how_to_load: str
    fetch_options: str | None = None
    status: Status
    status_note: str | None = None
    cautions: tuple[str, ...] = ()

    @property
    def load_command(self) -> str:
        """What to type to load the layer: fetch where a service is known, else import a file.

        Examples
        --------
        >>> load_manifests()["highlands_region"].load_command
        'grownj layers fetch highlands_region'
        """
        if (self.source_url or self.fetch_options) and not self.ships:
            return " ".join(filter(None, ("grownj layers fetch", self.id, self.fetch_options)))
        return f"grownj layers import {self.id} FILE"

    def covers(self, day: date) -> bool:
        """Return whether the edition holds on a day, as far as its validity is known.

        Where nothing is known of it, it holds on its own date; and what ships counts as holding, refined or not: it
        was chosen for the program's years.
        """
        if self.valid_from is None and self.valid_until is None:
            return self.ships or self.refines or self.edition == day
        begun = self.valid_from is None or self.valid_from <= day
        return begun and (self.valid_until is None or day < self.valid_until)

    @model_validator(mode="after")
    def _shipped_has_file(self) -> Manifest:
        if self.ships and not (self.file and self.sha256):
            raise ValueError("a layer that ships names its file and the file's sha256")
        if not self.ships and (self.file or self.sha256):
            raise ValueError("a layer that does not ship has neither file nor sha256")
        return self


def _read(path: Traversable) -> Manifest:
    try:
        return Manifest.model_validate(read_yaml(path.read_bytes()))
    except yaml.YAMLError as error:
        raise LayerError(f"The manifest {path.name} is not readable YAML: {error}. Reinstall the package.") from error
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'top level'}: {e['msg']}" for e in error.errors())
        raise LayerError(f"The manifest {path.name} does not follow the format: {problems}.") from error


@lru_cache(maxsize=1)
def load_manifests() -> dict[str, Manifest]:
    """Return every manifest of the package by layer id, in order of id.

    Raises
    ------
    LayerError
        If a manifest is not readable, does not follow the format, or its file is not named after its id.
    """
    found: dict[str, Manifest] = {}
    folder = resources.files("grownj_geo") / "manifests"
    for path in sorted(folder.iterdir(), key=lambda p: p.name):
        if not path.name.endswith(".yaml"):
            continue
        manifest = _read(path)
        if path.name != f"{manifest.id}.yaml":
            raise LayerError(f"The manifest {path.name} has the id {manifest.id!r}; expected its file's name.")
        found[manifest.id] = manifest
    return found
