"""Kleene's strong three-valued logic, against its definition by possible completions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grownj_geo.logic import Cause, Outcome, all_of, any_of, negate

THREE = (-1, 0, 1)
VALUES = st.lists(st.sampled_from(THREE), min_size=1, max_size=6)


def _array(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int8)


def _columns(values: list[int]) -> list[np.ndarray]:
    return [_array(v) for v in values]


def _completed(values: list[int]) -> list[list[bool]]:
    """Every way in which what is undetermined could turn out."""
    return [list(c) for c in product(*([v > 0] if v else [True, False] for v in values))]


def _settled(answers: set[bool]) -> int:
    return 0 if len(answers) == 2 else 1 if answers == {True} else -1


@pytest.mark.parametrize("values", list(product(THREE, repeat=3)))
def test_all_and_any_are_what_every_completion_agrees_on(values: tuple[int, ...]) -> None:
    ways = _completed(list(values))
    assert all_of(_columns(list(values)))[0] == _settled({all(way) for way in ways})
    assert any_of(_columns(list(values)))[0] == _settled({any(way) for way in ways})


@pytest.mark.parametrize(
    ("a", "b", "both", "either"),
    [
        (1, 1, 1, 1),
        (1, 0, 0, 1),
        (1, -1, -1, 1),
        (0, 0, 0, 0),
        (0, -1, -1, 0),
        (-1, -1, -1, -1),
    ],
)
def test_kleenes_printed_tables(a: int, b: int, both: int, either: int) -> None:
    for left, right in ((a, b), (b, a)):
        assert all_of([_array(left), _array(right)]).tolist() == [both]
        assert any_of([_array(left), _array(right)]).tolist() == [either]


def test_negation_keeps_undetermined() -> None:
    assert negate(_array(1, 0, -1)).tolist() == [-1, 0, 1]
    assert negate(_array(1, 0, -1)).dtype == np.int8


@given(VALUES)
def test_de_morgan(values: list[int]) -> None:
    columns = _columns(values)
    assert negate(all_of(columns)) == any_of([negate(c) for c in columns])
    assert negate(any_of(columns)) == all_of([negate(c) for c in columns])


@given(VALUES, st.data())
def test_learning_something_never_takes_an_answer_back(values: list[int], data: st.DataObject) -> None:
    learned = [v or data.draw(st.sampled_from(THREE)) for v in values]
    for combine in (all_of, any_of):
        before, after = combine(_columns(values))[0], combine(_columns(learned))[0]
        assert before in {0, after}


@given(VALUES, st.randoms())
def test_order_and_repetition_do_not_matter(values: list[int], random: np.random.Generator) -> None:
    shuffled = values * 2
    random.shuffle(shuffled)
    assert all_of(_columns(shuffled)) == min(values)
    assert any_of(_columns(shuffled)) == max(values)


def test_a_million_sites_are_taken_one_by_one() -> None:
    rng = np.random.default_rng(7)
    a, b = rng.integers(-1, 2, (2, 1_000_000)).astype(np.int8)
    both, either = all_of([a, b]), any_of([a, b])
    pick = rng.integers(0, 1_000_000, 500)
    assert both[pick].tolist() == [min(x, y) for x, y in zip(a[pick], b[pick], strict=True)]
    assert either[pick].tolist() == [max(x, y) for x, y in zip(a[pick], b[pick], strict=True)]
    assert both.dtype == either.dtype == np.int8


def test_inputs_are_left_alone() -> None:
    a, b = _array(1, 0), _array(-1, 1)
    all_of([a, b])
    any_of([a, b])
    negate(a)
    assert (a.tolist(), b.tolist()) == ([1, 0], [-1, 1])


@pytest.mark.parametrize(("value", "word"), [(1, "yes"), (0, "undetermined"), (-1, "no")])
def test_outcomes_have_words_and_go_back(value: int, word: str) -> None:
    assert Outcome.of(value).value == word
    assert Outcome(word).value_of == value


def test_causes_can_hold_together_and_have_words() -> None:
    both = Cause.NEAR_LINE | Cause.LAYER_MISSING
    assert both.words == ["layer_missing", "near_line"]
    assert Cause(0).words == []
    assert len({c.value for c in Cause}) == len(list(Cause))
