"""`grownj rules`: every command as text and JSON, what is refused, and rulebooks of the user's own."""

from __future__ import annotations

import json
import re
from importlib import resources
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from grownj_geo import cli, cli_site, coverage
from grownj_geo.atlas import DEFAULT_AS_OF, Atlas, load_atlas
from grownj_geo.binding import bind
from grownj_geo.explain import Explanation
from grownj_geo.facts import load_facts
from grownj_geo.readings import load_readings, resolve_readings
from grownj_geo.rulebook import load_rulebook, shipped_rulebooks
from grownj_geo.rules_text import clause_words, definition_of

if TYPE_CHECKING:
    from collections.abc import Callable

NEWARK = "40.7344,-74.1641"
PRINCETON = "40.3487,-74.6593"
BOOKS = Path(str(resources.files("grownj_geo"))) / "rules" / "books"
SMALL = """
format: 1
id: small
title: A rulebook of one's own
version: "1"
citation: none
first_day: 2013-09-18
last_day: 2019-07-01
outside_days: Nothing is known.
parameters:
  near: {label: near, unit: mile, values: [{from: 2013-09-18, value: 2, citation: "18.2", status: confirmed}]}
  space: {label: space, unit: sqft, values: [{from: 2013-09-18, value: 50000, citation: "18.2", status: confirmed}]}
categories:
  - id: close
    label: Close to a station
    citation: Section 1
    summary: Within two miles of a station.
    rule: {any: [{id: reach, within: {layer: transit_stations, radius: near}}]}
  - id: roomy
    label: Roomy
    citation: Section 2
    summary: A large vacant building, close to a station.
    rule:
      all:
        - {id: room, site_fact: {name: vacant_building_sqft, at_least: space}}
        - {id: near, category: close}
"""


def run(*args: str) -> Any:
    # Releases of click before 8.2 mix the two streams unless told otherwise; later ones never do.
    apart = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner.__init__).parameters else {}
    return CliRunner(**apart).invoke(cli.app, list(args), prog_name="grownj")


def rules(*args: str, code: int = 0) -> str:
    done = run("rules", *args)
    assert done.exit_code == code, done.stderr
    return str(done.stdout)


def record(*args: str, code: int = 0) -> Any:
    return json.loads(rules(*args, "--json", code=code))


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., str]:
    """Write the small rulebook, changed by replacing words in it, and return the file's name."""

    def write(*changes: tuple[str, str], text: str = SMALL) -> str:
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "own.yaml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


# -- list and show ------------------------------------------------------------------------------------


def test_list_names_the_books_and_the_categories_of_one() -> None:
    shown = rules("list", "--width", "80")
    assert all(book in shown for book in shipped_rulebooks())
    assert all(category.id in shown for category in load_rulebook().categories)
    assert "grow-nj (listed below)" in shown
    assert "hub_a" in rules("list", "--rulebook", "urban-transit-hub")
    found = record("list")
    assert [book["id"] for book in found["rulebooks"]] == shipped_rulebooks()
    assert [book["listed"] for book in found["rulebooks"]] == [True, False, False]
    assert found["categories"][0]["id"] == "qualified_incentive_area"
    assert {"id", "label", "kind", "citation", "status", "readings"} <= set(found["categories"][0])
    taken = {row["id"]: row["taken_from"] for row in record("list", "--rulebook", "urban-transit-hub")["categories"]}
    assert (taken["urban_aid"], taken["hub_a"]) == ("grow-nj", None)


