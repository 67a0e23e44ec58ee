"""A drawn part of New Jersey with everything that makes measuring hard, and sites where it is hardest."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyproj
import shapely
from drawn import NEWARK, draw, site
from few_world import few_municipalities

from grownj_geo.atlas import Atlas, load_atlas
from grownj_geo.determine import Engine
from grownj_geo.evaluate import Evaluation
from grownj_geo.leaves import Leaves
from grownj_geo.rulebook import load_rulebook
from grownj_geo.sitetable import SiteTable
from grownj_geo.units import to_working

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grownj_geo.bulk import Findings
    from grownj_geo.layer import Layer

SEED = 34
LIMIT_FT = 500.0
GEOD = pyproj.Geod(ellps="GRS80")
X0, Y0 = (float(v) for v in to_working(*NEWARK))
WIDE = 40_000.0
CLASSES = ("METROPOLITAN", "SUBURBAN", "FRINGE", "RURAL", "ENVIRONMENTALLY SENSITIVE", "PARK", "NEW WORD", "")


def blob(rng: np.random.Generator, x: float, y: float, size: float, corners: int) -> shapely.Geometry:
    """Return a polygon with a rough line, now and then with a hole."""
    angle = np.linspace(0.0, 2 * np.pi, corners, endpoint=False)
    radius = size * rng.uniform(0.6, 1.0, corners)
    shape = shapely.Polygon(np.column_stack([x + radius * np.cos(angle), y + radius * np.sin(angle)]))
    if rng.uniform() < 0.3:
        shape = shape.difference(shapely.box(x - size / 5, y - size / 6, x + size / 4, y + size / 5))
    return shape


def blobs(rng: np.random.Generator, count: int, size: float, corners: int) -> list[shapely.Geometry]:
    """Return polygons anywhere in the drawn part; some lie over others."""
    xy = rng.uniform((X0 - WIDE, Y0 - WIDE), (X0 + WIDE, Y0 + WIDE), (count, 2))
    return [blob(rng, x, y, size * rng.uniform(0.3, 1.0), corners) for x, y in xy]


def squares(rng: np.random.Generator, side: float) -> list[shapely.Geometry]:
    """Return squares that share their sides, with a sliver between some of them."""
    found = []
    for i in range(int(2 * WIDE / side)):
        for j in range(int(2 * WIDE / side)):
            x, y, gap = X0 - WIDE + i * side, Y0 - WIDE + j * side, rng.choice([0.0, 0.0, 1e-6, 0.02, 3.0])
            found.append(shapely.box(x, y, x + side - gap, y + side))
    return found


@lru_cache(maxsize=1)
def layers() -> tuple[Layer, ...]:
    """Return drawn layers: doubtful values, no dates, bounds, incomplete ones, missing figures."""
    rng = np.random.default_rng(SEED)
    areas = [(b, {"SPDETAIL": str(rng.choice(CLASSES))}) for b in blobs(rng, 60, 9_000, 40)]
    tracts = [
        (s, {"POVERTY_RATE": str(rng.choice(["5.0", "20.0", "31.5", "", "19.9"])), "ACS_EDITION": "2011-2015",
             "TRACT_VINTAGE": "2010"})
        for s in squares(rng, 8_000)
    ]  # fmt: skip
    days = ("1999-01-01", "", "2016-05-05", "2018-01-01")
    centers = [(b, {"CENDATE": str(rng.choice(days)), "ENDDATE": ""}) for b in blobs(rng, 25, 5_000, 12)]
    bases = [(b, {"FED_OWNED": str(rng.choice(["YES", "NO", ""]))}) for b in blobs(rng, 4, 5_000, 9)]
    nested = [
        row
        for b in blobs(rng, 3, 12_000, 30)
        for row in (
            (shapely.buffer(b, -600), {"bound": "inner"}),
            (b, {"bound": "nominal"}),
            (shapely.buffer(b, 700), {"bound": "outer"}),
        )
    ]
    return (
        draw("planning_areas", areas, accuracy_ft=48.3),
        draw("census_tract_poverty", tracts, accuracy_ft=75.3),
        draw("designated_centers", centers, accuracy_ft=48.3),
        draw("closed_military_land", bases, accuracy_ft=48.3),
        draw("highlands_region", [(b, {"REGION": "Highlands Preservation Area"}) for b in blobs(rng, 12, 9_000, 20)]),
        draw("port_of_new_york_district", nested, accuracy_ft=10.0),
    )


def atlas() -> Atlas:
    """Return what ships with the drawn layers."""
    return Atlas(as_of=load_atlas().as_of, layers=layers())


@lru_cache(maxsize=8)
def engine(**readings: str) -> Engine:
    """Return the shipped rulebook on the drawn atlas, the same for the same readings."""
    return Engine(atlas(), load_rulebook(), readings)


@lru_cache(maxsize=8)
def narrow_engine(**readings: str) -> Engine:
    """Return the same on some municipalities alone: an index of them is built in a quarter of the time."""
    return Engine(Atlas(as_of=load_atlas().as_of, layers=(*layers(), few_municipalities())), load_rulebook(), readings)


@lru_cache(maxsize=1)
def _lines() -> list[shapely.Geometry]:
    municipal = load_atlas().layer("municipalities")
    assert municipal is not None
    box = (X0 - WIDE, Y0 - WIDE, X0 + WIDE, Y0 + WIDE)
    near = municipal.meeting(np.arange(len(municipal)), box)
    drawn = [layer.geometry(i) for layer in layers() for i in range(len(layer))]
    return [shapely.boundary(area) for area in [*drawn, *(municipal.geometry(int(i)) for i in near)]]


def random_points(n: int, *, seed: int = SEED) -> list[shapely.Geometry]:
    """Return points anywhere in the drawn part, and a few far from it."""
    rng = np.random.default_rng(seed)
    near = rng.uniform((X0 - WIDE, Y0 - WIDE), (X0 + WIDE, Y0 + WIDE), (n - n // 10, 2))
    far = rng.uniform((200_000, 30_000), (660_000, 900_000), (n // 10, 2))
    return list(shapely.points(np.concatenate([near, far])))


def hard_points(n: int, *, seed: int = SEED) -> list[shapely.Geometry]:
    """Return points on lines and corners, at the tolerances and radii give or take, and on borders of cells."""
    rng = np.random.default_rng(seed)
    lines = _lines()
    steps = np.array([0.0, 1e-9, -1e-9, 1e-6, 1e-4, -2e-3, 0.3, -0.7, 48.3, -48.3, 75.3, 72.0, -72.0, 499.9, 500.1])
    found: list[shapely.Geometry] = []
    stations = load_atlas().layer("transit_stations")
    assert stations is not None
    assert stations.lonlat is not None
    for number in range(n):
        kind = number % 5
        line = lines[int(rng.integers(len(lines)))]
        if kind == 0:
            corners = shapely.get_coordinates(line)
            found.append(shapely.Point(corners[int(rng.integers(len(corners)))]))
        elif kind in {1, 2}:
            place = shapely.line_interpolate_point(line, rng.uniform(), normalized=True)
            turn, step = rng.uniform(0, 2 * np.pi), float(rng.choice(steps))
            found.append(shapely.Point(place.x + step * np.cos(turn), place.y + step * np.sin(turn)))
        elif kind == 3:
            i = int(rng.integers(len(stations)))
            spread = float(rng.choice([-1, 0, 1])) * float(stations.tolerances_ft[i])
            radius = float(rng.choice([2640, 5280])) + spread + float(rng.choice([0, 1e-7, -1e-5, 0.4, -0.9]))
            lon, lat, _ = GEOD.fwd(*stations.lonlat[i], rng.uniform(0, 360), radius * 0.3048)
            found.append(shapely.Point(*(float(v) for v in to_working(lon, lat))))
        else:
            x, y = np.round(rng.uniform((X0 - WIDE, Y0 - WIDE), (X0 + WIDE, Y0 + WIDE)) / 256.0) * 256.0
            found.append(shapely.Point(x + float(rng.choice([0, 1e-9, -1e-9, 0.5])), y))
    return found


def parcels(n: int, *, seed: int = SEED) -> list[shapely.Geometry]:
    """Return lots: small and large, across lines, along them, in several parts, and with holes."""
    rng = np.random.default_rng(seed)
    middles = [*random_points(n // 2, seed=seed), *hard_points(n - n // 2, seed=seed)]
    found: list[shapely.Geometry] = []
    for number, middle in enumerate(middles):
        wide, deep = rng.uniform(5, 400, 2) * (10 if number % 17 == 0 else 1)
        lot = shapely.box(middle.x - wide / 2, middle.y - deep / 2, middle.x + wide / 2, middle.y + deep / 2)
        if number % 7 == 0:
            lot = lot.difference(shapely.buffer(middle, min(wide, deep) / 5))
        elif number % 5 == 0:
            lot = shapely.union_all([lot, shapely.transform(lot, lambda xy, s=3 * wide: xy + np.array([s, 40.0]))])
        elif number % 3 == 0:
            lot = shapely.transform(lot, lambda xy, p=middle: _turned(xy, p))
        found.append(lot)
    return found


def cut_lots(n: int, *, seed: int = SEED) -> list[shapely.Geometry]:
    """Return lots on lines: along one, at a corner of one, with a side of it, across several; slivers and huge ones."""
    rng = np.random.default_rng(seed)
    lines = _lines()
    found: list[shapely.Geometry] = []
    while len(found) < n:
        xy = shapely.get_coordinates(lines[int(rng.integers(len(lines)))])
        i = int(rng.integers(len(xy) - 1))
        if 0 < np.hypot(*(xy[i + 1] - xy[i])) < WIDE:
            lot = _spoiled(rng, _on_edge(rng, len(found) % 10, xy[i], xy[i + 1]), len(found) % 10)
            if lot.is_valid and lot.area > 0:
                found.append(lot)
    return found


def _on_edge(rng: np.random.Generator, kind: int, start: np.ndarray, end: np.ndarray) -> shapely.Geometry:
    """Return a lot on an edge, or so far beside it."""
    along = (end - start) / np.hypot(*(end - start))
    beside = np.array([-along[1], along[0]]) * float(rng.choice([-1, 1]))
    step = float(rng.choice([0, 0, 1e-9, 1e-6, 1e-4, 0.01, 1, 30, 48.3, 72, 75.3, 150]))
    wide, deep = np.exp(rng.normal((4.2, 4.5), 0.8))
    at = start + (end - start) * rng.uniform() + beside * step
    if kind == 0:
        return shapely.Polygon([at, at + along * wide, at + along * wide + beside * deep, at + beside * deep])
    if kind == 1:
        return shapely.box(*start, *(start + np.array([wide, deep])))
    if kind == 2:
        return shapely.Polygon([start, end, end + beside * deep, start + beside * deep])
    if kind == 6:
        return shapely.buffer(shapely.LineString([at, at + along * wide]), 0.5, cap_style="flat")
    middle = _on_circle(rng) if kind == 3 else shapely.Point(at)
    lot = shapely.box(middle.x - wide / 2, middle.y - deep / 2, middle.x + wide / 2, middle.y + deep / 2)
    return shapely.transform(lot, lambda xy: _turned(xy, middle))


def _on_circle(rng: np.random.Generator) -> shapely.Point:
    """Return a place at a radius around a station, with or without its uncertainty, or near that."""
    stations = load_atlas().layer("transit_stations")
    assert stations is not None
    assert stations.lonlat is not None
    i = int(rng.integers(len(stations)))
    radius = float(rng.choice([2640, 5280])) + float(rng.choice([-1, 0, 1])) * float(stations.tolerances_ft[i])
    radius += float(rng.choice([0, 1e-3, 20, -60]))
    lon, lat, _ = GEOD.fwd(*stations.lonlat[i], rng.uniform(0, 360), radius * 0.3048)
    return shapely.Point(*(float(v) for v in to_working(lon, lat)))


def _spoiled(rng: np.random.Generator, lot: shapely.Geometry, kind: int) -> shapely.Geometry:
    """Return a lot with a hole, a second part, a corner that turns in, or stretched."""
    x0, y0, x1, y1 = lot.bounds
    at = np.array([x0, y0])
    if kind == 4:
        return lot.difference(shapely.buffer(lot.centroid, min(x1 - x0, y1 - y0) / 6))
    if kind == 5:
        shift = rng.normal(0, 400, 2)
        return lot.union(shapely.transform(lot, lambda xy: xy + shift))
    if kind == 7:
        by = np.array([rng.choice([0.02, 8.0, 30.0]), rng.choice([0.1, 1.0, 8.0])])
        return shapely.transform(lot, lambda xy: at + (xy - at) * by)
    return lot.union(shapely.box(*lot.centroid.coords[0], x1 + 50, y1 + 20)) if kind == 8 else lot


def _turned(xy: np.ndarray, at: shapely.Point) -> np.ndarray:
    """Return coordinates turned by a quarter of a right angle."""
    angle = np.pi / 8
    by = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return (xy - [at.x, at.y]) @ by.T + [at.x, at.y]


def table(geometries: Sequence[shapely.Geometry], **more: float) -> SiteTable:
    """Return a table of sites."""
    return SiteTable.of([site(g, **more) for g in geometries])


def differences(
    one: Engine, sites: SiteTable, found: Findings, facts: Mapping[str, Sequence[object]] | None = None
) -> list[tuple[object, ...]]:
    """Return where the findings are not what each site has alone: site, category, what is different."""
    wrong: list[tuple[object, ...]] = []
    columns = {name: (found.outcomes[:, k][:, found.group], found.cause(name), found.margin_ft(name))
               for k, name in enumerate(found.categories)}  # fmt: skip
    limit = found.margin_limit_ft
    for i in range(len(sites)):
        alone = SiteTable(
            sites.geometries[i : i + 1], sites.uncertainty_ft[i : i + 1], sites.placed[i : i + 1],
            sites.mun_codes[i : i + 1], None if sites.by_pin is None else sites.by_pin[i : i + 1],
        )  # fmt: skip
        own = {name: [column[i]] for name, column in (facts or {}).items()}
        leaves = Leaves(one.bound, one.atlas, alone, own, feature_cache=one.feature_cache)  # shared
        run = Evaluation(one.bound, leaves, keep=False)
        for name, (outcomes, causes, margins) in columns.items():
            value = run.category(name)
            if outcomes[:, i].tolist() != value.outcomes[:, 0].tolist() or causes[i] != value.causes[0]:
                wrong.append((i, name, outcomes[:, i].tolist(), value.outcomes[:, 0].tolist(), int(causes[i])))
            margin = min(max(value.margin(), -limit), limit)
            if not (abs(margins[i] - margin) <= 1e-6 or (np.isnan(margins[i]) and np.isnan(value.margin()))):
                wrong.append((i, name, "margin", float(margins[i]), value.margin()))
    return wrong
