"""A user's rows on stations: mid-points, days and further stations, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyproj
import pytest
import shapely
from drawn import stations
from refined import HOLMDEL, kinds_of, outcome_at, refined, refined_whole, refused, table

from grownj_geo.features import Change, LayerFault, LoadOptions
from grownj_geo.findings import Findings
from grownj_geo.georeference import declared_system
from grownj_geo.units import FT_PER_FTUS, geodesic_ft, to_lonlat, to_working

if TYPE_CHECKING:
    from grownj_geo.atlas import Atlas
    from grownj_geo.features import Features
    from grownj_geo.layer import Layer

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
    assert outcome_at("transit_oriented_development", place) == "undetermined"
    lon, lat = _away(before, shift)
    row = {"station_id": ATCO, "latitude": lat, "longitude": lon, "coordinate_uncertainty_ft": 10, "source": "a survey"}
    layer, changes = refined(atlas, "transit_stations", table([row]))
    assert outcome_at("transit_oriented_development", place, layer) == expected
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
    base = atlas.layer("transit_stations")
    assert base is not None
    wanted = _away(_lonlat(base, ATCO), 50)
    x, y = pyproj.Transformer.from_crs("EPSG:4269", crs, always_xy=True).transform(*wanted)
    given = table([{"name": "ATCO", "uncertainty_ft": "10"}], [shapely.Point(x, y, 7)], pyproj.CRS(crs).to_wkt())
    layer, _ = refined(atlas, "transit_stations", given)
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
    assert outcome_at("transit_oriented_development", HOLMDEL, **counted) == "no"
    layer, changes = refined(atlas, "transit_stations", table([row]))
    assert outcome_at("transit_oriented_development", HOLMDEL, layer, **counted) == "yes"
    # By the default reading it is open whether terminals count without the Authority's list.
    assert outcome_at("transit_oriented_development", HOLMDEL, layer) == "undetermined"
    last = {name: values[-1] for name, values in layer.columns.items()}
    assert (last["station_id"], last["mode"], last["operator"]) == ("given-holmdel-terminal", "bus_terminal", "NJT")
    assert (last["mun_code"], last["county"], last["out_of_state"]) == ("1320", "Monmouth", "false")
    assert kinds_of(changes) == {"rows_added": (1,)}
    assert "1 row added" in layer.manifest.source


def test_a_station_that_closed_no_longer_counts(atlas: Atlas) -> None:
    base = atlas.layer("transit_stations")
    assert base is not None
    place = _away(_lonlat(base, ATCO), 300)
    layer, _ = refined(atlas, "transit_stations", table([{"station_id": ATCO, "closed": "2017-01-01"}]))
    assert outcome_at("transit_oriented_development", place) == "yes"
    assert outcome_at("transit_oriented_development", place, layer) == "no"
    assert outcome_at("transit_oriented_development", place, layer, day="2016-12-31") == "yes"
    assert _lonlat(layer, ATCO) == _lonlat(base, ATCO)
    found = refused(
        atlas, "transit_stations", table([{"station_id": ATCO, "closed": "2017-01-01", "opened": "2018-01-01"}])
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
    found = refused(atlas, "transit_stations", table([row]))
    assert found.fault == fault
    assert "row 1" in str(found)
    with pytest.raises(LayerFault, match=words):
        raise found


def test_a_station_out_of_state_has_no_municipality(atlas: Atlas) -> None:
    row = {**NEW, "lat": 40.85, "lon": -73.9, "out_of_state": "true"}
    layer, _ = refined(atlas, "transit_stations", table([row]))
    assert (layer.columns["mun_code"][-1], layer.columns["out_of_state"][-1]) == ("", "true")


def test_points_that_cannot_be_placed(atlas: Atlas) -> None:
    row, point = {"station_id": ATCO, "uncertainty_ft": 10}, shapely.Point(-74.9077, 39.7836)
    for shape, crs, fault in (
        (point, None, "undeclared_crs"),
        (point, "no system", "unknown_crs"),
        (point, "+proj=longlat +ellps=GRS80", "unknown_crs"),
        (point, "EPSG:5652", "datum_path"),
        (point, "EPSG:3424", "misplaced"),
        (shapely.Point(1e12, 1e12), "EPSG:26918", "misplaced"),
        (shapely.LineString([point.coords[0], (-74.9, 39.7)]), "EPSG:4326", "wrong_geometry"),
        (shapely.Point(), "EPSG:4326", "wrong_geometry"),
    ):
        assert refused(atlas, "transit_stations", table([row], [shape], crs)).fault == fault
    contradicted = {**row, "lat": 39.79, "lon": -74.9077}
    found = refused(atlas, "transit_stations", table([contradicted], [point], "EPSG:4326"))
    assert found.fault == "position_contradicted"


def _on_nad27(lonlat: tuple[float, float]) -> tuple[tuple[float, float], float]:
    """Return a place on NAD83 in the degrees of NAD27, and the feet that the way back may be off."""
    system = declared_system("EPSG:4267", Findings("drawn"))
    lon, lat = system.backward(np.column_stack(to_working(*lonlat)).reshape(1, 2))[0]
    return (float(lon), float(lat)), system.added_accuracy_ft


def _station(layer: Layer, key: str) -> int:
    return next(i for i in range(len(layer)) if layer.key(i) == key)


def _of_columns(row: dict[str, Any]) -> Features:
    """Return a row as the reader of tables gives it: its point made of its columns, whose datum nothing declares."""
    told = Change(kind="geometry_columns", effect="noted", count=1, words="Geometry was taken from lon and lat.")
    given = table([row], [shapely.Point(row["lon"], row["lat"])], "OGC:CRS84")
    return replace(given, changes=(told,))


@pytest.mark.parametrize("form", ["columns", "columns alone", "declared points", "stated points"])
def test_degrees_on_another_datum_are_shifted_and_less_accurate(atlas: Atlas, form: str) -> None:
    base = atlas.layer("transit_stations")
    assert base is not None
    wanted = _away(_lonlat(base, ATCO), 50)
    old, added = _on_nad27(wanted)
    assert geodesic_ft(*wanted, *old) > 50
    assert added > 0
    of = {"station_id": ATCO, "uncertainty_ft": 10}
    typed = {**of, "lon": old[0], "lat": old[1]}
    given, stated = {
        "columns": (_of_columns(typed), "EPSG:4267"),
        "columns alone": (table([typed]), "EPSG:4267"),
        "declared points": (table([of], [shapely.Point(old)], "EPSG:4267"), None),
        "stated points": (table([typed], [shapely.Point(old)]), "EPSG:4267"),
    }[form]
    whole = refined_whole(atlas, "transit_stations", given, options=LoadOptions(crs=stated))
    assert _lonlat(whole.layer, ATCO) == pytest.approx(wanted, abs=1e-7)
    uncertainty = whole.layer.figure("coordinate_uncertainty_ft", _station(whole.layer, ATCO))
    assert uncertainty == pytest.approx(10 + added)
    assert kinds_of(whole.changes)["uncertainty_added"] == (1,)
    assert [c.kind for c in whole.changes].count("datum_shift") == 1
    assert whole.added_accuracy_ft == added
    assert whole.crs.startswith("EPSG:4267 (NAD27): North American Datum 1927, degrees; as ")


def test_columns_without_a_stated_datum_are_on_nad83(atlas: Atlas) -> None:
    base = atlas.layer("transit_stations")
    assert base is not None
    lon, lat = _away(_lonlat(base, ATCO), 50)
    row = {"station_id": ATCO, "uncertainty_ft": 10, "lon": lon, "lat": lat}
    for given in (_of_columns(row), table([row])):
        whole = refined_whole(atlas, "transit_stations", given)
        assert _lonlat(whole.layer, ATCO) == (lon, lat)
        assert whole.layer.figure("coordinate_uncertainty_ft", _station(whole.layer, ATCO)) == 10
        assert whole.crs.endswith("as its columns are named") or whole.crs.endswith("as the columns are named")
        again = refined_whole(atlas, "transit_stations", given, options=LoadOptions(crs="EPSG:4326"))
        assert _lonlat(again.layer, ATCO) == (lon, lat)


def test_a_stated_system_that_contradicts_is_refused(atlas: Atlas) -> None:
    point = shapely.Point(-74.9077, 39.7836)
    row = {"station_id": ATCO, "uncertainty_ft": 10}
    typed = {**row, "lon": point.x, "lat": point.y}
    for given, stated, fault in (
        (table([row], [point], "EPSG:4326"), "EPSG:3424", "crs_contradiction"),
        (table([row], [point], "EPSG:4326"), "EPSG:4267", "crs_contradiction"),
        (_of_columns(typed), "EPSG:3424", "crs_contradiction"),
        (table([typed]), "EPSG:3424", "crs_contradiction"),
        (table([typed]), "EPSG:99999", "unknown_crs"),
        (table([{"station_id": ATCO, "closed": "2017-01-01"}]), "EPSG:3424", "option_not_used"),
    ):
        assert refused(atlas, "transit_stations", given, options=LoadOptions(crs=stated)).fault == fault
    agreed = refined_whole(
        atlas, "transit_stations", table([row], [point], "EPSG:4326"), options=LoadOptions(crs="EPSG:4269")
    )
    assert _lonlat(agreed.layer, ATCO) == (point.x, point.y)


def test_international_feet_are_told(atlas: Atlas) -> None:
    base = atlas.layer("transit_stations")
    assert base is not None
    wkt = pyproj.CRS("EPSG:3424").to_wkt().replace("US survey foot", "foot").replace("0.304800609601219", "0.3048")
    x, y = to_working(*_lonlat(base, ATCO))
    # The false easting of 492,125 is in the unit of the system.
    point = shapely.Point((x - 492_125) * FT_PER_FTUS + 492_125, y * FT_PER_FTUS)
    given = table([{"name": "Atco", "uncertainty_ft": "10"}], [point], wkt)
    whole = refined_whole(atlas, "transit_stations", given)
    assert "international_foot" in kinds_of(whole.changes)
    assert "international feet" in whole.crs
    assert _lonlat(whole.layer, ATCO) == pytest.approx(_lonlat(base, ATCO), abs=1e-7)


def test_a_stated_uncertainty_is_that_of_every_given_position(atlas: Atlas) -> None:
    point = shapely.Point(-74.9077, 39.7836)
    rows = [{"station_id": ATCO, "uncertainty_ft": ""}, {"station_id": "njt-rail-avenel", "closed": "2017-01-01"}]
    layer, changes = refined(atlas, "transit_stations", table(rows, [point, None], "EPSG:4326"), accuracy_ft=12.5)
    assert layer.figure("coordinate_uncertainty_ft", _station(layer, ATCO)) == 12.5
    avenel, base = _station(layer, "njt-rail-avenel"), atlas.layer("transit_stations")
    assert base is not None
    assert layer.value("closed", avenel) == "2017-01-01"
    assert layer.value("coordinate_uncertainty_ft", avenel) == base.value("coordinate_uncertainty_ft", avenel)
    assert kinds_of(changes)["constant_filled"] == (1, 2)
    rows[0]["uncertainty_ft"] = "12"
    found = refused(atlas, "transit_stations", table(rows, [point, None], "EPSG:4326"), accuracy_ft=12.5)
    assert found.fault == "constant_contradicts"
    options = LoadOptions(constants={"accuracy_ft": "12"})
    found = refused(atlas, "transit_stations", table(rows[1:]), accuracy_ft=12.5)
    assert found.fault == "option_not_used"
    found = refused(
        atlas, "transit_stations", table(rows, [point, None], "EPSG:4326"), accuracy_ft=12.5, options=options
    )
    assert (found.fault, "stated as '12' and as '12.5'" in str(found)) == ("constant_contradicts", True)


def test_a_mode_tells_stations_of_one_name_apart(atlas: Atlas) -> None:
    layer, _ = refined(
        atlas, "transit_stations", table([{"name": "newport", "mode": "Rapid transit", "closed": "2017-01-01"}])
    )
    closed = [layer.key(i) for i in range(len(layer)) if layer.value("closed", i) == "2017-01-01"]
    assert closed == ["path-newport"]


def test_one_row_for_a_station(atlas: Atlas) -> None:
    rows = [{"station_id": ATCO, "closed": "2017-01-01"}, {"name": "Atco", "closed": "2018-01-01"}]
    assert refused(atlas, "transit_stations", table(rows)).fault == "duplicate_row"
    assert refused(atlas, "transit_stations", table([NEW, NEW])).fault == "duplicate_row"
    layer, _ = refined(atlas, "transit_stations", table([NEW]))
    with pytest.raises(LayerFault) as raised:
        refined(atlas, "transit_stations", table([{**NEW, "station_id": "", "name": "New-Terminal"}]), base=layer)
    assert raised.value.fault == "duplicate_row"


def test_a_station_that_is_perhaps_there_already_is_told(atlas: Atlas) -> None:
    layer, _ = refined(atlas, "transit_stations", table([NEW]))
    lon, lat = _away(HOLMDEL, 200)
    twin = {**NEW, "name": "Terminal of Holmdel", "lat": lat, "lon": lon}
    _, changes = refined(atlas, "transit_stations", table([twin]), base=layer)
    words = next(c.words for c in changes if c.kind == "close_to_known")
    assert words.startswith("Terminal of Holmdel is 200 ft from New Terminal (given-new-terminal)")


def test_a_station_that_crosses_a_line_changes_its_municipality(atlas: Atlas) -> None:
    base = stations([(*HOLMDEL, {"station_id": "s", "name": "S", "mun_code": "0714"})])
    _, changes = refined(atlas, "transit_stations", table([{"station_id": "s", **PLACED}]), base=base)
    assert kinds_of(changes)["municipality_changed"] == (1,)
    layer, _ = refined(atlas, "transit_stations", table([{"station_id": "s", **PLACED}]), base=base)
    assert layer.value("mun_code", 0) == "1320"