def test_show_says_figures_dates_readings_and_needs() -> None:
    shown = flat(rules("show", "rail_transit", "--width", "120"))
    figure = "within 0.5 mile (tod_radius; N.J.A.C. 19:31-18.2, Transit oriented development; confirmed)"
    assert figure in shown
    assert "mode is commuter_rail or light_rail or rapid_transit" in shown
    assert "category garden_state_growth_zone (see grownj rules show garden_state_growth_zone)" in shown
    assert "#rail_transit.half_mile" in shown
    assert "(transit_stations): ships" in shown
    growth = rules("show", "garden_state_growth_zone", "--as-of", "2018-12-01")
    assert "not in force" not in growth
    assert "from a day from 2018-10-03 to 2018-10-04" in flat(growth)
    assert "not in force on this day" in flat(rules("show", "garden_state_growth_zone"))
    assert "x in one" not in growth
    incubator = flat(rules("show", "qualified_incubator_facility"))
    assert "fact incubator_sqft is at least 50,000 sq ft" in incubator
    assert "(planning_areas): not loaded; to load:" in flat(rules("show", "rural_planning_area"))


def test_show_follows_the_readings() -> None:
    def limbs(*args: str) -> dict[str, bool]:
        return {c["path"]: c["chosen"] for c in record("show", "port_district", *args)["clause"]["clauses"]}

    assert limbs() == {"port_district.loose": True, "port_district.strict": False}
    assert limbs("--reading", "A11=strict") == {"port_district.loose": False, "port_district.strict": True}
    assert "A11, Port district and incentive area name each other: strict (default loose; or loose)" in flat(
        rules("show", "port_district", "--reading", "A11=strict")
    )


def test_show_deep_writes_out_what_is_named() -> None:
    assert "#rail_transit.half_mile" not in rules("show", "transit_oriented_development")
    deep = rules("show", "transit_oriented_development", "--deep")
    assert "#rail_transit.half_mile" in deep
    assert "shown above" in flat(deep)
    shallow = record("show", "transit_oriented_development")
    assert "transit_stations" in shallow["through_categories"]["layers"]
    every = record("show", "transit_oriented_development", "--deep")
    assert every["through_categories"] == {"categories": [], "layers": [], "facts": []}
    assert "transit_stations" in {layer["id"] for layer in every["layers"]}


def test_show_takes_labels_and_any_case() -> None:
    for typed in (["Port district"], ["port", "district"], ["PORT-DISTRICT"], ["port_district"]):
        assert record("show", *typed)["id"] == "port_district"


@pytest.mark.parametrize("book_id", shipped_rulebooks())
def test_every_clause_of_every_book_has_words(book_id: str) -> None:
    book = load_rulebook(book_id)
    bound = bind(book, as_of=DEFAULT_AS_OF, readings=resolve_readings({}))
    assert [path for path, clause in bound.by_path.items() if not clause_words(clause, bound)] == []
    for category in book.categories:
        assert json.dumps(definition_of(category, bound, load_atlas(), deep=True))


# -- explain ------------------------------------------------------------------------------------------


def test_explain_as_text() -> None:
    shown = rules("explain", NEWARK, "port_district", "--width", "80")
    first = flat(shown[: shown.index("CLAUSES")])
    assert "Site 40.7344,-74.1641: Newark City (0714), Essex County" in first
    assert "As of 2017-04-17 (the default day)" in first
    assert "Category Port district (port_district, area)" in first
    assert "Outcome YES; cleared by" in first
    assert "COULD DECIDE" not in first
    open_ = flat(rules("explain", "40.567092,-74.320347", "transit_oriented_development", "--width", "80"))
    assert "Outcome UNDETERMINED, leans yes; computed: inside by 39 ft" in open_
    assert "cleared" not in open_
    assert "missed" not in open_
    assert "inside Port of New York District" in flat(shown)
    assert "South Jersey port radius" in shown
    assert "South Jersey port radius" not in rules("explain", NEWARK, "port_district", "--compact")


