"""Leaflet from its pinned package: known by checksum, without references to other files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from grownj_geo import mapassets
from grownj_geo.features import LayerFault

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    mapassets.leaflet_files.cache_clear()
    yield
    mapassets.leaflet_files.cache_clear()


def test_leaflet_is_the_one_that_was_looked_at() -> None:
    script, style = mapassets.leaflet_files()
    assert "Leaflet 1.9.4" in script
    assert "sourceMappingURL" not in script
    assert not re.findall(r"url\(", style)


def test_another_leaflet_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(mapassets._LEAFLET, "leaflet.js", "0" * 64)  # noqa: SLF001 - a changed pin
    with pytest.raises(LayerFault, match=r"leaflet\.js has the checksum .* expected 000000000000"):
        mapassets.leaflet_files()


def test_without_leaflet_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapassets, "find_spec", lambda name: None)  # noqa: ARG005 - as the other has it
    with pytest.raises(LayerFault, match=r"Install it: pip install 'grownj-geo\[map\]'"):
        mapassets.leaflet_files()


def test_what_is_missing_is_said_before_anything_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    mapassets.check_installed(page=True, picture=True)
    monkeypatch.setattr(mapassets, "find_spec", lambda name: None if name in {"folium", "matplotlib"} else object())
    mapassets.check_installed(page=False, picture=False)
    with pytest.raises(LayerFault, match=r"Maps need folium, which is not installed\. Install it: pip install"):
        mapassets.check_installed(page=True, picture=False)
    with pytest.raises(LayerFault, match=r"Pictures need matplotlib, .*grownj-geo\[pictures\]"):
        mapassets.check_installed(page=False, picture=True)


def test_the_pages_scripts_make_elements_and_no_markup() -> None:
    script = mapassets.page_js()
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", ".style ="):
        assert way not in script, way
    assert script.count("setContent(") == script.count("setContent(label)") + script.count('setContent(make("span"')
