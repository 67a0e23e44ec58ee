"""Goes to the nearest place of a category: square by square, of which only those are drawn that may hold it.

Each square is looked at once, and those are passed over in which by their features alone nothing can be. What is done
is counted, not timed, so that the same question has the same answer on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import hypot, inf
from typing import TYPE_CHECKING

import shapely

from grownj_geo.betterground import Chosen, Grounds
from grownj_geo.betterplace import MOST_TURNS, SAME_FT, Found, nearest_place
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from collections.abc import Callable

    from grownj_geo.betterplace import XY
    from grownj_geo.bettertowns import Towns
    from grownj_geo.binding import Clause
    from grownj_geo.evaluate import Evaluation
    from grownj_geo.layer import Layer

__all__ = ["MOST_ASKED", "MOST_VERTICES", "Search"]

MOST_VERTICES = 1_500_000
"""Of one site no more is drawn than from so many vertices, all lines together: there a search ends, and says so."""

MOST_ASKED = 90
"""Of one site no more places than these are asked about, all lines together."""

_FIRST_FT = 5_000.0
_RINGS = 9
"""Around a square of 10,000 ft lie rings of twelve squares, each ring twice as wide: in the end all of New Jersey."""

_SMALLEST_FT = 5_000.0
_FEW_FEATURES, _FEW_VERTICES = 30, 12_000
_SQUARE_COSTS = 40
"""Looking at a square costs as much as drawing so many vertices."""

_OVERLAP_FT = 60.0
"""Squares overlap, so that a place beside their common side is asked about at its full depth in one of them."""


@dataclass(frozen=True, order=True)
class _Square:
    """A square, in US survey feet of EPSG:3424: how far it is from the point, its lower left corner, its side."""

    away_ft: float
    x: float
    y: float
    side: float


@dataclass
class Search:
    """Looks for the nearest place of one category after the other, around one point.

    Parameters
    ----------
    run
        The evaluation of the point.
    towns
        None where the municipalities are not loaded.
    point
        The point in EPSG:3424.
    uncertainty_ft
        How well a place is known that is asked about, in international feet.
    most_vertices, most_asked
        What may be done for all categories together.
    """

    run: Evaluation
    towns: Towns | None
    point: shapely.Point
    uncertainty_ft: float = 0.0
    most_vertices: int = MOST_VERTICES
    most_asked: int = MOST_ASKED
    _drawn: dict[_Square, Grounds] = field(default_factory=dict)
    _counted: dict[_Square, int] = field(default_factory=dict)
    _chosen: dict[tuple[str, int], Chosen | None] = field(default_factory=dict)

    def nearest(self, category: str, ask: Callable[[XY], bool], *, limit_ft: float = inf) -> Found:
        """Return the nearest place of a category, nearer than a limit; where the search ended before, how far it went.

        Parameters
        ----------
        category
            Its id.
        ask
            Says of a place (x, y in EPSG:3424) whether it has the category.
        limit_ft
            In planar international feet.
        """
        clause = self.run.bound.clauses[category]
        best: XY | None = None
        best_ft, open_ft = limit_ft, inf

        def counted(place: XY) -> bool:
            self.most_asked -= 1
            return ask(place)

        squares = self._around()
        while squares:
            square = heappop(squares)
            if square.away_ft >= best_ft - SAME_FT:
                return Found(best, min(square.away_ft, best_ft, open_ft), broken_off=open_ft < inf)
            if self.most_vertices <= 0 or self.most_asked <= 0:
                return Found(best, min(square.away_ft, open_ft), broken_off=True)
            grounds = self._grounds(square)
            self.most_vertices -= _SQUARE_COSTS
            if not grounds.near_land or not grounds.may_hold(clause):
                continue
            features = grounds.features(clause)
            small = square.side * FT_PER_FTUS < 2 * _SMALLEST_FT
            vertices = _vertices(features) if small or len(features) <= _FEW_FEATURES else _FEW_VERTICES + 1
            if vertices > _FEW_VERTICES and not small:
                for part in self._quarters(square):
                    heappush(squares, part)
                continue
            # What was drawn for one category need not be drawn again.
            self.most_vertices -= max(vertices - self._counted.get(square, 0), 0)
            self._counted[square] = max(vertices, self._counted.get(square, 0))
            found = self._in(grounds, clause, counted, best_ft)
            if found.place is not None:
                best, best_ft = found.place, self._feet(found.place)
            if found.broken_off:
                open_ft = min(open_ft, found.none_within_ft)
        return Found(best, min(best_ft, open_ft), broken_off=open_ft < inf)

    def _in(self, grounds: Grounds, clause: Clause, ask: Callable[[XY], bool], limit_ft: float) -> Found:
        ground = grounds.on_land(grounds.of(clause))
        # No square uses up what the others need.
        turns = min(MOST_TURNS // 3, self.most_asked)
        return nearest_place(ground, self.point, ask, limit_ft=limit_ft, most_turns=turns)

    # -- squares --------------------------------------------------------------------------------------

    def _around(self) -> list[_Square]:
        half = _FIRST_FT / FT_PER_FTUS
        x, y = self.point.x, self.point.y
        squares = [_Square(0.0, x - half, y - half, 2 * half)]
        for ring in range(_RINGS):
            side = half * 2**ring
            for i in range(-2, 2):
                for j in range(-2, 2):
                    if not (-1 <= i < 1 and -1 <= j < 1):
                        heappush(squares, self._square(x + i * side, y + j * side, side))
        return squares

    def _quarters(self, square: _Square) -> list[_Square]:
        half = square.side / 2
        return [self._square(square.x + i * half, square.y + j * half, half) for i in (0, 1) for j in (0, 1)]

    def _square(self, x: float, y: float, side: float) -> _Square:
        off_x = max(x - self.point.x, 0.0, self.point.x - x - side)
        off_y = max(y - self.point.y, 0.0, self.point.y - y - side)
        return _Square(hypot(off_x, off_y) * FT_PER_FTUS, x, y, side)

    def _grounds(self, square: _Square) -> Grounds:
        if square not in self._drawn:
            half = square.side / 2
            centre, reach_ft = shapely.Point(square.x + half, square.y + half), half * FT_PER_FTUS + _OVERLAP_FT
            self._drawn[square] = Grounds(
                self.run, self.towns, centre, reach_ft, self.uncertainty_ft, chosen=self._chosen
            )
        return self._drawn[square]

    def _feet(self, place: XY) -> float:
        return hypot(place[0] - self.point.x, place[1] - self.point.y) * FT_PER_FTUS


def _vertices(features: list[tuple[Layer, int]]) -> int:
    return sum(1 if layer.lonlat is not None else layer.vertices(index) for layer, index in features)
