"""What a page holds: bytes that come back as they were, text that cannot leave its element, a policy by checksums."""

from __future__ import annotations

import base64
import hashlib
import json

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from grownj_geo.mapcode import (
    Texts,
    coded_bytes,
    coded_numbers,
    coded_polygons,
    content_policy,
    script_json,
    visible,
)


def numbers_of(text: str) -> list[int]:
    """Read numbers as the page's script does."""
    found, value, shift = [], 0, 0
    for byte in base64.b64decode(text):
        value += (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(-(value + 1) // 2 if value % 2 else value // 2)
            value = shift = 0
    return found


def polygons_of(text: str, count: int, per_degree: float) -> list[shapely.Geometry]:
    """Read polygons as the page's script does."""
    numbers = iter(numbers_of(text))
    x = y = 0
    found = []
    for _ in range(count):
        parts = []
        for _ in range(next(numbers)):
            rings = []
            for _ in range(next(numbers)):
                ring = []
                for _ in range(next(numbers)):
                    x, y = x + next(numbers), y + next(numbers)
                    ring.append((x / per_degree, y / per_degree))
                rings.append(ring)
            parts.append(shapely.Polygon(rings[0], rings[1:]))
        found.append(shapely.MultiPolygon(parts))
    return found


@given(st.lists(st.integers(-(2**50), 2**50), max_size=40))
def test_numbers_come_back(values: list[int]) -> None:
    assert numbers_of(coded_numbers(np.array(values, dtype=np.int64))) == values


def test_bytes_come_back() -> None:
    assert list(base64.b64decode(coded_bytes(np.array([0, 4, 255])))) == [0, 4, 255]


def test_polygons_come_back_with_parts_and_holes() -> None:
    hole = shapely.Polygon(shapely.box(-75, 39, -74, 40).exterior, [shapely.box(-74.6, 39.4, -74.5, 39.5).exterior])
    several = shapely.MultiPolygon([shapely.box(-74.2, 40.1, -74.1, 40.2), hole])
    areas = [hole, several, shapely.box(-75.5, 39.5, -75.4, 39.6)]
    back = polygons_of(coded_polygons(areas, per_degree=1e7), 3, 1e7)
    for area, found in zip(areas, back, strict=True):
        assert shapely.symmetric_difference(area, found).area < 1e-7
        assert shapely.get_num_geometries(found) == shapely.get_num_geometries(area)
    assert len(back[1].geoms[1].interiors) == 1


@given(st.lists(st.lists(st.tuples(st.integers(-180, 170), st.integers(-80, 70)), min_size=1, max_size=3), max_size=4))
def test_any_polygons_come_back(corners: list[list[tuple[int, int]]]) -> None:
    areas = [shapely.MultiPolygon([shapely.box(x, y, x + 3, y + 4) for x, y in group]) for group in corners]
    back = polygons_of(coded_polygons(areas, per_degree=1e5), len(areas), 1e5)
    assert [[p.bounds for p in area.geoms] for area in back] == [[p.bounds for p in area.geoms] for area in areas]


def test_an_empty_area_keeps_its_place() -> None:
    areas = [shapely.Polygon(), shapely.box(0, 0, 1, 1), shapely.Polygon()]
    back = polygons_of(coded_polygons(areas, per_degree=100), 3, 100)
    assert [area.is_empty for area in back] == [True, False, True]


HOSTILE = ["</script><script>alert(1)</script>", "<!--<script>", "&lt;", "\u2028\u2029", "]]>", "`${1}`", "\\u003c"]


@pytest.mark.parametrize("text", HOSTILE)
def test_json_stays_inside_its_element_and_comes_back(text: str) -> None:
    written = script_json({"name": text})
    assert not set(written) & set("<>&\u2028\u2029")
    assert json.loads(written) == {"name": text}


@given(st.text())
def test_any_text_comes_back(text: str) -> None:
    shown = visible(text)
    assert json.loads(script_json([shown])) == [shown]
    shown.encode("utf-8")


def test_a_number_that_json_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json([float("nan")])


def test_text_that_turns_directions_or_hides_is_shown_by_number() -> None:
    assert visible("a\u202eb\u2066c\u0000d\u200ee") == "a⟨U+202E⟩b⟨U+2066⟩c⟨U+0000⟩d⟨U+200E⟩e"
    assert visible("Éclair Ω Ж שלום 漢字 \N{BUILDING CONSTRUCTION}") == "Éclair Ω Ж שלום 漢字 \N{BUILDING CONSTRUCTION}"
    assert visible("two\r\nlines\tof text") == "two lines of text"
    assert visible("lone \ud800 half") == "lone ⟨U+D800⟩ half"


def test_no_text_of_the_page_turns_a_direction_whatever_it_is_of() -> None:
    told = script_json({"sources": ["Elm\u202eStreet"], "words": {"\u2067title": "a\u200fb"}})
    assert json.loads(told) == {"sources": ["Elm⟨U+202E⟩Street"], "words": {"⟨U+2067⟩title": "a⟨U+200F⟩b"}}


def test_texts_stand_once() -> None:
    texts = Texts()
    assert [texts.place(t) for t in ("a", "b", "a", "", None)] == [0, 1, 0, -1, -1]
    assert texts.listed == ["a", "b"]


def test_the_policy_names_the_checksums_of_scripts_and_styles_alone() -> None:
    page = (
        "<style>p{}</style><script>let a = '<b>';</script>"
        '<script type="application/json">{"x":1}</script><script src="x.js"></script>'
    )
    policy = content_policy(page)

    def mark(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    assert mark("let a = '<b>';") in policy
    assert mark("p{}") in policy
    assert mark('{"x":1}') not in policy
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert content_policy("<p>").count("'none'") == 5
