"""One more stated fact opens or settles a finding and never turns it round, in any shipped rulebook.

The one exception is a finding that rested on an assumption, and says so: its answer differs from its strict row.
"""

from __future__ import annotations

from datetime import date
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from drawn import CAMDEN, NEWARK, points
from hypothesis import given, settings
from hypothesis import strategies as st

from grownj_geo.atlas import Atlas
from grownj_geo.binding import bind
from grownj_geo.evaluate import Evaluation
from grownj_geo.facts import load_facts
from grownj_geo.leaves import Leaves
from grownj_geo.readings import load_readings, resolve_readings
from grownj_geo.rulebook import load_rulebook, shipped_rulebooks
from grownj_geo.sitetable import SiteTable
from grownj_geo.units import to_working
from grownj_geo.values import ANSWER, STRICT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.binding import BoundRulebook
    from grownj_geo.facts import FactDefinition

PLACES = {
    "Newark": NEWARK,
    "Camden": CAMDEN,
    "Trenton": (-74.7699, 40.2206),
    "Princeton": (-74.6593, 40.3487),
    "Atlantic City": (-74.4229, 39.3643),
    "the airport": (-74.5772, 39.4576),
    "Lakewood": (-74.2140, 40.0912),
    "Edgewater": (-73.9730, 40.8280),
    "Mahwah": (-74.1571, 41.1098),
    "Elk Township": (-75.2000, 39.6600),
    "Secaucus": (-74.0566, 40.7895),
    "Hopatcong": (-74.6593, 40.9329),
    "Vineland": (-75.0260, 39.4863),
}
DAYS = (date(2014, 6, 1), date(2016, 7, 15), date(2017, 4, 17), date(2018, 10, 3), date(2018, 12, 1))
STRICT_CIRCLES = {"A11": "strict", "A38": "without_self", "A39": "strict", "A40": "strict"}
# Figures on both sides of every threshold of the rulebooks, and on it.
FIGURES = {
    "dollars": (0, 1e6, 3e6, 2e7, 20_000_001, 5e7, 9e7),
    "jobs": (0, 150, 151, 250, 251, 1000, 1001),
    "persons": (0, 1999, 2000, 9000),
    "square feet": (0, 49_999, 50_000, 150_000, 400_000, 400_001, 900_000),
    "months": (0, 12, 13),
    "feet": (0, 5280, 5281),
    "percent": (0, 49, 50, 100),
}
DATES = ("2010-01-01", "2014-10-15", "2014-10-20", "2014-10-24", "2016-07-01", "2016-07-02", "2018-06-01", "2019-06-01")


def values_of(fact: FactDefinition) -> tuple[Any, ...]:
    """Return values of a fact that differ in what the rules make of them."""
    if fact.type == "number":
        return tuple(float(v) for v in next(v for unit, v in FIGURES.items() if str(fact.unit).startswith(unit)))
    return {"boolean": (True, False), "date": DATES, "choice": fact.choices, "text": ("x",)}[fact.type]


Rows = list[dict[str, Any]]


def chain(rng: np.random.Generator) -> tuple[list[str], Rows]:
    """Return facts in a random order, and rows in which one after the other is stated."""
    names = [str(name) for name in rng.permutation(list(load_facts()))]
    generous = float(rng.choice([0.2, 0.5, 0.8, 0.95]))
    row: dict[str, Any] = {}
    rows: Rows = [{}]
    for name in names:
        choices = values_of(load_facts()[name])
        given_yes = load_facts()[name].type == "boolean" and rng.random() < generous
        row = row | {name: True if given_yes else choices[int(rng.integers(len(choices)))]}
        rows.append(row)
    return names, rows


@cache
def _atlas(day: date) -> Atlas:
    return Atlas(as_of=day)


@lru_cache(maxsize=16)
def _bound(book: str, day: date, readings: tuple[tuple[str, str], ...]) -> BoundRulebook:
    return bind(load_rulebook(book), as_of=day, readings=resolve_readings(dict(readings)))


