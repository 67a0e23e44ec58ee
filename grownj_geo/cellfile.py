"""Arrays in one file that is mapped into memory: a checked header, then the arrays as they are."""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from grownj_geo.features import LayerFault

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[Any]]

__all__ = ["read_arrays", "write_arrays"]

_MAGIC = b"GROWNJ-CELLS\n"
_ALIGNED = 64
_AGAIN = "Build the index again."


def write_arrays(path: str | PathLike[str], header: Mapping[str, Any], arrays: Arrays) -> None:
    """Write arrays with a header to a file that appears only when it is whole.

    Parameters
    ----------
    path
        The file; another one of this name is replaced.
    header
        What JSON can hold.
    arrays
        The arrays by name; written little-endian.

    Raises
    ------
    LayerFault
        ``index_not_written`` if the file cannot be written or put in place.
    """
    target = Path(path)
    kept = {name: np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")) for name, array in arrays.items()}
    described = []
    offset = 0
    for name, array in kept.items():
        described.append(
            {
                "name": name,
                "dtype": array.dtype.str,
                "shape": list(array.shape),
                "offset": offset,
                "crc": zlib.crc32(array.data if array.size else b""),
            }
        )
        offset += -(-array.nbytes // _ALIGNED) * _ALIGNED
    text = json.dumps({**header, "arrays": described, "bytes": offset}, sort_keys=True).encode()
    # The length and the checksum of the header stand before it, each in a line of its own.
    start = _MAGIC + f"{len(text):012d}\n{zlib.crc32(text):010d}\n".encode() + text
    start += b"\n" * (-len(start) % _ALIGNED)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
        beside = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(start)
                for array in kept.values():
                    file.write(array.data if array.size else b"")
                    file.write(b"\0" * (-array.nbytes % _ALIGNED))
                file.flush()
                os.fsync(file.fileno())
            beside.replace(target)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        # On Windows a file that is mapped somewhere cannot be replaced.
        raise LayerFault(
            "index_not_written",
            f"The index {target} cannot be written: {error}. Expected room and permission, and that nobody has it "
            "open; make room, or choose another file.",
        ) from error


def read_arrays(path: str | PathLike[str], *, kind: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a file, mapped into memory and read-only.

    Parameters
    ----------
    path
        The file.
    kind
        The number that the header must have as its ``format``.

    Raises
    ------
    LayerFault
        ``no_index`` if there is no such file, ``damaged_index`` if it is not as it was written, ``stale_index`` if
        another version of the package wrote it.
    """
    source = Path(path)
    try:
        mapped = np.memmap(source, dtype=np.uint8, mode="r")
    except FileNotFoundError:
        raise LayerFault("no_index", f"There is no index {source}. Build it.") from None
    except (OSError, ValueError) as error:
        raise LayerFault("damaged_index", f"The index {source} cannot be read: {error}. {_AGAIN}") from error
    header, start = _header(source, mapped)
    if header.get("format") != kind:
        raise LayerFault(
            "stale_index",
            f"The index {source} has format {header.get('format')!r}; expected {kind}. {_AGAIN}",
        )
    if len(mapped) != start + header["bytes"]:
        raise LayerFault(
            "damaged_index",
            f"The index {source} has {len(mapped):,} bytes; expected {start + header['bytes']:,}. {_AGAIN}",
        )
    arrays = {}
    for each in header["arrays"]:
        dtype, shape = np.dtype(each["dtype"]), tuple(each["shape"])
        begin = start + each["offset"]
        raw = mapped[begin : begin + dtype.itemsize * int(np.prod(shape, dtype=np.int64))]
        if zlib.crc32(raw.data if len(raw) else b"") != each["crc"]:
            raise LayerFault(
                "damaged_index",
                f"The index {source} is damaged: its part {each['name']!r} is not as it was written. {_AGAIN}",
            )
        arrays[each["name"]] = raw.view(np.ndarray).view(dtype).reshape(shape)
    return header, arrays


def _header(source: Path, mapped: NDArray[np.uint8]) -> tuple[dict[str, Any], int]:
    """Return the header, and where the arrays begin."""
    lines = len(_MAGIC) + 13 + 11
    start = bytes(mapped[:lines])
    fields = start[len(_MAGIC) :].split(b"\n")
    if not start.startswith(_MAGIC) or len(fields) != 3 or not (fields[0] + fields[1]).isdigit():  # noqa: PLR2004
        raise LayerFault("damaged_index", f"The file {source} does not begin as an index does. {_AGAIN}")
    text = bytes(mapped[lines : lines + int(fields[0])])
    if len(text) != int(fields[0]) or zlib.crc32(text) != int(fields[1]):
        raise LayerFault("damaged_index", f"The index {source} is damaged: its header is not as written. {_AGAIN}")
    return json.loads(text), -(-(lines + len(text)) // _ALIGNED) * _ALIGNED
