"""Addresses and who knows them: locators are asked in order until one has a place that fits in everything typed.

What fits less well and what fits several times is never taken: it is shown, with who was asked and what each had. A
locator that gives no answer is said, and the next one is asked.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import shapely

from grownj_geo.errors import SiteError
from grownj_geo.found import Asked, Found, TypedAddress, choice_words, feet_words, match_words
from grownj_geo.place import place_sites
from grownj_geo.settling import Verdict, judge, shared_site, site_of_match
from grownj_geo.site import Site
from grownj_geo.sitetable import SiteTable
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from grownj_geo.atlas import Atlas
    from grownj_geo.locator import Answer, Locator, Match
    from grownj_geo.parcelstore import ParcelStore

    Progress = Callable[[str, int, int], None]

__all__ = ["OTHERWISE", "Asker", "Names", "Sources"]

OTHERWISE = (
    "Or give coordinates (40.7344,-74.1641), a parcel number (0408_81_1), block and lot (Camden City block 81 lot 1), "
    "a GeoJSON file or WKT; or the municipality's name alone (Camden City) where no more is known"
)
"""What else a site can be given as."""

_MOST_KNOWN = 50_000
_MOST_EXPLAINED = 8
_TO_LOAD = "load parcels or address points (grownj layers import parcels FILE)"
_TO_SWITCH = "switch an online locator on, which then gets the address (grownj settings set locators census)"


class Sources(NamedTuple):
    """Where places are looked for.

    Attributes
    ----------
    store
        The parcels that the user has loaded; None where there are none.
    locators
        Who is asked for addresses, in order.
    left_out
        Who was to be asked and cannot be, and why.
    """

    store: ParcelStore | None = None
    locators: tuple[Locator, ...] = ()
    left_out: tuple[Asked, ...] = ()


@dataclass(frozen=True)
class Names:
    """The municipalities of an atlas, as the reading of places wants them."""

    atlas: Atlas

    @property
    def names(self) -> Mapping[str, tuple[str, str]]:
        """Name and county by municipal code."""
        return self.atlas.municipal_names


@dataclass
class _Run:
    """One address, and what the locators had for it so far."""

    typed: TypedAddress
    asked: list[Asked]
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def settled(self) -> bool:
        """Whether nobody else needs to be asked: who has several places that fit is not put right by another.

        Of a parcel without a known place another may know the place.
        """
        return any(v.word == "several" or (v.word == "settled" and v.matches[0].has_place) for v in self.verdicts)


class Asker:
    """Asks locators for addresses.

    Parameters
    ----------
    atlas
        The layers of a day: its municipalities name places and say where points lie.
    sources
        Who is asked.
    every_locator
        Ask all even where one has settled the place, and say how far apart they are.
    """

    def __init__(self, atlas: Atlas, sources: Sources, *, every_locator: bool = False) -> None:
        self._atlas = atlas
        self._directory = Names(atlas)
        self._sources = sources
        self._every = every_locator
        self._silent: dict[str, str] = {}
        self._codes: dict[tuple[float, float, float], tuple[str, ...]] = {}

    def address(self, text: str) -> TypedAddress:
        """Return an address as locators are asked for it.

        Raises
        ------
        OutsideNewJerseyError
            For an address of another State.
        SiteError
            For text that is no address, or a post office box.
        """
        from grownj_geo.addressparse import AddressError, parse_address  # noqa: PLC0415 - only where there are words
        from grownj_geo.locator import AddressQuery  # noqa: PLC0415 - same

        try:
            parsed = parse_address(text, self._directory)
        except AddressError as error:
            if error.fault in {"no_street", "empty"}:
                raise SiteError(f"{error} {OTHERWISE}.") from error
            raise
        line, place = parsed.line, parsed.place
        street = " ".join(part for part in (line.number, str(line.street)) if part)
        query = AddressQuery(
            text=text,
            street=street or None,
            city=place.typed or None,
            zip_code=parsed.zip_code,
            mun_codes=place.mun_codes,
        )
        return TypedAddress(text, query, place.how, parsed.notes)

    def look_up(
        self, addresses: Sequence[TypedAddress], *, bulk: bool, progress: Progress | None = None
    ) -> list[Found]:
        """Return what addresses come to, each locator asked for all that are still open at once.

        Parameters
        ----------
        addresses
            As `address` reads them.
        bulk
            Do not ask a locator again that gave no answer to any of them.
        progress
            Called with a locator's name, how many addresses it has been asked for, and how many it is asked for.
        """
        runs = [_Run(typed, list(self._sources.left_out)) for typed in addresses]
        for locator in self._sources.locators:
            still = [run for run in runs if self._every or not run.settled]
            if not still:
                break
            silent = self._silent.get(locator.name) if bulk else None
            if silent is not None:
                for run in still:
                    run.asked.append(Asked(locator.name, "left_out", f"not asked again: {silent.rstrip('.')}"))
                continue
            answers = _answers(locator, [run.typed for run in still], progress)
            failures = [answer for answer in answers if not isinstance(answer, tuple)]
            if bulk and len(failures) == len(answers):
                self._silent[locator.name] = str(failures[0])
            for run, answer in zip(still, answers, strict=True):
                self._take(run, locator, answer)
        return [self._found(run) for run in runs]

    def _take(self, run: _Run, locator: Locator, answer: Answer) -> None:
        """Add what a locator had for one address."""
        if not isinstance(answer, tuple):
            words = f"no answer ({answer.kind.replace('_', ' ')}): {str(answer).rstrip('.')}"
            run.asked.append(Asked(locator.name, "failed", words, locator.was_sent(run.typed.query)))
            return
        # What is kept from earlier says its day; what came now is no other answer for that.
        today = datetime.now(UTC).date()
        if locator.online:
            answer = tuple(replace(match, answered_on=match.answered_on or today) for match in answer)
        verdict = judge(run.typed, answer, codes_of=self.codes_of, names=self._directory.names)
        run.verdicts.append(verdict)
        words = self._verdict_words(verdict) or _nothing_words(locator, run.typed)
        run.asked.append(Asked(locator.name, verdict.word, words, locator.was_sent(run.typed.query)))

    def _verdict_words(self, verdict: Verdict) -> str:
        """Return what a locator had, in words; empty where it had nothing."""
        if verdict.word == "nothing":
            return ""
        best = verdict.matches[0]
        shown = f"{best.matched} in {self.municipality_words(best)} ({match_words(best)})"
        if verdict.word == "settled":
            return f"found {shown}"
        if verdict.word == "several":
            return f"{len(verdict.matches):,} places fit equally well"
        return f"the best is {shown}, but {'; '.join(verdict.why)}"

    # -- what all of them come to ---------------------------------------------------------------------

    def _found(self, run: _Run) -> Found:
        typed, asked = run.typed, tuple(run.asked)
        notes = [*typed.notes, *(note for verdict in run.verdicts for note in verdict.notes)]
        notes += [f"{one.locator}: {one.words}." for one in asked if one.outcome in {"failed", "left_out"}]
        sure = [verdict for verdict in run.verdicts if verdict.word in {"settled", "several"}]
        if not sure:
            every = dict.fromkeys(match for verdict in run.verdicts for match in verdict.matches)
            choices = tuple(sorted(every, key=lambda match: -match.score))
            return Found(typed.text, "address", None, choices=choices, notes=tuple(dict.fromkeys(notes)), asked=asked)
        best = sure[0]
        others = [verdict.matches[0] for verdict in run.verdicts if verdict.matches and verdict is not best]
        notes += [self._apart_words(best.matches[0], other) for other in others]
        against = [match for verdict in sure[1:] if not _agree(best, verdict) for match in verdict.matches]
        if best.word == "settled" and not against:
            return self._one(typed, self._with_place(best.matches[0], sure[1:]), notes, asked)
        return self._several(typed, tuple(dict.fromkeys((*best.matches, *against))), notes, asked, split=bool(against))

    def _with_place(self, match: Match, others: Sequence[Verdict]) -> Match:
        """Return a parcel that has no known place with the place that another locator has for its address."""
        if match.has_place or match.pin is None:
            return match
        known = [verdict.matches[0] for verdict in others if verdict.word == "settled" and verdict.matches[0].has_place]
        place = next((one for one in known if match.mun_code in self.codes_of(one)), None)
        if place is None:
            return match
        words = f"The parcel is {match.pin} ({match.locator}); its place is that of {place.locator}: {place.matched}."
        notes = tuple(dict.fromkeys((words, *match.notes, *place.notes)))
        return replace(place, pin=match.pin, mun_code=match.mun_code, notes=notes)

    def _one(self, typed: TypedAddress, match: Match, notes: list[str], asked: tuple[Asked, ...]) -> Found:
        told = tuple(dict.fromkeys((*self._match_notes(typed, match), *notes)))
        by = f"address, found as {match.matched} ({match_words(match)})"
        site = site_of_match(match, typed=typed.text, located_by=by, notes=told)
        return Found(typed.text, "address", site, match=match, notes=site.notes, asked=asked)

    def _several(
        self,
        typed: TypedAddress,
        choices: tuple[Match, ...],
        notes: list[str],
        asked: tuple[Asked, ...],
        *,
        split: bool,
    ) -> Found:
        listed = choice_words(choices, {match: self.municipality_words(match) for match in choices})
        first = [f"{len(choices):,} places fit equally well, and none was chosen: {listed}."]
        if split:
            first.append("The locators disagree by more than their answers are uncertain.")
        why = [note for match in choices[:_MOST_EXPLAINED] for note in match.notes]
        told = tuple(dict.fromkeys((*first, *why, *notes)))
        site = shared_site(choices, typed=typed.text, notes=told)
        return Found(typed.text, "address", site, choices=choices, notes=told, asked=asked)

    def _apart_words(self, first: Match, other: Match) -> str:
        from grownj_geo.locator import apart_ft  # noqa: PLC0415 - only addresses need it

        shown = choice_words([other], {other: self.municipality_words(other)})
        return f"Another answer, {feet_words(apart_ft(first, other))} from it: {shown}."

    def _match_notes(self, typed: TypedAddress, match: Match) -> list[str]:
        """Return what of a match is otherwise than typed, or has to be told."""
        query, notes = typed.query, []
        codes = self.codes_of(match)
        if query.city and typed.place in {"postal", "unknown"}:
            notes.append(
                f"{query.city!r} is no municipality's name; the place found lies in {self.municipality_words(match)}."
            )
        elif query.mun_codes and codes and codes[0] not in query.mun_codes:
            wanted = self.name(query.mun_codes[0])
            notes.append(f"{wanted} was typed, and the place found lies in {self.name(codes[0])} by its lines.")
        if match.answered_on is not None:
            notes.append(f"{match.locator} gave this answer on {match.answered_on}.")
        return notes

    # -- municipalities -------------------------------------------------------------------------------

    def codes_of(self, match: Match) -> tuple[str, ...]:
        """Return where a match may lie, the likeliest municipality first: as its parcel or street says, or by lines."""
        if match.mun_code is not None and (match.pin is not None or match.kind in {"municipality", "street"}):
            return (match.mun_code,)
        place = (match.x_ft, match.y_ft, match.uncertainty_ft)
        if place not in self._codes:
            if len(self._codes) >= _MOST_KNOWN:
                self._codes.clear()
            point = Site(typed="", located_by="", geometry=shapely.Point(place[:2]), uncertainty_ft=place[2])
            self._codes[place] = tuple(place_sites(self._atlas, SiteTable.of([point])).codes_of(0))
        return self._codes[place]

    def municipality_words(self, match: Match) -> str:
        """Return where a match lies, in words: its municipality, or those that are possible."""
        codes = self.codes_of(match)
        if not codes:
            return "no municipality of New Jersey"
        listed = " or ".join(self.name(code) for code in codes[:3])
        return listed + (f" or {len(codes) - 3} more" if len(codes) > 3 else "")  # noqa: PLR2004 - three are readable

    def name(self, code: str) -> str:
        """Return a municipality's name with its code; where others have the name too, with its county."""
        names = self._directory.names
        if code not in names:
            return code
        name, county = names[code]
        shared = sum(other == name for other, _ in names.values()) > 1
        return f"{name}, {county} County ({code})" if shared else f"{name} ({code})"

    # -- words ----------------------------------------------------------------------------------------

    def words_of(self, found: Found) -> str:
        """Return why an address has no site: what was found, what was expected, what to do."""
        words = self._why_open(found)
        near = self._near_municipality(found.text) if not found.choices else ""
        return f"{words} {near}" if near else words

    def _near_municipality(self, text: str) -> str:
        """Return a question for the municipality whose name a text without a number is likely to be; empty for none."""
        from grownj_geo.addressplaces import place_book  # noqa: PLC0415 - only where nothing was found

        if any(sign.isdigit() for sign in text):
            return ""
        place = place_book(self._directory).find(text)
        if place.how not in {"guessed", "postal"}:
            return ""
        listed = " or ".join(self.name(code) for code in place.mun_codes[:3])
        return f"Did you mean {listed}?"

    def _why_open(self, found: Found) -> str:
        shown = found.text[:80]
        asked = "; ".join(f"{one.locator}: {one.words}" for one in found.asked)
        if found.choices:
            listed = choice_words(found.choices, {match: self.municipality_words(match) for match in found.choices})
            what = "was not found surely" if len(found.choices) == 1 else "may be any of several places"
            return (
                f"The address {shown!r} {what}: {listed}. Asked: {asked}. Expected one place that fits in everything "
                "typed: type it as it stands there, or give its parcel number or its coordinates."
            )
        if not self._sources.locators:
            lacking = asked or "no parcels or address points are loaded, and no online locator is switched on"
            return (
                f"The site was read as the address {shown!r}. An address cannot be looked up here: {lacking}. Expected "
                f"either: {_TO_LOAD}, or {_TO_SWITCH}. {OTHERWISE}."
            )
        # Of a locator that did not answer nothing is known: the address may be there.
        if all(one.outcome != "nothing" for one in found.asked):
            return f"The address {shown!r} could not be looked up. Asked: {asked}. Ask again later. {OTHERWISE}."
        return f"The address {shown!r} was not found. Asked: {asked}. Check its spelling. {OTHERWISE}."


