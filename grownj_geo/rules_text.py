"""Rulebooks from text and to text: a user's file read with care, and clauses said in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from grownj_geo.designations import load_lists
from grownj_geo.errors import RulebookError
from grownj_geo.evaluate import BoundRulebook, Clause
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
)
from grownj_geo.rulebook import DatedValue, Parameter, Rulebook, read_rulebook

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from grownj_geo.nodes import Day, SiteFact

__all__ = ["Needs", "clause_words", "date_words", "figure_words", "needs_of", "read_rulebook_file", "value_words"]

_LARGEST = 5_000_000
_DEEPEST = 100
_MOST_ALIASES = 100
_MOST_NODES = 1_000_000
_PLAIN_TAGS = {"str", "int", "float", "bool", "null", "timestamp", "seq", "map"}
_EXPECTED = "Expected a rulebook in YAML; give its file's name, or a shipped rulebook's id."


# -- from text ----------------------------------------------------------------------------------------


def read_rulebook_file(path: Path) -> Rulebook:
    """Read and check a user's rulebook.

    Parameters
    ----------
    path
        A file of at most 5 MB.

    Raises
    ------
    RulebookError
        If it cannot be read, is no YAML, repeats keys or itself, or is not a consistent rulebook. The message
        names the file and the line or the place in it, one problem a line.
    """
    text = _text_of(path)
    root: Any = None
    try:
        root = _composed(text, str(path))
        return read_rulebook(text, name=str(path))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        words = getattr(error, "problem", None) or str(error)
        raise RulebookError(f"{path}{line}: not readable YAML: {' '.join(words.split())}. Correct it.") from error
    except RulebookError as error:
        said = str(error)
        raise RulebookError(said if said.startswith(str(path)) else f"{path}: {said}") from error
    except (ValueError, OverflowError) as error:
        raise RulebookError(f"{path}{_line_of_value(root)}: {error}. Correct the value.") from error


def _text_of(path: Path) -> str:
    """Return a file's text, or refuse what can be no rulebook."""
    try:
        if path.exists() and not path.is_file():
            raise RulebookError(f"{path} is {'a folder' if path.is_dir() else 'no regular file'}. {_EXPECTED}")
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, RulebookError):
            raise
        raise RulebookError(f"{path} could not be read: {getattr(error, 'strerror', error)}. {_EXPECTED}") from error
    if len(content) > _LARGEST:
        raise RulebookError(f"{path} is larger than {_LARGEST // 1_000_000} MB. {_EXPECTED}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RulebookError(f"{path} is not UTF-8 text. {_EXPECTED}") from error
    if "\0" in text:
        raise RulebookError(f"{path} is a binary file. {_EXPECTED}")
    return text


def _composed(text: str, name: str) -> Any:  # noqa: ANN401 - a yaml node
    """Return the nodes of a YAML text, after refusing what would be large, deep or circular when it is built."""
    depth = aliases = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        aliases += isinstance(event, yaml.AliasEvent)
        tag = getattr(event, "tag", None)
        wrong = None
        if depth > _DEEPEST:
            wrong = f"this goes deeper than {_DEEPEST} levels; write it with fewer"
        elif aliases > _MOST_ALIASES:
            wrong = f"there are more than {_MOST_ALIASES} aliases (*name); make a category of what is repeated"
        elif tag is not None and tag.removeprefix("tag:yaml.org,2002:") not in _PLAIN_TAGS:
            wrong = f"a rulebook has no tag such as {tag}; leave it out"
        if wrong:
            raise RulebookError(f"{name}, line {event.start_mark.line + 1}: {wrong}.")
    root = yaml.compose(text, Loader=yaml.CSafeLoader)
    if root is not None:
        _measure(root, 1, {}, name)
    return root


def _measure(node: Any, depth: int, known: dict[int, tuple[int, int]], name: str) -> tuple[int, int]:  # noqa: ANN401 - a yaml node
    """Return how many nodes there are with every alias written out, and how many levels; refuse double keys."""
    place = f"{name}, line {node.start_mark.line + 1}"
    if id(node) not in known:
        # Until it is measured a node counts as too deep: that is what a circle is.
        known[id(node)] = (1, _DEEPEST)
        below = [] if isinstance(node, yaml.ScalarNode) else node.value
        if isinstance(node, yaml.MappingNode):
            _refuse_double_keys(node, name)
            below = [item for pair in below for item in pair]
        sizes = [_measure(item, depth + 1, known, name) for item in below]
        known[id(node)] = (1 + sum(size for size, _ in sizes), 1 + max((levels for _, levels in sizes), default=0))
    size, levels = known[id(node)]
    if depth + levels > _DEEPEST + 1:
        raise RulebookError(f"{place}: an alias (*name) goes round in a circle or too deep; write it out.")
    if size > _MOST_NODES:
        raise RulebookError(f"{place}: aliases (*name) make this too long; make a category of what is repeated.")
    return size, levels


def _refuse_double_keys(node: Any, name: str) -> None:  # noqa: ANN401 - a yaml node
    seen: set[str] = set()
    for key, _ in node.value:
        if isinstance(key, yaml.ScalarNode) and key.value in seen:
            raise RulebookError(f"{name}, line {key.start_mark.line + 1}: {key.value!r} is given twice; keep one.")
        seen.add(str(key.value))


def _line_of_value(root: Any) -> str:  # noqa: ANN401 - a yaml node
    """Return the line of the first value that is written like a date or a number and is none."""
    waiting = [root] if root is not None else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.ScalarNode):
            try:
                yaml.SafeLoader("").construct_object(node)
            except (ValueError, OverflowError):
                return f", line {node.start_mark.line + 1}"
        else:
            below = node.value
            if isinstance(node, yaml.MappingNode):
                below = [item for pair in below for item in pair]
            waiting += reversed(below)
    return ""


