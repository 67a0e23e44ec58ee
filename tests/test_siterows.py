"""Tables of sites as people have them: every format, found columns, and every row accounted for."""

from __future__ import annotations

import json
import zipfile
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyogrio
import pytest
import shapely

from grownj_geo.determine import Directory
from grownj_geo.features import LayerFault
from grownj_geo.locate import locate
from grownj_geo.siterows import RowBlock, SiteTableReader, TableOptions, open_table

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.atlas import Atlas

DIRECTORY = SimpleNamespace(
    names={
        "0102": ("Atlantic City", "Atlantic"),
        "0408": ("Camden City", "Camden"),
        "0714": ("Newark City", "Essex"),
        "1438": ("Washington Township", "Morris"),
        "0818": ("Washington Township", "Gloucester"),
    }
)
NEWARK = (-74.1641, 40.7344)


def opened(path: Path, **options: Any) -> SiteTableReader:
    return open_table(path, TableOptions(**options), directory=DIRECTORY)


def read(path: Path, *, size: int = 50_000, **options: Any) -> RowBlock:
    (block,) = opened(path, **options).blocks(size=size)
    return block


def text(folder: Path, content: str | bytes, name: str = "sites.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def parcels(crs: str = "EPSG:3424") -> gpd.GeoDataFrame:
    shapes = [shapely.box(585_000 + 300 * i, 690_000, 585_200 + 300 * i, 690_150) for i in range(4)]
    columns = {"PAMS_PIN": ["0714_1_1", "0714_1_1.10", None, "0714_x"], "ACRES": [0.7, None, 0.7, 0.7]}
    return gpd.GeoDataFrame(columns, geometry=shapes, crs="EPSG:3424").to_crs(crs)


# -- the same as one site -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "row", "options"),
    [
        ("lon,lat", "-74.1641,40.7344", {}),
        ("Latitude,Longitude", "40.7344,-74.1641", {}),
        ("where_x,where_y", "-74.1641,40.7344", {"lon": "where_x", "lat": "where_y"}),
        ("lon,lat", '"74°09\'50.76""W","40°44\'03.84""N"', {}),
        ("wkt", "POINT (-74.1641 40.7344)", {}),
        ("geom", "SRID=4326;POINT (-74.1641 40.7344)", {}),
        ("site", '"40.7344, -74.1641"', {}),
        ("place", '"40 44 03.84 N 74 09 50.76 W"', {"site": "place"}),
        ("hex", shapely.Point(NEWARK).wkb_hex, {"geometry": "hex"}),
    ],
)
def test_a_row_is_the_site_that_is_checked_alone(
    tmp_path: Path, header: str, row: str, options: dict[str, str]
) -> None:
    block = read(text(tmp_path, f"{header}\n{row}\n"), **options)
    alone = locate("40.7344, -74.1641", directory=DIRECTORY)
    assert block.problems == [None]
    assert shapely.equals_exact(block.geometries[0], alone.geometry, tolerance=1e-6)
    (site,) = block.sites
    assert site is not None
    assert site.geometry is block.geometries[0]
    assert block.site_table().placed.tolist() == [True]


def test_coordinates_in_feet_are_those_that_are_checked_alone(tmp_path: Path) -> None:
    path = text(tmp_path, "X,Y\n585000,690000\n", "sites.csv")
    block = read(path, crs="EPSG:3424")
    assert block.geometries[0] == shapely.Point(585_000, 690_000)
    with pytest.raises(LayerFault, match="looks like State Plane feet; add --crs EPSG:3424") as fault:
        opened(path)
    assert fault.value.fault == "undeclared_crs"


def test_polygons_are_those_that_are_checked_alone(tmp_path: Path) -> None:
    drawn = parcels("EPSG:4326")
    drawn.to_file(tmp_path / "p.geojson", driver="GeoJSON")
    block = read(tmp_path / "p.geojson")
    for i, shape in enumerate(gpd.read_file(tmp_path / "p.geojson").geometry):
        alone = locate(shapely.to_wkt(shape, rounding_precision=-1), directory=DIRECTORY)
        assert shapely.equals_exact(block.geometries[i], alone.geometry, tolerance=1e-6)
        assert block.sites[i].geometry is block.geometries[i]  # type: ignore[union-attr]


