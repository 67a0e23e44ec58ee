"""From a service to an answer: terms, whole or not at all, killed and resumed, offline, tracts with poverty."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import pytest
from drawn import around
from feature_servers import Answer, Asked, FeatureStub, LoopbackServer, square_feature
from typer.testing import CliRunner, Result

from grownj_geo import cli, fetching, netguard
from grownj_geo.atlas import load_atlas
from grownj_geo.errors import LayerError
from grownj_geo.features import LayerFault, LoadOptions
from grownj_geo.fetching import FetchOptions, fetch_layer, fetchable, terms_accepted_at
from grownj_geo.manifest import load_manifests
from grownj_geo.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOOPBACK = ("--accept-terms", "--allow-private")
PART = LoadOptions(partial=True)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GROWNJ_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def stub() -> Iterator[FeatureStub]:
    with FeatureStub([square_feature(number) for number in range(1, 12)], cap=3) as server:
        yield server


def run(*words: str) -> Result:
    return CliRunner().invoke(cli.app, ["layers", *words])


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a server that does not answer given up sooner than people would like."""
    usual = fetching._guard  # noqa: SLF001 - limits are not for callers to set
    monkeypatch.setattr(fetching, "_guard", lambda *a: replace(usual(*a), tries=2, backoff_s=0.01))


def how(stub: FeatureStub, **more: Any) -> FetchOptions:
    return FetchOptions(url=stub.layer_url, accept_terms=True, allow_private=True, polite_s=0.0, **more)


def test_the_layers_with_a_service_are_those_whose_manifest_names_one() -> None:
    named = {m.id for m in load_manifests().values() if m.source_url and not m.ships}
    assert set(fetchable()) == named | {"census_tract_poverty"}


# -- whole or not at all --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("page_size", ["100", "1000"])
def test_a_statewide_layer_is_fetched_whole_and_answers(services: str, page_size: str) -> None:
    url = f"{services}/planning_areas/FeatureServer/0"
    done = run("fetch", "planning_areas", "--url", url, "--page-size", page_size, *LOOPBACK)
    assert done.exit_code == 0, done.output
    (held,) = Store().held()
    assert held.edition is not None
    assert held.edition.features == held.edition.origin.announced == 3114
    assert held.edition.origin.terms_accepted_at is not None
    assert held.edition.manifest.complete
    assert load_atlas().state("planning_areas").status == "loaded"
    assert not list((Store().home / "fetching").glob("*/"))
    found = CliRunner().invoke(cli.app, ["check", "40.4,-74.66"]).stdout
    assert held.name in found
    assert f"fetched from {url}" in " ".join(found.split())


@pytest.mark.slow
def test_a_killed_fetch_leaves_no_edition_and_goes_on(services: str, home: Path) -> None:
    url = f"{services}/planning_areas/FeatureServer/0"
    words = ["layers", "fetch", "planning_areas", "--url", url, "--page-size", "100", *LOOPBACK]
    command = [sys.executable, "-m", "grownj_geo", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        end = time.monotonic() + 60
        while len(list(home.glob("fetching/*/pages/page-*"))) < 5 and process.poll() is None:
            assert time.monotonic() < end
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=30)
    assert process.returncode == -signal.SIGKILL
    assert Store().held() == ()
    assert load_atlas().state("planning_areas").status == "missing"
    done = CliRunner().invoke(cli.app, [*words, "--json"])
    assert done.exit_code == 0, done.output
    (record,) = json.loads(done.stdout)
    assert record["kept"] == 3114
    resumed = next(change for change in record["changes"] if change["kind"] == "resumed")
    assert 0 < resumed["count"] < 3114


def _three_short(asked: Asked, stub: FeatureStub) -> Answer | None:
    if asked.kind != "page":
        return None
    wanted = set(asked.ids) - {4, 5, 6}
    return Answer.of(stub.page([f for f in stub.features if f["attributes"]["OBJECTID"] in wanted], flag=False))


def _error_with_status_200(asked: Asked, _stub: FeatureStub) -> Answer | None:
    return (
        Answer.of({"error": {"code": 500, "message": "Unable to complete operation."}})
        if asked.kind == "page"
        else None
    )


