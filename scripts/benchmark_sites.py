"""Layers and sites that the benchmark draws, the same ones in every run; and whether two ways give equal answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely
from benchmark_layers import CLASSES, PLANNING_AREAS, PLANNING_VERTICES, blobs

from grownj_geo.evaluate import Evaluation
from grownj_geo.layer import Layer
from grownj_geo.leaves import Leaves
from grownj_geo.manifest import load_manifests
from grownj_geo.sitetable import SiteTable
from grownj_geo.units import to_working

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from grownj_geo.atlas import Atlas
    from grownj_geo.bulk import Findings
    from grownj_geo.determine import Engine

    Floats = NDArray[np.float64]
    Shapes = NDArray[np.object_]

__all__ = [
    "GROUNDS",
    "SEED",
    "TRACTS",
    "drawn_grounds",
    "drawn_layers",
    "lots_around",
    "new_jersey",
    "parcel_chunks",
    "random_parcels",
    "random_points",
    "table",
    "unequal_findings",
    "unequal_to_one_site",
    "write_parcels",
]

SEED = 34
TRACTS = Path(__file__).resolve().parents[2] / "shared" / "data" / "nj_tracts_cb2018_500k.parquet"
"""Real census tracts, where they lie beside the repository."""
GROUNDS = (
    "planning_areas",
    "census_tract_poverty",
    "designated_centers",
    "highlands_region",
    "pinelands_management_areas",
    "redevelopment_areas",
    "rehabilitation_areas",
    "meadowlands_district",
    "closed_military_land",
    "endorsed_plan_centers",
    "highlands_receiving_areas",
    "meadowlands_master_plan_areas",
    "meadowlands_redevelopment_plans",
    "sports_exposition_land",
    "atlantic_city_tourism_district",
    "building_footprints",
)
"""Layers of polygons that do not ship, in the order in which they are added."""

_TOLERANCE_FT = 1e-6
_SQUARE = 1_000.0
_SQFT_PER_ACRE = 43_560.0
_MEDIAN_ACRES, _SPREAD, _MOST_ACRES = 0.25, 1.6, 640.0
_CORNERS = ((4, 0.6), (6, 0.25), (12, 0.15))
_CHUNK = 100_000


# -- layers --------------------------------------------------------------------------------------------


def _layer(layer_id: str, shapes: Sequence[shapely.Geometry], columns: dict[str, list[Any]]) -> Layer:
    manifest = load_manifests()[layer_id].model_copy(update={"least_features": 0})
    named = {manifest.key_field, manifest.name_field, *manifest.required_fields} - {None, *columns}
    columns = columns | {str(name): [str(i) for i in range(len(shapes))] for name in named}
    bounds = np.asarray(shapely.bounds(np.array(shapes, dtype=object)), dtype=np.float64)
    return Layer(manifest, columns, bounds, f"drawn {layer_id}", geometries=dict(enumerate(shapes)))


def drawn_layers(tracts: Path | None = TRACTS) -> list[Layer]:
    """Return a drawn statewide planning-area layer and census tracts; the tracts are drawn too where there are none."""
    rings = blobs(PLANNING_AREAS, PLANNING_VERTICES // PLANNING_AREAS, columns=32, side=8_500.0)
    areas = []
    for ring in rings:
        lonlat = np.array(ring)
        areas.append(shapely.make_valid(shapely.Polygon(np.column_stack(to_working(lonlat[:, 0], lonlat[:, 1])))))
    classes = [CLASSES[i % len(CLASSES)] for i in range(len(areas))]
    found = [_layer("planning_areas", areas, {"SPDETAIL": classes})]
    if tracts is not None and tracts.is_file():
        import geopandas as gpd  # noqa: PLC0415 - only where there are tracts

        frame = gpd.read_parquet(tracts).to_crs("EPSG:3424")
        shapes = list(shapely.make_valid(frame.geometry.to_numpy()))
        rates = ["" if np.isnan(rate) else str(rate) for rate in frame["poverty_rate_pct_acs2020"]]
    else:
        rng = np.random.default_rng(SEED)
        x, y = (v.ravel() for v in np.meshgrid(np.arange(40) * 11_000.0 + 200_000, np.arange(55) * 15_500.0 + 40_000))
        shapes = list(shapely.box(x, y, x + 11_000, y + 15_500))
        rates = [f"{rate:.2f}" for rate in rng.gamma(2.0, 6.0, len(shapes))]
    other = {"ACS_EDITION": ["2016-2020"] * len(shapes), "TRACT_VINTAGE": ["2010"] * len(shapes)}
    return [*found, _layer("census_tract_poverty", shapes, {"POVERTY_RATE": rates, **other})]


def drawn_grounds(count: int) -> list[Layer]:
    """Return the first so many of the polygon layers that do not ship, each drawn anew: 150 shapes, 24,000 vertices."""
    found = []
    for number, layer_id in enumerate(GROUNDS[:count]):
        manifest = load_manifests()[layer_id]
        rings = blobs(150, 160, columns=10, side=38_000.0, seed=SEED + number)
        shapes = []
        for ring in rings:
            lonlat = np.array(ring)
            shapes.append(shapely.make_valid(shapely.Polygon(np.column_stack(to_working(lonlat[:, 0], lonlat[:, 1])))))
        columns: dict[str, list[Any]] = {}
        for coded in manifest.fields.values():
            words = list(coded.values) or ["25.0" if coded.greatest is not None else "2010-01-01"]
            columns[coded.source_field] = [words[i % len(words)] for i in range(len(shapes))]
        for name in {manifest.from_field, manifest.until_field} - {None}:
            columns[str(name)] = ["2001-01-01" if name == manifest.from_field else ""] * len(shapes)
        found.append(_layer(layer_id, shapes, columns))
    return found


# -- sites ---------------------------------------------------------------------------------------------


def new_jersey(atlas: Atlas) -> shapely.Geometry:
    """Return the State as one geometry, prepared."""
    counties = atlas.layer("counties")
    if counties is None:
        raise SystemExit("The counties cannot be used; reinstall the package.")
    state = shapely.union_all([counties.geometry(i) for i in range(len(counties))])
    shapely.prepare(state)
    return state


def random_points(atlas: Atlas, n: int, *, seed: int = SEED) -> Shapes:
    """Return points anywhere in New Jersey."""
    state = new_jersey(atlas)
    rng = np.random.default_rng(seed)
    found: list[Floats] = []
    left = n
    while left > 0:
        xy = rng.uniform(state.bounds[:2], state.bounds[2:], size=(4 * left, 2))
        found.append(xy[shapely.intersects_xy(state, xy[:, 0], xy[:, 1])][:left])
        left -= len(found[-1])
    return np.asarray(shapely.points(np.concatenate(found)), dtype=object)


def random_parcels(atlas: Atlas, n: int, *, seed: int = SEED) -> NDArray[np.object_]:
    """Return lots of the State's sizes, as far as a log-normal draw has them: half below a third of an acre."""
    rng = np.random.default_rng(seed + 1)
    middle = shapely.get_coordinates(random_points(atlas, n, seed=seed + 2))
    wide, deep = np.exp(rng.normal(4.6, 0.6, n)), np.exp(rng.normal(4.9, 0.6, n))
    angle = rng.uniform(0, np.pi, n)
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) / 2.0
    dx, dy = corners[None, :, 0] * wide[:, None], corners[None, :, 1] * deep[:, None]
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    xy = np.stack([dx * cos - dy * sin, dx * sin + dy * cos], axis=2) + middle[:, None, :]
    return np.asarray(shapely.polygons(xy), dtype=object)


