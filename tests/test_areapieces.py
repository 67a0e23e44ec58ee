"""Areas as polygons say what each place in them is answered, for the reason that it is answered so."""

from __future__ import annotations

from functools import lru_cache

import bulk_world as world
import numpy as np
import pytest
import shapely
from drawn import CAMDEN, NEWARK
from few_world import RURAL, few, few_municipalities

from grownj_geo.arealines import DRAWN_WITHIN_FT
from grownj_geo.areapieces import CLASSES, Area, Cut, Piece, area_ids, cut, default_areas, drawn_areas
from grownj_geo.atlas import Atlas, load_atlas
from grownj_geo.bulk import evaluate_many
from grownj_geo.determine import Engine
from grownj_geo.errors import RulebookError
from grownj_geo.logic import Cause
from grownj_geo.rulebook import load_rulebook
from grownj_geo.sitetable import SiteTable
from grownj_geo.units import FT_PER_FTUS, geodesic_ft, to_lonlat, to_working

WORLD_AREAS = (
    "qualified_incentive_area",
    "distressed_municipality",
    "port_district",
    "priority_area",
    "other_eligible_area",
    "deep_poverty_pocket",
    "transit_oriented_development",
    "urban_transit_hub",
    "designated_center",
    "closed_military_ground",
    "highlands_preservation",
)


@lru_cache(maxsize=1)
def drawn_world() -> tuple[Engine, Cut, list[Area]]:
    """Return the drawn world's areas: layers with accuracies, bounds, doubtful values and missing figures."""
    engine = Engine(Atlas(as_of=load_atlas().as_of, layers=(*world.layers(), few_municipalities())), load_rulebook())
    at = cut(engine, WORLD_AREAS)
    return engine, at, drawn_areas(engine, WORLD_AREAS, at=at)


def table(points: np.ndarray) -> SiteTable:
    """Return points as sites."""
    n = len(points)
    return SiteTable(points, np.zeros(n), np.ones(n, dtype=bool), ("",) * n)


def piece_at(area: Area, lon: float, lat: float) -> Piece | None:
    """Return the piece of an area at a place."""
    place = shapely.Point(*(float(v) for v in to_working(lon, lat)))
    found = [piece for piece in area.pieces if piece.geometry.intersects(place)]
    assert len(found) <= 1
    return found[0] if found else None


def clear_of_lines(at: Cut, points: np.ndarray, feet: float = DRAWN_WITHIN_FT) -> np.ndarray:
    """Return the points that are farther than so many feet from every drawn line, and on drawn ground."""
    lines = shapely.get_parts(at.lines)
    close = shapely.STRtree(points).query(lines, predicate="dwithin", distance=feet / FT_PER_FTUS)[1]
    points = np.delete(points, np.unique(close))
    ground = at.faces[at.groups >= 0]
    return points[np.unique(shapely.STRtree(points).query(ground, predicate="contains")[1])]


def near_lines(at: Cut, count: int, *, feet: float = 2 * DRAWN_WITHIN_FT, seed: int = 7) -> np.ndarray:
    """Return points on either side of drawn lines, so many feet off."""
    rng = np.random.default_rng(seed)
    xy, line = shapely.get_coordinates(shapely.get_parts(at.lines), return_index=True)
    sides = np.flatnonzero((line[1:] == line[:-1]) & (np.hypot(*(xy[1:] - xy[:-1]).T) > 0.1))
    chosen = rng.choice(sides, count)
    start, end = xy[chosen], xy[chosen + 1]
    along = end - start
    across = np.column_stack([-along[:, 1], along[:, 0]]) / np.hypot(*along.T)[:, None] * feet
    middle = start + along * rng.uniform(0.05, 0.95, count)[:, None]
    return np.asarray(shapely.points(np.vstack([middle + across, middle - across])))


def disagreements(at: Cut, areas: list[Area], points: np.ndarray) -> dict[str, int]:
    """Return by area how many points are drawn otherwise than they are answered: outcome or causes."""
    found = evaluate_many(at.engine, table(points))
    tree, wrong = shapely.STRtree(points), {}
    for area in areas:
        drawn, causes = np.full(len(points), -1), np.zeros(len(points), dtype=np.int64)
        for piece in area.pieces:
            shapely.prepare(piece.geometry)
            hit = tree.query(piece.geometry, predicate="contains")
            assert (drawn[hit] == -1).all(), f"two pieces of {area.id} at one place"
            drawn[hit] = 1 if piece.outcome == "yes" else 0
            causes[hit] = sum(Cause[word.upper()] for word in piece.causes)
        if area.id in found.categories:
            answer, why = found.outcome(area.id), found.cause(area.id)
        else:
            (leaves,) = found.leaves
            values = leaves.value(next(c for c in at.engine.bound.leaves if c.path.replace(".", "_") == area.id))
            answer, why = values.outcomes[0][found.group], values.causes[found.group]
        bad = (answer != drawn) | ((answer == 0) & (causes != why))
        if bad.any():
            wrong[area.id] = int(bad.sum())
    return wrong


