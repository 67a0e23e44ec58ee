"""A table of projects: every row comes out with the answer that it has alone."""

from __future__ import annotations

import csv
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from benchmark_credits import write_projects

from grownj_geo.areanames import area_names
from grownj_geo.batch import Question, run_batch
from grownj_geo.creditbatch import CREDIT_COLUMNS, CreditQuestion, near_columns, run_credit_batch
from grownj_geo.creditproject import project_of
from grownj_geo.credits import estimate
from grownj_geo.features import LayerFault

HEADER = "project,industry,premises,construction,gross_leasable_sqft,similar_use_percent,new_jobs,retained_jobs,"
HEADER += "capital_investment,qualified_incentive_area,bonus_per_job"
GOOD = "A,manufacturing,industrial,rehabilitation,50000,100,12,0,1000000,yes,0"


def answers(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def written(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "projects.csv"
    path.write_text("\n".join([HEADER, *lines]) + "\n")
    return path


def alone(row: dict[str, str]) -> dict[str, Any]:
    areas = {name: row[name] for name, area in area_names().items() if area.rulebook == "grow-nj"}
    return {
        "business": {"industry": row["industry"], "gaming_revenue_percent": 0},
        "buildings": [
            {
                "gross_leasable_sqft": row["gross_leasable_sqft"],
                "premises": row["premises"],
                "construction": row["construction"],
                "similar_use_percent": row["similar_use_percent"],
                "median_salary": row["median_salary"],
                "areas": areas,
            }
        ],
        "jobs": [
            # A row has the jobs and the capital that count.
            {
                "kind": kind,
                "count": row[f"{kind}_jobs"],
                "average_salary": row["average_salary"],
                "hours_per_week": 35,
                "time_at_facility_percent": 80,
                "health_benefits": True,
                "contractors": False,
            }
            for kind in ("new", "retained")
        ],
        "capital": [{"what": "construction", "amount": row["capital_investment"], "when": "after", "grants": 0}],
        "application_date": row["application_date"],
        "eligibility_years": int(row["eligibility_years"]),
        "bonuses": {"stated": {"green": False}},
    }


@pytest.mark.parametrize(("trust", "strict"), [("known", False), ("stated", True), ("confirmed", False)])
def test_each_row_has_the_answer_that_it_has_alone(tmp_path: Path, trust: Any, strict: Any) -> None:
    source, target = tmp_path / "projects.csv", tmp_path / "credits.csv"
    write_projects(source, 120)
    lines = source.read_text().splitlines()
    source.write_text("\n".join([f"{lines[0]},bonus_green", *(f"{line},no" for line in lines[1:])]) + "\n")
    run_credit_batch(source, target, CreditQuestion(trust=trust, strict=strict))
    for row in answers(target):
        found = estimate(project_of(alone(row)), trust=trust, strict=strict)
        assert row["credit_eligible"] == found.eligible, row["project"]
        for name, amounts in (
            ("award", found.award),
            ("year", found.award_year),
            ("if_eligible", found.if_eligible),
            ("per_job", found["gross"]),
            ("required", found["required"]),
        ):
            least, most = row[f"credit_{name}_low"], row[f"credit_{name}_high"]
            assert Decimal(least) == amounts.low, (row["project"], name)
            assert (Decimal(most) if most else None) == amounts.high, (row["project"], name)
        assert row["credit_jobs_met"] == found["jobs_met"].outcome
        assert row["credit_capital_met"] == found["capital_met"].outcome


def test_a_row_that_cannot_be_read_says_all_that_is_wrong_and_stops_no_other(tmp_path: Path) -> None:
    bad = "B,finanse,industrial,rehabilitation,,100,-3,1.5,$5,perhaps,0"
    target = tmp_path / "out.csv"
    summary = run_credit_batch(written(tmp_path, GOOD, bad, GOOD), target)
    first, second, third = answers(target)
    assert (summary.rows, summary.answered) == (3, 2)
    assert first["credit_award_low"] == third["credit_award_low"] == "60000.00"
    problem = second["credit_problem"]
    assert problem.startswith("row 3: ")
    for words in (
        "industry is 'finanse'; expected one of aviation",
        "new_jobs is '-3'; expected a whole number of at least 0",
        "retained_jobs is '1.5'; expected a whole number",
        "capital_investment is '$5'; expected a number of at least 0",
        "qualified_incentive_area is 'perhaps'; expected yes, no or undetermined",
        "gross_leasable_sqft is empty",
    ):
        if words != "gross_leasable_sqft is empty":
            assert words in problem
    assert second["credit_award_low"] == ""
    assert second["industry"] == "finanse"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (GOOD.replace("50000", ""), "gross_leasable_sqft is empty; expected a number"),
        (GOOD.replace("50000", "0"), "gross_leasable_sqft is 0; expected 1 or more"),
        (GOOD.replace("manufacturing", ""), "industry is empty; expected aviation"),
        (GOOD.replace(",12,", ",nan,"), "new_jobs is 'nan'"),
    ],
)
def test_each_problem_of_a_row_is_told(tmp_path: Path, line: str, words: str) -> None:
    target = tmp_path / "out.csv"
    run_credit_batch(written(tmp_path, line), target)
    assert words in answers(target)[0]["credit_problem"]


