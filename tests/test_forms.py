"""Every field that a model takes is asked by its form or left out for a reason, as what the model takes."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import ValidationError

from grownj_geo.creditnames import PROJECT_FACTS, Industry
from grownj_geo.creditproject import Project, project_of
from grownj_geo.forms import FormField, _entries, load_forms, models_of
from grownj_geo.serveasked import ReportAsk

EXAMPLES = {"boolean": True, "number": "5", "date": "2016-05-01", "text": "words"}


def value_of(field: FormField) -> Any:
    return field.choices[0] if field.type == "choice" else EXAMPLES[field.type]


@pytest.mark.parametrize("entry", _entries(), ids=lambda entry: entry.id)
def test_every_field_of_the_models_is_asked_once_or_left_out(entry: Any) -> None:
    asked: dict[str, list[str]] = {}
    for part in entry.parts:
        asked.setdefault(part.key, []).extend(field.name for field in part.fields)
    for key, model in models_of(entry.id).items():
        names = asked.pop(key)
        assert len(names) == len(set(names))
        assert set(names) <= set(model.model_fields)
        assert set(model.model_fields) - set(names) <= set(entry.left_out), key
    assert set(asked) <= {"facts"}


def test_what_a_form_offers_is_what_the_model_takes() -> None:
    fields = {(part.id, field.name): field for part in load_forms()["credits"].parts for field in part.fields}
    assert fields["business", "industry"].choices == Industry.__args__  # type: ignore[attr-defined]
    assert (fields["jobs", "count"].type, fields["jobs", "count"].required) == ("number", True)
    assert (fields["program", "approval_date"].type, fields["program", "approval_date"].required) == ("date", False)
    assert fields["business", "technology_startup"].type == "boolean"
    assert fields["program", "method"].default == "per_job"
    assert fields["jobs", "average_salary"].default is None
    facts = next(part for part in load_forms()["credits"].parts if part.id == "facts")
    assert {field.name for field in facts.fields} == set(PROJECT_FACTS)


def _filled(*, required: bool) -> dict[str, Any]:
    project: dict[str, Any] = {}
    for part in load_forms()["credits"].parts:
        values = {field.name: value_of(field) for field in part.fields if field.required or not required}
        if part.key == "":
            project |= values
        elif part.repeated == "no":
            if values:
                project[part.key] = values
        else:
            project[part.key] = [values] if values else []
    return project


def test_a_form_that_is_filled_in_is_a_project() -> None:
    least = _filled(required=True)
    assert project_of(least).jobs[0].count == 5
    whole = _filled(required=False)
    # These two contradict each other whatever the project.
    whole["business"] |= {"kind": "other", "technology_startup": False, "primarily_warehouse": False}
    whole["bonuses"] = {"rest": "no"}
    assert isinstance(project_of(whole), Project)


def test_a_form_without_what_is_required_is_none() -> None:
    for part, name in (("business", "industry"), ("buildings", "premises"), ("jobs", "count")):
        project = _filled(required=True)
        holder = project[part] if isinstance(project[part], dict) else project[part][0]
        del holder[name]
        with pytest.raises(Exception, match=f"{name}: it is missing|{name}"):
            project_of(project)


def test_what_a_report_asks_for_is_taken() -> None:
    (part,) = load_forms()["report"].parts
    values = {field.name: value_of(field) for field in part.fields}
    assert ReportAsk(site="40,-74", **values).preparer == "words"
    with pytest.raises(ValidationError):
        ReportAsk(site="40,-74", reviewer="words")  # type: ignore[call-arg]


def test_questions_are_questions_and_units_belong_to_numbers() -> None:
    for form in load_forms().values():
        for part in form.parts:
            for field in part.fields:
                assert re.fullmatch(r"[A-Z].*\?", field.question), field.question
                assert (field.unit is not None) <= (field.type == "number"), field.name
                if field.type == "number":
                    assert field.unit, field.name
