"""A damaged or missing shipped file: what rests on it is undetermined with the cause, and all else stays."""

from __future__ import annotations

import shutil
from datetime import UTC, date, datetime
from functools import cache
from typing import TYPE_CHECKING

import pytest
import shapely
from drawn import WORDS, draw, site, square
from pydantic import ValidationError

from grownj_geo.atlas import DEFAULT_AS_OF, Atlas, load_atlas
from grownj_geo.determine import Engine
from grownj_geo.errors import LayerError
from grownj_geo.manifest import load_manifests
from grownj_geo.reference import data_folder
from grownj_geo.rulebook import load_rulebook
from grownj_geo.site import Site

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SITES = {
    "Camden": Site.from_lonlat(-75.1190, 39.9447),
    "Newark": Site.from_lonlat(-74.1641, 40.7344),
    "Secaucus": Site.from_lonlat(-74.0757, 40.7612),
    "Cherry Hill": Site.from_lonlat(-75.0230, 39.9413),
    "airport": Site.from_lonlat(-74.5770, 39.4529),
    "Holmdel": Site.from_lonlat(-74.1688, 40.3655),
    "Camden by name": site(None, mun_code="0408", mun_basis="stated"),
    "Mendham by number": site(None, mun_code="1418", mun_basis="pin"),
}
# What must turn undetermined, at which place, when a file cannot be used.
MUST_TURN = {
    "atlantic_city_airport.parquet": {("airport", "aviation_district"), ("airport", "mega_2_area")},
    "port_of_new_york_district.parquet": {("Newark", "port_of_new_york_district"), ("Newark", "port_district")},
    "south_jersey_port_terminals.parquet": {
        ("Cherry Hill", "south_jersey_port"),
        ("Cherry Hill", "port_ground"),
        ("Cherry Hill", "qualified_incentive_area"),
    },
    "transit_stations.csv": {
        ("Newark", "transit_oriented_development"),
        ("Holmdel", "rail_transit"),
        ("Secaucus", "distressed_municipality"),
        ("Holmdel", "distressed_municipality"),
    },
    "designations.csv": {
        ("Camden", "garden_state_growth_zone"),
        ("Newark", "urban_aid"),
        ("Holmdel", "urban_aid"),
        ("Newark", "sda_municipality"),
        ("Holmdel", "tourism_district_growth_zone"),
        ("Newark", "urban_transit_hub_municipality"),
        ("Camden by name", "garden_state_growth_zone"),
    },
    "municipalities.parquet": {
        ("Camden", "garden_state_growth_zone"),
        ("Holmdel", "garden_state_growth_zone"),
        ("Newark", "distressed_municipality"),
        ("Newark", "southern_eight"),
        ("Camden", "southern_eight"),
        ("Newark", "highlands_preservation"),
    },
    "counties.parquet": set(),
    "revitalization_index.csv": set(),
}
# What may not move, whatever else does.
MUST_STAY = {
    "atlantic_city_airport.parquet": {("Camden", "garden_state_growth_zone"), ("Newark", "port_district")},
    "port_of_new_york_district.parquet": {
        ("Newark", "qualified_incentive_area"),
        ("Newark", "transit_oriented_development"),
        ("Cherry Hill", "port_district"),
    },
    "south_jersey_port_terminals.parquet": {
        ("Camden", "qualified_incentive_area"),
        ("Newark", "port_district"),
        ("airport", "aviation_district"),
    },
    "transit_stations.csv": {
        ("Newark", "distressed_municipality"),
        ("Newark", "qualified_incentive_area"),
        ("Camden", "south_jersey_port"),
        ("Holmdel", "garden_state_growth_zone"),
    },
    "designations.csv": {
        ("Newark", "transit_oriented_development"),
        ("Newark", "port_of_new_york_district"),
        ("Newark", "southern_eight"),
        ("airport", "aviation_district"),
    },
    "municipalities.parquet": {
        ("Newark", "port_of_new_york_district"),
        ("Newark", "rail_transit"),
        ("Cherry Hill", "south_jersey_port"),
        ("Camden by name", "garden_state_growth_zone"),
    },
    "counties.parquet": {("Camden", "southern_eight"), ("Newark", "southern_eight")},
    "revitalization_index.csv": {("Camden", "urban_aid"), ("Holmdel", "urban_aid")},
}


