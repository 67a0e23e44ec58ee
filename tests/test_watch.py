"""Watching sites: the days are those of rules, lists, layers and facts, and on each something does change."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest
from drawn import NEWARK, around, draw, drawn_book
from kept_world import AIRPORT, ATLANTIC_CITY, add, record

from grownj_geo.atlas import load_atlas
from grownj_geo.batch import Question, run_batch
from grownj_geo.binding import bind
from grownj_geo.candidates import Candidate, candidates_of
from grownj_geo.determine import Directory
from grownj_geo.engines import Engines
from grownj_geo.errors import SiteError
from grownj_geo.kept import Kept
from grownj_geo.lawdates import fact_dates
from grownj_geo.readings import resolve_readings
from grownj_geo.rulebook import Rulebook, load_rulebook
from grownj_geo.site import Site
from grownj_geo.store import Store
from grownj_geo.watch import Watched, Watcher

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


def seen(
    place: tuple[float, float], as_of: date, store: Store, *, facts: dict[str, Any] | None = None, **more: Any
) -> Watched:
    where = replace(Site.from_lonlat(*place), facts=facts or {})
    watcher = Watcher(as_of=as_of, engines=Engines(store), **more)
    return watcher.watch(Candidate("here", "", where))


def turns(found: Watched, item: str, name: str = "outcome") -> list[tuple[str, Any, Any]]:
    return [(str(c.day), t.was, t.now) for c in found.upcoming for t in c.turns if (t.item, t.field) == (item, name)]


# -- days of the shipped law --------------------------------------------------------------------------


def test_the_growth_zone_of_2014_begins_in_a_span_and_ends_in_2019(store: Store) -> None:
    found = seen(ATLANTIC_CITY, date(2014, 1, 1), store)
    assert turns(found, "garden_state_growth_zone") == [
        ("2014-10-16", "no", "undetermined"),
        ("2014-10-24", "undetermined", "yes"),
        ("2019-07-01", "yes", "no"),
    ]
    assert turns(found, "tier", "floor") == [("2014-10-24", 4000, 5000), ("2019-07-01", 5000, 4000)]
    assert found.next_day == date(2014, 10, 16)
    assert "P.L.2014 c.63" in found.upcoming[0].because[0]
    assert found.last_day == load_rulebook().last_day


def test_the_airport_zone_of_2018(store: Store) -> None:
    found = seen(AIRPORT, date(2018, 1, 2), store)
    assert turns(found, "garden_state_growth_zone") == [
        ("2018-10-03", "no", "undetermined"),
        ("2018-10-04", "undetermined", "yes"),
        ("2019-07-01", "yes", "no"),
    ]


def test_only_days_in_the_span_asked_for_are_looked_at(store: Store) -> None:
    found = seen(ATLANTIC_CITY, date(2014, 11, 1), store, until=date(2019, 6, 30))
    assert turns(found, "garden_state_growth_zone") == []
    assert all(date(2014, 11, 1) < coming.day <= date(2019, 6, 30) for coming in found.upcoming)
    assert (found.until, found.last_day) == (date(2019, 6, 30), date(2019, 7, 1))
    late = seen(ATLANTIC_CITY, date(2019, 7, 1), store, until=date(2030, 1, 1))
    assert late.until == date(2019, 7, 1)
    assert (late.upcoming, late.next_day) == ((), None)


def test_geojson_of_several_features_is_as_many_sites(tmp_path: Path) -> None:
    def feature(name: str, lon: float, lat: float) -> dict[str, Any]:
        point = {"type": "Point", "coordinates": [lon, lat]}
        return {"type": "Feature", "properties": {"name": name}, "geometry": point}

    path = tmp_path / "two.geojson"
    for features, names in (
        ([feature("a", *NEWARK), feature("b", *ATLANTIC_CITY)], ["a", "b"]),
        ([feature("a", *NEWARK)], [str(path)]),
    ):
        path.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
        found = list(candidates_of([str(path)], directory=Directory(load_atlas())))
        assert [one.name for one in found if isinstance(one, Candidate)] == names


def test_a_last_day_before_the_first_is_refused(store: Store, tmp_path: Path) -> None:
    assert seen(ATLANTIC_CITY, date(2014, 11, 1), store, until=date(2014, 11, 1)).looked_at == 1
    with pytest.raises(SiteError, match="from 2014-11-01 on, and the last day to look at is 2014-10-31"):
        seen(ATLANTIC_CITY, date(2014, 11, 1), store, until=date(2014, 10, 31))
    kept = record(tmp_path, store, Site.from_lonlat(*ATLANTIC_CITY), as_of="2016-01-01")
    watcher = Watcher(as_of=date(2014, 1, 1), until=date(2015, 1, 1), engines=Engines(store))
    with pytest.raises(SiteError, match="from the day of its record on, 2016-01-01"):
        watcher.watch(Candidate("here", "", kept.site, kept=kept))


# -- days of lists, layers, editions and facts --------------------------------------------------------

NEAR = {"within": {"layer": "transit_stations", "radius": "reach"}}
REACH = {"reach": {"unit": "mile", "value": 0.5}}


def dated_book(rule: Any, **more: Any) -> Rulebook:
    return drawn_book(rule, parameters=REACH, **more)


def test_an_edition_of_the_store_that_begins(store: Store) -> None:
    inside = {"inside": {"layer": "planning_areas", "where": {"planning_area": ["PA1"]}}}
    shape = around(NEWARK, 500.0)
    for detail, begins, ends in (
        ("METROPOLITAN", date(2014, 1, 1), date(2016, 7, 1)),
        ("RURAL", date(2016, 7, 1), None),
    ):
        add(
            store,
            draw(
                "planning_areas", [(shape, {"SPDETAIL": detail})], least_features=1, valid_from=begins, valid_until=ends
            ),
        )
    found = seen(NEWARK, date(2015, 1, 1), store, rulebooks=(drawn_book(inside),))
    assert turns(found, "answer") == [("2016-07-01", "yes", "no")]
    assert any("the edition planning_areas@" in words for words in found.upcoming[0].because)


def test_a_figure_that_changes_names_itself_and_its_citation(store: Store) -> None:
    raw = dated_book(NEAR).model_dump(mode="json", by_alias=True)
    later = {"from": "2016-03-01", "value": 0.001, "citation": "the later rule", "status": "confirmed"}
    raw["parameters"]["reach"]["values"].append(later)
    found = seen(NEWARK, date(2015, 1, 1), store, rulebooks=(Rulebook.model_validate(raw),))
    (coming,) = [c for c in found.upcoming if c.day == date(2016, 3, 1)]
    assert coming.because == ("reach becomes 0.001 mile (was 0.5) on 2016-03-01 (the later rule)",)


def test_a_day_that_changes_a_margin_only_is_no_next_change(store: Store) -> None:
    raw = dated_book(NEAR).model_dump(mode="json", by_alias=True)
    raw["parameters"]["reach"]["values"] += [
        {"from": day, "value": value, "citation": "later", "status": "confirmed"}
        for day, value in (("2016-03-01", 0.6), ("2016-09-01", 0.001))
    ]
    found = seen(NEWARK, date(2015, 1, 1), store, rulebooks=(Rulebook.model_validate(raw),))
    days = {one.day: one.answers_change for one in found.upcoming}
    assert days == {date(2016, 3, 1): False, date(2016, 9, 1): True}
    assert found.next_day == date(2016, 9, 1)


def test_a_stated_day_that_comes(store: Store) -> None:
    rule = {"site_fact": {"name": "redevelopment_designation_date", "on_or_before_as_of": True}}
    stated = {"redevelopment_designation_date": "2016-02-29"}
    found = seen(NEWARK, date(2015, 1, 1), store, facts=stated, rulebooks=(drawn_book(rule),))
    assert turns(found, "answer") == [("2016-02-29", "no", "yes")]
    bound = bind(drawn_book(rule), as_of=date(2015, 1, 1), readings=resolve_readings({}))
    assert [one.day for one in fact_dates(bound, stated)] == [date(2016, 2, 29)]
    assert fact_dates(bound, {}) == ()


# -- records ------------------------------------------------------------------------------------------


def test_a_record_is_watched_from_its_own_day_with_its_own_answers(tmp_path: Path, store: Store) -> None:
    kept = record(tmp_path, store, Site.from_lonlat(*ATLANTIC_CITY), as_of="2014-10-01")
    watcher = Watcher(as_of=date(2017, 4, 17), engines=Engines(store))
    found = watcher.watch(Candidate("ac", kept.source, kept.site, kept))
    assert (found.as_of, found.recorded, found.holds, found.floor) == (date(2014, 10, 1), True, True, 4000)
    assert found.next_day == date(2014, 10, 16)
    tier = kept.determination.tier
    assert tier is not None
    other = kept.determination.model_copy(update={"tier": tier.model_copy(update={"floor": 500})})
    edited = Kept("x.json", other, sealed=False, readings=kept.readings)
    again = watcher.watch(Candidate("ac", "x.json", edited.site, edited))
    assert (again.holds, again.floor) == (False, 500)


def test_an_edition_that_the_record_chose_is_watched_with(tmp_path: Path, store: Store) -> None:
    inside = drawn_book({"inside": {"layer": "planning_areas", "where": {"planning_area": ["PA1"]}}})
    for detail, begins in (("METROPOLITAN", date(2014, 1, 1)), ("RURAL", date(2016, 7, 1))):
        features = [(around(NEWARK, 500.0), {"SPDETAIL": detail})]
        add(store, draw("planning_areas", features, least_features=1, valid_from=begins))
    chosen = ("planning_areas@none",)
    kept = record(tmp_path, store, Site.from_lonlat(*NEWARK), as_of="2015-01-01", book=inside, editions=chosen)
    found = Watcher(as_of=date(2015, 1, 1), engines=Engines(store)).watch(Candidate("n", "a.json", kept.site, kept))
    assert found.holds
    assert found.upcoming == ()


def test_a_record_under_an_unknown_rulebook_is_refused(tmp_path: Path, store: Store) -> None:
    kept = record(tmp_path, store, Site.from_lonlat(*NEWARK), book=drawn_book({"in_new_jersey": True}))
    bare = Kept("bare.json", kept.determination, sealed=False, readings=kept.readings)
    watcher = Watcher(as_of=date(2017, 4, 17), engines=Engines(store))
    with pytest.raises(SiteError, match=r"bare\.json was made under the rulebook 'drawn'"):
        watcher.watch(Candidate("n", "bare.json", bare.site, bare))
    assert watcher.watch(Candidate("n", "a.json", kept.site, kept)).holds


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".xlsx"])
def test_a_batch_table_is_held_against_its_own_answers(tmp_path: Path, store: Store, ending: str) -> None:
    table, out = tmp_path / "sites.csv", tmp_path / f"out{ending}"
    table.write_text("name,lon,lat\nNewark,-74.1641,40.7344\nAirport,-74.5772,39.4576\n", encoding="utf-8")
    run_batch(table, out, Question(date(2017, 4, 17)))
    directory = Directory(load_atlas())
    rows = [one for one in candidates_of([str(out)], directory=directory) if isinstance(one, Candidate)]
    assert [row.answers["base_floor"] for row in rows] == ["5000", "500"]
    today = Watcher(as_of=date(2017, 4, 17), until=date(2017, 4, 18), engines=Engines(store))
    assert [today.watch(row).holds for row in rows] == [True, True]
    later = Watcher(as_of=date(2018, 11, 1), until=date(2018, 11, 2), engines=Engines(store))
    assert [later.watch(row).holds for row in rows] == [True, False]


def test_between_two_editions_the_switch_to_the_nearer_one_is_the_cause(store: Store) -> None:
    inside = drawn_book({"inside": {"layer": "planning_areas", "where": {"planning_area": ["PA1"]}}})
    for detail, day in (("METROPOLITAN", date(2017, 6, 1)), ("RURAL", date(2018, 6, 1))):
        features = [(around(NEWARK, 500.0), {"SPDETAIL": detail})]
        add(store, draw("planning_areas", features, least_features=1, edition=day))
    found = seen(NEWARK, date(2017, 6, 2), store, rulebooks=(inside,))
    assert turns(found, "answer") == [("2017-12-01", "yes", "no")]
    (because,) = found.upcoming[0].because
    assert "no edition covers the day, and the nearest edition becomes planning_areas@2018-06-01-" in because


def test_the_days_of_features_are_those_of_the_edition_that_holds_then(store: Store) -> None:
    inside = {"inside": {"layer": "redevelopment_areas"}}
    shape, elsewhere = around(NEWARK, 500.0), around(ATLANTIC_CITY, 500.0)

    def area(number: str, place: Any, day: str) -> Any:
        return place, {"APPROVAL": day, "NOTES": number}

    for rows, begins, ends in (
        # Of what an edition says of days after its own, nothing comes to be.
        ([area("1", elsewhere, "2010-01-01"), area("2", shape, "2016-12-01")], date(2014, 1, 1), date(2016, 7, 1)),
        ([area("1", elsewhere, "2010-01-01"), area("3", shape, "2017-03-05")], date(2016, 7, 1), None),
    ):
        layer = draw("redevelopment_areas", rows, least_features=1, valid_from=begins, valid_until=ends)
        add(store, layer)
    found = seen(NEWARK, date(2015, 1, 1), store, rulebooks=(drawn_book(inside),))
    assert turns(found, "answer") == [("2017-03-05", "undetermined", "yes")]
    (coming,) = found.upcoming
    assert any("begins on 2017-03-05" in words for words in coming.because)
    # The first day, the other edition's, and the area's own; not that of the area that was never there.
    assert found.looked_at == 3
