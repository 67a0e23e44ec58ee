"""Maps as pictures for documents: PNG, SVG and PDF, with the colours, the legend and the sources of the page."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import shapely

from grownj_geo.determination import software
from grownj_geo.determine import DISCLAIMER
from grownj_geo.features import LayerFault
from grownj_geo.mapareas import OUTLINE_TOLERANCE_FT
from grownj_geo.mapassets import INSTALL_PICTURES
from grownj_geo.maps import tier_keys
from grownj_geo.picturetext import FONT, font_inside, printable, wrapped
from grownj_geo.tableparts import disk_faults, put_file
from grownj_geo.units import FT_PER_FTUS, FT_PER_MILE, to_working
from grownj_geo.words import feet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path as Line
    from numpy.typing import NDArray

    from grownj_geo.determine import Engine
    from grownj_geo.mapareas import DrawnClass, MapAreas, Outline
    from grownj_geo.maps import TierKey
    from grownj_geo.mapsites import MapSites

    Box = tuple[float, float, float, float]

__all__ = ["Extent", "draw_picture", "draw_view", "picture_bytes", "write_picture"]

Extent = Literal["state", "sites"]

_HATCHES = {"diagonal": "////", "antidiagonal": "\\\\\\\\", "cross": "xxx", "dots": "...", "solid": "", "outline": ""}
_MARKERS = {"square": "s", "diamond": "D", "triangle": "^", "circle": "o", "ring": "o", "cross": "x"}
_SEA, _LAND, _INK, _SOFT = "#DBE6EE", "#FBFAF6", "#1B1E23", "#50565E"
_DPI = 200
_STAGE_INCHES = 5.0
_MOST_NAMED = 30
_MOST_LINES = 12
_TOWNS_BELOW_FT = 30 * FT_PER_MILE
_STATIONS_BELOW_FT = 12 * FT_PER_MILE
_ALONE_FT = 2 * FT_PER_MILE
_LONG_NAME, _LONG_TITLE = 45, 70
_SETTINGS: Any = {  # matplotlib has a type with every setting by name
    "font.family": FONT,
    "svg.fonttype": "none",
    "svg.hashsalt": "grownj",
    "pdf.fonttype": 42,
    "hatch.linewidth": 0.7,
    "text.parse_math": False,
}


@dataclass(frozen=True)
class _Drawing:
    """What goes into a picture."""

    engine: Engine
    areas: MapAreas
    classes: Sequence[DrawnClass]
    sites: MapSites | None
    box: Box


def write_picture(path: Path, content: bytes) -> None:
    """Write a picture beside its place and put it there when it is whole.

    Raises
    ------
    LayerFault
        ``disk_full`` or ``not_written``.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    with disk_faults(path):
        try:
            beside.write_bytes(content)
            put_file(beside, path)
        finally:
            beside.unlink(missing_ok=True)


def picture_bytes(figure: Figure, kind: Literal["png", "svg", "pdf"], *, with_font: bool = True) -> bytes:
    """Return a figure as a file; equal figures are equal bytes.

    Text stays text in SVG and PDF, and its font is inside; of an SVG for a page that brings the font it is left out.
    """
    import matplotlib as mpl  # noqa: PLC0415 - an extra

    target = io.BytesIO()
    known: dict[str, dict[str, Any]] = {
        "png": {"Software": software()},
        "svg": {"Date": None, "Creator": software()},
        "pdf": {"CreationDate": None, "Creator": software(), "Title": "Grow New Jersey incentive areas"},
    }
    with mpl.rc_context(_SETTINGS):
        figure.savefig(target, format=kind, metadata=known[kind], dpi=_DPI)
    return font_inside(target.getvalue()) if kind == "svg" and with_font else target.getvalue()


