"""From typed text to a site: what is read, what is noted, and what is refused."""

from __future__ import annotations

import json
from functools import reduce
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from grownj_geo.errors import OutsideNewJerseyError, SiteError
from grownj_geo.locate import locate, locate_file
from grownj_geo.units import to_working

FILES = Path(__file__).parent / "files" / "locate"
DIRECTORY = SimpleNamespace(
    names={
        "0408": ("Camden City", "Camden"),
        "0714": ("Newark City", "Essex"),
        "1438": ("Washington Township", "Morris"),
        "2122": ("Washington Township", "Warren"),
    }
)
NEWARK = tuple(float(v) for v in to_working(-74.1641, 40.7344))


def _square(east: float = 0.0, size: float = 0.01) -> dict[str, Any]:
    x, y = -74.17 + east, 40.73
    ring = [[x, y], [x + size, y], [x + size, y + size], [x, y + size], [x, y]]
    return {"type": "Polygon", "coordinates": [ring]}


def _point(*xy: Any) -> dict[str, Any]:
    return {"type": "Point", "coordinates": list(xy)}


def _feature(geometry: Any, **properties: Any) -> dict[str, Any]:
    return {"type": "Feature", "geometry": geometry, "properties": properties}


def _collection(*features: Any) -> dict[str, Any]:
    return {"type": "FeatureCollection", "features": list(features)}


def _with_crs(geometry: dict[str, Any], name: Any) -> dict[str, Any]:
    return geometry | {"crs": {"type": "name", "properties": {"name": name}}}


BOW_TIE = [[-74.17, 40.73], [-74.16, 40.74], [-74.16, 40.73], [-74.17, 40.74], [-74.17, 40.73]]


@pytest.mark.parametrize(
    ("text", "located_by"),
    [
        ("40.7344,-74.1641", "coordinates, latitude first"),
        ("-74.1641,40.7344", "coordinates, longitude first"),
        ("POINT (-74.1641 40.7344)", "WKT"),
        ("point z(-74.1641 40.7344 12)", "WKT"),
        ("SRID=4269;POINT(-74.1641 40.7344)", "WKT"),
        (json.dumps(_point(-74.1641, 40.7344)), "GeoJSON text"),
        (json.dumps({"type": "MultiPoint", "coordinates": [[-74.1641, 40.7344, 3.0]]}), "GeoJSON text"),
        (json.dumps(_collection(_feature(_point(-74.1641, 40.7344)))), "GeoJSON text"),
        ("\ufeff" + json.dumps(_point(-74.1641, 40.7344)), "GeoJSON text"),
        (json.dumps(_with_crs(_point(-74.1641, 40.7344), "urn:ogc:def:crs:OGC:1.3:CRS84")), "GeoJSON text"),
    ],
)
def test_one_point_however_it_is_given(text: str, located_by: str) -> None:
    site = locate(text, uncertainty_ft=25, directory=DIRECTORY)
    assert site.geometry is not None
    assert (site.geometry.x, site.geometry.y) == pytest.approx(NEWARK, abs=0.01)
    assert (site.located_by, site.typed, site.uncertainty_ft) == (located_by, text, 25)
    assert site.mun_code is None
    assert any("dropped" in n for n in site.notes) == ("3.0" in text or " 12)" in text)


@pytest.mark.parametrize(
    ("text", "crs"),
    [
        ("585000 700000", "3424"),
        ("POINT(585000 700000)", "EPSG:3424"),
        ("SRID=3424;POINT(585000 700000)", None),
        ("SRID=3424;POINT(585000 700000)", "3424"),
        (json.dumps(_point(585000, 700000)), "3424"),
        (json.dumps(_with_crs(_point(585000, 700000), "EPSG:3424")), None),
    ],
)
def test_state_plane_feet_are_taken_as_they_are(text: str, crs: str | None) -> None:
    site = locate(text, crs=crs, directory=DIRECTORY)
    assert site.geometry == shapely.Point(585000, 700000)
    assert "EPSG:3424" in " ".join((site.located_by, *site.notes))


