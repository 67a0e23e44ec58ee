"""The commands that load and keep layers, as whoever types them sees them."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import pytest
from drawn import around
from typer.testing import CliRunner, Result

from grownj_geo import cli, loading
from grownj_geo.store import Store

if TYPE_CHECKING:
    from datetime import tzinfo
    from pathlib import Path

MONTGOMERY = (-74.66, 40.42)
SITE = "40.42,-74.66"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GROWNJ_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def run(*words: str) -> Result:
    return CliRunner().invoke(cli.app, list(words))


def areas(path: Path, *details: str, half: float = 9000.0, driver: str | None = None, **columns: Any) -> Path:
    """Write drawn planning areas, each smaller than the one before, as a county office would."""
    shapes = [around(MONTGOMERY, half / (n + 1)) for n in range(len(details))]
    rings = [a.difference(b) for a, b in pairwise(shapes)] + shapes[-1:]
    frame = gpd.GeoDataFrame({"SPDETAIL": list(details), **columns}, geometry=rings, crs="EPSG:3424")
    frame.to_file(path, driver=driver)
    return path


def load(path: Path, *options: str) -> Result:
    return run("layers", "import", "planning_areas", str(path), "--partial", *options)


def outcome(site: str, category: str, *options: str) -> str:
    done = run("check", site, "--json", *options)
    assert done.exit_code == 0, done.output
    return str(next(f["outcome"] for f in json.loads(done.stdout)["findings"] if f["id"] == category))


def test_a_loaded_layer_answers_and_is_named(tmp_path: Path) -> None:
    area = "qualified_incentive_area"
    assert outcome(SITE, area) == "undetermined"
    done = load(areas(tmp_path / "areas.gpkg", "SUBURBAN"), "--edition", "2018-01-16")
    assert done.exit_code == 0, done.output
    name = Store().held()[0].name
    assert name in done.stdout
    assert outcome(SITE, area) == "yes"
    assert outcome(SITE, area, "--edition", "planning_areas@none") == "undetermined"
    assert outcome(SITE, area, "--strict-editions") == "undetermined"
    assert outcome(SITE, area, "--edition", name) == "yes"
    report = run("check", SITE).stdout
    assert name in report
    assert "imported from areas.gpkg" in report
    assert "2018-01-16" in report


def test_a_dry_run_keeps_nothing(tmp_path: Path, home: Path) -> None:
    done = load(areas(tmp_path / "areas.gpkg", "SUBURBAN"), "--dry-run")
    assert done.exit_code == 0
    assert "Nothing was kept" in done.stdout
    assert not home.exists()


def test_too_few_features_are_refused_unless_the_file_is_said_to_be_a_part(tmp_path: Path) -> None:
    path = areas(tmp_path / "areas.gpkg", "SUBURBAN")
    done = run("layers", "import", "planning_areas", str(path))
    assert done.exit_code == 2
    assert "has at least 2958" in done.stderr
    assert Store().held() == ()


def test_a_part_never_says_no(tmp_path: Path) -> None:
    load(areas(tmp_path / "areas.gpkg", "SUBURBAN", half=500.0))
    assert outcome("40.42,-74.70", "qualified_incentive_area") == "undetermined"


def test_the_json_of_an_import_says_what_was_done(tmp_path: Path) -> None:
    path = areas(tmp_path / "areas.gpkg", "SUBURBAN", "Rural ", "NEW CLASS")
    (found,) = json.loads(load(path, "--json").stdout)
    assert (found["read"], found["kept"]) == (3, 3)
    assert found["unknown_values"] == {"SPDETAIL": ["NEW CLASS"]}
    assert found["edition"] == Store().held()[0].name


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["import", "planing_areas", "x.zip"], "Did you mean planning_areas?"),
        (["import", "planning_areas"], "Expected a layer and a file"),
        (["import", "planning_areas", "no-such-file.zip"], "no-such-file.zip"),
        (["import", "planning_areas", "x.gpkg", "--map", "SPDETAIL"], "--map SPDETAIL=PLAN_CLASS"),
        (["import", "planning_areas", "x.gpkg", "--set", "A=1", "--set", "A=2"], "names A twice"),
        (["import", "planning_areas", "x.gpkg", "--edition", "16.1.2018"], "--edition 2017-04-17"),
        (["import", "planning_areas", "x.gpkg", "--accuracy-ft", "-3"], "expected feet, 0 or more"),
        (["import", "planning_areas", "--bundle", "x.zip"], "expected no LAYER"),
        (["import", "--bundle", "x.zip"], "x.zip"),
        (["fetch"], "Expected a layer, or --all"),
        (["fetch", "planning_areas"], "--accept-terms"),
        (["fetch", "census_tract_poverty"], "--acs 2011-2015"),
        (["fetch", "endorsed_plan_centers", "--accept-terms"], "No service of endorsed_plan_centers is known"),
        (["fetch", "planning_areas", "highlands_region", "--url", "https://x.example/1"], "expected one LAYER"),
        (["remove"], "Expected an edition"),
        (["remove", "planning_areas@2018"], "There is no edition"),
        (["diff", "planning_areas@1", "planning_areas@2"], "There is no edition"),
        (["diff", "counties@shipped", "municipalities@shipped"], "Give two of one layer"),
        (["export", "planning_areas", "-o", "x.gpkg"], "not there"),
        (["export", "counties", "-o", "x.dwg"], "expected .gpkg, .geojson or .parquet"),
        (["export"], "Expected either --output"),
        (["export", "--bundle", "x.zip"], "no edition to put into a bundle"),
    ],
)
def test_what_is_refused_says_what_to_do(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("layers", *words)
    assert done.exit_code == 2, done.output
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.output


def test_status_names_what_is_there_and_what_is_missing(tmp_path: Path) -> None:
    load(areas(tmp_path / "areas.gpkg", "SUBURBAN"), "--edition", "2018-01-16")
    load(areas(tmp_path / "areas.gpkg", "RURAL"), "--edition", "2026-01-16")
    found = json.loads(run("layers", "status", "--json").stdout)
    assert [(e["edition"], e["used"], e["holds"]) for e in found["editions"]] == [
        ("2018-01-16", True, False),
        ("2026-01-16", False, False),
    ]
    missing = {entry["layer"]: entry for entry in found["missing"]}
    assert "planning_areas" not in missing
    assert "Deep poverty pocket" in missing["census_tract_poverty"]["needed_by"]
    text = run("layers", "status").stdout
    assert "planning_areas@2018-01-16-" in text
    assert "not complete" in text
    late = json.loads(run("layers", "status", "--json", "--as-of", "2026-02-01").stdout)
    assert [e["used"] for e in late["editions"]] == [False, True]


def test_verify_finds_the_edition_that_was_changed(tmp_path: Path) -> None:
    load(areas(tmp_path / "areas.gpkg", "SUBURBAN"))
    assert run("layers", "verify").exit_code == 0
    (held,) = Store().held()
    path = held.folder / "layer.parquet"
    path.write_bytes(path.read_bytes()[:-1])
    done = run("layers", "verify", "--json")
    assert done.exit_code == 4
    assert [name for name, problem in json.loads(done.stdout).items() if problem] == [held.name]
    assert run("check", SITE).exit_code == 4
    assert run("layers", "list").exit_code == 4
    assert run("layers", "status").exit_code == 0  # does not read the files; verify does


def test_diff_lists_the_changes_and_the_sites(tmp_path: Path) -> None:
    load(areas(tmp_path / "old.gpkg", "SUBURBAN", "RURAL"), "--edition", "2017-01-01")
    load(areas(tmp_path / "new.gpkg", "SUBURBAN", "SUBURBAN"), "--edition", "2018-01-01")
    sites = tmp_path / "sites.txt"
    sites.write_text(f"{SITE}\n40.42,-74.685\n\n0408_81_1\n")
    done = run("layers", "diff", "planning_areas@2017", "planning_areas@2018", "--sites", str(sites), "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert [(c["kind"], c["fields"]) for c in found["diff"]["changes"]] == [
        ("reclassified", {"SPDETAIL": ["RURAL", "SUBURBAN"]})
    ]
    assert [s["site"] for s in found["sites"]] == [SITE]
    assert found["unread"] == {}
    text = run("layers", "diff", "planning_areas@2017", "planning_areas@2018", "--sites", str(sites)).stdout
    assert "RURAL -> SUBURBAN" in text
    assert "SITES THAT COME OUT OTHERWISE: 1" in text


def test_a_site_that_cannot_be_read_does_not_keep_the_others(tmp_path: Path) -> None:
    load(areas(tmp_path / "old.gpkg", "SUBURBAN", "RURAL"), "--edition", "2017-01-01")
    load(areas(tmp_path / "new.gpkg", "SUBURBAN", "SUBURBAN"), "--edition", "2018-01-01")
    sites = tmp_path / "sites.txt"
    sites.write_text(f"40.42,74.66\n{SITE}\n40.75,-73.0\n")
    done = run("layers", "diff", "planning_areas@2017", "planning_areas@2018", "--sites", str(sites), "--json")
    assert done.exit_code == 2
    found = json.loads(done.stdout)
    assert [s["site"] for s in found["sites"]] == [SITE]
    assert set(found["unread"]) == {"40.42,74.66", "40.75,-73.0"}
    assert "2 of the sites could not be compared" in done.stderr


def test_an_import_says_whether_a_question_takes_it(tmp_path: Path) -> None:
    first = load(areas(tmp_path / "a.gpkg", "SUBURBAN"), "--edition", "2017-01-01")
    assert "A question as of 2017-04-17 takes it." in " ".join(first.stdout.split())
    later = " ".join(load(areas(tmp_path / "b.gpkg", "RURAL"), "--edition", "2019-06-01").stdout.split())
    assert "takes planning_areas@2017-01-01-" in later
    assert "--valid-from" in later


def test_a_part_cannot_be_complete(tmp_path: Path) -> None:
    done = load(areas(tmp_path / "a.gpkg", "SUBURBAN"), "--complete")
    assert done.exit_code == 2
    assert "both partial and complete" in done.stderr


def test_what_ships_is_not_displaced_by_an_edition_of_other_days(tmp_path: Path) -> None:
    done = run("layers", "export", "counties", "-o", str(tmp_path / "counties.gpkg"))
    assert done.exit_code == 0, done.output
    words = ("layers", "import", "counties", str(tmp_path / "counties.gpkg"))
    done = run(*words, "--valid-from", "2026-01-01")
    assert done.exit_code == 0, done.output
    assert "takes what ships all the same" in " ".join(done.stdout.split())
    stored = {x["id"]: x["stored"] for x in json.loads(run("check", SITE, "--json").stdout)["layers"]}
    assert stored["counties"] is None
    run(*words, "--valid-from", "2010-01-01")
    stored = {x["id"]: x["stored"] for x in json.loads(run("check", SITE, "--json").stdout)["layers"]}
    assert str(stored["counties"]).startswith("counties@undated-")


def test_the_day_of_import_is_in_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = areas(tmp_path / "areas.gpkg", "SUBURBAN")
    answers = []
    for day in (1, 2):
        monkeypatch.setattr(loading, "datetime", _clock(day))
        monkeypatch.setenv("GROWNJ_HOME", str(tmp_path / f"home{day}"))
        assert load(path).exit_code == 0
        answers.append(run("check", SITE, "--json").stdout)
    assert answers[0] == answers[1]
    assert "2030-01-0" not in answers[0]
    assert "2030-01-02" in run("layers", "status").stdout


def _clock(day: int) -> type[datetime]:
    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return datetime(2030, 1, day, tzinfo=tz)

    return Clock


def test_asking_about_a_site_brings_in_no_gdal_and_no_network(tmp_path: Path) -> None:
    load(areas(tmp_path / "areas.gpkg", "SUBURBAN"))
    code = (
        "import sys\nfrom typer.testing import CliRunner\nfrom grownj_geo import cli\n"
        f"done = CliRunner().invoke(cli.app, ['check', {SITE!r}])\nassert done.exit_code == 0, done.output\n"
        "heavy = {'pandas', 'geopandas', 'pyogrio', 'httpx', 'filelock', 'openpyxl'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_removed_edition_is_gone(tmp_path: Path) -> None:
    load(areas(tmp_path / "areas.gpkg", "SUBURBAN"))
    assert run("layers", "remove", "planning_areas").exit_code == 0
    assert outcome(SITE, "qualified_incentive_area") == "undetermined"


def test_a_bundle_hands_the_atlas_to_a_colleague(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load(areas(tmp_path / "areas.gpkg", "SUBURBAN"), "--edition", "2018-01-16")
    before = json.loads(run("check", SITE, "--json").stdout)
    done = run("layers", "export", "--bundle", str(tmp_path / "atlas.zip"))
    assert done.exit_code == 0, done.output
    monkeypatch.setenv("GROWNJ_HOME", str(tmp_path / "colleague"))
    done = run("layers", "import", "--bundle", str(tmp_path / "atlas.zip"))
    assert done.exit_code == 0, done.output
    after = json.loads(run("check", SITE, "--json").stdout)
    # Where the layer came from is the bundle's word now, and the answer says so.
    assert [x["origin"] for x in after["layers"] if x["stored"]] == [
        "imported from areas.gpkg, as the bundle atlas.zip says"
    ]
    for record in (before, after):
        for layer in record["layers"]:
            del layer["origin"]
        record["cautions"] = [c for c in record["cautions"] if "areas.gpkg" not in c]
    assert after == before


@pytest.mark.parametrize("ending", ["gpkg", "geojson", "parquet"])
def test_an_exported_layer_can_be_imported_again(tmp_path: Path, ending: str) -> None:
    load(areas(tmp_path / "areas.gpkg", "SUBURBAN", "RURAL"), "--edition", "2018-01-16")
    out = tmp_path / f"out.{ending}"
    done = run("layers", "export", "planning_areas", "-o", str(out))
    assert done.exit_code == 0, done.output
    done = load(out, "--edition", "2019-01-16")
    assert done.exit_code == 0, done.output
    found = json.loads(run("layers", "diff", "planning_areas@2018", "planning_areas@2019", "--json").stdout)
    assert found["diff"]["changes"] == []


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        ("planning_areas", ["SPDETAIL: required", "'ENV. SENSITIVE BARRIER IS'", "at least 2,958", "layers fetch"]),
        ("census_tract_poverty", ["GEOID: required; key; 11 digits", "--acs 2011-2015", "TRACT_VINTAGE"]),
        ("designations", ["lfb_supervision: municipalities that the user lists", "urban_aid_2017"]),
        ("freight_rail", ["not known", "layers import freight_rail FILE"]),
    ],
)
def test_show_teaches_what_a_file_must_have(layer: str, said: list[str]) -> None:
    done = run("layers", "show", layer)
    assert done.exit_code == 0, done.output
    text = " ".join(done.stdout.split())
    for words in said:
        assert words in text
    assert json.loads(run("layers", "show", layer, "--json").stdout)["id"] == layer


def test_show_of_an_unknown_layer_names_the_nearest() -> None:
    done = run("layers", "show", "planing_areas")
    assert done.exit_code == 2
    assert "Did you mean planning_areas?" in done.stderr


@pytest.mark.parametrize("command", ["list", "show", "status", "verify", "import", "fetch", "diff", "remove", "export"])
def test_every_command_has_help_that_teaches(command: str) -> None:
    done = run("layers", command, "--help")
    assert done.exit_code == 0
    assert "Exit codes" in done.stdout or command == "remove"
