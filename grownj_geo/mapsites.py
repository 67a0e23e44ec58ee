"""Sites as maps show them: those that were typed, and those of a table, each by itself or with those that are alike."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import shapely

from grownj_geo.answers import MARGIN_LIMIT_FT
from grownj_geo.batchwork import answer_block
from grownj_geo.mapanswer import Found, Helpers, SiteAnswer, county_words
from grownj_geo.maptable import open_sites
from grownj_geo.place import PlacementKind
from grownj_geo.rows_columns import chosen_name_column, unnamed_words
from grownj_geo.units import to_lonlat

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from grownj_geo.determine import Engine
    from grownj_geo.locate import MunicipalDirectory
    from grownj_geo.mapanswer import Asked, Panel
    from grownj_geo.rows_block import RowBlock
    from grownj_geo.site import Site
    from grownj_geo.siterows import TableOptions

__all__ = ["MOST_WHOLE", "Group", "MapSites", "NotAnswered", "sites_of_places", "sites_of_table"]

MOST_WHOLE = 2_000
"""Sites up to which a map holds every reason of each; beyond, sites that are alike share what is said of them."""

_LONGEST_NAME = 200
_BLOCK_ROWS = 20_000


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


# -- many sites ----------------------------------------------------------------------------------------


def sites_of_places(
    asked: Asked | None, engine: Engine, sites: Sequence[Site], *, names: Sequence[str] | None = None
) -> MapSites:
    """Return sites that were typed, with everything that is said of them.

    Parameters
    ----------
    asked, engine
        The question, and its engine; without a question this process answers for all sites.
    sites
        The sites.
    names
        What each is called; what was typed by default.
    """
    names = [site.typed for site in sites] if names is None else names
    with Helpers(asked) as helpers:
        return _whole(names, sites, helpers.answers(engine, sites), ())


def _shown(name: str) -> str:
    """Return a name with a mark where it was cut; it stays as it came otherwise."""
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}… ({len(name):,} characters)"


def _whole(
    names: Sequence[str], sites: Sequence[Site], answers: Sequence[SiteAnswer], before: Sequence[NotAnswered]
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
    helpers: Helpers | None = None,
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
    helpers
        Processes that were begun before, where they were; they are ended.

    Raises
    ------
    LayerFault
        Where the table cannot be read, or has no column of that name.
    """
    reader = open_sites(path, options, directory=directory, engine=engine)
    column = chosen_name_column(reader.header, name, reader.name)
    told = [change.words for change in reader.changes]
    if column is None:
        told.append(unnamed_words(reader.header, reader.name))
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
    with helpers or Helpers(asked) as several:
        answers = [
            answer if answer.panel is not None else answer._replace(problem=f"Row {row}: {answer.problem}")
            for answer, row in zip(several.answers(engine, sites), rows, strict=True)
        ]
    return replace(_whole(called, sites, answers, refused), told=tuple(dict.fromkeys(told)))


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
    where = ", ".join(filter(None, (alike["municipality"][k], county_words(alike["county"][k]))))
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
