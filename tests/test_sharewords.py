"""Shares of parcels that lines cut stand in the table as the record has them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
import shapely

from grownj_geo.answers import answers_many
from grownj_geo.determine import Engine
from grownj_geo.rulebook import load_rulebook
from grownj_geo.site import Site
from grownj_geo.sitetable import SiteTable
from grownj_geo.units import to_working
from grownj_geo.words import percent

if TYPE_CHECKING:
    from grownj_geo.atlas import Atlas


def lots(atlas: Atlas, n: int) -> list[Site]:
    """Return lots across municipal lines, within municipalities, and near stations."""
    rng = np.random.default_rng(3)
    layer, stations = atlas.layer("municipalities"), atlas.layer("transit_stations")
    assert layer is not None
    assert stations is not None
    assert stations.lonlat is not None
    middles = []
    for i in rng.integers(0, len(layer), n).tolist():
        middles.append(shapely.line_interpolate_point(layer.geometry(i).boundary, rng.uniform(), normalized=True))
        middles.append(layer.geometry(i).representative_point())
    for i in rng.integers(0, len(stations), n).tolist():
        x, y = to_working(*stations.lonlat[i])
        middles.append(shapely.Point(x + 2_640, y))
    return [
        Site(typed=f"lot {i}", located_by="drawn", geometry=shapely.box(p.x - 150, p.y - 90, p.x + 150, p.y + 90))
        for i, p in enumerate(middles)
    ]


@pytest.mark.parametrize("book", ["grow-nj", "urban-transit-hub"])
def test_shares_are_those_of_the_record(atlas: Atlas, book: str) -> None:
    engine = Engine(atlas, load_rulebook(book))
    sites = lots(atlas, 12)
    answers = answers_many(engine, SiteTable.of(sites), {})
    told = answers.columns("full")["shares"]
    cut = 0
    for site, words, outside in zip(sites, told, answers.outside, strict=True):
        if outside:
            continue
        record = engine.determine(site)
        candidates = [c for c in record.place.candidates if c.share is not None]
        evidence = [e.share for f in record.findings for e in f.evidence if e.share is not None and e.share.value]
        expected = {percent(e.value) for e in evidence if e.value is not None and 0 < e.value < 1}
        if len(candidates) > 1:
            expected |= {f"{c.name} {percent(c.share)}" for c in candidates if c.share is not None}
        cut += bool(expected)
        assert all(share in (words or "") for share in expected), (words, expected)
        if not expected and len(record.place.candidates) < 2:
            assert words is None or all(0 < float(v) < 100 for v in re.findall(r"([\d.]+) %", words))
    assert cut > 3


def test_points_and_uncut_lots_have_none(atlas: Atlas) -> None:
    engine = Engine(atlas, load_rulebook())
    layer = atlas.layer("municipalities")
    assert layer is not None
    middle = layer.geometry(3).representative_point()
    sites = [
        Site(typed="point", located_by="drawn", geometry=middle),
        Site(typed="lot", located_by="drawn", geometry=middle.buffer(30)),
    ]
    assert answers_many(engine, SiteTable.of(sites), {}).columns("full")["shares"].tolist() == [None, None]
    assert "shares" not in answers_many(engine, SiteTable.of(sites), {}).columns("brief")
