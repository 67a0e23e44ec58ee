"""A feature service is asked for its own coordinate system, and what comes has to be in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import shapely
from drawn import manifest_of, square
from feature_servers import (
    Answer,
    FeatureStub,
    square_feature,
)
from service_asking import FEET, always, fault, fetch, kinds, serve_feet, stopped_after
from test_makelayer import NOT_VALID

from grownj_geo.features import LayerFault, LoadOptions
from grownj_geo.makelayer import make_layer

if TYPE_CHECKING:
    from pathlib import Path


# --- the service's own coordinate system


LONG = shapely.Polygon([(450_000, 500_000), (480_000, 540_000), (440_000, 570_000), (410_000, 530_000)])


def test_sides_that_are_straight_in_feet_come_straight(stub: FeatureStub, tmp_path: Path) -> None:
    serve_feet(stub, [LONG])
    found = fetch(stub, tmp_path)
    assert found.crs == "EPSG:3424"
    assert found.added_accuracy_ft == 0
    assert found.geometries[0].equals(LONG)
    assert kinds(found) == {"announced": 1, "area_compared": 1}
    assert {asked.params["outSR"] for asked in stub.pages} == {"3424"}
    layer, report = make_layer(found, manifest_of("planning_areas"), LoadOptions(partial=True))
    assert layer.geometry(0).equals(LONG)
    assert (layer.manifest.accuracy_ft, report.added_accuracy_ft) == (0, 0)


@pytest.mark.parametrize(
    "reference", [{}, {"wkt": "PROJCS[...]"}, {"wkid": 999_999}, {"wkid": 4269, "latestWkid": 5703}]
)
def test_a_system_that_is_not_known_here_costs_accuracy(stub: FeatureStub, tmp_path: Path, reference: Any) -> None:
    serve_feet(stub, [LONG, square(500_000, 600_000, 1000)], reference)
    found = fetch(stub, tmp_path)
    assert found.crs == "EPSG:4326"
    told = next(change for change in found.changes if change.kind == "asked_in_degrees")
    assert told.effect == "noted"
    assert f"{found.added_accuracy_ft:.1f} ft" in told.words
    layer, report = make_layer(found, manifest_of("planning_areas", accuracy_ft=45.0), LoadOptions(partial=True))
    off = shapely.hausdorff_distance(layer.geometry(0).boundary, LONG.boundary, densify=0.01)
    assert off > 5
    assert off <= report.added_accuracy_ft * 1.001
    assert off > report.added_accuracy_ft / 2
    assert report.added_accuracy_ft == found.added_accuracy_ft
    assert layer.manifest.accuracy_ft == 45 + found.added_accuracy_ft


def test_the_data_s_own_system_goes_before_that_of_the_map(stub: FeatureStub, tmp_path: Path) -> None:
    serve_feet(stub, [LONG], {"wkid": 102_100, "latestWkid": 3857})
    stub.layer["sourceSpatialReference"] = FEET
    assert fetch(stub, tmp_path).crs == "EPSG:3424"


@pytest.mark.parametrize(
    ("reference", "confirmed"),
    [
        (FEET, True),
        ({"wkid": 3424}, True),
        ({"wkid": 102_711}, True),
        ({"latestWkid": 3424, "vcsWkid": 105_703}, True),
        (None, False),
        ({}, False),
        ({"wkid": "3424"}, False),
        ({"wkid": True}, False),
        ({"wkid": 3424, "latestWkid": 4326}, False),
        ({"wkid": 102_311, "latestWkid": 32_111}, False),
        ({"wkid": 102_100, "latestWkid": 3857}, False),
        ({"wkid": 999_999, "latestWkid": 3424}, False),
    ],
)
def test_a_reply_has_to_be_in_the_system_that_was_asked_for(
    stub: FeatureStub,
    tmp_path: Path,
    reference: Any,
    confirmed: bool,  # noqa: FBT001
) -> None:
    serve_feet(stub, [LONG])
    stub.rules[0] = always("page", lambda asked: Answer.of({**stub.honest(asked), "spatialReference": reference}))
    if confirmed:
        assert fetch(stub, tmp_path).geometries[0].equals(LONG)
    else:
        assert fault(stub, tmp_path).fault == "crs_not_confirmed"


def test_degrees_where_feet_were_promised_are_no_layer(stub: FeatureStub, tmp_path: Path) -> None:
    serve_feet(stub, [LONG])
    stub.features[0]["geometry"] = square_feature(1)["geometry"]
    assert fault(stub, tmp_path).fault == "area_mismatch"
    stub.layer["supportsStatistics"] = False
    stub.layer["advancedQueryCapabilities"] = {}
    with pytest.raises(LayerFault) as caught:
        make_layer(fetch(stub, tmp_path), manifest_of("planning_areas"), LoadOptions(partial=True))
    assert caught.value.fault == "degrees_in_projected"


def test_pages_in_another_system_are_not_taken_up(stub: FeatureStub, tmp_path: Path) -> None:
    shapes = [square(480_000 + 9000 * number, 600_000, 3000) for number in range(4)]
    serve_feet(stub, shapes, {"wkid": 999_999})
    stopped_after(stub, tmp_path, 1, page_size=2)
    serve_feet(stub, shapes)
    found = fetch(stub, tmp_path, page_size=2)
    assert "resumed" not in kinds(found)
    assert [shape.equals(true) for shape, true in zip(found.geometries, shapes, strict=True)] == [True] * 4


@pytest.mark.parametrize("reference", [FEET, {"wkid": 999_999}])
@pytest.mark.parametrize("name", NOT_VALID)
def test_what_is_not_valid_fares_alike_out_of_a_service(
    stub: FeatureStub, tmp_path: Path, name: str, reference: Any
) -> None:
    shape, ground = NOT_VALID[name]
    serve_feet(stub, [square(500_000, 600_000, 1000), shape], reference)
    # Whether the service's own sum has the ground that is not one is not what is looked at.
    stub.layer["supportsStatistics"] = False
    stub.layer["advancedQueryCapabilities"] = {}
    features = fetch(stub, tmp_path)
    changed = [change for change in features.changes if change.effect != "noted"]
    # A ring that lies elsewhere is no hole by the format, and ground of its own.
    assert [change.kind for change in changed] == (["hole_outside"] if name == "a hole elsewhere" else [])
    if name == "a hole elsewhere":
        layer, _ = make_layer(features, manifest_of("planning_areas"), LoadOptions(partial=True))
        assert layer.geometry(1).area == pytest.approx(3000**2 + 1000 * 900, rel=1e-4)
        return
    if ground is None:
        with pytest.raises(LayerFault, match="row 2") as caught:
            make_layer(features, manifest_of("planning_areas"), LoadOptions(partial=True))
        assert caught.value.fault == "repair_too_large"
        return
    layer, report = make_layer(features, manifest_of("planning_areas"), LoadOptions(partial=True))
    assert "repaired" in {change.kind for change in report.changes}
    assert shapely.symmetric_difference(layer.geometry(1), ground).area < 0.1 * ground.length
