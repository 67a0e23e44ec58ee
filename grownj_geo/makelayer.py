"""From features as they came to a checked layer, and a report of what was changed on the way."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import shapely

from grownj_geo.cleaning import repair, usable
from grownj_geo.duplicates import check_keys, drop_duplicates, note_overlaps
from grownj_geo.errors import LayerError
from grownj_geo.features import LayerFault, LoadOptions, LoadReport
from grownj_geo.fieldmap import map_fields
from grownj_geo.fieldvalues import read_values
from grownj_geo.findings import Findings
from grownj_geo.layer import Layer
from grownj_geo.layercheck import check_layer, is_blank
from grownj_geo.placing import place_features
from grownj_geo.units import to_lonlat

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.features import Features
    from grownj_geo.manifest import Manifest

__all__ = ["make_layer"]

_PLACE_FIELDS = ("longitude", "latitude")
_DEGREES_SLACK = 1e-5
"""Degrees by which a written longitude or latitude may differ from the point's own: about a metre."""


class _Ground(NamedTuple):
    """The geometry of a layer: what is kept of it, from which rows, and in what it came."""

    shapes: NDArray[Any]
    rows: NDArray[np.int64]
    lonlat: NDArray[np.float64] | None
    crs: str
    added_accuracy_ft: float


def make_layer(
    features: Features,
    manifest: Manifest,
    options: LoadOptions = LoadOptions(),  # noqa: B008 - frozen, so that one may serve all calls
) -> tuple[Layer, LoadReport]:
    """Make a checked layer of features as they came.

    Parameters
    ----------
    features
        As a file or a service gave them, in their own coordinates and with their own field names.
    manifest
        What the layer is to be: kind, fields, values, least number of features.
    options
        What whoever loads it says.

    Returns
    -------
    tuple
        The layer in EPSG:3424 (US survey feet) with the manifest's field names and the source's further fields; and
        the report. The layer's manifest is the given one, with these changes: what a change of datum, or the way the
        features came, may be off is added to `accuracy_ft`, and a partial layer is not complete and may have a single
        feature.

    Raises
    ------
    LayerFault
        If the layer cannot be made without guessing. Its `fault` says which kind it is, its message what was found,
        what was expected and what to do, for all faults of one step at once. ``"no_accuracy"`` where the manifest does
        not say how far its lines may be from the truth; ``"strict"`` lists whatever would have been changed or left
        out.

    Examples
    --------
    >>> from grownj_geo.features import Features
    >>> from grownj_geo.manifest import load_manifests
    >>> square = shapely.box(-74.17, 40.73, -74.16, 40.74)
    >>> features = Features("areas.geojson", {"SPDETAIL": ["Metropolitan"]}, np.array([square]), "EPSG:4326")
    >>> layer, report = make_layer(features, load_manifests()["planning_areas"], LoadOptions(partial=True))
    >>> layer.value("planning_area", 0), [change.kind for change in report.changes]
    ('PA1', ['value_spelling'])
    """
    found = Findings(features.source)
    found.changes.extend(features.changes)
    if not len(features):
        raise found.refuse("no_features", "it has no features; expected at least one. Check that it is the right file")
    if manifest.accuracy_ft is None and manifest.kind != "table":
        raise found.refuse(
            "no_accuracy",
            f"nothing is known of how far the lines of {manifest.id} may be from the truth, and they would count as "
            "exact. Expected a figure in feet, of whoever drew them; state it with --accuracy-ft",
        )
    mapped = map_fields(features, manifest, options, found)
    columns = mapped.columns
    codes = None if options.municipal_lines is None else _codes(options.municipal_lines)
    unknown = read_values(columns, manifest, found, mun_codes=codes)
    if manifest.kind == "table":
        ground = None
        rows = np.arange(len(features))
    else:
        ground = _ground(features, columns, manifest, options, found)
        rows = ground.rows
    columns = {name: [column[row] for row in rows] for name, column in columns.items()}
    if ground is not None and ground.lonlat is not None:
        written = [name for name in _PLACE_FIELDS if name in manifest.required_fields]
        mapped.origins.update({name: "the point itself" for name in written if name not in columns})
        for name in written:
            degrees = ground.lonlat[:, _PLACE_FIELDS.index(name)]
            columns[name] = _written_place(columns.get(name), name, degrees, rows, found)
        found.stop()
    check_keys(columns, rows, manifest, found)
    _check_count(len(rows), manifest, options, found)
    if options.strict:
        _refuse_changes(found)
    added_ft = 0.0 if ground is None else ground.added_accuracy_ft + features.added_accuracy_ft
    layer = _layer(columns, ground, _edition(manifest, options, added_ft), len(rows))
    try:
        check_layer(layer)
    except LayerError as error:
        # What the steps above let through and the layer's own check does not: still a refusal, never a layer.
        raise LayerFault("not_a_layer", f"{features.source}: {error}") from error
    report = LoadReport(
        layer=manifest.id,
        source=features.source,
        read=len(features),
        kept=len(rows),
        crs="none: a table" if ground is None else ground.crs,
        fields=mapped.origins,
        unknown_values=unknown,
        changes=tuple(found.changes),
        added_accuracy_ft=added_ft,
    )
    return layer, report


def _codes(municipal: Layer) -> frozenset[str]:
    return frozenset(municipal.key(index) for index in range(len(municipal)))


