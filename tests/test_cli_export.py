"""grownj export as whoever types it sees it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyogrio
import pytest
from typer.testing import CliRunner, Result

from grownj_geo import cli

if TYPE_CHECKING:
    from pathlib import Path


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(cli.app, ["export", *map(str, words)])


def said(done: Result) -> str:
    return " ".join(done.stderr.split())


def test_the_areas_that_can_be_drawn_are_listed() -> None:
    done = run("areas", "--list")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "qualified_incentive_area: Qualified incentive area"
    assert "urban_aid: Qualified for Urban Aid (only if chosen)" in lines
    assert "rail_transit_half_mile: Near a rail station: within half a mile" in lines
    rows = json.loads(run("areas", "--list", "--json").stdout)
    assert len(rows) == len(lines)


@pytest.mark.slow
def test_areas_come_out(tmp_path: Path) -> None:
    target = tmp_path / "port.gpkg"
    done = run("areas", "--category", "port_of_new_york_district", "-o", target, "--as-of", "2016-01-04")
    assert done.exit_code == 0, done.output
    assert not done.stdout
    assert "port_of_new_york_district: 3 features" in said(done)
    assert set(pyogrio.read_dataframe(target, layer=0)["as_of"]) == {"2016-01-04"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["areas"], "Expected where to write"),
        (["areas", "-o", "out.shp"], "write them zipped, as in areas.shp.zip"),
        (["areas", "-o", "out.gpkg", "--category", "port_distrikt"], "port_district"),
        (["areas", "-o", "out.gpkg", "--as-of", "2012-01-01"], "2012-01-01"),
        (["areas", "-o", "out.gpkg", "--rulebook", "grow-ny"], "grow-nj"),
        (["areas", "-o", "out.gpkg", "--reading", "A11"], "has no '='"),
        (["sites", "-o", "out.gpkg"], "Expected a table"),
        (["sites", "none.csv", "-o", "out.gpkg"], "none.csv"),
        (["sites", "none.csv"], "Expected where to write"),
        (["sites", "none.csv", "-o", "out.gpkg", "--columns", "all"], "expected brief or full"),
    ],
)
def test_what_cannot_be_done_is_said_in_words(
    words: list[str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*words)
    assert done.exit_code == 2
    assert expected in said(done)
    assert "Traceback" not in done.output
    assert list(tmp_path.iterdir()) == []


def test_sites_come_out_with_their_answers(tmp_path: Path) -> None:
    (tmp_path / "sites.csv").write_text("name,lat,lon\nNewark,40.7344,-74.1641\n")
    done = run("sites", tmp_path / "sites.csv", "-o", tmp_path / "sites.shp.zip", "--columns", "full")
    assert done.exit_code == 0, done.output
    assert "sites: 1 feature Note" in said(done)
    frame = pyogrio.read_dataframe(tmp_path / "sites.shp.zip")
    assert frame["name"].tolist() == ["Newark"]
    again = run("sites", tmp_path / "sites.csv", "-o", tmp_path / "sites.kmz", "--json")
    assert json.loads(again.stdout)["layers"] == {"sites": 1}


def test_the_table_that_is_read_is_never_overwritten(tmp_path: Path) -> None:
    source = tmp_path / "sites.geojson"
    point = {"type": "Feature", "properties": {}, "geometry": {"type": "Point", "coordinates": [-74.1641, 40.7344]}}
    source.write_text(json.dumps({"type": "FeatureCollection", "features": [point]}))
    before = source.read_bytes()
    done = run("sites", source, "-o", source)
    assert done.exit_code == 2
    assert "is a file that is read" in said(done)
    assert source.read_bytes() == before


def test_a_place_that_cannot_be_written_to_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "sites.csv").write_text("lon,lat\n-74.1641,40.7344\n", encoding="utf-8")
    for words in (("areas",), ("sites", str(tmp_path / "sites.csv"))):
        done = run(*words, "-o", str(tmp_path / "none" / "out.geojson"))
        assert done.exit_code == 2
        assert "there is no folder" in said(done)
        assert "cutting" not in said(done)


def test_rows_without_an_answer_are_told_whether_the_table_was_answered_before_or_not(tmp_path: Path) -> None:
    rows = "Newark,40.7344,-74.1641\nIsland,40.60999,-74.14843\nNowhere,,\n"
    (tmp_path / "sites.csv").write_text(f"name,lat,lon\n{rows}", encoding="utf-8")
    batch = CliRunner().invoke(cli.app, ["batch", str(tmp_path / "sites.csv"), "-o", str(tmp_path / "answered.csv")])
    assert batch.exit_code == 0, batch.output
    for name in ("sites.csv", "answered.csv"):
        done = run("sites", tmp_path / name, "-o", tmp_path / "sites.gpkg")
        assert done.exit_code == 0, done.output
        assert "Without an answer: 2 of 3 rows." in said(done)
        assert said(done).count("No answer: Row 3: ") == said(done).count("No answer: Row 4: ") == 1
        assert "outside New Jersey" in said(done)
    found = json.loads(run("sites", tmp_path / "sites.csv", "-o", tmp_path / "sites.gpkg", "--json").stdout)
    assert len(found["not_answered"]) == 2
    (tmp_path / "good.csv").write_text("name,lat,lon\nNewark,40.7344,-74.1641\n", encoding="utf-8")
    assert "Without an answer" not in said(run("sites", tmp_path / "good.csv", "-o", tmp_path / "good.gpkg"))


@pytest.mark.parametrize(("rows", "code"), [(3, 0), (4, 2)])
def test_a_table_that_is_too_long_is_refused_before_any_work(
    rows: int, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grownj_geo.export.MOST_ROWS", 3)
    (tmp_path / "sites.csv").write_text("lat,lon\n" + "40.7344,-74.1641\n" * rows, encoding="utf-8")
    done = run("sites", tmp_path / "sites.csv", "-o", tmp_path / "sites.gpkg")
    assert done.exit_code == code, done.output
    assert ("has more than 3 rows" in said(done)) == bool(code)
    assert (tmp_path / "sites.gpkg").exists() == (not code)
