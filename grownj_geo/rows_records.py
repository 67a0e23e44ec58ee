"""Tables that come row by row, text and sheets: titles above the header, blank rows, headers that are repeated."""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from grownj_geo.features import Change, LayerFault
from grownj_geo.rows_block import ColumnType, OutColumn, RawBlock, cell_text, is_blank
from grownj_geo.rows_cells import is_total
from grownj_geo.rows_columns import find_header, unique_names

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from grownj_geo.rows_columns import TableOptions

__all__ = ["Record", "RecordRows"]

_HEAD = 40


class Record(NamedTuple):
    """One row as it came.

    Attributes
    ----------
    cells
        Its values.
    problem
        Why it cannot be used.
    unread
        By position: why a cell that shows as empty is not known to be empty.
    """

    cells: Sequence[Any]
    problem: str | None = None
    unread: dict[int, str] | None = None


class RecordRows:
    """A table whose rows come one after the other; the header is found among the first.

    Parameters
    ----------
    name
        What messages call the table.
    options
        What whoever asks says about it.
    kind
        What the cells are.

    Raises
    ------
    LayerFault
        ``truncated`` for a table without rows.
    """

    has_shapes = False
    crs: str | None = None
    rows: int | None = None

    def __init__(self, name: str, options: TableOptions, *, kind: ColumnType) -> None:
        self.name = name
        self.changes: list[Change] = []
        with closing(self.records()) as records:
            head = [record.cells for record in islice(records, _HEAD)]
        index, known = find_header(head, options)
        if not known:
            # Nothing is known: the first row with anything in it is the header that messages show.
            index = next((i for i, cells in enumerate(head) if not _blank(cells)), 0)
        if not head or _blank(head[index]):
            raise LayerFault("truncated", f"{name} is empty; expected a row of column names and rows. Export it again.")
        header = list(head[index])
        while (
            len(header) > 1 and is_blank(header[-1]) and all(_short(cells, len(header)) for cells in head[index + 1 :])
        ):
            header.pop()
        if kind == "any":
            # A sheet may have columns without a name; what stands in one further down only is refused with its row.
            header += [None] * (max((_width(cells) for cells in head[index + 1 :]), default=0) - len(header))
        names, renamed = unique_names(header)
        self.header_row = index + 1
        self.columns = tuple(OutColumn(column, kind) for column in names)
        self._header = [cell_text(cell).strip().casefold() for cell in header]
        above = [i + 1 for i, cells in enumerate(head[:index]) if not _blank(cells)]
        if above:
            words = f"Row {self.header_row} was taken for the names of the columns; what stands above was left out."
            self.changes.append(Change(kind="title_rows", effect="left_out", count=len(above), words=words, rows=above))
        if renamed:
            words = f"Columns were renamed, each name once: {'; '.join(renamed)}."
            self.changes.append(Change(kind="columns_renamed", effect="changed", count=len(renamed), words=words))

    def records(self) -> Generator[Record]:
        """Yield every row of the file from the first."""
        raise NotImplementedError

    def raw_blocks(self, start: int, size: int) -> Generator[RawBlock]:
        """Yield the rows from the `start`-th on, `size` at a time; blank rows at the end are none.

        Raises
        ------
        LayerFault
            Where the rest of the file cannot be read at all.
        """
        trailing: list[int] = []
        body = _without_trailing(islice(self.records(), self.header_row, None), trailing)
        rows = islice(body, start, None)
        ahead = list(islice(rows, size))
        at = start
        while ahead:
            records, ahead = ahead, list(islice(rows, size))
            told: tuple[Change, ...] = ()
            if not ahead and trailing:
                first = self.header_row + at + len(records) + 1
                words = "Blank rows at the end were left out."
                numbers = range(first, first + trailing[0])
                told = (Change.about("blank_rows_at_end", "left_out", numbers, words),)
            yield self._block(records, at, told)
            at += len(records)

    def _block(self, records: list[Record], start: int, told: tuple[Change, ...]) -> RawBlock:
        width = len(self.columns)
        first_row = self.header_row + 1 + start
        problems: dict[int, str] = {}
        unread: dict[int, dict[str, str]] = {}
        rows: list[Sequence[Any]] = []
        for i, record in enumerate(records):
            cells = record.cells
            if record.problem is not None:
                problems[i] = record.problem
            elif _blank(cells):
                problems[i] = "blank row"
            elif cell_text(cells[0]).strip().casefold() == self._header[0] and self._repeats(cells):
                problems[i] = "the row repeats the names of the columns"
            elif is_total(cells):
                problems[i] = "the row sums up others, as its first cell says, and is no site; leave it out, or name it"
            elif len(cells) != width and (len(cells) < width or not _blank(cells[width:])):
                problems[i] = self._ragged(cells)
            if len(cells) != width:
                cells = [*cells[:width], *[self.nothing] * (width - len(cells))]
            if record.unread:
                unread[i] = {self.columns[p].name: why for p, why in record.unread.items() if p < width}
            rows.append(cells)
        columns = {c.name: values for c, values in zip(self.columns, zip(*rows, strict=True), strict=True)}
        return RawBlock(start, first_row, len(rows), columns, problems=problems, unread=unread, changes=told)

    nothing: Any = None
    """What an empty cell is."""

    def _repeats(self, cells: Sequence[Any]) -> bool:
        return [cell_text(c).strip().casefold() for c in cells[: len(self._header)]] == self._header

    def _ragged(self, cells: Sequence[Any]) -> str:
        more = [cell_text(c)[:30] for c in cells[len(self.columns) :] if not is_blank(c)]
        surplus = f"; beyond the last column stands {', '.join(map(repr, more[:3]))}" if more else ""
        return (
            f"the row has {len(cells)} cells, expected {len(self.columns)} as the header has{surplus}; "
            "put quotes around values that hold the delimiter, or fill the row"
        )


def _blank(cells: Sequence[Any]) -> bool:
    # Most rows have something in their first cell: a table of a million is looked through in no time.
    first = cells[0] if cells else None
    if type(first) is str and first and not first.isspace():
        return False
    return all(map(is_blank, cells))


def _short(cells: Sequence[Any], width: int) -> bool:
    return len(cells) < width or is_blank(cells[width - 1])


def _width(cells: Sequence[Any]) -> int:
    return max((i + 1 for i, cell in enumerate(cells) if not is_blank(cell)), default=0)


def _without_trailing(records: Iterable[Record], trailing: list[int]) -> Iterator[Record]:
    """Yield rows up to the last that is not blank; how many blank ones follow is put into `trailing` at the end."""
    waiting: list[Record] = []
    for record in records:
        if record.problem is None and _blank(record.cells):
            waiting.append(record)
            continue
        yield from waiting
        waiting.clear()
        yield record
    if waiting:
        trailing.append(len(waiting))