def _ground(
    features: Features,
    columns: dict[str, list[Any]],
    manifest: Manifest,
    options: LoadOptions,
    found: Findings,
) -> _Ground:
    """Return the geometry in EPSG:3424, cleaned, and from which rows it is."""
    if manifest.kind == "table":
        raise LayerError(f"The layer {manifest.id} is a table and has no ground.")
    given, keep = usable(features.geometries, manifest.kind, found, partial=options.partial)
    rows = np.flatnonzero(keep)
    if not len(rows):
        raise found.refuse("no_features", "none of its features can be used. Check that it is the right file")
    placed = place_features(given[rows], rows, features.crs, options, found)
    rows, shapes = rows[placed.inside], placed.geometries
    shapes = repair(shapes, rows, manifest.kind, found)
    chosen = {name: [column[row] for row in rows] for name, column in columns.items()}
    distinct = drop_duplicates(shapes, chosen, rows, manifest, found)
    rows, shapes = rows[distinct], shapes[distinct]
    if manifest.kind == "polygon":
        chosen = {name: [column[row] for row in rows] for name, column in columns.items()}
        note_overlaps(shapes, chosen, rows, manifest, found)
    lonlat = None
    if manifest.kind == "point":
        # Degrees stay as they were given: there and back again they would differ in the last digits.
        asked = placed.system.is_degrees and placed.system.one_datum
        xy = shapely.get_coordinates(given[rows] if asked else shapes)
        lonlat = xy if asked else np.column_stack(to_lonlat(xy[:, 0], xy[:, 1]))
    return _Ground(shapes, rows, lonlat, placed.words, placed.system.added_accuracy_ft)


def _written_place(
    written: list[Any] | None, name: str, degrees: NDArray[np.float64], rows: NDArray[np.int64], found: Findings
) -> list[Any]:
    """Return the field in which a layer of points writes its places; what contradicts the points is a fault."""
    if written is None:
        return [repr(float(value)) for value in degrees]
    apart = [
        index
        for index, value in enumerate(written)
        if not is_blank(value) and not abs(_number(value) - degrees[index]) <= _DEGREES_SLACK
    ]
    if apart:
        first = apart[0]
        found.fault(
            "place_contradicts",
            f"{name} is {written[first]!r} and the point lies at {degrees[first]:.7f} in row {rows[first] + 1} "
            f"({len(apart)} such rows). Correct the one or the other",
        )
    return [repr(float(degrees[i])) if is_blank(value) else value for i, value in enumerate(written)]


def _number(value: object) -> float:
    try:
        return float(str(value))
    except ValueError:
        # Compares as apart from everything, and so is refused with its row.
        return float("nan")


def _check_count(kept: int, manifest: Manifest, options: LoadOptions, found: Findings) -> None:
    if kept < manifest.least_features and not options.partial:
        raise found.refuse(
            "too_few",
            f"it has {kept} features; the layer {manifest.id} has at least {manifest.least_features}. It looks cut "
            "short: load it again, or load it as a partial layer, from which absence proves nothing",
        )


def _refuse_changes(found: Findings) -> None:
    """Refuse whatever was changed or left out, all of it at once."""
    meddled = [change for change in found.changes if change.effect != "noted"]
    for change in meddled:
        rows = f" (rows {', '.join(map(str, change.rows))}{' and more' if change.count > len(change.rows) else ''})"
        found.fault("strict", f"{change.kind}: {change.words.rstrip('.')}{rows if change.rows else ''}")
    if meddled:
        found.fault("strict", "nothing may be changed under strict loading. Correct the source, or load it without")
    found.stop()


def _edition(manifest: Manifest, options: LoadOptions, added_ft: float) -> Manifest:
    """Return the manifest as it holds for what was loaded."""
    update: dict[str, Any] = {}
    if options.partial:
        update |= {"complete": False, "least_features": 1}
    if added_ft:
        # Where nothing is known of the lines themselves, they are good to no less than this.
        known = [manifest.accuracy_source.rstrip(".")] if manifest.accuracy_source else []
        words = f"{added_ft:.1f} ft are added for the way from the system in which it came"
        update["accuracy_ft"] = (manifest.accuracy_ft or 0.0) + added_ft
        update["accuracy_source"] = "; ".join([*known, words])
    return manifest.model_copy(update=update) if update else manifest


def _layer(columns: dict[str, list[Any]], ground: _Ground | None, manifest: Manifest, n: int) -> Layer:
    if ground is None:
        return Layer(manifest, columns, np.full((n, 4), np.nan), _fingerprint(columns, np.empty(0, dtype=object)))
    bounds = np.asarray(shapely.bounds(ground.shapes), dtype=np.float64).reshape(-1, 4)
    fingerprint = _fingerprint(columns, ground.shapes)
    if ground.lonlat is not None:
        return Layer(manifest, columns, bounds, fingerprint, lonlat=ground.lonlat)
    return Layer(manifest, columns, bounds, fingerprint, geometries=dict(enumerate(ground.shapes)))


def _fingerprint(columns: dict[str, list[Any]], shapes: NDArray[np.object_]) -> str:
    """Return a checksum of all that the layer says; the order of its columns does not count."""
    digest = hashlib.sha256()
    for name in sorted(columns):
        digest.update(json.dumps([name, *map(str, columns[name])], ensure_ascii=False).encode())
    for shape in shapes:
        digest.update(shapely.to_wkb(shape))
    return digest.hexdigest()
