"""Coordinates as typed: every notation reads to the same place, every slip is refused with its remedy."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grownj_geo.coordinates import parse_coordinates
from grownj_geo.errors import OutsideNewJerseyError, SiteError
from grownj_geo.units import to_working

LAT, LON = 40.7344, -74.1641


@pytest.mark.parametrize(
    "text",
    [
        "40.7344,-74.1641",
        "40.7344 -74.1641",
        " 40.7344 ; -74.1641 ",
        "40.7344\t-74.1641",
        "(40.7344, -74.1641)",
        "+40.7344, -74.1641",
        "40.7344°, -74.1641°",
        "40.7344º N, 74.1641º W",
        "N40.7344 W74.1641",
        "40.7344n 74.1641w",
        "40.7344N74.1641W",
        "40.7344 north, 74.1641 west",
        "lat 40.7344 lon -74.1641",
        "Latitude: 40.7344, Longitude: -74.1641",
        "lat=40.7344;lng=-74.1641",
        "40,7344; -74,1641",
        "40,7344 -74,1641",
        "40,7344, -74,1641",
        "40,7344 N; 74,1641 W",
        "40.7344, \u221274.1641",
        "40.7344, \u201374.1641",
        "\uff14\uff10\uff0e\uff17\uff13\uff14\uff14\uff0c\uff0d\uff17\uff14\uff0e\uff11\uff16\uff14\uff11",
        "\u200e40.7344,\u00a0-74.1641",
        "40 44 03.84 N 74 09 50.76 W",
        "N 40 44 03.84 W 74 09 50.76",
        "40 44 03.84, -74 09 50.76",
        "40 44 03.84 -74 09 50.76",
        "40:44:03.84, -74:09:50.76",
        "40\u00b044'03.84\"N 74\u00b009'50.76\"W",
        "40\u00b044\u203203.84\u2033N, 74\u00b009\u203250.76\u2033W",
        "40\u00b0 44\u2019 03.84\u201d N, 74\u00b0 09\u2019 50.76\u201d W",
        "40d44m03.84sN 74d09m50.76sW",
        "40d 44m 03.84s, -74d 9m 50.76s",
        "40 deg 44 min 3.84 sec N, 74 deg 9 min 50.76 sec W",
        "40\u00b0 44.064' N 74\u00b0 9.846' W",
        "40 44.064 -74 09.846",
    ],
)
def test_every_usual_notation_is_the_same_place(text: str) -> None:
    place = parse_coordinates(text)
    assert (place.lat, place.lon) == pytest.approx((LAT, LON), abs=1e-9)
    assert place.order == "latitude first"
    assert (place.x, place.y) == pytest.approx(tuple(float(v) for v in to_working(LON, LAT)), abs=0.01)


@pytest.mark.parametrize(
    "text",
    ["-74.1641,40.7344", "W 74.1641 N 40.7344", "lon -74.1641 lat 40.7344", "74 09 50.76 W 40 44 03.84 N"],
)
def test_longitude_first_is_read_and_said(text: str) -> None:
    place = parse_coordinates(text)
    assert (place.lat, place.lon) == pytest.approx((LAT, LON), abs=1e-9)
    assert place.order == "longitude first"
    assert any("Longitude came first" in n for n in place.notes)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        (" \u00a0", "empty"),
        ("40.7344, 74.1641", r'minus sign.*missing.*grownj check "40\.7344,-74\.1641"'),
        ("74.1641 40.7344", r'minus sign.*missing.*grownj check "40\.7344,-74\.1641"'),
        ("lat 40.7344 lon 74.1641", r'grownj check "40\.7344,-74\.1641"'),
        ("40 44 03.84, 74 09 50.76", r'grownj check "40\.7344000,-74\.1641000"'),
        ("40.7344 N 74.1641 E", r'grownj check "40\.7344,-74\.1641"'),
        ("-40.7344, 74.1641", "signs do not fit"),
        ("40.7344 S 74.1641 W", "signs do not fit"),
        ("lat -74.1641 lon 40.7344", r'swapped.*grownj check "40\.7344,-74\.1641"'),
        ("0,0", r"\(0, 0\)"),
        ("0 -0.0", r"\(0, 0\)"),
        ("nan,-74.1641", "not a number"),
        ("NaN NaN", "not a number"),
        ("inf, -inf", "not a number"),
        ("40.7344,-200", "not on the globe"),
        ("95.5,-74.1641", "not on the globe"),
        ("40.7344", "1 number where two"),
        ("40.7344,", "1 number where two"),
        ("40.7344,-74.1641,12", "3 numbers"),
        ("40.7344 -74.1641 12", "3 numbers"),
        ("40 44 -74", "3 numbers"),
        ("40,7344,-74,1641", "4 numbers"),
        ("1 2 3 4 5", "5 numbers"),
        ("585000 700000", "looks like State Plane feet; add --crs EPSG:3424"),
        ("700000,585000", "looks like State Plane feet; add --crs EPSG:3424"),
        ("570000 4510000", "UTM zone 18N metres; add --crs EPSG:26918"),
        ("999999999 1", "too large for degrees"),
        ("40.7344 N 41.0 N", "both are marked as latitude"),
        ("-40.7344 N, 74.1641 W", "contradict"),
        ("lat 40.7344 W, lon -74.1641", "label"),
        ("40 61 00 N 74 00 00 W", "below 60"),
        ("40 44 60, -74 09 50", "below 60"),
        ("40.5 30 -74.5 30", "4 numbers"),
        ("40.7344 - 74.1641", "not part of a coordinate"),
        ("4.07344e1, -7.41641e1", "Coordinates were read"),
        ("40' 44, -74' 09", "out of order"),
        (":40.7344, -74.1641", "colon"),
        ("\u0664\u0660.7, -74.1", "not part of a coordinate"),
    ],
)
def test_what_is_not_clear_is_refused_with_what_to_do(text: str, words: str) -> None:
    with pytest.raises(SiteError, match=words) as caught:
        parse_coordinates(text)
    assert not isinstance(caught.value, OutsideNewJerseyError)
    assert "read as" in str(caught.value)
    assert "xpected" in str(caught.value)


@pytest.mark.parametrize("text", ["51.5,-0.12", "N 34.05 W 118.24", "-33.87 151.2", "42.9 -74.2"])
def test_a_clear_place_elsewhere_is_outside_new_jersey(text: str) -> None:
    with pytest.raises(OutsideNewJerseyError, match="outside New Jersey"):
        parse_coordinates(text)


def test_a_place_just_outside_is_left_to_the_polygons() -> None:
    assert parse_coordinates("39.9526,-75.1652").lat == 39.9526  # Philadelphia


@pytest.mark.parametrize(
    ("text", "feet", "note"),
    [
        ("40.734,-74.164", 182, "3 decimals.*182 ft.*--uncertainty-ft"),
        ("40.7344,-74.164", 138, "3 decimals.*138 ft"),
        ("40.7344,-74.1641", 18.2, None),
        ("40 44 03 N 74 09 50 W", 50.6, "whole seconds.*51 ft"),
        ("40 44 03.8 N 74 09 50.8 W", 5.06, None),
        ("40 44.06 N 74 09.85 W", 30.3, None),
        ("40 44 N 74 09 W", 3033, "whole minutes"),
        ("40,-74", 182_000, "whole degrees"),
    ],
)
def test_the_digits_typed_are_counted_and_only_noted(text: str, feet: float, note: str | None) -> None:
    place = parse_coordinates(text)
    assert place.rounding_ft == pytest.approx(feet, rel=0.01)
    said = [n for n in place.notes if n.startswith("Typed to")]
    if note is None:
        assert not said
    else:
        with pytest.raises(ValueError, match=note):
            raise ValueError(said[0])


def test_a_labelled_height_and_a_doubled_sign_are_noted() -> None:
    assert "'elev 12 m' was dropped" in parse_coordinates("40.7344, -74.1641, elev 12 m").notes[0]
    assert "read once" in parse_coordinates("40.7344 N, -74.1641 W").notes[0]
    assert "decimal points" in parse_coordinates("40,7344; -74,1641").notes[0]


def test_projected_coordinates_are_x_then_y() -> None:
    place = parse_coordinates("585000 700000.5", crs="3424")
    assert (place.x, place.y, place.order) == (585000.0, 700000.5, "x, y in EPSG:3424")
    assert place.rounding_ft == pytest.approx(0.5, rel=1e-4)
    assert (place.lat, place.lon) == pytest.approx((40.75467, -74.16474), abs=1e-5)
    metres = parse_coordinates("570000;4510000", crs="EPSG:26918")
    assert (metres.lat, metres.lon) == pytest.approx((40.73797, -74.17095), abs=1e-5)
    assert metres.rounding_ft == pytest.approx(1.64, rel=0.01)


def test_degrees_in_a_named_system() -> None:
    assert parse_coordinates("40.7344,-74.1641", crs="EPSG:4326") == parse_coordinates("40.7344,-74.1641")
    nad27 = parse_coordinates("40.7344,-74.1641", crs="4267")
    assert any("EPSG:4267" in n for n in nad27.notes)
    assert 50 < math.dist((nad27.x, nad27.y), [float(v) for v in to_working(LON, LAT)]) < 200


@pytest.mark.parametrize(
    ("text", "crs", "words"),
    [
        ("40.7344,-74.1641", "3424", "look like degrees.*leave --crs out"),
        ("4510000 570000", "26918", r'swapped.*grownj check "570000 4510000" --crs EPSG:26918'),
        ("570000 4510000", "3424", "UTM zone 18N metres; add --crs EPSG:26918"),
        ("585000 700000", "32111", "State Plane feet; add --crs EPSG:3424"),
        ("585,000 700,000", "3424", "thousands commas"),
        ("585000", "3424", "two numbers"),
        ("585000 700000 12", "3424", "two numbers"),
        ("585000E 700000N", "3424", "two numbers"),
        ("0 0", "3424", r"\(0, 0\)"),
        ("9000000000 1", "3424", "outside New Jersey.*feet against metres"),
        ("585000 700000", "99999", "not known to PROJ"),
        ("585000 700000", "5703", "no horizontal"),
        ("585000 700000", "+proj=pipeline +step +init=x", "expected a code"),
        ("585000 700000", "/etc/passwd", "expected a code"),
        ("585000 700000", "", "expected a code"),
    ],
)
def test_a_wrong_system_is_refused_with_a_hint(text: str, crs: str, words: str) -> None:
    with pytest.raises(SiteError, match=words):
        parse_coordinates(text, crs=crs)


def _dms(value: float, letters: str, style: int) -> str:
    tenths = round(abs(value) * 36_000)
    degrees, rest = divmod(tenths, 36_000)
    minutes, rest = divmod(rest, 600)
    seconds = f"{rest // 10:02d}.{rest % 10}"
    letter = letters[value < 0]
    return (
        f"{degrees} {minutes:02d} {seconds} {letter}",
        f"{degrees}\u00b0{minutes:02d}\u2032{seconds}\u2033{letter}",
        f"{letter}{degrees}:{minutes:02d}:{seconds}",
        f"{'-' * (value < 0)}{degrees}d{minutes:02d}m{seconds}s",
    )[style]


@given(
    lat=st.floats(38.9, 41.4),
    lon=st.floats(-75.6, -73.9),
    decimals=st.integers(2, 9),
    separator=st.sampled_from([",", ", ", " ", ";", "\t"]),
    swap=st.booleans(),
    letters=st.booleans(),
)
def test_decimal_degrees_come_back(
    *, lat: float, lon: float, decimals: int, separator: str, swap: bool, letters: bool
) -> None:
    a, b = f"{lat:.{decimals}f}", f"{lon:.{decimals}f}"
    pair = (f"{a}N", f"{b[1:]}W") if letters else (a, b)
    place = parse_coordinates(separator.join(pair[::-1] if swap else pair))
    assert (place.lat, place.lon) == (float(a), float(b))
    assert place.order == ("longitude first" if swap else "latitude first")
    assert abs(place.lat - lat) * 364_000 <= place.rounding_ft * 1.001 + 1e-6


@given(
    lat=st.floats(38.9, 41.4),
    lon=st.floats(-75.6, -73.9),
    style=st.integers(0, 3),
    swap=st.booleans(),
    separator=st.sampled_from([", ", " ", "; "]),
)
def test_degrees_minutes_seconds_come_back(*, lat: float, lon: float, style: int, swap: bool, separator: str) -> None:
    pair = (_dms(lat, "NS", style), _dms(lon, "EW", style))
    place = parse_coordinates(separator.join(pair[::-1] if swap else pair))
    assert abs(place.lat - lat) * 364_000 <= place.rounding_ft * 1.001
    assert abs(place.lon - lon) * 364_000 <= place.rounding_ft * 1.001


def _reads_or_refuses(text: str) -> None:
    try:
        place = parse_coordinates(text)
    except SiteError:
        return
    assert -75.8 <= place.lon <= -73.7
    assert 38.7 <= place.lat <= 41.5


@given(st.text(max_size=30))
def test_no_text_breaks_the_parser(text: str) -> None:
    _reads_or_refuses(text)


@given(st.text(alphabet="0123456789.,;- NSEWdms\u00b0'\":", max_size=24))
def test_no_near_coordinate_breaks_the_parser(text: str) -> None:
    _reads_or_refuses(text)
