"""Sites as maps show them: where each is, what it came to, why, and from where its deciding distance was measured."""

from __future__ import annotations

import gc
import os
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import shapely

from grownj_geo.answers import MARGIN_LIMIT_FT
from grownj_geo.atlas import load_atlas
from grownj_geo.batchwork import answer_block
from grownj_geo.determine import Engine
from grownj_geo.errors import OutsideNewJerseyError, SiteError
from grownj_geo.features import LayerFault
from grownj_geo.maptable import open_sites
from grownj_geo.place import PlacementKind
from grownj_geo.units import FT_PER_FTUS, to_lonlat
from grownj_geo.words import feet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import date
    from pathlib import Path

    from numpy.typing import NDArray

    from grownj_geo.determination import Determination, Evidence
    from grownj_geo.layer import Layer
    from grownj_geo.locate import MunicipalDirectory
    from grownj_geo.rows_block import RowBlock
    from grownj_geo.rulebook import Rulebook
    from grownj_geo.site import Site
    from grownj_geo.siterows import TableOptions

    LonLat = tuple[float, float]

__all__ = [
    "MOST_WHOLE",
    "Asked",
    "Found",
    "Group",
    "Line",
    "MapSites",
    "NotAnswered",
    "Panel",
    "decisive_lines",
    "panel_of",
    "sites_of_places",
    "sites_of_table",
]

MOST_WHOLE = 2_000
"""Sites up to which a map holds every reason of each; beyond, sites that are alike share what is said of them."""

