"""Tables for GIS files: short names, classes, and one table for each kind of geometry."""

from __future__ import annotations

import re

import numpy as np
import pytest
import shapely
from few_tables import HOSTILE, example_areas, example_sites
from few_world import few
from hypothesis import given
from hypothesis import strategies as st

from grownj_geo.areapieces import CLASSES, Area
from grownj_geo.determine import Engine
from grownj_geo.exporttables import about_areas, about_sites, answer_marks, area_tables, short_names, site_tables
from grownj_geo.rulebook import load_rulebook


@given(st.lists(st.text(max_size=30), max_size=120))
def test_short_names_survive_a_shapefile(names: list[str]) -> None:
    short = short_names(names)
    assert len(short) == len(names)
    assert len({name.casefold() for name in short}) == len(short)
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,9}", name) for name in short)


def test_a_name_that_is_short_already_stays() -> None:
    assert short_names(["mun_code", "waits_for", "clause_ids"]) == ["mun_code", "waits_for", "clause_ids"]


def test_an_area_says_of_each_piece_by_which_clause() -> None:
    table = example_areas()[0]
    assert table.name == "qualified_incentive_area"
    assert len(table) == len(table.values["clauses"]) > 3
    assert set(table.values["class"]) <= set(CLASSES)
    assert all(table.values["clauses"])
    rows = zip(table.values["outcome"], table.values["causes"], strict=True)
    assert all((outcome == "undetermined") == bool(causes) for outcome, causes in rows)
    assert set(table.values["as_of"]) == {"2017-04-17"}
    assert [field.name for field in table.fields] == [field.short for field in table.fields]


def test_an_area_that_holds_nowhere_is_an_empty_table() -> None:
    (table,) = area_tables(few(), [Area("aviation_district", "Aviation district", "none", "none", ())])
    assert len(table) == 0
    assert all(values == [] for values in table.values.values())


def test_an_area_of_a_name_that_files_keep_for_themselves_has_another_there() -> None:
    tables = area_tables(few(), [Area(name, "A", "none", "none", ()) for name in ("about", "dictionary", "above")])
    assert [table.name for table in tables] == ["about_area", "dictionary_area", "above"]


def test_points_and_polygons_are_tables_of_their_own_and_nothing_is_lost() -> None:
    points, polygons = example_sites()
    assert (points.name, polygons.name) == ("sites_points", "sites_polygons")
    assert points.values["name"] == [*HOSTILE, "lost"]
    assert polygons.values["name"] == ["lot"]
    assert points.geometries[-1] is None
    assert points.values["class"][-1] == "no_answer"
    assert points.values["class"][0] == "5000"
    assert points.points
    assert not polygons.points


def test_sites_of_a_rulebook_without_amounts_are_classed_by_its_first_category() -> None:
    engine = Engine(few().atlas, load_rulebook("urban-transit-hub"))
    (table,) = site_tables(
        engine, {"eligible_municipality": ["yes", "no", None]}, np.array([shapely.Point(0, 0)] * 3, dtype=object)
    )
    assert table.values["class"] == ["yes", "no", "no_answer"]
    assert [known.value for known in table.look.classes] == ["yes", "undetermined", "no", "no_answer"]


def test_a_table_that_has_a_class_already_keeps_it() -> None:
    columns = {"Class": ["B"], "qualified_incentive_area": ["yes"], "base_floor": [5000]}
    (table,) = site_tables(few(), columns, np.array([shapely.Point(0, 0)], dtype=object))
    assert table.values["Class"] == ["B"]
    assert table.values["grownj_class"] == ["5000"]
    assert table.look.field == "grownj_class"


def test_a_table_that_has_both_names_of_a_class_loses_neither() -> None:
    columns = {"class": ["A"], "GROWNJ_Class": ["B"], "qualified_incentive_area": ["yes"], "base_floor": [5000]}
    (table,) = site_tables(few(), columns, np.array([shapely.Point(0, 0)], dtype=object))
    assert (table.values["class"], table.values["GROWNJ_Class"]) == (["A"], ["B"])
    assert table.look.field == "grownj_class_2"
    assert table.values["grownj_class_2"] == ["5000"]
    names = [field.name.casefold() for field in table.fields]
    assert len(names) == len(set(names)) == 5


@pytest.mark.parametrize("column", ["NAME", "Site_Name", "PAMS_PIN", "Address"])
def test_a_column_of_names_is_found_whatever_its_case(column: str) -> None:
    columns = {"other": ["x"], column: ["A"], "qualified_incentive_area": ["yes"], "base_floor": [5000]}
    (table,) = site_tables(few(), columns, np.array([shapely.Point(0, 0)], dtype=object))
    assert table.title == column


def test_sites_have_their_own_words_and_those_of_areas_have_theirs() -> None:
    sites, areas = about_sites(few()), about_areas(few())
    assert "drawing" not in sites
    assert "no site fact stated" not in " ".join(sites.values())
    assert "with its own size, uncertainty and site facts" in sites["sites"]
    same = ("as of", "rulebook", "readings", "layers", "layers not loaded", "caution")
    assert {heading: sites[heading] for heading in same} == {heading: areas[heading] for heading in same}


def test_sites_that_were_answered_before_by_the_same_have_their_day_and_no_readings() -> None:
    (marks,) = [answer_marks({name: list(values) for name, values in example_sites()[0].values.items()})]
    assert len(marks) == 1
    about = about_sites(few(), before=marks)
    assert about["as of"] == "2017-04-17"
    assert about["layers"] == about_areas(few())["layers"]
    assert about["readings"] == "as the table was answered with before, which it does not say"


@pytest.mark.parametrize("other", ["rulebook", "atlas"])
def test_sites_that_were_answered_otherwise_say_nothing_of_this_engine(other: str) -> None:
    ((book, atlas),) = answer_marks(example_sites()[0].values)
    pair = ("grow-nj 2015 0123456789ab", atlas) if other == "rulebook" else (book, "0123456789ab")
    for before in ([pair], [pair, (book, atlas)]):
        about = about_sites(few(), before=before)
        assert f"rulebook mark {pair[0]}, atlas mark {pair[1]}" in about["as answered before"]
        assert set(about) == {"as answered before", "sites", "caution"}


def test_the_marks_of_answers_are_found_under_the_longer_name_where_the_table_had_the_other() -> None:
    columns = {"rulebook": ["mine"] * 2, "grownj_rulebook": ["grow-nj 2017 x", ""], "atlas": ["abc", None]}
    assert answer_marks(columns) == [("grow-nj 2017 x", "abc")]


@pytest.mark.parametrize(
    "heading", ["as of", "rulebook", "readings", "layers", "layers not loaded", "drawing", "caution"]
)
def test_a_file_says_what_it_rests_on(heading: str) -> None:
    assert about_areas(few())[heading]


def test_the_drawing_tolerance_is_stated() -> None:
    assert "within 1 ft" in about_areas(few())["drawing"]
