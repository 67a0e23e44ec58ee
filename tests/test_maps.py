"""The page as a file: nothing outside it, the same bytes for the same question, within its size, texts as data."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest
import shapely
from drawn import draw

from grownj_geo.atlas import Atlas
from grownj_geo.determine import Engine
from grownj_geo.features import LayerFault
from grownj_geo.mapanswer import Asked
from grownj_geo.mapareas import MapAreas, draw_areas
from grownj_geo.maps import map_html, tier_keys, write_map
from grownj_geo.mapsites import sites_of_places
from grownj_geo.rulebook import load_rulebook
from grownj_geo.site import Site
from grownj_geo.units import to_working

if TYPE_CHECKING:
    from pathlib import Path

EVIL = "{{ 7 * 7 }}</script><img src=x onerror=alert(1)>\u202e"


@pytest.fixture(scope="module")
def areas(engine: Engine) -> MapAreas:
    return draw_areas(engine)


def data_of(page: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="map-data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found.group(1))


def test_nothing_is_fetched_from_outside(engine: Engine, areas: MapAreas) -> None:
    page = map_html(engine, areas)
    assert not re.findall(r"<(?:link|iframe|object|embed|base)\b", page)
    assert not re.findall(r"<script[^>]*\bsrc=", page)
    assert not re.findall(r"url\((?!#)[^)]*\)", page.split('id="map-data"')[0])
    assert "@import" not in page
    for library in ("jquery", "bootstrap", "markercluster", "awesome", "cdn."):
        assert library not in page.lower(), library
    assert "Leaflet 1.9.4" in page


def test_the_policy_comes_first_and_allows_nothing_inline_but_its_own(engine: Engine, areas: MapAreas) -> None:
    page = map_html(engine, areas)
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    assert policy is not None
    assert policy.start() < page.index("<title>")
    assert "unsafe" not in policy.group(1)
    assert "default-src 'none'" in policy.group(1)
    assert "img-src data:;" in policy.group(1)
    assert not re.findall(r"<[a-z][^>]*\s(?:style|on[a-z]+)=", page.split("<script")[0])


def test_tiles_come_only_when_they_are_asked_for(engine: Engine, areas: MapAreas) -> None:
    offline, online = map_html(engine, areas), map_html(engine, areas, online=True)
    assert "tile.openstreetmap.org" not in offline
    assert "https://tile.openstreetmap.org/{z}/{x}/{y}.png" in online
    assert "img-src data: https://tile.openstreetmap.org;" in online
    assert "https://www.openstreetmap.org/copyright" in online


def test_equal_questions_give_equal_bytes(engine: Engine, areas: MapAreas) -> None:
    assert map_html(engine, areas) == map_html(engine, draw_areas(engine))


def test_the_page_of_areas_is_small(engine: Engine, areas: MapAreas) -> None:
    assert len(map_html(engine, areas).encode()) < 2_000_000


def test_what_strangers_wrote_is_data_and_no_template() -> None:
    x, y = (float(v) for v in to_working(-74.1641, 40.7344))
    zone = draw("urban_enterprise_zones", [(shapely.box(x, y, x + 9e3, y + 9e3), {})])
    name = zone.manifest.name_field or zone.manifest.key_field
    assert name is not None
    zone = draw("urban_enterprise_zones", [(shapely.box(x, y, x + 9e3, y + 9e3), {name: EVIL})])
    own = Engine(Atlas(layers=[zone]), load_rulebook())
    asked = Asked(date(2017, 4, 17), load_rulebook())
    site = Site.from_lonlat(-74.1641, 40.7344, typed=EVIL)
    page = map_html(own, draw_areas(own), sites_of_places(asked, own, [site]))
    assert "<img" not in page
    data = data_of(page)
    shown = EVIL.replace("\u202e", "⟨U+202E⟩")
    assert data["sites"]["names"] == [shown]  # type: ignore[index]
    assert shown in data["strings"]  # type: ignore[operator]


def test_a_rulebooks_title_is_no_markup_and_no_template(engine: Engine, areas: MapAreas) -> None:
    book = engine.rulebook.model_copy(update={"id": "own", "title": EVIL})
    page = map_html(Engine(engine.atlas, book), areas)
    assert "<h1>{{ 7 * 7 }}&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;⟨U+202E⟩</h1>" in page


def test_the_key_has_every_amount_and_what_reaches_none(engine: Engine) -> None:
    assert [key.dollars for key in tier_keys(engine)] == [5000, 4000, 3000, 500, -1]
    hub = Engine(engine.atlas, load_rulebook("urban-transit-hub"))
    assert [key.dollars for key in tier_keys(hub)] == [-1]


def test_the_sources_and_the_day_are_in_the_page(engine: Engine, areas: MapAreas) -> None:
    data = data_of(map_html(engine, areas))
    assert data["asOf"] == "2017-04-17"
    sources = "\n".join(data["sources"])  # type: ignore[arg-type]
    assert "Municipalities of New Jersey: New Jersey Office of GIS (NJOGIS); edition of 2021-01-01; " in sources
    assert "version 2017.1" in data["words"]["made"]  # type: ignore[index]


def test_a_page_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "map.html"
    write_map(target, "<p>é</p>")
    assert target.read_text(encoding="utf-8") == "<p>é</p>"
    assert [path.name for path in tmp_path.iterdir()] == ["map.html"]
    with pytest.raises(LayerFault, match="cannot be written"):
        write_map(tmp_path / "no-folder" / "map.html", "<p>")


def test_a_page_tells_how_its_sites_were_asked_about(engine: Engine, areas: MapAreas) -> None:
    x, y = (float(v) for v in to_working(-74.320347, 40.567092))
    point = Site.from_lonlat(-74.320347, 40.567092, uncertainty_ft=25)
    lot = Site(typed="lot", located_by="drawn", geometry=shapely.box(x, y, x + 90, y + 90))
    strict = Engine(engine.atlas, engine.rulebook, {"A11": "strict"})
    found = sites_of_places(None, strict, [Site(**{**vars(point), "facts": {"structure_exists": True}}), lot])
    data: Any = data_of(map_html(strict, areas, found))
    options = "--as-of 2017-04-17 --reading A11=strict"
    assert data["words"]["options"] == options
    one, other = ([data["strings"][place] if place >= 0 else "" for place in p[7:9]] for p in data["sites"]["panels"])
    given = "40.56709200,-74.32034700 --uncertainty-ft 25 --fact structure_exists=yes"
    assert one == [f"grownj check {given} {options}", ""]
    assert other[0] == f"grownj check POLYGON.geojson {options}"
    assert "a point gets another answer" in other[1]


def test_a_page_says_what_was_chosen_otherwise_than_by_default(engine: Engine, areas: MapAreas) -> None:
    chosen = Engine(engine.atlas, engine.rulebook, {"A3": "majority"})
    page = map_html(chosen, areas)
    assert "As of 2017-04-17. Readings chosen: A3=majority." in page
    assert "Readings chosen" not in map_html(engine, areas)