# -- formats ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", ["Name;A;B", "Breite;Länge;A"])
def test_a_site_that_is_called_as_a_column_is_not_the_row_of_names(tmp_path: Path, names: str) -> None:
    with pytest.raises(LayerFault, match="has no column that says where the sites are"):
        read(text(tmp_path, f"{names}\r\nX;40,7344;-74,1641\r\n"))
    block = read(text(tmp_path, "Name;Lat;Lon\r\nX;40,7344;-74,1641\r\n"))
    assert block.problems[0] is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_text_of_any_encoding_and_delimiter(tmp_path: Path, encoding: str, delimiter: str) -> None:
    rows = [["name", "lon", "lat"], ["Pe\xf1a", "-74.1641", "40.7344"], ['"two\nlines"', "-74.1641", "40.7344"]]
    path = text(tmp_path, "\r\n".join(delimiter.join(row) for row in rows).encode(encoding))
    reader = opened(path)
    (block,) = reader.blocks()
    assert reader.header == ["name", "lon", "lat"]
    assert list(block.columns["name"]) == ["Pe\xf1a", "two\nlines"]
    assert block.problems == [None, None]
    assert [c.kind for c in reader.changes if c.kind == "encoding_taken"] == ["encoding_taken"] * (encoding == "cp1252")


@pytest.mark.parametrize(
    ("name", "driver"),
    [("p.geojson", "GeoJSON"), ("p.gpkg", "GPKG"), ("p.shp", "ESRI Shapefile"), ("p.gdb", "OpenFileGDB")],
)
def test_what_a_gis_writes(tmp_path: Path, name: str, driver: str) -> None:
    pyogrio.write_dataframe(
        parcels("EPSG:4326" if driver == "GeoJSON" else "EPSG:3424"), tmp_path / name, driver=driver
    )
    reader = opened(tmp_path / name)
    (block,) = reader.blocks()
    assert reader.rows == 4
    assert block.placed.all()
    assert block.mun_codes == ("0714", "0714", "", "")
    assert block.mun_basis == ("pin", "pin", None, None)
    assert "Not used" in block.notes[3][0]
    assert [c.rows for c in block.changes if c.kind == "parcel_not_used"] == [(4,)]
    assert block.pins[1] == ("0714_1_1.10",)


def test_a_zipped_shapefile(tmp_path: Path) -> None:
    parcels().to_file(tmp_path / "p.shp")
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        for part in tmp_path.glob("p.*"):
            if part.suffix != ".zip":
                archive.write(part, f"deep/{part.name}")
    assert read(tmp_path / "p.zip").placed.all()


def geoparquet(path: Path, n: int = 1_000, **options: Any) -> Path:
    x = 500_000 + 10.0 * np.arange(n)
    frame = gpd.GeoDataFrame({"id": np.arange(n)}, geometry=shapely.box(x, 600_000, x + 9, 600_100), crs="EPSG:3424")
    frame.to_parquet(path, **options)
    return path


def test_parquet_is_cut_into_blocks_whatever_its_row_groups(tmp_path: Path) -> None:
    reader = opened(geoparquet(tmp_path / "p.parquet", row_group_size=170))
    assert reader.rows == 1_000
    whole = next(reader.blocks())
    for start, size in ((0, 300), (170, 170), (339, 1), (999, 50), (1_000, 10)):
        blocks = list(reader.blocks(start, size))
        assert [len(b) for b in blocks[:-1]] == [size] * (len(blocks) - 1)
        assert [i for b in blocks for i in b.columns["id"]] == list(range(start, 1_000))
        assert [row for b in blocks for row in b.rows] == list(range(start + 1, 1_001))
        assert all((b.geometries == whole.geometries[b.start : b.start + len(b)]).all() for b in blocks)


def test_parquet_without_metadata_of_geometry(tmp_path: Path) -> None:
    wkb = pa.array([shapely.Point(NEWARK).wkb, b"\x01\x02", None], pa.binary())
    pq.write_table(pa.table({"geometry": wkb, "mun_code": [714.0, 714.0, 714.0]}), tmp_path / "p.parquet")
    reader = opened(tmp_path / "p.parquet")
    assert "crs_taken" in {c.kind for c in reader.changes}
    (block,) = reader.blocks()
    assert block.placed.tolist() == [True, False, False]
    assert block.problems[0] is None
    assert "Row 2: its geometry cannot be decoded" in str(block.problems[1])
    assert block.mun_codes == ("0714", "", "0714")


