"""The data that ships: complete, sourced, where it should be, and what the manifests say."""

from __future__ import annotations

import csv
import hashlib
import math
import re
from datetime import date
from pathlib import Path
from typing import get_args

import geopandas as gpd
import numpy as np
import pyproj
import pytest
import shapely
import yaml

from grownj_geo.manifest import Status, load_manifests

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "data"
SHARED = ROOT.parent / "shared"
TABLES = sorted(path.relative_to(DATA).as_posix() for path in DATA.rglob("*.csv"))
LAYERS = sorted(path.name for path in DATA.glob("*.parquet"))
SHIPPED = [
    "atlantic_city_airport",
    "counties",
    "designations",
    "municipalities",
    "port_of_new_york_district",
    "revitalization_index",
    "south_jersey_port_terminals",
    "transit_stations",
]
DATES = {
    "designations.csv": ("from_earliest", "from_latest", "until_exclusive"),
    "transit_stations.csv": ("opened", "closed"),
}
SQFT_PER_SQUARE_MILE = 5280.0**2
TO_WORKING = pyproj.Transformer.from_crs("EPSG:4269", "EPSG:3424", always_xy=True)
GEOD = pyproj.Geod(ellps="GRS80")

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared facts folder is not beside the repository")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def point(lon: float, lat: float) -> shapely.Point:
    return shapely.Point(*TO_WORKING.transform(lon, lat))


@pytest.fixture(scope="module")
def layers() -> dict[str, gpd.GeoDataFrame]:
    return {name.removesuffix(".parquet"): gpd.read_parquet(DATA / name) for name in LAYERS}


# --- tables --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES)
def test_every_row_has_source_and_status(name: str) -> None:
    words = set(get_args(Status))
    table = rows(DATA / name)
    assert table
    assert all(row["source"].strip() for row in table)
    assert {row["status"] for row in table} <= words


@pytest.mark.parametrize("name", TABLES)
def test_every_source_is_explained(name: str) -> None:
    known = {row["id"] for row in rows(DATA / "sources.csv")}
    used = {source for row in rows(DATA / name) for source in row["source"].split(";")}
    assert used <= known


def test_sources_of_places_and_polygons_are_explained(layers: dict[str, gpd.GeoDataFrame]) -> None:
    known = {row["id"] for row in rows(DATA / "sources.csv")}
    facts = yaml.safe_load((DATA / "source" / "airport_and_terminals.yaml").read_text(encoding="utf-8"))
    used = {s for fact in [facts["airport"], *facts["terminals"]] for s in fact["source"].split(";")}
    used |= {s for frame in layers.values() for text in frame["source"] for s in text.split(";")}
    assert used <= known


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_utf8_with_plain_line_ends(name: str) -> None:
    content = (DATA / name).read_bytes()
    content.decode("utf-8")
    assert b"\r" not in content
    assert content.endswith(b"\n")
    assert not content.startswith(b"\xef\xbb\xbf")


@pytest.mark.parametrize("name", DATES)
def test_dates_are_iso_or_empty(name: str) -> None:
    for row in rows(DATA / name):
        for column in DATES[name]:
            if row[column]:
                assert date.fromisoformat(row[column]).isoformat() == row[column]


def test_codes_keep_their_zeros_and_are_municipalities(layers: dict[str, gpd.GeoDataFrame]) -> None:
    known = set(layers["municipalities"]["mun_code"])
    for name in ("designations.csv", "transit_stations.csv", "revitalization_index.csv"):
        used = {row["mun_code"] for row in rows(DATA / name)}
        assert used - {""} <= known
    without = [row for row in rows(DATA / "designations.csv") if not row["mun_code"]]
    assert {row["designation"] for row in without} == {"southern_eight_county"}


# --- stations ------------------------------------------------------------------------------------------


