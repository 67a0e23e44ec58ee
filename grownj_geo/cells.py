"""The cell index: what is so in each square of New Jersey, for all layers of an atlas at once.

Most places lie in squares that no line comes near: what was found for one of them holds for all. The others have the
few edges beside them that may be nearest. The index never changes an answer; it only saves looking for it.
"""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.bulkfind import CLASS_SLACK_FT, MunicipalLines
from grownj_geo.bulkline import Lines
from grownj_geo.bulkmeasure import table_of
from grownj_geo.bulkplan import plan_of
from grownj_geo.cellbuild import (
    CELL,
    Grid,
    Items,
    build_classes,
    build_ground,
    build_municipal,
    build_stations,
)
from grownj_geo.cellfile import read_arrays, write_arrays
from grownj_geo.cellfind import CellFinder, covering
from grownj_geo.cellsplit import build_parts, in_threads, part_of
from grownj_geo.features import LayerFault
from grownj_geo.observe import MARGIN_LIMIT_FT
from grownj_geo.place import PlacementKind, place_sites
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from numpy.typing import NDArray

    from grownj_geo.bulkplan import Plan
    from grownj_geo.determine import Engine
    from grownj_geo.layer import Layer
    from grownj_geo.sitetable import SiteTable

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Progress = Callable[[int, int, str], None]

__all__ = ["CellIndex", "index_fingerprint"]

_FORMAT = 3
_SPARE_FT = 4_000.0
_HALF_HASH = np.uint64(0x9E3779B97F4A7C15)
_TOGETHER = 65_536
"""Points looked up at a time: what is made of them stays in the processor's reach."""


def index_fingerprint(engine: Engine) -> str:
    """Return a checksum of all that a cell index depends on, without the margin limit.

    It covers the features that the rulebook's clauses select on the day under the chosen readings, the layers'
    checksums and accuracies, the radii, and the municipalities.
    """
    return _fingerprint(plan_of(engine.bound, engine.atlas))


