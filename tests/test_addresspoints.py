"""Address points from files: what is written on them, where they are, and in which municipality."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import geopandas as gpd
import pytest
import shapely
from drawn import CAMDEN, NEWARK
from parcel_files import X, Y, frame, write

from grownj_geo.features import LayerFault
from grownj_geo.parcelbuild import Imported, ImportOptions, import_address_points, import_parcels
from grownj_geo.parcelstore import ParcelStore

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def load(path: Path, home: Path, **options: Any) -> Imported:
    return import_address_points(path, home=home, options=ImportOptions(**options))


def rows(home: Path) -> list[tuple[Any, ...]]:
    store = ParcelStore.open(home)
    assert store is not None
    with store:
        query = (
            "SELECT mun_code, address, zip_code, round(x_ft), round(y_ft), kind, source FROM address_points ORDER BY id"
        )
        return store.connection.execute(query).fetchall()


def told(imported: Imported) -> dict[str, int]:
    return {change.kind: change.count for change in imported.part.changes}


def test_parts_of_an_address_as_the_standard_has_them(tmp_path: Path, home: Path) -> None:
    columns = {
        "Add_Number": [12, 14],
        "AddNum_Suf": [None, "1/2"],
        "St_PreDir": ["North", None],
        "St_Name": ["Broad", "Main"],
        "St_PosTyp": ["Street", "Avenue"],
        "Inc_Muni": ["Camden City", "City of Newark"],
        "County": ["Camden", "Essex"],
        "Post_Code": ["08102", "07102"],
        "Placement": ["Structure - Rooftop", None],
    }
    points = gpd.GeoDataFrame(columns, geometry=[shapely.Point(X, Y), shapely.Point(X + 1, Y)], crs="EPSG:3424")
    points.to_file(tmp_path / "points.gpkg")
    imported = load(tmp_path / "points.gpkg", home)
    assert rows(home) == [
        (
            "0408",
            "12 North Broad Street",
            "08102",
            round(X),
            round(Y),
            "Structure - Rooftop",
            "points.gpkg: points, row 1",
        ),
        ("0714", "14 1/2 Main Avenue", "07102", round(X + 1), round(Y), None, "points.gpkg: points, row 2"),
    ]
    assert imported.part.municipalities == {"0408": 1, "0714": 1}


def test_a_table_with_longitude_and_latitude(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "points.csv"
    path.write_text(
        f"full_address,lon,lat,zip\n1 MAIN ST,{CAMDEN[0]},{CAMDEN[1]},8102\n2 MAIN ST,{NEWARK[0]},{NEWARK[1]},\n"
        "3 MAIN ST,,,\n4 MAIN ST,74.1,40.7,\n,-74.1,40.7,\n"
    )
    imported = load(path, home)
    assert rows(home)[0][:5] == ("0408", "1 MAIN ST", "08102", round(X), round(Y))
    assert [row[0] for row in rows(home)] == ["0408", "0714"]
    assert told(imported) == {"no_place": 2, "no_address": 1, "municipality_by_map": 2, "zip_restored": 1}


@pytest.mark.parametrize("name", ["No", "Number", "House No.", "HSE", "Street Number"])
def test_a_number_beside_a_street_is_the_house_number(tmp_path: Path, home: Path, name: str) -> None:
    path = tmp_path / "points.csv"
    path.write_text(f"{name},Street,lon,lat\n12,Main St,{CAMDEN[0]},{CAMDEN[1]}\n")
    load(path, home)
    assert [row[1] for row in rows(home)] == ["12 Main St"]


def test_a_number_without_streets_beside_it_is_none_of_an_address(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "points.csv"
    path.write_text(f"No,Address,lon,lat\n7,12 Main St,{CAMDEN[0]},{CAMDEN[1]}\n")
    load(path, home)
    assert [row[1] for row in rows(home)] == ["12 Main St"]


def test_points_stand_beside_parcels_and_are_replaced_by_municipality(tmp_path: Path, home: Path) -> None:
    import_parcels(write(frame({}, {}), tmp_path / "parcels.gpkg"), home=home)
    path = tmp_path / "points.csv"
    path.write_text(f"address,lon,lat\n1 MAIN ST,{CAMDEN[0]},{CAMDEN[1]}\n2 MAIN ST,{NEWARK[0]},{NEWARK[1]}\n")
    load(path, home)
    path.write_text(f"address,lon,lat\n9 MAIN ST,{CAMDEN[0]},{CAMDEN[1]}\n")
    again = load(path, home)
    assert [row[1] for row in rows(home)] == ["2 MAIN ST", "9 MAIN ST"]
    assert told(again)["replaced"] == 1
    load(path, home, partial=True)
    assert [row[1] for row in rows(home)] == ["2 MAIN ST", "9 MAIN ST"]
    store = ParcelStore.open(home)
    assert store is not None
    with store:
        assert (store.edition.parcels, store.edition.address_points) == (2, 2)
        ids = [row[0] for row in store.connection.execute("SELECT id FROM address_points ORDER BY id DESC")]
        places = store.points([*ids, 99])
        assert (len(places), round(places[0][0])) == (2, round(X))
        assert len(store.at(X + 1, Y + 1)) == 1


def test_a_point_outside_every_municipality_says_so(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "points.csv"
    path.write_text("address,lon,lat\n1 PIER,-73.9,39.5\n")
    imported = load(path, home)
    assert told(imported) == {"no_municipality": 1}
    assert rows(home)[0][0] == ""


@pytest.mark.parametrize(
    ("header", "fault"),
    [("name,lon,lat", "no_address_columns"), ("address,town", "no_place_columns"), ("address,x,y", "undeclared_crs")],
)
def test_what_has_no_address_or_no_place_is_refused(header: str, fault: str, tmp_path: Path, home: Path) -> None:
    path = tmp_path / "points.csv"
    path.write_text(f"{header}\n1,2,3\n".replace("1,2,3", "1,2,3" if header.count(",") == 2 else "1,2"))
    with pytest.raises(LayerFault) as error:
        load(path, home)
    assert error.value.fault == fault
    assert not (home / "parcels" / "edition.json").exists()


def test_polygons_are_no_points(tmp_path: Path, home: Path) -> None:
    with pytest.raises(LayerFault, match="not a point"):
        load(write(frame({}), tmp_path / "parcels.gpkg"), home, fields={"address": "PROP_LOC"})
