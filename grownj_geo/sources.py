"""Where the user's places are looked for: the parcels that are loaded, and the locators that the settings name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from grownj_geo.addressparse import AddressError
from grownj_geo.asking import Names, Sources
from grownj_geo.errors import LayerError
from grownj_geo.found import Asked
from grownj_geo.parcelstore import ParcelStore
from grownj_geo.settings import Settings, load_settings

if TYPE_CHECKING:
    from os import PathLike

    import shapely

    from grownj_geo.atlas import Atlas
    from grownj_geo.locator import Locator

__all__ = ["sources_at_home", "sources_of"]


def sources_at_home(atlas: Atlas, home: str | PathLike[str] | None = None) -> Sources:
    """Return the user's own sources.

    Parameters
    ----------
    atlas
        The layers of a day.
    home
        The folder of the user's data; the usual one by default.

    Raises
    ------
    LayerError
        If parcels are loaded and cannot be read.
    SettingsError
        If the settings cannot be read.
    """
    folder = None if home is None else Path(home)
    return sources_of(atlas, ParcelStore.open(folder), load_settings(folder), home=folder)


def sources_of(atlas: Atlas, store: ParcelStore | None, settings: Settings, *, home: Path | None = None) -> Sources:
    """Return the sources that a store and settings make.

    Parameters
    ----------
    atlas
        The layers of a day.
    store
        The parcels that are loaded, if any are.
    settings
        Which locators are asked, in which order.
    home
        Where answers of online locators are kept.
    """
    locators: list[Locator] = []
    left_out: list[Asked] = []
    online = {}
    if settings.online:
        from grownj_geo.locators import online_locators  # noqa: PLC0415 - only where one is switched on

        online = {locator.name: locator for locator in online_locators(settings, home=home)}
    for name in settings.locators:
        if name != "local":
            locators.append(online[name])
        elif store is not None:
            try:
                locators.append(_local(atlas, store))
            except (AddressError, LayerError) as error:
                left_out.append(Asked(name, "left_out", str(error).rstrip(".")))
    return Sources(store, tuple(locators), tuple(left_out))


def _local(atlas: Atlas, store: ParcelStore) -> Locator:
    from grownj_geo.locatorlocal import LocalLocator  # noqa: PLC0415 - only where parcels are loaded

    def area(code: str) -> shapely.Geometry | None:
        layer = atlas.layer("municipalities")
        if layer is None:
            return None
        return next((layer.geometry(i) for i in layer.select(as_of=atlas.as_of).tolist() if layer.key(i) == code), None)

    return LocalLocator(store, Names(atlas), area)
