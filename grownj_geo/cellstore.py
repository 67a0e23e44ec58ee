"""Cell indexes kept beside the user's layers: found by what they are of, built once, and anew where one is damaged."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from grownj_geo.answers import MARGIN_LIMIT_FT
from grownj_geo.cells import CellIndex, index_fingerprint
from grownj_geo.features import LayerFault
from grownj_geo.store import home_folder
from grownj_geo.tableparts import disk_faults

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.determine import Engine

__all__ = ["built_index", "index_path", "kept_index"]


def index_path(engine: Engine) -> Path:
    """Return where the index of an atlas and a rulebook is kept, or would be."""
    return home_folder() / "cells" / f"{index_fingerprint(engine)[:16]}.cells"


def kept_index(engine: Engine) -> CellIndex:
    """Return the index of an atlas and a rulebook that was built before.

    Raises
    ------
    LayerFault
        ``no_index``, ``damaged_index`` or ``stale_index``.
    """
    return CellIndex.load(index_path(engine), fingerprint=index_fingerprint(engine))


def built_index(engine: Engine) -> CellIndex:
    """Return the index of an atlas and a rulebook, built and kept; another process that builds it is waited for.

    Raises
    ------
    LayerFault
        ``disk_full``, ``not_written`` or ``index_not_written`` where it cannot be kept.
    """
    from filelock import FileLock  # noqa: PLC0415 - only building needs it

    path = index_path(engine)
    with disk_faults(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path.with_suffix(".lock"))
        lock.acquire()
    try:
        with suppress(LayerFault):
            return kept_index(engine)
        # Not while the fault is being handled: what it holds may keep the damaged file mapped, and on Windows such a
        # file cannot be replaced.
        CellIndex.build(engine, margin_limit_ft=MARGIN_LIMIT_FT).save(path)
        return kept_index(engine)
    finally:
        lock.release()
