"""What the HTTP API gives: places, lists, jobs."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from grownj_geo.determination import OutcomeWord
from grownj_geo.serveasked import JobOptions

__all__ = [
    "About",
    "Area",
    "AreaList",
    "Better",
    "Books",
    "Category",
    "Choice",
    "Clause",
    "Fact",
    "FactList",
    "FeatureCollection",
    "Health",
    "JobStatus",
    "LayerList",
    "ReadingList",
    "SearchAnswer",
    "Suggestions",
    "UploadedGeometry",
]


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
