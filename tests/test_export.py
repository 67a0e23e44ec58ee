"""Exports: formats by name, files that appear whole or not at all, areas and determined sites."""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq
import pyogrio
import pytest
import shapely
from few_tables import HOSTILE, example_areas, example_sites
from few_world import few

from grownj_geo import export as export_module
from grownj_geo.areapieces import area_label
from grownj_geo.atlas import DEFAULT_AS_OF
from grownj_geo.batch import Question, run_batch
from grownj_geo.export import EXPORT_FORMATS, check_target, export_areas, export_format, export_sites, write_tables
from grownj_geo.features import LayerFault
from grownj_geo.units import to_working

if TYPE_CHECKING:
    from pathlib import Path

ABOUT = {"caution": "none"}
FILES = ["out.gpkg", "out.gdb", "out.shp.zip", "out.kml", "out.kmz", "out.geojson", "out.parquet"]
QUESTION = Question(as_of=DEFAULT_AS_OF)


@pytest.mark.parametrize("name", ["areas.shp", "areas.dxf", "areas", ".gpkg", "areas.zip"])
def test_a_name_that_says_no_format_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(LayerFault, match=r"expected one of \.gpkg") as caught:
        export_format(tmp_path / name)
    assert caught.value.fault == "wrong_format"
    assert ("areas.shp.zip" in str(caught.value)) == (name == "areas.shp")


def test_every_format_is_tried_here() -> None:
    assert {export_format(path) for path in map(_path, FILES)} == set(EXPORT_FORMATS) - {".geoparquet"}


def _path(name: str) -> Path:
    from pathlib import Path  # noqa: PLC0415

    return Path(name)


@pytest.mark.parametrize("name", FILES)
def test_every_format_is_written_whole_and_in_the_place_of_an_older_one(name: str, tmp_path: Path) -> None:
    for _ in range(2):
        write_tables(example_areas(), tmp_path / name, about=ABOUT)
        assert [path.name for path in tmp_path.iterdir()] == [name]
    if name.endswith("parquet"):
        assert pq.read_metadata(tmp_path / name).num_rows == sum(map(len, example_areas()))
        return
    layers = [layer for layer, kind in pyogrio.list_layers(tmp_path / name).tolist() if kind is not None]
    counts = [pyogrio.read_info(tmp_path / name, layer=each, force_feature_count=True)["features"] for each in layers]
    assert sum(counts) == sum(map(len, example_areas()))


