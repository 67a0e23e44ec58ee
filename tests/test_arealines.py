"""Drawn lines: circles and rims where distance puts them, and all the lines that clauses ask for."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from drawn import NEWARK, draw

from grownj_geo.arealines import drawn_lines, leaves_under
from grownj_geo.atlas import Atlas
from grownj_geo.determine import Engine
from grownj_geo.features import LayerFault
from grownj_geo.units import to_working

X, Y = (float(v) for v in to_working(*NEWARK))


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
