"""Which features a "contains" clause counts: by their class, their count, and the ground where they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.logic import Cause
from grownj_geo.values import ANSWER

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grownj_geo.binding import BoundRulebook
    from grownj_geo.layer import Layer
    from grownj_geo.nodes import ContainsFeature
    from grownj_geo.values import Values

    Elsewhere = Callable[[Layer, NDArray[np.int64], str], Values]

__all__ = ["Elsewhere", "outcomes_at"]


def outcomes_at(
    layer: Layer, want: ContainsFeature, bound: BoundRulebook, elsewhere: Elsewhere
) -> list[tuple[int, int, int]]:
    """Return index, outcome (1, 0 or -1) and causes of the features that may count; others surely do not.

    Parameters
    ----------
    layer, want
        The layer and which of its features count.
    bound
        Gives the day and the figures.
    elsewhere
        Computes a category where some features of a layer stand.
    """
    indices = layer.select(want.selection, as_of=bound.as_of)
    uncounted: set[int] = set()
    if want.count is not None:
        least = bound.figures[want.count.at_least]
        counts = {int(i): layer.figure(want.count.field, int(i)) for i in indices}
        uncounted = {i for i, count in counts.items() if np.isnan(count)}
        indices = np.array([i for i, count in counts.items() if not count < least], dtype=np.int64)
    doubtful = layer.doubtful(indices, want.selection)
    outcomes, causes = np.ones(len(indices), dtype=np.int8), np.zeros(len(indices), dtype=np.int32)
    if want.at_feature is not None and len(indices):
        there = elsewhere(layer, indices, want.at_feature)
        outcomes, causes = there.outcomes[ANSWER].copy(), there.causes.copy()
    unsure = (doubtful | np.array([int(i) in uncounted for i in indices], dtype=bool)) & (outcomes == 1)
    outcomes[unsure] = 0
    causes[unsure] = int(Cause.LIST_UNKNOWN)
    return [(int(i), int(o), int(c)) for i, o, c in zip(indices, outcomes, causes, strict=True)]
