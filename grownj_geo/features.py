"""Features as a file or a service gave them, and what became of them on the way into a layer.

Whatever comes in is read into `Features` first, cleaned into a `Layer` next, and told about in a `LoadReport`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from grownj_geo.errors import LayerError
from grownj_geo.strict import Strict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from grownj_geo.layer import Layer

__all__ = ["Change", "Features", "LayerFault", "LoadOptions", "LoadReport"]

_MOST_ROWS_NAMED = 10


class LayerFault(LayerError):  # noqa: N818 - the field's word for what is wrong with data
    """What came in cannot be made a layer.

    Attributes
    ----------
    fault
        The kind of fault in one stable word, such as ``"undeclared_crs"``.
    """

    def __init__(self, fault: str, message: str) -> None:
        super().__init__(message)
        self.fault = fault

    def __reduce__(self) -> tuple[type[LayerFault], tuple[str, str]]:
        """Return how it crosses from one process to another."""
        return type(self), (self.fault, str(self))


class Change(Strict):
    """Something that reading or cleaning changed, or that whoever loads a layer has to know.

    Attributes
    ----------
    kind
        In one stable word, such as ``"z_dropped"``.
    effect
        ``"changed"`` where values or geometry are not as they came; ``"left_out"`` where features are missing now;
        ``"noted"`` where nothing was changed. Under strict loading only what is noted is let through.
    count
        How many features (or values) it is about.
    words
        One sentence for people.
    rows
        The first few rows it is about, counted from 1 as the source has them.
    """

    kind: str
    effect: Literal["changed", "left_out", "noted"]
    count: int
    words: str
    rows: tuple[int, ...] = ()

    @classmethod
    def about(cls, kind: str, effect: Literal["changed", "left_out", "noted"], rows: Any, words: str) -> Change:  # noqa: ANN401
        """Return a change about some rows, counted from 1, of which the first few are named."""
        numbers = [int(row) for row in rows]
        return cls(kind=kind, effect=effect, count=len(numbers), words=words, rows=tuple(numbers[:_MOST_ROWS_NAMED]))


@dataclass(frozen=True, eq=False)
class Features:
    """Features as they came, before any check: nothing is repaired, projected or renamed yet.

    Attributes
    ----------
    source
        What messages call them: ``"county.zip: Planning/areas.shp"``.
    columns
        Attributes by the source's own field names, each of n values: text, numbers, booleans, dates, times or None.
        Codes that were text in the source are text here.
    geometries
        Shapely geometries in the source's own coordinates, x (or longitude) first, shape (n,); None where a
        feature has none.
    crs
        What the source declares its coordinates to be in, as WKT or as ``"EPSG:3424"``; None where it declares
        nothing.
    changes
        What reading changed or noticed.
    added_accuracy_ft
        Feet that the way in which they came may have moved their lines, beyond what the layer's manifest says of them.
    """

    source: str
    columns: dict[str, list[Any]]
    geometries: NDArray[Any]
    crs: str | None
    changes: tuple[Change, ...] = ()
    added_accuracy_ft: float = 0.0

    def __len__(self) -> int:
        """Return the number of features."""
        return len(self.geometries)


@dataclass(frozen=True)
class LoadOptions:
    """What whoever loads a layer says about it.

    Attributes
    ----------
    crs
        What the coordinates are in, where the source does not say; a contradiction is refused.
    fields
        The source's name of a field by the manifest's name of it: ``{"SPDETAIL": "PLAN_CLASS"}``.
    constants
        One value for all features by the manifest's field: ``{"ACS_EDITION": "2011-2015"}``.
    partial
        The source covers a part of the ground only, or features that cannot be used may be left out: the layer then
        counts as not complete, so that absence from it proves nothing, and it may have few features.
    strict
        Refuse whatever would have to be changed or left out.
    municipal_lines
        The municipalities, against whose lines coordinates without a declared system are compared.
    """

    crs: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    partial: bool = False
    strict: bool = False
    municipal_lines: Layer | None = None


class LoadReport(Strict):
    """What was read, what was changed and what was left out when a layer was loaded.

    Attributes
    ----------
    read, kept
        Numbers of features that came, and that the layer has.
    crs
        What the coordinates were taken to be in, in words, with datum and unit.
    unknown_values
        By field: values that the manifest does not know. Features with them are kept, and leave sites undetermined.
    added_accuracy_ft
        Feet that a change of datum, or the way in which the features came, adds to what the manifest says of the
        lines; the layer's own manifest has them already.
    """

    layer: str
    source: str
    read: int
    kept: int
    crs: str
    fields: dict[str, str]
    unknown_values: dict[str, tuple[str, ...]]
    changes: tuple[Change, ...]
    added_accuracy_ft: float = 0.0
