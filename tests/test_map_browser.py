"""The page of a map in a real browser without a network: it opens, its layers toggle, panels open, texts stay texts."""

from __future__ import annotations

import csv
import re
from datetime import date
from typing import TYPE_CHECKING

import pytest
from browser import DESK, PHONE, one_browser, opened

from grownj_geo.determine import Directory
from grownj_geo.mapanswer import Asked
from grownj_geo.mapareas import draw_areas
from grownj_geo.maps import map_html, write_map
from grownj_geo.mapsites import sites_of_table
from grownj_geo.rulebook import load_rulebook
from grownj_geo.site import Site
from grownj_geo.siterows import TableOptions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "`${alert(2)}`",
    "</script><script>alert(3)</script>",
    "right\u202eto left",
    "long " * 2_000,
    '=HYPERLINK("https://example.org","click")',
    "\" onmouseover=alert(4) '",
    "line\u2028separator <!-- <script>",
    "{{ 7*7 }} {% raw %}",
    "GROWNJ-DATA policy-of-this-page",
]
PLACES = [(40.7344, -74.1641), (40.567092, -74.320347), (39.9447, -75.1190), (39.3643, -74.4229), (40.9168, -74.1718)]


def page_of(folder: Path, names: list[str], *, most_whole: int = 2_000) -> Path:
    table = folder / "sites.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "lat", "lon"])
        writer.writerows((name, *PLACES[i % len(PLACES)]) for i, name in enumerate(names))
    return map_of(table, folder / "map.html", most_whole=most_whole)


def map_of(table: Path, path: Path, *, most_whole: int) -> Path:
    asked = Asked(date(2017, 4, 17), load_rulebook("grow-nj"))
    engine = asked.engine()
    found = sites_of_table(
        asked, engine, table, options=TableOptions(), directory=Directory(engine.atlas), most_whole=most_whole
    )
    write_map(path, map_html(engine, draw_areas(engine), found))
    return path


@pytest.fixture(scope="module", autouse=True)
def _one_browser() -> Iterator[None]:
    with one_browser():
        yield


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = ["Newark Penn", "Metropark edge", "Camden", "Atlantic City", "Paterson"]
    return page_of(tmp_path_factory.mktemp("map"), names)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page_of(tmp_path_factory.mktemp("hostile"), HOSTILE)


def test_every_layer_toggles(page: Path) -> None:
    with opened(page, **DESK) as view:
        boxes = view.page.query_selector_all("#legend input[type=checkbox]")
        assert len(boxes) >= 10
        drawn = "document.querySelectorAll('.leaflet-areas-pane path').length"
        for box in boxes:
            if box.is_checked():
                box.click()
        assert view.page.evaluate(drawn) == 0
        for box in boxes:
            before = view.page.evaluate(drawn)
            box.click()
            assert view.page.evaluate(drawn) > before, box.get_attribute("id")
            box.press("Space")
            assert view.page.evaluate(drawn) == before
        assert view.faults() == []


def test_every_layer_and_its_pattern_have_a_name(page: Path) -> None:
    with opened(page, **DESK) as view:
        for label in view.page.query_selector_all("#legend li.layer"):
            assert label.query_selector("label").inner_text().strip()
            assert label.query_selector("svg.swatch") is not None
        # Open it would lie on sites.
        assert view.page.is_hidden("#sources-body")
        view.page.click("#sources summary")
        assert view.page.is_visible("#sources-body")
        assert "Sources and editions" in view.page.inner_text("#sources summary")
        assert "edition of 2021-01-01" in view.page.inner_text("#sources-body")
        assert view.page.query_selector(".leaflet-control-scale-line") is not None


def test_a_panel_opens_by_click_on_the_map(page: Path) -> None:
    with opened(page, **DESK) as view:
        view.page.click("#results button >> nth=0")
        view.page.keyboard.press("Escape")
        box = view.page.query_selector("#map").bounding_box()
        # The site was brought to where the panel leaves the map free; its place is asked of the map.
        where = view.page.evaluate(
            "(() => { const p = map.latLngToContainerPoint([40.7344, -74.1641]); return [p.x, p.y]; })()"
        )
        view.page.mouse.click(box["x"] + where[0], box["y"] + where[1])
        assert view.page.inner_text("#panel-title") == "Newark Penn"
        text = view.page.inner_text("#panel-body")
        assert "Urban transit hub municipality" in text
        assert "Newark City" in text
        assert view.faults() == []


