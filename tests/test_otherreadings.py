"""Categories that another reading is said not to change come out the same, under every reading and at many places."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from grownj_geo.determine import Engine
from grownj_geo.otherreadings import changed_categories
from grownj_geo.readings import load_readings
from grownj_geo.rulebook import load_rulebook, shipped_rulebooks
from grownj_geo.site import Site

if TYPE_CHECKING:
    from grownj_geo.atlas import Atlas

OTHERS = [
    (name, option)
    for name, reading in load_readings().items()
    if reading.kind == "option"
    for option in reading.options
    if option != reading.default
]
FACTS = {"structure_exists": True, "hub_impact_ruling": True, "full_time_jobs": 300.0}


@pytest.fixture(scope="module")
def sites() -> list[Site]:
    places = [(-74.1641, 40.7344), (-75.1190, 39.9447), (-75.0700, 39.9170), (-74.0330, 40.7350), (-74.4340, 39.3640)]
    rng = np.random.default_rng(11)
    places += list(zip(-74.7 + 0.3 * rng.random(4), 40.2 + 0.5 * rng.random(4), strict=True))
    found = [
        Site.from_lonlat(float(lon), float(lat), uncertainty_ft=50.0 * (i % 2)) for i, (lon, lat) in enumerate(places)
    ]
    return [replace(site, facts=FACTS if i % 3 == 0 else {}) for i, site in enumerate(found)]


@pytest.mark.parametrize("book", shipped_rulebooks())
def test_what_is_said_not_to_change_does_not(atlas: Atlas, sites: list[Site], book: str) -> None:
    engine = Engine(atlas, load_rulebook(book))
    runs = [(site, engine.run(site)) for site in sites[::2]]
    for name, option in OTHERS:
        other = Engine(atlas, engine.rulebook, {name: option})
        changed = changed_categories(engine.bound, other.bound)
        for site, run in runs:
            again = other.run(site)
            for category in engine.bound.clauses:
                same = np.array_equal(again.category(category).outcomes, run.category(category).outcomes)
                assert same or category in changed, (name, option, category)


@pytest.mark.parametrize("facts", [{}, FACTS])
def test_records_say_of_other_readings_what_asking_everything_again_says(
    atlas: Atlas, sites: list[Site], facts: dict[str, bool | float | str]
) -> None:
    engine = Engine(atlas, load_rulebook())
    differing = 0
    for site in (replace(site, facts=facts) for site in sites):
        record = engine.determine(site, other_readings=True)
        for label, other in engine.others.items():
            whole = other.determine(site)
            for finding in record.findings:
                there = whole[finding.id].outcome
                said = (finding.under_other_readings or {}).get(label, finding.outcome)
                assert said == there, (label, finding.id)
                differing += there != finding.outcome
    assert differing


def test_a_reading_of_how_ground_is_looked_at_may_change_everything(atlas: Atlas) -> None:
    engine = Engine(atlas, load_rulebook())
    other = Engine(atlas, engine.rulebook, {"A43": "strict"})
    assert changed_categories(engine.bound, other.bound) == set(engine.bound.clauses)
    assert len(changed_categories(engine.bound, engine.others["A11=strict"].bound)) < len(engine.bound.clauses) / 2
