"""Parcels from files of every kind into a store: what is read, what is told, what replaces what."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
import zipfile
from contextlib import closing
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from parcel_files import WIDE, X, Y, composite, frame, lot, write

from grownj_geo.errors import LayerError
from grownj_geo.features import LayerFault
from grownj_geo.parcelbuild import Imported, ImportOptions, import_parcels
from grownj_geo.parcelstore import ParcelStore
from grownj_geo.parceltables import parcel_editions

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def load(path: Path, home: Path, **options: Any) -> Imported:
    return import_parcels(path, home=home, options=ImportOptions(**options))


def opened(home: Path) -> ParcelStore:
    store = ParcelStore.open(home)
    assert store is not None
    return store


def pins(home: Path) -> list[str]:
    with opened(home) as store:
        return [row[0] for row in store.connection.execute("SELECT pin FROM parcels ORDER BY pin, id")]


def told(imported: Imported) -> dict[str, int]:
    return {change.kind: change.count for change in imported.part.changes}


def refused(path: Path, home: Path, **options: Any) -> str:
    with pytest.raises(LayerFault) as error:
        load(path, home, **options)
    return error.value.fault


# -- formats --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".gpkg", ".gdb", ".shp", ".parquet", ".geojson", ".csv"])
def test_every_format_brings_the_same_parcels(ending: str, tmp_path: Path, home: Path) -> None:
    drawn = composite()
    path = write(drawn.to_crs("EPSG:4326") if ending == ".geojson" else drawn, tmp_path / f"parcels{ending}")
    imported = load(path, home, **({"crs": "EPSG:3424"} if ending == ".csv" else {}))
    assert (imported.part.read, imported.part.kept) == (10, 10)
    assert pins(home) == sorted(drawn["PAMS_PIN"])
    with opened(home) as store:
        assert store.edition.drawn == 9
        (first,) = store.by_pin("0408_81_1")
        assert first.geometry is not None
        assert first.geometry.geom_type == "Polygon"
        away = shapely.hausdorff_distance(first.geometry, lot(0))
        # A geodatabase keeps coordinates to a fraction of a millimetre, text in degrees to fewer digits.
        assert away <= {".geojson": 0.01, ".gdb": 0.001}.get(ending, 1e-6)
        assert (first.address, first.property_class, first.zip_code) == ("10 MARKET ST", "4A", None)
        assert [p.pin for p in store.at(X + 10, Y + 10)] == ["0408_81_1"]


@pytest.mark.parametrize("ending", [".gpkg", ".gdb", ".shp"])
def test_an_archive_of_a_format_is_unpacked(ending: str, tmp_path: Path, home: Path) -> None:
    path = write(composite(), tmp_path / f"parcels{ending}")
    archive = tmp_path / "parcels.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for one in sorted(path.iterdir()) if path.is_dir() else sorted(tmp_path.glob("parcels.*")):
            if one != archive:
                file.write(one, f"Composite/{path.name if path.is_dir() else ''}/{one.name}".replace("//", "/"))
    assert load(archive, home).part.kept == 10
    assert pins(home) == sorted(composite()["PAMS_PIN"])


def test_an_assessors_workbook(tmp_path: Path, home: Path) -> None:
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in (
        ["Municipality", "Block", "Lot", "Qual", "Property Location"],
        ["Newark", 12, "3.10", None, "5 BROAD ST"],
    ):
        book.active.append(row)
    book.save(tmp_path / "list.xlsx")
    imported = load(tmp_path / "list.xlsx", home, fields={"address": "Property Location"})
    assert pins(home) == ["0714_12_3.10"]
    assert told(imported)["number_made"] == 1


def test_text_is_a_stream_of_blocks(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grownj_geo.parcelbuild._ROWS_AT_ONCE", 7)
    path = tmp_path / "list.csv"
    path.write_text("pams_pin,prop_loc\n" + "".join(f"0714_1_{n},{n} MAIN ST\n" for n in range(1, 101)))
    seen: list[tuple[int, int | None]] = []
    import_parcels(path, home=home, progress=lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen][:3] == [7, 14, 21]
    assert len(pins(home)) == 100
    with opened(home) as store:
        assert store.by_pin("0714_1_50")[0].source_row == 51
        assert store.by_pin("0714_1_50")[0].source == "list.csv"


@pytest.mark.parametrize("ending", [".gdb", ".parquet", ".gpkg"])
def test_blocks_of_a_gis_file_come_in_order(
    ending: str, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grownj_geo.parcelbuild._ROWS_AT_ONCE", 3)
    load(write(composite(), tmp_path / f"parcels{ending}"), home)
    with opened(home) as store:
        rows = store.connection.execute("SELECT pin, source_row FROM parcels ORDER BY id").fetchall()
    assert rows == [(pin, i + 1) for i, pin in enumerate(composite()["PAMS_PIN"])]


# -- what is told, not merged ---------------------------------------------------------------------------


def test_shared_numbers_and_outlines_are_told_and_stay(tmp_path: Path, home: Path) -> None:
    imported = load(write(composite(), tmp_path / "parcels.gpkg"), home)
    assert told(imported) == {
        "owners_zip_left": 1,
        "no_geometry": 1,
        "several_polygons": 2,
        "duplicate_numbers": 2,
        "stacked": 2,
    }
    with opened(home) as store:
        assert [p.notes[0].split(":")[0] for p in store.by_lot("0408", "81", "2")] == ["Stacked", "Stacked"]
        apart, same = store.by_pin("0408_82_1"), store.by_pin("0408_83_1")
        assert [len(found) for found in (apart, same)] == [2, 2]
        assert all(p.notes[0].startswith("Several polygons: 2 records") for p in apart)
        assert all(p.notes[0].startswith("Duplicate number: 2 records") for p in same)
        (bare,) = store.by_pin("0408_84_1")
        assert bare.geometry is None
        assert bare.notes[0].startswith("No outline")
        assert store.by_pin("0408_81_1")[0].notes == ()


def test_lots_1_1_and_1_10_are_two(tmp_path: Path, home: Path) -> None:
    load(write(composite(), tmp_path / "parcels.gpkg"), home)
    with opened(home) as store:
        assert [p.pin for p in store.by_lot("0408", "81", "1.1")] == ["0408_81_1.1"]
        assert [p.pin for p in store.by_pin("0408_81_1.10")] == ["0408_81_1.10"]


def test_rows_that_are_no_parcels_are_counted_with_their_reason(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text(
        "pams_pin,mun,block,lot,qual\n0714_1_1,,,,\n714_1_2,,,,\n9999_1_1,,,,\nROAD,,,,\n,,,,\n,Newark,7,8,C1\n"
        ",Atlantis,1,1,\n0714_2_2,0408,2,2,\n0714_3_3,,3,4,\n0714_x_y_,,,,\n"
    )
    imported = load(path, home)
    assert pins(home) == ["0714_1_1", "0714_1_2", "0714_2_2", "0714_3_3", "0714_7_8_C1", "0714_X_Y"]
    counts = told(imported)
    assert {
        "zero_restored": 1,
        "unknown_municipality": 2,
        "bad_number": 1,
        "row_problem": 1,
        "number_made": 1,
        "other_municipality": 1,
        "other_parts": 1,
    }.items() <= counts.items()


def test_a_lot_as_a_number_is_not_believed(tmp_path: Path, home: Path) -> None:
    table = pa.table({"mun": ["0714", "0714"], "block": pa.array([1.0, 1.0]), "lot": pa.array([2.0, 1.1])})
    pq.write_table(table, tmp_path / "list.parquet")
    imported = load(tmp_path / "list.parquet", home)
    assert pins(home) == ["0714_1_2"]
    assert told(imported)["unsure_number"] == 1


def test_what_a_spreadsheet_may_have_changed_is_not_believed(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("mun_code,block,lot\n0408,1,1.1\n408,1,1.1\n408,1,3\n0408,7,14-Jul\n")
    imported = load(path, home)
    assert pins(home) == ["0408_1_1.1", "0408_1_3"]
    assert told(imported)["unsure_number"] == 2


def test_a_bow_tie_is_repaired_and_told_or_left_without_outline(tmp_path: Path, home: Path) -> None:
    spiked = shapely.Polygon([(X, Y), (X + 50, Y), (X + 50, Y + 9), (X + 50, Y + 20), (X + 50, Y + 9), (X, Y + 9)])
    crossed = shapely.Polygon([(X, Y), (X + 500, Y + 500), (X + 500, Y), (X, Y + 400)])
    far = shapely.box(0, 0, 50, 50)
    shapes = [spiked, crossed, far, shapely.Point(X, Y), shapely.Polygon()]
    path = tmp_path / "parcels.parquet"
    frame(*({"geometry": shape} for shape in shapes)).to_parquet(path)
    imported = load(path, home)
    assert told(imported) == {"owners_zip_left": 1, "geometry_unusable": 4, "repaired": 1}
    with opened(home) as store:
        assert store.edition.drawn == 1
        (mended,) = store.by_pin("0408_81_1")
        assert mended.geometry is not None
        assert mended.geometry.area == pytest.approx(450)
        assert "repaired" in mended.notes[0]
        (crossing,) = store.by_pin("0408_81_2")
        assert crossing.geometry is None
        assert any("cannot be used" in note for note in crossing.notes)
        # The row of the file, and not of what was looked at alone.
        assert any("row 2 (Self-intersection" in note for note in crossing.notes)


def test_owners_are_never_stored(tmp_path: Path, home: Path) -> None:
    load(write(composite(), tmp_path / "parcels.gpkg"), home)
    content = next(home.rglob("parcels.sqlite")).read_bytes()
    assert b"MARKET ST" in content
    assert not any(word in content for word in (b"SOMEBODY", b"ELSEWHERE", b"10001"))


@pytest.mark.parametrize(
    ("typed", "kept"), [("07102", "07102"), ("07102-1234", "07102"), ("7102", "07102"), ("10001", None), ("", None)]
)
def test_zip_codes(typed: str, kept: str | None, tmp_path: Path, home: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text(f"pams_pin,zip\n0714_1_1,{typed}\n")
    load(path, home)
    with opened(home) as store:
        assert store.by_pin("0714_1_1")[0].zip_code == kept


def test_addresses_of_strangers_are_one_line_of_text(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text(
        f'pams_pin,prop_loc\n0714_1_1,"<script>\n\u202e1</script>"\n0714_1_2,{"9" * 5000}\n', encoding="utf-8"
    )
    imported = load(path, home)
    with opened(home) as store:
        assert store.by_pin("0714_1_1")[0].address == "<script> 1</script>"
        assert store.by_pin("0714_1_2")[0].address == "9" * 200
    assert told(imported)["address_left"] == 2


# -- several files --------------------------------------------------------------------------------------


def test_files_add_up_and_a_municipality_is_replaced(tmp_path: Path, home: Path) -> None:
    load(write(frame({}, {}, {}), tmp_path / "camden.gpkg"), home, edition=date(2020, 1, 1))
    load(write(frame({"PAMS_PIN": "0714_1_1", "geometry": lot(50)}), tmp_path / "newark.gpkg"), home)
    assert pins(home) == ["0408_81_1", "0408_81_2", "0408_81_3", "0714_1_1"]
    again = load(write(frame({}, {"PAMS_PIN": "0408_90_1", "geometry": lot(9)}), tmp_path / "later.gpkg"), home)
    assert pins(home) == ["0408_81_1", "0408_90_1", "0714_1_1"]
    assert told(again)["replaced"] == 3
    with opened(home) as store:
        assert [part.source for part in store.edition.parts] == ["newark.gpkg", "later.gpkg"]
        assert store.at(X + 2.5 * WIDE, Y + 10) == ()
        assert [p.pin for p in store.at(X + 9.5 * WIDE, Y + 10)] == ["0408_90_1"]
        assert [p.pin for p in store.at(X + 50.5 * WIDE, Y + 10)] == ["0714_1_1"]
        blocks = store.connection.execute("SELECT count(*) FROM parcel_blocks").fetchone()[0]
        assert blocks == 2
    assert len(parcel_editions(home)) == 1


def test_a_partial_file_replaces_parcel_by_parcel(tmp_path: Path, home: Path) -> None:
    load(write(frame({}, {}, {}), tmp_path / "all.gpkg"), home)
    some = frame({"PAMS_PIN": "0408_81_2", "PROP_LOC": "NEW", "geometry": lot(0)}, {"PAMS_PIN": "0408_99_1"})
    load(write(some, tmp_path / "some.gpkg"), home, partial=True)
    assert pins(home) == ["0408_81_1", "0408_81_2", "0408_81_3", "0408_99_1"]
    with opened(home) as store:
        (changed,) = store.by_pin("0408_81_2")
        assert changed.address == "NEW"
        # It lies now where another parcel of the earlier file does.
        assert changed.notes[0].startswith("Stacked: 2 parcel numbers")
        assert store.by_pin("0408_81_1")[0].notes == changed.notes


def test_what_is_stacked_no_longer_says_so(tmp_path: Path, home: Path) -> None:
    load(write(frame({}, {"geometry": lot(0)}), tmp_path / "one.gpkg"), home)
    load(write(frame({"PAMS_PIN": "0408_81_2", "geometry": lot(5)}), tmp_path / "two.gpkg"), home, partial=True)
    with opened(home) as store:
        assert [store.by_pin(pin)[0].notes for pin in ("0408_81_1", "0408_81_2")] == [(), ()]


def test_a_file_with_few_of_a_municipalitys_parcels_is_refused(tmp_path: Path, home: Path) -> None:
    every = tmp_path / "all.csv"
    every.write_text("pams_pin\n" + "".join(f"0714_1_{n}\n" for n in range(1, 101)))
    load(every, home)
    few, half = tmp_path / "few.csv", tmp_path / "half.csv"
    few.write_text("pams_pin\n" + "".join(f"0714_2_{n}\n" for n in range(1, 50)))
    half.write_text("pams_pin\n" + "".join(f"0714_2_{n}\n" for n in range(1, 51)))
    assert refused(few, home) == "too_few"
    assert len(pins(home)) == 100
    assert load(half, home).part.kept == 50
    assert len(pins(home)) == 50


def test_a_list_of_other_numbers_does_not_take_outlines_away(tmp_path: Path, home: Path) -> None:
    load(write(frame({}, {}), tmp_path / "drawn.gpkg"), home)
    path = tmp_path / "list.csv"
    path.write_text("pams_pin\n0408_99_1\n0408_99_2\n")
    assert refused(path, home) == "loses_outlines"
    assert opened(home).edition.drawn == 2


def test_a_list_keeps_the_outlines_that_were_loaded_before(tmp_path: Path, home: Path) -> None:
    drawn = [{}, {}, {"geometry": lot(1)}, {"PAMS_PIN": "0408_82_1", "geometry": lot(0, 2)}]
    twice = [{"PAMS_PIN": "0408_83_1", "geometry": lot(0, 4)}, {"PAMS_PIN": "0408_83_1", "geometry": lot(2, 4)}]
    load(write(frame(*drawn, *twice), tmp_path / "drawn.gpkg"), home)
    path = tmp_path / "list.csv"
    path.write_text("pams_pin,prop_loc\n0408_81_1,1 NEW ST\n0408_81_2,2 NEW ST\n0408_81_3,\n0408_83_1,\n0408_9_9,\n")
    counts = told(load(path, home))
    assert {"outlines_kept": 3, "outlines_gone": 3, "property_class_kept": 4, "stacked": 2}.items() <= counts.items()
    with opened(home) as store:
        (one,) = store.by_pin("0408_81_1")
        assert (one.address, one.property_class, one.source) == ("1 NEW ST", "4A", "list.csv")
        assert one.geometry is not None
        assert one.geometry.equals(lot(0))
        assert one.notes == ("The outline is kept from drawn.gpkg, row 1.",)
        assert [p.pin for p in store.at(X + 10, Y + 10)] == ["0408_81_1"]
        assert [p.pin for p in store.at(X + WIDE + 10, Y + 10)] == ["0408_81_2", "0408_81_3"]
        # The list has a column of addresses: that it says none of this one is its word.
        assert store.by_pin("0408_81_3")[0].address is None
        # Of two outlines of one number none is surely the record's.
        assert store.by_pin("0408_83_1")[0].geometry is None
        assert store.edition.drawn == 3


def test_outlines_keep_the_addresses_that_were_loaded_before(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text(
        "pams_pin,prop_loc,prop_class,zip\n0408_81_1,1 OLD ST,2,08102\n0408_81_2,2 OLD ST,2,\n"
        "0408_81_3,A,2,\n0408_81_3,B,2,\n"
    )
    load(path, home)
    bare = frame({}, {}, {}).drop(columns=["PROP_LOC", "PROP_CLASS", "ZIP_CODE"])
    counts = told(load(write(bare, tmp_path / "drawn.gpkg"), home))
    assert {"address_kept": 2, "zip_code_kept": 1, "property_class_kept": 3}.items() <= counts.items()
    with opened(home) as store:
        (one,) = store.by_pin("0408_81_1")
        assert (one.address, one.zip_code, one.property_class) == ("1 OLD ST", "08102", "2")
        assert [p.pin for p in store.at(X + 10, Y + 10)] == ["0408_81_1"]
        assert store.by_pin("0408_81_3")[0].address is None


def test_the_later_import_counts_whatever_the_clock_says(tmp_path: Path, home: Path) -> None:
    load(write(frame({}), tmp_path / "one.gpkg"), home)
    held = parcel_editions(home)[0]
    assert held.edition is not None
    ahead = held.edition.model_copy(update={"added_at": held.edition.added_at + timedelta(days=400)})
    (held.folder / "edition.json").write_text(ahead.model_dump_json())
    with opened(home):  # somebody reads it, so that it stays
        load(write(frame({"PAMS_PIN": "0714_1_1"}), tmp_path / "two.gpkg"), home)
        assert pins(home) == ["0408_81_1", "0714_1_1"]


def test_room_of_what_was_replaced_is_given_back(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("pams_pin,prop_loc\n" + "".join(f"0714_1_{n},{n} MAIN ST\n" for n in range(3_000)))
    sizes = []
    for _ in range(3):
        load(path, home)
        sizes.append(opened(home).edition.size_bytes)
    assert max(sizes) < 1.4 * sizes[0]


def test_the_same_file_again_is_the_same_parcels(tmp_path: Path, home: Path) -> None:
    path = write(composite(), tmp_path / "parcels.gpkg")
    load(path, home)
    before = pins(home)
    load(path, home)
    assert pins(home) == before
    assert len(parcel_editions(home)) == 1


# -- what is refused ------------------------------------------------------------------------------------


def test_what_is_refused_changes_nothing(tmp_path: Path, home: Path) -> None:
    load(write(frame({}), tmp_path / "good.gpkg"), home)
    before = sorted(path.name for path in (home / "parcels").iterdir())
    write(frame({"PAMS_PIN": "0714_1_1"}), tmp_path / "undeclared.shp").with_suffix(".prj").unlink()
    assert refused(tmp_path / "undeclared.shp", home) == "undeclared_crs"
    (tmp_path / "names.csv").write_text("name,town\nA,Newark\n")
    assert refused(tmp_path / "names.csv", home) == "no_number_columns"
    (tmp_path / "lots.csv").write_text("block,lot\n1,2\n")
    assert refused(tmp_path / "lots.csv", home) == "no_municipality"
    (tmp_path / "none.csv").write_text("pams_pin\nROAD\n")
    assert refused(tmp_path / "none.csv", home) == "no_records"
    assert refused(tmp_path / "names.csv", home, fields={"pin": "number"}) == "no_column"
    assert refused(tmp_path / "names.csv", home, fields={"nonsense": "name"}) == "unknown_field"
    assert refused(tmp_path / "absent.csv", home) == "not_found"
    assert refused(write(frame({}), tmp_path / "a.gpkg"), home, crs="EPSG:4326") == "crs_contradiction"
    assert (
        refused(write(frame({"geometry": None}, {}), tmp_path / "b.gpkg"), home, fields={"lot": "PCLLOT2"})
        == "no_column"
    )
    assert pins(home) == ["0408_81_1"]
    assert sorted(path.name for path in (home / "parcels").iterdir()) == before


def test_one_municipality_may_be_stated_for_all(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "lots.csv"
    path.write_text("block,lot\n1,2\n")
    load(path, home, constants={"municipality": "Newark City"})
    assert pins(home) == ["0714_1_2"]


def test_strict_loading_refuses_changes(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("pams_pin\n714_1_1\n")
    assert refused(path, home, strict=True) == "strict"
    assert not parcel_editions(home)


def test_a_dry_run_keeps_nothing(tmp_path: Path, home: Path) -> None:
    path = write(composite(), tmp_path / "parcels.gpkg")
    assert load(path, home, dry_run=True).edition is None
    assert not home.exists()
    load(path, home)
    load(write(frame({}), tmp_path / "other.gpkg"), home, dry_run=True)
    assert len(pins(home)) == 10


def test_an_edition_of_tomorrow_is_refused(tmp_path: Path, home: Path) -> None:
    with pytest.raises(LayerError, match="still to come"):
        load(write(composite(), tmp_path / "parcels.gpkg"), home, edition=date(2999, 1, 1))


@pytest.mark.parametrize("share", [0.3, 0.7, 0.95])
def test_a_file_that_is_cut_off_is_refused(share: float, tmp_path: Path, home: Path) -> None:
    for ending in (".gpkg", ".parquet", ".shp"):
        path = write(gpd.GeoDataFrame(np.repeat(composite(), 20, axis=0), columns=composite().columns, crs="EPSG:3424"),
                     tmp_path / f"p{ending}")  # fmt: skip
        content = path.read_bytes()
        path.write_bytes(content[: int(len(content) * share)])
        with pytest.raises(LayerFault) as error:
            load(path, home)
        assert error.value.fault in {"truncated", "unreadable", "wrong_format", "broken_geometry"}, ending
    assert not parcel_editions(home)


def test_a_bomb_and_a_path_outside_are_refused(tmp_path: Path, home: Path) -> None:
    bomb, outside = tmp_path / "bomb.zip", tmp_path / "outside.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("parcels.csv", b"0" * (300 << 20))
    with zipfile.ZipFile(outside, "w") as file:
        file.writestr("../parcels.csv", "pams_pin\n0714_1_1\n")
    assert refused(bomb, home) == "archive_bomb"
    assert refused(outside, home) == "archive_path"


def test_a_full_disk_leaves_the_earlier_store(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load(write(frame({}), tmp_path / "good.gpkg"), home)

    def full(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("grownj_geo.parcelbuild.mark_shared", full)
    with pytest.raises(LayerError, match="disk is full"):
        load(write(composite(), tmp_path / "more.gpkg"), home)
    assert pins(home) == ["0408_81_1"]


_IMPORT = """
import sys, time
import grownj_geo.parcelbuild as build
place = build.put_edition
def slow(*words):
    print("made", flush=True)
    time.sleep(60)
    place(*words)
