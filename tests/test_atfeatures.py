"""Which features count: by their class, by a count that they have, and by the ground where they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from drawn import CAMDEN, NEWARK, drawn_book, drawn_category, stations

from grownj_geo.atfeatures import outcomes_at
from grownj_geo.atlas import Atlas
from grownj_geo.determine import Engine
from grownj_geo.logic import Cause
from grownj_geo.values import Values

if TYPE_CHECKING:
    from grownj_geo.layer import Layer

TWO = {"count": {"field": "njt_rail_lines_n", "at_least": "lines"}}
LAYER = stations([(*NEWARK, {"station_id": "a", "njt_rail_lines_n": "3"}), (*CAMDEN, {"station_id": "b"})])


def asked(**more: Any) -> tuple[Any, Any]:
    """Return the question of a drawn clause, and what it is bound to."""
    rule = {"contains_feature": {"layer": "transit_stations", **more}}
    figures = {"lines": {"unit": "count", "value": 2}}
    bound = Engine(
        Atlas(layers=[LAYER]),
        drawn_book(rule, parameters=figures, categories=[drawn_category("ground", {"in_new_jersey": True})]),
    ).bound
    return bound.clauses["answer"].node.contains_feature, bound


def never(_layer: Layer, _indices: Any, _category: str) -> Values:
    raise AssertionError("no ground was asked about")


def test_without_more_every_feature_counts() -> None:
    want, bound = asked()
    assert outcomes_at(LAYER, want, bound, never) == [(0, 1, 0), (1, 1, 0)]


def test_a_count_that_nobody_knows_is_open_and_one_below_is_left_out() -> None:
    want, bound = asked(**TWO)
    assert outcomes_at(LAYER, want, bound, never) == [(0, 1, 0), (1, 0, int(Cause.LIST_UNKNOWN))]
    few = stations([(*NEWARK, {"station_id": "a", "njt_rail_lines_n": "1"})])
    assert outcomes_at(few, want, bound, never) == []
    just = stations([(*NEWARK, {"station_id": "a", "njt_rail_lines_n": "2"})])
    assert outcomes_at(just, want, bound, never) == [(0, 1, 0)]


@pytest.mark.parametrize("value", [1, 0, -1])
def test_the_ground_where_a_feature_stands_decides(value: int) -> None:
    want, bound = asked(at_feature="ground")

    def elsewhere(_layer: Layer, indices: Any, category: str) -> Values:
        assert category == "ground"
        cause = Cause.LAYER_MISSING if value == 0 else Cause(0)
        return Values.constant(len(indices), value, cause=cause)

    causes = int(Cause.LAYER_MISSING) if value == 0 else 0
    found = outcomes_at(LAYER, want, bound, elsewhere)
    assert np.array(found).tolist() == [[0, value, causes], [1, value, causes]]
