"""Coordinate systems as files declare them, and the way to the working CRS."""

from __future__ import annotations

import numpy as np
import pyproj
import pytest
import shapely
from drawn import CAMDEN, NEWARK, around

from grownj_geo.features import LayerFault
from grownj_geo.findings import Findings
from grownj_geo.georeference import Georeference, agree, declared_system, project, stated_system
from grownj_geo.units import to_working, to_working_geometry

NEWARK_XY = np.array([[float(v) for v in to_working(*NEWARK)]])
SURVEY_WKT = pyproj.CRS("EPSG:3424").to_wkt("WKT1_ESRI")
# The same with the other foot: the origin written in that foot, and at 150,000 metres.
INTERNATIONAL_WKT = SURVEY_WKT.replace('UNIT["US survey foot",0.304800609601219]', 'UNIT["Foot",0.3048]')
INTERNATIONAL_METRES_WKT = pyproj.CRS(
    "+proj=tmerc +lat_0=38.83333333333334 +lon_0=-74.5 +k=0.9999 +x_0=150000 +datum=NAD83 +units=ft"
).to_wkt()


def _system(text: str) -> tuple[Georeference, Findings]:
    found = Findings("areas.shp")
    return declared_system(text, found), found


def _fault(text: str) -> LayerFault:
    with pytest.raises(LayerFault) as caught:
        _system(text)
    return caught.value


@pytest.mark.parametrize(
    "text", ["EPSG:3424", "ESRI:102711", "EPSG:6527", SURVEY_WKT, pyproj.CRS("EPSG:3424").to_wkt()]
)
def test_state_plane_survey_feet_are_the_working_crs_however_they_are_declared(text: str) -> None:
    system, found = _system(text)
    assert system.is_working
    assert "US survey feet of 0.3048006096 m" in system.words
    shapes = np.array([around(NEWARK, 1234.567)])
    assert project(shapes, system, found)[0] is shapes[0]
    assert not found.changes


@pytest.mark.parametrize(
    ("text", "degrees", "straight"),
    [
        ("EPSG:32111", False, True),
        ("ESRI:102311", False, True),
        ("EPSG:26918", False, False),
        ("EPSG:3857", False, False),
        ("EPSG:4326", True, False),
        ("EPSG:4269", True, False),
        ("OGC:CRS84", True, False),
        ("EPSG:6318", True, False),
    ],
)
def test_systems_on_nad83_and_wgs84_lead_to_one_place_without_a_change_of_datum(
    text: str,
    degrees: bool,  # noqa: FBT001
    straight: bool,  # noqa: FBT001
) -> None:
    system, found = _system(text)
    assert (system.is_degrees, system.keeps_straight, system.is_working) == (degrees, straight, False)
    assert system.added_accuracy_ft == 0
    assert not found.changes
    own = system.backward(NEWARK_XY)
    if degrees:
        assert own[0] == pytest.approx(NEWARK, abs=1e-12)
    assert np.abs(system.forward(own) - NEWARK_XY).max() < 1e-6


@pytest.mark.parametrize("text", ["EPSG:32111", "EPSG:26918", "EPSG:4269"])
def test_the_way_agrees_with_the_one_of_sites(text: str) -> None:
    system, found = _system(text)
    drawn = shapely.transform(around(CAMDEN, 3000.0), system.backward)
    ours = project(np.array([drawn]), system, found)[0]
    theirs = to_working_geometry(drawn, crs=text)
    assert shapely.hausdorff_distance(ours, theirs) < 1e-6


@pytest.mark.parametrize(("text", "east"), [(INTERNATIONAL_WKT, -0.19), (INTERNATIONAL_METRES_WKT, -1.17)])
def test_the_international_foot_is_honoured_and_told(text: str, east: float) -> None:
    system, found = _system(text)
    assert system.code != "EPSG:3424"
    assert "international feet of 0.3048 m" in system.words
    assert [(change.kind, change.effect) for change in found.changes] == [("international_foot", "noted")]
    assert found.changes[0].words.startswith(f"Its coordinates are in international feet, as {system.name} says.")
    moved = (system.forward(NEWARK_XY) - NEWARK_XY)[0]
    # Two parts in a million of what lies between the place and the origin, which may itself be elsewhere.
    assert moved == pytest.approx([east, -692_615 * 2e-6], abs=0.01)


