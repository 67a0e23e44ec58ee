"""Checks of a rulebook that go beyond its format: names that exist, units that fit, no circles."""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import TYPE_CHECKING

from grownj_geo.designations import load_lists
from grownj_geo.errors import RulebookError
from grownj_geo.facts import load_facts
from grownj_geo.manifest import load_manifests
from grownj_geo.nodes import (
    Assume,
    CategoryNode,
    ContainsFeature,
    ContainsFeatureNode,
    CountyInNode,
    Day,
    DesignatedNode,
    InsideNode,
    MunicipalityInNode,
    Node,
    NotNode,
    OverlapsNode,
    RatioNode,
    ShareOverNode,
    SiteFactNode,
    UndeterminedNode,
    Where,
    WithinNode,
    asked_categories,
    children_of,
)
from grownj_geo.readings import load_readings, nearest_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from grownj_geo.facts import FactDefinition
    from grownj_geo.nodes import NodeBase, SiteFact
    from grownj_geo.rulebook import Parameter, Rulebook

__all__ = ["check_rulebook"]

_RADIUS_UNITS = frozenset({"mile"})
_UNIT_WORDS = {"sqft": ("square feet",), "count": ("jobs", "persons")}
_NUMBER_UNITS = frozenset({"share", "count", "sqft", "percent", "feet", "months", "dollars"})
_MOST = {"share": 1.0, "percent": 100.0}
_POLYGONS, _POINTS = frozenset({"polygon"}), frozenset({"point"})
_SHAPES = {"polygon": "polygons", "point": "points", "line": "lines", "table": "rows without a shape"}
# In the order of their codes, 01 to 21, which begin the municipalities' codes.
_COUNTIES = (
    "Atlantic", "Bergen", "Burlington", "Camden", "Cape May", "Cumberland", "Essex", "Gloucester", "Hudson",
    "Hunterdon", "Mercer", "Middlesex", "Monmouth", "Morris", "Ocean", "Passaic", "Salem", "Somerset", "Sussex",
    "Union", "Warren",
)  # fmt: skip


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
    for repeated in _repeated(ids):
        yield f"{repeated}: the id is used by more than one category; give each its own."
    for reading in book.circles:
        yield from _unknown("circles", "reading", reading, load_readings())
    yield from _period_problems(book)
    for name, parameter in book.parameters.items():
        yield from _value_problems(book, f"parameters > {name}", parameter)
    yield from _tier_problems(book, ids)
    for category in book.categories:
        for reading in category.readings:
            yield from _unknown(category.id, "reading", reading, load_readings())
        for place, node in _walk(category.rule, category.id):
            yield from _common_problems(place, node)
            yield from _node_problems(book, place, node, ids)
            alone = [category.rule] if node is category.rule else []
            alone += [node.not_] if isinstance(node, NotNode) else []
            if any(only.from_ or only.until or only.when for only in alone):
                yield f"{place}: from, until and when have no effect here; put the clause into an any or all."
    yield from _circles(book)


def _repeated(names: Collection[str]) -> list[str]:
    return sorted(name for name, times in Counter(names).items() if times > 1)


def _period_problems(book: Rulebook) -> Iterator[str]:
    if book.last_day < book.first_day:
        yield f"last_day: {book.last_day} comes before first_day, {book.first_day}; put them in order."
    before: date | None = None
    for number, period in enumerate(book.wording, start=1):
        place = f"wording > {number}"
        if period.until <= period.from_:
            yield f"{place}: until, {period.until}, does not come after from, {period.from_}; put them in order."
        if before is not None and period.from_ < before:
            yield f"{place}: it begins on {period.from_}, before the one above ends ({before}); put them in order."
        before = period.until


def _value_problems(book: Rulebook, place: str, parameter: Parameter) -> Iterator[str]:
    days = [str(value.from_) for value in parameter.values]
    for day in _repeated(days):
        yield f"{place}: two values begin on {day}; keep one."
    if min(days) > str(book.first_day):
        yield (
            f"{place}: its first value begins on {min(days)}, after the rulebook's first_day, {book.first_day}; "
            "give the value of the days between, or begin the rulebook later."
        )
    for value in parameter.values:
        at = f"{place} > {value.from_}"
        if parameter.unit == "counties":
            if not isinstance(value.value, tuple) or not value.value:
                yield f"{at}: the unit is counties; expected a list of their names."
                continue
            for county in value.value:
                yield from _unknown(at, "county", county, _COUNTIES)
            for county in _repeated(value.value):
                yield f"{at}: {county} is given twice; keep one."
        elif isinstance(value.value, tuple):
            yield f"{at}: this is a list; expected one figure in {parameter.unit}."
        elif value.value > _MOST.get(parameter.unit, value.value):
            yield f"{at}: {value.value:g} is too much; a {parameter.unit} is at most {_MOST[parameter.unit]:g}."


