"""GeoPackage, file geodatabase and shapefiles: read back whole, with styles, dictionary and what the file rests on."""

from __future__ import annotations

import csv
import io
import shutil
import sqlite3
import subprocess
import zipfile
from contextlib import closing
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pyogrio
import pytest
import shapely
from few_tables import HOSTILE, example_areas, example_sites
from few_world import few

from grownj_geo.export import write_tables
from grownj_geo.exporttables import about_areas

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.exporttables import ExportTable

ABOUT = {"as of": "2017-04-17", "caution": "none"}
WHOLE = ["out.gpkg", "out.gdb"]


def read(path: Path, layer: str) -> tuple[dict[str, list[Any]], Any]:
    """Return a layer's columns and geometries as GDAL gives them."""
    meta, _, wkb, columns = pyogrio.raw.read(path, layer=layer)
    shapes = None if wkb is None else shapely.from_wkb(wkb)
    return {name: list(column) for name, column in zip(meta["fields"].tolist(), columns, strict=True)}, shapes


def assert_drawn(shapes: Any, table: ExportTable, *, within: float = 1e-3) -> None:
    """Compare geometries with a table's own."""
    for back, drawn in zip(shapes, table.geometries, strict=True):
        assert (back is None) == (drawn is None)
        if drawn is not None:
            assert shapely.equals_exact(
                shapely.normalize(shapely.force_2d(back)), shapely.normalize(_as(drawn, back)), within
            )


def _as(drawn: shapely.Geometry, back: shapely.Geometry) -> shapely.Geometry:
    """Return what was drawn as the type that came back: formats hold a polygon as one part of many, or turned."""
    parts = shapely.get_parts(drawn)
    return (
        parts[0]
        if back.geom_type == "Polygon"
        else drawn
        if back.geom_type == "Point"
        else shapely.multipolygons(parts)
    )


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("tables", [example_areas, example_sites], ids=["areas", "sites"])
def test_layers_come_back_with_their_values_and_places(name: str, tables: Any, tmp_path: Path) -> None:
    written = write_tables(tables(), tmp_path / name, about=ABOUT)
    layers = pyogrio.list_layers(tmp_path / name)[:, 0].tolist()
    assert layers[: len(tables())] == [table.name for table in tables()]
    assert written.layers == {table.name: len(table) for table in tables()}
    for table in tables():
        columns, shapes = read(tmp_path / name, table.name)
        assert pyogrio.read_info(tmp_path / name, layer=table.name)["crs"] == "EPSG:3424"
        assert_drawn(shapes, table, within=1e-3)
        for (read_as, values), field in zip(columns.items(), table.fields, strict=True):
            expected = table.values[field.name]
            assert [None if v != v else v for v in values] == expected, (read_as, field.name)  # noqa: PLR0124


@pytest.mark.parametrize("name", WHOLE)
def test_dictionary_and_words_about_the_whole_are_tables(name: str, tmp_path: Path) -> None:
    write_tables(example_areas(), tmp_path / name, about=about_areas(few()))
    dictionary, shapes = read(tmp_path / name, "dictionary")
    assert shapes is None
    assert len(dictionary["field"]) == sum(len(table.fields) for table in example_areas())
    assert all(dictionary["meaning"])
    about, _ = read(tmp_path / name, "about")
    assert dict(zip(about["what"], about["words"], strict=True)) == about_areas(few())


def test_a_geopackage_holds_the_styles_that_qgis_applies(tmp_path: Path) -> None:
    path = tmp_path / "out.gpkg"
    write_tables(example_areas(), path, about=ABOUT)
    with closing(sqlite3.connect(path)) as base:
        rows = base.execute(
            "SELECT f_table_name, f_geometry_column, useAsDefault, styleQML, styleSLD FROM layer_styles"
        ).fetchall()
        listed = base.execute("SELECT data_type FROM gpkg_contents WHERE table_name = 'layer_styles'").fetchall()
        geometry = dict(base.execute("SELECT table_name, column_name FROM gpkg_geometry_columns"))
    assert listed == [("attributes",)]
    assert [row[0] for row in rows] == [table.name for table in example_areas()]
    for (name, column, default, style, described), table in zip(rows, example_areas(), strict=True):
        assert column == geometry[name]
        assert default == 1
        values = {c.get("value") for c in ET.fromstring(style).iter("category")}  # noqa: S314 - our own
        assert set(table.values["class"]) <= values
        assert "StyledLayerDescriptor" in ET.fromstring(described).tag  # noqa: S314


QGIS = """
import os, sys
from qgis.core import QgsApplication, QgsVectorLayer
app = QgsApplication([], False)
app.initQgis()
for uri in sys.argv[1:]:
    layer = QgsVectorLayer(uri, "layer", "ogr")
    renderer = layer.renderer()
    print(layer.isValid(), layer.featureCount(), renderer.type(), [c.value() for c in renderer.categories()])
sys.stdout.flush()
os._exit(0)  # taking QGIS down in order sometimes fails
"""


