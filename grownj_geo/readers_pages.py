"""Parquet read by a little at a time, and no further than what a file of its size may hold.

A file of a thousand bytes can stand for gigabytes: pages are compressed, and a value is written once and then only
counted. So the pages' own headers are looked at before anything is unpacked, text stays in its dictionary until
its length is known, and what comes out is counted.
"""

from __future__ import annotations

import io
from contextlib import closing
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from grownj_geo.features import LayerFault
from grownj_geo.tablepath import native

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["Room", "bounded_batches"]

_ROWS_AT_ONCE = 8_192
_BYTES_AT_ONCE = 64 << 20
# What a value takes in a list besides itself.
_PLACE = 16
_WIDTH = 8
_TEXT = "BYTE_ARRAY"

# Encodings of the format: those in which the values stand one by one, and those that repeat earlier ones.
_PLAIN, _LENGTHS = 0, 6
_BY_CHANGES = frozenset({_LENGTHS, 7})
# A page's header: where it says its type, its sizes, and, by type, the header that says how many values of which kind.
_TYPE, _UNPACKED, _PACKED = 1, 2, 3
_KINDS = {0: (5, 1, 2), 2: (7, 1, 2), 3: (8, 1, 4)}
_DICTIONARY_PAGE = 2
_HEADS = (4 << 10, 256 << 10, 16 << 20)
_DEEPEST = 8


@dataclass(frozen=True)
class Room:
    """How much may come out of a Parquet file.

    Attributes
    ----------
    most_bytes
        However large the file is.
    bytes_besides, ratio
        A smaller file may hold so many bytes, and so many times its size besides.
    single_bytes
        One value.
    """

    most_bytes: int = 4 << 30
    bytes_besides: int = 1 << 30
    ratio: int = 20
    single_bytes: int = 64 << 20

    def of(self, size: int) -> int:
        """Return how many bytes a file of so many may hold.

        Examples
        --------
        >>> Room().of(1_000) == 2**30 + 20_000
        True
        """
        return min(self.most_bytes, self.bytes_besides + self.ratio * size)


@dataclass
class _Leaf:
    """What the pages of one column say of themselves."""

    path: str
    kind: str
    width: int
    values: int = 0
    unpacked: int = 0
    largest: int = 0
    encodings: set[int] = field(default_factory=set)


def bounded_batches(
    origin: Path | bytes,
    *,
    columns: Sequence[str],
    source: str,
    room: Room = Room(),
    groups: Sequence[int] | None = None,
) -> Generator[Any]:
    """Yield the record batches of a Parquet file, of a bounded size each, with text as dictionaries.

    Parameters
    ----------
    origin
        The file, or its content.
    columns
        Names of the columns to read; all others are left where they are. Text inside of lists or structures is
        refused.
    source
        What messages call it.
    room
        How much may come out.
    groups
        Numbers of the groups of rows to read; all by default.

    Raises
    ------
    LayerFault
        ``archive_bomb``, ``unreadable``, or ``wrong_format``.
    """
    import pyarrow as pa  # noqa: PLC0415 - only where Parquet is read
    import pyarrow.parquet as pq  # noqa: PLC0415 - same

    size = len(origin) if isinstance(origin, bytes) else origin.stat().st_size
    try:
        with closing(pq.ParquetFile(_arrow(origin))) as file:
            metadata, schema = file.metadata, file.schema_arrow
            groups = range(metadata.num_row_groups) if groups is None else groups
            with io.BytesIO(origin) if isinstance(origin, bytes) else origin.open("rb") as stream:
                leaves = _leaves(stream, file, columns, groups, source)
        tally = _Tally(source, room, size)
        rows_here = sum(metadata.row_group(i).num_rows for i in groups)
        every = len(groups) == metadata.num_row_groups
        tally.expect(leaves, max(metadata.num_rows if every else 0, rows_here) * max(len(columns), 1))
        dictionaries, rows = _plan(leaves, schema)
        with closing(pq.ParquetFile(_arrow(origin), metadata=metadata, read_dictionary=dictionaries)) as file:
            for batch in file.iter_batches(batch_size=rows, columns=list(columns), row_groups=list(groups)):
                yield from tally.parts(batch)
    except LayerFault:
        raise
    # A page that cannot be unpacked, a length that no memory has: each of them means that it was not read.
    except (pa.ArrowException, OSError, ValueError, KeyError, MemoryError) as error:
        raise LayerFault("unreadable", f"{source} is no readable Parquet ({error}). Get or export it again.") from error


