"""What a clause saw, in words and figures, for one site."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from grownj_geo.designations import load_lists
from grownj_geo.determination import Evidence, Interval
from grownj_geo.evaluate import ANSWER, STRICT, Clause, Evaluation, Values
from grownj_geo.facts import load_facts
from grownj_geo.logic import Cause, Outcome
from grownj_geo.nodes import (
    AllNode,
    AnyNode,
    CategoryNode,
    ContainsFeatureNode,
    CountyInNode,
    DesignatedNode,
    InNewJerseyNode,
    InsideNode,
    MunicipalityInNode,
    Node,
    NotNode,
    OverlapsNode,
    RatioNode,
    ShareOverNode,
    SiteFactNode,
    StatedNode,
    UndeterminedNode,
    Where,
    WithinNode,
)
from grownj_geo.place import PlacementKind
from grownj_geo.units import miles_to_ft

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grownj_geo.leaves import Leaves
    from grownj_geo.observe import Coverage, Distance
    from grownj_geo.site import FactValue

__all__ = [
    "IN_NEW_JERSEY",
    "clause_label",
    "deciding_leaves",
    "evidence_of",
    "feet",
    "interval",
    "place_words",
    "stated_words",
    "status_of",
    "weakest",
]

IN_NEW_JERSEY = "in New Jersey"
STATUS_ORDER = ("confirmed", "derived", "indirect", "secondary", "provisional", "unverified", "not_found")
"""How well something is known, strongest first."""


def feet(value: float) -> str:
    """Return a distance as people read it: feet below half a mile, miles beyond.

    Examples
    --------
    >>> feet(412.3), feet(26400)
    ('412 ft', '5.00 miles')
    """
    if abs(value) < 2640:  # noqa: PLR2004 - half a mile
        return f"{value:,.0f} ft"
    miles = f"{value / 5280:,.2f}"
    return f"{miles} mile" if miles == "1.00" else f"{miles} miles"


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
    node = clause.node
    if isinstance(node, CategoryNode):
        yield from deciding_leaves(run.bound.clauses[node.category], run)
        return
    if not isinstance(node, AnyNode | AllNode | NotNode):
        yield clause
        return
    answer = run.answers[clause.path]
    if isinstance(node, NotNode):
        wanted = {-answer}
    else:
        decisive = 1 if isinstance(node, AnyNode) else -1
        wanted = {answer} if answer in {decisive, 0} else {1, 0, -1}
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
    return weakest([own, min(parts, key=STATUS_ORDER.index) if sufficient else weakest(parts)])


def weakest(statuses: Sequence[str]) -> str:
    """Return the weakest of some statuses.

    Examples
    --------
    >>> weakest(["confirmed", "secondary", "derived"])
    'secondary'
    """
    return max(statuses, key=STATUS_ORDER.index)


def evidence_of(clause: Clause, run: Evaluation) -> Evidence:
    """Return what a leaf clause saw for the first site."""
    found = run.evidence.get(clause.path)
    if found is None:
        # What waits for a layer or a fact reads the same for every site.
        common = (
            run.common if _is_common(clause, Cause(int(run.clause_values[clause.path].causes[0]))) else run.evidence
        )
        found = common.get(clause.path)
        if found is None:
            found = common[clause.path] = _evidence(clause, run)
        run.evidence[clause.path] = found
    return found


def _is_common(clause: Clause, causes: Cause) -> bool:
    if isinstance(clause.node, SiteFactNode):
        waits = Cause.FACT_MISSING in causes
        return waits and (clause.node.site_fact.supported_by is None or Cause.LAYER_MISSING in causes)
    return causes == Cause.LAYER_MISSING


def _evidence(clause: Clause, run: Evaluation) -> Evidence:  # noqa: C901, PLR0912 - one branch for each operator
    values = run.clause_values[clause.path]
    leaves = run.leaves
    node = clause.node
    outcome = Outcome.of(int(values.outcomes[ANSWER, 0]))
    causes = Cause(int(values.causes[0]))
    found: dict[str, object] = {}
    if isinstance(node, InsideNode | OverlapsNode):
        where = node.inside if isinstance(node, InsideNode) else node.overlaps
        words = _layer_words(leaves, where, outcome, causes, values, found)
    elif isinstance(node, WithinNode | ShareOverNode):
        words = _radius_words(leaves, node, outcome, causes, found)
    elif isinstance(node, DesignatedNode):
        words = _list_words(leaves, node, causes, found)
    elif isinstance(node, SiteFactNode):
        words = _fact_words(leaves, node, outcome, causes, values, found)
    elif isinstance(node, ContainsFeatureNode):
        words = _feature_words(leaves, clause, outcome, causes, found)
    elif isinstance(node, CountyInNode):
        counties = list(dict.fromkeys(leaves.membership.county(code) for code in leaves.placement.codes_of(0)))
        words = " or ".join(f"{county} County" for county in counties if county) or "county not known"
        if causes:
            words = f"the municipality is not certain; {words}"
    elif isinstance(node, InNewJerseyNode):
        words = IN_NEW_JERSEY if outcome is Outcome.YES else place_words(leaves)
    elif isinstance(node, MunicipalityInNode):
        words = place_words(leaves) + (", which is one of those named" if outcome is Outcome.YES else "")
    elif isinstance(node, RatioNode):
        words = "computed from stated valuations" if not causes else "the valuations are not all stated"
    elif isinstance(node, StatedNode):
        words = f"{node.stated} is {'stated' if outcome is Outcome.YES else 'not stated'}"
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
        status=found.pop("status", None) or clause.status,
        causes=tuple(causes.words),
        margin_ft=_clean(values.margin()),
        readings=clause.node.readings,
        **found,
    )


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
    if isinstance(node, StatedNode):
        return f"whether it is stated: {load_facts()[node.stated].label}"
    if isinstance(node, InsideNode | OverlapsNode):
        where: Where = node.inside if isinstance(node, InsideNode) else node.overlaps
    elif isinstance(node, WithinNode | ShareOverNode):
        where = node.within if isinstance(node, WithinNode) else node.share_over
    else:
        return ""
    return run.leaves.atlas.manifests[where.layer].title


def _code(leaves: Leaves) -> str:
    codes = leaves.placement.codes_of(0)
    return codes[0] if codes else ""


def place_words(leaves: Leaves) -> str:
    """Return the site's municipality in words."""
    place = leaves.placement
    names = [leaves.membership.name(code) for code in place.codes_of(0)]
    if not names:
        return "municipality not known"
    kind = place.kinds[0]
    if kind is PlacementKind.CERTAIN:
        return names[0]
    if kind is PlacementKind.OFFSHORE:
        return f"outside every municipal polygon; nearest is {names[0]}"
    return ("in parts of " if kind is PlacementKind.SEVERAL else "one of ") + ", ".join(names)


