"""Each feature's geometry for itself: missing, of another kind, not valid."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
import shapely
from drawn import square

from grownj_geo.cleaning import repair, usable
from grownj_geo.features import LayerFault
from grownj_geo.findings import Findings

SQUARE = square(500_000, 600_000, 1000)
LINE = shapely.LineString([(500_000, 600_000), (500_100, 600_000)])
POINT = shapely.Point(500_000, 600_000)
Kind = Literal["polygon", "point", "line"]


def _with_last(x: float) -> shapely.LineString:
    """Return a line whose last vertex is no place, as a broken file has it."""
    with np.errstate(invalid="ignore"):
        return shapely.LineString([(500_000, 600_000), (x, 600_000)])


def _usable(
    shapes: list[Any], kind: Kind = "polygon", *, partial: bool = False
) -> tuple[list[Any], list[bool], Findings]:
    found = Findings("areas.shp")
    cleaned, keep = usable(np.array([*shapes, None], dtype=object)[:-1], kind, found, partial=partial)
    return list(cleaned), keep.tolist(), found


def _usable_fault(shapes: list[Any], kind: Kind = "polygon") -> LayerFault:
    with pytest.raises(LayerFault) as caught:
        _usable(shapes, kind)
    return caught.value


def _repair(shapes: list[Any], kind: Kind = "polygon") -> tuple[list[Any], Findings]:
    found = Findings("areas.shp")
    rows = np.arange(10, 10 + len(shapes))
    return list(repair(np.array(shapes, dtype=object), rows, kind, found)), found


def _repair_fault(shapes: list[Any], kind: Kind = "polygon") -> LayerFault:
    with pytest.raises(LayerFault) as caught:
        _repair(shapes, kind)
    return caught.value


def _kinds(found: Findings) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(change.kind, change.effect, change.rows) for change in found.changes]


def test_clean_geometry_passes_as_it_is() -> None:
    given = [SQUARE, shapely.MultiPolygon([SQUARE])]
    shapes, keep, found = _usable(given)
    assert shapes[0] is given[0]
    assert shapes[1] is given[1]
    assert keep == [True, True]
    assert not found.changes


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (None, "null_geometry"),
        (shapely.Polygon(), "empty_geometry"),
        (shapely.MultiPolygon(), "empty_geometry"),
        (_with_last(np.nan), "non_finite"),
        (_with_last(np.inf), "non_finite"),
        (LINE, "wrong_kind"),
        (POINT, "wrong_kind"),
        (shapely.GeometryCollection([LINE, POINT]), "wrong_kind"),
    ],
)
def test_features_that_cannot_be_used_are_refused_or_left_out_and_told(bad: Any, fault: str) -> None:
    refusal = _usable_fault([SQUARE, bad, SQUARE, bad])
    assert refusal.fault == fault
    assert "rows 2, 4 of 4 have" in str(refusal)
    _, keep, found = _usable([SQUARE, bad, SQUARE, bad], partial=True)
    assert keep == [True, False, True, False]
    assert _kinds(found) == [(fault, "left_out", (2, 4))]


def test_all_that_cannot_be_used_is_told_at_once() -> None:
    fault = _usable_fault([None, shapely.Polygon(), LINE, SQUARE])
    assert "3 things are wrong" in str(fault)
    for row in ("row 1", "row 2", "row 3"):
        assert row in str(fault)


@pytest.mark.parametrize(
    ("kind", "collection", "rest"),
    [
        ("polygon", shapely.GeometryCollection([SQUARE, LINE, POINT]), SQUARE),
        ("polygon", shapely.GeometryCollection([shapely.GeometryCollection([SQUARE])]), SQUARE),
        ("line", shapely.GeometryCollection([LINE, POINT]), LINE),
        ("point", shapely.GeometryCollection([POINT]), POINT),
    ],
)
def test_collections_are_reduced_where_nothing_of_extent_is_lost(kind: Kind, collection: Any, rest: Any) -> None:
    shapes, keep, found = _usable([collection], kind)
    assert keep == [True]
    assert shapes[0].equals(rest)
    assert shapes[0].geom_type == rest.geom_type
    assert _kinds(found) == [("collection_reduced", "changed", (1,))]


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        ("line", shapely.GeometryCollection([LINE, SQUARE])),
        ("point", shapely.GeometryCollection([POINT, LINE])),
        ("point", shapely.GeometryCollection([POINT, shapely.Point(1, 1)])),
        ("point", shapely.MultiPoint([(0, 0), (1, 1)])),
        ("line", SQUARE),
        ("point", SQUARE),
    ],
)
def test_what_would_lose_extent_is_of_the_wrong_kind(kind: Kind, shape: Any) -> None:
    assert _usable_fault([shape], kind).fault == "wrong_kind"


def test_two_polygons_of_a_collection_stay_two() -> None:
    other = square(510_000, 600_000, 1000)
    shapes, _, _ = _usable([shapely.GeometryCollection([SQUARE, other, POINT])])
    assert shapes[0].geom_type == "MultiPolygon"
    assert shapes[0].area == 2_000_000


def test_a_multipoint_of_one_is_that_point_and_a_closed_ring_a_line() -> None:
    shapes, _, found = _usable([shapely.MultiPoint([POINT])], "point")
    assert shapes[0] == POINT
    assert _kinds(found) == [("multipoint_single", "changed", (1,))]
    shapes, keep, _ = _usable([shapely.LinearRing([(0, 0), (1, 0), (1, 1)])], "line")
    assert (shapes[0].geom_type, keep) == ("LineString", [True])


def test_heights_are_dropped_and_told() -> None:
    shapes, _, found = _usable([SQUARE, shapely.force_3d(SQUARE, 500.0)])
    assert not shapely.has_z(shapes[1])
    assert shapes[1].equals(SQUARE)
    assert _kinds(found) == [("z_dropped", "noted", (2,))]


def test_valid_polygons_are_not_touched() -> None:
    holed = shapely.Polygon(SQUARE.exterior, [square(500_100, 600_100, 100).exterior])
    shapes, found = _repair([SQUARE, holed])
    assert shapes[1] is holed
    assert not found.changes


def test_a_ring_that_touches_itself_is_repaired_with_its_hole() -> None:
    # The hole is drawn as a loop of the outline, as some programmes write it.
    loop = shapely.Polygon([(0, 0), (100, 0), (100, 50), (60, 40), (60, 60), (100, 50), (100, 100), (0, 100)])
    assert not loop.is_valid
    shapes, found = _repair([SQUARE, loop])
    assert shapes[1].is_valid
    assert shapes[1].area == pytest.approx(10_000 - 400)
    assert not shapes[1].contains(shapely.Point(70, 50))
    assert [kind for kind in _kinds(found) if kind[0] == "repaired"] == [("repaired", "changed", (12,))]
    assert "9,600.0 square feet before, 9,600.0 after" in found.changes[0].words


def test_a_bow_tie_is_refused_with_both_areas() -> None:
    bow = shapely.Polygon([(0, 0), (100, 100), (100, 0), (0, 100)])
    fault = _repair_fault([SQUARE, bow])
    assert fault.fault == "repair_too_large"
    assert "row 12" in str(fault)
    assert "0.0 square feet before, 5,000.0 after" in str(fault)


def test_parts_that_overlap_are_refused_as_ground_counted_twice() -> None:
    both = shapely.MultiPolygon([square(0, 0, 100), square(50, 0, 100)])
    assert "20,000.0 square feet before, 15,000.0 after" in str(_repair_fault([both]))


def _folded(width: float, side: float) -> shapely.MultiPolygon:
    """Return two parts that overlap in a strip."""
    return shapely.MultiPolygon([shapely.box(0, 0, side, 100), shapely.box(side - width, 0, 2 * side, 100)])


@pytest.mark.parametrize(
    ("width", "side", "repaired"),
    [
        (0.99, 1000.0, True),  # 99 square feet of 200,099
        (1.01, 1000.0, False),  # 101
        (1.9, 10_000.0, True),  # 190 of 2,000,190, below a ten-thousandth
        (2.1, 10_000.0, False),  # 210 of 2,000,210
    ],
)
def test_a_repair_may_change_a_hundred_square_feet_or_a_ten_thousandth(
    width: float,
    side: float,
    repaired: bool,  # noqa: FBT001
) -> None:
    if repaired:
        shapes, found = _repair([_folded(width, side)])
        assert shapes[0].is_valid
        assert [change.kind for change in found.changes] == ["repaired"]
    else:
        assert _repair_fault([_folded(width, side)]).fault == "repair_too_large"


def test_a_polygon_without_ground_is_refused_whatever_its_size() -> None:
    flat = shapely.Polygon([(0, 0), (10, 0), (0, 0), (0, 0)])
    fault = _repair_fault([flat])
    assert fault.fault == "repair_too_large"
    line = shapely.LineString([(5, 5), (5, 5)])
    assert _repair_fault([line], "line").fault == "repair_too_large"


def test_all_refused_repairs_are_told_at_once() -> None:
    bow = shapely.Polygon([(0, 0), (100, 100), (100, 0), (0, 100)])
    fault = _repair_fault([bow, SQUARE, bow])
    assert "2 features are not valid" in str(fault)
    assert "row 11" in str(fault)
    assert "row 13" in str(fault)


@pytest.mark.parametrize(("side", "noted"), [(9.99, True), (10.0, False)])
def test_slivers_are_noted(side: float, noted: bool) -> None:  # noqa: FBT001
    shapes, found = _repair([SQUARE, square(0, 0, side)])
    assert len(shapes) == 2
    assert _kinds(found) == ([("slivers", "noted", (12,))] if noted else [])


@pytest.mark.parametrize(
    "wkt",
    [
        "POLYGON ((0 0, 90 0, 90 90, 0 90, 0 0), EMPTY, (10 10, 10 20, 20 20, 10 10))",
        "MULTIPOLYGON (((0 0, 90 0, 90 90, 0 90, 0 0), EMPTY), ((200 0, 290 0, 290 90, 200 0)))",
        "GEOMETRYCOLLECTION (POINT (1 1), POLYGON ((0 0, 90 0, 90 90, 0 90, 0 0), EMPTY))",
    ],
)
def test_holes_without_a_vertex_are_nothing(wkt: str) -> None:
    given = shapely.from_wkt(wkt)
    shapes, keep, _ = _usable([SQUARE, given])
    assert keep == [True, True]
    assert not any(ring.is_empty for ring in shapely.get_rings(shapely.get_parts(shapes[1])))
    assert shapes[1].area == given.area
    assert shapes[0] is SQUARE


def test_a_small_loop_that_a_repair_leaves_touching_by_the_last_bits_is_mended_too() -> None:
    loop = [
        (0, 0),
        (8000, 0),
        (8000, 8000),
        (4000, 8000),
        (4000, 8001.37),
        (4002.11, 7999.1),
        (4003.3, 8000),
        (0, 8000),
    ]
    shape = shapely.transform(shapely.Polygon(loop), lambda xy: xy + np.array([372_000.0, 630_000.0]))
    found = Findings("areas.shp")
    (mended,) = repair(np.array([shape]), np.array([0]), "polygon", found)
    assert shapely.is_valid(mended)
    assert abs(mended.area - 64_000_000) < 2
    assert [change.kind for change in found.changes] == ["repaired"]
