"""Some of the shipped municipalities with all else that ships: enough to draw areas in, and soon cut."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from drawn import CAMDEN, NEWARK, draw

from grownj_geo.atlas import Atlas, load_atlas
from grownj_geo.determine import Engine
from grownj_geo.rulebook import load_rulebook
from grownj_geo.units import to_working

if TYPE_CHECKING:
    from grownj_geo.layer import Layer

# Around Newark, the four cities, the airport with its zone, and country by the Maurice River.
RURAL = (-74.98, 39.25)
PLACES = (NEWARK, CAMDEN, RURAL, (-74.17, 40.917), (-74.128, 40.857), (-74.76, 40.22), (-74.577, 39.457))


@lru_cache(maxsize=1)
def few_municipalities() -> Layer:
    """Return some of the shipped municipalities: all of the State's lines take long to cut."""
    layer = load_atlas().layer("municipalities")
    assert layer is not None
    wanted: set[int] = set()
    for lon, lat in PLACES:
        x, y = (float(v) for v in to_working(lon, lat))
        reach = 15_000.0 if (lon, lat) == NEWARK else 100.0
        wanted |= set(layer.meeting(np.arange(len(layer)), (x - reach, y - reach, x + reach, y + reach)).tolist())
    rows = [(layer.geometry(i), {name: column[i] for name, column in layer.columns.items()}) for i in sorted(wanted)]
    return draw("municipalities", rows, accuracy_ft=72.0)


@lru_cache(maxsize=8)
def few(book: str = "grow-nj", day: str = "2017-04-17") -> Engine:
    """Return a shipped rulebook on some municipalities, with all else that ships."""
    as_of = load_atlas(as_of=day).as_of
    return Engine(Atlas(as_of=as_of, layers=(few_municipalities(),)), load_rulebook(book))
