"""One site against one atlas: the determination."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib import metadata
from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.determination import (
    Determination,
    Finding,
    LayerRecord,
    Missing,
    Neighbour,
    NotChecked,
    PlaceRecord,
    RulebookRecord,
    SiteRecord,
    StationRecord,
    TierRecord,
)
from grownj_geo.errors import OutsideNewJerseyError
from grownj_geo.evaluate import ANSWER, LEANING, STRICT, BoundRulebook, Clause, Evaluation, bind
from grownj_geo.evidence import deciding_leaves, evidence_of, feet, interval, place_words
from grownj_geo.facts import check_facts, load_facts
from grownj_geo.leaves import Leaves
from grownj_geo.locate import locate
from grownj_geo.logic import Cause, Outcome
from grownj_geo.observe import SiteTable, distances_to_each
from grownj_geo.place import PlacementKind
from grownj_geo.readings import load_readings, resolve_readings
from grownj_geo.rulebook import Rulebook, Tier, load_rulebook
from grownj_geo.site import Site
from grownj_geo.whatif import deciding_sets

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from grownj_geo.atlas import Atlas
    from grownj_geo.determination import Evidence
    from grownj_geo.site import FactValue

__all__ = ["Engine", "determine"]

DISCLAIMER = (
    "Computed from public facts and maps; not the New Jersey Economic Development Authority's determination "
    "and not legal advice (A36)."
)
_NEAREST_STATIONS = 5
_SURE = {"confirmed", "derived"}
_STATUS_ORDER = ("confirmed", "derived", "indirect", "secondary", "provisional", "unverified", "not_found")


@dataclass
class Engine:
    """A rulebook bound to an atlas's day and to readings, ready for any number of sites.

    Parameters
    ----------
    atlas
        The layers.
    rulebook
        One program's rules.
    readings
        Chosen option by ambiguity id; defaults for the others.

    Raises
    ------
    RulebookError
        For a day that the rulebook does not cover, or an unknown reading or option.
    """

    atlas: Atlas
    rulebook: Rulebook
    readings: Mapping[str, str] = field(default_factory=dict)
    bound: BoundRulebook = field(init=False)
    _feature_cache: dict[int, list[tuple[int, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Bind once; sites share the result."""
        self.bound = bind(self.rulebook, as_of=self.atlas.as_of, readings=resolve_readings(self.readings))

    @cached_property
    def layer_records(self) -> tuple[LayerRecord, ...]:
        """Every layer that ships or that rules ask for, those that are missing last."""
        records = []
        for layer_id, manifest in self.atlas.manifests.items():
            state = self.atlas.state(layer_id)
            layer = self.atlas.layer(layer_id)
            records.append(
                LayerRecord(
                    id=layer_id,
                    title=manifest.title,
                    status=state.status,
                    edition=manifest.edition,
                    sha256=layer.fingerprint if layer else None,
                    problem=state.problem,
                )
            )
        return tuple(sorted(records, key=lambda r: (r.status == "missing", r.id)))

    def run(self, site: Site) -> Evaluation:
        """Return the evaluation of one site, all categories computed and kept.

        Raises
        ------
        OutsideNewJerseyError
            If the site lies farther from every municipality than a pier could.
        """
        facts: dict[str, list[FactValue | None]] = {name: [value] for name, value in site.facts.items()}
        leaves = Leaves(self.bound, self.atlas, SiteTable.of([site]), facts, feature_cache=self._feature_cache)
        if leaves.placement.kinds[0] is PlacementKind.OUTSIDE:
            raise OutsideNewJerseyError(_outside_words(site))
        run = Evaluation(self.bound, leaves)
        for category in self.rulebook.categories:
            run.category(category.id)
        return run

    def determine(self, site: Site, *, determined_on: date | None = None) -> Determination:
        """Return the determination of one site.

        Parameters
        ----------
        site
            The site.
        determined_on
            A day to write into the record; left out by default, so that equal questions give equal bytes.
        """
        run = self.run(site)
        categories = [c for c in self.rulebook.categories if c.kind != "ground"]
        sets = deciding_sets(run, [c.id for c in categories])
        findings = tuple(_finding(category.id, run, sets.get(category.id, [])) for category in categories)
        layers = self.layer_records
        return Determination(
            software=f"grownj-geo {_version()}",
            rulebook=RulebookRecord(
                id=self.rulebook.id,
                title=self.rulebook.title,
                version=self.rulebook.version,
                citation=self.rulebook.citation,
            ),
            as_of=self.atlas.as_of,
            determined_on=determined_on,
            disclaimer=DISCLAIMER,
            wording=_wording(self.rulebook, self.atlas.as_of),
            site=_site_record(site),
            place=_place_record(run.leaves, site),
            tier=_tier(run),
            findings=findings,
            stations=_stations(run.leaves),
            assumptions=tuple(dict.fromkeys(a for f in findings for a in f.assumptions)),
            cautions=_cautions(run.leaves, site, findings, layers),
            readings={i: o for i, o in self.bound.readings.items() if load_readings()[i].kind == "option"},
            not_checked=_not_checked(findings, self.atlas),
            layers=layers,
        )


