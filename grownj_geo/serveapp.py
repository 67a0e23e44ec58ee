"""The application that `grownj serve` runs: the page, the HTTP API, health and metrics."""

from __future__ import annotations

import asyncio
import gc
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response

from grownj_geo.determination import software
from grownj_geo.serveanswers import terms_of
from grownj_geo.serveapi import router
from grownj_geo.serveguard import Guard, GuardOptions
from grownj_geo.servejobapi import router as file_router
from grownj_geo.servelog import RequestLog
from grownj_geo.servemodels import Health
from grownj_geo.servepage import page_routes
from grownj_geo.serveproblems import add_problem_handlers
from grownj_geo.servestate import Serving, State

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

__all__ = ["create_app"]

_WORDS = """Which Grow New Jersey incentive areas is a site in, by which words of the regulation, measured how, on which
edition of which map, and how sure is that? Refusals are problem+json. An answer is no determination of the New Jersey
Economic Development Authority and no legal advice."""


def create_app(
    guard: GuardOptions | None = None,
    *,
    home: Path | None = None,
    log: RequestLog | None = None,
    job_hours: float = 24.0,
    warm: bool = False,
) -> FastAPI:
    """Return the application.

    Parameters
    ----------
    guard
        Who may ask, and how much is taken.
    home
        Folder of the user's own data; the usual one by default.
    log
        Where requests are written down; the error stream by default.
    job_hours
        How long jobs and their files are kept.
    warm
        Read the layers of the default day and draw its areas at once, so that nobody waits for them.

    Raises
    ------
    LayerFault
        ``not_installed`` where what the page needs is not there.
    """
    options = guard or GuardOptions()
    state = State(options, log or RequestLog(), home=home, job_hours=job_hours)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:  # noqa: ARG001 - as the framework calls it
        tasks = [asyncio.create_task(state.tend_jobs())]
        if warm:
            tasks.append(asyncio.create_task(_warm(state)))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            state.close()

    app = FastAPI(
        title="grownj-geo",
        version=software().partition(" ")[2].split()[0],
        description=_WORDS,
        openapi_url="/api/v1/openapi.json",
        # Their pages fetch scripts from elsewhere.
        docs_url=None,
        redirect_slashes=False,
        redoc_url=None,
        lifespan=life,
    )
    app.state.serving = state
    add_problem_handlers(app)
    app.include_router(router)
    app.include_router(file_router)
    _add_watching(app)
    page_routes(app)
    if options.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=sorted(options.origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "If-None-Match"],
            expose_headers=["ETag", "Content-Disposition", "X-Request-Id"],
        )
    app.add_middleware(Guard, options=options, log=state.log)
    return app


async def _warm(state: State) -> None:
    """Make ready what is asked first; whatever is wrong is told to whoever asks."""
    terms = terms_of(None, "grow-nj", {}, strict=False)
    await state.answers.run(lambda: state.answers.engine(terms).layer_records)
    # Layers stay as long as the server: looking through them for what is no longer used would only hold up answers.
    gc.collect()
    gc.freeze()
    await state.areas(terms)


def _add_watching(app: FastAPI) -> None:
    @app.get("/healthz", response_model=Health, tags=["watching"])
    async def healthz() -> Health:
        """Return that the server answers."""
        return Health()

    @app.get("/metrics", response_class=Response, tags=["watching"])
    async def metrics(serving: Serving) -> Response:
        """Return counts of requests in Prometheus's text format."""
        return Response(serving.log.metrics(), media_type="text/plain; version=0.0.4; charset=utf-8")
