"""`check --save`, `recheck`, `watch`, `compare`: exit codes, refusals by name, and what lands where."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import pytest
from kept_world import add
from test_cli import run

from grownj_geo.compare import Comparison
from grownj_geo.determination import Determination
from grownj_geo.kept import Kept, read_records
from grownj_geo.recheck import Recheck
from grownj_geo.rerun import answers_of, changed_items
from grownj_geo.store import Store

if TYPE_CHECKING:
    from pathlib import Path

NEWARK, ATLANTIC_CITY = "40.7344,-74.1641", "39.36,-74.435"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Give the commands a store of their own."""
    monkeypatch.setenv("GROWNJ_HOME", str(tmp_path / "home"))
    return Store(tmp_path / "home")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    folder = tmp_path / "records"
    folder.mkdir()
    done = run("check", ATLANTIC_CITY, "--as-of", "2014-10-01", "--save", str(folder / "ac.json"))
    assert done.exit_code == 0, done.stderr
    return folder


def results(done: Any) -> dict[str, Any]:
    return dict(json.loads(done.stdout))


# -- check --save -------------------------------------------------------------------------------------


def test_check_keeps_a_sealed_record_and_prints_as_before(saved: Path) -> None:
    (kept,) = read_records([saved / "ac.json"])
    assert isinstance(kept, Kept)
    assert kept.sealed
    plain = run("check", ATLANTIC_CITY, "--as-of", "2014-10-01", "--json")
    assert json.loads(plain.stdout) == kept.determination.model_dump(mode="json")


def test_a_kept_record_is_not_overwritten_unasked(saved: Path) -> None:
    path = saved / "ac.json"
    before = path.read_bytes()
    done = run("check", NEWARK, "--save", str(path))
    assert done.exit_code == 2
    assert "never overwritten unasked" in done.stderr
    assert done.stdout == ""
    assert path.read_bytes() == before
    assert run("check", NEWARK, "--save", str(path), "--replace").exit_code == 0
    assert path.read_bytes() != before


def test_nothing_else_is_written_over_a_kept_record(saved: Path) -> None:
    before = (saved / "ac.json").read_bytes()
    for more in (["-o", str(saved / "ac.json")], ["-o", str(saved / "x.json"), "--save", str(saved / "x.json")]):
        done = run("check", NEWARK, *more)
        assert done.exit_code == 2
        assert "kept record" in done.stderr
    assert (saved / "ac.json").read_bytes() == before
    assert not (saved / "x.json").exists()


def test_several_rulebooks_and_a_folder_are_refused_for_saving(saved: Path) -> None:
    many = run(
        "check", NEWARK, "--rulebook", "grow-nj", "--rulebook", "urban-transit-hub", "--save", str(saved / "x.json")
    )
    assert (many.exit_code, (saved / "x.json").exists()) == (2, False)
    assert "one record" in many.stderr
    folder = run("check", NEWARK, "--save", str(saved))
    assert folder.exit_code == 2
    assert "--save" in folder.stderr


def test_check_says_the_next_better_line() -> None:
    done = run("check", "40.567092,-74.320347", "--width", "200")
    assert (
        "Next better   $5,000 (urban transit hub municipality or growth zone): 6.62 miles to New Brunswick"
        in done.stdout
    )
    assert "Next better" not in run("check", NEWARK, "--rulebook", "urban-transit-hub").stdout


# -- recheck ------------------------------------------------------------------------------------------


def test_the_same_is_0_and_a_change_is_5(saved: Path) -> None:
    same = run("recheck", str(saved))
    assert (same.exit_code, same.stdout) == (0, "1 record: 0 changed, 1 the same.\n")
    changed = run("recheck", str(saved), "--as-of", "2014-11-01", "--width", "200")
    assert changed.exit_code == 5
    assert "Garden State Growth Zone, answer: no -> yes" in changed.stdout
    assert "Base amount, at least: $4,000 -> $5,000" in changed.stdout
    assert "P.L.2014 c.63" in changed.stdout
    narrow = run("recheck", str(saved), "--as-of", "2014-11-01", "--width", "70").stdout.splitlines()
    assert max(map(len, narrow)) <= 70
    assert not [line for line in narrow if line != line.rstrip()]