def draw_view(
    engine: Engine, areas: MapAreas, sites: MapSites, *, inches: tuple[float, float]
) -> tuple[Figure, tuple[DrawnClass, ...]]:
    """Return the map alone, for a document that has words of its own, and the classes that are in view.

    Parameters
    ----------
    engine
        What was asked.
    areas, sites
        What is drawn; the classes that a map opens with.
    inches
        How wide and how high.

    Raises
    ------
    LayerFault
        ``not_installed`` where matplotlib is not there.
    """
    mpl, figure_type = _matplotlib()
    chosen = [known for known in areas.classes if known.look.shown]
    box = _box(areas, sites, "sites")
    drawing = _Drawing(engine, _near(_as_fine_as_seen(areas, box), box), chosen, sites, box)
    with mpl.rc_context(_SETTINGS):
        figure: Figure = figure_type(figsize=inches, facecolor="white")
        # Half of the frame's own line lies outside of it.
        edge = (0.006 / inches[0], 0.006 / inches[1])
        seen = _stage(figure.add_axes((*edge, 1 - 2 * edge[0], 1 - 2 * edge[1])), drawing)
    return figure, tuple(seen)


def _matplotlib() -> tuple[Any, Any]:
    try:
        import matplotlib as mpl  # noqa: PLC0415 - an extra
        from matplotlib.figure import Figure  # noqa: PLC0415 - same
    except ImportError as error:
        message = f"Pictures need matplotlib, which is not installed. Install it: {INSTALL_PICTURES}."
        raise LayerFault("not_installed", message) from error
    return mpl, Figure


def draw_picture(
    engine: Engine,
    areas: MapAreas,
    sites: MapSites | None = None,
    *,
    extent: Extent = "sites",
    show: Sequence[str] | None = None,
) -> Figure:
    """Return a picture of areas and sites, in EPSG:3424, on a sheet of letter size.

    Parameters
    ----------
    engine
        What was asked.
    areas, sites
        What is drawn.
    extent
        The whole State, or the sites.
    show
        Ids of the classes that are drawn; those that a map opens with by default.

    Raises
    ------
    LayerFault
        ``not_installed`` where matplotlib is not there.
    """
    mpl, figure_type = _matplotlib()
    chosen = [k for k in areas.classes if (k.look.shown if show is None else k.look.id in show)]
    box = _box(areas, sites, extent)
    drawing = _Drawing(engine, areas, chosen, sites, box)
    tall = (box[3] - box[1]) > (box[2] - box[0])
    drawing = replace(drawing, areas=_as_fine_as_seen(areas, box))
    with mpl.rc_context(_SETTINGS):
        figure: Figure = figure_type(figsize=(8.5, 11) if tall else (11, 8.5), facecolor="white")
        wide, high = (float(v) for v in figure.get_size_inches())
        side = 2.75 / wide
        foot = 1.15 / high
        head = 0.85 / high
        edge = 0.4 / wide
        stage = figure.add_axes((edge, foot, 1 - side - 2.4 * edge, 1 - foot - head))
        drawing = replace(drawing, classes=_stage(stage, drawing))
        key = figure.add_axes((1 - side - edge, foot, side, 1 - foot - head))
        _key(key, drawing, inches=(side * wide, (1 - foot - head) * high))
        _words(figure, drawing, edge=edge, high=high)
    return figure


