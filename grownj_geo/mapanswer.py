"""What one site comes to on a map: its panel, and the line along which its deciding distance was measured."""

from __future__ import annotations

import gc
import os
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import TYPE_CHECKING, NamedTuple, Self
from weakref import WeakKeyDictionary

import numpy as np
import shapely

from grownj_geo.atlas import load_atlas
from grownj_geo.determine import Engine
from grownj_geo.errors import OutsideNewJerseyError, SiteError
from grownj_geo.features import LayerFault
from grownj_geo.mapcommand import SiteWords, site_words
from grownj_geo.reportwords import weak_words
from grownj_geo.shares import geodesic_circle
from grownj_geo.units import FT_PER_FTUS, to_lonlat
from grownj_geo.words import feet, margin_words, percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import date

    from numpy.typing import NDArray

    from grownj_geo.determination import Determination, Evidence
    from grownj_geo.layer import Layer
    from grownj_geo.rulebook import Rulebook
    from grownj_geo.site import Site

    LonLat = tuple[float, float]

__all__ = [
    "Asked",
    "Found",
    "Helpers",
    "Line",
    "Panel",
    "SiteAnswer",
    "county_words",
    "decisive_lines",
    "panel_of",
]

_NO_COMMAND = SiteWords("")
_WORTH_PROCESSES = 150
_MOST_PROCESSES = 4
_AGREES = 0.001
_AGREES_FT = 5.0


@dataclass(frozen=True)
class Asked:
    """What is asked of every site, in values that another process can take.

    Attributes
    ----------
    as_of, editions
        The day, and stored editions to use whatever the day.
    rulebook, readings
        The rules, and chosen option by ambiguity id.
    """

    as_of: date
    rulebook: Rulebook
    readings: Mapping[str, str] = field(default_factory=dict)
    editions: tuple[str, ...] = ()

    def engine(self) -> Engine:
        """Return an engine for it.

        Raises
        ------
        RulebookError, LayerError
            For a day, a reading or an edition that there is not.
        """
        atlas = load_atlas(as_of=self.as_of, editions=self.editions)
        return Engine(atlas, self.rulebook, dict(sorted(self.readings.items())))


class Line(NamedTuple):
    """The line along which a finding's deciding distance was measured.

    Attributes
    ----------
    findings
        Ids of the findings that it decides.
    start, end
        Longitude and latitude on the site, and on what it was measured to.
    to
        What that is called.
    feet
        Its length in international feet.
    margin_ft
        How far the site is on the inner (positive) or the outer side of the line of the law.
    outcome
        Of those findings; what they come to in words is the same for all.
    share
        Where the line of the law cuts the site: how much of it is inside. Then the line goes from one end of the cut to
        the other, and its margin is 0.
    """

    findings: tuple[str, ...]
    start: LonLat
    end: LonLat
    to: str
    feet: float
    margin_ft: float
    outcome: str
    share: float | None = None

    @property
    def label(self) -> str:
        """The line's figure, as it stands on a map."""
        return feet(self.feet) if self.share is None else f"{percent(self.share)} inside {self.to}"

    @property
    def words(self) -> str:
        """The line in words."""
        if self.share is not None:
            return f"{self.to} cuts the site: {percent(self.share)} of it is inside"
        return f"{feet(self.feet)} to {self.to}; {margin_words(self.outcome, self.margin_ft)}"


class Found(NamedTuple):
    """One category for one site, as its panel shows it; the status is empty where it is no weaker than derived."""

    category: str
    outcome: str
    leans: str | None
    margin_ft: float | None
    why: str
    assumed: bool
    needs: str
    status: str = ""


@dataclass(frozen=True)
class Panel:
    """What is said of one site.

    Attributes
    ----------
    typed, place, tier
        As typed; where it lies; what base amount it reaches; in words.
    found
        Every category.
    lines
        Lines that cut the site, then deciding distances, the narrowest margin first.
    remarks
        Cautions and assumptions.
    asked
        The site as arguments of `grownj check`.
    """

    typed: str
    place: str
    tier: str
    found: tuple[Found, ...]
    lines: tuple[Line, ...] = ()
    remarks: tuple[str, ...] = ()
    asked: SiteWords = _NO_COMMAND


# -- one site ------------------------------------------------------------------------------------------


