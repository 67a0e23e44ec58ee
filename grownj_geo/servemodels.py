"""What the HTTP API takes and gives: questions, places, lists, jobs."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, StringConstraints, model_validator

from grownj_geo.determination import OutcomeWord

__all__ = [
    "About",
    "Area",
    "AreaList",
    "Better",
    "Books",
    "Category",
    "Choice",
    "Chosen",
    "Clause",
    "CreditAsk",
    "ExplainAsk",
    "Fact",
    "FactList",
    "FeatureCollection",
    "Health",
    "JobOptions",
    "JobStatus",
    "LayerList",
    "PlaceAsk",
    "ReadingList",
    "ReportAsk",
    "SearchAnswer",
    "SiteAsk",
    "Suggestions",
    "UploadedGeometry",
]

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


class Health(BaseModel):
    """That the server answers."""

    status: Literal["ok"] = "ok"


class Days(BaseModel):
    """The day that is asked about by default, and the days that can be."""

    default: date
    first: date
    last: date


class Book(BaseModel):
    """A rulebook that can be asked."""

    id: str
    title: str
    version: str
    default: bool = False
    citation: str
    first_day: date
    last_day: date
    outside_days: str
    categories: int


class LocatorWords(BaseModel):
    """Who is asked where an address is; `sends` says what goes to whom."""

    name: str
    online: bool
    sends: str


class ParcelsLoaded(BaseModel):
    """The parcels and addresses that were loaded on this machine."""

    loaded: bool
    count: int
    address_points: int
    edition: str | None = None


class Limits(BaseModel):
    """How much is taken, and how long jobs are kept."""

    upload_mb: int
    body_mb: float
    job_hours: float
    jobs_waiting: int


class About(BaseModel):
    """What this server is, and what it has."""

    version: str
    software: str
    disclaimer: str
    as_of: Days
    rulebooks: list[Book]
    atlas: str
    locators: list[LocatorWords]
    locators_left_out: list[dict[str, str]]
    parcels: ParcelsLoaded | None
    limits: Limits
    token: bool


class Choice(BaseModel):
    """One place that was found for a text.

    Attributes
    ----------
    words
        How it was found, and how well it is known.
    site
        Text that means this place.
    ask
        What to send to `determine` for just this place, with what was typed and how well it is known.
    geometry
        GeoJSON in degrees; null where only the municipality is known.
    """

    label: str
    words: str
    site: str
    ask: dict[str, Any]
    kind: str
    locator: str
    score: float
    lat: float | None = None
    lon: float | None = None
    uncertainty_ft: float | None = None
    pin: str | None = None
    mun_code: str | None = None
    municipality: str | None = None
    county: str | None = None
    geometry: dict[str, Any] | None = None
    notes: list[str] = []


class SearchAnswer(BaseModel):
    """What a text was read as; `certain` where one site would be used."""

    query: str
    form: str
    certain: bool
    choices: list[Choice]
    notes: list[str] = []
    asked: list[dict[str, Any]] = []


class Suggestions(BaseModel):
    """Ways in which a text may go on."""

    suggestions: list[str]


class FeatureCollection(BaseModel):
    """GeoJSON, longitude and latitude in degrees."""

    type: Literal["FeatureCollection"]
    features: list[dict[str, Any]]
    bbox: list[float] | None = None


class Area(BaseModel):
    """A class of area as maps draw it."""

    id: str
    label: str
    group: str
    colour: str
    pattern: str
    opacity: float
    shown: bool
    notes: list[str]
    radius_ft: float | None


class MissingArea(BaseModel):
    """A class of area that is not drawn, why, and how to get it."""

    id: str
    label: str
    group: str
    colour: str
    pattern: str
    opacity: float
    why: str
    how: str


class AreaList(BaseModel):
    """The legend: groups, classes in drawing order, what is missing, sources, base amounts."""

    groups: list[dict[str, str]]
    classes: list[Area]
    missing: list[MissingArea]
    sources: list[dict[str, str]]
    tiers: list[dict[str, Any]]


class Clause(BaseModel):
    """One clause of a finding, with the clauses below it; `outcome` is null for one that does not count."""

    clause: str
    label: str
    text: str
    operator: str
    outcome: OutcomeWord | None
    observed: str
    words: str
    citation: str
    status: str | None
    note: str | None
    readings: list[str]
    children: list[Clause]


class Better(BaseModel):
    """How far the next better line of the base amount is; null for a rulebook without such lines."""

    words: str | None


class Fact(BaseModel):
    """A site fact: how to ask for it, and what it may be."""

    name: str
    label: str
    type: str
    unit: str | None
    choices: list[str]
    minimum: float | None
    maximum: float | None
    question: str
    citation: str
    kind: str
    used_by: list[str]
    note: str | None
    expected: str
    example: str


class FactList(BaseModel):
    """The vocabulary of site facts."""

    facts: list[Fact]


class ReadingList(BaseModel):
    """The open questions of the law's geography, and the ways to read each."""

    readings: list[dict[str, Any]]


class LayerRow(BaseModel):
    """A layer: what is loaded of it, what waits for it, how to get it."""

    id: str
    title: str
    publisher: str
    ships: bool
    status: Literal["loaded", "missing", "unusable"]
    problem: str | None
    edition: date | None
    valid_from: date | None
    valid_until: date | None
    stored: str | None
    origin: str | None
    accuracy_ft: float | None
    sha256: str | None
    waiting: list[str]
    how: str
    words: str


class LayerList(BaseModel):
    """Layers of a day, and the editions that the store holds."""

    as_of: date
    atlas: str
    layers: list[LayerRow]
    editions: list[dict[str, Any]]


class Category(BaseModel):
    """A category of a rulebook, without its clauses."""

    model_config = ConfigDict(extra="allow")

    id: str
    label: str
    citation: str
    kind: str
    rulebook: str


class Books(BaseModel):
    """Rulebooks and their categories."""

    rulebooks: list[Book]
    categories: list[Category]


class UploadedGeometry(BaseModel):
    """The outline in a file, as GeoJSON in degrees."""

    geometry: dict[str, Any]
    pins: list[str]
    notes: list[str]


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


class JobStatus(BaseModel):
    """A job: how far it is, and what came of it."""

    id: str
    status: Literal["queued", "running", "done", "failed", "cancelled"]
    file: str
    rows_done: int = 0
    rows_total: int | None = None
    created: datetime
    started: datetime | None = None
    finished: datetime | None = None
    expires_at: datetime
    options: JobOptions
    summary: dict[str, Any] | None = None
    problem: str | None = None
    links: dict[str, str]
