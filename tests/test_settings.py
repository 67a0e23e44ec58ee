"""Settings: what holds by default, what a file and the environment say, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grownj_geo.errors import SettingsError
from grownj_geo.settings import Settings, change_setting, load_settings, setting_keys, settings_path

if TYPE_CHECKING:
    from pathlib import Path

NOTHING: dict[str, str] = {}


def test_without_a_file_nothing_online_is_asked(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, environment=NOTHING)
    assert settings == Settings()
    assert (settings.locators, settings.online) == (("local",), ())
    assert list(tmp_path.iterdir()) == []


def test_the_file_says_who_is_asked_and_local_is_first_unless_placed(tmp_path: Path) -> None:
    settings_path(tmp_path).write_text('locators = ["nj", "census", "nj"]\n[nj]\ntimeout_s = 5\n', encoding="utf-8")
    settings = load_settings(tmp_path, environment=NOTHING)
    assert settings.locators == ("local", "nj", "census")
    assert settings.nj.timeout_s == 5
    settings_path(tmp_path).write_text('locators = ["nj", "local"]', encoding="utf-8")
    assert load_settings(tmp_path, environment=NOTHING).locators == ("nj", "local")


def test_the_environment_outranks_the_file_for_a_run(tmp_path: Path) -> None:
    settings_path(tmp_path).write_text('locators = ["nj"]\ncache_days = 5', encoding="utf-8")
    environment = {
        "GROWNJ_LOCATORS": "local",
        "GROWNJ_CENSUS_URL": "https://geo.example.com/geocoder/",
        "GROWNJ_NOMINATIM_EMAIL": "who@example.org",
        "GROWNJ_NJ_ALLOW_PRIVATE": "true",
        "GROWNJ_CACHE_DAYS": "",
        "GROWNJ_HOME": "/elsewhere",
    }
    settings = load_settings(tmp_path, environment=environment)
    assert settings.online == ()
    assert settings.census.url == "https://geo.example.com/geocoder"
    assert settings.nominatim.email == "who@example.org"
    assert settings.nj.allow_private is True
    assert settings.cache_days == 5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('locators = ["bing"]', "locators"),
        ('locators = "census"', "locators"),
        ('locaters = ["census"]', "no such setting"),
        ("[census]\nurl = 'ftp://a.example'", "https://"),
        ("[census]\nurl = 'https://user@a.example'", "user name"),
        ("[census]\nurl = 'https://a.example/?key=1'", "query"),
        ("[nj]\nrate_per_s = 0", "rate_per_s"),
        ("[nj]\ntimeout_s = -1", "timeout_s"),
        ("[nj]\nemail = 'a@b.example'", "no such setting"),
        ("[nominatim]\nemail = 'nobody'", "e-mail"),
        ('[nominatim]\nuser_agent = "a\\r\\nHost: b"', "user_agent"),
        ("cache_days = -1", "cache_days"),
        ("census = 5", "census"),
        ("locators = [", "no TOML"),
    ],
)
def test_what_does_not_fit_is_refused_and_named(tmp_path: Path, text: str, said: str) -> None:
    path = settings_path(tmp_path)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load_settings(tmp_path, environment=NOTHING)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_variable_that_does_not_fit_is_named_itself(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="GROWNJ_LOCATORS"):
        load_settings(tmp_path, environment={"GROWNJ_LOCATORS": "census,bing"})


def test_a_file_that_is_no_text_or_too_large_is_refused(tmp_path: Path) -> None:
    settings_path(tmp_path).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(tmp_path, environment=NOTHING)
    settings_path(tmp_path).write_bytes(b"#" * 200_000)
    with pytest.raises(SettingsError, match="bytes"):
        load_settings(tmp_path, environment=NOTHING)


def test_a_change_keeps_what_the_user_wrote_beside(tmp_path: Path) -> None:
    path = settings_path(tmp_path)
    path.write_text('# Ask the State first.\nlocators = ["nj"]  # and nobody else\n', encoding="utf-8")
    settings = change_setting("nominatim.email", "who@example.org", home=tmp_path)
    assert settings.nominatim.email == "who@example.org"
    assert change_setting("locators", "nj, census", home=tmp_path).online == ("nj", "census")
    text = path.read_text(encoding="utf-8")
    assert "# Ask the State first." in text
    assert "# and nobody else" in text
    assert change_setting("nominatim.email", None, home=tmp_path).nominatim.email is None
    assert change_setting("census.url", None, home=tmp_path).census.url is None


def test_a_change_that_does_not_fit_changes_nothing(tmp_path: Path) -> None:
    change_setting("locators", "census", home=tmp_path)
    before = settings_path(tmp_path).read_bytes()
    for key, value in (
        ("locators", "bing"),
        ("nj.rate_per_s", "often"),
        ("nj.allow_private", "maybe"),
        ("colour", "red"),
    ):
        with pytest.raises(SettingsError):
            change_setting(key, value, home=tmp_path)
    assert settings_path(tmp_path).read_bytes() == before


def test_every_setting_can_be_written_and_taken_out(tmp_path: Path) -> None:
    usual = {
        "url": "https://a.example",
        "rate_per_s": "0.5",
        "timeout_s": "7",
        "allow_private": "yes",
        "email": "a@b.example",
        "user_agent": "our-office/1.0",
        "most_at_once": "5",
        "cache_days": "3",
        "locators": "census",
    }
    for key in setting_keys():
        assert change_setting(key, usual[key.rpartition(".")[2]], home=tmp_path) != Settings()
        assert change_setting(key, None, home=tmp_path) == Settings()


def test_a_home_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(SettingsError, match=r"could not be written|cannot be read"):
        change_setting("cache_days", "3", home=tmp_path / "home")
