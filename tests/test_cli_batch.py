"""grownj batch as whoever types it sees it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner, Result

from grownj_geo import cli

if TYPE_CHECKING:
    from pathlib import Path


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(cli.app, ["batch", *map(str, words)])


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "sites.csv"
    path.write_text("name,lat,lon\nNewark,40.7344,-74.1641\nnowhere,,\nMontgomery,40.42,-74.66\n")
    return path


def test_the_table_comes_out_with_answers_and_a_summary(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    done = run(source, "-o", target, "--summary", tmp_path / "summary.json")
    assert done.exit_code == 0, done.output
    assert not done.stdout
    said = " ".join(done.stderr.split())
    assert "out.csv: 3 rows, 2 answered, as of 2017-04-17" in said
    assert "No answer in 1 row" in said
    assert "qualified_incentive_area: yes 1, undetermined 1" in said
    assert "rows a second" in said
    lines = target.read_text(encoding="utf-8-sig").splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("name,lat,lon,row,problem,notes,mun_code")
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert (summary["rows"], summary["answered"]) == (3, 2)


def test_the_summary_as_json_is_all_that_is_printed(source: Path, tmp_path: Path) -> None:
    done = run(source, "-o", tmp_path / "out.csv", "--json")
    assert json.loads(done.stdout)["answered"] == 2
    assert not done.stderr


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet", "geoparquet", "gpkg", "geojson"])
def test_every_format_is_written(source: Path, tmp_path: Path, ending: str) -> None:
    done = run(source, "-o", tmp_path / f"out.{ending}")
    assert done.exit_code == 0, done.output
    assert (tmp_path / f"out.{ending}").stat().st_size > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"out.{ending}", "sites.csv"]


def test_the_dictionary_says_what_each_column_means() -> None:
    brief, full = run("--dictionary"), run("--dictionary", "--columns", "full", "--json")
    assert brief.exit_code == full.exit_code == 0
    assert "base_ceiling (integer): dollars of the highest base amount" in brief.stdout
    names = [column["name"] for column in json.loads(full.stdout)]
    assert "aviation_district_margin_ft" in names
    assert "aviation_district_margin_ft" not in brief.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "grownj batch sites.csv -o answers.csv"),
        (("nowhere.csv", "-o", "out.csv"), "nowhere.csv"),
        (("sites.csv", "-o", "sites.csv"), "the table that is read"),
        (("sites.csv", "-o", "out.doc"), ".doc"),
        (("sites.csv", "-o", "out.csv", "--columns", "all"), "expected brief or full"),
        (("sites.csv", "-o", "out.csv", "--lat", "latitude"), "latitude"),
        (("sites.csv", "-o", "out.csv", "--rulebook", "grow"), "grow"),
        (("sites.csv", "-o", "out.csv", "--as-of", "2030-01-01"), "2030-01-01"),
        (("sites.csv", "-o", "out.csv", "--reading", "A11"), "A11=strict"),
        (("sites.csv", "-o", "out.csv", "--edition", "planning_areas@2018"), "no edition"),
        (("sites.csv", "-o", "out.csv", "--strict"), "row 3"),
        (("empty.csv", "-o", "out.csv"), "empty.csv"),
        (("plain.csv", "-o", "out.csv"), "where the sites are"),
    ],
)
def test_what_is_refused_says_what_to_do_and_writes_nothing(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "plain.csv").write_text("a,b\n1,2\n")
    before = source.read_bytes()
    done = run(*words)
    assert done.exit_code == 2, done.output
    assert said.lower() in " ".join(done.stderr.split()).lower()
    assert "Traceback" not in done.output
    assert not (tmp_path / "out.csv").exists()
    assert source.read_bytes() == before


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "rows", "answered"),
    [
        ("hudson_county_census_blocks_2020.parquet", 4119, 4119),
        ("hoboken_rental_properties.parquet", 2773, 2773),
        ("orange_city_modiv_2022.csv", 5541, 5541),
        ("bergen_hudson_commercial_parcels_2026.csv", 250, 250),
    ],
)
@pytest.mark.slow
def test_real_tables_run_as_they_are(shared: Path, tmp_path: Path, name: str, rows: int, answered: int) -> None:
    done = run(shared / "data" / name, "-o", tmp_path / "out.parquet", "--json")
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert (summary["rows"], summary["answered"]) == (rows, answered)
    if "orange" in name:
        assert summary["outcomes"]["distressed_municipality"] == {"yes": 5541}
    if "hoboken" in name:
        assert summary["outcomes"]["urban_transit_hub_municipality"] == {"yes": 2773}
