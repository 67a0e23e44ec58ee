"""The commands of settings, as they are typed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from grownj_geo.cli import app
from grownj_geo.locator import Match
from grownj_geo.locatorcache import AnswerCache

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GROWNJ_HOME", str(tmp_path))
    return tmp_path


def run(*words: str, code: int = 0) -> tuple[str, str]:
    done = CliRunner().invoke(app, ["settings", *words])
    assert done.exit_code == code, done.output
    return done.stdout, done.stderr


def test_at_first_nothing_is_sent_anywhere() -> None:
    out, _ = run("show")
    assert "locators = local" in out
    assert "nothing is sent anywhere" in out
    assert "https://geocoding.geo.census.gov/geocoder (the package's own)" in out


def test_switching_a_locator_on_says_what_is_sent_to_whom(home: Path) -> None:
    _, said = run("set", "locators", "census,nominatim")
    assert "locators = local, census, nominatim" in said
    assert "to the US Census Bureau" in said
    assert "OpenStreetMap" in said
    assert (home / "settings.toml").is_file()
    out, _ = run("show", "--json")
    shown = json.loads(out)
    assert shown["settings"]["locators"] == ["local", "census", "nominatim"]
    assert set(shown["sends"]) == {"census", "nominatim"}
    _, said = run("unset", "locators")
    assert "locators = local" in said


@pytest.mark.parametrize(
    "words",
    [("set", "locators", "bing"), ("set", "colour", "red"), ("unset", "colour"), ("unset",), ("set", "locators")],
)
def test_what_does_not_fit_is_refused(words: tuple[str, ...], home: Path) -> None:
    _, said = run(*words, code=2)
    assert said.strip()
    assert "Traceback" not in said
    assert not (home / "settings.toml").exists()


def test_a_damaged_file_is_said_and_nothing_is_assumed(home: Path) -> None:
    (home / "settings.toml").write_text("locators = census", encoding="utf-8")
    _, said = run("show", code=2)
    assert "settings.toml" in said


def test_kept_answers_are_counted_and_forgotten(home: Path) -> None:
    found = Match(locator="census", matched="A", score=1, kind="range", x_ft=5e5, y_ft=5e5, uncertainty_ft=1)
    cache = AnswerCache(home, days=1)
    cache.put("census", ["a"], [found])
    cache.put("census", ["b"], [])
    out, _ = run("show")
    today = datetime.now(UTC).date()
    assert f"Kept answers of online locators: 2, of {today} to {today}" in out
    _, said = run("forget")
    assert "Forgot 2 kept answers." in said
    out, _ = run("show")
    assert "Kept answers of online locators: 0" in out


def test_without_a_subcommand_the_help_is_all() -> None:
    out, said = run(code=2)
    assert "forget" in out + said
    assert "See grownj settings" not in said


def test_a_number_below_zero_is_a_value_and_refused_with_its_reason() -> None:
    _, said = run("set", "cache_days", "-3", code=2)
    assert "cache_days: Input should be greater than or equal to 0" in said
    assert "No such option" not in said
