"""The hand-over: what the credit rules are told of a place, from each of its three origins."""

from __future__ import annotations

import json
from datetime import date
from importlib import resources
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from grownj_geo.answers import columns_of
from grownj_geo.areanames import area_names, contradictions, rulebooks_for
from grownj_geo.areas import AreaAnswer, Areas, BaseBounds, BuildingAreas, areas_by_hand, areas_of, areas_of_row
from grownj_geo.atlas import load_atlas
from grownj_geo.determine import Engine, determine
from grownj_geo.errors import FactError
from grownj_geo.rulebook import load_rulebook

if TYPE_CHECKING:
    from grownj_geo.atlas import Atlas

NEWARK = "40.7344,-74.1641"
CAMDEN = "39.9447,-75.1190"
WORDS = st.sampled_from(["yes", "no", "undetermined"])


def every_book(site: str, atlas: Atlas) -> Areas:
    books = rulebooks_for(area_names())
    return areas_of(
        {"A": [Engine(atlas, load_rulebook(book)).determine(determine_site(site, atlas)) for book in books]}
    )


def determine_site(site: str, atlas: Atlas) -> Any:
    from grownj_geo.determine import Directory  # noqa: PLC0415
    from grownj_geo.locate import locate  # noqa: PLC0415

    return locate(site, directory=Directory(atlas))


def test_every_area_is_a_category_of_its_rulebook() -> None:
    for area in area_names().values():
        assert load_rulebook(area.rulebook).category(area.asked).kind != "ground", area.name


def test_a_determination_gives_every_area_and_the_bounds(atlas: Atlas) -> None:
    found = every_book(CAMDEN, atlas).building("A")
    assert set(found.areas) == set(area_names())
    assert found["mrera_growth_zone"].outcome == "yes"
    assert found["mrera_qualified_municipality"].outcome == "yes"
    assert found["port_district"].outcome == "yes"
    assert found["priority_area"].outcome == "no"
    assert found.bounds == BaseBounds(floor=5000, ceiling=5000)
    assert (found.mun_code, found.county) == ("0408", "Camden")


def test_what_is_undetermined_says_what_would_settle_it(atlas: Atlas) -> None:
    found = every_book(NEWARK, atlas).building("A")
    assert found["deep_poverty_pocket"].outcome == "undetermined"
    assert found["deep_poverty_pocket"].settles
    assert found["distressed_municipality"].outcome == "yes"


def test_a_rulebook_that_was_not_asked_leaves_its_areas_undetermined(atlas: Atlas) -> None:
    found = areas_of({"A": [determine(CAMDEN, atlas)]}).building("A")
    assert "hub_of_the_act" not in found.areas
    assert found["hub_of_the_act"].outcome == "undetermined"


def test_the_record_follows_its_schema_and_comes_back_the_same(atlas: Atlas) -> None:
    path = resources.files("grownj_geo") / "schemas" / "areas.schema.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    record = every_book(NEWARK, atlas)
    jsonschema.validate(json.loads(record.to_json()), schema, cls=jsonschema.Draft202012Validator)
    assert Areas.model_validate_json(record.to_json()) == record
    assert Areas.model_validate(yaml.safe_load(record.to_json())) == record


@given(
    st.dictionaries(st.sampled_from(sorted(area_names())), WORDS, max_size=8),
    st.sampled_from(["undetermined", "no"]),
    st.one_of(st.none(), st.sampled_from([500, 3000, 4000])),
)
def test_any_record_comes_back_the_same(stated: dict[str, str], rest: Any, floor: int | None) -> None:
    said = [{name for name, word in stated.items() if word == each} for each in ("yes", "no")]
    assume(not contradictions(*said))
    answers = {name: AreaAnswer.model_validate({"outcome": word}) for name, word in stated.items()}
    bounds = BaseBounds(floor=floor, ceiling=5000)
    record = Areas(buildings=(BuildingAreas(id="A", areas=answers, rest=rest, bounds=bounds),), as_of=date(2017, 4, 17))
    again = Areas.model_validate_json(record.to_json())
    assert again == record
    for name in area_names():
        if stated.get(name) in {"yes", "no"}:
            assert again.building("A")[name].outcome == stated[name]
        assert again.building("A")[name] == record.building("A")[name]


