"""What a clause saw, in words and figures, for one site."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from grownj_geo.designations import deciding_listings, load_lists
from grownj_geo.determination import Evidence, Interval
from grownj_geo.facts import load_facts
from grownj_geo.logic import Cause, Outcome
from grownj_geo.manifest import STATUS_ORDER
from grownj_geo.nodes import (
    CategoryNode,
    ContainsFeatureNode,
    CountyInNode,
    DesignatedNode,
    InNewJerseyNode,
    InsideNode,
    MunicipalityInNode,
    Node,
    OverlapsNode,
    RatioNode,
    ShareOverNode,
    SiteFactNode,
    UndeterminedNode,
    Where,
    Within,
    WithinNode,
)
from grownj_geo.somewherewords import one_name, somewhere_in_words, somewhere_within_words
from grownj_geo.units import miles_to_ft
from grownj_geo.values import ANSWER, STRICT
from grownj_geo.words import (
    asked_words,
    count_words,
    coverage_words,
    distance_words,
    feature_named,
    feet,
    joined,
    lacking_figure,
    list_words,
    noun_of,
    other_features,
    own_distance,
    percent,
    place_words,
    ratio_words,
    stated_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grownj_geo.binding import Clause
    from grownj_geo.evaluate import Evaluation
    from grownj_geo.layer import Layer
    from grownj_geo.leaves import Leaves
    from grownj_geo.values import Values

    Found = dict[str, Any]

__all__ = [
    "IN_NEW_JERSEY",
    "clause_label",
    "cut_share",
    "deciding_leaves",
    "evidence_of",
    "feet",
    "interval",
    "percent",
    "place_words",
    "stated_words",
    "status_of",
    "weakest",
]

IN_NEW_JERSEY = "in New Jersey"
_DECISIVE = {"any": 1, "all": -1, "not": 0}
"""The outcome of one part that decides a joint clause; 0 where it is that of the only part, turned round."""

_RANK = {status: rank for rank, status in enumerate(STATUS_ORDER)}

_SHARE_DIGITS = 6
_NAMED = {
    Outcome.YES: "which is one of those named",
    Outcome.NO: "which is none of those named",
    Outcome.UNDETERMINED: "so not certain whether one of those named",
}


def interval(low: float, value: float, high: float, *, digits: int = 1) -> Interval:
    """Return an interval with null for what is not known, rounded so that records compare by bytes."""
    return Interval(low=_clean(low, digits), value=_clean(value, digits), high=_clean(high, digits))


def _clean(value: float, digits: int = 1) -> float | None:
    return round(float(value), digits) + 0.0 if math.isfinite(value) else None


def deciding_leaves(clause: Clause, run: Evaluation) -> tuple[Clause, ...]:
    """Return the leaf clauses that decided a clause for the first site, or left it open, in order, each once."""
    found = run.deciding.get(clause.path)
    if found is None:
        leaves = {leaf.path: leaf for leaf in _deciding(clause, run)}
        found = run.deciding[clause.path] = tuple(leaves.values())
    return found


def _deciding(clause: Clause, run: Evaluation) -> Iterator[Clause]:
    if clause.operator == "category":
        yield from deciding_leaves(run.bound.clauses[clause.content], run)
        return
    decisive = _DECISIVE.get(clause.operator)
    if decisive is None:
        yield clause
        return
    answer = run.answers[clause.path]
    if decisive == 0:
        wanted: tuple[int, ...] = (-answer,)
    else:
        wanted = (answer,) if answer in {decisive, 0} else (1, 0, -1)
    for child in clause.active:
        if run.answers.get(child.path) in wanted or child.in_force == "unsure":
            yield from _deciding(child, run)


def status_of(clause: Clause, run: Evaluation) -> str:
    """Return how well the first site's outcome of a clause is known.

    One sufficient ground makes an outcome as strong as the ground; where all must hold, the weakest counts.
    """
    found = run.statuses.get(clause.path)
    if found is None:
        found = run.statuses[clause.path] = _status(clause, run)
    return found


def _status(clause: Clause, run: Evaluation) -> str:
    own = clause.status or "confirmed"
    if isinstance(clause.node, CategoryNode):
        category = run.bound.rulebook.category(clause.node.category)
        return weakest([own, category.status, status_of(run.bound.clauses[category.id], run)])
    if not clause.children:
        return weakest([own, evidence_of(clause, run).status or "confirmed"])
    answer = run.answers[clause.path]
    # What a clause needs of its parts: the same outcome, or the opposite below a "not".
    wanted = -answer if clause.operator == "not" else answer
    parts = [
        status_of(child, run) for child in clause.children if child.counts and run.answers.get(child.path) == wanted
    ]
    if not parts:
        return own
    sufficient = answer == {"any": 1, "all": -1}.get(clause.operator)
    return weakest([own, min(parts, key=_RANK.__getitem__) if sufficient else weakest(parts)])


def weakest(statuses: Sequence[str]) -> str:
    """Return the weakest of some statuses.

    Examples
    --------
    >>> weakest(["confirmed", "secondary", "derived"])
    'secondary'
    """
    return max(statuses, key=_RANK.__getitem__)


def evidence_of(clause: Clause, run: Evaluation) -> Evidence:
    """Return what a leaf clause saw for the first site."""
    found = run.evidence.get(clause.path)
    if found is None:
        # What waits for a layer or a fact reads the same for every site.
        values = run.seen(clause.path)
        if values is None:
            raise RuntimeError(f"The clause {clause.path} was not evaluated, or its values were not kept.")
        common = run.common if _is_common(clause, Cause(int(values.causes[0]))) else run.evidence
        found = common.get(clause.path)
        if found is None:
            found = common[clause.path] = _evidence(clause, run, values)
        run.evidence[clause.path] = found
    return found


def _is_common(clause: Clause, causes: Cause) -> bool:
    if isinstance(clause.node, SiteFactNode):
        waits = Cause.FACT_MISSING in causes
        return waits and (clause.node.site_fact.supported_by is None or Cause.LAYER_MISSING in causes)
    return causes == Cause.LAYER_MISSING


def _evidence(clause: Clause, run: Evaluation, values: Values) -> Evidence:  # noqa: C901 - one branch for each operator
    leaves = run.leaves
    node = clause.node
    outcome = Outcome.of(values.first)
    causes = Cause(int(values.causes[0]))
    found: Found = {}
    if isinstance(node, InsideNode | OverlapsNode):
        where = node.inside if isinstance(node, InsideNode) else node.overlaps
        words = _layer_words(leaves, where, outcome, causes, values, found)
    elif isinstance(node, WithinNode | ShareOverNode):
        words = _radius_words(leaves, node, outcome, causes, found)
    elif isinstance(node, DesignatedNode):
        words = _list_words(leaves, node, outcome, causes, found)
    elif isinstance(node, SiteFactNode):
        words = _fact_words(leaves, node, outcome, causes, values, found)
    elif isinstance(node, ContainsFeatureNode):
        words = _feature_words(leaves, clause, run, outcome, causes, found)
    elif isinstance(node, CountyInNode):
        counties = list(dict.fromkeys(leaves.membership.county(code) for code in leaves.placement.codes_of(0)))
        words = " or ".join(f"{county} County" for county in counties if county) or "county not known"
        if causes:
            words = f"the municipality is not certain; {words}"
    elif isinstance(node, InNewJerseyNode):
        words = IN_NEW_JERSEY if outcome is Outcome.YES else place_words(leaves)
    elif isinstance(node, MunicipalityInNode):
        words = f"{place_words(leaves)}, {_NAMED[outcome]}"
    elif isinstance(node, RatioNode):
        words = _ratio_words(leaves, node, causes, values, found)
    elif isinstance(node, UndeterminedNode):
        words = node.undetermined.why
    else:  # pragma: no cover - every leaf operator is above
        words = ""

    return Evidence(
        clause=clause.path,
        label=clause_label(clause, run),
        outcome=outcome.value,
        words=words,
        citation=clause.citation,
        status=_leaf_status(clause, run, found.pop("status", None), decided=outcome is not Outcome.UNDETERMINED),
        causes=tuple(causes.words),
        margin_ft=_clean(values.margin()),
        readings=clause.node.readings,
        **found,
    )


def _leaf_status(clause: Clause, run: Evaluation, seen: str | None, *, decided: bool) -> str | None:
    """Return the weakest status of what was seen, of the clause, and of the figures and lists that it names."""
    statuses = [status for status in (seen, clause.status) if status]
    if statuses or decided:
        parameters = run.bound.rulebook.parameters
        statuses += [parameters[name].at(run.bound.as_of).status for name in clause.parameters]
    return weakest(statuses) if statuses else None


def clause_label(clause: Clause, run: Evaluation) -> str:
    """Return what a clause is called: by its own label, by what it names, or by its place in the rulebook."""
    node = clause.node
    if node.label:
        return node.label
    if isinstance(node, CategoryNode):
        return run.bound.rulebook.category(node.category).label
    category_id, *steps = clause.path.split(".")
    if not steps:
        return run.bound.rulebook.category(category_id).label
    return (
        _named(node, run)
        or (node.id or "").replace("_", " ")
        or {"any": "one of these", "all": "all of these"}.get(clause.operator, "clause")
    )


def _named(node: Node, run: Evaluation) -> str:
    """Return the name of what an unlabelled leaf asks about; empty for a joint clause."""
    if isinstance(node, SiteFactNode):
        return load_facts()[node.site_fact.name].label
    if isinstance(node, DesignatedNode):
        return f"among the {load_lists()[node.designated.list].label}"
    if isinstance(node, UndeterminedNode):
        return "a point left open"
    if isinstance(node, InsideNode | OverlapsNode):
        where: Where = node.inside if isinstance(node, InsideNode) else node.overlaps
    elif isinstance(node, WithinNode | ShareOverNode):
        where = node.within if isinstance(node, WithinNode) else node.share_over
    else:
        return ""
    return run.leaves.atlas.manifests[where.layer].title


# -- what each operator saw ----------------------------------------------------------------------------


def _noted_status(leaves: Leaves, layer_id: str, index: int) -> str:
    """Return how well a feature is known: by its own status where it has one, else by its layer's."""
    layer = leaves.layer(layer_id)
    own = "" if layer is None or index < 0 else layer.value("status", index)
    return own if own in STATUS_ORDER else leaves.atlas.manifests[layer_id].status


