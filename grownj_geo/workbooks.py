"""Excel's workbooks: the one library that reads and writes them, whatever else is installed beside it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["workbook_library"]


def workbook_library() -> ModuleType:
    """Return openpyxl, reading and writing XML with Python's own parser.

    Where lxml is installed openpyxl would take that one instead: it declares other faults for the same broken workbook,
    and a full disk while writing is none of the system's errors.
    """
    os.environ.setdefault("OPENPYXL_LXML", "False")
    import openpyxl  # noqa: PLC0415 - only workbooks need it, and only after the line before

    return openpyxl
