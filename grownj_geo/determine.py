"""One site against one atlas: the determination."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.binding import BoundRulebook, Clause, bind
from grownj_geo.crs import misfit, parse_crs
from grownj_geo.determination import Determination, Finding, LayerRecord, Missing, software
from grownj_geo.errors import OutsideNewJerseyError, SiteError
from grownj_geo.evaluate import Evaluation
from grownj_geo.evidence import IN_NEW_JERSEY, deciding_leaves, evidence_of, feet, status_of, weakest
from grownj_geo.facts import check_facts, load_facts
from grownj_geo.leaves import Leaves
from grownj_geo.logic import Cause, Outcome
from grownj_geo.observe import SiteTable
from grownj_geo.otherreadings import changed_categories
from grownj_geo.place import PlacementKind, said_limit_ft
from grownj_geo.readings import load_readings, resolve_readings
from grownj_geo.records import (
    cautions_of,
    nearest_stations,
    not_checked,
    outside_words,
    place_by_lines,
    place_record,
    rulebook_record,
    site_record,
    tier_record,
    wording_of,
)
from grownj_geo.rulebook import Rulebook, load_rulebook
from grownj_geo.site import Site
from grownj_geo.units import FT_PER_FTUS, WORKING_CRS, to_working_geometry
from grownj_geo.values import LEANING, STRICT
from grownj_geo.whatif import deciding_sets, open_points
from grownj_geo.words import joined

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence
    from datetime import date

    from grownj_geo.atlas import Atlas
    from grownj_geo.determination import Evidence, OutcomeWord, RulebookRecord
    from grownj_geo.site import FactValue

__all__ = ["Directory", "Engine", "determine", "need_words"]

DISCLAIMER = (
    "Computed from public facts and maps; not the New Jersey Economic Development Authority's determination "
    "and not legal advice."
)

_MOST_ENGINES = 16
_MOST_OPEN_POINTS = 4096


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
    feature_cache
        What features come to, kept from site to site.

    Raises
    ------
    RulebookError
        For a day that the rulebook does not cover, or an unknown reading or option.
    """

    atlas: Atlas
    rulebook: Rulebook
    readings: Mapping[str, str] = field(default_factory=dict)
    bound: BoundRulebook = field(init=False)
    feature_cache: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)
    _common: dict[str, Evidence] = field(default_factory=dict)
    _missing: dict[Hashable, dict[str, tuple[Missing, ...]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Bind once; sites share the result."""
        self.bound = bind(self.rulebook, as_of=self.atlas.as_of, readings=resolve_readings(self.readings))

    @cached_property
    def layer_records(self) -> tuple[LayerRecord, ...]:
        """Every layer that ships or that rules ask for, those that are missing last."""
        records = []
        for layer_id, manifest in self.atlas.manifests.items():
            state = self.atlas.state(layer_id)
            layer, held = self.atlas.layer(layer_id), self.atlas.edition(layer_id)
            records.append(
                LayerRecord(
                    id=layer_id,
                    title=manifest.title,
                    status=state.status,
                    edition=manifest.edition,
                    sha256=layer.fingerprint if layer else None,
                    stored=held.name if held else None,
                    origin=held.edition.origin.words if held and held.edition else None,
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
        SiteError
            If the site's municipality is none of those known, or the place is nowhere near it.
        FactError
            For an unknown fact or a value that does not fit it.
        """
        facts: dict[str, list[FactValue | None]] = {name: [value] for name, value in check_facts(site.facts).items()}
        names = self.atlas.municipal_names
        if site.mun_code is not None and names and site.mun_code not in names:
            raise SiteError(
                f"The site's municipality is {site.mun_code!r}, which is no municipality of {self.atlas.as_of}. "
                "Expected its four-digit Treasury code, as in '0408' for Camden City; correct mun_code."
            )
        leaves = Leaves(self.bound, self.atlas, SiteTable.of([site]), facts, feature_cache=self.feature_cache)
        _check_place(leaves, site)
        run = Evaluation(self.bound, leaves, common=self._common)
        for category in self.rulebook.categories:
            run.category(category.id)
        return run

    def check_place(self, site: Site) -> None:
        """Refuse what `run` refuses for its place, without evaluating anything.

        Raises
        ------
        OutsideNewJerseyError, SiteError
            As `run`.
        """
        _check_place(Leaves(self.bound, self.atlas, SiteTable.of([site])), site)

    @cached_property
    def others(self) -> dict[str, Engine]:
        """Engines under each reading of the rulebook's circles that was not chosen, by ``"A11=strict"``."""
        return {
            f"{reading}={option}": Engine(self.atlas, self.rulebook, {**self.readings, reading: option})
            for reading in self.rulebook.circles
            for option in load_readings()[reading].options
            if option != self.bound.readings[reading]
        }

    @cached_property
    def _changed(self) -> dict[str, frozenset[str]]:
        """The categories that each other reading can change, by ``"A11=strict"``."""
        return {label: changed_categories(self.bound, other.bound) for label, other in self.others.items()}

    def same_sites(self, leaves: Leaves) -> Leaves:
        """Return the leaves of sites that another engine of the atlas has measured, under this engine's readings."""
        return leaves.under(self.bound, feature_cache=self.feature_cache)

    @cached_property
    def rulebook_record(self) -> RulebookRecord:
        """The rulebook as determinations name it."""
        return rulebook_record(self.rulebook)

    def _under_other_readings(self, run: Evaluation, categories: Sequence[str]) -> dict[str, dict[str, OutcomeWord]]:
        """Return, by category, the outcomes that differ under the other readings of the circles."""
        found: dict[str, dict[str, OutcomeWord]] = {category: {} for category in categories}
        for label, other in self.others.items():
            changed = self._changed[label]
            again = Evaluation(other.bound, other.same_sites(run.leaves), keep=False, margins=False)
            again.take({category: run.category(category) for category in self.bound.clauses if category not in changed})
            for category in filter(changed.__contains__, categories):
                there = again.category(category).first
                if there != run.category(category).first:
                    found[category][label] = Outcome.of(there).value
        return found

    def _would_decide(self, run: Evaluation, categories: Sequence[str]) -> dict[str, tuple[Missing, ...]]:
        """Return, by category, what could decide it. Sites leave the same points open again and again."""
        key = open_points(run)
        if key not in self._missing:
            if len(self._missing) >= _MOST_OPEN_POINTS:
                self._missing.clear()
            self._missing[key] = {
                category: tuple(
                    Missing(needs=needs, words=" and ".join(need_words(need, self.atlas) for need in needs))
                    for needs in sets
                )
                for category, sets in deciding_sets(run, categories).items()
            }
        return self._missing[key]

    def determine(
        self, site: Site, *, determined_on: date | None = None, other_readings: bool = False
    ) -> Determination:
        """Return the determination of one site.

        Parameters
        ----------
        site
            The site.
        other_readings
            Say where another reading of the text's circles gives another outcome.
        determined_on
            A day to write into the record; left out by default, so that equal questions give equal bytes.
        """
        run = self.run(site)
        categories = [c for c in self.rulebook.categories if c.kind != "ground"]
        would_decide = self._would_decide(run, [c.id for c in categories])
        differing = self._under_other_readings(run, [c.id for c in categories]) if other_readings else None
        findings = tuple(
            _finding(
                category.id,
                run,
                would_decide.get(category.id, ()),
                None if differing is None else differing[category.id],
            )
            for category in categories
        )
        layers = self.layer_records
        tier = tier_record(run)
        return Determination(
            software=software(),
            rulebook=self.rulebook_record,
            as_of=self.atlas.as_of,
            determined_on=determined_on,
            disclaimer=DISCLAIMER,
            wording=wording_of(self.rulebook, self.atlas.as_of),
            site=site_record(site),
            place=place_record(run.leaves, site),
            tier=tier,
            findings=findings,
            stations=nearest_stations(run.leaves),
            assumptions=tuple(dict.fromkeys(a for part in (*findings, tier) if part for a in part.assumptions)),
            cautions=cautions_of(run.leaves, site, findings, layers),
            readings={i: o for i, o in self.bound.readings.items() if load_readings()[i].kind == "option"},
            not_checked=not_checked(findings, self.atlas),
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
    crs: str | None = None,
    other_readings: bool = False,
    determined_on: date | None = None,
) -> Determination:
    """Determine which incentive areas one site is in.

    Parameters
    ----------
    site
        A site, text that locates one ("40.7344,-74.1641", a PAMS PIN, block and lot, an address, WKT, a GeoJSON
        file's name), or a geometry. Addresses are looked up as `Finder` does.
    atlas
        The layers as of a date.
    rulebook
        A rulebook, or the id of a shipped one.
    facts
        Site facts that the user states, by name; they come on top of the site's own.
    readings
        Chosen options where the regulation is open, by ambiguity id.
    uncertainty_ft
        How far the true place may be from what is given, in feet. A site that says so itself must not be given
        another.
    crs
        What the coordinates of a text or a geometry are in, as in ``"EPSG:4326"`` (x or longitude first). By default
        a geometry is in EPSG:3424, and text in degrees. A site's geometry always is in EPSG:3424.
    other_readings
        Say where another reading of the text's circles gives another outcome; the command line always does.
    determined_on
        A day to write into the record.

    Raises
    ------
    SiteError
        If the text cannot be read as a site, or what is given is no site; `UnsettledSiteError` where an address may be
        one of several places.
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
    place = _site_of(site, atlas, uncertainty_ft=uncertainty_ft, crs=crs)
    place = replace(place, facts=check_facts({**place.facts, **(facts or {})}))
    chosen = dict(sorted((readings or {}).items()))
    engine = _shipped_engine(atlas, rulebook, chosen) if isinstance(rulebook, str) else Engine(atlas, rulebook, chosen)
    return engine.determine(place, determined_on=determined_on, other_readings=other_readings)


def _site_of(site: object, atlas: Atlas, *, uncertainty_ft: float, crs: str | None) -> Site:
    """Return the site that is asked about, whatever it was given as."""
    if isinstance(site, str):
        from grownj_geo.finder import Finder  # noqa: PLC0415 - only where there is a text

        return Finder.at_home(atlas).site(site, crs=crs, uncertainty_ft=uncertainty_ft)
    if isinstance(site, Site):
        if crs is not None:
            raise SiteError(f"A Site's geometry is in EPSG:3424, and crs={crs!r} was given. Leave crs out.")
        if not uncertainty_ft:
            return site
        if site.uncertainty_ft:
            raise SiteError(
                f"The site has uncertainty_ft={site.uncertainty_ft:g}, and uncertainty_ft={uncertainty_ft:g} was given "
                "with it. Expected one of them; give it once."
            )
        return replace(site, uncertainty_ft=uncertainty_ft)
    if isinstance(site, shapely.Geometry):
        if not shapely.is_valid(site):
            # Before it is projected: cutting its sides would quietly drop parts of it.
            raise SiteError(
                f"The geometry is not valid ({shapely.is_valid_reason(site)}). Expected rings that do not cross. "
                "Repair it, and look at the result."
            )
        name = parse_crs(crs) if crs is not None else WORKING_CRS
        problem = None if name == WORKING_CRS else misfit(np.asarray(shapely.get_coordinates(site)), name)
        if problem is not None and problem.kind in {"swapped", "sign"}:
            raise SiteError(f"The geometry in {name}: {problem.hint}. Expected x (or longitude) first; correct it.")
        return Site(
            typed=site.wkt,
            located_by=f"geometry in {name}",
            geometry=to_working_geometry(site, crs=name),
            uncertainty_ft=uncertainty_ft,
        )
    raise SiteError(
        f"The site was given as {type(site).__name__}: {str(site)[:80]!r}. Expected text such as "
        "'40.7344,-74.1641', a Site (Site.from_lonlat makes one), or a shapely geometry; give one of these."
    )


class _Engines(dict[tuple[object, ...], Engine]):
    """The engines of one atlas, kept with it and gone with it; they do not travel with copies of the atlas."""

    def __reduce__(self) -> tuple[type[_Engines], tuple[()]]:
        """Copy and pickle as empty: engines know clauses by their place in memory."""
        return _Engines, ()


def _shipped_engine(atlas: Atlas, rulebook_id: str, readings: Mapping[str, str]) -> Engine:
    """Return an engine that is bound once for many calls.

    An engine refers to its atlas, so a table of engines anywhere else, weak keys or not, would keep every atlas.
    """
    engines: _Engines = vars(atlas).setdefault("_engines", _Engines())
    key = (rulebook_id, atlas.as_of, *readings.items())
    found = engines.get(key)
    if found is None or found.atlas is not atlas:
        found = Engine(atlas, load_rulebook(rulebook_id), readings)
        if len(engines) >= _MOST_ENGINES:
            del engines[next(iter(engines))]
        engines[key] = found
    return found


def _check_place(leaves: Leaves, site: Site) -> None:
    """Refuse a place outside New Jersey, or one that is nowhere near the municipality that a parcel number says."""
    if site.geometry is None:
        return
    stated = leaves.placement.kinds[0] is PlacementKind.CERTAIN and site.mun_code is not None
    by_lines = place_by_lines(leaves) if stated else leaves.placement
    if by_lines.kinds[0] is PlacementKind.OUTSIDE:
        raise OutsideNewJerseyError(outside_words(site))
    layer = leaves.atlas.layer("municipalities")
    if not stated or layer is None:
        return
    areas = [
        layer.geometry(int(i)) for i in layer.select(as_of=leaves.atlas.as_of) if layer.key(int(i)) == site.mun_code
    ]
    away = min((float(shapely.distance(area, site.geometry)) * FT_PER_FTUS for area in areas), default=0.0)
    if away > said_limit_ft(leaves.sites.uncertainty_ft)[0]:
        names = leaves.membership
        here = " or ".join(f"{names.name(code)} ({code})" for code in by_lines.codes_of(0)[:1])
        says = " ".join(["parcel number", *site.pins]) if site.mun_basis == "pin" else "statement"
        raise SiteError(
            f"The place lies in or nearest to {here} by its lines, {feet(away)} from "
            f"{names.name(str(site.mun_code))} ({site.mun_code}), where the {says} puts it. Expected a place in that "
            "municipality or on its line; correct either."
        )


@dataclass(frozen=True)
class Directory:
    """The municipalities of an atlas, as the locating step wants them."""

    atlas: Atlas

    @property
    def names(self) -> Mapping[str, tuple[str, str]]:
        """Name and county by `mun_code`."""
        return self.atlas.municipal_names


def _finding(
    category_id: str, run: Evaluation, would_decide: tuple[Missing, ...], differing: dict[str, OutcomeWord] | None
) -> Finding:
    category = run.bound.rulebook.category(category_id)
    clause = run.bound.clauses[category_id]
    values = run.category(category_id)
    answer, leaning = values.first, int(values.outcomes[LEANING, 0])
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
        margin_ft=round(margin, 1) + 0.0 if isfinite(margin) else None,
        why=_why(outcome, evidence) or f"no clause of it is in force on {run.bound.as_of}",
        causes=tuple(Cause(int(values.causes[0])).words),
        assumed=assumed,
        assumptions=tuple(e.words for e in evidence if e.assumed) if assumed else (),
        # What is undetermined is not known at all; only the definition has a status then.
        status=weakest([category.status, status_of(clause, run)]) if answer else category.status,
        readings=_readings(category.readings, leaves, run),
        under_other_readings=differing,
        evidence=evidence,
        would_decide=would_decide,
    )


def _why(outcome: Outcome, evidence: tuple[Evidence, ...]) -> str:
    same = [e for e in evidence if e.outcome == outcome.value] or list(evidence)
    # Layers before facts: what somebody can load stands before what somebody must state.
    same.sort(key=lambda e: e.fact is not None)
    words = list(dict.fromkeys(e.words for e in same))
    # That a site is in New Jersey goes without saying where anything else does.
    words = [w for w in words if w != IN_NEW_JERSEY] or words
    shown = words[:3]
    more = f"; and {len(words) - 3} more" if len(words) > 3 else ""  # noqa: PLR2004 - three are readable
    return "; ".join(shown) + more


def _readings(own: tuple[str, ...], leaves: tuple[Clause, ...], run: Evaluation) -> dict[str, str]:
    """Return the readings that a category and its deciding clauses name, with the options taken."""
    named = {*own, *(reading for leaf in leaves for reading in leaf.node.readings)}
    return {i: run.bound.readings[i] for i in sorted(named, key=lambda i: int(i[1:]))} if named else {}


def need_words(need: str, atlas: Atlas) -> str:
    """Return a missing thing, as `deciding_sets` names it, as something to do."""
    kind, _, name = need.partition(":")
    if kind == "layer":
        return f"load {atlas.manifests[name].title}"
    if kind == "fact":
        definition = load_facts()[name]
        who = " (an official finding)" if definition.kind == "ruling" else ""
        return f"state {name}{who}"
    if kind == "reading":
        reading = load_readings()[name]
        deciding = [option for option in reading.options if option != "undetermined"]
        typed = f": --reading {name}={joined(deciding)}" if reading.kind == "option" else ""
        return f"choose a reading of {name} ({reading.title}{typed})"
    if kind == "position":
        return f"a better position for the site or for {atlas.manifests[name].title}"
    return {"place": "give the site's location", "municipality": "state the municipality or a parcel number"}[kind]
