"""Parcel numbers stay text; municipalities are found by code or name and never guessed."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grownj_geo.errors import SiteError
from grownj_geo.pins import Pin, find_municipality, looks_like_pin, match_municipality, parse_pins

DIRECTORY = SimpleNamespace(
    names={
        "0102": ("Atlantic City", "Atlantic"),
        "0228": ("Ho-Ho-Kus Borough", "Bergen"),
        "0324": ("Mount Laurel Township", "Burlington"),
        "0336": ("Washington Township", "Burlington"),
        "0408": ("Camden City", "Camden"),
        "0409": ("Cherry Hill Township", "Camden"),
        "0414": ("Gloucester City", "Camden"),
        "0415": ("Gloucester Township", "Camden"),
        "0502": ("Cape May City", "Cape May"),
        "0714": ("Newark City", "Essex"),
        "0717": ("City of Orange Township", "Essex"),
        "0719": ("South Orange Village Township", "Essex"),
        "0818": ("Washington Township", "Gloucester"),
        "0906": ("Jersey City", "Hudson"),
        "0908": ("North Bergen Township", "Hudson"),
        "0912": ("West New York Town", "Hudson"),
        "1010": ("Franklin Township", "Hunterdon"),
        "1114": ("Princeton", "Mercer"),
        "1438": ("Washington Township", "Morris"),
        "1815": ("Peapack-Gladstone Borough", "Somerset"),
        "1820": ("Warren Township", "Somerset"),
        "2121": ("Washington Borough", "Warren"),
        "2122": ("Washington Township", "Warren"),
    }
)


@pytest.mark.parametrize(
    ("text", "pin"),
    [
        ("0408_81_1", Pin("0408", "81", "1")),
        ("0408_81_1_C0101", Pin("0408", "81", "1", "C0101")),
        ("0408_81.01_1.10", Pin("0408", "81.01", "1.10")),
        ("0408_81_3E5", Pin("0408", "81", "3E5")),
        (" 0408_81_1_X\n", Pin("0408", "81", "1", "X")),
    ],
)
def test_a_parcel_number_is_kept_as_text(text: str, pin: Pin) -> None:
    pins, notes = parse_pins(text, DIRECTORY)
    assert pins == (pin,)
    assert not notes
    assert str(pins[0]) == text.strip()
    assert looks_like_pin(text)


def test_lots_with_and_without_a_trailing_zero_are_two() -> None:
    pins, notes = parse_pins("0408_81_1.1, 0408_81_1.10; 0408_81_1", DIRECTORY)
    assert [p.lot for p in pins] == ["1.1", "1.10", "1"]
    assert notes == ("3 parcels were taken as one site.",)


@pytest.mark.parametrize(
    ("text", "read", "note"),
    [
        ("'0408_81_1", "0408_81_1", "quotation marks"),
        ('"0408_81_1"', "0408_81_1", "quotation marks"),
        ("0408_81_1_c0101", "0408_81_1_C0101", "capitals"),
        ("0408_00081_1", "0408_00081_1", "zeros before"),
        ("0408_81_1 0408_81_1", "0408_81_1", "counts once"),
    ],
)
def test_what_is_changed_is_noted(text: str, read: str, note: str) -> None:
    pins, notes = parse_pins(text, DIRECTORY)
    assert [str(p) for p in pins] == [read]
    assert note in " ".join(notes)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("408_81_1", "leading zero.*write 0408_81_1"),
        ("408.0_81_1", "leading zero.*write 0408_81_1"),
        ("0408-81-1", "hyphens.*write 0408_81_1"),
        ("408-81-1", "hyphens.*write 0408_81_1"),
        ("40_81_1", "does not have 4 digits"),
        ("0408_81", "lot is missing"),
        ("0408__1", "empty"),
        ("0408_81_", "empty"),
        ("0408_81_1_X_Y", "5 parts"),
        ("0408_81_3.0E+05", "power of ten"),
        ("0408_81_1/2", "characters other"),
        ("", "empty"),
        ("0499_81_1", r"no municipality 0499.*nearest codes.*Camden County \(0408\)"),
        ("2299_81_1", "01 to 21"),
        ("0408_81_1, 0714_5_2", "one by one.*building by building"),
        ("0408_81_1 nonsense", "nonsense"),
    ],
)
def test_a_mangled_parcel_number_is_refused_with_what_to_do(text: str, words: str) -> None:
    with pytest.raises(SiteError, match=words) as caught:
        parse_pins(text, DIRECTORY)
    assert "read as" in str(caught.value)
    assert "xpected" in str(caught.value)


@given(
    code=st.sampled_from(sorted(DIRECTORY.names)),
    block=st.from_regex(r"[1-9][0-9]{0,4}(\.[0-9]{1,3})?", fullmatch=True),
    lot=st.from_regex(r"[1-9][0-9]{0,4}(\.[0-9]{1,3})?", fullmatch=True),
    qualifier=st.one_of(st.just(""), st.from_regex(r"[A-Z][0-9A-Z]{0,5}", fullmatch=True)),
)
def test_parcel_numbers_come_back(code: str, block: str, lot: str, qualifier: str) -> None:
    pin = Pin(code, block, lot, qualifier)
    assert parse_pins(str(pin), DIRECTORY) == ((pin,), ())


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("0408", "0408"),
        ("'0408", "0408"),
        ("Camden City", "0408"),
        ("  CAMDEN   city ", "0408"),
        ("City of Camden", "0408"),
        ("Newark", "0714"),
        ("Newark, NJ", "0714"),
        ("Newark, New Jersey", "0714"),
        ("newark (Essex County)", "0714"),
        ("Princeton", "1114"),
        ("Washington Township, Morris", "1438"),
        ("Washington Twp (Morris)", "1438"),
        ("Washington Twp. Morris County", "1438"),
        ("Township of Washington, Morris Co., N.J.", "1438"),
        ("Washington Boro", "2121"),
        ("Mt. Laurel", "0324"),
        ("Mount Laurel Twp", "0324"),
        ("N. Bergen", "0908"),
        ("W New York", "0912"),
        ("Ho Ho Kus", "0228"),
        ("HoHoKus Borough", "0228"),
        ("Peapack and Gladstone", "1815"),
        ("City of Orange Township", "0717"),
        ("Orange", "0717"),
        ("South Orange", "0719"),
        ("jersey city", "0906"),
        ("Gloucester Twp", "0415"),
    ],
)
def test_a_municipality_by_code_or_name(text: str, code: str) -> None:
    assert match_municipality(text, DIRECTORY) == (code, ())


def test_every_name_finds_itself_with_its_county() -> None:
    for code, (name, county) in DIRECTORY.names.items():
        for text in (f"{name}, {county}", f"{name.upper()} ({county} County)", f"{name} {county} County"):
            assert find_municipality(text, DIRECTORY) == code


@pytest.mark.parametrize(("text", "code"), [("Camden", "0408"), ("cape may", "0502"), ("Warren", "1820")])
def test_a_county_of_the_same_name_is_noted(text: str, code: str) -> None:
    found, notes = match_municipality(text, DIRECTORY)
    assert found == code
    assert "also the name of a county" in notes[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("408", "Did you mean 0408, Camden City"),
        ("0499", "no such code"),
        ("9999", "01 to 21"),
        ("4", "4 digits"),
        ("Washington Township", r"4 have that name: .*Burlington County \(0336\).*Morris County \(1438\)"),
        ("Washington", r"5 have that name: .*Washington Borough, Warren County \(2121\)"),
        ("Gloucester", "2 have that name"),
        ("Essex", "only a county's name"),
        ("Camden County", "only a county's name.*Camden City"),
        ("Essex County, NJ", "only a county's name"),
        ("Atlantic", "only a county's name.*Atlantic City"),
        ("Jersey", "no municipality has that name.*Jersey City"),
        ("Newerk", "Did you mean Newark City"),
        ("Camden Township", r"Did you mean Camden City, Camden County \(0408\)"),
        ("Princeton Township", "Did you mean Princeton, Mercer"),
        ("Newark, Camden", "Did you mean Newark City, Essex"),
        ("Camden, Essex", "Did you mean Camden City"),
        ("Newark, Wessex", "not a county"),
        ("xyzzy", "Look the name up"),
        ("...", "no municipality has that name"),
    ],
)
def test_a_name_that_is_not_clear_is_refused_with_choices(text: str, words: str) -> None:
    with pytest.raises(SiteError, match=words):
        match_municipality(text, DIRECTORY)


@given(st.text(max_size=20))
def test_no_text_breaks_the_readers(text: str) -> None:
    for read in (parse_pins, match_municipality):
        try:
            read(text, DIRECTORY)
        except SiteError as error:
            assert str(error)  # noqa: PT017 - any text may be refused


def test_what_stands_between_name_and_county_is_named() -> None:
    with pytest.raises(SiteError) as error:
        match_municipality("Washington (Port Murray), Morris", DIRECTORY)
    message = str(error.value)
    assert "'Port Murray' stands between its name and its county" in message
    assert '"Washington, Morris"' in message
    assert ",," not in message


@pytest.mark.parametrize("text", ["Washington Twp (Whippany,, Somewhere)", "Washington (Morris), Warren, nowhere"])
def test_no_comma_is_doubled(text: str) -> None:
    with pytest.raises(SiteError, match="is not a county of New Jersey") as error:
        match_municipality(text, DIRECTORY)
    assert ",," not in str(error.value).replace(repr(text), "")


def test_a_county_may_be_said_twice() -> None:
    assert match_municipality("Washington Twp (Morris), Morris County, NJ", DIRECTORY)[0] == "1438"


def test_8000_parcels_are_read_in_linear_time() -> None:
    begin = time.perf_counter()
    pins, _ = parse_pins(" ".join(f"0408_{i}_1" for i in range(8_000)), DIRECTORY)
    assert len(pins) == 8_000
    assert time.perf_counter() - begin < 2
