"""What the HTTP API takes: questions about a place, a report, a credit, a table."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, StringConstraints, model_validator

__all__ = ["Chosen", "CreditAsk", "ExplainAsk", "JobOptions", "Name", "PlaceAsk", "ReportAsk", "SiteAsk"]

Text = Annotated[str, StringConstraints(max_length=10_000)]
Short = Annotated[str, StringConstraints(max_length=200)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Value = bool | int | FiniteFloat | Annotated[str, StringConstraints(max_length=2_000)]


_DEEPEST = 50


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _not_deep(cls, given: object) -> object:
        """Refuse what is nested so deeply that working through it may not end well; nothing asked for is."""
        level = [given]
        for _ in range(_DEEPEST):
            level = [
                inner
                for each in level
                if isinstance(each, dict | list)
                for inner in (each.values() if isinstance(each, dict) else each)
                if isinstance(inner, dict | list)
            ]
            if not level:
                return given
        raise ValueError(f"it is nested more than {_DEEPEST} deep; send it flatter")


class Chosen(_Asked):
    """One of the places that were found for a text, which somebody chose: whose answer it is, and how good.

    Attributes
    ----------
    locator, kind, matched, score
        Who found it, what it is a place of, the address as found, and how well it fits what was typed, from 0 to 1.
    uncertainty_ft
        How far the true place may be, in feet; it holds whatever less is stated.
    answered_on
        The day of an online locator's answer.
    notes
        What the locator said of it.
    """

    locator: Name
    kind: Name
    matched: Annotated[str, StringConstraints(max_length=500)]
    score: Annotated[FiniteFloat, Field(ge=0, le=1)]
    uncertainty_ft: Annotated[FiniteFloat, Field(ge=0, le=1_000_000)] = 0.0
    answered_on: date | None = None
    notes: Annotated[list[Annotated[str, StringConstraints(max_length=1_000)]], Field(max_length=20)] = []


class PlaceAsk(_Asked):
    """A site: where it is, and what is stated of it.

    Attributes
    ----------
    site
        Coordinates, an address, a parcel number (PAMS_PIN), block and lot, WKT. Either this or `geometry`.
    geometry
        One GeoJSON point, polygon or multipolygon, or a Feature of one; longitude and latitude in degrees.
    typed
        What was typed before the point was moved, the outline drawn or one of several places chosen: it is kept beside.
    chosen
        Of one of several places: how it was found, as `/api/v1/search` says it. Without it a point beside `typed` is
        one that somebody set by hand.
    placed
        Of coordinates that nobody typed: whether they are of a click on a map, or of its marker.
    pin, mun_code
        Parcel numbers of the site; the municipality by code or name.
    facts
        What a map cannot show, by the names of `/api/v1/facts`; null is not stated.
    uncertainty_ft
        How far the true place may be from the one given, in feet.
    """

    site: Text | None = None
    geometry: dict[str, Any] | None = None
    typed: Text | None = None
    chosen: Chosen | None = None
    placed: Literal["click", "marker"] | None = None
    pin: Short | None = None
    mun_code: Short | None = None
    facts: Annotated[dict[str, Value | None], Field(max_length=200)] = Field(default_factory=dict)
    uncertainty_ft: Annotated[FiniteFloat, Field(ge=0, le=1_000_000)] = 0.0

    @model_validator(mode="after")
    def _one_place(self) -> PlaceAsk:
        if self.site is not None and self.geometry is not None:
            raise ValueError("site and geometry both say where it is; give one of them")
        if self.site is None and self.geometry is None and self.pin is None and self.mun_code is None:
            raise ValueError("nothing says where the site is; give site, geometry, pin or mun_code")
        return self


class SiteAsk(PlaceAsk):
    """A site and what is asked of it.

    Attributes
    ----------
    as_of
        The day asked about; the default day unless given.
    readings
        Ways to read the law where it is open, as in ``{"A11": "strict"}``.
    strict
        No assumptions, no layers of another edition.
    rulebook
        Id of a rulebook, of those that `/api/v1/rules` lists.
    """

    as_of: date | None = None
    readings: Annotated[dict[Short, Short], Field(max_length=100)] = Field(default_factory=dict)
    strict: bool = False
    rulebook: Name = "grow-nj"


class ExplainAsk(SiteAsk):
    """A site and the category that is to be explained; ``compact`` keeps the clauses that decide."""

    category: Name
    compact: bool = False


class ReportAsk(SiteAsk):
    """A site and what the preparer of a report says."""

    name: Short = ""
    preparer: Short = ""
    date: Short = ""
    contact: Short = ""
    map: bool = True


class CreditAsk(_Asked):
    """A project as `grownj credits` takes it, and where it is or in which areas.

    Attributes
    ----------
    project
        The project: what its file would hold.
    site
        Where its building is, of a project with one building; outranks what the project says.
    place
        The same as a site that is asked about is given, with its facts: `determine` takes it so.
    areas
        The areas: of `grownj credits areas`, or names with yes or no.
    as_of, readings, trust, strict
        The day of the areas, by default that of the approval or the application; ways to read the law and the rules of
        credits; which figures are taken as they stand; whether nothing is assumed.
    """

    project: dict[str, Any]
    site: Text | None = None
    place: PlaceAsk | None = None
    areas: dict[str, Any] | None = None
    as_of: date | None = None
    readings: Annotated[dict[Short, Short], Field(max_length=100)] = Field(default_factory=dict)
    trust: Literal["confirmed", "known", "stated"] = "known"
    strict: bool = False


# -- answers -------------------------------------------------------------------------------------------


class JobOptions(_Asked):
    """How the rows of a table are asked, and what is written."""

    as_of: date | None = None
    rulebook: Name = "grow-nj"
    readings: dict[str, str] = Field(default_factory=dict)
    strict: bool = False
    columns: Literal["brief", "full"] = "brief"
    format: Literal["csv", "xlsx", "parquet", "geoparquet", "gpkg", "geojson"] = "csv"
    named: dict[str, str] = Field(default_factory=dict)
    crs: str | None = None
    uncertainty_ft: Annotated[FiniteFloat, Field(ge=0, le=1_000_000)] = 0.0
