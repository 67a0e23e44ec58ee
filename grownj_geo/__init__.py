"""Which Grow New Jersey incentive areas a site is in, by which words, measured how, and how sure that is.

Examples
--------
>>> import grownj_geo as gj
>>> atlas = gj.load_atlas(as_of="2017-04-17")
>>> gj.determine("40.7344,-74.1641", atlas)["transit_oriented_development"].outcome
'yes'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grownj_geo.atlas import Atlas, load_atlas
from grownj_geo.determination import Determination, Finding
from grownj_geo.determine import Engine, determine
from grownj_geo.errors import FactError, LayerError, OutsideNewJerseyError, RulebookError, SiteError
from grownj_geo.logic import Outcome
from grownj_geo.rulebook import load_rulebook, read_rulebook
from grownj_geo.site import Site

if TYPE_CHECKING:
    from grownj_geo.areapieces import drawn_areas
    from grownj_geo.areas import Areas, areas_of
    from grownj_geo.batch import run_batch
    from grownj_geo.creditproject import project_of, read_project
    from grownj_geo.credits import estimate
    from grownj_geo.creditsites import areas_of_project
    from grownj_geo.export import export_areas, export_sites
    from grownj_geo.fetching import fetch_layer
    from grownj_geo.finder import Finder
    from grownj_geo.found import UnsettledSiteError
    from grownj_geo.frames import classify
    from grownj_geo.loading import import_layer
    from grownj_geo.mapshow import map_page
    from grownj_geo.nextbetter import next_better
    from grownj_geo.parcelbuild import import_address_points, import_parcels
    from grownj_geo.parcelstore import ParcelStore
    from grownj_geo.store import Store

__all__ = [
    "Areas",
    "Atlas",
    "Determination",
    "Engine",
    "FactError",
    "Finder",
    "Finding",
    "LayerError",
    "Outcome",
    "OutsideNewJerseyError",
    "ParcelStore",
    "RulebookError",
    "Site",
    "SiteError",
    "Store",
    "UnsettledSiteError",
    "areas_of",
    "areas_of_project",
    "classify",
    "determine",
    "drawn_areas",
    "estimate",
    "export_areas",
    "export_sites",
    "fetch_layer",
    "import_address_points",
    "import_layer",
    "import_parcels",
    "load_atlas",
    "load_rulebook",
    "map_page",
    "next_better",
    "project_of",
    "read_project",
    "read_rulebook",
    "run_batch",
]

# Imported when they are first asked for: whoever asks about one site does not wait for what tables and layers need.
_LATER = {
    "Areas": "areas",
    "Finder": "finder",
    "ParcelStore": "parcelstore",
    "Store": "store",
    "UnsettledSiteError": "found",
    "areas_of": "areas",
    "areas_of_project": "creditsites",
    "classify": "frames",
    "drawn_areas": "areapieces",
    "estimate": "credits",
    "export_areas": "export",
    "export_sites": "export",
    "fetch_layer": "fetching",
    "import_address_points": "parcelbuild",
    "import_layer": "loading",
    "import_parcels": "parcelbuild",
    "map_page": "mapshow",
    "next_better": "nextbetter",
    "project_of": "creditproject",
    "read_project": "creditproject",
    "run_batch": "batch",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever is asked for
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - only where it is used

    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
