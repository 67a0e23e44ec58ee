"""The cell index never changes an answer: with it, without it, saved and loaded, the findings are the same bits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bulk_world as world
import numpy as np
import pytest
import shapely
from drawn import draw, square
from few_world import few_municipalities
from test_bulk import _mixed, _same

from grownj_geo.atlas import DEFAULT_AS_OF, Atlas, load_atlas
from grownj_geo.bulk import bulk_leaves, evaluate_many
from grownj_geo.cellbuild import CELL, Grid, build_ground
from grownj_geo.cells import CellIndex, index_fingerprint
from grownj_geo.determine import Engine
from grownj_geo.evaluate import Evaluation
from grownj_geo.features import LayerFault
from grownj_geo.place import PlacementKind, place_sites
from grownj_geo.rulebook import load_rulebook

if TYPE_CHECKING:
    from pathlib import Path

# A whole index takes some seconds to build; the tests that need it share one.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def index() -> CellIndex:
    """Return the index of the drawn atlas."""
    return CellIndex.build(world.engine())


@pytest.fixture(scope="module")
def saved(index: CellIndex, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of the index."""
    path: Path = tmp_path_factory.mktemp("cells") / "index.cells"
    index.save(path)
    return path


# -- the same answers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("kind", ["random", "hard", "parcels"])
def test_the_index_changes_no_answer(index: CellIndex, kind: str, seed: int) -> None:
    makes = {"random": world.random_points, "hard": world.hard_points, "parcels": world.parcels}
    sites = world.table(makes[kind](3_000 if kind != "parcels" else 800, seed=seed))
    engine = world.engine()
    _same(evaluate_many(engine, sites), evaluate_many(engine, sites, index=index))


def test_each_site_is_what_it_is_alone(index: CellIndex) -> None:
    engine = world.engine()
    sites = world.table([*world.random_points(60, seed=3), *world.hard_points(120, seed=3), *world.parcels(40, seed=3)])
    assert world.differences(engine, sites, evaluate_many(engine, sites, index=index)) == []


def test_thousands_of_lots_that_lines_cut_are_what_each_is_alone(index: CellIndex) -> None:
    engine = world.engine()
    lots = world.cut_lots(4_000, seed=12)
    # One after the other is the slow way: some go it, all go the way without an index.
    few = world.table(lots[::20])
    assert world.differences(engine, few, evaluate_many(engine, few, index=index)) == []
    sites = world.table(lots)
    _same(evaluate_many(engine, sites), evaluate_many(engine, sites, index=index))


def test_an_index_for_small_margins_tells_cut_lots_too() -> None:
    engine = world.narrow_engine()
    own = CellIndex.build(engine, margin_limit_ft=1.0)
    sites = world.table([*world.cut_lots(600, seed=14), *world.parcels(200, seed=14)])
    found = evaluate_many(engine, sites, index=own, margin_limit_ft=1.0)
    _same(evaluate_many(engine, sites, margin_limit_ft=1.0), found)
    wide = evaluate_many(engine, sites)
    for name in found.categories:
        assert np.array_equal(found.outcomes[:, found.categories.index(name)][:, found.group],
                              wide.outcomes[:, wide.categories.index(name)][:, wide.group])  # fmt: skip


def test_sites_of_all_sorts_and_stated_facts(index: CellIndex) -> None:
    engine, sites = world.engine(), _mixed()
    facts = {"federally_owned_at_approval": [(None, True, False)[i % 3] for i in range(len(sites))]}
    _same(evaluate_many(engine, sites, facts), evaluate_many(engine, sites, facts, index=index))


def test_on_the_borders_of_cells(index: CellIndex) -> None:
    rng = np.random.default_rng(4)
    at = np.round(rng.uniform((world.X0, world.Y0), (world.X0 + 30_000, world.Y0 + 30_000), (500, 2)) / CELL) * CELL
    steps = rng.choice([0.0, 1e-9, -1e-9, 1e-6, 0.5, 128.0], (500, 2))
    sites = world.table(list(shapely.points(at + steps)))
    engine = world.engine()
    _same(evaluate_many(engine, sites), evaluate_many(engine, sites, index=index))


