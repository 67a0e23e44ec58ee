"""Parcels cut by a hub's circle or a planning area's line, against areas that were constructed independently.

A parcel is laid out on the plane that keeps every distance from the station (azimuthal equidistant, on the
ellipsoid). There the circle is a circle, and what a rectangle shares with it has a closed form.
"""

from __future__ import annotations

import csv
import math
from typing import TYPE_CHECKING

import numpy as np
import pyproj
import pytest
import shapely
from drawn import draw, site, stations

from grownj_geo.atlas import Atlas
from grownj_geo.determine import Engine
from grownj_geo.evidence import evidence_of
from grownj_geo.reference import read_bytes
from grownj_geo.rulebook import load_rulebook
from grownj_geo.units import to_working

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grownj_geo.determination import Evidence
    from grownj_geo.layer import Layer
    from grownj_geo.manifest import Manifest
    from grownj_geo.site import Site

FOOT = 0.3048
HALF_MILE, MILE = 2640.0, 5280.0
PRINCETON = (-74.6593, 40.3487)
CAMDEN = (-75.1100, 39.9350)
TRENTON = (-74.7560, 40.2250)
NEWARK = (-74.1900, 40.7300)
BEARINGS = [0, 37, 90, 158, 225, 301]
CLOSE = 1e-5
NAMED = {"name": "Drawn"}


class Ground:
    """The plane around a station, in international feet, turned so that +x runs along a bearing."""

    def __init__(self, station: tuple[float, float], bearing: float = 90.0) -> None:
        lon, lat = station
        self.plane = pyproj.Proj(proj="aeqd", lon_0=lon, lat_0=lat, ellps="GRS80")
        turn = math.radians(90.0 - bearing)
        self.turn = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])

    def lonlat(self, x: float, y: float) -> tuple[float, float]:
        east, north = self.turn @ np.array([x, y]) * FOOT
        lon, lat = self.plane(east, north, inverse=True)
        return float(lon), float(lat)

    def rectangle(self, x0: float, x1: float, half: float) -> shapely.Polygon:
        corners = [self.lonlat(x, y) for x, y in ((x0, -half), (x1, -half), (x1, half), (x0, half))]
        return shapely.Polygon([tuple(map(float, to_working(*corner))) for corner in corners])

    def point(self, x: float, y: float) -> shapely.Point:
        return shapely.Point(*map(float, to_working(*self.lonlat(x, y))))


def mean_reach(radius: float, half: float) -> float:
    """Return how far the circle reaches along +x, averaged over -half..half: the closed form of a strip."""
    return (half * math.sqrt(radius**2 - half**2) + radius**2 * math.asin(half / radius)) / (2 * half)


def cut(radius: float, share: float, *, width: float = 200.0, half: float = 150.0) -> tuple[float, float, float]:
    """Return x0, x1 and half height of a rectangle of which a share lies in the circle."""
    x0 = mean_reach(radius, half) - share * width
    return x0, x0 + width, half


def engine(*layers: Layer, book: str = "urban-transit-hub", readings: Mapping[str, str] | None = None) -> Engine:
    return Engine(Atlas(layers=layers), load_rulebook(book), readings or {})


def leaf(where: Engine, asked: Site, path: str) -> Evidence:
    run = where.run(asked)
    return evidence_of(run.bound.by_path[path], run)


def hub(where: Engine, asked: Site) -> tuple[str, Evidence]:
    """Return the outcome of limb a and the evidence of its half-mile clause."""
    return where.determine(asked)["hub_a"].outcome, leaf(where, asked, "hub_a.half_mile")


def shares(evidence: Evidence) -> tuple[float, float, float]:
    found = evidence.share
    assert found is not None
    assert found.low is not None
    assert found.value is not None
    assert found.high is not None
    return found.low, found.value, found.high


@pytest.mark.parametrize("bearing", BEARINGS)
@pytest.mark.parametrize(("share", "expected"), [(0.499, "no"), (0.500, "no"), (0.501, "yes")])
def test_more_than_half_of_the_land(bearing: float, share: float, expected: str) -> None:
    parcel = Ground(PRINCETON, bearing).rectangle(*cut(HALF_MILE, share))
    outcome, evidence = hub(engine(stations([(*PRINCETON, NAMED)])), site(parcel))
    assert outcome == evidence.outcome == expected
    assert shares(evidence) == pytest.approx((share, share, share), abs=CLOSE)