def test_qgis_opens_the_files_in_their_styles(tmp_path: Path) -> None:
    python = shutil.which("python3", path="/usr/bin")
    if python is None or subprocess.run([python, "-c", "import qgis"], check=False, capture_output=True).returncode:
        pytest.skip("QGIS is not here (Debian package python3-qgis)")
    tables = [*example_areas(), *example_sites()]
    write_tables(tables, tmp_path / "out.gpkg", about=ABOUT)
    write_tables(tables, tmp_path / "out.shp.zip", about=ABOUT)
    shutil.unpack_archive(tmp_path / "out.shp.zip", tmp_path, "zip")
    uris = [f"{tmp_path}/out.gpkg|layername={t.name}" for t in tables] + [f"{tmp_path}/{t.name}.shp" for t in tables]
    done = subprocess.run(
        [python, "-c", QGIS, *uris],
        check=True, capture_output=True, text=True, timeout=300,
        env={"QT_QPA_PLATFORM": "offscreen", "PATH": "/usr/bin", "HOME": str(tmp_path)},
    )  # fmt: skip
    said = [line for line in done.stdout.splitlines() if line.startswith(("True", "False"))]
    expected = [
        f"True {len(t)} categorizedSymbol {[known.value for known in t.look.classes]}" for t in (*tables, *tables)
    ]
    assert said == expected


def test_fields_that_a_format_cannot_name_so_are_renamed_and_told(tmp_path: Path) -> None:
    told = write_tables(example_sites(), tmp_path / "out.gdb", about=ABOUT).changes
    assert [change.kind for change in told] == ["columns_renamed"]
    assert "'A Remark that is long' is 'A_Remark_that_is_long'" in told[0].words
    assert "'a remark that is long' is 'a_remark_that_is_long_2'" in told[0].words


# -- shapefiles ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def zipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return shapefiles of areas and of sites."""
    path = tmp_path_factory.mktemp("shp") / "out.shp.zip"
    write_tables([*example_areas(), *example_sites()], path, about=ABOUT)
    return path


def rows_of(zipped: Path, name: str) -> list[list[str]]:
    with zipfile.ZipFile(zipped) as archive:
        return list(csv.reader(io.StringIO(archive.read(name).decode(), newline="")))


def test_shapefiles_come_with_system_encoding_styles_and_dictionary(zipped: Path) -> None:
    with zipfile.ZipFile(zipped) as archive:
        names = set(archive.namelist())
        assert archive.testzip() is None
        assert b"New_Jersey" in archive.read("growth_zone_city.prj")
        assert archive.read("growth_zone_city.cpg").strip() == b"UTF-8"
        assert b"categorizedSymbol" in archive.read("growth_zone_city.qml")
        assert b"StyledLayerDescriptor" in archive.read("growth_zone_city.sld")
    for table in (*example_areas(), *example_sites()):
        assert {f"{table.name}.{e}" for e in ("shp", "shx", "dbf", "prj", "cpg", "qml", "sld")} <= names
    header, *rows = rows_of(zipped, "dictionary.csv")
    assert header == ["layer", "field", "shapefile_field", "type", "meaning"]
    for table in (*example_areas(), *example_sites()):
        fields = pyogrio.read_info(zipped, layer=table.name)["fields"].tolist()
        assert fields == [row[2] for row in rows if row[0] == table.name]
        assert all(len(field) <= 10 for field in fields)


def test_values_of_shapefiles_come_back_and_long_ones_stand_whole_beside(zipped: Path) -> None:
    for table in (*example_areas(), *example_sites()):
        columns, shapes = read(zipped, table.name)
        assert_drawn(shapes, table)
        whole = None
        for field in table.fields:
            values = columns[field.short]
            for row, (back, value) in enumerate(zip(values, table.values[field.name], strict=True)):
                if not (field.type == "text" and value is not None and len(value.encode()) > 254):
                    assert back == value or (value in {None, ""} and (back is None or back != back or back == 0)), field  # noqa: PLR0124
                    continue
                assert value.startswith(back.removesuffix("…"))
                assert len(back.encode()) <= 254
                whole = rows_of(zipped, f"{table.name}.csv") if whole is None else whole
                assert int(whole[row + 1][0]) == row
                assert whole[row + 1][whole[0].index(field.name)] == value


def test_texts_beside_a_shapefile_are_no_formulas(zipped: Path) -> None:
    header, *rows = rows_of(zipped, "sites_points.csv")
    names = [row[header.index("name")] for row in rows]
    assert names[HOSTILE.index("=HYPERLINK(1)")] == "'=HYPERLINK(1)"


def test_the_same_features_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        for file in ("out.gpkg", "out.shp.zip"):
            write_tables(example_areas(), tmp_path / name / file, about=ABOUT)
    for file in ("out.gpkg", "out.shp.zip"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from grownj_geo.features import LayerFault  # noqa: PLC0415

    def full(*_: object, **__: object) -> None:
        raise pyogrio.errors.DataSourceError("no room")

    monkeypatch.setattr(pyogrio, "write_arrow", full)
    with pytest.raises(LayerFault, match="no room") as caught:
        write_tables(example_areas(), tmp_path / "out.gpkg", about=ABOUT)
    assert caught.value.fault == "not_written"
    assert list(tmp_path.iterdir()) == []
