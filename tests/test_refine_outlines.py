"""A user's outlines of the airport and of terminals: what they settle, and what is refused."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import shapely
from drawn import square
from refined import kinds_of, outcome_at, refined, refined_whole, refused, table

from grownj_geo.features import Features, LayerFault, LoadOptions
from grownj_geo.findings import Findings
from grownj_geo.georeference import declared_system
from grownj_geo.refine import refine
from grownj_geo.units import to_lonlat

if TYPE_CHECKING:
    from grownj_geo.atlas import Atlas
    from grownj_geo.layer import Layer

AIRPORT, TERMINALS = "atlantic_city_airport", "south_jersey_port_terminals"
# Between the bounds: it holds the runways, and lies in the box.
OUTLINE = shapely.box(464_000, 222_000, 477_000, 232_000)


def _outline(shape: Any = OUTLINE, crs: str | None = "EPSG:3424", **row: Any) -> Features:
    return table([{"id": "acy", "accuracy_ft": 5, **row}], [shape], crs)


@pytest.mark.parametrize(("beyond", "expected"), [(5000.0, "yes"), (5600.0, "no"), (5280.0, "undetermined")])
def test_an_outline_of_the_airport_settles_the_aviation_district(atlas: Atlas, beyond: float, expected: str) -> None:
    x, y = 477_000 + beyond, 227_000
    lon, lat = (float(v) for v in to_lonlat(x, y))
    assert outcome_at("aviation_district", (lon, lat)) == "undetermined"
    layer, changes = refined(atlas, AIRPORT, _outline())
    assert outcome_at("aviation_district", (lon, lat), layer) == expected
    assert len(layer) == 1
    assert (layer.value("bound", 0), layer.value("name", 0)) == ("exact", "Atlantic City International Airport")
    assert layer.manifest.accuracy_ft == pytest.approx(8.3)
    assert "2 rows replaced by 1 outline (acy)" in layer.manifest.source
    assert kinds_of(changes) == {"rows_replaced": (1,)}


def test_an_outline_in_degrees_lands_in_the_same_place(atlas: Atlas) -> None:
    dense = shapely.segmentize(OUTLINE, 100)
    degrees = shapely.transform(dense, lambda xy: np.column_stack(to_lonlat(xy[:, 0], xy[:, 1])))
    layer, _ = refined(atlas, AIRPORT, _outline(degrees, "EPSG:4326"))
    assert shapely.hausdorff_distance(layer.geometry(0), dense) < 0.1


@pytest.mark.parametrize("stated", [False, True])
def test_an_outline_on_another_datum_is_shifted_and_less_accurate(atlas: Atlas, *, stated: bool) -> None:
    system = declared_system("EPSG:4267", Findings("drawn"))
    assert system.added_accuracy_ft > 0
    dense = shapely.segmentize(OUTLINE, 100)
    old = shapely.transform(dense, system.backward)
    given = _outline(old, None if stated else "EPSG:4267")
    whole = refined_whole(atlas, AIRPORT, given, options=LoadOptions(crs="EPSG:4267" if stated else None))
    assert shapely.hausdorff_distance(whole.layer.geometry(0), dense) < 0.1
    assert whole.layer.manifest.accuracy_ft == pytest.approx(8.3 + system.added_accuracy_ft)
    assert "of the change of datum" in str(whole.layer.manifest.accuracy_source)
    assert whole.added_accuracy_ft == system.added_accuracy_ft
    assert kinds_of(whole.changes)["datum_shift"] == ()
    assert whole.crs.endswith("as stated" if stated else "as declared")


def test_the_outline_of_one_terminal_leaves_the_others(atlas: Atlas) -> None:
    base = atlas.layer(TERMINALS)
    assert base is not None
    outer = next(i for i in range(len(base)) if base.key(i) == "paulsboro" and base.value("bound", i) == "outer")
    shape = shapely.buffer(base.geometry(outer), -500)
    given = table(
        [{"name": "Paulsboro Marine Terminal", "accuracy_ft": "40", "status": "confirmed"}], [shape], "EPSG:3424"
    )
    layer, changes = refined(atlas, TERMINALS, given)
    assert [layer.key(i) for i in range(len(layer))].count("paulsboro") == 1
    assert len(layer) == 7
    assert (layer.columns["first_vessel"][-1], layer.columns["status"][-1]) == (date(2017, 3, 3), "confirmed")
    kept = [i for i in range(len(base)) if base.key(i) != "paulsboro"]
    assert [layer.geometry(i).wkb for i in range(6)] == [base.geometry(i).wkb for i in kept]
    # One accuracy holds for all, so that nothing counts as better known than it is.
    assert layer.manifest.accuracy_ft == pytest.approx(43.3)
    assert set(kinds_of(changes)) == {"rows_replaced", "accuracy_of_all"}
    again, _ = refined(
        atlas,
        TERMINALS,
        table([{"id": "salem", "accuracy_ft": 0}], [shapely.box(*_box(base))], "EPSG:3424"),
        base=layer,
    )
    assert again.manifest.accuracy_ft == pytest.approx(43.3)
    assert len(again) == 6


def _box(base: Layer) -> tuple[float, float, float, float]:
    index = next(i for i in range(len(base)) if base.key(i) == "salem")
    x0, y0, x1, y1 = base.geometry(index).bounds
    return x0 - 100, y0 - 100, x1 + 100, y1 + 100


def test_an_outline_that_is_not_between_the_bounds_is_told(atlas: Atlas) -> None:
    _, changes = refined(atlas, AIRPORT, _outline(shapely.box(470_000, 222_000, 500_000, 232_000)))
    words = next(c.words for c in changes if c.kind == "beyond_bounds")
    assert "reaches beyond the outer and does not cover the inner bound" in words


BOW_TIE = shapely.Polygon([(464_000, 222_000), (477_000, 232_000), (477_000, 222_000), (464_000, 232_000)])


@pytest.mark.parametrize(
    ("given", "fault", "words"),
    [
        (_outline(crs=None), "undeclared_crs", "does not say"),
        (_outline(crs="EPSG:4267"), "misplaced", "cannot be projected from EPSG:4267"),
        (_outline(crs="no system"), "unknown_crs", "neither a code nor"),
        (_outline(accuracy_ft=None), "missing_uncertainty", "count as exact"),
        (_outline(accuracy_ft="good"), "bad_figure", "'good'"),
        (_outline(id="ewr"), "unknown_id", "acy"),
        (_outline(None), "null_geometry", "no geometry"),
        (_outline(shapely.Polygon()), "null_geometry", "no geometry"),
        (_outline(shapely.Point(470_000, 227_000)), "wrong_geometry", "Point"),
        (_outline(BOW_TIE), "invalid_geometry", "Self-intersection"),
        (_outline(square(585_000, 692_000, 9000)), "misplaced", "miles from all ground that can be Atlantic City"),
        (_outline(crs="EPSG:2263"), "misplaced", "miles from all ground"),
    ],
)
def test_outlines_that_cannot_be_taken(atlas: Atlas, given: Features, fault: str, words: str) -> None:
    found = refused(atlas, AIRPORT, given)
    assert found.fault == fault
    with pytest.raises(LayerFault, match=words):
        raise found


def test_what_contradicts_the_file_or_means_nothing_is_refused(atlas: Atlas) -> None:
    for more, fault in (
        ({"options": LoadOptions(crs="EPSG:4267")}, "crs_contradiction"),
        ({"options": LoadOptions(partial=True)}, "option_not_used"),
        ({"accuracy_ft": 6.0}, "constant_contradicts"),
    ):
        assert refused(atlas, AIRPORT, _outline(), **more).fault == fault
    same, _ = refined(atlas, AIRPORT, _outline(), accuracy_ft=5.0, options=LoadOptions(crs="3424"))
    assert same.manifest.accuracy_ft == pytest.approx(8.3)


def test_heights_of_an_outline_are_dropped_and_told(atlas: Atlas) -> None:
    layer, changes = refined(atlas, AIRPORT, _outline(shapely.force_3d(OUTLINE, 9)))
    assert not layer.geometry(0).has_z
    assert [c.effect for c in changes if c.kind == "z_dropped"] == ["changed"]


def test_an_exported_bound_is_not_taken_for_an_outline(atlas: Atlas) -> None:
    layer = atlas.layer("atlantic_city_airport")
    assert layer is not None
    shapes = [layer.geometry(i) for i in range(len(layer))]
    columns = {name: list(values) for name, values in layer.columns.items()} | {"accuracy_ft": ["10"] * len(layer)}
    given = Features("airport.geojson", columns, np.array(shapes, dtype=object), "EPSG:3424")
    with pytest.raises(LayerFault) as caught:
        refine(
            "atlantic_city_airport", given, base=layer, manifest=layer.manifest, source="airport.geojson", atlas=atlas
        )
    assert caught.value.fault == "bound_given"
    assert "it is an outer bound" in str(caught.value)
