"""The 34 places of the shared cases, and single places whose answer is known."""

from __future__ import annotations

import csv
from functools import cache
from typing import TYPE_CHECKING

import pytest
from conftest import SHARED
from drawn import leaning, outcome

from grownj_geo.atlas import load_atlas
from grownj_geo.determine import Engine, determine
from grownj_geo.rulebook import load_rulebook
from grownj_geo.site import Site

if TYPE_CHECKING:
    from grownj_geo.atlas import Atlas
    from grownj_geo.determination import Determination
    from grownj_geo.evaluate import Evaluation


def _cases() -> list[dict[str, str]]:
    path = SHARED / "cases" / "sites.csv"
    return list(csv.DictReader(path.read_text("utf-8").splitlines())) if path.is_file() else []


CASES = _cases()
ON_LAND = [case for case in CASES if case["mun_code"]]
# Columns of the file and the categories that answer them.
COLUMNS = {
    "gsgz": "garden_state_growth_zone",
    "urban_transit_hub_municipality": "urban_transit_hub_municipality",
    "southern_county": "southern_eight",
    "port_of_new_york_district": "port_of_new_york_district",
    "south_jersey_port": "south_jersey_port",
    "aviation_district": "aviation_district",
}
# Distressed by the two limbs, by its station (Secaucus), and else an assumption's no.
SECAUCUS = "0909"


@cache
def _engine(day: str) -> Engine:
    return Engine(load_atlas(as_of=day), load_rulebook())


@cache
def _run(name: str) -> Evaluation:
    case = next(c for c in CASES if c["name"] == name)
    return _engine(case["as_of"]).run(_site(case))


@cache
def _record(name: str) -> Determination:
    case = next(c for c in CASES if c["name"] == name)
    return _engine(case["as_of"]).determine(_site(case))


def _site(case: dict[str, str]) -> Site:
    return Site.from_lonlat(float(case["longitude"]), float(case["latitude"]))


each = pytest.mark.parametrize("case", ON_LAND, ids=[case["name"] for case in ON_LAND])
pytestmark = pytest.mark.shared


def test_all_34_places_are_here() -> None:
    assert (len(CASES), len(ON_LAND)) == (34, 33)


@each
def test_municipality_and_county(case: dict[str, str]) -> None:
    place = _record(case["name"]).place
    assert place.kind == "certain"
    assert place.municipality is not None
    found = (place.municipality.mun_code, place.municipality.name, place.county)
    assert found == (case["mun_code"], case["municipality"], case["county"])


@each
def test_designations_ports_and_aviation(case: dict[str, str]) -> None:
    run = _run(case["name"])
    found = {column: outcome(run, category) for column, category in COLUMNS.items()}
    assert found == {column: case[column] for column in COLUMNS}


@each
def test_the_two_limbs_of_distressed_and_the_whole(case: dict[str, str]) -> None:
    run, record = _run(case["name"]), _record(case["name"])["distressed_municipality"]
    limbs = {outcome(run, "urban_aid"), outcome(run, "sda_municipality")}
    assert ("yes" if "yes" in limbs else "no") == case["urban_aid_or_sda_2017"]
    assert "undetermined" not in limbs
    listed = case["urban_aid_or_sda_2017"] == "yes" or case["mun_code"] == SECAUCUS
    assert record.outcome == ("yes" if listed else "no")
    assert record.assumed is not listed


@each
def test_rail_transit(case: dict[str, str]) -> None:
    run, expected = _run(case["name"]), case["rail_transit"]
    if expected.startswith("near_line_"):
        assert outcome(run, "rail_transit") == "undetermined"
        assert leaning(run, "rail_transit") == ("yes" if expected == "near_line_in" else "no")
        assert "near_line" in _record(case["name"])["transit_oriented_development"].causes
    else:
        assert outcome(run, "rail_transit") == expected


@each
def test_the_nearest_rail_station_and_its_distance(case: dict[str, str]) -> None:
    from grownj_geo.observe import measure_distance  # noqa: PLC0415 - this test alone
    from grownj_geo.sitetable import SiteTable  # noqa: PLC0415 - this test alone

    layer = _engine(case["as_of"]).atlas.layer("transit_stations")
    assert layer is not None
    rail = (("mode", ("commuter_rail", "light_rail", "rapid_transit")), ("out_of_state", ("false",)))
    chosen = layer.select(rail, as_of=_engine(case["as_of"]).atlas.as_of)
    found = measure_distance(layer, chosen, SiteTable.of([_site(case)]))
    assert layer.name(int(found.feature[0])) == case["nearest_rail_station"]
    # Three decimals of a mile in the file, from positions with six decimals of a degree.
    assert float(found.near[0]) / 5280 == pytest.approx(float(case["miles_to_rail_station"]), abs=0.0006)
    # Where a better known station is nearly as near, it sets the upper end.
    assert found.near_high[0] - found.near[0] <= float(case["station_uncertainty_m"]) / 0.3048 + 5


@each
def test_the_south_jersey_limb_has_its_distance_in_the_evidence(case: dict[str, str]) -> None:
    record = _record(case["name"])["south_jersey_port"]
    centre = float(case["miles_to_terminal_centre"]) * 5280
    nearest = [e.distance_ft for e in record.evidence if e.distance_ft is not None]
    low = min(d.low for d in nearest if d.low is not None)
    high = min(d.high for d in nearest if d.high is not None)
    # The file's centres lie in the inner bounds.
    assert low <= centre + 60
    assert high >= centre - 800


