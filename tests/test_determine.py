"""Whole determinations: the same bytes again, facts, readings, days, and what could decide the open ones."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import shapely
from drawn import WORDS, around, draw, outcome, site

from grownj_geo.atlas import Atlas, load_atlas
from grownj_geo.determination import Determination
from grownj_geo.determine import Engine, determine
from grownj_geo.errors import FactError, RulebookError, SiteError
from grownj_geo.facts import load_facts
from grownj_geo.manifest import load_manifests
from grownj_geo.rulebook import Rulebook, load_rulebook, read_rulebook
from grownj_geo.site import Site
from grownj_geo.units import to_working

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grownj_geo.layer import Layer

PLACES = {
    "Camden": (-75.1190, 39.9447),
    "Newark": (-74.1641, 40.7344),
    "Holmdel": (-74.1688, 40.3655),
    "Cherry Hill": (-75.0230, 39.9413),
    "Parsippany": (-74.4210, 40.8690),
    "Atlantic City": (-74.4397, 39.3634),
    "airport": (-74.5770, 39.4529),
    "Meadowlands": (-74.0745, 40.8135),
    "Oceanport": (-74.0440, 40.3090),
}


@cache
def _atlas(day: str) -> Atlas:
    return load_atlas(as_of=day)


def _ask(place: str, day: str = "2017-04-17", **more: Any) -> Determination:
    return determine(Site.from_lonlat(*PLACES[place]), _atlas(day), **more)


# -- the record ----------------------------------------------------------------------------------------

SCRIPT = """
import sys
import grownj_geo as gj
atlas = gj.load_atlas()
facts = {"structure_exists": True, "full_time_jobs": 300, "application_date": "2016-07-14"}
for place in ("40.7344,-74.1641", "40.3655,-74.1688", "0408_81_1"):
    sys.stdout.write(gj.determine(place, atlas, facts=facts).to_json())
"""


def test_two_processes_write_the_same_bytes() -> None:
    outputs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].count(b"grownj-determination/1") == 3


def test_the_order_of_facts_and_of_questions_is_no_matter(atlas: Atlas) -> None:
    facts = {"structure_exists": True, "full_time_jobs": 300.0}
    one = _ask("Holmdel", facts=facts)
    two = determine(Site.from_lonlat(*PLACES["Holmdel"]), atlas, facts=dict(reversed(facts.items())))
    assert one.to_json() == two.to_json()


def test_the_record_is_read_back_and_has_no_clock() -> None:
    record = _ask("Newark")
    assert Determination.model_validate_json(record.to_json()) == record
    assert record.determined_on is None
    assert "NaN" not in record.to_json()
    assert json.loads(record.to_json())["as_of"] == "2017-04-17"


def test_the_rulebook_has_a_fingerprint() -> None:
    book = load_rulebook()
    content = json.dumps(
        book.model_dump(mode="json", by_alias=True), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    sha256 = hashlib.sha256(content.encode()).hexdigest()
    assert _ask("Newark").rulebook.sha256 == sha256
    name, figure = next(iter(book.parameters.items()))
    first, *others = figure.values
    changed = figure.model_copy(update={"values": (first.model_copy(update={"source": "another"}), *others)})
    own = book.model_copy(update={"parameters": book.parameters | {name: changed}})
    assert _ask("Newark", rulebook=own).rulebook.sha256 != sha256


def test_other_readings_are_null_where_they_were_not_tried() -> None:
    assert {f.under_other_readings is None for f in _ask("Newark").findings} == {True}
    tried = _ask("Newark", other_readings=True)
    assert {f.under_other_readings is None for f in tried.findings} == {False}
    assert {} in [f.under_other_readings for f in tried.findings]


NOT_IN_FORCE = """
format: 1
id: small
title: Small
version: "1"
citation: Act
first_day: 2014-01-01
last_day: 2019-07-01
outside_days: Nothing.
categories:
  - id: ended
    label: Ended
    citation: Section 1
    summary: Is over.
    rule: {any: [{in_new_jersey: true, until: 2015-01-01}]}