@pytest.mark.parametrize("misbehave", [_three_short, _error_with_status_200])
def test_a_service_that_does_not_give_all_activates_nothing(stub: FeatureStub, misbehave: Any) -> None:
    stub.rules.append(lambda asked: misbehave(asked, stub))
    with pytest.raises(LayerFault) as refused:
        fetch_layer("planning_areas", fetch=how(stub), options=PART)
    assert refused.value.fault in {"incomplete_fetch", "service_error"}
    assert Store().held() == ()
    # An edition that is there stays when a later fetch fails.
    stub.rules.clear()
    kept = fetch_layer("planning_areas", fetch=how(stub), options=PART).edition
    assert kept is not None
    stub.features = stub.features[:-1]
    stub.rules.append(lambda asked: misbehave(asked, stub))
    with pytest.raises(LayerFault):
        fetch_layer("planning_areas", fetch=how(stub), options=PART)
    assert [held.name for held in Store().held()] == [kept.name]
    assert load_atlas().state("planning_areas").status == "loaded"


def test_the_edition_is_dated_by_the_service_s_last_edit(stub: FeatureStub) -> None:
    edition = fetch_layer("planning_areas", fetch=how(stub), options=PART).edition
    assert edition is not None
    assert str(edition.manifest.edition) == "2017-07-14"  # 1,500,000,000,000 ms after 1970
    del stub.layer["editingInfo"]
    edition = fetch_layer("planning_areas", fetch=how(stub), options=PART).edition
    assert edition is not None
    assert edition.manifest.edition == edition.origin.retrieved_at.date()


def test_too_few_features_are_refused_however_whole_they_came(stub: FeatureStub) -> None:
    with pytest.raises(LayerFault) as refused:
        fetch_layer("planning_areas", fetch=how(stub))
    assert refused.value.fault == "too_few"
    assert Store().held() == ()


def test_a_choice_of_features_is_a_part_and_is_named(stub: FeatureStub) -> None:
    for number, feature in enumerate(stub.features):
        x = -74.44 + 0.001 * number
        feature["geometry"]["rings"] = [[[x, 39.36], [x, 39.361], [x + 0.001, 39.361], [x + 0.001, 39.36], [x, 39.36]]]
        feature["attributes"]["Shape__Area"] = 0.000001
    loaded = fetch_layer("atlantic_city_tourism_district", fetch=how(stub, where="OBJECTID > 0"))
    assert not loaded.layer.manifest.complete
    assert loaded.edition is not None
    assert loaded.edition.origin.where == "OBJECTID > 0"
    assert "where OBJECTID > 0" in loaded.edition.origin.words
    whole = fetch_layer("atlantic_city_tourism_district", fetch=how(stub))
    assert whole.layer.manifest.complete


# -- terms, addresses, offline --------------------------------------------------------------------------


def test_terms_are_shown_and_accepted_once(stub: FeatureStub) -> None:
    address = ("--url", stub.layer_url, "--allow-private", "--partial")
    done = run("fetch", "planning_areas", *address)
    assert done.exit_code == 2
    assert "license agreement" in done.stderr
    assert "--accept-terms" in done.stderr
    assert not stub.log
    manifest = load_manifests()["planning_areas"]
    assert terms_accepted_at(manifest, Store()) is None
    assert run("fetch", "planning_areas", *address, "--accept-terms").exit_code == 0
    assert terms_accepted_at(manifest, Store()) is not None
    assert run("fetch", "planning_areas", *address).exit_code == 0
    # Other words have to be accepted again, and other layers' are not.
    assert terms_accepted_at(manifest.model_copy(update={"terms": "Other words."}), Store()) is None
    assert terms_accepted_at(load_manifests()["highlands_region"], Store()) is None


def test_a_damaged_file_of_terms_is_said(home: Path, stub: FeatureStub) -> None:
    home.mkdir()
    (home / "terms.json").write_text("{")
    with pytest.raises(LayerError, match=r"terms\.json cannot be read"):
        fetch_layer("planning_areas", fetch=how(stub))


def test_an_inner_address_needs_leave(stub: FeatureStub) -> None:
    for url, said in ((stub.layer_url.replace("http:", "https:"), "--allow-private"), (stub.layer_url, "plain http")):
        done = run("fetch", "planning_areas", "--url", url, "--accept-terms")
        assert done.exit_code == 2
        assert said in done.stderr
    assert not stub.log


def test_offline_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_names(_host: str, _port: int) -> list[str]:
        raise OSError(-3, "Temporary failure in name resolution")

    monkeypatch.setattr(netguard, "_resolve", no_names)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(LayerFault) as refused:
        fetch_layer("highlands_region", fetch=FetchOptions(accept_terms=True))
    assert refused.value.fault == "offline"
    assert "network" in str(refused.value)


