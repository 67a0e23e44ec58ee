"""Servers that give less than they say, fail, or change meanwhile: nothing is taken for whole that is not."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from feature_servers import (
    Answer,
    Asked,
    FeatureStub,
    square_feature,
)
from service_asking import always, assert_whole, fault, fetch, instead, kinds, stopped_after

if TYPE_CHECKING:
    from pathlib import Path


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
