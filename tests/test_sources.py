"""Where the user's places are looked for, as parcels and settings say."""

from __future__ import annotations

import builtins
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from parcel_world import parcel_home

from grownj_geo.errors import LayerError, SettingsError
from grownj_geo.finder import Finder
from grownj_geo.found import UnsettledSiteError
from grownj_geo.sources import sources_at_home

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.atlas import Atlas


def test_an_empty_home_has_nowhere_to_look(atlas: Atlas, tmp_path: Path) -> None:
    assert sources_at_home(atlas, tmp_path) == (None, (), ())


def test_the_order_is_that_of_the_settings_and_online_ones_need_no_parcels(
    atlas: Atlas, parcels_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROWNJ_LOCATORS", "nj,local,census")
    assert [one.name for one in sources_at_home(atlas, parcels_home).locators] == ["nj", "local", "census"]
    assert [one.name for one in sources_at_home(atlas, tmp_path).locators] == ["nj", "census"]


def test_settings_that_cannot_be_read_are_not_guessed(atlas: Atlas, tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('locators = ["cencus"]\n', encoding="utf-8")
    with pytest.raises(SettingsError):
        sources_at_home(atlas, tmp_path)


def test_coordinates_open_nothing(atlas: Atlas, tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("locators = 7\n", encoding="utf-8")
    finder = Finder.at_home(atlas, home=tmp_path)
    assert finder.find("40.7344,-74.1641").form == "coordinates"
    with pytest.raises(SettingsError):
        finder.find("100 Main St, Camden")


def test_parcels_that_cannot_be_read_are_said(atlas: Atlas, tmp_path: Path) -> None:
    home = parcel_home(tmp_path)
    (database,) = home.rglob("parcels.sqlite")
    database.chmod(0o644)
    database.write_bytes(database.read_bytes()[:100])
    with pytest.raises((LayerError, sqlite3.Error), match=r"parcels@"):
        Finder.at_home(atlas, home=home).find("0408_81_1")


def test_without_the_extra_it_is_said_what_to_install(
    atlas: Atlas, parcels_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **more: Any) -> Any:
        if name.partition(".")[0] == "rapidfuzz":
            raise ImportError(name)
        return real(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    finder = Finder.at_home(atlas, home=parcels_home)
    with pytest.raises(UnsettledSiteError, match=r"pip install 'grownj-geo\[addresses\]'"):
        finder.site("100 Main St, Camden")
    # Parcel numbers need nothing of it.
    assert finder.site("0408_81_1").geometry is not None
