"""Places over HTTP: online locators that answer, fail or dawdle are said and harm nobody; without, nothing leaves."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from feature_servers import Answer
from geocoding_servers import CAMDEN_SIDE, NEWARK_HALL, CensusServer
from serving import load_parcels, parcels_file, serving

from grownj_geo.atlas import DEFAULT_AS_OF
from grownj_geo.serveasked import CreditAsk
from grownj_geo.servefinding import Finding
from grownj_geo.serveguard import GuardOptions
from grownj_geo.servelog import RequestLog
from grownj_geo.serveproblems import ProblemError
from grownj_geo.servestate import State

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx
    from feature_servers import Asked
    from serving import Served

HALL = "920 Broad St, Newark"
_TRAP = """
import os, socket
_told = os.environ["GROWNJ_TEST_TRAP"]
def _local(place):
    return not isinstance(place, tuple) or str(place[0]) in {"127.0.0.1", "::1", "localhost", "0.0.0.0"}
def _refused(name, place):
    with open(_told, "a") as file:
        file.write(f"{name} {place}\\n")
    raise OSError("nothing leaves this machine")
def _watched(name, at):
    before = getattr(socket.socket, name)
    def watched(self, *given):
        if not _local(given[at]):
            _refused(name, given[at])
        return before(self, *given)
    setattr(socket.socket, name, watched)
_watched("connect", 0)
_watched("connect_ex", 0)
_watched("sendto", -1)
def _named(name):
    before = getattr(socket, name)
    def watched(host, *given, **more):
        text = host.decode() if isinstance(host, bytes) else host
        if text is not None and not _local((text, 0)):
            _refused(name, text)
        return before(host, *given, **more)
    setattr(socket, name, watched)
