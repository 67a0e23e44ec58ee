"""Poverty joined to tracts: whose rate is whose, and tracts of another census."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import shapely
from drawn import around, draw, manifest_of, outcome, site

from grownj_geo.atlas import Atlas
from grownj_geo.determine import Engine
from grownj_geo.features import Features, LayerFault
from grownj_geo.poverty import PovertyTable, read_poverty_table
from grownj_geo.rulebook import load_rulebook
from grownj_geo.surveys import tract_service
from grownj_geo.tracts import join_poverty

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

CAMDEN, NEWARK, WATER = "34007600400", "34013000100", "34001990000"
PLACE = (-75.1190, 39.9447)
EXACTLY_20, BELOW_20 = ("500", "100"), ("2500", "499")


def _tracts(ids: Sequence[Any], *, field: str = "GEOID10", source: str = "drawn.shp", **more: list[Any]) -> Features:
    shapes = np.array([shapely.box(i, 0, i + 1, 1) for i in range(len(ids))], dtype=object)
    return Features(source, {field: list(ids), **more}, shapes, "EPSG:4269")


def _table(rates: Mapping[str, str], **more: Any) -> PovertyTable:
    return PovertyTable("drawn.csv", rates, {geoid: i for i, geoid in enumerate(rates, start=1)}, **more)


def _write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


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