def _arrow(origin: Path | bytes) -> Any:  # noqa: ANN401 - pyarrow has no types
    import pyarrow as pa  # noqa: PLC0415 - only where Parquet is read

    return pa.BufferReader(origin) if isinstance(origin, bytes) else native(origin)


def _plan(leaves: Sequence[_Leaf], schema: Any) -> tuple[list[str], int]:  # noqa: ANN401 - pyarrow has no types
    """Return which columns to read as dictionaries, and how many rows at once."""
    import pyarrow as pa  # noqa: PLC0415 - only where Parquet is read

    dictionaries, widest = [], 1
    for leaf in leaves:
        if leaf.kind != _TEXT:
            widest += leaf.width
        # Arrow makes no dictionaries of these two; a type of somebody else's may hide one.
        elif not (leaf.encodings & _BY_CHANGES or isinstance(schema.field(leaf.path).type, pa.BaseExtensionType)):
            dictionaries.append(leaf.path)
        elif leaf.encodings - {_PLAIN, _LENGTHS}:
            # One value cannot be longer than the page that holds it, or the dictionary.
            widest += leaf.largest
    return dictionaries, max(1, min(_ROWS_AT_ONCE, _BYTES_AT_ONCE // widest))


class _Tally:
    """Counts what comes out, and stops it."""

    def __init__(self, source: str, room: Room, size: int) -> None:
        self._source, self._room, self._size = source, room, size
        self._most = room.of(size)
        self._bytes = 0

    def expect(self, leaves: Sequence[_Leaf], places: int) -> None:
        """Count what the pages' headers announce."""
        numbers = sum(leaf.values * leaf.width for leaf in leaves if leaf.kind != _TEXT)
        places = max(places, sum(leaf.values for leaf in leaves))
        self._check(numbers + places * _PLACE + sum(leaf.unpacked for leaf in leaves))
        self._bytes = numbers + places * _PLACE

    def parts(self, batch: Any) -> Iterator[Any]:  # noqa: ANN401 - pyarrow has no types
        """Yield a batch in parts of which each is small when unpacked."""
        here = 0
        for column in batch.columns:
            length, longest = _lengths(column)
            here += length
            if longest > self._room.single_bytes:
                raise self._too_much(f"a value of {longest:,} bytes", self._room.single_bytes)
        self._bytes += here
        self._check(self._bytes)
        rows = batch.num_rows
        step = max(1, min(rows, rows * _BYTES_AT_ONCE // max(here, 1)))
        for start in range(0, rows, step):
            yield batch.slice(start, step)

    def _check(self, found: int) -> None:
        if found > self._most:
            raise self._too_much(f"{found:,} bytes or more", self._most)

    def _too_much(self, found: str, most: int) -> LayerFault:
        return LayerFault(
            "archive_bomb",
            f"{self._source} has {self._size:,} bytes and would unpack to {found}; expected at most {most:,}. "
            "Export what is needed.",
        )


def _lengths(column: Any) -> tuple[int, int]:  # noqa: ANN401 - pyarrow has no types
    """Return the bytes of all values of text, and of the longest, without unpacking any."""
    import pyarrow as pa  # noqa: PLC0415 - only where Parquet is read

    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    indices = None
    if pa.types.is_dictionary(column.type):
        indices, column = column.indices, column.dictionary
    kind = column.type
    large = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    if not (large or pa.types.is_string(kind) or pa.types.is_binary(kind)) or not len(column):
        return 0, 0
    lengths = np.diff(_numbers(column, "int64" if large else "int32", 1).astype(np.int64))
    if indices is not None:
        lengths = lengths[_numbers(indices, str(indices.type), 0)[_present(indices)]]
    return int(lengths.sum()), int(lengths.max(initial=0))


# By hand, as Arrow lays its arrays out: its own functions take a tenth of a second to import, on each cold start.


def _numbers(array: Any, kind: str, more: int) -> NDArray[Any]:  # noqa: ANN401 - pyarrow has no types
    """Return an array's numbers, or where its values begin."""
    return np.frombuffer(array.buffers()[1], dtype=kind)[array.offset : array.offset + len(array) + more]


def _present(array: Any) -> NDArray[np.bool_]:  # noqa: ANN401 - pyarrow has no types
    """Return which of an array's values are not missing."""
    bits = array.buffers()[0]
    if bits is None:
        return np.ones(len(array), dtype=bool)
    spread = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), bitorder="little")
    return spread[array.offset : array.offset + len(array)].astype(bool)


def _leaves(
    stream: IO[bytes],
    file: Any,  # noqa: ANN401 - pyarrow has no types
    columns: Sequence[str],
    groups: Sequence[int],
    source: str,
) -> list[_Leaf]:
    """Return what the headers of all pages of some columns say."""
    metadata, found = file.metadata, []
    for at in range(metadata.num_columns):
        about = file.schema.column(at)
        if not any(about.path == name or about.path.startswith(f"{name}.") for name in columns):
            continue
        leaf = _Leaf(about.path, about.physical_type, max(about.length or 0, _WIDTH))
        if leaf.kind == _TEXT and leaf.path not in columns:
            raise LayerFault(
                "wrong_format", f"{source} has text inside of {leaf.path!r}; expected plain fields. Export it again."
            )
        for group in groups:
            _walk(stream, metadata.row_group(group).column(at), leaf, source)
        found.append(leaf)
    return found


def _walk(stream: IO[bytes], chunk: Any, leaf: _Leaf, source: str) -> None:  # noqa: ANN401 - pyarrow has no types
    """Go from page to page of one column in one group of rows, as Arrow does when it reads."""
    first = chunk.dictionary_page_offset
    at = first if first is not None and 0 < first < chunk.data_page_offset else chunk.data_page_offset
    end, values = at + chunk.total_compressed_size, 0
    while at < end and values < chunk.num_values:
        head, length = _page(stream, at, leaf, source)
        unpacked, packed = head.get(_UNPACKED), head.get(_PACKED)
        if not (isinstance(unpacked, int) and isinstance(packed, int) and unpacked >= 0 and packed >= 0):
            raise _no_page(leaf, at, source)
        leaf.unpacked += unpacked
        leaf.largest = max(leaf.largest, unpacked)
        where, number, encoding = _KINDS.get(head.get(_TYPE, -1), (0, 0, 0))
        inner = head.get(where, {})
        if where and not isinstance(inner.get(number), int):
            raise _no_page(leaf, at, source)
        if where and head[_TYPE] != _DICTIONARY_PAGE:
            values += inner[number]
            leaf.values += inner[number]
            leaf.encodings.add(inner.get(encoding, _PLAIN))
        at += length + packed


def _no_page(leaf: _Leaf, at: int, source: str) -> LayerFault:
    return LayerFault(
        "unreadable",
        f"{source} has no page of {leaf.path!r} at byte {at:,}, where it says that one is. Get or export it again.",
    )


def _page(stream: IO[bytes], at: int, leaf: _Leaf, source: str) -> tuple[dict[int, Any], int]:
    """Return the header of a page by its fields' numbers, and its length."""
    for most in _HEADS:
        stream.seek(at)
        data = stream.read(most)
        try:
            return _structure(data, 0, 0)
        except IndexError:
            # The header goes on; at the end of the file, or after as much as Arrow takes, it does not.
            if len(data) < most:
                break
        except ValueError:
            break
    raise _no_page(leaf, at, source)


# Thrift's compact protocol, as far as a page's header needs it.


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:  # noqa: PLR2004 - the highest bit says that it goes on
            return value, at
        shift += 7
        if shift > 63:  # noqa: PLR2004 - no number has more bits
            raise ValueError(shift)


def _signed(data: bytes, at: int) -> tuple[int, int]:
    value, at = _number(data, at)
    return (value >> 1) ^ -(value & 1), at


def _structure(data: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    if depth > _DEEPEST:
        raise ValueError(depth)
    found: dict[int, Any] = {}
    name = 0
    while data[at]:
        step, kind = data[at] >> 4, data[at] & 0xF
        at += 1
        if step:
            name += step
        else:
            name, at = _signed(data, at)
        found[name], at = _value(data, at, kind, depth)
    return found, at + 1


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    match kind:
        case 1 | 2:
            return kind == 1, at
        case 3:
            return data[at], at + 1
        case 4 | 5 | 6:
            return _signed(data, at)
        case 7:
            return None, at + 8
        case 8:
            length, at = _number(data, at)
            return None, at + length
        case 12:
            return _structure(data, at, depth + 1)
        case _:
            # Lists and maps: no header of a page has any.
            raise ValueError(kind)
