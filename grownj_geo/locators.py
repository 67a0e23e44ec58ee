"""The online locators that the settings switch on, ready to be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grownj_geo.locator import locator_facts
from grownj_geo.locatorcache import AnswerCache
from grownj_geo.locatorcensus import CensusLocator
from grownj_geo.locatornj import NjLocator
from grownj_geo.locatornominatim import NominatimLocator, is_public_instance
from grownj_geo.locatorservice import ServiceOptions
from grownj_geo.settings import NominatimSettings, Settings

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.locatorservice import OnlineLocator
    from grownj_geo.settings import LocatorName

__all__ = ["online_locators", "service_options"]

_CLASSES: dict[LocatorName, type[OnlineLocator]] = {
    "census": CensusLocator,
    "nj": NjLocator,
    "nominatim": NominatimLocator,
}


def online_locators(settings: Settings, *, home: Path | None = None) -> tuple[OnlineLocator, ...]:
    """Return the online locators that are switched on, in order; none unless the user named some.

    Parameters
    ----------
    settings
        The user's.
    home
        Where answers are kept; `store.home_folder` by default.

    Examples
    --------
    >>> online_locators(Settings())
    ()
    >>> [locator.name for locator in online_locators(Settings(locators=("nj", "census")))]
    ['nj', 'census']
    """
    cache = AnswerCache(home, days=settings.cache_days)
    return tuple(_CLASSES[name](service_options(settings, name), cache) for name in settings.online)


def service_options(settings: Settings, name: LocatorName) -> ServiceOptions:
    """Return how an online locator is asked: as the settings say, else as the package has it.

    The public instance of Nominatim is never asked faster, or for more at once, than its usage policy lets.
    """
    own = getattr(settings, name)
    facts = locator_facts()["services"][name]
    url = own.url or str(facts["url"])
    rate = own.rate_per_s or float(facts["rate_per_s"])
    most, email, agent = None, None, None
    if isinstance(own, NominatimSettings):
        most, email, agent = own.most_at_once, own.email, own.user_agent
        if is_public_instance(url):
            rate = min(rate, float(facts["rate_per_s"]))
            most = min(most or int(facts["most_at_once"]), int(facts["most_at_once"]))
    timeout_s = own.timeout_s or float(facts["timeout_s"])
    sends = str(facts["sends"]).rstrip(".")
    return ServiceOptions(
        title=str(facts["title"]),
        url=url,
        sends=f"{sends}." if own.url is None else f"{sends}, here your own: {own.url}.",
        rate_per_s=rate,
        timeout_s=timeout_s,
        allow_private=own.allow_private,
        batch=int(facts.get("batch", 1)),
        batch_timeout_s=max(timeout_s, float(facts.get("batch_timeout_s", 0.0))),
        most_at_once=most,
        email=email,
        user_agent=agent,
        attribution=facts.get("attribution"),
        parameters=(("benchmark", str(facts["benchmark"])),) if "benchmark" in facts else (),
    )
