"""Parcels, layers and tables on the page, in a real browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from desk import IN_CAMDEN, IN_COLLINGSWOOD, PARCELS, square

if TYPE_CHECKING:
    from desk import Desk

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_parcel_is_drawn_by_mouse_by_keyboard_and_by_typing(desk: Desk) -> None:
    page = desk.page
    page.evaluate("void theMap.setView([39.9256, -75.0922], 16, {animate: false})")
    page.click("#draw-open")
    for lat, lon in ((39.9262, -75.0930), (39.9262, -75.0914)):
        page.mouse.click(*desk.point((lat, lon)))
    page.evaluate("void theMap.setView([39.9250, -75.0914], 16, {animate: false})")
    page.focus("#map")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.press("Backspace")
    corners = page.input_value("#corners").splitlines()
    assert len(corners) == 3
    # The map's middle is a whole pixel.
    assert [float(part) for part in corners[2].split(",")] == pytest.approx([39.9250, -75.0914], abs=3e-5)
    page.fill("#corners", "\n".join([*corners, "39.9250 and -75.0930"]))
    page.click("#draw-finish")
    assert "Line 4" in page.inner_text("#corners-problem")
    page.fill("#corners", "\n".join([*corners[:2], "-75.0930 39.9250", corners[2]]))
    page.click("#draw-finish")
    assert "corner 2 to 3 meets the side from corner 4 to 1" in page.inner_text("#corners-problem")
    page.fill("#corners", "\n".join([*corners, "-75.0930 39.9250"]))
    with desk.answered():
        page.click("#draw-finish")
    site = desk.record()["site"]
    assert site["kind"] == "polygon"
    assert site["area_sqft"] == pytest.approx(437.0 * 449.0, rel=0.02)
    assert site["typed"] == "Parcel drawn on the map, 4 corners"
    assert page.query_selector_all(".leaflet-site-pane path")


def test_a_parcel_is_uploaded(desk: Desk, tmp_path: Path) -> None:
    page = desk.page
    good, bad = tmp_path / "lot.geojson", tmp_path / "bad.geojson"
    # So wide that the service cuts its sides; its corners stay four.
    good.write_text(json.dumps(square(IN_COLLINGSWOOD, half=0.001)), encoding="utf-8")
    bad.write_text("{", encoding="utf-8")
    table = tmp_path / "sites.csv"
    table.write_text("address\n12 Main St\n", encoding="utf-8")
    page.click("#upload-open")
    page.set_input_files("#upload-file", table)
    page.click("#upload-start")
    page.wait_for_selector("#upload-problem:has-text('sites.csv is a table')")
    page.set_input_files("#upload-file", bad)
    page.click("#upload-start")
    page.wait_for_selector("#upload-problem:not(:empty)")
    page.set_input_files("#upload-file", good)
    with desk.answered():
        page.click("#upload-start")
    assert page.inner_text("#answer-title") == "Collingswood Borough, Camden County"
    assert desk.record()["site"]["kind"] == "polygon"
    assert "(4 corners)" in page.text_content("#site-card")


# -- layers and tables ---------------------------------------------------------------------------------


def test_layers_say_their_edition_and_what_is_missing(desk: Desk) -> None:
    page = desk.page
    page.click("nav >> text=Layers")
    page.wait_for_selector("[data-layer=planning_areas]")
    assert page.evaluate("document.activeElement.id") == "layers-title"
    assert "edition of 2021-01-01" in page.inner_text("[data-layer=municipalities]")
    missing = page.inner_text("[data-layer=planning_areas]")
    assert "Not loaded" in missing
    assert "grownj layers" in missing
    assert page.inner_text("#parcels-note").startswith(f"Parcels are loaded: {len(PARCELS)}")
    drawn = "document.querySelectorAll('.leaflet-areas-pane path').length"
    before = page.evaluate(drawn)
    page.wait_for_selector("#map[data-day]")
    page.set_checked("#area-sda_municipality", checked=True)
    page.wait_for_function(f"before => {drawn} > before", arg=before)
    page.set_checked("#area-sda_municipality", checked=False)
    page.wait_for_function(f"before => {drawn} === before", arg=before)


def test_a_table_is_answered_downloaded_and_removed(desk: Desk, tmp_path: Path) -> None:
    page = desk.page
    table = tmp_path / "sites.csv"
    table.write_text(
        f"name,lat,lon\nA,40.567092,-74.320347\nB,{IN_CAMDEN[0]},{IN_CAMDEN[1]}\nC,1,2\n", encoding="utf-8"
    )
    page.click("nav >> text=Many sites")
    page.set_input_files("#many-file", table)
    page.click("#many-start")
    page.wait_for_selector(".job:has-text('sites.csv') .state:has-text('Done')", timeout=60_000)
    with page.expect_download() as found:
        page.click(".job button:has-text('Download')")
    rows = Path(found.value.path()).read_text(encoding="utf-8").splitlines()
    assert len(rows) == 4
    assert "Woodbridge Township" in rows[1]
    assert "2 rows of 3 answered" in page.inner_text(".job")
    page.click(".job summary:has-text('1 row has no answer')")
    assert "outside New Jersey" in page.inner_text(".job")
    page.click(".job summary:has-text('How many sites')")
    assert "Transit oriented development" in page.inner_text(".job table")
    # Found again by whoever opens the page anew in this browser; gone once it is removed.
    page.reload()
    page.wait_for_selector(".job:has-text('sites.csv') button:visible:has-text('Download')")
    page.click(".job button:visible:has-text('Remove')")
    page.wait_for_selector(".job", state="detached")
    assert page.evaluate("localStorage.getItem('grownj-jobs')") == "[]"


def test_a_table_is_cancelled_and_a_bad_one_refused(desk: Desk, tmp_path: Path) -> None:
    page = desk.page
    large, bad = tmp_path / "large.csv", tmp_path / "bad.csv"
    large.write_text("lat,lon\n" + "40.567092,-74.320347\n" * 400_000, encoding="utf-8")
    bad.write_text("a,b\n1,2\n", encoding="utf-8")
    page.click("nav >> text=Many sites")
    page.set_input_files("#many-file", large)
    page.click("#many-start")
    page.wait_for_selector(".job:has-text('large.csv') progress:visible")
    page.click(".job:has-text('large.csv') button:visible:has-text('Cancel')")
    page.wait_for_selector(".job:has-text('large.csv')", state="detached")
    page.wait_for_function("() => document.getElementById('live').textContent.includes('cancelled')")
    page.set_input_files("#many-file", bad)
    page.click("#many-start")
    page.wait_for_selector("#many-problem:not(:empty), .job .problem", timeout=60_000)