def _record_feature(layer: Layer, index: int, found: Found) -> str:
    """Record a feature's key and name; a key that only says which bound it is tells nothing."""
    bound = layer.manifest.key_field is not None and layer.manifest.key_field == layer.manifest.bound_field
    found["feature"], found["feature_name"] = None if bound else layer.key(index), layer.name(index)
    return feature_named(layer, index)


def _unavailable_words(leaves: Leaves, layer_id: str, outcome: Outcome, found: Found) -> str:
    state = leaves.atlas.state(layer_id)
    if state.status == "unusable":
        return f"{state.manifest.title} could not be used: {state.problem}"
    if state.status == "loaded":
        return f"{state.manifest.title} left out: its edition is not known to hold on the day (A43=strict)"
    if outcome is Outcome.NO:
        extent = state.manifest.extent
        by_county = extent.counties is not None and bool(leaves.membership.outside_counties(extent.counties)[0])
        found["status"] = extent.status if by_county else extent.designation_status or extent.status
        codes = leaves.placement.codes_of(0)
        county = leaves.membership.county(codes[0]) if codes else ""
        return f"{state.manifest.title} cannot lie here ({place_words(leaves)}{f', {county} County' if county else ''})"
    return f"{state.manifest.title} not loaded"


def _layer_words(  # noqa: PLR0917 - all of it is asked, in order
    leaves: Leaves, where: Where, outcome: Outcome, causes: Cause, values: Values, found: Found
) -> str:
    found["layer"] = where.layer
    measured, layer = leaves.coverage(where), leaves.layer(where.layer)
    if measured is None or layer is None:
        return _unavailable_words(leaves, where.layer, outcome, found)
    index = int(measured.feature[0])
    found["edition"] = layer.manifest.edition
    found["status"] = _noted_status(leaves, where.layer, index)
    if Cause.LOCATION_UNKNOWN in causes:
        return "the site's location is not known"
    share = float(measured.share[0])
    found["share"] = _share_interval(float(measured.share_low[0]), share, float(measured.share_high[0]))
    if index >= 0:
        _record_feature(layer, index, found)
    if not leaves.sites.placed[0]:
        return somewhere_in_words(leaves, layer, where, share=share, causes=causes)
    lacking = lacking_figure(leaves, layer, where) if Cause.LIST_UNKNOWN in causes else None
    if lacking is not None:
        _record_feature(layer, lacking[0], found)
        return lacking[1]
    return coverage_words(leaves, layer, where, outcome=outcome, share=share, margin=values.margin(), causes=causes)


