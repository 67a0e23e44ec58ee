"""Which match is the place that was meant, and the site that holds for each of several."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from grownj_geo.found import TypedAddress
from grownj_geo.locator import AddressQuery, Match
from grownj_geo.matchfigures import CLOSE_FT
from grownj_geo.settling import doubts, judge, same_ground, shared_site, site_of_match
from grownj_geo.units import FT_PER_FTUS

NAMES = {
    "0408": ("Camden City", "Camden"),
    "0412": ("Collingswood Borough", "Camden"),
    "0822": ("Washington Township", "Gloucester"),
    "1438": ("Washington Township", "Morris"),
}
X, Y = 320_000.0, 405_000.0


def match(**more: Any) -> Match:
    plain: dict[str, Any] = {"locator": "nj", "matched": "1 A ST", "score": 1.0, "kind": "rooftop"}
    return Match(**{**plain, "x_ft": X, "y_ft": Y, "uncertainty_ft": 69.0, **more})


def typed(place: str = "named", **more: Any) -> TypedAddress:
    plain: dict[str, Any] = {"text": "1 A St, Camden", "street": "1 A St", "city": "Camden", "mun_codes": ("0408",)}
    query = AddressQuery(**{**plain, **more})
    return TypedAddress(query.text, query, place)  # type: ignore[arg-type]


def word_of(address: TypedAddress, *matches: Match, codes: tuple[str, ...] = ("0408",)) -> str:
    return judge(address, matches, codes_of=lambda m: (m.mun_code,) if m.mun_code else codes, names=NAMES).word


# -- doubts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("score", "sure"), [(0.9499, False), (0.95, True), (1.0, True)])
def test_the_score_has_to_be_good(score: float, sure: bool) -> None:  # noqa: FBT001 - a case
    assert (doubts(typed(), match(score=score), ("0408",), NAMES) == ()) == sure


@pytest.mark.parametrize(
    ("kind", "pin", "sure"),
    [
        ("rooftop", None, True),
        ("parcel", None, True),
        ("range", None, True),
        ("street", None, False),
        ("municipality", None, False),
        ("municipality", "0408_1_1", True),
    ],
)
def test_a_street_or_a_municipality_is_no_house(kind: str, pin: str | None, sure: bool) -> None:  # noqa: FBT001
    assert (doubts(typed(), match(kind=kind, pin=pin), ("0408",), NAMES) == ()) == sure


@pytest.mark.parametrize(
    ("address", "codes", "words"),
    [
        (typed(), ("0408",), None),
        (typed(), ("0412", "0408"), None),
        (
            typed(),
            ("0412",),
            "it lies in Collingswood Borough, Camden County, and Camden City, Camden County was typed",
        ),
        (
            typed("ambiguous", city="Washington", mun_codes=("0822", "1438")),
            ("1438",),
            "2 municipalities have the name",
        ),
        (typed("postal", city="Fairview"), ("0408",), "mail is addressed so in Camden City"),
        (typed("guessed", city="Camdne"), ("0408",), "no municipality is called 'Camdne'"),
        (typed("none", city=None, mun_codes=()), ("0408",), "neither municipality nor ZIP code was typed"),
        (typed("unknown", city="Fairview Village", mun_codes=()), ("0408",), "no municipality is called"),
        (typed("none", city=None, mun_codes=(), zip_code="08104"), ("0408",), "not found under ZIP code 08104"),
    ],
)
def test_the_municipality_has_to_agree(address: TypedAddress, codes: tuple[str, ...], words: str | None) -> None:
    found = doubts(address, match(), codes, NAMES)
    if words is None:
        assert found == ()
    else:
        assert any(words in one for one in found)


@pytest.mark.parametrize("address", [typed(), typed("none", city=None, mun_codes=(), zip_code="08102")])
def test_what_lies_outside_new_jersey_is_never_taken(address: TypedAddress) -> None:
    found = doubts(address, match(zip_code="08102"), (), NAMES)
    assert found == ("it lies outside the lines of every municipality of New Jersey",)
    assert doubts(address, match(zip_code="08102"), ("0408",), NAMES) == ()


def test_a_zip_code_tells_municipalities_of_one_name_apart() -> None:
    several = typed("ambiguous", city="Washington", mun_codes=("0822", "1438"), zip_code="07853")
    assert doubts(several, match(zip_code="07853"), ("1438",), NAMES) == ()
    assert doubts(several, match(zip_code="08080"), ("1438",), NAMES) != ()


def test_a_postal_name_is_enough_where_the_service_has_it_too() -> None:
    sent_there = typed("postal", city="Short Hills", mun_codes=("0408",))
    assert doubts(sent_there, match(city="Short Hills"), ("0408",), NAMES) == ()
    assert doubts(sent_there, match(city="Short Hills"), ("0412",), NAMES) == ()
    assert doubts(sent_there, match(city="Camden"), ("0412",), NAMES) != ()
    postal = typed("unknown", city="Short Hills", mun_codes=())
    assert doubts(postal, match(city="SHORT HILLS"), ("0408",), NAMES) == ()
    assert doubts(postal, match(city="MILLBURN"), ("0408",), NAMES) != ()


# -- verdicts -----------------------------------------------------------------------------------------


def test_one_good_match_settles_and_two_do_not() -> None:
    near = match(x_ft=X + 100.0)
    assert word_of(typed()) == "nothing"
    assert word_of(typed(), match()) == "settled"
    assert word_of(typed(), match(), near) == "several"
    assert word_of(typed(), match(), replace(near, score=0.90)) == "settled"
    assert word_of(typed(), match(), replace(near, score=0.96)) == "several"
    assert word_of(typed(), match(score=0.9)) == "weak"


def test_the_same_place_twice_is_one_place() -> None:
    assert word_of(typed(), match(), match(matched="1 A STREET")) == "settled"
    assert word_of(typed(), match(pin="0408_1_1"), match(pin="0408_1_2")) == "several"


def test_the_municipality_typed_decides_between_equals_and_that_is_told() -> None:
    here, there = match(mun_code="0408"), match(mun_code="0412", x_ft=X + 500.0)
    verdict = judge(typed(), [here, there], codes_of=lambda m: (str(m.mun_code),), names=NAMES)
    assert (verdict.word, verdict.matches) == ("settled", (here,))
    assert verdict.notes[0].startswith("Not taken: 1 A ST")
    assert "Collingswood Borough" in verdict.notes[0]


# -- sites --------------------------------------------------------------------------------------------


def test_an_outline_is_the_site_and_a_point_is_as_uncertain_as_its_kind() -> None:
    outline = shapely.box(X - 50, Y - 50, X + 50, Y + 50)
    lot = match(kind="parcel", pin="0408_1_1", mun_code="0408", geometry=outline, uncertainty_ft=0.0)
    site = site_of_match(lot, typed="t", located_by="l")
    assert (site.geometry, site.uncertainty_ft, site.mun_basis, site.pins) == (outline, 0.0, "pin", ("0408_1_1",))
    point = site_of_match(match(), typed="t", located_by="l", uncertainty_ft=20.0)
    assert (point.is_point, point.uncertainty_ft, point.mun_code) == (True, 69.0, None)
    assert site_of_match(match(), typed="t", located_by="l", uncertainty_ft=200.0).uncertainty_ft == 200
    bare = match(kind="municipality", pin="0408_1_1", mun_code="0408", uncertainty_ft=9_000.0)
    assert not bare.has_place
    assert site_of_match(bare, typed="t", located_by="l").geometry is None


def test_of_a_street_the_municipality_is_the_site_where_that_is_known() -> None:
    street = match(kind="street", uncertainty_ft=9_423.0)
    assert site_of_match(street, typed="t", located_by="l").uncertainty_ft == 9_423
    known = replace(street, mun_code="0408")
    site = site_of_match(known, typed="t", located_by="l")
    assert (known.has_place, site.geometry, site.uncertainty_ft) == (False, None, 0.0)
    assert (site.mun_code, site.mun_basis, site.pins) == ("0408", "stated", ())


def test_an_area_that_a_service_found_has_a_place_where_no_municipality_is_said() -> None:
    area = match(kind="municipality", uncertainty_ft=58_071.0)
    site = site_of_match(area, typed="t", located_by="l")
    assert (area.has_place, site.is_point, site.uncertainty_ft) == (True, True, 58_071.0)


_AWAY = st.floats(-8_000, 8_000)
_SIZE = st.floats(1, 400)


@given(st.lists(st.tuples(_AWAY, _AWAY, _SIZE, st.booleans()), min_size=2, max_size=6))
def test_the_shared_site_holds_every_place_or_has_no_place(
    places: list[tuple[float, float, float, bool]],
) -> None:
    matches = []
    for i, (dx, dy, size, drawn) in enumerate(places):
        x, y = X + dx, Y + dy
        if drawn:
            ground = shapely.box(x - size, y - size, x + size, y + size)
            matches.append(match(kind="parcel", x_ft=x, y_ft=y, uncertainty_ft=0.0, geometry=ground, pin=f"0408_{i}_1"))
        else:
            matches.append(match(x_ft=x, y_ft=y, uncertainty_ft=size))
    site = shared_site(matches, typed="t")
    if site is None or site.geometry is None or same_ground(matches):
        return
    assert site.is_point
    assert site.uncertainty_ft <= CLOSE_FT
    for one in matches:
        xy = np.array([[one.x_ft, one.y_ft]]) if one.geometry is None else shapely.get_coordinates(one.geometry)
        away = np.hypot(xy[:, 0] - site.geometry.x, xy[:, 1] - site.geometry.y).max() * FT_PER_FTUS
        own = one.uncertainty_ft if one.geometry is None else 0.0
        assert away + own <= site.uncertainty_ft + 1e-6


@pytest.mark.parametrize(("apart_ft", "close"), [(2 * (CLOSE_FT - 69) - 1, True), (2 * (CLOSE_FT - 69) + 1, False)])
def test_places_farther_apart_than_that_have_no_site(apart_ft: float, close: bool) -> None:  # noqa: FBT001 - a case
    site = shared_site([match(), match(x_ft=X + apart_ft / FT_PER_FTUS)], typed="t")
    assert (site is not None) == close


def test_parcels_far_apart_share_their_municipality_only_where_it_is_one() -> None:
    far = [match(pin="0408_1_1", mun_code="0408"), match(pin="0408_2_1", mun_code="0408", x_ft=X + 90_000.0)]
    site = shared_site(far, typed="t")
    assert site is not None
    assert (site.geometry, site.mun_code, site.mun_basis) == (None, "0408", "pin")
    assert shared_site([far[0], replace(far[1], pin="0412_2_1", mun_code="0412")], typed="t") is None
    assert shared_site([far[0], replace(far[1], pin=None)], typed="t") is None