def table(geometries: NDArray[np.object_]) -> SiteTable:
    """Return sites that are known by their place alone."""
    n = len(geometries)
    return SiteTable(geometries, np.zeros(n), np.ones(n, dtype=bool), ("",) * n)


def parcel_chunks(atlas: Atlas, n: int, *, chunk: int = _CHUNK) -> Iterator[Shapes]:
    """Return parcel-like polygons of the State, a chunk at a time: four to twelve corners, a log-normal size.

    Half are below a quarter of an acre and one in a hundred is above ten acres. They lie anywhere in the State but in
    the squares that its border crosses; lines cut them as it falls, and they may lie over each other.
    """
    state = new_jersey(atlas)
    x0, y0, x1, y1 = state.bounds
    x, y = (v.ravel() for v in np.meshgrid(np.arange(x0, x1, _SQUARE), np.arange(y0, y1, _SQUARE)))
    whole = shapely.contains_properly(state, shapely.box(x, y, x + _SQUARE, y + _SQUARE))
    corner = np.column_stack([x[whole], y[whole]])
    for begin in range(0, n, chunk):
        rng = np.random.default_rng([SEED, begin])
        count = min(chunk, n - begin)
        middle = corner[rng.integers(0, len(corner), count)] + rng.uniform(0, _SQUARE, (count, 2))
        acres = np.minimum(_MEDIAN_ACRES * np.exp(rng.normal(0.0, _SPREAD, count)), _MOST_ACRES)
        yield lots_around(rng, middle, acres * _SQFT_PER_ACRE)


