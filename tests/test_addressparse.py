"""Addresses are read in every way that fits; what is no place in New Jersey is refused by name."""

from __future__ import annotations

import builtins
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grownj_geo.addressparse import AddressError, ParsedAddress, parse_address
from grownj_geo.determine import Directory
from grownj_geo.errors import OutsideNewJerseyError, SiteError

if TYPE_CHECKING:
    from grownj_geo.atlas import Atlas


@pytest.fixture(scope="module")
def directory(atlas: Atlas) -> Directory:
    return Directory(atlas)


def likeliest(parsed: ParsedAddress) -> tuple[str, str, str, tuple[str, ...]]:
    return parsed.line.number, str(parsed.line.street), parsed.line.unit, parsed.mun_codes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("520 Market Street, Camden, NJ 08102", ("520", "MARKET STREET", "", ("0408",))),
        ("520 market st camden nj", ("520", "MARKET STREET", "", ("0408",))),
        ("Camden City Hall, 520 Market St, Camden", ("520", "MARKET STREET", "", ("0408",))),
        ("520 Market St, Suite 5, Camden City, New Jersey 08102-1234, USA", ("520", "MARKET STREET", "5", ("0408",))),
        ("Unit 5, 520 Market St, Camden", ("520", "MARKET STREET", "5", ("0408",))),
        ("475 S Jefferson St Apt 3 Orange", ("475", "SOUTH JEFFERSON STREET", "3", ("0717",))),
        ("450 Orange Road Orange", ("450", "ORANGE ROAD", "", ("0717",))),
        ("12 beechwood orange", ("12", "BEECHWOOD", "", ("0717",))),
        ("12 Main St South Orange", ("12", "MAIN STREET", "", ("0719",))),
        ("10 Broadway West New York", ("10", "BROADWAY", "", ("0912",))),
        ("12 N 5th St Camdne", ("12", "NORTH 5TH STREET", "", ("0408",))),
        ("12 Main St (Washington Twp, Warren)", ("12", "MAIN STREET", "", ("2122",))),
        ("12 Main St, Washington Township, Morris County", ("12", "MAIN STREET", "", ("1438",))),
        ("12 Main St Washington Twp Morris County NJ", ("12", "MAIN STREET", "", ("1438",))),
        ("Acme Corp 12 Main St Newark", ("12", "MAIN STREET", "", ("0714",))),
        ("Main St & 2nd Ave, Camden", ("", "MAIN ST & 2ND AVENUE", "", ("0408",))),
        ("12 Main St\nCamden NJ", ("12", "MAIN STREET", "", ("0408",))),
        ("12 Ivy Ct", ("12", "IVY COURT", "", ())),
        ("100 Route 46", ("100", "ROUTE 46", "", ())),
        ("12 Box Hill Road, Camden", ("12", "BOX HILL ROAD", "", ("0408",))),
        ("12 RD Smith Lane, Camden", ("12", "RD SMITH LANE", "", ("0408",))),
    ],
)
def test_readings(directory: Directory, text: str, expected: tuple[str, str, str, tuple[str, ...]]) -> None:
    assert likeliest(parse_address(text, directory)) == expected


def test_both_readings_of_what_has_two(directory: Directory) -> None:
    parsed = parse_address("55 Mount Vernon", directory)
    read = {(str(r.line.street), r.place.mun_codes) for r in parsed.readings}
    assert read == {("MOUNT", ("1922",)), ("MOUNT VERNON", ())}
    south = parse_address("12 Main St South Orange", directory)
    assert ("MAIN STREET SOUTH", ("0717",)) in {(str(r.line.street), r.place.mun_codes) for r in south.readings}


@pytest.mark.parametrize(
    "text",
    [
        "PO Box 12, Orange NJ",
        "P.O. Box 12",
        "P. O. BOX 7, Camden",
        "POB 12",
        "Post Office Box 12, Camden",
        "Box 12, Camden",
        "12 Main St, PO Box 9, Camden",
    ],
)
def test_boxes_at_a_post_office_are_refused(directory: Directory, text: str) -> None:
    with pytest.raises(AddressError, match="box at a post office") as caught:
        parse_address(text, directory)
    assert caught.value.fault == "po_box"


