"""Coordinates without a declared system, recognized by municipal lines, or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import shapely
from drawn import around, draw

from grownj_geo.features import LayerFault
from grownj_geo.findings import Findings
from grownj_geo.georeference import declared_system
from grownj_geo.linematch import recognized_system

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.atlas import Atlas
    from grownj_geo.layer import Layer


@pytest.fixture(scope="session")
def municipal(atlas: Atlas) -> Layer:
    found = atlas.layer("municipalities")
    assert found is not None
    return found


def _in(crs: str, shapes: NDArray[Any]) -> NDArray[Any]:
    system = declared_system(crs, Findings("a"))
    return np.asarray(shapely.transform(shapes, system.backward), dtype=object)


def _county(municipal: Layer, code: str) -> NDArray[Any]:
    chosen = [municipal.geometry(i) for i in range(len(municipal)) if municipal.key(i).startswith(code)]
    return np.array(chosen, dtype=object)


@pytest.mark.parametrize("crs", ["EPSG:3424", "EPSG:32111", "EPSG:26918", "EPSG:3857", "EPSG:4269", "EPSG:2272"])
@pytest.mark.parametrize("county", ["04", "14"])
def test_a_county_of_municipalities_is_recognized(municipal: Layer, crs: str, county: str) -> None:
    found = Findings("towns.shp")
    system = recognized_system(_in(crs, _county(municipal, county)), municipal, found)
    assert system.code == crs
    assert [(change.kind, change.effect) for change in found.changes] == [("crs_from_lines", "changed")]
    assert crs in found.changes[0].words


def test_places_that_merely_lie_in_new_jersey_prove_nothing(municipal: Layer) -> None:
    shapes = np.array([shapely.segmentize(around((-74.6, 40.2), 5000.0), 200.0)])
    with pytest.raises(LayerFault) as caught:
        recognized_system(shapes, municipal, Findings("areas.shp"))
    assert caught.value.fault == "undeclared_crs"
    for words in ("do not run along municipal lines", "looks like State Plane feet", "--crs EPSG:3424"):
        assert words in str(caught.value)


def test_without_municipal_lines_nothing_is_recognized(municipal: Layer) -> None:
    with pytest.raises(LayerFault, match="no municipal lines") as caught:
        recognized_system(_county(municipal, "04"), None, Findings("areas.shp"))
    assert caught.value.fault == "undeclared_crs"


def test_degrees_are_named_as_what_they_look_like() -> None:
    with pytest.raises(LayerFault, match="looks like longitude and latitude"):
        recognized_system(np.array([shapely.box(-74.2, 40.7, -74.1, 40.8)]), None, Findings("areas.shp"))
    with pytest.raises(LayerFault, match="look swapped"):
        recognized_system(np.array([shapely.box(40.7, -74.2, 40.8, -74.1)]), None, Findings("areas.shp"))


def test_nad27_is_not_taken_for_nad83(municipal: Layer) -> None:
    # Shifted by what lies between the two datums here.
    shapes = shapely.transform(_county(municipal, "14"), lambda xy: xy + np.array([118.0, 36.0]))
    with pytest.raises(LayerFault) as caught:
        recognized_system(shapes, municipal, Findings("areas.shp"))
    assert caught.value.fault == "undeclared_crs"


def _square_town(side: float) -> tuple[Layer, shapely.Polygon]:
    town = shapely.box(500_000, 600_000, 500_000 + side, 600_000 + side)
    return draw("municipalities", [(town, {"mun_code": "0101"})]), town


@pytest.mark.parametrize(("off", "recognized"), [(0.0, True), (9.9, True), (10.1, False)])
def test_ten_feet_are_near(off: float, recognized: bool) -> None:  # noqa: FBT001
    layer, town = _square_town(20_000.0)
    # An outline inside the town's: every vertex is `off` from it.
    shapes = np.array([shapely.segmentize(town.buffer(-off, join_style="mitre"), 500.0)])
    if recognized:
        assert recognized_system(shapes, layer, Findings("a")).code == "EPSG:3424"
    else:
        with pytest.raises(LayerFault, match="municipal lines"):
            recognized_system(shapes, layer, Findings("a"))


@pytest.mark.parametrize(("vertices", "recognized"), [(50, True), (49, False)])
def test_fifty_vertices_are_enough(vertices: int, recognized: bool) -> None:  # noqa: FBT001
    layer, town = _square_town(20_000.0)
    ring = shapely.get_exterior_ring(town)
    along = [ring.interpolate(step * ring.length / vertices) for step in range(vertices)]
    shapes = np.array([shapely.LineString(along)])
    if recognized:
        assert recognized_system(shapes, layer, Findings("a")).code == "EPSG:3424"
    else:
        with pytest.raises(LayerFault, match="municipal lines"):
            recognized_system(shapes, layer, Findings("a"))


@pytest.mark.parametrize(("away", "recognized"), [(540, True), (560, False)])
def test_a_tenth_of_the_vertices_is_enough(away: int, recognized: bool) -> None:  # noqa: FBT001
    layer, town = _square_town(20_000.0)
    ring = shapely.get_exterior_ring(town)
    along = [ring.interpolate(step * ring.length / 61) for step in range(61)]
    inner = [shapely.Point(505_000 + 15 * step, 605_000 + 7 * step) for step in range(away)]
    shapes = np.array([shapely.LineString(along), shapely.LineString(inner)])
    if recognized:
        assert recognized_system(shapes, layer, Findings("a")).code == "EPSG:3424"
    else:
        with pytest.raises(LayerFault, match="municipal lines"):
            recognized_system(shapes, layer, Findings("a"))
