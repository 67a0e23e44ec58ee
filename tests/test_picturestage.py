"""Names in a picture keep clear of each other."""

from __future__ import annotations

import shapely
from hypothesis import given
from hypothesis import strategies as st

from grownj_geo.picturestage import Taken

FEET = st.floats(0, 100, width=32)


@given(st.lists(st.tuples(FEET, FEET, FEET, FEET), max_size=40))
def test_what_stands_somewhere_is_found_and_nothing_else(corners: list[tuple[float, float, float, float]]) -> None:
    taken, kept = Taken(), []
    for x, y, wide, high in corners:
        box = shapely.box(x, y, x + wide + 1, y + high + 1)
        free = not any(shapely.intersects(box, other) for other in kept)
        assert taken.meets(box.bounds) is not free
        if free:
            taken.add(box.bounds)
            kept.append(box)
