"""The nearest place in some ground that surely has what is looked for. Knows geometry; whoever calls asks."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from collections.abc import Callable

    XY = tuple[float, float]

__all__ = ["MOST_TURNS", "SAME_FT", "Found", "nearest_place"]

SAME_FT = 2.0
"""Places whose distances differ by no more than this are as near as each other."""

# How far within the line is asked: there rounding decides nothing. Where curves are drawn roughly, more; where ground
# is narrow, less.
_DEPTH_FT, _DEEP_FT, _NARROW_FT = 0.5, 4.0, 0.1
_CUT_FT = 25.0
MOST_TURNS = 60
"""At the edge of ground that has it not where it should, no more places are tried than some for each of these."""


@dataclass(frozen=True)
class Found:
    """What the search came to, in planar international feet.

    Attributes
    ----------
    place
        The nearest place that has it, in EPSG:3424; None where there is none nearer than the limit.
    none_within_ft
        No place is nearer than this, but for ground that is narrower than half a foot.
    broken_off
        There may be places between `none_within_ft` and the one that was found, or the limit: too many were tried, or
        ground that should have it had it not where it was asked.
    """

    place: XY | None
    none_within_ft: float
    broken_off: bool = False


def nearest_place(
    ground: shapely.Geometry,
    point: shapely.Point,
    ask: Callable[[XY], bool],
    *,
    limit_ft: float = inf,
    most_turns: int = MOST_TURNS,
) -> Found:
    """Return the nearest place in some ground of which asking says yes.

    Parameters
    ----------
    ground
        All such places are in it, in EPSG:3424; some of it may be none.
    point
        Where one comes from.
    ask
        Says of a place (x, y in EPSG:3424) whether it has what is looked for.
    limit_ft
        Places are looked for that are nearer than this, in international feet.
    most_turns
        At how many edges of the ground is asked, one after the other, before the search is broken off.

    Examples
    --------
    >>> strip, here = shapely.box(1000, -500, 2000, 500), shapely.Point(0, 0)
    >>> found = nearest_place(strip, here, lambda place: True)
    >>> [round(v, 1) for v in found.place], round(found.none_within_ft), found.broken_off
    ([1000.5, 0.0], 1000, False)
    >>> nearest_place(strip, here, lambda place: True, limit_ft=900.0)
    Found(place=None, none_within_ft=900.0, broken_off=False)
    """
    best: XY | None = None
    best_ft, open_ft, away, narrow = limit_ft, inf, 0.0, False
    for _ in range(most_turns):
        if ground.is_empty:
            return _found(best, best_ft, open_ft)
        target = _nearest(ground, point)
        away = _feet(point, target)
        if away >= best_ft - SAME_FT:
            return _found(best, min(away, best_ft), open_ft)
        asked, had_it = _asked_around(_around(ground, target, _CUT_FT + 2 * _DEEP_FT), point, ask, (away, best_ft))
        if had_it is not None:
            best, best_ft = had_it, _feet(point, had_it)
        elif not asked and not narrow:
            # One narrow strip is seldom alone: all of them are left out at once.
            ground, narrow = shapely.buffer(ground, -_NARROW_FT / FT_PER_FTUS, join_style="mitre"), True
            continue
        if False in asked:
            # What it is between the places that were asked is not known.
            open_ft = min(open_ft, away)
        if best_ft - away <= SAME_FT:
            return _found(best, away, open_ft)
        ground = shapely.difference(ground, shapely.box(*_square(target, _CUT_FT)))
    return _found(best, away, min(open_ft, away))


def _asked_around(
    near: shapely.Geometry, point: shapely.Point, ask: Callable[[XY], bool], between: tuple[float, float]
) -> tuple[list[bool], XY | None]:
    """Return what the places that were asked said, and the nearest that has it, nearer than the second limit."""
    away, best_ft = between
    asked: list[bool] = []
    best: XY | None = None
    for depth in (_DEPTH_FT, _DEEP_FT, _NARROW_FT):
        # Deeper where it was no yes; less deep where there was no ground, or only far beyond a corner.
        if (depth == _DEEP_FT and asked != [False]) or (depth == _NARROW_FT and False in asked):
            continue
        inside = shapely.buffer(near, -depth / FT_PER_FTUS, join_style="mitre")
        place = None if inside.is_empty else _nearest(inside, point)
        if place is None or _feet(point, place) >= best_ft:
            continue
        asked.append(ask(place))
        if asked[-1]:
            best, best_ft = place, _feet(point, place)
        if best_ft - away <= SAME_FT:
            break
    return asked, best


def _found(best: XY | None, least_ft: float, open_ft: float) -> Found:
    return Found(best, min(least_ft, open_ft), broken_off=open_ft < inf)


def _square(centre: XY, half_ft: float) -> tuple[float, float, float, float]:
    half = half_ft / FT_PER_FTUS
    return centre[0] - half, centre[1] - half, centre[0] + half, centre[1] + half


def _around(ground: shapely.Geometry, centre: XY, half_ft: float) -> shapely.Geometry:
    return shapely.clip_by_rect(ground, *_square(centre, half_ft))


def _nearest(ground: shapely.Geometry, point: shapely.Point) -> XY:
    # Cutting leaves sides of no length behind, at which GEOS divides by it and goes on.
    with np.errstate(divide="ignore", invalid="ignore"):
        line = shapely.get_coordinates(shapely.shortest_line(point, ground))
    return float(line[-1, 0]), float(line[-1, 1])


def _feet(point: shapely.Point, place: XY) -> float:
    return float(np.hypot(place[0] - point.x, place[1] - point.y)) * FT_PER_FTUS
