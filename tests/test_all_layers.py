"""With every layer drawn and every fact stated, nothing stays open for lack of code (acceptance 5).

Each run asks one place, with features of every unshipped layer around it or elsewhere, and with all facts true
and large or false and small. What ships takes part as it is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pytest
import shapely
from drawn import around, draw

from grownj_geo.atlas import Atlas
from grownj_geo.determine import Engine
from grownj_geo.facts import check_facts, load_facts
from grownj_geo.manifest import load_manifests
from grownj_geo.nodes import CategoryNode, UndeterminedNode, asked_categories, children_of
from grownj_geo.rulebook import load_rulebook, shipped_rulebooks
from grownj_geo.site import Site
from grownj_geo.units import to_working
from grownj_geo.values import ANSWER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grownj_geo.binding import BoundRulebook, Clause
    from grownj_geo.layer import Layer
    from grownj_geo.nodes import Node
    from grownj_geo.site import FactValue

WORDS = {1: "yes", 0: "undetermined", -1: "no"}

PLACES = {
    "camden": (-75.1190, 39.9447),
    "newark": (-74.1641, 40.7344),
    "atlantic_city": (-74.4376, 39.3602),
    "airport": (-74.5772, 39.4577),
    "princeton": (-74.6593, 40.3487),
    "hammonton": (-74.8024, 39.6365),
    "secaucus": (-74.0757, 40.7614),
    "weehawken": (-74.0160, 40.7745),
    "mahwah": (-74.1560, 41.1095),
}
ELSEWHERE = (-74.7400, 41.0500)

# The publisher's values of a feature, layer by layer.
PLAIN: dict[str, Mapping[str, Any]] = {
    "atlantic_city_tourism_district": {},
    "building_footprints": {},
    "census_tract_poverty": {"GEOID": "1", "POVERTY_RATE": "35.2", "ACS_EDITION": "2011-2015", "TRACT_VINTAGE": "2010"},
    "closed_military_land": {"FED_OWNED": "YES"},
    "designated_centers": {"CENNAME2": "Drawn", "CENTYPE": "UC", "CENDATE": "2000-01-01", "ENDDATE": "2020-01-01"},
    "endorsed_plan_centers": {"GROWTH_CENTER": "YES"},
    "freight_rail": {"FREIGHT": "YES"},
    "highlands_receiving_areas": {"DESIGNATED": "2010-01-01"},
    "highlands_region": {"REGION": "Highlands Planning Area"},
    "meadowlands_district": {},
    "meadowlands_master_plan_areas": {"SMART_GROWTH": "YES"},
    "meadowlands_redevelopment_plans": {"ADOPTED": "2010-01-01"},
    "pinelands_management_areas": {"MGT_NAME": "Regional Growth Area"},
    "planning_areas": {"SPDETAIL": "METROPOLITAN"},
    "redevelopment_areas": {"APPROVAL": "2010-01-01"},
    "rehabilitation_areas": {"RES_DATE": "2010-01-01"},
    "sports_exposition_land": {},
    "urban_enterprise_zones": {"UEZ_NAME": "Drawn", "MUN": "0408", "DATE_DESIG": "1990-01-01"},
}
RURAL = {
    "planning_areas": {"SPDETAIL": "ENVIRONMENTALLY SENSITIVE"},
    "pinelands_management_areas": {"MGT_NAME": "Forest Area"},
}
PRESERVED = {"highlands_region": {"REGION": "Highlands Preservation Area"}}
LAYERS: dict[str, tuple[bool, Mapping[str, Mapping[str, Any]]]] = {
    "here": (True, {}),
    "here_rural": (True, RURAL),
    "here_preserved": (True, PRESERVED),
    "elsewhere": (False, {}),
}
DATES = {
    True: {
        "redevelopment_designation_date": "2014-01-02",
        "rehabilitation_designation_date": "2014-01-02",
        "application_date": "2017-02-01",
        "approval_date": "2017-03-01",
    },
    False: {
        "redevelopment_designation_date": "2018-01-02",
        "rehabilitation_designation_date": "2018-01-02",
        "application_date": "2014-02-01",
        "approval_date": "2014-03-01",
    },
}
CHOICES = {True: {"industry": "manufacturing"}, False: {"industry": "other"}}
# The one figure that must be small: a spur a mile from the entrance, or a foot farther.
SPUR = {True: 5280.0, False: 5281.0}

# The clauses that are undetermined by themselves, and what each waits for.
OPERATORS = {
    "grow-nj": {
        "south_jersey_port.paulsboro_before.2": "A9: the terminal before its first vessel, until 2017-03-03",
        "port_ground_met.limbs.paulsboro_before.2": "A9: the terminal before its first vessel, until 2017-03-03",
        "qia_ground_apart.sports_authority_before.3": "A22: the wording before 2016-06-06 is not available",
        "transit_oriented_development.out_of_state.2": "A44: whether a station outside New Jersey counts",
        "transit_bonus.out_of_state.2": "A44: whether a station outside New Jersey counts",
        "mega_5_area.before.2": "the paragraph before it was in the rules, until 2017-01-03",
        "revitalization_index_2007": "the 2007 index was not found",
    },
    "urban-transit-hub": {},
    "a1178-areas": {
        "neighborhood_revitalization_municipality.like": "the act's test of a municipality was not read",
    },
}
# What may come out undetermined on the default day, and where.
EVERYWHERE = frozenset(PLACES)
NEW_YORK_LINE = frozenset({"mahwah"})
NOT_AIDED = frozenset({"airport", "hammonton", "princeton", "secaucus", "mahwah"})
OPEN: dict[str, dict[str, tuple[frozenset[str], str]]] = {
    "grow-nj": {
        "revitalization_index_2007": (EVERYWHERE, "its whole rule is one undetermined clause"),
        "transit_oriented_development": (NEW_YORK_LINE, "near Suffern only, clause out_of_state (A44)"),
        "transit_bonus": (NEW_YORK_LINE, "near Suffern only, clause out_of_state (A44)"),
        "priority_ground": (NEW_YORK_LINE, "asks transit_oriented_development, and no other ground holds there"),
    },
    "urban-transit-hub": {},
    "a1178-areas": {
        "neighborhood_revitalization_municipality": (NOT_AIDED, "clause like: wording not read"),
        "neighborhood_revitalization_project": (NOT_AIDED, "asks the municipality"),
    },
}
# What can never come out, for want of a wording or a figure.
NEVER = {
    ("grow-nj", "revitalization_index_2007", "yes"): "the index was not found",
    ("grow-nj", "revitalization_index_2007", "no"): "the index was not found",
    ("a1178-areas", "neighborhood_revitalization_municipality", "no"): "a like municipality cannot be ruled out",
}


def drawn_layers(place: str, variant: str) -> list[Layer]:
    here, changed = LAYERS[variant]
    around_what = PLACES[place] if here else ELSEWHERE
    layers = []
    for layer_id, plain in PLAIN.items():
        shape: shapely.Geometry = around(around_what, 5000.0)
        if load_manifests()[layer_id].kind == "line":
            x, y = (float(v) for v in to_working(*around_what))
            shape = shapely.LineString([(x - 5000, y), (x + 5000, y)])
        layers.append(draw(layer_id, [(shape, changed.get(layer_id, plain))]))
    return layers


def stated(truth: bool) -> dict[str, FactValue]:  # noqa: FBT001
    found: dict[str, object] = {}
    for name, fact in load_facts().items():
        if fact.type == "boolean":
            found[name] = truth
        elif fact.type == "number":
            large = 100.0 if fact.maximum == 100 else 1e9
            found[name] = large if truth else 0.0
        else:
            found[name] = (DATES[truth] | CHOICES[truth])[name]
    found["freight_spur_distance_ft"] = SPUR[truth]
    return {**check_facts(found)}


@lru_cache(maxsize=64)
def engine(place: str, variant: str, book: str) -> Engine:
    return Engine(Atlas(layers=drawn_layers(place, variant)), load_rulebook(book))


@lru_cache(maxsize=1024)
def outcomes(book: str, place: str, variant: str, *, truth: bool) -> dict[str, str]:
    x, y = to_working(*PLACES[place])
    facts = stated(truth)
    if not truth:
        # No value at all has no exempt share: a small one must be stated.
        facts["net_taxable_value_2006"] = 1e9
    asked = Site(typed=place, located_by="drawn", geometry=shapely.Point(float(x), float(y)), facts=facts)
    run = engine(place, variant, book).run(asked)
    return {c.id: WORDS[int(run.category(c.id).outcomes[ANSWER, 0])] for c in load_rulebook(book).categories}


def inner(path: str, node: Node) -> Iterator[tuple[str, Node]]:
    yield path, node
    for i, child in enumerate(children_of(node), start=1):
        yield from inner(f"{path}.{child.id or i}", child)


def in_force(clause: Clause) -> Iterator[Clause]:
    if clause.counts:
        yield clause
        for child in clause.children:
            yield from in_force(child)


def may_stay_open(bound: BoundRulebook) -> set[str]:
    """Return the categories that have an undetermined clause in force, or ask for one that has."""
    found: set[str] = set()
    while True:
        more = {
            category
            for category, top in bound.clauses.items()
            for clause in in_force(top)
            if isinstance(clause.node, UndeterminedNode)
            or (isinstance(clause.node, CategoryNode) and clause.node.category in found)
            or (not clause.children and not found.isdisjoint(asked_categories(clause.node)))
        }
        if more <= found:
            return found
        found |= more


RUNS = [(place, variant, truth) for place in PLACES for variant in LAYERS for truth in (True, False)]


def test_every_layer_that_does_not_ship_is_drawn() -> None:
    assert {layer_id for layer_id, manifest in load_manifests().items() if not manifest.ships} == set(PLAIN)


@pytest.mark.parametrize("variant", LAYERS)
def test_every_layer_is_loaded(variant: str) -> None:
    assert {record.status for record in engine("camden", variant, "grow-nj").layer_records} == {"loaded"}


@pytest.mark.parametrize("truth", [True, False])
def test_every_fact_is_stated(truth: bool) -> None:  # noqa: FBT001
    assert set(stated(truth)) == set(load_facts())


@pytest.mark.parametrize("book", shipped_rulebooks())
def test_the_clauses_that_are_undetermined_by_themselves(book: str) -> None:
    own = {
        path
        for category in load_rulebook(book).categories
        if not any(category.id in load_categories(source) for source in load_rulebook(book).uses)
        for path, node in inner(category.id, category.rule)
        if isinstance(node, UndeterminedNode)
    }
    assert own == set(OPERATORS[book])


def load_categories(book: str) -> set[str]:
    return {category.id for category in load_rulebook(book).categories}


@pytest.mark.parametrize("book", shipped_rulebooks())
def test_only_what_such_a_clause_reaches_is_named_as_open(book: str) -> None:
    assert set(OPEN[book]) <= may_stay_open(engine("camden", "here", book).bound)


@pytest.mark.parametrize("book", shipped_rulebooks())
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("variant", LAYERS)
@pytest.mark.parametrize("truth", [True, False], ids=["all_true", "all_false"])
def test_nothing_is_undetermined_for_lack_of_code(book: str, place: str, variant: str, truth: bool) -> None:  # noqa: FBT001
    found = outcomes(book, place, variant, truth=truth)
    undetermined = {category for category, outcome in found.items() if outcome == "undetermined"}
    assert undetermined <= {category for category, (places, _) in OPEN[book].items() if place in places}


@pytest.mark.parametrize("book", shipped_rulebooks())
def test_every_category_takes_yes_and_no(book: str) -> None:
    taken = {
        (category, outcome)
        for place, variant, truth in RUNS
        for category, outcome in outcomes(book, place, variant, truth=truth).items()
    }
    lacking = {
        (book, category.id, word)
        for category in load_rulebook(book).categories
        for word in ("yes", "no")
        if (category.id, word) not in taken
    }
    assert lacking == {key for key in NEVER if key[0] == book}


@pytest.mark.parametrize("book", shipped_rulebooks())
def test_what_is_named_as_open_does_come_out_open(book: str) -> None:
    seen = {
        category
        for place, variant, truth in RUNS
        for category, outcome in outcomes(book, place, variant, truth=truth).items()
        if outcome == "undetermined"
    }
    assert seen == set(OPEN[book])
