"""GeoJSON and KML: what counts in them, and broken content that GDAL passes over."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from layer_files import GDALG, collection, frame, geojson_file, kinds, kml, place, refused, ring, save_text, zipped

from grownj_geo.features import LayerFault
from grownj_geo.readers import Source, find_sources, read_features

if TYPE_CHECKING:
    from pathlib import Path


def test_folders_of_kml_are_layers(tmp_path: Path) -> None:
    body = (
        f"<Folder><name>Areas</name>{place('0102')}<Folder><name>Inner</name>{place('b')}{place('c')}</Folder></Folder>"
    )
    (tmp_path / "a.kml").write_text(kml(f"{body}<Folder><name>Empty</name></Folder>"), encoding="utf-8")
    message = refused(tmp_path / "a.kml", "several_layers", kind="polygon")
    assert "'Areas' (mixed, 1 features)" in message
    assert "Empty" not in message
    assert read_features(tmp_path / "a.kml", sublayer="Areas").columns["SPDETAIL"] == ["0102"]
    inner = read_features(zipped(tmp_path / "a.kmz", {"doc.kml": tmp_path / "a.kml"}), sublayer="Inner")
    assert inner.columns["Name"] == ["b", "c"]
    assert inner.source == "a.kmz: doc.kml/Inner"
    assert set(inner.columns) == {"Name", "SPDETAIL"}
    assert kinds(inner) == {"z_zero": "noted"}


def test_links_of_kml_are_told_and_not_followed(tmp_path: Path) -> None:
    link = "<NetworkLink><Link><href>http://127.0.0.1:9/x.kml</href></Link></NetworkLink>"
    (tmp_path / "a.kml").write_text(kml(link + place("a")), encoding="utf-8")
    assert kinds(read_features(tmp_path / "a.kml"))["links_not_followed"] == "left_out"


def test_a_geojson_cut_between_features_is_refused(tmp_path: Path) -> None:
    path = geojson_file(tmp_path, frame("OGC:CRS84"))
    text = path.read_text()
    for at in [i for i in range(len(text)) if text.startswith('{ "type": "Feature"', i)][1:]:
        for cut in (at, text.rindex("}", 0, at) + 1):
            path.write_text(text[:cut])
            refused(path, "truncated")


@pytest.mark.parametrize(
    "broken",
    [
        ring([-74.15, 40.72], ["a", 40.72], [-74.14, 40.73], [-74.15, 40.72]),
        ring([-74.15, 40.72], [40.72], [-74.14, 40.73], [-74.15, 40.72]),
        ring([-74.15, 40.72], None, [-74.14, 40.73], [-74.15, 40.72]),
        ring([-74.15, 40.72], [None, 40.72], [-74.14, 40.73], [-74.15, 40.72]),
        ring([-74.15, 40.72], [-74.14, 40.72], [-74.14, 40.73], [-74.15, 40.74]),
        {"type": "Polygone", "coordinates": ring()["coordinates"]},
        {"type": "Polygon", "coordinates": "none"},
        {"type": "Polygon"},
        {"type": "MultiPolygon", "coordinates": [ring()["coordinates"], [[[1, 1], ["a", 2], [3, 3], [1, 1]]]]},
    ],
)
def test_coordinates_that_are_no_numbers_are_no_empty_shapes(tmp_path: Path, broken: Any) -> None:
    (tmp_path / "a.geojson").write_text(collection(ring(), broken))
    assert "a.geojson" in refused(tmp_path / "a.geojson", "broken_geometry")


def test_what_is_no_feature_is_not_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.geojson"
    text = collection(ring(), ring(), ring())
    path.write_text(text.replace('"Feature", "properties": {"SPDETAIL": "RURAL"}', '"Feature"', 1))
    assert len(read_features(path)) == 3
    whole = json.loads(text)
    for other in (None, 3, ring(), {"properties": {}, "geometry": None}, {"type": "feature", "geometry": None}):
        path.write_text(json.dumps(whole | {"features": [*whole["features"], other]}))
        assert "row 4" in refused(path, "wrong_format")
    del whole["features"][1]["geometry"]
    path.write_text(json.dumps(whole))
    assert "row 2" in refused(path, "broken_geometry")


@pytest.mark.parametrize(
    "more",
    [
        {"geometry": None},
        {"geometry": {"type": "Polygon", "coordinates": [[["a"]]]}},
        {"coordinates": [[1], ["a", None]]},
        {"crs": None},
        {"crs": {"type": "name", "properties": {"name": "EPSG:3424"}}},
        {"crs": {"type": "link", "properties": {"href": "http://127.0.0.1:9/crs"}}},
        {"note": {"type": "Feature"}},
        {"note": {"type": "Feature", "geometry": None, "crs": None, "features": [{"type": "Feature"}]}},
        {"type": "Feature"},
        {"type": "Topology"},
        {"type": "gdal_streamed_alg"},
        {"geometryType": "esriGeometryPolygon", "attributes": {}, "features": None},
        {"note": '"crs": null, "geometry": null, {"type": "Feature"} ] }'},
    ],
)
def test_properties_may_be_named_as_what_geojson_is_made_of(tmp_path: Path, more: dict[str, Any]) -> None:
    path = tmp_path / "a.geojson"
    features = json.loads(collection(ring(), ring(), None))["features"]
    for feature in features:
        feature["properties"] |= more
    whole, one = json.dumps({"type": "FeatureCollection", "features": features}), json.dumps(features[0])
    for text, count in ((whole, 3), (one, 1), (f"{one}\n{one}\n", 2)):
        path.write_text(text)
        read = read_features(path)
        assert read.crs == "OGC:CRS84"
        assert [shape and shape.area > 0 for shape in read.geometries] == [True, True, None][:count]
        assert set(read.columns) == {"SPDETAIL", *more}
        for name, value in more.items():
            for got in read.columns[name]:
                assert (got if value is None or isinstance(value, str) else json.loads(got)) == value
        assert find_sources(path) == [Source("a.geojson", "geojson", "mixed", count)]


def test_null_and_empty_shapes_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.geojson").write_text(collection(ring(), None, {"type": "Polygon", "coordinates": []}))
    first, second, third = read_features(tmp_path / "a.geojson").geometries
    assert second is None
    assert third.is_empty
    assert not first.is_empty


def test_codes_of_geojson_stay_text(tmp_path: Path) -> None:
    (tmp_path / "a.geojson").write_text(
        collection(ring(), ring(), day="2015-01-02", code="0102", many=[1, "a"], big=2**53)
    )
    columns = read_features(tmp_path / "a.geojson").columns
    assert columns["day"] == ["2015-01-02"] * 2
    assert columns["code"] == ["0102"] * 2
    assert json.loads(columns["many"][0]) == [1, "a"]
    assert columns["big"][0] == 2**53


def test_mixed_types_and_collections_are_kept(tmp_path: Path) -> None:
    line = {"type": "LineString", "coordinates": [[-74, 40], [-74, 41]]}
    both = {"type": "GeometryCollection", "geometries": [ring(), line]}
    (tmp_path / "a.geojson").write_text(collection(ring(), line, both))
    assert [g.geom_type for g in read_features(tmp_path / "a.geojson").geometries] == [
        "Polygon",
        "LineString",
        "GeometryCollection",
    ]


def named(name: str) -> dict[str, Any]:
    return {"type": "name", "properties": {"name": name}}


@pytest.mark.parametrize(
    ("crs", "read"),
    [
        (..., "OGC:CRS84"), (None, None), (named("urn:ogc:def:crs:EPSG::3424"), "EPSG:3424"),
        (named("urn:ogc:def:crs:OGC:1.3:CRS84"), "OGC:CRS84"), (named("EPSG:26918"), "EPSG:26918"),
    ],
)  # fmt: skip
def test_the_system_of_geojson_is_the_one_that_it_names(tmp_path: Path, crs: Any, read: str | None) -> None:
    (tmp_path / "a.geojson").write_text(collection(ring(), crs=crs))
    assert read_features(tmp_path / "a.geojson").crs == read


@pytest.mark.parametrize("name", ["id", "ID", "fid", "OBJECTID"])
def test_a_property_that_looks_like_a_row_number_is_an_attribute(tmp_path: Path, name: str) -> None:
    shape = {"type": "Point", "coordinates": [-74.1, 40.7]}
    rows = [{"type": "Feature", "properties": {name: value, "A": "x"}, "geometry": shape} for value in (7, 9)]
    (tmp_path / "a.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": rows}))
    assert read_features(tmp_path / "a.geojson").columns == {name: [7, 9], "A": ["x", "x"]}


def test_geojson_in_feet_that_names_no_system_declares_none(tmp_path: Path) -> None:
    corners = [[585000, 690000], [585100, 690000], [585100, 690100], [585000, 690000]]
    shape = {"type": "Polygon", "coordinates": [corners]}
    (tmp_path / "a.geojson").write_text(json.dumps({"type": "Feature", "properties": {}, "geometry": shape}))
    assert read_features(tmp_path / "a.geojson").crs is None


def test_systems_behind_links_or_unknown_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.geojson"
    path.write_text(collection(ring(), crs={"type": "link", "properties": {"href": "http://127.0.0.1:9/crs"}}))
    refused(path, "not_allowed")
    for name in ("PROJCS[...]", "EPSG:999999", "/etc/passwd", "http://127.0.0.1:9/crs"):
        path.write_text(collection(ring(), crs=named(name)))
        refused(path, "unknown_crs")


def test_geojson_in_other_encodings(tmp_path: Path) -> None:
    path = tmp_path / "a.geojson"
    text = collection(ring(), name="Pe\xf1a").replace("\\u00f1", "\xf1")
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert read_features(path).columns["name"] == ["Pe\xf1a"]
    for codec in ("cp1252", "utf-16"):
        path.write_bytes(text.encode(codec))
        refused(path, "wrong_encoding")
        assert read_features(path, encoding=codec).columns["name"] == ["Pe\xf1a"]
    refused(path, "wrong_encoding", encoding="utf-8")


@pytest.mark.parametrize(
    "coordinates", ["-74.2,40.7 abc,40.7 -74.1,40.8 -74.2,40.7", "-74.2 40.7 -74.1 40.7", "-74.2,40.7,"]
)
def test_coordinates_of_kml_are_numbers(tmp_path: Path, coordinates: str) -> None:
    (tmp_path / "a.kml").write_text(kml(place("a") + place("b", coordinates)), encoding="utf-8")
    assert "placemark 2" in refused(tmp_path / "a.kml", "broken_geometry")


@pytest.mark.parametrize(
    "content",
    [
        GDALG,
        '{"type": "Topology", "objects": {}}',
        '{"geometryType": "esriGeometryPolygon", "features": []}',
        "[]",
    ],
)
def test_other_json_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(LayerFault) as caught:
        read_features(save_text(tmp_path / "a.json", content))
    assert caught.value.fault in {"not_allowed", "wrong_format"}
    mixed = GDALG[:-1] + ', "features": [{"type": "Feature", "properties": {}, "geometry": null}]}'
    refused(save_text(tmp_path / "b.json", mixed), "not_allowed")


def test_entities_of_xml_are_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE kml [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    refused(save_text(tmp_path / "a.kml", kml(place("&b;"), head=bomb)), "not_allowed")
    outside = '<!DOCTYPE kml SYSTEM "http://127.0.0.1:9/kml.dtd">'
    refused(save_text(tmp_path / "a.kml", kml(place("a"), head=outside)), "not_allowed")
    wide = kml(place("&b;"), head=bomb).replace("UTF-8", "UTF-16")
    refused(save_text(tmp_path / "a.kml", wide, "utf-16"), "not_allowed")
