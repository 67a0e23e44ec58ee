"""The page of `grownj serve` in a real browser: every function by mouse, keyboard and finger, no network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import PHONE, WATCH, chromium
from playwright.sync_api import sync_playwright
from serving import load_parcels, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page
    from serving import Served

pytestmark = [pytest.mark.browser, pytest.mark.slow]

DESK = {"viewport": {"width": 1440, "height": 900}}
# On both sides of the line between Camden City, which has the highest base amount, and Collingswood.
IN_CAMDEN, IN_COLLINGSWOOD = (39.925587, -75.092170), (39.921439, -75.080900)
METROPARK = "40.567092, -74.320347"
LOT, ADDRESS = "Camden City block 81 lot 1", "14 Main Street, Camden"
TWIN, FAR_TWIN = "100 Twin Ave, Camden", "500 Broad St"
PARCELS = [
    ("0408_81_1", "12 MAIN ST", IN_CAMDEN),
    ("0408_81_2", "14 MAIN ST", (39.925587, -75.091000)),
    ("0408_81_5", "20 MAIN ST", (39.925587, -75.089000)),
    ("0408_90_1.01", "100 TWIN AVE", (39.9400, -75.1100)),
    ("0408_90_1.02", "100 TWIN AVE", (39.9450, -75.1000)),
    ("0408_95_1", "500 BROAD ST", (39.9360, -75.1100)),
    ("0714_95_1", "500 BROAD ST", (40.7450, -74.1690)),
    ("1438_7_3", "12 SPRING ST", (40.7853, -74.8085)),
    ("0818_7_3", "12 SPRING ST", (39.7565, -75.0762)),
]
# The map is found from outside of the page's modules, so that a place can be clicked.
FIND_MAP = """
let leaflet;
Object.defineProperty(window, "L", {
  get: () => leaflet,
  set: (made) => {
    leaflet = made;
    made.Map.addInitHook(function () { window.theMap = this; });
  },
});
"""
HOSTILE = "<img src=x onerror=alert(1)> \u202e</script><script>alert(2)</script>"


def square(place: tuple[float, float], *, half: float = 0.0003) -> dict[str, Any]:
    lat, lon = place
    ring = [[lon - half, lat - half], [lon + half, lat - half], [lon + half, lat + half], [lon - half, lat + half]]
    return {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}


def check(home: Path, text: str, *options: str) -> dict[str, Any]:
    """Return the record that the command line has."""
    command = [sys.executable, "-m", "grownj_geo", "check", text, *options, "--json"]
    environment = {**os.environ, "GROWNJ_HOME": str(home)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("serve")
    features = [
        {"type": "Feature", "properties": {"PAMS_PIN": pin, "PROP_LOC": address}, "geometry": square(place)}
        for pin, address, place in PARCELS
    ]
    table = folder / "parcels.geojson"
    table.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    load_parcels(folder / "home", table)
    return folder / "home"


@pytest.fixture(scope="module")
def service(home: Path) -> Iterator[Served]:
    with serving(home) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # No name is looked up and no host but this one reached, whatever a page asks for.
    alone = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    with sync_playwright() as tool:
        found = tool.chromium.launch(executable_path=chromium(), args=alone)
        try:
            yield found
        finally:
            found.close()


class Desk:
    """The page in a window, and what went wrong in it."""

    def __init__(self, browser: Browser, service: Served, **options: Any) -> None:
        self.address = service.address + "/"
        self.context = browser.new_context(accept_downloads=True, **options)
        self.context.add_init_script(WATCH)
        self.context.add_init_script(FIND_MAP)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(30_000)
        self.errors: list[str] = []
        self.elsewhere: list[str] = []
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type in {"error", "warning"} else None)
        self.page.on("pageerror", lambda e: self.errors.append(str(e)))
        self.page.on("request", lambda r: self._seen(r.url))

    def _seen(self, url: str) -> None:
        if not url.startswith((self.address, "data:", "blob:" + self.address)):
            self.elsewhere.append(url)

    def open(self, hash_: str = "") -> Page:
        self.page.goto(self.address + hash_)
        self.page.wait_for_selector("html[data-ready=yes]")
        return self.page

    @contextmanager
    def answered(self) -> Iterator[None]:
        """Wait until what is done within has brought one more answer."""
        count = "document.documentElement.dataset.asked || '0'"
        before = self.page.evaluate(count)
        yield
        self.page.wait_for_function(f"before => ({count}) !== before", arg=before)

    def ask(self, text: str) -> None:
        with self.answered():
            self.page.fill("#search", text)
            self.page.press("#search", "Enter")

    def record(self) -> dict[str, Any]:
        """Return the record that the page hands out."""
        with self.page.expect_download() as found:
            self.page.click("#record-json")
        return json.loads(Path(found.value.path()).read_bytes())

    def point(self, place: tuple[float, float]) -> tuple[float, float]:
        """Return where a place is in the window."""
        where = """place => {
            const at = theMap.latLngToContainerPoint(place);
            const box = theMap.getContainer().getBoundingClientRect();
            return [box.x + at.x, box.y + at.y];
        }"""
        x, y = self.page.evaluate(where, list(place))
        return x, y

    def faults(self) -> list[str]:
        """Return errors, breaches of policy, what ran that must not, and what was asked of others."""
        found = [error for error in self.errors if "Failed to load resource" not in error]
        found += [f"policy: {breach}" for breach in self.page.evaluate("window.breaches")]
        found += [f"ran: {what}" for what in self.page.evaluate("window.ran")]
        return found + [f"asked elsewhere: {url}" for url in self.elsewhere]


@pytest.fixture(scope="module")
def window(browser: Browser, service: Served) -> Iterator[Desk]:
    desk = Desk(browser, service, **DESK)
    desk.open()
    yield desk
    desk.context.close()


@pytest.fixture
def desk(window: Desk) -> Iterator[Desk]:
    """Return the one window, with nothing asked; what a test leaves wrong in it is that test's fault."""
    window.page.evaluate("document.querySelectorAll('dialog[open]').forEach((dialog) => dialog.close())")
    window.page.evaluate("location.hash = 'view=one'")
    window.page.wait_for_selector("#welcome")
    yield window
    assert window.faults() == []