def _nothing_words(locator: Locator, typed: TypedAddress) -> str:
    """Return what it means that a locator had nothing."""
    if not locator.online:
        from grownj_geo.locatorlocal import LocalLocator  # noqa: PLC0415 - it brings in the index of addresses

        if isinstance(locator, LocalLocator):
            return locator.nothing_words(typed.query)
    return "knows no such address"


def _answers(locator: Locator, addresses: Sequence[TypedAddress], progress: Progress | None) -> Sequence[Answer]:
    from grownj_geo.locator import LocatorError  # noqa: PLC0415 - only addresses need it

    if len(addresses) > 1:
        told = None if progress is None else (lambda done, total: progress(locator.name, done, total))
        return locator.find_many([typed.query for typed in addresses], progress=told)
    try:
        return (locator.find(addresses[0].query),)
    except LocatorError as error:
        return (error,)


def _agree(some: Verdict, others: Verdict) -> bool:
    """Return whether two locators may mean the same place: two of their answers lie within what both are uncertain."""
    return any(_touch(one, other) for one in some.matches for other in others.matches)


def _touch(one: Match, other: Match) -> bool:
    shapes = [shapely.Point(m.x_ft, m.y_ft) if m.geometry is None else m.geometry for m in (one, other)]
    slack = sum(match.uncertainty_ft for match in (one, other) if match.geometry is None)
    return float(shapely.distance(*shapes)) * FT_PER_FTUS <= slack
