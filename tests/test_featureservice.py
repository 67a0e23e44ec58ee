"""Feature services: whole or not at all, whatever the server does."""

from __future__ import annotations

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
from drawn import square
from feature_servers import (
    Answer,
    Asked,
    FeatureStub,
    loopback_guard,
    municipalities,
    planning_areas,
    square_feature,
)
from service_asking import always, assert_whole, fault, fetch, kinds, serve_feet

from grownj_geo.features import Features, LayerFault
from grownj_geo.featureservice import describe_service, fetch_features
from grownj_geo.servicelayer import layer_url

if TYPE_CHECKING:
    from pathlib import Path


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