def determine(
    site: Site | str | shapely.Geometry,
    atlas: Atlas,
    *,
    rulebook: Rulebook | str = "grow-nj",
    facts: Mapping[str, FactValue] | None = None,
    readings: Mapping[str, str] | None = None,
    uncertainty_ft: float = 0.0,
    determined_on: date | None = None,
) -> Determination:
    """Determine which incentive areas one site is in.

    Parameters
    ----------
    site
        A site, text that locates one ("40.7344,-74.1641", a PAMS PIN, WKT, a GeoJSON file's name), or a
        geometry in EPSG:3424.
    atlas
        The layers as of a date.
    rulebook
        A rulebook, or the id of a shipped one.
    facts
        Site facts that the user states, by name; they come on top of the site's own.
    readings
        Chosen options where the regulation is open, by ambiguity id.
    uncertainty_ft
        How far the true place may be from what is given; for text and geometries.
    determined_on
        A day to write into the record.

    Raises
    ------
    SiteError
        If the text cannot be read as a site.
    OutsideNewJerseyError
        If the site lies outside New Jersey.
    FactError, RulebookError
        For unknown facts, readings, or a date that the rulebook does not cover.

    Examples
    --------
    >>> from grownj_geo.atlas import load_atlas
    >>> found = determine("39.9447,-75.1190", load_atlas())
    >>> found["garden_state_growth_zone"].outcome
    'yes'
    """
    book = load_rulebook(rulebook) if isinstance(rulebook, str) else rulebook
    if isinstance(site, str):
        site = locate(site, uncertainty_ft=uncertainty_ft, directory=Directory(atlas))
    elif isinstance(site, shapely.Geometry):
        site = Site(typed=site.wkt, located_by="geometry in EPSG:3424", geometry=site, uncertainty_ft=uncertainty_ft)
    stated = check_facts({**site.facts, **(facts or {})})
    site = Site(**{**site.__dict__, "facts": stated})
    return Engine(atlas, book, readings or {}).determine(site, determined_on=determined_on)


@dataclass(frozen=True)
class Directory:
    """The municipalities of an atlas, as the locating step wants them."""

    atlas: Atlas

    @property
    def names(self) -> Mapping[str, tuple[str, str]]:
        """Name and county by `mun_code`."""
        return self.atlas.municipal_names


@lru_cache(maxsize=1)
def _version() -> str:
    try:
        return metadata.version("grownj-geo")
    except metadata.PackageNotFoundError:
        return "0 (not installed)"


def _outside_words(site: Site) -> str:
    lon, lat = site.lonlat or (float("nan"), float("nan"))
    return (
        f"The site (latitude {lat:.5f}, longitude {lon:.5f}) lies outside New Jersey: no municipality is within "
        "1,000 ft. Check the coordinates; expected latitude first, longitude negative."
    )


# -- findings -----------------------------------------------------------------------------------------


def _finding(category_id: str, run: Evaluation, sets: list[tuple[str, ...]]) -> Finding:
    category = run.bound.rulebook.category(category_id)
    clause = run.bound.clauses[category_id]
    values = run.category(category_id)
    answer, leaning = int(values.outcomes[ANSWER, 0]), int(values.outcomes[LEANING, 0])
    leaves = deciding_leaves(clause, run)
    evidence = tuple(evidence_of(leaf, run) for leaf in leaves)
    assumed = answer != int(values.outcomes[STRICT, 0])
    outcome = Outcome.of(answer)
    margin = values.margin()
    return Finding(
        id=category_id,
        label=category.label,
        citation=category.citation,
        summary=category.summary,
        kind=category.kind,
        outcome=outcome.value,
        leans=Outcome.of(leaning).value if answer == 0 and leaning != 0 else None,
        margin_ft=round(margin, 1) + 0.0 if np.isfinite(margin) else None,
        why=_why(outcome, evidence),
        causes=tuple(Cause(int(values.causes[0])).words),
        assumed=assumed,
        assumptions=tuple(e.words for e in evidence if e.assumed) if assumed else (),
        status=_weakest([category.status, *(e.status for e in evidence if e.status and e.outcome == outcome.value)]),
        readings=_readings(category.readings, leaves, run),
        evidence=evidence,
        would_decide=tuple(Missing(needs=needs, words=_needs_words(needs, run)) for needs in sets),
    )


