"""Credits for the HTTP API: a project as JSON, where it is or in which areas, and what credit it may have.

Where a project is, is looked up by the server as for any other question: what is done here asks nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grownj_geo.areas import areas_by_hand, building_areas
from grownj_geo.creditprogram import PROGRAMS, estimate_program, program_of
from grownj_geo.creditproject import project_of
from grownj_geo.creditreadings import credit_readings
from grownj_geo.credits import DEFAULT_DAY, estimate
from grownj_geo.creditsites import areas_of_project, areas_of_site
from grownj_geo.errors import FactError
from grownj_geo.readings import resolve_readings
from grownj_geo.serveanswers import terms_of
from grownj_geo.serveasked import PlaceAsk, SiteAsk

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from grownj_geo.atlas import Atlas
    from grownj_geo.creditproject import Project
    from grownj_geo.serveanswers import Answers
    from grownj_geo.serveasked import CreditAsk
    from grownj_geo.site import Site

__all__ = ["credit_places", "credits_json"]

_BILL = "site"
"""What the place of a credit of the bill is called: it has one, and no buildings."""


def credit_places(asked: CreditAsk) -> dict[str, SiteAsk]:
    """Return where a project's buildings are, as questions by the building's name; none where their areas are given.

    Raises
    ------
    ProjectError, FactError, RulebookError
        For a project that cannot be taken or a reading that there is not, before anything is looked up for it.
    """
    # Also where nothing is looked at with them: what there is not would be left out in silence.
    resolve_readings(_of_areas(asked))
    where = asked.place if asked.site is None else PlaceAsk(site=asked.site)
    if asked.site is not None and asked.place is not None:
        raise FactError("site and place both say where the project is. Expected one of them; leave out either.")
    if asked.areas is not None:
        if where is not None:
            raise FactError("areas and site both say where the project is. Expected one of them; leave out either.")
        return {}
    raw = dict(asked.project)
    if program_of(raw, name="The project") != PROGRAMS[0]:
        return {} if where is None else {_BILL: _question(where, asked, asked.as_of or DEFAULT_DAY)}
    described = _project(raw)
    ids = [building.id for building in described.buildings]
    if where is not None:
        if len(ids) > 1:
            raise FactError(
                f"site is of one building, and the project has {', '.join(ids)}. Say where each is in the project."
            )
        return {ids[0]: _question(where, asked, _day(asked, described))}
    places = {}
    for building in described.buildings:
        if building.site or (building.areas is None and (building.pin or building.municipality)):
            stated = PlaceAsk(
                site=building.site or None, pin=None if building.site else building.pin, mun_code=building.municipality
            )
            places[building.id] = _question(stated, asked, _day(asked, described))
    return places


def credits_json(asked: CreditAsk, sites: Mapping[str, Site], answers: Answers) -> str:
    """Return the estimate that `grownj credits --json` prints.

    Parameters
    ----------
    asked
        The project and how it is read.
    sites
        Where its buildings are, by their names: what `credit_places` asks for.
    answers
        Has the layers of the project's day.

    Raises
    ------
    ProjectError, FactError
        For a project or areas that cannot be taken.
    SiteError, RulebookError
        As `areas_of_project`.
    """
    own = {name: option for name, option in asked.readings.items() if name in credit_readings()}
    of_areas = _of_areas(asked)
    raw = dict(asked.project)
    if program_of(raw, name="The project") != PROGRAMS[0]:
        return _of_bill(asked, raw, of_areas, sites, answers)
    described = _project(raw)
    found = None if asked.areas is None else areas_by_hand(asked.areas)
    if sites:
        atlas = _atlas(answers, _day(asked, described))
        found = areas_of_project(described, atlas, sites=sites, readings=of_areas)
    return estimate(described, found, trust=asked.trust, readings=own, strict=asked.strict).to_json()


def _of_bill(
    asked: CreditAsk, raw: dict[str, Any], readings: Mapping[str, str], sites: Mapping[str, Site], answers: Answers
) -> str:
    """Return what a credit of the bill comes to."""
    found = None if asked.areas is None else areas_by_hand(asked.areas).only()
    if sites:
        atlas = _atlas(answers, asked.as_of or DEFAULT_DAY)
        found = building_areas(_BILL, areas_of_site(sites[_BILL], atlas, readings=readings))
    return estimate_program(raw, name="The project", areas=found, trust=asked.trust).to_json()


def _project(raw: Mapping[str, Any]) -> Project:
    return project_of({name: value for name, value in raw.items() if name != "program"})


def _day(asked: CreditAsk, described: Project) -> date:
    return asked.as_of or described.approval_date or described.application_date or DEFAULT_DAY


def _question(where: PlaceAsk, asked: CreditAsk, day: date) -> SiteAsk:
    return SiteAsk(**where.model_dump(), as_of=day, readings=_of_areas(asked))


def _of_areas(asked: CreditAsk) -> dict[str, str]:
    """Return the readings that are not of the credit rules."""
    own = credit_readings()
    return {name: option for name, option in asked.readings.items() if name not in own}


def _atlas(answers: Answers, day: date) -> Atlas:
    return answers.engine(terms_of(day, "grow-nj", {}, strict=False)).atlas
