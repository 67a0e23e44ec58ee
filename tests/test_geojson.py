"""GeoJSON: what becomes a site, what is said about it, and what is refused."""

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
from grownj_geo.geojson import gather, member_crs, parse_geojson, read_text
from grownj_geo.locate import locate, locate_file

FILES = Path(__file__).parent / "files" / "locate"
DIRECTORY = SimpleNamespace(names={"0408": ("Camden City", "Camden"), "0714": ("Newark City", "Essex")})
BOW_TIE = [[-74.17, 40.73], [-74.16, 40.74], [-74.16, 40.73], [-74.17, 40.74], [-74.17, 40.73]]


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


def test_shapes_are_gathered_in_their_own_coordinates() -> None:
    found = gather(_collection(_feature(_point(585000, 700000, 12), Pams_Pin="0408_81_1"), _feature(_square())), "It")
    assert found.points == [shapely.Point(585000, 700000)]
    assert [p.bounds for p in found.polygons] == [pytest.approx((-74.17, 40.73, -74.16, 40.74))]
    assert (found.pins, found.has_z) == (["0408_81_1", None], True)


def test_a_polygon_keeps_its_holes() -> None:
    outer, inner = _square()["coordinates"][0], _square(0.004, 0.002)["coordinates"][0]
    found = gather({"type": "Polygon", "coordinates": [outer, inner]}, "It")
    assert found.polygons[0].area == pytest.approx(0.01**2 - 0.002**2)


def test_the_system_that_a_file_names_is_read() -> None:
    assert member_crs(_point(0, 0), "It") is None
    assert member_crs(_point(0, 0) | {"crs": None}, "It") is None
    assert member_crs(_with_crs(_point(0, 0), "urn:ogc:def:crs:EPSG::3424"), "It") == "EPSG:3424"


def test_a_file_is_text_in_utf8_with_or_without_a_mark() -> None:
    for name in ("point.geojson", "bom.json"):
        assert "type" in parse_geojson(read_text(FILES / name, "It"), "It")


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


def test_a_polygon_elsewhere_is_outside_new_jersey() -> None:
    with pytest.raises(OutsideNewJerseyError, match="outside New Jersey"):
        locate(json.dumps(_square(10)), directory=DIRECTORY)


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
    ],
)
def test_text_that_is_not_quite_json_is_refused(text: str, words: str) -> None:
    with pytest.raises(SiteError, match=words):
        locate(text, directory=DIRECTORY)


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


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["type", "geometry", "coordinates", "features", "crs", "name"]), inner)
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
