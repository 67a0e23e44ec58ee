"""What a map tells to type gives the record that it shows."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import pytest
import shapely
from typer.testing import CliRunner

from grownj_geo.atlas import load_atlas
from grownj_geo.cli import app
from grownj_geo.determine import Directory, Engine
from grownj_geo.locate import locate
from grownj_geo.mapcommand import asked_words, site_words
from grownj_geo.rulebook import load_rulebook
from grownj_geo.site import Site

if TYPE_CHECKING:
    from grownj_geo.atlas import Atlas

METROPARK = (-74.320347, 40.567092)


def typed(engine: Engine, site: Site) -> tuple[dict[str, object], dict[str, object]]:
    """Return the record of a site, and that of what a map tells to type."""
    record = engine.determine(site, other_readings=True)
    line = f"grownj check {site_words(record.site).arguments} {asked_words(engine).arguments} --json"
    program, *words = shlex.split(line)
    assert program == "grownj"
    answered = CliRunner().invoke(app, words)
    assert answered.exit_code == 0, answered.output
    return json.loads(record.model_dump_json()), json.loads(answered.stdout)


@pytest.mark.parametrize(
    ("facts", "uncertainty_ft"),
    [({}, 0.0), ({"structure_exists": True, "permits_comply": False}, 0.0), ({"vacant_commercial_sqft": 12.125}, 60.0)],
)
def test_a_point_is_asked_with_all_that_was_stated(
    atlas: Atlas, facts: dict[str, bool | float | str], uncertainty_ft: float
) -> None:
    plain = Site.from_lonlat(*METROPARK, uncertainty_ft=uncertainty_ft)
    site = Site(**{**vars(plain), "facts": facts})
    shown, asked = typed(Engine(atlas, load_rulebook()), site)
    assert asked["findings"] == shown["findings"]
    assert asked["site"]["facts"] == shown["site"]["facts"]  # type: ignore[index]


def test_readings_rulebook_and_day_are_asked_too() -> None:
    atlas = load_atlas(as_of="2014-10-01")
    engine = Engine(atlas, load_rulebook("urban-transit-hub"), {"A11": "strict"})
    shown, asked = typed(engine, Site.from_lonlat(*METROPARK))
    for key in ("as_of", "rulebook", "readings", "findings"):
        assert asked[key] == shown[key]


def test_parcels_and_municipalities_are_asked_by_name(atlas: Atlas) -> None:
    engine, directory = Engine(atlas, load_rulebook()), Directory(atlas)
    for site in (locate("0408_81_1", directory=directory), locate("", municipality="Camden City", directory=directory)):
        shown, asked = typed(engine, site)
        assert asked["place"] == shown["place"]
        assert asked["findings"] == shown["findings"]


def test_a_polygon_is_not_asked_about_as_a_point(engine: Engine) -> None:
    x, y = (float(v) for v in shapely.get_coordinates(Site.from_lonlat(*METROPARK).geometry)[0])
    site = Site(typed="lot", located_by="drawn", geometry=shapely.box(x - 400, y - 40, x - 100, y + 40))
    words = site_words(engine.determine(site).site)
    assert words.arguments == "POLYGON.geojson"
    assert "a point gets another answer" in words.note


def test_editions_and_rulebooks_of_ones_own_are_named(engine: Engine) -> None:
    atlas = load_atlas(editions=["planning_areas@shipped"])
    own = load_rulebook().model_copy(update={"version": "mine"})
    words = asked_words(Engine(atlas, own))
    assert words.arguments == "--as-of 2017-04-17 --rulebook RULEBOOK.yaml --edition planning_areas@shipped"
    assert words.note.endswith("version mine")
    assert asked_words(engine).note == ""


def test_what_a_stranger_wrote_is_one_word_of_the_command(engine: Engine) -> None:
    record = engine.determine(Site.from_lonlat(*METROPARK))
    hostile = record.site.model_copy(update={"facts": {"a": "x'; rm -rf / #"}, "pins": ("$(id)",), "mun_basis": "pin"})
    *_, pin_option, pin, fact_option, fact = shlex.split(site_words(hostile).arguments)
    assert (pin_option, pin, fact_option, fact) == ("--pin", "$(id)", "--fact", "a=x'; rm -rf / #")
