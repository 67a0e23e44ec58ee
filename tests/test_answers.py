"""Columns of many sites say what the record of each one says."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import shapely
from drawn import NEWARK, around, draw, site

from grownj_geo.answers import MARGIN_LIMIT_FT, answer_columns, answers_many, answers_of, columns_of
from grownj_geo.atlas import Atlas, load_atlas
from grownj_geo.determine import Engine
from grownj_geo.leaves import Leaves
from grownj_geo.place import PlacementKind, place_sites
from grownj_geo.rulebook import load_rulebook
from grownj_geo.sitetable import SiteTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grownj_geo.site import Site

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
import benchmark


def columns(engine: Engine, sites: Sequence[Site], detail: Any = "full") -> dict[str, Any]:
    leaves = Leaves(engine.bound, engine.atlas, SiteTable.of(sites), {})
    return columns_of(engine, leaves, answers_of(engine, leaves), detail)


@pytest.fixture(scope="module")
def sample(atlas: Atlas) -> list[Site]:
    sites = benchmark.sample_sites(atlas, 60)
    kinds = place_sites(atlas, SiteTable.of(sites)).kinds
    return [s for s, kind in zip(sites, kinds, strict=True) if kind is not PlacementKind.OUTSIDE]


@pytest.mark.parametrize("book", ["grow-nj", "urban-transit-hub", "a1178-areas"])
def test_every_column_says_what_the_record_says(atlas: Atlas, sample: list[Site], book: str) -> None:
    engine = Engine(atlas, load_rulebook(book))
    found = columns(engine, sample)
    for i, one in enumerate(sample):
        record = engine.determine(one)
        place = record.place.municipality
        assert found["placement"][i] == record.place.kind
        if record.place.kind == "certain":
            assert place is not None
            assert (found["mun_code"][i], found["municipality"][i]) == (place.mun_code, place.name)
            assert found["county"][i] == place.county
        if record.tier is not None:
            assert (found["base_floor"][i], found["base_ceiling"][i]) == (record.tier.floor, record.tier.ceiling)
            assert found["base_assumed"][i] == record.tier.assumed
        for finding in record.findings:
            assert found[finding.id][i] == finding.outcome
            assert found[f"{finding.id}_leans"][i] == finding.leans
            assert (found[f"{finding.id}_causes"][i] or "") == "; ".join(finding.causes)
            assert found[f"{finding.id}_assumed"][i] == finding.assumed
            margin = found[f"{finding.id}_margin_ft"][i]
            if finding.margin_ft is None:
                assert margin is None
            elif abs(finding.margin_ft) < MARGIN_LIMIT_FT:
                assert float(margin) == pytest.approx(finding.margin_ft, abs=0.06)
            else:
                assert margin == (">500" if finding.margin_ft > 0 else "<-500")


@pytest.mark.parametrize("book", ["grow-nj", "urban-transit-hub", "a1178-areas"])
def test_many_at_once_are_what_each_is_alone(atlas: Atlas, sample: list[Site], book: str) -> None:
    engine = Engine(atlas, load_rulebook(book))
    facts = {"lfb_supervision": [(None, True, False)[i % 3] for i in range(len(sample))]}
    table = SiteTable.of(sample)
    leaves = Leaves(engine.bound, atlas, table, facts)
    alone = columns_of(engine, leaves, answers_of(engine, leaves), "full")
    answers = answers_many(engine, table, facts)
    together = answers.columns("full")
    assert list(together) == list(alone)
    for name, values in alone.items():
        assert list(together[name]) == list(values), name
    tally = answers.tally()
    for category, counts in tally["outcomes"].items():
        assert counts == Counter(alone[category])
    assert tally["placements"] == Counter(alone["placement"])
    assert sum(tally["causes"].values()) == sum(
        len((words or "").split("; ")) if words else 0 for c in tally["outcomes"] for words in alone[f"{c}_causes"]
    )
    near = [any("near_line" in (alone[f"{c}_causes"][i] or "") for c in tally["outcomes"]) for i in range(len(sample))]
    assert tally["near_line"] == sum(near)


@pytest.mark.parametrize("detail", ["brief", "full"])
def test_the_dictionary_names_every_column_in_order(atlas: Atlas, sample: list[Site], detail: Any) -> None:
    engine = Engine(atlas, load_rulebook())
    known = answer_columns(engine, detail)
    assert [column.name for column in known] == list(columns(engine, sample[:3], detail))
    assert all(column.meaning for column in known)
    assert len({column.name for column in known}) == len(known)


def test_what_needs_a_look_is_said(atlas: Atlas) -> None:
    x, y = shapely.get_coordinates(around(NEWARK, 1.0))[0]
    ground = shapely.box(x - 5000, y - 5000, x, y + 5000)
    drawn = draw("census_tract_poverty", [(ground, {"GEOID": "1", "POVERTY_RATE": "30"})], accuracy_ft=75.0)
    engine = Engine(Atlas(layers=[drawn]), load_rulebook())
    near, cut = site(shapely.Point(x - 20, y)), site(shapely.box(x - 300, y, x + 300, y + 100))
    found = columns(engine, [near, cut, site(shapely.Point(x - 3000, y))])
    assert "near the line of Deep poverty pocket" in found["review"][0]
    assert "cut by the line of Deep poverty pocket" in found["review"][1]
    assert "Deep poverty pocket" not in (found["review"][2] or "")
    assert found["deep_poverty_pocket_leans"][0] == "yes"
    assert atlas


def test_the_marks_tell_layers_and_rules_apart(atlas: Atlas, sample: list[Site]) -> None:
    one = columns(Engine(atlas, load_rulebook()), sample[:2])
    other = columns(Engine(load_atlas(as_of="2016-01-04"), load_rulebook()), sample[:2])
    drawn = draw("meadowlands_district", [(around(NEWARK, 100.0), {})])
    third = columns(Engine(Atlas(layers=[drawn]), load_rulebook()), sample[:2])
    assert len({one["atlas"][0], other["atlas"][0], third["atlas"][0]}) == 3
    assert (
        one["rulebook"][0]
        == other["rulebook"][0]
        != columns(Engine(atlas, load_rulebook("a1178-areas")), sample)["rulebook"][0]
    )


def test_no_site_at_all_gives_columns_without_rows(atlas: Atlas) -> None:
    engine = Engine(atlas, load_rulebook())
    found = columns(engine, [])
    assert {len(np.asarray(values)) for values in found.values()} == {0}
