"""How features are drawn, once for all formats, and as QML (QGIS) and SLD (GeoServer, ArcGIS and others)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from grownj_geo.areapieces import CLASSES
from grownj_geo.palette import NO_AMOUNT, NO_ANSWER, AreaClass, area_class, area_classes, tier_looks

if TYPE_CHECKING:
    from grownj_geo.determine import Engine

__all__ = ["Look", "LookClass", "area_look", "qml", "site_look", "sld"]

_INK = "#333333"
_SLD, _OGC = "http://www.opengis.net/sld", "http://www.opengis.net/ogc"
_BRUSHES = {
    "solid": "solid",
    "diagonal": "f_diagonal",
    "antidiagonal": "b_diagonal",
    "cross": "diagonal_x",
    "dots": "dense6",
    "outline": "no",
}
_MARKS = {
    "square": "square",
    "diamond": "diamond",
    "triangle": "triangle",
    "circle": "circle",
    "ring": "circle",
    "cross": "cross2",
}
_SLD_FILLS = {
    "diagonal": "shape://backslash",
    "antidiagonal": "shape://slash",
    "cross": "shape://times",
    "dots": "shape://dot",
}
_SLD_MARKS = {
    "square": "square",
    "diamond": "square",
    "triangle": "triangle",
    "circle": "circle",
    "ring": "circle",
    "cross": "x",
}
_TURNED = 45


@dataclass(frozen=True)
class LookClass:
    """How features with one value of a field are drawn.

    Attributes
    ----------
    value, label
        The field's value, and the legend's words.
    colour, opacity, pattern
        Of the fill: ``#RRGGBB``, 0 to 1, a pattern of the palette.
    shape
        Of a point's mark.
    """

    value: str
    label: str
    colour: str
    opacity: float
    pattern: str = "solid"
    shape: str = "circle"


@dataclass(frozen=True)
class Look:
    """How the features of a table are drawn, by the values of a field.

    Attributes
    ----------
    field
        The field's name.
    classes
        Its values, in the order of the legend.
    points
        Whether the features are points.
    """

    field: str
    classes: tuple[LookClass, ...]
    points: bool = False

    def of(self, value: object) -> LookClass:
        """Return how a value is drawn; one that is not known, as the last class."""
        return next((known for known in self.classes if known.value == value), self.classes[-1])


def _class_of(area: str) -> AreaClass:
    """Return the palette's class of an area: by its id, by the category that it draws, or the incentive area's."""
    for known in area_classes():
        if area == known.id or (known.draw is not None and known.draw.category == area):
            return known
    # What is no class of the legend looks like the class whose beginning of an id says most of its own.
    starts = {start: known for known in reversed(area_classes()) for start in (known.id, *known.like)}
    fitting = [start for start in starts if area.startswith(start)]
    if fitting:
        return starts[max(fitting, key=len)]
    return area_class("qualified_incentive_area")


def area_look(area: str) -> Look:
    """Return how an area is drawn: its own colour where it holds, greys and patterns where that is undetermined.

    Examples
    --------
    >>> [known.pattern for known in area_look("aviation_district").classes][:3]
    ['solid', 'antidiagonal', 'diagonal']
    """
    own, open_ = _class_of(area).colour, area_class("undetermined")
    drawn = {
        "yes": (own, 0.5, "solid"),
        "yes_assumed": (own, 0.8, "antidiagonal"),
        "undetermined_line": (own, 0.8, "diagonal"),
        "undetermined_map": (open_.colour, 0.6, "dots"),
        "undetermined_fact": (open_.colour, 0.6, "cross"),
        "undetermined_shore": (open_.colour, 0.4, "outline"),
    }
    words = CLASSES.items()
    return Look(
        "class", tuple(LookClass(value, f"{label[0].upper()}{label[1:]}", *drawn[value]) for value, label in words)
    )


_ANSWERS = (
    ("yes", "Yes", "#0072B2", "square"),
    ("undetermined", "Undetermined", "#E69F00", "triangle"),
    ("no", "No", "#999999", "circle"),
)


def site_look(engine: Engine, field: str, *, points: bool) -> Look:
    """Return how sites are drawn: by their sure base amount, or by the first category where there are no amounts.

    Parameters
    ----------
    engine
        Its rulebook says which amounts there are.
    field
        The field that holds the class.
    points
        Whether the sites are points.
    """
    tiers = tuple(tier.dollars for tier in engine.rulebook.tiers if not tier.project)
    if tiers:
        found = [
            LookClass(str(dollars), f"${dollars:,}", look.colour, 0.9, "solid", look.shape)
            for dollars, look in tier_looks(tiers).items()
        ]
        found.append(LookClass("no_amount", "No base amount is sure", NO_AMOUNT.colour, 0.9, "solid", NO_AMOUNT.shape))
    else:
        found = [LookClass(value, label, colour, 0.9, "solid", shape) for value, label, colour, shape in _ANSWERS]
    found.append(LookClass("no_answer", "No answer", NO_ANSWER.colour, 0.9, "solid", NO_ANSWER.shape))
    return Look(field, tuple(found), points)


# -- QML -----------------------------------------------------------------------------------------------


def _rgba(colour: str, opacity: float = 1.0) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"{red},{green},{blue},{round(255 * opacity)}"


def _options(parent: Element, values: dict[str, str]) -> None:
    """Write a symbol's properties as newer releases of QGIS read them, and as older ones do."""
    options = SubElement(parent, "Option", type="Map")
    for name, value in values.items():
        SubElement(options, "Option", name=name, type="QString", value=value)
    for name, value in values.items():
        SubElement(parent, "prop", k=name, v=value)


