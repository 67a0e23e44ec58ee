"""What sites share that leave the same points open never mixes one site's words into another's."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from grownj_geo.atlas import load_atlas
from grownj_geo.categoryfinding import SitesAlike
from grownj_geo.determine import Engine
from grownj_geo.rulebook import load_rulebook
from grownj_geo.site import Site

CAMDEN, EAST_ORANGE, RURAL = (-75.1190, 39.9447), (-74.2100, 40.7650), (-74.9000, 40.9000)
SITES = {
    "Camden": Site.from_lonlat(*CAMDEN),
    "East Orange": Site.from_lonlat(*EAST_ORANGE),
    "rural": Site.from_lonlat(*RURAL),
    "rural, stated": replace(Site.from_lonlat(*RURAL), facts={"in_redevelopment_area": True}),
    "municipality only": Site(typed="Camden", located_by="municipality", mun_code="0408", mun_basis="stated"),
}


@pytest.fixture(scope="module")
def alone() -> dict[str, str]:
    """The record of each site by an engine that has seen no other."""
    atlas, book = load_atlas(), load_rulebook()
    return {name: Engine(atlas, book).determine(site).model_dump_json() for name, site in SITES.items()}


@pytest.mark.parametrize("order", list(permutations(SITES, 3))[::7])
def test_what_an_engine_has_answered_before_changes_no_record(order: tuple[str, ...], alone: dict[str, str]) -> None:
    engine = Engine(load_atlas(), load_rulebook())
    for name in (*order, *order):
        assert engine.determine(SITES[name]).model_dump_json() == alone[name]


def test_findings_under_other_readings_are_not_those_without(alone: dict[str, str]) -> None:
    engine = Engine(load_atlas(), load_rulebook())
    tried = engine.determine(SITES["rural"], other_readings=True)
    assert engine.determine(SITES["rural"]).model_dump_json() == alone["rural"]
    assert engine.determine(SITES["rural"], other_readings=True) == tried
    assert all(finding.under_other_readings is not None for finding in tried.findings)


def test_sites_that_leave_the_same_points_open_share_them() -> None:
    engine = Engine(load_atlas(), load_rulebook())
    alike = SitesAlike([c.id for c in engine.rulebook.categories if c.kind != "ground"], engine.atlas)
    near = Site.from_lonlat(RURAL[0] + 1e-4, RURAL[1])
    first, second, other = (alike.of(engine.run(site)) for site in (SITES["rural"], near, SITES["Camden"]))
    assert first is second
    assert first is not other
