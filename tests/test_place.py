"""In which municipality a site lies: by plain shapely, on lines, off the shore, and by what outranks lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import shapely
from drawn import draw, outcome, points, site, square

from grownj_geo.atlas import Atlas
from grownj_geo.determine import Engine, determine
from grownj_geo.errors import OutsideNewJerseyError, SiteError
from grownj_geo.place import Placement, place_sites
from grownj_geo.rulebook import load_rulebook
from grownj_geo.sitetable import SiteTable
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


def _said(atlas: Atlas, shape: shapely.Geometry) -> list[str]:
    return [
        c.partition(" of the site")[0] for c in determine(shape, atlas).cautions if "no municipality's polygon" in c
    ]


@pytest.mark.parametrize(
    ("x", "kind", "share"),
    [
        (9_500, "certain", None),
        (9_571, "certain", None),  # 71 ft out: within the accuracy of the line
        (9_574, "certain", "14.8 %"),
        (9_740, "certain", "48.0 %"),
        (9_760, "offshore", "52.0 %"),
        (9_950, "offshore", "90.0 %"),
    ],
)
def test_ground_in_no_polygon_is_a_caution_and_most_of_the_site_is_more(
    two: Atlas, x: float, kind: str, share: str | None
) -> None:
    shape = square(X + x, Y + 100, 500)
    assert _placed(two, site(shape))[:2] == (kind, ["0408"])
    assert _said(two, shape) == ([] if share is None else [share])
    run = Engine(two, load_rulebook()).run(site(shape))
    assert outcome(run, "garden_state_growth_zone") == ("yes" if kind == "certain" else "undetermined")


def test_most_of_a_polygon_in_no_municipality_is_off_the_shore(two: Atlas) -> None:
    record = determine(square(X + 9_760, Y + 100, 500), two)
    assert (record.place.municipality, record.place.county, record.place.outside_share) == (None, None, 0.52)
    assert [(c.mun_code, c.share) for c in record.place.candidates] == [("0408", 0.48)]
    assert "(52.0 %) outside every municipal polygon, the rest in Camden City" in record.place.words
    assert record["garden_state_growth_zone"].leans == "yes"
    assert record["garden_state_growth_zone"].causes == ("municipality_uncertain",)


def test_a_polygon_that_reaches_far_beyond_every_municipality_is_cut(two: Atlas) -> None:
    inside = shapely.box(X + 5_000, Y + 100, X + 10_000, Y + 5_100)
    for out, kind in ((990, "certain"), (1_010, "several")):
        shape = inside | shapely.box(X + 10_000, Y + 100, X + 10_000 + out, Y + 5_100)
        found = place_sites(two, SiteTable.of([site(shape)]))
        assert (found.kinds[0].value, found.may_be_nowhere(0)) == (kind, kind == "several")
        assert found.shares_of(0) == pytest.approx([5_000 / (5_000 + out)])
        assert found.outside[0] == pytest.approx(out / (5_000 + out))
    record = determine(shape, two)
    assert (record.place.municipality, record.place.county) == (None, None)
    assert record["garden_state_growth_zone"].causes == ("partial",)
    assert record.place.words.endswith("16.8 % of the site in no municipality")
    any_part = determine(shape, two, readings={"A3": "any"})
    most = determine(shape, two, readings={"A3": "majority"})
    every = determine(shape, two, readings={"A3": "all"})
    assert [r["garden_state_growth_zone"].outcome for r in (any_part, most, every)] == ["yes", "yes", "no"]


def test_a_pier_is_a_caution_whose_share_is_never_nothing(two: Atlas) -> None:
    land = shapely.box(X + 100, Y + 100, X + 10_000, Y + 9_100)
    for wide, share in ((400, "0.4 %"), (10, "0.01 %")):
        shape = land | shapely.box(X + 10_000, Y + 500, X + 10_900, Y + 500 + wide)
        record = determine(shape, two)
        assert record.place.municipality is not None
        assert _said(two, shape) == [share]
        assert record["garden_state_growth_zone"].outcome == "yes"


@pytest.mark.parametrize(("wide", "counts"), [(140, False), (148, True)])
def test_the_depth_of_a_part_is_not_that_of_its_corners(wide: float, counts: bool) -> None:  # noqa: FBT001
    # A notch in one municipality that belongs to the other, or to none: all its corners lie on the line.
    row = {"county": "Camden", "county_code": "04"}
    notch = shapely.box(X + 4_000, Y + 4_000, X + 4_000 + wide, Y + 6_000)
    main = (square(X, Y, 10_000) - notch, {"mun_code": "0408", "name": "Camden City"} | row)
    other = (notch, {"mun_code": "0436", "name": "Winslow Township"} | row)
    shape = shapely.box(X + 3_000, Y + 4_100, X + 5_000, Y + 5_900)
    two_of_them = place_sites(Atlas(layers=[draw("municipalities", [main, other], accuracy_ft=72)]), _table(shape))
    assert two_of_them.kinds[0].value == ("several" if counts else "certain")
    water = Atlas(layers=[draw("municipalities", [main], accuracy_ft=72)])
    assert (float(place_sites(water, _table(shape)).outside[0]) > 0) is counts


def _table(shape: shapely.Geometry) -> SiteTable:
    return SiteTable.of([site(shape)])


def test_a_strip_across_two_municipalities_is_in_both(atlas: Atlas) -> None:
    # 260 by 1,300 ft; every corner of the part in Hasbrouck Heights is within 72 ft of Lodi.
    strip = "POLYGON ((609055 742619, 607775 742366, 607826 742108, 609106 742362, 609055 742619))"
    record = determine(shapely.from_wkt(strip), atlas)
    assert (record.place.kind, record.place.municipality) == ("several", None)
    assert [(c.name, round(c.share or 0, 2)) for c in record.place.candidates] == [
        ("Lodi Borough", 0.52),
        ("Hasbrouck Heights Borough", 0.48),
    ]


@pytest.mark.parametrize(("slack", "kind"), [(400, "certain"), (600, "uncertain")])
def test_a_polygon_known_to_many_feet_may_lie_in_the_water(two: Atlas, slack: float, kind: str) -> None:
    one = site(square(X + 9_000, Y + 4_000, 500), uncertainty_ft=slack)
    found = place_sites(two, SiteTable.of([one]))
    assert (found.kinds[0].value, found.may_be_nowhere(0)) == (kind, kind == "uncertain")


# -- a parcel number or a statement, and a place --------------------------------------------------------


@pytest.mark.parametrize(("basis", "says"), [("pin", "parcel number 0408_81_1"), ("stated", "statement")])
def test_a_place_far_from_the_stated_municipality_is_refused(two: Atlas, basis: str, says: str) -> None:
    engine = Engine(two, load_rulebook())
    stated = {"mun_code": "0408", "mun_basis": basis, "pins": ("0408_81_1",) if basis == "pin" else ()}
    near = site(shapely.Point(X - 990, Y + 5_000), **stated)
    assert any("The place lies in Winslow Township by its lines" in c for c in engine.determine(near).cautions)
    words = rf"Winslow Township \(0436\) by its lines, 1,100 ft from Camden City \(0408\), where the {says} puts it"
    for ask in (engine.run, engine.determine):
        with pytest.raises(SiteError, match=words):
            ask(site(shapely.Point(X - 1_100, Y + 5_000), **stated))
    # A place that is not known better than that may be in it after all.
    assert engine.run(site(shapely.Point(X - 1_100, Y + 5_000), uncertainty_ft=200, **stated)) is not None
    assert engine.run(site(square(X - 1_100, Y + 5_000, 200), **stated)) is not None


def test_a_place_outside_is_refused_before_anything_is_computed(two: Atlas) -> None:
    one = site(shapely.Point(X + 12_000, Y + 5_000), mun_code="0408", mun_basis="stated")
    with pytest.raises(OutsideNewJerseyError, match="no municipality is within 1,000 ft"):
        Engine(two, load_rulebook()).run(one)


@pytest.mark.parametrize("code", ["9999", "", "408"])
def test_a_code_of_no_municipality_is_refused(two: Atlas, tmp_path: Path, code: str) -> None:
    one = site(None, mun_code=code, mun_basis="stated")
    with pytest.raises(SiteError, match=r"is no municipality of 2017-04-17.*as in '0408'"):
        Engine(two, load_rulebook()).run(one)
    # Without any list of municipalities there is nothing to say so.
    assert Engine(Atlas(folder=tmp_path), load_rulebook()).run(one) is not None


@pytest.mark.parametrize("accuracy", [72, 100])
def test_a_near_line_is_told_with_the_accuracy_of_the_lines(accuracy: float) -> None:
    row = {"county": "Camden", "county_code": "04"}
    drawn = [
        (square(X, Y, 10_000), {"mun_code": "0408", "name": "Camden City"} | row),
        (square(X - 10_000, Y, 10_000), {"mun_code": "0436", "name": "Winslow Township"} | row),
    ]
    lines = Atlas(layers=[draw("municipalities", drawn, accuracy_ft=accuracy)])
    cautions = determine(shapely.Point(X + 50, Y + 5_000), lines).cautions
    assert any(f"municipal lines are known to {accuracy} ft" in c for c in cautions)


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


@pytest.mark.parametrize(("share_of_the_slack", "kind"), [(0.9995, "uncertain"), (1.0005, "certain")])
def test_whether_a_place_may_be_in_the_water_is_a_question_of_distance(share_of_the_slack: float, kind: str) -> None:
    # Turned so that a disc that is drawn with 64 corners has the middle of a side towards the shore: 1.2 ft short.
    turn, slack_ft = np.pi / 64, 1_000.0
    land = shapely.affinity.rotate(shapely.box(X, Y, X + 20_000, Y + 20_000), turn, origin=(X, Y), use_radians=True)
    layer = draw("municipalities", [(land, {"mun_code": "0408", "name": "Camden City", "county": "Camden"})])
    off = share_of_the_slack * slack_ft / FT_PER_FTUS
    along, inward = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
    place = np.array([X, Y]) + 10_000 * along + off * inward
    found = place_sites(Atlas(layers=(layer,)), SiteTable.of([site(shapely.Point(*place), uncertainty_ft=slack_ft)]))
    assert (found.kinds[0].value, found.may_be_nowhere(0)) == (kind, kind == "uncertain")
