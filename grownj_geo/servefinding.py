"""Places for the HTTP API: texts looked up in a few threads of their own, so that a slow locator keeps nobody waiting.

What this machine knows is looked up in threads in which no online locator is asked; where one has to be, the text goes
to other threads. Each thread has layers, parcels and locators of its own, and begins anew when layers, parcels or
settings are others than they were.
Files of this machine are never opened for a text.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from grownj_geo.atlas import load_atlas
from grownj_geo.errors import LayerError, SettingsError
from grownj_geo.finder import Finder
from grownj_geo.found import UnsettledSiteError, feet_words
from grownj_geo.locatorlocal import LocalLocator
from grownj_geo.parceltables import parcel_editions
from grownj_geo.serveanswers import editions_held
from grownj_geo.servegeo import geojson_of
from grownj_geo.serveproblems import ProblemError, api_words
from grownj_geo.settings import settings_path
from grownj_geo.units import to_lonlat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import date
    from pathlib import Path

    from grownj_geo.asking import Sources
    from grownj_geo.found import Found
    from grownj_geo.locator import AddressQuery, Answer, Locator, Match
    from grownj_geo.site import Site

__all__ = ["Finding", "Placed", "places_words", "search_words", "suggested"]

_THREADS = 2
_ONLINE_THREADS = 4
_MOST_FINDERS = 2
_LOOK_AGAIN_S = 2.0
_MOST_CHOICES = 20
_ResultT = TypeVar("_ResultT")


class Placed(NamedTuple):
    """What says where a site is, beside its text."""

    uncertainty_ft: float = 0.0
    pin: str | None = None
    municipality: str | None = None
    at: str | None = None

    def said(self) -> dict[str, Any]:
        """Return it as `Finder.find` takes it."""
        return {**self._asdict(), "files": False}


class _GoesOnlineError(Exception):
    """An online locator has to be asked, which is not done in this thread."""


@dataclass(frozen=True)
class _Elsewhere:
    """Stands for an online locator in threads in which none is asked."""

    locator: Locator
    online: bool = True

    @property
    def name(self) -> str:
        """One word, as in the settings."""
        return self.locator.name

    @property
    def sends(self) -> str:
        """What asking sends, and to whom."""
        return self.locator.sends

    def find(self, query: AddressQuery) -> tuple[Match, ...]:  # noqa: ARG002 - as every locator
        """Ask nobody.

        Raises
        ------
        _GoesOnlineError
            Always.
        """
        raise _GoesOnlineError

    def find_many(
        self,
        queries: Sequence[AddressQuery],  # noqa: ARG002 - same
        *,
        progress: Callable[[int, int], None] | None = None,  # noqa: ARG002 - same
    ) -> tuple[Answer, ...]:
        """Ask nobody; see `find`."""
        raise _GoesOnlineError

    def was_sent(self, query: AddressQuery) -> bool:  # noqa: ARG002 - same
        """Return False: nobody is asked."""
        return False


@dataclass
class _Pool:
    """Threads with finders of their own."""

    online: bool
    threads: ThreadPoolExecutor
    most_waiting: int
    waiting: int = 0
    own: threading.local = field(default_factory=threading.local)

    async def run(self, work: Callable[[], _ResultT]) -> _ResultT:
        if self.waiting >= self.most_waiting:
            where = " online" if self.online else ""
            detail = f"{self.waiting} places are looked up{where} already. Ask again in a few seconds."
            raise ProblemError(503, detail, headers={"Retry-After": "5"})
        self.waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self.threads, work)
        finally:
            self.waiting -= 1


@dataclass
class Finding:
    """Looks texts up.

    Parameters
    ----------
    home
        Folder of the user's own data; the usual one by default.
    most_waiting, most_online
        Texts in line, and of those for which an online locator has to be asked; whoever comes later is told to come
        again.
    """

    home: Path | None = None
    most_waiting: int = 50
    most_online: int = 20
    _here: _Pool = field(init=False)
    _online: _Pool = field(init=False)
    _stamp: tuple[object, ...] = field(default=(), init=False)
    _looked: float = field(default=0.0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __post_init__(self) -> None:
        """Begin with nothing opened."""
        self._here = _Pool(False, ThreadPoolExecutor(_THREADS, thread_name_prefix="find"), self.most_waiting)
        asking = ThreadPoolExecutor(_ONLINE_THREADS, thread_name_prefix="find-online")
        self._online = _Pool(True, asking, self.most_online)

    def close(self) -> None:
        """End the threads when they are done with what they are at."""
        for pool in (self._here, self._online):
            pool.threads.shutdown(wait=False, cancel_futures=True)

    async def site(self, text: str, day: date, placed: Placed) -> Site:
        """Return the site that a text names.

        Raises
        ------
        ProblemError
            422 with the choices where it may be several places, or nobody knows it; 503 where too many wait.
        SiteError
            As `Finder.find`.
        """
        return await self.run(day, lambda finder: _settled(finder, text, placed))

    async def run(self, day: date, work: Callable[[Finder], _ResultT]) -> _ResultT:
        """Do some work with a finder, in a thread of its own.

        Where an online locator has to be asked, it is done again from the beginning in another thread.

        Raises
        ------
        ProblemError
            503 where too many wait already.
        """
        for pool in (self._here, self._online):
            try:
                return await pool.run(lambda pool=pool: work(self._finder(pool, day)))  # type: ignore[misc]
            except _GoesOnlineError:
                continue
        raise RuntimeError("an online locator was to be asked where all of them are")

    def _finder(self, pool: _Pool, day: date) -> Finder:
        """Return this thread's finder for a day."""
        stamp, own = self._looked_at(), pool.own
        if getattr(own, "stamp", None) != stamp:
            own.stamp, own.finders = stamp, {}
        finders: dict[date, Finder] = own.finders
        found = finders.get(day)
        if found is None:
            while len(finders) >= _MOST_FINDERS:
                del finders[next(iter(finders))]
            atlas = load_atlas(as_of=day, store=self.home)
            found = Finder.at_home(atlas, home=self.home)
            if not pool.online:
                found = Finder(atlas, partial(_asked_elsewhere, found))
            finders[day] = found
        return found

    def _looked_at(self) -> tuple[object, ...]:
        """Return what tells layers, parcels and settings that have changed."""
        with self._lock:
            if not self._stamp or time.monotonic() - self._looked >= _LOOK_AGAIN_S:
                self._looked = time.monotonic()
                path = settings_path(self.home)
                changed = path.stat().st_mtime_ns if path.is_file() else 0
                parcels = [held.folder.name for held in parcel_editions(self.home)]
                self._stamp = (changed, tuple(parcels), editions_held(self.home))
            return self._stamp