@pytest.mark.parametrize("share", [0.1, 0.37, 0.5, 0.72, 0.93])
def test_the_share_is_that_of_a_circle_of_a_hundred_thousand_corners(share: float) -> None:
    # The circle of Geod.fwd, and both areas on an equal-area plane: no formula in common with the rectangle.
    parcel = Ground(PRINCETON, 61).rectangle(*cut(HALF_MILE, share, width=500.0, half=400.0))
    n = 100_000
    lons, lats, _ = pyproj.Geod(ellps="GRS80").fwd(
        np.full(n, PRINCETON[0]), np.full(n, PRINCETON[1]), np.arange(n) * 360 / n, np.full(n, HALF_MILE * FOOT)
    )
    flat = pyproj.Proj(proj="laea", lon_0=PRINCETON[0], lat_0=PRINCETON[1], ellps="GRS80")
    circle = shapely.Polygon(np.column_stack(flat(lons, lats)))
    to_degrees = pyproj.Transformer.from_crs("EPSG:3424", "EPSG:4269", always_xy=True)
    ring = shapely.get_coordinates(parcel)
    on_plane = shapely.Polygon(np.column_stack(flat(*to_degrees.transform(ring[:, 0], ring[:, 1]))))
    constructed = on_plane.intersection(circle).area / on_plane.area
    _, evidence = hub(engine(stations([(*PRINCETON, NAMED)])), site(parcel))
    assert constructed == pytest.approx(share, abs=CLOSE)
    assert shares(evidence)[1] == pytest.approx(constructed, abs=CLOSE)


def test_a_real_station_gives_a_range_of_shares() -> None:
    rows = csv.DictReader(read_bytes("transit_stations.csv", sha256=_manifest().sha256).decode().splitlines())
    row = next(r for r in rows if r["station_id"] == "njt-rail-new-brunswick")
    station = (float(row["longitude"]), float(row["latitude"]))
    slack = float(row["coordinate_uncertainty_ft"]) + 3.3  # and the metre between the datums
    x0, x1, half = cut(HALF_MILE, 0.5, width=1000.0, half=300.0)
    parcel = site(Ground(station, 200).rectangle(x0, x1, half))
    outcome, evidence = hub(engine(), parcel)
    low, value, high = shares(evidence)
    assert outcome == evidence.outcome == "undetermined"
    assert "near_line" in evidence.causes
    assert low < 0.5 < high
    assert value == pytest.approx(0.5, abs=CLOSE)
    assert low == pytest.approx((mean_reach(HALF_MILE - slack, half) - x0) / 1000.0, abs=CLOSE)
    assert high == pytest.approx((mean_reach(HALF_MILE + slack, half) - x0) / 1000.0, abs=CLOSE)


def _manifest() -> Manifest:
    return Atlas().manifests["transit_stations"]


@pytest.mark.parametrize(("share", "expected"), [(0.3, "no"), (0.7, "yes")])
def test_a_real_station_decides_a_parcel_that_is_well_in_or_out(share: float, expected: str) -> None:
    station = (-74.445655, 40.497329)
    parcel = site(Ground(station, 200).rectangle(*cut(HALF_MILE, share, width=1000.0, half=300.0)))
    outcome, evidence = hub(engine(), parcel)
    low, _, high = shares(evidence)
    assert outcome == expected
    assert low < share < high


def test_the_sites_own_uncertainty_widens_the_range() -> None:
    parcel = Ground(PRINCETON, 90).rectangle(*cut(HALF_MILE, 0.55))
    where = engine(stations([(*PRINCETON, NAMED)]))
    assert hub(where, site(parcel))[0] == "yes"
    outcome, evidence = hub(where, site(parcel, uncertainty_ft=20.0))
    assert outcome == "undetermined"
    assert shares(evidence) == pytest.approx((0.45, 0.55, 0.65), abs=1e-3)


@pytest.mark.parametrize(
    ("reading", "expected", "share"), [("union", "yes", 0.6), ("one_station", "no", 0.3), (None, "yes", 0.6)]
)
def test_two_circles_are_taken_together_or_apart(reading: str | None, expected: str, share: float) -> None:
    # 30 percent of the parcel lies in the circle around the origin, another 30 in that of a station beyond it.
    x0, x1, half = cut(HALF_MILE, 0.3, width=1000.0, half=300.0)
    ground = Ground(PRINCETON, 90)
    other = ground.lonlat(x0 + x1, 0.0)
    where = engine(
        stations([(*PRINCETON, NAMED), (*other, NAMED)]), readings={} if reading is None else {"A47": reading}
    )
    outcome, evidence = hub(where, site(ground.rectangle(x0, x1, half)))
    assert outcome == expected
    assert shares(evidence)[1] == pytest.approx(share, abs=CLOSE)


def test_overlapping_circles_count_their_common_land_once() -> None:
    x0, x1, half = cut(HALF_MILE, 0.45)
    where = engine(stations([(*PRINCETON, NAMED), (*PRINCETON, NAMED)]))
    outcome, evidence = hub(where, site(Ground(PRINCETON, 90).rectangle(x0, x1, half)))
    assert outcome == "no"
    assert shares(evidence)[1] == pytest.approx(0.45, abs=CLOSE)