_named("getaddrinfo")
_named("gethostbyname")
"""


@pytest.fixture(scope="module")
def census() -> Iterator[CensusServer]:
    with CensusServer() as server:
        yield server


def _settings(home: Path, census: CensusServer, *, timeout_s: float) -> None:
    own = census.settings(days=0.0)
    lines = ['locators = ["local", "census"]', "cache_days = 0", "[census]", f"url = {json.dumps(own.census.url)}"]
    lines += ["allow_private = true", "rate_per_s = 100.0", f"timeout_s = {timeout_s}"]
    (home / "settings.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _load_planning_areas(folder: Path) -> None:
    ring = [[-75.13, 39.93], [-75.10, 39.93], [-75.10, 39.95], [-75.13, 39.95], [-75.13, 39.93]]
    area = {"OBJECTID": 1, "SPDETAIL": "METROPOLITAN", "SPDETAIL2": "0001", "P2ACRES": 1.0}
    shape = {"type": "Feature", "properties": area, "geometry": {"type": "Polygon", "coordinates": [ring]}}
    file = folder / "areas.geojson"
    file.write_text(json.dumps({"type": "FeatureCollection", "features": [shape]}), encoding="utf-8")
    words = ["layers", "import", "planning_areas", str(file), "--partial", "--edition", "2017-01-01"]
    env = {**os.environ, "GROWNJ_HOME": str(folder / "home")}
    command = [sys.executable, "-m", "grownj_geo", *words]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def asking(census: CensusServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("home")
    _settings(home, census, timeout_s=3.0)
    with serving(home) as found:
        yield found


@pytest.fixture(autouse=True)
def _rules(census: CensusServer) -> Iterator[None]:
    yield
    census.rules.clear()


def _determine(served: Served, **body: Any) -> tuple[int, dict[str, Any]]:
    with served.client() as client:
        answer = client.post("/api/v1/determine", json=body)
    return answer.status_code, answer.json()


def test_what_an_online_locator_gets_is_said_before_it_gets_it(asking: Served) -> None:
    with asking.client() as client:
        about = client.get("/api/v1/about").json()
    (online,) = [locator for locator in about["locators"] if locator["online"]]
    assert online["name"] == "census"
    assert "Census" in online["sends"]


def test_an_address_that_a_locator_finds_is_answered_with_its_uncertainty(asking: Served) -> None:
    status, found = _determine(asking, site=HALL)
    assert status == 200, found
    assert found["site"]["typed"] == HALL
    assert found["site"]["uncertainty_ft"] > 0
    assert "census" in found["site"]["located_by"]
    assert found["place"]["municipality"]["name"] == "Newark City"
    assert found["site"]["longitude"] == pytest.approx(NEWARK_HALL.lon, abs=1e-5)


def test_a_place_on_both_sides_of_a_line_is_open_or_a_choice_and_never_one_of_them(asking: Served) -> None:
    with asking.client() as client:
        shown = client.get("/api/v1/search", params={"q": "1 Line Rd, Camden, NJ 08104"}).json()
    status, found = _determine(asking, site="1 Line Rd")
    assert shown["choices"]
    if status == 200:
        assert found["place"]["kind"] != "certain"
        assert len(found["place"]["candidates"]) == 2
    else:
        assert (status, found["code"]) == (422, "several_places")
        assert len(found["choices"]) == 2


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(b"down for maintenance", status=503), "down"),
        (Answer(b"slow down", status=429, headers={"Retry-After": "0"}), "rate limited"),
        (Answer(b"<html>a page</html>"), "nonsense"),
        (Answer(b'{"result": {"addressMatches": [{"coordinates": {"x": "far"}}]}}'), "nonsense"),
    ],
)
def test_a_locator_that_gives_no_answer_is_said_and_nothing_is_made_up(
    asking: Served, census: CensusServer, answer: Answer, kind: str
) -> None:
    def rule(_: Asked) -> Answer:
        return answer

    census.rules.append(rule)
    # Another number each time: a locator that failed a moment ago may not be asked the same again.
    status, found = _determine(asking, site=HALL)
    assert (status, found["code"]) == (422, "place_not_found")
    (said,) = [each for each in found["asked"] if each["locator"] == "census"]
    assert said["outcome"] == "failed"
    assert kind in said["words"] or "no answer" in said["words"]


def test_an_address_of_a_project_is_looked_up_where_all_are_and_not_where_reports_are_made(
    asking: Served, census: CensusServer
) -> None:
    building = {"premises": "other", "construction": "new", "gross_leasable_sqft": 50000, "site": HALL}
    project = {"business": {"industry": "other"}, "jobs": [{"kind": "new", "count": 100}], "buildings": [building]}
    begun, go_on = threading.Event(), threading.Event()

    def rule(_: Asked) -> None:
        begun.set()
        go_on.wait(2.5)

    def ask(found: list[httpx.Response]) -> None:
        with asking.client() as client:
            found.append(client.post("/api/v1/credits", json={"project": project}))

    census.rules.append(rule)
    found: list[httpx.Response] = []
    with asking.client() as client:
        client.post("/api/v1/report?format=html", json={"site": "40.7144,-74.1641", "map": False})
        waiting = threading.Thread(target=ask, args=(found,))
        waiting.start()
        assert begun.wait(20)
        made = client.post("/api/v1/report?format=html", json={"site": "40.7144,-74.1642", "map": False})
        assert made.status_code == 200
        assert waiting.is_alive(), "the locator kept whoever needs the helper waiting"
        go_on.set()
        waiting.join(30)
        census.rules.clear()
        bare = {key: value for key, value in building.items() if key != "site"}
        nowhere_said = client.post("/api/v1/credits", json={"project": project | {"buildings": [bare]}})
        by_place = client.post(
            "/api/v1/credits", json={"project": project | {"buildings": [bare]}, "place": {"site": HALL}}
        )
        nowhere = building | {"site": "999 Nowhere Blvd, Newark", "id": "north"}
        refused = client.post("/api/v1/credits", json={"project": project | {"buildings": [nowhere]}})
    assert found[0].status_code == 200, found[0].text
    assert found[0].json() == by_place.json() != nowhere_said.json()
    assert refused.status_code == 422
    assert refused.json()["detail"].startswith("Building north: ")
    assert refused.json()["code"] == "place_not_found"


def test_the_places_of_a_project_are_looked_up_within_a_time_however_many_they_are(
    tmp_path: Path, census: CensusServer
) -> None:
    release = threading.Event()
    asked: list[str] = []

    def rule(_: Asked) -> None:
        asked.append("asked")
        release.wait(60)

    def project(*places: str) -> CreditAsk:
        kind = {"premises": "other", "construction": "new", "gross_leasable_sqft": 50000}
        buildings = [{**kind, "id": f"b{i}", "site": place} for i, place in enumerate(places)]
        jobs = [{"kind": "new", "count": 100, "building": "b0"}]
        return CreditAsk(project={"business": {"industry": "other"}, "jobs": jobs, "buildings": buildings})

    async def refused() -> ProblemError:
        state = State(GuardOptions(), RequestLog(io.StringIO()), tmp_path)
        try:
            # Layers and locators are loaded: of the time that is allowed nothing goes into that.
            await state.credits(project(HALL))
            census.rules.append(rule)
            state.places_s = 1.0
            with pytest.raises(ProblemError) as told:
                await state.credits(project("40.7144,-74.1641", *(f"{900 + i} Nowhere St, Newark" for i in range(6))))
            return told.value
        finally:
            release.set()
            state.close()

    _settings(tmp_path, census, timeout_s=60.0)
    problem = asyncio.run(refused())
    assert asked
    assert (problem.status_code, problem.code) == (503, "places_took_too_long")
    assert "places of 7 buildings were not settled within 1 s; it stopped at b1" in str(problem.detail)


def test_a_locator_that_dawdles_keeps_nobody_else_waiting(asking: Served, census: CensusServer) -> None:
    begun = threading.Event()

    def rule(_: Asked) -> None:
        begun.set()
        time.sleep(2.9)

    census.rules.append(rule)
    found: list[tuple[int, dict[str, Any]]] = []
    slow = threading.Thread(target=lambda: found.append(_determine(asking, site="33 Livingston Ave, New Brunswick")))
    slow.start()
    assert begun.wait(20)
    status, _ = _determine(asking, site="40.7144,-74.1641")
    assert status == 200
    # Whoever asked about coordinates has the answer, and whoever asked for the address still waits.
    assert slow.is_alive()
    slow.join(30)
    assert found[0][0] in {200, 422}


def test_what_is_known_here_waits_for_no_locator_however_many_do(tmp_path: Path, census: CensusServer) -> None:
    release = threading.Event()
    began = threading.Semaphore(0)

    def rule(_: Asked) -> None:
        began.release()
        release.wait(60)

    _settings(tmp_path, census, timeout_s=60.0)
    load_parcels(tmp_path, parcels_file(tmp_path / "parcels.geojson"))
    with serving(tmp_path) as served:
        slow = [
            threading.Thread(target=_determine, args=(served,), kwargs={"site": f"{900 + i} Nowhere St, Camden City"})
            for i in range(6)
        ]
        census.rules.append(rule)
        try:
            for thread in slow:
                thread.start()
            assert began.acquire(timeout=30)
            with served.client() as client:
                assert client.get("/api/v1/about").status_code == 200
                assert client.get("/api/v1/suggest", params={"q": "520 Mark"}).json()["suggestions"]
                known = client.get("/api/v1/search", params={"q": "520 Market St, Camden City"}).json()
            assert known["certain"]
            assert _determine(served, site="0408_81_1")[0] == 200
            assert not release.is_set()
            assert all(thread.is_alive() for thread in slow)
        finally:
            release.set()
            for thread in slow:
                thread.join(60)


def test_layers_that_are_added_are_seen_by_whoever_looks_places_up(tmp_path: Path) -> None:
    async def status(finding: Finding) -> str:
        return await finding.run(DEFAULT_AS_OF, lambda finder: finder._atlas.state("planning_areas").status)  # noqa: SLF001 - what it looks in

    async def both() -> tuple[str, str]:
        finding = Finding(tmp_path / "home")
        try:
            before = await status(finding)
            await asyncio.to_thread(_load_planning_areas, tmp_path)
            await asyncio.sleep(2.5)
            return before, await status(finding)
        finally:
            finding.close()

    before, after = asyncio.run(both())
    assert before == "missing"
    assert after != before


def test_what_is_not_sure_is_shown_and_can_be_taken(asking: Served) -> None:
    with asking.client() as client:
        shown = client.get("/api/v1/search", params={"q": "1 Line Rd, Camden"}).json()
    best = shown["choices"][0]
    status, found = _determine(asking, **best["ask"])
    assert status == 200, found
    assert found["site"]["uncertainty_ft"] == best["uncertainty_ft"]
    assert found["site"]["longitude"] == pytest.approx(CAMDEN_SIDE.lon, abs=1e-3)


def test_what_is_certain_is_asked_as_it_was_typed(asking: Served) -> None:
    with asking.client() as client:
        shown = client.get("/api/v1/search", params={"q": HALL}).json()
    assert shown["certain"]
    (best,) = shown["choices"]
    _, typed = _determine(asking, site=HALL)
    _, taken = _determine(asking, **best["ask"])
    assert taken["site"] == typed["site"]


def test_one_place_that_is_not_sure_is_chosen_as_the_answer_of_who_found_it(tmp_path: Path) -> None:
    load_parcels(tmp_path, parcels_file(tmp_path / "parcels.geojson"))
    with serving(tmp_path) as served:
        status, found = _determine(served, site="521 Market St, Camden City")
        assert (status, found["code"]) == (422, "place_not_sure"), found
        (best,) = found["choices"]
        status, taken = _determine(served, **best["ask"])
        assert status == 200, taken
        # A place between neighbours, as a geocoder has it.
        between = {"locator": "census", "kind": "range", "matched": "521 MARKET ST", "score": 0.98}
        place = {"type": "Point", "coordinates": [-75.1195, 39.9448]}
        ask = {"geometry": place, "typed": "521 Market St", "chosen": between | {"uncertainty_ft": 1_381.2}}
        # Whoever states less cannot make it surer than the locator is.
        _, surer = _determine(served, **ask, uncertainty_ft=1.0)
        # Without whose answer it is, it is where somebody set it.
        _, by_hand = _determine(served, geometry=place, typed="521 Market St")
    said = taken["site"]
    assert said["typed"] == "521 Market St, Camden City"
    assert "chosen from what was found" in said["located_by"]
    assert f"(local: street, score {best['score']:.2f}" in said["located_by"]
    assert set(best["notes"]) <= set(said["notes"])
    assert "hand" not in json.dumps(said)
    # Of a street no more is known than its municipality, and that is what is answered for.
    assert (best["geometry"], best["uncertainty_ft"], best["site"]) == (None, None, "Camden City, Camden County")
    assert (said["kind"], said["mun_code"], said["latitude"]) == ("municipality", "0408", None)
    assert surer["site"]["uncertainty_ft"] == 1_381.2
    assert "set by hand" in by_hand["site"]["located_by"]


# -- nothing leaves ------------------------------------------------------------------------------------


def _trapped(folder: Path) -> dict[str, str]:
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(_TRAP, encoding="utf-8")
    return {"PYTHONPATH": str(folder), "GROWNJ_TEST_TRAP": str(folder / "told")}


@pytest.mark.parametrize(
    ("code", "place"),
    [
        ("import socket; socket.socket(socket.AF_INET, socket.SOCK_STREAM).connect(('192.0.2.1', 80))", "192.0.2.1"),
        (
            "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
            "192.0.2.1",
        ),
        ("import socket; socket.create_connection(('geocoder.example', 80))", "geocoder.example"),
        ("import httpx; httpx.get('http://geocoder.example/')", "geocoder.example"),
    ],
)
def test_the_trap_tells_of_what_would_leave(tmp_path: Path, code: str, place: str) -> None:
    env = _trapped(tmp_path / "trap")
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **env}, capture_output=True, check=False)
    assert b"nothing leaves this machine" in done.stderr
    assert place in (tmp_path / "trap" / "told").read_text(encoding="utf-8")


@pytest.mark.slow
def test_with_online_locators_off_nothing_leaves_the_machine(tmp_path: Path) -> None:
    home = tmp_path / "home"
    load_parcels(home, parcels_file(tmp_path / "parcels.geojson"))
    env = _trapped(tmp_path / "trap")
    table = b'where\n"520 Market St, Camden"\n"99 Nowhere Lane, Camden"\n'
    with serving(home, env=env) as served, served.client() as client:
        for text in ("520 Market St, Camden", "99 Nowhere Lane, Camden", "0408_81_1", "40.7344,-74.1641"):
            client.get("/api/v1/search", params={"q": text})
            client.get("/api/v1/suggest", params={"q": text})
            for route in ("determine", "overlay", "better"):
                client.post(f"/api/v1/{route}", json={"site": text})
        assert client.get("/api/v1/areas").status_code == 200
        page = client.post("/api/v1/report", params={"format": "html"}, json={"site": "0408_81_1"})
        assert page.status_code == 200, page.text
        job = client.post("/api/v1/jobs", files={"file": ("a.csv", table)}, data={"column": "address=where"}).json()
        stop = time.monotonic() + 60
        while (found := client.get(job["links"]["self"]).json())["status"] not in {"done", "failed"}:
            assert time.monotonic() < stop
            time.sleep(0.3)
        assert found["status"] == "done", found["problem"]
    assert not (tmp_path / "trap" / "told").exists()


# -- what cannot be read -------------------------------------------------------------------------------


def test_settings_that_cannot_be_read_are_said_and_coordinates_are_answered_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("locators = 7\n", encoding="utf-8")
    with serving(tmp_path) as served:
        with served.client() as client:
            about = client.get("/api/v1/about").json()
        status, found = _determine(served, site="520 Market St, Camden")
        plain, _ = _determine(served, site="40.7344,-74.1641")
    assert about["locators"] == []
    assert "settings.toml" in about["locators_left_out"][0]["words"]
    assert (status, found["code"]) == (503, "settings_not_readable")
    assert plain == 200