def _fingerprint(plan: Plan) -> str:
    digest = hashlib.sha256(f"cells {_FORMAT}\n".encode())

    def add(*values: object) -> None:
        digest.update((json.dumps(values, default=str) + "\n").encode())

    def add_layer(layer: Layer) -> None:
        manifest = layer.manifest
        add(layer.id, layer.fingerprint, manifest.accuracy_ft, len(layer))
        digest.update(layer.tolerances_ft.tobytes())

    for ground, tolerance in zip(plan.grounds, plan.tolerances_ft, strict=True):
        add("ground", tolerance)
        digest.update(ground.features.tobytes())
    for asked in plan.coverages:
        add("coverage", asked.key, asked.grounds, asked.lacking)
        add_layer(asked.layer)
    for question in plan.distances:
        add("distance", question.key, question.radii, question.shares, question.share_limits)
        add_layer(question.layer)
        for chosen in (question.features, question.doubtful, question.possible, question.sure, *question.share_sets):
            digest.update(chosen.tobytes())
            add(len(chosen))
    layer = plan.atlas.layer("municipalities")
    add("municipalities", layer is not None)
    if layer is not None:
        add_layer(layer)
        digest.update(layer.select(as_of=plan.atlas.as_of).tobytes())
    return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class CellIndex:
    """Squares of New Jersey with what every layer has in them. Make one with `build`, or `load` one.

    Attributes
    ----------
    fingerprint
        Of all that the index depends on, as `index_fingerprint` says.
    margin_limit_ft
        Margins up to this many feet can be asked for.
    """

    fingerprint: str
    margin_limit_ft: float
    _grid: Grid
    _cells: NDArray[np.int32]
    _table: NDArray[np.int32]
    _plain: int
    _names: tuple[str, ...]
    _arrays: dict[str, NDArray[np.generic]]

    # -- making, saving, loading ------------------------------------------------------------------------

    @classmethod
    def build(cls, engine: Engine, *, margin_limit_ft: float = 500.0, progress: Progress | None = None) -> CellIndex:
        """Build the index of an atlas for a rulebook's clauses.

        Parameters
        ----------
        engine
            The rulebook on its atlas.
        margin_limit_ft
            Feet up to which margins will be asked for.
        progress
            Called with how many parts are done, how many there are, and what comes next.

        Raises
        ------
        LayerFault
            ``no_municipalities`` if the municipal polygons cannot be used: there is nothing to lay the squares over.
        ValueError
            If the limit is none that can be kept.
        """
        if not 0 < margin_limit_ft <= MARGIN_LIMIT_FT:
            raise ValueError(
                f"The margin limit is {margin_limit_ft!r}; expected feet, more than 0 and at most "
                f"{MARGIN_LIMIT_FT:,.0f}."
            )
        plan = plan_of(engine.bound, engine.atlas)
        lines = MunicipalLines.of(engine.atlas)
        if lines is None:
            problem = engine.atlas.state("municipalities").problem
            raise LayerFault(
                "no_municipalities",
                f"The municipalities cannot be used ({problem}). An index needs them; go without an index.",
            )
        columns: dict[str, NDArray[np.int32]] = {}
        arrays: dict[str, NDArray[np.generic]] = {}
        layers = _point_layers(plan)
        polygons = [i for i, asked in enumerate(plan.distances) if asked.layer.lonlat is None]
        total, done = 1 + len(plan.grounds) + len(layers) + len(polygons), 0

        def tell(words: str) -> None:
            nonlocal done
            if progress is not None:
                progress(done, total, words)
            done += 1

        tell("municipalities")
        edges = lines.edges[0]
        box = (edges[:, ::2].min(), edges[:, 1::2].min(), edges[:, ::2].max(), edges[:, 1::2].max())
        grid = Grid.around(tuple(map(float, box)), _SPARE_FT)  # type: ignore[arg-type]
        columns["municipal"], groups = build_municipal(grid, lines)
        arrays |= _named("municipal", groups.items) | {
            "municipal.edges": edges,
            "municipal.groups": np.column_stack([groups.first, groups.count, groups.base, groups.whole]),
            "municipal.owner": groups.owner,
            "municipal.parts": build_parts(grid, edges, columns["municipal"], groups),
        }
        reaches = [max(margin_limit_ft, tolerance) + 1.0 for tolerance in plan.tolerances_ft]
        # Arrays and overlays let other threads work: two grounds at a time, and no more memory than for two.
        with ThreadPoolExecutor(max_workers=2) as pool:
            built = pool.map(lambda g, reach: build_ground(grid, g.edges, reach), plan.grounds, reaches)
            for number, (ground, (column, items)) in enumerate(zip(plan.grounds, built, strict=True)):
                tell(f"ground {number + 1}")
                columns[f"ground{number}"] = column
                arrays |= _named(f"ground{number}", items) | {f"ground{number}.edges": ground.edges}
        for layer in layers:
            tell(layer.id)
            columns[f"points.{layer.id}"], items = build_stations(grid, plan, layer, margin_limit_ft)
            arrays |= _named(f"points.{layer.id}", items)
        for number in polygons:
            tell(plan.distances[number].layer.id)
            columns[f"distance{number}"] = build_classes(grid, plan, plan.distances[number], margin_limit_ft)
        cells, table, plain = _combined(list(columns.values()))
        return cls(_fingerprint(plan), margin_limit_ft, grid, cells, table, plain, tuple(columns), arrays)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the index to a file, beside which it is written first: there is never half an index.

        Raises
        ------
        LayerFault
            ``index_not_written`` if the file cannot be written or put in place.
        """
        header = {
            "format": _FORMAT,
            "fingerprint": self.fingerprint,
            "margin_limit_ft": self.margin_limit_ft,
            "grid": asdict(self._grid),
            "plain": self._plain,
            "columns": list(self._names),
        }
        write_arrays(path, header, {"cells": self._cells, "table": self._table, **self._arrays})

    @classmethod
    def load(cls, path: str | PathLike[str], *, fingerprint: str | None = None) -> CellIndex:
        """Return an index from a file, mapped into memory: what is not asked for is not read.

        Parameters
        ----------
        path
            The file.
        fingerprint
            What the index has to be of, as `index_fingerprint` says; None to find out later.

        Raises
        ------
        LayerFault
            ``no_index`` if there is no such file, ``damaged_index`` if it is not as it was written, and
            ``stale_index`` if it is of something else. Build it again then.
        """
        header, arrays = read_arrays(path, kind=_FORMAT)
        found = cls(
            str(header["fingerprint"]),
            float(header["margin_limit_ft"]),
            Grid(**header["grid"]),
            arrays.pop("cells"),
            arrays.pop("table"),
            int(header["plain"]),
            tuple(header["columns"]),
            arrays,
        )
        if fingerprint is not None and found.fingerprint != fingerprint:
            raise _stale(found.fingerprint, fingerprint)
        return found

    @property
    def size_bytes(self) -> int:
        """How large the index is in memory or on disk, in bytes."""
        return self._cells.nbytes + self._table.nbytes + sum(array.nbytes for array in self._arrays.values())

    def check(self, plan: Plan, margin_limit_ft: float) -> None:
        """Refuse a plan that the index was not built for.

        Raises
        ------
        LayerFault
            ``stale_index`` if it is of other layers, another day or other rules; ``index_limit`` if margins are
            wanted beyond its own limit.
        """
        wanted = _fingerprint(plan)
        if wanted != self.fingerprint:
            raise _stale(self.fingerprint, wanted)
        if margin_limit_ft > self.margin_limit_ft:
            raise LayerFault(
                "index_limit",
                f"The index knows margins up to {self.margin_limit_ft:g} ft, and {margin_limit_ft:g} ft was asked for. "
                "Build it again with that limit, or ask for less.",
            )

    # -- looking up ------------------------------------------------------------------------------------

    def alike(self, sites: SiteTable) -> tuple[Ints, Ints]:
        """Return for each site which row stands for it, and these rows: sites in plain cells share one.

        Parameters
        ----------
        sites
            The sites, shape (n,).

        Returns
        -------
        tuple
            Positions among the rows, shape (n,), and the rows.
        """
        n = len(sites)
        key = self._keys(sites)
        known = np.flatnonzero(key >= 0)
        stand_in = np.arange(n)
        if len(known):
            keys = key[known]
            most = int(keys.max()) + 1
            if most <= 4 * n + 1_000_000:
                first = np.empty(most, dtype=np.int64)
                first[keys[::-1]] = known[::-1]
                stand_in[known] = first[keys]
            else:
                _, first, member = np.unique(keys, return_index=True, return_inverse=True)
                stand_in[known] = known[first][member.ravel()]
        own = stand_in == np.arange(n)
        rows = np.flatnonzero(own)
        return (np.cumsum(own) - 1)[stand_in], rows

    def _keys(self, sites: SiteTable) -> Ints:
        """Return a number for each site that all sites with the same observations share; -1 for sites of their own."""
        n = len(sites)
        key = np.full(n, -1, dtype=np.int64)
        usual = sites.placed & (sites.uncertainty_ft == 0)
        points = np.flatnonzero(usual & sites.points)
        if len(points):
            xy = sites.xy if len(points) == n else sites.xy[points]
            key[points] = self._key_of(xy)
        others = np.flatnonzero(usual & ~sites.points)
        if len(others):
            key[others] = self._key_of_boxes(shapely.bounds(sites.geometries[others]))
        known = np.flatnonzero(key >= 0)
        key[known] = 2 * key[known] + sites.points[known]
        if any(sites.mun_codes):
            codes = sorted(set(sites.mun_codes))
            number = {code: i for i, code in enumerate(codes)}
            said = np.array([number[code] for code in sites.mun_codes], dtype=np.int64)
            by_pin = np.ones(n, dtype=np.int64) if sites.by_pin is None else np.array(sites.by_pin, dtype=np.int64)
            key[known] = (key[known] * len(codes) + said[known]) * 2 + by_pin[known]
        return key

    def combination(self, xy: Floats) -> Ints:
        """Return the combination of each place's cell; -1 outside the grid."""
        inside = self._grid.inside(xy)
        if inside.all():
            return np.take(self._cells, self._grid.cell(xy)).astype(np.int64)
        found = np.full(len(xy), -1, dtype=np.int64)
        found[inside] = self._cells[self._grid.cell(xy[inside])]
        return found

    def _key_of(self, xy: Floats) -> Ints:
        found = self.combination(xy)
        return np.where(found < self._plain, found, -1)

    def _key_of_boxes(self, boxes: Floats) -> Ints:
        """Return the combination that all cells of a box have; -1 where they differ, or are not plain."""
        corners = [self._key_of(boxes[:, [i, j]]) for i in (0, 2) for j in (1, 3)]
        same = np.logical_and.reduce([corner == corners[0] for corner in corners]) & (corners[0] >= 0)
        low, high = (self._places_of(boxes[:, i : i + 2]) for i in (0, 2))
        across = self.cells_across(boxes)
        # The squares know how far places are; the farthest part of a large site may be farther.
        same &= np.hypot(*(boxes[:, 2:] - boxes[:, :2]).T) * FT_PER_FTUS <= CLASS_SLACK_FT
        found = np.where(same, corners[0], -1)
        for i in np.flatnonzero(same & (across > 1)).tolist():
            (c0, r0), (c1, r1) = low[i].astype(int).tolist(), high[i].astype(int).tolist()
            inner = self._cells.reshape(self._grid.rows, self._grid.columns)[r0 : r1 + 1, c0 : c1 + 1]
            if (inner != found[i]).any():
                found[i] = -1
        return found

    def _places_of(self, xy: Floats) -> Floats:
        """Return columns and rows of the cells of places, shape (k, 2)."""
        return np.floor((xy - [self._grid.x0, self._grid.y0]) / CELL)

    def cells_across(self, boxes: Floats) -> Floats:
        """Return how many cells farther the far side of each box is than its near side, shape (n,)."""
        return np.asarray((self._places_of(boxes[:, 2:]) - self._places_of(boxes[:, :2])).max(axis=1))

    def municipalities(self, engine: Engine, sites: SiteTable) -> tuple[tuple[str, ...], Ints]:
        """Return which municipality covers each of some points, and nothing else.

        Parameters
        ----------
        engine
            The rulebook on its atlas that the index was built for.
        sites
            Points, shape (n,); their own uncertainty and what a parcel number says are left aside.

        Returns
        -------
        tuple
            The municipal codes, and each point's position among them, shape (n,): -1 where none covers it. A point
            on a shared line has the lower code, as everywhere.

        Raises
        ------
        LayerFault
            ``stale_index`` if the index is of something else.
        ValueError
            If a site is no point.
        """
        plan = plan_of(engine.bound, engine.atlas)
        self.check(plan, self.margin_limit_ft)
        lines = MunicipalLines.of(engine.atlas)
        if lines is None:
            raise AssertionError("an index without municipalities")
        shapes = sites.geometries
        blocks = [shapes[begin : begin + _TOGETHER] for begin in range(0, len(shapes), _TOGETHER)]
        found = in_threads(lambda block: covering(self, plan, block), blocks)
        cover = np.concatenate([np.zeros(0, dtype=np.int64), *(covers for covers, _ in found)])
        again = np.flatnonzero(np.concatenate([np.zeros(0, dtype=bool), *(open_rows for _, open_rows in found)]))
        if len(again):
            place = place_sites(engine.atlas, table_of(shapes[again]))
            covered = [kind not in {PlacementKind.OFFSHORE, PlacementKind.OUTSIDE} for kind in place.kinds]
            cover[again] = np.where(covered, place.candidates[place.starts], -1)
        return lines.codes, cover

    def inside(self, xy: Floats) -> NDArray[np.bool_]:
        """Return which places, shape (k, 2), lie in the squares of the index."""
        return self._grid.inside(xy)

    def cells_under(self, boxes: Floats, most: int) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        """Return pairs of a box and a cell's combination, and which boxes are left out, as `Grid.under` does."""
        box, cell, left_out = self._grid.under(boxes, most)
        return box, self._cells[cell].astype(np.int64), left_out

    def parts(self, xy: Floats) -> Ints:
        """Return which part of its square each place, shape (k, 2), is in."""
        return part_of(self._grid, xy)

    def finder(self, plan: Plan, xy: Floats) -> CellFinder:
        """Return what finds the lines near places, all of which lie in the squares of the index."""
        return CellFinder(self, plan, xy)

    def items(self, name: str) -> Items:
        """Return the items of a column."""
        arrays = self._arrays
        return Items(arrays[f"{name}.first"], arrays[f"{name}.count"], arrays[f"{name}.members"])  # type: ignore[arg-type]

    def array(self, name: str) -> NDArray[np.generic]:
        """Return one of the index's arrays."""
        return self._arrays[name]

    def column(self, name: str, combinations: Ints) -> NDArray[np.int32]:
        """Return the entries of a column for some combinations."""
        found: NDArray[np.int32] = np.take(self._table[self._names.index(name)], combinations)
        return found

    @cached_property
    def _lines(self) -> dict[str, Lines]:
        """Lines by column; filled as they are asked for."""
        return {}

    def lines(self, name: str) -> Lines:
        """Return the lines of a column."""
        found = self._lines.get(name)
        if found is None:
            found = self._lines[name] = Lines.of(np.asarray(self._arrays[f"{name}.edges"], dtype=np.float64))
        return found