def _asked_elsewhere(finder: Finder) -> Sources:
    """Return the sources of a finder, nobody of them asked online."""
    locators: list[Locator] = [_Elsewhere(each) if each.online else each for each in finder.sources.locators]
    return finder.sources._replace(locators=tuple(locators))


def _settled(finder: Finder, text: str, placed: Placed) -> Site:
    try:
        return finder.site(text, **placed.said())
    except UnsettledSiteError as error:
        choices = _choices(finder, error.found.choices[:_MOST_CHOICES], text)
        code = "several_places" if len(choices) > 1 else "place_not_sure" if choices else "place_not_found"
        asked = _asked_words(error.found)
        raise ProblemError(422, api_words(str(error)), code=code, more={"choices": choices, "asked": asked}) from error


# -- what is shown of places ---------------------------------------------------------------------------


def search_words(finder: Finder, text: str, limit: int) -> dict[str, Any]:
    """Return the places that a text may mean, as the API shows them.

    Parameters
    ----------
    finder
        Looks it up.
    text
        As typed.
    limit
        At most how many places.
    """
    found = finder.find(text, files=False)
    matches = found.choices or (() if found.match is None else (found.match,))
    choices = _choices(finder, matches[:limit], text)
    if found.match is not None:
        # Nobody has to choose: what is certain is asked as it was typed.
        choices[0]["ask"] = {"site": text}
    if not matches and found.site is not None:
        choices = [_site_choice(finder, found.site, found)]
    notes = [api_words(note) for note in found.notes]
    if found.site is None:
        notes.insert(0, api_words(finder.words_of(found)))
    return {
        "query": text,
        "form": found.form,
        "certain": found.settled,
        "choices": choices,
        "notes": notes,
        "asked": _asked_words(found),
    }


def _asked_words(found: Found) -> list[dict[str, Any]]:
    return [vars(each) | {"words": api_words(each.words)} for each in found.asked]


def _choices(finder: Finder, matches: Sequence[Match], text: str) -> list[dict[str, Any]]:
    """Return places as the API shows them; of a number that is there twice each asks by its own outline."""
    choices = [_choice(finder, match, text) for match in matches]
    times = Counter(match.pin for match in matches)
    for match, choice in zip(matches, choices, strict=True):
        if times[match.pin] > 1 and match.geometry is not None and "site" in choice["ask"]:
            del choice["ask"]["site"]
            choice["ask"] |= {"geometry": choice["geometry"], "pin": match.pin, "uncertainty_ft": 0.0}
    return choices


def _choice(finder: Finder, match: Match, text: str) -> dict[str, Any]:
    lon, lat = (round(float(v), 7) for v in to_lonlat(match.x_ft, match.y_ft))
    where = finder.asker.municipality_words(match)
    codes = finder.asker.codes_of(match)
    shape = None if match.geometry is None else geojson_of(match.geometry)
    if shape is None and match.has_place:
        shape = {"type": "Point", "coordinates": [lon, lat]}
    how = f"{match.kind}, known to {feet_words(match.uncertainty_ft)}" if match.uncertainty_ft else match.kind
    if not match.has_place:
        how = f"{match.kind}, anywhere in its municipality" if match.pin is None else "parcel without a known place"
    return {
        "label": f"{match.matched}, {where}",
        "words": f"{match.locator}: {how}",
        "site": match.pin or (f"{lat},{lon}" if match.has_place else _municipality(finder, str(match.mun_code))),
        "ask": _question(finder, match, text),
        "kind": match.kind,
        "locator": match.locator,
        "score": match.score,
        "lat": lat,
        "lon": lon,
        "uncertainty_ft": match.uncertainty_ft if match.has_place else None,
        "pin": match.pin,
        "mun_code": match.mun_code or (codes[0] if len(codes) == 1 else None),
        "municipality": where,
        "county": _county(finder, codes),
        "geometry": shape,
        "notes": [api_words(note) for note in match.notes],
    }


