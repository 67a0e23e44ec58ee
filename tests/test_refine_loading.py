"""The user's own knowledge from a file to an answer: kept as editions, one upon the other, and none lost."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import numpy as np
import pytest
import shapely

from grownj_geo import loading
from grownj_geo.atlas import load_atlas
from grownj_geo.determine import determine
from grownj_geo.edition import Origin
from grownj_geo.features import LayerFault, LoadOptions, LoadReport
from grownj_geo.layer import Layer
from grownj_geo.loading import EditionFacts, import_layer
from grownj_geo.store import Store
from grownj_geo.units import geodesic_ft

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.determination import Finding
    from grownj_geo.refine import Refined

SITE = "40.42,-74.66"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return an empty store."""
    return Store(tmp_path / "store")


def finding(store: Store, site: str, category: str, *, as_of: str = "2017-04-17") -> Finding:
    """Return a finding with the layers of a store."""
    return determine(site, load_atlas(as_of=as_of, store=store))[category]


def test_a_list_of_supervised_municipalities(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "supervised.csv"
    path.write_text(
        "municipality,county,designation,from,source\n"
        "Montgomery Township,Somerset,lfb_supervision,2017-02-01,my letter\n"
    )
    assert finding(store, SITE, "distressed_municipality").outcome == "no"
    loaded = import_layer("designations", path, store=store)
    assert loaded.edition is not None
    assert loaded.edition.origin.how == "refinement"
    found = finding(store, SITE, "distressed_municipality")
    assert found.outcome == "yes"
    assert not found.assumed
    assert finding(store, SITE, "distressed_municipality", as_of="2017-01-31").outcome == "no"
    whole = determine(SITE, load_atlas(store=store))
    assert any(layer.origin and "refined by supervised.csv" in layer.origin for layer in whole.layers)
    assert not any("designations" in caution.lower() and "edition" in caution for caution in whole.cautions)


def test_refinements_stack(store: Store, tmp_path: Path) -> None:
    for place in ("Montgomery Township,Somerset", "Hopewell Township,Mercer"):
        path = tmp_path / "list.csv"
        path.write_text(f"municipality,county,designation,source\n{place},lfb_supervision,my letter\n")
        import_layer("designations", path, store=store)
    assert finding(store, SITE, "distressed_municipality").outcome == "yes"
    assert finding(store, "1106_1_1", "distressed_municipality").outcome == "yes"


def test_every_file_that_an_answer_rests_on_is_named(store: Store, tmp_path: Path) -> None:
    for number, place in enumerate(
        ("Montgomery Township,Somerset", "Hopewell Township,Mercer", "Hopewell Township,Mercer")
    ):
        path = tmp_path / f"list{min(number, 1)}.csv"
        path.write_text(f"municipality,county,designation,source\n{place},lfb_supervision,letter {number}\n")
        import_layer("designations", path, store=store)
    record = determine(SITE, load_atlas(store=store))
    (origin,) = [layer.origin for layer in record.layers if layer.stored]
    assert origin == "what ships, refined by list0.csv, then list1.csv"


def _list(folder: Path, place: str, *, name: str = "list.csv", days: str = ",") -> Path:
    path = folder / name
    path.write_text(f"municipality,county,designation,from,until,source\n{place},lfb_supervision,{days},my letter\n")
    return path


def _supervised(store: Store) -> list[str]:
    layer = load_atlas(store=store).layer("designations")
    assert layer is not None
    rows = zip(layer.columns["mun_label"], layer.columns["designation"], layer.columns["source"], strict=True)
    return [label for label, name, source in rows if name == "lfb_supervision" and source == "my letter"]


@pytest.mark.parametrize("times", [1, 2])
def test_refinements_at_once_are_both_kept_or_one_is_refused(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    others = [_list(tmp_path, f"{name} Township,Mercer", name=f"{name}.csv") for name in ("Hopewell", "Lawrence")]
    waiting = others[:times]
    real = loading.refine

    def refine_while_others_do(*given: Any, **more: Any) -> Refined:
        refined = real(*given, **more)
        if waiting:
            path, later = waiting[0], waiting[1:]
            waiting.clear()
            import_layer("designations", path, store=store)
            waiting.extend(later)
        return refined

    monkeypatch.setattr(loading, "refine", refine_while_others_do)
    path = _list(tmp_path, "Montgomery Township,Somerset")
    if times == 1:
        import_layer("designations", path, store=store)
        assert _supervised(store) == ["Hopewell Township", "Montgomery Township"]
    else:
        with pytest.raises(LayerFault, match="run it again") as raised:
            import_layer("designations", path, store=store)
        assert raised.value.fault == "base_moved"
        assert _supervised(store) == ["Hopewell Township", "Lawrence Township"]


def test_a_refinement_reads_the_municipalities_of_its_own_store(store: Store, tmp_path: Path) -> None:
    shipped = load_atlas().layer("municipalities")
    assert shipped is not None
    field = shipped.manifest.name_field
    assert field is not None
    names = ["Drawn Township" if name == "Montgomery Township" else name for name in shipped.columns[field]]
    manifest = shipped.manifest.model_copy(
        update={"ships": False, "file": None, "sha256": None, "valid_from": date(2001, 1, 1)}
    )
    drawn = Layer(
        manifest,
        dict(shipped.columns) | {field: names},
        shipped.bounds,
        "drawn",
        geometries={i: shipped.geometry(i) for i in range(len(shipped))},
    )
    report = LoadReport(
        layer="municipalities", source="d", read=1, kept=1, crs="c", fields={}, unknown_values={}, changes=()
    )
    origin = Origin(how="import", source="drawn", retrieved_at=datetime(2020, 1, 1, tzinfo=UTC))
    store.add(drawn, origin=origin, report=report)
    path = _list(tmp_path, "Drawn Township,Somerset")
    import_layer("designations", path, store=store)
    assert _supervised(store) == ["Drawn Township"]
    with pytest.raises(LayerFault) as raised:
        import_layer("designations", path, store=Store(tmp_path / "another"))
    assert raised.value.fault == "unknown_municipality"


@pytest.mark.parametrize(
    ("facts", "options", "named"),
    [
        (EditionFacts(valid_from=date(2017, 1, 1)), None, "--valid-from"),
        (EditionFacts(valid_until=date(2017, 1, 1), complete=True), None, "--valid-until, --complete"),
        (EditionFacts(accuracy_ft=4.0), None, "--accuracy-ft"),
        (None, LoadOptions(partial=True), "--partial"),
        (None, LoadOptions(crs="EPSG:3424"), "--crs"),
    ],
)
def test_what_means_nothing_for_a_refinement_is_refused(
    store: Store, tmp_path: Path, facts: EditionFacts | None, options: LoadOptions | None, named: str
) -> None:
    path = _list(tmp_path, "Montgomery Township,Somerset")
    with pytest.raises(LayerFault, match=named) as raised:
        import_layer("designations", path, store=store, facts=facts, options=options)
    assert raised.value.fault == "option_not_used"
    assert not store.held()
    with pytest.raises(LayerFault, match="--acs"):
        import_layer("designations", path, store=store, acs_edition="2011-2015")


def test_a_strict_refinement_changes_no_value_that_is_given(store: Store, tmp_path: Path) -> None:
    strict = LoadOptions(strict=True)
    written = _list(tmp_path, "Montgomery Township,Somerset", days="02/01/2017,")
    with pytest.raises(LayerFault, match="from was read as month/day/year") as raised:
        import_layer("designations", written, store=store, options=strict)
    assert raised.value.fault == "strict"
    kept = import_layer("designations", written, store=store)
    assert kept.report.crs == "none: a table"
    usual = _list(tmp_path, "Montgomery Township,Somerset", days="2017-02-01,")
    assert import_layer("designations", usual, store=store, options=strict).edition is not None


def test_columns_of_degrees_are_taken_on_the_datum_that_is_stated(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "midpoints.csv"
    path.write_text("station_id,longitude,latitude,accuracy_ft\nnjt-rail-atco,-74.907708,39.783630,10\n")
    usual = import_layer("transit_stations", path, store=store)
    assert usual.report.crs.endswith("as its columns are named")
    assert usual.report.added_accuracy_ft == 0
    old = import_layer("transit_stations", path, store=store, options=LoadOptions(crs="EPSG:4267"))
    assert old.report.crs == "EPSG:4267 (NAD27): North American Datum 1927, degrees; as stated"
    assert old.report.added_accuracy_ft > 0
    assert [change.kind for change in old.report.changes].count("station_moved") == 1
    row = next(i for i in range(len(old.layer)) if old.layer.key(i) == "njt-rail-atco")
    assert usual.layer.lonlat is not None
    assert old.layer.lonlat is not None
    (before, after) = usual.layer.lonlat[row], old.layer.lonlat[row]
    assert 90 < float(geodesic_ft(*before, *after)) < 200
    feet = old.layer.figure("coordinate_uncertainty_ft", row)
    assert feet == pytest.approx(10 + old.report.added_accuracy_ft)


def test_a_second_refinement_of_an_outline_counts_no_accuracy_twice(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "airport.gpkg"
    shape = shapely.box(464_000, 222_000, 477_000, 232_000)
    gpd.GeoDataFrame({"id": ["acy"]}, geometry=[shape], crs="EPSG:3424").to_file(path)
    figures = []
    for _ in range(2):
        loaded = import_layer("atlantic_city_airport", path, store=store, facts=EditionFacts(accuracy_ft=5.0))
        figures.append(loaded.layer.manifest.accuracy_ft)
    assert figures == [pytest.approx(8.3), pytest.approx(8.3)]


def test_a_better_mid_point_of_a_station_settles_a_site(store: Store, tmp_path: Path) -> None:
    site = "40.567092,-74.320347"
    run = determine(site, load_atlas(store=store))
    nearest = run.stations[0]
    assert nearest.name == "Metropark"
    before = finding(store, site, "transit_oriented_development")
    assert (before.outcome, before.leans) == ("undetermined", "yes")
    layer = load_atlas().layer("transit_stations")
    assert layer is not None
    row = next(i for i in range(len(layer)) if layer.key(i) == nearest.station_id)
    assert layer.lonlat is not None
    lon, lat = layer.lonlat[row]
    path = tmp_path / "midpoints.csv"
    path.write_text(
        "station_id,longitude,latitude,coordinate_uncertainty_ft,source\n"
        f"{nearest.station_id},{float(lon)!r},{float(lat)!r},1,survey of the platforms\n"
    )
    import_layer("transit_stations", path, store=store)
    assert finding(store, site, "transit_oriented_development").outcome == "yes"


@pytest.mark.parametrize(("away", "expected"), [(-200.0, "yes"), (200.0, "no")])
def test_an_official_boundary_settles_the_aviation_district(
    store: Store, tmp_path: Path, away: float, expected: str
) -> None:
    atlas = load_atlas()
    layer = atlas.layer("atlantic_city_airport")
    assert layer is not None
    kinds = list(layer.bound_kinds)
    inner, outer = layer.geometry(kinds.index("inner")), layer.geometry(kinds.index("outer"))
    boundary = shapely.intersection(shapely.convex_hull(inner.buffer(1000)), outer)
    # A place a mile from the boundary's westernmost point, give or take: between the bounds.
    west = shapely.get_coordinates(boundary)[np.argmin(shapely.get_coordinates(boundary)[:, 0])]
    place = shapely.Point(west[0] - 5280.0 - away, west[1])
    assert determine(place, atlas)["aviation_district"].outcome == "undetermined"
    path = tmp_path / "airport.gpkg"
    gpd.GeoDataFrame({"id": ["acy"]}, geometry=[boundary], crs="EPSG:3424").to_file(path)
    import_layer("atlantic_city_airport", path, store=store, facts=EditionFacts(accuracy_ft=5.0))
    assert determine(place, load_atlas(store=store))["aviation_district"].outcome == expected
