"""Address points of a file, block by block: what is written on them, where they are, and in which municipality."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.features import Change, LayerFault
from grownj_geo.parcelfields import ADDRESS_PARTS
from grownj_geo.parceltexts import Municipalities, Tally, plain_address, zip_of
from grownj_geo.rows_block import cell_text, is_blank
from grownj_geo.rows_place import plain_numbers
from grownj_geo.rows_shapes import fitting_box, place_points

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.georeference import Georeference
    from grownj_geo.layer import Layer
    from grownj_geo.locate import MunicipalDirectory
    from grownj_geo.parcelfields import Columns
    from grownj_geo.rows_block import RawBlock

__all__ = ["PointBlock", "PointReader"]

_FIRST = "{count}; the first: {example}."
_TOLD: dict[str, tuple[Any, str]] = {
    "row_problem": ("left_out", f"Rows that cannot be read, left out: {_FIRST}"),
    "no_address": ("left_out", "Rows without an address, left out: {count}."),
    "no_place": ("left_out", f"Addresses without a place that can be used, left out: {_FIRST}"),
    "municipality_by_map": ("noted", "Points of which the map said the municipality, not the file: {count}."),
    "no_municipality": ("noted", "Points without a municipality in the file, and in none on the map: {count}."),
    "zip_restored": ("changed", "ZIP codes that got back the zero before them: {count}."),
    "zip_left": ("changed", f"ZIP codes that are none of New Jersey, left out: {_FIRST}"),
    "address_left": ("changed", f"Addresses that are too long or hold control characters: {_FIRST}"),
}
_LONGEST_KIND = 60


@dataclass
class PointBlock:
    """Some address points, ready to be stored: lists of n values each.

    Attributes
    ----------
    xy
        In EPSG:3424 (US survey feet), shape (n, 2).
    rows
        Their rows in the file.
    read
        Rows of the file that were looked at.
    """

    mun_codes: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    zip_codes: list[str | None] = field(default_factory=list)
    kinds: list[str | None] = field(default_factory=list)
    xy: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 2)))
    rows: list[int] = field(default_factory=list)
    read: int = 0

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.addresses)


class PointReader:
    """Makes address points of blocks of rows.

    Parameters
    ----------
    name
        What messages call the file.
    columns
        Which column says what.
    system
        What places are in.
    directory
        Which municipalities there are.
    lines
        The layer of municipalities, which says where a point lies that does not say it itself.
    """

    def __init__(
        self, name: str, columns: Columns, system: Georeference, directory: MunicipalDirectory, *, lines: Layer
    ) -> None:
        if not (columns["address"] or columns["street"]):
            raise LayerFault(
                "no_address_columns",
                f"{name} has no column of addresses. Expected whole ones, or the number and the street; name them: "
                "--map address=COLUMN, or --map number=COLUMN --map street=COLUMN.",
            )
        self.name = name
        self.columns = columns
        self.tally = Tally()
        self._system = system
        self._box = fitting_box(system)
        self._municipalities = Municipalities(directory)
        self._lines = lines

    @property
    def changes(self) -> list[Change]:
        """What is to be told of the rows so far."""
        return self.tally.changes(_TOLD)

    def read(self, raw: RawBlock) -> PointBlock:
        """Return the address points of some rows."""
        block = PointBlock(read=len(raw))
        unread = raw.problems if raw.shapes is None else {}
        texts = self._addresses(raw)
        xy, problems = self._places(raw)
        kept: list[int] = []
        for i, text in enumerate(texts):
            row = raw.first_row + i
            if i in unread:
                self.tally.add("row_problem", row, unread[i])
            elif text is None:
                self.tally.add("no_address", row)
            elif i in problems or not np.isfinite(xy[i]).all():
                self.tally.add("no_place", row, f"{text!r}, {problems.get(i, 'which has none')}")
            else:
                kept.append(i)
                block.addresses.append(text)
        zips, kinds = self.columns.cells(raw, "zip_code"), self.columns.cells(raw, "kind")
        block.rows = [raw.first_row + i for i in kept]
        block.xy = xy[kept]
        block.zip_codes = [None if zips[i] is None else zip_of(zips[i], raw.first_row + i, self.tally) for i in kept]
        block.kinds = [cell_text(kinds[i]).strip()[:_LONGEST_KIND] or None for i in kept]
        block.mun_codes = self._codes(raw, kept, block)
        return block

    def _addresses(self, raw: RawBlock) -> list[str | None]:
        """Return the address of each row: as it is written whole, else put together of its parts."""
        if self.columns["address"] is not None:
            whole = self.columns.cells(raw, "address")
            return [plain_address(cell, raw.first_row + i, self.tally) for i, cell in enumerate(whole)]
        parts = [self.columns.cells(raw, role) for role in ADDRESS_PARTS if self.columns[role] is not None]
        streets = self.columns.cells(raw, "street")
        joined = []
        for i, cells in enumerate(zip(*parts, strict=True)):
            text = " ".join(word for cell in cells if (word := _word(cell)))
            joined.append(None if is_blank(streets[i]) else plain_address(text, raw.first_row + i, self.tally))
        return joined

    def _places(self, raw: RawBlock) -> tuple[NDArray[np.float64], dict[int, str]]:
        """Return places in EPSG:3424, shape (n, 2), and why some are none."""
        problems = dict(raw.problems) if raw.shapes is not None else {}
        if raw.shapes is not None:
            shapes = np.asarray(raw.shapes, dtype=object).copy()
            several = shapely.get_type_id(shapes) == shapely.GeometryType.MULTIPOINT
            several &= shapely.get_num_geometries(shapes) == 1
            shapes[several] = shapely.get_geometry(shapes[several], 0)
            points = shapely.get_type_id(shapes) == shapely.GeometryType.POINT
            for i in map(int, np.flatnonzero(~points & ~shapely.is_missing(shapes))):
                problems[i] = f"which is a {shapes[i].geom_type}, not a point"
            xy = np.column_stack([shapely.get_x(shapes), shapely.get_y(shapes)])
        else:
            assert self.columns.pair is not None  # noqa: S101 - whoever made the reader found a place in the rows
            (x, _), (y, _) = (plain_numbers(raw.columns[column]) for column in self.columns.pair)
            xy = np.column_stack([x, y])
        placed, misplaced = place_points(xy, self._system, self._box)
        problems |= {i: f"of which {why}" for i, why in misplaced.items() if i not in problems}
        found: NDArray[np.float64] = np.column_stack([shapely.get_x(placed), shapely.get_y(placed)])
        return found, problems

    def _codes(self, raw: RawBlock, kept: list[int], block: PointBlock) -> list[str]:
        names, counties = self.columns.cells(raw, "municipality"), self.columns.cells(raw, "county")
        codes = ["" if is_blank(names[i]) else self._municipalities.code(names[i], counties[i]) or "" for i in kept]
        lacking = [k for k, code in enumerate(codes) if not code]
        if lacking:
            by_map = self._by_map(block.xy[lacking])
            for k, code in zip(lacking, by_map, strict=True):
                codes[k] = code
                self.tally.add("municipality_by_map" if code else "no_municipality", block.rows[k])
        return codes

    def _by_map(self, xy: NDArray[np.float64]) -> list[str]:
        codes = [""] * len(xy)
        names = self._lines.columns[self._lines.manifest.key_field or ""]
        points, areas = self._tree.query(shapely.points(xy), predicate="intersects")
        # On a line between two, the one of which the layer speaks first.
        for point, area in sorted(zip(points.tolist(), areas.tolist(), strict=True), reverse=True):
            codes[point] = str(names[area])
        return codes

    @cached_property
    def _tree(self) -> shapely.STRtree:
        return shapely.STRtree([self._lines.geometry(i) for i in range(len(self._lines))])


def _word(cell: object) -> str:
    # The standard writes an unknown part as nothing, or as a word for it.
    text = cell_text(cell).strip()
    return "" if text.upper() in {"NULL", "NONE", "N/A", "<NULL>"} else text
