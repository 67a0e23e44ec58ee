"""How long maps take to write, how large they are, and how soon a browser without a network has them open.

Run alone, or as a part of scripts/benchmark.py. Asserts nothing.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import shapely

from grownj_geo.atlas import load_atlas
from grownj_geo.units import to_lonlat

__all__ = ["MapFigures", "measure_maps"]

SEED = 34
SIZES = (0, 1_000, 150_000)
LARGEST_MB, LONGEST_WRITE_S, LONGEST_OPEN_S = 6.0, 5.0, 5.0
"""What is aimed at: the first two for 1,000 sites with all shipped layers, the last for 150,000."""
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class MapFigures(NamedTuple):
    """Figures of one map.

    Attributes
    ----------
    sites
        How many sites it has.
    write_s, cpu_s
        Seconds from the command to the file, and of all its processes on processors.
    size_mb
        Of the file, in millions of bytes.
    open_s
        Seconds until a browser at 1440 pixels has it drawn and ready; None without a browser.
    pan_ms
        Milliseconds to draw it again after a move; None without a browser.
    """

    sites: int
    write_s: float
    cpu_s: float
    size_mb: float
    open_s: float | None
    pan_ms: float | None


def _table(path: Path, count: int) -> None:
    """Write so many places anywhere on the State's ground."""
    layer = load_atlas().layer("municipalities")
    if layer is None:
        raise SystemExit("The municipalities that ship cannot be used; reinstall the package.")
    ground = shapely.union_all([shapely.simplify(layer.geometry(i), 1_000) for i in range(len(layer))])
    shapely.prepare(ground)
    rng = np.random.default_rng(SEED)
    low, high = np.array(ground.bounds[:2]), np.array(ground.bounds[2:])
    xy = np.empty((0, 2))
    while len(xy) < count:
        more = rng.uniform(low, high, (2 * count, 2))
        xy = np.concatenate([xy, more[shapely.contains_xy(ground, more[:, 0], more[:, 1])]])
    lon, lat = to_lonlat(xy[:count, 0], xy[:count, 1])
    rows = (f"Candidate site {i},{x:.6f},{y:.6f}\n" for i, (x, y) in enumerate(zip(lon, lat, strict=True)))
    path.write_text("name,lon,lat\n" + "".join(rows), encoding="utf-8")


def _opened(path: Path) -> tuple[float, float] | None:
    """Return seconds until a page is ready in a browser without a network, and milliseconds of a redraw."""
    browser_path = next((found for name in _BROWSERS if (found := shutil.which(name))), None)
    if browser_path is None:
        return None
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.set_offline(True)
        page = context.new_page()
        started = time.monotonic()
        page.goto(path.absolute().as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        # Two frames later it has been painted.
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")
        open_s = time.monotonic() - started
        pan_ms = page.evaluate(
            "new Promise((done) => { const from = performance.now(); map.panBy([200, 0], {animate: false});"
            " requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - from))); })"
        )
        browser.close()
    return open_s, float(pan_ms)


def measure_maps(sizes: tuple[int, ...] = SIZES) -> list[MapFigures]:
    """Return the figures of a map of the areas alone, and of maps with so many sites."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for count in sizes:
            words = [sys.executable, "-m", "grownj_geo", "map"]
            if count:
                table = Path(folder) / f"{count}.csv"
                _table(table, count)
                words.append(str(table))
            target = Path(folder) / f"{count}.html"
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            started = time.monotonic()
            subprocess.run([*words, "-o", str(target)], check=True, capture_output=True)  # noqa: S603 - our own command
            write_s = time.monotonic() - started
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            opened = _opened(target)
            found.append(MapFigures(count, write_s, cpu_s, target.stat().st_size / 1e6, *(opened or (None, None))))
    return found


def _told(figures: MapFigures) -> str:
    opens = (
        "no browser" if figures.open_s is None else f"open in {figures.open_s:.1f} s, moved in {figures.pan_ms:.0f} ms"
    )
    return (
        f"{figures.sites:>9,} sites: written in {figures.write_s:.1f} s ({figures.cpu_s:.1f} s of processors), "
        f"{figures.size_mb:.1f} MB; {opens}"
    )


def _aims(figures: list[MapFigures]) -> dict[str, Any]:
    by_size = {f.sites: f for f in figures}
    aims: dict[str, Any] = {}
    if (thousand := by_size.get(1_000)) is not None:
        aims[f"1,000 sites: at most {LARGEST_MB:g} MB"] = thousand.size_mb <= LARGEST_MB
        aims[f"1,000 sites: written in at most {LONGEST_WRITE_S:g} s"] = thousand.write_s <= LONGEST_WRITE_S
    if (many := by_size.get(150_000)) is not None and many.open_s is not None:
        aims[f"150,000 sites: open in at most {LONGEST_OPEN_S:g} s"] = many.open_s <= LONGEST_OPEN_S
    return aims


def main() -> None:
    """Print the figures, and which aims they reach."""
    figures = measure_maps()
    if "--json" in sys.argv[1:]:
        print(json.dumps({"maps": [f._asdict() for f in figures], "aims": _aims(figures)}, indent=2))
        return
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    for one in figures:
        print(_told(one))
    for aim, holds in _aims(figures).items():
        print(f"{'holds' if holds else 'MISSED'}: {aim}")


if __name__ == "__main__":
    main()