# -- rows that are bad --------------------------------------------------------------------------------


def test_a_bad_row_is_told_and_stops_nothing(tmp_path: Path) -> None:
    rows = [
        ("-74.1641,40.7344,0714_1_1", None),
        ("74.1641,40.7344,", "Row 3: the signs do not fit"),
        ("40.7344,-74.1641,", "Row 4: latitude and longitude look swapped"),
        ("-74.1641,,", "Row 5: lon is '-74.1641' and lat is empty; expected both or none"),
        (",,", "Row 6: blank row"),
        (",,0714_1_1", None),
        ("-120,40,", "Row 8: longitude -120, latitude 40 is outside New Jersey"),
        ("0,0,", "Row 9: (0, 0) is what software writes"),
        ("nan,40.7,", "Row 10: lat is '40.7' and lon is 'nan'; expected both or none"),
        ("-74.1_641,40.7,", "Row 11: Coordinates were read"),
        ("lon,lat,pin", "Row 12: the row repeats the names of the columns"),
        ("-74.1641,40.7344", "Row 13: the row has 2 cells, expected 3"),
        ("-74.1641,40.7344,0714_1_1,more", "Row 14: the row has 4 cells"),
        ('"a"b,40.7344,', "Row 15: the row cannot be split into cells"),
        ("-74.1641,40.7344,9999_1_1", None),
        (",,9999_1_1", "Row 17: pin: The parcel number was read as '9999_1_1'"),
        ("-74.1641,40.7344,", None),
    ]
    path = text(tmp_path, "lon,lat,pin\n" + "\n".join(row for row, _ in rows) + "\n\n ,,\n")
    block = read(path)
    assert len(block) == len(rows)
    for (row, expected), problem in zip(rows, block.problems, strict=True):
        assert (problem is None) if expected is None else str(problem).startswith(expected), (row, problem)
    assert [site is None for site in block.sites] == [expected is not None for _, expected in rows]
    assert block.columns["lon"][13] == '"a"b,40.7344,'
    assert "9999_1_1" in block.notes[14][0]
    assert [(c.kind, c.rows) for c in block.changes if c.kind == "blank_rows_at_end"] == [
        ("blank_rows_at_end", (19, 20))
    ]


def test_where_blocks_begin_changes_nothing(tmp_path: Path) -> None:
    lines = ["-74.1641,40.7344", "", "74.1,40.7", "lon,lat", "-74.2,40.8", "40.7,-74.1", '"40 44 03.84 N",1', ""] * 3
    path = text(tmp_path, "lon,lat\n" + "\n".join(lines) + "\n")
    whole = read(path)
    for size in (1, 2, 5, 7):
        reader = opened(path)
        blocks = list(reader.blocks(size=size))
        assert [p for b in blocks for p in b.problems] == whole.problems
        assert [n for b in blocks for n in b.notes] == whole.notes
        later = list(reader.blocks(start=size, size=size))
        assert [p for b in later for p in b.problems] == whole.problems[size:]
        assert later[0].rows[0] == size + 2


@pytest.mark.parametrize(
    ("content", "options", "fault"),
    [
        ("lon,lat\n40.7,-74.1\n40.8,-74.2\n", {}, "swapped_axes"),
        ("x,y\n-74.1,40.7\n", {"crs": "EPSG:3424"}, "wrong_crs"),
        ("name,address\nA,1 Broad St\n", {}, "no_place_columns"),
        ("lon,lat\n", {}, "truncated"),
        ("", {}, "truncated"),
        ("lon,lat\n1,2\n", {"lon": "longitud", "lat": "lat"}, "no_column"),
        ("lon,lat\n1,2\n", {"lon": "lon"}, "lone_coordinate"),
        ("lon,lat,fact:structure_exist\n-74.1,40.7,yes\n", {}, "unknown_fact"),
        ('lon,lat,note\n-74.1,40.7,"open\n-74.2,40.8,x\n', {}, "truncated"),
        ("PK\x03\x04", {}, "wrong_format"),
        ("lon,lat\n-74.1,40.7\0\n", {}, "wrong_encoding"),
        ("lon,lat\n-74.1,40.7\n", {"encoding": "klingon"}, "wrong_encoding"),
    ],
)
def test_a_table_that_cannot_be_understood_is_refused(
    tmp_path: Path, content: str, options: dict[str, str], fault: str
) -> None:
    path = text(tmp_path, content)
    with pytest.raises(LayerFault) as refused:
        list(opened(path, **options).blocks())
    assert refused.value.fault == fault


