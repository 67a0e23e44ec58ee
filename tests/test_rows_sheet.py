"""Workbooks as people keep them: titles, lost zeros, formulas, hidden and merged cells, several sheets."""

from __future__ import annotations

import datetime as dt
import re
import zipfile
from typing import TYPE_CHECKING, Any

import openpyxl
import pytest
from test_siterows import opened, read

from grownj_geo.features import LayerFault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

DAY = dt.datetime(2016, 7, 14)  # noqa: DTZ001 - sheets know no zones


def book(
    folder: Path, rows: Sequence[Sequence[Any]], *, shape: Callable[[Any], None] | None = None, name: str = "sites.xlsx"
) -> Path:
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    if shape is not None:
        shape(made.active)
    made.save(folder / name)
    return folder / name


def test_a_real_users_sheet(tmp_path: Path) -> None:
    def dress(sheet: Any) -> None:
        sheet.merge_cells("A1:F1")
        sheet["B5"].number_format = "0000"
        sheet["E4"].number_format = "m/d/yyyy"
        sheet.row_dimensions[6].hidden = True
        sheet.column_dimensions["F"].hidden = True

    header = [" Name ", "Mun Code", "Block", "Lot ", "Application Date", "Jobs"]
    rows = [
        ["Candidate sites, spring 2017"],
        [],
        header,
        ["A", 714, 81, "1.10", DAY, 12.0],
        ["B", 408, 81.0, 1.1, None, None],
        ["C ", "0714 ", " 81 ", "1", DAY, 3.5],
        header,
        [],
        ["D", "Newark City", 2, 3, None, None],
        [],
        ["", None, " "],
    ]
    path = book(tmp_path, rows, shape=dress)
    reader = opened(path)
    (block,) = reader.blocks()
    assert reader.header == ["Name", "Mun Code", "Block", "Lot", "Application Date", "Jobs"]
    assert list(block.rows) == [4, 5, 6, 7, 8, 9]
    assert block.mun_codes == ("0714", "0408", "0714", "", "", "0714")
    assert block.pins == (("0714_81_1.10",), (), ("0714_81_1",), (), (), ("0714_2_3",))
    assert "which may be 1.1 or 1.10" in " ".join(block.notes[1])
    assert "the row repeats the names" in str(block.problems[3])
    assert block.problems[4] == "Row 8: blank row."
    assert block.columns["Mun Code"][:2] == (714, "0408")
    assert block.columns["Application Date"][0] == dt.date(2016, 7, 14)
    assert block.facts["application_date"] == ["2016-07-14", None, "2016-07-14", None, None, None]
    assert block.columns["Jobs"][:3] == (12, None, 3.5)
    told = {c.kind: c for c in (*reader.changes, *block.changes)}
    assert {"title_rows", "hidden_rows", "hidden_columns", "blank_rows_at_end", "zeros_restored"} <= told.keys()
    assert told["hidden_rows"].rows == (6,)
    assert told["blank_rows_at_end"].rows == (10, 11)


def test_formulas_without_a_result_and_errors_are_refused_where_they_matter(tmp_path: Path) -> None:
    rows = [["lon", "lat", "note"], [-74.1641, "=40+0.7", "x"], ["#N/A", 40.7344, "x"], [-74.1641, 40.7344, "=A1"]]
    reader = opened(book(tmp_path, rows))
    (block,) = reader.blocks()
    assert "Row 2: 'lat' could not be read: it holds a formula without a result" in str(block.problems[0])
    assert "Row 3: 'lon' could not be read: it shows the error #N/A" in str(block.problems[1])
    assert block.problems[2] is None
    assert [c.rows for c in reader.changes if c.kind == "formula_without_value"] == [(2, 4)]


def test_formulas_give_the_result_that_is_kept(tmp_path: Path) -> None:
    path = book(tmp_path, [["lon", "lat"], [-74.1641, "=40+0.7344"]])

    def keep(sheet: bytes) -> bytes:
        kept, count = re.subn(rb"(<f>[^<]*</f>)<v\s*/>|(<f>[^<]*</f>)<v></v>", rb"\1\2<v>40.7344</v>", sheet)
        assert count == 1
        return kept

    block = read(rewritten(path, keep))
    assert block.problems == [None]
    assert block.columns["lat"] == (40.7344,)


