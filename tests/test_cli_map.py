"""The command `grownj map`: what it takes, what it refuses, what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from grownj_geo.cli import app

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["map", *words])


def said(result: Result) -> str:
    return " ".join(result.output.split())


def test_areas_alone(tmp_path: Path) -> None:
    target = tmp_path / "map.html"
    result = run("-o", str(target), "--layer", "southern_eight", "--layer", "planning_area_1")
    assert result.exit_code == 0, result.output
    assert "Planning Area 1, Metropolitan is not drawn: not loaded. To load it: grownj layers fetch" in said(result)
    assert "Not drawn, their layers are not loaded: 23 classes" in said(result)
    page = target.read_text(encoding="utf-8")
    assert '"id":"southern_eight"' in page
    assert page.count('"shown":true') == 1


@pytest.mark.slow
def test_places_as_check_takes_them_and_every_kind_of_file(tmp_path: Path) -> None:
    names = [tmp_path / f"two.{kind}" for kind in ("html", "png", "svg", "pdf")]
    html, png, svg, pdf = map(str, names)
    result = run("40.7344,-74.1641", "0714_81_1", "-o", html, "--png", png, "--svg", svg, "--pdf", pdf)
    assert result.exit_code == 0, result.output
    assert [path.read_bytes()[:4] for path in names] == [b"<!DO", b"\x89PNG", b"<?xm", b"%PDF"]
    assert said(result).count("with 2 sites") == 4


def test_coordinates_in_two_words_and_with_a_minus_sign_first(tmp_path: Path) -> None:
    for words in (("40.7344", "-74.1641"), ("-74.1641,40.7344",)):
        result = run(*words, "-o", str(tmp_path / "map.html"))
        assert result.exit_code == 0, result.output
        assert "with 1 site" in said(result)


def test_a_table_and_the_rows_without_an_answer(tmp_path: Path) -> None:
    table = tmp_path / "sites.csv"
    table.write_text("name,lat,lon\nA,40.7344,-74.1641\nB,40.60999,-74.14843\n", encoding="utf-8")
    result = run(str(table), "-o", str(tmp_path / "map.html"), "--as-of", "2016-01-04", "--reading", "A11=strict")
    assert result.exit_code == 0, result.output
    assert "Row 3: The site" in said(result)
    assert "outside New Jersey" in said(result)
    assert '"asOf":"2016-01-04"' in (tmp_path / "map.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "expected", "code"),
    [
        ((), "Expected where to write, as in: grownj map sites.csv -o map.html", 2),
        (("-o", "map.gif"), "ends in .gif; expected one of .html, .png, .svg, .pdf", 2),
        (("--png", "map.svg"), "--png map.svg does not end in .png", 2),
        (("-o", "no-such-folder/map.html"), "there is no folder", 2),
        (("-o", "map.html", "--extent", "county"), "--extent was read as 'county'; expected state or sites", 2),
        (("-o", "map.html", "--layer", "zones"), "--layer names 'zones'; expected classes among planning_area_1", 2),
        (("elsewhere", "-o", "map.html"), "elsewhere", 2),
        (("nofile.csv", "-o", "map.html"), "the name of a file, 'nofile.csv': there is no such file", 2),
        (("40.75,-73.0", "-o", "map.html"), "outside New Jersey", 3),
        (("-o", "map.html", "--as-of", "1999-01-01"), "1999-01-01", 2),
        (("-o", "map.html", "--rulebook", "none-such"), "none-such", 2),
    ],
)
def test_what_is_refused(
    words: tuple[str, ...], expected: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*words)
    assert expected in said(result)
    assert result.exit_code == code
    assert list(tmp_path.iterdir()) == []


def test_a_table_without_one_answer_makes_no_map(tmp_path: Path) -> None:
    table, target = tmp_path / "sites.csv", tmp_path / "map.html"
    table.write_text("name,lat,lon\nA,,\nB,1,2\n", encoding="utf-8")
    result = run(str(table), "-o", str(target))
    assert (result.exit_code, target.exists()) == (2, False)
    assert "None of the 2 sites could be answered. Nothing was written." in said(result)


def test_the_table_is_not_overwritten(tmp_path: Path) -> None:
    table = tmp_path / "sites.svg"
    table.write_text("name,lat,lon\n", encoding="utf-8")
    result = run(str(table), "-o", str(table))
    assert result.exit_code == 2
    assert "is a file that is read" in said(result)


def test_kept_records_are_told_as_what_they_are_and_what_takes_them(tmp_path: Path) -> None:
    folder = tmp_path / "records"
    folder.mkdir()
    record = folder / "kept.json"
    made = CliRunner().invoke(app, ["check", "40.7344,-74.1641", "--save", str(record)])
    assert made.exit_code == 0, made.output
    for given, what in ((record, "is a kept record"), (folder, "is a folder with 1 file of kept records")):
        result = run(str(given), "-o", str(tmp_path / "map.html"))
        assert result.exit_code == 2
        assert f"{what}; expected a table or places" in said(result)
        assert "grownj report" in said(result)
        assert "grownj recheck" in said(result)
    assert not (tmp_path / "map.html").exists()


def test_help_teaches() -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert "grownj map sites.csv -o sites.html" in said(result)


@pytest.mark.slow
def test_signs_without_a_picture_in_the_font_are_told_in_the_picture_and_beside(tmp_path: Path) -> None:
    table, target = tmp_path / "sites.csv", tmp_path / "map.svg"
    table.write_text("name,lat,lon\n漢字,40.7344,-74.1641\n", encoding="utf-8")
    result = run(str(table), "-o", str(target), "--png", str(tmp_path / "map.png"))
    assert result.exit_code == 0, result.output
    told = "The font has no picture of 2 signs, shown as \ufffd: U+5B57, U+6F22."
    assert said(result).count(told) == 1
    assert "U+5B57, U+6F22" in target.read_text(encoding="utf-8")
    # A browser has fonts of its own.
    result = run(str(table), "-o", str(tmp_path / "map.html"))
    assert told not in said(result)


def test_a_column_of_names_without_a_table_is_told(tmp_path: Path) -> None:
    for given in ((), ("40.7344,-74.1641",)):
        result = run(*given, "-o", str(tmp_path / "map.html"), "--name", "Owner")
        assert result.exit_code == 2
        assert "--name Owner is a column of a table, and there is none" in said(result)


def test_wording_that_is_carried_forward_is_told_on_the_page_and_the_picture(tmp_path: Path) -> None:
    page, picture = tmp_path / "map.html", tmp_path / "map.svg"
    told = "The wording of 2017-04-17 is carried forward"
    assert run("-o", str(page), "--svg", str(picture), "--as-of", "2018-11-01").exit_code == 0
    assert told in page.read_text(encoding="utf-8").split("<aside")[0]
    assert told in picture.read_text(encoding="utf-8")
    assert run("-o", str(page)).exit_code == 0
    assert "carried forward" not in page.read_text(encoding="utf-8")