# -- one site ------------------------------------------------------------------------------------------


def test_a_lot_and_an_address_get_the_record_of_check(desk: Desk, home: Path) -> None:
    for typed in (LOT, ADDRESS):
        desk.ask(typed)
        checked = check(home, typed)
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


def test_the_marker_dragged_over_the_line_changes_municipality_and_tier(desk: Desk, home: Path) -> None:
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
    assert record == check(home, LOT, "--at", f"{lat},{lon}")
    # What was typed is a button away, and so is the question before.
    with desk.answered():
        page.click("#put-back")
    assert desk.record()["site"]["pins"] == ["0408_81_1"]
    with desk.answered():
        page.go_back()
    assert page.inner_text("#answer-title") == "Collingswood Borough, Camden County"


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


def test_facts_and_the_day_change_the_answer(desk: Desk) -> None:
    page = desk.page
    desk.ask(METROPARK)
    row = "[data-finding=highlands_receiving_area]"
    assert page.get_attribute(row, "data-outcome") == "undetermined"
    page.click(f"{row} button:has-text('State:')")
    page.wait_for_selector("#fact-highlands_receiving_area")
    assert page.evaluate("document.activeElement.name") == "fact-highlands_receiving_area"
    page.keyboard.press("Tab")
    page.check("#fact-highlands_receiving_area input[value=yes]")
    page.fill("#facts-search", "capital investment")
    page.fill("#fact-capital_investment-value", "ten")
    page.click("text=Use these facts")
    assert "Expected a number of dollars" in page.inner_text("#facts-problem")
    page.fill("#fact-capital_investment-value", "20,000,000")
    with desk.answered():
        page.click("text=Use these facts")
    assert page.get_attribute(row, "data-outcome") == "yes"
    assert page.inner_text("#facts-count") == "(2)"
    record = desk.record()
    assert record["site"]["facts"] == {"capital_investment": 20_000_000.0, "highlands_receiving_area": True}
    assert "highlands_receiving_area=yes" in page.url.replace("%3D", "=")
    with desk.answered():
        page.fill("#as-of", "2016-01-04")
        page.press("#as-of", "Tab")
    assert desk.record()["as_of"] == "2016-01-04"
    page.fill("#as-of", "1999-01-01")
    assert page.get_attribute("#as-of", "aria-invalid") == "true"
    assert "A day from" in page.inner_text("#as-of-note")
    # No answer of another day stands beside the day that is shown, and no table is taken for it.
    assert "There is no answer: 1999-01-01" in page.inner_text("#problem")
    assert page.query_selector("#record-json") is None
    assert "No table is taken: 1999-01-01" in page.text_content("#many-day")
    with desk.answered():
        page.fill("#as-of", "2017-04-17")
    assert desk.record()["as_of"] == "2017-04-17"
    assert page.inner_text("#answer-day") == "As of 2017-04-17"
    assert page.inner_text("#problem") == ""


