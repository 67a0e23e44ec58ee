"""The HTTP API under /api/v1: questions about one site, and the lists that go with them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, Request
from pydantic import FiniteFloat  # noqa: TC002 - the framework reads the annotations
from starlette.responses import Response

from grownj_geo.answers import atlas_mark
from grownj_geo.atlas import DEFAULT_AS_OF
from grownj_geo.determination import Determination
from grownj_geo.errors import FactError, RulebookError
from grownj_geo.facts import parse_fact
from grownj_geo.forms import FormList, load_forms
from grownj_geo.serveanswers import Terms, terms_of
from grownj_geo.serveasked import CreditAsk, ExplainAsk, Name, ReportAsk, SiteAsk
from grownj_geo.servefinding import places_words, search_words, suggested
from grownj_geo.servehelpers import better as next_line
from grownj_geo.servehelpers import reported
from grownj_geo.servelists import about_words, book_rows, category_rows, definition, fact_rows, layer_rows, reading_rows
from grownj_geo.servemodels import (
    About,
    AreaList,
    Better,
    Books,
    Clause,
    FactList,
    FeatureCollection,
    LayerList,
    ReadingList,
    SearchAnswer,
    Suggestions,
)
from grownj_geo.serveproblems import MEDIA_TYPE, Problem, ProblemError
from grownj_geo.servestate import Serving, while_asked
from grownj_geo.servework import determined, explained, overlaid
from grownj_geo.store import Store

if TYPE_CHECKING:
    from grownj_geo.servestate import State

__all__ = ["REFUSALS", "router"]

_NO_BROWSER_STORE = "private, no-cache"
_NOT_OF_A_NAME = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST_STEM = 60
_AREAS_KEPT = "private, max-age=60, must-revalidate"

REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": words, "content": {MEDIA_TYPE: {}}}
    for status, words in (
        (400, "No such body, or another host."),
        (401, "A token is asked for."),
        (403, "A page of others may not ask."),
        (404, "There is no such thing."),
        (408, "The body came too slowly."),
        (413, "The body is too large."),
        (415, "The body is of another kind."),
        (422, "What was sent cannot be taken as it is; the detail says what to do."),
        (429, "Too many jobs."),
        (503, "Too much waits, or the layers cannot be read."),
    )
}

router = APIRouter(prefix="/api/v1", responses=REFUSALS)

Day = Annotated[date | None, Query(description="The day asked about, as in 2017-04-17.")]
BookId = Annotated[Name, Query(description="Id of a rulebook.")]
Chosen = Annotated[list[str], Query(max_length=100, description="A way to read, as in A11=strict; repeatable.")]
Stated = Annotated[list[str], Query(max_length=200, description="A fact, as in structure_exists=yes; repeatable.")]
Strict = Annotated[bool, Query(description="No assumptions, no layers of another edition.")]
Typed = Annotated[str, Query(max_length=10_000, description="Coordinates, address, parcel number, block and lot.")]
KnownTag = Annotated[str | None, Header(alias="If-None-Match", max_length=2_000)]


# -- one site ------------------------------------------------------------------------------------------


@router.get("/search", response_model=SearchAnswer, tags=["sites"])
async def search(
    serving: Serving,
    q: Typed,
    limit: Annotated[int, Query(ge=1, le=50)] = 8,
    as_of: Day = None,
) -> Any:  # noqa: ANN401 - checked by the framework
    """Return the places that a text may mean."""
    day = terms_of(as_of, "grow-nj", {}, strict=False).as_of
    return await serving.finding.run(day, lambda finder: search_words(finder, q, limit))


@router.get("/suggest", response_model=Suggestions, tags=["sites"])
async def suggest(serving: Serving, q: Typed, limit: Annotated[int, Query(ge=1, le=20)] = 8) -> Suggestions:
    """Return ways in which a text may go on, by the parcels and addresses that are loaded, and by municipalities."""
    terms = Terms(DEFAULT_AS_OF, "grow-nj")
    towns = await serving.answers.run(lambda: serving.answers.engine(terms).atlas.municipal_names)
    of_one_name = Counter(name for name, _ in towns.values())
    # A name that several municipalities have says which by its county.
    names = [name if of_one_name[name] == 1 else f"{name}, {county} County" for name, county in towns.values()]
    found = await serving.finding.run(DEFAULT_AS_OF, lambda finder: suggested(finder, names, q, limit))
    return Suggestions(suggestions=found)


@router.get("/determine", response_model=Determination, tags=["sites"])
async def determine_by_query(
    *,
    serving: Serving,
    site: Typed = "",
    pin: Annotated[str | None, Query(max_length=200)] = None,
    mun_code: Annotated[str | None, Query(max_length=200)] = None,
    as_of: Day = None,
    fact: Stated = [],  # noqa: B006 - the framework copies it
    reading: Chosen = [],  # noqa: B006 - same
    uncertainty_ft: Annotated[FiniteFloat, Query(ge=0, le=1_000_000)] = 0.0,
    strict: Strict = False,
    rulebook: BookId = "grow-nj",
    known: KnownTag = None,
) -> Response:
    """Return the determination of one site: the record that `grownj check --json` prints."""
    if not site.strip() and pin is None and mun_code is None:
        raise ProblemError(422, "Nothing says where the site is. Give site, pin or mun_code.")
    asked = SiteAsk(
        site=site if site.strip() else None,
        pin=pin,
        mun_code=mun_code,
        as_of=as_of,
        facts=_facts(fact),
        readings=_readings(reading),
        uncertainty_ft=uncertainty_ft,
        strict=strict,
        rulebook=rulebook,
    )
    return await _determined(serving, asked, known)


@router.post("/determine", response_model=Determination, tags=["sites"])
async def determine_by_body(serving: Serving, asked: SiteAsk, known: KnownTag = None) -> Response:
    """Return the determination of one site, given by text or geometry, with facts."""
    return await _determined(serving, asked, known)


async def _determined(serving: State, asked: SiteAsk, known: str | None) -> Response:
    found = await serving.ask(partial(determined, known=known), asked)
    if isinstance(found, str):
        return Response(status_code=304, headers={"ETag": found, "Cache-Control": _NO_BROWSER_STORE})
    headers = {"ETag": found.tag, "Cache-Control": _NO_BROWSER_STORE}
    return Response(found.body, media_type="application/json", headers=headers)


def _facts(stated: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for statement in stated:
        name, value = parse_fact(statement)
        if found.setdefault(name, value) != value:
            raise FactError(f"The fact {name} was stated twice, with different values. Expected one; state it once.")
    return found


def _readings(chosen: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for statement in chosen:
        name, equals, option = (part.strip() for part in statement.partition("="))
        if not equals:
            raise RulebookError(f"The reading {statement[:80]!r} has no '='. Expected ID=OPTION, as in A11=strict.")
        if found.setdefault(name, option) != option:
            raise RulebookError(f"The reading {name} was chosen twice, as {found[name]} and {option}. Choose one.")
    return found


@router.post("/overlay", response_model=FeatureCollection, response_model_exclude_none=True, tags=["sites"])
async def overlay(serving: Serving, asked: SiteAsk) -> Any:  # noqa: ANN401 - checked by the framework
    """Return what a map shows beside the determination of a site."""
    return await serving.ask(overlaid, asked)


@router.post("/explain", response_model=Clause, tags=["sites"])
async def explain_category(serving: Serving, asked: ExplainAsk) -> Any:  # noqa: ANN401 - same
    """Return the tree of clauses behind one finding of a site."""
    return await serving.ask(explained, asked)


@router.post("/better", response_model=Better, tags=["sites"])
async def better(request: Request, serving: Serving, asked: SiteAsk) -> Better:
    """Return how far a site is from the next better line of the base amount."""
    return Better(words=await while_asked(request, serving.ask_beside(next_line, asked)))


@router.post(
    "/report",
    tags=["sites"],
    response_class=Response,
    responses={200: {"content": {"application/pdf": {}, "text/html": {}}, "description": "The report."}},
)
async def report(
    request: Request,
    serving: Serving,
    asked: ReportAsk,
    format: Annotated[Literal["pdf", "html"], Query()] = "pdf",  # noqa: A002
) -> Response:
    """Return a report of one site to attach to a file, as `grownj report` makes it."""
    content = await while_asked(request, serving.ask_helper(partial(reported, form=format), asked))
    media = "application/pdf" if format == "pdf" else "text/html; charset=utf-8"
    named = next((said for said in (asked.name, asked.typed, asked.site, asked.pin, asked.mun_code) if said), "")
    headers = {"Content-Disposition": f'attachment; filename="{_file_stem(named)}.{format}"'}
    return Response(content, media_type=media, headers=headers)


def _file_stem(name: str) -> str:
    """Return what a file of a site is called, without its ending: signs that every system and every header takes."""
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", name) if not unicodedata.combining(sign))
    return _NOT_OF_A_NAME.sub("-", plain)[:_LONGEST_STEM].strip("-._") or "site"


@router.post("/credits", tags=["credits"], responses={200: {"description": "The estimate, line by line."}})
async def credit(request: Request, serving: Serving, asked: CreditAsk) -> dict[str, Any]:
    """Return what credit a project may have, as `grownj credits --json` prints it."""
    content = await while_asked(request, serving.credits(asked))
    return Response(content, media_type="application/json")  # type: ignore[return-value]


# -- areas ---------------------------------------------------------------------------------------------


@router.get("/areas", response_model=AreaList, tags=["areas"])
async def areas(
    serving: Serving,
    as_of: Day = None,
    rulebook: BookId = "grow-nj",
    reading: Chosen = [],  # noqa: B006 - the framework copies it
    known: KnownTag = None,
) -> Response:
    """Return the legend of the classes of area: names, colours, what is missing, sources."""
    mark, found = await serving.areas(terms_of(as_of, rulebook, _readings(reading), strict=False))
    return _kept(found.legend, f'"{mark[:32]}-legend"', known)


@router.get("/areas/{area_id}", response_model=FeatureCollection, tags=["areas"])
async def area(
    *,
    request: Request,
    serving: Serving,
    area_id: Name,
    as_of: Day = None,
    rulebook: BookId = "grow-nj",
    reading: Chosen = [],  # noqa: B006 - the framework copies it
    known: KnownTag = None,
) -> Response:
    """Return the ground of one class of area; `municipalities` and `counties` are the base."""
    mark, found = await serving.areas(terms_of(as_of, rulebook, _readings(reading), strict=False))
    content = found.areas.get(area_id)
    if content is None:
        names = ", ".join(found.areas)
        raise ProblemError(404, f"There is no area {area_id!r} that is drawn; there are {names}.", code="no_area")
    packed = "gzip" in request.headers.get("accept-encoding", "").lower()
    tag = f'"{mark[:32]}-{area_id}{"-gzip" * packed}"'
    return _kept(content if packed else _unpacked(content), tag, known, packed=packed)


def _unpacked(content: bytes) -> bytes:
    from gzip import decompress  # noqa: PLC0415 - hardly anybody asks for it

    return decompress(content)


def _kept(content: bytes, tag: str, known: str | None, *, packed: bool = False) -> Response:
    headers = {"ETag": tag, "Cache-Control": _AREAS_KEPT, "Vary": "Accept-Encoding"}
    if known is not None and tag in known:
        return Response(status_code=304, headers=headers)
    if packed:
        headers["Content-Encoding"] = "gzip"
    return Response(content, media_type="application/json", headers=headers)


# -- lists ---------------------------------------------------------------------------------------------


@router.get("/about", response_model=About, tags=["lists"])
async def about(serving: Serving) -> Any:  # noqa: ANN401 - checked by the framework
    """Return what this server is, what it has, and what it takes."""
    terms = terms_of(None, "grow-nj", {}, strict=False)
    mark = await serving.answers.run(lambda: atlas_mark(serving.answers.engine(terms)))
    options = serving.guard
    places = await serving.finding.run(DEFAULT_AS_OF, places_words)
    return (
        about_words(mark)
        | places
        | {
            "limits": {
                "upload_mb": options.upload_bytes // 1_000_000,
                "body_mb": options.body_bytes / 1e6,
                "job_hours": serving.job_hours,
                "jobs_waiting": serving.jobs.most_waiting,
            },
            "token": options.token is not None,
        }
    )


@router.get("/layers", response_model=LayerList, tags=["lists"])
async def layers(serving: Serving, as_of: Day = None) -> Any:  # noqa: ANN401 - same
    """Return the layers of a day: what is loaded, what is missing, what waits for it, how to get it."""
    terms = terms_of(as_of, "grow-nj", {}, strict=False)

    def listed() -> dict[str, Any]:
        engine = serving.answers.engine(terms)
        found = layer_rows(engine, Store(serving.home))
        return {"as_of": terms.as_of, "atlas": atlas_mark(engine), **found}

    return await serving.answers.run(listed)


@router.get("/rules", response_model=Books, tags=["lists"])
async def rules() -> Any:  # noqa: ANN401 - same
    """Return the rulebooks, and their categories."""
    return {"rulebooks": book_rows(), "categories": category_rows()}


@router.get("/rules/{rulebook}/{category}", tags=["lists"])
async def rule(
    *,
    serving: Serving,
    rulebook: Name,
    category: Name,
    as_of: Day = None,
    reading: Chosen = [],  # noqa: B006 - the framework copies it
    deep: Annotated[bool, Query(description="Write out the categories that it names.")] = False,
) -> dict[str, Any]:
    """Return a definition without a site: its words, readings and clauses, and what it needs."""
    terms = Terms(as_of or DEFAULT_AS_OF, rulebook, tuple(sorted(_readings(reading).items())))

    def defined() -> dict[str, Any]:
        atlas = serving.answers.engine(Terms(terms.as_of, "grow-nj")).atlas
        return definition(terms, category, atlas, deep=deep)

    return await serving.answers.run(defined)


@router.get("/facts", response_model=FactList, tags=["lists"])
async def facts() -> Any:  # noqa: ANN401 - same
    """Return the vocabulary of site facts: what a map cannot show."""
    return {"facts": fact_rows()}


@router.get("/readings", response_model=ReadingList, tags=["lists"])
async def readings() -> Any:  # noqa: ANN401 - same
    """Return the open questions of the law's geography (``of`` areas) and of the credit rules (``of`` credits)."""
    return {"readings": reading_rows()}


@router.get("/forms", response_model=FormList, tags=["lists"])
async def forms() -> Any:  # noqa: ANN401 - same
    """Return the forms of what is not asked of a site itself: a project for `credits`, and what stands on a report."""
    return {"forms": list(load_forms().values())}
