"""Tables out: every format, hostile texts, runs that are killed and go on, and disks that are full."""

from __future__ import annotations

import csv
import datetime as dt
import json
import os
import subprocess
import sys
import textwrap
import time
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import numpy as np
import openpyxl
import pyarrow.parquet as pq
import pyogrio
import pytest
import shapely
from test_rows_sheet import book
from test_siterows import geoparquet, opened, parcels, text

from grownj_geo import tableout
from grownj_geo.features import Change, LayerFault
from grownj_geo.tableout import OUT_FORMATS, OutColumn, drawn, open_writer, parts_done

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.siterows import SiteTableReader

EXTRA = (OutColumn("tier"), OutColumn("margin_ft", "number"), OutColumn("near", "boolean"), OutColumn("n", "integer"))
HOSTILE = [
    '=HYPERLINK("http://x","y")',
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "#REF!",
    "'quoted'",
    '"two"',
    "a,b;c",
    "two\nlines",
    "<img src=x onerror=alert(1)>",
    "${7*7}",
    '{"a": 1}',
    "[1, 2]",
    "0102",
    "1.10",
    "3E5",
    "-74.16",
    "08401",
    "TRUE",
    "Pe\xf1a \u2265 \U0001f600",
    "  spaced  ",
    "NULL",
    "nan",
    "_x0041_",
]


def added(count: int, start: int = 0) -> dict[str, Any]:
    rows = np.arange(start, start + count)
    return {
        "tier": [f"tier {i % 3}" for i in rows],
        "margin_ft": np.where(rows % 2 == 0, rows / 4, np.nan),
        "near": [bool(i % 2) for i in rows],
        "n": rows,
    }


def write(
    reader: SiteTableReader, path: Path, *, size: int = 100, stop: int | None = None, resume: bool = False, **more: Any
) -> tuple[Change, ...]:
    with open_writer(path, header=reader.columns, extra=EXTRA, crs=reader.crs, resume=resume, **more) as writer:
        for number, block in enumerate(reader.blocks(writer.rows, size)):
            if number == stop:
                return ()
            shown = None if writer.draws is None else drawn(block, as_came=writer.draws == "came")
            writer.write(block, added(len(block), block.start), drawn=shown, tally={"rows": len(block)})
        return writer.finish()


def hostile(folder: Path) -> Path:
    path = folder / "hostile.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["owner", "lot", "lon", "lat"])
        rows.writerows([value, "1.10", "-74.1641", "40.7344"] for value in HOSTILE)
    return path


