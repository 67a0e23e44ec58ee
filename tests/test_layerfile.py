"""Layers as files: whatever columns a layer has come back, or their text does."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from drawn import draw, square

from grownj_geo.layerfile import read_layer, write_layer


def _again(values: list[Any]) -> list[Any]:
    drawn = [(square(500_000 + 2000 * i, 600_000, 1000), {"SPDETAIL": "PARK", "ID": v}) for i, v in enumerate(values)]
    layer = draw("planning_areas", drawn)
    return list(read_layer(layer.manifest, write_layer(layer), name="layer.parquet").columns["ID"])


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, None],
        [2**63 - 1, -(2**63)],
        [1.5, None],
        ["0101", None],
        [True, False],
        [date(2017, 4, 17), None],
        [np.uint64(2**64 - 1), np.uint64(1)],
        [None, None],
    ],
)
def test_columns_come_back_as_they_are(values: list[Any]) -> None:
    assert _again(values) == values


@pytest.mark.parametrize(
    "values",
    [
        [2**63, 1],
        [2**64 - 1, None],
        [-(2**63) - 1, 5],
        [2**200, -1],
        [1.5, 2**63 - 1],
        [1, 2.5, None],
        [[1, 2], None],
        [{"a": 1}, {"b": 2}],
        [1, "1"],
        [b"a", 1],
        [1j, None],
        [Decimal("1e100"), Decimal("1e-100")],
        [date(2017, 4, 17), "2017"],
    ],
)
def test_what_no_column_holds_is_kept_as_text(values: list[Any]) -> None:
    assert _again(values) == [None if value is None else str(value) for value in values]


def test_no_number_is_blank_in_any_column() -> None:
    assert _again([float("nan"), 1.5]) == [None, 1.5]
    assert _again([float("nan"), 1, 1.5]) == [None, "1", "1.5"]
    assert _again([float("nan"), "a", 1]) == [None, "a", "1"]
