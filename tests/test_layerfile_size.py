"""Files of layers that a stranger made: what would unpack without end is refused before it does."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from drawn import draw, manifest_of, square

from grownj_geo.features import LayerFault
from grownj_geo.layerfile import read_layer, write_layer

if TYPE_CHECKING:
    from grownj_geo.layer import Layer

X, Y, ROWS = 450_000.0, 500_000.0, 40


@pytest.fixture
def layer() -> Layer:
    areas = [(square(X + 2_000 * i, Y, 1_000), {"SPDETAIL": "RURAL"}) for i in range(ROWS)]
    return draw("planning_areas", areas)


def swollen(layer: Layer, name: str, value: Any) -> bytes:
    """Return a layer's file with one value in all rows of a field, many times over."""
    table = pq.read_table(pa.BufferReader(write_layer(layer)))
    many = pa.concat_tables([table] * 60)
    column = pa.DictionaryArray.from_arrays(pa.array([0] * len(many), pa.int32()), pa.array([value]))
    at = many.column_names.index(name)
    sink = io.BytesIO()
    pq.write_table(many.set_column(at, name, column), sink, compression="zstd")
    return sink.getvalue()


@pytest.mark.parametrize(("name", "value"), [("SPDETAIL", "a" * 500_000), ("geometry", b"\1" * 500_000)])
def test_what_would_unpack_without_end_is_refused(layer: Layer, name: str, value: Any) -> None:
    content = swollen(layer, name, value)
    assert len(content) < 100_000
    with pytest.raises(LayerFault, match=r"drawn\.parquet has .* bytes and would unpack to") as caught:
        read_layer(manifest_of("planning_areas"), content, name="drawn.parquet")
    assert caught.value.fault == "archive_bomb"


def test_rows_of_several_batches_and_groups_come_back(layer: Layer) -> None:
    content = swollen(layer, "SPDETAIL", "FRINGE")
    sink = io.BytesIO()
    table = pa.concat_tables([pq.read_table(pa.BufferReader(content))] * 5)
    pq.write_table(table, sink, row_group_size=9_000)
    again = read_layer(manifest_of("planning_areas"), sink.getvalue(), name="drawn.parquet", checked=True)
    assert len(again) == 60 * 5 * ROWS
    assert again.columns["SPDETAIL"] == ["FRINGE"] * len(again)
    for i in (0, 8_191, 8_192, 8_999, 9_000, len(again) - 1):
        assert again.geometry(i).equals(layer.geometry(i % ROWS))
        assert tuple(again.bounds[i]) == tuple(layer.bounds[i % ROWS])
