"""A map as one HTML page that needs nothing else: layers, legend, sites with their reasons, sources.

Folium makes the map, its panes, groups and tiles; Leaflet is put into the page from its pinned package. Texts of
strangers stand in the page as data only, and its policy lets no script run but its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.answers import MARGIN_LIMIT_FT
from grownj_geo.determination import software
from grownj_geo.determine import DISCLAIMER
from grownj_geo.features import LayerFault
from grownj_geo.files import written_beside
from grownj_geo.mapassets import INSTALL, leaflet_files, map_template, page_css, page_js
from grownj_geo.mapcode import Texts, coded_bytes, coded_numbers, coded_polygons, content_policy, script_json, visible
from grownj_geo.mapcommand import asked_words, chosen_words
from grownj_geo.mapground import CIRCLE_ERROR_FT, OUTLINE_TOLERANCE_FT, joined_areas
from grownj_geo.palette import NO_AMOUNT, area_groups, tier_looks
from grownj_geo.records import unread_wording
from grownj_geo.reportwords import weak_words
from grownj_geo.tableparts import disk_faults
from grownj_geo.units import FT_PER_METRE, to_lonlat

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from grownj_geo.determine import Engine
    from grownj_geo.mapanswer import Found, Panel
    from grownj_geo.mapareas import MapAreas, NotDrawn, Outline
    from grownj_geo.mapcommand import SiteWords
    from grownj_geo.mapground import DrawnClass
    from grownj_geo.mapsites import MapSites, NotAnswered

__all__ = ["TILES", "TierKey", "map_html", "tier_keys", "write_map"]

TILES = "https://tile.openstreetmap.org/{z}/{x}/{y}.png"
_TILES_FROM = "https://tile.openstreetmap.org"
_TILES_BY = '&copy; <a href="https://www.openstreetmap.org/copyright">OpenStreetMap</a> contributors'
_BASE_STEPS, _FINE_STEPS = 1e5, 1e7  # 3.6 ft and 0.04 ft
_MOST_REFUSED = 200
_OUTCOMES = {"yes": 1, "no": -1, "undetermined": 0, None: 0}
_MARK = re.compile("GROWNJ-(LEAFLET-CSS|LEAFLET-JS|CSS|JS|TITLE|SUBTITLE|DISCLAIMER|DATA|POLICY)")
_POLICY = "policy-of-this-page"


@dataclass(frozen=True)
class TierKey:
    """A line of the key to the sites: an amount, what it is called, and how it is drawn."""

    dollars: int
    label: str
    colour: str
    shape: str


def tier_keys(engine: Engine) -> tuple[TierKey, ...]:
    """Return the key to the sites, the highest amount first, and what reaches none last."""
    lines = [tier for tier in engine.rulebook.tiers if not tier.project]
    if not lines:
        return (TierKey(-1, "Site (the rulebook has no base amounts)", "#0072B2", "circle"),)
    labels = {line.dollars: f"{line.label}{_weak_amount(weak_words(line.status).strip(' ()'))}" for line in lines}
    keys = [
        TierKey(dollars, f"${dollars:,}: {labels[dollars]}", look.colour, look.shape)
        for dollars, look in tier_looks(tuple(labels)).items()
    ]
    return (*keys, TierKey(-1, "No amount surely reached", NO_AMOUNT.colour, NO_AMOUNT.shape))


def _weak_amount(status: str) -> str:
    """Return a weak status of an amount for a key, in words that need no explanation."""
    return " (from a secondary source)" if status == "secondary" else f" ({status})" if status else ""


def map_html(engine: Engine, areas: MapAreas, sites: MapSites | None = None, *, online: bool = False) -> str:
    """Return the whole page.

    Parameters
    ----------
    engine
        What was asked: its rulebook, day and layers are named in the page.
    areas
        What lies below the sites.
    sites
        The sites; None for a map of areas alone.
    online
        Show street tiles, which are fetched when the page is opened.

    Raises
    ------
    LayerFault
        ``not_installed`` where folium or Leaflet is not there; ``other_version`` for another Leaflet.
    """
    data = _page_data(engine, areas, sites, online=online)
    page = _rendered(engine, data, [known.look.id for known in areas.classes], online=online)
    policy = content_policy(page, pictures=(_TILES_FROM,) if online else ())
    # The first is the page's own: it stands before everything else.
    return page.replace(_POLICY, policy, 1)


def write_map(path: Path, page: str) -> None:
    """Write a page beside its place and put it there when it is whole.

    Raises
    ------
    LayerFault
        ``disk_full`` or ``not_written``.
    """
    with disk_faults(path), written_beside(path) as beside:
        beside.write_text(page, encoding="utf-8", newline="\n")


# -- what the page holds -------------------------------------------------------------------------------


def _page_data(engine: Engine, areas: MapAreas, sites: MapSites | None, *, online: bool) -> dict[str, Any]:
    texts = Texts()
    municipal = {outline.code: at for at, outline in enumerate(areas.municipalities)}
    keys = tier_keys(engine)
    book, asked = engine.rulebook_record, asked_words(engine)
    return {
        "asOf": engine.atlas.as_of.isoformat(),
        "online": online,
        "groups": [{"id": group.id, "label": group.label} for group in area_groups()],
        "base": _base(areas.municipalities)
        | {"codes": list(municipal), "counties": [outline.county for outline in areas.municipalities]},
        "counties": _base(areas.counties),
        "classes": [_class(known, municipal, texts) for known in areas.classes],
        "missing": [_missing(known) for known in areas.not_drawn],
        "sources": [
            f"{source.title}: {source.publisher}; {source.edition}" + (f"; {source.sha256}" if source.sha256 else "")
            for source in areas.sources
        ],
        "words": {
            "made": " ".join(
                filter(
                    None,
                    (
                        f"As of {engine.atlas.as_of}, by {book.title}, version {book.version}.",
                        chosen_words(engine),
                        unread_wording(engine.rulebook, engine.atlas.as_of),
                        f"Made with {software()}.",
                    ),
                )
            ),
            "notDrawn": _not_drawn_words(areas),
            "drawn": f"Radii are drawn to within 1 ft of the true circle ({CIRCLE_ERROR_FT:g} ft), other lines to "
            f"within {OUTLINE_TOLERANCE_FT:g} ft of their layer's. Distances were measured on the layers, not on "
            "this drawing.",
            "disclaimer": DISCLAIMER,
            "general": "One of many sites: it shares its findings with those that are alike. Margins are given up to "
            f"{MARGIN_LIMIT_FT:g} ft; distances, reasons in full and status are in the record of the site alone.",
            "options": asked.arguments,
            "optionsNote": asked.note,
        },
        "categories": [
            {"label": category.label, "citation": category.citation, "project": category.kind == "project"}
            for category in engine.rulebook.categories
            if category.kind != "ground"
        ],
        "tiers": [
            {"label": key.label, "colour": key.colour, "shape": key.shape, "always": len(keys) > 1} for key in keys
        ],
        "view": _view(areas, sites),
        "sites": None if sites is None else _sites(engine, sites, keys, texts, asked),
        "strings": texts.listed,
    }


def _not_drawn_words(areas: MapAreas) -> str:
    """Return what a place without areas does not show, as some classes are not drawn."""
    if not areas.not_drawn:
        return ""
    labels = ", ".join(visible(known.label) for known in areas.not_drawn)
    return f"Not drawn, so not told here ({len(areas.not_drawn)}): {labels}."


def _degrees(geometries: Sequence[shapely.Geometry]) -> list[shapely.Geometry]:
    def turn(xy: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.column_stack(to_lonlat(xy[:, 0], xy[:, 1]))

    return list(shapely.transform(np.asarray(geometries, dtype=object), turn))


def _base(outlines: Sequence[Outline]) -> dict[str, Any]:
    inside = shapely.point_on_surface([outline.geometry for outline in outlines])
    lon, lat = to_lonlat(shapely.get_x(inside), shapely.get_y(inside))
    return {
        "names": [visible(outline.name) for outline in outlines],
        "places": [[round(float(y), 5), round(float(x), 5)] for x, y in zip(lon, lat, strict=True)],
        "shapes": coded_polygons(_degrees([outline.geometry for outline in outlines]), per_degree=_BASE_STEPS),
    }


def _class(known: DrawnClass, municipal: dict[str, int], texts: Texts) -> dict[str, Any]:
    areas = joined_areas(known)
    own = [area.geometry for area in areas if area.geometry is not None]
    drawn = [area for area in areas if area.geometry is not None or area.mun_code in municipal]
    notes = list(known.notes)
    if own and known.drawn_to_ft > OUTLINE_TOLERANCE_FT:
        notes.append(f"Large: drawn to within {known.drawn_to_ft:g} ft of the layer's lines.")
    counted = [area for area in known.areas if not area.band_ft]
    unsure = sum(area.sureness == "possible" for area in counted)
    if unsure:
        notes.append(f"{unsure:,} of {len(counted):,} may belong and are dashed.")
    return {
        **_look(known),
        "shown": known.look.shown,
        "notes": [texts.place(note) for note in notes],
        "areas": [
            [
                texts.place(area.name),
                int(area.sureness == "sure"),
                texts.place(area.note),
                municipal[str(area.mun_code)] if area.geometry is None else -1,
                round(area.band_ft / FT_PER_METRE, 1),
            ]
            for area in drawn
        ],
        "own": len(own),
        "shapes": coded_polygons(_degrees(own), per_degree=_FINE_STEPS) if own else None,
        "radius": None if known.radius_ft is None or not known.points else round(known.radius_ft / FT_PER_METRE, 1),
        "points": [[texts.place(name), round(lat, 6), round(lon, 6)] for name, lon, lat in known.points],
    }


def _look(known: DrawnClass | NotDrawn) -> dict[str, Any]:
    look = known.look
    return {
        "id": look.id,
        "label": known.label,
        "group_id": look.group,
        "colour": look.colour,
        "pattern": look.pattern,
        "opacity": look.opacity,
    }


def _missing(known: NotDrawn) -> dict[str, Any]:
    return _look(known) | {"why": visible(known.why), "how": known.how}


def _view(areas: MapAreas, sites: MapSites | None) -> list[list[float]]:
    """Return what the map opens on: the sites, or the State."""
    if sites is not None and sites.placed.any():
        places = sites.lonlat[sites.placed]
        (west, south), (east, north) = places.min(axis=0).tolist(), places.max(axis=0).tolist()
    elif areas.municipalities:
        x0, y0, x1, y1 = shapely.total_bounds([outline.geometry for outline in areas.municipalities]).tolist()
        lon, lat = to_lonlat([x0, x1, x0, x1], [y0, y0, y1, y1])
        west, east, south, north = (float(v) for v in (lon.min(), lon.max(), lat.min(), lat.max()))
    else:
        west, south, east, north = -75.6, 38.9, -73.9, 41.4
    return [[south, west], [north, east]]


def _sites(engine: Engine, sites: MapSites, keys: Sequence[TierKey], texts: Texts, asked: SiteWords) -> dict[str, Any]:
    at = {key.dollars: place for place, key in enumerate(keys)}
    floors = np.array([at.get(int(d), at[-1]) for d in sites.floors], dtype=np.uint8)
    tops = np.maximum(sites.ceilings, sites.floors)
    ceilings = np.array([at.get(int(d), at[-1]) for d in tops], dtype=np.uint8)
    placed = sites.placed
    whole = np.rint(sites.lonlat[placed] * _FINE_STEPS).astype(np.int64)
    steps = np.diff(whole, axis=0, prepend=np.zeros((1, 2), dtype=np.int64))
    ids = [category.id for category in engine.rulebook.categories if category.kind != "ground"]
    general = not sites.panels and len(sites) > 0
    found: dict[str, Any] = {
        "general": general,
        "names": [visible(name) for name in sites.names],
        "unplaced": np.flatnonzero(~placed).tolist(),
        "places": coded_numbers(steps.ravel()),
        "floors": coded_bytes(floors),
        "ceilings": coded_bytes(ceilings),
        "notes": _notes(sites, general=general),
        "refused": [[visible(r.name), visible(_without_row(r))] for r in sites.not_answered[:_MOST_REFUSED]],
        "refusedCount": len(sites.not_answered),
    }
    if general:
        places = {category: place for place, category in enumerate(ids)}
        found["groups"] = [
            [
                texts.place(group.place),
                [[_OUTCOMES[f.outcome], _OUTCOMES[f.leans], texts.place(f.why), int(f.assumed)] for f in group.found],
            ]
            for group in sites.groups
        ]
        found["group"] = coded_numbers(sites.group)
        found["margins"] = [
            [places[category], rows.tolist(), np.rint(margins).astype(int).tolist()]
            for category, (rows, margins) in sites.margins.items()
        ]
    else:
        places = {category: place for place, category in enumerate(ids)}
        shapes = sites.geometries or (None,) * len(sites)
        found["panels"] = [
            _panel(panel, shape, places, texts, asked) for panel, shape in zip(sites.panels, shapes, strict=True)
        ]
    return found


def _without_row(refused: NotAnswered) -> str:
    """Return a problem without the number of the row where the name says it already."""
    row, colon, rest = refused.problem.partition(": ")
    return rest if colon and f"{refused.name} ".startswith(f"{row} ") else refused.problem


def _notes(sites: MapSites, *, general: bool) -> list[str]:
    notes = []
    if general:
        notes.append(
            f"{len(sites):,} sites: they are drawn in clusters until few are in view (the ring of a cluster shows the "
            "shares of its amounts), and those that are alike share what is said of them. Lines to what a distance was "
            "measured from are drawn for single sites only."
        )
    unplaced = int((~sites.placed).sum())
    if unplaced:
        several = "site is" if unplaced == 1 else "sites are"
        notes.append(f"{unplaced:,} {several} known by municipality only: in the list, not on the map.")
    return notes


def _panel(
    panel: Panel, shape: shapely.Geometry | None, places: dict[str, int], texts: Texts, asked: SiteWords
) -> list[Any]:
    lines = [
        [
            [places[f] for f in line.findings if f in places],
            *line.start,
            *line.end,
            texts.place(line.label),
            texts.place(line.words),
        ]
        for line in panel.lines
    ]
    return [
        texts.place(panel.typed),
        texts.place(panel.place),
        texts.place(panel.tier),
        [_row(found, texts) for found in panel.found],
        lines,
        [texts.place(remark) for remark in panel.remarks],
        None if shape is None else coded_polygons(_degrees([shape]), per_degree=_FINE_STEPS),
        texts.place(f"grownj check {panel.asked.arguments} {asked.arguments}" if panel.asked.arguments else ""),
        texts.place("; ".join(filter(None, (panel.asked.note, asked.note)))),
    ]


def _row(found: Found, texts: Texts) -> list[Any]:
    return [
        _OUTCOMES[found.outcome],
        _OUTCOMES[found.leans],
        found.margin_ft,
        texts.place(found.why),
        int(found.assumed),
        texts.place(found.needs),
        texts.place(found.status),
    ]


# -- the page ------------------------------------------------------------------------------------------


def _subtitle(engine: Engine) -> tuple[str, ...]:
    day = engine.atlas.as_of
    return f"As of {day}.", chosen_words(engine), unread_wording(engine.rulebook, day)


def _rendered(engine: Engine, data: dict[str, Any], classes: Sequence[str], *, online: bool) -> str:
    """Return the page as folium renders it, with everything in its place but the policy."""
    try:
        from grownj_geo.mapfolium import rendered_page  # noqa: PLC0415 - folium is an extra
    except ImportError as error:
        message = f"Maps need folium, which is not installed. Install it: {INSTALL}."
        raise LayerFault("not_installed", message) from error
    script, style = leaflet_files()
    page = rendered_page(map_template(), classes, tiles=(TILES, _TILES_BY) if online else None)
    title = "Grow New Jersey incentive areas" if engine.rulebook.id == "grow-nj" else engine.rulebook.title
    parts = {
        "LEAFLET-CSS": style,
        "LEAFLET-JS": script,
        "CSS": page_css(),
        "JS": page_js(),
        "TITLE": escape(visible(title)),
        "SUBTITLE": escape(visible(" ".join(filter(None, _subtitle(engine))))),
        "DISCLAIMER": escape(DISCLAIMER),
        "DATA": script_json(data),
        "POLICY": _POLICY,
    }
    # In one go: what is put in is not looked at again.
    return _MARK.sub(lambda found: parts[found.group(1)], page)
