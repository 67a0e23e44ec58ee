"""What `determine` takes: sites, text, geometries in feet or degrees; what it refuses, and what it keeps."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import weakref
from typing import TYPE_CHECKING, Any

import pytest
import shapely
from drawn import CAMDEN, NEWARK, site

from grownj_geo.atlas import load_atlas
from grownj_geo.determine import Engine, determine
from grownj_geo.errors import OutsideNewJerseyError, SiteError
from grownj_geo.site import Site
from grownj_geo.units import to_working

if TYPE_CHECKING:
    from grownj_geo.atlas import Atlas

NEWARK_POINT = shapely.Point(*NEWARK)


def test_an_uncertainty_is_given_once(atlas: Atlas) -> None:
    exact = Site.from_lonlat(*NEWARK)
    assert determine(exact, atlas, uncertainty_ft=50).site.uncertainty_ft == 50
    rough = Site.from_lonlat(*NEWARK, uncertainty_ft=20)
    assert determine(rough, atlas).site.uncertainty_ft == 20
    with pytest.raises(SiteError, match=r"uncertainty_ft=20.*uncertainty_ft=50.*give it once"):
        determine(rough, atlas, uncertainty_ft=50)
    with pytest.raises(SiteError, match="from 0 to 1,000,000"):
        determine(exact, atlas, uncertainty_ft=-1)


@pytest.mark.parametrize("shape", [NEWARK_POINT, NEWARK_POINT.buffer(0.001), shapely.Point(40.7344, -74.1641)])
def test_degrees_are_no_feet(atlas: Atlas, shape: shapely.Geometry) -> None:
    for ask in (lambda: determine(shape, atlas), lambda: site(shape)):
        with pytest.raises(SiteError, match=r"look like degrees; expected feet in EPSG:3424.*crs="):
            ask()


def test_a_geometry_in_another_system(atlas: Atlas) -> None:
    x, y = (float(v) for v in to_working(*NEWARK))
    for crs in ("EPSG:4326", "EPSG:4269", "4326"):
        record = determine(NEWARK_POINT, atlas, crs=crs)
        assert (record.site.x_ftus, record.site.y_ftus) == (round(x, 2), round(y, 2))
    assert determine(shapely.Point(x, y), atlas, crs="EPSG:3424").site.x_ftus == round(x, 2)
    assert determine(f"{x},{y}", atlas, crs="EPSG:3424").site.x_ftus == round(x, 2)
    with pytest.raises(SiteError, match=r"look swapped.*longitude"):
        determine(shapely.Point(*NEWARK[::-1]), atlas, crs="EPSG:4326")
    with pytest.raises(SiteError, match="CRS"):
        determine(NEWARK_POINT, atlas, crs="+proj=longlat")
    with pytest.raises(SiteError, match="Leave crs out"):
        determine(Site.from_lonlat(*NEWARK), atlas, crs="EPSG:4326")


@pytest.mark.parametrize("thing", [(40.7, -74.1), None, 7, b"40.7344,-74.1641", [NEWARK_POINT]])
def test_what_is_no_site_is_refused_with_what_would_be_one(atlas: Atlas, thing: Any) -> None:
    with pytest.raises(SiteError, match=f"given as {type(thing).__name__}.*Site.from_lonlat.*shapely geometry"):
        determine(thing, atlas)
    with pytest.raises(SiteError, match="expected one of shapely's"):
        site(thing) if thing is not None else site((1, 2))  # type: ignore[arg-type]


def test_only_typed_numbers_are_told_of_their_order(atlas: Atlas) -> None:
    x, y = to_working(-73.95, 40.6)
    at_sea = shapely.Point(float(x), float(y))
    for ask in (at_sea, Site.from_lonlat(-73.95, 40.6), "POINT (-73.95 40.6)"):
        with pytest.raises(OutsideNewJerseyError, match="lies outside New Jersey") as refused:
            determine(ask, atlas)
        assert "latitude first" not in str(refused.value)
    with pytest.raises(OutsideNewJerseyError, match="expected latitude first, longitude negative"):
        determine("40.6,-73.95", atlas)


def test_an_atlas_that_nobody_holds_is_gone() -> None:
    atlas = load_atlas()
    one = Site.from_lonlat(*CAMDEN)
    first = determine(one, atlas, other_readings=True)
    layer = atlas.layer("municipalities")
    assert layer is not None
    there = [weakref.ref(atlas), weakref.ref(layer)]
    # Engines know clauses by their place in memory: a copy must make its own.
    for again in (copy.copy(atlas), copy.deepcopy(atlas), pickle.loads(pickle.dumps(atlas))):  # noqa: S301
        assert determine(one, again, other_readings=True) == first
    del atlas, layer, again
    gc.collect()
    assert [ref() for ref in there] == [None, None]


def test_engines_are_made_once(atlas: Atlas, monkeypatch: pytest.MonkeyPatch) -> None:
    one = Site.from_lonlat(*CAMDEN)
    determine(one, atlas)
    monkeypatch.setattr(sys.modules[Engine.__module__], "bind", None)
    determine(one, atlas)
    with pytest.raises(TypeError):
        determine(one, atlas, readings={"A11": "strict"})
