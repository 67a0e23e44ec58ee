"""From a file to an answer: every format, and census tracts with their poverty."""

from __future__ import annotations

import json
import zipfile
from datetime import date
from typing import TYPE_CHECKING

import geopandas as gpd
import numpy as np
import pytest
import shapely
from drawn import NEWARK, around

from grownj_geo import store as store_module
from grownj_geo.atlas import load_atlas
from grownj_geo.determine import determine
from grownj_geo.errors import LayerError
from grownj_geo.features import LayerFault, LoadOptions
from grownj_geo.loading import EditionFacts, import_layer
from grownj_geo.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.determination import Finding

MONTGOMERY = (-74.66, 40.42)
SITE = "40.42,-74.66"
PART = LoadOptions(partial=True)
CLASSES = ["SUBURBAN", "RURAL", "ENV. SENSITIVE BARRIER IS", "FRINGE"]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


def finding(store: Store, site: str, category: str, *, as_of: str = "2017-04-17") -> Finding:
    return determine(site, load_atlas(as_of=as_of, store=store))[category]


@pytest.fixture(scope="module")
def drawn() -> gpd.GeoDataFrame:
    """Return four planning areas side by side, with a hole and a part apart, in EPSG:3424."""
    x, y = shapely.get_coordinates(around(MONTGOMERY, 1000.0))[2]
    boxes = [shapely.box(x + 400 * i, y, x + 400 * i + 400, y + 2000.1234) for i in range(4)]
    boxes[1] = boxes[1].difference(shapely.Point(x + 600, y + 700).buffer(90, quad_segs=4))
    boxes[3] = shapely.union(boxes[3], shapely.box(x + 3000, y, x + 3100, y + 100))
    columns = {"SPDETAIL": CLASSES, "P2ACRES": [1.5, 2.25, None, 4.0]}
    return gpd.GeoDataFrame(columns, geometry=boxes, crs="EPSG:3424")


def _zipped(source: Path, target: Path, inner: str = "") -> Path:
    files = sorted(source.rglob("*")) if source.is_dir() else sorted(source.parent.glob(f"{source.stem}.*"))
    top = source.parent
    with zipfile.ZipFile(target, "w") as archive:
        for file in files:
            if file.is_file():
                archive.write(file, f"{inner}{file.relative_to(top)}")
    return target


