"""Rechecking: exactly what is answered otherwise, and which change did it, found by changing one thing at a time."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest
import shapely
from drawn import NEWARK, around, draw, drawn_book, drawn_category, site
from kept_world import AIRPORT, ATLANTIC_CITY, add, record

from grownj_geo.atlas import load_atlas
from grownj_geo.determine import Engine
from grownj_geo.engines import Engines
from grownj_geo.errors import RecordError, SiteError
from grownj_geo.kept import Kept, read_records
from grownj_geo.lawdates import law_dates
from grownj_geo.recheck import Asked, Rechecker
from grownj_geo.rerun import answers_of, changed_items
from grownj_geo.rulebook import Rulebook, load_rulebook
from grownj_geo.site import Site
from grownj_geo.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.layer import Layer
    from grownj_geo.recheck import Recheck


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


def planning(detail: str, *, half: float = 5000.0, accuracy_ft: float = 0.0, **stated: Any) -> Layer:
    """Return a drawn edition of the planning areas around Newark."""
    shape = around(NEWARK, half)
    return draw("planning_areas", [(shape, {"SPDETAIL": detail})], accuracy_ft=accuracy_ft, least_features=1, **stated)


def again(kept: Kept, store: Store, **asked: Any) -> Recheck:
    return Rechecker(Asked(**asked), Engines(store)).recheck(kept)


def listed(found: Recheck) -> dict[tuple[str, str], tuple[Any, Any, tuple[str, ...], str]]:
    return {(d.item, d.field): (d.was, d.now, d.because, d.how) for d in found.differences}


def expected(kept: Kept, store: Store, **more: Any) -> set[tuple[str, str]]:
    """Return the figures that differ between the record and a determination of today."""
    engine = Engine(
        load_atlas(as_of=more.get("as_of", kept.determination.as_of), store=store), load_rulebook(),
        more.get("readings", {}),
    )  # fmt: skip
    place = replace(kept.site, facts={**kept.site.facts, **more.get("facts", {})})
    return set(changed_items(answers_of(kept.determination), answers_of(engine.determine(place))))


# A book of one ground: inside PA1. Nothing of the shipped law stands in its way.
PA1 = {"inside": {"layer": "planning_areas", "where": {"planning_area": ["PA1"]}}}
TWO = drawn_book(
    PA1,
    categories=[
        drawn_category("near", {"within": {"layer": "transit_stations", "radius": "reach"}}),
        drawn_category("late", {"any": [{"id": "then", "from": "2015-01-01", "in_new_jersey": True}]}),
    ],
    parameters={"reach": {"unit": "mile", "value": 0.5}},
)


# -- nothing changed ----------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [NEWARK, ATLANTIC_CITY, AIRPORT])
@pytest.mark.parametrize("sealed", [True, False])
def test_in_a_world_that_did_not_change_nothing_is_listed(
    tmp_path: Path, store: Store, place: tuple[float, float], *, sealed: bool
) -> None:
    kept = record(tmp_path, store, Site.from_lonlat(*place))
    if not sealed:
        (tmp_path / "record.json").write_text(kept.determination.to_json(), encoding="utf-8")
        (bare,) = read_records([tmp_path / "record.json"])
        assert isinstance(bare, Kept)
        kept = bare
    found = again(kept, store)
    assert (found.inputs, found.differences, found.same) == ((), (), True)


def test_a_chosen_edition_and_reading_are_part_of_the_question(tmp_path: Path, store: Store) -> None:
    first = add(store, planning("METROPOLITAN", edition=date(2016, 1, 1)))
    add(store, planning("RURAL", edition=date(2017, 4, 17)))
    kept = record(tmp_path, store, site(around(NEWARK, 50.0)), book=TWO, readings={"A3": "any"}, editions=(first,))
    assert kept.determination["answer"].outcome == "yes"
    assert again(kept, store, rulebooks=(TWO,)).same


def test_an_edition_chosen_by_the_beginning_of_its_name_stays_that_one(tmp_path: Path, store: Store) -> None:
    add(store, planning("METROPOLITAN", edition=date(2016, 1, 1)))
    kept = record(tmp_path, store, Site.from_lonlat(*NEWARK), book=TWO, editions=("planning_areas@2016",))
    add(store, planning("RURAL", edition=date(2016, 6, 1)))
    assert again(kept, store, rulebooks=(TWO,)).same


def test_margins_alone_are_told_from_answers(tmp_path: Path, store: Store) -> None:
    add(store, planning("METROPOLITAN"))
    kept = record(tmp_path, store, Site.from_lonlat(*NEWARK), book=TWO)
    add(store, planning("METROPOLITAN", half=4000.0))
    found = again(kept, store, rulebooks=(TWO,))
    assert set(listed(found)) == {("answer", "margin_ft")}
    assert (found.same, found.answers_differ) == (False, False)


# -- a layer changed (acceptance) ---------------------------------------------------------------------


def test_records_before_and_after_a_drawn_edition_list_exactly_what_it_changed(tmp_path: Path, store: Store) -> None:
    where = Site.from_lonlat(*NEWARK)
    old = add(store, planning("METROPOLITAN", edition=date(2016, 1, 1)))
    before = record(tmp_path, store, where, book=TWO)
    assert again(before, store, rulebooks=(TWO,)).same

    east = shapely.affinity.translate(around(NEWARK, 5000.0), xoff=6000.0)
    moved = draw("planning_areas", [(east, {"SPDETAIL": "METROPOLITAN"})], least_features=1, edition=date(2017, 4, 17))
    new = add(store, moved)
    found = again(before, store, rulebooks=(TWO,))
    assert [(i.id, i.at_hand) for i in found.inputs] == [("layer:planning_areas", True)]
    assert old.partition("@")[2] in found.inputs[0].was
    assert new.partition("@")[2] in found.inputs[0].now
    layer = ("layer:planning_areas",)
    assert listed(found) == {
        ("answer", "outcome"): ("yes", "no", layer, "alone"),
        ("answer", "margin_ft"): (5000.0, -1000.0, layer, "alone"),
    }
    after = record(tmp_path, store, where, book=TWO)
    assert again(after, store, rulebooks=(TWO,)).same
    # And the other way: the record of today against the old edition.
    back = again(after, store, rulebooks=(TWO,), editions=(old,))
    assert {k: v[:2] for k, v in listed(back).items()} == {
        ("answer", "outcome"): ("no", "yes"),
        ("answer", "margin_ft"): (-1000.0, 5000.0),
    }


def test_the_shipped_rulebook_lists_what_a_determination_of_today_says(tmp_path: Path, store: Store) -> None:
    kept = record(tmp_path, store, Site.from_lonlat(*AIRPORT))
    drawn = draw("planning_areas", [(around(AIRPORT, 5000.0), {"SPDETAIL": "METROPOLITAN"})], least_features=1)
    add(store, drawn)
    found = again(kept, store)
    assert set(listed(found)) == expected(kept, store)
    assert {because for _, _, because, _ in listed(found).values()} == {("layer:planning_areas",)}
    assert ("tier", "floor") in listed(found)
    assert found.inputs[0].was == "not loaded"


def test_an_edition_that_is_gone_is_what_is_left_to_have_done_it(tmp_path: Path, store: Store) -> None:
    old = add(store, planning("METROPOLITAN"))
    kept = record(tmp_path, store, Site.from_lonlat(*NEWARK), book=TWO)
    store.remove(store.find(old))
    add(store, planning("RURAL"))
    found = again(kept, store, rulebooks=(TWO,))
    assert [i.at_hand for i in found.inputs] == [False]
    assert listed(found)["answer", "outcome"] == ("yes", "no", ("layer:planning_areas",), "left")
    assert found.differences[0].why.startswith("Nothing else is left: ")


def test_two_causes_of_which_none_can_be_put_back_are_not_separated(tmp_path: Path, store: Store) -> None:
    old = add(store, planning("METROPOLITAN"))
    kept = record(tmp_path, store, Site.from_lonlat(*NEWARK), book=TWO)
    store.remove(store.find(old))
    earlier = kept.determination.model_copy(update={"software": "grownj-geo 0.0.1"})
    kept = Kept("old.json", earlier, sealed=False, readings=kept.readings)
    found = again(kept, store, rulebooks=(TWO,))
    because, how = listed(found)["answer", "outcome"][2:]
    assert (because, how) == (("layer:planning_areas", "software"), "unseparated")


def test_a_layer_that_changes_nothing_is_named_without_differences(tmp_path: Path, store: Store) -> None:
    add(store, planning("METROPOLITAN"))
    kept = record(tmp_path, store, Site.from_lonlat(*NEWARK), book=TWO)
    far = shapely.affinity.translate(around(NEWARK, 5000.0), yoff=90_000.0)
    features = [(around(NEWARK, 5000.0), {"SPDETAIL": "METROPOLITAN"}), (far, {"SPDETAIL": "RURAL"})]
    add(store, draw("planning_areas", features, least_features=1))
    found = again(kept, store, rulebooks=(TWO,))
    assert found.same
    assert [i.id for i in found.inputs] == ["layer:planning_areas"]


def test_a_damaged_edition_is_told(tmp_path: Path, store: Store) -> None:
    name = add(store, planning("METROPOLITAN"))
    kept = record(tmp_path, store, Site.from_lonlat(*NEWARK), book=TWO)
    (store.find(name).folder / "layer.parquet").write_bytes(b"no longer")
    found = again(kept, store, rulebooks=(TWO,))
    assert found.incomplete
    assert name in found.incomplete[0]
    assert listed(found)["answer", "outcome"][:2] == ("yes", "undetermined")


# -- the day changed (acceptance) ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "days", "floor", "words"),
    [
        (ATLANTIC_CITY, ("2014-10-15", "2014-10-24"), (4000, 5000), "Growth zone with a Tourism District"),
        (AIRPORT, ("2018-10-02", "2018-10-04"), (500, 5000), "P.L.2018 c.120"),
        (ATLANTIC_CITY, ("2019-06-30", "2019-07-01"), (5000, 4000), "ends on 2019-07-01"),
    ],
)
def test_across_the_rule_dates_exactly_the_differences_of_the_day(
    tmp_path: Path,
    store: Store,
    *,
    place: tuple[float, float],
    days: tuple[str, str],
    floor: tuple[int, int],
    words: str,
) -> None:
    was, now = days
    kept = record(tmp_path, store, Site.from_lonlat(*place), as_of=was)
    day = date.fromisoformat(now)
    found = again(kept, store, as_of=day)
    assert [i.id for i in found.inputs] == ["as_of"]
    assert set(listed(found)) == expected(kept, store, as_of=day)
    assert {(because, how) for _, _, because, how in listed(found).values()} == {(("as_of",), "alone")}
    assert listed(found)["tier", "floor"][:2] == floor
    why = next(d.why for d in found.differences if (d.item, d.field) == ("tier", "floor"))
    assert words in why
    before, after = again(kept, store), again(record(tmp_path, store, Site.from_lonlat(*place), as_of=now), store)
    assert before.same
    assert after.same


def test_a_site_that_no_rule_date_concerns_stays_the_same_across_both(tmp_path: Path, store: Store) -> None:
    kept = record(tmp_path, store, Site.from_lonlat(*NEWARK), as_of="2014-10-15")
    assert again(kept, store, as_of=date(2014, 10, 24)).same
    kept = record(tmp_path, store, Site.from_lonlat(*NEWARK), as_of="2018-10-02")
    assert {d.field for d in again(kept, store, as_of=date(2018, 10, 4)).differences} <= {"margin_ft"}


def test_between_the_ends_of_an_uncertain_span_the_answer_is_undetermined(tmp_path: Path, store: Store) -> None:
    kept = record(tmp_path, store, Site.from_lonlat(*ATLANTIC_CITY), as_of="2014-10-15")
    found = listed(again(kept, store, as_of=date(2014, 10, 20)))
    assert found["garden_state_growth_zone", "outcome"][:2] == ("no", "undetermined")
    assert found["tier", "ceiling"][:2] == (4000, 5000)
    assert ("tier", "floor") not in found


def test_the_days_named_are_those_on_which_the_figure_changed(tmp_path: Path, store: Store) -> None:
    kept = record(tmp_path, store, Site.from_lonlat(*AIRPORT), as_of="2014-01-01")
    why = {(d.item, d.field): d.why for d in again(kept, store, as_of=date(2018, 11, 1)).differences}
    zone, distressed = why["garden_state_growth_zone", "outcome"], why["distressed_municipality", "outcome"]
    assert "2018-10-03" in zone
    assert "2014-10" not in zone
    assert "2017-01-01" in distressed
    assert "2018-10" not in distressed


# -- law, readings, facts, software -------------------------------------------------------------------


def test_a_figure_of_the_rulebook_that_changed_is_named(tmp_path: Path, store: Store) -> None:
    add(store, planning("METROPOLITAN"))
    kept = record(tmp_path, store, Site.from_lonlat(*NEWARK), book=TWO)
    raw = TWO.model_dump(mode="json", by_alias=True)
    raw["parameters"]["reach"]["values"][0]["value"] = 0.01
    raw["version"] = "2"
    found = again(kept, store, rulebooks=(Rulebook.model_validate(raw),))
    assert [i.id for i in found.inputs] == ["rulebook"]
    assert "figure reach 0.01, was 0.5" in found.inputs[0].words
    assert {(key, value[2:]) for key, value in listed(found).items() if key[1] == "outcome"} == {
        (("near", "outcome"), (("rulebook",), "alone"))
    }


def test_an_old_rulebook_that_the_record_does_not_hold_is_not_at_hand(tmp_path: Path, store: Store) -> None:
    kept = record(tmp_path, store, Site.from_lonlat(*NEWARK), book=TWO)
    bare = Kept("bare.json", kept.determination, sealed=False, readings=kept.determination.readings)
    with pytest.raises(RecordError, match=r"bare\.json was made under the rulebook 'drawn'.*--rulebook"):
        again(bare, store)
    raw = TWO.model_dump(mode="json", by_alias=True)
    raw["parameters"]["reach"]["values"][0]["value"] = 0.01
    found = again(bare, store, rulebooks=(Rulebook.model_validate(raw),))
    assert [(i.id, i.at_hand) for i in found.inputs] == [("rulebook", False)]
    assert listed(found)["near", "outcome"][2:] == (("rulebook",), "left")
    # A sealed one holds its rulebook, and is asked by it where no other is given.
    assert again(kept, store).same


def test_a_reading_and_a_fact_are_told_apart(tmp_path: Path, store: Store) -> None:
    kept = record(tmp_path, store, Site.from_lonlat(*AIRPORT))
    change = {"readings": {"A25": "undetermined"}, "facts": {"hub_impact_ruling": True}}
    found = again(kept, store, **change)
    assert set(listed(found)) == expected(kept, store, **change)
    assert {i.id for i in found.inputs} == {"reading:A25", "fact:hub_impact_ruling"}
    causes = {key: value[2] for key, value in listed(found).items()}
    assert causes["tier", "floor"] == ("fact:hub_impact_ruling",)
    assert causes["distressed_municipality", "outcome"] == ("reading:A25",)


def test_readings_that_this_version_does_not_know_are_named_whatever_they_are_called(
    tmp_path: Path, store: Store
) -> None:
    kept = record(tmp_path, store, Site.from_lonlat(*NEWARK))
    odd = {"A999": "x", "B7": "x", "weird": "x", "": "x"}
    readings = {**kept.determination.readings, **odd}
    other = kept.determination.model_copy(update={"readings": readings})
    found = again(Kept("odd.json", other, sealed=False, readings=readings), store)
    assert found.same
    assert [(i.id, i.now, i.at_hand) for i in found.inputs] == [
        (f"reading:{name}", "", False) for name in ("", "A999", "B7", "weird")
    ]


def test_what_only_two_changes_together_do_is_said_so(tmp_path: Path, store: Store) -> None:
    both = drawn_book(
        {"all": [PA1, {"site_fact": {"name": "structure_exists", "is": True}}]},
    )
    add(store, planning("RURAL", edition=date(2016, 1, 1)))
    kept = record(tmp_path, store, replace(Site.from_lonlat(*NEWARK), facts={"structure_exists": False}), book=both)
    add(store, planning("METROPOLITAN", edition=date(2017, 4, 17)))
    found = again(kept, store, facts={"structure_exists": True})
    assert listed(found)["answer", "outcome"] == (
        "no",
        "yes",
        ("layer:planning_areas", "fact:structure_exists"),
        "together",
    )


def test_an_edited_record_without_a_seal_is_not_blamed_on_the_law(tmp_path: Path, store: Store) -> None:
    kept = record(tmp_path, store, Site.from_lonlat(*NEWARK))
    content = json.loads(kept.determination.to_json())
    content["tier"]["floor"] = 500
    (tmp_path / "edited.json").write_text(json.dumps(content), encoding="utf-8")
    (bare,) = read_records([tmp_path / "edited.json"])
    assert isinstance(bare, Kept)
    found = again(bare, store)
    assert listed(found) == {("tier", "floor"): (500, 5000, ("software",), "left")}
    assert "edited by hand" in found.differences[0].why


def test_another_version_that_answers_the_same_is_named_without_blame(tmp_path: Path, store: Store) -> None:
    kept = record(tmp_path, store, Site.from_lonlat(*NEWARK))
    earlier = kept.determination.model_copy(update={"software": "grownj-geo 0.0.1"})
    found = again(Kept("old.json", earlier, sealed=False, readings=kept.determination.readings), store)
    assert found.same
    assert [i.id for i in found.inputs] == ["software"]


# -- the site as recorded -----------------------------------------------------------------------------


def test_a_polygon_is_asked_again_with_its_exact_geometry_and_uncertainty(tmp_path: Path, store: Store) -> None:
    add(store, planning("METROPOLITAN", accuracy_ft=48.3))
    shape = shapely.affinity.rotate(around(NEWARK, 100.123456), 17.0)
    assert again(record(tmp_path, store, site(shape, uncertainty_ft=25.0)), store).same


def test_a_place_that_is_no_site_now_says_which_record(tmp_path: Path, store: Store) -> None:
    kept = record(tmp_path, store, Site.from_lonlat(*NEWARK))
    content = json.loads(kept.determination.to_json())
    content["site"]["geometry_wkt"] = "LINESTRING (0 0, 1 1)"
    (tmp_path / "line.json").write_text(json.dumps(content), encoding="utf-8")
    (bare,) = read_records([tmp_path / "line.json"])
    assert isinstance(bare, Kept)
    with pytest.raises(SiteError, match="LineString"):
        again(bare, store)


# -- days of the law ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("place", [ATLANTIC_CITY, AIRPORT, NEWARK])
def test_answers_change_on_days_of_the_law_only(store: Store, place: tuple[float, float]) -> None:
    """Ask on the first of each month and around each known day: a change in between has a known day in between."""
    engine = Engine(load_atlas(), load_rulebook())
    known = {day for one in law_dates(engine.bound, engine.atlas) for day in one.days}
    days = sorted(
        {date(y, m, 1) for y in range(2014, 2019) for m in (1, 4, 7, 10)} | {date(2013, 9, 18), date(2019, 7, 1)}
    )
    engines = Engines(store)
    where = Site.from_lonlat(*place)
    book = load_rulebook()
    answers = [answers_of(Engine(engines.atlas(day), book).determine(where)) for day in days]
    for (first, was), (last, now) in zip(
        zip(days, answers, strict=True), list(zip(days, answers, strict=True))[1:], strict=False
    ):
        if changed_items(was, now):
            assert any(first < day <= last for day in known), (first, last)
