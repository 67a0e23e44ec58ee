"""Which n of some points are nearest to others, where every position is known to so many feet only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.layer import Layer

__all__ = ["ranked"]


def ranked(
    layer: Layer, found: NDArray[np.int64], targets: Layer, to: NDArray[np.int64], *, n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return those of some points that surely, as computed, and possibly are among the n nearest to some others.

    Parameters
    ----------
    layer, found
        A layer of points, and the indices of those that are ranked.
    targets, to
        The layer of the others, and their indices.
    n
        How many are wanted.
    """
    if not len(to) or not len(found):
        return found[:0], found[:0], found[:0]
    between = layer.bounds[found, None, :2] - targets.bounds[None, to, :2]
    feet = np.hypot(between[..., 0], between[..., 1]) * FT_PER_FTUS
    low = (feet - targets.tolerances_ft[to]).min(axis=1) - layer.tolerances_ft[found]
    high = (feet + targets.tolerances_ft[to]).min(axis=1) + layer.tolerances_ft[found]
    others = ~np.eye(len(found), dtype=bool)
    perhaps_nearer = ((low[None, :] <= high[:, None]) & others).sum(axis=1)
    surely_nearer = ((high[None, :] < low[:, None]) & others).sum(axis=1)
    computed = np.sort(np.argsort(feet.min(axis=1), kind="stable")[:n])
    return found[perhaps_nearer < n], found[computed], found[surely_nearer < n]