@pytest.mark.parametrize(("share", "camden"), [(0.499, "no"), (0.5, "no"), (0.501, "yes"), (0.8, "yes")])
def test_the_mile_is_for_the_recovery_act_only(share: float, camden: str) -> None:
    for place, expected in ((CAMDEN, camden), (TRENTON, "no"), (NEWARK, "no"), (PRINCETON, "no")):
        parcel = Ground(place, 301).rectangle(*cut(MILE, share))
        where = engine(stations([(*place, NAMED)]))
        assert hub(where, site(parcel))[0] == expected, place
        assert shares(leaf(where, site(parcel), "hub_a.recovery_act.2"))[1] == pytest.approx(share, abs=CLOSE)


def test_a_parcel_in_several_parts_counts_by_all_its_land() -> None:
    ground = Ground(PRINCETON, 12)
    inside, outside = ground.rectangle(1000, 1200, 50), ground.rectangle(4000, 4200, 50)
    smaller = ground.rectangle(4000, 4198, 50)
    cut_part = ground.rectangle(*cut(HALF_MILE, 0.5, width=200, half=50))
    where = engine(stations([(*PRINCETON, NAMED)]))
    for parts, expected, share in (
        ((inside, outside), "no", 0.5),
        ((inside, smaller), "yes", 200 / 398),
        ((outside, cut_part), "no", 0.25),
        ((inside, cut_part), "yes", 0.75),
        ((inside, outside, cut_part), "no", 0.5),
    ):
        outcome, evidence = hub(where, site(shapely.MultiPolygon(parts)))
        assert outcome == expected
        assert shares(evidence)[1] == pytest.approx(share, abs=CLOSE)


def test_a_hole_is_no_land() -> None:
    # Half of the outer ring is in the circle; a hole in the outer half leaves more than half of the land in.
    ground = Ground(PRINCETON, 90)
    x0, x1, half = cut(HALF_MILE, 0.5, width=400, half=100)
    hole = ground.rectangle(x1 - 60, x1 - 20, 20)
    parcel = shapely.difference(ground.rectangle(x0, x1, half), hole)
    outcome, evidence = hub(engine(stations([(*PRINCETON, NAMED)])), site(parcel))
    assert outcome == "yes"
    assert shares(evidence)[1] == pytest.approx(40_000 / (80_000 - 1_600), abs=CLOSE)


@pytest.mark.parametrize("bearing", BEARINGS)
@pytest.mark.parametrize("reading", ["undetermined", "any", "majority", "all"])
def test_a_point_is_in_or_out_and_never_partial(bearing: float, reading: str) -> None:
    ground = Ground(PRINCETON, bearing)
    where = engine(stations([(*PRINCETON, NAMED)]), readings={"A3": reading})
    for distance, expected, share in ((0.0, "yes", 1.0), (2639.9, "yes", 1.0), (2640.1, "no", 0.0)):
        outcome, evidence = hub(where, site(ground.point(distance, 0.0)))
        assert outcome == expected
        assert "partial" not in evidence.causes
        if evidence.share is not None:
            assert shares(evidence) == (share, share, share)


# -- planning area ----------------------------------------------------------------------------------

PA1 = "qia_ground_apart.planning_area"
READINGS = [("undetermined", "undetermined"), ("any", "yes"), ("majority", "no"), ("all", "no")]


def half_in(share: float = 0.5) -> tuple[Layer, shapely.Polygon]:
    """Return Planning Area 1 with a straight western edge, and a parcel of which a share lies in it."""
    x, y = map(float, to_working(*PRINCETON))
    area = shapely.box(x, y - 2000, x + 4000, y + 2000)
    west = x - 200 * (1 - share)
    layer = draw("planning_areas", [(area, {"SPDETAIL": "METROPOLITAN"})])
    return layer, shapely.box(west, y, west + 200, y + 150)


@pytest.mark.parametrize(("reading", "expected"), READINGS)
def test_a_half_in_parcel_for_planning_area_1(reading: str, expected: str) -> None:
    layer, parcel = half_in()
    evidence = leaf(engine(layer, book="grow-nj", readings={"A3": reading}), site(parcel), PA1)
    assert evidence.outcome == expected
    assert shares(evidence) == pytest.approx((0.5, 0.5, 0.5), abs=1e-9)
    assert ("partial" in evidence.causes) == (reading == "undetermined")


@pytest.mark.parametrize(("share", "expected"), [(0.499, "no"), (0.501, "yes")])
def test_a_majority_is_more_than_half(share: float, expected: str) -> None:
    layer, parcel = half_in(share)
    evidence = leaf(engine(layer, book="grow-nj", readings={"A3": "majority"}), site(parcel), PA1)
    assert evidence.outcome == expected
    assert shares(evidence)[1] == pytest.approx(share, abs=1e-9)