def _remove(path: Path) -> None:
    path.unlink()


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _truncate(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(bytes(content))


DAMAGE = {
    "removed": (_remove, "could not be read"),
    "emptied": (_empty, "is empty"),
    "truncated": (_truncate, "damaged or was changed"),
    "flipped": (_flip, "damaged or was changed"),
}


def _copy(folder: Path) -> Path:
    return shutil.copytree(data_folder(), folder / "data", ignore=shutil.ignore_patterns("source"))


def _answers(engine: Engine, one: Site) -> dict[str, str]:
    run = engine.run(one)
    return {c.id: WORDS[int(run.category(c.id).outcomes[0, 0])] for c in load_rulebook().categories}


@cache
def _whole() -> dict[str, dict[str, str]]:
    engine = Engine(load_atlas(), load_rulebook())
    return {name: _answers(engine, one) for name, one in SITES.items()}


def test_every_file_of_a_shipped_layer_is_tried() -> None:
    files = {m.file for m in load_manifests().values() if m.ships}
    assert files == set(MUST_TURN) == set(MUST_STAY)


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", MUST_TURN)
def test_damage_makes_undetermined_and_never_turns_an_answer(name: str, damage: str, tmp_path: Path) -> None:
    spoil, words = DAMAGE[damage]
    folder = _copy(tmp_path)
    spoil(folder / name)
    engine = Engine(Atlas(folder=folder), load_rulebook())
    layer_id = name.partition(".")[0]
    for place, one in SITES.items():
        after, before = _answers(engine, one), _whole()[place]
        moved = {(place, c): (before[c], after[c]) for c in before if after[c] != before[c]}
        assert set(moved.values()) <= {("yes", "undetermined"), ("no", "undetermined")}, moved
        turned = {key for key in MUST_TURN[name] if key[0] == place}
        assert turned <= set(moved)
        assert not {key for key in MUST_STAY[name] if key[0] == place} & set(moved)
        record = engine.determine(one)
        assert record.incomplete
        states = {layer.id: layer for layer in record.layers}
        assert [layer.id for layer in record.layers if layer.status == "unusable"] == [layer_id]
        assert words in (states[layer_id].problem or "")
        assert states[layer_id].sha256 is None
        assert any("could not be used" in caution for caution in record.cautions)
        for _, category in turned:
            if category in {f.id for f in record.findings}:
                assert "layer_unusable" in record[category].causes


def test_no_answer_moves_where_nothing_is_damaged(tmp_path: Path) -> None:
    engine = Engine(Atlas(folder=_copy(tmp_path)), load_rulebook())
    for place, one in SITES.items():
        assert _answers(engine, one) == _whole()[place]
        assert not engine.determine(one).incomplete


def test_with_every_file_gone_nothing_is_answered_wrongly(tmp_path: Path) -> None:
    engine = Engine(Atlas(folder=tmp_path), load_rulebook())
    for place, one in SITES.items():
        after, before = _answers(engine, one), _whole()[place]
        assert {c: (before[c], a) for c, a in after.items() if a not in {before[c], "undetermined"}} == {}
        assert after["qualified_incentive_area"] == "undetermined"
        assert after["highlands_preservation"] == "undetermined"


@pytest.mark.parametrize("pair", [("counties.parquet", "municipalities.parquet")])
def test_without_any_names_of_counties_a_county_is_not_guessed(pair: tuple[str, ...], tmp_path: Path) -> None:
    folder = _copy(tmp_path)
    for name in pair:
        (folder / name).unlink()
    engine = Engine(Atlas(folder=folder), load_rulebook())
    # Mendham Township lies in Morris County, in the Highlands.
    answers = _answers(engine, SITES["Mendham by number"])
    assert answers["southern_eight"] == "undetermined"
    assert answers["highlands_preservation"] == "undetermined"


@pytest.mark.parametrize("folder", ["nowhere", "a file"])
def test_a_folder_that_is_none_is_a_problem_and_no_traceback(folder: str, tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("x")
    atlas = Atlas(folder=tmp_path / folder)
    state = atlas.state("designations")
    assert state.status == "unusable"
    assert "designations.csv could not be read" in (state.problem or "")


# -- the atlas itself ----------------------------------------------------------------------------------


def test_the_default_day_is_that_of_the_print() -> None:
    assert date(2017, 4, 17) == DEFAULT_AS_OF == load_atlas().as_of
    assert load_atlas(as_of="2016-02-29").as_of == date(2016, 2, 29)


@pytest.mark.parametrize("day", ["2017-02-29", "17.4.2017", "", "2017-4"])
def test_no_such_day(day: str) -> None:
    with pytest.raises(ValueError, match=r"isoformat|month|day"):
        load_atlas(as_of=day)


def test_a_layer_nobody_described() -> None:
    with pytest.raises(LayerError, match="There is no layer 'wetlands'; there are"):
        load_atlas().layer("wetlands")


def test_layers_are_missing_loaded_or_unusable(tmp_path: Path) -> None:
    ground = draw("planning_areas", [(square(500_000, 500_000, 10), {"SPDETAIL": "FRINGE"})])
    atlas = Atlas(folder=tmp_path, layers=[ground])
    assert [atlas.state(i).status for i in ("planning_areas", "highlands_region", "designations")] == [
        "loaded",
        "missing",
        "unusable",
    ]
    assert atlas.layer("planning_areas") is ground


def test_a_drawn_layer_takes_the_place_of_the_shipped_one(tmp_path: Path) -> None:
    drawn = draw("atlantic_city_airport", [(square(585_000, 692_000, 1000), {"id": "x", "name": "drawn"})])
    run = Engine(Atlas(layers=[drawn]), load_rulebook()).run(SITES["Newark"])
    assert WORDS[int(run.category("aviation_district").outcomes[0, 0])] == "yes"
    assert Atlas(folder=tmp_path, layers=[drawn]).state("atlantic_city_airport").status == "loaded"


@pytest.mark.parametrize(
    ("day", "code", "there"),
    [("2017-04-17", "0429", True), ("2021-12-31", "0429", True), ("2022-01-01", "0429", False)],
)
def test_pine_valley_ends_with_2021(day: str, code: str, there: bool) -> None:  # noqa: FBT001
    assert (code in load_atlas(as_of=day).municipal_names) is there


def test_every_municipality_and_county_has_its_name() -> None:
    atlas = load_atlas()
    assert len(atlas.municipal_names) == 565
    assert atlas.municipal_names["0408"] == ("Camden City", "Camden")
    assert len(atlas.county_names) == 21
    assert (atlas.county_names["04"], atlas.county_names["21"]) == ("Camden", "Warren")


def _remanifested(text: str, path: Path, change: Callable[[str], str]) -> Atlas:
    import hashlib  # noqa: PLC0415

    content = change(text).encode()
    (path / "transit_stations.csv").write_bytes(content)
    manifests = load_manifests()
    digest = hashlib.sha256(content).hexdigest()
    manifests = manifests | {"transit_stations": manifests["transit_stations"].model_copy(update={"sha256": digest})}
    return Atlas(folder=path, manifests=manifests)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda t: "\n".join(t.splitlines()[:100]) + "\n", "99 features; expected at least 275"),
        (lambda t: t.replace("njt_rail_lines_n,", "lines_n,", 1), "lacks the fields njt_rail_lines_n"),
        (lambda t: t.replace("latitude,", "lat,", 1), "needs numeric longitude and latitude"),
        (lambda t: t.replace("40.092726", "north", 1), "needs numeric longitude and latitude"),
        (lambda t: t + "one,two\n", "has 2 values"),
        (lambda t: t.splitlines()[0] + "\n", "no rows below its header"),
    ],
)
def test_a_file_with_the_right_checksum_is_still_looked_at(
    change: Callable[[str], str], problem: str, tmp_path: Path
) -> None:
    text = (data_folder() / "transit_stations.csv").read_text()
    state = _remanifested(text, tmp_path, change).state("transit_stations")
    assert state.status == "unusable"
    assert problem in (state.problem or "")