def test_a_misspelt_fact_has_its_nearest(tmp_path: Path) -> None:
    with pytest.raises(LayerFault, match="Did you mean 'structure_exists'"):
        opened(text(tmp_path, "lon,lat,fact:structure_exist\n-74.1,40.7,yes\n"))


def test_other_files_are_refused(tmp_path: Path) -> None:
    for name in ("a.xls", "a.ods", "a.pdf"):
        with pytest.raises(LayerFault) as refused:
            opened(text(tmp_path, "x", name))
        assert refused.value.fault == "wrong_format"
    with pytest.raises(LayerFault) as refused:
        opened(tmp_path / "none.csv")
    assert refused.value.fault == "not_found"


@pytest.mark.parametrize("crs", ["EPSG:3424", "EPSG:4326"])
def test_geometry_that_no_site_has(tmp_path: Path, crs: str) -> None:
    bow = shapely.Polygon([(585_000, 690_000), (586_000, 691_000), (586_000, 690_000), (585_000, 691_000)])
    line = shapely.LineString([(585_000, 690_000), (586_000, 691_000)])
    one = shapely.MultiPoint([(585_000, 690_000)])
    high = shapely.Point(585_000, 690_000, 7)
    far = shapely.box(1_000, 1_000, 2_000, 2_000)
    shapes = [bow, line, one, high, far, None, shapely.box(500_000, 500_000, 570_000, 570_000), shapely.Polygon()]
    frame = gpd.GeoDataFrame({"id": range(8)}, geometry=shapes, crs="EPSG:3424").to_crs(crs)
    frame.to_parquet(tmp_path / "p.parquet")
    block = read(tmp_path / "p.parquet")
    words = [
        "crosses itself",
        "LineString",
        None,
        None,
        "outside New Jersey",
        "nothing says where",
        "square miles",
        "empty",
    ]
    for word, problem in zip(words, block.problems, strict=True):
        assert (problem is None) if word is None else word in str(problem)
    assert not block.geometries[3].has_z
    assert "Z (or M) values were dropped" in block.notes[3][0]
    assert len([site for site in block.sites if site is not None]) == 2


# -- parcels, municipalities, facts -------------------------------------------------------------------


def test_block_and_lot_make_a_parcel(tmp_path: Path) -> None:
    rows = "Mun_Code,Block,Lot,Qual\n0714,81,1.10,\n714,81,1.1,C0101\n0714,81,,\n0714,81,1 & 2,\n9999,81,1,\n,81,1,\n"
    block = read(text(tmp_path, rows))
    assert block.pins[:4] == (("0714_81_1.10",), (), (), ("0714_81_1", "0714_81_2"))
    assert block.mun_basis[:4] == ("pin", "stated", "stated", "pin")
    assert "may be 1.1 or 1.10" in block.notes[1][0]
    assert "a spreadsheet drops the zero" in block.notes[1][1]
    assert "Lot is empty" in block.notes[2][0]
    assert "there is no such code" in str(block.problems[4])
    assert "nothing says where the site is" in str(block.problems[5])
    assert [c.rows for c in block.changes if c.kind == "zeros_restored"] == [(3,)]


def test_a_name_beside_the_code_fills_in_and_has_to_agree(tmp_path: Path) -> None:
    block = read(
        text(
            tmp_path,
            "mun_code,municipality,county,block,lot\n"
            "0714,Newark City,Essex,1,2\n"
            ",Newark City,ESSEX COUNTY,1,2\n"
            "714,,,1,2\n"
            "0408,Newark City,,1,2\n"
            "0408,,Essex,1,2\n",
        )
    )
    assert block.mun_codes == ("0714", "0714", "0714", "", "")
    first, second = (block.problems[row] for row in (3, 4))
    assert first is not None
    assert "mun_code and municipality say" in first
    assert second is not None
    assert "Camden County, and county says Essex" in second


def test_a_parcel_number_has_to_be_in_the_county_that_its_row_names(tmp_path: Path) -> None:
    block = read(text(tmp_path, "PAMS_PIN,county\n0408_81_1,Camden\n0408_81_1,Essex\n0408_81_1,elsewhere\n"))
    assert block.mun_codes == ("0408", "", "0408")
    assert "county says Essex" in (block.problems[1] or "")