def test_stations_have_the_counts_that_the_rules_read() -> None:
    stations = {row["station_id"]: row for row in rows(DATA / "transit_stations.csv")}
    assert len(stations) == 275
    secaucus, hoboken = stations["njt-rail-secaucus-junction"], stations["njt-rail-hoboken-terminal"]
    assert (secaucus["njt_rail_lines_n"], secaucus["njt_rail_lines_merged_n"]) == ("9", "7")
    assert (hoboken["njt_rail_lines_n"], hoboken["njt_rail_lines_merged_n"]) == ("6", "4")
    abroad = {key for key, row in stations.items() if row["out_of_state"] == "true"}
    assert abroad == {"njt-rail-suffern-ny", "njt-rail-pearl-river-ny"}
    tied = {key for key, row in stations.items() if row["operator_tie"] == "ownership_unconfirmed"}
    assert tied == {"ferry-hoboken-njt-terminal", "ferry-port-imperial"}


def test_interstate_stations_are_those_where_amtrak_calls() -> None:
    stations = rows(DATA / "transit_stations.csv")
    for row in stations:
        assert row["interstate"] == ("true" if "Amtrak" in row["lines_other_operators"] else "false")
    assert {row["station_id"] for row in stations if row["interstate"] == "true"} == {
        "njt-rail-metropark",
        "njt-rail-new-brunswick",
        "njt-rail-newark-liberty-international-airport-station",
        "njt-rail-newark-penn-station",
        "njt-rail-princeton-junction",
        "njt-rail-trenton-transit-center",
    }


def test_a_stations_status_follows_its_number_of_sources() -> None:
    expected = {"0": "provisional", "1": "secondary", "2": "derived"}
    for row in rows(DATA / "transit_stations.csv"):
        assert row["status"] == expected[row["n_independent_sources"]]


def test_a_stations_days_are_in_order_and_vague_ones_are_noted() -> None:
    stations = {row["station_id"]: row for row in rows(DATA / "transit_stations.csv")}
    for row in stations.values():
        assert not (row["opened"] and row["closed"]) or row["opened"] < row["closed"]
    assert stations["ferry-belford"]["opened"] == "2002-01-01"
    assert "only the year" in stations["ferry-belford"]["notes"]
    assert stations["ferry-south-amboy"]["opened"] == "2020-01-01"
    assert "day not known" in stations["ferry-south-amboy"]["notes"]


def test_stations_lie_in_or_beside_the_municipality_that_they_name(
    layers: dict[str, gpd.GeoDataFrame],
) -> None:
    towns = layers["municipalities"].set_index("mun_code").geometry
    for row in rows(DATA / "transit_stations.csv"):
        if row["out_of_state"] == "true":
            assert not row["mun_code"]
            continue
        place = point(float(row["longitude"]), float(row["latitude"]))
        # Ferry slips lie over water that belongs to no municipality.
        limit = 300.0 if row["mode"] == "ferry" else 0.0
        assert shapely.distance(place, towns[row["mun_code"]]) <= limit, row["station_id"]


# --- polygons ------------------------------------------------------------------------------------------


def test_counts_and_keys(layers: dict[str, gpd.GeoDataFrame]) -> None:
    towns, counties = layers["municipalities"], layers["counties"]
    assert (len(towns), len(counties)) == (565, 21)
    for frame, column, digits in ((towns, "mun_code", 4), (counties, "county_code", 2)):
        assert frame[column].is_unique
        assert frame[column].is_monotonic_increasing
        assert all(re.fullmatch(rf"\d{{{digits}}}", code) for code in frame[column])
    assert (towns["mun_code"].str[:2] == towns["county_code"]).all()
    assert set(zip(towns["county_code"], towns["county"], strict=True)) == set(
        zip(counties["county_code"], counties["county"], strict=True)
    )
    assert (towns["mun_code"] != towns["dca_code"]).sum() == 99


