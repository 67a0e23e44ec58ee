"""Every case file of the rules, and that no node goes without its cases."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError
from rule_case_files import FOLDER, Case, Place, answer, load_cases

from grownj_geo.coverage import coverage, load_clauses, node_ids
from grownj_geo.nodes import children_of
from grownj_geo.rulebook import load_rulebook, shipped_rulebooks

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.coverage import CaseKind
    from grownj_geo.determination import OutcomeWord

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


LATER = "grow-nj:aviation_district.airport_and_center"
STRICT = "grow-nj:port_district.strict.ground"


@pytest.mark.parametrize(
    ("node", "day", "readings", "words"),
    [
        (LATER, date(2017, 4, 17), {}, "airport_and_center is not in force on the day"),
        (STRICT, date(2017, 4, 17), {}, "port_district.strict belongs to a reading that was not chosen"),
    ],
)
def test_a_node_that_is_not_evaluated_is_no_negative(
    node: str, day: date, readings: dict[str, str], words: str
) -> None:
    case = Case(
        node=node, kind="negative", name="n", site=Place(municipality="0408"), as_of=day, readings=readings, expect="no"
    )
    with pytest.raises(AssertionError, match=f"was not evaluated: .*{words}"):
        answer(case)
    assert answer(case.model_copy(update={"not_in_force": True})) == ("no", None)


@pytest.mark.parametrize(
    ("node", "day", "readings"),
    [
        (LATER, date(2018, 12, 1), {}),
        (LATER, date(2018, 10, 3), {}),
        (STRICT, date(2017, 4, 17), {"A11": "strict"}),
    ],
)
def test_a_node_that_is_evaluated_is_not_out_of_force(node: str, day: date, readings: dict[str, str]) -> None:
    case = Case(
        node=node,
        kind="negative",
        name="n",
        site=Place(municipality="0408"),
        as_of=day,
        readings=readings,
        expect="no",
        not_in_force=True,
    )
    with pytest.raises(AssertionError, match="is in force and chosen"):
        answer(case)


@pytest.mark.parametrize(
    ("kind", "expect"), [("positive", "yes"), ("undetermined", "undetermined"), ("boundary", "yes")]
)
def test_what_is_not_in_force_lets_nobody_in(kind: CaseKind, expect: OutcomeWord) -> None:
    with pytest.raises(ValidationError, match="lets nobody in"):
        Case(node=LATER, kind=kind, name="n", site=Place(), expect=expect, not_in_force=True)


def test_a_node_out_of_force_is_no_negative_of_its_node(tmp_path: Path) -> None:
    head = f"- {{node: {LATER}, kind: negative, name: n, site: {{}}, expect: no"
    counts = []
    for tail in ("", ", not_in_force: true"):
        (tmp_path / "cases.yaml").write_text(f"{head}{tail}}}\n", encoding="utf-8")
        counts += [node.cases for node in coverage(cases=tmp_path) if node.node == LATER]
    assert [count and count["negative"] for count in counts] == [1, 0]


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