def test_readings_of_the_law_are_chosen_and_change_the_answer(desk: Desk, home: Path) -> None:
    page = desk.page
    desk.ask(METROPARK)
    before = desk.record()
    page.click("#readings-open")
    page.wait_for_selector("#reading-A11")
    offered = page.evaluate("[...document.querySelectorAll('#readings-list fieldset')].map((one) => one.id)")
    with httpx.Client() as client:
        known = client.get(desk.address + "api/v1/readings").json()["readings"]
    # Every question that can be read otherwise is there, and as the service lists them.
    wanted = {f"reading-{one['id']}" for one in known if one["of"] == "areas" and one["kind"] == "option"}
    assert set(offered) == wanted
    assert page.is_checked("#reading-A11 input[value=loose]")
    page.focus("#reading-A11 input[value=loose]")
    page.keyboard.press("ArrowDown")
    assert page.is_checked("#reading-A11 input[value=strict]")
    with desk.answered():
        page.click("text=Use these readings")
    assert page.inner_text("#readings-count") == "(1)"
    assert "(A11): " in page.inner_text("#read-as")
    record = desk.record()
    assert record == check(home, METROPARK, "--reading", "A11=strict") != before
    assert "A11 strict" in page.text_content("#many-readings")
    link = page.evaluate("window.location.hash")
    page.goto("about:blank")
    desk.open(link + "&reading=A99%3Dodd&reading=A11%3Dnone")
    page.wait_for_selector("#record-json")
    assert "A11=none" in page.inner_text("#problem")
    assert "A99=odd" in page.inner_text("#problem")
    page.click("#readings-open")
    page.wait_for_selector("#reading-A11")
    page.click("#readings-clear")
    with desk.answered():
        page.click("text=Use these readings")
    assert desk.record() == before


def _fill_project(page: Page) -> None:
    page.select_option("#credits-business-0-industry-value", "manufacturing")
    page.fill("#credits-building-0-gross_leasable_sqft-value", "50,000")
    page.select_option("#credits-building-0-premises-value", "industrial")
    page.select_option("#credits-building-0-construction-value", "rehabilitation")
    page.click("#credits-jobs-add")
    assert page.evaluate("document.activeElement.id") == "credits-jobs-0-title"
    page.select_option("#credits-jobs-0-kind-value", "new")
    page.fill("#credits-jobs-0-count-value", "30")
    page.check("#credits-jobs-0-health_benefits input[value=yes]")


