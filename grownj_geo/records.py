"""The parts of a determination besides its findings: site, place, tier, stations, cautions, what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.determination import (
    Neighbour,
    NotChecked,
    PlaceRecord,
    SiteRecord,
    StationRecord,
    TierRecord,
)
from grownj_geo.errors import OutsideNewJerseyError
from grownj_geo.evaluate import ANSWER
from grownj_geo.evidence import feet, interval, place_words, weakest
from grownj_geo.observe import SiteTable, distances_to_each
from grownj_geo.place import PlacementKind, place_sites

if TYPE_CHECKING:
    from datetime import date

    from grownj_geo.atlas import Atlas
    from grownj_geo.determination import Finding, LayerRecord
    from grownj_geo.evaluate import Evaluation
    from grownj_geo.leaves import Leaves
    from grownj_geo.rulebook import Rulebook, Tier
    from grownj_geo.site import Site

__all__ = [
    "cautions_of",
    "nearest_stations",
    "not_checked",
    "outside_words",
    "place_record",
    "site_record",
    "tier_record",
    "wording_of",
]

_NEAREST_STATIONS = 5
_SURE = {"confirmed", "derived"}
_MUCH_BEYOND = 0.01


def outside_words(site: Site) -> str:
    """Return the message for a site that lies outside New Jersey."""
    lon, lat = site.lonlat or (float("nan"), float("nan"))
    return (
        f"The site (latitude {lat:.5f}, longitude {lon:.5f}) lies outside New Jersey: no municipality is within "
        "1,000 ft. Check the coordinates; expected latitude first, longitude negative."
    )


def tier_record(run: Evaluation) -> TierRecord | None:
    """Return the bounds of the base amount by place; None for a rulebook without tiers."""
    tiers = [t for t in run.bound.rulebook.tiers if not t.project]
    if not tiers:
        return None
    answers = [(t, int(run.category(t.category).outcomes[ANSWER, 0])) for t in tiers]
    floor = next((t for t, answer in answers if answer == 1), None)
    ceiling = next((t for t, answer in answers if answer != -1), None)
    return TierRecord(
        floor=floor.dollars if floor else None,
        ceiling=ceiling.dollars if ceiling else None,
        words=_tier_words(floor, ceiling, any(t.project for t in run.bound.rulebook.tiers)),
        citation=(floor or ceiling or tiers[0]).citation,
        status=weakest([t.status for t in (floor, ceiling) if t] or [tiers[0].status]),
    )


def _tier_words(floor: Tier | None, ceiling: Tier | None, projects: bool) -> str:  # noqa: FBT001
    if ceiling is None:
        words = "no line: outside the incentive area"
    elif floor is None:
        words = f"at most ${ceiling.dollars:,} ({ceiling.label}), or none: the incentive area is not decided"
    elif floor is ceiling:
        words = f"${floor.dollars:,} ({floor.label}); could be no higher by place"
    else:
        words = f"at least ${floor.dollars:,} ({floor.label}), at most ${ceiling.dollars:,} ({ceiling.label})"
    top = max((t.dollars for t in (floor, ceiling) if t), default=0)
    more = projects and ceiling is not None and top < 5000  # noqa: PLR2004 - the amount of a mega project
    return words + ("; a mega project has $5,000 whatever the place's line" if more else "")


def site_record(site: Site) -> SiteRecord:
    """Return the site as it was understood."""
    record: dict[str, object] = {
        "typed": site.typed,
        "located_by": site.located_by,
        "kind": "municipality" if site.geometry is None else "point" if site.is_point else "polygon",
        "uncertainty_ft": site.uncertainty_ft,
        "pins": site.pins,
        "notes": site.notes,
        "facts": dict(sorted(site.facts.items())),
    }
    if site.geometry is not None and site.lonlat is not None:
        lon, lat = site.lonlat
        x, y = shapely.get_coordinates(site.geometry if site.is_point else site.geometry.point_on_surface())[0]
        record |= {
            "longitude": round(lon, 7),
            "latitude": round(lat, 7),
            "x_ftus": round(float(x), 2),
            "y_ftus": round(float(y), 2),
            "parts": int(shapely.get_num_geometries(site.geometry)),
            "geometry_wkt": shapely.to_wkt(site.geometry, rounding_precision=3, trim=True),
        }
        if not site.is_point:
            record["area_sqft"] = round(site.area_sqft, 1)
    return SiteRecord.model_validate(record)


def place_record(leaves: Leaves, site: Site) -> PlaceRecord:
    """Return municipality and county of the first site, with candidates and neighbours."""
    place = leaves.placement
    kind = place.kinds[0]
    codes, shares = place.codes_of(0), place.shares_of(0)
    away = place.distances_ft[0]

    def neighbour(code: str, *, distance: float | None = None, share: float | None = None) -> Neighbour:
        name, county = leaves.atlas.municipal_names.get(code, (code, leaves.membership.county(code)))
        return Neighbour(
            mun_code=code,
            name=name,
            county=county or leaves.membership.county(code),
            distance_ft=None if distance is None else round(distance, 1) + 0.0,
            share=None if share is None or not np.isfinite(share) else round(share, 6),
        )

    candidates = tuple(
        neighbour(
            code,
            share=share if kind is PlacementKind.SEVERAL else None,
            distance=away[i] if i < len(away) else None,
        )
        for i, (code, share) in enumerate(zip(codes, shares, strict=True))
    )
    counties = {leaves.membership.county(code) for code in codes}
    certain = kind is PlacementKind.CERTAIN
    basis = {"pin": " (by its parcel number)", "stated": " (as stated)"}.get(site.mun_basis or "", "")
    words = place_words(leaves) + (basis if certain else "")
    if kind is PlacementKind.OFFSHORE and away:
        words += f", {feet(away[0])} away; on a pier or in water, the municipality is undetermined (A32)"
    return PlaceRecord(
        kind=kind.value,
        words=words,
        municipality=candidates[0] if certain else None,
        county=counties.pop() if len(counties) == 1 and kind is not PlacementKind.OFFSHORE else None,
        candidates=() if certain else candidates,
        neighbours=tuple(neighbour(code, distance=distance) for code, distance in place.neighbours[0]),
    )


def nearest_stations(leaves: Leaves) -> tuple[StationRecord, ...]:
    """Return the stations nearest to the first site, open on the day, of any kind."""
    layer = leaves.atlas.layer("transit_stations")
    if layer is None or layer.lonlat is None or not leaves.sites.placed[0]:
        return ()
    features = layer.select(as_of=leaves.bound.as_of)
    away = shapely.distance(leaves.sites.geometries[0], layer.points[features])
    nearest = features[np.argsort(away, kind="stable")[:_NEAREST_STATIONS]]
    records = []
    for i, (low, value, high) in zip(nearest, distances_to_each(layer, nearest, leaves.sites, 0), strict=True):
        records.append(
            StationRecord(
                station_id=layer.key(int(i)),
                name=layer.name(int(i)),
                operator=layer.value("operator", int(i)),
                mode=layer.value("mode", int(i)),
                distance_ft=interval(low, value, high),
                uncertainty_ft=round(float(layer.tolerances_ft[i]), 1),
                status=layer.value("status", int(i)),
            )
        )
    return tuple(sorted(records, key=lambda s: (s.distance_ft.value or 0.0, s.station_id)))


def not_checked(findings: tuple[Finding, ...], atlas: Atlas) -> tuple[NotChecked, ...]:
    """Return the layers that are not loaded and what waits for each."""
    waiting: dict[str, list[str]] = {}
    for finding in findings:
        for evidence in finding.evidence:
            if finding.outcome == "undetermined" and evidence.layer and evidence.outcome == "undetermined":
                names = waiting.setdefault(evidence.layer, [])
                if finding.id not in names:
                    names.append(finding.id)
    return tuple(
        NotChecked(
            layer=layer,
            title=atlas.manifests[layer].title,
            findings=tuple(names),
            how_to_load=atlas.manifests[layer].how_to_load,
        )
        for layer, names in sorted(waiting.items())
        if atlas.layer(layer) is None
    )


def wording_of(rulebook: Rulebook, as_of: date) -> str | None:
    """Return what is known of the wording on a day."""
    for period in rulebook.wording:
        if period.from_ <= as_of < period.until:
            return period.words
    return None


def cautions_of(
    leaves: Leaves, site: Site, findings: tuple[Finding, ...], layers: tuple[LayerRecord, ...]
) -> tuple[str, ...]:
    """Return what a reader should be warned of, most local first."""
    cautions = []
    place = leaves.placement
    for code, distance in place.neighbours[0]:
        name = leaves.membership.name(code)
        where = "on the line with" if distance == 0 else f"{feet(distance)} from the line of"
        cautions.append(
            f"The site is {where} {name} ({code}); municipal lines are known to 72 ft. The covering polygon decides; "
            "a parcel number would settle it."
        )
    beyond = 1.0 - sum(place.shares_of(0))
    if (
        place.kinds[0].value in {"certain", "several"}
        and beyond > _MUCH_BEYOND
        and not any(distance == 0 for _, distance in place.neighbours[0])
    ):
        cautions.append(
            f"{100 * beyond:.0f} % of the site lies in no municipality's polygon: water, a pier, or another State. "
            "The rest decides its municipality."
        )
    cautions += _mismatch(leaves, site)
    period = next((p for p in leaves.bound.rulebook.wording if p.from_ <= leaves.bound.as_of < p.until), None)
    if period is not None and not period.seen:
        cautions.append(period.words)
    for layer_id, manifest in leaves.atlas.manifests.items():
        if leaves.atlas.layer(layer_id) is not None and not manifest.covers(leaves.bound.as_of):
            strict = leaves.bound.readings.get("A43") == "strict"
            use = "it is left out (strict editions, A43)" if strict else "the nearest edition is used (A43)"
            cautions.append(
                f"{manifest.title}: the edition of {manifest.edition or 'unknown date'} does not cover "
                f"{leaves.bound.as_of}; {use}."
            )
    for layer in layers:
        if layer.status == "unusable":
            cautions.append(f"{layer.title} could not be used, and what depends on it is undetermined: {layer.problem}")
    weak = [f.label for f in findings if f.outcome != "undetermined" and f.status not in _SURE]
    if weak:
        cautions.append(f"Rests on figures or lists below confirmed: {'; '.join(weak)}.")
    return tuple(cautions)


def _mismatch(leaves: Leaves, site: Site) -> list[str]:
    """Return a caution where the place lies in another municipality than the parcel number says."""
    if site.mun_code is None or site.geometry is None:
        return []
    table = SiteTable(leaves.sites.geometries[:1], leaves.sites.uncertainty_ft[:1], leaves.sites.placed[:1], ("",))
    by_lines = place_sites(leaves.atlas, table)
    codes = by_lines.codes_of(0)
    if by_lines.kinds[0] is PlacementKind.OUTSIDE:
        raise OutsideNewJerseyError(outside_words(site))
    if codes and codes[0] != site.mun_code:
        says = "parcel number" if site.mun_basis == "pin" else "statement"
        by_lines_name, stated_name = leaves.membership.name(codes[0]), leaves.membership.name(site.mun_code)
        return [
            f"The place lies in {by_lines_name} by its lines; the {says} says {stated_name}, which is used. Check both."
        ]
    return []
