"""Shares of parcels in the areas that a line cuts them from, in words for a table's cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grownj_geo.bulkmeasure import some
from grownj_geo.evidence import cut_share
from grownj_geo.leaves import Leaves
from grownj_geo.nodes import InsideNode, OverlapsNode, ShareOverNode, WithinNode
from grownj_geo.units import miles_to_ft
from grownj_geo.words import percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from grownj_geo.binding import BoundRulebook
    from grownj_geo.nodes import Where, Within

__all__ = ["are_cut", "share_words"]


def are_cut(leaves: Leaves) -> NDArray[np.bool_]:
    """Return which sites may lie partly in an area that their leaves were asked about, or in no one municipality.

    Parameters
    ----------
    leaves
        Leaves of n sites whose categories were evaluated.
    """
    found = np.zeros(leaves.n, dtype=bool)
    for coverage in leaves.coverages.values():
        found |= (coverage.share_low < 1) & (coverage.share_high > 0)
    for low, _, high in leaves.land_shares.values():
        found |= ~((low >= 1) | (high <= 0))
    for where in _radii(leaves.bound):
        measured = leaves.distance(where)
        if measured is not None:
            radius = miles_to_ft(leaves.bound.figures[where.radius])
            found |= (measured.near_low <= radius) & (measured.far_high > radius)
    single = np.append(leaves.placement.starts[1:], len(leaves.placement.candidates)) - leaves.placement.starts == 1
    cut: NDArray[np.bool_] = (found | ~single) & ~leaves.sites.points & leaves.sites.placed
    return cut


def share_words(leaves: Leaves) -> NDArray[np.object_]:
    """Return for each of n sites its share in every area that a line cuts it from; None for a point or an uncut site.

    Each is measured as the site's own record has it.
    """
    words = np.full(leaves.n, None, dtype=object)
    for row in np.flatnonzero(~leaves.sites.points & leaves.sites.placed).tolist():
        one = Leaves(leaves.bound, leaves.atlas, some(leaves.sites, np.array([row])))
        words[row] = "; ".join(dict.fromkeys(_parts(one))) or None
    return words


def _radii(bound: BoundRulebook) -> Iterator[Within]:
    """Yield the radii that may cut a parcel in two."""
    for clause in bound.leaves:
        if isinstance(clause.node, WithinNode) and clause.node.within.part != "any":
            yield clause.node.within


def _parts(one: Leaves) -> Iterator[str]:
    place = one.placement
    codes, shares = place.codes_of(0), place.shares_of(0)
    if len(codes) > 1:
        for code, share in zip(codes, shares, strict=True):
            yield f"{one.membership.name(code)} {percent(share)}"
    for clause in one.bound.leaves:
        node = clause.node
        if isinstance(node, ShareOverNode):
            if one.layer(node.share_over.layer) is not None:
                named = f"{node.share_over.layer} within {one.bound.figures[node.share_over.radius]:g} mi"
                yield from _said(named, *one.share_of(node.share_over))
        elif isinstance(node, InsideNode | OverlapsNode):
            where = node.inside if isinstance(node, InsideNode) else node.overlaps
            found = one.coverage(where)
            if found is not None:
                figures = (float(found.share_low[0]), float(found.share[0]), float(found.share_high[0]))
                yield from _said(_name(one.bound, where), *figures)
    for within in _radii(one.bound):
        cut = cut_share(one, within)
        if cut is not None:
            yield from _said(f"{_name(one.bound, within)} within {one.bound.figures[within.radius]:g} mi", *cut)


def _name(bound: BoundRulebook, where: Where) -> str:
    values = [value for _, several in where.selection for value in several]
    least = [f"{name} from {bound.figures[figure]:g}" for name, figure in sorted(where.at_least.items())]
    return " ".join([where.layer, *values, *least])


def _said(name: str, low: float, share: float, high: float) -> Iterator[str]:
    if not (low < 1 and high > 0):
        return
    if np.isnan(share):
        yield f"{name} {percent(low)} to {percent(high)}"
    elif 0 < share < 1:
        yield f"{name} {percent(share)}"