def test_the_incentive_area_of_a_half_in_parcel_is_partial_with_its_share() -> None:
    layer, parcel = half_in()
    found = engine(layer, book="grow-nj").determine(site(parcel))["qualified_incentive_area"]
    assert found.outcome == "undetermined"
    assert "partial" in found.causes
    (evidence,) = (e for e in found.evidence if e.clause == PA1)
    assert shares(evidence) == pytest.approx((0.5, 0.5, 0.5), abs=1e-9)
    chosen = engine(layer, book="grow-nj", readings={"A3": "any"}).determine(site(parcel))
    assert chosen["qualified_incentive_area"].outcome == "yes"


def test_a_parcel_in_parts_half_in_planning_area_1() -> None:
    layer, parcel = half_in()
    x0, y0, x1, y1 = parcel.bounds
    middle = (x0 + x1) / 2
    parts = shapely.MultiPolygon(
        [shapely.box(x0 - 900, y0, middle - 900, y1), shapely.box(middle + 900, y0, x1 + 900, y1)]
    )
    for reading, expected in READINGS:
        evidence = leaf(engine(layer, book="grow-nj", readings={"A3": reading}), site(parts), PA1)
        assert evidence.outcome == expected
        assert shares(evidence) == pytest.approx((0.5, 0.5, 0.5), abs=1e-9)


@pytest.mark.parametrize("reading", [reading for reading, _ in READINGS])
def test_a_point_at_the_planning_areas_line_is_never_partial(reading: str) -> None:
    layer, _ = half_in()
    x, y = map(float, to_working(*PRINCETON))
    where = engine(layer, book="grow-nj", readings={"A3": reading})
    for east, expected in ((-0.1, "no"), (0.1, "yes")):
        evidence = leaf(where, site(shapely.Point(x + east, y)), PA1)
        assert evidence.outcome == expected
        assert "partial" not in evidence.causes


# -- a parcel that a plain radius cuts ------------------------------------------------------------------

TOD = "transit_oriented_development"


def radius_of(asked: Site, readings: Mapping[str, str] | None = None) -> tuple[Engine, Evidence]:
    """Return the evidence of a parcel near one station, for a clause that asks for a distance and no share."""
    where = engine(stations([(*PRINCETON, NAMED)]), book="grow-nj", readings=readings)
    return where, where.determine(asked)[TOD].evidence[0]


@pytest.mark.parametrize("share", [0.25, 0.8])
def test_a_parcel_that_a_radius_cuts_shows_its_share_in_words(share: float) -> None:
    parcel = Ground(PRINCETON).rectangle(*cut(HALF_MILE, share))
    _, evidence = radius_of(site(parcel))
    assert evidence.outcome == "undetermined"
    assert evidence.causes == ("partial",)
    assert shares(evidence)[1] == pytest.approx(share, abs=CLOSE)
    assert evidence.words.endswith(f"which takes in {share:.1%} of the site".replace("%", " %"))


@pytest.mark.parametrize(("x0", "expected"), [(2000.0, "yes"), (2700.0, "no")])
def test_a_parcel_that_no_radius_cuts_shows_none(x0: float, expected: str) -> None:
    _, evidence = radius_of(site(Ground(PRINCETON).rectangle(x0, x0 + 200, 150)))
    assert evidence.outcome == expected
    assert evidence.share is None
    assert "takes in" not in evidence.words


def test_reading_a3_is_named_and_decides_a_parcel_that_a_line_cuts() -> None:
    parcel = site(Ground(PRINCETON).rectangle(*cut(HALF_MILE, 0.25)))
    layer, half = half_in()
    for where, asked, category in (
        (engine(stations([(*PRINCETON, NAMED)]), book="grow-nj"), parcel, TOD),
        (engine(layer, book="grow-nj"), site(half), "qualified_incentive_area"),
    ):
        named = {missing.needs: missing.words for missing in where.determine(asked)[category].would_decide}
        assert named["reading:A3",] == (
            "choose a reading of A3 (Site cut by an area's line: --reading A3=any, majority or all)"
        )
        chosen = Engine(where.atlas, where.rulebook, {"A3": "any"}).determine(asked)[category]
        assert chosen.outcome == "yes"
        assert not any("reading:A3" in missing.needs for missing in chosen.would_decide)


def test_reading_a3_is_not_named_where_no_line_cuts() -> None:
    where = engine(stations([(*PRINCETON, NAMED)]), book="grow-nj")
    for asked in (Ground(PRINCETON).point(2640, 0), Ground(PRINCETON).rectangle(6000.0, 6200.0, 150)):
        for finding in where.determine(site(asked)).findings:
            assert not any("reading:A3" in missing.needs for missing in finding.would_decide)
