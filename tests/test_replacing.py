"""What an output may take the place of: its own, and nothing of anybody else's."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyogrio
import pytest
import shapely
from browser import chromium
from few_tables import example_areas, example_sites
from typer.testing import CliRunner

from grownj_geo.cli import app
from grownj_geo.export import EXPORT_FORMATS, write_tables
from grownj_geo.features import LayerFault
from grownj_geo.replacing import check_replaceable, is_own

if TYPE_CHECKING:
    from click.testing import Result

PLACE = "40.7344,-74.1641"
ABOUT = {"as of": "2017-04-17", "caution": "none"}
COMMANDS = [
    ("check", PLACE, "-o", "site.txt"),
    ("check", PLACE, "--json", "-o", "site.json"),
    ("check", PLACE, "--json", "--rulebook", "grow-nj", "--rulebook", "a1178-areas", "-o", "both.json"),
    ("batch", "sites.csv", "-o", "out.csv", "--evidence", "lines.jsonl", "--summary", "sum.json"),
    *(("batch", "sites.csv", "-o", f"out.{kind}") for kind in ("xlsx", "parquet", "geoparquet", "gpkg", "geojson")),
    *(("export", "sites", "sites.csv", "-o", f"sites{kind}") for kind in EXPORT_FORMATS),
    ("recheck", "records", "-o", "changes.csv"),
    ("recheck", "records", "-o", "changes.json"),
    ("watch", "sites.csv", "-o", "days.csv"),
    ("watch", "sites.csv", "-o", "days.json"),
    *(("compare", "sites.csv", "-o", f"side.{kind}") for kind in ("csv", "json", "html")),
    ("layers", "export", "counties", "-o", "counties.gpkg"),
    ("layers", "export", "counties", "-o", "counties.geojson"),
    ("layers", "export", "counties", "-o", "counties.parquet"),
    ("credits", "batch", "projects.csv", "-o", "credits.csv"),
    ("credits", "project.yaml", "--xlsx", "credit.xlsx"),
]
DRAWN = [
    ("map", PLACE, "-o", "map.html", "--png", "map.png", "--svg", "map.svg", "--pdf", "map.pdf"),
    ("report", PLACE, "-o", "site.html", "--no-map"),
    ("report", "sites.csv", "-o", "sites.pdf", "--no-map", "--pdf-engine", "fpdf2"),
    ("report", "sites.csv", "-o", "folder/", "--no-map", "--format", "html"),
]


def run(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "sites.csv").write_text("name,lat,lon\nA,40.7344,-74.1641\n", encoding="utf-8")
    (folder / "projects.csv").write_text(
        "industry,gross_leasable_sqft,premises,construction,new_jobs,retained_jobs\noffice,20000,other,new,40,0\n",
        encoding="utf-8",
    )
    run("credits", "new", "-o", str(folder / "project.yaml"))
    (folder / "records").mkdir()
    assert run("check", PLACE, "--save", str(folder / "records" / "kept.json")).exit_code == 0
    return folder


@pytest.fixture
def here(tmp_path: Path, inputs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and ".gdb" not in str(path.parent))


@pytest.mark.parametrize("words", [*COMMANDS, *(pytest.param(each, marks=pytest.mark.slow) for each in DRAWN)])
def test_the_same_command_twice_simply_works_and_others_files_are_left_alone(
    words: tuple[str, ...], here: Path
) -> None:
    before = set(_files(here))
    first = run(*words)
    assert first.exit_code in {0, 5}, first.output
    made = sorted(set(_files(here)) - before) or [here / words[-1]]
    assert all(is_own(path) for path in made), [path.name for path in made if not is_own(path)]
    again = run(*words)
    assert (again.exit_code, _files(here)) == (first.exit_code, sorted({*before, *made} & set(_files(here)))), (
        again.output
    )
    if words[-1].endswith(("/", ".gdb")) or "folder/" in words:
        return
    # The first output named now belongs to somebody else.
    target = here / words[words.index("-o" if "-o" in words else "--xlsx") + 1]
    target.write_bytes(b"dear colleague,\r\n")
    refused = run(*words)
    assert refused.exit_code == 2, refused.output
    assert "Nothing was overwritten. Give another name, or --replace." in " ".join(refused.output.split())
    assert target.read_bytes() == b"dear colleague,\r\n"
    assert run(*words, "--replace").exit_code == first.exit_code
    assert target.read_bytes() != b"dear colleague,\r\n"


OTHERS = {
    "letters.txt": b"Computed from nothing.\n",
    "lots.csv": b"name,lat,lon,problem\nA,1,2,\n",
    "page.html": b"<!doctype html><meta name=generator content=hugo><p>grownj-geo is fine</p>",
    "plan.svg": b"<svg xmlns='http://www.w3.org/2000/svg'><text>grownj-geo</text></svg>",
    "plan.png": b"\x89PNG\r\n\x1a\nSoftware\0paint",
    "plan.pdf": b"%PDF-1.4\n% grownj-geo\n%%EOF",
    "plan.geojson": b'{"type": "FeatureCollection", "name": "grownj-geo", "features": []}',
    "data.json": b'{"records": []}',
    "cut.json": b'{"records": [',
    "deep.json": b"[" * 100_000,
    "lines.jsonl": b'{"a": 1}\n{"a": 2}\n',
    "half.gpkg": b"SQLite format 3\0" + b"x" * 100,
    "half.parquet": b"PAR1xxxx",
    "half.zip": b"PK\x03\x04x",
    "other.kml": b"<?xml version='1.0'?><kml><Document/></kml>",
}


@pytest.mark.parametrize("name", OTHERS)
def test_files_of_others_are_known_and_left(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(OTHERS[name])
    assert not is_own(path)
    with pytest.raises(LayerFault, match=r"Nothing was overwritten\. Give another name, or --replace"):
        check_replaceable(path)
    check_replaceable(path, replace=True)
    assert path.read_bytes() == OTHERS[name]


def test_an_empty_file_and_a_new_name_are_free(tmp_path: Path) -> None:
    for name in ("out.csv", "out.gpkg", "out.pdf"):
        check_replaceable(tmp_path / name)
        (tmp_path / name).touch()
        check_replaceable(tmp_path / name)


def test_a_zip_with_a_file_of_somebody_else_is_not_own(tmp_path: Path) -> None:
    path = tmp_path / "areas.shp.zip"
    write_tables([*example_areas(), *example_sites()], path, about=ABOUT)
    assert is_own(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("letters.txt", "dear")
    assert not is_own(path)


def test_a_geopackage_of_a_batch_to_which_somebody_added_a_layer_is_not_own(here: Path) -> None:
    assert run("batch", "sites.csv", "-o", "out.gpkg").exit_code == 0
    lot = (np.array(shapely.to_wkb([shapely.Point(6e5, 5e5)]), dtype=object), [np.array(["12"])], ["lot"])
    pyogrio.raw.write(
        "out.gpkg", *lot, layer="office", driver="GPKG", geometry_type="Point", crs="EPSG:3424", append=True
    )
    refused = run("batch", "sites.csv", "-o", "out.gpkg")
    assert refused.exit_code == 2
    assert "did not write (office)" in refused.output
    assert pyogrio.list_layers(here / "out.gpkg")[:, 0].tolist() == ["sites", "office"]


def test_what_is_read_and_kept_records_are_never_replaced_even_if_asked(here: Path) -> None:
    table, record = Path("sites.csv"), Path("records/kept.json")
    before = record.read_bytes()
    for words in (
        ("batch", "sites.csv", "-o", "sites.csv", "--replace"),
        ("recheck", "records", "-o", "records/kept.json", "--replace"),
        ("compare", PLACE, "-o", "records/kept.json", "--replace"),
        ("check", PLACE, "--json", "-o", "records/kept.json", "--replace"),
        ("batch", "sites.csv", "-o", "out.csv", "--evidence", "records/kept.json", "--replace"),
    ):
        done = run(*words)
        assert (done.exit_code, "Nothing was" in done.output) == (2, True), (words, done.output)
        assert record.read_bytes() == before
        assert table.read_text(encoding="utf-8").startswith("name,lat,lon")
    assert not (here / "out.csv").exists()


def test_determinations_make_way_for_determinations_only(here: Path) -> None:
    assert run("check", PLACE, "--json", "-o", "site.json").exit_code == 0
    check_replaceable(here / "site.json", answers=True)
    with pytest.raises(LayerFault, match="holds determinations"):
        check_replaceable(here / "site.json", replace=True)


def test_a_record_inside_a_folder_that_is_read_is_what_is_read(here: Path) -> None:
    bare = here / "records" / "bare.json"
    bare.write_text(json.dumps(json.loads((here / "records/kept.json").read_bytes())["determination"]))
    with pytest.raises(LayerFault, match="is a file that is read"):
        check_replaceable(bare, sources=[here / "records"], answers=True)
    # Places are typed where files could be: whatever they are called, they are none.
    check_replaceable(here / "new.csv", sources=[Path(PLACE), Path("x" * 5_000), Path("a\0b")])


def test_folders_devices_and_names_that_no_file_has(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for path, words in (
        (tmp_path / "folder", "is a folder"),
        (Path(os.devnull), "no regular file"),
        (tmp_path / "none" / "out.csv", "there is no folder"),
        (tmp_path / "a\0b.csv", "cannot be used"),
        (tmp_path / ("x" * 5_000), "cannot be used"),
    ):
        with pytest.raises(LayerFault, match=words):
            check_replaceable(path, replace=True)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="no folder that takes nothing, whoever asks")
def test_a_folder_that_takes_no_file_is_told_before_any_work() -> None:
    with pytest.raises(LayerFault, match="nothing can be written into the folder /proc"):
        check_replaceable(Path("/proc/out.csv"))


def test_looking_leaves_nothing_behind(tmp_path: Path) -> None:
    check_replaceable(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_folder_of_reports_is_replaced_by_those_of_the_same_sites_only(here: Path) -> None:
    words = ("report", "sites.csv", "-o", "out/", "--no-map", "--format", "html")
    assert run(*words).exit_code == 0
    names = sorted(path.name for path in (here / "out").iterdir())
    before = {path.name: path.read_bytes() for path in (here / "out").iterdir()}
    assert run(*words, "--as-of", "2016-01-04").exit_code == 0
    after = {path.name: path.read_bytes() for path in (here / "out").iterdir()}
    assert (sorted(after), all(after[name] != before[name] for name in names)) == (names, True)
    Path("sites.csv").write_text("name,lat,lon\nB,40.7344,-74.1641\n", encoding="utf-8")
    refused = run(*words)
    assert refused.exit_code == 2
    assert "has reports of other sites (001-A.html)" in " ".join(refused.output.split())
    (here / "out" / "letters.txt").write_text("dear", encoding="utf-8")
    refused = run(*words)
    assert (refused.exit_code, "did not write (letters.txt)" in " ".join(refused.output.split())) == (2, True)
    assert {path.name for path in (here / "out").iterdir()} == {*names, "letters.txt"}


@pytest.mark.slow
@pytest.mark.browser
def test_a_pdf_that_chromium_printed_is_own(here: Path) -> None:
    chromium()
    assert run("report", PLACE, "-o", "site.pdf", "--no-map", "--pdf-engine", "chromium").exit_code == 0
    assert is_own(here / "site.pdf")
