"""Sites determined together say what each says alone, to the byte."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import bulk_world
import pytest
from drawn import site

from grownj_geo.determination import Determination
from grownj_geo.determine import Engine
from grownj_geo.errors import FactError, OutsideNewJerseyError, SiteError
from grownj_geo.evaluate import Evaluation
from grownj_geo.leaves import Leaves
from grownj_geo.site import Site
from grownj_geo.sitetable import SiteTable

if TYPE_CHECKING:
    from collections.abc import Sequence


ABROAD = Site.from_lonlat(-80.0, 40.0)
READINGS: list[dict[str, str]] = [{}, {"A3": "majority"}, {"A43": "strict"}, {"A47": "one_station"}]


def said(engine: Engine, sites: Sequence[Site], *, other_readings: bool) -> list[str]:
    """Return what each site says by itself."""
    found = []
    for one in sites:
        try:
            found.append(engine.determine(one, other_readings=other_readings).model_dump_json())
        except (SiteError, OutsideNewJerseyError) as error:
            found.append(str(error))
    return found


def together(engine: Engine, sites: Sequence[Site], *, other_readings: bool) -> list[str]:
    """Return what the sites say together."""
    found = engine.determine_each(sites, other_readings=other_readings)
    return [one.model_dump_json() if isinstance(one, Determination) else str(one) for one in found]


def mixed() -> list[Site]:
    """Return points and lots where it is hardest, uncertain ones, municipalities alone, and some that are refused."""
    points = [site(g) for g in (*bulk_world.random_points(6), *bulk_world.hard_points(30))]
    lots = [site(g) for g in (*bulk_world.parcels(12), *bulk_world.cut_lots(12))]
    uncertain = [replace(one, uncertainty_ft=300.0) for one in (*points[:4], *lots[:4])]
    alone = [replace(points[0], geometry=None, mun_code=code, mun_basis="stated") for code in ("0714", "0408", "1205")]
    stated = [
        replace(one, facts={"in_redevelopment_area": value}) for one, value in zip(lots, (True, False), strict=False)
    ]
    refused = [ABROAD, replace(points[1], mun_code="9999", mun_basis="stated")]
    far = replace(points[2], mun_code="0101", mun_basis="pin", pins=("0101_1_1",))
    return [*points, refused[0], *lots, far, *uncertain, *alone, refused[1], *stated]


@pytest.mark.parametrize("readings", READINGS, ids=lambda r: "-".join(f"{k}={v}" for k, v in r.items()) or "default")
def test_together_says_what_each_says_alone(readings: dict[str, str]) -> None:
    sites = mixed()
    engine = bulk_world.engine(**readings)
    fresh = Engine(engine.atlas, engine.rulebook, engine.readings)
    assert together(fresh, sites, other_readings=not readings) == said(engine, sites, other_readings=not readings)


def test_the_refused_are_errors_in_their_places() -> None:
    sites = mixed()
    found = list(bulk_world.engine().determine_each(sites))
    errors = {i: type(one) for i, one in enumerate(found) if not isinstance(one, Determination)}
    assert errors[36] is OutsideNewJerseyError
    assert errors[sites.index(next(one for one in sites if one.mun_code == "9999"))] is SiteError
    assert errors[sites.index(next(one for one in sites if one.pins))] is SiteError


def test_more_sites_than_are_measured_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sites, engine = mixed()[:20], bulk_world.engine()
    whole = together(engine, sites, other_readings=False)
    monkeypatch.setattr(sys.modules[Engine.__module__], "_MOST_TOGETHER", 3)
    assert together(engine, sites, other_readings=False) == whole
    assert list(engine.determine_each([])) == []
    assert [isinstance(one, OutsideNewJerseyError) for one in engine.determine_each([ABROAD])] == [True]


def test_a_fact_that_is_none_stops_all() -> None:
    wrong = replace(mixed()[0], facts={"no_such_fact": True})
    with pytest.raises(FactError, match="no_such_fact"):
        list(bulk_world.engine().determine_each([mixed()[1], wrong]))


def test_clauses_evaluated_after_a_site_was_taken_out_are_refused() -> None:
    engine, sites = bulk_world.engine(), mixed()[:3]
    run = Evaluation(engine.bound, Leaves(engine.bound, engine.atlas, SiteTable.of(sites)))
    run.category("transit_oriented_development")
    run.row(0)
    run.category("port_district")
    with pytest.raises(RuntimeError, match="evaluate all of them before"):
        run.row(1)
