"""Credits for the HTTP API: a project as JSON, where it is or in which areas, and what credit it may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grownj_geo.areas import areas_by_hand, building_areas
from grownj_geo.atlas import load_atlas
from grownj_geo.creditprogram import PROGRAMS, estimate_program, program_of
from grownj_geo.creditproject import project_of
from grownj_geo.creditreadings import credit_readings
from grownj_geo.credits import DEFAULT_DAY, estimate
from grownj_geo.creditsites import areas_of_project, areas_of_site
from grownj_geo.determine import Directory
from grownj_geo.errors import FactError, NoPlaceError
from grownj_geo.locate import locate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grownj_geo.areas import Areas
    from grownj_geo.atlas import Atlas
    from grownj_geo.creditproject import Project
    from grownj_geo.servemodels import CreditAsk

__all__ = ["credits_json"]


def credits_json(asked: CreditAsk, atlas: Atlas | None = None) -> str:
    """Return the estimate that `grownj credits --json` prints.

    Parameters
    ----------
    asked
        The project, its place and how it is read.
    atlas
        The layers; by default those of the project's day.

    Raises
    ------
    ProjectError, FactError
        For a project or areas that cannot be taken.
    SiteError, RulebookError
        As `areas_of_project`.
    """
    if asked.areas is not None and asked.site is not None:
        raise FactError("areas and site both say where the project is. Expected one of them; leave out either.")
    own = {name: option for name, option in asked.readings.items() if name in credit_readings()}
    of_areas = {name: option for name, option in asked.readings.items() if name not in own}
    raw = dict(asked.project)
    if program_of(raw, name="The project") != PROGRAMS[0]:
        return _of_bill(asked, raw, of_areas, atlas)
    raw.pop("program", None)
    described = project_of(raw)
    if asked.areas is not None:
        found: Areas | None = areas_by_hand(asked.areas)
    else:
        found = _areas(asked, described, of_areas, atlas)
    return estimate(described, found, trust=asked.trust, readings=own, strict=asked.strict).to_json()


def _areas(asked: CreditAsk, described: Project, readings: Mapping[str, str], atlas: Atlas | None) -> Areas | None:
    ids = [building.id for building in described.buildings]
    if asked.site is not None and len(ids) > 1:
        raise FactError(
            f"site is of one building, and the project has {', '.join(ids)}. Say where each is in the project."
        )
    sites = {} if asked.site is None else {ids[0]: asked.site}
    texts = [*sites.values(), *(building.site for building in described.buildings if building.site)]
    if not texts and not any(building.pin or building.municipality for building in described.buildings):
        return None
    day = asked.as_of or described.approval_date or described.application_date or DEFAULT_DAY
    layers = load_atlas(as_of=day) if atlas is None else atlas
    _refuse_files(texts, layers)
    return areas_of_project(described, layers, sites=sites, readings=readings)


def _of_bill(asked: CreditAsk, raw: dict[str, Any], readings: Mapping[str, str], atlas: Atlas | None) -> str:
    """Return what a credit of the bill comes to."""
    found = None
    if asked.areas is not None:
        found = areas_by_hand(asked.areas).only()
    elif asked.site is not None:
        layers = load_atlas(as_of=asked.as_of or DEFAULT_DAY) if atlas is None else atlas
        _refuse_files([asked.site], layers)
        found = building_areas("site", areas_of_site(asked.site, layers, readings=readings))
    return estimate_program(raw, name="The project", areas=found, trust=asked.trust).to_json()


def _refuse_files(texts: list[str], atlas: Atlas) -> None:
    """Refuse texts that name files of this machine: whoever asks is somewhere else."""
    for text in texts:
        try:
            locate(text, directory=Directory(atlas), files=False)
        except NoPlaceError:
            # Words, which are looked up.
            continue
