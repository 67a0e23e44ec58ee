"""Nominatim: what it is asked, which places its entries are, and its usage policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from feature_servers import Answer
from geocoding_servers import NEWARK_HALL, NominatimServer, entry

from grownj_geo.locator import AddressQuery, LocatorError, uncertainty_ft
from grownj_geo.locators import service_options
from grownj_geo.settings import NominatimSettings, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ASKED = AddressQuery.from_text("920 Broad St, Newark, NJ 07102")


@pytest.fixture
def server() -> Iterator[NominatimServer]:
    with NominatimServer() as running:
        yield running


def says(server: NominatimServer, *entries: dict[str, Any]) -> None:
    server.rules.append(lambda _: Answer.of(list(entries)))


def without_number(**more: Any) -> dict[str, Any]:
    one = entry(NEWARK_HALL, **more)
    del one["address"]["house_number"]
    return one


def test_a_question_is_as_documented(server: NominatimServer, tmp_path: Path) -> None:
    server.locator(tmp_path, email="who@example.org", user_agent="our-office/1.0").find(ASKED)
    (asked,) = server.log
    assert asked.path == "/search"
    assert asked.params["q"] == "920 Broad St, Newark, NJ 07102"
    assert (asked.params["format"], asked.params["addressdetails"], asked.params["countrycodes"]) == (
        "jsonv2",
        "1",
        "us",
    )
    assert (asked.params["bounded"], asked.params["email"]) == ("1", "who@example.org")
    assert [float(part) for part in asked.params["viewbox"].split(",")] == [-75.8, 41.5, -73.7, 38.7]
    assert asked.headers["User-Agent"] == "our-office/1.0"


def test_every_match_says_whose_data_it_is(server: NominatimServer, tmp_path: Path) -> None:
    assert all("OpenStreetMap contributors" in match.notes[-1] for match in server.locator(tmp_path).find(ASKED))


@pytest.mark.parametrize(
    ("one", "kind"),
    [
        (entry(NEWARK_HALL), "rooftop"),
        (entry(NEWARK_HALL, osm_type="way", category="building", type="yes"), "rooftop"),
        (entry(NEWARK_HALL, osm_type="way", category="place", type="house"), "range"),
        (without_number(category="amenity", type="townhall"), "street"),
        (without_number(category="highway", type="primary", place_rank=26), "street"),
        (without_number(category="boundary", type="administrative", place_rank=16), "municipality"),
        (without_number(category="place", type="postcode", place_rank=21), "municipality"),
    ],
)
def test_what_kind_of_place_it_is(server: NominatimServer, tmp_path: Path, one: dict[str, Any], kind: str) -> None:
    says(server, one)
    (found,) = server.locator(tmp_path).find(ASKED)
    assert found.kind == kind
    assert (found.score == 1) == (kind in {"rooftop", "range"})


def test_how_well_known_a_place_is_says_nothing_of_the_match(server: NominatimServer, tmp_path: Path) -> None:
    says(server, entry(NEWARK_HALL, importance=0.0), without_number(place_rank=26, importance=0.99))
    first, second = server.locator(tmp_path).find(ASKED)
    assert (first.score, first.kind) == (1, "rooftop")
    assert second.score < 0.7


def test_a_street_is_as_uncertain_as_its_box_is_large(server: NominatimServer, tmp_path: Path) -> None:
    long = without_number(place_rank=26, boundingbox=["40.70", "40.78", "-74.20", "-74.10"])
    short = without_number(place_rank=26)
    for one, known in ((long, None), (short, uncertainty_ft("street"))):
        server.rules.clear()
        says(server, one)
        (found,) = server.locator(tmp_path, days=0).find(ASKED)
        # 0.08 degrees of latitude are 29,000 ft, 0.1 of longitude 27,700: half of the diagonal is 20,000.
        assert found.uncertainty_ft == pytest.approx(known or 20_000, rel=0.02)


@pytest.mark.parametrize("box", [None, [], ["a", "b", "c", "d"], ["1", "2", "3"]])
def test_a_box_that_is_none_is_not_used(server: NominatimServer, tmp_path: Path, box: object) -> None:
    says(server, without_number(place_rank=26, boundingbox=box))
    (found,) = server.locator(tmp_path).find(ASKED)
    assert found.uncertainty_ft == uncertainty_ft("street")


def test_a_house_that_is_there_as_mapped_and_as_reckoned_is_taken_as_mapped(
    server: NominatimServer, tmp_path: Path
) -> None:
    reckoned = entry(NEWARK_HALL, osm_type="way", lat="40.7400")
    says(server, reckoned, entry(NEWARK_HALL))
    (found,) = server.locator(tmp_path).find(ASKED)
    assert found.kind == "rooftop"


def test_places_across_the_river_are_none_of_new_jersey(server: NominatimServer, tmp_path: Path) -> None:
    abroad = entry(NEWARK_HALL, lat="40.7128", lon="-74.0060")
    abroad["address"]["ISO3166-2-lvl4"] = "US-NY"
    says(server, abroad)
    assert server.locator(tmp_path).find(ASKED) == ()


def test_the_public_instance_is_asked_as_its_policy_wants_whatever_the_settings_say() -> None:
    eager = Settings(locators=("nominatim",), nominatim=NominatimSettings(rate_per_s=50, most_at_once=10_000))
    public = service_options(eager, "nominatim")
    assert (public.rate_per_s, public.most_at_once) == (1, 100)
    modest = Settings(nominatim=NominatimSettings(rate_per_s=0.2, most_at_once=10))
    assert service_options(modest, "nominatim").rate_per_s == 0.2
    assert service_options(modest, "nominatim").most_at_once == 10
    own = Settings(nominatim=NominatimSettings(url="https://geo.example.com/nominatim/", rate_per_s=50))
    assert (service_options(own, "nominatim").rate_per_s, service_options(own, "nominatim").most_at_once) == (50, None)
    assert "https://geo.example.com/nominatim" in service_options(own, "nominatim").sends


def test_a_large_table_is_refused_before_anything_is_sent(server: NominatimServer, tmp_path: Path) -> None:
    queries = [AddressQuery.from_text(f"{number} Broad St, Newark") for number in range(1, 12)]
    found = server.locator(tmp_path, most_at_once=10).find_many(queries)
    assert all(isinstance(answer, LocatorError) and answer.kind == "refused" for answer in found)
    assert server.log == []
    # What is known already does not count.
    assert len(server.locator(tmp_path, most_at_once=10).find_many(queries[:10])) == 10
    assert len(server.log) == 10
    again = server.locator(tmp_path, most_at_once=10).find_many(queries)
    assert len(server.log) == 11
    assert not any(isinstance(answer, LocatorError) for answer in again)


def test_a_table_that_comes_in_blocks_is_one_table(server: NominatimServer, tmp_path: Path) -> None:
    locator = server.locator(tmp_path, most_at_once=5)
    blocks = [[AddressQuery.from_text(f"{number} {street} St, Newark") for number in (1, 2, 3)] for street in "AB"]
    assert not any(isinstance(answer, LocatorError) for answer in locator.find_many(blocks[0]))
    assert all(isinstance(answer, LocatorError) for answer in locator.find_many(blocks[1]))
    assert len(server.log) == 3
    # One that somebody types is no table.
    assert locator.find(blocks[1][0]) == ()
