"""The areas of a rulebook as polygons: where a category holds, by which clause, and where it is undetermined and why.

The State is cut along every line at which an answer may change. One place inside each piece is then asked about, as
any site is; so what a piece is called is decided by distance, and only its outline is drawn.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.arealines import asked_where, drawn_lines, leaves_under
from grownj_geo.bulk import evaluate_many
from grownj_geo.evaluate import Evaluation
from grownj_geo.evidence import clause_label
from grownj_geo.facts import load_facts
from grownj_geo.logic import Cause
from grownj_geo.measured import key_of
from grownj_geo.nodes import (
    ContainsFeatureNode,
    CountyInNode,
    DesignatedNode,
    InNewJerseyNode,
    MunicipalityInNode,
    RatioNode,
    ShareOverNode,
    SiteFactNode,
    UndeterminedNode,
    Within,
    WithinNode,
)
from grownj_geo.place import PlacementKind
from grownj_geo.sitetable import SiteTable
from grownj_geo.units import FT_PER_FTUS, FT_PER_MILE
from grownj_geo.values import ANSWER, LEANING, STRICT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from grownj_geo.binding import BoundRulebook, Clause
    from grownj_geo.determine import Engine
    from grownj_geo.values import Values

    Ints = NDArray[np.int64]
    Shapes = NDArray[np.object_]

__all__ = ["CLASSES", "Area", "Cut", "Piece", "area_ids", "area_label", "cut", "default_areas", "drawn_areas"]

CLASSES = {
    "yes": "in",
    "yes_assumed": "in, on an assumption",
    "undetermined_line": "undetermined: within the accuracy of a line",
    "undetermined_map": "undetermined: a map is not loaded or not complete",
    "undetermined_fact": "undetermined: site facts, taken as not stated, or open questions",
    "undetermined_shore": "undetermined: off the shore",
}
"""Classes of pieces, in the order of legends, with their words."""

_NARROW_FT = 0.5
# The grid of the shipped outlines: on it no two lines run beside each other at the last bits of a number.
_GRID_FTUS = 1 / 128
_MUNICIPAL = (DesignatedNode, MunicipalityInNode, CountyInNode, InNewJerseyNode)
_PLACELESS = (RatioNode, UndeterminedNode)
_LAYER_CAUSES = Cause.LAYER_MISSING | Cause.LAYER_UNUSABLE | Cause.LAYER_INCOMPLETE
_LINE_CAUSES = Cause.NEAR_LINE | Cause.PARTIAL


@dataclass(frozen=True, eq=False)
class Piece:
    """Ground of one answer for one reason.

    Attributes
    ----------
    geometry
        MultiPolygon in EPSG:3424, US survey feet.
    kind
        A key of `CLASSES`.
    outcome
        ``"yes"`` or ``"undetermined"``.
    leans
        ``"yes"`` or ``"no"`` where only the accuracy of a line leaves it open; else None.
    assumed
        Whether the outcome rests on an assumption.
    clauses, clause_ids, citations
        The clauses that make it yes, or that leave it open: their words, their places in the rulebook, the law.
    causes
        Why it is undetermined, in the words of the record.
    waits_for
        Maps and site facts that could decide it.
    mun_code, municipality
        Of an area that only municipalities decide: which one; else None.
    """

    geometry: shapely.Geometry
    kind: str
    outcome: str
    leans: str | None
    assumed: bool
    clauses: tuple[str, ...]
    clause_ids: tuple[str, ...]
    citations: tuple[str, ...]
    causes: tuple[str, ...]
    waits_for: tuple[str, ...]
    mun_code: str | None
    municipality: str | None

    @property
    def square_miles(self) -> float:
        """Its planar area."""
        return float(shapely.area(self.geometry)) * (FT_PER_FTUS / FT_PER_MILE) ** 2


@dataclass(frozen=True, eq=False)
class Area:
    """One category of a rulebook, or one of its radii, as pieces of ground; what is left is no.

    Attributes
    ----------
    id
        The category's id, or the place of the clause in the rulebook with underscores.
    label, citation, summary
        What it is called, the law, and what it means.
    pieces
        Where it is yes or undetermined.
    """

    id: str
    label: str
    citation: str
    summary: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, eq=False)
class Cut:
    """The State cut along lines, and what was found in each piece.

    Attributes
    ----------
    lines
        All lines, noded. EPSG:3424.
    faces
        Polygons between them, shape (n,).
    groups
        Which group of places that are alike each face belongs to, shape (n,); -1 beyond the drawn ground.
    run
        The evaluation of one place for each group.
    """

    engine: Engine
    lines: shapely.Geometry
    faces: Shapes
    groups: Ints
    run: Evaluation

    @cached_property
    def faces_of(self) -> dict[int, Ints]:
        """The faces of each group."""
        order = np.argsort(self.groups, kind="stable")
        groups, first = np.unique(self.groups[order], return_index=True)
        return dict(zip(groups.tolist(), np.split(order, first[1:]), strict=True))


def default_areas(engine: Engine) -> tuple[str, ...]:
    """Return what is drawn unless something is chosen: the areas of the rulebook, then its radii.

    Building blocks and what depends on a project can be chosen by their ids.

    Examples
    --------
    >>> from grownj_geo.atlas import load_atlas
    >>> from grownj_geo.determine import Engine
    >>> from grownj_geo.rulebook import load_rulebook
    >>> areas = default_areas(Engine(load_atlas(), load_rulebook()))
    >>> areas[0], "rail_transit_half_mile" in areas
    ('qualified_incentive_area', True)
    """
    areas = tuple(c.id for c in engine.rulebook.categories if c.kind == "area")
    return (*areas, *_radii(engine.bound))


def area_ids(engine: Engine) -> tuple[str, ...]:
    """Return all that can be drawn: every category, and every radius in force on the day."""
    return (*(c.id for c in engine.rulebook.categories), *_radii(engine.bound))


def area_label(engine: Engine, area: str) -> str:
    """Return what an area is called: a category by its label, a radius by its category's and its clause's.

    Raises
    ------
    RulebookError
        If there is no such area.
    """
    clause = _rule_of(engine, area)
    category = engine.rulebook.category(clause.path.split(".")[0])
    if area == category.id or "." not in clause.path:
        return category.label
    words = clause.node.label or (clause.node.id or "").replace("_", " ")
    return f"{category.label}: {words}" if words else category.label


def _radii(bound: BoundRulebook) -> dict[str, Clause]:
    """Return the clauses about a radius that count on the day, those that ask the same once."""
    found: dict[str, Clause] = {}
    asked = set()
    for clause in bound.leaves:
        if isinstance(clause.node, WithinNode | ShareOverNode) and _counts(bound, clause):
            where = asked_where(clause)
            if not isinstance(where, Within):
                raise AssertionError(clause.path)
            key = (key_of(where), bound.figures[where.radius])
            if key not in asked:
                asked.add(key)
                found[clause.path.replace(".", "_")] = clause
    return found


def _counts(bound: BoundRulebook, clause: Clause) -> bool:
    """Return whether a clause and all that it is part of count on the day."""
    steps = clause.path.split(".")
    return all(bound.by_path[".".join(steps[: n + 1])].counts for n in range(len(steps)))


def cut(engine: Engine, areas: Sequence[str]) -> Cut:
    """Cut the State along the lines of some areas, and ask about each piece.

    Parameters
    ----------
    engine
        A rulebook on its atlas, with day and readings. Site facts are taken as not stated.
    areas
        Ids of `area_ids`.

    Raises
    ------
    RulebookError
        If there is no such area.
    LayerFault
        As `drawn_lines`.
    """
    bound = engine.bound
    leaves = {leaf.path: leaf for area in areas for leaf in leaves_under(bound, _rule_of(engine, area))}
    lines = shapely.union_all(drawn_lines(engine, list(leaves.values())), grid_size=_GRID_FTUS)
    faces = shapely.get_parts(shapely.polygonize(shapely.get_parts(lines)))
    inner = shapely.point_on_surface(faces)
    n = len(faces)
    sites = SiteTable(inner, np.zeros(n), np.ones(n, dtype=bool), ("",) * n)
    found = evaluate_many(engine, sites)
    run = Evaluation(bound, found.leaves[0], keep=True, margins=False)
    for category in engine.rulebook.categories:
        run.category(category.id)
    groups = found.group.astype(np.int64)
    kinds = found.leaves[0].placement.kinds
    beyond = np.array([kind is PlacementKind.OUTSIDE for kind in kinds], dtype=bool)
    groups[beyond[groups]] = -1
    return Cut(engine, lines, faces, _without_slivers(faces, groups), run)


def _without_slivers(faces: Shapes, groups: Ints) -> Ints:
    """Give faces that are narrower than any line is drawn to the neighbour with the longest common side."""
    groups = groups.copy()
    width = 2 * shapely.area(faces) / shapely.length(faces) * FT_PER_FTUS
    narrow = np.flatnonzero(width < _NARROW_FT)
    tree = shapely.STRtree(faces)
    for face in narrow.tolist():
        others = np.setdiff1d(tree.query(faces[face], predicate="intersects"), narrow)
        if len(others):
            common = shapely.length(
                shapely.intersection(shapely.boundary(faces[face]), shapely.boundary(faces[others]))
            )
            groups[face] = groups[others[int(np.argmax(common))]]
    return groups


def _rule_of(engine: Engine, area: str) -> Clause:
    found = engine.bound.clauses.get(area) or _radii(engine.bound).get(area)
    if found is None:
        engine.rulebook.category(area)  # says which name is nearest
        raise AssertionError(area)
    return found


def drawn_areas(engine: Engine, areas: Sequence[str] | None = None, *, at: Cut | None = None) -> list[Area]:
    """Return areas of a rulebook as polygons.

    Parameters
    ----------
    engine
        A rulebook on its atlas, with day and readings. Site facts are taken as not stated.
    areas
        Ids of `area_ids`; `default_areas` unless given.
    at
        What `cut` gave for these areas, or for more.

    Raises
    ------
    RulebookError
        If there is no such area.
    LayerFault
        As `drawn_lines`.
    """
    wanted = list(dict.fromkeys(default_areas(engine) if areas is None else areas))
    where = cut(engine, wanted) if at is None else at
    return [_Drawing(where, area).area() for area in wanted]


@dataclass(eq=False)
class _Drawing:
    """One area of a cut."""

    at: Cut
    id: str
    clause: Clause = field(init=False)
    leaves: list[Clause] = field(init=False)

    def __post_init__(self) -> None:
        self.clause = _rule_of(self.at.engine, self.id)
        self.leaves = leaves_under(self.at.engine.bound, self.clause)

    def area(self) -> Area:
        engine = self.at.engine
        summary = engine.rulebook.category(self.clause.path.split(".")[0]).summary
        return Area(self.id, area_label(engine, self.id), self.clause.citation, summary, tuple(self._pieces()))

    def _pieces(self) -> Iterator[Piece]:
        values = self._values(self.clause)
        open_or_in = values.outcomes[ANSWER] >= 0
        by_municipality = self._is_municipal
        faces: dict[tuple[object, ...], list[Ints]] = defaultdict(list)
        told: dict[bytes, tuple[object, ...]] = {}
        table = np.stack([self._outcomes(leaf) for leaf in self._under]) if self._under else np.zeros((0, 1), np.int8)
        for group, rows in self.at.faces_of.items():
            if group < 0 or not open_or_in[group]:
                continue
            column = b"".join(
                part.tobytes() for part in (table[:, group], values.outcomes[:, group], values.causes[group])
            )
            if column not in told:
                told[column] = self._told(values, group)
            municipality = self._municipality(group) if by_municipality else (None, None)
            faces[*told[column], *municipality].append(rows)
        for key, parts in sorted(faces.items(), key=lambda item: str(item[0])):
            chosen = self.at.faces[np.concatenate(parts)]
            yield Piece(_joined(chosen), *key)  # type: ignore[arg-type]

    def _values(self, clause: Clause) -> Values:
        run = self.at.run
        return run.category(self.id) if self.id in run.bound.clauses else run.leaves.value(clause)

    @cached_property
    def _under(self) -> list[Clause]:
        """All clauses below the area's own that count, each once, through the categories that they name."""
        bound = self.at.engine.bound
        found: dict[str, Clause] = {}

        def walk(clause: Clause) -> None:
            if clause.path in found:
                return
            found[clause.path] = clause
            if clause.operator == "category":
                walk(bound.clauses[clause.content])
            for child in clause.active:
                walk(child)

        walk(self.clause)
        return list(found.values())

    def _outcomes(self, clause: Clause) -> NDArray[np.int8]:
        return np.asarray(self.at.run.clause_values[clause.path].outcomes[ANSWER])

    @cached_property
    def _is_municipal(self) -> bool:
        """Whether nothing but municipalities decides."""
        leaves, placed = self.at.run.leaves, False
        for leaf in self.leaves:
            node = leaf.node
            if isinstance(node, ContainsFeatureNode) and leaves.layer(node.contains_feature.layer) is None:
                return False
            if isinstance(node, (*_MUNICIPAL, ContainsFeatureNode)):
                placed = True
            elif not (isinstance(node, _PLACELESS) or (isinstance(node, SiteFactNode) and asked_where(leaf) is None)):
                return False
        return placed

    def _municipality(self, group: int) -> tuple[str | None, str | None]:
        leaves = self.at.run.leaves
        if leaves.placement.kinds[group] is not PlacementKind.CERTAIN:
            return None, None
        code = leaves.placement.codes_of(group)[0]
        return code, leaves.membership.name(code)

    def _told(self, values: Values, group: int) -> tuple[object, ...]:
        """Return what a piece says of itself, in the order of `Piece`."""
        answer, leaning, strict = (int(values.outcomes[row, group]) for row in (ANSWER, LEANING, STRICT))
        causes = Cause(int(values.causes[group]))
        clauses = _Reasons(self.at, group).of(self.clause, top=True)
        if not clauses:
            clauses = [self.clause]
        kind = _kind(answer, strict, causes)
        leans = {1: "yes", -1: "no"}.get(leaning) if kind == "undetermined_line" else None
        return (
            kind,
            "yes" if answer == 1 else "undetermined",
            leans,
            strict != answer,
            tuple(dict.fromkeys(self._words(clause) for clause in clauses)),
            tuple(clause.path for clause in clauses),
            tuple(dict.fromkeys(clause.citation for clause in clauses)),
            tuple(causes.words) if answer == 0 else (),
            tuple(dict.fromkeys(_Reasons(self.at, group).waits_for(self.clause))) if answer == 0 else (),
        )

    def _words(self, clause: Clause) -> str:
        return clause_label(clause, self.at.run)