def _tier_problems(book: Rulebook, ids: Collection[str]) -> Iterator[str]:
    for repeated in _repeated([tier.id for tier in book.tiers]):
        yield f"tiers > {repeated}: the id is used by more than one tier; give each its own."
    for tier in book.tiers:
        yield from _unknown(f"tiers > {tier.id}", "category", tier.category, ids)
    for above, tier in zip(book.tiers, book.tiers[1:], strict=False):
        if (-above.dollars, above.project) > (-tier.dollars, tier.project):
            yield (
                f"tiers > {tier.id}: it stands below {above.id}; the most dollars come first, "
                "and of equal dollars the line of a place before that of a project."
            )


def _walk(node: Node, place: str) -> Iterator[tuple[str, Node]]:
    yield place, node
    for number, child in enumerate(children_of(node), start=1):
        yield from _walk(child, f"{place} > {child.id or number}")


def _common_problems(place: str, node: NodeBase) -> Iterator[str]:
    """Check what every clause may carry: texts, readings, days, and the ids of the clauses inside it."""
    for name, words in (("label", node.label), ("citation", node.citation), ("note", node.note)):
        if words is not None and not words.strip():
            yield f"{place}: the {name} is blank; write it out or leave it out."
    for repeated in _repeated([child.id for child in children_of(node) if child.id]):
        yield f"{place}: two clauses here have the id {repeated!r}; give each its own."
    yield from _reading_problems(place, node)
    if node.from_ is not None and node.until is not None:
        begun, ended = _span(node.from_), _span(node.until)
        if ended[0] <= begun[0] or ended[1] <= begun[1]:
            yield f"{place}: until does not come after from; put them in order."


def _reading_problems(place: str, node: NodeBase) -> Iterator[str]:
    readings = load_readings()
    for reading in (*node.readings, *node.when):
        yield from _unknown(place, "reading", reading, readings)
    for reading, wanted in node.when.items():
        options = (wanted,) if isinstance(wanted, str) else wanted
        if not options:
            yield f"{place}: when names no option of {reading}; name one or leave it out."
        for option in options:
            if reading in readings:
                yield from _unknown(place, f"option of {reading}", option, readings[reading].options)


def _span(day: Day) -> tuple[date, date]:
    return (day, day) if isinstance(day, date) else (day.earliest, day.latest)


def _node_problems(book: Rulebook, place: str, node: Node, ids: Collection[str]) -> Iterator[str]:  # noqa: C901 - one branch for each operator
    if isinstance(node, CategoryNode):
        yield from _unknown(place, "category", node.category, ids)
    elif isinstance(node, InsideNode | OverlapsNode):
        where = node.inside if isinstance(node, InsideNode) else node.overlaps
        yield from _where_problems(book, place, where, _POLYGONS)
    elif isinstance(node, WithinNode | ShareOverNode):
        yield from _within_problems(book, place, node)
    elif isinstance(node, ContainsFeatureNode):
        yield from _feature_problems(book, place, node.contains_feature, ids)
    elif isinstance(node, DesignatedNode):
        yield from _unknown(place, "list of municipalities", node.designated.list, load_lists())
    elif isinstance(node, MunicipalityInNode):
        for code in node.municipality_in:
            if not 1 <= int(code[:2]) <= len(_COUNTIES) or code.endswith("00"):
                yield f"{place}: there is no municipality {code!r}; expected a county's 01 to 21 and two more digits."
    elif isinstance(node, CountyInNode):
        yield from _parameter(book, place, node.county_in, frozenset({"counties"}))
    elif isinstance(node, RatioNode):
        yield from _ratio_problems(book, place, node)
    elif isinstance(node, SiteFactNode):
        yield from _fact_problems(book, place, node.site_fact)
    elif isinstance(node, UndeterminedNode) and not node.undetermined.why.strip():
        yield f"{place}: why is blank; say what is open."


def _feature_problems(book: Rulebook, place: str, wanted: ContainsFeature, ids: Collection[str]) -> Iterator[str]:
    # What holds at a feature is asked where it stands: that needs a point.
    shapes = _POINTS if wanted.at_feature is not None else frozenset(_SHAPES) - {"table"}
    yield from _where_problems(book, place, wanted, shapes)
    manifest = load_manifests().get(wanted.layer)
    if manifest is not None:
        known = {manifest.key_field, *manifest.fields, *manifest.required_fields}
        if "mun_code" not in known:
            yield f"{place}: the layer {wanted.layer} has no mun_code; expected one that says a feature's municipality."
    if wanted.at_least:
        yield f"{place}: at_least has no effect here; write count."
    if wanted.count is not None:
        if manifest is not None:
            yield from _unknown(place, f"field of {wanted.layer}", wanted.count.field, manifest.fields)
        yield from _parameter(book, place, wanted.count.at_least, frozenset({"count"}))
    if wanted.at_feature is not None:
        yield from _unknown(place, "category", wanted.at_feature, ids)


