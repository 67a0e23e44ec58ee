"""Rows of an Excel workbook: cells as the user sees them, and what Excel hides told."""

from __future__ import annotations

import datetime as dt
import re
import warnings
import zipfile
import zlib
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from grownj_geo.features import Change, LayerFault
from grownj_geo.rows_columns import says_where
from grownj_geo.rows_records import Record, RecordRows
from grownj_geo.workbooks import workbook_library

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from grownj_geo.rows_block import RawBlock
    from grownj_geo.rows_columns import TableOptions

__all__ = ["SheetRows"]

_ZIP = b"PK\x03\x04"
_OLD = b"\xd0\xcf\x11\xe0"
_MOST_BYTES = 4 << 30
_MOST_STRINGS = 1 << 30
_CHUNK = 1 << 20
_HEAD = 40
_NAMED = 5
_ONLY_ZEROS = re.compile(r"0{2,}")
_CELL = re.compile(r"([A-Z]+)([0-9]+)")
_MOST_MERGED = 200_000
# All that openpyxl, the archive and what unpacks it raise over a file that is not as it should be.
_FAULTS = (
    *(zipfile.BadZipFile, zlib.error, OSError, EOFError, SyntaxError, ValueError, TypeError, LookupError),
    *(AttributeError, ArithmeticError, AssertionError, NotImplementedError, RuntimeError),
)


class SheetRows(RecordRows):
    """One sheet of a workbook, read as a stream.

    Numbers are whole where they are whole; a number that a format of zeros shows with leading zeros is that text;
    days are dates. Formulas give the result that the workbook keeps.

    Parameters
    ----------
    path
        The file.
    options
        What whoever asks says about it; `sheet` chooses one.

    Raises
    ------
    LayerFault
        ``wrong_format``, ``archive_bomb``, ``unreadable``, ``no_layer`` for a sheet that is not there, or ``truncated``
        for an empty one.
    """

    seekable = False

    def __init__(self, path: Path, options: TableOptions) -> None:
        self.path = path
        _check(path)
        titles, hidden, fitting = self._titles(options)
        self.title, told = _choose(path.name, titles, hidden, fitting, options.sheet)
        self.hidden = self._hidden()
        with _quiet():
            super().__init__(f"{path.name}: {self.title}", options, kind="any")
        self.changes += told
        self._tell()

    def _open(self) -> Any:  # noqa: ANN401 - read-only worksheets have a type of their own
        openpyxl = workbook_library()

        try:
            with _quiet():
                return openpyxl.load_workbook(self.path, read_only=True, data_only=True, keep_links=False)
        except _FAULTS as error:
            raise _unreadable(self.path.name, error) from error

    def _titles(self, options: TableOptions) -> tuple[list[str], list[str], str | None]:
        """Return the names of the sheets, those that are hidden, and the first shown one that says where sites are."""
        book = self._open()
        try:
            sheets = book.worksheets
            shown = [sheet for sheet in sheets if sheet.sheet_state == "visible"]
            hidden = [sheet.title for sheet in sheets if sheet.sheet_state != "visible"]
            several = len(shown) > 1 and options.sheet is None
            fitting = next((s.title for s in shown if says_where(_head(s), options)), None) if several else None
            return [sheet.title for sheet in sheets], hidden, fitting
        except _FAULTS as error:
            raise _unreadable(self.path.name, error) from error
        finally:
            book.close()

    def _hidden(self) -> _Hidden:
        book = self._open()
        try:
            # What a sheet hides, openpyxl does not say while it streams; where the sheet is in the archive, it knows.
            member = book[self.title]._worksheet_path  # noqa: SLF001
        finally:
            book.close()
        return _look(self.path, member)

    def _tell(self) -> None:
        hidden, last = self.hidden, self.header_row

        def tell(kind: str, rows: list[int], words: str) -> None:
            below = sorted({row for row in rows if row > last})
            if below:
                more = f" and {len(below) - _NAMED:,} more" if len(below) > _NAMED else ""
                where = f"{'row' if len(below) == 1 else 'rows'} {', '.join(map(str, below[:_NAMED]))}{more}"
                self.changes.append(Change.about(kind, "noted", below, f"{words}: {where}."))

        tell("hidden_rows", hidden.rows, "Hidden rows count as rows")
        tell("formula_without_value", [r for r, _ in hidden.formulas], "Formulas without a result count as not read")
        tell("merged_cells", [r for r, _ in hidden.merged], "Of merged cells only the first has the value")
        if hidden.columns:
            words = "Hidden columns count as columns."
            self.changes.append(Change(kind="hidden_columns", effect="noted", count=hidden.columns, words=words))

    def raw_blocks(self, start: int, size: int) -> Generator[RawBlock]:
        """Yield the rows from the `start`-th on, `size` at a time.

        Raises
        ------
        LayerFault
            ``unreadable`` where the rest of the sheet cannot be read.
        """
        blocks = super().raw_blocks(start, size)
        while True:
            with _quiet():
                block = next(blocks, None)
            if block is None:
                return
            yield block

    def records(self) -> Generator[Record]:
        """Yield every row of the sheet from the first."""
        book = self._open()
        try:
            sheet = book[self.title]
            # The size that the file says of itself may be wrong, and would cut rows off.
            sheet.reset_dimensions()
            # The sheet's own file is closed at once where nobody reads on.
            with closing(sheet.iter_rows()) as rows:
                for number, cells in enumerate(rows, 1):
                    yield self._record(number, cells)
        except _FAULTS as error:
            raise _unreadable(self.name, error) from error
        finally:
            book.close()

    def _record(self, number: int, cells: Any) -> Record:  # noqa: ANN401 - openpyxl's read-only cells
        values: list[Any] = []
        unread: dict[int, str] = {}
        for i, cell in enumerate(cells):
            value = cell.value
            if value is None:
                why = self.hidden.why(number, i)
                if why is not None:
                    unread[i] = why
            elif cell.data_type == "e":
                unread[i] = f"it shows the error {value}"
            else:
                value = _shown(value, cell)
            values.append(value)
        while values and values[-1] is None and len(values) - 1 not in unread:
            values.pop()
        return Record(values, None, unread or None)

    def _ragged(self, cells: Any) -> str:  # noqa: ANN401
        more = [str(c)[:30] for c in cells[len(self.columns) :] if c is not None]
        return (
            f"beyond the last named column stands {', '.join(map(repr, more[:3]))}; name the column or empty the cell"
        )

    def _block(self, records: list[Record], start: int, told: tuple[Change, ...]) -> RawBlock:
        # A sheet does not keep empty cells at the end of a row.
        width = len(self.columns)
        whole = [r._replace(cells=[*r.cells, *[None] * (width - len(r.cells))]) for r in records]
        return super()._block(whole, start, told)


