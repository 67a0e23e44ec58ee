"""A data frame of sites in, a data frame of answers on the same index out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from grownj_geo.batch import BLOCK_ROWS
from grownj_geo.batchwork import AnsweredBlock, answer_block, batch_columns
from grownj_geo.determine import Directory, Engine
from grownj_geo.features import LayerFault
from grownj_geo.finder import Finder
from grownj_geo.rows_block import OutColumn, RawBlock
from grownj_geo.rulebook import Rulebook, load_rulebook
from grownj_geo.siterows import SiteTableReader, TableOptions

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from grownj_geo.atlas import Atlas
    from grownj_geo.features import Change

__all__ = ["classify"]


class _FrameRows:
    """A data frame as a table that gives its rows in blocks."""

    seekable = False

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame
        self.name = "the frame"
        shapes = getattr(frame, "_geometry_column_name", None)
        self._shapes = shapes if shapes in frame.columns else None
        self.has_shapes = self._shapes is not None
        crs = getattr(frame, "crs", None) if self.has_shapes else None
        self.crs: str | None = None if crs is None else crs.to_wkt()
        names = [str(name) for name in frame.columns]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise LayerFault("duplicate_fields", f"The frame has several columns {', '.join(twice)}; rename them.")
        self.columns = tuple(OutColumn(str(name), "any") for name in frame.columns if name != self._shapes)
        self.rows: int | None = len(frame)
        self.changes: list[Change] = []

    def raw_blocks(self, start: int, size: int) -> Generator[RawBlock, None, None]:
        """Yield the rows from the `start`-th on, `size` at a time."""
        for first in range(start, len(self._frame), size):
            part = self._frame.iloc[first : first + size]
            columns = {
                str(name): part[name].astype(object).where(part[name].notna(), None).tolist()
                for name in part.columns
                if name != self._shapes
            }
            shapes = None if self._shapes is None else np.asarray(part[self._shapes], dtype=object)
            yield RawBlock(start=first, first_row=first, count=len(part), columns=columns, shapes=shapes)


def classify(
    frame: pd.DataFrame,
    atlas: Atlas,
    *,
    rulebook: Rulebook | str = "grow-nj",
    readings: Mapping[str, str] | None = None,
    detail: Literal["brief", "full"] = "brief",
    options: TableOptions | None = None,
) -> pd.DataFrame:
    """Determine which incentive areas each row of a frame is in.

    Parameters
    ----------
    frame
        Sites: a GeoDataFrame of points and polygons in any coordinate system, or a frame with columns of longitude and
        latitude, parcel numbers or municipalities. Columns named after site facts state them.
    atlas
        The layers as of a date.
    rulebook
        A rulebook, or the id of a shipped one.
    readings
        Chosen option by ambiguity id.
    detail
        ``"brief"``, or ``"full"`` with lean, margin, causes and assumptions of every category.
    options
        Which columns say what, where their names are not the usual ones; an uncertainty in feet.

    Returns
    -------
    pandas.DataFrame
        On the frame's index: `problem` (why a row has no answer), `notes`, and the columns of `answer_columns`. A row
        has the answer that `determine` gives for it alone.

    Raises
    ------
    LayerFault
        If the frame says nowhere where its sites are, its coordinate system does not fit, or two columns have one
        name.
    RulebookError
        For a day or a reading that there is not.

    Examples
    --------
    >>> import pandas as pd
    >>> from grownj_geo.atlas import load_atlas
    >>> sites = pd.DataFrame({"lon": [-74.1641, None], "lat": [40.7344, None]}, index=["a", "b"])
    >>> found = classify(sites, load_atlas())
    >>> found.loc["a", "qualified_incentive_area"], found.loc["b", "problem"] is not None
    ('yes', True)
    """
    import pandas as pd  # noqa: PLC0415 - only whoever has a frame needs it

    book = load_rulebook(rulebook) if isinstance(rulebook, str) else rulebook
    engine = Engine(atlas, book, dict(sorted((readings or {}).items())))
    names = [column.name for column in batch_columns(engine, (), detail)]
    if not len(frame):
        return pd.DataFrame({name: pd.Series(dtype=object) for name in names[1:]}, index=frame.index)
    reader = SiteTableReader(_FrameRows(frame), options or TableOptions(), Directory(atlas), Finder.at_home(atlas))
    parts = [_columns(answer_block(engine, block), detail) for block in reader.blocks(0, BLOCK_ROWS)]
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return pd.DataFrame(dict(zip(names[1:], joined, strict=True)), index=frame.index)


def _columns(found: AnsweredBlock, detail: Literal["brief", "full"]) -> list[NDArray[np.object_]]:
    """Return problems, notes and answers of a block, n values each."""
    columns = [np.array([*told, None], dtype=object)[:-1] for told in (found.block.problems, found.notes())]
    for values, codes in found.columns(detail):
        columns.append(np.array([*values, None], dtype=object)[codes])
    return columns
