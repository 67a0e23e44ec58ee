"""The page of `grownj serve` in a window, for the tests that work with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from browser import WATCH, chromium
from playwright.sync_api import sync_playwright
from serving import load_parcels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page
    from serving import Served

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


def parcels_of_page(folder: Path) -> Path:
    """Return a store with the parcels that the tests of the page know."""
    features = [
        {"type": "Feature", "properties": {"PAMS_PIN": pin, "PROP_LOC": address}, "geometry": square(place)}
        for pin, address, place in PARCELS
    ]
    table = folder / "parcels.geojson"
    table.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    load_parcels(folder / "home", table)
    return folder / "home"


@contextmanager
def lonely_browser() -> Iterator[Browser]:
    """Yield a browser that looks up no name and reaches no host but this one, whatever a page asks for."""
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


def fill_project(page: Page) -> None:
    """Fill in the form of a project as far as its credit needs it."""
    page.select_option("#credits-business-0-industry-value", "manufacturing")
    page.fill("#credits-building-0-gross_leasable_sqft-value", "50,000")
    page.select_option("#credits-building-0-premises-value", "industrial")
    page.select_option("#credits-building-0-construction-value", "rehabilitation")
    page.click("#credits-jobs-add")
    assert page.evaluate("document.activeElement.id") == "credits-jobs-0-title"
    page.select_option("#credits-jobs-0-kind-value", "new")
    page.fill("#credits-jobs-0-count-value", "30")
    page.check("#credits-jobs-0-health_benefits input[value=yes]")