def test_a_project_has_its_credit_beside_the_findings(desk: Desk, home: Path, tmp_path: Path) -> None:
    page = desk.page
    desk.ask(LOT)
    page.click("#credits-open")
    page.wait_for_selector("#credits-list details")
    page.click("text=Compute the credit")
    assert "An answer is needed" in page.inner_text("#credits-problem")
    assert page.evaluate("document.activeElement.id") == "credits-business-0-industry-value"
    _fill_project(page)
    page.fill("#credits-jobs-0-count-value", "many")
    page.click("text=Compute the credit")
    assert "Expected a plain number" in page.inner_text("#credits-problem")
    page.fill("#credits-jobs-0-count-value", "30")
    page.click("text=Compute the credit")
    page.wait_for_selector("#credit-award", timeout=120_000)
    project = {
        "business": {"industry": "manufacturing"},
        "buildings": [{"gross_leasable_sqft": 50_000, "premises": "industrial", "construction": "rehabilitation"}],
        "jobs": [{"kind": "new", "count": 30, "health_benefits": True}],
    }
    file = tmp_path / "project.json"
    file.write_text(json.dumps(project), encoding="utf-8")
    command = [sys.executable, "-m", "grownj_geo", "credits", "project", str(file), "--site", LOT, "--json"]
    environment = {**os.environ, "GROWNJ_HOME": str(home)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    award = json.loads(done.stdout)["award"]
    assert f"${float(award['low']):,.0f} to ${float(award['high']):,.0f} in all" in page.inner_text("#credit-award")
    assert "state " not in page.inner_text("#credit-card ul")
    # It follows the site, is in no link, and can be changed.
    assert "manufacturing" not in page.evaluate("window.location.href")
    desk.ask(METROPARK)
    page.wait_for_selector("#credit-award", timeout=120_000)
    there = page.inner_text("#credit-award")
    page.click("#credit-change")
    page.wait_for_selector("#credits-jobs-0-count-value")
    assert page.input_value("#credits-jobs-0-count-value") == "30"
    page.click("text=Take this entry out")
    assert page.evaluate("document.activeElement.id") == "credits-jobs-add"
    # Without any entry of jobs it would not be known that there are none.
    page.click("text=Compute the credit")
    assert "an entry is needed" in page.inner_text("#credits-problem")
    page.click("#credits-jobs-add")
    page.select_option("#credits-jobs-0-kind-value", "new")
    page.fill("#credits-jobs-0-count-value", "0")
    with desk.answered():
        page.click("text=Compute the credit")
    page.wait_for_selector("#credit-card:has-text('eligible: no')", timeout=120_000)
    assert page.inner_text("#credit-award") != there


def test_the_preparer_and_the_day_stand_on_reports(desk: Desk) -> None:
    page = desk.page
    desk.ask(METROPARK)
    page.click("#report-stated")
    page.fill("#report-preparer-value", "A. <b>Analyst")
    page.fill("#report-date-value", "2 May 2017")
    page.check("#report-map input[value=no]")
    page.click("text=Keep it")
    assert page.inner_text("#on-report") == "On the report: A. <b>Analyst; 2 May 2017."
    with page.expect_download(timeout=90_000) as found:
        page.click("#report-html")
    content = Path(found.value.path()).read_text(encoding="utf-8")
    assert "A. &lt;b&gt;Analyst" in content
    assert "2 May 2017" in content
    assert "<svg" not in content
    # It stays for the next site.
    desk.ask(LOT)
    assert "A. <b>Analyst" in page.inner_text("#on-report")


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
        assert found.value.suggested_filename.endswith(what)
        assert Path(found.value.path()).read_bytes()[: len(begins)].lower() == begins.lower()


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


# -- parcels -------------------------------------------------------------------------------------------


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


# -- for everybody -------------------------------------------------------------------------------------

RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
}


# What axe leaves open where something lies over something else: each text against the ground that it stands on.
PALE = """() => {
  const parts = (colour) => colour.match(/[0-9.]+/g).map(Number);
  const linear = (v) => (v <= 10.3 ? v / 3294.6 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const bright = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const solid = (one) => (parts(getComputedStyle(one).backgroundColor)[3] ?? 1) > 0.9;
  const outside = "svg, option, .leaflet-map-pane, .unseen";
  const found = [];
  let seen = 0;
  for (const one of document.querySelectorAll("body *")) {
    const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== "");
    if (!own || !one.checkVisibility({ visibilityProperty: true }) || one.closest(outside)) continue;
    let ground = one;
    while (!solid(ground)) ground = ground.parentElement;
    const [ink, paper] = [getComputedStyle(one).color, getComputedStyle(ground).backgroundColor].map(parts).map(bright);
    const contrast = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    seen += 1;
    if (contrast < 4.5) found.push("pale (" + contrast.toFixed(1) + "): " + one.outerHTML.slice(0, 160));
  }
  return seen > 20 ? found : ["no text was looked at"];
}"""


