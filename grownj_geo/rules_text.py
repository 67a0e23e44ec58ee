"""Rules in words: what a clause asks, and a definition with all that it needs, as a record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grownj_geo.designations import load_lists
from grownj_geo.facts import load_facts
from grownj_geo.manifest import load_manifests
from grownj_geo.nodes import (
    CategoryNode,
    ContainsFeatureNode,
    CountyInNode,
    DesignatedNode,
    InsideNode,
    MunicipalityInNode,
    NodeBase,
    OverlapsNode,
    RatioNode,
    ShareOverNode,
    SiteFactNode,
    UncertainDay,
    UndeterminedNode,
    Where,
    Within,
    WithinNode,
    children_of,
)
from grownj_geo.readings import load_readings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grownj_geo.atlas import Atlas
    from grownj_geo.binding import BoundRulebook, Clause
    from grownj_geo.nodes import Day, Node, SiteFact
    from grownj_geo.rulebook import Category, DatedValue, Parameter

__all__ = [
    "clause_words",
    "date_words",
    "definition_of",
    "figure_words",
    "needs_of",
    "value_words",
]


# -- clauses -------------------------------------------------------------------------------------------


def clause_words(clause: Clause, bound: BoundRulebook, *, towns: Mapping[str, tuple[str, str]] | None = None) -> str:
    """Return what a clause asks, in words, without its label.

    Parameters
    ----------
    clause
        A clause of the bound rulebook.
    bound
        Gives figures their values on the day.
    towns
        Name and county by municipal code.
    """
    node = clause.node
    if clause.children:
        return clause.operator + ("" if clause.operator == "not" else " of")
    if clause.operator == "in_new_jersey":
        return "in New Jersey; open off the shore, where the water may be another State's"
    if isinstance(node, CategoryNode):
        return f"category {node.category} (see grownj rules show {node.category})"
    if isinstance(node, UndeterminedNode):
        return f"left open: {node.undetermined.why}{_leans(node.undetermined.leans)}"
    if isinstance(node, SiteFactNode):
        return _fact_words(node.site_fact, bound)
    return _geography_words(node, bound, towns or {})


def _geography_words(node: NodeBase, bound: BoundRulebook, towns: Mapping[str, tuple[str, str]]) -> str:  # noqa: C901, PLR0911 - one branch for each operator
    if isinstance(node, InsideNode):
        return f"inside {_where_words(node.inside, bound)}"
    if isinstance(node, OverlapsNode):
        return f"any part, above a sliver, inside {_where_words(node.overlaps, bound)}"
    if isinstance(node, WithinNode):
        part = "any part of the site within" if node.within.part == "any" else "within"
        return f"{part} {_radius_words(node.within, bound)}"
    if isinstance(node, ShareOverNode):
        share = figure_words(node.share_over.share, bound)
        return f"more than {share} of the site's area within {_radius_words(node.share_over, bound)}"
    if isinstance(node, DesignatedNode):
        label = load_lists()[node.designated.list].label
        dated = "" if node.designated.dated else ", whatever the day"
        return f"municipality on the list of {label} ({node.designated.list}){dated}"
    if isinstance(node, MunicipalityInNode):
        names = [f"{towns[code][0]} ({code})" if code in towns else code for code in node.municipality_in]
        return f"municipality is {' or '.join(names)}"
    if isinstance(node, CountyInNode):
        return f"county is one of {figure_words(node.county_in, bound)}"
    if isinstance(node, ContainsFeatureNode):
        wanted = node.contains_feature
        words = f"municipality contains a feature of {_where_words(wanted, bound)}"
        if wanted.count is not None:
            words += f", {wanted.count.field} at least {figure_words(wanted.count.at_least, bound)}"
        if wanted.at_feature is not None:
            words += f", at which category {wanted.at_feature} holds (see grownj rules show {wanted.at_feature})"
        return words
    if isinstance(node, RatioNode):
        least = figure_words(node.ratio.at_least, bound)
        return f"facts {node.ratio.part} / ({' + '.join(node.ratio.whole)}) at least {least}"
    return ""  # pragma: no cover - the tests see to it that every operator is above


def _where_words(where: Where, bound: BoundRulebook) -> str:
    manifest = load_manifests()[where.layer]
    tests = [f"{name} is {' or '.join(wanted)}" for name, wanted in where.selection]
    tests += [f"{name} is at least {figure_words(least, bound)}" for name, least in where.at_least.items()]
    chosen = f", where {' and '.join(tests)}" if tests else ""
    return f"{manifest.title} (layer {where.layer}){chosen}"


def _radius_words(within: Within, bound: BoundRulebook) -> str:
    words = f"{figure_words(within.radius, bound)} of {_where_words(within, bound)}"
    if within.nearest is not None:
        words += f", only the {within.nearest.n} nearest to {_where_words(within.nearest, bound)}"
    return words


def _fact_words(fact: SiteFact, bound: BoundRulebook) -> str:
    if isinstance(fact.is_, bool):
        wanted = "is yes" if fact.is_ else "is no"
    elif fact.is_ is not None:
        wanted = f"is {fact.is_ if isinstance(fact.is_, str) else ' or '.join(fact.is_)}"
    elif fact.at_least is not None:
        wanted = f"is at least {figure_words(fact.at_least, bound)}"
    elif fact.at_most is not None:
        wanted = f"is at most {figure_words(fact.at_most, bound)}"
    elif fact.more_than is not None:
        wanted = f"is more than {figure_words(fact.more_than, bound)}"
    elif fact.before is not None:
        wanted = f"is before {date_words(fact.before)}"
    elif fact.after is not None:
        wanted = f"is after {date_words(fact.after)}"
    else:
        wanted = "is on or before the day asked about"
    ruling = ", an official finding," if load_facts()[fact.name].kind == "ruling" else ""
    words = f"fact {fact.name}{ruling} {wanted}"
    if fact.supported_by is not None:
        layer = _where_words(fact.supported_by, bound)
        complete = load_manifests()[fact.supported_by.layer].complete
        against = "and against it otherwise" if complete else "and never against it"
        words += f"; unless stated, being inside {layer} speaks for it, {against}"
    if fact.assume is not None:
        value = "yes" if fact.assume.value else "no"
        words += f"; unless stated, assumed {value} by {fact.assume.reading}={fact.assume.option}: {fact.assume.words}"
    return words + _leans(fact.leans)


def _leans(leans: bool | None) -> str:  # noqa: FBT001
    return "" if leans is None else f"; leans {'yes' if leans else 'no'} while that is open"


def figure_words(name: str, bound: BoundRulebook) -> str:
    """Return a parameter's value on the day with its name, citation and how well it is known."""
    parameter = bound.rulebook.parameters[name]
    value = parameter.at(bound.as_of)
    return f"{value_words(parameter, value)} ({name}; {value.citation}; {value.status.replace('_', ' ')})"


