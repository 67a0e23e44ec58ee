"""Sites that are watched: their last answers, and the days on which law, lists or maps will change them.

Nothing of the days is written here: they are those of the rulebook, the lists, the layers and the stated facts. On
each the site is asked again, and only a day on which something of its answer changes is told.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING

from grownj_geo.engines import Conditions, Engines
from grownj_geo.errors import SiteError
from grownj_geo.inputchanges import known_readings
from grownj_geo.lawdates import concerning, edition_dates, fact_dates, law_dates, reach_of_item
from grownj_geo.records import rulebook_record
from grownj_geo.rerun import (
    MAIN_FIELDS,
    Runs,
    Setting,
    Value,
    answers_of,
    changed_items,
    field_words,
    steps,
    value_of,
    value_words,
)
from grownj_geo.rulebook import Rulebook, load_rulebook, shipped_rulebooks
from grownj_geo.store import Store
from grownj_geo.strict import Strict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grownj_geo.candidates import Candidate
    from grownj_geo.determination import Determination
    from grownj_geo.lawdates import LawDate

__all__ = ["Turn", "Upcoming", "Watched", "Watcher"]


class Turn(Strict):
    """One figure of an answer that changes."""

    item: str
    label: str
    field: str
    was: Value
    now: Value
    words: str


class Upcoming(Strict):
    """A day on which a site's answer changes, or what stands beside it: margins, causes, assumptions.

    Attributes
    ----------
    day
        The day.
    because
        What begins or ends on it, with its citation.
    turns
        What changes.
    """

    day: date
    because: tuple[str, ...]
    turns: tuple[Turn, ...]

    @property
    def answers_change(self) -> bool:
        """Whether an answer, a lean, the base amount or the municipality changes, and not only what stands beside."""
        return any(turn.field in MAIN_FIELDS for turn in self.turns)


class Watched(Strict):
    """One site: what was answered last, and what will change.

    Attributes
    ----------
    as_of
        The day of the last answer.
    recorded
        Whether the last answer is that of a record; else it was made now.
    holds
        For a record, or a row of a batch's table: whether the question is answered the same now; null for others. A
        table does not say its day: it is compared with the day from which it is watched.
    upcoming
        The days after `as_of`, in order; empty where nothing that is known will change the answer to `until`.
    until
        The last day that was looked at. Of later ones nothing is said.
    last_day
        The last day that the rulebook covers: later ones are not answered.
    looked_at
        On how many days the site was asked.
    """

    name: str
    source: str
    rulebook: str
    as_of: date
    recorded: bool
    holds: bool | None
    floor: int | None
    ceiling: int | None
    yes: tuple[str, ...]
    undetermined: tuple[str, ...]
    municipality: str | None
    upcoming: tuple[Upcoming, ...]
    until: date
    last_day: date
    looked_at: int

    @property
    def next_day(self) -> date | None:
        """The next day on which an answer changes; days of other margins, causes or assumptions are passed over."""
        return next((one.day for one in self.upcoming if one.answers_change), None)


@dataclass
class Watcher:
    """Asks sites on the days to come.

    Parameters
    ----------
    as_of
        The day from which to look, for sites without a record; those with one are looked at from their own day.
    until
        The last day to look at; the rulebook's last day by default.
    readings
        Chosen options by ambiguity id; a record's own come first.
    rulebooks
        Rulebooks to use in place of those of the same id. The first is that of sites without a record.
    """

    as_of: date
    until: date | None = None
    readings: Mapping[str, str] = field(default_factory=dict)
    rulebooks: tuple[Rulebook, ...] = ()
    engines: Engines = field(default_factory=Engines)
    _dates: dict[Conditions, tuple[LawDate, ...]] = field(default_factory=dict)

    def watch(self, candidate: Candidate) -> Watched:
        """Return a site's last answer and what will change it.

        Raises
        ------
        SiteError, OutsideNewJerseyError, FactError, RulebookError, LayerError
            Where the question cannot be asked now, or the last day to look at is before the first.
        """
        kept, site = candidate.kept, candidate.site
        book = self._book(None if kept is None else kept.determination.rulebook.id, candidate)
        readings = {**self.readings, **({} if kept is None else known_readings(kept.readings))}
        start = self.as_of if kept is None else kept.determination.as_of
        if self.until is not None and self.until < start:
            whose = f"from {start} on" if kept is None else f"from the day of its record on, {start}"
            raise SiteError(
                f"{candidate.name} is looked at {whose}, and the last day to look at is {self.until}. Expected a last "
                "day that is not before the first; give a later one (--until)."
            )
        conditions = Conditions(
            as_of=start,
            book=self._known(book),
            readings=tuple(sorted(readings.items())),
            sources=tuple(
                (n.partition("@")[0], n) for n in sorted(self.engines.at_hand(kept.editions if kept else ()))
            ),
        )
        setting = Setting(conditions, tuple(sorted(site.facts.items())))
        engine = self.engines.engine(conditions)
        today = engine.determine(site)
        last = today if kept is None else kept.determination
        holds = None
        if kept is not None:
            noise = kept.margin_noise_ft
            holds = not changed_items(answers_of(last), answers_of(today), noise_ft=noise)
        elif candidate.answers:
            holds = _answered_so(candidate.answers, today)
        dates = self._concerning(setting, today)
        end = min(self.until or book.last_day, book.last_day)
        days = sorted({start, *(day for one in dates for day in one.days if start < day <= end)})
        return Watched(
            name=candidate.name,
            source=candidate.source,
            rulebook=book.id,
            as_of=start,
            recorded=kept is not None,
            holds=holds,
            floor=last.tier.floor if last.tier else None,
            ceiling=last.tier.ceiling if last.tier else None,
            yes=tuple(f.label for f in last.findings if f.outcome == "yes" and f.kind == "area"),
            undetermined=tuple(f.label for f in last.findings if f.outcome == "undetermined" and f.kind == "area"),
            municipality=last.place.municipality.name if last.place.municipality else None,
            upcoming=self._upcoming(Runs(self.engines, site), setting, days, dates, book),
            until=end,
            last_day=book.last_day,
            looked_at=len(days),
        )

    def _upcoming(
        self, run: Runs, setting: Setting, days: list[date], dates: list[LawDate], book: Rulebook
    ) -> tuple[Upcoming, ...]:
        found = []
        for day, items in steps(run, setting, days):
            was, now = run(setting.on(days[days.index(day) - 1])) or {}, run(setting.on(day)) or {}
            reached = frozenset().union(*(reach_of_item(book, item) for item, _ in items))
            because = [one.dated_words for one in dates if day in one.days and reached & set(one.categories)]
            turns = []
            for item in items:
                label = (now.get(item) or was[item])[0]
                before, after = value_of(was, item), value_of(now, item)
                words = (
                    f"{label}, {field_words(item[1])}: {value_words(item[1], before)} -> {value_words(item[1], after)}"
                )
                turns.append(Turn(item=item[0], label=label, field=item[1], was=before, now=after, words=words))
            found.append(Upcoming(day=day, because=tuple(dict.fromkeys(because)), turns=tuple(turns)))
        return tuple(found)

    def _concerning(self, setting: Setting, found: Determination) -> list[LawDate]:
        """Return what begins or ends and is about the site's municipality, or about all."""
        conditions = setting.conditions
        if conditions not in self._dates:
            self._dates[conditions] = tuple(self._dates_of(conditions))
        codes = {n.mun_code for n in (found.place.municipality, *found.place.candidates) if n is not None}
        own = fact_dates(self.engines.engine(conditions).bound, dict(setting.facts))
        return [*concerning(self._dates[conditions], codes), *own]

    def _dates_of(self, conditions: Conditions) -> Iterator[LawDate]:
        """Yield the days to come: those of editions, and of the lists and features of each edition while it is used."""
        engine = self.engines.engine(conditions)
        store = Store() if self.engines.store is None else self.engines.store
        chosen = [layer_id for layer_id, _ in conditions.sources or ()]
        editions = edition_dates(store, engine.bound, chosen=chosen)
        yield from editions
        last = engine.rulebook.last_day
        begins = sorted({conditions.as_of, *(one.day for one in editions if conditions.as_of < one.day <= last)})
        found: dict[LawDate, None] = {}
        for begin, end in zip(begins, [*begins[1:], date.max], strict=True):
            then = self.engines.engine(replace(conditions, as_of=begin))
            # What no edition changes, a clause or a figure, is the same each time.
            found |= dict.fromkeys(
                one
                for one in law_dates(then.bound, then.atlas)
                if one.kind not in {"list", "feature"} or any(begin <= day < end for day in one.days)
            )
        yield from found

    def _known(self, book: Rulebook) -> str:
        sha256 = rulebook_record(book).sha256
        self.engines.books.setdefault(sha256, book)
        return sha256

    def _book(self, wanted: str | None, candidate: Candidate) -> Rulebook:
        if wanted is None:
            return self.rulebooks[0] if self.rulebooks else load_rulebook()
        given = next((book for book in self.rulebooks if book.id == wanted), None)
        if given is not None:
            return given
        if wanted in shipped_rulebooks():
            return load_rulebook(wanted)
        if candidate.kept is not None and candidate.kept.rulebook is not None:
            return candidate.kept.rulebook
        raise SiteError(
            f"{candidate.source} was made under the rulebook {wanted!r}, which does not ship and is not in the record. "
            "Expected its file; give it with --rulebook."
        )


def _answered_so(told: Mapping[str, str], found: Determination) -> bool:
    """Return whether a row of a batch's table says what is answered now: every outcome that it has, and the bounds."""
    now = {finding.id: str(finding.outcome) for finding in found.findings}
    if found.tier is not None:
        for name, value in (("base_floor", found.tier.floor), ("base_ceiling", found.tier.ceiling)):
            now[name] = "" if value is None else str(value)
    return all(told[name] == value for name, value in now.items() if name in told)
