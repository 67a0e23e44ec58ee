"""Faults are gathered and told at once."""

from __future__ import annotations

import pickle

import pytest

from grownj_geo.features import LayerFault
from grownj_geo.findings import Findings, values_in_words


def test_several_faults_are_one_refusal_under_the_kind_of_the_first() -> None:
    found = Findings("areas.shp")
    found.fault("null_geometry", "row 3 has none")
    found.fault("wrong_kind", "row 4 is a line")
    with pytest.raises(LayerFault) as caught:
        found.stop()
    assert caught.value.fault == "null_geometry"
    assert str(caught.value) == "areas.shp: 2 things are wrong. (1) row 3 has none. (2) row 4 is a line."


def test_nothing_found_stops_nothing() -> None:
    found = Findings("areas.shp")
    found.tell("slivers", "noted", [0, 4], "Small.")
    found.stop()
    assert found.changes[0].rows == (1, 5)
    assert found.changes[0].count == 2


def test_many_and_long_values_are_cut() -> None:
    assert values_in_words(list(range(13))).endswith("11 and 1 more")
    assert len(values_in_words(["x" * 500])) < 100


def test_a_fault_crosses_from_one_process_to_another() -> None:
    found = pickle.loads(pickle.dumps(LayerFault("disk_full", "There is no room.")))  # noqa: S301 - made here
    assert isinstance(found, LayerFault)
    assert (found.fault, str(found)) == ("disk_full", "There is no room.")