def test_explain_says_what_would_decide() -> None:
    shown = rules("explain", PRINCETON, "qualified_incentive_area", "--width", "80")
    assert "Outcome UNDETERMINED" in flat(shown)
    assert "COULD DECIDE IT (each line by itself) - load " in flat(shown)
    assert "- load Planning areas of the State Plan" in flat(shown)
    found = record("explain", PRINCETON, "qualified_incentive_area")
    assert found["rulebook"] == json.loads(run("check", PRINCETON, "--json").stdout)["rulebook"]
    whole = json.loads(run("check", PRINCETON, "--json").stdout)
    finding = next(f for f in whole["findings"] if f["id"] == "qualified_incentive_area")
    assert found["finding"] == finding
    assert all(found[key] == whole[key] for key in ("site", "place", "as_of", "rulebook"))
    assert Explanation.model_validate(found["explanation"]).outcome == "undetermined"


def test_grounds_can_be_explained_and_say_what_would_decide() -> None:
    found = record("explain", PRINCETON, "qia_ground_apart")
    assert (found["finding"]["kind"], found["finding"]["outcome"]) == ("ground", "undetermined")
    assert ["layer:planning_areas"] in [missing["needs"] for missing in found["finding"]["would_decide"]]
    for category in load_rulebook().categories:
        if category.kind == "ground":
            assert f"({category.id}, ground)" in flat(rules("explain", NEWARK, category.id, "--compact"))


@pytest.mark.parametrize(
    "words",
    [
        ["-74.1641,40.7344", "port_district"],
        ["-74.1641", "40.7344", "port_district"],
        ["--", "-74.1641,40.7344", "port_district"],
        ["POINT", "(-74.1641", "40.7344)", "Port district"],
    ],
)
def test_explain_takes_the_last_word_as_category(words: list[str]) -> None:
    done = run("rules", "explain", "--json", *words)
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["place"]["municipality"]["mun_code"] == "0714"


def test_explain_takes_the_options_of_check() -> None:
    place = ["--municipality", "Camden City", "--json"]
    found = json.loads(run("rules", "explain", "urban_aid", *place).stdout)
    assert found["site"]["kind"] == "municipality"
    found = record("explain", PRINCETON, "priority_area", "--as-of", "2018-12-01", "--fact", "structure_exists=yes")
    assert found["as_of"] == "2018-12-01"
    assert found["site"]["facts"] == {"structure_exists": True}
    strict = run("rules", "explain", PRINCETON, "serious_fiscal_distress", "--strict")
    assert "Outcome UNDETERMINED" in flat(strict.stdout)
    assert "A25=undetermined" in strict.stderr
    assert "Outcome NO; by assumption" in flat(rules("explain", PRINCETON, "serious_fiscal_distress"))


def test_a_layer_that_cannot_be_used_gives_exit_4(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cli_site, "atlas_of", lambda as_of, _editions=(): Atlas(as_of=as_of, folder=tmp_path))
    done = run("rules", "explain", NEWARK, "rail_transit")
    assert done.exit_code == 4
    assert "Outcome UNDETERMINED" in flat(done.stdout)
    assert "Incomplete" in done.stderr
    assert "UNUSABLE" in rules("show", "rail_transit")


# -- readings and facts -------------------------------------------------------------------------------


def test_readings() -> None:
    shown = rules("readings")
    assert all(re.search(rf"^{name}: ", shown, re.MULTILINE) for name in load_readings())
    assert "loose (default) or strict" in flat(shown)
    rows = record("readings")
    assert len(rows) == 58
    assert {"id", "title", "options", "default", "kind"} <= set(rows[0])
    one = rules("readings", "a11")
    assert all(words in flat(one) for words in ("loose (default)", "Question", "Evidence", "grow-nj:port_district"))
    assert record("readings", "A11")["options"].keys() == {"loose", "strict"}


def test_facts() -> None:
    shown = rules("facts")
    assert all(name in shown for name in load_facts())
    assert "an official finding" in shown
    rows = {row["name"]: row for row in record("facts")}
    assert rows["vacant_building_sqft"]["unit"] == "square feet"
    assert "grow-nj:priority_ground" in rows["vacant_building_sqft"]["asked_by"]
    one = flat(rules("facts", "hub_delineated"))
    assert all(words in one for words in ("yes or no", "an official finding", "Question", "Citation"))
    assert record("facts", "hub_delineated")["kind"] == "ruling"


