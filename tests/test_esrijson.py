"""Geometry and values of feature services, read as the format means them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
import shapely

from grownj_geo.esrijson import Told, column_of, geometry_of
from grownj_geo.features import LayerFault

POLYGON = "esriGeometryPolygon"


def square(x: float, y: float, side: float, *, hole: bool = False) -> list[list[float]]:
    ring = [[x, y], [x, y + side], [x + side, y + side], [x + side, y], [x, y]]
    return ring[::-1] if hole else ring


def read(raw: Any, kind: str = POLYGON, told: Told | None = None) -> Any:
    return geometry_of(raw, kind, where="here", row=7, told={} if told is None else told)


def fault(raw: Any, kind: str = POLYGON) -> str:
    with pytest.raises(LayerFault, match="here") as caught:
        read(raw, kind)
    return caught.value.fault


def test_holes_go_to_the_smallest_ring_round_them() -> None:
    rings = [
        square(3, 3, 1, hole=True),  # in the island
        square(0, 0, 10),
        square(20, 0, 10),
        square(1, 1, 6, hole=True),
        square(2, 2, 3),  # an island in the hole
        square(22, 2, 2, hole=True),
        square(26, 6, 2, hole=True),
    ]
    told: Told = {}
    found = read({"rings": rings}, told=told)
    assert found.is_valid
    assert found.area == (100 - 36) + (9 - 1) + (100 - 4 - 4)
    assert [len(part.interiors) for part in found.geoms] == [1, 2, 1]
    assert not told


def test_a_hole_that_touches_its_ring_stays_a_hole() -> None:
    hole = [[0, 5], [4, 3], [4, 7], [0, 5]]
    found = read({"rings": [square(0, 0, 10), hole]})
    assert found.geom_type == "Polygon"
    assert found.area == 92.0


def test_a_hole_alone_becomes_a_polygon_and_is_told() -> None:
    told: Told = {}
    found = read({"rings": [square(0, 0, 10), square(20, 0, 2, hole=True)]}, told=told)
    assert found.area == 104.0
    assert told == {"hole_outside": [7]}


def test_a_hole_that_protrudes_stays_a_hole_for_its_repair_to_judge() -> None:
    told: Told = {}
    found = read({"rings": [square(0, 0, 10), square(7, 1, 4, hole=True), square(40, 0, 10)]}, told=told)
    assert not told
    assert not found.is_valid
    assert [len(part.interiors) for part in found.geoms] == [1, 0]
    # Most of it outside, it is rather ground of its own; then the parts overlap.
    found = read({"rings": [square(0, 0, 10), square(9, 1, 4, hole=True)]}, told=told)
    assert told == {"hole_outside": [7]}
    assert found.area == 116.0
    assert not found.is_valid


def test_a_bow_tie_is_not_left_out_for_its_lobes_that_cancel_out() -> None:
    bow = [[20, 0], [24, 4], [24, 0], [20, 4], [20, 0]]
    told: Told = {}
    found = read({"rings": [square(0, 0, 10), bow]}, told=told)
    assert "ring_left_out" not in told
    assert not found.is_valid
    assert shapely.make_valid(found).area == 108.0
    spike = [[20, 0], [24, 4], [25, 9], [24, 4], [20, 0]]
    assert read({"rings": [square(0, 0, 10), spike]}, told=told).area == 100.0
    assert told["ring_left_out"] == [7]


def test_a_single_ring_is_a_polygon_either_way_round() -> None:
    assert read({"rings": [square(0, 0, 2, hole=True)]}).area == 4.0


def test_polygons_that_overlap_are_left_as_they_are() -> None:
    found = read({"rings": [square(0, 0, 10), square(5, 5, 10)]})
    assert found.geom_type == "MultiPolygon"
    assert not found.is_valid


def test_coordinates_keep_every_digit() -> None:
    ring = [
        [-74.17240000000001, 40.73570000000001],
        [-74.17, 40.74],
        [-74.16, 40.73],
        [-74.17240000000001, 40.73570000000001],
    ]
    assert shapely.get_coordinates(read({"rings": [ring]})).tolist() == ring


def test_rings_that_are_not_closed_or_have_no_area_are_told() -> None:
    told: Told = {}
    found = read({"rings": [square(0, 0, 2)[:-1], [[0, 0], [1, 1], [0, 0]], [[3, 3]]]}, told=told)
    assert found.area == 4.0
    assert told == {"ring_closed": [7], "ring_left_out": [7]}


@pytest.mark.parametrize("width", [3, 4])
def test_heights_are_dropped_and_told(width: int) -> None:
    told: Told = {}
    ring = [[*point, *[500.0] * (width - 2)] for point in square(0, 0, 2)]
    found = read({"hasZ": True, "rings": [ring]}, told=told)
    assert not found.has_z
    assert found.area == 4.0
    assert told == {"z_dropped": [7]}


def test_no_geometry_is_none() -> None:
    assert read(None) is None
    assert read({}) is None
    assert read({"x": "NaN", "y": "NaN"}, "esriGeometryPoint") is None
    assert read({"x": None, "y": None}, "esriGeometryPoint") is None
    assert read({"rings": []}).is_empty


@pytest.mark.parametrize(
    ("kind", "raw", "expected"),
    [
        ("esriGeometryPoint", {"x": -74.5, "y": 40}, "POINT (-74.5 40)"),
        ("esriGeometryMultipoint", {"points": [[1, 2], [3, 4]]}, "MULTIPOINT ((1 2), (3 4))"),
        ("esriGeometryMultipoint", {"points": []}, "MULTIPOINT EMPTY"),
        ("esriGeometryPolyline", {"paths": [[[1, 2], [3, 4]]]}, "LINESTRING (1 2, 3 4)"),
        (
            "esriGeometryPolyline",
            {"paths": [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]},
            "MULTILINESTRING ((1 2, 3 4), (5 6, 7 8))",
        ),
        ("esriGeometryPolyline", {"paths": []}, "MULTILINESTRING EMPTY"),
    ],
)
def test_points_and_lines(kind: str, raw: Any, expected: str) -> None:
    assert read(raw, kind) == shapely.from_wkt(expected)


@pytest.mark.parametrize(
    "raw",
    [
        [],
        "text",
        {"paths": []},
        {"rings": None},
        {"rings": [5]},
        {"rings": [[]]},
        {"rings": [[1, 2, 3]]},
        {"rings": [[[1], [2]]]},
        {"rings": [[[0, 0], [0, 1], [1, 1, 1], [0, 0]]]},
        {"rings": [[["0", "0"], ["0", "1"], ["1", "1"], ["0", "0"]]]},
        {"rings": [[[0, 0], [0, "1"], [1, 1], [0, 0]]]},
        {"rings": [[[0, 0], [0, None], [1, 1], [0, 0]]]},
        {"rings": [[[0, 0], [0, float("nan")], [1, 1], [0, 0]]]},
        {"rings": [[[0, 0], [0, float("inf")], [1, 1], [0, 0]]]},
        {"rings": [[[0, 0], [0, {}], [1, 1], [0, 0]]]},
    ],
)
def test_what_does_not_fit_the_format_is_refused(raw: Any) -> None:
    assert fault(raw) == "bad_geometry"


def test_lines_of_one_point_and_points_of_one_number_are_refused() -> None:
    assert fault({"paths": [[[1, 2]]]}, "esriGeometryPolyline") == "bad_geometry"
    assert fault({"x": 1}, "esriGeometryPoint") == "bad_geometry"
    assert fault({"x": "1", "y": "2"}, "esriGeometryPoint") == "bad_geometry"


@pytest.mark.parametrize("key", ["curveRings", "curvePaths"])
def test_arcs_are_refused(key: str) -> None:
    assert fault({key: [[[0, 0], {"c": [[3, 3], [1, 4]]}]]}) == "curves"


def test_other_kinds_are_refused() -> None:
    assert fault({"xmin": 0}, "esriGeometryEnvelope") == "geometry_kind"


def column(kind: str, values: list[Any], told: Told | None = None) -> list[Any]:
    rows = list(range(1, len(values) + 1))
    return column_of("F", kind, values, rows, where="here", told={} if told is None else told)


def test_times_are_days_where_all_are() -> None:
    day, hours = 1_492_387_200_000, 5 * 3_600_000
    assert column("esriFieldTypeDate", [day, None, -86_400_000]) == [date(2017, 4, 17), None, date(1969, 12, 31)]
    assert column("esriFieldTypeDate", [day, day + hours]) == [
        datetime(2017, 4, 17, tzinfo=UTC),
        datetime(2017, 4, 17, 5, tzinfo=UTC),
    ]
    assert column("esriFieldTypeDateOnly", ["2017-04-17", None]) == [date(2017, 4, 17), None]


def test_text_stays_text() -> None:
    told: Told = {}
    assert column("esriFieldTypeString", ["0102", None, "", " YES"], told) == ["0102", None, "", " YES"]
    assert not told
    assert column("esriFieldTypeString", ["0102", 102], told) == ["0102", "102"]
    assert told == {"number_as_text": [2]}


def test_numbers_stay_numbers() -> None:
    assert column("esriFieldTypeInteger", [1, None, 3]) == [1, None, 3]
    assert column("esriFieldTypeDouble", [1.5, None]) == [1.5, None]
    assert [repr(value) for value in column("esriFieldTypeDouble", [2, 2.5, 2**60])] == ["2.0", "2.5", str(2**60)]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("esriFieldTypeDate", "2017-04-17"),
        ("esriFieldTypeDate", 1e30),
        ("esriFieldTypeDate", float("nan")),
        ("esriFieldTypeDate", True),
        ("esriFieldTypeDateOnly", "17/4/2017"),
        ("esriFieldTypeString", {"a": 1}),
        ("esriFieldTypeInteger", [1]),
    ],
)
def test_values_that_do_not_fit_are_refused(kind: str, value: Any) -> None:
    with pytest.raises(LayerFault, match="here, object 1: F is") as caught:
        column(kind, [value])
    assert caught.value.fault == "bad_value"
