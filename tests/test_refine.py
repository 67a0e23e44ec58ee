"""The user's own knowledge in what ships: what is replaced, what is refused, and what it changes in an answer."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import shapely
from drawn import draw, square, stations

from grownj_geo.atlas import Atlas
from grownj_geo.designations import load_lists
from grownj_geo.determine import determine
from grownj_geo.features import Features, LayerFault
from grownj_geo.layercheck import check_layer
from grownj_geo.manifest import load_manifests
from grownj_geo.refine import REFINABLE, refine
from grownj_geo.site import Site
from grownj_geo.units import to_lonlat, to_working

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grownj_geo.features import Change
    from grownj_geo.layer import Layer

HOLMDEL, NEWARK, ATLANTIC_CITY = (-74.1688, 40.3655), (-74.1641, 40.7344), (-74.4397, 39.3634)
DAY = date(2017, 3, 1)


def _table(rows: Sequence[Mapping[str, Any]], shapes: Sequence[Any] | None = None, crs: str | None = None) -> Features:
    names = dict.fromkeys(name for row in rows for name in row)
    geometries = np.empty(len(rows), dtype=object)
    geometries[:] = list(shapes) if shapes is not None else [None] * len(rows)
    return Features("mine.csv", {name: [row.get(name) for row in rows] for name in names}, geometries, crs)


def _refine(atlas: Atlas, layer_id: str, given: Features, *, base: Layer | None = None) -> tuple[Layer, list[Change]]:
    there = base or atlas.layer(layer_id)
    assert there is not None
    manifest = load_manifests()[layer_id]
    layer, changes = refine(
        layer_id, given, base=there, manifest=manifest, source="mine.csv", stated_on=DAY, atlas=atlas
    )
    check_layer(layer)
    return layer, list(changes)


def _refused(atlas: Atlas, layer_id: str, given: Features) -> LayerFault:
    with pytest.raises(LayerFault) as raised:
        _refine(atlas, layer_id, given)
    assert str(raised.value).startswith("mine.csv")
    return raised.value


def _outcome(category: str, place: tuple[float, float], *layers: Layer, day: str = "2017-04-17", **more: Any) -> str:
    return determine(Site.from_lonlat(*place), Atlas(as_of=day, layers=layers), **more)[category].outcome


def _kinds(changes: Sequence[Change]) -> dict[str, tuple[int, ...]]:
    return {change.kind: change.rows for change in changes}


def test_what_can_be_refined_ships() -> None:
    assert all(load_manifests()[layer_id].ships for layer_id in REFINABLE)


def test_another_layer_is_a_mistake_of_the_caller(atlas: Atlas) -> None:
    with pytest.raises(ValueError, match="expected one of"):
        _refine(atlas, "counties", _table([{}]))
    with pytest.raises(ValueError, match="cannot be refined"):
        _refine(atlas, "designations", _table([{}]), base=atlas.layer("transit_stations"))


@pytest.mark.parametrize("layer_id", REFINABLE)
def test_no_rows_are_refused(atlas: Atlas, layer_id: str) -> None:
    assert _refused(atlas, layer_id, _table([])).fault == "no_rows"


def test_a_base_that_cannot_be_used_is_refused(atlas: Atlas) -> None:
    broken = draw("atlantic_city_airport", [(square(0, 0, 1), {"id": "acy"})])
    with pytest.raises(LayerFault, match="what it is to refine cannot be used") as raised:
        _refine(atlas, "atlantic_city_airport", _table([{"id": "acy"}]), base=broken)
    assert raised.value.fault == "unusable_base"


# -- lists of municipalities -------------------------------------------------------------------------------

AID = {"municipality": "Holmdel", "designation": "urban_aid_2017", "from": "2017-01-01", "until": "2018-01-01"}


def test_a_listed_municipality_becomes_distressed(atlas: Atlas) -> None:
    assert _outcome("distressed_municipality", HOLMDEL) == "no"
    layer, changes = _refine(atlas, "designations", _table([AID]))
    assert _outcome("distressed_municipality", HOLMDEL, layer) == "yes"
    ended, _ = _refine(atlas, "designations", _table([{**AID, "until": "2017-04-17"}]))
    assert _outcome("distressed_municipality", HOLMDEL, ended) == "no"
    assert _outcome("distressed_municipality", HOLMDEL, ended, day="2017-04-16") == "yes"
    assert _outcome("distressed_municipality", NEWARK, layer) == "yes"
    assert _kinds(changes) == {"rows_added": (1,), "days_given": (1,)}
    row = {name: values[-1] for name, values in layer.columns.items()}
    assert row == {
        "mun_code": "1320",
        "mun_label": "Holmdel Township",
        "county": "Monmouth",
        "designation": "urban_aid_2017",
        "status": "secondary",
        "status_note": "refined by mine.csv; stated on 2017-03-01",
        "from_earliest": "2017-01-01",
        "from_latest": "2017-01-01",
        "until_exclusive": "2018-01-01",
        "source": "mine.csv",
        "note": "",
        "dca_code": "",
    }


def test_a_municipality_under_oversight_is_no_longer_assumed_to_be_none(atlas: Atlas) -> None:
    row = {"municipality": "Holmdel", "designation": "transitional_aid_state_oversight_mou"}
    layer, _ = _refine(atlas, "designations", _table([row]))
    assert _outcome("distressed_municipality", HOLMDEL, layer) == "undetermined"
    # And one that was not under it is known to be not.
    asbury = (-74.0121, 40.2204)
    off = {"municipality": "Asbury Park", "designation": "transitional_aid_state_oversight_mou", "listed": "no"}
    sda = {"municipality": "Asbury Park", "designation": "sda_municipality", "listed": False}
    aid = {"municipality": "Asbury Park", "designation": "urban_aid_2017", "listed": 0}
    layer, changes = _refine(atlas, "designations", _table([off, sda, aid]))
    assert _outcome("distressed_municipality", asbury) == "yes"
    assert _outcome("distressed_municipality", asbury, layer) == "no"
    assert _kinds(changes)["rows_taken_off"] == (1, 2, 3)
    assert len(layer) == 418
    assert "3 rows removed" in layer.manifest.source


def test_a_replaced_row_stands_where_it_stood(atlas: Atlas) -> None:
    base = atlas.layer("designations")
    assert base is not None
    rows = [
        {"mun_code": "0714", "designation": "Urban-Aid 2017", "until": date(2017, 3, 1), "status": "Confirmed"},
        {"mun_code": 102, "designation": "gsgz", "source": "the Authority's letter"},
    ]
    layer, changes = _refine(atlas, "designations", _table(rows))
    assert _outcome("distressed_municipality", NEWARK, layer) == "yes"  # by its SDA district
    assert len(layer) == len(base)
    changed = [i for i in range(len(base)) if layer.value("source", i) != base.value("source", i)]
    keys = [(layer.value("mun_code", i), layer.value("designation", i)) for i in changed]
    assert set(keys) == {("0714", "urban_aid_2017"), ("0102", "gsgz")}
    assert keys == [(base.value("mun_code", i), base.value("designation", i)) for i in changed]
    of = dict(zip(keys, changed, strict=True))
    aid, zone = of["0714", "urban_aid_2017"], of["0102", "gsgz"]
    assert (layer.value("status", aid), layer.value("until_exclusive", aid)) == ("confirmed", "2017-03-01")
    assert layer.value("source", zone) == "the Authority's letter"
    assert layer.value("dca_code", zone) == base.value("dca_code", zone) == "0102"
    kinds = _kinds(changes)
    assert (kinds["leading_zeros"], kinds["rows_replaced"]) == ((2,), (1, 2))
    assert kinds["days_dropped"] == (2,)
    assert [c.effect for c in changes if c.kind == "leading_zeros"] == ["changed"]


def test_what_was_refined_is_named_and_nothing_else_of_the_manifest_moves(atlas: Atlas) -> None:
    base, shipped = atlas.layer("designations"), load_manifests()["designations"]
    layer, _ = _refine(atlas, "designations", _table([AID]))
    assert layer.manifest.source.startswith(shipped.source)
    assert "; refined by mine.csv, stated on 2017-03-01: 1 row added" in layer.manifest.source
    assert layer.manifest.refines
    assert (layer.manifest.ships, layer.manifest.file, layer.manifest.sha256) == (False, None, None)
    moved = {name for name in type(shipped).model_fields if getattr(layer.manifest, name) != getattr(shipped, name)}
    assert moved == {"ships", "file", "sha256", "refines", "source"}
    again, _ = _refine(atlas, "designations", _table([{**AID, "municipality": "Colts Neck"}]), base=layer)
    assert again.manifest.source.count("refined by") == 2
    assert base is not None
    assert len({base.fingerprint, layer.fingerprint, again.fingerprint}) == 3
    assert _refine(atlas, "designations", _table([AID]))[0].fingerprint == layer.fingerprint


@pytest.mark.parametrize(
    ("row", "fault", "words"),
    [
        ({"mun_code": "9999"}, "bad_code", "'9999', and there is no such"),
        ({"mun_code": "14b"}, "bad_code", "'14b'"),
        ({}, "missing_value", "it names no municipality"),
        ({"municipality": "Washington Township"}, "unknown_municipality", "Add the county"),
        ({"municipality": "Washington Township", "county": "Nowhere"}, "unknown_municipality", "not a county"),
        ({"municipality": "Homdel"}, "unknown_municipality", r"Did you mean Holmdel Township.*\? Correct it\."),
        ({"mun_code": "1303", "municipality": "Asbury Park"}, "municipality_contradicted", "other agencies"),
        ({"mun_code": "1320", "county": "Essex"}, "municipality_contradicted", "Monmouth County, not in Essex"),
        ({"mun_code": "1320", "designation": "urban_aid_2016"}, "unknown_list", "Did you mean 'urban_aid_201"),
        ({"mun_code": "1320", "designation": ""}, "unknown_list", "names no designation"),
        ({"mun_code": "1320", "designation": "southern_eight_county"}, "unknown_list", "list of counties"),
        ({"mun_code": "1320", "from": "4/17/2017"}, "bad_date", "from is '4/17/2017'"),
        ({"mun_code": "1320", "from": 20170417}, "bad_date", "20170417"),
        ({"mun_code": "1320", "from": "2017-01-02", "until": "2017-01-02"}, "bad_period", "first day without it"),
        ({"mun_code": "1320", "from": "2017-01-02", "from_latest": "2017-01-01"}, "bad_period", "no span"),
        ({"mun_code": "1320", "status": "sure"}, "bad_status", "'sure'"),
        ({"mun_code": "1320", "listed": "perhaps"}, "unknown_value", "Expected yes or no"),
    ],
)
def test_rows_that_cannot_be_understood(atlas: Atlas, row: dict[str, Any], fault: str, words: str) -> None:
    found = _refused(atlas, "designations", _table([AID, {"designation": "urban_aid_2017", **row}]))
    assert found.fault == fault
    assert "row 2: " in str(found)
    with pytest.raises(LayerFault, match=words):
        raise found


def test_all_problems_are_told_at_once(atlas: Atlas) -> None:
    rows = [{"mun_code": "9999", "designation": "gsgz"}, {"mun_code": "0102", "designation": "gzgz", "until": "soon"}]
    found = str(_refused(atlas, "designations", _table(rows)))
    assert "3 things are wrong" in found
    assert all(words in found for words in ("'9999'", "Did you mean 'gsgz'?", "until is 'soon'"))


def test_one_period_for_each_municipality_and_list(atlas: Atlas) -> None:
    found = _refused(atlas, "designations", _table([AID, {**AID, "municipality": None, "mun_code": "1320"}]))
    assert (found.fault, "stands in row 1 too" in str(found)) == ("duplicate_row", True)


def test_the_last_municipality_stays_on_its_list(atlas: Atlas) -> None:
    row = {"mun_code": "0408", "designation": "gsgz_mrera", "listed": "no"}
    assert _refused(atlas, "designations", _table([row])).fault == "list_emptied"


def test_columns_that_are_not_used_or_stand_twice(atlas: Atlas) -> None:
    _, changes = _refine(atlas, "designations", _table([{**AID, "Mayor": "x"}]))
    assert next(c.words for c in changes if c.kind == "fields_not_used") == "These columns say nothing here: Mayor."
    assert _refused(atlas, "designations", _table([{**AID, "from_earliest": "2017-01-01"}])).fault == "two_columns"


def test_taking_off_who_is_not_listed_is_told(atlas: Atlas) -> None:
    layer, changes = _refine(atlas, "designations", _table([{**AID, "listed": "No"}]))
    assert len(layer) == 421
    assert _kinds(changes)["not_listed"] == (1,)


@pytest.mark.parametrize("name", sorted(set(load_lists()) - {"southern_eight_county"}))
def test_every_list_of_municipalities_takes_rows(atlas: Atlas, name: str) -> None:
    layer, _ = _refine(atlas, "designations", _table([{"mun_code": "1320", "designation": name}]))
    there = zip(layer.columns["mun_code"], layer.columns["designation"], strict=True)
    assert list(there).count(("1320", name)) == 1


# -- stations ----------------------------------------------------------------------------------------------

ATCO = "njt-rail-atco"


def _lonlat(layer: Layer, key: str) -> tuple[float, float]:
    index = next(i for i in range(len(layer)) if layer.key(i) == key)
    assert layer.lonlat is not None
    return float(layer.lonlat[index, 0]), float(layer.lonlat[index, 1])


def _away(place: tuple[float, float], feet: float) -> tuple[float, float]:
    """Return the place so many feet to the east, nearly."""
    x, y = to_working(*place)
    lon, lat = to_lonlat(float(x) + feet, float(y))
    return float(lon), float(lat)


@pytest.mark.parametrize(("shift", "expected"), [(100.0, "yes"), (-100.0, "no")])
def test_a_better_mid_point_settles_who_is_near(atlas: Atlas, shift: float, expected: str) -> None:
    base = atlas.layer("transit_stations")
    assert base is not None
    before = _lonlat(base, ATCO)
    place = _away(before, 2640)
    assert _outcome("transit_oriented_development", place) == "undetermined"
    lon, lat = _away(before, shift)
    row = {"station_id": ATCO, "latitude": lat, "longitude": lon, "coordinate_uncertainty_ft": 10, "source": "a survey"}
    layer, changes = _refine(atlas, "transit_stations", _table([row]))
    assert _outcome("transit_oriented_development", place, layer) == expected
    moved = next(c for c in changes if c.kind == "station_moved")
    assert moved.words == "Atco moved by 100 ft; its former position was known to 164.0 ft."
    index = next(i for i in range(len(layer)) if layer.key(i) == ATCO)
    assert layer.tolerances_ft[index] == pytest.approx(13.3)
    assert (layer.value("source", index), layer.value("status", index)) == ("a survey", "secondary")
    assert (layer.value("lines", index), layer.value("spread_m", index)) == (base.value("lines", index), "")
    others = [i for i in range(len(base)) if i != index]
    assert all(layer.columns[name][i] == base.columns[name][i] for name in base.columns for i in others)
    assert (layer.bounds[others] == base.bounds[others]).all()


@pytest.mark.parametrize("crs", ["EPSG:4326", "EPSG:3424", "EPSG:26918"])
def test_positions_as_points_in_any_declared_system(atlas: Atlas, crs: str) -> None:
    import pyproj  # noqa: PLC0415 - for this test only

    base = atlas.layer("transit_stations")
    assert base is not None
    wanted = _away(_lonlat(base, ATCO), 50)
    x, y = pyproj.Transformer.from_crs("EPSG:4269", crs, always_xy=True).transform(*wanted)
    given = _table([{"name": "ATCO", "uncertainty_ft": "10"}], [shapely.Point(x, y, 7)], pyproj.CRS(crs).to_wkt())
    layer, _ = _refine(atlas, "transit_stations", given)
    assert _lonlat(layer, ATCO) == pytest.approx(wanted, abs=1e-8)


def test_a_bus_terminal_is_added(atlas: Atlas) -> None:
    lon, lat = HOLMDEL
    row = {
        "name": "Holmdel Terminal",
        "mode": "Bus Terminal",
        "operator": "njt",
        "lat": str(lat),
        "lon": str(lon),
        "coordinate_uncertainty_ft": "20",
    }
    counted = {"readings": {"A28": "terminals_count"}}
    assert _outcome("transit_oriented_development", HOLMDEL, **counted) == "no"
    layer, changes = _refine(atlas, "transit_stations", _table([row]))
    assert _outcome("transit_oriented_development", HOLMDEL, layer, **counted) == "yes"
    # By the default reading it is open whether terminals count without the Authority's list.
    assert _outcome("transit_oriented_development", HOLMDEL, layer) == "undetermined"
    last = {name: values[-1] for name, values in layer.columns.items()}
    assert (last["station_id"], last["mode"], last["operator"]) == ("given-holmdel-terminal", "bus_terminal", "NJT")
    assert (last["mun_code"], last["county"], last["out_of_state"]) == ("1320", "Monmouth", "false")
    assert _kinds(changes) == {"rows_added": (1,)}
    assert "1 row added" in layer.manifest.source


def test_a_station_that_closed_no_longer_counts(atlas: Atlas) -> None:
    base = atlas.layer("transit_stations")
    assert base is not None
    place = _away(_lonlat(base, ATCO), 300)
    layer, _ = _refine(atlas, "transit_stations", _table([{"station_id": ATCO, "closed": "2017-01-01"}]))
    assert _outcome("transit_oriented_development", place) == "yes"
    assert _outcome("transit_oriented_development", place, layer) == "no"
    assert _outcome("transit_oriented_development", place, layer, day="2016-12-31") == "yes"
    assert _lonlat(layer, ATCO) == _lonlat(base, ATCO)
    found = _refused(
        atlas, "transit_stations", _table([{"station_id": ATCO, "closed": "2017-01-01", "opened": "2018-01-01"}])
    )
    assert found.fault == "bad_period"


PLACED = {"lat": HOLMDEL[1], "lon": HOLMDEL[0], "uncertainty_ft": 20}
NEW = {"name": "New Terminal", "mode": "bus_terminal", "operator": "NJT", **PLACED}


@pytest.mark.parametrize(
    ("row", "fault", "words"),
    [
        ({"station_id": "njt-rail-atko", **PLACED}, "unknown_station", "Did you mean 'njt-rail-atco'"),
        ({"name": "Atko", **PLACED}, "unknown_station", "Did you mean 'Atco'"),
        ({**PLACED}, "missing_value", "names no station"),
        ({"name": "Newport", "closed": "2017-01-01"}, "ambiguous_station", r"path-newport \(rapid_transit\)"),
        ({"station_id": ATCO}, "missing_value", "says nothing new"),
        ({"station_id": ATCO, **PLACED}, "moved_too_far", "another place"),
        ({"station_id": ATCO, "lat": 39.78363, "lon": -74.907708}, "missing_uncertainty", "count as exact"),
        ({"station_id": ATCO, "uncertainty_ft": "-1"}, "bad_figure", "'-1'"),
        ({"station_id": ATCO, "uncertainty_ft": "20 ft"}, "bad_figure", "'20 ft'"),
        ({"station_id": ATCO, "closed": "spring"}, "bad_date", "'spring'"),
        ({"station_id": ATCO, "njt_rail_lines_n": "one"}, "bad_figure", "'one'"),
        ({**NEW, "mode": "tram"}, "unknown_value", "mode is 'tram'"),
        ({**NEW, "operator": "NJTransit"}, "unknown_value", "operator is 'NJTransit'"),
        ({**NEW, "at_airport": "maybe"}, "unknown_value", "at_airport is 'maybe'"),
        ({**NEW, "lat": "", "lon": ""}, "missing_value", "needs a position"),
        ({**NEW, "lat": HOLMDEL[0], "lon": HOLMDEL[1]}, "misplaced", "swapped"),
        ({**NEW, "lat": ""}, "misplaced", "not a finite number"),
        ({**NEW, "lat": 34.05, "lon": -118.24}, "misplaced", "outside New Jersey"),
        ({**NEW, "mun_code": "0714"}, "municipality_contradicted", "Holmdel Township"),
        ({**NEW, "out_of_state": "yes"}, "municipality_contradicted", "said to be out of State"),
        ({**NEW, "uncertainty_ft": 30_000}, "municipality_open", "Give mun_code"),
        ({**NEW, "mode": "commuter_rail"}, "missing_value", "at_airport.*njt_rail_lines_n"),
        ({**NEW, "lat": 40.85, "lon": -73.9}, "municipality_open", "no municipality.*out_of_state"),
    ],
)
def test_stations_that_cannot_be_understood(atlas: Atlas, row: dict[str, Any], fault: str, words: str) -> None:
    found = _refused(atlas, "transit_stations", _table([row]))
    assert found.fault == fault
    assert "row 1: " in str(found)
    with pytest.raises(LayerFault, match=words):
        raise found


def test_a_station_out_of_state_has_no_municipality(atlas: Atlas) -> None:
    row = {**NEW, "lat": 40.85, "lon": -73.9, "out_of_state": "true"}
    layer, _ = _refine(atlas, "transit_stations", _table([row]))
    assert (layer.columns["mun_code"][-1], layer.columns["out_of_state"][-1]) == ("", "true")


def test_points_that_cannot_be_placed(atlas: Atlas) -> None:
    row, point = {"station_id": ATCO, "uncertainty_ft": 10}, shapely.Point(-74.9077, 39.7836)
    for shape, crs, fault in (
        (point, None, "undeclared_crs"),
        (point, "no system", "undeclared_crs"),
        (point, "EPSG:4267", "unchecked_datum"),
        (shapely.LineString([point.coords[0], (-74.9, 39.7)]), "EPSG:4326", "wrong_geometry"),
        (shapely.Point(), "EPSG:4326", "wrong_geometry"),
    ):
        assert _refused(atlas, "transit_stations", _table([row], [shape], crs)).fault == fault
    contradicted = {**row, "lat": 39.79, "lon": -74.9077}
    found = _refused(atlas, "transit_stations", _table([contradicted], [point], "EPSG:4326"))
    assert found.fault == "position_contradicted"


def test_a_mode_tells_stations_of_one_name_apart(atlas: Atlas) -> None:
    layer, _ = _refine(
        atlas, "transit_stations", _table([{"name": "newport", "mode": "Rapid transit", "closed": "2017-01-01"}])
    )
    closed = [layer.key(i) for i in range(len(layer)) if layer.value("closed", i) == "2017-01-01"]
    assert closed == ["path-newport"]


def test_one_row_for_a_station(atlas: Atlas) -> None:
    rows = [{"station_id": ATCO, "closed": "2017-01-01"}, {"name": "Atco", "closed": "2018-01-01"}]
    assert _refused(atlas, "transit_stations", _table(rows)).fault == "duplicate_row"
    assert _refused(atlas, "transit_stations", _table([NEW, NEW])).fault == "duplicate_row"
    layer, _ = _refine(atlas, "transit_stations", _table([NEW]))
    with pytest.raises(LayerFault) as raised:
        _refine(atlas, "transit_stations", _table([{**NEW, "station_id": "", "name": "New-Terminal"}]), base=layer)
    assert raised.value.fault == "duplicate_row"


def test_a_station_that_is_perhaps_there_already_is_told(atlas: Atlas) -> None:
    layer, _ = _refine(atlas, "transit_stations", _table([NEW]))
    lon, lat = _away(HOLMDEL, 200)
    twin = {**NEW, "name": "Terminal of Holmdel", "lat": lat, "lon": lon}
    _, changes = _refine(atlas, "transit_stations", _table([twin]), base=layer)
    words = next(c.words for c in changes if c.kind == "close_to_known")
    assert words.startswith("Terminal of Holmdel is 200 ft from New Terminal (given-new-terminal)")


def test_a_station_that_crosses_a_line_changes_its_municipality(atlas: Atlas) -> None:
    base = stations([(*HOLMDEL, {"station_id": "s", "name": "S", "mun_code": "0714"})])
    _, changes = _refine(atlas, "transit_stations", _table([{"station_id": "s", **PLACED}]), base=base)
    assert _kinds(changes)["municipality_changed"] == (1,)
    layer, _ = _refine(atlas, "transit_stations", _table([{"station_id": "s", **PLACED}]), base=base)
    assert layer.value("mun_code", 0) == "1320"


# -- outlines ----------------------------------------------------------------------------------------------

AIRPORT, TERMINALS = "atlantic_city_airport", "south_jersey_port_terminals"
# Between the bounds: it holds the runways, and lies in the box.
OUTLINE = shapely.box(464_000, 222_000, 477_000, 232_000)


def _outline(shape: Any = OUTLINE, crs: str | None = "EPSG:3424", **row: Any) -> Features:
    return _table([{"id": "acy", "accuracy_ft": 5, **row}], [shape], crs)


@pytest.mark.parametrize(("beyond", "expected"), [(5000.0, "yes"), (5600.0, "no"), (5280.0, "undetermined")])
def test_an_outline_of_the_airport_settles_the_aviation_district(atlas: Atlas, beyond: float, expected: str) -> None:
    x, y = 477_000 + beyond, 227_000
    lon, lat = (float(v) for v in to_lonlat(x, y))
    assert _outcome("aviation_district", (lon, lat)) == "undetermined"
    layer, changes = _refine(atlas, AIRPORT, _outline())
    assert _outcome("aviation_district", (lon, lat), layer) == expected
    assert len(layer) == 1
    assert (layer.value("bound", 0), layer.value("name", 0)) == ("exact", "Atlantic City International Airport")
    assert layer.manifest.accuracy_ft == pytest.approx(8.3)
    assert "2 rows replaced by 1 outline (acy)" in layer.manifest.source
    assert _kinds(changes) == {"rows_replaced": (1,)}


def test_an_outline_in_degrees_lands_in_the_same_place(atlas: Atlas) -> None:
    dense = shapely.segmentize(OUTLINE, 100)
    degrees = shapely.transform(dense, lambda xy: np.column_stack(to_lonlat(xy[:, 0], xy[:, 1])))
    layer, _ = _refine(atlas, AIRPORT, _outline(degrees, "EPSG:4326"))
    assert shapely.hausdorff_distance(layer.geometry(0), dense) < 0.1


def test_the_outline_of_one_terminal_leaves_the_others(atlas: Atlas) -> None:
    base = atlas.layer(TERMINALS)
    assert base is not None
    outer = next(i for i in range(len(base)) if base.key(i) == "paulsboro" and base.value("bound", i) == "outer")
    shape = shapely.buffer(base.geometry(outer), -500)
    given = _table(
        [{"name": "Paulsboro Marine Terminal", "accuracy_ft": "40", "status": "confirmed"}], [shape], "EPSG:3424"
    )
    layer, changes = _refine(atlas, TERMINALS, given)
    assert [layer.key(i) for i in range(len(layer))].count("paulsboro") == 1
    assert len(layer) == 7
    assert (layer.columns["first_vessel"][-1], layer.columns["status"][-1]) == (date(2017, 3, 3), "confirmed")
    kept = [i for i in range(len(base)) if base.key(i) != "paulsboro"]
    assert [layer.geometry(i).wkb for i in range(6)] == [base.geometry(i).wkb for i in kept]
    # One accuracy holds for all, so that nothing counts as better known than it is.
    assert layer.manifest.accuracy_ft == pytest.approx(43.3)
    assert set(_kinds(changes)) == {"rows_replaced", "accuracy_of_all"}
    again, _ = _refine(
        atlas,
        TERMINALS,
        _table([{"id": "salem", "accuracy_ft": 0}], [shapely.box(*_box(base))], "EPSG:3424"),
        base=layer,
    )
    assert again.manifest.accuracy_ft == pytest.approx(43.3)
    assert len(again) == 6


def _box(base: Layer) -> tuple[float, float, float, float]:
    index = next(i for i in range(len(base)) if base.key(i) == "salem")
    x0, y0, x1, y1 = base.geometry(index).bounds
    return x0 - 100, y0 - 100, x1 + 100, y1 + 100


def test_an_outline_that_is_not_between_the_bounds_is_told(atlas: Atlas) -> None:
    _, changes = _refine(atlas, AIRPORT, _outline(shapely.box(470_000, 222_000, 500_000, 232_000)))
    words = next(c.words for c in changes if c.kind == "beyond_bounds")
    assert "reaches beyond the outer and does not cover the inner bound" in words


BOW_TIE = shapely.Polygon([(464_000, 222_000), (477_000, 232_000), (477_000, 222_000), (464_000, 232_000)])


@pytest.mark.parametrize(
    ("given", "fault", "words"),
    [
        (_outline(crs=None), "undeclared_crs", "does not say"),
        (_outline(crs="EPSG:4267"), "unchecked_datum", "North American Datum 1927"),
        (_outline(accuracy_ft=None), "missing_uncertainty", "count as exact"),
        (_outline(accuracy_ft="good"), "bad_figure", "'good'"),
        (_outline(id="ewr"), "unknown_id", "acy"),
        (_outline(None), "null_geometry", "no geometry"),
        (_outline(shapely.Polygon()), "null_geometry", "no geometry"),
        (_outline(shapely.Point(470_000, 227_000)), "wrong_geometry", "Point"),
        (_outline(BOW_TIE), "invalid_geometry", "Self-intersection"),
        (_outline(square(585_000, 692_000, 9000)), "misplaced", "miles from all ground that can be Atlantic City"),
        (_outline(crs="EPSG:2263"), "misplaced", "miles from all ground"),
    ],
)
def test_outlines_that_cannot_be_taken(atlas: Atlas, given: Features, fault: str, words: str) -> None:
    found = _refused(atlas, AIRPORT, given)
    assert found.fault == fault
    with pytest.raises(LayerFault, match=words):
        raise found


def test_heights_of_an_outline_are_dropped_and_told(atlas: Atlas) -> None:
    layer, changes = _refine(atlas, AIRPORT, _outline(shapely.force_3d(OUTLINE, 9)))
    assert not layer.geometry(0).has_z
    assert [c.effect for c in changes if c.kind == "z_dropped"] == ["changed"]