def _layer_words(  # noqa: PLR0917 - all of it is asked, in order
    leaves: Leaves, where: Where, outcome: Outcome, causes: Cause, values: Values, found: dict[str, object]
) -> str:
    manifest = leaves.atlas.manifests[where.layer]
    found["layer"] = where.layer
    measured = leaves.coverage(where)
    if measured is None:
        if outcome is Outcome.NO:
            extent = manifest.extent
            by_county = extent.counties is not None and bool(leaves.outside_counties(extent.counties)[0])
            found["status"] = extent.status if by_county else extent.designation_status or extent.status
        return _unavailable_words(leaves, where.layer, outcome)
    found["edition"] = manifest.edition
    found["status"] = manifest.status
    if Cause.LOCATION_UNKNOWN in causes:
        return "the site's location is not known"
    _record_coverage(leaves, where, measured, found)
    share, margin = float(measured.share[0]), values.margin()
    title = manifest.title
    if math.isnan(share) and outcome is Outcome.UNDETERMINED:
        return f"perhaps in {title}: of its line only bounds are known, or a feature has no date"
    if 0 < share < 1:
        return f"{100 * share:.1f} % of the site is in {title}"
    side = "inside" if share == 1 else "outside"
    far = f", {feet(abs(margin))} from its line" if math.isfinite(margin) else ""
    if outcome is Outcome.UNDETERMINED:
        return f"{side} {title}{far}, which is nearer than the line is known"
    return f"{side} {title}{far}"


def _record_coverage(leaves: Leaves, where: Where, measured: Coverage, found: dict[str, object]) -> None:
    layer = leaves.layer(where.layer)
    found["share"] = interval(
        float(measured.share_low[0]), float(measured.share[0]), float(measured.share_high[0]), digits=6
    )
    index = int(measured.feature[0])
    if layer is not None and index >= 0:
        found["feature"], found["feature_name"] = layer.key(index), layer.name(index)


def _unavailable_words(leaves: Leaves, layer_id: str, outcome: Outcome) -> str:
    state = leaves.atlas.state(layer_id)
    if state.status == "unusable":
        return f"{state.manifest.title} could not be used: {state.problem}"
    if outcome is Outcome.NO:
        county = leaves.membership.county(_code(leaves))
        return f"{state.manifest.title} cannot lie here ({place_words(leaves)}{f', {county} County' if county else ''})"
    return f"{state.manifest.title} not loaded"