def value_words(parameter: Parameter, dated: DatedValue) -> str:
    """Return a value with its unit.

    Examples
    --------
    >>> from grownj_geo.rulebook import load_rulebook
    >>> known = load_rulebook().parameters
    >>> [value_words(known[name], known[name].values[0]) for name in ("hub_radius", "hub_land_share", "vacant_sqft")]
    ['0.5 mile', '50 %', '400,000 sq ft']
    """
    value = dated.value
    if isinstance(value, tuple):
        return ", ".join(value)
    if parameter.unit == "dollars":
        return f"${value:,.10g}"
    if parameter.unit == "share":
        return f"{100 * value:.10g} %"
    unit = {"sqft": " sq ft", "feet": " ft", "percent": " percent", "months": " months", "mile": " mile"}
    plural = "s" if parameter.unit == "mile" and value > 1 else ""
    return f"{value:,.10g}{unit.get(parameter.unit, '')}{plural}"


def date_words(day: Day) -> str:
    """Return a day, or the span that it lies in.

    Examples
    --------
    >>> from datetime import date
    >>> date_words(UncertainDay(earliest=date(2014, 10, 16), latest=date(2014, 10, 24)))
    'a day from 2014-10-16 to 2014-10-24'
    """
    return f"a day from {day.earliest} to {day.latest}" if isinstance(day, UncertainDay) else str(day)


# -- a definition as a record -------------------------------------------------------------------------


def needs_of(*categories: Category) -> dict[str, list[str]]:
    """Return what the clauses of categories name: layers, lists, facts, figures, readings, other categories.

    Examples
    --------
    >>> from grownj_geo.rulebook import load_rulebook
    >>> needs_of(load_rulebook().category("deep_poverty_pocket"))["layers"]
    ['census_tract_poverty']
    """
    found: dict[str, dict[str, None]] = {
        kind: {} for kind in ("layers", "lists", "facts", "figures", "readings", "categories")
    }
    for category in categories:
        found["readings"].update(dict.fromkeys(category.readings))
        waiting: list[Node] = [category.rule]
        while waiting:
            node = waiting.pop(0)
            waiting[:0] = children_of(node)
            found["readings"].update(dict.fromkeys((*node.when, *node.readings)))
            for kind, name in _named(node):
                found[kind][name] = None
    ordered = sorted(found["readings"], key=lambda reading: int(reading[1:]))
    return {kind: list(names) for kind, names in (found | {"readings": dict.fromkeys(ordered)}).items()}


