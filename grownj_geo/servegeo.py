"""GeoJSON of the HTTP API: what is drawn beside an answer, and the classes of area.

Nothing here decides anything. Longitude and latitude are degrees (NAD83, which maps show as WGS84).
"""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import shapely

from grownj_geo.mapanswer import decisive_lines
from grownj_geo.mapareas import draw_areas
from grownj_geo.mapground import OUTLINE_TOLERANCE_FT, circles_around, joined_areas, ring_around
from grownj_geo.maps import tier_keys
from grownj_geo.palette import area_groups
from grownj_geo.units import to_lonlat
from grownj_geo.words import feet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from grownj_geo.determination import Determination, Neighbour
    from grownj_geo.determine import Engine
    from grownj_geo.mapanswer import Line
    from grownj_geo.mapareas import MapAreas, NotDrawn, Outline
    from grownj_geo.mapground import DrawnClass
    from grownj_geo.site import Site

__all__ = ["DrawnAreas", "drawn_areas", "geojson_of", "overlay_of"]

_DIGITS, _BASE_DIGITS = 6, 5
_GEODESIC_ENOUGH_FT = 10 * 5280.0


class DrawnAreas(NamedTuple):
    """Every class of area of some terms, ready to be sent.

    Attributes
    ----------
    legend
        The list of them, as JSON.
    areas
        By id: GeoJSON, gzipped.
    """

    legend: bytes
    areas: dict[str, bytes]


def geojson_of(geometry: shapely.Geometry, *, digits: int = 7) -> dict[str, Any]:
    """Return a geometry in EPSG:3424 as GeoJSON.

    Parameters
    ----------
    geometry
        In US survey feet.
    digits
        Decimals of a degree that are kept.

    Examples
    --------
    >>> geojson_of(shapely.Point(583000.0, 693000.0), digits=3)["type"]
    'Point'
    """

    def turn(xy: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.round(np.column_stack(to_lonlat(xy[:, 0], xy[:, 1])), digits), dtype=np.float64)

    found: dict[str, Any] = json.loads(shapely.to_geojson(shapely.transform(geometry, turn)))
    return found


