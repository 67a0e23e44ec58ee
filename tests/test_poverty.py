"""Poverty by tract: every form of table, damaged ones, and the Census Bureau's interface."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from grownj_geo.features import LayerFault
from grownj_geo.poverty import fetch_poverty, read_poverty_table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CAMDEN, NEWARK, WATER = "34007600400", "34013000100", "34001990000"


def _write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


# -- the forms of tables -----------------------------------------------------------------------------------

EXACTLY_20, BELOW_20 = ("500", "100"), ("2500", "499")


def _api_rows() -> list[list[str | None]]:
    return [
        ["NAME", "B17001_001E", "B17001_002E", "state", "county", "tract"],
        ["Census Tract 6004", *EXACTLY_20, "34", "007", "600400"],
        ["Census Tract 1", *BELOW_20, "34", "013", "000100"],
        ["Census Tract 9900", "0", "0", "34", "001", "990000"],
        ["Census Tract 2", "-666666666", "-666666666", "34", "013", "000200"],
        ["Census Tract 3", None, None, "34", "013", "000300"],
    ]


RATES = {CAMDEN: "20.0", NEWARK: "19.96", WATER: "", "34013000200": "", "34013000300": ""}


def test_the_interfaces_json(tmp_path: Path) -> None:
    path = _write(tmp_path / "b17001.json", json.dumps(_api_rows()))
    table = read_poverty_table(path)
    assert table.rates == RATES
    assert (table.edition, table.vintage, table.source) == (None, None, "b17001.json")
    (change,) = table.changes
    assert (change.kind, change.effect, change.rows) == ("no_rate", "noted", (3, 4, 5))


def test_a_download_with_its_row_of_labels(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "ACSDT5Y2015.B17001-Data.csv",
        '"GEO_ID","NAME","B17001_001E","B17001_001M","B17001_002E",',
        '"Geography","Geographic Area Name","Estimate!!Total","Margin of Error!!Total",'
        '"Estimate!!Total!!Income in the past 12 months below poverty level",',
        f'"1400000US{CAMDEN}","Census Tract 6004, Camden County, New Jersey","500","80","100",',
        f'"1400000US{NEWARK}","Census Tract 1, Essex County, New Jersey","2,500","80","499",',
        '"1400000US36061000100","Census Tract 1, New York County, New York","10","5","3",',
    )
    table = read_poverty_table(path)
    assert table.rates == {CAMDEN: "20.0", NEWARK: "19.96"}
    assert table.edition == "2011-2015"
    assert {(c.kind, c.rows) for c in table.changes} == {("other_states", (3,)), ("label_row", ())}


def test_a_download_of_the_former_site(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "ACS_14_5YR_B17001_with_ann.csv",
        "GEO.id,GEO.id2,GEO.display-label,HD01_VD01,HD02_VD01,HD01_VD02",
        "Id,Id2,Geography,Estimate; Total:,Margin of Error; Total:,"
        "Estimate; Total: - Income in the past 12 months below poverty level:",
        f'1400000US{CAMDEN},{CAMDEN},"Census Tract 6004, Camden County, New Jersey",500,10,100',
    )
    table = read_poverty_table(path)
    assert (table.rates, table.edition) == ({CAMDEN: "20.0"}, "2010-2014")


def test_a_download_of_another_table_is_not_read_as_poverty(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "t.csv",
        "GEO_ID,NAME,B17001_001E,B17001_002E",
        "Geography,Geographic Area Name,Estimate!!Total,Estimate!!Total!!Male",
        f"1400000US{CAMDEN},a,500,100",
    )
    with pytest.raises(LayerFault, match="labelled 'Estimate!!Total!!Male'") as raised:
        read_poverty_table(path)
    assert raised.value.fault == "missing_columns"


def test_a_plain_table_of_counts_or_rates(tmp_path: Path) -> None:
    counts = _write(tmp_path / "a.csv", "geoid,b17001_001e,b17001_002e", f"{CAMDEN},500,100", f"{NEWARK},0,0")
    assert read_poverty_table(counts).rates == {CAMDEN: "20.0", NEWARK: ""}
    rates = _write(tmp_path / "b.csv", "GEOID20,POVERTY_RATE", f"{CAMDEN},19.960000000000001", f"{NEWARK},")
    table = read_poverty_table(rates)
    assert table.rates == {CAMDEN: "19.960000000000001", NEWARK: ""}
    assert (table.vintage, table.changes) == ("2020", ())


def test_rounded_rates_are_said_to_be_rounded(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.csv", "GEOID,POVERTY_RATE", f"{CAMDEN},20.0", f"{NEWARK},7", f"{WATER},")
    (change,) = read_poverty_table(path).changes
    assert (change.kind, change.effect, change.rows) == ("rounded_rates", "noted", (1, 2))


# -- damaged tables ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("typed", ["34007600400.0", "'34007600400'", '"=""34007600400"""', "1400000US34007600400"])
def test_ids_as_spreadsheets_leave_them(tmp_path: Path, typed: str) -> None:
    table = read_poverty_table(_write(tmp_path / "a.csv", "GEOID,POVERTY_RATE", f"{typed},12.34"))
    assert table.rates == {CAMDEN: "12.34"}
    mended = [c for c in table.changes if c.kind == "tract_ids_mended"]
    assert [(c.effect, c.rows) for c in mended] == ([("changed", (1,))] if typed.endswith(".0") else [])


