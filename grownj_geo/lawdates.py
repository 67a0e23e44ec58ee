"""On which days the law, a list, a map or a fact changes: read from rulebook, designations, layers and facts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from grownj_geo.designations import listings, load_lists
from grownj_geo.edition import switches
from grownj_geo.facts import load_facts
from grownj_geo.layercheck import read_day
from grownj_geo.manifest import load_manifests
from grownj_geo.nodes import CategoryNode, DesignatedNode, SiteFactNode, UncertainDay, asked_categories

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from grownj_geo.atlas import Atlas
    from grownj_geo.binding import BoundRulebook, Clause
    from grownj_geo.edition import Held, Switch
    from grownj_geo.layer import Layer
    from grownj_geo.nodes import Day
    from grownj_geo.rulebook import Rulebook
    from grownj_geo.site import FactValue
    from grownj_geo.store import Store

__all__ = [
    "LawDate",
    "concerning",
    "edition_dates",
    "fact_dates",
    "law_dates",
    "layers_of",
    "reach_of",
    "reach_of_item",
]

Kind = Literal["clause", "figure", "list", "feature", "edition", "fact", "rulebook"]


@dataclass(frozen=True, order=True)
class LawDate:
    """A day on which something that answers rest on begins or ends.

    Attributes
    ----------
    day
        The first day on which it is so; of an uncertain span the day on which it may be so first.
    latest
        The last day of that span, on which it surely is so; the same day where the day is known.
    kind
        What changes.
    words
        What begins or ends.
    citation
        Where that stands; empty for what is no law.
    categories
        Categories whose own clauses change, or ask what changes.
    municipality
        The municipality that it is about; empty for all.
    """

    day: date
    latest: date
    kind: Kind
    words: str
    citation: str = ""
    categories: tuple[str, ...] = ()
    municipality: str = ""

    @property
    def days(self) -> tuple[date, ...]:
        """The days on which an answer can change for it."""
        return (self.day,) if self.day == self.latest else (self.day, self.latest)

    @property
    def dated_words(self) -> str:
        """What begins or ends, when, and by which law."""
        when = f"on {self.day}" if self.day == self.latest else f"on a day from {self.day} to {self.latest}"
        return f"{self.words} {when}" + (f" ({self.citation})" if self.citation else "")


def law_dates(bound: BoundRulebook, atlas: Atlas) -> tuple[LawDate, ...]:
    """Return every day on which a rulebook, its lists, or a feature of its layers changes, in order.

    Parameters
    ----------
    bound
        The rulebook under some readings: clauses of readings that were not chosen are left out.
    atlas
        The layers. Those that are not loaded have no days.
    """
    found: dict[LawDate, None] = {}
    for one in (*_clauses(bound), *_figures(bound), *_lists(bound, atlas), *_features(bound, atlas), _end(bound)):
        found[one] = None
    return tuple(sorted(found))


def reach_of(book: Rulebook, category: str) -> frozenset[str]:
    """Return a category and all that it asks for, whatever the day."""
    reached: set[str] = set()
    waiting = [category]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += asked_categories(book.category(name).rule)
    return frozenset(reached)


def reach_of_item(book: Rulebook, item: str) -> frozenset[str]:
    """Return the categories that a figure of an answer rests on: a category's own, or those of all lines."""
    if item == "tier":
        return frozenset().union(*(reach_of(book, tier.category) for tier in book.tiers))
    return reach_of(book, item) if any(c.id == item for c in book.categories) else frozenset()


def _span(day: Day) -> tuple[date, date]:
    return (day.earliest, day.latest) if isinstance(day, UncertainDay) else (day, day)


def _title(clause: Clause, bound: BoundRulebook) -> str:
    category_id = clause.path.partition(".")[0]
    node = clause.node
    label = node.label
    if label is None and isinstance(node, CategoryNode):
        label = bound.rulebook.category(node.category).label
    if label is None and isinstance(node, DesignatedNode):
        label = f"the {load_lists()[node.designated.list].label}"
    if label is None and node.id is not None:
        label = node.id.replace("_", " ")
    whole = bound.rulebook.category(category_id).label
    return whole if label is None or clause.path == category_id else f"{whole}: {label}"


def _chosen(clause: Clause, bound: BoundRulebook) -> bool:
    """Return whether a clause and all above it belong to the chosen readings."""
    path = clause.path
    while path:
        above = bound.by_path.get(path)
        if above is not None and not above.chosen:
            return False
        path = path.rpartition(".")[0]
    return True


def _clauses(bound: BoundRulebook) -> Iterator[LawDate]:
    for clause in bound.by_path.values():
        node = clause.node
        if (node.from_ is None and node.until is None) or not _chosen(clause, bound):
            continue
        category = (clause.path.partition(".")[0],)
        for day, verb in ((node.from_, "begins"), (node.until, "ends")):
            if day is not None:
                first, last = _span(day)
                yield LawDate(first, last, "clause", f"{_title(clause, bound)} {verb}", clause.citation, category)


def _figures(bound: BoundRulebook) -> Iterator[LawDate]:
    users: dict[str, list[str]] = {}
    for category_id, clause in bound.clauses.items():
        for name in clause.parameters:
            users.setdefault(name, []).append(category_id)
    for name, parameter in bound.rulebook.parameters.items():
        ordered = sorted(parameter.values, key=lambda v: v.from_)
        for was, now in pairwise(ordered):
            words = f"{parameter.label} becomes {_figure(now.value)} {parameter.unit} (was {_figure(was.value)})"
            yield LawDate(now.from_, now.from_, "figure", words, now.citation, tuple(users.get(name, ())))


def _figure(value: float | tuple[str, ...]) -> str:
    return ", ".join(value) if isinstance(value, tuple) else f"{value:g}"


