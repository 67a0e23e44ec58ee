"""What changed between two editions: exactly what was drawn, and the sites that it moves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import shapely
from drawn import NEWARK, around, draw, points, stations
from hypothesis import given
from hypothesis import strategies as st

from grownj_geo.atlas import Atlas
from grownj_geo.determine import Engine
from grownj_geo.errors import LayerError
from grownj_geo.layerdiff import changed_sites, diff_layers
from grownj_geo.rulebook import load_rulebook
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grownj_geo.layer import Layer

X, Y = 580_000.0, 690_000.0
SQFT = FT_PER_FTUS**2


def cell(column: int, row: int, *, width: float = 1000.0) -> shapely.Polygon:
    return shapely.box(X + 1000 * column, Y + 1000 * row, X + 1000 * column + width, Y + 1000 * row + 1000)


def planning(features: Sequence[tuple[shapely.Geometry, str]]) -> Layer:
    return draw("planning_areas", [(shape, {"SPDETAIL": detail}) for shape, detail in features])


BASE = [(cell(c, r), ("RURAL", "FRINGE", "SUBURBAN")[(c + r) % 3]) for c in range(4) for r in range(4)]


def kinds(old: Layer, new: Layer) -> list[tuple[str, int | None, int | None]]:
    return [(change.kind, change.old_row, change.new_row) for change in diff_layers(old, new).changes]


def test_an_edition_is_the_same_as_itself_in_any_order() -> None:
    diff = diff_layers(planning(BASE), planning(BASE[::-1]))
    assert diff.changes == ()
    assert (diff.same, diff.gained_sqft, diff.lost_sqft) == (16, 0, 0)


def test_a_feature_added_and_one_removed() -> None:
    diff = diff_layers(planning(BASE), planning([*BASE[1:], (cell(9, 9), "METROPOLITAN")]))
    assert [(c.kind, c.old_row, c.new_row) for c in diff.changes] == [("removed", 1, None), ("added", None, 16)]
    assert diff.same == 15
    assert diff.gained_sqft == pytest.approx(1e6 * SQFT)
    assert diff.lost_sqft == pytest.approx(1e6 * SQFT)


def test_a_line_that_moved_with_the_area_that_moved() -> None:
    moved = [*BASE[:5], (cell(1, 1, width=900.0), BASE[5][1]), *BASE[6:]]
    diff = diff_layers(planning(BASE), planning(moved))
    (change,) = diff.changes
    assert (change.kind, change.old_row, change.new_row) == ("moved", 6, 6)
    assert change.gained_sqft == 0
    assert change.lost_sqft == pytest.approx(100_000 * SQFT)
    assert "lost" in change.words


def test_a_new_class_on_the_same_ground() -> None:
    new = [(BASE[0][0], "METROPOLITAN"), *BASE[1:]]
    (change,) = diff_layers(planning(BASE), planning(new)).changes
    assert change.kind == "reclassified"
    assert change.fields == {"SPDETAIL": ("RURAL", "METROPOLITAN")}
    assert change.words == "reclassified: METROPOLITAN (SPDETAIL: RURAL -> METROPOLITAN)"


def test_moved_and_reclassified_counts_for_both() -> None:
    new = [(cell(0, 0, width=700.0), "METROPOLITAN"), *BASE[1:]]
    diff = diff_layers(planning(BASE), planning(new))
    assert [c.kind for c in diff.changes] == ["moved and reclassified"]
    assert (diff.count("moved"), diff.count("reclassified"), diff.count("added")) == (1, 1, 0)


@pytest.mark.parametrize(("width", "kind"), [(510.0, ["moved"]), (490.0, ["removed", "added"])])
def test_half_of_the_ground_in_common_makes_one_feature(width: float, kind: list[str]) -> None:
    diff = diff_layers(planning([(cell(0, 0), "RURAL")]), planning([(cell(0, 0, width=width), "RURAL")]))
    assert [c.kind for c in diff.changes] == kind


def test_a_point_that_moved_by_its_key() -> None:
    here, there = (*NEWARK, {"station_id": "a", "name": "A"}), (NEWARK[0] + 0.001, NEWARK[1], {"station_id": "a"})
    other = (-74.0, 40.7, {"station_id": "b"})
    old, new = stations([here, other]), stations([other, (*there[:2], {"station_id": "a", "name": "A"})])
    (change,) = diff_layers(old, new).changes
    assert change.kind == "moved"
    assert change.moved_ft == pytest.approx(277.5, abs=1)


def test_parts_with_one_key_that_only_changed_places_are_the_same() -> None:
    rows = [(cell(0, 0), {"id": "a"}), (cell(2, 0), {"id": "a"}), (cell(4, 0), {"id": "b"})]
    old = draw("south_jersey_port_terminals", rows, bound_field=None)
    new = draw("south_jersey_port_terminals", [rows[1], rows[0], rows[2]], bound_field=None)
    assert diff_layers(old, new).changes == ()
    moved = draw(
        "south_jersey_port_terminals", [rows[1], (cell(0, 0, width=900), {"id": "a"}), rows[2]], bound_field=None
    )
    assert kinds(old, moved) == [("moved", 1, 2)]


def test_many_vertices_are_compared_quickly_and_holes_count() -> None:
    ring = shapely.Point(X, Y).buffer(5000, quad_segs=12_000)
    holed = ring.difference(shapely.Point(X, Y).buffer(50))
    (change,) = diff_layers(planning([(ring, "RURAL")]), planning([(holed, "RURAL")])).changes
    assert change.kind == "moved"
    assert change.lost_sqft == pytest.approx(shapely.area(shapely.Point(X, Y).buffer(50)) * SQFT)
    shifted = shapely.transform(ring, lambda xy: xy + np.array([0.04, 0.0]))
    assert diff_layers(planning([(ring, "RURAL")]), planning([(shifted, "RURAL")])).changes == ()


def test_two_layers_are_not_compared() -> None:
    with pytest.raises(LayerError, match=r"planning_areas and .* one of designated_centers"):
        diff_layers(planning(BASE), draw("designated_centers", [(cell(0, 0), {"CENTYPE": "UC"})]))


@given(st.data())
def test_the_drawn_changes_are_found_exactly(data: Any) -> None:
    rows = list(range(len(BASE)))
    removed = set(data.draw(st.sets(st.sampled_from(rows), max_size=3)))
    moved = set(data.draw(st.sets(st.sampled_from(rows), max_size=3))) - removed
    changed = set(data.draw(st.sets(st.sampled_from(rows), max_size=3))) - removed - moved
    added = data.draw(st.integers(0, 3))
    new: list[tuple[shapely.Geometry, str]] = []
    for i, (shape, detail) in enumerate(BASE):
        if i in removed:
            continue
        smaller = shapely.box(*(shape.bounds[:2]), shape.bounds[2] - 100, shape.bounds[3])
        new.append((smaller if i in moved else shape, "METROPOLITAN" if i in changed else detail))
    new += [(cell(20 + n, 0), "RURAL") for n in range(added)]
    order = data.draw(st.permutations(range(len(new))))
    diff = diff_layers(planning(BASE), planning([new[i] for i in order]))
    found = {kind: {c.old_row for c in diff.changes if c.kind == kind} for kind in ("removed", "moved", "reclassified")}
    assert found == {
        "removed": {i + 1 for i in removed},
        "moved": {i + 1 for i in moved},
        "reclassified": {i + 1 for i in changed},
    }
    assert diff.count("added") == added
    assert diff.lost_sqft == pytest.approx((1e6 * len(removed) + 1e5 * len(moved)) * SQFT)
    assert diff.gained_sqft == pytest.approx(1e6 * added * SQFT)


def test_the_sites_that_a_change_moves_are_named() -> None:
    book = load_rulebook()
    x, y = around((-74.66, 40.42), 0.5).bounds[:2]  # Montgomery Township: in no area by other grounds
    ground = shapely.box(x - 9000, y - 9000, x + 9000, y + 9000)
    half = shapely.box(x - 9000, y - 9000, x, y + 9000)
    old = draw("planning_areas", [(ground, {"SPDETAIL": "RURAL"})])
    new = draw(
        "planning_areas",
        [(half, {"SPDETAIL": "METROPOLITAN"}), (shapely.difference(ground, half), {"SPDETAIL": "RURAL"})],
    )
    sites = [replace(s, typed=str(n)) for n, s in enumerate(points([(x - 500, y), (x + 500, y), (x - 50_000, y)]))]
    before, after = (Engine(Atlas(layers=[layer]), book) for layer in (old, new))
    found = changed_sites(before, after, sites)
    assert [change.site for change in found] == ["0"]
    assert found[0].outcomes
    assert changed_sites(before, before, sites) == ()