def _why(outcome: Outcome, evidence: tuple[Evidence, ...]) -> str:
    same = [e for e in evidence if e.outcome == outcome.value]
    words = list(dict.fromkeys(e.words for e in (same or evidence)))
    shown = words[:3]
    more = f"; and {len(words) - 3} more" if len(words) > 3 else ""  # noqa: PLR2004 - three are readable
    return "; ".join(shown) + more if shown else "nothing in force decides it"


def _weakest(statuses: list[str]) -> str:
    return max(statuses, key=_STATUS_ORDER.index)


def _readings(own: tuple[str, ...], leaves: tuple[Clause, ...], run: Evaluation) -> dict[str, str]:
    """Return the readings that a category and its deciding clauses name, with the options taken."""
    named = {*own, *(reading for leaf in leaves for reading in leaf.node.readings)}
    return {i: run.bound.readings[i] for i in sorted(named, key=lambda i: int(i[1:]))}


def _needs_words(needs: tuple[str, ...], run: Evaluation) -> str:
    return " and ".join(_need_words(need, run) for need in needs)


def _need_words(need: str, run: Evaluation) -> str:
    kind, _, name = need.partition(":")
    if kind == "layer":
        return f"load {run.leaves.atlas.manifests[name].title}"
    if kind == "fact":
        definition = load_facts()[name]
        who = " (an official finding)" if definition.kind == "ruling" else ""
        return f"state {name}{who}"
    if kind == "reading":
        return f"choose a reading of {name}"
    if kind == "position":
        return f"a better position for the site or for {run.leaves.atlas.manifests[name].title}"
    return {"place": "give the site's location", "municipality": "state the municipality or a parcel number"}[kind]


def _tier(run: Evaluation) -> TierRecord | None:
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
        status=_weakest([t.status for t in (floor, ceiling) if t] or [tiers[0].status]),
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


# -- the record's other parts -------------------------------------------------------------------------


def _site_record(site: Site) -> SiteRecord:
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


def _place_record(leaves: Leaves, site: Site) -> PlaceRecord:
    place = leaves.placement
    kind = place.kinds[0]
    codes, shares = place.codes_of(0), place.shares_of(0)
    away = place.distances_ft[0]

    def neighbour(code: str, *, distance: float | None = None, share: float | None = None) -> Neighbour:
        name, county = leaves.atlas.municipal_names.get(code, (code, leaves.county(code)))
        return Neighbour(
            mun_code=code,
            name=name,
            county=county or leaves.county(code),
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
    counties = {leaves.county(code) for code in codes}
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


def _stations(leaves: Leaves) -> tuple[StationRecord, ...]:
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


def _not_checked(findings: tuple[Finding, ...], atlas: Atlas) -> tuple[NotChecked, ...]:
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


def _wording(rulebook: Rulebook, as_of: date) -> str | None:
    for period in rulebook.wording:
        if period.from_ <= as_of < period.until:
            return period.words
    return None


def _cautions(
    leaves: Leaves, site: Site, findings: tuple[Finding, ...], layers: tuple[LayerRecord, ...]
) -> tuple[str, ...]:
    cautions = []
    place = leaves.placement
    for code, distance in place.neighbours[0]:
        name = leaves.municipality(code)
        where = "on the line with" if distance == 0 else f"{feet(distance)} from the line of"
        cautions.append(
            f"The site is {where} {name} ({code}); municipal lines are known to 72 ft. The covering polygon decides; "
            "a parcel number would settle it."
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
        cautions.append(f"Rests on figures or lists below confirmed: {', '.join(weak)}.")
    return tuple(cautions)


def _mismatch(leaves: Leaves, site: Site) -> list[str]:
    """Return a caution where the place lies in another municipality than the parcel number says."""
    if site.mun_code is None or site.geometry is None:
        return []
    table = SiteTable.of([Site(**{**site.__dict__, "mun_code": None})])
    by_lines = Leaves(leaves.bound, leaves.atlas, table).placement
    codes = by_lines.codes_of(0)
    if by_lines.kinds[0] is PlacementKind.OUTSIDE:
        raise OutsideNewJerseyError(_outside_words(site))
    if codes and codes[0] != site.mun_code:
        says = "parcel number" if site.mun_basis == "pin" else "statement"
        by_lines_name, stated_name = leaves.municipality(codes[0]), leaves.municipality(site.mun_code)
        return [
            f"The place lies in {by_lines_name} by its lines; the {says} says {stated_name}, which is used. Check both."
        ]
    return []