def test_several_polygons_are_one_site() -> None:
    def notes(*easts: float) -> tuple[str, float]:
        shapes = [_feature(_square(e)) for e in easts]
        site = locate(json.dumps(_collection(*shapes)), directory=DIRECTORY)
        return site.notes[0], site.area_sqft

    one = locate(json.dumps(_square()), directory=DIRECTORY)
    text, area = notes(0, 0.01)
    assert "2 polygons" in text
    assert "touch" in text
    assert area == pytest.approx(2 * one.area_sqft, rel=1e-5)
    text, area = notes(0, 0.005)
    assert "overlap by" in text
    assert area == pytest.approx(1.5 * one.area_sqft, rel=1e-5)
    text, area = notes(0, 0.1)
    assert "2 pieces that lie apart" in text
    parts = {"type": "MultiPolygon", "coordinates": [_square(e)["coordinates"] for e in (0, 0.1)]}
    site = locate(json.dumps(parts), directory=DIRECTORY)
    assert site.area_sqft == pytest.approx(area, rel=1e-9)
    gathered = {"type": "GeometryCollection", "geometries": [_square(), _square(0.1)]}
    assert locate(json.dumps(gathered), directory=DIRECTORY).area_sqft == pytest.approx(area, rel=1e-9)
    wkt = shapely.from_geojson(json.dumps(parts)).wkt
    assert locate(wkt, directory=DIRECTORY).area_sqft == pytest.approx(area, rel=1e-9)


def test_long_sides_are_bent_with_the_projection() -> None:
    site = locate(json.dumps(_square(size=0.2)), directory=DIRECTORY)
    assert shapely.get_num_coordinates(site.geometry) > 200


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({}, "no type"),
        ({"a": 1}, "no type"),
        ({"type": "Topology", "objects": {}}, "TopoJSON"),
        ({"type": "Circle", "coordinates": [1, 2]}, "unknown type 'Circle'"),
        (_feature(None), "null geometry"),
        (_collection(_feature(_square()), _feature(None)), "feature 2 has a null geometry"),
        (_collection(), "empty"),
        ({"type": "FeatureCollection"}, "empty"),
        ({"type": "Polygon", "coordinates": []}, "empty geometry"),
        ({"type": "Polygon", "coordinates": [[]]}, "empty geometry"),
        (_point(), "empty geometry"),
        ({"type": "Point"}, "no list of coordinates"),
        (_point(-74.1), "position"),
        (_point("-74.1", "40.7"), "coordinate '-74.1'"),
        (_point(None, 40.7), "coordinate None"),
        (_point(True, 40.7), "coordinate True"),
        (_point(10**400, 40.7), "not finite"),
        (_point(0, 0), r"\(0, 0\)"),
        (_point(40.7344, -74.1641), r"swapped.*POINT \(-74.1641 40.7344\)"),
        (_point(74.1641, 40.7344), "signs do not fit.*minus sign"),
        (_point(585000, 700000), "State Plane feet; add --crs EPSG:3424"),
        (_point(-200, 40.7), "not on the globe"),
        (_with_crs(_point(-74.1641, 40.7344), "EPSG:3424"), "look like degrees"),
        (_with_crs(_point(-74.1641, 40.7344), "EPSG:99999"), "not known"),
        (_with_crs(_point(-74.1641, 40.7344), 7), "names no system"),
        ({"type": "Polygon", "coordinates": [BOW_TIE]}, r"self-intersection at -74\.165, 40\.735.*Repair"),
        ({"type": "Polygon", "coordinates": [BOW_TIE[:3]]}, "ring of 3 positions"),
        ({"type": "Polygon", "coordinates": [BOW_TIE[:4]]}, "unclosed ring"),
        ({"type": "LineString", "coordinates": BOW_TIE}, "LineString.*line has no land"),
        ({"type": "MultiPoint", "coordinates": BOW_TIE}, "5 points.*one at a time"),
        (_collection(_feature(_point(-74.1, 40.7)), _feature(_point(-74.2, 40.7))), "2 points"),
        (_collection(_feature(_square()), _feature(_point(-74.1, 40.7))), "points and polygons together"),
        (reduce(lambda inner, _: _feature(inner), range(10), _square()), "nested"),
    ],
)
def test_geojson_that_is_not_a_site_is_refused(value: dict[str, Any], words: str) -> None:
    with pytest.raises(SiteError, match=words) as caught:
        locate(json.dumps(value), directory=DIRECTORY)
    assert not isinstance(caught.value, OutsideNewJerseyError)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"type":"Point","coordinates":[NaN,40.7]}', "NaN"),
        ('{"type":"Point","coordinates":[-Infinity,40.7]}', "Infinity"),
        ('{"type":"Point","coordinates":[1e999,40.7]}', "not finite"),
        ('{"type":', "not JSON"),
        ('{"a":' * 100_000, "nested too deep"),
        ("POINT (40.7344 -74.1641)", r"swapped.*POINT \(-74.1641 40.7344\)"),
        ("POINT (-74.1641 40.7344", "not complete"),
        ("POINT (-74.1641)", "not complete"),
        ("POINT EMPTY", "empty"),
        ("POINT (nan nan)", "not a finite"),
        ("POINT (1e400 40.7)", "not a finite"),
        ("POINT (585000 700000)", "add --crs EPSG:3424"),
        ("LINESTRING (-74 40, -74 41)", "no point or polygon"),
        ("MULTIPOINT (-74 40)", "no point or polygon"),
        ("POLYGON ((-74.2 40.7, -74.1 40.7, -74.1 40.8))", "not complete"),
        ("POLYGON ((-74.2 40.7, -74.1 40.8, -74.1 40.7, -74.2 40.8, -74.2 40.7))", "self-intersection"),
        ("SRID=99999;POINT (1 2)", "not known"),
        ("", "empty.*--municipality"),
        (" \t", "empty"),
        ("12 Main Street, Newark", "address cannot be looked up.*coordinates.*parcel number.*--municipality"),
        ("100 N Broad St", "address cannot be looked up"),
        ("Newark", "address cannot be looked up"),
        ("Point Pleasant", "address cannot be looked up"),
        ("40.7344, 74.1641", r'grownj check "40\.7344,-74\.1641"'),
        ("nan,nan", "not a number"),
        ("lat", "0 numbers"),
        ("/vsicurl/http://example.com/a.geojson", "virtual paths are never opened"),
        ("/VSIzip/a.zip/a.geojson", "virtual paths are never opened"),
        ("https://example.com/a.geojson", "never opened.*Download"),
        ("file:///etc/passwd", "never opened"),
        ("nowhere.geojson", "not a file"),
        ("a\x00b.json", "not a file"),
        (__file__, "not GeoJSON"),
        (str(FILES.parent), "not GeoJSON"),
    ],
)
def test_text_that_is_not_a_site_is_refused(text: str, words: str) -> None:
    with pytest.raises(SiteError, match=words):
        locate(text, directory=DIRECTORY)