def test_in_the_water_and_far_outside(index: CellIndex) -> None:
    rng = np.random.default_rng(5)
    sea = rng.uniform((560_000, 300_000), (640_000, 560_000), (300, 2))
    abroad = rng.uniform((-500_000, -400_000), (1_500_000, 1_500_000), (100, 2))
    shapes = [*shapely.points(np.concatenate([sea, abroad]))]
    shapes += [shapely.box(x, y, x + 90, y + 90) for x, y in np.concatenate([sea[:40], abroad[:40]])]
    engine, sites = world.engine(), world.table(shapes)
    _same(evaluate_many(engine, sites), evaluate_many(engine, sites, index=index))


def test_large_sites_are_of_no_class_of_small_ones() -> None:
    """An index numbers the classes of places by itself; those of large lots are numbered by what they lie in."""
    terminals = load_atlas().layer("south_jersey_port_terminals")
    assert terminals is not None
    row = {name: values[0] for name, values in terminals.columns.items()} | {terminals.manifest.bound_field: "exact"}
    x, y = 400_000.0, 400_000.0
    layer = draw(
        "south_jersey_port_terminals", [(shapely.box(x - 500, y - 500, x + 500, y + 500), row)], accuracy_ft=20_000.0
    )
    around = few_municipalities()
    town = {name: values[0] for name, values in around.columns.items()}
    ground = draw("municipalities", [(shapely.box(x - 90_000, y - 90_000, x + 90_000, y + 90_000), town)])
    engine = Engine(Atlas(as_of=DEFAULT_AS_OF, layers=[layer, ground]), load_rulebook())
    corners = [(x + 10_000, y, 100), (x + 69_500, y, 1_500), (x + 10_000, y + 3_000, 1_500)]
    sites = world.table([shapely.box(left, low, left + side, low + side) for left, low, side in corners])
    alone, many = evaluate_many(engine, sites), evaluate_many(engine, sites, index=CellIndex.build(engine))
    assert alone.outcome("port_district").tolist() == [1, 0, 1]
    for category in alone.categories:
        assert many.outcome(category).tolist() == alone.outcome(category).tolist(), category


