"""Which clause of the law is which node of a rulebook, and which cases show it.

The map from the texts to the rulebooks ships with the package; the cases live in the repository's tests and
are counted where they are at hand.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from grownj_geo.errors import RulebookError
from grownj_geo.nodes import children_of
from grownj_geo.readings import read_entries
from grownj_geo.rulebook import load_rulebook, shipped_rulebooks
from grownj_geo.strict import Strict
from grownj_geo.yamlfile import read_yaml

__all__ = ["KINDS", "CaseKind", "CoveredNode", "LegalClause", "case_folder", "coverage", "load_clauses", "node_ids"]

CaseKind = Literal["positive", "negative", "boundary", "undetermined"]
KINDS: tuple[CaseKind, ...] = ("positive", "negative", "boundary", "undetermined")


class LegalClause(Strict):
    """One geographic clause of a text, in our own words, and the nodes that carry it.

    Attributes
    ----------
    nodes
        ``"rulebook:category.limb"``, as clauses are named in explanations.
    without
        Kinds of case that cannot exist for these nodes, with the reason.
    """

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$")]
    text: str
    words: str
    nodes: Annotated[tuple[str, ...], Field(min_length=1)]
    without: dict[CaseKind, str] = Field(default_factory=dict)


class CoveredNode(Strict):
    """A node, the clauses of the law that it carries, and how many cases of each kind show it."""

    node: str
    clauses: tuple[str, ...]
    cases: dict[CaseKind, int] | None
    lacking: tuple[CaseKind, ...] = ()


class _CaseHead(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)
    node: str
    kind: CaseKind
    not_in_force: bool = False


@lru_cache(maxsize=1)
def load_clauses() -> tuple[LegalClause, ...]:
    """Return the geographic clauses of the two texts, in the texts' order.

    Raises
    ------
    RulebookError
        If the file does not follow the format or names a node that no rulebook has.
    """
    folder = resources.files("grownj_geo") / "rules" / "clauses"
    clauses: list[LegalClause] = []
    for path in sorted(folder.iterdir(), key=lambda p: p.name):
        entries = read_entries(path.read_bytes(), LegalClause, name=path.name, key="clauses")
        unknown = sorted({node for clause in entries for node in clause.nodes} - node_ids())
        if unknown:
            raise RulebookError(
                f"{path.name} names nodes that no rulebook has: {', '.join(unknown)}. Correct the names."
            )
        clauses += entries
    return tuple(clauses)


@lru_cache(maxsize=1)
def node_ids() -> frozenset[str]:
    """Return every node of the shipped rulebooks as ``"rulebook:path"``."""
    found: set[str] = set()
    for book_id in shipped_rulebooks():
        for category in load_rulebook(book_id).categories:
            waiting = [(category.id, category.rule)]
            while waiting:
                path, node = waiting.pop()
                found.add(f"{book_id}:{path}")
                waiting += [(f"{path}.{child.id or i}", child) for i, child in enumerate(children_of(node), start=1)]
    return frozenset(found)


def case_folder() -> Path | None:
    """Return the folder of case files in a checkout; None in an installed package."""
    folder = Path(__file__).resolve().parent.parent / "tests" / "rule_cases"
    return folder if folder.is_dir() else None


def coverage(*, cases: Path | None = None) -> list[CoveredNode]:
    """Return every node that carries a clause of the law, with its cases where a folder of them is given.

    Raises
    ------
    RulebookError
        If a case file is not readable.
    """
    clauses_of: dict[str, list[LegalClause]] = {}
    for clause in load_clauses():
        for node in clause.nodes:
            clauses_of.setdefault(node, []).append(clause)
    counted = None if cases is None else _count(cases)
    result = []
    for node, clauses in clauses_of.items():
        counts = None if counted is None else {kind: counted.get((node, kind), 0) for kind in KINDS}
        excused = {kind for clause in clauses for kind in clause.without}
        lacking = tuple(kind for kind in KINDS if counts is not None and not counts[kind] and kind not in excused)
        result.append(CoveredNode(node=node, clauses=tuple(c.id for c in clauses), cases=counts, lacking=lacking))
    return result


def _count(folder: Path) -> dict[tuple[str, CaseKind], int]:
    counts: dict[tuple[str, CaseKind], int] = {}
    for path in sorted(folder.glob("*.yaml")):
        try:
            heads = TypeAdapter(list[_CaseHead]).validate_python(read_yaml(path.read_bytes()))
        except (yaml.YAMLError, ValidationError) as error:
            raise RulebookError(f"The case file {path.name} cannot be read: {error}.") from error
        for head in heads:
            if head.not_in_force and head.kind == "negative":
                # Out of force a node turns nobody away by its own test.
                continue
            counts[head.node, head.kind] = counts.get((head.node, head.kind), 0) + 1
    return counts
