"""What features have to do with one another: duplicates, conflicts, keys, overlaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import shapely
from drawn import manifest_of, square

from grownj_geo import duplicates
from grownj_geo.duplicates import check_keys, classes_of, drop_duplicates, note_overlaps
from grownj_geo.features import LayerFault
from grownj_geo.findings import Findings

if TYPE_CHECKING:
    from grownj_geo.manifest import Manifest

HERE = square(500_000, 600_000, 1000)
NEXT = square(501_000, 600_000, 1000)
FAR = square(520_000, 600_000, 1000)
TURNED = shapely.Polygon([*HERE.exterior.coords[2:], *HERE.exterior.coords[1:3]])


def _kinds(found: Findings) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(change.kind, change.effect, change.rows) for change in found.changes]


def _drop(layer_id: str, shapes: list[Any], columns: dict[str, list[Any]]) -> tuple[list[bool], Findings]:
    found = Findings("areas.shp")
    rows = np.arange(10, 10 + len(shapes))
    keep = drop_duplicates(np.array(shapes, dtype=object), columns, rows, manifest_of(layer_id), found)
    return keep.tolist(), found


def _drop_fault(layer_id: str, shapes: list[Any], columns: dict[str, list[Any]]) -> LayerFault:
    with pytest.raises(LayerFault) as caught:
        _drop(layer_id, shapes, columns)
    return caught.value


def test_the_same_feature_twice_is_left_out_wherever_its_ring_begins() -> None:
    assert TURNED.equals(HERE)
    assert shapely.to_wkb(TURNED) != shapely.to_wkb(HERE)
    columns = {"SPDETAIL": ["PARK"] * 4, "OBJECTID": [1, 2, 3, 4]}
    keep, found = _drop("planning_areas", [HERE, NEXT, TURNED, HERE], columns)
    assert keep == [True, True, False, False]
    assert _kinds(found) == [("duplicates", "left_out", (13, 14))]


def test_the_same_ground_in_two_classes_is_refused() -> None:
    fault = _drop_fault("planning_areas", [HERE, NEXT, HERE], {"SPDETAIL": ["METROPOLITAN", "WATER", "SUBURBAN"]})
    assert fault.fault == "conflicting_duplicates"
    assert "rows 11 and 13 (PA1 and PA2)" in str(fault)


def test_two_texts_of_one_class_are_no_conflict() -> None:
    keep, found = _drop("planning_areas", [HERE, HERE], {"SPDETAIL": ["PARK", "STATE PARK"]})
    assert keep == [True, True]
    assert _kinds(found) == [("same_ground", "noted", (11, 12))]


def test_classes_that_no_layer_has_to_have_are_noted_only() -> None:
    columns = {"NOTES": ["a", "a"], "APPROVAL": ["2017-01-01"] * 2, "NONCONDEMN": ["YES", "BOTH"]}
    keep, found = _drop("redevelopment_areas", [HERE, HERE], columns)
    assert keep == [True, True]
    assert _kinds(found) == [("same_ground", "noted", (11, 12))]


@pytest.mark.parametrize(("begun", "conflict"), [("2016-01-01", False), ("2015-12-31", True), (None, True)])
def test_one_class_after_the_other_is_no_conflict(begun: str | None, conflict: bool) -> None:  # noqa: FBT001
    manifest = manifest_of("designated_centers", required_fields=("CENDATE", "ENDDATE", "CENTYPE"))
    columns = {"CENTYPE": ["DV", "DT"], "CENDATE": ["2000-01-01", begun], "ENDDATE": ["2016-01-01", None]}
    found = Findings("a")
    shapes = np.array([HERE, HERE], dtype=object)
    if conflict:
        with pytest.raises(LayerFault, match="village and town"):
            drop_duplicates(shapes, columns, np.arange(2), manifest, found)
    else:
        assert drop_duplicates(shapes, columns, np.arange(2), manifest, found).all()


def test_two_kinds_of_station_may_share_a_point() -> None:
    keep, found = _drop("transit_stations", [shapely.Point(1, 1)] * 2, {"mode": ["commuter_rail", "light_rail"]})
    assert keep == [True, True]
    assert not found.changes


def test_classes_are_what_values_mean() -> None:
    columns = {"CENTYPE": ["UC", "new"]}
    assert classes_of(columns, manifest_of("designated_centers"), needed=False) == [("urban_center",), ("new",)]
    assert classes_of(columns, manifest_of("designated_centers"), needed=True) == [(), ()]


def _keys(manifest: Manifest, columns: dict[str, list[Any]]) -> Findings:
    found = Findings("areas.shp")
    check_keys(columns, np.arange(10, 10 + len(next(iter(columns.values())))), manifest, found)
    return found


def _tracts(geoids: list[Any], rates: list[Any]) -> dict[str, list[Any]]:
    return {"GEOID": geoids, "POVERTY_RATE": rates, "OBJECTID": list(range(len(geoids)))}


def test_different_features_with_one_key_are_refused() -> None:
    manifest = manifest_of("census_tract_poverty")
    assert not _keys(manifest, _tracts(["1", "2"], [3.0, 3.0])).changes
    with pytest.raises(LayerFault) as caught:
        _keys(manifest, _tracts(["1", "2", "1 "], [3.0, 3.0, 4.0]))
    assert caught.value.fault == "duplicate_key"
    assert "'1' in rows 11, 13" in str(caught.value)


def test_parts_of_one_feature_are_noted() -> None:
    found = _keys(manifest_of("census_tract_poverty"), _tracts(["1", "2", "1"], [3.0, 3.0, 3.0]))
    assert _kinds(found) == [("key_in_parts", "noted", (11, 13))]


def test_points_have_no_parts() -> None:
    with pytest.raises(LayerFault) as caught:
        _keys(manifest_of("transit_stations"), {"station_id": ["a", "a"]})
    assert caught.value.fault == "duplicate_key"


def test_a_blank_key_is_refused() -> None:
    with pytest.raises(LayerFault) as caught:
        _keys(manifest_of("census_tract_poverty"), _tracts(["1", None, " "], [3.0] * 3))
    assert caught.value.fault == "blank_key"
    assert "rows 12, 13" in str(caught.value)


def test_bounds_of_one_place_share_its_key() -> None:
    manifest = manifest_of("south_jersey_port_terminals")
    assert not _keys(manifest, {"id": ["salem", "salem"], "bound": ["inner", "outer"]}).changes
    with pytest.raises(LayerFault, match="'salem/inner' in rows 11, 12"):
        _keys(manifest, {"id": ["salem", "salem"], "bound": ["inner", "inner"]})


def test_a_layer_without_keys_has_none_to_check() -> None:
    assert not _keys(manifest_of("planning_areas"), {"SPDETAIL": ["PARK", "PARK"]}).changes


def _overlaps(shapes: list[Any], values: list[str], **stated: Any) -> Findings:
    manifest = manifest_of("planning_areas", **({"classes_exclude": False} | stated))
    found = Findings("areas.shp")
    rows = np.arange(10, 10 + len(shapes))
    note_overlaps(np.array(shapes, dtype=object), {"SPDETAIL": values}, rows, manifest, found)
    return found


def test_overlaps_of_different_classes_are_noted_with_their_area() -> None:
    found = _overlaps([HERE, FAR, square(500_900, 600_000, 1000)], ["METROPOLITAN", "WATER", "SUBURBAN"])
    assert _kinds(found) == [("overlaps", "noted", (11, 13))]
    assert "100,000 square feet" in found.changes[0].words


def test_a_feature_inside_another_is_noted() -> None:
    found = _overlaps([HERE, square(500_100, 600_100, 10)], ["METROPOLITAN", "SUBURBAN"])
    assert "100 square feet" in found.changes[0].words


@pytest.mark.parametrize(("width", "refused"), [(95.0, False), (96.0, False), (98.0, True), (500.0, True)])
def test_ground_in_two_classes_that_exclude_each_other_is_refused_where_it_is_wider_than_the_lines_are_unsure(
    width: float,
    refused: bool,  # noqa: FBT001
) -> None:
    # Two lines, each known to 48.3 ft: 96.6 ft (international) are no more than both being off.
    shapes = [HERE, square(501_000 - width, 600_000, 1000)]
    if not refused:
        assert _kinds(_overlaps(shapes, ["METROPOLITAN", "RURAL"], classes_exclude=True, accuracy_ft=48.3))
        return
    with pytest.raises(LayerFault) as caught:
        _overlaps(shapes, ["METROPOLITAN", "RURAL"], classes_exclude=True, accuracy_ft=48.3)
    assert caught.value.fault == "overlapping_classes"
    assert "rows 11 and 12" in str(caught.value)


def test_neighbours_and_overlaps_of_one_class_are_not_noted() -> None:
    assert not _overlaps([HERE, NEXT, FAR], ["METROPOLITAN", "SUBURBAN", "WATER"]).changes
    assert not _overlaps([HERE, square(500_900, 600_000, 1000)], ["PARK", "STATE PARK"]).changes
    # Another vertex on the shared side, and a rounding beyond it, are no overlap.
    side = shapely.Polygon([(501_000, 600_000), (502_000, 600_000), (502_000, 601_000), (500_999.9999, 601_000)])
    assert not _overlaps([HERE, side], ["METROPOLITAN", "SUBURBAN"]).changes


def test_work_beyond_its_bound_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "_MOST_PAIRS", 1)
    shapes = [square(500_000 + 900 * step, 600_000, 1000) for step in range(3)]
    found = _overlaps(shapes, ["METROPOLITAN", "SUBURBAN", "METROPOLITAN"])
    assert [change.kind for change in found.changes] == ["overlaps", "overlaps_not_looked_at"]
    assert "1 pairs" in found.changes[1].words
