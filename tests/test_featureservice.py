"""Feature services: whole or not at all, whatever the server does."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import shapely
from drawn import manifest_of, square
from feature_servers import (
    Answer,
    Asked,
    FeatureStub,
    loopback_guard,
    municipalities,
    planning_areas,
    square_feature,
)
from test_makelayer import NOT_VALID

from grownj_geo.features import Features, LayerFault, LoadOptions
from grownj_geo.featureservice import describe_service, fetch_features
from grownj_geo.makelayer import make_layer
from grownj_geo.servicelayer import layer_url
from grownj_geo.units import to_lonlat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def stub() -> Iterator[FeatureStub]:
    """Yield a server with seven features that gives three at once."""
    with FeatureStub([square_feature(number) for number in range(1, 8)], cap=3) as server:
        yield server


def fetch(stub: FeatureStub, folder: Path, **more: Any) -> Features:
    limits = more.pop("limits", {})
    return fetch_features(stub.layer_url, guard=loopback_guard(stub.url, **limits), work_folder=folder / "work", **more)


def fault(stub: FeatureStub, folder: Path, **more: Any) -> LayerFault:
    with pytest.raises(LayerFault) as caught:
        fetch(stub, folder, **more)
    return caught.value


def kinds(features: Features) -> dict[str, int]:
    return {change.kind: change.count for change in features.changes}


def assert_whole(features: Features, count: int = 7) -> None:
    """Say whether exactly the drawn features came."""
    drawn = [square_feature(number) for number in range(1, count + 1)]
    assert features.columns["OBJECTID"] == list(range(1, count + 1))
    assert features.columns["SPDETAIL"] == [one["attributes"]["SPDETAIL"] for one in drawn]
    assert [shape.wkt for shape in features.geometries] == [
        shapely.Polygon(one["geometry"]["rings"][0]).wkt for one in drawn
    ]
    assert features.crs == "EPSG:4326"


def instead(kind: str, *answers: Answer | None) -> Callable[[Asked], Answer | None]:
    """Return a rule: these answers to the first questions of a kind, the honest ones after that (None: honest)."""
    left = list(answers)

    def rule(asked: Asked) -> Answer | None:
        return left.pop(0) if asked.kind == kind and left else None

    return rule


def always(kind: str, answer: Callable[[Asked], Answer | None]) -> Callable[[Asked], Answer | None]:
    return lambda asked: answer(asked) if asked.kind == kind else None


# --- the usual way


@pytest.mark.parametrize("page_size", [None, 1, 2, 3, 1000])
def test_all_features_come_whatever_the_page_size(stub: FeatureStub, tmp_path: Path, page_size: int | None) -> None:
    found = fetch(stub, tmp_path, page_size=page_size)
    assert_whole(found)
    assert found.source == stub.layer_url
    assert found.columns["CENDATE"] == [date(2017, 4, 17)] * 7
    assert kinds(found) == {"announced": 7, "area_compared": 7}
    assert all(len(asked.ids) <= min(page_size or 3, 3) for asked in stub.pages)


def test_the_service_says_what_it_is(stub: FeatureStub) -> None:
    facts = describe_service(f"{stub.layer_url}/?f=pjson", guard=loopback_guard(stub.url))
    assert (facts.url, facts.name, facts.count) == (stub.layer_url, "Planning areas", 7)
    assert (facts.last_edited, facts.wkid, facts.max_record_count) == (date(2017, 7, 14), 4326, 3)
    assert (facts.object_id_field, facts.area_field) == ("OBJECTID", "Shape__Area")
    assert facts.copyright_text == "Not to be given to others."
    assert facts.fields["CENDATE"] == "esriFieldTypeDate"


def test_only_the_fields_that_were_asked_for(stub: FeatureStub, tmp_path: Path) -> None:
    found = fetch(stub, tmp_path, fields=["spdetail"])
    assert list(found.columns) == ["OBJECTID", "SPDETAIL"]
    assert {asked.params["outFields"] for asked in stub.pages} == {"OBJECTID,SPDETAIL"}


def test_progress_is_told(stub: FeatureStub, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    fetch(stub, tmp_path, progress=lambda have, of: told.append((have, of)))
    assert told == [(0, 7), (3, 7), (6, 7), (7, 7)]


def test_a_choice_of_features_is_asked_for_in_every_question(stub: FeatureStub, tmp_path: Path) -> None:
    fetch(stub, tmp_path, where="STATE='34'")
    assert {asked.params["where"] for asked in stub.log if asked.kind != "layer"} == {"STATE='34'"}


def test_long_lists_of_ids_are_sent_by_post(tmp_path: Path) -> None:
    with FeatureStub([square_feature(number) for number in range(1, 1201)]) as stub:
        assert_whole(fetch(stub, tmp_path), 1200)
        assert [(asked.method, len(asked.ids)) for asked in stub.pages] == [("POST", 1200)]


def test_a_layer_with_one_feature_more_than_a_page(tmp_path: Path) -> None:
    with FeatureStub([square_feature(number) for number in range(1, 2002)]) as stub:
        assert_whole(fetch(stub, tmp_path), 2001)
        assert [len(asked.ids) for asked in stub.pages] == [2000, 1]


def test_an_empty_layer_is_empty(stub: FeatureStub, tmp_path: Path) -> None:
    stub.features = []
    found = fetch(stub, tmp_path)
    assert len(found) == 0
    assert "area_not_compared" in kinds(found)


# --- servers that give less than was asked for


def test_a_server_that_gives_fewer_than_it_says_it_does(tmp_path: Path) -> None:
    with FeatureStub([square_feature(number) for number in range(1, 41)], cap=3) as stub:
        stub.layer["maxRecordCount"] = 1000
        assert_whole(fetch(stub, tmp_path), 40)
        assert len(stub.pages) < 40


def test_a_short_page_without_the_more_flag(tmp_path: Path) -> None:
    with FeatureStub([square_feature(number) for number in range(1, 41)], cap=3) as stub:
        stub.layer["maxRecordCount"] = 1000
        wanted = always("page", lambda asked: Answer.of({**stub.honest(asked), "exceededTransferLimit": False}))
        stub.rules.append(wanted)
        assert_whole(fetch(stub, tmp_path), 40)


def test_an_empty_page_with_the_more_flag(stub: FeatureStub, tmp_path: Path) -> None:
    empty = Answer.of(stub.page([], flag=True))
    stub.rules.append(instead("page", None, empty, empty))
    assert_whole(fetch(stub, tmp_path))


def test_empty_pages_with_the_more_flag_for_ever(stub: FeatureStub, tmp_path: Path) -> None:
    stub.rules.append(always("page", lambda _: Answer.of(stub.page([], flag=True))))
    error = fault(stub, tmp_path)
    assert error.fault == "incomplete_fetch"
    assert "0 of 7" in str(error)


def test_three_features_short(stub: FeatureStub, tmp_path: Path) -> None:
    kept = [one for one in stub.features if one["attributes"]["OBJECTID"] not in {2, 5, 6}]
    stub.rules.append(
        always(
            "page", lambda asked: Answer.of(stub.page([f for f in kept if f["attributes"]["OBJECTID"] in asked.ids]))
        )
    )
    error = fault(stub, tmp_path)
    assert error.fault == "incomplete_fetch"
    assert "4 of 7" in str(error)
    assert "2, 5, 6" in str(error)
    stub.rules.clear()
    later = fetch(stub, tmp_path)
    assert_whole(later)
    assert kinds(later)["resumed"] == 4


def test_fewer_ids_than_announced(stub: FeatureStub, tmp_path: Path) -> None:
    stub.rules.append(always("ids", lambda _: Answer.of({"objectIds": [1, 2, 3]})))
    error = fault(stub, tmp_path)
    assert error.fault == "incomplete_fetch"
    assert "7" in str(error)
    assert not stub.pages


def test_a_server_that_ignores_the_ids(stub: FeatureStub, tmp_path: Path) -> None:
    stub.rules.append(always("page", lambda _: Answer.of(stub.page(stub.features))))
    error = fault(stub, tmp_path)
    assert error.fault == "incomplete_fetch"
    assert "3 of 7" in str(error)


def test_pages_that_overlap(stub: FeatureStub, tmp_path: Path) -> None:
    def rule(asked: Asked) -> Answer:
        honest = stub.honest(asked)["features"]
        return Answer.of(stub.page([honest[0], *honest, stub.features[0]], flag=False))

    stub.cap = 5
    stub.rules.append(always("page", rule))
    found = fetch(stub, tmp_path)
    assert_whole(found)
    assert kinds(found)["sent_twice"] == 4  # one in each of three pages, and the first once more in its own
    assert kinds(found)["not_asked_for"] == 2


def test_one_id_for_two_features(stub: FeatureStub, tmp_path: Path) -> None:
    stub.rules.append(
        always(
            "page", lambda asked: Answer.of(stub.page([*stub.honest(asked)["features"], square_feature(1, P2ACRES=9)]))
        )
    )
    stub.cap = 9
    assert fault(stub, tmp_path).fault == "duplicate_ids"


def test_one_id_twice_in_the_list(stub: FeatureStub, tmp_path: Path) -> None:
    stub.rules.append(always("ids", lambda _: Answer.of({"objectIds": [1, 2, 3, 4, 5, 6, 6]})))
    assert fault(stub, tmp_path).fault == "duplicate_ids"


# --- errors


def test_an_error_with_status_200_is_asked_again(stub: FeatureStub, tmp_path: Path) -> None:
    broken = Answer.of({"error": {"code": 500, "message": "Error performing query operation", "details": ["busy"]}})
    stub.rules += [instead(kind, broken, broken) for kind in ("layer", "count", "ids", "page")]
    assert_whole(fetch(stub, tmp_path))


def test_an_error_with_status_200_that_stays(stub: FeatureStub, tmp_path: Path) -> None:
    words = {"code": 400, "message": "Cannot perform query\x1b[2J", "details": ["no such column"]}
    stub.rules.append(always("page", lambda _: Answer.of({"error": words})))
    error = fault(stub, tmp_path)
    assert error.fault == "service_error"
    assert "Cannot perform query" in str(error)
    assert "no such column" in str(error)
    assert str(error).isprintable()


def test_pages_that_are_too_much_for_the_server_are_halved(stub: FeatureStub, tmp_path: Path) -> None:
    def rule(asked: Asked) -> Answer | None:
        return Answer(status=500) if len(asked.ids) > 1 else None

    stub.rules.append(always("page", rule))
    assert_whole(fetch(stub, tmp_path))


def test_pages_that_are_too_large_are_halved(stub: FeatureStub, tmp_path: Path) -> None:
    one = len(json.dumps(stub.page(stub.features[:1])))
    found = fetch(stub, tmp_path, limits={"max_bytes": max(one + 50, len(json.dumps(stub.layer)) + 1)}, page_size=3)
    assert_whole(found)


def test_a_service_that_wants_a_sign_in(stub: FeatureStub, tmp_path: Path) -> None:
    stub.rules.append(always("layer", lambda _: Answer.of({"error": {"code": 499, "message": "Token Required"}})))
    assert fault(stub, tmp_path).fault == "sign_in"
    assert len(stub.log) == 1


def test_a_busy_server_is_asked_again(stub: FeatureStub, tmp_path: Path) -> None:
    stub.rules.append(instead("page", Answer(status=429, headers={"Retry-After": "0"}), Answer(status=503)))
    assert_whole(fetch(stub, tmp_path))


def gzipped(value: Any, *, cut: int = 0) -> Answer:
    packed = gzip.compress(json.dumps(value).encode())
    return Answer(packed[: len(packed) - cut], headers={"Content-Encoding": "gzip"})


def test_a_packed_page_that_is_cut_short(stub: FeatureStub, tmp_path: Path) -> None:
    stub.rules.append(instead("page", gzipped(stub.page(stub.features[:3]), cut=9)))
    assert_whole(fetch(stub, tmp_path))
    stub.rules.append(always("page", lambda asked: gzipped(stub.honest(asked), cut=9)))
    assert fault(stub, tmp_path, where="2=2").fault == "cut_short"


def test_a_page_cut_inside_the_list(stub: FeatureStub, tmp_path: Path) -> None:
    text = json.dumps(stub.page(stub.features[:3])).encode()
    stub.rules.append(instead("page", Answer(text[: len(text) // 2]), Answer(text[:50], promised=len(text))))
    assert_whole(fetch(stub, tmp_path))


def test_a_page_that_drips_in(stub: FeatureStub, tmp_path: Path) -> None:
    drip = Answer(json.dumps(stub.page(stub.features)).encode(), drip_s=0.05)
    stub.rules.append(always("page", lambda _: drip))
    assert fault(stub, tmp_path, limits={"reply_s": 0.3}).fault == "too_slow"


def test_a_page_for_people(stub: FeatureStub, tmp_path: Path) -> None:
    stub.rules.append(
        always("layer", lambda _: Answer(b"<html><body>Please sign in to the guest network</body></html>"))
    )
    assert fault(stub, tmp_path).fault == "bad_reply"


@pytest.mark.parametrize("value", [[], "text", {"count": "7"}, {"count": -1}, {"count": True}, {"count": None}, {}])
def test_a_count_that_is_none(stub: FeatureStub, tmp_path: Path, value: Any) -> None:
    stub.rules.append(always("count", lambda _: Answer.of(value)))
    assert fault(stub, tmp_path).fault == "bad_reply"


@pytest.mark.parametrize("value", [{}, {"objectIds": "1,2"}, {"objectIds": ["1"]}, {"objectIds": [1.5]}])
def test_ids_that_are_none(stub: FeatureStub, tmp_path: Path, value: Any) -> None:
    stub.rules.append(always("ids", lambda _: Answer.of(value)))
    assert fault(stub, tmp_path).fault == "bad_reply"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"geometryType": None, "type": "Table"}, "not_features"),
        ({"geometryType": "esriGeometryMultiPatch"}, "not_features"),
        ({"objectIdField": "", "fields": []}, "not_features"),
        ({"fields": [{"name": "SPDETAIL", "type": "esriFieldTypeString"}]}, "missing_field"),
        ({"fields": "none"}, "bad_reply"),
        ({"editingInfo": {"lastEditDate": "yesterday"}}, "bad_reply"),
        ({"editingInfo": {"lastEditDate": 1e30}}, "bad_reply"),
        ({"extent": {"spatialReference": {"wkid": "feet"}}}, "bad_reply"),
    ],
)
def test_layers_that_are_none(stub: FeatureStub, tmp_path: Path, change: dict[str, Any], expected: str) -> None:
    stub.layer |= change
    assert fault(stub, tmp_path).fault == expected


def test_a_field_that_the_service_does_not_have(stub: FeatureStub, tmp_path: Path) -> None:
    error = fault(stub, tmp_path, fields=["MGT_NAME"])
    assert error.fault == "missing_field"
    assert "MGT_NAME" in str(error)
    assert "SPDETAIL" in str(error)


def test_a_page_without_a_field(stub: FeatureStub, tmp_path: Path) -> None:
    stub.features[4]["attributes"].pop("SPDETAIL")
    error = fault(stub, tmp_path)
    assert error.fault == "missing_field"
    assert "object 5" in str(error)


@pytest.mark.parametrize(
    "reference", [None, {}, "4326", {"wkid": 102100, "latestWkid": 3857}, {"wkid": 4326, "latestWkid": 3424}]
)
def test_another_reference_system_than_was_asked_for(stub: FeatureStub, tmp_path: Path, reference: Any) -> None:
    stub.rules.append(always("page", lambda asked: Answer.of({**stub.honest(asked), "spatialReference": reference})))
    assert fault(stub, tmp_path).fault == "crs_not_confirmed"


def test_feet_where_degrees_were_promised(stub: FeatureStub, tmp_path: Path) -> None:
    stub.features[2]["geometry"] = {"rings": [[[5e5, 6e5], [5e5, 7e5], [6e5, 7e5], [6e5, 6e5], [5e5, 6e5]]]}
    error = fault(stub, tmp_path)
    assert error.fault == "crs_not_confirmed"
    assert "object 3" in str(error)


@pytest.mark.parametrize("feature", [None, "text", {}, {"attributes": {"OBJECTID": "1"}}, {"attributes": [1]}])
def test_features_that_are_none(stub: FeatureStub, tmp_path: Path, feature: Any) -> None:
    stub.rules.append(always("page", lambda _: Answer.of(stub.page([feature]))))
    assert fault(stub, tmp_path).fault == "missing_field"


# --- the service's own coordinate system

FEET = {"wkid": 102711, "latestWkid": 3424}


def serve_feet(stub: FeatureStub, shapes: list[Any], reference: Any = None) -> None:
    """Have the stub keep areas in State Plane feet, and bring vertices over where it is asked for degrees."""
    stub.features = [square_feature(number, Shape__Area=shape.area) for number, shape in enumerate(shapes, 1)]
    for feature, shape in zip(stub.features, shapes, strict=True):
        feature["geometry"] = {"rings": [shapely.get_coordinates(ring).tolist() for ring in rings_of(shape)]}
    stub.layer["extent"] = {"spatialReference": FEET if reference is None else reference}
    stub.layer["maxRecordCount"] = stub.cap = 100

    def rule(asked: Asked) -> Answer | None:
        if asked.kind == "extent":
            return Answer.of({"extent": {**stub.honest(asked)["extent"], "spatialReference": FEET}})
        if asked.kind != "page":
            return None
        page = json.loads(json.dumps(stub.honest(asked)))
        if asked.params["outSR"] == "3424":
            return Answer.of({**page, "spatialReference": FEET})
        assert asked.params["outSR"] == "4326"
        for feature in page["features"]:
            feature["geometry"]["rings"] = [
                np.column_stack(to_lonlat(*np.array(ring).T)).tolist() for ring in feature["geometry"]["rings"]
            ]
        return Answer.of(page)

    stub.rules[:] = [lambda _: None, rule]


def rings_of(shape: Any) -> list[Any]:
    """Return rings as the format winds them: outer ones clockwise, holes the other way."""
    found = []
    for part in shapely.get_parts(shape):
        outer, *holes = shapely.get_rings(part)
        found += [outer if not outer.is_ccw else outer.reverse(), *(h if h.is_ccw else h.reverse() for h in holes)]
    return found


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


# --- the service changes


def test_a_service_that_changes_once_is_read_anew(stub: FeatureStub, tmp_path: Path) -> None:
    def edit(asked: Asked) -> None:
        if asked.kind == "page" and len(stub.pages) == 2:
            stub.features[0] = square_feature(1, SPDETAIL="WATER")
            stub.features.append(square_feature(8))
            stub.layer["editingInfo"] = {"lastEditDate": 1_600_000_000_000}

    stub.rules.append(edit)
    found = fetch(stub, tmp_path)
    assert len(found) == 8
    assert found.columns["SPDETAIL"][0] == "WATER"
    assert "resumed" not in kinds(found)


def test_one_removed_and_one_added_is_a_change_too(stub: FeatureStub, tmp_path: Path) -> None:
    stub.layer.pop("editingInfo")

    def edit(asked: Asked) -> None:
        if asked.kind == "page" and len(stub.pages) == 3:
            stub.features[6] = square_feature(9)

    stub.rules.append(edit)
    assert fetch(stub, tmp_path).columns["OBJECTID"] == [1, 2, 3, 4, 5, 6, 9]


def test_a_service_that_keeps_changing(stub: FeatureStub, tmp_path: Path) -> None:
    def edit(asked: Asked) -> None:
        if asked.kind == "page":
            stub.layer["editingInfo"] = {"lastEditDate": 1_600_000_000_000 + len(stub.log)}

    stub.rules.append(edit)
    assert fault(stub, tmp_path).fault == "changed_during_fetch"


# --- stopped and taken up again


def stopped_after(stub: FeatureStub, folder: Path, pages: int, **more: Any) -> None:
    """Fetch until some pages came, and then lose the server."""
    stub.rules.insert(0, always("page", lambda _: None if len(stub.pages) <= pages else Answer(status=404)))
    assert fault(stub, folder, **more).fault == "http_error"
    stub.rules.clear()
    stub.log.clear()


def test_what_came_is_not_asked_for_again(stub: FeatureStub, tmp_path: Path) -> None:
    stopped_after(stub, tmp_path, 2, page_size=2)
    found = fetch(stub, tmp_path, page_size=3)
    assert_whole(found)
    assert kinds(found)["resumed"] == 4
    assert [asked.ids for asked in stub.pages] == [[5, 6, 7]]


def test_nothing_is_written_elsewhere(stub: FeatureStub, tmp_path: Path) -> None:
    fetch(stub, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["work"]


@pytest.mark.parametrize("what", ["where", "fields", "edited", "ids"])
def test_pages_of_another_question_are_not_taken(stub: FeatureStub, tmp_path: Path, what: str) -> None:
    stopped_after(stub, tmp_path, 2)
    more: dict[str, Any] = {}
    if what == "where":
        more["where"] = "2=2"
    elif what == "fields":
        more["fields"] = ["SPDETAIL"]
    elif what == "edited":
        stub.layer["editingInfo"] = {"lastEditDate": 1_600_000_000_000}
    else:
        stub.features.append(square_feature(8))
    found = fetch(stub, tmp_path, **more)
    assert "resumed" not in kinds(found)
    assert len(found) == len(stub.features)
    assert sorted(one for asked in stub.pages for one in asked.ids) == found.columns["OBJECTID"]


def test_damaged_pages_are_fetched_again(stub: FeatureStub, tmp_path: Path) -> None:
    stopped_after(stub, tmp_path, 2)
    page = next((tmp_path / "work").glob("page-*.json"))
    page.write_bytes(page.read_bytes().replace(b"39.", b"38."))
    found = fetch(stub, tmp_path)
    assert_whole(found)
    assert kinds(found)["pages_damaged"] == 1
    assert kinds(found)["resumed"] == 3


# --- compared with the service's own figures


def test_areas_that_do_not_agree(stub: FeatureStub, tmp_path: Path) -> None:
    stub.rules.append(always("sum", lambda _: Answer.of({"features": [{"attributes": {"AREA_SUM": 7.2e-4}}]})))
    error = fault(stub, tmp_path)
    assert error.fault == "area_mismatch"
    assert "2.8%" in str(error)


def test_areas_in_the_layers_own_units(stub: FeatureStub, tmp_path: Path) -> None:
    shapes = [square(480_000 + 9000 * number, 600_000, 3000) for number in range(4)]
    serve_feet(stub, shapes)
    for factor, agrees in ((1.0, True), (1.009, True), (1.011, False), (0.3048**2, False)):
        total = Answer.of({"features": [{"attributes": {"area_sum": 4 * 3000**2 * factor}}]})
        stub.rules[0] = always("sum", lambda _, total=total: total)
        if agrees:
            assert kinds(fetch(stub, tmp_path))["area_compared"] == 4
        else:
            assert fault(stub, tmp_path).fault == "area_mismatch"


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_extents_where_no_areas_are_kept(stub: FeatureStub, tmp_path: Path, shift: float) -> None:
    stub.layer["fields"].pop()

    def rule(asked: Asked) -> Answer:
        extent = stub.honest(asked)["extent"]
        return Answer.of({"extent": {**extent, "ymax": extent["ymax"] + shift}})

    stub.rules.append(always("extent", rule))
    if shift:
        assert fault(stub, tmp_path).fault == "extent_mismatch"
    else:
        assert kinds(fetch(stub, tmp_path))["extent_compared"] == 7


def test_a_service_that_cannot_do_sums_after_all(stub: FeatureStub, tmp_path: Path) -> None:
    stub.rules.append(always("sum", lambda _: Answer.of({"error": {"code": 400, "message": "no"}})))
    found = fetch(stub, tmp_path)
    assert_whole(found)
    assert kinds(found)["extent_compared"] == 7


def test_where_nothing_can_be_compared_it_is_said(stub: FeatureStub, tmp_path: Path) -> None:
    stub.layer["advancedQueryCapabilities"] = {}
    stub.layer["supportsStatistics"] = False
    assert kinds(fetch(stub, tmp_path))["area_not_compared"] == 7


# --- addresses


@pytest.mark.parametrize(
    "url",
    [
        "https://maps.nj.gov/arcgis/rest/services/Framework/Government_Boundaries/MapServer",
        "https://maps.nj.gov/arcgis/rest/services/Framework/Government_Boundaries/MapServer/2?token=abc",
        "https://maps.nj.gov/arcgis/rest/services/Framework/Government_Boundaries/MapServer/two",
        "https://maps.nj.gov/arcgis/rest/services/Tasks/NJ_Geocode/GeocodeServer/0",
        "https://maps.nj.gov/?x=/MapServer/2",
        "",
    ],
)
def test_addresses_of_no_layer(url: str) -> None:
    with pytest.raises(LayerFault) as caught:
        layer_url(url)
    assert caught.value.fault == "not_a_layer_address"


def test_the_guard_is_asked(stub: FeatureStub, tmp_path: Path) -> None:
    with pytest.raises(LayerFault) as caught:
        fetch_features(stub.layer_url, guard=loopback_guard("http://127.0.0.1:9/"), work_folder=tmp_path / "work")
    assert caught.value.fault == "address_refused"
    assert not stub.log


# --- a real feature server


def assert_as_drawn(found: Features, drawn: dict[str, Any]) -> None:
    rows = drawn["features"]
    for name in rows[0]["properties"]:
        assert found.columns[name] == [row["properties"][name] for row in rows], name
    shapes = shapely.from_geojson([json.dumps(row["geometry"]) for row in rows])
    # The service's format does not tell a polygon from a collection of one.
    ours, theirs = (
        np.array([shapely.normalize(shapely.multipolygons(shapely.get_parts(shape))) for shape in some])
        for some in (found.geometries, shapes)
    )
    assert shapely.equals_exact(ours, theirs, tolerance=1e-12).all()


@pytest.mark.slow
@pytest.mark.parametrize("page_size", [100, 1000])
@pytest.mark.parametrize("name", ["municipalities", "planning_areas"])
def test_a_real_server_gives_everything(services: str, tmp_path: Path, name: str, page_size: int) -> None:
    found = fetch_features(
        f"{services}/{name}/FeatureServer/0",
        guard=loopback_guard(services),
        work_folder=tmp_path / "work",
        page_size=page_size,
    )
    drawn = municipalities() if name == "municipalities" else planning_areas()
    assert len(found) == {"municipalities": 565, "planning_areas": 3114}[name]
    assert_as_drawn(found, drawn)
    assert {change.effect for change in found.changes} == {"noted"}
    assert kinds(found)["extent_compared"] == len(found)


_CLIENT = """
import sys
from dataclasses import replace
from pathlib import Path
from grownj_geo.featureservice import fetch_features
from grownj_geo.netguard import Guard