def outcomes(place: tuple[float, float], rows: Rows, *, book: str, day: date, readings: dict[str, str]) -> Any:
    """Return every category's outcomes for one place, shape (3, rows)."""
    bound = _bound(book, day, tuple(sorted(readings.items())))
    spot = tuple(float(v) for v in to_working(*place))
    columns = {name: [row.get(name) for row in rows] for name in load_facts()}
    leaves = Leaves(bound, _atlas(day), SiteTable.of(points([(spot[0], spot[1])] * len(rows))), columns)
    run = Evaluation(bound, leaves, keep=False, margins=False)
    return {category.id: run.category(category.id).outcomes for category in bound.rulebook.categories}


def turned(found: NDArray[np.int8]) -> list[int]:
    """Return after which rows a finding turned round that did not rest on an assumption; or its strict row did."""
    before, after = found[:, :-1], found[:, 1:]
    open_assumption = before[ANSWER] != before[STRICT]
    answer = (before[ANSWER] * after[ANSWER] == -1) & ~open_assumption
    strict = before[STRICT] * after[STRICT] == -1
    return [int(i) for i in np.flatnonzero(answer | strict)]


def offences(place: str, seed: int, *, book: str, day: date, readings: dict[str, str]) -> list[str]:
    names, rows = chain(np.random.default_rng(seed))
    found = outcomes(PLACES[place], rows, book=book, day=day, readings=readings)
    return [
        f"{book}:{category}, {place}, {day}: {names[i]}={rows[i + 1][names[i]]} turns {values[:, i].tolist()} into "
        f"{values[:, i + 1].tolist()} after {rows[i]}"
        for category, values in found.items()
        for i in turned(values)
    ]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("book", shipped_rulebooks())
def test_no_fact_turns_a_finding_round(book: str, place: str) -> None:
    found: list[str] = []
    for number, day in enumerate(DAYS):
        for seed in range(4):
            readings = STRICT_CIRCLES if seed % 2 else {}
            found += offences(place, 100 * number + seed, book=book, day=day, readings=readings)
    assert found == []


OPTIONS = [
    (reading.id, option)
    for reading in load_readings().values()
    for option in reading.options
    if reading.kind == "option"
]


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(sorted(PLACES)),
    st.sampled_from(shipped_rulebooks()),
    st.sampled_from(DAYS),
    st.lists(st.sampled_from(OPTIONS), max_size=6),
    st.integers(0, 2**32 - 1),
)
def test_no_fact_turns_a_finding_round_under_any_reading(
    place: str, book: str, day: date, chosen: list[tuple[str, str]], seed: int
) -> None:
    assert offences(place, seed, book=book, day=day, readings=dict(chosen)) == []


def test_the_facts_move_findings_at_all() -> None:
    """A property of findings that never move would show nothing."""
    moved: set[str] = set()
    for book in shipped_rulebooks():
        for seed in range(6):
            _, rows = chain(np.random.default_rng(seed))
            found = outcomes(PLACES["Princeton"], rows, book=book, day=date(2017, 4, 17), readings={})
            moved |= {f"{book}:{c}" for c, v in found.items() if (np.diff(v[ANSWER].astype(int)) != 0).any()}
    assert {"grow-nj:qualified_incentive_area", "grow-nj:mega_project", "a1178-areas:wind_energy_zone"} <= moved
    assert len(moved) > 20


def test_the_property_sees_what_turns_round() -> None:
    found = np.array([[0, 1, -1, -1], [0, 1, -1, -1], [0, 1, -1, 0]], dtype=np.int8)
    assert turned(found) == [1]
    assumed = np.array([[-1, 1], [-1, 1], [0, 1]], dtype=np.int8)
    assert turned(assumed) == []
    assert turned(np.array([[-1, -1], [-1, -1], [1, -1]], dtype=np.int8)) == [0]
