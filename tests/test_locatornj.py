"""The State's geocoder: candidates and their kinds, coordinates, errors that come as successes, lists of many."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from feature_servers import Answer
from geocoding_servers import HOUSES, LIVINGSTON, NjServer, candidate, esri_error

from grownj_geo.locator import AddressQuery, LocatorError, leading, uncertainty_ft
from grownj_geo.units import to_working

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ASKED = AddressQuery.from_text("33 Livingston Ave, New Brunswick, NJ")


@pytest.fixture
def server() -> Iterator[NjServer]:
    with NjServer() as running:
        yield running


def says(server: NjServer, *candidates: dict[str, Any], wkid: int = 4326) -> None:
    server.rules.append(lambda _: Answer.of(server.document(list(candidates), wkid=wkid)))


def at(address: str, kind: str, score: float, *, lon: float = -74.44513, lat: float = 40.49297) -> dict[str, Any]:
    attributes = {"Addr_type": kind, "Score": score, "Match_addr": address}
    return {"address": address, "location": {"x": lon, "y": lat}, "score": score, "attributes": attributes}


def test_a_question_is_as_documented(server: NjServer, tmp_path: Path) -> None:
    server.locator(tmp_path).find(ASKED)
    (asked,) = server.log
    assert asked.path == "/arcgis/rest/services/Tasks/NJ_Geocode/GeocodeServer/findAddressCandidates"
    assert asked.params == {
        "SingleLine": "33 Livingston Ave, New Brunswick, NJ",
        "outSR": "4326",
        "outFields": "*",
        "maxLocations": "8",
        "f": "json",
    }


def test_a_street_without_the_number_is_weak_however_sure_the_service_is(server: NjServer, tmp_path: Path) -> None:
    says(
        server,
        at("Livingston Avenue, New Brunswick, NJ, 08901", "StreetName", 97.59, lon=-74.45771, lat=40.48024),
        at("33 Livingston Avenue, New Brunswick, NJ, 08901", "PointAddress", 100),
        at("Livingston Avenue, North Brunswick, NJ, 08902", "StreetName", 95.86, lon=-74.47533, lat=40.46493),
    )
    best, second, third = server.locator(tmp_path).find(ASKED)
    assert (best.kind, best.score) == ("rooftop", 1.0)
    assert leading([best, second, third]) == (best,)
    assert second.score < 0.7
    assert "no house number; asked for 33" in second.notes
    assert "in North Brunswick; asked for New Brunswick" in third.notes


@pytest.mark.parametrize(
    ("said", "address", "kind"),
    [
        ("PointAddress", "33 Livingston Ave, New Brunswick, NJ, 08901", "rooftop"),
        ("Subaddress", "33 Livingston Ave Apt 2, New Brunswick, NJ, 08901", "rooftop"),
        ("Parcel", "33 Livingston Ave, New Brunswick, NJ, 08901", "parcel"),
        ("StreetAddress", "33 Livingston Ave, New Brunswick, NJ, 08901", "range"),
        ("StreetAddressExt", "33 Livingston Ave, New Brunswick, NJ, 08901", "range"),
        ("StreetName", "Livingston Ave, New Brunswick, NJ, 08901", "street"),
        ("StreetInt", "Livingston Ave & George St, New Brunswick, NJ", "street"),
        ("POI", "33 Steak House, New Brunswick, NJ", "street"),
        ("Postal", "08901, New Brunswick, NJ", "municipality"),
        ("Locality", "New Brunswick, NJ", "municipality"),
        # Where the service does not say what it found, nothing better than a range is taken for granted.
        ("", "33 Livingston Ave, New Brunswick, NJ, 08901", "range"),
        ("Address", "33 Livingston Ave, New Brunswick, NJ, 08901", "range"),
        ("", "Livingston Ave, New Brunswick, NJ, 08901", "street"),
        ("", "New Brunswick, NJ", "municipality"),
    ],
)
def test_what_kind_of_place_it_is(server: NjServer, tmp_path: Path, said: str, address: str, kind: str) -> None:
    says(server, at(address, said, 100))
    (found,) = server.locator(tmp_path).find(ASKED)
    assert found.kind == kind
    assert found.uncertainty_ft == uncertainty_ft(found.kind)


def test_coordinates_in_state_plane_feet_are_read_as_such(server: NjServer, tmp_path: Path) -> None:
    x, y = to_working(LIVINGSTON.lon, LIVINGSTON.lat)
    feet = candidate(LIVINGSTON) | {"location": {"x": float(x), "y": float(y)}}
    for wkid in (3424, 102711):
        server.rules.clear()
        says(server, feet, wkid=wkid)
        (found,) = server.locator(tmp_path, days=0).find(ASKED)
        assert (found.x_ft, found.y_ft) == pytest.approx((float(x), float(y)), abs=0.01)


def test_a_house_that_is_there_as_it_stands_is_not_there_as_reckoned_too(server: NjServer, tmp_path: Path) -> None:
    says(
        server,
        at("33 Livingston Ave, New Brunswick, NJ, 08901", "StreetAddress", 100, lon=-74.4449),
        at("33 LIVINGSTON AVENUE, New Brunswick, NJ, 08901", "PointAddress", 100),
        # In another city it is another house.
        at("33 Livingston Ave, North Brunswick, NJ, 08902", "StreetAddress", 100, lon=-74.4753, lat=40.4649),
    )
    found = server.locator(tmp_path).find(ASKED)
    assert [match.kind for match in found] == ["rooftop", "range"]


@pytest.mark.parametrize("system", [None, {}, {"wkid": 3857}, {"wkt": "PROJCS[...]"}, "4326"])
def test_coordinates_in_another_system_are_not_guessed(
    server: NjServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: object
) -> None:
    monkeypatch.setattr("grownj_geo.netclient.random.uniform", lambda *_: 0.01)
    server.rules.append(lambda _: Answer.of({"spatialReference": system, "candidates": [candidate(LIVINGSTON)]}))
    with pytest.raises(LocatorError) as caught:
        server.locator(tmp_path).find(ASKED)
    assert caught.value.kind == "nonsense"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (400, ("refused", 1)),
        (498, ("refused", 1)),
        (499, ("refused", 1)),
        (429, ("rate_limited", 1)),
        (500, ("down", 2)),
    ],
)
def test_errors_that_come_as_successes(
    server: NjServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, expected: tuple[str, int]
) -> None:
    monkeypatch.setattr("grownj_geo.netclient.random.uniform", lambda *_: 0.01)
    server.rules.append(lambda _: esri_error(code, "Unable to complete operation."))
    with pytest.raises(LocatorError) as caught:
        server.locator(tmp_path).find(ASKED)
    assert (caught.value.kind, len(server.log)) == expected


def test_a_bad_candidate_does_not_spoil_the_good_ones(server: NjServer, tmp_path: Path) -> None:
    bad = [{}, {"address": "1 A ST", "location": None, "score": 5}, at("1 A", "PointAddress", 90, lon=0.0, lat=0.0)]
    says(server, *bad, candidate(LIVINGSTON), 7)  # type: ignore[arg-type]
    assert len(server.locator(tmp_path).find(ASKED)) == 1


# -- many --

MANY = [
    AddressQuery.from_text("33 Livingston Ave, New Brunswick, NJ 08901"),
    AddressQuery.from_text("920 Broad St, Newark, NJ 07102"),
    AddressQuery.from_text("1 Line Rd"),
    AddressQuery.from_text("5 Nowhere Ln, Newark, NJ"),
]


def counts(found: tuple[Any, ...]) -> list[int]:
    return [len(answer) for answer in found]


def test_a_list_is_as_documented_and_ties_are_asked_for_alone(server: NjServer, tmp_path: Path) -> None:
    assert counts(server.locator(tmp_path).find_many(MANY)) == [1, 1, 2, 0]
    first, *rest = server.log
    assert (first.kind, first.method, first.params["outSR"]) == ("geocodeAddresses", "POST", "4326")
    records = json.loads(first.params["addresses"])["records"]
    assert records[1] == {"attributes": {"OBJECTID": 1, "SingleLine": "920 Broad St, Newark, NJ 07102"}}
    assert [asked.params["SingleLine"] for asked in rest] == ["1 Line Rd, NJ"]


def test_a_service_without_lists_is_asked_one_by_one(server: NjServer, tmp_path: Path) -> None:
    server.takes_many = False
    assert counts(server.locator(tmp_path).find_many(MANY)) == [1, 1, 2, 0]
    assert [asked.kind for asked in server.log] == ["geocodeAddresses", *["findAddressCandidates"] * 4]


def test_a_server_that_takes_fewer_at_once_leaves_nobody_out(server: NjServer, tmp_path: Path) -> None:
    server.most = 1
    assert counts(server.locator(tmp_path).find_many(MANY)) == [1, 1, 2, 0]


def test_what_is_not_exactly_what_was_asked_is_asked_for_alone(server: NjServer, tmp_path: Path) -> None:
    server.houses = (*HOUSES, type(LIVINGSTON)("7", "BROAD", "ST", "NEWARK", "07102", -74.17, 40.73))
    other_zip = AddressQuery.from_text("7 Broad St, Newark, NJ 07104")
    found = server.locator(tmp_path).find_many([MANY[0], other_zip])
    assert counts(found) == [1, 1]
    assert [asked.kind for asked in server.log] == ["geocodeAddresses", "findAddressCandidates"]


def test_places_that_are_in_a_list_twice_are_asked_for_alone(server: NjServer, tmp_path: Path) -> None:
    def rule(asked: Any) -> Answer | None:
        if asked.kind != "geocodeAddresses":
            return None
        one = server.located(0, MANY[0].line)
        other = server.located(0, MANY[1].line)
        stray = server.located(99, MANY[1].line)
        return Answer.of({"spatialReference": {"wkid": 4326}, "locations": [one, other, stray, {}, None]})

    server.rules.append(rule)
    found = server.locator(tmp_path).find_many(MANY[:2])
    assert [answer[0].matched for answer in found if not isinstance(answer, LocatorError)] == [
        LIVINGSTON.line,
        HOUSES[2].line,
    ]
