"""What is answered for each of several places, and whether the answers differ."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from parcel_world import local_sources, parcel_home

from grownj_geo.choiceanswers import MOST_ASKED, answer_choices, choices_json
from grownj_geo.finder import Finder

if TYPE_CHECKING:
    from grownj_geo.atlas import Atlas
    from grownj_geo.determine import Engine


@pytest.fixture(scope="module")
def finder(atlas: Atlas, tmp_path_factory: pytest.TempPathFactory) -> Finder:
    return Finder(atlas, local_sources(atlas, parcel_home(tmp_path_factory.mktemp("parcels"))))


def test_each_place_has_the_answer_that_it_has_alone(finder: Finder, engine: Engine) -> None:
    found = finder.find("1 Line Rd")
    answers = answer_choices(engine, found, finder.asker)
    assert {row.match.pin for row in answers.rows} == {"0408_99_1", "0412_5_1"}
    for row in answers.rows:
        alone = engine.determine(finder.site(str(row.match.pin)))
        assert row.found is not None
        assert row.found.findings == alone.findings
        assert row.found.tier == alone.tier
    assert "Garden State Growth Zone (yes, no)" in answers.differing
    assert answers.words.startswith("The answers differ in ")


def test_places_with_the_same_findings_are_told_so(finder: Finder, engine: Engine) -> None:
    answers = answer_choices(engine, finder.find("5 Twin Ave, Camden"), finder.asker)
    assert answers.differing == ()
    assert answers.words == "All 2 places have the same findings, whichever is meant."


def test_one_place_that_does_not_fit_well_is_told_so(finder: Finder, engine: Engine) -> None:
    found = finder.find("12 Spring St, Washington Township")
    assert len(found.choices) == 1
    assert "not surely what was meant" in answer_choices(engine, found, finder.asker).words


def test_a_place_that_cannot_be_answered_for_does_not_stop_the_others(finder: Finder, engine: Engine) -> None:
    found = finder.find("1 Line Rd")
    abroad = replace(found.choices[0], geometry=None, pin=None, kind="rooftop", x_ft=100_000.0, y_ft=100_000.0)
    answers = answer_choices(engine, replace(found, choices=(abroad, *found.choices[1:])), finder.asker)
    assert answers.rows[0].found is None
    assert "outside New Jersey" in str(answers.rows[0].problem)
    assert answers.rows[1].found is not None
    assert "1 of these places cannot be answered for" in answers.words


def test_many_places_are_counted_beyond_those_asked_about(finder: Finder, engine: Engine) -> None:
    found = finder.find("5 Twin Ave, Camden")
    many = tuple(replace(found.choices[i % 2], matched=f"{i} Twin Avenue") for i in range(MOST_ASKED + 3))
    answers = answer_choices(engine, replace(found, choices=many), finder.asker)
    assert (len(answers.rows), answers.not_asked) == (MOST_ASKED, 3)
    assert answers.words.endswith("3 more places were not asked about.")


def test_facts_that_are_stated_count_for_each(finder: Finder, engine: Engine) -> None:
    answers = answer_choices(engine, finder.find("1 Line Rd"), finder.asker, facts={"structure_exists": True})
    assert all(row.found is not None and row.found.site.facts == {"structure_exists": True} for row in answers.rows)


def test_json_has_outlines_in_degrees(finder: Finder, engine: Engine) -> None:
    found = finder.find("1 Line Rd")
    shown = choices_json(found, finder.asker, answer_choices(engine, found, finder.asker))
    ring = shown["choices"][0]["geometry"]["coordinates"][0]
    assert all(-76 < lon < -74 and 39 < lat < 41 for lon, lat in ring)
    assert set(shown["choices"][0]["findings"].values()) <= {"yes", "no", "undetermined"}
    plain = choices_json(found, finder.asker)
    assert plain["differing"] is None
    assert "findings" not in plain["choices"][0]
