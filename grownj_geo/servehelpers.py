"""Long work in a process of its own, so that short questions never wait for it: areas, reports, large outlines."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import OrderedDict, deque
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context, parent_process
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from grownj_geo.serveproblems import ProblemError

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from pathlib import Path

    from grownj_geo.determine import Engine
    from grownj_geo.nextbetter import Finder
    from grownj_geo.serveanswers import Answers, Terms
    from grownj_geo.serveasked import CreditAsk, ReportAsk, SiteAsk
    from grownj_geo.servegeo import DrawnAreas
    from grownj_geo.site import Site

__all__ = [
    "Helper",
    "Work",
    "areas_in_helper",
    "better",
    "credits_in_helper",
    "in_helper",
    "outline_in_helper",
    "reported",
]

_MOST_MAKERS = 4
_MOST_PARTS = 100
_PAGE_S = 90.0
_AS_A_TABLE = "Send a table of sites as a table, under Many sites."
_ResultT = TypeVar("_ResultT")
_Result_co = TypeVar("_Result_co", covariant=True)


class Work(Protocol[_Result_co]):
    """A function of a module that makes something of a question, wherever it is called."""

    def __call__(self, answers: Answers, asked: Any, site: Site | None, /) -> _Result_co:  # noqa: ANN401 - its own kind
        """Return it."""
        ...


@dataclass
class Helper:
    """One process that works through what it is given.

    Parameters
    ----------
    home
        Folder of the user's own data.
    timeout_s
        Seconds after which the process is ended, and whoever waits is told.
    most_waiting
        Pieces of work in line; whoever comes later is told to come again.
    grace_s
        Seconds for which the process may end what nobody waits for any more: a new one takes seconds to begin.
    what
        What waits, in words.
    """

    home: Path | None = None
    timeout_s: float = 120.0
    most_waiting: int = 8
    grace_s: float = 10.0
    what: str = "reports and maps"
    waiting: int = field(default=0, init=False)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _pool: ProcessPoolExecutor | None = field(default=None, init=False)
    _leaving: asyncio.Task[None] | None = field(default=None, init=False)

    async def run(self, work: Callable[..., _ResultT], *given: object) -> _ResultT:
        """Do some work in the process.

        Parameters
        ----------
        work
            A function of a module.
        given
            What it takes, in values that another process can take.

        Raises
        ------
        ProblemError
            503 where too much waits, it takes too long, or the process ended by itself.
        """
        if self.waiting >= self.most_waiting:
            detail = f"{self.waiting} {self.what} wait already. Ask again in half a minute."
            raise ProblemError(503, detail, headers={"Retry-After": "30"})
        self.waiting += 1
        try:
            # One after the other: whoever takes too long takes time and process from nobody who waits.
            async with self._turn:
                return await self._run(work, *given)
        finally:
            self.waiting -= 1

    async def _run(self, work: Callable[..., _ResultT], *given: object) -> _ResultT:
        if self._leaving is not None:
            # What is left over would take the time of whoever is next.
            await asyncio.wait({self._leaving})
            self._leaving = None
        if self._pool is None:
            # Spawned, not forked: no lock of a thread is copied half-way.
            self._pool = ProcessPoolExecutor(1, get_context("spawn"), initializer=_begin, initargs=(self.home,))
        pool = self._pool
        try:
            future = pool.submit(work, *given)
            try:
                return await asyncio.wait_for(asyncio.wrap_future(future), self.timeout_s)
            except asyncio.CancelledError:
                self._leaving = asyncio.create_task(self._leave(pool, future))
                raise
        except TimeoutError as error:
            self.end(pool)
            detail = f"It took longer than {self.timeout_s:,.0f} s and was ended. Ask for less: a simpler outline."
            raise ProblemError(503, detail, code="took_too_long") from error
        except BrokenProcessPool as error:
            self.end(pool)
            detail = "The process that did it ended by itself, for lack of memory perhaps. Ask again."
            raise ProblemError(503, detail, code="worker_gone", headers={"Retry-After": "5"}) from error

    async def _leave(self, pool: ProcessPoolExecutor, future: Future[Any]) -> None:
        """Wait a little for what goes on for nobody, and end the process where it does not end by itself."""
        try:
            await asyncio.wait_for(asyncio.gather(asyncio.wrap_future(future), return_exceptions=True), self.grace_s)
        except TimeoutError:
            self.end(pool)

    def end(self, pool: ProcessPoolExecutor | None = None) -> None:
        """End the process, whatever it is at."""
        ended = pool or self._pool
        if ended is None:
            return
        if ended is self._pool:
            self._pool = None
        # The pool itself waits for what runs; only its processes can be ended.
        for process in list((getattr(ended, "_processes", None) or {}).values()):
            process.kill()
        ended.shutdown(wait=False, cancel_futures=True)


# -- in the process ------------------------------------------------------------------------------------

_ANSWERS: list[Answers] = []
_FINDERS: deque[Finder] = deque(maxlen=4)
_MAKERS: OrderedDict[Any, Any] = OrderedDict()


def _begin(home: Path | None) -> None:
    from grownj_geo.serveanswers import Answers  # noqa: PLC0415 - where the work is done

    threading.Thread(target=_end_with_server, daemon=True).start()
    _ANSWERS[:] = [Answers(home)]


def _end_with_server() -> None:
    """End this process as soon as the server is gone, however that was ended."""
    server = parent_process()
    if server is not None:
        server.join()
        os._exit(1)


def areas_in_helper(terms: Terms) -> DrawnAreas:
    """Return every class of area of some terms."""
    from grownj_geo.servegeo import drawn_areas  # noqa: PLC0415 - where the work is done

    return drawn_areas(_ANSWERS[0].engine(terms))


def in_helper(work: Work[_ResultT], asked: SiteAsk, site: Site | None) -> _ResultT:
    """Return what comes of a question, by a function that the server's own thread could have called."""
    return work(_ANSWERS[0], asked, site)