def _county(finder: Finder, codes: Sequence[str]) -> str | None:
    """Return the county that all of some municipalities are in: those of one name are told apart by it."""
    counties = {finder.names[code][1] for code in codes if code in finder.names}
    return counties.pop() if len(counties) == 1 else None


def _municipality(finder: Finder, code: str) -> str:
    """Return a municipality as it is typed, so that it is no other."""
    name, county = finder.names[code]
    return f"{name}, {county} County"


def _question(finder: Finder, match: Match, text: str) -> dict[str, Any]:
    """Return what to ask about one of several places: the place itself, with all that is known of it."""
    chosen: dict[str, Any] = {
        "locator": match.locator,
        "kind": match.kind,
        "matched": match.matched[:500],
        "score": match.score,
        "uncertainty_ft": match.uncertainty_ft if match.geometry is None else 0.0,
        "notes": [note[:1_000] for note in match.notes[:20]],
    }
    if match.answered_on is not None:
        chosen["answered_on"] = match.answered_on.isoformat()
    said: dict[str, Any] = {"typed": text, "chosen": chosen}
    if match.pin is not None and (match.geometry is not None or not match.has_place):
        # Its number means the same outline, or that there is none.
        return said | {"site": match.pin, "chosen": chosen | {"uncertainty_ft": 0.0}}
    if not match.has_place:
        where = _municipality(finder, str(match.mun_code))
        return said | {"site": where, "chosen": chosen | {"uncertainty_ft": 0.0}}
    # Half an inch, as links keep it: a question that is passed on stays the same.
    lonlat = [round(each, 7) for each in match.lonlat]
    place = {"geometry": {"type": "Point", "coordinates": lonlat}, "uncertainty_ft": match.uncertainty_ft}
    return said | place | ({} if match.pin is None else {"pin": match.pin})


def _site_choice(finder: Finder, site: Site, found: Found) -> dict[str, Any]:
    lonlat = site.lonlat
    code = site.mun_code
    kind = "municipality" if site.geometry is None else "point" if site.is_point else "parcel"
    return {
        "label": found.text if code is None else f"{found.text.strip()}, {finder.asker.name(code)}",
        "words": site.located_by,
        "site": found.text,
        "ask": {"site": found.text},
        "kind": kind,
        "locator": "typed",
        "score": 1.0,
        "lat": None if lonlat is None else round(lonlat[1], 7),
        "lon": None if lonlat is None else round(lonlat[0], 7),
        "uncertainty_ft": site.uncertainty_ft,
        "pin": site.pins[0] if site.pins else None,
        "mun_code": code,
        "municipality": None if code is None else finder.asker.name(code),
        "county": _county(finder, () if code is None else (code,)),
        "geometry": None if site.geometry is None else geojson_of(site.geometry),
        "notes": [api_words(note) for note in site.notes],
    }


def suggested(finder: Finder, names: Iterable[str], text: str, limit: int) -> list[str]:
    """Return ways in which a text may go on: addresses that are loaded, then municipalities.

    Parameters
    ----------
    finder
        Knows the addresses.
    names
        Of municipalities.
    text
        What has been typed so far.
    limit
        At most how many.
    """
    begun = text.strip()
    if not begun:
        return []
    found: dict[str, None] = {}
    for locator in finder.sources.locators:
        if isinstance(locator, LocalLocator):
            found |= dict.fromkeys(locator.index.suggest(begun, limit=limit))
    wanted = begun.casefold()
    return [*found, *sorted({name for name in names if name.casefold().startswith(wanted)})][:limit]


def places_words(finder: Finder) -> dict[str, Any]:
    """Return who is asked for addresses and what it sends to whom, and what parcels are loaded."""
    try:
        sources = finder.sources
    except (LayerError, SettingsError) as error:
        # The rest of the server works without; whoever asks for an address is told the same.
        told = [{"name": "local", "words": str(error)}]
        return {"locators": [], "locators_left_out": told, "parcels": None}
    edition = None if sources.store is None else sources.store.edition
    parcels = None if edition is None else {
        "loaded": True, "count": edition.parcels, "address_points": edition.address_points, "edition": edition.id
    }  # fmt: skip
    asked = [{"name": each.name, "online": each.online, "sends": each.sends} for each in sources.locators]
    left_out = [{"name": each.locator, "words": each.words} for each in sources.left_out]
    return {"locators": asked, "locators_left_out": left_out, "parcels": parcels}
