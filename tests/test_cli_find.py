"""`grownj find`, and addresses in the other commands: how they were located, and choices that are never made."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any

import pytest
from test_cli import run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def home(parcels_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROWNJ_HOME", str(parcels_home))
    monkeypatch.setenv("COLUMNS", "120")


def record_of(*args: str) -> dict[str, Any]:
    done = run("check", *args, "--json")
    assert done.exit_code == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_check_prints_how_an_address_was_located() -> None:
    done = run("check", "100 Main St,", "Camden")
    assert done.exit_code == 0
    page = " ".join(done.stdout.split())
    assert "address, found as 100 Main Street (local: parcel, score 1.00, by its outline)" in page
    assert "0408_81_1" in page
    assert "CANDIDATES" not in page


def test_a_lot_and_an_address_of_a_loaded_parcel_have_the_same_findings() -> None:
    by_lot, by_address = record_of("Camden City block 81 lot 1"), record_of("100 Main St, Camden")
    assert by_lot["findings"] == by_address["findings"]
    assert by_lot["site"]["geometry_wkt"] == by_address["site"]["geometry_wkt"]
    assert by_lot["site"]["kind"] == "polygon"


def test_choices_are_shown_with_their_municipalities_and_whether_the_answers_differ() -> None:
    done = run("check", "1 Line Rd")
    assert done.exit_code == 5
    page = " ".join(done.stdout.split())
    assert "CANDIDATES (2): none was chosen" in page
    assert "Camden City (0408)" in page
    assert "Collingswood Borough (0412)" in page
    assert "The answers differ in" in page
    assert "Garden State Growth Zone" in page
    assert "No determination was made" in done.stderr
    assert "neither municipality nor ZIP code was typed" in page


def test_choices_as_json_have_the_findings_of_each() -> None:
    done = run("check", "1 Line Rd", "--json")
    assert done.exit_code == 5
    found = json.loads(done.stdout)
    by_pin = {choice["pin"]: choice for choice in found["choices"]}
    assert by_pin["0408_99_1"]["findings"]["garden_state_growth_zone"] == "yes"
    assert by_pin["0412_5_1"]["findings"]["garden_state_growth_zone"] == "no"
    assert any(words.startswith("Garden State Growth Zone") for words in found["differing"])
    assert by_pin["0412_5_1"]["geometry"]["type"] == "Polygon"
    assert (found["settled"], found["form"]) == (False, "address")


def test_places_that_lie_close_are_one_uncertain_site_with_its_candidates_named() -> None:
    done = run("check", "5 Twin Ave, Camden")
    assert done.exit_code == 0
    page = " ".join(done.stdout.split())
    assert "226 ft, by how it was located" in page
    assert "CANDIDATES (2): none was chosen" in page
    assert "All 2 places have the same findings, whichever is meant." in page
    assert "2 places fit equally well, and none was chosen" in page


def test_the_page_that_is_written_has_the_candidates_too(tmp_path: Path) -> None:
    target = tmp_path / "site.txt"
    assert run("check", "5 Twin Ave, Camden", "-o", str(target)).exit_code == 0
    assert "CANDIDATES (2): none was chosen" in target.read_text(encoding="utf-8")


def test_an_address_that_nobody_knows_is_bad_input() -> None:
    done = run("check", "920 Nowhere Blvd, Camden")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "was not found. Asked: local: knows no such address." in done.stderr


def test_a_moved_place_has_both_on_record() -> None:
    site = record_of("1 Line Rd, Camden", "--at", "39.92342207149239,-75.08631409908728")["site"]
    assert site["typed"] == "1 Line Rd, Camden"
    assert site["located_by"] == "coordinates, set by hand at 39.923422,-75.086314"
    assert any("it was moved by hand by" in note for note in site["notes"])


def test_find_shows_what_a_text_comes_to() -> None:
    done = run("find", "100 Main St,", "Camden")
    assert done.exit_code == 0
    page = " ".join(done.stdout.split())
    assert "Read as address" in page
    assert "Municipality Camden City (0408)" in page
    assert "local: found 100 Main Street in Camden City (0408)" in page
    assert 'grownj check "100 Main St, Camden"' in page
    lot = run("find", "Camden City block 81 lot 1")
    assert "Read as block and lot" in " ".join(lot.stdout.split())
    assert run("find", "920 Nowhere Blvd, Camden").exit_code == 2


def test_find_as_json() -> None:
    found = json.loads(run("find", "5 Twin Ave, Camden", "--json").stdout)
    assert [choice["pin"] for choice in found["choices"]] == ["0408_90_1", "0408_91_7"]
    assert found["site"]["uncertainty_ft"] > 200
    assert found["asked"] == [
        {"locator": "local", "outcome": "several", "words": "2 places fit equally well", "online": False}
    ]
    nothing = run("find", "920 Nowhere Blvd, Camden", "--json")
    assert nothing.exit_code == 2
    assert json.loads(nothing.stdout)["choices"] == []


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["rules", "explain", "100 Main St, Camden", "garden_state_growth_zone"], "Garden State Growth Zone"),
        (["credits", "areas", "100 Main St, Camden"], "garden_state_growth_zone"),
        (["compare", "100 Main St, Camden", "1 Line Rd, Collingswood"], "1 Line Rd, Collingswood"),
    ],
)
def test_other_commands_take_addresses(args: list[str], words: str) -> None:
    done = run(*args)
    assert done.exit_code == 0, done.stderr
    assert words in " ".join(done.stdout.split())


def test_other_commands_refuse_what_is_not_settled() -> None:
    done = run("rules", "explain", "1 Line Rd", "garden_state_growth_zone")
    assert done.exit_code == 5
    assert "may be any of several places" in done.stderr
    compared = run("compare", "100 Main St, Camden", "1 Line Rd")
    assert "may be any of several places" in compared.stderr


def test_an_address_can_be_kept_and_asked_again(tmp_path: Path) -> None:
    kept = tmp_path / "site.json"
    assert run("check", "5 Twin Ave, Camden", "--save", str(kept)).exit_code == 0
    done = run("recheck", str(kept))
    assert done.exit_code == 0, done.stdout + done.stderr


def test_nothing_leaves_the_machine_with_online_locators_off(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    for text in ("100 Main St, Camden", "104 Main St, Camden", "920 Broad St, Newark", "Camden City block 81 lot 1"):
        for command in ("find", "check"):
            done = run(command, text)
            assert isinstance(done.exception, SystemExit | None), done.exception
            assert done.exit_code in {0, 2, 5}