def test_large_sites_in_plain_country(index: CellIndex) -> None:
    spots = [shapely.get_coordinates(p)[0] for p in world.random_points(150, seed=11)]
    sizes = (90, 500, 1_500, 6_000, 20_000)
    shapes = [shapely.box(x, y, x + sizes[i % 5], y + sizes[(i // 5) % 5]) for i, (x, y) in enumerate(spots)]
    engine, sites = world.engine(), world.table(shapes)
    _same(evaluate_many(engine, sites), evaluate_many(engine, sites, index=index))


@pytest.mark.parametrize("reading", ["any", "majority", "all"])
def test_other_readings_have_indexes_of_their_own(reading: str) -> None:
    engine = world.narrow_engine(A3=reading)
    own = CellIndex.build(engine)
    for shapes in (world.hard_points(1_000, seed=6), world.parcels(200, seed=6)):
        sites = world.table(shapes)
        _same(evaluate_many(engine, sites), evaluate_many(engine, sites, index=own))


def test_order_and_chunks_never_matter(index: CellIndex) -> None:
    engine = world.engine()
    shapes = [*world.random_points(300, seed=7), *world.hard_points(300, seed=7), *world.parcels(60, seed=7)]
    whole = evaluate_many(engine, world.table(shapes), index=index)
    order = np.random.default_rng(2).permutation(len(shapes))
    for part in np.array_split(order, 9):
        some = world.table([shapes[i] for i in part])
        _same(whole, evaluate_many(engine, some, index=index), part)


def test_leaves_are_the_same(index: CellIndex) -> None:
    engine = world.engine()
    sites = world.table(world.hard_points(300, seed=8))
    plain = Evaluation(engine.bound, bulk_leaves(engine.bound, engine.atlas, sites), keep=False)
    fast = Evaluation(engine.bound, bulk_leaves(engine.bound, engine.atlas, sites, index=index), keep=False)
    for category in engine.rulebook.categories:
        a, b = plain.category(category.id), fast.category(category.id)
        assert np.array_equal(a.outcomes, b.outcomes)
        assert np.array_equal(a.causes, b.causes)
        limits = [np.clip(np.nan if v.margin_ft is None else v.margin_ft, -500, 500) for v in (a, b)]
        assert np.array_equal(*limits, equal_nan=True)


def test_most_places_need_no_look_of_their_own(index: CellIndex) -> None:
    rng = np.random.default_rng(9)
    sites = world.table(list(shapely.points(rng.uniform((330_000, 250_000), (480_000, 400_000), (2_000, 2)))))
    position, rows = index.alike(sites)
    assert len(rows) < 1_000
    assert position.shape == (2_000,)
    assert (rows[position[rows]] == rows).all()


def test_the_municipality_alone_is_the_one_that_places_sites(index: CellIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = world.engine()
    abroad = list(shapely.points(np.random.default_rng(3).uniform((0, -300_000), (900_000, 1_200_000), (100, 2))))
    sites = world.table([*world.random_points(1_500, seed=13), *world.hard_points(1_500, seed=13), *abroad])
    codes, cover = index.municipalities(engine, sites)
    place = place_sites(engine.atlas, sites)
    expected = [
        None if kind in {PlacementKind.OFFSHORE, PlacementKind.OUTSIDE} else place.codes[place.candidates[first]]
        for kind, first in zip(place.kinds, place.starts, strict=True)
    ]
    assert [codes[c] if c >= 0 else None for c in cover.tolist()] == expected
    assert None in expected
    # The same in blocks, which threads look up.
    monkeypatch.setattr("grownj_geo.cells._TOGETHER", 97)
    assert np.array_equal(index.municipalities(engine, sites)[1], cover)
    assert len(index.municipalities(engine, world.table([]))[1]) == 0
    for shapes in (world.parcels(4), [*world.random_points(200, seed=1), *world.parcels(1)]):
        with pytest.raises(ValueError, match="no point"):
            index.municipalities(engine, world.table(shapes))


# -- the file ------------------------------------------------------------------------------------------


def test_saved_and_loaded_it_is_the_same(index: CellIndex, saved: Path) -> None:
    loaded = CellIndex.load(saved, fingerprint=index_fingerprint(world.engine()))
    assert loaded.fingerprint == index.fingerprint
    assert loaded.size_bytes == index.size_bytes
    sites = world.table([*world.hard_points(500, seed=10), *world.parcels(60, seed=10)])
    _same(evaluate_many(world.engine(), sites, index=index), evaluate_many(world.engine(), sites, index=loaded))
    assert [path.name for path in saved.parent.iterdir()] == ["index.cells"]


@pytest.mark.parametrize("where", [0.0, 0.00001, 0.1, 0.5, 0.999999])
def test_a_damaged_file_is_refused(saved: Path, tmp_path: Path, where: float) -> None:
    content = bytearray(saved.read_bytes())
    at = int(where * len(content))
    # Padding between arrays says nothing, so what is damaged is the next byte that is not blank.
    while content[at] == 0:
        at += 1
    content[at] ^= 0x55
    path = tmp_path / "damaged.cells"
    path.write_bytes(content)
    with pytest.raises(LayerFault) as caught:
        CellIndex.load(path)
    assert caught.value.fault == "damaged_index"
    assert "Build the index again" in str(caught.value)


@pytest.mark.parametrize("kept", [0, 5, 60, 100_000, -1])
def test_half_a_file_is_refused(saved: Path, tmp_path: Path, kept: int) -> None:
    path = tmp_path / "half.cells"
    path.write_bytes(saved.read_bytes()[:kept])
    with pytest.raises(LayerFault) as caught:
        CellIndex.load(path)
    assert caught.value.fault == "damaged_index"


def test_no_file_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(LayerFault) as caught:
        CellIndex.load(tmp_path / "none.cells")
    assert caught.value.fault == "no_index"


def test_a_place_that_cannot_be_written_is_told(index: CellIndex, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(LayerFault) as caught:
        index.save(tmp_path / "file" / "index.cells")
    assert caught.value.fault == "index_not_written"


# -- what it is of -------------------------------------------------------------------------------------


def test_an_index_of_something_else_is_refused(index: CellIndex, saved: Path) -> None:
    moved = [draw("planning_areas", [(square(world.X0, world.Y0, 900), {"SPDETAIL": "FRINGE"})])]
    others = [
        world.engine(A3="any"),
        Engine(Atlas(layers=moved), load_rulebook()),
        Engine(Atlas(layers=world.layers(), as_of="2018-10-03"), load_rulebook()),
        Engine(world.atlas(), load_rulebook("urban-transit-hub")),
    ]
    sites = world.table(world.random_points(10))
    for other in others:
        with pytest.raises(LayerFault) as caught:
            evaluate_many(other, sites, index=index)
        assert caught.value.fault == "stale_index"
        with pytest.raises(LayerFault) as caught:
            CellIndex.load(saved, fingerprint=index_fingerprint(other))
        assert caught.value.fault == "stale_index"


def test_margins_beyond_its_own_limit_are_refused_and_smaller_ones_given(index: CellIndex) -> None:
    engine, sites = world.engine(), world.table(world.hard_points(300, seed=12))
    with pytest.raises(LayerFault) as caught:
        evaluate_many(engine, sites, index=index, margin_limit_ft=501.0)
    assert caught.value.fault == "index_limit"
    _same(
        evaluate_many(engine, sites, margin_limit_ft=60.0),
        evaluate_many(engine, sites, index=index, margin_limit_ft=60.0),
    )


def test_progress_is_told() -> None:
    told: list[tuple[int, int, str]] = []
    area = draw("planning_areas", [(square(world.X0, world.Y0, 900), {"SPDETAIL": "FRINGE"})])
    atlas = Atlas(layers=[few_municipalities(), area])
    CellIndex.build(Engine(atlas, load_rulebook()), progress=lambda *words: told.append(words))
    assert [done for done, _, _ in told] == list(range(len(told)))
    assert {total for _, total, _ in told} == {len(told)}


def test_without_municipalities_there_is_no_index(tmp_path: Path) -> None:
    with pytest.raises(LayerFault) as caught:
        CellIndex.build(Engine(Atlas(folder=tmp_path), load_rulebook()))
    assert caught.value.fault == "no_municipalities"


# -- squares -------------------------------------------------------------------------------------------


def test_every_cell_says_what_is_so_in_it() -> None:
    from grownj_geo.bulkline import edges_of  # noqa: PLC0415 - this test alone looks at single edges

    rng = np.random.default_rng(6)
    shape = shapely.union_all(world.blobs(rng, 6, 6_000, 14))
    edges, _ = edges_of(np.array([shape], dtype=object))
    grid = Grid.around(tuple(shape.bounds), 3_000.0)
    column, items = build_ground(grid, edges, 500.0)
    xy = rng.uniform((grid.x0, grid.y0), (grid.x0 + grid.columns * CELL, grid.y0 + grid.rows * CELL), (20_000, 2))
    assert grid.inside(xy).all()
    entry = column[grid.cell(xy)]
    points = shapely.points(xy)
    away = shapely.distance(shape.boundary, points)
    plain = entry < 0
    assert plain.any()
    assert (~plain).any()
    # Nothing that is near a line is in a plain cell, and plain cells know their side.
    assert away[plain].min() > 499.0
    assert np.array_equal(entry[plain] == -2, shapely.intersects(shape, points[plain]))
    # The nearest edge of a place is among those of its cell.
    for i in np.flatnonzero(~plain)[:2_000]:
        item = entry[i]
        first = int(items.first[item])
        own = edges[items.members[first : first + int(items.count[item])]]
        lines = shapely.multilinestrings(shapely.linestrings(own.reshape(-1, 2, 2)))
        assert shapely.distance(lines, points[i]) == pytest.approx(away[i], abs=1e-9)