def test_geometries_are_valid_polygons_in_the_working_crs(layers: dict[str, gpd.GeoDataFrame]) -> None:
    for frame in layers.values():
        assert frame.crs.to_epsg() == 3424
        assert frame.geometry.is_valid.all()
        assert set(frame.geometry.geom_type) <= {"Polygon", "MultiPolygon"}
        coordinates = shapely.get_coordinates(frame.geometry.to_numpy())
        assert np.array_equal(coordinates * 128, np.round(coordinates * 128))


def test_neighbours_share_their_lines(layers: dict[str, gpd.GeoDataFrame]) -> None:
    shapes = layers["municipalities"].geometry.to_numpy()
    assert abs(shapely.area(shapes).sum() - shapely.area(shapely.union_all(shapes))) < 10.0


def test_counties_are_their_municipalities(layers: dict[str, gpd.GeoDataFrame]) -> None:
    towns = layers["municipalities"]
    parts = towns.geometry.area.groupby(towns["county_code"]).sum()
    whole = layers["counties"].set_index("county_code").geometry.area
    assert (parts - whole).abs().max() < 10.0
    holes = shapely.get_num_interior_rings(shapely.get_parts(layers["counties"].geometry.to_numpy())).sum()
    assert holes == 1  # New York's part of Ellis Island


def test_pine_valley_ends_with_its_merger(layers: dict[str, gpd.GeoDataFrame]) -> None:
    towns = layers["municipalities"].set_index("mun_code")
    ended = towns["valid_until"].dropna()
    assert {code: str(day) for code, day in ended.items()} == {"0429": "2022-01-01"}
    assert towns["valid_from"].isna().all()
    assert load_manifests()["municipalities"].valid_until is None
    assert "0428" in towns.loc["0429", "note"]
    assert "0429" in towns.loc["0428", "note"]


@pytest.mark.parametrize(
    ("lon", "lat", "code"),
    [
        (-75.1196, 39.9448, "0408"),  # Camden City Hall
        (-74.1641, 40.7344, "0714"),  # Newark Penn Station
        (-74.7699, 40.2204, "1111"),  # State House, Trenton
        (-74.4387, 39.3560, "0102"),  # Boardwalk Hall, Atlantic City
        (-74.6593, 40.3487, "1114"),  # Nassau Hall, Princeton
        (-74.0758, 40.7614, "0909"),  # Secaucus Junction
        (-74.9060, 38.9351, "0502"),  # Cape May
        (-74.4518, 40.4964, "1213"),  # New Brunswick station's street: 1214 is the other code
    ],
)
def test_known_places(layers: dict[str, gpd.GeoDataFrame], lon: float, lat: float, code: str) -> None:
    towns = layers["municipalities"]
    assert list(towns.loc[towns.intersects(point(lon, lat)), "mun_code"]) == [code]


# --- the Port of New York District ---------------------------------------------------------------------


def isometric(lat: float) -> float:
    """Latitude stretched as on an ellipsoidal Mercator map, by the textbook formula."""
    e, phi = math.sqrt(GEOD.es), math.radians(lat)
    return math.asinh(math.tan(phi)) - e * math.atanh(e * math.sin(phi))


def rhumb(start: tuple[float, float], end: tuple[float, float]) -> tuple[float, float]:
    """Return bearing in degrees and length in miles."""
    east = math.radians(end[0] - start[0])
    bearing = math.degrees(math.atan2(east, isometric(end[1]) - isometric(start[1]))) % 360
    # Over these lengths the geodesic is shorter by well under 0.01 mile.
    return bearing, GEOD.inv(*start, *end)[2] / 1609.344


def stated_bearing(course: str) -> float:
    if course in {"due S", "due E"}:
        return {"due S": 180.0, "due E": 90.0}[course]
    found = re.fullmatch(r"([NS])(\d+) (\d+)'([EW])", course)
    assert found is not None, course
    angle = int(found[2]) + int(found[3]) / 60
    return {"NE": angle, "SE": 180 - angle, "SW": 180 + angle, "NW": 360 - angle}[found[1] + found[4]]