def test_drawn_areas_are_what_places_are_answered() -> None:
    _, at, areas = drawn_world()
    points = clear_of_lines(at, np.array(world.random_points(4_000, seed=5)))
    assert len(points) > 1_500
    assert disagreements(at, areas, points) == {}


def test_drawn_areas_are_right_two_tolerances_off_every_kind_of_line() -> None:
    _, at, areas = drawn_world()
    points = clear_of_lines(at, near_lines(at, 8_000))
    assert len(points) > 4_000
    assert disagreements(at, areas, points) == {}


def test_pieces_of_an_area_are_valid_and_do_not_overlap() -> None:
    _, _, areas = drawn_world()
    for area in areas:
        shapes = np.array([piece.geometry for piece in area.pieces], dtype=object)
        assert shapely.is_valid(shapes).all()
        assert shapely.area(shapely.union_all(shapes)) == pytest.approx(shapely.area(shapes).sum(), rel=1e-9)
        assert {piece.kind for piece in area.pieces} <= set(CLASSES)
        assert all(piece.clauses and piece.clause_ids and piece.citations for piece in area.pieces)


def test_every_class_occurs_in_the_drawn_world() -> None:
    _, _, areas = drawn_world()
    assert {piece.kind for area in areas for piece in area.pieces} == set(CLASSES)


@pytest.fixture(scope="module")
def shipped() -> dict[str, Area]:
    """Return some areas of what ships, in some municipalities."""
    wanted = [
        "qualified_incentive_area", "growth_zone_city", "transit_oriented_development", "rail_transit_half_mile",
        "priority_area",
    ]  # fmt: skip
    return {area.id: area for area in drawn_areas(few(), wanted)}


def test_the_incentive_area_names_the_clauses_that_qualify_each_piece(shipped: dict[str, Area]) -> None:
    area = shipped["qualified_incentive_area"]
    newark = piece_at(area, *NEWARK)
    assert newark is not None
    assert newark.kind == "yes"
    assert "Urban transit hub municipality" in newark.clauses
    assert "in a port district by its own test" in newark.clauses
    assert "qualified_incentive_area.grounds.port" in newark.clause_ids
    assert newark.citations[0].startswith("N.J.A.C. 19:31-18.2")
    assert not newark.causes
    camden = piece_at(area, *CAMDEN)
    assert camden is not None
    assert "Garden State Growth Zone" in camden.clauses


def test_what_no_map_shows_is_a_class_of_its_own_with_its_causes(shipped: dict[str, Area]) -> None:
    rural = piece_at(shipped["qualified_incentive_area"], *RURAL)
    assert rural is not None
    assert rural.kind == "undetermined_map"
    assert {"layer_missing", "fact_missing"} <= set(rural.causes)
    assert "map planning_areas" in rural.waits_for
    assert "fact structure_exists" in rural.waits_for
    assert "Planning Area 1, 2 or 3" in rural.clauses


def test_rules_about_municipalities_give_municipalities(shipped: dict[str, Area]) -> None:
    area = shipped["growth_zone_city"]
    named = {piece.mun_code: piece for piece in area.pieces if piece.outcome == "yes"}
    assert sorted(named) == ["0408", "1111", "1607", "1608"]
    layer = few_municipalities()
    camden = next(i for i in range(len(layer)) if layer.key(i) == "0408")
    true = layer.geometry(camden)
    assert named["0408"].geometry.symmetric_difference(true).area < 0.01 * true.length
    assert piece_at(area, *NEWARK) is None
    assert all(piece.mun_code is None for piece in area.pieces if piece.outcome != "yes")


