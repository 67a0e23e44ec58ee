"""Sites as arrays: what measuring and placing need of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.units import to_lonlat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from grownj_geo.layer import Layer
    from grownj_geo.site import Site

    Floats = NDArray[np.float64]

__all__ = ["SiteTable"]


@dataclass(frozen=True, eq=False)
class SiteTable:
    """Sites as arrays: what the measuring needs of them.

    Attributes
    ----------
    geometries
        Points and polygons in EPSG:3424, shape (n,); None where only the municipality is known.
    uncertainty_ft
        How far the true place may be from the geometry, shape (n,), in feet.
    placed
        Whether the site has a geometry, shape (n,).
    mun_codes
        Municipality by parcel number or by statement; empty where geometry has to say it.
    by_pin
        Whether a parcel number says it, which outranks lines; a statement only chooses among what lines leave open.
        None: as a parcel number for all.
    away_ft
        How far the sites are from areas that were measured: nearest and farthest part by layer and feature, shape
        (2, n). Kept for small tables only.
    """

    geometries: NDArray[np.object_]
    uncertainty_ft: Floats
    placed: NDArray[np.bool_]
    mun_codes: tuple[str, ...]
    by_pin: tuple[bool, ...] | None = None
    away_ft: dict[Layer, dict[int, Floats]] = field(default_factory=dict)

    @classmethod
    def of(cls, sites: Sequence[Site]) -> SiteTable:
        """Return the table of some sites."""
        geometries = np.empty(len(sites), dtype=object)
        geometries[:] = [site.geometry for site in sites]
        return cls(
            geometries,
            np.array([site.uncertainty_ft for site in sites], dtype=np.float64),
            np.array([site.geometry is not None for site in sites], dtype=bool),
            tuple(site.mun_code or "" for site in sites),
            tuple(site.mun_basis == "pin" for site in sites),
        )

    def first(self) -> SiteTable:
        """Return the first site alone, by its place only: geometry has to say its municipality."""
        kept = self.away_ft if len(self) == 1 else self._away_of(0)
        return SiteTable(self.geometries[:1], self.uncertainty_ft[:1], self.placed[:1], ("",), away_ft=kept)

    def _away_of(self, row: int) -> dict[Layer, dict[int, Floats]]:
        part = slice(row, row + 1)
        return {layer: {i: away[:, part] for i, away in known.items()} for layer, known in self.away_ft.items()}

    def row(self, row: int) -> SiteTable:
        """Return one of the sites as a table of its own."""
        part = slice(row, row + 1)
        by_pin = None if self.by_pin is None else self.by_pin[part]
        return SiteTable(
            self.geometries[part],
            self.uncertainty_ft[part],
            self.placed[part],
            self.mun_codes[part],
            by_pin,
            self._away_of(row),
        )

    def __len__(self) -> int:
        """Return the number of sites."""
        return len(self.geometries)

    @cached_property
    def points(self) -> NDArray[np.bool_]:
        """Which sites are points, shape (n,)."""
        return np.asarray(shapely.get_type_id(self.geometries) == shapely.GeometryType.POINT)

    @cached_property
    def xy(self) -> Floats:
        """Where the points are in EPSG:3424, shape (n, 2); NaN for other sites."""
        return np.column_stack([shapely.get_x(self.geometries), shapely.get_y(self.geometries)])

    @cached_property
    def lonlat(self) -> Floats:
        """Where the points are in degrees, shape (n, 2); infinite for other sites."""
        return np.column_stack(to_lonlat(self.xy[:, 0], self.xy[:, 1]))
