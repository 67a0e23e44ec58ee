"""What all online locators do when their service is down, slow, asked too often or makes no sense; really connected."""

from __future__ import annotations

import gzip
import json
import socket
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from feature_servers import Answer, Asked
from geocoding_servers import CAMDEN_SIDE, NEWARK_HALL, CensusServer, GeocodingServer, NjServer, NominatimServer

from grownj_geo.locator import AddressQuery, LocatorError
from grownj_geo.locators import online_locators
from grownj_geo.settings import Settings
from grownj_geo.units import to_working

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grownj_geo.locatorservice import OnlineLocator

NEWARK = AddressQuery.from_text("920 Broad Street, Newark, NJ 07102")
SERVERS = [CensusServer, NjServer, NominatimServer]
NAMES = ["census", "nj", "nominatim"]


@pytest.fixture(params=SERVERS, ids=NAMES)
def server(request: pytest.FixtureRequest) -> Iterator[GeocodingServer]:
    """Yield each of the three servers."""
    with request.param() as running:
        yield running


def failure(locator: OnlineLocator, query: AddressQuery = NEWARK) -> LocatorError:
    with pytest.raises(LocatorError) as caught:
        locator.find(query)
    assert caught.value.locator == locator.name
    assert str(caught.value).startswith(locator.options.title)
    return caught.value


