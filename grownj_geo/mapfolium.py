"""The page of a map in folium's terms: the map, its panes, a group for each class of area, tiles where wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import folium
from branca.element import Figure, MacroElement
from folium.map import CustomPane
from folium.template import Template

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["rendered_page"]

_PANES = {"municipalities": 250, "areas": 400, "labels": 430, "lines": 450, "sites": 500, "distances": 640}
_MIDDLE = (40.1, -74.6)


class _Page(Figure):
    """A page with a policy before anything else, and no script after its body."""

    _template = Template(
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" content="GROWNJ-POLICY">\n'
        "<title>GROWNJ-TITLE</title>\n{{ this.header.render(**kwargs) }}\n</head>\n<body>\n"
        "{{ this.html.render(**kwargs) }}\n<script>\n{{ this.script.render(**kwargs) }}\n</script>\n</body>\n</html>\n"
    )

    def __init__(self) -> None:
        super().__init__()
        # The page says its encoding itself.
        self.header._children.clear()  # noqa: SLF001 - branca offers no other way


class _Map(folium.Map):
    """Folium's map in a page of its own, with Leaflet inside it and none of folium's other libraries."""

    default_js: list[tuple[str, str]] = []  # noqa: RUF012 - folium's own
    default_css: list[tuple[str, str]] = []  # noqa: RUF012 - same

    def __init__(self, template: str, *, online: bool, **options: Any) -> None:  # noqa: ANN401 - folium's own
        super().__init__(**options)
        self._template = Template(template)
        # Who gives tiles away wants to know which page asks for them.
        self.online = online

    def get_name(self) -> str:
        """Return one name always, so that equal maps are equal bytes."""
        return "map"

    def leaflet_script(self, kwargs: Mapping[str, Any]) -> str:
        """Return what folium itself has a map do."""
        return str(folium.Map._template.module.script(self, kwargs))  # noqa: SLF001 - as folium renders it


class _Class(folium.FeatureGroup):
    """A group that the page fills when it is first shown."""

    def __init__(self, known: str) -> None:
        self._known = known
        super().__init__(name=known, control=False, show=False)

    def get_name(self) -> str:
        """Return a name by its class."""
        return f"class_{self._known}"


class _Pane(CustomPane):
    """A pane with a name by what it holds."""

    def get_name(self) -> str:
        """Return a name by what it holds."""
        return f"pane_{self.name}"


class _Tiles(folium.TileLayer):
    """Tiles with one name always."""

    def get_name(self) -> str:
        """Return one name always."""
        return "tiles"


class _Start(MacroElement):
    """Hands the map and its groups to the page's own script."""

    _template = Template(
        "{% macro script(this, kwargs) %}\n"
        "grownj.start({{ this._parent.get_name() }}, {\n"
        "{% for known in this.classes %}{{ known.layer_name|tojson }}: {{ known.get_name() }},\n{% endfor %}});\n"
        "{% endmacro %}"
    )

    def __init__(self, classes: Sequence[_Class]) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # branca's own
        self._name = "Start"
        self.classes = classes

    def get_name(self) -> str:
        """Return one name always."""
        return "start"


def rendered_page(template: str, classes: Sequence[str], *, tiles: tuple[str, str] | None = None) -> str:
    """Return a page with a map, with marks where its texts, styles and scripts go.

    Folium reads as a template again what an element has rendered. So nothing that anybody else wrote may pass through
    here: it is put in the place of the marks afterwards.

    Parameters
    ----------
    template
        Macros ``header``, ``html`` and ``script`` of the map.
    classes
        Ids of the classes of area, in drawing order.
    tiles
        Address of tiles and whom they are from; None for none.
    """
    page = _Page()
    # Tiles are sharp at whole zooms only; drawn lines are at any.
    step = 1.0 if tiles is not None else 0.25
    about: dict[str, Any] = {"location": _MIDDLE, "zoom_start": 8, "control_scale": True, "zoom_snap": step}
    drawn = _Map(template, online=tiles is not None, tiles=None, **about)
    page.add_child(drawn)
    if tiles is not None:
        drawn.add_child(_Tiles(tiles[0], attr=tiles[1], control=False, max_zoom=19))
    for name, height in _PANES.items():
        drawn.add_child(_Pane(name, z_index=height))
    groups = [_Class(known) for known in classes]
    for group in groups:
        drawn.add_child(group)
    drawn.add_child(_Start(groups))
    return str(page.render())