def _box(areas: MapAreas, sites: MapSites | None, extent: Extent) -> Box:
    """Return what is shown, in EPSG:3424: least x, least y, greatest x, greatest y."""
    if extent == "sites" and sites is not None and sites.placed.any():
        x, y = to_working(*sites.lonlat[sites.placed].T)
        box = [float(x.min()), float(y.min()), float(x.max()), float(y.max())]
        for geometry in sites.geometries:
            if geometry is not None:
                low = shapely.bounds(geometry)
                box = [*np.minimum(box[:2], low[:2]), *np.maximum(box[2:], low[2:])]
        for line in _shown_lines(sites):
            ends_x, ends_y = to_working([line.start[0], line.end[0]], [line.start[1], line.end[1]])
            box = [
                min(box[0], *ends_x.tolist()),
                min(box[1], *ends_y.tolist()),
                max(box[2], *ends_x.tolist()),
                max(box[3], *ends_y.tolist()),
            ]
        pad = max(0.12 * max(box[2] - box[0], box[3] - box[1]), _ALONE_FT / 2)
        return box[0] - pad, box[1] - pad, box[2] + pad, box[3] + pad
    shapes = [outline.geometry for outline in areas.municipalities]
    if not shapes:
        return 190_000.0, 35_000.0, 660_000.0, 920_000.0
    x0, y0, x1, y1 = shapely.total_bounds(shapes).tolist()
    return x0 - 15_000, y0 - 15_000, x1 + 15_000, y1 + 15_000


def _as_fine_as_seen(areas: MapAreas, box: Box) -> MapAreas:
    """Return areas whose outlines have no more corners than the sheet can show; radii stay as they are."""
    tolerance = min(box[2] - box[0], box[3] - box[1]) / (_STAGE_INCHES * _DPI) / 2
    if tolerance <= OUTLINE_TOLERANCE_FT or not areas.municipalities:
        return areas

    def fewer(outlines: Sequence[Outline]) -> tuple[Outline, ...]:
        drawn = shapely.coverage_simplify([outline.geometry for outline in outlines], tolerance)
        return tuple(replace(outline, geometry=g) for outline, g in zip(outlines, drawn, strict=True))

    return replace(areas, municipalities=fewer(areas.municipalities), counties=fewer(areas.counties))


def _near(areas: MapAreas, box: Box) -> MapAreas:
    """Return areas of which only those outlines are left, cut off well outside of the view, that may be seen."""
    x0, y0, x1, y1 = box
    wide = 2 * max(x1 - x0, y1 - y0)
    ground = shapely.box(x0 - wide, y0 - wide, x1 + wide, y1 + wide)

    def cut(outlines: Sequence[Outline]) -> tuple[Outline, ...]:
        return tuple(replace(o, geometry=shapely.intersection(o.geometry, ground)) for o in _meeting(outlines, ground))

    return replace(areas, municipalities=cut(areas.municipalities), counties=cut(areas.counties))


def _shown_lines(sites: MapSites) -> Iterator[Any]:
    """Yield the narrowest deciding distance of each of a few sites, where it is no long way."""
    if len(sites) <= _MOST_LINES:
        for panel in sites.panels:
            if panel.lines and panel.lines[0].feet <= 2 * FT_PER_MILE:
                yield panel.lines[0]


# -- the map -------------------------------------------------------------------------------------------


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


def _stage(axes: Axes, drawing: _Drawing) -> list[DrawnClass]:
    """Draw the map; return the classes that are in view."""
    from matplotlib.patches import PathPatch  # noqa: PLC0415 - an extra

    x0, y0, x1, y1 = _fitted(axes, drawing.box)
    axes.set_xlim(x0, x1)
    axes.set_ylim(y0, y1)
    axes.set_aspect("equal")
    axes.set_facecolor(_SEA)
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_edgecolor("#9AA0A6")
    frame = shapely.box(x0, y0, x1, y1)
    for outline in _meeting(drawing.areas.municipalities, frame):
        axes.add_artist(PathPatch(_path(outline.geometry), facecolor=_LAND, edgecolor="#9AA0A6", linewidth=0.35))
    seen = [known for known in drawing.classes if _fill(axes, drawing, known, frame)]
    for outline in _meeting(drawing.areas.counties, frame):
        axes.add_artist(PathPatch(_path(outline.geometry), facecolor="none", edgecolor="#5F6368", linewidth=0.9))
    taken: list[Box] = []
    _sites(axes, drawing, taken)
    _labels(axes, drawing, (x0, y0, x1, y1), taken)
    _scale(axes, (x0, y0, x1, y1))
    return seen


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