def _lists(bound: BoundRulebook, atlas: Atlas) -> Iterator[LawDate]:
    users: dict[str, list[str]] = {}
    for clause in bound.by_path.values():
        if isinstance(clause.node, DesignatedNode) and clause.node.designated.dated:
            users.setdefault(clause.node.designated.list, []).append(clause.path.partition(".")[0])
    for name, categories in users.items():
        label = load_lists()[name].label
        for code, periods in (listings(atlas, name) or {}).items():
            for row in periods:
                asked = tuple(dict.fromkeys(categories))
                if row.starts is not None or row.starts_latest is not None:
                    last = row.starts_latest or row.starts
                    first = row.starts or row.starts_latest
                    assert first is not None  # noqa: S101 - one of the two is
                    assert last is not None  # noqa: S101 - same
                    yield LawDate(first, max(first, last), "list", f"{row.name} joins the {label}", "", asked, code)
                if row.ends is not None:
                    yield LawDate(row.ends, row.ends, "list", f"{row.name} leaves the {label}", "", asked, code)


def layers_of(bound: BoundRulebook) -> dict[str, tuple[str, ...]]:
    """Return, by layer, the categories whose own clauses look at it."""
    found: dict[str, dict[str, None]] = {}
    for clause in bound.leaves:
        for layer_id in _named_layers(clause.node.model_dump(mode="json", by_alias=True)):
            found.setdefault(layer_id, {})[clause.path.partition(".")[0]] = None
        if isinstance(clause.node, DesignatedNode):
            found.setdefault("designations", {})[clause.path.partition(".")[0]] = None
    return {layer_id: tuple(categories) for layer_id, categories in found.items()}


def _named_layers(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("layer"), str):
            yield value["layer"]
        for below in value.values():
            yield from _named_layers(below)
    elif isinstance(value, list):
        for below in value:
            yield from _named_layers(below)


def _features(bound: BoundRulebook, atlas: Atlas) -> Iterator[LawDate]:
    for layer_id, categories in layers_of(bound).items():
        layer = atlas.layer(layer_id)
        if layer is None or layer_id == "designations":
            continue
        for name, verb in ((layer.manifest.from_field, "begins"), (layer.manifest.until_field, "ends")):
            for index, day in _days(layer, name):
                words = f"{layer.manifest.title}: {layer.name(index) or layer.key(index)} {verb}"
                yield LawDate(day, day, "feature", words, "", categories)


def _days(layer: Layer, name: str | None) -> Iterator[tuple[int, date]]:
    for index, value in enumerate(layer.columns.get(name, ()) if name else ()):
        # `check_layer` has refused a layer with values that are no days.
        day = read_day(value)
        if day is not None:
            yield index, day


def _end(bound: BoundRulebook) -> LawDate:
    book = bound.rulebook
    day = book.last_day + timedelta(days=1)
    words = f"{book.title} ends: later days are not answered. {book.outside_days.strip()}"
    return LawDate(day, day, "rulebook", words, book.citation, tuple(c.id for c in book.categories))


def edition_dates(store: Store, bound: BoundRulebook, *, chosen: Collection[str] = ()) -> tuple[LawDate, ...]:
    """Return the days on which another edition of the user's store is used, or one that is used begins or ends.

    Parameters
    ----------
    store
        The user's store.
    bound
        The rulebook, whose clauses look at layers.
    chosen
        Layers whose edition was chosen by name: they keep it whatever the day.
    """
    by_layer: dict[str, list[Held]] = {}
    for held in store.held():
        by_layer.setdefault(held.layer_id, []).append(held)
    found = []
    for layer_id, categories in layers_of(bound).items():
        if layer_id in by_layer and layer_id not in chosen:
            title = load_manifests()[layer_id].title
            for one in switches(by_layer[layer_id]):
                words = f"{title}: {_switch_words(one)}"
                found.append(LawDate(one.day, one.day, "edition", words, "", categories))
    return tuple(sorted(found))


def _switch_words(one: Switch) -> str:
    """Return which edition ends, and which one is used from then on, and why that one."""
    was, now = one.was, one.now
    parts = []
    if was is not None and was.edition is not None and one.held and not was.edition.manifest.covers(one.day):
        parts.append(f"the edition {was.name} ends")
    if now is None:
        parts.append("what ships is used")
    elif one.holds:
        begun = now.edition is None or one.day in {now.edition.manifest.valid_from, now.edition.manifest.edition}
        parts.append(f"the edition {now.name} {'begins' if begun else 'is used'}")
    elif now != was:
        parts.append(f"no edition covers the day, and the nearest edition becomes {now.name}")
    return "; ".join(parts)


def fact_dates(bound: BoundRulebook, facts: Mapping[str, FactValue]) -> tuple[LawDate, ...]:
    """Return the days that a site's stated facts name and that the rules compare with the as-of day, in order."""
    found = []
    for clause in bound.leaves:
        node = clause.node
        if not isinstance(node, SiteFactNode) or not node.site_fact.on_or_before_as_of:
            continue
        value = facts.get(node.site_fact.name)
        if isinstance(value, str) and load_facts()[node.site_fact.name].type == "date":
            day = date.fromisoformat(value)
            words = f"{load_facts()[node.site_fact.name].label}: the stated day comes"
            found.append(LawDate(day, day, "fact", words, clause.citation, (clause.path.partition(".")[0],)))
    return tuple(sorted(set(found)))


def concerning(dates: Iterable[LawDate], codes: Collection[str]) -> Iterator[LawDate]:
    """Yield the dates that are about no other municipality than some."""
    for one in dates:
        if not one.municipality or one.municipality in codes:
            yield one