def _kind(answer: int, strict: int, causes: Cause) -> str:
    if answer == 1:
        return "yes" if strict == 1 else "yes_assumed"
    if causes and not causes & ~_LINE_CAUSES:
        return "undetermined_line"
    if causes & Cause.MUNICIPALITY_UNCERTAIN:
        return "undetermined_shore"
    return "undetermined_map" if causes & _LAYER_CAUSES else "undetermined_fact"


def _joined(faces: Shapes) -> shapely.Geometry:
    whole = shapely.orient_polygons(shapely.coverage_union_all(faces))
    return whole if whole.geom_type == "MultiPolygon" else shapely.multipolygons([whole])


class _Reasons:
    """Which clauses make a group's answer yes, or leave it open."""

    def __init__(self, at: Cut, group: int) -> None:
        self._at, self._group = at, group
        self._bound = at.engine.bound

    def _value(self, clause: Clause) -> int:
        known = self._at.run.clause_values.get(clause.path)
        values = self._at.run.leaves.value(clause) if known is None else known
        return int(values.outcomes[ANSWER, self._group])

    def of(self, clause: Clause, *, top: bool = False) -> list[Clause]:
        """Return the clauses that a reader is told: those with words of their own, or areas by themselves."""
        answer = self._value(clause)
        if clause.node.label and not top:
            return [clause]
        if clause.operator == "category":
            if not top and self._bound.rulebook.category(clause.content).kind == "area":
                return [clause]
            return self._parted(self._bound.clauses[clause.content], answer, clause)
        return self._parted(clause, answer, clause)

    def _parted(self, clause: Clause, answer: int, named: Clause) -> list[Clause]:
        children = self._alike(clause, answer)
        if clause.operator == "all" and answer == 1:
            # What is not there qualifies nothing, and what has to hold together is one ground.
            children = [c for c in children if c.operator != "not" and not isinstance(c.node, InNewJerseyNode)]
            if len(children) != 1:
                return [named]
        if clause.operator not in {"any", "all"} or not children:
            return [named]
        return [found for child in children for found in self.of(child)]

    def _alike(self, clause: Clause, answer: int) -> list[Clause]:
        """Return the parts that share an answer; one that is only perhaps in force leaves it open."""
        return [c for c in clause.active if self._value(c) == answer or (answer == 0 and c.in_force == "unsure")]

    def waits_for(self, clause: Clause) -> Iterator[str]:
        """Yield the maps and site facts that leave a clause open."""
        if clause.operator == "category":
            yield from self.waits_for(self._bound.clauses[clause.content])
        elif clause.operator in {"any", "all", "not"}:
            for child in clause.active:
                if self._value(child) == 0:
                    yield from self.waits_for(child)
        else:
            where = asked_where(clause)
            if where is not None and self._at.run.leaves.layer(where.layer) is None:
                yield f"map {where.layer}"
            if isinstance(clause.node, SiteFactNode):
                name = clause.node.site_fact.name
                yield f"fact {name}" if name in load_facts() else name