def _meeting(outlines: Sequence[Outline], frame: shapely.Geometry) -> list[Outline]:
    return [outline for outline in outlines if shapely.intersects(outline.geometry, frame)]


def _fill(axes: Axes, drawing: _Drawing, known: DrawnClass, frame: shapely.Geometry) -> bool:
    """Draw a class: what surely belongs as one piece of ground, what may belong paler and dashed.

    Return whether any of it is in view.
    """
    from matplotlib.patches import PathPatch  # noqa: PLC0415 - an extra

    seen = False
    for sureness in ("possible", "sure"):
        shapes = [
            geometry
            for area in known.areas
            if area.sureness == sureness
            and (geometry := area.geometry if area.mun_code is None else drawing.areas.outline(area.mun_code))
            is not None
        ]
        if not shapes:
            continue
        ground = shapely.intersection(shapely.union_all(shapes), shapely.buffer(frame, 5_000.0))
        if ground.is_empty:
            continue
        seen |= bool(shapely.intersects(ground, frame))
        for look in _looks(known, sure=sureness == "sure"):
            axes.add_artist(PathPatch(_path(_areas_of(ground)), **look))
    return seen


def _areas_of(ground: shapely.Geometry) -> shapely.Geometry:
    """Return the polygons of what an overlay left."""
    parts = shapely.get_parts(shapely.get_parts(ground))
    return shapely.multipolygons([part for part in parts if part.geom_type == "Polygon"])


def _looks(known: DrawnClass, *, sure: bool) -> list[dict[str, Any]]:
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


def _sites(axes: Axes, drawing: _Drawing, taken: list[Box]) -> None:
    from matplotlib.patches import PathPatch  # noqa: PLC0415 - an extra

    sites = drawing.sites
    if sites is None or not sites.placed.any():
        return
    keys = tier_keys(drawing.engine)
    x, y = to_working(*np.where(np.isfinite(sites.lonlat), sites.lonlat, 0.0).T)
    for geometry in sites.geometries:
        if geometry is not None:
            axes.add_artist(PathPatch(_path(geometry), facecolor=(0, 0, 0, 0.12), edgecolor="black", linewidth=1.2))
    _lines(axes, sites, taken)
    left, right = axes.get_xlim()
    for i in np.flatnonzero(sites.placed).tolist() if len(sites) <= _MOST_NAMED else ():
        off = (right - left) * 0.011
        taken.append((float(x[i]) - off, float(y[i]) - off, float(x[i]) + off, float(y[i]) + off))
    many = len(sites) > 500  # noqa: PLR2004 - then marks would cover each other
    size = 3.0 if len(sites) > 5_000 else 5.0 if many else 9.0  # noqa: PLR2004 - same
    for key in reversed(keys):
        mine = sites.placed & _has(sites, key, keys)
        axes.plot(
            x[mine],
            y[mine],
            _MARKERS[key.shape],
            markersize=size,
            markerfacecolor=key.colour,
            markeredgecolor="black",
            markeredgewidth=0.3 if many else 0.9,
            linestyle="none",
            zorder=6,
        )
    if 1 < len(sites) <= _MOST_NAMED:
        lift = 14 * (right - left) / (_inches(axes)[0] * 72)
        for i in np.flatnonzero(sites.placed).tolist():
            name = printable(sites.names[i])
            short = name if len(name) <= _LONG_NAME else name[: _LONG_NAME - 1] + "…"
            _text(axes, float(x[i]), float(y[i]) + lift, short, taken, size=8, bold=True)


