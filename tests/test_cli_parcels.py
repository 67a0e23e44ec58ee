"""The commands that load, show and keep parcels and address points, as whoever types them sees them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from drawn import CAMDEN
from parcel_files import composite, frame, write
from typer.testing import CliRunner, Result

from grownj_geo import cli
from grownj_geo.parceltables import parcel_editions

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GROWNJ_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def run(*words: str, code: int = 0) -> Result:
    done = CliRunner().invoke(cli.app, ["layers", *words])
    assert done.exit_code == code, done.output
    return done


def load(tmp_path: Path, *words: str) -> Result:
    return run("import", "parcels", str(write(composite(), tmp_path / "parcels.gpkg")), *words)


def test_what_was_loaded_is_told(tmp_path: Path) -> None:
    said = " ".join(load(tmp_path, "--edition", "2024-04-29").stdout.split())
    for words in (
        "10 rows from parcels.gpkg",
        "10 parcels of 1 municipality",
        "address from PROP_LOC",
        "2 records share their parcel number with others of another outline; all stay",
        "ZIP_CODE was left aside",
        "Kept as parcels@2024-04-29-",
        "(9 with an outline)",
    ):
        assert words in said


def test_as_json(tmp_path: Path) -> None:
    (found,) = json.loads(load(tmp_path, "--json").stdout)
    assert (found["read"], found["kept"], found["municipalities"]) == (10, 10, {"0408": 10})
    assert found["edition_name"] == parcel_editions()[0].name


def test_list_status_verify_and_remove_know_them(tmp_path: Path) -> None:
    def row() -> dict[str, object]:
        rows = json.loads(run("list", "--json").stdout)
        return {str(one["id"]): one for one in rows}["parcels"]

    assert row()["status"] == "not loaded"
    assert json.loads(run("status", "--json").stdout)["parcels"] is None
    load(tmp_path, "--edition", "2024-04-29")
    name = parcel_editions()[0].name
    assert {"status": "loaded", "edition": "2024-04-29", "stored": name}.items() <= row().items()
    status = json.loads(run("status", "--json").stdout)["parcels"]
    assert (status["name"], status["parcels"], status["drawn"], status["parts"][0]["rows"]) == (name, 10, 9, 10)
    assert "10 parcels, 9 with an outline" in " ".join(run("status").stdout.split())
    assert f"ok       {name}" in run("verify").stdout
    assert name in run("remove", name[:18]).stdout
    assert row()["status"] == "not loaded"
    assert "There is no edition" in run("remove", "parcels", code=2).output


def test_damage_is_found_and_named(tmp_path: Path) -> None:
    load(tmp_path)
    held = parcel_editions()[0]
    held.database.write_bytes(held.database.read_bytes()[:-1] + b"x")
    assert f"DAMAGED  {held.name}" in run("verify", code=4).stdout
    (held.folder / "edition.json").write_text("{}")
    assert "DAMAGED" in run("status", code=4).stdout
    run("list", code=4)


def test_address_points(tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    path.write_text(f"where,lon,lat\n1 MAIN ST,{CAMDEN[0]},{CAMDEN[1]}\n")
    assert "--map" in run("import", "address_points", str(path), code=2).output
    done = run("import", "address_points", str(path), "--map", "address=where")
    assert "1 address points of 1 municipality" in " ".join(done.stdout.split())
    assert "one store with the parcels" in run("remove", "address_points", code=2).output


@pytest.mark.parametrize("kind", ["parcels", "address_points"])
def test_show_says_what_is_read(kind: str) -> None:
    said = run("show", kind).stdout
    assert f"grownj layers import {kind} FILE" in " ".join(said.split())
    assert "prop_addr" in said
    assert json.loads(run("show", kind, "--json").stdout)["id"] == kind


@pytest.mark.parametrize(
    "words", [("--accuracy-ft", "5"), ("--valid-from", "2020-01-01"), ("--complete",), ("--acs", "2011-2015")]
)
def test_options_of_layers_that_mean_nothing_are_refused(words: tuple[str, ...], tmp_path: Path) -> None:
    path = write(composite(), tmp_path / "parcels.gpkg")
    assert words[0] in run("import", "parcels", str(path), *words, code=2).output
    assert not parcel_editions()


def test_what_is_refused_names_file_and_remedy(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("pams_pin\n" + "".join(f"0408_7_{n}\n" for n in range(300)))
    run("import", "parcels", str(path))
    few = write(frame({}), tmp_path / "few.gpkg")
    said = " ".join(run("import", "parcels", str(few), code=2).output.split())
    assert "few.gpkg has less than half" in said
    assert "0408: 1 in the file, 300 in the store" in said
    assert "--partial" in said
    run("import", "parcels", str(few), "--partial")
    run("import", "parcels", str(few), "--dry-run", "--partial")
    assert "There is no" in run("import", "parcels", "absent.gdb", code=2).output


def test_a_dry_run_keeps_nothing(tmp_path: Path, home: Path) -> None:
    assert "Nothing was kept" in load(tmp_path, "--dry-run").stdout
    assert not home.exists()


@pytest.mark.parametrize(
    "words",
    [("export", "parcels", "-o", "x.gpkg"), ("fetch", "address_points"), ("diff", "parcels@a", "parcels@b")],
)
def test_what_is_for_layers_alone_says_so(words: tuple[str, ...]) -> None:
    assert "is for layers" in " ".join(run(*words, code=2).output.split())
