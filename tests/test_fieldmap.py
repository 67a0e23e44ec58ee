"""Which of a source's fields is which of the manifest's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import shapely
from drawn import manifest_of

from grownj_geo.features import Features, LayerFault, LoadOptions
from grownj_geo.fieldmap import Mapped, fields_of, map_fields, needed_fields
from grownj_geo.findings import Findings


def _features(columns: dict[str, list[Any]]) -> Features:
    n = max((len(column) for column in columns.values()), default=1)
    return Features("areas.shp", columns, np.array([shapely.Point(0, 0)] * n), "EPSG:3424")


def _map(
    layer_id: str, columns: dict[str, list[Any]], options: LoadOptions | None = None, **changes: Any
) -> tuple[Mapped, Findings]:
    found = Findings("areas.shp")
    mapped = map_fields(_features(columns), manifest_of(layer_id, **changes), options or LoadOptions(), found)
    return mapped, found


def _fault(
    layer_id: str, columns: dict[str, list[Any]], options: LoadOptions | None = None, **changes: Any
) -> LayerFault:
    with pytest.raises(LayerFault) as caught:
        _map(layer_id, columns, options, **changes)
    return caught.value


def test_needed_fields_are_those_that_the_layer_check_asks_for() -> None:
    assert needed_fields(manifest_of("designated_centers")) == ("CENNAME2", "CENDATE", "ENDDATE")
    assert fields_of(manifest_of("designated_centers")) == ("CENNAME2", "CENDATE", "ENDDATE", "CENTYPE", "MUNI")


def test_exact_names_need_no_word() -> None:
    mapped, found = _map("planning_areas", {"SPDETAIL": ["PARK"], "ACRES": [3.0]})
    assert mapped.columns == {"SPDETAIL": ["PARK"], "ACRES": [3.0]}
    assert mapped.origins == {"SPDETAIL": "SPDETAIL"}
    assert not found.changes


def test_what_the_options_say_comes_first_and_the_namesake_is_not_kept() -> None:
    columns = {"SPDETAIL": ["wrong"], "PLAN_CLASS": ["PARK"]}
    mapped, found = _map("planning_areas", columns, LoadOptions(fields={"SPDETAIL": "PLAN_CLASS"}))
    assert mapped.columns == {"SPDETAIL": ["PARK"]}
    assert mapped.origins == {"SPDETAIL": "PLAN_CLASS"}
    assert [change.kind for change in found.changes] == ["column_clash"]


def test_a_field_can_be_called_by_the_name_that_rules_use() -> None:
    mapped, _ = _map("planning_areas", {"CLASS": ["PARK"]}, LoadOptions(fields={"planning_area": "CLASS"}))
    assert mapped.columns == {"SPDETAIL": ["PARK"]}


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("geoid", "GEOID"),
        ("GEOID10", "GEOID"),
        ("poverty_rate", "POVERTY_RATE"),
        ("POVERTY_RA", "POVERTY_RATE"),
        ("TRACT_VINT", "TRACT_VINTAGE"),
        ("NAMELSAD10", "NAMELSAD"),
    ],
)
def test_usual_other_names_are_known_and_told(source: str, target: str) -> None:
    columns: dict[str, list[Any]] = {
        "GEOID": ["34001000100"],
        "NAMELSAD": ["1"],
        "POVERTY_RATE": [20.0],
        "ACS_EDITION": ["2011-2015"],
        "TRACT_VINTAGE": ["2010"],
    }
    columns[source] = columns.pop(target)
    mapped, found = _map("census_tract_poverty", columns)
    assert mapped.origins[target] == source
    assert source not in mapped.columns
    assert [change.kind for change in found.changes] == ["fields_matched"]
    assert f"{target} from {source!r}" in found.changes[0].words


def test_a_missing_field_names_what_there_is_and_the_remedy() -> None:
    fault = _fault("census_tract_poverty", {"GEOID": ["34001000100"], "NAME": ["1"]})
    assert fault.fault == "missing_field"
    assert str(fault).startswith("areas.shp: ")
    for word in ("NAMELSAD, POVERTY_RATE, ACS_EDITION, TRACT_VINTAGE", "GEOID, NAME", "--map POVERTY_RATE=SOURCE"):
        assert word in str(fault)


def test_a_mapped_field_that_is_not_there_is_a_missing_field() -> None:
    fault = _fault("planning_areas", {"SPDETAIL": ["PARK"]}, LoadOptions(fields={"SPDETAIL": "NONE"}))
    assert fault.fault == "missing_field"
    assert "'NONE'" in str(fault)


@pytest.mark.parametrize("options", [LoadOptions(fields={"SPDETIAL": "X"}), LoadOptions(constants={"SPDETIAL": "X"})])
def test_a_field_that_the_manifest_does_not_have_is_refused(options: LoadOptions) -> None:
    fault = _fault("planning_areas", {"SPDETAIL": ["PARK"], "X": ["PARK"]}, options)
    assert fault.fault == "unknown_field"
    assert "its fields are SPDETAIL" in str(fault)


def test_two_fields_that_may_be_meant_are_refused() -> None:
    fault = _fault("planning_areas", {"SpDetail": ["PARK"], "spdetail": ["WATER"]})
    assert fault.fault == "ambiguous_field"
    assert "'SpDetail', 'spdetail'" in str(fault)


def test_two_words_for_one_field_are_refused() -> None:
    options = LoadOptions(fields={"SPDETAIL": "A", "planning_area": "B"})
    assert _fault("planning_areas", {"A": ["PARK"], "B": ["WATER"]}, options).fault == "ambiguous_field"


def test_a_cut_name_that_two_fields_share_is_neither() -> None:
    # njt_rail_lines_n and njt_rail_lines_merged_n are cut to the same ten characters.
    columns = {name: ["1"] for name in fields_of(manifest_of("transit_stations")) if not name.startswith("njt_rail")}
    fault = _fault("transit_stations", columns | {"njt_rail_l": ["2"]})
    assert fault.fault == "missing_field"
    assert "needs njt_rail_lines_n, njt_rail_lines_merged_n" in str(fault)


def test_a_constant_fills_a_field_that_the_source_lacks() -> None:
    mapped, _ = _map("endorsed_plan_centers", {"NAME": ["a", "b"]}, LoadOptions(constants={"growth_center": "YES"}))
    assert mapped.columns["GROWTH_CENTER"] == ["YES", "YES"]
    assert mapped.origins["GROWTH_CENTER"] == "'YES', as stated for all"


def test_a_constant_fills_blanks_and_never_overrules() -> None:
    options = LoadOptions(constants={"GROWTH_CENTER": "YES"})
    mapped, found = _map("endorsed_plan_centers", {"GROWTH_CENTER": ["YES", None]}, options)
    assert mapped.columns["GROWTH_CENTER"] == ["YES", "YES"]
    assert [(change.kind, change.rows) for change in found.changes] == [("constant_filled", (2,))]
    fault = _fault("endorsed_plan_centers", {"GROWTH_CENTER": ["YES", "NO"]}, options)
    assert fault.fault == "constant_contradicts"
    assert "row 2 'NO'" in str(fault)


def test_optional_fields_that_are_absent_are_told() -> None:
    _, found = _map("designated_centers", {"CENNAME2": ["a"], "CENDATE": [""], "ENDDATE": [""]})
    assert [change.kind for change in found.changes] == ["field_absent"]
    assert "CENTYPE, MUNI" in found.changes[0].words


def test_columns_of_the_layer_file_are_not_kept_as_fields() -> None:
    mapped, found = _map("planning_areas", {"SPDETAIL": ["PARK"], "bbox": [1], "Geometry": [2]})
    assert list(mapped.columns) == ["SPDETAIL"]
    assert found.changes[0].kind == "column_clash"
    assert "bbox, Geometry" in found.changes[0].words


def test_points_fill_their_own_places() -> None:
    columns = {
        name: ["1"] for name in fields_of(manifest_of("transit_stations")) if name not in {"longitude", "latitude"}
    }
    mapped, _ = _map("transit_stations", columns)
    assert "longitude" not in mapped.columns


def test_columns_of_another_length_are_refused() -> None:
    fault = _fault("planning_areas", {"SPDETAIL": ["PARK", "WATER"], "ACRES": [1]})
    assert fault.fault == "ragged_field"
    assert "ACRES has 1 values and there are 2 features" in str(fault)
