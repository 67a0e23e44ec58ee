"""What a layer must be before anything is measured against it, and how its single values are read.

Every way in goes through `check_layer`: files, and layers that somebody made in memory.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.errors import LayerError
from grownj_geo.manifest import load_manifests

if TYPE_CHECKING:
    from grownj_geo.layer import Layer

__all__ = ["BOUND_KINDS", "EXACT", "INNER", "NOMINAL", "OUTER", "check_layer", "is_blank", "read_day", "read_figure"]

EXACT, INNER, OUTER, NOMINAL = "exact", "inner", "outer", "nominal"
BOUND_KINDS = (EXACT, INNER, OUTER, NOMINAL)
"""What a feature may be: the true ground, or an inner, outer or nominal bound of it."""

_X_RANGE = (100_000.0, 750_000.0)
_Y_RANGE = (-60_000.0, 980_000.0)
"""New Jersey in EPSG:3424 with a margin of 9 miles and more on each side; the bistate port district fits in."""
_FULL_CIRCLE = 360.0
_BOUNDS_SLACK_FT = 1.0
_LONGEST_SHOWN = 60
# Whole numbers in this range are days written as 20170417, not milliseconds of the first hours of 1970.
_WRITTEN_DAYS = (18_000_101, 22_001_231)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KINDS = {
    "polygon": ("Polygon", "MultiPolygon"),
    "line": ("LineString", "MultiLineString"),
    "point": ("Point",),
}


def is_blank(value: object) -> bool:
    """Return whether an attribute is missing: None, not a number, not a time, or text without a sign in it.

    Examples
    --------
    >>> is_blank(None), is_blank(float("nan")), is_blank("  "), is_blank(0)
    (True, True, True, False)
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    if isinstance(value, np.datetime64):
        return bool(np.isnat(value))
    return type(value).__name__ in {"NaTType", "NAType"}


def read_day(value: object) -> date | None:
    """Return the day that an attribute states; None where it is missing.

    Parameters
    ----------
    value
        A date, a time, ISO text of either, or milliseconds since the start of 1970 (UTC), as feature services
        give them.

    Raises
    ------
    ValueError
        For anything else. A number such as 20170417 is no count of milliseconds.

    Examples
    --------
    >>> read_day("2017-04-17T00:00:00Z"), read_day(1_492_387_200_000), read_day("")
    (datetime.date(2017, 4, 17), datetime.date(2017, 4, 17), None)
    """
    if is_blank(value):
        return None
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[ms]").item()
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if isinstance(value, str):
        return datetime.fromisoformat(value.strip()).date()
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        count = float(value)
        if count.is_integer() and not _WRITTEN_DAYS[0] <= count <= _WRITTEN_DAYS[1]:
            try:
                return (_EPOCH + timedelta(milliseconds=count)).date()
            except OverflowError:
                pass
    raise ValueError(f"{value!r} is no date")


def read_figure(text: str) -> float:
    """Return the number that a text states; NaN where it states none.

    Examples
    --------
    >>> read_figure("20.4"), read_figure("20%"), read_figure("N/A"), read_figure("")
    (20.4, nan, nan, nan)
    """
    try:
        figure = float(text) if "_" not in text else math.nan
    except ValueError:
        return math.nan
    return figure if math.isfinite(figure) else math.nan


def check_layer(layer: Layer, *, geometry: bool = True) -> None:
    """Refuse a layer that could not be measured against, or that would answer wrongly.

    The geometry of a layer that ships is not gone through again: its checksum says that it is the one that was
    tested. Of every other layer each feature is looked at, unless `geometry` says that this was done before.

    Raises
    ------
    LayerError
        If the layer has fewer features than the manifest's least plausible number; lacks a field; has a feature
        without geometry, with geometry that is not valid, or that does not lie where New Jersey does in
        EPSG:3424; or has an uncertainty, a bound or a date that cannot be read.
    """
    manifest = layer.manifest
    if len(layer) < manifest.least_features:
        raise LayerError(
            f"The layer {layer.id} has {len(layer)} features; expected at least {manifest.least_features}. "
            "It looks cut short: load it again."
        )
    _check_fields(layer)
    if manifest.kind != "table":
        _check_places(layer)
        if geometry and not _ships(layer):
            _check_geometry(layer)
    _check_values(layer)


def _ships(layer: Layer) -> bool:
    shipped = load_manifests().get(layer.id)
    return shipped is not None and shipped.sha256 is not None and layer.fingerprint == shipped.sha256


def _fail(layer: Layer, index: int, problem: str, remedy: str) -> LayerError:
    named = ""
    if layer.manifest.name_field or layer.manifest.key_field:
        name = layer.name(index) or layer.key(index)
        named = f", {name[:_LONGEST_SHOWN]!r}" if name else ""
    return LayerError(f"The layer {layer.id}, row {index + 1}{named}: {problem}. {remedy}.")