_NAMES = ("name", "site_name", "sitename", "site name", "title", "label", "project", "project_name", "applicant", "id")
_LONGEST_NAME = 200
_WORTH_PROCESSES = 150
_MOST_PROCESSES = 4
_BLOCK_ROWS = 20_000
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
        By which the line of the law is cleared (positive) or missed.
    """

    findings: tuple[str, ...]
    start: LonLat
    end: LonLat
    to: str
    feet: float
    margin_ft: float

    @property
    def words(self) -> str:
        """The line in words."""
        by = f"cleared by {feet(self.margin_ft)}" if self.margin_ft >= 0 else f"missed by {feet(-self.margin_ft)}"
        return f"{feet(self.feet)} to {self.to}; {by}"


class Found(NamedTuple):
    """One category for one site, as its panel shows it."""

    category: str
    outcome: str
    leans: str | None
    margin_ft: float | None
    why: str
    assumed: bool
    needs: str


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
        Deciding distances, the narrowest margin first.
    remarks
        Cautions and assumptions.
    """

    typed: str
    place: str
    tier: str
    found: tuple[Found, ...]
    lines: tuple[Line, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Group:
    """What sites that are alike share, where there are too many for a panel each."""

    place: str
    found: tuple[Found, ...]


class NotAnswered(NamedTuple):
    """A row or a place without an answer."""

    name: str
    problem: str


@dataclass(frozen=True, eq=False)
class MapSites:
    """Sites, as maps and pictures take them: n of them.

    Attributes
    ----------
    names
        What each is called.
    lonlat
        Degrees, shape (n, 2); NaN where only the municipality is known.
    floors, ceilings
        Dollars of the base amount surely reached, and of the highest not out of reach; -1 for none. Shape (n,).
    geometries
        In EPSG:3424 for sites that are polygons, else None; empty where there are too many sites.
    panels
        One for each site; empty where there are too many.
    groups, group
        Then: what sites that are alike share, and which group each belongs to, shape (n,).
    margins
        Then: feet by category for those sites that are nearer than `MARGIN_LIMIT_FT` to the line that decides:
        positions and margins.
    not_answered
        Rows without an answer.
    told
        What is to be said of the table as a whole.
    """

    names: tuple[str, ...]
    lonlat: NDArray[np.float64]
    floors: NDArray[np.int64]
    ceilings: NDArray[np.int64]
    geometries: tuple[shapely.Geometry | None, ...] = ()
    panels: tuple[Panel, ...] = ()
    groups: tuple[Group, ...] = ()
    group: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    margins: Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = field(default_factory=dict)
    not_answered: tuple[NotAnswered, ...] = ()
    told: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return the number of sites."""
        return len(self.names)

    @property
    def placed(self) -> NDArray[np.bool_]:
        """Which sites have a place on the map, shape (n,)."""
        return np.isfinite(self.lonlat[:, 0])


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
        )
        for f in record.findings
    )
    return Panel(
        typed=record.site.typed,
        place=", ".join(filter(None, (record.place.words, _county(record.place.county)))),
        tier=record.tier.words if record.tier is not None else "",
        found=found,
        lines=tuple(lines),
        remarks=(*record.cautions, *record.assumptions),
    )


def decisive_lines(engine: Engine, site: Site, record: Determination) -> tuple[Line, ...]:
    """Return the lines along which the deciding distances of a determination were measured.

    A line is drawn only where its length is the figure that the record has; what was measured from a place that
    cannot be told from the record has none.

    Parameters
    ----------
    engine
        What made the determination.
    site, record
        The site and its determination.
    """
    if site.geometry is None:
        return ()
    lines: dict[tuple[LonLat, LonLat, float], Line] = {}
    for finding in record.findings:
        if finding.margin_ft is None:
            continue
        for evidence in finding.evidence:
            if evidence.margin_ft != finding.margin_ft or evidence.layer is None:
                continue
            layer = engine.atlas.layer(evidence.layer)
            drawn = None if layer is None else _line(site.geometry, layer, evidence)
            if drawn is None:
                continue
            key = drawn.start, drawn.end, drawn.margin_ft
            known = lines.get(key)
            ids = (*known.findings, finding.id) if known else (finding.id,)
            lines[key] = drawn._replace(findings=tuple(dict.fromkeys(ids)))
            break
    return tuple(sorted(lines.values(), key=lambda line: abs(line.margin_ft)))


def _line(site: shapely.Geometry, layer: Layer, evidence: Evidence) -> Line | None:
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
    lon, lat = to_lonlat(*shapely.get_coordinates(best[1])[[0, -1]].T)
    start, end = ((round(float(lon[k]), 7), round(float(lat[k]), 7)) for k in (0, 1))
    name = evidence.feature_name or layer.manifest.title
    return Line((), start, end, name if radius is not None else f"the line of {name}", wanted, evidence.margin_ft)


def _features(layer: Layer, evidence: Evidence) -> list[int]:
    named = [
        i
        for i in range(len(layer))
        if (evidence.feature is not None and layer.key(i) == evidence.feature)
        or (evidence.feature is None and layer.name(i) == evidence.feature_name)
    ]
    return named if layer.lonlat is not None or layer.wkb is not None or layer.geometries else []


def _between(site: shapely.Geometry, feature: shapely.Geometry) -> Iterator[shapely.Geometry]:
    """Yield the line from the nearest part of a site to a feature, and that from its farthest corner."""
    yield shapely.shortest_line(site, feature)
    if site.geom_type != "Point":
        corners = shapely.points(shapely.get_coordinates(site))
        yield shapely.shortest_line(corners[int(np.argmax(shapely.distance(corners, feature)))], feature)


# -- many sites ----------------------------------------------------------------------------------------


class _Answer(NamedTuple):
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


def _work(sites: list[Site]) -> list[_Answer]:
    return [_answer(_ENGINE[0], site) for site in sites]


def _answer(engine: Engine, site: Site) -> _Answer:
    try:
        record = engine.determine(site)
    except (SiteError, OutsideNewJerseyError) as error:
        return _Answer(None, -1, -1, str(error))
    tier = record.tier
    floor, ceiling = (-1, -1) if tier is None else (tier.floor or -1, tier.ceiling or -1)
    return _Answer(panel_of(record, decisive_lines(engine, site, record)), floor, ceiling, "")


def _answers(asked: Asked, engine: Engine, sites: Sequence[Site]) -> list[_Answer]:
    """Return the answers for some sites, by several processes where that is sooner."""
    processes = min(os.cpu_count() or 1, _MOST_PROCESSES)
    if len(sites) < _WORTH_PROCESSES or processes == 1:
        return [_answer(engine, site) for site in sites]
    size = max(len(sites) // (processes * 4), 1)
    parts = [list(sites[i : i + size]) for i in range(0, len(sites), size)]
    try:
        with ProcessPoolExecutor(
            processes, mp_context=get_context("spawn"), initializer=_begin, initargs=(asked,)
        ) as pool:
            return [answer for part in pool.map(_work, parts) for answer in part]
    except BrokenProcessPool as error:
        raise LayerFault("worker_gone", "A process that answered for sites ended by itself; run it again.") from error


def sites_of_places(asked: Asked, engine: Engine, sites: Sequence[Site]) -> MapSites:
    """Return sites that were typed, with everything that is said of them.

    Parameters
    ----------
    asked, engine
        The question, and its engine.
    sites
        The sites.
    """
    names = [site.typed for site in sites]
    return _whole(names, sites, _answers(asked, engine, sites), ())


def _shown(name: str) -> str:
    """Return a name with a mark where it was cut; it stays as it came otherwise."""
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}… ({len(name):,} characters)"


def _whole(
    names: Sequence[str], sites: Sequence[Site], answers: Sequence[_Answer], before: Sequence[NotAnswered]
) -> MapSites:
    kept = [i for i, answer in enumerate(answers) if answer.panel is not None]
    refused = [NotAnswered(names[i], answer.problem) for i, answer in enumerate(answers) if answer.panel is None]
    geometries = tuple(sites[i].geometry for i in kept)
    return MapSites(
        names=tuple(names[i] for i in kept),
        lonlat=_lonlat(geometries),
        floors=np.array([answers[i].floor for i in kept], dtype=np.int64),
        ceilings=np.array([answers[i].ceiling for i in kept], dtype=np.int64),
        geometries=tuple(None if g is None or g.geom_type == "Point" else g for g in geometries),
        panels=tuple(panel for i in kept if (panel := answers[i].panel) is not None),
        not_answered=(*before, *refused),
    )


def _lonlat(geometries: Sequence[shapely.Geometry | None] | NDArray[np.object_]) -> NDArray[np.float64]:
    """Return where markers stand: the point, or a point inside the polygon; NaN without a place. Shape (n, 2)."""
    found = np.full((len(geometries), 2), np.nan)
    array = np.array([*geometries, None], dtype=object)[:-1]
    placed = np.flatnonzero(~shapely.is_missing(array))
    if len(placed):
        points = array[placed]
        areas = shapely.get_type_id(points) != 0
        points[areas] = shapely.point_on_surface(points[areas])
        lon, lat = to_lonlat(shapely.get_x(points), shapely.get_y(points))
        found[placed] = np.column_stack([lon, lat])
    return found


def sites_of_table(
    asked: Asked,
    engine: Engine,
    path: Path,
    *,
    options: TableOptions,
    directory: MunicipalDirectory,
    name: str | None = None,
    most_whole: int = MOST_WHOLE,
) -> MapSites:
    """Return the sites of a table: with every reason of each, or with what they share where they are many.

    Parameters
    ----------
    asked, engine
        The question, and its engine.
    path
        A table as `grownj batch` takes it, or one that it wrote.
    options
        What is said of the table.
    directory
        The municipalities.
    name
        Column of names; found by its usual name unless given.
    most_whole
        Sites up to which each has a panel of its own.

    Raises
    ------
    LayerFault
        Where the table cannot be read, or has no column of that name.
    """
    reader = open_sites(path, options, directory=directory, engine=engine)
    column = _name_column(reader.header, name, reader.name)
    told = [change.words for change in reader.changes]
    names: list[str] = []
    blocks: list[RowBlock] = []
    for block in reader.blocks(0, _BLOCK_ROWS):
        blocks.append(block)
        names += _names(block, column)
        told += [change.words for change in block.changes]
    if len(names) > most_whole:
        return replace(_general(engine, blocks, names), told=tuple(dict.fromkeys(told)))
    sites, called, rows, refused = [], [], [], []
    starts = np.cumsum([0, *(len(block) for block in blocks)])
    for block, start in zip(blocks, starts, strict=False):
        for i in range(len(block)):
            site = block.site(i)
            if site is None:
                refused.append(NotAnswered(names[start + i], str(block.problems[i])))
            else:
                sites.append(site)
                called.append(names[start + i])
                rows.append(block.rows[i])
    answers = [
        answer if answer.panel is not None else answer._replace(problem=f"Row {row}: {answer.problem}")
        for answer, row in zip(_answers(asked, engine, sites), rows, strict=True)
    ]
    return replace(_whole(called, sites, answers, refused), told=tuple(dict.fromkeys(told)))


def _name_column(header: Sequence[str], name: str | None, table: str) -> str | None:
    if name is not None and name not in header:
        raise LayerFault(
            "no_column",
            f"{table} has no column {name!r}; it has {', '.join(map(repr, header[:20]))}. Name one of them.",
        )
    by_name = {column.strip().casefold(): column for column in reversed(header)}
    return name or next((by_name[usual] for usual in _NAMES if usual in by_name), None)


def _names(block: RowBlock, column: str | None) -> list[str]:
    """Return what the rows are called: by their column of names, else by number and parcel."""
    values: Sequence[Any] = block.columns[column] if column is not None else [None] * len(block)
    found = []
    for i, value in enumerate(values):
        text = "" if value is None else str(value).strip()
        found.append(text or " ".join([f"Row {block.rows[i]}", *block.pins[i][:1]]))
    return found


def _general(engine: Engine, blocks: Sequence[RowBlock], names: Sequence[str]) -> MapSites:
    """Return many sites: those that are alike, in all blocks, share a group."""
    groups: dict[Group, int] = {}
    kept: list[NDArray[np.int64]] = []
    group: list[NDArray[np.int64]] = []
    floors: list[NDArray[np.int64]] = []
    ceilings: list[NDArray[np.int64]] = []
    lonlat: list[NDArray[np.float64]] = []
    margins: dict[str, list[tuple[NDArray[np.int64], NDArray[np.float64]]]] = {}
    refused: list[NotAnswered] = []
    start = done = 0
    for raw in blocks:
        answered = answer_block(engine, raw)
        block, rows, sites = answered.block, answered.rows, answered.sites
        alike = answered.answers.alike
        of_site = np.asarray(answered.answers.found.group)[sites]
        own = np.full(len(alike["municipality"]), -1, dtype=np.int64)
        for k in np.unique(of_site).tolist():
            own[k] = groups.setdefault(_group(engine, alike, k), len(groups))
        group.append(own[of_site])
        for bound, listed in (("base_floor", floors), ("base_ceiling", ceilings)):
            dollars = alike.get(bound, np.full(len(own), None, dtype=object))
            listed.append(np.array([d or -1 for d in dollars], dtype=np.int64)[of_site])
        for category in _asked_ids(engine):
            feet_off = answered.answers.found.margin_ft(category)[sites]
            near = np.flatnonzero(np.abs(feet_off) < MARGIN_LIMIT_FT)
            if len(near):
                margins.setdefault(category, []).append((near + done, feet_off[near]))
        lonlat.append(_lonlat(block.geometries[rows]))
        kept.append(rows + start)
        refused += [NotAnswered(names[start + i], str(p)) for i, p in enumerate(block.problems) if p is not None]
        start, done = start + len(block), done + len(rows)
    positions = np.concatenate(kept)
    return MapSites(
        names=tuple(_shown(names[i]) for i in positions.tolist()),
        lonlat=np.concatenate(lonlat),
        floors=np.concatenate(floors),
        ceilings=np.concatenate(ceilings),
        groups=tuple(groups),
        group=np.concatenate(group),
        margins={c: (np.concatenate([r for r, _ in v]), np.concatenate([m for _, m in v])) for c, v in margins.items()},
        not_answered=tuple(refused),
    )


def _asked_ids(engine: Engine) -> list[str]:
    return [category.id for category in engine.rulebook.categories if category.kind != "ground"]


def _group(engine: Engine, alike: Mapping[str, NDArray[np.object_]], k: int) -> Group:
    """Return what is said of one group of sites that are alike."""
    where = ", ".join(filter(None, (alike["municipality"][k], _county(alike["county"][k]))))
    found = tuple(
        Found(
            c,
            alike[c][k],
            alike[f"{c}_leans"][k],
            None,
            (alike[f"{c}_causes"][k] or "").replace("_", " "),
            bool(alike[f"{c}_assumed"][k]),
            "",
        )
        for c in _asked_ids(engine)
    )
    kind = str(alike["placement"][k])
    return Group(where if kind == PlacementKind.CERTAIN.value else f"{where} ({kind})", found)


def _county(name: str | None) -> str:
    return f"{name} County" if name else ""
