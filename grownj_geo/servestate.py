"""What a running server holds: the answers, the process for long work, the areas that were drawn, the jobs."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request

from grownj_geo.serveanswers import Answers, Terms
from grownj_geo.servehelpers import Helper, areas_in_helper
from grownj_geo.servejobs import Jobs

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.servegeo import DrawnAreas
    from grownj_geo.serveguard import GuardOptions
    from grownj_geo.servelog import RequestLog

__all__ = ["Serving", "State", "state_of"]

_MOST_AREAS = 4
_TEND_S = 1.0


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
    """

    guard: GuardOptions
    log: RequestLog
    home: Path | None = None
    job_hours: float = 24.0
    answers: Answers = field(init=False)
    jobs: Jobs = field(init=False)
    helper: Helper = field(init=False)
    _areas: OrderedDict[str, asyncio.Task[DrawnAreas]] = field(default_factory=OrderedDict, init=False)

    def __post_init__(self) -> None:
        """Begin with nothing loaded."""
        self.answers = Answers(self.home)
        self.helper = Helper(self.home)
        self.jobs = Jobs(self.home, self.job_hours)
        self.log.gauge("grownj_questions_waiting", "Questions that wait or are answered.", lambda: self.answers.waiting)
        self.log.gauge(
            "grownj_long_work_waiting", "Reports and maps that wait or are made.", lambda: self.helper.waiting
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

    async def tend_jobs(self) -> None:
        """Look after the jobs for as long as the server runs."""
        while True:
            try:
                await asyncio.to_thread(self.jobs.tend, self.log.write)
            except OSError as error:
                # The folder cannot be read or written just now; whoever sends a table is told.
                self.log.write("jobs", level="error", error=type(error).__name__, words=error.strerror)
            await asyncio.sleep(_TEND_S)

    def close(self) -> None:
        """End what runs."""
        self.jobs.close()
        self.helper.end()
        self.answers.close()


def state_of(request: Request) -> State:
    """Return the server's state."""
    found: State = request.app.state.serving
    return found


Serving = Annotated[State, Depends(state_of)]