def owners(path: Path) -> list[Any]:
    """Read the owners back with another program's reader."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return [row["owner"] for row in csv.DictReader(file)]
    if path.suffix == ".xlsx":
        sheet = openpyxl.load_workbook(path).active
        assert sheet is not None
        assert {cell.data_type for row in sheet.iter_rows(min_row=2, max_col=4) for cell in row} == {"s"}
        return [row[0].value for row in sheet.iter_rows(min_row=2)]
    if path.suffix in {".parquet", ".geoparquet"}:
        return list(pq.read_table(path).column("owner").to_pylist())
    if path.suffix == ".gpkg":
        return list(pyogrio.read_dataframe(path)["owner"])
    return [feature["properties"]["owner"] for feature in json.loads(path.read_text(encoding="utf-8"))["features"]]


@pytest.mark.parametrize("ending", OUT_FORMATS)
def test_hostile_texts_stay_text(tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"out{ending}"
    told = write(opened(hostile(tmp_path)), out)
    expected = list(HOSTILE)
    if ending == ".csv":
        expected[:6] = [f"'{value}" for value in HOSTILE[:6]]
        assert [(c.kind, c.count) for c in told] == [("formula_as_text", 6)]
    if ending == ".xlsx":
        # Excel undoes this; openpyxl shows the sign by its number.
        expected[-1] = "_x005F_x0041_"
        expected[5] = "\n=1"
        assert [(c.kind, c.rows) for c in told] == [("line_ends_replaced", (7,))]
    assert owners(out) == expected


@pytest.mark.parametrize("ending", OUT_FORMATS)
def test_a_run_that_was_interrupted_gives_the_same_bytes(tmp_path: Path, ending: str) -> None:
    reader = opened(geoparquet(tmp_path / "in.parquet", 950))
    whole, again = tmp_path / f"whole{ending}", tmp_path / "again" / f"whole{ending}"
    again.parent.mkdir()
    write(reader, whole)
    # The clocks that formats have go by seconds.
    time.sleep(1.1)
    work = again.with_name(f".{again.name}.parts")
    for stop in (3, 2, 0):
        write(reader, again, stop=stop, resume=True)
        assert not again.exists()
    assert parts_done(work) == 5
    write(reader, again, resume=True)
    assert again.read_bytes() == whole.read_bytes()
    assert [path.name for path in again.parent.iterdir()] == [again.name]


@pytest.mark.parametrize("ending", [".geoparquet", ".gpkg", ".geojson"])
def test_geometry_leaves_as_it_came(tmp_path: Path, ending: str) -> None:
    drawn = parcels("EPSG:4326" if ending == ".geojson" else "EPSG:32111")
    drawn.to_parquet(tmp_path / "in.parquet")
    out = tmp_path / f"out{ending}"
    write(opened(tmp_path / "in.parquet"), out)
    back = gpd.read_parquet(out) if ending == ".geoparquet" else gpd.read_file(out)
    assert back.crs == drawn.crs
    assert shapely.equals_exact(back.geometry.values, drawn.geometry.values, tolerance=0).all()
    assert back["PAMS_PIN"].tolist()[:2] == ["0714_1_1", "0714_1_1.10"]
    assert back["n"].tolist() == [0, 1, 2, 3]
    assert back["margin_ft"].isna().tolist() == [False, True, False, True]


def test_coordinates_become_geometry(tmp_path: Path) -> None:
    reader = opened(text(tmp_path, "lon,lat\n-74.1641,40.7344\n,\n-74.2,41.0\n"))
    for ending in (".gpkg", ".geojson", ".geoparquet"):
        write(reader, tmp_path / f"out{ending}")
    drawn = gpd.read_file(tmp_path / "out.gpkg")
    assert drawn.crs.to_epsg() == 3424
    assert drawn.geometry.isna().tolist() == [False, True, False]
    features = json.loads((tmp_path / "out.geojson").read_text(encoding="utf-8"))["features"]
    assert features[0]["geometry"]["coordinates"] == pytest.approx([-74.1641, 40.7344], abs=1e-8)
    assert features[1]["geometry"] is None
    assert gpd.read_parquet(tmp_path / "out.geoparquet").geometry.geom_equals(drawn.geometry).tolist() == [
        True,
        False,
        True,
    ]
    write(reader, tmp_path / "plain.parquet")
    assert pq.read_table(tmp_path / "plain.parquet").column_names == ["lon", "lat", "tier", "margin_ft", "near", "n"]


def test_the_metadata_of_geoparquet(tmp_path: Path) -> None:
    write(opened(geoparquet(tmp_path / "in.parquet", 250)), tmp_path / "out.parquet")
    geo = json.loads(pq.read_schema(tmp_path / "out.parquet").metadata[b"geo"])
    column = geo["columns"][geo["primary_column"]]
    assert column["geometry_types"] == ["Polygon"]
    assert column["bbox"] == [500_000, 600_000, 502_499, 600_100]
    assert column["crs"]["id"] == {"authority": "EPSG", "code": 3424}


def test_the_kinds_of_a_sheet_come_back_in_a_sheet(tmp_path: Path) -> None:
    day = dt.date(2016, 7, 14)
    rows = [["municipality", "code", "jobs", "share", "day", "yes"], ["Newark City", "0714", 12, 3.5, day, True]]
    reader = opened(book(tmp_path, [*rows, ["Newark City", None, 10**17, None, dt.date(1899, 1, 1), False]]))
    write(reader, tmp_path / "out.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").active
    assert sheet is not None
    first, second = ([cell.value for cell in row][:6] for row in sheet.iter_rows(min_row=2))
    assert first == ["Newark City", "0714", 12, 3.5, dt.datetime.combine(day, dt.time()), True]
    assert second[1:4] == [None, str(10**17), None]
    write(reader, tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column("day").to_pylist()[0] == "2016-07-14"
    assert table.column("jobs").to_pylist() == ["12", str(10**17)]


def test_a_sheet_takes_no_more_than_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = opened(text(tmp_path, "lon,lat,note\n" + "-74.1641,40.7344,x\n" * 10))
    monkeypatch.setattr(tableout, "_MOST_SHEET_ROWS", 10)
    with pytest.raises(LayerFault, match="at most 10 rows") as refused:
        write(reader, tmp_path / "out.xlsx")
    assert refused.value.fault == "too_many_rows"
    assert not (tmp_path / "out.xlsx").exists()
    monkeypatch.setattr(tableout, "_MOST_SHEET_ROWS", 11)
    write(reader, tmp_path / "out.xlsx")
    long = text(tmp_path, f"lon,lat,note\n-74.1641,40.7344,{'x' * 40_000}\n-74.1641,40.7344,a\x07b\n", "long.csv")
    told = {c.kind: c.rows for c in write(opened(long), tmp_path / "long.xlsx")}
    assert told == {"cell_cut": (2,), "signs_replaced": (3,)}


def test_a_geopackage_tells_which_fields_it_renamed(tmp_path: Path) -> None:
    reader = opened(text(tmp_path, "lon,lat,Lot,LOT2,lot2,fid,geom2\n-74.1641,40.7344,1,2,3,007,x\n"))
    (told,) = write(reader, tmp_path / "out.gpkg")
    assert told.words == "Fields were renamed, as a GeoPackage asks: 'lot2' is 'lot2_2', 'fid' is 'fid_2'."
    back = pyogrio.read_dataframe(tmp_path / "out.gpkg")
    assert back.loc[0, ["LOT2", "lot2_2", "fid_2"]].tolist() == ["2", "3", "007"]


def test_a_table_without_rows_is_written_in_every_format(tmp_path: Path) -> None:
    for ending in OUT_FORMATS:
        path = tmp_path / f"out{ending}"
        with open_writer(path, header=["lot"], extra=EXTRA, crs="EPSG:3424") as writer:
            writer.finish()
        assert path.stat().st_size > 0
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 0


def test_marks_and_line_ends_of_text(tmp_path: Path) -> None:
    reader = opened(text(tmp_path, 'lon,lat,note\n-74.1641,40.7344,"a ""b"", c"\n'))
    write(reader, tmp_path / "out.csv", bom=True)
    expected = 'lon,lat,note,tier,margin_ft,near,n\r\n-74.1641,40.7344,"a ""b"", c",tier 0,0,false,0\r\n'
    assert (tmp_path / "out.csv").read_bytes() == b"\xef\xbb\xbf" + expected.encode()


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    for name, header, fault in (
        ("out.doc", ["a"], "wrong_format"),
        ("out.csv", ["tier"], "duplicate_fields"),
        ("out.xlsx", [f"c{i}" for i in range(16_385)], "too_many_columns"),
    ):
        with pytest.raises(LayerFault) as refused:
            open_writer(tmp_path / name, header=header, extra=EXTRA)
        assert refused.value.fault == fault
        assert not list(tmp_path.iterdir())


def test_blocks_have_to_follow_one_another(tmp_path: Path) -> None:
    reader = opened(geoparquet(tmp_path / "in.parquet", 30))
    first, second, _ = reader.blocks(size=10)
    with open_writer(tmp_path / "out.csv", header=reader.columns, extra=EXTRA) as writer:
        with pytest.raises(ValueError, match="begins after 10 rows; 0 are written"):
            writer.write(second, added(10))
        with pytest.raises(ValueError, match="expected"):
            writer.write(first, {"tier": ["x"] * 10})
        with pytest.raises(ValueError, match="does not have 10 values"):
            writer.write(first, added(9))
        writer.write(first, added(10), tally={"yes": 3})
        assert (writer.parts, writer.rows, writer.tallies) == (1, 10, [{"yes": 3}])


# -- interruptions ------------------------------------------------------------------------------------


def begun(folder: Path) -> tuple[SiteTableReader, Path, Path]:
    reader = opened(geoparquet(folder / "in.parquet", 500))
    out = folder / "out.csv"
    write(reader, out, stop=3, key="one")
    return reader, out, folder / ".out.csv.parts"


def test_another_run_does_not_go_on_with_these_parts(tmp_path: Path) -> None:
    reader, out, work = begun(tmp_path)
    assert parts_done(work) == 3
    with pytest.raises(LayerFault, match="another run: key differs") as refused:
        write(reader, out, resume=True, key="two")
    assert refused.value.fault == "other_run"
    assert parts_done(work) == 3
    write(reader, out, stop=1, key="two")
    assert parts_done(work) == 1


def test_one_run_at_a_time(tmp_path: Path) -> None:
    reader, out, _ = begun(tmp_path)
    with open_writer(out, header=reader.columns, extra=EXTRA, crs=reader.crs, key="one", resume=True):
        with pytest.raises(LayerFault) as refused:
            write(reader, out, resume=True, key="one")
        assert refused.value.fault == "in_use"
    write(reader, out, resume=True, key="one")
    assert len(out.read_text(encoding="utf-8").splitlines()) == 501


@pytest.mark.parametrize("damage", ["cut", "changed", "note", "gone", "half"])
def test_a_part_that_is_not_whole_is_done_again(tmp_path: Path, damage: str) -> None:
    reader, out, work = begun(tmp_path)
    part, note = work / "part-000001.arrow", work / "part-000001.json"
    content = part.read_bytes()
    if damage == "cut":
        part.write_bytes(content[:-100])
    elif damage == "changed":
        part.write_bytes(content[:-1] + b"?")
    elif damage == "note":
        note.write_text("{", encoding="utf-8")
    elif damage == "gone":
        part.unlink()
    else:
        note.unlink()
        (work / "part-000001.json.writing").write_text("{", encoding="utf-8")
    assert parts_done(work) == 1
    write(reader, out, resume=True, key="one")
    write(reader, tmp_path / "undisturbed.csv")
    assert out.read_bytes() == (tmp_path / "undisturbed.csv").read_bytes()


def test_a_part_that_is_damaged_before_the_end_makes_no_file(tmp_path: Path) -> None:
    reader = opened(geoparquet(tmp_path / "in.parquet", 30))
    out = tmp_path / "out.csv"
    out.write_text("as before", encoding="utf-8")
    with open_writer(out, header=reader.columns, extra=EXTRA) as writer:
        for block in reader.blocks(size=10):
            writer.write(block, added(10))
        (tmp_path / ".out.csv.parts" / "part-000002.arrow").write_bytes(b"ARROW1")
        with pytest.raises(LayerFault) as refused:
            writer.finish()
    assert refused.value.fault == "damaged_part"
    assert out.read_text(encoding="utf-8") == "as before"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".out.csv.parts", "in.parquet", "out.csv"]


KILLED = """
import sys, pathlib
sys.path.insert(0, {tests!r})
from test_tableout import opened, write
write(opened(pathlib.Path({source!r})), pathlib.Path({out!r}), size=20, resume=True)
"""


def alone(code: str, **environment: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], env={**os.environ, **environment}, stderr=subprocess.PIPE
    )


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".csv", ".gpkg", ".xlsx"])
def test_a_run_that_is_killed_at_any_moment_goes_on(tmp_path: Path, ending: str) -> None:
    source = geoparquet(tmp_path / "in.parquet", 1_600)
    write(opened(source), tmp_path / f"undisturbed{ending}", size=20)
    out = tmp_path / "killed" / f"out{ending}"
    out.parent.mkdir()
    work = out.with_name(f".{out.name}.parts")
    code = KILLED.format(tests=os.path.dirname(__file__), source=str(source), out=str(out))  # noqa: PTH120 - for a path's text
    for round_ in range(4):
        run = alone(code)
        wanted, end = 2 + 21 * round_, time.monotonic() + 60
        while run.poll() is None and len(list(work.glob("*.json")) if work.is_dir() else ()) < wanted:
            assert time.monotonic() < end
            time.sleep(0.001)
        run.kill()
        run.communicate()
        if out.exists():
            break
    else:
        run = alone(code)
        _, words = run.communicate(timeout=120)
        assert run.returncode == 0, words.decode()
    assert out.read_bytes() == (tmp_path / f"undisturbed{ending}").read_bytes()


FULL = """
import resource, signal, sys, pathlib
sys.path.insert(0, {tests!r})
from grownj_geo.features import LayerFault
from test_tableout import opened, write
reader = opened(pathlib.Path({source!r}))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, resource.RLIM_INFINITY))
try:
    write(reader, pathlib.Path({out!r}), size=150, resume=True)
