"""The record of one determination: what can be printed, kept, checked and run again."""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from importlib import metadata
from typing import Literal

from pydantic import Field

from grownj_geo.strict import Strict

__all__ = [
    "FORMAT",
    "Determination",
    "Evidence",
    "Finding",
    "Interval",
    "LayerRecord",
    "Missing",
    "Neighbour",
    "NotChecked",
    "PlaceRecord",
    "SiteRecord",
    "StationRecord",
    "TierRecord",
    "software",
]

FORMAT: Literal["grownj-determination/1"] = "grownj-determination/1"

OutcomeWord = Literal["yes", "no", "undetermined"]


@lru_cache(maxsize=1)
def software() -> str:
    """Return the name and the version of this package, as a record names what made it."""
    try:
        version = metadata.version("grownj-geo")
    except metadata.PackageNotFoundError:
        version = "0 (not installed)"
    return f"grownj-geo {version}"


class Interval(Strict):
    """A measured figure: at least, computed, at most. `value` is null where only bounds are known."""

    low: float | None
    value: float | None
    high: float | None


class Evidence(Strict):
    """One clause that decided a finding, or left it open, and what was seen."""

    clause: str
    label: str
    outcome: OutcomeWord
    words: str
    citation: str
    status: str | None = None
    causes: tuple[str, ...] = ()
    layer: str | None = None
    edition: date | None = None
    feature: str | None = None
    feature_name: str | None = None
    distance_ft: Interval | None = None
    radius_ft: float | None = None
    share: Interval | None = None
    margin_ft: float | None = None
    fact: str | None = None
    assumed: bool = False
    readings: tuple[str, ...] = ()


class Missing(Strict):
    """Things that together could decide a finding."""

    needs: tuple[str, ...]
    words: str


class Finding(Strict):
    """One category's outcome for the site.

    Attributes
    ----------
    leans
        For an undetermined finding near a line or with a known tendency: what it would be.
    margin_ft
        Feet by which the deciding line is cleared (positive: inside) or missed; null where no line decides.
    assumed
        Whether the outcome rests on a documented assumption.
    under_other_readings
        Where the text goes round in a circle: the outcome under each reading that was not chosen, where it differs;
        empty where none does, null where the other readings were not tried.
    would_decide
        For an undetermined finding: the smallest sets of missing things that could decide it.
    """

    id: str
    label: str
    citation: str
    summary: str
    kind: Literal["area", "ground", "project"]
    outcome: OutcomeWord
    leans: OutcomeWord | None = None
    margin_ft: float | None = None
    why: str
    causes: tuple[str, ...] = ()
    assumed: bool = False
    assumptions: tuple[str, ...] = ()
    status: str
    readings: dict[str, str] = Field(default_factory=dict)
    under_other_readings: dict[str, OutcomeWord] | None = None
    evidence: tuple[Evidence, ...] = ()
    would_decide: tuple[Missing, ...] = ()


class SiteRecord(Strict):
    """The site as it was understood. Coordinates: degrees (NAD83), and EPSG:3424 in US survey feet.

    Attributes
    ----------
    mun_code, mun_basis
        Municipality where something other than geometry says it, and what does; as in `Site`.
    """

    typed: str
    located_by: str
    kind: Literal["point", "polygon", "municipality"]
    longitude: float | None = None
    latitude: float | None = None
    x_ftus: float | None = None
    y_ftus: float | None = None
    area_sqft: float | None = None
    parts: int = 1
    uncertainty_ft: float = 0.0
    pins: tuple[str, ...] = ()
    mun_code: str | None = None
    mun_basis: Literal["pin", "stated"] | None = None
    notes: tuple[str, ...] = ()
    facts: dict[str, bool | float | str] = Field(default_factory=dict)
    geometry_wkt: str | None = None


class Neighbour(Strict):
    """A municipality near the site or sharing it."""

    mun_code: str
    name: str
    county: str
    distance_ft: float | None = None
    share: float | None = None


class PlaceRecord(Strict):
    """Municipality and county. `municipality` is null unless one municipality is certain.

    Attributes
    ----------
    outside_share
        Share of a polygon that lies in no municipality; 0 where that keeps within the accuracy of the lines, null
        for a point and where it is not known.
    """

    kind: Literal["certain", "several", "uncertain", "offshore", "outside", "unknown"]
    words: str
    municipality: Neighbour | None = None
    county: str | None = None
    candidates: tuple[Neighbour, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    outside_share: float | None = None


class StationRecord(Strict):
    """A station near the site and its distance on the ellipsoid."""

    station_id: str
    name: str
    operator: str
    mode: str
    distance_ft: Interval
    uncertainty_ft: float
    status: str


class TierRecord(Strict):
    """Bounds of the base amount by place alone, dollars per job and year; null is no line.

    Attributes
    ----------
    assumed
        Whether the bounds would be others without documented assumptions.
    assumptions
        What is assumed, in words.
    """

    floor: int | None
    ceiling: int | None
    words: str
    citation: str
    status: str
    assumed: bool = False
    assumptions: tuple[str, ...] = ()


class LayerRecord(Strict):
    """A layer that the rulebook asks for: its edition and fingerprint, or why it could not be used.

    `stored` names the edition in the user's store, and `origin` says where that came from; both are null for what
    ships.
    """

    id: str
    title: str
    status: Literal["loaded", "missing", "unusable"]
    edition: date | None = None
    sha256: str | None = None
    stored: str | None = None
    origin: str | None = None
    problem: str | None = None


class NotChecked(Strict):
    """A layer that is not loaded, what waits for it, and how to get it."""

    layer: str
    title: str
    findings: tuple[str, ...]
    how_to_load: str
    command: str


class RulebookRecord(Strict):
    """The rulebook that was applied.

    Attributes
    ----------
    sha256
        Of the rulebook as it was checked, its parameters and what it takes from others included: as JSON with
        sorted keys, without blanks, in UTF-8.
    """

    id: str
    title: str
    version: str
    citation: str
    sha256: str


class Determination(Strict):
    """Site, findings, rulebook and the fingerprint of every layer: one answer that can be signed under.

    The same site, layers and version give the same bytes: there is no clock in the record, except
    `determined_on` where the caller pins it.
    """

    format: Literal["grownj-determination/1"] = FORMAT
    software: str
    rulebook: RulebookRecord
    as_of: date
    determined_on: date | None = None
    disclaimer: str
    wording: str | None = None
    site: SiteRecord
    place: PlaceRecord
    tier: TierRecord | None
    findings: tuple[Finding, ...]
    stations: tuple[StationRecord, ...] = ()
    assumptions: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    readings: dict[str, str] = Field(default_factory=dict)
    not_checked: tuple[NotChecked, ...] = ()
    layers: tuple[LayerRecord, ...] = ()

    def __getitem__(self, category_id: str) -> Finding:
        """Return a finding by its category's id.

        Raises
        ------
        KeyError
            If there is no such finding; the message lists those there are.
        """
        for finding in self.findings:
            if finding.id == category_id:
                return finding
        raise KeyError(f"no finding {category_id!r}; there are {', '.join(f.id for f in self.findings)}")

    @property
    def incomplete(self) -> bool:
        """Whether a layer that should be there could not be used."""
        return any(layer.status == "unusable" for layer in self.layers)

    def to_json(self) -> str:
        """Return the record as JSON, with a line end."""
        return self.model_dump_json(indent=2, exclude_none=False) + "\n"
