"""One site against one atlas: the determination."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib import metadata
from math import isfinite
from typing import TYPE_CHECKING

import shapely

from grownj_geo.determination import Determination, Finding, LayerRecord, Missing, RulebookRecord
from grownj_geo.errors import OutsideNewJerseyError
from grownj_geo.evaluate import ANSWER, LEANING, STRICT, BoundRulebook, Clause, Evaluation, bind
from grownj_geo.evidence import IN_NEW_JERSEY, deciding_leaves, evidence_of, status_of, weakest
from grownj_geo.facts import check_facts, load_facts
from grownj_geo.leaves import Leaves
from grownj_geo.locate import locate
from grownj_geo.logic import Cause, Outcome
from grownj_geo.observe import SiteTable
from grownj_geo.place import PlacementKind
from grownj_geo.readings import load_readings, resolve_readings
from grownj_geo.records import (
    cautions_of,
    nearest_stations,
    not_checked,
    outside_words,
    place_record,
    site_record,
    tier_record,
    wording_of,
)
from grownj_geo.rulebook import Rulebook, load_rulebook
from grownj_geo.site import Site
from grownj_geo.whatif import deciding_sets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from grownj_geo.atlas import Atlas
    from grownj_geo.determination import Evidence, OutcomeWord
    from grownj_geo.site import FactValue

__all__ = ["Engine", "determine"]

DISCLAIMER = (
    "Computed from public facts and maps; not the New Jersey Economic Development Authority's determination "
    "and not legal advice (A36)."
)


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
    _common: dict[str, Evidence] = field(default_factory=dict)
    _missing: dict[tuple[str, ...], Missing] = field(default_factory=dict)

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
        FactError
            For an unknown fact or a value that does not fit it.
        """
        facts: dict[str, list[FactValue | None]] = {name: [value] for name, value in check_facts(site.facts).items()}
        leaves = Leaves(self.bound, self.atlas, SiteTable.of([site]), facts, feature_cache=self._feature_cache)
        if leaves.placement.kinds[0] is PlacementKind.OUTSIDE:
            raise OutsideNewJerseyError(outside_words(site))
        run = Evaluation(self.bound, leaves, common=self._common)
        for category in self.rulebook.categories:
            run.category(category.id)
        return run

    @cached_property
    def others(self) -> dict[str, Engine]:
        """Engines under each reading of the rulebook's circles that was not chosen, by ``"A11=strict"``."""
        return {
            f"{reading}={option}": Engine(self.atlas, self.rulebook, {**self.readings, reading: option})
            for reading in self.rulebook.circles
            for option in load_readings()[reading].options
            if option != self.bound.readings[reading]
        }

    def _under_other_readings(self, run: Evaluation, categories: Sequence[str]) -> dict[str, dict[str, OutcomeWord]]:
        """Return, by category, the outcomes that differ under the other readings of the circles."""
        found: dict[str, dict[str, OutcomeWord]] = {category: {} for category in categories}
        for label, other in self.others.items():
            leaves = run.leaves.under(other.bound, feature_cache=other._feature_cache)  # noqa: SLF001 - of this class
            again = Evaluation(other.bound, leaves, keep=False, margins=False)
            for category in categories:
                there = int(again.category(category).outcomes[ANSWER, 0])
                if there != int(run.category(category).outcomes[ANSWER, 0]):
                    found[category][label] = Outcome.of(there).value
        return found

    def _named(self, needs: tuple[str, ...]) -> Missing:
        """Return a set of missing things with its words; there are few, so each is made once."""
        if needs not in self._missing:
            words = " and ".join(_need_words(need, self.atlas) for need in needs)
            self._missing[needs] = Missing(needs=needs, words=words)
        return self._missing[needs]

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
        sets = deciding_sets(run, [c.id for c in categories])
        differing = self._under_other_readings(run, [c.id for c in categories]) if other_readings else {}
        findings = tuple(
            _finding(
                category.id,
                run,
                tuple(self._named(needs) for needs in sets.get(category.id, ())),
                differing.get(category.id, {}),
            )
            for category in categories
        )
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
            wording=wording_of(self.rulebook, self.atlas.as_of),
            site=site_record(site),
            place=place_record(run.leaves, site),
            tier=tier_record(run),
            findings=findings,
            stations=nearest_stations(run.leaves),
            assumptions=tuple(dict.fromkeys(a for f in findings for a in f.assumptions)),
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
    other_readings: bool = False,
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
    other_readings
        Say where another reading of the text's circles gives another outcome; the command line always does.
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
    if isinstance(site, str):
        site = locate(site, uncertainty_ft=uncertainty_ft, directory=Directory(atlas))
    elif isinstance(site, shapely.Geometry):
        site = Site(typed=site.wkt, located_by="geometry in EPSG:3424", geometry=site, uncertainty_ft=uncertainty_ft)
    stated = check_facts({**site.facts, **(facts or {})})
    site = Site(**{**site.__dict__, "facts": stated})
    chosen = tuple(sorted((readings or {}).items()))
    engine = (
        _shipped_engine(atlas, rulebook, chosen) if isinstance(rulebook, str) else Engine(atlas, rulebook, dict(chosen))
    )
    return engine.determine(site, determined_on=determined_on, other_readings=other_readings)


@lru_cache(maxsize=16)
def _shipped_engine(atlas: Atlas, rulebook_id: str, readings: tuple[tuple[str, str], ...]) -> Engine:
    """Bind once for many calls."""
    return Engine(atlas, load_rulebook(rulebook_id), dict(readings))


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


def _finding(
    category_id: str, run: Evaluation, would_decide: tuple[Missing, ...], differing: dict[str, OutcomeWord]
) -> Finding:
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
        margin_ft=round(margin, 1) + 0.0 if isfinite(margin) else None,
        why=_why(outcome, evidence),
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
    return "; ".join(shown) + more if shown else "nothing in force decides it"


def _readings(own: tuple[str, ...], leaves: tuple[Clause, ...], run: Evaluation) -> dict[str, str]:
    """Return the readings that a category and its deciding clauses name, with the options taken."""
    named = {*own, *(reading for leaf in leaves for reading in leaf.node.readings)}
    return {i: run.bound.readings[i] for i in sorted(named, key=lambda i: int(i[1:]))}


def _need_words(need: str, atlas: Atlas) -> str:
    kind, _, name = need.partition(":")
    if kind == "layer":
        return f"load {atlas.manifests[name].title}"
    if kind == "fact":
        definition = load_facts()[name]
        who = " (an official finding)" if definition.kind == "ruling" else ""
        return f"state {name}{who}"
    if kind == "reading":
        return f"choose a reading of {name}"
    if kind == "position":
        return f"a better position for the site or for {atlas.manifests[name].title}"
    return {"place": "give the site's location", "municipality": "state the municipality or a parcel number"}[kind]
