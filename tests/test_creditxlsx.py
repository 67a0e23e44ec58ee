"""The workbook computes: its formulas give what the lines say, and change when an input changes."""

from __future__ import annotations

import math
import re
from decimal import ROUND_DOWN, ROUND_HALF_UP, ROUND_UP, Decimal
from typing import TYPE_CHECKING, Any

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from test_credit_properties import building, projects

from grownj_geo.areas import areas_by_hand
from grownj_geo.creditproject import project_of
from grownj_geo.credits import Estimate, estimate
from grownj_geo.creditxlsx import estimate_workbook, write_estimate

if TYPE_CHECKING:
    from pathlib import Path

TOP = 6
NO_LIMIT = 1e90


def rounded(value: float, digits: int, mode: str) -> float:
    if value >= NO_LIMIT:
        return value
    return float(Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), rounding=mode))


FUNCTIONS: dict[str, Any] = {
    "IF": lambda test, yes, no: yes if test else no,
    "MIN": lambda *values: min(values),
    "MAX": lambda *values: max(values),
    "SUM": lambda *values: math.fsum(values),
    "ROUND": lambda value, digits: rounded(value, digits, ROUND_HALF_UP),
    "ROUNDUP": lambda value, digits: rounded(value, digits, ROUND_UP),
    "ROUNDDOWN": lambda value, digits: rounded(value, digits, ROUND_DOWN),
    "AND": lambda *values: all(values),
    "OR": lambda *values: any(values),
}


class Computed:
    """A sheet as a spreadsheet program computes it, for the few functions that are used."""

    def __init__(self, sheet: Any) -> None:
        self.sheet, self.known = sheet, {}

    def __getitem__(self, cell: str) -> Any:
        if cell not in self.known:
            value = self.sheet[cell].value
            if isinstance(value, str) and value.startswith("="):
                words = re.sub(r"(?<![<>=])=(?!=)", "==", value[1:])
                words = re.sub(r"\b([A-G]\d+)\b", r'cells["\1"]', words)
                value = eval(words, {"__builtins__": {}, "cells": self, **FUNCTIONS})  # noqa: S307 - our own formulas
            self.known[cell] = value
        return self.known[cell]


def rows(found: Estimate) -> dict[str, int]:
    return {line.id: TOP + i for i, line in enumerate(found.lines)}


def same(one: float, other: Decimal | None) -> bool:
    if other is None:
        return one >= NO_LIMIT
    return math.isclose(one, float(other), rel_tol=1e-9, abs_tol=0.011)


def check(found: Estimate) -> int:
    computed = Computed(estimate_workbook(found)["Computation"])
    formulas = 0
    for line in found.lines:
        row = rows(found)[line.id]
        low, high = computed[f"C{row}"], computed[f"D{row}"]
        formulas += line.formula is not None
        if line.outcome is not None:
            assert (low, high) == (line.outcome, line.outcome), line.id
        else:
            assert line.low is not None
            assert same(low, line.low), (line.id, low, line.low)
            assert same(high, line.high), (line.id, high, line.high)
    return formulas


def ordinary(**more: Any) -> dict[str, Any]:
    return {
        "name": "Works",
        "business": {"industry": "manufacturing"},
        "buildings": [building("A", {"qualified_incentive_area": "yes", "distressed_municipality": "yes"})],
        "jobs": [{"kind": "new", "count": 12}, {"kind": "retained", "count": 30}],
        "capital": [{"what": "equipment", "amount": 300_000}],
        **more,
    }


def test_every_formula_gives_what_its_line_says() -> None:
    assert check(estimate(project_of(ordinary()))) > 12


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(projects())
def test_the_formulas_of_any_project_give_what_its_lines_say(raw: dict[str, Any]) -> None:
    for trust in ("known", "stated", "confirmed"):
        check(estimate(project_of(raw), trust=trust))


@pytest.mark.parametrize("readings", [{"A13": "none"}, {"A54": "total"}, {"A13": "result_to_nearest"}])
@pytest.mark.parametrize("place", ["garden_state_growth_zone", "southern_eight"])
def test_the_formulas_follow_the_readings(readings: dict[str, str], place: str) -> None:
    raw = ordinary()
    for count in (7, 8, 26, 27):
        raw["buildings"][0]["areas"][place] = "yes"
        raw["jobs"][1]["count"] = count
        check(estimate(project_of(raw), readings=readings))


@pytest.mark.parametrize("limit", ["board_maximum", "section_1_7g_amount"])
def test_the_formula_of_the_method_by_capital_keeps_the_limits(limit: str) -> None:
    raw = ordinary(method="capital_investment", **{limit: 1_000_000})
    raw["buildings"][0]["areas"]["mrera_growth_zone"] = "yes"
    raw["jobs"][0]["count"], raw["capital"][0]["amount"] = 40, 20_000_000
    found = estimate(project_of(raw), trust="stated")
    check(found)
    assert (found["year"].low, found["year"].high) == (100_000, 100_000)
    assert f"{{limit_{limit}}}" in (found["year"].formula or "")


