"""Which Grow New Jersey incentive areas a site is in, by which words, measured how, and how sure that is.

Examples
--------
>>> import grownj_geo as gj
>>> atlas = gj.load_atlas(as_of="2017-04-17")
>>> gj.determine("40.7344,-74.1641", atlas)["transit_oriented_development"].outcome
'yes'
"""

from __future__ import annotations

from grownj_geo.atlas import Atlas, load_atlas
from grownj_geo.determination import Determination, Finding
from grownj_geo.determine import Engine, determine
from grownj_geo.errors import FactError, LayerError, OutsideNewJerseyError, RulebookError, SiteError
from grownj_geo.logic import Outcome
from grownj_geo.rulebook import load_rulebook, read_rulebook
from grownj_geo.site import Site

__all__ = [
    "Atlas",
    "Determination",
    "Engine",
    "FactError",
    "Finding",
    "LayerError",
    "Outcome",
    "OutsideNewJerseyError",
    "RulebookError",
    "Site",
    "SiteError",
    "determine",
    "load_atlas",
    "load_rulebook",
    "read_rulebook",
]
