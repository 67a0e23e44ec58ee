"""Blocks of rows: as a table has them, and as sites in arrays."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import shapely

from grownj_geo.site import Site
from grownj_geo.sitetable import SiteTable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterator, Sequence

    from numpy.typing import NDArray

    from grownj_geo.features import Change
    from grownj_geo.rows_find import LocatedRow

__all__ = ["Came", "ColumnType", "OutColumn", "RawBlock", "RowBlock", "RowSource", "cell_text", "is_blank"]

ColumnType = Literal["text", "integer", "number", "boolean", "date", "datetime", "any"]
"""What a column holds; ``"any"`` is the cells of a spreadsheet, each of its own kind."""


@dataclass(frozen=True)
class OutColumn:
    """A column of a table: its name and what it holds.

    Attributes
    ----------
    name
        The header.
    type
        What the values are.
    arrow
        The exact Arrow type where the table came as Arrow and is to leave so.
    """

    name: str
    type: ColumnType = "text"
    arrow: Any = None


def is_blank(value: object) -> bool:
    """Return whether a cell shows nothing.

    Examples
    --------
    >>> is_blank(None), is_blank("  "), is_blank(float("nan")), is_blank(0)
    (True, True, True, False)
    """
    if value is None:
        return True
    if isinstance(value, str):
        return not value or value.isspace()
    return isinstance(value, float) and math.isnan(value)


def cell_text(value: object) -> str:  # noqa: PLR0911 - one return for each kind
    """Return a cell as its reader sees it: whole numbers without a point, days as ISO dates, nothing as empty text.

    Examples
    --------
    >>> cell_text(408.0), cell_text(1.1), cell_text(None), cell_text(dt.datetime(2016, 7, 14))
    ('408', '1.1', '', '2016-07-14')
    """
    if isinstance(value, str):
        return value
    if is_blank(value):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, dt.datetime):
        midnight = value.time() == dt.time() and value.tzinfo is None
        return value.date().isoformat() if midnight else value.isoformat()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value)


@dataclass(frozen=True, eq=False)
class RawBlock:
    """Some rows of a table as they came.

    Attributes
    ----------
    start
        How many rows of the table come before.
    first_row
        Number of the first row as the user sees it: lines of a text or sheet count from 1, header included.
    count
        How many rows.
    columns
        Values by column.
    batch
        The same columns as an Arrow record batch, where the table came as one.
    shapes
        Geometries in the table's own system, shape (count,); None where the table has none.
    problems
        By position: why a row cannot be used.
    unread
        By position and column: why a cell, which shows as empty, is not known to be empty.
    changes
        What is to be told of these rows.
    wkb
        `shapes` as an Arrow array of well-known binary, where the table has them so.
    located
        By position: what was found for rows that were looked up.
    """

    start: int
    first_row: int
    count: int
    columns: Mapping[str, Sequence[Any]]
    batch: Any = None
    shapes: NDArray[Any] | None = None
    problems: Mapping[int, str] = field(default_factory=dict)
    unread: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    wkb: Any = None
    located: Mapping[int, LocatedRow] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.count

    def slim(self, used: Collection[str]) -> RawBlock:
        """Return what another process needs to make sites of the rows: the columns that say something of a site."""
        batch = self.batch
        if batch is None:
            columns: Mapping[str, Sequence[Any]] = {name: v for name, v in self.columns.items() if name in used}
        else:
            columns = ArrowColumns(batch.select([name for name in batch.schema.names if name in used]))
        # Well-known binary is sent as one buffer, geometries one by one.
        return replace(self, columns=columns, batch=None, shapes=None if self.wkb is not None else self.shapes)

    def decoded(self) -> RawBlock:
        """Return the block with its geometries, where only their well-known binary was sent."""
        if self.shapes is not None or self.wkb is None:
            return self
        wkb = self.wkb.to_numpy(zero_copy_only=False).copy()
        wkb[list(self.problems)] = None  # those that cannot be decoded
        return replace(self, shapes=np.asarray(shapely.from_wkb(wkb), dtype=object))


class Came(Protocol):
    """Rows as they came, whatever was made of them since."""

    @property
    def start(self) -> int:
        """How many rows of the table come before."""

    @property
    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Values by column."""

    @property
    def batch(self) -> Any:  # noqa: ANN401 - pyarrow has no types
        """The same as an Arrow record batch, where the table came as one."""

    @property
    def wkb(self) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Geometries as an Arrow array of well-known binary, where the table has them so."""

    def __len__(self) -> int:
        """Return the number of rows."""


class RowSource(Protocol):
    """A table that gives its rows in blocks; where it is `seekable`, without reading those before."""

    name: str
    columns: tuple[OutColumn, ...]
    rows: int | None
    crs: str | None
    has_shapes: bool
    seekable: bool
    changes: list[Change]

    def raw_blocks(self, start: int, size: int) -> Generator[RawBlock]:
        """Yield the rows from the `start`-th on, `size` at a time."""
        ...


class ArrowColumns(Mapping[str, "Sequence[Any]"]):
    """Columns of a record batch, made plain values only when somebody looks at them."""

    def __init__(self, batch: Any) -> None:  # noqa: ANN401 - pyarrow has no types
        self._batch = batch
        self._known: dict[str, Sequence[Any]] = {}

    def __getitem__(self, name: str) -> Sequence[Any]:
        """Return the values of a column; binary content counts as nothing."""
        if name not in self._known:
            from grownj_geo.readers_gdal import column_values  # noqa: PLC0415 - text needs no Arrow

            values = column_values(self._batch.column(name))
            self._known[name] = [None] * self._batch.num_rows if values is None else values
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._batch.schema.names)

    def __len__(self) -> int:
        """Return the number of columns."""
        return int(self._batch.num_columns)


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Some rows of a table with the sites that they name, as arrays of n rows each.

    Attributes
    ----------
    start
        How many rows of the table come before.
    first_row
        Number of the first row as the user sees it.
    columns
        Values by column, as they came.
    batch
        The same as an Arrow record batch, where the table came as one.
    shapes
        Geometries as they came, in the reader's `crs`; None where the table has none.
    geometries
        Points and polygons in EPSG:3424 (US survey feet), shape (n,); None where a row has no place.
    uncertainty_ft
        How far the true places may be from the geometries, in feet, shape (n,).
    mun_codes
        Municipality by parcel number or statement; empty where geometry has to say it.
    mun_basis
        What says it: ``"pin"``, ``"stated"`` or None.
    pins
        Parcel numbers.
    facts
        Stated site facts by name, one value or None for each row.
    problems
        Why a row is no site, with its number; None where it is one.
    notes
        What was changed or assumed while reading a row.
    changes
        What is to be told of these rows together.
    wkb
        `shapes` as an Arrow array of well-known binary, where the table has them so.
    """

    start: int
    first_row: int
    columns: Mapping[str, Sequence[Any]]
    batch: Any
    shapes: NDArray[Any] | None
    geometries: NDArray[Any]
    uncertainty_ft: NDArray[np.float64]
    mun_codes: tuple[str, ...]
    mun_basis: tuple[str | None, ...]
    pins: tuple[tuple[str, ...], ...]
    facts: dict[str, list[Any]]
    problems: list[str | None]
    notes: list[tuple[str, ...]]
    changes: tuple[Change, ...]
    wkb: Any
    _words: Callable[[int], tuple[str, str]]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.geometries)

    @property
    def rows(self) -> range:
        """Numbers of the rows as the user sees them."""
        return range(self.first_row, self.first_row + len(self))

    @cached_property
    def placed(self) -> NDArray[np.bool_]:
        """Which rows have a geometry, shape (n,)."""
        return np.array([geometry is not None for geometry in self.geometries], dtype=bool)

    @cached_property
    def good(self) -> NDArray[np.bool_]:
        """Which rows are sites, shape (n,)."""
        return np.array([problem is None for problem in self.problems], dtype=bool)

    @cached_property
    def sites(self) -> list[Site | None]:
        """The sites, made when somebody asks for them; None for a row with a problem."""
        return [self.site(i) for i in range(len(self))]

    def site(self, position: int) -> Site | None:
        """Return the site of one row; None for a row with a problem."""
        if self.problems[position] is not None:
            return None
        typed, located_by = self._words(position)
        return Site(
            typed=typed,
            located_by=located_by,
            geometry=self.geometries[position],
            uncertainty_ft=float(self.uncertainty_ft[position]),
            mun_code=self.mun_codes[position] or None,
            mun_basis=self.mun_basis[position],
            pins=self.pins[position],
            notes=self.notes[position],
            facts={name: v[position] for name, v in self.facts.items() if v[position] is not None},
        )

    def site_table(self) -> SiteTable:
        """Return all rows as the measuring takes them; a row with a problem has neither place nor municipality."""
        by_pin = tuple(basis == "pin" for basis in self.mun_basis)
        return SiteTable(self.geometries, self.uncertainty_ft, self.placed, self.mun_codes, by_pin)
