"""Shares of polygons on ground whose line may be off: the bounds hold what one site is measured to be."""

from __future__ import annotations

import bulk_world as world
import numpy as np
import pytest
import shapely
from drawn import draw, square

from grownj_geo.bulkarea import Areas
from grownj_geo.bulkcut import near_reach_ft, shares_on_ground, tellable, undecided
from grownj_geo.bulkfind import lines_about
from grownj_geo.bulkline import Lines, ground_of
from grownj_geo.observe import measure_coverage

TOLERANCE_FT = 48.3


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_bounds_hold_what_one_site_is_measured_to_be(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shapes = [*world.blobs(rng, 30, 9_000, 40), square(world.X0, world.Y0, 4_000)]
    layer = draw("planning_areas", [(s, {"SPDETAIL": "METROPOLITAN"}) for s in shapes], accuracy_ft=TOLERANCE_FT)
    ground = ground_of(layer, np.arange(len(layer)))
    lines = Lines.of(ground.edges)
    lots = []
    for x, y in shapely.get_coordinates(shapely.boundary(ground.area))[:: max(1, len(ground.edges) // 150)]:
        wide, deep = np.exp(rng.normal((4.4, 4.6), 0.7))
        east, north = rng.normal(0, 50, 2)
        lots.append(shapely.box(x + east, y + north, x + east + wide, y + north + deep))
    areas = Areas(np.array(lots, dtype=object))
    row, edge = lines_about(lines, areas.boxes, near_reach_ft(TOLERANCE_FT))
    anchors = np.array([shapely.get_coordinates(lot)[0] for lot in lots])
    inside = shapely.intersects_xy(ground.area, *anchors.T)
    found = shares_on_ground(areas, lines, (row, edge), anchors, inside, tolerance_ft=TOLERANCE_FT, known_ft=500.0)
    alone = measure_coverage(layer, np.arange(len(layer)), world.table(lots))
    assert np.abs(found.share - alone.share).max() < 1e-9
    assert (found.low_least <= alone.share_low + 1e-9).all()
    assert (found.low_most >= alone.share_low - 1e-9).all()
    assert (found.high_least <= alone.share_high + 1e-9).all()
    assert (found.high_most >= alone.share_high - 1e-9).all()
    # All sorts came up: wholly lost to the tolerance, partly, and not at all.
    assert {0.0, 1.0} <= set(found.low_most.tolist())
    assert ((found.low_most > 0) & (found.low_most < 1)).any()


def test_lines_must_be_known_beyond_the_tolerance() -> None:
    assert tellable(48.3, 49.3)
    assert not tellable(660.0, 661.0)


def test_what_a_test_would_tell_apart_is_undecided() -> None:
    area = np.full(6, 10_000.0)  # a sliver of 100 square feet is a hundredth
    least = np.array([0.0, 0.0, 0.02, 0.3, 0.985, np.nan])
    most = np.array([0.0, 0.02, 0.4, 0.6, 0.995, np.nan])
    assert undecided(least, most, area, noise=False).tolist() == [False, True, False, True, True, True]
    tiny = np.array([0.5e-9, 1e-12, 1e-6])
    assert undecided(tiny, tiny, area[:3], noise=True).tolist() == [True, False, False]
    assert undecided(tiny, tiny, area[:3], noise=False).tolist() == [False, False, False]