def compact_points() -> dict[str, tuple[float, float]]:
    return {
        row["point"]: (
            -(float(row["lon_deg_west"]) + float(row["lon_min_west"]) / 60),
            float(row["lat_deg"]) + float(row["lat_min"]) / 60,
        )
        for row in rows(DATA / "source" / "port_of_new_york_district.csv")
    }


def test_sides_have_the_stated_courses_and_lengths() -> None:
    points = compact_points()
    stated = [row for row in rows(DATA / "source" / "port_of_new_york_district.csv") if row["stated_miles"]]
    assert len(stated) == 10
    for row in stated:
        bearing, miles = rhumb(points[row["point"]], points[row["next_point"]])
        assert abs(miles - float(row["stated_miles"])) < 0.02, row["point"]
        minutes = 1.0 if row["side_status"] == "confirmed" else 3.0
        assert abs(bearing - stated_bearing(row["stated_course"])) * 60 < minutes, row["point"]


def test_the_margin_is_wider_where_points_are_not_confirmed() -> None:
    wide = {
        row["point"]
        for row in rows(DATA / "source" / "port_of_new_york_district.csv")
        if row["side_tolerance_m"] == "400"
    }
    assert wide == {"C", "D", "E", "F", "G"}


def test_the_district_is_drawn_through_its_points(layers: dict[str, gpd.GeoDataFrame]) -> None:
    nominal = layers["port_of_new_york_district"].set_index("bound").geometry["nominal"]
    for place in compact_points().values():
        assert shapely.distance(nominal.exterior, point(*place)) < 0.02
    # I to J follows the parallel: half way it is still at 40 24, where a straight line in feet is not.
    assert shapely.distance(nominal.exterior, point(-74.025, 40.4)) < 0.1


def test_the_district_has_the_published_area(layers: dict[str, gpd.GeoDataFrame]) -> None:
    shapes = layers["port_of_new_york_district"].set_index("bound").geometry
    miles = shapes.area / SQFT_PER_SQUARE_MILE
    assert miles["nominal"] == pytest.approx(1500, abs=10)
    assert miles["inner"] < miles["nominal"] < miles["outer"]
    assert shapely.contains_properly(shapes["outer"], shapes["nominal"])
    assert shapely.contains_properly(shapes["nominal"], shapes["inner"])
    # No side's margin is narrower than 200 m or wider than 400 m.
    gap = shapely.distance(shapely.points(shapely.get_coordinates(shapes["inner"])), shapes["nominal"].exterior)
    assert gap.min() * 0.3048 == pytest.approx(200, abs=0.1)
    assert gap.max() * 0.3048 <= 400.1


@pytest.mark.parametrize(
    ("lon", "lat", "inner", "outer"),
    [
        (-73.9701, 40.8509, True, True),  # Fort Lee
        (-74.1641, 40.7344, True, True),  # Newark Penn Station
        (-74.0758, 40.7614, True, True),  # Secaucus Junction
        (-74.6593, 40.3487, False, False),  # Princeton
        (-74.4815, 40.7968, False, False),  # Morristown
        (-75.1196, 39.9448, False, False),  # Camden
        (-74.1000, 40.4000, False, True),  # on the side from I to J
    ],
)
def test_places_in_and_out_of_the_district(
    layers: dict[str, gpd.GeoDataFrame], lon: float, lat: float, *, inner: bool, outer: bool
) -> None:
    shapes = layers["port_of_new_york_district"].set_index("bound").geometry
    place = point(lon, lat)
    assert (bool(shapes["inner"].intersects(place)), bool(shapes["outer"].intersects(place))) == (
        inner,
        outer,
    )


# --- the airport and the terminals ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["atlantic_city_airport", "south_jersey_port_terminals"])
def test_the_outer_bound_contains_the_inner(layers: dict[str, gpd.GeoDataFrame], name: str) -> None:
    frame = layers[name]
    for _, pair in frame.groupby("id"):
        shapes = pair.set_index("bound").geometry
        assert set(shapes.index) == {"inner", "outer"}
        assert shapely.contains_properly(shapes["outer"], shapes["inner"])