# -- to text ------------------------------------------------------------------------------------------


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
    if clause.operator in {"any", "all"}:
        return f"{clause.operator} of"
    if clause.operator == "not":
        return "not"
    if isinstance(node, CategoryNode):
        return f"category {node.category} (see grownj rules show {node.category})"
    if isinstance(node, UndeterminedNode):
        return f"left open: {node.undetermined.why}{_leans(node.undetermined.leans)}"
    if isinstance(node, SiteFactNode):
        return _fact_words(node.site_fact, bound)
    return _geography_words(node, bound, towns or {})


def _geography_words(node: NodeBase, bound: BoundRulebook, towns: Mapping[str, tuple[str, str]]) -> str:  # noqa: PLR0911 - one for each operator
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
    return ""  # pragma: no cover - every operator is above


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


def _fact_words(fact: SiteFact, bound: BoundRulebook) -> str:  # noqa: C901 - one branch for each comparison
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
        against = "and against it otherwise" if fact.supported_by.complete else "and never against it"
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


class Needs:
    """What some categories look at: layers, lists of municipalities, facts, figures, and further categories."""

    def __init__(self) -> None:
        self.layers: dict[str, None] = {}
        self.lists: dict[str, None] = {}
        self.facts: dict[str, None] = {}
        self.figures: dict[str, None] = {}
        self.readings: dict[str, None] = {}
        self.categories: dict[str, None] = {}

    def add(self, clause: Clause) -> None:
        """Add what a clause and all clauses below it name."""
        for part in clause.walk():
            self.readings.update(dict.fromkeys((*part.node.when, *part.node.readings)))
            for kind, name in _named(part.node):
                getattr(self, kind)[name] = None


def needs_of(category_id: str, bound: BoundRulebook, *, deep: bool) -> Needs:
    """Return what a category looks at, by its own clauses, or with those of the categories that it names."""
    needs = Needs()
    needs.add(bound.clauses[category_id])
    done = {category_id}
    while deep and (waiting := [name for name in needs.categories if name not in done]):
        for name in waiting:
            done.add(name)
            needs.add(bound.clauses[name])
    return needs


def _named(node: NodeBase) -> Iterator[tuple[str, str]]:  # noqa: C901 - one branch for each operator
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
