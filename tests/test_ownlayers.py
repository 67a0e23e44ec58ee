"""What others added to a file that holds several things is told by its name, and nothing of it is lost."""

from __future__ import annotations

import shutil
import sqlite3
import zipfile
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np
import openpyxl
import pyogrio
import pytest
import shapely
from few_tables import example_areas, example_sites
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from grownj_geo.cli import app
from grownj_geo.export import write_tables
from grownj_geo.features import LayerFault
from grownj_geo.ownlayers import added_to_database
from grownj_geo.replacing import added_by_others, check_replaceable, is_own

if TYPE_CHECKING:
    from pathlib import Path

ABOUT = {"as of": "2017-04-17", "caution": "none"}


def test_a_geopackage_that_speaks_of_the_package_is_its_owners(tmp_path: Path) -> None:
    path = tmp_path / "mine.gpkg"
    _add_layer(path, append=False, description="Our lots; to be checked with what is Written by grownj-geo")
    assert not is_own(path)
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("UPDATE gpkg_contents SET description = 'Written by grownj-geo'")
    assert is_own(path)


def _add_layer(path: Path, *, append: bool = True, description: str = "") -> None:
    lot = (np.array(shapely.to_wkb([shapely.Point(6e5, 5e5)]), dtype=object), [np.array(["12"])], ["lot"])
    pyogrio.raw.write(
        path, *lot, layer="office", driver="GPKG", geometry_type="Point", crs="EPSG:3424", append=append,
        layer_options={"DESCRIPTION": description},
    )  # fmt: skip


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an export in each format that others may add to."""
    folder = tmp_path_factory.mktemp("exported")
    for name in ("areas.gpkg", "areas.gdb", "areas.shp.zip", "areas.kmz"):
        write_tables([*example_areas(), *example_sites()], folder / name, about=ABOUT)
    (folder / "sites.csv").write_text("name,lat,lon\nA,40.7344,-74.1641\n", encoding="utf-8")
    for name in ("out.xlsx", "out.gpkg", "out.csv"):
        assert CliRunner().invoke(app, ["batch", str(folder / "sites.csv"), "-o", str(folder / name)]).exit_code == 0
    return folder


ADDED = {
    "CREATE TABLE qgis_projects (name TEXT PRIMARY KEY, metadata BLOB, content BLOB)": "qgis_projects",
    "CREATE TABLE my_notes (words TEXT)": "my_notes",
    "CREATE VIEW mine AS SELECT * FROM sites_points": "mine",
    "CREATE TABLE gpkg_metadata (id INTEGER)": "gpkg_metadata",
    "ALTER TABLE sites_points ADD COLUMN remark TEXT": "1 more field of sites_points",
    "UPDATE gpkg_contents SET last_change = '2026-05-01T00:00:00.000Z' WHERE table_name = 'sites_points'": (
        "changes of sites_points on 2026-05-01"
    ),
    "INSERT INTO layer_styles (f_table_name, styleName, styleQML) VALUES ('sites_points', 'our colours', '<qgis/>')": (
        "style our colours of sites_points"
    ),
    "UPDATE layer_styles SET styleQML = '<qgis version=\"3.34.1-Prizren\">' WHERE f_table_name = 'sites_points'": (
        "style sites_points of sites_points"
    ),
}


@pytest.mark.parametrize("statement", ADDED)
def test_what_was_added_to_a_geopackage_is_named_and_left(statement: str, exported: Path, tmp_path: Path) -> None:
    path = tmp_path / "areas.gpkg"
    shutil.copy(exported / path.name, path)
    assert is_own(path)
    with closing(sqlite3.connect(path)) as base, base:
        base.execute(statement)
    assert added_by_others(path) == [ADDED[statement]]
    with pytest.raises(LayerFault) as refused:
        write_tables(example_sites(), path, about=ABOUT)
    assert f"holds what grownj did not write ({ADDED[statement]}). Nothing was overwritten." in str(refused.value)
    with closing(sqlite3.connect(path)) as base:
        assert base.execute("PRAGMA quick_check").fetchone() == ("ok",)
    check_replaceable(path, replace=True)


def test_styles_of_a_batch_and_what_is_not_in_the_file_yet(exported: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.gpkg"
    shutil.copy(exported / path.name, path)
    assert added_to_database(path) == []
    (tmp_path / "out.gpkg-wal").write_bytes(b"x")
    assert added_to_database(path) == ["out.gpkg-wal"]
    (tmp_path / "out.gpkg-wal").unlink()
    # A batch writes no styles: whatever is there is somebody's.
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("CREATE TABLE layer_styles (f_table_name TEXT, styleName TEXT, styleQML TEXT)")
    assert added_to_database(path) == ["layer_styles"]


def test_what_was_added_to_a_workbook_is_named(exported: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.xlsx"
    shutil.copy(exported / path.name, path)
    assert is_own(path)
    book = openpyxl.load_workbook(path)
    book.save(path)
    assert [words[:16] for words in added_by_others(path) or ()] == ["changes saved on"]
    book.properties.lastModifiedBy = "A. Analyst"
    book.save(path)
    assert [words[:27] for words in added_by_others(path) or ()] == ["changes saved by A. Analyst"]
    book.create_sheet("My notes")
    book.save(path)
    assert added_by_others(path) == ["sheet My notes"]
    with pytest.raises(LayerFault, match=r"did not write \(sheet My notes\)\. Nothing was overwritten"):
        check_replaceable(path)


def test_what_was_added_to_a_geodatabase_is_named(exported: Path, tmp_path: Path) -> None:
    path = tmp_path / "areas.gdb"
    shutil.copytree(exported / path.name, path)
    (path / "x.lock").touch()
    assert added_by_others(path) == []
    (path / "notes.txt").write_text("dear", encoding="utf-8")
    (path / "a00000001.ours").mkdir()
    assert added_by_others(path) == ["a00000001.ours", "notes.txt"]
    with pytest.raises(LayerFault, match=r"did not write \(a00000001\.ours, notes\.txt\)"):
        check_replaceable(path, folder=True)
    lot = (np.array(shapely.to_wkb([shapely.Point(6e5, 5e5)]), dtype=object), [np.array(["12"])], ["lot"])
    pyogrio.raw.write(
        path, *lot, layer="office", driver="OpenFileGDB", geometry_type="Point", crs="EPSG:3424", append=True,
        layer_options={"FEATURE_DATASET": "ours"},
    )  # fmt: skip
    assert set(added_by_others(path) or ()) == {"office", "ours", "a00000001.ours", "notes.txt"}


@pytest.mark.parametrize("name", ["areas.shp.zip", "areas.kmz", "out.xlsx"])
def test_a_file_put_into_a_zip_is_named(name: str, exported: Path, tmp_path: Path) -> None:
    path = tmp_path / name
    shutil.copy(exported / name, path)
    assert is_own(path)
    inside = "xl/comments1.xml" if name == "out.xlsx" else "sites.docx"
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(inside, "dear")
    assert added_by_others(path) == [inside]


def test_a_column_behind_those_of_a_table_is_somebodys(exported: Path, tmp_path: Path) -> None:
    rows = (exported / "out.csv").read_text(encoding="utf-8").splitlines()
    path = tmp_path / "out.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    assert is_own(path)
    path.write_text(f"{rows[0]},my remark\n{rows[1]},dear\n", encoding="utf-8")
    assert not is_own(path)


@settings(deadline=None, max_examples=40)
@given(data=st.data())
@pytest.mark.parametrize("name", ["areas.gpkg", "areas.shp.zip", "areas.kmz", "out.xlsx", "out.csv"])
def test_whatever_is_damaged_looking_at_it_never_fails(
    name: str, exported: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray((exported / name).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        # What a file is kept by stands at its beginning and at its end.
        near = data.draw(st.integers(0, min(2_000, len(content) - 1)))
        content[near if data.draw(st.booleans()) else -near - 1] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / f"damaged-{name}"
    path.write_bytes(content[: data.draw(st.integers(len(content) // 2, len(content)))])
    found = added_by_others(path)
    assert found is None or all(isinstance(words, str) for words in found)