def _within_problems(book: Rulebook, place: str, node: WithinNode | ShareOverNode) -> Iterator[str]:
    where = node.within if isinstance(node, WithinNode) else node.share_over
    points_only = isinstance(node, ShareOverNode) or where.nearest is not None
    yield from _where_problems(book, place, where, _POINTS if points_only else _POINTS | _POLYGONS)
    yield from _parameter(book, place, where.radius, _RADIUS_UNITS)
    if where.nearest is not None:
        yield from _where_problems(book, place, where.nearest, _POINTS)
    for each in (where, where.nearest):
        if each is not None and each.at_least:
            yield f"{place}: at_least has no effect here; it goes with inside and overlaps."
    if isinstance(node, ShareOverNode):
        yield from _parameter(book, place, node.share_over.share, frozenset({"share"}))


def _ratio_problems(book: Rulebook, place: str, node: RatioNode) -> Iterator[str]:
    known, ratio = load_facts(), node.ratio
    names = (ratio.part, *ratio.whole)
    for name in names:
        yield from _unknown(place, "site fact", name, known)
        if name in known and known[name].type != "number":
            yield f"{place}: the fact {name} is {known[name].expected}; expected a number."
    units = {known[name].unit for name in names if name in known and known[name].type == "number"}
    if len(units) > 1:
        yield f"{place}: the facts are in {' and '.join(sorted(map(str, units)))}; use one unit."
    yield from _parameter(book, place, ratio.at_least, frozenset({"share"}))
    yield from _assume_problems(place, ratio.assume)


def _assume_problems(place: str, assume: Assume | None) -> Iterator[str]:
    if assume is not None:
        reading = load_readings().get(assume.reading)
        yield from _unknown(place, "reading", assume.reading, load_readings())
        if reading is not None:
            yield from _unknown(place, f"option of {reading.id}", assume.option, reading.options)
        if not assume.words.strip():
            yield f"{place}: the words of assume are blank; say what is taken for granted."


def _fact_problems(book: Rulebook, place: str, fact: SiteFact) -> Iterator[str]:
    known = load_facts()
    yield from _unknown(place, "site fact", fact.name, known)
    yield from _assume_problems(place, fact.assume)
    if fact.name in known:
        yield from _comparison_problems(place, fact, known[fact.name])
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
        yield from _where_problems(book, place, fact.supported_by, _POLYGONS)
        if fact.supported_by.at_least:
            yield f"{place}: at_least has no effect here; it goes with inside and overlaps."


def _comparison_problems(place: str, fact: SiteFact, definition: FactDefinition) -> Iterator[str]:
    """Check that a fact can be compared in the way asked for: figures with numbers, days with dates."""
    if fact.is_ is not None:
        comparison, types = "is", {"boolean", "choice", "text"}
    elif fact.before or fact.after or fact.on_or_before_as_of:
        comparison = "before" if fact.before else "after" if fact.after else "on_or_before_as_of"
        types = {"date"}
    else:
        comparison = "at_least" if fact.at_least else "at_most" if fact.at_most else "more_than"
        types = {"number"}
    if definition.type not in types:
        yield f"{place}: the fact {fact.name} is {definition.expected}; {comparison} does not compare that."
        return
    if fact.is_ is None or definition.type == "text":
        return
    wanted = fact.is_ if isinstance(fact.is_, tuple) else (fact.is_,)
    if not wanted:
        yield f"{place}: is names no value; expected {definition.expected}."
    choices: Collection[object] = (True, False) if definition.type == "boolean" else definition.choices
    for value in wanted:
        if value not in choices:
            yield f"{place}: the fact {fact.name} is never {value!r}; expected {definition.expected}."


def _same_unit(fact_unit: str, parameter_unit: str) -> bool:
    """Compare a fact's unit, in words, with a parameter's: "percent of the retail facility" is percent."""
    return fact_unit.startswith(_UNIT_WORDS.get(parameter_unit, (parameter_unit,)))


def _where_problems(book: Rulebook, place: str, where: Where, shapes: Collection[str]) -> Iterator[str]:
    manifests = load_manifests()
    yield from _unknown(place, "layer", where.layer, manifests)
    manifest = manifests.get(where.layer)
    if manifest is None:
        return
    if manifest.kind not in shapes:
        expected = " or ".join(words for kind, words in _SHAPES.items() if kind in shapes)
        yield f"{place}: the layer {where.layer} has {_SHAPES[manifest.kind]}; expected {expected}."
    for field, wanted in where.selection:
        if not wanted or not all(value.strip() for value in wanted):
            yield f"{place}: where > {field} has no value; name one or leave the field out."
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
