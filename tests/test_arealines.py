"""Drawn lines: circles and rims where distance puts them, and all the lines that clauses ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import shapely
from drawn import NEWARK, draw

from grownj_geo.arealines import DRAWN_WITHIN_FT, drawn_circle, drawn_lines, drawn_rim, leaves_under
from grownj_geo.atlas import Atlas
from grownj_geo.determine import Engine
from grownj_geo.features import LayerFault
from grownj_geo.layer import INNER, OUTER
from grownj_geo.observe import SiteTable, measure_distance
from grownj_geo.units import geodesic_ft, to_lonlat, to_working

if TYPE_CHECKING:
    from numpy.typing import NDArray

X, Y = (float(v) for v in to_working(*NEWARK))


def rim_points(area: shapely.Geometry, step_ft: float) -> NDArray[np.object_]:
    """Return points all along an outline, also between its corners."""
    return np.asarray(shapely.points(shapely.get_coordinates(shapely.segmentize(shapely.boundary(area), step_ft))))


@pytest.mark.parametrize("radius_ft", [5.0, 2640.0 - 121.4, 5280.0, 5280.0 + 403.6, 79_200.0])
@pytest.mark.parametrize("at", [NEWARK, (-74.95, 38.94), (-74.69, 41.35), (-75.5, 39.5)])
def test_a_circle_is_within_the_stated_tolerance_all_along(radius_ft: float, at: tuple[float, float]) -> None:
    xy = shapely.get_coordinates(rim_points(drawn_circle(*at, radius_ft), radius_ft / 500))
    away = geodesic_ft(*at, *to_lonlat(xy[:, 0], xy[:, 1]))
    assert abs(away - radius_ft).max() < 0.25 < DRAWN_WITHIN_FT


@pytest.mark.parametrize("layer_id", ["south_jersey_port_terminals", "atlantic_city_airport"])
@pytest.mark.parametrize("radius_ft", [5280.0 - 3.3, 79_200.0 + 3.3])
def test_a_rim_is_where_the_measured_distance_is_the_radius(engine: Engine, layer_id: str, radius_ft: float) -> None:
    layer = engine.atlas.layer(layer_id)
    assert layer is not None
    chosen = np.flatnonzero(np.isin(layer.bound_kinds, (INNER, OUTER)))[:2]
    for feature in chosen.tolist():
        points = rim_points(drawn_rim(layer.geometry(feature), radius_ft), 800.0)
        n = len(points)
        sites = SiteTable(points, np.zeros(n), np.ones(n, dtype=bool), ("",) * n)
        found = measure_distance(layer, np.array([feature]), sites)
        # The layer's own accuracy is in the bounds.
        slack = float(layer.tolerances_ft[feature])
        is_inner = bool(layer.sure[feature])
        away = found.near_high - slack if is_inner else found.near_low + slack
        assert abs(away - radius_ft).max() < 0.5 < DRAWN_WITHIN_FT


def test_a_rim_around_an_area_with_corners_has_its_size() -> None:
    ring = drawn_rim(
        shapely.box(X, Y, X + 900, Y + 900).difference(shapely.box(X + 300, Y + 300, X + 900, Y + 600)), 60
    )
    assert ring.is_valid
    assert ring.geom_type == "Polygon"
    assert 840_000 < ring.area < 1_110_000


def test_clauses_are_found_through_the_categories_that_they_name(engine: Engine) -> None:
    paths = {leaf.path for leaf in leaves_under(engine.bound, engine.bound.clauses["port_district"])}
    assert "port_of_new_york_district" in paths
    assert "south_jersey_port.camden_salem" in paths
    assert "highlands_preservation" in paths
    # Not in force on the day: Paulsboro before its first vessel.
    assert not any("paulsboro_before" in path for path in paths)


def test_a_line_that_no_clause_asks_for_is_not_drawn(engine: Engine) -> None:
    port = leaves_under(engine.bound, engine.bound.clauses["port_of_new_york_district"])
    zone = leaves_under(engine.bound, engine.bound.clauses["growth_zone_city"])
    both = drawn_lines(engine, [*port, *zone])
    assert len(drawn_lines(engine, zone)) == 1 + 565
    assert len(both) == len(drawn_lines(engine, port)) > 1 + 565


def test_a_layer_that_is_away_is_drawn_by_where_it_can_lie(engine: Engine) -> None:
    leaves = leaves_under(engine.bound, engine.bound.clauses["highlands_preservation"])
    # Its counties, and its municipalities: each as far as their lines, and as far as a pier, may reach.
    assert len(drawn_lines(engine, leaves)) == 1 + 565 + 2 * 2


def test_without_municipalities_nothing_is_drawn(engine: Engine) -> None:
    broken = Atlas(as_of=engine.atlas.as_of, layers=(draw("municipalities", [], least_features=565),))
    with pytest.raises(LayerFault, match="municipalities cannot be used") as caught:
        drawn_lines(Engine(broken, engine.rulebook), [])
    assert caught.value.fault == "no_municipalities"


def test_a_layer_with_too_many_corners_is_refused(engine: Engine) -> None:
    turn = np.linspace(0, 2 * np.pi, 3_000_001)
    crowded = shapely.Polygon(np.column_stack([X + 900 * np.cos(turn), Y + 900 * np.sin(turn)]))
    layer = draw("highlands_region", [(crowded, {"REGION": "Highlands Preservation Area"})])
    full = Engine(Atlas(as_of=engine.atlas.as_of, layers=(layer,)), engine.rulebook)
    leaves = leaves_under(full.bound, full.bound.clauses["highlands_preservation"])
    with pytest.raises(LayerFault, match="corners") as caught:
        drawn_lines(full, leaves)
    assert caught.value.fault == "too_detailed"
