"""The HTTP API by a real server: the same answers as the commands give, and refusals that say what to do."""

from __future__ import annotations

import json
import re
import shutil
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import shapely
from serving import serving
from typer.testing import CliRunner

from grownj_geo import cli
from grownj_geo.creditreadings import credit_readings
from grownj_geo.facts import load_facts
from grownj_geo.manifest import load_manifests

if TYPE_CHECKING:
    from pathlib import Path

    from serving import Served

NEWARK = "40.7344,-74.1641"
CAMDEN = "39.9447,-75.1190"


def _command(home: Path, *words: str) -> str:
    """Return what the command line prints, with the same home."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROWNJ_HOME", str(home))
        done = CliRunner().invoke(cli.app, list(words))
    assert done.exit_code in {0, 4}, done.output
    return done.stdout


def _post(served: Served, path: str, **body: Any) -> Any:
    with served.client() as client:
        answer = client.post(f"/api/v1/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def _refused(served: Served, path: str, **body: Any) -> dict[str, Any]:
    with served.client() as client:
        answer = client.post(f"/api/v1/{path}", json=body)
    assert answer.headers["content-type"] == "application/problem+json"
    found: dict[str, Any] = answer.json()
    assert found["status"] == answer.status_code
    return found


# -- determine -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "body"),
    [
        ([NEWARK], {"site": NEWARK}),
        (["Camden City block 81 lot 1"], {"site": "Camden City block 81 lot 1"}),
        (["520 Market St, Camden"], {"site": "520 Market St, Camden"}),
        ([CAMDEN, "--as-of", "2016-01-04", "--strict"], {"site": CAMDEN, "as_of": "2016-01-04", "strict": True}),
        (
            [CAMDEN, "--fact", "structure_exists=yes", "--reading", "A11=strict", "--uncertainty-ft", "60"],
            {"site": CAMDEN, "facts": {"structure_exists": True}, "readings": {"A11": "strict"}, "uncertainty_ft": 60},
        ),
        (
            ["520 Market St, Camden", "--at", "39.9170001,-75.0700001"],
            {"geometry": {"type": "Point", "coordinates": [-75.0700001, 39.9170001]}, "typed": "520 Market St, Camden"},
        ),
        (["--pin", "0408_81_1"], {"pin": "0408_81_1"}),
        (["--municipality", "Camden City"], {"mun_code": "Camden City"}),
        ([CAMDEN, "--rulebook", "urban-transit-hub"], {"site": CAMDEN, "rulebook": "urban-transit-hub"}),
    ],
)
def test_a_determination_is_what_the_command_prints(
    served: Served, served_home: Path, words: list[str], body: dict[str, Any]
) -> None:
    with served.client() as client:
        answer = client.post("/api/v1/determine", json=body)
    assert answer.status_code == 200, answer.text
    assert json.loads(answer.text) == json.loads(_command(served_home, "check", *words, "--json"))


def test_coordinates_that_nobody_typed_say_so_and_nothing_else_is_other(served: Served) -> None:
    typed = _post(served, "determine", site=CAMDEN, uncertainty_ft=60)
    for placed, words in (("click", "a click on the map"), ("marker", "the marker moved on the map")):
        found = _post(served, "determine", site=CAMDEN, uncertainty_ft=60, placed=placed)
        assert found["site"].pop("located_by") == f"coordinates, of {words}"
        assert found == {**typed, "site": {k: v for k, v in typed["site"].items() if k != "located_by"}}
    # What was looked up was found as it was.
    assert _post(served, "determine", site="0408_81_1", placed="click")["site"]["located_by"].startswith(
        "parcel number"
    )


def test_by_query_it_is_the_same(served: Served) -> None:
    query = {"site": CAMDEN, "as_of": "2016-01-04", "fact": ["structure_exists=yes"], "reading": ["A11=strict"]}
    with served.client() as client:
        by_query = client.get("/api/v1/determine", params={**query, "uncertainty_ft": 60})
    body = {"facts": {"structure_exists": True}, "readings": {"A11": "strict"}, "uncertainty_ft": 60}
    assert by_query.json() == _post(served, "determine", site=CAMDEN, as_of="2016-01-04", **body)


def test_an_answer_that_the_caller_has_is_not_sent_again_until_something_is_other(served: Served) -> None:
    with served.client() as client:
        first = client.get("/api/v1/determine", params={"site": NEWARK})
        again = client.get(
            "/api/v1/determine", params={"site": NEWARK}, headers={"If-None-Match": first.headers["etag"]}
        )
        other = client.get(
            "/api/v1/determine",
            params={"site": NEWARK, "as_of": "2016-01-04"},
            headers={"If-None-Match": first.headers["etag"]},
        )
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert other.status_code == 200
    assert other.headers["etag"] != first.headers["etag"]


def test_a_moved_point_crosses_the_line_and_the_municipality_and_the_tier_follow(served: Served) -> None:
    def at(lon: float, lat: float) -> tuple[str, int]:
        shape = {"type": "Point", "coordinates": [lon, lat]}
        found = _post(served, "determine", geometry=shape, typed="520 Market St, Camden")
        assert found["site"]["typed"] == "520 Market St, Camden"
        assert any("moved by hand" in note for note in found["site"]["notes"])
        return found["place"]["municipality"]["name"], found["tier"]["floor"]

    assert at(-75.1190, 39.9440)[0] == "Camden City"
    assert at(-75.0700, 39.9170)[0] == "Collingswood Borough"
    assert at(-75.1190, 39.9440)[1] > at(-75.0700, 39.9170)[1]


def test_places_that_fit_equally_well_are_choices_and_each_can_be_asked_about(served: Served) -> None:
    with served.client() as client:
        found = client.get("/api/v1/search", params={"q": "7 Broadway, Camden"}).json()
    assert (found["form"], found["certain"]) == ("address", False)
    assert [choice["pin"] for choice in found["choices"]] == ["0408_90_3.01", "0408_90_4"]
    for choice in found["choices"]:
        record = _post(served, "determine", **choice["ask"])
        assert record["site"]["pins"] == [choice["pin"]]
        assert record["site"]["typed"] == "7 Broadway, Camden"
        assert shapely.from_geojson(json.dumps(choice["geometry"])).area > 0


def test_an_outline_that_was_drawn_is_called_what_the_caller_calls_it(served: Served) -> None:
    ring = [[-75.12, 39.94], [-75.119, 39.94], [-75.119, 39.941], [-75.12, 39.941], [-75.12, 39.94]]
    shape = {"type": "Polygon", "coordinates": [ring]}
    named = _post(served, "determine", geometry=shape, typed="Parcel drawn on the map, 4 corners")["site"]
    plain = _post(served, "determine", geometry={"type": "Feature", "properties": {}, "geometry": shape})["site"]
    assert (named["typed"], named["located_by"], named["notes"]) == (
        "Parcel drawn on the map, 4 corners",
        "GeoJSON",
        [],
    )
    assert plain["typed"] == "a polygon given as GeoJSON"
    assert named["geometry_wkt"] == plain["geometry_wkt"]


def test_an_address_that_nobody_knows_is_refused_with_who_was_asked(served: Served) -> None:
    found = _refused(served, "determine", site="99 Nowhere Lane, Camden")
    assert (found["status"], found["code"]) == (422, "place_not_found")
    assert [each["locator"] for each in found["asked"]] == ["local"]
    assert "--" not in found["detail"]


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ({"site": "PO Box 12, Camden"}, "site_not_read", "box at a post office"),
        ({"site": "51.5,-0.1"}, "outside_new_jersey", "New Jersey"),
        ({"site": "0499_1_1"}, "site_not_read", "0499"),
        ({"site": NEWARK, "facts": {"structure_exist": "no"}}, "fact_not_accepted", "structure_exists"),
        ({"site": NEWARK, "readings": {"A11": "odd"}}, "rules_not_applicable", "A11"),
        ({"site": NEWARK, "readings": {"A25": "assume_none"}, "strict": True}, "rules_not_applicable", "A25"),
        ({"site": NEWARK, "as_of": "2001-01-01"}, "rules_not_applicable", "2013-09-18"),
        ({"site": NEWARK, "rulebook": "nope"}, "rules_not_applicable", "grow-nj"),
        ({"site": NEWARK, "colour": "red"}, "not_accepted", "colour"),
        ({"site": NEWARK, "pin": "0408_81_1"}, "site_not_read", "0408"),
        ({"geometry": {"type": "LineString", "coordinates": [[-75, 40], [-75.1, 40]]}}, "site_not_read", "LineString"),
        ({}, "not_accepted", "where the site is"),
    ],
)
def test_what_cannot_be_taken_is_refused_with_what_to_do(
    served: Served, body: dict[str, Any], code: str, words: str
) -> None:
    found = _refused(served, "determine", **body)
    assert (found["status"], found["code"]) == (422, code)
    assert words in found["detail"]


@pytest.mark.parametrize("named", ["site.geojson", "notes", "vsizip/a.zip/b.geojson"])
def test_no_text_names_a_file_of_the_server(served: Served, tmp_path: Path, named: str) -> None:
    path = tmp_path / named
    without = _refused(served, "determine", site=str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"type": "Point", "coordinates": [-74.1641, 40.7344]}', encoding="utf-8")
    there = _refused(served, "determine", site=str(path))
    assert there == without
    assert there["status"] == 422


def test_an_outline_with_many_corners_is_answered_as_the_command_does(
    served: Served, served_home: Path, tmp_path: Path
) -> None:
    shape = json.loads(shapely.to_geojson(shapely.buffer(shapely.Point(-75.10, 39.93), 0.004, quad_segs=800)))
    file = tmp_path / "round.geojson"
    file.write_text(json.dumps(shape), encoding="utf-8")
    found = _post(served, "determine", geometry=shape)
    wanted = json.loads(_command(served_home, "check", str(file), "--json"))
    assert found["findings"] == wanted["findings"]
    assert found["tier"] == wanted["tier"]


# -- beside it -----------------------------------------------------------------------------------------


def test_what_is_drawn_beside_an_answer_says_the_figures_of_the_answer(served: Served) -> None:
    body = {"site": CAMDEN, "uncertainty_ft": 50.0}
    record, drawn = _post(served, "determine", **body), _post(served, "overlay", **body)
    by_role: dict[str, list[dict[str, Any]]] = {}
    for feature in drawn["features"]:
        by_role.setdefault(feature["properties"]["role"], []).append(feature)
    assert by_role["site"][0]["geometry"] == {"type": "Point", "coordinates": [-75.119, 39.9447]}
    assert by_role["municipality"][0]["properties"]["code"] == "0408"
    ring = shapely.from_geojson(json.dumps(by_role["uncertainty"][0]["geometry"]))
    assert ring.covers(shapely.Point(-75.119, 39.9447))
    margins = {finding["id"]: finding["margin_ft"] for finding in record["findings"]}
    assert by_role["line"]
    for line in by_role["line"]:
        assert all(margins[name] == line["properties"]["margin_ft"] for name in line["properties"]["findings"])
    west, south, east, north = drawn["bbox"]
    assert west <= -75.119 <= east
    assert south <= 39.9447 <= north


def test_a_finding_is_explained_as_the_command_does(served: Served, served_home: Path) -> None:
    found = _post(served, "explain", site=CAMDEN, category="garden_state_growth_zone")
    wanted = json.loads(_command(served_home, "rules", "explain", CAMDEN, "garden_state_growth_zone", "--json"))

    def same(one: dict[str, Any], other: dict[str, Any]) -> None:
        assert (one["text"], one["outcome"], one["citation"]) == (other["label"], other["outcome"], other["citation"])
        assert one["observed"] == (other["evidence"]["words"] if other["evidence"] else "")
        assert len(one["children"]) == len(other["clauses"])
        for below in zip(one["children"], other["clauses"], strict=True):
            same(*below)

    same(found, wanted["explanation"])
    assert _refused(served, "explain", site=CAMDEN, category="nope")["status"] == 404


def test_areas_have_a_legend_and_each_its_ground(served: Served) -> None:
    with served.client() as client:
        legend = client.get("/api/v1/areas").json()
        zone = client.get("/api/v1/areas/growth_zone")
        plain = client.get("/api/v1/areas/growth_zone", headers={"Accept-Encoding": "identity"})
        again = client.get("/api/v1/areas/growth_zone", headers={"If-None-Match": zone.headers["etag"]})
        towns = client.get("/api/v1/areas/municipalities").json()
        none = client.get("/api/v1/areas/nope")
        stations = client.get("/api/v1/areas/station_radius").json()["features"]
    assert zone.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert zone.json() == plain.json()
    assert (again.status_code, none.status_code) == (304, 404)
    ids = {known["id"] for known in legend["classes"]}
    assert "growth_zone" in ids
    assert {known["id"] for known in legend["missing"]}.isdisjoint(ids)
    assert all(re.fullmatch("#[0-9A-F]{6}", known["colour"]) for known in legend["classes"])
    assert any(f["geometry"]["type"] == "Point" and "Broad" in f["properties"]["name"] for f in stations)
    camden = next(f for f in zone.json()["features"] if f["properties"]["mun_code"] == "0408")
    assert shapely.from_geojson(json.dumps(camden["geometry"])).covers(shapely.Point(-75.119, 39.9447))
    assert len(towns["features"]) > 500
    assert {"code", "name", "county", "label_at"} <= set(towns["features"][0]["properties"])


def test_the_next_better_line_is_that_of_the_report(served: Served, served_home: Path) -> None:
    words = _post(served, "better", site="39.9170,-75.0700")["words"]
    assert " ".join(words.split())[:40] in " ".join(_command(served_home, "check", "39.9170,-75.0700").split())
    assert _post(served, "better", site=CAMDEN, rulebook="urban-transit-hub")["words"] is None


def test_a_report_is_a_page_and_names_who_prepares_it(served: Served) -> None:
    with served.client() as client:
        typed = '5 Résumé Row\r\nX: "1"'
        body = {"site": CAMDEN, "typed": typed, "preparer": "A. Analyst <b>", "date": "2017-05-02", "map": False}
        answer = client.post("/api/v1/report", params={"format": "html"}, json=body)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="5-Resume-Row-X-1.html"'
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "A. Analyst &lt;b&gt;" in answer.text


@pytest.mark.slow
def test_a_report_is_a_pdf_with_its_map(served: Served) -> None:
    with served.client() as client:
        answer = client.post("/api/v1/report", json={"site": CAMDEN})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.content.startswith(b"%PDF-")
    assert answer.content.rstrip().endswith(b"%%EOF")


def test_credits_are_what_the_command_computes(served: Served, served_home: Path, tmp_path: Path) -> None:
    project = {
        "business": {"industry": "other"},
        "jobs": [{"kind": "new", "count": 100}],
        "buildings": [{"premises": "other", "construction": "new", "gross_leasable_sqft": 50000}],
    }
    file = tmp_path / "project.json"
    file.write_text(json.dumps(project), encoding="utf-8")
    wanted = json.loads(_command(served_home, "credits", "project", str(file), "--site", "0408_81_1", "--json"))
    assert _post(served, "credits", project=project, site="0408_81_1") == wanted
    assert _post(served, "credits", project=project, place={"site": "0408_81_1"}) == wanted
    twice = _refused(served, "credits", project=project, place={"site": "0408_81_1"}, site="0408_81_1")
    assert (twice["status"], twice["code"]) == (422, "fact_not_accepted")
    by_hand = _post(served, "credits", project=project, areas={"rest": "no"})
    assert by_hand["award"] != wanted["award"]
    both = _refused(served, "credits", project=project, site="0408_81_1", areas={"rest": "no"})
    assert (both["status"], both["code"]) == (422, "fact_not_accepted")
    project["buildings"][0]["site"] = str(tmp_path / "site.geojson")
    refused = _refused(served, "credits", project=project)["detail"]
    assert refused.startswith("Building site: ")
    assert "files are not opened" in refused


def test_credits_count_the_facts_of_the_place_and_those_of_the_building_must_agree(served: Served) -> None:
    building = {"premises": "other", "construction": "new", "gross_leasable_sqft": 50000}
    jobs = [{"kind": "new", "count": 100, "health_benefits": True}]
    project: dict[str, Any] = {"business": {"industry": "other"}, "jobs": jobs, "buildings": [building]}
    place = {"geometry": {"type": "Point", "coordinates": [-74.9, 39.85]}}
    aided = place | {"facts": {"lfb_supervision": True}}
    plain = _post(served, "credits", project=project, place=place)
    stated = _post(served, "credits", project=project, place=aided)
    assert plain != stated
    building["facts"] = {"lfb_supervision": True}
    assert _post(served, "credits", project=project, place=place) == stated
    building["facts"] = {"lfb_supervision": False}
    refused = _refused(served, "credits", project=project, place=aided)
    assert "Building site: the fact lfb_supervision is stated as True of the site and as False" in refused["detail"]


def test_credits_refuse_a_reading_that_there_is_not_with_a_place_and_without(served: Served) -> None:
    building = {"premises": "other", "construction": "new", "gross_leasable_sqft": 50000}
    project = {"business": {"industry": "other"}, "jobs": [], "buildings": [building]}
    for more in ({}, {"place": {"mun_code": "0408"}}):
        refused = _refused(served, "credits", project=project, readings={"A13": "none", "A99": "odd"}, **more)
        assert (refused["status"], refused["code"]) == (422, "rules_not_applicable")
        assert "A99" in refused["detail"]


def test_credits_of_more_buildings_than_are_looked_up_are_refused(served: Served) -> None:
    building = {"premises": "other", "construction": "new", "gross_leasable_sqft": 5000, "site": "40.7344,-74.1641"}
    project = {
        "business": {"industry": "other"},
        "jobs": [],
        "buildings": [building | {"id": f"b{i}"} for i in range(21)],
    }
    refused = _refused(served, "credits", project=project)
    assert (refused["status"], refused["code"]) == (422, "too_many_places")


# -- lists ---------------------------------------------------------------------------------------------


def test_about_says_what_there_is_and_that_nothing_is_sent(served: Served) -> None:
    with served.client() as client:
        found = client.get("/api/v1/about").json()
    assert found["as_of"] == {"default": "2017-04-17", "first": "2013-09-18", "last": "2019-07-01"}
    assert [locator["name"] for locator in found["locators"]] == ["local"]
    assert not any(locator["online"] for locator in found["locators"])
    assert found["parcels"]["count"] == 4
    assert found["token"] is False
    assert [book["id"] for book in found["rulebooks"] if book["default"]] == ["grow-nj"]


def test_lists_are_those_of_the_commands(served: Served, served_home: Path) -> None:
    with served.client() as client:
        facts = client.get("/api/v1/facts").json()["facts"]
        readings = client.get("/api/v1/readings").json()["readings"]
        rules = client.get("/api/v1/rules").json()
        rule = client.get("/api/v1/rules/grow-nj/priority_area").json()
        layers = client.get("/api/v1/layers").json()
        missing = [client.get(f"/api/v1/rules/{name}").status_code for name in ("grow-nj/nope", "nope/priority_area")]
    assert [fact["name"] for fact in facts] == list(load_facts())
    assert all(fact["question"] and fact["used_by"] for fact in facts if fact["kind"] == "fact")
    listed = json.loads(_command(served_home, "rules", "readings", "--json"))
    of_areas = [dict(each, named_by=None) for each in readings if each.pop("of") == "areas"]
    assert of_areas == [dict(each, named_by=None) for each in listed]
    assert [each["id"] for each in readings[len(of_areas) :]] == list(credit_readings())
    assert rule == json.loads(_command(served_home, "rules", "show", "priority_area", "--json"))
    known = json.loads(_command(served_home, "rules", "list", "--json"))["categories"]
    own = [category["id"] for category in rules["categories"] if category["rulebook"] == "grow-nj"]
    assert own == [category["id"] for category in known]
    wanted = {row["id"]: row for row in json.loads(_command(served_home, "layers", "list", "--json"))}
    assert {row["id"] for row in layers["layers"]} == set(load_manifests())
    assert all(row["sha256"] == wanted[row["id"]]["sha256"] for row in layers["layers"])
    assert all(row["how"] and row["words"] for row in layers["layers"] if row["status"] == "missing")
    assert missing == [404, 404]


def test_suggestions_are_addresses_that_are_loaded_and_municipalities(served: Served) -> None:
    with served.client() as client:
        street = client.get("/api/v1/suggest", params={"q": "520 mar"}).json()["suggestions"]
        town = client.get("/api/v1/suggest", params={"q": "collings"}).json()["suggestions"]
        none = client.get("/api/v1/suggest", params={"q": " "}).json()["suggestions"]
    assert any("520 Market" in text for text in street)
    assert town == ["Collingswood Borough"]
    assert none == []


def test_what_nobody_waits_for_any_more_is_in_nobodys_way(tmp_path: Path) -> None:
    """A page asks how far the next better line is for every place at which a marker rests, and gives up the others."""
    with serving(tmp_path / "home") as served, served.client() as client:
        # Its process has not begun: the first are not answered before their askers have gone.
        given_up = 0
        for place in range(10):
            try:
                client.post("/api/v1/better", json={"site": f"40.73{place},-74.1641"}, timeout=0.15)
            except httpx.ReadTimeout:
                given_up += 1
        made = client.post("/api/v1/report?format=html", json={"site": NEWARK, "map": False})
        better = client.post("/api/v1/better", json={"site": NEWARK})
        metrics = client.get("/metrics").text
        left = [entry["status"] for entry in served.log if entry.get("route") == "/api/v1/better"]
    assert (made.status_code, better.status_code) == (200, 200), made.text + better.text
    assert better.json()["words"]
    assert "grownj_better_waiting 0.0" in metrics
    # What is answered in the moment in which its asker goes counts as either.
    assert 1 <= left.count(408) <= given_up <= 10


def test_layers_that_are_added_while_it_runs_are_used_and_change_the_tag(four_parcels: Path, tmp_path: Path) -> None:
    # A server of its own: another layer changes what the other tests of this file would be answered.
    home = shutil.copytree(four_parcels, tmp_path / "home")
    with serving(home) as served:
        _layers_are_added(served, home, tmp_path / "planning.geojson")


def _layers_are_added(served: Served, home: Path, file: Path) -> None:
    with served.client() as client:
        before = client.get("/api/v1/determine", params={"site": CAMDEN})
    ring = [[-75.13, 39.93], [-75.10, 39.93], [-75.10, 39.95], [-75.13, 39.95], [-75.13, 39.93]]
    row = {"OBJECTID": 1, "SPDETAIL": "METROPOLITAN", "SPDETAIL2": "0001", "P2ACRES": 1.0}
    feature = {"type": "Feature", "properties": row, "geometry": {"type": "Polygon", "coordinates": [ring]}}
    file.write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}), encoding="utf-8")
    _command(home, "layers", "import", "planning_areas", str(file), "--partial", "--edition", "2017-01-01")
    with served.client() as client:
        for _ in range(50):
            after = client.get("/api/v1/determine", params={"site": CAMDEN})
            if after.headers["etag"] != before.headers["etag"]:
                break
            time.sleep(0.2)
    loaded = {layer["id"]: layer["status"] for layer in after.json()["layers"]}
    assert loaded["planning_areas"] == "loaded"
    assert {layer["id"]: layer["status"] for layer in before.json()["layers"]}["planning_areas"] == "missing"
    assert after.json() == json.loads(_command(home, "check", CAMDEN, "--json"))


@pytest.mark.slow
def test_a_long_outline_is_drawn_and_explained_too_and_keeps_nobody_waiting(served: Served) -> None:
    shape = json.loads(shapely.to_geojson(shapely.buffer(shapely.Point(-75.10, 39.93), 0.004, quad_segs=2_000)))
    times: list[float] = []
    slow = threading.Thread(target=lambda: _post(served, "overlay", geometry=shape))
    slow.start()
    while slow.is_alive():
        begun = time.monotonic()
        _post(served, "determine", site=f"40.7{len(times) % 90:02}4,-74.1641")
        times.append(time.monotonic() - begun)
    tree = _post(served, "explain", geometry=shape, category="garden_state_growth_zone")
    assert tree["outcome"] == "yes"
    assert len(times) > 1
    wrong = _refused(served, "explain", geometry=shape, category="nope")
    assert (wrong["status"], wrong["code"]) == (404, "no_category")
