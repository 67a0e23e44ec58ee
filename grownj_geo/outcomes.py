"""From measured intervals to outcomes: when a share or a distance is a yes, a no, or neither."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.logic import Cause
from grownj_geo.values import Values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.observe import Coverage, Distance

__all__ = ["SLIVER_SQFT", "from_distances", "from_land_shares", "from_shares", "without_slivers"]

SLIVER_SQFT = 100.0
"""Overlaps up to this are drawing noise, not ground."""

_HALF = 0.5


def from_shares(found: Coverage, *, partial: str) -> Values:
    """Return whether sites are inside, from the least and the greatest share that can be.

    Parameters
    ----------
    found
        How much of each site the features cover.
    partial
        How a cut site is read (reading A3): ``"undetermined"``, or in if ``"any"`` part, the ``"majority"``
        or ``"all"`` of it is in.
    """
    low, nominal, high = found.share_low, found.share, found.share_high
    if partial == "any":
        sure, out, leans = low > 0, high == 0, nominal > 0
    elif partial == "majority":
        sure, out, leans = low > _HALF, high <= _HALF, nominal > _HALF
    else:
        sure, out, leans = low == 1, (high < 1 if partial == "all" else high == 0), nominal == 1
    answer = np.where(sure, 1, np.where(out, -1, 0)).astype(np.int8)
    cut = (nominal > 0) & (nominal < 1) & (partial == "undetermined")
    # Cut by no more than the line is unsure of: the site may as well be wholly in, or wholly out.
    in_if_moved, out_if_moved = cut & (high == 1), cut & (low == 0)
    leans_in = np.where(in_if_moved & out_if_moved, nominal > _HALF, np.where(cut, in_if_moved, leans))
    unknown = np.isnan(nominal) | (cut & ~in_if_moved & ~out_if_moved)
    leaning = np.where(answer != 0, answer, np.where(unknown, 0, np.where(leans_in, 1, -1)))
    partly = cut & ~in_if_moved & ~out_if_moved
    causes = np.where(answer == 0, np.where(partly, int(Cause.PARTIAL), int(Cause.NEAR_LINE)), 0)
    return Values(_rows(answer, leaning), found.margin_ft.copy(), causes.astype(np.int32))


def without_slivers(found: Coverage, *, area_sqft: NDArray[np.float64]) -> Coverage:
    """Return the coverage with overlaps up to a drawing sliver taken as none, and gaps up to one as closed."""
    # More than half of a site that is smaller than two slivers is no drawing noise.
    least = np.where(area_sqft > 0, SLIVER_SQFT / np.maximum(area_sqft, 2 * SLIVER_SQFT), 0.0)

    def snapped(share: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(share <= least, 0.0, np.where(share >= 1 - least, 1.0, share))

    return replace(
        found,
        share_low=snapped(found.share_low),
        share=snapped(found.share),
        share_high=snapped(found.share_high),
    )


def from_distances(found: Distance, *, radius_ft: float, partial: str = "undetermined") -> Values:
    """Return whether sites are within a radius: the farthest part must be in, or the nearest part out.

    A site at exactly the radius is in. The margin is that of the computed distance, or of the bound that
    decides where only bounds are known. With ``"any"``, any part in is in (reading A3); its other options ask for
    shares, which distances do not tell.
    """
    if partial == "any":
        found = replace(found, far_low=found.near_low, far=found.near, far_high=found.near_high)
    sure, out = found.far_high <= radius_ft, found.near_low > radius_ft
    known = ~np.isnan(found.near)
    all_known = bool(known.all())
    # The computed distance where there is one, else the bound that decides.
    near = found.near if all_known else np.where(known, found.near, found.near_low)
    far = found.far if all_known else np.where(known, found.far, found.far_high)
    if out.all():  # the common case of one site, without the work of the others
        return _settled(-1, radius_ft - near)
    if sure.all():
        return _settled(1, radius_ft - far)
    answer = sure.astype(np.int8) - out.astype(np.int8)
    near_in, far_in = found.near <= radius_ft, found.far <= radius_ft
    cut = near_in & ~far_in & known
    open_still = answer == 0
    margin = radius_ft - np.where(sure | far_in, far, near)
    margin[cut | ~np.isfinite(margin) | (open_still & ~known)] = np.nan
    leaning = answer.copy()
    leaning[open_still & far_in] = 1
    leaning[open_still & ~near_in & known] = -1
    causes = np.zeros(len(answer), dtype=np.int32)
    causes[open_still] = int(Cause.NEAR_LINE)
    causes[open_still & cut] = int(Cause.PARTIAL)
    return Values(_rows(answer, leaning), margin, causes)


def _settled(answer: int, margin: NDArray[np.float64]) -> Values:
    margin[np.isinf(margin)] = np.nan
    n = len(margin)
    return Values(np.full((3, n), answer, dtype=np.int8), margin, np.zeros(n, dtype=np.int32))


def from_land_shares(shares: NDArray[np.float64], *, more_than: float) -> Values:
    """Return whether more than a share of each site's area is in.

    Parameters
    ----------
    shares
        Least, computed and greatest share, shape (3, n).
    more_than
        The share that must be exceeded: exactly this much is a no.
    """
    low, nominal, high = shares
    answer = np.where(low > more_than, 1, np.where(high <= more_than, -1, 0)).astype(np.int8)
    leaning = np.where(answer != 0, answer, np.where(nominal > more_than, 1, -1))
    causes = np.where(answer == 0, int(Cause.NEAR_LINE), 0)
    return Values(_rows(answer, leaning), None, causes.astype(np.int32))


def _rows(answer: NDArray[np.int8], leaning: NDArray[np.integer]) -> NDArray[np.int8]:
    rows = np.empty((3, len(answer)), dtype=np.int8)
    rows[0] = rows[2] = answer
    rows[1] = leaning
    return rows
