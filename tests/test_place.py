"""In which municipality a site lies: by plain shapely, on lines, off the shore, and by what outranks lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import shapely
from drawn import draw, outcome, points, site, square

from grownj_geo.atlas import Atlas
from grownj_geo.determine import Engine, determine
from grownj_geo.errors import OutsideNewJerseyError
from grownj_geo.observe import SiteTable
from grownj_geo.place import Placement, place_sites
from grownj_geo.rulebook import load_rulebook
from grownj_geo.units import FT_PER_FTUS, to_lonlat, to_working

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.site import Site

X, Y = 450_000.0, 500_000.0


@pytest.fixture(scope="module")
def polygons(atlas: Atlas) -> tuple[list[str], np.ndarray]:
    layer = atlas.layer("municipalities")
    assert layer is not None
    chosen = [int(i) for i in layer.select(as_of=atlas.as_of)]
    return [layer.key(i) for i in chosen], np.array([layer.geometry(i) for i in chosen], dtype=object)


@pytest.fixture(scope="module")
def covered(atlas: Atlas, polygons: tuple[list[str], np.ndarray]) -> tuple[np.ndarray, list[set[str]], Placement]:
    """100,000 seeded places, the municipalities that cover each by plain shapely, and what the package says."""
    codes, areas = polygons
    rng = np.random.default_rng(565)
    x, y = to_working(rng.uniform(-75.6, -73.9, 160_000), rng.uniform(38.9, 41.4, 160_000))
    places = shapely.points(x, y)
    rows, hits = shapely.STRtree(areas).query(places, predicate="covered_by")
    by_row: dict[int, set[str]] = {}
    for row, hit in zip(rows.tolist(), hits.tolist(), strict=True):
        by_row.setdefault(row, set()).add(codes[hit])
    # Land is about half of the box that holds the State: the rest is filled with places in it.
    land = sorted(by_row)
    out = [i for i in range(len(places)) if i not in by_row]
    pick = np.array((land + out)[:100_000])
    sites = [site(place) for place in places[pick]]
    return (
        places[pick],
        [by_row.get(int(i), set()) for i in pick],
        place_sites(atlas, SiteTable.of(sites)),
    )


def test_100_000_places_have_the_municipality_that_covers_them(
    covered: tuple[np.ndarray, list[set[str]], Placement],
) -> None:
    _, truth, placed = covered
    assert len(truth) == 100_000
    assert sum(bool(t) for t in truth) > 60_000
    wrong = []
    for i, codes in enumerate(truth):
        if codes:
            good = placed.kinds[i].value == "certain" and placed.codes_of(i) == [min(codes)]
        else:
            good = placed.kinds[i].value in {"offshore", "outside"}
        if not good:
            wrong.append((i, codes, placed.kinds[i], placed.codes_of(i)))
    assert wrong == []


def test_exactly_those_within_72_ft_of_a_line_name_the_neighbour(
    covered: tuple[np.ndarray, list[set[str]], Placement], polygons: tuple[list[str], np.ndarray]
) -> None:
    places, truth, placed = covered
    codes, areas = polygons
    tree = shapely.STRtree(areas)
    flagged = [i for i, codes_ in enumerate(truth) if codes_ and placed.neighbours[i]]
    plain = [i for i, codes_ in enumerate(truth) if codes_ and not placed.neighbours[i]]
    assert len(flagged) > 300
    rng = np.random.default_rng(72)
    sample = [*flagged[:1500], *rng.choice(plain, 3000, replace=False).tolist()]
    for i in sample:
        near = tree.query(places[i], predicate="dwithin", distance=72.0 / FT_PER_FTUS)
        others = {codes[k] for k in near} - {placed.codes_of(i)[0]}
        assert {code for code, _ in placed.neighbours[i]} == others
        for code, feet in placed.neighbours[i]:
            away = shapely.distance(areas[codes.index(code)], places[i]) * FT_PER_FTUS
            assert feet == pytest.approx(away, abs=1e-6)


def test_offshore_and_outside_are_told_apart_at_1000_ft(
    covered: tuple[np.ndarray, list[set[str]], Placement], polygons: tuple[list[str], np.ndarray]
) -> None:
    places, truth, placed = covered
    codes, areas = polygons
    tree = shapely.STRtree(areas)
    off = [i for i, codes_ in enumerate(truth) if not codes_]
    kinds = [placed.kinds[i].value for i in off]
    assert {"offshore", "outside"} == set(kinds)
    nearest, feet = tree.query_nearest(places[off], return_distance=True, all_matches=False)
    for i, kind, k, away in zip(off, kinds, nearest[1], feet * FT_PER_FTUS, strict=True):
        assert kind == ("offshore" if away <= 1000 else "outside")
        if kind == "offshore":
            assert placed.codes_of(i)[0] == codes[k]
            assert placed.distances_ft[i][0] == pytest.approx(away, abs=1e-6)


def test_a_real_vertex_of_two_municipalities_goes_to_the_lower_code(atlas: Atlas) -> None:
    layer = atlas.layer("municipalities")
    assert layer is not None
    by_code = {layer.key(i): i for i in range(len(layer))}
    edison, woodbridge = (layer.geometry(by_code[c]) for c in ("1205", "1225"))
    common = shapely.intersection(shapely.boundary(edison), shapely.boundary(woodbridge))
    corners = [p for p in shapely.points(shapely.get_coordinates(common)) if edison.covers(p) and woodbridge.covers(p)]
    assert corners
    record = determine(corners[len(corners) // 2], atlas)
    assert record.place.kind == "certain"
    assert record.place.municipality is not None
    assert record.place.municipality.mun_code == "1205"
    assert ("1225", 0.0) in [(n.mun_code, n.distance_ft) for n in record.place.neighbours]
    assert any("on the line with Woodbridge Township" in caution for caution in record.cautions)


# -- two drawn municipalities, side by side; the sea to the east ---------------------------------------


@pytest.fixture
def two() -> Atlas:
    names = {"0408": "Camden City", "0436": "Winslow Township"}
    places = {"0408": square(X, Y, 10_000), "0436": square(X - 10_000, Y, 10_000)}
    row = {"county": "Camden", "county_code": "04"}
    drawn = [(places[c], {"mun_code": c, "name": names[c]} | row) for c in ("0436", "0408")]
    return Atlas(layers=[draw("municipalities", drawn, accuracy_ft=72)])


def _placed(atlas: Atlas, one: Site) -> tuple[str, list[str], list[tuple[str, float]]]:
    found = place_sites(atlas, SiteTable.of([one]))
    return found.kinds[0].value, found.codes_of(0), [(c, round(d, 1)) for c, d in found.neighbours[0]]


@pytest.mark.parametrize(
    ("x", "uncertainty", "expected"),
    [
        (5000, 0, ("certain", ["0408"], [])),
        (50, 0, ("certain", ["0408"], [("0436", 50.0)])),
        (-50, 0, ("certain", ["0436"], [("0408", 50.0)])),
        (73, 0, ("certain", ["0408"], [])),
        (0, 0, ("certain", ["0408"], [("0436", 0.0)])),
        (50, 49, ("certain", ["0408"], [("0436", 50.0)])),
        (50, 51, ("uncertain", ["0408", "0436"], [("0436", 50.0)])),
        (500, 600, ("uncertain", ["0408", "0436"], [])),
        (10_900, 0, ("offshore", ["0408"], [])),
        (11_001, 0, ("outside", [], [])),
    ],
)
def test_points_by_the_line(two: Atlas, x: float, uncertainty: float, expected: tuple[object, ...]) -> None:
    assert _placed(two, site(shapely.Point(X + x, Y + 5000), uncertainty_ft=uncertainty)) == expected


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (square(X + 1000, Y + 100, 500), ("certain", ["0408"], [])),
        (square(X - 480, Y + 100, 500), ("certain", ["0436"], [("0408", 0.0)])),
        (square(X - 400, Y + 100, 500), ("several", ["0436", "0408"], [])),
        (square(X - 100, Y + 100, 500), ("several", ["0408", "0436"], [])),
        (square(X + 10_500, Y + 100, 100), ("offshore", ["0408"], [])),
        (square(X + 12_000, Y + 100, 100), ("outside", [], [])),
    ],
)
def test_polygons_by_the_line(two: Atlas, shape: shapely.Polygon, expected: tuple[object, ...]) -> None:
    assert _placed(two, site(shape)) == expected


def test_a_cut_polygon_has_its_shares(two: Atlas) -> None:
    found = place_sites(two, SiteTable.of([site(square(X - 100, Y + 100, 500))]))
    assert found.shares_of(0) == pytest.approx([0.8, 0.2])
    record = determine(square(X - 100, Y + 100, 500), two)
    assert record.place.municipality is None
    assert record.place.county == "Camden"
    assert [(c.mun_code, c.share) for c in record.place.candidates] == [("0408", 0.8), ("0436", 0.2)]


def test_what_all_candidates_share_is_certain_and_the_rest_is_open(two: Atlas) -> None:
    engine = Engine(two, load_rulebook())
    cut = engine.run(site(square(X - 100, Y + 100, 500)))
    assert outcome(cut, "southern_eight") == "yes"
    assert outcome(cut, "garden_state_growth_zone") == "undetermined"
    assert engine.determine(site(square(X - 100, Y + 100, 500)))["garden_state_growth_zone"].causes == ("partial",)
    near = engine.run(site(shapely.Point(X + 50, Y + 5000), uncertainty_ft=60))
    assert outcome(near, "garden_state_growth_zone") == "undetermined"
    assert near.category("garden_state_growth_zone").outcomes[1, 0] == 1


@pytest.mark.parametrize("basis", ["pin", "stated"])
def test_a_parcel_number_or_a_statement_outranks_the_line(two: Atlas, basis: str) -> None:
    one = site(shapely.Point(X + 50, Y + 5000), mun_code="0436", mun_basis=basis)
    assert _placed(two, one)[:2] == ("certain", ["0436"])
    record = Engine(two, load_rulebook()).determine(one)
    assert record.place.municipality is not None
    assert record.place.municipality.mun_code == "0436"
    assert any("The place lies in Camden City by its lines" in caution for caution in record.cautions)


def test_a_municipality_alone_is_certain_and_what_needs_a_place_waits(atlas: Atlas) -> None:
    record = determine(site(None, mun_code="0408", mun_basis="stated"), atlas)
    assert record.site.kind == "municipality"
    assert record["garden_state_growth_zone"].outcome == "yes"
    assert record["transit_oriented_development"].outcome == "undetermined"
    assert "location_unknown" in record["transit_oriented_development"].causes


def test_off_the_shore_no_municipality_decides(two: Atlas) -> None:
    run = Engine(two, load_rulebook()).run(site(shapely.Point(X + 10_500, Y + 5000)))
    for category in ("garden_state_growth_zone", "urban_aid", "sda_municipality", "southern_eight"):
        assert (outcome(run, category), int(run.category(category).outcomes[1, 0])) == ("undetermined", 1)
    assert outcome(run, "tourism_district_growth_zone") == "undetermined"
    assert int(run.category("tourism_district_growth_zone").outcomes[1, 0]) == -1


def test_outside_is_refused(two: Atlas, atlas: Atlas) -> None:
    for where in (two, atlas):
        with pytest.raises(OutsideNewJerseyError, match="lies outside New Jersey"):
            determine(shapely.Point(X + 900_000, Y), where)


def test_without_the_polygons_a_place_is_unknown_and_a_stated_code_still_holds(tmp_path: Path) -> None:
    bare = Atlas(folder=tmp_path)
    lon, lat = to_lonlat(X, Y)
    found = place_sites(bare, SiteTable.of([*points([(X, Y)]), site(None, mun_code="0408", mun_basis="pin")]))
    assert [kind.value for kind in found.kinds] == ["unknown", "certain"]
    assert (found.codes_of(0), found.codes_of(1)) == ([], ["0408"])
    record = determine(f"{float(lat):.5f},{float(lon):.5f}", bare)
    assert record.place.kind == "unknown"
    assert record.incomplete


@pytest.mark.parametrize(("x", "share"), [(9_500, None), (9_900, 80), (9_950, 90)])
def test_ground_in_no_polygon_is_a_caution(two: Atlas, x: float, share: int | None) -> None:
    cautions = determine(square(X + x, Y + 100, 500), two).cautions
    said = [c for c in cautions if "lies in no municipality's polygon" in c]
    assert [c.partition(" %")[0] for c in said] == ([] if share is None else [str(share)])


def test_many_at_once_are_what_each_is_alone(atlas: Atlas) -> None:
    rng = np.random.default_rng(3)
    x, y = to_working(rng.uniform(-74.6, -74.0, 40), rng.uniform(40.3, 40.9, 40))
    sites = [*points(zip(x.tolist(), y.tolist(), strict=True))]
    sites += [site(square(float(a), float(b), 900)) for a, b in zip(x[:15], y[:15], strict=True)]
    sites += [site(shapely.Point(a, b), uncertainty_ft=800) for a, b in zip(x[:15], y[:15], strict=True)]
    table = place_sites(atlas, SiteTable.of(sites))
    for i, one in enumerate(sites):
        alone = place_sites(atlas, SiteTable.of([one]))
        assert table.kinds[i] == alone.kinds[0]
        assert table.codes_of(i) == alone.codes_of(0)
        assert table.neighbours[i] == alone.neighbours[0]
        np.testing.assert_allclose(table.shares_of(i), alone.shares_of(0))
