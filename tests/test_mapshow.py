"""The map of a notebook: a page in a frame of its own, with the engine's layers and no others."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import pytest

import grownj_geo as gj
from grownj_geo.errors import LayerError

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

PENN = gj.Site.from_lonlat(-74.1641, 40.7344)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> gj.Engine:
    return gj.Engine(gj.load_atlas(store=tmp_path_factory.mktemp("store")), gj.load_rulebook())


def test_page_has_the_site_under_its_name_and_what_is_not_loaded(engine: gj.Engine) -> None:
    page = gj.map_page(engine, {"Newark Penn Station": PENN})
    assert "Newark Penn Station" in page.html
    assert any("grownj layers" in words for words in page.not_drawn)


def test_frame_holds_the_page_whole_and_apart_from_the_notebook(engine: gj.Engine) -> None:
    page = gj.map_page(engine, {'"><script>alert(1)</script>': PENN})
    shown = page._repr_html_()
    (frame,) = re.findall(r"<iframe [^>]*>", shown)
    inside = re.search(r'srcdoc="([^"]*)"', frame)
    assert inside is not None
    assert html.unescape(inside[1]) == page.html
    assert "<script" not in shown
    assert 'sandbox="allow-scripts"' in frame


def test_chosen_classes_alone_are_shown_at_first(engine: gj.Engine) -> None:
    some, none = gj.map_page(engine, show=["growth_zone"]), gj.map_page(engine, show=[])
    assert some.html != none.html
    with pytest.raises(LayerError, match="expected classes among"):
        gj.map_page(engine, show=["no_such_class"])


def test_site_outside_the_state_is_told_and_the_others_are_drawn(engine: gj.Engine) -> None:
    page = gj.map_page(engine, {"here": PENN, "at sea": gj.Site.from_lonlat(-73.0, 40.75)})
    assert [refused.name for refused in page.not_answered] == ["at sea"]


def test_page_is_saved_whole(engine: gj.Engine, tmp_path: Path) -> None:
    page = gj.map_page(engine)
    assert page.save(tmp_path / "map.html").read_text(encoding="utf-8") == page.html
    assert [path.name for path in tmp_path.iterdir()] == ["map.html"]
