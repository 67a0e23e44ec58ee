"""What an output may take the place of: its own, and nothing of anybody else's."""

from __future__ import annotations

import io
import json
import os
import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import openpyxl
import pyogrio
import pytest
import shapely
from browser import chromium
from few_tables import example_sites
from typer.testing import CliRunner

from grownj_geo import cli, export
from grownj_geo.cli import app
from grownj_geo.export import EXPORT_FORMATS, write_tables
from grownj_geo.features import LayerFault
from grownj_geo.pictures import write_picture
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
    more: tuple[str, ...] = ()
    if not words[-1].endswith(".gdb") and "folder/" not in words:
        # The first output that is named is somebody else's.
        target = here / words[words.index("-o" if "-o" in words else "--xlsx") + 1]
        target.write_bytes(b"dear colleague,\r\n")
        refused = run(*words)
        assert refused.exit_code == 2, refused.output
        assert "Nothing was overwritten. Give another name, or --replace." in " ".join(refused.output.split())
        assert target.read_bytes() == b"dear colleague,\r\n"
        assert set(_files(here)) == {*before, target}
        more = ("--replace",)
    first = run(*words, *more)
    assert first.exit_code in {0, 5}, first.output
    made = sorted(set(_files(here)) - before) or [here / words[-1]]
    assert all(is_own(path) for path in made), [path.name for path in made if not is_own(path)]
    again = run(*words)
    assert again.exit_code == first.exit_code, again.output
    assert set(_files(here)) == {*before, *(path for path in made if path.is_file())}


def _zip(**contents: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name.replace("__", "/").replace("_x", ".x").replace("_k", ".k"), content)
    return file.getvalue()


def _altered(content: bytes, at: int, byte: int) -> bytes:
    """Return a zip file of one entry with a byte of its two headers altered; they are two bytes apart."""
    found = bytearray(content)
    found[at] = found[found.rindex(b"PK\x01\x02") + at + 2] = byte
    return bytes(found)


def _workbook() -> bytes:
    book = openpyxl.Workbook()
    book.properties.creator = "an analyst"
    book.properties.title = book.properties.keywords = "Compared with grownj-geo"
    book.properties.subject = "grownj-geo"
    book.active.title = "Sites"  # type: ignore[union-attr]
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def _pdf() -> bytes:
    """Return a PDF whose texts name the package, in whatever field and on its page."""
    from fpdf import FPDF  # noqa: PLC0415 - an extra

    page = FPDF()
    page.set_compression(False)
    page.set_title("See /WrittenBy (grownj-geo)")
    page.set_keywords("grownj-geo")
    page.set_creator("grownj-geo compared with our tool")
    page.add_page()
    page.set_font("helvetica")
    page.cell(text="(grownj-geo compared")
    return bytes(page.output())


