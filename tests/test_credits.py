"""An estimate as a record: what it says of itself, what settles it, and where its areas come from."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from importlib import resources
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_credit_properties import completed, possible, projects, unknowns, within

from grownj_geo.areas import areas_by_hand, areas_of
from grownj_geo.creditproject import PROJECT_FACTS, project_of
from grownj_geo.credits import AmountRange, estimate
from grownj_geo.creditsites import areas_of_project
from grownj_geo.credittext import estimate_text
from grownj_geo.determine import determine
from grownj_geo.errors import FactError, RulebookError, SiteError

if TYPE_CHECKING:
    from grownj_geo.atlas import Atlas

CAMDEN = "39.9447,-75.1190"


def ordinary(**more: Any) -> dict[str, Any]:
    return {
        "name": "Works",
        "business": {"industry": "manufacturing", "primarily_warehouse": False, "auto_headquarters": False},
        "buildings": [
            {
                "gross_leasable_sqft": 50_000,
                "premises": "industrial",
                "construction": "rehabilitation",
                "similar_use_percent": 100,
            }
        ],
        "jobs": [{"kind": "new", "count": 12, "health_benefits": True}],
        "capital": [{"what": "equipment", "amount": 1_000_000}],
        "bonuses": {"per_job": 0},
        **more,
    }


def test_a_determination_gives_the_areas(atlas: Atlas) -> None:
    found = estimate(project_of(ordinary()), areas_of({"site": [determine(CAMDEN, atlas)]}))
    assert found["base"].low == found["base"].high == 5000
    assert found["new_required"].high == 8
    assert (found.eligible, found.award.low) == ("yes", 600_000)
    assert found.as_of == date(2017, 4, 17)


def test_a_project_that_says_where_it_is_needs_no_areas(atlas: Atlas) -> None:
    raw = ordinary()
    raw["buildings"][0]["site"] = CAMDEN
    project = project_of(raw)
    by_project = areas_of_project(project, atlas)
    assert by_project is not None
    assert estimate(project, by_project) == estimate(project, areas_of_project(project, atlas, sites={"site": CAMDEN}))
    assert by_project.building("site")["mrera_growth_zone"].outcome == "yes"
    assert areas_of_project(project_of(ordinary()), atlas) is None


def test_each_building_keeps_its_own_areas(atlas: Atlas) -> None:
    raw = ordinary()
    stated = {"qualified_incentive_area": "yes", "rest": "no"}
    raw["buildings"] = [
        {**raw["buildings"][0], "id": "A", "site": CAMDEN},
        {**raw["buildings"][0], "id": "B", "areas": stated},
    ]
    raw["jobs"][0]["building"] = raw["capital"][0]["building"] = "A"
    found = estimate(project_of(raw), areas_of_project(project_of(raw), atlas))
    assert (found["base@A"].low, found["base@B"].low) == (5000, 500)


def test_a_site_that_cannot_be_read_is_refused_with_its_building(atlas: Atlas) -> None:
    raw = ordinary()
    raw["buildings"][0]["site"] = "nowhere"
    with pytest.raises(SiteError, match="Building site:"):
        areas_of_project(project_of(raw), atlas)


def test_areas_without_the_building_are_refused() -> None:
    raw = ordinary()
    raw["buildings"][0]["id"] = "north"
    areas = areas_by_hand({"buildings": [{"id": "south"}, {"id": "west"}]})
    with pytest.raises(FactError, match="no building 'north'"):
        estimate(project_of(raw), areas)


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ({"floor": None, "ceiling": None}, "priority_area is yes, which is $3,000"),
        ({"floor": 500, "ceiling": 500}, "priority_area is yes, which is $3,000"),
        ({"floor": 5000, "ceiling": 5000}, "no area that gives as much can be"),
    ],
)
def test_bounds_of_the_base_amount_that_the_areas_contradict_are_refused(bounds: Any, words: str) -> None:
    areas = areas_by_hand({"priority_area": True, "rest": "no", "bounds": bounds})
    with pytest.raises(FactError) as refused:
        estimate(project_of(ordinary()), areas)
    assert words in str(refused.value)


def test_areas_of_one_building_are_not_those_of_others() -> None:
    raw = ordinary()
    raw["buildings"] = [{**raw["buildings"][0], "id": name} for name in ("north", "south")]
    raw["jobs"][0]["building"] = raw["capital"][0]["building"] = "north"
    with pytest.raises(FactError, match="no building 'south'"):
        estimate(project_of(raw), areas_by_hand({"buildings": [{"id": "north"}]}))


def test_a_reading_that_there_is_not_is_refused() -> None:
    with pytest.raises(RulebookError, match="no option 'nearest'"):
        estimate(project_of(ordinary()), readings={"A13": "nearest"})


def test_the_record_follows_its_schema_and_loses_no_digit() -> None:
    path = resources.files("grownj_geo") / "schemas" / "credits.schema.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    found = estimate(project_of(ordinary()), areas_by_hand({"qualified_incentive_area": True}))
    record = json.loads(found.to_json())
    jsonschema.validate(record, schema, cls=jsonschema.Draft202012Validator)
    assert type(found).model_validate_json(found.to_json()) == found
    for name in record:
        short = {k: v for k, v in record.items() if k != name}
        assert not jsonschema.Draft202012Validator(schema).is_valid(short), name


def test_the_same_project_gives_the_same_bytes() -> None:
    assert estimate(project_of(ordinary())).to_json() == estimate(project_of(ordinary())).to_json()


def test_what_is_assumed_is_said_and_can_be_left_open() -> None:
    areas = areas_by_hand({"qualified_incentive_area": True, "rest": "no"})
    found = estimate(project_of(ordinary()), areas)
    assert "that the net benefit to the State is enough (18.3(a)3ii)" in found.assumptions
    assert found.eligible == "yes"
    strict = estimate(project_of(ordinary()), areas, strict=True)
    assert strict.eligible == "undetermined"
    assert strict.award.low == 0
    stated = ordinary(green_standard=True, net_benefit=10**9, withholdings=10**9)
    stated["business"] |= {
        "final_point_of_sale_retail": False,
        "university_research_hospital": False,
        "gaming_revenue_percent": 0,
    }
    stated["jobs"][0] |= {"hours_per_week": 40, "time_at_facility_percent": 100, "contractors": False}
    stated["capital"][0] |= {"when": "after", "grants": 0}
    settled = estimate(project_of(stated), areas, strict=True)
    assert (settled.eligible, settled.assumptions) == ("yes", ())


def test_the_figures_of_the_day_are_used() -> None:
    assert estimate(project_of(ordinary(application_date="2014-01-02"))).as_of == date(2014, 1, 2)
    both = ordinary(application_date="2014-01-02", approval_date="2014-06-02")
    assert estimate(project_of(both)).as_of == date(2014, 6, 2)
    areas = areas_by_hand({"buildings": [{"id": "site"}], "as_of": "2015-05-05"})
    assert estimate(project_of(ordinary()), areas).as_of == date(2015, 5, 5)


def test_what_settles_it_is_named_and_gives_what_it_says() -> None:
    raw = ordinary()
    raw["buildings"][0]["areas"] = {
        "qualified_incentive_area": "yes",
        "distressed_municipality": {"outcome": "undetermined", "settles": ["state lfb_supervision"]},
        "rest": "no",
    }
    found = estimate(project_of(raw))
    (each,) = found.settles
    assert (each.kind, each.name, each.needs) == ("area", "distressed_municipality", ("state lfb_supervision",))
    assert each.if_yes == (480_000, 480_000)
    assert each.if_no == (60_000, 60_000)
    assert (found.award.low, found.award.high) == (60_000, 480_000)


def test_what_is_open_for_nothing_is_assumed_is_named_each() -> None:
    areas = areas_by_hand({"qualified_incentive_area": True, "rest": "no"})
    found = estimate(project_of(ordinary()), areas, strict=True)
    named = {each.name for each in found.settles}
    assert {"net_benefit", "withholdings", "green_standard", "final_point_of_sale_retail"} <= named
    assert {"hours_per_week", "time_at_facility_percent", "contractors", "when", "grants"} <= named
    assert {"gaming_revenue_percent"} <= named
    # It is stated.
    assert "health_benefits" not in named
    assert {each.name for each in estimate(project_of(ordinary()), areas).settles} == set()


def test_a_figure_of_the_law_that_is_not_taken_as_it_stands_settles_too() -> None:
    raw = ordinary(bonuses={"per_job": 9_000})
    areas = areas_by_hand({"qualified_incentive_area": True, "rest": "no"})
    found = estimate(project_of(raw), areas)
    assert (found.award.low, found.award.high) == (720_000, 1_140_000)
    (each,) = found.settles
    assert (each.kind, each.name, each.if_yes, each.if_no) == ("law", "job_limit_other", (720_000, 720_000), None)
    assert each.words == "Limit for a job, other eligible area: 6000 is unverified"
    assert "6000 is unverified; taken as it stands $720,000. To decide it: read it in" in " ".join(
        estimate_text(found).split()
    )
    assert estimate(project_of(raw), areas, trust="stated").settles == ()


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({"approval_date": None, "application_date": "2013-09-18"}, "approval_date"),
        ({"application_date": None, "approval_date": "2017-12-12"}, "application_date"),
    ],
)
def test_a_day_that_is_not_stated_and_matters_is_named(more: dict[str, Any], name: str) -> None:
    raw = ordinary(**more, jobs=[{"kind": "new", "count": 300}])
    raw["capital"][0]["amount"] = 20_000_001 if name == "application_date" else 800_000
    areas = {"qualified_incentive_area": True, "southern_eight": True, "port_district": True, "rest": "no"}
    found = estimate(project_of(raw), areas_by_hand(areas))
    assert name in {each.name for each in found.settles}


def test_proximity_that_is_not_stated_and_matters_is_named() -> None:
    raw = ordinary()
    one = {**raw["buildings"][0], "areas": {"qualified_incentive_area": True, "rest": "no"}}
    raw["buildings"] = [{**one, "id": name} for name in "AB"]
    raw["jobs"][0]["building"] = "A"
    raw["capital"] = [{"what": "equipment", "amount": 2_000_000, "building": "A"}]
    found = estimate(project_of(raw))
    assert found.eligible == "undetermined"
    assert [each.name for each in found.settles] == ["proximity"]


def test_a_short_net_benefit_says_what_credit_it_is_enough_for() -> None:
    areas = areas_by_hand({"qualified_incentive_area": True, "rest": "no"})
    found = estimate(project_of(ordinary(net_benefit=55_000)), areas)
    assert (found.eligible, found.award.low, found.award.high, found["carried"].low) == ("yes", 50_000, 50_000, 50_000)
    assert any("enough for $50,000.00 in all" in words for words in found.cautions)
    enough = estimate(project_of(ordinary(net_benefit=66_000)), areas)
    assert enough.eligible == "yes"
    assert not any("net benefit" in words for words in enough.cautions)


def test_a_reading_of_what_counts_is_told_where_another_would_count_otherwise() -> None:
    areas = areas_by_hand({"qualified_incentive_area": True, "rest": "no"})
    raw = ordinary()
    assert not any(words.startswith(("A59", "A60")) for words in estimate(project_of(raw), areas).cautions)
    raw["capital"] += [{"what": "soft_costs", "amount": 400_000, "when": when} for when in ("before", "after")]
    assert any(words.startswith("A60") for words in estimate(project_of(raw), areas).cautions) is False
    raw["capital"][0] |= {"amount": 1_000_000, "when": "before"}
    raw["capital"] += [{"what": "equipment", "amount": 400_000, "when": "after"}]
    assert any(words.startswith("A60") for words in estimate(project_of(raw), areas).cautions)


def test_a_reading_that_matters_only_where_nothing_is_assumed_is_told_there() -> None:
    # Hours that are not stated are those of one full-time job, unless nothing is assumed.
    raw = ordinary(business={"industry": "logistics", "primarily_warehouse": False, "technology_startup": False})
    raw["jobs"][0] |= {"count": 30, "contractors": False, "time_at_facility_percent": 100}
    stated = ("qualified_incentive_area", "port_district", "port_district_with_container_terminal")
    areas = areas_by_hand({**dict.fromkeys(stated, True), "rest": "no"})
    told = [
        any(words.startswith("A59") for words in estimate(project_of(raw), areas, strict=strict).cautions)
        for strict in (False, True)
    ]
    assert told == [False, True]


@settings(max_examples=40, deadline=None)
@given(projects(), st.data())
def test_what_would_settle_it_is_what_comes_when_it_is_settled(raw: dict[str, Any], data: st.DataObject) -> None:
    found = estimate(project_of(raw))
    named = [each for each in found.settles if each.if_yes is not None and each.kind in {"area", "fact"}]
    if not named:
        return
    each = data.draw(st.sampled_from(named))
    row = next((i for i, b in enumerate(raw["buildings"]) if b["id"] == each.building), 0)
    key = (each.kind, row, each.name)
    for value, said in ((True, each.if_yes), (False, each.if_no)):
        settled = completed(raw, {key: value})
        if key in unknowns(raw) and possible(settled):
            again = estimate(project_of(settled)).award
            if each.kind == "fact":
                assert said == (again.low, again.high)
            # That an area is settled may close others too, where the list of areas is said to be whole.
            assert within(again, AmountRange(low=said[0], high=said[1]))


def test_of_many_buildings_an_area_is_tried_in_all_at_once() -> None:
    raw = ordinary()
    one = {
        **raw["buildings"][0],
        "areas": {"qualified_incentive_area": True, "distressed_municipality": "undetermined", "rest": "no"},
    }
    raw["buildings"] = [{**one, "id": f"B{number}", "proximity": "park"} for number in range(12)]
    raw["jobs"] = [{"kind": "new", "count": 12, "building": "B0"}]
    raw["capital"] = [{"what": "equipment", "amount": 12_000_000, "building": "B0"}]
    found = estimate(project_of(raw))
    (each,) = found.settles
    assert each.words == "Distressed municipality (wherever it is open)"
    assert (each.if_no, each.if_yes) == ((60_000, 60_000), (480_000, 480_000))


def test_nothing_settles_what_is_settled() -> None:
    found = estimate(project_of(ordinary()), areas_by_hand({"qualified_incentive_area": True, "rest": "no"}))
    assert found.settles == ()
    assert found.award.settled


def test_a_line_is_found_by_its_name() -> None:
    found = estimate(project_of(ordinary()))
    assert found["sqft"] == found["sqft@site"]
    with pytest.raises(KeyError, match="no line 'squarefeet'"):
        found["squarefeet"]


def test_the_text_says_the_result_first_and_every_line_once() -> None:
    found = estimate(project_of(ordinary()), areas_by_hand({"qualified_incentive_area": True, "rest": "no"}))
    text = estimate_text(found, width=110)
    assert text.index("RESULT") < text.index("WHAT GOES IN") < text.index("MINIMUMS") < text.index("CREDIT")
    assert "$60,000 in all; $6,000 a year" in text
    for line in found.lines:
        assert line.label in text
    assert max(map(len, text.splitlines())) <= 130
    assert "not legal advice" in text


def test_each_line_names_its_rule_and_its_figures_are_listed() -> None:
    found = estimate(project_of(ordinary()), areas_by_hand({"qualified_incentive_area": True}))
    listed = {figure.name for figure in found.figures}
    for line in found.lines:
        assert line.rule, line.id
        assert set(line.figures) <= listed
    assert Decimal(found["base"].low or 0) == 500


def test_a_condition_that_is_taken_for_granted_says_so() -> None:
    areas = areas_by_hand({"qualified_incentive_area": True, "rest": "no"})
    found = estimate(project_of(ordinary(green_standard=True)), areas)
    assert found["condition_net_benefit"].words == "taken for granted, since it is not stated"
    assert found["condition_green_standard"].words == ""
    # With no retained job nothing has to be at risk.
    assert not any(line.id.startswith("at_risk") for line in found.lines)
    kept = estimate(project_of(ordinary(jobs=[{"kind": "retained", "count": 30}])), areas)
    assert kept["at_risk"].words == "taken for granted, since it is not stated"
    strict = estimate(project_of(ordinary()), areas, strict=True)
    assert strict["condition_net_benefit"].outcome == "undetermined"


def test_what_decides_only_together_is_named() -> None:
    raw = ordinary(bonuses={"rest": "undetermined"}, capital=[{"what": "equipment", "amount": 1_200_001}])
    raw["facts"] = dict.fromkeys(set(PROJECT_FACTS) - {"choice_neighborhoods"}, False)
    areas = {"qualified_incentive_area": True, "deep_poverty_pocket": "undetermined", "rest": "no"}
    found = estimate(project_of(raw), areas_by_hand(areas))
    named = {each.name: each for each in found.settles}
    assert "state areas.deep_poverty_pocket and facts.choice_neighborhoods" in named["bonus_deep_poverty"].needs
    assert "bonus_excess_step and bonus_excess_step_percent and bonus_excess_most" in named


def test_what_changes_nothing_of_what_is_not_had_is_not_named() -> None:
    raw = ordinary(method="capital_investment", jobs=[{"kind": "new", "count": 400}])
    raw["capital"] = [{"what": "construction", "amount": 47_000_000}]
    found = estimate(
        project_of(raw),
        areas_by_hand({"distressed_municipality": True, "qualified_incentive_area": True, "rest": "no"}),
    )
    assert (found.eligible, found.settles) == ("no", ())
    text = estimate_text(found)
    assert "If eligible " not in text
    assert "elsewhere write method: per_job" in found["condition_method"].words


@pytest.mark.parametrize(
    ("answer", "options"),
    [({"status": "secondary"}, {"trust": "confirmed"}), ({"assumed": True}, {"strict": True})],
)
def test_an_area_that_is_not_known_well_enough_is_open(answer: dict[str, Any], options: dict[str, Any]) -> None:
    stated = {"outcome": "yes", **answer}
    areas = areas_by_hand(
        {"garden_state_growth_zone": stated, "bounds": {"floor": 5000, "ceiling": 5000}, "rest": "no"}
    )
    project = project_of(ordinary(green_standard=True, net_benefit=10**9))
    assert estimate(project, areas)["base"].low == 5000
    found = estimate(project, areas, **options)
    assert (found["base"].low, found["base"].high) == (0, 5000)
    assert found.eligible == "undetermined"
    (zone,) = [each for each in found.settles if each.name == "garden_state_growth_zone"]
    assert zone.needs[0].startswith("confirm it: it is yes, which ")


def test_a_status_that_there_is_not_is_refused() -> None:
    with pytest.raises(FactError, match="status"):
        areas_by_hand({"buildings": [{"areas": {"priority_area": {"outcome": "yes", "status": "banana"}}}]})


def test_areas_of_another_day_than_the_figures_are_noted() -> None:
    areas = areas_by_hand({"buildings": [{"areas": {"priority_area": True}}], "as_of": "2014-01-01"})
    found = estimate(project_of(ordinary(approval_date="2016-10-11")), areas)
    assert "The areas are those of 2014-01-01, the figures those of 2016-10-11." in found.cautions


def test_a_project_given_as_areas_is_refused_as_such() -> None:
    with pytest.raises(FactError, match="is a project, not areas"):
        areas_by_hand(ordinary())
