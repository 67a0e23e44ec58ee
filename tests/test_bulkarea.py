"""Areas of polygons on a ground from edges alone, against overlays of geometry."""

from __future__ import annotations

import numpy as np
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from grownj_geo.bulkarea import Areas, Outlines, areas_on_ground, farthest_corners
from grownj_geo.bulkline import edges_of

FAR = 500_000.0


def _blob(rng: np.random.Generator, size: float, corners: int) -> shapely.Geometry:
    """Return a rough polygon somewhere in a square of a thousand feet, far from the origin as New Jersey is."""
    x, y = rng.uniform(0, 1_000, 2) + FAR
    angle = np.sort(rng.uniform(0, 2 * np.pi, corners))
    radius = size * rng.uniform(0.4, 1, corners)
    return shapely.make_valid(
        shapely.Polygon(np.column_stack([x + radius * np.cos(angle), y + radius * np.sin(angle)]))
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_areas_are_those_of_overlays(seed: int, corners: bool) -> None:  # noqa: FBT001
    rng = np.random.default_rng(seed)
    ground = shapely.union_all([_blob(rng, rng.uniform(50, 400), int(rng.integers(3, 30))) for _ in range(6)])
    ground = ground.difference(shapely.box(FAR + 300, FAR + 300, FAR + 600, FAR + 400))
    lots = []
    for number in range(20):
        lot = _blob(rng, rng.uniform(5, 200), int(rng.integers(3, 9)))
        if number % 4 == 0:
            lot = lot.union(_blob(rng, 50, 5)).difference(shapely.buffer(lot.centroid, 5))
        if corners and number % 3 == 0:
            # A corner of the lot is a corner of the ground, and its sides are straight to the axes.
            x, y = shapely.get_coordinates(ground)[int(rng.integers(len(shapely.get_coordinates(ground))))]
            lot = shapely.box(x - 30, y - 40, x, y)
        lots.append(lot)
    shapes = np.array(lots, dtype=object)
    edges, _ = edges_of(np.array([ground], dtype=object))
    outlines, whole = Outlines.of(shapes), shapely.area(shapes)
    anchors = outlines.edges[outlines.first, :2]
    usable = shapely.distance(shapely.points(anchors), ground.boundary) > 1e-3
    owner, edge = (v.ravel() for v in np.meshgrid(np.arange(len(shapes)), np.arange(len(edges)), indexing="ij"))
    inside = shapely.intersects_xy(ground, *anchors.T)
    found = areas_on_ground(outlines, whole, anchors, inside, owner, edges[edge])
    expected = shapely.area(shapely.intersection(shapes, ground))
    assert usable.any()
    assert np.abs(found - expected)[usable].max() < 1e-6


def test_edges_that_are_far_off_change_nothing() -> None:
    lot = np.array([shapely.box(0, 0, 10, 20)], dtype=object)
    line = np.array([[4.0, 100.0, 4.0, -100.0], [500.0, -100.0, 500.0, 100.0], [500.0, 100.0, 4.0, 100.0]])
    arguments = (Outlines.of(lot), shapely.area(lot), np.array([[0.0, 0.0]]), np.array([False]))
    near = areas_on_ground(*arguments, np.zeros(1, dtype=np.int64), line[:1])
    every = areas_on_ground(*arguments, np.zeros(3, dtype=np.int64), line)
    assert near.tolist() == every.tolist() == [120.0]


def test_the_farthest_corner() -> None:
    lots = np.array([shapely.box(0, 0, 10, 20), shapely.box(0, 0, 3, 4)], dtype=object)
    line = np.array([[0.0, 0.0, 0.0, 20.0], [0.0, 0.0, 0.0, -5.0]])
    assert farthest_corners(Outlines.of(lots), np.array([0, 1]), line).tolist() == [10.0, 5.0]


def test_lines_and_points_have_no_area() -> None:
    mixed = shapely.GeometryCollection([shapely.box(0, 0, 1, 1), shapely.LineString([(5, 5), (6, 6)])])
    shapes = np.array([shapely.Point(0, 0), mixed], dtype=object)
    outlines = Outlines.of(shapes)
    assert outlines.count.tolist() == [0, 4]
    assert outlines.take(np.array([1, 1])).first.tolist() == [0, 0]
    assert Areas(shapes).take(np.array([1])).sqft.tolist() == [1.0]