def test_parts_of_an_id_that_lost_their_zeros(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.csv", "state,county,tract,POVERTY_RATE", "34,7,600400,12.34", "34,13,100,15.25")
    assert set(read_poverty_table(path).rates) == {CAMDEN, NEWARK}


@pytest.mark.parametrize(
    ("lines", "fault", "words"),
    [
        (
            ["GEOID,POVERTY_RATE", "3.40076E+10,1.25", f"{CAMDEN},2.25", "340076004001,1.25"],
            "bad_tract_id",
            "row 1 .*row 3",
        ),
        (["GEOID,POVERTY_RATE", ",1.25"], "bad_tract_id", "row 1 has GEOID ''"),
        (["GEOID,POVERTY_RATE", f"{CAMDEN},20%"], "bad_rate", "row 1 has the rate '20%'"),
        (["GEOID,POVERTY_RATE", f"{CAMDEN},120"], "bad_rate", "'120'"),
        (["GEOID,POVERTY_RATE", f"{CAMDEN},0.213", f"{NEWARK},0.0512"], "bad_rate", "shares of 1"),
        (["GEOID,POVERTY_RATE", f"{CAMDEN},1.25", f"{CAMDEN},1.5"], "duplicate_tract", "rows 1 and 2"),
        (["GEOID,POVERTY_RATE", "36061000100,1.25"], "unmatched_tracts", "no row is of New Jersey"),
        (["GEOID,B17001_001E,B17001_002E", f"{CAMDEN},100,101"], "bad_count", "101 poor of 100"),
        (["GEOID,B17001_001E,B17001_002E", f"{CAMDEN},100.5,1"], "bad_count", "'100.5'"),
        (["GEOID,B17001_001E,B17001_002E", f"{CAMDEN},-5,1"], "bad_count", "'-5'"),
        (["GEOID,B17001_001E,B17001_002E", f"{CAMDEN},many,1"], "bad_count", "'many'"),
        (["GEOID,B17001_001E", f"{CAMDEN},100"], "missing_columns", "Expected B17001_001E and B17001_002E"),
        (["TRACT,POVERTY_RATE", "600400,1.25"], "missing_columns", "Expected GEOID"),
        (["GEOID,GEOID,POVERTY_RATE", f"{CAMDEN},{CAMDEN},1.25"], "missing_columns", "two columns named GEOID"),
        (["GEOID,POVERTY_RATE", CAMDEN], "unreadable_table", "line 2 has 1 values"),
        (["GEOID,POVERTY_RATE", f"{CAMDEN},1.25,9"], "unreadable_table", "line 2 has 3 values"),
        (["GEOID,POVERTY_RATE"], "unreadable_table", "no rows"),
        (["GEOID,POVERTY_RATE", f'{CAMDEN},"1.25'], "unreadable_table", "not readable CSV"),
        (['[["NAME","B17001_001E"],["a"]]'], "unreadable_table", "rows of one length"),
        (['[["NAME","B17001_001E"],["a","1"'], "unreadable_table", "not readable JSON"),
        (['{"error": "no key"}'], "unreadable_table", "not a list of rows"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, lines: list[str], fault: str, words: str) -> None:
    with pytest.raises(LayerFault, match=words) as raised:
        read_poverty_table(_write(tmp_path / "t.csv", *lines))
    assert raised.value.fault == fault
    assert "t.csv" in str(raised.value)


def test_files_that_are_no_tables(tmp_path: Path) -> None:
    (tmp_path / "t.zip").write_bytes(b"PK\x03\x04\xff\xfe\x00")
    for path, words in ((tmp_path / "t.zip", "unpack a zip"), (tmp_path / "absent.csv", "cannot be read")):
        with pytest.raises(LayerFault, match=words) as raised:
            read_poverty_table(path)
        assert raised.value.fault == "unreadable_table"


# -- the interface ----------------------------------------------------------------------------------------


def test_poverty_is_fetched_for_the_editions_last_year() -> None:
    asked: list[tuple[str, dict[str, str]]] = []

    def get_json(url: str, params: Mapping[str, str]) -> Any:
        asked.append((url, dict(params)))
        return _api_rows()

    table = fetch_poverty("2011-2015", get_json=get_json)
    assert (table.rates, table.edition) == (RATES, "2011-2015")
    fetch_poverty("2011-2015", get_json=get_json, key="secret")
    (url, params), (_, with_key) = asked
    assert url == "https://api.census.gov/data/2015/acs/acs5"
    assert params == {"get": "NAME,B17001_001E,B17001_002E", "for": "tract:*", "in": "state:34"}
    assert with_key == params | {"key": "secret"}


@pytest.mark.parametrize(
    ("error", "fault"), [(OSError, "fetch_failed"), (lambda text: LayerFault("timed_out", text), "timed_out")]
)
@pytest.mark.parametrize("key", ["secret", "se/cr+et"])
def test_the_key_stands_in_no_message(error: Any, fault: str, key: str) -> None:
    def get_json(url: str, params: Mapping[str, str]) -> Any:
        raise error(f"{url}?{urlencode(params)} timed out, asked with {params['key']}")

    with pytest.raises(LayerFault, match=r"key=\(key\) timed out, asked with \(key\)") as raised:
        fetch_poverty("2011-2015", get_json=get_json, key=key)
    assert raised.value.fault == fault
    assert raised.value.__suppress_context__


def test_failures_without_a_key_come_through() -> None:
    def get_json(_url: str, _params: Mapping[str, str]) -> Any:
        raise OSError("no network")

    with pytest.raises(OSError, match="no network"):
        fetch_poverty("2011-2015", get_json=get_json, key="secret")


@pytest.mark.parametrize("answer", [None, {"error": "x"}, [], [["NAME"]], "<html>"])
def test_an_answer_that_is_no_table(answer: Any) -> None:
    with pytest.raises(LayerFault) as raised:
        fetch_poverty("2011-2015", get_json=lambda _url, _params: answer)
    assert raised.value.fault == "unreadable_table"
