"""Determinations for the HTTP API: engines kept by question, one site after the other in a thread of its own.

Layers hold prepared geometries, which are not to be used by two threads at once, and answering is Python's work
nearly throughout: so one thread answers, and whoever asks waits in line or is turned away.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import shapely

from grownj_geo.answers import atlas_mark, rulebook_mark
from grownj_geo.atlas import DEFAULT_AS_OF
from grownj_geo.determination import software
from grownj_geo.determine import Directory
from grownj_geo.engines import Conditions, Engines
from grownj_geo.errors import RulebookError
from grownj_geo.facts import check_facts
from grownj_geo.found import feet_words
from grownj_geo.locate import locate
from grownj_geo.readings import nearest_name, strict_readings
from grownj_geo.records import rulebook_record
from grownj_geo.rulebook import load_rulebook, shipped_rulebooks
from grownj_geo.serveproblems import ProblemError
from grownj_geo.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import date
    from pathlib import Path

    from grownj_geo.determination import Determination
    from grownj_geo.determine import Engine
    from grownj_geo.serveasked import Chosen, SiteAsk
    from grownj_geo.site import Site

__all__ = ["Answer", "Answers", "Terms", "editions_held", "site_of", "stated_site", "terms_of"]

_MOST_ANSWERS = 16
_MOST_MARKS = 64
_LOOK_AGAIN_S = 2.0
_PUT_ON_MAP = {"click": "coordinates, of a click on the map", "marker": "coordinates, of the marker moved on the map"}
_ResultT = TypeVar("_ResultT")


class Terms(NamedTuple):
    """All that an answer depends on besides the site and the layers; small enough to be a key."""

    as_of: date
    rulebook: str
    readings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Answer:
    """One determination with what it was made of.

    Attributes
    ----------
    tag
        An entity tag: the same as long as layers, rules, readings and the site are.
    body
        The record as `grownj check --json` prints it.
    """

    tag: str
    site: Site
    record: Determination
    body: bytes


def terms_of(as_of: date | None, rulebook: str, readings: Mapping[str, str], *, strict: bool) -> Terms:
    """Return the terms of a question.

    Raises
    ------
    RulebookError
        For a rulebook that does not ship, or a reading that contradicts `strict`.
    """
    if rulebook not in _books():
        raise RulebookError(f"There is no rulebook {rulebook!r} here. {nearest_name(rulebook, _books())}")
    chosen = strict_readings(readings) if strict else dict(readings)
    return Terms(as_of or DEFAULT_AS_OF, rulebook, tuple(sorted(chosen.items())))


def site_of(asked: SiteAsk, directory: Directory) -> Site:
    """Return the site of a question whose place is given: by coordinates, a geometry, a parcel number, a municipality.

    Files are never opened for a text.

    Raises
    ------
    NoPlaceError
        For words, which have to be looked up.
    SiteError, OutsideNewJerseyError, FactError
        As `locate` and `check_facts`.
    """
    text = json.dumps(asked.geometry) if asked.geometry is not None else asked.site or ""
    found = locate(
        text,
        uncertainty_ft=asked.uncertainty_ft,
        pin=asked.pin,
        municipality=asked.mun_code,
        directory=directory,
        files=False,
    )
    if asked.geometry is not None:
        # The record has the outline itself; what stands here is for people.
        kind = found.geometry.geom_type.lower() if found.geometry is not None else "geometry"
        typed = (asked.typed or "").strip() or f"a {kind} given as GeoJSON"
        found = replace(found, typed=typed, located_by="GeoJSON")
    return stated_site(asked, found)


def stated_site(asked: SiteAsk, found: Site) -> Site:
    """Return a site with what was typed before, and with the facts that are stated of it.

    Raises
    ------
    FactError
        As `check_facts`.
    """
    if asked.chosen is not None:
        found = _chosen_site(asked.chosen, asked, found)
    elif asked.geometry is None and (asked.typed or "").strip() and asked.typed != found.typed:
        note = f"It was chosen as {found.typed[:80]} for what was typed."
        found = replace(found, typed=str(asked.typed), notes=(*found.notes, note))
    if asked.placed is not None and asked.geometry is None and found.located_by.startswith("coordinates"):
        found = replace(found, located_by=_PUT_ON_MAP[asked.placed])
    facts = check_facts({name: value for name, value in asked.facts.items() if value is not None})
    return replace(found, facts=facts)


def _chosen_site(chosen: Chosen, asked: SiteAsk, found: Site) -> Site:
    """Return a site that is one of several places found: what a locator had stays the locator's."""
    known = f", known to {feet_words(chosen.uncertainty_ft)}" if chosen.uncertainty_ft else ""
    how = f"{chosen.matched} ({chosen.locator}: {chosen.kind}, score {chosen.score:.2f}{known})"
    notes = [*found.notes, *chosen.notes]
    if chosen.answered_on is not None:
        notes.append(f"{chosen.locator} gave this answer on {chosen.answered_on}.")
    if asked.geometry is None:
        notes.insert(0, f"It was chosen from what was found for what was typed: {how}.")
        by = found.located_by
        if found.geometry is None and not found.pins:
            by = f"address, chosen from what was found: {how}; only its municipality is taken as known"
    else:
        by = f"address, chosen from what was found: {how}"
    is_point = found.geometry is not None and found.is_point
    return replace(
        found,
        typed=(asked.typed or "").strip() or found.typed,
        located_by=by,
        uncertainty_ft=max(found.uncertainty_ft, chosen.uncertainty_ft) if is_point else found.uncertainty_ft,
        notes=tuple(dict.fromkeys(notes)),
    )


