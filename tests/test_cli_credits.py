"""grownj credits as whoever types it sees it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import openpyxl
import pytest
from typer.testing import CliRunner, Result

from grownj_geo import cli
from grownj_geo.areanames import area_names
from grownj_geo.creditprogram import PROGRAMS
from grownj_geo.creditproject import read_project

if TYPE_CHECKING:
    from pathlib import Path


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(cli.app, ["credits", *map(str, words)])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "project.yaml"
    path.write_text(
        "name: Works\n"
        "business: {industry: manufacturing, primarily_warehouse: no}\n"
        "buildings: [{gross_leasable_sqft: 50000, premises: industrial, construction: rehabilitation, "
        "similar_use_percent: 100}]\n"
        "jobs: [{kind: new, count: 12, health_benefits: yes}]\n"
        "capital: [{what: equipment, amount: 1000000}]\n"
        "bonuses: {per_job: 0}\n"
    )
    return path


def test_the_template_is_a_project_and_is_computed_where_it_says(tmp_path: Path) -> None:
    path = tmp_path / "new.yaml"
    done = run("new", "-o", path)
    assert done.exit_code == 0, done.output
    assert read_project(path).buildings[0].id == "main"
    assert path.read_text() == run("new").stdout
    done = run(path)
    assert done.exit_code == 0, done.output
    assert "Eligible      YES" in done.stdout
    assert "urban transit hub municipality" in done.stdout
    again = run("new", "-o", path)
    assert again.exit_code == 2
    assert "is there already" in again.stderr


def test_a_project_that_says_no_place_is_a_range_and_says_why(file: Path) -> None:
    done = run(file)
    assert done.exit_code == 0, done.output
    assert "Nothing says where the project is" in done.stderr
    assert "Eligible      UNDETERMINED" in done.stdout
    assert "WHAT WOULD SETTLE IT" in done.stdout


def test_a_site_gives_the_areas(file: Path) -> None:
    done = run(file, "--site", "39.9447,-75.1190", "--json")
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    assert record["format"] == "grownj-credits/1"
    (base,) = [line for line in record["lines"] if line["id"] == "base@site"]
    assert (base["low"], base["high"]) == ("5000", "5000")
    assert record["award"]["low"] == "600000.00"


def test_readings_of_areas_and_of_credits_are_told_apart(file: Path) -> None:
    words = ("--site", "39.9447,-75.1190", "--reading", "A11=strict", "--reading", "A13=none", "--json")
    done = run(file, *words)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["readings"]["A13"] == "none"


def test_areas_come_from_a_file_that_the_command_made_or_somebody_wrote(file: Path, tmp_path: Path) -> None:
    made = run("areas", "39.9447,-75.1190")
    assert made.exit_code == 0, made.output
    assert set(json.loads(made.stdout)["buildings"][0]["areas"]) == set(area_names())
    areas = tmp_path / "areas.json"
    areas.write_text(made.stdout)
    by_site = json.loads(run(file, "--site", "39.9447,-75.1190", "--json").stdout)
    assert json.loads(run(file, "--areas", areas, "--json").stdout) == by_site
    areas.write_text("qualified_incentive_area: yes\ndistressed_municipality: yes\nrest: no\n")
    award = json.loads(run(file, "--areas", areas, "--json").stdout)["award"]
    assert award == {"low": "480000.00", "high": "480000.00"}


def test_confirmed_figures_alone_leave_the_rest_open(file: Path, tmp_path: Path) -> None:
    areas = tmp_path / "areas.yaml"
    areas.write_text("qualified_incentive_area: yes\ndistressed_municipality: yes\nrest: no\n")
    found = json.loads(run(file, "--areas", areas, "--confirmed-only", "--json").stdout)
    assert float(found["award"]["low"]) == 0
    assert "base_distressed" in found["below_confirmed"]
    both = run(file, "--confirmed-only", "--take-unverified")
    assert both.exit_code == 2
    assert "leave out either" in both.stderr


def test_a_workbook_is_written_too(file: Path, tmp_path: Path) -> None:
    done = run(file, "--xlsx", tmp_path / "credit.xlsx")
    assert done.exit_code == 0, done.output
    assert "Computation" in openpyxl.load_workbook(tmp_path / "credit.xlsx").sheetnames
    assert run(file, "--xlsx", tmp_path / "credit.ods").exit_code == 2


def test_every_problem_of_a_project_is_told_and_the_exit_code_says_so(file: Path) -> None:
    file.write_text(file.read_text().replace("count: 12", "count: -3").replace("manufacturing", "manufactoring"))
    done = run(file)
    assert done.exit_code == 2
    assert not done.stdout
    assert "2 problems" in done.stderr
    assert len(done.stderr.splitlines()) == 3
    assert "Did you mean 'manufacturing'?" in done.stderr
    assert "found -3; expected at least 0" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--reading", "A13=nearest"], "no option 'nearest'"),
        (["--reading", "A99=x"], "no reading 'A99'"),
        (["--reading", "A11=strict"], "is about areas, and nothing asks where the project is"),
        (["--site", "40.73,-74.16", "--areas", "x.yaml"], "leave out either"),
        (["--areas", "none.yaml"], "could not be read"),
        (["--site", "91,-200"], "Building site:"),
        (["--as-of", "soon"], "that is no date"),
    ],
)
def test_what_cannot_be_used_is_refused(file: Path, words: list[str], said: str) -> None:
    done = run(file, *words)
    assert done.exit_code == 2, done.output
    assert said in " ".join(done.stderr.split())


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path / "none.yaml")
    assert done.exit_code == 2
    assert "grownj credits new makes one" in done.stderr


def test_areas_of_somebody_with_a_wrong_name_are_refused(file: Path, tmp_path: Path) -> None:
    areas = tmp_path / "areas.yaml"
    areas.write_text("priority_aera: yes\n")
    done = run(file, "--areas", areas)
    assert done.exit_code == 2
    assert "Did you mean 'priority_area'?" in " ".join(done.stderr.split())


def test_a_table_comes_out_with_the_credit_beside(tmp_path: Path) -> None:
    source, target = tmp_path / "projects.csv", tmp_path / "credits.csv"
    source.write_text(
        "project,industry,premises,construction,gross_leasable_sqft,similar_use_percent,new_jobs,retained_jobs,"
        "capital_investment,qualified_incentive_area\n"
        "A,manufacturing,industrial,rehabilitation,50000,100,12,0,1000000,yes\n"
        "B,manufacturing,industrial,rehabilitation,50000,100,many,0,1000000,yes\n"
    )
    done = run("batch", source, "-o", target)
    assert done.exit_code == 0, done.output
    assert not done.stdout
    assert "2 rows, 1 answered" in done.stderr
    assert "No answer in 1 row: new_jobs is 'many'" in done.stderr
    assert target.read_text().splitlines()[0].endswith("credit_below_confirmed")
    assert run("batch", source, "-o", source).exit_code == 2
    summary = json.loads(run("batch", source, "-o", target, "--json").stdout)
    assert (summary["rows"], summary["answered"]) == (2, 1)


def test_the_help_of_a_table_says_what_becomes_of_the_file_and_of_rows_without_an_answer(tmp_path: Path) -> None:
    words = " ".join(run("batch", "--help").output.replace("│", " ").split())
    assert "is replaced, once the new one is whole" in words
    assert "0 every row came out; those without an answer say why" in words
    source, target = tmp_path / "projects.csv", tmp_path / "credits.csv"
    rows = (
        "industry,premises,construction,gross_leasable_sqft,similar_use_percent,new_jobs,retained_jobs,"
        "capital_investment\nmanufacturing,industrial,rehabilitation,50000,100,{jobs},0,1000000\n"
    )
    source.write_text(rows.format(jobs=40))
    assert run("batch", source, "-o", target).exit_code == 0
    before = target.read_text()
    source.write_text("project\nA\n")
    assert run("batch", source, "-o", target).exit_code == 2
    assert target.read_text() == before
    source.write_text(rows.format(jobs="many"))
    done = run("batch", source, "-o", target)
    assert (done.exit_code, "1 rows, 0 answered" in done.stderr) == (0, True)
    assert "many" in target.read_text()


def test_a_credit_of_the_bill_is_a_file_that_names_its_program(tmp_path: Path) -> None:
    path = tmp_path / "zone.yaml"
    path.write_text(
        "program: enterprise-zone\nareas: {urban_enterprise_zone: yes, rest: no}\nretail_or_warehouse: no\n"
        "investment: 100000\ninvestment_criteria: yes\nemployees: []\ncarried_employee: 0\n"
    )
    done = run(path)
    assert done.exit_code == 0, done.output
    assert "Investment credit" in done.stdout
    assert "$8,000" in done.stdout
    assert json.loads(run(path, "--json").stdout)["amounts"]["investment_credit"]["low"] == "8000.00"
    done = run(path, "--site", "40.7344,-74.1641")
    assert "In an urban enterprise zone" in done.stdout
    assert "UNDETERMINED" in done.stdout
    assert run(path, "--strict").exit_code == 2


@pytest.mark.parametrize("program", PROGRAMS[1:])
def test_every_program_has_a_template_that_is_a_file_of_it(tmp_path: Path, program: str) -> None:
    path = tmp_path / "new.yaml"
    assert run("new", "--program", program, "-o", path).exit_code == 0
    text = path.read_text()
    assert text.startswith(f"program: {program}\n")
    # What has to be filled in.
    path.write_text(
        text.replace("role: owner|tenant|mixed_use", "role: owner").replace("credit: number", "credit: 100")
    )
    done = run(path)
    assert done.exit_code == 0, done.output
    assert "Eligible      UNDETERMINED" in done.stdout
    assert run("new", "--program", f"{program}x").exit_code == 2


def test_a_file_of_the_bill_has_its_problems_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "hub.yaml"
    path.write_text(
        "program: urban-transit-hub\nrole: landlord\nfacility_investment: lots\nperiods: [{sold: perhaps}]\n"
    )
    done = run(path)
    assert done.exit_code == 2
    words = " ".join(done.stderr.split())
    assert "3 problems" in words
    assert "role: found 'landlord'; expected owner, tenant or mixed_use" in words
    assert "periods > 1 > sold: found 'perhaps'; expected yes or no" in words
    path.write_text("program: enterprize-zone\n")
    assert "Did you mean 'enterprise-zone'?" in run(path).stderr


def test_the_dictionary_says_what_is_read_and_written() -> None:
    every = json.loads(run("batch", "--dictionary", "--json").stdout)
    assert {each["direction"] for each in every} == {"read", "written"}
    assert [each["name"] for each in every if each["needed"]]
    assert "credit_award_low (written)" in run("batch", "--dictionary").stdout


def test_help_teaches() -> None:
    for words in ([], ["project"], ["new"], ["areas"], ["batch"]):
        done = run(*words, "--help")
        assert done.exit_code == 0
        assert "Usage" in done.stdout