def test_a_changed_input_changes_the_award_as_the_rules_do() -> None:
    found = estimate(project_of(ordinary()), trust="stated")
    book = estimate_workbook(found)
    sheet = book["Computation"]
    for column in "CD":
        sheet[f"{column}{rows(found)['new_jobs@A']}"] = 20
    more = ordinary(jobs=[{"kind": "new", "count": 20}, {"kind": "retained", "count": 30}])
    again = estimate(project_of(more), trust="stated")
    computed = Computed(sheet)
    row = rows(found)["award"]
    assert again.award.low > found.award.low
    assert (computed[f"C{row}"], computed[f"D{row}"]) == (float(again.award.low), float(again.award.high or 0))
    for column in "CD":
        sheet[f"{column}{rows(found)['new_jobs@A']}"] = 9
    for column in "CD":
        sheet[f"{column}{rows(found)['retained_jobs@A']}"] = 24
    assert Computed(sheet)[f"D{row}"] == 0


def test_the_file_is_whole_and_says_what_it_rests_on(tmp_path: Path) -> None:
    path = tmp_path / "credit.xlsx"
    write_estimate(estimate(project_of(ordinary())), path)
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["Computation", "Figures", "Notes"]
    statuses = {row[0].value: row[3].value for row in book["Figures"].iter_rows(min_row=2)}
    assert statuses["base_distressed"] == "secondary"
    assert [p.name for p in tmp_path.iterdir()] == ["credit.xlsx"]


def shown(found: Estimate) -> dict[str, tuple[Any, Any]]:
    computed = Computed(estimate_workbook(found)["Computation"])
    return {name: (computed[f"C{row}"], computed[f"D{row}"]) for name, row in rows(found).items()}


def changed(found: Estimate, **values: Any) -> dict[str, tuple[Any, Any]]:
    """Return what the workbook shows when somebody types other values into it."""
    sheet = estimate_workbook(found)["Computation"]
    for name, value in values.items():
        for column in "CD":
            sheet[f"{column}{rows(found)[name.replace('_AT_', '@')]}"] = value
    computed = Computed(sheet)
    return {name: (computed[f"C{row}"], computed[f"D{row}"]) for name, row in rows(found).items()}


def three_buildings(*words: str) -> dict[str, Any]:
    raw = ordinary()
    raw["buildings"] = [
        building(name, {"qualified_incentive_area": "yes", "southern_eight": word}, proximity="near")
        for name, word in zip("ABC", words, strict=True)
    ]
    raw["jobs"] = [
        {"building": name, "kind": "new", "count": count} for name, count in zip("ABC", (4, 3, 2), strict=True)
    ]
    raw["jobs"] += [{"building": "C", "kind": "retained", "count": 20}]
    raw["capital"] = [{"building": name, "what": "equipment", "amount": 300_000} for name in "ABC"]
    return raw


@pytest.mark.parametrize(
    "words",
    [("yes", "yes", "no"), ("yes", "undetermined", "no"), ("undetermined", "undetermined", "no"), ("no", "no", "no")],
)
def test_jobs_in_reduced_places_are_computed_from_the_buildings(words: tuple[str, ...]) -> None:
    found = estimate(project_of(three_buildings(*words)))
    check(found)
    there = [line for line in found.lines if line.id in {"new_there", "retained_there"}]
    assert len(there) == (2 if "yes" in words or "undetermined" in words else 0)
    assert all(line.formula and line.formula_high for line in there)
    assert found["jobs_met"].formula
    if there:
        more = changed(found, new_jobs_AT_A=10)
        assert more["new_there"][1] == shown(found)["new_there"][1] + 6
    if words == ("yes", "yes", "no"):
        assert (shown(found)["jobs_met"][0], more["jobs_met"][0]) == ("no", "yes")


def test_the_net_benefit_is_compared_in_the_workbook() -> None:
    found = estimate(project_of(ordinary(net_benefit=10**9)), trust="stated")
    check(found)
    assert shown(found)["eligible"][0] == "yes"
    less = changed(found, net_benefit=1_100)
    assert (less["condition_net_benefit"][0], less["award"]) == ("yes", (1_000, 1_000))
    assert less["carried"] == (1_000, 1_000)
    assert changed(found, net_benefit=0)["award"] == (0, 0)
    enough = float(found.if_eligible.high or 0) * 1.2
    assert changed(found, net_benefit=enough)["condition_net_benefit"][0] == "yes"


@pytest.mark.parametrize("bad", ["\x00", "\x07", "\x0b", "\x1f", "\ufffe"])
def test_text_of_strangers_that_a_workbook_cannot_hold_is_replaced(tmp_path: Path, bad: str) -> None:
    areas = areas_by_hand({"buildings": [{"id": "A"}], "cautions": [f"see{bad}here"]})
    path = tmp_path / "credit.xlsx"
    write_estimate(estimate(project_of(ordinary()), areas), path)
    told = [cell.value for row in openpyxl.load_workbook(path)["Notes"].iter_rows() for cell in row]
    assert "see\N{REPLACEMENT CHARACTER}here" in told


@pytest.mark.parametrize("name", ['=HYPERLINK("http://x","y")', "+1+1", "@SUM(1)"])
def test_names_are_text_and_never_computed(tmp_path: Path, name: str) -> None:
    raw = ordinary(name=name)
    path = tmp_path / "credit.xlsx"
    write_estimate(estimate(project_of(raw)), path)
    sheet = openpyxl.load_workbook(path)["Computation"]
    assert sheet["B1"].value == f"'{name}"
    ours = [cell.value for row in sheet.iter_rows(min_row=TOP) for cell in row if str(cell.value).startswith("=")]
    assert not any("HYPERLINK" in formula for formula in ours)