def _lines(axes: Axes, sites: MapSites, taken: list[Box]) -> None:
    """Draw from where the deciding distances of a few sites were measured."""
    for line in _shown_lines(sites):
        ends = to_working([line.start[0], line.end[0]], [line.start[1], line.end[1]])
        if np.ptp(ends, axis=1).max() < 0.02 * (axes.get_xlim()[1] - axes.get_xlim()[0]):
            continue  # hidden by the site's own mark
        axes.plot(*ends, color="white", linewidth=3.4, solid_capstyle="round", zorder=5)
        axes.plot(*ends, color="black", linewidth=1.3, linestyle=(0, (5, 2)), zorder=5.1)
        axes.plot(ends[0][1], ends[1][1], "o", color="black", markerfacecolor="white", markersize=5, zorder=5.2)
        if np.ptp(ends, axis=1).max() > 0.06 * (axes.get_xlim()[1] - axes.get_xlim()[0]):
            _text(axes, float(np.mean(ends[0])), float(np.mean(ends[1])), feet(line.feet), taken, size=7.5, bold=True)


def _has(sites: MapSites, key: TierKey, keys: Sequence[TierKey]) -> NDArray[np.bool_]:
    known = {k.dollars for k in keys if k.dollars >= 0}
    return sites.floors == key.dollars if key.dollars >= 0 else ~np.isin(sites.floors, list(known))


def _text(
    axes: Axes, x: float, y: float, words: str, taken: list[Box], *, size: float, bold: bool = False, soft: bool = False
) -> None:
    """Write words where no others stand."""
    from matplotlib.patheffects import withStroke  # noqa: PLC0415 - an extra

    if not words:
        return
    (left, right), (low, up) = axes.get_xlim(), axes.get_ylim()
    per_point = (right - left) / (_inches(axes)[0] * 72)
    half_wide, half_high = 0.31 * size * len(words) * per_point, 0.65 * size * per_point
    if bold:
        # What matters most is moved into the frame, not cut by it.
        x = min(max(x, left + half_wide), right - half_wide)
    box = (x - half_wide, y - half_high, x + half_wide, y + half_high)
    inside = left <= box[0] and box[2] <= right and low <= box[1] and box[3] <= up
    if not bold and not inside:
        return
    if any(box[0] < t[2] and box[2] > t[0] and box[1] < t[3] and box[3] > t[1] for t in taken):
        return
    taken.append(box)
    axes.text(
        x,
        y,
        words,
        fontsize=size,
        fontweight="bold" if bold else "normal",
        color=_SOFT if soft else _INK,
        ha="center",
        va="center",
        clip_on=True,
        zorder=7,
        path_effects=[withStroke(linewidth=2.2, foreground="white")],
    )


def _labels(axes: Axes, drawing: _Drawing, box: Box, taken: list[Box]) -> None:
    wide_ft = (box[2] - box[0]) * FT_PER_FTUS
    frame = shapely.box(*box)
    if wide_ft < _STATIONS_BELOW_FT:
        for known in drawing.classes:
            for name, lon, lat in known.points:
                x, y = (float(v) for v in to_working(lon, lat))
                if box[0] < x < box[2] and box[1] < y < box[3]:
                    axes.plot(x, y, "o", color="#0B3D63", markerfacecolor="white", markersize=4, zorder=5)
                    _text(axes, x, y - (box[3] - box[1]) * 0.015, printable(name), taken, size=7)
    towns = wide_ft < _TOWNS_BELOW_FT
    outlines = drawing.areas.municipalities if towns else drawing.areas.counties
    for outline in sorted(_meeting(outlines, frame), key=lambda o: -o.geometry.area):
        seen = shapely.intersection(outline.geometry, frame)
        if seen.is_empty:
            continue
        at = shapely.point_on_surface(seen)
        words = printable(outline.name if towns else outline.name.upper())
        _text(axes, at.x, at.y, words, taken, size=7 if towns else 7.5, soft=True)


def _scale(axes: Axes, box: Box) -> None:
    """Draw a bar of a round length, in miles or in feet, and which way north is."""
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
    _text(axes, (x + end) / 2, y + 0.014 * (box[3] - box[1]), words, [], size=7.5, bold=True)
    _text(axes, box[0] + 0.06 * (box[2] - box[0]), box[3] - 0.025 * (box[3] - box[1]), "N ↑", [], size=9, bold=True)