except LayerFault as error:
    print(error.fault, error, file=sys.stderr)
    sys.exit(3)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="files cannot be limited there")
@pytest.mark.slow
@pytest.mark.parametrize("ending", OUT_FORMATS)
@pytest.mark.parametrize("limit", [3_000, 20_000])
def test_a_disk_that_is_full_leaves_no_half_file(tmp_path: Path, ending: str, limit: int) -> None:
    source = geoparquet(tmp_path / "in.parquet", 3_000)
    out = tmp_path / "full" / f"out{ending}"
    out.parent.mkdir()
    code = FULL.format(tests=os.path.dirname(__file__), source=str(source), out=str(out), limit=limit)  # noqa: PTH120
    # No byte code is written into the folder of the tests.
    run = alone(code, PYTHONDONTWRITEBYTECODE="1", TMPDIR=str(tmp_path))
    _, words = run.communicate(timeout=120)
    assert run.returncode == 3, words.decode()
    assert words.decode().startswith(("disk_full", "not_written"))
    assert [path.name for path in out.parent.iterdir()] == [f".out{ending}.parts"]
    write(opened(source), out, size=150, resume=True)
    write(opened(source), tmp_path / f"undisturbed{ending}", size=150)
    assert out.read_bytes() == (tmp_path / f"undisturbed{ending}").read_bytes()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is forbidden to the superuser")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    with pytest.raises(LayerFault) as refused:
        open_writer(closed / "out.csv", header=["a"], extra=())
    assert refused.value.fault == "not_written"


def test_a_target_that_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "out.csv").mkdir()
    reader = opened(geoparquet(tmp_path / "in.parquet", 10))
    with pytest.raises(LayerFault) as refused:
        write(reader, tmp_path / "out.csv")
    assert refused.value.fault == "not_written"
    assert parts_done(tmp_path / ".out.csv.parts") == 1
