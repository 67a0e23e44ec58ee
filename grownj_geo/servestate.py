"""What a running server holds: the answers, the process for long work, the areas that were drawn, the jobs."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import Depends, Request

from grownj_geo.atlas import DEFAULT_AS_OF
from grownj_geo.errors import NoPlaceError, SiteError
from grownj_geo.pins import looks_like_pin
from grownj_geo.serveanswers import Answers, Terms, stated_site
from grownj_geo.servecredits import credit_places
from grownj_geo.servefinding import Finding, Placed
from grownj_geo.servehelpers import Helper, areas_in_helper, credits_in_helper, in_helper
from grownj_geo.servejobs import Jobs
from grownj_geo.serveproblems import ProblemError

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from pathlib import Path

    from grownj_geo.serveasked import CreditAsk, SiteAsk
    from grownj_geo.servegeo import DrawnAreas
    from grownj_geo.serveguard import GuardOptions
    from grownj_geo.servehelpers import Work
    from grownj_geo.servelog import RequestLog
    from grownj_geo.site import Site

__all__ = ["Serving", "State", "state_of", "while_asked"]

_MOST_AREAS = 4
_MOST_PLACES = 20
"""Buildings of one project whose places are looked up; each may be asked of a service elsewhere."""
_ResultT = TypeVar("_ResultT")
_TEND_S = 1.0
_LONGEST_PIN = 1_000
_FARTHEST_DEGREES = 360
_LONG_OUTLINE = 1_000
"""Vertices of an outline from which on it is answered in a process of its own."""


@dataclass
class State:
    """All of one server.

    Parameters
    ----------
    guard
        Who may ask, and how much is taken.
    log
        Where requests are written down and counted.
    home
        Folder of the user's own data; the usual one by default.
    job_hours
        How long jobs are kept.
    places_s
        Seconds in which the places of a project are looked up, however many there are.
    """

    guard: GuardOptions
    log: RequestLog
    home: Path | None = None
    job_hours: float = 24.0
    places_s: float = 60.0
    answers: Answers = field(init=False)
    jobs: Jobs = field(init=False)
    helper: Helper = field(init=False)
    beside: Helper = field(init=False)
    finding: Finding = field(init=False)
    _areas: OrderedDict[str, asyncio.Task[DrawnAreas]] = field(default_factory=OrderedDict, init=False)

    def __post_init__(self) -> None:
        """Begin with nothing loaded."""
        self.answers = Answers(self.home)
        self.helper = Helper(self.home)
        # Asked for every place that somebody looks at: in one line with reports it would keep these waiting.
        self.beside = Helper(self.home, what="questions about the next better line")
        self.finding = Finding(self.home)
        self.jobs = Jobs(self.home, self.job_hours)
        self.log.gauge("grownj_questions_waiting", "Questions that wait or are answered.", lambda: self.answers.waiting)
        self.log.gauge(
            "grownj_long_work_waiting", "Reports and maps that wait or are made.", lambda: self.helper.waiting
        )
        self.log.gauge(
            "grownj_better_waiting", "Questions about the next better line in work.", lambda: self.beside.waiting
        )

    async def areas(self, terms: Terms) -> tuple[str, DrawnAreas]:
        """Return the areas of some terms with their mark; made once, however many ask."""
        mark = await self.answers.run(lambda: self.answers.mark(terms))
        task = self._areas.get(mark)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = self._areas[mark] = asyncio.create_task(self.helper.run(areas_in_helper, terms))
            while len(self._areas) > _MOST_AREAS:
                self._areas.popitem(last=False)
        # One who goes away does not take it from the others.
        return mark, await asyncio.shield(task)

    async def ask(self, work: Work[_ResultT], asked: SiteAsk) -> _ResultT:
        """Return what comes of a question, its site looked up first where that takes looking.

        Parameters
        ----------
        work
            A function of a module, of answers, question and site; the last is None where the question itself says it.
        asked
            The question.

        Raises
        ------
        ProblemError, SiteError, FactError, RulebookError
            As `Answers.answer` and `Finding.site`.
        """
        if _is_long(asked.geometry):
            return await self.helper.run(in_helper, work, asked, None)
        if not _is_looked_up(asked):
            try:
                return await self.answers.run(lambda: work(self.answers, asked, None))
            except NoPlaceError:
                pass
        site = await self._found(asked)
        return await self.answers.run(lambda: work(self.answers, asked, site))

    async def ask_helper(self, work: Work[_ResultT], asked: SiteAsk) -> _ResultT:
        """Return what comes of a question that always takes long; see `ask`."""
        return await self.helper.run(in_helper, work, asked, await self._site(asked))

    async def ask_beside(self, work: Work[_ResultT], asked: SiteAsk) -> _ResultT:
        """Return what comes of a question that stands beside an answer: in a line and a process of its own."""
        return await self.beside.run(in_helper, work, asked, await self._site(asked))

    async def credits(self, asked: CreditAsk) -> str:
        """Return what credit a project may have, as JSON; where it is, is looked up as for any other question.

        Raises
        ------
        ProblemError, SiteError, FactError, RulebookError
            As `ask`; what is wrong with the place of a building names that, where the project says it.
        """
        # Quick, and not to wait for maps that are drawn: what is wrong with a project is told at once.
        places = await asyncio.to_thread(credit_places, asked)
        if len(places) > _MOST_PLACES:
            raise ProblemError(
                422,
                f"The project has {len(places)} buildings whose places are looked up; at most {_MOST_PLACES} are here. "
                "Give their areas in the project: grownj credits does it for any number.",
                code="too_many_places",
            )
        sites: dict[str, Site] = {}
        try:
            async with asyncio.timeout(self.places_s):
                for name, place in places.items():
                    try:
                        site = await self._site(place)
                    except (ProblemError, SiteError) as error:
                        raise error if asked.site or asked.place else _of_building(name, error) from error
                    if site is not None:
                        sites[name] = site
        except TimeoutError as error:
            detail = (
                f"The places of {len(places)} buildings were not settled within {self.places_s:,.0f} s; "
                f"it stopped at {name}. Ask again: what is known by then is kept. Or give coordinates or areas, which "
                "nobody has to be asked about."
            )
            raise ProblemError(503, detail, code="places_took_too_long", headers={"Retry-After": "5"}) from error
        return await self.helper.run(credits_in_helper, asked, places, sites)

    async def _site(self, asked: SiteAsk) -> Site | None:
        """Return the site of a question; None where its geometry says it, which takes no looking up."""
        if _is_looked_up(asked):
            return await self._found(asked)
        if asked.geometry is not None:
            return None
        try:
            return await self.answers.run(lambda: self.answers.site(asked))
        except NoPlaceError:
            return await self._found(asked)

    async def _found(self, asked: SiteAsk) -> Site:
        """Return a site that has to be looked up."""
        day = asked.as_of or DEFAULT_AS_OF
        place = Placed(asked.uncertainty_ft, asked.pin, asked.mun_code, _moved_to(asked))
        text = asked.typed if place.at is not None and asked.typed is not None else asked.site or ""
        site = await self.finding.site(text, day, place)
        return stated_site(asked, site)

    async def tend_jobs(self) -> None:
        """Look after the jobs for as long as the server runs."""
        while True:
            try:
                await asyncio.to_thread(self.jobs.tend, self.log.write)
            # Whatever it is, as a folder that cannot be read just now: the next look may go well, and without
            # any nothing would be answered or removed for as long as the server runs.
            except Exception as error:  # noqa: BLE001 - written down
                words = error.strerror if isinstance(error, OSError) else None
                self.log.write("jobs", level="error", error=type(error).__name__, words=words)
            await asyncio.sleep(_TEND_S)

    def close(self) -> None:
        """End what runs."""
        self.jobs.close()
        self.helper.end()
        self.beside.end()
        self.finding.close()
        self.answers.close()


async def while_asked(request: Request, work: Coroutine[Any, Any, _ResultT]) -> _ResultT:
    """Return what comes of some work, which is given up as soon as whoever asked has gone.

    Parameters
    ----------
    request
        Whose body was read.
    work
        What is done.

    Raises
    ------
    ProblemError
        408 where the asker has gone, for the log alone; and whatever the work raises.
    """
    doing = asyncio.ensure_future(work)
    leaving = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait({doing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            return doing.result()
        raise ProblemError(408, "Whoever asked did not wait for the answer.", code="asker_gone")
    finally:
        leaving.cancel()
        doing.cancel()


async def _gone(request: Request) -> None:
    """Return when whoever asked has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _of_building(name: str, error: ProblemError | SiteError) -> ProblemError | SiteError:
    """Return what is wrong with a place, with the building that it is of."""
    if isinstance(error, ProblemError):
        words = f"Building {name}: {error.detail}"
        return ProblemError(error.status_code, words, code=error.code, headers=error.headers, more=error.more)
    return type(error)(f"Building {name}: {error}")