def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pauses before another try be short."""
    monkeypatch.setattr("grownj_geo.netclient.random.uniform", lambda *_: 0.01)


def always(answer: Answer) -> Any:
    return lambda _: answer


# -- as it should be --


def test_an_address_is_found_where_the_service_has_it(server: GeocodingServer, tmp_path: Path) -> None:
    locator = server.locator(tmp_path)
    (found,) = locator.find(NEWARK)
    x, y = to_working(NEWARK_HALL.lon, NEWARK_HALL.lat)
    assert (found.x_ft, found.y_ft) == pytest.approx((float(x), float(y)), abs=0.01)
    assert (found.score, found.locator, found.zip_code) == (1.0, locator.name, "07102")
    assert found.mun_code is None
    assert found.kind == ("range" if locator.name == "census" else "rooftop")
    assert found.uncertainty_ft > 0


def test_what_was_sent_is_what_went_out(server: GeocodingServer, tmp_path: Path) -> None:
    locator = server.locator(tmp_path)
    other = AddressQuery.from_text("5 Nowhere Ln, Newark, NJ")
    empty = AddressQuery(text=" ")
    locator.find(NEWARK)
    assert (locator.was_sent(NEWARK), locator.was_sent(other)) == (True, False)
    locator.find(NEWARK)
    assert not locator.was_sent(NEWARK)
    locator.find_many([NEWARK, other, empty])
    assert [locator.was_sent(query) for query in (NEWARK, other, empty)] == [False, True, False]


def test_where_no_connection_is_made_nothing_was_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)
    with CensusServer() as census:
        locator = census.locator(tmp_path)
    failure(locator)
    assert not locator.was_sent(NEWARK)


def test_an_unknown_address_is_no_failure(server: GeocodingServer, tmp_path: Path) -> None:
    assert server.locator(tmp_path).find(AddressQuery.from_text("5 Nowhere Ln, Newark, NJ")) == ()


def test_two_places_on_both_sides_of_a_line_are_both_given(server: GeocodingServer, tmp_path: Path) -> None:
    found = server.locator(tmp_path).find(AddressQuery.from_text("1 Line Rd"))
    assert {match.city.upper() for match in found if match.city} == {"CAMDEN", "COLLINGSWOOD"}
    assert [match.score for match in found] == [1.0, 1.0]


def test_the_city_that_was_asked_for_comes_first(server: GeocodingServer, tmp_path: Path) -> None:
    found = server.locator(tmp_path).find(AddressQuery.from_text(f"1 Line Rd, Camden, NJ {CAMDEN_SIDE.zip_code}"))
    assert found[0].city is not None
    assert found[0].city.upper() == "CAMDEN"


def test_only_the_address_is_sent(server: GeocodingServer, tmp_path: Path) -> None:
    query = AddressQuery(
        text="my secret note: 920 Broad St Apt 9, Newark", street="920 Broad St", city="Newark", mun_codes=("0714",)
    )
    server.locator(tmp_path).find(query)
    (asked,) = server.log
    sent = json.dumps([asked.path, asked.params, asked.headers])
    assert "920 Broad St, Newark, NJ" in sent
    assert not any(word in sent for word in ("secret", "Apt", "0714", "Cookie", str(tmp_path)))
    assert asked.headers["User-Agent"].startswith("grownj-geo/")


def test_what_was_asked_once_is_not_asked_again(server: GeocodingServer, tmp_path: Path) -> None:
    first = server.locator(tmp_path).find(NEWARK)
    again = server.locator(tmp_path).find(NEWARK)
    assert len(server.log) == 1
    assert again[0].answered_on is not None
    assert [match.matched for match in again] == [match.matched for match in first]
    server.locator(tmp_path, days=0).find(NEWARK)
    assert len(server.log) == 2


def test_another_address_of_the_service_is_another_question(tmp_path: Path) -> None:
    with CensusServer() as one, CensusServer() as other:
        one.locator(tmp_path).find(NEWARK)
        other.locator(tmp_path).find(NEWARK)
        assert (len(one.log), len(other.log)) == (1, 1)


def test_a_failure_is_not_kept(server: GeocodingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)
    server.rules.append(always(Answer(status=500)))
    failure(server.locator(tmp_path))
    server.rules.clear()
    assert server.locator(tmp_path).find(NEWARK)


def test_a_cache_that_cannot_be_used_is_told_with_the_answer(server: GeocodingServer, tmp_path: Path) -> None:
    (tmp_path / "locators.sqlite").mkdir()
    (found,) = server.locator(tmp_path).find(NEWARK)
    assert any("kept answers cannot be used" in note for note in found.notes)


# -- down --


def test_nobody_there(tmp_path: Path, server: GeocodingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        error = failure(server.locator(tmp_path, url=f"http://127.0.0.1:{taken.getsockname()[1]}"))
    assert error.kind == "down"
    assert "could not be reached" in str(error)


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_broken_service_is_asked_again_and_then_called_down(
    server: GeocodingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    quick(monkeypatch)
    server.rules.append(always(Answer(b"<html>Bad Gateway</html>", status=status)))
    error = failure(server.locator(tmp_path))
    assert (error.kind, len(server.log)) == ("down", 3)
    assert str(status) in str(error)


def test_a_service_that_recovers_is_heard(
    server: GeocodingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick(monkeypatch)
    server.rules.append(lambda _: Answer(status=503) if len(server.log) < 3 else None)
    assert server.locator(tmp_path).find(NEWARK)


def test_a_connection_that_breaks_off(server: GeocodingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)
    server.rules.append(always(Answer(b'{"half": ', promised=5_000)))
    assert failure(server.locator(tmp_path)).kind == "down"


# -- slow --


def test_a_slow_service_is_not_waited_for_longer_than_the_settings_say(server: GeocodingServer, tmp_path: Path) -> None:
    server.rules.append(always(Answer(b" " * 2_000, drip_s=0.05)))
    before = time.monotonic()
    error = failure(server.locator(tmp_path, timeout_s=0.5))
    assert error.kind == "slow"
    assert time.monotonic() - before < 10  # it would take 100


# -- asked too often --


def test_a_service_that_asks_to_be_left_alone_is_left_alone(server: GeocodingServer, tmp_path: Path) -> None:
    server.rules.append(always(Answer(status=429, headers={"Retry-After": "120"})))
    error = failure(server.locator(tmp_path))
    assert (error.kind, error.retry_after_s, len(server.log)) == ("rate_limited", 120, 1)
    assert "120 seconds" in str(error)
    # Another program of the same user does not ask either.
    again = failure(server.locator(tmp_path), AddressQuery.from_text("1 Other St, Newark"))
    assert (again.kind, len(server.log)) == ("rate_limited", 1)
    assert again.retry_after_s is not None
    assert 100 < again.retry_after_s <= 120


def test_too_often_without_a_time_is_not_asked_again_at_once(server: GeocodingServer, tmp_path: Path) -> None:
    server.rules.append(always(Answer(status=429)))
    assert failure(server.locator(tmp_path)).kind == "rate_limited"
    assert len(server.log) == 1
    assert failure(server.locator(tmp_path), AddressQuery.from_text("1 Other St, Newark")).kind == "rate_limited"
    assert len(server.log) == 1


def test_a_short_rest_is_waited_for(server: GeocodingServer, tmp_path: Path) -> None:
    server.rules.append(lambda _: Answer(status=429, headers={"Retry-After": "1"}) if len(server.log) == 1 else None)
    before = time.monotonic()
    assert server.locator(tmp_path).find(NEWARK)
    assert time.monotonic() - before >= 1


def test_questions_are_a_time_apart_and_retries_too(server: GeocodingServer, tmp_path: Path) -> None:
    times: list[float] = []

    def note(_: Asked) -> Answer | None:
        times.append(time.monotonic())
        return Answer(status=503) if len(times) == 2 else None

    server.rules.append(note)
    locator = server.locator(tmp_path, rate_per_s=4.0)
    for number in range(3):
        locator.find(AddressQuery.from_text(f"{number} Side St, Newark"))
    assert len(times) == 4
    assert min(b - a for a, b in pairwise(times)) > 0.2


# -- nonsense --


@pytest.mark.parametrize(
    "body",
    [
        b"<html><body>Please sign in to the guest network</body></html>",
        b"",
        b"null",
        b"3",
        b'"text"',
        b"[1, 2]",
        b'{"result": 5}',
        b'{"result": {"addressMatches": "none"}}',
        b'{"result": {"addressMatches": [{"matchedAddress": "1 A ST", "coordinates": {"x": "east", "y": null}}]}}',
        b'{"candidates": {}}',
        b'{"spatialReference": {"wkid": 4326}, "candidates": [{"address": "A", "score": 9, "location": {"x": "NaN"}}]}',
        b'[{"display_name": "A", "lat": "x", "lon": "y", "place_rank": 30, "address": {}}]',
        b'[{"display_name": "A", "lat": "0", "lon": "0", "place_rank": 30, "address": {}}]',
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"result": {"addressMatches": [{"matchedAddress": "1 A ST", "coordinates": {"x": 40.7, "y": -174.1}}]}}',
    ],
)
def test_nonsense_is_called_so(
    server: GeocodingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    quick(monkeypatch)
    server.rules.append(always(Answer(body, headers={"Content-Type": "application/json"})))
    assert failure(server.locator(tmp_path)).kind == "nonsense"


def test_an_endless_answer_is_cut(server: GeocodingServer, tmp_path: Path) -> None:
    packed = gzip.compress(b"[" + b" " * 50_000_000)
    server.rules.append(always(Answer(packed, headers={"Content-Encoding": "gzip"})))
    assert failure(server.locator(tmp_path)).kind == "nonsense"


# -- refused --


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_service_that_does_not_want_the_question(server: GeocodingServer, tmp_path: Path, status: int) -> None:
    server.rules.append(always(Answer(status=status)))
    error = failure(server.locator(tmp_path))
    assert (error.kind, len(server.log)) == ("refused", 1)


def test_nobody_is_sent_on_to_another_host(server: GeocodingServer, tmp_path: Path) -> None:
    with CensusServer() as other:
        server.rules.append(always(Answer(status=302, headers={"Location": f"{other.url}/geocoder"})))
        assert failure(server.locator(tmp_path)).kind == "refused"
        assert other.log == []


def test_an_inner_address_is_not_asked_unless_allowed(server: GeocodingServer, tmp_path: Path) -> None:
    assert failure(server.locator(tmp_path, allow_private=False)).kind == "refused"
    assert server.log == []


@pytest.mark.parametrize("text", ["", "   ", "12 Main St " + "very " * 80 + "long, Newark"])
def test_what_cannot_be_asked_is_not_sent(server: GeocodingServer, tmp_path: Path, text: str) -> None:
    query = AddressQuery(text=text) if not text.strip() else AddressQuery.from_text(text)
    assert failure(server.locator(tmp_path), query).kind == "refused"
    assert server.log == []


# -- what comes from strangers --


def test_texts_of_a_service_obey_nobody(tmp_path: Path) -> None:
    with NjServer() as server:
        wild = "920 Broad St\x1b[31m\r\n<script>alert(1)</script>" + "x" * 5_000 + ", Newark, NJ"
        one = {"address": wild, "location": {"x": -74.17, "y": 40.73}, "score": 1e9, "attributes": {"City": "\x07N"}}
        server.rules.append(always(Answer.of(server.document([one]))))
        (found,) = server.locator(tmp_path).find(NEWARK)
    assert found.matched.isprintable()
    assert len(found.matched) <= 300
    assert found.city == "N"
    assert found.score <= 1


def test_places_of_other_states_are_none_of_new_jersey(server: GeocodingServer, tmp_path: Path) -> None:
    far = type(NEWARK_HALL)("920", "BROAD", "ST", "NEWARK", "43055", -82.4013, 40.0581)
    server.houses = (far,)
    assert server.locator(tmp_path).find(NEWARK) == ()


# -- many --


def queries(count: int) -> list[AddressQuery]:
    return [AddressQuery.from_text(f"{number} Side St, Newark, NJ") for number in range(1, count + 1)]


def test_many_are_answered_in_order_each_as_it_would_be_alone(server: GeocodingServer, tmp_path: Path) -> None:
    asked = [
        NEWARK,
        AddressQuery.from_text("5 Nowhere Ln, Newark, NJ"),
        AddressQuery.from_text("1 Line Rd"),
        AddressQuery(text=""),
        NEWARK,
        AddressQuery.from_text("33 Livingston Ave, New Brunswick, NJ 08901"),
    ]
    seen: list[tuple[int, int]] = []
    many = server.locator(tmp_path / "many").find_many(asked, progress=lambda done, of: seen.append((done, of)))
    assert len(many) == len(asked)
    assert isinstance(many[3], LocatorError)
    alone = server.locator(tmp_path / "alone")
    for query, answer in zip(asked, many, strict=True):
        if query.line:
            assert not isinstance(answer, LocatorError)
            places = [(match.x_ft, match.y_ft, match.kind, match.score) for match in answer]
            assert places == [(match.x_ft, match.y_ft, match.kind, match.score) for match in alone.find(query)]
    assert seen[-1] == (len(asked), len(asked))


def test_many_that_are_known_are_not_sent(server: GeocodingServer, tmp_path: Path) -> None:
    server.locator(tmp_path).find_many([NEWARK, *queries(2)])
    before = len(server.log)
    server.locator(tmp_path).find_many([NEWARK, *queries(2)] * 3)
    assert len(server.log) == before


def test_a_service_that_is_down_is_not_asked_for_each_of_many(
    server: GeocodingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick(monkeypatch)
    server.rules.append(always(Answer(status=500)))
    found = server.locator(tmp_path).find_many(queries(40))
    assert len(server.log) <= 9
    assert all(isinstance(answer, LocatorError) and answer.kind == "down" for answer in found)
    if server.name == "nominatim":
        assert "was not asked" in str(found[-1])


def test_nothing_is_sent_where_no_online_locator_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        pytest.fail("a connection was made")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert online_locators(Settings(), home=tmp_path) == ()
    # Making locators and asking what they send is not asking them.
    locators = online_locators(Settings(locators=("census", "nj", "nominatim")), home=tmp_path)
    assert [locator.name for locator in locators] == NAMES
    assert all(locator.online and "https" in locator.sends for locator in locators)
    assert list(tmp_path.iterdir()) == []
