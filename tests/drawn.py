"""Small layers and sites, drawn in memory with the true field names."""

from __future__ import annotations

import hashlib
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely
import yaml

from grownj_geo.layer import Layer
from grownj_geo.manifest import load_manifests
from grownj_geo.rulebook import Rulebook, read_rulebook
from grownj_geo.site import Site
from grownj_geo.units import to_working

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from grownj_geo.evaluate import Evaluation
    from grownj_geo.manifest import Manifest

CAMDEN = (-75.1190, 39.9447)
NEWARK = (-74.1641, 40.7344)

WORDS = {1: "yes", 0: "undetermined", -1: "no"}


def manifest_of(layer_id: str, *, accuracy_ft: float | None = 0.0, **changes: Any) -> Manifest:
    """Return the shipped manifest with another accuracy and room for few features or none."""
    update = {"accuracy_ft": accuracy_ft, "least_features": 0, **changes}
    return load_manifests()[layer_id].model_copy(update=update)


def _columns(manifest: Manifest, rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    names = {
        manifest.key_field,
        manifest.name_field,
        manifest.uncertainty_field,
        manifest.bound_field,
        manifest.from_field,
        manifest.until_field,
        *manifest.required_fields,
        *(coded.source_field for coded in manifest.fields.values()),
        *(name for row in rows for name in row),
    }
    given: dict[str | None, str] = {manifest.bound_field: "exact", manifest.uncertainty_field: "0"}
    columns = {name: [row.get(name, given.get(name, "")) for row in rows] for name in sorted(n for n in names if n)}
    key = manifest.key_field
    if key not in {None, manifest.bound_field} and not any(key in row for row in rows):
        columns[key] = [str(i) for i in range(len(rows))]
    return columns


def draw(
    layer_id: str,
    features: Sequence[tuple[shapely.Geometry, Mapping[str, Any]]],
    *,
    accuracy_ft: float | None = 0.0,
    **changes: Any,
) -> Layer:
    """Return a layer of polygons in EPSG:3424 with the publisher's field names."""
    manifest = manifest_of(layer_id, accuracy_ft=accuracy_ft, **changes)
    shapes = [shape for shape, _ in features]
    bounds = np.array([shapely.bounds(shape) for shape in shapes], dtype=np.float64).reshape(-1, 4)
    digest = hashlib.sha256(b"".join(shapely.to_wkb(shape) for shape in shapes)).hexdigest()
    columns = _columns(manifest, [row for _, row in features])
    return Layer(manifest, columns, bounds, digest, geometries=dict(enumerate(shapes)))


def stations(
    rows: Sequence[tuple[float, float, Mapping[str, Any]]], *, accuracy_ft: float = 0.0, **changes: Any
) -> Layer:
    """Return a layer of stations: place, and what differs from a plain commuter rail station."""
    manifest = manifest_of("transit_stations", accuracy_ft=accuracy_ft, **changes)
    plain = {
        "mode": "commuter_rail",
        "operator": "NJT",
        "out_of_state": "false",
        "at_airport": "false",
        "underground": "false",
        "interstate": "false",
        "status": "derived",
    }
    columns = _columns(manifest, [plain | dict(row) for _, _, row in rows])
    lonlat = np.array([(lon, lat) for lon, lat, _ in rows], dtype=np.float64)
    x, y = to_working(lonlat[:, 0], lonlat[:, 1])
    return Layer(manifest, columns, np.column_stack([x, y, x, y]), "drawn", lonlat=lonlat)


def square(x: float, y: float, side: float) -> shapely.Polygon:
    """Return a square with its lower left corner at x, y, in US survey feet."""
    return shapely.box(x, y, x + side, y + side)


def around(lonlat: tuple[float, float], half: float) -> shapely.Polygon:
    """Return a square around a place, `half` US survey feet to each side."""
    x, y = (float(v) for v in to_working(*lonlat))
    return shapely.box(x - half, y - half, x + half, y + half)


def site(geometry: shapely.Geometry | None, *, uncertainty_ft: float = 0.0, **more: Any) -> Site:
    """Return a site from a geometry in EPSG:3424."""
    return Site(typed="drawn", located_by="drawn", geometry=geometry, uncertainty_ft=uncertainty_ft, **more)


def points(xy: Iterable[tuple[float, float]]) -> list[Site]:
    """Return point sites."""
    return [site(shapely.Point(x, y)) for x, y in xy]


def drawn_book(
    rule: Any, *, parameters: Mapping[str, Mapping[str, Any]] | None = None, categories: Sequence[Any] = ()
) -> Rulebook:
    """Return a rulebook of one category, "answer", with figures that hold on every day, and further categories."""
    figures = {
        name: {
            "label": name,
            "unit": given["unit"],
            "values": [
                {
                    "from": date(2013, 9, 18),
                    "value": given["value"],
                    "citation": "none",
                    "status": given.get("status", "confirmed"),
                }
            ],
        }
        for name, given in (parameters or {}).items()
    }
    raw = {
        "format": 1,
        "id": "drawn",
        "title": "drawn",
        "version": "1",
        "citation": "none",
        "first_day": date(2013, 9, 18),
        "last_day": date(2019, 7, 1),
        "outside_days": "Nothing.",
        "parameters": figures,
        "categories": [drawn_category("answer", rule, label="a"), *categories],
    }
    return read_rulebook(yaml.safe_dump(raw, sort_keys=False), name="drawn.yaml")


def drawn_category(name: str, rule: Any, *, label: str | None = None) -> dict[str, Any]:
    """Return a category of a drawn rulebook."""
    return {"id": name, "label": label or name, "citation": "none", "summary": "s", "rule": rule}


def outcome(run: Evaluation, category: str) -> str:
    """Return a category's outcome for the first site, grounds included."""
    return WORDS[int(run.category(category).outcomes[0, 0])]


def leaning(run: Evaluation, category: str) -> str:
    """Return which way a category leans for the first site."""
    return WORDS[int(run.category(category).outcomes[1, 0])]