def test_other_margins_beside_the_same_answers_are_counted_apart(saved: Path, tmp_path: Path) -> None:
    newark = tmp_path / "newark.json"
    run("check", NEWARK, "--as-of", "2018-10-02", "--save", str(newark))
    words = "1 with the same answers and other margins, causes or assumptions"
    beside = run("recheck", str(newark), "--as-of", "2018-10-04", "--width", "200")
    assert beside.exit_code == 0
    assert "Garden State Growth Zone, margin: none -> " in beside.stdout
    assert beside.stdout.endswith(f"1 record: 0 changed, {words}, 0 the same.\n")
    both = run("recheck", str(newark), str(saved), "--as-of", "2018-10-04", "--width", "200")
    assert both.exit_code == 5
    assert both.stdout.endswith(f"2 records: 1 changed, {words}, 0 the same.\n")
    out = tmp_path / "out.csv"
    assert run("recheck", str(newark), str(saved), "--as-of", "2018-10-04", "-o", str(out)).exit_code == 5
    with out.open(encoding="utf-8", newline="") as file:
        status = {row["source"].rpartition("/")[2]: row["status"] for row in csv.DictReader(file)}
    assert status == {"newark.json": "beside", "ac.json": "changed"}


def test_an_altered_record_is_refused_by_name_and_the_others_go_on(saved: Path) -> None:
    text = (saved / "ac.json").read_text(encoding="utf-8")
    (saved / "bad.json").write_text(text.replace('"floor": 4000', '"floor": 5000'), encoding="utf-8")
    (saved / "cut.json").write_text(text[:999], encoding="utf-8")
    before = {path: path.read_bytes() for path in saved.iterdir()}
    done = run("recheck", str(saved), "--json")
    assert done.exit_code == 2
    found = results(done)
    assert [one["source"].rpartition("/")[2] for one in found["records"]] == ["ac.json"]
    assert [one["source"].rpartition("/")[2] for one in found["refused"]] == ["bad.json", "cut.json"]
    assert "bad.json was altered after it was kept" in done.stderr
    assert "cut.json is damaged" in done.stderr
    assert {path: path.read_bytes() for path in saved.iterdir()} == before


def test_layers_that_changed_are_named_and_a_damaged_one_is_4(saved: Path, home: Store) -> None:
    from drawn import around, draw  # noqa: PLC0415 - only here

    shape = around((-74.435, 39.36), 500.0)
    name = add(home, draw("planning_areas", [(shape, {"SPDETAIL": "METROPOLITAN"})], least_features=1))
    (found,) = results(run("recheck", str(saved), "--json"))["records"]
    assert [one["id"] for one in found["inputs"]] == ["layer:planning_areas"]
    (home.find(name).folder / "layer.parquet").write_bytes(b"no longer")
    damaged = run("recheck", str(saved))
    assert damaged.exit_code == 4
    assert "Incomplete" in damaged.stderr


def drawn_file(path: Path, detail: str) -> Path:
    """Write a file of two planning areas as an office would give it: one around Atlantic City's centre."""
    import geopandas as gpd  # noqa: PLC0415 - only here
    from drawn import around  # noqa: PLC0415 - same

    shapes = [around((-74.435, 39.36), 500.0), around((-74.45, 39.37), 500.0)]
    frame = {"SPDETAIL": [detail, "RURAL"], "P2ACRES": [22.9, 22.9]}
    gpd.GeoDataFrame(frame, geometry=shapes, crs="EPSG:3424").to_file(path)
    return path


def test_records_before_and_after_an_imported_edition(saved: Path, tmp_path: Path) -> None:
    def load(detail: str, day: str) -> None:
        path = drawn_file(tmp_path / f"{detail}.gpkg", detail)
        done = run("layers", "import", "planning_areas", str(path), "--partial", "--edition", day)
        assert done.exit_code == 0, done.stderr

    before = ["check", "39.4576,-74.5772"]
    load("METROPOLITAN", "2014-10-01")
    assert run(*before, "--save", str(saved / "first.json")).exit_code == 0
    inside = ["check", ATLANTIC_CITY, "--as-of", "2014-10-01"]
    assert run(*inside, "--save", str(saved / "second.json")).exit_code == 0
    assert run("recheck", str(saved / "first.json"), str(saved / "second.json")).exit_code == 0
    load("RURAL", "2014-10-02")
    done = run("recheck", str(saved / "second.json"), "--edition", "planning_areas@2014-10-02", "--json")
    (one,) = results(done)["records"]
    # A growth zone all the same: no answer is other, but what it rests on is.
    assert (done.exit_code, one["same"], one["answers_differ"]) == (0, False, False)
    today = json.loads(run(*inside, "--edition", "planning_areas@2014-10-02", "--json").stdout)
    (kept,) = read_records([saved / "second.json"])
    assert isinstance(kept, Kept)
    wanted = changed_items(answers_of(kept.determination), answers_of(Determination.model_validate(today)))
    assert {(d["item"], d["field"]) for d in one["differences"]} == set(wanted)
    assert {(tuple(d["because"]), d["how"]) for d in one["differences"]} == {(("layer:planning_areas",), "alone")}
    # The day itself still takes the edition that holds on it: nothing of the record differs.
    assert run("recheck", str(saved / "second.json")).exit_code == 0


