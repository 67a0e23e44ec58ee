"""From settings to locators that can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grownj_geo.locators import online_locators, service_options
from grownj_geo.settings import ServiceSettings, Settings

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.locator import Locator


def as_protocol(locator: Locator) -> Locator:
    """Return a locator; that the types agree is checked where types are."""
    return locator


def test_locators_come_in_the_order_of_the_settings_and_share_one_cache(tmp_path: Path) -> None:
    locators = online_locators(Settings(locators=("nominatim", "local", "census")), home=tmp_path)
    assert [as_protocol(locator).name for locator in locators] == ["nominatim", "census"]
    assert len({id(locator.cache) for locator in locators}) == 1
    assert locators[0].cache.path.parent == tmp_path


def test_the_settings_outrank_what_the_package_has() -> None:
    own = Settings(nj=ServiceSettings(url="https://gis.example.com/GeocodeServer", rate_per_s=9, timeout_s=7))
    options = service_options(own, "nj")
    assert (options.url, options.rate_per_s, options.timeout_s) == ("https://gis.example.com/GeocodeServer", 9, 7)
    assert "your own: https://gis.example.com/GeocodeServer" in options.sends
    usual = service_options(Settings(), "nj")
    assert usual.url.startswith("https://geo.nj.gov/")
    assert usual.batch_timeout_s >= usual.timeout_s


@pytest.mark.parametrize("name", ["census", "nj", "nominatim"])
def test_what_is_sent_is_said_with_whom_it_goes_to(name: str) -> None:
    words = service_options(Settings(), name).sends  # type: ignore[arg-type]
    assert "address" in words
    assert " to " in words
    assert words.endswith(".")
