"""What a municipality's name can mean is said, and nothing is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grownj_geo.addressplaces import PlaceBook, place_book
from grownj_geo.determine import Directory

if TYPE_CHECKING:
    from grownj_geo.atlas import Atlas


@pytest.fixture(scope="module")
def book(atlas: Atlas) -> PlaceBook:
    return place_book(Directory(atlas))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Orange", "0717"),
        ("City of Orange", "0717"),
        ("orange twp.", "0717"),
        ("City of Orange Township", "0717"),
        ("South Orange", "0719"),
        ("S. Orange Village", "0719"),
        ("Camden", "0408"),
        ("Princeton", "1114"),
        ("Ho Ho Kus", "0228"),
        ("HoHoKus", "0228"),
        ("Parsippany-Troy Hills", "1429"),
        ("Mt. Laurel Twp", "0324"),
        ("Haddon Hts", "0418"),
        ("Jersey City", "0906"),
    ],
)
def test_a_name_of_one_municipality(book: PlaceBook, text: str, code: str) -> None:
    found = book.find(text)
    assert (found.mun_codes, found.how) == ((code,), "named")


def test_a_name_of_several(book: PlaceBook) -> None:
    township = book.find("Washington Township")
    assert township.how == "ambiguous"
    assert township.mun_codes == ("0266", "0336", "0818", "1438", "2122")
    assert book.find("Washington").mun_codes == (*township.mun_codes[:4], "2121", "2122")
    assert book.find("Washington Twp", county="Morris").mun_codes == ("1438",)
    assert book.find("Washington Twp", county="Morris").how == "named"


def test_post_offices_are_no_municipalities(book: PlaceBook) -> None:
    hills = book.find("Short Hills")
    assert (hills.mun_codes, hills.how) == (("0712",), "postal")
    assert len(book.find("Sicklerville").mun_codes) == 2


def test_misspelt_and_unknown(book: PlaceBook) -> None:
    assert book.find("Camdne").how == "guessed"
    assert "0408" in book.find("Camdne").mun_codes
    assert book.find("Newark Township").how == "guessed"
    assert book.find("Xanadu").how == "unknown"
    assert book.find("Camdne", near=False).mun_codes == ()
    assert book.find("  ").how == "none"


def test_every_municipality_is_found_by_its_own_name_and_county(atlas: Atlas, book: PlaceBook) -> None:
    for code, (name, county) in Directory(atlas).names.items():
        assert book.find(name, county=county).mun_codes == (code,), name


def test_every_code_of_a_post_office_is_a_municipality(atlas: Atlas) -> None:
    from importlib import resources  # noqa: PLC0415 - only here

    from grownj_geo.yamlfile import read_yaml  # noqa: PLC0415 - only here

    read = read_yaml((resources.files("grownj_geo") / "postalnames.yaml").read_bytes())
    names = Directory(atlas).names
    assert all(code in names for codes in read["names"].values() for code in codes)
    whole = {name for name, _ in names.values()}
    assert not whole & set(read["names"])


def test_the_end_of_a_line(book: PlaceBook) -> None:
    found = book.at_end(["12", "MAIN", "ST", "SOUTH", "ORANGE"])
    assert [(count, place.mun_codes) for count, place in found] == [(2, ("0719",)), (1, ("0717",))]
    assert book.at_end(["450", "ORANGE", "ROAD"]) == []


def test_typing_ahead(book: PlaceBook) -> None:
    assert "0408" in book.starting("Camd")
    assert "0712" in book.starting("short h")
    assert book.starting(" ") == ()
