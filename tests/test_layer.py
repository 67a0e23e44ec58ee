"""Layers: coded values that nobody knows, dates in any form, and what is refused on every way in."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from drawn import WORDS, draw, manifest_of, site, square, stations

from grownj_geo.atlas import Atlas
from grownj_geo.determine import Engine
from grownj_geo.errors import LayerError
from grownj_geo.layer import Layer
from grownj_geo.layercheck import check_layer, read_day, read_figure
from grownj_geo.layerfile import read_layer
from grownj_geo.reference import data_folder
from grownj_geo.rulebook import load_rulebook

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

X, Y = 450_000.0, 500_000.0
PA1 = (("planning_area", ("PA1",)),)


def _planning(*values: object) -> Layer:
    return draw(
        "planning_areas", [(square(X + 2000 * i, Y, 1000), {"SPDETAIL": value}) for i, value in enumerate(values)]
    )


# -- coded values --------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["Metropolitan", "METRO", None, "", float("nan"), "PA1"])
def test_a_value_that_the_manifest_does_not_know_is_doubtful_for_every_choice(value: object) -> None:
    layer = _planning("METROPOLITAN", "FRINGE", value)
    found = layer.select(PA1)
    assert found.tolist() == [0, 2]
    assert layer.doubtful(found, PA1).tolist() == [False, True]
    other = (("planning_area", ("PA3", "PA4A")),)
    assert layer.select(other).tolist() == [1, 2]
    assert layer.doubtful(layer.select(other), other).tolist() == [False, True]
    assert not layer.doubtful(layer.select(), ()).any()


def test_blanks_around_a_publishers_value_do_not_count() -> None:
    layer = _planning(" METROPOLITAN ", "FRINGE\t")
    assert layer.value("planning_area", 0) == "PA1"
    assert layer.select(PA1).tolist() == [0]
    assert not layer.doubtful(layer.select(PA1), PA1).any()


def test_a_known_value_of_one_field_settles_what_another_leaves_open() -> None:
    layer = stations(
        [(-74.6, 40.3, {"mode": "ferry", "operator": "Ferries Inc."}), (-74.5, 40.3, {"operator": "Rail Inc."})]
    )
    where = (("mode", ("commuter_rail",)), ("operator", ("NJT",)))
    assert layer.select(where).tolist() == [1]
    assert layer.doubtful(np.array([1]), where).tolist() == [True]


def test_a_missing_value_that_the_manifest_knows_is_no_doubt() -> None:
    layer = stations([(-74.6, 40.3, {"operator_tie": ""})])
    where = (("operator_tie", ("ownership_unconfirmed",)),)
    assert layer.select(where).tolist() == []


def test_a_field_that_was_left_out_leaves_every_feature_in_doubt() -> None:
    layer = draw("closed_military_land", [(square(X, Y, 1000), {})])
    layer = Layer(layer.manifest, {}, layer.bounds, layer.fingerprint, geometries=layer.geometries)
    where = (("federally_owned_at_approval", ("yes",)),)
    assert layer.doubtful(layer.select(where), where).tolist() == [True]
    with pytest.raises(LayerError, match="has no field 'color'"):
        layer.select((("color", ("red",)),))


def test_unknown_age_is_doubt_too() -> None:
    rows = [{"APPROVAL": "2010-01-01"}, {"APPROVAL": None}, {"APPROVAL": float("nan")}]
    layer = draw("redevelopment_areas", [(square(X + 2000 * i, Y, 1000), row) for i, row in enumerate(rows)])
    found = layer.select(as_of=date(2017, 4, 17))
    assert found.tolist() == [0, 1, 2]
    assert layer.doubtful(found).tolist() == layer.undated(found).tolist() == [False, True, True]


@pytest.mark.parametrize("value", ["Preservation", None, "HIGHLANDS PRESERVATION AREA"])
def test_an_unknown_class_never_lets_a_site_off_an_exclusion(value: object) -> None:
    layer = draw("highlands_region", [(square(X, Y, 1000), {"REGION": value})])
    run = Engine(Atlas(layers=[layer]), load_rulebook()).run(site(shapely.Point(X + 500, Y + 500)))
    assert WORDS[int(run.category("highlands_preservation").outcomes[0, 0])] == "undetermined"


def test_every_coded_value_that_ships_is_known(atlas: Atlas) -> None:
    for layer_id in ("transit_stations", "south_jersey_port_terminals"):
        layer = atlas.layer(layer_id)
        assert layer is not None
        for name, coded in layer.manifest.fields.items():
            if coded.values:
                where = ((name, ("nothing of the kind",)),)
                assert layer.select(where).tolist() == [], name


# -- figures and days ----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["N/A", "20%", "", " ", None, "1,000", "1_000", "inf", "nan"])
def test_what_is_no_number_counts_as_missing(text: str | None) -> None:
    row = {"GEOID": "34007600200", "NAMELSAD": "Tract", "POVERTY_RATE": text}
    layer = draw("census_tract_poverty", [(square(X, Y, 1000), row)])
    assert np.isnan(layer.figure("poverty_rate", 0))
    assert layer.problem is None


def test_figures() -> None:
    assert (read_figure("20"), read_figure(" 19.96 "), read_figure("-1e2")) == (20.0, 19.96, -100.0)


@pytest.mark.parametrize(
    "value",
    [
        date(2017, 4, 17),
        datetime(2017, 4, 17, 23, 59, tzinfo=UTC),
        "2017-04-17",
        " 2017-04-17 ",
        "2017-04-17T04:00:00",
        "2017-04-17T04:00:00.000Z",
        "2017-04-17 00:00:00",
        1_492_387_200_000,
        1_492_401_600_000.0,
        np.int64(1_492_387_200_000),
        np.datetime64("2017-04-17T04:00:00", "ns").astype("datetime64[us]"),
    ],
)
def test_days_in_every_form_that_publishers_use(value: Any) -> None:
    assert read_day(value) == date(2017, 4, 17)
    assert type(read_day(value)) is date
    layer = draw("redevelopment_areas", [(square(X, Y, 1000), {"APPROVAL": value})])
    assert layer.problem is None
    assert layer.select(as_of=date(2017, 4, 16)).tolist() == []
    assert layer.select(as_of=date(2017, 4, 17)).tolist() == [0]


@pytest.mark.parametrize("value", [None, "", "  ", float("nan"), np.datetime64("NaT")])
def test_no_day(value: object) -> None:
    assert read_day(value) is None


@pytest.mark.parametrize("value", ["17/04/2017", "spring 2017", 20170417, "1492387200000", True, 1.5, 1e300])
def test_what_is_no_day_is_named_by_field_row_and_value(value: object) -> None:
    rows = [{"APPROVAL": "2010-01-01", "NOTES": "First"}, {"APPROVAL": value, "NOTES": "Second"}]
    layer = draw("redevelopment_areas", [(square(X + 2000 * i, Y, 1000), row) for i, row in enumerate(rows)])
    with pytest.raises(LayerError, match=r"redevelopment_areas, row 2, 'Second': APPROVAL is .* no date") as error:
        check_layer(layer)
    assert str(value) in str(error.value)


# -- what is refused -----------------------------------------------------------------------------------

BOWTIE = shapely.Polygon([(X, Y), (X + 10, Y + 10), (X + 10, Y), (X, Y + 10)])
NOT_FINITE = shapely.Polygon([(X, Y), (X + 10, Y), (X + 10, float("inf")), (X, Y + 10)])
GOOD = square(X, Y, 1000)


@pytest.mark.parametrize(
    ("shape", "problem"),
    [
        (BOWTIE, r"not valid \(Self-intersection\[450005 500005\]\)"),
        (shapely.Polygon(), "no geometry"),
        (NOT_FINITE, "not finite"),
        (shapely.LineString([(X, Y), (X + 10, Y)]), "it is a LineString. Expected Polygon or MultiPolygon"),
        (shapely.box(-74.7, 40.3, -74.6, 40.4), "look like degrees"),
        (shapely.box(560_000, 4_500_000, 561_000, 4_501_000), "outside New Jersey"),
    ],
)
def test_geometry_that_cannot_be_measured_is_refused_and_never_a_traceback(
    shape: shapely.Geometry, problem: str
) -> None:
    layer = draw("highlands_region", [(GOOD, {"REGION": "one"}), (shape, {"REGION": "two"})])
    with pytest.raises(LayerError, match=rf"row 2, 'two'.*{problem}"):
        check_layer(layer)
    atlas = Atlas(layers=[layer])
    assert atlas.layer("highlands_region") is None
    state = atlas.state("highlands_region")
    assert state.status == "unusable"
    assert state.problem == layer.problem
    record = Engine(atlas, load_rulebook()).determine(site(shapely.Point(X + 500, Y + 500)))
    assert {i.id for i in record.layers if i.status == "unusable"} == {"highlands_region"}


@pytest.mark.parametrize("typed", ["", None, "-5", "nan", "about 50", "inf"])
def test_an_uncertainty_that_is_none_never_counts_as_exact(typed: str | None) -> None:
    layer = stations([(-74.6, 40.3, {"coordinate_uncertainty_ft": typed})])
    assert "coordinate_uncertainty_ft is" in (layer.problem or "")
    assert Atlas(layers=[layer]).state("transit_stations").status == "unusable"


def test_a_bound_of_an_unknown_kind_is_refused() -> None:
    layer = draw("south_jersey_port_terminals", [(GOOD, {"id": "balzano", "bound": "Outer"})])
    assert "bound is 'Outer'. Expected one of exact, inner, outer, nominal" in (layer.problem or "")


def test_too_few_features_and_lacking_fields() -> None:
    layer = draw("highlands_region", [(GOOD, {"REGION": "x"})], least_features=2)
    assert "has 1 features; expected at least 2" in (layer.problem or "")
    layer = Layer(manifest_of("highlands_region"), {}, layer.bounds, "x", geometries=layer.geometries)
    assert "lacks the fields REGION" in (layer.problem or "")
    layer = Layer(manifest_of("highlands_region"), {"REGION": []}, layer.bounds, "x", geometries=layer.geometries)
    assert "has 0 values in the field REGION and 1 features" in (layer.problem or "")


def test_points_need_their_longitude_and_latitude() -> None:
    whole = stations([(-74.6, 40.3, {})])
    assert whole.problem is None
    layer = Layer(whole.manifest, whole.columns, whole.bounds, "x")
    assert "lacks their longitude and latitude" in (layer.problem or "")


def test_a_box_that_does_not_fit_its_geometry() -> None:
    whole = draw("highlands_region", [(GOOD, {"REGION": "x"})])
    layer = Layer(whole.manifest, whole.columns, whole.bounds + 5000, "x", geometries=whole.geometries)
    assert "its box does not fit its geometry" in (layer.problem or "")


def test_what_ships_passes_the_full_check_as_well(atlas: Atlas) -> None:
    for layer_id, manifest in atlas.manifests.items():
        layer = atlas.layer(layer_id)
        if layer is not None and manifest.kind != "table":
            again = Layer(manifest, layer.columns, layer.bounds, "x", layer.wkb, layer.geometries, layer.lonlat)
            assert again.problem is None


# -- files ---------------------------------------------------------------------------------------------


def _airport(change: Callable[[pa.Table], pa.Table], folder: Path) -> bytes:
    table = pq.read_table(data_folder() / "atlantic_city_airport.parquet")
    pq.write_table(change(table), folder / "changed.parquet")
    return (folder / "changed.parquet").read_bytes()


def _in_crs(crs: object) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        geo = json.loads(table.schema.metadata[b"geo"])
        geo["columns"]["geometry"]["crs"] = crs
        if crs == "left out":
            del geo["columns"]["geometry"]["crs"]
        return table.replace_schema_metadata({b"geo": json.dumps(geo).encode()})

    return change


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (_in_crs({"id": {"authority": "EPSG", "code": 32111}}), "in the CRS EPSG:32111"),
        (_in_crs("left out"), "in the CRS OGC:CRS84"),
        (_in_crs(None), "in the CRS none"),
        (_in_crs({"name": "my own"}), "in the CRS unknown"),
        (lambda table: table.replace_schema_metadata(None), "in the CRS unknown"),
    ],
)
def test_a_file_in_another_system_is_refused(
    change: Callable[[pa.Table], pa.Table], problem: str, tmp_path: Path
) -> None:
    with pytest.raises(LayerError, match=problem):
        read_layer(manifest_of("atlantic_city_airport"), _airport(change, tmp_path))


def test_a_changed_file_is_looked_at_feature_by_feature(tmp_path: Path) -> None:
    def change(table: pa.Table) -> pa.Table:
        wkb = pa.array([shapely.to_wkb(BOWTIE)] * table.num_rows)
        return table.set_column(table.column_names.index("geometry"), "geometry", wkb)

    with pytest.raises(LayerError, match=r"row 1, .*not valid \(Self-intersection"):
        read_layer(manifest_of("atlantic_city_airport"), _airport(change, tmp_path))
