"""A real browser with no network, for the tests of pages."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DESK = {"viewport": {"width": 1440, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}

# Set in the page before anything of it runs: what a hostile text would do is seen, and so is every breach of policy.
WATCH = """
window.ran = [];
window.breaches = [];
document.addEventListener("securitypolicyviolation", (e) => breaches.push(e.violatedDirective + " " + e.blockedURI));
window.alert = (what) => ran.push(String(what));
"""


def chromium() -> str:
    """Return the browser; without one skip the test, or fail where it was promised."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        if os.environ.get("GROWNJ_NEEDS_BROWSER") == "1":
            pytest.fail("GROWNJ_NEEDS_BROWSER=1, and there is no chromium. Install Debian's package chromium.")
        pytest.skip("there is no chromium")
    return found


class Opened:
    """A page that was opened, and what went wrong in it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda m: self.errors.append(m.text) if m.type in {"error", "warning"} else None)
        page.on("pageerror", lambda e: self.errors.append(str(e)))
        page.on("request", lambda r: self.requests.append(r.url))

    def faults(self) -> list[str]:
        """Return console errors, breaches of policy, what ran that must not, and what was fetched."""
        found = list(self.errors)
        found += [f"policy: {breach}" for breach in self.page.evaluate("window.breaches")]
        found += [f"ran: {what}" for what in self.page.evaluate("window.ran")]
        found += [f"fetched: {url}" for url in self.requests if not url.startswith(("file:", "data:"))]
        return found


# The browser that is there for several pages, while it is.
_STANDING: list[Any] = []


@contextmanager
def launched() -> Iterator[Any]:
    """Start a browser. Nothing else may start one in this process meanwhile."""
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def one_browser() -> Iterator[None]:
    """Keep one browser for all pages that are opened meanwhile: each has a context of its own, as if it were alone."""
    with launched() as browser:
        _STANDING.append(browser)
        try:
            yield
        finally:
            _STANDING.pop()


@contextmanager
def opened(path: Path, *, ready: str = "html[data-ready=yes]", **options: Any) -> Iterator[Opened]:
    """Open a file in a browser that has no network, and wait until there is what shows that it is ready."""
    with nullcontext(_STANDING[-1]) if _STANDING else launched() as browser:
        context = browser.new_context(**(options or DESK))
        try:
            context.set_offline(True)
            context.add_init_script(WATCH)
            page = context.new_page()
            page.set_default_timeout(30_000)
            found = Opened(page)
            page.goto(path.absolute().as_uri())
            page.wait_for_selector(ready)
            yield found
        finally:
            context.close()
