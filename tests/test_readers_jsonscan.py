"""GeoJSON by its own members: what counts as a feature, a position and a system, wherever the text is cut."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from grownj_geo import readers_jsonscan
from grownj_geo.features import LayerFault
from grownj_geo.readers_jsonscan import UNNAMED, JsonScan, scan_geojson

if TYPE_CHECKING:
    from pathlib import Path

POINT = {"type": "Point", "coordinates": [-74.1, 40.7]}
FEET = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::3424"}}
METRES = {"type": "name", "properties": {"name": "EPSG:26918"}}


def feature(geometry: Any = POINT, **more: Any) -> dict[str, Any]:
    return {"type": "Feature", "properties": {"SPDETAIL": "RURAL"}, "geometry": geometry, **more}


def collection(*features: Any, **more: Any) -> str:
    return json.dumps({"type": "FeatureCollection", **more, "features": list(features)})


def scan(path: Path, text: str) -> JsonScan:
    path.write_text(text, encoding="utf-8")
    return scan_geojson(path, source=path.name)


def refused(path: Path, text: str) -> tuple[str, str]:
    with pytest.raises(LayerFault) as caught:
        scan(path, text)
    return caught.value.fault, str(caught.value)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.geojson"


def test_positions_of_every_geometry_are_counted(path: Path) -> None:
    ring = [[0, 0], [1.5, 0, 7], [1e0, 1], [0, 0]]
    shapes = [
        POINT,
        {"type": "MultiPoint", "coordinates": ring},
        {"type": "LineString", "coordinates": ring},
        {"type": "MultiLineString", "coordinates": [ring, ring]},
        {"type": "Polygon", "coordinates": [ring, ring]},
        {"type": "MultiPolygon", "coordinates": [[ring], [ring, ring]]},
    ]
    whole = {"type": "GeometryCollection", "geometries": shapes}
    counts = [1, 4, 4, 8, 8, 12, 37]
    for shape, count in zip([*shapes, whole], counts, strict=True):
        assert scan(path, json.dumps(feature(shape))) == JsonScan(1, 0, count, UNNAMED)
    empty = [{"type": kind, "coordinates": []} for kind in ("Point", "Polygon", "MultiPolygon")]
    assert scan(path, collection(*map(feature, [*shapes, *empty, None]))) == JsonScan(10, 1, 37, UNNAMED)
    assert scan(path, collection()) == JsonScan(0, 0, 0, UNNAMED)


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 64])
def test_the_text_may_be_cut_anywhere_while_it_is_read(path: Path, monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(readers_jsonscan, "_PIECE", piece)
    text = collection(
        feature(note='"\\ } ] \u00f1 \U0001f600'),
        feature(None, crs=FEET),
        feature(id=-12.5e-3),
        crs=FEET,
        total=1234567,
    )
    assert scan(path, text) == JsonScan(3, 1, 2, "EPSG:3424")
    assert scan(path, f"\r\n\t {json.dumps(json.loads(text), indent=3)}\n") == JsonScan(3, 1, 2, "EPSG:3424")
    for at in range(1, len(text)):
        assert refused(path, text[:at])[0] == "truncated"


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "FeatureCollection" "features": []}',
        '{"type": "FeatureCollection", features: []}',
        '{"type": "FeatureCollection", "features": [,]}',
        '{"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": null}}',
        '{"type"; "FeatureCollection"}',
        "{'type': 'FeatureCollection'}",
        '{"type": "FeatureCollection", "n": ' + "9" * 5000 + "}",
        '{"type": "FeatureCollection", "n": ' + "[" * 100_000 + "}",
    ],
)
def test_what_is_no_json_is_refused_with_its_place(path: Path, text: str) -> None:
    more = " " * 100 + json.dumps(["what follows"] * 10)
    fault, message = refused(path, text + more)
    assert fault == "unreadable"
    assert "character" in message or "nested" in message


def test_values_without_end_are_not_read_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers_jsonscan, "_PIECE", 1_000)
    monkeypatch.setattr(readers_jsonscan, "_LONGEST", 50_000)
    assert scan(path, collection(feature(note="x" * 40_000))).features == 1
    fault, message = refused(path, collection(feature(), feature(note="x" * 400_000)))
    assert fault == "unreadable"
    assert "50,000 characters" in message


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('{"type": "Topology", "objects": {}}', "TopoJSON"),
        ('{"objects": {}, "type": "Topology", "features": []}', "TopoJSON"),
        ('{"geometryType": "esriGeometryPolygon", "features": []}', "Esri JSON"),
        ('{"features": [{"attributes": {}, "geometry": {}}]}', "Esri JSON"),
        (json.dumps(POINT), "'Point'"),
        ("{}", "None"),
        ('{"features": []}', "None"),
        ('{"type": "FeatureCollection"}', "'FeatureCollection'"),
        ('{"type": "FeatureCollection", "features": {"type": "Feature"}}', "for its features"),
        ('{"type": "FeatureCollection", "features": [], "type": "Feature"}', "twice"),
        ("[]", "'['"),
        (collection() + collection(), "goes on"),
        (json.dumps(feature()) + " " + json.dumps(feature()), "goes on"),
    ],
)
def test_other_json_is_refused(path: Path, text: str, word: str) -> None:
    fault, message = refused(path, text)
    assert fault == "wrong_format"
    assert word in message


def test_commands_are_not_allowed_whatever_else_there_is(path: Path) -> None:
    text = json.dumps({"features": [feature()], "type": "gdal_streamed_alg"})
    assert refused(path, text)[0] == "not_allowed"


@pytest.mark.parametrize(
    "shape",
    [
        3, "Point", [], {}, {"type": "point", "coordinates": [1, 2]}, {"type": ["Point"], "coordinates": [1, 2]},
        {"type": "Point"}, {"type": "Point", "coordinates": [1]}, {"type": "Point", "coordinates": [1, None]},
        {"type": "Point", "coordinates": [1, True]}, {"type": "Point", "coordinates": [1, float("nan")]},
        {"type": "Point", "coordinates": [[1, 2]]}, {"type": "LineString", "coordinates": [1, 2]},
        {"type": "Polygon", "coordinates": [[1, 2], [3, 4]]}, {"type": "Polygon", "coordinates": [None]},
        {"type": "MultiPolygon", "coordinates": [[[1, 2]]]}, {"type": "GeometryCollection"},
        {"type": "GeometryCollection", "geometries": [POINT, None]},
    ],
)  # fmt: skip
def test_geometry_that_is_none_names_its_row(path: Path, shape: Any) -> None:
    fault, message = refused(path, collection(feature(), feature(shape), feature()))
    assert fault == "broken_geometry"
    assert "row 2:" in message


def test_the_system_nearest_to_the_coordinates_counts(path: Path) -> None:
    named = POINT | {"crs": FEET}
    for text in (
        collection(feature(), feature(), crs=FEET),
        collection(feature(crs=FEET), feature(crs=FEET)),
        collection(feature(crs=FEET), feature(), crs=FEET),
        collection(feature(crs=FEET), feature(named, crs=METRES), crs=METRES),
        json.dumps(feature(crs=FEET)),
        json.dumps({"features": [feature()], "crs": FEET, "type": "FeatureCollection"}),
    ):
        assert scan(path, text).crs == "EPSG:3424"
    assert scan(path, collection(feature(crs=None), crs=FEET)).crs is None
    assert scan(path, collection(crs=None)).crs is None


@pytest.mark.parametrize(
    "text",
    [
        collection(feature(crs=FEET), feature()),
        collection(feature(crs=FEET), feature(crs=METRES)),
        collection(feature(crs=FEET), feature(), crs=None),
        collection(feature(), feature(crs=FEET), crs=METRES),
    ],
)
def test_several_systems_are_refused(path: Path, text: str) -> None:
    fault, message = refused(path, text)
    assert fault == "unknown_crs"
    assert "several" in message


@pytest.mark.parametrize("crs", ["EPSG:3424", 3424, {}, {"type": "name"}, {"properties": None}, [FEET]])
def test_a_system_named_in_no_known_way_is_not_passed_over(path: Path, crs: Any) -> None:
    assert refused(path, collection(feature(), crs=crs))[0] == "unknown_crs"
    assert refused(path, collection(feature(crs=crs)))[0] == "unknown_crs"
