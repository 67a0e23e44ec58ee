"""Shares within a radius: the bounds hold what one site is measured to be."""

from __future__ import annotations

import bulk_world as world
import numpy as np
import pytest
import shapely

from grownj_geo.atlas import load_atlas
from grownj_geo.bulkcircle import shares_in_circles
from grownj_geo.shares import share_within
from grownj_geo.units import to_working


@pytest.mark.parametrize("radius", [2640.0, 5280.0])
def test_the_bounds_hold_what_one_site_is_measured_to_be(radius: float) -> None:
    layer = load_atlas().layer("transit_stations")
    assert layer is not None
    assert layer.lonlat is not None
    rng = np.random.default_rng(3)
    lots, features, radii = [], [], []
    for number in range(60):
        feature = int(rng.integers(len(layer)))
        lon, lat, _ = world.GEOD.fwd(*layer.lonlat[feature], rng.uniform(0, 360), (radius + rng.normal(0, 60)) * 0.3048)
        x, y = (float(v) for v in to_working(lon, lat))
        wide, deep = np.exp(rng.normal((4.6, 4.9), 0.6))
        lot = shapely.box(x - wide / 2, y - deep / 2, x + wide / 2, y + deep / 2)
        if number % 5 == 0:
            lot = lot.difference(shapely.buffer(lot.centroid, min(wide, deep) / 4))
        lots.append(lot)
        features.append(feature)
        radii.append(radius)
    shapes, chosen = np.array(lots, dtype=object), np.array(features)
    least, most = shares_in_circles(shapes, layer, chosen, np.array(radii))
    for lot, feature, low, high in zip(lots, features, least, most, strict=True):
        share = share_within(lot, layer, np.array([feature]), radius_ft=radius)[1]
        assert low - 2e-7 <= share <= high + 2e-7
    assert ((most - least) < 0.01).mean() > 0.8
    assert ((least > 0.1) & (most < 0.9)).any()


def test_a_site_around_the_point_is_left_open() -> None:
    layer = load_atlas().layer("transit_stations")
    assert layer is not None
    x, y = layer.bounds[0, :2]
    lot = np.array([shapely.box(x - 3_000, y - 3_000, x + 3_000, y + 3_000)], dtype=object)
    least, most = shares_in_circles(lot, layer, np.array([0]), np.array([2640.0]))
    assert (least[0], most[0]) == (0.0, 1.0)