def better(answers: Answers, asked: SiteAsk, site: Site | None) -> str | None:
    """Return how far the next better line is; None for a rulebook without lines."""
    engine = answers.engine(_terms(asked))
    return _finder(engine).find(site or answers.site(asked)).words if engine.rulebook.tiers else None


def _finder(engine: Engine) -> Finder:
    """Return what finds better lines under an engine: it knows what every municipality comes to by now."""
    from grownj_geo.nextbetter import Finder  # noqa: PLC0415 - where the work is done

    known = next((finder for finder in _FINDERS if finder.engine is engine), None)
    if known is None:
        known = Finder(engine)
        _FINDERS.append(known)
    return known


def credits_in_helper(asked: CreditAsk, places: dict[str, SiteAsk], sites: dict[str, Site]) -> str:
    """Return what credit a project may have, as JSON; places that need no looking up have their sites made here."""
    from grownj_geo.servecredits import credits_json  # noqa: PLC0415 - where the work is done

    answers = _ANSWERS[0]
    found = {name: sites[name] if name in sites else answers.site(place) for name, place in places.items()}
    return credits_json(asked, found, answers)


def outline_in_helper(path: Path, crs: str | None) -> dict[str, Any]:
    """Return the site in a file: its outline as GeoJSON, its parcel numbers, and what is to be said of it.

    Raises
    ------
    SiteError
        Where the file holds no site, or several.
    LayerFault
        As `open_table`.
    """
    from grownj_geo.atlas import DEFAULT_AS_OF  # noqa: PLC0415 - where the work is done
    from grownj_geo.determine import Directory  # noqa: PLC0415 - same
    from grownj_geo.errors import SiteError  # noqa: PLC0415 - same
    from grownj_geo.features import LayerFault  # noqa: PLC0415 - same
    from grownj_geo.locate import locate_file  # noqa: PLC0415 - same
    from grownj_geo.serveanswers import Terms  # noqa: PLC0415 - same
    from grownj_geo.siterows import TableOptions, open_table  # noqa: PLC0415 - same

    directory = Directory(_ANSWERS[0].engine(Terms(DEFAULT_AS_OF, "grow-nj")).atlas)
    if path.suffix.lower() in {".geojson", ".json"}:
        try:
            return _outline([locate_file(path, crs=crs, directory=directory)], path.name, [])
        except SiteError as error:
            # Where it is kept is nobody's business.
            raise type(error)(str(error).replace(f"{path.parent}{os.sep}", "")) from error
    try:
        reader = open_table(path, TableOptions(crs=crs), directory=directory)
    except LayerFault as error:
        if error.fault not in {"no_place_columns", "no_locator"}:
            raise
        # What the table lacks to be checked row by row is another matter.
        raise SiteError(f"{path.name} has no outlines; expected one parcel with its outline. {_AS_A_TABLE}") from error
    if reader.rows is not None and reader.rows > _MOST_PARTS:
        raise SiteError(f"{path.name} has {reader.rows:,} features; expected one parcel. {_AS_A_TABLE}")
    sites: list[Site] = []
    for block in reader.blocks(size=_MOST_PARTS):
        for place in range(len(block)):
            site = block.site(place)
            if site is None or site.geometry is None:
                why = block.problems[place] or "no outline that can be read"
                raise SiteError(
                    f"{path.name}, feature {len(sites) + 1}: {why.rstrip('.')}. Expected one parcel with its outline; "
                    "select it, and export it alone."
                )
            sites.append(site)
        if len(sites) > _MOST_PARTS:
            raise SiteError(f"{path.name} has more than {_MOST_PARTS} features; expected one parcel.")
    return _outline(sites, path.name, [change.words for change in reader.changes])


