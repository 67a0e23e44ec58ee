"""The command `grownj report`: what it takes, what it refuses, what it writes and says."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser import chromium
from pypdf import PdfReader
from typer.testing import CliRunner

from grownj_geo import cli_report, reportmake
from grownj_geo.cli import app

if TYPE_CHECKING:
    from click.testing import Result

PLACE = "40.567092,-74.320347"


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["report", *map(str, words)])


def said(result: Result) -> str:
    return " ".join(result.output.split())


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "sites.csv"
    rows = ["name,lat,lon", "Жуков,40.7344,-74.1641", "<b onclick=x>,40.567092,-74.320347", "nowhere,0,0"]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def _no_browser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run without a browser, unless a test is about one."""
    if request.node.get_closest_marker("browser") is None:
        monkeypatch.setenv("GROWNJ_CHROMIUM", "")


def test_a_page(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    result = run(PLACE, "-o", target, "--preparer", "A. <Analyst>", "--date", "2017-05-02", "--contact", "the office")
    assert result.exit_code == 0, result.output
    assert f"Wrote {target}: 1 site" in said(result)
    page = target.read_text(encoding="utf-8")
    for words in ("Qualified incentive area: YES", "A. &lt;Analyst&gt;", "2017-05-02", "the office", "<svg"):
        assert words in page
    assert list(tmp_path.iterdir()) == [target]


def test_a_pdf_without_a_browser_says_that_it_has_no_tags(tmp_path: Path) -> None:
    target = tmp_path / "report.pdf"
    result = run(PLACE, "-o", target, "--no-map")
    assert result.exit_code == 0, result.output
    assert "Made without Chromium. This file has no tags" in said(result)
    assert "/StructTreeRoot" not in PdfReader(io.BytesIO(target.read_bytes())).trailer["/Root"]


def test_chromium_that_is_not_there_is_asked_for(tmp_path: Path) -> None:
    result = run(PLACE, "-o", tmp_path / "report.pdf", "--pdf-engine", "chromium")
    assert result.exit_code == 2
    assert "no Chromium or Chrome was found" in said(result)
    assert not list(tmp_path.iterdir())


@pytest.mark.browser
@pytest.mark.slow
def test_a_pdf_by_the_browser_has_tags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROWNJ_CHROMIUM", chromium())
    target = tmp_path / "report.pdf"
    result = run(PLACE, "-o", target)
    assert result.exit_code == 0, result.output
    assert "no tags" not in result.output
    assert "/StructTreeRoot" in PdfReader(io.BytesIO(target.read_bytes())).trailer["/Root"]


def test_a_table_becomes_one_file_and_a_bad_row_stops_nothing(table: Path, tmp_path: Path) -> None:
    target = tmp_path / "all.html"
    result = run(table, "-o", target)
    assert result.exit_code == 2
    assert "No report: " in said(result)
    assert "Row 4: (0, 0)" in said(result)
    page = target.read_text(encoding="utf-8")
    assert "1. Жуков" in page
    assert "2. &lt;b onclick=x&gt;" in page
    assert "Sites without an answer" in page


def test_names_come_from_the_column_that_is_named_and_it_is_told_where_none_is_known(tmp_path: Path) -> None:
    path, target = tmp_path / "sites.csv", tmp_path / "all.html"
    path.write_text("Bldg Nm,lat,lon\nNorth Depot,40.7344,-74.1641\n", encoding="utf-8")
    result = run(path, "-o", target, "--no-map")
    assert result.exit_code == 0, result.output
    assert "no column of names was recognised among 'Bldg Nm', 'lat', 'lon'; name one with --name" in said(result)
    assert "North Depot" not in target.read_text(encoding="utf-8")
    result = run(path, "-o", target, "--no-map", "--name", "Bldg Nm")
    assert result.exit_code == 0, result.output
    assert "no column of names" not in said(result)
    assert "North Depot" in target.read_text(encoding="utf-8")
    result = run(path, "-o", tmp_path / "none.html", "--no-map", "--name", "Nm")
    assert result.exit_code == 2
    assert "has no column 'Nm'; it has 'Bldg Nm', 'lat', 'lon'" in said(result)
    assert not (tmp_path / "none.html").exists()


def test_a_folder_has_a_file_for_each_and_a_table_of_all(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    result = run(table, "-o", f"{folder}/", "--format", "html", "--no-map")
    assert result.exit_code == 2
    assert sorted(p.name for p in folder.iterdir()) == ["000-all-sites.html", "001-Жуков.html", "002-b-onclick-x.html"]
    assert "001-Жуков.html" in (folder / "000-all-sites.html").read_text(encoding="utf-8")


def test_reports_of_an_earlier_run_are_not_mixed_with_new_ones(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert run(table, "-o", f"{folder}/", "--format", "html", "--no-map").exit_code == 2
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = run(PLACE, "-o", f"{folder}/", "--format", "html", "--no-map")
    assert result.exit_code == 2
    assert "has reports of other sites (001-Жуков.html, 002-b-onclick-x.html)" in said(result)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    # The same again is replaced.
    assert run(table, "-o", f"{folder}/", "--format", "html", "--no-map").exit_code == 2
    assert {path.name for path in folder.iterdir()} == set(before)
    # What programs leave of their own is no report.
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / ".DS_Store").write_bytes(b"")
    assert run(PLACE, "-o", tmp_path / "new", "--format", "html", "--no-map").exit_code == 0


def test_reports_of_others_are_found_before_any_site_is_answered(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grownj_geo.reportmake import Maker  # noqa: PLC0415 - only here

    folder = tmp_path / "out"
    assert run(table, "-o", f"{folder}/", "--format", "html", "--no-map").exit_code == 2
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    answered: list[object] = []
    monkeypatch.setattr(Maker, "report", lambda _, one: answered.append(one))
    other = tmp_path / "other.csv"
    # As many, of which one has the name and the number of an earlier one.
    (first,) = (name[4:-5] for name in before if name.startswith("001-"))
    other.write_text(f"name,lat,lon\n{first},40.7344,-74.1641\nElse,40.7344,-74.1641\n", encoding="utf-8")
    result = run(other, "-o", f"{folder}/", "--format", "html", "--no-map")
    assert result.exit_code == 2
    assert "has reports of other sites (002-b-onclick-x.html)" in said(result)
    assert (answered, {path.name: path.read_bytes() for path in folder.iterdir()}) == ([], before)


def test_a_site_without_a_report_moves_the_numbers_and_what_is_left_over_is_still_found(tmp_path: Path) -> None:
    folder, table = tmp_path / "out", tmp_path / "sites.csv"
    header = "name,lat,lon\n"
    rows = ["A,40.7344,-74.1641\n", "B,40.7354,-74.1641\n"]
    table.write_text(header + "".join(rows), encoding="utf-8")
    assert run(table, "-o", f"{folder}/", "--format", "html", "--no-map").exit_code == 0
    # The first lies in another State now: B would be number 1, and its report of number 2 stays beside.
    table.write_text(f"{header}A,41.5,-76.5\n{rows[1]}", encoding="utf-8")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = run(table, "-o", f"{folder}/", "--format", "html", "--no-map")
    assert result.exit_code == 2
    assert "has reports of other sites (001-A.html, 002-B.html)" in said(result)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_names_of_files_stay_in_the_folder(tmp_path: Path) -> None:
    table = tmp_path / "sites.csv"
    table.write_text('name,lat,lon\n../../x,40.7344,-74.1641\n"/etc/..",40.7344,-74.1641\n', encoding="utf-8")
    assert run(table, "-o", f"{tmp_path / 'out'}/", "--format", "html", "--no-map").exit_code == 0
    names = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*.html")}
    assert names == {"out/000-all-sites.html", "out/001-x.html", "out/002-etc.html"}


def test_a_kept_record_is_verified_and_never_altered(tmp_path: Path) -> None:
    record = tmp_path / "kept.json"
    made = CliRunner().invoke(app, ["check", PLACE, "--save", str(record), "--fact", "structure_exists=yes"])
    assert made.exit_code == 0, made.output
    before = record.read_bytes()
    target = tmp_path / "report.html"
    result = run(record, "-o", target, "--fact", "structure_exists=no")
    assert result.exit_code == 0
    assert "1 record is reported as recorded: day, facts and readings that were typed are not applied" in said(result)
    page = target.read_text(encoding="utf-8")
    assert "whose checksum is right" in page
    assert record.read_bytes() == before
    record.write_bytes(before.replace(b'"yes"', b'"no"', 1))
    target.unlink()
    result = run(record, "-o", target)
    assert result.exit_code == 2
    assert "was altered after it was kept" in said(result)
    assert not target.exists()


def test_facts_readings_and_the_day_are_those_that_were_said(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    words = ("--fact", "structure_exists=yes", "--reading", "A11=strict", "--as-of", "2016-01-04")
    assert run(PLACE, "-o", target, "--no-map", *words).exit_code == 0
    page = target.read_text(encoding="utf-8")
    for shown in ("2016-01-04 (as stated)", "structure_exists", "strict (as chosen)"):
        assert shown in page


def test_a_coordinate_in_two_words(tmp_path: Path) -> None:
    assert run("40.7344", "-74.1641", "-o", tmp_path / "report.html", "--no-map").exit_code == 0


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ((), 2, "Expected sites and where to write"),
        ((PLACE,), 2, "Expected sites and where to write"),
        ((PLACE, "-o", "report.docx"), 2, "expected .pdf, .html, or a folder's name"),
        ((PLACE, "-o", "nowhere/report.pdf"), 2, "there is no folder"),
        ((PLACE, "-o", "report.pdf", "--format", "html"), 2, "not of one kind"),
        ((PLACE, "-o", "report.pdf", "--pdf-engine", "word"), 2, "--pdf-engine was read as 'word'"),
        ((PLACE, "-o", "report.html", "--date", "May 2"), 2, "Expected YYYY-MM-DD"),
        ((PLACE, "-o", "report.html", "--fact", "structure=yes"), 2, "structure_exists"),
        (("39.9526,-75.1652", "-o", "report.html"), 3, "outside New Jersey"),
        (("no such place", "-o", "report.html"), 2, "No report: 'no such place'"),
    ],
)
def test_what_is_refused_writes_nothing(
    words: tuple[str, ...], code: int, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*words)
    assert result.exit_code == code, result.output
    assert told in said(result)
    assert not list(tmp_path.iterdir())


def test_nothing_is_written_over_what_is_read(tmp_path: Path) -> None:
    table = tmp_path / "sites.html"
    table.write_text("x", encoding="utf-8")
    result = run(table, "-o", table)
    assert result.exit_code == 2
    assert "Nothing was overwritten" in said(result)
    assert table.read_text(encoding="utf-8") == "x"


def test_more_sites_than_are_read_are_refused_before_any_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_report, "_MOST_SITES", 2)
    answered: list[object] = []
    monkeypatch.setattr(reportmake.Maker, "report", lambda _, one: answered.append(one))
    table = tmp_path / "sites.csv"
    table.write_text("lon,lat\n" + "-74.1641,40.7344\n" * 3, encoding="utf-8")
    done = run(table, "-o", tmp_path / "out.html", "--no-map")
    assert done.exit_code == 2
    assert "There are more than 2 sites" in said(done)
    assert not answered


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-o", "odd.pdf"), "shown as \ufffd: U+5B57, U+6F22. Letters that run from right to left stand here"),
        (("-o", "odd.html"), "The font inside has no picture of 2 signs (U+5B57, U+6F22)"),
    ],
)
def test_signs_that_are_not_shown_as_they_should_be_are_told_in_the_document_and_beside(
    words: tuple[str, ...], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("odd.csv").write_text("name,lat,lon\n漢字 א,40.7344,-74.1641\n", encoding="utf-8")
    result = run("odd.csv", *words, "--no-map")
    assert result.exit_code == 0, result.output
    assert told in said(result)
    target = tmp_path / words[-1]
    if target.suffix == ".pdf":
        text = "".join(page.extract_text() for page in PdfReader(target).pages)
        assert "U+5B57, U+6F22" in " ".join(text.split())
    else:
        assert told in target.read_text(encoding="utf-8")
    # Nothing is said where nothing is odd.
    Path("plain.csv").write_text("name,lat,lon\nŁódź Ελλάδα Київ,40.7344,-74.1641\n", encoding="utf-8")
    result = run("plain.csv", "-o", f"plain{target.suffix}", "--no-map")
    assert "picture of" not in said(result)
    assert b"picture of" not in (tmp_path / f"plain{target.suffix}").read_bytes()


def test_a_column_of_names_without_a_table_is_told(tmp_path: Path) -> None:
    for given in ([PLACE], [PLACE, str(tmp_path)]):
        result = run(*given, "-o", tmp_path / "none.html", "--no-map", "--name", "Owner")
        assert result.exit_code == 2
        assert "--name Owner is a column of a table, and there is none" in said(result)
        assert not (tmp_path / "none.html").exists()


def test_a_polygon_that_crosses_itself_is_refused_in_plain_words(tmp_path: Path) -> None:
    corners = [[-74.165, 40.734], [-74.163, 40.736], [-74.163, 40.734], [-74.165, 40.736], [-74.165, 40.734]]
    square = [[-74.165, 40.734], [-74.163, 40.734], [-74.163, 40.736], [-74.165, 40.736], [-74.165, 40.734]]
    features = [
        {"type": "Feature", "properties": {"name": name}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
        for name, ring in (("Good", square), ("Tie", corners))
    ]
    source = tmp_path / "two.geojson"
    source.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    target = tmp_path / "two.html"
    result = run(source, "-o", target, "--no-map", "--name", "name")
    assert result.exit_code == 2
    told = "its outline crosses itself near 40.73500, -74.16400"
    assert told in said(result)
    assert told in target.read_text(encoding="utf-8")
    assert "Self-intersection" not in target.read_text(encoding="utf-8") + said(result)
