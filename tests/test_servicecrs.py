"""Which coordinate system a service is asked for."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from drawn import NEWARK, around

from grownj_geo.findings import Findings
from grownj_geo.georeference import declared_system, same_places
from grownj_geo.servicecrs import bend_ft, system_to_ask
from grownj_geo.servicelayer import ServiceFacts
from grownj_geo.units import to_lonlat


def _facts(wkid: int | None) -> ServiceFacts:
    return ServiceFacts("https://maps.nj.gov/x", "x", 1, None, None, wkid, 1000, "esriGeometryPolygon", "OBJECTID")


@pytest.mark.parametrize(
    ("wkid", "usual", "degrees"),
    [
        (3424, "EPSG:3424", False),
        (102_711, "EPSG:3424", False),
        (3857, "EPSG:3857", False),
        (102_100, "EPSG:3857", False),
        (26_918, "EPSG:26918", False),
        (4326, "EPSG:4326", True),
        (4269, "EPSG:4269", True),
    ],
)
def test_a_service_is_asked_for_its_own(wkid: int, usual: str, degrees: bool) -> None:  # noqa: FBT001
    asked = system_to_ask(_facts(wkid))
    assert (asked.wkid, asked.is_degrees, asked.why_not_own) == (wkid, degrees, "")
    ours, true = (declared_system(code, Findings("x")) for code in (asked.code, usual))
    assert same_places(ours, true)


@pytest.mark.parametrize(
    ("wkid", "why"),
    [
        (None, "no number"),
        (999_999, "999999"),
        (5703, "5703"),  # heights
        (4230, "4230"),  # a datum from which no way of known accuracy leads here
    ],
)
def test_or_for_degrees_where_nothing_else_would_be_understood(wkid: int | None, why: str) -> None:
    asked = system_to_ask(_facts(wkid))
    assert (asked.wkid, asked.code, asked.is_degrees) == (4326, "EPSG:4326", True)
    assert why in asked.why_not_own


@pytest.mark.parametrize(
    ("wkid", "other", "same"),
    [
        (3424, 102_711, True),
        (102_711, 3424, True),
        (3857, 102_100, True),
        (32_111, 102_311, True),
        (3424, 2263, False),
        (3424, 32_111, False),
        (4326, 3857, False),
        (3857, 3785, False),
    ],
)
def test_one_system_may_have_two_numbers(wkid: int, other: int, same: bool) -> None:  # noqa: FBT001
    asked = system_to_ask(_facts(wkid))
    assert asked.is_that({"wkid": other, "latestWkid": wkid}) is same


def _degrees(shape: shapely.Geometry) -> shapely.Geometry:
    return shapely.transform(shape, lambda xy: np.column_stack(to_lonlat(xy[:, 0], xy[:, 1])))


@pytest.mark.parametrize(("miles", "feet"), [(2, 0.6), (5, 3.6), (10, 14.3)])
def test_the_longest_side_says_how_far_it_bends(miles: float, feet: float) -> None:
    box = _degrees(around(NEWARK, miles * 5280 / 2))
    small = _degrees(around(NEWARK, 100.0))
    bend = bend_ft(np.array([small, None, shapely.MultiPolygon([box]), shapely.Point(NEWARK)], dtype=object))
    assert bend == pytest.approx(feet, rel=0.1)
    assert bend_ft(np.array([shapely.LineString(box.exterior)])) == bend


def test_nothing_bends_where_there_are_no_sides() -> None:
    assert bend_ft(np.array([None, shapely.Point(NEWARK), shapely.Polygon()], dtype=object)) == 0
    assert bend_ft(np.empty(0, dtype=object)) == 0
    assert bend_ft(np.array([shapely.LineString([(0, 0), (90, 45)])])) == 0
