"""Rows of CSV and other delimited text, every value as the text that it was."""

from __future__ import annotations

import codecs
import csv
import sys
from contextlib import contextmanager
from itertools import islice
from typing import IO, TYPE_CHECKING

from grownj_geo.features import Change, LayerFault
from grownj_geo.rows_columns import find_header
from grownj_geo.rows_records import Record, RecordRows

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from grownj_geo.rows_block import RawBlock
    from grownj_geo.rows_columns import TableOptions

__all__ = ["TextRows"]

_DELIMITERS = (",", "\t", ";", "|")
_HEAD_LINES = 40
_CHUNK = 1 << 20
_NO_TEXT = {
    b"PK\x03\x04": "a workbook (.xlsx) or a zip archive",
    b"\xd0\xcf\x11\xe0": "an old or a protected workbook (.xls)",
    b"PAR1": "Parquet (.parquet)",
    b"%PDF": "a PDF document",
}
# A cell may be one polygon of many vertices.
_LONGEST_CELL = min(sys.maxsize, 2**31 - 1)


class TextRows(RecordRows):
    """A table of delimited text, read as a stream.

    The text is UTF-8, or UTF-16 with its byte order mark; where it can be neither it is read as Windows-1252, and
    that is told. The delimiter is the one under which the header has most known names.

    Parameters
    ----------
    path
        The file.
    options
        What whoever asks says about it.

    Raises
    ------
    LayerFault
        ``wrong_encoding``, ``wrong_format``, or ``truncated`` for an empty file.
    """

    nothing = ""

    seekable = False

    def __init__(self, path: Path, options: TableOptions) -> None:
        self.path = path
        self.name = path.name
        self.codec, guessed = _codec(path, path.name, options.encoding)
        self.delimiter = self._delimiter(options)
        super().__init__(path.name, options, kind="text")
        if guessed:
            words = "The text was read as Windows-1252: it is no UTF-8. Name the encoding if that is wrong."
            self.changes.append(Change(kind="encoding_taken", effect="noted", count=1, words=words))

    def _delimiter(self, options: TableOptions) -> str:
        with self.path.open(encoding=self.codec, newline="") as file:
            lines = list(islice(file, _HEAD_LINES))
        text = "".join(lines)
        if not text.strip():
            raise LayerFault("truncated", f"{self.name} is empty; expected a row of column names and rows.")
        if text.lstrip()[:1] in {"{", "<"}:
            raise LayerFault(
                "wrong_format",
                f"{self.name} begins with {text.lstrip()[:20]!r}; expected a table of text. Give it its right ending.",
            )
        if options.delimiter is not None:
            if len(options.delimiter) != 1 or options.delimiter in '"\r\n':
                raise LayerFault("wrong_format", f"The delimiter {options.delimiter!r} is none; expected one sign.")
            return options.delimiter

        def score(delimiter: str) -> tuple[int, int, int]:
            # Only looked at here: whether quotes are in pairs, the reading itself checks. Decimal commas make as many
            # cells of a row as there are columns, but not of the row of names above it.
            with _long_cells():
                rows = list(csv.reader(lines, delimiter=delimiter))
            header, known = find_header(rows, options)
            return known, len(rows[header]) if rows else 0, -header

        return max(_DELIMITERS, key=score)

    def raw_blocks(self, start: int, size: int) -> Generator[RawBlock]:
        """Yield the rows from the `start`-th on, `size` at a time.

        Raises
        ------
        LayerFault
            ``truncated`` where quotes stay open to the end, ``wrong_encoding`` where the file changed meanwhile.
        """
        blocks = super().raw_blocks(start, size)
        while True:
            with _long_cells():
                block = next(blocks, None)
            if block is None:
                return
            yield block

    def records(self) -> Generator[Record]:
        """Yield every row of the file from the first."""
        try:
            with self.path.open(encoding=self.codec, newline="") as file:
                lines = _Lines(file)
                reader = csv.reader(lines, delimiter=self.delimiter, strict=True)
                number = 0
                while True:
                    number += 1
                    lines.seen.clear()
                    try:
                        yield Record(next(reader))
                    except csv.Error as error:
                        yield self._unreadable(error, number, lines)
                    except StopIteration:
                        return
        except UnicodeError as error:
            raise LayerFault(
                "wrong_encoding",
                f"{self.name} is no longer text in {self.codec} ({error}); it changed while it was read.",
            ) from error

    def _unreadable(self, error: csv.Error, number: int, lines: _Lines) -> Record:
        """Return a row that cannot be split into cells, whole in its first cell; refuse an open quote."""
        if "unexpected end" in str(error):
            raise LayerFault(
                "truncated",
                f"{self.name}, row {number}: a quotation mark opens and none closes it to the end of the file. "
                "Expected quotes in pairs: the file is cut off, or a quote inside a value is not doubled.",
            ) from error
        raw = "".join(lines.seen).rstrip("\r\n")
        return Record([raw], f"the row cannot be split into cells ({error}); a quote inside a value has to be doubled")


class _Lines:
    """The lines of a file, of which those of the row at hand are remembered."""

    def __init__(self, file: Iterator[str]) -> None:
        self._file = file
        self.seen: list[str] = []

    def __iter__(self) -> Iterator[str]:
        for line in self._file:
            self.seen.append(line)
            yield line


@contextmanager
def _long_cells() -> Iterator[None]:
    # The limit belongs to the whole process: it is put back as soon as a block is read.
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _zero_byte(file: IO[str]) -> int | None:
    """Return the line of the first zero byte; None where there is none."""
    line = 1
    while chunk := file.read(_CHUNK):
        at = chunk.find("\0")
        line += chunk.count("\n", 0, at if at >= 0 else None)
        if at >= 0:
            return line
    return None


def _codec(path: Path, name: str, encoding: str | None) -> tuple[str, bool]:
    """Return the codec that the whole file can be read with, and whether it was guessed."""
    with path.open("rb") as file:
        head = file.read(4)
    kind = _NO_TEXT.get(head)
    if kind is not None:
        raise LayerFault("wrong_format", f"{name} is {kind} and no text. Give it its right ending, or save it as CSV.")
    if encoding is not None:
        try:
            tries = [codecs.lookup(encoding).name]
        except LookupError as error:
            raise LayerFault(
                "wrong_encoding", f"The encoding {encoding!r} is not known; name one such as utf-8 or cp1252."
            ) from error
        tries = ["utf-8-sig"] if tries == ["utf-8"] else tries
    elif head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        tries = ["utf-16"]
    else:
        tries = ["utf-8-sig", "cp1252"]
    problems = []
    for codec in tries:
        try:
            with path.open(encoding=codec, newline="") as file:
                zero = _zero_byte(file)
        except UnicodeError as error:
            problems.append(f"{codec}: {error}")
            continue
        if zero is None:
            return codec, codec == "cp1252" and encoding is None
        problems.append(f"{codec}: it has zero bytes, the first in line {zero:,}")
    raise LayerFault(
        "wrong_encoding",
        f"{name} is no text that can be read ({'; '.join(problems)}). Save it as UTF-8, or name its encoding.",
    )