def rewritten(path: Path, change: Callable[[bytes], bytes]) -> Path:
    new = path.with_name("changed.xlsx")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(new, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            target.writestr(name, change(content) if name.endswith("sheet1.xml") else content)
    return new


def test_merged_cells_are_refused_where_the_value_is_missing(tmp_path: Path) -> None:
    rows = [["municipality", "block", "lot"], ["Newark City", 1, 1], [None, 1, 2], [None, 1, 3]]
    block = read(book(tmp_path, rows, shape=lambda sheet: sheet.merge_cells("A2:A3")))
    assert block.mun_codes == ("0714", "", "")
    assert "merged with the cell that has the value" in str(block.problems[1])
    assert "nothing says where" in str(block.problems[2])


def test_several_sheets(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    made.active.title = "Notes"
    made.active.sheet_state = "hidden"
    for name, lon in (("First", -74.1641), ("Second", -74.2)):
        sheet = made.create_sheet(name)
        sheet.append(["lon", "lat"])
        sheet.append([lon, 40.7344])
    made.save(tmp_path / "several.xlsx")
    reader = opened(tmp_path / "several.xlsx")
    assert next(reader.blocks()).columns["lon"] == (-74.1641,)
    assert "not read: Notes, Second" in next(c.words for c in reader.changes if c.kind == "sheet_taken")
    assert read(tmp_path / "several.xlsx", sheet="second").columns["lon"] == (-74.2,)
    with pytest.raises(LayerFault, match="has no sheet 'Third'; found 'Notes', 'First', 'Second'"):
        opened(tmp_path / "several.xlsx", sheet="Third")


def test_a_value_beyond_the_named_columns(tmp_path: Path) -> None:
    few = book(tmp_path, [["lon", "lat"], [-74.1641, 40.7344, None, "x"], [-74.1641, 40.7344]])
    reader = opened(few)
    assert reader.header == ["lon", "lat", "column_3", "column_4"]
    assert next(reader.blocks()).problems == [None, None]
    rows = [["lon", "lat"], *[[-74.1641, 40.7344]] * 50, [-74.1641, 40.7344, "look here"]]
    block = read(book(tmp_path, rows, name="many.xlsx"))
    assert "Row 52: beyond the last named column stands 'look here'" in str(block.problems[50])


def test_a_sheet_that_lies_about_its_size(tmp_path: Path) -> None:
    path = book(tmp_path, [["lon", "lat"], *[[-74.1641, 40.7344]] * 5])
    changed = rewritten(path, lambda sheet: re.sub(rb'<dimension ref="[^"]*"', b'<dimension ref="A1:A2"', sheet))
    assert len(read(changed)) == 5


def test_what_is_no_workbook_is_refused(tmp_path: Path) -> None:
    good = book(tmp_path, [["lon", "lat"], [-74.1641, 40.7344]])
    cases = {
        "old.xlsx": (b"\xd0\xcf\x11\xe0 and so on", "wrong_format"),
        "text.xlsx": (b"lon,lat\n1,2\n", "wrong_format"),
        "cut.xlsx": (good.read_bytes()[:2_000], "unreadable"),
    }
    for name, (content, fault) in cases.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(LayerFault) as refused:
            opened(tmp_path / name)
        assert refused.value.fault == fault
    hostile = rewritten(
        good, lambda sheet: sheet.replace(b"<worksheet", b'<!DOCTYPE x [<!ENTITY a "b">]><worksheet', 1)
    )
    with pytest.raises(LayerFault, match="declares a document type"):
        opened(hostile)
    with pytest.raises(LayerFault) as refused:
        opened(rewritten(good, lambda sheet: sheet[: len(sheet) // 2]))
    assert refused.value.fault == "unreadable"
    with pytest.raises(LayerFault) as refused:
        opened(book(tmp_path, [], name="empty.xlsx"))
    assert refused.value.fault == "truncated"


def test_a_day_that_is_none_is_refused_where_it_matters(tmp_path: Path) -> None:
    def dress(sheet: Any) -> None:
        sheet["C2"].number_format = "yyyy-mm-dd"

    rows = [["lon", "lat", "application_date"], [-74.1641, 40.7344, 99_999_999], [-74.1641, 40.7344, "2016-07-14"]]
    block = read(book(tmp_path, rows, shape=dress))
    assert "'application_date' could not be read: it shows the error #VALUE!" in str(block.problems[0])
    assert block.facts["application_date"] == [None, "2016-07-14"]


def test_the_sheet_that_says_where_sites_are_is_taken(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    made.active.append(["Report of candidate sites, 2017"])
    made.create_sheet("Empty")
    for name in ("Sites", "More"):
        made.create_sheet(name).append(["Name", "Lon", "Lat"])
        made[name].append([name, -74.1641, 40.7344])
    chart = made.create_chartsheet("Chart", 0)
    drawn = openpyxl.chart.BarChart()
    drawn.add_data(openpyxl.chart.Reference(made["Sites"], min_col=2, min_row=1, max_row=2))
    chart.add_chart(drawn)
    made.save(tmp_path / "cover.xlsx")
    reader = opened(tmp_path / "cover.xlsx")
    assert next(reader.blocks()).columns["Name"] == ("Sites",)
    told = next(c.words for c in reader.changes if c.kind == "sheet_taken")
    assert "'Sites' was taken, the first that is shown and says where sites are; not read: Sheet, Empty, More" in told


def test_what_a_spreadsheet_made_of_lots_is_not_taken_for_a_parcel(tmp_path: Path) -> None:
    lots = ["1.10", 1.1, DAY, "14-Jul", dt.time(1, 10), True, "1 & 2", "1E+03", 7, "N/A"]
    rows = [["mun_code", "block", "lot", "qualifier"], *[["0714", 81, lot, None] for lot in lots]]
    rows += [["0714", 81, 1, "none"], ["0714", 81, 1, 0], ["0714", 81, "1, 2", "C0101"]]
    block = read(book(tmp_path, rows))
    assert block.problems == [None] * len(block)
    assert set(block.mun_codes) == {"0714"}
    pins = [("0714_81_1.10",), (), (), (), (), (), ("0714_81_1", "0714_81_2"), (), ("0714_81_7",), ()]
    assert list(block.pins) == [*pins, ("0714_81_1",), ("0714_81_1",), ()]
    for row, said in {1: "may be 1.1 or 1.10", 2: "makes days", 3: "makes days", 4: "makes days", 5: "neither"}.items():
        assert said in block.notes[row][0]
    assert "several lots" in block.notes[12][0]


def test_a_total_at_the_bottom_is_no_site(tmp_path: Path) -> None:
    rows = [["Name", "Lon", "Lat", "Jobs"], ["A", -74.1641, 40.7344, 10], [None, None, None, None]]
    rows += [["Average", -74.1641, 40.7344, 10], ["Total", None, None, 10]]
    block = read(book(tmp_path, rows))
    assert [problem and problem[:30] for problem in block.problems] == [
        *(None, "Row 3: blank row.", "Row 4: the row sums up others,", "Row 5: the row sums up others,")
    ]


def test_coordinates_as_people_type_them(tmp_path: Path) -> None:
    same = [(-74.1641, 40.7344), ("-74,1641", "40,7344"), ("-74.1641 ", " 40.7344"), ("\u221274.1641", "40.7344\u00b0")]
    wrong = {("74.1641", "40.7344"): "minus", (40.7344, -74.1641): "swapped", ("N/A", "-"): "nothing says where"}
    wrong |= {
        ("Lot", "Block"): "lon is 'Lot'; expected degrees",
        (0, 0): "missing",
        ("-74.1641", "n/a"): "lat is 'n/a'",
    }
    block = read(book(tmp_path, [["lon", "lat"], *map(list, same), *map(list, wrong)]))
    assert block.problems[: len(same)] == [None] * len(same)
    assert all(geometry.equals_exact(block.geometries[0], 1e-6) for geometry in block.geometries[: len(same)])
    for said, row, problem in zip(wrong.values(), block.rows[len(same) :], block.problems[len(same) :], strict=True):
        assert str(problem).startswith(f"Row {row}: ")
        assert said in str(problem)


def test_feet_with_groups_of_digits(tmp_path: Path) -> None:
    rows = [["x (ft)", "y (ft)"], [585000.5, 690000.25], ["585,000.5", "690,000.25"], ["585 000,5", "690 000,25"]]
    block = read(book(tmp_path, [*rows, ["585000,5", "690000,25"]]), crs="EPSG:3424")
    assert block.problems == [None] * 4
    assert [(g.x, g.y) for g in block.geometries] == [(585000.5, 690000.25)] * 4
    assert block.notes[1] == (
        "x (ft): '585,000.5' was read as 585000.5.",
        "y (ft): '690,000.25' was read as 690000.25.",
    )
