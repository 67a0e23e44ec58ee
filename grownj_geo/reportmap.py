"""The map of one site for its report: the picture, what it shows in words, and its legend."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Literal

import numpy as np

from grownj_geo.pictures import draw_view, picture_bytes
from grownj_geo.reportblocks import Key, Picture
from grownj_geo.reportwords import cut_words, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grownj_geo.determine import Engine
    from grownj_geo.mapareas import MapAreas
    from grownj_geo.mapground import DrawnClass
    from grownj_geo.mapsites import MapSites

__all__ = ["MAP_INCHES", "inlined", "report_map"]

MAP_INCHES = (7.0, 3.0)

_PROLOG = re.compile(r"^.*?(?=<svg\b)", re.DOTALL)
_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
_STYLE = re.compile(r"\s*<style\b[^>]*>.*?</style>", re.DOTALL)
_NAMES = re.compile(r'(\bid="|(?:xlink:)?href="#|url\(#)')


def report_map(
    engine: Engine, areas: MapAreas, site: MapSites, name: str, mark: str, *, kind: Literal["svg", "png"] = "svg"
) -> Picture | None:
    """Return the map around one site; None where the site has no place.

    Parameters
    ----------
    engine, areas
        What was asked, and what is drawn below.
    site
        The site, alone.
    name
        What it is called.
    mark
        Makes the names inside an SVG unique in a page.
    kind
        SVG for pages, PNG for what cannot take that.

    Raises
    ------
    LayerFault
        ``not_installed`` where matplotlib is not there.
    """
    if not site.placed.any():
        return None
    figure, seen = draw_view(engine, areas, site, inches=MAP_INCHES)
    if kind == "svg":
        for text in figure.axes[0].texts:
            # A halo makes outlines of letters; on a ground of their own they stay letters.
            text.set_path_effects([])
            text.set_bbox({"facecolor": "white", "alpha": 0.85, "edgecolor": "none", "pad": 0.8})
    shown = cut_words(name, 80)
    title, words = f"Map of {shown}", _words(site, seen)
    content = picture_bytes(figure, kind, with_font=False)
    return Picture(
        content=inlined(content, mark, title, words) if kind == "svg" else content,
        kind=kind,
        title=title,
        words=words,
        keys=tuple(Key(plain(k.label), k.look.colour, k.look.pattern, k.look.opacity) for k in seen),
        below=_below(site, areas, seen),
    )


def inlined(svg: bytes, mark: str, title: str, words: str) -> bytes:
    r"""Return an SVG as an element of a page, with a name and a description for those who do not see it.

    Prolog, style and metadata are left out; the names inside become its own.

    Examples
    --------
    >>> made = inlined(b'<?xml version="1.0"?><svg><g id="a"/><use href="#a"/></svg>', "m1-", "A & B", "both")
    >>> print(made.decode().replace("><", ">\n<"))
    <svg role="img" aria-labelledby="m1-title m1-desc">
    <title id="m1-title">A &amp; B.</title>
    <desc id="m1-desc">both</desc>
    <g id="m1-a"/>
    <use href="#m1-a"/>
    </svg>
    """
    text = _STYLE.sub("", _METADATA.sub("", _PROLOG.sub("", svg.decode("utf-8"), count=1)))
    text = _NAMES.sub(lambda found: found.group() + mark, text)
    begin, end, rest = text.partition(">")
    attributes = f' role="img" aria-labelledby="{mark}title {mark}desc"'
    told = f'<title id="{mark}title">{escape(title)}.</title><desc id="{mark}desc">{escape(words)}</desc>'
    return f"{begin}{attributes}{end}{told}{rest}".encode()


def _words(site: MapSites, seen: Sequence[DrawnClass]) -> str:
    """Return what the map shows."""
    lines = site.panels[0].lines if site.panels else ()
    lon, lat = (float(v) for v in site.lonlat[0])
    words = [f"The site at latitude {lat:.5f}, longitude {lon:.5f}, north up, with municipal lines."]
    if seen:
        words.append(f"In view: {'; '.join(known.label for known in seen)}.")
    else:
        words.append("No area that is drawn is in view.")
    if lines:
        words.append(f"The nearest deciding line: {lines[0].words}.")
    return plain(" ".join(words))


def _below(site: MapSites, areas: MapAreas, seen: Sequence[DrawnClass]) -> str:
    dashed = any(area.sureness == "possible" for known in seen for area in known.areas)
    words = ["Drawn to look at: distances decide, not the picture."]
    words += ["Dashed and paler ground may belong."] * dashed
    titles = [n.label for n in areas.not_drawn]
    words += [f"Not drawn, as their layers are not loaded: {len(titles)} classes of area."] * bool(titles)
    amount = int(np.max(site.floors, initial=-1))
    words.append(f"The mark is the site{f' (${amount:,} surely reached)' if amount >= 0 else ''}.")
    return " ".join(words)