def panel_of(record: Determination, lines: Sequence[Line] = ()) -> Panel:
    """Return what a map says of a determination.

    Parameters
    ----------
    record
        The determination.
    lines
        Its deciding distances, as `decisive_lines` gives them.
    """
    found = tuple(
        Found(
            f.id,
            f.outcome,
            f.leans,
            f.margin_ft,
            f.why,
            f.assumed,
            "; or ".join(missing.words for missing in f.would_decide[:3]),
            weak_words(f.status).strip(" ()"),
        )
        for f in record.findings
    )
    return Panel(
        typed=record.site.typed,
        place=", ".join(filter(None, (record.place.words, county_words(record.place.county)))),
        tier=record.tier.words + weak_words(record.tier.status) if record.tier is not None else "",
        found=found,
        lines=tuple(lines),
        remarks=(*record.cautions, *record.assumptions),
        asked=site_words(record.site),
    )


def decisive_lines(engine: Engine, site: Site, record: Determination) -> tuple[Line, ...]:
    """Return the lines that cut a site, and those along which its deciding distances were measured.

    A line is drawn only where its length, or the share that it cuts off, is the figure that the record has; what was
    measured from a place that cannot be told from the record has none.

    Parameters
    ----------
    engine
        What made the determination.
    site, record
        The site and its determination.
    """
    if site.geometry is None:
        return ()
    lines: dict[tuple[LonLat, LonLat, float, str], Line] = {}
    for finding in record.findings:
        for evidence in finding.evidence:
            layer = None if evidence.layer is None else engine.atlas.layer(evidence.layer)
            if layer is None:
                continue
            drawn = _cut(site.geometry, layer, evidence, finding.outcome)
            if drawn is None and finding.margin_ft is not None and evidence.margin_ft == finding.margin_ft:
                drawn = _line(site.geometry, layer, evidence, finding.outcome)
            if drawn is None:
                continue
            # Of one line an open finding says another thing than one that is decided.
            key = drawn.start, drawn.end, drawn.margin_ft, drawn.words
            known = lines.get(key)
            ids = (*known.findings, finding.id) if known else (finding.id,)
            lines[key] = drawn._replace(findings=tuple(dict.fromkeys(ids)))
            break
    return tuple(sorted(lines.values(), key=lambda line: abs(line.margin_ft)))


def _cut(site: shapely.Geometry, layer: Layer, evidence: Evidence, outcome: str) -> Line | None:
    """Return the line of an area or of a radius across a site; None where no feature cuts off the share recorded."""
    share = None if evidence.share is None else evidence.share.value
    if site.geom_type == "Point" or share is None or not 0 < share < 1 or evidence.outcome != outcome:
        return None
    radius = evidence.radius_ft
    for i in _features(layer, evidence):
        if radius is None:
            ground = layer.geometry(i)
        elif layer.lonlat is not None:
            ground = geodesic_circle(float(layer.lonlat[i, 0]), float(layer.lonlat[i, 1]), radius)
        else:
            continue
        inside = shapely.intersection(site, ground)
        if abs(float(shapely.area(inside) / shapely.area(site)) - share) > _AGREES:
            continue
        across = shapely.line_merge(shapely.intersection(shapely.boundary(ground), site))
        ends = shapely.get_coordinates(shapely.boundary(across))
        if len(ends) > 1:
            far = shapely.distance(shapely.points(ends), shapely.points(ends)[:, None])
            both = ends[list(np.unravel_index(int(np.argmax(far)), far.shape))]
            length = float(far.max()) * FT_PER_FTUS
            start, end = _degrees(both)
            name = evidence.feature_name or layer.manifest.title
            to = f"the line of {name}" if radius is None else f"the radius of {feet(radius)} around {name}"
            return Line((), start, end, to, length, 0.0, outcome, share)
    return None


def _degrees(ends: NDArray[np.float64]) -> tuple[LonLat, LonLat]:
    lon, lat = to_lonlat(*ends.T)
    first, last = ((round(float(lon[k]), 7), round(float(lat[k]), 7)) for k in (0, 1))
    return first, last


def _line(site: shapely.Geometry, layer: Layer, evidence: Evidence, outcome: str) -> Line | None:
    """Return the line whose length is what a clause measured; None where no feature fits."""
    if evidence.margin_ft is None:
        return None
    radius = evidence.radius_ft
    wanted = abs(evidence.margin_ft) if radius is None else radius - evidence.margin_ft
    best: tuple[float, shapely.Geometry] | None = None
    for i in _features(layer, evidence):
        feature = layer.points[i] if layer.lonlat is not None else layer.geometry(i)
        if radius is None:
            feature = shapely.boundary(feature)
        for candidate in _between(site, feature):
            off = abs(float(shapely.length(candidate)) * FT_PER_FTUS - wanted)
            if best is None or off < best[0]:
                best = off, candidate
    if best is None or best[0] > max(_AGREES_FT, _AGREES * wanted):
        return None
    start, end = _degrees(shapely.get_coordinates(best[1])[[0, -1]])
    name = evidence.feature_name or layer.manifest.title
    to = name if radius is not None else f"the line of {name}"
    return Line((), start, end, to, wanted, evidence.margin_ft, outcome)


