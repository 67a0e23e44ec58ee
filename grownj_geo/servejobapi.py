"""The HTTP API under /api/v1 for what is sent as files: tables to be answered, and outlines of parcels."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from dataclasses import fields
from datetime import date  # noqa: TC003 - the framework reads the annotations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, File, Form, UploadFile
from pydantic import ValidationError
from starlette.responses import FileResponse, Response

from grownj_geo.atlas import DEFAULT_AS_OF
from grownj_geo.crs import parse_crs
from grownj_geo.rulebook import shipped_rulebooks
from grownj_geo.serveanswers import Terms
from grownj_geo.serveapi import REFUSALS
from grownj_geo.serveasked import JobOptions
from grownj_geo.servehelpers import outline_in_helper
from grownj_geo.servejobrun import question_of
from grownj_geo.servejobs import TABLES, plain_name
from grownj_geo.servemodels import JobStatus, UploadedGeometry
from grownj_geo.serveproblems import ProblemError
from grownj_geo.servestate import Serving  # noqa: TC001 - the framework reads the annotations
from grownj_geo.siterows import TableOptions

if TYPE_CHECKING:
    from typing import BinaryIO

__all__ = ["router"]

_LISTS = frozenset({".csv", ".tsv", ".txt", ".xlsx", ".xlsm"})
_OUTLINES = (TABLES - _LISTS) | {".json"}
_NAMED = frozenset(each.name for each in fields(TableOptions)) - {"crs", "uncertainty_ft", "ignored", "addresses"}
_CHUNK = 1 << 20

router = APIRouter(prefix="/api/v1", responses=REFUSALS)

JobId = str


@router.post("/jobs", response_model=JobStatus, status_code=202, tags=["tables"])
async def add_job(
    *,
    serving: Serving,
    response: Response,
    file: Annotated[UploadFile, File(description="The table, as grownj batch takes it.")],
    as_of: Annotated[date | Literal[""] | None, Form()] = None,
    rulebook: Annotated[str, Form(max_length=64)] = "grow-nj",
    reading: Annotated[list[str], Form(max_length=100)] = [],  # noqa: B006 - the framework copies it
    strict: Annotated[bool, Form()] = False,
    columns: Annotated[Literal["brief", "full"], Form()] = "brief",
    format: Annotated[Literal["csv", "xlsx", "parquet", "geoparquet", "gpkg", "geojson"], Form()] = "csv",  # noqa: A002
    column: Annotated[list[str], Form(max_length=50, description="A column, as in lat=LATITUDE; repeatable.")] = [],  # noqa: B006
    crs: Annotated[str, Form(max_length=200)] = "",
    uncertainty_ft: Annotated[float, Form(ge=0, le=1_000_000, allow_inf_nan=False)] = 0.0,
) -> JobStatus:
    """Take a table; it is answered in its turn, and kept for a while with its answers."""
    options = _options(
        as_of=as_of or None,
        rulebook=rulebook,
        readings=_pairs(reading, "reading", "A11=strict"),
        strict=strict,
        columns=columns,
        format=format,
        named=_pairs(column, "column", "lat=LATITUDE"),
        crs=crs or None,
        uncertainty_ft=uncertainty_ft,
    )
    terms = Terms(
        options.as_of or DEFAULT_AS_OF, options.rulebook, tuple(sorted(question_of(options).readings.items()))
    )
    await serving.answers.run(lambda: serving.answers.engine(terms))
    status = await asyncio.to_thread(serving.jobs.add, file.filename or "", file.file, options)
    response.headers["Location"] = status.links["self"]
    return status


def _pairs(statements: list[str], what: str, example: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for statement in statements:
        name, equals, value = (part.strip() for part in statement.partition("="))
        if not equals or not name or not value:
            raise ProblemError(422, f"The {what} was read as {statement[:80]!r}; expected it as in {example}.")
        if found.setdefault(name, value) != value:
            raise ProblemError(422, f"The {what} {name[:80]!r} was given twice, differently. Give it once.")
    return found


def _options(**given: Any) -> JobOptions:  # noqa: ANN401 - checked here
    """Return options that were checked as far as they can be before the table is read."""
    unknown = sorted(set(given["named"]) - _NAMED)
    if unknown:
        known = ", ".join(sorted(_NAMED))
        raise ProblemError(422, f"There is no column {unknown[0][:80]!r} to be named; there are {known}.")
    if given["rulebook"] not in shipped_rulebooks():
        known = ", ".join(shipped_rulebooks())
        raise ProblemError(422, f"There is no rulebook {given['rulebook']!r}; there are {known}.")
    try:
        options = JobOptions.model_validate(given)
    except ValidationError as error:
        told = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:3])
        raise ProblemError(422, f"The options cannot be taken as they are: {told}.") from error
    if options.crs is not None:
        parse_crs(options.crs)
    return options


@router.get("/jobs/{job}", response_model=JobStatus, tags=["tables"])
async def job_status(serving: Serving, job: JobId) -> JobStatus:
    """Return how far a table is, and what it came to."""
    return await asyncio.to_thread(serving.jobs.status, job)


@router.get(
    "/jobs/{job}/result",
    response_class=FileResponse,
    responses={
        200: {"content": {"application/octet-stream": {}}, "description": "The table with its answers."},
        409: {**REFUSALS[404], "description": "It is not done."},
    },
    tags=["tables"],
)
async def job_result(serving: Serving, job: JobId) -> FileResponse:
    """Return the table with its answers."""
    path, name = await asyncio.to_thread(serving.jobs.result, job)
    return FileResponse(path, filename=name, media_type="application/octet-stream")


@router.delete("/jobs/{job}", status_code=204, tags=["tables"])
async def remove_job(serving: Serving, job: JobId) -> Response:
    """End a job, and remove the table and its answers."""
    await asyncio.to_thread(serving.jobs.remove, job)
    return Response(status_code=204)


@router.post("/geometry", response_model=UploadedGeometry, tags=["sites"])
async def geometry(
    serving: Serving,
    file: Annotated[UploadFile, File(description="GeoJSON, a zipped shapefile, GeoPackage or KML with one parcel.")],
    crs: Annotated[str, Form(max_length=200)] = "",
) -> Any:  # noqa: ANN401 - checked by the framework
    """Return the outline in a file, to be asked about."""
    name = plain_name(file.filename or "")
    suffix = Path(name).suffix.lower()
    if suffix not in _OUTLINES:
        known = ", ".join(sorted(_OUTLINES))
        if suffix in _LISTS:
            detail = f"{name} is a table; expected one parcel with its outline, in one of {known}. "
            raise ProblemError(415, detail + "Send a table of sites as a table, under Many sites.")
        raise ProblemError(415, f"The file ends in {suffix[:20] or 'nothing'!r}; expected one of {known}.")
    with tempfile.TemporaryDirectory(prefix="grownj-outline-") as folder:
        path = Path(folder) / name
        await asyncio.to_thread(_keep, file.file, path)
        if not path.stat().st_size:
            raise ProblemError(422, "The file is empty. Export it again.", code="file_not_read")
        return await serving.helper.run(outline_in_helper, path, crs or None)


def _keep(content: BinaryIO, path: Path) -> None:
    with path.open("wb") as file:
        shutil.copyfileobj(content, file, _CHUNK)