@pytest.mark.parametrize("name", FILES)
def test_what_fails_half_way_leaves_what_was_there(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tables(example_areas(), tmp_path / name, about=ABOUT)
    before = _content(tmp_path / name)

    def broken(_: Any, path: Path, *__: object) -> None:
        path.mkdir() if name.endswith(".gdb") else path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(export_module, "_write", broken)
    with pytest.raises(LayerFault) as caught:
        write_tables(example_areas(), tmp_path / name, about=ABOUT)
    assert caught.value.fault == "disk_full"
    assert _content(tmp_path / name) == before
    assert [path.name for path in tmp_path.iterdir()] == [name]


def _content(path: Path) -> dict[str, bytes]:
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return {file.name: file.read_bytes() for file in files}


def test_a_folder_that_is_no_geodatabase_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out.gdb").mkdir()
    (tmp_path / "out.gdb" / "letters.txt").write_text("dear")
    (tmp_path / "file.gdb").write_text("dear")
    (tmp_path / "out.gpkg").mkdir()
    for name in ("out.gdb", "file.gdb", "out.gpkg", "none/out.kml"):
        with pytest.raises(LayerFault, match=r"folder|file"):
            write_tables(example_areas(), tmp_path / name, about=ABOUT)
    assert (tmp_path / "out.gdb" / "letters.txt").read_text() == "dear"
    assert (tmp_path / "file.gdb").read_text() == "dear"


@pytest.mark.parametrize("name", ["out.gpkg", "out.gdb"])
def test_layers_that_others_made_are_never_taken_away(name: str, tmp_path: Path) -> None:
    driver = {"out.gpkg": "GPKG", "out.gdb": "OpenFileGDB"}[name]
    office = {"layer": "office_lots", "driver": driver, "geometry_type": "Point", "crs": "EPSG:3424"}
    lot = (np.array(shapely.to_wkb([shapely.Point(600_000, 500_000)]), dtype=object), [np.array(["12"])], ["lot"])

    def kept() -> None:
        before = _content(tmp_path / name)
        with pytest.raises(LayerFault, match=r"grownj did not write it\. Nothing was overwritten"):
            check_target(tmp_path / name)
        with pytest.raises(LayerFault, match="grownj did not write it"):
            write_tables(example_areas(), tmp_path / name, about=ABOUT)
        assert _content(tmp_path / name) == before

    pyogrio.raw.write(tmp_path / name, *lot, **office)
    kept()
    # Nor one that was put beside the areas afterwards.
    other = tmp_path / "other"
    other.mkdir()
    write_tables(example_areas(), other / name, about=ABOUT)
    check_target(other / name)
    pyogrio.raw.write(other / name, *lot, **office, append=True)
    with pytest.raises(LayerFault, match=r"did not write \(office_lots\)"):
        check_target(other / name)


def test_what_is_there_and_cannot_be_read_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out.gpkg").write_bytes(b"half of a file")
    with pytest.raises(LayerFault, match="grownj did not write it"):
        write_tables(example_areas(), tmp_path / "out.gpkg", about=ABOUT)
    assert (tmp_path / "out.gpkg").read_bytes() == b"half of a file"


def test_geojson_is_in_degrees_with_rings_to_the_left_and_all_areas_in_one(tmp_path: Path) -> None:
    write_tables(example_areas(), tmp_path / "out.geojson", about=ABOUT)
    features = json.loads((tmp_path / "out.geojson").read_text())["features"]
    assert [f["properties"]["area_id"] for f in features] == [t.name for t in example_areas() for _ in range(len(t))]
    for feature, drawn in zip(features, [g for t in example_areas() for g in t.geometries], strict=True):
        shape = shapely.geometry.shape(feature["geometry"])
        parts = shapely.get_parts(shape)
        assert all(shapely.is_ccw(part.exterior) for part in parts)
        assert not any(shapely.is_ccw(ring) for part in parts for ring in part.interiors)
        back = shapely.transform(shape, lambda xy: np.column_stack(to_working(xy[:, 0], xy[:, 1])))
        # A tenth of a foot along the whole line: sides that are straight in feet were cut before they were turned.
        assert back.symmetric_difference(drawn).area < 0.1 * drawn.length


def test_geoparquet_says_its_system_types_and_corners(tmp_path: Path) -> None:
    write_tables(example_areas(), tmp_path / "out.parquet", about=ABOUT)
    table = pq.read_table(tmp_path / "out.parquet")
    geo = json.loads(table.schema.metadata[b"geo"])
    about = geo["columns"][geo["primary_column"]]
    shapes = shapely.from_wkb(table.column(geo["primary_column"]).to_pylist())
    assert geo["version"] == "1.1.0"
    assert about["crs"]["id"] == {"authority": "EPSG", "code": 3424}
    assert about["geometry_types"] == sorted({shape.geom_type for shape in shapes}) == ["MultiPolygon"]
    assert about["bbox"] == pytest.approx(shapely.total_bounds(shapes).tolist())
    assert table.column("clauses").to_pylist() == [v for t in example_areas() for v in t.values["clauses"]]


@pytest.mark.parametrize("name", ["out.geojson", "out.parquet"])
def test_one_table_says_of_the_whole_what_the_other_formats_say(name: str, tmp_path: Path) -> None:
    said = {"readings": "A9=from_first_vessel", "caution": "not </script> legal advice"}
    write_tables(example_areas(), tmp_path / name, about=said)
    if name == "out.geojson":
        about = json.loads((tmp_path / name).read_text(encoding="utf-8"))["about"]
    else:
        about = json.loads(pq.read_schema(tmp_path / name).metadata[b"about"])
    assert {key: about[key] for key in said} == said
    (fields,) = {tuple((field.name, field.meaning) for field in table.fields) for table in example_areas()}
    assert about["fields"] == dict(fields)


@pytest.mark.parametrize("name", ["out.geojson", "out.parquet"])
def test_points_polygons_and_sites_without_a_place_share_one_table(name: str, tmp_path: Path) -> None:
    write_tables(example_sites(), tmp_path / name, about=ABOUT)
    if name == "out.geojson":
        features = json.loads((tmp_path / name).read_text(encoding="utf-8"))["features"]
        names = [f["properties"]["name"] for f in features]
        kinds = [f["geometry"] and f["geometry"]["type"] for f in features]
    else:
        table = pq.read_table(tmp_path / name)
        names = table.column("name").to_pylist()
        wkb = np.array([*table.column("geometry").to_pylist(), None], dtype=object)[:-1]
        kinds = [shape and shape.geom_type for shape in shapely.from_wkb(wkb)]
    assert names == [*HOSTILE, "lost", "lot"]
    assert kinds == [*["Point"] * len(HOSTILE), None, "Polygon"]


def test_areas_that_are_chosen_are_exported(tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    written = export_areas(
        few(),
        tmp_path / "out.gpkg",
        areas=["growth_zone_city", "aviation_district_airport"],
        progress=lambda *step: told.append(step),
    )
    assert [(done, steps) for done, steps, _ in told] == [(0, 4), (1, 4), (2, 4), (3, 4)]
    assert [words for *_, words in told[1:]] == [
        *(area_label(few(), area) for area in ("growth_zone_city", "aviation_district_airport")),
        "writing out.gpkg",
    ]
    assert list(written.layers) == ["growth_zone_city", "aviation_district_airport"]
    assert written.layers["aviation_district_airport"] == 2
    names = pyogrio.read_dataframe(tmp_path / "out.gpkg", layer="growth_zone_city")["municipal"].dropna()
    assert sorted(names) == ["Camden City", "Passaic City", "Paterson City", "Trenton City"]


# -- sites ---------------------------------------------------------------------------------------------


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a table of sites, one of which has no place and one a hostile name."""
    path = tmp_path / "sites.csv"
    path.write_text(
        "name,lat,lon\nNewark,40.7344,-74.1641\nnowhere,,\n<img src=x onerror=alert(1)>,40.42,-74.66\n",
        encoding="utf-8",
    )
    return path


def test_a_table_is_answered_and_exported(source: Path, tmp_path: Path) -> None:
    written, summary = export_sites(source, tmp_path / "out.gpkg", QUESTION)
    assert summary is not None
    assert summary.answered == 2
    assert written.layers == {"sites": 3}
    frame = pyogrio.read_dataframe(tmp_path / "out.gpkg", layer="sites")
    assert frame["name"].tolist() == ["Newark", "nowhere", "<img src=x onerror=alert(1)>"]
    assert frame["qualified_incentive_area"].fillna("").tolist() == ["yes", "", "undetermined"]
    assert frame["class"].tolist()[:2] == ["5000", "no_answer"]
    assert frame.geometry.isna().tolist() == [False, True, False]
    newark = frame.geometry[0]
    assert newark.distance(shapely.Point(*map(float, to_working(-74.1641, 40.7344)))) < 0.01


@pytest.mark.parametrize("middle", ["answered.csv", "answered.gpkg", "answered.parquet"])
def test_what_a_batch_wrote_is_taken_as_it_is(source: Path, tmp_path: Path, middle: str) -> None:
    run_batch(source, tmp_path / middle, QUESTION)
    written, summary = export_sites(tmp_path / middle, tmp_path / "out.geojson", QUESTION)
    assert summary is None
    assert written.layers == {"sites": 3}
    features = json.loads((tmp_path / "out.geojson").read_text())["features"]
    assert [f["properties"]["qualified_incentive_area"] or None for f in features] == ["yes", None, "undetermined"]
    assert [f["properties"]["class"] for f in features][:2] == ["5000", "no_answer"]
    assert [f["geometry"] is None for f in features] == [False, True, False]


def test_a_file_of_sites_says_of_itself_only_what_is_so(source: Path, tmp_path: Path) -> None:
    def about(target: str, question: Question, table: Path) -> dict[str, str]:
        export_sites(table, tmp_path / target, question)
        _, _, _, columns = pyogrio.raw.read(tmp_path / target, layer="about")
        return dict(zip(*columns, strict=True))

    new = about("new.gpkg", QUESTION, source)
    assert new["as of"] == str(QUESTION.as_of)
    assert "drawing" not in new
    run_batch(source, tmp_path / "answered.csv", QUESTION)
    same = about("same.gpkg", QUESTION, tmp_path / "answered.csv")
    assert {**same, "readings": ""} == {**new, "readings": ""}
    assert same["readings"] != new["readings"]
    # Asked about another day, the answers are still those of the first.
    other = about("other.gpkg", Question(as_of=date(2014, 10, 1)), tmp_path / "answered.csv")
    assert other["as answered before"].startswith("rulebook mark grow-nj 2017")
    assert not other.keys() & {"as of", "readings", "layers", "layers not loaded", "drawing"}


def test_answers_by_another_rulebook_are_refused(source: Path, tmp_path: Path) -> None:
    run_batch(source, tmp_path / "answered.csv", QUESTION)
    text = (tmp_path / "answered.csv").read_text(encoding="utf-8-sig").replace("grow-nj 2017", "other-book 2017")
    (tmp_path / "answered.csv").write_text(text, encoding="utf-8")
    with pytest.raises(LayerFault, match="other-book") as caught:
        export_sites(tmp_path / "answered.csv", tmp_path / "out.kml", QUESTION)
    assert caught.value.fault == "other_rulebook"
    assert not (tmp_path / "out.kml").exists()


def test_polygons_in_another_system_are_drawn_where_they_are(tmp_path: Path) -> None:
    ring = [[-74.1641, 40.7344], [-74.1631, 40.7344], [-74.1631, 40.7354], [-74.1641, 40.7344]]
    lot = {"type": "Feature", "properties": {"lot": "1.10"}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
    (tmp_path / "lots.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [lot]}))
    export_sites(tmp_path / "lots.geojson", tmp_path / "out.gdb", QUESTION)
    frame = pyogrio.read_dataframe(tmp_path / "out.gdb", layer="sites")
    assert frame["lot"].tolist() == ["1.10"]
    expected = shapely.Polygon(np.column_stack(to_working(*np.array(ring).T)))
    assert frame.geometry[0].symmetric_difference(expected).area < 1.0


def test_kml_with_more_corners_than_viewers_like_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert write_tables(example_sites(), tmp_path / "out.kml", about=ABOUT).changes == ()
    monkeypatch.setattr(export_module, "_MANY_CORNERS", 3)
    (told,) = write_tables(example_sites(), tmp_path / "out.kml", about=ABOUT).changes
    assert told.kind == "many_corners"
