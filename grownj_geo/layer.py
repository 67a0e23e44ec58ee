"""A layer: features of one kind with their manifest, checked on loading, decoded only where needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.errors import LayerError
from grownj_geo.layercheck import EXACT, INNER, NOMINAL, OUTER, check_layer, is_blank, read_day, read_figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from numpy.typing import NDArray

    from grownj_geo.manifest import Manifest

__all__ = ["EXACT", "INNER", "NOMINAL", "OUTER", "Layer", "Where"]

Where = tuple[tuple[str, tuple[str, ...]], ...]
"""A choice of features: every field named has one of the values listed. Empty: all features."""


@dataclass(frozen=True, eq=False)
class Layer:
    """Features of one kind in the working CRS.

    Parameters
    ----------
    manifest
        What the layer is.
    columns
        Attributes by field name, each of n values.
    bounds
        Boxes, shape (n, 4), in US survey feet: least x, least y, greatest x, greatest y.
    fingerprint
        Checksum of the content that was read.
    wkb
        Geometries as well-known binary, for layers that are decoded feature by feature.
    geometries
        Decoded geometries by index; filled as features are asked for.
    lonlat
        Degrees, shape (n, 2), for layers of points: distances are measured from these.
    """

    manifest: Manifest
    columns: Mapping[str, Sequence[Any]]
    bounds: NDArray[np.float64]
    fingerprint: str
    wkb: Sequence[bytes] | None = None
    geometries: dict[int, shapely.Geometry] = field(default_factory=dict)
    lonlat: NDArray[np.float64] | None = None
    # Not for the constructor: a copy with other columns starts without what was worked out from these.
    _selections: dict[tuple[Where, date | None], NDArray[np.int64]] = field(init=False, default_factory=dict)
    _matches: dict[tuple[str, tuple[str, ...]], tuple[NDArray[np.bool_], NDArray[np.bool_]]] = field(
        init=False, default_factory=dict
    )
    _vertices: dict[int, int] = field(init=False, default_factory=dict)
    _boundaries: dict[int, shapely.Geometry] = field(init=False, default_factory=dict)
    _meant: dict[str, dict[str, str]] = field(init=False, default_factory=dict)
    _values: dict[tuple[str, int], str] = field(init=False, default_factory=dict)
    _figures: dict[str, NDArray[np.float64]] = field(init=False, default_factory=dict)

    def __len__(self) -> int:
        """Return the number of features."""
        return len(self.bounds)

    @property
    def id(self) -> str:
        """The layer's id."""
        return self.manifest.id

    def geometry(self, index: int) -> shapely.Geometry:
        """Return one feature's geometry in EPSG:3424, decoding it at the first call."""
        found = self.geometries.get(index)
        if found is None:
            if self.wkb is None:
                raise LayerError(f"The layer {self.id} has no geometry for feature {index}.")
            found = shapely.from_wkb(self.wkb[index])
            shapely.prepare(found)
            self.geometries[index] = found
        return found

    def boundary(self, index: int) -> shapely.Geometry:
        """Return one polygon's boundary in EPSG:3424, ready to be measured against many times."""
        found = self._boundaries.get(index)
        if found is None:
            found = self._boundaries[index] = shapely.boundary(self.geometry(index))
            shapely.prepare(found)
        return found

    def vertices(self, index: int) -> int:
        """Return how many vertices a feature has."""
        found = self._vertices.get(index)
        if found is None:
            found = self._vertices[index] = int(shapely.get_num_coordinates(self.geometry(index)))
        return found

    @cached_property
    def problem(self) -> str | None:
        """What makes the layer unusable, as `check_layer` says; None where nothing does."""
        try:
            check_layer(self)
        except LayerError as error:
            return str(error)
        return None

    def _typed(self, name: str, index: int) -> str:
        coded = self.manifest.fields.get(name)
        column = self.columns.get(name if coded is None else coded.source_field)
        return _text(None if column is None else column[index])

    def value(self, name: str, index: int) -> str:
        """Return one attribute as text, in the manifest's own values where it is coded; empty where missing.

        Blanks around a publisher's value do not count, and capitals do: a value that the manifest does not know
        comes back as it stands.
        """
        found = self._values.get((name, index))
        if found is None:
            typed = self._typed(name, index)
            found = self._values[name, index] = self._meanings(name).get(typed.strip(), typed)
        return found

    def figure(self, name: str, index: int) -> float:
        """Return one attribute as a number; NaN where it is missing or is none, such as ``"N/A"`` or ``"20%"``."""
        return read_figure(self.value(name, index))

    def _meanings(self, name: str) -> dict[str, str]:
        found = self._meant.get(name)
        if found is None:
            coded = self.manifest.fields.get(name)
            values = {} if coded is None else coded.values
            found = self._meant[name] = {typed.strip(): meant for typed, meant in values.items()}
        return found

    def key(self, index: int) -> str:
        """Return the feature's key, or its row number where the layer has no key field."""
        return self.value(self.manifest.key_field, index) if self.manifest.key_field else str(index)

    def name(self, index: int) -> str:
        """Return the feature's name, or its key where the layer has no name field."""
        return self.value(self.manifest.name_field, index) if self.manifest.name_field else self.key(index)

    @cached_property
    def points(self) -> NDArray[np.object_]:
        """The features of a layer of points in EPSG:3424."""
        return np.asarray(shapely.points(self.bounds[:, :2]), dtype=object)

    @cached_property
    def tolerances_ft(self) -> NDArray[np.float64]:
        """How far each feature's line or point may be from the truth, in feet, shape (n,)."""
        base = np.full(len(self), self.manifest.accuracy_ft or 0.0)
        name = self.manifest.uncertainty_field
        return base if name is None else base + np.array([self.figure(name, i) for i in range(len(self))])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every feature's name, as `name` says it."""
        return tuple(self.name(i) for i in range(len(self)))

    def figures(self, name: str) -> NDArray[np.float64]:
        """Return one attribute of every feature as numbers, as `figure` reads it, shape (n,)."""
        found = self._figures.get(name)
        if found is None:
            found = self._figures[name] = np.array([self.figure(name, i) for i in range(len(self))], dtype=np.float64)
        return found

    @cached_property
    def bound_kinds(self) -> NDArray[np.object_]:
        """Whether each feature is exact, or an inner, outer or nominal bound of the true one."""
        name = self.manifest.bound_field
        return np.array([EXACT if name is None else self.value(name, i) for i in range(len(self))], dtype=object)

    @cached_property
    def sure(self) -> NDArray[np.bool_]:
        """Which features are ground that surely belongs: exact ones and inner bounds, shape (n,)."""
        return np.isin(self.bound_kinds, (EXACT, INNER))

    @cached_property
    def possible(self) -> NDArray[np.bool_]:
        """Which features are all the ground that can belong: exact ones and outer bounds, shape (n,)."""
        return np.isin(self.bound_kinds, (EXACT, OUTER))

    @cached_property
    def computed(self) -> NDArray[np.bool_]:
        """Which features are the line that figures are computed from: exact and nominal ones, shape (n,)."""
        return np.isin(self.bound_kinds, (EXACT, NOMINAL))

    def meeting(self, features: NDArray[np.int64], box: tuple[float, float, float, float]) -> NDArray[np.int64]:
        """Return those of some features whose own box meets a box: x0, y0, x1, y1 in EPSG:3424."""
        x0, y0, x1, y1 = box
        boxes = self.bounds[features]
        return features[(boxes[:, 0] <= x1) & (boxes[:, 2] >= x0) & (boxes[:, 1] <= y1) & (boxes[:, 3] >= y0)]

    def undated(self, features: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which features have no known beginning in a layer where that leaves them in doubt."""
        name = self.manifest.from_field
        if name is None or self.manifest.undated == "holds":
            return np.zeros(len(features), dtype=bool)
        return np.array([self._day(name, int(i)) is None for i in features], dtype=bool)

    def doubtful(self, features: NDArray[np.int64], where: Where = ()) -> NDArray[np.bool_]:
        """Return which features only perhaps match a choice.

        These are the ones with a value that the manifest does not know, or none, in a coded field that the choice
        asks for; and those of unknown age, as `undated` says.

        Parameters
        ----------
        features
            Indices, as `select` returned them for the same choice.
        where
            Fields and the values that count.

        Raises
        ------
        LayerError
            If the layer has no such field.
        """
        found = self.undated(features)
        for name, wanted in where:
            found |= self._match(name, wanted)[1][features]
        return found

    def _match(self, name: str, wanted: tuple[str, ...]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which features surely have one of the values, and of which nobody knows."""
        cached = self._matches.get((name, wanted))
        if cached is not None:
            return cached
        coded = self.manifest.fields.get(name)
        n = len(self)
        if (name if coded is None else coded.source_field) not in self.columns:
            if coded is None:
                raise LayerError(
                    f"The layer {self.id} has no field {name!r}; it has {', '.join(sorted(self.columns))}."
                )
            # The manifest knows the field, and whoever loaded the layer left it out.
            found = np.zeros(n, dtype=bool), np.ones(n, dtype=bool)
        else:
            typed = [self._typed(name, i) for i in range(n)]
            meanings = self._meanings(name)
            unknown = np.array([bool(meanings) and t.strip() not in meanings for t in typed], dtype=bool)
            same = np.array([meanings.get(t.strip(), t) in wanted for t in typed], dtype=bool)
            found = same & ~unknown, unknown
        self._matches[name, wanted] = found
        return found

    def _day(self, name: str, index: int) -> date | None:
        value = self.columns[name][index]
        try:
            return read_day(value)
        except (ValueError, OverflowError):
            raise LayerError(
                f"The layer {self.id}, row {index + 1}: {name} is {value!r}, which is no date. "
                "Expected a day such as 2017-04-17."
            ) from None

    def select(self, where: Where = (), *, as_of: date | None = None) -> NDArray[np.int64]:
        """Return the indices of the features that match, or may match, and are in being on the day.

        Parameters
        ----------
        where
            Fields and the values that count. A feature whose value the manifest does not know is among those
            returned: `doubtful` says which they are.
        as_of
            Leave out features that begin after the day or have ended by it; None keeps all.

        Raises
        ------
        LayerError
            If the layer has no such field.
        """
        cached = self._selections.get((where, as_of))
        if cached is not None:
            return cached
        keep = np.ones(len(self), dtype=bool)
        for name, wanted in where:
            sure, unknown = self._match(name, wanted)
            keep &= sure | unknown
        if as_of is not None:
            for field_name, ended in ((self.manifest.from_field, False), (self.manifest.until_field, True)):
                if field_name is not None:
                    for i in map(int, np.flatnonzero(keep)):
                        day = self._day(field_name, i)
                        if day is not None and ((as_of >= day) if ended else (as_of < day)):
                            keep[i] = False
        found = np.flatnonzero(keep)
        self._selections[(where, as_of)] = found
        return found


def _text(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    return "" if is_blank(value) else str(value)