def _share_interval(low: float, value: float, high: float) -> Interval:
    """Return shares with digits enough that a part is never recorded as nothing or as the whole."""
    parts = [share for share in (low, value, high) if 0 < share < 1]
    fine = any(round(share, _SHARE_DIGITS) in {0.0, 1.0} for share in parts)
    return interval(low, value, high, digits=2 * _SHARE_DIGITS if fine else _SHARE_DIGITS)


def _radius_words(  # noqa: PLR0911 - one for each thing that can be missing
    leaves: Leaves, node: WithinNode | ShareOverNode, outcome: Outcome, causes: Cause, found: Found
) -> str:
    where = node.within if isinstance(node, WithinNode) else node.share_over
    found["layer"] = where.layer
    measured, layer = leaves.distance(where), leaves.layer(where.layer)
    if measured is None or layer is None:
        return _unavailable_words(leaves, where.layer, outcome, found)
    radius = miles_to_ft(leaves.bound.figures[where.radius])
    index = -1 if Cause.LOCATION_UNKNOWN in causes else int(measured.feature[0])
    found["edition"], found["radius_ft"] = layer.manifest.edition, round(radius, 1)
    found["status"] = _noted_status(leaves, where.layer, index)
    if Cause.LOCATION_UNKNOWN in causes:
        return "the site's location is not known"
    noun, ground = noun_of(where.layer), asked_words(where, layer.manifest.title, leaves.bound)
    if index < 0:
        return f"no {noun} of {ground} counts on this day"
    if not leaves.sites.placed[0]:
        # Nothing is computed of a place that is not known: the least and the greatest distance of any in it.
        found["distance_ft"] = interval(float(measured.near_low[0]), math.nan, float(measured.far_high[0]))
        if float(measured.far_high[0]) <= radius or one_name(leaves, layer, where):
            _record_feature(layer, index, found)
        return somewhere_within_words(leaves, layer, where, radius)
    name = _record_feature(layer, index, found) or f"the nearest {noun} of {ground}"
    own = own_distance(leaves, layer, where, index)
    found["distance_ft"] = interval(float(own.near_low[0]), float(own.near[0]), float(own.near_high[0]))
    others = other_features(leaves, layer, where, (name, own), measured)
    if isinstance(node, WithinNode):
        cut = _cut_words(leaves, where, found)
        return f"{distance_words(name, own, radius, whole=where.part == 'whole')}{others}; radius {feet(radius)}{cut}"
    share = leaves.share_of(where)
    found["share"] = _share_interval(*share)
    if not leaves.sites.points[0]:
        return f"{_part_words(share)} of the site is within {feet(radius)} of {name}{others}"
    if share[0] == 1:
        return f"the point is within {feet(radius)} of {name}{others}; the land area is not known"
    away = distance_words(name, own, radius, whole=False)
    return f"{away}{others}; radius {feet(radius)}; the land area is not known"


