"""Text in pictures: every sign that is printed is one that the font has, and is inside the file."""

from __future__ import annotations

import base64
import io
import re

from fontTools.ttLib import TTFont

from grownj_geo.picturetext import font_inside, printable, wrapped


def test_signs_that_the_font_has_stay_and_others_are_marked() -> None:
    assert printable("Éclair Ωμέγα Жёлтый ½ …") == "Éclair Ωμέγα Жёлтый ½ …"
    assert printable("漢字 \N{BUILDING CONSTRUCTION}") == "�� �"
    assert printable("a\u202eb") == "a⟨U+202E⟩b"


def test_lines_are_no_wider_than_asked() -> None:
    lines = wrapped("one two three four five six seven", 1.0, size=8)
    assert " ".join(lines) == "one two three four five six seven"
    assert max(map(len, lines)) <= 16
    assert wrapped("", 1.0, size=8) == [""]


def test_the_font_inside_an_svg_has_the_signs_that_it_uses_and_few_others() -> None:
    svg = font_inside('<?xml version="1.0"?>\n<svg xmlns="x"><text>Жёлтый &amp; Ω</text></svg>'.encode()).decode()
    faces = re.findall(r"base64,([A-Za-z0-9+/=]+)", svg)
    assert len(faces) == 2
    for face in faces:
        font = TTFont(io.BytesIO(base64.b64decode(face)))
        signs = set(font.getBestCmap())
        assert {ord(c) for c in "Жёлтый & Ω"} <= signs
        assert len(signs) < 30