def test_a_row_that_contradicts_its_kind_of_business_is_told(tmp_path: Path) -> None:
    source, target = tmp_path / "rows.csv", tmp_path / "out.csv"
    rows = [f"{GOOD},other,yes", f"{GOOD},other,no"]
    source.write_text("\n".join([f"{HEADER},kind,technology_startup", *rows]) + "\n")
    run_credit_batch(source, target)
    first, second = answers(target)
    assert "kind is other and technology_startup is yes" in first["credit_problem"]
    assert second["credit_problem"] == ""


def test_what_is_undetermined_and_weak_is_named(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    run_credit_batch(written(tmp_path, GOOD), target)
    (row,) = answers(target)
    assert "priority_area" in row["credit_open"]
    assert "qualified_incentive_area" not in row["credit_open"]
    assert "base_priority" in row["credit_below_confirmed"]


def test_rows_without_a_day_are_not_computed_with_that_of_another(tmp_path: Path) -> None:
    big = "A,manufacturing,industrial,rehabilitation,50000,100,300,0,30000000,yes,0,{day},yes"
    path, target = tmp_path / "days.csv", tmp_path / "out.csv"
    lines = [big.format(day=day) for day in ("2018-01-02", "", "2017-09-18")]
    path.write_text("\n".join([f"{HEADER},application_date,port_district", *lines]) + "\n")
    run_credit_batch(path, target, CreditQuestion(trust="stated"))
    # A mega project had to apply by 2017-09-18; the default day is before.
    assert [row["credit_per_job_low"] for row in answers(target)] == ["500", "5000", "5000"]


def test_a_table_without_what_every_project_needs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bare.csv"
    path.write_text("project,new_jobs\nA,3\n")
    with pytest.raises(
        LayerFault, match="no column industry, gross_leasable_sqft, premises, construction, retained_jobs"
    ):
        run_credit_batch(path, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_a_column_that_is_almost_called_like_one_that_is_read_is_told(tmp_path: Path) -> None:
    path, target = tmp_path / "near.csv", tmp_path / "out.csv"
    path.write_text(f"{HEADER},Average Salery,green-standard,owner\n{GOOD},60000,yes,me\n")
    assert run_credit_batch(path, target).unread == {
        "Average Salery": "average_salary",
        "green-standard": "green_standard",
    }
    path.write_text(HEADER.replace("new_jobs", "new_job") + f"\n{GOOD}\n")
    with pytest.raises(LayerFault, match="Did you mean 'new_job' for new_jobs"):
        run_credit_batch(path, target)


def test_columns_that_the_batch_of_sites_writes_are_not_taken_for_others(tmp_path: Path) -> None:
    source, areas = tmp_path / "sites.csv", tmp_path / "areas.csv"
    source.write_text("lat,lon\n39.9447,-75.1190\n")
    run_batch(source, areas, Question(as_of=date(2017, 4, 17), detail="full"))
    header = next(csv.reader(areas.read_text(encoding="utf-8-sig").splitlines()))
    assert len(header) > 80
    assert near_columns(header) == {}


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_every_format_is_written(tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"out.{ending}"
    run_credit_batch(written(tmp_path, GOOD), target)
    again = tmp_path / "again.csv"
    if ending == "xlsx":
        header = [cell.value for cell in openpyxl.load_workbook(target).active[1]]
        assert header[-len(CREDIT_COLUMNS) :] == [column.name for column, _ in CREDIT_COLUMNS]
    else:
        with pytest.raises(LayerFault, match="written too"):
            run_credit_batch(target, again)


def test_a_workbook_and_a_text_give_the_same(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    for line in (HEADER, GOOD):
        sheet.append([int(cell) if cell.isdigit() else cell for cell in line.split(",")])
    book.save(tmp_path / "projects.xlsx")
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    run_credit_batch(written(tmp_path, GOOD), one)
    run_credit_batch(tmp_path / "projects.xlsx", other)
    assert answers(one) == answers(other)


def test_one_table_goes_through_both_batches(tmp_path: Path) -> None:
    source, areas, target = (tmp_path / name for name in ("sites.csv", "areas.csv", "credits.csv"))
    source.write_text(
        "project,lat,lon,industry,premises,construction,gross_leasable_sqft,similar_use_percent,new_jobs,retained_jobs,"
        "capital_investment,bonus_per_job\n"
        "A,39.9447,-75.1190,manufacturing,industrial,rehabilitation,50000,100,8,0,700000,0\n"
        "B,nowhere,,manufacturing,industrial,rehabilitation,50000,100,8,0,700000,0\n"
    )
    run_batch(source, areas, Question(as_of=date(2017, 4, 17)))
    run_credit_batch(areas, target)
    first, second = answers(target)
    # Camden: eight jobs and 14 dollars are enough, 5,000 for each job.
    assert (first["credit_eligible"], first["credit_award_low"], first["credit_award_high"]) == (
        "yes",
        "400000.00",
        "400000.00",
    )
    # What the first batch could not place is open in the second, and says so.
    assert second["problem"]
    assert second["credit_eligible"] == "undetermined"


def test_bounds_of_the_base_amount_make_the_range_narrower(tmp_path: Path) -> None:
    path, target = tmp_path / "bounds.csv", tmp_path / "out.csv"
    path.write_text(f"{HEADER},base_floor,base_ceiling\n{GOOD},3000,4000\n")
    run_credit_batch(path, target)
    (row,) = answers(target)
    assert (row["credit_per_job_low"], Decimal(row["credit_per_job_high"])) == ("3000", 4000)


def test_areas_that_cannot_be_together_are_a_problem_of_the_row(tmp_path: Path) -> None:
    path, target = tmp_path / "areas.csv", tmp_path / "out.csv"
    path.write_text(f"{HEADER},priority_area,distressed_municipality\n{GOOD},yes,yes\n{GOOD},yes,\n")
    run_credit_batch(path, target)
    first, second = answers(target)
    assert "priority_area is yes and distressed_municipality is yes" in first["credit_problem"]
    assert second["credit_problem"] == ""
    assert "distressed_municipality" not in second["credit_open"].split("; ")


def test_no_other_bonuses_leaves_what_the_columns_show(tmp_path: Path) -> None:
    path, target = tmp_path / "rest.csv", tmp_path / "out.csv"
    header = HEADER.replace("bonus_per_job", "primarily_warehouse,transit_bonus,bonus_rest")
    rows = [GOOD[:-1] + f"no,{transit},no" for transit in ("yes", "no", "undetermined")]
    path.write_text("\n".join([header, *rows]) + "\n")
    run_credit_batch(path, target, CreditQuestion(trust="stated"))
    # A targeted industry; of the base amount nothing is known but that there is at least the lowest line.
    assert [row["credit_per_job_low"] for row in answers(target)] == ["3000", "1000", "1000"]
