"""What becomes of a table's columns on the way into a GIS file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyogrio
import pytest
from few_world import few
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from grownj_geo.cli import app
from grownj_geo.exportvalues import export_columns
from grownj_geo.rows_columns import Roles

if TYPE_CHECKING:
    from pathlib import Path

ANSWERS = ("row", "problem", "notes", "base_floor", "base_assumed", "port_district_margin_ft", "atlas")


def columns_of(columns: dict[str, list[Any]], roles: Roles | None = None) -> dict[str, list[Any]]:
    return {c.name: list(c.values) for c in export_columns(few(), columns, roles=roles)}


def answered(**came: list[Any]) -> dict[str, list[Any]]:
    """Return a table of two rows as a CSV of a batch has it: all text."""
    texts = {
        "row": ["2", "3"],
        "problem": ["", "Row 3: no place"],
        "notes": ["", ""],
        "base_floor": ["5000", ""],
        "base_assumed": ["true", ""],
        "port_district_margin_ft": [">500", ""],
        "atlas": ["abc", ""],
    }
    return {**came, **texts}


def test_answers_from_a_text_file_are_what_they_are() -> None:
    found = columns_of(answered(name=["A", "B"]))
    assert found["row"] == [2, 3]
    assert found["base_floor"] == [5000, None]
    assert found["base_assumed"] == [True, None]
    assert found["port_district_margin_ft"] == [500.0, None]
    assert found["port_district_margin_ft_beyond"] == [">", None]


def test_margins_within_the_limit_have_no_side() -> None:
    columns = {"port_district_margin_ft": ["-12.5", "<-500", None, ">500", "0.0"]}
    assert columns_of(columns) == {
        "port_district_margin_ft": [-12.5, -500.0, None, 500.0, 0.0],
        "port_district_margin_ft_beyond": [None, "<", None, ">", None],
    }
    # Somebody's own words in that column stay; and a column of the other name is not lost.
    assert columns_of({"port_district_margin_ft": ["far"]}) == {"port_district_margin_ft": ["far"]}
    found = columns_of({"port_district_margin_ft": [">500"], "port_district_margin_ft_beyond": ["mine"]})
    assert found["port_district_margin_ft_beyond"] == ["mine"]
    assert found["port_district_margin_ft_beyond_"] == [">"]


@pytest.mark.parametrize(
    ("name", "texts", "expected"),
    [
        ("jobs", ["12", " ", "0"], [12, None, 0]),
        ("share", ["0.5", "12", None], [0.5, 12.0, None]),
        ("number_of_jobs", ["7"], [7]),
        ("jobs", ["1,200"], ["1,200"]),  # a comma is no figure
        ("jobs", ["012"], ["012"]),  # a code
        ("share", ["1.10"], ["1.10"]),  # not as a number is written
        ("jobs", ["1e5"], ["1e5"]),
        ("jobs", ["12", "n/a"], ["12", "n/a"]),
        ("jobs", ["9" * 16], ["9" * 16]),  # longer than a number holds
        ("jobs", ["", None], ["", None]),
        ("ZIP Code", ["8540"], ["8540"]),
        ("job_no", ["7"], ["7"]),
        ("Name", ["7"], ["7"]),
        ("Lot", ["1.1"], ["1.1"]),
        ("jobs", ["1\u0661"], ["1\u0661"]),  # digits of two scripts
        ("jobs", ["\u0661"], ["\u0661"]),
        ("Building SF", ["1200"], [1200]),
        ("LotAcres", ["0.25"], [0.25]),
        ("YR_CONSTR", ["1925"], [1925]),
        ("LAND_VAL", ["120000"], [120000]),
        ("Distance (miles)", ["2.5"], [2.5]),
        ("pct_vacant", ["12"], [12]),
        ("SHAPE_Length", ["400"], [400]),
        ("freight_spur_distance_ft", ["12"], [12]),
        ("hub_impact_ruling", ["7"], ["7"]),  # a fact, and no number
        ("tel", ["9735550100"], ["9735550100"]),
        ("Telephone", ["9735550100"], ["9735550100"]),
        ("EIN", ["221234567"], ["221234567"]),
        ("account", ["88120"], ["88120"]),
        ("permit", ["20170412"], ["20170412"]),
        ("permit_year_no", ["2017"], ["2017"]),
        ("suite", ["210"], ["210"]),
        ("NAICS", ["541511"], ["541511"]),
        ("area code", ["973"], ["973"]),
        ("tax map", ["12"], ["12"]),
        ("Ward", ["3"], ["3"]),
        ("x", ["3"], ["3"]),
    ],
)
def test_a_text_becomes_a_number_only_where_nothing_is_lost(name: str, texts: list[Any], expected: list[Any]) -> None:
    assert columns_of(answered(**{name: texts}))[name] == expected


def test_coordinates_and_facts_are_numbers_however_they_are_written_and_places_are_not() -> None:
    roles = Roles(("lon", "lat"), columns={"pin": "parcels", "municipality": "town"}, facts={"retail_sqft": "sq"})
    came = {"lat": ["40.7340"], "lon": ["-74.10"], "parcels": ["408"], "town": ["714"], "sq": ["100.0"]}
    found = columns_of(answered(**came), roles)
    assert (found["lat"], found["lon"], found["sq"]) == ([40.734], [-74.1], [100.0])
    assert (found["parcels"], found["town"]) == (["408"], ["714"])
    assert columns_of(answered(lat=["40 44 03.8 N"], lon=["x"]), roles)["lat"] == ["40 44 03.8 N"]


@given(st.lists(st.one_of(st.none(), st.text("0123456789.-<> \u0661\u096b", max_size=20)), min_size=1, max_size=4))
def test_no_text_is_lost_or_stops_the_export(texts: list[str | None]) -> None:
    for name in ("jobs", "tel", "port_district_margin_ft"):
        found = columns_of({name: texts})[name]
        for text, value in zip(texts, found, strict=True):
            if isinstance(value, int | float):
                assert float(value) == float((text or "").strip().lstrip("<>"))
            else:
                assert value == text or (value is None and not (text or "").strip())


def test_each_column_is_explained_and_a_tables_own_notes_are_its_own() -> None:
    columns = {"notes": ["mine"], "row": ["9"], "problem": [""], **answered()}
    del columns["notes"]
    columns = {
        "remarks": ["mine"],
        "grownj_row": ["2"],
        "grownj_problem": [""],
        "grownj_notes": [""],
        "base_floor": ["5000"],
        "atlas": ["a"],
    }
    said = {c.name: c.meaning for c in export_columns(few(), columns)}
    assert said["remarks"] == "as it came"
    assert said["grownj_row"].startswith("number of the row in the source")
    assert said["grownj_problem"].startswith("why the row has no answer")
    assert said["grownj_notes"].startswith("what was assumed or changed")
    found = {c.name: c.meaning for c in export_columns(few(), {"notes": ["mine"], **columns})}
    assert found["notes"] == "as it came"


@pytest.mark.parametrize("ending", [".gpkg", ".shp.zip", ".parquet"])
def test_a_gis_program_reads_numbers(ending: str, tmp_path: Path) -> None:
    source, target = tmp_path / "sites.csv", tmp_path / f"sites{ending}"
    source.write_text("name,zip,jobs,lat,lon\nA,07102,12,40.7340,-74.1641\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["export", "sites", str(source), "-o", str(target), "--columns", "full"])
    assert done.exit_code == 0, done.output
    if ending == ".parquet":
        import pyarrow.parquet as pq  # noqa: PLC0415 - this format only

        schema = pq.read_schema(target)
        kinds = {name: str(schema.field(name).type) for name in schema.names}
    else:
        info = pyogrio.read_info(target, layer="sites")
        kinds = dict(zip(info["fields"].tolist(), info["dtypes"], strict=True))
    number = {"float64", "double"}
    assert kinds["lat"] in number
    assert kinds["lon"] in number
    assert kinds["jobs"] in {"int32", "int64", "float64"}
    assert kinds["zip"] in {"object", "string"}
    assert next(kind for name, kind in kinds.items() if name.startswith(("port_distr", "portdistr"))) is not None
    margins = [kind for name, kind in kinds.items() if name.endswith("_margin_ft")]
    assert set(margins) <= number
