"""From sites and records to what is reported of each: asked now, or taken from a kept record as it was recorded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
import shapely

from grownj_geo.areanames import area_names, rulebooks_for
from grownj_geo.determine import Engine
from grownj_geo.engines import Conditions, Engines
from grownj_geo.errors import FactError, LayerError, RulebookError, SiteError
from grownj_geo.inputchanges import known_readings
from grownj_geo.mapanswer import decisive_lines, panel_of
from grownj_geo.mapareas import draw_areas
from grownj_geo.mapsites import MapSites
from grownj_geo.nextbetter import Finder
from grownj_geo.records import rulebook_record
from grownj_geo.reportcredits import credit_section
from grownj_geo.reportmap import report_map
from grownj_geo.reportpage import Reported
from grownj_geo.reportwords import cut_words
from grownj_geo.rerun import answers_of, changed_items
from grownj_geo.rulebook import load_rulebook, shipped_rulebooks
from grownj_geo.units import to_lonlat

if TYPE_CHECKING:
    from grownj_geo.candidates import Candidate
    from grownj_geo.creditproject import Project
    from grownj_geo.determination import Determination
    from grownj_geo.kept import Kept
    from grownj_geo.mapareas import MapAreas
    from grownj_geo.reportblocks import Picture, Section
    from grownj_geo.rulebook import Rulebook
    from grownj_geo.site import Site

__all__ = ["Maker"]

_CHANGED = (
    "The layers or the rules of the record are not all at hand as they were, or answer otherwise now; "
    "see grownj recheck."
)
_NO_PLACE = "There is no map, as the place is not known: only its municipality is."


@dataclass
class _At:
    """What one engine needs for reports, each made when it is first wanted."""

    engine: Engine
    finder: Finder
    areas: MapAreas | None = None
    others: list[Engine] | None = None


@dataclass
class Maker:
    """Makes what is reported of any number of sites.

    Parameters
    ----------
    engine
        What sites are asked of that come without a record.
    maps
        What maps are made as; None for no maps.
    project
        What a project of one building at each site could have of credits is told too.
    """

    engine: Engine
    maps: Literal["svg", "png"] | None = "svg"
    project: Project | None = None
    _engines: Engines = field(default_factory=Engines)
    _at: dict[int, _At] = field(default_factory=dict)
    _made: int = 0

    def report(self, candidate: Candidate) -> Reported:
        """Return what is reported of one site.

        Of a record it is the determination as recorded; how far the next better line is and the map are made only
        where layers and rules of the record are at hand and give the same answers.

        Raises
        ------
        SiteError, OutsideNewJerseyError, FactError
            As `Engine.run`.
        LayerFault
            ``not_installed`` where matplotlib is not there.
        """
        if candidate.kept is not None:
            return self._of_record(candidate.name, candidate.kept)
        found = self.engine.determine(candidate.site, other_readings=True)
        return self._with_engine(candidate.name, candidate.site, found, self.engine)

    # -- records --------------------------------------------------------------------------------------

    def _of_record(self, name: str, kept: Kept) -> Reported:
        found = kept.determination
        source = cut_words(kept.source, 200)
        origin = f"as recorded in {source}, whose checksum is right" if kept.sealed else (
            f"as recorded in {source}, which has no checksum: whether it was altered cannot be seen"
        )  # fmt: skip
        engine = self._engine_of(kept)
        if engine is None:
            words = f"Not measured. {_CHANGED}"
            none = f"There is no map. {_CHANGED}" if self.maps else ""
            extra = self._credits([found])
            return Reported(name, found, better_words=words, origin=origin, no_picture=none, extra=extra)
        return self._with_engine(name, kept.site, found, engine, origin=origin)

    def _engine_of(self, kept: Kept) -> Engine | None:
        """Return an engine that has what the record had and answers as it does; None where there is none."""
        found = kept.determination
        book = self._book(kept)
        if book is None:
            return None
        sources = {x.id: "none" if x.status != "loaded" else x.stored or "shipped" for x in found.layers}
        self._engines.books[found.rulebook.sha256] = book
        conditions = Conditions(
            as_of=found.as_of,
            book=found.rulebook.sha256,
            readings=tuple(sorted(known_readings(kept.readings).items())),
            sources=tuple(sorted(sources.items())),
        )
        try:
            engine = self._engines.engine(conditions)
            now = engine.determine(kept.site)
        except (SiteError, FactError, RulebookError, LayerError):
            # What was asked then cannot be asked now. The caller says so.
            return None
        layers_then, layers_now = ({x.id: x.sha256 for x in d.layers if x.status == "loaded"} for d in (found, now))
        noise = kept.margin_noise_ft
        same = layers_then == layers_now and not changed_items(answers_of(found), answers_of(now), noise_ft=noise)
        return engine if same else None

    @staticmethod
    def _book(kept: Kept) -> Rulebook | None:
        recorded = kept.determination.rulebook
        if kept.rulebook is not None:
            return kept.rulebook
        if recorded.id in shipped_rulebooks():
            book = load_rulebook(recorded.id)
            return book if rulebook_record(book).sha256 == recorded.sha256 else None
        return None

    # -- what an engine adds --------------------------------------------------------------------------

    def _with_engine(
        self, name: str, site: Site, found: Determination, engine: Engine, *, origin: str = ""
    ) -> Reported:
        at = self._at.get(id(engine))
        if at is None:
            at = self._at[id(engine)] = _At(engine, Finder(engine))
        self._made += 1
        better = at.finder.find(site) if engine.rulebook.tiers else None
        picture = self._picture(at, name, site, found) if self.maps else None
        return Reported(
            name,
            found,
            better=better,
            origin=origin,
            picture=picture,
            no_picture=_NO_PLACE if self.maps and picture is None else "",
            extra=self._credits([found, *(other.determine(site) for other in self._others(at))]),
        )

    def _others(self, at: _At) -> list[Engine]:
        """Return engines for the other rulebooks that credit rules ask."""
        if self.project is None:
            return []
        if at.others is None:
            books = [book for book in rulebooks_for(area_names()) if book != at.engine.rulebook.id]
            at.others = [Engine(at.engine.atlas, load_rulebook(book), dict(at.engine.readings)) for book in books]
        return at.others

    def _credits(self, determinations: list[Determination]) -> tuple[Section, ...]:
        return () if self.project is None else (credit_section(self.project, determinations),)

    def _picture(self, at: _At, name: str, site: Site, found: Determination) -> Picture | None:
        if self.maps is None:
            return None
        if site.geometry is None:
            return None
        if at.areas is None:
            at.areas = draw_areas(at.engine)
        sites = _drawn(at.engine, site, site.geometry, found)
        return report_map(at.engine, at.areas, sites, name, f"m{self._made}-", kind=self.maps)


def _drawn(engine: Engine, site: Site, geometry: shapely.Geometry, found: Determination) -> MapSites:
    """Return one site as maps take it."""
    point = geometry if site.is_point else shapely.point_on_surface(geometry)
    lon, lat = to_lonlat(point.x, point.y)
    tier = found.tier
    floor, ceiling = (-1, -1) if tier is None else (tier.floor or -1, tier.ceiling or -1)
    return MapSites(
        names=(site.typed,),
        lonlat=np.array([[float(lon), float(lat)]]),
        floors=np.array([floor], dtype=np.int64),
        ceilings=np.array([ceiling], dtype=np.int64),
        geometries=(None if site.is_point else geometry,),
        panels=(panel_of(found, decisive_lines(engine, site, found)),),
    )
