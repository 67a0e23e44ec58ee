"""The command line: exit codes, refusals in words, and what lands where."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from typer.testing import CliRunner

from grownj_geo import cli, cli_site
from grownj_geo.atlas import load_atlas
from grownj_geo.determination import Determination
from grownj_geo.reference import data_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date

    from grownj_geo.atlas import Atlas


NEWARK = "40.7344,-74.1641"
REPOSITORY = Path(__file__).parent.parent


def run(*args: str) -> Any:
    # Releases of click before 8.2 mix the two streams unless told otherwise; later ones never do.
    apart = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner.__init__).parameters else {}
    return CliRunner(**apart).invoke(cli.app, list(args), prog_name="grownj")


def spawn(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, "-m", "grownj_geo", *args],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "100", **environment},
    )


@pytest.fixture
def damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let the command line work on a copy of the data in which files are cut short."""
    folder = tmp_path / "data"
    shutil.copytree(data_folder(), folder, ignore=shutil.ignore_patterns("source"))

    def damage(*names: str) -> None:
        for name in names:
            content = (folder / name).read_bytes()
            (folder / name).write_bytes(content[: len(content) // 2])

        def atlas(as_of: date, editions: Sequence[str] = ()) -> Atlas:
            return load_atlas(as_of=as_of, folder=folder, editions=editions)

        monkeypatch.setattr(cli_site, "atlas_of", atlas)

    return damage


# -- answers ------------------------------------------------------------------------------------------


def test_a_real_site_from_a_process_of_its_own() -> None:
    done = spawn("check", NEWARK)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Qualified incentive area: YES" in done.stdout
    assert "Newark City (0714), Essex County" in done.stdout
    assert "2017-04-17 (the default day)" in done.stdout
    assert "\x1b" not in done.stdout


def test_the_record_is_schema_valid_and_byte_identical() -> None:
    first, second = spawn("check", NEWARK, "--json"), spawn("check", "--json", NEWARK, PYTHONHASHSEED="7")
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout == second.stdout
    schema = json.loads(run("schema").stdout)
    assert set(schema["properties"]) == set(schema["required"]) == set(Determination.model_fields)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(first.stdout), schema)


@pytest.mark.parametrize(
    "words",
    [
        ["-74.1641,40.7344"],
        ["-74.1641", "40.7344"],
        ["--", "-74.1641,40.7344"],
        ["-74.1641,", "40.7344"],
        ["40", "44", "03.84", "N", "74", "09", "50.76", "W"],
        ["POINT", "(-74.1641", "40.7344)"],
    ],
)
def test_a_site_in_several_words_or_with_a_minus_first(words: list[str]) -> None:
    for args in (["--json", *words], [*words, "--json"] if "--" not in words else ["--json", *words]):
        done = run("check", *args)
        assert done.exit_code == 0, done.stderr
        record = json.loads(done.stdout)
        assert record["place"]["municipality"]["mun_code"] == "0714"
        assert record["site"]["longitude"] == pytest.approx(-74.1641, abs=1e-6)


def test_options_reach_the_record(tmp_path: Path) -> None:
    facts = tmp_path / "facts.yaml"
    facts.write_text("structure_exists: yes\nfull_time_jobs: 450\napplication_date: 2016-07-14\n")
    done = run(
        *("check", NEWARK, "--json", "--as-of", "2018-02-01", "--reading", "A11=strict", "--uncertainty-ft", "25"),
        *("--facts-file", str(facts), "--fact", "full_time_jobs=250", "--determined-on", "2026-01-02"),
    )
    record = json.loads(done.stdout)
    assert done.exit_code == 0
    assert (record["as_of"], record["determined_on"]) == ("2018-02-01", "2026-01-02")
    assert record["readings"]["A11"] == "strict"
    assert record["site"]["uncertainty_ft"] == 25
    facts_stated = {"structure_exists": True, "full_time_jobs": 250.0, "application_date": "2016-07-14"}
    assert record["site"]["facts"] == facts_stated


def test_crs_pin_and_municipality() -> None:
    record = json.loads(run("check", "585206.63,692615.24", "--crs", "3424", "--pin", "0714_1_1", "--json").stdout)
    assert record["site"]["pins"] == ["0714_1_1"]
    assert record["place"]["municipality"]["mun_code"] == "0714"
    record = json.loads(run("check", "--municipality", "Camden City", "--json").stdout)
    assert record["site"]["kind"] == "municipality"
    assert record["place"]["municipality"]["mun_code"] == "0408"


def test_strict_turns_assumptions_off_and_says_so() -> None:
    princeton = "40.3487,-74.6593"
    assumed = json.loads(run("check", princeton, "--json").stdout)
    done = run("check", princeton, "--strict", "--json")
    strict = json.loads(done.stdout)
    assert assumed["assumptions"]
    assert not strict["assumptions"]
    assert (strict["readings"]["A25"], strict["readings"]["A43"]) == ("undetermined", "strict")
    assert "A25=undetermined" in done.stderr
    assert "A25=undetermined" in run("check", princeton, "--strict").stdout


def test_explain_adds_clauses_to_the_report_and_nothing_to_the_record() -> None:
    assert "on the list of 2017:" in run("check", NEWARK, "--explain").stdout
    assert "on the list of 2017:" not in run("check", NEWARK).stdout
    assert run("check", NEWARK, "--explain", "--json").stdout == run("check", NEWARK, "--json").stdout


# -- refusals -----------------------------------------------------------------------------------------


def _geojson(geometry: Any) -> str:
    return json.dumps({"type": "Feature", "properties": {}, "geometry": geometry})


BOWTIE = [[[-74.17, 40.73], [-74.16, 40.74], [-74.16, 40.73], [-74.17, 40.74], [-74.17, 40.73]]]


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["40.7,-73.0"], 3, "outside New Jersey"),
        (["40.5,-73.95"], 3, "outside New Jersey"),
        (["40.7344,74.1641"], 2, 'grownj check "40.7344,-74.1641"'),
        (["0,0"], 2, "(0, 0)"),
        (["nan,nan"], 2, "not a number"),
        (["40,-200"], 2, "not on the globe"),
        ([""], 2, "empty"),
        ([], 2, "empty"),
        (["9999_1_1"], 2, "no municipality 9999"),
        (["Camden City Hall"], 2, "An address cannot be looked up"),
        ([_geojson(None)], 2, "null"),
        ([_geojson({"type": "Polygon", "coordinates": BOWTIE})], 2, "self-intersection"),
        ([_geojson({"type": "Polygon", "coordinates": []})], 2, "empty"),
        (["LINESTRING (-74 40, -74 41)"], 2, "no point or polygon"),
        (["/vsicurl/http://example.org/x.geojson"], 2, "never opened"),
        (["--municipality", "Washington Township"], 2, "Washington Township, Morris County (1438)"),
        (["--municipality", "Nowhere"], 2, "no municipality has that name"),
        ([NEWARK, "--crs", "9"], 2, "CRS"),
        (
            [NEWARK, "--pin", "0408_81_1"],
            2,
            "71.86 miles from Camden City (0408), where the parcel number 0408_81_1 puts",
        ),
        ([NEWARK, "--municipality", "Camden City"], 2, "Newark City (0714) by its lines"),
        (["40.5,-73.95", "--municipality", "Camden City"], 3, "outside New Jersey"),
        ([NEWARK, "--as-of", "20170417"], 2, "Expected YYYY-MM-DD"),
        ([NEWARK, "--as-of", "2017-02-30"], 2, "no such day"),
        ([NEWARK, "--as-of", "2030-01-01"], 2, "outside what the rulebook"),
        ([NEWARK, "--as-of", "1999-01-01"], 2, "outside what the rulebook"),
        ([NEWARK, "--determined-on", "today"], 2, "Expected YYYY-MM-DD"),
        ([NEWARK, "--fact", "structure_exist=yes"], 2, "Did you mean 'structure_exists'?"),
        ([NEWARK, "--fact", "structure_exists"], 2, "has no '='"),
        ([NEWARK, "--fact", "structure_exists=perhaps"], 2, "expected yes or no"),
        ([NEWARK, "--fact", "full_time_jobs=1", "--fact", "full_time_jobs=2"], 2, "stated twice"),
        ([NEWARK, "--facts-file", "/nowhere/facts.yaml"], 2, "could not be read"),
        ([NEWARK, "--reading", "A11=stict"], 2, "Did you mean 'strict'?"),
        ([NEWARK, "--reading", "A11"], 2, "has no '='"),
        ([NEWARK, "--reading", "A11=strict", "--reading", "A11=loose"], 2, "Choose one"),
        ([NEWARK, "--strict", "--reading", "A25=assume_none"], 2, "Leave out either"),
        ([NEWARK, "--uncertainty-ft", "-5"], 2, "from 0 to 1,000,000"),
        ([NEWARK, "--uncertainty-ft", "nan"], 2, "from 0 to 1,000,000"),
        ([NEWARK, "--uncertainty-ft", "far"], 2, "--uncertainty-ft"),
        ([NEWARK, "--width", "5"], 2, "--width"),
        ([NEWARK, "--as-off", "2017-04-17"], 2, "No such option"),
        ([NEWARK, "--pin"], 2, "--pin"),
    ],
)
def test_bad_input_is_told_in_words(args: list[str], code: int, words: str) -> None:
    done = run("check", *args)
    assert done.exit_code == code
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert done.stdout == ""
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.rstrip().endswith((".", "?", '"')), "a sentence that ends"


