"""From sites and records to what is reported: a record is told as recorded, and measured only on the same data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grownj_geo.candidates import Candidate, candidates_of
from grownj_geo.determine import Directory, Engine
from grownj_geo.errors import OutsideNewJerseyError
from grownj_geo.kept import keep, sealed_text
from grownj_geo.reportmake import Maker
from grownj_geo.reportpage import report_one
from grownj_geo.site import Site

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.atlas import Atlas

METROPARK = Site.from_lonlat(-74.320347, 40.567092)


def recorded(folder: Path, engine: Engine, site: Site = METROPARK) -> Candidate:
    path = folder / "record.json"
    keep(path, sealed_text(engine.determine(site, other_readings=True), engine, site), replace=True)
    (found,) = candidates_of([str(path)], directory=Directory(engine.atlas))
    assert isinstance(found, Candidate)
    return found


def test_a_site_is_asked_measured_and_drawn(engine: Engine) -> None:
    found = Maker(engine).report(Candidate("here", "", METROPARK))
    assert found.found["transit_oriented_development"].leans == "yes"
    assert found.better is not None
    assert found.picture is not None
    assert found.picture.kind == "svg"
    assert found.picture.keys[0].label == "Distressed municipality"
    assert "2,601 ft to Metropark; computed: inside by 39 ft" in found.picture.words
    assert not found.origin


def test_a_polygon_is_drawn_too(engine: Engine) -> None:
    import shapely  # noqa: PLC0415 - only here

    x, y = METROPARK.geometry.x, METROPARK.geometry.y
    site = Site(typed="parcel", located_by="drawn", geometry=shapely.box(x - 400, y - 300, x + 400, y + 300))
    found = Maker(engine, maps="png").report(Candidate("parcel", "", site))
    assert found.picture is not None
    assert found.picture.content.startswith(b"\x89PNG")


def test_a_site_without_a_place_has_no_map_and_says_so(engine: Engine) -> None:
    site = Site(typed="0408_81_1", located_by="PIN", mun_code="0408", mun_basis="pin")
    found = Maker(engine).report(Candidate("lot", "", site))
    assert found.picture is None
    assert found.no_picture == "There is no map, as the place is not known: only its municipality is."
    assert not Maker(engine, maps=None).report(Candidate("lot", "", site)).no_picture


def test_outside_is_no_report(engine: Engine) -> None:
    with pytest.raises(OutsideNewJerseyError):
        Maker(engine).report(Candidate("Philadelphia", "", Site.from_lonlat(-75.1652, 39.9526)))


def test_a_record_is_told_as_recorded(engine: Engine, tmp_path: Path) -> None:
    candidate = recorded(tmp_path, engine)
    found = Maker(engine).report(candidate)
    assert candidate.kept is not None
    assert found.found == candidate.kept.determination
    assert found.origin.endswith("whose checksum is right")
    assert found.better is not None
    assert found.picture is not None


def test_a_record_of_another_day_and_reading_keeps_them(atlas: Atlas, engine: Engine, tmp_path: Path) -> None:
    strict = Engine(atlas, engine.rulebook, {"A11": "strict"})
    found = Maker(engine).report(recorded(tmp_path, strict))
    assert found.found.readings["A11"] == "strict"
    assert found.better is not None


def test_a_record_whose_layers_are_gone_is_not_measured_on_others(engine: Engine, tmp_path: Path) -> None:
    candidate = recorded(tmp_path, engine)
    assert candidate.kept is not None
    then = candidate.kept.determination
    layers = tuple(
        layer.model_copy(update={"sha256": "0" * 64}) if layer.id == "transit_stations" else layer
        for layer in then.layers
    )
    kept = replace(candidate.kept, determination=then.model_copy(update={"layers": layers}))
    found = Maker(engine).report(replace(candidate, kept=kept))
    assert found.better is None
    assert found.picture is None
    assert found.better_words.startswith("Not measured. The layers or the rules of the record are not all at hand")
    text = str(report_one(found))
    assert "There is no map. The layers or the rules of the record" in text
    assert "0" * 64 in text
