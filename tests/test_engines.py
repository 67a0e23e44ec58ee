"""Engines for many days share what they read."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from drawn import NEWARK, around, draw
from kept_world import add

from grownj_geo.engines import Engines, sources_of
from grownj_geo.store import Store

if TYPE_CHECKING:
    from pathlib import Path


def test_an_edition_and_what_ships_are_read_once_for_all_days(tmp_path: Path) -> None:
    store = Store(tmp_path)
    shape = (around(NEWARK, 500.0), {"SPDETAIL": "METROPOLITAN"})
    name = add(store, draw("planning_areas", [shape], least_features=1, valid_from=date(2014, 1, 1)))
    engines = Engines(store)
    atlases = [engines.atlas(date(2016, 1, day)) for day in range(1, 31)]
    for layer_id in ("planning_areas", "municipalities"):
        assert len({id(atlas.layer(layer_id)) for atlas in atlases}) == 1
        assert atlases[0].layer(layer_id) is not None
    assert {sources_of(atlas)["planning_areas"] for atlas in atlases} == {name}
    assert engines.atlas(date(2016, 1, 30)) is atlases[-1]