def test_two_fetches_of_one_layer_do_not_mix(stub: FeatureStub) -> None:
    def while_it_runs(_done: int, _total: int) -> None:
        with pytest.raises(LayerFault) as refused:
            fetch_layer("planning_areas", fetch=how(stub), options=PART)
        assert refused.value.fault == "being_fetched"

    asked = []
    fetch_layer(
        "planning_areas", fetch=how(stub), options=PART, progress=lambda d, t: (asked.append(d), while_it_runs(d, t))[0]
    )
    assert asked


def test_one_of_several_that_fails_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grownj_geo.fetching.fetchable", lambda: ("planning_areas", "highlands_region"))
    fetched: list[str] = []

    def one(name: str, **_more: Any) -> Any:
        fetched.append(name)
        raise LayerFault("offline", f"{name} cannot be reached.")

    monkeypatch.setattr("grownj_geo.fetching.fetch_layer", one)
    done = run("fetch", "--all", "--accept-terms")
    assert done.exit_code == 2
    assert fetched == ["planning_areas", "highlands_region"]
    assert "Not fetched: planning_areas, highlands_region" in done.stderr


# -- files and tracts -----------------------------------------------------------------------------------


def test_a_zipped_download_becomes_an_edition(tmp_path: Path) -> None:
    path = tmp_path / "areas.gpkg"
    frame = gpd.GeoDataFrame({"SPDETAIL": ["SUBURBAN"]}, geometry=[around((-74.66, 40.42), 5000.0)], crs="EPSG:3424")
    frame.to_file(path)
    with zipfile.ZipFile(tmp_path / "areas.zip", "w") as archive:
        archive.write(path, "State Plan/areas.gpkg")
    content = (tmp_path / "areas.zip").read_bytes()
    with LoopbackServer(lambda _asked: Answer(body=content, headers={"Content-Type": "application/zip"})) as server:
        done = run("fetch", "planning_areas", "--url", f"{server.url}/areas.zip", *LOOPBACK, "--partial")
    assert done.exit_code == 0, done.output
    assert load_atlas().state("planning_areas").status == "loaded"


def test_nothing_can_be_chosen_of_a_file() -> None:
    done = run("fetch", "planning_areas", "--url", "https://example.com/a.zip", "--where", "A=1", "--accept-terms")
    assert done.exit_code == 2
    assert "Leave --where out" in done.stderr


def test_an_address_that_is_neither_a_layer_nor_a_file_is_refused() -> None:
    done = run("fetch", "planning_areas", "--url", "https://example.com/portal", "--accept-terms")
    assert done.exit_code == 2
    assert "neither a layer of a service" in done.stderr


@pytest.mark.parametrize(("acs", "code"), [("2011-2015", 0), ("2016-2020", 2)])
def test_tracts_are_fetched_with_their_poverty(stub: FeatureStub, acs: str, code: int) -> None:
    numbers = [f["attributes"]["OBJECTID"] for f in stub.features]
    for feature in stub.features:
        number = feature["attributes"]["OBJECTID"]
        feature["attributes"] |= {"GEOID10": f"3401300{number:02d}00", "NAMELSAD10": f"Census Tract {number}"}
    stub.layer["fields"] += [
        {"name": "GEOID10", "type": "esriFieldTypeString"},
        {"name": "NAMELSAD10", "type": "esriFieldTypeString"},
    ]
    rows = [["NAME", "B17001_001E", "B17001_002E", "state", "county", "tract"]]
    rows += [["t", "1000", str(90 * n), "34", "013", f"00{n:02d}00"] for n in numbers]
    asked: list[str] = []

    def census(question: Asked) -> Answer:
        asked.append(question.path)
        return Answer.of(rows)

    with LoopbackServer(census) as server:
        done = run(
            "fetch",
            "census_tract_poverty",
            "--acs",
            acs,
            "--url",
            stub.layer_url,
            "--poverty-url",
            f"{server.url}/data/2015/acs/acs5",
            *LOOPBACK,
            "--partial",
        )
    assert done.exit_code == code, done.output
    if code:
        assert "2020" in done.stderr
        assert Store().held() == ()
        return
    layer = load_atlas().layer("census_tract_poverty")
    assert layer is not None
    assert [layer.figure("poverty_rate", i) for i in range(3)] == [9.0, 18.0, 27.0]
    assert {layer.value("acs_edition", i) for i in range(len(layer))} == {"2011-2015"}
    assert asked