_BY_NAME: WeakKeyDictionary[Layer, dict[tuple[bool, str], list[int]]] = WeakKeyDictionary()


def _features(layer: Layer, evidence: Evidence) -> list[int]:
    """Return the features that a clause names by key, or by name where its key says only which bound it is."""
    if layer.lonlat is None and layer.wkb is None and not layer.geometries:
        return []
    known = _BY_NAME.get(layer)
    if known is None:
        known = _BY_NAME[layer] = {}
        for i in range(len(layer)):
            known.setdefault((True, layer.key(i)), []).append(i)
            known.setdefault((False, layer.name(i)), []).append(i)
    named = (True, evidence.feature) if evidence.feature is not None else (False, evidence.feature_name or "")
    return known.get(named, [])


def _between(site: shapely.Geometry, feature: shapely.Geometry) -> Iterator[shapely.Geometry]:
    """Yield the line from the nearest part of a site to a feature, and that from its farthest corner."""
    yield shapely.shortest_line(site, feature)
    if site.geom_type != "Point":
        corners = shapely.points(shapely.get_coordinates(site))
        yield shapely.shortest_line(corners[int(np.argmax(shapely.distance(corners, feature)))], feature)


def county_words(name: str | None) -> str:
    """Return a county as a sentence names it; empty for none.

    Examples
    --------
    >>> county_words("Essex"), county_words(None)
    ('Essex County', '')
    """
    return f"{name} County" if name else ""


# -- several -------------------------------------------------------------------------------------------


class SiteAnswer(NamedTuple):
    """What a process gives back of a site: its panel and bounds, or why there is none."""

    panel: Panel | None
    floor: int
    ceiling: int
    problem: str


_ENGINE: list[Engine] = []


def _begin(asked: Asked) -> None:
    _ENGINE[:] = [asked.engine()]
    # Records have no cycles, and looking for them takes a quarter of the time. The process ends with its work.
    gc.disable()


def _work(sites: list[Site]) -> list[SiteAnswer]:
    return _answers(_ENGINE[0], sites)


def _answers(engine: Engine, sites: Sequence[Site]) -> list[SiteAnswer]:
    return [_answer(engine, site, found) for site, found in zip(sites, engine.determine_each(sites), strict=True)]


def _answer(engine: Engine, site: Site, record: Determination | SiteError | OutsideNewJerseyError) -> SiteAnswer:
    if isinstance(record, SiteError | OutsideNewJerseyError):
        return SiteAnswer(None, -1, -1, str(record))
    tier = record.tier
    floor, ceiling = (-1, -1) if tier is None else (tier.floor or -1, tier.ceiling or -1)
    return SiteAnswer(panel_of(record, decisive_lines(engine, site, record)), floor, ceiling, "")


class Helpers:
    """Other processes that answer for sites, begun when they are worth it or, by whoever knows, before.

    Parameters
    ----------
    asked
        The question; None where it cannot be put to another process, which leaves all sites to this one.
    """

    def __init__(self, asked: Asked | None) -> None:
        self._asked = asked
        self._count = min(os.cpu_count() or 1, _MOST_PROCESSES)
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        """Begin nothing yet."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def begin(self) -> None:
        """Let the processes get ready, which takes them a while: to be called where many sites are to come."""
        if self._asked is not None and self._pool is None and self._count > 1:
            # Spawned, not forked: the same on every platform, and no lock of a library is copied half-way.
            context = get_context("spawn")
            self._pool = ProcessPoolExecutor(self._count, context, initializer=_begin, initargs=(self._asked,))
            self._pool.submit(_work, [])

    def answers(self, engine: Engine, sites: Sequence[Site]) -> list[SiteAnswer]:
        """Return the answers for some sites: by this process where there are few.

        Parameters
        ----------
        engine
            The question's engine.
        sites
            The sites.

        Raises
        ------
        LayerFault
            ``worker_gone`` where a process ended by itself.
        """
        if len(sites) >= _WORTH_PROCESSES:
            self.begin()
        if len(sites) < _WORTH_PROCESSES or self._pool is None:
            return _answers(engine, sites)
        size = max(len(sites) // (self._count * 8), 1)
        parts = [list(sites[i : i + size]) for i in range(0, len(sites), size)]
        try:
            return [answer for part in self._pool.map(_work, parts) for answer in part]
        except BrokenProcessPool as error:
            message = "A process that answered for sites ended by itself; run it again."
            raise LayerFault("worker_gone", message) from error