def test_the_table_has_a_row_for_each_difference(saved: Path, tmp_path: Path) -> None:
    (saved / "bad.json").write_text("{}", encoding="utf-8")
    out = tmp_path / "out.csv"
    assert run("recheck", str(saved), "--as-of", "2014-11-01", "-o", str(out)).exit_code == 2
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["status"] for row in rows} == {"changed", "refused"}
    (floor,) = [row for row in rows if (row["item"], row["figure"]) == ("tier", "floor")]
    assert (floor["was"], floor["now"], floor["because"], floor["how"]) == ("4000", "5000", "as_of", "alone")
    as_json = tmp_path / "out.json"
    run("recheck", str(saved), "--as-of", "2014-11-01", "-o", str(as_json))
    (one,) = json.loads(as_json.read_text(encoding="utf-8"))["records"]
    assert (one.pop("same"), one.pop("answers_differ")) == (False, True)
    assert len(Recheck.model_validate(one).differences) == sum(row["status"] == "changed" for row in rows)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "grownj recheck saved.json"),
        (["--as-of", "2014-13-01"], "no such day"),
        (["--reading", "A999=x"], "no reading 'A999'"),
        (["--edition", "planning_areas@1999"], "There is no edition"),
        (["--fact", "nonsense=1"], "no fact 'nonsense'"),
        (["-o", "out.txt"], "expected .csv or .json"),
    ],
)
def test_options_that_cannot_be_read_are_refused_before_any_record(
    saved: Path, arguments: list[str], words: str
) -> None:
    done = run("recheck", *([str(saved)] if arguments else []), *arguments)
    assert done.exit_code == 2
    assert words in done.stderr
    assert done.stdout == ""


def test_a_record_is_never_written_over(saved: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_bytes((saved / "ac.json").read_bytes())
    for target in (saved / "ac.json", other):
        before = target.read_bytes()
        done = run("recheck", str(saved), "-o", str(target))
        assert done.exit_code == 2
        assert "Nothing was overwritten" in done.stderr
        assert target.read_bytes() == before


def test_records_with_their_keys_in_another_order_and_unsealed_ones_are_not_written_over(
    saved: Path, tmp_path: Path
) -> None:
    content = json.loads((saved / "ac.json").read_bytes())
    sealed, bare, out = (tmp_path / name for name in ("sorted.json", "bare.json", "out.json"))
    sealed.write_text(json.dumps(content, sort_keys=True), encoding="utf-8")
    bare.write_text(json.dumps(content["determination"], sort_keys=True), encoding="utf-8")
    for target in (sealed, bare):
        before = target.read_bytes()
        done = run("recheck", str(saved), "-o", str(target))
        assert (done.exit_code, "Nothing was overwritten" in done.stderr) == (2, True)
        assert target.read_bytes() == before
    for _ in range(2):  # what the command itself wrote is no record
        assert run("recheck", str(saved), "-o", str(out)).exit_code == 0


def test_a_day_that_the_rulebook_does_not_cover_refuses_each_record(saved: Path) -> None:
    done = run("recheck", str(saved), "--as-of", "2020-01-01")
    assert done.exit_code == 2
    assert "ac.json: The as-of date 2020-01-01 is outside" in done.stderr


# -- watch --------------------------------------------------------------------------------------------


def test_watch_lists_last_answers_and_next_days(saved: Path) -> None:
    done = run("watch", str(saved), "--width", "160")
    assert done.exit_code == 0
    assert "2014-10-16" in done.stdout
    assert "Growth zone with a Tourism District, answer: undetermined -> yes" in done.stdout
    assert "The rulebook grow-nj ends on 2019-07-01" in done.stdout


def test_watch_a_table_as_json_and_as_a_table(saved: Path, tmp_path: Path) -> None:
    table, out = tmp_path / "sites.csv", tmp_path / "watch.csv"
    table.write_text("name,lon,lat\n=Airport,-74.5772,39.4576\nfar,-75,10\n", encoding="utf-8")
    done = run("watch", str(saved), str(table), "--json", "-o", str(out))
    assert done.exit_code == 2
    assert "Row 3" in done.stderr
    assert [(one["name"], one["next_day"], one["holds"]) for one in results(done)["sites"]] == [
        (ATLANTIC_CITY, "2014-10-16", True),
        ("=Airport", "2018-10-03", None),
    ]
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["site"] for row in rows} == {ATLANTIC_CITY, "'=Airport", ""}
    assert ("2018-10-04", "tier", "floor", "500", "5000") in {
        (row["day"], row["item"], row["figure"], row["was"], row["now"]) for row in rows
    }


