"""How far a site is from the next better line of the base amount, and through which clause.

A place clause (a radius, an area, a municipality of a list) that a better line waits for is measured: how far is its
line, at least, as computed, at most. Then the site is moved there and asked again, so that a clause that is not
enough by itself is never shown as if it were. Of a point all of the ground on which a line surely holds, through
however many clauses at once, is drawn as far as the nearest way that is known, and the nearest place of it is gone to.
Every line is asked at every place that was tried for any. What waits for a fact, a reading or a layer is told too.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.betterclauses import clauses_below, facts_of
from grownj_geo.bettermeet import way_to
from grownj_geo.bettersearch import MOST_VERTICES, Search
from grownj_geo.bettertowns import Towns, towns_of
from grownj_geo.betterways import (
    BEYOND_FT,
    DEGREE_DIGITS,
    Move,
    Wanted,
    Way,
    degrees,
    moves_of,
    nearest_part,
    wanted_of,
    way_into,
    way_out_of,
)
from grownj_geo.betterwords import (
    WHOLE_STATE_FT,
    Better,
    NextBetter,
    Step,
    all_words,
    at_most_words,
    better_words,
    is_nearest,
    step_words,
)
from grownj_geo.categoryfinding import need_words
from grownj_geo.determination import Missing, OutcomeWord
from grownj_geo.errors import OutsideNewJerseyError
from grownj_geo.evidence import clause_label, deciding_leaves, interval
from grownj_geo.logic import Outcome
from grownj_geo.measured import key_of
from grownj_geo.nearby import nearest_of
from grownj_geo.units import geodesic_ft, to_working, towards
from grownj_geo.whatif import deciding_sets
from grownj_geo.words import feature_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from grownj_geo.binding import Clause
    from grownj_geo.determine import Engine
    from grownj_geo.evaluate import Evaluation
    from grownj_geo.site import FactValue, Site

__all__ = ["Better", "Finder", "NextBetter", "Step", "next_better"]

_MOST_STEPS = {"yes": 3, "undetermined": 2}
_MOST_TOWNS = 8
"""What clauses come to in every municipality is kept for so many sets of stated facts: 1.3 MB each."""


@dataclass(frozen=True)
class _Tried:
    """A place that was asked: how far it surely is, and what is so there. Without a way: one is described when told."""

    way: Way | None
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
    most_vertices
        How much ground is drawn for one site at most, in vertices of the features it is drawn from. What was not
        searched for that is said.
    kept_towns
        What clauses come to in each municipality, by the facts that are stated; of a few sets of facts.

    Notes
    -----
    It may be asked from several threads at once: what one site's question needs is kept apart.
    """

    engine: Engine
    most_vertices: int = field(default=MOST_VERTICES, kw_only=True)
    kept_towns: OrderedDict[tuple[tuple[str, FactValue], ...], Towns | None] = field(
        init=False, repr=False, default_factory=OrderedDict
    )
    _lock: Lock = field(init=False, repr=False, default_factory=Lock)

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
        return _Call(self.engine, self._towns(site), self.most_vertices).find(site, areas)

    @cached_property
    def _municipal_facts(self) -> frozenset[str]:
        """The facts that a clause reads: on no other depends what it comes to in a municipality."""
        return frozenset(
            name
            for top in self.engine.bound.clauses.values()
            for clause in clauses_below(top)
            for name in facts_of(clause)
        )

    def _towns(self, site: Site) -> Towns | None:
        facts = tuple(sorted((name, value) for name, value in site.facts.items() if name in self._municipal_facts))
        with self._lock:
            if facts not in self.kept_towns:
                self.kept_towns[facts] = towns_of(self.engine, facts)
                if len(self.kept_towns) > _MOST_TOWNS:
                    self.kept_towns.popitem(last=False)
            self.kept_towns.move_to_end(facts)
            return self.kept_towns[facts]


