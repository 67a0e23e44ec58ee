"""The page for everybody, in a real browser: by axe, on a phone, in the dark, behind a token."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import PHONE
from desk import DESK, FAR_TWIN, METROPARK, Desk, fill_project
from serving import serving

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page
    from serving import Served

pytestmark = [pytest.mark.browser, pytest.mark.slow]


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
def test_nothing_keeps_anybody_out(alone_browser: Browser, page_service: Served, *, dark: bool) -> None:
    # What is dark has the same elements in other colours.
    options = {"viewport": {"width": 768, "height": 1024}, "color_scheme": "dark"} if dark else DESK
    desk = Desk(alone_browser, page_service, **options)
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
    fill_project(page)
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


def test_a_phone_has_it_all_in_one_column(alone_browser: Browser, page_service: Served) -> None:
    desk = Desk(alone_browser, page_service, **{**PHONE, "viewport": {"width": 360, "height": 740}})
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


def test_a_token_is_asked_for_once(alone_browser: Browser, tmp_path: Path) -> None:
    secret = tmp_path / "token.txt"
    secret.write_text("open-sesame-open-sesame\n", encoding="utf-8")
    with serving(tmp_path / "home", "--token-file", str(secret)) as service:
        desk = Desk(alone_browser, service, **DESK)
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
        other = Desk(alone_browser, service, **DESK)
        other.open("#token=open-sesame-open-sesame")
        assert "sesame" not in other.page.url
        assert desk.faults() + other.faults() == []
