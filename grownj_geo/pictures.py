"""Maps as pictures for documents: PNG, SVG and PDF, with the colours, the legend and the sources of the page."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import shapely

from grownj_geo.determination import software
from grownj_geo.determine import DISCLAIMER
from grownj_geo.features import LayerFault
from grownj_geo.files import written_beside
from grownj_geo.mapassets import INSTALL_PICTURES
from grownj_geo.mapcommand import chosen_words
from grownj_geo.mapground import OUTLINE_TOLERANCE_FT
from grownj_geo.maps import tier_keys
from grownj_geo.picturestage import (
    INK,
    LAND,
    MARKERS,
    SOFT,
    Drawing,
    class_looks,
    draw_stage,
    has_amount,
    meeting,
    names_drawn,
    shown_lines,
)
from grownj_geo.picturetext import FONT, font_inside, odd_signs, odd_words, printable, wrapped
from grownj_geo.records import unread_wording
from grownj_geo.tableparts import disk_faults
from grownj_geo.units import FT_PER_MILE, to_working
from grownj_geo.words import counted_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from grownj_geo.determine import Engine
    from grownj_geo.mapareas import MapAreas, Outline
    from grownj_geo.mapground import DrawnClass
    from grownj_geo.mapsites import MapSites

    Box = tuple[float, float, float, float]

__all__ = ["Extent", "draw_picture", "draw_view", "picture_bytes", "write_picture"]

Extent = Literal["state", "sites"]

_DPI = 200
_STAGE_INCHES = 5.0
_ALONE_FT = 2 * FT_PER_MILE
_LONG_TITLE = 70
_FOOT_PT, _LEAST_PT, _FOOT_LINES = 6.5, 3.5, 8
_SETTINGS: Any = {  # matplotlib has a type with every setting by name
    "font.family": FONT,
    "svg.fonttype": "none",
    "svg.hashsalt": "grownj",
    "pdf.fonttype": 42,
    "hatch.linewidth": 0.7,
    "text.parse_math": False,
}


def write_picture(path: Path, content: bytes) -> None:
    """Write a picture beside its place and put it there when it is whole.

    Raises
    ------
    LayerFault
        ``disk_full`` or ``not_written``.
    """
    with disk_faults(path), written_beside(path) as beside:
        beside.write_bytes(content)


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
    drawing = Drawing(engine, _near(_as_fine_as_seen(areas, box), box), chosen, sites, box)
    with mpl.rc_context(_SETTINGS):
        figure: Figure = figure_type(figsize=inches, facecolor="white")
        # Half of the frame's own line lies outside of it.
        edge = (0.006 / inches[0], 0.006 / inches[1])
        seen, _ = draw_stage(figure.add_axes((*edge, 1 - 2 * edge[0], 1 - 2 * edge[1])), drawing)
    return figure, tuple(seen)


def _matplotlib() -> tuple[Any, Any]:
    try:
        import matplotlib as mpl  # noqa: PLC0415 - an extra
        import rtree  # noqa: F401, PLC0415 - same
        from matplotlib.figure import Figure  # noqa: PLC0415 - same
    except ImportError as error:
        message = f"Pictures need {error.name}, which is not installed. Install it: {INSTALL_PICTURES}."
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
    drawing = Drawing(engine, areas, chosen, sites, box)
    tall = (box[3] - box[1]) > (box[2] - box[0])
    drawing = replace(drawing, areas=_as_fine_as_seen(areas, box))
    with mpl.rc_context(_SETTINGS):
        figure: Figure = figure_type(figsize=(8.5, 11) if tall else (11, 8.5), facecolor="white")
        wide, high = (float(v) for v in figure.get_size_inches())
        side = 2.75 / wide
        foot = 1.15 / high
        head = 0.95 / high
        edge = 0.4 / wide
        stage = figure.add_axes((edge, foot, 1 - side - 2.4 * edge, 1 - foot - head))
        seen, nameless = draw_stage(stage, drawing)
        drawing = replace(drawing, classes=seen)
        key = figure.add_axes((1 - side - edge, foot, side, 1 - foot - head))
        _key(key, drawing, nameless=nameless, inches=(side * wide, (1 - foot - head) * high))
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
        for line in shown_lines(sites):
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
        return tuple(replace(o, geometry=shapely.intersection(o.geometry, ground)) for o in meeting(outlines, ground))

    return replace(areas, municipalities=cut(areas.municipalities), counties=cut(areas.counties))


# -- the key and the words -----------------------------------------------------------------------------


def _key(axes: Axes, drawing: Drawing, *, nameless: int, inches: tuple[float, float]) -> None:
    """Draw the legend: what marks and patterns mean."""
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - an extra

    wide, high = inches
    axes.set_xlim(0, wide)
    axes.set_ylim(high, 0)
    axes.axis("off")
    y = 0.08
    drawn = drawing.sites
    if drawn is not None:
        y = _heading(axes, y, "Sites by base amount")
        keys = tier_keys(drawing.engine)
        for key in keys:
            n = int(has_amount(drawn, key, keys).sum())
            axes.plot(0.16, y, MARKERS[key.shape], markersize=8, markerfacecolor=key.colour, markeredgecolor="black")
            y = _entry(axes, y, f"{key.label} ({n:,})", wide)
        if nameless:
            words = (
                f"{nameless:,} {'site has' if nameless == 1 else 'sites have'} no name here: there is no room for it"
            )
            y = _entry(axes, y, words, wide, left=0.02)
        unplaced = int((~drawn.placed).sum())
        if unplaced:
            counted = counted_words(unplaced, "site is", "sites are")
            y = _entry(axes, y, f"{counted} known by municipality only: not on the map", wide, left=0.02)
        y += 0.12
    groups = {known.look.group for known in drawing.classes}
    from grownj_geo.palette import area_groups  # noqa: PLC0415 - beside its use

    for group in area_groups():
        if group.id not in groups:
            continue
        y = _heading(axes, y, group.label)
        for known in (k for k in drawing.classes if k.look.group == group.id):
            axes.add_artist(Rectangle((0.02, y - 0.085), 0.3, 0.17, facecolor=LAND, edgecolor="none"))
            for look in class_looks(known, sure=True):
                axes.add_artist(Rectangle((0.02, y - 0.085), 0.3, 0.17, **look))
            y = _entry(axes, y, known.label, wide)
        y += 0.08
    if any(area.sureness == "possible" for known in drawing.classes for area in known.areas):
        _entry(axes, y, "Dashed and paler: may belong, or nearer to a line than a place is known", wide, left=0.02)


def _heading(axes: Axes, y: float, words: str) -> float:
    axes.text(0.0, y, words, fontsize=9, fontweight="bold", color=INK, va="center")
    return y + 0.24


def _entry(axes: Axes, y: float, words: str, wide: float, *, left: float = 0.42) -> float:
    lines = wrapped(words, wide - left, size=8)
    for k, line in enumerate(lines):
        axes.text(left, y + 0.14 * k, line, fontsize=8, color=INK, va="center_baseline")
    return y + 0.24 + 0.14 * (len(lines) - 1)


def _words(figure: Figure, drawing: Drawing, *, edge: float, high: float) -> None:
    """Write title, the answer of a single site, sources and what the picture is not."""
    sites, engine = drawing.sites, drawing.engine
    wide = float(figure.get_size_inches()[0])
    alone = sites is not None and len(sites) == 1
    title = printable(sites.names[0]) if sites is not None and alone else "Grow New Jersey incentive areas"
    if len(title) > _LONG_TITLE:
        title = title[: _LONG_TITLE - 1] + "…"
    made = f"As of {engine.atlas.as_of}. {engine.rulebook.title}, version {engine.rulebook.version}."
    below = [printable(f"{made} {chosen_words(engine)}".strip())]
    if sites is not None and alone and sites.panels:
        panel = sites.panels[0]
        below.append(printable(f"{panel.place}. {panel.tier}"))
    figure.text(edge, 1 - 0.36 / high, title, fontsize=14, fontweight="bold", color=INK, va="center")
    lines = [line for part in below for line in wrapped(part, wide - 0.8, size=7.5)][:3]
    figure.text(edge, 1 - 0.5 / high, "\n".join(lines), fontsize=7.5, color=SOFT, va="top")
    sources = "; ".join(f"{s.title} ({s.publisher}, {s.edition})" for s in drawing.areas.sources)
    problems = "".join(f" Could not be used: {problem}" for problem in drawing.areas.problems)
    missing = len(drawing.areas.not_drawn)
    if missing:
        counted = counted_words(missing, "class of area", "classes of area")
        problems += f" Not drawn, as layers are not loaded or cannot be used: {counted}."
    odd = odd_words(odd_signs(names_drawn(sites)))
    said = (unread_wording(engine.rulebook, engine.atlas.as_of), f"Sources: {sources}.{problems}", odd)
    text = printable(" ".join(filter(None, (*said, DISCLAIMER, f"Made with {software()}."))))
    size = _FOOT_PT
    # Many sources are written smaller: below the sheet nobody reads them.
    while len(body := wrapped(text, wide - 0.8, size=size)) * size > _FOOT_LINES * _FOOT_PT and size > _LEAST_PT:
        size -= 0.25
    figure.text(edge, 1.03 / high, "\n".join(body), fontsize=size, color=SOFT, va="top", linespacing=1.35)