def _cut_words(leaves: Leaves, where: Within, found: Found) -> str:
    """Return how much of the first site is within a radius whose line cuts it; empty where it does not."""
    share = cut_share(leaves, where)
    if share is None:
        return ""
    found["share"] = _share_interval(*share)
    return f", which takes in {_part_words(share)} of the site"


def cut_share(leaves: Leaves, where: Within) -> tuple[float, float, float] | None:
    """Return the least, computed and greatest share of the first site within a radius that may cut it.

    None for a point, for a radius whose line runs clear of the site, or where less of it is cut off than shares are
    told apart by.
    """
    measured = leaves.distance(where)
    if measured is None or leaves.sites.points[0] or where.part == "any":
        return None
    radius = miles_to_ft(leaves.bound.figures[where.radius])
    if not float(measured.near_low[0]) <= radius < float(measured.far_high[0]):
        return None
    share = leaves.share_of(where)
    return None if share[0] == share[2] and share[0] in {0.0, 1.0} else share


def _part_words(share: tuple[float, float, float]) -> str:
    low, value, high = share
    return f"between {percent(low)} and {percent(high)}" if math.isnan(value) else percent(value)


def _list_words(leaves: Leaves, node: DesignatedNode, outcome: Outcome, causes: Cause, found: Found) -> str:
    found["layer"] = "designations"
    listed = leaves.membership.listings(node.designated.list)
    if listed is None:
        return _unavailable_words(leaves, "designations", Outcome.UNDETERMINED, found)
    day = leaves.bound.as_of if node.designated.dated else None
    rows = [row for code in leaves.placement.codes_of(0) for row in deciding_listings(listed.get(code, ()), day)]
    if rows:
        found["status"] = weakest([row.status for row in rows])
    if Cause.LAYER_UNUSABLE in causes:
        return _unavailable_words(leaves, "municipalities", Outcome.UNDETERMINED, found)
    return list_words(leaves, node, listed, outcome)


