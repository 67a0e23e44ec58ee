"""Coordinate systems and New Jersey's box: names of systems, and why coordinates do not fit."""

from __future__ import annotations

import numpy as np
import pytest

from grownj_geo.crs import LAT_RANGE, LON_RANGE, agreed_crs, is_degrees, misfit, parse_crs, plain_text
from grownj_geo.errors import SiteError


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("epsg:3424", "EPSG:3424"),
        ("urn:ogc:def:crs:EPSG::26918", "EPSG:26918"),
        ("http://www.opengis.net/def/crs/EPSG/0/3424", "EPSG:3424"),
        ("urn:ogc:def:crs:OGC:1.3:CRS84", "OGC:CRS84"),
        ("ESRI:102711", "ESRI:102711"),
    ],
)
def test_names_of_systems(text: str, code: str) -> None:
    assert parse_crs(text) == code


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("99999", "not known to PROJ"),
        ("5703", "no horizontal"),
        ("+proj=pipeline +step +init=x", "expected a code"),
        ("/etc/passwd", "expected a code"),
        ("", "expected a code"),
    ],
)
def test_what_names_no_usable_system_is_refused(text: str, words: str) -> None:
    with pytest.raises(SiteError, match=words):
        parse_crs(text)


def test_invisible_characters_and_odd_signs_become_plain() -> None:
    assert plain_text("\u200e40\u00b0\u00a044\u2032, \u221274") == "40\u00b0 44', -74"


def test_systems_in_degrees() -> None:
    assert [is_degrees(c) for c in ("EPSG:4326", "OGC:CRS84", "EPSG:4267", "EPSG:3424")] == [
        True,
        True,
        True,
        False,
    ]


def test_what_is_stated_and_what_the_text_says_must_agree() -> None:
    assert agreed_crs(None, None, "It") == ("EPSG:4269", ())
    assert agreed_crs("3424", None, "It") == (
        "EPSG:3424",
        ("Its coordinates were read in EPSG:3424, as stated.",),
    )
    assert agreed_crs("3424", "EPSG:3424", "It")[0] == "EPSG:3424"
    # Longitude and latitude on WGS84 and NAD83 are taken as one.
    assert agreed_crs("4326", "OGC:CRS84", "It")[0] == "OGC:CRS84"
    with pytest.raises(SiteError, match="It: it says EPSG:3424, and --crs says EPSG:26918"):
        agreed_crs("26918", "EPSG:3424", "It")


@pytest.mark.parametrize(
    ("xy", "crs", "kind"),
    [
        ([[-74.1641, 40.7344]], "EPSG:4269", None),
        ([[LON_RANGE[0], LAT_RANGE[0]], [LON_RANGE[1], LAT_RANGE[1]]], "EPSG:4269", None),
        ([[585000, 700000]], "EPSG:3424", None),
        ([[0, 0]], "EPSG:4269", "zero"),
        ([[0, 0]], "EPSG:3424", "zero"),
        ([[40.7344, -74.1641]], "EPSG:4269", "swapped"),
        ([[4510000, 570000]], "EPSG:26918", "swapped"),
        ([[74.1641, 40.7344]], "EPSG:4269", "sign"),
        ([[585000, 700000]], "EPSG:4269", "projected"),
        ([[-74.1641, 40.7344]], "EPSG:3424", "degrees"),
        ([[570000, 4510000]], "EPSG:3424", "crs"),
        ([[-200, 40.7]], "EPSG:4269", "range"),
        ([[-0.12, 51.5]], "EPSG:4269", "outside"),
        ([[9_000_000_000, 1]], "EPSG:3424", "outside"),
    ],
)
def test_each_slip_has_its_kind(xy: list[list[float]], crs: str, kind: str | None) -> None:
    found = misfit(np.array(xy, dtype=np.float64), crs)
    assert (found and found.kind) == kind


def test_no_coordinates_that_are_not_finite_fit() -> None:
    found = misfit(np.array([[np.nan, 40.0]]), "EPSG:4269")
    assert found is not None
    assert found.kind == "not finite"


def test_a_system_that_would_fit_is_named() -> None:
    found = misfit(np.array([[570000.0, 4510000.0]]), "EPSG:3424")
    assert found is not None
    assert "UTM zone 18N metres; add --crs EPSG:26918" in found.hint
    turned = misfit(np.array([[4510000.0, 570000.0]]), "EPSG:4269")
    assert turned is not None
    assert turned.hint.endswith("add --crs EPSG:26918, with x (east) before y (north)")