def _stale(found: str, wanted: str) -> LayerFault:
    return LayerFault(
        "stale_index",
        f"The index is of {found[:12]}, and {wanted[:12]} was asked for: the layers, the day, the readings or the "
        "rules are others. Build it again.",
    )


def _point_layers(plan: Plan) -> list[Layer]:
    return list(dict.fromkeys(asked.layer for asked in plan.distances if asked.layer.lonlat is not None))


def _named(name: str, items: Items) -> dict[str, NDArray[np.generic]]:
    return {f"{name}.first": items.first, f"{name}.count": items.count, f"{name}.members": items.members}


def _combined(columns: list[NDArray[np.int32]]) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """Return for each cell its combination of entries, the entries by column and combination, and how many are plain.

    Plain combinations, of which no entry is open, come first.
    """
    mixed = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        # A product and a shift scatter the bits, so that cells with other entries have other numbers.
        mixed = (mixed ^ column.astype(np.int64).view(np.uint64)) * _HALF_HASH
        mixed ^= mixed >> np.uint64(29)
    order = np.argsort(mixed)
    begins = np.r_[True, mixed[order[1:]] != mixed[order[:-1]]]
    first = order[begins]
    cells: NDArray[Any] = np.empty(len(mixed), dtype=np.int32)
    cells[order] = np.cumsum(begins) - 1
    table = np.stack([column[first] for column in columns])
    if not all(np.array_equal(entries[cells], column) for entries, column in zip(table, columns, strict=True)):
        # Two combinations fell together, as one time in millions they may: all entries compared, slowly.
        table, cells = np.unique(np.stack(columns), axis=1, return_inverse=True)
        cells = cells.ravel().astype(np.int32)
    is_open = (table >= 0).any(axis=0)
    order = np.argsort(is_open, kind="stable")
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return place[cells], np.ascontiguousarray(table[:, order]), int((~is_open).sum())