def test_disks_bound_the_true_circles(layers: dict[str, gpd.GeoDataFrame]) -> None:
    facts = yaml.safe_load((DATA / "source" / "airport_and_terminals.yaml").read_text(encoding="utf-8"))
    frame = layers["south_jersey_port_terminals"].set_index(["id", "bound"]).geometry
    assert len(frame) == 8
    azimuths = np.linspace(0, 360, 1441)
    for fact in facts["terminals"]:
        lon, lat = (np.full(azimuths.size, value) for value in fact["centre"])
        for bound in ("inner", "outer"):
            metres = fact[f"{bound}_radius_miles"] * 1609.344 or 0.3048
            x, y = TO_WORKING.transform(*GEOD.fwd(lon, lat, azimuths, np.full(azimuths.size, metres))[:2])
            circle, disk = shapely.polygons(np.column_stack([x, y])), frame[fact["id"], bound]
            if bound == "outer":
                assert shapely.contains(disk, circle)
            else:
                # Half a quantum of rounding each way.
                assert shapely.contains(shapely.buffer(circle, 1 / 128), disk)
            assert disk.area == pytest.approx(circle.area, rel=1e-3)


def test_only_paulsboro_waits_for_a_vessel(layers: dict[str, gpd.GeoDataFrame]) -> None:
    frame = layers["south_jersey_port_terminals"].dropna(subset=["first_vessel"])
    assert {(i, str(day)) for i, day in zip(frame["id"], frame["first_vessel"], strict=True)} == {
        ("paulsboro", "2017-03-03")
    }


def test_the_airports_mile_stays_in_its_county(layers: dict[str, gpd.GeoDataFrame]) -> None:
    counties = layers["counties"]
    outer = layers["atlantic_city_airport"].set_index("bound").geometry["outer"]
    assert list(counties.loc[counties.distance(outer) <= 5281, "county"]) == ["Atlantic"]


# --- manifests -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("layer", SHIPPED)
def test_the_manifest_describes_its_file(layer: str) -> None:
    manifest = load_manifests()[layer]
    assert manifest.ships
    assert manifest.file is not None
    content = (DATA / manifest.file).read_bytes()
    assert hashlib.sha256(content).hexdigest() == manifest.sha256
    if manifest.file.endswith(".csv"):
        table = rows(DATA / manifest.file)
        n, columns = len(table), set(table[0])
    else:
        frame = gpd.read_parquet(DATA / manifest.file)
        n, columns = len(frame), set(frame.columns)
    assert n == manifest.least_features
    named = {
        manifest.key_field,
        manifest.name_field,
        manifest.uncertainty_field,
        manifest.bound_field,
        manifest.from_field,
        manifest.until_field,
        *manifest.required_fields,
    }
    assert named - {None} <= columns


def test_every_shipped_layer_is_tested_and_no_other_file_has_a_manifest() -> None:
    shipped = {layer: manifest.file for layer, manifest in load_manifests().items() if manifest.ships}
    assert sorted(shipped) == SHIPPED
    files = {name for name in (*TABLES, *LAYERS) if "/" not in name}
    assert set(shipped.values()) == files - {"sources.csv"}


def test_extents_hold_what_the_bounds_reach(layers: dict[str, gpd.GeoDataFrame]) -> None:
    counties, manifests = layers["counties"], load_manifests()
    reach = {"port_of_new_york_district": 0.0, "south_jersey_port_terminals": 15 * 5280 + 2.0}
    for name, feet in reach.items():
        outer = shapely.union_all(layers[name].geometry[layers[name]["bound"] == "outer"].to_numpy())
        reached = set(counties.loc[counties.distance(outer) <= feet, "county"])
        assert reached == set(manifests[name].extent.counties or ())