def _check_fields(layer: Layer) -> None:
    manifest = layer.manifest
    named = (
        manifest.key_field,
        manifest.name_field,
        manifest.uncertainty_field,
        manifest.bound_field,
        manifest.from_field,
        manifest.until_field,
        *manifest.required_fields,
    )
    lacking = sorted({n for n in named if n is not None and n not in layer.columns})
    if lacking:
        raise LayerError(f"The layer {layer.id} lacks the fields {', '.join(lacking)} that its manifest names.")
    for name, column in layer.columns.items():
        if len(column) != len(layer):
            raise LayerError(
                f"The layer {layer.id} has {len(column)} values in the field {name} and {len(layer)} features. "
                "Expected one value for each; load it again."
            )


def _check_places(layer: Layer) -> None:
    bounds = layer.bounds
    if bounds.shape != (len(layer), 4):
        raise LayerError(f"The layer {layer.id} has boxes of shape {bounds.shape}; expected {(len(layer), 4)}.")
    finite = np.isfinite(bounds).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        raise _fail(layer, row, "it has no geometry, or one that is empty or not finite", "Remove or draw the feature")
    inside = (
        (bounds[:, 0] >= _X_RANGE[0])
        & (bounds[:, 2] <= _X_RANGE[1])
        & (bounds[:, 1] >= _Y_RANGE[0])
        & (bounds[:, 3] <= _Y_RANGE[1])
    )
    if not inside.all():
        row = int(np.argmin(inside))
        box = ", ".join(f"{v:.10g}" for v in bounds[row])
        degrees = bool(np.abs(bounds[row]).max() <= _FULL_CIRCLE)
        looks = "its coordinates look like degrees" if degrees else "it lies outside New Jersey"
        raise _fail(
            layer,
            row,
            f"{looks} (box {box})",
            "Expected EPSG:3424 (New Jersey State Plane, US survey feet); project the layer and load it again",
        )


def _check_geometry(layer: Layer) -> None:
    manifest = layer.manifest
    if manifest.kind == "point":
        lonlat = layer.lonlat
        if lonlat is None or lonlat.shape != (len(layer), 2) or not np.isfinite(lonlat).all():
            raise LayerError(
                f"The layer {layer.id} is one of points and lacks their longitude and latitude; "
                "expected an array of shape (n, 2) in degrees."
            )
        return
    for index in range(len(layer)):
        try:
            shape = layer.geometry(index)
        except (shapely.errors.ShapelyError, TypeError) as error:
            raise _fail(layer, index, f"its geometry cannot be read ({error})", "Export the layer again") from None
        if shape is None or shape.is_empty:
            raise _fail(layer, index, "its geometry is missing or empty", "Remove or draw the feature")
        if shape.geom_type not in _KINDS[manifest.kind]:
            raise _fail(
                layer, index, f"it is a {shape.geom_type}", f"Expected {' or '.join(_KINDS[manifest.kind])} features"
            )
        if not np.isfinite(shapely.get_coordinates(shape)).all():
            raise _fail(layer, index, "a coordinate is not a finite number", "Repair the layer in a GIS")
        if not shapely.is_valid(shape):
            reason = str(shapely.is_valid_reason(shape))
            raise _fail(layer, index, f"its geometry is not valid ({reason})", "Repair the layer in a GIS")
        if np.abs(np.array(shape.bounds) - layer.bounds[index]).max() > _BOUNDS_SLACK_FT:
            raise _fail(layer, index, "its box does not fit its geometry", "Write the layer again")


def _check_values(layer: Layer) -> None:
    manifest = layer.manifest
    if manifest.uncertainty_field is not None:
        for index in range(len(layer)):
            feet = layer.figure(manifest.uncertainty_field, index)
            if not feet >= 0:
                typed = layer.value(manifest.uncertainty_field, index)
                raise _fail(
                    layer,
                    index,
                    f"{manifest.uncertainty_field} is {typed!r}",
                    "Expected feet, 0 or more: a place without an uncertainty would count as exact",
                )
    if manifest.bound_field is not None:
        for index, kind in enumerate(layer.bound_kinds):
            if kind not in BOUND_KINDS:
                problem = f"{manifest.bound_field} is {kind!r}"
                raise _fail(layer, index, problem, f"Expected one of {', '.join(BOUND_KINDS)}")
    for name in filter(None, (manifest.from_field, manifest.until_field)):
        for index, value in enumerate(layer.columns[name]):
            try:
                read_day(value)
            except (ValueError, OverflowError):
                raise _fail(
                    layer,
                    index,
                    f"{name} is {str(value)[:_LONGEST_SHOWN]!r}, which is no date",
                    "Expected a day such as 2017-04-17, or nothing where it is not known",
                ) from None
