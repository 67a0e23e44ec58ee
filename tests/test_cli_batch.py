"""grownj batch as whoever types it sees it."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from contextlib import closing
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner, Result

from grownj_geo import cli

if TYPE_CHECKING:
    from collections.abc import Callable
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


@pytest.mark.parametrize("lines", [0, 1])
@pytest.mark.parametrize(
    "words",
    [
        ("batch", "--dictionary", "--columns", "full"),
        ("check", "40.7344,-74.1641"),
        ("batch", "--help"),
        ("--version",),
    ],
)
def test_a_reader_who_has_seen_enough_ends_it_quietly(words: tuple[str, ...], lines: int) -> None:
    command = (sys.executable, "-m", "grownj_geo", *words)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        assert done.stdout is not None
        assert done.stderr is not None
        for _ in range(lines):
            assert done.stdout.readline()
        done.stdout.close()
        assert done.stderr.read() == b""
    assert done.returncode == 0


def test_a_refusal_keeps_its_code_though_nobody_reads(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "grownj_geo", "batch", tmp_path / "none.csv", "-o", tmp_path / "out.csv")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        assert done.stdout is not None
        done.stdout.close()
    assert done.returncode == 2


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet", "geoparquet", "gpkg", "geojson"])
def test_a_table_of_nothing_but_bad_rows_comes_out_with_their_problems(tmp_path: Path, ending: str) -> None:
    source = tmp_path / "sites.csv"
    source.write_text("name,lat,lon\nTotal,,\nN,N/A,N/A\n")
    done = run(source, "-o", tmp_path / f"out.{ending}", "--columns", "full", "--json")
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert (summary["rows"], summary["answered"], sum(summary["problems"].values())) == (2, 0, 2)


def test_many_different_problems_are_counted_where_they_are_not_listed(tmp_path: Path) -> None:
    source = tmp_path / "sites.csv"
    source.write_text("lat,lon\n40.7344,-74.1641\n" + "".join(f"40.7,x{i}\n" for i in range(30)))
    done = run(source, "-o", tmp_path / "out.csv")
    said = " ".join(done.stderr.split())
    assert said.count("No answer in 1 row:") == 10
    assert "No answer in 20 more rows" in said


# -- real tables --------------------------------------------------------------------------------------


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


def table(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a table in any format, nothing as None, numbers as numbers, everything else as text."""
    import geopandas as gpd  # noqa: PLC0415 - slow tests only
    import openpyxl  # noqa: PLC0415 - same
    import pyarrow.parquet as pq  # noqa: PLC0415 - same

    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows: list[dict[str, Any]] = list(csv.DictReader(file))
    elif path.suffix == ".xlsx":
        with closing(openpyxl.load_workbook(path, read_only=True)) as book:
            header, *cells = book.active.values
        rows = [dict(zip(header, row, strict=True)) for row in cells]
    elif path.suffix in {".parquet", ".geoparquet"}:
        rows = pq.read_table(path).to_pylist()
    else:
        rows = gpd.read_file(path).to_dict("records")
    return [{k: _plain(v) for k, v in row.items() if k not in {"geometry", "geom"}} for row in rows]


def _plain(value: Any) -> str | None:
    if value is None or value != value or value == "":  # noqa: PLR0124 - not a number
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


@pytest.fixture(scope="module")
def in_csv(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[dict[str, Any]]]:
    """Return what gives the rows of a real table as CSV, answered once for all formats that it is held against."""

    @cache
    def rows(name: str) -> list[dict[str, Any]]:
        target: Path = tmp_path_factory.mktemp("csv") / "out.csv"
        done = run(shared / "data" / name, "-o", target, "--json")
        assert done.exit_code == 0, done.output
        return table(target)

    return rows


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize("ending", ["xlsx", "parquet", "geoparquet", "gpkg", "geojson"])
@pytest.mark.parametrize("name", ["bergen_hudson_commercial_parcels_2026.csv", "hoboken_rental_properties.parquet"])
def test_real_tables_are_the_same_in_every_format(
    shared: Path, tmp_path: Path, in_csv: Callable[[str], list[dict[str, Any]]], name: str, ending: str
) -> None:
    target = tmp_path / f"out.{ending}"
    done = run(shared / "data" / name, "-o", target, "--json")
    assert done.exit_code == 0, done.output
    assert table(target) == in_csv(name)
    came = table(shared / "data" / name)
    assert [{k: row[k] for k in came[0]} for row in in_csv(name)] == came


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "transit"),
    [
        ("hudson_county_census_blocks_2020.parquet", {"yes": 1408, "no": 1867, "undetermined": 844}),
        ("hoboken_rental_properties.parquet", {"yes": 1620, "no": 832, "undetermined": 321}),
    ],
)
def test_counts_of_real_tables_are_those_of_plain_measuring(
    shared: Path, tmp_path: Path, name: str, transit: dict[str, int]
) -> None:
    import geopandas as gpd  # noqa: PLC0415 - slow tests only
    import numpy as np  # noqa: PLC0415 - same
    import pandas as pd  # noqa: PLC0415 - same
    import shapely  # noqa: PLC0415 - same

    done = run(shared / "data" / name, "-o", tmp_path / "out.csv", "--json")
    assert json.loads(done.stdout)["outcomes"]["transit_oriented_development"] == transit
    rows = pd.read_csv(tmp_path / "out.csv", dtype=str, keep_default_na=False)
    sites = gpd.read_parquet(shared / "data" / name).to_crs(3424).geometry.to_numpy()
    stations = pd.read_csv(shared / "facts" / "transit_stations.csv", dtype=str)
    rail = stations[stations["mode"].isin(["commuter_rail", "light_rail", "rapid_transit"])]
    at = gpd.GeoSeries(gpd.points_from_xy(rail.longitude, rail.latitude), crs=4326).to_crs(3424)
    # Every corner within half a mile of one station, wherever that is within what is not known of its place.
    unknown_ft = rail.coordinate_uncertainty_m.astype(float).to_numpy() / 0.3048 + 3.3
    xy, of = shapely.get_coordinates(np.asarray(sites, dtype=object), return_index=True)
    slack = np.full(len(sites), -np.inf)
    for x, y, doubt in zip(at.x, at.y, unknown_ft, strict=True):
        farthest = np.zeros(len(sites))
        np.maximum.at(farthest, of, np.hypot(xy[:, 0] - x, xy[:, 1] - y) * (1200 / 3937) / 0.3048)
        slack = np.maximum(slack, 2640.0 - farthest - doubt)
    sure = np.abs(slack) > 0.5
    assert sure.mean() > 0.99
    said = (rows.transit_oriented_development == "yes").to_numpy()
    assert (said == (slack > 0))[sure].all()
    # The municipality with most of a site, among those in which it certainly lies.
    lines = gpd.read_parquet(shared / "data" / "nj_municipalities_njogis2021.parquet").to_crs(3424)
    middle = gpd.GeoDataFrame(geometry=shapely.point_on_surface(sites), crs=3424)
    inside = middle.sjoin(lines, predicate="within").mun_code.reindex(range(len(sites)))
    certain = (rows.placement == "certain").to_numpy()
    code = rows["grownj_mun_code" if "grownj_mun_code" in rows else "mun_code"].to_numpy()
    assert (code == inside.to_numpy())[certain].mean() > 0.995