@contextmanager
def _quiet() -> Iterator[None]:
    # openpyxl warns of drop-down lists and colours that it leaves aside, and of days that are none: those come as
    # errors, which are told with their rows.
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=UserWarning, module="openpyxl")
        yield


def _unreadable(name: str, error: Exception) -> LayerFault:
    return LayerFault(
        "unreadable", f"{name} is no readable workbook ({type(error).__name__}: {error}). Open it and save it again."
    )


def _check(path: Path) -> None:
    """Refuse what is no workbook, or one that would fill the memory."""
    with path.open("rb") as file:
        head = file.read(4)
    if not head:
        raise LayerFault("truncated", f"{path.name} is empty, 0 bytes; expected a workbook. Get or save it again.")
    if head == _OLD:
        raise LayerFault(
            "wrong_format",
            f"{path.name} is an old or a protected workbook; expected .xlsx without a password. Save it as one.",
        )
    if head != _ZIP:
        raise LayerFault(
            "wrong_format",
            f"{path.name} begins with {head!r}; expected a workbook. Save it as .xlsx; if it is text, call it .csv.",
        )
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {info.filename: info.file_size for info in archive.infolist()}
    except (zipfile.BadZipFile, OSError) as error:
        raise _unreadable(path.name, error) from error
    strings = sum(size for name, size in sizes.items() if "sharedStrings" in name)
    if sum(sizes.values()) > _MOST_BYTES or strings > _MOST_STRINGS:
        raise LayerFault(
            "archive_bomb",
            f"{path.name} would unpack to {sum(sizes.values()):,} bytes, {strings:,} of them text; expected at most "
            f"{_MOST_BYTES:,} and {_MOST_STRINGS:,}. Save the sheet as CSV.",
        )
    try:
        with zipfile.ZipFile(path) as archive:
            _refuse_types(path.name, archive)
    except LayerFault:
        raise
    except _FAULTS as error:
        raise _unreadable(path.name, error) from error


def _refuse_types(name: str, archive: zipfile.ZipFile) -> None:
    """Refuse a document type, before anybody follows what it declares."""
    for member in archive.namelist():
        if member.endswith((".xml", ".rels")):
            with archive.open(member) as file:
                if b"<!DOCTYPE" in file.read(_CHUNK):
                    raise _typed(name)


def _head(sheet: Any) -> list[list[Any]]:  # noqa: ANN401 - read-only worksheets have a type of their own
    sheet.reset_dimensions()
    with _quiet(), closing(sheet.iter_rows(values_only=True)) as rows:
        return [list(row) for row in islice(rows, _HEAD)]