def test_a_manifest_refuses_what_it_does_not_know() -> None:
    plain = load_manifests()["counties"].model_dump()
    with pytest.raises(ValidationError, match="acuracy_ft"):
        type(load_manifests()["counties"]).model_validate(plain | {"acuracy_ft": 5})


def test_a_site_refuses_what_cannot_be_measured() -> None:
    bowtie = shapely.Polygon([(0, 0), (10, 10), (10, 0), (0, 10)])
    flat = shapely.Polygon([(0, 0), (10, 10), (20, 20)])
    for shape in (
        bowtie,
        flat,
        shapely.Point(float("nan"), 0),
        shapely.Polygon(),
        shapely.LineString([(0, 0), (1, 1)]),
    ):
        with pytest.raises(ValueError, match="site"):
            site(shape)
    with pytest.raises(ValueError, match="uncertainty"):
        site(shapely.Point(0, 0), uncertainty_ft=-1)


@pytest.mark.parametrize("day", ["2017-04-17", datetime(2017, 4, 17, 23, 30, tzinfo=UTC), date(2017, 4, 17)])
def test_a_day_in_any_form_is_a_date(day: date | str) -> None:
    for atlas in (load_atlas(as_of=day), Atlas(as_of=day)):
        assert atlas.as_of == DEFAULT_AS_OF
        assert type(atlas.as_of) is date
        assert len(atlas.municipal_names) == 565


def test_a_folder_may_be_text(tmp_path: Path) -> None:
    assert load_atlas(folder=str(_copy(tmp_path))).state("designations").status == "loaded"
    assert load_atlas(folder=str(tmp_path / "nowhere")).state("designations").status == "unusable"
    assert Atlas(folder=str(tmp_path / "nowhere")).state("counties").status == "unusable"
