"""Text in pictures: lines of a width, signs that the font has, and the font inside an SVG."""

from __future__ import annotations

import base64
import io
import re
from functools import lru_cache
from textwrap import wrap

from grownj_geo.mapcode import visible

__all__ = ["FONT", "font_inside", "printable", "wrapped"]

FONT = "DejaVu Sans"
"""Comes with matplotlib, and has Latin, Greek and Cyrillic."""


def wrapped(words: str, inches: float, *, size: float) -> list[str]:
    """Return words in lines that are so many inches wide at most, at a size in points."""
    return wrap(words, max(int(inches * 72 / (0.56 * size)), 12)) or [""]


@lru_cache(maxsize=1)
def _font_file() -> str:
    from matplotlib.font_manager import FontProperties, findfont  # noqa: PLC0415 - an extra

    return str(findfont(FontProperties(family=FONT)))


@lru_cache(maxsize=1)
def _known_signs() -> frozenset[int]:
    from matplotlib.ft2font import FT2Font  # noqa: PLC0415 - an extra

    return frozenset(FT2Font(_font_file()).get_charmap())


def printable(text: str) -> str:
    """Return text with a mark for every sign that the font does not have."""
    known = _known_signs()
    return "".join(c if ord(c) in known or c == "\n" else "\ufffd" for c in visible(text))


def font_inside(svg: bytes) -> bytes:
    """Return an SVG with those signs of its fonts inside that it uses."""
    from fontTools import subset  # noqa: PLC0415 - comes with matplotlib
    from fontTools.ttLib import TTFont  # noqa: PLC0415 - same
    from matplotlib.font_manager import FontProperties, findfont  # noqa: PLC0415 - an extra

    text = svg.decode("utf-8")
    signs = set(re.sub(r"<[^>]*>|&[a-z]+;", " ", text)) | set("&<>\"'")
    faces = []
    for weight in ("normal", "bold"):
        font = TTFont(findfont(FontProperties(family=FONT, weight=weight)), recalcTimestamp=False)
        dropped = ["FFTM", "GPOS", "GSUB", "GDEF"]
        options = subset.Options(layout_features=[], hinting=False, notdef_outline=True, drop_tables=dropped)
        cut = subset.Subsetter(options)
        cut.populate(unicodes=[ord(sign) for sign in signs])
        cut.subset(font)
        font.flavor = "woff"
        target = io.BytesIO()
        font.save(target)
        data = base64.b64encode(target.getvalue()).decode("ascii")
        faces.append(
            f"@font-face {{ font-family: '{FONT}'; font-weight: {weight}; "
            f"src: url(data:font/woff;base64,{data}) format('woff'); }}"
        )
    style = f"<style>{' '.join(faces)}</style>"
    return re.sub(r"(<svg\b[^>]*>)", lambda found: found.group(1) + "\n " + style, text, count=1).encode()