@pytest.mark.parametrize(
    "text", ["51.5,-0.12", "POINT (-0.12 51.5)", json.dumps(_point(-0.12, 51.5)), json.dumps(_square(10))]
)
def test_outside_new_jersey_is_its_own_error(text: str) -> None:
    with pytest.raises(OutsideNewJerseyError, match="outside New Jersey"):
        locate(text, directory=DIRECTORY)


def test_two_systems_are_refused() -> None:
    for text in ("SRID=3424;POINT(585000 700000)", json.dumps(_with_crs(_point(585000, 7e5), "EPSG:3424"))):
        with pytest.raises(SiteError, match="says EPSG:3424, and --crs says EPSG:26918"):
            locate(text, crs="26918", directory=DIRECTORY)


@pytest.mark.parametrize("name", ["point.geojson", "bom.json"])
def test_a_file_is_read(name: str) -> None:
    path = FILES / name
    by_text, by_file = locate(str(path), directory=DIRECTORY), locate_file(path, directory=DIRECTORY)
    assert by_text == by_file
    assert (by_file.typed, by_file.located_by) == (str(path), "GeoJSON file")
    assert by_file.geometry is not None
    assert (by_file.geometry.x, by_file.geometry.y) == pytest.approx(NEWARK, abs=0.01)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"<!DOCTYPE html><html><body>404</body></html>", "HTML or XML page"),
        (b"<?xml version='1.0'?><kml></kml>", "KML"),
        (json.dumps(_point(-74.1, 40.7)).encode("utf-16"), "UTF-16"),
        (json.dumps(_point(-74.1, 40.7)).encode("utf-16-le"), "UTF-16"),
        (b"PK\x03\x04\xff\xfe\xfa", "not text in UTF-8"),
        (b"lat,lon\n40.7,-74.1\n", "not JSON"),
        (b"[1, 2]", "not GeoJSON"),
        (b'"text"', "not GeoJSON"),
    ],
)
def test_a_file_that_is_not_geojson_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "site.geojson"
    path.write_bytes(content)
    with pytest.raises(SiteError, match=words) as caught:
        locate(str(path), directory=DIRECTORY)
    assert "site.geojson" in str(caught.value)


def test_files_too_large_or_not_there_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "big.geojson"
    with path.open("wb") as file:
        file.truncate(50_000_001)
    with pytest.raises(SiteError, match="larger than 50 MB"):
        locate_file(path, directory=DIRECTORY)
    for bad in (tmp_path, tmp_path / "none.geojson"):
        with pytest.raises(SiteError, match="not a file"):
            locate_file(bad, directory=DIRECTORY)
    with pytest.raises(SiteError, match="never opened"):
        locate_file("/vsimem/a.geojson", directory=DIRECTORY)