url, folder = sys.argv[1:]
guard = Guard(frozenset(), allow_private=True).naming(url)
fetch_features(url, guard=guard, work_folder=Path(folder), page_size=100, polite_s=0.2)
print("finished")
"""


@pytest.mark.slow
def test_a_client_that_was_killed_goes_on(services: str, tmp_path: Path) -> None:
    url = f"{services}/planning_areas/FeatureServer/0"
    folder = tmp_path / "killed"
    with subprocess.Popen(
        [sys.executable, "-c", _CLIENT, url, str(folder)], stdout=subprocess.PIPE, text=True
    ) as client:
        end = time.monotonic() + 60
        while len(list(folder.glob("page-*.json"))) < 5 and client.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        os.kill(client.pid, signal.SIGKILL)
        said, _ = client.communicate(timeout=30)
    assert "finished" not in said
    assert client.returncode == -signal.SIGKILL
    guard = loopback_guard(services)
    resumed = fetch_features(url, guard=guard, work_folder=folder, page_size=1000)
    whole = fetch_features(url, guard=guard, work_folder=tmp_path / "whole", page_size=1000)
    assert 500 <= kinds(resumed)["resumed"] < 3114
    assert resumed.columns == whole.columns
    assert [shape.wkb for shape in resumed.geometries] == [shape.wkb for shape in whole.geometries]
    assert_as_drawn(resumed, planning_areas())
