"""Many sites at once against each site alone: outcomes, leanings, causes and margins are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bulk_world as world
import numpy as np
import pytest
import shapely
from drawn import draw, site, square
from hypothesis import given, settings
from hypothesis import strategies as st

from grownj_geo.atlas import Atlas
from grownj_geo.bulk import bulk_leaves, evaluate_many
from grownj_geo.bulkline import Lines, edges_of, nearest_edges
from grownj_geo.determine import Engine
from grownj_geo.errors import RulebookError
from grownj_geo.evaluate import Evaluation
from grownj_geo.logic import Cause
from grownj_geo.rulebook import load_rulebook
from grownj_geo.sitetable import SiteTable

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.bulk import Findings

READINGS = ("undetermined", "any", "majority", "all")


def _same(a: Findings, b: Findings, order: np.ndarray | None = None) -> None:
    """Check that two findings are the same, to the last bit; `order` puts the first one's sites in the second's."""
    order = np.arange(len(a)) if order is None else order
    assert a.categories == b.categories
    for name in a.categories:
        for row in range(3):
            assert np.array_equal(a.outcome(name, row=row)[order], b.outcome(name, row=row)), name
        assert np.array_equal(a.cause(name)[order], b.cause(name)), name
        assert np.array_equal(a.margin_ft(name)[order], b.margin_ft(name), equal_nan=True), name


# -- against one site at a time ------------------------------------------------------------------------


@pytest.mark.parametrize("reading", READINGS)
def test_points_are_what_each_is_alone(reading: str) -> None:
    engine = world.engine(A3=reading)
    sites = world.table([*world.random_points(40), *world.hard_points(80)])
    found = evaluate_many(engine, sites)
    assert world.differences(engine, sites, found) == []
    # The drawn part is such that all answers and both sides of lines come up.
    assert {-1, 0, 1} == set(np.unique(found.outcomes[0]))
    margins = np.concatenate([found.margin_ft(name) for name in found.categories])
    assert (np.abs(margins) < world.LIMIT_FT).any()
    assert (margins == world.LIMIT_FT).any()
    assert (margins == -world.LIMIT_FT).any()


@pytest.mark.parametrize("reading", READINGS)
def test_polygons_are_what_each_is_alone(reading: str) -> None:
    engine = world.engine(A3=reading)
    sites = world.table(world.parcels(60))
    assert world.differences(engine, sites, evaluate_many(engine, sites)) == []


@pytest.mark.parametrize("reading", READINGS)
def test_lots_that_lines_cut_are_what_each_is_alone(reading: str) -> None:
    engine = world.engine(A3=reading)
    sites = world.table(world.cut_lots(50))
    found = evaluate_many(engine, sites)
    assert world.differences(engine, sites, found) == []
    assert reading != "undetermined" or (found.causes & int(Cause.PARTIAL)).any()


@pytest.mark.slow
@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("kind", ["random", "hard", "parcels", "cut"])
def test_many_are_what_each_is_alone(reading: str, kind: str) -> None:
    makes = {
        "random": world.random_points,
        "hard": world.hard_points,
        "parcels": world.parcels,
        "cut": world.cut_lots,
    }
    engine = world.engine(A3=reading)
    # What lies in part is read in four ways; what is a point is measured alike in all.
    count = 100 if kind in {"parcels", "cut"} or reading == "undetermined" else 30
    sites = world.table(makes[kind](count, seed=5))
    assert world.differences(engine, sites, evaluate_many(engine, sites)) == []


@pytest.mark.parametrize("book", ["a1178-areas", "urban-transit-hub"])
def test_other_rulebooks(book: str) -> None:
    engine = Engine(world.atlas(), load_rulebook(book))
    sites = world.table([*world.hard_points(40, seed=9), *world.parcels(20, seed=9)])
    assert world.differences(engine, sites, evaluate_many(engine, sites)) == []


@pytest.mark.parametrize("readings", [{"A43": "strict"}, {"A47": "one_station"}, {"A11": "strict"}])
def test_other_readings(readings: dict[str, str]) -> None:
    engine = world.engine(**readings)
    sites = world.table([*world.hard_points(30, seed=3), *world.parcels(30, seed=3)])
    assert world.differences(engine, sites, evaluate_many(engine, sites)) == []


@pytest.mark.parametrize("limit", [1.0, 75.0, 2000.0])
def test_margins_are_exact_up_to_the_limit_that_is_asked_for(limit: float) -> None:
    engine = world.engine()
    sites = world.table([*world.random_points(30, seed=4), *world.parcels(20, seed=4)])
    found = evaluate_many(engine, sites, margin_limit_ft=limit)
    assert world.differences(engine, sites, found) == []


@pytest.mark.parametrize("limit", [0.0, -1.0, 2000.1, float("nan")])
def test_a_limit_that_cannot_be_kept_is_refused(limit: float) -> None:
    with pytest.raises(ValueError, match="margin limit"):
        evaluate_many(world.engine(), world.table(world.random_points(10)), margin_limit_ft=limit)


# -- sites of all sorts --------------------------------------------------------------------------------


def _mixed() -> SiteTable:
    """Return points and polygons, uncertain ones, ones without a place, and ones with a stated municipality."""
    shapes = [*world.hard_points(20, seed=7), *world.parcels(20, seed=7)]
    sites = []
    for number, shape in enumerate(shapes):
        more = [
            {},
            {"uncertainty_ft": 90.0},
            {"mun_code": "0714", "mun_basis": "pin"},
            {"mun_code": "0714", "mun_basis": "stated"},
        ]
        sites.append(site(shape, **more[number % 4]))  # type: ignore[arg-type]
    sites += [site(None, mun_code=code, mun_basis="stated") for code in ("0714", "0408", "9999")]
    return SiteTable.of(sites)


def test_a_mixed_table_is_what_each_site_is_alone() -> None:
    engine, sites = world.engine(), _mixed()
    assert world.differences(engine, sites, evaluate_many(engine, sites)) == []


def test_stated_facts_tell_sites_apart_that_lie_alike() -> None:
    engine = world.engine()
    here = world.random_points(1, seed=2)[0]
    shapes = [here] * 12 + world.hard_points(12, seed=2)
    sites = world.table(shapes)
    facts = {
        "federally_owned_at_approval": [True, False, None] * 8,
        "in_endorsed_growth_center": [None, None, True, False] * 6,
        "full_time_jobs": [None, 200.0, 2000.0] * 8,
    }
    found = evaluate_many(engine, sites, facts)
    assert world.differences(engine, sites, found, facts) == []
    assert len(np.unique(found.group[:12])) > 1


def test_facts_of_another_length_are_refused() -> None:
    sites = world.table(world.random_points(10))
    with pytest.raises(ValueError, match="full_time_jobs has 3 values for 10 sites"):
        evaluate_many(world.engine(), sites, {"full_time_jobs": [1.0, 2.0, 3.0]})


def test_parts_on_both_sides_of_a_line_that_is_far_from_each() -> None:
    ground = square(world.X0, world.Y0, 3_000)
    atlas = Atlas(layers=[draw("planning_areas", [(ground, {"SPDETAIL": "METROPOLITAN"})], accuracy_ft=48.3)])
    engine = Engine(atlas, load_rulebook())
    inside, outside = square(world.X0 + 1_400, world.Y0 + 1_400, 100), square(world.X0 - 1_400, world.Y0, 100)
    sites = world.table([shapely.union_all([inside, outside]), inside, outside])
    found = evaluate_many(engine, sites)
    assert world.differences(engine, sites, found) == []
    assert len(np.unique(found.group)) == 3


def test_without_municipal_polygons_stated_codes_still_hold(tmp_path: Path) -> None:
    engine = Engine(Atlas(folder=tmp_path, layers=world.layers()), load_rulebook())
    sites = _mixed()
    assert world.differences(engine, sites, evaluate_many(engine, sites)) == []


# -- leaves --------------------------------------------------------------------------------------------


def test_leaves_give_every_category_what_the_groups_give() -> None:
    engine = world.engine()
    for shapes in (world.hard_points(60, seed=8), world.parcels(30, seed=8)):
        sites = world.table(shapes)
        found = evaluate_many(engine, sites)
        run = Evaluation(engine.bound, bulk_leaves(engine.bound, engine.atlas, sites), keep=False)
        for name in found.categories:
            values = run.category(name)
            assert np.array_equal(values.outcomes[0], found.outcome(name))
            assert np.array_equal(values.causes, found.cause(name))
            margin = np.full(len(sites), np.nan) if values.margin_ft is None else values.margin_ft
            assert np.array_equal(np.clip(margin, -500, 500), found.margin_ft(name), equal_nan=True)


@pytest.mark.slow
def test_order_and_chunks_never_matter() -> None:
    engine = world.engine()
    sites = _mixed()
    whole = evaluate_many(engine, sites)
    order = np.random.default_rng(1).permutation(len(sites))
    shuffled = SiteTable(
        sites.geometries[order],
        sites.uncertainty_ft[order],
        sites.placed[order],
        tuple(sites.mun_codes[i] for i in order),
        None if sites.by_pin is None else tuple(sites.by_pin[i] for i in order),
    )
    _same(whole, evaluate_many(engine, shuffled), order)
    for part in np.array_split(np.arange(len(sites)), 7):
        some = SiteTable(
            sites.geometries[part],
            sites.uncertainty_ft[part],
            sites.placed[part],
            tuple(sites.mun_codes[i] for i in part),
            None if sites.by_pin is None else tuple(sites.by_pin[i] for i in part),
        )
        _same(whole, evaluate_many(engine, some), part)


def test_only_the_categories_that_are_asked_for() -> None:
    engine, sites = world.engine(), world.table(world.random_points(20))
    names = ("port_district", "qualified_incentive_area")
    found, every = evaluate_many(engine, sites, categories=names), evaluate_many(engine, sites)
    assert found.categories == names
    for name in names:
        assert np.array_equal(found.outcome(name), every.outcome(name))
    with pytest.raises(RulebookError, match="no_such"):
        evaluate_many(engine, sites, categories=["no_such"])


def test_no_site_has_no_finding(engine: Engine) -> None:
    found = evaluate_many(engine, SiteTable.of([]), {"retail_sqft": []})
    assert len(found) == 0
    for category in found.categories:
        assert not len(found.outcome(category))
        assert not len(found.margin_ft(category))


def test_sites_that_are_alike_share_a_group() -> None:
    sites = world.table([world.random_points(1, seed=6)[0]] * 50)
    found = evaluate_many(world.engine(), sites)
    assert len(found) == 50
    assert len(found.first) == 1
    assert found.leaves[0].n == 1


# -- edges ---------------------------------------------------------------------------------------------


@st.composite
def _ground(draw_: st.DrawFn) -> shapely.Geometry:
    rng = np.random.default_rng(draw_(st.integers(0, 10**6)))
    spots = rng.uniform(0, 1000, (draw_(st.integers(1, 12)), 2)) + 500_000
    shape = shapely.buffer(shapely.multipoints(spots), draw_(st.floats(20, 200)), quad_segs=draw_(st.integers(1, 3)))
    if draw_(st.booleans()):
        shape = shape.difference(shapely.box(500_300, 500_300, 500_500, 500_310))
    return shape


@settings(max_examples=60, deadline=None)
@given(_ground(), st.integers(0, 10**6), st.booleans())
def test_edges_tell_sides_and_distances_as_geometry_does(shape: shapely.Geometry, seed: int, corners: bool) -> None:  # noqa: FBT001
    if shape.is_empty:
        return
    rng = np.random.default_rng(seed)
    edges, owners = edges_of(np.array([shape], dtype=object))
    assert set(owners.tolist()) == {0}
    xy = rng.uniform(-60, 1060, (200, 2)) + 500_000
    if corners:
        at = shapely.get_coordinates(shape)
        xy = at[rng.integers(0, len(at), 200)] + rng.choice([0.0, 1e-9, 1e-5, 0.01, 5.0], (200, 2))
    k = np.full(len(xy), len(edges))
    found = nearest_edges(xy, edges, np.arange(len(edges)), np.zeros(len(xy), dtype=np.int64), k)
    points = shapely.points(xy)
    assert np.abs(found.distance - shapely.distance(shape.boundary, points)).max() < 1e-7
    inside = shapely.intersects(shape, points)
    assert (found.unsure | (found.inside == inside)).all()
    assert corners or found.unsure.mean() < 0.05
    tree = Lines.of(edges).tree
    _, distance = tree.query_nearest(points, return_distance=True, all_matches=False)
    assert np.abs(distance - found.distance).max() < 1e-7


def test_two_lines_that_all_but_coincide_are_unsure_and_never_wrong() -> None:
    gap = shapely.box(500_000, 500_000, 501_000, 501_000).difference(
        shapely.box(500_500, 499_000, 500_500 + 1e-8, 502_000)
    )
    edges, _ = edges_of(np.array([gap], dtype=object))
    xy = np.column_stack([500_500 + np.linspace(-50, 50, 101), np.full(101, 500_400.0)])
    k = np.full(len(xy), len(edges))
    found = nearest_edges(xy, edges, np.arange(len(edges)), np.zeros(len(xy), dtype=np.int64), k)
    inside = shapely.intersects_xy(gap, xy[:, 0], xy[:, 1])
    assert (found.unsure | (found.inside == inside)).all()
    assert found.unsure.any()