def test_a_panel_counts_and_marks_findings_as_the_record_does(page: Path) -> None:
    engine = Asked(date(2017, 4, 17), load_rulebook("grow-nj")).engine()
    record = engine.determine(Site.from_lonlat(-74.320347, 40.567092))
    assert record.tier is not None
    with opened(page, **DESK) as view:
        view.page.click("#results button >> nth=1")
        for outcome, name in (("yes", "Yes"), ("undetermined", "Undetermined"), ("no", "No")):
            n = sum(f.outcome == outcome and f.kind != "project" for f in record.findings)
            assert view.page.query_selector(f"#panel-body summary:has-text('{name} ({n})')") is not None
        n = sum(f.kind == "project" for f in record.findings)
        view.page.click(f"#panel-body summary:has-text('Depends on the project ({n})')")
        view.page.click("#panel-body summary:has-text('No (')")
        text = view.page.inner_text("#panel-body")
        assert f"{record.tier.words} ({record.tier.status})" in text
        rows = {
            row.query_selector("h4").inner_text(): row.inner_text() for row in view.page.query_selector_all(".finding")
        }
        weak = [f for f in record.findings if f.status not in {"confirmed", "derived"}]
        assert weak
        for f in weak:
            assert f.status.replace("_", " ") in rows[f.label], f.label


def test_a_panel_opens_and_closes_by_keyboard(page: Path) -> None:
    with opened(page, **DESK) as view:
        view.page.focus("#search")
        view.page.keyboard.type("metrop")
        assert view.page.inner_text("#count") == "Showing 1 of 1 site"
        view.page.keyboard.press("ArrowDown")
        view.page.keyboard.press("Enter")
        assert view.page.get_attribute("#panel", "role") == "dialog"
        assert view.page.inner_text("#panel-title") == "Metropark edge"
        assert view.page.evaluate("document.activeElement.id") == "panel-title"
        assert "2,601 ft to Metropark; computed: inside by 39 ft" in view.page.inner_text("#panel-body")
        # The line to what the distance was measured from, with its length.
        assert view.page.inner_text(".distance-label") == "2,601 ft"
        view.page.keyboard.press("Escape")
        assert view.page.is_hidden("#panel")
        assert view.page.evaluate("document.activeElement.textContent") == "Metropark edge"
        view.page.wait_for_selector(".distance-label", state="detached")
        assert view.faults() == []


def test_what_is_drawn_at_the_middle_is_told_by_enter(page: Path) -> None:
    with opened(page, **DESK) as view:
        view.page.evaluate("void map.setView([40.7357, -74.1724], 15, {animate: false})")
        view.page.focus("#map")
        view.page.keyboard.press("Enter")
        text = view.page.inner_text("#panel-body")
        assert "Newark City, Essex County" in text
        assert "Distressed municipality" in text
        assert "grownj check 40.735700,-74.172400 --as-of 2017-04-17" in text
        # A blank place says nothing of the classes that are not loaded.
        assert "Not drawn, so not told here (" in text
        assert "Pinelands" in text
        view.page.keyboard.press("Escape")
        assert view.page.evaluate("document.activeElement.id") == "map"


def test_the_panel_says_findings_margins_and_reasons(page: Path) -> None:
    with opened(page, **DESK) as view:
        view.page.click("#results button >> nth=1")
        for word in ("Yes", "Undetermined", "No"):
            assert view.page.query_selector(f"#panel-body summary:has-text('{word} (')") is not None
        text = view.page.inner_text("#panel-body")
        assert "leans yes" in text
        assert "computed: inside by 39 ft" in text
        assert "N.J.A.C. 19:31-18.2, Transit oriented development" in text
        assert "Could be decided by:" in text


def test_a_phone_has_a_drawer_and_a_sheet(page: Path) -> None:
    with opened(page, **PHONE) as view:
        assert view.page.is_hidden("#side")
        view.page.tap(".drawer-button")
        assert view.page.is_visible("#search")
        view.page.tap("#results button >> nth=2")
        assert view.page.is_visible("#panel")
        assert view.page.is_hidden("#side")
        box = view.page.query_selector("#panel").bounding_box()
        assert box["width"] <= 390
        assert box["y"] > 200
        assert view.page.evaluate("document.documentElement.scrollWidth") <= 390
        # The way back is said; the drawer from which the site was chosen stays shut, and the map has the keyboard.
        assert view.page.inner_text("#panel-close") == "Back to the map"
        assert view.page.query_selector("#panel-close").bounding_box()["height"] >= 44
        view.page.tap("#panel-close")
        assert view.page.is_hidden("#panel")
        assert view.page.is_hidden("#side")
        assert view.page.evaluate("document.activeElement.classList.contains('folium-map')")
        assert view.faults() == []


