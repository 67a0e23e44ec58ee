"""What went wrong, as problem+json (RFC 9457): one form for every refusal of the HTTP API."""

from __future__ import annotations

import json
import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.responses import Response

from grownj_geo.errors import (
    FactError,
    LayerError,
    OutsideNewJerseyError,
    RecordError,
    RulebookError,
    SettingsError,
    SiteError,
)
from grownj_geo.features import LayerFault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import FastAPI
    from starlette.requests import Request

__all__ = [
    "MEDIA_TYPE",
    "FieldProblem",
    "Problem",
    "ProblemError",
    "add_problem_handlers",
    "api_words",
    "problem_response",
]

MEDIA_TYPE = "application/problem+json"

_MOST_ERRORS = 20
_CODES = {
    400: "bad_request",
    401: "token_needed",
    403: "not_allowed",
    404: "not_found",
    405: "wrong_method",
    408: "too_slow",
    413: "too_large",
    415: "wrong_media_type",
    422: "not_accepted",
    429: "too_many",
    500: "unforeseen",
    503: "busy",
}
_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*(?: LAT,LON)?)")
_FIELDS = {"municipality": "mun_code", "at LAT,LON": "a point as geometry", "fact": "a fact", "reading": "a reading"}
# What is wrong with what was sent, the most special first.
_OF_ERRORS: tuple[tuple[type[Exception], int, str], ...] = (
    (OutsideNewJerseyError, 422, "outside_new_jersey"),
    (SiteError, 422, "site_not_read"),
    (FactError, 422, "fact_not_accepted"),
    (RulebookError, 422, "rules_not_applicable"),
    (RecordError, 422, "record_not_read"),
    (SettingsError, 503, "settings_not_readable"),
    (LayerFault, 422, "file_not_read"),
    (LayerError, 503, "layers_not_readable"),
)


class FieldProblem(BaseModel):
    """One thing that is wrong with a request: where it is, and what."""

    where: str
    words: str


class Problem(BaseModel):
    """A refusal.

    Attributes
    ----------
    type
        Always ``about:blank``: `code` says what kind it is.
    title
        The status in words.
    detail
        What was found, what was expected, and what to do, for people.
    code
        The kind in one stable word.
    errors
        Of a request whose fields are wrong: each.
    """

    model_config = ConfigDict(extra="allow")

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    errors: tuple[FieldProblem, ...] = ()


class ProblemError(HTTPException):
    """A refusal, wherever it is found.

    Parameters
    ----------
    status, detail, code, headers
        As `problem_response` takes them.
    more
        Further members of the answer.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(status, detail, dict(headers or {}))
        self.code, self.more = code, dict(more or {})

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how it crosses from one process to another."""
        return _again, (self.status_code, str(self.detail), self.code, self.headers, self.more)


def _again(
    status: int, detail: str, code: str | None, headers: Mapping[str, str] | None, more: Mapping[str, Any]
) -> ProblemError:
    return ProblemError(status, detail, code=code, headers=headers, more=more)


def problem_response(
    status: int,
    detail: str,
    *,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
    errors: tuple[FieldProblem, ...] = (),
    more: Mapping[str, Any] | None = None,
) -> Response:
    """Return a refusal.

    Parameters
    ----------
    status
        Of HTTP.
    detail
        For people.
    code
        The kind in one word; by default that of the status.
    headers
        Further headers.
    errors
        Fields that are wrong.
    more
        Further members.

    Examples
    --------
    >>> problem_response(404, "There is no such job.").body
    b'{"type":"about:blank","title":"Not Found","status":404,"detail":"There is no such job.","code":"not_found"}'
    """
    content: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code or _CODES.get(status, "refused"),
    }
    if errors:
        content["errors"] = [each.model_dump() for each in errors]
    content |= {key: value for key, value in (more or {}).items() if key not in content}
    # In ASCII: what a stranger sent may hold halves of characters, which are no UTF-8.
    return Response(
        json.dumps(content, separators=(",", ":"), default=str),
        status_code=status,
        media_type=MEDIA_TYPE,
        headers={"Cache-Control": "no-store", **(headers or {})},
    )


def api_words(text: str) -> str:
    """Return words that were written for the command line as they are right for whoever asks over HTTP.

    Examples
    --------
    >>> api_words("Give it as --uncertainty-ft 50, or say where it is with --at LAT,LON.")
    'Give it as uncertainty_ft 50, or say where it is with a point as geometry.'
    """
    return _OPTION.sub(lambda found: _FIELDS.get(found[1], found[1].replace("-", "_")), text)


def problem_of(error: Exception) -> Response | None:
    """Return the refusal that one of the package's errors means; None for any other error."""
    for kind, status, code in _OF_ERRORS:
        if isinstance(error, kind):
            fault = {"fault": error.fault} if isinstance(error, LayerFault) else {}
            return problem_response(status, api_words(str(error)), code=code, more=fault)
    return None


def add_problem_handlers(app: FastAPI) -> None:
    """Let an app answer problem+json wherever it refuses."""
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _not_valid)
    for kind, _, _ in _OF_ERRORS:
        app.add_exception_handler(kind, _known)


async def _known(request: Request, error: Exception) -> Response:  # noqa: ARG001 - as the framework calls it
    response = problem_of(error)
    if response is None:
        raise error
    return response


async def _refused(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    if isinstance(error, ProblemError):
        return problem_response(
            error.status_code, str(error.detail), code=error.code, headers=error.headers, more=error.more
        )
    detail = str(error.detail)
    if error.status_code == HTTPStatus.NOT_FOUND and detail == HTTPStatus.NOT_FOUND.phrase:
        detail = f"There is nothing at {request.url.path[:200]}. See /api/v1/openapi.json for what there is."
    elif error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        detail = f"{request.method} is not for {request.url.path[:200]}. See /api/v1/openapi.json for what there is."
    return problem_response(error.status_code, detail, headers=error.headers)


async def _not_valid(request: Request, error: Exception) -> Response:  # noqa: ARG001 - same
    if not isinstance(error, RequestValidationError):
        raise error
    found = error.errors()
    if any(each["type"] == "json_invalid" for each in found):
        reason = str(found[0].get("ctx", {}).get("error", "it cannot be read"))
        return problem_response(400, f"The body is no JSON: {reason}. Send one JSON object.", code="no_json")
    problems = tuple(
        FieldProblem(where=" > ".join(str(step)[:100] for step in each["loc"]), words=str(each["msg"])[:300])
        for each in found[:_MOST_ERRORS]
    )
    told = "; ".join(f"{each.where}: {each.words}" for each in problems[:3])
    return problem_response(422, f"The request cannot be taken as it is: {told}.", errors=problems)