@pytest.mark.parametrize(
    "text", ["RR 2 Box 3, Hope NJ", "RD 1 Box 12 Hope", "Rural Route 5", "RFD #2, Hope", "HC 1 Box 5"]
)
def test_rural_routes_are_refused(directory: Directory, text: str) -> None:
    with pytest.raises(AddressError) as caught:
        parse_address(text, directory)
    assert caught.value.fault == "rural_route"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "empty"),
        (" , ", "empty"),
        ("12 Main St " + "x" * 300, "too_long"),
        ("Block 12 Lot 1.10", "block_and_lot"),
        ("Camden City blk 81, lot 1", "block_and_lot"),
        ("07050", "no_street"),
    ],
)
def test_what_is_no_address(directory: Directory, text: str, fault: str) -> None:
    with pytest.raises(AddressError) as caught:
        parse_address(text, directory)
    assert caught.value.fault == fault
    assert pickle.loads(pickle.dumps(caught.value)).fault == fault  # noqa: S301 - made here


@pytest.mark.parametrize(
    "text",
    [
        "10 Broadway, New York, NY 10004",
        "10 Broadway, New York, NY",
        "1 Market St Philadelphia PA",
        "1 Market St, Philadelphia, Pennsylvania",
        "12 Ivy Ct, Hartford, CT",
        "12 Main St, 19103",
    ],
)
def test_other_states_are_refused(directory: Directory, text: str) -> None:
    with pytest.raises(OutsideNewJerseyError, match="New Jersey"):
        parse_address(text, directory)


@pytest.mark.parametrize(
    "text", ["12 Main St, Delaware", "12 Main St, Washington", "12 Ivy Ct", "12 Park La", "12 Oak Dr NE"]
)
def test_what_only_looks_like_another_state_is_not_refused(directory: Directory, text: str) -> None:
    assert parse_address(text, directory).line.number == "12"


@pytest.mark.parametrize(
    ("zip_code", "inside"),
    [("06999", False), ("07000", True), ("08999", True), ("09000", False)],
)
def test_zip_codes_of_new_jersey(directory: Directory, zip_code: str, *, inside: bool) -> None:
    text = f"12 Main St, Camden {zip_code}"
    if inside:
        assert parse_address(text, directory).zip_code == zip_code
    else:
        with pytest.raises(OutsideNewJerseyError, match=zip_code):
            parse_address(text, directory)


def test_a_zip_code_without_its_zero_is_made_good_and_said(directory: Directory) -> None:
    parsed = parse_address("12 Main St, Orange NJ 7050", directory)
    assert parsed.zip_code == "07050"
    assert any("leading zero" in note for note in parsed.notes)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("12 Main St, Washington Township", "5 municipalities"),
        ("12 Main St, Short Hills", "no municipality; mail there is addressed so in: Millburn Township"),
        ("12 Main St, Camdne", "the nearest name is taken"),
        ("12 Main St, Xanadu", "searched without it"),
        ("12 Main St", "No municipality was typed"),
        ("City Hall, 12 Main St, Camden", "'City Hall'"),
        ("12 Main St, Short Hills, Millburn", "left out: 'Short Hills'"),
        ("12 Main St, Camden City, Essex County", "(Camden City, Camden County) and 'Essex County' were both typed"),
        ("12 Main St, Washington Township, Camden County", "and 'Camden County' were both typed"),
        ("12 Main St, Short Hills, Camden City", "and 'Short Hills' were both typed"),
        ("12 Main St, Montclair, Orange", "and 'Montclair' were both typed"),
    ],
)
def test_what_was_supposed_is_said(directory: Directory, text: str, word: str) -> None:
    assert any(word in note for note in parse_address(text, directory).notes)


def test_without_usaddress_the_other_readings_stand(directory: Directory, monkeypatch: pytest.MonkeyPatch) -> None:
    there = builtins.__import__

    def absent(name: str, *rest: Any, **more: Any) -> Any:
        if name == "usaddress":
            raise ImportError(name)
        return there(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", absent)
    assert likeliest(parse_address("520 Market St, Camden", directory)) == ("520", "MARKET STREET", "", ("0408",))


def test_what_usaddress_cannot_label_is_read_all_the_same(directory: Directory) -> None:
    usaddress = pytest.importorskip("usaddress")
    text = "12 St James Place Apt 3 Lot 4 Camden"
    with pytest.raises(usaddress.RepeatedLabelError):
        usaddress.tag("59 ST JAMES PLACE LOT 34 BLDG 2 APT 3 LOT 4")
    assert parse_address(text, directory).mun_codes == ("0408",)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80) | st.text("0123456789 ABCDEFGNJSTaeiou,.-#&/()", max_size=60))
@example("NJ")
@example("12 Main St, NJ 07050 07050")
@example("(((")
def test_any_text_is_read_or_refused(directory: Directory, text: str) -> None:
    try:
        parsed = parse_address(text, directory)
    except SiteError as refused:
        assert len(str(refused)) > 20  # noqa: PT017 - either way is right
    else:
        assert parsed.readings
        assert all(r.line.street.name for r in parsed.readings)
