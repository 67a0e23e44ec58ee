"""A project is taken as it is described, and every problem of a bad one is told at once."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, get_args

import pytest
import yaml

from grownj_geo.creditproject import Industry, Project, ProjectError, project_of, read_project
from grownj_geo.facts import load_facts

if TYPE_CHECKING:
    from pathlib import Path


BUILDING = {"gross_leasable_sqft": 50000, "premises": "industrial", "construction": "rehabilitation"}


def good(**more: Any) -> dict[str, Any]:
    return {
        "business": {"industry": "manufacturing"},
        "buildings": [{"gross_leasable_sqft": 50000, "premises": "industrial", "construction": "rehabilitation"}],
        "jobs": [{"kind": "new", "count": 12}],
        **more,
    }


def problems(raw: object) -> tuple[str, ...]:
    with pytest.raises(ProjectError) as caught:
        project_of(raw)
    return caught.value.problems


def test_a_good_project_is_taken_and_comes_back_the_same() -> None:
    raw = good(capital=[{"what": "construction", "amount": "1000000.10"}], application_date="2016-01-04")
    project = project_of(raw)
    assert project.capital is not None
    assert project.capital[0].amount == Decimal("1000000.10")
    assert project.application_date == date(2016, 1, 4)
    assert Project.model_validate(json.loads(project.to_json())) == project
    assert project_of(yaml.safe_load(project.to_json())) == project


def test_industries_are_those_of_the_site_facts() -> None:
    assert get_args(Industry) == load_facts()["industry"].choices


def test_money_from_yaml_keeps_its_digits() -> None:
    project = project_of(
        good(capital=yaml.safe_load("[{what: construction, amount: 0.1}, {what: equipment, amount: 0.2}]"))
    )
    assert project.capital is not None
    assert sum(item.amount for item in project.capital) == Decimal("0.3")


def test_what_is_left_out_is_not_known() -> None:
    project = project_of(good())
    assert project.capital is None
    assert project.business.technology_startup is None
    assert project.jobs[0].health_benefits is None
    assert project.bonuses.rest == "undetermined"


def test_all_problems_of_a_bad_project_are_told_at_once() -> None:
    raw = {
        "business": {"industry": "finanse"},
        "buildings": [
            {"id": "A", "premises": "other", "construction": "new"},
            {"id": "B", "premises": "other", "construction": "new"},
        ],
        "jobs": [{"building": "A", "kind": "new", "count": -3, "average_salary": "sixty thousand"}],
        "eligibility_years": 11,
        "application_date": "2012-01-01",
        "approval_date": "2020-02-02",
    }
    told = problems(raw)
    assert told[0].startswith("business > industry: found 'finanse'; expected aviation, defense, energy, ")
    assert told[0].endswith("transportation or other. Did you mean 'finance'?")
    assert told[1:4] == (
        "buildings > A > gross_leasable_sqft: it is missing; expected a number. Add it.",
        "buildings > B > gross_leasable_sqft: it is missing; expected a number. Add it.",
        "jobs > 1 > count: found -3; expected at least 0. Correct the number.",
    )
    assert told[4].startswith("jobs > 1 > average_salary: found 'sixty thousand'; expected a plain number")
    days = "expected a day from 2013-09-18 to 2019-07-01, the days of the program; correct the date."
    assert told[5:7] == (f"application_date: found '2012-01-01'; {days}", f"approval_date: found '2020-02-02'; {days}")
    assert told[7].startswith("eligibility_years: found 11; expected at most 10 years")
    assert len(told) == 8


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"eligibility_years": 0}, "eligibility_years: found 0; expected at least 1"),
        ({"eligibility_years": 10.5}, "eligibility_years: found '10.5'; expected a plain number"),
        ({"jobs": [{"kind": "new", "count": 1.5}]}, "jobs > 1 > count: found '1.5'; expected a plain number"),
        ({"jobs": [{"kind": "new", "count": True}]}, "jobs > 1 > count: found True; expected a number"),
        ({"jobs": [{"kind": "old", "count": 3}]}, "jobs > 1 > kind: found 'old'; expected new or retained."),
        ({"jobs": [{"kind": "new", "count": 3, "health_benefits": "perhaps"}]}, "found 'perhaps'; expected yes or no"),
        ({"jobs": [{"kind": "new", "count": 3, "building": "Z"}]}, "jobs > 1 > building: there is no building 'Z'"),
        ({"capital": [{"what": "yacht", "amount": 1}]}, "capital > 1 > what: found 'yacht'; expected construction,"),
        ({"capital": [{"what": "equipment", "amount": "$5"}]}, "capital > 1 > amount: found '$5'"),
        ({"capital": [{"what": "equipment", "amount": float("nan")}]}, "capital > 1 > amount: found 'nan'"),
        ({"capital": [{"what": "equipment", "amount": "0.001"}]}, "capital > 1 > amount"),
        ({"approval_date": date(2020, 2, 2)}, "approval_date: found 2020-02-02; expected a day from 2013-09-18"),
        ({"business": {"industry": "zzz"}}, "transportation or other. Choose one."),
        ({"business": {"industry": "banking"}}, "transportation or other. Choose one."),
        (
            {"buildings": [BUILDING | {"construction": "rehab"}]},
            "new or rehabilitation. Did you mean 'rehabilitation'?",
        ),
        ({"approval_date": "soon"}, "approval_date: found 'soon'; expected a day as YYYY-MM-DD"),
        (
            {"capital": [{"what": "equipment", "amount": 1, "incurred": "2016-02-03"}]},
            "needs the project's application_date",
        ),
        ({"facts": {"near_colege": True}}, "facts > near_colege: no bonus asks for that. Did you mean 'near_college'?"),
        ({"bonuses": {"stated": {"transt": True}}}, "there is no bonus 'transt'. Did you mean 'transit'?"),
        ({"methd": "per_job"}, "methd: nothing is called that. Did you mean 'method'?"),
        ({"application_date": "2016-01-05", "approval_date": "2016-01-04"}, "approval_date: it lies before"),
        ({"application_date": "2016-02-30"}, "application_date: found '2016-02-30'; expected a day as YYYY-MM-DD"),
        ({"buildings": [BUILDING | {"id": "=1+1"}]}, "buildings > =1+1 > id: found '=1+1'; expected a name of letters"),
        ({"buildings": [BUILDING | {"id": "{a}"}]}, "expected a name of letters"),
        ({"business": {}}, "business > industry: it is missing; expected aviation, defense"),
        ({"buildings": []}, "buildings: found []"),
        ({"name": "a\x07b"}, "name: found 'a\\x07b'; expected text without control characters"),
    ],
)
def test_each_problem_has_its_place_and_a_remedy(more: dict[str, Any], words: str) -> None:
    told = problems(good(**more))
    assert len(told) == 1, told
    assert words in told[0]
    assert told[0].endswith((".", "?")), told[0]


@pytest.mark.parametrize(
    ("day", "good_day"),
    [("2013-09-17", False), ("2013-09-18", True), ("2019-07-01", True), ("2019-07-02", False)],
)
def test_the_days_of_the_program_are_both_included(day: str, *, good_day: bool) -> None:
    if good_day:
        assert project_of(good(application_date=day)).application_date == date.fromisoformat(day)
    else:
        assert len(problems(good(application_date=day))) == 1


@pytest.mark.parametrize(("years", "fits"), [(1, True), (10, True), (11, False)])
def test_the_eligibility_period_has_at_most_ten_years(years: int, *, fits: bool) -> None:
    if fits:
        assert project_of(good(eligibility_years=years)).eligibility_years == years
    else:
        assert len(problems(good(eligibility_years=years))) == 1


def test_several_buildings_have_names_of_their_own_and_parts_say_which() -> None:
    building = {"gross_leasable_sqft": 1, "premises": "other", "construction": "new"}
    told = problems(good(buildings=[building, building]))
    assert "buildings > site: the id is given 2 times" in told[0]
    assert "jobs > 1: there are 2 buildings; say which with 'building'." in told


def test_areas_are_stated_by_hand_in_a_building() -> None:
    raw = good()
    raw["buildings"][0]["areas"] = {"garden_state_growth_zone": True, "rest": False}
    areas = project_of(raw).buildings[0].areas
    assert areas is not None
    assert (areas["garden_state_growth_zone"].outcome, areas["priority_area"].outcome) == ("yes", "no")
    raw["buildings"][0]["areas"] = {"priority_aera": True}
    assert problems(raw) == (
        "buildings > site > areas: there is no area 'priority_aera'. Did you mean 'priority_area'?",
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("business: [", "not readable"),
        ("a: 1\na: 2\n", "given twice"),
        ("a: &x [1]\nb: [*x, *x]\n", "aliases"),
        ("- 1\n", "holds a list; expected a project"),
        ("", "holds nothing; expected a project"),
    ],
)
def test_a_file_that_is_no_project_is_refused(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "project.yaml"
    path.write_text(content)
    with pytest.raises(ProjectError, match=words) as caught:
        read_project(path)
    assert str(path) in str(caught.value)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="grownj credits new"):
        read_project(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"name: caf\xe9\n")
    with pytest.raises(ProjectError, match="not UTF-8"):
        read_project(tmp_path / "latin.yaml")


def test_json_and_yaml_give_the_same_project(tmp_path: Path) -> None:
    raw = good(capital=[{"what": "equipment", "amount": 0.1}])
    (tmp_path / "p.json").write_text(json.dumps(raw))
    (tmp_path / "p.yaml").write_text(yaml.safe_dump(raw))
    assert read_project(tmp_path / "p.json") == read_project(tmp_path / "p.yaml")


@pytest.mark.parametrize(
    ("business", "words"),
    [
        ({"kind": "other", "technology_startup": True}, "kind is other and technology_startup is yes"),
        ({"kind": "technology_startup", "technology_startup": False}, "technology_startup is no"),
        ({"kind": "targeted_industry", "primarily_warehouse": True}, "primarily_warehouse is yes"),
    ],
)
def test_a_kind_that_contradicts_what_else_is_said_is_refused(business: dict[str, Any], words: str) -> None:
    with pytest.raises(ProjectError, match=words) as caught:
        project_of({"business": {"industry": "other", **business}, "buildings": [], "jobs": []})
    assert "expected one kind of business" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"name": "a", "name": "b"}', "the key 'name' is given twice"),
        ('{"name": ' + "1" * 5_000 + "}", "not readable"),
    ],
)
def test_json_that_would_be_read_otherwise_than_written_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "project.json"
    path.write_text(text)
    with pytest.raises(ProjectError, match=words):
        read_project(path)


def test_less_than_a_square_foot_and_bonuses_beyond_all_reason_are_refused() -> None:
    building = {"gross_leasable_sqft": "0.00000001", "premises": "other", "construction": "rehabilitation"}
    with pytest.raises(ProjectError) as refused:
        project_of(
            {"business": {"industry": "finance"}, "buildings": [building], "jobs": [], "bonuses": {"per_job": 10**7}}
        )
    assert "expected at least 1" in str(refused.value)
    assert "expected at most 1000000" in str(refused.value)


@pytest.mark.parametrize("raw", [None, [], "a project"])
def test_what_is_no_project_at_all_is_refused_in_words(raw: object) -> None:
    with pytest.raises(ProjectError, match="expected a project with business, buildings and jobs"):
        project_of(raw)