def test_parcels_named_in_a_file_settle_the_municipality() -> None:
    def read(*pins: str | None) -> Any:
        shapes = [_feature(_square(0.02 * i), **({"pams_pin": p} if p else {})) for i, p in enumerate(pins)]
        return locate(json.dumps(_collection(*shapes)), directory=DIRECTORY)

    site = read("0714_1_1.1", "0714_1_1.10")
    assert (site.mun_code, site.mun_basis, site.pins) == ("0714", "pin", ("0714_1_1.1", "0714_1_1.10"))
    assert any("taken from PAMS_PIN" in n for n in site.notes)
    site = read("0714_1_1", "0408_1_1")
    assert (site.mun_code, site.pins) == (None, ("0714_1_1", "0408_1_1"))
    assert any("several municipalities" in n for n in site.notes)
    site = read("0714_1_1", None)
    assert (site.mun_code, site.pins) == (None, ("0714_1_1",))
    assert any("others do not" in n for n in site.notes)
    site = read("714_1_1")
    assert (site.mun_code, site.pins) == (None, ())
    assert any("not used" in n for n in site.notes)


def test_without_a_place_the_municipality_is_known() -> None:
    site = locate("0408_81_1, 0408_81_2", directory=DIRECTORY)
    assert (site.geometry, site.mun_code, site.mun_basis) == (None, "0408", "pin")
    assert site.pins == ("0408_81_1", "0408_81_2")
    assert locate("", pin="0408_81_1", directory=DIRECTORY).mun_basis == "pin"
    site = locate("", municipality="camden", directory=DIRECTORY)
    assert (site.geometry, site.mun_code, site.mun_basis, site.typed) == (None, "0408", "stated", "camden")
    assert "name of a county" in site.notes[0]
    with pytest.raises(SiteError, match="Morris County"):
        locate("", municipality="Washington Township", directory=DIRECTORY)


def test_a_parcel_number_outranks_what_is_stated_and_must_agree() -> None:
    place = "40.7344,-74.1641"
    both = locate(place, pin="0714_1_1", municipality="Newark", directory=DIRECTORY)
    assert (both.mun_code, both.mun_basis, both.pins) == ("0714", "pin", ("0714_1_1",))
    assert both.geometry is not None
    stated = locate(place, municipality="0714", directory=DIRECTORY)
    assert (stated.mun_code, stated.mun_basis) == ("0714", "stated")
    for text, pin in ((place, "0408_81_1"), ("0408_81_1", None)):
        with pytest.raises(SiteError, match=r"0408_81_1 is in Camden City.*stated as Newark City"):
            locate(text, pin=pin, municipality="Newark", directory=DIRECTORY)
    with pytest.raises(SiteError, match="give them once"):
        locate("0408_81_1", pin="0408_81_2", directory=DIRECTORY)


@pytest.mark.parametrize("feet", [-1.0, float("nan"), float("inf")])
def test_an_impossible_uncertainty_is_refused(feet: float) -> None:
    with pytest.raises(SiteError, match="uncertainty"):
        locate("40.7344,-74.1641", uncertainty_ft=feet, directory=DIRECTORY)


def test_coarse_digits_never_become_the_uncertainty() -> None:
    site = locate("40.73,-74.16", directory=DIRECTORY)
    assert site.uncertainty_ft == 0
    assert any("--uncertainty-ft" in n for n in site.notes)


@given(st.text(max_size=40))
def test_no_text_ends_in_anything_but_a_site_or_a_site_error(text: str) -> None:
    try:
        site = locate(text, directory=DIRECTORY)
    except SiteError:
        return
    assert site.geometry is not None or site.pins


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["type", "geometry", "coordinates", "features", "crs", "name"]), inner
        )
    ),
    max_leaves=12,
)


@given(
    kind=st.sampled_from(
        [
            "Point",
            "Polygon",
            "MultiPolygon",
            "MultiPoint",
            "Feature",
            "FeatureCollection",
            "GeometryCollection",
        ]
    ),
    key=st.sampled_from(["coordinates", "geometry", "features", "geometries"]),
    value=JSON,
    crs=JSON,
)
def test_no_json_ends_in_anything_but_a_site_error(kind: str, key: str, value: Any, crs: Any) -> None:
    try:
        locate(json.dumps({"type": kind, key: value, "crs": crs}), directory=DIRECTORY)
    except SiteError:
        return