def qml(look: Look, *, field: str | None = None) -> str:
    """Return a look as a layer style of QGIS.

    Parameters
    ----------
    look
        The look.
    field
        The field's name in the file, where it is another one there.
    """
    root = Element("qgis", version="3.22.0", styleCategories="Symbology")
    renderer = SubElement(
        root, "renderer-v2", type="categorizedSymbol", attr=f'"{field or look.field}"', symbollevels="0",
        forceraster="0", enableorderby="0",
    )  # fmt: skip
    categories, symbols = SubElement(renderer, "categories"), SubElement(renderer, "symbols")
    for number, known in enumerate(look.classes):
        SubElement(
            categories, "category", value=known.value, label=known.label, symbol=str(number), render="true",
            type="string",
        )  # fmt: skip
        kind = "marker" if look.points else "fill"
        symbol = SubElement(
            symbols, "symbol", name=str(number), type=kind, alpha="1", clip_to_extent="1", force_rhr="0"
        )
        layer = SubElement(symbol, "layer", {"class": _layer_class(look), "pass": "0", "enabled": "1", "locked": "0"})
        _options(layer, _marker(known) if look.points else _fill(known))
    SubElement(root, "blendMode").text = "0"
    SubElement(root, "layerGeometryType").text = "0" if look.points else "2"
    return "<!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>\n" + _text(root)


def _layer_class(look: Look) -> str:
    return "SimpleMarker" if look.points else "SimpleFill"


def _fill(known: LookClass) -> dict[str, str]:
    return {
        "color": _rgba(known.colour, known.opacity),
        "style": _BRUSHES[known.pattern],
        "outline_color": _rgba(_INK if known.pattern == "solid" else known.colour),
        "outline_style": "solid",
        "outline_width": "0.2",
        "outline_width_unit": "MM",
        "joinstyle": "bevel",
        "offset": "0,0",
        "offset_unit": "MM",
    }


def _marker(known: LookClass) -> dict[str, str]:
    return {
        "name": _MARKS[known.shape],
        "color": _rgba(known.colour, known.opacity),
        "outline_color": _rgba(_INK),
        "outline_style": "solid",
        "outline_width": "0.6" if known.shape == "ring" else "0.3",
        "outline_width_unit": "MM",
        "size": "2.8",
        "size_unit": "MM",
        "angle": "0",
        "offset": "0,0",
        "offset_unit": "MM",
        "joinstyle": "bevel",
    }


def _text(root: Element) -> str:
    indent(root)
    return tostring(root, encoding="unicode") + "\n"


# -- SLD -----------------------------------------------------------------------------------------------


def sld(look: Look, *, name: str, title: str, field: str | None = None) -> str:
    """Return a look as a Styled Layer Descriptor, version 1.0.0.

    Parameters
    ----------
    look
        The look.
    name, title
        The layer's name in the file, and for people.
    field
        The field's name in the file, where it is another one there.
    """
    root = Element("StyledLayerDescriptor", {"version": "1.0.0", "xmlns": _SLD, "xmlns:ogc": _OGC})
    layer = SubElement(root, "NamedLayer")
    SubElement(layer, "Name").text = name
    style = SubElement(layer, "UserStyle")
    SubElement(style, "Name").text = name
    SubElement(style, "Title").text = title
    kind = SubElement(style, "FeatureTypeStyle")
    for known in look.classes:
        rule = SubElement(kind, "Rule")
        SubElement(rule, "Name").text = known.value
        SubElement(rule, "Title").text = known.label
        test = SubElement(SubElement(rule, "ogc:Filter"), "ogc:PropertyIsEqualTo")
        SubElement(test, "ogc:PropertyName").text = field or look.field
        SubElement(test, "ogc:Literal").text = known.value
        (_sld_point if look.points else _sld_polygon)(rule, known)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + _text(root)


def _css(parent: Element, **values: Any) -> None:  # noqa: ANN401 - texts and numbers
    for name, value in values.items():
        SubElement(parent, "CssParameter", name=name.replace("_", "-")).text = str(value)


def _sld_polygon(rule: Element, known: LookClass) -> None:
    symbol = SubElement(rule, "PolygonSymbolizer")
    if known.pattern == "solid":
        _css(SubElement(symbol, "Fill"), fill=known.colour, fill_opacity=known.opacity)
    elif known.pattern in _SLD_FILLS:
        graphic = SubElement(SubElement(SubElement(symbol, "Fill"), "GraphicFill"), "Graphic")
        mark = SubElement(graphic, "Mark")
        SubElement(mark, "WellKnownName").text = _SLD_FILLS[known.pattern]
        _css(SubElement(mark, "Stroke"), stroke=known.colour, stroke_width=1, stroke_opacity=known.opacity)
        SubElement(graphic, "Size").text = "8"
    _css(SubElement(symbol, "Stroke"), stroke=_INK if known.pattern == "solid" else known.colour, stroke_width=0.5)


def _sld_point(rule: Element, known: LookClass) -> None:
    graphic = SubElement(SubElement(rule, "PointSymbolizer"), "Graphic")
    mark = SubElement(graphic, "Mark")
    SubElement(mark, "WellKnownName").text = _SLD_MARKS[known.shape]
    _css(SubElement(mark, "Fill"), fill=known.colour, fill_opacity=known.opacity)
    _css(SubElement(mark, "Stroke"), stroke=_INK, stroke_width=1.5 if known.shape == "ring" else 0.75)
    SubElement(graphic, "Size").text = "9"
    if known.shape == "diamond":
        SubElement(graphic, "Rotation").text = str(_TURNED)