def _outline(sites: list[Site], name: str, notes: list[str]) -> dict[str, Any]:
    import shapely  # noqa: PLC0415 - where the work is done

    from grownj_geo.errors import SiteError  # noqa: PLC0415 - same
    from grownj_geo.servegeo import geojson_of  # noqa: PLC0415 - same

    shapes = [site.geometry for site in sites if site.geometry is not None]
    if not shapes:
        raise SiteError(f"{name} has no outline; expected one parcel. Draw it, and export it again.")
    if len(shapes) > 1 and any(shape.geom_type == "Point" for shape in shapes):
        raise SiteError(f"{name} has {len(shapes)} features, points among them; expected one parcel or one point.")
    notes = [*notes, *(note for site in sites for note in site.notes)]
    if len(shapes) > 1:
        notes.append(f"{len(shapes)} outlines were taken as one site.")
    pins = dict.fromkeys(pin for site in sites for pin in site.pins)
    return {
        "geometry": geojson_of(shapely.union_all(shapes) if len(shapes) > 1 else shapes[0]),
        "pins": list(pins),
        "notes": list(dict.fromkeys(notes)),
    }


def reported(answers: Answers, asked: ReportAsk, site: Site | None, *, form: str) -> bytes:
    """Return a report: ``"pdf"``, by Chromium where there is one, or ``"html"``."""
    from grownj_geo.candidates import Candidate  # noqa: PLC0415 - where the work is done
    from grownj_geo.reportchromium import find_chromium, print_page  # noqa: PLC0415 - same
    from grownj_geo.reporthtml import check_report_packages, report_html  # noqa: PLC0415 - same
    from grownj_geo.reportpage import Form, report_one  # noqa: PLC0415 - same

    browser = find_chromium() if form == "pdf" else None
    untagged = form == "pdf" and browser is None
    check_report_packages(fpdf2=untagged, picture=asked.map)
    engine = answers.engine(_terms(asked))
    site = site or answers.site(asked)
    maker = _maker(engine, maps=("png" if untagged else "svg") if asked.map else None)
    reported = maker.report(Candidate(asked.name or site.typed, "", site))
    made = report_one(reported, Form(asked.preparer, asked.date, asked.contact))
    if untagged:
        from grownj_geo.reportpdf import untagged_pdf  # noqa: PLC0415 - only without a browser

        return untagged_pdf(made)
    page = report_html(made)
    return page.encode() if browser is None else print_page(page, browser, timeout_s=_PAGE_S)


def _maker(engine: Any, *, maps: Any) -> Any:  # noqa: ANN401 - an Engine, and a Maker
    """Return what makes reports of an engine, which keeps the areas that its maps draw."""
    from grownj_geo.reportmake import Maker  # noqa: PLC0415 - where the work is done

    key = id(engine), maps
    found = _MAKERS.get(key)
    if found is None or found.engine is not engine:
        found = _MAKERS[key] = Maker(engine, maps=maps)
        while len(_MAKERS) > _MOST_MAKERS:
            _MAKERS.popitem(last=False)
    return found


def _terms(asked: SiteAsk) -> Terms:
    from grownj_geo.serveanswers import terms_of  # noqa: PLC0415 - where the work is done

    return terms_of(asked.as_of, asked.rulebook, asked.readings, strict=asked.strict)