def test_no_traceback_from_a_process_of_its_own() -> None:
    for word, code in (("40.7344,74.1641", 2), ("40.7,-73.0", 3), ("--foo", 2)):
        done = spawn("check", word)
        assert done.returncode == code
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
    assert 'grownj check "40.7344,-74.1641"' in spawn("check", "40.7344,74.1641").stderr


def test_a_file_that_is_not_geojson(tmp_path: Path) -> None:
    text = tmp_path / "site.geojson"
    text.write_text("lat,lon\n40.7344,-74.1641\n")
    done = run("check", str(text))
    assert done.exit_code == 2
    assert "JSON" in done.stderr
    assert run("check", str(tmp_path)).exit_code == 2
    assert run("check", str(tmp_path / "missing.geojson")).exit_code == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- structure_exists", "does not hold names and values"),
        ("structure_exists: [yes]", "a list or a mapping"),
        ("structure_exists: yes\nstructure_exists: no", "stated twice"),
        ("structure_exists: yes: no", "not readable YAML"),
        ("a: &a {b: 1}\nc: *a", "a list or a mapping"),
        ("structure_exists: on", "expected yes or no"),
        ("full_time_jobs: 0o17", "expected a number"),
        ("structure_exists:", "expected yes or no"),
        ("x: !!python/object/apply:os.system ['true']", "a list or a mapping"),
        ("[" * 5000, "not readable YAML"),
    ],
)
def test_facts_files_that_are_refused(tmp_path: Path, text: str, words: str) -> None:
    facts = tmp_path / "facts.yaml"
    facts.write_text(text)
    done = run("check", NEWARK, "--facts-file", str(facts))
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr


