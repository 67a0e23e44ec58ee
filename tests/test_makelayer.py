"""From features as they came to a layer that measures as the true one does."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import numpy as np
import pyproj
import pytest
import shapely
from drawn import CAMDEN, NEWARK, around, manifest_of, square
from hypothesis import given, settings
from hypothesis import strategies as st

from grownj_geo.features import Change, Features, LayerFault, LoadOptions, LoadReport
from grownj_geo.loading import EditionFacts, import_layer
from grownj_geo.makelayer import make_layer
from grownj_geo.manifest import load_manifests
from grownj_geo.units import to_working

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from grownj_geo.atlas import Atlas
    from grownj_geo.layer import Layer

SYSTEMS = ("EPSG:3424", "EPSG:32111", "EPSG:26918", "EPSG:4326", "EPSG:4269", "EPSG:3857")
PARTIAL = LoadOptions(partial=True)
HERE, THERE = around(CAMDEN, 240.0), around(NEWARK, 240.0)


def _exported(shapes: NDArray[Any], crs: str) -> NDArray[Any]:
    """Return geometries in another system, by the transformation of PROJ alone."""
    way = pyproj.Transformer.from_crs("EPSG:3424", crs, always_xy=True)
    moved = shapely.transform(shapes, lambda xy: np.column_stack(way.transform(xy[:, 0], xy[:, 1])))
    return np.asarray(moved, dtype=object)


def _areas(
    shapes: list[Any] | None = None,
    values: list[Any] | None = None,
    crs: str | None = "EPSG:3424",
    **columns: list[Any],
) -> Features:
    drawn = [HERE, THERE] if shapes is None else shapes
    values = values or ["METROPOLITAN", "PARK", "WATER", "SUBURBAN"][: len(drawn)]
    array = np.empty(len(drawn), dtype=object)
    array[:] = drawn
    return Features("areas.shp", {"SPDETAIL": values, **columns}, array, crs)


def _fault(features: Features, options: LoadOptions = PARTIAL, layer_id: str = "planning_areas") -> LayerFault:
    with pytest.raises(LayerFault) as caught:
        make_layer(features, load_manifests()[layer_id], options)
    return caught.value


def test_a_clean_layer_comes_through_bit_by_bit() -> None:
    layer, report = make_layer(_areas(ACRES=[1.5, 2.5]), manifest_of("planning_areas", least_features=2))
    assert layer.geometry(0) == HERE
    assert layer.geometry(1) == THERE
    assert layer.bounds.tolist() == [list(HERE.bounds), list(THERE.bounds)]
    assert [layer.value("planning_area", i) for i in range(2)] == ["PA1", "none"]
    assert list(layer.columns["ACRES"]) == [1.5, 2.5]
    assert layer.manifest.complete
    assert layer.problem is None
    assert (report.layer, report.source, report.read, report.kept) == ("planning_areas", "areas.shp", 2, 2)
    assert report.fields == {"SPDETAIL": "SPDETAIL"}
    assert report.changes == ()
    assert report.crs.startswith("EPSG:3424 (NAD83 / New Jersey (ftUS))")


@given(
    crs=st.sampled_from(SYSTEMS),
    places=st.lists(
        st.tuples(st.floats(-75.3, -74.0), st.floats(39.2, 41.1), st.floats(5.0, 240.0)), min_size=1, max_size=4
    ),
)
@settings(max_examples=60, deadline=None)
def test_a_drawn_layer_comes_back_from_every_system(crs: str, places: list[tuple[float, float, float]]) -> None:
    # Of one class, so that they may lie over one another; numbered, so that one drawn twice is still found.
    shapes = np.array([around((lon, lat), half) for lon, lat, half in places], dtype=object)
    columns = {"SPDETAIL": ["PARK"] * len(shapes), "N": list(range(len(shapes)))}
    given_features = Features("drawn", columns, _exported(shapes, crs) if crs != "EPSG:3424" else shapes, crs)
    layer, report = make_layer(given_features, load_manifests()["planning_areas"], PARTIAL)
    assert report.added_accuracy_ft == 0
    for index, row in enumerate(layer.columns["N"]):
        assert shapely.hausdorff_distance(layer.geometry(index), shapes[row]) < 0.01


@pytest.mark.parametrize("crs", ["EPSG:32111", "EPSG:4326"])
def test_the_municipalities_come_back(atlas: Atlas, crs: str) -> None:
    base = atlas.layer("municipalities")
    assert base is not None
    shapes = np.array([base.geometry(i) for i in range(len(base))], dtype=object)
    columns = {name: list(column) for name, column in base.columns.items()}
    layer, report = make_layer(
        Features("towns.gpkg", columns, _exported(shapes, crs), crs), base.manifest, LoadOptions(municipal_lines=base)
    )
    assert (report.kept, report.changes, report.unknown_values) == (565, (), {})
    assert [layer.key(i) for i in range(565)] == [base.key(i) for i in range(565)]
    # Every vertex is where it was; in degrees the sides between them are other lines, by a few feet.
    for index in range(0, 565, 10):
        ours, true = layer.geometry(index), shapes[index]
        vertices = shapely.points(shapely.get_coordinates(true))
        assert shapely.distance(vertices, ours.boundary).max() < 0.01


def test_undeclared_municipalities_are_recognized_by_their_lines(atlas: Atlas) -> None:
    base = atlas.layer("municipalities")
    assert base is not None
    some = [i for i in range(len(base)) if base.key(i).startswith("14")]
    shapes = np.array([base.geometry(i) for i in some], dtype=object)
    given_features = Features("a.shp", {"SPDETAIL": ["PARK"] * len(some)}, _exported(shapes, "EPSG:32111"), None)
    manifest = load_manifests()["planning_areas"]
    layer, report = make_layer(given_features, manifest, LoadOptions(partial=True, municipal_lines=base))
    assert shapely.hausdorff_distance(layer.geometry(0), shapes[0]) < 0.01
    assert [change.kind for change in report.changes] == ["crs_from_lines"]
    with pytest.raises(LayerFault) as caught:
        make_layer(given_features, manifest, PARTIAL)
    assert caught.value.fault == "undeclared_crs"


def _shifted_by_hand(lon: float, lat: float) -> tuple[float, float]:
    """Return NAD83 degrees of NAD27 ones by the published mean shift of the axes: -8, 160 and 176 metres."""
    a, f = 6_378_206.4, 1 / 294.978698214
    e2 = f * (2 - f)
    phi, lam = math.radians(lat), math.radians(lon)
    n = a / math.sqrt(1 - e2 * math.sin(phi) ** 2)
    x = n * math.cos(phi) * math.cos(lam) - 8
    y = n * math.cos(phi) * math.sin(lam) + 160
    z = n * (1 - e2) * math.sin(phi) + 176
    a, f = 6_378_137.0, 1 / 298.257222101
    e2, p = f * (2 - f), math.hypot(x, y)
    phi = math.atan2(z, p * (1 - e2))
    for _ in range(10):
        n = a / math.sqrt(1 - e2 * math.sin(phi) ** 2)
        phi = math.atan2(z + e2 * n * math.sin(phi), p)
    return math.degrees(math.atan2(y, x)), math.degrees(phi)


def test_nad27_is_right_where_it_is_declared_and_118_ft_off_where_it_is_not() -> None:
    zone = shapely.box(*NEWARK, NEWARK[0] + 0.001, NEWARK[1] + 0.001)
    manifest = load_manifests()["planning_areas"]
    true = np.array([float(v) for v in to_working(*_shifted_by_hand(*NEWARK))])
    wrong, _ = make_layer(_areas([zone], crs="EPSG:4269"), manifest, PARTIAL)
    assert np.hypot(*(shapely.get_coordinates(wrong.geometry(0)) - true).T).min() == pytest.approx(118, abs=10)
    try:
        right, report = make_layer(_areas([zone], crs="EPSG:4267"), manifest, PARTIAL)
    except LayerFault as fault:
        assert fault.fault == "datum_path"  # noqa: PT017 - where PROJ has no way of known accuracy
        return
    # By the mean shift itself, or by a grid where the machine has one: never farther off than both are good for.
    off = float(np.hypot(*(shapely.get_coordinates(right.geometry(0)) - true).T).min())
    assert off <= max(report.added_accuracy_ft, 46)
    assert right.manifest.accuracy_ft == pytest.approx(48.3 + report.added_accuracy_ft)
    assert f"{report.added_accuracy_ft:.1f} ft are added" in str(right.manifest.accuracy_source)
    assert "45 ft" in str(right.manifest.accuracy_source)
    assert wrong.manifest.accuracy_source == manifest.accuracy_source
    assert [change.kind for change in report.changes] == ["datum_shift"]
    projected, _ = make_layer(_areas([_exported27(zone)], crs="EPSG:32011"), manifest, PARTIAL)
    assert shapely.hausdorff_distance(projected.geometry(0), right.geometry(0)) < 0.01


def _exported27(zone: shapely.Polygon) -> shapely.Polygon:
    """Return degrees on NAD27 in the State Plane of 1927, a matter of one datum."""
    way = pyproj.Transformer.from_crs("EPSG:4267", "EPSG:32011", always_xy=True)
    return shapely.transform(zone, lambda xy: np.column_stack(way.transform(xy[:, 0], xy[:, 1])))


def test_unknown_values_are_kept_and_leave_sites_in_doubt() -> None:
    layer, report = make_layer(_areas(values=["METROPOLITAN", "NEW CLASS"]), manifest_of("planning_areas"), PARTIAL)
    assert report.unknown_values == {"SPDETAIL": ("NEW CLASS",)}
    where = (("planning_area", ("PA1",)),)
    chosen = layer.select(where)
    assert chosen.tolist() == [0, 1]
    assert layer.doubtful(chosen, where).tolist() == [False, True]


def test_spelling_is_changed_and_the_engine_sees_the_class() -> None:
    layer, report = make_layer(_areas(values=["metropolitan ", "Rural"]), manifest_of("planning_areas"), PARTIAL)
    assert [layer.value("planning_area", i) for i in range(2)] == ["PA1", "PA4A"]
    assert [(c.kind, c.effect, c.rows) for c in report.changes] == [("value_spelling", "changed", (1, 2))]


@pytest.mark.parametrize(
    ("features", "kind"),
    [
        (_areas([]), "no_features"),
        (_areas([None, HERE]), "too_few"),
        (_areas([HERE, shapely.box(0, 0, 1, 1)]), "too_few"),
    ],
)
def test_what_is_left_has_to_be_enough(features: Features, kind: str) -> None:
    manifest = manifest_of("planning_areas", least_features=2)
    if kind == "no_features":
        assert _fault(features).fault == kind
        return
    # As a partial layer what can be used is taken; as a whole one the fault is named first.
    layer, report = make_layer(features, manifest, PARTIAL)
    assert (len(layer), report.kept, report.read) == (1, 1, 2)
    assert not layer.manifest.complete
    assert layer.manifest.least_features == 1
    assert [change.effect for change in report.changes] == ["left_out"]
    with pytest.raises(LayerFault, match="row"):
        make_layer(features, manifest)


def test_fewer_features_than_the_manifest_expects_are_refused() -> None:
    fault = _fault(_areas(), LoadOptions())
    assert fault.fault == "too_few"
    assert "2 features; the layer planning_areas has at least 2958" in str(fault)
    with pytest.raises(LayerFault, match="at least 2"):
        # A duplicate is no feature of its own.
        make_layer(_areas([HERE, HERE], ["PARK", "PARK"]), manifest_of("planning_areas", least_features=2))


def test_nothing_usable_is_no_layer() -> None:
    assert _fault(_areas([None, None])).fault == "no_features"


def test_rows_are_named_as_the_source_has_them_after_some_were_left_out() -> None:
    shapes = [None, HERE, THERE, HERE]
    layer, report = make_layer(
        _areas(shapes, ["PARK", "WATER", "PARK", "WATER"], NO=[1, 2, 3, 4]), manifest_of("planning_areas"), PARTIAL
    )
    assert list(layer.columns["NO"]) == [2, 3]
    assert list(layer.columns["SPDETAIL"]) == ["WATER", "PARK"]
    assert [(c.kind, c.rows) for c in report.changes] == [("null_geometry", (1,)), ("duplicates", (4,))]


def test_strict_loading_lists_all_that_would_be_changed() -> None:
    curved = Change.about("curves_linearised", "changed", [1], "Curves were cut to chords.")
    zoned = Change.about("z_dropped", "noted", [1], "Heights were left aside.")
    features = _areas([HERE, THERE, HERE], ["park", "WATER", "PARK"])
    features = Features(features.source, features.columns, features.geometries, features.crs, (curved, zoned))
    fault = _fault(features, LoadOptions(partial=True, strict=True))
    assert fault.fault == "strict"
    for words in ("curves_linearised", "value_spelling", "duplicates", "(rows 3)"):
        assert words in str(fault)
    assert "z_dropped" not in str(fault)
    layer, report = make_layer(features, manifest_of("planning_areas"), PARTIAL)
    assert len(layer) == 2
    assert [c.kind for c in report.changes] == ["curves_linearised", "z_dropped", "value_spelling", "duplicates"]


def test_strict_loading_lets_through_what_is_noted_only() -> None:
    features = _areas([HERE, square(400_000, 500_000, 5)], crs="EPSG:3424")
    _, report = make_layer(features, manifest_of("planning_areas"), LoadOptions(partial=True, strict=True))
    assert [change.kind for change in report.changes] == ["slivers"]


def test_the_fingerprint_is_of_the_content() -> None:
    manifest = manifest_of("planning_areas")

    def fingerprint(features: Features) -> str:
        return make_layer(features, manifest, PARTIAL)[0].fingerprint

    first = fingerprint(_areas(A=[1, 2], B=[1, 2]))
    assert first == fingerprint(_areas(B=[1, 2], A=[1, 2]))
    assert len(first) == 64
    others = {
        fingerprint(_areas(A=[1, 2], B=[1, 3])),
        fingerprint(_areas(A=[1, 2], C=[1, 2])),
        fingerprint(_areas([HERE, around(NEWARK, 240.01)], A=[1, 2], B=[1, 2])),
        fingerprint(_areas(values=["PARK", "PARK"], A=[1, 2], B=[1, 2])),
    }
    assert len(others | {first}) == 5


def _stations(lonlat: list[tuple[float, float]], crs: str | None = "EPSG:4326", **more: list[Any]) -> Features:
    n = len(lonlat)
    columns: dict[str, list[Any]] = {
        "station_id": [f"s{i}" for i in range(n)],
        "name": ["Penn Station"] * n,
        "coordinate_uncertainty_ft": ["50"] * n,
        "opened": [""] * n,
        "closed": [""] * n,
        "operator": ["NJT"] * n,
        "mode": ["commuter_rail"] * n,
        "lines": ["NEC"] * n,
        "mun_code": ["0714"] * n,
        "out_of_state": ["false"] * n,
        "operator_tie": [""] * n,
        "njt_rail_lines_n": ["1"] * n,
        "njt_rail_lines_merged_n": ["1"] * n,
        **more,
    }
    shapes = np.array([shapely.Point(place) for place in lonlat], dtype=object)
    return Features("stations.geojson", columns, shapes, crs)


def test_degrees_of_points_stay_exactly_as_given() -> None:
    lonlat = [(-74.16412345678901, 40.73441234567891), (-75.11901, 39.94471)]
    layer, report = make_layer(_stations(lonlat), load_manifests()["transit_stations"], PARTIAL)
    assert layer.lonlat is not None
    assert layer.lonlat.tolist() == [list(place) for place in lonlat]
    assert layer.bounds[0, :2] == pytest.approx([float(v) for v in to_working(*lonlat[0])], abs=1e-6)
    assert layer.columns["longitude"] == [repr(lon) for lon, _ in lonlat]
    assert report.fields["latitude"] == "the point itself"


def test_points_in_feet_get_their_degrees() -> None:
    x, y = (float(v) for v in to_working(*NEWARK))
    layer, _ = make_layer(_stations([(x, y)], "EPSG:3424"), load_manifests()["transit_stations"], PARTIAL)
    assert layer.lonlat is not None
    assert layer.lonlat[0] == pytest.approx(NEWARK, abs=1e-9)


def test_written_degrees_that_contradict_the_point_are_refused() -> None:
    written = {"longitude": ["-74.1641"], "latitude": ["40.7344"]}
    layer, _ = make_layer(_stations([NEWARK], **written), load_manifests()["transit_stations"], PARTIAL)
    assert layer.columns["longitude"] == ["-74.1641"]
    for latitude in ("40.7345", "north"):
        features = _stations([NEWARK], longitude=["-74.1641"], latitude=[latitude])
        fault = _fault(features, PARTIAL, "transit_stations")
        assert fault.fault == "place_contradicts"
        assert "row 1" in str(fault)


def test_a_table_has_no_ground() -> None:
    manifest = manifest_of("revitalization_index", least_features=1)
    columns: dict[str, list[Any]] = {name: ["1"] for name in manifest.required_fields}
    columns |= {"mun_code": ["0102"], "mun_label": ["Atlantic City"]}
    layer, report = make_layer(Features("index.csv", columns, np.array([None]), None), manifest)
    assert report.crs == "none: a table"
    assert layer.key(0) == "0102"
    assert np.isnan(layer.bounds).all()


def test_lines_are_a_layer_too() -> None:
    line = shapely.LineString([(586_000, 692_000), (586_400, 692_000)])
    tie = shapely.GeometryCollection([line, shapely.Point(586_000, 692_000)])
    features = Features("rail.kml", {"FREIGHT": ["yes"]}, np.array([tie], dtype=object), "EPSG:3424")
    layer, report = make_layer(features, load_manifests()["freight_rail"].model_copy(update={"accuracy_ft": 40.0}))
    assert layer.geometry(0) == line
    assert layer.value("freight", 0) == "yes"
    assert [change.kind for change in report.changes] == ["value_spelling", "collection_reduced"]


def test_lines_of_which_nothing_is_known_are_not_taken_for_exact(tmp_path: Path) -> None:
    features = _rail("EPSG:3424")
    fault = _fault(features, PARTIAL, "freight_rail")
    assert fault.fault == "no_accuracy"
    assert "--accuracy-ft" in str(fault)
    stated = load_manifests()["freight_rail"].model_copy(update={"accuracy_ft": 0.0})
    assert make_layer(features, stated)[0].manifest.accuracy_ft == 0
    path = tmp_path / "rail.gpkg"
    gpd.GeoDataFrame(features.columns, geometry=features.geometries, crs="EPSG:3424").to_file(path)
    with pytest.raises(LayerFault, match="freight_rail"):
        import_layer("freight_rail", path, dry_run=True)
    loaded = import_layer("freight_rail", path, facts=EditionFacts(accuracy_ft=40.0), dry_run=True)
    assert loaded.layer.manifest.accuracy_ft == 40


def _rail(crs: str) -> Features:
    line = shapely.LineString([(586_000, 692_000), (586_400, 692_000)])
    return Features("rail.kml", {"FREIGHT": ["yes"]}, np.array([line], dtype=object), crs)


def test_what_a_change_of_datum_may_be_off_counts_where_exact_lines_are_stated() -> None:
    stated = load_manifests()["freight_rail"].model_copy(update={"accuracy_ft": 0.0, "accuracy_source": None})
    features = replace(_rail("EPSG:3424"), geometries=np.array([shapely.LineString([NEWARK, (-74.17, 40.74)])]))
    try:
        layer, report = make_layer(replace(features, crs="EPSG:4267"), stated)
    except LayerFault as fault:
        assert fault.fault == "datum_path"  # noqa: PT017 - where PROJ has no way of known accuracy
        return
    assert report.added_accuracy_ft > 0
    assert layer.manifest.accuracy_ft == report.added_accuracy_ft
    assert str(layer.manifest.accuracy_source).startswith(f"{report.added_accuracy_ft:.1f} ft are added")


def test_lost_zeros_are_checked_against_the_municipalities(atlas: Atlas) -> None:
    towns = atlas.layer("municipalities")
    columns: dict[str, list[Any]] = {
        "UEZ_NAME": ["Camden"],
        "MUN": [408],
        "DATE_DESIG": ["1/1/1985"],
        "MUNICIPAL": ["x"],
    }
    features = Features("uez.csv", columns, np.array([HERE], dtype=object), "EPSG:3424")
    layer, report = make_layer(
        features, load_manifests()["urban_enterprise_zones"], LoadOptions(partial=True, municipal_lines=towns)
    )
    assert layer.value("mun_code", 0) == "0408"
    assert layer.columns["DATE_DESIG"] == ["1985-01-01"]
    assert [change.kind for change in report.changes] == ["lost_zeros", "date_form"]
    assert _fault(features, PARTIAL, "urban_enterprise_zones").fault == "bad_code"


def test_what_only_the_layers_own_check_sees_is_a_fault_too() -> None:
    # A bound that is none of the four kinds.
    columns: dict[str, list[Any]] = {"id": ["a"], "name": ["a"], "bound": ["middle"]}
    features = Features("airport.shp", columns, np.array([HERE], dtype=object), "EPSG:3424")
    fault = _fault(features, PARTIAL, "atlantic_city_airport")
    assert fault.fault == "not_a_layer"
    assert "middle" in str(fault)


def test_a_repaired_polygon_measures_as_the_true_one() -> None:
    first, *rest = HERE.exterior.coords[:-1]
    spiked = shapely.Polygon([first, (first[0] + 900, first[1]), first, *rest])
    assert not spiked.is_valid
    layer, report = make_layer(_areas([THERE, spiked]), manifest_of("planning_areas"), PARTIAL)
    assert layer.geometry(1).equals(HERE)
    assert [(change.kind, change.rows) for change in report.changes] == [("repaired", (2,))]
    bow = shapely.Polygon([(first[0] + x, first[1] + y) for x, y in ((0, 0), (99, 99), (99, 0), (0, 99))])
    assert _fault(_areas([THERE, bow])).fault == "repair_too_large"


X, Y = (float(v) for v in HERE.bounds[:2])


def _drawn(*xy: tuple[float, float]) -> shapely.Polygon:
    return shapely.Polygon([(X + x, Y + y) for x, y in xy])


BLOCK = _drawn((0, 0), (3000, 0), (3000, 3000), (0, 3000))
LOOP = _drawn((0, 0), (3000, 0), (3000, 1500), (1800, 1200), (1800, 1800), (3000, 1500), (3000, 3000), (0, 3000))
# Each with what ground it is; None where that cannot be known.
NOT_VALID: dict[str, tuple[Any, Any]] = {
    "a spike": (_drawn((0, 0), (3000, 0), (3000, 3000), (3000, 6000), (3000, 3000), (0, 3000)), BLOCK),
    "a slanting spike": (_drawn((0, 0), (3000, 0), (7100, -1700), (3000, 0), (3000, 3000), (0, 3000)), BLOCK),
    "a hole drawn as a loop": (
        LOOP,
        shapely.Polygon(BLOCK.exterior, [_drawn((3000, 1500), (1800, 1200), (1800, 1800)).exterior]),
    ),
    "a sliver of overlap": (
        shapely.MultiPolygon([BLOCK, _drawn((2999.99, 0), (6000, 0), (6000, 3000), (2999.99, 3000))]),
        _drawn((0, 0), (6000, 0), (6000, 3000), (0, 3000)),
    ),
    "a bow tie": (_drawn((0, 0), (3000, 3000), (3000, 0), (0, 3000)), None),
    "a bow tie of unequal lobes": (_drawn((0, 0), (4000, 3000), (4000, 0), (0, 2000)), None),
    "a hole that protrudes": (
        shapely.Polygon(BLOCK.exterior, [_drawn((2000, 1000), (3500, 1000), (3500, 2000), (2000, 2000)).exterior]),
        None,
    ),
    "a hole elsewhere": (
        shapely.Polygon(BLOCK.exterior, [_drawn((4000, 0), (5000, 0), (5000, 900), (4000, 900)).exterior]),
        None,
    ),
    "parts that overlap": (
        shapely.MultiPolygon([BLOCK, _drawn((2000, 0), (5000, 0), (5000, 3000), (2000, 3000))]),
        None,
    ),
    "parts one in the other": (
        shapely.MultiPolygon([BLOCK, _drawn((1000, 1000), (2000, 1000), (2000, 2000), (1000, 2000))]),
        None,
    ),
}


def _check_not_valid(name: str, load: Any) -> None:
    """See that what can be mended is mended and told, and refused under strict loading, and all else is refused."""
    _, ground = NOT_VALID[name]
    if ground is None:
        with pytest.raises(LayerFault, match="row 2") as caught:
            load(PARTIAL)
        assert caught.value.fault == "repair_too_large"
        return
    layer, report = load(PARTIAL)
    assert [(change.kind, change.rows) for change in report.changes if change.effect != "noted"] == [("repaired", (2,))]
    shape = layer.geometry(1)
    assert shape.is_valid
    # Sides that are straight in one system are other lines in another, by a few hundredths of a foot.
    assert shapely.symmetric_difference(shape, ground).area < 0.1 * ground.length
    with pytest.raises(LayerFault, match="repaired") as caught:
        load(LoadOptions(partial=True, strict=True))
    assert caught.value.fault == "strict"


@pytest.mark.parametrize("crs", ["EPSG:3424", "EPSG:4326", "EPSG:3857", "EPSG:26918"])
@pytest.mark.parametrize("name", NOT_VALID)
def test_what_is_not_valid_fares_alike_in_every_system(name: str, crs: str) -> None:
    shape, _ = NOT_VALID[name]
    assert not shape.is_valid
    features = _areas([THERE, shape])
    if crs != "EPSG:3424":
        features = _areas(list(_exported(features.geometries, crs)), crs=crs)
    _check_not_valid(name, lambda options: make_layer(features, manifest_of("planning_areas"), options))


@pytest.mark.parametrize("crs", ["EPSG:3424", "EPSG:4326", "EPSG:3857", "EPSG:26918"])
@pytest.mark.parametrize("name", NOT_VALID)
def test_what_is_not_valid_fares_alike_out_of_a_file(name: str, crs: str, tmp_path: Path) -> None:
    way = pyproj.Transformer.from_crs("EPSG:3424", crs, always_xy=True)
    path = tmp_path / "areas.gpkg"
    shapes = [
        shapely.transform(shape, lambda xy: np.column_stack(way.transform(xy[:, 0], xy[:, 1])))
        for shape in (THERE, NOT_VALID[name][0])
    ]
    gpd.GeoDataFrame({"SPDETAIL": ["METROPOLITAN", "PARK"]}, geometry=shapes, crs=crs).to_file(path)

    def load(options: LoadOptions) -> tuple[Layer, LoadReport]:
        loaded = import_layer("planning_areas", path, options=options, dry_run=True)
        return loaded.layer, loaded.report

    _check_not_valid(name, load)


def test_layer_and_report_agree(atlas: Atlas) -> None:
    layer: Layer
    layer, report = make_layer(
        _areas([HERE, None, THERE], ["PARK", "PARK", "x"]), manifest_of("planning_areas"), PARTIAL
    )
    assert report.kept == len(layer) == 2
    assert report.model_validate_json(report.model_dump_json()) == report
    assert atlas.layer("planning_areas") is None