def test_nad27_is_brought_over_by_an_operation_of_known_accuracy_or_refused() -> None:
    try:
        system, found = _system("EPSG:32011")
    except LayerFault as fault:
        assert fault.fault == "datum_path"  # noqa: PT017 - either is right, by what PROJ has on the machine
        return
    change = found.changes[0]
    assert (change.kind, change.effect) == ("datum_shift", "noted")
    assert f"{system.added_accuracy_ft:.1f} ft" in change.words
    assert 0 < system.added_accuracy_ft < 50
    # The datums lie about 118 ft apart in New Jersey, NAD83's longitudes to the east.
    degrees, _ = _system("EPSG:4267")
    shifted = degrees.forward(np.array([NEWARK]))[0] - NEWARK_XY[0]
    assert abs(float(np.hypot(*shifted)) - 118) <= system.added_accuracy_ft
    assert shifted[0] > 70


@pytest.mark.parametrize("text", ["EPSG:4230", "EPSG:6322", "EPSG:3785"])
def test_a_datum_without_a_known_way_is_refused(text: str) -> None:
    fault = _fault(text)
    assert fault.fault == "datum_path"
    assert text in str(fault)
    assert "EPSG:3424" in str(fault)


def test_a_datum_without_a_name_is_refused() -> None:
    fault = _fault(pyproj.CRS("+proj=longlat +ellps=GRS80").to_wkt())
    assert fault.fault == "datum_path"
    assert "Unknown based on GRS 1980" in str(fault)


def test_a_null_shift_bound_to_a_nameless_datum_says_that_it_is_wgs84() -> None:
    text = "+proj=tmerc +lat_0=38.8333333333333 +lon_0=-74.5 +k=0.9999 +x_0=150000 +ellps=GRS80 +towgs84=0,0,0 +units=m"
    system, found = _system(pyproj.CRS(text).to_wkt())
    assert [change.kind for change in found.changes] == ["bound_shift"]
    assert system.backward(NEWARK_XY)[0] == pytest.approx(NEWARK_XY[0] * 1200 / 3937, abs=1e-6)
    assert _fault(pyproj.CRS(text.replace("0,0,0", "1,2,3")).to_wkt()).fault == "datum_path"


def test_heights_are_left_aside_and_told() -> None:
    system, found = _system("EPSG:3424+6360")
    assert system.is_working
    assert [change.kind for change in found.changes] == ["heights_left_aside"]
    assert "NAVD88" in found.changes[0].words


@pytest.mark.parametrize("text", ["EPSG:5703", "EPSG:4978"])
def test_a_system_without_x_and_y_is_refused(text: str) -> None:
    assert _fault(text).fault == "no_horizontal_crs"


@pytest.mark.parametrize(
    "text",
    ["", "rubbish", "EPSG:999999", "PROJCS[broken", "+proj=longlat +datum=WGS84", "NAD83 / New Jersey", "/etc/passwd"],
)
def test_what_is_no_declaration_is_refused(text: str) -> None:
    assert _fault(text).fault == "unknown_crs"


def test_a_stated_system_may_repeat_the_declared_one_and_not_contradict_it() -> None:
    found = Findings("areas.shp")
    agree(declared_system("EPSG:4326", found), "4269", found)
    agree(declared_system(SURVEY_WKT, found), "EPSG:3424", found)
    for declared, stated in ((SURVEY_WKT, "EPSG:32111"), (INTERNATIONAL_WKT, "EPSG:3424"), ("EPSG:4326", "3424")):
        with pytest.raises(LayerFault, match="--crs says") as caught:
            agree(declared_system(declared, Findings("a")), stated, Findings("a"))
        assert caught.value.fault == "crs_contradiction"


def test_a_stated_system_is_a_code() -> None:
    assert stated_system("3424", Findings("a")).is_working
    with pytest.raises(LayerFault, match="expected a code") as caught:
        stated_system("feet", Findings("a"))
    assert caught.value.fault == "unknown_crs"