def _is_looked_up(asked: SiteAsk) -> bool:
    """Return whether a place has to be looked up: parcels have outlines, and what was moved has been somewhere."""
    if asked.geometry is not None:
        return _moved_to(asked) is not None
    text = (asked.site or "").strip()
    return looks_like_pin(text[:_LONGEST_PIN]) if text else asked.pin is not None


def _moved_to(asked: SiteAsk) -> str | None:
    """Return where the user has moved what was typed to, as coordinates; None where it was not."""
    shape = asked.geometry
    if shape is None or asked.chosen is not None or not (asked.typed or "").strip():
        return None
    inner = shape.get("geometry") if shape.get("type") == "Feature" else shape
    if not isinstance(inner, dict) or inner.get("type") != "Point":
        return None
    match inner.get("coordinates"):
        case [int() | float() as lon, int() | float() as lat, *_]:
            # With all its digits: it was not typed, so that few digits say nothing of how well it is known.
            if all(not isinstance(each, bool) and abs(each) <= _FARTHEST_DEGREES for each in (lon, lat)):
                return f"{lat:.9f},{lon:.9f}"
    # Whoever reads the geometry says what is wrong with it.
    return None


def _is_long(geometry: object) -> bool:
    """Return whether a geometry has so many vertices that answering takes long; counting stops there."""
    count, rest = 0, [geometry]
    while rest and count <= 2 * _LONG_OUTLINE:
        each = rest.pop()
        if isinstance(each, dict):
            rest += each.values()
        elif isinstance(each, list):
            rest += each
        else:
            count += isinstance(each, int | float)
    return count > 2 * _LONG_OUTLINE


def state_of(request: Request) -> State:
    """Return the server's state."""
    found: State = request.app.state.serving
    return found


Serving = Annotated[State, Depends(state_of)]
