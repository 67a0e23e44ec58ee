"""The published schema is the one of the code, and real records follow it."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import grownj_geo as gj

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    path = resources.files("grownj_geo") / "schemas" / "determination.schema.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def atlas() -> gj.Atlas:
    return gj.load_atlas()


@pytest.fixture
def record(atlas: gj.Atlas) -> dict[str, Any]:
    return json.loads(gj.determine("40.7344,-74.1641", atlas).to_json())


def refused(record: dict[str, Any], schema: dict[str, Any]) -> bool:
    return not jsonschema.Draft202012Validator(schema).is_valid(record)


def test_the_committed_schema_is_what_the_code_gives() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "write_schema.py"), "--check"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


def test_the_schema_is_a_schema_with_a_name(schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"] == "urn:grownj-determination:1"
    assert schema["title"]


@pytest.mark.parametrize(
    "site",
    [
        "40.7344,-74.1641",
        "39.9447,-75.1190",
        "0408_81_1",
        "40.7398,-74.024",
        "POLYGON ((-74.66 40.34, -74.66 40.35, -74.65 40.35, -74.65 40.34, -74.66 40.34))",
    ],
    ids=["point", "growth zone", "parcel number", "pier", "polygon"],
)
def test_real_determinations_follow_the_schema(site: str, atlas: gj.Atlas, schema: dict[str, Any]) -> None:
    record = json.loads(gj.determine(site, atlas).to_json())
    jsonschema.validate(record, schema, cls=jsonschema.Draft202012Validator)


def test_every_field_of_the_record_is_required(record: dict[str, Any], schema: dict[str, Any]) -> None:
    for name in record:
        assert refused({k: v for k, v in record.items() if k != name}, schema), name


def test_every_field_of_a_finding_is_required(record: dict[str, Any], schema: dict[str, Any]) -> None:
    first, *others = record["findings"]
    for name in first:
        short = {k: v for k, v in first.items() if k != name}
        assert refused(record | {"findings": [short, *others]}, schema), name


def test_a_fourth_answer_is_refused(record: dict[str, Any], schema: dict[str, Any]) -> None:
    record["findings"][0]["outcome"] = "maybe"
    assert refused(record, schema)


def test_a_field_that_the_schema_does_not_know_is_refused(record: dict[str, Any], schema: dict[str, Any]) -> None:
    assert refused(record | {"clock": "12:00"}, schema)
