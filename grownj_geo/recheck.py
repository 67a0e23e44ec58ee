"""Running a kept determination again: exactly what is answered otherwise now, and which of the changes did it.

A cause is found by running, not by reading: everything is put back to what the record says, and one thing at a time
is changed to what it is now.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Literal

from grownj_geo.engines import Conditions, Engines
from grownj_geo.errors import RecordError
from grownj_geo.facts import check_facts
from grownj_geo.inputchanges import (
    Factor,
    InputChange,
    as_of_factor,
    fact_factors,
    known_readings,
    layer_factors,
    reading_factors,
    rulebook_factor,
    software_factor,
    unnamed,
)
from grownj_geo.lawdates import concerning, fact_dates, law_dates, reach_of_item
from grownj_geo.records import rulebook_record
from grownj_geo.rerun import (
    MAIN_FIELDS,
    Answers,
    Item,
    Runs,
    Setting,
    Value,
    answers_of,
    changed_items,
    same_value,
    steps,
    value_of,
)
from grownj_geo.rulebook import Rulebook, load_rulebook, shipped_rulebooks
from grownj_geo.strict import Strict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grownj_geo.determine import Engine
    from grownj_geo.kept import Kept
    from grownj_geo.site import FactValue

__all__ = ["Asked", "Difference", "InputChange", "Recheck", "Rechecker"]

How = Literal["alone", "together", "left", "unseparated"]

_NONE: frozenset[str] = frozenset()


class Difference(Strict):
    """One figure of the answer that is other now.

    Attributes
    ----------
    item
        A category's id, ``tier`` or ``place``.
    field
        ``outcome``, ``leans``, ``margin_ft``, ``causes``, ``assumed``; ``floor``, ``ceiling``; ``municipality``.
    because
        Ids of the input changes that made it.
    how
        ``"alone"``: each of them makes the difference by itself; ``"together"``: only together they do;
        ``"left"``: what the record says could not be put back, and nothing else is left to have done it;
        ``"unseparated"``: several are left, and which of them did it is not known.
    why
        The same in words, with the days of the law where the day did it.
    """

    item: str
    label: str
    field: str
    was: Value
    now: Value
    because: tuple[str, ...]
    how: How
    why: str


class Recheck(Strict):
    """A kept determination and what the same question is answered now.

    Attributes
    ----------
    sealed
        Whether the record had a checksum over itself, which was right.
    incomplete
        Problems of layers that should be there and could not be used now.
    """

    source: str
    typed: str
    rulebook: str
    as_of_was: date
    as_of_now: date
    sealed: bool
    inputs: tuple[InputChange, ...]
    differences: tuple[Difference, ...]
    incomplete: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether nothing is answered otherwise."""
        return not self.differences

    @property
    def answers_differ(self) -> bool:
        """Whether an answer, a lean, the base amount or the municipality differs, and not only what stands beside."""
        return any(difference.field in MAIN_FIELDS for difference in self.differences)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What whoever rechecks wants other than recorded; everything left out stays as the record has it.

    Attributes
    ----------
    as_of
        Another day.
    readings
        Other options by ambiguity id.
    facts
        Facts that are stated now, on top of those recorded.
    editions
        Editions to use whatever the day, as ``check --edition`` takes them.
    rulebooks
        Rulebooks to use in place of those of the same id.
    """

    as_of: date | None = None
    readings: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, FactValue] = field(default_factory=dict)
    editions: tuple[str, ...] = ()
    rulebooks: tuple[Rulebook, ...] = ()


@dataclass
class Rechecker:
    """Runs kept determinations again.

    Parameters
    ----------
    asked
        What is wanted other than recorded.
    engines
        Makes the engines; with the user's store.
    """

    asked: Asked = field(default_factory=Asked)
    engines: Engines = field(default_factory=Engines)
    _today: dict[tuple[date, tuple[str, ...]], Mapping[str, str]] = field(default_factory=dict)

    def recheck(self, kept: Kept) -> Recheck:
        """Return what the record's question is answered now, and why that differs.

        Raises
        ------
        RecordError
            If the record's rulebook is neither shipped, nor given, nor in the record.
        SiteError, OutsideNewJerseyError, FactError, RulebookError, LayerError
            Where the question cannot be asked now, as `Engine.run` and `Engine` say.
        """
        recorded, site = kept.determination, kept.site
        new = self._new_setting(kept)
        engine = self.engines.engine(new.conditions)
        found = engine.determine(replace(site, facts=check_facts(dict(new.facts))))
        factors = self._factors(kept, engine, new)
        was, now = answers_of(recorded), answers_of(found)
        changed = changed_items(was, now, noise_ft=kept.margin_noise_ft)
        return Recheck(
            source=kept.source,
            typed=recorded.site.typed,
            rulebook=recorded.rulebook.id,
            as_of_was=recorded.as_of,
            as_of_now=found.as_of,
            sealed=kept.sealed,
            inputs=tuple(factor.change for factor in factors),
            differences=self._explained(kept, factors, new, changed=changed, was=was, now=now) if changed else (),
            incomplete=tuple(layer.problem for layer in found.layers if layer.problem),
        )

    # -- what is, and what was ------------------------------------------------------------------------

    def _new_setting(self, kept: Kept) -> Setting:
        recorded, asked = kept.determination, self.asked
        readings = {**known_readings(kept.readings), **asked.readings}
        as_of = asked.as_of or recorded.as_of
        conditions = Conditions(
            as_of=as_of,
            book=self._book(self._rulebook_now(kept)),
            readings=tuple(sorted(readings.items())),
            sources=tuple(sorted(self._sources(as_of, self._chosen(kept)).items())),
        )
        facts = {**kept.site.facts, **asked.facts}
        return Setting(conditions, tuple(sorted(facts.items())))

    def _chosen(self, kept: Kept) -> tuple[str, ...]:
        """Return the editions to use whatever the day: those asked for, and those that the record chose."""
        asked = {name.partition("@")[0] for name in self.asked.editions}
        own = [name for name in kept.editions if name.partition("@")[0] not in asked]
        return (*self.engines.at_hand(own), *self.asked.editions)

    def _sources(self, day: date, chosen: tuple[str, ...] = ()) -> Mapping[str, str]:
        """Return which editions a day takes today."""
        key = day, chosen
        if key not in self._today:
            conditions = self.engines.with_sources(Conditions(as_of=day, book=""), chosen)
            self._today[key] = dict(conditions.sources or ())
        return self._today[key]

    def _book(self, book: Rulebook) -> str:
        sha256 = rulebook_record(book).sha256
        self.engines.books.setdefault(sha256, book)
        return sha256

    def _rulebook_now(self, kept: Kept) -> Rulebook:
        wanted = kept.determination.rulebook.id
        given = next((book for book in self.asked.rulebooks if book.id == wanted), None)
        if given is not None:
            return given
        if wanted in shipped_rulebooks():
            return load_rulebook(wanted)
        if kept.rulebook is not None:
            return kept.rulebook
        raise RecordError(
            f"{kept.source} was made under the rulebook {wanted!r}, which does not ship and is not in the record. "
            "Expected its file; give it with --rulebook."
        )

    def _factors(self, kept: Kept, engine: Engine, new: Setting) -> list[Factor]:
        recorded = kept.determination
        return [
            *layer_factors(
                recorded,
                engine,
                new,
                stored=self.engines.stored,
                day_took=self._sources(recorded.as_of),
            ),
            *rulebook_factor(
                kept,
                engine.rulebook,
                new.conditions.book,
                None if kept.rulebook is None else self._book(kept.rulebook),
            ),
            *as_of_factor(recorded, new),
            *reading_factors(kept, new),
            *fact_factors(kept.site, new),
            *software_factor(recorded),
        ]

    # -- why ------------------------------------------------------------------------------------------

    def _explained(
        self,
        kept: Kept,
        factors: list[Factor],
        new: Setting,
        *,
        changed: list[Item],
        was: Answers,
        now: Answers,
    ) -> tuple[Difference, ...]:
        """Return the differences with their causes, found by changing one thing at a time."""
        run = Runs(self.engines, kept.site)
        trials = _Trials.of(run, factors, new)
        dated = self._dated(kept, run, new, changed) if any(f.change.kind == "as_of" for f in factors) else {}
        found = []
        for item in changed:
            label = (now.get(item) or was[item])[0]
            before, after = value_of(was, item), value_of(now, item)
            how, causes = trials.causes(item, before, after, noise_ft=kept.margin_noise_ft)
            if not causes:
                how, causes = "left", [unnamed(sealed=kept.sealed)]
            found.append(
                Difference(
                    item=item[0],
                    label=label,
                    field=item[1],
                    was=before,
                    now=after,
                    because=tuple(cause.id for cause in causes),
                    how=how,
                    why=_why(how, causes, dated.get(item, [])),
                )
            )
        return tuple(found)

    def _dated(self, kept: Kept, run: Runs, new: Setting, changed: list[Item]) -> dict[Item, list[str]]:
        """Return by figure the days of the law between then and now on which it changed, found by asking on each."""
        engine = self.engines.engine(new.conditions)
        first, last = sorted((kept.determination.as_of, new.conditions.as_of))
        place = kept.determination.place
        codes = {n.mun_code for n in (place.municipality, *place.candidates) if n is not None}
        facts = fact_dates(engine.bound, dict(new.facts))
        reached = {item: reach_of_item(engine.rulebook, item[0]) for item in changed}
        any_of_them = frozenset().union(*reached.values())
        dates = [
            one
            for one in (*concerning(law_dates(engine.bound, engine.atlas), codes), *facts)
            if any_of_them & set(one.categories)
        ]
        days = sorted({first, *(day for one in dates for day in one.days if first < day <= last)})
        found: dict[Item, list[str]] = {}
        for day, items in steps(run, new, days):
            for item in items:
                words = [
                    one.dated_words
                    for one in dates
                    if day in one.days and reached.get(item, _NONE) & set(one.categories)
                ]
                found[item] = list(dict.fromkeys((*found.get(item, []), *words)))
        return found


def _why(how: How, causes: list[InputChange], dates: list[str]) -> str:
    listed = "; ".join(
        f"{cause.words}: {'; '.join(dates)}" if cause.kind == "as_of" and dates else cause.words for cause in causes
    )
    return {"alone": "", "together": "Only together: ", "left": "Nothing else is left: "}.get(
        how, "Cannot be separated: "
    ) + listed


@dataclass
class _Trials:
    """Runs in which one thing at a time is new, or as recorded.

    Attributes
    ----------
    base
        All that can be put back is as recorded.
    renewed
        As the base, with one thing new.
    restored
        All is new, with one thing as recorded.
    lost
        What could not be put back.
    """

    tried: list[InputChange]
    lost: list[InputChange]
    base: Answers | None
    renewed: list[Answers | None]
    restored: list[Answers | None]

    @classmethod
    def of(cls, run: Runs, factors: list[Factor], new: Setting) -> _Trials:
        able = [f for f in factors if f.change.at_hand]
        old = new
        for factor in able:
            old = factor.restore(old)
        return cls(
            [f.change for f in able],
            [f.change for f in factors if not f.change.at_hand],
            run(old),
            [run(f.renew(old)) for f in able],
            [run(f.restore(new)) for f in able],
        )

    def causes(self, item: Item, was: Value, now: Value, *, noise_ft: float) -> tuple[How, list[InputChange]]:
        """Return what made a figure other than it was; nothing where nothing that is known to have changed did."""
        same = partial(same_value, item, noise_ft=noise_ft)
        if self.base is None:
            return "unseparated", [*self.tried, *self.lost]
        base = value_of(self.base, item)
        how: How = "alone"
        causes: list[InputChange] = []
        if not same(base, now):
            pairs = list(zip(self.tried, self.renewed, self.restored, strict=True))
            causes = [c for c, renewed, _ in pairs if renewed is not None and same(value_of(renewed, item), now)]
            if not causes:
                how = "together"
                causes = [c for c, _, kept in pairs if kept is not None and not same(value_of(kept, item), now)]
            if not causes:
                how, causes = "unseparated", list(self.tried)
        if not same(was, base):
            # Nothing that can be put back explains it.
            how = "unseparated" if causes or len(self.lost) > 1 else "left"
            causes = [*causes, *self.lost]
        return how, causes