def _fact_words(  # noqa: PLR0917 - all of it is asked, in order
    leaves: Leaves, node: SiteFactNode, outcome: Outcome, causes: Cause, values: Values, found: Found
) -> str:
    fact = node.site_fact
    found["fact"] = fact.name
    stated = leaves.facts.get(fact.name)
    if stated is not None and stated[0] is not None:
        return f"stated by the user: {fact.name} = {stated_words(stated[0])}"
    if fact.assume is not None and values.outcomes[ANSWER, 0] != values.outcomes[STRICT, 0]:
        found["assumed"] = True
        return f"assumed: {fact.assume.words}"
    if fact.supported_by is not None:
        words = _layer_words(leaves, fact.supported_by, outcome, causes, values, found)
        return f"{words}; {fact.name} not stated" if outcome is Outcome.UNDETERMINED else words
    return f"{fact.name} not stated"


def _feature_words(  # noqa: PLR0911, PLR0917 - one for each outcome of the features there
    leaves: Leaves, clause: Clause, run: Evaluation, outcome: Outcome, causes: Cause, found: Found
) -> str:
    node = clause.node
    assert isinstance(node, ContainsFeatureNode)  # noqa: S101 - the caller looked
    want = node.contains_feature
    layer = leaves.layer(want.layer)
    found["layer"] = want.layer
    if layer is None:
        return _unavailable_words(leaves, want.layer, outcome, found)
    place, here = place_words(leaves), set(leaves.placement.codes_of(0))
    there = [(i, value) for i, value, *_ in leaves.feature_outcomes(node) if layer.value("mun_code", i) in here]
    names = {
        value: joined((layer.name(i) for i, v in there if v == value), "and")
        for value in (1, 0, -1)
        if any(v == value for _, v in there)
    }
    found["edition"] = layer.manifest.edition
    found["status"] = weakest([_noted_status(leaves, want.layer, i) for i, _ in there] or [layer.manifest.status])
    ground = run.bound.rulebook.category(want.at_feature).label if want.at_feature else ""
    if 1 in names and (outcome is Outcome.YES or causes):
        return f"{place} contains {names[1]}"
    if 0 in names:
        return f"{place} contains {names[0]}; undetermined there: {ground or 'its count, or since when it counts'}"
    if -1 in names:
        return f"{place} contains {names[-1]}, but the ground there is not: {ground}"
    if causes:
        return place
    if want.count is None:
        return f"no such {noun_of(want.layer)} in {place}"
    candidates = layer.select(want.selection, as_of=leaves.bound.as_of)
    least = leaves.bound.figures[want.count.at_least]
    return count_words(leaves, layer, want.count.field, least, candidates)


def _ratio_words(leaves: Leaves, node: RatioNode, causes: Cause, values: Values, found: Found) -> str:
    assume = node.ratio.assume
    if assume is not None and values.outcomes[ANSWER, 0] != values.outcomes[STRICT, 0]:
        found["assumed"] = True
        return f"assumed: {assume.words}"
    return ratio_words(node.ratio, leaves, causes)