def test_long_sides_are_cut_before_they_bend() -> None:
    system, found = _system("EPSG:4326")
    long = shapely.box(-75.0, 39.6, -74.3, 40.2)
    shape = project(np.array([long]), system, found)[0]
    middle = np.array([[-74.65, 40.2]])
    assert shapely.Point(system.forward(middle)[0]).distance(shape.boundary) < 0.1
    straight = shapely.transform(long, system.forward)
    assert shapely.Point(system.forward(middle)[0]).distance(straight.boundary) > 100


def test_sides_without_end_are_refused() -> None:
    system, found = _system("EPSG:26918")
    with pytest.raises(LayerFault, match="8,000,000") as caught:
        project(np.array([shapely.LineString([(0, 0), (1e10, 0)])]), system, found)
    assert caught.value.fault == "too_long"


BOW = shapely.Polygon([(585_000, 690_000), (588_000, 693_000), (588_000, 690_000), (585_000, 693_000)])


@pytest.mark.parametrize("text", ["EPSG:4326", "EPSG:3857", "EPSG:26918", "EPSG:32111"])
def test_what_is_not_valid_comes_out_as_it_was_drawn(text: str) -> None:
    system, found = _system(text)
    strip = shapely.box(590_000, 690_000, 594_000, 691_000)
    drawn = np.array(
        [BOW, shapely.MultiPolygon([strip, shapely.transform(strip, lambda xy: xy + np.array([2000, 0]))])],
        dtype=object,
    )
    bow, both = project(np.asarray(shapely.transform(drawn, system.backward), dtype=object), system, found)
    assert not bow.is_valid
    # Both lobes, wound against one another: a mended half of it would have ground.
    assert abs(bow.area) < 100
    assert bow.bounds == pytest.approx(BOW.bounds, abs=1)
    assert not both.is_valid
    assert both.area == pytest.approx(8_000_000, rel=1e-4)


def test_sides_are_cut_alike_whichever_way_they_run() -> None:
    system, found = _system("EPSG:4326")
    ring = [(-75.0, 40.0), (-74.9, 40.03), (-74.95, 40.2)]
    one = shapely.Polygon(ring)
    other = shapely.Polygon([ring[1], ring[0], (-74.94, 39.9)])
    first, second = project(np.array([one, other]), system, found)
    seam = [{tuple(xy) for xy in shapely.get_coordinates(shape)} for shape in (first, second)]
    assert len(seam[0] & seam[1]) > 50
    assert shapely.union(first, second).geom_type == "Polygon"
    assert first.disjoint(second) is False
    assert shapely.intersection(first, second).area == 0


def test_every_vertex_stays_and_kinds_of_geometry_too() -> None:
    system, found = _system("EPSG:26918")
    holed = shapely.Polygon(
        shapely.box(580_000, 690_000, 589_000, 699_000).exterior,
        [shapely.box(582_000, 692_000, 582_100, 692_100).exterior],
    )
    small = around(NEWARK, 100.0)
    drawn = [holed, small, shapely.MultiPolygon([holed]), shapely.MultiPolygon([small, around(CAMDEN, 4000.0)])]
    lines = [
        shapely.LineString([(580_000, 690_000), (589_000, 690_000), (589_100, 690_000)]),
        shapely.MultiLineString([[(580_000, 690_000), (580_100, 690_000)], [(581_000, 690_000), (589_000, 691_000)]]),
    ]
    for shapes in (drawn, lines, [shapely.MultiPoint([NEWARK_XY[0], [400_000, 500_000]])]):
        array = np.array([*shapes, None], dtype=object)[:-1]
        came = project(np.asarray(shapely.transform(array, system.backward), dtype=object), system, found)
        for true, ours in zip(shapes, came, strict=True):
            assert ours.geom_type == true.geom_type
            assert len(shapely.get_parts(ours)) == len(shapely.get_parts(true))
            vertices = shapely.points(shapely.get_coordinates(true))
            assert shapely.distance(vertices, shapely.multipoints(shapely.get_coordinates(ours))).max() < 1e-4
            sides = np.hypot(*np.diff(shapely.get_coordinates(ours), axis=0).T)
            assert ours.geom_type.startswith("Multi") or "Polygon" in ours.geom_type or sides.max() < 501
            assert shapely.hausdorff_distance(ours, true) < 1