def _feature(geometry: shapely.Geometry, digits: int = 7, **properties: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return {"type": "Feature", "geometry": geojson_of(geometry, digits=digits), "properties": properties}


# -- beside an answer ----------------------------------------------------------------------------------


def overlay_of(engine: Engine, site: Site, record: Determination) -> dict[str, Any]:
    """Return what a map shows beside a determination: site, uncertainty, lines to what was measured, municipalities.

    Parameters
    ----------
    engine
        What made the determination.
    site, record
        The site and its determination.

    Returns
    -------
    dict
        A FeatureCollection; ``role`` of each feature is ``site``, ``uncertainty``, ``line``, ``municipality`` (or, of
        several possible ones, ``choice``) or ``neighbour``.
    """
    features = list(_municipalities(engine, record))
    if site.geometry is not None:
        if site.uncertainty_ft:
            words = f"The true place may be {feet(site.uncertainty_ft)} away."
            ring = _around(site.geometry, site.uncertainty_ft)
            features.append(_feature(ring, role="uncertainty", feet=site.uncertainty_ft, words=words))
        features.append(_feature(site.geometry, role="site", typed=site.typed, words=record.place.words))
    features += [_line(line) for line in decisive_lines(engine, site, record)]
    found: dict[str, Any] = {"type": "FeatureCollection", "features": features}
    shown = [f for f in features if f["properties"]["role"] in {"site", "uncertainty"}] or features
    if shown:
        shapes = shapely.from_geojson([json.dumps(f["geometry"]) for f in shown])
        found["bbox"] = [round(float(v), 6) for v in shapely.total_bounds(shapes)]
    return found


def _line(line: Line) -> dict[str, Any]:
    return {
        "type": "Feature",
        "geometry": {"type": "LineString", "coordinates": [line.start, line.end]},
        "properties": {
            "role": "line",
            "findings": list(line.findings),
            "to": line.to,
            "feet": round(line.feet, 1),
            "margin_ft": line.margin_ft,
            "outcome": line.outcome,
            "words": line.words,
        },
    }


def _around(geometry: shapely.Geometry, radius_ft: float) -> shapely.Geometry:
    if geometry.geom_type != "Point":
        return ring_around(geometry, min(radius_ft, _GEODESIC_ENOUGH_FT))
    return circles_around(np.column_stack(to_lonlat([geometry.x], [geometry.y])), radius_ft)[0]


def _municipalities(engine: Engine, record: Determination) -> Iterable[dict[str, Any]]:
    place = record.place
    sure = [] if place.municipality is None else [place.municipality]
    for role, towns in (("neighbour", place.neighbours), ("choice", place.candidates), ("municipality", sure)):
        for town in towns:
            outline = _outline(engine, town)
            if outline is not None:
                about = {"code": town.mun_code, "name": town.name, "county": town.county}
                yield _feature(outline, _DIGITS, role=role, **about, distance_ft=town.distance_ft, share=town.share)


def _outline(engine: Engine, town: Neighbour) -> shapely.Geometry | None:
    layer = engine.atlas.layer("municipalities")
    if layer is None:
        return None
    own = [layer.geometry(i) for i in map(int, layer.select(as_of=engine.atlas.as_of)) if layer.key(i) == town.mun_code]
    return shapely.simplify(shapely.union_all(own), OUTLINE_TOLERANCE_FT) if own else None


# -- classes of area -----------------------------------------------------------------------------------


def drawn_areas(engine: Engine) -> DrawnAreas:
    """Return the legend and every class of area; takes seconds.

    Parameters
    ----------
    engine
        Its atlas has the layers, its rulebook the figures.
    """
    areas = draw_areas(engine)
    towns = {outline.code: outline for outline in areas.municipalities}
    collections = {known.look.id: _class_features(known, towns) for known in areas.classes}
    collections["municipalities"] = _base_features(areas.municipalities)
    collections["counties"] = _base_features(areas.counties)
    legend = {
        "groups": [{"id": group.id, "label": group.label} for group in area_groups()],
        "classes": [
            _look(known) | {"shown": known.look.shown, "notes": _notes(known), "radius_ft": known.radius_ft}
            for known in areas.classes
        ],
        "missing": [_look(known) | {"why": known.why, "how": known.how} for known in areas.not_drawn],
        "sources": _sources(areas),
        "tiers": [
            {"dollars": key.dollars, "label": key.label, "colour": key.colour, "shape": key.shape}
            for key in tier_keys(engine)
        ],
    }
    return DrawnAreas(
        _json(legend),
        # Without a time in it: the same areas are the same bytes.
        {name: gzip.compress(_json({"type": "FeatureCollection", "features": found}), 6, mtime=0)
         for name, found in collections.items()},
    )  # fmt: skip


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _look(known: DrawnClass | NotDrawn) -> dict[str, Any]:
    look = known.look
    return {
        "id": look.id,
        "label": known.label,
        "group": look.group,
        "colour": look.colour,
        "pattern": look.pattern,
        "opacity": look.opacity,
    }


def _notes(known: DrawnClass) -> list[str]:
    notes = list(known.notes)
    if known.drawn_to_ft > OUTLINE_TOLERANCE_FT and any(area.geometry is not None for area in known.areas):
        notes.append(f"Large: drawn to within {known.drawn_to_ft:g} ft of the layer's lines.")
    counted = [area for area in known.areas if not area.band_ft]
    unsure = sum(area.sureness == "possible" for area in counted)
    if unsure:
        notes.append(f"{unsure:,} of {len(counted):,} may belong and are dashed.")
    return notes


def _sources(areas: MapAreas) -> list[dict[str, str]]:
    return [
        {"title": s.title, "publisher": s.publisher, "edition": s.edition, "sha256": s.sha256} for s in areas.sources
    ]


def _class_features(known: DrawnClass, towns: dict[str, Outline]) -> list[dict[str, Any]]:
    found = []
    for area in joined_areas(known):
        town = towns.get(area.mun_code or "")
        geometry = area.geometry if area.geometry is not None else None if town is None else town.geometry
        if geometry is None:
            continue
        found.append(
            _feature(
                geometry,
                _DIGITS,
                name=area.name,
                sureness=area.sureness,
                note=area.note,
                band_ft=round(area.band_ft, 1),
                mun_code=area.mun_code,
            )
        )
    # What radii are drawn around, by name: stations are told apart from close by.
    for name, lon, lat in known.points:
        point = {"type": "Point", "coordinates": [round(lon, _DIGITS), round(lat, _DIGITS)]}
        found.append({"type": "Feature", "geometry": point, "properties": {"name": name}})
    return found


def _base_features(outlines: Iterable[Outline]) -> list[dict[str, Any]]:
    found = []
    for outline in outlines:
        inside = shapely.point_on_surface(outline.geometry)
        lon, lat = to_lonlat(inside.x, inside.y)
        found.append(
            _feature(
                outline.geometry,
                _BASE_DIGITS,
                code=outline.code,
                name=outline.name,
                county=outline.county,
                label_at=[round(float(lon), 5), round(float(lat), 5)],
            )
        )
    return found
