"""A frame of sites gets the answers of its rows, on its own index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from drawn import CAMDEN, NEWARK, around

from grownj_geo.determine import determine
from grownj_geo.features import LayerFault
from grownj_geo.frames import classify
from grownj_geo.siterows import TableOptions

if TYPE_CHECKING:
    from grownj_geo.atlas import Atlas

PLACES = [NEWARK, CAMDEN, (-74.66, 40.42), (-74.5772, 39.4577)]


@pytest.mark.parametrize("crs", ["EPSG:4326", "EPSG:3424", "EPSG:26918", "EPSG:3857"])
def test_points_and_polygons_get_the_answers_they_get_alone(atlas: Atlas, crs: str) -> None:
    shapes = [around(place, 60.0) if i % 2 else around(place, 60.0).centroid for i, place in enumerate(PLACES)]
    frame = gpd.GeoDataFrame({"name": list("abcd")}, geometry=shapes, crs="EPSG:3424", index=[9, 2, 7, 1])
    dense = frame.set_geometry(frame.geometry.segmentize(10.0)) if crs != "EPSG:3424" else frame
    found = classify(dense.to_crs(crs), atlas)
    assert found.index.tolist() == [9, 2, 7, 1]
    assert found["problem"].isna().all()
    for (_, row), shape in zip(found.iterrows(), shapes, strict=True):
        record = determine(shape, atlas)
        assert {f.id: f.outcome for f in record.findings} == {f.id: row[f.id] for f in record.findings}


def test_a_plain_frame_says_in_columns_where_its_sites_are(atlas: Atlas) -> None:
    frame = pd.DataFrame({"lon": [NEWARK[0], 74.1, None], "lat": [NEWARK[1], 40.7, None]}, index=list("xyz"))
    found = classify(frame, atlas, detail="full")
    assert found.loc["x", "municipality"] == "Newark City"
    assert found.loc["x", "port_of_new_york_district_margin_ft"] == ">500"
    assert found["problem"].notna().tolist() == [False, True, True]
    assert found.loc["y":, "qualified_incentive_area"].isna().all()
    pins = pd.DataFrame({"parcel": ["0408_81_1", "0714_1_1"]})
    by_pin = classify(pins, atlas, options=TableOptions(pin="parcel"))
    assert by_pin["municipality"].tolist() == ["Camden City", "Newark City"]


def test_columns_of_facts_are_stated(atlas: Atlas) -> None:
    frame = pd.DataFrame({"lon": [-74.66] * 3, "lat": [40.42] * 3, "lfb_supervision": [True, False, None]})
    assert classify(frame, atlas)["distressed_municipality"].tolist() == ["yes", "no", "no"]


def test_null_and_empty_geometry_is_a_problem_of_its_row(atlas: Atlas) -> None:
    shapes = [shapely.Point(*NEWARK), None, shapely.Point(), shapely.Point(-73.0, 40.75), shapely.Point(*CAMDEN)]
    found = classify(gpd.GeoDataFrame(geometry=shapes, crs="EPSG:4326"), atlas)
    assert found["problem"].notna().tolist() == [False, True, True, True, False]
    assert found["municipality"].tolist()[::4] == ["Newark City", "Camden City"]


def test_readings_and_rulebooks_are_those_asked_for(atlas: Atlas) -> None:
    frame = pd.DataFrame({"lon": [NEWARK[0]], "lat": [NEWARK[1]]})
    loose, strict = (classify(frame, atlas, readings={"A25": option}) for option in ("assume_none", "undetermined"))
    assert loose["distressed_municipality"].tolist() == strict["distressed_municipality"].tolist() == ["yes"]
    far = pd.DataFrame({"lon": [-74.66], "lat": [40.42]})
    assert classify(far, atlas, readings={"A25": "undetermined"})["distressed_municipality"].tolist() == [
        "undetermined"
    ]


@pytest.mark.parametrize(
    "frame",
    [pd.DataFrame({"a": [1]}), gpd.GeoDataFrame(geometry=[shapely.Point(585_000, 690_000)])],
    ids=["no place", "feet without a system"],
)
def test_a_frame_that_does_not_say_where_is_refused(atlas: Atlas, frame: Any) -> None:
    with pytest.raises(LayerFault):
        classify(frame, atlas)


def test_two_columns_of_one_name_are_refused(atlas: Atlas) -> None:
    frame = pd.DataFrame([[-74.1641, 40.7344, 1, 2]], columns=["lon", "lat", "a", "a"])
    with pytest.raises(LayerFault, match="several columns a") as refused:
        classify(frame, atlas)
    assert refused.value.fault == "duplicate_fields"


def test_no_row_gives_no_row(atlas: Atlas) -> None:
    empty = pd.DataFrame({"lon": np.empty(0), "lat": np.empty(0)})
    assert len(classify(empty, atlas)) == 0
    assert "qualified_incentive_area" in classify(empty, atlas).columns