# --- the shared facts ----------------------------------------------------------------------------------


@pytest.mark.shared
@needs_shared
def test_municipalities_agree_with_the_shared_copy(layers: dict[str, gpd.GeoDataFrame]) -> None:
    other = gpd.read_parquet(SHARED / "data" / "nj_municipalities_njogis2021.parquet").set_index("mun_code")
    shapes = shapely.transform(
        shapely.make_valid(other.geometry.to_numpy(), method="structure"),
        lambda xy: np.column_stack(TO_WORKING.transform(xy[:, 0], xy[:, 1])),
    )
    ours = layers["municipalities"].set_index("mun_code").loc[other.index]
    assert np.abs(ours.geometry.area.to_numpy() / shapely.area(shapes) - 1).max() < 1e-5
    assert (ours["name"] == other["mun_label"]).all()


@pytest.mark.shared
@needs_shared
def test_designations_agree_with_the_shared_facts() -> None:
    facts, ours = rows(SHARED / "facts" / "municipality_designations.csv"), rows(DATA / "designations.csv")
    assert len(facts) == len(ours)
    for fact, own in zip(facts, ours, strict=True):
        filled = {"source", "status_note"} if not fact["source"] else set()
        assert {k: v for k, v in fact.items() if k not in filled} == {k: v for k, v in own.items() if k not in filled}


@pytest.mark.shared
@needs_shared
def test_stations_agree_with_the_shared_facts() -> None:
    facts, ours = rows(SHARED / "facts" / "transit_stations.csv"), rows(DATA / "transit_stations.csv")
    rewritten = {"source", "notes", "opened", "coordinate_uncertainty_m", "boundary_m"}
    for fact, own in zip(facts, ours, strict=True):
        if fact["mode"] == "commuter_rail" and not fact["complex_njt_rail_and_light_rail_lines_n"]:
            # A station that is no part of a complex has its own lines as the complex's.
            fact["complex_njt_rail_and_light_rail_lines_n"] = fact["njt_rail_lines_n"]
        assert {k: own[k] for k in fact.keys() - rewritten} == {k: fact[k] for k in fact.keys() - rewritten}
        feet = float(fact["coordinate_uncertainty_m"]) / 0.3048
        assert float(own["coordinate_uncertainty_ft"]) == pytest.approx(feet, abs=0.051)
        if len(fact["opened"]) != 4 and own["station_id"] != "ferry-south-amboy":
            assert own["opened"] == fact["opened"]


@pytest.mark.shared
@needs_shared
def test_the_compacts_points_agree_with_the_shared_facts() -> None:
    points = compact_points()
    for fact in rows(SHARED / "facts" / "port_of_new_york_district.csv"):
        lon, lat = points[fact["point"]]
        assert not fact["lon_dd"] or float(fact["lon_dd"]) == pytest.approx(lon, abs=1e-6)
        assert not fact["lat_dd"] or float(fact["lat_dd"]) == pytest.approx(lat, abs=1e-6)


@pytest.mark.shared
@needs_shared
def test_the_airport_and_terminals_agree_with_the_shared_facts() -> None:
    theirs = yaml.safe_load((SHARED / "facts" / "airport_and_terminals.yaml").read_text(encoding="utf-8"))
    ours = yaml.safe_load((DATA / "source" / "airport_and_terminals.yaml").read_text(encoding="utf-8"))
    for key in ("inner", "outer_box"):
        assert ours["airport"][key] == theirs["aviation_district"][key]
    facts = {fact["id"]: fact for fact in theirs["south_jersey_port_terminals"]["terminals"]}
    assert set(facts) == {own["id"] for own in ours["terminals"]}
    for own in ours["terminals"]:
        for key in ("name", "centre", "inner_radius_miles", "outer_radius_miles", "status"):
            assert own[key] == facts[own["id"]][key]
        assert str(own["first_vessel"]) == str(facts[own["id"]].get("first_vessel"))