def test_a_county_tells_municipalities_of_one_name_apart(tmp_path: Path) -> None:
    rows = "Municipality,County\nWashington Twp,Morris\nWashington Twp,GLOUCESTER COUNTY\nWashington Twp,\n"
    block = read(text(tmp_path, rows))
    assert block.mun_codes == ("1438", "0818", "")
    assert "2 have that name" in str(block.problems[2])


def test_what_disagrees_is_refused(tmp_path: Path) -> None:
    block = read(text(tmp_path, "pams_pin,mun_code\n0714_1_1,0408\n408_1_1,0408\n"))
    assert "expected one municipality" in str(block.problems[0])
    assert block.pins[1] == ("0408_1_1",)
    assert block.mun_codes == ("", "0408")


def test_a_bad_value_in_a_named_column_is_refused_though_the_place_is_known(tmp_path: Path) -> None:
    path = text(tmp_path, "lon,lat,town\n-74.1641,40.7344,Nowhere\n")
    assert "no municipality has that name" in str(read(path, municipality="town").problems[0])
    assert read(path).problems == [None]


def test_facts_are_read_for_each_row(tmp_path: Path) -> None:
    rows = "lon,lat,retail_sqft,Fact: structure exists,application_date\n" + "".join(
        f"-74.1641,40.7344,{more}\n" for more in ('"4,500",yes,2016-07-14', ",,", "-1,no,", "10,perhaps,")
    )
    block = read(text(tmp_path, rows))
    assert block.facts["retail_sqft"] == [4500.0, None, None, None]
    assert block.facts["structure_exists"] == [True, None, None, None]
    assert "was stated as '-1'" in str(block.problems[2])
    assert "was stated as 'perhaps'" in str(block.problems[3])
    assert block.sites[0].facts == {"retail_sqft": 4500.0, "structure_exists": True, "application_date": "2016-07-14"}  # type: ignore[union-attr]
    assert block.sites[1].facts == {}  # type: ignore[union-attr]


def test_uncertainty_by_row_and_for_all(tmp_path: Path) -> None:
    path = text(tmp_path, "lon,lat,uncertainty_ft\n-74.1641,40.7344,25\n-74.1641,40.7344,\n-74.1641,40.7344,-1\n")
    block = read(path, uncertainty_ft=7.0)
    assert block.uncertainty_ft[:2].tolist() == [25.0, 7.0]
    assert "expected feet" in str(block.problems[2])


def test_another_datum_adds_what_its_change_may_be_off(tmp_path: Path) -> None:
    parcels().to_crs("EPSG:4267").to_parquet(tmp_path / "p.parquet")
    reader = opened(tmp_path / "p.parquet")
    (block,) = reader.blocks()
    assert "datum_shift" in {c.kind for c in reader.changes}
    assert (block.uncertainty_ft > 0).all()


@pytest.mark.parametrize("cell", ["/etc/passwd", "secret.geojson", "\\\\host\\share", "//host/x", "C:\\x.json", "~/x"])
def test_a_cell_opens_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cell: str) -> None:
    monkeypatch.chdir(tmp_path)
    feature = {"type": "Point", "coordinates": list(NEWARK)}
    (tmp_path / "secret.geojson").write_text(json.dumps(feature), encoding="utf-8")
    block = read(text(tmp_path, f'site\n"{cell}"\n'), site="site")
    assert "files are not opened" in str(block.problems[0])


def test_coarse_coordinates_are_told(tmp_path: Path) -> None:
    block = read(text(tmp_path, "lon,lat\n-74.16,40.73\n-74.1641,40.7344\n"))
    assert [c.rows for c in block.changes if c.kind == "coarse_coordinates"] == [(2,)]


def test_names_are_made_unique_and_titles_are_left_out(tmp_path: Path) -> None:
    path = text(tmp_path, "Our sites,,,\n,,,\nlot,,lot,lon,lat\n1,a,2,-74.1641,40.7344\n")
    reader = opened(path)
    assert reader.header == ["lot", "column_2", "lot_2", "lon", "lat"]
    assert {"title_rows", "columns_renamed"} <= {c.kind for c in reader.changes}
    assert next(reader.blocks()).rows[0] == 4


