from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from grownj_geo.facts import load_facts
from grownj_geo.manifest import Manifest, load_manifests

SHARED = Path(__file__).parents[2] / "shared" / "facts" / "layer_extents.yaml"

PINELANDS = {"Atlantic", "Burlington", "Camden", "Cape May", "Cumberland", "Gloucester", "Ocean"}

# Layer, kind of extent, and its value.
UNSHIPPED: dict[str, tuple[str, Any]] = {
    "planning_areas": ("statewide", True),
    "designated_centers": ("statewide", True),
    "endorsed_plan_centers": ("statewide", True),
    "highlands_region": ("designation", "highlands_region_municipality"),
    "highlands_receiving_areas": ("statewide", True),
    "pinelands_management_areas": ("counties", PINELANDS),
    "meadowlands_district": ("designation", "meadowlands_district"),
    "meadowlands_master_plan_areas": ("designation", "meadowlands_district"),
    "meadowlands_redevelopment_plans": ("designation", "meadowlands_district"),
    "sports_exposition_land": ("within", "meadowlands_district"),
    "census_tract_poverty": ("statewide", True),
    "redevelopment_areas": ("statewide", True),
    "rehabilitation_areas": ("statewide", True),
    "urban_enterprise_zones": ("designation", "uez_municipality"),
    "atlantic_city_tourism_district": ("municipalities", {"0102"}),
    "closed_military_land": ("statewide", True),
    "freight_rail": ("statewide", True),
    "building_footprints": ("statewide", True),
}


@pytest.mark.parametrize("layer", UNSHIPPED)
def test_a_layer_that_does_not_ship_says_where_it_can_lie_and_how_to_get_it(layer: str) -> None:
    manifest = load_manifests()[layer]
    kind, expected = UNSHIPPED[layer]
    value = getattr(manifest.extent, kind)
    assert (set(value) if isinstance(value, tuple) else value) == expected
    assert not manifest.ships
    assert manifest.edition is None
    assert manifest.how_to_load
    assert manifest.cautions
    assert manifest.accuracy_source
    assert manifest.accuracy_ft is not None or layer == "freight_rail"


@pytest.mark.parametrize("layer", UNSHIPPED)
def test_fields_that_must_be_there_are_fields_that_the_manifest_explains(layer: str) -> None:
    manifest = load_manifests()[layer]
    explained = {field.source_field for field in manifest.fields.values()}
    explained |= {manifest.key_field, manifest.name_field, manifest.from_field, manifest.until_field} - {None}
    assert set(manifest.required_fields) <= explained


def test_planning_areas_tell_every_class_of_the_map() -> None:
    manifest = load_manifests()["planning_areas"]
    values = manifest.fields["planning_area"].values
    assert manifest.accuracy_ft == 48.3
    assert manifest.least_features == 2958
    assert {name: area for name, area in values.items() if area != "none"} == {
        "METROPOLITAN": "PA1",
        "SUBURBAN": "PA2",
        "FRINGE": "PA3",
        "RURAL": "PA4A",
        "RURAL ENV. SENSITIVE": "PA4B",
        "ENVIRONMENTALLY SENSITIVE": "PA5",
        "ENV. SENSITIVE BARRIER IS": "PA5B",
    }
    assert len(values) == 19
    assert {"PARK", "WATER", "MILITARY", "PINELANDS", "HIGHLANDS PRESERVATION"} <= set(values)


def test_growth_classes_of_the_pinelands_are_matched_whole() -> None:
    values = load_manifests()["pinelands_management_areas"].fields["management_area"].values
    assert values["Regional Growth Area"] == "regional_growth_area"
    assert values["Military and Federal Installation Area"] == "military_and_federal_installation_area"
    assert {area for name, area in values.items() if name.endswith(" Water")} == {"other"}
    assert sum(area in {"pinelands_town", "pinelands_village"} for area in values.values()) == 2


def test_highlands_tell_preservation_from_planning() -> None:
    assert load_manifests()["highlands_region"].fields["area"].values == {
        "Highlands Preservation Area": "preservation",
        "Highlands Planning Area": "planning",
    }


def test_centers_carry_their_days() -> None:
    manifest = load_manifests()["designated_centers"]
    assert (manifest.from_field, manifest.until_field) == ("CENDATE", "ENDDATE")


def test_facts_that_a_manifest_offers_instead_exist() -> None:
    facts = load_facts()
    offered = {
        word.strip(".,;")
        for layer in UNSHIPPED
        for word in load_manifests()[layer].how_to_load.split()
        if "_" in word and word.strip(".,;").islower()
    }
    assert offered
    assert offered - set(facts) == set()


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_file(), reason="the shared facts are not beside the repository")
def test_extents_are_those_of_the_shared_facts() -> None:
    shared = yaml.safe_load(SHARED.read_text(encoding="utf-8"))
    manifests = load_manifests()
    names = {
        "highlands": "highlands_region",
        "pinelands": "pinelands_management_areas",
        "census_tracts": "census_tract_poverty",
        "closed_federal_military_land": "closed_military_land",
    }
    compared = 0
    for name, facts in shared.items():
        layer = names.get(name, name)
        if layer not in UNSHIPPED:
            continue
        compared += 1
        extent = manifests[layer].extent
        assert extent.status == facts.get("status", "confirmed"), layer
        assert extent.designation_status == facts.get("municipalities_status"), layer
        assert set(extent.counties or ()) == set(facts.get("counties", ())), layer
        if "counties" in facts and "municipalities" not in facts:
            continue
        if isinstance(facts.get("municipalities"), str):
            assert facts["municipalities"].strip('"').startswith(f"designation {extent.designation} "), layer
        elif "municipalities" in facts:
            assert list(extent.municipalities or ()) == facts["municipalities"], layer
        else:
            assert (extent.statewide, extent.within) == (facts.get("statewide"), facts.get("within")), layer
    assert compared == 10


NOT_PROVEN_BY_ABSENCE = {
    "building_footprints",
    "closed_military_land",
    "designated_centers",
    "designations",
    "endorsed_plan_centers",
    "freight_rail",
    "highlands_receiving_areas",
    "meadowlands_redevelopment_plans",
    "redevelopment_areas",
    "rehabilitation_areas",
    "revitalization_index",
    "sports_exposition_land",
    "transit_stations",
}


def test_every_manifest_says_whether_absence_proves_anything() -> None:
    folder = Path(__file__).parents[1] / "grownj_geo" / "manifests"
    raw = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in folder.glob("*.yaml")}
    assert {name for name, manifest in raw.items() if manifest["complete"] is False} == NOT_PROVEN_BY_ABSENCE
    assert {name for name, manifest in load_manifests().items() if not manifest.complete} == NOT_PROVEN_BY_ABSENCE
    assert not any("line_policy" in manifest for manifest in raw.values())
    assert Manifest.model_fields["complete"].default is False


def test_a_layer_of_unknown_validity_holds_only_where_it_ships() -> None:
    manifests = load_manifests()
    day = date(2017, 4, 17)
    assert manifests["counties"].covers(day)
    assert not manifests["planning_areas"].covers(day)
    dated = manifests["planning_areas"].model_copy(update={"valid_from": day})
    assert dated.covers(day)
    assert not dated.covers(date(2017, 4, 16))
    ended = manifests["planning_areas"].model_copy(update={"valid_until": day})
    assert ended.covers(date(2017, 4, 16))
    assert not ended.covers(day)
