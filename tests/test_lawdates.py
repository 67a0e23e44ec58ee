"""The days of the law: those that rules, lists, layers and facts name, and no others."""

from __future__ import annotations

from datetime import date, timedelta

from drawn import NEWARK, drawn_book, drawn_category, stations

from grownj_geo.atlas import Atlas, load_atlas
from grownj_geo.binding import bind
from grownj_geo.lawdates import concerning, fact_dates, law_dates, layers_of, reach_of, reach_of_item
from grownj_geo.readings import resolve_readings
from grownj_geo.rulebook import load_rulebook

NEAR = {"within": {"layer": "transit_stations", "radius": "reach"}}
REACH = {"reach": {"unit": "mile", "value": 0.5}}


def test_a_station_that_opens_and_one_that_closes() -> None:
    layer = stations([(*NEWARK, {"opened": "2016-05-15", "closed": "2018-02-01", "name": "Drawn"})])
    atlas = Atlas(layers=[layer])
    bound = bind(drawn_book(NEAR, parameters=REACH), as_of=atlas.as_of, readings=resolve_readings({}))
    dates = [one for one in law_dates(bound, atlas) if one.kind == "feature"]
    assert [(str(one.day), one.words.rpartition(": ")[2]) for one in dates] == [
        ("2016-05-15", "Drawn begins"),
        ("2018-02-01", "Drawn ends"),
    ]


def test_a_clause_of_a_reading_that_was_not_chosen_has_no_days() -> None:
    rule = {"any": [{"id": "then", "from": "2015-01-01", "when": {"A11": "strict"}, "in_new_jersey": True}]}
    days = {}
    for option in ("loose", "strict"):
        bound = bind(drawn_book(rule), as_of=date(2014, 1, 1), readings=resolve_readings({"A11": option}))
        days[option] = [one.day for one in law_dates(bound, Atlas()) if one.kind == "clause"]
    assert days == {"loose": [], "strict": [date(2015, 1, 1)]}


def test_what_a_category_reaches_goes_through_the_others() -> None:
    book = drawn_book(
        {"category": "middle"},
        categories=[
            drawn_category("middle", {"not": {"category": "end"}}),
            drawn_category("end", {"in_new_jersey": True}),
        ],
    )
    assert reach_of(book, "answer") == {"answer", "middle", "end"}
    assert reach_of(book, "end") == {"end"}


def test_the_shipped_rulebook_has_the_dates_of_its_clauses_and_its_end(atlas: Atlas) -> None:
    book = load_rulebook()
    bound = bind(book, as_of=atlas.as_of, readings=resolve_readings({}))
    dates = law_dates(bound, atlas)
    assert list(dates) == sorted(dates)
    (zone,) = [one for one in dates if "Tourism District begins" in one.words]
    assert (zone.day, zone.latest, zone.days) == (date(2014, 10, 16), date(2014, 10, 24), (zone.day, zone.latest))
    assert zone.categories == ("tourism_district_growth_zone",)
    assert "on a day from 2014-10-16 to 2014-10-24" in zone.dated_words
    (end,) = [one for one in dates if one.kind == "rulebook"]
    assert end.day == book.last_day + timedelta(days=1)


def test_lists_are_about_one_municipality_each() -> None:
    atlas = load_atlas()
    bound = bind(load_rulebook(), as_of=atlas.as_of, readings=resolve_readings({}))
    joins = [one for one in law_dates(bound, atlas) if one.kind == "list"]
    assert joins
    assert all(one.municipality for one in joins)
    here = list(concerning(joins, {"0714"}))
    assert {one.municipality for one in here} == {"0714"}
    assert all("Newark City" in one.words for one in here)


def test_layers_are_known_by_the_categories_that_look_at_them() -> None:
    bound = bind(drawn_book(NEAR, parameters=REACH), as_of=date(2017, 4, 17), readings=resolve_readings({}))
    assert layers_of(bound) == {"transit_stations": ("answer",)}
    assert reach_of_item(bound.rulebook, "answer") == {"answer"}
    assert reach_of_item(bound.rulebook, "place") == frozenset()


def test_a_fact_that_no_clause_compares_with_the_day_has_none() -> None:
    rule = {"site_fact": {"name": "structure_exists", "is": True}}
    bound = bind(drawn_book(rule), as_of=date(2017, 4, 17), readings=resolve_readings({}))
    assert fact_dates(bound, {"structure_exists": True}) == ()
