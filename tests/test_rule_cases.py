"""Every case file of the rules, and that no node goes without its cases."""

from __future__ import annotations

import pytest
from rule_case_files import FOLDER, Case, answer, load_cases

from grownj_geo.coverage import coverage, load_clauses, node_ids
from grownj_geo.nodes import children_of
from grownj_geo.rulebook import load_rulebook, shipped_rulebooks

CASES = load_cases()


@pytest.mark.parametrize("case", [case for _, case in CASES], ids=[name for name, _ in CASES])
def test_case(case: Case) -> None:
    outcome, leans = answer(case)
    assert outcome == case.expect, case.name
    if case.leans is not None:
        assert leans == case.leans, case.name


@pytest.mark.parametrize("kind", ["positive", "negative", "undetermined"])
def test_a_case_of_a_kind_expects_that_kind(kind: str) -> None:
    expected = {"positive": "yes", "negative": "no", "undetermined": "undetermined"}[kind]
    assert [case.name for _, case in CASES if case.kind == kind and case.expect != expected] == []


def test_every_node_that_carries_a_clause_has_its_cases() -> None:
    lacking = {node.node: node.lacking for node in coverage(cases=FOLDER) if node.lacking}
    assert lacking == {}


def test_every_leaf_of_every_rulebook_lies_below_a_node_that_carries_a_clause() -> None:
    carried = {node for clause in load_clauses() for node in clause.nodes}
    bare = []
    for book_id in shipped_rulebooks():
        book = load_rulebook(book_id)
        own = {category.id for category in book.categories} - {c for used in book.uses.values() for c in used}
        for category in book.categories:
            if category.id not in own or _taken_over(book_id, category.id):
                continue
            waiting = [(category.id, category.rule, f"{book_id}:{category.id}" in carried)]
            while waiting:
                path, node, covered = waiting.pop()
                children = children_of(node)
                if not children and not covered:
                    bare.append(f"{book_id}:{path}")
                for i, child in enumerate(children, start=1):
                    below = f"{path}.{child.id or i}"
                    waiting.append((below, child, covered or f"{book_id}:{below}" in carried))
    assert bare == []


def _taken_over(book_id: str, category_id: str) -> bool:
    """A category that came with `uses` is covered in the rulebook that it came from."""
    return any(
        category_id in {category.id for category in load_rulebook(source).categories}
        for source in load_rulebook(book_id).uses
    )


def test_cases_name_nodes_that_exist() -> None:
    assert {case.node for _, case in CASES} - node_ids() == set()