_KML = b"<?xml version='1.0'?><kml xmlns='http://www.opengis.net/kml/2.2'><Document><name>%s</name></Document></kml>"
_CAVEAT = (
    b"Computed from public facts and maps; not the New Jersey Economic Development Authority's\n"
    b"determination and not legal advice.\n"
)
OTHERS = {
    # What quotes this package's words, or names it where anybody names what a file is about.
    "readme.txt": Path(__file__).parents[1].joinpath("README.md").read_bytes(),
    "memo.md": b"My notes.\n\n" + _CAVEAT + b"\nI disagree, because of what follows.\n",
    "ends.txt": b"My notes.\n\n" + _CAVEAT + b"\nWritten by grownj-geo\n",
    "begins.txt": b"As of         2017-04-17 (the default day)\nSite          a\nRulebook      b\n"
    + _CAVEAT
    + b"My view.\n",
    "matrix.csv": b",source,target\nsource,1,2\ntarget,3,4\n",
    "few.csv": b"name,problem,rulebook,atlas\nA,,mine,Rand McNally\n",
    "credits.csv": b"name,credit_problem,credit_eligible\nA,,yes\n",
    "changes.csv": b"source,site,rulebook,as_of_recorded,my_remark\na,b,c,d,e\n",
    "days.csv": b"site,source,rulebook,as_of,until\na,b,c,d,e\n",
    "sites.json": b'{"sites": ["a"], "refused": []}',
    "records.json": b'{"records": [], "refused": []}',
    "side.json": b'{"rulebook": "", "disclaimer": "", "nowhere": [], "rows": []}',
    "summary.json": b'{"rulebook": "", "atlas": "", "resumed_rows": 0, "rows_per_second": 1}',
    "areas.json": b'{"format": "grownj-areas/1", "areas": []}',
    "format.json": b'{"format": "grownj-watch/1 as we would have it"}',
    "list.json": b'[{"format": "grownj-watch/1"}, {"ours": 1}]',
    "book.xlsx": _workbook(),
    "letter.docx": _zip(
        docProps__core_xml=b"<a xmlns:dc='b'><dc:title>grownj-geo</dc:title></a>", word__document_xml=b"<a/>"
    ),
    "place.kmz": _zip(doc_kml=_KML % b"What grownj-geo says"),
    "place.kml": _KML % b"What grownj-geo says" + b"<?grownj-geo areas and sites?>",
    "named.pdf": _pdf(),
    "typed.pdf": b"%PDF-1.4\nBT (grownj-geo compared with our tool) Tj ET\n",
    "quote.html": b'<!doctype html><html><head><!-- <meta name="generator" content="grownj-geo"> --></head><body>'
    b'<meta name="generator" content="grownj-geo"></body></html>',
    "quote.svg": b'<svg xmlns="http://www.w3.org/2000/svg"><title>grownj-geo</title></svg>',
    "quote.geojson": b'{"type": "FeatureCollection", "features": [], "description": "grownj-geo\'s, corrected"}',
    # What cannot be looked into.
    "encrypted.xlsx": _altered(_zip(doc_kml=b"a" * 99), 6, 1),
    "deflate64.zip": _altered(_zip(doc_kml=b"a" * 99), 8, 9),
    "damaged.kmz": _zip(doc_kml=b"a" * 99).replace(b"doc.kmlK", b"doc.kml\xff", 1),
    "nested.json": b"[" * 900 + b"]" * 900,
    "nested2.json": b"[\n" + b"[" * 3_000 + b"]" * 3_001,
    "entities.svg": b"<!DOCTYPE svg [<!ENTITY a 'a'><!ENTITY b '&a;&a;'>]><svg>&b;</svg>",
    "odd.html": b"<!doctype html><html><![odd[ <head><!dear",
    "cell.csv": b"," + b"x" * 200_000,
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


# -- between looking and writing, links, and files that are to stay --------------------------------------


def test_what_comes_to_the_name_while_a_command_works_is_left(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = cli._report_text  # noqa: SLF001 - as it is when somebody else comes meanwhile

    def meanwhile(*words: object) -> str:
        (here / "site.txt").write_text("dear", encoding="utf-8")
        return real(*words)  # type: ignore[arg-type]

    monkeypatch.setattr(cli, "_report_text", meanwhile)
    for _ in range(2):
        (here / "site.txt").unlink(missing_ok=True)
        done = run("check", PLACE, "-o", "site.txt")
        assert done.exit_code == 2
        assert "something came there or was changed while this was worked on" in " ".join(done.output.split())
        assert (here / "site.txt").read_text(encoding="utf-8") == "dear"
    # Whoever says so gets it.
    assert run("check", PLACE, "-o", "site.txt", "--replace").exit_code == 0
    assert is_own(here / "site.txt")
    # So is what is altered where a file of this package was.
    done = run("check", PLACE, "-o", "site.txt")
    assert (done.exit_code, (here / "site.txt").read_text(encoding="utf-8")) == (2, "dear")


@pytest.mark.parametrize("name", ["areas.kml", "areas.gdb"])
def test_what_comes_to_the_name_while_an_export_is_written_is_left(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real = tmp_path / name, export._write  # noqa: SLF001 - as it is when somebody else comes meanwhile

    def meanwhile(*parts: object) -> object:
        path.write_text("dear", encoding="utf-8")
        return real(*parts)  # type: ignore[arg-type]

    monkeypatch.setattr(export, "_write", meanwhile)
    with pytest.raises(LayerFault, match="something came there or was changed"):
        write_tables(example_sites(), path, about=ABOUT)
    assert path.read_text(encoding="utf-8") == "dear"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["out.csv", "out.kml", "out.gdb", "out.svg", "site.txt"])
def test_a_link_stays_and_what_it_points_to_is_written(name: str, here: Path) -> None:
    (here / "there").mkdir()
    (here / name).symlink_to(here / "there" / name)
    if name == "out.svg":
        write_picture(here / name, b"<svg/>")
    elif name == "out.csv":
        assert run("batch", "sites.csv", "-o", name).exit_code == 0
    elif name == "site.txt":
        assert run("check", PLACE, "-o", name).exit_code == 0
    else:
        for _ in range(2):
            write_tables(example_sites(), here / name, about=ABOUT)
    assert (here / name).is_symlink()
    target = here / "there" / name
    assert not target.is_symlink()
    assert target.exists()
    assert list((here / "there").iterdir()) == [target]
    if target.is_file():
        target.write_text("dear", encoding="utf-8")
        with pytest.raises(LayerFault, match="grownj did not write it"):
            check_replaceable(here / name)


def test_a_file_that_is_read_only_is_meant_to_stay(tmp_path: Path) -> None:
    path = tmp_path / "out.kml"
    write_tables(example_sites(), path, about=ABOUT)
    path.chmod(0o444)
    with pytest.raises(
        LayerFault, match=r"is set to be read only\. Nothing was overwritten\. Give another name, or --r"
    ):
        check_replaceable(path)
    check_replaceable(path, replace=True)
    path.chmod(0o644)
    check_replaceable(path)


def test_an_empty_file_and_a_new_name_are_free(tmp_path: Path) -> None:
    for name in ("out.csv", "out.gpkg", "out.pdf"):
        check_replaceable(tmp_path / name)
        (tmp_path / name).touch()
        check_replaceable(tmp_path / name)


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