def test_the_schema_refuses_a_fourth_answer_and_a_missing_field(atlas: Atlas) -> None:
    path = resources.files("grownj_geo") / "schemas" / "areas.schema.json"
    validator = jsonschema.Draft202012Validator(json.loads(path.read_text(encoding="utf-8")))
    record = json.loads(every_book(NEWARK, atlas).to_json())
    assert validator.is_valid(record)
    for name in record:
        assert not validator.is_valid({k: v for k, v in record.items() if k != name}), name
    record["buildings"][0]["areas"]["priority_area"]["outcome"] = "maybe"
    assert not validator.is_valid(record)


def test_the_schema_refuses_an_area_that_there_is_not(atlas: Atlas) -> None:
    path = resources.files("grownj_geo") / "schemas" / "areas.schema.json"
    validator = jsonschema.Draft202012Validator(json.loads(path.read_text(encoding="utf-8")))
    record = json.loads(every_book(NEWARK, atlas).to_json())
    areas = record["buildings"][0]["areas"]
    areas["priority_aera"] = areas.pop("priority_area")
    assert not validator.is_valid(record)


def test_a_row_of_a_batch_gives_the_areas_of_the_determination(atlas: Atlas) -> None:
    engine = Engine(atlas, load_rulebook())
    site = determine_site(NEWARK, atlas)
    columns = one_row(engine, site)
    found, alone = areas_of_row(columns).buildings[0], areas_of({"site": [engine.determine(site)]}).buildings[0]
    for area in area_names().values():
        if area.rulebook == "grow-nj":
            assert found[area.name].outcome == alone[area.name].outcome, area.name
    assert found.bounds == alone.bounds


def one_row(engine: Engine, site: Any) -> dict[str, Any]:
    from grownj_geo.answers import answers_of  # noqa: PLC0415

    leaves = engine.run(site).leaves
    many = columns_of(engine, leaves, answers_of(engine, leaves), "full")
    return {name: values[0] for name, values in many.items()}


def test_a_row_says_what_is_wrong_with_it() -> None:
    with pytest.raises(FactError, match=r"priority_area > outcome: Input should be 'yes', 'no' or 'undetermined'"):
        areas_of_row({"priority_area": "perhaps"})
    with pytest.raises(FactError, match="no areas: row 3: the latitude is missing"):
        areas_of_row({"problem": "row 3: the latitude is missing"})


@pytest.mark.parametrize("word", ["yes", "Yes", " YES ", True])
def test_yes_is_read_as_people_and_yaml_write_it(word: object) -> None:
    assert areas_by_hand({"southern_eight": word}).buildings[0]["southern_eight"].outcome == "yes"


def test_what_is_not_stated_is_undetermined_unless_the_list_is_said_to_be_whole() -> None:
    stated = {"distressed_municipality": "yes"}
    assert areas_by_hand(stated).buildings[0]["transit_bonus"].outcome == "undetermined"
    assert areas_by_hand(stated | {"rest": "no"}).buildings[0]["transit_bonus"].outcome == "no"
    assert areas_by_hand(stated | {"rest": False}).buildings[0]["transit_bonus"].outcome == "no"


@pytest.mark.parametrize(
    ("stated", "name", "outcome"),
    [
        ({"garden_state_growth_zone": True, "rest": "no"}, "qualified_incentive_area", "yes"),
        ({"mrera_growth_zone": True, "rest": "no"}, "qualified_incentive_area", "yes"),
        ({"mrera_growth_zone": "undetermined", "rest": "no"}, "garden_state_growth_zone", "undetermined"),
        ({"priority_area": True}, "qualified_incentive_area", "yes"),
        ({"priority_area": True, "distressed_municipality": "undetermined"}, "distressed_municipality", "no"),
        ({"qualified_incentive_area": False}, "priority_area", "no"),
        ({"urban_transit_hub": True, "rest": "no"}, "urban_transit_hub_municipality", "yes"),
        # A ground of the incentive area, but not in the Highlands preservation area.
        ({"urban_transit_hub_municipality": True, "rest": "no"}, "qualified_incentive_area", "undetermined"),
        ({"distressed_municipality": True, "rest": "no"}, "qualified_incentive_area", "undetermined"),
        ({"distressed_municipality": True, "qualified_incentive_area": False}, "qualified_incentive_area", "no"),
        ({"southern_eight": True, "rest": "no"}, "qualified_incentive_area", "no"),
    ],
)
def test_what_follows_from_an_area_by_its_definition_is_not_closed(stated: Any, name: str, outcome: str) -> None:
    assert areas_by_hand(stated).buildings[0][name].outcome == outcome