def lots_around(rng: np.random.Generator, middle: Floats, sqft: Floats) -> Shapes:
    """Return lots around some places, of about some sizes in square feet."""
    count = len(middle)
    deep = np.exp(rng.normal(0.35, 0.3, count))
    kind = rng.choice(len(_CORNERS), count, p=[share for _, share in _CORNERS])
    turn = rng.uniform(0, np.pi, count)
    found = np.empty(count, dtype=object)
    for number, (corners, _) in enumerate(_CORNERS):
        rows = np.flatnonzero(kind == number)
        k = len(rows)
        # Corners around the middle, in order, so that no line crosses itself.
        angle = (np.arange(corners) + 0.5) * 2 * np.pi / corners + rng.uniform(-0.15, 0.15, (k, corners))
        radius = rng.uniform(0.85, 1.15, (k, corners)) * np.sqrt(sqft[rows] / 2.0)[:, None]
        u, v = (
            radius * np.cos(angle) / np.sqrt(deep[rows])[:, None],
            radius * np.sin(angle) * np.sqrt(deep[rows])[:, None],
        )
        cos, sin = np.cos(turn[rows])[:, None], np.sin(turn[rows])[:, None]
        xy = np.stack([u * cos - v * sin, u * sin + v * cos], axis=2) + middle[rows][:, None, :]
        found[rows] = shapely.polygons(xy)
    return found


def write_parcels(path: Path, atlas: Atlas, n: int, *, chunk: int = _CHUNK) -> None:
    """Write parcel-like polygons as GeoParquet, a chunk in memory at a time."""
    import pyarrow as pa  # noqa: PLC0415 - only where a file is written
    import pyarrow.parquet as pq  # noqa: PLC0415 - same
    import pyproj  # noqa: PLC0415 - same

    geo = {
        "version": "1.1.0",
        "primary_column": "geometry",
        "columns": {
            "geometry": {
                "encoding": "WKB",
                "geometry_types": ["Polygon"],
                "crs": pyproj.CRS.from_epsg(3424).to_json_dict(),
            }
        },
    }
    fields = [pa.field("parcel", pa.int64()), pa.field("geometry", pa.binary())]
    schema = pa.schema(fields, metadata={"geo": json.dumps(geo)})
    with pq.ParquetWriter(path, schema) as writer:
        done = 0
        for shapes in parcel_chunks(atlas, n, chunk=chunk):
            numbers = np.arange(done, done + len(shapes))
            writer.write_table(pa.table([numbers, pa.array(shapely.to_wkb(shapes), pa.binary())], schema=schema))
            done += len(shapes)


# -- the same answers ----------------------------------------------------------------------------------


def unequal_to_one_site(engine: Engine, sites: SiteTable, found: Findings, some: NDArray[np.int64]) -> int:
    """Return for how many of some sites any outcome, leaning, cause or margin is not what the site has alone."""
    wrong = 0
    columns = [(found.outcomes[:, k][:, found.group[some]], found.cause(name)[some], found.margin_ft(name)[some])
               for k, name in enumerate(found.categories)]  # fmt: skip
    cache: dict[int, list[tuple[int, int, int]]] = {}
    for at, i in enumerate(some.tolist()):
        alone = Leaves(engine.bound, engine.atlas, table(sites.geometries[i : i + 1]), feature_cache=cache)
        run = Evaluation(engine.bound, alone, keep=False)
        same = True
        for name, (outcomes, causes, margins) in zip(found.categories, columns, strict=True):
            value = run.category(name)
            margin = np.clip(value.margin(), -found.margin_limit_ft, found.margin_limit_ft)
            same &= outcomes[:, at].tolist() == value.outcomes[:, 0].tolist() and causes[at] == value.causes[0]
            same &= bool(np.isclose(margins[at], margin, rtol=0, atol=_TOLERANCE_FT, equal_nan=True))
        wrong += not same
    return wrong


def unequal_findings(a: Findings, b: Findings) -> int:
    """Return for how many sites any of two findings differs."""
    wrong = np.zeros(len(a), dtype=bool)
    for name in a.categories:
        for row in range(3):
            wrong |= a.outcome(name, row=row) != b.outcome(name, row=row)
        wrong |= a.cause(name) != b.cause(name)
        left, right = a.margin_ft(name), b.margin_ft(name)
        wrong |= (left != right) & ~(np.isnan(left) & np.isnan(right))
    return int(wrong.sum())