def test_the_band_around_a_radius_leans_in_or_out_and_they_meet_at_the_true_circle(
    shipped: dict[str, Area], engine: Engine
) -> None:
    area = shipped["rail_transit_half_mile"]
    by_lean = {piece.leans: piece for piece in area.pieces if piece.kind == "undetermined_line"}
    assert set(by_lean) == {"yes", "no"}
    stations = engine.atlas.layer("transit_stations")
    assert stations is not None
    assert stations.lonlat is not None
    rail = stations.select(
        (("mode", ("commuter_rail", "light_rail", "rapid_transit")), ("out_of_state", ("false",))),
        as_of=engine.atlas.as_of,
    )
    common = shapely.intersection(by_lean["yes"].geometry, by_lean["no"].geometry)
    xy = shapely.get_coordinates(shapely.segmentize(common, 20.0))
    assert len(xy) > 3_000
    lon, lat = to_lonlat(xy[:, 0], xy[:, 1])
    to = stations.lonlat[rail]
    nearest = np.full(len(xy), np.inf)
    for station_lon, station_lat in to:
        nearest = np.minimum(nearest, geodesic_ft(station_lon, station_lat, lon, lat))
    # Two pieces also meet where two stations' bands touch: there the nearest circle is the true one all the same.
    on_circle = abs(nearest - 2640.0) < DRAWN_WITHIN_FT
    assert on_circle.mean() > 0.97


def test_radii_are_areas_too_each_once(engine: Engine) -> None:
    ids = default_areas(engine)
    assert ids[0] == "qualified_incentive_area"
    assert {"rail_transit_half_mile", "rail_transit_growth_zone_2", "aviation_district_airport"} <= set(ids)
    assert len(set(ids)) == len(ids)
    # What no day brings in, and building blocks, are not drawn unless they are asked for.
    assert not any("paulsboro_before" in area for area in ids)
    assert "urban_aid" not in ids
    assert "urban_aid" in area_ids(engine)


def test_an_unknown_area_is_refused_with_the_nearest_name(engine: Engine) -> None:
    with pytest.raises(RulebookError, match="port_district"):
        drawn_areas(engine, ["port_distrikt"])


def test_an_assumption_is_a_class_of_its_own(shipped: dict[str, Area]) -> None:
    pieces = shipped["priority_area"].pieces
    assert any(piece.kind == "yes_assumed" and piece.assumed for piece in pieces)
    assert all(piece.assumed == (piece.kind == "yes_assumed") for piece in pieces if piece.outcome == "yes")


def test_the_shipped_areas_are_right_two_tolerances_off_their_lines() -> None:
    wanted = ["qualified_incentive_area", "transit_oriented_development", "port_district", "rail_transit_half_mile"]
    at = cut(few(), wanted)
    points = clear_of_lines(at, near_lines(at, 4_000))
    assert len(points) > 2_000
    assert disagreements(at, drawn_areas(few(), wanted, at=at), points) == {}


@pytest.mark.parametrize("day", ["2014-06-02", "2018-12-03"])
def test_another_day_has_other_areas(day: str) -> None:
    engine = few(day=day)
    (zone,) = drawn_areas(engine, ["garden_state_growth_zone"])
    by_clause = {clause for piece in zone.pieces if piece.outcome == "yes" for clause in piece.clauses}
    # The airport's zone came in October 2018.
    assert ("airport_zone" in {i.rsplit(".", 1)[-1] for p in zone.pieces for i in p.clause_ids}) == (day > "2018")
    assert "One of the four growth zone cities" in by_clause


@pytest.mark.slow
# The day with every clause: what other days add or lack is drawn of a few municipalities above.
@pytest.mark.parametrize("day", ["2018-12-03"])
def test_the_whole_state_is_drawn_as_it_is_answered(day: str) -> None:
    engine = Engine(load_atlas(as_of=day), load_rulebook())
    wanted = ["qualified_incentive_area", "transit_oriented_development", "priority_area", "port_district"]
    at = cut(engine, wanted)
    areas = drawn_areas(engine, wanted, at=at)
    rng = np.random.default_rng(18)
    x0, y0, x1, y1 = shapely.bounds(at.lines)
    anywhere = np.asarray(shapely.points(rng.uniform((x0, y0), (x1, y1), (30_000, 2))))
    points = clear_of_lines(at, anywhere)[:10_000]
    assert len(points) == 10_000
    assert disagreements(at, areas, points) == {}
    beside = clear_of_lines(at, near_lines(at, 5_000))
    assert len(beside) > 8_000
    assert disagreements(at, areas, beside) == {}


@pytest.mark.parametrize("book", ["urban-transit-hub", "a1178-areas"])
def test_other_rulebooks_are_drawn_by_the_same_means(book: str) -> None:
    engine = few(book)
    wanted = default_areas(engine)
    assert wanted
    at = cut(engine, wanted)
    areas = drawn_areas(engine, wanted, at=at)
    assert any(area.pieces for area in areas)
    assert disagreements(at, areas, clear_of_lines(at, near_lines(at, 500))) == {}
