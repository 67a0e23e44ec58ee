"""One site against one atlas: the determination."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.binding import BoundRulebook, bind
from grownj_geo.categoryfinding import SitesAlike, finding_of
from grownj_geo.crs import misfit, parse_crs
from grownj_geo.determination import Determination, LayerRecord, software
from grownj_geo.errors import OutsideNewJerseyError, SiteError
from grownj_geo.evaluate import Evaluation
from grownj_geo.evidence import feet
from grownj_geo.facts import check_facts
from grownj_geo.leaves import Leaves
from grownj_geo.logic import Outcome
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
from grownj_geo.sitetable import SiteTable
from grownj_geo.units import FT_PER_FTUS, WORKING_CRS, to_working_geometry
from grownj_geo.values import ANSWER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import date

    from grownj_geo.atlas import Atlas
    from grownj_geo.determination import Evidence, OutcomeWord, RulebookRecord
    from grownj_geo.rulebook import Category
    from grownj_geo.site import FactValue

    _Differing = dict[str, dict[str, OutcomeWord]]

__all__ = ["Directory", "Engine", "determine"]

DISCLAIMER = (
    "Computed from public facts and maps; not the New Jersey Economic Development Authority's determination "
    "and not legal advice."
)

_MOST_ENGINES = 16
_MOST_TOGETHER = 256


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
        self._check_municipality(site)
        leaves = self._leaves([site])
        _check_place(leaves, site)
        return self._evaluated(leaves)

    def _check_municipality(self, site: Site) -> None:
        """Refuse a municipality that there is not."""
        names = self.atlas.municipal_names
        if site.mun_code is not None and names and site.mun_code not in names:
            raise SiteError(
                f"The site's municipality is {site.mun_code!r}, which is no municipality of {self.atlas.as_of}. "
                "Expected its four-digit Treasury code, as in '0408' for Camden City; correct mun_code."
            )

    def _leaves(self, sites: Sequence[Site]) -> Leaves:
        """Return what computes the leaf clauses for some sites."""
        stated = [check_facts(site.facts) for site in sites]
        names = dict.fromkeys(name for facts in stated for name in facts)
        facts: dict[str, list[FactValue | None]] = {name: [facts.get(name) for facts in stated] for name in names}
        return Leaves(self.bound, self.atlas, SiteTable.of(sites), facts, feature_cache=self.feature_cache)

    def _evaluated(self, leaves: Leaves) -> Evaluation:
        """Return the evaluation of some sites, all categories computed and kept."""
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

    def _under_other_readings(self, run: Evaluation) -> list[_Differing]:
        """Return, by site and category, the outcomes that differ under the other readings of the circles."""
        categories = [category.id for category in self._asked]
        found: list[_Differing] = [{category: {} for category in categories} for _ in range(run.leaves.n)]
        for label, other in self.others.items():
            changed = self._changed[label]
            again = Evaluation(other.bound, other.same_sites(run.leaves), keep=False, margins=False)
            again.take({category: run.category(category) for category in self.bound.clauses if category not in changed})
            for category in filter(changed.__contains__, categories):
                here, there = (one.category(category).outcomes[ANSWER] for one in (run, again))
                for site in np.flatnonzero(here != there).tolist():
                    found[site][category][label] = Outcome.of(int(there[site])).value
        return found

    @cached_property
    def _alike(self) -> SitesAlike:
        """What sites have in common that leave the same points open."""
        return SitesAlike([category.id for category in self._asked], self.atlas)

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
        differing = self._under_other_readings(run)[0] if other_readings else None
        return self._record(site, run, differing, determined_on)

    def determine_each(
        self, sites: Sequence[Site], *, determined_on: date | None = None, other_readings: bool = False
    ) -> Iterator[Determination | SiteError | OutsideNewJerseyError]:
        """Yield what `determine` says of each of many sites: its determination, or the error that refuses it.

        The sites are measured and evaluated together, which takes about half the time.

        Parameters
        ----------
        sites
            The sites.
        other_readings, determined_on
            As for `determine`.

        Raises
        ------
        FactError
            For an unknown fact or a value that does not fit it, of any of the sites.
        """
        for start in range(0, len(sites), _MOST_TOGETHER):
            block = sites[start : start + _MOST_TOGETHER]
            refused: dict[int, SiteError | OutsideNewJerseyError] = {}
            for position, site in enumerate(block):
                try:
                    self._check_municipality(site)
                except SiteError as error:
                    refused[position] = error
            kept = [site for position, site in enumerate(block) if position not in refused]
            answers = iter(self._together(kept, determined_on, other_readings=other_readings))
            for position in range(len(block)):
                yield refused[position] if position in refused else next(answers)

    def _together(
        self, sites: Sequence[Site], determined_on: date | None, *, other_readings: bool
    ) -> Iterator[Determination | SiteError | OutsideNewJerseyError]:
        """Yield the determinations of sites whose municipalities there are, evaluated at once."""
        if not sites:
            return
        run = self._evaluated(self._leaves(sites))
        differing = self._under_other_readings(run) if other_readings else None
        for row, site in enumerate(sites):
            one = run.row(row)
            try:
                _check_place(one.leaves, site)
            except (SiteError, OutsideNewJerseyError) as error:
                yield error
                continue
            yield self._record(site, one, differing[row] if differing else None, determined_on)

    @cached_property
    def _asked(self) -> tuple[Category, ...]:
        """The categories that determinations have findings of: all but building blocks."""
        return tuple(category for category in self.rulebook.categories if category.kind != "ground")

    def _record(
        self, site: Site, run: Evaluation, differing: _Differing | None, determined_on: date | None
    ) -> Determination:
        """Return the determination that an evaluation of one site comes to."""
        alike = self._alike.of(run)
        findings = tuple(
            finding_of(category, run, alike, None if differing is None else differing[category.id])
            for category in self._asked
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
