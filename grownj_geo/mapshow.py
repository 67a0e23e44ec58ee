"""The map of a notebook: areas and sites of an engine, shown in place or kept as a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from grownj_geo.mapareas import draw_areas, showing, shown_classes
from grownj_geo.maps import map_html, write_map
from grownj_geo.mapsites import sites_of_places

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from grownj_geo.determine import Engine
    from grownj_geo.mapsites import NotAnswered
    from grownj_geo.site import Site

__all__ = ["MapPage", "map_page"]


@dataclass(frozen=True)
class MapPage:
    """A map as a page that loads nothing; a notebook shows it where it is the last value of a cell.

    Attributes
    ----------
    html
        The whole page.
    not_answered
        Sites without an answer, and why; the page lists them too.
    not_drawn
        Layers that are not loaded, with the command that loads each.
    height_px
        How high a notebook shows it, in pixels.
    """

    html: str
    not_answered: tuple[NotAnswered, ...]
    not_drawn: tuple[str, ...]
    height_px: int = 560

    def _repr_html_(self) -> str:
        """Return a frame that holds the page: its scripts run apart from the notebook and cannot reach it."""
        return (
            f'<iframe title="Map of incentive areas" sandbox="allow-scripts" srcdoc="{escape(self.html)}" '
            f'style="width:100%;height:{self.height_px}px;border:1px solid #bbb"></iframe>'
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file, whole or not at all, and return where.

        Raises
        ------
        LayerFault
            If the disk is full or the file cannot be written.
        """
        target = Path(path)
        write_map(target, self.html)
        return target


def map_page(
    engine: Engine,
    sites: Iterable[Site] | Mapping[str, Site] = (),
    *,
    show: Sequence[str] | None = None,
    online: bool = False,
    height_px: int = 560,
) -> MapPage:
    """Draw an engine's areas with sites on them, as ``grownj map`` does.

    Needs the extra ``map``. Every site is asked by itself, in this process; thousands are the business of
    ``grownj map TABLE``.

    Parameters
    ----------
    engine
        Rules, readings and layers.
    sites
        The sites, or the sites by name.
    show
        Classes of area to show at first, such as ``"port_district"``; the usual ones by default.
    online
        Show street tiles, which are fetched when the page is opened.
    height_px
        How high a notebook shows it, in pixels.

    Raises
    ------
    LayerFault
        ``not_installed``, with what to install.
    LayerError
        For a class of area that there is not.

    Examples
    --------
    >>> from grownj_geo import Engine, Site, load_atlas, load_rulebook
    >>> engine = Engine(load_atlas(), load_rulebook())
    >>> page = map_page(engine, {"Newark Penn Station": Site.from_lonlat(-74.1641, 40.7344)})
    >>> "Newark Penn Station" in page.html, page.not_answered
    (True, ())
    """
    names: list[str] | None = None
    places: list[Site] = []
    if isinstance(sites, Mapping):
        names, places = list(sites), list(sites.values())
    else:
        places = list(sites)
    areas = showing(draw_areas(engine), None if show is None else shown_classes(show, said="show"))
    found = sites_of_places(None, engine, places, names=names) if places else None
    return MapPage(
        html=map_html(engine, areas, found, online=online),
        not_answered=() if found is None else found.not_answered,
        not_drawn=tuple(f"{known.label}: {known.how}" for known in areas.not_drawn),
        height_px=height_px,
    )
