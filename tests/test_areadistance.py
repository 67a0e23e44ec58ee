"""How far the farthest part of a site may be from an area: exact where the area has no bends, and never too little."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from drawn import draw, site, square

from grownj_geo.observe import measure_distance
from grownj_geo.sitetable import SiteTable

X, Y = 450_000.0, 500_000.0


def test_the_farthest_part_of_a_site_inside_a_bend_is_never_underestimated() -> None:
    # Ground in the shape of a U: a site across its opening is farther from it in the middle than at its corners.
    bend = square(X, Y, 1000.0).difference(shapely.box(X + 100, Y + 100, X + 900, Y + 1000))
    across = shapely.box(X + 50, Y + 900, X + 950, Y + 1000)
    layer = draw("closed_military_land", [(bend, {})])
    found = measure_distance(layer, np.array([0]), SiteTable.of([site(across)]))
    grid = shapely.points(
        *(a.ravel() for a in np.meshgrid(np.linspace(X + 50, X + 950, 91), np.linspace(Y + 900, Y + 1000, 11)))
    )
    truth = float(shapely.distance(grid, bend).max())
    corners = shapely.points(shapely.get_coordinates(across))
    assert truth > float(shapely.distance(corners, bend).max()) + 300
    assert found.near[0] == 0
    assert found.far_high[0] >= truth


def test_the_farthest_part_from_ground_without_bends_is_exact() -> None:
    layer = draw("closed_military_land", [(square(X, Y, 1000.0), {})])
    found = measure_distance(
        layer, np.array([0]), SiteTable.of([site(shapely.box(X + 500, Y + 1100, X + 600, Y + 1200))])
    )
    assert found.far[0] == pytest.approx(200, abs=0.1)
