"""The parts of a determination besides its findings: site, place, tier, stations, cautions, what is missing."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.determination import (
    Neighbour,
    NotChecked,
    PlaceRecord,
    RulebookRecord,
    SiteRecord,
    StationRecord,
    TierRecord,
)
from grownj_geo.evidence import deciding_leaves, evidence_of, feet, interval, percent, place_words, weakest
from grownj_geo.observe import distances_to_each
from grownj_geo.place import OFFSHORE_LIMIT_FT, PlacementKind, place_sites
from grownj_geo.units import FT_PER_FTUS, FT_PER_MILE
from grownj_geo.values import ANSWER, STRICT

if TYPE_CHECKING:
    from datetime import date

    from grownj_geo.atlas import Atlas
    from grownj_geo.binding import BoundRulebook
    from grownj_geo.determination import Finding, LayerRecord
    from grownj_geo.evaluate import Evaluation
    from grownj_geo.leaves import Leaves
    from grownj_geo.place import Placement
    from grownj_geo.rulebook import Rulebook, Tier, WordingPeriod
    from grownj_geo.site import Site

__all__ = [
    "cautions_of",
    "day_cautions",
    "nearest_stations",
    "not_checked",
    "outside_words",
    "place_by_lines",
    "place_record",
    "rulebook_record",
    "site_record",
    "tier_record",
    "unread_wording",
    "wording_of",
]

_NEAREST_STATIONS = 5
_SURE = {"confirmed", "derived"}


def outside_words(site: Site) -> str:
    """Return the message for a site that lies outside New Jersey."""
    lon, lat = site.lonlat or (float("nan"), float("nan"))
    # Only of typed numbers is it known that their order was a choice.
    expected = (
        "; expected latitude first, longitude negative" if site.located_by == "coordinates, latitude first" else ""
    )
    return (
        f"The site (latitude {lat:.5f}, longitude {lon:.5f}) lies outside New Jersey: no municipality is within "
        f"{OFFSHORE_LIMIT_FT:,.0f} ft. Check the coordinates{expected}."
    )


def rulebook_record(rulebook: Rulebook) -> RulebookRecord:
    """Return a rulebook's name, version and fingerprint."""
    content = json.dumps(
        rulebook.model_dump(mode="json", by_alias=True), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    return RulebookRecord(
        id=rulebook.id,
        title=rulebook.title,
        version=rulebook.version,
        citation=rulebook.citation,
        sha256=hashlib.sha256(content.encode()).hexdigest(),
    )


def tier_record(run: Evaluation) -> TierRecord | None:
    """Return the bounds of the base amount by place; None for a rulebook without tiers."""
    by_amount = sorted(run.bound.rulebook.tiers, key=lambda t: -t.dollars)
    tiers = [t for t in by_amount if not t.project]
    if not tiers:
        return None
    floor, ceiling = _bounds(run, tiers, ANSWER)
    assumed = (floor, ceiling) != _bounds(run, tiers, STRICT)
    words = _tier_words(floor, ceiling, [t for t in by_amount if t.project])
    return TierRecord(
        floor=floor.dollars if floor else None,
        ceiling=ceiling.dollars if ceiling else None,
        words=words + ("; rests on an assumption" if assumed else ""),
        citation=(floor or ceiling or tiers[0]).citation,
        status=weakest([t.status for t in (floor, ceiling) if t] or [tiers[0].status]),
        assumed=assumed,
        assumptions=_assumptions(run, tiers) if assumed else (),
    )


def _bounds(run: Evaluation, tiers: list[Tier], row: int) -> tuple[Tier | None, Tier | None]:
    """Return the highest line that is surely reached, and the highest that is not out of reach."""
    answers = [(t, int(run.category(t.category).outcomes[row, 0])) for t in tiers]
    floor = next((t for t, answer in answers if answer == 1), None)
    return floor, next((t for t, answer in answers if answer != -1), None)


def _assumptions(run: Evaluation, tiers: list[Tier]) -> tuple[str, ...]:
    """Return what is assumed where a line would come out otherwise without it."""
    found: dict[str, None] = {}
    for tier in tiers:
        outcomes = run.category(tier.category).outcomes
        if outcomes[ANSWER, 0] != outcomes[STRICT, 0]:
            leaves = deciding_leaves(run.bound.clauses[tier.category], run)
            found |= dict.fromkeys(e.words for e in (evidence_of(leaf, run) for leaf in leaves) if e.assumed)
    return tuple(found)


def _tier_words(floor: Tier | None, ceiling: Tier | None, projects: list[Tier]) -> str:
    if ceiling is None:
        words = "no line: outside the incentive area"
    elif floor is None:
        words = f"at most ${ceiling.dollars:,} ({ceiling.label}), or none: the incentive area is not decided"
    elif floor is ceiling:
        words = f"${floor.dollars:,} ({floor.label}); could be no higher by place"
    else:
        words = f"at least ${floor.dollars:,} ({floor.label}), at most ${ceiling.dollars:,} ({ceiling.label})"
    top = max((t.dollars for t in (floor, ceiling) if t), default=0)
    higher = [t for t in projects if ceiling is not None and t.dollars > top]
    return words + "".join(f"; a {t.label} has ${t.dollars:,} whatever the place's line" for t in higher)


def site_record(site: Site) -> SiteRecord:
    """Return the site as it was understood."""
    record: dict[str, object] = {
        "typed": site.typed,
        "located_by": site.located_by,
        "kind": "municipality" if site.geometry is None else "point" if site.is_point else "polygon",
        "uncertainty_ft": site.uncertainty_ft,
        "pins": site.pins,
        "mun_code": site.mun_code,
        "mun_basis": site.mun_basis,
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
            share=share if kind is PlacementKind.SEVERAL or (kind is PlacementKind.OFFSHORE and share > 0) else None,
            distance=away[i] if i < len(away) else None,
        )
        for i, (code, share) in enumerate(zip(codes, shares, strict=True))
    )
    counties = {leaves.membership.county(code) for code in codes}
    certain = kind is PlacementKind.CERTAIN
    basis = {"pin": " (by its parcel number)", "stated": " (as stated)"}.get(site.mun_basis or "", "")
    outside = float(place.outside[0])
    words = place_words(leaves) + (basis if certain and codes[:1] == [site.mun_code] else "")
    if kind is PlacementKind.OFFSHORE and away:
        words += (
            f", {feet(away[0])} away; this may be a pier, water or another State, "
            "so the municipality is undetermined (A32)"
        )
    elif kind is PlacementKind.OFFSHORE:
        names = ", ".join(leaves.membership.name(code) for code in codes)
        words = (
            f"for the most part ({percent(outside)}) outside every municipal polygon, the rest in {names}; "
            "this may be a pier, water or another State, so the municipality is undetermined (A32)"
        )
    elif kind is PlacementKind.SEVERAL and place.may_be_nowhere(0):
        words += f"; {percent(outside)} of the site in no municipality"
    return PlaceRecord(
        kind=kind.value,
        words=words,
        municipality=candidates[0] if certain else None,
        county=counties.pop() if len(counties) == 1 and not place.may_be_nowhere(0) else None,
        candidates=() if certain else candidates,
        neighbours=tuple(neighbour(code, distance=distance) for code, distance in place.neighbours[0]),
        outside_share=round(outside, 6) + 0.0 if np.isfinite(outside) else None,
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
    for finding in (f for f in findings if f.outcome == "undetermined"):
        for evidence in finding.evidence:
            if evidence.layer and evidence.outcome == "undetermined":
                names = waiting.setdefault(evidence.layer, [])
                if finding.id not in names:
                    names.append(finding.id)
    return tuple(
        NotChecked(
            layer=layer,
            title=atlas.manifests[layer].title,
            findings=tuple(names),
            how_to_load=atlas.manifests[layer].how_to_load,
            command=atlas.manifests[layer].load_command,
        )
        for layer, names in sorted(waiting.items())
        if atlas.layer(layer) is None
    )


def wording_of(rulebook: Rulebook, as_of: date) -> str | None:
    """Return what is known of the wording on a day."""
    period = _period_of(rulebook, as_of)
    return None if period is None else period.words


def _period_of(rulebook: Rulebook, as_of: date) -> WordingPeriod | None:
    return next((period for period in rulebook.wording if period.from_ <= as_of < period.until), None)


def unread_wording(rulebook: Rulebook, as_of: date) -> str:
    """Return what is to be said where the wording of a day was not read; nothing where it was."""
    period = _period_of(rulebook, as_of)
    return "" if period is None or period.seen else period.words


def day_cautions(bound: BoundRulebook, atlas: Atlas) -> list[str]:
    """Return what a reader should be warned of whatever the site: wording not read, editions of another time.

    Parameters
    ----------
    bound
        The rulebook with its day and readings.
    atlas
        The layers.
    """
    cautions = [words] if (words := unread_wording(bound.rulebook, bound.as_of)) else []
    for layer_id, manifest in atlas.manifests.items():
        if atlas.layer(layer_id) is None or manifest.covers(bound.as_of):
            continue
        strict = bound.readings.get("A43") == "strict"
        use = "it is left out (strict editions, A43)" if strict else "the nearest edition is used (A43)"
        held = atlas.edition(layer_id)
        day = str(manifest.edition or "unknown date")
        if manifest.edition is None and held is not None and held.edition is not None:
            day += f" ({held.edition.origin.words})"
        cautions.append(f"{manifest.title}: the edition of {day} is not known to hold on {bound.as_of}; {use}.")
    return cautions


def cautions_of(
    leaves: Leaves, site: Site, findings: tuple[Finding, ...], layers: tuple[LayerRecord, ...]
) -> tuple[str, ...]:
    """Return what a reader should be warned of, most local first."""
    cautions = _place_cautions(leaves) + _mismatch(leaves, site) + _far_pieces(site)
    cautions += day_cautions(leaves.bound, leaves.atlas)
    for layer in layers:
        if layer.status == "unusable":
            cautions.append(f"{layer.title} could not be used, and what depends on it is undetermined: {layer.problem}")
    weak = [f.label for f in findings if f.outcome != "undetermined" and f.status not in _SURE]
    if weak:
        cautions.append(f"These findings rest on figures or lists that are not fully confirmed: {'; '.join(weak)}.")
    return tuple(cautions)


def _place_cautions(leaves: Leaves) -> list[str]:
    """Return what a reader should be warned of about municipal lines near the site, and about ground beyond them."""
    cautions = []
    place, layer = leaves.placement, leaves.atlas.layer("municipalities")
    accuracy = 0.0 if layer is None else layer.manifest.accuracy_ft or 0.0
    for code, distance in place.neighbours[0]:
        name = leaves.membership.name(code)
        where = "on the line with" if distance == 0 else f"{feet(distance)} from the line of"
        cautions.append(
            f"The site is {where} {name} ({code}); municipal lines are known to {feet(accuracy)}. The covering polygon "
            "decides; a parcel number would settle it."
        )
    if 0 < place.outside[0] < 1:
        rest = "The rest decides its municipality."
        if place.may_be_nowhere(0):
            rest = "Tests of the municipality are undetermined for that; a parcel number would settle it (A32)."
        cautions.append(
            f"{percent(float(place.outside[0]))} of the site lies in no municipality's polygon: water, a pier, or "
            f"another State. {rest}"
        )
    return cautions


def place_by_lines(leaves: Leaves) -> Placement:
    """Return where the first site lies by the municipal lines alone, whatever a parcel number or the user says."""
    return place_sites(leaves.atlas, leaves.sites.first())


def _far_pieces(site: Site) -> list[str]:
    """Return a caution where the pieces of a site reach over more than a mile."""
    if site.geometry is None or shapely.get_num_geometries(site.geometry) == 1:
        return []
    x0, y0, x1, y1 = site.geometry.bounds
    across = float(np.hypot(x1 - x0, y1 - y0)) * FT_PER_FTUS
    if across <= FT_PER_MILE:
        return []
    words = (
        f"The site's pieces reach over {feet(across)}. Buildings of a complex are computed one by one (A35): check far "
        "pieces as sites of their own."
    )
    return [words]


def _mismatch(leaves: Leaves, site: Site) -> list[str]:
    """Return a caution where the place lies in another municipality than the parcel number says."""
    if site.mun_code is None or site.geometry is None:
        return []
    codes = place_by_lines(leaves).codes_of(0)
    if codes and codes[0] != site.mun_code:
        says = "parcel number" if site.mun_basis == "pin" else "statement"
        by_lines_name, stated_name = leaves.membership.name(codes[0]), leaves.membership.name(site.mun_code)
        followed = leaves.placement.codes_of(0)[:1] == [site.mun_code]
        used = "which is used" if followed else "which is not used"
        return [f"The place lies in {by_lines_name} by its lines; the {says} says {stated_name}, {used}. Check both."]
    return []
