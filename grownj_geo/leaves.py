"""The clauses that look at the world: layers, lists, radii, counties and stated facts, for n sites."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import shapely

from grownj_geo.atfeatures import outcomes_at
from grownj_geo.designations import load_lists, on_list
from grownj_geo.logic import Cause
from grownj_geo.measured import Measured
from grownj_geo.membership import SIGN, Membership
from grownj_geo.nodes import (
    Assume,
    ContainsFeatureNode,
    CountyInNode,
    DesignatedNode,
    InNewJerseyNode,
    InsideNode,
    MunicipalityInNode,
    NodeBase,
    OverlapsNode,
    RatioNode,
    ShareOverNode,
    SiteFact,
    SiteFactNode,
    UndeterminedNode,
    Where,
    WithinNode,
)
from grownj_geo.observe import Coverage
from grownj_geo.outcomes import from_distances, from_land_shares, from_shares, without_slivers
from grownj_geo.place import Placement, place_sites
from grownj_geo.statements import ratio_values, with_statements
from grownj_geo.units import miles_to_ft
from grownj_geo.values import ANSWER, Values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from grownj_geo.atfeatures import Elsewhere
    from grownj_geo.binding import BoundRulebook, Clause
    from grownj_geo.site import FactValue

__all__ = ["READ_BY_LEAVES", "Leaves"]

READ_BY_LEAVES = frozenset({"A3", "A43", "A47"})
"""Readings of how ground is looked at, whatever clause asks: how parts count, which editions, how shares add up."""


@dataclass
class Leaves(Measured):
    """Computes leaf clauses for one table of sites, each once.

    Parameters
    ----------
    bound, atlas, sites, anywhere, coverages, distances, land_shares, first_distances, whole
        As for `Measured`.
    facts
        Stated facts by name: one value for each site, None where it was not stated.
    given_placement
        The sites' municipalities, where they were found before.
    feature_cache
        Answers at other places (stations), by clause: may be shared by all tables of one atlas.
    """

    facts: Mapping[str, Sequence[FactValue | None]] = field(default_factory=dict)
    placement: Placement = field(init=False)
    membership: Membership = field(init=False)
    given_placement: InitVar[Placement | None] = None
    feature_cache: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)
    _constants: dict[tuple[int, int, int, int], Values] = field(default_factory=dict)
    _values: dict[str, Values] = field(default_factory=dict)
    _absent: dict[str, Values] = field(default_factory=dict)

    def __post_init__(self, given_placement: Placement | None) -> None:
        """Place the sites in their municipalities first: lists and extents need that."""
        self.placement = given_placement or place_sites(self.atlas, self.sites)
        self.membership = Membership(self.atlas, self.placement, self._partial)

    def under(self, bound: BoundRulebook, *, feature_cache: dict[int, list[tuple[int, int, int]]]) -> Leaves:
        """Return the leaves of the same sites under other readings, with what was measured and answered already."""
        readings = {f'"{name}"' for name, option in self.bound.readings.items() if bound.readings[name] != option}
        # What a leaf comes to depends on these and on the readings that it names itself.
        again = not readings.isdisjoint(f'"{name}"' for name in READ_BY_LEAVES)
        kept = {} if again else {c: v for c, v in self._values.items() if not any(name in c for name in readings)}
        return Leaves(
            bound,
            self.atlas,
            self.sites,
            self.facts,
            given_placement=self.placement,
            anywhere=self.anywhere,
            coverages=self.coverages,
            distances=self.distances,
            land_shares=self.land_shares,
            feature_cache=feature_cache,
            _values=kept,
        )

    def row(self, row: int) -> Leaves:
        """Return the leaves of one of the sites by itself, with what was measured of all."""
        return Leaves(
            self.bound,
            self.atlas,
            self.sites.row(row),
            {name: [column[row]] for name, column in self.facts.items() if column[row] is not None},
            given_placement=self.placement.row(row),
            anywhere=self.anywhere,
            feature_cache=self.feature_cache,
            whole=(self, row),
        )

    def value(self, clause: Clause) -> Values:
        """Return the values of a leaf clause."""
        found = self._values.get(clause.content)
        if found is None:
            found = self._values[clause.content] = self._handlers[type(clause.node)](self, clause.node)
        return found

    def _constant(self, answer: int, cause: Cause, leaning: int, strict: int) -> Values:
        """Return the same outcome for every site. Shared: whoever changes it copies it first."""
        key = (answer, int(cause), leaning, strict)
        if key not in self._constants:
            outcomes = np.empty((3, self.n), dtype=np.int8)
            outcomes[:] = np.array([[answer], [leaning], [strict]])
            self._constants[key] = Values(outcomes, None, np.full(self.n, int(cause), dtype=np.int32))
        return self._constants[key]

    # -- layers ---------------------------------------------------------------------------------------

    def _unavailable(self, layer_id: str) -> Values:
        """Return no where the layer cannot lie, and undetermined elsewhere."""
        found = self._absent.get(layer_id)
        if found is None:
            state = self.atlas.state(layer_id)
            unusable = state.status == "unusable"
            cause = Cause.LAYER_UNUSABLE if unusable else Cause.LAYER_MISSING
            outside = np.zeros(self.n, dtype=bool) if unusable else self.membership.outside_extent(state.manifest)
            answer = np.where(outside, -1, 0).astype(np.int8)
            causes = np.where(outside, 0, int(cause)).astype(np.int32)
            found = self._absent[layer_id] = Values(np.stack([answer, answer, answer]), None, causes)
        return found

    @property
    def _partial(self) -> str:
        """How a site that a line cuts is read (reading A3)."""
        return self.bound.readings.get("A3", "undetermined")

    def _located(self, values: Values) -> Values:
        """Make sites without a place undetermined for that cause, where not all of their municipality is alike."""
        lost = ~self.sites.placed & (values.outcomes[ANSWER] == 0)
        values.outcomes[:, lost] = 0
        if values.margin_ft is not None:
            values.margin_ft[lost] = np.nan
        values.causes[lost] = int(Cause.LOCATION_UNKNOWN)
        return values

    def _inside(self, node: InsideNode) -> Values:
        where = node.inside
        found = self.coverage(where)
        if found is None:
            return self._unavailable(where.layer)
        partial = self._partial if where.cut == "as_read" else "undetermined"
        return self._without_figure(where, self._covered(where, found, partial))

    def _covered(self, where: Where, found: Coverage, partial: str) -> Values:
        """Return what a loaded layer says; the absence of a feature proves nothing where the layer is not complete."""
        area = np.nan_to_num(shapely.area(self.sites.geometries))
        values = self._located(from_shares(without_slivers(found, area_sqft=area), partial=partial))
        if not self.atlas.manifests[where.layer].complete:
            against = values.outcomes[ANSWER] == -1
            values.outcomes[:, against] = 0
            values.causes[against] = int(Cause.LAYER_INCOMPLETE)
            if values.margin_ft is not None:
                values.margin_ft[against] = np.nan
        return values

    def _without_figure(self, where: Where, values: Values) -> Values:
        """Make a no undetermined where a feature that may cover the site lacks a figure that is asked for."""
        near = self._lacking(where)
        if near is not None:
            unsure = near & (values.outcomes[ANSWER] == -1)
            values.outcomes[:, unsure] = 0
            values.causes[unsure] = int(Cause.LIST_UNKNOWN)
            # Elsewhere in the municipality the features may all have their figures.
            lost = unsure & ~self.sites.placed
            values.causes[lost] = int(Cause.LOCATION_UNKNOWN)
            if values.margin_ft is not None:
                values.margin_ft[lost] = np.nan
        return values

    def _lacking(self, where: Where) -> NDArray[np.bool_] | None:
        """Return which sites a feature may cover that lacks a figure that is asked for; None where none does."""
        layer = self.layer(where.layer)
        if layer is None or not where.at_least:
            return None
        selected = layer.select(where.selection, as_of=self.bound.as_of)
        lacking = selected[np.logical_or.reduce([np.isnan(layer.figures(n)[selected]) for n in where.at_least])]
        if not len(lacking):
            return None
        return np.asarray(self._somewhere.coverage(layer, lacking).share_high != 0)

    def _overlaps(self, node: OverlapsNode) -> Values:
        where = node.overlaps
        found = self.coverage(where)
        if found is None:
            return self._unavailable(where.layer)
        return self._without_figure(where, self._covered(where, found, "any"))

    def _within(self, node: WithinNode) -> Values:
        where = node.within
        found = self.distance(where)
        if found is None:
            return self._unavailable(where.layer)
        radius = miles_to_ft(self.bound.figures[where.radius])
        partial = "any" if where.part == "any" else self._partial
        values = from_distances(found, radius_ft=radius, partial=partial)
        if partial in {"majority", "all"} and not self.sites.points[self.sites.placed].all():
            # How much of a polygon is within reach of any of the features is a question of areas.
            low, nominal, high = self.shares_within(where, radius)
            shares = Coverage(low, nominal, high, np.full(self.n, np.nan), found.feature)
            values = replace(from_shares(shares, partial=partial), margin_ft=values.margin_ft)
        return self._located(values)

    def _share_over(self, node: ShareOverNode) -> Values:
        where = node.share_over
        if self.layer(where.layer) is None:
            return self._unavailable(where.layer)
        radius = miles_to_ft(self.bound.figures[where.radius])
        least = self.bound.figures[where.share]
        shares = self.shares_within(where, radius)
        return self._located(from_land_shares(shares, more_than=least))

    # -- municipalities -------------------------------------------------------------------------------

    def _municipal_values(self, test: Callable[[str], bool | None]) -> Values:
        answer, leaning, causes = self.membership.answer(test)
        # Off the shore no municipality's list or county decides, even where all candidates agree (A32).
        adrift = self.membership.adrift
        answer = np.where(adrift, 0, answer).astype(np.int8)
        causes = np.where(adrift, int(Cause.MUNICIPALITY_UNCERTAIN), causes).astype(np.int32)
        return Values(np.stack([answer, leaning, answer]), None, causes)

    def _designated(self, node: DesignatedNode) -> Values:
        wanted = node.designated
        listed = self.membership.listings(wanted.list)
        if listed is None:
            return self._constant(0, Cause.LAYER_UNUSABLE, 0, 0)
        absent = False if load_lists()[wanted.list].complete else None

        def test(code: str) -> bool | None:
            periods = listed.get(code)
            if periods is None:
                return absent
            return on_list(periods, self.bound.as_of) if wanted.dated else True

        return self._municipal_values(test)

    def _municipality_in(self, node: MunicipalityInNode) -> Values:
        return self._municipal_values(lambda code: code in node.municipality_in)

    def _county_in(self, node: CountyInNode) -> Values:
        return self._municipal_values(self.membership.county_test(self.bound.lists[node.county_in]))

    def _in_new_jersey(self, _node: InNewJerseyNode) -> Values:
        return self._municipal_values(lambda _code: True)

    def contains_feature(self, node: ContainsFeatureNode, *, elsewhere: Elsewhere) -> Values:
        """Return whether the sites' municipalities contain such a feature.

        Parameters
        ----------
        node
            The clause.
        elsewhere
            Computes a category where some features of a layer stand.
        """
        want = node.contains_feature
        layer = self.layer(want.layer)
        if layer is None:
            return self._unavailable(want.layer)
        by_code: dict[str, int] = {}
        causes = Cause(0)
        for index, value, cause in self._feature_outcomes(node, elsewhere):
            code = layer.value("mun_code", index)
            by_code[code] = max(by_code.get(code, -1), value)
            if value == 0 and code in self.placement.codes:
                causes |= Cause(cause)
        values = self._municipal_values(lambda code: {1: True, 0: None, -1: False}[by_code.get(code, -1)])
        # A station whose own place is open leaves its municipality open for the same causes.
        waits = (values.causes == int(Cause.LIST_UNKNOWN)) & (values.outcomes[ANSWER] == 0)
        if causes:
            values.causes[waits] = int(causes)
        return values

    def feature_outcomes(self, node: ContainsFeatureNode) -> list[tuple[int, int, int]]:
        """Return index, outcome and causes of the features that a clause found when it was evaluated."""
        return self.feature_cache.get(id(node), [])

    def _feature_outcomes(self, node: ContainsFeatureNode, elsewhere: Elsewhere) -> list[tuple[int, int, int]]:
        if id(node) not in self.feature_cache:
            want = node.contains_feature
            layer = self.layer(want.layer)
            self.feature_cache[id(node)] = [] if layer is None else outcomes_at(layer, want, self.bound, elsewhere)
        return self.feature_cache[id(node)]

    # -- facts ----------------------------------------------------------------------------------------

    def _site_fact(self, node: SiteFactNode) -> Values:
        fact = node.site_fact
        column = self.facts.get(fact.name)
        values = self._unstated(fact)
        return values if column is None else with_statements(values, fact, column, self.bound)

    def _unstated(self, fact: SiteFact) -> Values:
        """Return what a fact comes to before anybody states it: a layer's word, an assumption, or nothing."""
        expected = fact.is_ if isinstance(fact.is_, bool) else True
        values = self._assumed(fact.assume, expected=expected, leaning=SIGN[fact.leans])
        if fact.supported_by is None:
            return values
        found = self.coverage(fact.supported_by)
        if found is None:
            shown = self._unavailable(fact.supported_by.layer)
        else:
            shown = self._covered(fact.supported_by, found, self._partial)
        waits = np.where(shown.outcomes[ANSWER] == 0, int(Cause.FACT_MISSING), 0).astype(np.int32)
        return Values(shown.outcomes, shown.margin_ft, shown.causes | waits)

    def _assumed(self, assume: Assume | None, *, expected: bool, leaning: int) -> Values:
        """Return what is taken for granted under the chosen reading; undetermined where nothing is."""
        assumed = 0
        if assume is not None and self.bound.readings.get(assume.reading) == assume.option:
            assumed = 1 if assume.value == expected else -1
        return self._constant(assumed, Cause(0) if assumed else Cause.FACT_MISSING, assumed or leaning, 0)

    def _ratio(self, node: RatioNode) -> Values:
        unstated = self._assumed(node.ratio.assume, expected=True, leaning=0)
        return ratio_values(node.ratio, unstated, self.facts, self.bound)

    def _undetermined(self, node: UndeterminedNode) -> Values:
        return self._constant(0, Cause[node.undetermined.cause.upper()], SIGN[node.undetermined.leans], 0)

    _handlers: ClassVar[dict[type[NodeBase], Callable[[Leaves, Any], Values]]] = {
        InsideNode: _inside,
        OverlapsNode: _overlaps,
        WithinNode: _within,
        ShareOverNode: _share_over,
        DesignatedNode: _designated,
        MunicipalityInNode: _municipality_in,
        CountyInNode: _county_in,
        InNewJerseyNode: _in_new_jersey,
        SiteFactNode: _site_fact,
        RatioNode: _ratio,
        UndeterminedNode: _undetermined,
    }
