"""Looks of features, and as QML and SLD."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from few_world import few

from grownj_geo.areapieces import CLASSES, area_ids
from grownj_geo.exportstyles import area_look, qml, site_look, sld

OGC = "{http://www.opengis.net/ogc}"
SLD = "{http://www.opengis.net/sld}"


def test_every_area_has_a_look_for_every_class() -> None:
    for area in area_ids(few()):
        look = area_look(area)
        assert [known.value for known in look.classes] == list(CLASSES)
        # Told apart without colour: no two classes have one pattern.
        assert len({known.pattern for known in look.classes}) == len(CLASSES)


def test_areas_have_the_colours_of_the_legend() -> None:
    assert area_look("distressed_municipality").classes[0].colour == "#E69F00"
    assert area_look("garden_state_growth_zone").classes[0].colour == "#CC79A7"
    assert area_look("rail_transit_half_mile").classes[0].colour == "#0072B2"
    assert area_look("transit_oriented_development").classes[0].colour == "#0072B2"
    assert area_look("deep_poverty_pocket").classes[0].colour == "#D55E00"
    assert area_look("qualified_incentive_area").classes[0].colour == area_look("priority_area").classes[0].colour


@pytest.mark.parametrize("points", [False, True])
def test_qml_has_a_symbol_for_each_class(points: bool) -> None:  # noqa: FBT001
    look = site_look(few(), "class", points=points)
    root = ET.fromstring(qml(look))  # noqa: S314 - our own
    renderer = root.find("renderer-v2")
    assert renderer is not None
    assert renderer.get("attr") == '"class"'
    categories, symbols = renderer.findall("categories/category"), renderer.findall("symbols/symbol")
    assert [c.get("value") for c in categories] == [known.value for known in look.classes]
    assert {c.get("symbol") for c in categories} == {s.get("name") for s in symbols}
    assert {s.get("type") for s in symbols} == {"marker" if points else "fill"}


def test_sld_has_a_rule_for_each_class_and_the_name_of_the_field_in_the_file() -> None:
    look = area_look("port_district")
    root = ET.fromstring(sld(look, name="port", title="Port & <district>", field="klass"))  # noqa: S314
    rules = root.findall(f".//{SLD}Rule")
    assert [rule.findtext(f".//{OGC}Literal") for rule in rules] == list(CLASSES)
    assert {rule.findtext(f".//{OGC}PropertyName") for rule in rules} == {"klass"}
    assert root.findtext(f".//{SLD}UserStyle/{SLD}Title") == "Port & <district>"


def test_an_unknown_value_is_drawn_as_the_last_class() -> None:
    assert area_look("port_district").of("what").value == "undetermined_shore"