def _choose(
    name: str, titles: list[str], hidden: list[str], fitting: str | None, wanted: str | None
) -> tuple[str, list[Change]]:
    listed = ", ".join(map(repr, titles[:20]))
    if wanted is not None:
        found = [t for t in titles if t == wanted] or [
            t for t in titles if t.strip().casefold() == wanted.strip().casefold()
        ]
        if not found:
            raise LayerFault("no_layer", f"{name} has no sheet {wanted!r}; found {listed}. Name one of these.")
        return found[0], []
    shown = [t for t in titles if t not in hidden]
    if not shown:
        raise LayerFault("no_layer", f"{name} has no sheet that is shown; found {listed}. Name one of these.")
    taken = fitting or shown[0]
    others = [t for t in titles if t != taken]
    if not others:
        return taken, []
    why = "the first that is shown and says where sites are" if fitting is not None else "the first that is shown"
    words = f"Of {len(titles)} sheets {taken!r} was taken, {why}; not read: {', '.join(others[:20])}."
    return taken, [Change(kind="sheet_taken", effect="noted", count=len(others), words=words)]


def _shown(value: Any, cell: Any) -> Any:  # noqa: ANN401 - of many kinds
    """Return a value as its cell shows it."""
    if isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        shape = str(cell.number_format or "")
        return str(value).zfill(len(shape)) if value >= 0 and _ONLY_ZEROS.fullmatch(shape) else value
    if isinstance(value, dt.datetime) and value.time() == dt.time() and "h" not in str(cell.number_format).lower():
        return value.date()
    return value


@dataclass
class _Hidden:
    """What a sheet has beside the values of its cells; rows and columns from 1."""

    rows: list[int] = field(default_factory=list)
    columns: int = 0
    formulas: set[tuple[int, int]] = field(default_factory=set)
    merged: set[tuple[int, int]] = field(default_factory=set)

    def why(self, row: int, position: int) -> str | None:
        """Return why an empty cell is not known to be empty."""
        at = row, position + 1
        if at in self.formulas:
            return "it holds a formula without a result; open the workbook, let it compute, and save it"
        if at in self.merged:
            return "it is merged with the cell that has the value; undo the merging and fill it in"
        return None


def _look(path: Path, member: str) -> _Hidden:
    """Read what a sheet hides: straight from its XML, and nothing but the names and attributes of elements."""
    from xml.parsers import expat  # noqa: PLC0415 - only a workbook needs it

    watch = _Watch(path.name)
    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = watch.begin, watch.end
    parser.CharacterDataHandler = watch.text
    parser.StartDoctypeDeclHandler = watch.refuse
    try:
        with zipfile.ZipFile(path) as archive, archive.open(member.lstrip("/")) as file:
            while chunk := file.read(_CHUNK):
                parser.Parse(chunk, False)
            parser.Parse(b"", True)
    except LayerFault:
        raise
    except (expat.ExpatError, zipfile.BadZipFile, KeyError, OSError, EOFError, ValueError) as error:
        raise _unreadable(path.name, error) from error
    return watch.found


class _Watch:
    """Follows the elements of a sheet."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.found = _Hidden()
        self._cell, self._formula, self._value, self._inside = "", False, False, False

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        if name == "c":
            self._cell, self._formula, self._inside = attributes.get("r", ""), False, False
            # A formula whose result is empty text says so.
            self._value = attributes.get("t") == "str"
        elif name == "v":
            self._inside = True
        elif name == "f":
            self._formula = True
        elif name == "mergeCell":
            _merge(self.found, attributes.get("ref", ""))
        elif attributes.get("hidden") in {"1", "true"}:
            if name == "row":
                self.found.rows.append(int(attributes.get("r", "0")))
            elif name == "col":
                self.found.columns += 1

    def end(self, tag: str) -> None:
        if tag.rpartition(":")[2] == "v":
            self._inside = False
        elif tag.rpartition(":")[2] == "c" and self._formula and not self._value:
            at = _at(self._cell)
            if at is not None:
                self.found.formulas.add(at)

    def text(self, _content: str) -> None:
        self._value = self._value or self._inside

    def refuse(self, *_: object) -> None:
        raise _typed(self.name)


def _at(reference: str) -> tuple[int, int] | None:
    found = _CELL.fullmatch(reference)
    if found is None:
        return None
    column = 0
    for letter in found[1]:
        column = column * 26 + ord(letter) - 64
    return int(found[2]), column


def _merge(found: _Hidden, reference: str) -> None:
    first, _, last = reference.partition(":")
    a, b = _at(first), _at(last or first)
    if a is None or b is None or (b[0] - a[0] + 1) * (b[1] - a[1] + 1) > _MOST_MERGED:
        raise LayerFault(
            "unreadable", f"The sheet merges the cells {reference[:40]!r}, too many to follow. Undo the merging."
        )
    found.merged |= {(r, c) for r in range(a[0], b[0] + 1) for c in range(a[1], b[1] + 1)} - {a}


def _typed(name: str) -> LayerFault:
    return LayerFault(
        "wrong_format", f"{name} declares a document type, as no workbook does. Save it again with Excel."
    )
