"""The OpenAPI description against a real server: whatever fits it, or nearly, never makes the server fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

if TYPE_CHECKING:
    from serving import Served

_EXAMPLES = 12
_CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]
# Each of these takes seconds and is made by the process for long work, which takes a few at a time.
_LONG = {"/api/v1/report", "/api/v1/better", "/api/v1/credits", "/api/v1/jobs", "/api/v1/geometry"}


@pytest.fixture(scope="module")
def described(served: Served) -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_url(f"{served.address}/api/v1/openapi.json")


def test_the_description_holds_every_route(described: schemathesis.BaseSchema) -> None:
    routes = {(operation.ok().method.upper(), operation.ok().path) for operation in described.get_all_operations()}
    assert {
        ("GET", "/api/v1/determine"),
        ("POST", "/api/v1/determine"),
        ("GET", "/api/v1/search"),
        ("POST", "/api/v1/explain"),
        ("POST", "/api/v1/report"),
        ("POST", "/api/v1/credits"),
        ("POST", "/api/v1/jobs"),
        ("GET", "/api/v1/jobs/{job}"),
        ("GET", "/api/v1/jobs/{job}/result"),
        ("DELETE", "/api/v1/jobs/{job}"),
        ("POST", "/api/v1/geometry"),
        ("GET", "/api/v1/layers"),
        ("GET", "/api/v1/rules"),
        ("GET", "/api/v1/facts"),
        ("GET", "/healthz"),
        ("GET", "/metrics"),
    } <= routes


@pytest.mark.slow
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["fitting", "not fitting"])
def test_nothing_that_is_sent_makes_the_server_fail_and_answers_are_as_described(
    served: Served, described: schemathesis.BaseSchema, mode: GenerationMode
) -> None:
    checked = set()
    for found in described.get_all_operations():
        operation = found.ok()
        examples = _EXAMPLES // 4 if operation.path in _LONG else _EXAMPLES

        @settings(
            max_examples=examples,
            deadline=None,
            derandomize=True,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
            database=None,
        )
        @given(case=operation.as_strategy(mode))
        def ask(case: schemathesis.Case) -> None:
            case.call_and_validate(checks=_CHECKS, timeout=120)

        try:
            ask()
        except Unsatisfiable:
            # Nothing that does not fit can be sent where nothing is taken.
            assert mode is GenerationMode.NEGATIVE
            continue
        checked.add(operation.label)
    assert "POST /api/v1/determine" in checked
    assert len(checked) >= 12
    assert not [line for line in served.log if line["event"] == "error"]
