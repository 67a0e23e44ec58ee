"""The page of `grownj serve` in a real browser: one site by mouse, keyboard and link, no network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest
from desk import ADDRESS, FAR_TWIN, HOSTILE, IN_CAMDEN, IN_COLLINGSWOOD, LOT, METROPARK, TWIN, check

if TYPE_CHECKING:
    from desk import Desk
    from playwright.sync_api import Request

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_lot_and_an_address_get_the_record_of_check(desk: Desk, page_home: Path) -> None:
    for typed in (LOT, ADDRESS):
        desk.ask(typed)
        checked = check(page_home, typed)
        assert desk.record() == checked
        assert checked["place"]["municipality"]["name"] == "Camden City"
        assert checked["site"]["kind"] == "polygon"
        shown = desk.page.eval_on_selector_all(
            "[data-finding]", "found => found.map((f) => [f.dataset.finding, f.dataset.outcome])"
        )
        assert sorted(shown) == sorted([f["id"], f["outcome"]] for f in checked["findings"] if f["kind"] != "ground")
        assert checked["tier"]["words"] in desk.page.inner_text("#tier")


def test_suggestions_are_chosen_by_keyboard(desk: Desk) -> None:
    page = desk.page
    page.focus("#search")
    page.keyboard.type("14 main")
    page.wait_for_selector("#suggestions [role=option]")
    assert page.get_attribute("#search", "aria-expanded") == "true"
    page.keyboard.press("ArrowDown")
    chosen = page.get_attribute("#search", "aria-activedescendant")
    assert page.get_attribute(f"#{chosen}", "aria-selected") == "true"
    words = page.inner_text(f"#{chosen}")
    assert "14 MAIN ST" in words.upper()
    with desk.answered():
        page.keyboard.press("Enter")
    assert page.input_value("#search") == words
    assert page.get_attribute("#search", "aria-expanded") == "false"
    assert "Camden City" in page.inner_text("#answer-title")
    assert page.evaluate("document.activeElement.id") == "answer-title"
    page.wait_for_function("() => document.getElementById('live').textContent.includes('base amount $5,000')")


def test_a_municipality_that_is_suggested_has_an_answer(desk: Desk) -> None:
    page = desk.page
    page.focus("#search")
    page.keyboard.type("washington town")
    page.wait_for_selector("#suggestions [role=option]:has-text('Warren County')")
    with desk.answered():
        page.click("#suggestions [role=option]:has-text('Warren County')")
    assert page.inner_text("#answer-title").startswith("Washington Township")
    record = desk.record()
    assert (record["site"]["kind"], record["place"]["municipality"]["mun_code"]) == ("municipality", "2122")
    assert "its place is not known, only its municipality" in page.text_content("#site-card")


def test_places_that_share_an_address_are_choices(desk: Desk) -> None:
    page = desk.page
    # Far apart: no answer at all until one is chosen.
    desk.ask(FAR_TWIN)
    assert page.evaluate("document.activeElement.id") == "choices-title"
    rows = page.query_selector_all("#choices button.candidate")
    assert len(rows) == 2
    assert len(page.query_selector_all(".choice-mark")) == 2
    assert page.query_selector("#answer [data-finding]") is None
    # What each would come to stands with it, once it is found out.
    page.wait_for_function("() => [...document.querySelectorAll('.comes-to')].every((one) => one.textContent !== '')")
    assert "Base amount $5,000" in page.inner_text("#choices")
    newark = next(row for row in rows if "Newark City" in row.inner_text())
    with desk.answered():
        newark.press("Enter")
    record = desk.record()
    assert (record["site"]["pins"], record["site"]["typed"]) == (["0714_95_1"], FAR_TWIN)
    assert page.is_hidden("#choices")
    # Close together: answered as the circle that holds both, and both are shown.
    desk.ask(TWIN)
    page.wait_for_selector("#choices button.candidate")
    assert desk.record()["site"]["uncertainty_ft"] > 1_000
    with desk.answered():
        page.click("#choices button.candidate >> nth=1")
    assert desk.record()["site"]["pins"] == ["0408_90_1.02"]


def test_municipalities_of_one_name_are_told_apart_by_their_county_once(desk: Desk) -> None:
    desk.ask("12 Spring St, Washington Township")
    told = desk.page.locator("#choices button.candidate").all_inner_texts()
    assert [sum(county in one for one in told) for county in ("Morris County", "Gloucester County")] == [1, 1]
    assert [one.count(" County") for one in told] == [1, 1]
    with desk.answered():
        desk.page.click("#choices button.candidate")
    assert desk.page.inner_text("#answer-title").count(" County") == 1
    municipality = desk.page.text_content("#site-card dt:has-text('Municipality') + dd") or ""
    assert municipality.count(" County") == 1


def test_a_place_that_is_not_sure_is_chosen_as_the_answer_of_who_found_it(desk: Desk) -> None:
    page = desk.page
    desk.ask("18 Main St, Camden City")
    assert page.query_selector("#answer [data-finding]") is None
    with desk.answered():
        page.click("#choices button.candidate")
    record = desk.record()
    assert record["site"]["located_by"].startswith("address, chosen from what was found: ")
    assert record["site"]["uncertainty_ft"] > 0
    # Nobody set it by hand, and the page does not say so; the link asks the same.
    assert page.query_selector("#moved") is None
    link = page.evaluate("window.location.hash")
    assert "." not in parse_qs(link[1:])["uncertainty_ft"][0]
    page.goto("about:blank")
    desk.open(link)
    page.wait_for_selector("#record-json")
    assert desk.record() == record


def test_of_a_street_its_municipality_is_chosen(desk: Desk) -> None:
    page = desk.page
    desk.ask("2900 Main St, Camden City")
    (told,) = page.locator("#choices button.candidate").all_inner_texts()
    assert "known to" not in told
    with desk.answered():
        page.click("#choices button.candidate")
    record = desk.record()
    assert (record["site"]["kind"], record["site"]["mun_code"]) == ("municipality", "0408")
    assert record["site"]["typed"] == "2900 Main St, Camden City"
    link = page.evaluate("window.location.hash")
    page.goto("about:blank")
    desk.open(link)
    page.wait_for_selector("#record-json")
    assert desk.record() == record


def test_the_marker_dragged_over_the_line_changes_municipality_and_tier(desk: Desk, page_home: Path) -> None:
    page = desk.page
    desk.ask(LOT)
    before = page.inner_text("#tier")
    page.evaluate("void theMap.setView([39.9235, -75.0865], 14, {animate: false})")
    start, end = desk.point(IN_CAMDEN), desk.point(IN_COLLINGSWOOD)
    with desk.answered():
        page.mouse.move(start[0], start[1] - 20)
        page.mouse.down()
        page.mouse.move((start[0] + end[0]) / 2, end[1] - 20, steps=3)
        page.mouse.move(end[0], end[1] - 20, steps=3)
        page.mouse.up()
    assert page.inner_text("#answer-title") == "Collingswood Borough, Camden County"
    assert "$5,000" in before
    assert page.inner_text("#tier") != before
    record = desk.record()
    assert record["site"]["typed"] == LOT
    assert record["site"]["latitude"] == pytest.approx(IN_COLLINGSWOOD[0], abs=3e-4)
    lon, lat = parse_qs(urlsplit(page.url).fragment)["shape"][0].removeprefix("POINT(").removesuffix(")").split()
    # A pixel is a bit more than 24 ft here: two of them are how well a hand can put it.
    assert record == check(page_home, LOT, "--at", f"{lat},{lon}", "--uncertainty-ft", "49")
    # What was typed is a button away, and so is the question before.
    with desk.answered():
        page.click("#put-back")
    assert desk.record()["site"]["pins"] == ["0408_81_1"]
    with desk.answered():
        page.go_back()
    assert page.inner_text("#answer-title") == "Collingswood Borough, Camden County"


def test_coordinates_that_were_typed_are_kept_when_the_marker_is_dragged(desk: Desk, page_home: Path) -> None:
    page = desk.page
    desk.ask(METROPARK)
    page.evaluate("void theMap.setView([40.5671, -74.3203], 17, {animate: false})")
    start = desk.point((40.567092, -74.320347))
    with desk.answered():
        page.mouse.move(start[0], start[1] - 20)
        page.mouse.down()
        page.mouse.move(start[0] + 100, start[1] + 30, steps=3)
        page.mouse.up()
    record = desk.record()
    assert record["site"]["typed"] == page.input_value("#search") == METROPARK
    assert f"Typed was {METROPARK}" in page.inner_text("#moved")
    link = parse_qs(urlsplit(page.url).fragment)
    assert link["typed"] == [METROPARK]
    lon, lat = link["shape"][0].removeprefix("POINT(").removesuffix(")").split()
    # From so close it is as good as exact, and the same as the command has for what was typed and moved.
    assert record == check(page_home, METROPARK, "--at", f"{lat},{lon}")
    with desk.answered():
        page.click("#put-back")
    assert desk.record() == check(page_home, METROPARK)


def test_a_place_that_was_clicked_from_afar_is_known_as_well_as_it_was_seen(desk: Desk) -> None:
    page = desk.page
    page.evaluate("void theMap.setView([40.2, -74.6], 9, {animate: false})")
    with desk.answered():
        page.mouse.click(*desk.point((40.2, -74.6)))
    # 2 pixels of 765 ft, upwards to two figures.
    site = desk.record()["site"]
    assert (site["uncertainty_ft"], site["located_by"]) == (1600.0, "coordinates, of a click on the map")
    told = page.inner_text("#moved")
    assert told == "Placed on the map to about 1,600 ft: zoom in and place it again for a better one."
    assert "Typed" not in (page.text_content("#site-card") or "")
    link = page.evaluate("window.location.hash")
    page.goto("about:blank")
    desk.open(link)
    page.wait_for_selector("#record-json")
    assert desk.record()["site"] == site
    # The marker of what nobody typed leaves nothing to put back; from close by it is exact, as any click.
    page.evaluate("void theMap.setView([40.2, -74.6], 11, {animate: false})")
    page.focus(".pin")
    with desk.answered():
        page.keyboard.press("ArrowRight")
    site = desk.record()["site"]
    assert (site["uncertainty_ft"], site["located_by"]) == (390.0, "coordinates, of the marker moved on the map")
    assert page.query_selector("#put-back") is None
    assert "placed on the map" in page.text_content("#site-card dt:has-text('Known to') + dd")
    page.evaluate("void theMap.setView([40.2, -74.6], 17, {animate: false})")
    with desk.answered():
        page.mouse.click(*desk.point((40.2, -74.6)))
    site = desk.record()["site"]
    assert (site["uncertainty_ft"], site["located_by"]) == (0.0, "coordinates, latitude first")


def test_the_marker_is_moved_by_arrow_keys_and_by_a_click(desk: Desk) -> None:
    page = desk.page
    desk.ask(f"{IN_CAMDEN[0]}, {IN_CAMDEN[1]}")
    page.focus(".pin")
    label = page.get_attribute(".pin", "aria-label")
    with desk.answered():
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("ArrowUp")
    assert page.get_attribute(".pin", "aria-label") != label
    assert page.evaluate("document.activeElement.classList.contains('pin')")
    site = desk.record()["site"]
    assert site["longitude"] > IN_CAMDEN[1]
    assert site["latitude"] > IN_CAMDEN[0]
    page.click("#site-card > summary")
    page.click("#move > summary")
    page.click("text=Move by a click on the map")
    page.evaluate("void theMap.setView([39.9235, -75.0865], 14, {animate: false})")
    with desk.answered():
        page.mouse.click(*desk.point(IN_COLLINGSWOOD))
    assert page.inner_text("#answer-title") == "Collingswood Borough, Camden County"
    page.fill("#move-off", "300")
    with desk.answered():
        page.press("#move-off", "Enter")
    assert desk.record()["site"]["uncertainty_ft"] == 300.0


def test_a_place_is_asked_by_click_and_by_enter_on_the_map(desk: Desk) -> None:
    page = desk.page
    page.evaluate("void theMap.setView([39.9235, -75.0865], 14, {animate: false})")
    with desk.answered():
        page.mouse.click(*desk.point(IN_CAMDEN))
    assert page.inner_text("#answer-title") == "Camden City, Camden County"
    page.evaluate(f"void theMap.setView({list(IN_COLLINGSWOOD)}, 15, {{animate: false}})")
    page.focus("#map")
    with desk.answered():
        page.keyboard.press("Enter")
    assert page.inner_text("#answer-title") == "Collingswood Borough, Camden County"
    # Where there is no answer the old one is gone, and the marker can be moved on.
    page.evaluate("void theMap.setView([39.9526, -75.1652], 14, {animate: false})")
    with desk.answered():
        page.mouse.click(*desk.point((39.9526, -75.1652)))
    assert "New Jersey" in page.inner_text("#problem")
    assert page.query_selector("#answer [data-finding]") is None
    assert page.query_selector(".pin") is not None
    with desk.answered():
        page.go_back()
    assert page.inner_text("#answer-title") == "Collingswood Borough, Camden County"


def test_a_finding_says_why_and_shows_its_line(desk: Desk) -> None:
    page = desk.page
    desk.ask(METROPARK)
    near = page.inner_text("#near")
    assert "Transit oriented development" in near
    assert "leans yes; computed: inside by 39 ft" in near
    row = "[data-finding=transit_oriented_development]"
    page.focus(f"{row} button:has-text('Why?')")
    page.keyboard.press("Enter")
    page.wait_for_selector("#why-body ul.tree ul.tree")
    assert page.inner_text("#why-title") == "Why: Transit oriented development"
    tree = page.inner_text("#why-body")
    assert "Undetermined: within half a mile" in tree
    assert "Metropark is 2,601 ft away" in tree
    page.keyboard.press("Escape")
    assert page.is_hidden("#why")
    assert page.evaluate("document.activeElement.textContent") == "Why?"
    page.click(f"{row} button:has-text('Show the line')")
    assert page.inner_text(".distance-label") == "2,601 ft to Metropark"
    # It is worked out beside the answer, behind whatever else the service draws just then.
    better = "() => document.getElementById('better').textContent.includes('New Brunswick City')"
    page.wait_for_function(better, timeout=120_000)


def test_of_a_place_that_is_left_again_at_once_nothing_is_asked_that_takes_long(desk: Desk) -> None:
    page = desk.page
    desk.ask(METROPARK)
    page.wait_for_function("() => document.getElementById('better').textContent !== ''", timeout=120_000)
    asked: list[str] = []

    def seen(request: Request) -> None:
        asked.append(request.url.rpartition("/")[2])

    page.on("request", seen)
    module = page.evaluate("document.querySelector('script[type=module]').src.replace('main.js', 'beside.js')")
    for there, wanted in ((False, []), (True, ["better"])):
        words = "async ([module, site, there]) => (await import(module)).better({ json: { site: site } }, () => there)"
        page.evaluate(words, [module, METROPARK, there])
        assert asked == wanted
    page.remove_listener("request", seen)


def test_what_a_place_known_to_some_feet_leaves_open_is_drawn_beside_the_answer(desk: Desk) -> None:
    page = desk.page
    desk.ask(METROPARK)
    page.wait_for_function("() => document.getElementById('map').dataset.day !== undefined")
    drawn = """() => {
        const colour = document.querySelector("label[for=area-station_radius] rect").getAttribute("stroke");
        const at = theMap.latLngToLayerPoint([40.567092, -74.320347]);
        const found = [];
        theMap.eachLayer((one) => {
            if (!(one instanceof L.Polygon) || one.options.fillColor !== colour || !one.getElement()) return;
            const where = Object.assign(one.getElement().ownerSVGElement.createSVGPoint(), { x: at.x, y: at.y });
            const dashed = one.getElement().getAttribute("stroke-dasharray") !== null;
            found.push([dashed, one.getElement().isPointInFill(where)]);
        });
        return found.sort();
    }"""
    # 2,601 ft away: outside what is surely within, and inside what may be.
    assert page.evaluate(drawn) == [[False, False], [True, True]]
    # From so far that both lines would be one, there is one.
    page.evaluate("void theMap.setView([40.567092, -74.320347], 9, {animate: false})")
    assert [dashed for dashed, _ in page.evaluate(drawn)] == [False]
    page.evaluate("void theMap.setView([40.567092, -74.320347], 15, {animate: false})")
    assert page.evaluate(drawn) == [[False, False], [True, True]]


def test_a_link_asks_the_same_question_again(desk: Desk) -> None:
    page = desk.page
    desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    desk.ask(ADDRESS)
    before = desk.record()
    page.click("#share")
    link = page.input_value("#share-link")
    assert page.evaluate("navigator.clipboard.readText()") == link
    # What is asked stands after the #: it is sent to no server.
    assert link.startswith(desk.address + "#")
    page.evaluate("location.hash = 'view=one'")
    page.wait_for_selector("#welcome")
    with desk.answered():
        page.evaluate("link => { location.href = link; }", link)
    assert desk.record() == before


def test_reports_are_downloaded(desk: Desk) -> None:
    desk.ask(METROPARK)
    for what, begins in (("pdf", b"%PDF-"), ("html", b"<!doctype html>")):
        with desk.page.expect_download(timeout=90_000) as found:
            desk.page.click(f"#report-{what}")
        assert found.value.suggested_filename == f"40.567092--74.320347.{what}"
        assert Path(found.value.path()).read_bytes()[: len(begins)].lower() == begins.lower()


def test_a_record_is_called_as_its_site(desk: Desk) -> None:
    for typed, name in ((ADDRESS, "14-Main-Street-Camden"), (METROPARK, "40.567092--74.320347")):
        desk.ask(typed)
        with desk.page.expect_download() as found:
            desk.page.click("#record-json")
        assert found.value.suggested_filename == f"{name}.json"


def test_what_is_not_found_is_said_in_plain_words(desk: Desk) -> None:
    desk.ask("999 Nowhere Blvd, Camden")
    said = desk.page.inner_text("#problem")
    assert "“999 Nowhere Blvd, Camden” was not found. Check the spelling" in said
    assert "local, which says: knows no such address" in said
    assert "--" not in said
    desk.ask("PO Box 12, Camden")
    assert "box at a post office" in desk.page.inner_text("#problem")
    assert desk.page.query_selector("#answer [data-finding]") is None


def test_hostile_texts_stay_texts(desk: Desk) -> None:
    desk.ask(HOSTILE)
    said = desk.page.inner_text("#problem")
    assert "<img src=x onerror=alert(1)>" in said
    assert desk.page.query_selector("#problem img") is None
    desk.page.evaluate(
        "link => { location.hash = link; }", "shape=POINT(alert(1))&as_of=<b>&fact=no_such_fact=1&typed=<img>"
    )
    # Each fault of a link is told.
    desk.page.wait_for_function("() => document.getElementById('problem').textContent.includes('cannot be read')")
    said = desk.page.inner_text("#problem")
    assert "is no day" in said
    assert "“no_such_fact” is none that is known" in said