def definition_of(category: Category, bound: BoundRulebook, atlas: Atlas, *, deep: bool) -> dict[str, Any]:
    """Return a category's definition on a day, in words, with all that it needs.

    Parameters
    ----------
    category
        A category of the bound rulebook.
    bound
        The rulebook with its day and readings.
    atlas
        Tells which layers are loaded, and the names of municipalities.
    deep
        Write out the categories that it names, each once.
    """
    book = bound.rulebook
    below = [category]
    for each in below:  # grows while it is read
        below += [other for name in needs_of(each)["categories"] if (other := book.category(name)) not in below]
    own, every = needs_of(*(below if deep else [category])), needs_of(*below)
    known = load_readings()
    towns = atlas.municipal_names if "municipality_in" in str(category.rule) or deep else {}
    return category.model_dump(mode="json", exclude={"rule", "readings"}) | {
        "rulebook": book.id,
        "as_of": str(bound.as_of),
        "readings": [
            {
                "id": reading,
                "title": known[reading].title,
                "option": bound.readings[reading],
                "default": known[reading].default,
                "options": list(known[reading].options),
                "meaning": known[reading].options[bound.readings[reading]],
            }
            for reading in own["readings"]
        ],
        "clause": _clause_record(bound.clauses[category.id], bound, towns, {category.id} if deep else None),
        "figures": [_figure_record(name, bound) for name in own["figures"]],
        "layers": [_layer_record(name, atlas) for name in own["layers"]],
        "lists": [load_lists()[name].model_dump(mode="json") for name in own["lists"]],
        "facts": [
            load_facts()[name].model_dump(mode="json", include={"name", "type", "unit", "kind", "question"})
            for name in own["facts"]
        ],
        "through_categories": {
            kind: [name for name in every[kind] if name not in own[kind]] for kind in ("categories", "layers", "facts")
        },
    }


def _clause_record(
    clause: Clause, bound: BoundRulebook, towns: Mapping[str, tuple[str, str]], shown: set[str] | None
) -> dict[str, Any]:
    """Return a clause and those below it; with those of the categories that it names unless `shown` is None."""
    node = clause.node
    below = list(clause.children)
    repeated = False
    if isinstance(node, CategoryNode) and shown is not None:
        repeated = node.category in shown
        below = [] if repeated else [bound.clauses[node.category]]
        shown.add(node.category)
    label = node.label
    if label is None and isinstance(node, CategoryNode):
        label = bound.rulebook.category(node.category).label
    return {
        "path": clause.path,
        "operator": clause.operator,
        "label": label,
        "words": clause_words(clause, bound, towns=towns),
        "citation": clause.citation,
        "status": node.status,
        "from": None if node.from_ is None else date_words(node.from_),
        "until": None if node.until is None else date_words(node.until),
        "in_force": clause.in_force,
        "when": dict(node.when),
        "chosen": clause.chosen,
        "readings": list(node.readings),
        "note": node.note,
        "shown_above": repeated,
        "clauses": [_clause_record(child, bound, towns, shown) for child in below],
    }


def _figure_record(name: str, bound: BoundRulebook) -> dict[str, Any]:
    parameter = bound.rulebook.parameters[name]
    value = parameter.at(bound.as_of)
    return {"name": name, "label": parameter.label, "unit": parameter.unit, "words": value_words(parameter, value)} | {
        "values": [dated.model_dump(mode="json", by_alias=True) for dated in parameter.values]
    }


def _layer_record(layer_id: str, atlas: Atlas) -> dict[str, Any]:
    manifest = atlas.manifests[layer_id]
    state = atlas.state(layer_id)
    status = "not loaded" if state.status == "missing" else state.status
    return {"id": layer_id, "title": manifest.title, "ships": manifest.ships, "status": status} | {
        "problem": state.problem,
        "how_to_load": manifest.how_to_load,
    }


def _named(node: NodeBase) -> Iterator[tuple[str, str]]:  # noqa: C901, PLR0912 - one branch for each operator
    if isinstance(node, CategoryNode):
        yield "categories", node.category
    elif isinstance(node, InsideNode | OverlapsNode):
        yield from _where_named(node.inside if isinstance(node, InsideNode) else node.overlaps)
    elif isinstance(node, WithinNode | ShareOverNode):
        within = node.within if isinstance(node, WithinNode) else node.share_over
        yield from _where_named(within)
        yield "figures", within.radius
        if isinstance(node, ShareOverNode):
            yield "figures", node.share_over.share
        if within.nearest is not None:
            yield from _where_named(within.nearest)
    elif isinstance(node, ContainsFeatureNode):
        wanted = node.contains_feature
        yield from _where_named(wanted)
        if wanted.count is not None:
            yield "figures", wanted.count.at_least
        if wanted.at_feature is not None:
            yield "categories", wanted.at_feature
    elif isinstance(node, DesignatedNode):
        yield "layers", "designations"
        yield "lists", node.designated.list
    elif isinstance(node, CountyInNode):
        yield "figures", node.county_in
    elif isinstance(node, RatioNode):
        yield "figures", node.ratio.at_least
        yield from (("facts", name) for name in (node.ratio.part, *node.ratio.whole))
    elif isinstance(node, SiteFactNode):
        fact = node.site_fact
        yield "facts", fact.name
        yield from (("figures", name) for name in (fact.at_least, fact.at_most, fact.more_than) if name is not None)
        if fact.assume is not None:
            yield "readings", fact.assume.reading
        if fact.supported_by is not None:
            yield from _where_named(fact.supported_by)


def _where_named(where: Where) -> Iterator[tuple[str, str]]:
    yield "layers", where.layer
    yield from (("figures", name) for name in where.at_least.values())
