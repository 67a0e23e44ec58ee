"""How far a site is from the next better line of the base amount, and through which clause.

A place clause (a radius, an area, a municipality of a list) that a better line waits for is measured: how far is its
line, at least, as computed, at most. Then the site is moved there and asked again, so that a clause that is not
enough by itself is never shown as if it were. Of a point the nearest places where two of them hold at once are tried
too, and every line is asked at every place that was tried for any. What waits for a fact, a reading or a layer is told
beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from math import inf
from typing import TYPE_CHECKING

import numpy as np
import shapely
from grownj_geo.bothat import Ground, meeting_of

from grownj_geo.betterways import (
    BEYOND_FT,
    Move,
    Region,
    Wanted,
    Way,
    degrees,
    moves_of,
    nearest_part,
    slack_ft,
    wanted_of,
    way_into,
    way_out_of,
)
from grownj_geo.betterwords import Better, NextBetter, Step, all_words, better_words, line_name, step_words
from grownj_geo.categoryfinding import need_words
from grownj_geo.determination import Missing, OutcomeWord
from grownj_geo.errors import OutsideNewJerseyError
from grownj_geo.evaluate import Evaluation
from grownj_geo.evidence import clause_label, deciding_leaves, interval
from grownj_geo.leaves import Leaves
from grownj_geo.logic import Outcome
from grownj_geo.measured import key_of
from grownj_geo.nearby import nearest_of
from grownj_geo.observe import SiteTable
from grownj_geo.units import FT_PER_FTUS, geodesic_ft, to_working, towards
from grownj_geo.whatif import deciding_sets
from grownj_geo.words import feature_named, feet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grownj_geo.bothat import Meeting

    from grownj_geo.binding import Clause
    from grownj_geo.determine import Engine
    from grownj_geo.site import FactValue, Site

__all__ = ["Better", "Finder", "NextBetter", "Step", "next_better"]

_MOST_STEPS = {"yes": 3, "undetermined": 2}
_MOST_MEETINGS = 16
_FARTHEST_MEETING_FT = 79_200.0


@dataclass(frozen=True)
class _Tried:
    """A place that was asked: the way to it, how far it surely is, and what is so there."""

    way: Way
    move: Move
    feet: float
    there: Evaluation


@dataclass
class Finder:
    """Finds the next better line of any number of sites.

    Parameters
    ----------
    engine
        The rules and layers.
    """

    engine: Engine
    _municipal: dict[tuple[tuple[str, FactValue], ...], Evaluation] = field(default_factory=dict)
    _there: dict[tuple[float, ...], Evaluation | None] = field(default_factory=dict)
    _tried: list[_Tried] = field(default_factory=list)

    def find(self, site: Site, *, areas: Sequence[str] = ()) -> NextBetter:
        """Return the better lines of one site.

        Parameters
        ----------
        site
            The site.
        areas
            Categories to look at too, such as ``"priority_area"``.

        Raises
        ------
        SiteError, OutsideNewJerseyError, FactError
            As `Engine.run`.
        RulebookError
            If there is no such category.
        """
        run = self.engine.run(site)
        self._there.clear()
        self._tried.clear()
        book = self.engine.rulebook
        lines = sorted((t for t in book.tiers if not t.project), key=lambda t: t.dollars)
        reached = [t.dollars for t in lines if run.category(t.category).first == 1]
        floor = max(reached, default=None)
        better = tuple(
            self._better(run, site, tier.category, tier.label, tier.dollars)
            for tier in lines
            if floor is None or tier.dollars > floor
        )
        if site.is_point:
            self._try_meetings(run, site, better)
        better = tuple(self._nearest_of_all(run, site, line, better) for line in better)
        others = tuple(
            self._better(run, site, name, book.category(name).label, None)
            for name in areas
            if run.category(name).first != 1
        )
        return NextBetter(
            floor=floor,
            lines=better,
            areas=others,
            words=all_words(
                better, floor, lines=bool(lines), placed=site.geometry is not None, at_once=2 if site.is_point else 1
            ),
        )

    def _better(self, run: Evaluation, site: Site, category: str, label: str, dollars: int | None) -> Better:
        steps: list[Step] = []
        not_measured: dict[str, None] = {}
        if site.geometry is not None:
            alike: dict[tuple[object, ...], list[Wanted]] = {}
            for candidate in wanted_of(run.bound.clauses[category], run, "", 1, set()):
                key = key_of(candidate.where), candidate.radius_ft, candidate.leave
                layer = run.leaves.layer(candidate.where.layer)
                if layer is None:
                    not_measured[candidate.where.layer] = None
                else:
                    alike.setdefault(key, []).append(candidate)
            for same in alike.values():
                step = self._step(run, site, category, same)
                steps += [] if step is None else [step]
            into = self._into_municipality(run, site, category)
            steps += [] if into is None else [into]
        steps.sort(key=lambda s: s.distance_ft.high or 0.0)
        here = self._needs(run, category)
        outcome = Outcome.of(run.category(category).first).value
        kept = tuple(_few(steps))
        found = Better(
            category=category,
            label=label,
            dollars=dollars,
            outcome=outcome,
            steps=kept,
            here=here,
            not_measured=tuple(not_measured),
            words="",
        )
        return found.model_copy(update={"words": self._words(found, kept, placed=site.geometry is not None)})

    def _words(self, line: Better, steps: Sequence[Step], *, placed: bool) -> str:
        lacking = [self.engine.atlas.manifests[name].title for name in line.not_measured]
        return better_words(line_name(line.label, line.dollars), steps, line.here, lacking, placed=placed)

    def _needs(self, run: Evaluation, category: str) -> tuple[Missing, ...]:
        """Return what could decide a category where the site is, no set twice and none that holds a smaller one."""
        found: list[Missing] = []
        for needs in deciding_sets(run, [category]).get(category, []):
            if not any(set(known.needs) <= set(needs) for known in found):
                words = " and ".join(need_words(need, self.engine.atlas) for need in needs)
                found.append(Missing(needs=needs, words=words))
        return tuple(found)

    # -- radii and areas ------------------------------------------------------------------------------

    def _step(self, run: Evaluation, site: Site, category: str, same: Sequence[Wanted]) -> Step | None:
        """Return the way to the nearest place where clauses that look at the same hold; None where none surely does."""
        wanted = same[0]
        layer = run.leaves.layer(wanted.where.layer)
        if layer is None:
            return None
        way = way_out_of(run, site, wanted, layer) if wanted.leave else way_into(run, site, wanted, layer)
        return None if way is None else self._made(run, site, category, replace(way, same=tuple(same)))

    # -- municipalities -------------------------------------------------------------------------------

    def _into_municipality(self, run: Evaluation, site: Site, category: str) -> Step | None:
        """Return the way into the nearest municipality all of which is in, whatever the place in it."""
        layer = self.engine.atlas.layer("municipalities")
        codes = frozenset() if layer is None else self._municipalities(category, site)
        if layer is None or not codes:
            return None
        features = np.array(
            [int(i) for i in layer.select(as_of=run.bound.as_of) if layer.key(int(i)) in codes], dtype=np.int64
        )
        found = nearest_of(layer, features, site)
        if found is None or found.value_ft == 0:
            return None
        # Of municipalities the covering polygon decides: only the site's own uncertainty is left.
        bounds = found.value_ft - site.uncertainty_ft, found.value_ft, found.value_ft + site.uncertainty_ft
        ground = layer.geometry(found.feature)
        label = "all of the municipality"
        way = Way(None, label, "", layer, found.feature, bounds, found.target, layer.name(found.feature), ground)
        return self._made(run, site, category, way)

    def _municipalities(self, category: str, site: Site) -> frozenset[str]:
        """Return the municipalities in which a category is a yes without any place in them being known."""
        codes = tuple(self.engine.atlas.municipal_names)
        facts = tuple(sorted(site.facts.items()))
        if facts not in self._municipal:
            n = len(codes)
            table = SiteTable(np.full(n, None, dtype=object), np.zeros(n), np.zeros(n, dtype=bool), codes)
            stated = {name: [value] * n for name, value in facts}
            bound, atlas = self.engine.bound, self.engine.atlas
            # Lines that are measured are looked for by themselves.
            leaves = Leaves(bound, atlas, table, stated, anywhere=False, feature_cache=self.engine.feature_cache)
            self._municipal[facts] = Evaluation(bound, leaves, keep=False, margins=False)
        answers = self._municipal[facts].category(category).outcomes[0]
        return frozenset(code for code, answer in zip(codes, answers, strict=True) if answer == 1)

    # -- two clauses at once --------------------------------------------------------------------------

    def _try_meetings(self, run: Evaluation, site: Site, lines: Sequence[Better]) -> None:
        """Ask at the nearest places where two of the clauses hold that a line waits for."""
        assert site.geometry is not None  # noqa: S101 - the caller looked
        known: dict[tuple[object, ...], tuple[Region, shapely.Geometry | None]] = {}
        bests = [_FARTHEST_MEETING_FT if line.nearest is None else line.nearest.enough_ft for line in lines]
        reach = min(max(bests, default=0.0), _FARTHEST_MEETING_FT) / FT_PER_FTUS
        for line, best in zip(lines, bests, strict=True):
            here = []
            for key, region in self._regions(run, site, line.category):
                if key not in known:
                    known[key] = region, region.ground.near(site.geometry, reach)
                ground = known[key][1]
                if ground is not None:
                    away = float(shapely.distance(ground, site.geometry)) * FT_PER_FTUS
                    here += [(away, region, ground)] if away < best else []
            depth = site.uncertainty_ft + BEYOND_FT
            found = []
            for (far_a, a, ground_a), (far_b, b, ground_b) in combinations(here, 2):
                if a.candidate is None and b.candidate is None:
                    # Municipalities in both are among those of the line.
                    continue
                slack = max(slack_ft(a), slack_ft(b)) + depth
                meeting = meeting_of(ground_a, ground_b, site.geometry, depth_ft=slack)
                if meeting is not None and meeting.least_ft < best:
                    first, second = (b, a) if a.candidate is None else (a, b)
                    found.append((meeting, max(far_a, far_b) - slack, first, second))
            found.sort(key=lambda one: one[0].least_ft)
            for meeting, least, first, second in found[:_MOST_MEETINGS]:
                tried = self._go(site, meeting, least, (first, second))
                if tried is not None and tried.there.category(line.category).first == 1:
                    break

    def _regions(self, run: Evaluation, site: Site, category: str) -> Iterator[tuple[tuple[object, ...], Region]]:
        """Yield the grounds on which a clause holds that a category waits for, each once, by what it is known by."""
        asked: set[tuple[str, int]] = {(category, 1)}
        seen: set[tuple[object, ...]] = set()
        for one in wanted_of(run.bound.clauses[category], run, "", 1, asked):
            layer = run.leaves.layer(one.where.layer)
            key: tuple[object, ...] = (key_of(one.where), one.radius_ft, one.leave)
            if layer is None or key in seen:
                continue
            seen.add(key)
            features = run.leaves.features(layer, one.where)
            sure = features[~layer.doubtful(features, one.where.selection)]
            if len(sure) or one.leave:
                ground = Ground(layer, features if one.leave else sure, one.radius_ft, outside=one.leave)
                yield key, Region(ground, one, clause_label(one.clause, run))
        towns = self.engine.atlas.layer("municipalities")
        for name, sign in sorted(asked):
            codes = self._municipalities(name, site) if towns is not None and sign == 1 else frozenset()
            key = ("municipalities", codes)
            if towns is not None and codes and key not in seen:
                seen.add(key)
                every = [int(i) for i in towns.select(as_of=run.bound.as_of) if towns.key(int(i)) in codes]
                label = run.bound.rulebook.category(name).label
                yield key, Region(Ground(towns, np.array(every, dtype=np.int64)), None, label)

    def _go(self, site: Site, meeting: Meeting, least: float, both: tuple[Region, Region]) -> _Tried | None:
        """Ask the site at the place where two grounds meet; None outside New Jersey."""
        first, second = both
        start = nearest_part(site, meeting.place)
        lon, lat = degrees(start)
        to = degrees(meeting.place)
        far = float(geodesic_ft(lon, lat, *to))
        move = Move(*towards(lon, lat, *to, far), far)
        feature = first.feature_at(meeting.place)
        names = [
            f"the radius of {feet(one.ground.radius_ft)} around {name}"
            if one.ground.radius_ft
            else f"the way out of {name}"
            if one.ground.outside
            else name
            for one in both
            for name in [feature_named(one.ground.layer, one.feature_at(meeting.place)) or one.label]
        ]
        clause = None if first.candidate is None else first.candidate.clause
        way = Way(
            clause,
            f"{first.label} and {second.label}",
            "" if first.candidate is None else first.candidate.area,
            first.ground.layer,
            feature,
            (min(max(least, 0.0), far), min(meeting.least_ft, far), far),
            meeting.place,
            f"where {' and '.join(names)} meet",
            None,
        )
        again = self._asked_at(site, start, move)
        if again is None:
            return None
        tried = _Tried(way, move, far, again)
        self._tried.append(tried)
        return tried

    def _nearest_of_all(self, run: Evaluation, site: Site, line: Better, lines: Sequence[Better]) -> Better:
        """Return a line with the nearest place of all that were tried: one that has it, or a higher line."""
        enough = inf if line.nearest is None else line.nearest.enough_ft
        higher = [other.category for other in lines if (other.dollars or 0) >= (line.dollars or 0)]
        for tried in sorted(self._tried, key=lambda one: one.feet):
            # What is shown is rounded: a way that is only that much nearer is the same way.
            if tried.feet > enough - 2 * BEYOND_FT:
                break
            has = next((name for name in higher if tried.there.category(name).first == 1), None)
            if has is not None:
                gained = dict.fromkeys(_gained(run, tried.there, run.bound.clauses[has]))
                area = " and ".join(gained) or tried.way.area
                step = self._told(run, site, has, tried.way, tried.move, enough_ft=tried.feet, area=area, there="yes")
                steps = tuple(_few([step, *line.steps]))
                return line.model_copy(update={"steps": steps, "words": self._words(line, steps, placed=True)})
        return line

    # -- going there ----------------------------------------------------------------------------------

    def _made(self, run: Evaluation, site: Site, category: str, way: Way) -> Step | None:
        """Move the site beyond the line, ask again, and put it into words."""
        high = way.bounds[2]
        start = nearest_part(site, way.target)
        again: Evaluation | None = None
        answer = -1
        move = Move(0.0, 0.0, 0.0, 0.0)
        moves = 0
        for move in moves_of(site, way, start):
            moves += 1
            again = self._asked_at(site, start, move)
            answer = -1 if again is None else again.category(category).first
            if again is not None:
                surely = way.bounds[2] if site.is_point and way.ground is None else max(way.bounds[2], move.feet)
                self._tried.append(_Tried(way, move, surely, again))
            if answer == 1:
                break
        if not site.is_point or way.ground is not None:
            high = max(high, move.feet)
        outcome: OutcomeWord = Outcome.of(answer).value
        needs: tuple[Missing, ...] = ()
        area = way.area
        if again is not None and answer == 0:
            needs = self._needs(again, category)
        elif again is not None and answer == 1:
            decided = {leaf.path for leaf in deciding_leaves(again.bound.clauses[category], again)}
            if way.clause is not None:
                mine = next((one for one in way.same if one.clause.path in decided), None)
                if mine is None:
                    # What lies there is in by another clause, which has a way of its own.
                    return None
                way = replace(way, clause=mine.clause, label=clause_label(mine.clause, run))
                area = mine.area
            area = " and ".join(dict.fromkeys(_gained(run, again, run.bound.clauses[category]))) or area
        suffix = " (outside New Jersey)" if again is None else ""
        if moves == 1 and answer != 1 and not site.is_point:
            suffix = "; moved straight there, the whole parcel does not fit in"
        return self._told(
            run, site, category, way, move, enough_ft=high, area=area, there=outcome, needs=needs, suffix=suffix
        )

    @staticmethod
    def _told(
        run: Evaluation,
        site: Site,
        category: str,
        way: Way,
        move: Move,
        *,
        enough_ft: float,
        area: str,
        there: OutcomeWord,
        needs: tuple[Missing, ...] = (),
        suffix: str = "",
    ) -> Step:
        low, value, _ = way.bounds
        source = run.bound.clauses[category] if way.clause is None else way.clause
        words = step_words(way.to, area, (value, enough_ft), there, needs, whole=not site.is_point)
        return Step(
            clause=source.path,
            label=way.label,
            citation=source.citation,
            area=area,
            layer=way.layer.id,
            feature=way.layer.key(way.feature),
            feature_name=feature_named(way.layer, way.feature) or None,
            distance_ft=interval(low, value, enough_ft),
            bearing_deg=round(move.bearing_deg, 1) % 360.0,
            longitude=round(move.longitude, 7),
            latitude=round(move.latitude, 7),
            there=there,
            open_there=needs,
            words=words + suffix,
        )

    def _asked_at(self, site: Site, start: tuple[float, float], move: Move) -> Evaluation | None:
        """Return the evaluation of the site moved so; None where that is outside New Jersey."""
        key = (*start, move.longitude, move.latitude)
        if key not in self._there:
            self._there[key] = self._run_at(site, start, move)
        return self._there[key]

    def _run_at(self, site: Site, start: tuple[float, float], move: Move) -> Evaluation | None:
        x, y = (float(v) for v in to_working(move.longitude, move.latitude))
        if site.is_point:
            place: shapely.Geometry = shapely.Point(x, y)
        else:
            by = np.array([x - start[0], y - start[1]])
            place = shapely.transform(site.geometry, lambda xy: xy + by)
        moved = replace(site, geometry=place, mun_code=None, mun_basis=None, pins=())
        try:
            return self.engine.run(moved)
        except OutsideNewJerseyError:
            return None


def next_better(engine: Engine, site: Site, *, areas: Sequence[str] = ()) -> NextBetter:
    """Return how far a site is from the better lines of the base amount, and through which clauses.

    For many sites make one `Finder`; `Finder.find` says what is raised.

    Parameters
    ----------
    engine
        The rules and layers under which the site was determined.
    site, areas
        As for `Finder.find`.

    Examples
    --------
    >>> from grownj_geo import Engine, Site, load_atlas, load_rulebook
    >>> found = next_better(Engine(load_atlas(), load_rulebook()), Site.from_lonlat(-74.1641, 40.7344))
    >>> found.floor, found.lines
    (5000, ())
    """
    return Finder(engine).find(site, areas=areas)


def _gained(here: Evaluation, there: Evaluation, clause: Clause) -> Iterator[str]:
    """Yield the areas of the law, the outermost ones, that a category has there and not here."""
    if clause.operator == "category":
        category = there.bound.rulebook.category(clause.content)
        if category.kind == "ground":
            yield from _gained(here, there, there.bound.clauses[clause.content])
        elif there.category(category.id).first == 1 and here.category(category.id).first != 1:
            yield category.label
    for child in clause.active:
        yield from _gained(here, there, child)


def _few(steps: Sequence[Step]) -> list[Step]:
    """Return the nearest steps of each kind; of those that are not enough one, where there is no other."""
    kept = [s for word, most in _MOST_STEPS.items() for s in [step for step in steps if step.there == word][:most]]
    return kept or list(steps[:1])
