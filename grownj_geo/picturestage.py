"""The map of a picture: ground, lines, sites and names, in EPSG:3424."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import shapely

from grownj_geo.maps import tier_keys
from grownj_geo.picturetext import printable
from grownj_geo.units import FT_PER_FTUS, FT_PER_MILE, to_working

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path as Line
    from numpy.typing import NDArray

    from grownj_geo.determine import Engine
    from grownj_geo.mapareas import MapAreas, Outline
    from grownj_geo.mapground import DrawnClass
    from grownj_geo.maps import TierKey
    from grownj_geo.mapsites import MapSites

    Box = tuple[float, float, float, float]

__all__ = [
    "INK",
    "LAND",
    "MARKERS",
    "SOFT",
    "Drawing",
    "Taken",
    "class_looks",
    "draw_stage",
    "has_amount",
    "meeting",
    "names_drawn",
    "shown_lines",
]

ELSEWHERE, LAND, INK, SOFT = "#E4E7EA", "#FBFAF6", "#1B1E23", "#50565E"
_LONG_NAME = 32
_HATCHES = {"diagonal": "////", "antidiagonal": "\\\\\\\\", "cross": "xxx", "dots": "...", "solid": "", "outline": ""}
MARKERS = {"square": "s", "diamond": "D", "triangle": "^", "circle": "o", "ring": "o", "cross": "x"}
_MOST_NAMED = 30
_LEAST_BAND_POINTS = 2.0
_MOST_LINES = 12
_ABOVE = 0.025
"""Of the height of a picture: how far above a cut its words stand."""
_TOWNS_BELOW_FT = 30 * FT_PER_MILE
_STATIONS_BELOW_FT = 12 * FT_PER_MILE


class Taken:
    """Where words and marks stand already: an R-tree that grows while a picture is drawn."""

    def __init__(self) -> None:
        from rtree.index import Index  # noqa: PLC0415 - an extra

        self._boxes = Index()
        self._count = 0

    def add(self, box: Box) -> None:
        """Keep a box free of what comes later."""
        self._boxes.insert(self._count, box)
        self._count += 1

    def meets(self, box: Box) -> bool:
        """Whether something stands there."""
        return bool(self._boxes.count(box))


@dataclass(frozen=True)
class Drawing:
    """What goes into a picture."""

    engine: Engine
    areas: MapAreas
    classes: Sequence[DrawnClass]
    sites: MapSites | None
    box: Box


def names_drawn(sites: MapSites | None) -> tuple[str, ...]:
    """Return the names of sites that a picture writes: of one site in its title, of a few beside their marks."""
    return () if sites is None or len(sites) > _MOST_NAMED else tuple(sites.names)


def shown_lines(sites: MapSites) -> Iterator[Any]:
    """Yield the narrowest deciding distance of each of a few sites, where it is no long way."""
    if len(sites) <= _MOST_LINES:
        for panel in sites.panels:
            if panel.lines and panel.lines[0].feet <= 2 * FT_PER_MILE:
                yield panel.lines[0]


def _path(geometry: shapely.Geometry) -> Line:
    """Return polygons as one path, holes and all."""
    from matplotlib.path import Path  # noqa: PLC0415 - an extra

    corners: list[NDArray[np.float64]] = []
    codes: list[NDArray[np.uint8]] = []
    for ring in shapely.get_rings(shapely.get_parts(shapely.orient_polygons(geometry))):
        xy = shapely.get_coordinates(ring)
        step = np.full(len(xy), Path.LINETO, dtype=np.uint8)
        step[0], step[-1] = Path.MOVETO, Path.CLOSEPOLY
        corners.append(xy)
        codes.append(step)
    if not corners:
        return Path(np.empty((0, 2)))
    return Path(np.concatenate(corners), np.concatenate(codes))


def draw_stage(axes: Axes, drawing: Drawing) -> tuple[list[DrawnClass], int]:
    """Draw the map; return the classes that are in view, and how many of several sites have no name beside them."""
    from matplotlib.patches import PathPatch  # noqa: PLC0415 - an extra

    x0, y0, x1, y1 = _fitted(axes, drawing.box)
    axes.set_xlim(x0, x1)
    axes.set_ylim(y0, y1)
    axes.set_aspect("equal")
    axes.set_facecolor(ELSEWHERE)
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_edgecolor("#9AA0A6")
    frame = shapely.box(x0, y0, x1, y1)
    for outline in meeting(drawing.areas.municipalities, frame):
        axes.add_artist(PathPatch(_path(outline.geometry), facecolor=LAND, edgecolor="#9AA0A6", linewidth=0.35))
    seen = [known for known in drawing.classes if _fill(axes, drawing, known, frame)]
    for outline in meeting(drawing.areas.counties, frame):
        axes.add_artist(PathPatch(_path(outline.geometry), facecolor="none", edgecolor="#5F6368", linewidth=0.9))
    taken = Taken()
    _scale(axes, (x0, y0, x1, y1), taken)
    nameless = _sites(axes, drawing, taken)
    _labels(axes, drawing, (x0, y0, x1, y1), taken)
    return seen, nameless


def _fitted(axes: Axes, box: Box) -> Box:
    """Return the box made as wide or as high as its place on the sheet is."""
    wide, high = _inches(axes)
    ratio = wide / high
    x0, y0, x1, y1 = box
    dx, dy = x1 - x0, y1 - y0
    more_x, more_y = max(0.0, dy * ratio - dx) / 2, max(0.0, dx / ratio - dy) / 2
    return x0 - more_x, y0 - more_y, x1 + more_x, y1 + more_y


def _inches(axes: Axes) -> tuple[float, float]:
    """Return how wide and how high a part of the sheet is."""
    figure = cast("Figure", axes.get_figure())
    wide, high = (float(v) for v in figure.get_size_inches())
    place = axes.get_position()
    return float(place.width) * wide, float(place.height) * high


def meeting(outlines: Sequence[Outline], frame: shapely.Geometry) -> list[Outline]:
    """Return the outlines that meet a frame."""
    return [outline for outline in outlines if shapely.intersects(outline.geometry, frame)]


def _fill(axes: Axes, drawing: Drawing, known: DrawnClass, frame: shapely.Geometry) -> bool:
    """Draw a class: what surely belongs as one piece of ground, what may belong paler and dashed.

    Return whether any of it is in view.
    """
    from matplotlib.patches import PathPatch  # noqa: PLC0415 - an extra

    seen = False
    # A band of some feet either way is drawn where it is wide enough; elsewhere its two lines would be one.
    least_ft = _LEAST_BAND_POINTS / 2 * (axes.get_xlim()[1] - axes.get_xlim()[0]) / (_inches(axes)[0] * 72)
    for sureness in ("possible", "sure"):
        shapes = [
            geometry
            for area in known.areas
            if area.sureness == sureness
            and not 0 < area.band_ft < least_ft
            and (geometry := area.geometry if area.mun_code is None else drawing.areas.outline(area.mun_code))
            is not None
        ]
        if not shapes:
            continue
        ground = shapely.intersection(shapely.union_all(shapes), shapely.buffer(frame, 5_000.0))
        if ground.is_empty:
            continue
        seen |= bool(shapely.intersects(ground, frame))
        for look in class_looks(known, sure=sureness == "sure"):
            axes.add_artist(PathPatch(_path(_areas_of(ground)), **look))
    return seen


def _areas_of(ground: shapely.Geometry) -> shapely.Geometry:
    """Return the polygons of what an overlay left."""
    parts = shapely.get_parts(shapely.get_parts(ground))
    return shapely.multipolygons([part for part in parts if part.geom_type == "Polygon"])


def class_looks(known: DrawnClass, *, sure: bool) -> list[dict[str, Any]]:
    """Return how a class is drawn, the lowest layer first: tint, pattern, line."""
    from matplotlib.colors import to_rgba  # noqa: PLC0415 - an extra

    look = known.look
    weight = 1.0 if sure else 0.4
    line = {"facecolor": "none", "edgecolor": look.colour, "linewidth": 0.9}
    if look.pattern == "outline":
        return [line | {"linewidth": 1.3, "linestyle": (0, (4, 2.5))}]
    tint = look.opacity * weight if look.pattern == "solid" else 0.1 * weight
    drawn = [{"facecolor": to_rgba(look.colour, tint), "edgecolor": "none", "linewidth": 0}]
    if look.pattern != "solid":
        drawn.append(
            {
                "facecolor": "none",
                "edgecolor": to_rgba(look.colour, look.opacity * weight),
                "hatch": _HATCHES[look.pattern],
                "linewidth": 0,
            }
        )
    return [*drawn, line if sure else line | {"linestyle": (0, (4, 2.5))}]


def _sites(axes: Axes, drawing: Drawing, taken: Taken) -> int:
    """Draw the sites, and the names of a few; return how many have none beside them for want of room."""
    from matplotlib.patches import PathPatch  # noqa: PLC0415 - an extra

    sites = drawing.sites
    if sites is None or not sites.placed.any():
        return 0
    keys = tier_keys(drawing.engine)
    x, y = to_working(*np.where(np.isfinite(sites.lonlat), sites.lonlat, 0.0).T)
    for geometry in sites.geometries:
        if geometry is not None:
            axes.add_artist(PathPatch(_path(geometry), facecolor=(0, 0, 0, 0.12), edgecolor="black", linewidth=1.2))
    _lines(axes, sites, taken)
    left, right = axes.get_xlim()
    for i in np.flatnonzero(sites.placed).tolist() if len(sites) <= _MOST_NAMED else ():
        off = (right - left) * 0.011
        taken.add((float(x[i]) - off, float(y[i]) - off, float(x[i]) + off, float(y[i]) + off))
    many = len(sites) > 500  # noqa: PLR2004 - then marks would cover each other
    size = 3.0 if len(sites) > 5_000 else 5.0 if many else 9.0  # noqa: PLR2004 - same
    for key in reversed(keys):
        mine = sites.placed & has_amount(sites, key, keys)
        axes.plot(
            x[mine],
            y[mine],
            MARKERS[key.shape],
            markersize=size,
            markerfacecolor=key.colour,
            markeredgecolor="black",
            markeredgewidth=0.3 if many else 0.9,
            linestyle="none",
            zorder=6,
        )
    if len(sites) == 1:
        return 0
    if len(sites) > _MOST_NAMED:
        return int(sites.placed.sum())
    lift = 14 * (right - left) / (_inches(axes)[0] * 72)
    nameless = 0
    for i in np.flatnonzero(sites.placed).tolist():
        name = printable(sites.names[i])
        short = name if len(name) <= _LONG_NAME else name[: _LONG_NAME - 1] + "…"
        # Above the mark where there is room, else below.
        nameless += not any(
            _text(axes, float(x[i]), float(y[i]) + sign * lift, short, taken, size=8, bold=True) for sign in (1, -1)
        )
    return nameless


def _lines(axes: Axes, sites: MapSites, taken: Taken) -> None:
    """Draw from where the deciding distances of a few sites were measured."""
    for line in shown_lines(sites):
        ends = to_working([line.start[0], line.end[0]], [line.start[1], line.end[1]])
        if np.ptp(ends, axis=1).max() < 0.02 * (axes.get_xlim()[1] - axes.get_xlim()[0]):
            continue  # hidden by the site's own mark
        axes.plot(*ends, color="white", linewidth=3.4, solid_capstyle="round", zorder=5)
        axes.plot(*ends, color="black", linewidth=1.3, linestyle=(0, (5, 2)), zorder=5.1)
        axes.plot(ends[0][1], ends[1][1], "o", color="black", markerfacecolor="white", markersize=5, zorder=5.2)
        if np.ptp(ends, axis=1).max() > 0.06 * (axes.get_xlim()[1] - axes.get_xlim()[0]):
            x, y = float(np.mean(ends[0])), float(np.mean(ends[1]))
            if line.share is not None:
                # At the middle of a cut stands the site's own mark: the words stand above its upper end.
                top = int(np.argmax(ends[1]))
                x, y = float(ends[0][top]), float(ends[1][top]) + _ABOVE * (axes.get_ylim()[1] - axes.get_ylim()[0])
            _text(axes, x, y, line.label, taken, size=7.5, bold=True)


def has_amount(sites: MapSites, key: TierKey, keys: Sequence[TierKey]) -> NDArray[np.bool_]:
    """Return which sites surely reach an amount, or none of those in the key, shape (n,)."""
    known = {k.dollars for k in keys if k.dollars >= 0}
    return sites.floors == key.dollars if key.dollars >= 0 else ~np.isin(sites.floors, list(known))


def _text(
    axes: Axes, x: float, y: float, words: str, taken: Taken, *, size: float, bold: bool = False, soft: bool = False
) -> bool:
    """Write words where no others stand; return whether there was room."""
    from matplotlib.patheffects import withStroke  # noqa: PLC0415 - an extra

    if not words:
        return False
    (left, right), (low, up) = axes.get_xlim(), axes.get_ylim()
    per_point = (right - left) / (_inches(axes)[0] * 72)
    half_wide, half_high = 0.31 * size * len(words) * per_point, 0.65 * size * per_point
    if bold:
        # What matters most is moved into the frame, not cut by it.
        x = min(max(x, left + half_wide), right - half_wide)
    box = (x - half_wide, y - half_high, x + half_wide, y + half_high)
    inside = left <= box[0] and box[2] <= right and low <= box[1] and box[3] <= up
    if not bold and not inside:
        return False
    if taken.meets(box):
        return False
    taken.add(box)
    axes.text(
        x,
        y,
        words,
        fontsize=size,
        fontweight="bold" if bold else "normal",
        color=SOFT if soft else INK,
        ha="center",
        va="center",
        clip_on=True,
        zorder=7,
        path_effects=[withStroke(linewidth=2.2, foreground="white")],
    )
    return True


def _labels(axes: Axes, drawing: Drawing, box: Box, taken: Taken) -> None:
    wide_ft = (box[2] - box[0]) * FT_PER_FTUS
    frame = shapely.box(*box)
    point = (box[2] - box[0]) / (_inches(axes)[0] * 72)
    if wide_ft < _STATIONS_BELOW_FT:
        for known in drawing.classes:
            for name, lon, lat in known.points:
                x, y = (float(v) for v in to_working(lon, lat))
                if box[0] < x < box[2] and box[1] < y < box[3]:
                    axes.plot(x, y, "o", color="#0B3D63", markerfacecolor="white", markersize=4, zorder=5)
                    _text(axes, x, y - 8 * point, printable(name), taken, size=7)
    towns = wide_ft < _TOWNS_BELOW_FT
    outlines = drawing.areas.municipalities if towns else drawing.areas.counties
    for outline in sorted(meeting(outlines, frame), key=lambda o: -o.geometry.area):
        seen = shapely.intersection(outline.geometry, frame)
        if seen.is_empty:
            continue
        words = printable(outline.name if towns else outline.name.upper())
        for at in _places(seen):
            if _text(axes, at.x, at.y, words, taken, size=7 if towns else 7.5, soft=True):
                break


def _places(ground: shapely.Geometry) -> Iterator[shapely.Point]:
    """Yield places inside some ground for its name: the middle, then the middles of its upper and its lower part."""
    yield shapely.point_on_surface(ground)
    x0, y0, x1, y1 = ground.bounds
    for low, high in ((0.6, 1.0), (0.0, 0.4)):
        part = shapely.intersection(ground, shapely.box(x0, y0 + low * (y1 - y0), x1, y0 + high * (y1 - y0)))
        if not part.is_empty:
            yield shapely.point_on_surface(part)


def _scale(axes: Axes, box: Box, taken: Taken) -> None:
    """Draw a bar of a round length, in miles or in feet, and which way north is; no name is written there."""
    wide_ft = (box[2] - box[0]) * FT_PER_FTUS
    target = wide_ft / 4
    miles = target / FT_PER_MILE
    if miles >= 0.5:  # noqa: PLR2004 - below, feet are read more easily
        length = next(m for m in (100, 50, 20, 10, 5, 2, 1, 0.5) if m <= miles)
        words, long_ft = f"{length:g} mile{'s' * (length > 1)}", length * FT_PER_MILE
    else:
        long_ft = next((f for f in (2_000, 1_000, 500, 200, 100) if f <= target), 50)
        words = f"{long_ft:,} ft"
    x, y = box[0] + 0.03 * (box[2] - box[0]), box[1] + 0.025 * (box[3] - box[1])
    end = x + long_ft / FT_PER_FTUS
    axes.plot([x, end], [y, y], color="white", linewidth=5, solid_capstyle="butt", zorder=8)
    axes.plot([x, end], [y, y], color="black", linewidth=2, solid_capstyle="butt", zorder=8.1)
    # In points: a view may be much wider than it is high.
    point = (box[2] - box[0]) / (_inches(axes)[0] * 72)
    _text(axes, (x + end) / 2, y + 8.5 * point, words, taken, size=7.5, bold=True)
    taken.add((x, y - 4 * point, end, y + 4 * point))
    _text(axes, box[0] + 0.06 * (box[2] - box[0]), box[3] - 12 * point, "N ↑", taken, size=9, bold=True)