@pytest.mark.parametrize(
    "stated",
    [
        {"priority_area": True, "distressed_municipality": True},
        {"priority_area": True, "other_eligible_area": True},
        {"garden_state_growth_zone": True, "qualified_incentive_area": False},
        {"mrera_growth_zone": True, "garden_state_growth_zone": False},
    ],
)
def test_areas_that_cannot_be_together_are_refused(stated: Any) -> None:
    with pytest.raises(FactError, match=r" is yes and .* is (yes|no); .*Correct one of each"):
        areas_by_hand(stated)


@pytest.mark.parametrize("bounds", [{}, {"floor": 500}, {"ceiling": 500}, {"floor": -1, "ceiling": 5}])
def test_half_of_the_bounds_is_refused(bounds: dict[str, int]) -> None:
    with pytest.raises(FactError, match="bounds > "):
        areas_by_hand({"priority_area": True, "bounds": bounds})


def test_all_problems_are_told_at_once_with_the_nearest_name() -> None:
    raw = {
        "buildings": [{"id": "A", "areas": {"priority_aera": "yes"}}, {"id": "B", "areas": {"southern_eight": "so"}}]
    }
    with pytest.raises(FactError) as caught:
        areas_by_hand(raw, name="areas.yaml")
    assert "areas.yaml cannot be taken as areas" in str(caught.value)
    assert "buildings > 0: there is no area 'priority_aera'. Did you mean 'priority_area'?" in str(caught.value)
    assert "buildings > 1 > areas > southern_eight" in str(caught.value)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"buildings": []}, "at least 1 item"),
        ({"buildings": [{"id": "A"}, {"id": "A"}]}, "'A' is given 2 times"),
        ({"buildings": [{"bounds": {"floor": 4000, "ceiling": 3000}}]}, "the floor 4000 is above the ceiling 3000"),
        ({"buildings": [{"areas": {"priority_area": {"outcome": "no", "leans": "yes"}}}]}, "only what is undetermined"),
        (["priority_area"], "valid dictionary"),
    ],
)
def test_a_record_that_contradicts_itself_is_refused(raw: object, words: str) -> None:
    with pytest.raises(FactError, match=words):
        areas_by_hand(raw)


def test_a_building_is_found_by_its_name() -> None:
    record = areas_by_hand({"buildings": [{"id": "north"}, {"id": "south"}]})
    assert record.building("south").id == "south"
    with pytest.raises(FactError, match="Did you mean 'north'"):
        record.building("nort")
    one = areas_by_hand({"priority_area": "yes"})
    assert one.building("whatever").id == one.only().id == "site"
    with pytest.raises(FactError, match="no building 'whatever'"):
        one.building("whatever", alone=False)
    with pytest.raises(FactError, match="of 2 buildings, north, south; expected one place"):
        record.only()


def test_an_area_that_no_rule_asks_for_is_no_area() -> None:
    with pytest.raises(KeyError, match="Did you mean 'priority_area'"):
        areas_by_hand({"priority_area": "yes"}).buildings[0]["priority_areas"]


def test_determinations_of_two_days_are_refused() -> None:
    days = ("2016-01-04", "2017-04-17")
    one, other = (determine(NEWARK, load_atlas(as_of=day)) for day in days)
    with pytest.raises(FactError, match="of 2016-01-04 and 2017-04-17; expected one day"):
        areas_of({"A": [one], "B": [other]})


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("transit_oriented_development", "Did you mean 'transit_bonus'?"),
        ("Distressed municipality", "Did you mean 'distressed_municipality'?"),
        ("development_corporation", "Nothing is called nearly that; grownj credits areas PLACE prints every name."),
    ],
)
def test_an_area_is_suggested_where_one_is_near(name: str, words: str) -> None:
    with pytest.raises(FactError) as caught:
        areas_by_hand({name: True})
    assert f"there is no area {name!r}. {words}" in str(caught.value)


def test_other_names_of_areas_are_no_names_of_areas() -> None:
    names = [*area_names(), *(word for area in area_names().values() for word in area.also)]
    assert len(names) == len(set(names))