def test_typed_text_is_inert() -> None:
    hostile = "[bold red]x[/] <script>alert(1)</script> \x1b[31mred\x1b[0m [link=file:///etc/passwd]y[/link]"
    feature = json.dumps(
        {
            "type": "Feature",
            "id": hostile,
            "properties": {"name": hostile, "PAMS_PIN": hostile},
            "geometry": {"type": "Point", "coordinates": [-74.1641, 40.7344]},
        },
        ensure_ascii=True,
    )
    done = run("check", feature)
    assert done.exit_code == 0, done.stderr
    assert "[bold red]x[/]" in done.stdout
    assert "\x1b" not in done.stdout
    refused = run("check", hostile)
    assert refused.exit_code == 2
    assert "\x1b" not in refused.stderr
    assert "\x1b" not in run("check", NEWARK, "--crs", "\x1b[31m").stderr
    assert run("check", NEWARK, "--pin", "\udcff").exit_code == 2


def test_ascii_terminals_get_ascii() -> None:
    typed = "40\N{DEGREE SIGN}44'03.84\"N 74\N{DEGREE SIGN}09'50.76\"W"
    done = spawn("check", typed, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert json.loads(spawn("check", typed, "--json", PYTHONIOENCODING="ascii").stdout)["site"]["typed"] == typed
    assert spawn("check", "\N{DEGREE SIGN}", PYTHONIOENCODING="ascii").returncode == 2


# -- files --------------------------------------------------------------------------------------------


def test_output_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "site.json"
    target.write_text("before")
    done = run("check", NEWARK, "--json", "-o", str(target))
    assert (done.exit_code, target.read_text()) == (2, "before")
    done = run("check", NEWARK, "--json", "-o", str(target), "--replace")
    assert (done.exit_code, done.stdout) == (0, "")
    assert str(target) in done.stderr
    assert target.read_text() == run("check", NEWARK, "--json").stdout
    written = target.read_bytes()

    def full(self: Path, content: bytes) -> int:
        with self.open("wb") as file:
            file.write(content[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    done = run("check", NEWARK, "-o", str(target))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "No space left" in done.stderr
    assert target.read_bytes() == written
    assert os.listdir(tmp_path) == ["site.json"]  # noqa: PTH208 - names only


def test_output_refuses_folders_and_what_it_reads(tmp_path: Path) -> None:
    site = tmp_path / "site.geojson"
    site.write_text(_geojson({"type": "Point", "coordinates": [-74.1641, 40.7344]}))
    before = site.read_bytes()
    for target, words in (
        (tmp_path, "is a folder"),
        (tmp_path / "none" / "x.txt", "no folder"),
        (site, "Nothing was overwritten"),
    ):
        done = run("check", str(site), "-o", str(target))
        assert (done.exit_code, done.stdout) == (2, "")
        assert words in done.stderr
    assert site.read_bytes() == before
    report = tmp_path / "report.txt"
    assert run("check", str(site), "-o", str(report)).exit_code == 0
    assert "Qualified incentive area: YES" in report.read_text(encoding="utf-8")
    assert "\x1b" not in report.read_text(encoding="utf-8")


# -- layers, damage, the rest -------------------------------------------------------------------------


def test_a_damaged_layer_gives_exit_4_and_the_report(damaged: Callable[..., None]) -> None:
    damaged("transit_stations.csv")
    done = run("check", NEWARK)
    assert done.exit_code == 4
    assert "Qualified incentive area: YES" in done.stdout
    assert "UNUSABLE" in done.stdout
    assert "damaged" in done.stderr
    record = json.loads(run("check", NEWARK, "--json").stdout)
    transit = next(f for f in record["findings"] if f["id"] == "transit_oriented_development")
    assert transit["outcome"] == "undetermined"
    listed = run("layers", "list")
    assert listed.exit_code == 4
    assert "damaged" in listed.stdout


def test_every_shipped_file_damaged_at_once(damaged: Callable[..., None]) -> None:
    names = [path.name for path in data_folder().iterdir() if path.suffix in {".csv", ".parquet"}]
    damaged(*[name for name in names if name != "sources.csv"])
    done = run("check", NEWARK)
    assert done.exit_code == 4
    assert "Qualified incentive area: UNDETERMINED" in done.stdout
    done = run("check", "0408_81_1")
    assert done.exit_code == 4
    assert "damaged" in done.stderr
    assert run("check", "0,0").exit_code == 2


def test_layers_list() -> None:
    done = run("layers", "list", "--json")
    rows = {row["id"]: row for row in json.loads(done.stdout)}
    assert done.exit_code == 0
    assert rows["municipalities"]["status"] == "loaded"
    assert rows["planning_areas"]["status"] == "not loaded"
    assert "Designated center" in rows["designated_centers"]["needed_by"]
    shown = run("layers", "list", "--width", "80").stdout
    assert all(layer_id in shown for layer_id in rows)
    assert max(map(len, shown.splitlines())) <= 80


def test_version_help_and_no_command() -> None:
    assert run("--version").stdout.startswith("grownj-geo ")
    assert (run().exit_code, run("bogus").exit_code, run("layers").exit_code) == (2, 2, 2)
    for args in (["--help"], ["check", "--help"], ["layers", "list", "--help"]):
        done = run(*args)
        assert done.exit_code == 0
        assert "outside New Jersey" in done.stdout