# -- the key and the words -----------------------------------------------------------------------------


def _key(axes: Axes, drawing: _Drawing, *, inches: tuple[float, float]) -> None:
    """Draw the legend: what marks and patterns mean."""
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - an extra

    wide, high = inches
    axes.set_xlim(0, wide)
    axes.set_ylim(high, 0)
    axes.axis("off")
    y = 0.08
    if drawing.sites is not None:
        y = _heading(axes, y, "Sites by base amount")
        keys = tier_keys(drawing.engine)
        for key in keys:
            n = int(_has(drawing.sites, key, keys).sum())
            axes.plot(0.16, y, _MARKERS[key.shape], markersize=8, markerfacecolor=key.colour, markeredgecolor="black")
            y = _entry(axes, y, f"{key.label} ({n:,})", wide)
        y += 0.12
    groups = {known.look.group for known in drawing.classes}
    from grownj_geo.palette import area_groups  # noqa: PLC0415 - beside its use

    for group in area_groups():
        if group.id not in groups:
            continue
        y = _heading(axes, y, group.label)
        for known in (k for k in drawing.classes if k.look.group == group.id):
            axes.add_artist(Rectangle((0.02, y - 0.085), 0.3, 0.17, facecolor=_LAND, edgecolor="none"))
            for look in _looks(known, sure=True):
                axes.add_artist(Rectangle((0.02, y - 0.085), 0.3, 0.17, **look))
            y = _entry(axes, y, known.label, wide)
        y += 0.08
    if any(area.sureness == "possible" for known in drawing.classes for area in known.areas):
        _entry(axes, y, "Dashed and paler: may belong", wide, left=0.02)


def _heading(axes: Axes, y: float, words: str) -> float:
    axes.text(0.0, y, words, fontsize=9, fontweight="bold", color=_INK, va="center")
    return y + 0.24


def _entry(axes: Axes, y: float, words: str, wide: float, *, left: float = 0.42) -> float:
    lines = wrapped(words, wide - left, size=8)
    for k, line in enumerate(lines):
        axes.text(left, y + 0.14 * k, line, fontsize=8, color=_INK, va="center_baseline")
    return y + 0.24 + 0.14 * (len(lines) - 1)


def _words(figure: Figure, drawing: _Drawing, *, edge: float, high: float) -> None:
    """Write title, the answer of a single site, sources and what the picture is not."""
    sites, engine = drawing.sites, drawing.engine
    wide = float(figure.get_size_inches()[0])
    alone = sites is not None and len(sites) == 1
    title = printable(sites.names[0]) if sites is not None and alone else "Grow New Jersey incentive areas"
    if len(title) > _LONG_TITLE:
        title = title[: _LONG_TITLE - 1] + "…"
    below = [f"As of {engine.atlas.as_of}. {engine.rulebook.title}, version {engine.rulebook.version}."]
    if sites is not None and alone and sites.panels:
        panel = sites.panels[0]
        below.append(printable(f"{panel.place}. {panel.tier}"))
    figure.text(edge, 1 - 0.36 / high, title, fontsize=14, fontweight="bold", color=_INK, va="center")
    lines = [line for part in below for line in wrapped(part, wide - 0.8, size=7.5)][:3]
    figure.text(edge, 1 - 0.5 / high, "\n".join(lines), fontsize=7.5, color=_SOFT, va="top")
    sources = "; ".join(f"{s.title} ({s.publisher}, {s.edition})" for s in drawing.areas.sources)
    problems = "".join(f" Could not be used: {problem}" for problem in drawing.areas.problems)
    text = f"Sources: {sources}.{problems} {DISCLAIMER} Made with {software()}."
    body = "\n".join(wrapped(printable(text), wide - 0.8, size=6.5))
    figure.text(edge, 1.03 / high, body, fontsize=6.5, color=_SOFT, va="top", linespacing=1.35)