def editions_held(home: Path | None) -> tuple[object, ...]:
    """Return what tells the layers of a folder from others: the editions that its store holds, never empty."""
    editions = ((held.name, held.problem, held.edition and held.edition.added_at) for held in Store(home).held())
    return ("store", *editions)


@lru_cache(maxsize=16)
def _book_key(rulebook: str) -> str:
    return rulebook_record(load_rulebook(rulebook)).sha256


@lru_cache(maxsize=1)
def _books() -> tuple[str, ...]:
    return tuple(shipped_rulebooks())


@dataclass
class Answers:
    """Answers questions, one after the other.

    Parameters
    ----------
    home
        Folder of the user's own data; the usual one by default.
    most_waiting
        Questions in line; whoever comes later is told to come again.
    """

    home: Path | None = None
    most_waiting: int = 100
    waiting: int = field(default=0, init=False)
    _engines: Engines = field(init=False)
    _marks: dict[Terms, str] = field(default_factory=dict, init=False)
    _kept: OrderedDict[str, Answer] = field(default_factory=OrderedDict, init=False)
    _stamp: tuple[object, ...] = field(default=(), init=False)
    _looked: float = field(default=0.0, init=False)
    _thread: ThreadPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        """Begin with nothing loaded."""
        self._engines = Engines(store=Store(self.home))
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="determine")

    def close(self) -> None:
        """End the thread when it is done with what it is at."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    async def run(self, work: Callable[[], _ResultT]) -> _ResultT:
        """Do some work in the thread that answers.

        Raises
        ------
        ProblemError
            503 where too many wait already.
        """
        if self.waiting >= self.most_waiting:
            raise ProblemError(
                503, f"{self.waiting} questions wait already. Ask again in a second.", headers={"Retry-After": "1"}
            )
        self.waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        finally:
            self.waiting -= 1

    # -- in the thread ---------------------------------------------------------------------------------

    def engine(self, terms: Terms) -> Engine:
        """Return the engine for some terms, on the layers that the store holds now.

        Raises
        ------
        RulebookError, LayerError
            As `Engines.engine`.
        """
        self._look_at_store()
        key = _book_key(terms.rulebook)
        self._engines.books.setdefault(key, load_rulebook(terms.rulebook))
        return self._engines.engine(Conditions(as_of=terms.as_of, book=key, readings=terms.readings))

    def mark(self, terms: Terms) -> str:
        """Return what tells layers, editions, rules and readings of some terms from others."""
        return self._mark_of(self.engine(terms), terms)

    def _mark_of(self, engine: Engine, terms: Terms) -> str:
        found = self._marks.get(terms)
        if found is None:
            if len(self._marks) >= _MOST_MARKS:
                self._marks.clear()
            parts = (software(), atlas_mark(engine), rulebook_mark(engine), *sorted(engine.bound.readings.items()))
            found = self._marks[terms] = hashlib.sha256(repr(parts).encode()).hexdigest()
        return found

    def answer(self, asked: SiteAsk, known_tag: str | None = None, site: Site | None = None) -> Answer | str:
        """Return the answer to a question, or only its tag where that is known already.

        Parameters
        ----------
        asked
            The question.
        known_tag
            What the caller has, as an ``If-None-Match`` header says it.
        site
            Its site, where that was looked up.

        Raises
        ------
        SiteError, OutsideNewJerseyError, FactError, RulebookError
            As `locate` and `Engine.determine`.
        """
        terms = terms_of(asked.as_of, asked.rulebook, asked.readings, strict=asked.strict)
        # Once for all of the answer: a layer that is added meanwhile must not put its tag on an answer without it.
        engine = self.engine(terms)
        site = site_of(asked, Directory(engine.atlas)) if site is None else site
        tag = self._tag(engine, terms, site)
        if known_tag is not None and tag in known_tag:
            return tag
        found = self._kept.get(tag)
        if found is None:
            record = engine.determine(site, other_readings=True)
            found = Answer(tag, site, record, record.to_json().encode())
            while len(self._kept) >= _MOST_ANSWERS:
                self._kept.popitem(last=False)
            self._kept[tag] = found
        self._kept.move_to_end(tag)
        return found

    def whole_answer(self, asked: SiteAsk, site: Site | None = None) -> Answer:
        """Return the answer to a question; see `answer`."""
        found = self.answer(asked, None, site)
        if isinstance(found, str):
            raise TypeError("an answer was asked for without a tag, and only a tag came back")
        return found

    def site(self, asked: SiteAsk) -> Site:
        """Return the site of a question whose place is given; see `site_of`."""
        terms = terms_of(asked.as_of, asked.rulebook, asked.readings, strict=asked.strict)
        return site_of(asked, Directory(self.engine(terms).atlas))

    def _tag(self, engine: Engine, terms: Terms, site: Site) -> str:
        """Return the entity tag of an engine's answer."""
        place = b"" if site.geometry is None else shapely.to_wkb(site.geometry)
        said = (site.typed, site.located_by, site.uncertainty_ft, site.mun_code, site.mun_basis, site.pins, site.notes)
        parts = (self._mark_of(engine, terms), said, sorted(site.facts.items()))
        digest = hashlib.sha256(repr(parts).encode())
        digest.update(place)
        return f'"{digest.hexdigest()[:32]}"'

    def _look_at_store(self) -> None:
        """Forget everything where editions were added or removed since."""
        now = time.monotonic()
        if self._stamp and now - self._looked < _LOOK_AGAIN_S:
            return
        self._looked = now
        stamp = editions_held(self.home)
        if stamp != self._stamp:
            if self._stamp:
                self._engines = Engines(store=Store(self.home))
                self._marks.clear()
                self._kept.clear()
            self._stamp = stamp