def test_sites_are_made_only_when_somebody_asks(tmp_path: Path) -> None:
    block = read(text(tmp_path, "lon,lat\n-74.1641,40.7344\n1,2\n"))
    assert "sites" not in vars(block)
    assert block.good.tolist() == [True, False]
    assert [site is not None for site in block.sites] == [True, False]


# -- real tables --------------------------------------------------------------------------------------


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "rows", "placed", "basis"),
    [
        ("hudson_county_census_blocks_2020.parquet", 4_119, 4_119, None),
        ("hoboken_rental_properties.parquet", 2_773, 2_773, "pin"),
        ("orange_city_modiv_2022.csv", 5_541, 0, "pin"),
        ("bergen_hudson_commercial_parcels_2026.csv", 250, 0, "pin"),
    ],
)
def test_real_tables_are_read_as_they_are(  # noqa: PLR0917 - one case to a line
    shared: Path, atlas: Atlas, name: str, rows: int, placed: int, basis: str | None
) -> None:
    reader = open_table(shared / "data" / name, directory=Directory(atlas))
    blocks = list(reader.blocks(size=1_000))
    assert sum(map(len, blocks)) == rows
    assert sum(int(b.placed.sum()) for b in blocks) == placed
    assert {p for b in blocks for p in b.problems} == {None}
    assert {found for b in blocks for found in b.mun_basis} == {basis}
    assert all(site is not None for site in blocks[-1].sites)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"PK\x03\x04rest", "is a workbook"),
        ("a.csv", b"\xd0\xcf\x11\xe0rest", "is an old or a protected workbook"),
        ("a.csv", b"PAR1rest", "is Parquet"),
        ("a.csv", b"lon,lat\n-74.1,40.7\n-74.1,4\x000.7\n", "zero bytes, the first in line 3"),
        ("a.csv", b"", "is empty"),
        ("a.csv", b"\xef\xbb\xbf", "is empty"),
        ("a.csv", b"lon,lat\n", "no rows below"),
        ("a.csv", b'lon,lat\n"-74.1,40.7\n', "row 2: a quotation mark opens"),
        ("a.xlsx", b"", "is empty, 0 bytes"),
        ("a.xlsx", b"lon,lat\n-74.1,40.7\n", "if it is text, call it .csv"),
        ("a.xls", b"\xd0\xcf\x11\xe0", "save it as .xlsx or as CSV"),
        ("a.ods", b"PK\x03\x04", "save it as .xlsx or as CSV"),
        ("a.numbers", b"PK\x03\x04", "save it as .xlsx or as CSV"),
        ("a.parquet", b"", "begins with b''"),
        ("a.zip", b"", "is empty"),
    ],
)
def test_what_is_no_table_says_what_it_is_and_what_to_do(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    with pytest.raises(LayerFault, match=said):
        opened(text(tmp_path, content, name))


def test_text_as_excel_saves_it(tmp_path: Path) -> None:
    lines = 'Name;Lon;Lat\r\nCaf\xe9;-74,1641;40,7344\r\n"two\r\nlines";-74.1641;40.7344\r\nlast;x;40,7344\r\n'
    tabbed = lines.replace(";", "\t")
    for content in (lines.encode("cp1252"), b"sep=;\r\n" + lines.encode("cp1252"), lines.encode("utf-8-sig")):
        block = read(text(tmp_path, content))
        assert [problem is None for problem in block.problems] == [True, True, False]
        first = 3 if content.startswith(b"sep") else 2
        assert str(block.problems[2]).startswith(f"Row {first + 2}: Lon is 'x'; expected degrees")
        assert block.columns["Name"][:2] == ("Caf\xe9", "two\r\nlines")
    assert read(text(tmp_path, tabbed.encode("utf-16"), "tabs.txt")).columns["Name"][0] == "Caf\xe9"


def test_units_behind_names_and_words_for_nothing(tmp_path: Path) -> None:
    rows = "Longitude (W),Latitude [deg],PIN,note\n-74.1641,40.7344,n/a,\nN/A,-,0714_81_1,\nunknown,unknown,-,\n"
    block = read(text(tmp_path, rows))
    assert block.problems[:2] == [None, None]
    assert block.pins == ((), ("0714_81_1",), ())
    assert "nothing says where the site is" in str(block.problems[2])
