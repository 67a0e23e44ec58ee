"""What is so at every place in a municipality, in words: of a site of which nothing more is known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from grownj_geo.logic import Cause
from grownj_geo.words import asked_words, feature_named, feet, lengths, noun_of, place_words

if TYPE_CHECKING:
    from grownj_geo.layer import Layer
    from grownj_geo.leaves import Leaves
    from grownj_geo.nodes import Where, Within

__all__ = ["one_name", "somewhere_in_words", "somewhere_within_words"]


def somewhere_in_words(leaves: Leaves, layer: Layer, where: Where, *, share: float, causes: Cause) -> str:
    """Return that all of the first site's municipality lies in the ground asked for, or no part of it.

    Parameters
    ----------
    leaves, layer, where
        What was asked.
    share
        1 where all of it does, 0 where none does.
    causes
        Why that decides nothing.
    """
    ground = asked_words(where, layer.manifest.title, leaves.bound)
    incomplete = "; the layer is not complete, so that proves nothing" if Cause.LAYER_INCOMPLETE in causes else ""
    found = leaves.coverage(where)
    margin = math.nan if found is None else abs(float(found.margin_ft[0]))
    line = "its line" if not (where.selection or where.at_least) else "the nearest line"
    far = f", {feet(margin)} or more from {line}" if math.isfinite(margin) else ""
    place = place_words(leaves)
    return f"{f'all of {place} is' if share == 1 else f'no part of {place} is'} in {ground}{far}{incomplete}"


def somewhere_within_words(leaves: Leaves, layer: Layer, where: Within, radius_ft: float) -> str:
    """Return that all of the first site's municipality is within a radius, or no part of it, and how far at most.

    Parameters
    ----------
    leaves, layer, where
        What was asked.
    radius_ft
        International feet.
    """
    found = leaves.distance(where)
    if found is None:
        raise AssertionError(layer.id)
    low, high = float(found.near_low[0]), float(found.far_high[0])
    ground = asked_words(where, layer.manifest.title, leaves.bound)
    place = place_words(leaves)
    if high <= radius_ft:
        radius, most = lengths(radius_ft, high)
        name = feature_named(layer, int(found.feature[0])) or f"the nearest {noun_of(layer.id)} of {ground}"
        return f"all of {place} is within {radius} of {name}: {most} away at most"
    radius, least = lengths(radius_ft, low)
    name = one_name(leaves, layer, where) or f"any {noun_of(layer.id)} of {ground}"
    return f"no part of {place} is within {radius} of {name}: {least} away at least"


def one_name(leaves: Leaves, layer: Layer, where: Within) -> str:
    """Return the name that all features have that a clause means; empty where they have several, or none."""
    names = {feature_named(layer, index) for index in leaves.features(layer, where).tolist()}
    return names.pop() if len(names) == 1 else ""
