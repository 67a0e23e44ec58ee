"""Poverty joined to tracts: every form of table, damaged ids, and tracts of another census."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import numpy as np
import pytest
import shapely
from drawn import around, draw, manifest_of, outcome, site

from grownj_geo.atlas import Atlas
from grownj_geo.determine import Engine
from grownj_geo.features import Features, LayerFault
from grownj_geo.rulebook import load_rulebook
from grownj_geo.tracts import (
    PovertyTable,
    edition_vintage,
    fetch_poverty,
    join_poverty,
    read_poverty_table,
    tract_service,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

CAMDEN, NEWARK, WATER = "34007600400", "34013000100", "34001990000"
PLACE = (-75.1190, 39.9447)


def _tracts(ids: Sequence[Any], *, field: str = "GEOID10", source: str = "drawn.shp", **more: list[Any]) -> Features:
    shapes = np.array([shapely.box(i, 0, i + 1, 1) for i in range(len(ids))], dtype=object)
    return Features(source, {field: list(ids), **more}, shapes, "EPSG:4269")


def _table(rates: Mapping[str, str], **more: Any) -> PovertyTable:
    return PovertyTable("drawn.csv", rates, {geoid: i for i, geoid in enumerate(rates, start=1)}, **more)


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


# -- editions and where to fetch ---------------------------------------------------------------------------


@pytest.mark.parametrize("edition", ["2005-2009", "2011-2016", "2015", "2011 to 2015", "2015-2011", ""])
def test_what_is_no_edition(edition: str) -> None:
    with pytest.raises(LayerFault) as raised:
        edition_vintage(edition)
    assert raised.value.fault == "bad_edition"


@pytest.mark.parametrize(
    ("edition", "service"), [("2006-2010", "Census2010"), ("2015-2019", "Census2010"), ("2016-2020", "Census2020")]
)
def test_boundaries_come_from_the_service_of_the_editions_vintage(edition: str, service: str) -> None:
    found = tract_service(edition)
    assert f"tigerWMS_{service}/MapServer/" in found.url
    assert found.vintage == edition_vintage(edition) == service.removeprefix("Census")
    assert found.note


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


# -- the join ----------------------------------------------------------------------------------------------


def test_rates_go_to_their_tracts_and_water_has_none() -> None:
    tracts = _tracts([NEWARK, WATER, CAMDEN], NAMELSAD10=["Census Tract 1", "Census Tract 9900", None])
    joined = join_poverty(tracts, _table({CAMDEN: "20.0", NEWARK: "19.96"}), edition="2011-2015")
    assert joined.columns == {
        "GEOID": [NEWARK, WATER, CAMDEN],
        "NAMELSAD": ["Census Tract 1", "Census Tract 9900", "Census Tract 6004"],
        "POVERTY_RATE": ["19.96", "", "20.0"],
        "ACS_EDITION": ["2011-2015"] * 3,
        "TRACT_VINTAGE": ["2010"] * 3,
    }
    assert set(manifest_of("census_tract_poverty").required_fields) <= set(joined.columns)
    assert joined.geometries.tolist() == tracts.geometries.tolist()
    assert joined.crs == tracts.crs
    assert [(c.kind, c.rows) for c in joined.changes] == [("water_tracts", (2,))]


def test_tracts_of_other_states_are_left_out_and_said() -> None:
    tracts = _tracts(["36061000100", CAMDEN, "1001020100"])
    joined = join_poverty(tracts, _table({CAMDEN: "5.5"}), edition="2011-2015")
    assert joined.columns["GEOID"] == [CAMDEN]
    assert shapely.bounds(joined.geometries[0]).tolist() == [1, 0, 2, 1]
    assert ("other_states", "left_out", (1, 3)) in [(c.kind, c.effect, c.rows) for c in joined.changes]


@pytest.mark.parametrize(
    ("tracts", "vintage", "expected"),
    [
        (_tracts([CAMDEN], field="GEOID10"), None, "2010"),
        (_tracts([CAMDEN], field="GEOID20"), None, "2020"),
        (_tracts([CAMDEN], field="geoid", source="tl_2015_34_tract.shp"), None, "2010"),
        (_tracts([CAMDEN], field="GEOID", source="cb_2018_34_tract_500k.zip"), None, "2010"),
        (_tracts([CAMDEN], field="GEOID", source="tl_2022_34_tract.shp"), None, "2020"),
        (_tracts([CAMDEN], field="GEOID10", source="tl_2020_34_tract10.shp"), None, "2010"),
        (_tracts([CAMDEN], field="GEOID", source=tract_service("2011-2015").url), None, "2010"),
        (_tracts([CAMDEN], field="GEOID", source=tract_service("2016-2020").url), None, "2020"),
        (_tracts([CAMDEN], field="GEOID", TRACT_VINTAGE=["2010"]), None, "2010"),
        (_tracts([CAMDEN], field="GEOID"), "2020", "2020"),
    ],
)
def test_the_vintage_is_recognised_and_another_editions_is_refused(
    tracts: Features, vintage: str | None, expected: str
) -> None:
    fits, other = ("2011-2015", "2016-2020")[:: 1 if expected == "2010" else -1]
    joined = join_poverty(tracts, _table({CAMDEN: "5.5"}), edition=fits, vintage=vintage)
    assert joined.columns["TRACT_VINTAGE"] == [expected]
    with pytest.raises(LayerFault, match=f"tracts are those of {expected}") as raised:
        join_poverty(tracts, _table({CAMDEN: "5.5"}), edition=other, vintage=vintage)
    assert raised.value.fault == "mixed_vintage"


@pytest.mark.parametrize(
    ("tracts", "vintage", "fault"),
    [
        (_tracts([CAMDEN], field="GEOID"), None, "unknown_vintage"),
        (_tracts([CAMDEN], field="GEOID", source="tl_2008_34_tract.shp"), None, "unknown_vintage"),
        (_tracts([CAMDEN], field="GEOID20"), "2010", "mixed_vintage"),
        (_tracts([CAMDEN], field="GEOID10", TRACT_VINTAGE=["2020"]), None, "mixed_vintage"),
        (_tracts([CAMDEN], field="TRACTCE"), "2010", "missing_columns"),
        (_tracts([CAMDEN, CAMDEN]), None, "duplicate_tract"),
        (_tracts(["600400"]), None, "bad_tract_id"),
        (_tracts([CAMDEN, NEWARK]), None, "unmatched_tracts"),
        (_tracts([WATER]), None, "unmatched_tracts"),
        # The 2020 census cut tracts in two: numbers on either side that the other does not have.
        (_tracts(["34007600401", "34007600402"]), None, "mixed_vintage"),
    ],
)
def test_boundaries_that_do_not_fit_the_table(tracts: Features, vintage: str | None, fault: str) -> None:
    with pytest.raises(LayerFault) as raised:
        join_poverty(tracts, _table({CAMDEN: "5.5"}), edition="2011-2015", vintage=vintage)
    assert raised.value.fault == fault


def test_what_a_table_says_of_itself_counts() -> None:
    with pytest.raises(LayerFault, match="2012-2016") as raised:
        join_poverty(_tracts([CAMDEN]), _table({CAMDEN: "5.5"}, edition="2012-2016"), edition="2011-2015")
    assert raised.value.fault == "edition_contradicted"
    with pytest.raises(LayerFault, match="on the tracts of 2020") as raised:
        join_poverty(_tracts([CAMDEN]), _table({CAMDEN: "5.5"}, vintage="2020"), edition="2011-2015")
    assert raised.value.fault == "mixed_vintage"


def test_unmatched_tracts_are_named() -> None:
    with pytest.raises(LayerFault, match=f"1 of 2 tracts are not in the table \\({NEWARK}\\)"):
        join_poverty(_tracts([CAMDEN, NEWARK]), _table({CAMDEN: "5.5"}), edition="2011-2015")


# -- with the real tracts ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real_tracts(shared: Path) -> Features:
    import geopandas as gpd  # noqa: PLC0415 - for these tests only

    frame = gpd.read_parquet(shared / "data" / "nj_tracts_cb2018_500k.parquet")
    columns = {"geoid": frame["geoid"].tolist(), "tract_name": frame["tract_name"].tolist()}
    return Features("nj_tracts_cb2018_500k.parquet", columns, frame.geometry.to_numpy(), str(frame.crs))


@pytest.fixture(scope="module")
def listed_2020(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> PovertyTable:
    with (shared / "data" / "nj_tract_poverty_nmtc_lic_acs2016_2020.csv").open(encoding="utf-8") as file:
        rows = [(row["geoid"], row["poverty_rate_pct"]) for row in csv.DictReader(file)]
    path = tmp_path_factory.mktemp("tables") / "listed.csv"
    return read_poverty_table(_write(path, "GEOID,POVERTY_RATE", *(",".join(row) for row in rows)))


@pytest.mark.shared
def test_real_tracts_of_2010_with_a_table_of_2020_are_refused(real_tracts: Features, listed_2020: PovertyTable) -> None:
    with pytest.raises(LayerFault, match=r"those of 2010; the edition 2016-2020 .* those of 2020") as raised:
        join_poverty(real_tracts, listed_2020, edition="2016-2020")
    assert raised.value.fault == "mixed_vintage"
    # Whoever says that the table is of an earlier edition is contradicted by the ids.
    with pytest.raises(LayerFault, match="another census's tracts") as raised:
        join_poverty(real_tracts, listed_2020, edition="2015-2019")
    assert raised.value.fault == "mixed_vintage"


@pytest.mark.shared
def test_all_real_tracts_take_a_rate(real_tracts: Features, tmp_path: Path) -> None:
    ids = real_tracts.columns["geoid"]
    lines = [f"{geoid},{1000 + i},{i % 900}" for i, geoid in enumerate(ids)]
    table = read_poverty_table(_write(tmp_path / "a.csv", "GEOID,B17001_001E,B17001_002E", *reversed(lines)))
    joined = join_poverty(real_tracts, table, edition="2011-2015")
    assert len(joined) == 2006
    assert [float(rate) for rate in joined.columns["POVERTY_RATE"]] == [
        100 * (i % 900) / (1000 + i) for i in range(2006)
    ]
    assert joined.columns["NAMELSAD"][0] == "Census Tract 1"


# -- in a determination ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("counts", "expected"), [(EXACTLY_20, "yes"), (BELOW_20, "no"), (("0", "0"), "undetermined")])
def test_the_level_is_tested_on_the_unrounded_rate(tmp_path: Path, counts: tuple[str, str], expected: str) -> None:
    path = _write(tmp_path / "a.csv", "GEOID,B17001_001E,B17001_002E", f"{CAMDEN},{','.join(counts)}")
    shape = around(PLACE, 2000)
    features = Features("drawn.shp", {"GEOID10": [CAMDEN]}, np.array([shape], dtype=object), "EPSG:3424")
    joined = join_poverty(features, read_poverty_table(path), edition="2011-2015")
    row = {name: values[0] for name, values in joined.columns.items()}
    layer = draw("census_tract_poverty", [(shape, row)])
    run = Engine(Atlas(layers=[layer]), load_rulebook()).run(site(around(PLACE, 50)))
    assert outcome(run, "deep_poverty_pocket") == expected
