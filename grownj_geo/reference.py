"""The one way to the data that ships: files of `data/`, inside the wheel or beside the code."""

from __future__ import annotations

import csv
import hashlib
import io
from functools import lru_cache
from pathlib import Path

from grownj_geo.errors import LayerError

__all__ = ["data_folder", "read_bytes", "read_table"]


@lru_cache(maxsize=1)
def data_folder() -> Path:
    """Return the folder of the reference data: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent
    installed = package / "data"
    return installed if installed.is_dir() else package.parent / "data"


def read_bytes(name: str, *, sha256: str, folder: Path | None = None) -> bytes:
    """Return the bytes of a data file after comparing its checksum.

    Parameters
    ----------
    name
        File name inside the folder.
    sha256
        Expected checksum, from the layer's manifest.
    folder
        Where to look; the shipped data by default.

    Raises
    ------
    LayerError
        If the file is missing, empty, or not the one that its manifest describes.
    """
    path = (folder or data_folder()) / name
    try:
        content = path.read_bytes()
    except OSError as error:
        raise LayerError(
            f"The data file {name} could not be read ({error.strerror}). Reinstall the package."
        ) from error
    if not content:
        raise LayerError(f"The data file {name} is empty. Reinstall the package.")
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise LayerError(
            f"The data file {name} is damaged or was changed: its checksum is {found[:12]}, expected {sha256[:12]}. "
            "Reinstall the package."
        )
    return content


def read_table(content: bytes, *, name: str) -> dict[str, list[str]]:
    r"""Return the columns of a CSV file, every value as text.

    Codes keep their leading zeros: nothing is read as a number here.

    Raises
    ------
    LayerError
        If the file is not UTF-8, has no rows, or a row has more or fewer values than the header.

    Examples
    --------
    >>> read_table(b"mun_code,lot\n0408,1.10\n", name="example.csv")
    {'mun_code': ['0408'], 'lot': ['1.10']}
    """
    try:
        rows = list(csv.reader(io.StringIO(content.decode("utf-8"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise LayerError(f"The table {name} cannot be read: {error}. Expected UTF-8 CSV.") from error
    if len(rows) < 2:  # noqa: PLR2004 - a header and one row
        raise LayerError(f"The table {name} has no rows below its header.")
    header, *body = rows
    for number, row in enumerate(body, start=2):
        if len(row) != len(header):
            raise LayerError(f"The table {name}, line {number}, has {len(row)} values; expected {len(header)}.")
    return {column: [row[i] for row in body] for i, column in enumerate(header)}