# -- coverage -----------------------------------------------------------------------------------------


def _with_cases(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, lacking: str | None) -> None:
    """Give every node a case of each kind, except one node where it is to lack its boundary case."""
    nodes = {node for clause in coverage.load_clauses() for node in clause.nodes}
    cases = [
        {"node": node, "kind": kind}
        for node in sorted(nodes)
        for kind in coverage.KINDS
        if (node, kind) != (lacking, "boundary")
    ]
    (tmp_path / "cases.yaml").write_text(json.dumps(cases))
    monkeypatch.setattr(coverage, "case_folder", lambda: tmp_path)


def test_coverage_of_a_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _with_cases(monkeypatch, tmp_path, lacking=None)
    shown = flat(rules("coverage"))
    assert "N.J.A.C. 19:31-18.2, Transit oriented development" in shown
    assert "grow-nj:rail_transit.half_mile; positive 1, negative 1, boundary 1, undetermined 1" in shown
    assert "LACKS" not in shown
    found = record("coverage")
    assert found["lacking"] == []
    assert [clause["id"] for clause in found["clauses"]] == [clause.id for clause in coverage.load_clauses()]


def test_coverage_exits_1_where_a_node_lacks_a_kind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _with_cases(monkeypatch, tmp_path, lacking="grow-nj:rail_transit.half_mile")
    done = run("rules", "coverage")
    assert done.exit_code == 1
    assert "boundary 0, undetermined 1; LACKS boundary" in flat(done.stdout)
    assert "grow-nj:rail_transit.half_mile" in done.stderr
    short = record("coverage", "--lacking", code=1)
    shown = {node["node"] for clause in short["clauses"] for node in clause["nodes"]}
    assert shown == {"grow-nj:rail_transit.half_mile"}
    assert "hub_freight" not in rules("coverage", "--lacking", code=1)


def test_coverage_of_an_installed_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "case_folder", lambda: None)
    shown = flat(rules("coverage"))
    assert "The cases live in the repository" in shown
    assert "positive" not in shown.replace("no positive case", "")
    assert record("coverage")["clauses"][0]["nodes"][0]["cases"] is None


# -- a user's own rulebook ----------------------------------------------------------------------------


@pytest.mark.parametrize("book_id", shipped_rulebooks())
def test_every_shipped_book_is_valid(book_id: str) -> None:
    path = str(BOOKS / f"{book_id}.yaml")
    assert f"{book_id}:" in rules("validate", path)
    assert record("validate", path)["id"] == book_id


def test_a_book_of_ones_own_takes_the_place_of_the_shipped_one(written: Callable[..., str]) -> None:
    own = written()
    held = record("validate", own)
    assert (held["categories"], held["needs"]["layers"]) == (["close", "roomy"], ["transit_stations"])
    assert "small (listed below)" in rules("list", "--rulebook", own)
    assert "2 miles (near; 18.2; confirmed)" in flat(rules("show", "close", "--rulebook", own))
    assert record("explain", NEWARK, "close", "--rulebook", own)["finding"]["outcome"] == "yes"
    found = json.loads(run("check", NEWARK, "--rulebook", own, "--json").stdout)
    assert (found["rulebook"]["id"], [f["id"] for f in found["findings"]]) == ("small", ["close", "roomy"])
    assert "In            Close to a station" in run("check", NEWARK, "--rulebook", own).stdout