@pytest.mark.parametrize("category", ["garden_state_growth_zone", "urban_transit_hub_municipality", "urban_aid",
                                      "sda_municipality", "distressed_municipality", "southern_eight"])  # fmt: skip
def test_the_pier_has_no_municipality_and_no_designation(category: str) -> None:
    run = _run("Pier off Hoboken")
    assert outcome(run, category) == "undetermined"


def test_the_pier_names_the_nearest_municipality() -> None:
    record = _record("Pier off Hoboken")
    assert record.place.kind == "offshore"
    assert (record.place.municipality, record.place.county) == (None, None)
    assert record.place.candidates[0].name == "Hoboken City"
    # About 685 ft by plain geometry.
    assert record.place.candidates[0].distance_ft == pytest.approx(685, abs=1)
    assert "A32" in record.place.words
    assert "municipality_uncertain" in record["distressed_municipality"].causes
    assert record["port_of_new_york_district"].outcome == "yes"
    assert outcome(_run("Pier off Hoboken"), "rail_transit") == "yes"


# -- single places -------------------------------------------------------------------------------------


def test_newark_is_in_the_incentive_area_with_no_layer_loaded(atlas: Atlas) -> None:
    record = determine("40.7344,-74.1641", atlas)
    assert record["qualified_incentive_area"].outcome == "yes"
    assert not record["qualified_incentive_area"].assumed
    assert {layer.status for layer in record.layers} == {"loaded", "missing"}


@pytest.mark.parametrize(
    ("place", "stations"),
    [("39.9537,-74.1979", ["Toms River"]), ("40.095,-74.217", ["Lakewood"]), ("39.4863,-75.026", ["Vineland"])],
)
def test_in_reach_of_a_bus_terminal_only(place: str, stations: list[str], atlas: Atlas) -> None:
    record = determine(place, atlas)
    found = record["transit_oriented_development"]
    assert (found.outcome, found.leans) == ("undetermined", "yes")
    assert found.readings["A28"] == "undetermined"
    assert stations[0] in record.stations[0].name
    assert record.stations[0].mode == "bus_terminal"
    counted = determine(place, atlas, readings={"A28": "terminals_count"})["transit_oriented_development"]
    assert counted.outcome == "yes"
    listed = determine(place, atlas, facts={"bus_terminal_listed": "no"})["transit_oriented_development"]
    assert listed.outcome == "no"


def test_secaucus_is_distressed_by_its_station(atlas: Atlas) -> None:
    record = determine("40.7612,-74.0757", atlas)["distressed_municipality"]
    assert (record.outcome, record.assumed) == ("yes", False)
    assert "Secaucus Junction" in record.why
    assert record.readings["A26"] == "branches_apart"
    for reading in ("branches_merged", "with_light_rail"):
        again = determine("40.7612,-74.0757", atlas, readings={"A26": reading})["distressed_municipality"]
        assert again.outcome == "yes"


def test_an_unlisted_municipality_is_no_by_the_assumption_of_a25(atlas: Atlas) -> None:
    record = determine("40.3655,-74.1688", atlas)
    found = record["distressed_municipality"]
    assert (found.outcome, found.assumed) == ("no", True)
    assert len(found.assumptions) == 2
    assert set(found.assumptions) <= set(record.assumptions)
    assert found.readings["A25"] == "assume_none"


@pytest.mark.parametrize(
    ("place", "floor", "ceiling"),
    [
        ("39.9447,-75.1190", 5000, 5000),  # Camden: growth zone and hub municipality
        ("40.7344,-74.1641", 5000, 5000),  # Newark: hub municipality
        ("40.7612,-74.0757", 4000, 4000),  # Secaucus: distressed, no top line
        ("40.5676,-74.3290", 4000, 4000),  # Woodbridge
        ("39.9413,-75.0230", 3000, 3000),  # Cherry Hill: port district and not distressed, by assumption
        ("39.4529,-74.5770", 500, 3000),  # the airport: aviation district alone, priority open
        ("40.3655,-74.1688", None, 3000),  # Holmdel: waits for the planning areas
    ],
)
def test_the_tiers_bounds(place: str, floor: int | None, ceiling: int, atlas: Atlas) -> None:
    tier = determine(place, atlas).tier
    assert tier is not None
    assert (tier.floor, tier.ceiling) == (floor, ceiling)


@pytest.mark.parametrize(
    ("place", "ceiling"), [("39.9413,-75.0230", 4000), ("40.3655,-74.1688", 4000), ("40.7612,-74.0757", 4000)]
)
def test_on_the_strict_reading_the_tier_is_still_bounded(place: str, ceiling: int, atlas: Atlas) -> None:
    tier = determine(place, atlas, readings={"A25": "undetermined"}).tier
    assert tier is not None
    assert tier.ceiling == ceiling
    assert tier.floor == {"39.9413,-75.0230": 3000, "40.7612,-74.0757": 4000}.get(place)


def test_which_port_limb_is_told(atlas: Atlas) -> None:
    newark, camden = determine("40.7344,-74.1641", atlas), determine("39.9447,-75.1190", atlas)
    limbs = ("port_of_new_york_district", "south_jersey_port")
    assert [newark[limb].outcome for limb in limbs] == ["yes", "no"]
    assert [camden[limb].outcome for limb in limbs] == ["no", "yes"]
    container = "port_district_with_container_terminal"
    assert [newark[container].outcome, camden[container].outcome] == ["yes", "undetermined"]
