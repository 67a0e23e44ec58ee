from __future__ import annotations

import re
from pathlib import Path

import pytest

from grownj_geo.errors import RulebookError
from grownj_geo.readings import Reading, load_readings, nearest_name, read_entries, resolve_readings

SHARED = Path(__file__).parents[2] / "shared" / "facts" / "ambiguities.md"

# What the engine switches: the options in full, the default first.
SWITCHED = {
    "A3": {"undetermined", "any", "majority", "all"},
    "A9": {"undetermined_before_first_vessel", "from_the_start", "from_first_vessel"},
    "A11": {"loose", "strict"},
    "A16": {"in_force_until_readopted", "ended_2013_06_30"},
    "A24": {"years_between", "list_of_the_year"},
    "A25": {"assume_none", "undetermined"},
    "A26": {"branches_apart", "branches_merged", "with_light_rail"},
    "A27": {"undetermined_enclaves", "named_only"},
    "A28": {"undetermined", "terminals_count", "rail_only"},
    "A38": {"without_self", "loose"},
    "A39": {"loose", "strict"},
    "A40": {"loose", "strict"},
    "A41": {"named_operators_only", "any_public_dock"},
    "A43": {"nearest", "strict"},
    "A44": {"undetermined", "count", "not_count"},
    "A45": {"barrier_islands_in_5", "barrier_islands_apart"},
    "A47": {"union", "one_station"},
    "A50": {"example_needs_ruling", "district_alone"},
    "A52": {"available_space", "whole_building"},
}
DEFAULTS = {
    "A3": "undetermined",
    "A9": "undetermined_before_first_vessel",
    "A11": "loose",
    "A16": "in_force_until_readopted",
    "A24": "years_between",
    "A25": "assume_none",
    "A26": "branches_apart",
    "A27": "undetermined_enclaves",
    "A28": "undetermined",
    "A38": "without_self",
    "A39": "loose",
    "A40": "loose",
    "A41": "named_operators_only",
    "A43": "nearest",
    "A44": "undetermined",
    "A45": "barrier_islands_in_5",
    "A47": "union",
    "A50": "example_needs_ruling",
    "A52": "available_space",
}
ENTRY = """
readings:
- id: A1
  title: Title
  question: Question?
  citation: Citation
  kind: {kind}
  options: {options}
  default: {default}
  evidence: None found.
"""


def entry(*, kind: str = "option", options: str = "{x: One., y: Two.}", default: str = "x") -> str:
    return ENTRY.format(kind=kind, options=options, default=default)


def test_every_ambiguity_is_a_reading_once_and_in_order() -> None:
    assert list(load_readings()) == [f"A{n}" for n in range(1, 59)]


def test_what_the_engine_switches_has_exactly_these_options_and_defaults() -> None:
    options = {name: set(r.options) for name, r in load_readings().items() if r.kind == "option"}
    assert options == SWITCHED
    assert {name: load_readings()[name].default for name in SWITCHED} == DEFAULTS


def test_without_a_choice_every_reading_has_its_default() -> None:
    assert resolve_readings({}) == {name: r.default for name, r in load_readings().items()}


def test_a_choice_changes_only_its_reading() -> None:
    chosen = resolve_readings({"A11": "strict", "A25": "undetermined"})
    plain = resolve_readings({})
    assert {name: o for name, o in chosen.items() if o != plain[name]} == {
        "A11": "strict",
        "A25": "undetermined",
    }


def test_a_documented_reading_may_be_named_with_its_one_option() -> None:
    assert resolve_readings({"A31": "never"})["A31"] == "never"


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"A110": "loose"}, ["no reading 'A110'", "A1 to A58", "Did you mean 'A1"]),
        ({"a11": "loose"}, ["no reading 'a11'", "Did you mean 'A11'?"]),
        ({"A11": "lose"}, ["no option 'lose'", "loose, strict", "Did you mean 'loose'?"]),
        ({"A31": "sometimes"}, ["no option 'sometimes'", "Known: never."]),
    ],
)
def test_an_unknown_reading_or_option_is_refused_with_the_nearest(chosen: dict[str, str], words: list[str]) -> None:
    with pytest.raises(RulebookError) as error:
        resolve_readings(chosen)
    assert all(word in str(error.value) for word in words), str(error.value)


def test_nearest_name_ignores_case() -> None:
    assert nearest_name(" LOOSE ", ["loose", "strict"]) == "Did you mean 'loose'?"


def test_a_well_formed_file_is_read() -> None:
    (reading,) = read_entries(entry(), Reading, name="readings.yaml")
    assert (reading.default, reading.affects) == ("x", ())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("readings: [", ["readings.yaml is not readable YAML"]),
        ("facts: []", ["does not hold one list under 'readings'"]),
        ("[]", ["does not hold one list under 'readings'"]),
        (entry(default="z"), ["0:", "the default 'z' is none of the options"]),
        (entry(kind="documented"), ["'documented' does not fit 2 option(s)"]),
        (entry(options="{x: One.}"), ["'option' does not fit 1 option(s)"]),
        (entry(options="{}", kind="documented"), ["0.options"]),
        (entry() + "  colour: red\n", ["0.colour"]),
        (entry().replace("id: A1", "id: B1"), ["0.id"]),
    ],
)
def test_a_malformed_file_is_refused_with_its_place(content: str, words: list[str]) -> None:
    with pytest.raises(RulebookError) as error:
        read_entries(content, Reading, name="readings.yaml")
    assert all(word in str(error.value) for word in words), str(error.value)


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_file(), reason="the shared facts are not beside the repository")
def test_readings_and_the_shared_ambiguities_are_the_same_questions() -> None:
    rows = [line.split("|") for line in SHARED.read_text(encoding="utf-8").splitlines()]
    shared = {row[1].strip(): row for row in rows if re.fullmatch(r"A\d+", row[1].strip() if len(row) > 1 else "")}
    readings = load_readings()
    assert list(shared) == list(readings)
    for name, row in shared.items():
        proposed = row[5]
        assert proposed.strip(), f"{name} proposes no default"
        # Where the shared file gives a reading's name as code, it is one of the options here.
        codes = {code.replace("assume: none", "assume_none") for code in re.findall(r"`([^`]+)`", proposed)}
        named = codes & {"assume_none", "undetermined", "without_self", "named_operators_only"}
        assert named <= set(readings[name].options), f"{name}: {named}"
    words = {
        "A3": "never silently majority",
        "A11": "loose as default",
        "A26": "branches counted apart",
        "A38": "`without_self`",
        "A39": "Loose",
        "A40": "Loose",
        "A41": "`named_operators_only`",
        "A43": "Nearest edition",
        "A45": "5B counted in 5",
        "A46": "the part inside",
        "A47": "union",
        "A50": "ruling still needed",
        "A52": "available space",
    }
    assert {name: text for name, text in words.items() if text not in shared[name][5]} == {}