def test_several_books_stand_beside_each_other(written: Callable[..., str], tmp_path: Path) -> None:
    own = written()
    both = ["check", NEWARK, "--rulebook", "grow-nj", "--rulebook", own, "--rulebook", "grow-nj"]
    found = json.loads(run(*both, "--json").stdout)
    assert [each["rulebook"]["id"] for each in found] == ["grow-nj", "small"]
    assert found[0] == json.loads(run("check", NEWARK, "--json").stdout)
    shown = run(*both).stdout
    assert (
        shown.index("Qualified incentive area: YES")
        < shown.index("\n====")
        < shown.index("In            Close to a station")
    )
    target = tmp_path / "report.txt"
    assert run(*both, "-o", str(target)).exit_code == 0
    assert "In            Close to a station" in target.read_text(encoding="utf-8")
    assert run(*both, "-o", own).exit_code == 2
    assert Path(own).read_text(encoding="utf-8") == SMALL


REFUSED = [
    ([("rule: {any:", "rule: {eny:")], ["categories > close > rule", "exactly one operator"]),
    ([("    citation: Section 1\n", "")], ["categories > close > citation", "required"]),
    ([("transit_stations", "transit_station")], ["close > reach", "no layer 'transit_station'", "'transit_stations'?"]),
    ([("unit: sqft", "unit: feet")], ["roomy > room", "is in square feet", "in feet; use one unit"]),
    ([("unit: mile", "unit: feet")], ["close > reach", "near is in feet; expected mile"]),
    (
        [("within: {layer: transit_stations, radius: near}", "category: roomy")],
        ["round in a circle: close > roomy > close"],
    ),
    ([("category: close", "category: cloze")], ["roomy > near", "no category 'cloze'", "'close'?"]),
    ([("vacant_building_sqft", "vacant_bilding_sqft")], ["roomy > room", "no site fact", "'vacant_building_sqft'?"]),
    ([("    label: Roomy", "    label: Roomy\n    label: Large")], ["own.yaml, line 21", "given twice"]),
    ([("2019-07-01", "2019-07-32")], ["own.yaml, line 8", "day is out of range"]),
    ([("title:", "\ttitle:")], ["own.yaml, line 4", "not readable YAML"]),
    ([("title: A", "title: !!python/name:os.system A")], ["own.yaml, line 4", "tag"]),
    ([("id: small\n", "id: small\nuses: {grow-nk: [urban_aid]}\n")], ["own.yaml", "'grow-nk'", "'grow-nj'?"]),
    ([("rule: {any: [", "rule: &r {any: [*r, ")], ["own.yaml, line 18", "round in a circle"]),
    ([("id: small\n", "id: small\n? [a]\n: b\n")], ["own.yaml, line 4", "a name is expected"]),
]


@pytest.mark.parametrize(("changes", "words"), REFUSED)
def test_a_book_is_refused_with_the_place(
    written: Callable[..., str], changes: list[tuple[str, str]], words: list[str]
) -> None:
    own = written(*changes)
    for args in (("rules", "validate", own), ("rules", "list", "--rulebook", own), ("check", "--rulebook", own)):
        done = run(*args)
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.exception is None or isinstance(done.exception, SystemExit)
        assert all(word in done.stderr for word in [own, *words]), done.stderr


