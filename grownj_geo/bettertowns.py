"""What every clause comes to in each municipality while no place in it is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.evaluate import Evaluation
from grownj_geo.leaves import Leaves
from grownj_geo.sitetable import SiteTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from grownj_geo.determine import Engine
    from grownj_geo.layer import Layer
    from grownj_geo.site import FactValue

__all__ = ["Towns", "towns_of"]


@dataclass(frozen=True)
class Towns:
    """What every clause comes to in each municipality while no place in it is known.

    Attributes
    ----------
    layer
        The municipalities.
    features
        Those of the day, by their indices, shape (n,).
    codes
        Their codes.
    run
        All clauses, asked for each code in turn: those that look at a layer that is loaded are left open.
    """

    layer: Layer
    features: NDArray[np.int64]
    codes: tuple[str, ...]
    run: Evaluation


def towns_of(engine: Engine, facts: Sequence[tuple[str, FactValue]] = ()) -> Towns | None:
    """Return what every clause comes to in each municipality; None where there are none.

    Parameters
    ----------
    engine
        The rules and layers.
    facts
        What is stated of the site, by name.
    """
    bound, atlas = engine.bound, engine.atlas
    layer = atlas.layer("municipalities")
    features = np.zeros(0, dtype=np.int64) if layer is None else layer.select(as_of=bound.as_of)
    if layer is None or not len(features):
        return None
    codes, n = tuple(layer.key(int(i)) for i in features), len(features)
    table = SiteTable(np.full(n, None, dtype=object), np.zeros(n), np.zeros(n, dtype=bool), codes)
    stated = {name: [value] * n for name, value in facts}
    # Lines that are measured are looked for by themselves.
    leaves = Leaves(bound, atlas, table, stated, anywhere=False, feature_cache=engine.feature_cache)
    run = Evaluation(bound, leaves, margins=False)
    for category in bound.clauses:
        run.category(category)
    return Towns(layer, features, codes, run)