@dataclass
class _Call:
    """One site's question: the places that were asked for it are kept for all of its lines."""

    engine: Engine
    towns: Towns | None
    most_vertices: int
    _there: dict[tuple[float, ...], Evaluation | None] = field(default_factory=dict)
    _tried: list[_Tried] = field(default_factory=list)

    def find(self, site: Site, areas: Sequence[str]) -> NextBetter:
        run = self.engine.run(site)
        book = self.engine.rulebook
        lines = sorted((t for t in book.tiers if not t.project), key=lambda t: t.dollars)
        reached = [t.dollars for t in lines if run.category(t.category).first == 1]
        floor = max(reached, default=None)
        better = tuple(
            self._better(run, site, tier.category, tier.label, tier.dollars)
            for tier in lines
            if floor is None or tier.dollars > floor
        )
        others = tuple(
            self._better(run, site, name, book.category(name).label, None)
            for name in areas
            if run.category(name).first != 1
        )
        # What is as good as a line: a higher one.
        as_good = [(line, [other.category for other in better[i:]]) for i, line in enumerate(better)]
        as_good += [(line, [line.category]) for line in others]
        searched = self._search(run, site, as_good) if site.is_point else {}
        told = [self._nearest_of_all(run, site, line, names, searched) for line, names in as_good]
        better, others = tuple(told[: len(better)]), tuple(told[len(better) :])
        return NextBetter(
            floor=floor,
            lines=better,
            areas=others,
            words=all_words(better, floor, lines=bool(lines), placed=site.geometry is not None),
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
        return found.model_copy(update={"words": self._words(found, placed=site.geometry is not None)})

    def _words(self, line: Better, *, placed: bool) -> str:
        lacking = [self.engine.atlas.manifests[name].title for name in line.not_measured]
        return better_words(line, lacking, placed=placed)

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
        codes = frozenset() if layer is None else self._municipalities(category)
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

    def _municipalities(self, category: str) -> frozenset[str]:
        """Return the municipalities in which a category is a yes without any place in them being known."""
        towns = self.towns
        if towns is None:
            return frozenset()
        answers = towns.run.category(category).outcomes[0]
        return frozenset(code for code, answer in zip(towns.codes, answers, strict=True) if answer == 1)

    # -- all clauses at once --------------------------------------------------------------------------

    def _search(self, run: Evaluation, site: Site, wanted: Sequence[tuple[Better, list[str]]]) -> dict[str, float]:
        """Go to the nearest place of each line; return, by category, within how many feet there surely is none."""
        point = shapely.Point(shapely.get_coordinates(site.geometry)[0])
        search = Search(run, self.towns, point, site.uncertainty_ft, self.most_vertices)
        least = {}
        # From the highest line on: what is found for it bounds the lower ones.
        for line, names in reversed(wanted):
            found = search.nearest(
                line.category,
                self._asking(site, (point.x, point.y), line.category),
                limit_ft=self._best_ft(line, names),
            )
            least[line.category] = found.none_within_ft
        return least

    def _best_ft(self, line: Better, names: Sequence[str]) -> float:
        """Return how far the nearest place is, of those that were tried, that has a line or one that is as good."""
        steps = [step.enough_ft for step in line.steps if step.there == "yes"]
        tried = [one.feet for one in self._tried if any(one.there.category(name).first == 1 for name in names)]
        return min([*steps, *tried], default=inf)

    def _asking(self, site: Site, start: tuple[float, float], category: str) -> Callable[[tuple[float, float]], bool]:
        """Return what says of a place whether it has a category there; where it has, the place is kept."""
        lon, lat = degrees(start)

        def ask(place: tuple[float, float]) -> bool:
            # Rounded as it is told: what is said is what was asked.
            to_lon, to_lat = (round(v, DEGREE_DIGITS) for v in degrees(place))
            far = float(geodesic_ft(lon, lat, to_lon, to_lat))
            *_, bearing = towards(lon, lat, to_lon, to_lat, far)
            move = Move(to_lon, to_lat, bearing, far)
            there = self._asked_at(site, start, move)
            if there is None or there.category(category).first != 1:
                return False
            self._tried.append(_Tried(None, move, far, there))
            return True

        return ask

    def _nearest_of_all(
        self, run: Evaluation, site: Site, line: Better, names: Sequence[str], searched: dict[str, float]
    ) -> Better:
        """Return a line with the nearest place of all that were tried: one that has it, or one that is as good."""
        enough = inf if line.nearest is None else line.nearest.enough_ft
        steps = line.steps
        for tried in sorted(self._tried, key=lambda one: one.feet):
            # What is shown is rounded: a way that is only that much nearer is the same way.
            if tried.feet > enough - 2 * BEYOND_FT:
                break
            has = next((name for name in names if tried.there.category(name).first == 1), None)
            if has is not None:
                gained = dict.fromkeys(_gained(run, tried.there, run.bound.clauses[has]))
                way = tried.way or way_to(
                    run,
                    tried.there,
                    site,
                    has,
                    towns=self.towns,
                    lonlat=(tried.move.longitude, tried.move.latitude),
                )
                area = " and ".join(gained) or way.area
                step = self._told(run, site, has, way, tried.move, enough_ft=tried.feet, area=area, there="yes")
                steps = tuple(_few([step, *line.steps]))
                break
        surest = next((step for step in steps if step.there == "yes"), None)
        if surest is not None:
            # A little deeper in the same ground it is a yes: that it is open before is nothing to be told.
            steps = tuple(step for step in steps if step.there == "yes" or not _same_way(step, surest))
        none_within = min((searched[name] for name in names if name in searched), default=None)
        if none_within is not None and not np.isfinite(none_within):
            none_within = WHOLE_STATE_FT
        found = line.model_copy(update={"steps": steps, "none_within_ft": none_within})
        if found.at_most and found.nearest is not None and none_within is not None:
            words = at_most_words(found.nearest.words, none_within)
            told = found.nearest.model_copy(update={"words": words})
            steps = tuple(told if step is found.nearest else step for step in steps)
            found = found.model_copy(update={"steps": steps})
        return found.model_copy(update={"words": self._words(found, placed=site.geometry is not None)})

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
            longitude=move.longitude,
            latitude=move.latitude,
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


def _same_way(step: Step, other: Step) -> bool:
    """Return whether a way leads to what another one leads to, and is not nearer."""
    alike = (step.layer, step.feature) == (other.layer, other.feature)
    return alike and is_nearest(other.enough_ft, step.enough_ft)


def _few(steps: Sequence[Step]) -> list[Step]:
    """Return the nearest steps of each kind; of those that are not enough one, where there is no other."""
    kept = [s for word, most in _MOST_STEPS.items() for s in [step for step in steps if step.there == word][:most]]
    return kept or list(steps[:1])
