"""From typed text to a site: what is read, what is noted, and what is refused."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from grownj_geo.errors import NoPlaceError, OutsideNewJerseyError, SiteError
from grownj_geo.locate import locate, locate_file
from grownj_geo.units import to_working

FILES = Path(__file__).parent / "files" / "locate"
DIRECTORY = SimpleNamespace(
    names={
        "0408": ("Camden City", "Camden"),
        "0714": ("Newark City", "Essex"),
        "1438": ("Washington Township", "Morris"),
        "2122": ("Washington Township", "Warren"),
    }
)
NEWARK = tuple(float(v) for v in to_working(-74.1641, 40.7344))


def _point(*xy: Any) -> dict[str, Any]:
    return {"type": "Point", "coordinates": list(xy)}


def _with_crs(geometry: dict[str, Any], name: Any) -> dict[str, Any]:
    return geometry | {"crs": {"type": "name", "properties": {"name": name}}}


@pytest.mark.parametrize(
    ("text", "located_by"),
    [
        ("40.7344,-74.1641", "coordinates, latitude first"),
        ("-74.1641,40.7344", "coordinates, longitude first"),
        ("POINT (-74.1641 40.7344)", "WKT"),
        ("point z(-74.1641 40.7344 12)", "WKT"),
        ("SRID=4269;POINT(-74.1641 40.7344)", "WKT"),
        (json.dumps(_point(-74.1641, 40.7344)), "GeoJSON text"),
        (json.dumps({"type": "MultiPoint", "coordinates": [[-74.1641, 40.7344, 3.0]]}), "GeoJSON text"),
        (json.dumps({"type": "Feature", "geometry": _point(-74.1641, 40.7344)}), "GeoJSON text"),
        ("\ufeff" + json.dumps(_point(-74.1641, 40.7344)), "GeoJSON text"),
        (json.dumps(_with_crs(_point(-74.1641, 40.7344), "urn:ogc:def:crs:OGC:1.3:CRS84")), "GeoJSON text"),
    ],
)
def test_one_point_however_it_is_given(text: str, located_by: str) -> None:
    site = locate(text, uncertainty_ft=25, directory=DIRECTORY)
    assert site.geometry is not None
    assert (site.geometry.x, site.geometry.y) == pytest.approx(NEWARK, abs=0.01)
    assert (site.located_by, site.typed, site.uncertainty_ft) == (located_by, text, 25)
    assert site.mun_code is None
    assert any("dropped" in n for n in site.notes) == ("3.0" in text or " 12)" in text)


@pytest.mark.parametrize(
    ("text", "crs"),
    [
        ("585000 700000", "3424"),
        ("POINT(585000 700000)", "EPSG:3424"),
        ("SRID=3424;POINT(585000 700000)", None),
        ("SRID=3424;POINT(585000 700000)", "3424"),
        (json.dumps(_point(585000, 700000)), "3424"),
        (json.dumps(_with_crs(_point(585000, 700000), "EPSG:3424")), None),
    ],
)
def test_state_plane_feet_are_taken_as_they_are(text: str, crs: str | None) -> None:
    site = locate(text, crs=crs, directory=DIRECTORY)
    assert site.geometry == shapely.Point(585000, 700000)
    assert "EPSG:3424" in " ".join((site.located_by, *site.notes))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("POINT (40.7344 -74.1641)", r"swapped.*POINT \(-74.1641 40.7344\)"),
        ("POINT (-74.1641 40.7344", "not complete"),
        ("POINT (-74.1641)", "not complete"),
        ("POINT EMPTY", "empty"),
        ("POINT (nan nan)", "not a finite"),
        ("POINT (1e400 40.7)", "not a finite"),
        ("POINT (585000 700000)", "add --crs EPSG:3424"),
        ("LINESTRING (-74 40, -74 41)", "no point or polygon"),
        ("MULTIPOINT (-74 40)", "no point or polygon"),
        ("POLYGON ((-74.2 40.7, -74.1 40.7, -74.1 40.8))", "not complete"),
        ("POLYGON ((-74.2 40.7, -74.1 40.8, -74.1 40.7, -74.2 40.8, -74.2 40.7))", "self-intersection"),
        ("SRID=99999;POINT (1 2)", "not known"),
        ("", "empty.*--municipality"),
        (" \t", "empty"),
        ("12 Main Street, Newark", "address cannot be looked up.*coordinates.*parcel number.*--municipality"),
        ("100 N Broad St", "address cannot be looked up"),
        ("Newark", "address cannot be looked up"),
        ("Point Pleasant", "address cannot be looked up"),
        ("40.7344, 74.1641", r'grownj check "40\.7344,-74\.1641"'),
        ("nan,nan", "not a number"),
        ("lat", "0 numbers"),
        ("/vsicurl/http://example.com/a.geojson", "virtual paths are never opened"),
        ("/VSIzip/a.zip/a.geojson", "virtual paths are never opened"),
        ("https://example.com/a.geojson", "never opened.*Download"),
        ("file:///etc/passwd", "never opened"),
        ("nowhere.geojson", "not a file"),
        ("a\x00b.json", "not a file"),
        (__file__, "not GeoJSON"),
        (str(FILES.parent), "not GeoJSON"),
    ],
)
def test_text_that_is_not_a_site_is_refused(text: str, words: str) -> None:
    with pytest.raises(SiteError, match=words):
        locate(text, directory=DIRECTORY)


@pytest.mark.parametrize("text", ["51.5,-0.12", "POINT (-0.12 51.5)", json.dumps(_point(-0.12, 51.5))])
def test_outside_new_jersey_is_its_own_error(text: str) -> None:
    with pytest.raises(OutsideNewJerseyError, match="outside New Jersey"):
        locate(text, directory=DIRECTORY)


def test_two_systems_are_refused() -> None:
    for text in ("SRID=3424;POINT(585000 700000)", json.dumps(_with_crs(_point(585000, 7e5), "EPSG:3424"))):
        with pytest.raises(SiteError, match="says EPSG:3424, and --crs says EPSG:26918"):
            locate(text, crs="26918", directory=DIRECTORY)


@pytest.mark.parametrize("name", ["point.geojson", "bom.json"])
def test_a_file_is_read(name: str) -> None:
    path = FILES / name
    by_text, by_file = locate(str(path), directory=DIRECTORY), locate_file(path, directory=DIRECTORY)
    assert by_text == by_file
    assert (by_file.typed, by_file.located_by) == (str(path), "GeoJSON file")
    assert by_file.geometry is not None
    assert (by_file.geometry.x, by_file.geometry.y) == pytest.approx(NEWARK, abs=0.01)


def test_without_a_place_the_municipality_is_known() -> None:
    site = locate("0408_81_1, 0408_81_2", directory=DIRECTORY)
    assert (site.geometry, site.mun_code, site.mun_basis) == (None, "0408", "pin")
    assert site.pins == ("0408_81_1", "0408_81_2")
    assert locate("", pin="0408_81_1", directory=DIRECTORY).mun_basis == "pin"
    site = locate("", municipality="camden", directory=DIRECTORY)
    assert (site.geometry, site.mun_code, site.mun_basis, site.typed) == (None, "0408", "stated", "camden")
    assert "name of a county" in site.notes[0]
    with pytest.raises(SiteError, match="Morris County"):
        locate("", municipality="Washington Township", directory=DIRECTORY)


@pytest.mark.parametrize(
    ("text", "pin", "municipality", "what"),
    [
        ("0408_81_1", None, None, "a parcel number alone"),
        ("0408_81_1", None, "Camden City", "a parcel number alone"),
        ("", "0408_81_1", None, "a parcel number alone"),
        ("", None, "Camden City", "a municipality alone"),
    ],
)
def test_a_system_without_coordinates_is_refused(
    text: str, pin: str | None, municipality: str | None, what: str
) -> None:
    with pytest.raises(SiteError, match=rf"--crs 3424 was given with {what}: a CRS belongs to coordinates"):
        locate(text, crs="3424", pin=pin, municipality=municipality, directory=DIRECTORY)
    assert locate(text, pin=pin, municipality=municipality, directory=DIRECTORY).mun_code == "0408"


def test_a_system_goes_with_coordinates_that_have_a_parcel_number_too() -> None:
    site = locate("585000 700000", crs="3424", pin="0714_1_1", municipality="Newark", directory=DIRECTORY)
    assert (site.geometry, site.mun_code) == (shapely.Point(585000, 700000), "0714")


def test_a_parcel_number_outranks_what_is_stated_and_must_agree() -> None:
    place = "40.7344,-74.1641"
    both = locate(place, pin="0714_1_1", municipality="Newark", directory=DIRECTORY)
    assert (both.mun_code, both.mun_basis, both.pins) == ("0714", "pin", ("0714_1_1",))
    assert both.geometry is not None
    stated = locate(place, municipality="0714", directory=DIRECTORY)
    assert (stated.mun_code, stated.mun_basis) == ("0714", "stated")
    for text, pin in ((place, "0408_81_1"), ("0408_81_1", None)):
        with pytest.raises(SiteError, match=r"0408_81_1 is in Camden City.*stated as Newark City"):
            locate(text, pin=pin, municipality="Newark", directory=DIRECTORY)
    with pytest.raises(SiteError, match="give them once"):
        locate("0408_81_1", pin="0408_81_2", directory=DIRECTORY)


@pytest.mark.parametrize("feet", [-1.0, float("nan"), float("inf")])
def test_an_impossible_uncertainty_is_refused(feet: float) -> None:
    with pytest.raises(SiteError, match="uncertainty"):
        locate("40.7344,-74.1641", uncertainty_ft=feet, directory=DIRECTORY)


def test_coarse_digits_never_become_the_uncertainty() -> None:
    site = locate("40.73,-74.16", directory=DIRECTORY)
    assert site.uncertainty_ft == 0
    assert any("--uncertainty-ft" in n for n in site.notes)


@given(st.text(max_size=40))
def test_no_text_ends_in_anything_but_a_site_or_a_site_error(text: str) -> None:
    try:
        site = locate(text, directory=DIRECTORY)
    except SiteError:
        return
    assert site.geometry is not None or site.pins


# -- sizes ---------------------------------------------------------------------------------------------


def _comb(teeth: int) -> shapely.Polygon:
    """A valid polygon of long thin teeth: few bytes, and hundreds of thousands of feet of sides."""
    x = -75.0 + np.repeat(np.arange(teeth), 4) * 1e-4 + np.tile([0, 0, 4e-5, 4e-5], teeth)
    y = np.tile([40.1, 41.0, 41.0, 40.1], teeth)
    return shapely.Polygon([*zip(x, y, strict=True), (x[-1], 40.0), (x[0], 40.0)])


@pytest.mark.parametrize("write", [shapely.to_wkt, shapely.to_geojson])
def test_a_comb_is_refused_before_it_becomes_millions_of_vertices(write: Any) -> None:
    comb = _comb(4_000)
    assert comb.is_valid
    begin = time.perf_counter()
    with pytest.raises(SiteError, match=r"outline is too long: the sides are .* vertices .* at most 1,000,000"):
        locate(write(comb), directory=DIRECTORY)
    assert time.perf_counter() - begin < 5
    assert locate(write(_comb(20)), directory=DIRECTORY).geometry is not None


@pytest.mark.parametrize("text", ["1x" * 8_000, "40.7344,-74.1641" + "," * 10_000 + "x", "0408_81_1 " * 2_000])
def test_typed_text_has_a_greatest_length(text: str) -> None:
    with pytest.raises(SiteError, match=r"characters long; at most 10,000 are read"):
        locate(text, directory=DIRECTORY)


@pytest.mark.parametrize("option", ["pin", "municipality"])
def test_so_have_the_options(option: str) -> None:
    more: dict[str, Any] = {option: "0408_81_1 " * 2_000}
    with pytest.raises(SiteError, match=r"characters long; at most 10,000 are read"):
        locate("", directory=DIRECTORY, **more)


def test_wkt_and_geojson_may_be_longer_and_end_somewhere() -> None:
    circle = shapely.Point(-74.1641, 40.7344).buffer(0.01, quad_segs=400)
    assert len(shapely.to_wkt(circle)) > 10_000
    for text in (shapely.to_wkt(circle), shapely.to_geojson(circle), "\ufeff " + shapely.to_geojson(circle)):
        assert locate(text, directory=DIRECTORY).geometry is not None
    with pytest.raises(SiteError, match="larger than 5 MB"):
        locate("POLYGON ((" + "-74 40, " * 700_000 + "-74 40))", directory=DIRECTORY)


@pytest.mark.parametrize(
    "text",
    [
        "1x" * 4_990,
        "1" + " " * 9_990 + "1",
        "40,7" + " " * 9_000 + "x",
        "40,7" + " x" * 4_900,
        "1" + " Z1" * 3_300,
        "N" * 9_990,
        "1 " * 4_990,
        ", " * 4_990,
        "_" * 9_990,
        "1_" * 4_990,
    ],
)
def test_no_text_takes_more_than_a_moment_to_refuse(text: str) -> None:
    begin = time.perf_counter()
    with pytest.raises(SiteError):
        locate(text, directory=DIRECTORY)
    with pytest.raises(SiteError):
        locate("", municipality=text, directory=DIRECTORY)
    assert time.perf_counter() - begin < 1


@pytest.mark.parametrize("named", ["site.geojson", "site.json", "notes", "./notes"])
def test_where_files_are_not_opened_nobody_learns_which_there_are(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SiteError) as without:
        locate(named, directory=DIRECTORY, files=False)
    Path(named).write_text(json.dumps(_point(-74.1641, 40.7344)), encoding="utf-8")
    with pytest.raises(SiteError) as there:
        locate(named, directory=DIRECTORY, files=False)
    assert str(there.value) == str(without.value)


@pytest.mark.parametrize("text", ["nofile.csv", "data/my sites.XLSX", " lots.gpkg ", "C:\\data\\lots.shp.zip"])
def test_what_ends_like_a_file_and_is_none_is_a_missing_file(text: str) -> None:
    with pytest.raises(SiteError, match="there is no such file") as refused:
        locate(text, directory=DIRECTORY)
    assert not isinstance(refused.value, NoPlaceError)
    assert repr(text.strip()) in str(refused.value)


@pytest.mark.parametrize("text", ["12 Main St. Zip", "csv", ".csv", "1 Depot Plaza, Camden"])
def test_an_address_is_not_taken_for_a_file(text: str) -> None:
    with pytest.raises(NoPlaceError):
        locate(text, directory=DIRECTORY)
