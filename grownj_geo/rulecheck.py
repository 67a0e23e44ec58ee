"""Checks of a rulebook that go beyond its format: names that exist, units that fit, no circles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grownj_geo.designations import load_lists
from grownj_geo.errors import RulebookError
from grownj_geo.facts import load_facts
from grownj_geo.manifest import load_manifests
from grownj_geo.nodes import (
    CategoryNode,
    ContainsFeature,
    ContainsFeatureNode,
    CountyInNode,
    DesignatedNode,
    InsideNode,
    Node,
    NotNode,
    OverlapsNode,
    RatioNode,
    ShareOverNode,
    SiteFactNode,
    StatedNode,
    Where,
    WithinNode,
    asked_categories,
    children_of,
)
from grownj_geo.readings import load_readings, nearest_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from grownj_geo.rulebook import Rulebook

__all__ = ["check_rulebook"]

_RADIUS_UNITS = frozenset({"mile"})
_UNIT_WORDS = {"sqft": ("square feet",), "count": ("jobs", "persons")}
_NUMBER_UNITS = frozenset({"share", "count", "sqft", "percent", "feet", "months", "dollars"})


def check_rulebook(book: Rulebook, *, name: str) -> None:
    """Refuse a rulebook that names what does not exist, uses a wrong unit, or goes round in a circle.

    Parameters
    ----------
    book
        A rulebook that follows the format.
    name
        The file's name, for the message.

    Raises
    ------
    RulebookError
        With every problem found, each with its place.
    """
    problems = list(_problems(book))
    if problems:
        raise RulebookError(f"{name} is not consistent:\n" + "\n".join(f"  {problem}" for problem in problems))


def _problems(book: Rulebook) -> Iterator[str]:
    ids = [category.id for category in book.categories]
    for repeated in sorted({i for i in ids if ids.count(i) > 1}):
        yield f"{repeated}: the id is used by more than one category; give each its own."
    for reading in book.circles:
        yield from _unknown("circles", "reading", reading, load_readings())
    for tier in book.tiers:
        yield from _unknown(f"tiers > {tier.id}", "category", tier.category, ids)
    for category in book.categories:
        for reading in category.readings:
            yield from _unknown(category.id, "reading", reading, load_readings())
        for place, node in _walk(category.rule, category.id):
            yield from _node_problems(book, place, node, ids)
            alone = [category.rule] if node is category.rule else []
            alone += [node.not_] if isinstance(node, NotNode) else []
            if any(only.from_ or only.until or only.when for only in alone):
                yield f"{place}: from, until and when have no effect here; put the clause into an any or all."
    yield from _circles(book)


def _walk(node: Node, place: str) -> Iterator[tuple[str, Node]]:
    yield place, node
    for number, child in enumerate(children_of(node), start=1):
        yield from _walk(child, f"{place} > {child.id or number}")


def _node_problems(book: Rulebook, place: str, node: Node, ids: Collection[str]) -> Iterator[str]:  # noqa: C901, PLR0912 - one branch for each operator
    readings = load_readings()
    for reading in (*node.readings, *node.when):
        yield from _unknown(place, "reading", reading, readings)
    for reading, wanted in node.when.items():
        for option in (wanted,) if isinstance(wanted, str) else wanted:
            if reading in readings:
                yield from _unknown(place, f"option of {reading}", option, readings[reading].options)
    if isinstance(node, CategoryNode):
        yield from _unknown(place, "category", node.category, ids)
    elif isinstance(node, InsideNode | OverlapsNode):
        where = node.inside if isinstance(node, InsideNode) else node.overlaps
        yield from _where_problems(book, place, where)
    elif isinstance(node, WithinNode | ShareOverNode):
        yield from _within_problems(book, place, node)
    elif isinstance(node, ContainsFeatureNode):
        yield from _feature_problems(book, place, node.contains_feature, ids)
    elif isinstance(node, DesignatedNode):
        yield from _unknown(place, "list of municipalities", node.designated.list, load_lists())
    elif isinstance(node, StatedNode):
        yield from _unknown(place, "site fact", node.stated, load_facts())
    elif isinstance(node, CountyInNode):
        yield from _parameter(book, place, node.county_in, frozenset({"counties"}))
    elif isinstance(node, RatioNode):
        for fact in (node.ratio.part, *node.ratio.whole):
            yield from _unknown(place, "site fact", fact, load_facts())
        yield from _parameter(book, place, node.ratio.at_least, frozenset({"share"}))
    elif isinstance(node, SiteFactNode):
        yield from _fact_problems(book, place, node)


def _feature_problems(book: Rulebook, place: str, wanted: ContainsFeature, ids: Collection[str]) -> Iterator[str]:
    yield from _where_problems(book, place, wanted)
    if wanted.count is not None:
        manifest = load_manifests().get(wanted.layer)
        if manifest is not None:
            yield from _unknown(place, f"field of {wanted.layer}", wanted.count.field, manifest.fields)
        yield from _parameter(book, place, wanted.count.at_least, frozenset({"count"}))
    if wanted.at_feature is not None:
        yield from _unknown(place, "category", wanted.at_feature, ids)


def _within_problems(book: Rulebook, place: str, node: WithinNode | ShareOverNode) -> Iterator[str]:
    where = node.within if isinstance(node, WithinNode) else node.share_over
    yield from _where_problems(book, place, where)
    yield from _parameter(book, place, where.radius, _RADIUS_UNITS)
    if where.nearest is not None:
        yield from _where_problems(book, place, where.nearest)
    if isinstance(node, ShareOverNode):
        yield from _parameter(book, place, node.share_over.share, frozenset({"share"}))


def _fact_problems(book: Rulebook, place: str, node: SiteFactNode) -> Iterator[str]:
    fact = node.site_fact
    known = load_facts()
    yield from _unknown(place, "site fact", fact.name, known)
    if fact.assume is not None:
        reading = load_readings().get(fact.assume.reading)
        yield from _unknown(place, "reading", fact.assume.reading, load_readings())
        if reading is not None:
            yield from _unknown(place, f"option of {reading.id}", fact.assume.option, reading.options)
    if fact.is_ is not None and fact.name in known:
        choices = {"boolean": [True, False], "choice": known[fact.name].choices}.get(known[fact.name].type, ())
        for wanted in fact.is_ if isinstance(fact.is_, tuple) else (fact.is_,):
            if known[fact.name].type != "text" and wanted not in choices:
                yield f"{place}: the fact {fact.name} is never {wanted!r}; expected {known[fact.name].expected}."
    for parameter in (fact.at_least, fact.at_most, fact.more_than):
        if parameter is not None:
            yield from _parameter(book, place, parameter, _NUMBER_UNITS)
            definition = known.get(fact.name)
            found = book.parameters.get(parameter)
            if definition and found and definition.unit and not _same_unit(definition.unit, found.unit):
                yield (
                    f"{place}: the fact {fact.name} is in {definition.unit}, "
                    f"the parameter {parameter} in {found.unit}; use one unit."
                )
    if fact.supported_by is not None:
        yield from _where_problems(book, place, fact.supported_by)


def _same_unit(fact_unit: str, parameter_unit: str) -> bool:
    """Compare a fact's unit, in words, with a parameter's: "percent of the retail facility" is percent."""
    return fact_unit.startswith(_UNIT_WORDS.get(parameter_unit, (parameter_unit,)))


def _where_problems(book: Rulebook, place: str, where: Where) -> Iterator[str]:
    manifests = load_manifests()
    yield from _unknown(place, "layer", where.layer, manifests)
    manifest = manifests.get(where.layer)
    if manifest is None:
        return
    for field, wanted in where.selection:
        coded = manifest.fields.get(field)
        if coded is None:
            yield from _unknown(place, f"field of {where.layer}", field, manifest.fields)
            continue
        if coded.values:
            for value in wanted:
                yield from _unknown(place, f"value of {where.layer}.{field}", value, set(coded.values.values()))
    for field, parameter in where.at_least.items():
        yield from _unknown(place, f"field of {where.layer}", field, manifest.fields)
        yield from _parameter(book, place, parameter, _NUMBER_UNITS)


def _parameter(book: Rulebook, place: str, name: str, units: frozenset[str]) -> Iterator[str]:
    parameter = book.parameters.get(name)
    if parameter is None:
        yield from _unknown(place, "parameter", name, book.parameters)
    elif parameter.unit not in units:
        yield f"{place}: the parameter {name} is in {parameter.unit}; expected {' or '.join(sorted(units))}."


def _unknown(place: str, what: str, name: str, known: Collection[str]) -> Iterator[str]:
    if name not in known:
        yield f"{place}: there is no {what} {name!r}. {nearest_name(name, known)}"


def _circles(book: Rulebook) -> Iterator[str]:
    """Yield each circle of categories once. Readings break the code's own circles, so none may be left."""
    asks = {category.id: asked_categories(category.rule) for category in book.categories}
    done: set[str] = set()
    for start in asks:
        trail: list[str] = []
        yield from _follow(start, asks, done, trail)


def _follow(at: str, asks: dict[str, list[str]], done: set[str], trail: list[str]) -> Iterator[str]:
    if at in trail:
        yield f"{at}: the categories go round in a circle: {' > '.join([*trail[trail.index(at) :], at])}; break it."
        return
    if at in done or at not in asks:
        return
    trail.append(at)
    for asked in asks[at]:
        yield from _follow(asked, asks, done, trail)
    trail.pop()
    done.add(at)
