"""The parts of a map page that are files: Leaflet from its pinned package, and the page's own templates."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from importlib import resources
from importlib.util import find_spec

from grownj_geo.features import LayerFault

__all__ = ["INSTALL", "INSTALL_PICTURES", "check_installed", "leaflet_files", "map_template", "page_css", "page_js"]

INSTALL = "pip install 'grownj-geo[map]'"
"""What to type for the packages that maps need."""
INSTALL_PICTURES = "pip install 'grownj-geo[pictures]'"
"""What to type for the package that pictures need."""

# The files of django-js-lib-leaflet 1.9.4.1 (Leaflet 1.9.4): another file is not put into a page unseen.
_LEAFLET = {
    "leaflet.js": "db49d009c841f5ca34a888c96511ae936fd9f5533e90d8b2c4d57596f4e5641a",
    "leaflet.css": "a7837102824184820dfa198d1ebcd109ff6d0ff9a2672a074b9a1b4d147d04c6",
}
_SCRIPTS = ("map_data.js", "map_areas.js", "map_sites.js", "map_panel.js", "map_page.js")
_SOURCE_MAP = re.compile(r"^//# sourceMappingURL=.*$", re.MULTILINE)
# Pictures of controls that the page does not have: nothing in it may point outside.
_PICTURE = re.compile(r"url\((?:images/[^)]*|#default#VML)\)")


def check_installed(*, page: bool, picture: bool) -> None:
    """Refuse to begin where a package is missing that the end will need.

    Parameters
    ----------
    page, picture
        What will be written.

    Raises
    ------
    LayerFault
        ``not_installed``, with what to type.
    """
    wanted = {"folium": INSTALL, "js_lib_leaflet": INSTALL} if page else {}
    wanted |= {"matplotlib": INSTALL_PICTURES, "rtree": INSTALL_PICTURES} if picture else {}
    missing = {name: how for name, how in wanted.items() if find_spec(name) is None}
    if missing:
        what = "Pictures need" if INSTALL_PICTURES in missing.values() else "Maps need"
        ways = " and ".join(dict.fromkeys(missing.values()))
        raise LayerFault("not_installed", f"{what} {', '.join(missing)}, which is not installed. Install it: {ways}.")


@lru_cache(maxsize=1)
def leaflet_files() -> tuple[str, str]:
    """Return Leaflet's script and style sheet, without references to other files.

    Raises
    ------
    LayerFault
        ``not_installed`` where the package that holds them is not there, ``other_version`` where they are not the ones
        that were looked at.
    """
    if find_spec("js_lib_leaflet") is None:
        raise LayerFault("not_installed", f"Maps need Leaflet, which is not installed. Install it: {INSTALL}.")
    folder = resources.files("js_lib_leaflet") / "static" / "js_lib_leaflet"
    texts = {}
    for name, wanted in _LEAFLET.items():
        content = (folder / name).read_bytes()
        found = hashlib.sha256(content).hexdigest()
        if found != wanted:
            raise LayerFault(
                "other_version",
                f"Leaflet's {name} has the checksum {found[:12]}; expected {wanted[:12]}, that of version 1.9.4. "
                f"Install the pinned one: {INSTALL}.",
            )
        texts[name] = content.decode("utf-8").replace("\r\n", "\n")
    return _SOURCE_MAP.sub("", texts["leaflet.js"]), _PICTURE.sub("none", texts["leaflet.css"])


def _template(name: str) -> str:
    return (resources.files("grownj_geo") / "templates" / name).read_text(encoding="utf-8")


def map_template() -> str:
    """Return the template of the page: macros as folium renders them."""
    return _template("map.html")


def page_css() -> str:
    """Return the page's style sheet."""
    return _template("map.css")


def page_js() -> str:
    """Return the page's scripts as one."""
    return "\n".join(_template(name) for name in _SCRIPTS)
