"""The areas of a project's buildings, found by the classifier: from what the project says of where they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grownj_geo.areanames import area_names, rulebooks_for
from grownj_geo.areas import Areas, BuildingAreas, areas_of, building_areas
from grownj_geo.determine import Engine
from grownj_geo.errors import FactError, OutsideNewJerseyError, SiteError
from grownj_geo.facts import check_facts
from grownj_geo.finder import Finder
from grownj_geo.rulebook import load_rulebook
from grownj_geo.site import Site

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grownj_geo.atlas import Atlas
    from grownj_geo.creditproject import Building, Project
    from grownj_geo.determination import Determination
    from grownj_geo.site import FactValue

__all__ = ["areas_of_project", "areas_of_site"]


def areas_of_site(
    typed: str | Site,
    atlas: Atlas,
    *,
    name: str = "site",
    facts: Mapping[str, object] | None = None,
    readings: Mapping[str, str] | None = None,
    pin: str | None = None,
    municipality: str | None = None,
) -> list[Determination]:
    """Return the determinations of one building by every rulebook that a credit rule asks.

    Parameters
    ----------
    atlas
        The layers.
    facts, readings
        Stated facts of the site, and chosen options of open questions.
    pin, municipality
        Where it is, in place of `typed`.
    typed
        Where it is, as `grownj check` takes it; empty where a parcel number or a municipality says it. Or the site that
        was found already; the facts that it has count with `facts`.
    name
        The building, for messages.

    Raises
    ------
    SiteError, FactError, RulebookError
        As `determine` does; the message begins with the building.
    """
    if isinstance(typed, Site):
        site = typed
    else:
        try:
            site = Finder.at_home(atlas).site(typed, pin=pin, municipality=municipality)
        except OutsideNewJerseyError as error:
            raise OutsideNewJerseyError(f"Building {name}: {error}") from error
        except SiteError as error:
            raise SiteError(f"Building {name}: {error}") from error
    site = replace(site, facts=_joined_facts(name, site.facts, check_facts(facts or {})))
    engines = [Engine(atlas, load_rulebook(book), dict(readings or {})) for book in rulebooks_for(area_names())]
    return [engine.determine(site) for engine in engines]


def _joined_facts(
    name: str, of_site: Mapping[str, FactValue], of_building: Mapping[str, FactValue]
) -> dict[str, FactValue]:
    """Return the facts of a site with those of its building."""
    for fact, value in of_building.items():
        if of_site.get(fact, value) != value:
            raise FactError(
                f"Building {name}: the fact {fact} is stated as {of_site[fact]!r} of the site and as {value!r} of the "
                "building. Expected one answer; correct either."
            )
    return {**of_site, **of_building}


def areas_of_project(
    project: Project,
    atlas: Atlas,
    *,
    sites: Mapping[str, str | Site] | None = None,
    readings: Mapping[str, str] | None = None,
) -> Areas | None:
    """Return the areas of a project's buildings; None where nothing says where any of them is.

    Parameters
    ----------
    project
        The project.
    atlas
        The layers.
    sites
        Where buildings are, by their ids, as text or as the site that was found; outranks what the project says. A
        building that says its areas keeps them unless it is among these.
    readings
        Chosen options of open questions of the areas.

    Raises
    ------
    SiteError, FactError, RulebookError
        As `areas_of_site` does.
    """
    places: dict[str, BuildingAreas] = {}
    found: dict[str, list[Determination]] = {}
    for building in project.buildings:
        typed = (sites or {}).get(building.id) or building.site
        if typed is None and building.areas is not None:
            places[building.id] = building.areas
        elif typed or building.pin or building.municipality:
            found[building.id] = _determined(building, typed or "", atlas, readings)
    if not found:
        return None
    record = areas_of(found)
    every = []
    for building in project.buildings:
        if building.id in found:
            every.append(building_areas(building.id, found[building.id]))
        else:
            stated = places.get(building.id) or BuildingAreas(id=building.id)
            every.append(stated.model_copy(update={"id": building.id}))
    return record.model_copy(update={"buildings": tuple(every)})


def _determined(
    building: Building, typed: str | Site, atlas: Atlas, readings: Mapping[str, str] | None
) -> list[Determination]:
    return areas_of_site(
        typed,
        atlas,
        name=building.id,
        facts=building.facts,
        readings=readings,
        pin=None if typed else building.pin,
        municipality=building.municipality,
    )