def _degrees(frame: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    # NAD83 and WGS84 are taken as one; named outright, no grid can come between.
    dense = frame.set_geometry(frame.geometry.segmentize(200.0))
    return dense.to_crs("EPSG:4269").set_crs("EPSG:4326", allow_override=True)


def _multi(frame: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    # A file geodatabase has one kind of geometry in a table.
    return frame.set_geometry([shapely.multipolygons([*shapely.get_parts(g)]) for g in frame.geometry])


def _file(frame: gpd.GeoDataFrame, kind: str, folder: Path) -> Path:  # noqa: C901 - one for each format
    """Write the areas in one of the formats in which offices pass them on."""
    path = folder / f"areas.{kind.partition(' ')[0]}"
    fine = {"COORDINATE_PRECISION": "13"}
    match kind:
        case "gpkg" | "shp":
            frame.to_file(path)
        case "gdb":
            _multi(frame).to_file(path, driver="OpenFileGDB", layer="Planning_Areas")
        case "gdb zipped":
            _multi(frame).to_file(path, driver="OpenFileGDB", layer="Planning_Areas")
            return _zipped(path, folder / "areas_gdb.zip")
        case "shp zipped":
            frame.to_file(path)
            return _zipped(path, folder / "areas_shp.zip", inner="State Plan/2018/")
        case "geojson":
            _degrees(frame).to_file(path, driver="GeoJSON", **fine)
        case "geojsonl":
            _degrees(frame).to_file(path, driver="GeoJSONSeq", **fine)
        case "kml":
            _degrees(frame).to_file(path, driver="LIBKML")
        case "kmz":
            inner = folder / "doc.kml"
            _degrees(frame).to_file(inner, driver="LIBKML")
            with zipfile.ZipFile(path, "w") as archive:
                archive.write(inner, "doc.kml")
        case "parquet":
            frame.to_parquet(path)
        case "csv wkt":
            rows = [("SPDETAIL", "P2ACRES", "WKT")]
            rows += [
                (r.SPDETAIL, r.P2ACRES, f'"{shapely.to_wkt(r.geometry, rounding_precision=-1)}"')
                for r in frame.itertuples()
            ]
            path.write_text("\n".join(",".join(map(str, row)) for row in rows))
    return path


FORMATS = ["gpkg", "shp", "shp zipped", "gdb", "gdb zipped", "geojson", "geojsonl", "kml", "kmz", "parquet", "csv wkt"]


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_gives_the_same_areas_and_the_same_answer(
    kind: str, drawn: gpd.GeoDataFrame, store: Store, tmp_path: Path
) -> None:
    path = _file(drawn, kind, tmp_path)
    options = LoadOptions(partial=True, crs="EPSG:3424") if kind == "csv wkt" else PART
    loaded = import_layer(
        "planning_areas", path, store=store, options=options, facts=EditionFacts(edition=date(2018, 1, 16))
    )
    assert loaded.edition is not None
    layer = load_atlas(store=store).layer("planning_areas")
    assert layer is not None
    # Formats may give features in another order; the classes tell them apart.
    rows = {str(layer.columns["SPDETAIL"][i]): i for i in range(len(layer))}
    assert set(rows) == set(CLASSES)
    for row in drawn.itertuples():
        came = layer.geometry(rows[row.SPDETAIL])
        assert shapely.hausdorff_distance(came, row.geometry) < 0.003, "1 mm in feet"
        assert shapely.area(shapely.symmetric_difference(came, row.geometry)) < 0.003 * shapely.length(row.geometry)
    inside = drawn.geometry.iloc[0].representative_point()
    found = determine(inside, load_atlas(store=store))
    evidence = [e for f in found.findings for e in f.evidence if e.layer == "planning_areas"]
    assert {e.edition for e in evidence} == {date(2018, 1, 16)}
    record = next(layer for layer in found.layers if layer.id == "planning_areas")
    assert record.stored == loaded.edition.name


def test_a_field_of_another_name_is_mapped_and_a_missing_one_stated(
    drawn: gpd.GeoDataFrame, store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "plan.gpkg"
    drawn.rename(columns={"SPDETAIL": "CLASS"}).to_file(path)
    with pytest.raises(LayerFault) as refused:
        import_layer("planning_areas", path, store=store, options=PART)
    assert refused.value.fault == "missing_field"
    assert "CLASS" in str(refused.value)
    loaded = import_layer(
        "planning_areas", path, store=store, options=LoadOptions(partial=True, fields={"SPDETAIL": "CLASS"})
    )
    assert loaded.report.fields["SPDETAIL"] == "CLASS"
    path = tmp_path / "growth.gpkg"
    drawn.to_file(path)
    with pytest.raises(LayerFault, match="GROWTH_CENTER"):
        import_layer("endorsed_plan_centers", path, store=store)
    loaded = import_layer(
        "endorsed_plan_centers", path, store=store, options=LoadOptions(constants={"GROWTH_CENTER": "YES"})
    )
    assert set(loaded.layer.columns["GROWTH_CENTER"]) == {"YES"}


def test_what_is_stated_of_an_edition_is_kept(drawn: gpd.GeoDataFrame, store: Store, tmp_path: Path) -> None:
    path = _file(drawn, "gpkg", tmp_path)
    facts = EditionFacts(date(2016, 1, 1), date(2016, 1, 1), date(2018, 1, 1), accuracy_ft=10.0)
    loaded = import_layer("planning_areas", path, store=store, options=PART, facts=facts)
    assert loaded.edition is not None
    manifest = loaded.edition.manifest
    assert (manifest.edition, manifest.valid_from, manifest.valid_until) == (
        date(2016, 1, 1),
        date(2016, 1, 1),
        date(2018, 1, 1),
    )
    assert manifest.accuracy_ft == 10.0
    assert manifest.covers(date(2017, 12, 31))
    assert not manifest.covers(date(2018, 1, 1))
    assert loaded.edition.origin.sha256 is not None


def test_an_edition_of_no_day_is_refused(drawn: gpd.GeoDataFrame, store: Store, tmp_path: Path) -> None:
    facts = EditionFacts(valid_from=date(2018, 1, 1), valid_until=date(2018, 1, 1))
    with pytest.raises(LayerError, match="no day is left"):
        import_layer("planning_areas", _file(drawn, "gpkg", tmp_path), store=store, options=PART, facts=facts)


def test_a_layer_that_its_user_knows_to_be_complete_says_no(
    drawn: gpd.GeoDataFrame, store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "receiving.gpkg"
    drawn.to_file(path)
    options = LoadOptions(constants={"DESIGNATED": "2010-01-01"})
    for complete in (False, True):
        loaded = import_layer(
            "highlands_receiving_areas", path, store=store, options=options, facts=EditionFacts(complete=complete)
        )
        assert loaded.layer.manifest.complete is complete
        assert loaded.edition is not None
        assert any("states" in words for words in loaded.edition.manifest.cautions) is complete


# -- census tracts --------------------------------------------------------------------------------------


def tract_files(folder: Path, rate: tuple[int, int]) -> tuple[Path, Path]:
    tracts = folder / "tl_2015_34_tract.gpkg"
    frame = gpd.GeoDataFrame(
        {"GEOID": ["34013008100", "34013008200"], "NAMELSAD": ["Census Tract 81", "Census Tract 82"]},
        geometry=[
            around(NEWARK, 3000.0),
            shapely.transform(around(NEWARK, 3000.0), lambda xy: xy + np.array([6000.0, 0.0])),
        ],
        crs="EPSG:3424",
    )
    frame.to_file(tracts)
    table = folder / "b17001.json"
    rows = [["NAME", "B17001_001E", "B17001_002E", "state", "county", "tract"]]
    rows += [["a", str(rate[1]), str(rate[0]), "34", "013", "008100"], ["b", "100", "5", "34", "013", "008200"]]
    table.write_text(json.dumps(rows))
    return tracts, table


@pytest.mark.parametrize(("rate", "expected"), [((2000, 10000), "yes"), ((1999, 10000), "no"), ((2001, 10000), "yes")])
def test_tracts_take_their_poverty_and_decide(
    store: Store, tmp_path: Path, rate: tuple[int, int], expected: str
) -> None:
    tracts, table = tract_files(tmp_path, rate)
    options = LoadOptions(partial=True, constants={"TRACT_VINTAGE": "2010"})
    import_layer("census_tract_poverty", tracts, store=store, options=options, poverty=table, acs_edition="2011-2015")
    found = finding(store, "40.7344,-74.1641", "deep_poverty_pocket")
    # A part of the State proves no absence, but the tract itself is there.
    assert found.outcome == (expected if expected == "yes" else "undetermined")
    values = {e.outcome for e in found.evidence if e.layer == "census_tract_poverty"}
    assert values


def test_a_table_of_poverty_belongs_to_tracts(drawn: gpd.GeoDataFrame, store: Store, tmp_path: Path) -> None:
    _, table = tract_files(tmp_path, (1, 2))
    with pytest.raises(LayerError, match="belongs to census_tract_poverty"):
        import_layer("planning_areas", _file(drawn, "gpkg", tmp_path), store=store, poverty=table)


def test_tracts_on_other_lines_than_the_survey_s_are_refused(store: Store, tmp_path: Path) -> None:
    tracts, table = tract_files(tmp_path, (1, 2))
    options = LoadOptions(partial=True, constants={"TRACT_VINTAGE": "2010"})
    with pytest.raises(LayerFault) as refused:
        import_layer(
            "census_tract_poverty", tracts, store=store, options=options, poverty=table, acs_edition="2016-2020"
        )
    assert refused.value.fault == "mixed_vintage"


# -- real data ------------------------------------------------------------------------------------------


@pytest.mark.shared
def test_the_municipalities_of_the_office_of_gis_come_in_whole(shared: Path, store: Store) -> None:
    loaded = import_layer(
        "redevelopment_areas",
        shared / "data" / "nj_municipalities_njogis2021.parquet",
        store=store,
        options=LoadOptions(fields={"NOTES": "mun_code"}, constants={"APPROVAL": "1983-01-01"}),
    )
    assert (loaded.report.read, loaded.report.kept) == (565, 565)
    ours, base = load_atlas(store=store).layer("redevelopment_areas"), load_atlas().layer("municipalities")
    assert ours is not None
    assert base is not None
    rows = {base.key(i): i for i in range(len(base))}
    for i in range(0, 565, 7):
        truth = base.geometry(rows[ours.name(i)])
        # Vertex by vertex: sides that are straight in feet were straight in degrees in this file.
        corners = shapely.points(shapely.get_coordinates(truth))
        assert shapely.distance(corners, shapely.boundary(ours.geometry(i))).max() < 0.02


@pytest.mark.shared
def test_the_census_tracts_come_in_whole(shared: Path, store: Store) -> None:
    path = shared / "data" / "nj_tracts_cb2018_500k.parquet"
    fields = {"GEOID": "geoid", "NAMELSAD": "tract_name", "POVERTY_RATE": "poverty_rate_pct_acs2020"}
    constants = {"ACS_EDITION": "2016-2020", "TRACT_VINTAGE": "2010"}
    loaded = import_layer(
        "census_tract_poverty", path, store=store, options=LoadOptions(fields=fields, constants=constants)
    )
    assert (loaded.report.read, loaded.report.kept) == (2006, 2006)
    layer = load_atlas(store=store).layer("census_tract_poverty")
    assert layer is not None
    assert layer.key(0).startswith("34")
    assert {len(layer.key(i)) for i in range(len(layer))} == {11}


@pytest.mark.shared
def test_small_polygons_come_in_as_they_are(shared: Path, store: Store) -> None:
    path = shared / "data" / "hudson_county_census_blocks_2020.parquet"
    loaded = import_layer("building_footprints", path, store=store)
    assert (loaded.report.read, loaded.report.kept) == (4119, 4119)
    assert not loaded.layer.manifest.complete


# -- interrupted and hostile ----------------------------------------------------------------------------


def test_a_refused_file_leaves_nothing(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "areas.geojson"
    path.write_text('{"type": "FeatureCollection", "features": [')
    with pytest.raises(LayerFault):
        import_layer("planning_areas", path, store=store)
    assert not store.home.exists()


@pytest.mark.parametrize("name", ["/vsicurl/http://example.com/a.geojson", "WFS:http://example.com", "nowhere.shp"])
def test_a_path_that_is_no_local_file_is_refused(store: Store, name: str) -> None:
    with pytest.raises(LayerFault):
        import_layer("planning_areas", name, store=store)


def test_a_full_disk_keeps_nothing(
    drawn: gpd.GeoDataFrame, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> None:
        path.write_bytes(content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store_module, "_write", full)
    with pytest.raises(LayerError, match="No space left on device"):
        import_layer("planning_areas", _file(drawn, "gpkg", tmp_path), store=store, options=PART)
    assert store.held() == ()
    assert [p.name for p in store.home.iterdir()] == [".lock"]
