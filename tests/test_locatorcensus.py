"""The Census Bureau's geocoder: single answers, files of many, and what goes wrong in them."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from feature_servers import Answer, Asked
from geocoding_servers import HOUSES, LIVINGSTON, NEWARK_HALL, CensusServer, House, csv_answer

from grownj_geo.locator import AddressQuery, LocatorError, uncertainty_ft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from grownj_geo.locator import Answer as Given

NEWARK = AddressQuery.from_text("920 Broad St, Newark, NJ 07102")
BRUNSWICK = AddressQuery.from_text("33 Livingston Ave, New Brunswick, NJ 08901")
TIED = AddressQuery.from_text("1 Line Rd")
UNKNOWN = AddressQuery.from_text("5 Nowhere Ln, Newark, NJ")


@pytest.fixture
def server() -> Iterator[CensusServer]:
    with CensusServer() as running:
        yield running


def rows_of(asked: Asked) -> list[list[str]]:
    return list(csv.reader(io.StringIO(asked.params["addressFile"])))


def altered(server: CensusServer, change: Callable[[list[list[str]]], list[list[str]]]) -> None:
    """Let the server change the rows of its answers."""

    def rule(asked: Asked) -> Answer | None:
        if asked.kind != "addressbatch":
            return None
        return csv_answer(change(list(csv.reader(io.StringIO(server.batch(asked).body.decode())))))

    server.rules.append(rule)


def found_in(answer: Given) -> list[str]:
    assert not isinstance(answer, LocatorError), answer
    return [match.matched for match in answer]


def kinds_of(answers: Sequence[Given]) -> list[str]:
    return [answer.kind if isinstance(answer, LocatorError) else "answer" for answer in answers]


def test_a_single_question_is_as_documented(server: CensusServer, tmp_path: Path) -> None:
    (found,) = server.locator(tmp_path).find(NEWARK)
    (asked,) = server.log
    assert (asked.method, asked.path) == ("GET", "/geocoder/locations/onelineaddress")
    assert asked.params == {
        "address": "920 Broad St, Newark, NJ 07102",
        "benchmark": "Public_AR_Current",
        "format": "json",
    }
    assert (found.kind, found.uncertainty_ft) == ("range", uncertainty_ft("range"))
    assert found.matched == NEWARK_HALL.line


def test_an_address_without_a_number_or_too_long_is_not_sent(server: CensusServer, tmp_path: Path) -> None:
    for text in ("Broad St, Newark", "9 " + "Broad " * 20 + "St, Newark"):
        with pytest.raises(LocatorError) as caught:
            server.locator(tmp_path).find(AddressQuery.from_text(text))
        assert caught.value.kind == "refused"
    assert server.log == []


def test_a_file_is_as_documented(server: CensusServer, tmp_path: Path) -> None:
    found = server.locator(tmp_path).find_many([NEWARK, BRUNSWICK])
    (asked,) = server.log
    assert (asked.method, asked.path, asked.params["benchmark"]) == (
        "POST",
        "/geocoder/locations/addressbatch",
        "Public_AR_Current",
    )
    assert rows_of(asked) == [
        ["0", "920 Broad St", "Newark", "NJ", "07102"],
        ["1", "33 Livingston Ave", "New Brunswick", "NJ", "08901"],
    ]
    assert [found_in(answer) for answer in found] == [[NEWARK_HALL.line], [LIVINGSTON.line]]


def test_what_is_typed_cannot_make_columns_or_rows_of_its_own(server: CensusServer, tmp_path: Path) -> None:
    wild = AddressQuery(text="x", street='1 A", "St\r\n9,B St', city="New\nark,NJ", zip_code=None)
    server.locator(tmp_path).find_many([wild, NEWARK])
    assert [len(row) for row in rows_of(server.log[0])] == [5, 5]


def test_ties_are_asked_for_alone_and_given_with_both_places(server: CensusServer, tmp_path: Path) -> None:
    found = server.locator(tmp_path).find_many([NEWARK, TIED, UNKNOWN])
    assert [len(found_in(answer)) for answer in found] == [1, 2, 0]
    assert [asked.kind for asked in server.log] == ["addressbatch", "onelineaddress"]


def test_many_go_in_files_of_ten_thousand(server: CensusServer, tmp_path: Path) -> None:
    count = 10_001
    server.houses = tuple(
        House(str(number), "BROAD", "ST", "NEWARK", "07102", -74.17, 40.73) for number in (1, 10_000, count)
    )
    known = {house.street: house for house in server.houses}
    server.known = lambda line: [known[key]] if (key := line.partition(",")[0].upper()) in known else []  # type: ignore[method-assign]
    queries = [AddressQuery.from_text(f"{number} Broad St, Newark, NJ") for number in range(1, count + 1)]
    done: list[int] = []
    found = server.locator(tmp_path, days=0).find_many(queries, progress=lambda i, _: done.append(i))
    assert [len(rows_of(asked)) for asked in server.log if asked.kind == "addressbatch"] == [10_000, 1]
    assert [i + 1 for i, answer in enumerate(found) if found_in(answer)] == [1, 10_000, count]
    assert done == [10_000, count]


def test_a_row_that_is_missing_is_a_failure_of_that_address_only(server: CensusServer, tmp_path: Path) -> None:
    altered(server, lambda rows: [row for row in rows if row[0] != "1"])
    found = server.locator(tmp_path).find_many([NEWARK, BRUNSWICK, UNKNOWN])
    assert kinds_of(found) == ["answer", "nonsense", "answer"]
    # It is not kept as unknown: asked again, it is found.
    server.rules.clear()
    assert found_in(server.locator(tmp_path).find_many([NEWARK, BRUNSWICK, UNKNOWN])[1]) == [LIVINGSTON.line]


@pytest.mark.parametrize(
    "bad",
    [
        ["1", "said", "Match", "Exact", "33 LIVINGSTON AVE, NEW BRUNSWICK, NJ, 08901", ""],
        ["1", "said", "Match", "Exact", "33 LIVINGSTON AVE, NEW BRUNSWICK, NJ, 08901", "nan,nan"],
        ["1", "said", "Match", "Exact", "33 LIVINGSTON AVE, NEW BRUNSWICK, NJ, 08901", "0,0"],
        ["1", "said", "Match", "Exact", "33 LIVINGSTON AVE, NEW BRUNSWICK, NJ, 08901", "40.49,-174.44"],
        ["1", "said", "Match"],
        ["1", "said", "Error"],
        ["1", "said", ""],
    ],
)
def test_a_row_that_makes_no_sense_is_a_failure_of_that_address_only(
    server: CensusServer, tmp_path: Path, bad: list[str]
) -> None:
    altered(server, lambda rows: [bad if row[0] == "1" else row for row in rows])
    assert kinds_of(server.locator(tmp_path).find_many([NEWARK, BRUNSWICK, UNKNOWN])) == [
        "answer",
        "nonsense",
        "answer",
    ]


def test_rows_of_nobody_and_rows_twice(server: CensusServer, tmp_path: Path) -> None:
    def change(rows: list[list[str]]) -> list[list[str]]:
        return [
            *rows,
            ["77", "said", "No_Match"],
            ["-1", "said", "No_Match"],
            ["x"],
            [],
            *[r for r in rows if r[0] == "0"],
        ]

    altered(server, change)
    assert kinds_of(server.locator(tmp_path).find_many([NEWARK, BRUNSWICK])) == ["nonsense", "answer"]


@pytest.mark.parametrize("body", [b"", b"<html>maintenance</html>", b"\xff\xfe", b'"open', b"a,b,c\r\n", b'{"a": 1}'])
def test_a_page_in_place_of_a_file_is_nonsense_for_all(
    server: CensusServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    monkeypatch.setattr("grownj_geo.netclient.random.uniform", lambda *_: 0.01)
    server.rules.append(lambda _: Answer(body))
    assert kinds_of(server.locator(tmp_path).find_many([NEWARK, BRUNSWICK])) == ["nonsense", "nonsense"]
    assert len(server.log) == 2


def test_a_file_that_is_too_much_is_sent_in_halves(
    server: CensusServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grownj_geo.netclient.random.uniform", lambda *_: 0.01)
    server.known = lambda _: []  # type: ignore[method-assign]

    def rule(asked: Asked) -> Answer | None:
        return Answer(b"<html>too large</html>") if len(rows_of(asked)) > 600 else None

    server.rules.append(rule)
    queries = [AddressQuery.from_text(f"{number} Broad St, Newark, NJ") for number in range(1, 1_201)]
    found = server.locator(tmp_path, days=0).find_many(queries)
    assert set(kinds_of(found)) == {"answer"}
    assert [len(rows_of(asked)) for asked in server.log] == [1_200, 1_200, 600, 600]


def test_what_came_before_a_failure_is_kept(
    server: CensusServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grownj_geo.netclient.random.uniform", lambda *_: 0.01)
    server.houses = HOUSES
    locator = server.locator(tmp_path)
    assert kinds_of(locator.find_many([NEWARK, UNKNOWN])) == ["answer", "answer"]
    server.rules.append(lambda _: Answer(status=502))
    assert kinds_of(locator.find_many([NEWARK, UNKNOWN, BRUNSWICK, TIED])) == ["answer", "answer", "down", "down"]


def test_a_service_that_is_too_slow_for_many_is_waited_for_twice_only(server: CensusServer, tmp_path: Path) -> None:
    server.rules.append(lambda _: Answer(b" " * 1_000, drip_s=0.05))
    locator = server.locator(tmp_path, timeout_s=0.2)
    locator.options = replace(locator.options, batch_timeout_s=0.3)
    queries = [AddressQuery.from_text(f"{number} Broad St, Newark, NJ") for number in range(1, 4_001)]
    found = locator.find_many(queries)
    assert set(kinds_of(found)) == {"slow"}
    assert [len(rows_of(asked)) for asked in server.log] == [4_000, 2_000]
    assert "was not asked, because it failed before" in str(found[-1])