def test_a_desk_closes_the_panel_and_is_back_where_it_was(page: Path) -> None:
    with opened(page, **DESK) as view:
        view.page.click("#results button >> nth=2")
        assert view.page.inner_text("#panel-close") == "Close"
        view.page.click("#panel-close")
        assert view.page.evaluate("document.activeElement.closest('#results') !== null")
        assert view.faults() == []


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_names_are_text(hostile: Path, number: int) -> None:
    name = HOSTILE[number]
    with opened(hostile, **DESK) as view:
        view.page.click(f"#results button >> nth={number}")
        title = view.page.inner_text("#panel-title")
        assert view.page.query_selector("#panel img, #results img, #panel script") is None
        if "\u202e" in name:
            assert title == "right⟨U+202E⟩to left"
        elif len(name) > 1_000:
            assert title.endswith("…")
            view.page.click("summary:has-text('Name in full')")
            assert len(view.page.inner_text("#panel-body .long")) > 9_000
        else:
            assert title.replace("\u2028", "") == name.replace("\u2028", "")
        box = view.page.query_selector("#map").bounding_box()
        for x in range(5):
            view.page.mouse.move(box["x"] + 200 + 40 * x, box["y"] + 300)
        view.page.wait_for_timeout(100)
        assert view.faults() == []


def test_the_policy_stops_what_is_not_the_pages_own(hostile: Path) -> None:
    with opened(hostile, **DESK) as view:
        view.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=alert(9)>')")
        view.page.evaluate(
            "(() => { const s = document.createElement('script'); s.textContent = 'alert(8)';"
            " document.body.append(s); })()"
        )
        view.page.wait_for_timeout(200)
        assert view.page.evaluate("window.ran") == []
        assert {b.split()[0] for b in view.page.evaluate("window.breaches")} >= {"script-src-elem", "script-src-attr"}


def test_a_row_without_an_answer_is_numbered_once(tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("lat,lon\n40.7344,-74.1641\n0,0\n", encoding="utf-8")
    with opened(map_of(table, tmp_path / "map.html", most_whole=2_000), **DESK) as view:
        view.page.click("#site-notes summary")
        text = view.page.inner_text("#site-notes")
        assert text.count("Row 3: ") == 1
        assert "(0, 0)" in text
        assert view.faults() == []


def test_sites_without_a_place_are_in_the_list(tmp_path: Path) -> None:
    table = tmp_path / "parcels.csv"
    table.write_text("name,pams_pin\n" + "".join(f"Lot {i},0408_81_{i}\n" for i in range(1, 6)), encoding="utf-8")
    for most_whole in (2_000, 3):
        path = map_of(table, tmp_path / "map.html", most_whole=most_whole)
        with opened(path, **DESK) as view:
            assert "5 sites are known by municipality only" in view.page.inner_text("#site-notes")
            view.page.click("#results button >> nth=2")
            text = view.page.inner_text("#panel-body")
            assert "Camden City" in text
            assert "it has no place on the map" in text
            assert view.faults() == []


def test_on_paper_the_map_comes_first_with_the_legend_of_what_is_shown(page: Path, tmp_path: Path) -> None:
    with opened(page, **DESK) as view:
        view.page.click("#legend input >> nth=0")
        view.page.pdf(path=str(tmp_path / "map.pdf"), prefer_css_page_size=True, print_background=True)
        view.page.emulate_media(media="print")
        assert view.page.is_hidden("#search")
        assert view.page.is_hidden("#legend li.layer >> nth=0")
        assert view.page.is_visible("#legend li.layer:has-text('Growth Zone')")
        above, below = (view.page.query_selector(name).bounding_box()["y"] for name in ("#stage", "#side"))
        assert above < below
        assert len(re.findall(rb"/Type\s*/Page\b", (tmp_path / "map.pdf").read_bytes())) == 2
        assert view.faults() == []


def test_many_sites_are_clustered_and_the_page_says_so(tmp_path: Path) -> None:
    path = page_of(tmp_path, [f"Site {i}" for i in range(60)], most_whole=50)
    with opened(path, **DESK) as view:
        assert "60 sites: they are drawn in clusters until few are in view" in view.page.inner_text("#site-notes")
        view.page.fill("#search", "site 41")
        view.page.keyboard.press("Enter")
        text = view.page.inner_text("#panel-body")
        assert "One of many sites" in text
        # Site 41 stands where Metropark edge does: its margin is given, its reasons are in the record alone.
        assert "computed: inside by 39 ft" in text
        assert view.faults() == []


def test_the_disclaimer_is_seen_on_a_phone(page: Path) -> None:
    with opened(page, **PHONE) as view:
        assert view.page.is_visible(".disclaimer")
        assert "not legal advice" in view.page.inner_text(".disclaimer")