build.put_edition = slow
build.import_parcels(sys.argv[1], home=sys.argv[2])
"""


@pytest.mark.slow
def test_an_import_that_is_killed_leaves_the_earlier_store(tmp_path: Path, home: Path) -> None:
    load(write(frame({}), tmp_path / "good.gpkg"), home)
    more = write(composite(), tmp_path / "more.gpkg")
    with subprocess.Popen([sys.executable, "-c", _IMPORT, more, home], stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == "made\n"
        assert list((home / "parcels" / "incoming").rglob("parcels.sqlite"))
        os.kill(killed.pid, signal.SIGKILL)
    assert pins(home) == ["0408_81_1"]
    load(more, home)
    assert len(pins(home)) == 10
    assert not list((home / "parcels").glob("incoming*"))


_READ = """
import sys, time
from grownj_geo.parcelstore import ParcelStore
store = ParcelStore.open(sys.argv[1])
print("open", flush=True)
until, looked = time.monotonic() + 60, 0
while time.monotonic() < until:
    assert len(store.by_pin("0408_81_1")) == 1 and store.at(*map(float, sys.argv[2:4]))
    looked += 1
    if not store.is_current and looked > 100:
        break
print(store.is_current, store.edition.parcels, flush=True)
"""


@pytest.mark.slow
def test_two_processes_read_while_a_third_imports(tmp_path: Path, home: Path) -> None:
    load(write(frame({}), tmp_path / "camden.gpkg"), home)
    words = [sys.executable, "-c", _READ, home, str(X + 10), str(Y + 10)]
    readers = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        assert [reader.stdout.readline() for reader in readers if reader.stdout] == ["open\n", "open\n"]
        held = parcel_editions(home)[0].folder
        load(write(frame({"PAMS_PIN": "0714_1_1"}), tmp_path / "newark.gpkg"), home)
        assert held.exists()
        said = [reader.communicate(timeout=90)[0] for reader in readers]
    finally:
        for reader in readers:
            reader.kill()
            reader.wait()
    assert said == ["False 1\n", "False 1\n"]
    assert pins(home) == ["0408_81_1", "0714_1_1"]
    # Nobody holds it any more: the next import takes it away.
    load(write(frame({"PAMS_PIN": "0717_1_1"}), tmp_path / "orange.gpkg"), home)
    assert [one.folder for one in parcel_editions(home) if one.folder == held] == []


@pytest.mark.shared
def test_the_list_of_orange(shared: Path, home: Path) -> None:
    imported = load(shared / "data" / "orange_city_modiv_2022.csv", home)
    assert (imported.part.read, imported.part.kept) == (5_541, 5_541)
    assert imported.part.fields["address"] == "prop_loc"
    with opened(home) as store, closing(store.connection.cursor()) as cursor:
        rows = cursor.execute("SELECT pin, block, lot, qualifier FROM parcels").fetchall()
        assert all("_".join(filter(None, ["0717", *parts])) == pin for pin, *parts in rows)
        # Every row by its number, and by block and lot with all its units.
        assert all(len(store.by_pin(pin)) == 1 for pin, *_ in rows[::50])
        assert all(pin in {p.pin for p in store.by_lot("0717", block, lot)} for pin, block, lot, _ in rows[::50])


@pytest.mark.shared
def test_the_commercial_lots_of_bergen_and_hudson(shared: Path, home: Path) -> None:
    imported = load(shared / "data" / "bergen_hudson_commercial_parcels_2026.csv", home)
    assert imported.part.kept == 250
    with opened(home) as store:
        (lot_,) = store.by_lot("0219", "4851.03", "1", "C0002")
        assert (lot_.pin, lot_.address) == ("0219_4851.03_1_C0002", "245 Park Ave.")


def test_time_is_told_once(tmp_path: Path, home: Path) -> None:
    imported = load(write(composite(), tmp_path / "parcels.gpkg"), home)
    assert imported.part.retrieved_at.timestamp() == pytest.approx(time.time(), abs=60)