"""


def test_a_category_without_a_clause_in_force_says_so() -> None:
    book = read_rulebook(NOT_IN_FORCE, name="small.yaml")
    found = _ask("Newark", rulebook=book)["ended"]
    assert (found.outcome, found.why) == ("no", "no clause of it is in force on 2017-04-17")


# -- the tier ------------------------------------------------------------------------------------------


def test_a_tier_says_that_it_rests_on_an_assumption() -> None:
    ground = draw("planning_areas", [(around(PLACES["Holmdel"], 3000), {"SPDETAIL": "METROPOLITAN"})])
    atlas = Atlas(layers=[ground])
    one = Site.from_lonlat(*PLACES["Holmdel"])
    record = determine(one, atlas)
    assert record.tier is not None
    assert (record.tier.floor, record.tier.ceiling, record.tier.assumed) == (3000, 3000, True)
    assert "rests on an assumption" in record.tier.words
    assert any("under supervision of the Local Finance Board" in words for words in record.tier.assumptions)
    assert set(record.tier.assumptions) <= set(record.assumptions)
    strict = determine(one, atlas, readings={"A24": "list_of_the_year", "A25": "undetermined"}).tier
    assert strict is not None
    assert (strict.floor, strict.ceiling, strict.assumed, strict.assumptions) == (3000, 5000, False, ())
    camden = _ask("Camden").tier
    assert camden is not None
    assert (camden.floor, camden.assumed, camden.assumptions) == (5000, False, ())
    assert "assumption" not in camden.words


def _with_tiers(**project: Any) -> Rulebook:
    book = load_rulebook()
    tiers = tuple(t.model_copy(update=project) if t.project else t for t in book.tiers)
    return book.model_copy(update={"tiers": tiers[::-1]})


def test_the_tiers_words_and_order_are_those_of_the_rulebook() -> None:
    shipped = _ask("Camden").tier
    turned = _ask("Camden", rulebook=_with_tiers()).tier
    assert shipped == turned
    higher = _ask("Camden", rulebook=_with_tiers(dollars=6000, label="giant project")).tier
    assert higher is not None
    assert higher.words.endswith("; a giant project has $6,000 whatever the place's line")
    lower = _ask("Newark", rulebook=_with_tiers(dollars=400)).tier
    assert lower is not None
    assert "project" not in lower.words


# -- facts and readings --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "facts", "category", "expected"),
    [
        ("Holmdel", {"brac_approved_closure": True}, "qualified_incentive_area", "yes"),
        ("Holmdel", {"lfb_supervision": True}, "distressed_municipality", "yes"),
        ("Holmdel", {"serious_fiscal_distress": "yes"}, "qualified_incentive_area", "yes"),
        ("Cherry Hill", {"container_terminal": True}, "port_district_with_container_terminal", "yes"),
        ("Cherry Hill", {"container_terminal": False}, "port_district_with_container_terminal", "no"),
        ("Newark", {"final_point_of_sale_retail": True}, "qualified_business_facility", "no"),
        ("Camden", {"final_point_of_sale_retail": True, "retail_sqft": 149_999, "grocery_share": 60},
         "qualified_business_facility", "no"),
        ("Camden", {"final_point_of_sale_retail": True, "retail_sqft": 150_000, "grocery_share": 50},
         "qualified_business_facility", "yes"),
        ("Newark", {"final_point_of_sale_retail": False, "university_research_hospital": False, "industry": "logistics",
                    "capital_investment": 20_000_001, "full_time_jobs": 251}, "mega_project", "yes"),
        ("Newark", {"final_point_of_sale_retail": False, "university_research_hospital": False,
                    "capital_investment": 20_000_000, "full_time_jobs": 1000}, "mega_project", "no"),
        ("Cherry Hill", {"in_redevelopment_area": True, "redevelopment_designation_date": "2014-10-15"},
         "mega_4_area", "yes"),
        ("Cherry Hill", {"in_redevelopment_area": True, "redevelopment_designation_date": "2014-10-16"},
         "mega_4_area", "undetermined"),
        ("Cherry Hill", {"in_redevelopment_area": True, "redevelopment_designation_date": "2014-10-24"},
         "mega_4_area", "no"),
    ],
)  # fmt: skip
def test_facts_change_outcomes_and_are_kept(place: str, facts: dict[str, Any], category: str, expected: str) -> None:
    record = _ask(place, facts=facts)
    assert record[category].outcome == expected
    assert set(record.site.facts) == set(facts)


def test_a_stated_fact_is_printed_as_stated() -> None:
    evidence = _ask("Holmdel", facts={"lfb_supervision": True})["distressed_municipality"].evidence
    assert [e.words for e in evidence if e.outcome == "yes"] == ["stated by the user: lfb_supervision = yes"]
    assert not _ask("Holmdel", facts={"lfb_supervision": True})["distressed_municipality"].assumed


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"structure_exist": True}, "no fact 'structure_exist'.*structure_exists"),
        ({"structure_exists": "perhaps"}, "structure_exists was stated as 'perhaps'"),
        ({"full_time_jobs": -1}, "full_time_jobs was stated as -1"),
        ({"application_date": "2016-02-30"}, "application_date was stated"),
    ],
)
def test_facts_that_are_none_are_refused(facts: dict[str, Any], words: str) -> None:
    with pytest.raises(FactError, match=words):
        _ask("Newark", facts=facts)


def test_on_the_strict_reading_an_unlisted_municipality_is_undetermined() -> None:
    strict = _ask("Holmdel", readings={"A25": "undetermined"})["distressed_municipality"]
    assert (strict.outcome, strict.assumed, strict.assumptions) == ("undetermined", False, ())
    assert {("fact:lfb_supervision",), ("fact:serious_fiscal_distress",)} <= {m.needs for m in strict.would_decide}
    neither = {"lfb_supervision": False, "serious_fiscal_distress": False}
    both = _ask("Holmdel", readings={"A25": "undetermined"}, facts=neither)["distressed_municipality"]
    assert (both.outcome, both.assumed) == ("no", False)


# -- days ----------------------------------------------------------------------------------------------

OWNED = {"owned_by_sports_exposition_authority": True}


@pytest.mark.parametrize(
    ("place", "day", "category", "expected", "facts"),
    [
        ("Atlantic City", "2014-10-15", "garden_state_growth_zone", "no", {}),
        ("Atlantic City", "2014-10-20", "garden_state_growth_zone", "undetermined", {}),
        ("Atlantic City", "2014-10-24", "garden_state_growth_zone", "yes", {}),
        ("airport", "2018-09-30", "garden_state_growth_zone", "no", {}),
        ("airport", "2018-10-03", "garden_state_growth_zone", "undetermined", {}),
        ("airport", "2018-10-04", "garden_state_growth_zone", "yes", {}),
        ("airport", "2019-07-01", "aviation_district", "yes", {}),
        ("Camden", "2013-09-18", "garden_state_growth_zone", "yes", {}),
        ("Meadowlands", "2016-06-05", "qia_ground_apart", "undetermined", OWNED),
        # The District's outline is not loaded, and East Rutherford lies in it only in part.
        ("Meadowlands", "2016-06-06", "qia_ground_apart", "undetermined", OWNED),
        ("Meadowlands", "2016-06-06", "qia_ground_apart", "undetermined", {}),
        # Owned by the Authority, but far from the Meadowlands District.
        ("Oceanport", "2017-04-17", "qia_ground_apart", "undetermined", OWNED),
    ],
)
def test_what_holds_on_a_day(place: str, day: str, category: str, expected: str, facts: dict[str, Any]) -> None:
    one = Site.from_lonlat(*PLACES[place])
    run = Engine(_atlas(day), load_rulebook()).run(Site(**one.__dict__ | {"facts": facts}))
    assert outcome(run, category) == expected


@pytest.mark.parametrize(("day", "expected"), [("2017-03-02", ("undetermined", "yes")), ("2017-03-03", ("yes", None))])
def test_paulsboro_before_and_after_its_first_vessel(day: str, expected: tuple[str, str | None]) -> None:
    # 14 miles from Paulsboro, more than 16 from Camden's terminals and from Salem: open before, and never no.
    record = determine(Site.from_lonlat(-75.17, 39.655), _atlas(day))["south_jersey_port"]
    assert (record.outcome, record.leans) == expected


@pytest.mark.parametrize("day", ["2013-09-17", "2019-07-02", "2026-01-01"])
def test_days_that_the_rulebook_does_not_cover(day: str) -> None:
    with pytest.raises(RulebookError, match=f"as-of date {day} is outside"):
        _ask("Newark", day)


@pytest.mark.parametrize(("day", "seen"), [("2015-08-16", False), ("2015-08-17", True), ("2017-04-18", False)])
def test_a_wording_that_was_not_read_is_a_caution(day: str, seen: bool) -> None:  # noqa: FBT001
    record = _ask("Newark", day)
    assert (record.wording in record.cautions) is not seen


# -- what could decide ---------------------------------------------------------------------------------

OPEN_PLACES = ("Holmdel", "Parsippany", "Atlantic City", "Meadowlands", "Cherry Hill")
# Not stated, yet not missing: reading A25 assumes them.
ASSUMED = {"lfb_supervision", "serious_fiscal_distress"}
# Layers that cannot have ground everywhere, and the places of the above where they can.
ONLY_AT = {
    "atlantic_city_tourism_district": {"Atlantic City"},
    "highlands_region": {"Parsippany"},
    "meadowlands_district": {"Meadowlands"},
    "meadowlands_master_plan_areas": {"Meadowlands"},
    "meadowlands_redevelopment_plans": {"Meadowlands"},
    "pinelands_management_areas": {"Atlantic City", "Cherry Hill"},
    "sports_exposition_land": {"Meadowlands"},
}


def _features(layer_id: str, place: str) -> Iterator[Layer]:
    """Draw a layer that is not shipped in every way that the rules can tell apart: with each value, and away."""
    manifest = load_manifests()[layer_id]
    shape = around(PLACES[place], 500)
    dates = {name: "1990-01-01" for name in (manifest.from_field,) if name}
    rows: list[dict[str, str]] = [{}]
    for coded in manifest.fields.values():
        if coded.source_field not in dates:
            values = list(coded.values) or (["50", "5"] if coded.source_field == "POVERTY_RATE" else [])
            rows += [{coded.source_field: value} for value in values]
    if place in ONLY_AT.get(layer_id, {place}):
        for row in rows[1:] or rows:
            yield draw(layer_id, [(shape, dates | row)])
    away = shapely.transform(shape, lambda xy: xy + 40_000)
    yield draw(layer_id, [(away, dates | (rows[1] if len(rows) > 1 else {}))])


def _fact_values(name: str) -> list[Any]:
    fact = load_facts()[name]
    return {
        "boolean": [True, False],
        "number": [fact.minimum or 0.0, fact.maximum or 1e9],
        "date": ["1995-01-01", "2018-01-01"],
        "text": ["x"],
        "choice": list(fact.choices),
    }[fact.type]


@cache
def _trials(place: str) -> dict[str, list[dict[str, str]]]:
    """Return, by missing thing, the outcomes of all categories for each thing it could turn out to be."""
    base = _atlas("2017-04-17")
    shipped = [layer for i in base.manifests if (layer := base.layer(i)) is not None]
    found: dict[str, list[dict[str, str]]] = {}
    for layer_id, manifest in base.manifests.items():
        if not manifest.ships and manifest.kind == "polygon":
            found[f"layer:{layer_id}"] = [
                _outcomes(place, _engine(*shipped, drawn), {}) for drawn in _features(layer_id, place)
            ]
    engine = _engine(*shipped)
    for name in set(load_facts()) - ASSUMED:
        found[f"fact:{name}"] = [_outcomes(place, engine, {name: v}) for v in _fact_values(name)]
    return found


def _engine(*layers: Layer) -> Engine:
    return Engine(Atlas(layers=layers), load_rulebook())


def _outcomes(place: str, engine: Engine, facts: dict[str, Any]) -> dict[str, str]:
    one = Site.from_lonlat(*PLACES[place])
    run = engine.run(Site(**one.__dict__ | {"facts": facts}))
    return {c.id: WORDS[int(run.category(c.id).outcomes[0, 0])] for c in load_rulebook().categories}


@pytest.mark.parametrize("place", OPEN_PLACES)
def test_single_things_that_would_decide_do_and_no_others(place: str) -> None:
    trials = _trials(place)
    for finding in _ask(place).findings:
        named = {m.needs[0] for m in finding.would_decide if len(m.needs) == 1}
        decides = {t for t, runs in trials.items() if any(run[finding.id] != "undetermined" for run in runs)}
        if finding.outcome != "undetermined":
            assert finding.would_decide == ()
        elif len(finding.would_decide) < 12:
            assert {n for n in named if n in trials} == decides, finding.id


@pytest.mark.parametrize("place", ["Camden", "Atlantic City"])
def test_pairs_that_would_decide_do_and_are_minimal(place: str) -> None:
    base = _atlas("2017-04-17")
    shipped = tuple(layer for i in base.manifests if (layer := base.layer(i)) is not None)
    engine = Engine(Atlas(layers=shipped), load_rulebook(), {"A25": "undetermined"})
    tried = 0
    for finding in _ask(place, readings={"A25": "undetermined"}).findings:
        for needs in [m.needs for m in finding.would_decide if len(m.needs) == 2]:
            names = [n.removeprefix("fact:") for n in needs if n.startswith("fact:")]
            if len(names) < 2:
                continue
            tried += 1
            ways = [dict(zip(names, values, strict=True)) for values in product(*map(_fact_values, names))]
            one = Site.from_lonlat(*PLACES[place])

            def decided(facts: dict[str, Any], category: str = finding.id, engine: Engine = engine) -> bool:
                return outcome(engine.run(Site(**one.__dict__ | {"facts": facts})), category) != "undetermined"  # noqa: B023

            assert any(decided(way) for way in ways), (finding.id, needs)
            assert not any(decided({n: way[n]}) for way in ways for n in names), (finding.id, needs)
    assert tried > 0


@pytest.mark.parametrize("place", OPEN_PLACES)
def test_a_layer_more_opens_and_closes_but_never_turns_an_answer(place: str) -> None:
    before = _outcomes(place, _engine(), {})
    for name, runs in _trials(place).items():
        if name.startswith("layer:"):
            for after in runs:
                turned = {c for c in before if {before[c], after[c]} == {"yes", "no"}}
                assert turned == set(), name
                closed = {c for c in before if before[c] != "undetermined" and after[c] != before[c]}
                assert closed == set(), name


def test_rural_ground_without_facts_names_its_single_ways_out() -> None:
    ground = draw("planning_areas", [(around(PLACES["Holmdel"], 3000), {"SPDETAIL": "ENVIRONMENTALLY SENSITIVE"})])
    atlas = Atlas(layers=[ground])
    found = determine(Site.from_lonlat(*PLACES["Holmdel"]), atlas)["qualified_incentive_area"]
    assert found.outcome == "undetermined"
    single = {m.needs[0] for m in found.would_decide if len(m.needs) == 1}
    assert {"layer:designated_centers", "fact:in_designated_center", "fact:structure_exists",
            "fact:structure_existed", "fact:in_endorsed_growth_center"} <= single  # fmt: skip
    burned = determine(Site.from_lonlat(*PLACES["Holmdel"]), atlas, facts={"structure_existed": True})
    assert burned["qualified_incentive_area"].outcome == "yes"
    assert "A15" in burned["qualified_incentive_area"].readings


def test_fringe_ground_is_in_the_incentive_area_and_not_priority() -> None:
    ground = draw("planning_areas", [(around(PLACES["Holmdel"], 3000), {"SPDETAIL": "FRINGE"})])
    record = determine(Site.from_lonlat(*PLACES["Holmdel"]), Atlas(layers=[ground]))
    assert record["qualified_incentive_area"].outcome == "yes"
    assert record["priority_area"].outcome == "undetermined"
    assert record.tier is not None
    assert (record.tier.floor, record.tier.ceiling) == (500, 3000)


def test_the_preservation_area_beats_every_ground() -> None:
    ground = draw("highlands_region", [(around(PLACES["Newark"], 9000), {"REGION": "Highlands Preservation Area"})])
    record = determine(Site.from_lonlat(*PLACES["Newark"]), Atlas(layers=[ground]))
    assert [record[c].outcome for c in ("qualified_incentive_area", "port_district")] == ["no", "no"]
    assert record["distressed_municipality"].outcome == "yes"


def test_a_tract_without_a_figure_is_not_a_no() -> None:
    found = []
    for rate in ("20.0", "19.96", ""):
        tract = draw("census_tract_poverty", [(around(PLACES["Newark"], 5000), {"GEOID": "1", "POVERTY_RATE": rate})])
        record = determine(Site.from_lonlat(*PLACES["Newark"]), Atlas(layers=[tract]))
        found.append(record["deep_poverty_pocket"].outcome)
    assert found == ["yes", "no", "undetermined"]


# -- polygons and margins ------------------------------------------------------------------------------


@pytest.mark.parametrize("half", [4, 300])
def test_a_polygon_in_a_port_district_meets_it_however_small(half: float, engine: Engine) -> None:
    run = engine.run(site(around(PLACES["Newark"], half)))
    assert (outcome(run, "port_district"), outcome(run, "port_district_met")) == ("yes", "yes")


@pytest.mark.parametrize(
    ("reading", "expected"), [("undetermined", "undetermined"), ("any", "yes"), ("majority", "no"), ("all", "no")]
)
def test_a_cut_polygon_is_read_as_chosen(reading: str, expected: str) -> None:
    x, y = (float(v) for v in to_working(*PLACES["Holmdel"]))
    ground = draw("planning_areas", [(shapely.box(x, y, x + 900, y + 900), {"SPDETAIL": "METROPOLITAN"})])
    cut = site(shapely.box(x - 60, y, x + 40, y + 100))
    record = Engine(Atlas(layers=[ground]), load_rulebook(), {"A3": reading}).run(cut)
    clause = record.clause_values["qia_ground_apart.planning_area"]
    assert WORDS[int(clause.outcomes[0, 0])] == expected


def test_a_cut_polygon_shows_its_share() -> None:
    x, y = (float(v) for v in to_working(*PLACES["Newark"]))
    tract = draw("census_tract_poverty", [(shapely.box(x, y, x + 900, y + 900), {"GEOID": "1", "POVERTY_RATE": "35"})])
    record = Engine(Atlas(layers=[tract]), load_rulebook()).determine(site(shapely.box(x - 60, y, x + 40, y + 100)))
    found = record["deep_poverty_pocket"]
    assert (found.outcome, found.causes, found.margin_ft) == ("undetermined", ("partial",), None)
    assert [e.share.value for e in found.evidence if e.share is not None] == [0.4]


def test_margins_are_positive_inside_and_negative_outside(engine: Engine) -> None:
    rng = np.random.default_rng(11)
    layer = engine.atlas.layer("municipalities")
    assert layer is not None
    seen = set()
    for i in rng.choice(565, 120, replace=False):
        record = engine.determine(site(layer.geometry(int(i)).representative_point()))
        for finding in record.findings:
            if finding.margin_ft is not None and finding.outcome != "undetermined":
                assert (finding.margin_ft >= 0) is (finding.outcome == "yes"), (finding.id, finding.margin_ft)
                seen.add((finding.id, finding.outcome))
    ids = {"port_of_new_york_district", "south_jersey_port", "transit_oriented_development"}
    assert set(product(ids, ("yes", "no"))) <= seen


@pytest.mark.parametrize("crs", [None, "EPSG:4326"])
def test_a_geometry_that_crosses_itself_is_refused_before_any_of_it_is_lost(atlas: Atlas, crs: str | None) -> None:
    x, y, side = (-74.66, 40.42, 0.01) if crs else (447_579.0, 577_946.0, 2_000.0)
    bow = shapely.Polygon([(x, y), (x + side, y + side), (x + side, y), (x, y + side)])
    with pytest.raises(SiteError, match="not valid"):
        determine(bow, atlas, crs=crs)
