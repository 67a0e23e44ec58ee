"""Text in pictures and documents: lines of a width, signs that the font has, and the font inside an SVG."""

from __future__ import annotations

import base64
import io
import re
import unicodedata
from functools import lru_cache
from textwrap import wrap
from typing import TYPE_CHECKING

from grownj_geo.mapcode import visible
from grownj_geo.words import counted_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "FONT",
    "MARK",
    "font_files",
    "font_inside",
    "missing_signs",
    "numbers_of",
    "odd_signs",
    "odd_words",
    "printable",
    "wrapped",
]

FONT = "DejaVu Sans"
"""Comes with matplotlib, and has Latin, Greek and Cyrillic."""

MARK = "\ufffd"
"""Stands for a sign that the font does not have."""

_MOST_SIGNS = 12


def wrapped(words: str, inches: float, *, size: float) -> list[str]:
    """Return words in lines that are so many inches wide at most, at a size in points."""
    return wrap(words, max(int(inches * 72 / (0.56 * size)), 12)) or [""]


def font_files() -> dict[str, str]:
    """Return the files of the font that goes into documents, by weight."""
    from matplotlib import get_data_path  # noqa: PLC0415 - an extra, which brings the font

    folder = f"{get_data_path()}/fonts/ttf"
    return {"normal": f"{folder}/DejaVuSans.ttf", "bold": f"{folder}/DejaVuSans-Bold.ttf"}


@lru_cache(maxsize=1)
def _known_signs() -> frozenset[int]:
    from matplotlib.ft2font import FT2Font  # noqa: PLC0415 - an extra

    return frozenset(FT2Font(font_files()["normal"]).get_charmap())


def printable(text: str, *, lines: bool = False) -> str:
    """Return text with a mark for every sign that the font does not have; `odd_signs` says which.

    Parameters
    ----------
    lines
        Keep line ends.
    """
    known = _known_signs()
    parts = text.split("\n") if lines else [text]
    return "\n".join("".join(c if ord(c) in known else MARK for c in visible(part)) for part in parts)


def odd_signs(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the signs of texts that are not shown as they should be, each once, in the order of their numbers.

    They are those that the font does not have, and letters that run from right to left.

    Examples
    --------
    >>> odd_signs(["Elm Street, Λάρισα", "漢字 Lot", "字", "א"])
    ('א', '字', '漢')
    """
    return tuple(sorted({c for text in texts for c in visible(text) if _is_missing(c) or _is_turned(c)}))


def missing_signs(signs: Iterable[str]) -> list[str]:
    """Return those of some signs that the font does not have."""
    return [sign for sign in signs if _is_missing(sign)]


def _is_missing(sign: str) -> bool:
    return ord(sign) not in _known_signs()


def _is_turned(sign: str) -> bool:
    return unicodedata.bidirectional(sign) in {"R", "AL"}


def odd_words(signs: Sequence[str]) -> str:
    """Return what is to be said of odd signs where no browser shows the text; nothing where there are none.

    Examples
    --------
    >>> odd_words(("字", "漢"))
    'The font has no picture of 2 signs, shown as \ufffd: U+5B57, U+6F22.'
    >>> odd_words(("א",))
    'Letters that run from right to left stand here from left to right.'
    """
    missing, said = missing_signs(signs), []
    if missing:
        counted = counted_words(len(missing), "sign")
        said.append(f"The font has no picture of {counted}, shown as {MARK}: {numbers_of(missing)}.")
    if any(map(_is_turned, signs)):
        said.append("Letters that run from right to left stand here from left to right.")
    return " ".join(said)


def numbers_of(signs: Sequence[str]) -> str:
    """Return the numbers of signs in Unicode, the first of many."""
    shown = ", ".join(f"U+{ord(sign):04X}" for sign in signs[:_MOST_SIGNS])
    return shown + (f" and {len(signs) - _MOST_SIGNS:,} more" if len(signs) > _MOST_SIGNS else "")


def font_inside(svg: bytes) -> bytes:
    """Return an SVG with those signs of its fonts inside that it uses."""
    from fontTools import subset  # noqa: PLC0415 - comes with matplotlib
    from fontTools.ttLib import TTFont  # noqa: PLC0415 - same

    text = svg.decode("utf-8")
    signs = set(re.sub(r"<[^>]*>|&[a-z]+;", " ", text)) | set("&<>\"'")
    faces = []
    for weight, file in font_files().items():
        font = TTFont(file, recalcTimestamp=False)
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
