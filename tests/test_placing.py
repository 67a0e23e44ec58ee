"""Features that cannot be where their system puts them are refused, each for its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import shapely
from drawn import CAMDEN, NEWARK, around, draw

from grownj_geo.features import LayerFault, LoadOptions
from grownj_geo.findings import Findings
from grownj_geo.georeference import declared_system
from grownj_geo.placing import Placed, place_features

if TYPE_CHECKING:
    from numpy.typing import NDArray

PLACES = np.array([around(CAMDEN, 240.0), around(NEWARK, 240.0)])


def _in(crs: str, shapes: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(shapely.transform(shapes, declared_system(crs, Findings("a")).backward), dtype=object)


def _place(shapes: NDArray[Any], crs: str | None, options: LoadOptions | None = None) -> tuple[Placed, Findings]:
    found = Findings("areas.shp")
    # Rows begin at 10: some before them have been left out.
    rows = np.arange(10, 10 + len(shapes))
    return place_features(shapes, rows, crs, options or LoadOptions(), found), found


def _fault(shapes: NDArray[Any], crs: str | None, options: LoadOptions | None = None) -> LayerFault:
    with pytest.raises(LayerFault) as caught:
        _place(shapes, crs, options)
    return caught.value


def _swap(shapes: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(shapely.transform(shapes, lambda xy: xy[:, ::-1]), dtype=object)


@pytest.mark.parametrize("crs", ["EPSG:3424", "EPSG:32111", "EPSG:4326", "EPSG:3857", "EPSG:26918"])
def test_places_come_out_where_they_are(crs: str) -> None:
    placed, found = _place(_in(crs, PLACES) if crs != "EPSG:3424" else PLACES, crs)
    assert placed.inside.all()
    for ours, true in zip(placed.geometries, PLACES, strict=True):
        assert shapely.hausdorff_distance(ours, true) < 0.01
    assert not found.changes
    assert placed.words.endswith("; as declared")


def test_wgs84_is_said_to_be_taken_as_nad83() -> None:
    assert "taken as NAD83" in _place(_in("EPSG:4326", PLACES), "EPSG:4326")[0].words
    assert "taken as" not in _place(_in("EPSG:4269", PLACES), "EPSG:4269")[0].words


def test_a_stated_system_is_used_where_none_is_declared() -> None:
    placed, _ = _place(_in("EPSG:32111", PLACES), None, LoadOptions(crs="EPSG:32111"))
    assert placed.words.endswith("; as stated")
    assert shapely.hausdorff_distance(placed.geometries[0], PLACES[0]) < 1e-6


def test_a_stated_system_that_contradicts_is_refused() -> None:
    assert _fault(PLACES, "EPSG:3424", LoadOptions(crs="EPSG:32111")).fault == "crs_contradiction"


def test_undeclared_coordinates_are_refused() -> None:
    assert _fault(PLACES, None).fault == "undeclared_crs"


@pytest.mark.parametrize(
    ("shapes", "crs", "kind", "words"),
    [
        (_swap(_in("EPSG:4326", PLACES)), "EPSG:4326", "swapped", "x and y look swapped in EPSG:4326"),
        (_swap(_in("EPSG:26918", PLACES)), "EPSG:26918", "swapped", "x and y look swapped"),
        (_in("EPSG:4326", PLACES), "EPSG:3424", "degrees_in_projected", "look like degrees"),
        (PLACES, "EPSG:4326", "projected_in_degrees", "looks like State Plane feet"),
        (PLACES, "EPSG:26918", "wrong_crs", "looks like State Plane feet"),
        (_in("EPSG:26918", PLACES), "EPSG:3424", "wrong_crs", "UTM zone 18N"),
        (shapely.transform(_in("EPSG:4326", PLACES), np.abs), "EPSG:4326", "wrong_sign", "longitude is negative"),
        (np.array([shapely.Point(0, 0)]), "EPSG:4326", "zero_coordinates", "0, 0"),
        (np.array([shapely.Point(0, 0)]), "EPSG:3424", "zero_coordinates", "0, 0"),
        (np.array([shapely.Point(-77.0, 38.9)]), "EPSG:4326", "outside_new_jersey", "EPSG:4326"),
        (np.array([shapely.Point(5e6, 5e6)]), "EPSG:3424", "outside_new_jersey", "5000000"),
        (np.array([shapely.Point(1e30, 1e30)]), "EPSG:26918", "outside_new_jersey", "1e+30"),
    ],
)
def test_each_slip_has_its_own_name(shapes: NDArray[Any], crs: str, kind: str, words: str) -> None:
    fault = _fault(np.asarray(shapes, dtype=object), crs)
    assert fault.fault == kind
    assert words in str(fault)
    assert str(fault).startswith("areas.shp: all ")
    # With a declaration, naming another system is a contradiction; that is no remedy.
    assert "--crs" not in str(fault)


def test_one_stray_feature_is_named_by_its_row() -> None:
    stray = np.array([*PLACES, shapely.box(900_000, 700_000, 900_100, 700_100)])
    fault = _fault(stray, "EPSG:3424")
    assert fault.fault == "outside_new_jersey"
    assert "areas.shp: row 13: not in New Jersey" in str(fault)


def test_one_swapped_feature_among_good_ones_is_named_as_that() -> None:
    good = _in("EPSG:4326", PLACES)
    fault = _fault(np.array([good[0], *_swap(good[1:])]), "EPSG:4326")
    assert fault.fault == "swapped"
    assert "row 12" in str(fault)


def test_a_partial_layer_leaves_strays_out_and_tells() -> None:
    stray = np.array([*PLACES, shapely.box(900_000, 700_000, 900_100, 700_100)])
    placed, found = _place(stray, "EPSG:3424", LoadOptions(partial=True))
    assert placed.inside.tolist() == [True, True, False]
    assert [(c.kind, c.effect, c.rows) for c in found.changes] == [("outside_new_jersey", "left_out", (13,))]


def test_a_partial_layer_is_not_one_of_strays_alone() -> None:
    assert _fault(_in("EPSG:4326", PLACES), "EPSG:3424", LoadOptions(partial=True)).fault == "degrees_in_projected"


def test_a_layer_that_meets_no_municipality_is_elsewhere() -> None:
    towns = draw("municipalities", [(around(CAMDEN, 5000.0), {"mun_code": "0408"})])
    placed, _ = _place(PLACES, "EPSG:3424", LoadOptions(municipal_lines=towns))
    assert placed.inside.all()
    fault = _fault(PLACES[1:], "EPSG:3424", LoadOptions(municipal_lines=towns))
    assert fault.fault == "outside_new_jersey"
    assert "meets a municipality" in str(fault)


def test_a_feature_that_sticks_out_of_the_box_is_outside() -> None:
    inside = shapely.box(-74.2, 40.7, -73.71, 40.8)
    _place(np.array([inside]), "EPSG:4326")
    assert _fault(np.array([shapely.box(-74.2, 40.7, -73.69, 40.8)]), "EPSG:4326").fault == "outside_new_jersey"