def test_watch_until_a_day(saved: Path) -> None:
    (one,) = results(run("watch", str(saved), "--until", "2014-10-20", "--json"))["sites"]
    assert [coming["day"] for coming in one["upcoming"]] == ["2014-10-16"]


def test_nothing_is_said_of_days_after_the_last_one_that_was_looked_at(tmp_path: Path) -> None:
    out, span = tmp_path / "watch.csv", ("--as-of", "2014-06-01", "--until", "2014-06-02")
    shown = run("watch", ATLANTIC_CITY, *span, "--width", "160").stdout
    assert "none known to 2014-06-02" in shown
    assert "Looked at to 2014-06-02; of later days nothing is said." in shown
    (one,) = results(run("watch", ATLANTIC_CITY, *span, "--json", "-o", str(out)))["sites"]
    assert (one["until"], one["last_day"], one["next_day"]) == ("2014-06-02", "2019-07-01", None)
    with out.open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["until"], row["because"]) == ("2014-06-02", "nothing known to 2014-06-02")
    backwards = run("watch", ATLANTIC_CITY, "--as-of", "2014-06-02", "--until", "2014-06-01")
    assert backwards.exit_code == 2
    assert "--until 2014-06-01 is before --as-of 2014-06-02" in backwards.stderr


# -- compare ------------------------------------------------------------------------------------------


def test_compare_typed_sites_records_and_tables(saved: Path, tmp_path: Path) -> None:
    done = run("compare", NEWARK, str(saved / "ac.json"), "--width", "120")
    assert done.exit_code == 0, done.stderr
    assert "As of 2014-10-01" in done.stdout
    assert "Newark City" in done.stdout
    found = Comparison.model_validate_json(run("compare", NEWARK, ATLANTIC_CITY, "--json").stdout)
    assert [site.floor for site in found.sites] == [5000, 5000]
    assert str(found.as_of) == "2017-04-17"
    for ending, words in (
        (".csv", "Newark City"),
        (".html", "<td>Newark City</td>"),
        (".json", '"place": "Newark City"'),
    ):
        out = tmp_path / f"out{ending}"
        assert run("compare", NEWARK, ATLANTIC_CITY, "-o", str(out)).exit_code == 0
        assert words in out.read_text(encoding="utf-8")


def test_records_of_several_days_are_compared_on_the_last_and_show_their_own(saved: Path) -> None:
    run("check", NEWARK, "--save", str(saved / "n.json"))
    done = run("compare", str(saved), "--json")
    assert done.exit_code == 0, done.stderr
    found = Comparison.model_validate_json(done.stdout)
    assert str(found.as_of) == "2017-04-17"
    assert sorted(str(site.recorded_as_of) for site in found.sites) == ["2014-10-01", "2017-04-17"]
    (caution,) = [words for words in found.cautions if "other days" in words]
    assert caution == (
        "Some records are of other days (2014-10-01); every site is asked as of 2017-04-17 here. Choose another day "
        "with --as-of."
    )
    assert "Recorded as of" in run("compare", str(saved), "--width", "120").stdout
    assert "Recorded as of" not in run("compare", NEWARK, "--width", "120").stdout
    one_day = run("compare", str(saved), "--as-of", "2018-11-01")
    assert one_day.exit_code == 0
    assert "was answered otherwise" in one_day.stdout.replace("\n", " ")


def test_a_site_that_cannot_be_read_is_named_and_the_others_are_compared() -> None:
    done = run("compare", NEWARK, "somewhere", "40.70,-74.02")
    assert done.exit_code == 2
    assert "'somewhere'" in done.stderr
    assert "lies outside New Jersey" in done.stderr
    assert "Newark City" in done.stdout
    none = run("compare", "somewhere")
    assert (none.exit_code, none.stdout) == (2, "")


def test_a_fact_is_stated_of_every_site() -> None:
    done = run("compare", NEWARK, ATLANTIC_CITY, "--fact", "structure_exists=yes", "--json")
    assert [site["facts"] for site in results(done)["sites"]] == [{"structure_exists": True}] * 2


def test_more_sites_than_a_person_compares_are_refused(tmp_path: Path) -> None:
    table = tmp_path / "many.csv"
    table.write_text("lon,lat\n" + "-74.1641,40.7344\n" * 61, encoding="utf-8")
    done = run("compare", str(table))
    assert done.exit_code == 2
    assert "more than 60 sites" in done.stderr


@pytest.mark.parametrize("command", ["recheck", "watch", "compare"])
def test_help_tells_the_exit_codes(command: str) -> None:
    done = run(command, "--help")
    assert done.exit_code == 0
    assert "Exit codes" in done.stdout