def _radius_words(
    leaves: Leaves,
    node: WithinNode | ShareOverNode,
    outcome: Outcome,
    causes: Cause,
    found: dict[str, object],
) -> str:
    where = node.within if isinstance(node, WithinNode) else node.share_over
    manifest = leaves.atlas.manifests[where.layer]
    found["layer"] = where.layer
    measured = leaves.distance(where)
    if measured is None:
        return _unavailable_words(leaves, where.layer, outcome)
    found["edition"] = manifest.edition
    radius = miles_to_ft(leaves.bound.figures[where.radius])
    found["radius_ft"] = round(radius, 1)
    if Cause.LOCATION_UNKNOWN in causes:
        found["status"] = manifest.status
        return "the site's location is not known"
    found["status"] = _feature_status(leaves, where.layer, int(measured.feature[0])) or manifest.status
    name = _record_distance(leaves, where.layer, measured, found)
    if int(measured.feature[0]) < 0:
        return f"no feature of {manifest.title} counts on this day"
    low, value, high = float(measured.near_low[0]), float(measured.near[0]), float(measured.near_high[0])
    span = feet(value) if math.isfinite(value) else f"between {feet(low)} and {feet(high)}"
    known = f" (known to {feet(low)} - {feet(high)})" if math.isfinite(value) and high - low > 1 else ""
    if isinstance(node, ShareOverNode):
        low_s, nom_s, high_s = leaves.share_of(node)
        found["share"] = interval(low_s, nom_s, high_s, digits=6)
        return f"{100 * nom_s:.1f} % of the site within {feet(radius)} of {name}"
    if Cause.PARTIAL in causes:
        far = feet(float(measured.far[0]))
        return f"{name} is {span} from the nearest part and {far} from the farthest{known}; radius {feet(radius)}"
    return f"{name} is {span} away{known}; radius {feet(radius)}"


def _feature_status(leaves: Leaves, layer_id: str, index: int) -> str:
    layer = leaves.layer(layer_id)
    return "" if layer is None or index < 0 else layer.value("status", index)


def _record_distance(leaves: Leaves, layer_id: str, measured: Distance, found: dict[str, object]) -> str:
    layer = leaves.layer(layer_id)
    index = int(measured.feature[0])
    if layer is None or index < 0:
        return ""
    found["feature"], found["feature_name"] = layer.key(index), layer.name(index)
    found["distance_ft"] = interval(float(measured.near_low[0]), float(measured.near[0]), float(measured.near_high[0]))
    return layer.name(index)


def _list_words(leaves: Leaves, node: DesignatedNode, causes: Cause, found: dict[str, object]) -> str:
    name = load_lists()[node.designated.list].label
    found["layer"] = "designations"
    listed = leaves.membership.listings(node.designated.list)
    if listed is None:
        return _unavailable_words(leaves, "designations", Outcome.UNDETERMINED)
    rows = [listed.get(code) for code in leaves.placement.codes_of(0)]
    row = rows[0] if rows else None
    if row is not None:
        found["status"] = row.status
    if Cause.LAYER_UNUSABLE in causes:
        return _unavailable_words(leaves, "municipalities", Outcome.UNDETERMINED)
    if Cause.MUNICIPALITY_UNCERTAIN in causes or Cause.PARTIAL in causes:
        on_list = ", ".join(r.name for r in rows if r) or "none of them"
        return f"the municipality is not certain; of those possible, {on_list} among the {name}"
    return f"{place_words(leaves)} is {'' if row is not None else 'not '}among the {name}"


def _fact_words(  # noqa: PLR0917 - all of it is asked, in order
    leaves: Leaves,
    node: SiteFactNode,
    outcome: Outcome,
    causes: Cause,
    values: Values,
    found: dict[str, object],
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


def stated_words(value: FactValue) -> str:
    """Return a stated fact's value as it would be typed."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.10g}" if isinstance(value, float) else str(value)


def _feature_words(leaves: Leaves, clause: Clause, outcome: Outcome, causes: Cause, found: dict[str, object]) -> str:
    node = clause.node
    assert isinstance(node, ContainsFeatureNode)  # noqa: S101 - the caller looked
    layer = leaves.layer(node.contains_feature.layer)
    found["layer"] = node.contains_feature.layer
    if layer is None:
        return _unavailable_words(leaves, node.contains_feature.layer, outcome)
    here = set(leaves.placement.codes_of(0))
    names = [layer.name(i) for i, _ in leaves.feature_outcomes(node) if layer.value("mun_code", i) in here]
    if names:
        return f"{place_words(leaves)} contains {', '.join(names)}"
    if causes:
        return place_words(leaves)
    return f"no such station in {place_words(leaves)}"
