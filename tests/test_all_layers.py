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

from grownj_geo.atlas import DEFAULT_AS_OF, Atlas
from grownj_geo.determine import Engine
from grownj_geo.evaluate import ANSWER
from grownj_geo.facts import check_facts, load_facts
from grownj_geo.manifest import load_manifests
from grownj_geo.nodes import UndeterminedNode
from grownj_geo.rulebook import load_rulebook, shipped_rulebooks
from grownj_geo.site import Site
from grownj_geo.units import to_working

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grownj_geo.layer import Layer
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

# The publisher's values of a feature, layer by layer; None draws the layer without values.
PLAIN: dict[str, Mapping[str, Any]] = {
    "atlantic_city_tourism_district": {},
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
RURAL = {"planning_areas": {"SPDETAIL": "ENVIRONMENTALLY SENSITIVE"}, "pinelands_management_areas": {"MGT_NAME": "Forest Area"}}
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
            found[name] = {**DATES, "": {}}[truth].get(name) or CHOICES[truth][name]
    found["freight_spur_distance_ft"] = SPUR[truth]
    return {**check_facts(found)}


@lru_cache(maxsize=64)
def engine(place: str, variant: str, book: str) -> Engine:
    return Engine(Atlas(layers=drawn_layers(place, variant)), load_rulebook(book))


def outcomes(book: str, place: str, variant: str, *, truth: bool) -> dict[str, str]:
    x, y = to_working(*PLACES[place])
    facts = stated(truth)
    if book != "grow-nj" and not truth:
        # No value at all has no exempt share: a small one must be stated.
        facts["net_taxable_value_2006"] = 1e9
    asked = Site(typed=place, located_by="drawn", geometry=shapely.Point(float(x), float(y)), facts=facts)
    run = engine(place, variant, book).run(asked)
    return {c.id: WORDS[int(run.category(c.id).outcomes[ANSWER, 0])] for c in load_rulebook(book).categories}