def breaches(page: Page, *, colours_only: bool = False) -> list[str]:
    """Return what axe finds wrong, in words, and texts that are hard to read."""
    if colours_only:
        return page.evaluate(PALE)
    found = Axe().run(page, options=RULES).response["violations"]
    wrong = [f"{rule['id']} ({rule['impact']}): {node['html'][:160]}" for rule in found for node in rule["nodes"]]
    return wrong + page.evaluate(PALE)


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_keeps_anybody_out(browser: Browser, service: Served, *, dark: bool) -> None:
    # What is dark has the same elements in other colours.
    options = {"viewport": {"width": 768, "height": 1024}, "color_scheme": "dark"} if dark else DESK
    desk = Desk(browser, service, **options)
    page = desk.open()
    page.wait_for_selector("#map[data-day]")
    assert breaches(page) == []
    desk.ask(METROPARK)
    page.evaluate("document.querySelectorAll('#answer details').forEach((part) => { part.open = true; })")
    assert breaches(page, colours_only=dark) == []
    page.click("[data-finding=transit_oriented_development] button:has-text('Why?')")
    page.wait_for_selector("#why-body ul.tree")
    assert breaches(page, colours_only=dark) == []
    page.click("#why [data-close]")
    page.click("#facts-open")
    page.wait_for_selector(".fact")
    page.evaluate("document.querySelectorAll('#facts details').forEach((part) => { part.open = true; })")
    assert breaches(page, colours_only=dark) == []
    page.click("#facts [data-close]")
    page.click("#readings-open")
    page.wait_for_selector("#reading-A11")
    assert breaches(page, colours_only=dark) == []
    page.click("#readings [data-close]")
    page.click("#credits-open")
    page.wait_for_selector("#credits-list details")
    _fill_project(page)
    page.evaluate("document.querySelectorAll('#credits details').forEach((part) => { part.open = true; })")
    assert breaches(page, colours_only=dark) == []
    page.click("text=Compute the credit")
    page.wait_for_selector("#credit-award", timeout=120_000)
    page.evaluate("document.querySelectorAll('#credit details').forEach((part) => { part.open = true; })")
    assert breaches(page, colours_only=dark) == []
    page.click("#report-stated")
    page.wait_for_selector("#report-preparer-value")
    assert breaches(page, colours_only=dark) == []
    page.click("#report [data-close]")
    page.click("#draw-open")
    assert breaches(page, colours_only=dark) == []
    desk.ask(FAR_TWIN)
    assert breaches(page, colours_only=dark) == []
    for view in ("Many sites", "Layers"):
        page.click(f"nav >> text={view}")
        page.wait_for_selector("#layers[hidden], [data-layer]", state="attached")
        assert breaches(page, colours_only=dark) == []
    assert desk.faults() == []
    desk.context.close()


def test_a_phone_has_it_all_in_one_column(browser: Browser, service: Served) -> None:
    desk = Desk(browser, service, **{**PHONE, "viewport": {"width": 360, "height": 740}})
    page = desk.open()
    desk.ask(METROPARK)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    # The map and below it the answer are what is seen, without a scroll.
    assert page.query_selector("#headline").bounding_box()["y"] < 740
    assert breaches(page) == []
    for name, first in (
        ("readings", "#reading-A11"),
        ("credits", "#credits-business-0-industry"),
        ("report", "#report-preparer"),
    ):
        page.tap("#report-stated" if name == "report" else f"#{name}-open")
        page.wait_for_selector(first)
        wide = f"document.querySelector('#{name} .dialog-body').scrollWidth <= 360"
        assert page.evaluate(wide), name
        page.tap(f"#{name} [data-close]")
    page.tap("text=Many sites")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.tap("nav >> text=One site")
    page.tap("#draw-open")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    small = """[...document.querySelectorAll('button, input, select, summary')]
        .filter((one) => one.offsetParent !== null)
        .filter((one) => one.getBoundingClientRect().height < 24 && one.type !== 'checkbox' && one.type !== 'radio')
        .map((one) => one.outerHTML.slice(0, 120))"""
    assert page.evaluate(small) == []
    assert desk.faults() == []
    desk.context.close()


def test_a_token_is_asked_for_once(browser: Browser, tmp_path: Path) -> None:
    secret = tmp_path / "token.txt"
    secret.write_text("open-sesame-open-sesame\n", encoding="utf-8")
    with serving(tmp_path / "home", "--token-file", str(secret)) as service:
        desk = Desk(browser, service, **DESK)
        page = desk.page
        page.goto(desk.address)
        page.wait_for_selector("#token[open]")
        assert breaches(page) == []
        page.fill("#token-field", "wrong-wrong-wrong-wrong")
        page.press("#token-field", "Enter")
        page.wait_for_selector("#token-problem:not(:empty)")
        page.fill("#token-field", "open-sesame-open-sesame")
        page.press("#token-field", "Enter")
        page.wait_for_selector("html[data-ready=yes]")
        desk.ask(METROPARK)
        assert page.inner_text("#answer-title") == "Woodbridge Township, Middlesex County"
        # As `grownj serve --open` opens it; the token does not stay in the address.
        other = Desk(browser, service, **DESK)
        other.open("#token=open-sesame-open-sesame")
        assert "sesame" not in other.page.url
        assert desk.faults() + other.faults() == []