def test_every_problem_is_told_on_a_line_of_its_own(written: Callable[..., str]) -> None:
    own = written(("transit_stations", "transit_station"), ("category: close", "category: cloze"))
    _, *lines = run("rules", "validate", own).stderr.splitlines()
    assert [line.split(":")[0].strip() for line in lines] == ["close > reach", "roomy > near"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "expected a rulebook"),
        (b"- a\n", "expected a rulebook"),
        (b"\x7fELF\xff\xfe", "not UTF-8 text"),
        (b"a\0b", "binary file"),
        (b"[" * 5000, "nesting depth"),
        (b"{a: " * 5000, "deeper than"),
        (b"#" * 5_000_001, "larger than 5 MB"),
        (b"a: &a 1\nb: [" + b"*a, " * 101 + b"]", "more than 100 aliases"),
        (
            b"a: &a0 [" + b"x," * 9 + b"]\n"
            + b"".join(b"b%d: &a%d [%s]\n" % (i, i, b",".join([b"*a%d" % (i - 1)] * 9)) for i in range(1, 10)),
            "too long",
        ),
        (b'id: "\\ud800"\n', "not readable YAML"),
        (b"id: a\n---\nid: b\n", "another document"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_rulebook(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_bytes(content)
    done = run("rules", "validate", str(path))
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert words in done.stderr


def test_what_is_no_file(tmp_path: Path) -> None:
    for name, words in (
        (str(tmp_path), "is a folder"),
        ("/dev/null", "no regular file"),
        ("nowhere.yaml", "could not be read"),
        ("x" * 300 + ".yaml", "could not be read"),
        ("grow-nk", "Did you mean 'grow-nj'?"),
        ("", "no shipped rulebook"),
    ):
        done = run("rules", "validate", name)
        assert (done.exit_code, done.stdout) == (2, "")
        assert words in done.stderr


# -- refusals, width, escapes -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["show", "prot_district"], 2, "Did you mean 'port_district'?"),
        (["show", "port_district", "--as-of", "1999-01-01"], 2, "outside what the rulebook"),
        (["show", "port_district", "--as-of", "today"], 2, "Expected YYYY-MM-DD"),
        (["show", "port_district", "--reading", "A11=stict"], 2, "Did you mean 'strict'?"),
        (["show"], 2, "grownj rules show --help"),
        (["explain"], 2, "Expected a site and a category"),
        (["explain", "port_district"], 2, "empty"),
        (["explain", NEWARK], 2, "grownj rules explain SITE CATEGORY"),
        (["explain", "port_district", NEWARK], 2, "The last word must be a category"),
        (["explain", NEWARK, "port_distrct"], 2, "Did you mean 'port_district'?"),
        (["explain", "40.7,-73.0", "port_district"], 3, "outside New Jersey"),
        (["explain", NEWARK, "port_district", "--fact", "structure_exist=yes"], 2, "'structure_exists'?"),
        (["explain", NEWARK, "port_district", "--as-of", "2030-01-01"], 2, "outside what the rulebook"),
        (["readings", "A99"], 2, "expected one of A1 to A58"),
        (["facts", "structure_exist"], 2, "Did you mean 'structure_exists'?"),
        (["list", "--rulebook", "grow"], 2, "Did you mean 'grow-nj'?"),
        (["list", "--width", "5"], 2, "--width"),
        (["validate"], 2, "grownj rules validate --help"),
        ([], 2, "grownj rules --help"),
    ],
)
def test_bad_input_is_told_in_words(args: list[str], code: int, words: str) -> None:
    done = run("rules", *args)
    assert (done.exit_code, done.stdout) == (code, "")
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_asked_for(width: int, written: Callable[..., str]) -> None:
    for args in (
        ["list"],
        ["show", "priority_ground"],
        ["show", "qualified_incentive_area", "--deep"],
        ["explain", PRINCETON, "priority_area"],
        ["readings"],
        ["readings", "A3"],
        ["facts"],
        ["facts", "industry"],
        ["validate", written()],
    ):
        lines = rules(*args, "--width", str(width)).splitlines()
        assert max(map(len, lines)) <= width, args
        assert not [line for line in lines if line != line.rstrip()]
        assert "\x1b" not in "".join(lines)


def test_a_books_words_are_inert(written: Callable[..., str]) -> None:
    hostile = r"[bold]x[/] \e[31mred\u202e"
    own = written(
        ("label: Roomy", f'label: "{hostile}"'),
        ("title: A rulebook of one's own", f'title: "{hostile}"'),
        ("citation: Section 2", f'citation: "{hostile}"'),
    )
    for args in (["list"], ["show", "roomy"], ["explain", NEWARK, "roomy"]):
        shown = rules(*args, "--rulebook", own)
        assert "[bold]x[/] red" in flat(shown)
        assert not re.search("[\x1b\u202e]", shown)
    assert "[bold]x[/] red" in flat(rules("validate", own))
