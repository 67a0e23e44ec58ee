"""The case files of the credit rules: how they are read."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).with_name("credit_cases")


@dataclass(frozen=True)
class CreditCase:
    """One case: what is asked, of which program, and what must come out."""

    file: str
    program: str
    name: str
    rule: str
    raw: dict[str, Any]
    expect: dict[str, Any]
    options: dict[str, Any] = field(default_factory=dict)
    rule_of: str = ""

    def __str__(self) -> str:
        return f"{self.file}: {self.name}"


def credit_cases(program: str | None = None) -> list[CreditCase]:
    """Return the cases of all files, or of one program."""
    return [copy.deepcopy(case) for case in _all_cases() if program in {None, case.program}]


@lru_cache(maxsize=1)
def _all_cases() -> tuple[CreditCase, ...]:
    """Read every file once for all test files that ask."""
    found: list[CreditCase] = []
    for path in sorted(FOLDER.glob("*.yaml")):
        file = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        of = file.get("program", "grow-nj")
        for case in file["cases"]:
            found += _cases(path.name, of, case, file.get("projects", {}))
    return tuple(found)


def _cases(file: str, program: str, case: dict[str, Any], projects: dict[str, Any]) -> list[CreditCase]:
    start = projects[case["of"]] if "of" in case else case.get("project", case.get("given", {}))
    start = copy.deepcopy(start)
    for place, value in case.get("change", {}).items():
        _put(start, place, value)
    common = (file, program)
    more = {"options": case.get("options", {}), "rule_of": case.get("rule_of", "")}
    if "vary" not in case:
        return [CreditCase(*common, case["name"], case["rule"], start, case["expect"], **more)]
    found = []
    for value, outcome in case["rows"]:
        raw = copy.deepcopy(start)
        _put(raw, case["vary"], value)
        found.append(
            CreditCase(*common, f"{case['name']}: {value}", case["rule"], raw, {case["line"]: outcome}, **more)
        )
    return found


def _put(raw: Any, place: str, value: Any) -> None:
    *steps, last = (int(step) if step.isdigit() else step for step in place.split("."))
    for step in steps:
        raw = raw.setdefault(step, {}) if isinstance(raw, dict) else raw[step]
    if value == "drop":
        del raw[last]
    elif isinstance(raw, list) and isinstance(last, int) and last == len(raw):
        raw.append(value)
    else:
        raw[last] = value


def as_amount(value: Any) -> Decimal | None:
    """Return an expected number as a decimal; null is no bound."""
    return None if value is None else Decimal(str(value))
